// Package palette holds colour maps: the colours in which figures show numbers.
package palette

import (
	"image/color"
	"math"
)

// Map is a colour map: evenly spaced colours, each 0xRRGGBB, and between them straight lines in sRGB. It has at least
// two.
type Map []uint32

// Viridis runs from dark blue to bright yellow and gets brighter all the way: sixteen evenly spaced entries of the
// colour map of that name by Smith, van der Walt and Firing (2015, CC0).
func Viridis() Map {
	return Map{
		0x440154, 0x481a6c, 0x472f7d, 0x414487, 0x39568c, 0x31688e, 0x2a788e, 0x23888e,
		0x1f988b, 0x22a884, 0x35b779, 0x54c568, 0x7ad151, 0xa5db36, 0xd2e21b, 0xfde725,
	}
}

// PurpleOrange runs from purple below the middle over near white to orange above: the diverging map PuOr by Cynthia
// Brewer, eleven classes, turned round. Its ends stay apart for every common kind of colour blindness.
func PurpleOrange() Map {
	return Map{
		0x2d004b, 0x542788, 0x8073ac, 0xb2abd2, 0xd8daeb, 0xf7f7f7, 0xfee0b6, 0xfdb863, 0xe08214, 0xb35806, 0x7f3b08,
	}
}

// RGB is an opaque colour of 0xRRGGBB.
func RGB(hex uint32) color.NRGBA {
	return color.NRGBA{R: uint8(hex >> 16), G: uint8(hex >> 8), B: uint8(hex), A: 255}
}

// At is the colour at a fraction of the way along the map, from 0 to 1. What lies outside stands at the ends, and NaN
// at the beginning: who has a colour for what is not known asks before.
func (m Map) At(u float64) color.NRGBA {
	if !(u > 0) {
		u = 0
	}
	u = float64(min(u, 1) * float64(len(m)-1))
	i := min(int(u), len(m)-2)
	f := u - float64(i)
	mix := func(a, b uint8) uint8 { return uint8(math.Round(float64(a) + float64(f*(float64(b)-float64(a))))) }
	a, b := RGB(m[i]), RGB(m[i+1])
	return color.NRGBA{R: mix(a.R, b.R), G: mix(a.G, b.G), B: mix(a.B, b.B), A: 255}
}
