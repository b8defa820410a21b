package eval

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"nero/data/dataset"
	"nero/data/space"
	"nero/data/tensor"
	"nero/measure/consensus"
	"nero/measure/metric"
	"nero/model/engine"
	"nero/run/job"
	"nero/symmetry/action"
	"nero/symmetry/group"
	"nero/symmetry/group/catalog"
	"nero/symmetry/orbit"
)

// side is that of the frames below.
const side = 6

// flow is an estimator of vectors from two frames a and b that has all symmetries of the square and of time:
// (b-a)·∇(a+b), with central differences that end at the border. The difference changes its sign when the frames change
// places, the gradient turns with the square. Sums of two numbers do not depend on their order, so that in floating
// point, too, nothing is lost.
func flow[T float32 | float64](a, b []T) (u, v []T) {
	u, v = make([]T, side*side), make([]T, side*side)
	sum := func(r, c int) T {
		k := min(max(r, 0), side-1)*side + min(max(c, 0), side-1)
		return a[k] + b[k]
	}
	for r := range side {
		for c := range side {
			k := r*side + c
			u[k] = (b[k] - a[k]) * (sum(r, c+1) - sum(r, c-1))
			v[k] = (b[k] - a[k]) * (sum(r+1, c) - sum(r-1, c))
		}
	}
	return u, v
}

// pairs is a data set of two frames with the field that [flow] finds as their target.
type pairs struct{ n int }

func (p pairs) Len() int        { return p.n }
func (p pairs) Files() []string { return nil }

func (pairs) Info() dataset.Info { return dataset.Info{} }

func (p pairs) Labels() []int { return nil }
func (p pairs) IDs() []string {
	ids := make([]string, p.n)
	for i := range ids {
		ids[i] = fmt.Sprintf("f%d", i)
	}
	return ids
}

func (p pairs) Sample(i int) (dataset.Sample, error) {
	f := &space.Frames{}
	for t := range 2 {
		m := space.NewImage(1, side, side)
		for k := range m.Pix {
			m.Pix[k] = float64((7*k*k+13*k*(t+1)+5*i+3*t)%31) / 32 // exact in 32 bits
		}
		f.Images = append(f.Images, m)
	}
	target := space.NewField(side, side)
	u, v := flow(f.Images[0].Pix, f.Images[1].Pix)
	copy(target.U(), u)
	copy(target.V(), v)
	return dataset.Sample{ID: fmt.Sprintf("f%d", i), Label: -1, Value: f, Target: target}, nil
}

// estimator is an engine of [flow] with a fault.
type estimator struct{ fault func(u, v []float32) }

func (estimator) Info() engine.Info { return engine.Info{Name: "estimator"} }
func (estimator) Concurrent() bool  { return true }
func (e estimator) Open(context.Context, []byte, engine.Options) (engine.Session, error) {
	return estimating(e), nil
}

type estimating struct{ fault func(u, v []float32) }

func (estimating) Inputs() []string  { return []string{"x"} }
func (estimating) Outputs() []string { return []string{"y"} }
func (estimating) Close() error      { return nil }
func (e estimating) Run(_ context.Context, in []tensor.Named) ([]tensor.Named, error) {
	x, err := in[0].Float32s()
	if err != nil {
		return nil, err
	}
	n := in[0].Shape[0]
	y := make([]float32, 0, 2*side*side*n)
	for p := range slices.Chunk(x, 2*side*side) {
		u, v := flow(p[:side*side], p[side*side:])
		if e.fault != nil {
			e.fault(u, v)
		}
		y = append(append(y, u...), v...)
	}
	return []tensor.Named{{Name: "y", Tensor: tensor.FromFloat32(y, n, 2, side, side)}}, nil
}

type fieldCodec struct{}

func (fieldCodec) In() space.Spec {
	return space.Spec{Kind: space.KindFrames, Shape: []int{2, 1, side, side}}
}

func (fieldCodec) Out() space.Spec {
	return space.Spec{Kind: space.KindField, Shape: []int{2, side, side}}
}

func (fieldCodec) Encode(batch []space.Value, _ []tensor.Named) ([]tensor.Named, error) {
	x := make([]float32, 0, 2*side*side*len(batch))
	for _, v := range batch {
		f, ok := v.(*space.Frames)
		if !ok || len(f.Images) != 2 {
			return nil, errors.New("no pair")
		}
		for _, m := range f.Images {
			for _, p := range m.Pix {
				x = append(x, float32(p))
			}
		}
	}
	return []tensor.Named{{Name: "x", Tensor: tensor.FromFloat32(x, len(batch), 2, side, side)}}, nil
}

func (fieldCodec) Decode(out []tensor.Named, n int) ([]space.Value, error) {
	y, err := out[0].Float32s()
	if err != nil {
		return nil, err
	}
	vs := make([]space.Value, 0, n)
	for p := range slices.Chunk(y, 2*side*side) {
		f := space.NewField(side, side)
		for i, v := range p {
			f.Val[i] = float64(v)
		}
		vs = append(vs, f)
	}
	return vs, nil
}

// estimation is an evaluation over the 16 elements.
func estimation(t *testing.T, n int, names []string, faults ...func(u, v []float32)) *Evaluation {
	t.Helper()
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	g, err := catalog.Parse("D4 x Time")
	must(err)
	in, err := action.Rules().For(g, fieldCodec{}.In(), action.Options{})
	must(err)
	out, err := action.Rules().For(g, fieldCodec{}.Out(), action.Options{})
	must(err)
	target, err := action.NewTarget(g, fieldCodec{}.Out(), action.Options{})
	must(err)
	plan, err := orbit.NewPlan(g, orbit.Spec{All: true}, in, out, 1)
	must(err)
	if len(plan.Elements) != 16 {
		t.Fatalf("%d elements", len(plan.Elements))
	}
	ev := &Evaluation{Data: pairs{n}, Plan: plan, Target: target}
	for _, n := range names {
		m, err := metric.Find(n)
		must(err)
		ev.Metrics = append(ev.Metrics, m)
	}
	for k, f := range faults {
		ev.Models = append(ev.Models, &Model{
			Name: fmt.Sprintf("m%d", k), Codec: fieldCodec{}, Batch: 3,
			Pool: NewPool(estimator{f}, nil, engine.Options{}),
		})
	}
	return ev
}

var flowNames = []string{"rmse", "aee", "rmse@self", "rmse@consensus", "relative", "vorticity_error@self"}

// An estimator with all symmetries makes no error at any element, and differs from its target by rounding alone.
func TestEquivariantFlow(t *testing.T) {
	ev := estimation(t, 3, flowNames, nil)
	for _, r := range rowsOf(t, ev) {
		for i, m := range ev.Metrics {
			limit := 0.
			if m.Ref == metric.Target || m.Ref == metric.Consensus {
				limit = 1e-6
			}
			for k, v := range r.Curves[i] {
				if !(float64(v) <= limit) {
					t.Errorf("%s of %s at %v is %v", m.Name, r.Sample, ev.Plan.Elements[k], v)
				}
			}
		}
		if r.Support != 1 || r.Boxes != nil || r.Top != nil {
			t.Errorf("support %v, boxes %v, classes %v", r.Support, r.Boxes, r.Top)
		}
	}
}

// A constant (1,0) too much is as wrong at every element against the target; pulled back by g it is g⁻¹·(1,0), which is
// at 0, √2 or 2 from (1,0), and over all elements there are as many one way as the other, so the consensus is right.
func TestBiasedFlow(t *testing.T) {
	ev := estimation(t, 2, flowNames, func(u, _ []float32) {
		for i := range u {
			u[i]++
		}
	})
	for _, r := range rowsOf(t, ev) {
		for k, g := range ev.Plan.Elements {
			// The linear part on the column axis, of the inverse: the first row of the matrix, for it is orthogonal.
			// Time reversal negates.
			p, ok := ev.Plan.Group.(group.Planar)
			if !ok {
				t.Fatal("the square acts on the plane")
			}
			a, _ := p.Affine(g)
			x, y := a[0][0], a[0][1]
			if group.Reverses(ev.Plan.Group, g) {
				x, y = -x, -y
			}
			self := math.Hypot(x-1, y) / math.Sqrt2
			for i, want := range map[int]float64{0: 1 / math.Sqrt2, 1: 1, 2: self, 3: 1 / math.Sqrt2} {
				if got := float64(r.Curves[i][k]); !(math.Abs(got-want) < 1e-6) {
					t.Errorf("%s of %s at %v is %v, want %v", ev.Metrics[i].Name, r.Sample, g, got, want)
				}
			}
			if rot := float64(r.Curves[5][k]); !(rot < 1e-6) {
				t.Errorf("a constant has no vorticity: %v at %v", rot, g)
			}
		}
	}
}

// An estimator that does not see which frame came first is wrong by twice its field where time runs backwards, unless a
// mirror makes up for it.
func TestTimelessFlow(t *testing.T) {
	timeless := func(u, v []float32) {
		for i := range u {
			u[i], v[i] = u[i]*u[i], 0
		}
	}
	// u² is even in time and turns into v² under quarter turns: pulled back by time reversal it changes its sign, by
	// mirrors of the columns too.
	ev := estimation(t, 2, []string{"rmse@self"}, timeless)
	for _, r := range rowsOf(t, ev) {
		s, err := ev.At(r.Index)
		if err != nil {
			t.Fatal(err)
		}
		ys, err := ev.Models[0].Predict(t.Context(), []space.Value{s.Value}, 1)
		if err != nil {
			t.Fatal(err)
		}
		f, ok := ys[0].(*space.Field)
		if !ok {
			t.Fatal("no field")
		}
		sum := 0.0
		for _, x := range f.U() {
			sum += x * x
		}
		twice := 2 * math.Sqrt(sum/(2*side*side))
		for k, g := range ev.Plan.Elements {
			p, ok := ev.Plan.Group.(group.Planar)
			if !ok {
				t.Fatal("the square acts on the plane")
			}
			a, _ := p.Affine(g)
			if a[0][0] == 0 {
				continue // quarter turns: another story
			}
			back := group.Reverses(ev.Plan.Group, g)
			want := 0.0
			if (a[0][0] < 0) != back {
				want = twice
			}
			if got := float64(r.Curves[0][k]); !(math.Abs(got-want) < 1e-6) {
				t.Errorf("%s at %v: %v, want %v", r.Sample, g, got, want)
			}
		}
	}
}

// A NaN at one pixel of one prediction is NaN there; the consensus does without that element.
func TestFlowOfNaN(t *testing.T) {
	ev := estimation(t, 1, []string{"rmse", "rmse@consensus"}, func(u, v []float32) {
		if first := v[1]; first > 0 && u[0] > 0 {
			u[3] = float32(math.NaN())
		}
	})
	clean := rowsOf(t, estimation(t, 1, []string{"rmse", "rmse@consensus"}, nil))[0]
	r := rowsOf(t, ev)[0]
	n := 0
	for k := range r.Curves[0] {
		if math.IsNaN(float64(r.Curves[0][k])) {
			n++
			if !math.IsNaN(float64(r.Curves[1][k])) {
				t.Errorf("element %d: NaN against the target, %v against the consensus", k, r.Curves[1][k])
			}
			continue
		}
		if r.Curves[0][k] != clean.Curves[0][k] || !(r.Curves[1][k] < 1e-6) {
			t.Errorf("element %d: %v and %v", k, r.Curves[0][k], r.Curves[1][k])
		}
	}
	if n == 0 || n == 16 || !(math.Abs(float64(r.Support)-float64(16-n)/16) < 1e-6) {
		t.Errorf("%d elements are NaN, support %v", n, r.Support)
	}
}

// The consensus of an estimator without symmetry is the mean of what it says, pulled back; its rows and what
// [Evaluation.Consensus] says agree.
func TestConsensusOfFlow(t *testing.T) {
	bend := func(u, v []float32) {
		for i := range u {
			u[i], v[i] = u[i]+float32(i)/8, v[i]*0.5+1
		}
	}
	ev := estimation(t, 1, []string{"rmse", "rmse@consensus"}, bend)
	r := rowsOf(t, ev)[0]
	s, err := ev.At(0)
	if err != nil {
		t.Fatal(err)
	}
	var at []*space.Field
	mean := make([]float64, 2*side*side)
	for _, g := range ev.Plan.Elements {
		x, err := ev.Plan.In.Apply(g, s.Value)
		if err != nil {
			t.Fatal(err)
		}
		ys, err := ev.Models[0].Predict(t.Context(), []space.Value{x}, 1)
		if err != nil {
			t.Fatal(err)
		}
		z, err := ev.Plan.Out.Apply(ev.Plan.Group.Inv(g), ys[0])
		if err != nil {
			t.Fatal(err)
		}
		f, ok := z.(*space.Field)
		if !ok {
			t.Fatal("no field")
		}
		at = append(at, f)
		for i, v := range f.Val {
			mean[i] += v / 16
		}
	}
	c, err := ev.Consensus(t.Context(), 0, s)
	if err != nil {
		t.Fatal(err)
	}
	got, ok := c.Value.(*space.Field)
	if !ok || c.Share != 1 {
		t.Fatalf("consensus %+v", c)
	}
	for i, v := range got.Val {
		if !(math.Abs(v-mean[i]) < 1e-12) {
			t.Fatalf("number %d is %v, the mean %v", i, v, mean[i])
		}
	}
	for k, f := range at { // distances do not change when both are moved
		sum := 0.0
		for i, v := range f.Val {
			sum += (v - mean[i]) * (v - mean[i])
		}
		if want := math.Sqrt(sum / (2 * side * side)); !(math.Abs(float64(r.Curves[1][k])-want) < 1e-6) {
			t.Errorf("against the consensus at element %d: %v, want %v", k, r.Curves[1][k], want)
		}
	}
	ev.Averaging.Center = consensus.Median
	m, err := ev.Consensus(t.Context(), 0, s)
	if err != nil {
		t.Fatal(err)
	}
	if f, ok := m.Value.(*space.Field); !ok || slices.Equal(f.Val, got.Val) {
		t.Error("the median is the mean")
	}
}

// A consensus that would keep more than there is room for is refused in words, before anything is run to no end.
func TestConsensusTooLarge(t *testing.T) {
	ev := estimation(t, 1, []string{"rmse@consensus"}, nil)
	if err := ev.Prepare(); err != nil {
		t.Fatal(err)
	}
	w, done, err := ev.worker(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	s, err := ev.At(0)
	if err != nil {
		t.Fatal(err)
	}
	big := space.NewField(4096, 1<<12)
	p := w.begin(0, s)
	if err := w.gather(p, &p.tracks[0], 0, big, big); err == nil {
		t.Error("accepted")
	}
	if _, err := ev.Shard(t.Context(), job.Shard{Hi: 1}, nil); err != nil {
		t.Error(err)
	}
}
