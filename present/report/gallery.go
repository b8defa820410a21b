package report

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"image"
	"image/png"
	"math"
	"slices"
	"strconv"
	"strings"

	"nero/present/table"
	"nero/present/words"
)

// Bounds of what a page lists of the worst inputs and of classes.
const (
	mostTaken  = 12 // pairs of classes
	mostMatrix = 12 // classes of a table
	thumbSide  = 96 // least side of a small picture, by whole factors
)

// Case is an input at the element at which a model is worst on it.
type Case struct {
	Sample string
	// Class is that of the data, Element where the input is moved to, For the model that is worst there.
	Class, Element, For string
	// Rest and Moved are the input as it is and as it was fed; nil where it has no picture.
	Rest, Moved image.Image
	// one per model
	Said []Said
}

// Said is what a model answers to an input.
type Said struct {
	Model string
	// classes, "" where it answers none
	Rest, Moved string
	// values of the leading metric, NaN where there is none
	RestValue, MovedValue float64
}

// Taken is what moved samples are taken for by one model.
type Taken struct {
	Model string
	// Self says that classes are those of the model's own answer at rest, and not those of the data.
	Self       bool
	Confidence float64
	// Classes are those that samples belong to, in their order, N how many do.
	Classes []string
	N       []int
	// Entries are those that ever occur, the largest share first.
	Entries []TakenEntry
}

// TakenEntry is how often samples of one class are taken for another, or for itself: a share of the elements but the
// identity, with its interval.
type TakenEntry struct {
	From, To      string
	Share, Lo, Hi float64
	// Samples is with how many it ever happens, Sample and Element where it happens most.
	Samples         int
	Sample, Element string
}

// casePicture is the name of a picture of a case.
func casePicture(k int, what string) string {
	return fmt.Sprintf("pictures/worst-%02d-%s.png", k+1, what)
}

// enlarged is a picture whose pixels are repeated until it can be seen.
func enlarged(m image.Image) image.Image {
	b := m.Bounds()
	by := max(1, (thumbSide+max(b.Dx(), b.Dy(), 1)-1)/max(b.Dx(), b.Dy(), 1))
	o := image.NewRGBA(image.Rect(0, 0, b.Dx()*by, b.Dy()*by))
	for y := range b.Dy() * by {
		for x := range b.Dx() * by {
			o.Set(x, y, m.At(b.Min.X+x/by, b.Min.Y+y/by))
		}
	}
	return o
}

// cases are the pictures of the worst inputs as files.
func (p *page) cases(put func(name string, b []byte) error) ([]string, error) {
	var files []string
	for k, c := range p.in.Worst {
		for what, m := range map[string]image.Image{"rest": c.Rest, "moved": c.Moved} {
			if m == nil {
				continue
			}
			var b bytes.Buffer
			if err := png.Encode(&b, enlarged(m)); err != nil {
				return nil, fmt.Errorf("picture of sample %s: %w", c.Sample, err)
			}
			if err := put(casePicture(k, what), b.Bytes()); err != nil {
				return nil, err
			}
			files = append(files, casePicture(k, what))
		}
	}
	slices.Sort(files) // the order of a map is no order
	return files, nil
}

// worstCSV is the worst inputs as a table: one row per model.
func (p *page) worstCSV() ([]byte, error) {
	var b bytes.Buffer
	c := csv.NewWriter(&b)
	lines := [][]string{{
		"sample", "class", "element", "worst_for", "metric", "model", "answer_rest", "answer_moved", "value_rest",
		"value_moved",
	}}
	number := func(v float64) string {
		if math.IsNaN(v) {
			return ""
		}
		return strconv.FormatFloat(v, 'g', -1, 32)
	}
	for _, w := range p.in.Worst {
		for _, s := range w.Said {
			lines = append(lines, []string{
				table.Plain(w.Sample), table.Plain(w.Class), w.Element, table.Plain(w.For), p.s.Metrics[p.lead].Name,
				table.Plain(s.Model), table.Plain(s.Rest), table.Plain(s.Moved), number(s.RestValue),
				number(s.MovedValue),
			})
		}
	}
	err := c.WriteAll(lines) // flushes
	return b.Bytes(), err
}

// turned is an answer at rest and when moved, in words.
func (s *Said) turned() string {
	switch {
	case s.Moved == "":
		return ""
	case s.Rest == "" || s.Rest == s.Moved:
		return words.Markdown(s.Moved) + ", "
	}
	return words.Markdown(s.Rest) + " → " + words.Markdown(s.Moved) + ", "
}

// worstSection shows the worst inputs as they are and moved, with what every model says.
func (p *page) worstSection(w *writer) {
	if len(p.in.Worst) == 0 {
		return
	}
	w.p("## Worst inputs")
	w.p("The inputs with the %s %s anywhere on their orbit, for each model in turn: as they are, as the models were "+
		"fed them at that element, and what each model says of them, at rest → moved. The numbers are in "+
		"[worst.csv](worst.csv).",
		p.lowest(p.lead), p.words(p.lead))
	var rows [][]string
	for k, c := range p.in.Worst {
		name := c.Sample
		if c.Class != "" {
			name += ", class " + c.Class
		}
		show := func(m image.Image, what, alt string) string {
			if m == nil {
				return "–"
			}
			return fmt.Sprintf("![%s](%s)", words.Markdown(alt), casePicture(k, what))
		}
		var said []string
		for _, s := range c.Said {
			said = append(said, fmt.Sprintf("%s: %s%s → %s", words.Markdown(s.Model), s.turned(),
				words.Number(s.RestValue), words.Number(s.MovedValue)))
		}
		rows = append(rows, []string{
			words.Markdown(name), show(c.Rest, "rest", "Input "+name+", as it is"),
			show(c.Moved, "moved", "Input "+name+", moved to "+c.Element), words.Markdown(c.Element),
			words.Markdown(c.For), strings.Join(said, "<br>"),
		})
	}
	w.table(false, []string{"input", "as it is", "moved", "to", "worst for", "what the models say"}, rows)
}

// percent is a share in words.
func percent(v float64) string {
	switch {
	case math.IsNaN(v):
		return "–"
	case v > 0 && v < 0.001:
		return "< 0.1 %"
	case v < 0.0995:
		return fmt.Sprintf("%.1f %%", 100*v)
	}
	return fmt.Sprintf("%.0f %%", 100*v)
}

// takenSection says which classes turn into which, as a list and as a table.
func (p *page) takenSection(w *writer) {
	shown := false
	for i := range p.in.Taken {
		t := &p.in.Taken[i]
		if len(t.Classes) == 0 {
			continue
		}
		if !shown {
			shown = true
			w.p("## What moved inputs are taken for")
			w.p("Shares of the elements but the identity, as a mean over samples, with %g %% intervals clustered by "+
				"sample. All of them are in [confusion.csv](confusion.csv).", 100*t.Confidence)
		}
		by := "label"
		if t.Self {
			by = "answer at rest"
		}
		w.p("### %s, by %s", words.Markdown(t.Model), by)
		var items []string
		of := map[string]int{}
		for k, c := range t.Classes {
			of[c] = t.N[k]
		}
		share := map[[2]string]float64{}
		columns := slices.Clone(t.Classes)
		for _, e := range t.Entries {
			share[[2]string{e.From, e.To}] = e.Share
			if !slices.Contains(columns, e.To) {
				columns = append(columns, e.To)
			}
			if e.From != e.To && len(items) < mostTaken {
				items = append(items, fmt.Sprintf("**%s** taken for **%s** at **%s** of the orbit [%s, %s], "+
					"with %d of %s; most with %s at %s", words.Markdown(e.From), words.Markdown(e.To),
					percent(e.Share), percent(e.Lo), percent(e.Hi), e.Samples,
					words.Plural(of[e.From], "sample", "samples"), words.Markdown(e.Sample),
					words.Markdown(e.Element)))
			}
		}
		if len(items) == 0 {
			w.p("No sample is taken for another class at any element.")
			continue
		}
		w.list(items)
		if len(columns) > mostMatrix {
			continue
		}
		head := []string{by + " ↓, moved →, %"}
		for _, c := range columns {
			head = append(head, words.Markdown(c))
		}
		var rows [][]string
		for _, from := range t.Classes {
			row := []string{words.Markdown(from)}
			for _, to := range columns {
				cell := ""
				if v, ok := share[[2]string{from, to}]; ok {
					cell = fmt.Sprintf("%.0f", 100*v)
				}
				row = append(row, cell)
			}
			rows = append(rows, row)
		}
		w.table(true, head, rows)
	}
}
