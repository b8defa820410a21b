package orbit

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"nero/data/space"
	"nero/internal/elementary"
	"nero/symmetry/action"
	"nero/symmetry/group"
)

// Spec chooses the elements of a plan. At most one of Grid, All, Haar, LowDiscrepancy, Lattice, Values and Slices is
// set; none means the preset of the group, see [group.Preset], or the elements of Refine alone.
type Spec struct {
	// elements per axis of the chart; equally spaced, see [group.Grid]
	Grid []int
	// every element of a finite group
	All bool
	// this many random elements, see [group.Haar]
	Haar int
	// this many, spread evenly, see [group.LowDiscrepancy]
	LowDiscrepancy int
	// only elements that act on the input without resampling
	Lattice bool
	// listed coordinates, one list per element
	Values [][]float64
	// Range is [lowest, highest] per axis, in the units of the chart; nil for [group.Window]. It goes with every choice
	// but All, Values and Slices.
	Range [][]float64
	// rotations of space about the axes in planes, see [group.Discs]
	Slices *Slices
	// a finer grid around one element, besides what the other choices name
	Refine *Refine
	// Every keeps about one in so many of what the other choices name, spread evenly, and the identity; 0 and 1 keep
	// all. It does not go with Refine.
	Every int
}

// Slices chooses rotations of space as [group.Discs] does.
type Slices struct {
	// some of xy, xz, yz; none for all three
	Planes []string
	// degrees between axes, 0 for 5
	Axis float64
	// degrees between angles, 0 for 15
	Angle float64
}

// Refine is a grid around an element, see [group.Refine]. Means over the plan do not count it twice: where it comes
// with another choice, its elements have weight 0, and curves through them show what lies between the others.
type Refine struct {
	// coordinates in the chart
	At []float64
	// per axis; nil for 5 degrees, 2 px or samples, a tenth of other lengths, factors of 1.1
	Radius []float64
	// odd numbers of elements per axis; nil for as many as keep the whole below a thousand, 5 at most
	Grid []int
}

// NewPlan picks the elements of g that spec asks for and pairs them with the actions on both sides of a model.
//
// The identity is always in the plan. Where the choice leaves it out, it comes first with weight 0: curves need it as
// the reference, means do not, and Measure says so. Equal elements are visited once. All draws come from seed.
func NewPlan(g group.Group, spec Spec, in, out action.Action, seed uint64) (*Plan, error) {
	for _, side := range []struct {
		name string
		act  action.Action
	}{{"input", in}, {"output", out}} {
		if side.act == nil {
			return nil, fmt.Errorf("the %s of an orbit of %s has no action", side.name, g.Name())
		}
		if h := side.act.Group(); h == nil || h.Name() != g.Name() {
			return nil, fmt.Errorf("the action on the %s is not of %s", side.name, g.Name())
		}
	}
	es, measure, err := choose(g, spec, in, seed)
	if err != nil {
		return nil, fmt.Errorf("orbit of %s: %w", g.Name(), err)
	}
	if len(es) == 0 {
		return nil, fmt.Errorf("orbit of %s: the range holds no element: widen it", g.Name())
	}
	if spec.Every > 1 {
		if spec.Refine != nil {
			return nil, fmt.Errorf("orbit of %s: every thins elements out and refine adds some: leave one of them out",
				g.Name())
		}
		thinned := every(g, es, spec.Every, spec.Haar > 0 || spec.LowDiscrepancy > 0)
		measure = everyText(len(thinned), len(es), measure)
		es = thinned
	}
	p := &Plan{Group: g, Elements: es, Measure: measure, In: in, Out: out}
	if i := nearIdentity(p); i >= 0 {
		es[i] = g.Identity() // exactly, so that it is found
	} else {
		p.Elements = append([]group.Element{g.Identity()}, es...)
		p.Weights = make([]float64, len(p.Elements))
		for i := range es {
			p.Weights[i+1] = 1 / float64(len(es))
		}
		p.Measure += "; the identity is added as the reference, with weight 0"
	}
	if spec.Refine == nil || onlyRefines(spec) {
		return p, nil
	}
	return p, p.refine(*spec.Refine)
}

// onlyRefines reports that the plan is the refinement alone.
func onlyRefines(s Spec) bool {
	return s.Grid == nil && !s.All && s.Haar == 0 && s.LowDiscrepancy == 0 && !s.Lattice && s.Values == nil &&
		s.Slices == nil && s.Range == nil
}

// refine adds the elements of a refinement that the plan lacks, with weight 0.
func (p *Plan) refine(r Refine) error {
	es, text, err := refinement(p.Group, r)
	if err != nil {
		return fmt.Errorf("orbit of %s: %w", p.Group.Name(), err)
	}
	before := len(p.Elements)
	all := group.Dedup(p.Group, append(slices.Clone(p.Elements), es...), group.Tolerance)
	if p.Weights == nil {
		p.Weights = make([]float64, before)
		for i := range p.Weights {
			p.Weights[i] = 1 / float64(before)
		}
	}
	p.Elements = all
	p.Weights = append(p.Weights, make([]float64, len(all)-before)...)
	p.Measure += "; with weight 0 " + text
	return nil
}

func refinement(g group.Group, r Refine) ([]group.Element, string, error) {
	chart := g.Chart()
	if r.Radius == nil {
		r.Radius = make([]float64, len(chart))
		for i, a := range chart {
			switch a.Form() { //nolint:exhaustive // others move a little
			case group.FormSwitch: // stays as it is
			case group.FormAngle:
				r.Radius[i] = 5
			case group.FormPixels, group.FormSamples:
				r.Radius[i] = 2
			case group.FormFactor:
				r.Radius[i] = 1.1
			default:
				r.Radius[i] = 0.1
			}
		}
	}
	if r.Grid == nil {
		r.Grid = make([]int, len(chart))
		moving := 0
		for i, x := range r.Radius {
			r.Grid[i] = 1
			if i < len(chart) && x > 0 && !(chart[i].Form() == group.FormFactor && x == 1) {
				moving++
			}
		}
		const most = 1000.0
		n := 5
		if elementary.Pow(5, float64(moving)) > most {
			n = 3
		}
		for i, x := range r.Radius {
			if i < len(chart) && x > 0 {
				r.Grid[i] = n
			}
		}
	}
	es, err := group.Refine(g, r.At, r.Radius, r.Grid)
	if err != nil {
		return nil, "", fmt.Errorf("refine: %w", err)
	}
	return es, fmt.Sprintf("a grid of %d elements around %s", len(es), group.Format(g, r.At)), nil
}

func nearIdentity(p *Plan) int {
	e := p.Group.Identity()
	return slices.IndexFunc(p.Elements, func(g group.Element) bool { return p.Group.Dist(e, g) <= group.Tolerance })
}

// choose lists the elements and says what a mean over them is.
func choose(g group.Group, s Spec, in action.Action, seed uint64) ([]group.Element, string, error) {
	var chosen []string
	for _, c := range []struct {
		name string
		set  bool
	}{
		{"grid", s.Grid != nil},
		{"all", s.All},
		{"haar", s.Haar != 0},
		{"low_discrepancy", s.LowDiscrepancy != 0},
		{"lattice", s.Lattice},
		{"values", s.Values != nil},
		{"slices", s.Slices != nil},
	} {
		if c.set {
			chosen = append(chosen, c.name)
		}
	}
	if len(chosen) > 1 {
		return nil, "", fmt.Errorf("%s are set: choose one of them", strings.Join(chosen, ", "))
	}
	if s.Range != nil && (s.All || s.Values != nil || s.Slices != nil) {
		return nil, "", fmt.Errorf("range does not go with %s: leave one of them out", chosen[0])
	}
	window, err := rangeOf(s.Range)
	if err != nil {
		return nil, "", err
	}
	if s.Refine != nil && onlyRefines(s) {
		return refinement(g, *s.Refine)
	}
	if len(chosen) == 0 {
		return group.Preset(g, window)
	}
	within := ""
	if text := group.WindowText(g, window); text != "" {
		within = ": " + text
	}
	var es []group.Element
	switch chosen[0] {
	case "grid":
		es, err = group.Grid(g, s.Grid, window)
		return es, group.GridText(g, s.Grid, window), err
	case "all":
		es, err = group.Enumerate(g)
		return es, fmt.Sprintf("all %d elements of %s", len(es), g.Name()), err
	case "haar":
		const stream = 0x6f72626974 // apart from other uses of the seed
		es, err = group.Haar(g, s.Haar, window, rand.New(rand.NewPCG(seed, stream)))
		return es, fmt.Sprintf("Haar sample of %d elements, seed %d%s", s.Haar, seed, within), err
	case "low_discrepancy":
		es, err = group.LowDiscrepancy(g, s.LowDiscrepancy, window)
		return es, fmt.Sprintf("low-discrepancy sample of %d elements%s", s.LowDiscrepancy, within), err
	case "slices":
		x := s.Slices
		es, err = group.Discs(g, x.Planes, x.Axis, x.Angle)
		return es, group.DiscsText(x.Planes, x.Axis, x.Angle, len(es)), err
	case "lattice":
		es, err = lattice(g, window, in)
		return es, fmt.Sprintf("the %d elements that act without resampling%s", len(es), within), err
	}
	return listed(g, s.Values)
}

func rangeOf(r [][]float64) ([][2]float64, error) {
	if r == nil {
		return nil, nil
	}
	w := make([][2]float64, len(r))
	for i, x := range r {
		if len(x) != 2 {
			return nil, fmt.Errorf("range %d holds %d numbers: expected two, the lowest and the highest", i+1, len(x))
		}
		w[i] = [2]float64(x)
	}
	return w, nil
}

func listed(g group.Group, values [][]float64) ([]group.Element, string, error) {
	if len(values) == 0 {
		return nil, "", errors.New("values is empty: list at least one element")
	}
	if len(values) > group.MaxElements {
		return nil, "", fmt.Errorf("%d values: %w", len(values), group.ErrTooMany)
	}
	es := make([]group.Element, len(values))
	for i, v := range values {
		e, err := group.Validate(g, v)
		if err != nil {
			return nil, "", fmt.Errorf("value %d: %w", i+1, err)
		}
		es[i] = e
	}
	es = group.Dedup(g, es, group.Tolerance)
	text := fmt.Sprintf("%d listed elements", len(es))
	if n := len(values) - len(es); n > 0 {
		text += fmt.Sprintf(" (%d repeated ones left out)", n)
	}
	return es, text, nil
}

// lattice is the elements that the input's action declares exact, among those that can be: all of a finite group, else
// quarter turns, mirrors and whole shifts within the window.
func lattice(g group.Group, window [][2]float64, in action.Action) ([]group.Element, error) {
	candidates, err := group.Lattice(g, window)
	if err != nil {
		return nil, err
	}
	var es []group.Element
	for _, e := range candidates {
		if action.Exact(in, e) {
			es = append(es, e)
		}
	}
	if len(es) <= 1 && len(candidates) > 1 {
		return nil, fmt.Errorf(
			"of %d candidates no element but the identity acts on the input without resampling: widen the range or "+
				"choose a grid", len(candidates))
	}
	return es, nil
}

// Step is one stop of a walk along an orbit.
type Step struct {
	// in the plan
	Index int
	G     group.Element //
	// g·x
	X space.Value
}

// Walk visits the orbit of x in the order of the plan. A step whose action fails comes with its error, index and
// element but without a value; the walk then goes on unless the caller stops it.
func (p *Plan) Walk(x space.Value) iter.Seq2[Step, error] {
	return func(yield func(Step, error) bool) {
		for i, g := range p.Elements {
			v, err := p.In.Apply(g, x)
			s := Step{Index: i, G: g}
			if err != nil {
				err = fmt.Errorf("element %d, %s: %w", i, group.Format(p.Group, g), err)
			} else {
				s.X = v
			}
			if !yield(s, err) {
				return
			}
		}
	}
}

// Weight is the weight of element i in a mean over the plan.
func (p *Plan) Weight(i int) float64 {
	if p.Weights == nil {
		return 1 / float64(len(p.Elements))
	}
	return p.Weights[i]
}

// Check tells what is wrong with a plan that was stored or made by hand: no elements, coordinates that are not of the
// group, equal elements, weights that do not sum to 1.
func (p *Plan) Check() error {
	if len(p.Elements) == 0 {
		return errors.New("the plan has no elements")
	}
	for i, e := range p.Elements {
		if _, err := group.Validate(p.Group, e); err != nil {
			return fmt.Errorf("element %d: %w", i, err)
		}
	}
	if n := len(group.Dedup(p.Group, p.Elements, group.Tolerance)); n != len(p.Elements) {
		return fmt.Errorf("%d of %d elements repeat earlier ones", len(p.Elements)-n, len(p.Elements))
	}
	if p.Weights == nil {
		return nil
	}
	if len(p.Weights) != len(p.Elements) {
		return fmt.Errorf("%d weights for %d elements", len(p.Weights), len(p.Elements))
	}
	var sum float64
	for i, w := range p.Weights {
		if !(w >= 0) {
			return fmt.Errorf("weight %d is %g: expected a number of at least 0", i, w)
		}
		sum += w
	}
	if !(math.Abs(sum-1) <= 1e-9) {
		return fmt.Errorf("the weights sum to %g: expected 1", sum)
	}
	return nil
}
