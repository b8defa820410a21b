package action_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"nero/data/space"
	"nero/symmetry/action"
	"nero/symmetry/action/actiontest"
	"nero/symmetry/group"
	"nero/symmetry/group/catalog"
)

// try is one kind of value that a group of the catalog may act on.
type try struct {
	name     string
	spec     space.Spec
	value    space.Value
	o        action.Options
	floor    float64
	distance func(a, b space.Value) float64
}

// tries are values for a group: of its dimension, its number of rows, its period.
func tries(g group.Group) []try {
	d, n, turn, side := 3, 6, 0, 5
	channels, shifts := 3, false
	factors := []group.Group{g}
	if f, ok := g.(group.Factored); ok {
		factors = f.Factors()
	}
	height, width := side, side
	for _, f := range factors {
		if p, ok := f.(group.Permuting); ok {
			n = p.Rows()
		}
		if s, ok := f.(group.Shifting); ok {
			turn, shifts = s.Turn(), true
		}
		if s, ok := group.AsSpatial(f); ok && f.Name() != catalog.Time().Name() {
			d = s.Dim()
		}
		if c, ok := f.(group.Coloring); ok && c.Channels() > 0 {
			channels = c.Channels()
		}
		if t, ok := f.(group.Torus); ok {
			height, width = t.Period()
		}
		if f, ok := f.(group.Flowing); ok {
			if s, ok := group.AsSpatial(f.Inner()); ok {
				d = s.Dim()
			}
		}
	}
	var all []try
	for _, c := range []struct {
		typ string
		w   int
	}{
		{space.TypePositions, d},
		{space.TypeVectors, 2 * d},
		{action.TypeVelocities, d},
		{space.TypeTensors, d * d},
		{space.TypePoses, d * d},
		{space.TypePseudovectors, 3},
		{space.TypePseudoscalars, 2},
		{"2x0e+1o+2e+1e+0o+3o", 2 + 3 + 5 + 3 + 1 + 7},
	} {
		all = append(all, try{
			"rows of " + c.typ, rowsSpec(c.typ, "", -1, c.w), rows(3, n, c.w),
			action.Options{},
			1e-7,
			nil,
		})
	}
	all = append(
		all,
		try{
			"quaternions", rowsSpec(space.TypeQuaternions, "", -1, 4), rows(3, n, 4),
			action.Options{},
			1e-9,
			func(a, b space.Value) float64 {
				return min(actiontest.Distance(a, b), actiontest.Distance(negative(a), b))
			},
		},
		try{"boxes of space", rowsSpec(space.TypeBoxes, "", -1, 7), rows(3, n, 7), action.Options{}, 1e-9, yaws},
		try{
			"edges",
			space.Spec{Name: "edges", Kind: space.KindLinks},
			&space.Links{Nodes: n, From: []int32{0, int32(n - 1), 0}, To: []int32{int32(n - 1), 0, 0}},
			action.Options{},
			0, nil,
		},
		try{
			"pairs",
			space.Spec{Name: "pairs", Kind: space.KindPairs, Type: space.TypeVectors},
			&space.Pairs{N: n, W: d, Val: noise(5, n*n*d)},
			action.Options{},
			1e-7, nil,
		},
		try{
			"record",
			space.Spec{Name: "sample", Kind: space.KindRecord, Fields: []space.Spec{
				{Name: "places", Kind: space.KindRows, Type: space.TypePositions},
				{Name: "energy", Kind: space.KindRows, Type: space.TypeUnchanged, Per: space.PerSample},
			}},
			&space.Record{Names: []string{"places", "energy"}, Values: []space.Value{rows(1, n, d), rows(2, 1, 1)}},
			action.Options{},
			1e-7, nil,
		},
	)
	// Content in the middle stays within, whatever the window of the group.
	long := 160
	if turn > 0 {
		long = turn
	}
	for _, typ := range []string{"", action.TypeVelocities} {
		x := space.NewSignal(d, long, 0)
		for i := range x.Val {
			if k := i % long; turn > 0 || k >= 70 && k < 90 {
				x.Val[i] = float64(1 + i*i%23)
			}
		}
		all = append(all, try{"signal of type " + typ, space.Spec{
			Name: "signal", Kind: space.KindSignal, Type: typ,
			Shape: []int{d, long},
		}, x, action.Options{}, 0, nil})
		if typ != "" && !shifts {
			all[len(all)-1].floor = 1e-7 // between samples kernels do not compose
		}
	}
	around := action.Options{Border: action.Circular}
	film := frames(4, channels, height, width)
	if turn > 0 {
		film = frames(turn, channels, height, width)
	}
	for _, m := range film.Images {
		for i, v := range m.Pix {
			m.Pix[i] = 120 + 20*v
		}
	}
	all = append(
		all,
		try{
			"image",
			space.Spec{Name: "image", Kind: space.KindImage, Shape: []int{channels, height, width}},
			film.Images[0], around, 0, nil,
		},
		try{"frames", framesSpec(len(film.Images), channels, height, width), film, around, 0, nil},
		try{
			"mask",
			space.Spec{Name: "mask", Kind: space.KindMask, Shape: []int{height, width}},
			&space.Mask{H: height, W: width, Label: labels(height * width)}, around, 0, nil,
		},
	)
	return all
}

// yaws is the largest difference of boxes of space, whose yaws differ by whole turns.
func yaws(p, q space.Value) float64 {
	v, ok := p.(*space.Rows)
	w, also := q.(*space.Rows)
	if !ok || !also || len(v.Val) != len(w.Val) {
		return math.NaN()
	}
	var d, size float64
	for i := range v.Val {
		e := v.Val[i] - w.Val[i]
		if i%7 == 6 {
			e = math.Remainder(e, 2*math.Pi)
		}
		d, size = max(d, math.Abs(e)), max(size, math.Abs(w.Val[i]))
	}
	return d / max(size, 1)
}

// TestCatalog tries the laws of the actions of every group in the table that users see on every kind that the rules
// cover: identity, inverses, products.
func TestCatalog(t *testing.T) {
	covered := map[string]bool{}
	names := []string{
		"S(6) x E(3)", "T(1,Z) x SO(3)", "C4 x Hue", "Flow(shift x) x Brightness", "S(4) x Og(3) x Time",
		"Roll(4) x C4", "Channels(3) x T(2,Z) x Time",
	}
	for _, entry := range catalog.List() {
		names = append(names, entry.Example)
	}
	for _, name := range names {
		g, err := catalog.Parse(name)
		if err != nil {
			t.Fatal(err)
		}
		acts, elements := 0, someOf(g)
		for _, c := range tries(g) {
			a, err := action.Rules().For(g, c.spec, c.o)
			if err != nil {
				if !errors.Is(err, errors.ErrUnsupported) {
					t.Errorf("%s on %s: %v", g.Name(), c.name, err)
				}
				continue
			}
			acts++
			covered[c.name] = true
			kit := actiontest.Case{Action: a, Value: c.value, Elements: elements, Floor: c.floor, Distance: c.distance}
			if _, still := a.(action.Trivial); still {
				continue
			}
			if err := actiontest.Laws(kit); err != nil {
				t.Errorf("%s on %s: %v", g.Name(), c.name, err)
			}
		}
		if acts == 0 && len(g.Chart()) > 0 {
			t.Errorf("%s acts on nothing", g.Name())
		}
	}
	for _, c := range tries(catalog.SO3()) {
		if !covered[c.name] {
			t.Errorf("no group of the catalog acts on %s", c.name)
		}
	}
}

// someOf are a few elements in general position, and a few that are special.
func someOf(g group.Group) []group.Element {
	r := rand.New(rand.NewPCG(5, 5))
	more := 1
	if testing.Short() {
		more = 0
	}
	var out []group.Element
	if s, ok := g.(group.Sampler); ok {
		for range 1 + more {
			out = append(out, s.Sample(r))
		}
	}
	if all, err := group.Lattice(g, nil); err == nil && len(all) > 0 {
		for range 1 + more {
			out = append(out, all[r.IntN(len(all))])
		}
	}
	return slices.CompactFunc(out, func(a, b group.Element) bool { return slices.Equal(a, b) })
}

// TestCatalogMoves holds the action on positions against the group's own map, for every group of space in the catalog.
func TestCatalogMoves(t *testing.T) {
	n := 0
	for _, entry := range catalog.List() {
		g, err := catalog.Parse(entry.Example)
		if err != nil {
			t.Fatal(err)
		}
		s, ok := group.AsSpatial(g)
		if !ok {
			continue
		}
		d := s.Dim()
		a, err := action.NewRows(g, rowsSpec(space.TypePositions, space.PerSample, 1, d), action.Options{})
		if err != nil {
			if !errors.Is(err, errors.ErrUnsupported) {
				t.Error(err)
			}
			continue
		}
		n++
		x := rows(6, 1, d)
		for _, e := range someOf(g) {
			v, err := a.Apply(e, x)
			if err != nil {
				t.Fatal(err)
			}
			m, u := s.Motion(e)
			for i := range d {
				want := u[i]
				for j := range d {
					want += m[i*d+j] * x.Val[j]
				}
				if got := asA[*space.Rows](t, v).Val[i]; !(math.Abs(got-want) <= 1e-12*math.Max(1, math.Abs(want))) {
					t.Errorf("%s, element %v: coordinate %d is %g, its map says %g", g.Name(), e, i, got, want)
				}
			}
		}
	}
	if n < 10 {
		t.Errorf("only %d groups of space in the catalog", n)
	}
}
