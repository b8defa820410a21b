package audittest

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"nero/audit"
	"nero/data/dataset"
	"nero/data/space"
	"nero/internal/elementary"
	"nero/symmetry/action"
	"nero/symmetry/group"
	"nero/symmetry/orbit"
)

// Pointwise is a model that looks at one value at a time and rounds its output to float32, as engines do.
func Pointwise(f func(v space.Value) space.Value) audit.Predictor {
	return audit.PredictFunc(func(_ context.Context, values []space.Value) ([]space.Value, error) {
		out := make([]space.Value, len(values))
		for i, v := range values {
			out[i] = rounded(f(v))
		}
		return out, nil
	})
}

// rounded is v in float32.
func rounded(v space.Value) space.Value {
	x := v.Numbers()
	for i := range x {
		x[i] = float64(float32(x[i]))
	}
	return v
}

// Vectors are n points of the plane, standard normal, as tensors of shape (2). Every third has the label 1, the others
// 0.
func Vectors(n int, seed uint64) func(i int) (dataset.Sample, error) {
	return samples(n, seed, func(r *rand.Rand) space.Value {
		return &space.Tensor{Shape: []int{2}, Val: []float64{elementary.Normal(r), elementary.Normal(r)}}
	})
}

// Pictures are n pictures of one channel that hold four smooth bumps each, well inside the border, in 0..255.
func Pictures(n, h, w int, seed uint64) func(i int) (dataset.Sample, error) {
	return samples(n, seed, func(r *rand.Rand) space.Value {
		m := space.NewImage(1, h, w)
		for range 4 {
			cy, cx := float64((0.3+float64(0.4*r.Float64()))*float64(h-1)),
				float64((0.3+float64(0.4*r.Float64()))*float64(w-1))
			s, a := float64(min(h, w))*(0.05+float64(0.05*r.Float64())), 50+float64(150*r.Float64())
			for i := range m.Pix {
				y, x := float64(i/w)-cy, float64(i%w)-cx
				m.Pix[i] += float64(a * elementary.Exp(-(float64(x*x)+float64(y*y))/(2*s*s)))
			}
		}
		return m
	})
}

// Noise are n pictures of one channel with independent uniform pixels in 0..255.
func Noise(n, h, w int, seed uint64) func(i int) (dataset.Sample, error) {
	return samples(n, seed, func(r *rand.Rand) space.Value {
		m := space.NewImage(1, h, w)
		for i := range m.Pix {
			m.Pix[i] = 255 * r.Float64()
		}
		return m
	})
}

func samples(n int, seed uint64, draw func(r *rand.Rand) space.Value) func(i int) (dataset.Sample, error) {
	return func(i int) (dataset.Sample, error) {
		if i < 0 || i >= n {
			return dataset.Sample{}, fmt.Errorf("sample %d of %d", i, n)
		}
		label := 0
		if i%3 == 0 {
			label = 1
		}
		return dataset.Sample{
			ID: fmt.Sprintf("s%03d", i), Label: label,
			Value: draw(rand.New(rand.NewPCG(seed, uint64(i)))),
		}, nil
	}
}

// numbers are those of a value made by this package.
func numbers(v space.Value) []float64 {
	x := v.Numbers()
	return x
}

// vector is an output of shape (len(x)).
func vector(x ...float64) space.Value { return &space.Tensor{Shape: []int{len(x)}, Val: x} }

// Linear is f(x) = w·x. Under a rotation R of the plane its error is |w·(Rx - x)|.
func Linear(w ...float64) audit.Predictor {
	return Pointwise(func(v space.Value) space.Value {
		var s float64
		for i, x := range numbers(v) {
			s += float64(w[i] * x)
		}
		return vector(s)
	})
}

// Radius is f(x) = ‖x‖² + ε·w·x in float32: invariant under rotations of the plane for ε = 0, and with the error
// ε·|w·(Rx - x)| otherwise.
func Radius(eps float64, w ...float64) audit.Predictor {
	return Pointwise(func(v space.Value) space.Value {
		var s float32
		for i, x := range numbers(v) {
			s += float32(float32(x) * float32(x))
			if i < len(w) {
				s += float32(float32(eps*w[i]) * float32(x))
			}
		}
		return vector(float64(s))
	})
}

// Constant answers the same to everything.
func Constant(x ...float64) audit.Predictor {
	return Pointwise(func(space.Value) space.Value { return vector(slices.Clone(x)...) })
}

// NaNAt is Radius(0) with NaN wherever the input is within 1e-9 of bad.
func NaNAt(bad space.Value) audit.Predictor {
	b := numbers(bad)
	return Pointwise(func(v space.Value) space.Value {
		var s, d float64
		for i, x := range numbers(v) {
			s += float64(x * x)
			d = max(d, math.Abs(x-b[i]))
		}
		if d < 1e-9 {
			s = math.NaN()
		}
		return vector(s)
	})
}

// Stochastic is another predictor with seeded normal noise of the given size on every output number. Equal calls in
// equal order give equal answers.
func Stochastic(p audit.Predictor, size float64, seed uint64) audit.Predictor {
	var mu sync.Mutex
	r := rand.New(rand.NewPCG(seed, 0))
	return audit.PredictFunc(func(ctx context.Context, values []space.Value) ([]space.Value, error) {
		out, err := p.Predict(ctx, values)
		if err != nil {
			return nil, err
		}
		mu.Lock()
		defer mu.Unlock()
		for _, v := range out {
			for i, x := range numbers(v) {
				numbers(v)[i] = float64(float32(x + float64(size*elementary.Normal(r))))
			}
		}
		return out, nil
	})
}

// Leaky adds size times the position in the micro-batch to every output: an answer that depends on its company. The
// zero Batch means 4.
type Leaky struct {
	audit.Predictor
	Size  float64
	Batch int
}

// Predict uses micro-batches of Batch.
func (l Leaky) Predict(ctx context.Context, values []space.Value) ([]space.Value, error) {
	n := l.Batch
	if n == 0 {
		n = 4
	}
	return l.PredictBatch(ctx, n, values)
}

// PredictBatch leaks at the given size.
func (l Leaky) PredictBatch(ctx context.Context, size int, values []space.Value) ([]space.Value, error) {
	out, err := l.Predictor.Predict(ctx, values)
	for i, v := range out {
		for j := range numbers(v) {
			numbers(v)[j] += float64(l.Size * float64(i%size))
		}
	}
	return out, err
}

// Compass answers with one score per quarter, max(0, u·x) for the four directions u. A quarter turn of the input moves
// every score to the next quarter.
func Compass() audit.Predictor {
	return Pointwise(func(v space.Value) space.Value {
		x, y := numbers(v)[0], numbers(v)[1] // y down: counter-clockwise is right, up, left, down
		return &space.Scores{Val: []float64{max(0, x), max(0, -y), max(0, -x), max(0, y)}}
	})
}

// Sign tells whether w·x is positive: two logits.
func Sign(w ...float64) audit.Predictor {
	return Pointwise(func(v space.Value) space.Value {
		var s float64
		for i, x := range numbers(v) {
			s += float64(w[i] * x)
		}
		return &space.Scores{Val: []float64{-s, s}}
	})
}

// Convolution filters a picture with a kernel of odd size k×k, around the border or with zeros beyond it, and squares
// the result.
func Convolution(kernel []float64, circular bool) audit.Predictor {
	k := int(math.Sqrt(float64(len(kernel))))
	return Pointwise(func(v space.Value) space.Value {
		x, ok := v.(*space.Image)
		if !ok {
			panic("audittest: convolution of something that is no picture")
		}
		y := space.NewImage(x.C, x.H, x.W)
		for c := range x.C {
			from, to := x.Plane(c), y.Plane(c)
			for r := range x.H {
				for q := range x.W {
					var s float64
					for i := range k {
						for j := range k {
							rr, qq := r+i-k/2, q+j-k/2
							if circular {
								rr, qq = (rr+x.H)%x.H, (qq+x.W)%x.W
							} else if rr < 0 || rr >= x.H || qq < 0 || qq >= x.W {
								continue
							}
							s += float64(kernel[i*k+j] * from[rr*x.W+qq])
						}
					}
					to[r*x.W+q] = s * s
				}
			}
		}
		return y
	})
}

// Mean is the mean of all numbers plus eps times the mean of the first half of them less that of the second: invariant
// under every permutation for eps = 0. The sum is taken in float32, one number after the other, so that its rounding
// depends on their order; wide takes it in float64.
func Mean(eps float64, wide bool) audit.Predictor {
	return Pointwise(func(v space.Value) space.Value {
		x := numbers(v)
		var narrow float32
		var sum, odd float64
		for i, a := range x {
			narrow += float32(a)
			sum += a
			if 2*i < len(x) {
				odd += a
			} else {
				odd -= a
			}
		}
		if !wide {
			sum = float64(narrow)
		}
		return vector((sum + float64(eps*odd)) / float64(len(x)))
	})
}

// Rings sums the squares of a picture's pixels over rings about its centre: exactly invariant to quarter turns and
// mirrors, and nearly to other rotations of smooth pictures.
func Rings(n int) audit.Predictor {
	return Pointwise(func(v space.Value) space.Value {
		x, ok := v.(*space.Image)
		if !ok {
			panic("audittest: rings of something that is no picture")
		}
		s := make([]float64, n)
		cy, cx := float64(x.H-1)/2, float64(x.W-1)/2
		for i, p := range x.Pix {
			dy, dx := float64(i%(x.H*x.W)/x.W)-cy, float64(i%x.W)-cx
			// A smooth partition into rings, so that the sum is a good quadrature of the integral over a disc.
			d := float64(math.Sqrt(float64(dy*dy)+float64(dx*dx)) / (float64(min(x.H, x.W)) / 2) * float64(n))
			for k := range s {
				t := d - float64(k)
				s[k] += float64(p * p * elementary.Exp(-t*t))
			}
		}
		return vector(s...)
	})
}

// Plane is the action of a group of rotations on vectors of shape (2), y down: positive angles turn counter-clockwise
// as displayed.
func Plane(t TB, g group.Group) action.Action {
	t.Helper()
	p, ok := g.(group.Planar)
	if !ok {
		t.Fatalf("%s does not act on the plane", g.Name())
		return nil
	}
	rep, err := action.Given(g, "plane", 2, func(e group.Element) []float64 {
		a, _ := p.Affine(e)
		return []float64{a[0][0], a[0][1], a[1][0], a[1][1]}
	})
	if err != nil {
		t.Fatalf("%v", err)
	}
	a, err := action.NewTensor(g, space.Spec{Shape: []int{2}}, action.Options{}, rep)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return a
}

// Plan is a plan of listed elements; nil elements mean all of a finite group.
func Plan(t TB, in, out action.Action, elements ...group.Element) *orbit.Plan {
	t.Helper()
	g := in.Group()
	if elements == nil {
		f, ok := g.(group.Finite)
		if !ok {
			t.Fatalf("%s cannot be listed", g.Name())
			return nil
		}
		elements = f.Elements()
	}
	return &orbit.Plan{
		Group: g, Elements: elements, Measure: fmt.Sprintf("%d listed elements", len(elements)), In: in,
		Out: out,
	}
}

// Angles are n angles that start at the identity, evenly spread over the circle.
func Angles(n int) []group.Element {
	out := make([]group.Element, n)
	for i := range out {
		out[i] = group.Element{360 * float64(i) / float64(n)}
	}
	return out
}
