package weights

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"nero/data/tensor"
	"nero/model/onnx"
	"nero/model/onnx/onnxpb"
	"nero/model/onnx/units"
	"nero/present/words"

	"google.golang.org/protobuf/proto"
)

// Unreached are numbers in which two models differ, and which change no answer at any probe. Probes that ask for no row
// of them, or at which the units that they belong to are 0, say nothing of them.
type Unreached struct {
	Numbers int               `json:"numbers"`
	Tensors []UnreachedTensor `json:"tensors"`
}

// UnreachedTensor is a stored tensor with such numbers.
type UnreachedTensor struct {
	Tensor  string `json:"tensor"`
	Numbers int    `json:"numbers"`
}

// text is how many there are, and where.
func (u *Unreached) text() string {
	const most = 3
	var parts []string
	for i, t := range u.Tensors {
		if i == most {
			parts = append(parts, fmt.Sprintf("and others in %s more",
				words.Plural(len(u.Tensors)-most, "tensor", "tensors")))
			break
		}
		parts = append(parts, fmt.Sprintf("%s of %q", words.Count(t.Numbers), t.Tensor))
	}
	return strings.Join(parts, ", ")
}

// change is a number of a stored tensor that becomes another one.
type change struct {
	at int
	to float64
}

// changes are those of stored tensors, in order.
type changes map[string][]change

func (c changes) count() int {
	n := 0
	for _, list := range c {
		n += len(list)
	}
	return n
}

// within are the changes of a tensor at some places.
func (c changes) within(name string, has func(at int) bool) []change {
	return slices.DeleteFunc(slices.Clone(c[name]), func(x change) bool { return !has(x.at) })
}

func byPlace(a, b change) int { return cmp.Compare(a.at, b.at) }

// join adds changes to those that are there.
func (c changes) join(more changes) {
	for name, list := range more {
		all := slices.Concat(c[name], list)
		slices.SortFunc(all, byPlace)
		c[name] = slices.Compact(all)
	}
}

const (
	// mostTensors is how many tensors, and how many axes and tables, are asked about by themselves at most.
	mostTensors = 16
	// fewest is how many numbers that differ as stored are remembered.
	fewest = 1 << 16
	// mostChanges is how many numbers that differ are asked about at most: each takes 16 bytes.
	mostChanges = 1 << 22
)

// unreached finds numbers that differ and that no probe reaches; nil for none. All of them are moved in the first model
// at once; where that changes an answer, those that are known not to be asked for are, and then tensor by tensor.
func (x *aligner) unreached(ctx context.Context, first *answers) (*Unreached, error) {
	sharp, err := x.sharpened()
	if err != nil {
		return nil, err
	}
	differ, err := x.differing(sharp, mostChanges)
	if err != nil {
		return nil, err
	}
	if x.few != nil && (differ == nil || x.few.count() < differ.count()) {
		differ = x.few
	}
	if len(differ) == 0 {
		return nil, nil //nolint:nilnil // there are none
	}
	x.o.Step("numbers that no probe reaches")
	r := rand.New(rand.NewPCG(x.o.Seed^forReach, 0))
	silent, err := x.unfelt(ctx, first, differ, r)
	if err != nil {
		return nil, err
	}
	found := changes{}
	if silent {
		found = differ
	} else if len(differ) > 0 {
		if found, err = x.unasked(ctx, first, differ); err != nil {
			return nil, err
		}
		asked := 0
		for _, name := range x.a.Units.Stored() {
			rest := differ.within(name, func(at int) bool {
				_, has := slices.BinarySearchFunc(found[name], change{at: at}, byPlace)
				return !has
			})
			if asked == mostTensors || len(rest) == 0 || len(rest) == differ.count() {
				continue
			}
			asked++
			one := changes{name: rest}
			if silent, err = x.unfelt(ctx, first, one, r); err != nil {
				return nil, err
			}
			if silent {
				found.join(one)
			}
		}
	}
	out := &Unreached{Numbers: found.count()}
	for _, name := range x.a.Units.Stored() {
		if n := len(found[name]); n > 0 {
			out.Tensors = append(out.Tensors, UnreachedTensor{name, n})
		}
	}
	if out.Numbers == 0 {
		return nil, nil //nolint:nilnil // there are none
	}
	return out, nil
}

// sharpened are the numbers of the second model with units scaled so that most of their numbers are those of the first,
// where most can be: a scale by their norm spreads one number that differs over all of them.
func (x *aligner) sharpened() (Numbers, error) {
	now, g := x.moved, x.a.Units
	for _, m := range g.Moves {
		p, ok := reference(g, m)
		if !ok || m.Kind != units.Positive {
			continue
		}
		a, err := rowsOf(g, m.Class, p.Tensor, x.a.numbers[p.Tensor])
		if err != nil {
			return nil, err
		}
		b, err := rowsOf(g, m.Class, p.Tensor, now[p.Tensor])
		if err != nil {
			return nil, err
		}
		by, changed := make([]float64, len(a)), false
		for u := range by {
			by[u] = 1
			if r, ok := common(a[u], b[u]); ok && r != 1 {
				if by[u], changed = r, true; p.Exp < 0 {
					by[u] = 1 / r
				}
			}
		}
		if !changed {
			continue
		}
		e := newElement(g)
		e.scale(m, by)
		moved, err := e.Apply(now)
		if err != nil {
			return nil, err
		}
		now = moved.over(now)
	}
	return now, nil
}

// common is the factor that takes most numbers of a list to those of another; false where none does.
func common(a, b []float64) (float64, bool) {
	var all []float64
	for i := range a {
		if a[i] != 0 && b[i] != 0 {
			all = append(all, a[i]/b[i])
		}
	}
	if len(all) == 0 {
		return 1, false
	}
	slices.Sort(all)
	r, n := all[len(all)/2], 0
	for _, v := range all {
		if math.Abs(v-r) <= mostApart*math.Abs(r) {
			n++
		}
	}
	return r, r > 0 && !math.IsInf(r, 0) && 2*n > len(a)
}

// differing are the numbers that are further from those of the first than rounding takes them, of tensors that an
// answer depends on; nil where they are more than so many.
func (x *aligner) differing(second Numbers, most int) (changes, error) {
	out, n := changes{}, 0
	live := leading(x.a.Model.Proto().GetGraph())
	for _, name := range x.a.Units.Stored() {
		if !live[name] {
			continue
		}
		p, err := x.a.numbers[name].Float64s(nil)
		if err != nil {
			return nil, err
		}
		q, err := second[name].Float64s(nil)
		if err != nil {
			return nil, err
		}
		large := 0.0
		for _, v := range p {
			large = max(large, math.Abs(v))
		}
		least := float64(large * x.noise(name))
		for i := range p {
			if d := math.Abs(p[i] - q[i]); d > mostApart*max(math.Abs(p[i]), math.Abs(q[i])) && d > least {
				if n++; n > most {
					return nil, nil //nolint:nilnil // too many
				}
				out[name] = append(out[name], change{i, q[i]})
			}
		}
	}
	return out, nil
}

// leading are the values from which a way leads to an answer.
func leading(g *onnxpb.GraphProto) map[string]bool {
	out := map[string]bool{}
	for _, o := range g.GetOutput() {
		out[o.GetName()] = true
	}
	for _, n := range slices.Backward(g.GetNode()) {
		if slices.ContainsFunc(n.GetOutput(), func(o string) bool { return out[o] }) {
			for _, in := range slices.Concat(n.GetInput(), onnx.Captured(n)) {
				out[in] = true
			}
		}
	}
	return out
}

// unfelt tells whether no answer changes when the first model takes some numbers of the second. With a stream each goes
// another part of the way there: all of the way a symmetry that was not found may lead, at whose end nothing shows.
func (x *aligner) unfelt(ctx context.Context, first *answers, some changes, r *rand.Rand) (bool, error) {
	now := Numbers{}
	for _, name := range slices.Sorted(maps.Keys(some)) {
		list := some[name]
		t := x.a.numbers[name]
		p, err := t.Float64s(nil)
		if err != nil {
			return false, err
		}
		for _, c := range list {
			if r == nil {
				p[c.at] = c.to
				continue
			}
			part := 1 - float64(0.45*r.Float64()) // more than half: a type of few digits rounds it to the end
			p[c.at] += float64(part * (c.to - p[c.at]))
		}
		if now[name], err = rounded(t.DType, p, t.Shape); err != nil {
			return false, err
		}
	}
	got, err := x.answers(ctx, now)
	if err != nil {
		return false, err
	}
	apart := first.from(got.of)
	return apart.Bad == "" && apart.Error == 0, nil
}

// unasked are those of some numbers that lie in rows of tables that no probe asks for, or belong to units that are 0 at
// all probes, and that change no answer.
func (x *aligner) unasked(ctx context.Context, first *answers, some changes) (changes, error) {
	tables, err := x.tables(ctx, some)
	if err != nil {
		return nil, err
	}
	dead, err := x.dead(ctx, some)
	if err != nil {
		return nil, err
	}
	parts := slices.Concat(tables, dead)
	all, found := changes{}, changes{}
	for _, c := range parts {
		all.join(c)
	}
	if len(parts) > 1 {
		if silent, err := x.unfelt(ctx, first, all, nil); err != nil || silent {
			return all, err
		}
	}
	for _, c := range parts[:min(len(parts), mostTensors)] {
		if silent, err := x.unfelt(ctx, first, c, nil); err != nil {
			return nil, err
		} else if !silent {
			continue
		}
		found.join(c)
	}
	return found, nil
}

// tables are the numbers of rows that no probe asks for, of each table by itself.
func (x *aligner) tables(ctx context.Context, some changes) ([]changes, error) {
	var out []changes
	for _, n := range x.a.Model.Proto().GetGraph().GetNode() {
		if n.GetOpType() != "Gather" || len(some[n.GetInput()[0]]) == 0 || onnx.Int(n, "axis", 0) != 0 {
			continue
		}
		name := n.GetInput()[0]
		rows := x.a.numbers[name].Shape[0]
		asked, err := x.rowsAsked(ctx, n.GetInput()[1], rows)
		if err != nil {
			return nil, err
		}
		if asked == nil {
			continue
		}
		inner := x.a.numbers[name].Len() / rows
		rest := some.within(name, func(at int) bool { return !asked[at/inner] })
		if len(rest) > 0 {
			out = append(out, changes{name: rest})
		}
	}
	return out, nil
}

// rowsAsked are the rows that an index asks for at the probes; nil where the index cannot be looked at.
func (x *aligner) rowsAsked(ctx context.Context, index string, rows int) ([]bool, error) {
	out := make([]bool, rows)
	note := func(t tensor.Tensor) error {
		val, err := t.Float64s(nil)
		if err != nil {
			return err
		}
		for _, v := range val {
			if v < 0 {
				v += float64(rows)
			}
			if v >= 0 && v < float64(rows) {
				out[int(v)] = true
			}
		}
		return nil
	}
	for _, p := range x.body.Probes {
		i := slices.IndexFunc(p, func(t tensor.Named) bool { return t.Name == index })
		if i < 0 {
			break
		}
		if err := note(p[i].Tensor); err != nil {
			return nil, err
		}
	}
	switch signature := x.a.Model.Signature(); {
	case slices.ContainsFunc(signature.Inputs, func(p onnx.Port) bool { return p.Name == index }):
		return out, nil
	case !slices.Contains(x.a.Model.Values(), index):
		return nil, nil //nolint:nilnil // nobody can say
	}
	return out, x.body.each(ctx, x.a.Model, []string{index}, func(_ int, got []tensor.Named) error {
		for _, t := range got {
			if t.Name == index {
				return note(t.Tensor)
			}
		}
		return fmt.Errorf("the engine returns no value %q", index)
	})
}

// dead are the numbers of units that are 0 at all probes where they are last seen, of each class by itself.
func (x *aligner) dead(ctx context.Context, some changes) ([]changes, error) {
	var asked []request
	for _, cl := range x.a.Units.Classes {
		if values := x.a.seen(cl); cl.Fixed == "" && len(values) > 0 {
			asked = append(asked, request{cl, values[len(values)-1]})
		}
	}
	if len(asked) == 0 {
		return nil, nil
	}
	rows, err := x.body.activations(ctx, x.a.Model, x.a.Units, asked, samples)
	if err != nil {
		return nil, err
	}
	var out []changes
	for k, r := range asked {
		found := changes{}
		for _, p := range r.class.Stored {
			if len(some[p.Value]) == 0 || found[p.Value] != nil {
				continue
			}
			t := x.a.numbers[p.Value]
			at := make([]float64, t.Len())
			for i := range at {
				at[i] = float64(i)
			}
			places, err := rounded(tensor.Float64, at, t.Shape)
			if err != nil {
				return nil, err
			}
			of, err := rowsOf(x.a.Units, r.class, p.Value, places)
			if err != nil {
				return nil, err
			}
			off := make([]bool, len(at))
			for u, row := range rows[k] {
				if slices.ContainsFunc(row, func(v float64) bool { return v != 0 }) {
					continue
				}
				for _, v := range of[u] {
					off[int(v)] = true
				}
			}
			found[p.Value] = some.within(p.Value, func(at int) bool { return off[at] })
		}
		if maps.DeleteFunc(found, func(_ string, list []change) bool { return len(list) == 0 }); len(found) > 0 {
			out = append(out, found)
		}
	}
	return out, nil
}

// unusedApart are the stored tensors that no node reads, and that only one of two models has, or has otherwise.
func unusedApart(a, b *onnx.Model) []string {
	x, y := unused(a), unused(b)
	var out []string
	for _, name := range slices.Sorted(maps.Keys(x)) {
		if !proto.Equal(x[name], y[name]) {
			out = append(out, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(y)) {
		if x[name] == nil {
			out = append(out, name)
		}
	}
	return out
}

// unused are the stored tensors that no node reads.
func unused(m *onnx.Model) map[string]*onnxpb.TensorProto {
	g := m.Proto().GetGraph()
	read := map[string]bool{}
	for _, n := range g.GetNode() {
		for _, in := range slices.Concat(n.GetInput(), onnx.Captured(n)) {
			read[in] = true
		}
	}
	for _, o := range g.GetOutput() {
		read[o.GetName()] = true
	}
	out := map[string]*onnxpb.TensorProto{}
	for _, t := range g.GetInitializer() {
		if !read[t.GetName()] {
			out[t.GetName()] = t
		}
	}
	return out
}
