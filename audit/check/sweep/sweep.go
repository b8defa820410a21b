// Package sweep is the measurement under the checks that judge errors: every sample at every element, once.
package sweep

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strconv"

	"nero/audit"
	"nero/data/space"
	"nero/internal/elementary"
	"nero/measure/metric"
	"nero/measure/scale"
	"nero/symmetry/action"
	"nero/symmetry/group"
)

// Check is the sweep over the orbits. Its result is a [*Result].
var Check = &audit.Check{
	Name:  "sweep",
	Title: "Errors along the orbit",
	Doc: `Sweep sends every input through the model unmoved, unmoved again, moved by every element, and moved there and back by every element
that resamples or moves content out of the frame. It keeps the error of every pair (input, element), the scale s of the outputs, what resampling alone does to the output, and
which classes come first. Outputs that are not finite are reported with sample and element and enter no mean. Of the pulled-back outputs it keeps
the squares of the error per channel, what a line through them and the unmoved ones needs, and up to 8 numbers for each pair: the output itself if
it is that small, else projections on as many fixed random directions.`,
	Anew:  true,
	Views: true,
	Run:   run,
	Work:  func(p *audit.Pass) int { return p.Subject.N * perSample(p) },
}

// perSample is how many inputs of the model come of a sample, about.
func perSample(p *audit.Pass) int {
	n := 2 + len(p.Elements)
	for _, e := range p.Elements {
		if !e.Exact {
			n++
		}
	}
	return n
}

// Roles of a request.
const (
	baseline = iota // f(ρ(e)x)
	repeated        // the same once more, with the output action: the identity as one element among others
	moved           // f(ρ(g)x)
	returned        // f(ρ(g)⁻¹ρ(g)x)
)

// Result is what the sweep keeps: one number per (sample, element), and a few per sample.
type Result struct {
	IDs []string
	// -1 for none
	Labels []int
	Form   string
	// outputs are masks, whose errors are shares of pixels
	Mask bool
	// outputs are sets of boxes; Mask is set as well, for what is said of shares
	Boxes bool
	// Scale is s, RMS the uncentred size of the outputs at the identity, both in the unit of the output.
	Scale, RMS float64
	// Err is the error ‖z - f(x)‖ of sample i at element j, in Err[i*len(elements)+j]; NaN where an output is not
	// finite.
	Err []float64
	// Identity is the error at the identity per sample.
	Identity []float64
	// Component is the largest |component| of a difference over the exact and the other elements.
	Component map[bool]float64
	// NonFinite counts pairs without a finite error among the exact and the other elements, NonFiniteAt is the first of
	// them.
	NonFinite   map[bool]int
	NonFiniteAt map[bool]audit.Where
	// FloorMean is the mean resampling floor of a sample over the elements that resample, with their weights; FloorAt
	// is the sum over samples per element and FloorN their number; FloorMost is the largest.
	FloorMean []float64
	FloorAt   []float64
	FloorN    []int
	FloorMost float64
	// CutMean is what content that leaves the frame does to the answer to a sample, mean over the exact elements with
	// their weights, and Lost the share of the sample's energy that leaves; both nil where nothing leaves.
	CutMean, Lost []float64
	// Informative counts samples that an element changes.
	Informative int
	// Stop says how inputs were judged one after another; nil if the audit was not asked to stop early.
	Stop *Stop
	// Classes of the pulled-back outputs; nil if the output has none.
	Classes *Classes
	// Pixels are the counts of masks against the truth of the data, moved along: of sample i unmoved in
	// Pixels[i*(1+len(elements))], at element j in the (1+j)th behind that; nil where the data have no masks.
	Pixels [][]metric.Pixels
	// Channels says which channels of the output carry the error, Fits whether one factor or offset explains it, and
	// Table holds the pulled-back outputs themselves, in few numbers; all nil for masks.
	Channels *Channels
	Fits     *Fits
	Table    *Table
	// BoxErrors say per element what became of boxes; nil for other outputs.
	BoxErrors []*BoxErrors

	// Parts are the errors of the parts of outputs that are judged by themselves, see [scale.Part]; nil for outputs of
	// one part.
	Parts []*PartErrors
	// Fields are the names of the fields of outputs that are records, nil for other outputs, and FieldErr the errors of
	// each like Err, all over the scales of their fields: Err is the largest of them.
	Fields   []string
	FieldErr [][]float64

	elements []audit.Element
	// What the data say of the samples that are under way, by sample: the producer of requests writes and the consumer
	// reads at the same time.
	truth []space.Labelled
	// samples that an element changes
	changed []bool
}

// Classes counts decisions.
type Classes struct {
	// class at the identity per sample
	Base []int
	// weighted share of the elements at which the class is that at the identity, per sample
	Agree []float64
	// whether it is at every element
	Always []bool
	// weighted share of the elements at which the class is the label, per sample; NaN without a label
	Right []float64
	// whether the class is the label at the identity and at every element
	Robust []bool
	// share of neighbors in the plan whose classes differ, per sample; NaN with fewer than two elements
	Adjacent []float64
	// samples whose class differs from that at the identity, per element
	Flips []int
	// At is the class of sample i at element j, in At[i*elements+j]; -1 where it is not known.
	At []int32
}

// newClasses knows nothing of any sample yet.
func newClasses(n, elements int) *Classes {
	c := &Classes{
		Base: make([]int, n), Agree: make([]float64, n), Always: make([]bool, n), Right: make([]float64, n),
		Robust: make([]bool, n), Adjacent: make([]float64, n), Flips: make([]int, elements),
		At: make([]int32, n*elements),
	}
	for k := range c.At {
		c.At[k] = -1
	}
	for i := range n {
		c.Base[i], c.Agree[i], c.Right[i], c.Adjacent[i] = -1, math.NaN(), math.NaN(), math.NaN()
	}
	return c
}

// moves is the relative change of an input above which it counts as changed.
const moves = 1e-6

func run(ctx context.Context, p *audit.Pass) (any, error) {
	n, m := p.Subject.N, len(p.Elements)
	if m == 0 {
		return nil, fmt.Errorf("%w: the plan holds nothing but the identity", audit.ErrUntested)
	}
	r := &Result{
		IDs: make([]string, n), Labels: make([]int, n), Err: make([]float64, n*m), Identity: make([]float64, n),
		Component: map[bool]float64{}, NonFinite: map[bool]int{}, NonFiniteAt: map[bool]audit.Where{},
		FloorMean: make([]float64, n), FloorAt: make([]float64, m), FloorN: make([]int, m), elements: p.Elements,
		changed: make([]bool, n), CutMean: make([]float64, n), Lost: make([]float64, n),
		truth: make([]space.Labelled, n),
	}
	if p.Subject.EarlyStop {
		var err error
		if r.Stop, err = newStop(p); err != nil {
			return nil, err
		}
	}
	c := &consumer{p: p, r: r}
	G, out := p.Subject.Plan.Group, p.Subject.Plan.Out
	c.back = audit.Movers(out, p.Elements, G.Inv)
	c.there = audit.Movers(out, p.Elements, same)
	c.identity = audit.NewMover(out, G.Identity())
	for _, e := range p.Elements {
		if e.Exact {
			c.exact += e.Weight
		} else {
			c.weights += e.Weight
		}
	}
	if err := p.Predict(ctx, requests(p, r, 0), c.take); errors.Is(err, scale.ErrForm) {
		p.Report(audit.Finding{
			Category: audit.Shape, Location: "output", Message: "the form of the output changes: " + err.Error(),
			Worst:    audit.Where{Sample: r.IDs[c.sample], Index: c.sample},
			Evidence: []audit.Evidence{audit.Number("sample", float64(c.sample), "")},
			Remedies: []string{
				"fix the output shape of the model, or audit inputs of one size",
				"declare an output action that keeps the form of the output",
			},
		})
		return nil, fmt.Errorf("%w: outputs of different form cannot be compared", audit.ErrUntested)
	} else if errors.Is(err, errDecided) {
		n = c.sample + 1
		r.cut(n)
		p.Shorten(n)
	} else if err != nil {
		return nil, err
	} else {
		c.close()
		if r.Stop != nil {
			r.Stop.add(r, c.sample, p.Gauge().Scale)
		}
	}
	for _, x := range r.changed {
		if x {
			r.Informative++
		}
	}
	if !slices.ContainsFunc(r.Lost, func(x float64) bool { return x > 0 }) {
		r.CutMean, r.Lost = nil, nil
	}
	if c.spread.N() == 0 {
		r.notFinite(p)
		return nil, fmt.Errorf("%w: no output at the identity is finite", audit.ErrUntested)
	}
	r.Form, r.Scale, r.RMS = c.spread.Form(), p.Gauge().Scale, c.spread.RMS()
	if r.Stop != nil {
		r.Stop.report(p, n)
	}
	if r.Channels != nil {
		r.Channels.spread(c.spread.Squares(), c.spread.Sizes(), c.spread.N())
	}
	if r.Lost != nil {
		var share float64
		for _, x := range r.Lost {
			share += x / float64(len(r.Lost))
		}
		p.Measure(audit.Number("energy of the inputs that exact elements move out of the frame", share, "share"))
	}
	p.Measure(audit.Number("scale s of the outputs", r.Scale, "output"),
		audit.Number("inputs behind the scale", float64(p.Surveyed()), ""),
		audit.Number("size of the outputs", r.RMS, "output"),
		audit.Number("inputs that the group changes", float64(r.Informative), "of "+strconv.Itoa(n)))
	r.report(p)
	r.reportBoxes(p)
	return r, nil
}

func same(g group.Element) group.Element { return g }

// requests is the stream of inputs: sample after sample from the given one on, the baseline first.
func requests(p *audit.Pass, r *Result, from int) iter.Seq2[audit.Request, error] {
	size := BlockOf(p)
	return func(yield func(audit.Request, error) bool) {
		for q, err := range stream(p, r, from, p.Subject.N) {
			q.Block = 1 + q.Sample/size
			if !yield(q, err) {
				return
			}
		}
	}
}

// Bounds of a block: so many inputs of the model, and so many multiply-adds, a few seconds of one processor core.
const (
	blockMost  = 256
	blockLeast = 32
	blockWork  = 2e11
)

// BlockOf is how many samples are a block of the sweep: it is predicted by itself, on one machine or another.
func BlockOf(p *audit.Pass) int {
	most := float64(blockMost)
	if cost := p.Subject.Cost; cost > 0 {
		most = max(blockLeast, min(blockMost, blockWork/float64(cost)))
	}
	return max(1, int(math.Ceil(most/float64(perSample(p)))))
}

// Block is the stream of inputs of one block, as the sweep of an audit asks for them.
func Block(p *audit.Pass, k int) iter.Seq2[audit.Request, error] {
	size, n := BlockOf(p), p.Subject.N
	return stream(p, &Result{
		IDs: make([]string, n), Labels: make([]int, n), truth: make([]space.Labelled, n),
	}, k*size, min(n, (k+1)*size))
}

// stream are the inputs of the samples from one to another.
func stream(p *audit.Pass, r *Result, from, to int) iter.Seq2[audit.Request, error] {
	G, in := p.Subject.Plan.Group, p.Subject.Plan.In
	identity := audit.NewMover(in, G.Identity())
	there, back := audit.Movers(in, p.Elements, same), audit.Movers(in, p.Elements, G.Inv)
	// A window of what was moved cannot be moved back; the whole picture can, and the window is cut from that.
	var whole, around []*audit.Mover
	if uncut, ok := action.Uncut(in); ok {
		whole = audit.Movers(uncut, p.Elements, same)
	}
	// Boxes that a window cut or did not see are left out of the comparison; of other answers that do not move, what
	// comes in is measured at rest.
	_, still := p.Subject.Plan.Out.(action.Trivial)
	if torus, ok := action.Around(in); ok && still {
		around = audit.Movers(torus, p.Elements, G.Inv)
	}
	listed := group.IsLawless(G)
	// home is an input moved by element j and back; nil where there is no way back.
	home := func(x, gx space.Value, j int, exact bool) (space.Value, error) {
		switch {
		case listed:
			return nil, nil //nolint:nilnil // views that are listed lead nowhere
		case exact && around != nil:
			return around[j].Move(gx)
		case !exact && whole != nil:
			all, err := whole[j].Move(x)
			if err != nil {
				return nil, err
			}
			return back[j].Move(all)
		case gx.Form() != x.Form():
			return nil, nil //nolint:nilnil // no way back is no fault
		}
		return back[j].Move(gx)
	}
	return func(yield func(audit.Request, error) bool) {
		for i := from; i < to; i++ {
			s, err := p.Sample(i)
			if err != nil {
				yield(audit.Request{}, err)
				return
			}
			r.IDs[i], r.Labels[i] = s.ID, s.Label
			if t, ok := s.Target.(space.Labelled); ok {
				r.truth[i] = t
			}
			at := func(j int, err error) error {
				if j < 0 {
					return fmt.Errorf("sample %s: %w", s.ID, err)
				}
				return fmt.Errorf("sample %s at %s: %w", s.ID, p.Elements[j].Label, err)
			}
			x, err := identity.Move(s.Value)
			if err != nil {
				yield(audit.Request{}, at(-1, err))
				return
			}
			if !yield(audit.Request{Sample: i, Element: -1, Role: baseline, Input: x}, nil) ||
				!yield(audit.Request{Sample: i, Element: -1, Role: repeated, Input: x}, nil) {
				return
			}
			changed, lost, all := false, 0.0, 0.0
			for j, e := range p.Elements {
				gx, err := there[j].Move(s.Value)
				if err != nil {
					yield(audit.Request{}, at(j, err))
					return
				}
				if !changed {
					if changed, err = differs(gx, x); err != nil {
						yield(audit.Request{}, at(j, err))
						return
					}
				}
				if !yield(audit.Request{Sample: i, Element: j, Role: moved, Input: gx}, nil) {
					return
				}
				home, err := home(s.Value, gx, j, e.Exact)
				if err != nil {
					yield(audit.Request{}, at(j, err))
					return
				}
				if home == nil {
					continue // what cannot be moved back
				}
				// A heading that comes back a full turn off, or a quaternion of the other sign, was not resampled: a
				// model that tells them apart is not excused.
				home = space.Nearest(home, x)
				if e.Exact {
					share, err := loss(home, x)
					if err != nil {
						yield(audit.Request{}, at(j, err))
						return
					}
					lost, all = lost+float64(e.Weight*share), all+e.Weight
					if share == 0 {
						continue // nothing to resample, and nothing leaves the frame
					}
				}
				if !yield(audit.Request{Sample: i, Element: j, Role: returned, Input: home}, nil) {
					return
				}
			}
			if r.changed != nil {
				r.changed[i] = changed
			}
			if r.Lost != nil && all > 0 {
				r.Lost[i] = lost / all
			}
		}
	}
}

// differs reports whether an element changes an input by more than a millionth of its size.
func differs(a, b space.Value) (bool, error) {
	if a.Form() != b.Form() {
		return true, nil
	}
	d, err := scale.Compare(a, b)
	if err != nil {
		return false, err
	}
	if shares(b) {
		return d.Norm > 0, nil
	}
	x := b.Numbers()
	var ss float64
	for _, v := range x {
		ss += float64(v * v)
	}
	return d.Norm > moves*math.Sqrt(ss), nil
}

// loss is the share of the energy Σx² of an input that an element moves out of the frame, from what it brings there and
// back; of labels and boxes, the share of those that differ. What a millionth of the size of the input hides is
// rounding.
func loss(home, x space.Value) (float64, error) {
	if home.Form() != x.Form() {
		return 0, nil
	}
	d, err := scale.Compare(home, x)
	if err != nil || shares(x) {
		return d.Norm, err
	}
	var ss float64
	for _, v := range x.Numbers() {
		ss += float64(v * v)
	}
	if !(d.Norm > moves*math.Sqrt(ss)) {
		return 0, nil
	}
	return min(1, d.Norm*d.Norm/ss), nil
}

// shares reports whether differences of such values are shares: those of labels, edges and boxes.
func shares(v space.Value) bool {
	names, _ := space.Fields(v)
	_, linear := v.(space.Linear)
	return !linear && names == nil
}

// consumer takes the predictions in the order of the requests.
type consumer struct {
	p *audit.Pass
	r *Result
	// of the output: ρ(g) and ρ(g)⁻¹
	there, back []*audit.Mover
	identity    *audit.Mover
	spread      scale.Spread
	// of the elements that resample, and of the exact ones
	weights, exact float64

	// current one, and what is known of it
	sample int
	base   space.Value
	// of base; nil for masks and where it is not finite
	numbers []float64
	finite  bool
	floor   float64
	// what is cut off, over the exact elements; NaN where it is not known
	cut float64
	// weight of the elements whose floor is known
	known float64
	class int
	// class at the element before
	before int
	// neighbors that differ
	turns  int
	pairs  int
	agree  float64
	right  float64
	weight float64
	always bool
}

func (c *consumer) take(q audit.Request, y space.Value) error {
	err := c.add(q, y)
	if err == nil {
		return nil
	}
	label := "unmoved"
	if q.Element >= 0 {
		label = c.p.Elements[q.Element].Label
	}
	return fmt.Errorf("sample %s, %s: output: %w", c.r.IDs[q.Sample], label, err)
}

func (c *consumer) add(q audit.Request, y space.Value) error {
	r := c.r
	switch q.Role {
	case baseline:
		if q.Sample > 0 {
			c.close()
			if r.Stop != nil && r.Stop.add(r, c.sample, c.p.Gauge().Scale) {
				return errDecided
			}
		}
		finite := space.Finite(y)
		*c = consumer{
			p: c.p, r: r, there: c.there, back: c.back, identity: c.identity, spread: c.spread, weights: c.weights,
			exact:  c.exact,
			sample: q.Sample, base: y, finite: finite, class: audit.Class(y), always: true,
		}
		c.before = c.class
		if err := c.overlap(q, c.identity, y); err != nil {
			return err
		}
		r.Mask, r.Boxes = shares(y), y.Kind() == space.KindBoxes
		if !finite {
			return nil
		}
		if r.Classes == nil && c.class >= 0 {
			r.Classes = newClasses(c.p.Subject.N, len(c.p.Elements))
		}
		if err := c.spread.Add(y); err != nil || r.Mask {
			return err
		}
		x := c.p.Numbers(y)
		if r.Table == nil {
			r.Channels, r.Fits, r.Table = newChannels(y), newFits(len(c.p.Elements)), newTable(c.p, y, len(x))
			r.Fields, _ = space.Fields(y)
			for range r.Fields {
				r.FieldErr = append(r.FieldErr, undefined(len(r.Err)))
			}
		}
		r.Channels.see(y, x)
		c.numbers = x
		r.Table.base(q.Sample, x)
		return nil
	case repeated:
		z, err := c.identity.Move(y)
		if err != nil {
			return err
		}
		d, err := c.p.Compare(z, c.base)
		r.Identity[q.Sample] = d.Norm
		return err
	case moved:
		return c.moved(q, y)
	case returned:
		return c.returned(q, y)
	}
	return nil
}

func (c *consumer) moved(q audit.Request, y space.Value) error {
	r, e := c.r, c.p.Elements[q.Element]
	if err := c.overlap(q, c.there[q.Element], y); err != nil {
		return err
	}
	z, err := c.back[q.Element].Move(y)
	if err != nil {
		return err
	}
	z = space.Nearest(z, c.base)
	d, err := c.p.Compare(z, c.base)
	if err != nil {
		return err
	}
	finite := space.Finite(y)
	if !finite || !c.finite {
		d.Norm, d.Max = math.NaN(), math.NaN()
	}
	r.Err[q.Sample*len(c.p.Elements)+q.Element] = d.Norm
	r.part(c.p, q, d, e.Exact)
	for k, f := range d.Fields {
		if k < len(r.FieldErr) {
			r.FieldErr[k][q.Sample*len(c.p.Elements)+q.Element] = f.Norm
		}
	}
	if math.IsNaN(d.Norm) {
		if r.NonFinite[e.Exact] == 0 {
			w := audit.Where{Sample: r.IDs[q.Sample], Index: q.Sample, Element: e.G, Label: e.Label}
			if !c.finite {
				w.Element, w.Label = nil, "the identity"
			}
			r.NonFiniteAt[e.Exact] = w
		}
		r.NonFinite[e.Exact]++
	} else {
		r.Component[e.Exact] = max(r.Component[e.Exact], d.Max)
		c.compareBoxes(q, z)
		if err := c.keep(q, z); err != nil {
			return err
		}
	}
	if r.Classes == nil || !c.finite {
		return nil
	}
	k := audit.Class(z)
	r.Classes.At[q.Sample*len(c.p.Elements)+q.Element] = int32(min(k, math.MaxInt32))
	w := e.Weight
	c.weight += w
	if k == c.class {
		c.agree += w
	} else {
		c.always = false
		r.Classes.Flips[q.Element]++
	}
	if k == r.Labels[q.Sample] {
		c.right += w
	}
	if !e.Added {
		if k != c.before {
			c.turns++
		}
		c.pairs++
		c.before = k
	}
	return nil
}

// keep writes down what is kept of a pulled-back output beyond its error.
func (c *consumer) keep(q audit.Request, z space.Value) error {
	if c.numbers == nil {
		return nil
	}
	x := c.p.Numbers(z)
	c.r.Channels.add(c.p.Elements[q.Element].Exact, z, x, c.numbers)
	c.r.Fits.add(q.Element, x, c.numbers)
	c.r.Table.put(q.Sample, q.Element, x)
	return nil
}

// resampling is the floor from y = f(ρ(g)⁻¹ρ(g)x): what resampling the input does to the output base and, where the
// output is resampled too, what that does, as for independent errors: the root of the sum of squares.
func resampling(p *audit.Pass, there, back *audit.Mover, y, base space.Value) (float64, error) {
	in, err := p.Compare(y, base)
	if err != nil {
		return 0, err
	}
	gy, err := there.Move(base)
	if err != nil {
		return 0, err
	}
	home, err := back.Move(gy)
	if err != nil {
		return 0, err
	}
	out, err := p.Compare(home, base)
	return elementary.Hypot(in.Norm, out.Norm), err
}

// returned takes f(ρ(g)⁻¹ρ(g)x).
func (c *consumer) returned(q audit.Request, y space.Value) error {
	f, err := resampling(c.p, c.there[q.Element], c.back[q.Element], y, c.base)
	if err != nil {
		return err
	}
	if c.p.Elements[q.Element].Exact {
		c.cut += float64(c.p.Elements[q.Element].Weight * f)
		return nil
	}
	if math.IsNaN(f) || !c.finite {
		return nil
	}
	w := c.p.Elements[q.Element].Weight
	c.floor += float64(w * f)
	c.known += w
	c.r.FloorAt[q.Element] += f
	c.r.FloorN[q.Element]++
	c.r.FloorMost = max(c.r.FloorMost, f)
	return nil
}

// overlap counts the pixels of a mask against the truth, moved as the claim says answers move. Masks of another size
// than the truth are counted for nothing: a run refuses them, and an audit says what it can without.
func (c *consumer) overlap(q audit.Request, mover *audit.Mover, y space.Value) error {
	r, truth := c.r, c.r.truth[q.Sample]
	if _, ok := y.(space.Labelled); truth == nil || !ok {
		return nil
	}
	t, err := mover.Move(truth)
	if err != nil {
		return err
	}
	per := 1 + len(c.p.Elements)
	if r.Pixels == nil {
		r.Pixels = make([][]metric.Pixels, c.p.Subject.N*per)
	}
	r.Pixels[q.Sample*per+1+q.Element] = metric.PixelsOf(metric.Case{At: y, Truth: t})
	return nil
}

// close writes down what is known of a sample once its last element is through.
func (c *consumer) close() {
	r, i := c.r, c.sample
	r.truth[i] = nil
	r.FloorMean[i] = math.NaN()
	if r.CutMean != nil && c.exact > 0 {
		r.CutMean[i] = c.cut / c.exact
	}
	if c.known > 0 && c.known >= c.weights*(1-1e-9) {
		r.FloorMean[i] = c.floor / c.known
	}
	if r.Classes == nil || !c.finite {
		return
	}
	d := r.Classes
	d.Base[i], d.Always[i], d.Agree[i] = c.class, c.always, c.agree/c.weight
	if r.Labels[i] >= 0 {
		d.Right[i] = c.right / c.weight
		d.Robust[i] = c.always && c.class == r.Labels[i]
	}
	if c.pairs > 0 {
		d.Adjacent[i] = float64(c.turns) / float64(c.pairs)
	}
}

// Describe puts the scale and the form of the output at the head of the report.
func (r *Result) Describe(to *audit.Report) {
	to.Scale, to.Output = r.Scale, r.Form
}

// notFinite says which outputs are not finite.
func (r *Result) notFinite(p *audit.Pass) {
	for _, exact := range []bool{true, false} {
		k := r.NonFinite[exact]
		if r.count(exact) == 0 {
			continue
		}
		p.Clue(r.finiteClue(exact))
		if k == 0 {
			continue
		}
		w := r.NonFiniteAt[exact]
		p.Report(audit.Finding{
			Category: audit.NonFinite, Set: SetName(exact), Location: "output", Worst: w,
			Message: fmt.Sprintf("%d of %d outputs on the %s are not finite, first %s", k, r.count(exact)*len(r.IDs),
				SetName(exact), w),
			Evidence: []audit.Evidence{audit.Number("outputs that are not finite", float64(k), "").Against(0)},
			Remedies: []string{
				"look for an overflow, a root of 0 or a division by the norm of a zero vector at this input",
				"add ε inside the root, guard the normalisation",
			},
		})
	}
}

// report says which outputs are not finite and whether the inputs carry information.
func (r *Result) report(p *audit.Pass) {
	r.notFinite(p)
	if n := len(r.IDs); 2*r.Informative < n {
		message := fmt.Sprintf("only %d of %d inputs change under the group, so the others can show no error",
			r.Informative, n)
		if r.Informative == 0 {
			message = fmt.Sprintf("none of %d inputs changes under the group, so no error can show", n)
		}
		p.Clue(audit.Clue{
			Name: audit.ClueUnmoved, Holds: true, Strength: 1, Text: message, Location: "input",
		})
		p.Report(audit.Finding{
			Category: audit.Uninformative, Location: "input", Worst: audit.Nowhere, Message: message,
			Evidence: []audit.Evidence{audit.Number("share of inputs that change", float64(r.Informative)/float64(n),
				"").Against(0.5)},
			Remedies: []string{
				"use inputs that are not blank and not symmetric themselves",
				"check the scale of the inputs: a wrong one makes every picture blank",
			},
		})
	}
}

func (r *Result) count(exact bool) int {
	k := 0
	for _, e := range r.elements {
		if e.Exact == exact {
			k++
		}
	}
	return k
}

// Names of the two sets.
const (
	Exact      = "exact elements"
	Continuous = "continuous elements"
)

// SetName is the name of the exact elements, or of the others.
func SetName(exact bool) string {
	if exact {
		return Exact
	}
	return Continuous
}
