package weights

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"

	"nero/data/tensor"
	"nero/internal/elementary"
	"nero/model/onnx"
	"nero/present/sheet"
	"nero/present/words"
)

// steps is how many parts the line between two models has.
const steps = 10

// ends are what the first and the second model answer.
type ends struct{ first, second *answers }

// line asks the models on the straight line from the first to numbers of the second, which answer end.
func (x *aligner) line(ctx context.Context, of ends, to Numbers, end [][]tensor.Named) ([]OnPath, error) {
	var out []OnPath
	for k := range steps + 1 {
		got := of.first.of
		switch {
		case k == steps:
			got = end
		case k > 0:
			m, err := x.between(to, float64(k)/steps)
			if err != nil {
				return nil, err
			}
			if got, err = x.body.run(ctx, m); err != nil {
				return nil, err
			}
		}
		out = append(out, OnPath{
			ToFirst: of.first.from(got).Error, ToSecond: of.second.from(got).Error, Loss: x.loss(got),
		})
	}
	return out, nil
}

// path is what the models on both lines answer.
func (x *aligner) path(stored, aligned []OnPath) {
	if x.o.Labels != nil {
		x.out.Loss = "mean cross-entropy of " + strconv.Quote(x.a.Model.Signature().Outputs[0].Name)
	}
	for k := range stored {
		x.out.Path = append(x.out.Path, Point{
			T: Number(float64(k) / steps), Stored: stored[k], Aligned: aligned[k],
		})
	}
}

// between is a model with t parts of the second numbers and 1 − t of the first.
func (x *aligner) between(to Numbers, t float64) (*onnx.Model, error) {
	mixed, err := between(x.a.numbers, to, t)
	if err != nil {
		return nil, err
	}
	return mixed.Into(x.a.Model)
}

// between are t parts of the second numbers and 1 − t of the first.
func between(a, b Numbers, t float64) (Numbers, error) {
	out := Numbers{}
	var x, y []float64
	for name, p := range a {
		var err error
		if x, err = p.Float64s(x[:0]); err != nil {
			return nil, err
		}
		if y, err = b[name].Float64s(y[:0]); err != nil {
			return nil, err
		}
		for i := range x {
			x[i] = float64((1-t)*x[i]) + float64(t*y[i])
		}
		if out[name], err = rounded(p.DType, x, p.Shape); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// loss is the mean cross-entropy of the first output at probes with labels; NaN without.
func (x *aligner) loss(of [][]tensor.Named) Number {
	sum, n := 0.0, 0
	for i, l := range x.o.Labels {
		if l < 0 || i >= len(of) {
			continue
		}
		z, err := of[i][0].Float64s(nil)
		if err != nil || l >= len(z) {
			return Number(math.NaN())
		}
		top := z[0]
		for _, v := range z {
			top = max(top, v)
		}
		total := 0.0
		for _, v := range z {
			total += elementary.Exp(v - top)
		}
		sum += elementary.Log(total) - (z[l] - top)
		n++
	}
	if n == 0 {
		return Number(math.NaN())
	}
	return Number(sum / float64(n))
}

// sentence is the answer about two models.
func (a *Aligned) sentence(v Verdict) string {
	switch v {
	case SameFile:
		return "Same file: the two are the same byte for byte."
	case SameUpTo:
		if a.Numbers {
			return "Same up to symmetries: the weights are the same bit for bit; the files differ in " + a.besides() +
				"."
		}
		moved := 0
		for _, x := range a.Axes {
			moved += x.Moved
		}
		placed := words.Plural(moved, "unit", "units") + " put into the order of the first model, and scaled as they " +
			"are there"
		if moved == 0 {
			placed = "units in their places, and scaled as they are in the first model"
		}
		text := fmt.Sprintf("Same up to symmetries: with %s, the weights are %s apart, where they were %s apart as "+
			"stored; the answers are %s of their scale apart", placed, words.Figures(float64(a.After)),
			words.Figures(float64(a.Before)),
			words.Figures(float64(a.Function.Error)))
		if a.Rough > 0 {
			text += fmt.Sprintf(", as far as rounding takes those of this model: rounding the stored numbers "+
				"otherwise moves them by %s", words.Figures(float64(a.Rough)))
		}
		return text + "."
	case SameFunction:
		return fmt.Sprintf("Same function, other weights: the answers are %s of their scale apart at the probes, and "+
			"%s.", words.Figures(float64(a.Function.Error)), a.closest())
	case NotTold:
		return fmt.Sprintf("Not told apart: the answers are %s of their scale apart at the probes, but %s reached by "+
			"no probe: %s; ask at more probes, or at samples of a study, that reach them; %s.",
			words.Figures(float64(a.Function.Error)), words.Plural(a.Unreached.Numbers, "number that differs is",
				"numbers that differ are"), a.Unreached.text(), a.closest())
	case Different:
	}
	far := words.Figures(float64(a.Function.Error))
	if a.Function.part {
		return fmt.Sprintf("Different: of the answers %s is %s of its own scale apart at the probes, and rounding "+
			"takes it less than a sixteenth as far; the weights are %s apart with their units paired, %s as stored.",
			a.Function.At, far, words.Figures(float64(a.After)), words.Figures(float64(a.Before)))
	}
	switch stored, after := words.Figures(float64(a.Before)), words.Figures(float64(a.After)); {
	case a.Before == a.After && len(a.Axes) > 0:
		return fmt.Sprintf("Different: the answers are %s of their scale apart at the probes, and the weights %s "+
			"apart as stored, and no closer with units paired.", far, stored)
	case a.Unit == nil && float64(a.After) <= mostApart && float64(a.Moved.Error) > mostError:
		return fmt.Sprintf("Different: the answers are %s of their scale apart at the probes, though the weights are "+
			"%s apart with their units paired, %s as stored: moving units takes the answers of the second %s away, "+
			"further than rounding does.", far, after, stored, words.Figures(float64(a.Moved.Error)))
	default:
		return fmt.Sprintf("Different: the answers are %s of their scale apart at the probes, and the weights %s "+
			"apart with their units paired, %s as stored.", far, after, stored)
	}
}

// besides is in what files differ whose weights do not.
func (a *Aligned) besides() string {
	if len(a.Unused) == 0 {
		return "names or notes alone"
	}
	const most = 3
	var names []string
	for _, name := range a.Unused[:min(len(a.Unused), most)] {
		names = append(names, strconv.Quote(name))
	}
	if more := len(a.Unused) - most; more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	return fmt.Sprintf("%s that no node reads (%s), in names or notes", words.Plural(len(a.Unused), "stored tensor",
		"stored tensors"), strings.Join(names, ", "))
}

// closest says how close the weights came.
func (a *Aligned) closest() string {
	after := words.Figures(float64(a.After))
	if a.Before == a.After {
		after += ", which they are apart as stored"
	}
	text := "no symmetry that was tried takes the weights closer than " + after
	if len(a.Axes) == 0 {
		text = "no symmetry was found that could be tried: the weights are " + words.Figures(float64(a.Before)) +
			" apart"
	}
	if u := a.Unit; u != nil {
		text += fmt.Sprintf("; what stands at %d on axis %d of %q is %s of its size apart", u.Unit, u.Axis, u.Tensor,
			words.Figures(float64(u.Apart)))
	}
	return text
}

// parts are what people read of it.
func (a *Aligned) parts() []sheet.Part {
	yes := func(b bool) string {
		if b {
			return "yes"
		}
		return "no"
	}
	all := []sheet.Part{{Title: "Two checkpoints", Table: [][]string{
		{"question", "answer"},
		{"same file", yes(a.Digests)},
		{"same weights", yes(a.Numbers)},
		{"same canonical form", yes(a.Canonical)},
		{"answers apart, of their scale", a.Function.text()},
		{"weights apart as stored", words.Figures(float64(a.Before))},
		{"weights apart with units paired", words.Figures(float64(a.After))},
		{"answers of the second after its units were moved", a.Moved.text()},
	}}}
	if u := a.Unit; u != nil {
		all[0].Table = append(all[0].Table, []string{"what is furthest apart beside its size", fmt.Sprintf(
			"%s, at %d on axis %d of %q", words.Figures(float64(u.Apart)), u.Unit, u.Axis, u.Tensor)})
	}
	if a.Unreached != nil {
		all[0].Table = append(all[0].Table, []string{"numbers that differ and no probe reaches", a.Unreached.text()})
	}
	if a.Rough > 0 {
		all[0].Table = append(all[0].Table, []string{
			"answers of the first with its numbers rounded otherwise",
			words.Figures(float64(a.Rough)),
		})
	}
	if len(a.Axes) > 0 {
		p := sheet.Part{
			Title: "Pairs of units", Text: []string{fmt.Sprintf("Paired by what they answer at the probes, then "+
				"by weights in %s. A tie is a unit that another one answers as it does: either may be the partner.",
				words.Plural(a.Rounds, "round", "rounds"))},
			Table: [][]string{{"first at", "units", "moved", "correlation", "unmatched", "ties", "by weights"}},
		}
		for _, x := range a.Axes {
			p.Table = append(p.Table, []string{
				x.Name, words.Count(x.Units * x.Blocks), words.Count(x.Moved), words.Figures(float64(x.Correlation)),
				words.Count(x.Unmatched), words.Count(x.Ties), words.Count(x.Refined),
			})
		}
		if a.Before == a.After {
			p.Text = append(p.Text, "No order and no scale that was tried takes the weights closer than they are as "+
				"stored: the units stay there.")
		}
		all = append(all, p)
	}
	if len(a.Layers) > 0 {
		p := sheet.Part{
			Title: "Layers", Text: []string{"‖A − B‖/‖A‖; tensors that are equal are left out."},
			Table: [][]string{{"tensor", "as stored", "paired"}},
		}
		for _, l := range a.Layers {
			p.Table = append(p.Table, []string{
				l.Tensor, words.Figures(float64(l.Before)),
				words.Figures(float64(l.After)),
			})
		}
		all = append(all, p)
	}
	if len(a.Path) > 0 {
		all = append(all, a.line())
	}
	return all
}

// line is the part on the straight line.
func (a *Aligned) line() sheet.Part {
	p := sheet.Part{Title: "On the straight line", Table: [][]string{{"t", "to A", "to B", "paired: to A", "to B"}}}
	if a.Loss != "" {
		p.Text = append(p.Text, "Loss: "+a.Loss+".")
		p.Table[0] = append(p.Table[0], "loss", "paired: loss")
	}
	if a.Statistics {
		p.Text = append(p.Text, "The statistics of batch norms are averaged as the weights are, and not measured "+
			"again: a barrier in between may be theirs.")
	}
	for _, x := range a.Path {
		row := []string{strconv.FormatFloat(float64(x.T), 'g', 2, 64)}
		for _, v := range []Number{x.Stored.ToFirst, x.Stored.ToSecond, x.Aligned.ToFirst, x.Aligned.ToSecond} {
			row = append(row, words.Figures(float64(v)))
		}
		if a.Loss != "" {
			row = append(row, words.Figures(float64(x.Stored.Loss)), words.Figures(float64(x.Aligned.Loss)))
		}
		p.Table = append(p.Table, row)
	}
	return p
}
