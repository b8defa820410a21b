// Package warmup is the check of models of sequences that remember: how many frames after a start it takes until an
// answer is what it would have been had the model been running before.
package warmup

import (
	"context"
	"fmt"
	"math"
	"slices"

	"nero/audit"
	"nero/audit/check/controls"
	"nero/audit/check/sweep"
	"nero/data/space"
	"nero/model/onnx/onnxpb"
)

// Check is the check of the first frames. Its result is a [*Result].
var Check = &audit.Check{
	Name:  "warmup",
	Title: "Starting a sequence later",
	Doc: `Warmup starts a sequence later: the first part of an input is cut off, in whole frames of the output, and every answer is held against that of the
same moment in the uncut input. Of a model without memory nothing changes; one with a state, started cold, needs some frames. The error as a function of the
number of frames since the start is drawn, and the number of frames is found after which its mean over inputs stays below the limit. Models that take one
length only are given zeros at the end. The end is cut off as well: what then changes before the cut is the border of a model that looks ahead,
and no state; so are first frames that differ of a network without an operator that remembers, such as a convolution that looks back.`,
	Params: []audit.Param{
		{Name: "samples", Doc: "Inputs, spread over the data.", Default: 8, Min: 2, Max: 1000},
		{Name: "starts", Doc: "Later starts of each input.", Default: 3, Min: 1, Max: 100},
	},
	Requires: []*audit.Check{sweep.Check, controls.Check},
	Optional: true,
	Run:      run,
	Work: func(p *audit.Pass) int {
		if k := p.Subject.Kinds.Info(p.Subject.InSpec.Kind); k == nil || !k.Sequence {
			return 0
		}
		return tries + min(int(p.Param("samples")), p.Subject.N)*(2+int(p.Param("starts")))
	},
}

// Result says how long a start is felt.
type Result struct {
	// by frames since the start, mean over inputs and starts; NaN where nothing was measured
	Error []float64
	// by frames before an earlier end
	Before []float64
	// Frames is the number of frames after which the error stays below the limit, 0 if a start changes nothing, -1 if
	// it does not within those that were followed. End is the same before an end.
	Frames, End int
	// Tenth is the number of frames after which the error stays at or below a tenth of that of the first, -1 if it does
	// not within those that were followed.
	Tenth int
	// numbers, or pictures, of the input for one frame of the output
	Hop   int
	Limit float64
}

// remembering are the operators that take something from one step to the next.
var remembering = []string{"CumSum", "GRU", "LSTM", "Loop", "RNN", "Scan"}

// remembers tells whether a model may have a state: it is driven step by step from outside of its graph, or no graph is
// known, or an operator of it has one.
func remembers(s *audit.Subject) bool {
	return s.Interior == nil || slices.ContainsFunc(s.Interior.ONNX().Proto().GetGraph().GetNode(),
		func(n *onnxpb.NodeProto) bool { return slices.Contains(remembering, n.GetOpType()) })
}

// length is that of a sequence; 0 for other values.
func length(v space.Value) int {
	if s, ok := v.(interface{ Length() int }); ok {
		return s.Length()
	}
	return 0
}

// window is part of a sequence, from one moment to before another, with zeros up to the given length.
func window(v space.Value, from, to, fill int) space.Value {
	if s, ok := v.(space.Sequence); ok {
		return s.Part(from, to, fill)
	}
	return v
}

// moment is the frame k of an output.
func moment(v space.Value, k int) []float64 {
	switch v := v.(type) {
	case space.Counted:
		return v.Row(k)
	case space.Pictured:
		return v.Pictures()[k].Pix
	}
	return nil
}

// sequence is the output, or the first field of it that runs along with the input, and its scale per frame.
func sequence(p *audit.Pass, v space.Value, scale float64) (space.Value, float64) {
	per := func(v space.Value, s float64) float64 {
		if _, ok := v.(space.Pictured); ok { // the others are root mean squares over frames already
			return s / math.Sqrt(float64(max(length(v), 1)))
		}
		return s
	}
	names, fields := space.Fields(v)
	if names == nil {
		return v, per(v, scale)
	}
	for i, f := range fields {
		if length(f) > 1 {
			s := 1.0
			if g := p.Gauge(); g != nil && i < len(g.Scales) {
				s = g.Scales[i]
			}
			return f, per(f, s)
		}
	}
	return nil, 0
}

type tester struct {
	p     *audit.Pass
	scale float64
	// the model takes one length only
	fixed bool
	// of the input for one frame of the output; 0 before it is known
	hop int
}

// tries is about how many predictions it takes to find the hop.
const tries = 24

func run(ctx context.Context, p *audit.Pass) (any, error) {
	sw, c := audit.ResultOf[*sweep.Result](p, sweep.Check), audit.ResultOf[*controls.Result](p, controls.Check)
	if c.Facts.Vacuous {
		return nil, fmt.Errorf("%w: the outputs do not vary", audit.ErrNotApplicable)
	}
	t := &tester{p: p, scale: sw.Scale}
	r := &Result{Limit: max(p.Policy.Threshold, p.Policy.RoundingFactor*max(c.Floors.Rounding, 0),
		p.Policy.NoiseFactor*max(c.Floors.Repeat, c.Floors.Batch, 0))}
	var start, end tally
	for _, i := range p.Pick(int(p.Param("samples"))) {
		s, err := p.Sample(i)
		if err != nil {
			return nil, err
		}
		x, err := p.Subject.Plan.In.Apply(p.Subject.Plan.Group.Identity(), s.Value)
		if err != nil {
			return nil, fmt.Errorf("sample %s: %w", s.ID, err)
		}
		T := length(x)
		if _, ok := x.(space.Sequence); !ok || T < 2 {
			return nil, fmt.Errorf("%w: the inputs are no sequences", audit.ErrNotApplicable)
		}
		first, err := p.PredictBatch(ctx, 0, []space.Value{x})
		if err != nil {
			return nil, err
		}
		y, scale := sequence(p, first[0], t.scale)
		if y == nil || length(y) < 2 {
			return nil, fmt.Errorf("%w: the output has no frame for each part of the input", audit.ErrNotApplicable)
		}
		frames := length(y)
		if frames < 4 {
			return nil, fmt.Errorf("%w: %d moments of the input and %d frames of the output leave no later start",
				audit.ErrUntested, T, frames)
		}
		if err := t.find(ctx, x, y); err != nil {
			return nil, fmt.Errorf("sample %s: %w", s.ID, err)
		}
		hop := t.hop
		r.Hop = hop
		n := int(p.Param("starts"))
		for k := range n {
			cut := max(1, (k+1)*frames/(2*(n+1))) // up to half of it
			z, err := t.answer(ctx, x, cut*hop, T, y)
			if err != nil {
				return nil, fmt.Errorf("sample %s: %w", s.ID, err)
			}
			most := min(length(z), frames-cut)
			if t.fixed {
				most = min(most, frames-cut-cut/2) // what a model that looks ahead sees of the zeros
			}
			for f := range most {
				start.add(f, apart(moment(z, f), moment(y, f+cut))/scale)
			}
		}
		cut := max(1, frames/4)
		z, err := t.answer(ctx, x, 0, T-cut*hop, y)
		if err != nil {
			return nil, fmt.Errorf("sample %s: %w", s.ID, err)
		}
		for f := range min(length(z), frames-cut) {
			end.add(frames-cut-1-f, apart(moment(z, f), moment(y, f))/scale)
		}
	}
	r.Error, r.Before = start.means(), end.means()
	r.Frames, r.End = start.settles(r.Limit), end.settles(r.Limit)
	if len(r.Error) > 0 {
		r.Tenth = start.settles(r.Error[0] / 10)
	}
	r.report(p)
	return r, nil
}

// find learns the hop. The number of frames alone does not tell it: 241 numbers make 60 frames of 4, and 20 make 16 of
// one that sees 5. So sequences are cut shorter, and the lengths are sought at which the number of frames drops;
// between two of them lie whole hops.
func (t *tester) find(ctx context.Context, x, y space.Value) error {
	if t.hop > 0 {
		return nil
	}
	T, frames := length(x), length(y)
	count := func(n int) (int, error) {
		z, err := t.p.PredictBatch(ctx, 0, []space.Value{window(x, 0, n, 0)})
		if err != nil {
			return -1, ctx.Err() // a length that the model does not take
		}
		v, _ := sequence(t.p, z[0], 1)
		if v == nil || space.Style(v) != space.Style(y) {
			return -1, nil
		}
		return length(v), nil
	}
	// shortest is the smallest length above lo that has so many frames, and how many it has.
	shortest := func(lo, want int) (n, has int, err error) {
		n, has = T, frames
		for n-lo > 1 {
			m := (lo + n) / 2
			k, err := count(m)
			if err != nil {
				return 0, 0, err
			}
			if k >= want {
				n, has = m, k
			} else {
				lo = m
			}
		}
		return n, has, nil
	}
	for _, lo := range []int{T / 2, T - T/4, T - T/8} {
		few, err := count(lo)
		if err != nil {
			return err
		}
		if few < 0 || lo == T {
			continue
		}
		if few >= frames {
			break // always as many: filled up, or pooled to a fixed number
		}
		l1, _, err := shortest(lo, frames)
		if err != nil {
			return err
		}
		l2, has, err := shortest(lo, few+1)
		if err != nil {
			return err
		}
		if has >= frames || (l1-l2)%(frames-has) != 0 || l1 <= l2 {
			return fmt.Errorf("%w: %d moments make %d frames, %d make %d: no whole number of moments makes a frame",
				audit.ErrNotApplicable, l1, frames, l2, has)
		}
		t.hop = (l1 - l2) / (frames - has)
		return nil
	}
	if T%frames != 0 {
		return fmt.Errorf("%w: the model takes one length only, and its %d frames do not divide the %d moments of "+
			"the input, so that nothing tells how many make a frame", audit.ErrNotApplicable, frames, T)
	}
	t.fixed, t.hop = true, T/frames
	return nil
}

// answer predicts part of a sequence, filled up with zeros if the model does not take another length. Zeros come after
// what is compared.
func (t *tester) answer(ctx context.Context, x space.Value, from, to int, like space.Value) (space.Value, error) {
	if !t.fixed {
		y, err := t.p.PredictBatch(ctx, 0, []space.Value{window(x, from, to, 0)})
		if err == nil {
			z, _ := sequence(t.p, y[0], 1)
			if z != nil && space.Style(z) == space.Style(like) {
				return z, nil
			}
		} else if ctx.Err() != nil {
			return nil, err
		}
		t.fixed = true
	}
	y, err := t.p.PredictBatch(ctx, 0, []space.Value{window(x, from, to, length(x))})
	if err != nil {
		return nil, err
	}
	z, _ := sequence(t.p, y[0], 1)
	if z == nil || space.Style(z) != space.Style(like) {
		return nil, fmt.Errorf("%w: the output changes its form", audit.ErrUntested)
	}
	return z, nil
}

func apart(a, b []float64) float64 {
	if len(a) != len(b) {
		return math.NaN()
	}
	var s float64
	for i := range a {
		s += float64((a[i] - b[i]) * (a[i] - b[i]))
	}
	return math.Sqrt(s)
}

// tally are sums by frame.
type tally struct {
	sum []float64
	n   []int
}

func (t *tally) add(k int, e float64) {
	for len(t.sum) <= k {
		t.sum, t.n = append(t.sum, 0), append(t.n, 0)
	}
	t.sum[k] += e
	t.n[k]++
}

func (t *tally) means() []float64 {
	out := make([]float64, len(t.sum))
	for k := range out {
		out[k] = t.sum[k] / float64(t.n[k]) // NaN where there is none
	}
	return out
}

// settles is the number of frames after which the error stays at or below the limit, which NaN does not; -1 if the last
// quarter of the frames does not. Frames that were not measured say nothing.
func (t *tally) settles(limit float64) int {
	n, last := 0, 0
	for k, x := range t.means() {
		if t.n[k] == 0 {
			continue
		}
		if last = k + 1; !(x <= limit) {
			n = k + 1
		}
	}
	if 4*n > 3*last {
		return -1
	}
	return n
}

func (r *Result) report(p *audit.Pass) {
	curve := func(name string, e []float64) audit.Series {
		s := audit.Series{Name: name}
		for k, x := range e {
			if x > 0 && !math.IsInf(x, 0) {
				s.X, s.Y = append(s.X, float64(k)), append(s.Y, x)
			}
		}
		return s
	}
	var series []audit.Series
	for _, s := range []audit.Series{curve("since a later start", r.Error), curve("before an earlier end", r.Before)} {
		if len(s.X) > 0 {
			series = append(series, s)
		}
	}
	if len(series) > 0 {
		p.Show(audit.Exhibit{
			Name: "warmup", Title: "Error by frames since the start",
			Note: fmt.Sprintf("Answers of a sequence that starts later, or ends earlier, against those of the whole "+
				"one at the same moment, mean over inputs; %d of the input make a frame.", r.Hop),
			Curve: &audit.Curve{
				X: audit.Scale{Name: "frames", Unit: "frames"}, Y: audit.Scale{Name: "error", Log: true},
				Limit: r.Limit, Series: series,
			},
		})
	}
	first := math.NaN()
	if len(r.Error) > 0 {
		first = r.Error[0]
	}
	// What did not settle is no number of frames: how many were followed is said instead.
	var ev []audit.Evidence
	settled := func(n int, e []float64, yes, no string) {
		if n < 0 {
			ev = append(ev, audit.Number(no, float64(len(e)), "frames").Against(0))
			return
		}
		ev = append(ev, audit.Number(yes, float64(n), "frames").Against(0))
	}
	settled(r.Frames, r.Error, "frames until a later start is forgotten",
		"frames followed after a start, error not below the threshold within them")
	if r.Frames != 0 && len(r.Error) > 0 {
		settled(r.Tenth, r.Error, "frames until the error of a start is a tenth of the first",
			"frames followed after a start, error not down to a tenth within them")
	}
	settled(r.End, r.Before, "frames before an earlier end that feel it",
		"frames followed before an end, error not below the threshold within them")
	ev = append(ev, audit.Number("error of the first frame after a start", first, "").Against(r.Limit))
	p.Measure(ev...)
	c := audit.Clue{
		Name: audit.ClueWarmup, Strength: 1, Evidence: ev, Location: "state",
		Text: "a later start changes nothing beyond " + audit.Figures(r.Limit),
	}
	if r.Frames == 0 {
		p.Clue(c)
		return
	}
	f := audit.Finding{
		Category: audit.Explanation, Location: "border", Worst: audit.Nowhere, Evidence: ev,
		Remedies: []string{"leave these frames out of what is compared"},
	}
	switch {
	case r.End < 0: // also of a start it says nothing then
		c.Text = "an earlier end changes answers up to the beginning: the model goes around or looks at all of the " +
			"sequence, and what a later start changes tells no state apart"
		f.Location, f.Remedies = "sequence", []string{"compare whole sequences only"}
		f.Message = "an earlier end changes answers up to the beginning: the model goes around or looks at all of " +
			"the sequence"
	case r.Frames > 0 && r.Frames <= 2*r.End:
		c.Text = fmt.Sprintf(
			"the first %d frames after a start change, and so do the %d before an end: a border and no state", r.Frames,
			r.End)
		f.Message = fmt.Sprintf(
			"the model sees the borders of a sequence: %d frames from its start and %d from its end", r.Frames, r.End)
	case r.Frames < 0 && r.End > 0:
		c.Text = fmt.Sprintf(
			"a later start changes answers through all of the %d frames that were followed and an earlier end those "+
				"of the %d before it, which tells no state apart", len(r.Error), r.End)
		f.Location, f.Remedies = "sequence", []string{"compare whole sequences only"}
		f.Message = fmt.Sprintf(
			"answers depend on where a sequence starts, through all of the %d frames that were followed, and on "+
				"where it ends, up to %d frames before", len(r.Error), r.End)
	case r.Frames < 0:
		c.Holds, c.Strength = true, 0.7
		c.Text = fmt.Sprintf(
			"the error of a later start is not below the threshold within the %d frames that were followed; the "+
				"first differs by %s of the scale", len(r.Error), audit.Figures(first))
		if r.Tenth > 0 {
			c.Text += fmt.Sprintf(", after %d frames a tenth of that is left", r.Tenth)
		}
	case !remembers(p.Subject):
		c.Text = fmt.Sprintf("the first %d frames after a start change, and nothing in the graph goes from one frame "+
			"to the next but what lies in its windows: what is put before the start, and no state", r.Frames)
		f.Message = fmt.Sprintf("the model sees the start of a sequence: what is put before it reaches %d frames",
			r.Frames)
	default:
		c.Holds = true
		c.Text = fmt.Sprintf(
			"the first %d frames after a start differ from what they are in a running sequence, the first by %s of "+
				"the scale", r.Frames, audit.Figures(first))
	}
	p.Clue(c)
	if c.Holds {
		f.Location, f.Message = "state", c.Text
		f.Remedies = []string{
			"leave these frames out of what is compared, or run the model over as many before",
			"start from a state that was learned for it",
		}
	}
	p.Report(f)
}
