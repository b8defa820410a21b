package shelf

import (
	"nero/run/slice"
	"nero/serve/api"
)

// mostDeepSet bounds how deep sets are nested.
const mostDeepSet = 32

// Select is the samples that a set chooses. Samples that are not computed yet, or failed, are in it as far as it can be said: by index
// and by bits, and by label once they were computed.
func (r *Run) Select(set api.Set) (slice.Bits, error) { return r.choose(set, 0) }

func (r *Run) choose(set api.Set, depth int) (slice.Bits, error) {
	if depth > mostDeepSet {
		return slice.Bits{}, mark(ErrBad, "set: nested more than %d deep", mostDeepSet)
	}
	given := 0
	for _, is := range []bool{set.Label != nil, set.Rule != "", set.Indexes != nil, set.Bits != "", set.Slice != "", set.And != nil, set.Or != nil, set.Not != nil} {
		if is {
			given++
		}
	}
	if given > 1 {
		return slice.Bits{}, mark(ErrBad, "set: more than one of label, rule, indexes, bits, slice, and, or, not; put them together with and")
	}
	switch {
	case set.Label != nil:
		s, err := r.info()
		if err != nil {
			return slice.Bits{}, err
		}
		out := slice.NewBits(r.n)
		for i, l := range s.Labels {
			if l == *set.Label {
				out.Add(i)
			}
		}
		return out, nil
	case set.Indexes != nil:
		out := slice.NewBits(r.n)
		for _, i := range set.Indexes {
			if err := r.checkSample(i); err != nil {
				return slice.Bits{}, mark(ErrBad, "set: indexes: %v", err)
			}
			out.Add(i)
		}
		return out, nil
	case set.Bits != "":
		out, err := slice.ParseBits(set.Bits, r.n)
		if err != nil {
			return slice.Bits{}, mark(ErrBad, "set: %v", err)
		}
		return out, nil
	case set.And != nil, set.Or != nil:
		out := slice.All(r.n)
		parts, put := set.And, slice.Bits.And
		if set.Or != nil {
			out, parts, put = slice.NewBits(r.n), set.Or, slice.Bits.Or
		}
		for _, p := range parts {
			b, err := r.choose(p, depth+1)
			if err != nil {
				return slice.Bits{}, err
			}
			out = put(out, b)
		}
		return out, nil
	case set.Not != nil:
		b, err := r.choose(*set.Not, depth+1)
		if err != nil {
			return slice.Bits{}, err
		}
		return b.Not(), nil
	case set.Rule != "", set.Slice != "":
		return slice.Bits{}, mark(ErrBad, "set: rules and named slices are not read by this version")
	}
	return slice.All(r.n), nil
}
