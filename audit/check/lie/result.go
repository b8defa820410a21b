package lie

import (
	"context"
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/gonum/mat"

	"nero/audit"
	"nero/audit/kit/tangent"
	"nero/data/space"
	"nero/internal/elementary"
	"nero/symmetry/group"
)

func zeros(n, m int) [][]float64 {
	out := make([][]float64, n)
	for i := range out {
		out[i] = make([]float64, m)
	}
	return out
}

// measure takes L f of all generators at all inputs, by forward mode if it can be had, else at the best steps.
func (s *study) measure(ctx context.Context) error {
	for _, i := range s.p.Pick(int(s.p.Param("samples"))) {
		o, err := s.point(ctx, i)
		if err != nil {
			return err
		}
		d, err := s.local(ctx, s.smooth, o)
		if err != nil {
			return s.at(o, err)
		}
		n := len(s.gens)
		gram := zeros(n, n)
		for a := range n {
			for b := range n {
				gram[a][b] = tangent.Dot(d[a], d[b]) / (s.scale * s.scale)
			}
		}
		floor := make([]float64, n)
		if s.floors {
			r, err := s.local(ctx, s.rough, o)
			if err != nil {
				return s.at(o, err)
			}
			for a := range n {
				floor[a] = tangent.Apart(d[a], r[a]) / s.scale
			}
		}
		s.ids, s.gram, s.floor = append(s.ids, o.id), append(s.gram, gram), append(s.floor, floor)
	}
	return nil
}

// local is L f of every generator at one input.
func (s *study) local(ctx context.Context, a sides, o *point) ([]space.Value, error) {
	if s.forward {
		return s.derivatives(ctx, a, o.raw, o.x, o.y)
	}
	out := make([]space.Value, len(s.gens))
	for k := range s.gens {
		h := math.Ldexp(first, -s.best[k])
		d, err := s.differences(ctx, a, k, o, []float64{h, h / 2})
		if err != nil {
			return nil, err
		}
		if out[k], err = tangent.Combine(4.0/3, d[1], -1.0/3, d[0]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// small is a step that people call small, in words and in the unit of the generator.
func small(unit string) (words string, step float64) {
	switch unit {
	case "rad":
		return "1°", math.Pi / 180
	case "px":
		return "1 px", 1
	case "log-factor":
		return "1 %", elementary.Log(1.01)
	}
	return "0.01", 0.01
}

// rootOf is the interval of the root of a mean of squares.
func rootOf(i audit.Interval) audit.Interval {
	i.Value, i.Lo, i.Hi = math.Sqrt(i.Value), math.Sqrt(i.Lo), math.Sqrt(i.Hi)
	return i
}

// result puts the numbers together and reports them.
func (s *study) result() (*Result, error) {
	p := s.p
	c := p.Policy.Confidence
	r := &Result{Total: audit.MeanInterval(nil, c)}
	how := "central differences"
	if s.forward {
		how = "forward mode"
	}
	for k, g := range s.gens {
		squares, rates, floors := make([]float64, len(s.gram)), make([]float64, len(s.gram)),
			make([]float64, len(s.gram))
		var sum float64
		worst := audit.Nowhere
		top := 0.0
		for i := range s.gram {
			squares[i] = s.gram[i][k][k]
			rates[i], floors[i] = math.Sqrt(squares[i]), s.floor[i][k]
			sum += float64(floors[i] * floors[i])
			if rates[i] > top {
				top, worst = rates[i], audit.Where{Sample: s.ids[i], Index: p.Pick(int(p.Param("samples")))[i]}
			}
		}
		o := Generator{
			Generator: g, LEE: audit.MeanInterval(squares, c).NotNegative(),
			Floor: math.NaN(), Ratio: audit.MeanInterval(nil, c),
			Forward: s.pushed[k], Central: s.central[k], Step: math.Ldexp(first, -s.best[k]), Spread: s.spread[k],
			Apart: s.apart[k], Estimate: how,
		}
		o.Rate = rootOf(o.LEE)
		if s.floors {
			o.Floor, o.Ratio = math.Sqrt(sum/float64(len(s.floor))), audit.RatioInterval(rates, floors, c).NotNegative()
		}
		if math.IsNaN(o.LEE.Value) {
			return nil, fmt.Errorf("%w: no derivative along %s is finite", audit.ErrUntested, g.Name)
		}
		s.report(&o, worst)
		r.Generators = append(r.Generators, o)
	}
	s.total(r)
	s.show(r)
	return r, nil
}

// per is "1/rad" and the like.
func per(unit string, square bool) string {
	switch {
	case unit == "":
		return ""
	case square:
		return "1/" + unit + "²"
	}
	return "1/" + unit
}

// report hands in what one generator showed.
func (s *study) report(g *Generator, worst audit.Where) {
	p := s.p
	words, step := small(g.Unit)
	p.Measure(
		audit.Measured("LEE/s² along "+g.Name, g.LEE, per(g.Unit, true)),
		audit.Measured("rate of the output along "+g.Name+", root of LEE/s²", g.Rate, per(g.Unit, false)))
	if !math.IsNaN(g.Floor) {
		p.Measure(audit.Number("floor of the rate along "+g.Name, g.Floor, per(g.Unit, false)))
	}
	lo := g.Rate.Lo * step
	above := lo > p.Policy.Threshold
	told := math.IsNaN(g.Floor) || g.Ratio.Lo > 1 || math.IsNaN(g.Ratio.Value)
	g.Found = above && told
	if above && !told {
		p.Clue(audit.Clue{
			Name: audit.ClueResampling, Holds: true, Strength: 0.6, Set: "",
			Evidence: []audit.Evidence{audit.Measured("local error over its floor", g.Ratio, "").Against(1)},
			Text: fmt.Sprintf("the local error along %s, %.2g %s, is what two kernels disagree by", g.Name,
				g.Rate.Value, per(g.Unit, false)),
		})
	}
	if !g.Found {
		return
	}
	e := g.Rate
	e.Value, e.Lo, e.Hi = e.Value*step, e.Lo*step, e.Hi*step
	ev := []audit.Evidence{
		audit.Measured("error at "+words+", to first order", e, "").Against(p.Policy.Threshold),
		audit.Measured("root of LEE/s²", g.Rate, per(g.Unit, false)),
	}
	if !math.IsNaN(g.Floor) {
		ev = append(ev, audit.Measured("local error over its floor", g.Ratio, "").Against(1))
	}
	said := fmt.Sprintf("%s of %s changes the output by %s of its spread over the inputs, to first order (%.2g %s)",
		words, g.Name, audit.Percent(e.Value), g.Rate.Value, per(g.Unit, false))
	if e.Value < leastShare {
		said = fmt.Sprintf("%s of %s changes the output by %.2g of its spread over the inputs, to first order "+
			"(%.2g %s)",
			words, g.Name, e.Value, g.Rate.Value, per(g.Unit, false))
	}
	p.Clue(audit.Clue{
		Name: audit.ClueGradient, Holds: true, Strength: 0.8, Evidence: ev,
		Text: said,
	})
	p.Report(audit.Finding{
		Category: audit.Gradient, Location: g.Name, Worst: worst, Evidence: ev,
		Message: said,
		Remedies: []string{
			"see which layer the local error comes from",
			"train with moved inputs, or with the local error as a penalty",
		},
	})
}

// leastShare is the share below which percents show no digit that counts.
const leastShare = 1e-3

// total adds the generators up over an orthonormal basis.
func (s *study) total(r *Result) {
	n := len(s.gens)
	metric := mat.NewDense(n, n, nil)
	switch planar, ok := s.p.Subject.Plan.Group.(group.Planar); {
	case ok && len(s.shape) == 3:
		r.Product, r.Unit = "mean of X(p)·Y(p) over the pixels, in px²", "1/px²"
		s.displacements(planar, metric)
	case func() bool {
		for _, g := range s.gens {
			if g.Unit != s.gens[0].Unit {
				return false
			}
		}
		return true
	}():
		r.Product, r.Unit = "the generators are orthonormal", per(s.gens[0].Unit, true)
		for k := range n {
			metric.Set(k, k, 1)
		}
	default:
		return
	}
	var inverse mat.Dense
	if err := inverse.Inverse(metric); err != nil {
		r.Product, r.Unit = "", "" // generators that move no pixel, or the same way
		return
	}
	totals := make([]float64, len(s.gram))
	for i, g := range s.gram {
		for a := range n {
			for b := range n {
				totals[i] += float64(inverse.At(a, b) * g[a][b])
			}
		}
	}
	r.Total = audit.MeanInterval(totals, s.p.Policy.Confidence).NotNegative()
	s.p.Measure(audit.Measured("LEE/s² over an orthonormal basis ("+r.Product+")", r.Total, r.Unit))
}

// displacements fills in the mean products of the displacements of the pixels.
func (s *study) displacements(g group.Planar, metric *mat.Dense) {
	h, w := s.shape[1], s.shape[2]
	type field struct{ a, t [4]float64 } // of A: 4 numbers; of t: 2
	fields := make([]field, len(s.gens))
	for k := range fields {
		ua, ut := g.Affine(s.exp(k, tiny))
		da, dt := g.Affine(s.exp(k, -tiny))
		for i := range 2 {
			for j := range 2 {
				fields[k].a[2*i+j] = (ua[i][j] - da[i][j]) / (2 * tiny)
			}
			fields[k].t[i] = (ut[i] - dt[i]) / (2 * tiny)
		}
	}
	at := func(f field, x, y float64) (dx, dy float64) {
		return float64(f.a[0]*x) + float64(f.a[1]*y) + f.t[0], float64(f.a[2]*x) + float64(f.a[3]*y) + f.t[1]
	}
	for i := range fields {
		for j := range fields {
			var sum float64
			for r := range h {
				for c := range w {
					x, y := float64(c)-float64(w-1)/2, float64(r)-float64(h-1)/2
					ax, ay := at(fields[i], x, y)
					bx, by := at(fields[j], x, y)
					sum += float64(ax*bx) + float64(ay*by)
				}
			}
			metric.Set(i, j, sum/float64(h*w))
		}
	}
}

// show makes the table of generators and the curves of the steps.
func (s *study) show(r *Result) {
	t := &audit.Table{Columns: []audit.Column{
		{Name: "generator"},
		{Name: "unit"},
		{Name: "LEE/s²", Doc: "mean square of the derivative of the pulled-back output, over s², per unit squared"},
		{Name: "from"},
		{Name: "to"},
		{Name: "rate", Doc: "its root: how many s the output moves per unit"},
		{Name: "at", Doc: "a small step"},
		{Name: "error", Doc: "at that step, to first order"},
		{Name: "floor", Doc: "rate at which two kernels disagree"},
		{Name: "forward", Doc: "rate by forward mode, at the inputs of the sweep"},
		{Name: "central", Doc: "rate by central differences, at the same inputs"},
		{Name: "apart", Doc: "distance of the two, relative"},
		{Name: "step", Doc: "of the central difference"},
		{Name: "spread", Doc: "distance of neighbouring steps there, relative"},
	}}
	for k, g := range r.Generators {
		words, step := small(g.Unit)
		t.Rows = append(t.Rows, []audit.Cell{
			audit.Word(g.Name), audit.Word(g.Unit), audit.Num(g.LEE.Value), audit.Num(g.LEE.Lo), audit.Num(g.LEE.Hi),
			audit.Num(g.Rate.Value),
			audit.Word(words), audit.Num(g.Rate.Value * step), audit.Num(g.Floor), audit.Num(g.Forward),
			audit.Num(g.Central), audit.Num(g.Apart),
			audit.Num(g.Step), audit.Num(g.Spread),
		})
		c := &audit.Curve{
			X: audit.Scale{Name: "step", Unit: g.Unit, Log: true},
			Y: audit.Scale{Name: "rate", Unit: per(g.Unit, false), Log: true}, Limit: math.NaN(),
			Series: []audit.Series{
				{Name: "central difference"},
				{Name: "taken", X: []float64{g.Step}, Y: []float64{g.Central}, Marks: true},
			},
		}
		for j, v := range s.curve[k] {
			c.Series[0].X = append(c.Series[0].X, math.Ldexp(first, -j))
			c.Series[0].Y = append(c.Series[0].Y, v)
		}
		if s.forward {
			c.Series = append(c.Series, audit.Series{
				Name: "forward mode", X: []float64{math.Ldexp(first, 1-steps), first},
				Y: []float64{g.Forward, g.Forward},
			})
		}
		s.p.Show(audit.Exhibit{
			Name: "steps-" + slug(g.Name), Title: "Local error along " + g.Name + " by step", Curve: c,
			Note: "A plateau is where the derivative is. To the left rounding divided by the step takes over, to the " +
				"right the curvature of the model.",
		})
	}
	note := "Forward mode: " + s.why + "."
	if s.forward {
		note = "Rates are from forward mode; central differences check them."
	}
	if out := group.Unreached(s.p.Subject.Plan.Group); out != "" {
		note += " Of what exp does not reach derivatives at the identity say nothing: " + out + "."
	}
	s.p.Show(audit.Exhibit{Name: "generators", Title: "Local error along each generator", Table: t, Note: note})
}

// slug makes the name of a generator fit for the name of an exhibit.
func slug(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, strings.ToLower(name))
}
