package dataset

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"nero/data/space"
	"nero/internal/outside"
)

// shapeCase is an object of COCO with what pycocotools draws; testdata/cocomasks.py says how both came about.
type shapeCase struct {
	H            int             `json:"h"`
	W            int             `json:"w"`
	Segmentation json.RawMessage `json:"segmentation"`
	Want         []int           `json:"want,omitempty"`
	Packed       string          `json:"packed,omitempty"`
}

// drawn are the run lengths down the columns of what this package draws.
func drawn(s *cocoShape, h, w int) []int {
	at := make([]bool, h*w)
	s.fill(h, w, func(from, to int) {
		for i := from; i < to; i++ {
			at[i] = true
		}
	})
	runs := []int{0}
	for _, in := range at {
		if in != (len(runs)%2 == 0) {
			runs = append(runs, 0)
		}
		runs[len(runs)-1]++
	}
	return runs
}

func (c shapeCase) compare(t *testing.T) {
	t.Helper()
	packed, err := json.Marshal(map[string]any{"size": []int{c.H, c.W}, "counts": c.Packed})
	if err != nil {
		t.Fatal(err)
	}
	plain, err := json.Marshal(map[string]any{"size": []int{c.H, c.W}, "counts": c.Want})
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range [][]byte{c.Segmentation, packed, plain} {
		var s cocoShape
		if err := json.Unmarshal(b, &s); err != nil {
			t.Fatal(err)
		}
		if err := s.check(c.H, c.W); err != nil {
			t.Errorf("%s of %d x %d: %v", b, c.H, c.W, err)
			continue
		}
		if got := drawn(&s, c.H, c.W); !slices.Equal(got, c.Want) {
			t.Errorf("%s of %d x %d: draws %v, pycocotools %v", b, c.H, c.W, got, c.Want)
		}
	}
}

func TestCOCOShapes(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile(filepath.Join("testdata", "cocomasks.json"))
	if err != nil {
		t.Fatal(err)
	}
	var cases []shapeCase
	if err := json.Unmarshal(b, &cases); err != nil {
		t.Fatal(err)
	}
	if len(cases) < 80 {
		t.Fatalf("%d cases", len(cases))
	}
	for _, c := range cases {
		c.compare(t)
	}
}

// TestCOCOShapesLive asks pycocotools itself about polygons that nobody has seen.
func TestCOCOShapesLive(t *testing.T) {
	t.Parallel()
	python := outside.Named(t, outside.Pycocotools)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	cases := make([]shapeCase, 400)
	for i := range cases {
		c := shapeCase{H: 1 + r.IntN(60), W: 1 + r.IntN(60)}
		parts := make([][]float64, 1+r.IntN(3))
		grid := []float64{0.01, 0.1, 0.5, 1}[r.IntN(4)]
		for k := range parts {
			for range 3 + r.IntN(20) {
				for _, n := range []int{c.W, c.H} {
					v := (1.6*r.Float64() - 0.3) * float64(n)
					parts[k] = append(parts[k], float64(int(v/grid))*grid)
				}
			}
		}
		var err error
		if c.Segmentation, err = json.Marshal(parts); err != nil {
			t.Fatal(err)
		}
		cases[i] = c
	}
	in, err := json.Marshal(cases)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), python, filepath.Join("testdata", "cocomasks.py"), "draw")
	cmd.Stdin, cmd.Stderr = bytes.NewReader(in), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var want []shapeCase
	if err := json.Unmarshal(out, &want); err != nil || len(want) != len(cases) {
		t.Fatalf("%d answers, %v", len(want), err)
	}
	for _, c := range want {
		c.compare(t)
	}
}

// drawnCOCO has two photos of 4 x 3 pixels (the second without an object) and objects by columns: a cat in the first
// two, a dog in the second and third, a crowd of dogs in all.
const drawnCOCO = `{
 "images": [{"id": 1, "file_name": "a.png", "width": 4, "height": 3}, {"id": 2, "file_name": "b.png", "width": 4, "height": 3}],
 "categories": [{"id": 18, "name": "dog"}, {"id": 17, "name": "cat"}],
 "annotations": [
  {"id": 5, "image_id": 1, "category_id": 17, "segmentation": [[0, 0, 2, 0, 2, 3, 0, 3]]},
  {"id": 6, "image_id": 1, "category_id": 18, "segmentation": {"size": [3, 4], "counts": [3, 6, 3]}}
 ]
}`

// outlined is a folder of two photos with a file of COCO beside it.
func outlined(tb testing.TB, doc string) fstest.MapFS {
	tb.Helper()
	return fstest.MapFS{
		"d/a.png": file(photoOf(tb, 4, 3)), "d/b.png": file(photoOf(tb, 4, 3)), "i.json": file([]byte(doc)),
	}
}

func TestCOCOMasks(t *testing.T) {
	t.Parallel()
	const v = space.Void
	crowd := `{"id": 7, "image_id": 1, "category_id": 18, "iscrowd": 1, "segmentation": {"size": [3, 4], "counts": [7, 5]}},` + "\n  {\"id\": 5"
	for _, c := range []struct {
		name, old, new string
		spec           Spec
		row            []int32 // of the second row, the columns of all rows being alike
		notes          []string
	}{
		{
			"as it is", "", "",
			Spec{},
			[]int32{1, v, 2, 0},
			[]string{
				`background first: "background", "cat", "dog"`, "1 of 2 photos have no object",
				"data.masks.overlap: last takes the later one",
			},
		},
		{"the last is in front", "", "", Spec{Masks: Masks{Overlap: "last"}}, []int32{1, 2, 2, 0}, nil},
		{
			"classes in another order", "", "",
			Spec{Classes: []string{"dog", "cat", "Background"}},
			[]int32{1, v, 0, 2},
			nil,
		},
		{
			"no background", "", "",
			Spec{Classes: []string{"dog", "cat"}},
			[]int32{1, v, 0, v},
			[]string{"pixels in no object count for nothing"},
		},
		{
			"others count for nothing", "", "",
			Spec{Classes: []string{"background", "dog"}, Masks: Masks{Rest: "void"}},
			[]int32{v, v, 1, 0},
			[]string{"1 objects of other categories count for nothing"},
		},
		{
			"a crowd is behind all", `{"id": 5`, crowd,
			Spec{},
			[]int32{1, v, 2, v},
			[]string{"1 objects marked iscrowd count for nothing"},
		},
		{
			"text of run lengths", `[3, 6, 3]`, `"363"`,
			Spec{},
			[]int32{1, v, 2, 0},
			nil,
		},
	} {
		doc := strings.Replace(drawnCOCO, c.old, c.new, 1)
		for _, guess := range []bool{false, true} {
			spec := c.spec
			spec.Images, spec.Targets, spec.Pixels = "d", "i.json", true
			if !guess {
				spec.Format, spec.Pixels = "coco_masks", false
			}
			ds, err := OpenFS(outlined(t, doc), spec)
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
				break
			}
			if got := truthOf(t, ds, 0).Label[4:8]; !slices.Equal(got, c.row) {
				t.Errorf("%s: the second row is %v, want %v", c.name, got, c.row)
			}
			for _, n := range c.notes {
				if !strings.Contains(notesOf(t, ds), n) {
					t.Errorf("%s: notes %s, want %s", c.name, notesOf(t, ds), n)
				}
			}
			if !slices.Equal(ds.Files(), []string{"d/a.png", "d/b.png", "i.json"}) ||
				ds.Info().Target.Kind != space.KindMask {
				t.Errorf("%s: files %v, target %v", c.name, ds.Files(), ds.Info().Target)
			}
		}
	}
}

// Outlines are of the photo as it lies in the file or as it is shown, as the size in the file says, and are turned
// along.
func TestCOCOMasksTurned(t *testing.T) {
	t.Parallel()
	photo, err := os.ReadFile(filepath.Join("testdata", "photos", "turned-6.png"))
	if err != nil {
		t.Fatal(err)
	}
	ds, err := OpenFS(fstest.MapFS{"d/a.png": file(photo)}, Spec{Images: "d"})
	if err != nil {
		t.Fatal(err)
	}
	h, w := ds.Info().Space.Shape[1], ds.Info().Space.Shape[2]
	if h == w {
		t.Fatal("the photo is square")
	}
	at := func(wide, high, x, y int) *space.Mask {
		doc := fmt.Sprintf(`{"images": [{"id": 1, "file_name": "a.png", "width": %d, "height": %d}],
			"categories": [{"id": 1, "name": "spot"}],
			"annotations": [{"id": 1, "image_id": 1, "category_id": 1, "segmentation": [[%d, %d, %d, %d, %d, %d, %d, %d]]}]}`,
			wide, high, x, y, x+1, y, x+1, y+1, x, y+1)
		ds, err := OpenFS(fstest.MapFS{"d/a.png": file(photo), "i.json": file([]byte(doc))},
			Spec{Images: "d", Targets: "i.json", Format: "coco_masks"})
		if err != nil {
			t.Fatal(err)
		}
		return truthOf(t, ds, 0)
	}
	// Orientation 6: the first row of the file is the right column of what is shown.
	shown, stored := at(w, h, w-1, 2), at(h, w, 2, 0)
	if shown.H != h || shown.W != w || !slices.Equal(shown.Label, stored.Label) || shown.Label[3*w-1] != 1 {
		t.Errorf("shown %v, stored %v", shown, stored)
	}
}

func TestCOCOMasksRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, old, new string
		spec           Spec
		want           string
	}{
		{
			"unknown class", "", "",
			Spec{Classes: []string{"background", "dog"}},
			`i.json: image "a.png": object 5 ("cat") is of no class: they are "background", "dog"; add it to ` +
				`data.classes, or say data.masks.rest: void if all others count for nothing`,
		},
		{
			"no outline", `[[0, 0, 2, 0, 2, 3, 0, 3]]`, `[]`,
			Spec{},
			`i.json: image "a.png": object 5 ("cat") has no outline: a box says nothing of pixels; add the ` +
				`segmentation, remove the object, or read boxes with data.format: coco`,
		},
		{
			"other size", `"size": [3, 4]`, `"size": [4, 3]`,
			Spec{},
			`i.json: image "a.png": object 6 ("dog") has run lengths of size [4 3], want [3, 4], height and width of ` +
				`its photo`,
		},
		{
			"too short", `[3, 6, 3]`, `[3, 6, 2]`,
			Spec{},
			`i.json: image "a.png": object 6 ("dog") has run lengths that are no way through the 12 pixels of its ` +
				`photo: they end at 11; write it again`,
		},
		{"too long", `[3, 6, 3]`, `[3, 6, 4000000000]`, Spec{}, "they end at -1"},
		{"below zero", `[3, 6, 3]`, `[3, -6, 15]`, Spec{}, "object 6 (\"dog\") has number -6 where that cannot be; want polygons"},
		{"text cut off", `[3, 6, 3]`, `"36P"`, Spec{}, "they end at -1"},
		{"text of other letters", `[3, 6, 3]`, `"36\u00e9"`, Spec{}, "they end at -1"},
		{"a number", `[[0, 0, 2, 0, 2, 3, 0, 3]]`, `7`, Spec{}, "neither polygons nor run lengths; want polygons"},
		{
			"half a corner", `2, 3, 0, 3]]`, `2, 3, 0]]`,
			Spec{},
			"has a polygon of 7 numbers, want x and y of three corners or more",
		},
		{
			"far outside", `2, 3, 0, 3]]`, `2, 3000000, 0, 3]]`,
			Spec{},
			"has a corner at y = 3e+06, far outside of its photo of 4 x 3 px",
		},
		{
			"round and round", `[0, 0, 2, 0, 2, 3, 0, 3]`, `[0, 0` + strings.Repeat(", 8, 6, -4, -3", 200) + `]`,
			Spec{},
			"has polygons of 23600 steps, more than any outline in a photo of 4 x 3 px has",
		},
		{
			"size of the photo", `"width": 4, "height": 3}, {"id": 2`, `"width": 5, "height": 3}, {"id": 2`,
			Spec{},
			"i.json: has masks for a photo of 5 x 3 px, but d/a.png has 4 x 3",
		},
		{
			"settings of PNG", "", "",
			Spec{Masks: Masks{Values: []int{1}, Void: []int{2}, VoidColors: [][]int{{1, 2, 3}}}}, // the first is named
			"d: masks.values is for masks in PNG files, these are drawn from the objects of a JSON file: leave it " +
				"out; masks.rest and masks.overlap are for them",
		},
		{"overlap", "", "", Spec{Masks: Masks{Overlap: "first"}}, `masks.overlap is "first", want void or last`},
	} {
		doc := strings.Replace(drawnCOCO, c.old, c.new, 1)
		if c.old != "" && doc == drawnCOCO {
			t.Fatalf("%s: nothing changed", c.name)
		}
		spec := c.spec
		spec.Images, spec.Targets, spec.Format = "d", "i.json", "coco_masks"
		_, err := OpenFS(outlined(t, doc), spec)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %s", c.name, err, c.want)
		}
	}
}

func FuzzCOCOMasks(f *testing.F) {
	f.Add([]byte(drawnCOCO))
	f.Add([]byte(strings.Replace(drawnCOCO, `[3, 6, 3]`, `"363"`, 1)))
	f.Add([]byte(strings.Replace(drawnCOCO, `[[0, 0, 2, 0, 2, 3, 0, 3]]`, `[[-4, 0, 8, 6, 1.5, 1e-9], [1, 1, 1, 1, 1, 1]]`, 1)))
	f.Fuzz(func(t *testing.T, b []byte) {
		ds, err := OpenFS(outlined(t, string(b)), Spec{Images: "d", Targets: "i.json", Format: "coco_masks"})
		if err != nil {
			return
		}
		n := int32(len(ds.Info().Classes))
		for i := range ds.Len() {
			for _, k := range truthOf(t, ds, i).Label {
				if k != space.Void && (k < 0 || k >= n) {
					t.Fatalf("class %d of %d", k, n)
				}
			}
		}
	})
}
