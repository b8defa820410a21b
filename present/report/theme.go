package report

import (
	"image/color"

	"nero/present/palette"
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

// inks is what a theme draws with.
type inks struct {
	background, text, muted, grid, rim, missing color.NRGBA
	models                                      []color.NRGBA
	// opacity of the spread and of the interval
	band, interval uint8
}

func colors(hex ...uint32) []color.NRGBA {
	c := make([]color.NRGBA, len(hex))
	for i, h := range hex {
		c[i] = palette.RGB(h)
	}
	return c
}

// inksOf are the inks of a theme. The colours of models stay apart for every common kind of colour blindness,
// which a test measures; the dash and the mark of a model tell it apart without colour.
func inksOf(t Theme) inks {
	rgb := palette.RGB
	if t == Dark {
		return inks{
			background: rgb(0x16191d), text: rgb(0xe8eaed), muted: rgb(0xa3a9b1), grid: rgb(0x343a41),
			rim: rgb(0x5a626b), missing: rgb(0x2a2f35),
			models: colors(0x95b2f2, 0xee3588, 0x67fdcc, 0xf9bf3d, 0xc241fe, 0xcad7e5), band: 34, interval: 80,
		}
	}
	return inks{
		background: rgb(0xffffff), text: rgb(0x1c1f23), muted: rgb(0x5b636c), grid: rgb(0xe1e4e8), rim: rgb(0xaab1b9),
		missing: rgb(0xeceef0),
		models:  colors(0x123980, 0xee5aa4, 0x098b5d, 0x8e5c0f, 0xa02af4, 0x575d64), band: 20, interval: 70,
	}
}

func (p inks) model(i int) color.NRGBA { return p.models[i%len(p.models)] }

func alpha(c color.NRGBA, a uint8) color.NRGBA {
	c.A = a
	return c
}

// dash is the line of model i: solid, dashed, dotted, then mixtures.
func dash(i int) []vg.Length {
	return [][]vg.Length{nil, {6, 3}, {1.6, 2.6}, {8, 3, 1.6, 3}, {3, 2}, {10, 3, 3, 3}}[i%6]
}

// heat is the colour at a fraction of the way from bad to good.
func heat(u float64) color.NRGBA { return palette.Viridis().At(u) }

// heatOf is the colour of a value: bright where it is good.
func heatOf(f *view.Figure, v float64) color.NRGBA {
	u := f.Scale.Pos(v)
	if f.Better == "lower" {
		u = 1 - u
	}
	return heat(u)
}
