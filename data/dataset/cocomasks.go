package dataset

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"nero/data/space"
)

// cocoMasksFormat is photos with what the objects of COCO cover.
var cocoMasksFormat = &Format{
	Name:    "coco_masks",
	Doc:     "Photos with a class for every pixel, from the polygons and run lengths in a JSON file of COCO.",
	Options: []Option{WithTargets, WithNoTargets, WithClasses, WithShape, WithOrient, WithMasks},
	Refuse:  noArray,
	Open: reads(func(o opener, s Spec) (Dataset, error) {
		if s.Targets == none {
			return o.openFolder(s)
		}
		return o.openCOCOMasks(s)
	}),
}

// backgrounds are what people call the class of pixels in no object.
func backgrounds() []string { return []string{"background", "__background__"} }

// cocoShape is what an object covers: polygons, or run lengths down the columns, which begin with those outside.
type cocoShape struct {
	// x and y of each corner in turn
	polygons [][]float64
	// height and width that the run lengths are of
	size []int
	// run lengths as numbers, or as text
	runs   []uint32
	packed string
	// what was there in place of all these
	wrong error
}

// cocoShapes are the shapes of a file, in the order of its annotations.
type cocoShapes struct {
	Annotations []struct {
		Segmentation cocoShape `json:"segmentation"`
	} `json:"annotations"`
}

// UnmarshalJSON keeps what is wrong for the message that names the object.
func (s *cocoShape) UnmarshalJSON(b []byte) error {
	var in struct {
		Size   []int           `json:"size"`
		Counts json.RawMessage `json:"counts"`
	}
	switch b[0] {
	case '[':
		s.wrong = json.Unmarshal(b, &s.polygons)
	case '{':
		if s.wrong = json.Unmarshal(b, &in); s.wrong != nil || len(in.Counts) == 0 {
			break
		}
		s.size = in.Size
		if in.Counts[0] == '"' {
			s.wrong = json.Unmarshal(in.Counts, &s.packed)
		} else {
			s.wrong = json.Unmarshal(in.Counts, &s.runs)
		}
	case 'n': // null is as good as nothing
	default:
		s.wrong = errors.New("has neither polygons nor run lengths")
	}
	if s.wrong != nil {
		s.wrong = fmt.Errorf("%w; want polygons [[x, y, x, y, …]] or {size: [height, width], counts: …}",
			unlike(s.wrong))
	}
	return nil
}

// perPixel is how finely pycocotools walks along polygons.
const perPixel = 5

// check refuses what covers nothing of a photo of h x w pixels, or could not be drawn in reasonable time.
func (s *cocoShape) check(h, w int) error {
	switch {
	case s.wrong != nil:
		return s.wrong
	case len(s.polygons) == 0 && s.runs == nil && s.packed == "":
		return errors.New("has no outline: a box says nothing of pixels; add the segmentation, remove the object, or " +
			"read boxes with data.format: coco")
	case len(s.polygons) == 0:
		if len(s.size) != 2 || s.size[0] != h || s.size[1] != w {
			return fmt.Errorf("has run lengths of size %v, want [%d, %d], height and width of its photo", s.size, h, w)
		}
		if n := s.count(); n != h*w {
			return fmt.Errorf("has run lengths that are no way through the %d pixels of its photo: they end at %d; "+
				"write it again", h*w, n)
		}
		return nil
	}
	steps := 0
	for _, p := range s.polygons {
		if len(p) < 6 || len(p)%2 != 0 {
			return fmt.Errorf("has a polygon of %d numbers, want x and y of three corners or more", len(p))
		}
		for i, v := range p {
			if n := float64([2]int{w, h}[i%2]); !(v >= -n && v <= 2*n) {
				return fmt.Errorf("has a corner at %s = %g, far outside of its photo of %d x %d px: correct it, or "+
					"look whether the file belongs to this photo", "xy"[i%2:i%2+1], v, w, h)
			}
		}
		for i := range len(p) / 2 {
			e := edgeOf(p, i)
			steps += max(abs(e.x1-e.x0), abs(e.y1-e.y0))
		}
	}
	// The finest outline visits each of the 25 places in a pixel once.
	if most := 4 * perPixel * perPixel * (h + 2) * (w + 2); steps > most {
		return fmt.Errorf("has polygons of %d steps, more than any outline in a photo of %d x %d px has: remove the "+
			"object", steps, w, h)
	}
	return nil
}

// fine is a coordinate on the grid that pycocotools walks on, rounded as C does.
func fine(v float64) int { return int(float64(perPixel*v) + 0.5) }

func abs(n int) int { return max(n, -n) }

// count is where the run lengths end; -1 if that is farther than any picture or if they are damaged.
func (s *cocoShape) count() int {
	at := 0
	ok := s.each(func(n int) bool {
		at += n
		return at <= maxValues
	})
	if !ok {
		return -1
	}
	return at
}

// each calls f with every run length in turn, until it returns false. The text is that of pycocotools: groups of five
// bits from the lowest on, 48 added, 32 for more to come, the last with a sign; from the fourth number on what is
// written is the difference from the one before the last. It returns false where the end was not reached.
func (s *cocoShape) each(f func(n int) bool) bool {
	if s.packed == "" {
		for _, n := range s.runs {
			if n > maxValues || !f(int(n)) {
				return false
			}
		}
		return true
	}
	var last [2]int // the two before
	for at, k := 0, 0; at < len(s.packed); k++ {
		x := 0
		for shift := 0; ; shift += 5 {
			if at == len(s.packed) || shift > 30 {
				return false
			}
			c := int(s.packed[at]) - 48
			if at++; c < 0 || c > 63 {
				return false
			}
			x |= (c & 31) << shift
			if c&32 == 0 {
				if c&16 != 0 {
					x |= -1 << (shift + 5)
				}
				break
			}
		}
		if k > 2 {
			x += last[0]
		}
		if x < 0 || x > maxValues || !f(x) {
			return false
		}
		last[0], last[1] = last[1], x
	}
	return true
}

// fill calls f with every range of pixels that the object covers, counted down the columns of h x w pixels. Ranges of
// several polygons may overlap.
func (s *cocoShape) fill(h, w int, f func(from, to int)) {
	if len(s.polygons) == 0 {
		at, inside := 0, false
		s.each(func(n int) bool {
			if inside {
				f(at, at+n)
			}
			at, inside = at+n, !inside
			return true
		})
		return
	}
	for _, p := range s.polygons {
		at := append(crossings(p, h, w), h*w)
		slices.Sort(at)
		for i := 0; i+1 < len(at); i += 2 {
			f(at[i], at[i+1])
		}
	}
}

// crossings is where the outline of a polygon enters or leaves a column of pixels, counted down the columns: rleFrPoly
// of pycocotools, place by place. The outline is walked on a grid five times as fine, and crosses a column where it
// passes the middle of it.
func crossings(p []float64, h, w int) []int {
	var at []int
	u0, v0 := 0, 0
	first := true
	for i := range len(p) / 2 {
		edgeOf(p, i).walk(func(u, v int) {
			if u != u0 && !first {
				c := u
				if u > u0 {
					c--
				}
				if c >= 0 && c%perPixel == perPixel/2 && c/perPixel < w {
					// the first row whose middle is not above the place
					at = append(at, c/perPixel*h+min(max(min(v, v0)+perPixel/2, 0)/perPixel, h))
				}
			}
			u0, v0, first = u, v, false
		})
	}
	return at
}

// fineEdge is an edge of a polygon on the fine grid.
type fineEdge struct{ x0, y0, x1, y1 int }

// edgeOf is the edge from corner i to the next.
func edgeOf(p []float64, i int) fineEdge {
	j := 2 * i
	k := (j + 2) % len(p)
	return fineEdge{fine(p[j]), fine(p[j+1]), fine(p[k]), fine(p[k+1])}
}

// walk calls f with every place of the edge, from its first corner to its second. Edges are rounded alike in both
// directions: from the end with the smaller coordinate along the longer side.
func (e fineEdge) walk(f func(u, v int)) {
	dx, dy := abs(e.x1-e.x0), abs(e.y1-e.y0)
	flat := dx >= dy
	n := max(dx, dy)
	back := flat && e.x0 > e.x1 || !flat && e.y0 > e.y1
	if back {
		e = fineEdge{e.x1, e.y1, e.x0, e.y0}
	}
	rise := 0.0
	switch {
	case n == 0:
	case flat:
		rise = float64(e.y1-e.y0) / float64(n)
	default:
		rise = float64(e.x1-e.x0) / float64(n)
	}
	for d := range n + 1 {
		t := d
		if back {
			t = n - d
		}
		if flat {
			f(e.x0+t, int(float64(e.y0)+float64(rise*float64(t))+0.5))
		} else {
			f(int(float64(e.x0)+float64(rise*float64(t))+0.5), e.y0+t)
		}
	}
}

// cocoPart is an object of a photo.
type cocoPart struct {
	class int32
	// stands for several objects that nobody told apart
	crowd bool
	shape *cocoShape
}

// cocoTruth draws masks of objects.
type cocoTruth struct {
	parts map[*photo][]cocoPart
	turns map[*photo]orientation
	// class of pixels in no object, or void
	bare int32
	// the later one of the file is seen where objects overlap; otherwise nobody knows which
	last bool
}

// States of pixels while a mask is drawn.
const (
	untouched int32 = -3 - iota
	contested
)

// truth is the mask of a photo as it is shown.
func (t *cocoTruth) truth(p *photo) (*space.Mask, error) {
	turn := t.turns[p]
	lies := turn.shown(p.pic)
	h, w := lies.h, lies.w
	down := make([]int32, h*w) // the columns one after the other
	for i := range down {
		down[i] = untouched
	}
	for _, crowd := range []bool{false, true} { // objects are seen in a crowd that they belong to
		for _, o := range t.parts[p] {
			if o.crowd != crowd {
				continue
			}
			o.shape.fill(h, w, func(from, to int) {
				for i := from; i < to; i++ {
					switch was := down[i]; {
					case crowd && was == untouched:
						down[i] = space.Void
					case crowd || was == o.class:
					case was == untouched || t.last:
						down[i] = o.class
					default:
						down[i] = contested
					}
				}
			})
		}
	}
	out := &space.Mask{H: p.pic.h, W: p.pic.w, Label: make([]int32, h*w)}
	for i := range out.Label {
		r, c := turn.from(i/out.W, i%out.W, h, w)
		switch k := down[c*h+r]; k {
		case untouched:
			out.Label[i] = t.bare
		case contested:
			out.Label[i] = space.Void
		default:
			out.Label[i] = k
		}
	}
	return out, nil
}

// openCOCOMasks opens the photos that a JSON file of COCO lists, with what its objects cover: Targets, or the one JSON
// file in the folder.
func (o opener) openCOCOMasks(spec Spec) (Dataset, error) {
	if err := spec.Masks.checkDrawn(); err != nil {
		return nil, inFile(spec.Images, err)
	}
	l, err := o.listCOCO(spec, "masks")
	if err != nil {
		return nil, err
	}
	if err := l.masks(spec); err != nil {
		return nil, inFile(l.name, err)
	}
	if err := l.d.open(spec); err != nil {
		return nil, err
	}
	return l.d, nil
}

// checkDrawn refuses what is said of PNG files.
func (m Masks) checkDrawn() error {
	for _, x := range []struct {
		key   string
		given bool
	}{
		{"photo", m.Photo != ""},
		{"file", m.File != ""},
		{"values", len(m.Values) > 0},
		{"colors", len(m.Colors) > 0},
		{"void", len(m.Void) > 0},
		{"void_colors", len(m.VoidColors) > 0},
	} {
		if x.given {
			return fmt.Errorf("masks.%s is for masks in PNG files, these are drawn from the objects of a JSON file: "+
				"leave it out; masks.rest and masks.overlap are for them", x.key)
		}
	}
	if m.Rest != "" && m.Rest != "void" {
		return fmt.Errorf("masks.rest is %q, want void, or leave it out", m.Rest)
	}
	if m.Overlap != "" && m.Overlap != "void" && m.Overlap != "last" {
		return fmt.Errorf("masks.overlap is %q, want void or last", m.Overlap)
	}
	return nil
}

// masks takes over what the objects of the file cover.
func (l *cocoListing) masks(spec Spec) error {
	var shapes cocoShapes
	if err := json.Unmarshal(l.raw, &shapes); err != nil {
		return fmt.Errorf("not a file of COCO instances: %w", err)
	}
	l.raw = nil
	category, err := l.c.named()
	if err != nil {
		return err
	}
	t := &cocoTruth{
		parts: map[*photo][]cocoPart{}, turns: map[*photo]orientation{}, bare: space.Void,
		last: spec.Masks.Overlap == "last",
	}
	d, names := l.d, slices.Clone(spec.Classes)
	if len(names) == 0 {
		names = l.c.classes()
		if !slices.ContainsFunc(names, isBackground) {
			names = append(backgrounds()[:1], names...)
		}
		d.note("classes are numbered in the order of %s, the background first: %s; set data.classes to the models' "+
			"order", l.name, list(names))
	}
	number := map[string]int32{}
	for k, n := range names {
		if _, ok := number[n]; ok {
			return fmt.Errorf("the classes name %s twice: each stands for one number", clip(n))
		}
		number[n] = int32(k)
	}
	d.names, d.masks = names, t
	if k := slices.IndexFunc(names, isBackground); k >= 0 {
		t.bare = int32(k)
	} else {
		d.note("pixels in no object count for nothing, for no class is called background; name one so in " +
			"data.classes if the models have it")
	}
	crowds, rest, mixed := 0, 0, false
	for k, x := range l.c.Annotations {
		key := cmp.Or(string(x.ID), fmt.Sprintf("[%d]", k))
		p, name, err := l.object(key, x.Image, x.Category, category)
		if err != nil {
			return err
		}
		part := cocoPart{crowd: x.crowded(), shape: &shapes.Annotations[k].Segmentation}
		class, known := number[name]
		switch {
		case known:
			part.class = class
		case part.crowd:
		case spec.Masks.Rest == "":
			return fmt.Errorf("image %q: object %s (%s) is of no class: they are %s; add it to data.classes, or say "+
				"data.masks.rest: void if all others count for nothing", p.id, key, clip(name), list(names))
		default:
			part.class = contested
			rest++
		}
		turn := l.turns[x.Image]
		lies := turn.shown(p.pic)
		if err := part.shape.check(lies.h, lies.w); err != nil {
			return fmt.Errorf("image %q: object %s (%s) %w", p.id, key, clip(name), err)
		}
		if part.crowd {
			crowds++
		}
		mixed = mixed || slices.ContainsFunc(t.parts[p], func(o cocoPart) bool {
			return o.class != part.class && !o.crowd && !part.crowd
		})
		t.parts[p] = append(t.parts[p], part)
		t.turns[p] = turn
	}
	if n := len(d.items) - len(t.parts); n > 0 {
		d.note("%d of %d photos have no object", n, len(d.items))
	}
	if crowds > 0 {
		d.note("%d objects marked iscrowd count for nothing where no other object lies", crowds)
	}
	if rest > 0 {
		d.note("%d objects of other categories count for nothing (data.masks.rest: void)", rest)
	}
	if mixed && spec.Masks.Overlap == "" {
		d.note("where objects of two classes overlap nothing counts, for the file does not say which is in front; " +
			"data.masks.overlap: last takes the later one of the file")
	}
	return nil
}

func isBackground(name string) bool {
	return slices.ContainsFunc(backgrounds(), func(b string) bool { return strings.EqualFold(b, name) })
}
