package feature_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"pgregory.net/rapid"

	"nero/symmetry/feature"
	"nero/symmetry/group"
)

const side = 5

// turned is a square plane turned counter-clockwise k times: out(p) = in(R⁻¹p).
func turned(k int, x []float64, n int) []float64 {
	for range k % 4 {
		y := make([]float64, len(x))
		for r := range n {
			for c := range n {
				y[r*n+c] = x[c*n+n-1-r] // the last column becomes the first row
			}
		}
		x = y
	}
	return x
}

// correlate is the 3×3 correlation with zeros outside, followed by the absolute value less a little.
func correlate(x, k []float64) []float64 {
	y := make([]float64, side*side)
	for r := range side {
		for c := range side {
			var s float64
			for i := range 3 {
				for j := range 3 {
					if rr, cc := r+i-1, c+j-1; rr >= 0 && rr < side && cc >= 0 && cc < side {
						s += k[i*3+j] * x[rr*side+cc]
					}
				}
			}
			y[r*side+c] = max(0, s)
		}
	}
	return y
}

// lifting is the first layer of a group convolution over quarter turns (Cohen and Welling 2016): channel order[4f+k] is
// the picture filtered with filter f turned k times. Broken lists channels whose filter is spoiled.
func lifting(filters [][]float64, order []int, spoil map[int][]float64) func(x []float64) []float64 {
	return func(x []float64) []float64 {
		out := make([]float64, len(order)*side*side)
		for i, at := range order {
			k := turned(i%4, filters[i/4], 3)
			if s := spoil[at]; s != nil {
				k = slices.Clone(k)
				for j := range k {
					k[j] += s[j]
				}
			}
			copy(out[at*side*side:], correlate(x, k))
		}
		return out
	}
}

// pairs are n samples at every quarter turn.
func pairs(n int, r *rand.Rand, f func(x []float64) []float64) []feature.Pair {
	var out []feature.Pair
	for i := range n {
		x := noise(r, side*side)
		for k := 1; k < 4; k++ {
			out = append(out, feature.Pair{
				G: group.Element{float64(90 * k)}, Object: i, X: f(x),
				Y: f(turned(k, x, side)),
			})
		}
	}
	return out
}

// The permutation of the channels of a group convolution is found in any order of the channels, whatever the filters,
// and also when one channel is broken; a layer without that structure is explained by nothing.
func TestGroupConvolution(t *testing.T) {
	f := frame(t, cyclic(t, 4))
	grid := []feature.Grid{feature.At(side, side, 1)}
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		fields := rapid.IntRange(1, 2).Draw(t, "fields")
		filters := make([][]float64, fields)
		for i := range filters {
			filters[i] = noise(r, 9)
			floats.Scale(1/floats.Norm(filters[i], 2), filters[i])
		}
		order := r.Perm(4 * fields)
		spoil := map[int][]float64{}
		broken := rapid.Bool().Draw(t, "broken") && fields > 1
		if broken {
			// A small break: a larger one may well look more like another structure.
			s := noise(r, 9)
			floats.Scale(0.05/floats.Norm(s, 2), s)
			spoil[r.IntN(4*fields)] = s
		}
		shape := []int{4 * fields, side, side}
		got, fit, err := f.Infer(pairs(4, r, lifting(filters, order, spoil)), f.Candidates(shape, grid),
			feature.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if got == nil || got.Kind() != feature.Regular || got.Origin != feature.ByData {
			t.Fatalf("found %v, explained %g of %d", got, fit.Explained, fit.Varying)
		}
		if full := fit.Explained == 1; full == broken {
			t.Fatalf("explained %g, broken %v", fit.Explained, broken)
		}
		m := got.Parts()[0].Mix
		for e, g := range m.Elements {
			k := int(g[0] / 90)
			for i, at := range order {
				if from := order[i/4*4+(i%4+4-k)%4]; int(m.From[e][at]) != from {
					t.Fatalf("at %v channel %d comes from %d, want %d (broken %v)", g, at, m.From[e][at], from, spoil)
				}
			}
		}
	})
}

func TestNothingExplainsABrokenLayer(t *testing.T) {
	f := frame(t, cyclic(t, 4))
	grid := []feature.Grid{feature.At(side, side, 1)}
	for seed := range uint64(5) {
		r := rand.New(rand.NewPCG(seed, 2))
		kernels := make([][]float64, 8)
		for i := range kernels {
			kernels[i] = noise(r, 9)
		}
		conv := func(x []float64) []float64 {
			var out []float64
			for _, k := range kernels {
				out = append(out, correlate(x, k)...)
			}
			return out
		}
		got, fit, err := f.Infer(pairs(6, r, conv), f.Candidates([]int{8, side, side}, grid), feature.Limits{})
		if err != nil || got != nil || fit.Constant() {
			t.Fatalf("eight filters of no symmetry are explained by %v, %v (%+v)", got, err, fit)
		}
		dense := noise(r, 16*side*side)
		layer := func(x []float64) []float64 {
			out := make([]float64, 16)
			for i := range out {
				for j, v := range x {
					out[i] += dense[i*len(x)+j] * v
				}
			}
			return out
		}
		if got, _, err := f.Infer(pairs(8, r, layer), f.Candidates([]int{16}, grid), feature.Limits{}); err != nil ||
			got != nil {
			t.Fatalf("a dense layer of no symmetry is explained by %v, %v", got, err)
		}
	}
}

// Each form is told from the others.
func TestForms(t *testing.T) {
	f := frame(t, cyclic(t, 4))
	grid := []feature.Grid{feature.At(side, side, 1)}
	symmetric := []float64{1, 2, 1, 2, -3, 2, 1, 2, 1}
	mean := func(x []float64) float64 {
		var s float64
		for _, v := range x {
			s += v
		}
		return s
	}
	blur := func(x []float64) []float64 { return correlate(x, symmetric) }
	// the derivative along x and along y: a vector field, whose components change sign
	edge := func(x []float64) []float64 {
		var out []float64
		for i := range 2 {
			k := [][]float64{{0, 0, 0, -1, 0, 1, 0, 0, 0}, {0, -1, 0, 0, 0, 0, 0, 1, 0}}[i]
			n := slices.Clone(k)
			for j := range n {
				n[j] = -k[j]
			}
			a, b := correlate(x, k), correlate(x, n)
			for j := range a {
				a[j] -= b[j]
			}
			out = append(out, a...)
		}
		return out
	}
	for _, c := range []struct {
		name  string
		shape []int
		f     func(x []float64) []float64
		want  string
	}{
		{
			"sums",
			[]int{2},
			func(x []float64) []float64 { b := blur(x); return []float64{mean(b), mean(x)} },
			"trivial 2",
		},
		{"map", []int{1, side, side}, blur, "spatial 1×5×5"},
		{
			"two equal maps",
			[]int{2, side, side},
			func(x []float64) []float64 { return append(blur(x), blur(x)...) },
			"spatial 2×5×5",
		},
		{"flat", []int{side * side}, blur, "permutation 1×5×5"},
		{"channels last", []int{side, side, 2}, func(x []float64) []float64 {
			var out []float64
			for i, v := range blur(x) {
				out = append(out, v, x[i])
			}
			return out
		}, "spatial 2×5×5"},
		{"tokens", []int{side*side + 1, 2}, func(x []float64) []float64 {
			out := []float64{mean(blur(x)), mean(x)}
			for i, v := range blur(x) {
				out = append(out, v, x[i])
			}
			return out
		}, "mixed 2 + 2×5×5"},
		{"products of places", []int{1, side * side, side * side}, func(x []float64) []float64 {
			var out []float64
			for _, a := range blur(x) {
				for _, b := range x {
					out = append(out, a*b)
				}
			}
			return out
		}, "spatial 1×5×5×5×5"},
		{"vector field", []int{2, side, side}, edge, "regular 2×5×5, 1 field"},
		{"four sums", []int{4}, func(x []float64) []float64 {
			out := make([]float64, 4)
			for k := range out {
				out[k] = mean(correlate(x, turned(k, []float64{1, 2, 3, 4, -9, 0, 1, -3, 0.5}, 3)))
			}
			return out
		}, "regular 4, 1 field"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, fit, err := f.Infer(pairs(6, rand.New(rand.NewPCG(1, 9)), c.f), f.Candidates(c.shape, grid),
				feature.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			if got == nil || got.String() != c.want || fit.Explained != 1 {
				t.Errorf("found %v, want %s; %+v", got, c.want, fit)
			}
		})
	}
	got, fit, err := f.Infer(pairs(6, rand.New(rand.NewPCG(1, 9)),
		func([]float64) []float64 { return []float64{1, 2} }),
		f.Candidates([]int{2}, grid), feature.Limits{})
	if err != nil || got != nil || !fit.Constant() {
		t.Errorf("a constant is explained by %v, %+v, %v", got, fit, err)
	}
}

// Matrices are found where there are any, and their error is seen where there are none.
func TestFitLinear(t *testing.T) {
	g := cyclic(t, 8)
	f := frame(t, g)
	r := rand.New(rand.NewPCG(4, 4))
	basis := noise(r, 9)
	// B diag(R(2πk/8), 1) B⁻¹ would need an inverse: act on coordinates, then mix
	act := func(k int, x []float64) []float64 {
		s, c := math.Sincos(2 * math.Pi * float64(k) / 8)
		y := []float64{c*x[0] - s*x[1], s*x[0] + c*x[1], x[2]}
		z := make([]float64, 3)
		for i := range 3 {
			for j := range 3 {
				z[i] += basis[i*3+j] * y[j]
			}
		}
		return z
	}
	var good, bad []feature.Pair
	for i := range 60 {
		x := noise(r, 3)
		for k := 1; k < 8; k++ {
			e := group.Element{45 * float64(k)}
			good = append(good, feature.Pair{G: e, Object: i, X: act(0, x), Y: act(k, x)})
			bad = append(bad, feature.Pair{G: e, Object: i, X: act(0, x), Y: noise(r, 3)})
		}
	}
	rep, fit, err := f.FitLinear(good, []int{3})
	if err != nil {
		t.Fatal(err)
	}
	if !(fit.R2 > 1-1e-9) || !(fit.Defect < 1e-6) || rep.Kind() != feature.Linear {
		t.Errorf("matrices that exist: %+v", fit)
	}
	x := []float64{0.3, -1, 2}
	if got, want := apply(t, rep, group.Element{90}, act(0, x)), act(2, x); math.Abs(got[0]-want[0])+
		math.Abs(got[1]-want[1])+math.Abs(got[2]-want[2]) > 1e-6 {
		t.Errorf("ρ(90°)x is %v, want %v", got, want)
	}
	if _, fit, err = f.FitLinear(bad, []int{3}); err != nil || fit.R2 > 0.2 || !(fit.Defect > 0.3) {
		t.Errorf("noise: %+v, %v", fit, err)
	}
	// R² is that of objects held out: what few samples fit by chance explains no others.
	if _, fit, err = f.FitLinear(bad[:7*9], []int{3}); err != nil || !(fit.R2 < 0) {
		t.Errorf("nine samples of noise: %+v, %v", fit, err)
	}
	if _, _, err := f.FitLinear(good[:7*8], []int{3}); err == nil {
		t.Error("eight samples for vectors of three numbers are not refused")
	}
}

// Channels that change places in a way that is no representation are not explained by it, however well each element
// fits.
func TestPermutationsMustCompose(t *testing.T) {
	f := frame(t, cyclic(t, 4))
	// the half turn is not twice the quarter turn
	orders := map[int][]int{0: {0, 1, 2, 3}, 1: {1, 2, 3, 0}, 2: {1, 0, 3, 2}, 3: {3, 0, 1, 2}}
	var list []feature.Pair
	r := rand.New(rand.NewPCG(6, 6))
	for i := range 6 {
		x := noise(r, 4)
		for k := 1; k < 4; k++ {
			y := make([]float64, 4)
			for c := range y {
				y[c] = x[orders[k][c]]
			}
			list = append(list, feature.Pair{G: group.Element{float64(90 * k)}, Object: i, X: x, Y: y})
		}
	}
	if got, _, err := f.Infer(list, f.Candidates([]int{4}, nil), feature.Limits{}); err != nil || got != nil {
		t.Errorf("found %v, %v", got, err)
	}
	// Nor is an order that holds for every other sample alone.
	half := slices.Clone(list)
	for i, p := range half {
		half[i].Y = p.X
		if k := int(p.G[0] / 90); p.Object%2 == 0 {
			half[i].Y = append(slices.Clone(p.X[k:]), p.X[:k]...)
		} else {
			half[i].Y = []float64{p.X[1], p.X[0], p.X[2], p.X[3]}
		}
	}
	if got, _, err := f.Infer(half, f.Candidates([]int{4}, nil), feature.Limits{}); err != nil || got != nil {
		t.Errorf("found %v, %v", got, err)
	}
	for i := range list { // with the right half turn they are found
		if list[i].G[0] == 180 {
			x := list[i].X
			list[i].Y = []float64{x[2], x[3], x[0], x[1]}
		}
	}
	if got, _, err := f.Infer(list, f.Candidates([]int{4}, nil), feature.Limits{}); err != nil || got == nil ||
		got.Kind() != feature.Regular {
		t.Errorf("found %v, %v", got, err)
	}
}
