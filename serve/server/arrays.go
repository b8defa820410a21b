package server

import (
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"

	"nero/serve/api"
	"nero/serve/guard"
	"nero/serve/shelf"
)

// maxValues is how many values an answer may have.
const maxValues = 100_000_000

// arrayName is the name of an array, taken apart.
type arrayName struct {
	// curves, top, samples
	kind string
	// metric is -1 for top
	model, metric int
}

// parseArray reads the name of an array of a run with so many models and metrics.
func parseArray(name string, models, metrics int) (arrayName, error) {
	unknown := missing("array %.80q: a run has curves.M.K, top.M and samples.M.K for a model M and a metric K", name)
	parts := strings.Split(name, ".")
	a := arrayName{kind: parts[0], metric: -1}
	want := map[string]int{"curves": 3, "samples": 3, "top": 2}[a.kind]
	if want == 0 || len(parts) != want {
		return a, unknown
	}
	var ok bool
	if a.model, ok = count(parts[1]); !ok {
		return a, unknown
	}
	if a.model >= models {
		return a, missing("array %s: the run has %d models, numbered from 0", name, models)
	}
	if want == 3 {
		if a.metric, ok = count(parts[2]); !ok {
			return a, unknown
		}
		if a.metric >= metrics {
			return a, missing("array %s: the run has %d metrics, numbered from 0", name, metrics)
		}
	}
	return a, nil
}

// tooLarge is the problem of an answer beyond the bound.
func tooLarge(n, e int) error {
	return &guard.Problem{
		Status: http.StatusRequestEntityTooLarge, Code: "too-large", Title: "That is too much at once",
		Detail: fmt.Sprintf("%d rows of %d values, and an answer has at most %d values.", n, e, maxValues),
		Remedy: "Ask for fewer rows with rows=lo-hi, or let the server aggregate.",
	}
}

// affordable refuses rows lo to hi of n rows of so many values if they are too many. The others of the run are read
// with them, which may be ten times as many.
func affordable(n, width, lo, hi int) error {
	if hi > lo && width > maxValues/(hi-lo) || n > 0 && width > 10*maxValues/n {
		return tooLarge(hi-lo, width)
	}
	return nil
}

func (s *Server) getArray(w http.ResponseWriter, r *request) error {
	run, doc, err := s.document(r)
	if err != nil {
		return err
	}
	name := r.PathValue("name")
	a, err := parseArray(name, len(doc.Models), len(doc.Metrics))
	if err != nil {
		return err
	}
	kind, err := r.query.choice("dtype", "f32", "u8")
	if err != nil {
		return err
	}
	n, e := doc.Samples, doc.Elements
	lo, hi, err := r.query.rows(n)
	if err != nil {
		return err
	}
	width := e
	if a.kind == "samples" {
		width = 6
	}
	if err := affordable(n, width, lo, hi); err != nil {
		return err
	}
	// An unfinished run has the tag that it had before its values are read: newer values under an older tag are only
	// asked for once more.
	tag := `"` + run.NumbersTag() + "-" + name + "-" + kind + "-" + strconv.Itoa(lo) + "-" + strconv.Itoa(hi) + `"`
	if list := r.Header.Get("If-None-Match"); list != "" && holds(list, tag) { // before the values are read
		head(w, r.Request, typeArrays, tag, false)
		return nil
	}
	c := &container{meta: map[string]string{
		"rows":  strconv.Itoa(lo) + "-" + strconv.Itoa(hi),
		"model": doc.Models[a.model],
	}}
	if a.metric >= 0 {
		c.meta["metric"] = doc.Metrics[a.metric]
	}
	switch a.kind {
	case "curves":
		err = curvesOf(c, run, doc, a, name, kind, lo, hi)
	case "top":
		err = topOf(c, run, doc, a, name, kind, lo, hi)
	default:
		err = statsOf(c, run, a, kind, lo, hi)
	}
	if err != nil {
		return err
	}
	return sendArrays(w, r.Request, tag, c)
}

func curvesOf(c *container, run *shelf.Run, doc *api.Run, a arrayName, name, kind string, lo, hi int) error {
	v, err := run.Curves(a.model, a.metric)
	if err != nil {
		return err
	}
	e := doc.Elements
	part := v[lo*e : hi*e]
	if kind == "f32" {
		c.tensors = []tensor{f32(name, part, hi-lo, e)}
		return nil
	}
	least, most, err := extent(run, doc, a.metric)
	if err != nil {
		return err
	}
	c.meta["lo"], c.meta["hi"] = float(least), float(most)
	c.tensors = []tensor{{
		name: name, shape: []int{hi - lo, e},
		fill: func(dst []uint8, at int) { quantise(dst, part[at:at+len(dst)], least, most) },
	}}
	return nil
}

// extent is the range of a metric over all models of a run, so that the same byte is the same value in all of them:
// that of the metric where it is finite, else that of the values. It is 0 to 1 where there is no value.
func extent(run *shelf.Run, doc *api.Run, metric int) (lo, hi float64, err error) {
	lo, hi = float64(doc.MetricDoc[metric].Range[0]), float64(doc.MetricDoc[metric].Range[1])
	if finite(lo) && finite(hi) && lo < hi {
		return lo, hi, nil
	}
	lo, hi = math.Inf(1), math.Inf(-1)
	for m := range doc.Models {
		v, err := run.Stats(m, metric)
		if err != nil {
			return 0, 0, err
		}
		if v.Lo <= v.Hi { // not so for NaN
			lo, hi = min(lo, v.Lo), max(hi, v.Hi)
		}
	}
	if !(lo <= hi) {
		return 0, 1, nil
	}
	return lo, hi, nil
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

func float(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// quantise maps lo to hi linearly to 0 to 254; what is no number, or infinite, is 255. Values beyond the range stop at
// its ends.
func quantise(dst []uint8, src []float32, lo, hi float64) {
	scale := 0.0
	if hi > lo {
		scale = 254 / (hi - lo)
	}
	for i, v := range src {
		x := float64(v)
		if !finite(x) {
			dst[i] = 255
			continue
		}
		dst[i] = uint8(min(max((x-lo)*scale, 0), 254) + 0.5)
	}
}

func topOf(c *container, run *shelf.Run, doc *api.Run, a arrayName, name, kind string, lo, hi int) error {
	v, err := run.Top(a.model)
	if err != nil {
		return err
	}
	if v == nil {
		return missing("array %s: the output of the run has no classes", name)
	}
	e := doc.Elements
	part := v[lo*e : hi*e]
	if kind == "f32" || len(doc.Classes) > 255 {
		c.tensors = []tensor{i32(name, part, hi-lo, e)}
		return nil
	}
	c.tensors = []tensor{{name: name, shape: []int{hi - lo, e}, fill: func(dst []uint8, at int) {
		for i, k := range part[at : at+len(dst)] {
			dst[i] = 255
			if k >= 0 && k < 255 {
				dst[i] = uint8(k)
			}
		}
	}}}
	return nil
}

func statsOf(c *container, run *shelf.Run, a arrayName, kind string, lo, hi int) error {
	if kind != "f32" {
		return bad("dtype", "%s, and what is said of samples is exact: want f32", kind)
	}
	v, err := run.Stats(a.model, a.metric)
	if err != nil {
		return err
	}
	n := hi - lo
	c.tensors = []tensor{
		f32("mean", v.Mean[lo:hi], n), f32("sd", v.SD[lo:hi], n), f32("min", v.Min[lo:hi], n),
		f32("max", v.Max[lo:hi], n),
		f32("identity", v.Identity[lo:hi], n), i32("worst", v.Worst[lo:hi], n),
	}
	return nil
}
