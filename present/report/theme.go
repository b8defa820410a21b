package report

import (
	"image/color"
	"math"

	"nero/present/view"

	"gonum.org/v1/plot/vg"
)

// Theme is a set of colours.
type Theme string

// The themes.
const (
	Light Theme = "light"
	Dark  Theme = "dark"
)

// palette is what a theme draws with.
type palette struct {
	background, text, muted, grid, rim, missing color.NRGBA
	models                                      []color.NRGBA
	// opacity of the spread and of the interval
	band, interval uint8
}

func rgb(hex uint32) color.NRGBA {
	return color.NRGBA{R: uint8(hex >> 16), G: uint8(hex >> 8), B: uint8(hex), A: 255}
}

func colors(hex ...uint32) []color.NRGBA {
	c := make([]color.NRGBA, len(hex))
	for i, h := range hex {
		c[i] = rgb(h)
	}
	return c
}

// paletteOf is the palette of a theme. The colours of models stay apart for every common kind of colour blindness,
// which a test measures; the dash and the mark of a model tell it apart without colour.
func paletteOf(t Theme) palette {
	if t == Dark {
		return palette{
			background: rgb(0x16191d), text: rgb(0xe8eaed), muted: rgb(0xa3a9b1), grid: rgb(0x343a41),
			rim: rgb(0x5a626b), missing: rgb(0x2a2f35),
			models: colors(0x95b2f2, 0xee3588, 0x67fdcc, 0xf9bf3d, 0xc241fe, 0xcad7e5), band: 34, interval: 80,
		}
	}
	return palette{
		background: rgb(0xffffff), text: rgb(0x1c1f23), muted: rgb(0x5b636c), grid: rgb(0xe1e4e8), rim: rgb(0xaab1b9),
		missing: rgb(0xeceef0),
		models:  colors(0x123980, 0xee5aa4, 0x098b5d, 0x8e5c0f, 0xa02af4, 0x575d64), band: 20, interval: 70,
	}
}

func (p palette) model(i int) color.NRGBA { return p.models[i%len(p.models)] }

func alpha(c color.NRGBA, a uint8) color.NRGBA {
	c.A = a
	return c
}

// dash is the line of model i: solid, dashed, dotted, then mixtures.
func dash(i int) []vg.Length {
	return [][]vg.Length{nil, {6, 3}, {1.6, 2.6}, {8, 3, 1.6, 3}, {3, 2}, {10, 3, 3, 3}}[i%6]
}

// viridis is sixteen evenly spaced entries of the colour map of that name by Smith, van der Walt and Firing (2015,
// CC0).
var viridis = colors(
	0x440154, 0x481a6c, 0x472f7d, 0x414487, 0x39568c, 0x31688e, 0x2a788e, 0x23888e, 0x1f988b, 0x22a884, 0x35b779,
	0x54c568,
	0x7ad151, 0xa5db36, 0xd2e21b, 0xfde725,
)

// heat is the colour at a fraction of the way along viridis, between its entries by straight lines in sRGB.
func heat(u float64) color.NRGBA {
	u = min(max(u, 0), 1) * float64(len(viridis)-1)
	i := min(int(u), len(viridis)-2)
	f := u - float64(i)
	mix := func(a, b uint8) uint8 { return uint8(math.Round(float64(a) + f*(float64(b)-float64(a)))) }
	a, b := viridis[i], viridis[i+1]
	return color.NRGBA{R: mix(a.R, b.R), G: mix(a.G, b.G), B: mix(a.B, b.B), A: 255}
}

// heatOf is the colour of a value: bright where it is good.
func heatOf(f *view.Figure, v float64) color.NRGBA {
	u := f.Scale.Pos(v)
	if f.Better == "lower" {
		u = 1 - u
	}
	return heat(u)
}
