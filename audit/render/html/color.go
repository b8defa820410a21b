package html

import (
	"image"
	"image/color"
	"math"

	"nero/present/palette"
)

// heat maps numbers to colours: [lo, hi] along viridis from its bright end, for an audit maps errors and bright is good
// as in every figure; or [-hi, hi] along purple and orange. Unknown numbers have no colour.
type heat struct {
	lo, hi    float64
	diverging bool
}

// newHeat covers the finite values.
func newHeat(values []float64, diverging bool) heat {
	h := heat{math.Inf(1), math.Inf(-1), diverging}
	for _, v := range values {
		if finite(v) {
			h.lo, h.hi = min(h.lo, v), max(h.hi, v)
		}
	}
	if h.lo > h.hi {
		h.lo, h.hi = 0, 1
	}
	if diverging {
		h.hi = max(math.Abs(h.lo), math.Abs(h.hi))
		h.lo = -h.hi
	}
	if h.lo == h.hi {
		h.hi = h.lo + 1
		if diverging {
			h.lo, h.hi = -1, 1
		}
	}
	return h
}

func (h heat) color(v float64) color.NRGBA {
	if math.IsNaN(v) {
		return color.NRGBA{}
	}
	u := (v/2 - h.lo/2) / (h.hi/2 - h.lo/2) // by halves, lest the largest numbers overflow
	if h.diverging {
		return palette.PurpleOrange().At(u)
	}
	return palette.Viridis().At(1 - u)
}

// raster colours numbers row by row.
func (h heat) raster(values []float64, width, height int) image.Image {
	m := image.NewNRGBA(image.Rect(0, 0, width, height))
	for i, v := range values {
		m.SetNRGBA(i%width, i/width, h.color(v))
	}
	return m
}

// bar is the colour bar, the largest at the top.
func (h heat) bar(steps int) image.Image {
	m := image.NewNRGBA(image.Rect(0, 0, 1, steps))
	for i := range steps {
		f := float64(i) / float64(steps-1)
		m.SetNRGBA(0, i, h.color(float64((1-f)*h.hi)+float64(f*h.lo)))
	}
	return m
}
