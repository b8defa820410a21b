package dataset

import (
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Both tables are OpenPIV's of the same vectors (testdata/openpiv.py): counted from the top, and after its
// transform_coordinates.
func TestOpenPIVOfOpenPIV(t *testing.T) {
	t.Parallel()
	var fields [2]*grid
	for k, name := range []string{"testdata/openpiv-down.txt", "testdata/openpiv-up.txt"} {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if fields[k], err = parseOpenPIV(b, ""); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	a, b := fields[0], fields[1]
	if a.up || !b.up || a.flagged != 1 || b.flagged != 1 {
		t.Errorf("upwards %v and %v, %d and %d marks", a.up, b.up, a.flagged, b.flagged)
	}
	if !slices.Equal(a.x, b.x) || !slices.Equal(a.y, b.y) || !slices.Equal(a.u, b.u) || !slices.Equal(a.v, b.v) {
		t.Errorf("%+v and %+v differ", a, b)
	}
	if !slices.Equal(a.x, []float64{16, 32, 48, 64, 80, 96, 112}) || !slices.Equal(a.y, []float64{16, 32, 48, 64, 80}) {
		t.Errorf("vectors at x %v and y %v", a.x, a.y)
	}
	// Particles move by u = 3 (1 + y/96) and v = 2, downwards.
	for i := range a.u {
		y := a.y[i/len(a.x)]
		if u := 3 * (1 + y/96); !(math.Abs(a.u[i]-u) <= 0.5 && math.Abs(a.v[i]-2) <= 0.5) {
			t.Errorf("vector %d is (%v, %v), want about (%v, 2)", i, a.u[i], a.v[i], u)
		}
	}
	for _, way := range []string{"up", "down"} {
		table, err := os.ReadFile("testdata/openpiv-up.txt")
		if err != nil {
			t.Fatal(err)
		}
		g, err := parseOpenPIV(table, way)
		if err != nil {
			t.Fatal(err)
		}
		if want := math.Copysign(2, map[string]float64{"up": 1, "down": -1}[way]); !(math.Abs(g.v[10]-want) < 0.5) {
			t.Errorf("said %s: v is %v, want about %v", way, g.v[10], want)
		}
	}
}

// A field that is linear in x and y comes out exactly between the outermost vectors, and is constant beyond them.
func TestOpenPIVInterpolation(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		h, w := rapid.IntRange(1, 20).Draw(t, "h"), rapid.IntRange(1, 20).Draw(t, "w")
		knots := func(n int, name string) []float64 {
			set := map[float64]bool{}
			for range rapid.IntRange(2, 5).Draw(t, name) {
				set[float64(rapid.IntRange(0, 4*n).Draw(t, name))/4] = true
			}
			list := make([]float64, 0, len(set))
			for v := range set {
				list = append(list, v)
			}
			slices.Sort(list)
			return list
		}
		xs, ys := knots(w, "x"), knots(h, "y")
		u := func(x, y float64) float64 { return 3 + 2*x - y }
		var table strings.Builder
		table.WriteString("# x y u v\n")
		for _, y := range ys {
			for _, x := range xs {
				fmt.Fprintf(&table, "%g, %g\t%g;%g\n", x, y, u(x, y), -u(x, y))
			}
		}
		g, err := parseOpenPIV([]byte(table.String()), "down")
		if err != nil {
			t.Fatal(err)
		}
		if g.full(h, w) {
			t.Skip("a vector for each pixel")
		}
		f := g.field(h, w)
		clamp := func(v float64, k []float64) float64 { return min(max(v, k[0]), k[len(k)-1]) }
		for i := range h * w {
			x, y := clamp(float64(i%w)+0.5, xs), clamp(float64(i/w)+0.5, ys)
			if want := u(x, y); !(math.Abs(f.U()[i]-want) <= 1e-9 && math.Abs(f.V()[i]+want) <= 1e-9) {
				t.Fatalf("pixel %d is (%v, %v), want ±%v", i, f.U()[i], f.V()[i], want)
			}
		}
	})
}

func TestOpenPIVRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, table, want string }{
		{"nothing", "# x y u v\n", "has no vectors, want lines of x y u v"},
		{"words", "x y u v\n1 1 one 1\n", `line 2 is "1 1 one 1", want the numbers x y u v`},
		{"columns", "1 1 1\n", "line 1 has 3 columns, want x y u v"},
		{
			"NaN", "1 1 0 0\n1 2 0 nan\n",
			"line 2 has v = NaN, want a finite number: OpenPIV's replace_outliers fills such vectors in, or leave " +
				"the pair out: not finite",
		},
		{
			"infinite", "1 1 1e999 0\n",
			"line 1 has u = +Inf, want a finite number: OpenPIV's replace_outliers fills such vectors in, or leave " +
				"the pair out: not finite",
		},
		{
			"hole", "1 1 0 0\n2 1 0 0\n1 2 0 0\n",
			"has 3 vectors at 2 different x and 2 different y, want all 4 places of a rectangular grid",
		},
		{"twice", "1 1 0 0\n1 1 0 0\n2 1 0 0\n2 2 0 0\n", "has two vectors at x = 1, y = 1"},
		{
			"one row", "1 1 0 0\n2 1 0 0\n",
			"begins and ends with vectors of one y, which does not say whether v points up or down: say so",
		},
	} {
		_, err := parseOpenPIV([]byte(c.table), "")
		if err == nil || err.Error() != c.want {
			t.Errorf("%s: error %v, want %s", c.name, err, c.want)
		}
		if strings.HasSuffix(c.want, "not finite") != errors.Is(err, ErrNotFinite) {
			t.Errorf("%s: %v wraps ErrNotFinite or not", c.name, err)
		}
	}
}

func FuzzOpenPIV(f *testing.F) {
	f.Add([]byte("# x\ty\tu\tv\tflags\tmask\n1 2 3 4 0 0\n2 2 3 4 1 0\n1 1 3 4 0 0\n2 1 3 4 0 1\n"))
	f.Add([]byte("1;1;NaN;0\n"))
	f.Add([]byte("0 0 1e308 -1e308\n0 1 -1e308 1e308\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		g, err := parseOpenPIV(b, "")
		if err != nil {
			return
		}
		if len(g.u) != len(g.x)*len(g.y) || len(g.v) != len(g.u) || !slices.IsSorted(g.x) || !slices.IsSorted(g.y) {
			t.Fatalf("%+v", g)
		}
		if g.check(5, 6) == nil {
			for _, v := range g.field(5, 6).Val {
				if math.IsNaN(v) {
					t.Fatalf("%+v gives NaN", g)
				}
			}
		}
	})
}
