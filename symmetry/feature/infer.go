package feature

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"nero/symmetry/group"
)

// Pair is what a model made of one input and of the same input moved by G.
type Pair struct {
	G group.Element
	// number of the input; pairs of one object are never on both sides of a split
	Object int
	X, Y   []float64
}

// Fit says how well a representation explains pairs.
type Fit struct {
	// channels that differ from object to object
	Varying int
	// share of them whose error is at most the tolerance
	Explained float64
	// (Σ‖ρ(g)x - y‖²/Σ‖x - E x‖²)^½ over all pairs
	Error float64
	// that it was measured on
	Objects int
}

// Constant tells that nothing varies, so that every representation fits and none is shown.
func (f Fit) Constant() bool { return f.Varying == 0 }

// Limits of an inference.
type Limits struct {
	// Tolerance is the largest relative error of a channel that counts as explained; 0 means 1e-3, far above the
	// rounding of float32 and far below what a wrong assignment leaves.
	Tolerance float64
	// Loose is the same for a second look, which finds the representation of values that are broken a little; 0 means
	// 0.2.
	Loose float64
}

// shares of the varying channels that a representation must explain, at the tight and at the loose tolerance.
const (
	tightShare = 0.5
	looseShare = 0.75
)

// Infer finds the representation that explains the pairs, the first of the candidates that do, else the first of them
// whose channels, when permuted, do. Elements that resample are no evidence. A permutation of channels is found by
// matching each channel of ρ(g)x with the channel of y that is nearest, on the even half of the objects, must be a
// homomorphism over the elements, and is believed only if it explains the other half as well.
//
// At least half of the varying channels must be explained within the tolerance, or three quarters within the loose one:
// then a few broken channels leave the representation of the others standing, and a layer that is broken altogether is
// explained by nothing. The result is nil if nothing explains the pairs, or if all of them are constant; Fit is then
// that of the first candidate.
func (f *Frame) Infer(pairs []Pair, candidates []*Rep, o Limits) (*Rep, Fit, error) {
	if o.Tolerance == 0 {
		o.Tolerance = 1e-3
	}
	if o.Loose == 0 {
		o.Loose = 0.2
	}
	if len(candidates) == 0 {
		return nil, Fit{}, nil
	}
	var first Fit
	for i, tol := range []float64{o.Tolerance, o.Loose} {
		share := []float64{tightShare, looseShare}[i]
		var best *Rep
		var fit Fit
		// At the tight tolerance every channel that is explained is explained; among candidates the one with more of
		// them wins.
		keep := func(r *Rep, a Fit) {
			if a.Explained >= share && (best == nil || a.Explained > fit.Explained) {
				best, fit = r, a
			}
		}
		for k, r := range candidates {
			a, err := r.Score(pairs, tol)
			if err != nil {
				return nil, Fit{}, err
			}
			if i == 0 && k == 0 {
				first = a
				if a.Constant() {
					return nil, a, nil
				}
			}
			keep(r, a)
		}
		if best == nil || fit.Explained < 1 && i == 0 {
			for _, r := range fewest(candidates) {
				m, ok, err := f.permuted(r, pairs, tol)
				if err != nil {
					return nil, Fit{}, err
				}
				if !ok {
					continue
				}
				a, err := m.Score(held(pairs, 1), tol)
				if err != nil {
					return nil, Fit{}, err
				}
				keep(m, a)
			}
		}
		if best != nil {
			out := *best
			out.Origin = ByData
			out.Why = fmt.Sprintf("explains %.3g %% of %d channels within %.2g on %d samples", 100*fit.Explained,
				fit.Varying, tol, fit.Objects)
			return &out, fit, nil
		}
	}
	return nil, first, nil
}

// fewest sorts candidates by their channels: the fewer can be permuted, the more an explanation says.
func fewest(candidates []*Rep) []*Rep {
	channels := func(r *Rep) int {
		n := 0
		for _, p := range r.parts {
			n += p.Channels
		}
		return n
	}
	out := slices.Clone(candidates)
	slices.SortStableFunc(out, func(a, b *Rep) int { return cmp.Compare(channels(a), channels(b)) })
	return out
}

// held is one half of the objects: those of even number for 0, the others for 1; all of them if that would leave none.
func held(pairs []Pair, half int) []Pair {
	var order []int
	for _, p := range pairs {
		if !slices.Contains(order, p.Object) {
			order = append(order, p.Object)
		}
	}
	if len(order) < 2 {
		return pairs
	}
	var out []Pair
	for _, p := range pairs {
		if slices.Index(order, p.Object)%2 == half {
			out = append(out, p)
		}
	}
	return out
}

// spread is what is known of the channels of values: Σ over objects of ‖x - E x‖², and of ‖x‖².
type spread struct {
	centred, square []float64
	n               int
}

// channelOf tells the channel of every number of a value, counted through the parts.
func (r *Rep) channelOf() (of []int32, n int) {
	of = make([]int32, count(r.shape))
	for _, p := range r.parts {
		places := p.places()
		for k := range p.size() {
			at := k
			if p.Index != nil {
				at = int(p.Index[k])
			}
			of[at] = int32(n + k/places)
		}
		n += p.Channels
	}
	return of, n
}

// scale measures how the channels vary over the objects. With one object alone it is over the places of a channel.
func (r *Rep) scale(pairs []Pair) spread {
	of, channels := r.channelOf()
	s := spread{centred: make([]float64, channels), square: make([]float64, channels)}
	seen := map[int]bool{}
	var mean []float64
	var all [][]float64
	for _, p := range pairs {
		if seen[p.Object] {
			continue
		}
		seen[p.Object] = true
		all = append(all, p.X)
		if mean == nil {
			mean = make([]float64, len(p.X))
		}
		for i, v := range p.X {
			mean[i] += v
		}
	}
	s.n = len(all)
	if s.n == 1 {
		sums, sizes := make([]float64, channels), make([]float64, channels)
		for i, v := range mean {
			sums[of[i]] += v
			sizes[of[i]]++
		}
		for i := range mean {
			mean[i] = sums[of[i]] / sizes[of[i]]
		}
	} else {
		for i := range mean {
			mean[i] /= float64(s.n)
		}
	}
	for _, x := range all {
		for i, v := range x {
			d := v - mean[i]
			s.centred[of[i]] += float64(d * d)
			s.square[of[i]] += float64(v * v)
		}
	}
	return s
}

// varies lists the channels that are evidence: their spread is above what rounding leaves of the largest channel.
func (s spread) varies() []bool {
	out := make([]bool, len(s.square))
	if len(out) == 0 {
		return out
	}
	floor := 1e-12 * slices.Max(s.square)
	for c, v := range s.centred {
		out[c] = v > floor
	}
	return out
}

// Score measures how well the representation explains the pairs whose elements act without resampling.
func (r *Rep) Score(pairs []Pair, tolerance float64) (Fit, error) {
	pairs = slices.DeleteFunc(slices.Clone(pairs), func(p Pair) bool { return !r.Exact(p.G) })
	if len(pairs) == 0 || r.given != nil {
		return Fit{}, nil
	}
	of, channels := r.channelOf()
	s := r.scale(pairs)
	varies := s.varies()
	wrong, uses := make([]float64, channels), map[int]int{}
	for _, p := range pairs {
		z, err := r.Apply(p.G, p.X)
		if err != nil {
			return Fit{}, err
		}
		uses[p.Object]++
		for i, v := range z {
			d := v - p.Y[i]
			wrong[of[i]] += float64(d * d)
		}
	}
	per := float64(len(pairs)) / float64(max(len(uses), 1))
	fit := Fit{Objects: len(uses)}
	var e, all float64
	explained := 0
	for c := range channels {
		e += wrong[c]
		all += float64(s.centred[c] * per)
		if !varies[c] {
			continue
		}
		fit.Varying++
		if relative(wrong[c], s.centred[c]*per) <= tolerance {
			explained++
		}
	}
	fit.Error = relative(e, all)
	if fit.Varying > 0 {
		fit.Explained = float64(explained) / float64(fit.Varying)
	}
	return fit, nil
}

// glance is how many channels are looked at before all are.
const glance = 16

// comparisons bounds the products that the matching of one element makes.
const comparisons = 1 << 26

// mostMatched bounds the channels that are matched with each other: beyond it a value is a flattened map and no stack
// of fields, and the pairs are too many to look at.
const mostMatched = 2048

// permuted looks for a permutation of the channels of a candidate of one part; ok is false if there is none but the
// identity.
func (f *Frame) permuted(r *Rep, pairs []Pair, tol float64) (out *Rep, ok bool, err error) {
	if len(r.parts) != 1 || r.given != nil || r.parts[0].Channels < 2 || r.parts[0].Channels > mostMatched ||
		r.parts[0].Mix != nil {
		return nil, false, nil
	}
	train := slices.DeleteFunc(slices.Clone(held(pairs, 0)), func(p Pair) bool { return !r.Exact(p.G) })
	var elements []group.Element
	for _, p := range train {
		if !slices.ContainsFunc(elements,
			func(g group.Element) bool { return f.group.Dist(g, p.G) <= group.Tolerance }) &&
			f.group.Dist(p.G, f.group.Identity()) > group.Tolerance {
			elements = append(elements, p.G)
		}
	}
	if len(elements) == 0 {
		return nil, false, nil
	}
	p := r.parts[0]
	varies := r.scale(train).varies()
	m := &Mix{Elements: elements}
	signed, moved := false, false
	for _, g := range elements {
		t, ok, err := r.match(g, train, varies, tol)
		if err != nil || !ok {
			return nil, false, err
		}
		for c, from := range t.from {
			moved = moved || int(from) != c
			signed = signed || t.sign[c] < 0
		}
		m.From, m.Sign = append(m.From, t.from), append(m.Sign, t.sign)
	}
	f.invert(m)
	if !moved && !signed || !f.homomorphism(m) {
		return nil, false, nil
	}
	if !signed {
		m.Sign = nil
	}
	p.Mix = m
	out, err = f.Layout(r.shape, p)
	return out, err == nil, err
}

// invert adds the inverses of the elements that are not listed.
func (f *Frame) invert(m *Mix) {
	for i := range len(m.Elements) {
		g := f.group.Inv(m.Elements[i])
		if f.mix(m, g) != -2 {
			continue
		}
		n := len(m.From[i])
		from, sign := make([]int32, n), make([]int8, n)
		for c, s := range m.From[i] {
			from[s], sign[s] = int32(c), m.Sign[i][c]
		}
		m.Elements, m.From, m.Sign = append(m.Elements, g), append(m.From, from), append(m.Sign, sign)
	}
}

// homomorphism tells whether ρ(g)ρ(h) = ρ(gh) for all products within the list, the identity counted in.
func (f *Frame) homomorphism(m *Mix) bool {
	n := len(m.From[0])
	for i, g := range m.Elements {
		for j, h := range m.Elements {
			k := f.mix(m, f.group.Mul(g, h))
			if k == -2 {
				continue
			}
			for c := range n {
				// (ρ(g)ρ(h)x)[c] = s_g[c]·(ρ(h)x)[from_g[c]]
				via := m.From[i][c]
				from, sign := m.From[j][via], m.Sign[i][c]*m.Sign[j][via]
				if k == -1 && (int(from) != c || sign < 0) || k >= 0 && (m.From[k][c] != from || m.Sign[k][c] != sign) {
					return false
				}
			}
		}
	}
	return true
}

// assignment is a signed permutation.
type assignment struct {
	from []int32
	sign []int8
}

// match assigns to each channel of y the channel of ρ(g)x that is nearest to it, or to its negative. Channels within
// the tolerance are assigned first, those that are equal in their order; the rest, broken ones, go to what is left,
// nearest first. ok is false if too few are within the tolerance.
func (r *Rep) match(g group.Element, pairs []Pair, varies []bool, tol float64) (out assignment, ok bool, err error) {
	p := &r.parts[0]
	n, places := p.Channels, p.places()
	var xs, ys [][]float64
	for _, q := range pairs {
		if r.frame.group.Dist(q.G, g) > group.Tolerance {
			continue
		}
		z, err := r.Apply(g, q.X)
		if err != nil {
			return out, false, err
		}
		xs, ys = append(xs, p.gather(z)), append(ys, p.gather(q.Y))
	}
	// A channel is known by a few hundred numbers, spread over its places and over all samples.
	per := min(places, max(1, comparisons/(n*n*len(xs))), 512)
	from, to := make([]float64, 0, n*per*len(xs)), make([]float64, 0, n*per*len(xs))
	for c := range n {
		for k := range xs {
			for i := range per {
				at := c*places + i*places/per
				from, to = append(from, xs[k][at]), append(to, ys[k][at])
			}
		}
	}
	width := per * len(xs)
	size := make([]float64, n)
	for c := range n {
		var mean float64
		row := to[c*width : (c+1)*width]
		for _, v := range row {
			mean += v / float64(width)
		}
		for _, v := range row {
			size[c] += float64((v - mean) * (v - mean))
		}
	}
	type choice struct {
		from int32
		sign int8
		d    float64
	}
	var live []int
	for c := range n {
		if varies[c] {
			live = append(live, c)
		}
	}
	used, done := make([]bool, n), make([]bool, n)
	a := assignment{from: identity(n), sign: slices.Repeat([]int8{1}, n)}
	take := func(c int, k choice) { a.from[c], a.sign[c], used[k.from], done[c] = k.from, k.sign, true, true }
	// near are the choices for a channel, those within the tolerance or all.
	near := func(c int, all bool) []choice {
		var list []choice
		row := to[c*width : (c+1)*width]
		for _, s := range live {
			src := from[s*width : (s+1)*width]
			var plus, minus float64
			for i, v := range row {
				plus += float64((v - src[i]) * (v - src[i]))
				minus += float64((v + src[i]) * (v + src[i]))
			}
			k := choice{int32(s), 1, plus}
			if minus < plus {
				k = choice{int32(s), -1, minus}
			}
			if k.d = relative(k.d, size[c]); all || k.d <= tol {
				list = append(list, k)
			}
		}
		return list
	}
	// A few channels first: most values are not fields, and there are many channels.
	if len(live) > 4*glance {
		hits := 0
		for i := range glance {
			if len(near(live[i*len(live)/glance], false)) > 0 {
				hits++
			}
		}
		if float64(hits) < tightShare/2*glance {
			return out, false, nil
		}
	}
	var rest [][]choice
	var open []int
	for _, c := range live {
		within := slices.DeleteFunc(near(c, false), func(k choice) bool { return used[k.from] })
		if len(within) == 0 {
			open = append(open, c)
			continue
		}
		if tol >= 0.1 { // a loose tolerance admits several: the nearest is meant
			slices.SortStableFunc(within, func(a, b choice) int { return cmp.Compare(a.d, b.d) })
		}
		if i := slices.IndexFunc(within,
			func(k choice) bool { return int(k.from) == c && k.sign > 0 && k.d <= float64(1.5*within[0].d)+1e-9 }); i >=
			0 {
			take(c, within[i])
			continue
		}
		take(c, within[0])
	}
	if len(live) == 0 || float64(len(live)-len(open)) < tightShare*float64(len(live)) {
		return out, false, nil
	}
	for _, c := range open {
		rest = append(rest, near(c, true))
	}
	for len(open) > 0 {
		best, which := choice{d: math.Inf(1)}, -1
		for i := range open {
			for _, k := range rest[i] {
				if !used[k.from] && (which < 0 || k.d < best.d) {
					best, which = k, i
				}
			}
		}
		if which < 0 {
			return out, false, nil
		}
		best.sign = max(best.sign, 1) // a broken channel tells no sign
		take(open[which], best)
		open, rest = slices.Delete(open, which, which+1), slices.Delete(rest, which, which+1)
	}
	return a, true, nil
}
