package grouptest_test

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"nero/symmetry/group"
	"nero/symmetry/group/catalog"
	"nero/symmetry/group/grouptest"
)

// plain hides every optional interface and replaces what a fault needs.
type plain struct {
	group.Group
	mul   func(g, h group.Element) group.Element
	inv   func(g group.Element) group.Element
	dist  func(g, h group.Element) float64
	id    group.Element
	chart []group.Axis
}

func (p plain) Mul(g, h group.Element) group.Element {
	if p.mul != nil {
		return p.mul(g, h)
	}
	return p.Group.Mul(g, h)
}

func (p plain) Inv(g group.Element) group.Element {
	if p.inv != nil {
		return p.inv(g)
	}
	return p.Group.Inv(g)
}

func (p plain) Dist(g, h group.Element) float64 {
	if p.dist != nil {
		return p.dist(g, h)
	}
	return p.Group.Dist(g, h)
}

func (p plain) Identity() group.Element {
	if p.id != nil {
		return p.id
	}
	return p.Group.Identity()
}

func (p plain) Chart() []group.Axis {
	if p.chart != nil {
		return p.chart
	}
	return p.Group.Chart()
}

type invariant struct{ plain }

func (invariant) Invariance() (left, right bool) { return true, true }

type planar struct {
	plain
	affine func(g group.Element) ([2][2]float64, [2]float64)
}

// reversing calls elements reversing.
type reversing struct {
	plain
	which func(g group.Element) bool
}

func (r reversing) Reverses(g group.Element) bool { return r.which(g) }

func (p planar) Affine(g group.Element) ([2][2]float64, [2]float64) { return p.affine(g) }

type finite struct {
	plain
	list []group.Element
}

func (f finite) Elements() []group.Element { return f.list }

type ordered struct {
	finite
	order int
}

func (o ordered) Order() int { return o.order }

type sampler struct {
	plain
	sample func(r *rand.Rand) group.Element
}

func (s sampler) Sample(r *rand.Rand) group.Element { return s.sample(r) }

type finiteSampler struct {
	finite
	sample func(r *rand.Rand) group.Element
}

func (s finiteSampler) Sample(r *rand.Rand) group.Element { return s.sample(r) }

type lie struct {
	plain
	gens []group.Generator
	exp  func(t []float64) group.Element
}

func (l lie) Generators() []group.Generator { return l.gens }
func (l lie) Exp(t []float64) group.Element { return l.exp(t) }

func elementsOf(t *testing.T, g group.Group) []group.Element {
	t.Helper()
	es, err := group.Enumerate(g)
	if err != nil {
		t.Fatal(err)
	}
	return es
}

type faulty struct {
	name string
	g    group.Group
	// that must catch it
	law string
}

func faults(t *testing.T) []faulty {
	t.Helper()
	parse := func(s string) group.Group {
		g, err := catalog.Parse(s)
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	so2, o2, se2, c4, d4, t2 := catalog.SO2(), catalog.O2(), catalog.SE2(), parse("C4"), parse("D4"), catalog.T2()
	affineOf := func(g group.Group) func(group.Element) ([2][2]float64, [2]float64) {
		p, ok := g.(group.Planar)
		if !ok {
			t.Fatalf("%s is not planar", g.Name())
		}
		return p.Affine
	}
	circle := func(a, b float64) float64 {
		d := math.Abs(a - b)
		return math.Min(d, 360-d)
	}
	shared := group.Element{0}
	sharedChart := so2.Chart()
	count := 0
	rot := []group.Generator{{Name: "rotation", Unit: "rad"}}
	se2Lie, ok := se2.(group.Lie)
	if !ok {
		t.Fatal("SE(2) is no Lie group")
	}
	return []faulty{
		{"no reduction", plain{
			Group: so2,
			mul:   func(g, h group.Element) group.Element { return group.Element{g[0] + h[0]} },
		}, "closure"},
		{"NaN", plain{Group: so2, mul: func(g, h group.Element) group.Element {
			if g[0] > 180 && h[0] > 180 {
				return group.Element{math.NaN()}
			}
			return so2.Mul(g, h)
		}}, "closure"},
		{
			"too many coordinates",
			plain{Group: so2, inv: func(g group.Element) group.Element { return append(so2.Inv(g), 0) }},
			"closure",
		},
		{"wrong identity", plain{Group: so2, id: group.Element{5}}, "identity"},
		{
			"no inverse",
			plain{Group: so2, inv: func(g group.Element) group.Element { return group.Element{g[0]} }},
			"inverse",
		},
		{"one-sided inverse", plain{Group: se2, inv: func(g group.Element) group.Element {
			i := se2.Inv(g)
			return group.Element{i[0], -g[1], -g[2]}
		}}, "inverse"},
		{"not associative", plain{Group: so2, mul: func(g, h group.Element) group.Element {
			bump := math.Sin(g[0]*math.Pi/180) * math.Sin(h[0]*math.Pi/180) * math.Sin((g[0]+h[0])*math.Pi/180)
			return so2.Mul(so2.Mul(g, h), group.Element{bump})
		}}, "associativity"},
		{
			"mirror ignored by the distance",
			plain{Group: o2, dist: func(g, h group.Element) float64 { return circle(g[0], h[0]) }},
			"metric",
		},
		{
			"squared distance",
			plain{Group: t2, dist: func(g, h group.Element) float64 { d := t2.Dist(g, h); return d * d }},
			"metric",
		},
		{
			"one-sided distance",
			plain{Group: t2, dist: func(g, h group.Element) float64 {
				return math.Abs(g[0]-h[0]) +
					math.Max(0, g[1]-h[1])
			}},
			"metric",
		},
		{"distance NaN", plain{
			Group: t2,
			dist:  func(g, h group.Element) float64 { return math.Sqrt(h[0]-g[0]) * t2.Dist(g, h) },
		}, "metric"},
		{
			"distance without period",
			invariant{plain{Group: so2, dist: func(g, h group.Element) float64 { return math.Abs(g[0] - h[0]) }}},
			"inverse|identity|associativity|invariance",
		},
		{"SE(2) is not right-invariant", invariant{plain{Group: se2}}, "invariance"},
		{"shared identity", plain{Group: so2, id: shared}, "purity"},
		{"shared chart", plain{Group: so2, chart: sharedChart}, "purity"},
		{"argument changed", plain{Group: so2, mul: func(g, h group.Element) group.Element {
			p := so2.Mul(g, h)
			g[0] = p[0]
			return p
		}}, "associativity|purity|identity"},
		{
			"inverse shares memory",
			plain{Group: parse("D1"), inv: func(g group.Element) group.Element { return g }},
			"purity",
		},
		{
			"mirror without turning back",
			planar{
				plain{Group: o2, mul: func(g, h group.Element) group.Element {
					return group.Element{so2.Mul(g[:1], h[:1])[0], math.Abs(g[1] - h[1])}
				}, inv: func(g group.Element) group.Element { return group.Element{so2.Inv(g[:1])[0], g[1]} }},
				affineOf(o2),
			},
			"planar",
		},
		{
			"time reversed by mirrors, then by turns",
			reversing{plain{Group: o2}, func(g group.Element) bool { return g[1] == 1 || g[0] >= 180 }},
			"temporal",
		},
		{"shift before the turn", planar{plain{Group: se2}, func(g group.Element) ([2][2]float64, [2]float64) {
			a, t := affineOf(se2)(g)
			return a, [2]float64{a[0][0]*t[0] + a[0][1]*t[1], a[1][0]*t[0] + a[1][1]*t[1]}
		}}, "planar"},
		{"rounded quarter turn", planar{plain{Group: so2}, func(g group.Element) ([2][2]float64, [2]float64) {
			s, c := math.Sincos(g[0] * math.Pi / 180)
			return [2][2]float64{{c, s}, {-s, c}}, [2]float64{}
		}}, "planar"},
		{"identity listed late", finite{plain{Group: c4}, []group.Element{{90}, {0}, {180}, {270}}}, "finite"},
		{"element listed twice", finite{plain{Group: c4}, []group.Element{{0}, {90}, {90}, {180}, {270}}}, "finite"},
		{"element missing", finite{plain{Group: c4}, []group.Element{{0}, {90}, {180}}}, "finite"},
		{"empty list", finite{plain{Group: c4}, nil}, "finite"},
		{"wrong order", ordered{finite{plain{Group: c4}, elementsOf(t, c4)}, 5}, "finite"},
		{
			"angles near zero are likelier",
			sampler{
				plain{Group: so2},
				func(r *rand.Rand) group.Element { x := r.Float64(); return group.Element{360 * x * math.Sqrt(x)} },
			},
			"sampler",
		},
		{"half the circle", sampler{
			plain{Group: so2},
			func(r *rand.Rand) group.Element { return group.Element{180 * r.Float64()} },
		}, "sampler"},
		{"mirror tied to the angle", sampler{plain{Group: o2}, func(r *rand.Rand) group.Element {
			x := 360 * r.Float64()
			return group.Element{x, math.Floor(x / 180)}
		}}, "sampler"},
		{
			"one element is rare",
			finiteSampler{finite{plain{Group: d4}, elementsOf(t, d4)}, func(r *rand.Rand) group.Element {
				return elementsOf(t, d4)[min(r.IntN(9), 7)]
			}},
			"sampler",
		},
		{"hidden state", sampler{
			plain{Group: so2},
			func(*rand.Rand) group.Element { count++; return group.Element{float64(count * 97 % 360)} },
		}, "sampler"},
		{"exp in degrees", lie{
			plain{Group: so2},
			rot,
			func(t []float64) group.Element { return so2.Mul(group.Element{0}, group.Element{t[0]}) },
		}, "lie"},
		{"exp not a homomorphism", lie{
			plain{Group: t2},
			[]group.Generator{{Name: "x"}, {Name: "y"}},
			func(t []float64) group.Element {
				return group.Element{t[0] + t[0]*t[0], t[1]}
			},
		}, "lie"},
		{"dependent generators", lie{
			plain{Group: t2},
			[]group.Generator{{Name: "x"}, {Name: "y"}},
			func(t []float64) group.Element {
				return group.Element{t[0] + t[1], 0}
			},
		}, "lie"},
		{
			"commutator leaves the span",
			lie{
				plain{Group: se2},
				[]group.Generator{{Name: "turn", Unit: "rad"}, {Name: "x"}},
				func(t []float64) group.Element {
					return se2Lie.Exp([]float64{t[0], t[1], 0})
				},
			},
			"lie",
		},
		{
			"axis named twice",
			plain{Group: t2, chart: []group.Axis{{Name: "d", Min: -9, Max: 9}, {Name: "d", Min: -9, Max: 9}}},
			"chart|closure|purity",
		},
	}
}

func TestEveryFaultIsFoundByItsLaw(t *testing.T) {
	for _, f := range faults(t) {
		err := grouptest.Verify(f.g, 100, rand.New(rand.NewPCG(4, 2)))
		if err == nil {
			t.Errorf("%s: no law failed", f.name)
			continue
		}
		found := false
		for law := range strings.SplitSeq(f.law, "|") {
			found = found || strings.Contains(err.Error(), law+":")
		}
		if !found {
			t.Errorf("%s: expected %s to fail, got: %v", f.name, f.law, err)
		}
	}
}

// The twins: the same wrappers without a fault.
func TestVerifyPassesCleanTwins(t *testing.T) {
	se2 := catalog.SE2()
	p, _ := se2.(group.Planar)
	l, _ := se2.(group.Lie)
	s, _ := se2.(group.Sampler)
	c4, err := catalog.Cyclic(4)
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range []group.Group{
		plain{Group: se2},
		planar{plain{Group: se2}, p.Affine},
		lie{plain{Group: se2}, l.Generators(), l.Exp},
		sampler{plain{Group: se2}, s.Sample},
		finite{plain{Group: c4}, elementsOf(t, c4)},
		ordered{finite{plain{Group: c4}, elementsOf(t, c4)}, 4},
		invariant{plain{Group: catalog.O2()}},
	} {
		if err := grouptest.Verify(g, 100, rand.New(rand.NewPCG(4, 2))); err != nil {
			t.Errorf("%T: %v", g, err)
		}
	}
}

// recorder stands in for a test that may fail.
type recorder struct {
	testing.TB
	failed bool
	text   strings.Builder
}

func (*recorder) Helper()                           {}
func (*recorder) Name() string                      { return "recorder" }
func (r *recorder) Failed() bool                    { return r.failed }
func (r *recorder) Fail()                           { r.failed = true }
func (r *recorder) FailNow()                        { r.failed = true; runtime.Goexit() }
func (r *recorder) Log(args ...any)                 { fmt.Fprintln(&r.text, args...) }
func (r *recorder) Logf(format string, args ...any) { fmt.Fprintf(&r.text, format+"\n", args...) }
func (r *recorder) Error(args ...any)               { r.Log(args...); r.Fail() }
func (r *recorder) Errorf(f string, args ...any)    { r.Logf(f, args...); r.Fail() }
func (r *recorder) Fatal(args ...any)               { r.Log(args...); r.FailNow() }
func (r *recorder) Fatalf(f string, args ...any)    { r.Logf(f, args...); r.FailNow() }

func TestCheckFailsOnEveryFault(t *testing.T) {
	// The faults are wanted: no files for replay, no time spent on small examples, the same draws every time.
	flags := map[string]string{"rapid.nofailfile": "true", "rapid.shrinktime": "1ms", "rapid.seed": "1"}
	if testing.Short() {
		flags["rapid.checks"] = "500" // of which a short run draws a fifth: as many as otherwise
	}
	for name, value := range flags {
		before := flag.Lookup(name).Value.String()
		if err := flag.Set(name, value); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := flag.Set(name, before); err != nil {
				t.Error(err)
			}
		})
	}
	for _, f := range faults(t) {
		r := &recorder{}
		done := make(chan struct{})
		go func() {
			defer close(done)
			grouptest.Check(r, f.g)
		}()
		<-done
		if !r.failed {
			t.Errorf("%s: Check passed", f.name)
		}
	}
}
