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
	Name:  "smooth",
	Title: "The error of fine detail",
	Doc: `Smooth asks whether the error is one of fine detail: it puts a blur between the motion and the model, Gaussian with a standard deviation of 1
and of 2 pixels, and measures the error again, against the scale of the answers to the blurred inputs. And it takes the inputs at twice the resolution,
their middle cropped to the size that the model reads: the trigonometric polynomial through the pixels of the mirrored picture, read at every half pixel. All content is there,
and none of it is finer than two pixels.

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
		return (1 + len(p.PickElements(int(p.Param(stress.Elements.Name))))) * (len(blurs) + 1)
	}),
}

// blurs are the standard deviations in pixels.
var blurs = [...]float64{0, 1, 2}

const (
	// falls is by how much the error has to fall behind a blur before it is called one of fine detail.
	falls = 4
	// halves is by how much it has to fall on oversampled inputs to say so too: twice the resolution halves slopes.
	halves = 2
)

// Result is the error at every blur, and on oversampled inputs.
type Result struct {
	stress.Result
	Blurs []Blur
	// Oversampled is the error on the middle of the inputs at twice their resolution; NaN where answers to them do not
	// vary.
	Oversampled audit.Interval
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
		behind := func(x *space.Image) *space.Image { return blur(x, pixels) }
		if pixels == 0 {
			behind = nil
		}
		e, worst, err := measure(ctx, t, fmt.Sprintf("blurred by %g px", pixels), nil, behind)
		b := Blur{Pixels: pixels, Error: e}
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
	if r.Oversampled, _, err = measure(ctx, t, "at twice the resolution", finer{}.picture, nil); err != nil {
		if !errors.Is(err, audit.ErrNotApplicable) {
			return nil, err
		}
		r.Oversampled = audit.Interval{Value: math.NaN(), Lo: math.NaN(), Hi: math.NaN()}
	}
	report(p, t.Floor, r, at)
	return r, nil
}

// measure sends the inputs, changed before they are moved and changed behind the motion, through the model; nil changes
// nothing.
func measure(ctx context.Context, t *stress.Test, how string, before, behind func(*space.Image) *space.Image) (
	audit.Interval, audit.Where, error,
) {
	p := t.Pass
	plan := p.Subject.Plan
	elements := append(append([]int{}, t.Exact...), t.Resample...)
	changed := func(v space.Value, f func(*space.Image) *space.Image) space.Value {
		if f == nil {
			return v
		}
		return stress.Pictures(v, f)
	}
	const still = -1
	stream := func(yield func(audit.Request, error) bool) {
		for i, raw := range t.Raw {
			raw, base := changed(raw, before), t.Still[i]
			if before != nil {
				var err error
				if base, err = plan.In.Apply(plan.Group.Identity(), raw); err != nil {
					yield(audit.Request{}, fmt.Errorf("sample %s: %w", t.IDs[i], err))
					return
				}
			}
			if !yield(audit.Request{Sample: i, Element: still, Input: changed(base, behind)}, nil) {
				return
			}
			for k, j := range elements {
				x, err := plan.In.Apply(p.Elements[j].G, raw)
				if err != nil {
					yield(audit.Request{}, fmt.Errorf("sample %s at %s: %w", t.IDs[i], t.Label(j), err))
					return
				}
				if !yield(audit.Request{Sample: i, Element: k, Input: changed(x, behind)}, nil) {
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
		return audit.Interval{}, audit.Nowhere, err
	}
	s := spread.Scale()
	if !(s > 0) {
		return audit.Interval{}, audit.Nowhere, fmt.Errorf("%w: answers to inputs %s do not vary",
			audit.ErrNotApplicable, how)
	}
	for i := range most {
		most[i] /= s
	}
	return audit.ErrorInterval(most, p.Policy.Confidence, p.Rand("interval of smoother inputs", how)),
		t.Where(worst.Sample, worst.Element), nil
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
	twice := !math.IsNaN(r.Oversampled.Value)
	if twice {
		p.Measure(audit.Measured("error on inputs at twice the resolution", r.Oversampled, ""))
		table.Columns[0] = audit.Column{
			Name: "inputs",
			Doc: "standard deviation of the blur between motion and model, or at twice the resolution, their middle " +
				"alone",
		}
		for i, b := range r.Blurs {
			table.Rows[i][0] = audit.Word(fmt.Sprintf("blurred by %g px", b.Pixels))
		}
		table.Rows = append(table.Rows, []audit.Cell{
			audit.Word("twice the resolution"), audit.Num(r.Oversampled.Value), audit.Num(r.Oversampled.Lo),
			audit.Num(r.Oversampled.Hi),
		})
	}
	p.Show(audit.Exhibit{
		Name: "blurs", Title: "Smoother and finer inputs", Table: table,
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
	if twice {
		r.Text += fmt.Sprintf(", and %s at twice the resolution", audit.Figures(r.Oversampled.Value))
	}
	if !(sharp.Lo > limit) {
		return // nothing to explain
	}
	fine := falls*soft.Value <= sharp.Value && soft.Hi < sharp.Lo
	// What is broken errs less on a blurred picture where it errs at few places. A finer picture has them all.
	sure := 0.5
	if twice && halves*r.Oversampled.Value <= sharp.Value {
		sure = 1
	}
	p.Clue(audit.Clue{
		Name: audit.ClueFineDetail, Holds: fine, Strength: sure, Text: r.Text,
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

// finer shows pictures at twice their resolution. It keeps the weights by how many pixels they are for, as the pictures
// of an audit have few sizes; it serves one goroutine at a time.
type finer map[int][]float64

// picture is the middle of a picture at twice its resolution, of the picture's own size: the trigonometric polynomial
// through the pixels of the picture and its mirror images, at every half pixel about the centre.
func (f finer) picture(x *space.Image) *space.Image {
	rows, cols := f.weights(x.H), f.weights(x.W)
	y := space.NewImage(x.C, x.H, x.W)
	wide := make([]float64, x.H*x.W)
	for c := range x.C {
		from, to := x.Plane(c), y.Plane(c)
		for r := range x.H {
			for i := range x.W {
				var s float64
				for j, v := range from[r*x.W : (r+1)*x.W] {
					s += float64(cols[i*x.W+j] * v)
				}
				wide[r*x.W+i] = s
			}
		}
		for i := range x.H {
			line := to[i*x.W : (i+1)*x.W]
			for j := range x.H {
				w := rows[i*x.H+j]
				for k, v := range wide[j*x.W : (j+1)*x.W] {
					line[k] += float64(w * v)
				}
			}
		}
	}
	return y
}

func (f finer) weights(n int) []float64 {
	if f[n] == nil {
		f[n] = halfPixels(n)
	}
	return f[n]
}

// halfPixels are the weights of n pixels at n places half a pixel apart about the centre: sum of cos(πk(t+½)/n)·
// cos(πk(j+½)/n) over the frequencies k, as the discrete cosine transform and back.
func halfPixels(n int) []float64 {
	w := make([]float64, n*n)
	half := float64(n-1) / 2
	// of every place, and of every pixel, by frequency
	places, pixels := make([]float64, n*n), make([]float64, n*n)
	for i := range n {
		t := half + (float64(i)-half)/2
		for k := 1; k < n; k++ {
			f := math.Pi * float64(k) / float64(n)
			places[i*n+k] = elementary.Cos(f * (t + 0.5))
			pixels[i*n+k] = elementary.Cos(f * (float64(i) + 0.5))
		}
	}
	for i := range n {
		at := places[i*n : (i+1)*n]
		for j := range n {
			of := pixels[j*n : (j+1)*n]
			s := 1.0
			for k := 1; k < n; k++ {
				s += float64(2 * float64(at[k]*of[k]))
			}
			w[i*n+j] = s / float64(n)
		}
	}
	return w
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
