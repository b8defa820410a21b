package builtin

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"nero/data/particle"
	"nero/data/tensor"
	"nero/model/engine"
)

// The errors of dense blocks, px rms at least 16 px from the border, of pairs that lose 5 % of their particles. What
// shear and turning add is less than with windows that know one displacement each: frames are warped by what is known.
func TestErrorsOfBlocks(t *testing.T) {
	const size = 96
	for _, c := range []struct {
		name, text string
		flow       particle.Flow
		noise      float64
		most       float64
	}{
		{"uniform", "blocks", particle.Uniform{U: 3.3, V: -1.7}, 0, 0.06},
		{"uniform, large", "blocks?search=24", particle.Uniform{U: -17.4, V: 9.2}, 0, 0.09},
		{"uniform, noise", "blocks", particle.Uniform{U: -5.6, V: 0.25}, 3, 0.06},
		{"shear", "blocks", shear(0.04), 0, 0.06},
		{"turn", "blocks", turn(0.04), 0, 0.06},
		{"strong turn", "blocks", turn(0.1), 0, 0.12},
		{"uniform, large blocks", "blocks?block=32", particle.Uniform{U: 3.3, V: -1.7}, 0, 0.035},
	} {
		a, b := pair(t, c.flow, size, c.noise)
		f, err := open(t, c.text).solve(t.Context(), a, b)
		if err != nil {
			t.Fatal(err)
		}
		e := rms(f, c.flow, size, 16)
		t.Logf("%s, %s: %.4f px", c.text, c.name, e)
		if !(e <= c.most) {
			t.Errorf("%s, %s: %.4f px rms; want at most %g", c.text, c.name, e, c.most)
		}
	}
}

// element is one of the 16 of the square and of time, on pictures of any sides: a mirror first, then quarter turns,
// then an exchange of the frames.
type element struct {
	quarters     int
	mirror, swap bool
}

func (e element) String() string {
	return fmt.Sprintf("mirror %v, %d quarter turns, frames exchanged %v", e.mirror, e.quarters, e.swap)
}

// array moves numbers of h rows and w columns and returns the new sides.
func (e element) array(p []float64, h, w int) ([]float64, int, int) {
	if e.mirror {
		q := make([]float64, len(p))
		for i := range p {
			q[i/w*w+w-1-i%w] = p[i]
		}
		p = q
	}
	for range e.quarters { // counter-clockwise
		q := make([]float64, len(p))
		for y := range h {
			for x := range w {
				q[(w-1-x)*h+y] = p[y*w+x]
			}
		}
		p, h, w = q, w, h
	}
	return p, h, w
}

// pictures and field move both, the arrows too.
func (e element) pictures(a, b *Picture) (*Picture, *Picture) {
	move := func(p *Picture) *Picture {
		pix, h, w := e.array(p.Pix, p.H, p.W)
		return &Picture{h, w, pix}
	}
	a, b = move(a), move(b)
	if e.swap {
		return b, a
	}
	return a, b
}

func (e element) field(f *Field, h, w int) *Field {
	u, _, _ := e.array(f.U, h, w)
	v, _, _ := e.array(f.V, h, w)
	g := &Field{append([]float64(nil), u...), append([]float64(nil), v...)}
	for i := range g.U {
		u, v := g.U[i], g.V[i]
		if e.mirror {
			u = -u
		}
		for range e.quarters {
			u, v = v, -u
		}
		if e.swap {
			u, v = -u, -v
		}
		g.U[i], g.V[i] = u, v
	}
	return g
}

// All 16 elements move the answers of blocks to the last bit, whatever the sides are: even, odd, different, with
// pictures that mean something and with ones that do not.
func TestBlocksMoveExactly(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	noise := func(h, w, levels int) *Picture {
		p := &Picture{h, w, make([]float64, h*w)}
		for i := range p.Pix {
			p.Pix[i] = float64(rng.IntN(levels))
		}
		return p
	}
	type frames struct {
		name, text string
		a, b       *Picture
	}
	a, b := pair(t, turn(0.1), 48, 3)
	all := []frames{{"particles", "blocks", a, b}}
	for _, s := range [][2]int{{17, 17}, {31, 24}, {24, 33}, {16, 41}, {35, 35}} {
		all = append(all, frames{fmt.Sprint("noise "+
			"", s), "blocks?passes=2", noise(s[0], s[1], 256), noise(s[0], s[1], 256)})
	}
	all = append(all, // few levels: many scores are equal
		frames{"ties", "blocks?block=4&passes=1&search=5", noise(21, 18, 2), noise(21, 18, 2)},
		frames{"one frame twice", "blocks?block=8", a, a})
	for _, c := range all {
		m := open(t, c.text)
		f, err := m.solve(t.Context(), c.a, c.b)
		if err != nil {
			t.Fatal(err)
		}
		for k := 1; k < 16; k++ {
			e := element{k % 4, k/4%2 == 1, k/8 == 1}
			pa, pb := e.pictures(c.a, c.b)
			got, err := m.solve(t.Context(), pa, pb)
			if err != nil {
				t.Fatal(err)
			}
			want := e.field(f, c.a.H, c.a.W)
			for i := range got.U {
				if got.U[i] != want.U[i] || got.V[i] != want.V[i] {
					t.Fatalf("%s, %v: (%v, %v) at %d; want (%v, %v)", c.name, e, got.U[i], got.V[i], i, want.U[i],
						want.V[i])
				}
			}
		}
	}
}

// Frames that differ in brightness and contrast show the same motion.
func TestBlocksKnowNoBrightness(t *testing.T) {
	const size = 64
	flow := particle.Uniform{U: 2.4, V: 1.1}
	a, b := pair(t, flow, size, 0)
	for i := range b.Pix {
		b.Pix[i] = 40 + 0.5*b.Pix[i]
	}
	f, err := open(t, "blocks").solve(t.Context(), a, b)
	if err != nil {
		t.Fatal(err)
	}
	if e := rms(f, flow, size, 16); !(e <= 0.07) {
		t.Errorf("%.4f px rms", e)
	}
}

// Pictures of all sizes from that of a block on are answered, with numbers; smaller ones are refused by a sentence that
// says what helps.
func TestHostileSizes(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 9))
	for _, text := range []string{
		"blocks?block=4&search=128", "blocks?block=4&search=1&passes=0",
		"piv?window=4&search=128",
	} {
		m := open(t, text)
		for _, s := range [][2]int{{4, 4}, {4, 5}, {5, 4}, {7, 4}, {4, 31}, {9, 9}} {
			a, b := &Picture{H: s[0], W: s[1]}, &Picture{H: s[0], W: s[1]}
			for range s[0] * s[1] {
				a.Pix, b.Pix = append(a.Pix, rng.Float64()), append(b.Pix, rng.Float64())
			}
			f, err := m.solve(t.Context(), a, b)
			if err != nil {
				t.Fatal(text, s, err)
			}
			for i := range f.U {
				if math.IsNaN(f.U[i]) || math.IsNaN(f.V[i]) || math.Abs(f.U[i]) > 200 || math.Abs(f.V[i]) > 200 {
					t.Fatalf("%s, %v: (%v, %v)", text, s, f.U[i], f.V[i])
				}
			}
		}
		for _, s := range [][2]int{{3, 9}, {9, 3}, {1, 1}, {0, 0}} {
			p := &Picture{s[0], s[1], make([]float64, s[0]*s[1])}
			if _, err := m.solve(t.Context(), p, p); err == nil || !strings.Contains(err.Error(), "; set ") {
				t.Errorf("%s, %v: %v", text, s, err)
			}
		}
	}
}

// A pixel that is no number leaves nothing to say of its pair, and does not touch the others of the batch.
func TestNotFinitePixels(t *testing.T) {
	a, b := pair(t, particle.Uniform{U: 1}, 32, 0)
	for _, text := range []string{"piv", "blocks"} {
		s, err := open(t, text).Engine().Open(t.Context(), nil, engine.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
			var in []float32
			for range 2 {
				for _, p := range []*Picture{a, b} {
					for _, v := range p.Pix {
						in = append(in, float32(v))
					}
				}
			}
			in[3000] = float32(bad)
			out, err := s.Run(t.Context(), []tensor.Named{{Name: "pair", Tensor: tensor.FromFloat32(in, 2, 2, 32, 32)}})
			if err != nil {
				t.Fatal(err)
			}
			y, err := out[0].Float64s(nil)
			if err != nil {
				t.Fatal(err)
			}
			for i, v := range y {
				if first := i < len(y)/2; math.IsNaN(v) == first {
					t.Fatalf("%s, %v in the second pair: %v at %d", text, bad, v, i)
				}
			}
		}
	}
}
