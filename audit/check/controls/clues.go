package controls

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"nero/audit"
	"nero/audit/check/preflight"
	"nero/audit/check/sweep"
	"nero/data/space"
)

// companions says whether repeats, and the company, place and size of a batch, change an answer by more than rounding
// does.
func companions(p *audit.Pass, pre *preflight.Result, s float64, f audit.Floors) {
	limit := p.Policy.RoundingFactor * max(f.Rounding, 0)
	for _, k := range []struct {
		name  audit.ClueName
		size  float64
		worst string
		what  string
	}{
		{audit.ClueRepeats, pre.Repeat, "repeats", "repeats of one input"},
		{audit.ClueBatchCompany, pre.Company, "company", "answers to one input in other company"},
		{audit.ClueBatchPosition, pre.Place, "place", "answers to one input at other places of a batch"},
		{audit.ClueBatchSize, pre.Size, "size", "answers to one input alone and among its copies"},
	} {
		if math.IsNaN(k.size) {
			continue
		}
		x, bar, against := k.size/s, limit, "rounding gives"
		if noise := p.Policy.NoiseFactor * f.Repeat; k.name != audit.ClueRepeats && noise > bar {
			bar, against = noise, "repeats give"
		}
		c := audit.Clue{
			Name: k.name, Holds: x > bar, Strength: sweep.Clarity(x, bar),
			Text: fmt.Sprintf("%s differ by %.2g of the scale of the outputs; %s up to %.2g", k.what, x, against,
				bar),
			Evidence: []audit.Evidence{audit.Number(k.what+" differ by", x, "").Against(bar)},
		}
		if x == 0 {
			c.Text = k.what + " are equal bit for bit"
		}
		if w, ok := pre.Worst[k.worst]; c.Holds && ok {
			c.Location = "sample " + w.Sample
		}
		p.Clue(c)
	}
}

// far is how many times their spread the size of the outputs must be to be far above it.
const far = 10

// offset says whether the outputs are far from zero compared with how much they vary: a relative error divided by their
// size would hide everything.
func offset(p *audit.Pass, sw *sweep.Result) {
	if sw.Mask {
		return
	}
	x := sw.RMS / sw.Scale
	p.Clue(audit.Clue{
		Name: audit.ClueOffset, Holds: x > far, Strength: sweep.Clarity(x, far), Location: "output",
		Text:     fmt.Sprintf("the outputs have the size %.3g and vary by %.3g", sw.RMS, sw.Scale),
		Evidence: []audit.Evidence{audit.Number("size of the outputs over their spread", x, "").Against(far)},
	})
}

// constant says whether the output varies, and which of its channels do not.
func constant(p *audit.Pass, sw *sweep.Result, all bool) {
	c := audit.Clue{
		Name: audit.ClueConstant, Strength: 1, Location: "output",
		Text:     fmt.Sprintf("the outputs vary by %.3g over %d inputs", sw.Scale, len(sw.IDs)),
		Evidence: []audit.Evidence{audit.Number("scale s of the outputs", sw.Scale, "output")},
	}
	ch := sw.Channels
	switch {
	case all:
		c.Holds = true
		c.Text = fmt.Sprintf("the outputs vary by %.2g over %d inputs, no more than rounding", sw.Scale, len(sw.IDs))
	case ch != nil && ch.N > 1:
		var dead []string
		least := math.Inf(1)
		for k, s := range ch.Spread {
			// In its own unit: how much the others vary says nothing about this one.
			if !(s > vacuous*roundoff(p)*ch.Size[k]) {
				dead = append(dead, strings.TrimPrefix(ch.Name(k), "channel "))
			}
			least = min(least, s)
		}
		if len(dead) == 0 {
			c.Text += fmt.Sprintf(", each of its %d channels by %.2g at least", ch.N, least)
			break
		}
		share := float64(len(dead)) / float64(ch.N)
		c.Holds, c.Strength = true, max(0.1, 0.5*share)
		c.Location = "output channel " + names(dead)
		c.Text = fmt.Sprintf("%d of %d channels of the output do not vary: %s", len(dead), ch.N, names(dead))
		c.Evidence = []audit.Evidence{audit.Number("share of channels that do not vary", share, "").Against(0)}
		p.Report(audit.Finding{
			Category: audit.Explanation, Location: c.Location, Worst: audit.Nowhere, Evidence: c.Evidence,
			Message: c.Text + ", so no error can show there",
			Remedies: []string{
				"look for dead units or a saturated head there",
				"use inputs that these channels tell apart",
			},
		})
	}
	p.Clue(c)
}

// Limits of outliers: how many times the median distance from the middle they have, the share of the squares that they
// make, and the share of the inputs that they may be.
const (
	outlierTimes = 100
	outlierShare = 0.99
	outlierFew   = 0.05
)

// outlier asks whether few inputs make nearly all of the scale that errors are divided by. The middle is the median of
// each number, which few inputs do not move.
func outlier(p *audit.Pass, sw *sweep.Result) {
	t := sw.Table
	if t == nil || len(t.Samples) < 8 || t.K == 0 {
		return
	}
	n := len(t.Samples)
	middle, column := make([]float64, t.K), make([]float64, n)
	for k := range middle {
		for i := range n {
			column[i] = t.Base[i*t.K+k]
		}
		slices.Sort(column)
		middle[k] = column[n/2]
	}
	square := make([]float64, n)
	var all float64
	for i := range square {
		for k, v := range middle {
			d := t.Base[i*t.K+k] - v
			square[i] += float64(d * d)
		}
		if math.IsNaN(square[i]) {
			return
		}
		all += square[i]
	}
	order := slices.Clone(square)
	slices.Sort(order)
	slices.Reverse(order)
	few := max(1, int(outlierFew*float64(n)))
	typical, limit := math.Sqrt(order[n/2]), outlierTimes*math.Sqrt(order[n/2])
	var top float64
	count := 0
	for _, v := range order[:few] {
		if math.Sqrt(v) > limit {
			top, count = top+v, count+1
		}
	}
	c := audit.Clue{
		Name: audit.ClueOutlier, Holds: count > 0 && typical > 0 && top >= outlierShare*all, Strength: 1,
		Text: fmt.Sprintf("the farthest output is %.3g from the middle, half of them at most %.3g", math.Sqrt(order[0]),
			typical),
		Evidence: []audit.Evidence{
			audit.Number("distance of the farthest output over the median", math.Sqrt(order[0])/typical,
				"").Against(outlierTimes),
			audit.Number("inputs that make the scale", float64(count), ""),
		},
	}
	if c.Holds {
		at := t.Samples[slices.Index(square, order[0])]
		c.Location = "sample " + sw.IDs[at]
		c.Text += fmt.Sprintf(": %d of %d inputs make the scale of all", count, n)
	}
	p.Clue(c)
}

func names(list []string) string {
	const most = 6
	if n := len(list); n > most {
		return strings.Join(list[:most], ", ") + fmt.Sprintf(" and %d more", n-most)
	}
	return strings.Join(list, ", ")
}

// Limits of what a model that reads pictures is made for: numbers whose spread within an input is below blank, or above
// wild, are far from it. Inputs normalised in any usual way lie between, 0.1 to 1.5, and bytes that are not scaled have
// about 70.
const (
	blank = 0.01
	wild  = 20.0
)

// inputScale says whether pictures, as the model reads them, are blank or far from the usual range.
func inputScale(p *audit.Pass) error {
	var n int
	var spread, top float64
	var least audit.Where
	low := math.Inf(1)
	in := p.Subject.Input
	scale := in.Scale
	if scale == 0 {
		scale = 1
	}
	for _, i := range p.Pick(int(p.Param("samples"))) {
		s, err := p.Sample(i)
		if err != nil {
			return err
		}
		m, ok := s.Value.(*space.Image)
		if !ok || len(m.Pix) == 0 {
			return nil
		}
		var sum, square float64
		for j, a := range m.Pix {
			a /= scale
			if k := j / max(m.H*m.W, 1); len(in.Std) > 0 {
				a /= in.Std[min(k, len(in.Std)-1)]
			}
			sum, square, top = sum+a, square+float64(a*a), max(top, math.Abs(m.Pix[j]))
		}
		k := float64(len(m.Pix))
		sd := math.Sqrt(max(0, square/k-sum/k*sum/k))
		n, spread = n+1, spread+sd
		if sd < low {
			low, least = sd, audit.Where{Sample: s.ID, Index: i}
		}
	}
	if n == 0 {
		return nil
	}
	spread /= float64(n)
	c := audit.Clue{
		Name: audit.ClueInputScale, Strength: 0.7,
		Text: fmt.Sprintf("the pictures, as the model reads them, vary by %.2g each, least for sample %s (%.2g)",
			spread, least.Sample, low),
		Evidence: []audit.Evidence{
			audit.Number("spread of the numbers of an input, as the model reads them", spread, "").Against(blank),
			audit.Number("largest intensity in the file", top, ""),
		},
	}
	switch {
	case spread < blank && scale > 1 && top <= 1:
		c.Holds, c.Strength, c.Location = true, 1, "input scale"
		c.Text = fmt.Sprintf(
			"the pictures hold at most %.3g and are divided by %g: the model reads almost nothing, a spread of %.2g",
			top, scale, spread)
	case spread < blank:
		c.Holds, c.Strength, c.Location = true, sweep.Clarity(spread, blank), "input"
		c.Text = fmt.Sprintf("the pictures, as the model reads them, are almost blank: they vary by %.2g each", spread)
	case spread > wild:
		c.Holds, c.Strength, c.Location = true, 0.5, "input scale"
		c.Text = fmt.Sprintf(
			"the model reads numbers that vary by %.3g within a picture, as of bytes that were not scaled", spread)
		c.Evidence[0] = c.Evidence[0].Against(wild)
	}
	p.Clue(c)
	return nil
}

// unreachable says that a threshold lies below what rounding alone does. An error that is 0, or below the threshold all
// the same, passes it.
func unreachable(p *audit.Pass, sw *sweep.Result, f audit.Floors) {
	if !(p.Policy.Threshold < f.Rounding) {
		return
	}
	at, most := audit.Nowhere, 0.0
	m := len(p.Elements)
	for k, e := range sw.Err {
		if e/sw.Scale > most {
			g := p.Elements[k%m]
			most, at = e/sw.Scale, audit.Where{Sample: sw.IDs[k/m], Index: k / m, Element: g.G, Label: g.Label}
		}
	}
	if !(most > p.Policy.Threshold) {
		return
	}
	raise := fmt.Sprintf("raise the threshold to %.0e or more, ten times the rounding floor", 10*f.Rounding)
	double := "audit a float64 export, whose floor is about 2²⁹ times lower"
	p.Report(audit.Finding{
		Category: audit.Explanation, Location: "threshold", Worst: at,
		Message: fmt.Sprintf(
			"the threshold %.0e is below the rounding floor %.2g measured here: rounding alone may exceed it",
			p.Policy.Threshold, f.Rounding),
		Evidence: []audit.Evidence{
			audit.Number("threshold", p.Policy.Threshold, "").Against(f.Rounding),
			audit.Number("largest error", most, ""),
		},
		Remedies: []string{raise, double},
	})
}
