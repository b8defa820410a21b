package decode

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"nero/data/tensor"
	"nero/model/onnx"
)

// row says where the numbers of a box stand in its row, -1 for those that are not there.
type row struct {
	box, score, label, object, scores, image int
	// numbers before or without scores
	fixed int
	names string
}

// rowOf reads BoxesSpec.Columns.
func rowOf(columns []string) (row, error) {
	r := row{-1, -1, -1, -1, -1, -1, 0, strings.Join(columns, " ")}
	if len(columns) == 0 {
		return r, nil
	}
	for i, c := range columns {
		at := map[string]*int{
			"box": &r.box, "score": &r.score, "label": &r.label, "object": &r.object,
			"scores": &r.scores, "image": &r.image,
		}[strings.ToLower(c)]
		switch {
		case strings.EqualFold(c, "skip"):
		case at == nil:
			return r, fmt.Errorf(
				"output.boxes.columns[%d]: %q is not known; say box, score, label, object, scores, image, skip", i, c)
		case *at >= 0:
			return r, fmt.Errorf("output.boxes.columns[%d]: %q stands there twice", i, c)
		case at == &r.scores && i != len(columns)-1:
			return r, fmt.Errorf("output.boxes.columns[%d]: scores, of which there is one per class, stand at the end",
				i)
		default:
			*at = r.fixed
		}
		switch {
		case at == &r.box:
			r.fixed += 4
		case at != &r.scores || at == nil:
			r.fixed++
		}
	}
	if r.box < 0 {
		return r, fmt.Errorf("output.boxes.columns: %v has no box; name its place", columns)
	}
	if (r.score < 0) == (r.scores < 0) {
		return r, fmt.Errorf(
			"output.boxes.columns: %v; want either score (one number, with label or a single class) or scores (one "+
				"per class)", columns)
	}
	if r.label >= 0 && r.scores >= 0 {
		return r, fmt.Errorf("output.boxes.columns: %v; a label goes with one score, not with one per class", columns)
	}
	return r, nil
}

// samples says how an output tells the samples of a batch apart.
type samples int

const (
	batched samples = iota // by its first axis
	alone                  // not at all: there is one
	listed                 // by a column that holds the number of the sample
)

// arrangement says how the arrays of one part are read. Lengths that are not known before a run are below 0.
type arrangement struct {
	// false if the shapes do not tell yet
	known   bool
	samples samples
	// boxes, and numbers of one
	n, width int
	// boxes stand along the last axis
	flip bool
	row  row
	// numbers per box that are scores, the background included; 1 for a single score
	classes int
	// 0 if class numbers are given, by a column or an output; -1 if not
	labels int
	// of an output of scores
	flipScores bool
	note       string
}

// kinds is the number of scores of a box: one per class and one for the background; 0 if the study does not say.
func (b *boxes) kinds() int {
	switch {
	case b.Classes == 0:
		return 0
	case b.Background != "":
		return b.Classes + 1
	}
	return b.Classes
}

// suits tells whether rows of a width can be read in this order; exact says that nothing may be left over.
func (r row) suits(width, kinds int, exact bool) bool {
	want := r.fixed
	if r.scores >= 0 {
		want += max(kinds, 1)
	}
	return width == want || !exact && width > want
}

// readings are the orders in which rows of a width may be read with nothing left over.
func (b *boxes) readings(width int, flipped bool) []row {
	if width < 0 {
		return nil
	}
	k := b.kinds()
	var out []row
	try := func(ok bool, columns ...string) {
		if r, err := rowOf(columns); ok && err == nil && r.suits(width, k, true) {
			out = append(out, r)
		}
	}
	if len(b.given) > 0 {
		try(true, b.given...)
		return out
	}
	try(true, "box", "scores")
	try(k > 0, "box", "object", "scores")
	try(!flipped, "box", "score", "label") // lists that are left after a suppression have a row per box
	return out
}

// squeeze leaves out one axis of length 1 of four, which exporters put beside that of the boxes.
func squeeze(s []int) []int {
	if len(s) != 4 {
		return s
	}
	for _, k := range []int{1, 2} {
		if s[k] == 1 {
			return slices.Delete(slices.Clone(s), k, k+1)
		}
	}
	return s
}

// arrange finds out how a part is read from the shapes of its outputs, as declared (then some may not be known) or as
// returned.
func (b *boxes) arrange(p *BoxesPart, shape func(name string) ([]int, bool)) (arrangement, error) {
	full, ok := shape(p.Boxes)
	if !ok {
		return arrangement{}, nil
	}
	s := squeeze(full)
	what := fmt.Sprintf("output %s %s", p.Boxes, sizes(full))
	a := arrangement{known: true, labels: -1}
	switch len(s) {
	case 2:
		a.samples = alone
	case 3:
		s = s[1:]
	default:
		return a, fmt.Errorf(
			"%s has %d axes, which is no list of boxes; want [N, boxes, numbers]: name another in output.boxes.parts",
			what, len(full))
	}
	if p.Scores == "" {
		return b.arrangeRows(a, s, what)
	}
	return b.arrangeApart(a, p, s, what, shape)
}

// arrangeRows is arrange for rows that hold all about their box; s has two axes.
func (b *boxes) arrangeRows(a arrangement, s []int, what string) (arrangement, error) {
	rows, cols := b.readings(s[1], false), b.readings(s[0], true)
	if len(b.given) > 0 && len(rows)+len(cols) == 0 { // what follows the columns is ignored
		r, err := rowOf(b.given)
		if err != nil {
			return a, err
		}
		if s[1] >= 0 && r.suits(s[1], b.kinds(), false) {
			rows = []row{r}
		}
		if s[0] >= 0 && r.suits(s[0], b.kinds(), false) {
			cols = []row{r}
		}
		if len(rows)+len(cols) == 2 {
			return a, fmt.Errorf(
				"%s: both axes are longer than output.boxes.columns: %v; set output.boxes.classes, and skip for "+
					"columns to ignore", what, b.given)
		}
	}
	switch {
	case s[1] < 0 && len(cols) == 0 || s[0] < 0 && s[1] < 0: // the run will tell
		return arrangement{}, nil
	case len(rows) == 1 && len(cols) == 1 && rows[0].names == cols[0].names:
		a.note = what + ": both axes could count the boxes; the one before the last is taken"
		cols = nil
	}
	all := slices.Concat(rows, cols)
	if len(all) == 0 {
		return a, fmt.Errorf("%s: %w", what, b.unread(s))
	}
	if len(all) > 1 {
		var names []string
		for i, r := range all {
			n := "[" + strings.ReplaceAll(r.names, " ", ", ") + "]"
			if i >= len(rows) {
				n += " with boxes along the last axis"
			}
			names = append(names, n)
		}
		return a, fmt.Errorf("%s may be read as %s; set output.boxes.columns", what, strings.Join(names, " or as "))
	}
	a.row, a.flip = all[0], len(cols) == 1
	a.n, a.width = s[0], s[1]
	if a.flip {
		a.n, a.width = s[1], s[0]
	}
	if a.row.image >= 0 {
		a.samples = listed
	}
	a.classes = 1
	if a.row.scores >= 0 {
		if a.classes = b.kinds(); a.classes == 0 {
			a.classes = a.width - a.row.fixed
		}
	}
	if a.row.label >= 0 {
		a.labels = 0
	}
	if len(b.given) == 0 {
		where := "a row per box"
		if a.flip {
			where = "a column per box"
		}
		note := fmt.Sprintf("%s: %s with %s; set output.boxes.columns to change it", what, where,
			strings.ReplaceAll(a.row.names, " ", ", "))
		if a.note != "" {
			note = a.note + "; " + note
		}
		a.note = note
	}
	return a, b.checkBackground(a.classes, a.labels >= 0, what)
}

// checkBackground refuses a class of no object that leaves no other, or that nobody can tell.
func (b *boxes) checkBackground(classes int, labels bool, what string) error {
	if b.Background != "" && !labels && classes == 1 {
		return fmt.Errorf("%s has one score per box, which output.boxes.background leaves out; leave it unset", what)
	}
	if b.Background == "last" && labels && b.Classes == 0 {
		return fmt.Errorf("%s gives class numbers, and output.boxes.background: last does not say which of them; set "+
			"output.boxes.classes", what)
	}
	return nil
}

// unread explains why rows cannot be read; s has two axes.
func (b *boxes) unread(s []int) error {
	if len(b.given) > 0 {
		return fmt.Errorf("no axis is long enough for output.boxes.columns: %v with classes: %d; check both", b.given,
			b.Classes)
	}
	if k := b.kinds(); k > 0 {
		return fmt.Errorf("with output.boxes.classes: %d a box should have %d numbers (box and scores), %d (a "+
			"confidence between them), or 6 (box, score, label)%s; "+
			"set output.boxes.columns, or name outputs in output.boxes.parts", b.Classes, 4+k, 5+k,
			map[bool]string{true: ", one of them for the background"}[b.Background != ""])
	}
	w := min(s[0], s[1])
	if w < 4 {
		w = max(s[0], s[1])
	}
	if w == 4 {
		return errors.New("these are coordinates without a score; name the outputs of both in output.boxes.parts: " +
			"[{boxes: OUTPUT, scores: OUTPUT}]")
	}
	if w < 4 {
		return errors.New("that is no box with a score; name outputs in output.boxes.parts")
	}
	return fmt.Errorf("%d numbers may be a box and scores of %d classes, or of %d with a confidence between them; "+
		"set output.boxes.classes or output.boxes.columns", w, w-4, w-5)
}

// arrangeApart is arrange for coordinates and scores in outputs of their own; s are the two axes of the coordinates.
func (b *boxes) arrangeApart(a arrangement, p *BoxesPart, s []int, what string,
	shape func(string) ([]int, bool),
) (arrangement, error) {
	full, ok := shape(p.Scores)
	if !ok {
		return arrangement{}, nil
	}
	whatScores := fmt.Sprintf("output %s %s", p.Scores, sizes(full))
	t, err := inner(full, a.samples, whatScores)
	if err != nil {
		return a, err
	}
	same := func(x, y int) bool { return x < 0 || y < 0 || x == y }
	// The coordinates stand in rows where the last axis is long enough for them and the other agrees with the scores.
	row := (s[1] < 0 || s[1] >= 4) && slices.ContainsFunc(t, func(n int) bool { return same(n, s[0]) })
	col := (s[0] < 0 || s[0] >= 4) && slices.ContainsFunc(t, func(n int) bool { return same(n, s[1]) })
	switch {
	case row && (s[1] == 4 || !col || s[0] != 4):
	case col:
		a.flip = true
	default:
		return a, fmt.Errorf(
			"%s and %s do not belong together: want coordinates [N, boxes, 4] and scores [N, boxes, classes]; check "+
				"output.boxes.parts", what, whatScores)
	}
	a.n, a.width = s[0], s[1]
	if a.flip {
		a.n, a.width = s[1], s[0]
	}
	if a.width > 4 {
		a.note = fmt.Sprintf("%s has %d numbers per box; the first 4 are read", what, a.width)
	}
	a.classes = 1
	if len(t) == 2 {
		k := b.kinds()
		a.classes = t[1]
		if !same(t[0], a.n) || k > 0 && !same(t[1], k) && same(t[0], k) && same(t[1], a.n) {
			a.flipScores, a.classes = true, t[0]
		}
		if k > 0 && p.Labels == "" && !same(a.classes, k) {
			hint := ""
			if b.Background == "" && a.classes == k+1 {
				hint = ", or output.boxes.background if one of them means no object"
			}
			return a, fmt.Errorf("%s has %d scores per box, output.boxes.classes is %d; change it%s", whatScores,
				a.classes, b.Classes, hint)
		}
	}
	if a.n < 0 {
		a.n = t[0]
		if a.flipScores {
			a.n = t[1]
		}
	}
	for _, o := range []string{p.Object, p.Labels} {
		if o == "" {
			continue
		}
		full, ok := shape(o)
		if !ok {
			continue
		}
		what := fmt.Sprintf("output %s %s", o, sizes(full))
		t, err := inner(full, a.samples, what)
		if err != nil {
			return a, err
		}
		if !same(t[0], a.n) || len(t) == 2 && !same(t[1], 1) {
			return a, fmt.Errorf("%s wants one number for each of %s boxes; check output.boxes.parts", what, any1(a.n))
		}
	}
	if p.Labels != "" {
		a.labels = 0
		if a.classes > 1 {
			return a, fmt.Errorf(
				"%s has %d scores per box beside the labels of %s; leave labels out of output.boxes.parts, or name "+
					"an output with one score per box",
				whatScores, a.classes, p.Labels)
		}
	}
	return a, b.checkBackground(a.classes, a.labels >= 0, whatScores)
}

// inner is the shape of one sample's scores: [boxes] or [boxes, classes].
func inner(full []int, how samples, what string) ([]int, error) {
	s := squeeze(full)
	if how == batched && len(s) > 0 {
		s = s[1:]
	}
	if len(s) != 1 && len(s) != 2 {
		return nil, fmt.Errorf(
			"%s has %d axes, which are no scores of boxes; want [N, boxes, classes] or [N, boxes]: name another in "+
				"output.boxes.parts", what, len(full))
	}
	return s, nil
}

// find names the outputs that hold boxes, by their shapes.
func (b *boxes) find(sig onnx.Signature) error {
	var tables, lists []onnx.Port // [n, k] and [n], of a sample
	deep := slices.ContainsFunc(sig.Outputs, func(x onnx.Port) bool { return x.Ranked && len(squeeze(x.Sizes())) == 3 })
	if len(sig.Outputs) == 1 {
		b.Parts = []BoxesPart{{Boxes: sig.Outputs[0].Name}}
		return nil
	}
	of := func(x onnx.Port) []int { // the axes of one sample
		s := squeeze(x.Sizes())
		if deep {
			return s[1:]
		}
		return s
	}
	for _, x := range sig.Outputs {
		if numbers(x) != nil || !x.Ranked {
			continue
		}
		switch d := len(squeeze(x.Sizes())); {
		case deep && d == 3 || !deep && d == 2:
			tables = append(tables, x)
		case deep && d == 2 || !deep && d == 1:
			lists = append(lists, x)
		}
	}
	list := func(ps []onnx.Port) string {
		var s []string
		for _, p := range ps {
			s = append(s, p.String())
		}
		return strings.Join(s, ", ")
	}
	refuse := func(why string) error {
		return fmt.Errorf("%s among the outputs (%s); name them in output.boxes.parts: [{boxes: OUTPUT, scores: "+
			"OUTPUT}], with labels where class numbers stand apart", why, list(sig.Outputs))
	}
	if len(tables) == 1 && len(lists) == 0 {
		b.Parts = []BoxesPart{{Boxes: tables[0].Name}}
		b.notes = append(b.notes, fmt.Sprintf("boxes are read from output %s", tables[0]))
		return nil
	}
	// Outputs with the same number of boxes belong together.
	var counts []int
	for _, x := range tables {
		if n := of(x)[0]; !slices.Contains(counts, n) {
			counts = append(counts, n)
		}
	}
	for _, n := range counts {
		belongs := func(x onnx.Port) bool { return of(x)[0] == n }
		part, err := b.group(filter(tables, belongs), filter(lists, belongs), func(x onnx.Port) int { return of(x)[1] })
		if err != "" {
			return refuse(err)
		}
		if part.Boxes != "" {
			b.Parts = append(b.Parts, part)
			text := fmt.Sprintf("boxes are read from output %q, scores from %q", part.Boxes, part.Scores)
			if part.Labels != "" {
				text += fmt.Sprintf(", class numbers from %q", part.Labels)
			}
			b.notes = append(b.notes, text+", by their shapes; set output.boxes.parts to change it")
		}
	}
	if len(b.Parts) == 0 {
		return refuse("no boxes are found")
	}
	return nil
}

func filter(ps []onnx.Port, keep func(onnx.Port) bool) []onnx.Port {
	return slices.DeleteFunc(slices.Clone(ps), func(p onnx.Port) bool { return !keep(p) })
}

// group tells coordinates, scores and labels of one set of boxes apart; why is "" unless there are boxes that cannot be
// told apart.
func (b *boxes) group(tables, lists []onnx.Port, width func(onnx.Port) int) (part BoxesPart, why string) {
	fours := filter(tables, func(x onnx.Port) bool { return width(x) == 4 })
	if len(fours) == 0 && len(tables) == 2 && len(lists) == 0 { // more numbers than a box has, and one score per class
		few := filter(tables, func(x onnx.Port) bool { return width(x) == 1 || b.kinds() > 0 && width(x) == b.kinds() })
		if len(few) == 1 {
			fours = filter(tables, func(x onnx.Port) bool { return x.Name != few[0].Name && width(x) > 4 })
		}
	}
	switch {
	case len(fours) == 0:
		return part, ""
	case len(fours) > 1:
		return part, fmt.Sprintf("%d may hold coordinates", len(fours))
	}
	part.Boxes = fours[0].Name
	others := filter(tables, func(x onnx.Port) bool { return x.Name != part.Boxes })
	switch {
	case len(lists) == 0 && len(others) == 1:
		part.Scores = others[0].Name
		return part, ""
	case len(lists) == 1 && len(others) == 0 && !integer(lists[0].DType):
		part.Scores = lists[0].Name
		return part, ""
	case len(lists) != 2 || len(others) != 0:
		return part, fmt.Sprintf("the scores of %q are not found", part.Boxes)
	}
	whole := filter(lists, func(x onnx.Port) bool { return integer(x.DType) })
	if len(whole) != 1 {
		whole = filter(lists, func(x onnx.Port) bool {
			n := strings.ToLower(x.Name)
			return strings.Contains(n, "label") || strings.Contains(n, "class")
		})
	}
	if len(whole) != 1 {
		return part, fmt.Sprintf("scores and labels of %q cannot be told apart", part.Boxes)
	}
	part.Labels = whole[0].Name
	part.Scores = filter(lists, func(x onnx.Port) bool { return x.Name != part.Labels })[0].Name
	return part, ""
}

// integer tells whether an element type holds whole numbers.
func integer(d tensor.DType) bool {
	switch d {
	case tensor.Int8, tensor.Int16, tensor.Int32, tensor.Int64, tensor.Uint8, tensor.Uint16, tensor.Uint32,
		tensor.Uint64:
		return true
	case tensor.Undefined, tensor.Float32, tensor.Float64, tensor.Float16, tensor.BFloat16, tensor.Bool,
		tensor.String:
	}
	return false
}
