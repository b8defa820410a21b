package group

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestSinCosIsExactWherePeopleExpectIt(t *testing.T) {
	h := math.Sqrt(3) / 2
	r := math.Sqrt2 / 2
	for deg, want := range map[float64][2]float64{
		0: {0, 1}, 30: {0.5, h}, 45: {r, r}, 60: {h, 0.5}, 90: {1, 0}, 120: {h, -0.5}, 135: {r, -r}, 150: {0.5, -h},
		180: {0, -1},
		210: {-0.5, -h}, 225: {-r, -r}, 240: {-h, -0.5}, 270: {-1, 0}, 300: {-h, 0.5}, 315: {-r, r}, 330: {-0.5, h},
		360: {0, 1},
		-90: {-1, 0}, -180: {0, -1}, -270: {1, 0}, -30: {-0.5, h}, 450: {1, 0}, 36000090: {1, 0}, -36000030: {-0.5, h},
	} {
		s, c := SinCos(deg)
		if s != want[0] || c != want[1] || math.Signbit(s) && s == 0 || math.Signbit(c) && c == 0 {
			t.Errorf("SinCos(%g) = %v, %v, expected exactly %v", deg, s, c, want)
		}
	}
}

func TestSinCosAgreesWithTheRadianFunctions(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		d := rapid.Float64Range(-720, 720).Draw(r, "deg")
		s, c := SinCos(d)
		ws, wc := math.Sincos(d * math.Pi / 180)
		// The reference rounds its argument: up to 13 rad with a unit roundoff of 1.1e-16, so it is the worse of the
		// two.
		if math.Abs(s-ws) > 3e-15 || math.Abs(c-wc) > 3e-15 {
			r.Fatalf("SinCos(%v) = %v, %v; the radian functions give %v, %v", d, s, c, ws, wc)
		}
		ns, nc := SinCos(-d)
		if ns != -s || nc != c {
			r.Fatalf("SinCos(-%v) = %v, %v against %v, %v", d, ns, nc, s, c)
		}
		qs, qc := SinCos(math.Round(d) + 90)
		rs, rc := SinCos(math.Round(d))
		if qs != rc || qc != -rs {
			r.Fatalf("a quarter turn more than %v: %v, %v against %v, %v", math.Round(d), qs, qc, rs, rc)
		}
	})
}

func TestWrapStaysInItsPeriod(t *testing.T) {
	for _, v := range []float64{0, -1e-300, -1e-17, 360, -360, 359.99999999999994, 1e15, -1e15, 5e-324} {
		if w := Wrap(v, 0, 360); !(w >= 0 && w < 360) {
			t.Errorf("Wrap(%g) = %g", v, w)
		}
		if w := Wrap(v, -180, 360); !(w >= -180 && w < 180) {
			t.Errorf("Wrap(%g) = %g, expected in [-180, 180)", v, w)
		}
	}
}

func TestDegreesReachQuarterTurns(t *testing.T) {
	for k := -8; k <= 8; k++ {
		if d := Degrees(float64(k) * math.Pi / 2); d != float64(k)*90 {
			t.Errorf("%d quarter turns are %v degrees", k, d)
		}
	}
	if d := Degrees(1); math.Abs(d-57.29577951308232) > 1e-14 { // 180/π to 16 digits
		t.Errorf("1 rad = %v degrees", d)
	}
}
