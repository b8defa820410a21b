package repair

import (
	"math"

	"nero/data/tensor"
	"nero/model/onnx"
)

// island is a part of a graph that computes in a type of its own: columns [samples, 1, 1] of numbers, and axes
// [samples, 3, 1].
type island struct {
	*wrapper

	d                    tensor.DType
	zero, one, two, tiny string
}

func (w *wrapper) island(d tensor.DType) *island {
	x := &island{wrapper: w, d: d}
	x.zero, x.one, x.two, x.tiny = x.num(0), x.num(1), x.num(2), x.num(1e-30)
	return x
}

func (x *island) num(v float64) string    { return x.numbers([]float64{v}, x.d, 1, 1, 1) }
func (x *island) add(a, b string) string  { return x.Op("Add", []string{a, b}) }
func (x *island) sub(a, b string) string  { return x.Op("Sub", []string{a, b}) }
func (x *island) mul(a, b string) string  { return x.Op("Mul", []string{a, b}) }
func (x *island) div(a, b string) string  { return x.Op("Div", []string{a, b}) }
func (x *island) sqrt(a string) string    { return x.Op("Sqrt", []string{a}) }
func (x *island) less(a, b string) string { return x.Op("Less", []string{a, b}) }

func (x *island) where(c, a, b string) string { return x.Op("Where", []string{c, a, b}) }

// sum is over the rows.
func (x *island) sum(v string) string { return x.reduce("ReduceSum", v, 1, 1) }

// columns are the coordinates of points [samples, rows, 3] along three axes that are known.
func (x *island) columns(points string, basis [3][3]float64) [3]string {
	var c, out [3]string
	for i := range c {
		c[i] = x.cut(points, 2, i, i+1)
	}
	for k, b := range basis {
		for i, v := range b {
			p := c[i]
			switch v {
			case 0:
				continue
			case 1:
			default:
				p = x.mul(p, x.num(v))
			}
			if out[k] == "" {
				out[k] = p
			} else {
				out[k] = x.add(out[k], p)
			}
		}
	}
	return out
}

// axes are the principal axes of points and how far they spread along each, largest first, among the first n of the
// axes of a basis. Sums of products are written out, one by one: MatMul of something transposed becomes, in some
// bodies,
// an operator that has no kernel for float64.
func (x *island) axes(points string, basis [3][3]float64, n, sweeps int) (spread, axes [3]string) {
	c := x.columns(points, basis)
	var a [3][3]string
	for i := range n {
		for j := i; j < n; j++ {
			a[i][j] = x.sum(x.mul(c[i], c[j]))
			a[j][i] = a[i][j]
		}
	}
	for i, b := range basis {
		axes[i] = x.numbers(b[:], x.d, 1, 3, 1)
	}
	for range sweeps {
		for p := range n {
			for q := p + 1; q < n; q++ {
				x.rotate(&a, &axes, n, p, q)
			}
		}
		if n == 2 {
			break // one rotation is all there is
		}
	}
	for i := range n {
		spread[i] = a[i][i]
	}
	if n == 2 {
		x.swap(&spread, &axes, 0, 1)
		return spread, axes
	}
	x.swap(&spread, &axes, 0, 1)
	x.swap(&spread, &axes, 1, 2)
	x.swap(&spread, &axes, 0, 1)
	return spread, axes
}

// rotate is the turn in the plane of two axes after which what a says of both together is 0: one step of Jacobi's
// method (Golub and Van Loan, Matrix Computations, 8.5). No number is divided by 0, and where nothing is to do the turn
// is by 0.
func (x *island) rotate(a *[3][3]string, axes *[3]string, n, p, q int) {
	d, both := x.sub(a[q][q], a[p][p]), x.add(a[p][q], a[p][q])
	r := x.sqrt(x.add(x.mul(d, d), x.mul(both, both)))
	t := x.div(both, x.Op("Max", []string{x.add(x.Op("Abs", []string{d}), r), x.tiny}))
	t = x.where(x.less(d, x.zero), x.Op("Neg", []string{t}), t)
	c := x.div(x.one, x.sqrt(x.add(x.mul(t, t), x.one)))
	s := x.mul(t, c)
	move := x.mul(t, a[p][q])
	a[p][p], a[q][q] = x.sub(a[p][p], move), x.add(a[q][q], move)
	a[p][q], a[q][p] = x.zero, x.zero
	turn := func(u, v string) (string, string) {
		return x.sub(x.mul(c, u), x.mul(s, v)), x.add(x.mul(s, u), x.mul(c, v))
	}
	if n == 3 {
		o := 3 - p - q
		a[p][o], a[q][o] = turn(a[p][o], a[q][o])
		a[o][p], a[o][q] = a[p][o], a[q][o]
	}
	axes[p], axes[q] = turn(axes[p], axes[q])
}

// swap brings the larger of two first.
func (x *island) swap(spread, axes *[3]string, i, j int) {
	c := x.less(spread[i], spread[j])
	spread[i], spread[j] = x.where(c, spread[j], spread[i]), x.where(c, spread[i], spread[j])
	axes[i], axes[j] = x.where(c, axes[j], axes[i]), x.where(c, axes[i], axes[j])
}

// cross is the axis that makes a right-handed system of two.
func (x *island) cross(u, v string) string {
	pick := func(a string, i ...int64) string {
		return x.Op("Gather", []string{a, x.Ints(i...)}, onnx.AttrInt("axis", 1))
	}
	return x.sub(x.mul(pick(u, 1, 2, 0), pick(v, 2, 0, 1)), x.mul(pick(u, 2, 0, 1), pick(v, 1, 2, 0)))
}

// rows are those of the matrix whose columns are axes, [samples, 1, 3] each.
func (x *island) rows(axes [3]string) (out [3]string) {
	m := x.Op("Concat", axes[:], onnx.AttrInt("axis", 2))
	for j := range out {
		out[j] = x.cut(m, 1, j, j+1)
	}
	return out
}

// back are the rows of the transposed matrix, by Reshape and not by Transpose, see axes.
func (x *island) back(axes [3]string) (out [3]string) {
	for j, a := range axes {
		out[j] = x.Op("Reshape", []string{a, x.Ints(0, 1, 3)})
	}
	return out
}

// basisOf is a right-handed system whose last axis has a direction of length 1; axes of coordinates where it is one.
func basisOf(n [3]float64) [3][3]float64 {
	for i, v := range n {
		if v == 1 || v == -1 {
			var b [3][3]float64
			b[0][(i+1)%3], b[1][(i+2)%3], b[2][i] = 1, v, v
			return b
		}
	}
	least := 0
	for i, v := range n {
		if math.Abs(v) < math.Abs(n[least]) {
			least = i
		}
	}
	var u [3]float64
	for i := range u {
		u[i] = -float64(n[least] * n[i])
	}
	u[least]++
	l := math.Sqrt(float64(u[0]*u[0]) + float64(u[1]*u[1]) + float64(u[2]*u[2]))
	for i := range u {
		u[i] /= l
	}
	v := [3]float64{
		float64(n[1]*u[2]) - float64(n[2]*u[1]), float64(n[2]*u[0]) - float64(n[0]*u[2]),
		float64(n[0]*u[1]) - float64(n[1]*u[0]),
	}
	return [3][3]float64{u, v, n}
}
