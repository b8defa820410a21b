package census

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"

	"nero/audit/document"
	"nero/measure/aggregate"
	"nero/symmetry/group"
)

// mostClasses is up to how many classes the matrices are kept.
const mostClasses = 50

// What becomes of labels.
const (
	Safe    = "safe"
	Unsafe  = "unsafe"  // they change, and mostly into one other
	Unclear = "unclear" // they may change, or nobody can tell
)

// Labels says what becomes of labels when samples are moved: by the nearest neighbors of a moved sample among the
// others
// as they are.
type Labels struct {
	Neighbors int `json:"neighbors"`
	// Asked is how many samples were moved; neighbors are looked for among all.
	Asked int `json:"asked"`
	// Classes are the words for the classes that occur; empty for numbers that are to be predicted.
	Classes []string `json:"classes,omitempty"`
	// Deviation is that of the numbers that are to be predicted, in which their errors are given.
	Deviation document.Number `json:"deviation,omitempty"`
	// Rest is how the samples fare as they are.
	Rest     Fate   `json:"rest"`
	Elements []Fate `json:"elements"`
	// Valid is how far around the identity labels are safe.
	Valid Range `json:"valid_range"`
}

// Fate is what becomes of labels at an element.
type Fate struct {
	Name  string `json:"name"`
	State string `json:"state"`
	// Matrix counts by class, in rows, and by the class of the neighbors; left out for many classes.
	Matrix  [][]int        `json:"matrix,omitempty"`
	Classes []ClassFate    `json:"of_classes,omitempty"`
	Error   *ErrorFate     `json:"error,omitempty"`
	Unsafe  []string       `json:"unsafe"`
	Unclear []string       `json:"unclear"`
	counts  map[[2]int]int // by class and class of the neighbors
}

// ClassFate is what becomes of the label of one class.
type ClassFate struct {
	Class string `json:"class"`
	N     int    `json:"n"`
	// Kept is how many of them have neighbors of their class.
	Kept int `json:"kept"`
	// Changed is the share of the others, with its interval, and AtRest the same share of samples as they are.
	Changed Area            `json:"changed"`
	AtRest  document.Number `json:"at_rest"`
	// Into is the class that most of the others have, Count of them.
	Into  string `json:"into,omitempty"`
	Count int    `json:"count,omitempty"`
	State string `json:"state"`

	class, into int
}

// ErrorFate is what becomes of a number that is to be predicted: by how much the error of the mean of the neighbors'
// numbers grows, in deviations of the number, with its interval.
type ErrorFate struct {
	// Mean is the error at the element, Growth how much larger it is than at rest.
	Mean   document.Number `json:"mean"`
	Growth Area            `json:"growth"`
}

// labels asks what becomes of labels.
func (t *taker) labels(ctx context.Context, r *Report) error {
	known := 0
	distinct := map[int]bool{}
	for _, l := range t.s.Labels {
		if l >= 0 {
			known++
			distinct[l] = true
		}
	}
	numbers := 0
	for _, x := range t.target {
		if !math.IsNaN(x) {
			numbers++
		}
	}
	switch {
	case t.alike():
		r.NoLabels = "the samples do not vary, so that no neighbor is nearer than another"
	case len(distinct) == 1:
		r.NoLabels = "all samples are of one class, so no label can change into another"
	case known > Neighbors:
		return t.classes(ctx, r)
	case numbers > Neighbors:
		return t.regression(ctx, r)
	default:
		r.NoLabels = "the data has no labels, neither classes nor one number each, so nobody knows whether they survive"
	}
	t.step(t.steps())
	return nil
}

// alike reports whether all samples read the same.
func (t *taker) alike() bool {
	for i := range t.near.N {
		if !slices.Equal(t.near.Row(i), t.near.Row(0)) {
			return false
		}
	}
	return true
}

// steps is how many steps asking for labels counts.
func (t *taker) steps() int { return len(t.asked) * (len(t.elements) + 1) }

// neighbors finds the nearest samples of those that count, for each that is asked, at rest and at each element: those
// of sample a at element k are at [k·len(asked)+a], at rest at k = len(elements).
func (t *taker) neighbors(ctx context.Context, counts func(i int) bool) ([][]int, error) {
	n := t.near.N
	scale, order := t.scales()
	d := len(order)
	row := func(to []float64, from []float32) {
		for j, k := range order {
			to[j] = float64(from[k]) * scale[k]
		}
	}
	rows := make([]float64, n*d)
	var counted []int
	for i := range n {
		row(rows[i*d:(i+1)*d], t.near.Row(i))
		if counts(i) {
			counted = append(counted, i)
		}
	}
	out := make([][]int, len(t.asked)*(len(t.elements)+1))
	short := newShort(rows, d, len(out)*len(counted))
	const block = 8 // so many are held against a row at once, while it is at hand
	blocks := (len(t.asked) + block - 1) / block
	err := parallel(ctx, t.s.Workers, blocks*(len(t.elements)+1), func(task int) error {
		k, from := task/blocks, task%blocks*block
		to := min(from+block, len(t.asked))
		queries := make([]nearest, to-from)
		for a := range queries {
			x := make([]float64, d)
			if k == len(t.elements) {
				row(x, t.near.Row(t.asked[from+a]))
			} else {
				row(x, t.nearMoved[k].Row(from+a))
			}
			queries[a] = nearest{x: x, short: short.query(x)}
		}
		for _, i := range counted {
			y := rows[i*d : (i+1)*d]
			for a := range queries {
				q := &queries[a]
				if t.asked[from+a] == i || short.beyond(&q.short, i) {
					continue
				}
				if q.add(i, squared(q.x, y, q.most())) {
					short.narrow(&q.short, q.most())
				}
			}
		}
		for a, q := range queries {
			out[k*len(t.asked)+from+a] = slices.Clone(q.index[:q.n])
		}
		t.step(to - from)
		return nil
	})
	return out, err
}

// scales are by what numbers are multiplied before distances are taken, and the order in which they are looked at:
// those
// that vary most come first, so that most distances are seen to be too large soon. Numbers of one unit stay as they
// are,
// others are brought to deviation 1; those that do not vary are left out.
func (t *taker) scales() (scale []float64, order []int) {
	n, d := t.near.N, t.near.D
	mean, deviation := make([]float64, d), make([]float64, d)
	for i := range n {
		for j, x := range t.near.Row(i) {
			mean[j] += float64(x) / float64(n)
		}
	}
	for i := range n {
		for j, x := range t.near.Row(i) {
			e := float64(x) - mean[j]
			deviation[j] += float64(e * e)
		}
	}
	scale = make([]float64, d)
	for j, s := range deviation {
		switch s = math.Sqrt(s / float64(n)); {
		case t.read.plain:
			scale[j], deviation[j] = 1, s
		case s > 1e-6*math.Abs(mean[j]) && s > 0: // else it is the rounding of float32
			scale[j], deviation[j] = 1/s, 1
		default:
			continue
		}
		order = append(order, j)
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(deviation[j], deviation[i]) })
	return scale, order
}

// squared is the squared distance of two rows, or a number above most, as soon as it is known to be that.
func squared(a, b []float64, most float64) float64 {
	b = b[:len(a)]
	sum := 0.0
	for len(a) >= 8 {
		x, y := a[:8], b[:8]
		d0, d1, d2, d3 := x[0]-y[0], x[1]-y[1], x[2]-y[2], x[3]-y[3]
		d4, d5, d6, d7 := x[4]-y[4], x[5]-y[5], x[6]-y[6], x[7]-y[7]
		sum += ((float64(d0*d0) + float64(d1*d1)) + (float64(d2*d2) + float64(d3*d3))) +
			((float64(d4*d4) + float64(d5*d5)) + (float64(d6*d6) + float64(d7*d7)))
		if sum > most {
			return sum
		}
		a, b = a[8:], b[8:]
	}
	for i, x := range a {
		d := x - b[i]
		sum += float64(d * d)
	}
	return sum
}

// nearest are the nearest samples so far, the nearest first; of equally near ones the first in the data.
type nearest struct {
	x     []float64
	short question
	n     int
	index [Neighbors]int
	far   [Neighbors]float64
}

// most is how far away a sample may be to be one of them.
func (q *nearest) most() float64 {
	if q.n < Neighbors {
		return math.Inf(1)
	}
	return q.far[Neighbors-1]
}

// add takes a sample if it is near enough, and reports whether it is.
func (q *nearest) add(i int, far float64) bool {
	if far >= q.most() {
		return false
	}
	at := min(q.n, Neighbors-1)
	for ; at > 0 && far < q.far[at-1]; at-- {
		q.index[at], q.far[at] = q.index[at-1], q.far[at-1]
	}
	q.index[at], q.far[at] = i, far
	q.n = min(q.n+1, Neighbors)
	return true
}

// vote is the label that most neighbors have, of several that of the nearest of them.
func vote(labels, neighbors []int) int {
	count := map[int]int{}
	for _, i := range neighbors {
		count[labels[i]]++
	}
	best := -1
	for _, i := range neighbors {
		if l := labels[i]; best < 0 || count[l] > count[best] {
			best = l
		}
	}
	return best
}

// classes asks what becomes of classes.
func (t *taker) classes(ctx context.Context, r *Report) error {
	labels := t.s.Labels
	near, err := t.neighbors(ctx, func(i int) bool { return labels[i] >= 0 })
	if err != nil {
		return err
	}
	out := &Labels{Neighbors: Neighbors}
	seen := map[int]bool{}
	for _, l := range labels {
		if l >= 0 {
			seen[l] = true
		}
	}
	var present []int
	for l := range seen {
		present = append(present, l)
	}
	slices.Sort(present)
	for _, l := range present {
		out.Classes = append(out.Classes, t.class(l))
	}
	fates := make([]Fate, len(t.elements)+1)
	for k := range fates {
		f := Fate{counts: map[[2]int]int{}, Unsafe: []string{}, Unclear: []string{}}
		for a, i := range t.asked {
			if labels[i] >= 0 {
				f.counts[[2]int{labels[i], vote(labels, near[k*len(t.asked)+a])}]++
			}
		}
		if len(present) <= mostClasses {
			for _, a := range present {
				row := make([]int, len(present))
				for j, b := range present {
					row[j] = f.counts[[2]int{a, b}]
				}
				f.Matrix = append(f.Matrix, row)
			}
		}
		fates[k] = f
	}
	for _, i := range t.asked {
		if labels[i] >= 0 {
			out.Asked++
		}
	}
	out.Rest = fates[len(t.elements)]
	out.Rest.Name = "at rest"
	t.judgeClasses(&out.Rest, &out.Rest, present)
	for k, g := range t.elements {
		fates[k].Name = group.Title(t.s.Group, g)
		t.judgeClasses(&fates[k], &out.Rest, present)
	}
	out.Elements = fates[:len(t.elements)]
	out.Valid = t.within(func(k int) bool { return out.Elements[k].State == Safe })
	if out.Rest.blind() {
		r.NoLabels, r.blind = "the nearest neighbors of samples as they are have their labels no more often than by "+
			"chance, so that nobody can learn from them whether labels change", true
		return nil
	}
	r.Labels = out
	return nil
}

// blind reports whether neighbors of samples as they are find their classes no more often than by chance: then moving
// could not make it worse, and everything would seem safe.
func (f *Fate) blind() bool {
	n, kept := 0, 0
	has, says := map[int]int{}, map[int]int{}
	for pair, c := range f.counts {
		n += c
		has[pair[0]], says[pair[1]] = has[pair[0]]+c, says[pair[1]]+c
		if pair[0] == pair[1] {
			kept += c
		}
	}
	chance := 0 // times n², in whole numbers because maps have no order
	for l, c := range has {
		chance += c * says[l]
	}
	return !(aggregate.ClopperPearson(kept, n, 0.95).Low > float64(chance)/float64(n*n))
}

// class is the word for a class.
func (t *taker) class(l int) string {
	if l < len(t.s.Classes) {
		return t.s.Classes[l]
	}
	return strconv.Itoa(l)
}

// judgeClasses says of every class what becomes of it: unsafe if so many more labels change than at rest that chance is
// no excuse, and most of those into one other class; safe if no more than the allowed can have changed; else unclear.
func (t *taker) judgeClasses(f, rest *Fate, present []int) {
	f.Classes = nil
	f.State = Safe
	for _, a := range present {
		c := ClassFate{Class: t.class(a), State: Unclear, class: a, into: -1}
		restN := 0
		for _, b := range present {
			n := f.counts[[2]int{a, b}]
			c.N += n
			restN += rest.counts[[2]int{a, b}]
			switch {
			case a == b:
				c.Kept = n
			case n > c.Count:
				c.Count, c.Into, c.into = n, t.class(b), b
			}
		}
		wrong := c.N - c.Kept
		i := aggregate.ClopperPearson(wrong, c.N, 0.95)
		still := float64(restN-rest.counts[[2]int{a, a}]) / float64(restN)
		c.Changed = Area{
			document.Number(float64(wrong) / float64(c.N)), document.Number(i.Low), document.Number(i.High),
		}
		c.AtRest = document.Number(still)
		switch {
		case c.N == 0:
		case i.Low > still+Allowed && 2*c.Count > wrong:
			c.State = Unsafe
			f.Unsafe = append(f.Unsafe, c.Class)
		case i.High <= still+Allowed:
			c.State = Safe
		}
		switch c.State {
		case Unclear:
			f.Unclear = append(f.Unclear, c.Class)
			if f.State == Safe {
				f.State = Unclear
			}
		case Unsafe:
			f.State = Unsafe
		}
		f.Classes = append(f.Classes, c)
	}
}

// regression asks what becomes of numbers.
func (t *taker) regression(ctx context.Context, r *Report) error {
	known := func(i int) bool { return !math.IsNaN(t.target[i]) }
	near, err := t.neighbors(ctx, known)
	if err != nil {
		return err
	}
	var all aggregate.Moments
	for i, y := range t.target {
		all.Add(y, i)
	}
	deviation := all.Std()
	if !(deviation > 0) {
		r.NoLabels = "all samples are to be answered with one number, so nothing can change"
		return nil
	}
	off := func(k, a int) float64 {
		sum := 0.0
		for _, i := range near[k*len(t.asked)+a] {
			sum += t.target[i]
		}
		return math.Abs(sum/float64(len(near[k*len(t.asked)+a]))-t.target[t.asked[a]]) / deviation
	}
	out := &Labels{Neighbors: Neighbors, Deviation: document.Number(deviation)}
	for _, i := range t.asked {
		if known(i) {
			out.Asked++
		}
	}
	var gain aggregate.Moments // over the mean of all
	for a, i := range t.asked {
		if known(i) {
			gain.Add(math.Abs(t.target[i]-all.Mean)/deviation-off(len(t.elements), a), i)
		}
	}
	if !(aggregate.MeanInterval(gain, 0.95).Low > 0) {
		r.NoLabels, r.blind = "the nearest neighbors of samples as they are tell their numbers no better than the "+
			"mean of all does, so that nobody can learn from them whether they change", true
		return nil
	}
	for k := range len(t.elements) + 1 {
		var mean, growth aggregate.Moments
		for a, i := range t.asked {
			if known(i) {
				e := off(k, a)
				mean.Add(e, i)
				growth.Add(e-off(len(t.elements), a), i)
			}
		}
		i := aggregate.MeanInterval(growth, 0.95)
		f := Fate{Name: "at rest", State: Unclear, Unsafe: []string{}, Unclear: []string{}, Error: &ErrorFate{
			Mean:   document.Number(mean.Mean),
			Growth: Area{document.Number(growth.Mean), document.Number(i.Low), document.Number(i.High)},
		}}
		switch {
		case i.Low > Allowed:
			f.State = Unsafe
		case i.High <= Allowed:
			f.State = Safe
		}
		if k == len(t.elements) {
			out.Rest = f
			continue
		}
		f.Name = group.Title(t.s.Group, t.elements[k])
		out.Elements = append(out.Elements, f)
	}
	out.Valid = t.within(func(k int) bool { return out.Elements[k].State == Safe })
	r.Labels = out
	return nil
}

// text is a share with the other class, such as "9 becomes 6 (133 of 154)".
func (c *ClassFate) text() string {
	return fmt.Sprintf("%s becomes %s (%d of %d)", c.Class, c.Into, c.Count, c.N)
}
