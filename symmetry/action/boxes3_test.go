package action_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"nero/data/space"
	"nero/symmetry/action"
	"nero/symmetry/action/actiontest"
	"nero/symmetry/group"
)

// written are the numbers of a box of space whose rotation is known, in every way to write it.
func written(typ string, at []float64, r [9]float64, q [4]float64) []float64 {
	out := slices.Clone(at)
	switch typ {
	case space.TypeBoxesQuaternion:
		return append(out, q[:]...)
	case space.TypeBoxesMatrix:
		return append(out, r[:]...)
	case space.TypeBoxes6D:
		return append(out, r[0], r[3], r[6], r[1], r[4], r[7])
	}
	return append(out, math.Atan2(r[3], r[0]))
}

// rotationOf is the matrix of a unit quaternion.
func rotationOf(q [4]float64) [9]float64 {
	w, x, y, z := q[0], q[1], q[2], q[3]
	return [9]float64{
		1 - 2*(y*y+z*z), 2 * (x*y - w*z), 2 * (x*z + w*y), 2 * (x*y + w*z), 1 - 2*(x*x+z*z), 2 * (y*z - w*x),
		2 * (x*z - w*y), 2 * (y*z + w*x), 1 - 2*(x*x+y*y),
	}
}

// turnOf is the rotation that a row says.
func turnOf(typ string, row []float64) (r [9]float64) {
	switch x := row[6:]; typ {
	case space.TypeBoxesQuaternion:
		return rotationOf([4]float64(x))
	case space.TypeBoxesMatrix:
		return [9]float64(x)
	case space.TypeBoxes6D:
		u, v := x[:3], x[3:]
		for i := range 3 {
			j, k := (i+1)%3, (i+2)%3
			r[3*i], r[3*i+1], r[3*i+2] = u[i], v[i], u[j]*v[k]-u[k]*v[j]
		}
	default:
		s, c := math.Sincos(x[0])
		return [9]float64{c, -s, 0, s, c, 0, 0, 0, 1}
	}
	return r
}

// solids are four boxes, upright ones where told so.
func solids(typ string, upright bool) *space.Rows {
	x := noise(9, 4*13)
	var out []float64
	for i := range 4 {
		row := x[13*i : 13*i+13]
		q := [4]float64(row[6:10])
		if upright {
			q[1], q[2] = 0, 0
		}
		n := math.Sqrt(q[0]*q[0] + q[1]*q[1] + q[2]*q[2] + q[3]*q[3])
		for k := range q {
			q[k] /= n
		}
		at := slices.Clone(row[:6])
		for k := 3; k < 6; k++ {
			at[k] = 1 + math.Abs(at[k])
		}
		out = append(out, written(typ, at, rotationOf(q), q)...)
	}
	return &space.Rows{N: 4, W: len(out) / 4, Val: out, Type: typ}
}

var solidWidths = map[string]int{
	space.TypeBoxes: 7, space.TypeBoxesQuaternion: 10, space.TypeBoxesMatrix: 15, space.TypeBoxes6D: 12,
}

// solidCorners are the corners of a box; the order says which end is which, so that a heading counts.
func solidCorners(typ string, row []float64) [][3]float64 {
	r := turnOf(typ, row)
	var out [][3]float64
	for k := range 8 {
		half := [3]float64{
			row[3] / 2 * float64(1-2*(k&1)), row[4] / 2 * float64(1-(k&2)),
			row[5] / 2 * float64(1-(k&4)/2),
		}
		var p [3]float64
		for i := range 3 {
			p[i] = row[i] + r[3*i]*half[0] + r[3*i+1]*half[1] + r[3*i+2]*half[2]
		}
		out = append(out, p)
	}
	return out
}

// Boxes of space keep the laws under joint motions, permutations and magnifications, and go where their corners go.
// The end of a box that is ahead stays ahead, and of mirrored ones left and right are exchanged.
func TestBoxesOfSpace(t *testing.T) {
	for typ, w := range solidWidths {
		names := []string{"Eg(3)", "SEg(3)", "S(4) x Eg(3)", "Og(3) x Scale(3)", "SOg(3) x Scale(3) x S(4)"}
		if typ != space.TypeBoxes {
			names = append(names, "SE(3)", "E(3)", "S(4) x E(3)", "O(3) x Scale(3)", "Eg(3,1,2,2)")
		}
		for _, name := range names {
			g := parse(t, name)
			sampler, ok := g.(group.Sampler)
			if !ok {
				t.Fatal(name)
			}
			a, err := action.NewRows(g, rowsSpec(typ, "", -1, w), action.Options{})
			if err != nil {
				t.Errorf("%s %s: %v", typ, name, err)
				continue
			}
			x := solids(typ, typ == space.TypeBoxes)
			if err := actiontest.Laws(actiontest.Case{
				Action: a, Value: x, Elements: sampled(sampler, 12), Floor: 1e-12,
				Distance: func(p, q space.Value) float64 {
					d := 0.0
					for i, v := range space.Nearest(p, q).Numbers() {
						d = max(d, math.Abs(v-q.Numbers()[i]))
					}
					return d
				},
			}); err != nil {
				t.Errorf("%s %s: %v", typ, name, err)
			}
			if strings.Contains(name, "S(4)") {
				continue
			}
			for _, e := range sampled(sampler, 12) {
				v, err := a.Apply(e, x)
				if err != nil {
					t.Fatal(err)
				}
				m, u := motionsOf(g, e)
				mirrored := m[0]*(m[4]*m[8]-m[5]*m[7])-m[1]*(m[3]*m[8]-m[5]*m[6])+m[2]*(m[3]*m[7]-m[4]*m[6]) < 0
				for i := range x.N {
					moved := solidCorners(typ, asA[*space.Rows](t, v).Row(i))
					for k, p := range solidCorners(typ, x.Row(i)) {
						if mirrored {
							k ^= 2
						}
						q := times(m, p[:])
						for c := range 3 {
							if d := moved[k][c] - q[c] - u[c]; !(math.Abs(d) < 1e-9) {
								t.Fatalf("%s, %s %v: corner %d of box %d is %g off", typ, name, e, k, i, d)
							}
						}
					}
				}
			}
		}
	}
}

// motionsOf is the joint map of an element.
func motionsOf(g group.Group, e group.Element) (a, t []float64) {
	a, t = []float64{1, 0, 0, 0, 1, 0, 0, 0, 1}, make([]float64, 3)
	factors, parts := []group.Group{g}, []group.Element{e}
	if f, ok := g.(group.Factored); ok {
		factors, parts = f.Factors(), f.Split(e)
	}
	for i, f := range factors {
		s, ok := group.AsSpatial(f)
		if !ok {
			continue
		}
		b, u := s.Motion(parts[i])
		c := make([]float64, 9)
		for r := range 3 {
			for k := range 3 {
				t[r] += a[3*r+k] * u[k]
				for j := range 3 {
					c[3*r+k] += a[3*r+j] * b[3*j+k]
				}
			}
		}
		a = c
	}
	return a, t
}

// A group that tilts boxes which cannot say so is refused with the groups and the types to take in its place.
func TestBoxesThatCannotTilt(t *testing.T) {
	for _, c := range []struct{ group, typ, want string }{
		{"SE(3)", "boxes", "take Eg(3) or SEg(3)"},
		{"E(3) x S(4)", "boxes", "boxes-quaternion, boxes-matrix, boxes-6d"},
		{"Eg(3,x)", "boxes", "this group tilts them"},
		{"Og(3) x T(3)", "boxes", "their joint motions are the group Eg(3)"},
		{"T(3) x SOg(3,y)", "boxes-6d", "their joint motions are the group SEg(3,y)"},
		{"SO(3) x T(3)", "boxes-matrix", "their joint motions are the group SE(3)"},
		{"Affine(3)", "boxes", "and this stretches or shears"},
		{"GL+(3)", "boxes-quaternion", "and this stretches or shears"},
		{"SE(2)", "boxes-matrix", "are of three dimensions"},
	} {
		_, err := action.NewRows(parse(t, c.group), rowsSpec(c.typ, "", -1, solidWidths[c.typ]), action.Options{})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s under %s: %v, want %s", c.typ, c.group, err, c.want)
		}
	}
	_, err := action.NewRows(parse(t, "SE(3)"), rowsSpec(space.TypeBoxesQuaternion, "", -1, 7), action.Options{})
	if err == nil || !strings.Contains(err.Error(),
		"boxes-quaternion are 10 numbers, x, y, z, length, width, height and a quaternion w, x, y, z, the rows "+
			"have 7") {
		t.Errorf("seven numbers: %v", err)
	}
}
