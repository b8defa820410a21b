package discover

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"

	"nero/data/dataset"
	"nero/data/space"
	"nero/internal/elementary"
	"nero/measure/scale"
	"nero/symmetry/action"
	"nero/symmetry/group"
)

// scan asks a catalogue of named families.
var scan = Part{
	Name: "scan",
	Doc:  "which of the usual families, such as turns, shifts or permutations, leave the answer as it should be",
	Run: func(ctx context.Context, s *Subject) (Section, error) {
		c, err := newScanner(ctx, s)
		if err != nil {
			return nil, err
		}
		return c.run(ctx)
	},
	Blank: func() Section { return &Scan{} },
}

// fewest is how many samples a scan needs: with fewer, no bootstrap interval is anything but all numbers.
const fewest = 8

// scanner holds what all families are measured against.
type scanner struct {
	s        *Subject
	families []family
	samples  []dataset.Sample
	// seen are the samples as the model sees them where nothing moves, and answers what it says.
	seen, answers []space.Value
	out           []space.Spec
	// of each output
	spreads []spread
	// rounding is how far an answer moves where the last digit of its input does, as a mean of squares, by output
	rounding []float64
	scan     Scan
}

// spread is what a model answers to different samples: the squared distance of each from the mean, and their mean,
// which
// is the square of the centred scale.
type spread struct {
	squares []float64
	square  float64
	// size is the mean square of the numbers themselves
	size float64
}

// newScanner asks the model at the samples as they are.
func newScanner(ctx context.Context, s *Subject) (*scanner, error) {
	c := &scanner{s: s, samples: s.Explored(), out: s.Out.Leaves()}
	if len(c.samples) < fewest {
		return nil, fmt.Errorf("%d samples to fit and to choose, and a scan needs %d at least: give more samples, "+
			"about "+
			"%d in all, for some are kept to confirm, and let no limit be lower", len(c.samples), fewest, 2*fewest)
	}
	rows := 0
	for _, x := range c.samples {
		rows = max(rows, s.In.Members(x.Value))
	}
	for _, leaf := range s.In.Leaves() {
		if n := vector(s.In, leaf); n <= mostVector && n >= len(c.samples) {
			return nil, fmt.Errorf("%d samples to fit and to choose for the %d numbers of %q: fewer samples than "+
				"directions, so that a symmetry of the model cannot be told from a plane that the data lie in; give "+
				"more than %d "+
				"samples in all", len(c.samples), n, leaf.Name, 2*n)
		}
	}
	const stream = 0x7363616e // apart from other uses of the seed
	k := &catalogue{s: s, rows: rows, r: rand.New(rand.NewPCG(s.Seed, stream))}
	all, err := k.families()
	if err != nil {
		return nil, err
	}
	c.choose(all)
	if len(c.families) == 0 {
		why := ""
		if len(c.scan.Left) > 0 {
			why = ": " + c.scan.Left[0].Why
		}
		return nil, fmt.Errorf("%w: the catalogue has no family for inputs of kind %s%s", ErrOpen, s.In.Kind, why)
	}
	if err := c.afford(); err != nil {
		return nil, err
	}
	return c, c.rest(ctx)
}

// choose keeps the families that have an action on the inputs.
func (c *scanner) choose(all []family) {
	for _, f := range all {
		if _, err := c.s.Rules.For(f.group, f.in, f.options); err != nil {
			c.scan.Left = append(c.scan.Left, Left{Family: f.name, Why: err.Error()})
			continue
		}
		c.families = append(c.families, f)
	}
}

// price is how many predictions a family takes for each sample, at most.
func (f family) price() int {
	n := 2*len(f.elements) + 2 // each element and an unstructured change, and the twins of resampling
	for _, s := range f.steps {
		if s.element < 0 {
			n += 4
		}
	}
	return n
}

// afford takes as many samples as the budget allows, and says what the scan will take.
func (c *scanner) afford() error {
	const atRest = 2
	each := atRest
	for _, f := range c.families {
		each += f.price()
	}
	if most := c.s.Left() / each; most < len(c.samples) {
		if most < fewest {
			return fmt.Errorf("%w: %d predictions may be made, and a scan of %d families takes %d for each of at "+
				"least %d samples: allow %d", ErrBudget, c.s.Left(), len(c.families), each, fewest, each*fewest)
		}
		c.scan.Spared = len(c.samples) - most
		c.samples = c.samples[:most]
	}
	c.scan.Each = each
	if c.s.Expect != nil {
		c.s.Expect(each * len(c.samples))
	}
	return nil
}

// rest asks the model where nothing moves.
func (c *scanner) rest(ctx context.Context) error {
	f := c.families[0]
	act, err := c.s.Rules.For(f.group, f.in, f.options)
	if err != nil {
		return err
	}
	if c.seen, err = c.moved(act, f.group.Identity(), values(c.samples)); err != nil {
		return err
	}
	if c.answers, err = c.s.Predict(ctx, c.seen); err != nil {
		return err
	}
	for i, y := range c.answers {
		if !space.Finite(y) {
			return fmt.Errorf("%w: %s answers numbers that are not finite to sample %s", ErrAnswer, c.s.Model,
				c.samples[i].ID)
		}
	}
	still := true
	for j := range c.out {
		p := spreadOf(leavesOf(c.answers, j))
		still = still && !(p.square > 0)
		c.spreads = append(c.spreads, p)
	}
	if still {
		return fmt.Errorf("%w: %s answers the same to all of %d samples, so that every motion leaves its answer as it "+
			"is", ErrAnswer, c.s.Model, len(c.samples))
	}
	// the last digit of the inputs
	specs := c.s.In.Leaves()
	shaken := make([]space.Value, len(c.seen))
	for i, x := range c.seen {
		r := c.random(i, "last digit")
		n := slices.Clone(x.Numbers())
		at, k := 0, 0
		for _, leaf := range space.Leaves(x) {
			to := at + len(leaf.Numbers())
			for p := at; p < to && !counted(specs[k], leaf); p++ {
				n[p] += float64(n[p] * 2 * c.s.Roundoff * float64(2*int(r.Uint64()&1)-1))
			}
			at, k = to, k+1
		}
		if shaken[i], err = x.With(n); err != nil {
			shaken[i] = x // labels have no last digit
		}
	}
	y, err := c.s.Predict(ctx, shaken)
	if err != nil {
		return err
	}
	for j := range c.out {
		a, b := leavesOf(c.answers, j), leavesOf(y, j)
		sum := 0.0
		for i := range a {
			sum += square(a[i], b[i])
		}
		least := 4 * c.s.Roundoff
		if nominal(a[0]) {
			least = 0
		}
		c.rounding = append(c.rounding, max(sum/float64(len(a)), float64(least*least)*c.spreads[j].size))
	}
	return nil
}

// ErrAnswer marks a model that answers nothing that could be compared.
var ErrAnswer = errors.New("nothing to compare")

// random is the generator of a sample for a purpose.
func (c *scanner) random(i int, purpose string) *rand.Rand {
	h := fnv.New64a()
	_, _ = h.Write([]byte(c.samples[i].ID + "\x00" + purpose)) // hashes take everything
	return rand.New(rand.NewPCG(c.s.Seed, h.Sum64()))
}

func values(all []dataset.Sample) []space.Value {
	out := make([]space.Value, len(all))
	for i, x := range all {
		out[i] = x.Value
	}
	return out
}

// moved are values moved by an element. What is the same for all values of a form is done once.
func (c *scanner) moved(a action.Action, g group.Element, v []space.Value) ([]space.Value, error) {
	out := make([]space.Value, len(v))
	p, _ := a.(action.Preparer)
	var m action.Mover
	var like space.Value // what a value of the form becomes
	form := ""
	for i, x := range v {
		err := error(nil)
		switch {
		case m != nil && x.Form() == form:
			out[i] = like.Like()
			err = m.Move(out[i], x)
		default:
			if out[i], err = a.Apply(g, x); err == nil && p != nil {
				m, err = p.Prepare(g, x)
				like, form = out[i], x.Form()
			}
		}
		if err != nil {
			return nil, fmt.Errorf("sample %s: %w", c.samples[i].ID, err)
		}
	}
	return out, nil
}

// leavesOf is one output of many answers.
func leavesOf(v []space.Value, j int) []space.Value {
	out := make([]space.Value, len(v))
	for i, x := range v {
		k := 0
		for _, leaf := range space.Leaves(x) {
			if k == j {
				out[i] = leaf
			}
			k++
		}
	}
	return out
}

// nominal reports whether numbers of a value mean nothing one by one, as those of labels.
func nominal(v space.Value) bool {
	_, err := v.With(v.Numbers())
	return err != nil
}

// square is the squared distance of two answers, a mean over rows; the share that differs where numbers mean nothing.
// It is NaN for answers that cannot be compared.
func square(a, b space.Value) float64 {
	d, err := scale.Compare(a, b)
	if err != nil {
		return math.NaN()
	}
	if nominal(a) {
		return d.Norm
	}
	return float64(d.Norm * d.Norm)
}

// spreadOf measures answers to different samples.
func spreadOf(v []space.Value) spread {
	n := len(v)
	s := spread{squares: make([]float64, n)}
	if nominal(v[0]) { // half the mean distance of pairs
		for i := range v {
			for k := range v {
				if i != k {
					s.squares[i] += square(v[i], v[k]) / 2 / float64(n-1)
				}
			}
			s.square += s.squares[i] / float64(n)
		}
		s.size = 1
		return s
	}
	var m scale.Moments
	each := func(f func(i int, row []float64)) {
		for i, x := range v {
			if c, ok := x.(space.Counted); ok {
				for k := range c.Count() {
					f(i, c.Row(k))
				}
				continue
			}
			f(i, x.Numbers())
		}
	}
	each(func(_ int, row []float64) { m.Take(row) })
	if m.N < 2 {
		return s
	}
	unbiased := float64(n) / float64(n-1)
	each(func(i int, row []float64) {
		count := scale.Count(v[i])
		for k, x := range row {
			d := x - m.Mean[k]
			s.squares[i] += float64(float64(d*d) / count * unbiased)
			s.size += float64(x*x) / count / float64(n)
		}
	})
	for _, x := range s.squares {
		s.square += x / float64(n)
	}
	return s
}

// unstructured are the samples changed by noise that is as large, in each field, as what a motion does to it: noise
// without structure for numbers, blurred for pictures, volumes and signals, whose neighbours belong together. It is nil
// for samples that the motion leaves as they are.
func (c *scanner) unstructured(f family, moved []space.Value, purpose string) (forth, back []space.Value) {
	forth, back = make([]space.Value, len(moved)), make([]space.Value, len(moved))
	specs := f.in.Leaves()
	for i, x := range c.seen {
		r := c.random(i, purpose)
		n := slices.Clone(x.Numbers())
		m := moved[i].Numbers()
		change := make([]float64, len(n))
		at, changed := 0, false
		k := 0
		for _, leaf := range space.Leaves(x) {
			to := at + len(leaf.Numbers())
			size := 0.0
			for p := at; p < to && len(m) == len(n); p++ {
				d := m[p] - n[p]
				size += float64(d * d)
			}
			// nothing lies beside the kind of an atom
			if size > 0 && !counted(specs[k], leaf) && !nominal(leaf) {
				noise(change[at:to], leaf, math.Sqrt(size), r)
				changed = true
			}
			at, k = to, k+1
		}
		if !changed {
			continue
		}
		other := slices.Clone(n)
		for p := range n {
			n[p] += change[p]
			other[p] -= change[p]
		}
		var err, failed error
		forth[i], err = x.With(n)
		back[i], failed = x.With(other)
		if err != nil || failed != nil {
			forth[i], back[i] = nil, nil
		}
	}
	return forth, back
}

// counted reports whether rows hold whole numbers that nobody said move, such as kinds of atoms: they may be indexes,
// and a little more of one means nothing.
func counted(spec space.Spec, v space.Value) bool {
	if !spec.Lined() || spec.Type != space.TypeUnchanged {
		return false
	}
	return !slices.ContainsFunc(v.Numbers(), func(x float64) bool { return x != math.Trunc(x) })
}

// noise fills in numbers of the given length as a vector.
func noise(to []float64, like space.Value, size float64, r *rand.Rand) {
	for i := range to {
		to[i] = elementary.Normal(r)
	}
	sides := space.Sides(like)
	each := 1
	for _, n := range sides {
		each *= n
	}
	if len(sides) > 0 && each > 0 && len(to)%each == 0 {
		for from := 0; from < len(to); from += each {
			blur(to[from:from+each], sides...)
		}
	}
	sum := 0.0
	for _, x := range to {
		sum += float64(x * x)
	}
	for i := range to {
		to[i] *= size / math.Sqrt(max(sum, math.SmallestNonzeroFloat64))
	}
}

// blur takes the mean over three neighbors along each axis, twice, with the edge repeated.
func blur(p []float64, size ...int) {
	for range 2 {
		step := len(p)
		for _, n := range size { // the last varies fastest
			step /= n
		}
		for _, n := range slices.Backward(size) {
			row := make([]float64, n)
			for first := range p {
				if first/step%n != 0 {
					continue
				}
				for i := range n {
					row[i] = p[first+i*step]
				}
				for i := range n {
					p[first+i*step] = (row[max(i-1, 0)] + row[i] + row[min(i+1, n-1)]) / 3
				}
			}
			step *= n
		}
	}
}
