package app

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"image/png"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"nero/audit"
	"nero/audit/check/sweep"
	"nero/data/dataset"
	"nero/data/space"
	"nero/present/words"
	"nero/run/job"
	"nero/run/workload"
	"nero/symmetry/group"
)

// Place is a sample and the coordinates of an element at which an error was measured.
type Place struct {
	Sample string
	// At are the coordinates in the chart of the group.
	At []float64
}

// PlaceError says that there is no such sample or element.
type PlaceError struct{ Err error }

// Error says what is wrong with the place.
func (e *PlaceError) Error() string { return e.Err.Error() }

// Unwrap is the error as it was found.
func (e *PlaceError) Unwrap() error { return e.Err }

// Replayed is one sample measured again at one element.
type Replayed struct {
	model     string
	measured  *sweep.Replayed
	threshold float64
}

// Replay measures one sample at one element again, as an audit with the same options would.
func (a *App) Replay(ctx context.Context, s *job.Study, at Place, o AuditOptions) (*Replayed, error) {
	forms, err := o.forms(s)
	if err != nil {
		return nil, err
	}
	forms.choose(s, &o)
	if len(s.Models) > 1 {
		return nil, fmt.Errorf("--replay is of one model: choose it with --only, one of %s",
			strings.Join(modelNames(s), ", "))
	}
	policy, err := a.prepare(s, o)
	if err != nil {
		return nil, err
	}
	w, err := a.openAudit(ctx, s, o.Engine)
	if err != nil {
		return nil, err
	}
	defer w.Close() //nolint:errcheck // nothing is lost
	g, err := group.Validate(w.Group(), at.At)
	if err != nil {
		return nil, &PlaceError{err}
	}
	m := w.Eval.Models[0]
	subject, chosen, err := a.inputs(w, m, o.Workers)
	if err != nil {
		return nil, err
	}
	index, outside, err := lookUp(w, chosen, at.Sample)
	if err != nil {
		return nil, &PlaceError{err}
	}
	r, err := sweep.Replay(ctx, subject, policy, index, outside, g)
	if err != nil {
		return nil, err
	}
	if o.Calibrate != "" {
		policy.Threshold = math.NaN() // to measure it again would take another audit
	}
	return &Replayed{m.Name, r, policy.Threshold}, nil
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
	if near, ok := words.Suggest(id, ids[:min(len(ids), 10_000)]); ok {
		return -1, dataset.Sample{}, fmt.Errorf("there is no sample %q; did you mean %q?", id, near)
	}
	return -1, dataset.Sample{}, fmt.Errorf("there is no sample %q; the data have %d, from %s to %s", id, len(ids),
		ids[0], ids[len(ids)-1])
}

// allDigits writes a number so that it reads back the same.
func allDigits(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// topClasses is how many of the largest scores a replay prints.
const topClasses = 3

// WriteText writes the numbers for people.
func (p *Replayed) WriteText(to io.Writer) error {
	w, r := &strings.Builder{}, p.measured
	fmt.Fprintf(w, "%s: sample %s at %s (%s)\n", p.model, r.Sample.ID, r.Element.Label, coordinates(r.Element.G))
	switch {
	case r.Index < 0:
		fmt.Fprintln(w, "  the sample is not among the inputs of the audit")
	case !r.Visited:
		fmt.Fprintln(w, "  the element is not among those that the audit visits")
	}
	if r.Element.Exact {
		fmt.Fprintln(w, "  the element moves the input without resampling")
	} else {
		names, _ := space.Fields(r.Before)
		switch _, nodes := r.Before.(interface{ Members() int }); {
		case nodes, names != nil:
			fmt.Fprintln(w, "  the element moves the input up to rounding")
		default:
			fmt.Fprintln(w, "  the element resamples the input")
		}
	}
	unit := ""
	if labels(r) {
		unit = " " + audit.PixelShare
	} else {
		if r.Part != "" {
			fmt.Fprintf(w, "  most over its scale %s\n", r.Part)
		}
		fmt.Fprintf(w, "  error               %s", allDigits(r.Own))
		if r.Own == r.Error.Norm { // else the component is one of other parts and other units
			fmt.Fprintf(w, ", largest component %s", audit.Figures(r.Error.Max))
		}
		fmt.Fprintf(w, "\n  scale s             %s\n", allDigits(r.OwnScale))
	}
	against := ", at most the threshold " + audit.Figures(p.threshold)
	switch {
	case math.IsNaN(p.threshold):
		against = ""
	case !(r.Relative() <= p.threshold):
		against = ", above the threshold " + audit.Figures(p.threshold)
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
		fmt.Fprintf(w, "  answer              %s\n", r.Before.Form())
	}
	_, err := io.WriteString(to, w.String())
	return err
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

// scoresOf are the numbers of scores, nil for other values.
func scoresOf(v space.Value) []float64 {
	if v == nil || v.Kind() != space.KindScores {
		return nil
	}
	return append([]float64{}, v.Numbers()...)
}

// alone is a value that is one picture, nil for others.
func alone(v space.Value) *space.Image {
	m, _ := v.(*space.Image)
	return m
}

// ranked are the classes of scores, the largest first; those that are NaN last.
func ranked(v space.Value) []int {
	s := scoresOf(v)
	order := make([]int, len(s))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		a, b := s[i], s[j]
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
	s := scoresOf(v)
	if s == nil {
		return "-"
	}
	var words []string
	for _, i := range ranked(v)[:min(topClasses, len(s))] {
		words = append(words, fmt.Sprintf("%d: %.6g", i, s[i]))
	}
	return strings.Join(words, ", ")
}

// WriteJSON writes the numbers for programs. What is not finite is null.
func (p *Replayed) WriteJSON(w io.Writer) error {
	r := p.measured
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
		s := scoresOf(v)
		for _, i := range ranked(v) {
			if len(out) < topClasses {
				out = append(out, score{i, number(s[i])})
			}
		}
		return out
	}
	repeat, rounding, floor := r.Floors()
	unit := ""
	if labels(r) {
		unit = audit.PixelShare
	}
	return WriteJSON(w, struct {
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
		p.model, r.Sample.ID, r.Sample.Label, r.Element.Label, r.Element.G, r.Element.Exact, r.Visited,
		number(r.Error.Norm), number(r.Error.Max),
		number(r.Scale), number(r.Relative()), unit, number(repeat), number(rounding), number(floor),
		r.Before.Form(),
		audit.Class(r.Before), audit.Class(r.Back), tops(r.Before), tops(r.Back),
	})
}

// CheckReplayFolder says before a replay runs whether its files can be written into a folder.
func CheckReplayFolder(dir string) error {
	return ownFolder(dir, replayed())
}

// replayed tells the folder of a replay.
func replayed() marks {
	files := []string{"replay.json"}
	for _, v := range []string{"unmoved", "moved", "answer-unmoved", "answer-moved", "answer-back", "difference"} {
		files = append(files, v+".npy", v+".png")
	}
	return anyOf(files...)
}

// Save writes the numbers, what went into the model and what came out: numbers as npy, pictures as PNG on one scale for
// each pair. Values that have no such form are left out.
func (p *Replayed) Save(dir string) error {
	return fillFolder(dir, replayed(), nil, func() error { return p.save(dir) })
}

func (p *Replayed) save(dir string) error {
	r := p.measured
	var doc bytes.Buffer
	if err := p.WriteJSON(&doc); err != nil {
		return err
	}
	if err := writeFile(filepath.Join(dir, "replay.json"), doc.Bytes()); err != nil {
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
		m := alone(v)
		if m == nil || m.H == 0 || m.W == 0 {
			return nil
		}
		shown, err := shot(name, m, lo, hi).Image()
		if err != nil {
			return err
		}
		var buf bytes.Buffer
		if err := png.Encode(&buf, shown); err != nil {
			return err
		}
		return writeFile(filepath.Join(dir, name+".png"), buf.Bytes())
	}
	pictures := func(vs ...space.Value) (lo, hi float64) {
		var lists [][]float64
		for _, v := range vs {
			if m := alone(v); m != nil {
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
	f, z, ok := space.Both[*space.Image](r.Before, r.Back)
	if !ok || f.Form() != z.Form() {
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
	_, linear := v.(space.Linear)
	_, ragged := v.(space.Ragged)
	var data any
	kind := "<f8"
	switch m, mask := v.(*space.Mask); {
	case mask:
		data, kind = m.Label, "<i4"
	case linear && !ragged && v.Kind() != space.KindField:
		data = v.Numbers()
	default:
		return nil, fmt.Errorf("npy: %s: %w", v.Kind(), errors.ErrUnsupported)
	}
	var axes strings.Builder
	for _, d := range v.Dims() {
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

// labels says that what was replayed are masks, whose error is a share of pixels.
func labels(r *sweep.Replayed) bool { return r.Before.Kind() == space.KindMask }
