package convention

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"nero/audit"
	"nero/data/space"
	"nero/symmetry/action"
	"nero/symmetry/group"
)

// mostChannels bounds the outputs whose channels are matched, mostWork the numbers that are compared for it.
const (
	mostChannels = 128
	mostWork     = 200_000_000
)

// trained is how many of the picked samples channels and centres are inferred from.
func (s *search) trained() int { return max(2, len(s.pick)/3) }

// signedPermutation says where channels come from: number k of the moved output is sign[k] times number from[k] of the
// unmoved one.
type signedPermutation struct {
	from []int
	sign []float64
}

// after is p∘q as matrices: q acts first.
func (p signedPermutation) after(q signedPermutation) signedPermutation {
	o := signedPermutation{make([]int, len(p.from)), make([]float64, len(p.from))}
	for k, f := range p.from {
		o.from[k], o.sign[k] = q.from[f], p.sign[k]*q.sign[f]
	}
	return o
}

func (p signedPermutation) equal(q signedPermutation) bool {
	return slices.Equal(p.from, q.from) && slices.Equal(p.sign, q.sign)
}

func identity(n int) signedPermutation {
	p := signedPermutation{make([]int, n), make([]float64, n)}
	for k := range n {
		p.from[k], p.sign[k] = k, 1
	}
	return p
}

// planes is an output as channels of equal size; ok is false for outputs that have none.
func planes(v space.Value) (x []float64, channels int, ok bool) {
	switch v := v.(type) {
	case *space.Scores:
		return v.Val, len(v.Val), len(v.Val) > 1
	case *space.Tensor:
		if len(v.Shape) > 0 && v.Shape[0] > 1 && (len(v.Shape) == 1 || len(v.Shape) == 3) {
			return v.Val, v.Shape[0], true
		}
	}
	return nil, 0, false
}

// infer finds out where the channels of the output go at each element, from a part of the inputs: it takes for every
// channel of the moved output, its places brought back, the channel of the unmoved one that it equals up to its sign.
// Nil if there is no such permutation, if it does not compose as the elements do, or if it is the declared one.
func (s *search) infer(ctx context.Context) (*variant, error) {
	x, n, ok := planes(s.y0)
	if !ok || n > mostChannels || n*len(x)*len(s.use)*s.trained() > mostWork || len(s.pick) <= s.trained() {
		return nil, nil
	}
	back := s.places()
	moved := make([][]space.Value, len(s.use))
	var base []space.Value
	if err := s.collect(ctx, s.pick[:s.trained()], back, &base, moved); err != nil || base == nil {
		return nil, err
	}
	s.compared = true
	perms := map[int]signedPermutation{}
	still := true
	for k, j := range s.use {
		p, ok := match(moved[k], base, n)
		if !ok {
			return nil, nil
		}
		perms[j] = p
		still = still && p.equal(identity(n))
	}
	if still || !s.composes(perms) {
		return nil, nil
	}
	declared, known := s.declared(n)
	if known && slices.IndexFunc(s.use, func(j int) bool { return !perms[j].equal(declared[j]) }) < 0 {
		return nil, nil
	}
	name, declare := s.describe(perms, declared, n)
	return &variant{name: name, declare: declare, learned: true, back: func(j int, v space.Value) (space.Value, error) {
		z, err := back(j, v)
		if err != nil {
			return nil, err
		}
		return unpermuted(perms[j], z)
	}}, nil
}

// places brings the places of an output back and leaves its channels: as declared where that is an action on a grid.
func (s *search) places() motion {
	out := s.p.Subject.Plan.Out
	planar, ok := s.p.Subject.Plan.Group.(group.Planar)
	o, grid := action.OptionsOf(out)
	if !ok || !grid {
		return unmoved
	}
	a := gridAction(planar, s.y0, o, action.Identical())
	if a == nil {
		return unmoved
	}
	b := &builder{s: s}
	return moving(a, b.at(same, true))
}

// collect predicts samples unmoved and moved, places brought back. Base is nil if an output is not finite.
func (s *search) collect(ctx context.Context, pick []int, back motion, base *[]space.Value,
	moved [][]space.Value,
) error {
	p := s.p
	in := moving(p.Subject.Plan.In, func(j int) group.Element { return p.Elements[j].G })
	for _, i := range pick {
		one, err := p.Sample(i)
		if err != nil {
			return err
		}
		x, err := p.Subject.Plan.In.Apply(p.Subject.Plan.Group.Identity(), one.Value)
		if err != nil {
			return fmt.Errorf("sample %s: %w", one.ID, err)
		}
		var y space.Value
		stream := func(yield func(audit.Request, error) bool) {
			if !yield(audit.Request{Element: -1, Input: x}, nil) {
				return
			}
			for k, j := range s.use {
				gx, err := in(j, one.Value)
				if err != nil {
					yield(audit.Request{}, fmt.Errorf("sample %s at %s: %w", one.ID, p.Elements[j].Label, err))
					return
				}
				if !yield(audit.Request{Element: k, Input: gx}, nil) {
					return
				}
			}
		}
		bad := false
		err = p.Predict(ctx, stream, func(q audit.Request, v space.Value) error {
			ok := space.Finite(v)
			bad = bad || !ok
			if q.Element < 0 {
				y = v
				return nil
			}
			z, err := back(s.use[q.Element], v)
			if err != nil {
				return err
			}
			moved[q.Element] = append(moved[q.Element], z)
			return nil
		})
		if err != nil {
			return err
		}
		if bad {
			*base = nil
			return nil
		}
		*base = append(*base, y)
	}
	return nil
}

// near is how much of a channel's size the difference to its image may be.
const near = 0.05

// match finds for every channel of moved outputs the channel of the unmoved ones that it equals up to its sign. Each
// may be taken once; a channel that stays where it is goes before an equal one elsewhere.
func match(moved, base []space.Value, n int) (signedPermutation, bool) {
	p := signedPermutation{make([]int, n), make([]float64, n)}
	plus, minus := make([]float64, n*n), make([]float64, n*n) // ‖u_k ∓ b_l‖²
	size := make([]float64, n)
	total := 0.0
	for i := range moved {
		u, c, ok := planes(moved[i])
		b, d, same := planes(base[i])
		if !ok || !same || c != n || d != n || len(u) != len(b) {
			return p, false
		}
		m := len(u) / n
		for k := range n {
			for _, v := range u[k*m : (k+1)*m] {
				size[k] += float64(v * v)
				total += float64(v * v)
			}
			for l := range n {
				for q := range m {
					x, y := u[k*m+q], b[l*m+q]
					plus[k*n+l] += float64((x - y) * (x - y))
					minus[k*n+l] += float64((x + y) * (x + y))
				}
			}
		}
	}
	taken := make([]bool, n)
	for k := range n {
		best, at, sign := math.Inf(1), -1, 1.0
		for _, l := range append([]int{k}, upTo(n)...) {
			if taken[l] {
				continue
			}
			if d := plus[k*n+l]; d < best*(1-1e-6) {
				best, at, sign = d, l, 1
			}
			if d := minus[k*n+l]; d < best*(1-1e-6) {
				best, at, sign = d, l, -1
			}
		}
		if at < 0 || !(best <= near*near*max(size[k], total/float64(n)*1e-6)) {
			return p, false
		}
		p.from[k], p.sign[k], taken[at] = at, sign, true
	}
	return p, true
}

func upTo(n int) []int {
	o := make([]int, n)
	for i := range o {
		o[i] = i
	}
	return o
}

// composes reports whether the permutations multiply as the elements do, where products are among the elements.
func (s *search) composes(perms map[int]signedPermutation) bool {
	G := s.p.Subject.Plan.Group
	for _, j := range s.use {
		for _, k := range s.use {
			gh := G.Mul(s.p.Elements[j].G, s.p.Elements[k].G)
			want := signedPermutation{}
			if G.Dist(gh, G.Identity()) <= 1e-6 {
				want = identity(len(perms[j].from))
			}
			for _, l := range s.use {
				if G.Dist(gh, s.p.Elements[l].G) <= 1e-6 {
					want = perms[l]
				}
			}
			if want.from != nil && !perms[j].after(perms[k]).equal(want) {
				return false
			}
		}
	}
	return true
}

// declared are the permutations that the output action makes of the channels; false if it makes none.
func (s *search) declared(n int) (map[int]signedPermutation, bool) {
	out := s.p.Subject.Plan.Out
	perms := map[int]signedPermutation{}
	rep, ok := action.RepresentationOf(out)
	if !ok {
		_, invariant := out.(action.Trivial)
		_, grid := action.OptionsOf(out)
		for _, j := range s.use {
			perms[j] = identity(n)
		}
		return perms, invariant || grid
	}
	for _, j := range s.use {
		p, ok := permutationOf(rep, s.p.Elements[j].G, n)
		if !ok {
			return nil, false
		}
		perms[j] = p
	}
	return perms, true
}

// permutationOf reads the matrix of a representation as a signed permutation of n channels.
func permutationOf(rep action.Representation, g group.Element, n int) (signedPermutation, bool) {
	d := rep.Dim()
	m, err := rep.Matrix(g)
	if err != nil || n%d != 0 {
		return signedPermutation{}, false
	}
	p := signedPermutation{make([]int, n), make([]float64, n)}
	for k := range n {
		found := 0
		for c, v := range m[k%d*d : k%d*d+d] {
			if math.Abs(math.Abs(v)-1) <= 1e-9 {
				p.from[k], p.sign[k] = k-k%d+c, math.Round(v)
				found++
			} else if math.Abs(v) > 1e-9 {
				return p, false
			}
		}
		if found != 1 {
			return p, false
		}
	}
	return p, true
}

// unpermuted puts the channels back.
func unpermuted(p signedPermutation, v space.Value) (space.Value, error) {
	x, n, ok := planes(v)
	if !ok || n != len(p.from) {
		return nil, fmt.Errorf("%s values have no %d channels", v.Kind(), len(p.from))
	}
	m := len(x) / n
	y := make([]float64, len(x))
	for k, f := range p.from {
		for q := range m {
			y[f*m+q] = p.sign[k] * x[k*m+q]
		}
	}
	return withNumbers(v, y), nil
}

// describe gives an inferred permutation its name, the most telling that fits.
func (s *search) describe(perms, declared map[int]signedPermutation, n int) (name, declare string) {
	G := s.p.Subject.Plan.Group
	what := "channels"
	if s.y0.Kind() == space.KindScores {
		what = "scores"
	}
	match := func(want func(j int) (signedPermutation, bool)) bool {
		for _, j := range s.use {
			if w, ok := want(j); !ok || !w.equal(perms[j]) {
				return false
			}
		}
		return true
	}
	// Under mirrors only.
	if planar, ok := G.(group.Planar); ok {
		var mirrored signedPermutation
		if match(func(j int) (signedPermutation, bool) {
			if a, _ := planar.Affine(s.p.Elements[j].G); det(a) > 0 {
				return identity(n), true
			}
			if mirrored.from == nil {
				mirrored = perms[j]
			}
			return mirrored, true
		}) && mirrored.from != nil {
			return fmt.Sprintf("%s of the output change under mirrors: %s", what, mirrored.text()),
				"declare that permutation of the " + what + " under mirrors"
		}
	}
	if f, ok := G.(group.Finite); ok && n%len(f.Elements()) == 0 {
		order := len(f.Elements())
		for _, c := range []struct {
			name string
			at   func(g group.Element) group.Element
			// channel of the declared layout that channel k is
			mix func(k int) int
		}{
			{"the " + what + " move as the regular representation of the group", same, func(k int) int { return k }},
			{"the " + what + " move as the regular representation of the group, with the group's elements in reverse " +
				"order", same, func(k int) int { return k - k%order + (order-k%order)%order }},
			{
				"the " + what + " move as the regular representation of the group by the inverse element", G.Inv,
				func(k int) int { return k },
			},
			{"the " + what + " move as the regular representation of the group, element by element and not field by " +
				"field", same, func(k int) int { return k%(n/order)*order + k/(n/order) }},
		} {
			if match(func(j int) (signedPermutation, bool) {
				p, ok := permutationOf(action.Regular(f), c.at(s.p.Elements[j].G), n)
				return conjugated(p, c.mix), ok
			}) {
				return c.name, "declare the regular representation in that order of the " + what
			}
		}
	}
	// The declared one with two channels exchanged, or all in reverse.
	if declared != nil {
		if match(func(j int) (signedPermutation, bool) {
			return conjugated(declared[j], func(k int) int { return n - 1 - k }), true
		}) {
			return "the " + what + " of the output come in reverse order", "reverse the order of the " + what
		}
		for a := range n {
			for b := range a {
				if match(func(j int) (signedPermutation, bool) {
					return conjugated(declared[j], func(k int) int {
						switch k {
						case a:
							return b
						case b:
							return a
						}
						return k
					}), true
				}) {
					return fmt.Sprintf("%s %d and %d of the output are exchanged", what, b, a),
						fmt.Sprintf("exchange %s %d and %d", what, b, a)
				}
			}
		}
	}
	var parts []string
	for _, j := range s.use {
		if p := perms[j]; !p.equal(identity(n)) && len(parts) < 3 {
			parts = append(parts, fmt.Sprintf("at %s %s", s.p.Elements[j].Label, p.text()))
		}
	}
	return "the " + what + " of the output change places: " + strings.Join(parts, "; "),
		"declare that representation of the " + what
}

// conjugated is p with its channels renamed: channel k of the result is channel name(k) of p.
func conjugated(p signedPermutation, name func(k int) int) signedPermutation {
	n := len(p.from)
	if n == 0 {
		return p
	}
	inverse := make([]int, n)
	for k := range n {
		inverse[name(k)] = k
	}
	o := signedPermutation{make([]int, n), make([]float64, n)}
	for k := range n {
		o.from[k], o.sign[k] = inverse[p.from[name(k)]], p.sign[name(k)]
	}
	return o
}

// text writes which channels go where, such as "0 <-> 3, 2 changes its sign".
func (p signedPermutation) text() string {
	var parts []string
	seen := make([]bool, len(p.from))
	for k := range p.from {
		if seen[k] {
			continue
		}
		// Channel from[k] goes to k.
		cycle := []int{k}
		flips := p.sign[k] < 0
		seen[k] = true
		for l := p.from[k]; l != k; l = p.from[l] {
			cycle, seen[l] = append(cycle, l), true
			flips = flips || p.sign[l] < 0
		}
		slices.Reverse(cycle[1:]) // where the number goes, and not where it comes from
		words := make([]string, len(cycle))
		for i, c := range cycle {
			words[i] = strconv.Itoa(c)
		}
		t := ""
		switch {
		case len(cycle) == 1 && flips:
			t = words[0] + " changes its sign"
		case len(cycle) == 1:
			continue
		case len(cycle) == 2:
			t = words[0] + " <-> " + words[1]
		default:
			t = strings.Join(append(words, words[0]), " -> ")
		}
		if len(cycle) > 1 && flips {
			t += " with changes of sign"
		}
		if len(parts) == 4 {
			return strings.Join(append(parts, "..."), ", ")
		}
		parts = append(parts, t)
	}
	return strings.Join(parts, ", ")
}
