package encoder

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"nero/data/split"
	"nero/measure/embedding"
	"nero/present/sheet"
	"nero/present/words"
	"nero/symmetry/group"
	"nero/symmetry/matrix"

	"gonum.org/v1/gonum/mat"
)

// lie is a group of several generators, as matrices.
type lie struct {
	group.Lie
	of       []group.Generator
	matrices []matrix.Square
	step     []float64
}

// stepOf is how far features are asked at first along a generator: 15°, a pixel, a tenth of what has another unit.
func stepOf(g group.Generator) float64 {
	switch g.Unit {
	case "rad":
		return math.Pi / 12
	case "px":
		return 1
	}
	return 0.1
}

// newLie finds the matrices of the generators of a group that moves points; "" and the reason why there are none.
func newLie(g group.Group) (*lie, string) {
	l, ok := g.(group.Lie)
	if !ok {
		return nil, g.Name() + " has no generators"
	}
	out := &lie{Lie: l, of: l.Generators()}
	for i, x := range out.of {
		t := make([]float64, len(out.of))
		t[i] = stepOf(x) / 2
		m, ok := out.log(l.Exp(t))
		if !ok {
			return nil, g.Name() + " is not told by matrices that move points, and its brackets are not known"
		}
		for k := range m.V {
			m.V[k] /= t[i]
		}
		out.matrices, out.step = append(out.matrices, m), append(out.step, stepOf(x))
	}
	return out, ""
}

// log is the logarithm of an element as a matrix that moves points, with a row more for shifts.
func (l *lie) log(g group.Element) (matrix.Square, bool) {
	s, ok := group.AsSpatial(l.Lie)
	if !ok {
		return matrix.Square{}, false
	}
	a, t := s.Motion(g)
	d := s.Dim()
	m := matrix.Eye(d + 1)
	for i := range d {
		copy(m.V[i*(d+1):], a[i*d:(i+1)*d])
		m.V[i*(d+1)+d] = t[i]
	}
	return m.Log()
}

// coefficients are those of the combination of the generators that is nearest to a matrix.
func (l *lie) coefficients(m matrix.Square) []float64 {
	n := len(l.matrices)
	gram, right := mat.NewSymDense(n, nil), mat.NewVecDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			gram.SetSym(i, j, l.matrices[i].Dot(l.matrices[j]))
		}
		right.SetVec(i, l.matrices[i].Dot(m))
	}
	var c mat.Cholesky
	var x mat.VecDense
	if !c.Factorize(gram) || c.SolveVecTo(&x, right) != nil {
		return nil
	}
	return x.RawVector().Data
}

// bracket are the structure constants; nil where the matrices do not close.
func (l *lie) bracket() [][][]float64 {
	n := len(l.matrices)
	out := make([][][]float64, n)
	for i, a := range l.matrices {
		for _, b := range l.matrices {
			m := a.Mul(b).Add(b.Mul(a), -1)
			c := l.coefficients(m)
			if c == nil {
				return nil
			}
			rest := m
			for k, x := range c {
				if math.Abs(x) < 1e-9 { // what rounding leaves
					c[k] = 0
				}
				rest = rest.Add(l.matrices[k], -c[k])
			}
			if !(rest.Norm() < 1e-6*(1+m.Norm())) {
				return nil
			}
			out[i] = append(out[i], c)
		}
	}
	return out
}

// parameters are the coefficients of which an element is the exponential; nil where none are known, as of half turns.
func (l *lie) parameters(g group.Element) []float64 {
	m, ok := l.log(g)
	if !ok {
		return nil
	}
	t := l.coefficients(m)
	if t == nil || !(l.Dist(l.Exp(t), g) < group.Tolerance) {
		return nil
	}
	return t
}

// Rungs are the elements beside its own that a group with generators is asked at. With several it is a few steps along
// each of them alone, in both directions. With one it is those of them that are smaller than every element: planes of
// features that turn by half a turn and more from one element to the next look slower than they are.
func (s *Subject) Rungs() []group.Element {
	if _, out := s.finer(); len(out) > 0 {
		return out
	}
	l, why := newLie(s.Group)
	if why != "" || len(l.of) < 2 {
		return nil
	}
	var out []group.Element
	for i := range l.of {
		for _, k := range []float64{1, 2, 4} {
			for _, sign := range []float64{1, -1} {
				t := make([]float64, len(l.of))
				t[i] = sign * k * l.step[i]
				out = append(out, l.Exp(t))
			}
		}
	}
	return out
}

// finer are steps along the only generator of a group that are smaller than all of its elements, with their parameters.
func (s *Subject) finer() (params []float64, out []group.Element) {
	t, _, of, why := s.path()
	if why != "" {
		return nil, nil
	}
	lie, _ := s.Group.(group.Lie) // it has a path
	least := math.Inf(1)
	for k, x := range t {
		if k != s.identity() {
			least = min(least, math.Abs(x))
		}
	}
	for _, k := range []float64{1, 2} {
		for _, sign := range []float64{1, -1} {
			if x := k * stepOf(of); x < least*(1-1e-6) && !math.IsInf(least, 1) {
				params = append(params, sign*x)
				out = append(out, lie.Exp([]float64{sign * x}))
			}
		}
	}
	return params, out
}

// algebra fits a matrix for each generator of a group of several.
func (t *taker) algebra(basis *embedding.Basis) error {
	l, why := newLie(t.Group)
	var c [][][]float64
	if why == "" {
		if c = l.bracket(); c == nil {
			why = "the brackets of " + t.Group.Name() + " were not found"
		}
	}
	if why == "" && len(t.Ladder) == 0 {
		why = "no steps along the generators were asked"
	}
	if why != "" {
		t.out.Notes = append(t.out.Notes, "generators: "+why)
		return nil
	}
	t.stage("generators")
	b := basis.First(mostFlowing)
	all := append(slices.Clone(t.Elements), t.Ladder...)
	var params [][]float64
	var keep, asked []int
	left := 0
	for k, g := range all {
		p := l.parameters(g)
		if p == nil && k != t.confirm.Identity {
			left++
			continue
		}
		if k == t.confirm.Identity {
			p = make([]float64, len(l.of))
		} else if k < len(t.Elements) {
			asked = append(asked, len(keep))
		}
		params, keep = append(params, p), append(keep, k)
	}
	span := func(o *embedding.Orbits, side split.Side) *embedding.Span {
		x := &embedding.Orbits{Object: o.Object}
		for i, k := range keep {
			x.At = append(x.At, b.Of(slices.Concat(o.At, t.Sides[side].Ladder)[k]))
			if k == o.Identity {
				x.Identity = i
			}
		}
		return &embedding.Span{T: params, Orbits: x, Step: l.step, Asked: asked, Bracket: c}
	}
	fit, choose, confirm := span(t.fit, split.Fit), span(t.choose, split.Choose), span(t.confirm, split.Confirm)
	centre, err := embedding.Centre(fit.Orbits, choose.Orbits)
	if err != nil {
		return err
	}
	for _, s := range []*embedding.Span{fit, choose, confirm} {
		s.Orbits = s.From(centre)
	}
	g, err := embedding.Represent(fit, choose, confirm, t.opt)
	if errors.Is(err, embedding.ErrGenerator) {
		t.out.Notes = append(t.out.Notes, "generators: "+err.Error())
		return nil
	}
	if err != nil {
		return err
	}
	_, axes := b.Axes.Dims()
	out := &Algebra{
		Axes: axes, Held: Number(b.Share), R2Unseen: estimate(g.R2), R2Seen: estimate(g.Seen),
		R2Ridge: estimate(g.Ridge), Fitted: g.Fitted, Unseen: g.Unseen, LeftOut: left,
	}
	for i, x := range l.of {
		one := Turning{Of: x.Name, Unit: x.Unit, Growth: Number(g.Growth[i])}
		for _, f := range g.Frequencies[i] {
			one.Frequencies = append(one.Frequencies, estimate(f))
		}
		out.Generators = append(out.Generators, one)
	}
	if t.out.staysOnAverage() { // what is left of the matrices is rounding, and so is their bracket
		g.Brackets = nil
	}
	for _, x := range g.Brackets {
		out.Brackets = append(out.Brackets, Bracket{l.of[x.I].Name, l.of[x.J].Name, Number(x.Defect)})
	}
	t.out.Algebra = out
	return nil
}

func (a *Algebra) part() sheet.Part {
	p := sheet.Part{
		Title: "Do generators move features along the whole group?",
		Text: []string{fmt.Sprintf("One matrix for each explains R² %s (%s) of features at %s that they were not "+
			"fitted to, and %s at the %d others; a map for each element %s.", a.R2Unseen.text(), a.R2Unseen.interval(),
			words.Plural(a.Unseen, "element", "elements"), a.R2Seen.text(), a.Fitted, a.R2Ridge.text())},
		Table: [][]string{{"generator", "frequencies (side fit)", "largest growth"}},
		Notes: []string{fmt.Sprintf("They move the %s along which features vary most, which hold %s of the variance.",
			words.Plural(a.Axes, "direction", "directions"), words.Percent(float64(a.Held)))},
	}
	if nothing(a.R2Unseen) {
		p.Table = nil
		p.Text = append(p.Text, "They explain no more than the mean of the features does, so that how fast planes "+
			"turn and what the brackets are says nothing.")
		return p
	}
	for _, g := range a.Generators {
		const most = 5
		var all []string
		if n := len(g.Frequencies) - most; n > 0 {
			all = append(all, words.Plural(n, "slower one", "slower ones"))
		}
		for _, f := range g.Frequencies[max(len(g.Frequencies)-most, 0):] {
			all = append(all, fmt.Sprintf("%s (%s)", f.text(), f.interval()))
		}
		unit := ""
		if g.Unit != "" {
			unit = " in 1/" + g.Unit
		}
		p.Table = append(p.Table, []string{g.Of, strings.Join(all, ", "), figure(float64(g.Growth)) + unit})
	}
	if a.LeftOut > 0 {
		p.Notes = append(p.Notes, words.Plural(a.LeftOut, "element is", "elements are")+
			" left out, as half turns, which are exponentials in two ways.")
	}
	if len(a.Brackets) == 0 {
		p.Text = append(p.Text, "No generator moves the features, so that there are no brackets to compare.")
		return p
	}
	worst := a.Brackets[0]
	for _, b := range a.Brackets {
		if b.Defect > worst.Defect {
			worst = b
		}
	}
	p.Text = append(p.Text, fmt.Sprintf("Their brackets are those of the group up to %s, of %s and %s (0: exactly).",
		figure(float64(worst.Defect)), worst.First, worst.Second))
	return p
}
