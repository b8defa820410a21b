package server

import (
	"bytes"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"nero/data/space"
	"nero/measure/metric"
	"nero/run/probe"
	"nero/serve/shelf"
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
		"sample": strconv.Itoa(i), "g": elementText(in.G), "element": strconv.Itoa(in.Element),
		"exact": strconv.FormatBool(in.Exact),
	}}
	if !c.input(in, kind == "f32") {
		return missing("sample %d: its input is no array that can be sent", i)
	}
	c.meta["lo"], c.meta["hi"] = float(in.Range[0]), float(in.Range[1])
	return sendWhole(w, r, c)
}

// sendWhole sends arrays that are not kept anywhere.
func sendWhole(w http.ResponseWriter, r *request, c *container) error {
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		return err
	}
	return send(w, r.Request, http.StatusOK, typeArrays, "", b.Bytes())
}

// getContext is a sample before it is moved, with the place of the crop window at the identity; no model runs.
func (s *Server) getContext(w http.ResponseWriter, r *request) error {
	run, i, err := s.sampleOf(r)
	if err != nil {
		return err
	}
	sc, err := run.Scene(r.Context(), i)
	if err != nil {
		return err
	}
	c := &container{meta: map[string]string{}}
	if t, ok := valueOf("context", sc.Value, sc.Range, false); ok && !given(sc.Value) {
		c.add(t)
	} else if !c.value("context", sc.Value) {
		return missing("sample %d: it is no array that can be sent", i)
	}
	window := make([]string, len(sc.Window))
	for k, v := range sc.Window {
		window[k] = strconv.Itoa(v)
	}
	c.meta["sample"], c.meta["window"] = strconv.Itoa(i), strings.Join(window, ",")
	c.meta["lo"], c.meta["hi"] = float(sc.Range[0]), float(sc.Range[1])
	return sendWhole(w, r, c)
}

// getBoxes is what was recorded at an element of the plan. What the data say is added where they can be asked; no model
// runs.
func (s *Server) getBoxes(w http.ResponseWriter, r *request) error {
	run, i, err := s.sampleOf(r)
	if err != nil {
		return err
	}
	g, err := r.query.element()
	if err != nil {
		return err
	}
	if !run.Boxed() {
		return missing("run %s has no recorded boxes: its output is of another kind", run.ID())
	}
	grp, elements, _ := run.Plan()
	if len(g) != len(grp.Chart()) {
		return bad("g", "%d coordinates, want %d", len(g), len(grp.Chart()))
	}
	k := slices.IndexFunc(elements, func(e group.Element) bool { return grp.Dist(e, g) <= group.Tolerance })
	if k < 0 {
		return missing("boxes are recorded at the elements of the plan, of which %s is none", elementText(g))
	}
	b, err := run.Recorded(i, k)
	if err != nil {
		return err
	}
	if in, err := run.Input(r.Context(), i, elements[k]); err == nil {
		b.Target = shelf.BoxesOf(in.Target)
	}
	return sendJSON(w, r.Request, http.StatusOK, "", b)
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
	return valueOf("input", in.Value, in.Range, precise)
}

// valueOf is a picture, frames of T × H × W × C, a drawing of a volume, or an array as a tensor.
func valueOf(name string, v space.Value, shown [2]float64, precise bool) (tensor, bool) {
	all := space.Views(v)
	if len(all) == 0 {
		if v == nil || v.Kind() != space.KindTensor {
			return tensor{}, false
		}
		return f32(name, singles(v.Numbers()), v.Dims()...), true
	}
	shape := []int{all[0].H, all[0].W, all[0].C}
	if _, ok := v.(space.Sequence); ok {
		shape = append([]int{len(all)}, shape...)
	}
	var exact []float32
	var bytes []uint8
	for _, m := range all {
		if precise {
			exact = append(exact, interleaved(m)...)
		} else {
			bytes = append(bytes, probe.Bytes(m, shown[0], shown[1])...)
		}
	}
	if precise {
		return f32(name, exact, shape...), true
	}
	return u8(name, bytes, shape...), true
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

// getProbe is the models' answers at any element. It ends with its request. Of the calls that read, only a report runs
// models too.
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
	ref, err := r.query.choice("ref", "", string(metric.Target), string(metric.Self), string(metric.Consensus))
	if err != nil {
		return err
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
		"seq": seq, "sample": strconv.Itoa(i), "g": elementText(p.G), "element": strconv.Itoa(p.Element),
		"exact":  strconv.FormatBool(p.Exact),
		"models": strings.Join(asked, ","), "milliseconds": strconv.FormatFloat(1000*s.o.Now().Sub(began).Seconds(),
			'f', 2, 64),
		"lo": float(p.Range[0]), "hi": float(p.Range[1]),
	}}
	c.input(&p.Input, false)
	for k := range p.Results {
		answerOf(c, p, &p.Results[k], asked[k])
		referenceOf(c, p, &p.Results[k], asked[k], metric.Reference(ref))
	}
	w.Header().Set("Cache-Control", "no-store")
	return sendArrays(w, r.Request, "", c)
}

// mapSide is the most numbers along a side of a map of errors: as many as a tile of the page has pixels.
const mapSide = 64

// getErrors is where the models' fields are wrong at any element, small: the page shows the maps of all elements at
// once, and the fields themselves are large.
func (s *Server) getErrors(w http.ResponseWriter, r *request) error {
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
	ref, err := r.query.choice("ref", "", string(metric.Target), string(metric.Self), string(metric.Consensus))
	if err != nil {
		return err
	}
	p, err := run.Probe(r.Context(), i, g, models)
	if err != nil {
		return err
	}
	c := &container{meta: map[string]string{
		"sample": strconv.Itoa(i), "g": elementText(p.G), "element": strconv.Itoa(p.Element),
	}}
	for k := range p.Results {
		m, of := p.Errors(&p.Results[k], metric.Reference(ref), mapSide)
		if m == nil {
			continue // the output is no field, or the reference is not there, or not yet
		}
		name := "errors." + strconv.Itoa(p.Results[k].Model)
		c.add(f32(name, m.Val, m.H, m.W))
		c.meta[name+".mean"], c.meta[name+".ref"] = float(m.Mean), string(of)
	}
	w.Header().Set("Cache-Control", "no-store")
	return sendArrays(w, r.Request, "", c)
}

// answerOf adds what one model answered.
func answerOf(c *container, p *probe.Point, a *probe.Result, m string) {
	c.tensors = append(c.tensors, f32("values."+m, singles(a.Values), len(a.Values)),
		i32("top."+m, []int32{int32(a.Top)}, 1)) //nolint:gosec // a class
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
	default:
		switch {
		case v == nil || c.drawn("boxes."+m, "field."+m, v):
		case inFull(v):
			c.value("output."+m, v)
		default:
			c.picture("output."+m, v, a.Output, a.Moved)
			if a.Moved != nil && a.Moved.Kind() == v.Kind() {
				against, ref := a.Moved, metric.Self
				if p.Target != nil {
					against, ref = p.Target, metric.Target // what is right says more than what the model says
				}
				c.picture("reference."+m, against, a.Output, against)
				c.meta["reference."+m] = string(ref)
			}
		}
	}
}

// drawn adds boxes or a field, each under its name, and says whether v is one of them.
func (c *container) drawn(boxes, field string, v space.Value) bool {
	switch v := v.(type) {
	case *space.Boxes:
		c.boxes(boxes, v)
	case *space.Field:
		c.tensors = append(c.tensors, fieldOf(field, v))
	default:
		return false
	}
	return true
}

// picture adds a picture, shown in the range of others, or a mask.
func (c *container) picture(name string, v space.Value, in ...space.Value) {
	switch o := v.(type) {
	case *space.Image:
		lo, hi := rangeOf(in...)
		c.tensors = append(c.tensors, u8(name, probe.Bytes(o, lo, hi), o.H, o.W, o.C))
		c.meta[name+".lo"], c.meta[name+".hi"] = float(lo), float(hi)
	case *space.Mask:
		c.tensors = append(c.tensors, labelsOf(name, o))
		c.meta[name+".lo"], c.meta[name+".hi"] = "0", "255"
	}
}

// boxes adds boxes as rows of x1, y1, x2, y2, angle, score and label: labels are small whole numbers, which a float32
// holds exactly.
func (c *container) boxes(name string, b *space.Boxes) {
	const columns = 7
	rows := make([]float32, 0, columns*len(b.Items))
	for _, x := range b.Items {
		rows = append(rows, float32(x.X1), float32(x.Y1), float32(x.X2), float32(x.Y2), float32(x.Angle),
			float32(x.Score), float32(x.Label))
	}
	c.tensors = append(c.tensors, f32(name, rows, len(b.Items), columns))
	c.meta["width"], c.meta["height"] = float(b.W), float(b.H)
}

// fieldOf is a field as 2 × H × W: u along the columns, v along the rows.
func fieldOf(name string, f *space.Field) tensor { return f32(name, singles(f.Val), 2, f.H, f.W) }

// referenceOf adds what a model's boxes or field are compared with, in the frame of g. Boxes are few and all references
// are sent. Fields are large: one is, the one that was asked for, or else the first that there is of target, consensus
// and self.
func referenceOf(c *container, p *probe.Point, a *probe.Result, m string, wanted metric.Reference) {
	c.meta["support."+m] = float(a.Support)
	if inFull(a.Output) {
		c.reference("reference."+m, p, a, wanted)
		return
	}
	refs := []struct {
		name  metric.Reference
		value space.Value
	}{{metric.Target, p.Target}, {metric.Consensus, a.Consensus}, {metric.Self, a.Moved}}
	for _, r := range refs {
		_, flow := r.value.(*space.Field)
		if flow && wanted != "" && wanted != r.name {
			continue
		}
		if flow && (a.Output == nil || a.Output.Kind() != r.value.Kind()) {
			return
		}
		if c.drawn("boxes."+string(r.name)+"."+m, "reference."+m, r.value) && flow {
			c.meta["reference."+m] = string(r.name)
			return
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
		if m := space.View(v); m != nil {
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
