package weights

import (
	"math/rand/v2"
	"testing"

	"nero/data/tensor"
	"nero/internal/elementary"
	"nero/model/onnx"
	"nero/model/onnx/units"
	"nero/model/onnx/units/unitstest"
)

// The task of the twins: which of three random directions goes furthest along an input of eight numbers.
const (
	inputs, hidden, classes = 8, 16, 3
	points, rounds, late    = 300, 120, 80
)

// student is a network of one hidden layer.
type student struct {
	a [hidden][inputs]float64
	b [hidden]float64
	c [classes][hidden]float64
	d [classes]float64
}

// task draws points and their classes.
func task() (x [points][inputs]float64, y [points]int) {
	r := rand.New(rand.NewPCG(99, 1))
	var teacher [classes][inputs]float64
	for k := range teacher {
		for j := range teacher[k] {
			teacher[k][j] = elementary.Normal(r)
		}
	}
	for i := range x {
		for j := range x[i] {
			x[i][j] = elementary.Normal(r)
		}
		best := 0
		for k := range teacher {
			if product(teacher[k][:], x[i][:]) > product(teacher[best][:], x[i][:]) {
				best = k
			}
		}
		y[i] = best
	}
	return x, y
}

// train learns the task by gradient descent from a seeded start; from a late round on points come in another seeded
// order.
func train(start, order uint64) *student {
	x, y := task()
	r := rand.New(rand.NewPCG(start, 2))
	s := &student{}
	for i := range s.a {
		for j := range s.a[i] {
			s.a[i][j] = 0.5 * elementary.Normal(r)
		}
	}
	for k := range s.c {
		for i := range s.c[k] {
			s.c[k][i] = 0.3 * elementary.Normal(r)
		}
	}
	for round := range rounds {
		if round == late {
			r = rand.New(rand.NewPCG(order, 3))
		}
		for _, i := range r.Perm(points) {
			s.step(x[i], y[i], 0.02)
		}
	}
	return s
}

// step follows the gradient of the cross-entropy at one point.
func (s *student) step(x [inputs]float64, y int, rate float64) {
	var h [hidden]float64
	for i := range h {
		h[i] = max(product(s.a[i][:], x[:])+s.b[i], 0)
	}
	var z [classes]float64
	top := 0.0
	for k := range z {
		z[k] = product(s.c[k][:], h[:]) + s.d[k]
		top = max(top, z[k])
	}
	sum := 0.0
	for k := range z {
		z[k] = elementary.Exp(z[k] - top)
		sum += z[k]
	}
	var back [hidden]float64
	for k := range z {
		g := z[k] / sum
		if k == y {
			g--
		}
		for i := range h {
			back[i] += float64(g * s.c[k][i])
			s.c[k][i] -= float64(rate * float64(g*h[i]))
		}
		s.d[k] -= float64(rate * g)
	}
	for i := range h {
		if h[i] == 0 {
			continue
		}
		for j := range x {
			s.a[i][j] -= float64(rate * float64(back[i]*x[j]))
		}
		s.b[i] -= float64(rate * back[i])
	}
}

// onnx is the network as a file.
func (s *student) onnx() *onnx.Model {
	n := unitstest.New(1)
	x := n.Input("x", tensor.Float32, "N", inputs)
	store := func(shape []int, rows ...[]float64) string {
		var all []float32
		for _, r := range rows {
			for _, v := range r {
				all = append(all, float32(v))
			}
		}
		return n.Const(tensor.FromFloat32(all, shape...))
	}
	var a, c [][]float64
	for i := range s.a {
		a = append(a, s.a[i][:])
	}
	for k := range s.c {
		c = append(c, s.c[k][:])
	}
	h := n.Op("Gemm", []string{x, store([]int{hidden, inputs}, a...), store([]int{hidden}, s.b[:])},
		onnx.AttrInt("transB", 1))
	y := n.Op("Gemm", []string{n.Act("Relu", h), store([]int{classes, hidden}, c...), store([]int{classes}, s.d[:])},
		onnx.AttrInt("transB", 1))
	return n.Done(y, "N", classes)
}

// Two checkpoints from one start have their units in the same places, though their weights differ; two from different
// starts have not, and are closer once units are paired. Neither are the same model.
func TestTrainedTwins(t *testing.T) {
	xs, ys := task()
	first := train(1, 1).onnx()
	x, body := open(t, first)
	body.Probes = nil
	var labels []int
	for i := range 64 {
		p := make([]float32, inputs)
		for j := range p {
			p[j] = float32(xs[i][j])
		}
		body.Probes = append(body.Probes, []tensor.Named{{Name: "x", Tensor: tensor.FromFloat32(p, 1, inputs)}})
		labels = append(labels, ys[i])
	}
	compare := func(m *onnx.Model) *Aligned {
		y, _ := open(t, m)
		r, err := Compare(t.Context(), x, y, body, CompareOptions{Seed: 7, Workers: 2, Labels: labels})
		if err != nil {
			t.Fatal(err)
		}
		if r.Verdict != Different {
			t.Errorf("%s, %v apart", r.Verdict, r.Aligned.Function)
		}
		return r.Aligned
	}
	same, other := compare(train(1, 2).onnx()), compare(train(2, 2).onnx())
	t.Logf("one start: %v to %v, %+v; two: %v to %v, %+v", same.Before, same.After, same.Axes[0], other.Before,
		other.After, other.Axes[0])
	if same.Axes[0].Moved != 0 || !(same.Before < 0.3) || !(same.Axes[0].Correlation > 0.95) {
		t.Errorf("one start: %v apart, %+v", same.Before, same.Axes[0])
	}
	if other.Axes[0].Moved < hidden/2 || !(other.After < other.Before) || !(other.Before > 3*same.Before) {
		t.Errorf("two starts: %v apart, %v paired, %+v", other.Before, other.After, other.Axes[0])
	}
	for k := range other.Path {
		p := other.Path[k]
		t.Logf("t=%v loss %v stored, %v aligned", p.T, p.Stored.Loss, p.Aligned.Loss)
	}
	if p := other.Path[5]; !(p.Aligned.Loss < p.Stored.Loss) {
		t.Errorf("half way: loss %v aligned, %v as stored", p.Aligned.Loss, p.Stored.Loss)
	}
}

// What may be multiplied by a matrix, turned, or scaled together with stored statistics is the same after that.
func TestTurnedTwins(t *testing.T) {
	for name, build := range fixtures() {
		if name == "mobile" {
			continue // what is added to the variances of five norms shows by more than a ten-thousandth in one answer
		}
		if name == "linear" {
			continue // narrow linear layers in a row: many matrices lead to each, and the search takes one at a time
		}
		n, _ := open(t, build(1))
		now, r := n.numbers, rand.New(rand.NewPCG(3, 9))
		kinds := map[string]bool{}
		put := func(moved Numbers, err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
			now = moved.over(now)
		}
		for _, cl := range n.Units.Classes {
			if cl.Fixed == "" {
				e := newElement(n.Units)
				e.places[cl] = shuffled(cl, r)
				put(e.Apply(now))
			}
		}
		for _, m := range n.Units.Moves {
			if m.Kind == units.Matrix || m.Kind == units.Rotation {
				e := newElement(n.Units)
				e.draw(m, r)
				put(e.Apply(now))
				kinds[m.Kind.String()] = true
			}
		}
		for _, m := range n.Units.Norms {
			if m.Stored { // up, so that what is added to the variance matters less
				c := &checker{Network: n.holding(now)}
				all := 1
				for _, u := range m.Unit {
					all *= u.Units
				}
				put(c.scaled(m, c.half(m, all), 4, true))
				kinds["joint scale"] = true
			}
		}
		if len(kinds) == 0 {
			continue
		}
		t.Run(name, func(t *testing.T) {
			twin, err := now.Into(n.Model)
			if err != nil {
				t.Fatal(err)
			}
			if r := verdict(t, n.Model, twin); r.Verdict != SameUpTo || !(r.Aligned.Before > 0.3) {
				t.Errorf("%v: %s", kinds, r.Sentence)
			}
		})
	}
}
