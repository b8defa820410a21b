package dataset

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
)

// npzFormat is arrays of images and labels as numpy saves several.
var npzFormat = &Format{
	Name: "npz", Doc: "Images, and labels beside them, in an archive of arrays of numpy.",
	Sniff:   Sniff{Head: startsZip},
	Options: []Option{WithLayout, WithKey, WithLabelKey, WithLabels},
	Open:    reads(opener.openNpz),
}

// archive is an npz file: a zip archive with one npy file per array.
type archive struct {
	name string
	// by key: the name without .npy
	entries map[string]*zip.File
	fsys    fs.FS
	// the file can be read at an offset
	at bool
}

// openNpz opens images, and labels if there are any, in an npz archive.
func (o opener) openNpz(spec Spec) (Dataset, error) {
	var d *arrays
	err := o.inArchive(spec.Images, func(z *archive) error {
		key, err := z.imageKey(spec)
		if err != nil {
			return err
		}
		a, err := o.entry(z, key)
		if err != nil {
			return err
		}
		if d, err = newArrays(a, spec.Layout); err != nil {
			return err
		}
		if spec.Labels != "" {
			return nil
		}
		if key, err = z.labelKey(spec.LabelKey, false); err != nil || key == "" {
			return err
		}
		if a, err = o.entry(z, key); err != nil {
			return err
		}
		d.labels, err = intLabels(a, d.n)
		return err
	})
	if err != nil {
		return nil, err
	}
	d.files = []string{spec.Images}
	if err := o.label(d, spec); err != nil {
		return nil, err
	}
	return d, nil
}

// npzLabels reads the labels of n samples from an archive that has nothing else to say.
func (o opener) npzLabels(spec Spec, n int) (labels []int, err error) {
	err = o.inArchive(spec.Labels, func(z *archive) error {
		key, err := z.labelKey(spec.LabelKey, true)
		if err != nil {
			return err
		}
		a, err := o.entry(z, key)
		if err != nil {
			return err
		}
		labels, err = intLabels(a, n)
		return err
	})
	return labels, err
}

// inArchive opens an archive, reads its directory and calls read.
func (o opener) inArchive(name string, read func(*archive) error) error {
	f, err := o.fsys.Open(name)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // only read from
	st, err := f.Stat()
	if err != nil {
		return inFile(name, err)
	}
	if st.IsDir() {
		return fmt.Errorf("%s: is a folder, want an npz file", name)
	}
	size := st.Size()
	if at, seekable := f.(io.ReaderAt); seekable {
		return o.unzip(name, at, size, true, read)
	}
	if size > o.max {
		return fmt.Errorf("%s: has %d bytes, more than the %d that fit in memory", name, size, o.max)
	}
	b, err := io.ReadAll(io.LimitReader(f, size))
	if err != nil {
		return inFile(name, err)
	}
	return o.unzip(name, bytes.NewReader(b), int64(len(b)), false, read)
}

// unzip reads the directory of an archive, which may lie on a disk or in memory, and calls read.
func (o opener) unzip(name string, at io.ReaderAt, size int64, onDisk bool, read func(*archive) error) error {
	zr, err := zip.NewReader(at, size)
	if err != nil {
		return fmt.Errorf("%s: not an npz archive, or cut short: %w", name, err)
	}
	z := &archive{name: name, entries: map[string]*zip.File{}, fsys: o.fsys, at: onDisk}
	for _, e := range zr.File {
		key := strings.TrimSuffix(e.Name, ".npy")
		if key == e.Name {
			continue
		}
		if z.entries[key] != nil {
			return fmt.Errorf("%s: two arrays are called %s", name, clip(key))
		}
		z.entries[key] = e
	}
	if len(z.entries) == 0 {
		return fmt.Errorf("%s: no arrays: the archive has no entry that ends in .npy", name)
	}
	return read(z)
}

// keys lists the arrays of an archive for a message.
func (z *archive) keys() string {
	var k []string
	for key := range z.entries {
		k = append(k, clip(key))
	}
	slices.Sort(k)
	if len(k) > 10 {
		k = append(k[:10], "…")
	}
	return strings.Join(k, ", ")
}

// labelKeys are tried when no key is named.
func labelKeys() []string { return []string{"y", "labels"} }

// imageKey chooses the array of images.
func (z *archive) imageKey(spec Spec) (string, error) {
	if spec.Key != "" {
		return z.has(spec.Key, "key")
	}
	if z.entries["x"] != nil {
		return "x", nil
	}
	var rest []string
	for key := range z.entries {
		if key != spec.LabelKey && (spec.LabelKey != "" || !slices.Contains(labelKeys(), key)) {
			rest = append(rest, key)
		}
	}
	if len(rest) != 1 {
		return "", fmt.Errorf("%s: which array holds the images? It has %s: set key", z.name, z.keys())
	}
	return rest[0], nil
}

// labelKey chooses the array of labels; "" if there is none and none is needed.
func (z *archive) labelKey(key string, needed bool) (string, error) {
	if key != "" {
		return z.has(key, "label_key")
	}
	for _, k := range labelKeys() {
		if z.entries[k] != nil {
			return k, nil
		}
	}
	if !needed {
		return "", nil
	}
	if len(z.entries) == 1 {
		for k := range z.entries {
			return k, nil
		}
	}
	return "", fmt.Errorf("%s: which array holds the labels? It has %s: set label_key", z.name, z.keys())
}

func (z *archive) has(key, setting string) (string, error) {
	if z.entries[key] == nil {
		return "", fmt.Errorf("%s: no array is called %q; it has %s: correct %s", z.name, key, z.keys(), setting)
	}
	return key, nil
}

// entry reads one array of an archive. Large ones that are stored as they are stay on disk.
func (o opener) entry(z *archive, key string) (*array, error) {
	a, err := o.readEntry(z, key)
	if err != nil {
		return nil, fmt.Errorf("%s: array %q: %w", z.name, key, err)
	}
	return a, nil
}

func (o opener) readEntry(z *archive, key string) (*array, error) {
	e := z.entries[key]
	if e.Flags&1 != 0 {
		return nil, errors.New("is encrypted")
	}
	r, err := e.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close() //nolint:errcheck // only read from
	cr := &countReader{r: r}
	a := &array{name: z.name + ": array " + clip(key)}
	if a.header, err = readHeader(cr); err != nil {
		return nil, packed(err)
	}
	if rest := int64(e.UncompressedSize64) - cr.n; rest != a.bytes {
		return nil, sizeError(a.header, rest)
	}
	stored := e.Method == zip.Store
	if stored && z.at && !a.fortran && a.bytes > o.keep {
		off, err := e.DataOffset()
		if err != nil {
			return nil, err
		}
		a.fsys, a.file, a.off = z.fsys, z.name, off+cr.n
		return a, nil
	}
	// The directory's sizes are claims too: a stream of so many bytes cannot hold more.
	limit := bounded(int64(e.CompressedSize64)) - cr.n
	if a.data, err = o.slurp(cr, a.header, limit, !stored); err != nil {
		return nil, packed(err)
	}
	return a.settle(), nil
}
