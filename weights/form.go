package weights

import (
	"fmt"
	"strconv"
	"strings"

	"nero/present/sheet"
	"nero/present/words"
)

// Forms are all ways to write a report, the first that of a terminal.
func Forms() []*sheet.Form[*Report] { return sheet.Forms((*Report).sheet) }

// Schema is the schema of what [Report] is in JSON.
func Schema() ([]byte, error) { return sheet.Schema("weights", FormatNumber, &Report{}) }

// sheet is what people read.
func (r *Report) sheet() *sheet.Sheet {
	return &sheet.Sheet{Title: "Weights", Answer: []string{r.Sentence}, Parts: r.parts()}
}

// parts are what all forms for people show.
func (r *Report) parts() []sheet.Part {
	var all []sheet.Part
	if r.Aligned != nil {
		all = append(all, r.Aligned.parts()...)
	}
	if r.Canonical != nil {
		all = append(all, r.Canonical.part())
	}
	if len(r.Symmetries) > 0 {
		all = append(all, r.symmetries())
	}
	all = append(all, r.axes())
	if len(r.Gaps) > 0 {
		p := sheet.Part{
			Title: "Not looked into", Text: []string{"What these nodes read and make is taken to stay as it is."},
			Table: [][]string{{"node", "operator", "why"}},
		}
		for _, g := range r.Gaps {
			p.Table = append(p.Table, []string{g.Node, g.Op, g.Why})
		}
		all = append(all, p)
	}
	return append(all, r.how())
}

func (r *Report) symmetries() sheet.Part {
	p := sheet.Part{
		Title: "Symmetries", Text: []string{"Each was applied with a random element; the error is the largest change " +
			"of an answer over the centred scale of the output."},
		Table: [][]string{{"what", "where", "units", "error", "state"}},
	}
	for _, s := range r.Symmetries {
		where := s.Where
		if s.Before != "" {
			where += " before " + s.Before
		}
		n := strconv.Itoa(s.Units)
		if s.Blocks > 1 {
			n += " in each of " + strconv.Itoa(s.Blocks)
		}
		p.Table = append(p.Table, []string{s.Kind, where, n, s.text(), s.note()})
	}
	return p
}

// text is an error in words.
func (a Apart) text() string {
	switch {
	case a.Bad != "":
		return "undefined"
	case a.Equal:
		return "0, bit for bit"
	case a.At != "":
		return words.Figures(float64(a.Error)) + " at " + a.At
	}
	return words.Figures(float64(a.Error))
}

// note is the state with what belongs to it.
func (s *Symmetry) note() string {
	text := string(s.State)
	if s.UpTo == upToEpsilon {
		text += ", up to epsilon " + words.Figures(float64(s.Epsilon))
	}
	if s.Radial != nil {
		text += ", gradient along the weights " + words.Figures(float64(*s.Radial))
	}
	if s.Alone != nil {
		text += "; the weights alone: " + s.Alone.text()
	}
	if s.Why != "" {
		text += " (" + s.Why + ")"
	}
	return text
}

func (r *Report) axes() sheet.Part {
	p := sheet.Part{Title: "Axes", Table: [][]string{{"axis", "first at", "units", "stored tensors", "blocks"}}}
	stay := map[string]int{}
	var order []string
	for _, a := range r.Axes {
		if a.Fixed != "" {
			if stay[a.Fixed]++; stay[a.Fixed] == 1 {
				order = append(order, a.Fixed)
			}
			continue
		}
		blocks := ""
		if a.Blocks > 1 {
			blocks = fmt.Sprintf("in each of %d of axis %s", a.Blocks, strings.Trim(fmt.Sprint(a.Within), "[]"))
		}
		p.Table = append(p.Table, []string{
			strconv.Itoa(a.Index), a.Name, strconv.Itoa(a.Units), strconv.Itoa(len(a.Stored)), blocks,
		})
	}
	if len(p.Table) == 1 {
		p.Table = nil
	}
	for _, why := range order {
		p.Text = append(p.Text, fmt.Sprintf("%s: %s.", words.Plural(stay[why], "axis keeps its order",
			"axes keep their order"), why))
	}
	return p
}

func (r *Report) how() sheet.Part {
	by := ""
	if r.Engine != "" {
		by = ", engine " + r.Engine
	}
	return sheet.Part{Title: "How it is judged", Text: []string{fmt.Sprintf(
		"%s, %s, seed %d%s. Scales are powers of two, which round nothing. A move holds where no answer moves by more "+
			"than %g of its scale, which is how far the answers to the probes are from their mean. A scale before a "+
			"normaliser is exact up to epsilon where the error stays as the scale grows, and grows with its square as "+
			"it falls.",
		words.Plural(r.Probes, "probe", "probes"), r.From, r.Seed, by, mostError,
	)}}
}
