package lint

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"nero/model/onnx/facts"
)

// Tie says which entries of a stored tensor would have to be equal, so that a node keeps elements with the channels
// permuted as they are around it.
type Tie struct {
	// Node is the number of the node in the graph, Name what it is called.
	Node int
	Name string
	// Tensor is the value that the node reads.
	Tensor string
	// Kernel tells weights that values are multiplied by from tables of numbers for channels or places, such as biases.
	Kernel bool
	// To says, by element, which entry an entry should be equal to.
	To map[Element][]int32
}

// tying collects ties.
type tying struct {
	wanted Subgroup
	// nodes whose channels are not permuted, such as those that are the answer's
	last map[int]bool
	list []*Tie
	name func(i int) string
	// stay tells to take channels that contradict each other to stay
	stay bool
	// where they do otherwise
	err error
}

// settled tells whether the ties of a node compose as the elements do. If they do not and may stay, they are forgotten,
// and the node is to be looked at once more.
func (t *tying) settled(i int) bool {
	for _, x := range t.list {
		if x.Node != i {
			continue
		}
		err := x.represents(t.wanted)
		switch {
		case err == nil:
		case !t.stay || t.last[i]:
			t.err = err
			return true
		default:
			t.last[i] = true
			t.list = slices.DeleteFunc(t.list, func(x *Tie) bool { return x.Node == i })
			return false
		}
	}
	return true
}

func (t *tying) add(i int, tensor string, kernel bool, e Element, to []int32) {
	k := slices.IndexFunc(t.list, func(x *Tie) bool { return x.Node == i && x.Tensor == tensor })
	if k < 0 {
		t.list = append(t.list, &Tie{
			Node: i, Name: t.name(i), Tensor: tensor, Kernel: kernel, To: map[Element][]int32{},
		})
		k = len(t.list) - 1
	}
	t.list[k].To[e] = to
}

// ErrStructure says that no weights keep what is asked for.
var ErrStructure = errors.New("the structure breaks it, whatever the weights are")

// Ties finds out how a group of elements would move the entries of all stored weights between the picture and the
// output, if these kept it. Weights may be lopsided: where a row of weights has no partner under an element, the
// nearest
// of those that are left is taken for it, and what is found has to be a representation of the group. The answer is
// taken to be invariant, or a map whose channels stay. An error says at which node that fails; with stay, channels that
// do not tell how they move are taken to stay instead.
func Ties(ctx context.Context, f *facts.Facts, o Options, s Subgroup, stay bool) ([]*Tie, error) {
	l, err := structure(ctx, f, o)
	if err != nil {
		return nil, err
	}
	res := l.res
	for _, x := range res.Losses {
		for _, e := range s.Elements() {
			if slices.Contains(x.Elements, e.String()) {
				return nil, fmt.Errorf("%s (%s) %s: %w", x.Node, x.Op, x.Reason, ErrStructure)
			}
		}
	}
	if res.Structure&s != s {
		return nil, ErrStructure
	}
	w := &weigher{
		l: l, rel: map[string]*[elements]relation{}, tol: o.Tolerance, lost: map[int][]Element{},
		why: map[int][][2]string{}, untied: map[int][]Element{}, unwhy: map[int][][2]string{},
		ties: &tying{
			wanted: s, last: map[int]bool{}, stay: stay, name: func(i int) string { return f.Nodes[i].Name },
		},
	}
	if w.tol == 0 {
		w.tol = DefaultTolerance
	}
	w.lasts(res.Output, map[int]bool{})
	w.follow()
	if w.ties.err != nil {
		return nil, w.ties.err
	}
	return w.tied()
}

// tied are the ties that were found, if they lead to an output that stays.
func (w *weigher) tied() ([]*Tie, error) {
	s := w.ties.wanted
	if lost := w.losses(w.lost, w.why, s.Has); len(lost) > 0 {
		return nil, fmt.Errorf("%s (%s) %s", lost[0].Node, lost[0].Op, lost[0].Reason)
	}
	for _, e := range s.Elements() {
		switch x := w.rel[w.l.res.Output]; {
		case x == nil || x[e].standing != known:
			return nil, unfollowed(w.gaps)
		case x[e].perm != nil:
			return nil, fmt.Errorf("the channels of the answer are permuted under %s, and nothing pools over them", e)
		}
	}
	return w.ties.list, nil
}

// Structure is the largest group that the structure permits, and the rest of the prediction that is known by then:
// [Predict] without shifts and weights. An error says that it is not known.
func Structure(ctx context.Context, f *facts.Facts, o Options) (*Prediction, error) {
	l, err := structure(ctx, f, o)
	if err != nil {
		return nil, err
	}
	return l.res, nil
}

func structure(ctx context.Context, f *facts.Facts, o Options) (*linter, error) {
	p, why, err := findPicture(f, o)
	switch {
	case err != nil:
		return nil, err
	case why != "":
		return nil, errors.New(why)
	}
	res := &Prediction{
		Analyzed: true, Input: p.name, Output: o.Output, Layout: p.layout, Size: [2]int{p.h(), p.w()},
	}
	if outs := f.Model().Signature().Outputs; res.Output == "" && len(outs) > 0 {
		res.Output = outs[0].Name
	}
	l := &linter{f: f, p: p, o: o, res: res}
	if err := l.points(ctx); err != nil {
		return nil, err
	}
	if !res.StructureKnown {
		return nil, unfollowed(res.Unknown)
	}
	return l, nil
}

func unfollowed(gaps []Unknown) error {
	if len(gaps) == 0 {
		return errors.New("the graph could not be followed to its output")
	}
	return fmt.Errorf("%s (%s) could not be followed: %s", gaps[0].Node, gaps[0].Op, gaps[0].Reason)
}

// lasts marks the layers of weights whose channels are those of the answer.
func (w *weigher) lasts(name string, seen map[int]bool) {
	i := w.maker(name)
	if i < 0 || seen[i] {
		return
	}
	seen[i] = true
	n := w.l.f.Model().Proto().GetGraph().GetNode()[i]
	switch op := n.GetOpType(); {
	case slices.Contains([]string{"Conv", "ConvTranspose", "Gemm", "MatMul"}, op):
		w.ties.last[i] = true
	case slices.Contains(unary, op), slices.Contains(nary, op), slices.Contains(handsChannels, op):
		for _, in := range n.GetInput() {
			if in != "" && w.l.f.Depends(in) {
				w.lasts(in, seen)
			}
		}
	}
}

// handsChannels are operators that hand every channel on as one.
var handsChannels = []string{
	"Identity", "Dropout", "Cast", "CastLike", "Clip", "Neg", "MaxPool", "AveragePool", "LpPool", "GlobalAveragePool",
	"GlobalMaxPool", "GlobalLpPool", "Resize", "Upsample", "Flatten", "Squeeze", "Unsqueeze", "Softmax", "LogSoftmax",
	"BatchNormalization", "InstanceNormalization",
}

// tie notes which entries of a layer of weights an element exchanges.
func (w *weigher) tie(i int, e Element, r *rows) relation {
	perm := identity(nil, r.count)
	if !w.ties.last[i] {
		var missing int
		if perm, missing = r.nearest(w.tol); missing >= 0 {
			w.lose(i, e, fmt.Sprintf("has no output channel that reads what channel %d reads under %s", missing, e), "")
			return relation{standing: broken}
		}
	}
	to := make([]int32, len(r.val))
	for o := range r.count {
		for j := range r.length {
			k := r.entry(perm[o], r.moved(r.place(o, j)))
			if k < 0 {
				w.lose(i, e, fmt.Sprintf("has no output channel that reads what channel %d reads under %s", o, e), "")
				return relation{standing: broken}
			}
			to[r.index(o, j)] = int32(r.index(perm[o], k))
		}
	}
	w.ties.add(i, r.weights, true, e, to)
	if r.offsets != "" {
		to := make([]int32, r.count)
		for o, q := range perm {
			to[o] = int32(q)
		}
		w.ties.add(i, r.offsets, false, e, to)
	}
	return relation{standing: known, perm: short(perm)}
}

// looks bounds the products that finding the nearest rows of a layer takes, and glance the entries of a row that are
// compared: some hundred tell rows apart that differ by half of their size.
const (
	looks  = 1 << 28
	glance = 512
)

// nearest is [rows.match] for rows that may have no partner: these take the nearest rows that are left, the nearest
// pair first. missing is a row that nothing is left for that reads the same, or -1.
func (r *rows) nearest(tol float64) (perm []int, missing int) {
	perm = slices.Repeat([]int{-1}, r.count)
	used := make([]bool, r.count)
	largest := 0.0
	for _, v := range r.val {
		largest = max(largest, math.Abs(v))
	}
	off := float64(tol * largest)
	for o := range perm {
		if r.still(o, off) {
			perm[o], used[o] = o, true
		}
	}
	var open, free []int
	for o := range perm {
		if perm[o] < 0 {
			open, free = append(open, o), append(free, o)
		}
	}
	if len(open) == 0 {
		return perm, -1
	}
	// Entries of rows that are looked at, spread evenly.
	n := min(r.length, glance, max(16, looks/(len(open)*len(open))))
	entry := make([]int, n)
	for k := range entry {
		entry[k] = k * r.length / n
	}
	seen := make([][]float64, r.count)
	for _, q := range free {
		seen[q] = make([]float64, n+1)
		for k, j := range entry {
			seen[q][k] = r.at(q, j)
		}
		if r.bias != nil {
			seen[q][n] = r.bias[q]
		}
	}
	type pair struct {
		o, q int
		d    float64
	}
	var all []pair
	for _, o := range open {
		// The row, moved, as the rows that read the same places would hold it; by the first of these places.
		moved := map[int][]float64{}
		for _, q := range free {
			at := r.place(q, 0)
			row, ok := moved[at]
			if !ok {
				row = r.taken(o, q, entry)
				moved[at] = row
			}
			if row == nil {
				continue
			}
			d := 0.0
			for k, x := range seen[q] {
				d += float64((row[k] - x) * (row[k] - x))
			}
			all = append(all, pair{o, q, d})
		}
	}
	slices.SortStableFunc(all, func(a, b pair) int { return cmp.Compare(a.d, b.d) })
	for _, x := range all {
		if perm[x.o] < 0 && !used[x.q] {
			perm[x.o], used[x.q] = x.q, true
		}
	}
	return perm, slices.Index(perm, -1)
}

// still tells whether a row stays as it is when it is moved, up to a difference.
func (r *rows) still(o int, off float64) bool {
	for j := range r.length {
		k := r.entry(o, r.moved(r.place(o, j)))
		if k < 0 || !(math.Abs(r.at(o, j)-r.at(o, k)) <= off) {
			return false
		}
	}
	return true
}

// taken are entries of row o, moved, at the places of row q, and its bias; nil if q does not read the same places.
func (r *rows) taken(o, q int, entry []int) []float64 {
	row := make([]float64, r.length)
	for j := range r.length {
		k := r.entry(q, r.moved(r.place(o, j)))
		if k < 0 {
			return nil
		}
		row[k] = r.at(o, j)
	}
	out := make([]float64, len(entry)+1)
	for i, k := range entry {
		out[i] = row[k]
	}
	if r.bias != nil {
		out[len(entry)] = r.bias[o]
	}
	return out
}

// times is the element that does h and then e.
func (e Element) times(h Element) Element {
	// The place that all elements take to different places.
	y, x := h.place(0, 1, 4, 4)
	y, x = e.place(y, x, 4, 4)
	for k := range Element(elements) {
		if ky, kx := k.place(0, 1, 4, 4); ky == y && kx == x {
			return k
		}
	}
	return Identity
}

// represents tells whether the ties of one tensor compose as the elements do.
func (t *Tie) represents(s Subgroup) error {
	for _, g := range s.Elements() {
		for _, h := range s.Elements() {
			gh := g.times(h)
			if t.To[g] == nil || t.To[h] == nil || gh != Identity && t.To[gh] == nil {
				continue // the identity, or lost, which is told otherwise
			}
			for i, k := range t.To[g] {
				want := int32(i)
				if gh != Identity {
					want = t.To[gh][i]
				}
				if t.To[h][k] != want {
					return fmt.Errorf("the channels of %s do not tell how %s and %s permute them: these and what they "+
						"make together contradict each other", t.Name, g, h)
				}
			}
		}
	}
	return nil
}
