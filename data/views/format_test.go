package views

import (
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/png"
	"math"
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
func opened(file string, spec dataset.Spec, o ...Options) (dataset.Dataset, error) {
	spec.Format, spec.Images = FormatName, file
	return dataset.Formats{Format(append(o, Options{})[0])}.Open(spec)
}

const twice = `object,view,file,label
one,left,p/a.png,cat
one,right,p/b.png,cat
two,right,p/d.png,ant
two,left,p/c.png,ant
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
		!slices.Equal(i.Classes, []string{"ant", "cat"}) || len(i.Notes) != 0 {
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

// Few objects that lack a view are left out and told; of more nothing is said that is not said of the list.
func TestObjectsThatLackViews(t *testing.T) {
	for lacking, want := range map[int]string{
		0: "", 1: `1 of 20 objects lack a view and are left out, the first is "19"`,
		2: `2 of 20 objects lack a view, most of them "right", the first is "18"; runs and audits lay all views`,
	} {
		var list strings.Builder
		list.WriteString("object,view,file\n")
		for i := range 20 {
			fmt.Fprintf(&list, "%d,left,p/a.png\n", i)
			if i < 20-lacking {
				fmt.Fprintf(&list, "%d,right,p/b.png\n", i)
			}
		}
		d, err := opened(write(t, list.String(), map[string]int{"p/a.png": 3, "p/b.png": 3}), dataset.Spec{})
		if lacking > 1 {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%d lack a view: %v", lacking, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(d.Info().Notes, " "); got != want || d.Len() != 20-lacking {
			t.Errorf("%d lack a view: %q, and %d are there", lacking, got, d.Len())
		}
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
		"lost": {strings.Replace(twice, "p/d.png", "p/e.png", 1), whole, nil, `:4: the view "right" of "two": there is no picture "p/e.png"`},
		"a text": {
			`{"object": "1", "views": {"a": {"file": "p/a.png"}, "b": "x"}}`, whole, nil,
			`:1: the view "b" of "1" is a text, and those before are pictures; a list holds one kind of views`,
		},
		"an array": {
			"object,view,file\n1,a,p/a.png\n1,b,p/b.npy\n", whole, nil,
			`:3: the view "b" of "1" is an array, and those before are pictures`,
		},
		"no array": {"object,view,file\n1,a,p/a.npy\n1,b,p/b.npy\n", whole, nil, `:2: the view "a" of "1": there is no array "p/a.npy"`},
		"no pair":  {"object,view,file\n1,a,p/a.png\n2,b,p/b.png\n", whole, nil, "no object has all of the views a, b"},
		"sizes": {
			twice, map[string]int{"p/a.png": 3, "p/b.png": 3, "p/c.png": 5, "p/d.png": 3}, nil, "resize",
		},
		"classes": {twice, whole, []string{"cat", "dog"}, `the label "ant" of "two" is none of the classes cat, dog`},
	} {
		t.Run(name, func(t *testing.T) {
			list := write(t, c.list, c.pixels)
			if strings.HasPrefix(c.list, "{") {
				lines := filepath.Join(filepath.Dir(list), "views.jsonl")
				if err := os.Rename(list, lines); err != nil {
					t.Fatal(err)
				}
				list = lines
			}
			_, err := opened(list, dataset.Spec{Classes: c.classes})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
	if _, err := opened(filepath.Join(t.TempDir(), "none.csv"), dataset.Spec{}); err == nil {
		t.Error("a list that is not there is read")
	}
}

// npy writes an array of float32.
func npy(tb testing.TB, at string, shape string, x ...float32) {
	tb.Helper()
	head := fmt.Sprintf("{'descr': '<f4', 'fortran_order': False, 'shape': %s, }", shape)
	head += strings.Repeat(" ", 63-(len(head)+10)%64) + "\n"
	b := append([]byte("\x93NUMPY\x01\x00"), byte(len(head)), byte(len(head)>>8))
	b = append(b, head...)
	for _, v := range x {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	if err := os.WriteFile(at, b, 0o600); err != nil {
		tb.Fatal(err)
	}
}

// Views may be arrays, all of one shape, and the reference comes first.
func TestArrays(t *testing.T) {
	list := write(t, "object,view,file\n1,a,1a.npy\n1,b,1b.npy\n2,a,2a.npy\n2,b,2b.npy\n", nil)
	dir := filepath.Dir(list)
	for i, name := range []string{"1a", "1b", "2a", "2b"} {
		npy(t, filepath.Join(dir, name+".npy"), "(2,)", float32(i), 0.5)
	}
	for _, first := range []string{"", "b", "none"} {
		d, err := opened(list, dataset.Spec{}, Options{First: []string{first}})
		if err != nil {
			t.Fatal(err)
		}
		want := []float64{2, 3}
		if first == "b" {
			want = []float64{3, 2}
		}
		s, err := d.Sample(1)
		if err != nil {
			t.Fatal(err)
		}
		x, ok := s.Value.(*space.Tensor)
		if !ok || x.Val[0] != want[0] || x.Views[0].Val[0] != want[0] || x.Views[1].Val[0] != want[1] ||
			x.Views[1].Val[1] != 0.5 || !slices.Equal(d.Info().Space.Shape, []int{2}) || len(d.Files()) != 5 {
			t.Errorf("%q first: %+v, %v, %+v", first, s.Value, d.Files(), d.Info())
		}
	}
	npy(t, filepath.Join(dir, "2a.npy"), "(1, 2)", 1, 2)
	want := `views.csv:4: the view "a" of "2" is an array of shape [1 2], and "a" of "1" has [2]; views have one shape`
	if _, err := opened(list, dataset.Spec{}); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
	// a list whose files are apart is the list of somebody who names views
	if _, err := opened(list, dataset.Spec{}, Options{Apart: true}); err == nil || !strings.Contains(err.Error(),
		want) {
		t.Errorf("%v, want %s", err, want)
	}
	npy(t, filepath.Join(dir, "2a.npy"), "(2,)", 1, float32(math.NaN()))
	d, err := opened(list, dataset.Spec{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Sample(1); !errors.Is(err, dataset.ErrNotFinite) || !strings.HasPrefix(err.Error(), "view a: ") {
		t.Errorf("a number that is none: %v", err)
	}
	if d, err = opened(list, dataset.Spec{}, Options{Apart: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Sample(2); err == nil || !strings.HasPrefix(err.Error(), `the view "a" of "2": `) {
		t.Errorf("a number that is none, in a file of its own: %v", err)
	}
}

// Views may be texts, and files may be handed on as they are.
func TestTexts(t *testing.T) {
	d, err := opened(write(t, "object,view,value,label\n1,a,Who?,x\n1,b,\"Who, then?\",x\n", nil), dataset.Spec{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := d.Sample(0)
	if err != nil {
		t.Fatal(err)
	}
	x, ok := s.Value.(*space.Text)
	if !ok || x.Content != "Who?" || len(x.Views) != 2 || x.Views[1].Content != "Who, then?" || s.Label != 0 ||
		len(d.Files()) != 1 || d.Info().Space.Kind != space.KindText {
		t.Errorf("%+v %v", s, d.Files())
	}
	list := write(t, "object,view,file\n1,a,p/a.png\n1,b,p/b.png\n", map[string]int{"p/a.png": 3, "p/b.png": 5})
	if d, err = opened(list, dataset.Spec{}, Options{Bytes: true}); err != nil {
		t.Fatal(err)
	}
	if s, err = d.Sample(0); err != nil {
		t.Fatal(err)
	}
	if x, ok = s.Value.(*space.Text); !ok || !strings.HasPrefix(x.Views[1].Content, "\x89PNG") || len(d.Files()) != 3 {
		t.Errorf("%T %v", s.Value, d.Files())
	}
	list = write(t, "object,view,file\n1,a,p/a.png\n1,b,p/b.png\n", map[string]int{"p/a.png": 3})
	if _, err = opened(list, dataset.Spec{}, Options{Bytes: true}); err == nil ||
		!strings.Contains(err.Error(), `:3: the view "b" of "1": there is no file "p/b.png"`) {
		t.Errorf("a file that is not there: %v", err)
	}
}
