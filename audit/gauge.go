package audit

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"nero/data/space"
	"nero/measure/scale"
)

// stillness is how many unit roundoffs of its size a field must vary by to count as varying.
const stillness = 64

// Bounds of the inputs beyond those of the audit that are looked at for the scale alone: how many, and how many bytes
// of them, or so many for each pair that the sweep looks at, whichever is more.
const (
	mostMembers      = 20_000
	memberBytes      = 32 << 20
	membersPerSweep  = 0.25
	mostScaleSquares = 1 << 22
)

// measure measures the scales of the parts once, before the first prediction: over the inputs of the audit, and over
// others of the same data, unmoved. One pass each is little beside the sweep, and the scale is then not what is least
// known of a relative error.
func (d *driver) measure(ctx context.Context) error {
	if d.gauge != nil {
		return nil
	}
	s := d.subject
	d.gauge = &scale.Gauge{
		Types: map[string]string{}, Whole: s.OutSpec.Type, Declared: s.Declared, Scale: math.NaN(),
	}
	for _, f := range s.OutSpec.Fields {
		d.gauge.Types[f.Name] = f.Type
	}
	survey := scale.NewSurvey(d.gauge)
	identity := NewMover(s.Plan.In, s.Plan.Group.Identity())
	room := mostMembers
	if err := d.survey(ctx, survey, s.N, func(i int) (space.Value, error) {
		x, err := s.Sample(i)
		if err != nil {
			return nil, fmt.Errorf("sample %d: %w", i, err)
		}
		v, err := identity.Move(x.Value)
		if err != nil {
			return nil, fmt.Errorf("sample %s: %w", x.ID, err)
		}
		if i == 0 {
			room = d.room(v.Bytes())
		}
		return v, nil
	}); err != nil {
		return err
	}
	if parts := len(d.gauge.Parts); parts > 0 {
		room = min(room, mostScaleSquares/parts-s.N)
	}
	// Others of the data are no part of the audit: one that cannot be read or answered is left out.
	if room = min(room, s.Members); room > 0 {
		err := d.survey(ctx, survey, room, func(i int) (space.Value, error) {
			x, err := s.Member(i)
			if err != nil || !space.Finite(x.Value) {
				return nil, nil //nolint:nilnil,nilerr // left out
			}
			v, err := identity.Move(x.Value)
			if err != nil {
				return nil, nil //nolint:nilnil,nilerr // left out
			}
			return v, nil
		})
		if err != nil && ctx.Err() != nil {
			return ctx.Err()
		}
	}
	survey.Done(stillness*s.roundoff(), d.policy.Threshold)
	d.limits(survey)
	return nil
}

// room is how many inputs of so many bytes are looked at for the scale alone.
func (d *driver) room(bytes int) int {
	return min(mostMembers, max(memberBytes/max(bytes, 1), int(membersPerSweep*float64(d.sweep))))
}

// survey sends values through the model unmoved; nil ones are left out, as are answers that are not finite or of
// another form, which the sweep reports.
func (d *driver) survey(ctx context.Context, survey *scale.Survey, n int, at func(i int) (space.Value, error)) error {
	s := d.subject
	cut := s.Cutter()
	var values []space.Value
	flush := func() error {
		if len(values) == 0 {
			return nil
		}
		out, err := d.answers(ctx, values,
			func(v []space.Value) ([]space.Value, error) { return s.Predictor.Predict(ctx, v) })
		if err != nil {
			return err
		}
		values = values[:0]
		for _, y := range out {
			if !space.Finite(y) {
				continue
			}
			if err := survey.Add(y); err != nil && !errors.Is(err, scale.ErrForm) {
				return err
			}
		}
		return nil
	}
	for i := range n {
		v, err := at(i)
		if err != nil {
			return err
		}
		if v == nil {
			continue
		}
		values = append(values, v)
		if cut.Add(v.Bytes()) {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return flush()
}

// mostBootstrapped bounds the parts, and the predictions behind each, whose limits are found by resampling.
const mostBootstrapped = 64

// limits says within which limits the true scale of each part lies.
func (d *driver) limits(survey *scale.Survey) {
	p := &Pass{Subject: d.subject}
	d.surveyed = survey.N()
	for i := range d.gauge.Parts {
		part := &d.gauge.Parts[i]
		x := survey.Squares(i)
		if !d.gauge.Judged(i) || part.Still || d.gauge.Shared(i) {
			continue
		}
		var r *rand.Rand
		if len(d.gauge.Parts) <= mostBootstrapped {
			r = p.Rand("interval of the scale", part.Name)
		}
		part.Low, part.High = ScaleFactor(x, d.policy.Confidence, r)
	}
}

// Gauge measures errors of predictions. It is nil before the first prediction.
func (p *Pass) Gauge() *scale.Gauge { return p.driver.gauge }

// Surveyed is how many inputs the scales of the gauge were measured on.
func (p *Pass) Surveyed() int { return p.driver.surveyed }

// Compare is [scale.Gauge.Compare] of the subject's predictions.
func (p *Pass) Compare(a, b space.Value) (scale.Difference, error) {
	return p.driver.gauge.Compare(a, b)
}

// Numbers is [scale.Gauge.Numbers] of a prediction of the subject.
func (p *Pass) Numbers(v space.Value) []float64 { return p.driver.gauge.Numbers(v) }

// Direction is [scale.Gauge.Direction] of a prediction of the subject.
func (p *Pass) Direction(v space.Value, r *rand.Rand) []float64 {
	return p.driver.gauge.Direction(v, r)
}
