package finite

import (
	"math/big"
	"slices"
)

// perm takes point i to perm[i].
type perm []int

func identity(n int) perm {
	p := make(perm, n)
	for i := range p {
		p[i] = i
	}
	return p
}

// then is p followed by q.
func (p perm) then(q perm) perm {
	out := make(perm, len(p))
	for i, v := range p {
		out[i] = q[v]
	}
	return out
}

func (p perm) inverse() perm {
	out := make(perm, len(p))
	for i, v := range p {
		out[v] = i
	}
	return out
}

func (p perm) trivial() bool {
	for i, v := range p {
		if i != v {
			return false
		}
	}
	return true
}

// stabilisers is a chain of stabilisers with generators of each: level i is the subgroup that leaves the points below
// i,
// by the algorithm of Schreier and Sims (Sims, Computational methods in the study of permutation groups, 1970).
type stabilisers struct {
	n      int
	levels []stabiliser
}

type stabiliser struct {
	generators []perm
	// to[p] takes the point of the level to p; nil where p is not in its orbit.
	to    []perm
	orbit []int
}

func generated(n int, generators []perm) *stabilisers {
	s := &stabilisers{n: n, levels: make([]stabiliser, n)}
	for i := range s.levels {
		s.levels[i].to = make([]perm, n)
		s.levels[i].to[i], s.levels[i].orbit = identity(n), []int{i}
	}
	for _, g := range generators {
		s.extend(0, g)
	}
	return s
}

// sift divides by elements of the levels from i on, as far as it can; what is left is trivial for members.
func (s *stabilisers) sift(i int, p perm) perm {
	for ; i < s.n; i++ {
		at := p[i]
		if at == i {
			continue
		}
		to := s.levels[i].to[at]
		if to == nil {
			return p
		}
		p = p.then(to.inverse())
	}
	return p
}

// extend adds a permutation that leaves the points below i to level i.
func (s *stabilisers) extend(i int, p perm) {
	if p = s.sift(i, p); p.trivial() {
		return
	}
	l := &s.levels[i]
	l.generators = append(l.generators, p)
	// The pairs of a point of the orbit and a generator that are new: the new generator with all points, and all
	// generators with the new points.
	old := len(l.orbit)
	for k := 0; k < len(l.orbit); k++ {
		from := l.orbit[k]
		generators := l.generators
		if k < old {
			generators = generators[len(generators)-1:]
		}
		for _, g := range generators {
			image := g[from]
			path := l.to[from].then(g)
			if l.to[image] == nil {
				l.to[image] = path
				l.orbit = append(l.orbit, image)
				continue
			}
			if rest := path.then(l.to[image].inverse()); !rest.trivial() {
				s.extend(i+1, rest)
			}
		}
	}
}

func (s *stabilisers) order() *big.Int {
	order := big.NewInt(1)
	for _, l := range s.levels {
		order.Mul(order, big.NewInt(int64(len(l.orbit))))
	}
	return order
}

// elements are all of a group that has no more than some; nil for larger ones.
func (s *stabilisers) elements(most int64) []perm {
	if s.order().Cmp(big.NewInt(most)) > 0 {
		return nil
	}
	all := []perm{identity(s.n)}
	for i := range slices.Backward(s.levels) {
		l := s.levels[i]
		var next []perm
		for _, p := range all {
			for _, q := range l.orbit {
				next = append(next, p.then(l.to[q]))
			}
		}
		all = next
	}
	return all
}
