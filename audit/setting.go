package audit

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"nero/data/space"
	"nero/model/onnx"
	"nero/model/onnx/onnxpb"
	"nero/symmetry/action"
	"nero/symmetry/group"
)

// Setting says what an audit is about as far as that rules causes out: no weights can break a shift, and only pictures
// are filtered on a grid that turns. The zero Setting rules nothing out.
type Setting struct {
	// of the inputs; "" if that is not known
	Kind space.Kind
	// Shifts says that elements shift places or times and do nothing else, Space that they are rigid motions of space
	// with turns or mirrors, Still that they move no place at all, such as changes of colors and permutations of rows.
	Shifts, Space, Still bool
	// Clipped is the share of the numbers of inputs that elements cut at the ends of their range, over a few inputs and
	// elements; see [action.Clipper].
	Clipped float64

	// planar says that a kind from outside lies in a plane.
	planar bool
}

// Clips reports whether elements cut numbers at the ends of their range and resample nothing.
func (s Setting) Clips() bool { return s.Still && s.Clipped > 0 }

// Resamples reports whether elements may resample.
func (s Setting) Resamples() bool { return !s.Still }

// Picture reports whether the inputs are, or may be, pictures.
func (s Setting) Picture() bool {
	i := s.Kind.Info()
	return s.Kind == "" || s.planar || i != nil && i.Planar
}

// Grid reports whether the inputs are, or may be, sampled on a grid: pictures, signals and volumes.
func (s Setting) Grid() bool {
	i := s.Kind.Info()
	return s.Picture() || i != nil && i.Gridded
}

// settingOf looks at the inputs and at what the elements do.
func settingOf(s *Subject, elements []Element) Setting {
	out := Setting{Kind: s.InSpec.Kind}
	if i := s.Kinds.Info(s.InSpec.Kind); i != nil {
		out.planar = i.Planar
	}
	var shifts, turns, rigid, other bool
	var look func(G group.Group, g group.Element)
	look = func(G group.Group, g group.Element) {
		if f, ok := G.(group.Factored); ok {
			for i, e := range f.Split(g) {
				look(f.Factors()[i], e)
			}
			return
		}
		if G.Dist(g, G.Identity()) <= group.Tolerance {
			return
		}
		moved := false
		if p, ok := G.(group.Planar); ok {
			a, t := p.Affine(g)
			turns = turns || a != [2][2]float64{{1, 0}, {0, 1}}
			shifts = shifts || t != [2]float64{}
			moved = true
		}
		if p, ok := G.(group.Shifting); ok {
			shifts = shifts || p.Shift(g) != 0
			moved = true
		}
		if group.Reverses(G, g) {
			turns, moved = true, true
		}
		if p, ok := G.(group.Spatial); ok && !moved {
			a, t := p.Motion(g)
			still := unit(a, p.Dim())
			rigid = rigid || !still && orthogonal(a, p.Dim())
			other = other || !still && !orthogonal(a, p.Dim())
			shifts = shifts || slices.ContainsFunc(t, func(x float64) bool { return x != 0 })
			moved = true
		}
		if _, ok := G.(group.Flowing); ok {
			other, moved = true, true
		}
		if !moved {
			_, color := G.(group.Coloring)
			_, rows := G.(group.Permuting)
			out.Still = true
			other = other || !color && !rows
		}
	}
	for _, e := range elements {
		look(s.Plan.Group, e.G)
	}
	out.Shifts = shifts && !turns && !rigid && !other && !out.Still
	out.Space = rigid && !other
	out.Still = out.Still && !shifts && !turns && !rigid && !other
	return out
}

// clipped is the share of the numbers that elements cut, over a few inputs and inexact elements; 0 for actions that cut
// none.
func clipped(s *Subject, elements []Element) float64 {
	c, ok := s.Plan.In.(action.Clipper)
	if !ok {
		return 0
	}
	const few = 8
	elements = slices.DeleteFunc(slices.Clone(elements), func(e Element) bool { return e.Exact })
	cut, all := 0, 0
	for i := range min(few, s.N) {
		x, err := s.Sample(i * s.N / min(few, s.N))
		if err != nil {
			return 0 // reported where the sample is used
		}
		v := x.Value.Numbers()
		for k := range min(few, len(elements)) {
			n, err := c.Clipped(elements[k*len(elements)/min(few, len(elements))].G, x.Value)
			if err != nil {
				return 0
			}
			cut, all = cut+n, all+len(v)
		}
	}
	return float64(cut) / float64(max(all, 1))
}

// sayClipped tells of sets whose error is no larger than what clipping costs why that is so.
func (r *Report) sayClipped() {
	if !r.Setting.Clips() {
		return
	}
	why := fmt.Sprintf("elements clip %s of the numbers at the ends of their range, which no inverse brings back",
		percent(r.Setting.Clipped))
	for _, s := range r.Sets() {
		if s.Exact || s.Cause != CauseResampling {
			continue
		}
		s.Reason = strings.Replace(s.Reason, "resampling-limited: ", "limited by clipping: ", 1)
		s.Reason = strings.Replace(s.Reason, ", as resampling alone would give", ", as clipping alone would give", 1) +
			"; " + why
		if n := len(s.Steps); n > 0 {
			s.Steps[n-1].Text += "; " + why
		}
	}
}

func unit(a []float64, d int) bool {
	for i, x := range a {
		if i%(d+1) == 0 && x != 1 || i%(d+1) != 0 && x != 0 {
			return false
		}
	}
	return true
}

func orthogonal(a []float64, d int) bool {
	for i := range d {
		for j := range d {
			var s float64
			for k := range d {
				s += float64(a[i*d+k] * a[j*d+k])
			}
			if i == j {
				s--
			}
			if !(math.Abs(s) <= 1e-9) {
				return false
			}
		}
	}
	return true
}

// graphClues reads from the graph of a model of signals what breaks shifts of time: zeros that enter at the ends, and
// strides. The checks of the graph know pictures alone.
func graphClues(s *Subject, set Setting, elements []Element) []Clue {
	if s.Interior == nil || set.Kind != space.KindSignal || !set.Shifts {
		return nil
	}
	pads := Clue{Name: CluePaddingLayer, Strength: 1, Text: "no layer pads with zeros", Check: "graph"}
	strides := Clue{Name: ClueStrideParity, Strength: 1, Text: "no layer strides", Check: "graph"}
	total := int64(1)
	for i, n := range s.Interior.ONNX().Proto().GetGraph().GetNode() {
		name := n.GetName()
		if name == "" {
			name = fmt.Sprintf("node %d", i)
		}
		if zeroPads(n) && !pads.Holds {
			pads.Holds, pads.Location, pads.Text = true, name,
				name+" ("+n.GetOpType()+") pads with zeros at the ends, which a shift does not bring"
		}
		for _, k := range onnx.Ints(n, "strides", nil) {
			if k <= 1 {
				continue
			}
			total *= k
			if strides.Location == "" {
				strides.Location, strides.Text = name,
					fmt.Sprintf("%s (%s) takes every %d. moment, and shifts by other numbers of samples move its grid",
						name, n.GetOpType(), k)
			}
		}
	}
	strides.Holds = total > 1 && slices.ContainsFunc(elements, func(e Element) bool {
		p, ok := s.Plan.Group.(group.Shifting)
		return ok && math.Mod(p.Shift(e.G), float64(total)) != 0
	})
	if !strides.Holds && total > 1 {
		strides.Text = "all shifts are by multiples of the strides"
	}
	return []Clue{pads, strides}
}

// zeroPads reports whether a layer fills up what lies beyond the ends with zeros.
func zeroPads(n *onnxpb.NodeProto) bool {
	attribute := func(name string) string {
		for _, a := range n.GetAttribute() {
			if a.GetName() == name {
				return string(a.GetS())
			}
		}
		return ""
	}
	switch n.GetOpType() {
	case "Conv", "ConvTranspose", "AveragePool", "LpPool":
		auto := attribute("auto_pad")
		return auto == "SAME_UPPER" || auto == "SAME_LOWER" || slices.ContainsFunc(onnx.Ints(n, "pads", nil),
			func(p int64) bool { return p > 0 })
	case "Pad":
		mode := attribute("mode")
		return mode == "" || mode == "constant"
	}
	return false
}
