package dataset

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path/filepath"
	"strconv"
	"strings"

	"nero/data/nifti"
	"nero/data/space"
	"nero/data/tensor"
)

// volumesFormat is grids of voxels.
var volumesFormat = &Format{
	Name: "volumes", Doc: "Volumes: NIfTI files, or arrays.",
	Sniff: Sniff{
		Name: isNifti,
		File: func(_ fs.FS, name string) bool { return isNifti(name) },
	},
	Options: []Option{WithPattern, WithSplit, WithLayout, WithKey, WithLabelKey, WithLabels},
	Open:    reads(opener.openVolumes),
}

// isNifti tells the names of NIfTI files.
func isNifti(name string) bool {
	n := strings.ToLower(filepath.ToSlash(name))
	return strings.HasSuffix(n, ".nii") || strings.HasSuffix(n, ".nii.gz")
}

// volumeEndings are the endings of files that hold one volume each.
func volumeEndings() []string { return []string{".nii", ".nii.gz", ".npy"} }

// openVolumes opens volumes: an array of them, a folder of files, or one such file.
func (o opener) openVolumes(spec Spec) (Dataset, error) {
	switch spec.Layout {
	case "", "NDHW", "NCDHW", "NDHWC", "NWHD":
	default:
		return nil, fmt.Errorf(
			"%s: layout %q is not one of volumes, want NDHW, NCDHW, NDHWC, or NWHD for NIfTI files as "+
				"nibabel reads them", spec.Images, spec.Layout)
	}
	array := false
	if !isNifti(spec.Images) {
		var err error
		if array, err = o.isArray(spec.Images); err != nil {
			return nil, err
		}
	}
	if !array {
		return o.openScans(spec)
	}
	if spec.Pattern != "" || spec.Split != "" {
		return nil, fmt.Errorf("%s: pattern and split are for folders, this is a file of arrays", spec.Images)
	}
	return o.openVolumeArray(spec)
}

// openVolumeArray opens an array of volumes, alone or in an npz archive with labels beside it.
func (o opener) openVolumeArray(spec Spec) (Dataset, error) {
	kind, err := labelFormat(o.fsys, spec.Images)
	if err != nil {
		return nil, err
	}
	d := &values{root: spec.Images, noun: "volume", files: []string{spec.Images}}
	if kind != "npz" {
		if spec.Key != "" {
			return nil, fmt.Errorf("%s: key is for npz archives, this is none", spec.Images)
		}
		a, err := o.open(spec.Images)
		if err != nil {
			return nil, err
		}
		if err := d.volumes(a, spec.Layout); err != nil {
			return nil, err
		}
		return d, d.label(o, spec)
	}
	err = o.inArchive(spec.Images, func(z *archive) error {
		key, err := z.imageKey(spec)
		if err != nil {
			return err
		}
		a, err := o.entry(z, key)
		if err != nil {
			return err
		}
		if err := d.volumes(a, spec.Layout); err != nil || spec.Labels != "" {
			return err
		}
		if key, err = z.labelKey(spec.LabelKey, false); err != nil || key == "" {
			return err
		}
		if a, err = o.entry(z, key); err != nil {
			return err
		}
		d.labels, err = intLabels(a, len(d.ids))
		return err
	})
	if err != nil {
		return nil, err
	}
	return d, d.label(o, spec)
}

// volumes makes the samples of an array whose first axis counts them.
func (d *values) volumes(a *array, layout string) error {
	g, err := gridOf(a, layout, true)
	if err != nil {
		return inFile(a.name, err)
	}
	if g.note != "" {
		d.notes = append(d.notes, a.name+": "+g.note)
	}
	if g.n > maxSamples {
		return inFile(a.name, fmt.Errorf("%d samples, want at most %d: split the file", g.n, maxSamples))
	}
	d.ids = make([]string, g.n)
	for i := range d.ids {
		d.ids[i] = strconv.Itoa(i)
	}
	d.space = volumeSpec([]int{g.c, g.d, g.h, g.w})
	d.load = func(i int) (space.Value, space.Value, []string, error) {
		v, err := g.volume(i)
		if err != nil {
			return nil, nil, nil, fmt.Errorf("%s: sample %d: %w", a.name, i, err)
		}
		return v, nil, nil, nil
	}
	return nil
}

// volumeSpec describes volumes; lengths of -1 differ.
func volumeSpec(n []int) space.Spec {
	return space.SpecOf("volume", &space.Volume{C: n[0], D: n[1], H: n[2], W: n[3]})
}

// voxels is how volumes lie in an array: lengths, and distances in elements between neighbors.
type voxels struct {
	a             *array
	n, c, d, h, w int
	sn, sc        int
	sd, sh, sw    int
	// what was guessed
	note string
}

// gridOf finds the axes of an array; many says that the first counts samples.
func gridOf(a *array, layout string, many bool) (*voxels, error) {
	axes, note, err := volumeAxes(a.shape, layout, many)
	if err != nil {
		return nil, err
	}
	g := &voxels{a: a, n: 1, c: 1, sn: a.count, note: note}
	stride := make([]int, len(a.shape))
	step := 1
	for k := range stride {
		axis := len(stride) - 1 - k
		if a.fortran {
			axis = k
		}
		stride[axis] = step
		step *= a.shape[axis]
	}
	for k, axis := range axes {
		switch axis {
		case 'N':
			g.n, g.sn = a.shape[k], stride[k]
		case 'C':
			g.c, g.sc = a.shape[k], stride[k]
		case 'D':
			g.d, g.sd = a.shape[k], stride[k]
		case 'H':
			g.h, g.sh = a.shape[k], stride[k]
		case 'W':
			g.w, g.sw = a.shape[k], stride[k]
		}
	}
	if a.count == 0 {
		return nil, fmt.Errorf("no voxels: the array has shape %v (%s), want at least one on every axis", a.shape, axes)
	}
	return g, tooLarge(g.c, g.d, g.h, g.w)
}

// tooLarge bounds the memory of one sample.
func tooLarge(c, d, h, w int) error {
	if _, err := tensor.CheckedCount([]int{c, d, h, w}, maxValues); err != nil {
		return fmt.Errorf("volumes of %d x %d x %d voxels with %d channels are larger than the %d values that one "+
			"sample "+
			"may have: crop or resample them", d, h, w, c, maxValues)
	}
	return nil
}

// volumeAxes names the axes of an array of volumes.
func volumeAxes(shape []int, layout string, many bool) (axes, note string, err error) {
	drop := func(s string) string {
		if !many {
			return s[1:]
		}
		return s
	}
	if layout == "NWHD" {
		return "", "", errors.New("layout NWHD is for NIfTI files, this is an array: write NDHW, NCDHW or NDHWC")
	}
	if layout != "" {
		if axes = drop(layout); len(axes) != len(shape) {
			return "", "", fmt.Errorf("layout %s wants %d axes, the array has shape %v", axes, len(axes), shape)
		}
		return axes, "", nil
	}
	plain := len(drop("NDHW"))
	switch len(shape) {
	case plain:
		return drop("NDHW"), "", nil
	case plain + 1:
		first, last := isColor(shape[len(shape)-4]), isColor(shape[len(shape)-1])
		switch {
		case first && !last:
			axes = "NCDHW"
		case last && !first:
			axes = "NDHWC"
		default:
			return "", "", fmt.Errorf("shape %v may be %s or %s: set layout to NCDHW or NDHWC", shape, drop("NCDHW"),
				drop("NDHWC"))
		}
		return drop(axes), fmt.Sprintf("shape %v read as %s because that axis has the length of a channel axis; set "+
			"layout to overrule", shape, drop(axes)), nil
	}
	what := "(depth, height, width)"
	if many {
		what = "(N, depth, height, width)"
	}
	return "", "", fmt.Errorf("shape %v is no set of volumes, want %s or one axis more for channels: reshape the array",
		shape, what)
}

// volume converts the elements of sample i.
func (g *voxels) volume(i int) (*space.Volume, error) {
	base, count := i*g.sn, g.a.count-i*g.sn
	if !g.a.fortran {
		count = g.sn
	}
	b, err := g.a.piece(base, count)
	if err != nil {
		return nil, err
	}
	v := space.NewVolume(g.c, g.d, g.h, g.w)
	size := g.a.dtype.Size()
	at := 0
	for c := range g.c {
		for z := range g.d {
			for y := range g.h {
				widen(v.Val[at:at+g.w], b[(c*g.sc+z*g.sd+y*g.sh)*size:], g.sw, g.a.dtype)
				at += g.w
			}
		}
	}
	return v, finiteVoxels(v)
}

// finiteVoxels names the first voxel that is NaN or infinite.
func finiteVoxels(v *space.Volume) error {
	for i, x := range v.Val {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return fmt.Errorf("channel %d, slice %d, row %d, column %d is %v: %w; repair or leave out this sample",
				i/(v.D*v.H*v.W), i/(v.H*v.W)%v.D, i/v.W%v.H, i%v.W, x, ErrNotFinite)
		}
	}
	return nil
}

// scans is a folder of files with one volume each.
type scans struct {
	o    opener
	list *listing
	// NWHD or another
	layout string
}

// openScans opens a folder of NIfTI and npy files, or one file.
func (o opener) openScans(spec Spec) (Dataset, error) {
	if spec.Key != "" || spec.LabelKey != "" && spec.Labels == "" {
		return nil, fmt.Errorf("%s: keys are for npz archives, this is none", spec.Images)
	}
	d, list, err := o.files(spec, volumeEndings(), "volumes")
	if err != nil {
		return nil, err
	}
	d.noun = "volume"
	s := &scans{o: o, list: list, layout: spec.Layout}
	var shape []int
	var told telling
	for i, p := range list.paths {
		name := list.name(p)
		now, err := s.look(name, &told)
		if err != nil {
			return nil, inFile(name, err)
		}
		if i == 0 {
			shape = now
			continue
		}
		for k := range shape {
			if now[k] != shape[k] {
				if k == 0 {
					return nil, inFile(name, fmt.Errorf("has %d channels, %s has %d: all volumes must have as many",
						now[0],
						list.id(list.paths[0]), shape[0]))
				}
				shape[k] = -1 // lengths may differ; a model that wants one says so
			}
		}
	}
	d.notes = append(d.notes, told.notes(s.layout)...)
	d.space = volumeSpec(shape)
	d.load = func(i int) (space.Value, space.Value, []string, error) {
		p := list.paths[i]
		v, err := s.load(list.name(p))
		if err != nil {
			return nil, nil, nil, inFile(list.name(p), err)
		}
		return v, nil, list.tags(p), nil
	}
	return d, nil
}

// telling counts what a person must know of the places of voxels.
type telling struct {
	files, mirrored, stretched, bare int
	// names of the first of each
	mirror, stretch, lone string
	spacing               [3]float64
	// of the first file, and of the first that differs
	first, other [3]float64
	differs      string
}

func (t *telling) hear(name string, h nifti.Head) {
	t.files++
	// Lengths of voxels are written with seven digits; what differs by more is another grid.
	const rounding = 1e-3
	if t.files == 1 {
		t.first = h.Spacing
	}
	for i, x := range h.Spacing {
		if math.Abs(x/t.first[i]-1) > rounding && t.differs == "" {
			t.other, t.differs = h.Spacing, name
		}
	}
	note := func(n *int, first *string) {
		if *n++; *n == 1 {
			*first = name
		}
	}
	if h.LeftHanded {
		note(&t.mirrored, &t.mirror)
	}
	if h.Anisotropy() > 1+rounding {
		if note(&t.stretched, &t.stretch); t.stretched == 1 {
			t.spacing = h.Spacing
		}
	}
	if h.From == "pixdim" {
		note(&t.bare, &t.lone)
	}
}

// notes are sentences for a person.
func (t *telling) notes(layout string) []string {
	var out []string
	if t.files > 0 {
		order := "slices, rows and columns (k, j, i), as SimpleITK's arrays have them; data.layout: NWHD reads them " +
			"as " +
			"nibabel does, (i, j, k)"
		if layout == "NWHD" {
			order = "(i, j, k), as nibabel's arrays have them; data.layout: NDHW reads them as SimpleITK does, " +
				"slices first"
		}
		out = append(out, "the axes of NIfTI files are read as "+order)
	}
	if t.mirrored > 0 {
		out = append(out, fmt.Sprintf("%d of %d NIfTI files have left-handed axes, first %s: their first axis i was "+
			"reversed, so that no volume is a mirror image of another", t.mirrored, t.files, t.mirror))
	}
	if t.stretched > 0 {
		s := t.spacing
		out = append(out, fmt.Sprintf(
			"%d of %d NIfTI files have voxels that are no cubes, first %s with %.4g x %.4g x %.4g: "+
				"the group moves voxels, so that turns between unequal axes stretch what they show; resample to "+
				"cubes, or take "+
				"a group that turns about the odd axis alone", t.stretched, t.files, t.stretch, s[0], s[1], s[2]))
	}
	if t.differs != "" {
		out = append(out, fmt.Sprintf(
			"voxels of %s measure %.4g x %.4g x %.4g, those of the first file %.4g x %.4g x %.4g: "+
				"shifts by voxels are other lengths in each", t.differs, t.other[0], t.other[1], t.other[2], t.first[0],
			t.first[1],
			t.first[2]))
	}
	if t.bare > 0 {
		out = append(out, fmt.Sprintf(
			"%d of %d NIfTI files have neither sform nor qform, first %s: nobody knows which of "+
				"their axes is left and right", t.bare, t.files, t.lone))
	}
	return out
}

// look reads the head of a file: channels, depth, height and width.
func (s *scans) look(name string, told *telling) ([]int, error) {
	if !isNifti(name) {
		a, err := s.o.open(name)
		if err != nil {
			return nil, err
		}
		g, err := gridOf(a, s.layout, false)
		if err != nil {
			return nil, err
		}
		return []int{g.c, g.d, g.h, g.w}, nil
	}
	h, _, closes, err := s.head(name)
	if err != nil {
		return nil, err
	}
	closes()
	told.hear(name, h)
	n := s.shape(h)
	return n[:], tooLarge(n[0], n[1], n[2], n[3])
}

// shape is channels, depth, height and width of a file.
func (s *scans) shape(h nifti.Head) [4]int {
	if s.layout == "NWHD" {
		return [4]int{h.Shape[3], h.Shape[0], h.Shape[1], h.Shape[2]}
	}
	return [4]int{h.Shape[3], h.Shape[2], h.Shape[1], h.Shape[0]}
}

// head reads the head of a file, and hands on what follows it.
func (s *scans) head(name string) (h nifti.Head, rest io.Reader, closes func(), err error) {
	f, err := s.o.fsys.Open(name)
	if err != nil {
		return h, nil, nil, err
	}
	defer func() {
		if closes = func() { _ = f.Close() }; err != nil { // only read from
			closes()
		}
	}()
	st, err := f.Stat()
	if err != nil {
		return h, nil, nil, err
	}
	size := st.Size()
	if size == 0 {
		return h, nil, nil, errors.New("is empty (0 bytes), want a NIfTI file")
	}
	br := bufio.NewReaderSize(f, 1<<16)
	rest = br
	packing := false
	if two, _ := br.Peek(2); bytes.Equal(two, magicGzip) { // a shorter file fails below
		if rest, err = gzip.NewReader(br); err != nil {
			return h, nil, nil, fmt.Errorf("damaged gzip: %w", err)
		}
		packing = true
		size = -1
	}
	b := make([]byte, nifti.HeadBytes)
	n, err := io.ReadFull(rest, b)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return h, nil, nil, err
	}
	if h, err = nifti.ReadHead(b[:n], size); err != nil {
		return h, nil, nil, err
	}
	if want := h.Offset() + h.Bytes(); packing && want > bounded(st.Size()) {
		return h, nil, nil, fmt.Errorf(
			"claims %d bytes, more than %d compressed bytes can hold: it is cut short, fetch it "+
				"again", want, st.Size())
	}
	// A head of 348 bytes may be followed by numbers at once.
	rest = io.MultiReader(bytes.NewReader(b[min(n, int(h.Offset())):n]), rest)
	if skip := h.Offset() - int64(n); skip > 0 {
		if _, err := io.CopyN(io.Discard, rest, skip); err != nil {
			return h, nil, nil, packed(shortHead(n, err))
		}
	}
	return h, rest, closes, nil
}

// load reads a volume.
func (s *scans) load(name string) (*space.Volume, error) {
	if !isNifti(name) {
		a, err := s.o.open(name)
		if err != nil {
			return nil, err
		}
		g, err := gridOf(a, s.layout, false)
		if err != nil {
			return nil, err
		}
		return g.volume(0)
	}
	h, rest, closes, err := s.head(name)
	if err != nil {
		return nil, err
	}
	defer closes()
	var b bytes.Buffer // grows with what is there, not with what the head claims
	if n, err := io.CopyN(&b, rest, h.Bytes()); err != nil {
		if errors.Is(err, io.EOF) {
			err = fmt.Errorf("ends after %d of %d bytes of numbers: it is cut short, fetch it again", n, h.Bytes())
		}
		return nil, packed(err)
	}
	x, err := h.Numbers(b.Bytes())
	if err != nil {
		return nil, err
	}
	shape := s.shape(h)
	v := space.NewVolume(shape[0], shape[1], shape[2], shape[3])
	nx, ny, nz := h.Shape[0], h.Shape[1], h.Shape[2]
	at := 0
	for c := range shape[0] {
		from := x[c*nx*ny*nz:]
		for k := range nz {
			for j := range ny {
				for i := range nx {
					col := i
					if h.LeftHanded {
						col = nx - 1 - i
					}
					if s.layout == "NWHD" {
						at = ((c*nx+col)*ny+j)*nz + k
					} else {
						at = ((c*nz+k)*ny+j)*nx + col
					}
					v.Val[at] = from[(k*ny+j)*nx+i]
				}
			}
		}
	}
	return v, finiteVoxels(v)
}
