package weights

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"nero/data/tensor"
	"nero/model/onnx"
	"nero/model/onnx/units"
	"nero/present/sheet"
	"nero/present/words"
)

// Canonical is what was done to bring weights into the form in which no choice is left.
type Canonical struct {
	// File is where they were written, "" for nowhere.
	File string `json:"file,omitempty"`
	// Axes are what was done to each class of units.
	Axes []CanonicalAxis `json:"axes"`
	// Same says that the weights had that form already.
	Same bool `json:"same"`
	// Apart is how far the answers moved.
	Apart
}

// CanonicalAxis is a class of units in canonical form.
type CanonicalAxis struct {
	Axis int    `json:"axis"`
	Name string `json:"name"`
	// Units in all blocks; Scaled were scaled, Turned had their sign changed, Moved have another place.
	Units  int `json:"units"`
	Scaled int `json:"scaled"`
	Turned int `json:"turned"`
	Moved  int `json:"moved"`
	// Ties are units that answer what another one does, up to 1e-4 s: their order is as good the other way round.
	Ties int `json:"ties"`
	// Dead are units that are 0 at all probes; they come last.
	Dead int `json:"dead"`
}

// Good reports whether the answers stayed.
func (c *Canonical) Good() bool { return c.Bad == "" && float64(c.Error) <= mostError }

// Unwritten is the canonical form of a model whose own answers are not finite: there is none.
func Unwritten(bad string) *Canonical {
	return &Canonical{Axes: []CanonicalAxis{}, Apart: Apart{Error: Number(math.NaN()), Bad: bad}}
}

// unwritten says why nothing is written.
func (c *Canonical) unwritten() string {
	if c.Bad != "" {
		return "the answers cannot be compared: " + c.Bad
	}
	return fmt.Sprintf("the answers would move by %s of their scale, and what only rounding moves stays within %g",
		words.Figures(float64(c.Error)), mostError)
}

// Canonicalise brings the numbers of a network into canonical form.
//
// Each unit is scaled by a power of two, so that the first tensor that goes into it has a norm in [√½, √2), and what
// comes after it is divided: nothing is rounded. Signs make the sum of the cubes of that tensor positive. Then units
// are ordered by their values at the probes, rounded to 1e-4 s, as words are by their letters: by the first, and by the
// next where those are equal. Units that are 0 at all probes come last.
func Canonicalise(ctx context.Context, n *Network, b *Body) (Numbers, *Canonical, error) {
	c, err := canonised(ctx, n, b)
	if err != nil {
		return nil, nil, err
	}
	out := &Canonical{Axes: []CanonicalAxis{}, Same: c.now.equal(n.numbers)}
	for _, cl := range n.Units.Classes {
		if a := c.report[cl]; a != nil {
			out.Axes = append(out.Axes, *a)
		}
	}
	before, err := b.run(ctx, n.Model)
	if err != nil {
		return nil, nil, err
	}
	first, err := answersOf(before)
	if err != nil {
		return nil, nil, err
	}
	if first.bad != "" {
		out.Apart = Apart{Error: Number(math.NaN()), Bad: first.bad}
		return c.now, out, nil
	}
	m, err := c.now.Into(n.Model)
	if err != nil {
		return nil, nil, err
	}
	after, err := b.run(ctx, m)
	if err != nil {
		return nil, nil, err
	}
	by := &checker{Network: n, body: b, seed: 0, first: first}
	out.Apart, err = by.apart(ctx, after, n.Units.Stored())
	return c.now, out, err
}

// canoniser brings numbers into canonical form, step by step.
type canoniser struct {
	*Network
	body   *Body
	now    Numbers
	places map[*units.Class][]int32
	report map[*units.Class]*CanonicalAxis
}

// canonised brings the numbers of a network into canonical form, and does not ask what that does to the answers.
func canonised(ctx context.Context, n *Network, b *Body) (*canoniser, error) {
	c := &canoniser{
		Network: n, body: b, now: n.numbers, places: map[*units.Class][]int32{},
		report: map[*units.Class]*CanonicalAxis{},
	}
	for _, cl := range n.Units.Classes {
		if cl.Fixed == "" {
			c.report[cl] = &CanonicalAxis{Axis: cl.Index, Name: cl.Label(), Units: cl.Units * cl.Blocks}
		}
	}
	if err := c.scale(); err != nil {
		return nil, err
	}
	if err := c.order(ctx); err != nil {
		return nil, err
	}
	return c, nil
}

func (c *canoniser) apply(e *Element) error {
	moved, err := e.Apply(c.now)
	if err != nil {
		return err
	}
	c.now = moved.over(c.now).apart(c.now)
	return nil
}

// reference is the stored tensor by which the units of a move are measured: the first that goes into them, and has them
// on one axis.
func reference(g *units.Graph, m *units.Move) (p units.Power, ok bool) {
	for _, want := range []func(int) bool{
		func(e int) bool { return e > 0 }, func(e int) bool { return e < 0 },
	} {
		for _, name := range g.Stored() {
			for _, p := range m.On {
				if p.Tensor == name && p.Axis < 0 && want(p.Exp) {
					return p, true
				}
			}
		}
	}
	return units.Power{}, false
}

// scale brings the sizes and signs of units into canonical form. Each is measured by the first tensor that goes into
// it, whose other units come earlier: one pass is enough.
func (c *canoniser) scale() error {
	moves := slices.Clone(c.Units.Moves)
	at := func(m *units.Move) int {
		p, _ := reference(c.Units, m)
		return slices.Index(c.Units.Stored(), p.Tensor)
	}
	slices.SortStableFunc(moves, func(a, b *units.Move) int {
		return cmp.Or(cmp.Compare(at(a), at(b)), cmp.Compare(a.Kind, b.Kind))
	})
	for _, m := range moves {
		p, ok := reference(c.Units, m)
		// a matrix holds scales and signs, too; a rotation signs alone
		if !ok || m.Exactly(p.Tensor) == 0 {
			continue
		}
		rows, err := rowsOf(c.Units, m.Class, p.Tensor, c.now[p.Tensor])
		if err != nil {
			return err
		}
		by := make([]float64, len(rows))
		changed := 0
		for u, row := range rows {
			by[u] = 1
			if m.Kind != units.Sign && m.Kind != units.Rotation {
				by[u] = math.Ldexp(1, -p.Exp*halfExponent(row))
			}
			if m.Kind != units.Positive && oddSum(row) < 0 {
				by[u] = -by[u]
			}
			if by[u] != 1 {
				changed++
			}
		}
		if a := c.report[m.Class]; a != nil && m.Kind == units.Positive {
			a.Scaled += changed
		} else if a != nil {
			a.Turned += changed
		}
		if changed == 0 {
			continue
		}
		e := newElement(c.Units)
		e.scale(m, by)
		if err := c.apply(e); err != nil {
			return err
		}
	}
	return nil
}

// rowsOf are the numbers of a stored tensor or value by unit.
func rowsOf(g *units.Graph, cl *units.Class, name string, t tensor.Tensor) ([][]float64, error) {
	val, err := t.Float64s(nil)
	if err != nil {
		return nil, fmt.Errorf("%q: %w", name, err)
	}
	rows := make([][]float64, cl.Units*cl.Blocks)
	of := slices.DeleteFunc(readers(g, name), func(r *reader) bool { return r.spot.Class != cl })
	if most := len(val) / max(len(rows), 1) * len(of); most > 0 { // of each row, where all are of the class
		all := make([]float64, most*len(rows))
		for u := range rows {
			rows[u] = all[u*most : u*most : (u+1)*most]
		}
	}
	for _, r := range of {
		if len(r.outer) == 0 {
			r.runs(val, t.Shape, rows)
			continue
		}
		at := make([]int, len(t.Shape))
		for _, x := range val {
			if u, _, ok := r.unit(at); ok {
				rows[u] = append(rows[u], x)
			}
			for a := len(at) - 1; a >= 0; a-- {
				if at[a]++; at[a] < t.Shape[a] {
					break
				}
				at[a] = 0
			}
		}
	}
	return rows, nil
}

// runs appends the numbers of a tensor to the rows of the units that they belong to, run by run.
func (r *reader) runs(val []float64, shape []int, rows [][]float64) {
	run := 1
	for _, n := range shape[r.axis+1:] {
		run *= n
	}
	for at, k := 0, 0; at+run <= len(val) && run > 0; at, k = at+run, (k+1)%shape[r.axis] {
		if u := r.spot.Index[k]; u >= 0 {
			rows[u] = append(rows[u], val[at:at+run]...)
		}
	}
}

// halfExponent is the power of two that is nearest to the norm of a list, whatever its order: norm·2^-k is in [√½, √2).
func halfExponent(x []float64) int {
	squares := make([]float64, len(x))
	for i, v := range x {
		squares[i] = v * v
	}
	slices.Sort(squares)
	sum := 0.0
	for _, v := range squares {
		sum += v
	}
	if !(sum > 0) || math.IsInf(sum, 0) {
		return 0
	}
	_, k := math.Frexp(sum) // sum is in [½, 1)·2^k
	return int(math.Floor(float64(k) / 2))
}

// oddSum is the sum of cubes, whatever their order.
func oddSum(x []float64) float64 {
	cubes := make([]float64, len(x))
	for i, v := range x {
		cubes[i] = float64(v*v) * v
	}
	slices.SortFunc(cubes, func(a, b float64) int {
		if c := cmp.Compare(math.Abs(a), math.Abs(b)); c != 0 {
			return c
		}
		return cmp.Compare(a, b)
	})
	sum := 0.0
	for _, v := range cubes {
		sum += v
	}
	return sum
}

const (
	// grain is to what part of the scale of a value its units are told apart.
	grain = 1e-4
	// letters is at how many numbers of a value units are compared at most.
	letters = 256
)

// mostSweeps bounds how often units are looked at again. What is in blocks comes into order before blocks do; then
// nothing changes any more.
const mostSweeps = 6

// order puts units into canonical order, until looking at them once more changes nothing.
func (c *canoniser) order(ctx context.Context) error {
	var asked []request
	for _, cl := range c.Units.Classes {
		if values := c.seen(cl); cl.Fixed == "" && len(values) > 0 {
			asked = append(asked, request{cl, values[0]}, request{cl, values[len(values)-1]})
			c.places[cl] = identity(cl)
		}
	}
	if len(asked) == 0 {
		return nil
	}
	for range mostSweeps {
		m, err := c.settle(asked)
		if err != nil {
			return err
		}
		rows, err := c.body.activations(ctx, m, c.Units, asked, letters)
		if err != nil {
			return err
		}
		e := newElement(c.Units)
		for k := 0; k < len(asked); k += 2 {
			cl := asked[k].class
			if to := c.sorted(cl, rows[k], rows[k+1]); !slices.Equal(to, identity(cl)) {
				e.places[cl] = to
			}
		}
		if len(e.places) == 0 {
			break
		}
		e.follow()
		if err := c.apply(e); err != nil {
			return err
		}
		for cl, to := range e.places {
			c.places[cl] = after(cl, c.places[cl], to)
		}
	}
	for cl, to := range c.places {
		for u, at := range to {
			if int(at) != u%cl.Units {
				c.report[cl].Moved++
			}
		}
	}
	return nil
}

// settle is the model with the numbers as they are now, which answers the values that are asked for, too. The numbers
// are those in its bytes from then on: beside an engine that reads a large model they would be in memory twice.
func (c *canoniser) settle(asked []request) (*onnx.Model, error) {
	m, err := c.now.Into(c.Model)
	if err != nil {
		return nil, err
	}
	if c.body.Free != nil {
		c.body.Free() // what the numbers were before lies there still
	}
	raw, _, err := m.Expose(valuesOf(asked)...)
	if err != nil {
		return nil, err
	}
	if m, err = onnx.Load(raw); err != nil {
		return nil, err
	}
	c.now, err = numbersOf(m, c.Units)
	return m, err
}

// identity leaves units where they are.
func identity(cl *units.Class) []int32 {
	out := make([]int32, cl.Units*cl.Blocks)
	for i := range out {
		out[i] = int32(i % cl.Units)
	}
	return out
}

// after is one order after another, where blocks stay.
func after(cl *units.Class, first, then []int32) []int32 {
	out := make([]int32, len(first))
	for u, at := range then {
		out[u] = first[u/cl.Units*cl.Units+int(at)]
	}
	return out
}

// sorted is the order of units by their first values, those that are 0 in the last one behind.
func (c *canoniser) sorted(cl *units.Class, first, last [][]float64) []int32 {
	_, size, _ := spread(first)
	size /= math.Sqrt(float64(max(len(first[0]), 1)))
	words := make([][]float64, len(first))
	for u, row := range first {
		for _, v := range row {
			words[u] = append(words[u], math.Round(v/(grain*size)))
		}
	}
	report := c.report[cl]
	report.Dead, report.Ties = 0, 0
	dead := make([]bool, len(last))
	for u, row := range last {
		if dead[u] = !slices.ContainsFunc(row, func(v float64) bool { return v != 0 }); dead[u] {
			report.Dead++
		}
	}
	to := make([]int32, 0, len(first))
	for b := range cl.Blocks {
		list := make([]int, cl.Units)
		for i := range list {
			list[i] = i
		}
		at := func(i int) int { return b*cl.Units + i }
		slices.SortStableFunc(list, func(i, j int) int {
			i, j = at(i), at(j)
			if dead[i] != dead[j] {
				if dead[i] {
					return 1
				}
				return -1
			}
			return cmp.Or(slices.Compare(words[i], words[j]), slices.Compare(first[i], first[j]))
		})
		for k, i := range list {
			if k > 0 && !dead[at(i)] && slices.Equal(words[at(i)], words[at(list[k-1])]) {
				report.Ties++
			}
			to = append(to, int32(i))
		}
	}
	return to
}

// seen are the inner values that have a class and can be looked at, in the order of the graph.
func (n *Network) seen(cl *units.Class) []string {
	can := n.Model.Values()
	var out []string
	for _, p := range cl.Values {
		if slices.Contains(can, p.Value) && !slices.Contains(out, p.Value) {
			out = append(out, p.Value)
		}
	}
	return out
}

// request asks for the numbers of the units of a class in a value.
type request struct {
	class *units.Class
	value string
}

// valuesOf are the values that are asked for, each once.
func valuesOf(asked []request) []string {
	var values []string
	for _, a := range asked {
		if !slices.Contains(values, a.value) {
			values = append(values, a.value)
		}
	}
	return values
}

// activations are the numbers of units at all probes, for each request: at most so many of each unit, evenly.
func (b *Body) activations(ctx context.Context, m *onnx.Model, g *units.Graph, asked []request, most int,
) ([][][]float64, error) {
	out := make([][][]float64, len(asked))
	for k, a := range asked {
		out[k] = make([][]float64, a.class.Units*a.class.Blocks)
	}
	err := b.each(ctx, m, valuesOf(asked), func(i int, got []tensor.Named) error {
		for k, a := range asked {
			at := slices.IndexFunc(got, func(t tensor.Named) bool { return t.Name == a.value })
			if at < 0 {
				return fmt.Errorf("the engine returns no value %q", a.value)
			}
			t := got[at].Tensor
			if !slices.Equal(t.Shape, g.Shape(a.value)) {
				return fmt.Errorf("the value %q has the shape %v at probe %d, and %v was inferred", a.value, t.Shape, i,
					g.Shape(a.value))
			}
			rows, err := rowsOf(g, a.class, a.value, t)
			if err != nil {
				return err
			}
			for u, row := range rows {
				step := max((len(row)*len(b.Probes)+most-1)/most, 1)
				for j := 0; j < len(row); j += step {
					out[k][u] = append(out[k][u], row[j])
				}
			}
		}
		return nil
	})
	return out, err
}

// part is what people read of it.
func (c *Canonical) part() sheet.Part {
	p := sheet.Part{Title: "Canonical form", Table: [][]string{{
		"first at", "units", "scaled", "turned", "moved", "ties",
		"dead",
	}}}
	switch {
	case !c.Good():
		p.Text = append(p.Text, "Nothing was written: "+c.unwritten()+".")
		if len(c.Axes) == 0 {
			return p
		}
		p.Text = append(p.Text, "This is what would have been done.")
	case c.Same:
		p.Text = append(p.Text, "The weights have that form already.")
	case c.Equal:
		p.Text = append(p.Text, "The answers are those of the model, bit for bit.")
	default:
		p.Text = append(p.Text, fmt.Sprintf("The answers move by %s of their scale.", words.Figures(float64(c.Error))))
	}
	if c.File != "" {
		p.Text = append(p.Text, "Written to "+c.File+".")
	}
	for _, a := range c.Axes {
		p.Table = append(p.Table, []string{
			a.Name, words.Count(a.Units), words.Count(a.Scaled), words.Count(a.Turned), words.Count(a.Moved),
			words.Count(a.Ties), words.Count(a.Dead),
		})
	}
	return p
}
