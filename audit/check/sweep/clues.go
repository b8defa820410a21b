package sweep

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"nero/audit"
	"nero/internal/elementary"
	"nero/symmetry/group"
)

// Clarity is the strength of a clue that holds because x is above a limit, or does not because it is below: 0.5 at the
// limit, 1 from ten times or a tenth of it on. A limit of 0, or no limit, leaves no doubt.
func Clarity(x, limit float64) float64 {
	if !(limit > 0) || !(x > 0) || math.IsInf(x, 1) {
		return 1
	}
	return min(1, 0.5+float64(0.5*math.Abs(elementary.Log10(x/limit))))
}

// finiteClue says whether the outputs of a set are finite, and where they are not.
func (r *Result) finiteClue(exact bool) audit.Clue {
	n := r.count(exact) * len(r.IDs)
	c := audit.Clue{
		Name: audit.ClueNonFinite, Strength: 1, Set: SetName(exact),
		Text: fmt.Sprintf("all %d outputs on the %s are finite", n, SetName(exact)),
	}
	if k := r.NonFinite[exact]; k > 0 {
		c.Holds, c.Location = true, r.NonFiniteAt[exact].String()
		c.Text = fmt.Sprintf("%d of %d outputs on the %s are not finite, first %s", k, n, SetName(exact), c.Location)
		c.Evidence = []audit.Evidence{audit.Number("outputs that are not finite", float64(k), "").Against(0)}
	}
	return c
}

// Holds is the clue whether the forward pass holds on all of the sets that are not nil. Where a set cannot be told from
// resampling, nobody knows.
func Holds(sets ...*audit.Set) audit.Clue {
	c := audit.Clue{Name: audit.ClueForwardHolds, Holds: true, Strength: 1}
	for _, s := range sets {
		if s == nil {
			continue
		}
		if c.Text != "" {
			c.Text += "; "
		}
		c.Text += s.Name + ": " + s.Reason
		switch {
		case s.Verdict == audit.Passed:
		case s.Verdict == audit.NeedsAttention && s.Cause == audit.CauseRoundoff:
			c.Strength = min(c.Strength, 0.6)
		case s.Verdict == audit.NeedsAttention && s.Cause == audit.CauseResampling:
			c.Holds, c.Strength = false, 0.1 // what cannot be told from resampling was not seen to hold
		case s.Verdict == audit.NeedsAttention && s.Cause == audit.CauseVacuous:
			c.Holds, c.Strength = false, 0.1 // nothing was seen either way
		default:
			c.Holds = false
		}
		c.Evidence = append(c.Evidence, audit.Measured("largest error on the "+s.Name+", mean over inputs", s.Worst,
			s.Unit))
	}
	if !c.Holds && c.Strength > 0.1 {
		c.Strength = 1
	}
	return c
}

// Clues hands in what the errors of a set show about where they sit: in few elements, in few pairs, in few channels, in
// few classes, or in a factor or an offset. It looks where there is an error above the threshold that is not rounding.
func (r *Result) Clues(p *audit.Pass, s *audit.Set) {
	if !(s.Rel.Max > p.Policy.Threshold) || s.Cause == audit.CauseRoundoff || s.Cause == audit.CauseVacuous {
		return
	}
	r.oneElement(p, s)
	r.even(p, s)
	r.poses(p, s)
	r.heavyTail(p, s)
	r.channel(p, s)
	r.mismatch(p, s)
	r.classes(p, s)
}

// carries is how many times the others an element, a channel or a class must have to be said to carry the error.
const carries = 5

// few is how many of n may carry the error and still be a few.
func few(n, part int) int { return max(1, n/part) }

// oneElement looks for few elements that carry the error. Elements that break a symmetry by structure are not few among
// those that the others generate: what holds at g and at h holds at gh. So each that carries the error must be the
// product of two that do not.
func (r *Result) oneElement(p *audit.Pass, s *audit.Set) {
	m := len(s.Profile)
	if m < 3 {
		return
	}
	order := make([]int, m)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(s.Profile[b].Mean, s.Profile[a].Mean) })
	rest := s.Profile[order[m/2]].Mean // the median, the lower of two
	c := audit.Clue{Name: audit.ClueOneElement, Set: s.Name}
	var carriers []audit.Point
	for _, i := range order {
		if pt := s.Profile[i]; pt.Mean > carries*rest && pt.Mean > p.Policy.Threshold {
			carriers = append(carriers, pt)
		}
	}
	most := s.Profile[order[0]]
	c.Evidence = []audit.Evidence{
		audit.Number("mean error at "+most.Label, most.Mean, s.Unit),
		audit.Number("median over elements of the mean error", rest, s.Unit),
	}
	switch {
	case len(carriers) == 0:
		c.Strength = Clarity(most.Mean, carries*rest)
		c.Text = fmt.Sprintf("no element of the %s stands out: mean error %.2g at %s, the median over elements is %.2g",
			s.Name, most.Mean, most.Label, rest)
	case len(carriers) > few(m, 8):
		c.Strength = 1
		c.Text = fmt.Sprintf("%d of %d %s carry the error, not a few", len(carriers), m, s.Name)
	case !r.generated(p.Subject.Plan.Group, carriers):
		c.Strength = 0.7
		c.Text = most.Label +
			" carries the error, but it is not the product of elements that hold, so this may be structure"
	default:
		c.Holds, c.Strength = true, Clarity(carriers[len(carriers)-1].Mean, carries*rest)
		var labels []string
		for _, pt := range carriers {
			labels = append(labels, pt.Label)
		}
		c.Location = list(labels)
		c.Text = fmt.Sprintf("%d of %d %s carry the error: mean %.2g at %s, the median over elements is %.2g",
			len(carriers), m, s.Name, most.Mean, c.Location, rest)
	}
	p.Clue(c)
}

// list writes a few words.
func list(words []string) string {
	const most = 4
	if n := len(words); n > most {
		return strings.Join(words[:most], ", ") + fmt.Sprintf(" and %d more", n-most)
	}
	return strings.Join(words, ", ")
}

// near is the distance in a chart below which two elements are one.
const near = 1e-6

// generated reports whether each of the first carriers is a product of two visited elements that are not carriers.
func (r *Result) generated(G group.Group, carriers []audit.Point) bool {
	is := func(g group.Element) bool {
		return slices.ContainsFunc(carriers, func(c audit.Point) bool { return G.Dist(c.Element, g) <= near })
	}
	var rest []group.Element
	for _, e := range r.elements {
		if !is(e.G) {
			rest = append(rest, e.G)
		}
	}
	for _, c := range carriers[:min(len(carriers), 4)] {
		if !slices.ContainsFunc(rest, func(g group.Element) bool {
			h := G.Mul(G.Inv(g), c.Element)
			return slices.ContainsFunc(rest, func(x group.Element) bool { return G.Dist(x, h) <= near })
		}) {
			return false
		}
	}
	return true
}

// rare is how far above the 99 % quantile the largest error must be, and leastPairs how many pairs that quantile needs.
const (
	rare       = 10
	leastPairs = 100
)

func (r *Result) heavyTail(p *audit.Pass, s *audit.Set) {
	if s.Rel.N < leastPairs {
		return
	}
	c := audit.Clue{
		Name: audit.ClueHeavyTail, Set: s.Name, Holds: s.Rel.Max > rare*s.Rel.P99,
		Strength: Clarity(s.Rel.Max, rare*s.Rel.P99),
		Text:     fmt.Sprintf("largest error %.2g on the %s, 99 %% quantile %.2g", s.Rel.Max, s.Name, s.Rel.P99),
		Evidence: []audit.Evidence{
			audit.Number("largest error", s.Rel.Max, s.Unit),
			audit.Number("99 % quantile of the errors", s.Rel.P99, s.Unit),
		},
	}
	if c.Holds {
		c.Location = s.At.String()
	}
	p.Clue(c)
}

// nearly is the share of the squares of the error that few channels must have.
const nearly = 0.9

func (r *Result) channel(p *audit.Pass, s *audit.Set) {
	ch := r.Channels
	if ch == nil || ch.N < 2 || ch.Pairs[s.Exact] == 0 {
		return
	}
	sq := ch.Squares[s.Exact]
	rel := func(k int) float64 {
		e := ch.RMS(s.Exact, k)
		if e == 0 {
			return 0
		}
		return e / ch.Spread[k] // infinite for a channel that does not vary unmoved
	}
	order := make([]int, ch.N)
	var total float64
	for k := range order {
		order[k] = k
		total += sq[k]
	}
	if !(total > 0) {
		return
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(sq[b], sq[a]) })
	var part float64
	n := 0
	for part < nearly*total && n < ch.N {
		part += sq[order[n]]
		n++
	}
	weakest := math.Inf(1)
	var names []string
	top := slices.Clone(order[:n])
	slices.Sort(top)
	for _, k := range top {
		weakest = min(weakest, rel(k))
		names = append(names, ch.Name(k))
	}
	var others []float64
	for _, k := range order[n:] {
		others = append(others, rel(k))
	}
	d := audit.Describe(others)
	c := audit.Clue{Name: audit.ClueChannel, Set: s.Name, Strength: 1}
	if n > few(ch.N, 4) {
		c.Text = fmt.Sprintf("%d of %d channels of the output carry %.0f %% of the squares of the error", n, ch.N,
			100*part/total)
	} else {
		c.Holds, c.Strength = weakest > carries*d.P50, Clarity(weakest, carries*d.P50)
		c.Text = fmt.Sprintf(
			"%s of %d carries %.0f %% of the squares of the error: %.2g of its own spread, the others %.2g in the "+
				"median",
			list(names), ch.N, 100*part/total, weakest, d.P50)
		c.Evidence = []audit.Evidence{
			audit.Number("error of the channel over its spread", weakest, "").Against(carries * d.P50),
			audit.Number("median of the others", d.P50, ""),
		}
		if c.Holds {
			c.Location = "output " + list(names)
		}
	}
	p.Clue(c)
}

// unexplained is the share of the squares of the error that a factor or an offset may leave and still explain it.
const unexplained = 0.1

func (r *Result) mismatch(p *audit.Pass, s *audit.Set) {
	factor, offset, both := r.Factor(s.Exact), r.Offset(s.Exact), r.Both(s.Exact)
	if math.IsNaN(both.Left) {
		return
	}
	// Neither alone, but both together.
	joint := both.Left <= unexplained && !(factor.Left <= unexplained) && !(offset.Left <= unexplained)
	for _, m := range []struct {
		name       audit.ClueName
		line       Line
		what, unit string
	}{{audit.ClueScaleMismatch, factor, "factor", ""}, {audit.ClueShiftMismatch, offset, "offset", "output"}} {
		left, with := m.line.Left, ""
		if joint {
			left, with = both.Left, " and a constant of the other kind"
		}
		c := audit.Clue{
			Name: m.name, Set: s.Name, Holds: left <= unexplained, Strength: Clarity(unexplained, left),
			Text: fmt.Sprintf("a constant %s leaves %.0f %% of the squares of the error", m.what, 100*left),
			Evidence: []audit.Evidence{
				audit.Number("share of the squares that a "+m.what+with+" leaves", left, "").Against(unexplained),
				{
					Name: m.what + " over the elements", Value: (m.line.Lo + m.line.Hi) / 2, Lo: m.line.Lo,
					Hi:    m.line.Hi,
					Limit: math.NaN(), Unit: m.unit,
				},
			},
		}
		if c.Holds {
			c.Location = "output"
			c.Text = fmt.Sprintf(
				"the pulled-back output is the output with the %s %s%s, which leaves %.1f %% of the squares of the "+
					"error", m.what, m.line, with, 100*left)
		}
		p.Clue(c)
	}
}

// String is the factor or offset, or its range over the elements.
func (l Line) String() string {
	if a, b := fmt.Sprintf("%.3g", l.Lo), fmt.Sprintf("%.3g", l.Hi); a != b {
		return a + " to " + b
	}
	return fmt.Sprintf("%.3g", l.Lo)
}

// leastOfClass is how many inputs a class must have to be compared, and apart how many times the error of the others
// that of a class must be.
const (
	leastOfClass = 5
	apart        = 2
)

// classes compares the largest errors of inputs of different classes. The limits hold for all classes together: each
// has its share of the error probability.
func (r *Result) classes(p *audit.Pass, s *audit.Set) {
	by := map[int][]float64{}
	for i, l := range r.Labels {
		if e := r.Most(i, s.Exact) / r.Scale; l >= 0 && !math.IsNaN(e) {
			by[l] = append(by[l], e)
		}
	}
	type class struct {
		label int
		iv    audit.Interval
	}
	var all []class
	left := 0
	for l, e := range by {
		if len(e) < leastOfClass {
			left++
			continue
		}
		all = append(all, class{label: l})
	}
	if len(all) < 2 {
		return
	}
	for k := range all {
		l := all[k].label
		all[k].iv = audit.ErrorInterval(by[l], 1-(1-p.Policy.Confidence)/float64(len(all)),
			p.Rand("interval of class "+strconv.Itoa(l), s.Name))
	}
	slices.SortFunc(all, func(a, b class) int {
		return cmp.Or(cmp.Compare(b.iv.Value, a.iv.Value), cmp.Compare(a.label, b.label))
	})
	// The cut between affected and others that is clearest.
	cut, ratio := 1, 0.0
	for k := 1; k < len(all); k++ {
		lo, hi := math.Inf(1), 0.0
		for _, c := range all[:k] {
			lo = min(lo, c.iv.Lo)
		}
		for _, c := range all[k:] {
			hi = max(hi, c.iv.Hi)
		}
		q := math.Inf(1)
		if hi > 0 {
			q = lo / hi
		}
		if q > ratio {
			cut, ratio = k, q
		}
	}
	c := audit.Clue{Name: audit.ClueClasses, Set: s.Name, Strength: Clarity(ratio, apart)}
	c.Holds = ratio > apart && all[cut-1].iv.Lo > p.Policy.Threshold
	if c.Holds {
		var names []string
		for _, x := range all[:cut] {
			names = append(names, p.Subject.ClassName(x.label))
		}
		c.Location = "class " + list(names)
		c.Text = fmt.Sprintf("%d of %d classes are affected, %s: error %.2g at least, %.2g at most in the others", cut,
			len(all), c.Location, all[cut-1].iv.Lo, all[cut].iv.Hi)
		c.Evidence = []audit.Evidence{audit.Number("error of the affected classes over that of the others, at least",
			ratio, "").Against(apart)}
	} else {
		c.Text = fmt.Sprintf("no class stands out among %d: error %.2g for class %s, %.2g for class %s",
			len(all), all[0].iv.Value, p.Subject.ClassName(all[0].label), all[len(all)-1].iv.Value,
			p.Subject.ClassName(all[len(all)-1].label))
		if !(ratio > 0) || !(ratio <= apart) {
			c.Strength = 0.7
		}
	}
	p.Clue(c)
	if !c.Holds && len(all) == 2 {
		return // the clue says it all
	}
	t := &audit.Table{Columns: []audit.Column{
		{Name: "class"},
		{Name: "inputs"},
		{Name: "error", Unit: s.Unit, Doc: "largest error on the orbit, mean over the inputs of the class"},
		{Name: "lowest", Unit: s.Unit, Doc: "lower limit, for all classes together"},
		{Name: "highest", Unit: s.Unit, Doc: "upper limit, for all classes together"},
	}}
	for _, x := range all {
		t.Rows = append(t.Rows, []audit.Cell{
			audit.Word(p.Subject.ClassName(x.label)), audit.Num(float64(x.iv.N)), audit.Num(x.iv.Value),
			audit.Num(x.iv.Lo), audit.Num(x.iv.Hi),
		})
	}
	e := audit.Exhibit{Name: "classes", Title: "Error by class, " + s.Name, Table: t}
	if left > 0 {
		e.Note = fmt.Sprintf("%d classes with fewer than %d inputs are left out.", left, leastOfClass)
	}
	p.Show(e)
}

// Most is the largest error of a sample on the exact or on the other elements, in the unit of the output; NaN without
// any.
func (r *Result) Most(sample int, exact bool) float64 {
	m, most := len(r.elements), math.NaN()
	for j, e := range r.elements {
		if x := r.Err[sample*m+j]; e.Exact == exact && !math.IsNaN(x) && !(x <= most) {
			most = x
		}
	}
	return most
}
