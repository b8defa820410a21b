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
		Types: map[string]string{}, Whole: s.OutSpec.Type, Declared: s.Declared,
		Features: s.OutSpec.Features, Scale: math.NaN(),
	}
	for _, f := range s.OutSpec.Fields {
		d.gauge.Types[f.Name] = f.Type
	}
	survey := scale.NewSurvey(d.gauge)
	identity := NewMover(s.Plan.In, s.Plan.Group.Identity())
	room := mostMembers
	var order []int // audited inputs whose answers were taken in
	if err := d.survey(ctx, survey, s.N, &order, func(i int) (space.Value, error) {
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
		err := d.survey(ctx, survey, room, nil, func(i int) (space.Value, error) {
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
	d.limits(survey, order)
	return nil
}

// room is how many inputs of so many bytes are looked at for the scale alone.
func (d *driver) room(bytes int) int {
	return min(mostMembers, max(memberBytes/max(bytes, 1), int(membersPerSweep*float64(d.sweep))))
}

// survey sends values through the model unmoved; nil ones are left out, as are answers that are not finite or of
// another form, which the sweep reports. Order, if not nil, is given the numbers of those that are not.
func (d *driver) survey(ctx context.Context, survey *scale.Survey, n int, order *[]int,
	at func(i int) (space.Value, error),
) error {
	s := d.subject
	cut := s.Cutter()
	var values []space.Value
	var which []int // of the values
	flush := func() error {
		if len(values) == 0 {
			return nil
		}
		out, err := d.recall(ctx, values, true)
		if err != nil {
			return err
		}
		values = values[:0]
		defer func() { which = which[:0] }()
		for k, y := range out {
			if !space.Finite(y) {
				continue
			}
			if err := survey.Add(y); errors.Is(err, scale.ErrForm) {
				continue
			} else if err != nil {
				return err
			}
			if order != nil {
				*order = append(*order, which[k])
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
		values, which = append(values, v), append(which, i)
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

// limits says within which limits the true scale of each part lies, and keeps how far the answers to the audited inputs
// are from their mean.
func (d *driver) limits(survey *scale.Survey, order []int) {
	p := &Pass{Subject: d.subject}
	d.surveyed = survey.N()
	d.squares = make([][]float64, len(d.gauge.Parts))
	judged := 0
	for i := range d.gauge.Parts {
		if d.gauge.Judged(i) {
			judged++
		}
	}
	conf := d.policy.Confidence
	for i := range d.gauge.Parts {
		part := &d.gauge.Parts[i]
		if !d.gauge.Judged(i) || part.Still || d.gauge.Shared(i) {
			continue
		}
		x := survey.Squares(i)
		limits := func(conf float64) (lo, hi float64) {
			var r *rand.Rand
			if len(d.gauge.Parts) <= mostBootstrapped {
				r = p.Rand("interval of the scale", part.Name)
			}
			return ScaleFactor(x, conf, r)
		}
		part.Low, part.High = limits(conf)
		if part.Joint = part.High; judged > 1 {
			_, hi := limits(1 - (1-conf)/float64(judged))
			part.Joint = max(part.High, hi)
		}
		d.squares[i] = make([]float64, d.subject.N)
		for k := range d.squares[i] {
			d.squares[i][k] = math.NaN()
		}
		for k, sample := range order {
			d.squares[i][sample] = x[k]
		}
	}
}

// ScaleCorrelation is the correlation of two estimates: the mean of the errors, one for each input, and the square of
// the scale of part i of the output. Where the scale was measured on more than these inputs, only their share of it
// depends on them: of n inputs among N the correlation is that between inputs times the root of n/N. It is 0 where the
// scale is not estimated.
func (p *Pass) ScaleCorrelation(part int, errors []float64) float64 {
	d := p.driver
	if part >= len(d.squares) || d.squares[part] == nil {
		return 0
	}
	n := min(len(errors), len(d.squares[part]))
	return correlation(errors[:n], d.squares[part][:n]) * math.Sqrt(float64(n)/float64(max(d.surveyed, n)))
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
