package identify

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"nero/symmetry/group"
	"nero/symmetry/group/catalog"
)

// Pair says how two of the symmetries go together.
type Pair struct {
	A string `json:"a"`
	B string `json:"b"`
	// Commute says that the order of the two does not matter, so that they form a direct product; else their joint
	// motions are a semidirect one.
	Commute bool `json:"commute"`
	// Apart is the largest difference between a·b and b·a in the entries of their maps, over the pairs of elements that
	// were multiplied; 0 where they move different things.
	Apart float64 `json:"apart"`
}

// motion is a group whose elements are affine maps of a space.
type motion interface {
	group.Spatial
	group.Sampler
}

// moving is what a group does to the space of a sample, false if it leaves that alone.
func moving(g group.Group) (motion, bool) {
	s, ok := group.AsSpatial(g)
	if !ok {
		return nil, false
	}
	d, ok := g.(group.Sampler)
	return drawn{s, d}, ok
}

// drawn is a group whose elements can be drawn and move a space.
type drawn struct {
	group.Spatial
	from group.Sampler
}

// Sample draws an element.
func (d drawn) Sample(r *rand.Rand) group.Element { return d.from.Sample(r) }

// AnyOrder is the group of all orders of the rows of a sample, as many as it has.
const AnyOrder = "S"

// orders stands for the permutations of as many rows as a sample has: a run counts them.
type orders struct {
	group.Permuting
	group.Sampler
}

// Name is that of studies.
func (orders) Name() string { return AnyOrder }

// Chart, Identity, Mul, Inv and Dist are those of the permutations.
func (o orders) Chart() []group.Axis                  { return o.Permuting.Chart() }
func (o orders) Identity() group.Element              { return o.Permuting.Identity() }
func (o orders) Mul(g, h group.Element) group.Element { return o.Permuting.Mul(g, h) }
func (o orders) Inv(g group.Element) group.Element    { return o.Permuting.Inv(g) }
func (o orders) Dist(g, h group.Element) float64      { return o.Permuting.Dist(g, h) }

// parse reads the name of a group as studies do.
func parse(name string) (group.Group, error) {
	const rows = 3 // any number that does not commute
	s, err := catalog.Parse(fmt.Sprintf("%s(%d)", AnyOrder, rows))
	if err != nil {
		return nil, err
	}
	p, permutes := s.(group.Permuting)
	d, draws := s.(group.Sampler)
	if !permutes || !draws {
		return nil, fmt.Errorf("%s permutes no rows", s.Name())
	}
	return catalog.Parse(name, orders{p, d})
}

// tries is how many pairs of elements are multiplied.
const tries = 64

// commutator is the largest difference between the two orders of elements of two groups. Groups that move different
// things, such as places and the order of rows, commute.
func commutator(g, h group.Group, seed uint64) float64 {
	a, one := moving(g)
	b, two := moving(h)
	if !one || !two || a.Dim() != b.Dim() {
		return 0
	}
	r := rand.New(rand.NewPCG(seed, 0))
	worst := 0.0
	for range tries {
		ma, ta := a.Motion(a.Sample(r))
		mb, tb := b.Motion(b.Sample(r))
		ab, ts := follow(ma, ta, mb, tb)
		ba, us := follow(mb, tb, ma, ta)
		for i := range ab {
			worst = math.Max(worst, math.Abs(ab[i]-ba[i]))
		}
		for i := range ts {
			worst = math.Max(worst, math.Abs(ts[i]-us[i]))
		}
	}
	return worst
}

// least is what counts as a difference between two orders: far above rounding, far below any motion that is drawn.
const least = 1e-9

// follow is the map that does the second and then the first.
func follow(a, t, b, u []float64) (ab, tu []float64) {
	d := len(t)
	ab, tu = make([]float64, d*d), slices.Clone(t)
	for i := range d {
		for k := range d {
			tu[i] += float64(a[i*d+k] * u[k])
			for j := range d {
				ab[i*d+j] += float64(a[i*d+k] * b[k*d+j])
			}
		}
	}
	return ab, tu
}

// together makes one group of the symmetries that commute with all others, and leaves the rest to stand alone, because
// studies name direct products. The largest product comes first.
func together(names []string, seed uint64) (claims []string, pairs []Pair, err error) {
	groups := make([]group.Group, len(names))
	for i, n := range names {
		if groups[i], err = parse(n); err != nil {
			return nil, nil, err
		}
	}
	var joint []group.Group
	var alone []string
	in := make([]bool, len(groups))
	for i, g := range groups {
		in[i] = !colors(g)
		for j, h := range groups[:i] {
			apart := commutator(h, g, seed)
			commute := !(apart > least)
			pairs = append(pairs, Pair{names[j], names[i], commute, apart})
			in[i] = in[i] && (commute || !in[j])
		}
		if in[i] {
			joint = append(joint, g)
		} else {
			alone = append(alone, names[i])
		}
	}
	if len(joint) > 0 {
		p, err := group.Product(joint...)
		if err != nil { // factors that no product takes are claims of their own
			for _, g := range joint {
				claims = append(claims, g.Name())
			}
			return append(claims, alone...), pairs, nil
		}
		claims = append(claims, p.Name())
	}
	return append(claims, alone...), pairs, nil
}

// colors says that a group changes values and no places: such maps are clipped, and each is a claim of its own.
func colors(g group.Group) bool {
	_, ok := g.(group.Coloring)
	return ok
}

// Properties of a group.
type Properties struct {
	Group string `json:"group"`
	// Order is the number of its elements, 0 where there is no end of them or where it depends on the sample.
	Order int `json:"order,omitempty"`
	// Dimension is the number of its independent small motions.
	Dimension int `json:"dimension"`
	// Compact says that it can be averaged over, Abelian that the order of two elements does not matter, Connected that
	// small motions lead to every element.
	Compact   bool `json:"compact"`
	Abelian   bool `json:"abelian"`
	Connected bool `json:"connected"`
}

// properties are read from the group and, for commutation, from drawn elements.
func properties(name string, seed uint64) (Properties, error) {
	g, err := parse(name)
	if err != nil {
		return Properties{}, err
	}
	p := Properties{Group: name, Compact: true, Abelian: true, Connected: true}
	parts := []group.Group{g}
	if f, ok := g.(group.Factored); ok {
		parts = f.Factors()
	}
	order := 1
	for _, f := range parts {
		_, permuting := f.(group.Permuting)
		finite, listed := f.(group.Finite)
		switch {
		case permuting: // as many as the sample has rows
			order = 0
			p.Connected, p.Abelian = false, false
			continue
		case listed:
			n := len(finite.Elements())
			order *= n
			p.Connected = p.Connected && n == 1
		default:
			order = 0
			if l, ok := f.(group.Lie); ok {
				p.Dimension += len(l.Generators())
			} else {
				p.Connected = false
			}
			for _, a := range f.Chart() {
				p.Compact = p.Compact && !math.IsInf(a.Min, 0) && !math.IsInf(a.Max, 0) && a.Kind != group.KindScale
				p.Connected = p.Connected && a.Kind != group.KindMirror && a.Kind != group.KindInversion &&
					a.Kind != group.KindReversal
			}
		}
		p.Abelian = p.Abelian && abelian(f, seed)
	}
	p.Order = order
	return p, nil
}

// abelian multiplies drawn elements in both orders.
func abelian(g group.Group, seed uint64) bool {
	s, ok := g.(group.Sampler)
	if !ok {
		return false
	}
	r := rand.New(rand.NewPCG(seed, 1))
	for range tries {
		a, b := s.Sample(r), s.Sample(r)
		if !(g.Dist(g.Mul(a, b), g.Mul(b, a)) < 1e-6) {
			return false
		}
	}
	return true
}
