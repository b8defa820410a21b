package html

import (
	"image"
	"image/color"
	"math"
)

// viridis is sixteen evenly spaced entries of the colour map of that name by Smith, van der Walt and Firing (2015,
// CC0).
var viridis = []uint32{
	0x440154, 0x481a6c, 0x472f7d, 0x414487, 0x39568c, 0x31688e, 0x2a788e, 0x23888e, 0x1f988b, 0x22a884, 0x35b779,
	0x54c568,
	0x7ad151, 0xa5db36, 0xd2e21b, 0xfde725,
}

// puor runs from purple below zero over near white to orange above: the diverging map of that name by Cynthia Brewer,
// eleven classes, turned round. Its ends stay apart for every common kind of colour blindness.
var puor = []uint32{
	0x2d004b, 0x542788, 0x8073ac, 0xb2abd2, 0xd8daeb, 0xf7f7f7, 0xfee0b6, 0xfdb863, 0xe08214, 0xb35806, 0x7f3b08,
}

// blend is the colour at a fraction of the way along a map, between its entries by straight lines in sRGB.
func blend(entries []uint32, u float64) color.NRGBA {
	u = unit(u) * float64(len(entries)-1)
	i := min(int(u), len(entries)-2)
	f := u - float64(i)
	mix := func(shift uint) uint8 {
		a, b := float64(entries[i]>>shift&0xff), float64(entries[i+1]>>shift&0xff)
		return uint8(math.Round(a + f*(b-a)))
	}
	return color.NRGBA{R: mix(16), G: mix(8), B: mix(0), A: 255}
}

// heat maps numbers to colours: [lo, hi] along viridis, or [-hi, hi] along purple and orange. Unknown numbers have no
// colour.
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
		return blend(puor, u)
	}
	return blend(viridis, u)
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
		m.SetNRGBA(0, i, h.color((1-f)*h.hi+f*h.lo))
	}
	return m
}
