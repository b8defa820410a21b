package finite

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
)

// result puts together what was found.
func (s *search) result(why string) *Result {
	d := len(s.items)
	r := &Result{
		Items: d, Signs: s.o.Signs, Outputs: s.o.Outputs, AtLeast: why != "", Why: why, Evaluations: s.evaluations,
		Tested: s.tested, Limit: s.o.Limit, Generators: []Element{}, Orbits: [][]int{}, Ignored: []int{},
	}
	for i, gone := range s.ignored {
		if gone {
			r.Ignored = append(r.Ignored, i+1)
		}
	}
	r.Generators = append(r.Generators, s.found...)
	if d > searched {
		s.plain(r)
		return r
	}
	g := group{d: d}
	for _, e := range s.found {
		g.generators = append(g.generators, signedPoints(e.Images))
	}
	g.chain = generated(2*d, g.generators)
	g.order = g.chain.order()
	r.Order = g.order.String()
	for _, o := range g.orbits() {
		if len(o) > 1 {
			var items []int
			for _, i := range o {
				items = append(items, i+1)
			}
			r.Orbits = append(r.Orbits, items)
		}
	}
	r.Name = g.name()
	return r
}

// plain names what exchanges and flips alone generate: of each class all permutations, and flips of all of it or of
// none.
func (s *search) plain(r *Result) {
	sizes, flips := map[int]int{}, map[int]bool{}
	var names []string
	order := big.NewInt(1)
	long := ""
	for i, c := range s.class {
		sizes[c]++
		flips[c] = s.flips[i]
	}
	for c := range s.class {
		n := sizes[c]
		if n < 2 && !flips[c] {
			continue
		}
		name := fmt.Sprintf("S%d", n)
		if n > 1 {
			var items []int
			for i, of := range s.class {
				if of == c {
					items = append(items, i+1)
				}
			}
			r.Orbits = append(r.Orbits, items)
		}
		if flips[c] {
			name = fmt.Sprintf("S2 wr S%d", n)
			if n == 1 {
				name = "sign"
			}
			order.Lsh(order, uint(n))
		}
		if n > flipped {
			long = fmt.Sprintf("%d!", n)
		} else {
			order.Mul(order, factorial(n))
		}
		names = append(names, name)
	}
	r.Order = order.String()
	if long != "" {
		r.Order = long
		if flips[0] {
			r.Order = fmt.Sprintf("2^%d * %s", sizes[0], long)
		}
	}
	r.Name = joined(names)
}

// signedPoints is a map of d items as a permutation of 2d points: those with their sign, and those with the other.
func signedPoints(images []int) perm {
	d := len(images)
	p := make(perm, 2*d)
	for i, to := range images {
		at, other := to-1, to-1+d
		if to < 0 {
			at, other = -to-1+d, -to-1
		}
		p[i], p[i+d] = at, other
	}
	return p
}

// listed is the largest order of a group that is named by all of its elements.
const listed = 5000

// group is one of signed permutations of d items.
type group struct {
	d          int
	generators []perm
	chain      *stabilisers
	order      *big.Int
}

// orbits are the items that go to each other, whatever their sign.
func (g *group) orbits() [][]int {
	var out [][]int
	seen := make([]bool, g.d)
	for i := range g.d {
		if seen[i] {
			continue
		}
		orbit := []int{i}
		seen[i] = true
		for k := 0; k < len(orbit); k++ {
			for _, p := range g.generators {
				if j := p[orbit[k]] % g.d; !seen[j] {
					seen[j] = true
					orbit = append(orbit, j)
				}
			}
		}
		slices.Sort(orbit)
		out = append(out, orbit)
	}
	return out
}

// moving are the items that do not stay where they are.
func (g *group) moving() []int {
	var out []int
	for i := range g.d {
		if slices.ContainsFunc(g.generators, func(p perm) bool { return p[i] != i }) {
			out = append(out, i)
		}
	}
	return out
}

// on is the group as it acts on some items.
func (g *group) on(items []int) *group {
	place := map[int]int{}
	for k, i := range items {
		place[i] = k
	}
	out := &group{d: len(items)}
	for _, p := range g.generators {
		q := make(perm, 2*out.d)
		for k, i := range items {
			to := p[i]
			at := place[to%g.d]
			q[k], q[k+out.d] = at, at+out.d
			if to >= g.d {
				q[k], q[k+out.d] = at+out.d, at
			}
		}
		if !q.trivial() {
			out.generators = append(out.generators, q)
		}
	}
	if slices.Equal(items, g.moving()) { // all there is
		out.order = g.order
		if len(items) == g.d {
			out.chain = g.chain
		}
	}
	if out.order == nil || out.chain == nil && out.order.IsInt64() && out.order.Int64() <= listed {
		out.chain = generated(2*out.d, out.generators)
		out.order = out.chain.order()
	}
	return out
}

// name is that of the product of what the group does on each orbit, where it is one, or else of the whole.
func (g *group) name() string {
	order := g.order
	if order.IsInt64() && order.Int64() == 1 {
		return "none"
	}
	product := big.NewInt(1)
	var names []string
	for _, o := range g.orbits() {
		part := g.on(o)
		if n := part.order; n.Cmp(big.NewInt(1)) > 0 {
			product.Mul(product, n)
			names = append(names, part.factor())
		}
	}
	if product.Cmp(order) != 0 {
		return g.factor()
	}
	return joined(names)
}

// joined is the product of groups by their names, and counts those that are there many times.
func joined(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	slices.Sort(names)
	var out []string
	for i := 0; i < len(names); {
		k := i
		for k < len(names) && names[k] == names[i] {
			k++
		}
		if k-i > 3 {
			out = append(out, fmt.Sprintf("%s^%d", names[i], k-i))
		} else {
			out = append(out, names[i:k]...)
		}
		i = k
	}
	return strings.Join(out, " x ")
}

func factorial(n int) *big.Int { return new(big.Int).MulRange(1, int64(n)) }

// factor names a group that is no product of those on its orbits.
func (g *group) factor() string {
	order := g.order
	signed := slices.ContainsFunc(g.generators, func(p perm) bool {
		return slices.ContainsFunc(p[:g.d], func(to int) bool { return to >= g.d })
	})
	power := func(base *big.Int, n int) *big.Int { return new(big.Int).Exp(base, big.NewInt(int64(n)), nil) }
	whole := factorial(g.d)
	one := len(g.orbits()) == 1
	switch {
	case !signed && one && order.Cmp(whole) == 0:
		return fmt.Sprintf("S%d", g.d)
	case signed && g.d == 1:
		return "sign"
	case signed && one && order.Cmp(new(big.Int).Mul(power(big.NewInt(2), g.d), whole)) == 0:
		return fmt.Sprintf("S2 wr S%d: all signed permutations", g.d)
	}
	if !signed && one {
		for b := 2; b < g.d; b++ {
			if a := g.d / b; g.d%b == 0 && a > 1 {
				n := new(big.Int).Mul(power(factorial(a), b), factorial(b))
				if order.Cmp(n) == 0 && g.blocks(a) {
					return fmt.Sprintf("S%d wr S%d", a, b)
				}
			}
		}
		if g.d > 3 && new(big.Int).Lsh(order, 1).Cmp(whole) == 0 {
			return fmt.Sprintf("A%d", g.d)
		}
	}
	if g.chain != nil {
		if all := g.chain.elements(listed); all != nil {
			if name := small(all); name != "" {
				return name
			}
		}
	}
	return "a group of order " + order.String()
}

// blocks tells whether the items fall into blocks of a size that the group moves as a whole.
func (g *group) blocks(size int) bool {
	for j := 1; j < g.d; j++ {
		// The smallest blocks in which item 0 and j are together.
		of := make([]int, g.d)
		for i := range of {
			of[i] = i
		}
		var root func(i int) int
		root = func(i int) int {
			if of[i] != i {
				of[i] = root(of[i])
			}
			return of[i]
		}
		of[j] = 0
		for changed := true; changed; {
			changed = false
			for _, p := range g.generators {
				for i := range g.d {
					// Items of one block go to one block.
					a, b := root(p[i]%g.d), root(p[root(i)]%g.d)
					if a != b {
						of[max(a, b)] = min(a, b)
						changed = true
					}
				}
			}
		}
		count := 0
		for i := range g.d {
			if root(i) == root(0) {
				count++
			}
		}
		if count == size {
			return true
		}
	}
	return false
}

// small names a group by its elements: cyclic, dihedral, or of flips alone.
func small(all []perm) string {
	n := len(all)
	orders := make([]int, n)
	top := 0
	for i, p := range all {
		orders[i] = 1
		for q := p; !q.trivial(); q = q.then(p) {
			orders[i]++
		}
		top = max(top, orders[i])
	}
	switch {
	case top == n:
		return fmt.Sprintf("C%d", n)
	case top == 2: // every element is its own inverse, so all commute
		k := 0
		for 1<<k < n {
			k++
		}
		return fmt.Sprintf("C2^%d", k)
	case 2*top == n:
		turn := all[slices.Index(orders, top)]
		powers := map[string]bool{}
		for k, q := 0, identity(len(turn)); k < top; k, q = k+1, q.then(turn) {
			powers[fmt.Sprint(q)] = true
		}
		for i, p := range all {
			if !powers[fmt.Sprint(p)] && orders[i] != 2 {
				return ""
			}
		}
		return fmt.Sprintf("D%d", top)
	}
	return ""
}
