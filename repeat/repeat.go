// Package repeat asks models the same again, and asks about several views of the same object: is the answer the same
// twice, is it the same however one asks, and is what is always the same right?
//
// Views are given orbits (package views): which of them belong together is all that is known. There are no laws of a
// group, nothing is moved back, and invariance is all that can be claimed.
package repeat

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
)

// Outcome is what became of a question.
type Outcome struct {
	Name string
	// Doc says it in a few words.
	Doc string
}

// The outcomes. All but the first are counted and are in no mean.
var (
	Answered    = &Outcome{"answered", "an answer"}
	RateLimited = &Outcome{"rate_limited", "turned away: too many requests"}
	Late        = &Outcome{"timed_out", "no answer in time"}
	Refused     = &Outcome{"refused", "an error, or a refusal, in place of an answer"}
	Unreachable = &Outcome{"unreachable", "no server, or an overloaded one"}
	Unreadable  = &Outcome{"unreadable", "an answer that the rules of repeat.normalise do not fit"}
	NotFinite   = &Outcome{"not_finite", "an answer with numbers that are not finite"}
)

// Outcomes are all of them.
func Outcomes() []*Outcome {
	return []*Outcome{Answered, RateLimited, Late, Refused, Unreachable, Unreadable, NotFinite}
}

// Answer is what a question brought.
type Answer struct {
	Outcome *Outcome
	// Text is what is compared: answers are equal if their texts are.
	Text string
	// Numbers are nil for answers that are no numbers.
	Numbers []float64
	// Raw is the answer as it came.
	Raw string
	// Why says, where there is no answer, what was said in its place.
	Why string
}

// Question names what is asked: places in the lists of a subject.
type Question struct{ Object, View, Repeat int }

// Thing is an object that is asked about.
type Thing struct {
	Name string
	// Label is the right answer, as the rules leave it, where Labelled is true.
	Label    string
	Labelled bool
	// Environment is where it is from; empty where that is not said.
	Environment string
	// Has says which views there are of it.
	Has []bool
	// Inputs tell inputs of views apart: two views with the same text here are asked the same. Nil where nobody looked.
	Inputs []string
}

// Subject is a model with what it is asked.
type Subject struct {
	Model string
	// Place is where it is, for reports; empty for a file. Digest is that of a file, empty for what is somewhere else.
	Place, Digest string
	// Engine is what computes the answers of a file, whose last bits are its own; empty for what is somewhere else.
	Engine string
	Things []*Thing
	Views  []string
	// Ask asks. Whatever the model does is an answer; the error is for what ends all of it.
	Ask func(context.Context, Question) (Answer, error)
	// Drawing says that the model may draw its answers, or somebody may keep them, for all that is known.
	Drawing bool
	// Notebook holds the answers so far, where somebody may stop and go on; nil for nowhere.
	Notebook *Notebook
	// Began is told how many questions there are, Step that so many more were asked; nil for nobody.
	Began, Step func(int)
}

// Times is how often each view of each object was asked: the answers at [object][view][repeat]; nil for a view that
// there is none of.
type Times [][][]Answer

// gone is after how many questions in a row without a server nobody goes on asking.
const gone = 10

// ErrGone is that there is no server any more.
var ErrGone = errors.New("the server has gone")

// schedule is the order of the questions: each round asks every view of every object once, in an order of its own that
// the seed decides, so that repeats of one question are apart in time and neighbours differ.
func (s *Subject) schedule(times int, seed uint64) []Question {
	var round, all []Question
	for i, t := range s.Things {
		for v, has := range t.Has {
			if has {
				round = append(round, Question{Object: i, View: v})
			}
		}
	}
	for k := range times {
		r := rand.New(rand.NewPCG(seed, uint64(k)))
		for _, j := range r.Perm(len(round)) {
			q := round[j]
			q.Repeat = k
			all = append(all, q)
		}
	}
	return all
}

// answer is what was answered before, or is asked now and kept.
func (s *Subject) answer(ctx context.Context, q Question) (Answer, error) {
	if s.Notebook == nil {
		return s.Ask(ctx, q)
	}
	if a, ok := s.Notebook.Find(s.Model, q); ok {
		return a, nil
	}
	a, err := s.Ask(ctx, q)
	if err != nil {
		return a, err
	}
	return a, s.Notebook.Put(s.Model, q, a)
}

// Collect asks all questions, so many at once.
func (s *Subject) Collect(ctx context.Context, times, workers int, seed uint64) (Times, error) {
	asked := s.schedule(times, seed)
	out := make(Times, len(s.Things))
	for i, t := range s.Things {
		out[i] = make([][]Answer, len(s.Views))
		for v, has := range t.Has {
			if has {
				out[i][v] = make([]Answer, times)
			}
		}
	}
	if s.Began != nil {
		s.Began(len(asked))
	}
	var mu sync.Mutex // of Step
	var without atomic.Int64
	g, within := errgroup.WithContext(ctx)
	g.SetLimit(max(workers, 1))
	for _, q := range asked {
		if within.Err() != nil {
			break
		}
		g.Go(func() error {
			a, err := s.answer(within, q)
			if err != nil {
				return err
			}
			if a.Outcome != Unreachable {
				without.Store(0)
			} else if n := without.Add(1); n >= gone {
				return fmt.Errorf("%w: %d questions in a row were not taken, the last one said: %s", ErrGone, n, a.Why)
			}
			out[q.Object][q.View][q.Repeat] = a
			if s.Step != nil {
				mu.Lock()
				defer mu.Unlock()
				s.Step(1)
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	return out, ctx.Err()
}
