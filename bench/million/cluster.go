//go:build unix

package main

import (
	"container/heap"
	"fmt"

	"nero/run/job"
)

// costs are what a job of many machines takes, as measured: see docs/SCALE.md for where each was.
type costs struct {
	// of one evaluation, and of opening a worker, in seconds of one core
	evaluation, open float64
	// of a value of a metric at an element of a sample: bytes in the folder, and seconds of the merge
	bytes, merge float64
	// of a core for an hour
	price float64
	// kills of a task in an hour, and seconds until it runs again
	kills, again float64
}

// freed are the workers by the second at which they are free.
type freed []float64

func (f freed) Len() int           { return len(f) }
func (f freed) Less(i, j int) bool { return f[i] < f[j] }
func (f freed) Swap(i, j int)      { f[i], f[j] = f[j], f[i] }
func (f *freed) Push(x any)        { *f = append(*f, x.(float64)) } //nolint:errcheck,forcetypeassert // of this heap
func (f *freed) Pop() any {
	last := (*f)[len(*f)-1]
	*f = (*f)[:len(*f)-1]
	return last
}

// cluster plans a job of samples x elements x models with some metrics and plays it through on so many cores: each task
// takes the next block of shards; cores differ by a tenth either way, and tasks are killed by chance, always the same.
func cluster(samples, elements, models, metrics, tasks, cores int, c costs) {
	j := job.Job{Count: samples, Shard: job.ShardSize(samples, elements, models)}
	shards := len(j.Shards())
	block := (shards + tasks - 1) / tasks
	tasks = (shards + block - 1) / block
	perShard := float64(j.Shard) * float64(elements*models) * c.evaluation
	values := float64(samples) * float64(elements*models*metrics)
	chance := func(task, what int) float64 { return float64(mixed(uint64(task)<<8+uint64(what))>>11) / (1 << 53) }

	free := make(freed, cores)
	busy, end, killed := 0.0, 0.0, 0
	for t := range tasks {
		now, _ := heap.Pop(&free).(float64)
		left := float64(min(block, shards-t*block))
		speed := 0.9 + 0.2*chance(t, 0)
		for try := 1; ; try++ {
			length := c.open + left*perShard*speed
			if chance(t, 2*try) >= c.kills*length/3600 {
				now, busy = now+length, busy+length
				break
			}
			done := chance(t, 2*try+1) * length // then it is killed; what was kept is kept
			kept := float64(int(max(0, done-c.open) / (perShard * speed)))
			left, now, busy, killed = left-kept, now+done+c.again, busy+done, killed+1
		}
		heap.Push(&free, now)
		end = max(end, now)
	}
	hours := values / float64(metrics) * c.evaluation / 3600
	fmt.Printf("%-34s %14.0f\n", "evaluations", values/float64(metrics))
	fmt.Printf("%-34s %14d of %d samples, %.1f s each\n", "shards", shards, j.Shard, perShard)
	fmt.Printf("%-34s %14d of %d shards, %.1f min each\n", "tasks", tasks, block, float64(block)*perShard/60)
	fmt.Printf("%-34s %14.1f GB\n", "folder", values*c.bytes/1e9)
	fmt.Printf("%-34s %14.0f core-hours\n", "evaluations alone", hours)
	fmt.Printf("%-34s %14.2f core-hours\n", "opening the workers", float64(tasks)*c.open/3600)
	fmt.Printf("%-34s %14.2f core-hours\n", "merge", values*c.merge/3600)
	fmt.Printf("%-34s %14d\n", "tasks killed", killed)
	fmt.Printf("%-34s %14.0f core-hours, %.2f h on %d cores\n", "played through", busy/3600, end/3600, cores)
	fmt.Printf("%-34s %14.0f at %g an hour and core\n", "money", (busy+values*c.merge)/3600*c.price, c.price)
}
