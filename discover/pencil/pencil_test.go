package pencil

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
)

// function wraps a function of one input.
func function(d, m int, f func(x []float64) []float64) Function {
	return Function{In: d, Out: m, At: func(_ context.Context, x [][]float64) ([][]float64, error) {
		out := make([][]float64, len(x))
		for i := range x {
			out[i] = f(x[i])
		}
		return out, nil
	}}
}

// scalar wraps a function of one number.
func scalar(d int, f func(x []float64) float64) Function {
	return function(d, 1, func(x []float64) []float64 { return []float64{f(x)} })
}

// single rounds what goes in and comes out to float32, as an engine does.
func single(f Function) Function {
	round := func(x [][]float64) [][]float64 {
		out := make([][]float64, len(x))
		for i, row := range x {
			for _, v := range row {
				out[i] = append(out[i], float64(float32(v)))
			}
		}
		return out
	}
	at := f.At
	f.Roundoff = 0x1p-24
	f.At = func(ctx context.Context, x [][]float64) ([][]float64, error) {
		y, err := at(ctx, round(x))
		return round(y), err
	}
	return f
}

// normal draws n inputs of d numbers.
func normal(seed uint64, n, d int) [][]float64 {
	r := rand.New(rand.NewPCG(seed, 77))
	x := make([][]float64, n)
	for i := range x {
		for range d {
			x[i] = append(x[i], r.NormFloat64())
		}
	}
	return x
}

func ask(tb testing.TB, f Function, x [][]float64, o Options) *Result {
	tb.Helper()
	r, err := Find(tb.Context(), f, x, o)
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

func square(x []float64) float64 { return dot(x, x) }

// generic is a matrix that has nothing to do with anything.
func generic(x []float64) []float64 {
	q := [3][3]float64{{0.9, -0.4, 0.3}, {0.2, 1.1, -0.7}, {-0.5, 0.6, 0.8}}
	out := make([]float64, 3)
	for i := range out {
		out[i] = dot(q[i][:], x)
	}
	return out
}

func scaled(v []float64, f float64) []float64 {
	scale(v, f)
	return v
}

var minkowski = scalar(4, func(x []float64) float64 {
	return math.Tanh(0.3 * (x[0]*x[0] - x[1]*x[1] - x[2]*x[2] - x[3]*x[3]))
})

// uniform draws n inputs of d numbers from -1 to 1.
func uniform(seed uint64, n, d int) [][]float64 {
	r := rand.New(rand.NewPCG(seed, 78))
	x := make([][]float64, n)
	for i := range x {
		for range d {
			x[i] = append(x[i], 2*r.Float64()-1)
		}
	}
	return x
}

func near(tb testing.TB, what string, got, want, slack float64) {
	tb.Helper()
	if !(math.Abs(got-want) <= slack) {
		tb.Errorf("%s: %g, want %g ± %g", what, got, want, slack)
	}
}

// The functions whose algebras are known in closed form, in both precisions: each settled at the right dimension, by
// all
// bootstraps.
func TestKnownAlgebras(t *testing.T) {
	t.Parallel()
	tilted := generic([]float64{0.3, -1, 0.2})
	for _, c := range []struct {
		name    string
		f       Function
		x       [][]float64
		o       Options
		want    int
		killing [3]int
		form    []float64 // its diagonal
		algebra string
	}{
		{
			name: "ball", f: scalar(3, square), want: 3, killing: [3]int{0, 3, 0}, form: []float64{1, 1, 1},
			algebra: "so(3): all turns",
		},
		{
			name: "Minkowski", f: minkowski, want: 6, killing: [3]int{3, 3, 0}, form: []float64{-1, 1, 1, 1},
			algebra: "so(3,1): turns and boosts, time is coordinate 1",
		},
		{
			name: "ellipse", f: scalar(2, func(x []float64) float64 { return x[0]*x[0] + 4*x[1]*x[1] }), want: 1,
			killing: [3]int{0, 0, 1}, form: []float64{1, 4}, algebra: "so(2) of diag(1, 4)",
		},
		{
			// Stretched, not soft: all of so(4), in another basis.
			name: "stretched", f: scalar(4, func(x []float64) float64 { return square(x) + 0.1*x[3]*x[3] }), want: 6,
			killing: [3]int{0, 6, 0}, form: []float64{1, 1, 1, 1.1}, algebra: "so(4) of diag(1, 1, 1, 1.1)",
		},
		{
			name: "none", x: uniform(3, 200, 3), f: scalar(3, func(x []float64) float64 {
				s := x[0]
				for _, v := range x {
					s += v * v * v * v
				}
				return s
			}),
		},
		{
			name: "so(3) and scaling", o: Options{Joint: true}, want: 4, killing: [3]int{0, 3, 1},
			f:       function(3, 3, func(x []float64) []float64 { return scaled(generic(x), square(x)) }),
			algebra: "so(3) + R: all turns and scaling",
		},
		{
			name: "so(3) alone", o: Options{Joint: true}, want: 3, killing: [3]int{0, 3, 0}, form: []float64{1, 1, 1},
			f: function(3, 3, func(x []float64) []float64 {
				return scaled(generic(x), math.Exp(-square(x)/9))
			}),
			algebra: "so(3): all turns",
		},
		{
			name: "about a centre", o: Options{Affine: true}, want: 1, killing: [3]int{0, 0, 1}, form: []float64{1, 1},
			f: scalar(2, func(x []float64) float64 {
				return (x[0]-0.7)*(x[0]-0.7) + (x[1]+1.3)*(x[1]+1.3)
			}),
			algebra: "so(2): all turns about (0.7, -1.3)",
		},
		{
			// Distances of three points of the line: shifts of all alike, with a reflection that no family knows.
			name: "shifts", o: Options{Affine: true, Blocks: []Block{Points("", 0, 3, 1)}}, want: 1, x: uniform(4, 200,
				3),
			killing: [3]int{0, 0, 1}, algebra: "R1: all shifts",
			f: scalar(3, func(x []float64) float64 {
				return math.Sin(x[0]-x[1]) + (x[1]-x[2])*(x[1]-x[2])*(x[0]-x[2])
			}),
		},
		{
			// Turns of the plane orthogonal to a direction, and what is along it counts, too.
			name: "about an axis", want: 1, killing: [3]int{0, 0, 1}, algebra: "so(2)",
			f: scalar(3, func(x []float64) float64 {
				a := dot(x, tilted) / norm(tilted)
				return math.Sin(a) + square(x) - a*a
			}),
		},
	} {
		for _, of := range []string{"float64", "float32"} {
			t.Run(c.name+"/"+of, func(t *testing.T) {
				t.Parallel()
				x, f := c.x, c.f
				if x == nil {
					x = normal(1, 200, f.In)
				}
				if of == "float32" {
					f = single(f)
				}
				r := ask(t, f, x, c.o)
				if r.State != Settled || r.Dimension != c.want || r.Agree != 1 {
					t.Fatalf("%s: dimension %d of %d bootstraps in %g, want %d in all; σ = %.2g", r.State, r.Dimension,
						r.Bootstraps, r.Agree, c.want, r.Sigma)
				}
				if c.want == 0 {
					if r.Algebra != nil || len(r.Families) > 0 {
						t.Errorf("families %v of nothing", r.Families)
					}
					return
				}
				for _, l := range r.Families {
					if l.State != Holds {
						t.Errorf("σ = %g is called %s, with a floor of %g", l.Sigma, l.State, r.Floor)
					}
				}
				a := r.Algebra
				if a.Structure == nil || a.Structure.Killing != c.killing || a.Name != c.algebra || !a.Closed {
					t.Errorf("%q, defect %g, structure %+v; want %q, Killing %v", a.Name, a.Defect, a.Structure,
						c.algebra,
						c.killing)
				}
				if (a.Form == nil) != (c.form == nil) {
					t.Fatalf("form %v, want %v", a.Form, c.form)
				}
				for i, row := range a.Form {
					for j, v := range row {
						want := 0.0
						if i == j {
							want = c.form[i]
						}
						near(t, fmt.Sprint("form ", i, j), v, want, 1e-3)
					}
				}
			})
		}
	}
}

// Numbers beside the names: the centre of turns, degrees of homogeneous answers, and what turns in the answers.
func TestWhatMoves(t *testing.T) {
	t.Parallel()
	centred := scalar(2, func(x []float64) float64 { return (x[0]-0.7)*(x[0]-0.7) + (x[1]+1.3)*(x[1]+1.3) })
	r := ask(t, centred, normal(1, 200, 2), Options{Affine: true})
	near(t, "centre", r.Algebra.Fixed[0], 0.7, 1e-8)
	near(t, "centre", r.Algebra.Fixed[1], -1.3, 1e-8)

	cubic := function(3, 3, func(x []float64) []float64 { return scaled(generic(x), square(x)) })
	r = ask(t, cubic, normal(1, 200, 3), Options{Joint: true})
	grow := r.Algebra.Basis[0] // x -> cx, f -> c³f
	for i := range 3 {
		for j := range 3 {
			want := 0.0
			if i == j {
				want = 1
			}
			near(t, "scaling of x", grow.A[0][i][j], want, 1e-6)
			near(t, "scaling of f", grow.B[i][j], 3*want, 1e-6)
		}
	}
	for i, want := range []float64{1, 1, 1} {
		near(t, "spin", r.Algebra.Spins[i], want, 1e-6)
	}
	for _, turn := range r.Algebra.Turns[1:] {
		near(t, "turn", turn.Frequencies[0], 1, 1e-6)
		near(t, "turn of the answers", turn.Answers[0], 1, 1e-6)
		near(t, "period", turn.Period, 2*math.Pi, 1e-5)
	}
	// The entries of xxᵀ without its trace are l = 2; beside them stands the trace, l = 0.
	tensors := function(3, 6, func(x []float64) []float64 {
		var out []float64
		for i := range 3 {
			for j := i; j < 3; j++ {
				out = append(out, x[i]*x[j]*math.Exp(-square(x)/9))
			}
		}
		return out
	})
	r = ask(t, tensors, normal(2, 400, 3), Options{Joint: true})
	if r.Dimension != 3 || len(r.Algebra.Spins) != 6 {
		t.Fatalf("dimension %d, spins %v, σ = %.2g", r.Dimension, r.Algebra.Spins, r.Sigma)
	}
	for i, want := range []float64{0, 2, 2, 2, 2, 2} {
		near(t, "spin", r.Algebra.Spins[i], want, 1e-5)
	}
}

// What data do not span and what a function does not look at is told apart, and neither is a symmetry.
func TestQuotients(t *testing.T) {
	t.Parallel()
	// A plane of R³, and a function of the two coordinates in it.
	e, g, n := []float64{0.6, 0.8, 0}, []float64{-0.48, 0.36, 0.8}, []float64{0.64, -0.48, 0.6}
	f := scalar(3, func(x []float64) float64 {
		u, v := dot(x, e), dot(x, g)
		return math.Sin(u) + u*v*v + 0.3*v
	})
	x := uniform(1, 200, 2)
	for i, uv := range x {
		x[i] = make([]float64, 3)
		axpy(x[i], uv[0], e)
		axpy(x[i], uv[1], g)
	}
	r := ask(t, f, x, Options{})
	if r.State != Settled || r.Dimension != 0 || r.Unknowns != 4 {
		t.Errorf("%s: %d of %d unknowns; σ = %.2g", r.State, r.Dimension, r.Unknowns, r.Sigma)
	}
	if len(r.Quotients) != 2 || r.Quotients[0].Kind != "unspanned" || r.Quotients[0].Unknowns != 3 ||
		r.Quotients[1].Kind != "ignored" || r.Quotients[1].Unknowns != 2 {
		t.Fatalf("quotients %+v", r.Quotients)
	}
	for _, q := range r.Quotients {
		near(t, q.Kind, math.Abs(dot(q.Directions[0], n))/norm(q.Directions[0]), 1, 1e-2)
	}
	// Where the function is one of the distance in the plane, the turn is found after the quotients.
	r = ask(t, scalar(3, func(x []float64) float64 { return math.Exp(-square(x) + dot(x, n)*dot(x, n)) }), x, Options{})
	if r.Dimension != 1 || r.Algebra.Name != "so(2)" {
		t.Errorf("dimension %d, %+v", r.Dimension, r.Algebra)
	}
}

// Answers that say the same twice, nothing, or what follows from others are no evidence of their own.
func TestCollinearAnswers(t *testing.T) {
	t.Parallel()
	f := function(3, 4, func(x []float64) []float64 {
		a, b := math.Exp(-square(x)/9)*x[0], math.Exp(-square(x)/9)*x[1]
		return []float64{a, 7, b, a - 2*b + 1}
	})
	r := ask(t, f, normal(1, 300, 3), Options{Joint: true})
	if !slices.Equal(r.Constant, []int{1}) || r.Collinear != 1 {
		t.Errorf("constant %v, collinear %d; want answer 1, and 1", r.Constant, r.Collinear)
	}
	if r.Dimension != 1 { // turns of the first two; others would need the third component in the answer
		t.Errorf("dimension %d, σ = %.2g", r.Dimension, r.Sigma)
	}
	r = ask(t, scalar(3, func([]float64) float64 { return 5 }), normal(1, 20, 3), Options{})
	if r.State != Undetermined || r.Why == "" || r.Dimension != 0 {
		t.Errorf("a constant: %+v", r)
	}
}

// Softmax sums to one: one cotangent of ones would see nothing of it, and call everything a symmetry.
func TestSoftmax(t *testing.T) {
	t.Parallel()
	f := function(3, 3, func(x []float64) []float64 {
		z, sum := generic(x), 0.0
		for i := range z {
			z[i] = math.Exp(z[i])
			sum += z[i]
		}
		return scaled(z, 1/sum)
	})
	r := ask(t, f, normal(1, 200, 3), Options{})
	if r.Collinear != 1 || r.State != Settled || r.Dimension != 0 {
		t.Errorf("collinear %d, %s, dimension %d, σ = %.2g", r.Collinear, r.State, r.Dimension, r.Sigma)
	}
}

// Planted soft symmetries stand in the order of their violation, behind those that hold.
func TestSoftSymmetries(t *testing.T) {
	t.Parallel()
	// Turns of (0,1) hold; those of (2,3) are broken a little, those of (4,5) five times as much.
	f := scalar(6, func(x []float64) float64 {
		return x[0]*x[0] + x[1]*x[1] + math.Sin(1.3*(x[2]*x[2]+x[3]*x[3])+0.01*x[2]) +
			math.Exp(-(x[4]*x[4]+x[5]*x[5])/2+0.05*x[4])
	})
	r := ask(t, f, normal(1, 1000, 6), Options{})
	if r.State != Settled || r.Dimension != 1 || len(r.Families) != 3 {
		t.Fatalf("%s: dimension %d, families %d, σ = %.2g", r.State, r.Dimension, len(r.Families), r.Sigma[:5])
	}
	for k, want := range []string{Holds, Approximate, Approximate} {
		l := r.Families[k]
		if l.State != want {
			t.Errorf("family %d with σ = %g is %s, want %s", k, l.Sigma, l.State, want)
		}
		a, at := l.Moves.A[0], 2*k
		near(t, "plane", math.Abs(a[at][at+1]), 1, 0.1)
		near(t, "plane", math.Abs(a[at+1][at]), 1, 0.1)
	}
}

// Where nothing is, nothing is found: polynomials with random coefficients have no family, in 200 draws of them and of
// their inputs.
func TestNothingIsFound(t *testing.T) {
	t.Parallel()
	const seeds, alpha = 200, 0.05
	found := 0
	for seed := range uint64(seeds) {
		r := rand.New(rand.NewPCG(seed, 5))
		var c [3 + 9 + 27]float64
		for i := range c {
			c[i] = r.NormFloat64()
		}
		f := scalar(3, func(x []float64) float64 {
			y, at := dot(c[:3], x), 3
			for i := range 3 {
				for j := range 3 {
					y += c[at] * x[i] * x[j]
					at++
				}
			}
			for i := range 27 {
				y += c[at+i] * x[i/9] * x[i/3%3] * x[i%3]
			}
			return y
		})
		got := ask(t, single(f), uniform(seed, 60, 3), Options{Seed: seed, Bootstraps: 20})
		if got.State == Settled && got.Dimension > 0 {
			found++
		}
	}
	if found > alpha*seeds {
		t.Errorf("%d of %d functions without symmetry have one", found, seeds)
	}
}

// Derivatives lead to the same answer as differences do, and are refused where they are another function's.
func TestGradients(t *testing.T) {
	t.Parallel()
	f := function(3, 2, func(x []float64) []float64 { return []float64{square(x), math.Sin(square(x))} })
	wrong := 1.0
	f.Pull = func(_ context.Context, x, c [][]float64) ([][]float64, error) {
		out := make([][]float64, len(x))
		for i := range x {
			out[i] = make([]float64, 3)
			axpy(out[i], 2*(c[i][0]+c[i][1]*math.Cos(square(x[i]))), x[i])
			out[i][0] *= wrong
		}
		return out, nil
	}
	x := normal(1, 200, 3)
	r := ask(t, f, x, Options{})
	if r.Derivative != "gradients" || r.Dimension != 3 || r.Agree != 1 {
		t.Errorf("%s: dimension %d", r.Derivative, r.Dimension)
	}
	wrong = 2
	if _, err := Find(t.Context(), f, x, Options{}); !errors.Is(err, ErrOpen) {
		t.Errorf("a wrong derivative: %v", err)
	}
}

// One matrix moves all points; a second port that nobody turned is told from the first.
func TestPoints(t *testing.T) {
	t.Parallel()
	energy := func(x []float64) float64 {
		var e float64
		for i := 0; i < len(x); i += 3 {
			for j := range i / 3 {
				d := []float64{x[i] - x[3*j], x[i+1] - x[3*j+1], x[i+2] - x[3*j+2]}
				e += float64(1+j) * math.Exp(-square(d)/4)
			}
		}
		return e
	}
	x := normal(1, 60, 15)
	r := ask(t, scalar(15, energy), x, Options{Affine: true, Blocks: []Block{Points("", 0, 5, 3)}})
	if r.Dimension != 6 || r.Algebra.Name != "se(3): all turns and shifts" ||
		r.Algebra.Structure.Killing != [3]int{0, 3, 3} {
		t.Errorf("dimension %d, σ = %.2g, %+v", r.Dimension, r.Sigma, r.Algebra)
	}
	// Many points are asked along the unknowns, and not along each of their coordinates.
	many := normal(2, 30, 120)
	asked := 0
	f := scalar(120, func(x []float64) float64 { asked++; return energy(x) })
	r = ask(t, single(f), many, Options{Affine: true, Blocks: []Block{Points("", 0, 40, 3)}})
	if r.Dimension != 6 || r.Algebra.Name != "se(3): all turns and shifts" {
		t.Errorf("dimension %d, σ = %.2g, %+v", r.Dimension, r.Sigma, r.Algebra)
	}
	if along := 30 * 120 * 4; asked > along+along/10 {
		t.Errorf("%d questions", asked)
	}
	// Distances to a point that is held by another port: both turn together, each alone is none.
	two := scalar(9, func(x []float64) float64 {
		return math.Exp(-square([]float64{x[0] - x[6], x[1] - x[7], x[2] - x[8]})/4) + energy(x[:6]) +
			0.3*(x[3]*x[6]+x[4]*x[7]+x[5]*x[8])
	})
	r = ask(t, two, normal(3, 300, 9), Options{Blocks: []Block{Points("points", 0, 2, 3), Points("probe", 6, 1, 3)}})
	if r.Dimension != 3 || r.Algebra.Structure.Killing != [3]int{0, 3, 0} || r.Algebra.Name != "so(3): all turns" {
		t.Errorf("dimension %d, σ = %.2g, %+v", r.Dimension, r.Sigma, r.Algebra)
	}
}

// Too few inputs for the unknowns are said to be, and so are too many unknowns.
func TestTooLittleIsKnown(t *testing.T) {
	t.Parallel()
	r := ask(t, scalar(6, square), normal(1, 20, 6), Options{})
	if r.State != Undetermined && r.State != Between {
		t.Errorf("20 equations in 36 unknowns: %s, %d", r.State, r.Dimension)
	}
	r = ask(t, scalar(40, square), normal(1, 20, 40), Options{})
	if r.State != Undetermined || r.Why == "" {
		t.Errorf("1,600 unknowns: %+v", r)
	}
	// Pictures without any slope tell nothing of maps of the plane.
	flat := make([][]float64, 10)
	for i := range flat {
		flat[i] = make([]float64, plane.size())
		for j := range flat[i] {
			flat[i][j] = float64(i)
		}
	}
	f := scalar(plane.size(), func(x []float64) float64 { return x[0] + x[5] })
	for _, joint := range []bool{false, true} {
		r, err := FindPictures(t.Context(), f, flat, plane, Options{Joint: joint})
		if !errors.Is(err, ErrOpen) && (err != nil || r.State != Undetermined || r.Dimension > 0) {
			t.Errorf("blank pictures: %v, %+v", err, r)
		}
	}
	for name, x := range map[string][][]float64{
		"few": normal(1, 3, 2), "short": {{1}, {1, 2}, {1, 2}, {1, 2}},
		"no number": {{1, math.NaN()}, {1, 2}, {1, 2}, {1, 2}},
	} {
		if _, err := Find(t.Context(), scalar(2, square), x, Options{}); !errors.Is(err, ErrOpen) {
			t.Errorf("%s: %v", name, err)
		}
	}
	f = scalar(2, func(x []float64) float64 { return math.Log(x[0]) })
	if _, err := Find(t.Context(), f, normal(1, 20, 2), Options{}); !errors.Is(err, ErrOpen) {
		t.Errorf("NaN in the answer: %v", err)
	}
}

// Units of inputs and answers change neither the rank nor the order of σ.
func TestUnits(t *testing.T) {
	t.Parallel()
	x := normal(1, 200, 3)
	plain := ask(t, scalar(3, square), x, Options{})
	for i := range x {
		scale(x[i], 1e5)
	}
	other := ask(t, scalar(3, func(x []float64) float64 { return 1e-7 * square(x) }), x, Options{})
	if other.Dimension != 3 || other.Agree != 1 {
		t.Errorf("dimension %d, σ = %.2g", other.Dimension, other.Sigma)
	}
	for i := 3; i < 9; i++ {
		near(t, "σ", other.Sigma[i], plain.Sigma[i], 1e-6)
	}
}

// The same question has the same answer.
func TestSeeds(t *testing.T) {
	t.Parallel()
	x := normal(1, 80, 4)
	if a, b := ask(t, minkowski, x, Options{Seed: 3}), ask(t, minkowski, x, Options{Seed: 3}); !reflect.DeepEqual(a,
		b) {
		t.Error("two answers to one question")
	}
}

// A block of many unknowns is solved by inverse iteration, to the same end.
func TestManyUnknowns(t *testing.T) {
	t.Parallel()
	r := ask(t, scalar(12, func(x []float64) float64 { return math.Sin(square(x[:11])/8) + x[11] }),
		normal(1, 400, 12), Options{Bootstraps: 50})
	if r.State != Settled || r.Dimension != 55 {
		t.Errorf("%s: dimension %d, want that of so(11), 55; σ = %.2g", r.State, r.Dimension, r.Sigma)
	}
}

// plane is a small picture, with a spot that is drawn at any place.
var plane = Plane{Channels: 1, Height: 24, Width: 24}

func spots(seed uint64, n int) [][]float64 {
	out := make([][]float64, n)
	for i := range out {
		r := rand.New(rand.NewPCG(seed, uint64(i)))
		x := make([]float64, plane.size())
		for range 4 {
			u, v, w, h := 6*r.Float64()-3, 6*r.Float64()-3, 2+r.Float64(), 2*r.Float64()-1
			for j := range x {
				dx, dy := float64(j%24)-11.5-u, float64(j/24)-11.5-v
				x[j] += h * math.Exp(-(dx*dx+dy*dy)/(2*w*w))
			}
		}
		out[i] = x
	}
	return out
}

// A functional of circles about the middle has the turn, whole and alone; one of all pixels has shifts, too.
func TestPictures(t *testing.T) {
	t.Parallel()
	var rings [3][]float64
	for k := range rings {
		rings[k] = make([]float64, plane.size())
		for j := range rings[k] {
			dx, dy := float64(j%24)-11.5, float64(j/24)-11.5
			r := math.Hypot(dx, dy)
			rings[k][j] = math.Exp(-(r - float64(3*k)) * (r - float64(3*k)) / 8)
		}
	}
	radial := function(plane.size(), 3, func(x []float64) []float64 {
		out := make([]float64, 3)
		for k := range out {
			for j, v := range x {
				out[k] += rings[k][j] * v * v
			}
		}
		return out
	})
	x := spots(1, 40)
	for i := range x {
		x[i] = plane.Prepare(x[i], 1)
	}
	r, err := FindPictures(t.Context(), radial, x, plane, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Dimension != 1 || r.Algebra.Name != "so(2): all turns" {
		t.Fatalf("dimension %d, σ = %.2g, %+v", r.Dimension, r.Sigma, r.Algebra)
	}
	a := r.Families[0].Moves.A[0]
	near(t, "turn", a[0][1]/a[1][0], -1, 1e-3)
	near(t, "shift", a[0][2], 0, 1e-2)
	if !(r.Sigma[0] < 1e-4) {
		t.Errorf("σ = %g", r.Sigma[0])
	}
	// The same by derivatives.
	radial.Pull = func(_ context.Context, x, c [][]float64) ([][]float64, error) {
		out := make([][]float64, len(x))
		for i := range x {
			out[i] = make([]float64, len(x[i]))
			for k := range rings {
				for j, v := range x[i] {
					out[i][j] += 2 * c[i][k] * rings[k][j] * v
				}
			}
		}
		return out, nil
	}
	g, err := FindPictures(t.Context(), radial, x, plane, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if g.Dimension != 1 || g.Algebra.Name != "so(2): all turns" {
		t.Fatalf("dimension %d, σ = %.2g, %+v", g.Dimension, g.Sigma, g.Algebra)
	}
	// What other directions do is drawn in one and summed up in the other.
	near(t, "σ of the next direction", r.Sigma[1]/g.Sigma[1], 1, 0.5)

	all := function(plane.size(), 2, func(x []float64) []float64 {
		var s, q float64
		for _, v := range x {
			s += v
			q += v * v
		}
		return []float64{s, q}
	})
	// Maps that keep areas keep both sums: shifts, turns, and two more.
	r, err = FindPictures(t.Context(), all, x, plane, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Dimension != 5 {
		t.Errorf("dimension %d, σ = %.2g", r.Dimension, r.Sigma)
	}
}

// A field of the input that the function does not look at at all is told, and leaves those of the other field.
func TestAFieldThatIsIgnored(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	var x [][]float64
	for range 40 {
		row := make([]float64, 5)
		for i := range row {
			row[i] = r.NormFloat64()
		}
		x = append(x, row)
	}
	f := Function{In: 5, Out: 1, Roundoff: 0x1p-53, At: func(_ context.Context, x [][]float64) ([][]float64, error) {
		var out [][]float64
		for _, v := range x {
			out = append(out, []float64{v[0]*v[0] + v[1]*v[1]})
		}
		return out, nil
	}}
	got, err := Find(t.Context(), f, x, Options{Blocks: []Block{
		Points("seen", 0, 1, 2), Points("ignored", 2, 1, 3),
	}})
	if err != nil {
		t.Fatal(err)
	}
	if got.Dimension != 1 {
		t.Errorf("%s, dimension %d, want the turns of the first two numbers", got.Why, got.Dimension)
	}
	if len(got.Quotients) != 1 || got.Quotients[0].Block != "ignored" || len(got.Quotients[0].Directions) != 3 {
		t.Errorf("taken out: %v", got.Quotients)
	}
}
