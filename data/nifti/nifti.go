// Package nifti reads volumes in NIfTI-1 files (.nii): scans with the place of their voxels in space.
//
// The format is that of the header nifti1.h of the NIfTI Data Format Working Group: a head of 348 bytes in the byte
// order of the machine that wrote it, extensions that are skipped, and the numbers, the first axis varying fastest.
// Sizes are held against the length of the file before anything is allocated. Compression is the caller's business.
package nifti

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"

	"nero/internal/elementary"
)

// HeadBytes is how much of a file [ReadHead] wants: the head and the four bytes behind it.
const HeadBytes = 352

// Bounds on what a file may claim: the most numbers of one volume, and of one file.
const (
	maxVoxels  = 1 << 26
	maxNumbers = 1 << 30
)

// Head is what the head of a file says.
type Head struct {
	// Shape is the voxels along the axes i, j and k, and how many numbers each has: the channels, or moments of time.
	Shape [4]int
	// Spacing is the length of a voxel along i, j and k in the file's unit of length, nearly always millimetres; all
	// above 0.
	Spacing [3]float64
	// Affine sends the indices (i, j, k, 1) to x (towards the right of a patient), y (to the front) and z (up).
	Affine [3][4]float64
	// From says where Affine comes from: sform, qform or, where the file has neither, pixdim.
	From string
	// LeftHanded says that i, j and k form a left-handed system: the volume shows a mirror image unless one axis is
	// reversed.
	LeftHanded bool

	kind numberKind
	// what scaling the file asks for: value = slope·number + inter
	slope, inter float64
	order        binary.ByteOrder
	// of the numbers
	offset int64
}

// numberKind is an element type.
type numberKind struct {
	code  int16
	name  string
	bytes int
	read  func(o binary.ByteOrder, b []byte) float64
}

// kinds are the types that are read.
func kinds() []numberKind {
	return []numberKind{
		{2, "uint8", 1, func(_ binary.ByteOrder, b []byte) float64 { return float64(b[0]) }},
		{4, "int16", 2, func(o binary.ByteOrder, b []byte) float64 { return float64(int16(o.Uint16(b))) }},
		{8, "int32", 4, func(o binary.ByteOrder, b []byte) float64 { return float64(int32(o.Uint32(b))) }},
		{16, "float32", 4, func(o binary.ByteOrder, b []byte) float64 {
			return float64(math.Float32frombits(o.Uint32(b)))
		}},
		{64, "float64", 8, func(o binary.ByteOrder, b []byte) float64 { return math.Float64frombits(o.Uint64(b)) }},
		{256, "int8", 1, func(_ binary.ByteOrder, b []byte) float64 { return float64(int8(b[0])) }},
		{512, "uint16", 2, func(o binary.ByteOrder, b []byte) float64 { return float64(o.Uint16(b)) }},
		{768, "uint32", 4, func(o binary.ByteOrder, b []byte) float64 { return float64(o.Uint32(b)) }},
		{1024, "int64", 8, func(o binary.ByteOrder, b []byte) float64 { return float64(int64(o.Uint64(b))) }},
		{1280, "uint64", 8, func(o binary.ByteOrder, b []byte) float64 { return float64(o.Uint64(b)) }},
	}
}

// others are types that are known and not read.
func others() map[int16]string {
	return map[int16]string{
		1: "single bits", 32: "complex64", 128: "RGB colors", 1536: "float128", 1792: "complex128", 2048: "complex256",
		2304: "RGBA colors",
	}
}

// offsets of the fields of the head that are read.
const (
	atDim      = 40
	atType     = 70
	atBits     = 72
	atPixdim   = 76
	atOffset   = 108
	atSlope    = 112
	atInter    = 116
	atQform    = 252
	atSform    = 254
	atQuatern  = 256
	atQoffset  = 268
	atSrow     = 280
	atMagic    = 344
	headLength = 348
)

// shear is the largest cosine between two axes of a grid that counts as rectangular: 0.06 degrees, far above the
// rounding of float32 and far below the tilt of any gantry.
const shear = 1e-3

// Is tells the first bytes of a NIfTI file; it wants the whole head, [HeadBytes].
func Is(b []byte) bool {
	return len(b) >= headLength &&
		(string(b[atMagic:headLength]) == "n+1\x00" || string(b[atMagic:headLength]) == "ni1\x00")
}

// ReadHead reads the first [HeadBytes] of a file of so many bytes; -1 where nobody knows how many, as of a compressed
// one.
func ReadHead(b []byte, size int64) (Head, error) {
	var h Head
	if len(b) < 4 {
		return h, fmt.Errorf("has %d bytes, want a NIfTI-1 file, whose head alone has %d", len(b), headLength)
	}
	le, be := binary.LittleEndian.Uint32(b), binary.BigEndian.Uint32(b)
	switch {
	case le == headLength:
		h.order = binary.LittleEndian
	case be == headLength:
		h.order = binary.BigEndian
	case le == 540 || be == 540:
		return h, errors.New("is NIfTI-2, want NIfTI-1: convert it, such as by nibabel: " +
			"nibabel.save(nibabel.Nifti1Image.from_image(nibabel.load(IN)), OUT)")
	default:
		return h, fmt.Errorf(
			"starts with bytes % x, want a NIfTI-1 file, which starts with its head's length %d (5c 01 00 "+
				"00, or 00 00 01 5c)", b[:4], headLength)
	}
	if len(b) < headLength {
		return h, fmt.Errorf("the head ends after %d of %d bytes: the file is cut short, fetch it again", len(b),
			headLength)
	}
	switch magic := string(b[atMagic:headLength]); magic {
	case "n+1\x00":
	case "ni1\x00":
		return h, errors.New(
			"is the head of a pair .hdr and .img, want one file .nii: convert it, such as by nibabel: " +
				"nibabel.save(nibabel.load(\"NAME.hdr\"), \"NAME.nii\")")
	default:
		return h, fmt.Errorf(
			"byte %d: the magic is %q, want \"n+1\": this is no NIfTI-1 file, perhaps Analyze 7.5, which "+
				"does not say where its voxels lie; convert it to .nii", atMagic, magic)
	}
	if err := h.readShape(b); err != nil {
		return h, err
	}
	if err := h.readType(b); err != nil {
		return h, err
	}
	if err := h.readOffset(b, size); err != nil {
		return h, err
	}
	return h, h.readPlace(b)
}

func (h *Head) int16(b []byte, at int) int16 { return int16(h.order.Uint16(b[at:])) }

func (h *Head) float(b []byte, at int) float64 {
	return float64(math.Float32frombits(h.order.Uint32(b[at:])))
}

// readShape reads the lengths of the axes.
func (h *Head) readShape(b []byte) error {
	n := h.int16(b, atDim)
	if n < 3 || n > 7 {
		if n == 1 || n == 2 {
			return fmt.Errorf("byte %d: has %d axes, want three for a volume, and perhaps one for channels", atDim, n)
		}
		return fmt.Errorf("byte %d: claims %d axes, want 3 to 7: the head is damaged", atDim, n)
	}
	h.Shape = [4]int{1, 1, 1, 1}
	var long []string
	voxels := 1
	for i := range int(n) {
		d := int(h.int16(b, atDim+2+2*i))
		if d < 1 {
			return fmt.Errorf("byte %d: axis %d has the length %d, want 1 or more: the head is damaged", atDim+2+2*i,
				i+1, d)
		}
		switch {
		case i < 3:
			h.Shape[i] = d
			voxels *= d // at most 2⁴⁵
		case d > 1:
			h.Shape[3] = d
			long = append(long, fmt.Sprintf("axis %d has %d", i+1, d))
		}
	}
	if len(long) > 1 {
		return fmt.Errorf("has more than one axis beyond space (%s), want one at most, for channels: split the file",
			strings.Join(long, ", "))
	}
	if voxels > maxVoxels || voxels*h.Shape[3] > maxNumbers {
		return fmt.Errorf("claims %d x %d x %d voxels of %d numbers, want at most %d voxels and %d numbers: crop or "+
			"resample it", h.Shape[0], h.Shape[1], h.Shape[2], h.Shape[3], maxVoxels, maxNumbers)
	}
	return nil
}

// readType reads the element type and the scaling.
func (h *Head) readType(b []byte) error {
	code := h.int16(b, atType)
	for _, k := range kinds() {
		if k.code == code {
			h.kind = k
		}
	}
	if h.kind.bytes == 0 {
		if name, ok := others()[code]; ok {
			return fmt.Errorf("byte %d: the voxels are %s, want whole or floating-point numbers of up to 8 bytes: "+
				"convert "+
				"them", atType, name)
		}
		return fmt.Errorf("byte %d: type %d is not known, want whole or floating-point numbers of up to 8 bytes",
			atType,
			code)
	}
	if bits := h.int16(b, atBits); bits != 0 && int(bits) != 8*h.kind.bytes {
		return fmt.Errorf("byte %d: claims %d bits for each number of type %s, which has %d: the head is damaged",
			atBits,
			bits, h.kind.name, 8*h.kind.bytes)
	}
	h.slope, h.inter = h.float(b, atSlope), h.float(b, atInter)
	if h.slope == 0 || math.IsNaN(h.slope) || math.IsInf(h.slope, 0) {
		h.slope, h.inter = 1, 0 // the format's way to say that nothing is scaled
	}
	if math.IsNaN(h.inter) || math.IsInf(h.inter, 0) {
		return fmt.Errorf("byte %d: scl_inter is %g, which is added to every number: set it to 0", atInter, h.inter)
	}
	return nil
}

// readOffset reads where the numbers begin, and holds the length of the file against them.
func (h *Head) readOffset(b []byte, size int64) error {
	at := h.float(b, atOffset)
	if !(at >= headLength && at <= 1<<30) || at != math.Trunc(at) {
		return fmt.Errorf("byte %d: the numbers begin at byte %g, want %d or more: the head is damaged", atOffset, at,
			HeadBytes)
	}
	h.offset = int64(at)
	if want := h.offset + h.Bytes(); size >= 0 && size < want {
		return fmt.Errorf("claims %d x %d x %d x %d numbers of type %s, %d bytes with the head, but the file has %d: "+
			"it is "+
			"cut short, fetch it again", h.Shape[0], h.Shape[1], h.Shape[2], h.Shape[3], h.kind.name, want, size)
	}
	return nil
}

// readPlace reads where the voxels lie: from the sform, else the qform, else the lengths of the voxels alone.
func (h *Head) readPlace(b []byte) error {
	switch {
	case h.int16(b, atSform) > 0:
		h.From = "sform"
		for r := range 3 {
			for c := range 4 {
				h.Affine[r][c] = h.float(b, atSrow+16*r+4*c)
			}
		}
	case h.int16(b, atQform) > 0:
		h.From = "qform"
		if err := h.quaternion(b); err != nil {
			return err
		}
	default:
		h.From = "pixdim"
		for i := range 3 {
			h.Affine[i][i] = math.Abs(h.float(b, atPixdim+4+4*i))
			if h.Affine[i][i] == 0 {
				h.Affine[i][i] = 1 // written by programs that know no lengths
			}
		}
	}
	return h.check()
}

// quaternion makes the affine map of a qform: method 2 of nifti1.h.
func (h *Head) quaternion(b []byte) error {
	x, y, z := h.float(b, atQuatern), h.float(b, atQuatern+4), h.float(b, atQuatern+8)
	w := 1 - (float64(x*x) + float64(y*y) + float64(z*z))
	switch {
	case !(w >= -1e-4): // NaN as well
		return fmt.Errorf("byte %d: the qform's quaternion (%g, %g, %g) is longer than 1: the head is damaged, write "+
			"it "+
			"again with a right one or with an sform", atQuatern, x, y, z)
	case w < 1e-7:
		s := 1 / math.Sqrt(float64(x*x)+float64(y*y)+float64(z*z))
		x, y, z, w = x*s, y*s, z*s, 0
	default:
		w = math.Sqrt(w)
	}
	r := [3][3]float64{
		{
			float64(w*w) + float64(x*x) - float64(y*y) - float64(z*z), float64(2*x*y) - float64(2*w*z),
			float64(2*x*z) + float64(2*w*y),
		},
		{
			float64(2*x*y) + float64(2*w*z), float64(w*w) + float64(y*y) - float64(x*x) - float64(z*z),
			float64(2*y*z) - float64(2*w*x),
		},
		{
			float64(2*x*z) - float64(2*w*y), float64(2*y*z) + float64(2*w*x),
			float64(w*w) + float64(z*z) - float64(x*x) - float64(y*y),
		},
	}
	for j := range 3 {
		d := math.Abs(h.float(b, atPixdim+4+4*j))
		if j == 2 && h.float(b, atPixdim) < 0 {
			d = -d // qfac
		}
		for i := range 3 {
			h.Affine[i][j] = r[i][j] * d
		}
		h.Affine[j][3] = h.float(b, atQoffset+4*j)
	}
	return nil
}

// check finds the lengths of voxels and the hand, and refuses grids that are none.
func (h *Head) check() error {
	var axis [3][3]float64
	for j := range 3 {
		for i := range 3 {
			a := h.Affine[i][j]
			if math.IsNaN(a) || math.IsInf(a, 0) {
				return fmt.Errorf("its %s has a number that is %g: write the head again with a right one", h.From, a)
			}
			axis[j][i] = a
		}
		h.Spacing[j] = math.Sqrt(dot(axis[j], axis[j]))
		if !(h.Spacing[j] > 1e-9 && h.Spacing[j] < 1e9) {
			return fmt.Errorf("its %s gives voxels the length %g along axis %d, want a length above 0: write the "+
				"head again "+
				"with a right one", h.From, h.Spacing[j], j+1)
		}
	}
	for j := range 3 {
		k := (j + 1) % 3
		if c := dot(axis[j], axis[k]) / (h.Spacing[j] * h.Spacing[k]); math.Abs(c) > shear {
			return fmt.Errorf("its %s is sheared: the axes %d and %d meet at %.4g degrees, and turns of the grid "+
				"would not "+
				"be turns of what it shows; resample it to a rectangular grid, such as by nibabel: "+
				"nibabel.processing.resample_to_output(image)", h.From, j+1, k+1,
				elementary.Acos(max(-1, min(1, c)))*180/math.Pi)
		}
	}
	cross := [3]float64{
		float64(axis[0][1]*axis[1][2]) - float64(axis[0][2]*axis[1][1]),
		float64(axis[0][2]*axis[1][0]) - float64(axis[0][0]*axis[1][2]),
		float64(axis[0][0]*axis[1][1]) - float64(axis[0][1]*axis[1][0]),
	}
	h.LeftHanded = dot(cross, axis[2]) < 0
	return nil
}

func dot(a, b [3]float64) float64 {
	return float64(a[0]*b[0]) + float64(a[1]*b[1]) + float64(a[2]*b[2])
}

// Offset is the byte at which the numbers begin.
func (h Head) Offset() int64 { return h.offset }

// Bytes is how many bytes the numbers take.
func (h Head) Bytes() int64 {
	return int64(h.kind.bytes) * int64(h.Shape[0]) * int64(h.Shape[1]) * int64(h.Shape[2]) * int64(h.Shape[3])
}

// Type names the element type, such as int16.
func (h Head) Type() string { return h.kind.name }

// Anisotropy is the longest side of a voxel over its shortest, 1 for cubes.
func (h Head) Anisotropy() float64 {
	s := h.Spacing
	return max(s[0], s[1], s[2]) / min(s[0], s[1], s[2])
}

// Numbers are the scaled numbers of the file, i varying fastest, then j, k and the channel. b are the bytes from Offset
// on, as many as Bytes says.
func (h Head) Numbers(b []byte) ([]float64, error) {
	if int64(len(b)) != h.Bytes() {
		return nil, fmt.Errorf("%d bytes of numbers, want %d: the file is cut short, fetch it again", len(b), h.Bytes())
	}
	out := make([]float64, len(b)/h.kind.bytes)
	for i := range out {
		out[i] = h.kind.read(h.order, b[i*h.kind.bytes:])
	}
	if h.slope != 1 || h.inter != 0 {
		for i, x := range out {
			out[i] = float64(h.slope*x) + h.inter
		}
	}
	return out, nil
}
