package decode

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"nero/data/space"
	"nero/data/tensor"
	"nero/internal/elementary"
)

// workspace is the memory of one call of decode.
type workspace struct {
	numbers [][]float64
	parts   []part
	found   []candidate
	keep    []candidate
}

// candidate is a box that passed the limit, and its place in the outputs.
type candidate struct {
	space.Box
	at int
	// the score as the model gave it, before an activation that may have brought it to 1 with many others
	raw float64
	// not finite
	odd  bool
	gone bool
}

// array is an output of a run, widened.
type array struct {
	val   []float64
	shape []int
}

// decode splits the outputs into n sets of boxes; rows is the length of the batch that was fed.
func (b *boxes) decode(out []tensor.Named, n, rows int) ([]space.Value, error) {
	if n < 1 || n > rows {
		return nil, fmt.Errorf("%d predictions out of a batch of %d", n, rows)
	}
	w, ok := b.pool.Get().(*workspace)
	if !ok {
		w = new(workspace)
	}
	defer b.pool.Put(w)
	if err := b.lay(w, out, rows); err != nil {
		return nil, err
	}
	values := make([]space.Value, n)
	for i := range values {
		w.found = w.found[:0]
		for k := range w.parts {
			if err := b.collect(w, &w.parts[k], i, rows); err != nil {
				return nil, fmt.Errorf("output %q, sample %d: %w", b.Parts[k].Boxes, i, err)
			}
		}
		labels := slices.ContainsFunc(w.parts, func(p part) bool { return p.labels >= 0 })
		values[i] = b.finish(w, labels)
	}
	return values, nil
}

// lay finds the arrays of every part and how they are read, which is found out once as long as their shapes stay.
func (b *boxes) lay(w *workspace, out []tensor.Named, rows int) error {
	w.parts = slices.Grow(w.parts[:0], len(b.Parts))[:len(b.Parts)]
	total, used := 0, 0
	for i := range w.parts {
		p := &w.parts[i]
		names, same := &b.Parts[i], p.known
		for k, o := range [...]string{names.Boxes, names.Scores, names.Object, names.Labels} {
			a := &p.arrays[k]
			if o == "" {
				continue
			}
			at := slices.IndexFunc(out, func(t tensor.Named) bool { return t.Name == o })
			if at < 0 {
				return fmt.Errorf("the model returned no output %q", o)
			}
			t := out[at]
			if used == len(w.numbers) {
				w.numbers = append(w.numbers, nil)
			}
			var err error
			if a.val, err = t.Float64s(w.numbers[used][:0]); err != nil {
				return fmt.Errorf("output %q: %w", o, err)
			}
			w.numbers[used] = a.val
			used++
			if !same || !slices.Equal(t.Shape, a.shape) {
				if x := b.ports[o]; x.Ranked && !agrees(x.Sizes(), t.Shape) {
					return fmt.Errorf("output %q of shape %v is not what the model declares, %s", o, t.Shape,
						sizes(x.Sizes()))
				}
				a.shape, same, p.known = slices.Clone(t.Shape), false, false
			}
		}
		if !same {
			arr, err := b.arrange(names, func(name string) ([]int, bool) {
				at := slices.IndexFunc(out, func(t tensor.Named) bool { return t.Name == name })
				return out[at].Shape, true // all were found above
			})
			if err != nil {
				return err
			}
			p.arrangement = arr
		}
		for k, o := range [...]string{names.Boxes, names.Scores, names.Object, names.Labels} {
			shape := p.arrays[k].shape
			switch {
			case o == "":
			case p.samples == batched && (len(shape) == 0 || shape[0] != rows):
				return fmt.Errorf("output %q has the shape %v for a batch of %d; its first axis should count the "+
					"samples", o, shape, rows)
			case p.samples == alone && rows != 1:
				return fmt.Errorf("output %q of shape %v does not tell the samples of a batch of %d apart; feed one "+
					"at a time", o, shape, rows)
			case p.samples == listed && len(shape) > 2 && shape[0] != 1:
				return fmt.Errorf("output %q has the shape %v; want one list for all samples, as "+
					"output.boxes.columns has a column image", o, shape)
			}
		}
		p.first = total
		total += p.n
	}
	if b.anchors != nil && total != len(b.anchors) {
		return b.miscount(total)
	}
	return nil
}

// part is one set of outputs of a run.
type part struct {
	arrangement
	// boxes, scores, object, labels; no numbers where there is no such output
	arrays [4]array
	// place of its first box among all
	first int
}

// strided is where the numbers of one box stand: at, at+step, ...
type strided struct {
	val      []float64
	at, step int
}

func (s strided) get(k int) float64 { return s.val[s.at+k*s.step] }

// table is the numbers of box k of sample i in an array of n boxes with width numbers each.
func table(val []float64, i, k, n, width int, flip bool) strided {
	base := i * n * width
	if flip {
		return strided{val, base + k, n}
	}
	return strided{val, base + k*width, 1}
}

// collect adds the boxes of one part that pass the limit.
func (b *boxes) collect(w *workspace, p *part, i, rows int) error {
	sample := i
	if p.samples != batched {
		sample = 0
	}
	for k := range p.n {
		r := table(p.arrays[0].val, sample, k, p.n, p.width, p.flip)
		if p.samples == listed {
			switch image := r.get(p.row.image); {
			case image < 0:
				continue
			case image != math.Trunc(image) || !(image < float64(rows)): // NaN comes here too
				return fmt.Errorf("box %d belongs to sample %g of a batch of %d; check the column image of "+
					"output.boxes.columns", k, image, rows)
			case int(image) != i:
				continue
			}
		}
		at, one := r, p.row.box
		var class, object, label strided
		if p.arrays[1].shape == nil {
			class = r
			class.at += r.step * max(p.row.scores, p.row.score)
			object, label = r, r
			object.at += r.step * p.row.object
			label.at += r.step * p.row.label
			if p.row.object < 0 {
				object.val = nil
			}
			if p.row.label < 0 {
				label.val = nil
			}
		} else {
			one = 0
			class = table(p.arrays[1].val, sample, k, p.n, p.classes, p.flipScores)
			object = strided{p.arrays[2].val, sample*p.n + k, 1}
			label = strided{p.arrays[3].val, sample*p.n + k, 1}
		}
		score, raw, kind, ok, err := b.score(class, p.classes, object, label)
		if err != nil {
			return fmt.Errorf("box %d: %w", k, err)
		}
		if !ok {
			continue
		}
		at.at += at.step * one
		c := candidate{Box: b.coordinates(at, p.first+k), at: p.first + k}
		c.Score, c.Label, c.raw = score, kind, raw
		c.odd = !finite(&c.Box)
		w.found = append(w.found, c)
	}
	return nil
}

// score is the confidence and the class of one box; ok is false for a box below the limit, of the background, or that
// only fills the output up. raw orders boxes of equal confidence: an activation brings all large numbers to 1, and
// which of them is the largest is still told by the model.
func (b *boxes) score(class strided, classes int, object, label strided) (score, raw float64, kind int, ok bool,
	err error,
) {
	lo, hi := 0, classes
	if label.val == nil {
		switch b.Background {
		case "first":
			lo++
		case "last":
			hi--
		}
	}
	best, top := math.Inf(-1), math.Inf(-1)
	kind = -1
	for k := lo; k < hi; k++ {
		y := class.get(k)
		x := b.clamp(y)
		if math.IsNaN(x) {
			best, kind = x, -1
			break
		}
		if x > best || kind < 0 {
			best, top, kind = x, y, k-lo
		}
	}
	score, raw = best, top
	switch b.Activation {
	case "sigmoid":
		score = sigmoid(best)
	case softmax:
		most, others, sum := math.Inf(-1), math.Inf(-1), 0.0
		for k := range classes {
			y := class.get(k)
			if most = max(most, b.clamp(y)); k != lo+kind {
				others = max(others, y)
			}
		}
		for k := range classes {
			sum += elementary.Exp(b.clamp(class.get(k)) - most)
		}
		score, raw = elementary.Exp(best-most)/sum, top-others
	default:
		if score == padding {
			return 0, 0, 0, false, nil
		}
	}
	if object.val != nil {
		o := object.get(0)
		if b.Activation == "sigmoid" || b.Activation == softmax {
			// 1 - σ(a)·σ(b) is e⁻ᵃ + e⁻ᵇ where both are near 1.
			raw = min(raw, o) - elementary.Log1p(elementary.Exp(-math.Abs(raw-o)))
			o = sigmoid(b.clamp(o))
		} else if err := confidence(o); err != nil {
			return 0, 0, 0, false, err
		}
		if err := confidence(score); err != nil {
			return 0, 0, 0, false, err
		}
		score *= o
	}
	if err := confidence(score); err != nil {
		return 0, 0, 0, false, err
	}
	if score < b.Limit {
		return 0, 0, 0, false, nil
	}
	if label.val != nil {
		if score, kind, ok, err = b.number(score, label.get(0)); !ok || err != nil {
			return 0, 0, 0, false, err
		}
	}
	return score, raw, kind, true, nil
}

// number reads the class that the model gives, and passes its score on; one that is not finite takes the score with it.
func (b *boxes) number(score, l float64) (float64, int, bool, error) {
	n := float64(b.kinds())
	switch {
	case math.IsNaN(l) || math.IsInf(l, 0):
		return math.NaN(), -1, true, nil
	case l < 0:
		return 0, 0, false, nil
	case l != math.Trunc(l) || l > math.MaxInt32:
		return 0, 0, false, fmt.Errorf(
			"%g is no class number; check labels of output.boxes.parts, or output.boxes.columns", l)
	case n > 0 && l >= n:
		return 0, 0, false, fmt.Errorf("class %g of %g; check output.boxes.classes and background", l, n)
	case b.Background == "first" && l == 0, b.Background == "last" && n > 0 && l == n-1:
		return 0, 0, false, nil
	case b.Background == "first":
		l--
	}
	return score, int(l), true, nil
}

// clamp bounds a raw score. One of +infinity becomes NaN before an activation, which would make an ordinary number of
// it.
func (b *boxes) clamp(x float64) float64 {
	if b.Activation == "" || b.Activation == "none" {
		return x
	}
	if math.IsInf(x, 1) {
		return math.NaN()
	}
	if math.IsInf(x, -1) { // ruled out
		return x
	}
	return min(max(x, -b.Clamp), b.Clamp)
}

func sigmoid(x float64) float64 { return 1 / (1 + elementary.Exp(-x)) }

// confidence refuses a finite number that is none. 1e-3 admits the rounding of half precision.
func confidence(x float64) error {
	const tol = 1e-3
	if (x < -tol || x > 1+tol) && !math.IsInf(x, 0) {
		return fmt.Errorf("the confidence is %g, want 0 to 1; set output.boxes.activation: sigmoid or softmax if "+
			"these are raw scores", x)
	}
	return nil
}

// coordinates are the edges of a box in pixels; k is its place among the anchors.
func (b *boxes) coordinates(r strided, k int) space.Box {
	x, y, w, h := r.get(0), r.get(1), r.get(2), r.get(3)
	if b.Swap {
		x, y, w, h = y, x, h, w
	}
	switch {
	case b.anchors != nil:
		a := b.anchors[k]
		x, y = float64(x/b.Scale*a.w)+a.x, float64(y/b.Scale*a.h)+a.y
		switch {
		case b.Form == "xyxy":
			w, h = float64(w/b.Scale*a.w)+a.x, float64(h/b.Scale*a.h)+a.y
		case b.Log:
			w, h = elementary.Exp(w/b.SizeScale)*a.w, elementary.Exp(h/b.SizeScale)*a.h
		default:
			w, h = w/b.SizeScale*a.w, h/b.SizeScale*a.h
		}
	case b.Unit == "unit":
		fw, fh := float64(b.win[1]), float64(b.win[0])
		x, y, w, h = float64(x*fw), float64(y*fh), w*fw, h*fh
	}
	switch b.Form {
	case "cxcywh":
		return space.Box{X1: x - w/2, Y1: y - h/2, X2: x + w/2, Y2: y + h/2}
	case "xywh":
		return space.Box{X1: x, Y1: y, X2: x + w, Y2: y + h}
	}
	return space.Box{X1: x, Y1: y, X2: w, Y2: h}
}

// before is the order of boxes: those that are not finite, then by falling score, of equal scores by what the model
// gave before the activation, then as in the outputs.
func before(x, y candidate) int {
	switch {
	case x.odd != y.odd:
		if x.odd {
			return -1
		}
		return 1
	case !x.odd && x.Score != y.Score:
		return cmp.Compare(y.Score, x.Score)
	case !x.odd && x.raw != y.raw:
		return cmp.Compare(y.raw, x.raw)
	}
	return cmp.Compare(x.at, y.at)
}

// finish sorts, suppresses and cuts down what was found in one sample. labels says that the model gave class numbers.
func (b *boxes) finish(w *workspace, labels bool) *space.Boxes {
	slices.SortFunc(w.found, before)
	how := b.Suppress
	if how == "" {
		if how = "hard"; labels {
			how = "none"
		}
	}
	keep := w.found
	if how != "none" {
		w.keep = suppress(w.keep[:0], w.found[:min(len(w.found), maxCandidates)], how, b)
		keep = w.keep
	}
	keep = keep[:min(len(keep), b.Most)]
	s := &space.Boxes{Items: make([]space.Box, len(keep))}
	if b.win[0] > 0 && b.win[1] > 0 {
		s.H, s.W = float64(b.win[0]), float64(b.win[1])
	}
	for i := range keep {
		x := keep[i].Box
		if s.W > 0 {
			x.Cut = x.X1 <= 0 || x.Y1 <= 0 || x.X2 >= s.W || x.Y2 >= s.H
			if b.Clip && !keep[i].odd {
				x.X1, x.X2 = min(max(x.X1, 0), s.W), min(max(x.X2, 0), s.W)
				x.Y1, x.Y2 = min(max(x.Y1, 0), s.H), min(max(x.Y2, 0), s.H)
			}
		}
		s.Items[i] = x
	}
	return s
}

// suppress appends to keep the boxes of found, which are in order, that remain, at most b.Most, in order.
func suppress(keep, found []candidate, how string, b *boxes) []candidate {
	for i := range found {
		c := &found[i]
		if c.odd && len(keep) < b.Most {
			keep, c.gone = append(keep, *c), true
		}
	}
	for len(keep) < b.Most {
		top := -1
		for i := range found {
			if found[i].gone {
				continue
			}
			if top < 0 || before(found[i], found[top]) < 0 {
				top = i
			}
			if how != "soft" { // in order already
				break
			}
		}
		if top < 0 {
			break
		}
		if how != "soft" {
			found = found[top:]
			top = 0
		}
		best := found[top]
		found[top].gone = true
		sum := best.Score
		mean := [4]float64{best.X1 * sum, best.Y1 * sum, best.X2 * sum, best.Y2 * sum}
		for i := range found {
			c := &found[i]
			if c.gone || c.Label != best.Label {
				continue
			}
			o := overlap(&best.Box, &c.Box)
			switch {
			case how == "soft":
				c.Score *= elementary.Exp(-o * o / b.Sigma)
				c.gone = c.Score < b.Limit
			case o > b.Overlap:
				c.gone = true
				sum += c.Score
				for k, v := range [4]float64{c.X1, c.Y1, c.X2, c.Y2} {
					mean[k] += float64(v * c.Score)
				}
			}
		}
		if how == "weighted" && sum > best.Score {
			best.X1, best.Y1, best.X2, best.Y2 = mean[0]/sum, mean[1]/sum, mean[2]/sum, mean[3]/sum
		}
		keep = append(keep, best)
	}
	return keep
}

// overlap is the intersection of two boxes over their union; 0 if either has no area.
func overlap(x, y *space.Box) float64 {
	w, h := min(x.X2, y.X2)-max(x.X1, y.X1), min(x.Y2, y.Y2)-max(x.Y1, y.Y1)
	a := float64(w * h)
	if !(w > 0 && h > 0 && a > 0) {
		return 0
	}
	return a / (x.Area() + y.Area() - a)
}
