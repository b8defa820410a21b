package audit

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"nero/data/space"
	"nero/measure/scale"
)

// stillness is how many unit roundoffs of its size a field must vary by to count as varying.
const stillness = 64

// gauge measures the scales of the fields once, when the first prediction turns out to be a record.
func (d *driver) measure(ctx context.Context, like space.Value) error {
	if d.gauge != nil {
		return nil
	}
	s := d.subject
	d.gauge = &scale.Gauge{}
	names, _ := space.Fields(like)
	if names == nil {
		return nil
	}
	g := &scale.Gauge{Names: names}
	var spread scale.Spread
	cut := s.Cutter()
	identity := NewMover(s.Plan.In, s.Plan.Group.Identity())
	var values []space.Value
	flush := func() error {
		if len(values) == 0 {
			return nil
		}
		out, err := s.Predictor.Predict(ctx, values)
		if err != nil {
			return fmt.Errorf("model %s: %w", s.Name, err)
		}
		values = values[:0]
		for _, y := range out {
			if y, err = d.unit(y); err != nil {
				return fmt.Errorf("model %s: %w", s.Name, err)
			}
			if !space.Finite(y) {
				continue
			}
			if err := spread.Add(y); err != nil {
				return err
			}
		}
		return nil
	}
	for i := range s.N {
		x, err := s.Sample(i)
		if err != nil {
			return fmt.Errorf("sample %d: %w", i, err)
		}
		v, err := identity.Move(x.Value)
		if err != nil {
			return fmt.Errorf("sample %s: %w", x.ID, err)
		}
		values = append(values, v)
		if cut.Add(v.Bytes()) {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	if err := flush(); err != nil {
		return err
	}
	for i := range g.Names {
		own, size := math.NaN(), math.NaN()
		if f := spread.Field(i); f != nil {
			own, size = f.Scale(), f.RMS()
		}
		if !(own > stillness*s.roundoff()*size) {
			g.Still = append(g.Still, g.Names[i])
			if own = size; !(own > 0) {
				own = 1
			}
		}
		g.Scales = append(g.Scales, own)
	}
	d.gauge = g
	return nil
}

// Gauge measures errors of predictions. It is nil before the first prediction.
func (p *Pass) Gauge() *scale.Gauge { return p.driver.gauge }

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
