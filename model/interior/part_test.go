package interior_test

import (
	"math/rand/v2"
	"testing"

	"nero/internal/slow"
	"nero/model/interior"
)

// Chain rule: tangents that are carried from the input to a cut, and from there on with the values of the cut
// independent of each other, arrive as those that are carried through at once. Skip connections, where one value of a
// cut depends on another, would count twice if they were not independent.
func TestPartPush(t *testing.T) {
	for _, name := range models {
		t.Run(name, func(t *testing.T) {
			if name == "attention" {
				slow.Test(t)
			}
			if name == "points" {
				t.Skip("another output is of an operator set that has no derivatives")
			}
			m := read(t, file(name))
			x := tensorModel(t, m, interior.Options{Batch: 2})
			in, err := x.Arrays(t.Context(), noise(m, 3, 1))
			if err != nil {
				t.Fatal(err)
			}
			r := rand.New(rand.NewPCG(7, 7))
			tan := make([][]interior.Array, len(in))
			for i := range in {
				for _, a := range in[i] {
					tan[i] = append(tan[i], normal(a.Shape, r))
				}
			}
			want, err := x.Push(t.Context(), in, x.Inputs(), tan)
			if err != nil {
				t.Fatal(err)
			}
			push := func(from, to []string, at, d [][]interior.Array) ([][]interior.Array, [][]interior.Array) {
				t.Helper()
				p, err := x.Part(t.Context(), from, to)
				if err != nil {
					t.Fatal(err)
				}
				v, err := p.Run(t.Context(), at)
				if err != nil {
					t.Fatal(err)
				}
				dv, err := p.Push(t.Context(), at, d)
				if err != nil {
					t.Fatal(err)
				}
				if err := p.Close(); err != nil {
					t.Fatal(err)
				}
				return v, dv
			}
			for _, l := range x.Layers() {
				z, dz := push(x.Inputs(), l.Live, in, tan)
				_, got := push(l.Live, []string{x.Output()}, z, dz)
				for i := range got {
					if e := apart(t, got[i][0], want[i]); !(e < 1e-4) {
						t.Errorf("by way of %s, sample %d: %g apart", l.Name, i, e)
					}
				}
			}
		})
	}
}
