// Package smooth is the check of smoother inputs: is the error one of fine detail, which a grid cannot hold?
package smooth

import (
	"context"
	"errors"
	"fmt"
	"math"

	"nero/audit"
	"nero/audit/kit/stress"
	"nero/data/space"
	"nero/internal/elementary"
	"nero/measure/scale"
)

// Check is the check of smoother inputs. Its result is a [*Result].
var Check = &audit.Check{
	Name: "smooth",
	Doc: `Smooth asks whether the error is one of fine detail: it puts a blur between the motion and the model, Gaussian with a standard deviation of 1
and of 2 pixels, and measures the error again, against the scale of the answers to the blurred inputs.

A layer that takes every second value, a nonlinearity that makes frequencies which the grid cannot hold, and resampling itself err at fine detail
and hardly at all where there is none. Weights that are not symmetric, positions and borders err alike on smooth inputs. The blur is symmetric
under turns and mirrors of the grid and reflects at the border, so it adds no error to a model that has none.`,
	Family: stress.Family,
	Params: []audit.Param{
		{
			Name: "samples", Doc: "Inputs of the question, spread over the data.", Default: 12, Min: 3, Max: 1000,
			Least: 3,
		},
		stress.Elements,
	},
	Requires: stress.Requires(),
	Optional: true,
	Run:      run,
	Work: stress.Work(func(p *audit.Pass) int {
		return (1 + len(p.PickElements(int(p.Param(stress.Elements.Name))))) * len(blurs)
	}),
}

// blurs are the standard deviations in pixels.
var blurs = [...]float64{0, 1, 2}

// falls is by how much the error has to fall before it is called one of fine detail.
const falls = 4

// Result is the error at every blur.
type Result struct {
	stress.Result
	Blurs []Blur
}

// Blur is the error with one blur between the motion and the model.
type Blur struct {
	// standard deviation in pixels
	Pixels float64
	// mean over samples of the largest, relative to the scale of the answers to inputs that are blurred alike
	Error audit.Interval
}

func run(ctx context.Context, p *audit.Pass) (any, error) {
	t, err := stress.New(p)
	if err != nil {
		return nil, err
	}
	if _, _, ok := stress.PictureSize(t.Still[0]); !ok {
		return nil, fmt.Errorf("%w: the inputs are no pictures", audit.ErrNotApplicable)
	}
	r := &Result{}
	at := audit.Nowhere
	for _, pixels := range blurs {
		b, worst, err := measure(ctx, t, pixels)
		if errors.Is(err, scale.ErrForm) {
			return nil, fmt.Errorf("%w: %w", audit.ErrNotApplicable, err)
		} else if err != nil {
			return nil, err
		}
		if pixels == 0 {
			at = worst
		}
		r.Blurs = append(r.Blurs, b)
	}
	report(p, t.Floor, r, at)
	return r, nil
}

// measure sends the inputs, moved and then blurred, through the model.
func measure(ctx context.Context, t *stress.Test, pixels float64) (Blur, audit.Where, error) {
	p := t.Pass
	plan := p.Subject.Plan
	elements := append(append([]int{}, t.Exact...), t.Resample...)
	blurred := func(v space.Value) space.Value {
		if pixels == 0 {
			return v
		}
		return stress.Pictures(v, func(x *space.Image) *space.Image { return blur(x, pixels) })
	}
	const still = -1
	stream := func(yield func(audit.Request, error) bool) {
		for i, raw := range t.Raw {
			if !yield(audit.Request{Sample: i, Element: still, Input: blurred(t.Still[i])}, nil) {
				return
			}
			for k, j := range elements {
				x, err := plan.In.Apply(p.Elements[j].G, raw)
				if err != nil {
					yield(audit.Request{}, fmt.Errorf("sample %s at %s: %w", t.IDs[i], t.Label(j), err))
					return
				}
				if !yield(audit.Request{Sample: i, Element: k, Input: blurred(x)}, nil) {
					return
				}
			}
		}
	}
	var spread scale.Spread
	var base space.Value
	most := make([]float64, len(t.Raw))
	var worst stress.Worst
	err := p.Predict(ctx, stream, func(q audit.Request, y space.Value) error {
		if q.Element == still {
			base = y
			return spread.Add(y)
		}
		j := elements[q.Element]
		z, err := plan.Out.Apply(plan.Group.Inv(p.Elements[j].G), y)
		if err != nil {
			return fmt.Errorf("sample %s at %s: output: %w", t.IDs[q.Sample], t.Label(j), err)
		}
		d, err := p.Compare(z, base)
		if err != nil {
			return err
		}
		e := d.Norm
		worst.Add(e, q.Sample, j, "")
		if math.IsNaN(e) {
			e = math.Inf(1)
		}
		most[q.Sample] = max(most[q.Sample], e)
		return nil
	})
	if err != nil {
		return Blur{}, audit.Nowhere, err
	}
	s := spread.Scale()
	if !(s > 0) {
		return Blur{}, audit.Nowhere, fmt.Errorf("%w: answers to inputs blurred by %g px do not vary",
			audit.ErrNotApplicable,
			pixels)
	}
	for i := range most {
		most[i] /= s
	}
	return Blur{
		Pixels: pixels,
		Error: audit.ErrorInterval(most, p.Policy.Confidence,
			p.Rand("interval of blurred inputs", fmt.Sprint(pixels))),
	}, t.Where(worst.Sample, worst.Element), nil
}

func report(p *audit.Pass, floor float64, r *Result, at audit.Where) {
	table := &audit.Table{Columns: []audit.Column{
		{Name: "blur", Unit: "px", Doc: "standard deviation of the blur between motion and model"},
		{Name: "error", Doc: "mean over inputs of the largest, over the scale of the answers to inputs blurred alike"},
		{Name: "low"},
		{Name: "high"},
	}}
	for _, b := range r.Blurs {
		table.Rows = append(table.Rows, []audit.Cell{
			audit.Num(b.Pixels), audit.Num(b.Error.Value), audit.Num(b.Error.Lo), audit.Num(b.Error.Hi),
		})
		p.Measure(audit.Measured(fmt.Sprintf("error on inputs blurred by %g px", b.Pixels), b.Error, ""))
	}
	p.Show(audit.Exhibit{
		Name: "blurs", Title: "Smoother inputs", Table: table,
		Note: "An error that falls with the blur is one of fine detail: subsampling, frequencies that the grid " +
			"cannot " +
			"hold, resampling.",
	})
	sharp, soft := r.Blurs[0].Error, r.Blurs[len(r.Blurs)-1].Error
	limit := max(p.Policy.Threshold, floor)
	r.Result = stress.Result{
		Answer: stress.Measured, Error: soft.Value, Limit: math.NaN(),
		Text: fmt.Sprintf("the error is %s on the inputs as they are and %s on inputs blurred by %g px",
			audit.Figures(sharp.Value), audit.Figures(soft.Value), r.Blurs[len(r.Blurs)-1].Pixels),
	}
	if !(sharp.Lo > limit) {
		return // nothing to explain
	}
	fine := falls*soft.Value <= sharp.Value && soft.Hi < sharp.Lo
	p.Clue(audit.Clue{
		Name: audit.ClueFineDetail, Holds: fine, Strength: 1, Text: r.Text,
		Evidence: []audit.Evidence{audit.Measured("error on blurred inputs", soft, "").Against(sharp.Value / falls)},
	})
	if fine {
		p.Report(audit.Finding{
			Category: audit.Explanation, Location: "input", Worst: at,
			Message: "The error is one of fine detail: " + r.Text + ".",
			Evidence: []audit.Evidence{
				audit.Measured("error on the inputs as they are", sharp, ""),
				audit.Measured("error on blurred inputs", soft, "").Against(sharp.Value / falls),
			},
			Remedies: []string{
				"blur before every layer that takes only some of the values, or sample adaptively",
				"give the model smoother or finer pictures, if the task allows it",
			},
		})
	}
}

// blur is a picture under a Gaussian of the given standard deviation in pixels, mirrored at the border.
func blur(x *space.Image, deviation float64) *space.Image {
	reach := int(math.Ceil(3 * deviation))
	weights := make([]float64, 2*reach+1)
	var sum float64
	for k := range weights {
		d := float64(k - reach)
		weights[k] = elementary.Exp(-d * d / (2 * deviation * deviation))
		sum += weights[k]
	}
	for k := range weights {
		weights[k] /= sum
	}
	y := space.NewImage(x.C, x.H, x.W)
	rows := make([]float64, x.H*x.W)
	for c := range x.C {
		lines(x.Plane(c), rows, weights, x.H, x.W, x.W, 1)
		lines(rows, y.Plane(c), weights, x.W, x.H, 1, x.W)
	}
	return y
}

// lines weighs the neighbors of every value along lines of n values that lie step apart; the lines lie stride apart.
func lines(from, to, weights []float64, count, n, stride, step int) {
	reach := len(weights) / 2
	for l := range count {
		for i := range n {
			var s float64
			// Pairs of neighbors at one distance are added first, so that a mirrored line gives the mirrored sums bit
			// by bit.
			for k := 1; k <= reach; k++ {
				s += float64(weights[reach+k] *
					(from[l*stride+mirrored(i-k, n)*step] + from[l*stride+mirrored(i+k, n)*step]))
			}
			to[l*stride+i*step] = s + float64(weights[reach]*from[l*stride+i*step])
		}
	}
}

// mirrored is the place of index i in a line of n values that goes on as its mirror image, the outermost value twice.
func mirrored(i, n int) int {
	i = (i%(2*n) + 2*n) % (2 * n)
	if i >= n {
		return 2*n - 1 - i
	}
	return i
}
