package embedding

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"nero/internal/elementary"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"
)

// normal is a table of normal numbers.
func normal(n, d int, r *rand.Rand) *mat.Dense {
	out := mat.NewDense(n, d, nil)
	for i := range n {
		for j := range d {
			out.Set(i, j, elementary.Normal(r))
		}
	}
	return out
}

func source(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 77)) }

// upTo are the numbers below n.
func upTo(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// orthogonal is a random orthogonal matrix.
func orthogonal(d int, r *rand.Rand) *mat.Dense {
	var f mat.QR
	f.Factorize(normal(d, d, r))
	q := &mat.Dense{}
	f.QTo(q)
	return q
}

// planted are orbits of n objects whose features a function makes of an object and an angle, in rad; the same function
// and seed make the same objects.
func planted(n int, angles []float64, seed uint64, of func(object []float64, angle float64) []float64) *Orbits {
	r := source(seed)
	o := &Orbits{Object: upTo(n)}
	object := normal(n, 24, r)
	for k, a := range angles {
		var at *mat.Dense
		for i := range n {
			x := of(object.RawRowView(i), a)
			if at == nil {
				at = mat.NewDense(n, len(x), nil)
			}
			at.SetRow(i, x)
		}
		o.At = append(o.At, at)
		if a == 0 {
			o.Identity = k
		}
	}
	return o
}

// grid are n angles of a turn from 0 on.
func grid(n int) []float64 {
	out := make([]float64, n)
	for k := range out {
		out[k] = 2 * math.Pi * float64(k) / float64(n)
	}
	return out
}

func isNear(got, want, tolerance float64) bool { return math.Abs(got-want) <= tolerance }

func TestInvariantAndLost(t *testing.T) {
	angles := grid(4)
	still := planted(60, angles, 1, func(x []float64, _ float64) []float64 { return x[:5] })
	got, err := still.Invariance(Options{Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	for k, by := range got.By {
		if by.Ratio.Value != 0 || !isNear(by.Cosine.Value, 1, 1e-12) || !isNear(by.Diagonal.Value, 1, 1e-12) {
			t.Errorf("element %d moves features that stay: %+v", k, by)
		}
	}
	if got.Why != "" || got.Dead != 0 || got.Pairs != 60*59/2 {
		t.Errorf("%+v", got)
	}
	// What has nothing to do with the object is as far away as another one, sqrt(2)/2 of whose difference it is not.
	r := source(9)
	lost := planted(200, angles, 1, func(x []float64, a float64) []float64 {
		if a == 0 {
			return x[:5]
		}
		return normal(1, 5, r).RawRowView(0)
	})
	if got, err = lost.Invariance(Options{Seed: 3}); err != nil {
		t.Fatal(err)
	}
	for _, by := range got.By[1:] {
		if i := by.Ratio.Interval; !(i.Low < 1 && 1 < i.High) || !(i.High-i.Low < 0.3) || !isNear(by.Cosine.Value, 0,
			0.1) ||
			!(by.OffDiagonal.Value < 0.02) {
			t.Errorf("nothing is left of the object, and it says %+v", by)
		}
	}
}

// Of x ~ N(0,1) and φ(gx) = x + a e, e ~ N(0,1), the ratio is a√(2/π) / (2/√π) = a/√2.
func TestRatioCovers(t *testing.T) {
	const a, sets = 0.3, 200
	covered := 0
	for seed := range uint64(sets) {
		r := source(1000 + seed)
		o := planted(30, []float64{0, 1}, seed, func(x []float64, angle float64) []float64 {
			if angle == 0 {
				return x[:1]
			}
			return []float64{x[0] + a*elementary.Normal(r)}
		})
		got, err := o.Invariance(Options{Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		if i := got.By[1].Ratio.Interval; i.Low <= a/math.Sqrt2 && a/math.Sqrt2 <= i.High {
			covered++
		}
	}
	t.Logf("%d of %d intervals hold the truth", covered, sets)
	if covered < 180 { // 95 % of 200 less three deviations
		t.Errorf("%d of %d intervals hold the truth", covered, sets)
	}
}

// Four columns of signs at right angles have an effective rank of 4, two of them with a third that never changes 2.
func TestEffectiveRank(t *testing.T) {
	for _, c := range []struct {
		weights []float64
		want    float64
		vacuous bool
		dead    int
	}{
		{[]float64{1, 1, 1, 1}, 4, false, 0},
		{[]float64{2, 2, 0, 0}, 2, false, 2},
		{[]float64{1, 0, 0, 0}, 1, true, 3},
		// shares 0.8 and 0.2: e^(0.5004)
		{[]float64{2, 1, 0, 0}, math.Exp(-0.8*math.Log(0.8) - 0.2*math.Log(0.2)), false, 2},
		// 0.9 and 0.1: e^(0.3251)
		{[]float64{3, 1, 0, 0}, math.Exp(-0.9*math.Log(0.9) - 0.1*math.Log(0.1)), true, 2},
	} {
		m := mat.NewDense(16, 4, nil)
		for i := range 16 {
			for j := range 4 {
				m.Set(i, j, 5+c.weights[j]*float64(2*(i>>j&1)-1))
			}
		}
		o := &Orbits{Object: upTo(16), At: []*mat.Dense{m, m}}
		got, err := o.Invariance(Options{})
		if err != nil {
			t.Fatal(err)
		}
		if !isNear(got.Rank.Value, c.want, 1e-9) || got.Why != "" != c.vacuous || got.Dead != c.dead {
			t.Errorf("weights %v: %+v, want rank %g", c.weights, got, c.want)
		}
		// The same of more numbers than samples.
		wide := &mat.Dense{}
		wide.Mul(m, orthogonal(40, source(3)).Slice(0, 4, 0, 40))
		o = &Orbits{Object: upTo(16), At: []*mat.Dense{wide}}
		again, err := o.Invariance(Options{})
		if err != nil {
			t.Fatal(err)
		}
		if !isNear(again.Rank.Value, c.want, 1e-9) ||
			c.want > 1.5 && !isNear(again.Rank.Interval.Low, got.Rank.Interval.Low, 1e-6) {
			t.Errorf("weights %v, wide: %+v and %+v", c.weights, again.Rank, got.Rank)
		}
	}
}

// A sample is no partner of itself, nor of another sample of its object.
func TestNoPairWithOneself(t *testing.T) {
	m := mat.NewDense(8, 1, []float64{0, 0, 1, 1, 2, 2, 3, 3})
	o := &Orbits{Object: []int{0, 0, 1, 1, 2, 2, 3, 3}, At: []*mat.Dense{m}}
	got, err := o.Invariance(Options{})
	if err != nil {
		t.Fatal(err)
	}
	if want := (3*1 + 2*2 + 3) / 6.0; !isNear(got.Apart, want, 1e-12) || got.Pairs != 24 {
		t.Errorf("objects are %g apart over %d pairs, want %g over 24", got.Apart, got.Pairs, want)
	}
	// Of many samples pairs are drawn, and say the same.
	r := source(5)
	big := &Orbits{Object: upTo(600), At: []*mat.Dense{normal(600, 1, r)}}
	if got, err = big.Invariance(Options{Seed: 1}); err != nil {
		t.Fatal(err)
	}
	if !isNear(got.Apart, 2/math.Sqrt(math.Pi), 0.08) || got.Pairs != mostPairs {
		t.Errorf("objects are %g apart over %d pairs, want 1.128", got.Apart, got.Pairs)
	}
}

// The size of features does not matter to any ratio.
func TestScaleFree(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		seed := rapid.Uint64Range(0, 1000).Draw(rt, "seed")
		f := math.Ldexp(1, rapid.IntRange(-20, 20).Draw(rt, "scale"))
		build := func(f float64) *Invariance {
			o := planted(12, grid(3), seed, func(x []float64, a float64) []float64 {
				return []float64{f * x[0], f * x[1] * math.Cos(a), f * (x[2] + math.Sin(a))}
			})
			got, err := o.Invariance(Options{Seed: seed})
			if err != nil {
				rt.Fatal(err)
			}
			return got
		}
		a, b := build(1), build(f)
		for k := range a.By {
			if a.By[k].Ratio.Value != b.By[k].Ratio.Value || !isNear(a.By[k].Cosine.Value, b.By[k].Cosine.Value,
				1e-12) {
				rt.Errorf("element %d: %+v and %+v", k, a.By[k], b.By[k])
			}
		}
	})
}

func TestRefused(t *testing.T) {
	r := source(2)
	good := normal(8, 3, r)
	bad := mat.DenseCopyOf(good)
	bad.Set(5, 1, math.NaN())
	var nf *NotFiniteError
	_, err := (&Orbits{Object: upTo(8), At: []*mat.Dense{good, bad}}).Invariance(Options{})
	if !errors.As(err, &nf) || nf.Sample != 5 || nf.Element != 1 || nf.Component != 1 {
		t.Errorf("NaN: %v", err)
	}
	for name, o := range map[string]*Orbits{
		"width":    {Object: upTo(8), At: []*mat.Dense{good, normal(8, 4, r)}},
		"rows":     {Object: upTo(8), At: []*mat.Dense{good, normal(7, 3, r)}},
		"none":     {Object: upTo(8)},
		"identity": {Object: upTo(8), At: []*mat.Dense{good}, Identity: 1},
	} {
		if got, err := o.Invariance(Options{}); err == nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
	few := &Orbits{Object: []int{0, 0, 1, 1, 2, 2, 2, 2}, At: []*mat.Dense{good}}
	if _, err := few.Invariance(Options{}); !errors.Is(err, ErrFew) {
		t.Errorf("three objects: %v", err)
	}
	constant := &Orbits{Object: upTo(8), At: []*mat.Dense{mat.NewDense(8, 3, make([]float64, 24))}}
	if _, err := constant.Invariance(Options{}); !errors.Is(err, ErrConstant) {
		t.Errorf("constant features: %v", err)
	}
	if _, err := Leading(constant, 1); !errors.Is(err, ErrConstant) {
		t.Errorf("axes of constant features: %v", err)
	}
	wide := Pairs{normal(6, 9, r), normal(6, 2, r), upTo(6)}
	if m, err := Learn(wide, wide, false, []float64{0}); err == nil {
		t.Errorf("more numbers than samples without a penalty: %+v", m)
	}
	if _, err := Learn(wide, wide, false, nil); err != nil {
		t.Errorf("with penalties: %v", err)
	}
	for _, l := range []float64{-1, math.NaN(), math.Inf(1)} {
		if m, err := Learn(wide, wide, false, []float64{l}); err == nil {
			t.Errorf("penalty %g: %+v", l, m)
		}
	}
	if m, err := Learn(wide, Pairs{normal(6, 8, r), normal(6, 2, r), upTo(6)}, false, nil); err == nil {
		t.Errorf("another width to choose by: %+v", m)
	}
}

// turn is the rotation of (x0, x1) by an angle in degrees; x2 stays.
func turn(deg float64) *mat.Dense {
	s, c := math.Sincos(deg * math.Pi / 180)
	return mat.NewDense(3, 3, []float64{c, -s, 0, s, c, 0, 0, 0, 1})
}

// mapped are pairs that a known matrix makes, with noise of a known size; three samples show one object.
func mapped(n int, noise float64, m *mat.Dense, seed uint64) Pairs {
	r := source(seed)
	p := Pairs{Before: normal(n, 3, r)}
	var y mat.Dense
	y.Mul(p.Before, m.T())
	e := normal(n, 3, r)
	e.Scale(noise, e)
	y.Add(&y, e)
	p.After = &y
	for i := range n {
		p.Object = append(p.Object, i/3)
	}
	return p
}

func TestPlantedMap(t *testing.T) {
	maps := map[float64]*mat.Dense{}
	for _, deg := range []float64{30, 50, 80} {
		m, err := Learn(mapped(150, 0, turn(deg), 1), mapped(75, 0, turn(deg), 2), false, nil)
		if err != nil {
			t.Fatal(err)
		}
		asked := mapped(75, 0, turn(deg), 3)
		x := Explain(m.Of(asked.Before), asked.After, asked.Object, Options{})
		if !(x.Overall.Value > 1-1e-12) || x.Constant != 0 || !mat.EqualApprox(m.M, turn(deg), 1e-6) {
			t.Errorf("%+v, want the planted map", x)
		}
		maps[deg] = m.M
	}
	if d := Homomorphism(maps[80], maps[30], maps[50]); !(d < 1e-6) {
		t.Errorf("the homomorphism defect of a representation is %g", d)
	}
	// Of rotations R(a) and R(b), ‖R(a)-R(b)‖² = 4(1 - cos(a-b)) in the plane that turns, and ‖R‖² = 3.
	want := math.Sqrt(4 * (1 - math.Cos(20*math.Pi/180)) / 3)
	if d := Homomorphism(maps[80], maps[50], maps[50]); !isNear(d, want, 1e-5) {
		t.Errorf("the defect is %g, want %g", d, want)
	}
	if !math.IsNaN(Homomorphism(mat.NewDense(1, 1, nil), mat.NewDense(1, 1, nil), mat.NewDense(1, 1, nil))) {
		t.Error("a map that is 0 has no relative defect")
	}
}

// With noise of variance s² on features of variance 1, the best map explains 1/(1+s²).
func TestNoise(t *testing.T) {
	const n, s = 1500, 0.5
	m, err := Learn(mapped(n, s, turn(40), 3), mapped(n, s, turn(40), 4), false, nil)
	if err != nil {
		t.Fatal(err)
	}
	asked := mapped(n, s, turn(40), 5)
	got := Explain(m.Of(asked.Before), asked.After, asked.Object, Options{})
	for c, x := range append(got.Components, got.Overall.Value) {
		if !isNear(x, 1/(1+s*s), 0.04) {
			t.Errorf("component %d: R² is %g, want about %g", c, x, 1/(1+s*s))
		}
	}
	if i := got.Overall.Interval; !(i.Low < 0.8 && 0.8 < i.High) {
		t.Errorf("the interval %+v does not hold 0.8", i)
	}
}

// Features that have nothing to do with each other are not explained, whatever the number of components; a component
// that is constant has no R², and makes that of the others no better.
func TestUnrelatedAndConstant(t *testing.T) {
	r := source(5)
	build := func() Pairs {
		p := Pairs{normal(60, 40, r), normal(60, 2, r), upTo(60)}
		for i := range 60 {
			p.After.Set(i, 1, 3)
		}
		return p
	}
	m, err := Learn(build(), build(), true, nil)
	if err != nil {
		t.Fatal(err)
	}
	asked := build()
	got := Explain(m.Of(asked.Before), asked.After, asked.Object, Options{})
	if !(got.Overall.Value < 0.15) || got.Constant != 1 || !math.IsNaN(got.Components[1]) {
		t.Errorf("%+v", got)
	}
	never := mat.NewDense(60, 1, nil)
	if got = Explain(never, never, upTo(60), Options{}); !math.IsNaN(got.Overall.Value) ||
		!math.IsInf(got.Overall.Interval.High, 1) {
		t.Errorf("features that never vary are explained: %+v", got)
	}
}

func TestRanks(t *testing.T) {
	views := [][]float64{{0, 0}, {1, 0}, {0, 3}, {1, 0}}
	for _, c := range []struct {
		predicted []float64
		truth     int
		want      Place
	}{
		{[]float64{0, 0.1}, 0, Place{0, 0, 4}},
		{[]float64{0.9, 0}, 0, Place{2, 0, 4}},
		{[]float64{0.9, 0}, 1, Place{0, 1, 4}}, // another view lies at the same place
		{[]float64{0.9, 0}, 2, Place{3, 0, 4}},
		{[]float64{0.5, 1e-8}, 1, Place{0, 2, 4}},
		{[]float64{0.499, 0}, 1, Place{1, 1, 4}},
		{[]float64{math.NaN(), 0}, 2, Place{}},
	} {
		if got := Rank(c.predicted, views, c.truth); got != c.want {
			t.Errorf("place of %d from %v is %+v, want %+v", c.truth, c.predicted, got, c.want)
		}
	}
	r := Retrieve([]Place{{0, 0, 2}, {1, 0, 2}, {5, 0, 6}, {0, 0, 1}}, upTo(4), Options{})
	if !isNear(r.MRR.Value, (1+.5+1./6+1)/4, 1e-15) || r.H1.Value != 0.5 || r.H5.Value != 0.75 || r.H10.Value != 1 ||
		r.Candidates != 11./4 || !isNear(r.Chance, (0.75+0.75+2.45/6+1)/4, 1e-15) {
		t.Errorf("%+v", r)
	}
	for _, r := range []Retrieval{
		Retrieve([]Place{{0, 0, 2}, {}}, upTo(2), Options{}), Retrieve(nil, nil, Options{}),
	} {
		if !math.IsNaN(r.MRR.Value) || !math.IsNaN(r.H10.Value) {
			t.Errorf("%+v", r)
		}
	}
	// Of seven, three are nearer and two as near: ranks 4, 5 and 6 are as likely.
	r = Retrieve([]Place{{3, 2, 7}}, upTo(1), Options{})
	if !isNear(r.MRR.Value, (1./4+1./5+1./6)/3, 1e-15) || r.H1.Value != 0 || !isNear(r.H5.Value, 2./3, 1e-15) ||
		r.H10.Value != 1 {
		t.Errorf("%+v", r)
	}
	// What says nothing about the views is a guess: all of them are at one place, up to the rounding of float32.
	random := rand.New(rand.NewPCG(1, 2))
	var places []Place
	for i := range 40 {
		var same [][]float64
		for range 5 {
			same = append(same, []float64{100 * (1 + 1e-7*random.Float64()), 3, float64(i)})
		}
		places = append(places, Rank([]float64{99, 4, float64(i)}, same, i%5))
	}
	if r = Retrieve(places, upTo(40), Options{}); !isNear(r.MRR.Value, r.Chance, 1e-15) ||
		!isNear(r.H1.Value, 0.2, 1e-15) {
		t.Errorf("%+v", r)
	}
	// The mean of 1/rank of a guess among 50: 4.4992/50.
	if got := guess(50); !isNear(got, 0.0900, 5e-5) {
		t.Errorf("a guess among 50 has MRR %g, want 0.0900", got)
	}
}

// A map that is right finds every view, one that is not finds no more than a guess.
func TestViews(t *testing.T) {
	rotate := func(x []float64, a float64) []float64 {
		s, c := math.Sincos(a)
		return []float64{c*x[0] - s*x[1], s*x[0] + c*x[1], x[2]}
	}
	angles := grid(8)
	o := planted(50, angles, 4, rotate)
	var right, wrong []*Map
	for k := range angles {
		right = append(right, &Map{M: turn(45 * float64(k))})
		wrong = append(wrong, &Map{M: normal(3, 3, source(uint64(k)))})
	}
	got := o.Views(right, Options{})
	if got.MRR.Value != 1 || got.H1.Value != 1 ||
		!isNear(got.H1.Interval.Low, elementary.Pow(0.025, 1./50), 1e-9) || got.N != 50*7 || got.Candidates != 8 {
		t.Errorf("%+v", got)
	}
	if got = o.Views(wrong, Options{}); !isNear(got.MRR.Value, got.Chance, 0.15) {
		t.Errorf("maps at random find %+v", got)
	}
}

// E(1 - (q·q̂)²) of two random rotations of space is 3/4, and of one with itself 0, whatever the sign of q.
func TestPoseError(t *testing.T) {
	r := source(8)
	rotation := func() []float64 {
		q := normal(1, 4, r).RawRowView(0)
		n := math.Sqrt(squares(q))
		w, x, y, z := q[0]/n, q[1]/n, q[2]/n, q[3]/n
		return []float64{
			1 - 2*(y*y+z*z), 2 * (x*y - w*z), 2 * (x*z + w*y),
			2 * (x*y + w*z), 1 - 2*(x*x+z*z), 2 * (y*z - w*x),
			2 * (x*z - w*y), 2 * (y*z + w*x), 1 - 2*(x*x+y*y),
		}
	}
	sum := 0.0
	const n = 4000
	for range n {
		a, b := rotation(), rotation()
		sum += HalfSpace(a, b) / n
		if x := HalfSpace(a, a); !(x < 1e-12) {
			t.Fatalf("a rotation is %g from itself", x)
		}
	}
	if !isNear(sum, 0.75, 0.015) {
		t.Errorf("chance is %g, want 0.75", sum)
	}
	if got := HalfSpace(rotation(), make([]float64, 9)); got != 0.75 {
		t.Errorf("no rotation counts as %g", got)
	}
	if got := HalfPlane([]float64{1, 0}, []float64{0, 2}); !isNear(got, 0.5, 1e-15) { // 90°: sin² 45°
		t.Errorf("a quarter turn is %g", got)
	}
	if got := HalfPlane([]float64{1, 0}, []float64{0, 0}); got != 0.5 {
		t.Errorf("no direction is %g", got)
	}
}

// Features that know nothing of the element are read no better than by chance, also where most elements are alike.
func TestPoseByChance(t *testing.T) {
	angles := []float64{0, 0.1, 0.2, -0.1, -0.2, math.Pi}
	r := source(8)
	of := func(n int, seed uint64) *Orbits {
		return planted(n, angles, seed, func([]float64, float64) []float64 { return normal(1, 3, r).RawRowView(0) })
	}
	got, err := ReadPose(of(60, 1), of(30, 2), of(30, 3), circle(angles), Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	// Who always says 0 misses a half turn in six; who guesses misses it in ten of 36 pairs.
	if !isNear(got.Chance, 1./6, 0.01) || !(got.PRE.Value > got.Chance-0.01) ||
		!(got.PRE.Interval.Low <= got.PRE.Value && got.PRE.Value <= got.PRE.Interval.High) {
		t.Errorf("%+v", got)
	}
}

// mixed are features of 8 numbers that stay, 4 that are pose alone and 2 that turn with the object, in a basis that is
// the same for all.
func mixed(n int, angles []float64, seed uint64) *Orbits {
	q := orthogonal(14, source(321))
	return planted(n, angles, seed, func(x []float64, a float64) []float64 {
		s, c := math.Sincos(a)
		s2, c2 := math.Sincos(2 * a)
		y := append(append([]float64{}, x[:8]...), c, s, c2, s2, c*x[8]-s*x[9], s*x[8]+c*x[9])
		var out mat.VecDense
		out.MulVec(q, mat.NewVecDense(14, y))
		return out.RawVector().Data
	})
}

func circle(angles []float64) Target {
	t := Target{Half: HalfPlane}
	for _, a := range angles {
		s, c := math.Sincos(a)
		t.Coordinates = append(t.Coordinates, []float64{c, s})
	}
	return t
}

func TestPartsOfPlanted(t *testing.T) {
	angles := grid(8)
	fit, choose, confirm := mixed(60, angles, 1), mixed(30, angles, 2), mixed(30, angles, 3)
	got, err := FindParts(fit, choose, confirm, circle(angles), Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if got.Invariant.Value != 8 || got.MovingOnly.Value != 6 || got.Pose.Value != 4 || got.Directions != 14 {
		t.Errorf("%+v", got)
	}
	for _, e := range []Estimate{got.Invariant, got.MovingOnly, got.Pose} {
		if e.Interval.Low != e.Value || e.Interval.High != e.Value {
			t.Errorf("counts that no resample changes have the interval %+v", e)
		}
	}
	for j, mu := range got.Mu {
		if want := map[bool]float64{true: 0, false: 1}[j < 8]; !isNear(mu, want, 1e-9) {
			t.Errorf("μ of direction %d is %g, want %g", j, mu, want)
		}
		if nu := got.Nu[j]; j < 4 && !isNear(nu, 1, 1e-9) || j >= 6 && !(nu < 0.2) {
			t.Errorf("ν of direction %d is %g", j, nu)
		}
	}
	if len(got.Kept) != 3 {
		t.Fatalf("%+v", got.Kept)
	}
	still, pose, all := got.Kept[0], got.Kept[1], got.Kept[2]
	if !isNear(still.Identity.Value, 1, 1e-9) || still.Directions != 8 || !(still.Element.Overall.Value < 0.05) {
		t.Errorf("the invariant part: %+v", still)
	}
	// Where all of 30 objects are found, others may be such as are not (Clopper and Pearson).
	if i := still.Identity.Interval; !isNear(i.Low, elementary.Pow(0.025, 1./30), 1e-9) || i.High != 1 {
		t.Errorf("each object is found: %+v", i)
	}
	if i := pose.Identity.Interval; !(i.Low < pose.Chance && pose.Identity.Value < i.High) || i.Low < 0 {
		t.Errorf("objects are found by chance, %g: %+v", pose.Chance, pose.Identity)
	}
	if !(pose.Identity.Value < 0.1) || pose.Directions != 4 || !(pose.Element.Overall.Value > 0.999) ||
		!(pose.Element.PRE.Value < 1e-3) || !isNear(pose.Element.Chance, 0.5, 1e-12) {
		t.Errorf("the part that is pose: %+v", pose)
	}
	if !(all.Element.Overall.Value > 0.99) || all.Directions != 14 {
		t.Errorf("all: %+v", all)
	}
}

// Directions that look invariant for a few objects by chance are not so for others: features of noise have none.
func TestNoPartsByChance(t *testing.T) {
	angles := grid(4)
	noise := func(seed uint64) *Orbits {
		r := source(seed)
		return planted(24, angles, seed, func([]float64, float64) []float64 { return normal(1, 24, r).RawRowView(0) })
	}
	got, err := FindParts(noise(1), noise(2), noise(3), circle(angles), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got.Invariant.Value != 0 || got.Pose.Value != 0 {
		t.Errorf("noise has %g invariant directions and %g of pose", got.Invariant.Value, got.Pose.Value)
	}
}

// Features that lie in fewer directions than they have numbers are looked at in those alone.
func TestRankDeficient(t *testing.T) {
	angles := grid(4)
	flat := func(seed uint64) *Orbits {
		return planted(40, angles, seed, func(x []float64, a float64) []float64 {
			s, c := math.Sincos(a)
			return []float64{x[0], 2 * x[0], c, s, c + s, x[1], 7}
		})
	}
	got, err := FindParts(flat(1), flat(2), flat(3), circle(angles), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got.Directions != 4 || got.Invariant.Value != 2 || got.Pose.Value != 2 {
		t.Errorf("%+v", got)
	}
	b, err := Leading(flat(1), 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, k := b.Axes.Dims(); k != 4 || !isNear(b.Share, 1, 1e-9) {
		t.Errorf("%d axes hold %g", k, b.Share)
	}
}

// A turn of a plane takes its two directions to each other. Where there is room for one of them alone there is room for
// none: a map of a part of a plane explains half of it.
func TestPlanesAreNotTornApart(t *testing.T) {
	angles := grid(4)
	o := planted(6, angles, 2, func(x []float64, a float64) []float64 {
		s, c := math.Sincos(a)
		return []float64{9 * x[0], 4 * x[5], 3 * (c*x[1] - s*x[2]), 3 * (s*x[1] + c*x[2]), c*x[3] - s*x[4], s*x[3] +
			c*x[4]}
	})
	b, err := Leading(o, 1) // of 6 objects at most 3 directions
	if err != nil {
		t.Fatal(err)
	}
	if _, k := b.Axes.Dims(); k != 2 {
		t.Errorf("%d directions, want the two that stay", k)
	}
	// Of many rows, whole orbits are drawn.
	o = planted(300, angles, 2, func(x []float64, _ float64) []float64 { return x[:3] })
	rows := o.sampled(source(1))
	if len(rows) != mostRows {
		t.Fatalf("%d rows", len(rows))
	}
	for _, i := range rows[:mostRows/4] {
		if !slices.Contains(rows, i+300) || !slices.Contains(rows, i+900) {
			t.Errorf("the orbit of sample %d is torn apart", i)
		}
	}
}

func ExampleOrbits_Invariance() {
	// Six objects with two numbers each; the element changes the sign of the second.
	x := mat.NewDense(6, 2, []float64{3, 1, -3, 1, 1, -1, -1, -1, 2, 2, -2, -2})
	y := mat.NewDense(6, 2, []float64{3, -1, -3, -1, 1, 1, -1, 1, 2, -2, -2, 2})
	o := &Orbits{Object: []int{0, 1, 2, 3, 4, 5}, At: []*mat.Dense{x, y}}
	got, err := o.Invariance(Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.2f of the distance between objects\n", got.By[1].Ratio.Value)
	// Output: 0.72 of the distance between objects
}
