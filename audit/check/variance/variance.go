// Package variance is the check that splits what moves an output: the input, the element, both together, or noise.
package variance

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"

	"nero/audit"
	"nero/audit/check/controls"
	"nero/audit/check/preflight"
	"nero/audit/check/sweep"
	"nero/data/space"
	"nero/measure/aggregate"
	"nero/symmetry/group"
)

// Check is the variance check. Its result is a [*Result].
var Check = &audit.Check{
	Name:  "variance",
	Title: "Hard motions or hard inputs?",
	Doc: `Variance asks whether an element is bad for every input, or an input is sensitive, or the model is noisy. The pulled-back outputs, the
identity's among them, are split as z(x,g,r) = μ + a(x) + b(g) + c(x,g) + ε(x,g,r), the exact and the other elements apart; a symmetric model has
b = c = 0. Shares are those of the sum of squares over all components, or over 8 fixed random projections of an output with more. Where repeats
differ, a part of the table is predicted anew with repeats, else ε is 0. The sizes of the errors are split likewise. The normalised variance of a
number is its standard deviation over elements, mean over inputs, by that over inputs, mean over elements; 0/0 is undefined and not perfect.`,
	Params: []audit.Param{
		{Name: "samples", Doc: "Inputs that are repeated where the model is noisy.", Default: 16, Min: 2, Max: 10000},
		{
			Name: "elements", Doc: "Elements of each set that are repeated where the model is noisy.", Default: 8,
			Min: 1,
			Max: 1000,
		},
		{Name: "repeats", Doc: "Repeats of each pair where the model is noisy.", Default: 2, Min: 2, Max: 100},
	},
	Requires: []*audit.Check{preflight.Check, sweep.Check, controls.Check},
	Optional: true,
	Anew:     true,
	Views:    true,
	Run:      run,
}

// Result holds one split for the exact elements and one for the others; nil where there are none.
type Result struct{ Sets map[bool]*Split }

// Split is the split of one set of elements.
type Split struct {
	Name string
	// of the pulled-back outputs, the identity counted as an element
	Outputs aggregate.TwoWay
	// of the sizes of the errors, the identity left out
	Errors    aggregate.TwoWay
	Projected bool
	// inputs with an output that is not finite
	LeftOut int
	Norm    []Normalised
}

// Normalised is the normalised variance of one number of the output.
type Normalised struct {
	// standard deviation over elements, mean over inputs
	OverElements float64
	// standard deviation over inputs, mean over elements
	OverInputs float64
	// the one by the other; NaN for 0/0, infinite where only the element moves it
	Ratio float64
}

// leastInputs is how many inputs a split needs.
const leastInputs = 2

func run(ctx context.Context, p *audit.Pass) (any, error) {
	sw, c := audit.ResultOf[*sweep.Result](p, sweep.Check), audit.ResultOf[*controls.Result](p, controls.Check)
	if sw.Mask {
		return nil, fmt.Errorf("%w: %s, whose variance means nothing", audit.ErrNotApplicable, sw.Countless())
	}
	if c.Facts.Vacuous {
		return nil, fmt.Errorf("%w: the outputs do not vary", audit.ErrNotApplicable)
	}
	r := &Result{Sets: map[bool]*Split{}}
	noisy := audit.ResultOf[*preflight.Result](p, preflight.Check).Repeat > 0
	for _, exact := range []bool{true, false} {
		t := stored(p, sw, exact)
		if t == nil {
			continue
		}
		if noisy {
			var err error
			if t, err = repeated(ctx, p, sw, exact); err != nil {
				return nil, err
			}
		}
		s := t.split(p, sw)
		if s.Outputs.Inputs < leastInputs {
			p.Measure(audit.Number("inputs without an output that is not finite, "+t.name, float64(s.Outputs.Inputs),
				""))
			continue
		}
		s.Errors = errors(p, sw, exact)
		r.Sets[exact] = s
		s.report(p)
		s.clues(p, sw, c, exact)
	}
	if len(r.Sets) == 0 {
		return nil, fmt.Errorf("%w: fewer than %d inputs have finite outputs everywhere", audit.ErrUntested,
			leastInputs)
	}
	inputs(p, sw)
	return r, nil
}

// table is z[row][element][repeat][number], the identity being the first element.
type table struct {
	name           string
	rows, m, nr, k int
	z              []float64
	projected      bool
}

func (t *table) at(i, g, r, k int) float64 { return t.z[((i*t.m+g)*t.nr+r)*t.k+k] }

// stored takes the table of a set from the sweep; nil if the set is empty.
func stored(p *audit.Pass, sw *sweep.Result, exact bool) *table {
	cols := []int{-1}
	for j, e := range p.Elements {
		if e.Exact == exact {
			cols = append(cols, j)
		}
	}
	from := sw.Table
	if len(cols) == 1 || from == nil {
		return nil
	}
	t := &table{
		name: sweep.SetName(exact), rows: len(from.Samples), m: len(cols), nr: 1, k: from.K,
		projected: from.Projected,
	}
	t.z = make([]float64, 0, t.rows*t.m*t.k)
	for i := range t.rows {
		for _, j := range cols {
			for k := range t.k {
				t.z = append(t.z, from.At(i, j, k))
			}
		}
	}
	return t
}

// repeated predicts part of a set anew, every pair several times, the identity among the elements.
func repeated(ctx context.Context, p *audit.Pass, sw *sweep.Result, exact bool) (*table, error) {
	G, in, out := p.Subject.Plan.Group, p.Subject.Plan.In, p.Subject.Plan.Out
	var use []audit.Element
	for _, j := range p.PickElements(int(p.Param("elements"))) {
		if e := p.Elements[j]; e.Exact == exact {
			use = append(use, e)
		}
	}
	pick := p.Pick(int(p.Param("samples")))
	t := &table{
		name: sweep.SetName(exact), rows: len(pick), m: 1 + len(use), nr: int(p.Param("repeats")),
		k: sw.Table.K, projected: sw.Table.Projected,
	}
	same := func(g group.Element) group.Element { return g }
	there := append([]*audit.Mover{audit.NewMover(in, G.Identity())}, audit.Movers(in, use, same)...)
	back := append([]*audit.Mover{audit.NewMover(out, G.Identity())}, audit.Movers(out, use, G.Inv)...)
	stream := func(yield func(audit.Request, error) bool) {
		for _, i := range pick {
			s, err := p.Sample(i)
			if err != nil {
				yield(audit.Request{}, err)
				return
			}
			for g, m := range there {
				x, err := m.Move(s.Value)
				if err != nil {
					yield(audit.Request{}, fmt.Errorf("sample %s: %w", s.ID, err))
					return
				}
				for r := range t.nr {
					if !yield(audit.Request{Sample: i, Element: g, Role: r, Input: x}, nil) {
						return
					}
				}
			}
		}
	}
	err := p.Predict(ctx, stream, func(q audit.Request, y space.Value) error {
		z, err := back[q.Element].Move(y)
		if err != nil {
			return err
		}
		x := p.Numbers(z)
		to := make([]float64, t.k)
		for i := range to {
			to[i] = math.NaN()
		}
		sw.Table.Project(x, to)
		t.z = append(t.z, to...)
		return nil
	})
	return t, err
}

// split computes the sums of squares over the inputs whose numbers are all finite.
func (t *table) split(p *audit.Pass, sw *sweep.Result) *Split {
	s := &Split{Name: t.name, Projected: t.projected}
	var rows []int
	width := t.m * t.nr * t.k
	for i := range t.rows {
		bad := slices.ContainsFunc(t.z[i*width:(i+1)*width],
			func(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) })
		if bad {
			s.LeftOut++
			continue
		}
		rows = append(rows, i)
	}
	if len(rows) < leastInputs {
		s.Outputs.Inputs = len(rows)
		return s
	}
	for k := range t.k {
		one := aggregate.SplitVariance(len(rows), t.m, t.nr,
			func(i, g, r int) float64 { return t.at(rows[i], g, r, k) })
		if k == 0 {
			s.Outputs = one
		} else {
			s.Outputs.Add(one)
		}
		s.Norm = append(s.Norm, t.normalised(p, sw, rows, k))
	}
	return s
}

// normalised is the normalised variance of number k, repeats averaged. Deviations no larger than rounding leaves count
// as none.
func (t *table) normalised(p *audit.Pass, sw *sweep.Result, rows []int, k int) Normalised {
	mean := func(i, g int) float64 {
		var s float64
		for r := range t.nr {
			s += t.at(i, g, r, k)
		}
		return s / float64(t.nr)
	}
	top := 0.0
	var n Normalised
	for _, i := range rows {
		var m aggregate.Moments
		for g := range t.m {
			x := mean(i, g)
			top = max(top, math.Abs(x))
			m.Add(x, g)
		}
		n.OverElements += m.Std() / float64(len(rows))
	}
	for g := range t.m {
		var m aggregate.Moments
		for a, i := range rows {
			m.Add(mean(i, g), a)
		}
		n.OverInputs += m.Std() / float64(t.m)
	}
	u := p.Subject.Roundoff
	if u == 0 {
		u = 1.0 / (1 << 24)
	}
	size := top
	if t.projected {
		size = max(size, sw.RMS) // a projection that cancels is still a sum of numbers of this size
	}
	const few = 4
	none := few * u * size
	a, b := n.OverElements, n.OverInputs
	switch {
	case a <= none && b <= none:
		n.Ratio = math.NaN()
	case b <= none:
		n.Ratio = math.Inf(1)
	default:
		n.Ratio = a / b
	}
	return n
}

// errors splits the sizes of the errors, over the inputs where all are finite.
func errors(p *audit.Pass, sw *sweep.Result, exact bool) aggregate.TwoWay {
	m := len(p.Elements)
	var cols, rows []int
	for j, e := range p.Elements {
		if e.Exact == exact {
			cols = append(cols, j)
		}
	}
	for i := range sw.IDs {
		if !slices.ContainsFunc(cols, func(j int) bool { return math.IsNaN(sw.Err[i*m+j]) }) {
			rows = append(rows, i)
		}
	}
	if len(rows) == 0 || len(cols) == 0 {
		return aggregate.TwoWay{}
	}
	return aggregate.SplitVariance(len(rows), len(cols), 1,
		func(i, g, _ int) float64 { return sw.Err[rows[i]*m+cols[g]] / sw.Scale })
}

// share of x in the sum of all; NaN for 0/0.
func share(x float64, all ...float64) float64 {
	var t float64
	for _, a := range all {
		t += a
	}
	if !(t > 0) {
		return math.NaN()
	}
	return x / t
}

// Element is the share of the element in what is not the input: b in b + c + ε. NaN where nothing moves.
func (s *Split) Element() float64 {
	o := s.Outputs
	return share(o.SSElement, o.SSElement, o.SSInteract, o.SSNoise)
}

// report hands in the shares and the tables.
func (s *Split) report(p *audit.Pass) {
	o := s.Outputs
	v := o.Split()
	n := fmt.Sprintf(" (%d inputs, %d elements)", o.Inputs, o.Elements)
	p.Measure(
		audit.Number("share of the input, "+s.Name+n, v.Input.Share, "share"),
		audit.Number("share of the element, "+s.Name, v.Element.Share, "share"),
		audit.Number("share of input and element together, "+s.Name, v.Interaction.Share, "share"))
	if o.Repeats > 1 {
		p.Measure(audit.Number("share of noise, "+s.Name, v.Noise.Share, "share"))
	}
	if nv, known, infinite := mean(s.Norm); known > 0 {
		p.Measure(audit.Number(fmt.Sprintf("normalised variance, %s, mean over %d of %d numbers", s.Name, known,
			len(s.Norm)), nv, ""))
	} else if infinite == 0 {
		p.Measure(audit.Number("normalised variance, "+s.Name, math.NaN(), ""))
	}
	t := &audit.Table{Columns: []audit.Column{
		{Name: "source"},
		{Name: "share", Unit: "share", Doc: "of the sum of squares about the mean"},
		{
			Name: "variance", Unit: "output²",
			Doc: "estimate for inputs and elements drawn at random; an estimate below zero is given as 0",
		},
		{Name: "means"},
	}}
	for _, x := range []struct {
		name  string
		part  aggregate.Part
		means string
	}{
		{"input", v.Input, "inputs differ, as they should"},
		{"element", v.Element, "an element is bad for every input"},
		{"input × element", v.Interaction, "an input is sensitive to an element"},
		{"noise", v.Noise, "repeats differ"},
	} {
		means := x.means
		if x.part.Negative {
			means += "; the estimate was below zero"
		}
		if x.name == "noise" && o.Repeats == 1 {
			x.part = aggregate.Part{}
			means = "repeats are equal bit for bit"
		}
		t.Rows = append(t.Rows, []audit.Cell{
			audit.Word(x.name), audit.Num(x.part.Share), audit.Num(x.part.Variance),
			audit.Word(means),
		})
	}
	note := fmt.Sprintf("%d inputs, %d elements with the identity.", o.Inputs, o.Elements)
	if o.Repeats > 1 {
		note = fmt.Sprintf("%d inputs, %d elements with the identity, each %d times.", o.Inputs, o.Elements, o.Repeats)
	}
	if s.Projected {
		note += fmt.Sprintf(" Of %d random projections of the output.", len(s.Norm))
	}
	if s.LeftOut > 0 {
		note += fmt.Sprintf(" %d inputs with outputs that are not finite are left out.", s.LeftOut)
	}
	id := "continuous"
	if s.Name == sweep.Exact {
		id = "exact"
	}
	p.Show(audit.Exhibit{Name: "split-" + id, Title: "What moves the output, " + s.Name, Note: note, Table: t})
	numbers := &audit.Table{Columns: []audit.Column{
		{Name: "number"},
		{Name: "over elements", Unit: "output", Doc: "standard deviation, mean over inputs"},
		{Name: "over inputs", Unit: "output", Doc: "standard deviation, mean over elements"},
		{Name: "normalised variance", Doc: "the one by the other"},
		{Name: "remark"},
	}}
	for k, x := range s.Norm {
		name, remark := "component "+strconv.Itoa(k), ""
		if s.Projected {
			name = "projection " + strconv.Itoa(k)
		}
		switch {
		case math.IsNaN(x.Ratio):
			remark = "does not vary: undefined, not perfect"
		case math.IsInf(x.Ratio, 1):
			remark = "only the element moves it"
		}
		numbers.Rows = append(numbers.Rows, []audit.Cell{
			audit.Word(name), audit.Num(x.OverElements), audit.Num(x.OverInputs), audit.Num(x.Ratio),
			audit.Word(remark),
		})
	}
	p.Show(audit.Exhibit{Name: "normalised-" + id, Title: "Normalised variance, " + s.Name, Table: numbers})
}

// mean of the ratios that are finite, how many those are, and how many are infinite.
func mean(list []Normalised) (m float64, known, infinite int) {
	for _, x := range list {
		switch {
		case math.IsInf(x.Ratio, 1):
			infinite++
		case !math.IsNaN(x.Ratio):
			m, known = m+x.Ratio, known+1
		}
	}
	if known > 0 {
		m /= float64(known)
	}
	return m, known, infinite
}

// half is the share from which a source explains an error, some the share of the inputs up to which they are some and
// not all.
const (
	half = 0.5
	some = 0.35
)

// clues says who explains the error, where there is one.
func (s *Split) clues(p *audit.Pass, sw *sweep.Result, c *controls.Result, exact bool) {
	top, m := 0.0, len(p.Elements)
	for i, e := range sw.Err {
		if e /= sw.Scale; p.Elements[i%m].Exact == exact && e > top { // not max, which takes NaN
			top = e
		}
	}
	if !(top > max(p.Policy.Threshold, p.Policy.RoundingFactor*max(c.Floors.Rounding, 0))) || s.Errors.Inputs < 4 ||
		s.Errors.Elements < 2 {
		return
	}
	e := s.Errors.Split()
	b := s.Element()
	ev := []audit.Evidence{
		audit.Number("share of the element in what the element does to outputs", b, "share").Against(half),
		audit.Number("share of the element in the sizes of the errors", e.Element.Share, "share").Against(half),
		audit.Number("share of the input in the sizes of the errors", e.Input.Share, "share").Against(half),
	}
	best := b
	if !(best >= e.Element.Share) {
		best = e.Element.Share
	}
	p.Clue(audit.Clue{
		Name: audit.ClueElementEffect, Set: s.Name, Holds: best >= half, Strength: apart(best, half), Evidence: ev,
		Text: fmt.Sprintf("the element alone explains %s of what moves the outputs under the group and %s of the "+
			"sizes of the errors", percent(b), percent(e.Element.Share)),
	})
	part := concentration(p, sw, exact)
	clue := audit.Clue{
		Name: audit.ClueSampleEffect, Set: s.Name, Holds: e.Input.Share >= half && part <= some,
		Evidence: append(ev, audit.Number("share of the inputs that carry the error", part, "share").Against(some)),
		Text: fmt.Sprintf(
			"the input alone explains %s of the sizes of the errors, which is as if %s of the inputs had all of it",
			percent(e.Input.Share), percent(part)),
	}
	if clue.Holds {
		clue.Strength = min(apart(e.Input.Share, half), 0.5+float64(0.5*(1-part/some)))
	} else {
		clue.Strength = max(apart(min(e.Input.Share, half), half), min(1, 0.5+0.5*max(0, part-some)/(1-some)))
	}
	p.Clue(clue)
}

// apart is how clear it is that a share is above or below a limit: 0.5 at the limit, 1 at the ends.
func apart(x, limit float64) float64 {
	if x >= limit {
		return 0.5 + float64(float64(0.5*(x-limit))/(1-limit))
	}
	return 0.5 + float64(float64(0.5*(limit-x))/limit)
}

func percent(x float64) string {
	if math.IsNaN(x) {
		return "an undefined share"
	}
	return fmt.Sprintf("%.0f %%", 100*x)
}

// concentration is (Σq)²/(n·Σq²) of the mean squared errors q of the inputs: 1 if all have the same, 1/n if one has
// all.
func concentration(p *audit.Pass, sw *sweep.Result, exact bool) float64 {
	var sum, square, n float64
	for i := range sw.IDs {
		if q, ok := size(p, sw, i, func(e audit.Element) bool { return e.Exact == exact }); ok {
			q = float64(q * q)
			sum, square, n = sum+q, square+float64(q*q), n+1
		}
	}
	if !(square > 0) {
		return math.NaN()
	}
	return sum * sum / (n * square)
}

// size is the root of the mean square error of an input over some elements, relative to s.
func size(p *audit.Pass, sw *sweep.Result, i int, of func(audit.Element) bool) (float64, bool) {
	var q float64
	n := 0
	for j, e := range p.Elements {
		if x := sw.Err[i*len(p.Elements)+j]; of(e) && !math.IsNaN(x) {
			q, n = q+float64(x*x), n+1
		}
	}
	if n == 0 {
		return math.NaN(), false
	}
	return math.Sqrt(q/float64(n)) / sw.Scale, true
}

// listed is how many of the most sensitive inputs are named.
const listed = 5

// inputs shows the most sensitive inputs.
func inputs(p *audit.Pass, sw *sweep.Result) {
	type input struct {
		i         int
		size, top float64
		at        string
	}
	var all []input
	m := len(p.Elements)
	for i := range sw.IDs {
		q, ok := size(p, sw, i, func(audit.Element) bool { return true })
		if !ok {
			continue
		}
		x := input{i: i, size: q}
		for j, e := range p.Elements {
			if v := sw.Err[i*m+j] / sw.Scale; v > x.top {
				x.top, x.at = v, e.Label
			}
		}
		all = append(all, x)
	}
	slices.SortStableFunc(all, func(a, b input) int { return cmp.Compare(b.size, a.size) })
	if len(all) == 0 || !(all[0].top > p.Policy.Threshold) {
		return
	}
	t := &audit.Table{Columns: []audit.Column{
		{Name: "sample"},
		{Name: "class"},
		{Name: "error", Doc: "root mean square over all elements, relative to the scale of the outputs"},
		{Name: "largest"},
		{Name: "at"},
	}}
	for _, x := range all[:min(listed, len(all))] {
		class := "-"
		if l := sw.Labels[x.i]; l >= 0 {
			class = strconv.Itoa(l)
		}
		t.Rows = append(t.Rows, []audit.Cell{
			audit.Word(sw.IDs[x.i]), audit.Word(class), audit.Num(x.size),
			audit.Num(x.top), audit.Word(x.at),
		})
	}
	p.Show(audit.Exhibit{
		Name: "sensitive-inputs", Title: fmt.Sprintf("The most sensitive of %d inputs", len(all)),
		Table: t,
	})
}
