package embedding

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// Path are the features of samples along a one-parameter group.
type Path struct {
	// T are the parameters of the elements, in the unit of the generator.
	T []float64
	// Orbits have their features at the same places.
	*Orbits
	// Period is the parameter at which the group is back at the identity; 0 for one that never is.
	Period float64
}

// Generator is one matrix that moves features as a one-parameter group moves inputs: φ(g(t)x) ≈ exp(tA) φ(x).
type Generator struct {
	A *mat.Dense
	// Frequencies are the imaginary parts of the eigenvalues of A that are not negative, ascending, per unit of the
	// parameter: how many times faster than the input a plane of the features turns. Zeros are directions that stay.
	Frequencies []Estimate
	// Growth is the largest size of a real part: 0 for motions that neither grow nor shrink.
	Growth float64
	// Start are the frequencies of the central differences at the smallest parameter, where the fit begins.
	Start []float64
	// R2 is of objects to confirm at parameters that were not fitted, Seen of the same objects at those that were.
	R2, Seen Estimate
	// Ridge is R² of the objects to confirm by a map for each element, which sees that element and no other.
	Ridge Estimate
	// PeriodDefect is ‖exp(PA) - 1‖/√d for the period P; NaN without one.
	PeriodDefect float64
	// Fitted and Unseen are how many elements were fitted, and how many kept.
	Fitted, Unseen int
}

// ErrGenerator says that features have no generator that could be fitted.
var ErrGenerator = errors.New("no generator can be fitted")

// How far a fit goes: mostSteps of Gauss and Newton on each range, of mostGradients conjugate gradients each. On ranges
// that lead to the whole one it need not go far: until the error falls by less than a hundredth.
const (
	mostSteps, mostGradients = 30, 60
	roughly, exactly         = 1e-2, 1e-6
)

// Generate fits one generator to all elements of a path. Every third element is kept to be asked about. The fit begins
// with central differences at the smallest parameter and goes on over growing ranges, for logarithms of the maps of
// large elements are on the wrong branch.
func Generate(fit, choose, confirm *Path, opt Options) (*Generator, error) {
	for _, p := range []*Path{fit, choose, confirm} {
		if err := p.Check(); err != nil {
			return nil, err
		}
		if len(p.T) != len(p.At) {
			return nil, fmt.Errorf("%d parameters for %d elements", len(p.T), len(p.At))
		}
	}
	seen, unseen := fit.divide()
	if len(seen) < 3 {
		return nil, fmt.Errorf("%w: %d elements beside the identity, want at least 3", ErrGenerator,
			len(seen)+len(unseen))
	}
	f, err := newFlow(fit, seen)
	if err != nil {
		return nil, err
	}
	start := f.start()
	g := &Generator{Fitted: len(seen), Unseen: len(unseen), PeriodDefect: math.NaN()}
	if g.Start, err = frequencies(start); err != nil {
		return nil, err
	}
	if g.A, err = f.continued(start); err != nil {
		return nil, err
	}
	if err := g.spectrum(f, fit, seen, opt); err != nil {
		return nil, err
	}
	g.R2 = g.explains(confirm, unseen, opt)
	g.Seen = g.explains(confirm, seen, opt)
	if g.Ridge, err = ridges(fit, choose, confirm, opt); err != nil {
		return nil, err
	}
	if fit.Period != 0 {
		d, _ := g.A.Dims()
		var e mat.Dense
		e.Scale(fit.Period, g.A)
		e.Exp(&e)
		for i := range d {
			e.Set(i, i, e.At(i, i)-1)
		}
		g.PeriodDefect = mat.Norm(&e, 2) / math.Sqrt(float64(d))
	}
	return g, nil
}

// divide are the elements that are fitted and those that are kept, without the identity, both ascending in size: every
// third one is kept, but none of the two smallest on either side, which the fit begins with.
func (p *Path) divide() (seen, unseen []int) {
	var order []int
	for k := range p.T {
		if k != p.Identity {
			order = append(order, k)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(math.Abs(p.T[a]), math.Abs(p.T[b])) })
	for i, k := range order {
		if i >= 4 && i%3 == 1 {
			unseen = append(unseen, k)
			continue
		}
		seen = append(seen, k)
	}
	return seen, unseen
}

// flow is a least-squares problem: exp(tA) X ≈ Y(t), by what of it decides A. With G = XᵀX (samples are rows) and
// M(t) = YᵀX G⁻¹, the best matrix of each t by itself, the error is Σ ‖(exp(tA) - M) G^½‖² and a rest that no A
// changes.
type flow struct {
	d int
	t []float64
	g *mat.Dense
	// of each t
	m []*mat.Dense
}

// newFlow sums up the samples of a path at some elements.
func newFlow(p *Path, elements []int) (*flow, error) {
	x := p.Still()
	_, d := x.Dims()
	var g mat.SymDense
	g.SymOuterK(1, x.T())
	values, vectors, err := symmetric(&g)
	if err != nil {
		return nil, err
	}
	if !(values[0] > 1e-13*values[d-1]) {
		return nil, fmt.Errorf("%w: features lie in fewer directions than they have numbers", ErrGenerator)
	}
	scaled := mat.DenseCopyOf(vectors)
	for j, v := range values {
		for i := range d {
			scaled.Set(i, j, scaled.At(i, j)/v)
		}
	}
	var inverse mat.Dense
	inverse.Mul(scaled, vectors.T())
	f := &flow{d: d, g: mat.DenseCopyOf(&g)}
	for _, k := range elements {
		var c mat.Dense
		m := &mat.Dense{}
		c.Mul(p.At[k].T(), x)
		m.Mul(&c, &inverse)
		f.t, f.m = append(f.t, p.T[k]), append(f.m, m)
	}
	return f, nil
}

// start is the generator of the central differences at the smallest t: (M(t) - M(-t)) / 2t, or, where an element has no
// opposite, (M(t) - 1) / t.
func (f *flow) start() *mat.Dense {
	t := f.t[0]
	out := &mat.Dense{}
	opposite := slices.IndexFunc(f.t, func(x float64) bool { return math.Abs(x+t) <= 1e-9*math.Abs(t) })
	if opposite >= 0 {
		out.Sub(f.m[0], f.m[opposite])
		out.Scale(1/(2*t), out)
		return out
	}
	out.Sub(f.m[0], one(f.d))
	out.Scale(1/t, out)
	return out
}

// within is the problem of the t up to a size.
func (f *flow) within(most float64) *flow {
	out := *f
	out.t, out.m = nil, nil
	for k, t := range f.t {
		if math.Abs(t) <= most*(1+1e-9) {
			out.t, out.m = append(out.t, t), append(out.m, f.m[k])
		}
	}
	return &out
}

// continued fits over growing ranges of t.
func (f *flow) continued(a *mat.Dense) (*mat.Dense, error) {
	const grow = 1.5
	last := math.Abs(f.t[len(f.t)-1])
	done := 0
	for most := math.Abs(f.t[0]); ; most *= grow {
		most = min(most, last)
		part := f.within(most)
		if len(part.t) > done {
			done = len(part.t)
			var err error
			fall := roughly
			if most >= last {
				fall = exactly
			}
			if a, err = part.descend(a, fall); err != nil {
				return nil, err
			}
		}
		if most >= last {
			return a, nil
		}
	}
}

// exps are exp(tA) at each t.
func (f *flow) exps(a *mat.Dense) []*mat.Dense {
	out := make([]*mat.Dense, len(f.t))
	for k, t := range f.t {
		var m mat.Dense
		m.Scale(t, a)
		out[k] = &mat.Dense{}
		out[k].Exp(&m)
	}
	return out
}

// value is the part of the squared error that A changes, and slopes are (exp(tA) - M) G.
func (f *flow) value(e []*mat.Dense) (value float64, slopes []*mat.Dense) {
	for k := range f.t {
		var d mat.Dense
		s := &mat.Dense{}
		d.Sub(e[k], f.m[k])
		s.Mul(&d, f.g)
		value += dot(s.RawMatrix().Data, d.RawMatrix().Data)
		slopes = append(slopes, s)
	}
	return value, slopes
}

// descend takes steps of Gauss and Newton from A, each halved until the error falls, until one lets it fall by less
// than a share of it.
func (f *flow) descend(a *mat.Dense, fall float64) (*mat.Dense, error) {
	least, slopes := f.value(f.exps(a))
	for range mostSteps {
		l, err := f.linear(a)
		if err != nil {
			return nil, err
		}
		d := l.back(l.solve(l.gradient(slopes), fall, mostGradients))
		step, fell := 1.0, false
		for range 12 {
			next := &mat.Dense{}
			next.Scale(-step, d)
			next.Add(a, next)
			if v, s := f.value(f.exps(next)); v < least {
				fell = least-v > fall*least
				a, least, slopes = next, v, s
				break
			}
			step /= 2
		}
		if !fell {
			break
		}
	}
	return a, nil
}

// explains is how much of the features of a path at some elements the generator explains.
func (g *Generator) explains(p *Path, elements []int, opt Options) Estimate {
	if len(elements) == 0 {
		return opt.undefined()
	}
	var predicted, truth []*mat.Dense
	var object []int
	for _, k := range elements {
		var e, y mat.Dense
		e.Scale(p.T[k], g.A)
		e.Exp(&e)
		y.Mul(p.Still(), e.T())
		predicted, truth = append(predicted, &y), append(truth, p.At[k])
		object = append(object, p.Object...)
	}
	return Explain(Stack(predicted...), Stack(truth...), object, opt).Overall
}

// ridges is how much of the features of a path maps explain, one for each element.
func ridges(fit, choose, confirm *Path, opt Options) (Estimate, error) {
	var predicted, truth []*mat.Dense
	var object []int
	for k := range confirm.At {
		if k == confirm.Identity {
			continue
		}
		m, err := Either(fit.Pairs(k), choose.Pairs(k))
		if err != nil {
			return Estimate{}, err
		}
		predicted, truth = append(predicted, m.Of(confirm.Still())), append(truth, confirm.At[k])
		object = append(object, confirm.Object...)
	}
	return Explain(Stack(predicted...), Stack(truth...), object, opt).Overall, nil
}
