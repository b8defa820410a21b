package workload

import (
	"fmt"
	"slices"

	"nero/symmetry/group"

	"github.com/goccy/go-yaml"
)

// defined is what of a group's definition a table of the same group keeps.
type defined struct {
	Name    string `yaml:"name"`
	Space   string `yaml:"space,omitempty"`
	Rows    string `yaml:"rows,omitempty"`
	Program any    `yaml:"program,omitempty"`
	Table   *table `yaml:"table,omitempty"`
}

type table struct {
	Elements        []string                          `yaml:"elements"`
	Products        [][]string                        `yaml:"products"`
	Representations map[string]map[string][][]float64 `yaml:"representations,omitempty"`
}

// tabled is the definition of a group that a program gave as a table: what a run keeps needs no program, and nobody who
// looks at it runs one. Other definitions come back as they are.
func tabled(text string, g group.Group) (string, error) {
	var d defined
	if err := yaml.Unmarshal([]byte(text), &d); err != nil || d.Program == nil {
		return text, nil //nolint:nilerr // the group was loaded from this text: it is no program
	}
	f, ok := g.(group.Finite)
	if !ok {
		return "", fmt.Errorf("%s was given by a program and cannot be listed", g.Name())
	}
	es := f.Elements()
	t := &table{Representations: map[string]map[string][][]float64{}}
	for _, e := range es {
		t.Elements = append(t.Elements, group.Format(g, e))
	}
	for _, a := range es {
		row := make([]string, len(es))
		for j, b := range es {
			ab := g.Mul(a, b)
			k := slices.IndexFunc(es, func(e group.Element) bool { return g.Dist(e, ab) == 0 })
			if k < 0 {
				return "", fmt.Errorf("%s: the product of %s and %s is none of its elements", g.Name(),
					group.Format(g, a), group.Format(g, b))
			}
			row[j] = t.Elements[k]
		}
		t.Products = append(t.Products, row)
	}
	if r, ok := g.(group.Represented); ok {
		for name, dim := range r.Representations() {
			ms := map[string][][]float64{}
			for i, e := range es {
				m, ok := r.Matrix(name, e)
				if !ok {
					return "", fmt.Errorf("%s has no matrix of %s for %s", g.Name(), name, t.Elements[i])
				}
				for k := range dim {
					ms[t.Elements[i]] = append(ms[t.Elements[i]], m[k*dim:(k+1)*dim])
				}
			}
			t.Representations[name] = ms
		}
	}
	d.Program, d.Table = nil, t
	b, err := yaml.Marshal(d)
	return string(b), err
}
