package search

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"nero/audit"
	"nero/audit/check/sweep"
	"nero/data/space"
	"nero/internal/elementary"
	"nero/symmetry/group"
)

// seeker predicts single pairs of input and element.
type seeker struct {
	p       *audit.Pass
	sw      *sweep.Result
	o       *orbit
	samples map[int]*sample
	// samples that visited more elements
	scanned []int
	// largest gap that they left on the one free axis
	spacing float64
	// predictions
	count int
}

// sample is an input at hand.
type sample struct {
	id string
	// as stored
	x space.Value
	// f(ρ(e)x)
	base space.Value
}

// probe is one input at one element, and the error there relative to the scale of the outputs; NaN if an output is not
// finite.
type probe struct {
	sample int
	g      group.Element
	err    float64
}

// open reads the samples of some probes and predicts them unmoved.
func (s *seeker) open(ctx context.Context, probes []probe) error {
	e := s.o.G.Identity()
	var list []int
	for _, q := range probes {
		if s.samples[q.sample] != nil {
			continue
		}
		d, err := s.p.Sample(q.sample)
		if err != nil {
			return err
		}
		s.samples[q.sample] = &sample{id: d.ID, x: d.Value}
		list = append(list, q.sample)
	}
	return s.predict(ctx, func(yield func(audit.Request, error) bool) {
		for _, i := range list {
			x, err := s.p.Subject.Plan.In.Apply(e, s.samples[i].x)
			if err != nil {
				err = fmt.Errorf("sample %s: %w", s.samples[i].id, err)
			}
			if !yield(audit.Request{Sample: i, Input: x}, err) || err != nil {
				return
			}
		}
	}, func(q audit.Request, y space.Value) error {
		s.samples[q.Sample].base = y
		return nil
	})
}

func (s *seeker) predict(ctx context.Context, stream func(func(audit.Request, error) bool),
	each func(audit.Request, space.Value) error,
) error {
	return s.p.Predict(ctx, stream, func(q audit.Request, y space.Value) error {
		s.count++
		return each(q, y)
	})
}

// measure fills in the errors of some probes.
func (s *seeker) measure(ctx context.Context, probes []probe) error {
	if err := s.open(ctx, probes); err != nil {
		return err
	}
	plan := s.p.Subject.Plan
	return s.predict(ctx, func(yield func(audit.Request, error) bool) {
		for k, q := range probes {
			x, err := plan.In.Apply(q.g, s.samples[q.sample].x)
			if err != nil {
				err = fmt.Errorf("sample %s at %s: %w", s.samples[q.sample].id, audit.Label(s.o.G, q.g), err)
			}
			if !yield(audit.Request{Sample: k, Input: x}, err) || err != nil {
				return
			}
		}
	}, func(r audit.Request, y space.Value) error {
		q := &probes[r.Sample]
		at := s.samples[q.sample]
		z, err := plan.Out.Apply(s.o.G.Inv(q.g), y)
		if err != nil {
			return fmt.Errorf("sample %s at %s: output: %w", at.id, audit.Label(s.o.G, q.g), err)
		}
		d, err := s.p.Compare(z, at.base)
		q.err = d.Norm / s.sw.Scale
		return err
	})
}

// scan lets a few inputs visit more elements.
func (s *seeker) scan(ctx context.Context) ([]probe, error) {
	more, spacing := s.o.between(int(s.p.Param("scan")), s.p.Elements)
	s.spacing = spacing
	more = slices.DeleteFunc(more, func(g group.Element) bool {
		return s.exact(g) ||
			slices.ContainsFunc(s.p.Elements, func(e audit.Element) bool { return s.o.G.Dist(e.G, g) == 0 })
	})
	if len(more) == 0 {
		return nil, nil
	}
	s.scanned = s.p.Pick(int(s.p.Param("samples")))
	var probes []probe
	for _, i := range s.scanned {
		for _, g := range more {
			probes = append(probes, probe{sample: i, g: g, err: math.NaN()})
		}
	}
	return probes, s.measure(ctx, probes)
}

// refine climbs from every start at once, one prediction up and one down on each free axis a step.
func (s *seeker) refine(ctx context.Context, starts []probe) ([]Found, error) {
	now := slices.Clone(starts)
	radius := make([]float64, len(now)) // as a share of half the largest gap
	for i := range radius {
		radius[i] = 1
	}
	for range int(s.p.Param("steps")) {
		var probes []probe
		var of []int
		for i, q := range now {
			for _, a := range s.o.free {
				for _, sign := range []float64{1, -1} {
					g, ok := s.o.moved(q.g, a, sign*radius[i]*s.o.step[a]/2)
					if ok && !s.exact(g) {
						probes, of = append(probes, probe{sample: q.sample, g: g, err: math.NaN()}), append(of, i)
					}
				}
			}
		}
		if err := s.measure(ctx, probes); err != nil {
			return nil, err
		}
		better := make([]bool, len(now))
		for k, q := range probes {
			if i := of[k]; q.err > now[i].err {
				now[i], better[i] = q, true
			}
		}
		for i := range radius {
			if !better[i] {
				radius[i] /= 2
			}
		}
	}
	floors, err := s.floors(ctx, now)
	if err != nil {
		return nil, err
	}
	m := len(s.p.Elements)
	var out []Found
	for i, q := range now {
		f := Found{
			At: audit.Where{
				Sample: s.samples[q.sample].id, Index: q.sample, Element: q.g,
				Label: audit.Label(s.o.G, q.g),
			},
			Error: q.err, Floor: floors[i], From: audit.Label(s.o.G, starts[i].g), FromErr: starts[i].err,
		}
		for j := range m {
			if e := s.sw.Err[q.sample*m+j]; !math.IsNaN(e) {
				f.PlanMost = max(f.PlanMost, e/s.sw.Scale)
			}
		}
		out = append(out, f)
	}
	slices.SortStableFunc(out, func(a, b Found) int { return cmp.Compare(b.Error, a.Error) })
	return out, nil
}

// floors are what resampling does at some probes, as the sweep measures it: there and back, of the input and of the
// output.
func (s *seeker) floors(ctx context.Context, probes []probe) ([]float64, error) {
	if err := s.open(ctx, probes); err != nil {
		return nil, err
	}
	plan, G := s.p.Subject.Plan, s.o.G
	out := make([]float64, len(probes))
	for i := range out {
		out[i] = math.NaN()
	}
	err := s.predict(ctx, func(yield func(audit.Request, error) bool) {
		for k, q := range probes {
			at := s.samples[q.sample]
			gx, err := plan.In.Apply(q.g, at.x)
			if err == nil && gx.Form() != at.x.Form() {
				continue // a window that cannot be moved back
			}
			var home space.Value
			if err == nil {
				home, err = plan.In.Apply(G.Inv(q.g), gx)
			}
			if err != nil {
				err = fmt.Errorf("sample %s at %s: %w", at.id, audit.Label(G, q.g), err)
			} else {
				home = space.Nearest(home, at.x)
			}
			if !yield(audit.Request{Sample: k, Input: home}, err) || err != nil {
				return
			}
		}
	}, func(r audit.Request, y space.Value) error {
		q := probes[r.Sample]
		base := s.samples[q.sample].base
		in, err := s.p.Compare(y, base)
		if err != nil {
			return err
		}
		gy, err := plan.Out.Apply(q.g, base)
		if err != nil {
			return err
		}
		home, err := plan.Out.Apply(G.Inv(q.g), gy)
		if err != nil {
			return err
		}
		d, err := s.p.Compare(home, base)
		out[r.Sample] = elementary.Hypot(in.Norm, d.Norm) / s.sw.Scale
		return err
	})
	return out, err
}
