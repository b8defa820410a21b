package discover

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"nero/data/space"
	"nero/discover/finite"
	"nero/present/words"
	"nero/symmetry/group"
	"nero/symmetry/group/catalog"
)

// permutations asks for exchanges and changes of sign.
var permutations = Part{
	Name: "finite",
	Doc:  "which permutations and sign flips of numbers, rows or channels leave the answer as it is, or permute it",
	Run: func(ctx context.Context, s *Subject) (Section, error) {
		p, err := permute(ctx, s)
		if err != nil {
			return nil, err
		}
		return p, nil
	},
	Blank: func() Section { return &Permutations{} },
}

// Permutations is what a search for permutations found.
type Permutations struct {
	// Samples are those to fit that it asked at, and Left those that have another size than most.
	Samples int `json:"samples"`
	Left    int `json:"left,omitempty"`
	// Of says what an item is: "number", "row" or "channel", of the input's fields of these names.
	Of     string   `json:"of"`
	Fields []string `json:"fields"`
	// Result is what was found.
	Result *finite.Result `json:"result"`

	s *Subject
}

// items are what changes places: places of numbers, for each thing.
type items struct {
	of     string
	fields []string
	places [][]int
	// signs says that a flip of them makes sense
	signs bool
}

// itemsOf finds what may change places: the numbers of a vector, the rows of all nodes together, the channels of a
// picture or a signal.
func itemsOf(in space.Spec, like space.Value) items {
	var numbers, rows, channels items
	numbers.of, rows.of, channels.of = "number", "row", "channel"
	numbers.signs = true
	at := 0
	for _, leaf := range in.Leaves() {
		v := like
		if in.IsRecord() {
			v = space.FieldOf(like, leaf.Name)
		}
		n := len(v.Numbers())
		switch {
		case vector(in, leaf) == n && n > 0:
			numbers.fields = append(numbers.fields, leaf.Name)
			for i := range n {
				numbers.places = append(numbers.places, []int{at + i})
			}
		case leaf.OfNodes() && space.RowsOf(v) != nil:
			count := in.Members(like)
			if count < 1 || n%count != 0 {
				break
			}
			rows.fields = append(rows.fields, leaf.Name)
			for len(rows.places) < count {
				rows.places = append(rows.places, nil)
			}
			for i := range n {
				rows.places[i/(n/count)] = append(rows.places[i/(n/count)], at+i)
			}
		default:
			c := 0
			if x, ok := v.(channelled); ok {
				c, channels.signs = x.Columns(), true
			} else if t, k, _, _, ok := leaf.Pictures(); ok && t == 0 {
				c = k
			}
			if c < 1 || n%c != 0 || len(channels.places) > 0 {
				break
			}
			channels.fields = append(channels.fields, leaf.Name)
			for k := range c {
				var p []int
				for i := range n / c {
					p = append(p, at+k*(n/c)+i)
				}
				channels.places = append(channels.places, p)
			}
		}
		at += n
	}
	for _, some := range []items{rows, numbers, channels} {
		if len(some.places) > 1 || some.signs && len(some.places) > 0 {
			return some
		}
	}
	return items{}
}

func permute(ctx context.Context, s *Subject) (*Permutations, error) {
	samples, left := sized(s.Fit)
	if len(samples) == 0 {
		return nil, fmt.Errorf("%w: no samples to fit", ErrOpen)
	}
	for _, leaf := range s.In.Leaves() {
		v := samples[0].Value
		if s.In.IsRecord() {
			v = space.FieldOf(v, leaf.Name)
		}
		if leaf.Per == space.PerEdge || leaf.OfNodes() && space.RowsOf(v) == nil || s.In.IsRecord() && !leaf.Lined() {
			return nil, fmt.Errorf("%w: %q is no list of rows: what belongs to edges moves with nodes, which "+
				"the scan asks about", ErrOpen, leaf.Name)
		}
	}
	some := itemsOf(s.In, samples[0].Value)
	if len(some.places) == 0 {
		return nil, fmt.Errorf("%w: inputs of kind %s have nothing that changes places", ErrOpen, s.In.Kind)
	}
	answers, err := s.Predict(ctx, []space.Value{samples[0].Value})
	if errors.Is(err, ErrBudget) {
		return nil, fmt.Errorf("%w: %w", ErrOpen, err)
	}
	if err != nil {
		return nil, err
	}
	flat := s.Flatten(samples[0].Value, answers[0])
	var x [][]float64
	for _, v := range samples {
		x = append(x, v.Value.Numbers())
	}
	const most, permuted = 200_000, 64
	// Large inputs belong to models that take long.
	budget := min(most, max(5000, 20_000_000/max(flat.In, 1)), s.Left())
	r, err := finite.Find(ctx, finite.Function{In: flat.In, Out: flat.Out, At: flat.At}, x, finite.Options{
		Items: some.places, Signs: some.signs, Outputs: flat.Out > 1 && flat.Out <= permuted, Evaluations: budget,
		Seed: s.Seed,
	})
	if errors.Is(err, finite.ErrOpen) {
		return nil, fmt.Errorf("%w: %s", ErrOpen, reason(err, finite.ErrOpen))
	}
	if err != nil {
		return nil, err
	}
	return &Permutations{
		Samples: len(samples), Left: left, Of: some.of, Fields: some.fields, Result: r, s: s,
	}, nil
}

// Page is the search for people.
func (p *Permutations) Page() Page {
	r := p.Result
	least := ""
	if r.AtLeast {
		least = "at least "
	}
	page := Page{Answer: fmt.Sprintf("permutations of %ss: %s%s", p.Of, least, r.Name)}
	if r.Order != "1" && !strings.Contains(r.Name, "order") {
		page.Answer += ", of order " + r.Order
	}
	page.Lines = append(page.Lines, fmt.Sprintf("Numbers are of %s to fit. %s of %s were looked at with %s; a "+
		"symmetry is off "+
		"by at most %s of what the answer varies by, at each of 64 inputs.",
		words.Plural(p.Samples, "sample", "samples"), words.Capital(words.Plural(r.Items, p.Of, p.Of+"s")),
		strings.Join(p.Fields, ", "), words.Plural(r.Evaluations, "prediction", "predictions"), words.Figures(r.Limit)))
	if r.AtLeast {
		page.Lines = append(page.Lines, "This is a bound: "+r.Why+".")
	}
	if len(r.Ignored) > 0 {
		page.Lines = append(page.Lines, fmt.Sprintf("The model does not look at %s.", listed(r.Ignored)))
	}
	for _, o := range r.Orbits {
		page.Lines = append(page.Lines, fmt.Sprintf("%ss %s go to each other's places.", words.Capital(p.Of),
			listed(o)))
	}
	t := Table{Title: "Generators", Head: []string{"permutation", "error"}}
	if r.Outputs {
		t.Head = []string{"permutation", "answers", "error"}
	}
	const shown = 8
	for _, e := range r.Generators[:min(len(r.Generators), shown)] {
		row := []string{shortened(e.Cycles)}
		if r.Outputs {
			row = append(row, p.answers(e))
		}
		t.Rows = append(t.Rows, append(row, words.Figures(e.Error)))
	}
	if len(t.Rows) > 0 {
		page.Tables = append(page.Tables, t)
	}
	if n := len(r.Generators) - shown; n > 0 {
		page.Lines = append(page.Lines, words.Plural(n, "generator", "generators")+" more are in the JSON.")
	}
	return page
}

// shortened is the beginning of a permutation that has many cycles or long ones; the JSON has all of it.
func shortened(cycles string) string {
	const longest = 60
	if len(cycles) <= longest {
		return cycles
	}
	to := strings.LastIndexAny(cycles[:longest], " )")
	return strings.TrimRight(cycles[:to+1], " ") + " …"
}

// answers says where answers go.
func (*Permutations) answers(e finite.Element) string {
	var moved []string
	for i, to := range e.Answers {
		if to != i+1 {
			moved = append(moved, fmt.Sprintf("%d to %d", i+1, to))
		}
	}
	if len(moved) == 0 {
		return "stay"
	}
	return strings.Join(moved, ", ")
}

func listed(items []int) string {
	if n := len(items); n > 3 && items[n-1]-items[0] == n-1 {
		return fmt.Sprintf("%d to %d", items[0], items[n-1])
	}
	var out []string
	for _, i := range items {
		out = append(out, strconv.Itoa(i))
	}
	return strings.Join(out, ", ")
}

// Hypotheses is the group, where a study can say it and the answers stay.
func (p *Permutations) Hypotheses() []Hypothesis {
	r := p.Result
	stay := true
	for _, e := range r.Generators {
		stay = stay && p.answers(e) == "stay"
	}
	if r.Order == "1" || !stay {
		return nil
	}
	c := &catalogue{s: p.s}
	var f family
	var err error
	switch {
	case p.Of == "row" && r.Name == fmt.Sprintf("S%d", r.Items):
		var g group.Group
		if g, err = catalog.Symmetric(r.Items); err == nil {
			f, err = c.of(g, "permutations of the rows")
		}
	case p.Of == "number" && len(p.Fields) == 1 && len(r.Order) <= 3: // a study lists the elements
		title := plainName(strings.ReplaceAll(cmp.Or(strings.SplitN(r.Name, ":", 2)[0], "group"), " ", "-"))
		var b strings.Builder
		fmt.Fprintf(&b, "name: %s\nmatrices:\n", title)
		for _, e := range r.Generators {
			m := make([][]float64, r.Items)
			for i := range m {
				m[i] = make([]float64, r.Items)
			}
			for i, to := range e.Images {
				if to > 0 {
					m[to-1][i] = 1
				} else {
					m[-to-1][i] = -1
				}
			}
			fmt.Fprintf(&b, "  - %s\n", matrixText(m))
		}
		f, err = c.matrixFamily(title, "permutations of numbers", p.Fields[0], func() (group.Group, string, error) {
			return load(b.String())
		})
	default:
		return nil
	}
	if err != nil {
		return nil // no group of a study says it
	}
	h := finding{family: &f}.claim([]*Row{{stays: true}}, 1)
	h.Claim = fmt.Sprintf("%s of %ss: the answer stays", r.Name, p.Of)
	h.Part, h.Word = permutations.Name, Holds
	return []Hypothesis{h}
}
