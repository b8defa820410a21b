package action_test

import (
	"fmt"
	"math"
	"math/cmplx"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"nero/data/space"
	"nero/symmetry/action"
	"nero/symmetry/action/actiontest"
	"nero/symmetry/group"
	"nero/symmetry/group/catalog"
)

// layers applies generic k×k convolutions with tanh between, "same" padding p = (k-1)/2 of zeros or around the torus.
func layers(x *space.Image, count, k int, circular bool, seed uint64) *space.Image {
	r := rand.New(rand.NewPCG(seed, 99))
	p := (k - 1) / 2
	for range count {
		wt := make([]float64, k*k)
		for i := range wt {
			wt[i] = r.NormFloat64() / float64(k)
		}
		y := space.NewImage(1, x.H, x.W)
		for row := range x.H {
			for col := range x.W {
				sum := 0.1
				for i := range k {
					for j := range k {
						a, b := row+i-p, col+j-p
						if circular {
							a, b = ((a%x.H)+x.H)%x.H, ((b%x.W)+x.W)%x.W
						} else if a < 0 || b < 0 || a >= x.H || b >= x.W {
							continue
						}
						sum += wt[i*k+j] * x.Pix[a*x.W+b]
					}
				}
				y.Pix[row*x.W+col] = math.Tanh(sum)
			}
		}
		x = y
	}
	return x
}

// differing lists the columns in which f(Tx) and Tf(x) differ, T rolling by r columns.
func differing(tb testing.TB, h, w, r, k, count int, circular bool, seed uint64) []int {
	tb.Helper()
	g, err := catalog.Roll(h, w)
	if err != nil {
		tb.Fatal(err)
	}
	a, err := action.NewImage(g, imageSpec(1, h, w), action.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	roll := group.Element{float64(r), 0}
	x := space.NewImage(1, h, w)
	copy(x.Pix, noise(seed, len(x.Pix)))
	fT := layers(as[*space.Image](a.Apply(roll, x)), count, k, circular, seed)
	tf := as[*space.Image](a.Apply(roll, layers(x, count, k, circular, seed)))
	var o []int
	for c := range w {
		for row := range h {
			if fT.Pix[row*w+c] != tf.Pix[row*w+c] {
				o = append(o, c)
				break
			}
		}
	}
	return o
}

// TestPaddingLaw: metrics, worked example 1. Both sides add the same numbers in the same order wherever no padding is
// seen, so equality is bit for bit.
func TestPaddingLaw(t *testing.T) {
	for count, want := range map[int][]int{1: {0, 6, 7, 19}, 2: {0, 1, 5, 6, 7, 8, 18, 19}} {
		if got := differing(t, 5, 20, 7, 3, count, false, 1); !slices.Equal(got, want) {
			t.Errorf("%d layers with zero padding: columns %v differ, want %v", count, got, want)
		}
		if got := differing(t, 5, 20, 7, 3, count, true, 1); got != nil {
			t.Errorf("%d layers with circular padding: columns %v differ", count, got)
		}
	}
	rapid.Check(t, func(rt *rapid.T) {
		w := rapid.IntRange(2, 30).Draw(rt, "W")
		r := rapid.IntRange(1, w-1).Draw(rt, "r")
		k := rapid.SampledFrom([]int{3, 5}).Draw(rt, "k")
		count := rapid.IntRange(1, 3).Draw(rt, "L")
		seed := rapid.Uint64Range(1, 1000).Draw(rt, "seed")
		band := count * (k - 1) / 2
		bad := make([]bool, w)
		for i := range band {
			for _, c := range []int{i, w - 1 - i, r + i, r - 1 - i} {
				bad[((c%w)+w)%w] = true
			}
		}
		var want []int
		for c, b := range bad {
			if b {
				want = append(want, c)
			}
		}
		if got := differing(t, 6, w, r, k, count, false, seed); !slices.Equal(got, want) {
			rt.Errorf("columns %v differ, want %v", got, want)
		}
		if got := differing(t, 6, w, r, k, count, true, seed); got != nil {
			rt.Errorf("circular padding: columns %v differ", got)
		}
	})
}

// TestBilinearRoundTrip: metrics, worked example 2, term by term and as the gain on white noise.
func TestBilinearRoundTrip(t *testing.T) {
	const n = 256
	x := noisy(1, n, n)
	act := newImage(t, parse(t, "T(2)"), n, n, action.Options{Border: action.Circular})
	for _, a := range []float64{0, 0.1, 0.25, 0.5, 0.7} {
		back := as[*space.Image](act.Apply(group.Element{-a, 0}, must(act.Apply(group.Element{a, 0}, x))))
		var diff, size float64
		for r := range n {
			for c := range n {
				at := func(c int) float64 { return x.Pix[r*n+(c+n)%n] }
				want := ((1-a)*(1-a)+a*a)*at(c) + a*(1-a)*(at(c-1)+at(c+1))
				got := back.Pix[r*n+c]
				if !(math.Abs(got-want) <= 1e-14*10) {
					t.Fatalf("shift by %g and back: %v at row %d, column %d, want %v", a, got, r, c, want)
				}
				diff += (got - at(c)) * (got - at(c))
				size += at(c) * at(c)
			}
		}
		got, want := math.Sqrt(diff/size), 2*a*(1-a)*math.Sqrt(1.5)
		if !(math.Abs(got-want) <= 0.01*want) { // the noise is a sample of 65536 numbers
			t.Errorf("shift by %g and back: relative change %.4f, want %.4f", a, got, want)
		}
		if a == 0.25 && !(math.Abs(got-0.4593) <= 0.005) {
			t.Errorf("shift by a quarter and back: %.4f, want 0.4593", got)
		}
	}
}

// TestOneWayGain: on a cosine of angular frequency ω a kernel φ that shifts by a multiplies by Σ φ(j-a)·exp(-iωj), so
// the relative error is the distance of that from exp(-iωa). For the bilinear kernel the sum is (1-a) + a·exp(-iω).
func TestOneWayGain(t *testing.T) {
	const n = 60
	rapid.Check(t, func(rt *rapid.T) {
		a := rapid.Float64Range(0.01, 0.99).Draw(rt, "shift")
		waves := rapid.IntRange(1, n/2-1).Draw(rt, "waves")
		phase := rapid.Float64Range(0, 6).Draw(rt, "phase")
		k := rapid.SampledFrom([]action.Kernel{action.Bilinear, action.Bicubic, action.Lanczos, action.Spline}).Draw(rt,
			"kernel")
		omega := 2 * math.Pi * float64(waves) / n
		x, want := space.NewImage(1, 1, n), space.NewImage(1, 1, n)
		for c := range n {
			x.Pix[c] = math.Cos(omega*float64(c) + phase)
			want.Pix[c] = math.Cos(omega*(float64(c)-a) + phase)
		}
		act := newImage(t, parse(t, "T(2)"), 1, n, action.Options{Border: action.Circular, Kernel: k})
		got := as[*space.Image](act.Apply(group.Element{a, 0}, x))
		var diff, size float64
		for c := range n {
			diff += (got.Pix[c] - want.Pix[c]) * (got.Pix[c] - want.Pix[c])
			size += want.Pix[c] * want.Pix[c]
		}
		var gain complex128
		var sum float64
		for j := -3; j <= 4; j++ {
			w := kernel(k, float64(j)-a)
			gain += complex(w, 0) * cmplx.Exp(complex(0, -omega*float64(j)))
			sum += w
		}
		switch k { //nolint:exhaustive // the others have no denominator
		case action.Lanczos:
			gain /= complex(sum, 0)
		case action.Spline: // the prefilter divides by the sampled B-spline, (4 + 2 cos ω)/6
			gain /= complex((4+2*math.Cos(omega))/6, 0)
		case action.Bilinear:
			if d := cmplx.Abs(gain - (complex(1-a, 0) + complex(a, 0)*cmplx.Exp(complex(0, -omega)))); !(d < 1e-12) {
				rt.Fatalf("the bilinear gain is off by %g", d)
			}
		}
		if g, w := math.Sqrt(diff/size), cmplx.Abs(gain-cmplx.Exp(complex(0, -omega*a))); !(math.Abs(g-w) <= 1e-9) {
			rt.Errorf("%s: relative error %.12f, want %.12f", k, g, w)
		}
	})
}

// TestHalfTurnReverses: about (n-1)/2 the half turn is the reversal of all indices; about n/2 it would not be.
func TestHalfTurnReverses(t *testing.T) {
	for kind, o := range options() {
		t.Run(kind, func(t *testing.T) {
			if o.Kernel == action.Up3 {
				return
			}
			for _, s := range [][2]int{{4, 4}, {5, 5}, {3, 8}, {1, 7}} {
				x := noisy(2, s[0], s[1])
				got := as[*space.Image](newImage(t, parse(t, "SO(2)"), s[0], s[1], o).Apply(group.Element{180}, x))
				for k := range 2 {
					want := slices.Clone(x.Plane(k))
					slices.Reverse(want)
					if !slices.Equal(got.Plane(k), want) {
						t.Errorf("%v: the half turn is not the reversal", s)
					}
				}
			}
		})
	}
}

// TestAgainstOtherLibraries compares with numbers computed elsewhere.
//
// Spline: SciPy 1.10.1, ndimage.spline_filter1d and map_coordinates with order 3 in modes "mirror" and "grid-wrap"; for
// zeros outside, mode "mirror" after padding with 40 zeros. Bicubic and Lanczos: Pillow 9.4.0, Image.resize of a
// float32 picture with a box of eight pixels, which computes in float32.
func TestAgainstOtherLibraries(t *testing.T) {
	x := &space.Image{C: 1, H: 1, W: 16, Pix: []float64{3, -1, 4, 1, -5, 9, 2, -6, 5, 3, 5, -8, 9, 7, 9, 3}}
	read := func(o action.Options, at float64) float64 {
		// Shifting by 8-at brings the point to pixel 8; a hair more keeps whole points on the path that resamples.
		a := newImage(t, parse(t, "T(2)"), 1, 16, o)
		return as[*space.Image](a.Apply(group.Element{8 - at, 1e-300}, x)).Pix[8]
	}
	for _, c := range []struct {
		border action.Border
		at     []float64
		want   []float64
	}{
		{
			action.Reflect,
			[]float64{0, 0.25, 1.5, 3.9, 7, 9.125, 12.6, 14.75},
			[]float64{
				3.0000000000000004, 2.3855080899513315, 0.9848921339822453, -5.44711014747029, -6.0,
				3.298653321247812, 9.09066180558513, 3.8224205218932576,
			},
		},
		{
			action.Circular,
			[]float64{0, 0.25, 1.5, 3.9, 7, 9.125, 12.6, 14.75},
			[]float64{
				3.000000000000003, 2.048963319219442, 1.0781940353460966, -5.44581259204713, -6.000000000000001,
				3.2984606556056706, 9.134244477172315, 4.370299843519883,
			},
		},
		{
			action.Zero,
			[]float64{-1.75, -0.5, 0, 0.25, 1.5, 3.9, 9.125, 14.75, 15, 15.5, 16.75},
			[]float64{
				-0.2378362211438032, 2.038781495361718, 3.0000000000000004, 2.156118776388359, 1.0484867981696908,
				-5.446225900636708, 3.298307417336128, 4.801176985357995, 3.0, 0.7887682086206059,
				-0.05914783127598792,
			},
		},
	} {
		for i, at := range c.at {
			if got := read(action.Options{Kernel: action.Spline, Border: c.border},
				at); !(math.Abs(got-c.want[i]) <= 1e-12) {
				t.Errorf("spline, %s, at %g: %.15g, SciPy has %.15g", c.border, at, got, c.want[i])
			}
		}
	}
	for _, c := range []struct {
		kernel action.Kernel
		from   float64
		want   []float64
	}{
		{action.Bilinear, 3.25, []float64{-0.5, -1.5, 7.25, 0.0, -3.25, 4.5, 3.5, 1.75}},
		{action.Bicubic, 3.25, []float64{
			-0.7578125, -2.4140625, 8.75, -0.375, -4.28125, 5.3203125, 3.5703125,
			2.1015625,
		}},
		{action.Bicubic, 3.5, []float64{-3.0625, 2.0625, 6.875, -3.125, -0.875, 4.5625, 4.6875, -2.4375}},
		{action.Bicubic, 3.9, []float64{
			-5.196499824523926, 8.36050033569336, 2.835000514984131, -5.964999675750732,
			4.340998649597168, 3.0965003967285156, 5.389500617980957, -7.847498416900635,
		}},
		{action.Lanczos, 3.25, []float64{
			-1.6227117776870728, -2.217848300933838, 9.718318939208984,
			-1.5084065198898315, -4.164210796356201, 5.73774528503418, 3.7967007160186768, 1.4861793518066406,
		}},
		{action.Lanczos, 3.5, []float64{
			-4.1875, 1.9891303777694702, 8.36684799194336, -4.3967390060424805,
			-0.948369562625885, 4.880434989929199, 5.3722825050354, -3.1711957454681396,
		}},
		{action.Lanczos, 3.9, []float64{
			-5.51890754699707, 8.108275413513184, 3.441880464553833, -6.2300004959106445,
			4.185317516326904, 3.0690577030181885, 5.79087495803833, -7.97377872467041,
		}},
	} {
		for i, want := range c.want {
			if got := read(action.Options{Kernel: c.kernel}, c.from+float64(i)); !(math.Abs(got-want) <= 5e-6) {
				t.Errorf("%s at %g: %.9g, Pillow has %.9g", c.kernel, c.from+float64(i), got, want)
			}
		}
	}
}

// TestUp3AgainstPillow: the steps of the paper's tool in Pillow 9.4.0, resize(36×36), rotate, resize(12×12), all
// BILINEAR on a float32 picture. The picture is empty where Pillow treats borders in its own way.
func TestUp3AgainstPillow(t *testing.T) {
	x := space.NewImage(1, 12, 12)
	for i, v := range []float64{7, 1, 4, 9, 2, 6, 3, 8, 5, 1, 9, 2, 6, 2, 9, 4, 7, 1, 1, 5, 3, 8, 2, 9} {
		x.Pix[(4+i/6)*12+3+i%6] = v
	}
	a := newImage(t, parse(t, "SO(2)"), 12, 12, action.Options{Kernel: action.Up3})
	for angle, want := range up3Pillow() {
		got := as[*space.Image](a.Apply(group.Element{angle}, x))
		for i, r := range []int{4, 6, 8} {
			for j, c := range []int{3, 5, 8} {
				if g := got.Pix[r*12+c]; !(math.Abs(g-want[i][j]) <= 3e-5) {
					t.Errorf("%g degrees, row %d, column %d: %.6f, Pillow has %.5f", angle, r, c, g, want[i][j])
				}
			}
		}
	}
}

func up3Pillow() map[float64][3][3]float64 {
	return map[float64][3][3]float64{
		0:   {{4.05898, 3.74211, 3.58573}, {3.88203, 6.39918, 2.61317}, {0.21399, 0.59808, 0.98217}},
		30:  {{0.29684, 5.16334, 1.15267}, {4.15557, 6.10653, 3.71557}, {0.77601, 2.12799, 0.0}},
		90:  {{0.53772, 6.14678, 0.58162}, {0.63649, 5.12071, 0.59808}, {0.75171, 3.74074, 0.21399}},
		200: {{1.42649, 4.39321, 2.7636}, {2.44558, 4.13136, 4.17603}, {1.52621, 1.52405, 0.00524}},
	}
}

func ExampleTable_For() {
	g, err := catalog.Parse("C4")
	if err != nil {
		fmt.Println(err)
		return
	}
	spec := space.Spec{Name: "photo", Kind: space.KindImage, Shape: []int{1, 2, 2}}
	a, err := action.Rules().For(g, spec, action.Options{Kernel: action.Bicubic})
	if err != nil {
		fmt.Println(err)
		return
	}
	x := &space.Image{C: 1, H: 2, W: 2, Pix: []float64{1, 2, 3, 4}}
	y, err := a.Apply(group.Element{90}, x)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(actiontest.Distance(y, &space.Image{C: 1, H: 2, W: 2, Pix: []float64{2, 4, 1, 3}}),
		action.Exact(a, group.Element{90}))
	// Output: 0 true
}
