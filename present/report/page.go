package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"nero/data/space"
	"nero/measure/aggregate"
	"nero/measure/metric"
	"nero/present/view"
	"nero/present/words"
	"nero/run/fold"
	"nero/symmetry/group"

	"github.com/goccy/go-yaml"
)

// attribute is a text inside the quotes of an HTML attribute.
func attribute(s string) string {
	return strings.NewReplacer("&", "&amp;", `"`, "&quot;", "<", "&lt;", ">", "&gt;", "\n", " ").Replace(s)
}

// writer builds a page.
type writer struct{ b strings.Builder }

func (w *writer) p(format string, args ...any) { fmt.Fprintf(&w.b, format+"\n\n", args...) }

func (w *writer) list(items []string) {
	for _, i := range items {
		fmt.Fprintf(&w.b, "- %s\n", i)
	}
	w.b.WriteByte('\n')
}

// table writes rows below a header; all columns but the first are aligned to the right if numbers is true.
func (w *writer) table(numbers bool, head []string, rows [][]string) {
	line := func(cells []string) { fmt.Fprintf(&w.b, "| %s |\n", strings.Join(cells, " | ")) }
	line(head)
	rule := make([]string, len(head))
	for i := range rule {
		rule[i] = "---"
		if numbers && i > 0 {
			rule[i] = "--:"
		}
	}
	line(rule)
	for _, r := range rows {
		line(r)
	}
	w.b.WriteByte('\n')
}

// withInterval is a number with its interval: "0.983 [0.971, 0.990]".
func withInterval(mean, lo, hi fold.Number) string {
	t := words.Number(mean)
	if in := interval(float64(lo), float64(hi)); in != "" {
		t += " " + in
	}
	return t
}

func interval(lo, hi float64) string {
	if math.IsNaN(lo) || math.IsNaN(hi) || math.IsInf(lo, 0) || math.IsInf(hi, 0) {
		return ""
	}
	return fmt.Sprintf("[%s, %s]", words.Number(lo), words.Number(hi))
}

func estimate(e fold.Estimate) string { return withInterval(e.Mean, e.Lo, e.Hi) }

// atElement is a mean at an element of a curve.
func atElement(c *fold.Curve, k int) string { return withInterval(c.Mean[k], c.Lo[k], c.Hi[k]) }

func (p *page) label(k int) string {
	g, err := p.s.Open()
	if err != nil || k < 0 || k >= len(p.s.Elements) {
		return "?"
	}
	return view.Label(g, p.s.Elements[k])
}

func (p *page) model(i int) string { return words.Markdown(p.s.Models[i]) }

func (p *page) words(m int) string { return words.Markdown(p.s.Metrics[m].Heading()) }

func (p *page) target(m int) bool { return p.s.Metrics[m].Ref == string(metric.Target) }

func (p *page) lowest(m int) string {
	if p.s.Metrics[m].Better == string(metric.Lower) {
		return "highest"
	}
	return "lowest"
}

func (p *page) markdown(figures []*view.Figure) string {
	w := &writer{}
	s := p.s
	names := make([]string, len(s.Models))
	for i := range names {
		names[i] = p.model(i)
	}
	w.p("# %s along the orbit of %s", strings.Join(names, ", "), words.Markdown(s.Group))
	w.p("%s, %s (%s) each, %s. All intervals are %g %% intervals of a mean over samples; n counts samples.",
		words.Plural(s.Samples-s.Failed, "sample", "samples"), elements(len(s.Elements)), words.Markdown(s.Measure),
		words.Plural(len(s.Models), "model", "models"), 100*s.Confidence)
	for _, t := range p.gist() {
		w.p("%s", words.Markdown(t))
	}
	w.p("## Findings")
	p.findings(w)
	if c := p.allCaveats(); len(c) > 0 {
		w.p("## Caveats")
		w.list(c)
	}
	w.p("## What was tested")
	w.table(false, []string{"", ""}, p.tested())
	for _, m := range p.order() {
		p.metricSection(w, m, figures)
	}
	p.samplesSection(w, figures)
	p.worstSection(w)
	p.takenSection(w)
	p.selfSection(w)
	w.p("## How to read the pictures")
	w.list(p.howToRead(figures))
	w.p("## Not tested")
	w.list(p.notTested())
	if a := strings.TrimSpace(p.in.Audit); a != "" {
		w.p("## Audit")
		w.p("%s", demote(a))
	}
	p.reproduce(w)
	return strings.TrimRight(w.b.String(), "\n") + "\n"
}

// gist is what the study says of itself, and what was found of each model in a few sentences.
func (p *page) gist() []string {
	var out []string
	if t := p.in.Job.Study.About; t != "" {
		out = append(out, t)
	}
	out = append(out, p.in.Warnings...)
	if len(p.s.Slices) == 0 {
		return out
	}
	sayer := view.SayerOf(p.s, p.label)
	for k, model := range p.s.Models {
		says := sayer.Says(model, false, func(i int) *fold.Curve { return p.s.Curve(k, i, 0) })
		if says != "" {
			out = append(out, says)
		}
	}
	return out
}

func elements(n int) string { return words.Plural(n, "element", "elements") }

// findings says in words what each metric does along the orbit under each model, and how the models differ. Metrics of
// which the headline would repeat another's are left to their tables.
func (p *page) findings(w *writer) {
	s := p.s
	if len(s.Slices) == 0 || s.Samples == s.Failed {
		w.p("Nothing was measured: no sample could be evaluated.")
		return
	}
	for _, m := range p.order() {
		if !p.target(m) && m != p.lead && !slices.Contains([]string{metric.Relative.Name, "agreement"},
			s.Metrics[m].Name) {
			continue
		}
		fmt.Fprintf(&w.b, "- **%s** (%s; %s is better)\n", p.title(m), p.against(m),
			words.Markdown(s.Metrics[m].Better))
		item := func(t string) { fmt.Fprintf(&w.b, "  - %s\n", t) }
		for k := range s.Models {
			if p.target(m) {
				item(p.finding(k, m))
			} else {
				item(p.ownFinding(k, m))
			}
		}
		for k := 1; k < len(s.Models); k++ {
			item(p.difference(k, m))
		}
		if m == p.lead {
			if f := p.worstClass(); f != "" {
				item(f)
			}
		}
	}
	w.b.WriteByte('\n')
}

// title is the name of a metric at the beginning of a line.
func (p *page) title(m int) string {
	return words.Markdown(words.Capital(p.s.Metrics[m].Heading()))
}

func (p *page) against(m int) string {
	switch metric.Reference(p.s.Metrics[m].Ref) {
	case metric.Consensus:
		return "against the consensus of the model's answers over the orbit"
	case metric.Self:
		return "against the model's own answer at the identity"
	case metric.Target:
	}
	if f, err := p.s.Known(m); err == nil && !f.Understands(space.KindScores) {
		return "against the target"
	}
	return "against the label"
}

// ownFinding says how far a model is from its own answer at the identity: at exact elements, where nothing but the
// model can be the reason, and at resampled ones.
func (p *page) ownFinding(k, m int) string {
	t := "**" + p.model(k) + "**: "
	var parts []string
	for _, x := range []struct {
		name  string
		exact bool
	}{{"exact", true}, {"resampled", false}} {
		part := p.part(k, m, x.exact)
		if part.mean.N == 0 {
			continue
		}
		n := p.countParts(x.exact)
		text := fmt.Sprintf("%s at the %s", p.partMean(part, m), words.Plural(n, x.name+" element", x.name+" elements"))
		if x.exact {
			text += p.besides()
		}
		parts = append(parts, text+fmt.Sprintf(" (n = %s)", words.Count(part.mean.N)))
	}
	if len(parts) == 0 {
		return t + p.words(m) + " could not be measured: no sample has finite values at all elements."
	}
	t += "mean " + p.words(m) + " " + strings.Join(parts, ", ")
	c := p.s.Curve(k, m, 0)
	t += fmt.Sprintf("; mean over the whole orbit%s %s (n = %s)", p.included(), estimate(c.Orbit),
		words.Count(c.Orbit.N))
	if c.WorstElement >= 0 && c.WorstElement != p.identity {
		t += fmt.Sprintf("; %s %s at %s", p.lowest(m), atElement(c, c.WorstElement), p.where(c))
	}
	return t + "."
}

// where is the element at which the mean of a curve is worst, or that there is no single one.
func (p *page) where(c *fold.Curve) string {
	return view.Where(c.Place(p.s.Metrics[c.Metric]), p.label)
}

func (p *page) part(k, m int, exact bool) *part {
	if exact {
		return &p.seen.exact[k][m]
	}
	return &p.seen.smooth[k][m]
}

// partMean is the mean of a part with its interval, cut to what the metric can be.
func (p *page) partMean(x *part, m int) string {
	if x.mean.N == 0 {
		return "none"
	}
	i := aggregate.MeanInterval(x.mean, p.s.Confidence)
	lo, hi := i.Low, i.High
	if x.mean.Min == x.mean.Max && p.binary(m) && (x.mean.Min == 0 || x.mean.Min == 1) {
		// Samples that all agree have no spread, and Student's interval would claim to know everything.
		c := aggregate.ClopperPearson(int(x.mean.Min)*x.mean.N, x.mean.N, p.s.Confidence)
		lo, hi = c.Low, c.High
	}
	if r := float64(p.s.Metrics[m].Range[0]); !math.IsNaN(r) {
		lo = max(lo, r)
	}
	if r := float64(p.s.Metrics[m].Range[1]); !math.IsNaN(r) {
		hi = min(hi, r)
	}
	return withInterval(fold.Number(x.mean.Mean), fold.Number(lo), fold.Number(hi))
}

func (p *page) binary(m int) bool {
	known, err := p.s.Known(m)
	return err == nil && known.Binary
}

// countParts is the number of exact or of resampled elements, the identity apart.
func (p *page) countParts(exact bool) int {
	n := 0
	for i, e := range p.s.Exact {
		if e == exact && i != p.identity {
			n++
		}
	}
	return n
}

func (p *page) finding(k, m int) string {
	c := p.s.Curve(k, m, 0)
	who, what := "**"+p.model(k)+"**", p.words(m)
	if c.Orbit.N == 0 && c.WorstElement < 0 {
		return fmt.Sprintf("%s: %s could not be measured: no finite value.", who, what)
	}
	t := who + ": " + what + " "
	w := c.WorstElement
	switch {
	case w < 0:
		t += "has no value at any element"
	case c.Place(p.s.Metrics[m]).Level:
		t += fmt.Sprintf("is %s at every element", atElement(c, w))
	case p.identity < 0:
		t += fmt.Sprintf("is %s at %s, its %s point (the orbit does not contain the identity)", atElement(c, w),
			p.where(c), p.lowest(m))
	case w == p.identity:
		t += fmt.Sprintf("is %s at the identity, and nowhere on the orbit worse", atElement(c, w))
	default:
		verb := "falls"
		if p.s.Metrics[m].Better == string(metric.Lower) {
			verb = "rises"
		}
		lo, hi := c.Lo[p.identity], c.Hi[w]
		if verb == "rises" {
			lo, hi = c.Lo[w], c.Hi[p.identity]
		}
		if !(float64(hi) < float64(lo)) {
			// The two intervals overlap: the words must not say more than they do.
			t += fmt.Sprintf("is %s at the identity and %s at %s, its %s point; the intervals overlap",
				atElement(c, p.identity), atElement(c, w), p.where(c), p.lowest(m))
			break
		}
		t += fmt.Sprintf("%s from %s at the identity to %s at %s", verb, atElement(c, p.identity), atElement(c, w),
			p.where(c))
	}
	t += fmt.Sprintf("; mean over the whole orbit%s %s (n = %s)", p.included(), estimate(c.Orbit),
		words.Count(c.Orbit.N))
	if v := p.s.Verdict(c, math.NaN()); p.target(m) && v != "" {
		t += fmt.Sprintf(": **%s** (change of the orbit mean against the identity %s, paired by sample)", v,
			signed(c.Change.Mean, c.Change.Lo, c.Change.Hi))
	}
	return t + "."
}

// signed is a difference with its sign and interval.
func signed(mean, lo, hi fold.Number) string {
	sign := func(v float64) string {
		if v > 0 {
			return "+" + words.Number(v)
		}
		return words.Number(v)
	}
	t := sign(float64(mean))
	if interval(float64(lo), float64(hi)) != "" {
		t += fmt.Sprintf(" [%s, %s]", sign(float64(lo)), sign(float64(hi)))
	}
	return t
}

// difference compares model k with the first one, sample by sample.
func (p *page) difference(k, m int) string {
	d := p.seen.diffs[k][m]
	who := fmt.Sprintf("**%s** against **%s**", p.model(k), p.model(0))
	if d.N == 0 {
		return fmt.Sprintf("%s: no sample has a finite %s under both.", who, p.words(m))
	}
	i := aggregate.MeanInterval(d, p.s.Confidence)
	verdict := "no difference is shown"
	better := p.s.Metrics[m].Better == string(metric.Higher)
	switch {
	case i.Low > 0 && better, i.High < 0 && !better:
		verdict = "**better** over the orbit"
	case i.Low > 0, i.High < 0:
		verdict = "**worse** over the orbit"
	}
	return fmt.Sprintf("%s: %s; mean %s over the orbit differs by %s (n = %s, paired by sample).", who, verdict,
		p.words(m),
		signed(fold.Number(d.Mean), fold.Number(i.Low), fold.Number(i.High)), words.Count(d.N))
}

// worstClass names the class on which each model does worst, by the leading metric.
func (p *page) worstClass() string {
	if len(p.classes) < 2 {
		return ""
	}
	var parts []string
	for k := range p.s.Models {
		var at *fold.Curve
		for _, c := range p.classes {
			if q := p.s.Curve(k, p.lead, c); q.Orbit.N > 0 &&
				(at == nil || p.worse(p.lead, float64(q.Orbit.Mean), float64(at.Orbit.Mean))) {
				at = q
			}
		}
		if at != nil {
			parts = append(parts, fmt.Sprintf("**%s**: class %s with %s (n = %s)", p.model(k),
				words.Markdown(p.s.Slices[at.Slice].Name), estimate(at.Orbit), words.Count(at.Orbit.N)))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return fmt.Sprintf("The class with the %s mean %s over the orbit: %s.", p.lowest(p.lead), p.words(p.lead),
		strings.Join(parts, "; "))
}

// allCaveats are what this run's own data ask a reader to mind.
func (p *page) allCaveats() []string {
	s := p.s
	var out []string
	if s.Failed > 0 {
		out = append(out, fmt.Sprintf(
			"%s of %s samples could not be evaluated and are in no number on this page; their rows say why.",
			words.Count(s.Failed), words.Count(s.Samples)))
	}
	for m := range s.Metrics {
		for k := range s.Models {
			c := s.Curve(k, m, 0)
			if c == nil || c.BadAt < 0 {
				continue
			}
			bad, n := 0, 0
			for i := range c.Bad {
				bad, n = bad+c.Bad[i], n+c.N[i]+c.Bad[i]
			}
			if why := view.NoValue(s, m); why != "" {
				out = append(out, fmt.Sprintf(
					"%s of **%s** has no value %s of %s times, first for sample %s at %s: %s. Such samples have no "+
						"mean over the orbit.",
					p.words(m), p.model(k), words.Count(bad), words.Count(n), words.Markdown(c.FirstBad),
					p.label(c.BadAt), why))
				continue
			}
			out = append(out, fmt.Sprintf(
				"%s of **%s** is not finite %s of %s times, first for sample %s at %s. These values are in no mean, "+
					"so the means speak for the others only.",
				p.words(m), p.model(k), words.Count(bad), words.Count(n), words.Markdown(c.FirstBad), p.label(c.BadAt)))
		}
	}
	if n := s.Samples - s.Failed; n > 0 && n < 30 {
		out = append(out, fmt.Sprintf("Intervals rest on %s; below about 30 they are rough.", words.Plural(n, "sample",
			"samples")))
	}
	small := 0
	for _, c := range p.classes {
		if n := s.Slices[c].N; n > 0 && n < 30 {
			small++
		}
	}
	if small > 0 {
		out = append(out, fmt.Sprintf("%d of %s have fewer than 30 samples; their intervals are rough.", small,
			words.Count(len(p.classes))+" classes"))
	}
	if p.identity < 0 && len(s.Elements) > 0 {
		out = append(out, "The orbit does not contain the identity, so no value here is that of an unmoved input.")
	}
	return append(out, p.caveats...)
}

func (p *page) tested() [][]string {
	s, j := p.s, p.j
	var rows [][]string
	add := func(name, format string, args ...any) {
		rows = append(rows, []string{name, fmt.Sprintf(format, args...)})
	}
	for i, m := range j.Models {
		name := "models"
		if i > 0 {
			name = ""
		}
		add(name, "**%s**: %s, SHA-256 `%s`", p.model(i), words.Markdown(shortPath(m.Path)), code(m.SHA256))
	}
	for i, line := range p.dataLines() {
		name := "data"
		if i > 0 {
			name = ""
		}
		add(name, "%s", line)
	}
	choice := ""
	if j.Samples != nil {
		choice = ", chosen from the data"
		if b := j.Study.Data.Balance; b != "" {
			choice += " with the same number of each class"
		}
		choice += fmt.Sprintf(" by seed %d", j.Study.Data.Seed)
	}
	add("samples", "%s evaluated, %s failed%s", words.Count(s.Samples-s.Failed), words.Count(s.Failed), choice)
	add("group", "%s: %s", words.Markdown(s.Group), p.axes())
	exact := 0
	for _, e := range s.Exact {
		if e {
			exact++
		}
	}
	add("orbit", "%s: %s; %s of them exact (moved without resampling)", elements(len(s.Elements)),
		words.Markdown(s.Measure),
		words.Count(exact))
	add("mean over the orbit", "%s", p.measure())
	g := j.Study.Group
	add("moving", "kernel %s, outside the picture %s%s", or(g.Resample, "bilinear"), or(g.Border, "zero"),
		windowText(g.Window))
	if o := j.Study.Output; o.Space != "" || o.Action != "" {
		add("output", "%s, expected %s", or(o.Space, "scores"), expected(o.Action))
	}
	var metrics []string
	for m := range s.Metrics {
		metrics = append(metrics, fmt.Sprintf("%s: %s", p.words(m), words.Markdown(s.Metrics[m].Doc)))
	}
	add("metrics", "%s", strings.Join(metrics, "<br>"))
	add("engine", "%s", words.Markdown(j.Engine.String()))
	add("seed", "%d", j.Seed)
	add("job", "`%s`", code(s.Job))
	if p.in.Version != "" {
		add("program", "nero %s", words.Markdown(p.in.Version))
	}
	return rows
}

// code is a text between backquotes.
func code(s string) string { return strings.NewReplacer("`", "'", "|", "/", "\n", " ").Replace(s) }

func or(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return words.Markdown(s)
}

func windowText(w []int) string {
	if len(w) != 2 {
		return ""
	}
	return fmt.Sprintf(", crop window of %d × %d pixels", w[0], w[1])
}

func expected(action string) string {
	if action == "same" {
		return "to move as the input does (equivariant)"
	}
	return "to stay the same (invariant)"
}

func (p *page) measure() string {
	if p.j.Weights != nil {
		return "weighted: " + words.Markdown(p.s.Measure)
	}
	return "each element counts the same; each sample is reduced to its own mean first, so the interval is over samples"
}

// axes describes the chart.
func (p *page) axes() string {
	if len(p.s.Chart) == 0 {
		return "no coordinates"
	}
	var parts []string
	for i, a := range p.s.Chart {
		lo, hi := math.Inf(1), math.Inf(-1)
		for _, e := range p.s.Elements {
			lo, hi = min(lo, e[i]), max(hi, e[i])
		}
		unit := strings.TrimRight(" "+a.Unit, " ")
		if a.Form() == group.FormAngle {
			unit = "°"
		}
		parts = append(parts, fmt.Sprintf("%s from %.6g%s to %.6g%s", words.Markdown(a.Name), lo, unit, hi, unit))
	}
	return strings.Join(parts, ", ")
}

// metricSection is a metric: its picture, its table, its classes.
func (p *page) metricSection(w *writer, m int, figures []*view.Figure) {
	s := p.s
	title := p.title(m)
	if !p.target(m) {
		title += " (label-free)"
	}
	w.p("## %s", title)
	unit := ""
	if u := s.Metrics[m].Unit; u != "" {
		unit = "; in units of " + words.Markdown(u)
	}
	w.p("%sMeasured %s; %s is better%s.", sentence(s.Metrics[m].Doc), p.against(m), words.Markdown(s.Metrics[m].Better),
		unit)
	for _, f := range figures {
		if f.Metric == s.Metrics[m].Name && !strings.HasSuffix(f.Name, "-samples") {
			picture(w, f)
		}
	}
	if len(s.Slices) == 0 {
		return
	}
	rows := make([][]string, 0, len(s.Models))
	for k := range s.Models {
		c := s.Curve(k, m, 0)
		id, worst, where := "none", "none", "nowhere"
		if p.identity >= 0 {
			id = atElement(c, p.identity)
		}
		if c.WorstElement >= 0 {
			worst, where = atElement(c, c.WorstElement), p.where(c)
		}
		bad := 0
		for _, b := range c.Bad {
			bad += b
		}
		single := "none"
		if c.WorstAt >= 0 {
			single = fmt.Sprintf("%s, sample %s at %s", words.Number(c.WorstValue), words.Markdown(c.WorstSample),
				p.label(c.WorstAt))
		}
		rows = append(rows, []string{
			p.model(k), id, estimate(c.Orbit), worst, where, estimate(c.Worst), single,
			words.Count(c.Orbit.N), words.Count(bad),
		})
	}
	w.table(true, []string{
		"model", "at identity", "mean over the whole orbit" + p.included(), p.lowest(m) + " mean",
		"where", "worst of orbit per sample, averaged", "worst single value", "n", "not finite",
	}, rows)
	p.worstElements(w, m, figures)
	if len(p.classes) > 0 {
		p.classTable(w, m)
	}
}

// mostElements is how many elements are listed from the worst on.
const mostElements = 8

// worstElements lists the elements with the worst means of the first model, where elements have no order in which a
// picture could name them all.
func (p *page) worstElements(w *writer, m int, figures []*view.Figure) {
	if !slices.ContainsFunc(figures, func(f *view.Figure) bool {
		return f.Layout.Nameless || f.Dense
	}) || len(p.s.Elements) <= mostElements {
		return
	}
	first := p.s.Curve(0, m, 0)
	var at []int
	for k, v := range first.Mean {
		if !math.IsNaN(float64(v)) {
			at = append(at, k)
		}
	}
	slices.SortStableFunc(at, func(a, b int) int {
		switch x, y := float64(first.Mean[a]), float64(first.Mean[b]); {
		case p.worse(m, x, y):
			return -1
		case p.worse(m, y, x):
			return 1
		}
		return 0
	})
	at = at[:min(mostElements, len(at))]
	if len(at) == 0 {
		return
	}
	head := []string{"element"}
	kinds := view.KindOf(p.s.Chart, p.s.Elements[at[0]]) != ""
	if kinds {
		head = append(head, "kind")
	}
	for k := range p.s.Models {
		head = append(head, p.model(k))
	}
	var rows [][]string
	for _, k := range at {
		row := []string{p.label(k)}
		if kinds {
			row = append(row, view.KindOf(p.s.Chart, p.s.Elements[k]))
		}
		for i := range p.s.Models {
			row = append(row, atElement(p.s.Curve(i, m, 0), k))
		}
		rows = append(rows, row)
	}
	w.p("The %s worst elements by the mean of %s:", words.Count(len(at)), p.model(0))
	w.table(true, head, rows)
}

// included says beside a mean over the orbit that it counts the identity, where errors against the own answer are 0.
func (p *page) included() string {
	if p.identity < 0 {
		return ""
	}
	return ", identity included"
}

// leftOut says beside a mean that it does not count the identity.
func (p *page) leftOut() string {
	if p.identity < 0 {
		return ""
	}
	return ", identity left out"
}

// besides is leftOut within a sentence.
func (p *page) besides() string {
	if p.identity < 0 {
		return ""
	}
	return " besides the identity"
}

// sentence makes one of a doc text, with the space that follows.
func sentence(doc string) string {
	if doc == "" {
		return ""
	}
	return words.Markdown(words.Capital(doc)) + ". "
}

func (p *page) classTable(w *writer, m int) {
	s := p.s
	head := []string{"class", "n"}
	for k := range s.Models {
		head = append(head, p.model(k)+": mean over the whole orbit"+p.included(), p.lowest(m)+" mean, where")
	}
	rows := make([][]string, 0, len(p.classes))
	for _, sl := range p.classes {
		row := []string{words.Markdown(s.Slices[sl].Name), words.Count(s.Slices[sl].N)}
		for k := range s.Models {
			c := s.Curve(k, m, sl)
			worst := "none"
			if c.WorstElement >= 0 {
				worst = fmt.Sprintf("%s at %s", atElement(c, c.WorstElement), p.where(c))
			}
			row = append(row, estimate(c.Orbit), worst)
		}
		rows = append(rows, row)
	}
	w.p("<details><summary>By class</summary>")
	w.table(true, head, rows)
	w.p("</details>")
}

// picture embeds a figure for both themes.
func picture(w *writer, f *view.Figure) {
	w.p(`<picture><source media="(prefers-color-scheme: dark)" srcset="%s"><img src="%s" alt="%s"></picture>`,
		pictureName(f, Dark, "svg"), pictureName(f, Light, "svg"), attribute(f.Alt))
}

func (p *page) samplesSection(w *writer, figures []*view.Figure) {
	for _, f := range figures {
		if !strings.HasSuffix(f.Name, "-samples") {
			continue
		}
		w.p("## Single samples")
		text := "Chosen by the mean %s over the orbit. The small picture is the input at the identity"
		if (&drawing{f: f}).contents().wrong { // masks and boxes have no class of their own
			text += "; a cross marks an element at which the model names the wrong class"
		}
		w.p(text+".", p.words(p.lead))
		picture(w, f)
		word := p.lowest(p.lead)
		var rows [][]string
		for _, q := range f.Panels {
			for _, st := range q.Stats {
				rows = append(rows, []string{
					words.Markdown(q.Title), words.Markdown(st.Name), words.Number(st.Identity),
					words.Number(st.Orbit.Mean), words.Number(st.Worst), st.At, words.Markdown(q.Note),
				})
			}
		}
		w.table(true, []string{"sample", "model", "at identity", "mean over orbit", word, "where", "why it is shown"},
			rows)
	}
}

// selfSection takes the error of exact elements and that of resampled ones apart.
func (p *page) selfSection(w *writer) {
	var rows [][]string
	for m := range p.s.Metrics {
		if p.target(m) {
			continue
		}
		for k := range p.s.Models {
			for _, x := range []struct {
				name string
				part *part
			}{{"exact", p.part(k, m, true)}, {"resampled", p.part(k, m, false)}} {
				worst := "none"
				if x.part.at >= 0 {
					worst = fmt.Sprintf("%s, sample %s at %s", words.Number(x.part.worst),
						words.Markdown(x.part.sample),
						p.label(x.part.at))
				}
				rows = append(rows, []string{
					p.words(m), p.model(k), x.name,
					words.Count(p.countParts(x.name == "exact")), p.partMean(x.part, m), worst,
					words.Count(x.part.mean.N),
				})
			}
		}
	}
	if len(rows) == 0 {
		return
	}
	w.p("## Exact and resampled elements")
	w.p("An exact element moves the input without computing new pixels, so whatever changes there is the model's "+
		"doing. At resampled elements the kernel (%s) changes the input too, and this table cannot tell its share "+
		"from the model's; an audit measures that floor. The identity, where the error is 0 by definition, is left "+
		"out here; the means over the whole orbit above include it.",
		or(p.j.Study.Group.Resample, "bilinear"))
	w.table(true, []string{"metric", "model", "elements", "number", "mean" + p.leftOut(), "worst single value", "n"},
		rows)
}

func (p *page) howToRead(figures []*view.Figure) []string {
	var out []string
	layouts := p.in.Layouts
	if layouts == nil {
		layouts = view.Layouts()
	}
	for _, l := range layouts {
		if l.Doc != "" && slices.ContainsFunc(figures, func(f *view.Figure) bool { return f.Layout == l }) {
			out = append(out, l.Doc)
		}
	}
	out = append(out, "A curve near a circle, a level line or one colour says that the *mean* of the metric over "+
		"samples does not depend on the element: inputs that gain and inputs that lose cancel. An audit judges the "+
		"outputs of each input and is stricter, so a model can look round here and still fail an audit.")
	some := func(test func(*view.Figure) bool) bool { return slices.ContainsFunc(figures, test) }
	if some(func(f *view.Figure) bool { return f.Spread != "" }) {
		out = append(out, fmt.Sprintf(
			"The wide pale band holds the middle 80 %% of the samples (10th to 90th percentile); the narrow one is "+
				"the %g %% interval of the mean, at each element for itself.", 100*p.s.Confidence))
	} else if some(func(f *view.Figure) bool { return f.Interval != "" }) {
		out = append(out, fmt.Sprintf("The band is the %g %% interval of the mean, at each element for itself.",
			100*p.s.Confidence))
	}
	if some(func(f *view.Figure) bool { return f.Exact }) {
		out = append(out, "Filled marks are exact elements: there the input is moved without computing new pixels. "+
			"Steps between them and their neighbours show what resampling does.")
	}
	if some(func(f *view.Figure) bool {
		return f.Mirrored && (f.Layout.Round || f.Axes[0].Kind == group.KindTurn)
	}) {
		out = append(out, "Thin lines are mirrored elements: left and right are exchanged first, then the picture is "+
			"turned.")
	}
	if some(func(f *view.Figure) bool { return f.Scale.Log }) {
		out = append(out, "On a logarithmic scale 0 has its own place at the bottom.")
	}
	return append(out, "A model has the same colour, dash and mark in all pictures.",
		"The exact numbers of all curves are in [curves.csv](curves.csv); each picture is there as SVG and PNG, "+
			"light and dark, in [pictures](pictures).")
}

// notTested says what nobody may read out of the page.
func (p *page) notTested() []string {
	s := p.s
	out := []string{
		fmt.Sprintf("Elements other than these %s: nothing was measured between two of them, nor outside %s.",
			words.Count(len(s.Elements)), p.axes()),
		fmt.Sprintf("Transformations outside %s, and other ways to move the input (kernel, border).",
			words.Markdown(s.Group)),
		"Samples other than these. The intervals speak for inputs drawn like them, and not for other data.",
		fmt.Sprintf("Other engines and machines: the numbers come from %s.", words.Markdown(p.j.Engine.String())),
	}
	target, self := false, false
	for m := range s.Metrics {
		target, self = target || p.target(m), self || !p.target(m)
	}
	if !target {
		out = append(out, "Whether the answers are right: no metric compares with a label. A model that always gives "+
			"the same answer looks perfect here.")
	}
	if !self {
		out = append(out, "Whether the answers themselves stay the same: no metric compares with the model's own "+
			"answer at the identity. A quality that stays level can hide answers that change.")
	}
	if strings.TrimSpace(p.in.Audit) == "" {
		out = append(out, "No audit is attached: this page describes and does not judge. How much of an error is "+
			"resampling, rounding or repetition, `nero audit` tells.")
	}
	return out
}

// demote makes room for headings of a text inside a section.
func demote(text string) string {
	lines := strings.Split(text, "\n")
	fenced := false
	for i, l := range lines {
		if strings.HasPrefix(strings.TrimSpace(l), "```") {
			fenced = !fenced
		}
		if !fenced && strings.HasPrefix(l, "#") {
			lines[i] = "##" + l
		}
	}
	return strings.Join(lines, "\n")
}

func (p *page) reproduce(w *writer) {
	w.p("## Reproduce")
	b, err := yaml.Marshal(p.j.Study)
	if err != nil {
		w.p("The study cannot be written as YAML (%s); it is in the run folder.", words.Markdown(err.Error()))
		return
	}
	w.p("Save this study as `study.yaml`, check the files against the digests in [files.csv](files.csv), and run:")
	w.p("```sh\nnero run study.yaml -o run\nnero report run -o report\n```")
	fence := "```"
	for strings.Contains(string(b), fence) {
		fence += "`"
	}
	w.p("%syaml\n%s\n%s", fence, strings.TrimRight(string(b), "\n"), fence)
}
