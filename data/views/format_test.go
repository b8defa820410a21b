package views

import (
	"image"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nero/data/dataset"
	"nero/data/space"
)

// write makes a folder of a list and of grey pictures, each of one shade of its own, h pixels high.
func write(tb testing.TB, list string, heights map[string]int) string {
	tb.Helper()
	dir := tb.TempDir()
	for name, h := range heights {
		m := image.NewGray(image.Rect(0, 0, 4, h))
		for i := range m.Pix {
			m.Pix[i] = name[len(name)-5] // a.png is 97
		}
		at := filepath.Join(dir, filepath.FromSlash(name))
		f := new(strings.Builder)
		if err := png.Encode(f, m); err != nil {
			tb.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			tb.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(f.String()), 0o600); err != nil {
			tb.Fatal(err)
		}
	}
	at := filepath.Join(dir, "views.csv")
	if err := os.WriteFile(at, []byte(list), 0o600); err != nil {
		tb.Fatal(err)
	}
	return at
}

// opened opens a list as a study does.
func opened(file string, spec dataset.Spec) (dataset.Dataset, error) {
	spec.Format, spec.Images = Format.Name, file
	return dataset.Formats{Format}.Open(spec)
}

const twice = `object,view,file,label
one,left,p/a.png,cat
one,right,p/b.png,cat
two,right,p/d.png,ant
two,left,p/c.png,ant
three,left,p/a.png,
`

func TestFormat(t *testing.T) {
	// A picture that no line names has another size, and does not matter.
	file := write(t, twice, map[string]int{"p/a.png": 3, "p/b.png": 3, "p/c.png": 3, "p/d.png": 3, "p/z.png": 9})
	d, err := opened(file, dataset.Spec{})
	if err != nil {
		t.Fatal(err)
	}
	i := d.Info()
	if !slices.Equal(d.IDs(), []string{"one", "two"}) || !slices.Equal(d.Labels(), []int{1, 0}) ||
		!slices.Equal(i.Classes, []string{"ant", "cat"}) || len(i.Notes) != 1 ||
		i.Notes[0] != "1 of 3 objects lack a view and are left out" {
		t.Errorf("%q %v %+v", d.IDs(), d.Labels(), i)
	}
	if f := d.Files(); len(f) != 5 || f[0] != file || slices.ContainsFunc(f, func(n string) bool {
		return strings.HasSuffix(n, "z.png")
	}) {
		t.Errorf("files %q", f)
	}
	for k, shades := range []string{"ab", "cd"} {
		s, err := d.Sample(k)
		if err != nil {
			t.Fatal(err)
		}
		m, ok := s.Value.(*space.Image)
		if !ok {
			t.Fatalf("%s: %T", s.ID, s.Value)
		}
		if len(m.Views) != 2 || m.Pix[0] != float64(shades[0]) || m.Views[0].Pix[0] != m.Pix[0] ||
			m.Views[1].Pix[0] != float64(shades[1]) || s.Label != d.Labels()[k] {
			t.Errorf("%s: %v %+v", s.ID, s.Label, m)
		}
	}
	if got := Views(d); !slices.Equal(got, []string{"left", "right"}) {
		t.Errorf("views %q", got)
	}
	if named, err := opened(file, dataset.Spec{Classes: []string{"cat", "dog", "ant"}}); err != nil ||
		!slices.Equal(named.Labels(), []int{0, 2}) {
		t.Errorf("by the names of a study: %v", err)
	}
}

func TestFormatRefuses(t *testing.T) {
	whole := map[string]int{"p/a.png": 3, "p/b.png": 3, "p/c.png": 3, "p/d.png": 3}
	for name, c := range map[string]struct {
		list    string
		pixels  map[string]int
		classes []string
		want    string
	}{
		"lost":    {strings.Replace(twice, "p/d.png", "p/e.png", 1), whole, nil, `:4: the view "right" of "two": there is no picture "p/e.png"`},
		"a text":  {"object,view,value\n1,a,x\n1,b,y\n", whole, nil, `is a text, and pictures are read here; texts are asked about with nero repeat`},
		"no pair": {"object,view,file\n1,a,p/a.png\n2,b,p/b.png\n", whole, nil, "no object has all of the views a, b"},
		"sizes": {
			twice, map[string]int{"p/a.png": 3, "p/b.png": 3, "p/c.png": 5, "p/d.png": 3}, nil, "resize",
		},
		"classes": {twice, whole, []string{"cat", "dog"}, `the label "ant" of "two" is none of the classes cat, dog`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := opened(write(t, c.list, c.pixels), dataset.Spec{Classes: c.classes})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
	if _, err := opened(filepath.Join(t.TempDir(), "none.csv"), dataset.Spec{}); err == nil {
		t.Error("a list that is not there is read")
	}
}
