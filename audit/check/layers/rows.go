package layers

import (
	"math"
	"slices"

	"nero/data/space"
	"nero/symmetry/action"
	"nero/symmetry/feature"
	"nero/symmetry/group"
)

// countNodes are the rows of the inputs, 0 if they have none that the group exchanges or turns, and how many rows the
// model reads of them where it reads a fixed number.
func (l *look) countNodes() (rows, padded int) {
	_, permutes := l.group.(group.Permuting)
	if f, ok := l.group.(group.Factored); ok {
		permutes = slices.ContainsFunc(f.Factors(),
			func(g group.Group) bool { _, ok := g.(group.Permuting); return ok })
	}
	if !permutes {
		return 0, 0
	}
	for name, f := range space.Leaves(l.samples[0]) {
		if r := space.RowsOf(f); r != nil && (r.N > 1 || name == "") {
			rows = r.N
			break
		}
	}
	for k, a := range l.first.x[0] {
		if l.first.reps[k] != nil && len(a.Shape) > 0 && a.Shape[0] >= rows {
			padded = max(padded, a.Shape[0])
		}
	}
	return rows, max(rows, padded)
}

// rowLaws are the representations on a value whose first axis counts the rows of the inputs: numbers of each row,
// vectors of each row, numbers of each pair of rows.
func (l *look) rowLaws(shape []int) []*feature.Rep {
	if l.nodes < 2 || len(shape) == 0 || shape[0] != l.nodes && shape[0] != l.padded {
		return nil
	}
	var out []*feature.Rep
	w := size(shape[1:])
	spec := func(typ string, like space.Value, shape ...int) space.Spec {
		return space.Spec{Name: "rows", Kind: like.Kind(), Shape: shape, Type: typ, Per: space.PerNode}
	}
	add := func(a action.Action, err error, like space.Value, why string) {
		if err != nil {
			return
		}
		if r := l.headed(shape, a, like); r != nil {
			out = append(out, r.As(feature.ByData, why))
		}
	}
	rows := space.NewRows(l.nodes, w)
	a, err := action.NewRows(l.group, spec(space.TypeUnchanged, rows, -1, w), action.Options{})
	add(a, err, rows, "numbers of each row")
	if w == 3 {
		a, err := action.NewRows(l.group, spec(space.TypeVectors, rows, -1, w), action.Options{})
		add(a, err, rows, "a vector of each row")
	}
	if len(shape) > 1 && shape[1] == shape[0] && shape[0] == l.nodes {
		w := size(shape[2:])
		pairs := space.NewPairs(l.nodes, w)
		a, err := action.NewPairs(l.group, spec(space.TypeUnchanged, pairs, -1, -1, w), action.Options{})
		add(a, err, pairs, "numbers of each pair of rows")
	}
	return out
}

// rowLaw is the representation on a value of a model of sets and graphs: fixed, or one by rows, if it explains all
// pairs. Where none does, and the value is not merely what was moved about, it is taken to belong to the rows that its
// first axis counts.
func (l *look) rowLaw(v string, shape []int, pairs []feature.Pair) (rep *feature.Rep, constant bool) {
	if l.nodes < 2 || len(pairs) == 0 {
		return nil, false
	}
	mean, seen := make([]float64, len(pairs[0].X)), map[int]bool{}
	for _, p := range pairs {
		if !seen[p.Object] {
			seen[p.Object] = true
			for i, x := range p.X {
				mean[i] += x
			}
		}
	}
	for i := range mean {
		mean[i] /= float64(len(seen))
	}
	var spread, all float64
	for _, p := range pairs {
		d := distance(p.X, mean)
		spread += d * d
		all += dot(p.X, p.X)
	}
	constant = !(spread > 1e-12*all)
	explains := func(r *feature.Rep) bool {
		var wrong float64
		for _, p := range pairs {
			y, err := r.Apply(p.G, p.X)
			if err != nil {
				return false
			}
			d := distance(y, p.Y)
			wrong += d * d
		}
		return math.Sqrt(wrong) <= 1e-3*math.Sqrt(spread)+1e-6*math.Sqrt(all)
	}
	if fixed := l.frame.Fixed(shape); explains(fixed) {
		return fixed.As(feature.ByData, "the values stay"), constant
	}
	laws := l.rowLaws(shape)
	for _, r := range laws {
		if explains(r) {
			return r, false
		}
	}
	if n := l.maker(v); len(laws) > 0 && n != nil && !movements[n.GetOpType()] {
		return laws[0].As(feature.ByDefault, "its first axis counts the rows, and nothing explains the values"), false
	}
	return nil, false
}
