// Package embedding asks how the features of a model move when its input does: what stays, what is lost, along which
// directions an object and its pose lie apart, which linear map or generator moves features as the group moves inputs,
// and whether the features of another release can take their place. It is arithmetic over numbers that somebody has
// collected; it knows neither models nor groups.
//
// Features are tables with a row for each sample. What is fitted, chosen and reported comes from three different sets
// of objects, each with orbits of its own: see [Orbits].
//
// Products go through Gonum's matrices, whose last bits may differ between processors.
package embedding

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"nero/measure/aggregate"

	"gonum.org/v1/gonum/mat"
)

// LeastObjects is how few objects say something: of fewer, nothing is left to choose a penalty by, or to take an
// interval over.
const LeastObjects = 4

// ErrFew says that there are too few objects.
var ErrFew = errors.New("too few objects")

// ErrConstant says that features do not vary, so that nothing can be said of them.
var ErrConstant = errors.New("the features are the same for every sample")

// Orbits are the features of samples at the elements of a group.
type Orbits struct {
	// Object says which samples show one object: a number for each sample.
	Object []int
	// At are the features at each element, a row for each sample.
	At []*mat.Dense
	// Identity is the element that moves nothing.
	Identity int
}

// NotFiniteError is a feature that is not finite.
type NotFiniteError struct {
	Sample, Element, Component int
	Value                      float64
}

// Error says where.
func (e *NotFiniteError) Error() string {
	return fmt.Sprintf("feature %d of sample %d at element %d is %g, want a finite number", e.Component, e.Sample,
		e.Element, e.Value)
}

// Check holds sizes against each other and looks for numbers that are not finite, which make a [*NotFiniteError]. Fewer
// objects than [LeastObjects] are an [ErrFew].
func (o *Orbits) Check() error {
	if len(o.At) == 0 || o.Identity < 0 || o.Identity >= len(o.At) {
		return fmt.Errorf("features at %d elements, of which number %d is the identity", len(o.At), o.Identity)
	}
	n, d := o.At[0].Dims()
	for k, at := range o.At {
		rows, width := at.Dims()
		if rows != len(o.Object) || rows != n {
			return fmt.Errorf("element %d has features of %d samples, and there are %d", k, rows, len(o.Object))
		}
		if width != d {
			return fmt.Errorf("features have another width at element %d: %d, and %d at the first", k, width, d)
		}
		for i := range rows {
			for j, x := range at.RawRowView(i) {
				if math.IsNaN(x) || math.IsInf(x, 0) {
					return &NotFiniteError{i, k, j, x}
				}
			}
		}
	}
	if m := distinct(o.Object); m < LeastObjects {
		return fmt.Errorf("%w: %d, want at least %d", ErrFew, m, LeastObjects)
	}
	return nil
}

// Width is how many numbers a feature has.
func (o *Orbits) Width() int {
	_, d := o.At[0].Dims()
	return d
}

// Still are the features at the identity.
func (o *Orbits) Still() *mat.Dense { return o.At[o.Identity] }

// Pairs are features before and after an element.
func (o *Orbits) Pairs(element int) Pairs { return Pairs{o.Still(), o.At[element], o.Object} }

// On are the same orbits seen along the axes of a basis.
func (o *Orbits) On(b *Basis) *Orbits {
	out := &Orbits{Object: o.Object, Identity: o.Identity}
	for _, at := range o.At {
		out.At = append(out.At, b.Of(at))
	}
	return out
}

// Options of what is resampled.
type Options struct {
	// Resamples is how often objects are drawn anew for an interval; 0 for 200.
	Resamples int
	// Confidence is in (0,1); 0 for 0.95.
	Confidence float64
	// Seed decides what is drawn.
	Seed uint64
}

// Presets of [Options].
const (
	presetResamples  = 200
	presetConfidence = 0.95
)

// Estimate is a number with its interval over objects. It is NaN where nothing was to be estimated, and then its
// interval is everything.
type Estimate struct {
	Value    float64
	Interval aggregate.Interval
}

// undefined is an estimate of nothing.
func (o Options) undefined() Estimate {
	return Estimate{math.NaN(), aggregate.Interval{
		Low: math.Inf(-1), High: math.Inf(1), Confidence: o.confidence(),
	}}
}

func (o Options) confidence() float64 {
	if o.Confidence == 0 {
		return presetConfidence
	}
	return o.Confidence
}

// estimate is a statistic of n objects with its interval. It is told how often each object was drawn.
func (o Options) estimate(n int, stream uint64, statistic func(count []int) float64) Estimate {
	resamples := o.Resamples
	if resamples == 0 {
		resamples = presetResamples
	}
	v, i := aggregate.Resample(n, statistic, resamples, o.confidence(), rand.New(rand.NewPCG(o.Seed, stream)))
	return Estimate{v, i}
}

// quotient is the estimate of Σ top / Σ bottom over objects; undefined if the denominator is 0.
func (o Options) quotient(top, bottom []float64, stream uint64) Estimate {
	return o.estimate(len(top), stream, func(count []int) float64 { return ratio(top, bottom, count) })
}

// moved is the estimate of a number that each object moves by so much, of a size in samples of its own.
func (o Options) moved(value float64, by, size []float64, stream uint64) Estimate {
	n := 0.0
	for _, s := range size {
		n += s
	}
	return o.estimate(len(by), stream, func(count []int) float64 {
		sum, drawn := 0.0, 0.0
		for g, c := range count {
			sum += float64(float64(c) * by[g])
			drawn += float64(float64(c) * size[g])
		}
		return value + float64(sum*n)/drawn
	})
}

// share is the estimate of Σ top / Σ bottom over objects, of each of which it lies between 0 and 1. Where all of them
// have 1, or all 0, others may be unlike them.
func (o Options) share(top, bottom []float64, stream uint64) Estimate {
	const rounding = 1e-12
	e := o.quotient(top, bottom, stream)
	e.within()
	var shares []float64
	for g, b := range bottom {
		if b > 0 {
			shares = append(shares, top[g]/b)
		}
	}
	o.unseen(&e, shares, 1-rounding, rounding)
	return e
}

// unseen widens an interval of shares, one of each object, at what was never seen. Where each of n objects has more
// than so much, no draw of them has one that has not, and a share of 1 - tail^(1/n) could not be and stay unseen
// (Clopper and Pearson 1934); likewise where each has less.
func (o Options) unseen(e *Estimate, shares []float64, above, below float64) {
	n := len(shares)
	if n == 0 {
		return
	}
	share := 1 - aggregate.ClopperPearson(n, n, o.confidence()).Low
	i := &e.Interval
	if slices.Min(shares) > above {
		i.Low = min(i.Low, float64(e.Value*(1-share)))
	}
	if slices.Max(shares) < below {
		i.High = max(i.High, e.Value+float64((1-e.Value)*share))
	}
}

// within keeps the interval of a share between 0 and 1, and its value in it.
func (e *Estimate) within() {
	e.Interval.Low = max(min(e.Interval.Low, e.Value), 0)
	e.Interval.High = min(max(e.Interval.High, e.Value), 1)
}

// ratio is Σ top / Σ bottom of objects that were drawn so often, once each if count is nil; NaN for 0/0.
func ratio(top, bottom []float64, count []int) float64 {
	a, b := 0.0, 0.0
	for i := range top {
		c := 1.0
		if count != nil {
			c = float64(count[i])
		}
		a += float64(c * top[i])
		b += float64(c * bottom[i])
	}
	return a / b
}

// streams of random numbers, one for each thing that is drawn.
const (
	streamPairs = iota + 0x656d_6265
	streamRatio
	streamCosine
	streamRank
	streamMap
	streamRetrieval
	streamParts
	streamAnchors
	streamRelease
	streamRows
	streamGenerator
	streamPose
	streamChain
	streamAUC
	streamUnits
	streamIdentity
)

// distinct is how many different numbers there are.
func distinct(all []int) int {
	seen := map[int]bool{}
	for _, x := range all {
		seen[x] = true
	}
	return len(seen)
}

// objects are the rows of each object, in the order in which objects first come.
func objects(of []int) [][]int {
	var all [][]int
	at := map[int]int{}
	for i, id := range of {
		k, ok := at[id]
		if !ok {
			k, at[id] = len(all), len(all)
			all = append(all, nil)
		}
		all[k] = append(all[k], i)
	}
	return all
}

// mean is the mean row of tables of one width.
func mean(tables ...*mat.Dense) []float64 {
	var out []float64
	n := 0
	for _, t := range tables {
		rows, d := t.Dims()
		if out == nil {
			out = make([]float64, d)
		}
		for i := range rows {
			for j, x := range t.RawRowView(i) {
				out[j] += x
			}
		}
		n += rows
	}
	for j := range out {
		out[j] /= float64(n)
	}
	return out
}

// less is a table with a row taken away from each of its rows.
func less(t *mat.Dense, row []float64) *mat.Dense {
	n, d := t.Dims()
	out := mat.NewDense(n, d, nil)
	for i := range n {
		to := out.RawRowView(i)
		for j, x := range t.RawRowView(i) {
			to[j] = x - row[j]
		}
	}
	return out
}

// squares is Σ x².
func squares(x []float64) float64 {
	s := 0.0
	for _, v := range x {
		s += float64(v * v)
	}
	return s
}

// dot is Σ x y.
func dot(x, y []float64) float64 {
	s := 0.0
	for i, v := range x {
		s += float64(v * y[i])
	}
	return s
}

// apart is ‖x - y‖².
func apart(x, y []float64) float64 {
	s := 0.0
	for i, v := range x {
		d := v - y[i]
		s += float64(d * d)
	}
	return s
}

// Stack puts tables of one width below each other.
func Stack(tables ...*mat.Dense) *mat.Dense {
	n := 0
	for _, t := range tables {
		rows, _ := t.Dims()
		n += rows
	}
	_, d := tables[0].Dims()
	out := mat.NewDense(n, d, nil)
	at := 0
	for _, t := range tables {
		rows, _ := t.Dims()
		for i := range rows {
			out.SetRow(at, t.RawRowView(i))
			at++
		}
	}
	return out
}

// choose are some rows of a table.
func choose(t *mat.Dense, rows []int) *mat.Dense {
	_, d := t.Dims()
	out := mat.NewDense(max(len(rows), 1), d, nil)
	for k, i := range rows {
		out.SetRow(k, t.RawRowView(i))
	}
	return out
}

// drawn are n of the numbers below most, ascending; all of them if there are no more.
func drawn(most, n int, r *rand.Rand) []int {
	if n >= most {
		n = most
	}
	out := r.Perm(most)[:n]
	slices.Sort(out)
	return out
}

// symmetric finds the eigenvalues, ascending, and the eigenvectors of a symmetric matrix.
func symmetric(m *mat.SymDense) ([]float64, *mat.Dense, error) {
	var f mat.EigenSym
	if !f.Factorize(m, true) {
		return nil, nil, errors.New("eigenvectors of the features were not found")
	}
	v := &mat.Dense{}
	f.VectorsTo(v)
	return f.Values(nil), v, nil
}
