package action_test

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"nero/symmetry/action"
	"nero/symmetry/action/actiontest"
	"nero/symmetry/action/phantom"
	"nero/symmetry/group"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestResamplingTable tabulates what each kernel costs: the mean over angles and phantoms of the relative L2 error
// inside the disc r <= 0.75 R, one way (against the phantom drawn at turned coordinates) and there and back.
func TestResamplingTable(t *testing.T) {
	if testing.Short() {
		t.Skip("a table of numbers, computed by one goroutine")
	}
	const n = 40
	angles := []float64{5, 30, 45, 80}
	bands := []float64{0.1, 0.25, 0.5, 0.75}
	g := parse(t, "SO(2)")
	errs := map[string]float64{} // kernel, band, way
	key := func(k action.Kernel, band float64, way string) string { return fmt.Sprint(k, band, way) }
	for _, band := range bands {
		r := rand.New(rand.NewPCG(11, uint64(1000*band)))
		ps := []phantom.Phantom{
			phantom.Waves(r, band, 8), phantom.Gaussians(r, band, 6, 12),
			phantom.Ellipse(band, 2.3, -1.7, 10, 7, 25),
		}
		for _, k := range action.Kernels() {
			a := newImage(t, g, n, n, action.Options{Kernel: k, Border: action.Reflect})
			for _, p := range ps {
				for _, angle := range angles {
					one, err := actiontest.OneWay(a, p, group.Element{angle}, n, n)
					if err != nil {
						t.Fatal(err)
					}
					trip, err := actiontest.RoundTrip(a, p, group.Element{angle}, n, n)
					if err != nil {
						t.Fatal(err)
					}
					share := 1 / float64(len(ps)*len(angles))
					errs[key(k, band, "one")] += share * one
					errs[key(k, band, "trip")] += share * trip
				}
			}
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# Mean relative L2 error of rotating phantoms of %d×%d pixels inside the disc r <= 0.75 R, "+
		"border reflect.\n", n, n)
	fmt.Fprintf(&b, "# Angles %v degrees; phantoms: 8 plane waves, 6 Gaussian spots, a soft ellipse.\n", angles)
	fmt.Fprintf(&b, "# The band limit is a fraction of Nyquist (half a cycle per pixel).\n")
	fmt.Fprintf(&b, "%-13s %5s %10s %10s\n", "kernel", "band", "one-way", "round-trip")
	for _, k := range action.Kernels() {
		for _, band := range bands {
			fmt.Fprintf(&b, "%-13s %5.2f %10.3e %10.3e\n", k, band, errs[key(k, band, "one")],
				errs[key(k, band, "trip")])
		}
	}
	golden(t, filepath.Join("testdata", "resampling.txt"), b.String())

	// What the table has to say whatever its numbers: better kernels are better on smooth pictures, and all get worse
	// with the band.
	for _, band := range bands[:2] {
		for _, pair := range [][2]action.Kernel{
			{action.Bilinear, action.Nearest},
			{action.Bicubic, action.Bilinear},
			{action.Spline, action.Bicubic},
		} {
			if better, worse := errs[key(pair[0], band, "one")], errs[key(pair[1], band, "one")]; !(better < worse) {
				t.Errorf("band %g: %s has the error %.3g, %s %.3g", band, pair[0], better, pair[1], worse)
			}
		}
	}
	for _, k := range action.Kernels() {
		if k == action.Fourier { // what it errs by on smooth pictures is the kink at the border, and not the band
			if at := errs[key(k, bands[3], "one")]; !(at < errs[key(action.Spline, bands[3], "one")]) {
				t.Errorf("near the Nyquist frequency %s has the error %.3g, larger than that of the spline", k, at)
			}
			continue
		}
		for i := range bands[1:] {
			if lo, hi := errs[key(k, bands[i], "one")], errs[key(k, bands[i+1], "one")]; !(lo < hi) {
				t.Errorf("%s: error %.3g at band %g, %.3g at %g", k, lo, bands[i], hi, bands[i+1])
			}
		}
	}
}

// golden compares text with a file; numbers may differ by half a percent, because processors may fuse multiply and add.
func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	a, b := strings.Fields(got), strings.Fields(string(raw))
	if len(a) != len(b) {
		t.Fatalf("%s has %d words, want %d: run the test with -update and read the difference", path, len(b), len(a))
	}
	for i := range a {
		x, errX := strconv.ParseFloat(a[i], 64)
		y, errY := strconv.ParseFloat(b[i], 64)
		if errX == nil && errY == nil && math.Abs(x-y) <= 0.005*math.Abs(y) {
			continue
		}
		if a[i] != b[i] {
			t.Errorf("%s: %q, want %q: run the test with -update and read the difference", path, a[i], b[i])
		}
	}
}
