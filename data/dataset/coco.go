package dataset

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// cocoFormat is photos with boxes as COCO has them.
var cocoFormat = &Format{
	Name: "coco", Doc: "Photos with boxes in a JSON file of COCO instances.",
	Sniff: Sniff{Folder: func(_ fs.FS, _, targets string) bool {
		return strings.EqualFold(path.Ext(targets), ".json")
	}},
	Options: []Option{WithTargets, WithNoTargets, WithClasses, WithShape, WithOrient},
	Refuse:  noArray,
	Pixels:  cocoMasksFormat,
	Open: reads(func(o opener, s Spec) (Dataset, error) {
		if s.Targets == none {
			return o.openFolder(s)
		}
		return o.openCOCO(s)
	}),
}

// maxCOCO bounds a file of COCO instances; those of all 118,000 training photos take 450 MB.
const maxCOCO = 512 << 20

// cocoFile is what is read of a file of COCO instances.
type cocoFile struct {
	Images []struct {
		ID       cocoID `json:"id"`
		FileName string `json:"file_name"`
		Width    int    `json:"width"`
		Height   int    `json:"height"`
	} `json:"images"`
	Annotations []cocoObject   `json:"annotations"`
	Categories  []cocoCategory `json:"categories"`
}

// cocoObject is an object in a photo, without its outline.
type cocoObject struct {
	ID       cocoID    `json:"id"`
	Image    cocoID    `json:"image_id"`
	Category cocoID    `json:"category_id"`
	BBox     []float64 `json:"bbox"`
	Crowd    cocoID    `json:"iscrowd"`
}

// crowded tells whether the object stands for several that nobody told apart.
func (x cocoObject) crowded() bool { return x.Crowd == "1" || x.Crowd == "true" }

// cocoCategory is a class.
type cocoCategory struct {
	ID   cocoID `json:"id"`
	Name string `json:"name"`
}

// cocoID is a number or a text that stands for something: its characters.
type cocoID string

// UnmarshalJSON takes a number, a text, true or false.
func (id *cocoID) UnmarshalJSON(b []byte) error {
	switch {
	case bytes.Equal(b, []byte("null")):
		return nil
	case b[0] == '{' || b[0] == '[':
		return errors.New("an identifier is a list or an object, want a number")
	case b[0] == '"':
		var s string
		if err := json.Unmarshal(b, &s); err != nil {
			return err
		}
		*id = cocoID(s)
		return nil
	}
	*id = cocoID(b)
	return nil
}

// parseCOCO reads a file of COCO instances. Everything but file names and sizes of images, boxes, classes and crowd
// marks is passed over.
func parseCOCO(b []byte) (cocoFile, error) {
	var c cocoFile
	if err := json.Unmarshal(b, &c); err != nil {
		if se := (*json.SyntaxError)(nil); errors.As(err, &se) {
			at := min(max(int(se.Offset)-1, 0), len(b))
			line := 1 + bytes.Count(b[:at], []byte("\n"))
			// What Python's json writes for numbers that are none.
			for _, word := range []string{"NaN", "Infinity"} {
				if bytes.HasPrefix(b[at:], []byte(word)) {
					return c, fmt.Errorf(
						"line %d, byte %d: %s is no number of JSON: correct the coordinate or remove the object: %w",
						line, at, word, ErrNotFinite)
				}
			}
			return c, fmt.Errorf("line %d, byte %d: not JSON: %w", line, at, err)
		}
		return c, fmt.Errorf("not a file of COCO instances: %w", unlike(err))
	}
	if len(c.Images) == 0 {
		return c, errors.New("has no list images: not a file of COCO instances")
	}
	return c, nil
}

// unlike says which value of a JSON file is of a kind that cannot be there, without the names of types.
func unlike(err error) error {
	u, ok := errors.AsType[*json.UnmarshalTypeError](err)
	switch {
	case !ok:
		return err
	case u.Field == "":
		return fmt.Errorf("has %s where that cannot be", u.Value)
	}
	return fmt.Errorf("has %s as %s, which that cannot be", u.Value, u.Field)
}

// openCOCO opens a folder of photos with the boxes of a file of COCO instances.
func (o opener) openCOCO(spec Spec) (Dataset, error) {
	l, err := o.listCOCO(spec, "boxes")
	if err != nil {
		return nil, err
	}
	l.raw, l.d.known = nil, true
	if err := l.boxes(spec); err != nil {
		return nil, inFile(l.name, err)
	}
	if err := l.d.open(spec); err != nil {
		return nil, err
	}
	return l.d, nil
}

// cocoListing is a file of COCO instances with the photos that it lists.
type cocoListing struct {
	d    *photos
	name string
	raw  []byte
	c    cocoFile
	// the photos by the ids of their images, and how what the file says of them is to be turned
	where map[cocoID]*photo
	turns map[cocoID]orientation
}

// listCOCO reads a file of COCO instances, Targets or the one JSON file in the folder, and the headers of the photos
// that it lists. Messages call what it has of them so.
func (o opener) listCOCO(spec Spec, what string) (*cocoListing, error) {
	name := spec.Targets
	if name == "" {
		var err error
		if name, err = o.findJSON(spec.Images); err != nil {
			return nil, err
		}
	}
	b, err := readLimited(o.fsys, name, maxCOCO)
	if err != nil {
		return nil, inFile(name, err)
	}
	c, err := parseCOCO(b)
	if err != nil {
		return nil, inFile(name, err)
	}
	f := newFolder(o.fsys, spec)
	image := map[string]int{} // position in c.Images by path
	for i, m := range c.Images {
		p := strings.ReplaceAll(m.FileName, `\`, "/")
		if !fs.ValidPath(p) || p == "." {
			return nil, fmt.Errorf("%s: image %s has the file name %s, want a path below %s", name, clip(string(m.ID)),
				clip(m.FileName), spec.Images)
		}
		if _, ok := image[p]; ok {
			return nil, fmt.Errorf("%s: two images have the file name %s: take one out", name, clip(p))
		}
		image[p] = i
		f.paths = append(f.paths, p)
	}
	slices.Sort(f.paths)
	if err := f.measure(); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%s lists a photo that is not in %s: fetch it, or take it out of the list: %w", name,
				spec.Images, err)
		}
		return nil, inFile(f.root, err)
	}
	d := f.photos(o)
	d.files = []string{name}
	where := make(map[cocoID]*photo, len(d.items))
	turns := make(map[cocoID]orientation, len(d.items))
	for i := range d.items {
		p := &d.items[i]
		m := c.Images[image[f.paths[i]]]
		turn, ok := p.stored(m.Height, m.Width)
		if !ok {
			return nil, fmt.Errorf(
				"%s: has %s for a photo of %d x %d px, but %s has %d x %d: they belong to another photo or to "+
					"another size of it; take that one, or correct size and %s",
				name, what, m.Width, m.Height, p.file, p.pic.w, p.pic.h, what)
		}
		if where[m.ID] != nil {
			return nil, fmt.Errorf("%s: two images have the id %s: which has the %s? Number them anew", name,
				clip(string(m.ID)), what)
		}
		where[m.ID], turns[m.ID] = p, turn
	}
	return &cocoListing{d: d, name: name, raw: b, c: c, where: where, turns: turns}, nil
}

// named are the names of the categories.
func (c cocoFile) named() (map[cocoID]string, error) {
	category := map[cocoID]string{}
	for _, k := range c.Categories {
		if _, ok := category[k.ID]; ok {
			return nil, fmt.Errorf("two categories have the id %s: number them anew", clip(string(k.ID)))
		}
		category[k.ID] = k.Name
	}
	return category, nil
}

// object is the photo that an object is in and what it is called.
func (l *cocoListing) object(key string, image, category cocoID, named map[cocoID]string) (*photo, string, error) {
	p := l.where[image]
	if p == nil {
		return nil, "", fmt.Errorf("object %s is in the image %s, which is not listed: list it, or remove the object",
			key, clip(string(image)))
	}
	class, ok := named[category]
	if !ok {
		return nil, "", fmt.Errorf("object %s is of the category %s, which is not listed: add it to categories, or "+
			"remove the object", key, clip(string(category)))
	}
	return p, class, nil
}

// boxes takes over the boxes of the objects of a file.
func (l *cocoListing) boxes(spec Spec) error {
	d := l.d
	category, err := l.c.named()
	if err != nil {
		return err
	}
	a, err := newAnnotator(spec.Classes, func() []string { return l.c.classes() })
	if err != nil {
		return err
	}
	d.names = a.names
	for k, x := range l.c.Annotations {
		key := cmp.Or(string(x.ID), fmt.Sprintf("[%d]", k))
		p, class, err := l.object(key, x.Image, x.Category, category)
		if err != nil {
			return err
		}
		if len(x.BBox) != 4 {
			return fmt.Errorf("object %s (%s) has a bbox of %d numbers, want [x, y, width, height]: complete or "+
				"remove it", key, clip(class), len(x.BBox))
		}
		if len(p.objects) == maxObjects {
			return fmt.Errorf("more than %d objects in %q", maxObjects, p.id)
		}
		// Widths and heights below 0 give boxes that are turned inside out, and say so.
		o, ok, err := a.object(annotated{
			key: key, class: class, excused: x.crowded(),
			x1: x.BBox[0], y1: x.BBox[1], x2: x.BBox[0] + x.BBox[2], y2: x.BBox[1] + x.BBox[3],
			shown: fmt.Sprintf("bbox %v", x.BBox),
		}, fmt.Sprintf("image %q", p.id), p, l.turns[x.Image])
		if err != nil {
			return err
		}
		if ok {
			p.objects = append(p.objects, o)
		}
	}
	if len(spec.Classes) == 0 {
		d.note("classes are numbered in the order of %s: %s; set data.classes to the models' order", l.name,
			list(d.names))
	}
	a.notes(d, "iscrowd")
	return nil
}

// classes are the names of the categories by rising number, as COCO's own evaluation and most training programs order
// them.
func (c cocoFile) classes() []string {
	cats := slices.Clone(c.Categories)
	slices.SortStableFunc(cats, func(a, b cocoCategory) int {
		if n := len(a.ID) - len(b.ID); n != 0 { // numbers without leading zeros
			return n
		}
		return strings.Compare(string(a.ID), string(b.ID))
	})
	names := make([]string, len(cats))
	for i, k := range cats {
		names[i] = k.Name
	}
	return names
}

// findJSON is the one JSON file in a folder.
func (o opener) findJSON(dir string) (string, error) {
	entries, err := fs.ReadDir(o.fsys, dir)
	if err != nil {
		return "", err
	}
	var found []string
	for _, e := range entries {
		if n := e.Name(); !e.IsDir() && strings.EqualFold(path.Ext(n), ".json") {
			found = append(found, n)
		}
	}
	if len(found) != 1 {
		what := "no JSON file"
		if len(found) > 1 {
			what = fmt.Sprintf("%d JSON files (%s)", len(found), list(found))
		}
		return "", fmt.Errorf("%s: has %s: name the file of COCO instances with targets", dir, what)
	}
	return joined(o.fsys, dir, found[0]), nil
}
