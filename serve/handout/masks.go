package handout

import (
	"math"
	"slices"

	"nero/data/space"
	"nero/run/probe"
)

// mostMasked is how many labels of a sample are kept before they are packed: at the identity and where each model is
// worst whatever it takes, then as many elements as there is room for, evenly.
const mostMasked = 8 << 20

// Labels in a byte: void, and what has no class.
const (
	voidByte = 255
	noneByte = 254
)

// masked are the elements at which the masks of a sample are kept.
func (b *builder) masked(i int) map[int]bool {
	out := map[int]bool{}
	if id := b.doc.Orbit.Identity; id >= 0 {
		out[id] = true
	}
	one, err := b.run.Sample(i)
	if err != nil {
		return out // the others are kept without
	}
	lower := b.doc.MetricDoc[b.metric].Better == "lower"
	for m := range one.Curves {
		at, worst := -1, math.NaN()
		for g, v := range one.Curves[m][b.metric] {
			x := float64(v)
			if at < 0 && x == x || lower && x > worst || !lower && x < worst {
				at, worst = g, x
			}
		}
		if at >= 0 {
			out[at] = true
		}
	}
	size := 1
	if in, err := b.point(b.ctx, i, b.run.Identity(), nil, nil); err == nil {
		if v := space.View(in.Value); v != nil {
			size = max(1, v.H*v.W)
		}
	}
	room := min(len(b.at()), mostMasked/(size*(1+len(b.doc.ModelList))))
	at := b.at()
	for k := range room {
		out[at[k*len(at)/room]] = true
	}
	return out
}

// keptMasks are the masks of a sample: what the models answered, and what the data say, in the frame of the element.
type keptMasks struct {
	models int
	at     []int
	truth  []space.Labelled
	// by place in at
	answers [][]space.Labelled
}

// take keeps an answer if it is a mask.
func (k *keptMasks) take(element int, p *probe.Point, r *probe.Result) {
	y, ok := r.Output.(space.Labelled)
	if !ok {
		return
	}
	at := slices.Index(k.at, element)
	if at < 0 {
		truth, _ := p.Target.(space.Labelled) // nil where the data say nothing
		at = len(k.at)
		k.at, k.truth = append(k.at, element), append(k.truth, truth)
		k.answers = append(k.answers, make([]space.Labelled, k.models))
	}
	k.answers[at][r.Model] = y
}

// tensors are masks by model and element, truth by element if there is one everywhere, and the elements; nil if masks
// differ in size or have more classes than a byte holds.
func (k *keptMasks) tensors() []tensor {
	if len(k.at) == 0 {
		return nil
	}
	var h, w int
	bytes := make([][]byte, k.models+1)
	add := func(to int, m space.Labelled) bool {
		rows, columns, labels := m.Labels()
		if h == 0 {
			h, w = rows, columns
		}
		if rows != h || columns != w || h == 0 || w == 0 {
			return false
		}
		for _, l := range labels {
			switch {
			case l == space.Void:
				bytes[to] = append(bytes[to], voidByte)
			case l < 0:
				bytes[to] = append(bytes[to], noneByte)
			case l >= noneByte:
				return false
			default:
				bytes[to] = append(bytes[to], byte(l))
			}
		}
		return true
	}
	truth := true
	for g := range k.at {
		for m, y := range k.answers[g] {
			if y == nil || !add(m, y) {
				return nil
			}
		}
		truth = truth && k.truth[g] != nil && add(k.models, k.truth[g])
	}
	at := make([]int32, len(k.at))
	for g, e := range k.at {
		at[g] = int32(e) //nolint:gosec // an element of a plan
	}
	ts := []tensor{
		intsOf("masked", at, len(at)),
		bytesOf("masks", slices.Concat(bytes[:k.models]...), k.models, len(at), h, w),
	}
	if truth {
		ts = append(ts, bytesOf("truth", bytes[k.models], len(at), h, w))
	}
	return ts
}
