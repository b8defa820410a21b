package server

import (
	"strconv"
	"strings"

	"nero/data/space"
	"nero/measure/metric"
	"nero/run/probe"
)

// mostValues bounds the numbers of one array that a page is sent: pairs of thousands of nodes are too many to look at.
const mostValues = 8 << 20

// value adds a value that is neither a picture nor boxes under a name. The text NAME.kind says what it is:
//
//   - rows: N × W; links: 2 × edges i32, with NAME.nodes; pairs: N × N × W; signal: C × T, with NAME.rate in numbers
//     per second; tensor: as it is; scores: one number per class;
//   - record: no array of its own; NAME.fields are the names of its fields, one per line, and field F is the value
//     NAME/F.
//
// Frames and pictures within a record are exact, of T × H × W × C and H × W × C. Pairs that are too many to look at are
// left out. It reports whether there was anything to send.
func (c *container) value(name string, v space.Value) bool {
	kind := string(v.Kind())
	switch v := v.(type) {
	case *space.Rows:
		c.add(f32(name, singles(v.Val), v.N, v.W))
	case *space.Links:
		c.add(i32(name, append(append(make([]int32, 0, 2*len(v.From)), v.From...), v.To...), 2, len(v.From)))
		c.meta[name+".nodes"] = strconv.Itoa(v.Nodes)
	case *space.Pairs:
		if len(v.Val) > mostValues {
			return false
		}
		c.add(f32(name, singles(v.Val), v.N, v.N, v.W))
	case *space.Signal:
		c.add(f32(name, singles(v.Val), v.C, v.T))
		c.meta[name+".rate"] = float(v.Rate)
	case *space.Tensor:
		c.add(f32(name, singles(v.Val), v.Shape...))
	case *space.Scores:
		c.add(f32(name, singles(v.Val), len(v.Val)))
	case *space.Image, *space.Frames:
		t, ok := valueOf(name, v, [2]float64{}, true)
		if !ok {
			return false
		}
		c.add(t)
	case *space.Record:
		names := make([]string, 0, len(v.Names))
		for i, f := range v.Names {
			if i < len(v.Values) && v.Values[i] != nil && c.value(name+"/"+f, v.Values[i]) {
				names = append(names, f)
			}
		}
		c.meta[name+".fields"] = strings.Join(names, "\n")
	default:
		return false
	}
	c.meta[name+".kind"] = kind
	return true
}

func (c *container) add(t tensor) { c.tensors = append(c.tensors, t) }

// given reports whether values of a kind are sent as [container.value] does, and not as pictures or boxes.
func given(v space.Value) bool {
	switch v.(type) {
	case *space.Rows, *space.Links, *space.Pairs, *space.Signal, *space.Record:
		return true
	}
	return false
}

// input adds the moved input of a sample, and what the data say about it where that is of a kind that value sends;
// false if there is nothing to send.
func (c *container) input(in *probe.Input, precise bool) bool {
	if in.Target != nil && given(in.Target) {
		c.value("target", in.Target)
	}
	if given(in.Value) {
		return c.value("input", in.Value)
	}
	t, ok := inputOf(in, precise)
	if ok {
		c.add(t)
	}
	return ok
}

// reference adds what an answer is compared with, in the frame of g: the reference that was asked for, or else the
// first there is of target, consensus and self. The text NAME says which it is.
func (c *container) reference(name string, p *probe.Point, a *probe.Result, wanted metric.Reference) {
	for _, r := range []struct {
		name  metric.Reference
		value space.Value
	}{{metric.Target, p.Target}, {metric.Consensus, a.Consensus}, {metric.Self, a.Moved}} {
		if r.value == nil || wanted != "" && wanted != r.name || !alike(a.Output, r.value) {
			continue
		}
		if c.value(name, r.value) {
			c.meta[name] = string(r.name)
			return
		}
	}
}

// alike reports whether a reference is of the kind of an answer.
func alike(output, ref space.Value) bool {
	_, one := output.(*space.Record)
	_, other := ref.(*space.Record)
	return output.Kind() == ref.Kind() || one || other // a target may have other fields than the answer
}
