package shelf

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"nero/run/slice"
	"nero/serve/api"
)

// These are the errors of slices that are kept with a run.
var (
	// ErrChanged marks a change to slices that somebody else has changed since they were read.
	ErrChanged = slice.ErrChanged
	// ErrReadOnly marks a run with which no slices can be kept.
	ErrReadOnly = slice.ErrReadOnly
)

// mostDeepSet bounds how deep sets are nested, through the names of slices as well.
const mostDeepSet = 32

// mostSets bounds how many sets a set is put together of: each costs as much as there are samples. Many samples are
// named by indexes or bits, in one set.
const mostSets = 1000

// Select is the samples that a set chooses; statistics in rules are of the first metric unless the set says of which.
// Samples that are not computed yet, or failed, are in it where that can be said of them: by index, by bits, by not.
// The error wraps [ErrBad] for a set that makes no sense, and a [*slice.RuleError] says where in a rule.
func (r *Run) Select(set api.Set) (slice.Bits, error) { return r.selected(set, 0) }

func (r *Run) selected(set api.Set, metric int) (slice.Bits, error) {
	c := chooser{r: r, metric: metric}
	return c.choose(&set, 0)
}

// chooser finds the samples of sets.
type chooser struct {
	r *Run
	// of rules that name none
	metric int
	// kept slices; nil: those of the run
	named func() []api.Slice
	// once they were asked for
	kept   []api.Slice
	loaded bool //
	// slices that were looked up
	known map[string]slice.Bits
	// sets that were looked at, those of slices too
	sets int
}

// fields counts what a set says.
func fields(set *api.Set) int {
	n := 0
	for _, is := range []bool{
		set.Label != nil, set.Rule != "", set.Indexes != nil, set.Bits != "", set.Slice != "",
		set.And != nil, set.Or != nil, set.Not != nil,
	} {
		if is {
			n++
		}
	}
	return n
}

func (c *chooser) choose(set *api.Set, depth int) (slice.Bits, error) {
	n := c.r.n
	if depth > mostDeepSet {
		return slice.Bits{}, mark(ErrBad, "set: nested more than %d deep", mostDeepSet)
	}
	if c.sets++; c.sets > mostSets {
		return slice.Bits{}, mark(ErrBad, "set: put together of more than %d sets; name the samples by indexes or bits",
			mostSets)
	}
	if fields(set) > 1 {
		return slice.Bits{},
			mark(ErrBad, "set: it says more than one of label, rule, indexes, bits, slice, and, or, not; put them "+
				"together with and")
	}
	switch {
	case set.Label != nil:
		return c.label(*set.Label)
	case set.Rule != "":
		return c.rule(set)
	case set.Indexes != nil:
		out := slice.NewBits(n)
		for _, i := range set.Indexes {
			if i < 0 || i >= n {
				return slice.Bits{},
					mark(ErrBad, "set: indexes: there is no sample %d; the run has %d, numbered from 0", i, n)
			}
			out.Add(i)
		}
		return out, nil
	case set.Bits != "":
		out, err := slice.ParseBits(set.Bits, n)
		if err != nil {
			return slice.Bits{}, mark(ErrBad, "set: %v", err)
		}
		return out, nil
	case set.Slice != "":
		return c.slice(set.Slice, depth)
	case set.And != nil:
		return c.all(set.And, slice.All(n), slice.Bits.And, depth)
	case set.Or != nil:
		return c.all(set.Or, slice.NewBits(n), slice.Bits.Or, depth)
	case set.Not != nil:
		b, err := c.choose(set.Not, depth+1)
		if err != nil {
			return slice.Bits{}, err
		}
		return b.Not(), nil
	}
	return slice.All(n), nil
}

func (c *chooser) all(sets []api.Set, out slice.Bits, put func(a, b slice.Bits) slice.Bits, depth int) (slice.Bits,
	error,
) {
	for i := range sets {
		b, err := c.choose(&sets[i], depth+1)
		if err != nil {
			return slice.Bits{}, err
		}
		out = put(out, b)
	}
	return out, nil
}

func (c *chooser) label(label int) (slice.Bits, error) {
	s, err := c.r.info()
	if err != nil {
		return slice.Bits{}, err
	}
	out := slice.NewBits(c.r.n)
	for i, l := range s.labels {
		if int(l) == label {
			out.Add(i)
		}
	}
	return out, nil
}

// slice is a class or a kept slice by its name.
func (c *chooser) slice(name string, depth int) (slice.Bits, error) {
	if b, ok := c.known[name]; ok {
		return b, nil
	}
	doc := c.r.Document()
	k := slices.IndexFunc(doc.Slices, func(s api.Slice) bool { return s.Name == name })
	from := doc.Slices
	if k < 0 {
		if !c.loaded {
			c.loaded = true
			if c.named != nil {
				c.kept = c.named()
			} else {
				all, _, err := c.r.Slices()
				if err != nil {
					return slice.Bits{}, err
				}
				c.kept = all.Slices
			}
		}
		from = c.kept
		k = slices.IndexFunc(from, func(s api.Slice) bool { return s.Name == name })
	}
	if k < 0 {
		return slice.Bits{}, mark(ErrBad, "set: there is no slice %.200q; GET slices lists those that are kept", name)
	}
	set := from[k].Set
	b, err := c.choose(&set, depth+1)
	if err != nil {
		return slice.Bits{}, fmt.Errorf("slice %.200q: %w", name, err)
	}
	if c.known == nil {
		c.known = map[string]slice.Bits{}
	}
	c.known[name] = b
	return b, nil
}

func (c *chooser) rule(set *api.Set) (slice.Bits, error) {
	r := c.r
	k := c.metric
	if set.Metric != nil {
		k = *set.Metric
	}
	if err := r.check(0, k); err != nil {
		return slice.Bits{}, mark(ErrBad, "set: %v", err)
	}
	rule, err := slice.Parse(set.Rule)
	if err != nil {
		return slice.Bits{}, &cleaned{err.Error(), errors.Join(ErrBad, err)}
	}
	s, err := r.info()
	if err != nil {
		return slice.Bits{}, err
	}
	columns := &slice.Columns{
		N: r.n, Models: r.Models(), Classes: r.Document().Classes, ID: s.IDs, Tags: s.Tags,
		Predicted: func(model int) ([]int32, error) {
			return r.atRest(model)
		},
		Stats: func(f slice.Field, model int) ([]float32, error) {
			st, err := r.Stats(model, k)
			if err != nil {
				return nil, err
			}
			switch f { //nolint:exhaustive // only statistics are asked for
			case slice.Mean:
				return st.Mean, nil
			case slice.Min:
				return st.Min, nil
			case slice.Max:
				return st.Max, nil
			case slice.Spread:
				return st.SD, nil
			default:
				return st.Identity, nil
			}
		},
	}
	if slices.ContainsFunc(s.labels, func(l int32) bool { return l >= 0 }) {
		columns.Label = s.labels
	}
	out, err := rule.Select(columns)
	if e, ok := errors.AsType[*slice.RuleError](err); ok {
		return slice.Bits{}, &cleaned{e.Error(), errors.Join(ErrBad, e)}
	}
	return out, err
}

// apart reports whether the run is two runs over other samples: then there is no folder to whose samples named sets
// could belong.
func (r *Run) apart() bool { return r.parts[0].rows != nil }

// Slices are the slices that are kept with the run, and their entity tag. With two runs side by side they are those of
// the first; where its samples are not all there, as bits.
func (r *Run) Slices() (*api.Slices, string, error) {
	p := r.parts[0]
	all, tag, err := slice.Load(p.dir)
	if err != nil {
		return nil, "", p.clean(err)
	}
	out := &api.Slices{Format: slice.Format, Slices: make([]api.Slice, 0, len(all))}
	for _, s := range all {
		k := api.Slice{Name: s.Name, Label: s.Label, N: s.N, Note: s.Note}
		if err := json.Unmarshal(s.Set, &k.Set); err != nil {
			return nil, "", p.clean(fmt.Errorf("%s: %w: slice %.200q: %w; mend the file, or move it away to begin anew",
				slice.FileName, slice.ErrDamaged, s.Name, err))
		}
		out.Slices = append(out.Slices, k)
	}
	if r.apart() {
		out.Slices = r.carried(out.Slices)
	}
	return out, tag, nil
}

// carried are slices of the first run over the samples of this one. Those that cannot be evaluated are left out.
func (r *Run) carried(all []api.Slice) []api.Slice {
	first := r.shelf.of(r.parts[0].source)
	c := chooser{r: first, named: func() []api.Slice { return all }}
	out := make([]api.Slice, 0, len(all))
	for _, s := range all {
		b, err := c.choose(&s.Set, 0)
		if err != nil {
			continue
		}
		bits := slice.NewBits(r.n)
		for i := range r.n {
			if b.Has(r.parts[0].row(i)) {
				bits.Add(i)
			}
		}
		s.Set, s.N = api.Set{Bits: bits.String()}, bits.Count()
		out = append(out, s)
	}
	return out
}

// PutSlices keeps slices with the run if nobody has changed them since they had the tag in ifMatch (as the header
// If-Match has it). It returns them with the number of samples that each has now. The error wraps [ErrChanged],
// [ErrReadOnly] or [ErrBad].
func (r *Run) PutSlices(all api.Slices, ifMatch string) (*api.Slices, string, error) {
	if r.apart() {
		return nil, "", mark(ErrReadOnly,
			"slices over the samples that two runs share are not kept; keep them with one of the two")
	}
	if all.Format != slice.Format {
		return nil, "", mark(ErrBad, "slices: format %d; expected %d", all.Format, slice.Format)
	}
	kept := make([]slice.Named, 0, len(all.Slices))
	out := &api.Slices{Format: slice.Format, Slices: slices.Clone(all.Slices)}
	if out.Slices == nil {
		out.Slices = []api.Slice{}
	}
	if len(all.Slices) <= slice.MaxSlices { // else what follows says so
		c := chooser{r: r, named: func() []api.Slice { return all.Slices }}
		for i := range out.Slices {
			s := &out.Slices[i]
			b, err := c.choose(&s.Set, 0)
			if err != nil {
				return nil, "", fmt.Errorf("slice %.200q: %w", s.Name, err)
			}
			s.N = b.Count()
		}
	}
	for _, s := range out.Slices {
		set, err := json.Marshal(s.Set)
		if err != nil {
			return nil, "", mark(ErrBad, "slice %.200q: %v", s.Name, err)
		}
		kept = append(kept, slice.Named{Name: s.Name, Label: s.Label, N: s.N, Set: set, Note: s.Note})
	}
	p := r.parts[0]
	tag, err := slice.Save(context.WithoutCancel(r.shelf.ctx), p.dir, kept, ifMatch)
	if errors.Is(err, slice.ErrInvalid) {
		return nil, "", mark(ErrBad, "%v", err)
	}
	if err != nil {
		return nil, "", p.clean(err)
	}
	r.shelf.send(api.Event{Slices: p.id})
	if r.id != p.id {
		r.shelf.send(api.Event{Slices: r.id})
	}
	return out, tag, nil
}
