package pencil

import (
	"context"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// network is functions of the square of the first numbers and of each of the others, drawn at random, with derivatives.
func network(seed uint64, d, turned, m int) Function {
	r := rand.New(rand.NewPCG(seed, 5))
	hidden := 2 * d
	in := d - turned
	if turned > 0 {
		in++
	}
	a, b, shift := make([]float64, hidden*in), make([]float64, hidden*m), make([]float64, hidden)
	for i := range a {
		a[i] = 2 * r.NormFloat64() / math.Sqrt(float64(in))
	}
	for i := range b {
		b[i] = r.NormFloat64()
	}
	for i := range shift {
		shift[i] = r.NormFloat64()
	}
	features := func(x []float64) []float64 {
		if turned == 0 {
			return x
		}
		return append([]float64{square(x[:turned]) / float64(turned)}, x[turned:]...)
	}
	units := func(x []float64) []float64 {
		z, u := features(x), make([]float64, hidden)
		for h := range u {
			u[h] = math.Sin(shift[h] + dot(a[h*in:(h+1)*in], z))
		}
		return u
	}
	return Function{
		In: d, Out: m,
		At: func(_ context.Context, x [][]float64) ([][]float64, error) {
			out := make([][]float64, len(x))
			for i := range x {
				u := units(x[i])
				for k := range m {
					out[i] = append(out[i], dot(b[k*hidden:(k+1)*hidden], u))
				}
			}
			return out, nil
		},
		Pull: func(_ context.Context, x, c [][]float64) ([][]float64, error) {
			out := make([][]float64, len(x))
			for i := range x {
				z, g := features(x[i]), make([]float64, in)
				for h := range hidden {
					var w float64
					for k := range m {
						w += float64(c[i][k] * b[k*hidden+h])
					}
					axpy(g, w*math.Cos(shift[h]+dot(a[h*in:(h+1)*in], z)), a[h*in:(h+1)*in])
				}
				if turned > 0 {
					first := g[0]
					out[i] = make([]float64, turned)
					axpy(out[i], 2*first/float64(turned), x[i][:turned])
					g = g[1:]
				}
				out[i] = append(out[i], g...)
			}
			return out, nil
		},
	}
}

// Of more unknowns than are kept as equations, turns of some numbers are found, all of them, and of a network without
// any, none.
func TestLargeSystems(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("large systems")
	}
	const d, objects = 34, 500 // 1,156 unknowns
	x := normal(4, objects, d)
	r := ask(t, network(1, d, 5, 8), x, Options{Bootstraps: 40})
	if r.Unknowns != d*d || r.State != Settled || r.Dimension != 10 {
		t.Fatalf("%d unknowns, %s: dimension %d, want 10, that of so(5); %s", r.Unknowns, r.State, r.Dimension, r.Why)
	}
	if !r.Algebra.Closed || r.Algebra.Structure.Killing != [3]int{0, 10, 0} || !(r.Sigma[9] < 1e-6) ||
		!(r.Sigma[10] > 0.1) {
		t.Errorf("closed: %t, σ = %.2g", r.Algebra.Closed, r.Sigma[:12])
	}
	r = ask(t, network(2, d, 0, 8), x, Options{Bootstraps: 40})
	if r.State != Settled || r.Dimension != 0 || !(r.Sigma[0] > 0.1) {
		t.Errorf("%s, dimension %d, σ = %.2g, want none; %s", r.State, r.Dimension, r.Sigma, r.Why)
	}
	// More than walks are made for, which takes the matrix itself.
	r = ask(t, network(1, d, 9, 8), x, Options{Bootstraps: 40})
	if r.State != Settled || r.Dimension != 36 || !(r.Sigma[35] < 1e-6) || !(r.Sigma[36] > 0.01) {
		t.Errorf("%s, dimension %d, want 36, that of so(9); %s; σ = %.2g", r.State, r.Dimension, r.Why, r.Sigma)
	}
	r = ask(t, network(2, d, 0, 8), x, Options{Memory: 1 << 20})
	if r.State != Undetermined || !strings.Contains(r.Why, "more than the 1 that there may be") {
		t.Errorf("without memory: %s, %s", r.State, r.Why)
	}
	r = ask(t, network(2, d, 0, 1), x, Options{})
	if r.State != Undetermined || !strings.Contains(r.Why, "ask at 1734 inputs or more") {
		t.Errorf("500 equations: %s, %s", r.State, r.Why)
	}
}

// posed are the equations of a question, before the quotients.
func posed(tb testing.TB, f Function, x [][]float64, o Options) (*system, *derivatives) {
	tb.Helper()
	o = o.filled(f.In)
	out, err := outputsOf(tb.Context(), f, x, o)
	if err != nil {
		tb.Fatal(err)
	}
	s := &system{objects: len(x), y: out.y, parts: []*part{newLinear(o.Blocks[0], x, o.Affine)}}
	if o.Joint {
		s.parts = append(s.parts, newAnswers(out))
	}
	d, err := differentiate(tb.Context(), f, x, out, s, o)
	if err != nil {
		tb.Fatal(err)
	}
	return s, d
}

// asked are the equations of a question, after the quotients.
func asked(tb testing.TB, f Function, x [][]float64, o Options) *equations {
	tb.Helper()
	s, d := posed(tb, f, x, o)
	size := 0
	for _, p := range s.parts {
		p.quotient()
		size += p.reduced()
	}
	return newEquations(s, d, d.probes, size)
}

// Lists of slopes and places make of directions what the equations do that are written out, those of answers as well,
// and the same going back.
func TestFactored(t *testing.T) {
	t.Parallel()
	const d, objects = 9, 60
	for _, joint := range []bool{false, true} {
		e := asked(t, network(3, d, 3, 4), normal(5, objects, d), Options{Affine: true, Joint: joint})
		l := newFactored(e)
		if !e.factors() || l.size != e.size || len(l.parts) != len(e.s.parts) {
			t.Fatalf("%d unknowns in %d parts, want %d in %d", l.size, len(l.parts), e.size, len(e.s.parts))
		}
		v := mat.NewDense(e.size, 3, nil)
		r := rand.New(rand.NewPCG(1, 1))
		for i := range e.size {
			for j := range 3 {
				v.Set(i, j, r.NormFloat64())
			}
		}
		want, off := e.times(v)
		gram := e.gram()
		e.first, e.apart, e.lists = nil, nil, l
		got, apart := e.times(v)
		if !mat.EqualApprox(got, want, 1e-11) || !mat.EqualApprox(apart, off, 1e-11) {
			t.Errorf("joint %t: the lists make something else of a direction", joint)
		}
		out, rows := make([]float64, e.size), make([]float64, objects*e.keep)
		l.gram(mat.Col(nil, 0, v), out, rows)
		var whole mat.VecDense
		whole.MulVec(gram, mat.NewVecDense(e.size, mat.Col(nil, 0, v)))
		if !mat.EqualApprox(mat.NewVecDense(e.size, out), &whole, 1e-10) {
			t.Errorf("joint %t: back they lead elsewhere", joint)
		}
	}
}

// Equations that are products of two lists have the same mean of row·rowᵀ by one product of small matrices as one by
// one, in whatever coordinates the quotients leave.
func TestProducts(t *testing.T) {
	t.Parallel()
	const d, objects = 34, 40
	f, x := network(3, d, 3, 6), normal(5, objects, d)
	for i := range x {
		x[i][7] = x[i][8] // the data do not span the difference
	}
	s, der := posed(t, f, x, Options{Probes: 5, Affine: true})
	if q := s.parts[0].quotient(); len(q) != 1 {
		t.Fatalf("%d quotients", len(q))
	}
	e := newEquations(s, der, 3, s.parts[0].reduced())
	if e.first != nil {
		t.Fatalf("%d unknowns are kept", e.size)
	}
	got, want := e.gram(), newSym(e.size)
	e.chunks(func(_ int, first, _ *mat.Dense) { want.SymRankK(want, 1./objects, first.T()) })
	var apart float64
	for i := range e.size {
		for j := i; j < e.size; j++ {
			apart = max(apart, math.Abs(got.At(i, j)-want.At(i, j)))
		}
	}
	if !(apart <= 1e-12*mat.Trace(want)) {
		t.Errorf("numbers of the mean differ by %g", apart)
	}
	// The quick rows are the plain ones.
	first, _ := e.rows(0, objects)
	plain := make([]float64, s.parts[0].size())
	reduced := make([]float64, e.size)
	for i := range objects {
		for w := range 3 {
			der.row(0, i, 0, e.probe(i, w), s.parts[0].moved, plain)
			s.parts[0].reduce(plain, reduced)
			scale(reduced, math.Sqrt(5./3))
			axpy(reduced, -1, first.RawRowView(3*i+w))
			if !(norm(reduced) <= 1e-12*norm(first.RawRowView(3*i+w))) {
				t.Fatalf("row %d of object %d is %g off", w, i, norm(reduced))
			}
		}
	}
}

// A direction below the limit that was not found is noticed.
func TestCertificate(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("large systems")
	}
	const n, limit = 60, 0.01
	fresh := func() *large {
		m := newSym(n)
		for i := range n {
			m.SetSym(i, i, 1)
			if i < 3 {
				m.SetSym(i, i, 1e-6*float64(i))
			}
		}
		return newLarge(m, limit, 0)
	}
	of := func(found int) ([]float64, *mat.Dense) {
		v := mat.NewDense(n, found+1, nil)
		var values []float64
		for j := range found {
			v.Set(j, j, 1)
			values = append(values, 1e-6*float64(j))
		}
		v.Set(n-1, found, 1)
		return append(values, 1), v
	}
	if values, v := of(3); fresh().certify(values, v) != "" {
		t.Error("three of three are not certified")
	}
	if values, v := of(2); !strings.Contains(fresh().certify(values, v), "2 directions were found") {
		t.Error("two of three are certified")
	}
}

// BenchmarkLarge asks a network of 64 numbers for affine maps at 1,000 inputs: 4,160 unknowns.
func BenchmarkLarge(b *testing.B) {
	f, x := network(6, 64, 0, 8), normal(7, 1000, 64)
	for b.Loop() {
		if r := ask(b, f, x, Options{Affine: true}); r.State != Settled || r.Dimension != 0 {
			b.Fatalf("%s, %s", r.State, r.Why)
		}
	}
}
