package server

import (
	"math"
	"slices"
	"testing"

	"nero/data/space"
	"nero/measure/metric"
	"nero/run/probe"
)

func emptied() *container { return &container{meta: map[string]string{}} }

func (c *container) named(name string) *tensor {
	for i := range c.tensors {
		if c.tensors[i].name == name {
			return &c.tensors[i]
		}
	}
	return nil
}

// molecule is a record of everything that a record of atoms has.
func molecule() *space.Record {
	return &space.Record{
		Names: []string{"positions", "bonds", "near", "energy", "label"},
		Values: []space.Value{
			&space.Rows{N: 2, W: 3, Val: []float64{1, 2, 3, 4, 5, 6}},
			&space.Links{Nodes: 2, From: []int32{0, 1}, To: []int32{1, 0}},
			&space.Pairs{N: 2, W: 1, Val: []float64{0, 1, 1, 0}}, &space.Rows{N: 1, W: 1, Val: []float64{-7}},
			&space.Mask{H: 1, W: 1, Label: []int32{3}},
		},
	}
}

// Every kind of value is there under its name with its shape, and comes back from the bytes as it was.
func TestValues(t *testing.T) {
	c := emptied()
	if !c.value("input", molecule()) ||
		!c.value("sound", &space.Signal{C: 2, T: 3, Rate: 8000, Val: []float64{1, 2, 3, 4, 5, 6}}) {
		t.Fatal("nothing was added")
	}
	var b slowBuffer
	if _, err := c.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	back, err := readContainer(b)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"input.kind": "record", "input.fields": "positions\nbonds\nnear\nenergy", "input/positions.kind": "rows",
		"input/bonds.kind": "links", "input/bonds.nodes": "2",
		"input/near.kind": "pairs", "sound.kind": "signal", "sound.rate": "8000",
	} {
		if got := back.meta[name]; got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	for name, want := range map[string][]int{
		"input/positions": {2, 3}, "input/bonds": {2, 2}, "input/near": {2, 2, 1},
		"input/energy": {1, 1}, "sound": {2, 3},
	} {
		if got := back.named(name); got == nil || !slices.Equal(got.shape, want) {
			t.Errorf("%s is %+v, want the shape %v", name, got, want)
		}
	}
	if p := back.named("input/positions"); !slices.Equal(p.f32, []float32{1, 2, 3, 4, 5, 6}) {
		t.Errorf("positions %v", p.f32)
	}
	if l := back.named("input/bonds"); !slices.Equal(l.i32, []int32{0, 1, 1, 0}) {
		t.Errorf("bonds %v", l.i32)
	}
	if back.named("input/label") != nil {
		t.Error("a field of a kind that is not sent is sent")
	}
	if emptied().value("m", &space.Mask{H: 1, W: 1, Label: []int32{1}}) {
		t.Error("a mask is no value of this kind")
	}
}

// slowBuffer collects what is written.
type slowBuffer []byte

func (b *slowBuffer) Write(p []byte) (int, error) {
	*b = append(*b, p...)
	return len(p), nil
}

// One reference goes along: the one that was asked for, or the first there is.
func TestReferenceOfValues(t *testing.T) {
	number := func(v float64) *space.Rows { return &space.Rows{N: 1, W: 1, Val: []float64{v}} }
	p := &probe.Point{Input: probe.Input{Target: &space.Record{
		Names:  []string{"energy"},
		Values: []space.Value{number(1)},
	}}}
	a := &probe.Result{
		Output:    &space.Record{Names: []string{"energy"}, Values: []space.Value{number(5)}},
		Consensus: &space.Record{Names: []string{"energy"}, Values: []space.Value{number(2)}},
		Moved:     &space.Record{Names: []string{"energy"}, Values: []space.Value{number(3)}}, Support: math.NaN(),
	}
	for wanted, want := range map[metric.Reference]float32{
		"": 1, metric.Target: 1, metric.Consensus: 2,
		metric.Self: 3,
	} {
		c := emptied()
		referenceOf(c, p, a, "0", wanted)
		if got := c.named("reference.0/energy"); got == nil || got.f32[0] != want {
			t.Errorf("reference %q is %v, want %v", wanted, got, want)
		}
	}
	a.Consensus = nil
	c := emptied()
	if referenceOf(c, p, a, "0", metric.Consensus); len(c.tensors) != 0 {
		t.Error("a reference that there is not is sent")
	}
	// A class is no reference of a vector.
	p.Target, a.Output = &space.Scores{Val: []float64{1}}, number(5)
	a.Moved = number(4)
	c = emptied()
	if referenceOf(c, p, a, "0", ""); c.meta["reference.0"] != string(metric.Self) {
		t.Errorf("the reference is %q", c.meta["reference.0"])
	}
}

// What a probe answers is sent with the input.
func TestAnswersOfValues(t *testing.T) {
	c := emptied()
	answerOf(c, &probe.Point{}, &probe.Result{Output: molecule(), Values: []float64{0.5}, Top: -1}, "1")
	if got := c.named("output.1/positions"); got == nil || c.meta["output.1.kind"] != "record" {
		t.Errorf("tensors %+v", c.tensors)
	}
	c = emptied()
	frames := &space.Frames{Images: []*space.Image{space.NewImage(1, 2, 3), space.NewImage(1, 2, 3)}}
	answerOf(c, &probe.Point{}, &probe.Result{Output: frames, Top: -1}, "0")
	if got := c.named("output.0"); got == nil || !slices.Equal(got.shape, []int{2, 2, 3, 1}) {
		t.Errorf("frames are %+v", got)
	}
	c = emptied()
	if !c.input(&probe.Input{Value: molecule(), Target: &space.Rows{N: 1, W: 1, Val: []float64{9}}}, false) ||
		c.named("target") == nil || c.named("input/positions") == nil {
		t.Errorf("tensors %+v", c.tensors)
	}
}
