package dataset

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"nero/data/space"
	"nero/internal/elementary"
)

// object is one thing in a photo.
type object struct {
	// in pixels of the file
	box space.Box
	// what it is called in its annotation file, for the sample's name
	key string
}

// photo is an image file with what is known of it.
type photo struct {
	id string
	// path in the file system
	file string
	pic  picture
	// how it lies in its file
	turn    orientation
	objects []object
	// path of its mask, "" for none
	mask string
	// of the whole photo, -1 for none
	label int
	tags  []string
}

// photos is a data set of photos with boxes or without, resized, framed or cut as the Spec says.
type photos struct {
	o     opener
	root  string
	items []photo
	// channels and depth of all photos; their size if nothing brings them to one
	common picture
	// there are annotations, so that a photo without boxes is an empty set and not an unknown one
	known bool
	// of the masks of all photos; nil if there are none
	masks truths
	names []string
	files []string
	notes []string
	zoom  float64
	fit   [2]int
	// in place of the two above; zero for none
	resize Resize
	// what photos have beyond a crop at most, rows and columns
	room [2]int
	cut  Cut
	// samples of a cut; nil if the photos are the samples
	pieces  []piece
	labels  []int
	decoded *recent
}

// truths makes the mask of a photo as it is shown, of the photo's size.
type truths interface {
	truth(p *photo) (*space.Mask, error)
}

// piece is one sample of a cut.
type piece struct {
	// key is the index of the object, -1 if there is none
	photo, key int
	// of the piece in the framed photo
	top, left int
	padded    bool
}

// keepPhotos bounds the decoded photos that are kept: 24 of 640 x 480 in color at zoom 0.6.
const keepPhotos = 64 << 20

// reshapes tells whether the photos become something else than what the files hold.
func (s Spec) reshapes() bool { return s.Zoom != 0 || s.loose() }

// checkShape refuses sizes that no picture has.
func (s Spec) checkShape(boxes bool) error {
	if s.Zoom != 0 && !(s.Zoom > 0 && s.Zoom <= 16) {
		return fmt.Errorf("zoom is %v, want a factor above 0 and up to 16", s.Zoom)
	}
	size := func(what string, v [2]int) error {
		if v != [2]int{} && (min(v[0], v[1]) < 1 || max(v[0], v[1]) > 1<<16) {
			return fmt.Errorf("%s is %v, want height and width from 1 to 65536 px", what, v)
		}
		return nil
	}
	c := s.Cut
	if s.Resize != (Resize{}) && (s.Zoom != 0 && s.Zoom != 1 || s.Fit != [2]int{} || c.Size != [2]int{}) {
		return errors.New("resize brings whole photos to one size; leave out resize, or leave out zoom, fit and cut")
	}
	if err := s.Resize.check(); err != nil {
		return err
	}
	if err := errors.Join(size("fit", s.Fit), size("cut.size", c.Size),
		size("the window of the cut", c.Window)); err != nil {
		return err
	}
	if s.Fit != [2]int{} && (s.Zoom != 0 && s.Zoom != 1 || c.Size != [2]int{}) {
		return errors.New("fit brings whole photos to one size; leave out fit, or leave out zoom and cut")
	}
	if c.Size == [2]int{} {
		if c.Window != [2]int{} || len(c.Classes) > 0 || c.Area != [2]float64{} || c.Outside != "" || c.PerPhoto != 0 {
			return errors.New("cut has no size: give height and width of the piece")
		}
		return nil
	}
	switch c.Outside {
	case "", "skip", "reflect", "refuse":
	default:
		return fmt.Errorf("cut.outside is %q, want skip, reflect or refuse", c.Outside)
	}
	if a := c.Area; a != [2]float64{} && !(a[0] >= 0 && a[1] > a[0] && !math.IsInf(a[1], 0)) {
		return fmt.Errorf("cut.area is %v, want [smallest, largest] as shares of the window", a)
	}
	if c.PerPhoto < 0 {
		return fmt.Errorf("cut.per_photo is %d, want 0 for all or a positive number", c.PerPhoto)
	}
	if !boxes && (len(c.Classes) > 0 || c.Area != [2]float64{} || c.PerPhoto != 0) {
		return errors.New("cut.classes, cut.area and cut.per_photo choose key objects, and these photos have no " +
			"boxes: leave them out, or name the boxes with targets")
	}
	return nil
}

// newPhotos makes the data set of the photos in d.items, which have their headers read.
func (d *photos) open(spec Spec) error {
	d.zoom, d.fit, d.resize, d.cut = spec.Zoom, spec.Fit, spec.Resize, spec.Cut
	d.decoded = newRecent(keepPhotos)
	for i := range d.items {
		room := d.resize.room(d.items[i].pic.h, d.items[i].pic.w)
		d.room = [2]int{max(d.room[0], room[0]), max(d.room[1], room[1])}
	}
	for a, n := range d.room { // more would be made up for all of them, which whoever moves them does as well
		d.resize.Margin[a] = min(d.resize.Margin[a], n)
	}
	for i := range d.items {
		p := &d.items[i]
		f := d.frame(p)
		if err := checkSize(d.common.c, f.H, f.W); err != nil {
			return inFile(p.file, err)
		}
	}
	if d.cut.Size != [2]int{} {
		return d.plan()
	}
	some := false
	empty := 0
	for _, p := range d.items {
		some = some || p.label >= 0
		if d.known && len(p.objects) == 0 {
			empty++
		}
	}
	if some {
		d.labels = make([]int, len(d.items))
		for i, p := range d.items {
			d.labels[i] = p.label
		}
	}
	if empty > 0 {
		d.note("%d of %d photos have no box: nothing is to be found there", empty, len(d.items))
	}
	return nil
}

func (d *photos) note(format string, a ...any) {
	d.notes = append(d.notes, d.root+": "+fmt.Sprintf(format, a...))
}

func (d *photos) frame(p *photo) framing {
	if d.resize != (Resize{}) {
		return d.resize.frame(p.pic.h, p.pic.w)
	}
	return frame(p.pic.h, p.pic.w, d.zoom, d.fit)
}

// plan chooses the key objects and the place of each piece.
func (d *photos) plan() error {
	if err := checkSize(d.common.c, d.cut.Size[0], d.cut.Size[1]); err != nil {
		return err
	}
	var class []bool // of key objects; nil for all
	if len(d.cut.Classes) > 0 {
		class = make([]bool, len(d.names))
		for _, name := range d.cut.Classes {
			k := slices.Index(d.names, name)
			if k < 0 {
				return fmt.Errorf("%s: cut.classes has %s, which is no class of the data: they are %s", d.root,
					clip(name), list(d.names))
			}
			class[k] = true
		}
	}
	var left struct{ objects, class, area, outside, crowd, bare int }
	for i := range d.items {
		p := &d.items[i]
		f := d.frame(p)
		if !d.known {
			s, inside := d.place(i, -1, float64(f.W)/2, float64(f.H)/2, f)
			if !inside && d.cut.Outside == "refuse" {
				return inFile(p.file, d.leaves("the piece around its middle", s, f))
			}
			if inside || d.cut.Outside == "reflect" {
				d.pieces = append(d.pieces, s)
			} else {
				left.outside++
			}
			continue
		}
		if len(p.objects) == 0 {
			left.bare++
		}
		var here []piece
		for k, o := range p.objects {
			left.objects++
			b := f.box(o.box, p.pic.h, p.pic.w)
			if class != nil && !class[b.Label] {
				left.class++
				continue
			}
			if lo, hi := d.area(); !(b.Area() >= lo && b.Area() <= hi) {
				left.area++
				continue
			}
			x, y := b.Center()
			s, inside := d.place(i, k, x, y, f)
			if !inside {
				switch d.cut.Outside {
				case "refuse":
					return inFile(p.file,
						d.leaves(fmt.Sprintf("the piece around object %s (%s)", o.key, d.names[b.Label]), s, f))
				case "reflect":
				default:
					left.outside++
					continue
				}
			}
			here = append(here, s)
		}
		if n := d.cut.PerPhoto; n > 0 && len(here) > n {
			left.crowd += len(here) - n
			here = d.nearest(here, n)
		}
		d.pieces = append(d.pieces, here...)
	}
	what := "photos"
	total := len(d.items)
	if d.known {
		what, total = "objects", left.objects
	}
	var why strings.Builder
	for _, r := range []struct {
		n    int
		text string
	}{
		{left.class, "are of other classes"},
		{left.area, "have an area outside " + d.areaText()},
		{left.outside, fmt.Sprintf("have a piece of %d x %d px that leaves the photo", d.cut.Size[1], d.cut.Size[0])},
		{left.crowd, fmt.Sprintf("are farther from the middle than the %d that count of a photo", d.cut.PerPhoto)},
	} {
		if r.n > 0 {
			fmt.Fprintf(&why, "; %d %s", r.n, r.text)
		}
	}
	if len(d.pieces) == 0 {
		return fmt.Errorf("%s: no key object is left of %d %s%s: choose a smaller piece, a wider area, more classes, "+
			"another zoom or outside: reflect", d.root, total, what, why.String())
	}
	if len(d.pieces) < total {
		d.note("%d of %d %s are samples%s", len(d.pieces), total, what, why.String())
	}
	if left.bare > 0 {
		d.note("%d of %d photos have no box and give no sample", left.bare, len(d.items))
	}
	d.labels = make([]int, len(d.pieces))
	some := false
	for i, s := range d.pieces {
		p := &d.items[s.photo]
		d.labels[i] = p.label
		if s.key >= 0 {
			d.labels[i] = p.objects[s.key].box.Label
		}
		some = some || d.labels[i] >= 0
	}
	if !some {
		d.labels = nil
	}
	return nil
}

// area is the smallest and largest area of a key box in square pixels of the framed photo.
func (d *photos) area() (lo, hi float64) {
	size, share := d.cut.Window, d.cut.Area
	if size == [2]int{} {
		size = d.cut.Size
	}
	if share == [2]float64{} {
		share = [2]float64{0.01, 0.5}
	}
	all := float64(size[0]) * float64(size[1])
	return share[0] * all, share[1] * all
}

// areaText says what area wants.
func (d *photos) areaText() string {
	lo, hi := d.area()
	of := "piece"
	if d.cut.Window != [2]int{} {
		of = "window"
	}
	share := d.cut.Area
	if share == [2]float64{} {
		share = [2]float64{0.01, 0.5}
	}
	return fmt.Sprintf("%g to %g of the %s (%g to %g square px)", share[0], share[1], of, lo, hi)
}

// place puts the piece around (x, y), which is rounded once: the top-left corner is floor(c + 1/2) - size/2.
func (d *photos) place(i, key int, x, y float64, f framing) (s piece, inside bool) {
	h, w := d.cut.Size[0], d.cut.Size[1]
	s = piece{photo: i, key: key, top: int(math.Floor(y+0.5)) - h/2, left: int(math.Floor(x+0.5)) - w/2}
	inside = s.top >= 0 && s.left >= 0 && s.top+h <= f.H && s.left+w <= f.W
	s.padded = !inside
	return s, inside
}

// leaves is the error of a piece that does not lie in its photo.
func (d *photos) leaves(what string, s piece, f framing) error {
	h, w := d.cut.Size[0], d.cut.Size[1]
	zoom := ""
	if d.zoom != 0 && d.zoom != 1 {
		zoom = fmt.Sprintf(", zoomed by %g", d.zoom)
	}
	return fmt.Errorf("%s is columns %d to %d and rows %d to %d, which leave the photo of %d x %d px%s: cut smaller "+
		"pieces, or say outside: skip or reflect",
		what, s.left, s.left+w, s.top, s.top+h, f.W, f.H, zoom)
}

// nearest keeps the n pieces whose objects lie nearest to the photo's middle, of equals the first, in the order that
// they had.
func (d *photos) nearest(list []piece, n int) []piece {
	p := &d.items[list[0].photo]
	f := d.frame(p)
	far := func(s piece) float64 {
		x, y := f.box(p.objects[s.key].box, p.pic.h, p.pic.w).Center()
		return elementary.Hypot(x-float64(f.left)-float64(f.w)/2, y-float64(f.top)-float64(f.h)/2)
	}
	byFar := slices.Clone(list)
	slices.SortStableFunc(byFar, func(a, b piece) int {
		switch fa, fb := far(a), far(b); {
		case fa < fb:
			return -1
		case fa > fb:
			return 1
		}
		return 0
	})
	byFar = byFar[:n]
	slices.SortFunc(byFar, func(a, b piece) int { return a.key - b.key })
	return byFar
}

// Len is the number of photos, or of key objects.
func (d *photos) Len() int {
	if d.pieces != nil {
		return len(d.pieces)
	}
	return len(d.items)
}

// Labels are the classes of key objects, or those of whole photos; shared, not to be changed.
func (d *photos) Labels() []int { return d.labels }

// IDs are the names of photos, with # and the object's where there is one.
func (d *photos) IDs() []string {
	ids := make([]string, d.Len())
	for i := range ids {
		ids[i] = d.id(i)
	}
	return ids
}

func (d *photos) id(i int) string {
	if d.pieces == nil {
		return d.items[i].id
	}
	s := d.pieces[i]
	p := &d.items[s.photo]
	if s.key < 0 {
		return p.id
	}
	return p.id + "#" + p.objects[s.key].key
}

// Files are the photos, then what says where their boxes are.
func (d *photos) Files() []string {
	files := make([]string, 0, len(d.items)+len(d.files))
	for _, p := range d.items {
		files = append(files, p.file)
	}
	return append(files, d.files...)
}

// size is channels, height and width of every sample.
func (d *photos) size() (c, h, w int) {
	switch {
	case d.cut.Size != [2]int{}:
		return d.common.c, d.cut.Size[0], d.cut.Size[1]
	case d.resize != (Resize{}):
		size, margin := d.resize.size(), d.resize.Margin
		return d.common.c, size[0] + 2*margin[0], size[1] + 2*margin[1]
	case d.fit != [2]int{}:
		return d.common.c, d.fit[0], d.fit[1]
	}
	f := d.frame(&d.items[0])
	return d.common.c, f.H, f.W
}

// Info has the classes of the boxes, or of the photos.
func (d *photos) Info() Info {
	i := Info{
		Space: imageSpec(d.size()), Max: depthMax(d.common.depth),
		Classes: slices.Clone(d.names), Notes: slices.Clone(d.notes),
	}
	i.Room, i.Margin = d.room, d.resize.Margin
	for _, p := range d.items {
		if !p.turn.upright() {
			i.Turned++
		}
		if room := d.resize.room(p.pic.h, p.pic.w); room != [2]int{} {
			i.Roomy++
			if room[0] < i.Margin[0] || room[1] < i.Margin[1] {
				i.Short++
			}
		} else if i.Margin != [2]int{} {
			i.Short++
		}
	}
	if d.known {
		i.Target = targetSpec(space.KindBoxes)
	}
	if d.masks != nil {
		i.Target = targetSpec(space.KindMask)
	}
	return i
}

// Sample decodes a photo, or cuts a piece of it.
func (d *photos) Sample(i int) (Sample, error) {
	if i < 0 || i >= d.Len() {
		return Sample{}, fmt.Errorf("%s: sample %d does not exist, want 0 to %d", d.root, i, d.Len()-1)
	}
	s := Sample{ID: d.id(i), Label: -1}
	if d.labels != nil {
		s.Label = d.labels[i]
	}
	if d.pieces == nil {
		p := &d.items[i]
		m, err := d.load(p)
		if err != nil {
			return Sample{}, err
		}
		s.Value, s.Tags = m, slices.Clone(p.tags)
		if d.known {
			s.Target = d.boxes(p, piece{key: -1}, m.H, m.W)
		}
		if d.masks != nil {
			if s.Target, err = d.mask(p, nil, m.H, m.W); err != nil {
				return Sample{}, err
			}
		}
		return s, nil
	}
	at := d.pieces[i]
	p := &d.items[at.photo]
	m, err := d.decoded.get(at.photo, func() (*space.Image, error) { return d.load(p) })
	if err != nil {
		return Sample{}, err
	}
	h, w := d.cut.Size[0], d.cut.Size[1]
	s.Value, s.Tags = cutOut(m, at.top, at.left, h, w), slices.Clone(p.tags)
	if at.key >= 0 {
		s.Tags = append(s.Tags, d.names[p.objects[at.key].box.Label])
	}
	if at.padded {
		s.Tags = append(s.Tags, "padded")
	}
	if d.known {
		s.Target = d.boxes(p, at, h, w)
	}
	if d.masks != nil {
		if s.Target, err = d.mask(p, &at, h, w); err != nil {
			return Sample{}, err
		}
	}
	return s, nil
}

// load decodes and frames a photo.
func (d *photos) load(p *photo) (*space.Image, error) {
	want := d.common
	want.h, want.w = p.pic.h, p.pic.w
	m, err := loadPicture(d.o.fsys, p.file, want, p.turn)
	if err != nil {
		return nil, inFile(p.file, err)
	}
	return d.frame(p).image(m, depthMax(d.common.depth)), nil
}

// boxes are those of a photo that reach into the picture of h x w pixels at s, in its coordinates, the key object
// first. They are not clipped: what crosses the edge keeps its extent and is marked Cut. Mirror images of objects in
// padding are none.
func (d *photos) boxes(p *photo, s piece, h, w int) *space.Boxes {
	f := d.frame(p)
	out := &space.Boxes{H: float64(h), W: float64(w)}
	add := func(k int) {
		b := p.objects[k].box
		// On the photo's own edge the object may go on outside of it.
		b.Cut = b.X1 <= 0 || b.Y1 <= 0 || b.X2 >= float64(p.pic.w) || b.Y2 >= float64(p.pic.h)
		b = f.box(b, p.pic.h, p.pic.w)
		b.X1, b.X2 = b.X1-float64(s.left), b.X2-float64(s.left)
		b.Y1, b.Y2 = b.Y1-float64(s.top), b.Y2-float64(s.top)
		b.Cut = b.Cut || b.X1 <= 0 || b.Y1 <= 0 || b.X2 >= out.W || b.Y2 >= out.H
		if k == s.key || b.X1 < out.W && b.Y1 < out.H && b.X2 > 0 && b.Y2 > 0 {
			out.Items = append(out.Items, b)
		}
	}
	if s.key >= 0 {
		add(s.key)
	}
	for k := range p.objects {
		if k != s.key {
			add(k)
		}
	}
	return out
}

// cutOut copies the piece of h x w pixels at (top, left). What lies outside m is m mirrored about the centres of its
// border pixels: c b | a b c | b a.
func cutOut(m *space.Image, top, left, h, w int) *space.Image {
	out := space.NewImage(m.C, h, w)
	inside := left >= 0 && left+w <= m.W
	for k := range m.C {
		src, dst := m.Plane(k), out.Plane(k)
		for r := range h {
			line := src[mirror(top+r, m.H)*m.W:][:m.W]
			if inside {
				copy(dst[r*w:(r+1)*w], line[left:left+w])
				continue
			}
			for c := range w {
				dst[r*w+c] = line[mirror(left+c, m.W)]
			}
		}
	}
	return out
}

// mirror is the pixel of 0..n-1 that stands at position i of an axis that is mirrored about its border pixels.
func mirror(i, n int) int {
	if n == 1 {
		return 0
	}
	i %= 2 * (n - 1)
	if i < 0 {
		i += 2 * (n - 1)
	}
	return min(i, 2*(n-1)-i)
}

// list shows names, at most ten.
func list(names []string) string {
	shown := make([]string, 0, 10)
	for _, n := range names[:min(len(names), 10)] {
		shown = append(shown, clip(n))
	}
	if len(names) > 10 {
		shown = append(shown, fmt.Sprintf("and %d more", len(names)-10))
	}
	return strings.Join(shown, ", ")
}

// loose tells whether photos of different sizes become samples of one size.
func (s Spec) loose() bool {
	return s.Fit != [2]int{} || s.Cut.Size != [2]int{} || s.Resize != (Resize{})
}

// annotated is an object as an annotation file has it.
type annotated struct {
	key, class string
	// continuous edges in pixels of the photo
	x1, y1, x2, y2 float64
	// the coordinates as the file has them
	shown string
	// difficult, crowd: annotators leave it out of evaluation
	excused bool
}

// stored tells how the boxes of a photo are to be turned, whose annotation says that it has h x w pixels, zeros where
// it says nothing; ok is false if the photo has another size both stored and shown.
func (p *photo) stored(h, w int) (o orientation, ok bool) {
	lies := p.turn.shown(p.pic)
	switch {
	case h == 0 || w == 0, h == lies.h && w == lies.w:
		return p.turn, true
	case h == p.pic.h && w == p.pic.w:
		return 0, true
	}
	return 0, false
}

// annotator turns what annotation files say into objects, by the same rules for every format, and counts what it leaves
// out.
type annotator struct {
	names                         []string
	class                         map[string]int
	empty, excused, clipped, kept int
	// where the first empty, excused and clipped one stands
	first [3]string
}

// newAnnotator knows the classes that are given, or else those that found returns.
func newAnnotator(given []string, found func() []string) (*annotator, error) {
	a := &annotator{names: slices.Clone(given), class: map[string]int{}}
	if len(given) == 0 {
		a.names = found()
	}
	for k, n := range a.names {
		if _, ok := a.class[n]; ok {
			return nil, fmt.Errorf("the classes name %s twice: each stands for one number", clip(n))
		}
		a.class[n] = k
	}
	return a, nil
}

// object checks one object of a photo whose boxes are to be turned; ok is false for one that is left out.
func (a *annotator) object(in annotated, where string, p *photo, turn orientation) (o object, ok bool, err error) {
	lies := turn.shown(p.pic)
	h, w := lies.h, lies.w
	label, known := a.class[in.class]
	W, H := float64(w), float64(h)
	at := fmt.Sprintf("object %s (%s)", in.key, clip(in.class))
	for _, v := range [...]float64{in.x1, in.y1, in.x2, in.y2} {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return o, false, fmt.Errorf(
				"%s: %s has a coordinate that is no finite number (%s): correct it or remove the object: %w", where, at,
				in.shown, ErrNotFinite)
		}
	}
	switch {
	case !known:
		return o, false, fmt.Errorf("%s: %s is of no class: they are %s; correct the name, or add it to data.classes",
			where, at, list(a.names))
	case in.x2 < in.x1 || in.y2 < in.y1:
		return o, false, fmt.Errorf("%s: %s is turned inside out (%s): exchange its corners, or remove it", where, at,
			in.shown)
	case in.x1 >= W || in.y1 >= H || in.x2 <= 0 || in.y2 <= 0:
		if in.x2 > in.x1 && in.y2 > in.y1 {
			return o, false, fmt.Errorf(
				"%s: %s lies outside of the photo (%s; the photo has %d x %d px): correct it, or look whether the "+
					"file belongs to this photo",
				where, at, in.shown, w, h)
		}
	}
	count := func(n *int, which int) {
		if *n == 0 {
			a.first[which] = fmt.Sprintf("%s of %s", at, where)
		}
		*n++
	}
	if in.x1 == in.x2 || in.y1 == in.y2 {
		count(&a.empty, 0)
		return o, false, nil
	}
	if in.excused {
		count(&a.excused, 1)
		return o, false, nil
	}
	b := space.Box{X1: max(in.x1, 0), Y1: max(in.y1, 0), X2: min(in.x2, W), Y2: min(in.y2, H), Score: 1, Label: label}
	if b.X1 != in.x1 || b.Y1 != in.y1 || b.X2 != in.x2 || b.Y2 != in.y2 {
		count(&a.clipped, 2)
	}
	a.kept++
	return object{box: turn.box(b, h, w), key: in.key}, true, nil
}

// notes say what was left out or changed. excuse is the format's word for objects that do not count.
func (a *annotator) notes(d *photos, excuse string) {
	if a.empty > 0 {
		d.note("%d boxes without area are left out, first %s", a.empty, a.first[0])
	}
	if a.excused > 0 {
		d.note("%d objects marked %s are left out, first %s", a.excused, excuse, a.first[1])
	}
	if a.clipped > 0 {
		d.note("%d boxes reach beyond their photo and are clipped to it, first %s", a.clipped, a.first[2])
	}
}
