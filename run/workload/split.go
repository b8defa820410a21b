package workload

import (
	"math"
	"strings"

	"nero/data/split"
	"nero/run/job"
)

// Sets are the samples of the data, by their indexes, that are to learn from, to choose by and to report on, as the
// study divides them.
func (w *Workload) Sets() (split.Sets, error) {
	shares, err := sharesOf(w.Study)
	if err != nil {
		return nil, err
	}
	return shares.Divide(w.Study.Split.Seed, w.objects()), nil
}

// Chosen are [Workload.Sets] of the samples of the study, by their places in it.
func (w *Workload) Chosen() (split.Sets, error) {
	shares, err := sharesOf(w.Study)
	if err != nil {
		return nil, err
	}
	return shares.Divide(w.Study.Split.Seed, w.Objects()), nil
}

// Objects are the names of what the samples of the study show, by their places in it. Several samples may show one.
func (w *Workload) Objects() []string {
	if w.Eval.Samples == nil {
		return w.objects()
	}
	return at(w.objects(), w.Eval.Samples)
}

// Divided are the samples of each side that a study which is limited to that side reads, by their places in the data:
// limit and balance choose among those of each.
func (w *Workload) Divided() (split.Sets, error) {
	sets, err := w.Sets()
	if err != nil {
		return nil, err
	}
	for side, all := range sets {
		if sets[side], _, err = w.some(all); err != nil {
			return nil, err
		}
	}
	return sets, nil
}

// OnSide tells whether a sample of the data is on the side that the study is limited to, or the study is limited to
// none.
func (w *Workload) OnSide(i int) bool { return w.onSide == nil || w.onSide[i] }

// objects are the names of what the samples of the data show: pieces of one photo are of one object, for they may hold
// the same pixels.
func (w *Workload) objects() []string {
	ids := w.Data.IDs()
	if w.Study.Data.Cut.Size == nil {
		return ids
	}
	out := make([]string, len(ids))
	for i, id := range ids {
		if out[i] = id; strings.Contains(id, "#") {
			out[i] = id[:strings.LastIndex(id, "#")]
		}
	}
	return out
}

// side are the samples of the side that the study is limited to, nil if it is limited to none.
func (w *Workload) side() ([]int, error) {
	sets, err := w.Sets()
	if err != nil || w.Study.Data.Side == "" {
		return nil, err
	}
	side, err := split.Parse(w.Study.Data.Side)
	if err != nil {
		return nil, w.Study.Errorf("data.side", "%v", err)
	}
	if err := sets.Need(side); err != nil {
		return nil, w.Study.Errorf("data.side", "%v", err)
	}
	w.onSide = make([]bool, w.Data.Len())
	for _, i := range sets[side] {
		w.onSide[i] = true
	}
	return sets[side], nil
}

// sharesOf are the shares that a study names, or else those of the preset.
func sharesOf(s *job.Study) (split.Shares, error) {
	p := s.Split
	if p.Fit == 0 && p.Choose == 0 && p.Confirm == 0 {
		return split.Preset(), nil
	}
	if sum := p.Fit + p.Choose + p.Confirm; !(math.Abs(sum-1) <= 1e-9) {
		return split.Shares{}, s.Errorf("split", "the shares fit, choose and confirm sum to %g, want 1", sum)
	}
	return split.Shares{Fit: p.Fit, Choose: p.Choose}, nil
}

// at are the entries of a list at some places; nil of nil.
func at[T any](all []T, places []int) []T {
	if all == nil {
		return nil
	}
	out := make([]T, len(places))
	for i, k := range places {
		out[i] = all[k]
	}
	return out
}
