package scale

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"nero/data/space"
)

// Part is a piece of a prediction that is judged by itself, because its numbers share no unit with those of other
// pieces: a field of a record, a channel of a tensor, a column of undeclared rows. What was declared to be one thing,
// such as vectors, irreps or a picture, is one part.
type Part struct {
	// Name is such as "energy", "channel 3" or "forces, column 2"; "" where the prediction is one part.
	Name string
	// Field is the index of the field of a record that it belongs to; 0 for other predictions.
	Field int
	// Scale is s of the part over the inputs that were looked at, unmoved. Where the part does not vary, it is the size
	// of the part instead, or that of its siblings where the size is zero, and 1 without any.
	Scale float64
	// Low and High are confidence limits of the true scale, over Scale: 1 where nothing is estimated.
	Low, High float64
	// Joint is High at the confidence at which those of all parts that are judged hold together.
	Joint float64
	// Size is the root mean square of the part without centring.
	Size float64
	// Still says that the part varies no more than rounding, so that nothing can be said of its errors.
	Still bool

	// it is not judged
	off bool
	// its differences are shares
	shares bool
	// what its own scale is, whether or not it is used
	own float64
}

// piece is what a prediction falls into before parts are cut from it: the fields of a record, and of scores what all
// have in common and what tells them apart.
type piece struct {
	value space.Value
	typ   string
	// of whole pieces, and what the columns of others are called
	name, column string
	field        int
	// parts that the piece is cut into by of, 0 for a piece that is one part
	n  int
	of func(i int) int
	// its columns are judged only where the whole hides them
	hidden bool
}

// channelled is a value whose numbers fall into channels that need not have a unit in common.
type channelled interface {
	Channels() (n int, of func(i int) int)
}

// columned is a value whose rows fall into columns that need not have a unit in common.
type columned interface {
	Columns() int
	Column(i int) int
}

// centred is a value of which a common part of all numbers means nothing: the softmax does not see it.
type centred interface {
	// Centred is the value without that part, and the part; ok is false where it means something.
	Centred() (rest space.Value, common float64, ok bool)
}

// plain are the types of numbers that stand for themselves, one by one.
func plain(typ string) bool {
	return slices.Contains([]string{"", space.TypeUnchanged, space.TypePseudoscalars, "trivial"}, typ)
}

// pieces are those of a prediction. Declared scores have a unit in common; of others each class may have its own.
func (g *Gauge) pieces(v space.Value) []piece {
	names, fields := space.Fields(v)
	if names == nil {
		return g.whole(v)
	}
	out := make([]piece, 0, len(fields))
	for i, f := range fields {
		typ := ""
		if g != nil {
			typ = g.Types[names[i]]
		}
		p := cut(f, typ)
		p.name, p.field = names[i], i
		p.column = names[i] + ", column "
		out = append(out, p)
	}
	return out
}

// whole are the pieces of a prediction that is no record.
func (g *Gauge) whole(v space.Value) []piece {
	typ := ""
	if g != nil {
		typ = g.Whole
	}
	if g != nil && g.Features {
		return []piece{{value: v, typ: typ}}
	}
	c, ok := v.(centred)
	if !ok {
		return []piece{cut(v, typ)}
	}
	rest, common, ok := c.Centred()
	if !ok {
		return []piece{{value: v, typ: typ}}
	}
	out := []piece{{value: rest, typ: typ}}
	if g == nil || g.Declared {
		return out
	}
	n := len(v.Numbers())
	return append(out,
		piece{value: &space.Tensor{Shape: []int{1}, Val: []float64{common}}, name: "what all scores have in common"},
		piece{value: v, column: "class ", n: n, of: func(i int) int { return i }, hidden: true})
}

// cut is a value as one piece.
func cut(v space.Value, typ string) piece {
	p := piece{value: v, typ: typ, column: "channel "}
	if !plain(typ) {
		return p
	}
	if c, ok := v.(columned); ok {
		p.n, p.of, p.column = c.Columns(), c.Column, "column "
	} else if c, ok := v.(channelled); ok {
		p.n, p.of = c.Channels()
	}
	if p.n < 2 {
		p.n, p.of = 0, nil
	}
	return p
}

// parts are those of a piece, without numbers.
func (p *piece) parts() []Part {
	if p.n == 0 {
		return []Part{{Name: p.name, Field: p.field}}
	}
	out := make([]Part, p.n)
	for k := range out {
		out[k] = Part{Name: p.column + strconv.Itoa(k), Field: p.field, off: p.hidden}
	}
	return out
}

// apart are the differences of the parts of two pieces of one form.
func apart(a, b piece) ([]Difference, error) {
	x, y := a.value, b.value
	if a.n == 0 {
		d, err := Compare(x, y)
		return []Difference{d}, err
	}
	x, y = space.Common(x, y)
	p, q := x.Numbers(), y.Numbers()
	if space.Style(x) != space.Style(y) || len(p) != len(q) || a.n != b.n {
		return nil, differ(x, y)
	}
	of := a.of
	if c, ok := x.(columned); ok { // it may have been cut
		of = c.Column
	}
	out := make([]Difference, a.n)
	for i, u := range p {
		k, d := of(i), math.Abs(u-q[i])
		if !(d <= math.MaxFloat64) {
			for k := range out {
				out[k] = Difference{Norm: math.NaN(), Max: math.NaN()}
			}
			return out, nil
		}
		out[k].Norm += float64(d * d)
		out[k].Max = max(out[k].Max, d)
	}
	count := Count(x)
	for k, d := range out {
		if math.IsInf(d.Norm, 1) || d.Norm == 0 && d.Max > 0 { // squares beyond the range of float64
			d.Norm = 0
			for i, u := range p {
				if of(i) == k {
					e := (u - q[i]) / d.Max
					d.Norm += float64(e * e)
				}
			}
			out[k].Norm = d.Max * math.Sqrt(d.Norm/count)
			continue
		}
		out[k].Norm = math.Sqrt(d.Norm / count)
	}
	return out, nil
}

// Survey measures the scales of the parts of predictions, one prediction at a time.
type Survey struct {
	gauge *Gauge
	// of the pieces
	spreads []*Spread
	columns []int
	of      []func(i int) int
	raw     Spread
	// of the fields of records
	names []string
	// The first predictions wait until their mean is known; then every one gives its squared distances from it.
	waiting []space.Value
	bytes   int
	pilot   []*Spread
	squares [][]float64
	counts  [][]float64
}

// Bounds of the first predictions that wait.
const (
	mostWaiting      = 256
	mostWaitingBytes = 32 << 20
	leastWaiting     = 8
)

// NewSurvey begins to measure for a gauge, which says what was declared.
func NewSurvey(g *Gauge) *Survey { return &Survey{gauge: g} }

// Add takes in one prediction with finite numbers. The error wraps [ErrForm] if it is not of the style of those before;
// it then counts for nothing.
func (s *Survey) Add(v space.Value) error {
	if s.raw.n > 0 && space.Style(v) != s.raw.style {
		return fmt.Errorf("%w: %s, was %s before", ErrForm, v.Form(), s.raw.Form())
	}
	ps := s.gauge.pieces(v)
	if s.spreads == nil {
		s.names, _ = space.Fields(v)
		if c, ok := v.(centred); ok {
			_, _, s.gauge.Centred = c.Centred()
		}
		for _, p := range ps {
			s.spreads = append(s.spreads, &Spread{})
			s.columns, s.of = append(s.columns, p.n), append(s.of, p.of)
			s.gauge.Parts = append(s.gauge.Parts, p.parts()...)
		}
		s.squares, s.counts = make([][]float64, len(s.gauge.Parts)), make([][]float64, len(s.gauge.Parts))
	}
	for i, p := range ps {
		if err := s.spreads[i].Add(p.value); err != nil {
			return err
		}
	}
	if err := s.raw.Add(v); err != nil {
		return err
	}
	if s.pilot != nil {
		s.measure(ps)
		return nil
	}
	s.waiting = append(s.waiting, v)
	s.bytes += v.Bytes()
	if len(s.waiting) >= mostWaiting || s.bytes >= mostWaitingBytes && len(s.waiting) >= leastWaiting {
		s.begin()
	}
	return nil
}

// begin fixes the mean from which distances are taken.
func (s *Survey) begin() {
	for _, x := range s.spreads {
		y := *x
		y.whole, y.rows = x.whole.clone(), x.rows.clone()
		s.pilot = append(s.pilot, &y)
	}
	for _, v := range s.waiting {
		s.measure(s.gauge.pieces(v))
	}
	s.waiting = nil
}

func (s *Survey) measure(ps []piece) {
	at := 0
	for i, p := range ps {
		n := max(p.n, 1)
		for k, q := range s.pilot[i].distances(p.value, n, p.of) {
			s.squares[at+k] = append(s.squares[at+k], q)
			s.counts[at+k] = append(s.counts[at+k], Count(p.value))
		}
		at += n
	}
}

// Done fills in the parts of the gauge and its scale. A part that varies by no more than stillness times its size is
// still. A class of undeclared scores is judged by itself if it varies so little that the whole would hide it, however
// wrong it were: by less than the limit times the scale of all, and less than a tenth of a usual class.
func (s *Survey) Done(stillness, limit float64) {
	if s.pilot == nil && s.raw.n > 0 {
		s.begin()
	}
	g := s.gauge
	g.Scale = s.raw.Scale()
	at := 0
	for i, x := range s.spreads {
		n := max(s.columns[i], 1)
		own, size := []float64{x.Scale()}, []float64{x.RMS()}
		if s.columns[i] > 0 {
			own, size = x.columns(n, s.of[i])
		}
		if i == 0 && s.raw.fields == nil && s.columns[0] == 0 && own[0] > stillness*size[0] {
			g.Scale = own[0]
		}
		for k := range n {
			p := &g.Parts[at+k]
			p.own, p.Scale, p.Size = own[k], own[k], size[k]
			p.Low, p.High, p.Joint = 1, 1, 1
			p.shares = x.first != nil
			p.Still = !(own[k] > stillness*size[k])
			if p.off && own[k] < limit*g.Scale && own[k] < g.Scale/math.Sqrt(float64(n))/10 {
				p.off = false
			}
		}
		at += n
	}
	s.still()
	g.Names, g.Scales, g.Still = nil, nil, nil
	for i, p := range g.Parts {
		if p.Still && !p.off && len(g.Parts) > 1 {
			g.Still = append(g.Still, i)
		}
	}
	if s.raw.fields == nil {
		return
	}
	g.Names = s.names
	g.Scales = make([]float64, len(g.Names))
	for i := range g.Names {
		g.Scales[i] = 1
		if f := s.raw.Field(i); f != nil && f.Scale() > 0 {
			g.Scales[i] = f.Scale()
		}
		if of := slices.IndexFunc(g.Parts, func(p Part) bool { return p.Field == i }); of >= 0 &&
			(of+1 == len(g.Parts) || g.Parts[of+1].Field != i) {
			g.Scales[i] = g.Parts[of].Scale
		}
	}
}

// still gives parts that do not vary something to be measured against.
func (s *Survey) still() {
	g := s.gauge
	for i := range g.Parts {
		p := &g.Parts[i]
		if !p.Still {
			continue
		}
		if p.Scale = p.Size; p.Scale > 0 {
			continue
		}
		var sum float64
		n := 0
		for _, o := range g.Parts {
			if o.Field == p.Field && !o.Still {
				sum, n = sum+float64(o.own*o.own), n+1
			}
		}
		if p.Scale = math.Sqrt(sum / float64(max(n, 1))); !(p.Scale > 0) {
			p.Scale = 1
		}
	}
}

// N is how many predictions were taken in.
func (s *Survey) N() int { return s.raw.n }

// Squares are the squared distances of part i from its mean, one for each prediction, in the order in which they came:
// their mean is about the square of its scale. The mean is that of the first predictions, so that they need not be
// kept.
func (s *Survey) Squares(i int) []float64 {
	out := slices.Clone(s.squares[i])
	var sum float64
	for _, c := range s.counts[i] {
		sum += c
	}
	for k, c := range s.counts[i] {
		out[k] *= c / sum * float64(len(out))
	}
	return out
}
