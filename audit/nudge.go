package audit

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"nero/data/space"
	"nero/run/job"
)

// Shifted is v + c·d, each number rounded to the unit roundoff u: what a model of that precision could have returned.
// Of boxes it takes the share |c| off every score, which is how far the sets are then apart. On a mask it changes the
// labels of the share |c| of the pixels, on average; they are the first of the order that d gives.
func Shifted(v space.Value, c float64, d []float64, u float64) (space.Value, error) {
	if o, ok := v.(interface {
		Disturbed(share float64, order []float64) space.Value
	}); ok {
		return o.Disturbed(c, d), nil
	}
	x := v.Numbers()
	y := make([]float64, len(x))
	for i := range x {
		y[i] = x[i] + float64(c*d[i])
		if u >= float32Roundoff {
			y[i] = float64(float32(y[i]))
		}
	}
	return v.With(y)
}

// Jittered moves every number by so many float32 ulps, up or down at random, in the units that the model reads. One is
// the smallest change of input that can reach it. A mask has no such change and comes back as it is.
func Jittered(v space.Value, in job.Input, ulps float64, r *rand.Rand) (space.Value, error) {
	if names, fields := space.Fields(v); names != nil {
		return jitteredRecord(names, fields, ulps, r)
	}
	if _, ok := v.(interface {
		Apart(o space.Value) (float64, bool)
	}); ok { // labels and edges do not change by a little
		return v, nil
	}
	x := v.Numbers()
	channels, frame := 1, len(x) // numbers of one picture: every frame has the same channels
	if p, ok := v.(space.Pictured); ok {
		if all := p.Pictures(); len(all) > 0 {
			channels, frame = max(all[0].C, 1), max(len(x)/len(all), 1)
		}
	}
	per := max(frame/channels, 1)
	pick := func(list []float64, c int, otherwise float64) float64 {
		switch {
		case len(list) == 0:
			return otherwise
		case c < len(list):
			return list[c]
		}
		return list[0]
	}
	scale := in.Scale
	if scale == 0 {
		scale = 1
	}
	y := make([]float64, len(x))
	for i, a := range x {
		c := i % max(frame, 1) / per
		mean, std := pick(in.Mean, c, 0), pick(in.Std, c, 1)
		read := float32((a/scale - mean) / std)
		to := float32(math.Inf(1))
		if r.Uint64()&1 == 0 {
			to = -to
		}
		step := float64(math.Nextafter32(read, to)) - float64(read)
		y[i] = (float64((float64(read)+float64(ulps*step))*std) + mean) * scale
	}
	return v.With(y)
}

// jitteredRecord moves the numbers of the fields, but not those of fields that hold whole numbers alone: what a model
// reads as an integer, such as the number of an element, has no neighbor an ulp away.
func jitteredRecord(names []string, fields []space.Value, ulps float64, r *rand.Rand) (space.Value, error) {
	o := &space.Record{Names: names, Values: slices.Clone(fields)}
	for i, f := range fields {
		if !slices.ContainsFunc(f.Numbers(), func(a float64) bool { return a != math.Trunc(a) }) {
			continue
		}
		var err error
		if o.Values[i], err = Jittered(f, job.Input{}, ulps, r); err != nil {
			return nil, fmt.Errorf("field %s: %w", names[i], err)
		}
	}
	return o, nil
}

// Softmax turns logits into probabilities; other values and probabilities come back as they are.
func Softmax(v space.Value) space.Value {
	if s, ok := v.(interface{ Softmax() space.Value }); ok {
		return s.Softmax()
	}
	return v
}

// Class is the index of the largest score, the first of equals; -1 if v has no scores or one of them is NaN.
func Class(v space.Value) int {
	if s, ok := v.(interface{ Class() int }); ok {
		return s.Class()
	}
	return -1
}
