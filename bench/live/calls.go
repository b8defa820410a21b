//go:build ignore

// calls measures round trips to a model behind an endpoint, for live.py: calls URL ROUNDS N,C,H,W. It prints the median
// time of a call on the clock and the mean processor time of this side, in seconds, as JSON.
package main

import (
	"context"
	"encoding/json"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"nero/data/tensor"
	"nero/model/engine/parent"
	"nero/model/engine/remote"
)

func spent() float64 {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func main() {
	const warm = 5
	ctx := context.Background()
	c := remote.Config{URL: os.Args[1]}
	if handed := os.Getenv(parent.Variable); handed != "" {
		c.Live = must(parent.Open(ctx, must(parent.Inherited(handed)), "bench"))
	}
	m := must(remote.Connect(ctx, c))
	rounds := must(strconv.Atoi(os.Args[2]))
	var shape []int
	for s := range strings.SplitSeq(os.Args[3], ",") {
		shape = append(shape, must(strconv.Atoi(s)))
	}
	in := []tensor.Named{{Name: m.Inputs()[0], Tensor: tensor.New(tensor.Float32, shape...)}}
	for i := range in[0].Raw {
		in[0].Raw[i] = byte(i) & 0x3f
	}
	var times []float64
	var before float64
	for i := range warm + rounds {
		if i == warm {
			before = spent()
		}
		start := time.Now()
		must(m.Run(ctx, in))
		if i >= warm {
			times = append(times, time.Since(start).Seconds())
		}
	}
	slices.Sort(times)
	_ = json.NewEncoder(os.Stdout).Encode(map[string]float64{
		"clock": times[len(times)/2], "processor": (spent() - before) / float64(rounds),
	})
}
