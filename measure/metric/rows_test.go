package metric

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"nero/data/space"
)

func rows(w int, v ...float64) *space.Rows { return &space.Rows{N: len(v) / w, W: w, Val: v} }

// Worked out by hand.
func TestRowsByHand(t *testing.T) {
	half := math.Sqrt2 / 2
	quarterZ := []float64{0, -1, 0, 1, 0, 0, 0, 0, 1} // a quarter turn about z
	for _, c := range []struct {
		name      string
		at, truth space.Value
		want      float64
	}{
		{"rmse", rows(3, 1, 2, 3, 4, 5, 6), rows(3, 1, 2, 3, 4, 8, 2), 5 / math.Sqrt(6)},
		{"mse", rows(3, 1, 2, 3, 4, 5, 6), rows(3, 1, 2, 3, 4, 8, 2), 25. / 6},
		{"mae", rows(3, 1, 2, 3, 4, 5, 6), rows(3, 1, 2, 3, 4, 8, 2), 7. / 6},
		{"aee", rows(3, 1, 2, 3, 4, 5, 6), rows(3, 1, 2, 3, 4, 8, 2), 2.5},
		{"aee95", rows(3, 1, 2, 3, 4, 5, 6), rows(3, 1, 2, 3, 4, 8, 2), 5},
		{"max_error", rows(3, 1, 2, 3, 4, 5, 6), rows(3, 1, 2, 3, 4, 8, 2), 4},
		{"cosine", rows(2, 1, 0, 0, 3, 0, 0), rows(2, 5, 0, 2, 0, 1, 1), 1. / 3}, // an answer of 0 is no right one
		{"angle", rows(2, 1, 0, 0, 3, 0, 0), rows(2, 5, 0, 2, 0, 1, 1), 60},
		{"angle", rows(2, 1, 0, 0, 3), rows(2, 5, 0, 0, 0), 0}, // a reference of 0 has no direction
		{"rotation_error", rows(9, -1, 0, 0, 0, -1, 0, 0, 0, -1), rows(9, -1, 0, 0, 0, -1, 0, 0, 0, -1), 0},
		{"rotation_error", rows(9, 1, 0, 0, 0, 1, 0, 0, 0, -1), rows(9, 1, 0, 0, 0, 1, 0, 0, 0, 1), 180},
		{"norm_error", rows(2, 3, 4, 0, 1), rows(2, 0, 6, 1, 0), 0.5},
		{"rotation_error", rows(4, 1, 0, 0, 0), rows(4, half, 0, 0, half), 90},
		{"rotation_error", rows(4, 1, 0, 0, 0), rows(4, -1, 0, 0, 0), 0},
		{"rotation_error", rows(4, 0, 1, 0, 0), rows(4, 3, 0, 0, 0), 180},
		{"rotation_error", rows(9, quarterZ...), rows(9, 2, 0, 0, 0, 2, 0, 0, 0, 2), 90},
		{"iou3d", rows(7, 0, 0, 0, 2, 2, 2, 0), rows(7, 1, 0, 1, 2, 2, 2, 0), 2. / 14},
		{"iou3d", rows(7, 5, 6, 7, 4, 2, 1, 0.3), rows(7, 5, 6, 7, 2, 4, 1, 0.3+math.Pi/2), 1},
		// an octagon of area 8(√2-1) in two squares of 4
		{"iou3d", rows(7, 0, 0, 0, 2, 2, 1, 0), rows(7, 0, 0, 0, 2, 2, 1, math.Pi/4), half},
		{"iou3d", rows(7, 0, 0, 0, 2, 2, 1, 0), rows(7, 0, 0, 1, 2, 2, 1, 0), 0},
		// the yaw turns from x to y
		{
			"iou3d", rows(7, 1, 1, 0, 4, 1e-3, 1, math.Pi/4), rows(7, 2, 2, 0, 4, 1e-3, 1, math.Pi/4),
			(4 - math.Sqrt2) / (4 + math.Sqrt2),
		},
		{
			"correlation", &space.Signal{C: 2, T: 3, Val: []float64{1, 2, 3, 5, 5, 5}},
			&space.Signal{C: 2, T: 3, Val: []float64{2, 4, 6, 1, 2, 3}}, 1,
		},
		{
			"correlation", &space.Signal{C: 1, T: 4, Val: []float64{1, 2, 3, 4}},
			&space.Signal{C: 1, T: 4, Val: []float64{4, 3, 2, 1}}, -1,
		},
		{
			"rmse", &space.Signal{C: 1, T: 2, Val: []float64{1, 2}}, &space.Signal{C: 1, T: 2, Val: []float64{4, 6}},
			5 / math.Sqrt2,
		},
		{
			"mae", &space.Frames{Images: []*space.Image{
				{C: 1, H: 1, W: 1, Pix: []float64{1}},
				{C: 1, H: 1, W: 1, Pix: []float64{3}},
			}},
			&space.Frames{Images: []*space.Image{
				{C: 1, H: 1, W: 1, Pix: []float64{0}},
				{C: 1, H: 1, W: 1, Pix: []float64{0}},
			}}, 2,
		},
		{
			"rmse", &space.Pairs{N: 2, W: 1, Val: []float64{0, 1, 1, 0}},
			&space.Pairs{N: 2, W: 1, Val: []float64{0, 3, 3, 0}}, math.Sqrt2,
		},
	} {
		m, err := Find(c.name)
		if err != nil {
			t.Fatal(err)
		}
		if !m.Understands(c.at.Kind()) {
			t.Errorf("%s does not understand %s", c.name, c.at.Kind())
		}
		if got := m.Measure(Case{At: c.at, Truth: c.truth}); !(math.Abs(got-c.want) < 1e-12) {
			t.Errorf("%s of %v and %v = %g, want %g", c.name, c.at, c.truth, got, c.want)
		}
	}
}

// What cannot be compared has no value, and a NaN is never small.
func TestRowsWithoutValue(t *testing.T) {
	nan := math.NaN()
	for _, m := range Builtin() {
		if !m.Understands(space.KindRows) || m.Ref == Self { // those see Got and Want, as of every other space
			continue
		}
		for _, c := range []Case{
			{},
			{At: rows(3, 1, 2, 3), Truth: rows(3, 1, 2, nan), Nodes: 1},
			{At: rows(3, nan, 2, 3), Truth: rows(3, nan, 2, 3), Nodes: 1},
			{At: rows(3, 1, 2, 3), Truth: rows(1, 1, 2, 3), Nodes: 1},
			{At: rows(3, 1, 2, 3), Truth: rows(3, 1, 2, 3, 4, 5, 6), Nodes: 1},
			{At: rows(3, math.Inf(1), 2, 3), Truth: rows(3, math.Inf(1), 2, 3), Nodes: 1},
			{At: rows(3), Truth: rows(3), Nodes: 1},
		} {
			if got := m.Measure(c); !math.IsNaN(got) {
				t.Errorf("%s of %v and %v = %g, want NaN", m.Name, c.At, c.Truth, got)
			}
		}
	}
	for _, c := range []struct {
		name      string
		at, truth space.Value
	}{
		{"angle", rows(3, 1, 0, 0), rows(3, 0, 0, 0)},
		{"rotation_error", rows(4, 0, 0, 0, 0), rows(4, 1, 0, 0, 0)},
		{"rotation_error", rows(3, 1, 0, 0), rows(3, 1, 0, 0)},
		// as near to many rotations
		{"rotation_error", rows(9, 1, 0, 0, 0, 0, 0, 0, 0, 0), rows(9, 1, 0, 0, 0, 1, 0, 0, 0, 1)},
		{
			"correlation", &space.Signal{C: 1, T: 3, Val: []float64{.1, .1, .1}},
			&space.Signal{C: 1, T: 3, Val: []float64{1, 2, 3}},
		},
		{"mae_per_atom", rows(1, 1), rows(1, 2)},
	} {
		m, err := Find(c.name)
		if err != nil {
			t.Fatal(err)
		}
		if got := m.Measure(Case{At: c.at, Truth: c.truth}); !math.IsNaN(got) {
			t.Errorf("%s of %v and %v = %g, want NaN", c.name, c.at, c.truth, got)
		}
	}
}

// The angle between two rotations is that of the rotation between them, in both forms, and does not change if both are
// turned.
func TestRotationError(t *testing.T) {
	m, err := Find("rotation_error")
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.Float64Range(-1, 1)
		draw := func(name string) [4]float64 {
			var q [4]float64
			for {
				for k := range q {
					q[k] = number.Draw(t, name)
				}
				if n := length(q[:]); n > 0.1 {
					for k := range q {
						q[k] /= n
					}
					return q
				}
			}
		}
		q, g := draw("q"), draw("g")
		angle := rapid.SampledFrom([]float64{0, 1e-9, 1e-4, 30, 90, 179.9999, 180}).Draw(t, "angle")
		axis := draw("axis")
		n := length(axis[1:])
		if n < 0.1 {
			axis, n = [4]float64{0, 1, 0, 0}, 1
		}
		s, c := math.Sincos(angle * (math.Pi / 360))
		step := [4]float64{c, s * axis[1] / n, s * axis[2] / n, s * axis[3] / n}
		p := times(step, q)
		want := angle
		for _, pair := range [][2][4]float64{{p, q}, {q, p}, {times(g, p), times(g, q)}, {negative(p), q}} {
			got := m.Measure(Case{At: rows(4, pair[0][:]...), Truth: rows(4, pair[1][:]...)})
			if !(math.Abs(got-want) <= 1e-7) {
				t.Fatalf("%g, want %g", got, want)
			}
			a, b := matrixOf(pair[0]), matrixOf(pair[1])
			got = m.Measure(Case{At: rows(9, a[:]...), Truth: rows(9, b[:]...)})
			if !(math.Abs(got-want) <= 1e-6) {
				t.Fatalf("of matrices %g, want %g", got, want)
			}
		}
	})
}

func negative(q [4]float64) [4]float64 { return [4]float64{-q[0], -q[1], -q[2], -q[3]} }

// times is Hamilton's product.
func times(p, q [4]float64) [4]float64 {
	return [4]float64{
		p[0]*q[0] - p[1]*q[1] - p[2]*q[2] - p[3]*q[3],
		p[0]*q[1] + p[1]*q[0] + p[2]*q[3] - p[3]*q[2],
		p[0]*q[2] - p[1]*q[3] + p[2]*q[0] + p[3]*q[1],
		p[0]*q[3] + p[1]*q[2] - p[2]*q[1] + p[3]*q[0],
	}
}

// matrixOf is exp of the generator of the rotation, apart from the formula that the product inverts.
func matrixOf(q [4]float64) (r [9]float64) {
	n := length(q[1:])
	angle := 2 * math.Atan2(n, q[0])
	if n > 0 {
		angle /= n
	}
	x, y, z := q[1]*angle, q[2]*angle, q[3]*angle
	var e mat.Dense
	e.Exp(mat.NewDense(3, 3, []float64{0, -z, y, z, 0, -x, -y, x, 0}))
	for i := range r {
		r[i] = e.At(i/3, i%3)
	}
	return r
}

func TestOfField(t *testing.T) {
	record := func(e float64, f ...float64) *space.Record {
		return &space.Record{Names: []string{"energy", "forces"}, Values: []space.Value{rows(1, e), rows(3, f...)}}
	}
	a, b := record(1, 1, 0, 0, 0, 2, 0), record(3, 0, 1, 0, 0, 2, 0)
	c := Case{Got: a, Want: b, Prev: b, At: a, Truth: b, Scale: math.NaN(), Scales: map[string]float64{"forces": 4}}
	for name, want := range map[string]float64{
		"energy.mae":              2,
		"energy.mae_per_atom":     1, // two rows of forces
		"energy.mae@self":         2,
		"forces.angle":            45,
		"forces.rmse@consensus":   math.Sqrt(2. / 6),
		"forces.relative":         math.Sqrt2 / 4,
		"forces.absolute":         math.Sqrt2,
		"energy.relative":         math.NaN(), // its scale is not known
		"dipole.rmse":             math.NaN(), // there is none
		"energy.max_error":        2,
		"energy.rmse_pooled@self": 2,
	} {
		m, err := Find(name)
		if err != nil {
			t.Error(err)
			continue
		}
		if m.Name != name || m.Port == "" {
			t.Errorf("%s is called %s of %q", name, m.Name, m.Port)
		}
		if got := m.Measure(c); math.IsNaN(got) != math.IsNaN(want) || !(math.Abs(got-want) < 1e-12) &&
			!math.IsNaN(want) {
			t.Errorf("%s = %g, want %g", name, got, want)
		}
	}
	m, err := Find("energy.mae_per_atom")
	if err != nil {
		t.Fatal(err)
	}
	out := space.Spec{Kind: space.KindRecord, Fields: []space.Spec{{Name: "energy", Kind: space.KindRows, Unit: "eV"}}}
	if got := m.Of(out).Unit; got != "eV/atom" {
		t.Errorf("unit %q", got)
	}
	n, err := Against(m, Self)
	if err != nil || n.Name != "energy.mae_per_atom@self" || n.Measure(c) != 1 {
		t.Errorf("%v, %v", n, err)
	}
	if got := FieldMSE.Of(space.Spec{Kind: space.KindRows, Unit: "D"}).Unit; got != "D²" {
		t.Errorf("unit %q", got)
	}
	if got := FieldRMSE.Of(space.Spec{Kind: space.KindField}).Unit; got != "px" {
		t.Errorf("unit %q", got)
	}
	for _, bad := range []string{".rmse", "forces.", "forces.nothing", "forces.ap50", "forces.rmse@nobody"} {
		if m, err := Find(bad); err == nil {
			t.Errorf("%s is %v", bad, m.Name)
		}
	}
}

// A heading and one a full turn further are one, and so are both signs of a quaternion.
func TestNumbersThatAreNotTheOnlyOnes(t *testing.T) {
	for typ, x := range map[string][2][]float64{
		space.TypeBoxes:       {{1, 2, 3, 4, 5, 6, -0.1}, {1, 2, 3, 4, 5, 6, 2*math.Pi - 0.1}},
		space.TypeQuaternions: {{0.5, 0.5, -0.5, 0.5}, {-0.5, -0.5, 0.5, -0.5}},
	} {
		a, b := &space.Rows{N: 1, W: len(x[0]), Val: x[0], Type: typ},
			&space.Rows{N: 1, W: len(x[0]), Val: x[1], Type: typ}
		c := Case{Got: a, Want: b, At: a, Truth: b, Scale: 1}
		for _, name := range []string{"absolute", "max_absolute", "relative", "rmse", "mae"} {
			m, err := Find(name)
			if err != nil {
				t.Fatal(err)
			}
			if d := m.Measure(c); !(d < 1e-12) {
				t.Errorf("%s of %s: %g", name, typ, d)
			}
			c := c
			c.Got, c.At = space.Bare(a), space.Bare(a)
			c.Want, c.Truth = space.Bare(b), space.Bare(b)
			if d := m.Measure(c); !(d > 0.5) {
				t.Errorf("%s of numbers of no type: %g", name, d)
			}
		}
	}
}
