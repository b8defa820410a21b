// Package subgroup is the check that finds the largest symmetry that a model has, whatever it was claimed to have: a
// claim that fails may hold in part, and one that holds may be part of more.
package subgroup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"nero/audit"
	"nero/audit/check/controls"
	"nero/audit/check/search"
	"nero/audit/check/sweep"
	"nero/audit/kit/trial"
	"nero/data/space"
	"nero/internal/elementary"
	"nero/measure/scale"
	"nero/symmetry/action"
	"nero/symmetry/group"
)

// Check is the check of subgroups. Its result is a [*Result].
var Check = &audit.Check{
	Name:  "subgroup",
	Title: "The largest symmetry that holds",
	Doc: `Subgroup names the largest groups that hold, within the claim and beyond it. The elements at which a law holds for all inputs form a group, so it
is enough to test parts that generate the others: of points in space the rotations about x, y and z, those with mirrors that contain the axis, Og(3), all
rotations SO(3), all orthogonal maps O(3), shifts T(3), and permutations S(n) of rows and nodes; of signals the shifts by multiples of 1, 2, 4, 8 and 16 steps.
Where turns about an axis or shifts fail, quarter turns about it with mirrors and without (C4v, C4) and shifts along single axes are tried.
What holds is then held against the worst elements of the sweep and of the search, taken apart into turn, shift and permutation; where such an element belongs to the
largest group that holds all the same, no group is named. Each is tested on elements drawn by the seed, half of them improper where there are such, shifts as long as the cloud is wide, on the same inputs and
against the limit of the claim or the rounding floor, if that is larger; beyond the claim inputs and outputs move as their declared types say.

It says what the difference means: SO(3) without O(3) is handedness, Og(3) without O(3) is a direction that is singled out, such as that of gravity, T(3) alone a
model of differences. Elements of the claimed group are drawn as well: if it fails there
and passed on those that were judged, that is a finding that stands in the way of PASS. Where shifts fail it says how the error grows with their length, and whether the inputs are centred, so that only the
preprocessing hides it.`,
	Params: []audit.Param{
		{Name: "samples", Doc: "Inputs, spread over the data.", Default: 12, Min: 2, Max: 10000},
		{Name: "elements", Doc: "Elements of each group.", Default: 8, Min: 2, Max: 1000},
	},
	Requires: []*audit.Check{sweep.Check, controls.Check},
	Uses:     []*audit.Check{search.Check},
	Optional: true,
	Run:      run,
	Work: func(p *audit.Pass) int {
		const about = 12 // candidates in space, and the claim
		if k := p.Subject.Kinds.Info(p.Subject.InSpec.Kind); k == nil || k.Planar {
			return 0
		}
		return about * min(int(p.Param("samples")), p.Subject.N) * (1 + int(p.Param("elements")))
	},
}

// Result says which groups hold.
type Result struct {
	Groups []Group
	// the largest groups that hold, joined by " × ", such as "SO(3) × S(64)"; "only the identity" if none does
	Largest string
	// what stands above them and fails, with the reason: "O(3) (handedness)"
	Fails []string
	// why Largest is empty; "" if it is not
	Unclear string
}

// Group is one group and its error.
type Group struct {
	Name string
	// mean over inputs of the largest
	Error audit.Interval
	Worst float64
	At    audit.Where
	// of a record, that errs most
	Field string
	State State
	// of groups that could not be tested
	Why string
}

// State says whether a group holds.
type State string

// The states.
const (
	Passes    State = "holds"
	Fails     State = "fails"
	Undecided State = "undecided"
	LeftOut   State = "left out"
)

// Describe puts the largest group at the head of the report.
func (r *Result) Describe(to *audit.Report) {
	to.Largest = r.Largest
	to.Beyond = r.Fails
}

// Find is the group of a name; nil if it was not tested.
func (r *Result) Find(name string) *Group {
	for i := range r.Groups {
		if r.Groups[i].Name == name {
			return &r.Groups[i]
		}
	}
	return nil
}

func run(ctx context.Context, p *audit.Pass) (any, error) {
	sw, c := audit.ResultOf[*sweep.Result](p, sweep.Check), audit.ResultOf[*controls.Result](p, controls.Check)
	if c.Facts.Vacuous {
		return nil, fmt.Errorf("%w: the outputs do not vary", audit.ErrNotApplicable)
	}
	pick := p.Pick(int(p.Param("samples")))
	first, err := p.Sample(pick[0])
	if err != nil {
		return nil, err
	}
	off, size, most := 0.0, 0.0, make([]int, p.Subject.InSpec.Sets())
	for _, i := range pick {
		s, err := p.Sample(i)
		if err != nil {
			return nil, err
		}
		if o, r := cloud(p.Subject.InSpec.Positions(s.Value)); r > 0 {
			off, size = max(off, o), max(size, r)
		}
		for set := range most {
			most[set] = max(most[set], p.Subject.InSpec.MembersOf(set, s.Value))
		}
	}
	list, err := candidates(p, first.Value, most)
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%w: the inputs are neither points, rows nor signals of a declared type",
			audit.ErrNotApplicable)
	}
	u := &tester{p: p, scale: sw.Scale, pick: pick, r: &Result{}, size: size, off: off, list: list}
	u.limit = max(p.Policy.Threshold, p.Policy.RoundingFactor*max(c.Floors.Rounding, 0))
	u.limit = max(u.limit, p.Policy.NoiseFactor*max(c.Floors.Repeat, c.Floors.Batch, 0))
	for _, x := range list {
		if err := u.test(ctx, x); err != nil {
			return nil, err
		}
	}
	if !slices.ContainsFunc(u.r.Groups, func(g Group) bool { return g.State != LeftOut }) {
		return nil, fmt.Errorf("%w: %s", audit.ErrUntested, u.r.Groups[0].Why)
	}
	if err := u.worst(ctx); err != nil {
		return nil, err
	}
	if err := u.narrower(ctx); err != nil {
		return nil, err
	}
	if err := u.worst(ctx); err != nil { // of the narrower ones
		return nil, err
	}
	u.combine()
	u.contradicted()
	if err := u.claimed(ctx); err != nil {
		return nil, err
	}
	if err := u.lengths(ctx); err != nil {
		return nil, err
	}
	if err := u.shifted(ctx); err != nil {
		return nil, err
	}
	u.report()
	return u.r, nil
}

// candidates lists what may hold of inputs like v.
func candidates(p *audit.Pass, v space.Value, most []int) ([]candidate, error) {
	var out []candidate
	own := p.Subject.Plan.Group
	if d := dimension(p.Subject.InSpec); d > 0 {
		list, err := spatial(d, own, p.Subject)
		if err != nil {
			return nil, err
		}
		out = list
	}
	// The claim says how many rows there are; without it the inputs that were picked do.
	list, err := permutations(p, most)
	if err != nil {
		return nil, err
	}
	out = append(out, list...)
	_, sequence := v.(space.Sequence)
	if s, ok := own.(group.Shifting); ok && sequence {
		out = append(out, steps(p, s)...)
	}
	return out, nil
}

// steps are the shifts of time by multiples of 1, 2, 4, 8 and 16 that lie in the plan's window.
func steps(p *audit.Pass, s group.Shifting) []candidate {
	at := group.First(s.Chart(), group.KindDelay)
	if at < 0 {
		return nil
	}
	far := 0.0
	for _, g := range p.Subject.Plan.Elements {
		far = max(far, math.Abs(s.Shift(g)))
	}
	if n := s.Turn(); n > 0 {
		far = max(far, float64(n-1))
	}
	var out []candidate
	name := func(k int) string { return fmt.Sprintf("shifts by multiples of %d", k) }
	for k := 1; k <= 16; k *= 2 {
		var es []group.Element
		for _, m := range []int{1, 3, 5, 7} { // odd multiples: those of the next candidate hold without them
			if float64(m*k) > far {
				break
			}
			g := slices.Clone(s.Identity())
			g[at] = float64(m * k)
			es = append(es, s.Mul(g, s.Identity()))
		}
		if len(es) == 0 {
			break
		}
		c := candidate{name: name(k), part: moments, group: s, elements: es, rank: 20 - k}
		for j := 2 * k; j <= 16; j *= 2 {
			c.within = append(c.within, name(j))
		}
		out = append(out, c)
	}
	return out
}

type tester struct {
	p     *audit.Pass
	r     *Result
	list  []candidate
	pick  []int
	scale float64
	limit float64
	// of the clouds: root mean square distance from the mean, distance of the mean from the origin
	size, off float64
	curve     *audit.Curve
	// SO(3) or SO(2) holds and the mirrors do not
	handed      bool
	directional string
	// shifts fail, and the output stays where it is though it is declared to move, or moves along though it is not
	stays, along bool
	// what other checks found
	seen []seen
}

// actions are those of a candidate: the claim's own where it is the group of the plan.
func (u *tester) actions(c candidate) (*trial.Trial, error) {
	plan := u.p.Subject.Plan
	if same(c.group, plan.Group) {
		return &trial.Trial{In: plan.In, Out: plan.Out}, nil
	}
	in, out, err := u.p.Subject.Actions(c.group, u.p.Subject.InSpec, u.p.Subject.OutSpec)
	if err != nil {
		return nil, err
	}
	return &trial.Trial{In: in, Out: out}, nil
}

func (u *tester) test(ctx context.Context, c candidate) error {
	g, err := u.measure(ctx, c)
	if err == nil {
		u.r.Groups = append(u.r.Groups, g)
	}
	return err
}

func (u *tester) measure(ctx context.Context, c candidate) (Group, error) {
	g := Group{
		Name: c.name, State: LeftOut, At: audit.Nowhere,
		Error: audit.Interval{Value: math.NaN(), Lo: math.NaN(), Hi: math.NaN()},
	}
	// Whatever holds of the larger group holds of this one: the list has the smaller ones first, so nothing is skipped,
	// and a contradiction would show.
	t, err := u.actions(c)
	if errors.Is(err, errors.ErrUnsupported) {
		g.Why = err.Error()
		return g, nil
	} else if err != nil {
		return g, fmt.Errorf("%s: %w", c.name, err)
	}
	return u.under(ctx, c, t, g)
}

// under measures a candidate under actions of it.
func (u *tester) under(ctx context.Context, c candidate, t *trial.Trial, g Group) (Group, error) {
	var err error
	if t.Elements, err = visited(u.p, c, int(u.p.Param("elements")), u.size); err != nil {
		return g, err
	}
	if len(t.Elements) == 0 {
		g.Why = "it holds nothing but the identity"
		return g, nil
	}
	all, err := trial.Measure(ctx, u.p, u.pick, u.scale, []*trial.Trial{t})
	switch {
	case errors.Is(err, errors.ErrUnsupported), errors.Is(err, scale.ErrForm):
		g.Why = err.Error()
		return g, nil
	case err != nil:
		return g, err
	}
	e := all[0]
	g.Error = e.Interval(u.p, c.name)
	g.At, g.Worst, g.Field = e.Worst(u.p)
	g.State = Undecided
	switch {
	case g.Error.Hi <= u.limit:
		g.State = Passes
	case math.IsNaN(g.Worst) || g.Error.Lo > u.limit || plain(e.Largest(), u.limit):
		g.State = Fails
	}
	return g, nil
}

// shifted looks, where shifts fail, whether the output does the opposite of what is declared.
func (u *tester) shifted(ctx context.Context) error {
	i := slices.IndexFunc(u.list, func(c candidate) bool { return c.part == shift })
	if i < 0 || u.r.Find(u.list[i].name).State != Fails {
		return nil
	}
	c, spec := u.list[i], u.p.Subject.OutSpec
	t, err := u.actions(c)
	if err != nil {
		return err
	}
	opposite := &trial.Trial{In: t.In, Out: action.Trivial{G: c.group}}
	answer := &u.stays
	if spec.Type == space.TypeVectors {
		answer, spec.Type = &u.along, space.TypePositions
		_, opposite.Out, err = u.p.Subject.Actions(c.group, u.p.Subject.InSpec, spec)
		if errors.Is(err, errors.ErrUnsupported) {
			return nil
		} else if err != nil {
			return err
		}
	} else if _, rests := t.Out.(action.Trivial); rests {
		return nil
	}
	g, err := u.under(ctx, c, opposite, Group{Name: c.name})
	*answer = g.State == Passes
	return err
}

// plain reports whether a quarter of the inputs err by ten times the limit, which few of them leave no interval above
// it but rounding does not do.
func plain(largest []float64, limit float64) bool {
	n := 0
	for _, x := range largest {
		if x > 10*limit {
			n++
		}
	}
	return 4*n >= len(largest)
}

// claimed asks whether the claimed group fails at elements that were not judged, where those that were judged hold.
func (u *tester) claimed(ctx context.Context) error {
	own := u.p.Subject.Plan.Group
	i := slices.IndexFunc(u.list, func(c candidate) bool { return same(c.group, own) && c.elements == nil })
	switch {
	case u.list[0].part == moments: // a plan may visit some multiples on purpose
		return nil
	case i < 0 || u.list[i].part == shift:
		c := candidate{name: own.Name(), part: claimed, group: own}
		var err error
		if c.elements, err = reached(u.p, int(u.p.Param("elements"))); err != nil {
			g := Group{
				Name: c.name, State: LeftOut, At: audit.Nowhere,
				Error: audit.Interval{Value: math.NaN(), Lo: math.NaN(), Hi: math.NaN()}, Why: err.Error(),
			}
			if i < 0 {
				u.r.Groups, u.list = append(u.r.Groups, g), append(u.list, c)
			}
			return nil
		}
		if i < 0 {
			if err := u.test(ctx, c); err != nil {
				return err
			}
			u.list = append(u.list, c)
			u.judge(u.r.Groups[len(u.r.Groups)-1])
			return nil
		}
		g, err := u.measure(ctx, c)
		if err != nil {
			return err
		}
		u.judge(g)
	default:
		u.judge(u.r.Groups[slices.IndexFunc(u.r.Groups, func(g Group) bool { return g.Name == u.list[i].name })])
	}
	return nil
}

// judge reports a claimed group that fails although every set of elements that is judged holds.
func (u *tester) judge(g Group) {
	if g.State != Fails {
		return
	}
	sw := audit.ResultOf[*sweep.Result](u.p, sweep.Check)
	for _, exact := range []bool{true, false} {
		if s := sw.Set(u.p, exact); s != nil && (s.NonFinite > 0 || !(s.Worst.Value <= u.limit)) {
			return // said there
		}
	}
	name := u.p.Subject.Plan.Group.Name()
	u.p.Report(audit.Finding{
		Category: audit.Stress, Location: "symmetry", Worst: g.At,
		Message: name + " holds at the elements that are judged and fails at others of the group",
		Evidence: []audit.Evidence{audit.Measured("error under "+name+" at other elements", g.Error,
			"").Against(u.limit)},
		Remedies: []string{
			"visit these elements in the plan as well, such as at random",
			"claim the group that is named as the largest",
		},
	})
}

// narrower tests parts of what fails: quarter turns about the axes, with mirrors and without, and shifts along them.
// Where the whole holds, so do they.
func (u *tester) narrower(ctx context.Context) error {
	d := dimension(u.p.Subject.InSpec)
	if d == 0 {
		return nil
	}
	try := func(c candidate) (State, error) {
		u.list = append(u.list, c)
		err := u.test(ctx, c)
		return u.state(c.name), err
	}
	for k, axis := range axes[:d] {
		turns := "SO(2)"
		if d == 3 {
			turns = "SOg(3," + axis + ")"
		}
		if s := u.state(turns); (s == Fails || s == Undecided) && (d == 3 || k == 0) {
			c, err := about(u.p.Subject, d, axis, false)
			if err != nil {
				return err
			}
			in, ok := group.AsSpatial(c.group)
			if !ok {
				continue
			}
			a, t := in.Motion(c.elements[0])
			if len(u.holding(piece{part: linear, a: a, t: t})) == 0 { // a group of the claim may have them
				s, err := try(c)
				if err != nil {
					return err
				}
				if s == Passes {
					if c, err = about(u.p.Subject, d, axis, true); err != nil {
						return err
					}
					if _, err := try(c); err != nil {
						return err
					}
				}
			}
		}
		if s := u.state(fmt.Sprintf("T(%d)", d)); (s == Fails || s == Undecided) && u.size > 0 {
			c, err := along(u.p.Subject, d, k, u.size)
			if err != nil {
				return err
			}
			if _, err := try(c); err != nil {
				return err
			}
		}
	}
	return nil
}

func (u *tester) state(name string) State {
	if g := u.r.Find(name); g != nil {
		return g.State
	}
	return LeftOut
}

// cube puts the name of what they generate in the place of quarter turns about several axes: those about two generate
// the rotations of the cube, with mirrors all of its symmetries.
func cube(turn []string) []string {
	for _, x := range []struct{ prefix, all string }{{"C4v about ", "Oh"}, {"C4 about ", "Octa"}} {
		of := func(name string) bool { return strings.HasPrefix(name, x.prefix) }
		i := slices.IndexFunc(turn, of)
		if i < 0 || !slices.ContainsFunc(turn[i+1:], of) {
			continue
		}
		rest := slices.DeleteFunc(slices.Clone(turn), func(name string) bool {
			return of(name) || strings.HasPrefix(name, "C4 about ")
		})
		return append(rest, x.all)
	}
	return turn
}

// combine finds the largest groups that hold, part by part, and what stands above them.
func (u *tester) combine() {
	var words []string
	turn := cube(u.largest(linear))
	moved := u.state("T(3)") == Passes || u.state("T(2)") == Passes
	d := "3"
	if u.r.Find("T(2)") != nil {
		d = "2"
	}
	switch {
	case moved && slices.Equal(turn, []string{"O(" + d + ")"}):
		words = append(words, "E("+d+")")
	case moved && slices.Equal(turn, []string{"SO(" + d + ")"}):
		words = append(words, "SE("+d+")")
	case moved && len(turn) == 1 && strings.HasPrefix(strings.TrimPrefix(turn[0], "S"), "Og("):
		words = append(words, strings.Replace(turn[0], "Og(", "Eg(", 1))
	case moved && len(turn) > 0:
		words = append(words, "T("+d+") with "+strings.Join(turn, " and "))
	case moved:
		words = append(words, "T("+d+")")
	default:
		var parts []string
		if len(turn) > 0 {
			parts = append(parts, strings.Join(turn, " and "))
		}
		if some := u.largest(shift); len(some) > 0 { // along single axes
			parts = append(parts, some[0])
			for _, name := range some[1:] {
				parts[len(parts)-1] += " and " + strings.TrimPrefix(name, "shifts along ")
			}
		}
		if len(parts) > 0 {
			words = append(words, strings.Join(parts, " with "))
		}
	}
	words = append(words, u.largest(rows)...)
	words = append(words, u.largest(moments)...)
	u.r.Largest = strings.Join(words, " × ")
	if len(words) == 0 {
		u.r.Largest = "only the identity"
	}
	proper, full := u.state("SO("+d+")"), u.state("O("+d+")")
	if proper == Passes && full == Fails {
		u.handed = true
		u.r.Fails = append(u.r.Fails, "O("+d+"): handedness")
	} else if full == Fails {
		for _, name := range turn {
			if strings.HasPrefix(name, "Og(") || strings.HasPrefix(name, "SOg(") {
				u.directional = name
				u.r.Fails = append(u.r.Fails, "O(3): a direction is singled out")
			}
			if strings.HasPrefix(name, "C4") || slices.Contains([]string{"D4", "Octa", "Oh"}, name) {
				u.r.Fails = append(u.r.Fails, "SO("+d+"): turns by other angles than quarters of a full turn")
			}
		}
		if len(turn) == 0 {
			u.r.Fails = append(u.r.Fails, "O("+d+") and every part of it that was tried")
		}
	}
	for _, g := range u.r.Groups {
		c := u.list[slices.IndexFunc(u.list, func(c candidate) bool { return c.name == g.Name })]
		if g.State != Fails {
			continue
		}
		switch c.part {
		case shift:
			if c.axis == 0 {
				u.r.Fails = append(u.r.Fails, g.Name+": the place in space counts")
			}
		case rows:
			u.r.Fails = append(u.r.Fails, g.Name+": the order of rows counts")
		case moments:
			if len(c.within) == 4 { // all shifts
				u.r.Fails = append(u.r.Fails, g.Name)
			}
		case linear, claimed:
		}
	}
}

// steps hands in whether shifts that fail hold by multiples of some number: the pattern of strides and pooling.
func (u *tester) steps() {
	var all, some *Group
	for _, c := range u.list {
		if c.part != moments {
			continue
		}
		switch g := u.r.Find(c.name); {
		case g == nil:
		case all == nil:
			all = g // by multiples of 1
		case some == nil && g.State == Passes:
			some = g
		}
	}
	if all == nil || all.State != Fails {
		return
	}
	c := audit.Clue{
		Name: audit.ClueStridePattern, Holds: some != nil, Strength: 1,
		Text:     "shifts by multiples of 2, 4, 8 and 16 hold no more than others",
		Evidence: []audit.Evidence{audit.Measured("error under "+all.Name, all.Error, "").Against(u.limit)},
	}
	if some != nil {
		c.Text = fmt.Sprintf("%s hold, others err by %s", some.Name, audit.Figures(all.Error.Value))
		c.Evidence = append(c.Evidence, audit.Measured("error under "+some.Name, some.Error, "").Against(u.limit))
	}
	u.p.Clue(c)
}

// largest are the names of the groups of one part that hold and are in no other that holds.
func (u *tester) largest(of part) []string {
	var out []string
	for _, c := range u.list {
		if c.part != of || u.state(c.name) != Passes {
			continue
		}
		above := slices.ContainsFunc(u.list, func(x candidate) bool {
			return u.state(x.name) == Passes && slices.Contains(x.within, c.name)
		})
		if !above {
			out = append(out, c.name)
		}
	}
	return out
}

// relative are the lengths of shifts that are tried, in widths of the cloud.
func relative() []float64 { return []float64{1e-3, 1e-2, 1e-1, 0.3, 1, 3, 10} }

// lengths measures how the error grows with the length of a shift, where shifts fail.
func (u *tester) lengths(ctx context.Context) error {
	i := slices.IndexFunc(u.list, func(c candidate) bool { return c.part == shift })
	if i < 0 || !(u.size > 0) {
		return nil
	}
	c := u.list[i]
	if u.state(c.name) != Fails {
		return nil
	}
	t, err := u.actions(c)
	if err != nil {
		return err
	}
	r := u.p.Rand("direction of shifts", "")
	n := len(c.group.Identity())
	way := make([]float64, n)
	var norm float64
	for k := range way {
		way[k] = elementary.Normal(r)
		norm += float64(way[k] * way[k])
	}
	for _, x := range relative() {
		g := make(group.Element, n)
		for k := range g {
			g[k] = x * u.size * way[k] / math.Sqrt(norm)
		}
		t.Elements = append(t.Elements, g)
	}
	all, err := trial.Measure(ctx, u.p, u.pick[:min(len(u.pick), 6)], u.scale, []*trial.Trial{t})
	if err != nil {
		return err
	}
	s := audit.Series{Name: "error", Marks: false}
	for j, x := range relative() {
		var sum float64
		for _, row := range all[0].Rel {
			sum += row[j] / float64(len(all[0].Rel))
		}
		if sum > 0 && !math.IsInf(sum, 0) {
			s.X, s.Y = append(s.X, x*u.size), append(s.Y, sum)
		}
	}
	if len(s.X) == 0 {
		return nil
	}
	u.curve = &audit.Curve{
		X: audit.Scale{Name: "length of the shift", Unit: "length", Log: true},
		Y: audit.Scale{Name: "error", Log: true}, Limit: u.limit, Series: []audit.Series{s},
	}
	u.p.Show(audit.Exhibit{
		Name: "shifts", Title: "Error against the length of a shift", Curve: u.curve,
		Note: fmt.Sprintf("Along one direction, mean over inputs. The clouds are %s wide (root mean square) and "+
			"their means lie up to %s from the origin.", audit.Figures(u.size), audit.Figures(u.off)),
	})
	return nil
}

// centred reports whether the means of all clouds lie at the origin.
func (u *tester) centred() bool { return u.size > 0 && u.off <= 1e-3*u.size }

func (u *tester) report() {
	p := u.p
	t := &audit.Table{Columns: []audit.Column{
		{Name: "group"},
		{Name: "error", Doc: "mean over inputs of the largest, relative to the scale of the outputs"},
		{Name: "at least"},
		{Name: "at most"},
		{Name: "answer"},
		{Name: "worst"},
	}}
	for _, g := range u.r.Groups {
		answer, at := string(g.State), g.At.String()
		if g.Why != "" {
			answer += ": " + g.Why
		}
		if g.Field != "" {
			at += " (" + g.Field + ")"
		}
		t.Rows = append(t.Rows, []audit.Cell{
			audit.Word(g.Name), audit.Num(g.Error.Value), audit.Num(g.Error.Lo), audit.Num(g.Error.Hi),
			audit.Word(answer), audit.Word(at),
		})
	}
	p.Show(audit.Exhibit{
		Name: "groups", Title: "Which groups hold", Table: t,
		Note: fmt.Sprintf("Largest of those tried that hold: %s. A group holds if its error is at most %s.",
			cmp.Or(u.r.Largest, "left blank"), audit.Figures(u.limit)),
	})
	tried := 0
	var ev []audit.Evidence
	for _, g := range u.r.Groups {
		if g.State == LeftOut {
			continue
		}
		tried++
		ev = append(ev, audit.Measured("error under "+g.Name, g.Error, "").Against(u.limit))
	}
	p.Measure(audit.Number("groups tried", float64(tried), ""))
	f := audit.Finding{
		Category: audit.Explanation, Location: "symmetry", Worst: audit.Nowhere, Evidence: ev,
		Message: "the largest symmetry that holds, of those tried, is " + u.r.Largest,
	}
	if u.r.Unclear != "" {
		f.Message = u.r.Unclear
	} else if len(u.r.Fails) > 0 {
		f.Message += "; fails: " + strings.Join(u.r.Fails, "; ")
	}
	p.Report(f)
	u.clues()
}

// clues say what the difference between what holds and what is claimed means. Of a claim that holds no more than it
// says nothing is handed in.
func (u *tester) clues() {
	p := u.p
	improper, shifts, permutes, turns := claim(p)
	d := "3"
	if u.r.Find("T(2)") != nil {
		d = "2"
	}
	if full := u.r.Find("O(" + d + ")"); full != nil && improper {
		p.Clue(audit.Clue{
			Name: audit.ClueHandedness, Holds: u.handed, Strength: 1, Location: location(full.Field, "mirrors"),
			Text: fmt.Sprintf("all rotations: error %s, with mirrors and the inversion: %s",
				audit.Figures(u.r.Find("SO("+d+")").Error.Value), audit.Figures(full.Error.Value)),
			Evidence: []audit.Evidence{audit.Measured("error under O("+d+")", full.Error, "").Against(u.limit)},
		})
	}
	if full := u.r.Find("SO(" + d + ")"); full != nil && turns && d == "3" {
		c := audit.Clue{
			Name: audit.ClueDirection, Holds: u.directional != "" && full.State == Fails, Strength: 1,
			Text:     "no direction of space is singled out beyond what all rotations show",
			Evidence: []audit.Evidence{audit.Measured("error under SO(3)", full.Error, "").Against(u.limit)},
		}
		if c.Holds {
			c.Location = u.directional
			c.Text = fmt.Sprintf("%s holds and SO(3) errs by %s: the model knows a direction", u.directional,
				audit.Figures(full.Error.Value))
		}
		p.Clue(c)
	}
	if i := slices.IndexFunc(u.list, func(c candidate) bool { return c.part == shift }); i >= 0 && shifts {
		g := u.r.Find(u.list[i].name)
		if g.State == Passes || g.State == Fails {
			c := audit.Clue{
				Name: audit.ClueCentering, Holds: g.State == Fails, Strength: 1, Location: "positions",
				Text:     "shifts of the width of the cloud: error " + audit.Figures(g.Error.Value),
				Evidence: []audit.Evidence{audit.Measured("error under "+g.Name, g.Error, "").Against(u.limit)},
			}
			if c.Holds && u.centred() {
				c.Text += "; the inputs are centred, which hides it as long as the preprocessing centres them"
			}
			p.Clue(c)
			for _, o := range []audit.Clue{
				{
					Name: audit.ClueStaysBehind, Holds: u.stays,
					Text: "shifts leave the output where it is, and it is declared to move",
				},
				{
					Name: audit.ClueMovesAlong, Holds: u.along,
					Text: "shifts move the output along, and it is declared to stay",
				},
			} {
				if !c.Holds {
					break
				}
				if !o.Holds {
					o.Text = "shifts do not do the opposite of what is declared"
				}
				o.Strength, o.Location, o.Evidence = 1, c.Location, c.Evidence
				p.Clue(o)
			}
		}
	}
	u.steps()
	for _, g := range u.r.Groups {
		if c := u.list[slices.IndexFunc(u.list, func(c candidate) bool { return c.name == g.Name })]; c.part != rows ||
			!permutes || g.State != Passes && g.State != Fails {
			continue
		}
		p.Clue(audit.Clue{
			Name: audit.ClueOrder, Holds: g.State == Fails, Strength: 0.7,
			Text:     "permutations of rows: error " + audit.Figures(g.Error.Value),
			Evidence: []audit.Evidence{audit.Measured("error under "+g.Name, g.Error, "").Against(u.limit)},
		})
	}
}

func location(field, otherwise string) string {
	if field != "" {
		return field
	}
	return otherwise
}

// claim says what the elements of the plan do: whether some are improper, shift, permute, or turn.
func claim(p *audit.Pass) (improper, shifts, permutes, turns bool) {
	var look func(G group.Group, es []group.Element)
	look = func(G group.Group, es []group.Element) {
		if f, ok := G.(group.Factored); ok {
			parts := make([][]group.Element, len(f.Factors()))
			for _, e := range es {
				for i, x := range f.Split(e) {
					parts[i] = append(parts[i], x)
				}
			}
			for i, x := range f.Factors() {
				look(x, parts[i])
			}
			return
		}
		if q, ok := G.(group.Permuting); ok && len(q.Chart()) == q.Rows() {
			permutes = true // in any order: a table of a few permutations claims nothing about others
		}
		s, ok := group.AsSpatial(G)
		if !ok {
			return
		}
		for _, e := range es {
			a, t := s.Motion(e)
			improper = improper || determinant(a, s.Dim()) < 0
			for i, x := range a {
				want := 0.0
				if i%(s.Dim()+1) == 0 {
					want = a[0] // magnifications turn nothing
				}
				turns = turns || math.Abs(x-want) > 1e-9
			}
			for _, x := range t {
				shifts = shifts || x != 0
			}
		}
	}
	look(p.Subject.Plan.Group, p.Subject.Plan.Elements)
	return improper, shifts, permutes, turns
}

// determinant of a matrix of 2 or 3 rows; 1 for others.
func determinant(a []float64, d int) float64 {
	switch d {
	case 2:
		return float64(a[0]*a[3]) - float64(a[1]*a[2])
	case 3:
		return float64(a[0]*(float64(a[4]*a[8])-float64(a[5]*a[7]))) -
			float64(a[1]*(float64(a[3]*a[8])-float64(a[5]*a[6]))) +
			float64(a[2]*(float64(a[3]*a[7])-float64(a[4]*a[6])))
	}
	return 1
}
