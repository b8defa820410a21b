package metric

import (
	"math"
	"slices"

	"nero/data/space"
	"nero/internal/elementary"
)

func nan() float64 { return math.NaN() }

// rowsOf is the numbers of a value and how many of them make a row: a channel of a signal, a picture of frames.
func rowsOf(v space.Value) (x []float64, w int) {
	if l, ok := v.(interface{ Lines() int }); ok && l.Lines() > 0 {
		if x = Numbers(v); len(x)%l.Lines() == 0 {
			return x, len(x) / l.Lines()
		}
	}
	return nil, 0
}

// diff is a comparison of two values of rows of one size whose numbers are all finite.
type diff struct {
	at, truth []float64
	n, w      int
}

func newDiff(c Case) (diff, bool) {
	a, w := rowsOf(written(c.At, c.Truth))
	b, w2 := rowsOf(c.Truth)
	if len(a) == 0 || len(a) != len(b) || w != w2 || w == 0 || c.At.Kind() != c.Truth.Kind() {
		return diff{}, false
	}
	for i, x := range a {
		if d := x - b[i]; math.IsNaN(d) || math.IsInf(d, 0) {
			return diff{}, false
		}
	}
	return diff{a, b, len(a) / w, w}, true
}

// row is row i of prediction and reference.
func (d diff) row(i int) (a, b []float64) {
	return d.at[i*d.w : (i+1)*d.w], d.truth[i*d.w : (i+1)*d.w]
}

// mean is the mean of a function over the numbers.
func (d diff) mean(f func(x float64) float64) float64 {
	sum := 0.0
	for i, x := range d.at {
		sum += f(x - d.truth[i])
	}
	return sum / float64(len(d.at))
}

func (d diff) mse() float64 { return d.mean(func(x float64) float64 { return float64(x * x) }) }

func (d diff) rmse() float64 { return math.Sqrt(d.mse()) }

func (d diff) mae() float64 { return d.mean(math.Abs) }

func (d diff) largest() float64 {
	m := 0.0
	for i, x := range d.at {
		m = max(m, math.Abs(x-d.truth[i]))
	}
	return m
}

// distances are the lengths of the errors of the rows.
func (d diff) distances() []float64 {
	out := make([]float64, d.n)
	for i := range out {
		a, b := d.row(i)
		sum := 0.0
		for k := range a {
			sum += float64((a[k] - b[k]) * (a[k] - b[k]))
		}
		out[i] = math.Sqrt(sum)
	}
	return out
}

func mean(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}

// length is the Euclidean norm, without overflow.
func length(x []float64) float64 {
	n := 0.0
	for _, v := range x {
		n = elementary.Hypot(n, v)
	}
	return n
}

// between is the angle between two vectors in degrees and its cosine: by the difference and the sum of the unit
// vectors, for the arc cosine has no digits near 0 and 180° (Kahan, Computing cross-products and rotations in 2- and
// 3-dimensional Euclidean spaces, 2016, section 12). ok is false if one has no direction.
func between(a, b []float64) (angle, cosine float64, ok bool) {
	p, q := length(a), length(b)
	if !(p > 0) || !(q > 0) {
		return 0, 0, false
	}
	minus, plus, dot := 0.0, 0.0, 0.0
	for k := range a {
		u, v := a[k]/p, b[k]/q
		minus, plus = elementary.Hypot(minus, u-v), elementary.Hypot(plus, u+v)
		dot += float64(u * v)
	}
	return 2 * elementary.Atan2(minus, plus) * (180 / math.Pi), max(-1, min(1, dot)), true
}

// directions averages over the rows that have a direction in both values; NaN if there is none.
func (d diff) directions(f func(angle, cosine float64) float64) float64 {
	sum, n := 0.0, 0
	for i := range d.n {
		a, b := d.row(i)
		if angle, cosine, ok := between(a, b); ok {
			sum, n = sum+f(angle, cosine), n+1
		} else if length(b) > 0 { // an answer of 0 has no direction and is no right one
			sum, n = sum+f(90, 0), n+1
		}
	}
	return sum / float64(n)
}

// ofRows makes a metric of two values of rows.
func ofRows(m Metric, kinds []space.Kind, f func(d diff) float64) *Metric {
	m.Spaces, m.Movable, m.Ref = kinds, true, Target
	if m.Better == "" {
		m.Better = Lower
	}
	if m.Range == ([2]float64{}) {
		m.Range = [2]float64{0, math.Inf(1)}
	}
	m.Measure = func(c Case) float64 {
		d, ok := newDiff(c)
		if !ok {
			return math.NaN()
		}
		return f(d)
	}
	return &m
}

// The metrics of rows, pairs, signals and frames compare a prediction with its reference number by number, or row by
// row where rows are vectors; rmse, mse, mae, aee and aee95 are those of fields.
var (
	// MaxError is the largest error of a number.
	MaxError = ofRows(Metric{
		Title: "largest error",
		Name:  "max_error", Unit: "output", OfOutput: "%", Doc: "largest |difference| of a number",
	}, series[1:], diff.largest)
	// Cosine is the mean cosine of the angle between vectors.
	Cosine = ofRows(Metric{
		Title: "cosine similarity",
		Name:  "cosine", Better: Higher, Range: [2]float64{-1, 1},
		Doc: "mean over rows of the cosine of the angle between the vectors; rows where the reference is 0 have no " +
			"angle and are left out, an answer of 0 counts as 90°",
	}, rowed, func(d diff) float64 {
		return d.directions(func(_, c float64) float64 { return c })
	})
	// Angle is the mean angle between vectors.
	Angle = ofRows(Metric{
		Title: "angle between the vectors",
		Name:  "angle", Unit: "°", Range: [2]float64{0, 180},
		Doc: "mean over rows of the angle between the vectors, whatever their lengths; rows where the reference is 0 " +
			"have no angle and are left out, an answer of 0 counts as 90°",
	}, rowed, func(d diff) float64 {
		return d.directions(func(a, _ float64) float64 { return a })
	})
	// NormError is the mean error of the lengths of vectors.
	NormError = ofRows(Metric{
		Title: "error of the length",
		Name:  "norm_error", Unit: "output", OfOutput: "%",
		Doc: "mean over rows of the difference of the lengths of the vectors, whatever their directions",
	}, rowed,
		func(d diff) float64 {
			sum := 0.0
			for i := range d.n {
				a, b := d.row(i)
				sum += math.Abs(length(a) - length(b))
			}
			return sum / float64(d.n)
		})
	// RotationError is the mean angle of the rotation from one pose to the other.
	RotationError = ofRows(Metric{
		Name: "rotation_error", Unit: "°", Range: [2]float64{0, 180},
		Doc: "mean over rows of the angle of the rotation that takes the reference to the prediction; rows of 4 " +
			"numbers are quaternions w, x, y, z, of which q and -q are one rotation, rows of 9 rotation matrices, " +
			"which are brought to the nearest rotation first; two with a mirror are compared without it, one with " +
			"and one without are 180° apart",
	}, rowed[:1], diff.rotations)
	// IoU3D is the mean intersection over union of boxes in space.
	IoU3D = ofRows(Metric{
		Title: "IoU in space",
		Name:  "iou3d", Better: Higher, Range: [2]float64{0, 1},
		Doc: "mean over rows of the intersection over union of boxes x, y, z of the centre, length, width, height " +
			"and yaw in radians from x to y, or in place of the yaw the whole rotation as a quaternion w, x, y, z, " +
			"two columns or a matrix; row i is compared with row i",
	}, rowed[:1], diff.solids)
	// MAEPerAtom is the mean absolute error over the number of atoms.
	MAEPerAtom = perAtom()
	// Correlation is Pearson's correlation of signals.
	Correlation = ofRows(Metric{
		Name: "correlation", Better: Higher, Range: [2]float64{-1, 1},
		Doc: "mean over channels of Pearson's correlation in time; channels that are constant in one of the two have " +
			"none and are left out",
	}, series[3:4], diff.correlation)
)

// perAtom divides by the nodes of the case.
func perAtom() *Metric {
	m := ofRows(Metric{
		Title: "mean absolute error per atom",
		Name:  "mae_per_atom", Unit: "output", OfOutput: "%/atom", OfNodes: true,
		Doc: "mean |difference| over the number of atoms; undefined where nothing says how many there are",
	}, rowed[:1],
		diff.mae)
	whole := m.Measure
	m.Measure = func(c Case) float64 {
		if c.Nodes < 1 {
			return math.NaN()
		}
		return whole(c) / float64(c.Nodes)
	}
	return m
}

// correlation is the mean over channels.
func (d diff) correlation() float64 {
	sum, n := 0.0, 0
	for i := range d.n {
		a, b := d.row(i)
		ma, mb := mean(a), mean(b)
		aa, bb, ab := 0.0, 0.0, 0.0
		for k := range a {
			x, y := a[k]-ma, b[k]-mb
			aa, bb, ab = aa+float64(x*x), bb+float64(y*y), ab+float64(x*y)
		}
		// Squares of what rounding leaves of a constant channel are no variance.
		if !(aa > small(a)) || !(bb > small(b)) {
			continue
		}
		sum, n = sum+max(-1, min(1, ab/math.Sqrt(aa)/math.Sqrt(bb))), n+1
	}
	return sum / float64(n)
}

// small is the sum of squares that rounding can make of equal numbers.
func small(x []float64) float64 {
	m := 0.0
	for _, v := range x {
		m = max(m, math.Abs(v))
	}
	e := m * 0x1p-50
	return e * e * float64(len(x))
}

// percentile95 is the number that 95 % of the numbers do not exceed.
func percentile95(x []float64) float64 {
	slices.Sort(x)
	return x[(95*len(x)+99)/100-1]
}

// geometric lists the metrics of rows and signals.
func geometric() []*Metric {
	return []*Metric{MaxError, Cosine, Angle, NormError, RotationError, IoU3D, MAEPerAtom, Correlation}
}
