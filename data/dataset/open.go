package dataset

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"slices"
)

// Spec says where samples, labels and targets are.
type Spec struct {
	// Trusted says that somebody has read the files through before, and that they are held against their digests: what
	// is wrong behind the samples that are asked for need not be found. Compressed arrays are unpacked as far as that.
	Trusted bool
	// name of one of the formats, such as those of [Builtin]; "" looks at the file
	Format string
	// a file, or a folder of images
	Images string
	// a file of labels: IDX, npy, npz, or CSV with the columns file,label; "" for none or those beside the images
	Labels string
	// folder: regular expression over the path below the folder, with a group named label; pairs: one with groups named
	// pair and frame
	Pattern string
	// npz: name of the image array; "" takes x, or the only array that is not one of labels. pairs: of the frames; ""
	// takes frames or x
	Key string
	// npz: name of the label array; "" tries y and labels
	LabelKey string
	// arrays: NHW, NCHW or NHWC; volumes: NDHW, NCDHW, NDHWC, or NWHD for NIfTI files whose axes stand as nibabel has
	// them; "" guesses where there is no doubt
	Layout string

	// Targets are boxes (a folder of VOC XML, a COCO JSON), masks (a folder of PNG, a COCO JSON) or fields (a folder,
	// npy or npz) that do not lie beside the images; "none" leaves out those that do.
	Targets string
	// Pixels says that targets are wanted per pixel, where the format is to be guessed and files have boxes as well.
	Pixels bool
	// voc and masks: name of a list in ImageSets/Main or ImageSets/Segmentation, such as "test"; "" takes all photos
	Split string
	// voc, coco, coco_masks, masks: names of the classes in the order of the models' numbers; none for those of the
	// data
	Classes []string
	// masks: how masks are called and what their pixels stand for
	Masks Masks
	// TargetKey is the name of the array of fields where Targets or Images is npz; "" takes flow, or the only array.
	TargetKey string
	// Upward says where y and v of OpenPIV text point: "up", "down" or "" for what the order of the rows says.
	Upward string

	// Orientation is shown ("" as well): photos are turned as their EXIF says; or stored: as they lie in the file.
	Orientation string

	// Zoom resizes photos and boxes when they are read, by area average where they shrink and bilinearly where they
	// grow; 0 for 1.
	Zoom float64
	// Fit is height and width that every photo is brought to: scaled to fit, in the middle, with zeros around it; zeros
	// for as it is.
	Fit [2]int
	// how photos of any size are brought to one, in place of Zoom, Fit and Cut
	Resize Resize
	// one sample per key object in place of one per photo
	Cut Cut

	// clouds: how shapes become points
	Cloud Cloud
	// signals: how recordings become signals
	Sound Sound
	// particles: what is rendered
	Particles Particles
	// phantoms: what is drawn
	Phantoms Phantoms
	// molecules: symbols of the atoms that the models know; others are refused; none for all
	Elements []string
	// Fields are the fields that samples have, in this order, where not the natural ones are wanted: clouds, molecules,
	// graphs and signals. One field is a plain value, several are a record.
	Fields []string
	// Own are those of Fields whose rows are of a set of their own, so that there may be other numbers of them than of
	// nodes, and Wide those whose rows have a number for each member of another set: graphs in lines of JSON.
	Own, Wide []string
}

// Cloud says how a mesh or a file of points becomes a cloud of points.
type Cloud struct {
	// points of each cloud; 0 for all points of a file, 1024 of a mesh
	Points int
	// what is moved to the origin: mean of the points ("" as well), box: the middle of the box around them, none
	Center string
	// sphere ("" as well): the farthest point from the origin has distance 1; box: the largest coordinate is 1; none
	Scale string
	// a file with fewer points: refuse ("" as well), or repeat its points from the first on
	Short string
	// keep the normals as the field "normals"
	Normals bool
	// axis of the files that points up and becomes z: x or y by the rotation (x, y, z) -> (y, z, x) or (x, -z, y); z or
	// "" for as it is
	Up string
	// files of numbers: names of the columns such as "x y z nx ny nz", others are left out; "" for x y z, with six
	// columns also the normals
	Columns string
	// of the points drawn from meshes
	Seed uint64
}

// Sound says how a recording becomes a signal.
type Sound struct {
	// samples per second that every file must have; 0 for that of the first file
	Rate int
	// samples that are taken of each recording; 0 for all
	Length int
	// first sample that is taken
	Start int
	// several channels: mean ("" as well), left, right or keep
	Mono string
}

// Particles says which pairs of particle images are rendered from known flows. Zeros stand for what package particle
// takes as usual.
type Particles struct {
	// number of pairs; 0 for 120
	Count int
	// kinds of flow, taken in turn; none for all
	Flows []string
	// height and width; zeros for 256 x 256
	Size [2]int
	// particles per pixel, and diameter of one in pixels
	Density, Diameter float64
	// standard deviation of the grey levels; share of particles that are in one frame alone
	Noise, Loss float64
	// largest displacement in pixels, and part of the mean flow in flows that know none of their own
	Shift, Mean float64
	// where the mean flow goes, and the standard deviation of it from flow to flow, in degrees
	Heading, Turn float64
	Seed          uint64
}

// Phantoms says which pictures are drawn from formulas. Zeros stand for what package phantom takes as usual.
type Phantoms struct {
	// number of pictures; 0 for 64
	Count int
	// kinds of formula, taken in turn; none for all
	Kinds []string
	// height and width; zeros for 32 x 32
	Size [2]int
	// 0 for 1
	Channels int
	// fraction of the Nyquist frequency below which the spectrum stays; 0 for 0.5
	Band float64
	Seed uint64
}

// Cut makes a sample of every key object of a photo: the piece of Size around the box's centre, both coordinates of
// which are rounded once to the pixel edge floor(c + 1/2). Where the photos have no boxes, it is the piece around the
// photo's middle.
type Cut struct {
	// height and width of the piece in pixels; zeros for no cut
	Size [2]int
	// height and width that Area is a share of; zeros for Size
	Window [2]int
	// of key objects; none for all
	Classes []string
	// smallest and largest area of the key box, as a share; zeros for [0.01, 0.5]
	Area [2]float64
	// skip ("" as well): leave out the object whose piece leaves the photo; reflect: mirror the photo about its border
	// pixels and tag the sample padded; refuse: end
	Outside string
	// at most this many key objects of one photo, those nearest to its middle; 0 for all
	PerPhoto int
}

// Open opens a data set of the machine's file system. It reads and checks headers, sizes and labels, so that what is
// wrong with a file as a whole is said here; only damage inside one sample shows when that sample is read.
//
// IDX files are kept in memory as they are, a byte per pixel in the usual case (7.8 MB for 10,000 digits). So are npy
// and npz arrays up to 256 MiB; larger ones that are plain and in C order stay on disk and are read sample by sample,
// larger compressed ones may take up to 1 GiB. Images of a folder are decoded one by one.
//
// Values are those of the file: 0 to 255 for 8-bit images, 0 to 65535 for 16-bit ones, the numbers themselves for
// arrays. Images with fewer bits are spread over 0 to 255. Palettes are looked up; one that has greys alone counts as
// grey. An alpha channel is dropped if every pixel is opaque and refused otherwise. CMYK becomes RGB. Of a TIFF file
// the first page counts. JPEG and lossy WebP decoders differ from each other by a few levels.
//
// Photos of a folder, of voc and of coco are turned as their EXIF says (JPEG, PNG, WebP, TIFF), as browsers, OpenCV and
// Pillow's ImageOps.exif_transpose show them; the loaders of torchvision, timm and Keras do not turn them, and under
// Orientation stored neither does this. Boxes are turned along: an annotation that gives the photo's size tells by it
// whether it was made on the stored or on the shown photo; where the size does not tell, it counts as made on the
// stored one, as pycocotools and torchvision, which turn nothing, read it. EXIF that cannot be read is passed over with
// a note. Frames of pairs are read as they are stored.
//
// An animation (GIF, PNG, WebP) is refused. A grey image among colours has three equal channels, with a note.
//
// In a folder, hidden files are left out, links followed and samples sorted by the bytes of their path. Labels come
// from the table, the pattern, or else the first folder below the root; names that all are non-negative integers are
// the class numbers, other names count 0, 1, … in byte order. Every header is read: an image whose size, channels or
// depth differ from the others is refused, and nothing of it is decoded.
//
// Photos with boxes (voc, coco) and photos of a folder may be resized (Zoom), brought to one size (Resize, Fit) or cut
// around key objects (Cut); without Resize, Fit and Cut all must have one size. Boxes follow in continuous coordinates
// from the picture's outer edge. Pascal VOC counts pixels from 1 and includes both corners, so that (xmin, ymin, xmax,
// ymax) is the box (xmin-1, ymin-1, xmax, ymax); COCO's [x, y, width, height] is the box (x, y, x+width, y+height).
// For both formats:
//
//   - A class that Classes does not have, a coordinate that is no finite number, corners the wrong way round, and a box
//     wholly outside of its photo are errors, as is an annotation for a photo of another size. The error names file and
//     object.
//   - Boxes without area (in VOC also those with equal corners) and objects marked difficult or iscrowd are left out,
//     boxes that reach beyond their photo are clipped to it; [Info].Notes count them.
//   - A photo without boxes is a sample with an empty set of them, or gives no sample where key objects are cut out. A
//     photo without an annotation is an error in VOC; of COCO the photos that the file lists are taken.
//   - The XML of a photo is found by the photo's name; what it says of file name and path is not believed. Without
//     Classes the classes of VOC are numbered in alphabetical order, those of COCO by their ids.
//
// With Cut a sample is called photo#k, k the position of the object in its VOC file, from 1, or its id in COCO. Its
// label is the object's class, which is among the tags too; its target are the boxes that reach into the piece, in its
// coordinates and not clipped, the key object first. Decoded photos are kept, up to 64 MiB, so that the objects of one
// photo decode it once.
//
// Masks are PNG files called like the photos (see [Masks]), in Targets, in SegmentationClass or beside the photos, of
// the photos' size. Grey masks and palettes hold the numbers of the classes, also with fewer than 8 bits; masks in
// colors need a table of them. 255 is void, which counts for nothing, unless something else is said or 0 and 255 are
// all there is. A resized photo has its mask resized by the nearest neighbor, and what a frame adds around it is void.
//
// Of coco_masks the mask is drawn from the objects of the JSON file: polygons, and run lengths as numbers or as text,
// to the same pixels as pycocotools. Pixels in no object are of the class called background, which is put first where
// Classes is empty, and void where there is none. Pixels that objects of two classes cover are void, or of the later
// one in the file (see [Masks]); pixels of a crowd in which no other object lies are void.
//
// Pairs are sequences of frames of one size: files whose names end in a and b, 0 and 1, 1 and 2, img1 and
// img2 or two other numbers that follow each other, or lie in folders called so; files that a Pattern groups, of any
// number; TIFF files of several pages; arrays (N, frames, H, W) or (N, frames, channels, H, W). Fields lie beside or in
// Targets, called like the pair, with or without _flow: Middlebury's .flo ([ReadFlo]), tables of OpenPIV in pixels,
// which are interpolated bilinearly where they are coarser than the pixels, or an array (N, 2, H, W) or (N, H, W, 2).
// Either all pairs have a field or none has.
//
// Clouds are points in space: files of meshes (OFF, OBJ, PLY), from whose faces points are drawn evenly by area, by a
// generator that is seeded with Cloud.Seed and the sample's name; files of points (PLY, OBJ and OFF without faces,
// lines of numbers in .txt, .pts, .xyz, .csv and .asc, arrays (points, 3) in .npy), of which the first ones count; or
// an array points (N, points, 3) of an npz file, with labels, names and class_names beside it. They are turned, centred
// and scaled, in this order, as [Cloud] says; a sample is [space.Rows], with normals a [space.Record] of points and
// normals. Coincident points are noted and tagged; where all coincide there is nothing to scale by.
//
// Molecules are read from XYZ, extended XYZ and SD files (nero/data/chem), or from arrays positions (N, atoms, 3) and
// species, the atomic numbers. A sample is a record of positions and species and, where the files have them, charges,
// cell, and for bonds edges, both directions of each, with their orders; its target is a record of energy, forces,
// stress, virial and dipole as far as they are there. Everything else that a file says of a molecule is a tag.
//
// Graphs and sets have arrays nodes (N, nodes, numbers), or (all nodes, numbers) with node_count, edges (all edges, 2)
// or (2, all edges) with edge_count, whose numbers count the nodes of each graph from 0; any other array belongs to
// nodes, edges or samples as its first axis says. Or they stand in a file with a JSON object on every line. Nodes alone
// are plain rows. Targets are the arrays y and q, energy and forces, or the one that TargetKey names.
//
// Signals are WAV files (nero/data/sound), whose whole numbers are scaled to [-1, 1), or arrays (N, numbers) or (N,
// channels, numbers), which are not scaled. All must have one rate; nothing is resampled.
//
// Volumes are NIfTI-1 files (nero/data/nifti), plain or gzip, a folder of them or of npy files with one volume each, or
// an array (N, depth, height, width), or with channels before or behind the three. The axes of NIfTI files are slices,
// rows and columns; under the layout NWHD they stand the other way round. The scaling that a file asks for is applied.
// A file with left-handed axes has the first one reversed, which a note says, a sheared one is refused; voxels that are
// no cubes are noted. Sizes may differ, channels must not.
//
// Of clouds, molecules, graphs and signals a sample has the fields that Fields names, in that order; one field is a
// plain value, several are a record. Without Fields it has those named above, and other arrays are left out with a
// note, of graphs taken too.
func Open(spec Spec) (Dataset, error) { return Builtin().Open(spec) }

// OpenFS is [Open] for the files of fsys, such as an [embed.FS]; paths are those of fsys.
func OpenFS(fsys fs.FS, spec Spec) (Dataset, error) { return Builtin().OpenFS(fsys, spec) }

// sniff tells array formats by their first bytes, "" for others.
func sniff(b []byte) string {
	switch {
	case startsIDX(b):
		return "idx"
	case startsNpy(b):
		return "npy"
	case startsZip(b):
		return "npz"
	}
	return ""
}

// openFile opens images in an IDX or npy file.
func (o opener) openFile(spec Spec) (Dataset, error) {
	a, err := o.open(spec.Images)
	if err != nil {
		return nil, err
	}
	d, err := newArrays(a, spec.Layout)
	if err != nil {
		return nil, err
	}
	d.files = []string{spec.Images}
	if err := o.label(d, spec); err != nil {
		return nil, err
	}
	return d, nil
}

// label reads the label file that spec names into d.
func (o opener) label(d *arrays, spec Spec) error {
	if spec.Labels == "" {
		return nil
	}
	var notes []string
	var err error
	d.labels, d.names, notes, err = o.labels(spec, d.IDs())
	d.notes = append(d.notes, notes...)
	if !slices.Contains(d.files, spec.Labels) {
		d.files = append(d.files, spec.Labels)
	}
	return err
}

// labels reads a label file of any format for the samples ids.
func (o opener) labels(spec Spec, ids []string) (labels []int, names, notes []string, err error) {
	kind, err := labelFormat(o.fsys, spec.Labels)
	if err != nil {
		return nil, nil, nil, err
	}
	if spec.LabelKey != "" && kind != "npz" {
		return nil, nil, nil, fmt.Errorf("%s: label_key is for npz archives, this is none", spec.Labels)
	}
	if kind == "" {
		return tableLabels(o.fsys, spec.Labels, ids)
	}
	if kind == "npz" {
		labels, err = o.npzLabels(spec, len(ids))
		return labels, nil, nil, err
	}
	a, err := o.open(spec.Labels)
	if err != nil {
		return nil, nil, nil, err
	}
	labels, err = intLabels(a, len(ids))
	return labels, nil, nil, err
}

// Digest is the SHA-256 of a file of the machine's file system in hexadecimal. It reads the file as a stream.
func Digest(path string) (string, error) { return DigestFS(disk{}, path) }

// DigestFS is [Digest] for a file of fsys.
func DigestFS(fsys fs.FS, name string) (string, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close() //nolint:errcheck // only read from
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", inFile(name, err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

var _ fs.StatFS = disk{}
