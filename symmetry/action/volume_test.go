package action_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"nero/data/space"
	"nero/symmetry/action"
	"nero/symmetry/action/actiontest"
	"nero/symmetry/group"
	"nero/symmetry/group/catalog"
)

func volumeSpec(c, d, h, w int) space.Spec {
	return space.Spec{Name: "v", Kind: space.KindVolume, Shape: []int{c, d, h, w}}
}

func noisyVolume(seed uint64, c, d, h, w int) *space.Volume {
	v := space.NewVolume(c, d, h, w)
	copy(v.Val, noise(seed, len(v.Val)))
	return v
}

func newVolume(tb testing.TB, g group.Group, v *space.Volume, o action.Options) *action.Volume {
	tb.Helper()
	a, err := action.NewVolume(g, volumeSpec(v.C, v.D, v.H, v.W), o)
	if err != nil {
		tb.Fatal(err)
	}
	return a
}

func elementsOf(tb testing.TB, g group.Group) []group.Element {
	tb.Helper()
	f, ok := g.(group.Finite)
	if !ok {
		tb.Fatalf("%s is not finite", g.Name())
	}
	return f.Elements()
}

func TestLawsOfVolumes(t *testing.T) {
	cube := noisyVolume(1, 2, 4, 4, 4)
	for name, c := range map[string]actiontest.Case{
		"rotations of the cube":  {Action: newVolume(t, catalog.Octa(), cube, action.Options{})},
		"symmetries of the cube": {Action: newVolume(t, catalog.Oh(), cube, action.Options{})},
		"rolls": {
			Action:   newVolume(t, catalog.T3Z(), cube, action.Options{Border: action.Circular}),
			Elements: []group.Element{{1, 0, 0}, {0, -3, 0}, {2, 1, 9}},
		},
		"shifts": {
			Action:   newVolume(t, catalog.T3Z(), cube, action.Options{}),
			Elements: []group.Element{{1, 0, 0}, {0, -1, 2}},
			Composes: func(g, h group.Element) bool {
				return !slices.ContainsFunc(h, func(x float64) bool { return x != 0 }) ||
					!slices.ContainsFunc(g, func(x float64) bool { return x != 0 })
			},
		},
		"rotations": {
			Action:   newVolume(t, catalog.SO3(), cube, action.Options{Kernel: action.Spline}),
			Elements: []group.Element{{0, 0, 90}, {90, 0, 0}, {10, 20, 30}, {0, 45, 0}},
		},
	} {
		c.Value = cube
		if c.Elements == nil {
			c.Elements = elementsOf(t, c.Action.Group())
		}
		if err := actiontest.Laws(c); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestCubeMovesVoxels holds the exact path against the definition (g·v)(p) = v(g⁻¹p), worked out voxel by voxel in
// whole half voxels.
func TestCubeMovesVoxels(t *testing.T) {
	g := catalog.Oh()
	sp, ok := group.AsSpatial(g)
	if !ok {
		t.Fatal("Oh moves no space")
	}
	for _, n := range []int{3, 4} {
		v := noisyVolume(uint64(n), 1, n, n, n)
		a := newVolume(t, g, v, action.Options{})
		seen := map[string]bool{}
		for _, e := range elementsOf(t, g) {
			if !a.Exact(e) {
				t.Fatalf("%v resamples", e)
			}
			m, _ := sp.Motion(e)
			moved := as[*space.Volume](a.Apply(e, v))
			for i, x := range v.Val {
				// from the centre, in half voxels
				p := [3]int{2*(i%n) - (n - 1), 2*(i/n%n) - (n - 1), 2*(i/n/n) - (n - 1)}
				var q [3]int
				for r := range 3 {
					for c := range 3 {
						q[r] += int(m[3*r+c]) * p[c]
					}
					q[r] = (q[r] + n - 1) / 2
				}
				if moved.Val[(q[2]*n+q[1])*n+q[0]] != x {
					t.Fatalf("%v sends voxel %v elsewhere", e, p)
				}
			}
			seen[fmt.Sprint(moved.Val)] = true
		}
		if len(seen) != 48 {
			t.Errorf("%d different volumes of 48 elements", len(seen))
		}
	}
}

// TestVolumesKeepPolynomials: between voxels a kernel is exact for polynomials up to its degree, so that a moved volume
// of one is the moved polynomial, bar what the border reaches.
func TestVolumesKeepPolynomials(t *testing.T) {
	const n = 12
	centre := float64(n-1) / 2
	for kernel, degree := range map[action.Kernel]int{
		action.Bilinear: 1, action.Bicubic: 2, action.Lanczos: 0, action.Nearest: 0, action.Quintic: 2,
	} {
		rapid.Check(t, func(t *rapid.T) {
			coefficient := rapid.SliceOfN(rapid.Float64Range(-1, 1), 10, 10).Draw(t, "coefficients")
			at := func(x, y, z float64) float64 {
				terms := []float64{1, x, y, z, x * x, y * y, z * z, x * y, y * z, z * x}
				keep := []int{1, 4, 10}[degree]
				sum := 0.0
				for i, a := range terms[:keep] {
					sum += coefficient[i] * a
				}
				return sum
			}
			v := space.NewVolume(1, n, n, n)
			for i := range v.Val {
				v.Val[i] = at(float64(i%n)-centre, float64(i/n%n)-centre, float64(i/n/n)-centre)
			}
			g := catalog.SE3()
			e := group.Element{0, 0, 0, 0, 0, 0}
			for i := range 3 {
				e[i] = rapid.Float64Range(-50, 50).Draw(t, "turn")
				e[3+i] = rapid.Float64Range(-0.7, 0.7).Draw(t, "shift")
			}
			e = group.Canonical(g, e)
			a, err := action.NewVolume(g, volumeSpec(1, n, n, n), action.Options{Kernel: kernel})
			if err != nil {
				t.Fatal(err)
			}
			moved := as[*space.Volume](a.Apply(e, v))
			sp, _ := group.AsSpatial(g)
			m, shift := sp.Motion(g.Inv(e))
			for i, x := range moved.Val {
				p := [3]float64{float64(i%n) - centre, float64(i/n%n) - centre, float64(i/n/n) - centre}
				if math.Hypot(math.Hypot(p[0], p[1]), p[2]) > 2 {
					continue
				}
				var q [3]float64
				for r := range 3 {
					q[r] = shift[r] + m[3*r]*p[0] + m[3*r+1]*p[1] + m[3*r+2]*p[2]
				}
				if want := at(q[0], q[1], q[2]); math.Abs(x-want) > 1e-9 {
					t.Fatalf("%s: %g at %v, want %g", kernel, x, p, want)
				}
			}
		})
	}
}

func TestSplineVolumesInterpolate(t *testing.T) {
	// A turn by a hair reads the samples themselves: prefilter and kernel must undo each other on all three axes.
	for _, b := range action.Borders() {
		v := noisyVolume(3, 1, 5, 7, 6)
		a := newVolume(t, catalog.SO3(), v, action.Options{Kernel: action.Spline, Border: b})
		moved := as[*space.Volume](a.Apply(group.Element{1e-12, 0, 0}, v))
		for i, x := range moved.Val {
			if math.Abs(x-v.Val[i]) > 1e-9 {
				t.Fatalf("%s: voxel %d is %g, was %g", b, i, x, v.Val[i])
			}
		}
	}
}

func TestUnequalAxesOfVolumes(t *testing.T) {
	v := noisyVolume(4, 1, 3, 4, 4) // z is shorter
	a := newVolume(t, catalog.Octa(), v, action.Options{})
	exact := 0
	for _, e := range elementsOf(t, catalog.Octa()) {
		moved := as[*space.Volume](a.Apply(e, v))
		if moved.D != 3 || moved.H != 4 || moved.W != 4 {
			t.Fatalf("%v makes %s", e, moved.Form())
		}
		if a.Exact(e) {
			exact++
			back := as[*space.Volume](a.Apply(a.Group().Inv(e), moved))
			if !slices.Equal(back.Val, v.Val) {
				t.Errorf("%v is not undone by its inverse", e)
			}
		}
	}
	if exact != 8 { // those that keep the axis z
		t.Errorf("%d rotations of a slab are exact, want 8", exact)
	}
}

func TestPaddedVoxels(t *testing.T) {
	v := noisyVolume(5, 1, 4, 5, 6)
	a := newVolume(t, catalog.T3(), v, action.Options{})
	for _, c := range []struct {
		e    group.Element
		want int
	}{
		{group.Element{0, 0, 0}, 0},
		{group.Element{1, 0, 0}, 20},
		{group.Element{0, -2, 0}, 48},
		{group.Element{0, 0, 9}, 120},
		{group.Element{0.5, 0, 0}, 20},
	} {
		if n, err := a.Padded(c.e, v); err != nil || n != c.want {
			t.Errorf("%v: %d, %v, want %d", c.e, n, err, c.want)
		}
	}
}

func TestVolumesRefuse(t *testing.T) {
	four, err := catalog.Cyclic(4)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		g    group.Group
		o    action.Options
		want string
	}{
		{four, action.Options{}, "24 rotations of the cube"},
		{catalog.T1Z(), action.Options{}, "24 rotations of the cube"},
		{catalog.Octa(), action.Options{Window: []int{2, 2}}, "leave group.window out"},
		{catalog.Octa(), action.Options{Kernel: action.Up3}, "is for pictures"},
	} {
		_, err := action.NewVolume(c.g, volumeSpec(1, 4, 4, 4), c.o)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %+v: %v", c.g.Name(), c.o, err)
		}
	}
	if _, err := action.Rules().For(four, volumeSpec(1, 4, 4, 4), action.Options{}); !errors.Is(err,
		errors.ErrUnsupported) {
		t.Errorf("C4 on volumes: %v", err)
	}
}
