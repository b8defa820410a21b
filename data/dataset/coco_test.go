package dataset

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"nero/data/space"
)

const cocoGood = `{
 "info": {"year": 2017}, "licenses": [],
 "images": [{"id": 10, "file_name": "v/b.png", "width": 30, "height": 20}, {"id": 9, "file_name": "a.png", "width": 30, "height": 20}],
 "categories": [{"id": 18, "name": "dog", "supercategory": "animal"}, {"id": 2, "name": "bicycle"}],
 "annotations": [
  {"id": 501, "image_id": 10, "category_id": 18, "bbox": [4.5, 2, 10.25, 6], "area": 3, "iscrowd": 0, "segmentation": [[1, 2, 3]]},
  {"id": 502, "image_id": 10, "category_id": 2, "bbox": [1, 1, 29.5, 3], "iscrowd": 0},
  {"id": 503, "image_id": 10, "category_id": 2, "bbox": [1, 1, 5, 3], "iscrowd": 1},
  {"id": 504, "image_id": 10, "category_id": 2, "bbox": [1, 1, 0, 3]}
 ]
}`

// instances is a folder of two photos with a file of COCO instances beside it.
func instances(tb interface{ Fatal(...any) }, doc string) fstest.MapFS {
	return memory(map[string][]byte{
		"d/v/b.png": texturePNG(tb, 20, 30), "d/a.png": texturePNG(tb, 20, 30),
		"d/other.png": texturePNG(tb, 1, 1), "i.json": []byte(doc),
	})
}

func TestCOCO(t *testing.T) {
	t.Parallel()
	fsys := instances(t, cocoGood)
	for _, spec := range []Spec{{Images: "d", Targets: "i.json"}, {Images: "d", Format: "coco"}} {
		if spec.Targets == "" {
			fsys["d/i.json"] = fsys["i.json"]
		}
		ds, err := OpenFS(fsys, spec)
		if err != nil {
			t.Fatal(err)
		}
		name := "d/i.json"
		if spec.Targets != "" {
			name = spec.Targets
		}
		want := []string{
			`d: classes are numbered in the order of ` + name +
				`: "bicycle", "dog"; set data.classes to the models' order`,
			`d: 1 boxes without area are left out, first object 504 ("bicycle") of image "v/b.png"`,
			`d: 1 objects marked iscrowd are left out, first object 503 ("bicycle") of image "v/b.png"`,
			`d: 1 boxes reach beyond their photo and are clipped to it, first object 502 ("bicycle") of image "v/b.png"`,
			`d: 1 of 2 photos have no box: nothing is to be found there`,
		}
		if got := strings.Split(notesOf(t, ds), "\n"); !slices.Equal(got, want) {
			t.Errorf("notes %q, want %q", got, want)
		}
		if !slices.Equal(ds.IDs(), []string{"a.png", "v/b.png"}) ||
			!slices.Equal(ds.Files(), []string{"d/a.png", "d/v/b.png", name}) {
			t.Errorf("samples %v, files %v", ds.IDs(), ds.Files())
		}
		s, err := ds.Sample(1)
		if err != nil {
			t.Fatal(err)
		}
		boxes := []space.Box{
			{X1: 4.5, Y1: 2, X2: 14.75, Y2: 8, Score: 1, Label: 1},
			{X1: 1, Y1: 1, X2: 30, Y2: 4, Score: 1, Label: 0, Cut: true},
		}
		if got := boxesOf(t, s).Items; !slices.Equal(got, boxes) {
			t.Errorf("boxes %+v, want %+v", got, boxes)
		}
	}
	ds, err := OpenFS(fsys, Spec{
		Images: "d", Targets: "i.json", Classes: []string{"dog", "bicycle"},
		Cut: Cut{Size: [2]int{8, 8}, Area: [2]float64{0, 1}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(ds.IDs(), []string{"v/b.png#501"}) || !slices.Equal(ds.Labels(), []int{0}) {
		t.Errorf("samples %v, labels %v", ds.IDs(), ds.Labels())
	}
}

// COCO's own order of classes is by id; of texts and numbers with other lengths too.
func TestCOCOClassOrder(t *testing.T) {
	t.Parallel()
	c, err := parseCOCO(
		[]byte(`{"images":[{}],"categories":[{"id":90,"name":"c"},{"id":"b","name":"a"},{"id":100,"name":"d"},{"id":9,"name":"b"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if got := c.classes(); !slices.Equal(got, []string{"b", "a", "c", "d"}) {
		t.Errorf("classes %v", got)
	}
}

func TestCOCORefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, old, new, want string }{
		{
			"outside", "[4.5, 2, 10.25, 6]", "[40, 2, 10, 6]",
			`i.json: image "v/b.png": object 501 ("dog") lies outside of the photo (bbox [40 2 10 6]; the photo has 30 x 20 px): correct it, or look whether the file belongs to this photo`,
		},
		{
			"inverted", "[4.5, 2, 10.25, 6]", "[4.5, 2, -10, 6]",
			`i.json: image "v/b.png": object 501 ("dog") is turned inside out (bbox [4.5 2 -10 6]): exchange its corners, or remove it`,
		},
		{
			"NaN", "[4.5, 2, 10.25, 6]", "[4.5, NaN, 10, 6]",
			`i.json: line 6, byte 361: NaN is no number of JSON: correct the coordinate or remove the object: not finite`,
		},
		{
			"infinite", "[4.5, 2, 10.25, 6]", "[4.5, -Infinity, 10, 6]",
			`i.json: line 6, byte 362: Infinity is no number of JSON: correct the coordinate or remove the object: not finite`,
		},
		{
			"no box", "[4.5, 2, 10.25, 6]", "[]",
			`i.json: object 501 ("dog") has a bbox of 0 numbers, want [x, y, width, height]: complete or remove it`,
		},
		{
			"no such category", `"category_id": 18`, `"category_id": 3`,
			`i.json: object 501 is of the category "3", which is not listed: add it to categories, or remove the object`,
		},
		{
			"no such image", `"image_id": 10, "category_id": 18`, `"image_id": 7, "category_id": 18`,
			`i.json: object 501 is in the image "7", which is not listed: list it, or remove the object`,
		},
		{
			"unknown class", `"dog"`, `"cat"`,
			`i.json: image "v/b.png": object 501 ("cat") is of no class: they are "dog", "bicycle"; correct the name, or add it to data.classes`,
		},
		{
			"no such photo", "a.png", "c.png",
			"i.json lists a photo that is not in d: fetch it, or take it out of the list: open d/c.png: file does " +
				"not exist",
		},
		{
			"path out of the folder", "a.png", "../i.json",
			`i.json: image "9" has the file name "../i.json", want a path below d`,
		},
		{
			"absolute path", "a.png", "/etc/passwd",
			`i.json: image "9" has the file name "/etc/passwd", want a path below d`,
		},
		{
			"other size", `"a.png", "width": 30`, `"a.png", "width": 31`,
			"i.json: has boxes for a photo of 31 x 20 px, but d/a.png has 30 x 20: they belong to another photo or " +
				"to another size of it; take that one, or correct size and boxes",
		},
		{"photo twice", "a.png", "v/b.png", `i.json: two images have the file name "v/b.png": take one out`},
		{
			"id twice", `"id": 9,`, `"id": 10,`,
			`i.json: two images have the id "10": which has the boxes? Number them anew`,
		},
		{"category twice", `"id": 2,`, `"id": 18,`, `i.json: two categories have the id "18": number them anew`},
		{
			"text", `"annotations": [`, `"annotations": "none", "x": [`,
			"i.json: not a file of COCO instances: has string as annotations, which that cannot be",
		},
		{"no images", `"images"`, `"image"`, "i.json: has no list images: not a file of COCO instances"},
		{
			"cut short", `"iscrowd": 1`, `"iscrowd": `,
			"i.json: line 8, byte 599: not JSON: invalid character '}' looking for beginning of value",
		},
		{
			"a list", `{"id": 18,`, `{"id": [1],`,
			"i.json: not a file of COCO instances: an identifier is a list or an object, want a number",
		},
	} {
		doc := strings.Replace(cocoGood, c.old, c.new, 1)
		if doc == cocoGood {
			t.Fatalf("%s: nothing changed", c.name)
		}
		_, err := OpenFS(instances(t, doc), Spec{Images: "d", Targets: "i.json", Classes: []string{"dog", "bicycle"}})
		if err == nil || err.Error() != c.want {
			t.Errorf("%s: error %v, want %s", c.name, err, c.want)
		}
		if strings.HasSuffix(c.want, "not finite") && !errors.Is(err, ErrNotFinite) {
			t.Errorf("%s: %v does not wrap ErrNotFinite", c.name, err)
		}
	}
	_, err := OpenFS(instances(t, cocoGood), Spec{Images: "d", Format: "coco"})
	if want := "d: has no JSON file: name the file of COCO instances with targets"; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

func FuzzCOCO(f *testing.F) {
	f.Add([]byte(cocoGood))
	f.Add([]byte(`{"images":[{"id":1,"file_name":"a.png"}],"categories":[{"id":1,"name":"x"}],"annotations":[{"image_id":1,"category_id":1,"bbox":[1e308,1,1e308,1]}]}`))
	f.Add([]byte(`{"images":[{"id":{}}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		fsys := instances(t, string(b))
		ds, err := OpenFS(fsys, Spec{Images: "d", Targets: "i.json", Fit: [2]int{8, 8}})
		if err != nil {
			return
		}
		for i := range ds.Len() {
			s, err := ds.Sample(i)
			if err != nil {
				t.Fatal(err)
			}
			for _, x := range boxesOf(t, s).Items {
				if !(x.Area() > 0 && x.X1 >= 0 && x.Y1 >= 0 && x.X2 <= 8 && x.Y2 <= 8 && x.Label >= 0) {
					t.Fatalf("box %+v", x)
				}
			}
		}
	})
}
