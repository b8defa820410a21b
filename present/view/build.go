package view

import (
	"fmt"
	"image"
	"math"
	"slices"
	"strconv"
	"strings"

	"nero/measure/aggregate"
	"nero/measure/metric"
	"nero/present/words"
	"nero/run/fold"
	"nero/run/job"
	"nero/symmetry/group"
)

// Options choose among the forms of a picture. The zero value is the usual one.
type Options struct {
	// Log asks for a logarithmic scale. It is ignored where the metric can be negative or where no value is above 0.
	Log bool
	// Unroll lays a circle on a line, which reads better where values differ by orders of magnitude.
	Unroll bool
	// Bare leaves the spread out, as small pictures need it.
	Bare bool
	// Layouts are those to choose from, as [Layouts] does it; nil for those.
	Layouts []*Layout
	// Weights of the mean over the orbit of a single sample, one per element; nil for equal ones.
	Weights []float64
}

// Sample is one sample of a run under its models.
type Sample struct {
	// what it is, such as its name and class
	Title string
	// why it is shown
	Note string
	// one per model, in any order; a model without a row is left out
	Rows []job.Row
	// the input at the identity, nil if there is none
	Picture image.Image
}

// builder holds what all pictures of a summary share.
type builder struct {
	s      *fold.Summary
	g      group.Group
	metric int
	m      fold.Metric
	binary bool
	o      Options
	layout *Layout
	orbit  Orbit
	// where the elements go; one list per mirror
	branches [][]Point
	closed   []bool
}

func newBuilder(s *fold.Summary, m int, o Options) (*builder, error) {
	if m < 0 || m >= len(s.Metrics) {
		return nil, fmt.Errorf("metric %d of a run with %d metrics", m, len(s.Metrics))
	}
	g, err := s.Open()
	if err != nil {
		return nil, err
	}
	if len(s.Exact) != len(s.Elements) {
		return nil, fmt.Errorf("%d elements of which %d say whether they are exact", len(s.Elements), len(s.Exact))
	}
	if o.Weights != nil && len(o.Weights) != len(s.Elements) {
		return nil, fmt.Errorf("%d weights for %d elements", len(o.Weights), len(s.Elements))
	}
	for k, e := range s.Elements {
		if len(e) != len(s.Chart) {
			return nil, fmt.Errorf("element %d has %d coordinates: the chart of %s has %d axes", k, len(e), s.Group,
				len(s.Chart))
		}
	}
	b := &builder{s: s, g: g, metric: m, m: s.Metrics[m], o: o, orbit: Orbit{g, s.Chart, s.Elements}}
	layouts := o.Layouts
	if layouts == nil {
		layouts = Layouts()
	}
	if b.layout = choose(b.orbit, layouts, false); o.Unroll && b.layout.Flat != nil {
		b.layout = b.layout.Flat
	}
	if known, err := s.Known(m); err == nil {
		b.binary = known.Binary
	}
	b.branches, b.closed = b.layout.places(b.orbit)
	return b, nil
}

// Aggregate is the picture of a metric over slices: the mean over the samples of each slice at every element, all
// models in one plot where they are curves, one map per model where they are maps.
func Aggregate(s *fold.Summary, metric int, slices []int, o Options) (*Figure, error) {
	b, err := newBuilder(s, metric, o)
	if err != nil {
		return nil, err
	}
	f := b.figure()
	for _, sl := range slices {
		if sl < 0 || sl >= len(s.Slices) {
			return nil, fmt.Errorf("slice %d of a run with %d slices", sl, len(s.Slices))
		}
		p := Panel{Title: SliceTitle(s.Slices[sl]), N: s.Slices[sl].N}
		for m := range s.Models {
			c := s.Curve(m, metric, sl)
			if c == nil {
				return nil, fmt.Errorf("no curve of model %d, metric %s, slice %s", m, b.m.Name, s.Slices[sl].Name)
			}
			if err := whole(c, len(s.Elements)); err != nil {
				return nil, fmt.Errorf("curve of %s, %s, %s: %w", s.Models[m], b.m.Name, s.Slices[sl].Name, err)
			}
			b.add(&p, m, func(p *Point) {
				k := p.Element
				p.N, p.Bad, p.Value, p.Lo, p.Hi, p.P10, p.P90 = c.N[k], c.Bad[k], c.Mean[k], c.Lo[k], c.Hi[k], c.P10[k],
					c.P90[k]
				if p.N < 2 {
					// One value has an interval that holds everything; drawn, it would hide the rest.
					p.Lo, p.Hi = fold.Number(math.NaN()), fold.Number(math.NaN())
				}
			}, c.Orbit)
		}
		b.place(f, p, len(slices) > 1)
	}
	f.Interval = percent(s.Confidence) + " % interval of the mean"
	if !b.binary && !o.Bare && !f.Dense && !b.layout.Binned {
		f.Spread = "10–90 % of the samples"
	}
	f.Subtitle = "mean over samples"
	if len(slices) == 1 {
		sl := s.Slices[slices[0]]
		f.Name += "-" + Slug(sl.Name)
		f.Subtitle += fmt.Sprintf(", %s, n = %s", SliceTitle(sl), words.Count(sl.N))
	} else {
		f.Name += "-classes"
		f.Subtitle += " of each class"
	}
	if b.layout.Colored || b.layout.Binned {
		f.Interval, f.Spread = "", ""
	}
	b.finish(f)
	return f, nil
}

// Individual is the picture of a metric for single samples, one plot each.
func Individual(s *fold.Summary, metric int, samples []Sample, o Options) (*Figure, error) {
	b, err := newBuilder(s, metric, o)
	if err != nil {
		return nil, err
	}
	f := b.figure()
	f.Name += "-samples"
	f.Subtitle = "single samples"
	for _, sample := range samples {
		p := Panel{Title: sample.Title, Note: sample.Note, Picture: sample.Picture}
		for m := range s.Models {
			for i := range sample.Rows {
				r := &sample.Rows[i]
				if r.Model != m {
					continue
				}
				if metric >= len(r.Curves) || len(r.Curves[metric]) != len(s.Elements) {
					return nil, fmt.Errorf(
						"row of sample %s under %s does not belong to this run: want %d values of metric %d", r.Sample,
						s.Models[m], len(s.Elements), metric)
				}
				curve := r.Curves[metric]
				none := fold.Number(math.NaN())
				b.add(&p, m, func(p *Point) {
					v := float64(curve[p.Element])
					p.Lo, p.Hi, p.P10, p.P90 = none, none, none, none
					p.Wrong = r.Label >= 0 && p.Element < len(r.Top) && int(r.Top[p.Element]) != r.Label
					if math.IsNaN(v) || math.IsInf(v, 0) {
						p.Value, p.Bad = none, 1
						return
					}
					p.Value, p.N = fold.Number(v), 1
				}, fold.Estimate{N: 1, Mean: mean(curve, o.Weights), SD: none, Lo: none, Hi: none})
				break
			}
		}
		b.place(f, p, true)
	}
	b.finish(f)
	return f, nil
}

// mean is that of a curve, NaN if one value is not finite.
func mean(curve []float32, weights []float64) fold.Number {
	m := aggregate.CurveMean(weights)(curve)
	if math.IsInf(m, 0) {
		m = math.NaN()
	}
	return fold.Number(m)
}

// whole refuses a curve whose lists do not have one entry per element.
func whole(c *fold.Curve, n int) error {
	for _, l := range []int{len(c.N), len(c.Bad), len(c.Mean), len(c.Lo), len(c.Hi), len(c.P10), len(c.P90)} {
		if l != n {
			return fmt.Errorf("%d values for %d elements", l, n)
		}
	}
	return nil
}

func (b *builder) figure() *Figure {
	s := b.s
	f := &Figure{
		Name: Slug(b.m.Name), Title: words.Capital(b.m.Heading()) + " along the orbit of " + s.Group,
		Layout: b.layout,
		Metric: b.m.Name, Unit: b.m.Unit, Better: b.m.Better, Group: s.Group, Axes: s.Chart,
		// Errors against the model's own answer are the harm that resampling does too, so elements without it stand
		// apart.
		Mirrored: len(b.branches) > 1 && !b.layout.Colored,
		Dense:    b.layout.Order != "" && len(s.Elements) > Many,
	}
	const few = 16
	_, finite := b.g.(group.Finite)
	f.Discrete = finite && len(s.Elements) <= few*len(b.branches)
	exact := 0
	for _, e := range s.Exact {
		if e {
			exact++
		}
	}
	f.Exact = exact > 0 && exact < len(s.Exact)
	f.Comb = f.Exact && b.m.Ref == string(metric.Self) && b.layout.Comb
	for m, name := range s.Models {
		f.Legend = append(f.Legend, Key{Model: m, Name: name})
	}
	return f
}

// add puts the series of a model into a panel and sums it up.
func (b *builder) add(p *Panel, model int, fill func(*Point), orbit fold.Estimate) {
	s := b.s
	none := fold.Number(math.NaN())
	st := Stat{Model: model, Name: s.Models[model], Identity: none, Orbit: orbit, Worst: none, Element: -1}
	identity := b.g.Identity()
	values := make([]fold.Number, len(s.Elements))
	for k := range values {
		values[k] = none
	}
	for i, places := range b.branches {
		if len(places) == 0 {
			continue
		}
		mirrored := i > 0
		series := Series{
			Model: model, Name: s.Models[model], Mirrored: mirrored, Closed: b.closed[i],
			Points: make([]Point, len(places)),
		}
		copy(series.Points, places)
		for k := range series.Points {
			pt := &series.Points[k]
			pt.Exact = s.Exact[pt.Element]
			fill(pt)
			v := float64(pt.Value)
			values[pt.Element] = pt.Value
			if b.g.Dist(s.Elements[pt.Element], identity) == 0 {
				st.Identity = pt.Value
			}
			if !math.IsNaN(v) && (st.Element < 0 || worse(b.m.Better, v, float64(st.Worst)) || v == float64(st.Worst) &&
				pt.Element < st.Element) {
				st.Worst, st.Element, st.At = pt.Value, pt.Element, pt.Label
			}
		}
		p.Series = append(p.Series, series)
	}
	if at := fold.PlaceOf(values, metric.Direction(b.m.Better)); at.Level || at.Ties > 1 {
		first := st.At
		st.At = Where(at, func(int) string { return first })
	}
	p.Stats = append(p.Stats, st)
}

func (f *Figure) worse(x, y float64) bool { return worse(f.Better, x, y) }

// worse reports whether a value is worse than another.
func worse(better string, x, y float64) bool {
	if better == string(metric.Higher) {
		return x < y
	}
	return x > y
}

// place adds a panel to the figure: as it is, or one map per model.
func (b *builder) place(f *Figure, p Panel, several bool) {
	switch {
	case b.layout.Panels != nil:
		b.layout.Panels(b.orbit, f, p, several)
	case b.layout.Colored:
		perModel(f, p, several, nil, nil)
	default:
		f.Panels = append(f.Panels, p)
	}
}

// finish chooses the scale from all panels, and says what has to be said.
func (b *builder) finish(f *Figure) {
	f.Scale = b.scale(f)
	if b.layout.Scales != nil {
		b.layout.Scales(b.orbit, f)
	}
	f.Notes = b.notes(f)
	f.Alt = b.alt(f)
}

// scale covers everything that is drawn. Bounded metrics always get their whole range, so that pictures compare.
func (b *builder) scale(f *Figure) Scale {
	label := b.m.Heading()
	if b.m.Unit != "" {
		label += " in " + b.m.Unit
	}
	lo, hi := float64(b.m.Range[0]), float64(b.m.Range[1])
	if bounded(lo) && bounded(hi) && !b.o.Log {
		s := linear(label, lo, hi, true, true)
		return s
	}
	low, high, positive, zero := math.Inf(1), math.Inf(-1), math.Inf(1), false
	take := func(n fold.Number) {
		v := float64(n)
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return
		}
		low, high = min(low, v), max(high, v)
		if v > 0 {
			positive = min(positive, v)
		}
		zero = zero || v == 0
	}
	for _, p := range f.Panels {
		for _, s := range p.Series {
			for _, pt := range s.Points {
				take(pt.Value)
				if f.Interval != "" && !b.o.Log {
					take(pt.Lo)
					take(pt.Hi)
				}
				if f.Spread != "" {
					take(pt.P10)
					take(pt.P90)
				}
			}
		}
	}
	if b.o.Log && low >= 0 && !math.IsInf(positive, 0) {
		return decades(label, positive, high, zero)
	}
	if math.IsInf(low, 0) {
		low, high = 0, 1 // nothing to draw
	}
	if bounded(lo) {
		low = lo
	}
	if bounded(hi) {
		high = hi
	}
	return linear(label, low, high, bounded(lo), bounded(hi))
}

// bounded also refuses the NaN that an infinity becomes on its way through JSON.
func bounded(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// Wide reports whether the means of a metric differ by orders of magnitude, so that a linear scale would hide the small
// ones: nothing is negative, and the largest is at least a hundred times the smallest that is not 0.
func Wide(s *fold.Summary, metric int) bool {
	low, high := math.Inf(1), 0.0
	for m := range s.Models {
		c := s.Curve(m, metric, 0)
		if c == nil {
			continue
		}
		for _, n := range c.Mean {
			switch v := float64(n); {
			case v < 0:
				return false
			case v > 0:
				low, high = min(low, v), max(high, v)
			}
		}
	}
	return high >= 100*low
}

// notes names what is missing from the picture.
func (b *builder) notes(f *Figure) []string {
	var notes []string
	for _, p := range f.Panels {
		if p.N == 1 && f.Interval != "" {
			notes = append(notes, p.Title+": one sample, so no interval.")
		}
		for _, s := range p.Series {
			bad, n := 0, 0
			var gaps []string
			for _, pt := range s.Points {
				bad, n = bad+pt.Bad, n+pt.N+pt.Bad
				if math.IsNaN(float64(pt.Value)) {
					gaps = append(gaps, pt.Label)
				}
			}
			who := s.Name
			if len(f.Panels) > 1 && !b.layout.Colored {
				who += ", " + p.Title
			}
			if b.layout.Colored {
				who = p.Title
			}
			if s.Mirrored && !b.layout.Colored {
				who += ", " + side(b.s.Chart)
			}
			switch {
			case len(gaps) == len(s.Points):
				notes = append(notes, who+": no value at any element, so nothing is drawn.")
			case len(gaps) > 0:
				notes = append(notes, fmt.Sprintf("%s: no value at %s; drawn as a gap.", who, some(gaps)))
			}
			if bad > 0 && p.N > 0 {
				notes = append(notes, fmt.Sprintf("%s: %s of %s values are not finite and are in no mean.", who,
					words.Count(bad), words.Count(n)))
			}
		}
	}
	const most = 8
	if len(notes) > most {
		notes = append(notes[:most], fmt.Sprintf("And %d more such remarks.", len(notes)-most))
	}
	return notes
}

// some is the beginning of a list for people.
func some(s []string) string {
	const most = 6
	if len(s) > most {
		return fmt.Sprintf("%s and %d more elements", strings.Join(s[:most], ", "), len(s)-most)
	}
	return strings.Join(s, ", ")
}

// alt says the picture in sentences.
func (b *builder) alt(f *Figure) string {
	word := "lowest"
	if f.Better == string(metric.Lower) {
		word = "highest"
	}
	var a strings.Builder
	a.WriteString(f.Title + ", " + f.Subtitle + ".")
	panels := f.Panels
	if b.layout.Cut { // the planes of a model say the same
		panels = slices.DeleteFunc(slices.Clone(panels), func(p Panel) bool { return len(p.Stats) == 0 })
	}
	for i, p := range panels {
		if i == 3 {
			fmt.Fprintf(&a, " And %d more plots.", len(panels)-i)
			break
		}
		for _, st := range p.Stats {
			if b.layout.Colored && p.Series[0].Mirrored {
				break // said with the other half of the orbit
			}
			who := st.Name
			if len(f.Panels) > 1 {
				who = p.Title
				if !b.layout.Colored {
					who += ", " + st.Name
				}
			}
			fmt.Fprintf(&a, " %s: mean %s", who, words.Number(st.Orbit.Mean))
			if st.Element >= 0 {
				fmt.Fprintf(&a, ", %s %s at %s", word, words.Number(st.Worst), st.At)
			}
			a.WriteByte('.')
		}
	}
	return a.String()
}

// Table is the exact numbers of the figure: a header and one line per panel, model and element.
func (f *Figure) Table() (header []string, lines [][]string) {
	header = []string{"plot", "model", "element", "exact", "n", "not finite", "value", "low", "high", "p10", "p90"}
	num := func(n fold.Number) string {
		if math.IsNaN(float64(n)) {
			return ""
		}
		return strconv.FormatFloat(float64(n), 'g', 6, 64)
	}
	for _, p := range f.Panels {
		for _, s := range p.Series {
			for _, pt := range s.Points {
				lines = append(lines, []string{
					p.Title, s.Name, pt.Label, strconv.FormatBool(pt.Exact), strconv.Itoa(pt.N), strconv.Itoa(pt.Bad),
					num(pt.Value), num(pt.Lo), num(pt.Hi), num(pt.P10), num(pt.P90),
				})
			}
		}
	}
	return header, lines
}

// SliceTitle is a slice for people: "all samples", "class 3".
func SliceTitle(s fold.Slice) string {
	if s.Label < 0 {
		return "all samples"
	}
	return "class " + s.Name
}

func percent(p float64) string { return strconv.FormatFloat(100*p, 'g', 4, 64) }

// Slug is a name as part of a file name: lower-case letters, digits and single hyphens, "x" if nothing is left of it.
func Slug(name string) string {
	var b strings.Builder
	hyphen := false
	for _, r := range strings.ToLower(name) {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			if hyphen && b.Len() > 0 {
				b.WriteByte('-')
			}
			hyphen = false
			b.WriteRune(r)
			continue
		}
		hyphen = true
	}
	if b.Len() == 0 {
		return "x"
	}
	return b.String()
}

// side is the word for elements beyond the switch of the group.
func side(chart []group.Axis) string {
	for _, a := range chart {
		switch a.Kind {
		case group.KindInversion:
			return "inverted"
		case group.KindReversal:
			return "reversed"
		}
	}
	return "mirrored"
}
