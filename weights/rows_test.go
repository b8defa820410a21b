package weights

import (
	"math/rand/v2"
	"slices"
	"testing"

	"nero/data/tensor"
	"nero/model/onnx"
	"nero/model/onnx/units/unitstest"

	"pgregory.net/rapid"
)

// Every number of a stored tensor is in the row of its unit, in the order of the tensor: one number after the other by
// their places, as runs are copied by theirs.
func TestRows(t *testing.T) {
	for name, build := range fixtures() {
		n, _ := open(t, build(1))
		for _, cl := range n.Units.Classes {
			if len(cl.Within) > 0 {
				continue
			}
			for _, p := range cl.Stored {
				of := n.numbers[p.Value]
				got, err := rowsOf(n.Units, cl, p.Value, of)
				if err != nil {
					t.Fatal(err)
				}
				val, err := of.Float64s(nil)
				if err != nil {
					t.Fatal(err)
				}
				want := map[int][]float64{}
				for axis, list := range n.Units.Spots(p.Value) {
					inner := tensor.Count(of.Shape[axis+1:])
					for _, s := range list {
						for i, v := range val {
							if u := s.Index[i/inner%of.Shape[axis]]; s.Class == cl && u >= 0 {
								want[int(u)] = append(want[int(u)], v)
							}
						}
					}
				}
				for u := range got {
					if !slices.Equal(got[u], want[u]) {
						t.Errorf("%s: unit %d of %s in %q: %v, want %v", name, u, cl.Label(), p.Value, got[u], want[u])
					}
				}
			}
		}
	}
}

// Products of rows are added up number by number, whatever the pieces and however many goroutines there are.
func TestMeet(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct{ n, long int }{{1, 1}, {3, 64}, {17, 63}, {21, 65}, {5, 200}, {4, 0}} {
		rows := func() [][]float64 {
			out := make([][]float64, c.n)
			for i := range out {
				for range c.long {
					out[i] = append(out[i], r.NormFloat64())
				}
			}
			return out
		}
		a, b, before := rows(), rows(), r.NormFloat64()
		for _, workers := range []int{1, 2, 40} {
			gain := make([][]float64, c.n)
			for i := range gain {
				gain[i] = slices.Repeat([]float64{before}, c.n)
			}
			(&aligner{o: CompareOptions{Workers: workers}}).meet(gain, a, b)
			for i := range gain {
				for j, got := range gain[i] {
					want := before
					for k := range a[i] {
						want += float64(a[i][k] * b[j][k])
					}
					if got != want {
						t.Fatalf("%d rows of %d, %d workers: %g at %d, %d, want %g", c.n, c.long, workers, got, i, j,
							want)
					}
				}
			}
		}
	}
}

// drawn builds a network of random layers, joints and cuts.
func drawn(t *rapid.T) *onnx.Model {
	net := unitstest.New(rapid.Uint64Range(1, 1<<20).Draw(t, "seed"))
	type value struct {
		name string
		wide int
	}
	all := []value{{net.Input("x", tensor.Float32, "N", 4), 4}}
	pick := func(what string) value { return all[rapid.IntRange(0, len(all)-1).Draw(t, what)] }
	put := func(name string, wide int) { all = append(all, value{name, wide}) }
	type layer struct {
		w, b     string
		from, to int
	}
	var layers []layer
	for range rapid.IntRange(2, 7).Draw(t, "layers") {
		v := pick("value")
		switch rapid.IntRange(0, 11).Draw(t, "what") {
		case 0, 1, 2:
			wide := rapid.IntRange(2, 6).Draw(t, "units")
			put(net.Dense(v.name, v.wide, wide), wide)
		case 3, 4:
			op := rapid.SampledFrom([]string{
				"Relu", "Tanh", "Sigmoid", "LeakyRelu", "Abs", "Softsign", "Neg", "Identity", "Erf", "Clip",
			}).Draw(t, "operator")
			put(net.Act(op, v.name), v.wide)
		case 5:
			w := pick("other")
			put(net.Op("Concat", []string{v.name, w.name}, onnx.AttrInt("axis", 1)), v.wide+w.wide)
		case 6:
			w := pick("other")
			for range 3 {
				if w.wide != v.wide {
					w = pick("other")
				}
			}
			if w.wide != v.wide {
				w = value{net.Dense(w.name, w.wide, v.wide), v.wide}
			}
			put(net.Op(rapid.SampledFrom([]string{"Add", "Sub", "Mul", "Max", "Min"}).Draw(t, "joint"),
				[]string{v.name, w.name}), v.wide)
		case 7:
			cut := rapid.IntRange(1, v.wide-1).Draw(t, "cut")
			parts := net.Ops("Split", 2, []string{v.name, net.Ints(int64(cut), int64(v.wide-cut))},
				onnx.AttrInt("axis", 1))
			if cut > 1 {
				put(parts[0], cut)
			}
			if v.wide-cut > 1 {
				put(parts[1], v.wide-cut)
			}
		case 8:
			scale := net.Random(1, 0.2, v.wide)
			put(net.Op("LayerNormalization", []string{v.name, scale, net.Random(0, 0.2, v.wide)},
				onnx.AttrInt("axis", -1)), v.wide)
		case 9: // a layer that may be used again
			l := layer{from: v.wide, to: v.wide + rapid.IntRange(0, 1).Draw(t, "wider")}
			l.w, l.b = net.Random(0, 0.5, l.to, l.from), net.Random(0, 0.3, l.to)
			layers = append(layers, l)
			put(net.Op("Gemm", []string{v.name, l.w, l.b}, onnx.AttrInt("transB", 1)), l.to)
		case 10: // one that is used again
			for _, l := range slices.Backward(layers) {
				if l.from == v.wide {
					put(net.Op("Gemm", []string{v.name, l.w, l.b}, onnx.AttrInt("transB", 1)), l.to)
					break
				}
			}
		default: // heads, and back
			if v.wide%2 != 0 {
				continue
			}
			heads := net.Op("Reshape", []string{v.name, net.Ints(-1, 2, int64(v.wide/2))})
			heads = net.Op("Transpose", []string{heads}, onnx.AttrInts("perm", 0, 2, 1))
			put(net.Op("Reshape", []string{heads, net.Ints(-1, int64(v.wide))}), v.wide)
		}
	}
	last := all[len(all)-1]
	return net.Done(net.Dense(last.name, last.wide, 3), "N", 3)
}

// promised holds a network that was drawn against what its graph promises: nothing is refuted.
func promised(t *rapid.T) {
	m := drawn(t)
	shapes, err := Shapes(m, nil)
	if err != nil {
		t.Fatal(err)
	}
	n, err := Open("model.onnx", m, shapes)
	if err != nil {
		t.Skip(err)
	}
	b := inFloat64(m, shapes, 4)
	r, err := Check(t.Context(), n, b, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range r.Symmetries {
		if s.State == Refuted && s.Kind != "scale invariance" { // which is one up to epsilon alone
			t.Fatalf("%s at %s (%d units in %d blocks, on %v): %s", s.Kind, s.Where, s.Units, s.Blocks, s.Tensors,
				s.Why)
		}
	}
	form, c, err := Canonicalise(t.Context(), n, b)
	if err != nil {
		t.Fatal(err)
	}
	if c.Bad == "" && !c.Good() {
		t.Fatalf("the answers of the canonical form are %g s off", float64(c.Error))
	}
	if len(form) != len(n.numbers) {
		t.Fatalf("%d of %d stored tensors are in the canonical form", len(form), len(n.numbers))
	}
}

func TestDrawnNetworks(t *testing.T) { rapid.Check(t, promised) }

func FuzzDrawn(f *testing.F) { f.Fuzz(rapid.MakeFuzz(promised)) }
