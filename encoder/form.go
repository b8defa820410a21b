package encoder

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"nero/internal/elementary"
	"nero/present/sheet"
	"nero/present/words"
)

// Forms are all ways to write a report, the first that of a terminal.
func Forms() []*sheet.Form[*Report] { return sheet.Forms((*Report).sheet) }

// Schema is the schema of what [Report] is in JSON.
func Schema() ([]byte, error) { return sheet.Schema("embed", FormatNumber, &Report{}) }

// sheet is what people read.
func (r *Report) sheet() *sheet.Sheet {
	out := &sheet.Sheet{Title: "Features under " + r.Group, Parts: r.parts()}
	for _, m := range r.Models {
		out.Answer = append(out.Answer, m.Sentence)
	}
	return out
}

// parts are what all forms for people show.
func (r *Report) parts() []sheet.Part {
	var all []sheet.Part
	for _, m := range r.Models {
		head := sheet.Part{Title: m.Model, Text: []string{m.Sentence, m.features()}}
		for _, n := range m.Notes {
			head.Notes = append(head.Notes, "Not asked: "+n+".")
		}
		all = append(all, head)
		if len(m.Transformations) > 0 {
			all = append(all, m.moves(), m.alike())
		}
		if m.Maps != nil {
			all = append(all, m.maps())
		}
		if m.Split != nil {
			all = append(all, m.Split.part())
		}
		if m.Generators != nil {
			all = append(all, m.Generators.part())
		}
		if m.Algebra != nil {
			all = append(all, m.Algebra.part())
		}
		if x := m.Extrapolation; x != nil {
			all = append(all, sheet.Part{Title: "Does what reads the element go on beyond the window?", Text: []string{
				fmt.Sprintf("A linear map fitted up to %s %s reads it there with R² %s (%s), and beyond with %s (%s). "+
					"Features that are affine in it keep R².", figure(float64(x.Half)), x.Unit, x.R2Inside.text(),
					x.R2Inside.interval(), x.R2Outside.text(), x.R2Outside.interval()),
			}})
		}
		if q := m.asked(); q != nil {
			all = append(all, q.parts()...)
		}
		if m.Against != nil {
			all = append(all, m.Against.parts()...)
		}
	}
	return append(all, r.how())
}

// features says what was read.
func (m *Model) features() string {
	out := fmt.Sprintf("Read: %s, %s a sample.", m.Value, words.Plural(m.Width, "number", "numbers"))
	if m.Rank != nil {
		out += fmt.Sprintf(" Effective rank %s (%s), %s.", figure(float64(m.Rank.Value)), m.Rank.interval(),
			words.Plural(m.Dead, "unit never changes", "units never change"))
	}
	if m.Held != nil {
		out += fmt.Sprintf(" Maps and parts look at %s, which hold %s of the variance on the side fit.",
			words.Plural(m.Axes, "direction", "directions"), words.Percent(float64(*m.Held)))
	}
	return out
}

// mostRows is how many elements a table for people shows; the JSON has all.
const mostRows = 12

func (m *Model) moves() sheet.Part {
	p := sheet.Part{
		Title: "How far do features go?",
		Table: [][]string{{"element", "ratio", "interval", "there and back", "worst"}},
		Notes: []string{
			"Ratio: how far an element takes features, over how far two objects are apart. 0: they stay; 1: nothing " +
				"is left of the object. There and back: what resampling alone does. Worst: the sample that goes " +
				"furthest.",
		},
	}
	for _, t := range m.largest() {
		floor := "nothing resampled"
		if t.Floor != nil {
			floor = t.Floor.text()
		}
		p.Table = append(p.Table, []string{
			t.Element, t.Ratio.text(), t.Ratio.interval(), floor,
			fmt.Sprintf("%s: %s", t.Worst, figure(float64(t.WorstRatio))),
		})
	}
	if m.apart() != nil { // they decide
		p.Table[0] = append(p.Table[0], "nearer than others", "interval")
		for k, t := range m.largest() {
			p.Table[k+1] = append(p.Table[k+1], t.AUC.text(), t.AUC.interval())
		}
		p.Notes = append(p.Notes, "Nearer than others: the probability that a sample is nearer to itself moved than "+
			"two objects are to each other; 0.5: as often as not.")
	}
	if n := len(m.Transformations) - mostRows; n > 0 {
		p.Notes = append(p.Notes, words.Plural(n, "element", "elements")+
			" that take features less far are left out here; the JSON has all.")
	}
	return p
}

// alike says how features before and after elements are correlated.
func (m *Model) alike() sheet.Part {
	p := sheet.Part{
		Title: "How alike are features before and after?",
		Table: [][]string{{"element", "cosine", "interval", "own", "interval", "others", "interval"}},
		Notes: []string{
			"Cosine: of features before and after, less the mean of all. Own: mean correlation of a unit with " +
				"itself; others: mean square of that with another unit, less what chance makes of it, so that it may " +
				"be a little below 0.",
		},
	}
	for _, t := range m.largest() {
		p.Table = append(p.Table, []string{
			t.Element, t.Cosine.text(), t.Cosine.interval(), t.Diagonal.text(), t.Diagonal.interval(),
			t.OffDiagonal.text(), t.OffDiagonal.interval(),
		})
	}
	return p
}

func (m *Model) maps() sheet.Part {
	p := sheet.Part{
		Title: "Does a linear map say where features go?",
		Table: [][]string{{"element", "R²", "interval"}},
	}
	by := map[string]MapOf{}
	for _, x := range m.Maps.By {
		by[x.Element] = x
	}
	for _, t := range m.largest() {
		x := by[t.Element]
		p.Table = append(p.Table, []string{x.Element, x.R2.text(), x.R2.interval()})
	}
	p.Notes = append(p.Notes, "R²: the share of the variance of features after the element that a map explains, on "+
		"objects that it was not fitted to.")
	if h := m.Maps.Homomorphism; h != nil {
		p.Text = append(p.Text, fmt.Sprintf("The maps compose as their elements do up to %s, over %s (0: exactly).",
			figure(float64(*h)), words.Plural(m.Maps.Products, "product", "products")))
	}
	if r := m.Retrieval; r != nil {
		p.Text = append(p.Text, "The right view of an object among its views: "+r.text()+".")
	}
	if x := m.Pose; x != nil {
		p.Text = append(p.Text, x.sentence("The features"))
	}
	return p
}

// text is a retrieval in words.
func (r Retrieval) text() string {
	out := []string{fmt.Sprintf("MRR %s (%s), chance %s, %s candidates; first %s (%s)", r.MRR.text(), r.MRR.interval(),
		figure(float64(r.Chance)), strconv.FormatFloat(float64(r.Candidates), 'g', 4, 64),
		words.Percent(float64(r.H1.Value)), r.H1.percent())}
	for _, x := range []struct {
		k int
		h Estimate
	}{{5, r.H5}, {10, r.H10}} {
		if float64(r.Candidates) > float64(x.k) { // else all are
			out = append(out, fmt.Sprintf("among %d %s (%s)", x.k, words.Percent(float64(x.h.Value)), x.h.percent()))
		}
	}
	return strings.Join(out, ", ")
}

// sentence says how well the element is read off.
func (p Pose) sentence(of string) string {
	out := fmt.Sprintf("%s say the element (%s) with R² %s (%s)", of, p.Of, p.R2.text(), p.R2.interval())
	if !math.IsNaN(float64(p.PRE.Value)) {
		out += fmt.Sprintf("; sin² of half the angle that is missed: %s (%s), chance %s", p.PRE.text(),
			p.PRE.interval(), figure(float64(p.Chance)))
	}
	return out + "."
}

func (s *Split) part() sheet.Part {
	p := sheet.Part{
		Title: "Which directions hold the object, which its pose?",
		Text: []string{fmt.Sprintf("Of %s, %s (%s), %s (%s), %s (%s).",
			words.Plural(len(s.Mu), "direction", "directions"), counted(s.Invariant, "stays", "stay"),
			s.Invariant.whole(), counted(s.Moving, "holds no object", "hold no object"), s.Moving.whole(),
			counted(s.Pose, "is the same for every object", "are the same for every object"), s.Pose.whole())},
		Table: [][]string{{"part", "directions", "same object", "interval", "chance", "element R²", "interval"}},
		Notes: []string{
			"Stay: less than 5% of the variance lies within orbits. Hold no object: more than 95% does. Same object: " +
				"the share of the nearest other views that show it. What an invariant part knows of the element, and " +
				"what a part that is the same for every object knows of the object, has leaked.",
		},
	}
	for _, l := range s.Leakage {
		p.Table = append(p.Table, []string{
			l.Part, strconv.Itoa(l.Directions), l.Identity.text(), l.Identity.interval(), figure(float64(l.Chance)),
			l.Element.R2.text(), l.Element.R2.interval(),
		})
	}
	return p
}

// counted is a count with what so many do.
func counted(e Estimate, one, many string) string { return words.Plural(int(e.Value), one, many) }

// whole is an interval of counts.
func (e Estimate) whole() string {
	if e.interval() == "any" {
		return "any"
	}
	return strconv.Itoa(int(e.Low)) + " to " + strconv.Itoa(int(e.High))
}

// nothing tells whether a fit is no better than the mean where it was not fitted.
func nothing(r2 Estimate) bool { return float64(r2.Value) <= 0 }

func (g *Generators) part() sheet.Part {
	var turns []string
	for _, f := range g.Frequencies {
		turns = append(turns, fmt.Sprintf("%s (%s)", f.text(), f.interval()))
	}
	p := sheet.Part{
		Title: "Does one generator move features along the whole group?",
		Text: []string{
			fmt.Sprintf("One matrix for %s explains R² %s (%s) of features at %s that it was not fitted to, and %s at "+
				"the %d others; a map for each element %s.", g.Of, g.R2Unseen.text(), g.R2Unseen.interval(),
				words.Plural(g.Unseen, "element", "elements"), g.R2Seen.text(), g.Fitted, g.R2Ridge.text()),
			fmt.Sprintf("Frequencies (side fit): %s. Largest growth %s, in 1/%s.", strings.Join(turns, ", "),
				figure(float64(g.Growth)), g.Unit),
		},
		Notes: []string{fmt.Sprintf("It moves the %s along which features vary most, which hold %s of the variance.",
			words.Plural(g.Axes, "direction", "directions"), words.Percent(float64(g.Held)))},
	}
	if nothing(g.R2Unseen) {
		p.Text[1] = "It explains no more than the mean of the features does, so that how fast its planes turn says " +
			"nothing."
		return p
	}
	if most := float64(g.Most); !math.IsNaN(most) && most > 0 {
		p.Notes = append(p.Notes, fmt.Sprintf("Planes that turn %s times as fast as the input, or faster, look slower "+
			"than they are: the smallest step that was asked takes them half a turn on.", words.Figures(most)))
	}
	if g.Period != nil {
		p.Text = append(p.Text, fmt.Sprintf("After a whole period it is off the identity by %s (0: exactly back).",
			figure(float64(*g.Period))))
	}
	return p
}

func (a *Against) parts() []sheet.Part {
	if a.Why != "" {
		return []sheet.Part{{Title: "Against " + a.Model, Text: []string{a.Sentence}}}
	}
	maps := sheet.Part{
		Title: "Against " + a.Model + ": " + a.space(),
		Table: [][]string{
			{"old features out of new ones by", "R²", "interval"},
			{"a turn and a shift", a.R2Isometry.text(), a.R2Isometry.interval()},
			{"that and a factor", a.R2Similarity.text(), a.R2Similarity.interval()},
			{"an affine map", a.R2Affine.text(), a.R2Affine.interval()},
			{"new out of old by an affine map", a.R2Back.text(), a.R2Back.interval()},
		},
		Text: []string{
			fmt.Sprintf("%s of %s, %s numbers a sample. Debiased linear CKA %s (%s), of %s.", a.Value, a.Model,
				words.Count(a.Width), a.CKA.text(), a.CKA.interval(), words.Plural(a.N, "sample", "samples")),
			fmt.Sprintf("Places among %s: cosine %s (%s), shared neighbors %s (%s), %s.",
				words.Plural(a.Relative.Anchors, "anchor", "anchors"), a.Relative.Cosine.text(),
				a.Relative.Cosine.interval(), a.Relative.Jaccard.text(), a.Relative.Jaccard.interval(),
				a.Relative.MRR.text()),
		},
		Notes: []string{fmt.Sprintf("The largest singular value of the affine map is %s times the smallest.",
			words.Figures(elementary.Exp(float64(a.Spread))))},
	}
	if a.R2Plain != nil {
		as := []string{"nothing: as they are", a.R2Plain.text(), a.R2Plain.interval()}
		maps.Table = slices.Insert(maps.Table, 1, as)
	}
	index := sheet.Part{
		Title: "Can it read the old index?",
		Table: [][]string{{
			"adapter", "recall at", "new", "interval", "old", "interval", "chance", "difference", "interval", "",
		}},
	}
	for _, r := range a.Backward {
		index.Table = append(index.Table, []string{
			r.Adapter, strconv.Itoa(r.K), r.New.text(), r.New.interval(), r.Old.text(), r.Old.interval(),
			figure(float64(r.Chance)), r.Difference.text(), r.Difference.interval(), r.State,
		})
		index.Notes = []string{fmt.Sprintf("Recall: the share of objects of which something with %s is among so many "+
			"of the nearest of %s old features. Compatible: the interval begins above −0.05, and old features find "+
			"more than a guess does; worse: it ends below 0.", r.Right, words.Count(r.Candidates))}
	}
	if len(a.Backward) == 0 {
		return []sheet.Part{maps}
	}
	return []sheet.Part{maps, index}
}

func (r *Report) how() sheet.Part {
	if r.Samples.Fit == 0 { // nothing was learned
		return sheet.Part{Title: "How it was asked", Text: []string{fmt.Sprintf("%s; %s. %s of %s; nothing was "+
			"fitted. Intervals of %s over things, seed %d%s.", words.Plural(len(r.Elements), "view", "views"),
			r.Measure, words.Plural(r.Samples.Confirm, "input", "inputs"),
			words.Plural(r.Samples.Objects, "thing", "things"), words.Percent(float64(r.Confidence)), r.Seed,
			r.by())}}
	}
	return sheet.Part{Title: "How it was asked", Text: []string{fmt.Sprintf(
		"%s under %s: %s. Numbers are of %s on the side confirm (%s); maps and directions were fitted to %s, "+
			"penalties chosen on %s. Intervals of %s over objects, seed %d%s.",
		words.Plural(len(r.Elements), "element", "elements"), r.Group, r.Measure,
		words.Plural(r.Samples.Confirm, "sample", "samples"), words.Plural(r.Samples.Objects, "object", "objects"),
		words.Count(r.Samples.Fit), words.Count(r.Samples.Choose), words.Percent(float64(r.Confidence)), r.Seed,
		r.by(),
	)}}
}

// by names the engines that computed features, for the end of a sentence.
func (r *Report) by() string {
	var all []string
	for _, m := range r.Models {
		if m.Engine != "" && !slices.Contains(all, m.Engine) {
			all = append(all, m.Engine)
		}
	}
	if len(all) == 0 {
		return ""
	}
	return ", engine " + words.List(all)
}
