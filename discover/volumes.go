package discover

import (
	"fmt"
	"math"

	"nero/data/space"
	"nero/symmetry/action"
	"nero/symmetry/group"
	"nero/symmetry/group/catalog"
)

// volumes are families for grids of voxels.
var volumes = source{
	name: "volumes",
	families: func(c *catalogue, leaf space.Spec) ([]family, error) {
		if len(leaf.Shape) != 4 || c.s.In.IsRecord() {
			return nil, nil
		}
		if _, err := c.s.Rules.For(catalog.T3Z(), leaf, c.s.Moving); err != nil {
			return nil, nil // it lies on no voxels
		}
		d, h, w := leaf.Shape[1], leaf.Shape[2], leaf.Shape[3]
		l := list{}
		l.add(c.cube(d, h, w))
		l.add(c.voxelRolls(d, h, w))
		if d > 0 && d == h && h == w {
			f, err := c.drawn("SO(3)", "turns of space by any angle", nil)
			f.implies = []string{"Octa"}
			l.add([]family{f.along(map[string]float64{"rad": math.Pi / 36})}, err)
		}
		f, err := c.named("Scale(3)", "magnifications of space", factors()...)
		l.add([]family{f.along(map[string]float64{"log-factor": 0.05})}, err)
		return l.all, l.err
	},
}

// cube are the elements of the symmetries of the cube that a box of voxels has: half turns and mirrors of any, quarter
// turns about an axis where the two others are equally long, and all of them where all are.
func (c *catalogue) cube(d, h, w int) ([]family, error) {
	l := list{}
	some := func(name, doc, unit string, keep func(m []float64) bool) {
		f, err := c.picked(keep)
		if err == nil {
			f.name, f.doc, f.subset = name, doc, true
			f = f.single(unit)
		}
		l.add([]family{f}, err)
	}
	axes := []string{"x", "y", "z"}
	length := []int{w, h, d}
	// the diagonal of a map that exchanges no axes
	flips := func(m []float64) (count, at int, ok bool) {
		for i := range 9 {
			if i%4 != 0 && m[i] != 0 {
				return 0, 0, false
			}
		}
		for i := range 3 {
			if m[4*i] < 0 {
				count, at = count+1, at+i
			}
		}
		return count, at, true
	}
	var half, quarter, mirrors []string
	for i, axis := range axes {
		some("half turn about "+axis, "half turns about the axis "+axis, "half turn", func(m []float64) bool {
			n, at, ok := flips(m)
			return ok && n == 2 && at == 3-i // the two others
		})
		half = append(half, "half turn about "+axis)
		if a, b := length[(i+1)%3], length[(i+2)%3]; a > 0 && a == b {
			name := "quarter turns about " + axis
			some(name, name, "quarter turn", func(m []float64) bool { return m[4*i] == 1 && determinant(m) == 1 })
			if l.err == nil {
				l.all[len(l.all)-1].implies = []string{"half turn about " + axis}
			}
			quarter = append(quarter, name)
		}
	}
	for i, axis := range axes {
		some("mirror "+axis, "the mirror that turns the axis "+axis+" around", "mirror", func(m []float64) bool {
			n, at, ok := flips(m)
			return ok && n == 1 && at == i
		})
		mirrors = append(mirrors, "mirror "+axis)
	}
	some("inversion", "the inversion through the middle", "inversion", func(m []float64) bool {
		n, _, ok := flips(m)
		return ok && n == 3
	})
	if l.err != nil || len(quarter) < len(axes) {
		return l.all, l.err
	}
	f, err := c.named("Octa", "the rotations of the cube")
	if err == nil {
		f = f.single("rotation")
	}
	f.of, f.implies = quarter[:2], append(quarter, half...) // two of them make the third
	l.add([]family{f}, err)
	f, err = c.named("Oh", "the rotations and mirrors of the cube")
	if err == nil {
		f = f.single("rotation or mirror")
	}
	f.of, f.implies = []string{"Octa", "inversion"}, append(append([]string{"Octa", "inversion"}, mirrors...),
		append(quarter, half...)...)
	l.add([]family{f}, err)
	return l.all, l.err
}

// picked are the elements of the symmetries of the cube whose matrices are of a kind, without the identity.
func (c *catalogue) picked(keep func(m []float64) bool) (family, error) {
	g := catalog.Oh()
	s, ok := group.AsSpatial(g)
	listed, finite := g.(group.Finite)
	if !ok || !finite {
		return family{}, fmt.Errorf("%s moves no space", g.Name())
	}
	var es []group.Element
	for _, e := range listed.Elements()[1:] {
		if m, _ := s.Motion(e); keep(m) {
			es = append(es, e)
		}
	}
	return c.of(g, "", es...)
}

// determinant of a map of space.
func determinant(m []float64) float64 {
	minor := func(i, j int) float64 { return float64(m[3+i]*m[6+j]) - float64(m[3+j]*m[6+i]) }
	return float64(m[0]*minor(1, 2)) - float64(m[1]*minor(0, 2)) + float64(m[2]*minor(0, 1))
}

// voxelRolls are shifts around by powers of two.
func (c *catalogue) voxelRolls(d, h, w int) ([]family, error) {
	l := list{}
	for _, k := range []int{1, 2, 4, 8} {
		if 2*k > min(d, h, w) {
			break
		}
		n := float64(k)
		doc := fmt.Sprintf("shifts around by %d voxels", k)
		if k == 1 {
			doc = "shifts around by a voxel"
		}
		f, err := c.of(catalog.T3Z(), doc, group.Element{n, 0, 0}, group.Element{0, n, 0}, group.Element{0, 0, n})
		if err == nil {
			f.name, f.subset = fmt.Sprintf("roll by %d", k), true
			f.options.Border = action.Circular
			for i, axis := range []string{"x", "y", "z"} {
				f.steps = append(f.steps, step{
					name: "along " + axis, unit: f.name, size: 1, forth: f.elements[i], element: i,
				})
			}
			for j := 2 * k; j <= 8; j *= 2 {
				f.implies = append(f.implies, fmt.Sprintf("roll by %d", j))
			}
		}
		l.add([]family{f}, err)
	}
	return l.all, l.err
}
