package app

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"

	"nero/census"
	"nero/data/dataset"
	"nero/data/split"
	"nero/internal/disk"
	"nero/present/sheet"
	"nero/present/words"
	"nero/run/job"
	"nero/run/workload"
	"nero/symmetry/group"
	"nero/symmetry/orbit"
)

// DataOptions say how data are asked for a symmetry.
type DataOptions struct {
	// Workers is how many goroutines work, at least 1. No number depends on it.
	Workers int
	// Format is how the report is printed: text, json, markdown or html; empty for text.
	Format string
	// Value is the field of the samples that is looked at, of several; empty for all.
	Value string
	// Out is a file that is written, too, in the form that its ending says; empty for none.
	Out string
}

const (
	// mostSamples is how many samples are asked where nobody says.
	mostSamples = 10_000
	// mostElements is how many elements are tested where nobody says.
	mostElements = 24
)

// DataFormats are the forms of a report on data, the preset first.
func DataFormats() []string { return sheet.Names(census.Forms()) }

// DataResult is what was found out about data.
type DataResult struct {
	*census.Report
	form *sheet.Form[*census.Report]
}

// Write writes it in the form that was asked for.
func (r *DataResult) Write(to io.Writer) error { return r.form.Write(to, r.Report) }

// DataStudy holds what is said of data and a group alone against the rules of study files.
func (a *App) DataStudy(s *job.Study) error {
	whole := *s
	if len(whole.Models) == 0 { // the rules want one, and nobody opens it
		whole.Models = []job.Model{{Name: "none", ONNX: "none.onnx"}}
	}
	return a.Validate(&whole)
}

// Data says whether the data of a study have the symmetry of its group and whether labels survive it. It looks at no
// model.
func (a *App) Data(ctx context.Context, s *job.Study, o DataOptions) (*DataResult, error) {
	if err := a.someWorkers(o.Workers); err != nil {
		return nil, err
	}
	form, err := sheet.Find(census.Forms(), cmp.Or(o.Format, census.Forms()[0].Name))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", a.option("format"), err)
	}
	file, err := a.dataFile(s, o.Out)
	if err != nil {
		return nil, err
	}
	s.Input.Scale = 1 // no model is fed
	said := s.Group.Orbit
	said.Range, said.Every = nil, 0
	if err := lawful(s, "data"); err != nil {
		return nil, err
	}
	w, err := workload.Inputs(s, a.options(Engine{}))
	if err != nil {
		return nil, err
	}
	a.note(w.Notes...)
	chosen := w.Eval.Samples
	if n := w.Data.Len(); chosen == nil && n > mostSamples && s.Data.Limit == 0 {
		if chosen, err = dataset.Select(w.Data.Labels(), n, mostSamples, false, s.Data.Seed); err != nil {
			return nil, err
		}
		a.notef("%s of %s samples are taken, drawn at random; %s takes others", words.Count(mostSamples),
			words.Count(n),
			a.option("limit"))
	}
	subject := &census.Subject{
		Name: cmp.Or(s.Data.Images, s.Data.Format), Group: w.Group(), Elements: w.Eval.Plan.Elements,
		Measure: w.Eval.Plan.Measure, Action: w.Eval.Plan.In, Classes: w.Classes, Kinds: a.Parts.Kinds, Seed: s.Seed,
		Workers: o.Workers, Value: o.Value,
	}
	if len(subject.Elements) > mostElements+1 && reflect.DeepEqual(said, job.Orbit{}) {
		subject.Elements = near(w.Eval.Plan, mostElements)
		subject.Measure = fmt.Sprintf("%d of: %s", len(subject.Elements), subject.Measure)
		a.notef("%d elements are tested, those next to the identity and some of all others; %s names others",
			len(subject.Elements), a.option("orbit"))
	}
	w.Eval.Samples = chosen
	subject.Sample = w.Eval.At
	ids, labels := w.Data.IDs(), w.Data.Labels()
	if subject.IDs, subject.Labels = ids, labels; chosen != nil {
		subject.IDs, subject.Labels = nil, nil
		for _, i := range chosen {
			subject.IDs = append(subject.IDs, ids[i])
			if labels != nil {
				subject.Labels = append(subject.Labels, labels[i])
			}
		}
	}
	if s.Split != (job.Split{}) && s.Data.Side == "" { // a study that divides its samples
		if subject.Sides, err = sidesOf(w); err != nil {
			return nil, err
		}
	}
	step := a.begin(TaskData, "samples")
	defer step.end()
	subject.Began, subject.Step = step.size, step.step
	r, err := census.Take(ctx, subject)
	if err != nil {
		if errors.Is(err, census.ErrFew) {
			return nil, fmt.Errorf("%s: %w; give more data, or a larger %s", subject.Name, err, a.option("limit"))
		}
		if errors.Is(err, census.ErrValue) {
			return nil, fmt.Errorf("%s: %w", a.option("value"), err)
		}
		if ctx.Err() == nil {
			err = fmt.Errorf("%s: %w", subject.Name, err)
		}
		return nil, err
	}
	out := &DataResult{r, form}
	if file == nil {
		return out, nil
	}
	var b bytes.Buffer
	if err := file.Write(&b, r); err != nil {
		return nil, err
	}
	return out, disk.Replace(disk.OS{}, o.Out, disk.Bytes(b.Bytes()))
}

// sidesOf are the sides of the samples of a study, in their order.
func sidesOf(w *workload.Workload) ([]split.Side, error) {
	sets, err := w.Chosen()
	if err != nil {
		return nil, err
	}
	n := 0
	for _, all := range sets {
		n += len(all)
	}
	out := make([]split.Side, n)
	for side, all := range sets {
		for _, i := range all {
			out[i] = side
		}
	}
	return out, nil
}

// dataFile is the form of the file that is to be written, nil for none; before anything is worked on, it is seen to it
// that it can be.
func (a *App) dataFile(s *job.Study, out string) (*sheet.Form[*census.Report], error) {
	if out == "" {
		return nil, nil //nolint:nilnil // none is a good answer
	}
	form, err := sheet.Of(census.Forms(), out)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", a.option("out"), err)
	}
	return form, a.reportFile(s, out)
}

// near chooses n elements of a plan: half of them the nearest to the identity, where the data may still look the same,
// the others spread over the rest.
func near(p *orbit.Plan, n int) []group.Element {
	e := p.Group.Identity()
	var all []int
	for i, g := range p.Elements {
		if p.Group.Dist(g, e) > group.Tolerance {
			all = append(all, i)
		}
	}
	by := slices.Clone(all)
	slices.SortStableFunc(by, func(i, j int) int {
		return cmp.Compare(p.Group.Dist(p.Elements[i], e), p.Group.Dist(p.Elements[j], e))
	})
	keep := map[int]bool{}
	for _, i := range by[:min(n/2, len(by))] {
		keep[i] = true
	}
	rest := slices.DeleteFunc(all, func(i int) bool { return keep[i] })
	for k := range min(n-len(keep), len(rest)) {
		keep[rest[k*len(rest)/(n-n/2)]] = true
	}
	var out []group.Element
	for i, g := range p.Elements {
		if keep[i] {
			out = append(out, g)
		}
	}
	return out
}
