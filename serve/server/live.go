package server

import (
	"bytes"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"nero/data/space"
	"nero/run/probe"
	"nero/symmetry/group"
)

// getInput is the moved input; no model runs.
func (s *Server) getInput(w http.ResponseWriter, r *request) error {
	run, i, err := s.sampleOf(r)
	if err != nil {
		return err
	}
	g, err := r.query.element()
	if err != nil {
		return err
	}
	kind, err := r.query.choice("dtype", "u8", "f32")
	if err != nil {
		return err
	}
	in, err := run.Input(r.Context(), i, g)
	if err != nil {
		return err
	}
	c := &container{meta: map[string]string{
		"sample": strconv.Itoa(i), "g": elementText(in.G), "element": strconv.Itoa(in.Element), "exact": strconv.FormatBool(in.Exact),
	}}
	t, ok := inputOf(in, kind == "f32")
	if !ok {
		return missing("sample %d: its input is no array that can be sent", i)
	}
	c.tensors, c.meta["lo"], c.meta["hi"] = []tensor{t}, float(in.Range[0]), float(in.Range[1])
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		return err
	}
	return send(w, r.Request, http.StatusOK, typeArrays, "", b.Bytes())
}

// elementText is an element as it stands in an address.
func elementText(g group.Element) string {
	all := make([]string, len(g))
	for i, v := range g {
		all[i] = float(v + 0) // no negative zero
	}
	return strings.Join(all, ",")
}

// inputOf is a moved input as a tensor: a picture as bytes or exactly, anything else exactly.
func inputOf(in *probe.Input, precise bool) (tensor, bool) {
	const name = "input"
	switch v := in.Value.(type) {
	case *space.Image:
		if precise {
			return f32(name, interleaved(v), v.H, v.W, v.C), true
		}
		return u8(name, probe.Bytes(v, in.Range[0], in.Range[1]), v.H, v.W, v.C), true
	case *space.Tensor:
		return f32(name, singles(v.Val), v.Shape...), true
	}
	return tensor{}, false
}

// interleaved is a picture row by row with the channels of each pixel together.
func interleaved(m *space.Image) []float32 {
	out := make([]float32, len(m.Pix))
	for c := range m.C {
		for i, v := range m.Plane(c) {
			out[i*m.C+c] = float32(v)
		}
	}
	return out
}

func singles(v []float64) []float32 {
	out := make([]float32, len(v))
	for i, x := range v {
		out[i] = float32(x)
	}
	return out
}

// getProbe is the models' answers at any element. It ends with its request. Of the calls that read, only a report runs models too.
func (s *Server) getProbe(w http.ResponseWriter, r *request) error {
	run, i, err := s.sampleOf(r)
	if err != nil {
		return err
	}
	g, err := r.query.element()
	if err != nil {
		return err
	}
	models, err := r.query.models(len(run.Models()))
	if err != nil {
		return err
	}
	seq := r.query["seq"]
	if r.query.has("seq") {
		if _, err := strconv.ParseUint(seq, 10, 64); err != nil {
			return bad("seq", "%.40q, want a number from 0 on", seq)
		}
	}
	began := s.o.Now()
	p, err := run.Probe(r.Context(), i, g, models)
	if err != nil {
		return err
	}
	asked := make([]string, len(p.Results))
	for k, a := range p.Results {
		asked[k] = strconv.Itoa(a.Model)
	}
	c := &container{meta: map[string]string{
		"seq": seq, "sample": strconv.Itoa(i), "g": elementText(p.G), "element": strconv.Itoa(p.Element), "exact": strconv.FormatBool(p.Exact),
		"models": strings.Join(asked, ","), "milliseconds": strconv.FormatFloat(1000*s.o.Now().Sub(began).Seconds(), 'f', 2, 64),
		"lo": float(p.Range[0]), "hi": float(p.Range[1]),
	}}
	if t, ok := inputOf(&p.Input, false); ok {
		c.tensors = append(c.tensors, t)
	}
	for k := range p.Results {
		answerOf(c, &p.Results[k], asked[k])
	}
	w.Header().Set("Cache-Control", "no-store")
	return sendArrays(w, r.Request, "", c)
}

// answerOf adds what one model answered.
func answerOf(c *container, a *probe.Result, m string) {
	c.tensors = append(c.tensors, f32("values."+m, singles(a.Values), len(a.Values)), i32("top."+m, []int32{int32(a.Top)}, 1)) //nolint:gosec // a class
	switch v := a.Output.(type) {
	case *space.Scores:
		probabilities, logits := v.Val, v.Raw
		if !v.Probabilities {
			probabilities, logits = nil, v.Output()
		}
		if probabilities != nil {
			c.tensors = append(c.tensors, f32("probabilities."+m, singles(probabilities), len(probabilities)))
		}
		if logits != nil {
			c.tensors = append(c.tensors, f32("logits."+m, singles(logits), len(logits)))
		}
	case *space.Image:
		lo, hi := rangeOf(a.Output, a.Moved)
		for name, p := range map[string]space.Value{"output." + m: a.Output, "reference." + m: a.Moved} {
			if o, ok := p.(*space.Image); ok {
				c.tensors = append(c.tensors, u8(name, probe.Bytes(o, lo, hi), o.H, o.W, o.C))
				c.meta[name+".lo"], c.meta[name+".hi"] = float(lo), float(hi)
			}
		}
	case *space.Mask:
		for name, p := range map[string]space.Value{"output." + m: a.Output, "reference." + m: a.Moved} {
			if o, ok := p.(*space.Mask); ok {
				c.tensors = append(c.tensors, labelsOf(name, o))
				c.meta[name+".lo"], c.meta[name+".hi"] = "0", "255"
			}
		}
	}
}

// labelsOf is a mask, as bytes where every label is one.
func labelsOf(name string, m *space.Mask) tensor {
	b := make([]uint8, len(m.Label))
	for i, v := range m.Label {
		if v < 0 || v > 255 {
			return i32(name, m.Label, m.H, m.W, 1)
		}
		b[i] = uint8(v)
	}
	return u8(name, b, m.H, m.W, 1)
}

// rangeOf is the range of the finite numbers of pictures, 0 to 1 where there are no two.
func rangeOf(vs ...space.Value) (lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for _, v := range vs {
		if m, ok := v.(*space.Image); ok {
			for _, x := range m.Pix {
				if finite(x) {
					lo, hi = min(lo, x), max(hi, x)
				}
			}
		}
	}
	switch {
	case !(lo <= hi):
		return 0, 1
	case lo == hi:
		return lo, lo + 1
	}
	return lo, hi
}

// sortedModels is a choice of models in their order, all of them for nil.
func sortedModels(models []int, n int) []int {
	if models == nil {
		for m := range n {
			models = append(models, m)
		}
	}
	models = slices.Clone(models)
	slices.Sort(models)
	return models
}
