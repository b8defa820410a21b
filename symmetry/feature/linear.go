package feature

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"nero/symmetry/group"
)

// LinearFit says how well matrices explain a vector whose action nobody declared.
type LinearFit struct {
	// R2 is 1 - Σ‖y - M_g x‖²/Σ‖y - E y‖² over objects that the matrices were not fitted on; NaN if these do not vary.
	R2 float64
	// PerComponent is the same for each number of the vector; NaN for those that do not vary.
	PerComponent []float64
	// Defect is the largest ‖M_gh - M_g M_h‖/‖M_gh‖ (Frobenius) over the products among the elements; NaN if there is
	// none.
	Defect float64
	// Penalty is the ridge penalty that cross-validation chose, in units of the mean square of a component.
	Penalty float64
	Objects int
}

// penalties are the ridge penalties that cross-validation tries.
func penalties() []float64 { return []float64{1e-10, 1e-8, 1e-6, 1e-4, 1e-2, 1} }

// maxLinear bounds the vectors that matrices are fitted to.
const maxLinear = 512

// FitLinear fits one matrix M_g per element by ridge regression, φ(gx) ≈ M_g φ(x), as Lenc and Vedaldi do (2015,
// Understanding image representations by measuring their equivariance and equivalence). Objects are split in three: the
// first third is held out for R2, the second chooses the penalty, and the matrices are fitted to the last two.
//
// A fit as flexible as this explains much that is broken, so R2 and Defect have to be looked at. The error says that
// there are fewer than three objects per number of the vector, so that nothing could be held out, or that the vector is
// too long.
func (f *Frame) FitLinear(pairs []Pair, shape []int) (*Rep, LinearFit, error) {
	n := count(shape)
	objects := map[int]int{}
	var elements []group.Element
	for _, p := range pairs {
		if len(p.X) != n || len(p.Y) != n {
			return nil, LinearFit{}, fmt.Errorf("pairs of %d and %d numbers for a value of shape %v", len(p.X),
				len(p.Y), shape)
		}
		if _, ok := objects[p.Object]; !ok {
			objects[p.Object] = len(objects)
		}
		if !slices.ContainsFunc(elements,
			func(g group.Element) bool { return f.group.Dist(g, p.G) <= group.Tolerance }) {
			elements = append(elements, p.G)
		}
	}
	if n > maxLinear {
		return nil, LinearFit{}, fmt.Errorf("matrices for %d numbers are too large; at most %d", n, maxLinear)
	}
	if need := 3 * n; len(objects) < need {
		return nil, LinearFit{},
			fmt.Errorf("%d samples for vectors of %d numbers; a linear map needs at least %d, to be fitted and held "+
				"against others", len(objects), n, need)
	}
	third := func(p Pair) int { return objects[p.Object] % 3 }
	fit := LinearFit{Objects: len(objects)}
	best := math.Inf(1)
	for _, l := range penalties() {
		var wrong float64
		for _, g := range elements {
			m, err := f.ridge(g, pairs, n, l, func(p Pair) bool { return third(p) == 2 })
			if err != nil {
				continue // singular: the next penalty is larger
			}
			e, _ := f.residual(g, pairs, m, func(p Pair) bool { return third(p) == 1 })
			for _, v := range e {
				wrong += v
			}
		}
		if wrong < best {
			best, fit.Penalty = wrong, l
		}
	}
	mix := &Mix{Elements: elements}
	e, all := make([]float64, n), make([]float64, n)
	for _, g := range elements {
		m, err := f.ridge(g, pairs, n, fit.Penalty, func(p Pair) bool { return third(p) != 0 })
		if err != nil {
			return nil, fit, err
		}
		a, b := f.residual(g, pairs, m, func(p Pair) bool { return third(p) == 0 })
		for i := range n {
			e[i] += a[i]
			all[i] += b[i]
		}
		mix.Matrix = append(mix.Matrix, m.RawMatrix().Data)
	}
	fit.PerComponent = make([]float64, n)
	var se, sa float64
	top := slices.Max(all)
	for i := range n {
		fit.PerComponent[i] = math.NaN()
		if all[i] > 1e-20*top {
			fit.PerComponent[i] = 1 - e[i]/all[i]
		}
		se += e[i]
		sa += all[i]
	}
	fit.R2 = 1 - se/sa
	fit.Defect = f.defect(mix, n)
	r, err := f.Layout(shape, Part{Channels: n, Mix: mix})
	if err != nil {
		return nil, fit, err
	}
	r.Origin = ByData
	r.Why = fmt.Sprintf("matrices fitted to %d samples, R² %.4g on others, homomorphism defect %.2g", fit.Objects,
		fit.R2, fit.Defect)
	return r, fit, nil
}

// ridge solves min Σ‖M x - y‖² + λ s ‖M‖² with s the mean square of a component of x, over the pairs of one element.
func (f *Frame) ridge(g group.Element, pairs []Pair, n int, l float64, use func(Pair) bool) (*mat.Dense, error) {
	xx, xy := mat.NewSymDense(n, nil), mat.NewDense(n, n, nil)
	rows := 0
	for _, p := range pairs {
		if f.group.Dist(p.G, g) > group.Tolerance || !use(p) {
			continue
		}
		rows++
		x, y := mat.NewVecDense(n, p.X), mat.NewVecDense(n, p.Y)
		xx.SymRankOne(xx, 1, x)
		xy.RankOne(xy, 1, x, y)
	}
	s := mat.Trace(xx) / float64(n)
	for i := range n {
		xx.SetSym(i, i, xx.At(i, i)+float64(l*s))
	}
	var c mat.Cholesky
	if rows == 0 || !c.Factorize(xx) {
		return nil, fmt.Errorf("the %d samples do not determine a matrix of %d×%d", rows, n, n)
	}
	var t mat.Dense
	if err := c.SolveTo(&t, xy); err != nil {
		return nil, err
	}
	return mat.DenseCopyOf(t.T()), nil
}

// residual is Σ (y - M x)² and Σ (y - E y)² per component over the pairs of one element.
func (f *Frame) residual(g group.Element, pairs []Pair, m *mat.Dense, use func(Pair) bool) (wrong, all []float64) {
	n, _ := m.Dims()
	wrong, all = make([]float64, n), make([]float64, n)
	mean := make([]float64, n)
	var mine []Pair
	for _, p := range pairs {
		if f.group.Dist(p.G, g) <= group.Tolerance && use(p) {
			mine = append(mine, p)
			for i, v := range p.Y {
				mean[i] += v
			}
		}
	}
	var z mat.VecDense
	for _, p := range mine {
		z.MulVec(m, mat.NewVecDense(n, p.X))
		for i, v := range p.Y {
			d, c := v-z.AtVec(i), v-mean[i]/float64(len(mine))
			wrong[i] += float64(d * d)
			all[i] += float64(c * c)
		}
	}
	return wrong, all
}

func (f *Frame) defect(m *Mix, n int) float64 {
	worst := math.NaN()
	eye := mat.NewDense(n, n, nil)
	for i := range n {
		eye.Set(i, i, 1)
	}
	for i, g := range m.Elements {
		for j, h := range m.Elements {
			k := f.mix(m, f.group.Mul(g, h))
			if k == -2 {
				continue
			}
			to := eye
			if k >= 0 {
				to = mat.NewDense(n, n, m.Matrix[k])
			}
			var d mat.Dense
			d.Mul(mat.NewDense(n, n, m.Matrix[i]), mat.NewDense(n, n, m.Matrix[j]))
			d.Sub(to, &d)
			if v := mat.Norm(&d, 2) / mat.Norm(to, 2); !(v <= worst) {
				worst = v
			}
		}
	}
	return worst
}
