package web_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"nero/present/view"
	"nero/present/words"
	"nero/symmetry/group"
	"nero/symmetry/group/catalog"
)

var update = flag.Bool("update", false, "rewrite testdata")

// The page says numbers and elements as package view does: this test writes what that package says, and format.test.ts
// reads it.
func TestTexts(t *testing.T) {
	type label struct {
		Group   string        `json:"group"`
		Chart   []group.Axis  `json:"chart"`
		Element group.Element `json:"element"`
		Label   string        `json:"label"`
	}
	var out struct {
		Numbers []any   `json:"numbers"`
		Counts  []any   `json:"counts"`
		Labels  []label `json:"labels"`
	}
	r := rand.New(rand.NewPCG(1, 2))
	numbers := []float64{
		0, 1, -1, 0.5, 0.0625, -0.0625, 0.1875, 2.5, 12.345, 99.995, 99.9949, 999.95, 999.94, 1234.5, 1235.5, 99999.5,
		1e5, 1e-3, 0.00099999, 1.5e-7, 1.25e-7, 9.9995, 9.99951,
		250000, 350000, 1e22, 123456789, 0.3, 1. / 3, 1e-300, 5e-324, math.MaxFloat64,
	}
	for range 100 {
		numbers = append(numbers, (r.Float64()-0.5)*math.Pow(10, float64(r.IntN(14)-6)),
			float64(r.IntN(4096)-2048)/math.Pow(2, float64(r.IntN(12))))
	}
	for _, v := range numbers {
		out.Numbers = append(out.Numbers, []any{v, words.Number(v)})
	}
	for _, n := range []int{0, 7, -7, 999, 1000, -1000, 12345, 123456, 1234567, 1000000000} {
		out.Counts = append(out.Counts, []any{n, words.Count(n)})
	}
	for _, entry := range catalog.List() {
		g, err := catalog.Parse(entry.Example)
		if err != nil {
			t.Fatal(err)
		}
		if slices.ContainsFunc(g.Chart(), func(a group.Axis) bool { return a.Name == "p0" }) {
			continue // the page is sent the names of permutations, and never makes one
		}
		elements := []group.Element{g.Identity()}
		if more, err := group.LowDiscrepancy(g, 6, nil); err == nil { // a finite group may have fewer
			elements = append(elements, more...)
		}
		if lattice, err := group.Lattice(g, nil); err == nil {
			elements = append(elements, lattice[:min(4, len(lattice))]...)
			elements = append(elements, lattice[len(lattice)-1])
		}
		for _, e := range elements {
			out.Labels = append(out.Labels, label{g.Name(), g.Chart(), e, view.Label(g, e)})
		}
	}
	var b bytes.Buffer
	list := func(name string, n int, at func(int) any) {
		fmt.Fprintf(&b, "%q: [\n", name)
		for i := range n {
			line, err := json.Marshal(at(i))
			if err != nil {
				t.Fatal(err)
			}
			b.Write(line)
			b.WriteString(map[bool]string{true: "\n]", false: ",\n"}[i == n-1])
		}
	}
	b.WriteString("{")
	list("numbers", len(out.Numbers), func(i int) any { return out.Numbers[i] })
	b.WriteString(", ")
	list("counts", len(out.Counts), func(i int) any { return out.Counts[i] })
	b.WriteString(", ")
	list("labels", len(out.Labels), func(i int) any { return out.Labels[i] })
	b.WriteString("}\n")
	const name = "testdata/texts.json"
	if *update {
		if err := os.WriteFile(name, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	old, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(old, b.Bytes()) {
		t.Errorf("%s is not what package view says: run 'go test ./serve/web -run TestTexts -update' and change "+
			"src/core/format.ts", name)
	}
}
