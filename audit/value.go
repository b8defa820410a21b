package audit

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"nero/data/space"
	"nero/measure/metric"
	"nero/run/job"
)

// Numbers are the numbers of a value as a flat list. It may share memory with v. The labels of a mask are numbers too,
// but only for hashing and projection: their differences mean nothing, see [Compare].
func Numbers(v space.Value) ([]float64, error) {
	switch v := v.(type) {
	case *space.Image:
		return v.Pix, nil
	case *space.Scores:
		return v.Val, nil
	case *space.Tensor:
		return v.Val, nil
	case *space.Field:
		return v.Val, nil
	case *space.Rows:
		return v.Val, nil
	case *space.Pairs:
		return v.Val, nil
	case *space.Signal:
		return v.Val, nil
	case *space.Record:
		var all []float64
		for i, f := range v.Values {
			x, err := Numbers(f)
			if err != nil {
				return nil, fmt.Errorf("field %s: %w", v.Names[i], err)
			}
			all = append(all, x...)
		}
		return all, nil
	}
	var all []float64
	for _, p := range v.Parts() {
		x, err := p.Float64s(nil)
		if err != nil {
			return nil, fmt.Errorf("%s: part %s: %w", v.Kind(), p.Name, err)
		}
		all = append(all, x...)
	}
	return all, nil
}

// Form is the shape of a value in words, such as "image 1x28x28". Two values can be compared if their forms are equal.
func Form(v space.Value) string {
	switch v := v.(type) {
	case *space.Image:
		return fmt.Sprintf("image %dx%dx%d", v.C, v.H, v.W)
	case *space.Mask:
		return fmt.Sprintf("mask %dx%d", v.H, v.W)
	case *space.Scores:
		return fmt.Sprintf("scores %d", len(v.Val))
	case *space.Tensor:
		return fmt.Sprintf("tensor %v", v.Shape)
	case *space.Field:
		return fmt.Sprintf("field %dx%d", v.H, v.W)
	case *space.Boxes:
		return fmt.Sprintf("boxes in %gx%g", v.H, v.W) // how many there are is what is compared
	case *space.Frames:
		if len(v.Images) > 0 {
			return fmt.Sprintf("frames %dx%s", len(v.Images), strings.TrimPrefix(Form(v.Images[0]), "image "))
		}
	case *space.Rows:
		return fmt.Sprintf("rows %dx%d", v.N, v.W)
	case *space.Links:
		return fmt.Sprintf("links %d of %d nodes", len(v.From), v.Nodes)
	case *space.Pairs:
		return fmt.Sprintf("pairs %dx%dx%d", v.N, v.N, v.W)
	case *space.Signal:
		return fmt.Sprintf("signal %dx%d", v.C, v.T)
	case *space.Record:
		return recordForm(v, Form)
	}
	words := []string{string(v.Kind())}
	for _, p := range v.Parts() {
		words = append(words, fmt.Sprintf("%s%v", p.Name, p.Shape))
	}
	return strings.Join(words, " ")
}

// recordForm lists the forms of the fields.
func recordForm(r *space.Record, form func(space.Value) string) string {
	words := make([]string, len(r.Values))
	for i, f := range r.Values {
		words[i] = r.Names[i] + ": " + form(f)
	}
	return "record {" + strings.Join(words, ", ") + "}"
}

// Style is [Form] without the lengths that differ from one sample to the next in sets, graphs and signals: how many
// rows, edges, nodes or moments there are. What a model answers to two inputs must have one style; it has one form only
// if the inputs have.
func Style(v space.Value) string {
	switch v := v.(type) {
	case *space.Rows:
		if v.N == 1 {
			return fmt.Sprintf("rows 1x%d", v.W)
		}
		return fmt.Sprintf("rows *x%d", v.W)
	case *space.Links:
		return "links"
	case *space.Pairs:
		return fmt.Sprintf("pairs *x*x%d", v.W)
	case *space.Signal:
		return fmt.Sprintf("signal %dx*", v.C)
	case *space.Frames:
		if len(v.Images) > 0 {
			return "frames *x" + strings.TrimPrefix(Form(v.Images[0]), "image ")
		}
	case *space.Record:
		return recordForm(v, Style)
	}
	return Form(v)
}

// parts is how many rows, pairs of nodes or moments a value has, whose number differs from one sample to the next; 1
// for all other values. Their errors and scales are root mean squares over them, so that a large molecule counts as
// much as a small one.
func parts(v space.Value) float64 {
	switch v := v.(type) {
	case *space.Rows:
		return float64(max(v.N, 1))
	case *space.Pairs:
		return float64(max(v.N*v.N, 1))
	case *space.Signal:
		return float64(max(v.T, 1))
	}
	return 1
}

// Finite reports whether every number of a value is finite.
func Finite(v space.Value) (bool, error) {
	if _, ok := v.(*space.Mask); ok {
		return true, nil
	}
	x, err := Numbers(v)
	if err != nil {
		return false, err
	}
	for _, a := range x {
		if math.IsNaN(a) || math.IsInf(a, 0) {
			return false, nil
		}
	}
	return true, nil
}

// Difference is how far two values of one form are apart.
type Difference struct {
	// Norm is the Euclidean norm over all components; for rows, pairs and signals its root mean square over rows, pairs
	// or moments; for masks the share of differing pixels, for boxes [metric.Apart].Distance, both in [0, 1]; for
	// records the largest of the fields.
	Norm float64
	// largest component; for masks 1 if any pixel differs, for boxes the same as Norm
	Max float64
	// Fields are the differences of the fields of a record, in their order, and Field is the index of the one that is
	// largest; nil and 0 for other values.
	Fields []Difference
	Field  int
}

// ErrForm marks values that cannot be compared because their forms differ.
var ErrForm = errors.New("values of different form")

// Compare measures a - b. Numbers that are not finite give NaN, in both fields. The fields of records count in their
// own units, whatever these are; predictions are compared by [Pass.Compare], which brings them to one scale. The error
// wraps [ErrForm].
func Compare(a, b space.Value) (Difference, error) {
	a, b = space.Common(a, b)
	if p, ok := a.(*space.Record); ok {
		return compareRecords(p, b, nil)
	}
	if p, q, ok := bothLinks(a, b); ok {
		return compareLinks(p, q)
	}
	ma, aok := a.(*space.Mask)
	mb, bok := b.(*space.Mask)
	if aok && bok {
		if ma.H != mb.H || ma.W != mb.W {
			return Difference{}, fmt.Errorf("%w: %s against %s", ErrForm, Form(a), Form(b))
		}
		n := 0
		for i, l := range ma.Label {
			if l != mb.Label[i] {
				n++
			}
		}
		return Difference{Norm: float64(n) / float64(max(len(ma.Label), 1)), Max: min(1, float64(n))}, nil
	}
	if p, q, ok := bothBoxes(a, b); ok {
		d := metric.Between(p, q).Distance
		return Difference{Norm: d, Max: d}, nil
	}
	x, err := Numbers(a)
	if err != nil {
		return Difference{}, err
	}
	y, err := Numbers(b)
	if err != nil {
		return Difference{}, err
	}
	if a.Kind() != b.Kind() || len(x) != len(y) {
		return Difference{}, fmt.Errorf("%w: %s against %s", ErrForm, Form(a), Form(b))
	}
	var ss, top float64
	for i, v := range x {
		d := math.Abs(v - y[i])
		if !(d <= math.MaxFloat64) {
			return Difference{Norm: math.NaN(), Max: math.NaN()}, nil
		}
		ss += d * d
		top = max(top, d)
	}
	if math.IsInf(ss, 1) || (ss == 0 && top > 0) { // squares beyond the range of float64
		ss = 0
		for i, v := range x {
			d := (v - y[i]) / top
			ss += d * d
		}
		return Difference{Norm: top * math.Sqrt(ss/parts(a)), Max: top}, nil
	}
	return Difference{Norm: math.Sqrt(ss / parts(a)), Max: top}, nil
}

// compareRecords compares field by field, each over the scale that a gauge has for it.
func compareRecords(a *space.Record, b space.Value, g *Gauge) (Difference, error) {
	o, ok := b.(*space.Record)
	if !ok || !slices.Equal(a.Names, o.Names) {
		return Difference{}, fmt.Errorf("%w: %s against %s", ErrForm, Form(a), Form(b))
	}
	out := Difference{Fields: make([]Difference, len(a.Values))}
	for i, v := range a.Values {
		d, err := g.field(i).Compare(v, o.Values[i])
		if err != nil {
			return Difference{}, fmt.Errorf("field %s: %w", a.Names[i], err)
		}
		out.Fields[i] = d
		if i == 0 || !(d.Norm <= out.Norm) && !math.IsNaN(out.Norm) {
			out.Norm, out.Field = d.Norm, i
		}
		if i == 0 || !(d.Max <= out.Max) && !math.IsNaN(out.Max) {
			out.Max = d.Max
		}
	}
	return out, nil
}

func bothLinks(a, b space.Value) (p, q *space.Links, ok bool) {
	p, ok = a.(*space.Links)
	if !ok {
		return nil, nil, false
	}
	q, ok = b.(*space.Links)
	return p, q, ok
}

// compareLinks is the share of edges that differ: numbers of nodes have no distance.
func compareLinks(a, b *space.Links) (Difference, error) {
	if a.Nodes != b.Nodes || len(a.From) != len(b.From) {
		return Difference{}, fmt.Errorf("%w: %s against %s", ErrForm, Form(a), Form(b))
	}
	n := 0
	for i := range a.From {
		if a.From[i] != b.From[i] || a.To[i] != b.To[i] {
			n++
		}
	}
	return Difference{Norm: float64(n) / float64(max(len(a.From), 1)), Max: min(1, float64(n))}, nil
}

func bothBoxes(a, b space.Value) (p, q *space.Boxes, ok bool) {
	p, ok = a.(*space.Boxes)
	if !ok {
		return nil, nil, false
	}
	q, ok = b.(*space.Boxes)
	return p, q, ok
}

// Spread accumulates the centred scale of a list of values of one style, one at a time.
type Spread struct {
	n     int
	style string
	// "" once two forms were seen
	form     string
	mean, m2 []float64
	// Σ ‖v‖² over parts
	square float64
	// labels of the first mask
	first []int32
	// the first set of boxes
	boxes *space.Boxes
	// whether another mask or set of boxes differs
	varies bool

	// parts of the first value
	size float64
	// Rows of numbers of every length are centred column by column: how many there were, and mean and sum of squares of
	// each column.
	rows float64
	// all rows are one population, whatever their place in a value: those of [space.Rows]
	pooled     bool
	column, c2 []float64
	// of the fields of a record
	names []string
	// and what is known of them
	fields []*Spread
}

// columnsOf is into how many columns a value of any length is cut, 0 for values of one form; component i is of column
// i%columns, or for signals i/T.
func columnsOf(v space.Value) (n int, of func(i int) int) {
	switch v := v.(type) {
	case *space.Rows:
		return v.W, func(i int) int { return i % max(v.W, 1) }
	case *space.Pairs:
		return v.W, func(i int) int { return i % max(v.W, 1) }
	case *space.Signal:
		return v.C, func(i int) int { return i / max(v.T, 1) }
	}
	return 0, nil
}

// Add takes in one value with finite numbers. The error wraps [ErrForm] if it is not of the style of those before.
func (s *Spread) Add(v space.Value) error {
	form := Form(v)
	if f := Style(v); s.n == 0 {
		s.style, s.form, s.size = f, form, parts(v)
		_, s.pooled = v.(*space.Rows)
	} else if f != s.style {
		return fmt.Errorf("%w: %s, was %s before", ErrForm, form, s.Form())
	}
	if form != s.form {
		s.form = ""
	}
	s.n++
	switch v := v.(type) {
	case *space.Mask:
		if s.n == 1 {
			s.first = append([]int32{}, v.Label...)
		}
		s.varies = s.varies || !slices.Equal(v.Label, s.first)
		return nil
	case *space.Boxes:
		if s.boxes == nil {
			s.boxes = v
		}
		s.varies = s.varies || !(metric.Between(v, s.boxes).Distance == 0)
		return nil
	case *space.Record:
		if s.fields == nil {
			s.names = slices.Clone(v.Names)
			for range v.Values {
				s.fields = append(s.fields, &Spread{})
			}
		}
		for i, f := range v.Values {
			if err := s.fields[i].Add(f); err != nil {
				return fmt.Errorf("field %s: %w", v.Names[i], err)
			}
		}
		return nil
	}
	x, err := Numbers(v)
	if err != nil {
		return err
	}
	if k, of := columnsOf(v); k > 0 {
		if s.column == nil {
			s.column, s.c2 = make([]float64, k), make([]float64, k)
		}
		rows := s.rows
		s.rows += parts(v)
		seen := make([]float64, k)
		for i, a := range x {
			c := of(i)
			seen[c]++
			d := a - s.column[c]
			s.column[c] += d / (rows + seen[c])
			s.c2[c] += d * (a - s.column[c])
		}
	}
	if s.mean == nil {
		s.mean, s.m2 = make([]float64, len(x)), make([]float64, len(x))
	}
	var square float64
	for i, a := range x {
		square += a * a
		if len(s.mean) != len(x) {
			continue
		}
		d := a - s.mean[i]
		s.mean[i] += d / float64(s.n)
		s.m2[i] += d * (a - s.mean[i])
	}
	s.square += square / parts(v)
	return nil
}

// N is the number of values taken in.
func (s *Spread) N() int { return s.n }

// Form is the form of the values, their style if they have several forms.
func (s *Spread) Form() string {
	if s.form == "" {
		return s.style
	}
	return s.form
}

// Scale is s = (E ‖v - E v‖²)^½, the norm being that of [Difference]. Rows are centred column by column over all rows
// of all values, as the metric relative does: the force on one atom is as much a force as that on another. So are pairs
// and signals of several lengths, all other values component by component. Masks and boxes have no scale, their
// differences are shares already: 1 if some differ, 0 if all are equal; so do records, whose fields have scales of
// their own. NaN without values.
func (s *Spread) Scale() float64 {
	if s.n == 0 {
		return math.NaN()
	}
	if s.fields != nil {
		for _, f := range s.fields {
			if f.Scale() > 0 {
				return 1
			}
		}
		return 0
	}
	if s.first != nil || s.boxes != nil {
		if s.varies {
			return 1
		}
		return 0
	}
	var t float64
	if (s.pooled || s.form == "") && s.rows > 0 {
		for _, m := range s.c2 {
			t += m
		}
		return math.Sqrt(t / s.rows)
	}
	for _, m := range s.m2 {
		t += m
	}
	return math.Sqrt(t / float64(s.n) / s.size)
}

// RMS is (E ‖v‖²)^½, the size of the values without centring; for masks and boxes 1, for records the largest of the
// fields over its scale. NaN without values.
func (s *Spread) RMS() float64 {
	if s.n == 0 {
		return math.NaN()
	}
	if s.fields != nil {
		most := 1.0
		for _, f := range s.fields {
			if r := f.RMS() / f.Scale(); r > most && !math.IsInf(r, 1) {
				most = r
			}
		}
		return most
	}
	if s.first != nil || s.boxes != nil {
		return 1
	}
	return math.Sqrt(s.square / float64(s.n))
}

// Squares are, for every component, the sum of the squares of its distances from its mean; nil for masks, records,
// values of several forms and without values.
func (s *Spread) Squares() []float64 {
	if s.form == "" {
		return nil
	}
	return slices.Clone(s.m2)
}

// WithNumbers is a value of the form of v with other numbers, which it keeps: the inverse of [Numbers]. Masks and boxes
// have none that could be exchanged; for them the error wraps errors.ErrUnsupported. Scores come back without the
// model's own numbers.
func WithNumbers(v space.Value, x []float64) (space.Value, error) {
	switch v := v.(type) {
	case *space.Image:
		return &space.Image{C: v.C, H: v.H, W: v.W, Pix: x}, nil
	case *space.Scores:
		return &space.Scores{Val: x, Probabilities: v.Probabilities}, nil // without Raw, which would contradict Val
	case *space.Tensor:
		return &space.Tensor{Shape: v.Shape, Val: x}, nil
	case *space.Field:
		return &space.Field{H: v.H, W: v.W, Val: x}, nil
	case *space.Rows:
		return &space.Rows{N: v.N, W: v.W, Val: x}, nil
	case *space.Pairs:
		return &space.Pairs{N: v.N, W: v.W, Val: x}, nil
	case *space.Signal:
		return &space.Signal{C: v.C, T: v.T, Rate: v.Rate, Val: x}, nil
	case *space.Links:
		return v.Clone(), nil // edges are not numbers: they stay
	case *space.Record:
		o := &space.Record{Names: v.Names, Values: make([]space.Value, len(v.Values))}
		for i, f := range v.Values {
			y, err := Numbers(f)
			if err != nil {
				return nil, err
			}
			if o.Values[i], err = WithNumbers(f, x[:len(y):len(y)]); err != nil {
				return nil, fmt.Errorf("field %s: %w", v.Names[i], err)
			}
			x = x[len(y):]
		}
		return o, nil
	case *space.Frames:
		f := &space.Frames{}
		for _, m := range v.Images {
			n := len(m.Pix)
			f.Images, x = append(f.Images, &space.Image{C: m.C, H: m.H, W: m.W, Pix: x[:n:n]}), x[n:]
		}
		return f, nil
	}
	return nil, fmt.Errorf("%s values cannot be changed by a small amount: %w", v.Kind(), errors.ErrUnsupported)
}

// Direction is a fixed unit vector with as many components as v has numbers: ±1/√d with seeded signs. It singles out no
// axis and shares no symmetry with any group.
func Direction(v space.Value, r *rand.Rand) ([]float64, error) {
	x, err := Numbers(v)
	if err != nil {
		return nil, err
	}
	d := make([]float64, len(x))
	for i := range d {
		d[i] = 1 / math.Sqrt(float64(len(d)))
		if r.Uint64()&1 == 0 {
			d[i] = -d[i]
		}
	}
	return d, nil
}

// Shifted is v + c·d, each number rounded to the unit roundoff u: what a model of that precision could have returned.
// Of boxes it takes the share |c| off every score, which is how far the sets are then apart. On a mask it changes the
// labels of the share |c| of the pixels, rounded to whole ones; they are the first of the order that d gives.
func Shifted(v space.Value, c float64, d []float64, u float64) (space.Value, error) {
	if m, ok := v.(*space.Mask); ok {
		o := &space.Mask{H: m.H, W: m.W, Label: append([]int32{}, m.Label...)}
		k := int(math.Round(min(math.Abs(c), 1) * float64(len(o.Label))))
		for i := 0; i < len(o.Label) && k > 0; i++ {
			if d[i] > 0 == (c > 0) {
				o.Label[i]++
				k--
			}
		}
		return o, nil
	}
	if b, ok := v.(*space.Boxes); ok {
		o := &space.Boxes{H: b.H, W: b.W, Items: slices.Clone(b.Items), Seen: b.Seen}
		for i := range o.Items {
			o.Items[i].Score *= 1 - min(math.Abs(c), 1)
		}
		return o, nil
	}
	x, err := Numbers(v)
	if err != nil {
		return nil, err
	}
	y := make([]float64, len(x))
	for i := range x {
		y[i] = x[i] + c*d[i]
		if u >= float32Roundoff {
			y[i] = float64(float32(y[i]))
		}
	}
	return WithNumbers(v, y)
}

// Jittered moves every number by so many float32 ulps, up or down at random, in the units that the model reads. One is
// the smallest change of input that can reach it. A mask has no such change and comes back as it is.
func Jittered(v space.Value, in job.Input, ulps float64, r *rand.Rand) (space.Value, error) {
	if _, ok := v.(*space.Mask); ok {
		return v, nil
	}
	x, err := Numbers(v)
	if err != nil {
		return nil, err
	}
	if rec, ok := v.(*space.Record); ok {
		return jitteredRecord(rec, ulps, r)
	}
	if _, ok := v.(*space.Links); ok {
		return v, nil
	}
	channels := 1
	if m, ok := v.(*space.Image); ok {
		channels = max(m.C, 1)
	}
	frame := len(x) // numbers of one picture: every frame has the same channels
	if f, ok := v.(*space.Frames); ok && len(f.Images) > 0 {
		channels, frame = max(f.Images[0].C, 1), max(len(x)/len(f.Images), 1)
	}
	per := max(frame/channels, 1)
	pick := func(list []float64, c int, otherwise float64) float64 {
		switch {
		case len(list) == 0:
			return otherwise
		case c < len(list):
			return list[c]
		}
		return list[0]
	}
	scale := in.Scale
	if scale == 0 {
		scale = 1
	}
	y := make([]float64, len(x))
	for i, a := range x {
		c := i % max(frame, 1) / per
		mean, std := pick(in.Mean, c, 0), pick(in.Std, c, 1)
		read := float32((a/scale - mean) / std)
		to := float32(math.Inf(1))
		if r.Uint64()&1 == 0 {
			to = -to
		}
		step := float64(math.Nextafter32(read, to)) - float64(read)
		y[i] = ((float64(read)+ulps*step)*std + mean) * scale
	}
	return WithNumbers(v, y)
}

// jitteredRecord moves the numbers of the fields, but not those of fields that hold whole numbers alone: what a model
// reads as an integer, such as the number of an element, has no neighbor an ulp away.
func jitteredRecord(rec *space.Record, ulps float64, r *rand.Rand) (space.Value, error) {
	o := &space.Record{Names: rec.Names, Values: slices.Clone(rec.Values)}
	for i, f := range rec.Values {
		x, err := Numbers(f)
		if err != nil {
			return nil, fmt.Errorf("field %s: %w", rec.Names[i], err)
		}
		if !slices.ContainsFunc(x, func(a float64) bool { return a != math.Trunc(a) }) {
			continue
		}
		if o.Values[i], err = Jittered(f, job.Input{}, ulps, r); err != nil {
			return nil, fmt.Errorf("field %s: %w", rec.Names[i], err)
		}
	}
	return o, nil
}

// Softmax turns logits into probabilities; other values and probabilities come back as they are.
func Softmax(v space.Value) space.Value {
	s, ok := v.(*space.Scores)
	if !ok || s.Probabilities || len(s.Val) == 0 {
		return v
	}
	o := &space.Scores{Val: make([]float64, len(s.Val)), Probabilities: true}
	top := math.Inf(-1)
	for _, x := range s.Val {
		top = max(top, x) // max keeps NaN
	}
	var sum float64
	for i, x := range s.Val {
		o.Val[i] = math.Exp(x - top)
		sum += o.Val[i]
	}
	for i := range o.Val {
		o.Val[i] /= sum
	}
	return o
}

// Class is the index of the largest score, the first of equals; -1 if v has no scores or one of them is NaN.
func Class(v space.Value) int {
	s, ok := v.(*space.Scores)
	if !ok {
		return -1
	}
	best := -1
	for i, x := range s.Val {
		if math.IsNaN(x) {
			return -1
		}
		if best < 0 || x > s.Val[best] {
			best = i
		}
	}
	return best
}
