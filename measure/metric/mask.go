package metric

import (
	"maps"
	"math"
	"slices"

	"nero/data/space"
)

// PixelAgreement is the share of pixels whose label is that at the identity.
var PixelAgreement = &Metric{
	Name: "pixel_agreement", Ref: Self, Better: Higher, Range: [2]float64{0, 1}, Spaces: masks,
	Doc: "share of the pixels that have the same label in the mask pulled back and in that at the identity; a large " +
		"background raises it, so read mean_iou beside it",
	Says: "keeps its answer at %s of the pixels",
	Measure: func(c Case) float64 {
		x, y, ok := pair(c)
		if !ok {
			return math.NaN()
		}
		n := 0
		for i, l := range x {
			if l == y[i] {
				n++
			}
		}
		return float64(n) / float64(len(x))
	},
}

// MeanIoU is the intersection over union of the pixels of a class, averaged over the classes that occur in either mask.
var MeanIoU = &Metric{
	Title: "mean IoU with the unmoved answer",
	Name:  "mean_iou", Ref: Self, Better: Higher, Range: [2]float64{0, 1}, Spaces: masks,
	Doc: "pixels of a class in both masks over pixels in either, the mask pulled back and that at the identity, " +
		"averaged over the classes that occur; against the truth take miou",
	Measure: func(c Case) float64 {
		x, y, ok := pair(c)
		if !ok {
			return math.NaN()
		}
		type count struct{ both, either int }
		classes := map[int32]count{}
		for i, l := range x {
			n := classes[l]
			n.either++
			if l == y[i] {
				n.both++
				classes[l] = n
				continue
			}
			classes[l] = n
			n = classes[y[i]]
			n.either++
			classes[y[i]] = n
		}
		// Shares are added in the order of the labels: the order of a map would change the last digit from run to run.
		sum := 0.0
		for _, l := range slices.Sorted(maps.Keys(classes)) {
			n := classes[l]
			sum += float64(n.both) / float64(n.either)
		}
		return sum / float64(len(classes))
	},
}

// pair returns the labels of both masks if they can be compared: as many pixels, and a label at each. A negative label
// stands for a pixel whose scores were NaN.
func pair(c Case) (got, want []int32, ok bool) {
	x, y, ok := space.Both[*space.Mask](c.Got, c.Want)
	if !ok || x.H != y.H || x.W != y.W || len(x.Label) == 0 || len(x.Label) != len(y.Label) {
		return nil, nil, false
	}
	for i, l := range x.Label {
		if l < 0 || y.Label[i] < 0 {
			return nil, nil, false
		}
	}
	return x.Label, y.Label, true
}
