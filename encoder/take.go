package encoder

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"nero/data/split"
	"nero/internal/elementary"
	"nero/measure/embedding"
	"nero/present/words"
	"nero/symmetry/group"

	"gonum.org/v1/gonum/mat"
)

// parameters are what a coordinate may mean as the coefficient of a generator: itself, an angle in rad, a logarithm.
// Those of a periodic axis are the nearest to 0.
func parameters(x float64, a group.Axis) []float64 {
	if a.Periodic {
		period := a.Max - a.Min
		for x > period/2 {
			x -= period
		}
		for x <= -period/2 {
			x += period
		}
	}
	out := []float64{x, x * math.Pi / 180}
	if x > 0 {
		out = append(out, elementary.Log(x))
	}
	return out
}

// mostFlowing is how many directions a generator moves at most: it costs the third power of them.
const mostFlowing = 16

// Take looks at the features of a model. Features that are not finite, and such as never vary, are a result; the error
// says what cannot be asked.
func Take(s *Subject) (*Model, error) {
	if err := Apart(s.Sides); err != nil {
		return nil, err
	}
	if s.identity() < 0 {
		return nil, errors.New("the identity is none of the elements: features are compared with those at it")
	}
	s, unit, times := s.inUnit()
	t := &taker{Subject: s, unit: unit, times: times, opt: embedding.Options{Seed: s.Seed, Confidence: s.Confidence}}
	t.out = &Model{Model: s.Model, Digest: s.Digest, Value: s.Value, more: s.More}
	t.out.Width = wide(s.Sides[split.Confirm].At[s.identity()])
	sides := map[split.Side]*embedding.Orbits{}
	for _, side := range split.Sides() {
		sides[side] = s.orbits(side)
		why, err := s.check(side, sides[side])
		if err != nil {
			return nil, fmt.Errorf("side %s: %w", side, err)
		}
		if why != "" {
			t.out.State, t.out.Why = NotFinite, why
			t.out.conclude()
			return t.out, nil
		}
	}
	t.fit, t.choose, t.confirm = sides[split.Fit], sides[split.Choose], sides[split.Confirm]
	if err := t.take(); err != nil {
		return nil, err
	}
	t.out.conclude()
	return t.out, nil
}

// check says which feature of a side is not finite, and where; "" for none. The error is for all else.
func (s *Subject) check(side split.Side, o *embedding.Orbits) (why string, err error) {
	err = o.Check()
	if nf, ok := errors.AsType[*embedding.NotFiniteError](err); ok {
		return s.notFinite(side, nf, group.Title(s.Group, s.Elements[nf.Element])), nil
	}
	if err != nil {
		return "", err
	}
	x := s.Sides[side]
	for _, more := range []struct { // what is asked beside the elements
		at       []*mat.Dense
		elements []group.Element
		how      string
	}{{x.Ladder, s.Ladder, ""}, {x.Back, s.Elements, " and back"}} {
		for k, at := range more.at {
			if at == nil {
				continue
			}
			o := &embedding.Orbits{Object: numbered(x.Objects), At: []*mat.Dense{at}}
			if nf, ok := errors.AsType[*embedding.NotFiniteError](o.Check()); ok {
				return s.notFinite(side, nf, group.Title(s.Group, more.elements[k])+more.how), nil
			}
		}
	}
	return "", nil
}

// notFinite is a feature in words.
func (s *Subject) notFinite(side split.Side, nf *embedding.NotFiniteError, where string) string {
	return fmt.Sprintf("feature %d of %s is %g at sample %s, %s", nf.Component, s.Value, nf.Value,
		s.Sides[side].Names[nf.Sample], where)
}

// taker is one look at the features of a model.
type taker struct {
	*Subject
	opt                  embedding.Options
	out                  *Model
	fit, choose, confirm *embedding.Orbits
	// of features, and by what those of the other release are multiplied to be in it
	unit, times float64
}

func (t *taker) stage(what string) {
	if t.Stage != nil {
		t.Stage(what)
	}
}

func (t *taker) take() error {
	t.stage("invariance")
	constant, err := t.invariance()
	if err != nil {
		return err
	}
	basis, err := embedding.Leading(t.fit, t.Seed)
	if errors.Is(err, embedding.ErrConstant) {
		constant = true
	} else if err != nil {
		return err
	}
	if constant {
		t.out.State = Collapsed
		t.out.Why = "features are the same for every sample"
		return nil
	}
	_, t.out.Axes = basis.Axes.Dims()
	held := Number(basis.Share)
	t.out.Held = &held
	fit, choose, confirm := t.fit.On(basis), t.choose.On(basis), t.confirm.On(basis)
	if len(t.Elements) > 1 {
		t.stage("maps")
		if err := t.maps(fit, choose, confirm); err != nil {
			return err
		}
		if err := t.parts(fit, choose, confirm); err != nil {
			return err
		}
		if err := t.generators(basis); err != nil {
			return err
		}
	} else {
		t.out.Notes = append(t.out.Notes, "maps, retrieval, pose and split: the identity is the only element")
	}
	return t.against()
}

// invariance says how far features stay. Constant features are told.
func (t *taker) invariance() (constant bool, err error) {
	got, err := t.confirm.Invariance(t.opt)
	if errors.Is(err, embedding.ErrConstant) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	rank, apart := estimate(got.Rank), Number(got.Apart*t.unit)
	t.out.Rank, t.out.Dead, t.out.Apart, t.out.Pairs = &rank, got.Dead, &apart, got.Pairs
	if got.Why != "" {
		t.out.State, t.out.Why = Collapsed, got.Why
	}
	side := t.Sides[split.Confirm]
	t.again(side.Again, got.Apart)
	var idle []string
	for k, by := range got.By {
		if k == t.confirm.Identity {
			continue
		}
		x := Transformation{
			Element: group.Title(t.Group, t.Elements[k]), Ratio: estimate(by.Ratio), Cosine: estimate(by.Cosine),
			Undefined: by.Undefined, Diagonal: estimate(by.Diagonal), OffDiagonal: estimate(by.OffDiagonal),
			Worst: side.Names[by.Worst], WorstRatio: Number(by.WorstRatio),
			idle: t.Idle != nil && t.Idle[k],
		}
		near, err := t.confirm.Nearer(k, t.opt)
		if err != nil {
			return false, fmt.Errorf("%s: %w", x.Element, err)
		}
		x.beside(near)
		if x.idle {
			idle = append(idle, x.Element)
		}
		if side.Back != nil && side.Back[k] != nil {
			x.Resampled = true
			back := &embedding.Orbits{
				Object: t.confirm.Object, At: []*mat.Dense{t.confirm.Still(), side.Back[k]},
			}
			floor, err := back.Invariance(t.opt)
			if err != nil {
				return false, fmt.Errorf("%s, there and back: %w", x.Element, err)
			}
			f := estimate(floor.By[1].Ratio)
			x.Floor = &f
		}
		t.out.Transformations = append(t.out.Transformations, x)
	}
	if len(idle) > 0 {
		at := strings.Join(idle[:min(len(idle), mostIdle)], ", ")
		if more := len(idle) - mostIdle; more > 0 {
			at += fmt.Sprintf(" and %d more", more)
		}
		t.out.Notes = append(t.out.Notes, "how far features go at "+at+": every sample is left as it is")
	}
	return false, nil
}

// again says how far answers to the same input are apart. Batches of another size may move last digits.
func (t *taker) again(x *mat.Dense, apart float64) {
	const rounding = 1e-3
	if x == nil {
		return
	}
	n, d := x.Dims()
	sum := 0.0
	for i := range n {
		row, was := x.RawRowView(i), t.confirm.Still().RawRowView(i)
		square := 0.0
		for j := range d {
			square += float64((row[j] - was[j]) * (row[j] - was[j]))
		}
		sum += math.Sqrt(square) / float64(n)
	}
	if r := Number(sum / apart); !(float64(r) <= rounding) { // NaN is another answer, too
		t.out.Again = &r
	}
}

// mostIdle is how many elements that move nothing are named.
const mostIdle = 4

// maps fits a map for each element, and asks with them for views.
func (t *taker) maps(fit, choose, confirm *embedding.Orbits) error {
	out := &Maps{}
	all := make([]*embedding.Map, len(t.Elements))
	for k := range t.Elements {
		m, err := embedding.Either(fit.Pairs(k), choose.Pairs(k))
		if err != nil {
			return err
		}
		all[k] = m
		if k == confirm.Identity {
			continue
		}
		p := confirm.Pairs(k)
		x := embedding.Explain(m.Of(p.Before), p.After, p.Object, t.opt)
		out.By = append(out.By, MapOf{
			group.Title(t.Group, t.Elements[k]), estimate(x.Overall), Number(m.Lambda),
		})
	}
	worst := math.Inf(-1)
	for i, g := range t.Elements {
		for j, h := range t.Elements {
			if i == confirm.Identity || j == confirm.Identity {
				continue
			}
			gh := t.Group.Mul(g, h)
			for k, e := range t.Elements {
				if t.Group.Dist(gh, e) < group.Tolerance {
					out.Products++
					worst = max(worst, embedding.Homomorphism(all[k].M, all[i].M, all[j].M)) // NaN stays
				}
			}
		}
	}
	if out.Products > 0 {
		w := Number(worst)
		out.Homomorphism = &w
	}
	t.out.Maps = out
	r := retrieval(confirm.Views(all, t.opt))
	t.out.Retrieval = &r
	return nil
}

// parts says where object and pose lie, and what can be read off all of it.
func (t *taker) parts(fit, choose, confirm *embedding.Orbits) error {
	target, of := t.target()
	if t.NoSplit {
		p, err := embedding.ReadPose(fit, choose, confirm, target, t.opt)
		if err != nil {
			return err
		}
		x := pose(of, p)
		t.out.Pose = &x
		return nil
	}
	t.stage("split")
	got, err := embedding.FindParts(fit, choose, confirm, target, t.opt)
	if err != nil {
		return err
	}
	out := &Split{Invariant: estimate(got.Invariant), Moving: estimate(got.MovingOnly), Pose: estimate(got.Pose)}
	for _, x := range got.Mu {
		out.Mu = append(out.Mu, Number(x))
	}
	for _, x := range got.Nu {
		out.Nu = append(out.Nu, Number(x))
	}
	for _, k := range got.Kept {
		l := Leakage{k.Name, k.Directions, estimate(k.Identity), Number(k.Chance), pose(of, k.Element)}
		out.Leakage = append(out.Leakage, l)
		if k.Name == "all" {
			t.out.Pose = &l.Element
		}
	}
	t.out.Split = out
	return nil
}

// generators fits one generator where the group has one.
func (t *taker) generators(basis *embedding.Basis) error {
	if t.NoGenerators {
		return nil
	}
	if l, ok := t.Group.(group.Lie); ok && len(l.Generators()) > 1 {
		return t.algebra(basis)
	}
	params, period, of, why := t.path()
	if why == "" && len(params) < 5 {
		why = fmt.Sprintf("%d elements are too few for a generator, want at least 5", len(params))
	}
	if why != "" {
		t.out.Notes = append(t.out.Notes, "generator: "+why)
		return nil
	}
	t.stage("generator")
	b := basis.First(mostFlowing)
	centre, err := embedding.Centre(t.fit.On(b), t.choose.On(b))
	if err != nil {
		return err
	}
	along := func(o *embedding.Orbits) *embedding.Path {
		return &embedding.Path{T: params, Orbits: o.On(b).From(centre), Period: period}
	}
	// also at steps between elements
	between := func(side split.Side, o *embedding.Orbits) *embedding.Path {
		p := along(o)
		if more := t.Sides[side].Ladder; len(more) > 0 {
			finer, _ := t.finer()
			x := &embedding.Orbits{Object: o.Object, At: slices.Concat(o.At, more), Identity: o.Identity}
			p.T, p.Orbits = slices.Concat(params, finer), x.On(b).From(centre)
		}
		return p
	}
	if period == 0 {
		if err := t.extrapolation(basis, params, of); err != nil {
			return err
		}
	}
	g, err := embedding.Generate(between(split.Fit, t.fit), between(split.Choose, t.choose),
		between(split.Confirm, t.confirm), t.opt)
	if errors.Is(err, embedding.ErrGenerator) {
		t.out.Notes = append(t.out.Notes, "generator: "+err.Error())
		return nil
	}
	if err != nil {
		return err
	}
	_, axes := b.Axes.Dims()
	out := &Generators{
		Of: of.Name, Unit: of.Unit, Axes: axes, Held: Number(b.Share), Growth: Number(g.Growth),
		R2Unseen: estimate(g.R2), R2Seen: estimate(g.Seen), R2Ridge: estimate(g.Ridge), Fitted: g.Fitted,
		Unseen: g.Unseen,
	}
	for _, f := range g.Frequencies {
		out.Frequencies = append(out.Frequencies, estimate(f))
	}
	least := math.Inf(1)
	for k, x := range between(split.Confirm, t.confirm).T {
		if k != t.confirm.Identity {
			least = min(least, math.Abs(x))
		}
	}
	out.Most = Number(math.Pi / least)
	for _, f := range g.Start {
		out.Start = append(out.Start, Number(f))
	}
	if !math.IsNaN(g.PeriodDefect) {
		p := Number(g.PeriodDefect)
		out.Period = &p
	}
	if err := t.planes(out, g, along(t.confirm)); err != nil {
		return err
	}
	t.out.Generators = out
	return nil
}

// drawn is of how many objects a report holds where they lie in planes.
const drawn = 4

// planes says where the first objects to confirm lie in planes that turn.
func (t *taker) planes(out *Generators, g *embedding.Generator, confirm *embedding.Path) error {
	all, err := g.Planes(confirm)
	if err != nil {
		return err
	}
	seen := map[int]bool{}
	var shown []int
	for i, o := range confirm.Object {
		if !seen[o] && len(shown) < drawn {
			seen[o], shown = true, append(shown, i)
		}
	}
	out.T, out.Planes = []Number{}, []Plane{}
	for _, x := range confirm.T {
		out.T = append(out.T, Number(x))
	}
	for _, p := range all {
		x := Plane{Frequency: Number(imag(p.Rate)), Growth: Number(real(p.Rate)), Spread: Number(p.Spread * t.unit)}
		for _, i := range shown {
			s := InPlane{Sample: t.Sides[split.Confirm].Names[i]}
			for _, at := range p.At {
				s.X, s.Y = append(s.X, Number(real(at[i]))), append(s.Y, Number(imag(at[i])))
			}
			x.Samples = append(x.Samples, s)
		}
		out.Planes = append(out.Planes, x)
	}
	return nil
}

// extrapolation asks what reads the parameter on part of the window about the rest.
func (t *taker) extrapolation(basis *embedding.Basis, params []float64, of group.Generator) error {
	along := func(o *embedding.Orbits) *embedding.Path { return &embedding.Path{T: params, Orbits: o.On(basis)} }
	x, err := embedding.Extrapolate(along(t.fit), along(t.choose), along(t.confirm), t.opt)
	if errors.Is(err, embedding.ErrGenerator) {
		t.out.Notes = append(t.out.Notes, "beyond the window: "+err.Error())
		return nil
	}
	if err != nil {
		return err
	}
	t.out.Extrapolation = &Extrapolation{
		Number(x.Half), of.Unit, estimate(x.Inside), estimate(x.Outside), x.Fitted, x.Beyond,
	}
	return nil
}

// against compares another release.
func (t *taker) against() error {
	if t.Against == nil {
		return nil
	}
	t.stage("releases")
	sides := map[split.Side]embedding.Release{}
	for _, side := range split.Sides() {
		o := &embedding.Orbits{Object: t.orbits(side).Object, At: t.Sides[side].Other}
		err := o.Check()
		if nf, ok := errors.AsType[*embedding.NotFiniteError](err); ok {
			why := fmt.Sprintf("feature %d of %s is %g at sample %s", nf.Component, t.Against.Value, nf.Value,
				t.Sides[side].Names[nf.Sample])
			if len(o.At) > 1 {
				why += ", " + group.Title(t.Group, t.Elements[nf.Element])
			}
			t.empty(why)
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", t.Against.Model, err)
		}
		r := embedding.Release{Old: t.orbits(side).Still(), New: t.other(side), Times: t.times, Object: o.Object}
		if wide(r.Old) == wide(r.New) {
			r.AsIs = t.asIs(r.New)
		}
		sides[side] = r
	}
	narrow, err := t.narrow(sides)
	if err != nil {
		return err
	}
	got, err := embedding.Compare(sides[split.Fit], sides[split.Choose], sides[split.Confirm], t.Anchors, t.opt)
	if errors.Is(err, embedding.ErrConstant) {
		t.empty("its features are the same for every sample")
		return nil
	}
	if err != nil {
		return fmt.Errorf("%s against %s: %w", t.Against.Model, t.Model, err)
	}
	out := &Against{
		Model: t.Against.Model, Digest: t.Against.Digest, Value: t.Against.Value, Width: wide(t.other(split.Confirm)),
		Reading: string(got.Reading), R2Isometry: estimate(got.Isometry), R2Similarity: estimate(got.Similarity),
		R2Affine: estimate(got.Affine), R2Back: estimate(got.Back), Factor: Number(got.Factor / t.times),
		Spread: Number(got.Spread), Orthogonality: []Held{}, Backward: []Recalls{}, CKA: estimate(got.CKA), N: got.N,
		Relative: Relative{
			got.Relative.Anchors, estimate(got.Relative.Cosine), estimate(got.Relative.Jaccard),
			retrieval(got.Relative.MRR),
		},
		Index: embedding.Undecided, more: t.More,
	}
	if got.Plain != nil {
		x := estimate(*got.Plain)
		out.R2Plain = &x
	}
	for _, h := range got.Curve {
		out.Orthogonality = append(out.Orthogonality, Held{Number(h.Penalty), estimate(h.R2), Number(h.Departure)})
	}
	if err := t.backward(out, got.Adapters, narrow); err != nil {
		return err
	}
	t.out.Against = out
	return nil
}

// asIs are features of the other release in the unit of the model; nil where that leaves the range of numbers.
func (t *taker) asIs(x *mat.Dense) *mat.Dense {
	if !(t.times > 0) || math.IsInf(t.times, 1) {
		return nil
	}
	out := embedding.In(1/t.times, x)
	if math.IsInf(mat.Norm(out, math.Inf(1)), 1) {
		return nil
	}
	return out
}

// empty says that the other release has no features to compare: it reads no index.
func (t *taker) empty(why string) {
	nothing := Estimate{Number(math.NaN()), Number(math.NaN()), Number(math.NaN())}
	t.out.Against = &Against{
		Model: t.Against.Model, Digest: t.Against.Digest, Value: t.Against.Value, Width: wide(t.other(split.Confirm)),
		Reading: string(embedding.Reembed), Index: embedding.Worse, Why: why, R2Isometry: nothing,
		R2Similarity: nothing, R2Affine: nothing, R2Back: nothing, Factor: nothing.Value, Spread: nothing.Value,
		Orthogonality: []Held{}, Backward: []Recalls{}, CKA: nothing, Relative: Relative{
			Cosine: nothing, Jaccard: nothing, MRR: Retrieval{MRR: nothing, H1: nothing, H5: nothing, H10: nothing},
		},
	}
}

// mostWide is how wide features may be for a turn to be looked for in all of them.
const mostWide = 512

// narrowed takes features of old and new releases to fewer directions.
type narrowed struct{ old, fresh func(*mat.Dense) *mat.Dense }

// narrow looks at features that are wider than that along the directions in which they vary most.
func (t *taker) narrow(sides map[split.Side]embedding.Release) (narrowed, error) {
	as := func(x *mat.Dense) *mat.Dense { return x }
	out := narrowed{as, as}
	fit := sides[split.Fit]
	for _, x := range []struct {
		name string
		at   *mat.Dense
		to   *func(*mat.Dense) *mat.Dense
	}{{t.Model, fit.Old, &out.old}, {t.Against.Model, fit.New, &out.fresh}} {
		if _, d := x.at.Dims(); d <= mostWide {
			continue
		}
		b, err := embedding.Leading(&embedding.Orbits{Object: fit.Object, At: []*mat.Dense{x.at}}, t.Seed)
		if err != nil {
			return out, fmt.Errorf("%s: %w", x.name, err)
		}
		*x.to = b.Of
		_, axes := b.Axes.Dims()
		t.out.Notes = append(t.out.Notes, fmt.Sprintf("more than %d directions of %s, which hold %s of the variance "+
			"on the side fit, beside the other release", axes, x.name, words.Percent(b.Share)))
	}
	for side, r := range sides {
		if r.AsIs != nil { // beside the old ones, along their axes
			r.AsIs = out.old(r.AsIs)
		}
		r.Old, r.New = out.old(r.Old), out.fresh(r.New)
		sides[side] = r
	}
	return out, nil
}

// other are the features of the other release at the identity.
func (t *taker) other(side split.Side) *mat.Dense {
	all := t.Sides[side].Other
	if len(all) == 1 {
		return all[0]
	}
	return all[t.identity()]
}

// backward asks the old index with new features, as they are and through each adapter.
func (t *taker) backward(out *Against, adapters []embedding.NamedMap, narrow narrowed) error {
	side := t.Sides[split.Confirm]
	q := embedding.Recalled{Gallery: t.confirm.Still()}
	right := "the same label"
	var fresh *mat.Dense
	if labelled(side.Labels) {
		q.Key, q.Asked, q.Object = side.Labels, side.Labels, t.confirm.Object
		q.Old, fresh = q.Gallery, t.other(split.Confirm)
		for i := range side.Labels {
			q.Self = append(q.Self, i)
		}
	} else {
		right = "the same object, of queries at other elements"
		if len(side.Other) != len(t.Elements) || len(t.Elements) < 2 {
			t.out.Notes = append(t.out.Notes, "backward: neither labels nor other elements say what is right")
			return nil
		}
		q.Key = t.confirm.Object
		var olds, news []*mat.Dense
		for k := range t.Elements {
			if k == t.confirm.Identity {
				continue
			}
			olds, news = append(olds, t.confirm.At[k]), append(news, side.Other[k])
			for _, id := range t.confirm.Object {
				q.Asked, q.Object, q.Self = append(q.Asked, id), append(q.Object, id), append(q.Self, -1)
			}
		}
		q.Old, fresh = embedding.Stack(olds...), embedding.Stack(news...)
	}
	all := adapters
	var asIs *mat.Dense
	if wide(fresh) == t.confirm.Width() {
		asIs = t.asIs(fresh)
	}
	if asIs != nil {
		all = append([]embedding.NamedMap{{Name: "none"}}, adapters...)
	}
	for _, a := range all {
		asked := q
		if asked.New = asIs; a.Map != nil {
			asked.Gallery, asked.Old = narrow.old(q.Gallery), narrow.old(q.Old)
			asked.New = a.Map.Of(narrow.fresh(fresh))
		}
		for _, k := range []int{1, 5} { // among how many of the nearest something right has to be
			r, err := asked.Recall(a.Name, k, t.opt)
			if err != nil {
				return err
			}
			out.Backward = append(out.Backward, Recalls{
				a.Name, right, k, estimate(r.New), estimate(r.Old), estimate(r.Difference), r.Candidates,
				Number(r.Chance), r.State,
			})
		}
	}
	out.Index = out.index()
	return nil
}

// adapters are what new features went through, in the order in which it was tried, with the worst that is said of each.
func (a *Against) adapters() (names []string, state map[string]string) {
	order := []string{embedding.Compatible, embedding.Undecided, embedding.Worse}
	state = map[string]string{}
	for _, r := range a.Backward {
		was, known := state[r.Adapter]
		if !known {
			names = append(names, r.Adapter)
		}
		if !known || slices.Index(order, r.State) > slices.Index(order, was) {
			state[r.Adapter] = r.State
		}
	}
	return names, state
}

// index is what is said of the index: that the new release reads it as it is or through an adapter, or, of the best of
// these, that it finds less or that it is not decided.
func (a *Against) index() string {
	out := embedding.Worse
	_, by := a.adapters()
	for _, state := range by {
		switch state {
		case embedding.Compatible:
			return state
		case embedding.Undecided:
			out = state
		}
	}
	return out
}

// through is the first adapter by which the index can be read, "" for none.
func (a *Against) through() string {
	names, by := a.adapters()
	for _, name := range names {
		if by[name] == embedding.Compatible {
			return name
		}
	}
	return ""
}

// wide is how many numbers features have.
func wide(x *mat.Dense) int {
	_, d := x.Dims()
	return d
}

// labelled tells whether every sample has a label, and two have the same.
func labelled(labels []int) bool {
	seen := map[int]bool{}
	twice := false
	for _, l := range labels {
		if l < 0 {
			return false
		}
		twice = twice || seen[l]
		seen[l] = true
	}
	return twice
}
