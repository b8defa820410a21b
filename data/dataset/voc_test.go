package dataset

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"nero/data/space"
)

func TestVOCBadBoxes(t *testing.T) {
	t.Parallel()
	const at = "d/Annotations/a.xml: "
	for _, c := range []struct {
		name  string
		boxes []vocBox
		want  string
	}{
		{
			"unknown class",
			[]vocBox{{"rbc", 1, 1, 2, 2}, {"pla<!-- -->telet", 1, 1, 2, 2}},
			at + `object 2 ("platelet") is of no class: they are "rbc", "wbc"; correct the name, or add it to data.classes`,
		},
		{
			"outside",
			[]vocBox{{"rbc", 31, 5, 40, 9}},
			at + `object 1 ("rbc") lies outside of the photo (xmin 31, ymin 5, xmax 40, ymax 9; the photo has 30 x 20 px): correct it, or look whether the file belongs to this photo`,
		},
		{
			"left of it",
			[]vocBox{{"rbc", -9, 5, 0, 9}},
			at + `object 1 ("rbc") lies outside of the photo (xmin -9, ymin 5, xmax 0, ymax 9; the photo has 30 x 20 px): correct it, or look whether the file belongs to this photo`,
		},
		{
			"inverted",
			[]vocBox{{"rbc", 9, 5, 3, 9}},
			at + `object 1 ("rbc") is turned inside out (xmin 9, ymin 5, xmax 3, ymax 9): exchange its corners, or remove it`,
		},
		{
			"inverted by one",
			[]vocBox{{"rbc", 3, 9, 5, 8}},
			at + `object 1 ("rbc") is turned inside out (xmin 3, ymin 9, xmax 5, ymax 8): exchange its corners, or remove it`,
		},
		{
			"NaN",
			[]vocBox{{"rbc", 1, "NaN", 3, 9}},
			at + `object 1 ("rbc") has a coordinate that is no finite number (xmin 1, ymin NaN, xmax 3, ymax 9): correct it or remove the object: not finite`,
		},
		{
			"infinite",
			[]vocBox{{"rbc", 1, 1, "1e999", 9}},
			at + `object 1 ("rbc") has a coordinate that is no finite number (xmin 1, ymin 1, xmax +Inf, ymax 9): correct it or remove the object: not finite`,
		},
		{
			"no number",
			[]vocBox{{"rbc", 1, 1, "three", 9}},
			at + `line 2: object 1 ("rbc") has xmax "three", want a number of pixels`,
		},
		{"no name", []vocBox{{" ", 1, 1, 3, 9}}, at + `line 2: object 1 has no name: write its class`},
	} {
		_, err := OpenFS(cells(t, c.boxes...), Spec{Images: "d", Classes: []string{"rbc", "wbc"}})
		if err == nil || err.Error() != c.want {
			t.Errorf("%s: error %v, want %s", c.name, err, c.want)
		}
		if strings.Contains(c.want, "not finite") && !errors.Is(err, ErrNotFinite) {
			t.Errorf("%s: %v does not wrap ErrNotFinite", c.name, err)
		}
	}
}

func TestVOCLeavesOut(t *testing.T) {
	t.Parallel()
	fsys := cells(t, vocBox{"x", 5, 5, 5, 5}, vocBox{"y", 2, 7, 9, 7}, vocBox{"x", 0, -3, 4, 9},
		vocBox{"x", 29, 19, 33, 20}, vocBox{"z", 3, 3, 4, 4})
	b := fsys["d/Annotations/a.xml"]
	b.Data = []byte(strings.Replace(string(b.Data), "<name>z</name><difficult>0", "<name>z</name><difficult> 1 ", 1))
	ds, err := OpenFS(fsys, Spec{Images: "d", Format: "voc", Split: "test"})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		`d: classes are numbered in alphabetical order: "x", "y", "z"; set data.classes to the models' order`,
		`d: 2 boxes without area are left out, first object 1 ("x") of d/Annotations/a.xml`,
		`d: 1 objects marked difficult are left out, first object 5 ("z") of d/Annotations/a.xml`,
		`d: 2 boxes reach beyond their photo and are clipped to it, first object 3 ("x") of d/Annotations/a.xml`,
	}
	if got := strings.Split(notesOf(t, ds), "\n"); !slices.Equal(got, want) {
		t.Errorf("notes %q, want %q", got, want)
	}
	s, err := ds.Sample(0)
	if err != nil {
		t.Fatal(err)
	}
	boxes := []space.Box{{X2: 4, Y2: 9, Score: 1, Cut: true}, {X1: 28, Y1: 18, X2: 30, Y2: 20, Score: 1, Cut: true}}
	if got := boxesOf(t, s).Items; !slices.Equal(got, boxes) {
		t.Errorf("boxes %+v, want %+v", got, boxes)
	}
	if files := ds.Files(); !slices.Equal(files,
		[]string{"d/JPEGImages/a.png", "d/ImageSets/Main/test.txt", "d/Annotations/a.xml"}) {
		t.Errorf("files %v", files)
	}
}

func TestVOCFiles(t *testing.T) {
	t.Parallel()
	set := func(name, content string) func(fstest.MapFS) {
		return func(m fstest.MapFS) { m[name] = &fstest.MapFile{Data: []byte(content)} }
	}
	x := vocBox{"x", 1, 1, 3, 3}
	object := "<object><name>x</name><bndbox><xmin>1</xmin><ymin>1</ymin><xmax>2</xmax><ymax>2</ymax></bndbox></object>"
	for _, c := range []struct {
		name   string
		change func(fstest.MapFS)
		spec   Spec
		want   string
	}{
		{
			"other size", set("d/Annotations/a.xml", string(vocXML("a.png", 40, 60, x))),
			Spec{},
			"d/Annotations/a.xml: was written for a photo of 60 x 40 px, but d/JPEGImages/a.png has 30 x 20: its " +
				"boxes belong to another photo or to another size of it; take that one, or correct size and boxes",
		},
		{
			"no XML", func(m fstest.MapFS) { delete(m, "d/Annotations/b.xml") },
			Spec{},
			`d: 1 of 2 photos have no annotation, first missing d/Annotations/b.xml of the photo "b": name their folder with targets, annotate them (with no object where there is none), move them away, list the others in a split, or say targets: none`,
		},
		{
			"two photos", set("d/JPEGImages/a.jpg", string(texturePNG(t, 20, 30))),
			Spec{},
			`d/JPEGImages: two photos are called "a" with different endings, so that one XML would belong to both: rename one`,
		},
		{
			"no split", nil,
			Spec{Split: "train"},
			`d/ImageSets/Main/train.txt: there is no list of the split "train"; there are "test"`,
		},
		{
			"split elsewhere", nil,
			Spec{Split: "../../x"},
			`d/JPEGImages: split is "../../x", want the name of a list in ImageSets/Main without .txt, such as test`,
		},
		{
			"split of a class", set("d/ImageSets/Main/x.txt", "a  1\n"),
			Spec{Split: "x"},
			`d/ImageSets/Main/x.txt: line 1 is "a  1", want one photo's name alone: this looks like the list of one class; name a list of photos`,
		},
		{
			"split with a stranger", set("d/ImageSets/Main/x.txt", "a\r\n\nc\n"),
			Spec{Split: "x"},
			`d/ImageSets/Main/x.txt: line 3 names the photo "c", which is not in d/JPEGImages: add the photo or take the line out`,
		},
		{
			"split with twins", set("d/ImageSets/Main/x.txt", "a\na.png"),
			Spec{Split: "x"},
			`d/ImageSets/Main/x.txt: line 2 names the photo "a.png", which line 1 did already: take one out`,
		},
		{
			"empty split", set("d/ImageSets/Main/x.txt", "\n"),
			Spec{Split: "x"},
			`d/ImageSets/Main/x.txt: names no photo`,
		},
		{
			"classes twice", nil,
			Spec{Classes: []string{"x", "x"}},
			`the classes name "x" twice: each stands for one number`,
		},
		{
			"no folder of targets", nil,
			Spec{Targets: "nowhere"},
			"nowhere: is no folder, want one with an XML file for each photo",
		},
		{
			"labels", nil,
			Spec{Labels: "l.csv"},
			"d: labels are for whole images, this is voc, whose objects have classes: leave labels out",
		},
		{
			"document type", set("d/Annotations/a.xml", `<!DOCTYPE annotation [<!ENTITY a "b">]><annotation/>`),
			Spec{},
			"d/Annotations/a.xml: line 1: a document type or entity: annotations need none, remove it",
		},
		{
			"entity", set("d/Annotations/a.xml", `<annotation><filename>&a;</filename></annotation>`),
			Spec{},
			"d/Annotations/a.xml: not the XML of an annotation: XML syntax error on line 1: invalid character entity " +
				"&a;",
		},
		{
			"cut short", set("d/Annotations/a.xml", `<annotation><object>`),
			Spec{},
			"d/Annotations/a.xml: not the XML of an annotation: XML syntax error on line 1: unexpected EOF",
		},
		{
			"other XML", set("d/Annotations/a.xml", `<svg/>`),
			Spec{},
			"d/Annotations/a.xml: line 1: the element <svg>, want one <annotation> as Pascal VOC has it",
		},
		{
			"nothing", set("d/Annotations/a.xml", ` `),
			Spec{},
			"d/Annotations/a.xml: holds no <annotation>: not an annotation of Pascal VOC",
		},
		{
			"deep", set("d/Annotations/a.xml", "<annotation>"+strings.Repeat("<a>", 99)),
			Spec{},
			"d/Annotations/a.xml: line 1: elements are nested deeper than 64",
		},
		{"incomplete", set("d/Annotations/a.xml", "<annotation>"+strings.Replace(object, "<ymax>2</ymax>", "", 1)+
			"</annotation>"), Spec{}, `d/Annotations/a.xml: line 1: object 1 ("x") has no ymax: complete or remove it`},
		{"two xmin", set("d/Annotations/a.xml", "<annotation>"+strings.Replace(object, "<ymin>", "<xmin>1</xmin><ymin>",
			1)+"</annotation>"), Spec{}, `d/Annotations/a.xml: line 1: object 1 ("x") has two elements xmin, want one`},
		{
			"size", set("d/Annotations/a.xml", "<annotation><size><width>wide</width></size></annotation>"),
			Spec{},
			`d/Annotations/a.xml: line 1: the width is "wide", want a number of pixels`,
		},
	} {
		fsys := cells(t, x)
		if c.change != nil {
			c.change(fsys)
		}
		c.spec.Images, c.spec.Format = "d", "voc"
		_, err := OpenFS(fsys, c.spec)
		if err == nil || err.Error() != c.want {
			t.Errorf("%s: error %v, want %s", c.name, err, c.want)
		}
	}
}

func TestVOCLimits(t *testing.T) {
	t.Parallel()
	many := strings.Repeat("<object/>", maxObjects+1)
	// The first object is refused for being incomplete, so the limit is tried on the parser's own count.
	_, err := parseVOC([]byte("<annotation>" + many))
	wantError(t, err, "object 1", "has no name")
	_, err = parseVOC(make([]byte, maxXML+1))
	wantError(t, err, "more than the 16777216 that an annotation may have")
}

// The parts of persons are no objects, a photo's old name is noted, LabelImg's size 0 says nothing, and XML may lie
// beside.
func TestVOCBeside(t *testing.T) {
	t.Parallel()
	xml := `<?xml version="1.0"?><annotation verified="yes"><filename>IMG_7.JPG</filename><size><width>0</width><height>0</height></size>
<object><name>person</name><bndbox><ymin>2</ymin><xmin>1</xmin><ymax>4.5</ymax><xmax>3</xmax></bndbox>
<part><name>head</name><bndbox><xmin>1</xmin><ymin>1</ymin><xmax>2</xmax><ymax>2</ymax></bndbox></part></object></annotation>`
	fsys := memory(map[string][]byte{"p/x/a.png": texturePNG(t, 9, 9), "p/x/a.xml": []byte(xml)})
	check := func(spec Spec) {
		t.Helper()
		ds, err := OpenFS(fsys, spec)
		if err != nil {
			t.Fatal(err)
		}
		s, err := ds.Sample(0)
		if err != nil {
			t.Fatal(err)
		}
		want := []space.Box{{X1: 0, Y1: 1, X2: 3, Y2: 4.5, Score: 1, Cut: true}}
		if b := boxesOf(t, s); !slices.Equal(b.Items, want) || s.ID != "x/a" || !slices.Equal(s.Tags, []string{"x"}) {
			t.Errorf("%s with tags %v: boxes %+v, want %+v", s.ID, s.Tags, b.Items, want)
		}
		if note := fmt.Sprintf(
			"p: 1 annotations name another photo than that which they lie beside, first %s says %q: the names of the "+
				"files count", ds.Files()[1], "IMG_7.JPG"); !strings.Contains(notesOf(t, ds), note) {
			t.Errorf("notes %q, want %q", notesOf(t, ds), note)
		}
	}
	check(Spec{Images: "p", Format: "voc"})
	fsys["t/x/a.xml"] = fsys["p/x/a.xml"]
	delete(fsys, "p/x/a.xml")
	check(Spec{Images: "p", Format: "voc", Targets: "t"})
	ds, err := OpenFS(fsys, Spec{Images: "p", Format: "voc", Targets: "none"})
	if err != nil {
		t.Fatal(err)
	}
	if s, err := ds.Sample(0); err != nil || s.Target != nil || s.ID != "x/a" {
		t.Errorf("sample %q, target %v, %v", s.ID, s.Target, err)
	}
}

// Two photos of blood cells as they are published. Coordinates are read off the XML.
func TestVOCOfBCCD(t *testing.T) {
	t.Parallel()
	ds, err := Open(Spec{
		Images: "testdata/bccd", Classes: []string{"RBC", "WBC", "Platelets"}, Zoom: 0.6,
		Cut: Cut{Size: [2]int{256, 256}, Window: [2]int{128, 128}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(ds.IDs(), "BloodImage_00001#12") {
		t.Fatalf("samples %v, want BloodImage_00001#12 among them", ds.IDs())
	}
	wantError(t, errors.New(notesOf(t, ds)), `1 boxes without area are left out, first object 4 ("RBC") of `)
	s, err := ds.Sample(slices.Index(ds.IDs(), "BloodImage_00001#12"))
	if err != nil {
		t.Fatal(err)
	}
	if m := pixels(t, s); m.C != 3 || m.H != 256 || m.W != 256 || !(mean(m.Pix) > 100 && mean(m.Pix) < 250) {
		t.Errorf("%d channels, %d x %d, mean %v", m.C, m.W, m.H, mean(m.Pix))
	}
	if b := boxesOf(t, s); b.Items[0].Label != 0 || s.Label != 0 || !slices.Equal(s.Tags, []string{"RBC"}) {
		t.Errorf("key %+v, label %d, tags %v", b.Items[0], s.Label, s.Tags)
	}
	ds, err = Open(Spec{Images: "testdata/bccd", Split: "empty"})
	if err != nil {
		t.Fatal(err)
	}
	if s, err = ds.Sample(0); err != nil {
		t.Fatal(err)
	}
	if b := boxesOf(t, s); len(b.Items) != 11 ||
		b.Items[0] != (space.Box{X1: 483, Y1: 194, X2: 613, Y2: 303, Score: 1, Label: 1}) {
		t.Errorf("%d boxes, first %+v", len(b.Items), b.Items[0])
	}
}

func FuzzVOC(f *testing.F) {
	f.Add(vocXML("a.png", 20, 30, vocBox{"x", 1, 2, 3, 4}))
	f.Add([]byte(`<annotation><object><name>x</name><bndbox><xmin>NaN</xmin></bndbox></object></annotation>`))
	f.Add([]byte(`<annotation><size><width>99999999999</width></size></annotation>`))
	f.Add([]byte("<annotation><object></object>"))
	f.Fuzz(func(t *testing.T, b []byte) {
		v, err := parseVOC(b)
		if err != nil {
			return
		}
		a, err := newAnnotator(nil, func() []string { return []string{"x"} })
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range v.objects {
			o, ok, err := a.object(annotated{
				class: "x", x1: vocEdge(x.edge[0], x.edge[2]),
				y1: vocEdge(x.edge[1], x.edge[3]), x2: x.edge[2], y2: x.edge[3],
			}, "f", &photo{pic: picture{h: 20, w: 30}}, 0)
			if box := o.box; err == nil && ok && !(box.Area() > 0 && box.X1 >= 0 && box.Y1 >= 0 && box.X2 <= 30 &&
				box.Y2 <= 20) {
				t.Fatalf("%+v became %+v", x, box)
			}
		}
	})
}
