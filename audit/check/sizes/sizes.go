// Package sizes is the check of pictures of other sizes.
package sizes

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"nero/audit"
	"nero/audit/kit/stress"
	"nero/data/space"
	"nero/measure/scale"
	"nero/symmetry/action"
	"nero/symmetry/group"
	"nero/symmetry/group/catalog"
)

// Check is the sizes check. Its result is a [*Result].
var Check = &audit.Check{
	Name:  "sizes",
	Title: "Inputs of other sizes",
	Doc: `Sizes asks whether exact elements hold at pictures of other sizes.

Pictures larger and smaller, odd and even, are cropped or framed with zeros about their centre, where the model takes them.`,
	Family: stress.Family,
	Params: []audit.Param{
		stress.Samples, stress.Elements,
		{Name: "sizes", Doc: "How many larger and how many smaller sizes are tried.", Default: 4, Min: 0, Max: 64},
	},
	Requires: stress.Requires(),
	Optional: true,
	Run:      run,
	Work: stress.Work(func(p *audit.Pass) int {
		if p.Subject.Interior == nil {
			return 0
		}
		return 2 * int(p.Param("sizes")) * (1 + int(p.Param("elements")))
	}),
}

// Result is what the check came to.
type Result struct {
	stress.Result
	// Sizes are the heights that were tried, and whether the exact elements hold there.
	Sizes map[int]bool
}

// run measures the exact elements at pictures of other sizes.
func run(ctx context.Context, p *audit.Pass) (any, error) {
	t, err := stress.New(p)
	if err != nil {
		return nil, err
	}
	ph, pw, ok := stress.PictureSize(t.Raw[0])
	n := int(p.Param("sizes"))
	switch {
	case !ok:
		return nil, fmt.Errorf("%w: the input is no picture", audit.ErrNotApplicable)
	case n == 0 || len(t.Exact) == 0:
		return nil, fmt.Errorf("%w: there is no other size to try, or no exact element", audit.ErrNotApplicable)
	case p.Subject.Interior == nil:
		return nil, fmt.Errorf(
			"%w: the model is not at hand as a graph, so it is not known whether it takes other sizes",
			audit.ErrUntested)
	case !free(p):
		return nil, fmt.Errorf("%w: the graph fixes the size of its input", audit.ErrNotApplicable)
	}
	opt, ok := action.OptionsOf(p.Subject.Plan.In)
	if !ok || opt.Window != nil {
		return nil, fmt.Errorf("%w: the input action cannot be made for another size", audit.ErrNotApplicable)
	}
	r := &Result{Sizes: map[int]bool{}}
	table := &audit.Table{Columns: []audit.Column{
		{Name: "size", Unit: "px"},
		{Name: "error", Doc: "largest at exact elements, relative to the scale of the outputs at that size"},
		{Name: "answer"},
	}}
	series := audit.Series{Name: "error", Marks: true}
	limit := max(p.Policy.Threshold, t.Floor)
	var good, bad []string
	var reason string
	most := 0.0
	for by := -n; by <= n; by++ {
		h, w := ph+by, pw+by
		if h < 4 || w < 4 {
			continue
		}
		e, err := atSize(ctx, t, opt, h, w)
		name := strconv.Itoa(h)
		if h != w {
			name = fmt.Sprintf("%d×%d", h, w)
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			reason = err.Error()
			table.Rows = append(table.Rows,
				[]audit.Cell{audit.Word(name), audit.Num(math.NaN()), audit.Word("not tested: " + reason)})
			continue
		}
		a := stress.Held(e, limit)
		r.Sizes[h] = a == stress.Holds
		if a == stress.Holds {
			good = append(good, name)
		} else {
			bad = append(bad, name)
		}
		if e > most {
			most = e
		}
		table.Rows = append(table.Rows, []audit.Cell{audit.Word(name), audit.Num(e), audit.Word(string(a))})
		series.X, series.Y = append(series.X, float64(h)), append(series.Y, e)
	}
	if len(series.X) == 0 {
		return nil, fmt.Errorf("%w: the model takes no other size: %s", audit.ErrUntested, reason)
	}
	p.Show(audit.Exhibit{
		Name: "sizes", Title: "Exact elements at other sizes of the picture",
		Note: "Pictures are cropped, or framed with zeros, about their centre.", Table: table,
	})
	p.Show(audit.Exhibit{
		Name: "error-by-size", Title: "Error over the size of the picture",
		Curve: &audit.Curve{
			X: audit.Scale{Name: "height", Unit: "px"}, Y: audit.Scale{Name: "error", Log: true},
			Limit: limit, Series: []audit.Series{series},
		},
	})
	r.Result = stress.Result{Answer: stress.Measured, Error: most, Limit: limit}
	q := &r.Result
	switch {
	case len(bad) == 0:
		q.Answer, q.Text = stress.Holds, "exact elements hold at every size tried: "+strings.Join(good, ", ")
	case len(good) == 0:
		q.Text = "exact elements hold at no size tried: " + strings.Join(bad, ", ")
	default:
		q.Text = fmt.Sprintf("exact elements hold at the sizes %s and not at %s", strings.Join(good, ", "),
			strings.Join(bad, ", "))
		p.Report(audit.Finding{
			Category: audit.Explanation, Location: "input size", Worst: audit.Nowhere, Message: q.Text,
			Evidence: []audit.Evidence{audit.Number("sizes that hold", float64(len(good)),
				fmt.Sprintf("of %d", len(good)+len(bad))), audit.Number("largest error", most, "").Against(limit)},
			Remedies: []string{
				"feed pictures of a size that holds",
				"use odd kernels and symmetric padding, with (size + padding - kernel) divisible by every stride",
			},
		})
	}
	q.Show(p)
	return r, nil
}

// free reports whether two axes of the model's input have no fixed length, beside the first, which counts samples.
func free(p *audit.Pass) bool {
	for _, port := range p.Subject.Interior.ONNX().Signature().Inputs {
		k := 0
		for i, a := range port.Shape {
			if i > 0 && a.Free() {
				k++
			}
		}
		if k >= 2 {
			return true
		}
	}
	return false
}

// atSize is the largest error over samples and exact elements at h×w pixels.
func atSize(ctx context.Context, t *stress.Test, o action.Options, h, w int) (float64, error) {
	p := t.Pass
	var G group.Planar
	var err error
	plan := p.Subject.Plan
	planar, ok := plan.Group.(group.Planar)
	if !ok {
		return 0, fmt.Errorf("%s does not act on the plane", plan.Group.Name())
	}
	G = planar
	if _, torus := plan.Group.(group.Torus); torus {
		g, err := catalog.Roll(h, w)
		if err != nil {
			return 0, err
		}
		if G, ok = g.(group.Planar); !ok {
			return 0, fmt.Errorf("%s does not act on the plane", g.Name())
		}
	}
	in, err := inAt(t.Raw[0], G, h, w, o)
	if err != nil {
		return 0, err
	}
	out, err := outAt(t, G)
	if err != nil {
		return 0, err
	}
	var spread scale.Spread
	most := math.NaN()
	type pending struct{ y, z space.Value }
	var all []pending
	for i := range t.Raw {
		v := stress.Pictures(t.Raw[i], func(x *space.Image) *space.Image { return resized(x, h, w) })
		if v == nil {
			continue
		}
		values, at := []space.Value{v}, []group.Element{}
		for _, j := range t.Exact {
			g := p.Elements[j].G
			if !action.Exact(in, g) {
				continue
			}
			if gone, err := stress.Loses(in, g, v); err != nil || gone {
				if err != nil {
					return 0, err
				}
				continue
			}
			gv, err := in.Apply(g, v)
			if err != nil {
				return 0, err
			}
			values, at = append(values, gv), append(at, g)
		}
		y, err := t.Predict(ctx, values)
		if err != nil {
			return 0, err
		}
		if err := spread.Add(y[0]); err != nil {
			return 0, err
		}
		for k, g := range at {
			z, err := out.Apply(G.Inv(g), y[k+1])
			if err != nil {
				return 0, fmt.Errorf("output: %w", err)
			}
			all = append(all, pending{y[0], z})
		}
	}
	s := spread.Scale()
	if !(s > 0) || len(all) == 0 {
		return 0, errors.New("nothing varies at this size, or every element loses content at the border")
	}
	for _, q := range all {
		d, err := scale.Compare(q.z, q.y)
		if err != nil {
			return 0, err
		}
		if e := d.Norm / s; !(e <= most) {
			most = e
		}
	}
	return most, nil
}

// outAt is the output action for maps of any size.
func outAt(t *stress.Test, G group.Planar) (action.Action, error) {
	out := t.Pass.Subject.Plan.Out
	o, ok := action.OptionsOf(out)
	if !ok {
		return out, nil // without a grid, size means nothing
	}
	switch out.(type) {
	case *action.Image:
		return action.NewImage(G, space.Spec{}, o)
	case *action.Mask:
		return action.NewMask(G, space.Spec{}, o, 0)
	case *action.Field:
		return action.NewField(G, space.Spec{}, o)
	}
	rep, ok := action.RepresentationOf(out)
	if !ok {
		return nil, errors.New("the output action cannot be made for another size")
	}
	return action.NewTensor(G, space.Spec{Shape: []int{-1, -1, -1}}, o, rep)
}

// inAt is the action on pictures of another size, or on frames of it.
func inAt(like space.Value, G group.Group, h, w int, o action.Options) (action.Action, error) {
	if p, ok := like.(space.Pictured); ok {
		d := slices.Clone(like.Dims())
		d[len(d)-2], d[len(d)-1] = h, w
		spec := space.Spec{Kind: like.Kind(), Shape: d}
		if len(d) == len(p.Pictures()[0].Dims()) {
			return action.NewImage(G, spec, o)
		}
		return action.NewFrames(G, spec, o)
	}
	return nil, errors.New("the input is no picture")
}

// resized is a picture cropped or framed with zeros about its centre.
func resized(x *space.Image, h, w int) *space.Image {
	y := space.NewImage(x.C, h, w)
	dr, dc := (h-x.H)/2, (w-x.W)/2
	for k := range x.C {
		from, to := x.Plane(k), y.Plane(k)
		for r := range h {
			for c := range w {
				if rr, cc := r-dr, c-dc; rr >= 0 && rr < x.H && cc >= 0 && cc < x.W {
					to[r*w+c] = from[rr*x.W+cc]
				}
			}
		}
	}
	return y
}
