// Command controller puts a manifest of nero to the test without a cluster: strict decoding into the types of the
// API, the API server's own defaults and validation, and then the real Job controller over a client in memory. What
// stands in is the kubelets: containers run as processes of this machine, -nodes of them at once.
//
//	controller -f MANIFEST -check             only decodes and validates
//	controller -f MANIFEST [-kill-at N]       runs it; SIGKILL to a container when N pods have succeeded
//
// It exits with 0 for a job that is complete, 1 for one that failed, and 2 where the API server would refuse it.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	clienttest "k8s.io/client-go/testing"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	inner "k8s.io/kubernetes/pkg/apis/batch"
	_ "k8s.io/kubernetes/pkg/apis/batch/install"
	"k8s.io/kubernetes/pkg/apis/batch/validation"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	corevalidation "k8s.io/kubernetes/pkg/apis/core/validation"
	jobcontroller "k8s.io/kubernetes/pkg/controller/job"
	"sigs.k8s.io/yaml"
)

const (
	refused   = 2
	namespace = "default"
	uid       = "batch.kubernetes.io/controller-uid"
)

func main() {
	file := flag.String("f", "", "the manifest")
	nodes := flag.Int("nodes", 2, "containers that run at once")
	killAt := flag.Int("kill-at", -1, "kill a container when so many pods have succeeded")
	check := flag.Bool("check", false, "decode and validate only")
	limit := flag.Duration("timeout", 10*time.Minute, "give up after")
	klog.InitFlags(nil)
	flag.Parse()
	log.SetFlags(0)
	ctx, cancel := context.WithTimeout(context.Background(), *limit)
	defer cancel()
	job, err := admitted(*file)
	if err != nil {
		log.Printf("the API server would refuse it: %v", err)
		os.Exit(refused)
	}
	fmt.Printf("valid: %s, %d completions, %d at once\n", job.Name, *job.Spec.Completions, *job.Spec.Parallelism)
	if *check {
		return
	}
	k := &kubelets{
		client: client(), killAt: *killAt, slots: make(chan struct{}, *nodes), began: time.Now(),
		running: map[string]*exec.Cmd{}, seen: map[string]bool{},
	}
	must(k.controller(ctx))
	_, err = k.client.BatchV1().Jobs(namespace).Create(ctx, job, meta.CreateOptions{})
	must(err)
	for ctx.Err() == nil {
		time.Sleep(20 * time.Millisecond)
		k.start(ctx)
		if end := k.ended(ctx, job.Name); end != "" {
			if end == batch.JobFailed {
				os.Exit(1)
			}
			return
		}
	}
	log.Fatalf("no end within %v", *limit)
}

// admitted is the job of a manifest, with what an API server adds to it, if that would take it.
func admitted(file string) (*batch.Job, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	job := new(batch.Job)
	if err := yaml.UnmarshalStrict(b, job); err != nil {
		return nil, err
	}
	job.Namespace, job.UID = namespace, types.UID("u-"+rand.String(8))
	legacyscheme.Scheme.Default(job)
	job.Spec.Selector = &meta.LabelSelector{MatchLabels: map[string]string{uid: string(job.UID)}}
	if job.Spec.Template.Labels == nil {
		job.Spec.Template.Labels = map[string]string{}
	}
	job.Spec.Template.Labels[uid] = string(job.UID)
	in := new(inner.Job)
	if err := legacyscheme.Scheme.Convert(job, in, nil); err != nil {
		return nil, err
	}
	manual := true // the selector is not generated here, and is what would be
	in.Spec.ManualSelector = &manual
	o := validation.JobValidationOptions{PodValidationOptions: corevalidation.PodValidationOptions{}}
	return job, validation.ValidateJob(in, o).ToAggregate()
}

// version counts the versions of objects, which the client in memory does not keep; the controller passes over updates
// of a version that it knows.
var version atomic.Int64

func next() string { return strconv.FormatInt(version.Add(1), 10) }

// client is a client of no cluster, which names pods and counts their versions.
func client() *fake.Clientset {
	c := fake.NewClientset()
	c.PrependReactor("create", "pods", func(a clienttest.Action) (bool, runtime.Object, error) {
		p := a.(clienttest.CreateAction).GetObject().(*core.Pod)
		if p.Name == "" {
			p.Name = p.GenerateName + rand.String(5)
		}
		p.UID, p.CreationTimestamp, p.ResourceVersion = types.UID(p.Name), meta.Now(), next()
		p.Status.Phase = core.PodPending
		return false, nil, nil
	})
	pods := core.SchemeGroupVersion.WithResource("pods")
	react := clienttest.ObjectReaction(c.Tracker())
	c.PrependReactor("patch", "pods", func(a clienttest.Action) (bool, runtime.Object, error) {
		ok, o, err := react(a)
		if p, is := o.(*core.Pod); is && err == nil {
			p.ResourceVersion = next()
			err = c.Tracker().Update(pods, p, p.Namespace)
		}
		return ok, o, err
	})
	return c
}

// kubelets run the containers of pods as processes.
type kubelets struct {
	client *fake.Clientset
	killAt int
	slots  chan struct{}
	began  time.Time

	mu                sync.Mutex
	running           map[string]*exec.Cmd
	seen              map[string]bool
	succeeded, failed int
	killed            bool
}

// controller starts the real Job controller.
func (k *kubelets) controller(ctx context.Context) error {
	f := informers.NewSharedInformerFactory(k.client, 0)
	jc, err := jobcontroller.NewController(ctx, k.client, f.Core().V1().Pods(), f.Batch().V1().Jobs(),
		f.Scheduling().V1alpha2().Workloads(), f.Scheduling().V1alpha2().PodGroups())
	if err != nil {
		return err
	}
	f.Start(ctx.Done())
	f.WaitForCacheSync(ctx.Done())
	go jc.Run(ctx, 2)
	return nil
}

// start takes on the pods that nobody has.
func (k *kubelets) start(ctx context.Context) {
	pods, err := k.client.CoreV1().Pods(namespace).List(ctx, meta.ListOptions{})
	must(err)
	for i := range pods.Items {
		p := &pods.Items[i]
		if k.seen[p.Name] || p.Status.Phase != core.PodPending {
			continue
		}
		k.seen[p.Name] = true
		go func() {
			k.slots <- struct{}{}
			defer func() { <-k.slots }()
			k.run(ctx, p)
		}()
	}
}

// run is the life of a pod.
func (k *kubelets) run(ctx context.Context, p *core.Pod) {
	cur, err := k.client.CoreV1().Pods(namespace).Get(ctx, p.Name, meta.GetOptions{})
	if err != nil || cur.DeletionTimestamp != nil {
		return // the job failed before its turn came
	}
	c := p.Spec.Containers[0]
	cmd := exec.CommandContext(ctx, c.Command[0], append(c.Command[1:], c.Args...)...)
	cmd.Env, cmd.Stderr = os.Environ(), os.Stderr
	for _, e := range c.Env {
		v := e.Value
		if e.ValueFrom != nil && e.ValueFrom.FieldRef != nil { // the controller adds the index of the task so
			v = p.Annotations[batch.JobCompletionIndexAnnotation]
		}
		cmd.Env = append(cmd.Env, e.Name+"="+v)
	}
	must(cmd.Start())
	k.mu.Lock()
	k.running[p.Name] = cmd
	k.mu.Unlock()
	ready := core.PodCondition{Type: core.PodReady, Status: core.ConditionTrue}
	k.set(ctx, p, core.PodStatus{Phase: core.PodRunning, Conditions: []core.PodCondition{ready}})
	err = cmd.Wait()
	code := int32(cmd.ProcessState.ExitCode())
	if code < 0 {
		code = 137 // as kubelets tell of SIGKILL
	}
	k.mu.Lock()
	delete(k.running, p.Name)
	phase := core.PodSucceeded
	if err == nil {
		k.succeeded++
	} else {
		phase = core.PodFailed
		k.failed++
		fmt.Printf("%.1f s: pod of index %s: exit code %d\n", time.Since(k.began).Seconds(),
			p.Annotations[batch.JobCompletionIndexAnnotation], code)
	}
	if k.killAt >= 0 && !k.killed && k.succeeded >= k.killAt {
		for name, other := range k.running {
			fmt.Printf("%.1f s: SIGKILL to %s\n", time.Since(k.began).Seconds(), name)
			k.killed = other.Process.Kill() == nil
			break
		}
	}
	k.mu.Unlock()
	end := core.ContainerStatus{Name: c.Name}
	end.State.Terminated = &core.ContainerStateTerminated{ExitCode: code, FinishedAt: meta.Now()}
	k.set(ctx, p, core.PodStatus{Phase: phase, ContainerStatuses: []core.ContainerStatus{end}})
}

// set tells the API server how a pod is.
func (k *kubelets) set(ctx context.Context, p *core.Pod, status core.PodStatus) {
	cur, err := k.client.CoreV1().Pods(namespace).Get(ctx, p.Name, meta.GetOptions{})
	if err != nil {
		return // the controller took it away
	}
	cur.Status, cur.ResourceVersion = status, next()
	if _, err := k.client.CoreV1().Pods(namespace).UpdateStatus(ctx, cur, meta.UpdateOptions{}); err != nil {
		log.Print(err)
	}
}

// ended is how the job ended; empty while it did not.
func (k *kubelets) ended(ctx context.Context, name string) batch.JobConditionType {
	j, err := k.client.BatchV1().Jobs(namespace).Get(ctx, name, meta.GetOptions{})
	must(err)
	for _, c := range j.Status.Conditions {
		if (c.Type == batch.JobComplete || c.Type == batch.JobFailed) && c.Status == core.ConditionTrue {
			k.mu.Lock()
			fmt.Printf("%.1f s: %s %s; completed indexes %s; containers that ended with 0: %d, otherwise: %d\n",
				time.Since(k.began).Seconds(), c.Type, c.Reason, j.Status.CompletedIndexes, k.succeeded, k.failed)
			k.mu.Unlock()
			return c.Type
		}
	}
	return ""
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
