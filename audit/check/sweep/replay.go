package sweep

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"

	"nero/audit"
	"nero/data/dataset"
	"nero/data/space"
	"nero/measure/scale"
	"nero/symmetry/action"
	"nero/symmetry/group"
)

// Replayed is one sample at one element, measured again with all that leads to its error.
type Replayed struct {
	Sample dataset.Sample
	// of the sample among those of the audit; -1 if it is not one of them
	Index   int
	Element audit.Element
	// Visited says that the audit measures this pair too. The replay then sends it through the model among the same
	// inputs as the audit does, so that the error is the same to the last bit on the same engine.
	Visited bool
	// Unmoved is ρ(e)x and Moved ρ(g)x; Before and After are the answers to them, in the unit in which they are
	// compared, and Back is After pulled back, ρ(g)⁻¹ f(ρ(g)x).
	Unmoved, Moved, Before, After, Back space.Value
	// of Back and Before, in the unit of the output
	Error scale.Difference
	// Scale is s, measured as in the audit. Where the output has several parts, Error is that of the part that errs
	// most over its own scale, times s.
	Scale float64
	// Part is the part of the output that errs most over its own scale, where there are several and they have names,
	// and Own its error and OwnScale its scale, in its own unit; those of the whole where it is one part.
	Part          string
	Own, OwnScale float64
	// Repeat is how far two answers to the unmoved input are apart, Rounding how far answers to inputs an ulp away are,
	// the larger of the unmoved and the moved one, and Resampling what moving there and back does, NaN for an exact
	// element. All in the unit of the output.
	Repeat, Rounding, Resampling float64
}

// Relative is the relative error, as the audit reports it: over s, or the share of pixels for masks.
func (r *Replayed) Relative() float64 { return r.relative(r.Error.Norm) }

// Floors are the floors in the same unit as the relative error.
func (r *Replayed) Floors() (repeat, rounding, resampling float64) {
	return r.relative(r.Repeat), r.relative(r.Rounding), r.relative(r.Resampling)
}

func (r *Replayed) relative(e float64) float64 {
	if !(r.Scale > 0) {
		return math.NaN()
	}
	return e / r.Scale
}

// Replay measures one sample at one element again as an audit of the subject would. Outside gives the sample if it is
// not one of the subject's; then, and for an element that the audit does not visit, the pair goes through the model by
// itself.
func Replay(ctx context.Context, s *audit.Subject, policy audit.Policy, index int, outside dataset.Sample,
	g group.Element,
) (*Replayed, error) {
	r := &Replayed{Index: index, Sample: outside, Resampling: math.NaN()}
	c := &audit.Check{
		Name: "replay", Doc: "One sample at one element, measured again.", Views: true,
		Run: func(ctx context.Context, p *audit.Pass) (any, error) { return nil, r.run(ctx, p, g) },
	}
	quiet := *s
	quiet.Progress, quiet.Stage = nil, nil
	report, err := audit.Run(ctx, &quiet, policy, []*audit.Check{c}, audit.Options{})
	if err != nil {
		return nil, err
	}
	if x := report.Results[0]; x.Status != audit.Tested {
		return nil, fmt.Errorf("audit of %s: replay: %s", s.Name, x.Reason)
	}
	return r, nil
}

// Roles of the requests of a replay beside those of a sweep.
const (
	jitterStill = returned + 1 + iota // the unmoved input, an ulp away
	jitterMoved                       // the moved one
)

func (r *Replayed) run(ctx context.Context, p *audit.Pass, g group.Element) error {
	G := p.Subject.Plan.Group
	at := slices.IndexFunc(p.Elements, func(e audit.Element) bool { return G.Dist(e.G, g) <= group.Tolerance })
	r.Element = audit.Element{G: g, Label: audit.Label(G, g), Exact: action.Exact(p.Subject.Plan.In, g)}
	if at >= 0 {
		r.Element = p.Elements[at]
	}
	if r.Index >= 0 {
		var err error
		if r.Sample, err = p.Sample(r.Index); err != nil {
			return err
		}
	}
	r.Visited = at >= 0 && r.Index >= 0
	stream, err := r.stream(p, at)
	if err != nil {
		return err
	}
	var second, home space.Value
	err = p.Predict(ctx, stream, func(q audit.Request, y space.Value) error {
		if q.Sample != r.Index || q.Element >= 0 && q.Element != at {
			return nil
		}
		switch q.Role {
		case baseline:
			r.Unmoved, r.Before = q.Input, y
		case repeated:
			second = y
		case moved:
			r.Moved, r.After = q.Input, y
		case returned:
			home = y
		}
		return nil
	})
	if err != nil {
		return err
	}
	if r.Back, err = audit.NewMover(p.Subject.Plan.Out, G.Inv(r.Element.G)).Move(r.After); err != nil {
		return err
	}
	r.Scale = p.Gauge().Scale
	if r.Error, err = p.Compare(r.Back, r.Before); err != nil {
		return err
	}
	for _, v := range []space.Value{r.Before, r.After} {
		ok := space.Finite(v)
		if !ok {
			r.Error = scale.Difference{Norm: math.NaN(), Max: math.NaN()}
		}
	}
	r.own(p.Gauge())
	return r.floors(ctx, p, second, home)
}

// own says the error in the unit of the part that it is of.
func (r *Replayed) own(g *scale.Gauge) {
	r.Own, r.OwnScale = r.Error.Norm, r.Scale
	if k := r.Error.Part; g != nil && len(g.Parts) > 1 && k >= 0 && k < len(r.Error.Parts) {
		r.Part, r.OwnScale = g.Parts[k].Name, g.Parts[k].Scale
		r.Own = r.Error.Parts[k] * r.OwnScale
	}
}

// stream is what goes through the model to measure the pair: the chunks of the sweep that hold it, or the pair by
// itself.
func (r *Replayed) stream(p *audit.Pass, at int) (iter.Seq2[audit.Request, error], error) {
	if r.Visited {
		return r.chunks(p, at)
	}
	in, G, g := p.Subject.Plan.In, p.Subject.Plan.Group, r.Element.G
	x, err := in.Apply(G.Identity(), r.Sample.Value)
	if err != nil {
		return nil, fmt.Errorf("sample %s: %w", r.Sample.ID, err)
	}
	gx, err := in.Apply(g, r.Sample.Value)
	if err != nil {
		return nil, fmt.Errorf("sample %s at %s: %w", r.Sample.ID, r.Element.Label, err)
	}
	list := []audit.Request{
		{Sample: r.Index, Element: -1, Role: baseline, Input: x},
		{Sample: r.Index, Element: -1, Role: repeated, Input: x},
		{Sample: r.Index, Element: at, Role: moved, Input: gx},
	}
	if !r.Element.Exact && gx.Form() == r.Sample.Value.Form() {
		home, err := in.Apply(G.Inv(g), gx)
		if err != nil {
			return nil, fmt.Errorf("sample %s at %s: %w", r.Sample.ID, r.Element.Label, err)
		}
		list = append(list, audit.Request{Sample: r.Index, Element: at, Role: returned, Input: space.Nearest(home, x)})
	}
	return each(list), nil
}

// Leaves reports of every element of the audit whether it is exact and moves content of a value of this form out of the
// frame, whatever the content: which of them do not bring a value of ones back as it was. The error wraps
// errors.ErrUnsupported for labels and boxes, whose numbers cannot be ones.
func Leaves(p *audit.Pass, v space.Value) ([]bool, error) {
	full, err := v.With(slices.Repeat([]float64{1}, len(v.Numbers())))
	if err != nil {
		return nil, err
	}
	in := p.Subject.Plan.In
	if still, err := in.Apply(in.Group().Identity(), full); err != nil {
		return nil, err
	} else if still.Form() == full.Form() {
		full = still // what the identity blanks is not lost on the way
	}
	there, back := audit.Movers(in, p.Elements, same), audit.Movers(in, p.Elements, p.Subject.Plan.Group.Inv)
	out := make([]bool, len(p.Elements))
	for j, e := range p.Elements {
		if !e.Exact {
			continue
		}
		moved, err := there[j].Move(full)
		if err != nil {
			return nil, err
		}
		if moved.Form() != full.Form() {
			continue
		}
		home, err := back[j].Move(moved)
		if err != nil {
			return nil, err
		}
		share, err := loss(home, full)
		if err != nil {
			return nil, err
		}
		out[j] = share > 0
	}
	return out, nil
}

// keeps reports whether no exact element moves content of a value of this form out of the frame.
func keeps(p *audit.Pass, v space.Value) (bool, error) {
	out, err := Leaves(p, v)
	if errors.Is(err, errors.ErrUnsupported) {
		return false, nil // nobody knows
	}
	return !slices.Contains(out, true), err
}

// chunks are those of the sweep in which the pair is, whole. Samples before them are decoded and not moved: samples of
// one form have as many requests of the same sizes, where none of their content can leave the frame.
func (r *Replayed) chunks(p *audit.Pass, at int) (iter.Seq2[audit.Request, error], error) {
	type request struct{ bytes, element int }
	forms, kept := map[string][]request{}, map[string]bool{}
	cut, size := p.Subject.Cutter(), BlockOf(p)
	from, skip := 0, 0 // where the current chunk starts: sample and request
	count, begun, done := 0, false, false
	for i := 0; i < p.Subject.N && !done; i++ {
		s, err := p.Sample(i)
		if err != nil {
			return nil, err
		}
		form := s.Value.Form()
		list, ok := forms[form]
		if _, asked := kept[form]; !asked {
			if kept[form], err = keeps(p, s.Value); err != nil {
				return nil, err
			}
		}
		if !ok || !kept[form] {
			list = nil
			one := &Result{IDs: make([]string, p.Subject.N), Labels: make([]int, p.Subject.N)}
			for q, err := range requests(p, one, i) {
				if err != nil {
					return nil, err
				}
				if q.Sample != i {
					break
				}
				list = append(list, request{q.Input.Bytes(), q.Element})
			}
			forms[form] = list
		}
		for k, q := range list {
			here := i == r.Index
			begun = begun || here
			count++
			ends := cut.Add(q.bytes)
			if k+1 == len(list) && (i+1)%size == 0 {
				cut.End()
				ends = true
			}
			past := i > r.Index || here && q.element >= at && (k+1 == len(list) || list[k+1].element > at)
			if ends && past {
				done = true
				break
			}
			if ends && !begun {
				from, skip, count = i, k+1, 0
			}
		}
	}
	stream := requests(p, &Result{IDs: make([]string, p.Subject.N), Labels: make([]int, p.Subject.N)}, from)
	return func(yield func(audit.Request, error) bool) {
		k := 0
		for q, err := range stream {
			if k++; k <= skip && err == nil {
				continue
			}
			if !yield(q, err) || k == skip+count {
				return
			}
		}
	}, nil
}

// floors measures what repeats, rounding and resampling do to this pair.
func (r *Replayed) floors(ctx context.Context, p *audit.Pass, second, home space.Value) error {
	d, err := p.Compare(second, r.Before)
	if err != nil {
		return err
	}
	r.Repeat = d.Norm
	if home != nil {
		G, out := p.Subject.Plan.Group, p.Subject.Plan.Out
		there, back := audit.NewMover(out, r.Element.G), audit.NewMover(out, G.Inv(r.Element.G))
		if r.Resampling, err = resampling(p, there, back, home, r.Before); err != nil {
			return err
		}
	}
	var list []audit.Request
	for k, v := range []space.Value{r.Unmoved, r.Moved} {
		x, err := audit.Jittered(v, p.Subject.Input, 1, p.Rand("rounding", r.Sample.ID))
		if err != nil {
			return err
		}
		list = append(list, audit.Request{Role: jitterStill + k, Input: x})
	}
	return p.Predict(ctx, each(list), func(q audit.Request, y space.Value) error {
		from := r.Before
		if q.Role == jitterMoved {
			from = r.After
		}
		d, err := p.Compare(y, from)
		if !(d.Norm <= r.Rounding) {
			r.Rounding = d.Norm
		}
		return err
	})
}

// each is a stream of a few requests.
func each(list []audit.Request) iter.Seq2[audit.Request, error] {
	return func(yield func(audit.Request, error) bool) {
		for _, q := range list {
			if !yield(q, nil) {
				return
			}
		}
	}
}
