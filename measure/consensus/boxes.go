package consensus

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"nero/data/space"
	"nero/measure/metric"
)

const (
	same    = 0.5  // IoU from which two boxes are of one object
	nearKey = 0.25 // IoU with the object of interest that its box must have
	rounds  = 10   // of assignment at most; two or three are usual
)

// boxes keeps the sets of all elements and finds the objects that they have in common.
type boxes struct {
	median bool
	key    *space.Box
	h, w   float64
	// by index
	kept []Answer

	// of all that are kept; nil if they have changed
	objects []*object
}

// member is a box of an object and the element that it comes from.
type member struct {
	// index into kept
	of  int
	box space.Box
}

// object is what boxes of several elements, at most one of each, are of.
type object struct {
	// by element
	members []member
	center  space.Box
	weight  float64
	// weighted sum of confidence
	score   float64
	columns *columns
	// by index into kept: it was there and an edge cut it, or it was outside
	cut []bool
	// how many those are
	cuts int
	// what they weigh
	lost float64
	// described without leaving anything out
	whole *Object
	box   space.Box
}

func (b *boxes) fits(v space.Value) error {
	s, ok := v.(*space.Boxes)
	if !ok {
		return fmt.Errorf("an answer of type %T", v)
	}
	if b.h == 0 && b.w == 0 {
		b.h, b.w = s.H, s.W
	}
	if s.H != b.h || s.W != b.w {
		return fmt.Errorf("boxes in a window of %g x %g among those in one of %g x %g", s.H, s.W, b.h, b.w)
	}
	return nil
}

func (b *boxes) add(x Answer, _ []state) {
	i, _ := slices.BinarySearchFunc(b.kept, x.Index, func(a Answer, k int) int { return a.Index - k })
	b.kept = slices.Insert(b.kept, i, x)
	b.objects = nil
}

func (b *boxes) items(of int) []space.Box {
	s, ok := b.kept[of].Value.(*space.Boxes)
	if !ok {
		return nil // fits lets no other in
	}
	return s.Items
}

func (b *boxes) result(_ []state, weights []float64, without int, _ space.Value, r *Result) {
	if len(b.kept) == 0 {
		return
	}
	total := 0.0
	for _, w := range weights {
		total += w
	}
	if b.objects == nil {
		b.objects = b.find(total)
	}
	out := -1
	if without >= 0 {
		total -= weights[without]
		out = slices.IndexFunc(b.kept, func(x Answer) bool { return x.Index == without })
	}
	set := &space.Boxes{H: b.h, W: b.w}
	for _, o := range b.objects {
		box, of := b.describe(o, out, total)
		of.Misses = r.Of - r.Bad - of.Contributing - of.Cut
		set.Items = append(set.Items, box)
		r.Objects = append(r.Objects, of)
	}
	r.Value, r.Contributing, r.Share, r.Misses, r.Cut = set, 0, 0, r.Of-r.Bad, 0
	if len(r.Objects) > 0 {
		first := r.Objects[0]
		r.Label, r.Contributing, r.Share, r.Misses, r.Cut = set.Items[0].Label, first.Contributing, first.Share,
			first.Misses, first.Cut
	}
}

// partial says whether a box may not be all of its object: an edge cuts it, or is so near that it may.
func (b *boxes) partial(of int, box space.Box) bool {
	w := b.kept[of].Window
	return box.Cut || !(box.Area() > 0) || w != nil && !metric.Within(box, *w)
}

// describe is the consensus about an object, leaving out one of the kept answers, -1 for none.
func (b *boxes) describe(o *object, without int, total float64) (space.Box, Object) {
	of := Object{Cut: o.cuts, Contributing: len(o.members)}
	lost, skip := o.lost, -1
	if without >= 0 {
		if o.cut[without] {
			of.Cut--
			lost -= b.kept[without].Weight
		}
		if i, found := o.has(without); found {
			skip = i
			of.Contributing--
		}
	}
	if of.Contributing == 0 {
		x, y := o.center.Center()
		return space.Box{X1: x, Y1: y, X2: x, Y2: y, Label: -1}, of
	}
	if o.whole == nil || skip >= 0 {
		box := b.center(o.members, o.columns, skip)
		weight, score, votes, overlap := 0.0, 0.0, 0.0, 0.0
		for i := range o.members {
			if i == skip {
				continue
			}
			m, w := &o.members[i], b.kept[o.members[i].of].Weight
			weight += w
			score += float64((m.box.Score - score) * share(w, weight))
			overlap += float64((metric.IoU(m.box, box) - overlap) * share(w, weight))
			if m.box.Label == box.Label {
				votes += w
			}
		}
		box.Score = score
		x := Object{Share: weight, Votes: ratio(votes, weight), IoU: min(overlap, 1)}
		if skip >= 0 {
			of.Share, of.Votes, of.IoU = ratio(weight, total-lost), x.Votes, x.IoU
			return box, of
		}
		o.whole, o.box = &x, box
	}
	of.Share, of.Votes, of.IoU = ratio(o.whole.Share, total-lost), o.whole.Votes, o.whole.IoU
	return o.box, of
}

// has finds the member that comes from an answer.
func (o *object) has(of int) (int, bool) {
	return slices.BinarySearchFunc(o.members, of, func(m member, k int) int { return m.of - k })
}

func share(w, total float64) float64 {
	if w == 0 {
		return 0
	}
	return w / total
}

// find makes the objects: boxes are gathered around the most confident ones, and then around the centres of what was
// gathered, until nothing changes.
func (b *boxes) find(total float64) []*object {
	var all []member
	for i := range b.kept {
		for _, box := range b.items(i) {
			if !b.partial(i, box) {
				all = append(all, member{i, box})
			}
		}
	}
	objects := b.seed(all)
	// What one element in a hundred saw will not come to half of them by being moved; noise of low scores makes many of
	// these.
	objects = slices.DeleteFunc(objects, func(o *object) bool { return len(o.members)*100 < len(b.kept) })
	for range rounds {
		b.sort(objects)
		objects = b.merge(objects)
		var changed bool
		if objects, changed = b.assign(objects); !changed {
			break
		}
	}
	b.sort(objects)
	for _, o := range objects {
		b.unseen(o)
	}
	return b.choose(objects, total)
}

// seed gathers boxes around the most confident ones.
func (b *boxes) seed(all []member) []*object {
	order := slices.Clone(all)
	slices.SortStableFunc(order, func(x, y member) int { return cmp.Compare(y.box.Score, x.box.Score) })
	var objects []*object
	has := map[*object]map[int]bool{}
	for _, m := range order {
		var best *object
		most := same
		for _, o := range objects {
			if !reaches(&o.center, &m.box) {
				continue
			}
			if v := metric.IoU(o.center, m.box); v >= same && (best == nil || v > most) && !has[o][m.of] {
				best, most = o, v
			}
		}
		if best == nil {
			best = &object{center: m.box}
			objects, has[best] = append(objects, best), map[int]bool{}
		}
		best.members = append(best.members, m)
		has[best][m.of] = true
	}
	for _, o := range objects {
		b.settle(o)
	}
	return objects
}

// reaches is false where two boxes cannot have an IoU of same, which is quicker to tell: each side of what they share
// would have to be at least that share of the sides of both. A little is given for rounding, so that no pair is lost.
func reaches(a, b *space.Box) bool {
	if a.Angle != 0 || b.Angle != 0 {
		return true
	}
	const part = same * (1 - 1e-9)
	w, h := min(a.X2, b.X2)-max(a.X1, b.X1), min(a.Y2, b.Y2)-max(a.Y1, b.Y1)
	return w >= part*(a.X2-a.X1) && w >= part*(b.X2-b.X1) && h >= part*(a.Y2-a.Y1) && h >= part*(b.Y2-b.Y1)
}

// settle brings an object up to date with its members.
func (b *boxes) settle(o *object) {
	slices.SortFunc(o.members, func(x, y member) int { return x.of - y.of }) // one of each
	o.weight, o.score = 0, 0
	for _, m := range o.members {
		o.weight += b.kept[m.of].Weight
		o.score += float64(b.kept[m.of].Weight * m.box.Score)
	}
	o.columns, o.whole = b.columns(o.members), nil
	o.center = b.center(o.members, o.columns, -1)
}

// sort puts the objects that most elements have first; of equals the more confident one, and then the one further up
// and left.
func (b *boxes) sort(objects []*object) {
	slices.SortStableFunc(objects, func(x, y *object) int {
		if d := x.weight - y.weight; math.Abs(d) > 1e-9*(x.weight+y.weight) {
			return cmp.Compare(y.weight, x.weight)
		}
		if d := x.score - y.score; math.Abs(d) > 1e-9*(x.score+y.score) {
			return cmp.Compare(y.score, x.score)
		}
		return cmp.Or(cmp.Compare(x.center.Y1, y.center.Y1), cmp.Compare(x.center.X1, y.center.X1),
			cmp.Compare(x.center.Label, y.center.Label))
	})
}

// merge drops objects that are parts of a larger one: they lie where it lies, and mostly at elements that it lacks.
func (b *boxes) merge(objects []*object) []*object {
	var out []*object
	for _, o := range objects {
		part := slices.ContainsFunc(out, func(p *object) bool {
			if !reaches(&p.center, &o.center) || metric.IoU(p.center, o.center) < same {
				return false
			}
			both := 0
			for _, m := range o.members {
				if _, found := p.has(m.of); found {
					both++
				}
			}
			return 2*both < len(o.members)
		})
		if !part {
			out = append(out, o)
		}
	}
	return out
}

// assign gives each box to the object whose centre it covers best, one of each element to each object.
func (b *boxes) assign(objects []*object) ([]*object, bool) {
	type pair struct {
		iou          float64
		item, object int
	}
	members := make([][]member, len(objects))
	var pairs []pair
	for i := range b.kept {
		items := b.items(i)
		pairs = pairs[:0]
		for k, box := range items {
			if b.partial(i, box) {
				continue
			}
			for j, o := range objects {
				if !reaches(&box, &o.center) {
					continue
				}
				if v := metric.IoU(box, o.center); v >= same {
					pairs = append(pairs, pair{v, k, j})
				}
			}
		}
		slices.SortStableFunc(pairs, func(x, y pair) int {
			return cmp.Or(cmp.Compare(y.iou, x.iou), cmp.Compare(items[y.item].Score, items[x.item].Score),
				x.item-y.item, x.object-y.object)
		})
		used := make([]bool, len(items))
		for _, p := range pairs {
			n := len(members[p.object])
			if used[p.item] || n > 0 && members[p.object][n-1].of == i {
				continue
			}
			used[p.item] = true
			members[p.object] = append(members[p.object], member{i, items[p.item]})
		}
	}
	changed := false
	var out []*object
	for j, o := range objects {
		if len(members[j]) == 0 {
			changed = true
			continue
		}
		if !slices.Equal(members[j], o.members) {
			changed = true
			o.members = members[j]
			b.settle(o)
		}
		out = append(out, o)
	}
	return out, changed
}

// unseen finds the elements at which an object was cut by an edge, or not wholly in the window.
func (b *boxes) unseen(o *object) {
	o.cut = make([]bool, len(b.kept))
	for i, x := range b.kept {
		if _, found := o.has(i); found {
			continue
		}
		cut := func(box space.Box) bool { return b.partial(i, box) && covered(box, o.center) >= 0.5 }
		if x.Window != nil && !metric.Within(o.center, *x.Window) || slices.ContainsFunc(b.items(i), cut) {
			o.cut[i] = true
			o.cuts++
			o.lost += x.Weight
		}
	}
}

// covered is the share of a box that lies in another: a box that an edge has cut is part of the whole one.
func covered(part, whole space.Box) float64 {
	if part.Area() == 0 {
		return 0
	}
	v := metric.IoU(part, whole)
	return v / (1 + v) * (part.Area() + whole.Area()) / part.Area()
}

// choose keeps the object of interest, whatever its share, and the others that more than half of the elements have
// which saw them whole.
func (b *boxes) choose(objects []*object, total float64) []*object {
	first := 0
	if b.key != nil {
		first = -1
		best := nearKey
		for i, o := range objects {
			if v := metric.IoU(o.center, *b.key); v >= nearKey && (first < 0 || v > best) {
				first, best = i, v
			}
		}
	}
	var out []*object
	switch {
	case first >= 0 && first < len(objects):
		out = append(out, objects[first])
	case b.key != nil:
		lost := &object{center: *b.key}
		b.unseen(lost)
		out = append(out, lost)
	}
	for i, o := range objects {
		if i == first {
			continue
		}
		if _, of := b.describe(o, -1, total); of.Share > 0.5 {
			out = append(out, o)
		}
	}
	return out
}
