package discover

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"nero/data/space"
	"nero/run/job"
	"nero/symmetry/action"
	"nero/symmetry/group"
	"nero/symmetry/group/catalog"
)

// circle is how many angles of a full turn are visited; among them are the quarter turns.
const circle = 12

// turn are the angles of a full turn but 0, in degrees.
func turn() []group.Element {
	var all []group.Element
	for k := 1; k < circle; k++ {
		all = append(all, group.Element{float64(k) * 360 / circle})
	}
	return all
}

// pictures are families for pictures and sequences of them.
var pictures = source{
	name: "pictures",
	families: func(c *catalogue, leaf space.Spec) ([]family, error) {
		_, channels, h, w, ok := leaf.Pictures()
		if !ok || c.s.In.IsRecord() {
			return nil, nil
		}
		l := list{}
		l.add(c.planar(h == w, math.Pi/36))
		if h > 0 && w > 0 {
			l.add(c.rolls(h, w))
		}
		l.add(c.affine())
		l.add(c.colors(channels))
		return l.all, l.err
	},
}

// list collects families until the first error.
type list struct {
	all []family
	err error
}

func (l *list) add(f []family, err error) {
	if l.err == nil {
		l.all, l.err = append(l.all, f...), err
	}
}

// planar are turns and mirrors of the plane, with a step of so many radians.
func (c *catalogue) planar(square bool, angle float64) ([]family, error) {
	l := list{}
	finite := func(name, doc, unit string, implies ...string) {
		f, err := c.named(name, doc)
		if err == nil {
			f = f.single(unit)
		}
		f.implies = implies
		l.add([]family{f}, err)
	}
	finite("C2", "half turns", "half turn")
	if square {
		finite("C4", "quarter turns", "quarter turn", "C2")
	}
	finite("D1", "mirrors that exchange left and right", "mirror")
	f, err := c.named("D2", "mirrors that exchange top and bottom", group.Element{180, 1})
	if err == nil {
		f = f.single("mirror")
	}
	f.name, f.subset = "mirror ↕", true
	l.add([]family{f}, err)
	name, doc, of := "D2", "half turns and mirrors", "C2"
	if square {
		name, doc, of = "D4", "quarter turns and mirrors", "C4"
	}
	finite(name, doc, "quarter turn", of, "C2", "D1", "mirror ↕")
	if l.err != nil {
		return nil, l.err
	}
	l.all[len(l.all)-1].of = []string{of, "D1"}
	f, err = c.named("SO(2)", "turns by any angle", turn()...)
	f.whole, f.implies = true, []string{"C2", "C4"}
	l.add([]family{f.along(map[string]float64{"rad": angle})}, err)
	var both []group.Element
	for k := range 2 * circle {
		both = append(both, group.Element{float64(k/2) * 360 / circle, float64(k % 2)})
	}
	f, err = c.named("O(2)", "turns by any angle and mirrors", both[1:]...)
	f.whole, f.of = true, []string{"SO(2)", "D1"}
	f.implies = []string{"SO(2)", "D1", "D2", "D4", "C2", "C4", "mirror ↕"}
	l.add([]family{f.along(map[string]float64{"rad": angle})}, err)
	return l.all, l.err
}

// rolls are shifts around by powers of two.
func (c *catalogue) rolls(h, w int) ([]family, error) {
	g, err := catalog.Roll(h, w)
	if err != nil {
		return nil, err
	}
	l := list{}
	for _, k := range []int{1, 2, 4, 8, 16} {
		if 2*k > min(h, w) {
			break
		}
		n := float64(k)
		f, err := c.of(g, fmt.Sprintf("shifts around by %d pixels", k), group.Element{n, 0}, group.Element{0, n})
		if k == 1 {
			f.doc = "shifts around by a pixel"
		}
		if err == nil {
			f.name, f.subset = fmt.Sprintf("roll by %d", k), true
			f.options.Border = action.Circular
			f.steps = []step{
				{name: "right", unit: f.name, size: 1, forth: f.elements[0], element: 0},
				{name: "down", unit: f.name, size: 1, forth: f.elements[1], element: 1},
			}
			for j := 2 * k; j <= 16; j *= 2 { // shifts by one make all others
				f.implies = append(f.implies, fmt.Sprintf("roll by %d", j))
			}
		}
		l.add([]family{f}, err)
	}
	return l.all, l.err
}

// factors are magnifications and the like that are visited.
func factors() []group.Element { return []group.Element{{0.8}, {0.9}, {1.1}, {1.25}} }

// slopes are shears and the like.
func slopes(x float64) []group.Element { return []group.Element{{-x}, {-x / 2}, {x / 2}, {x}} }

// affine are magnifications, shears and stretches of the plane.
func (c *catalogue) affine() ([]family, error) {
	l := list{}
	size := map[string]float64{"log-factor": 0.05, "": 0.05}
	for _, x := range []struct {
		name, doc string
		elements  []group.Element
	}{
		{"Scale", "magnifications", factors()},
		{"Affine(shear)", "shears along the rows", slopes(0.2)},
		{"Affine(shear y)", "shears along the columns", slopes(0.2)},
		{"Affine(stretch)", "stretches along the rows, with the columns shortened", factors()},
	} {
		f, err := c.named(x.name, x.doc, x.elements...)
		l.add([]family{f.along(size)}, err)
	}
	return l.all, l.err
}

// colors are changes of the numbers of each pixel by itself.
func (c *catalogue) colors(channels int) ([]family, error) {
	l := list{}
	size := map[string]float64{"log-factor": 0.05, "": 0.02, "rad": math.Pi / 36}
	for _, x := range []struct {
		name, doc string
		elements  []group.Element
	}{
		{"Brightness", "brighter and darker pictures", slopes(0.1)},
		{"Contrast", "more and less contrast", factors()},
		{"Gamma", "other gammas", factors()},
	} {
		f, err := c.named(x.name, x.doc, x.elements...)
		l.add([]family{f.along(size)}, err)
	}
	if channels == 3 {
		f, err := c.named("Hue", "turns of the colors", turn()...)
		f.whole = true
		l.add([]family{f.along(size)}, err)
	}
	const most = 4
	if channels > 1 && channels <= most {
		f, err := c.named(fmt.Sprintf("Channels(%d)", channels), "permutations of the channels")
		if err == nil {
			f = f.single("permutation")
		}
		l.add([]family{f}, err)
	}
	return l.all, l.err
}

// placed reports whether a leaf has rows that a group of space of so many dimensions moves.
func placed(leaf space.Spec, dim int) bool {
	if !leaf.Lined() || leaf.Type == space.TypeUnchanged || leaf.Type == "" {
		return false
	}
	if leaf.Type == space.TypePositions || leaf.Type == space.TypeVectors {
		n := len(leaf.Shape)
		return n > 0 && leaf.Shape[n-1] == dim
	}
	return dim == 3
}

// solids are families for what lies in space: points, vectors, tensors.
var solids = source{
	name: "points of space",
	families: func(c *catalogue, leaf space.Spec) ([]family, error) {
		if !placed(leaf, 3) {
			return nil, nil
		}
		l := list{}
		angle := map[string]float64{"rad": 1. / 64}
		moves := leaf.Type == space.TypePositions
		size := c.extent()
		if moves {
			f, err := c.drawn("T(3)", "shifts of space", [][2]float64{{-size, size}, {-size, size}, {-size, size}})
			l.add([]family{f.along(map[string]float64{"length": size / 64})}, err)
		}
		for _, axis := range []string{"x", "y", "z"} {
			f, err := c.named("SOg(3,"+axis+")", "turns about the axis "+axis, turn()...)
			f.name, f.whole = "SO(2) about "+axis, true
			l.add([]family{f.along(angle)}, err)
		}
		f, err := c.drawn("SO(3)", "turns of space", nil)
		f.implies = []string{"SO(2) about x", "SO(2) about y", "SO(2) about z"}
		l.add([]family{f.along(angle)}, err)
		f, err = c.named("O(3)", "the inversion through the origin", group.Element{0, 0, 0, 1})
		if err == nil {
			f = f.single("inversion")
			f.name, f.subset = "inversion", true
		}
		l.add([]family{f}, err)
		f, err = c.named("Scale(3)", "magnifications of space", factors()...)
		l.add([]family{f.along(map[string]float64{"log-factor": 1. / 64})}, err)
		f, err = c.drawn("O(3)", "turns and mirrors of space", nil)
		f.of = []string{"SO(3)", "inversion"}
		f.implies = append([]string{"SO(3)", "inversion"}, "SO(2) about x", "SO(2) about y", "SO(2) about z")
		orthogonal := f.implies
		l.add([]family{f.along(angle)}, err)
		if !moves {
			return l.all, l.err
		}
		both := map[string]float64{"rad": 1. / 64, "length": size / 64}
		f, err = c.drawn("SE(3)", "turns and shifts of space", nil)
		f.of, f.implies = []string{"SO(3)", "T(3)"}, append([]string{"T(3)", "SO(3)"}, orthogonal[2:]...)
		l.add([]family{f.along(both)}, err)
		f, err = c.drawn("E(3)", "turns, mirrors and shifts of space", nil)
		f.of, f.implies = []string{"O(3)", "T(3)"}, append([]string{"T(3)", "O(3)", "SE(3)"}, orthogonal...)
		l.add([]family{f.along(both)}, err)
		return l.all, l.err
	},
}

// extent is about how far positions are from their middle, for shifts of a size that means something.
func (c *catalogue) extent() float64 {
	var sum, n float64
	for _, x := range c.s.Explored() {
		p := c.s.In.Positions(x.Value)
		if p == nil || p.N == 0 {
			continue
		}
		middle := make([]float64, p.W)
		for i, v := range p.Val {
			middle[i%p.W] += v / float64(p.N)
		}
		for i, v := range p.Val {
			d := v - middle[i%p.W]
			sum += float64(d * d)
		}
		n += float64(p.N)
	}
	if !(sum > 0) || math.IsInf(sum, 0) {
		return 1
	}
	return math.Sqrt(sum / n)
}

// draws is how many random elements stand for a group that is not listed.
const draws = 8

// few rows have no more permutations than are drawn, and all of them are asked.
const few = 3

// drawn is a family of random elements of a group.
func (c *catalogue) drawn(name, doc string, window [][2]float64) (family, error) {
	g, err := catalog.Parse(name, c.s.Groups...)
	if err != nil {
		return family{}, err
	}
	es, err := group.Haar(g, draws, window, c.r)
	if err != nil {
		return family{}, err
	}
	return c.of(g, doc, es...)
}

// flats are families for points of the plane, y down.
var flats = source{
	name: "points of the plane",
	families: func(c *catalogue, leaf space.Spec) ([]family, error) {
		if !placed(leaf, 2) {
			return nil, nil
		}
		l := list{}
		l.add(c.planar(true, 1./64)) // points are not resampled, so a step may be small
		if leaf.Type == space.TypePositions {
			size := c.extent()
			f, err := c.drawn("T(2)", "shifts of the plane", [][2]float64{{-size, size}, {-size, size}})
			l.add([]family{f.along(map[string]float64{"px": size / 64})}, err)
		}
		f, err := c.named("Scale", "magnifications of the plane", factors()...)
		l.add([]family{f.along(map[string]float64{"log-factor": 1. / 64})}, err)
		return l.all, l.err
	},
}

// sets are permutations of rows.
var sets = source{
	name: "rows",
	families: func(c *catalogue, leaf space.Spec) ([]family, error) {
		if !leaf.OfNodes() || c.rows < 2 {
			return nil, nil
		}
		g, err := catalog.Symmetric(c.rows)
		if err != nil {
			return nil, err
		}
		swap := g.Identity()
		swap[0], swap[1] = 1, 0
		es := []group.Element{swap}
		var more []group.Element
		if listed, ok := g.(group.Finite); ok && c.rows <= few {
			more = listed.Elements()[1:]
		} else if more, err = group.Haar(g, draws, nil, c.r); err != nil {
			return nil, err
		}
		f, err := c.of(g, "permutations of the rows", group.Dedup(g, append(es, more...), group.Tolerance)...)
		if err != nil {
			return nil, err
		}
		all := []family{f.single("swap of two rows")}
		if !placed(leaf, 3) {
			return all, nil
		}
		for _, space := range []string{"E(3)", "O(3)"} {
			both, err := c.drawn(space+" x "+g.Name(), "motions of space and permutations of the rows", nil)
			if err != nil {
				return nil, err
			}
			both.of = []string{space, g.Name()}
			both.implies = []string{
				g.Name(), "E(3)", "O(3)", "SE(3)", "SO(3)", "T(3)", "inversion", "SO(2) about x", "SO(2) about y",
				"SO(2) about z",
			}
			if space == "O(3)" {
				both.implies = slices.DeleteFunc(both.implies, func(n string) bool {
					return n == "E(3)" || n == "SE(3)" || n == "T(3)"
				})
			} else {
				both.implies = append(both.implies, "O(3) x "+g.Name())
			}
			all = append(all, both)
		}
		return all, nil
	},
}

// How many numbers a vector may have for all pairs of them to be asked, and for the families that are matrices at all.
const (
	mostPairs  = 8
	mostLie    = 16
	mostVector = 64
)

// vectors are families for a list of numbers that are not told apart: a row for each sample, or a feature vector.
var vectors = source{
	name: "vectors",
	families: func(c *catalogue, leaf space.Spec) ([]family, error) {
		n := vector(c.s.In, leaf)
		if n < 1 || n > mostVector {
			return nil, nil
		}
		l := list{}
		name := func(i int) string { return fmt.Sprintf("x%d", i+1) }
		finite := func(title, doc string, m [][]float64) {
			text := finiteText(plainName(title), m)
			f, err := c.matrixFamily(title, doc, leaf.Name, func() (group.Group, string, error) { return load(text) })
			if err == nil {
				f = f.single(title)
			}
			l.add([]family{f}, err)
		}
		lie := func(title, doc, generator, per string, reach float64, at []float64, m [][]float64) {
			text := lieText(plainName(title), generator, per, reach, m)
			f, err := c.matrixFamily(title, doc, leaf.Name, func() (group.Group, string, error) { return load(text) })
			if err != nil {
				l.add(nil, err)
				return
			}
			x, ok := f.group.(group.Lie)
			if !ok {
				l.add(nil, fmt.Errorf("%s has no generators", title))
				return
			}
			for _, t := range at {
				f.elements = append(f.elements, x.Exp([]float64{t}))
			}
			f.whole = per == "rad"
			f = f.along(map[string]float64{"rad": 1. / 64, "": 1. / 64})
			f.steps[0].unit = cmp.Or(per, "log-factor")
			l.add([]family{f}, nil)
		}
		for i := range n {
			m := unit(n)
			m[i][i] = -1
			finite("flip "+name(i), "the other sign of "+name(i), m)
		}
		if n > 1 {
			m := unit(n)
			for i := range n {
				m[i][i] = -1
			}
			finite("flip all", "the other sign of all numbers", m)
		}
		for i := range n {
			for j := i + 1; j < n; j++ {
				if n > mostPairs && j > i+1 {
					break
				}
				m := unit(n)
				m[i], m[j] = m[j], m[i]
				finite("swap "+name(i)+" "+name(j), name(i)+" and "+name(j)+" exchanged", m)
			}
		}
		if n > mostLie {
			return l.all, l.err
		}
		var angles []float64
		for _, e := range turn() {
			angles = append(angles, group.Radians(group.Wrap(e[0], -180, 360)))
		}
		for i := range n {
			for j := i + 1; j < n; j++ {
				if n > mostPairs && j > i+1 {
					break
				}
				m := make([][]float64, n)
				for k := range m {
					m[k] = make([]float64, n)
				}
				m[i][j], m[j][i] = -1, 1
				lie("turn "+name(i)+" "+name(j), "turns in the plane of "+name(i)+" and "+name(j), "rotation", "rad",
					4, angles, m)
			}
		}
		logs := []float64{-0.25, -0.125, 0.125, 0.25}
		for i := range n {
			m := make([][]float64, n)
			for k := range m {
				m[k] = make([]float64, n)
			}
			m[i][i] = 1
			if n > 1 {
				lie("scale "+name(i), name(i)+" times a factor", "log-factor", "", 1, logs, m)
			}
		}
		lie("scale all", "all numbers times a factor", "log-factor", "", 1, logs, unit(n))
		return l.all, l.err
	},
}

// load reads the definition of a group.
func load(text string) (group.Group, string, error) {
	g, err := job.OpenGroup(context.Background(), "", text, nil)
	return g, text, err
}

// plainName is a name that a definition may have.
func plainName(title string) string { return "discovered " + title }

// vector is how many numbers a leaf has that is a list of numbers, 0 for others.
func vector(in, leaf space.Spec) int {
	n := len(leaf.Shape)
	if n == 0 || leaf.Shape[n-1] < 1 {
		return 0
	}
	if n == 1 {
		if leaf.Lined() {
			return 0
		}
		return leaf.Shape[0]
	}
	one := leaf.Lined() && n == 2 && (leaf.Per == space.PerSample || leaf.Shape[0] == 1)
	if !one || leaf.Type != "" && leaf.Type != space.TypeVectors && (leaf.Type != space.TypeUnchanged ||
		in.IsRecord()) {
		return 0
	}
	return leaf.Shape[1]
}

// signals are families for what lies in time.
var signals = source{
	name: "signals",
	families: func(c *catalogue, leaf space.Spec) ([]family, error) {
		if len(leaf.Shape) != 2 || leaf.Lined() {
			return nil, nil
		}
		if _, err := c.s.Rules.For(catalog.T1Z(), leaf, c.s.Moving); err != nil {
			return nil, nil // it does not lie in time
		}
		channels, n := leaf.Shape[0], leaf.Shape[1]
		l := list{}
		for _, k := range []int{1, 2, 4, 8, 16} {
			name, doc := "T(1,Z)", fmt.Sprintf("shifts of time by %d samples", k)
			if n > 0 {
				name, doc = fmt.Sprintf("Roll(%d)", n), fmt.Sprintf("shifts around by %d samples", k)
				if 2*k > n {
					break
				}
			}
			doc = strings.Replace(doc, "by 1 samples", "by a sample", 1)
			f, err := c.named(name, doc, group.Element{float64(k)})
			if err == nil {
				f = f.single(fmt.Sprintf("shift by %d", k))
				f.name, f.subset = fmt.Sprintf("shift by %d", k), true
				if n > 0 {
					f.options.Border = action.Circular
				}
			}
			for j := 2 * k; j <= 16; j *= 2 {
				f.implies = append(f.implies, fmt.Sprintf("shift by %d", j))
			}
			l.add([]family{f}, err)
		}
		f, err := c.named("E(1,Z)", "the opposite order", group.Element{0, 1})
		if err == nil {
			f = f.single("reversal")
			f.name, f.subset = "reversal", true
		}
		l.add([]family{f}, err)
		if channels < 1 || channels > mostLie {
			return l.all, l.err
		}
		l.add(c.amplitudes(leaf.Name, channels))
		return l.all, l.err
	},
}

// amplitudes are the sign and the gain of signals.
func (c *catalogue) amplitudes(field string, channels int) ([]family, error) {
	l := list{}
	m := unit(channels)
	for i := range m {
		m[i][i] = -1
	}
	f, err := c.matrixFamily("sign", "the other sign", field,
		func() (group.Group, string, error) { return load(finiteText(plainName("sign"), m)) })
	if err == nil {
		f = f.single("change of sign")
	}
	l.add([]family{f}, err)
	f, err = c.matrixFamily("gain", "louder and softer signals", field, func() (group.Group, string, error) {
		return load(lieText(plainName("gain"), "log-factor", "", 1, unit(channels)))
	})
	if err != nil {
		return nil, errors.Join(l.err, err)
	}
	x, ok := f.group.(group.Lie)
	if !ok {
		return nil, errors.New("the gain has no generators")
	}
	for _, t := range []float64{-0.25, -0.125, 0.125, 0.25} {
		f.elements = append(f.elements, x.Exp([]float64{t}))
	}
	f = f.along(map[string]float64{"": 1. / 64})
	f.steps[0].unit = "log-factor"
	l.add([]family{f}, nil)
	return l.all, l.err
}
