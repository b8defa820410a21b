package order

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"nero/audit"
	"nero/audit/check/controls"
	"nero/audit/check/sweep"
	"nero/data/space"
	"nero/symmetry/group"
)

// permuted is a factor of a group that puts rows in any order.
type permuted struct {
	group.Permuting
	// where its coordinates begin: one for each row
	from int
	// which of several sets of rows it moves, counted from 0, and that there are several
	set    int
	others bool
}

// permuting finds the factors of a group that put rows in any order. A group that merely exchanges some rows, such as
// one of a table, claims nothing about two of them.
func permuting(G group.Group) []permuted {
	factors := []group.Group{G}
	if f, ok := G.(group.Factored); ok {
		factors = f.Factors()
	}
	var out []permuted
	from, set := 0, 0
	for _, x := range factors {
		if q, ok := x.(group.Permuting); ok {
			if len(q.Chart()) == q.Rows() {
				out = append(out, permuted{Permuting: q, from: from, set: set})
			}
			set++
		}
		from += len(x.Chart())
	}
	for i := range out {
		out[i].others = set > 1
	}
	return out
}

// pair is the exchange of two rows in words.
func (q permuted) pair(x [2]int) string {
	text := fmt.Sprintf("rows %d and %d", x[0], x[1])
	if q.others {
		text += fmt.Sprintf(" of set %d", q.set+1)
	}
	return text
}

// exchange is one transposition of two rows and what it does.
type exchange struct {
	a, b  int
	err   float64
	at    audit.Where
	field string
}

// transpositions asks which exchange of two rows is the smallest that breaks the claim, where the group permutes rows.
// It is false where the group does not.
func transpositions(ctx context.Context, p *audit.Pass, sw *sweep.Result, c *controls.Result) (bool, error) {
	G := p.Subject.Plan.Group
	perms := permuting(G)
	if len(perms) == 0 {
		return false, nil
	}
	pick := p.Pick(int(p.Param("samples")))
	n := int(p.Param("exchanges"))
	var all []exchange
	var worst []float64
	for _, i := range pick {
		s, err := p.Sample(i)
		if err != nil {
			return true, err
		}
		var pairs [][2]int
		var of []permuted
		for _, q := range perms {
			m := min(p.Subject.InSpec.MembersOf(q.set, s.Value), q.Rows())
			if m < 2 {
				continue
			}
			id := s.ID
			if q.set > 0 {
				id = fmt.Sprintf("%s of set %d", id, q.set)
			}
			some := choices(p, id, m, n)
			pairs, of = append(pairs, some...), append(of, slices.Repeat([]permuted{q}, len(some))...)
		}
		if len(pairs) == 0 {
			continue
		}
		values := make([]space.Value, 0, len(pairs)+1)
		identity, err := p.Subject.Plan.In.Apply(G.Identity(), s.Value)
		if err != nil {
			return true, fmt.Errorf("sample %s: %w", s.ID, err)
		}
		values = append(values, identity)
		elements := make([]group.Element, len(pairs))
		for k, x := range pairs {
			g := slices.Clone(G.Identity())
			from := of[k].from
			g[from+x[0]], g[from+x[1]] = float64(x[1]), float64(x[0])
			elements[k] = g
			v, err := p.Subject.Plan.In.Apply(g, s.Value)
			if err != nil {
				return true, fmt.Errorf("sample %s with %s exchanged: %w", s.ID, of[k].pair(x), err)
			}
			values = append(values, v)
		}
		ys, err := p.PredictBatch(ctx, 0, values)
		if err != nil {
			return true, err
		}
		top := 0.0
		for k, x := range pairs {
			z, err := p.Subject.Plan.Out.Apply(G.Inv(elements[k]), ys[k+1])
			if err != nil {
				return true, fmt.Errorf("sample %s with %s exchanged: output: %w", s.ID, of[k].pair(x), err)
			}
			d, err := p.Compare(z, ys[0])
			if err != nil {
				return true, fmt.Errorf("%w: outputs of different form cannot be compared: %w", audit.ErrUntested, err)
			}
			e := d.Norm / sw.Scale
			if !(e <= top) {
				top = e
			}
			all = append(all, exchange{
				x[0], x[1], e,
				audit.Where{
					Sample: s.ID, Index: i, Element: elements[k],
					Label: of[k].pair(x) + " exchanged",
				},
				p.Gauge().Name(d.Field),
			})
		}
		worst = append(worst, top)
	}
	if len(all) == 0 {
		return true, fmt.Errorf("%w: no input has two rows", audit.ErrNotApplicable)
	}
	limit := math.Max(p.Policy.Threshold, p.Policy.RoundingFactor*math.Max(c.Floors.Rounding, 0))
	concludeRows(p, all, audit.MeanInterval(worst, p.Policy.Confidence).NotNegative(), limit)
	return true, nil
}

// choices are exchanges of neighbors and of rows that are far apart, as many of each as there may be.
func choices(p *audit.Pass, id string, m, n int) [][2]int {
	r := p.Rand("exchange of rows", id)
	seen := map[[2]int]bool{}
	var out [][2]int
	add := func(a, b int) {
		x := [2]int{min(a, b), max(a, b)}
		if a != b && !seen[x] {
			seen[x] = true
			out = append(out, x)
		}
	}
	add(0, 1)
	add(m-2, m-1)
	add(0, m-1)
	for range n {
		k := r.IntN(m - 1)
		add(k, k+1)
		a := r.IntN(m)
		add(a, (a+m/2)%m)
	}
	return out
}

// concludeRows shows the exchanges and names the smallest that fails.
func concludeRows(p *audit.Pass, all []exchange, iv audit.Interval, limit float64) {
	var near, far []float64
	var smallest, most *exchange
	for i := range all {
		x := &all[i]
		if x.b-x.a == 1 {
			near = append(near, x.err)
		} else {
			far = append(far, x.err)
		}
		if most == nil || x.err > most.err || math.IsNaN(x.err) {
			most = x
		}
		if !(x.err <= limit) &&
			(smallest == nil || x.b-x.a < smallest.b-smallest.a || x.b-x.a == smallest.b-smallest.a &&
				x.err > smallest.err) {
			smallest = x
		}
	}
	ev := audit.Measured("largest change by one exchange, mean over inputs", iv, "").Against(limit)
	a, b := audit.Describe(near), audit.Describe(far)
	p.Measure(ev, audit.Number("change by an exchange of neighboring rows, mean", a.Mean, ""),
		audit.Number("change by an exchange of distant rows, mean", b.Mean, ""))
	clue := audit.Clue{Name: audit.ClueOrder, Holds: smallest != nil, Strength: 1, Evidence: []audit.Evidence{ev}}
	if smallest == nil {
		clue.Text = fmt.Sprintf("%d exchanges of two rows change nothing beyond %s", len(all), audit.Figures(limit))
		p.Clue(clue)
		return
	}
	clue.Location = smallest.at.Label
	clue.Text = fmt.Sprintf(
		"exchanging %s of sample %s changes the answer by %s of its scale; neighboring rows %s in the "+
			"mean, distant ones %s",
		strings.TrimSuffix(smallest.at.Label, " exchanged"), smallest.at.Sample, audit.Figures(smallest.err),
		audit.Figures(a.Mean),
		audit.Figures(b.Mean))
	p.Clue(clue)
	p.Report(audit.Finding{
		Category: audit.Explanation, Location: "rows", Worst: smallest.at,
		Evidence: []audit.Evidence{ev, audit.Number("change by the smallest exchange that fails", smallest.err,
			"").Against(limit)},
		Message: "the order of rows counts: " + clue.Text,
		Remedies: []string{
			"pool rows by sum, mean or maximum, and drop what depends on their place",
			"or sort the rows by what they hold before the model reads them",
		},
	})
	slices.SortStableFunc(all, func(x, y exchange) int {
		switch {
		case x.err > y.err:
			return -1
		case x.err < y.err:
			return 1
		}
		return 0
	})
	t := &audit.Table{Columns: []audit.Column{
		{Name: "rows"},
		{Name: "apart"},
		{Name: "error", Doc: "relative to the scale of the outputs"},
		{Name: "sample"},
		{Name: "field"},
	}}
	const most10 = 10
	for _, x := range all[:min(most10, len(all))] {
		t.Rows = append(t.Rows, []audit.Cell{
			audit.Word(fmt.Sprintf("%d and %d", x.a, x.b)), audit.Num(float64(x.b - x.a)), audit.Num(x.err),
			audit.Word(x.at.Sample), audit.Word(x.field),
		})
	}
	p.Show(audit.Exhibit{
		Name: "exchanges", Title: "Exchanges of two rows", Table: t,
		Note: fmt.Sprintf("The worst of %d; the smallest that fails is of rows %d and %d.", len(all), smallest.a,
			smallest.b),
	})
}
