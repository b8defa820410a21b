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
	names, fields := space.Fields(v)
	pictured := len(space.Views(v)) > 0
	_, linear := v.(space.Linear)
	switch {
	case names != nil:
		own := make([]string, 0, len(names))
		for i, f := range names {
			if i < len(fields) && fields[i] != nil && c.value(name+"/"+f, fields[i]) {
				own = append(own, f)
			}
		}
		c.meta[name+".fields"] = strings.Join(own, "\n")
	case pictured:
		t, ok := valueOf(name, v, [2]float64{}, true)
		if !ok {
			return false
		}
		c.add(t)
	case v.Kind() == space.KindLinks:
		ends := v.Numbers()
		whole := make([]int32, len(ends))
		for i, x := range ends {
			whole[i] = int32(x)
		}
		c.add(i32(name, whole, v.Dims()...))
		c.meta[name+".nodes"] = strconv.Itoa(space.Members(v))
	case !linear || v.Kind() == space.KindField || v.Kind() == space.KindPairs && len(v.Numbers()) > mostValues:
		return false
	default:
		c.add(f32(name, singles(v.Numbers()), v.Dims()...))
		if s, ok := v.(*space.Signal); ok {
			c.meta[name+".rate"] = float(s.Rate)
		}
	}
	c.meta[name+".kind"] = string(v.Kind())
	return true
}

func (c *container) add(t tensor) { c.tensors = append(c.tensors, t) }

// given reports whether values of a kind are sent as [container.value] does, and not as pictures or boxes.
func given(v space.Value) bool {
	_, ragged := v.(space.Ragged)
	_, pictured := v.(space.Pictured)
	return ragged && !pictured
}

// inFull reports whether an answer is sent as [container.value] does.
func inFull(v space.Value) bool {
	return given(v) || v != nil && (v.Kind() == space.KindTensor || v.Kind() == space.KindFrames)
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
	one, _ := space.Fields(output)
	other, _ := space.Fields(ref)
	return output.Kind() == ref.Kind() || one != nil || other != nil // a target may have other fields than the answer
}
