package discover

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"nero/data/dataset"
	"nero/data/space"
	"nero/symmetry/action"
	"nero/symmetry/group"
)

// Subject is the model that is asked, with the samples that it is asked at.
type Subject struct {
	// Model is its name.
	Model string
	// Fit, Choose and Confirm are disjoint. What is learned, such as a rank or a map, comes from the first; what is
	// chosen, such as a threshold, from the second; nothing looks at the third but what holds a finished hypothesis
	// against it. Words of reports say where a number comes from.
	Fit, Choose, Confirm []dataset.Sample
	// In and Out declare what the values on both sides are: which numbers are positions, vectors or irreps, and what
	// belongs to nodes.
	In, Out space.Spec
	// Answers returns one prediction for each value, in order, and changes none of them. Scores are the numbers that
	// the
	// model returns, before any softmax. Call [Subject.Predict], which counts.
	Answers func(ctx context.Context, values []space.Value) ([]space.Value, error)
	// Gradient carries cotangents of the predictions back: Jᵀ·c for each value, in the unit of the value. It is nil
	// where
	// the graph has no derivative, and NoGradient says why.
	Gradient   func(ctx context.Context, values, cotangents []space.Value) ([]space.Value, error)
	NoGradient string
	// Rules say how groups move values, Moving and Moved with which kernel and border on either side. Groups are those
	// beside those of package catalog.
	Rules         action.Table
	Moving, Moved action.Options
	Groups        []group.Group
	// Declared says that somebody said how the outputs move, and Stays that they stay as they are; else both are asked
	// of
	// outputs that could move.
	Declared, Stays bool
	// Roundoff is the unit roundoff of the model's arithmetic, such as 2⁻²⁴.
	Roundoff float64
	// Seed decides every random choice: equal subjects with equal seeds give equal sections.
	Seed uint64
	// Confidence of intervals and, as 1-Confidence, level of tests; such as 0.95.
	Confidence float64
	// Most is how many predictions may be made in all; 0 for any number. A gradient counts as three predictions.
	Most int
	// Begin, if not nil, is told which part begins, Expect about how many predictions it will make, where that is
	// known, and Step how many were made since.
	Begin        func(part string)
	Expect, Step func(n int)

	made atomic.Int64
}

// ErrBudget marks questions that would take more predictions than there may be.
var ErrBudget = errors.New("the budget of predictions is spent")

// Made is how many predictions were made so far.
func (s *Subject) Made() int { return int(s.made.Load()) }

// Left is how many more may be made.
func (s *Subject) Left() int {
	if s.Most == 0 {
		return int(^uint(0) >> 1)
	}
	return max(s.Most-s.Made(), 0)
}

// Predict is the model's answers. The error wraps [ErrBudget] if there would be too many.
func (s *Subject) Predict(ctx context.Context, values []space.Value) ([]space.Value, error) {
	if err := s.spend(len(values)); err != nil {
		return nil, err
	}
	// Many large inputs at once would not fit into memory after they are encoded.
	out := make([]space.Value, 0, len(values))
	for from := 0; from < len(values); from += chunk {
		to := min(from+chunk, len(values))
		got, err := s.Answers(ctx, values[from:to])
		if err != nil {
			return nil, err
		}
		if len(got) != to-from {
			return nil, fmt.Errorf("model %s: %d predictions for %d inputs", s.Model, len(got), to-from)
		}
		out = append(out, got...)
		if s.Step != nil {
			s.Step(to - from)
		}
	}
	return out, nil
}

// chunk is how many values are asked at once.
const chunk = 256

// Pull is the gradient of Σ cotangent·prediction by each value. It is an error of the kind [ErrOpen] where the graph
// has
// none.
func (s *Subject) Pull(ctx context.Context, values, cotangents []space.Value) ([]space.Value, error) {
	if s.Gradient == nil {
		return nil, fmt.Errorf("%w: no derivative of %s: %s", ErrOpen, s.Model, s.NoGradient)
	}
	const backward = 3 // forward, and back through as many products again for values and for what they are made of
	if err := s.spend(backward * len(values)); err != nil {
		return nil, err
	}
	return s.Gradient(ctx, values, cotangents)
}

func (s *Subject) spend(n int) error {
	if s.Left() < n {
		return fmt.Errorf("%w: %d of %d are made, and %d more are needed", ErrBudget, s.Made(), s.Most, n)
	}
	s.made.Add(int64(n))
	return nil
}

// Explored are the samples that a part may look at: those to fit and those to choose.
func (s *Subject) Explored() []dataset.Sample {
	return append(slices.Clip(s.Fit), s.Choose...)
}

// Flat is the model as a function of plain numbers: those of values of one form, in their order.
type Flat struct {
	// In and Out are how many numbers go in and come out.
	In, Out int
	// At is the answers, one for each input.
	At func(ctx context.Context, x [][]float64) ([][]float64, error)
	// Pull is Jᵀ·c for each input; nil where there is no derivative.
	Pull func(ctx context.Context, x, c [][]float64) ([][]float64, error)
}

// Flatten is the model as a function of the numbers of values that have the form of one, where answers have the form of
// another. Both are samples: their sizes count, not their numbers.
func (s *Subject) Flatten(input, answer space.Value) Flat {
	values := func(like space.Value, x [][]float64) ([]space.Value, error) {
		out := make([]space.Value, len(x))
		for i, row := range x {
			var err error
			if out[i], err = like.With(row); err != nil {
				return nil, fmt.Errorf("%w: %w", ErrOpen, err)
			}
		}
		return out, nil
	}
	numbers := func(v []space.Value, n int) ([][]float64, error) {
		out := make([][]float64, len(v))
		for i := range v {
			if out[i] = v[i].Numbers(); len(out[i]) != n {
				return nil, fmt.Errorf("%w: %d numbers beside %d: samples differ in size", ErrOpen, len(out[i]), n)
			}
		}
		return out, nil
	}
	f := Flat{In: len(input.Numbers()), Out: len(answer.Numbers())}
	f.At = func(ctx context.Context, x [][]float64) ([][]float64, error) {
		v, err := values(input, x)
		if err != nil {
			return nil, err
		}
		y, err := s.Predict(ctx, v)
		if err != nil {
			return nil, err
		}
		return numbers(y, f.Out)
	}
	if s.Gradient == nil {
		return f
	}
	f.Pull = func(ctx context.Context, x, c [][]float64) ([][]float64, error) {
		v, err := values(input, x)
		if err != nil {
			return nil, err
		}
		w, err := values(answer, c)
		if err != nil {
			return nil, err
		}
		g, err := s.Pull(ctx, v, w)
		if err != nil {
			return nil, err
		}
		return numbers(g, f.In)
	}
	return f
}
