package report

import (
	"image/color"
	"math"
	"testing"
)

// machado is the simulation of complete color blindness by Machado, Oliveira and Fernandes, IEEE TVCG 15 (2009),
// severity 1, on linear RGB.
var machado = map[string][3][3]float64{
	"normal": {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
	"protan": {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}},
	"deutan": {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}},
	"tritan": {{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}},
}

func linearRGB(c color.NRGBA) [3]float64 {
	var l [3]float64
	for i, v := range []uint8{c.R, c.G, c.B} {
		x := float64(v) / 255
		if x <= 0.04045 {
			l[i] = x / 12.92
		} else {
			l[i] = math.Pow((x+0.055)/1.055, 2.4)
		}
	}
	return l
}

// lab is a color as CIELAB under D65.
func lab(c color.NRGBA, m [3][3]float64) [3]float64 {
	l := linearRGB(c)
	var r [3]float64
	for i := range r {
		r[i] = min(1, max(0, m[i][0]*l[0]+m[i][1]*l[1]+m[i][2]*l[2]))
	}
	f := func(t float64) float64 {
		if t > 216.0/24389 {
			return math.Cbrt(t)
		}
		return (24389.0/27*t + 16) / 116
	}
	x := f((0.4124564*r[0] + 0.3575761*r[1] + 0.1804375*r[2]) / 0.95047)
	y := f(0.2126729*r[0] + 0.7151522*r[1] + 0.0721750*r[2])
	z := f((0.0193339*r[0] + 0.1191920*r[1] + 0.9503041*r[2]) / 1.08883)
	return [3]float64{116*y - 16, 500 * (x - y), 200 * (y - z)}
}

// ciede2000 is the color difference of Sharma, Wu and Dalal, Color Research and Application 30 (2005).
func ciede2000(p, q [3]float64) float64 {
	rad := func(d float64) float64 { return d * math.Pi / 180 }
	c1, c2 := math.Hypot(p[1], p[2]), math.Hypot(q[1], q[2])
	c7 := math.Pow((c1+c2)/2, 7)
	g := 0.5 * (1 - math.Sqrt(c7/(c7+math.Pow(25, 7))))
	a1, a2 := (1+g)*p[1], (1+g)*q[1]
	c1, c2 = math.Hypot(a1, p[2]), math.Hypot(a2, q[2])
	hue := func(b, a float64) float64 {
		h := math.Atan2(b, a) * 180 / math.Pi
		if h < 0 {
			h += 360
		}
		return h
	}
	h1, h2 := hue(p[2], a1), hue(q[2], a2)
	dh, hm := 0.0, h1+h2
	if c1*c2 != 0 {
		dh = h2 - h1
		switch {
		case dh > 180:
			dh -= 360
		case dh < -180:
			dh += 360
		}
		switch {
		case math.Abs(h1-h2) <= 180:
			hm /= 2
		case hm < 360:
			hm = (hm + 360) / 2
		default:
			hm = (hm - 360) / 2
		}
	}
	dl, dc, dhh := q[0]-p[0], c2-c1, 2*math.Sqrt(c1*c2)*math.Sin(rad(dh/2))
	lm, cm := (p[0]+q[0])/2, (c1+c2)/2
	t := 1 - 0.17*math.Cos(rad(hm-30)) + 0.24*math.Cos(rad(2*hm)) +
		0.32*math.Cos(rad(3*hm+6)) - 0.20*math.Cos(rad(4*hm-63))
	sl := 1 + 0.015*(lm-50)*(lm-50)/math.Sqrt(20+(lm-50)*(lm-50))
	sc, sh := 1+0.045*cm, 1+0.015*cm*t
	c7 = math.Pow(cm, 7)
	rt := -math.Sin(rad(60*math.Exp(-((hm-275)/25)*((hm-275)/25)))) * 2 * math.Sqrt(c7/(c7+math.Pow(25, 7)))
	return math.Sqrt(dl/sl*dl/sl + dc/sc*dc/sc + dhh/sh*dhh/sh + rt*dc/sc*dhh/sh)
}

// Pairs 1, 7 and 25 of the test data that Sharma, Wu and Dalal published with the formula.
func TestColorDifference(t *testing.T) {
	for _, c := range []struct {
		p, q [3]float64
		want float64
	}{
		{[3]float64{50, 2.6772, -79.7751}, [3]float64{50, 0, -82.7485}, 2.0425},
		{[3]float64{50, 0, 0}, [3]float64{50, -1, 2}, 2.3669},
		{[3]float64{60.2574, -34.0099, 36.2677}, [3]float64{60.4626, -34.1751, 39.4387}, 1.2644},
	} {
		if got := ciede2000(c.p, c.q); math.Abs(got-c.want) > 1e-4 {
			t.Errorf("%v to %v: %.4f, want %.4f", c.p, c.q, got, c.want)
		}
	}
}

func contrast(a, b color.NRGBA) float64 {
	l := func(c color.NRGBA) float64 {
		r := linearRGB(c)
		return 0.2126*r[0] + 0.7152*r[1] + 0.0722*r[2] + 0.05
	}
	x, y := l(a), l(b)
	return max(x, y) / min(x, y)
}

// Colors of models stay apart whatever the reader sees, lines stand out (3:1) and words can be read (4.5:1) as WCAG 2.2
// asks.
func TestColorsStayApart(t *testing.T) {
	for _, theme := range []Theme{Light, Dark} {
		p := inksOf(theme)
		for name, m := range machado {
			for i, a := range p.models {
				for k, b := range p.models[:i] {
					want := 13.0
					if i < 2 {
						want = 22
					} else if i < 3 {
						want = 18
					}
					if d := ciede2000(lab(a, m), lab(b, m)); !(d >= want) {
						t.Errorf("%s, %s: models %d and %d are %.1f apart, want %g", theme, name, k+1, i+1, d, want)
					}
				}
			}
		}
		for i, c := range p.models {
			if r := contrast(c, p.background); !(r >= 3) {
				t.Errorf("%s: model %d has contrast %.2f", theme, i+1, r)
			}
		}
		for _, c := range []color.NRGBA{p.text, p.muted} {
			if r := contrast(c, p.background); !(r >= 4.5) {
				t.Errorf("%s: text %v has contrast %.2f", theme, c, r)
			}
		}
	}
	// Without any color, dash and mark tell models apart: 6 dashes and 4 marks repeat together after 12.
	last := -1.0
	for i := range 101 {
		l := lab(heat(float64(i)/100), machado["normal"])[0]
		if !(l > last) {
			t.Fatalf("the colour map gets darker at %d %%", i)
		}
		last = l
	}
}
