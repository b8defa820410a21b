// Package neighbors is the check of models that choose neighbors by distance: a hard cut-off, or a tie among the
// nearest, makes the answer jump, and then a rounding of coordinates is enough for a large error at a rare input.
package neighbors

import (
	"context"
	"fmt"
	"math"
	"slices"

	"nero/audit"
	"nero/audit/check/controls"
	"nero/audit/check/sweep"
	"nero/data/space"
)

// Check is the check of cut-offs and ties. Its result is a [*Result].
var Check = &audit.Check{
	Name:  "neighbors",
	Title: "Jumps of the answer nearby",
	Doc: `Neighbors looks for jumps of the answer where points are neither added nor taken away. A few inputs are dilated about their mean in small steps, which carries
every distance through a range; steps at which the output changes far more than at the steps around are halved until nothing is left between the two sides, and
what is still different there is a jump, as of a cut-off that is not smooth or of a list of nearest neighbors. A distance that is common to the jumps of
several inputs is the cut-off; without one the nearest tie of two distances from one point is named. Beside it stand the largest error of the audit and the
99 % quantile, apart, with the input and element that has the largest.`,
	Params: []audit.Param{
		{Name: "samples", Doc: "Inputs that are dilated, spread over the data.", Default: 6, Min: 1, Max: 1000},
		{Name: "steps", Doc: "Steps of the dilation.", Default: 96, Min: 8, Max: 100000},
		{Name: "reach", Doc: "Largest relative change of distances, up and down.", Default: 0.06, Min: 1e-6, Max: 0.9},
		{Name: "jumps", Doc: "Jumps that are followed for each input.", Default: 3, Min: 1, Max: 100},
	},
	Requires: []*audit.Check{sweep.Check, controls.Check},
	Optional: true,
	Run:      run,
	Work: func(p *audit.Pass) int {
		if !applies(p.Subject.InSpec) {
			return 0
		}
		return min(int(p.Param("samples")), p.Subject.N) * (int(p.Param("steps")) + 1)
	},
}

// Result lists the jumps.
type Result struct {
	Jumps []Jump
	// distance that is common to the jumps of several inputs; NaN if there is none
	Cutoff float64
	// Max and P99 describe the errors of the audit.
	Max, P99 float64
}

// Jump is a place where the answer is not continuous.
type Jump struct {
	At audit.Where
	// of the dilation
	Scale float64
	// of the jump, relative to the scale of the outputs
	Size float64
	// of what is left between the two sides, relative
	Width float64
	Field string
	// the points there
	Points *space.Rows
}

// field is the index of the positions in a record, -1 for a value that is all positions; ok is false without positions.
func field(s space.Spec) (at int, ok bool) {
	if len(s.Fields) > 0 {
		for i, f := range s.Fields {
			if f.Type == space.TypePositions && f.Kind == space.KindRows {
				return i, true
			}
		}
		return 0, false
	}
	return -1, s.Kind == space.KindRows && s.Type == space.TypePositions
}

func applies(s space.Spec) bool { _, ok := field(s); return ok }

type tester struct {
	p     *audit.Pass
	at    int
	scale float64
	limit float64
}

func run(ctx context.Context, p *audit.Pass) (any, error) {
	sw, c := audit.ResultOf[*sweep.Result](p, sweep.Check), audit.ResultOf[*controls.Result](p, controls.Check)
	at, ok := field(p.Subject.InSpec)
	if !ok {
		return nil, fmt.Errorf("%w: the inputs have no positions", audit.ErrNotApplicable)
	}
	if c.Facts.Vacuous {
		return nil, fmt.Errorf("%w: the outputs do not vary", audit.ErrNotApplicable)
	}
	t := &tester{p: p, at: at, scale: sw.Scale}
	t.limit = max(10*p.Policy.Threshold, p.Policy.RoundingFactor*max(c.Floors.Rounding, 0),
		p.Policy.NoiseFactor*max(c.Floors.Repeat, c.Floors.Batch, 0))
	r := &Result{Cutoff: math.NaN()}
	var all []float64
	for _, e := range sw.Err {
		all = append(all, e/sw.Scale)
	}
	d := audit.Describe(all)
	r.Max, r.P99 = d.Max, d.P99
	pick := p.Pick(int(p.Param("samples")))
	for _, i := range pick {
		jumps, err := t.scan(ctx, i)
		if err != nil {
			return nil, err
		}
		r.Jumps = append(r.Jumps, jumps...)
	}
	r.Cutoff = common(r.Jumps)
	t.report(r, sw, len(pick))
	return r, nil
}

func (t *tester) points(v space.Value) *space.Rows {
	if t.at < 0 {
		return space.RowsOf(v)
	}
	_, fields := space.Fields(v)
	if t.at >= len(fields) {
		return nil
	}
	return space.RowsOf(fields[t.at])
}

// dilated is an input whose points are s times as far from their mean.
func (t *tester) dilated(v space.Value, s float64) (space.Value, error) {
	o := v.Clone()
	r := t.points(o)
	if r == nil || r.N == 0 {
		return nil, fmt.Errorf("%w: an input has no points", audit.ErrNotApplicable)
	}
	mean := make([]float64, r.W)
	for i := range r.N {
		for k, x := range r.Row(i) {
			mean[k] += x / float64(r.N)
		}
	}
	for i := range r.N {
		row := r.Row(i)
		for k := range row {
			row[k] = mean[k] + float64(s*(row[k]-mean[k]))
		}
	}
	return o, nil
}

// halvings is how often the interval around a jump is halved: from a thousandth to the rounding of float32.
const halvings = 16

// outlying is how many times the median change a change must be to be looked into.
const outlying = 5

// scan dilates one input and follows what looks like jumps.
func (t *tester) scan(ctx context.Context, i int) ([]Jump, error) {
	s, err := t.p.Sample(i)
	if err != nil {
		return nil, err
	}
	x, err := t.p.Subject.Plan.In.Apply(t.p.Subject.Plan.Group.Identity(), s.Value)
	if err != nil {
		return nil, fmt.Errorf("sample %s: %w", s.ID, err)
	}
	n, reach := int(t.p.Param("steps")), t.p.Param("reach")
	scales := make([]float64, n+1)
	values := make([]space.Value, n+1)
	for k := range values {
		scales[k] = 1 - reach + 2*reach*float64(k)/float64(n)
		if values[k], err = t.dilated(x, scales[k]); err != nil {
			return nil, fmt.Errorf("sample %s: %w", s.ID, err)
		}
	}
	y, err := t.p.PredictBatch(ctx, 0, values)
	if err != nil {
		return nil, err
	}
	x0 := make([][]float64, n+1)
	for k := range x0 {
		x0[k] = space.Nearest(y[k], y[0]).Numbers()
		if len(x0[k]) != len(x0[0]) {
			return nil, fmt.Errorf("%w: outputs of different form cannot be compared", audit.ErrUntested)
		}
	}
	change := make([]float64, n)
	for k := 1; k+1 < n; k++ { // what the steps on both sides do not explain
		odd := make([]float64, len(x0[k]))
		for i := range odd {
			odd[i] = x0[k+1][i] - x0[k][i] - slope(x0, k, i)
		}
		if change[k], _, err = t.size(y[k], odd); err != nil {
			return nil, err
		}
	}
	usual := audit.Describe(slices.Clone(change)).P50
	order := make([]int, n)
	for k := range order {
		order[k] = k
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case change[a] > change[b]:
			return -1
		case change[a] < change[b]:
			return 1
		}
		return 0
	})
	var out []Jump
	for _, k := range order[:min(int(t.p.Param("jumps")), n)] {
		if !(change[k] > max(t.limit, outlying*usual)) {
			break
		}
		per := make([]float64, len(x0[k]))
		for i := range per {
			per[i] = slope(x0, k, i) / (scales[k+1] - scales[k])
		}
		j, err := t.follow(ctx, x, scales[k], scales[k+1], y[k], y[k+1], per)
		if err != nil {
			return nil, fmt.Errorf("sample %s: %w", s.ID, err)
		}
		if j != nil {
			j.At = audit.Where{Sample: s.ID, Index: i}
			out = append(out, *j)
		}
	}
	return out, nil
}

// slope is the mean change of number i over the steps before and after step k.
func slope(x [][]float64, k, i int) float64 { return (x[k][i] - x[k-1][i] + x[k+2][i] - x[k+1][i]) / 2 }

// size is that of a difference of outputs, relative to their scale, and the field of a record that has it.
func (t *tester) size(like space.Value, d []float64) (float64, string, error) {
	like = space.Bare(like)
	v, err := like.With(d)
	if err != nil {
		return 0, "", err
	}
	zero, err := like.With(make([]float64, len(d)))
	if err != nil {
		return 0, "", err
	}
	e, err := t.p.Compare(v, zero)
	return e.Norm / t.scale, t.p.Gauge().Name(e.Field), err
}

// follow halves an interval towards the side that changes more than the slope around it says; nil if that goes away as
// it does of a smooth answer.
func (t *tester) follow(ctx context.Context, x space.Value, a, b float64, ya, yb space.Value, per []float64) (*Jump,
	error,
) {
	j := &Jump{}
	odd := func(a, b float64, ya, yb space.Value) (float64, string, error) {
		u := ya.Numbers()
		v := space.Nearest(yb, ya).Numbers()
		d := make([]float64, len(u))
		for i := range d {
			d[i] = v[i] - u[i] - float64(per[i]*(b-a))
		}
		return t.size(ya, d)
	}
	for range halvings {
		m := (a + b) / 2
		v, err := t.dilated(x, m)
		if err != nil {
			return nil, err
		}
		y, err := t.p.PredictBatch(ctx, 0, []space.Value{v})
		if err != nil {
			return nil, err
		}
		left, name, err := odd(a, m, ya, y[0])
		if err != nil {
			return nil, err
		}
		right, other, err := odd(m, b, y[0], yb)
		if err != nil {
			return nil, err
		}
		if left > right {
			b, yb, j.Size, j.Field = m, y[0], left, name
		} else {
			a, ya, j.Size, j.Field = m, y[0], right, other
		}
		if !(j.Size > t.limit) {
			return nil, nil //nolint:nilnil // no jump is no fault
		}
	}
	v, err := t.dilated(x, (a+b)/2)
	if err != nil {
		return nil, err
	}
	j.Scale, j.Width, j.Points = (a+b)/2, b-a, t.points(v)
	return j, nil
}

// distances are those of all pairs of points, in order.
func distances(r *space.Rows) []float64 {
	var out []float64
	for i := range r.N {
		for j := range i {
			var s float64
			for k, x := range r.Row(i) {
				d := x - r.Row(j)[k]
				s += float64(d * d)
			}
			out = append(out, math.Sqrt(s))
		}
	}
	slices.Sort(out)
	return out
}

// near is how close, relatively, distances at different jumps must be to be one.
const near = 1e-3

// common is the distance that occurs at most of the jumps, at least three of them; NaN if there is none or if it occurs
// by chance.
func common(jumps []Jump) float64 {
	if len(jumps) < 3 {
		return math.NaN()
	}
	lists := make([][]float64, len(jumps))
	for i, j := range jumps {
		lists[i] = distances(j.Points)
	}
	best, votes := math.NaN(), 0
	for _, list := range lists {
		for _, d := range list {
			n := 0
			var sum float64
			for _, other := range lists {
				k, _ := slices.BinarySearch(other, d)
				for _, m := range []int{k - 1, k} {
					if m >= 0 && m < len(other) && math.Abs(other[m]-d) <= near*d {
						n++
						sum += other[m]
						break
					}
				}
			}
			if n > votes {
				best, votes = sum/float64(n), n
			}
		}
	}
	// By chance a distance has one in a list of m over a range of its own size with probability 2·near·m.
	var chance float64
	for _, list := range lists {
		chance += min(1, 2*near*float64(len(list)))
	}
	if float64(votes) < 0.8*float64(len(lists)) || float64(votes) < 2*chance {
		return math.NaN()
	}
	return best
}

// tie is the smallest relative difference of two distances from one point.
func tie(r *space.Rows) float64 {
	least := math.Inf(1)
	for i := range r.N {
		var d []float64
		for j := range r.N {
			if i == j {
				continue
			}
			var s float64
			for k, x := range r.Row(i) {
				e := x - r.Row(j)[k]
				s += float64(e * e)
			}
			d = append(d, math.Sqrt(s))
		}
		slices.Sort(d)
		for k := 1; k < len(d); k++ {
			if d[k] > 0 {
				least = min(least, (d[k]-d[k-1])/d[k])
			}
		}
	}
	return least
}

func (t *tester) report(r *Result, sw *sweep.Result, inputs int) {
	p := t.p
	p.Measure(audit.Number("largest error", r.Max, ""), audit.Number("99 % quantile of the errors", r.P99, ""),
		audit.Number("jumps found", float64(len(r.Jumps)), fmt.Sprintf("in %d inputs", inputs)))
	c := audit.Clue{
		Name: audit.ClueNeighbors, Holds: len(r.Jumps) > 0, Strength: 1, Location: "positions",
		Text: fmt.Sprintf("the answer is continuous while %d inputs are dilated by %s", inputs,
			audit.Percent(p.Param("reach"))),
	}
	if !c.Holds {
		p.Clue(c)
		return
	}
	most := r.Jumps[0]
	for _, j := range r.Jumps {
		if j.Size > most.Size {
			most = j
		}
	}
	c.Text = fmt.Sprintf("the answer jumps by %s of its scale while sample %s is dilated by a factor of %.6f",
		audit.Figures(most.Size), most.At.Sample, most.Scale)
	switch {
	case !math.IsNaN(r.Cutoff):
		c.Text += fmt.Sprintf("; the distance %.4g is common to the jumps: a cut-off that is not smooth", r.Cutoff)
	default:
		c.Text += fmt.Sprintf(
			"; no distance is common to the jumps, and the nearest tie of two distances from one point is of %s: a "+
				"choice among the nearest", audit.Figures(tie(most.Points)))
	}
	c.Evidence = []audit.Evidence{
		audit.Number("largest jump", most.Size, "").Against(t.limit), audit.Number("largest error", r.Max, ""),
		audit.Number("99 % quantile of the errors", r.P99, ""),
	}
	if !math.IsNaN(r.Cutoff) {
		c.Evidence = append(c.Evidence, audit.Number("distance at which the answer jumps", r.Cutoff, "length"))
	}
	p.Clue(c)
	at := most.At
	m := len(p.Elements)
	top := 0.0
	for k, e := range sw.Err {
		if e/sw.Scale > top {
			top = e / sw.Scale
			g := p.Elements[k%m]
			at = audit.Where{Sample: sw.IDs[k/m], Index: k / m, Element: g.G, Label: g.Label}
		}
	}
	p.Report(audit.Finding{
		Category: audit.Stress, Location: "positions", Worst: at, Evidence: c.Evidence,
		Message: c.Text + fmt.Sprintf(" (largest error %s, 99 %% quantile %s)", audit.Figures(r.Max),
			audit.Figures(r.P99)),
		Remedies: []string{
			"let the weight of a pair go to zero before the cut-off, together with its derivative",
			"raise the number of neighbors that are kept above that of all within the cut-off, and break ties in a " +
				"way that does not depend on coordinates",
		},
	})
	tab := &audit.Table{Columns: []audit.Column{
		{Name: "sample"},
		{Name: "dilation"},
		{Name: "jump", Doc: "relative to the scale of the outputs"},
		{Name: "left between the sides"},
		{Name: "nearest tie", Doc: "smallest relative difference of two distances from one point"},
		{Name: "field"},
	}}
	for _, j := range r.Jumps {
		tab.Rows = append(tab.Rows, []audit.Cell{
			audit.Word(j.At.Sample), audit.Num(j.Scale), audit.Num(j.Size),
			audit.Num(j.Width), audit.Num(tie(j.Points)), audit.Word(j.Field),
		})
	}
	p.Show(audit.Exhibit{
		Name: "jumps", Title: "Jumps of the answer", Table: tab,
		Note: "While an input is dilated about its mean; nothing else changes.",
	})
}
