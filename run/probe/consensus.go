package probe

import (
	"context"
	"time"

	"nero/data/space"
	"nero/measure/consensus"
	"nero/measure/metric"
	"nero/run/eval"
	"nero/symmetry/group"
)

// patience is how long somebody waits for a consensus: the orbit is visited in the background, and answers until then
// are without.
const patience = 400 * time.Millisecond

// references is what the answer of model m at g is compared with, in the frame of g. The consensus is added to the
// result.
func (s *Service) references(ctx context.Context, r *Result, smp *sample, in *Input, self *answer) (eval.References,
	error,
) {
	refs := eval.References{Target: in.Target, Label: -1}
	at := s.at[r.Model]
	var err error
	if refs.Self, err = s.eval.Forth(at, in.G, self.back); err != nil {
		return refs, err
	}
	c, err := s.consensus(ctx, r.Model, smp, in.Index)
	if err != nil || c == nil {
		return refs, err
	}
	r.Support, refs.Label = c.Share, c.Label
	if c.Value != nil {
		if refs.Consensus, err = s.eval.Forth(at, in.G, c.Value); err != nil {
			return refs, err
		}
		r.Consensus = refs.Consensus
	}
	return refs, nil
}

// averages reports whether a metric of the run compares with the consensus of the whole orbit. One that leaves out the
// element that it is compared at is another for every element, and is known of rows only.
func averages(e *eval.Evaluation) bool {
	if e.LeaveOut {
		return false
	}
	for _, m := range e.Metrics {
		if m.Ref == metric.Consensus {
			return true
		}
	}
	return false
}

// consensus is what the answers of model m about a sample agree on, in the frame of the identity; nil if the run does
// not ask for it, and as long as it is being found.
func (s *Service) consensus(ctx context.Context, m int, smp *sample, index int) (*consensus.Result, error) {
	if !s.averages {
		return nil, nil //nolint:nilnil // none is asked for
	}
	k := key{agreed - m, index}
	find := func(ctx context.Context) (*consensus.Result, error) {
		v, err := s.cache.get(ctx, k, func() (any, int, error) {
			c, err := s.eval.Consensus(ctx, s.at[m], smp.Sample)
			if err != nil {
				return nil, 0, err
			}
			return &c, bytesOf(c.Value), nil
		})
		if err != nil {
			return nil, err
		}
		return v.(*consensus.Result), nil //nolint:errcheck // what was put in under this key
	}
	if s.cache.has(k) {
		return find(ctx)
	}
	s.calibrating.Lock()
	if s.ending || s.visiting != nil {
		s.calibrating.Unlock()
		return nil, nil //nolint:nilnil // one after the other: whoever asks again later finds it
	}
	done := make(chan struct{})
	s.visiting = done
	s.background.Go(func() {
		// It ends with the service alone, which may as well spoil the session of an engine that cannot be stopped. Who
		// asks next is told why not.
		_, _ = find(s.life)
		s.calibrating.Lock()
		s.visiting = nil
		s.calibrating.Unlock()
		close(done)
	})
	s.calibrating.Unlock()
	late := time.NewTimer(patience)
	defer late.Stop()
	select {
	case <-done:
		return find(s.running(ctx))
	case <-late.C:
		return nil, nil //nolint:nilnil // it is being found
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// truth is the target of a sample in the frame of g, nil if there is none.
func (s *Service) truth(g group.Element, smp *sample) (space.Value, error) {
	return s.eval.Truth(g, smp.Sample)
}
