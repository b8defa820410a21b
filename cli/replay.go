package cli

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"image/png"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"nero/audit"
	"nero/audit/check/sweep"
	"nero/data/dataset"
	"nero/data/space"
	"nero/run/eval"
	"nero/run/job"
	"nero/run/workload"
	"nero/symmetry/action"
	"nero/symmetry/group"
)

// only keeps the named models of a study.
func only(s *job.Study, names []string) error {
	if len(names) == 0 {
		return nil
	}
	var known []string
	for _, m := range s.Models {
		known = append(known, m.Name)
	}
	for _, n := range names {
		if !slices.Contains(known, n) {
			return fmt.Errorf("--only %q: the study has no such model; want one of %s", n, strings.Join(known, ", "))
		}
	}
	s.Models = slices.DeleteFunc(slices.Clone(s.Models),
		func(m job.Model) bool { return !slices.Contains(names, m.Name) })
	return nil
}

// place is what --replay names: a sample and the coordinates of an element.
type place struct {
	sample string
	at     group.Element
}

// parsePlace reads SAMPLE@COORDS. A sample may hold an @ itself; the last one counts.
func parsePlace(s string) (place, error) {
	i := strings.LastIndexByte(s, '@')
	if i <= 0 || i == len(s)-1 {
		return place{}, fmt.Errorf("--replay %q: want SAMPLE@COORDINATES, such as 17@90 or 3/017.png@2,-1", s)
	}
	p := place{sample: s[:i]}
	for c := range strings.SplitSeq(s[i+1:], ",") {
		x, err := strconv.ParseFloat(strings.TrimSpace(c), 64)
		if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
			return place{}, fmt.Errorf(
				"--replay %q: %q is not a coordinate; want numbers separated by commas after the last @", s, c)
		}
		p.at = append(p.at, x)
	}
	return p, nil
}

// replayFiles are what a replay writes into a folder; those that a value has no form for are left out.
func replayFiles() []string {
	var names []string
	for _, v := range []string{"unmoved", "moved", "answer-unmoved", "answer-moved", "answer-back", "difference"} {
		names = append(names, v+".npy", v+".png")
	}
	return append(names, "replay.json")
}

// replay measures one sample at one element again.
func (a *App) replay(ctx context.Context, s *job.Study, ef engineFlags, af auditFlags, workers int, formats []string,
	out string,
) error {
	where, err := parsePlace(af.replay)
	if err != nil {
		return err
	}
	if len(formats) != 1 || formats[0] != "text" && formats[0] != "json" {
		return fmt.Errorf("--format %s: a replay is printed as text or as json; -o keeps the inputs and outputs",
			strings.Join(formats, ","))
	}
	if out != "" {
		if err := ownFolder(out, replayFiles()...); err != nil {
			return err
		}
	}
	if len(s.Models) > 1 {
		var names []string
		for _, m := range s.Models {
			names = append(names, m.Name)
		}
		return fmt.Errorf("--replay is of one model: choose it with --only, one of %s", strings.Join(names, ", "))
	}
	if err := a.sayOutput(s); err != nil {
		return err
	}
	if err := af.overlay(s); err != nil {
		return err
	}
	policy, err := auditPolicy(s, af)
	if err != nil {
		return err
	}
	w, err := workload.Open(ctx, s, workload.Options{
		OpenEngine: a.opener(ef), Rules: action.Rules(), Audit: true,
		Retry: retry(), Start: a.program,
	})
	if err != nil {
		return err
	}
	defer w.Close() //nolint:errcheck // nothing is lost
	for _, n := range w.Notes {
		a.say("note: %s", n)
	}
	g, err := group.Validate(w.Group(), where.at)
	if err != nil {
		return fmt.Errorf("--replay %q: %w", af.replay, err)
	}
	m := w.Eval.Models[0]
	subject, chosen, err := inputs(w, m, workers)
	if err != nil {
		return err
	}
	index, outside, err := lookUp(w, chosen, where.sample)
	if err != nil {
		return fmt.Errorf("--replay %q: %w", af.replay, err)
	}
	r, err := sweep.Replay(ctx, subject, policy, index, outside, g)
	if err != nil {
		return err
	}
	if af.calibrate != "" {
		policy.Threshold = math.NaN() // to measure it again would take another audit
	}
	var text, doc bytes.Buffer
	replayText(&text, m, r, policy)
	if err := replayJSON(&doc, m, r); err != nil {
		return err
	}
	if out != "" {
		if err := keepReplay(out, r, doc.Bytes()); err != nil {
			return err
		}
	}
	if formats[0] == "json" {
		_, err = a.Out.Write(doc.Bytes())
		return err
	}
	_, err = a.Out.Write(text.Bytes())
	return err
}

// lookUp finds a sample by its name: its place among those that the audit uses, or the sample itself if it is none of
// them.
func lookUp(w *workload.Workload, chosen []int, id string) (int, dataset.Sample, error) {
	ids := w.Data.IDs()
	of := func(i int) string {
		if w.Eval.Samples != nil {
			i = w.Eval.Samples[i]
		}
		return ids[i]
	}
	for i, k := range chosen {
		if of(k) == id {
			return i, dataset.Sample{}, nil
		}
	}
	if i := slices.Index(ids, id); i >= 0 {
		s, err := w.Data.Sample(i)
		return -1, s, err
	}
	if near, ok := job.Suggest(id, ids[:min(len(ids), 10_000)]); ok {
		return -1, dataset.Sample{}, fmt.Errorf("there is no sample %q; did you mean %q?", id, near)
	}
	return -1, dataset.Sample{}, fmt.Errorf("there is no sample %q; the data have %d, from %s to %s", id, len(ids),
		ids[0], ids[len(ids)-1])
}

// allDigits writes a number so that it reads back the same.
func allDigits(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// topClasses is how many of the largest scores a replay prints.
const topClasses = 3

func replayText(w io.Writer, m *eval.Model, r *sweep.Replayed, policy audit.Policy) {
	fmt.Fprintf(w, "%s: sample %s at %s (%s)\n", m.Name, r.Sample.ID, r.Element.Label, coordinates(r.Element.G))
	switch {
	case r.Index < 0:
		fmt.Fprintln(w, "  the sample is not among the inputs of the audit")
	case !r.Visited:
		fmt.Fprintln(w, "  the element is not among those that the audit visits")
	}
	if r.Element.Exact {
		fmt.Fprintln(w, "  the element moves the input without resampling")
	} else {
		switch r.Before.(type) {
		case *space.Rows, *space.Record, *space.Pairs:
			fmt.Fprintln(w, "  the element moves the input up to rounding")
		default:
			fmt.Fprintln(w, "  the element resamples the input")
		}
	}
	unit := ""
	if _, ok := r.Before.(*space.Mask); ok {
		unit = " " + audit.PixelShare
	} else {
		fmt.Fprintf(w, "  error               %s, largest component %s\n", allDigits(r.Error.Norm),
			audit.Figures(r.Error.Max))
		fmt.Fprintf(w, "  scale s             %s\n", allDigits(r.Scale))
	}
	against := ", at most the threshold " + audit.Figures(policy.Threshold)
	switch {
	case math.IsNaN(policy.Threshold):
		against = ""
	case !(r.Relative() <= policy.Threshold):
		against = ", above the threshold " + audit.Figures(policy.Threshold)
	}
	fmt.Fprintf(w, "  relative error      %s%s%s\n", allDigits(r.Relative()), unit, against)
	repeat, rounding, floor := r.Floors()
	fmt.Fprintf(w, "  floors              repeat %s, one ulp of the input %s, resampling %s\n", audit.Figures(repeat),
		audit.Figures(rounding), floorText(r, floor))
	if a, b := audit.Class(r.Before), audit.Class(r.Back); a >= 0 || b >= 0 {
		label := ""
		if r.Sample.Label >= 0 {
			label = fmt.Sprintf("; its label is %d", r.Sample.Label)
		}
		fmt.Fprintf(w, "  class               %d unmoved, %d moved%s\n", a, b, label)
		fmt.Fprintf(w, "  top scores unmoved  %s\n", top(r.Before))
		fmt.Fprintf(w, "  top scores moved    %s\n", top(r.Back))
	} else {
		fmt.Fprintf(w, "  answer              %s\n", audit.Form(r.Before))
	}
}

func floorText(r *sweep.Replayed, floor float64) string {
	if r.Element.Exact {
		return "none"
	}
	return audit.Figures(floor)
}

func coordinates(g group.Element) string {
	var words []string
	for _, x := range g {
		words = append(words, allDigits(x+0)) // +0 turns -0 into 0
	}
	return strings.Join(words, ",")
}

// ranked are the classes of scores, the largest first; those that are NaN last.
func ranked(v space.Value) []int {
	s, ok := v.(*space.Scores)
	if !ok {
		return nil
	}
	order := make([]int, len(s.Val))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		a, b := s.Val[i], s.Val[j]
		switch {
		case a > b || math.IsNaN(b) && !math.IsNaN(a):
			return -1
		case b > a || math.IsNaN(a) && !math.IsNaN(b):
			return 1
		}
		return 0
	})
	return order
}

// top names the classes with the largest scores.
func top(v space.Value) string {
	s, ok := v.(*space.Scores)
	if !ok {
		return "-"
	}
	var words []string
	for _, i := range ranked(v)[:min(topClasses, len(s.Val))] {
		words = append(words, fmt.Sprintf("%d: %.6g", i, s.Val[i]))
	}
	return strings.Join(words, ", ")
}

func replayJSON(w io.Writer, m *eval.Model, r *sweep.Replayed) error {
	type score struct {
		Class int      `json:"class"`
		Value *float64 `json:"value"`
	}
	number := func(x float64) *float64 {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return nil
		}
		return &x
	}
	tops := func(v space.Value) []score {
		out := []score{}
		s, _ := v.(*space.Scores)
		for _, i := range ranked(v) {
			if len(out) < topClasses {
				out = append(out, score{i, number(s.Val[i])})
			}
		}
		return out
	}
	repeat, rounding, floor := r.Floors()
	unit := ""
	if _, ok := r.Before.(*space.Mask); ok {
		unit = audit.PixelShare
	}
	return writeJSON(w, struct {
		Model  string `json:"model"`
		Sample string `json:"sample"`
		// -1 for none
		Label       int       `json:"label"`
		Element     string    `json:"element"`
		Coordinates []float64 `json:"coordinates"`
		Exact       bool      `json:"exact"`
		Visited     bool      `json:"visited_by_the_audit"`
		Error       *float64  `json:"error"`
		Component   *float64  `json:"largest_component"`
		Scale       *float64  `json:"scale"`
		Relative    *float64  `json:"relative_error"`
		Unit        string    `json:"unit,omitempty"`
		Repeat      *float64  `json:"repeat_floor"`
		Rounding    *float64  `json:"rounding_floor"`
		Resampling  *float64  `json:"resampling_floor"`
		Output      string    `json:"output"`
		// -1 for none
		Class    int     `json:"class_unmoved"`
		Moved    int     `json:"class_moved"`
		Top      []score `json:"top_unmoved"`
		TopMoved []score `json:"top_moved"`
	}{
		m.Name, r.Sample.ID, r.Sample.Label, r.Element.Label, r.Element.G, r.Element.Exact, r.Visited,
		number(r.Error.Norm), number(r.Error.Max),
		number(r.Scale), number(r.Relative()), unit, number(repeat), number(rounding), number(floor),
		audit.Form(r.Before),
		audit.Class(r.Before), audit.Class(r.Back), tops(r.Before), tops(r.Back),
	})
}

// keepReplay writes what went into the model and what came out: numbers as npy, pictures as PNG on one scale for each
// pair.
func keepReplay(dir string, r *sweep.Replayed, doc []byte) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := writeFile(filepath.Join(dir, "replay.json"), doc); err != nil {
		return err
	}
	keep := func(name string, v space.Value, lo, hi float64) error {
		b, err := npy(v)
		if errors.Is(err, errors.ErrUnsupported) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := writeFile(filepath.Join(dir, name+".npy"), b); err != nil {
			return err
		}
		m, ok := v.(*space.Image)
		if !ok || m.H == 0 || m.W == 0 {
			return nil
		}
		p, err := shot(name, m, lo, hi).Image()
		if err != nil {
			return err
		}
		var buf bytes.Buffer
		if err := png.Encode(&buf, p); err != nil {
			return err
		}
		return writeFile(filepath.Join(dir, name+".png"), buf.Bytes())
	}
	pictures := func(vs ...space.Value) (lo, hi float64) {
		var lists [][]float64
		for _, v := range vs {
			if m, ok := v.(*space.Image); ok {
				lists = append(lists, m.Pix)
			}
		}
		return span(lists...)
	}
	lo, hi := pictures(r.Unmoved, r.Moved)
	err := errors.Join(keep("unmoved", r.Unmoved, lo, hi), keep("moved", r.Moved, lo, hi))
	lo, hi = pictures(r.Before, r.After, r.Back)
	err = errors.Join(err, keep("answer-unmoved", r.Before, lo, hi), keep("answer-moved", r.After, lo, hi),
		keep("answer-back", r.Back, lo, hi))
	f, ok1 := r.Before.(*space.Image)
	z, ok2 := r.Back.(*space.Image)
	if !ok1 || !ok2 || audit.Form(f) != audit.Form(z) {
		return err
	}
	d := &space.Image{C: f.C, H: f.H, W: f.W, Pix: make([]float64, len(f.Pix))}
	for i := range d.Pix {
		d.Pix[i] = math.Abs(z.Pix[i] - f.Pix[i])
	}
	_, most := span(d.Pix)
	return errors.Join(err, keep("difference", d, 0, most))
}

// npy is a value as a file of version 1.0 of the format of NumPy: float64 in the order of C, labels as int32.
func npy(v space.Value) ([]byte, error) {
	var shape []int
	var data any
	kind := "<f8"
	switch v := v.(type) {
	case *space.Image:
		shape, data = []int{v.C, v.H, v.W}, v.Pix
	case *space.Scores:
		shape, data = []int{len(v.Val)}, v.Val
	case *space.Tensor:
		shape, data = v.Shape, v.Val
	case *space.Mask:
		shape, data, kind = []int{v.H, v.W}, v.Label, "<i4"
	default:
		return nil, fmt.Errorf("npy: %s: %w", v.Kind(), errors.ErrUnsupported)
	}
	var axes strings.Builder
	for _, d := range shape {
		axes.WriteString(strconv.Itoa(d) + ",")
	}
	head := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", kind, axes.String())
	const before = 10 // magic, version and the length of the header
	head += strings.Repeat(" ", 63-(before+len(head))%64) + "\n"
	var b bytes.Buffer
	b.WriteString("\x93NUMPY\x01\x00")
	b.Write(binary.LittleEndian.AppendUint16(nil, uint16(len(head))))
	b.WriteString(head)
	err := binary.Write(&b, binary.LittleEndian, data)
	return b.Bytes(), err
}
