package dataset

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Format is one way in which samples lie in files. It is the only place that knows how the format is called, how it is
// told from others, which settings it reads and how it is opened.
type Format struct {
	// what a study calls it
	Name string
	// Doc is one sentence on what the files are.
	Doc string
	// how the format is told from others where a study names none
	Sniff Sniff
	// Options are the settings of a [Spec] that the format reads; others are refused, for they would do nothing.
	Options []Option
	// Refuse is why an option is refused, nil for the usual words; so is a Refuse of nil.
	Refuse func(Option, Spec) error
	// Pixels is the format that reads the same files for a class at every pixel; nil if none does.
	Pixels *Format
	// Numbered says that classes are numbers of their own, so that the names of a study are not for the reader.
	Numbered bool
	// Rendered says that samples are made from the settings and no file is read. Options are not looked at then.
	Rendered bool
	// Open reads the headers and whatever else is wrong with a file as a whole.
	Open func(fs.FS, Spec) (Dataset, error)
}

// Sniff is how a format is told from others. What is nil never says so.
type Sniff struct {
	// Name looks at the name of a file before anything of it is read: at endings of compressed files, whose first bytes
	// say nothing of what is in them.
	Name func(name string) bool
	// Head looks at the first bytes of a file, up to 16.
	Head func(head []byte) bool
	// File looks at a file whose head says nothing: at its ending, and into it where endings are shared.
	File func(fsys fs.FS, name string) bool
	// Folder looks at a folder, and at the setting that says where the targets are.
	Folder func(fsys fs.FS, name, targets string) bool
}

// Option is a setting of a [Spec] that some formats read and others refuse.
type Option string

// The options, in the order in which they are refused.
const (
	WithPattern   Option = "pattern"
	WithLayout    Option = "layout"
	WithKey       Option = "key"
	WithLabelKey  Option = "label_key"
	WithLabels    Option = "labels"
	WithTargets   Option = "targets"       // targets that lie elsewhere
	WithNoTargets Option = "targets: none" // targets that are left alone
	WithSplit     Option = "split"
	WithClasses   Option = "classes" // of boxes or of the pixels of masks
	WithMasks     Option = "masks"
	WithTargetKey Option = "target_key"
	WithUpward    Option = "upward"
	WithShape     Option = "zoom, fit, cut"
	WithOrient    Option = "orientation"
	WithFields    Option = "fields" // more than one
	WithCloud     Option = "cloud"
	WithSound     Option = "sound"
	WithElements  Option = "elements"
)

// options are all of them: whether a spec has one, and the usual words for why a format refuses it.
func options() []struct {
	Option
	given func(Spec) bool
	words string
} {
	const targets = "targets are boxes of voc and coco, masks and fields of pairs, this is %s: set format"
	return []struct {
		Option
		given func(Spec) bool
		words string
	}{
		{
			WithPattern, func(s Spec) bool { return s.Pattern != "" },
			"pattern is for folders of images, clouds, signals and volumes, this is %s",
		},
		{
			WithLayout, func(s Spec) bool { return s.Layout != "" },
			"layout is for arrays of images and for volumes, this is %s",
		},
		{WithKey, func(s Spec) bool { return s.Key != "" }, "key is for npz archives, this is %s"},
		{
			WithLabelKey, func(s Spec) bool { return s.LabelKey != "" && s.Labels == "" },
			"label_key is for npz archives, this is %s",
		},
		{
			WithLabels, func(s Spec) bool { return s.Labels != "" },
			"labels are for whole images, this is %s, whose objects have classes: leave labels out",
		},
		{WithTargets, func(s Spec) bool { return s.Targets != "" && s.Targets != none }, targets},
		{WithNoTargets, func(s Spec) bool { return s.Targets == none }, targets},
		{
			WithSplit, func(s Spec) bool { return s.Split != "" },
			"split is for voc, masks, and for folders of clouds, signals and volumes, this is %s",
		},
		{
			WithClasses, func(s Spec) bool { return len(s.Classes) > 0 },
			"classes are for voc, coco, coco_masks and masks, this is %s",
		},
		{
			WithMasks, func(s Spec) bool { return s.Masks.given() },
			"masks says how masks of photos are read, this is %s: set format to masks or coco_masks",
		},
		{
			WithTargetKey, func(s Spec) bool { return s.TargetKey != "" },
			"the key of targets is for pairs, clouds, molecules, graphs and signals, this is %s",
		},
		{
			WithUpward, func(s Spec) bool { return s.Upward != "" },
			"the direction of fields is for pairs, this is %s",
		},
		{WithShape, Spec.reshapes, "resize, zoom, fit and cut are for photos, this is %s"},
		{
			WithOrient, func(s Spec) bool { return s.Orientation != "" }, "orientation is for photos, this is %s",
		},
		{
			WithFields, func(s Spec) bool { return len(s.Fields) > 1 }, // pictures are one field, whatever it is called
			"several fields are for clouds, molecules, graphs and signals, this is %s: set format",
		},
		{
			WithCloud, func(s Spec) bool { return s.Cloud != (Cloud{}) },
			"cloud is for clouds, this is %s: set format",
		},
		{
			WithSound, func(s Spec) bool { return s.Sound != (Sound{}) },
			"sound is for signals, this is %s: set format",
		},
		{
			WithElements, func(s Spec) bool { return len(s.Elements) > 0 },
			"elements are for molecules, this is %s: set format",
		},
	}
}

// Takes tells whether the format reads an option.
func (f *Format) Takes(o Option) bool { return slices.Contains(f.Options, o) }

// check refuses settings that the format would ignore, and values that no format knows.
func (f *Format) check(s Spec) error {
	for _, o := range options() {
		if !o.given(s) {
			continue
		}
		if !f.Takes(o.Option) {
			if f.Refuse != nil {
				if err := f.Refuse(o.Option, s); err != nil {
					return err
				}
			}
			return fmt.Errorf(o.words, f.Name)
		}
		if o.Option == WithUpward && s.Upward != "up" && s.Upward != "down" {
			return fmt.Errorf("upward is %q, want up or down", s.Upward)
		}
	}
	if err := s.checkPlain(); err != nil {
		return err
	}
	if s.Orientation != "" && s.Orientation != Stored && s.Orientation != "shown" {
		return fmt.Errorf("orientation is %q, want shown or stored", s.Orientation)
	}
	return s.checkShape(f.Takes(WithClasses) && !f.Takes(WithMasks) && s.Targets != none)
}

// Formats are the formats that a program knows, in the order in which they are asked and listed.
type Formats []*Format

// Builtin are the formats of this package.
func Builtin() Formats {
	return Formats{
		idxFormat, npyFormat, npzFormat, folderFormat, vocFormat, cocoFormat, cocoMasksFormat, masksFormat, pairsFormat,
		cloudsFormat, moleculesFormat, graphsFormat, signalsFormat, volumesFormat,
	}
}

// Find is the format of a name, nil if there is none.
func (all Formats) Find(name string) *Format {
	for _, f := range all {
		if f.Name == name {
			return f
		}
	}
	return nil
}

// Open is [Open] for these formats.
func (all Formats) Open(spec Spec) (Dataset, error) { return all.OpenFS(disk{}, spec) }

// OpenFS is [OpenFS] for these formats.
func (all Formats) OpenFS(fsys fs.FS, spec Spec) (Dataset, error) {
	f := all.Find(spec.Format)
	if f != nil && f.Rendered {
		return f.Open(fsys, spec)
	}
	if spec.Images == "" {
		return nil, errors.New("no images are named: give a file or a folder")
	}
	switch {
	case f != nil:
	case spec.Format != "":
		return nil, fmt.Errorf("%s: format %q is not known, want %s", spec.Images, spec.Format, all.names())
	default:
		var err error
		if f, err = all.guess(fsys, spec.Images, spec.Targets); err != nil {
			return nil, err
		}
		if spec.Pixels && f.Pixels != nil {
			f = f.Pixels
		}
	}
	if err := f.check(spec); err != nil {
		return nil, inFile(spec.Images, err)
	}
	if spec.Zoom == 1 {
		spec.Zoom = 0
	}
	return f.Open(fsys, spec)
}

// names lists the formats for a message.
func (all Formats) names() string {
	var n []string
	for _, f := range all {
		n = append(n, f.Name)
	}
	if len(n) < 2 {
		return strings.Join(n, "")
	}
	return strings.Join(n[:len(n)-1], ", ") + " or " + n[len(n)-1]
}

// guess finds the format of a path: a folder, by what is in it and where its targets are, or what the first bytes of
// the file say.
func (all Formats) guess(fsys fs.FS, name, targets string) (*Format, error) {
	st, err := fs.Stat(fsys, name)
	if err != nil {
		return nil, err
	}
	if st.IsDir() {
		for _, f := range all {
			if f.Sniff.Folder != nil && f.Sniff.Folder(fsys, name, targets) {
				return f, nil
			}
		}
		return all.ofFolder(fsys, name), nil
	}
	for _, format := range all {
		if format.Sniff.Name != nil && format.Sniff.Name(name) {
			return format, nil
		}
	}
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read from
	var b [16]byte
	n, err := io.ReadFull(f, b[:])
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, inFile(name, err)
	}
	if n == 0 {
		return nil, fmt.Errorf("%s: is empty (0 bytes), want IDX, npy, npz, an image or a folder of images", name)
	}
	for _, format := range all {
		if format.Sniff.Head != nil && format.Sniff.Head(b[:n]) {
			return format, nil
		}
	}
	if format := all.ofFile(fsys, name); format != nil {
		return format, nil
	}
	return nil, fmt.Errorf(
		"%s: starts with bytes % x: not IDX, npy, npz, PNG, JPEG, TIFF, BMP, GIF or WebP; for points, molecules, "+
			"graphs, recordings or volumes set format to clouds, molecules, graphs, signals or volumes", name,
		b[:min(n, 6)])
}

// ofFile guesses the format of a file that is no picture by its ending, nil where the ending leaves it open, as .txt
// and .csv do.
func (all Formats) ofFile(fsys fs.FS, name string) *Format {
	for _, f := range all {
		if f.Sniff.File != nil && f.Sniff.File(fsys, name) {
			return f
		}
	}
	return nil
}

// ofFolder guesses what a folder holds: pictures, if there is one, or else the one kind of other data that its files
// are.
func (all Formats) ofFolder(fsys fs.FS, root string) *Format {
	var format *Format
	err := fs.WalkDir(fsys, root, func(name string, d fs.DirEntry, err error) error {
		base := path.Base(filepath.ToSlash(name))
		switch {
		case err != nil:
			return err
		case name != root && (strings.HasPrefix(base, ".") || base == "__MACOSX"):
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case d.IsDir():
			return nil
		}
		found := all.ofFile(fsys, name)
		if slices.Contains(imageEndings(), ending(base)) || found != nil && format != nil && found != format {
			format = folderFormat
			return fs.SkipAll
		}
		if found != nil {
			format = found
		}
		return nil
	})
	if err != nil || format == nil {
		return folderFormat // what is wrong is said where the folder is read
	}
	return format
}

// ending is the ending of a file's name in small letters.
func ending(name string) string { return strings.ToLower(path.Ext(filepath.ToSlash(name))) }

// reads makes the Open of a format from a method of the opener.
func reads(open func(opener, Spec) (Dataset, error)) func(fs.FS, Spec) (Dataset, error) {
	return func(fsys fs.FS, s Spec) (Dataset, error) {
		o := newOpener(fsys)
		o.trusted = s.Trusted
		return open(o, s)
	}
}

// ends makes a Sniff of files by their endings.
func ends(with ...string) func(fs.FS, string) bool {
	return func(_ fs.FS, name string) bool { return slices.Contains(with, ending(name)) }
}

// none is how a spec says that targets are to be left alone.
const none = "none"

// tableOptions are those of every format whose samples are rows, graphs or signals.
func tableOptions(more ...Option) []Option {
	return append([]Option{WithKey, WithLabelKey, WithLabels, WithNoTargets, WithTargetKey, WithFields}, more...)
}

// inSameFile refuses other targets than those that lie beside the samples.
func inSameFile(name string) func(Option, Spec) error {
	return func(o Option, s Spec) error {
		if o != WithTargets {
			return nil
		}
		return fmt.Errorf("targets is %q, but those of %s lie in the same file: say none to leave them out, or leave "+
			"it away", s.Targets, name)
	}
}

// noArray refuses the layout of arrays where photos are read.
func noArray(o Option, _ Spec) error {
	if o != WithLayout {
		return nil
	}
	return errors.New("layout is for arrays, this is a folder of images")
}
