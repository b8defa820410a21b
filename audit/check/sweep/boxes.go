package sweep

import (
	"fmt"
	"math"
	"slices"

	"nero/audit"
	"nero/data/space"
	"nero/internal/elementary"
	"nero/measure/metric"
	"nero/symmetry/group"
)

// BoxErrors is what a distance between sets of boxes does not say: where matched boxes lie, how large they are and how
// sure the model is of them, and how many boxes came and went.
type BoxErrors struct {
	// Matched pairs of a box of the unmoved input and one of the moved input; Missed are boxes of the unmoved input
	// that the moved one lacks, Extra those of the moved input that the unmoved one lacks. Left are boxes left out
	// because a moving window cut them or did not see them.
	Matched, Missed, Extra, Left int
	// Empty counts comparisons without any box that both windows saw, whose distance of 0 says nothing.
	Empty int
	// Center and Size are sums over matched pairs: distance of the centres in pixels, and half of |ln| of the ratio of
	// areas. Score is the sum of their scores less those of the unmoved input, Before the sum of the scores of all
	// boxes of the unmoved input that were compared, After that of their partners, a missed box counting as 0.
	Center, Size, Score, Before, After float64
	// Most is the largest distance of two centres, At where it is.
	Most float64
	At   audit.Where
}

// add takes in one comparison of the moved answer z, pulled back, with the unmoved one.
func (e *BoxErrors) add(z, base *space.Boxes, at audit.Where) {
	d := metric.Between(z, base)
	e.Matched, e.Missed, e.Extra, e.Left = e.Matched+d.Matched, e.Missed+d.Missed, e.Extra+d.Extra, e.Left+d.Left
	if d.Matched+d.Missed+d.Extra == 0 && d.Left > 0 {
		e.Empty++
	}
	for _, m := range d.Pairs {
		a, b := z.Items[m[0]], base.Items[m[1]]
		ax, ay := a.Center()
		bx, by := b.Center()
		far := elementary.Hypot(ax-bx, ay-by)
		e.Center += far
		e.Size += math.Abs(elementary.Log(a.Area()/b.Area())) / 2
		e.Score += a.Score - b.Score
		e.Before, e.After = e.Before+b.Score, e.After+a.Score
		if far > e.Most || e.At.Index < 0 {
			e.Most, e.At = far, at
		}
	}
	e.Before += d.Lost
}

// sum adds another.
func (e *BoxErrors) sum(o *BoxErrors) {
	e.Matched, e.Missed, e.Extra, e.Left = e.Matched+o.Matched, e.Missed+o.Missed, e.Extra+o.Extra, e.Left+o.Left
	e.Empty += o.Empty
	e.Center, e.Size, e.Score, e.Before, e.After = e.Center+o.Center, e.Size+o.Size, e.Score+o.Score, e.Before+o.Before,
		e.After+o.After
	if o.At.Index >= 0 && (o.Most > e.Most || e.At.Index < 0) {
		e.Most, e.At = o.Most, o.At
	}
}

// per divides by the number of matched pairs; NaN without any.
func (e *BoxErrors) per(x float64) float64 {
	if e.Matched == 0 {
		return math.NaN()
	}
	return x / float64(e.Matched)
}

// found is the share of the boxes of the unmoved input that the moved one has too; NaN without boxes.
func (e *BoxErrors) found() float64 {
	if e.Matched+e.Missed == 0 {
		return math.NaN()
	}
	return float64(e.Matched) / float64(e.Matched+e.Missed)
}

// kept is the score that is left of the boxes of the unmoved input, a missed box counting as 0; NaN without boxes.
func (e *BoxErrors) kept() float64 {
	if !(e.Before > 0) {
		return math.NaN()
	}
	return e.After / e.Before
}

func noBoxErrors() *BoxErrors { return &BoxErrors{At: audit.Nowhere} }

// compareBoxes keeps what a comparison of two sets of boxes says beyond its distance.
func (c *consumer) compareBoxes(q audit.Request, z space.Value) {
	a, b, ok := space.Both[*space.Boxes](z, c.base)
	if !ok {
		return
	}
	r := c.r
	if r.BoxErrors == nil {
		for range c.p.Elements {
			r.BoxErrors = append(r.BoxErrors, noBoxErrors())
		}
	}
	e := c.p.Elements[q.Element]
	r.BoxErrors[q.Element].add(a, b, audit.Where{
		Sample: r.IDs[q.Sample], Index: q.Sample, Element: e.G,
		Label: e.Label,
	})
}

// mostBoxRows bounds the elements that have a row of their own.
const mostBoxRows = 24

// reportBoxes shows what becomes of boxes.
func (r *Result) reportBoxes(p *audit.Pass) {
	if r.BoxErrors == nil {
		return
	}
	for _, exact := range []bool{true, false} {
		all := noBoxErrors()
		n := 0
		for j, e := range r.elements {
			if e.Exact == exact {
				all.sum(r.BoxErrors[j])
				n++
			}
		}
		if n == 0 {
			continue
		}
		on := ", " + SetName(exact)
		p.Measure(
			audit.Number("boxes matched"+on, float64(all.Matched), fmt.Sprintf("of %d", all.Matched+all.Missed)),
			audit.Number("boxes that the moved input has beside them"+on, float64(all.Extra), ""),
			audit.Number("centre error of matched boxes, mean"+on, all.per(all.Center), "px"),
			audit.Number("centre error of matched boxes, largest"+on, all.Most, "px"),
			audit.Number("size error of matched boxes, mean |ln| of the ratio of sides"+on, all.per(all.Size), ""),
			audit.Number("score of matched boxes less that of the unmoved input, mean"+on, all.per(all.Score), ""),
			audit.Number("score left, a missed box counting as 0"+on, all.kept(), "share"),
		)
		if all.Left > 0 {
			p.Measure(audit.Number("pairs of answers with no box that both windows saw, which count as 0"+on,
				float64(all.Empty), fmt.Sprintf("of %d", n*len(r.IDs))))
			p.Measure(audit.Number("boxes left out because a window cut them or did not see them"+on, float64(all.Left),
				""))
		}
	}
	r.showBoxes(p)
}

// showBoxes is a table of elements, those at which most is lost first, and a curve where the group has one coordinate.
func (r *Result) showBoxes(p *audit.Pass) {
	order := make([]int, len(r.elements))
	for j := range order {
		order[j] = j
	}
	lost := func(j int) float64 {
		if k := r.BoxErrors[j].kept(); !math.IsNaN(k) {
			return 1 - k
		}
		return -1
	}
	slices.SortStableFunc(order, func(i, j int) int {
		switch a, b := lost(i), lost(j); {
		case a > b:
			return -1
		case a < b:
			return 1
		}
		return 0
	})
	t := &audit.Table{Columns: []audit.Column{
		{Name: "element"},
		{
			Name: "score left",
			Doc: "sum of the scores of matched boxes over that of the boxes of the unmoved input, a missed box " +
				"counting as 0",
		},
		{Name: "matched"},
		{Name: "missed", Doc: "boxes of the unmoved input that the moved one lacks"},
		{Name: "extra", Doc: "boxes of the moved input that the unmoved one lacks"},
		{Name: "centre error", Unit: "px", Doc: "mean over matched boxes"},
		{Name: "size error", Doc: "half of the mean |ln| of the ratio of areas"},
		{Name: "left out", Doc: "boxes that a moving window cut or did not see"},
	}}
	for _, j := range order[:min(mostBoxRows, len(order))] {
		e := r.BoxErrors[j]
		t.Rows = append(t.Rows, []audit.Cell{
			audit.Word(r.elements[j].Label), audit.Num(e.kept()), audit.Num(float64(e.Matched)),
			audit.Num(float64(e.Missed)), audit.Num(float64(e.Extra)),
			audit.Num(e.per(e.Center)), audit.Num(e.per(e.Size)), audit.Num(float64(e.Left)),
		})
	}
	p.Show(audit.Exhibit{
		Name: "boxes", Title: "What becomes of the boxes", Table: t,
		Note: "Boxes of the moved input, brought back, against those of the unmoved one; the elements that cost most " +
			"of the score first.",
	})
	r.decline(p)
	r.fades(p)
	chart := p.Subject.Plan.Group.Chart()
	at, ok := line(chart)
	if !ok || len(chart) > 1 {
		return
	}
	along := slices.Clone(order)
	slices.SortStableFunc(along, func(i, j int) int {
		switch a, b := r.elements[i].G[at], r.elements[j].G[at]; {
		case a < b:
			return -1
		case a > b:
			return 1
		}
		return 0
	})
	kept, found := audit.Series{Name: "score left"}, audit.Series{Name: "share of boxes found"}
	for _, j := range along {
		e := r.BoxErrors[j]
		if math.IsNaN(e.kept()) {
			continue
		}
		x := r.elements[j].G[at]
		kept.X, kept.Y = append(kept.X, x), append(kept.Y, e.kept())
		found.X, found.Y = append(found.X, x), append(found.Y, e.found())
	}
	if len(kept.X) == 0 {
		return
	}
	p.Show(audit.Exhibit{
		Name: "boxes-along", Title: "What is left of the boxes along the orbit",
		Note: "Sum of the scores of the boxes that were found again over that of the unmoved input, and their share.",
		Curve: &audit.Curve{
			X: audit.Scale{Name: chart[at].Name, Unit: chart[at].Unit, Log: chart[at].Form() == group.FormFactor},
			Y: audit.Scale{Name: "left"}, Limit: math.NaN(),
			Series: []audit.Series{kept, found},
		},
	})
}

// fades says whether the boxes grow unsure with the distance from the identity, as they do where training has not shown
// the model what lies there: a grid that does not follow the input does the same at every element.
func (r *Result) fades(p *audit.Pass) {
	G := p.Subject.Plan.Group
	var near, far, x, y []float64
	most := 0.0
	for j := range r.elements {
		most = max(most, G.Dist(r.elements[j].G, G.Identity()))
	}
	for j := range r.elements {
		k, d := r.BoxErrors[j].kept(), G.Dist(r.elements[j].G, G.Identity())
		if math.IsNaN(k) {
			continue
		}
		x, y = append(x, d), append(y, k)
		switch {
		case 3*d <= most:
			near = append(near, k)
		case 3*d >= 2*most:
			far = append(far, k)
		}
	}
	if len(x) < 3 || len(far) == 0 {
		return
	}
	mean := func(v []float64) float64 {
		var s float64
		for _, a := range v {
			s += a
		}
		return s / float64(max(len(v), 1))
	}
	before, after := 1.0, mean(far) // at the identity nothing is lost
	if len(near) > 0 {
		before = mean(near)
	}
	clue := audit.Clue{
		Name: audit.ClueFades, Holds: before-after > 0.1 && correlation(x, y) < -0.5,
		Strength: min(1, max(0.1, 2*(before-after))), Location: "output",
		Text: fmt.Sprintf(
			"%s of the boxes' score is left near the identity and %s in the third of the elements that is farthest",
			audit.Percent(before), audit.Percent(after)),
		Evidence: []audit.Evidence{
			audit.Number("score left near the identity", before, "share"),
			audit.Number("score left far from it", after, "share"),
		},
	}
	if !clue.Holds {
		clue.Strength = 0.5
	}
	p.Clue(clue)
}

// correlation is the correlation of two lists; 0 where one does not vary.
func correlation(x, y []float64) float64 {
	var mx, my float64
	for i := range x {
		mx, my = mx+x[i]/float64(len(x)), my+y[i]/float64(len(x))
	}
	var xx, yy, xy float64
	for i := range x {
		xx, yy, xy = xx+float64((x[i]-mx)*(x[i]-mx)), yy+float64((y[i]-my)*(y[i]-my)), xy+float64((x[i]-mx)*(y[i]-my))
	}
	if !(xx > 0) || !(yy > 0) {
		return 0
	}
	return xy / math.Sqrt(xx*yy)
}

// decline says how much of the boxes is lost at the worst element, if that is much.
func (r *Result) decline(p *audit.Pass) {
	worst, least := -1, 1.0
	for j := range r.elements {
		if k := r.BoxErrors[j].kept(); k < least {
			worst, least = j, k
		}
	}
	const much = 0.1
	if worst < 0 || 1-least < much {
		return
	}
	e := r.BoxErrors[worst]
	n := float64(e.Matched + e.Missed)
	mean := func(x float64) float64 { return x / max(n, 1) }
	p.Report(audit.Finding{
		Category: audit.Explanation, Location: "output",
		Worst: audit.Where{Index: -1, Element: r.elements[worst].G, Label: r.elements[worst].Label},
		Message: fmt.Sprintf(
			"at %s the mean score of the %d boxes of the unmoved inputs falls from %s to %s, and %d of them are missed",
			r.elements[worst].Label,
			e.Matched+e.Missed, audit.Figures(mean(e.Before)), audit.Figures(mean(e.After)), e.Missed),
		Evidence: []audit.Evidence{
			audit.Number("mean score, unmoved", mean(e.Before), ""),
			audit.Number("mean score there, a missed box counting as 0", mean(e.After), ""),
			audit.Number("share of boxes found", e.found(), ""),
			audit.Number("centre error of matched boxes, mean", e.per(e.Center), "px"),
		},
		Remedies: []string{"train with examples moved like that, or move the input into the pose that the model " +
			"knows before it looks"},
	})
}
