package irreps_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"nero/symmetry/irreps"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		in, out string
		dim     int
	}{
		{"4x0e+2x1o", "4x0e+2x1o", 10},
		{"0e + 1o", "1x0e+1x1o", 4},
		{" 16 x 8e ", "16x8e", 272},
		{"2y+1y+0y", "1x2e+1x1o+1x0e", 9},
		{"1o+0e+1o", "1x1o+1x0e+1x1o", 7},
		{"11o", "1x11o", 23},
	} {
		ir, err := irreps.Parse(c.in)
		if err != nil {
			t.Errorf("%q: %v", c.in, err)
			continue
		}
		if ir.String() != c.out || ir.Dim() != c.dim {
			t.Errorf("%q is %s of %d numbers, want %s of %d", c.in, ir, ir.Dim(), c.out, c.dim)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for in, want := range map[string]string{
		"":                   "character 1: want a number of copies or a degree, got the end",
		"4x0e+":              "character 6: want a number of copies or a degree, got the end",
		"4x0":                "character 4: want the parity e or o, got the end",
		"4x0f":               "character 4: want the parity e or o, got 'f'",
		"0x1o":               "character 1: want 1 or more copies",
		"2x13e":              "character 3: degree 13, the highest is 12",
		"4x0e 2x1o":          "character 6: want + between two irreps, got '2'",
		"4x0e+xo":            "character 6: want a number of copies or a degree, got 'x'",
		"3x":                 "character 3: want a degree, got the end",
		"-1x0e":              "character 1: want a number of copies or a degree, got '-'",
		"99999999999999x0e":  "above",
		"16777216x0e+1x1o":   "more than 16777216 numbers in a row",
		"1ö":                 "character 2: want the parity e or o, got 'ö'",
		"1o\n":               "want + between",
		"4x0e+2x1o+3x4x5e+1": "character 14: want the parity",
	} {
		_, err := irreps.Parse(in)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", in, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"4x0e+2x1o", "0e + 1o", "", "x", "9999999999x1o", "1o+", "\xff", "2y"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		ir, err := irreps.Parse(s)
		if err != nil {
			if len(err.Error()) > 600 {
				t.Fatalf("%q: a message of %d bytes", s, len(err.Error()))
			}
			return
		}
		if ir.Dim() < 1 || ir.Dim() > irreps.MaxDim || ir.Top() > irreps.MaxL {
			t.Fatalf("%q: %d numbers, degree %d", s, ir.Dim(), ir.Top())
		}
		if again, err := irreps.Parse(ir.String()); err != nil || again.String() != ir.String() {
			t.Fatalf("%q is %s, which is %s: %v", s, ir, again, err)
		}
	})
}

type reference struct {
	Rotations []struct {
		Name string
		R    [9]float64
		D    [][]float64
	}
	Harmonics []struct {
		At [3]float64
		Y  []float64
	}
}

// readReference reads what e3nn 0.5.1 computed, see testdata/wigner.py.
func readReference(t *testing.T) reference {
	t.Helper()
	b, err := os.ReadFile("testdata/wigner.json")
	if err != nil {
		t.Fatal(err)
	}
	var r reference
	if err := json.Unmarshal(b, &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Rotations) < 8 || len(r.Harmonics) < 5 {
		t.Fatal("the reference is not whole")
	}
	return r
}

func newWigner(tb testing.TB, top int, b irreps.Basis) *irreps.Wigner {
	tb.Helper()
	w, err := irreps.NewWigner(top, b)
	if err != nil {
		tb.Fatal(err)
	}
	return w
}

func TestAgreesWithE3nn(t *testing.T) {
	const tol = 1e-10
	ref := readReference(t)
	w := newWigner(t, 8, irreps.PolarY)
	d := make([]float64, w.Len())
	for _, r := range ref.Rotations {
		w.Fill(d, &r.R)
		for l, want := range r.D {
			got := w.Block(d, l)
			if len(got) != len(want) {
				t.Fatalf("%s: degree %d has %d numbers, want %d", r.Name, l, len(got), len(want))
			}
			for i, v := range want {
				if !(math.Abs(got[i]-v) <= tol) {
					t.Errorf("%s: D^%d[%d] = %.15g, e3nn has %.15g", r.Name, l, i, got[i], v)
					break
				}
			}
		}
	}
	y := make([]float64, 81)
	for _, h := range ref.Harmonics {
		irreps.Harmonics(y, 8, irreps.PolarY, h.At[0], h.At[1], h.At[2])
		for i, v := range h.Y {
			if !(math.Abs(y[i]-v) <= tol*math.Max(1, math.Abs(v))) {
				t.Errorf("Y[%d] at %v = %.15g, e3nn has %.15g", i, h.At, y[i], v)
			}
		}
	}
}

// TestClosedForms holds degree 2 against its polynomials written out: the real harmonics of degree 2 are proportional
// to xy, yz, (2z²-x²-y²)/(2√3), xz, (x²-y²)/2 in PolarZ, so D follows from A S Aᵀ on the matching symmetric matrices.
func TestClosedForms(t *testing.T) {
	h, s := 0.5, 1/(2*math.Sqrt(3))
	forms := [5][9]float64{ // symmetric matrices S with f(p) = pᵀ S p, orthogonal to each other with equal norms
		{0, h, 0, h, 0, 0, 0, 0, 0},
		{0, 0, 0, 0, 0, h, 0, h, 0},
		{-s, 0, 0, 0, -s, 0, 0, 0, 2 * s},
		{0, 0, h, 0, 0, 0, h, 0, 0},
		{h, 0, 0, 0, -h, 0, 0, 0, 0},
	}
	w := newWigner(t, 2, irreps.PolarZ)
	d := make([]float64, w.Len())
	rapid.Check(t, func(t *rapid.T) {
		r := drawRotation(t)
		w.Fill(d, &r)
		got := w.Block(d, 2)
		for m := range 5 {
			for n := range 5 {
				// Component m of the moved form n: <S_m, R S_n Rᵀ>/<S_m, S_m>.
				var v float64
				for i := range 3 {
					for j := range 3 {
						for k := range 3 {
							for l := range 3 {
								v += 2 * forms[m][3*i+j] * r[3*i+k] * forms[n][3*k+l] * r[3*j+l]
							}
						}
					}
				}
				if !(math.Abs(v-got[5*m+n]) < 1e-13) {
					t.Fatalf("D²(%d,%d) = %g, the polynomials say %g", m-2, n-2, got[5*m+n], v)
				}
			}
		}
	})
	// A vector is (y, z, x), or (x, y, z) in the basis of e3nn.
	r := [9]float64{0.36, 0.48, -0.8, -0.8, 0.6, 0, 0.48, 0.64, 0.6}
	w.Fill(d, &r)
	if want := [9]float64{0.6, 0, -0.8, 0.64, 0.6, 0.48, 0.48, -0.8, 0.36}; [9]float64(w.Block(d, 1)) != want {
		t.Errorf("degree 1 is %v, want %v", w.Block(d, 1), want)
	}
	y := newWigner(t, 1, irreps.PolarY)
	y.Fill(d, &r)
	if [9]float64(y.Block(d, 1)) != r {
		t.Errorf("degree 1 of e3nn's basis is %v, want the rotation itself", y.Block(d, 1))
	}
}

// TestSmallTurns holds rotations by tiny angles, where Euler angles are of no use, against first order: D(exp(εX)) = 1
// + ε dD(X), with dD from the harmonics by differences.
func TestSmallTurns(t *testing.T) {
	const top, eps = irreps.MaxL, 1e-8
	w := newWigner(t, top, irreps.PolarY)
	d, e := make([]float64, w.Len()), make([]float64, w.Len())
	// A rotation by 2ε and the square of one by ε differ by what the recursion loses alone.
	turn := func(a float64) [9]float64 {
		s, c := math.Sincos(a)
		return [9]float64{c, 0, s, 0, 1, 0, -s, 0, c}
	}
	one, two := turn(eps), turn(2*eps)
	w.Fill(d, &one)
	w.Fill(e, &two)
	for l := range top + 1 {
		n := 2*l + 1
		for m := range n { // about the polar axis: component m mixes with -m by sin(mε)
			k := m - l
			if got, want := w.Block(d, l)[m*n+n-1-m], math.Sin(float64(k)*eps); k != 0 &&
				!(math.Abs(math.Abs(got)-math.Abs(want)) < 1e-8*math.Abs(want)) {
				t.Errorf("degree %d: D(%d,%d) = %g at %g rad, want ±%g", l, k, -k, got, eps, want)
			}
		}
		p := product(w.Block(d, l), w.Block(d, l), n)
		for i, v := range w.Block(e, l) {
			if !(math.Abs(v-p[i]) < 1e-14) {
				t.Errorf("degree %d: D(2ε) and D(ε)² differ by %g", l, v-p[i])
			}
		}
	}
}

// drawRotation is uniform, or one of the 24 of the cube.
func drawRotation(t *rapid.T) [9]float64 {
	if rapid.Bool().Draw(t, "cube") {
		all := cubes()
		return all[rapid.IntRange(0, len(all)-1).Draw(t, "which")]
	}
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
	return haar(r)
}

// haar is a rotation from a random unit quaternion.
func haar(r *rand.Rand) [9]float64 {
	var q [4]float64
	var n float64
	for i := range q {
		q[i] = r.NormFloat64()
		n += q[i] * q[i]
	}
	n = math.Sqrt(n)
	w, x, y, z := q[0]/n, q[1]/n, q[2]/n, q[3]/n
	return [9]float64{
		1 - 2*(y*y+z*z), 2 * (x*y - w*z), 2 * (x*z + w*y),
		2 * (x*y + w*z), 1 - 2*(x*x+z*z), 2 * (y*z - w*x),
		2 * (x*z - w*y), 2 * (y*z + w*x), 1 - 2*(x*x+y*y),
	}
}

// cubes are the 24 rotations of the cube.
func cubes() [][9]float64 {
	var out [][9]float64
	for _, p := range [][3]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}} {
		for s := range 8 {
			var a [9]float64
			for i := range 3 {
				a[3*i+p[i]] = 1 - 2*float64(s>>i&1)
			}
			if irreps.Det(&a) > 0 {
				out = append(out, a)
			}
		}
	}
	return out
}

func product(a, b []float64, n int) []float64 {
	o := make([]float64, n*n)
	for i := range n {
		for j := range n {
			for k := range n {
				o[i*n+j] += a[i*n+k] * b[k*n+j]
			}
		}
	}
	return o
}

func TestHomomorphism(t *testing.T) {
	for _, b := range []irreps.Basis{irreps.PolarY, irreps.PolarZ} {
		w := newWigner(t, irreps.MaxL, b)
		d, e, f := make([]float64, w.Len()), make([]float64, w.Len()), make([]float64, w.Len())
		rapid.Check(t, func(t *rapid.T) {
			r, s := drawRotation(t), drawRotation(t)
			rs := [9]float64(product(r[:], s[:], 3))
			w.Fill(d, &r)
			w.Fill(e, &s)
			w.Fill(f, &rs)
			for l := range w.Top() + 1 {
				n := 2*l + 1
				p := product(w.Block(d, l), w.Block(e, l), n)
				for i, v := range w.Block(f, l) {
					if !(math.Abs(v-p[i]) < 1e-12) {
						t.Fatalf("degree %d: D(rs) and D(r)D(s) differ by %g", l, v-p[i])
					}
				}
				for i := range n {
					for j := range n {
						var dot float64
						for k := range n {
							dot += w.Block(d, l)[i*n+k] * w.Block(d, l)[j*n+k]
						}
						if i == j {
							dot--
						}
						if !(math.Abs(dot) < 1e-12) {
							t.Fatalf("degree %d is not orthogonal: rows %d and %d, %g", l, i, j, dot)
						}
					}
				}
			}
		})
	}
}

func TestMovesHarmonics(t *testing.T) {
	for _, b := range []irreps.Basis{irreps.PolarY, irreps.PolarZ} {
		const top = irreps.MaxL
		w := newWigner(t, top, b)
		d := make([]float64, w.Len())
		x, moved := make([]float64, (top+1)*(top+1)), make([]float64, (top+1)*(top+1))
		rapid.Check(t, func(t *rapid.T) {
			r := drawRotation(t)
			p := rapid.SliceOfN(rapid.Float64Range(-1, 1), 3, 3).Draw(t, "point")
			w.Fill(d, &r)
			irreps.Harmonics(x, top, b, p[0], p[1], p[2])
			irreps.Harmonics(moved, top, b, r[0]*p[0]+r[1]*p[1]+r[2]*p[2], r[3]*p[0]+r[4]*p[1]+r[5]*p[2],
				r[6]*p[0]+r[7]*p[1]+r[8]*p[2])
			norm := p[0]*p[0] + p[1]*p[1] + p[2]*p[2]
			for l := range top + 1 {
				n := 2*l + 1
				y, z := x[l*l:(l+1)*(l+1)], moved[l*l:(l+1)*(l+1)]
				var size float64
				for m := range n {
					var v float64
					for k := range n {
						v += w.Block(d, l)[m*n+k] * y[k]
					}
					if !(math.Abs(v-z[m]) < 1e-12*math.Max(1, math.Pow(norm, float64(l)/2))) {
						t.Fatalf("degree %d, component %d: D Y(x) = %g, Y(Rx) = %g", l, m-l, v, z[m])
					}
					size += y[m] * y[m]
				}
				if want := float64(n) * math.Pow(norm, float64(l)); !(math.Abs(size-want) < 1e-11*math.Max(1, want)) {
					t.Fatalf("degree %d: the squares add up to %g, want %g", l, size, want)
				}
			}
		})
	}
}

func TestCubeIsExact(t *testing.T) {
	w := newWigner(t, irreps.MaxL, irreps.PolarZ)
	d := make([]float64, w.Len())
	quarter := [9]float64{0, -1, 0, 1, 0, 0, 0, 0, 1} // about the polar axis: swaps m and -m
	w.Fill(d, &quarter)
	for _, v := range d {
		if v != 0 && v != 1 && v != -1 || math.Signbit(v) && v == 0 {
			t.Fatalf("a quarter turn about the polar axis has the entry %g", v)
		}
	}
}

func TestSplit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := drawRotation(t)
		a := r
		sign := rapid.Bool().Draw(t, "improper")
		if sign {
			for i := range a {
				a[i] = -a[i]
			}
		}
		got, improper, ok := irreps.Split(&a, 1e-9)
		if !ok || improper != sign || got != r {
			t.Fatalf("%v is %v, %t, %t", a, got, improper, ok)
		}
		a[4] += 1e-3
		if _, _, ok := irreps.Split(&a, 1e-9); ok {
			t.Fatal("a matrix that stretches is taken for a rotation")
		}
	})
	nan := [9]float64{math.NaN(), 0, 0, 0, 1, 0, 0, 0, 1}
	if _, _, ok := irreps.Split(&nan, 1e-9); ok {
		t.Fatal("NaN is taken for a rotation")
	}
}

func TestNewWignerRefuses(t *testing.T) {
	if _, err := irreps.NewWigner(irreps.MaxL+1, irreps.PolarY); err == nil {
		t.Error("degree 13 is accepted")
	}
	if _, err := irreps.NewWigner(2, irreps.Basis(7)); err == nil {
		t.Error("an unknown basis is accepted")
	}
}

// BenchmarkWigner is degree 0 to 6, and to the highest, for 1,000 rotations, in memory that is handed in.
func BenchmarkWigner(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	all := make([][9]float64, 1000)
	for i := range all {
		all[i] = haar(r)
	}
	for _, top := range []int{6, irreps.MaxL} {
		b.Run(strconv.Itoa(top), func(b *testing.B) {
			w := newWigner(b, top, irreps.PolarY)
			d := make([]float64, w.Len())
			b.ReportAllocs()
			for b.Loop() {
				for i := range all {
					w.Fill(d, &all[i])
				}
			}
		})
	}
}

// Matrices and harmonics take no memory but what they are handed.
func TestNoAllocations(t *testing.T) {
	w := newWigner(t, irreps.MaxL, irreps.PolarY)
	d, y := make([]float64, w.Len()), make([]float64, (irreps.MaxL+1)*(irreps.MaxL+1))
	r := haar(rand.New(rand.NewPCG(3, 4)))
	if n := testing.AllocsPerRun(10, func() {
		w.Fill(d, &r)
		irreps.Harmonics(y, irreps.MaxL, irreps.PolarY, r[0], r[1], r[2])
	}); n != 0 {
		t.Errorf("%g allocations", n)
	}
}
