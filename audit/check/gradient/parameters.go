package gradient

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"nero/audit"
	"nero/data/space"
	"nero/data/tensor"
	"nero/model/interior"
	"nero/model/onnx"
	"nero/model/onnx/vjp"
	"nero/symmetry/action"
)

// most is how many parameters are looked at: gradients of all of a large network would take as much memory as training
// it.
const most = 1 << 20

// parameters measures how far gradients by the parameters move along the orbit, for outputs that are claimed invariant.
// It reports numbers and judges nothing.
func (s *study) parameters(ctx context.Context) error {
	n := min(int(s.p.Param("parameters")), len(s.pick))
	if _, ok := s.p.Subject.Plan.Out.(action.Trivial); !ok || n == 0 {
		return nil
	}
	stored := map[string][]float64{}
	for _, t := range s.m.ONNX().Proto().GetGraph().GetInitializer() {
		if v, err := onnx.Value(t); err == nil && v.Len() <= most {
			stored[t.GetName()], _ = v.Float64s(nil)
		}
	}
	var names []string
	room := most
	for _, name := range s.m.Parameters() {
		if v := len(stored[name]); v > 0 && v <= room {
			names, room = append(names, name), room-v
		}
	}
	var pulls []int
	for k, w := range s.ways {
		if w.pull && w.g.Exact && len(pulls) < 4 {
			pulls = append(pulls, k)
		}
	}
	if len(names) == 0 || len(pulls) == 0 {
		return nil
	}
	diff, size, along, base := map[string]float64{}, map[string]float64{}, map[string]float64{}, map[string]float64{}
	for i := range n {
		o, err := s.point(ctx, i)
		if err != nil {
			return err
		}
		at := []space.Value{o.x}
		for _, k := range pulls {
			gx, err := s.ways[k].in.Move(o.raw)
			if err != nil {
				return fmt.Errorf("sample %s at %s: %w", o.id, s.ways[k].g.Label, err)
			}
			at = append(at, gx)
		}
		var first []interior.Array
		for j, x := range at {
			g, err := s.parameterGradients(ctx, x, o.cot, names)
			if err != nil {
				return err
			}
			if g == nil {
				return nil
			}
			if j == 0 {
				first = g
			}
			for k, name := range names {
				var d, dot float64
				for q, v := range g[k].Val {
					if j == 0 {
						size[name] += float64(v * v)
						base[name] += math.Abs(v * stored[name][q])
						continue
					}
					e := v - first[k].Val[q]
					d, dot = d+float64(e*e), dot+float64(e*stored[name][q])
				}
				if j > 0 {
					diff[name] += d / float64(len(pulls))
					along[name] = max(along[name], math.Abs(dot))
				}
			}
		}
	}
	t := &audit.Table{Columns: []audit.Column{
		{Name: "parameter"},
		{Name: "numbers"},
		{Name: "change", Doc: "‖∂L/∂θ at gx - at x‖ over ‖∂L/∂θ at x‖, root mean squares over inputs and elements"},
		{Name: "along itself", Doc: "largest |<∂L/∂θ at gx - at x, θ>| over the mean of Σ|θ·∂L/∂θ|"},
	}}
	var top, topAlong float64
	for _, name := range names {
		if !(size[name] > 0) {
			continue
		}
		c, a := math.Sqrt(diff[name]/size[name]), along[name]/(base[name]/float64(n))
		top, topAlong = max(top, c), max(topAlong, a)
		t.Rows = append(t.Rows, []audit.Cell{
			audit.Word(name), audit.Num(float64(len(stored[name]))), audit.Num(c),
			audit.Num(a),
		})
	}
	if len(t.Rows) == 0 {
		return nil
	}
	s.p.Measure(
		audit.Number("gradients by parameters, largest change along the orbit", top, ""),
		audit.Number("gradients by parameters, largest change along the parameters themselves", topAlong, ""))
	s.p.Show(audit.Exhibit{
		Name: "parameters", Title: "Gradients by the parameters along the orbit", Table: t,
		Note: "Not judged: a change of 0 says that the symmetry holds whatever the parameters are; a symmetry that " +
			"lies in their values, such as filters stored as their own turned copies, changes the first number and " +
			"not the second.",
	})
	return nil
}

// parameterGradients are the gradients at one value; nil if they cannot be had, which is no error of the check.
func (s *study) parameterGradients(ctx context.Context, x, c space.Value, names []string) ([]interior.Array, error) {
	if s.unit.Needed() {
		y, err := s.m.Predict(ctx, []space.Value{x})
		if err != nil {
			return nil, err
		}
		if c, err = s.unit.Back(y[0], c); err != nil {
			return nil, err
		}
	}
	in, err := s.m.Arrays(ctx, []space.Value{x})
	if err != nil {
		return nil, err
	}
	cot, err := s.m.Cotangents(ctx, []space.Value{c})
	if err != nil {
		return nil, err
	}
	g, err := s.m.PullParameters(ctx, in, cot, names)
	var u *vjp.UnsupportedError
	if errors.Is(err, vjp.ErrNoPath) || errors.As(err, &u) {
		return nil, nil
	}
	return g, err
}

// force holds an output of the input's shape against the gradient of an output of one number per sample. It is NaN if
// the model has no such pair.
func force(ctx context.Context, s *study) (float64, error) {
	energy, vector, input := s.forceOutputs()
	if energy == "" {
		return math.NaN(), nil
	}
	p := s.p
	at := slices.Index(s.m.Inputs(), input)
	name := fmt.Sprintf("%s against the gradient of %s", vector, energy)
	rel, cosine := make([]float64, len(s.pick)), 0.0
	var norms, signs float64
	type row struct{ f, g []float64 }
	rows := make([]row, len(s.pick))
	for i := range s.pick {
		o, err := s.point(ctx, i)
		if err != nil {
			return 0, err
		}
		in, err := s.m.Arrays(ctx, []space.Value{o.x})
		if err != nil {
			return 0, err
		}
		v, err := s.m.Values(ctx, in, []string{energy, vector})
		if err != nil {
			return 0, err
		}
		one := interior.Array{Shape: v[0][0].Shape, Val: []float64{1}}
		if len(v[0][0].Val) != 1 || len(v[0][1].Val) != len(in[0][at].Val) {
			return math.NaN(), nil
		}
		g, err := s.m.PullFrom(ctx, energy, in, []interior.Array{one}, []string{input})
		if err != nil {
			if ctx.Err() != nil {
				return 0, ctx.Err()
			}
			p.Measure(audit.Number(name+": not tested", math.NaN(), ""))
			return math.NaN(), nil // the rest of the check stands without it
		}
		rows[i] = row{v[0][1].Val, g[0][0].Val}
		for q, f := range rows[i].f {
			norms += float64(f * f)
			signs += float64(f * rows[i].g[q])
			cosine += float64(rows[i].g[q] * rows[i].g[q])
		}
	}
	if !(norms > 0) || !(cosine > 0) {
		return math.NaN(), nil
	}
	cosine = signs / math.Sqrt(norms*cosine)
	sign := 1.0
	if signs < 0 {
		sign = -1
	}
	rms := math.Sqrt(norms / float64(len(rows)))
	for i, r := range rows {
		var d float64
		for q, f := range r.f {
			e := f - float64(sign*r.g[q])
			d += float64(e * e)
		}
		rel[i] = math.Sqrt(d) / rms
	}
	e := audit.MeanInterval(rel, p.Policy.Confidence).NotNegative()
	limit := p.Policy.Threshold * p.Param("factor")
	p.Measure(
		audit.Measured(name+", relative distance", e, "").Against(limit),
		audit.Number(name+", cosine", cosine, ""))
	const meant = 0.9 // below, nobody meant the one to be the gradient of the other
	if math.Abs(cosine) < meant {
		return e.Value, nil
	}
	ev := []audit.Evidence{
		audit.Measured("relative distance", e, "").Against(limit),
		audit.Number("cosine", cosine, ""),
	}
	found := e.Lo > limit && audit.Describe(slices.Clone(rel)).P50 > limit
	word := "gradient"
	if sign < 0 {
		word = "negative gradient"
	}
	p.Clue(audit.Clue{
		Name: audit.ClueNotConservative, Holds: found, Strength: 0.8, Location: vector, Evidence: ev,
		Text: fmt.Sprintf("%s is the %s of %s up to %.2g of its size", vector, word, energy, e.Value),
	})
	if found {
		p.Report(audit.Finding{
			Category: audit.Gradient, Location: vector, Worst: audit.Nowhere, Evidence: ev,
			Message: fmt.Sprintf("%s is not the %s of %s: %.2g of its size apart, limit %.2g", vector, word, energy,
				e.Value, limit),
			Remedies: []string{
				"compute the vector as the derivative of the number instead of in a head of its own",
				"say so where the model is used: work around a closed path is not zero",
			},
		})
	}
	return e.Value, nil
}

// forceOutputs are an output of one number per sample and one of the shape of the only input of numbers, and that
// input; "" if there are none.
func (s *study) forceOutputs() (energy, vector, input string) {
	sig, moving := s.m.ONNX().Signature(), s.m.Moving()
	if len(moving) != 1 {
		return "", "", ""
	}
	k := slices.IndexFunc(sig.Inputs, func(q onnx.Port) bool { return q.Name == moving[0] })
	if k < 0 || !sig.Inputs[k].Ranked || len(sig.Inputs[k].Shape) < 2 {
		return "", "", ""
	}
	sample := sig.Inputs[k].Sizes()[1:]
	if tensor.Count(sample) == 1 {
		return "", "", ""
	}
	for _, o := range sig.Outputs {
		if !o.Ranked || len(o.Shape) < 1 || o.Name == moving[0] {
			continue
		}
		one := o.Sizes()[1:]
		switch {
		case energy == "" && tensor.Count(one) == 1 && !slices.Contains(one, -1):
			energy = o.Name
		case vector == "" && slices.Equal(one, sample):
			vector = o.Name
		}
	}
	if energy == "" || vector == "" {
		return "", "", ""
	}
	return energy, vector, moving[0]
}
