package convention

import (
	"fmt"

	"nero/data/space"
	"nero/symmetry/action"
	"nero/symmetry/group"
)

// timed is a group of the plane moved by other maps that still knows which elements reverse time.
type timed struct {
	group.Planar
	time group.Group
}

// Reverses is what the group of the audit says.
func (t timed) Reverses(g group.Element) bool { return group.Reverses(t.time, g) }

// framesAction moves every frame by the maps of G, and exchanges them where the group of the audit reverses time.
func framesAction(G group.Planar, time group.Group, o action.Options) (action.Action, error) {
	if _, ok := time.(group.Temporal); ok {
		G = timed{G, time}
	}
	return action.NewFrames(G, space.Spec{}, o)
}

// fieldAction moves fields as maps of two channels that mix by a representation of one's choice.
type fieldAction struct{ of *action.Tensor }

// Group is the group that acts.
func (a fieldAction) Group() group.Group { return a.of.Group() }

// Apply moves a field.
func (a fieldAction) Apply(g group.Element, v space.Value) (space.Value, error) {
	f, ok := v.(*space.Field)
	if !ok {
		return nil, fmt.Errorf("want a field, got %s", v.Kind())
	}
	z, err := a.of.Apply(g, &space.Tensor{Shape: []int{2, f.H, f.W}, Val: f.Val})
	if err != nil {
		return nil, err
	}
	t, ok := z.(*space.Tensor)
	if !ok || len(t.Shape) != 3 || t.Shape[0] != 2 {
		return nil, fmt.Errorf("a field became %s", z.Kind())
	}
	return &space.Field{H: t.Shape[1], W: t.Shape[2], Val: t.Val}, nil
}

// fields are variants of an output that is a field: what else its two components may be.
func (b *builder) fields() {
	plan := b.s.p.Subject.Plan
	planar, ok := plan.Group.(group.Planar)
	if !ok || b.s.y0.Kind() != space.KindField {
		return
	}
	o, ok := action.OptionsOf(plan.Out)
	if !ok {
		if o, ok = action.OptionsOf(plan.In); !ok {
			return
		}
		o.Window = nil
	}
	put := func(name, declare string, matrix func(group.Element) []float64) {
		rep, err := action.Given(plan.Group, name, 2, matrix)
		if err != nil {
			return
		}
		if a := gridAction(relabelled{planar, planar.Affine}, b.s.y0, o, rep); a != nil {
			b.add(&variant{name: name, declare: declare, back: moving(a, b.at(same, true))})
		}
	}
	sign := func(g group.Element, odd bool) float64 {
		if odd && group.Reverses(plan.Group, g) {
			return -1
		}
		return 1
	}
	_, temporal := plan.Group.(group.Temporal)
	turning := func(f mat, odd bool) func(g group.Element) []float64 {
		return func(g group.Element) []float64 {
			a, _ := planar.Affine(g)
			a = mul(mul(f, a), transposed(f))
			s := sign(g, odd)
			return []float64{
				float64(s*a[0][0]) + 0, float64(s*a[0][1]) + 0, float64(s*a[1][0]) + 0,
				float64(s*a[1][1]) + 0,
			}
		}
	}
	const places = "the places of the field move as declared"
	kinds := []struct {
		name, declare string
		f             mat
	}{
		{"v is positive upwards", "change the sign of v", mat{{1, 0}, {0, -1}}},
		{"u and v are exchanged", "exchange the components: u goes to the right, v down", mat{{0, 1}, {1, 0}}},
		{
			"u and v are exchanged and v is positive upwards", "exchange the components and change the sign of v",
			mat{{0, -1}, {1, 0}},
		},
	}
	for _, k := range kinds {
		put("the vectors of the output are written another way: "+k.name, k.declare, turning(k.f, true))
	}
	still := func(odd bool) func(g group.Element) []float64 {
		return func(g group.Element) []float64 {
			s := sign(g, odd)
			return []float64{s, 0, 0, s}
		}
	}
	put("the vectors of the output keep their directions: "+places,
		"turn the vectors with the pictures; two maps that move alone are no field", still(true))
	if !temporal {
		return
	}
	id := mat{{1, 0}, {0, 1}}
	put("the vectors of the output keep their sign when time runs backwards",
		"declare a group without Time, or give the model its frames in the order of time", turning(id, false))
	for _, k := range kinds {
		put("the vectors keep their sign when time runs backwards, and "+k.name, k.declare, turning(k.f, false))
	}
	put("the vectors of the output keep directions and sign: "+places, "declare the output as two maps that move alone",
		still(false))
}
