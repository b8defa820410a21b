package feature

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"nero/symmetry/group"
)

// Place is where a number of a moved value comes from: the number At of the value Value of a list. A Value below 0 is a
// constant.
type Place struct{ Value, At int }

// ErrLayout marks values whose numbers do not fall into fields on grids.
var ErrLayout = errors.New("the numbers are not those of whole channels on a grid")

// Pushed is the representation on a value that consists of numbers of other values, moved about: reshaped, transposed,
// joined, split, cut. From says, for each number of the result, where it comes from. Numbers may be left out and
// repeated, as long as those of a channel that are left form a regular grid that the elements map to itself, so that it
// moves about its own centre.
//
// The error wraps [ErrLayout] if they do not, or if a cut separates channels that the group permutes.
func (f *Frame) Pushed(shape []int, ins []*Rep, from []Place, elements []group.Element) (*Rep, error) {
	if n := count(shape); len(from) != n {
		return nil, fmt.Errorf("%d places for a value of shape %v", len(from), shape)
	}
	fields, err := trace(ins, from)
	if err != nil {
		return nil, err
	}
	parts, err := f.assemble(ins, fields, elements)
	if err != nil {
		return nil, err
	}
	parts = merge(parts)
	for i := range parts {
		parts[i].inOrder()
	}
	if len(parts) == 1 && slices.IsSorted(parts[0].Index) {
		parts[0].Index = nil
	}
	return f.Layout(shape, parts...)
}

// field is what is left of one channel of one part of one value, or one more copy of it.
type field struct {
	value, part, channel, copy int
	// place in its canonical order, and in the result
	places, index []int32
}

// trace follows every number of the result back to its channel.
func trace(ins []*Rep, from []Place) ([]*field, error) {
	type home struct{ part, canonical []int32 }
	homes := make([]home, len(ins))
	copies := make([][]int32, len(ins))
	for v, r := range ins {
		if r.given != nil {
			return nil, fmt.Errorf("%w: an action that the user gave does not say where its numbers are", ErrLayout)
		}
		n := count(r.shape)
		homes[v] = home{make([]int32, n), make([]int32, n)}
		copies[v] = make([]int32, n)
		for i, p := range r.parts {
			for k := range p.size() {
				at := int32(k)
				if p.Index != nil {
					at = p.Index[k]
				}
				homes[v].part[at], homes[v].canonical[at] = int32(i), int32(k)
			}
		}
	}
	type key struct{ value, part, channel, copy int }
	byKey := map[key]*field{}
	var fields []*field
	for j, s := range from {
		k := key{value: -1}
		var place int32
		if s.Value >= 0 {
			if s.Value >= len(ins) || s.At < 0 || s.At >= len(homes[s.Value].part) {
				return nil, fmt.Errorf("the number %d comes from the place %d of value %d, which does not exist", j,
					s.At, s.Value)
			}
			h := homes[s.Value]
			i := int(h.part[s.At])
			n := ins[s.Value].parts[i].places()
			k = key{s.Value, i, int(h.canonical[s.At]) / n, int(copies[s.Value][s.At])}
			place = h.canonical[s.At] % int32(n)
			copies[s.Value][s.At]++
		} else {
			k.channel = j // every constant is a channel of its own
		}
		f := byKey[k]
		if f == nil {
			f = &field{value: k.value, part: k.part, channel: k.channel, copy: k.copy}
			byKey[k] = f
			fields = append(fields, f)
		}
		f.places, f.index = append(f.places, place), append(f.index, int32(j))
	}
	return fields, nil
}

// assemble makes parts of fields that come from one part and live on one grid.
func (f *Frame) assemble(ins []*Rep, fields []*field, elements []group.Element) ([]Part, error) {
	var parts []Part
	type key struct {
		value, part int
		grids       string
	}
	members := map[key][]*field{}
	grids := map[key][]Grid{}
	var order []key
	for _, d := range fields {
		var of []Grid
		if d.value >= 0 {
			var err error
			if of, err = f.sort(d, &ins[d.value].parts[d.part], elements); err != nil {
				return nil, err
			}
		}
		k := key{d.value, d.part, fmt.Sprint(of)}
		if members[k] == nil {
			order, grids[k] = append(order, k), of
		}
		members[k] = append(members[k], d)
	}
	for _, k := range order {
		list := members[k]
		p := Part{Channels: len(list), Grids: grids[k]}
		for _, d := range list {
			p.Index = append(p.Index, d.index...)
		}
		if k.value >= 0 {
			if m := ins[k.value].parts[k.part].Mix; m != nil {
				var err error
				if p.Mix, err = m.restrict(list); err != nil {
					return nil, err
				}
			}
		}
		parts = append(parts, p)
	}
	return parts, nil
}

// sort brings the numbers of a field into canonical order and tells the grids that they form.
func (f *Frame) sort(d *field, p *Part, elements []group.Element) ([]Grid, error) {
	order := make([]int, len(d.places))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(d.places[a], d.places[b]) })
	places, index := make([]int32, len(order)), make([]int32, len(order))
	for i, k := range order {
		places[i], index[i] = d.places[k], d.index[k]
	}
	d.places, d.index = places, index
	if len(places) == p.places() {
		return p.Grids, nil
	}
	if len(p.Grids) != 1 {
		return nil, fmt.Errorf("%w: %d of %d pairs of places are left", ErrLayout, len(places), p.places())
	}
	g := p.Grids[0]
	w := int32(g.W)
	first, last := places[0], places[len(places)-1]
	cols := 0
	for cols < len(places) && places[cols]/w == first/w {
		cols++
	}
	rows := len(places) / cols
	step := func(n int, from, to int32) int32 {
		if n < 2 {
			return 1
		}
		return (to - from) / int32(n-1)
	}
	dy, dx := step(rows, first/w, last/w), step(cols, first%w, last%w)
	for i, v := range places {
		if v != first+int32(i/cols)*dy*w+int32(i%cols)*dx {
			return nil, fmt.Errorf("%w: the places that are left of a grid of %d×%d are no grid", ErrLayout, g.H, g.W)
		}
	}
	if err := f.closed(places, g, elements); err != nil {
		return nil, err
	}
	return []Grid{{rows, cols, [2]float64{g.Stride[0] * float64(dx), g.Stride[1] * float64(dy)}}}, nil
}

// closed tells whether elements that act on a grid without resampling map some of its places to themselves.
func (f *Frame) closed(places []int32, g Grid, elements []group.Element) error {
	is, to := make([]float64, g.size()), make([]float64, g.size())
	for _, p := range places {
		is[p] = 1
	}
	for _, e := range elements {
		m, err := f.mover(g, e)
		if err != nil {
			return err
		}
		if !m.exact {
			continue
		}
		if err := m.plane(g)(to, is); err != nil {
			return err
		}
		if !slices.Equal(is, to) {
			return fmt.Errorf("%w: %s does not map the places that are left to themselves", ErrLayout,
				group.Format(f.group, e))
		}
	}
	return nil
}

// restrict is the mix on a subset of the channels, and on copies of them.
func (m *Mix) restrict(list []*field) (*Mix, error) {
	if !m.permutes() {
		return nil, fmt.Errorf("%w: channels that are mixed by matrices are taken apart", ErrLayout)
	}
	type key struct{ channel, copy int }
	at := map[key]int32{}
	for i, f := range list {
		at[key{f.channel, f.copy}] = int32(i)
	}
	out := &Mix{Elements: m.Elements}
	for e := range m.Elements {
		from := make([]int32, len(list))
		var sign []int8
		if m.Sign != nil {
			sign = make([]int8, len(list))
		}
		for i, f := range list {
			src, ok := at[key{int(m.From[e][f.channel]), f.copy}]
			if !ok {
				return nil, fmt.Errorf("%w: channels that the group permutes are separated", ErrLayout)
			}
			from[i] = src
			if sign != nil {
				sign[i] = m.Sign[e][f.channel]
			}
		}
		out.From = append(out.From, from)
		if sign != nil {
			out.Sign = append(out.Sign, sign)
		}
	}
	return out, nil
}

// merge joins parts on equal grids whose channels stay, or are permuted by the same elements.
func merge(parts []Part) []Part {
	var out []Part
next:
	for _, p := range parts {
		for i := range out {
			q := &out[i]
			if !slices.Equal(p.Grids, q.Grids) {
				continue
			}
			if p.Mix == nil && q.Mix == nil {
				q.Channels += p.Channels
				q.Index = append(slices.Clone(q.Index), p.Index...)
				continue next
			}
			if m := joined(q.Mix, p.Mix, q.Channels, p.Channels); m != nil {
				q.Mix, q.Channels = m, q.Channels+p.Channels
				q.Index = append(slices.Clone(q.Index), p.Index...)
				continue next
			}
		}
		out = append(out, p)
	}
	return out
}

// joined is the direct sum of two mixes; a nil one leaves its channels where they are. The result is nil if there is
// none.
func joined(a, b *Mix, na, nb int) *Mix {
	stay := func(m *Mix, n int) *Mix {
		out := &Mix{Elements: m.Elements}
		for range m.Elements {
			out.From = append(out.From, identity(n))
		}
		return out
	}
	if a == nil {
		a = stay(b, na)
	}
	if b == nil {
		b = stay(a, nb)
	}
	if !a.permutes() || !b.permutes() || len(a.Elements) != len(b.Elements) {
		return nil
	}
	m := &Mix{Elements: a.Elements}
	ones := func(n int) []int8 { return slices.Repeat([]int8{1}, n) }
	for e := range a.Elements {
		if !slices.Equal(a.Elements[e], b.Elements[e]) {
			return nil
		}
		from := slices.Clone(a.From[e])
		for _, c := range b.From[e] {
			from = append(from, c+int32(na))
		}
		m.From = append(m.From, from)
		if a.Sign != nil || b.Sign != nil {
			s, t := ones(na), ones(nb)
			if a.Sign != nil {
				s = slices.Clone(a.Sign[e])
			}
			if b.Sign != nil {
				t = b.Sign[e]
			}
			m.Sign = append(m.Sign, append(s, t...))
		}
	}
	return m
}

func identity(n int) []int32 {
	out := make([]int32, n)
	for i := range out {
		out[i] = int32(i)
	}
	return out
}

// inOrder sorts the channels of a part by the first place that they have in the value.
func (p *Part) inOrder() {
	n := p.places()
	least := make([]int32, p.Channels)
	order := make([]int, p.Channels)
	for c := range order {
		order[c] = c
		least[c] = slices.Min(p.Index[c*n : (c+1)*n])
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(least[a], least[b]) })
	if slices.IsSorted(order) {
		return
	}
	index := make([]int32, 0, len(p.Index))
	where := make([]int32, p.Channels)
	for i, c := range order {
		index = append(index, p.Index[c*n:(c+1)*n]...)
		where[c] = int32(i)
	}
	p.Index = index
	if p.Mix == nil {
		return
	}
	m := &Mix{Elements: p.Mix.Elements}
	for e := range m.Elements {
		from := make([]int32, p.Channels)
		var sign []int8
		if p.Mix.Sign != nil {
			sign = make([]int8, p.Channels)
		}
		for i, c := range order {
			from[i] = where[p.Mix.From[e][c]]
			if sign != nil {
				sign[i] = p.Mix.Sign[e][c]
			}
		}
		m.From = append(m.From, from)
		if sign != nil {
			m.Sign = append(m.Sign, sign)
		}
	}
	p.Mix = m
}
