package metric

import (
	"math"

	"nero/data/space"
	"nero/internal/lanes"
)

// flow is a comparison of two fields of one size.
type flow struct{ at, truth *space.Field }

func newFlow(c Case) (flow, bool) {
	a, b, ok := space.Both[*space.Field](c.At, c.Truth)
	if !ok || a.H != b.H || a.W != b.W || a.H < 1 || a.W < 1 ||
		len(a.Val) != 2*a.H*a.W || len(b.Val) != len(a.Val) {
		return flow{}, false
	}
	return flow{a, b}, true
}

// finite reports whether all errors are.
func (f flow) finite() bool {
	b := f.truth.Val[:len(f.at.Val)]
	for i, x := range f.at.Val {
		if !(math.Abs(x-b[i]) <= math.MaxFloat64) { // NaN and infinities
			return false
		}
	}
	return true
}

// error is the error at pixel i, along the columns and along the rows.
func (f flow) error(i int) (du, dv float64) {
	n := len(f.at.Val) / 2
	return f.at.Val[i] - f.truth.Val[i], f.at.Val[n+i] - f.truth.Val[n+i]
}

// numbers are those of the field and of its reference, along the columns and along the rows. Metrics go over them in
// loops of their own: a field has a million pixels, and is measured several times.
func (f flow) numbers() (u, v, p, q []float64) {
	n := len(f.at.Val) / 2
	return f.at.Val[:n:n], f.at.Val[n : 2*n : 2*n], f.truth.Val[:n:n], f.truth.Val[n : 2*n : 2*n]
}

// square is the mean square of a component's error.
func (f flow) square() float64 {
	u, v, p, q := f.numbers()
	sum := 0.0
	for i := range u {
		du, dv := u[i]-p[i], v[i]-q[i]
		sum += (float64(du*du) + float64(dv*dv)) / 2
	}
	return sum / float64(len(u))
}

// distance is the mean length of the errors.
func (f flow) distance() float64 {
	u, v, p, q := f.numbers()
	var b block
	sum := 0.0
	for i := 0; i < len(u); i += len(b.sum) {
		end := min(i+len(b.sum), len(u))
		for _, d := range b.lengths(u[i:end], v[i:end], p[i:end], q[i:end]) {
			sum += d
		}
	}
	return sum / float64(len(u))
}

// block is room for what metrics compute of some pixels at a time.
type block struct{ du, dv, sum [256]float64 }

// lengths are those of the errors of at most a block of pixels.
func (b *block) lengths(u, v, p, q []float64) []float64 {
	n := len(u)
	du, dv := b.du[:n], b.dv[:n]
	v, p, q = v[:n], p[:n], q[:n]
	for i := range du {
		du[i], dv[i] = u[i]-p[i], v[i]-q[i]
	}
	lanes.Lengths(b.sum[:n], du, dv)
	return b.sum[:n]
}

// angles are those between (u, v, 1) and (p, q, 1), in degrees, of at most a block of pixels.
func (b *block) angles(u, v, p, q []float64) []float64 {
	n := len(u)
	side, turn, sum := b.du[:n], b.dv[:n], b.sum[:n]
	v, p, q = v[:n], p[:n], q[:n]
	for i := range side {
		side[i], turn[i] = v[i]-q[i], p[i]-u[i]
	}
	lanes.Lengths(sum, side, turn)
	for i := range turn {
		turn[i] = float64(u[i]*q[i]) - float64(v[i]*p[i])
	}
	lanes.Lengths(side, sum, turn) // the sine
	for i := range turn {
		turn[i] = float64(u[i]*p[i]) + float64(v[i]*q[i]) + 1 // the cosine
	}
	lanes.Angles(sum, side, turn)
	for i := range sum {
		sum[i] *= 180 / math.Pi
	}
	return sum
}

// absolute is the mean absolute error of a component.
func (f flow) absolute() float64 {
	u, v, p, q := f.numbers()
	sum := 0.0
	for i := range u {
		sum += (math.Abs(u[i]-p[i]) + math.Abs(v[i]-q[i])) / 2
	}
	return sum / float64(len(u))
}

// angle is the mean angle between (u, v, 1) and its reference, in degrees: by sine and cosine, for the arc cosine has
// no digits near 0.
func (f flow) angle() float64 {
	u, v, p, q := f.numbers()
	var b block
	sum := 0.0
	for i := 0; i < len(u); i += len(b.sum) {
		end := min(i+len(b.sum), len(u))
		for _, a := range b.angles(u[i:end], v[i:end], p[i:end], q[i:end]) {
			sum += a
		}
	}
	return sum / float64(len(u))
}

// curl is the error of dv/dx - du/dy at an inner pixel, by central differences.
func (f flow) curl(i int) float64 {
	_, right := f.error(i + 1)
	_, left := f.error(i - 1)
	below, _ := f.error(i + f.at.W)
	above, _ := f.error(i - f.at.W)
	return (right-left)/2 - (below-above)/2
}

// spread is the error of du/dx + dv/dy at an inner pixel, by central differences.
func (f flow) spread(i int) float64 {
	right, _ := f.error(i + 1)
	left, _ := f.error(i - 1)
	_, below := f.error(i + f.at.W)
	_, above := f.error(i - f.at.W)
	return (right-left)/2 + (below-above)/2
}

// inner is the root mean square over the pixels that have four neighbors; NaN if there is none.
func (f flow) inner(g func(i int) float64) float64 {
	h, w := f.at.H, f.at.W
	sum := 0.0
	for r := 1; r+1 < h; r++ {
		for c := 1; c+1 < w; c++ {
			x := g(r*w + c)
			sum += float64(x * x)
		}
	}
	return math.Sqrt(sum / float64(max(h-2, 0)*max(w-2, 0)))
}

// ofField makes a metric of two fields, which is NaN where an error is not finite.
func ofField(m Metric, f func(f flow) float64) *Metric {
	m.Spaces, m.Movable, m.Ref, m.Better, m.Range = fields, true, Target, Lower, [2]float64{0, math.Inf(1)}
	m.Measure = func(c Case) float64 {
		x, ok := newFlow(c)
		if !ok || !x.finite() {
			return math.NaN()
		}
		return f(x)
	}
	return &m
}

// ofAll makes a metric of two fields that cannot be finite where an error is not, so that nobody has to look for one
// where it is.
func ofAll(m Metric, f func(f flow) float64) *Metric {
	n := ofField(m, f)
	n.Measure = func(c Case) float64 {
		x, ok := newFlow(c)
		if !ok {
			return math.NaN()
		}
		if v := f(x); math.Abs(v) <= math.MaxFloat64 || x.finite() {
			return v
		}
		return math.NaN()
	}
	return n
}

// alsoOf lets a metric of fields compare rows, pairs, signals and frames too.
func alsoOf(kinds []space.Kind, m *Metric, f func(d diff) float64) *Metric {
	field := m.Measure
	m.Spaces = kinds
	m.Measure = func(c Case) float64 {
		if c.At != nil && c.At.Kind() == fields[0] {
			return field(c)
		}
		d, ok := newDiff(c)
		if !ok {
			return math.NaN()
		}
		return f(d)
	}
	return m
}

// The metrics of vector fields compare the prediction with the reference at every pixel: du along the columns, dv along
// the rows.
var (
	// FieldRMSE is the root of the mean square of a component's error, and what a study of a flow shows first.
	FieldRMSE = alsoOf(series,
		ofAll(Metric{
			Title: "root mean square error",
			Name:  "rmse", Unit: "px", OfOutput: "%",
			Doc: "√ of the mean over pixels of (du²+dv²)/2, of other outputs √ of the mean of the squared difference " +
				"of a number; over samples the mean of these",
			Says: "is off by %s",
		}, rmse), diff.rmse)
	// FieldRMSEPooled is FieldRMSE with another aggregate.
	FieldRMSEPooled = pooledRMSE()
	// FieldMSE is the mean square of a component's error.
	FieldMSE = alsoOf(series,
		ofAll(Metric{
			Title: "mean square error",
			Name:  "mse", Unit: "px²", OfOutput: "%²",
			Doc: "mean over pixels of (du²+dv²)/2, of other outputs mean of the squared difference of a number",
		},
			flow.square), diff.mse)
	// FieldMAE is the mean absolute error of a component.
	FieldMAE = alsoOf(series,
		ofAll(Metric{
			Title: "mean absolute error",
			Name:  "mae", Unit: "px", OfOutput: "%",
			Doc: "mean over pixels of (|du|+|dv|)/2, of other outputs mean of |difference| of a number",
		},
			flow.absolute), diff.mae)
	// EndPoint is the mean length of the error vectors.
	EndPoint = alsoOf(series[:3],
		ofAll(Metric{
			Title: "average end-point error",
			Name:  "aee", Unit: "px", OfOutput: "%",
			Doc: "average end-point error: mean over pixels of √(du²+dv²), of rows mean length of the difference of " +
				"two vectors",
		}, flow.distance),
		func(d diff) float64 { return mean(d.distances()) })
	// EndPoint95 is a large, not the largest, length of the error vectors.
	EndPoint95 = alsoOf(series[:3],
		ofField(Metric{
			Title: "end-point error, 95th percentile",
			Name:  "aee95", Unit: "px", OfOutput: "%",
			Doc: "end-point error that 95 % of the pixels or rows do not exceed",
		},
			func(f flow) float64 {
				u, v, p, q := f.numbers()
				d := make([]float64, len(u))
				var b block
				for i := 0; i < len(u); i += len(b.sum) {
					end := min(i+len(b.sum), len(u))
					copy(d[i:], b.lengths(u[i:end], v[i:end], p[i:end], q[i:end]))
				}
				return percentile95(d)
			}), func(d diff) float64 { return percentile95(d.distances()) })
	// AngularError is the mean angle between space-time directions.
	AngularError = ofField(Metric{
		Name: "angular_error", Unit: "°",
		Doc: "mean over pixels of the angle between (u,v,1) and its reference (Barron, Fleet and Beauchemin 1994), " +
			"which weighs small vectors more",
	}, flow.angle)
	// VorticityError is how far the rotation of the field is wrong.
	VorticityError = ofField(Metric{
		Name: "vorticity_error", Unit: "1/frame",
		Doc: "root mean square error of dv/dx - du/dy, central differences at the inner pixels",
	},
		func(f flow) float64 { return f.inner(f.curl) })
	// DivergenceError is how far the sources of the field are wrong.
	DivergenceError = ofField(Metric{
		Name: "divergence_error", Unit: "1/frame",
		Doc: "root mean square error of du/dx + dv/dy, central differences at the inner pixels",
	},
		func(f flow) float64 { return f.inner(f.spread) })
)

func rmse(f flow) float64 { return math.Sqrt(f.square()) }

// pooledRMSE is the root of the mean over the pixels of all samples, which have equally many.
func pooledRMSE() *Metric {
	m := ofAll(Metric{
		Title: "root mean square error of all samples",
		Name:  "rmse_pooled", Unit: "px", OfOutput: "%",
		Doc: "as rmse, but over samples √ of the mean of their squares, which is the rmse of all pixels together " +
			"where samples have equally many, and no less than the mean",
	}, rmse)
	m = alsoOf(series, m, diff.rmse)
	m.Pooled = func(e []Evidence) float64 {
		sum := 0.0
		for _, x := range e {
			sum += float64(x.Value * x.Value)
		}
		return math.Sqrt(sum / float64(len(e)))
	}
	return m
}

// velocimetry lists the metrics of fields.
func velocimetry() []*Metric {
	return []*Metric{
		FieldRMSE, FieldRMSEPooled, FieldMSE, FieldMAE, EndPoint, EndPoint95, AngularError, VorticityError,
		DivergenceError,
	}
}
