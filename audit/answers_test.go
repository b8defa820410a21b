package audit_test

import (
	"context"
	"slices"
	"testing"

	"nero/audit"
	"nero/audit/audittest"
	"nero/audit/check/preflight"
	"nero/data/dataset"
	"nero/data/space"
)

// asked counts the inputs that go through a model, in batches of any size.
type asked struct {
	audit.Predictor
	n int
}

func (a *asked) Predict(ctx context.Context, v []space.Value) ([]space.Value, error) {
	a.n += len(v)
	return a.Predictor.Predict(ctx, v)
}

func (a *asked) PredictBatch(ctx context.Context, _ int, v []space.Value) ([]space.Value, error) {
	return a.Predict(ctx, v)
}

// No input goes through a model twice once preflight has seen that answers repeat, but where a check wants it anew or
// says how large the batch is; a model whose answers do not repeat is asked every time.
func TestAnswersAreKept(t *testing.T) {
	const few = 10
	noisy := audittest.Stochastic(audittest.Radius(0), 0.01, 1)
	leaky := audittest.Leaky{Predictor: audittest.Radius(0), Size: 0.01}
	for _, c := range []struct {
		name    string
		model   audit.Predictor
		anew    bool
		size    int
		average int
		want    int
	}{
		{"answers repeat", audittest.Radius(0), false, 0, 0, 0},
		{"they are wanted anew", audittest.Radius(0), true, 0, 0, 3 * few},
		{"the batch is chosen", audittest.Radius(0), false, 2, 0, 3 * few},
		{"repeats are averaged", audittest.Radius(0), false, 0, 2, 6 * few},
		{"answers do not repeat", noisy, false, 0, 0, 3 * few},
		{"answers depend on their place", leaky, false, 0, 0, 3 * few},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := &asked{Predictor: c.model}
			s := subject("m", m, invariant(t, cyclic(t, 4)))
			var inputs, first []space.Value
			send := func(ctx context.Context, p *audit.Pass) error {
				y, err := p.PredictBatch(ctx, c.size, inputs)
				first = append(first, y...)
				return err
			}
			store := &audit.Check{
				Name: "store", Doc: "Store asks once.", Requires: []*audit.Check{preflight.Check},
				Run: func(ctx context.Context, p *audit.Pass) (any, error) {
					for i := range few {
						x, err := p.Sample(i)
						if err != nil {
							return nil, err
						}
						inputs = append(inputs, x.Value)
					}
					return nil, send(ctx, p)
				},
			}
			again := &audit.Check{
				Name: "again", Doc: "Again asks for the same.", Requires: []*audit.Check{store}, Anew: c.anew,
				Run: func(ctx context.Context, p *audit.Pass) (any, error) {
					m.n = 0
					for range 2 {
						if err := send(ctx, p); err != nil {
							return nil, err
						}
					}
					err := p.Predict(ctx, func(yield func(audit.Request, error) bool) {
						for i, x := range inputs {
							if c.size == 0 && !yield(audit.Request{Sample: i, Input: x.Clone()}, nil) {
								return
							}
						}
					}, func(_ audit.Request, y space.Value) error {
						first = append(first, y)
						return nil
					})
					if c.size > 0 { // a stream has no size to choose
						m.n += len(inputs)
					}
					return nil, err
				},
			}
			p := policy(t, "")
			p.Average = c.average
			audittest.Audit(t, audittest.Fixture{Subject: s, Policy: p}, again)
			if m.n != c.want {
				t.Errorf("%d inputs went through the model again, want %d", m.n, c.want)
			}
			if c.want == 0 {
				for i, y := range first {
					if !slices.Equal(y.Numbers(), first[i%few].Numbers()) {
						t.Errorf("answer %d differs from the one before", i)
					}
				}
			}
		})
	}
}

// What is kept of an audit's samples is decoded once.
func TestSamplesAreDecodedOnce(t *testing.T) {
	s := subject("m", audittest.Radius(0), invariant(t, cyclic(t, 4)))
	read := map[int]int{}
	inner := s.Sample
	s.Sample = func(i int) (dataset.Sample, error) {
		read[i]++
		return inner(i)
	}
	audittest.Audit(t, audittest.Fixture{Subject: s}, preflight.Check)
	if len(read) != inputs {
		t.Errorf("%d samples were read, want all %d", len(read), inputs)
	}
	for i, n := range read {
		if n != 1 {
			t.Errorf("sample %d was read %d times", i, n)
		}
	}
}
