package dataset

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"io/fs"
	"strings"

	"golang.org/x/image/bmp"
	"golang.org/x/image/tiff"
	"golang.org/x/image/webp"

	"nero/data/space"
)

// maxFile bounds the encoded size of one image.
const maxFile = 1 << 30

// picture is what the header of an image file announces.
type picture struct {
	c, h, w int
	// bits of the file's unit: values are 0..2^depth-1
	depth int
	// a palette of greys, which serves as one channel or as three
	either bool
}

func (p picture) String() string { return fmt.Sprintf("%d x %d pixels, %s", p.w, p.h, p.kind()) }

// kind is channels and depth.
func (p picture) kind() string {
	kind := "RGB"
	if p.c == 1 {
		kind = "grey"
	}
	return fmt.Sprintf("%s, %d bits", kind, p.depth)
}

// fits tells whether p can stand among images like want: a grey one among colours is one of three equal channels.
func (p picture) fits(want picture) bool {
	return p.h == want.h && p.w == want.w && p.depth == want.depth && (p.c <= want.c || p.either)
}

// imageFormat tells image formats by their first bytes.
func imageFormat(b []byte) string {
	switch {
	case bytes.HasPrefix(b, []byte("\x89PNG\r\n\x1a\n")):
		return "PNG"
	case bytes.HasPrefix(b, []byte("\xff\xd8\xff")):
		return "JPEG"
	case bytes.HasPrefix(b, []byte("II*\x00")), bytes.HasPrefix(b, []byte("MM\x00*")):
		return "TIFF"
	case len(b) >= 12 && string(b[:4]) == "RIFF" && string(b[8:12]) == "WEBP":
		return "WebP"
	case bytes.HasPrefix(b, []byte("GIF87a")), bytes.HasPrefix(b, []byte("GIF89a")):
		return "GIF"
	case len(b) >= 10 && string(b[:2]) == "BM" && string(b[6:10]) == "\x00\x00\x00\x00": // four bytes that BMP reserves
		return "BMP"
	}
	return ""
}

// errForeign is the error of a file that is no image, whatever its name says.
func errForeign(b []byte) error {
	if len(b) == 0 {
		return errors.New("is empty (0 bytes): fetch it again or remove it")
	}
	return fmt.Errorf("starts with bytes % x: not a PNG, JPEG, TIFF, BMP, GIF or WebP image; convert or remove it",
		b[:min(len(b), 8)])
}

// peekPicture reads the header of an image file and as little more as it can.
func peekPicture(fsys fs.FS, name string) (picture, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return picture{}, err
	}
	defer f.Close() //nolint:errcheck // only read from
	br := bufio.NewReaderSize(f, 4096)
	head, err := br.Peek(12)
	if err != nil && !errors.Is(err, io.EOF) {
		return picture{}, err
	}
	format := imageFormat(head)
	if at, ok := f.(io.ReaderAt); ok && format == "TIFF" {
		// Its directory may lie at the end: go there and do not read what is between.
		return readPicture(format, struct {
			io.Reader
			io.ReaderAt
		}{br, at})
	}
	if format == "" {
		return picture{}, errForeign(head)
	}
	return readPicture(format, br)
}

// readPicture reads a header.
func readPicture(format string, r io.Reader) (picture, error) {
	var cfg image.Config
	var err error
	switch format {
	case "PNG":
		cfg, err = png.DecodeConfig(r)
	case "JPEG":
		cfg, err = jpeg.DecodeConfig(r)
	case "TIFF":
		cfg, err = tiff.DecodeConfig(r)
	case "WebP":
		cfg, err = webp.DecodeConfig(r)
	case "BMP":
		cfg, err = bmp.DecodeConfig(r)
	case "GIF":
		cfg, err = gif.DecodeConfig(r)
	}
	if err != nil {
		return picture{}, undecoded("the "+format+" header cannot be read", err)
	}
	p := picture{h: cfg.Height, w: cfg.Width}
	if p.h < 1 || p.w < 1 {
		return picture{}, fmt.Errorf("the %s header announces %d x %d pixels; fetch the file again or remove it",
			format, p.w, p.h)
	}
	if pal, ok := cfg.ColorModel.(color.Palette); ok { // first: a palette cannot be compared
		p.c, p.depth = 3, 8
		if len(pal) > 0 && isGrey(pal) {
			p.c, p.either = 1, true
		}
		return p, nil
	}
	switch cfg.ColorModel {
	case color.GrayModel:
		p.c, p.depth = 1, 8
	case color.Gray16Model:
		p.c, p.depth = 1, 16
	case color.RGBAModel, color.NRGBAModel, color.YCbCrModel, color.NYCbCrAModel, color.CMYKModel:
		p.c, p.depth = 3, 8
	case color.RGBA64Model, color.NRGBA64Model:
		p.c, p.depth = 3, 16
	default:
		return picture{}, fmt.Errorf("the color model of this %s file is not known: convert it to RGB", format)
	}
	return p, nil
}

// isGrey tells whether a palette has greys alone.
func isGrey(p color.Palette) bool {
	for _, c := range p {
		if r, g, b, _ := c.RGBA(); r != g || g != b {
			return false
		}
	}
	return true
}

// undecoded says what helps against a picture that a decoder refuses: one of a kind that it does not read is whole, and
// needs to be converted. Each decoder has an error of its own for that, and all say this word.
func undecoded(what string, err error) error {
	if strings.Contains(err.Error(), "unsupported") {
		return fmt.Errorf("the file is of a kind that is not read (%w): convert it: "+
			"magick FILE -colorspace sRGB FILE.png",
			err)
	}
	return fmt.Errorf("%s: %w; fetch the file again or remove it", what, err)
}

// loadPicture decodes an image file that lies as o says and must look like want when it is shown.
func loadPicture(fsys fs.FS, name string, want picture, o orientation) (*space.Image, error) {
	want = o.shown(want) // exchanging twice is nothing
	b, err := readWhole(fsys, name)
	if err != nil {
		return nil, err
	}
	format := imageFormat(b)
	if format == "" {
		return nil, errForeign(b)
	}
	// The header again, from the bytes that are decoded: the file may have changed since the folder was opened.
	p, err := readPicture(format, bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	if !p.fits(want) {
		return nil, fmt.Errorf("has changed to %s since the folder was opened, want %s", p, want)
	}
	var m image.Image
	switch format {
	case "PNG":
		m, err = png.Decode(bytes.NewReader(b))
	case "JPEG":
		m, err = jpeg.Decode(bytes.NewReader(b))
	case "TIFF":
		m, err = tiff.Decode(bytes.NewReader(b))
	case "WebP":
		m, err = webp.Decode(bytes.NewReader(b))
	case "BMP":
		m, err = bmp.Decode(bytes.NewReader(b))
	case "GIF":
		m, err = gif.Decode(bytes.NewReader(b))
	}
	if err != nil {
		return nil, undecoded("the "+format+" data are damaged", err)
	}
	if r := m.Bounds(); r.Dx() != want.w || r.Dy() != want.h {
		return nil, fmt.Errorf("the %s data have %d x %d pixels, their header says %d x %d", format, r.Dx(), r.Dy(),
			want.w, want.h)
	}
	out, err := fromImage(m, want)
	if err != nil {
		return nil, err
	}
	return o.image(out), nil
}

// readWhole reads a file of at most maxFile bytes.
func readWhole(fsys fs.FS, name string) ([]byte, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read from
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if st.Size() > maxFile {
		return nil, fmt.Errorf("has %d bytes, more than the %d that an image file may have", st.Size(), maxFile)
	}
	b := make([]byte, st.Size())
	n, err := io.ReadFull(f, b)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, err
	}
	return b[:n], nil
}

// fromImage converts a decoded image to planes of intensities. An alpha channel must be opaque everywhere.
func fromImage(m image.Image, want picture) (*space.Image, error) {
	out := space.NewImage(want.c, want.h, want.w)
	r := m.Bounds()
	w, h, n := want.w, want.h, want.h*want.w
	depth := 8
	// set stores one pixel and tells whether the image can take it: a grey image takes greys.
	set := func(k int, r, g, b uint16) bool {
		out.Pix[k] = float64(r)
		if want.c == 1 {
			return r == g && g == b
		}
		out.Pix[n+k], out.Pix[2*n+k] = float64(g), float64(b)
		return true
	}
	grey, solid := true, true
	switch m := m.(type) {
	case *image.Gray:
		for y := range h {
			for x, v := range m.Pix[y*m.Stride : y*m.Stride+w] {
				set(y*w+x, uint16(v), uint16(v), uint16(v))
			}
		}
	case *image.Gray16:
		depth = 16
		for y := range h {
			for x := range w {
				v := m.Gray16At(r.Min.X+x, r.Min.Y+y).Y
				set(y*w+x, v, v, v)
			}
		}
	case *image.RGBA:
		grey, solid = interleaved(m.Pix, m.Stride, w, h, set)
	case *image.NRGBA:
		grey, solid = interleaved(m.Pix, m.Stride, w, h, set)
	case *image.RGBA64:
		depth = 16
		grey, solid = interleaved16(m.Pix, m.Stride, w, h, set)
	case *image.NRGBA64:
		depth = 16
		grey, solid = interleaved16(m.Pix, m.Stride, w, h, set)
	case *image.Paletted:
		grey, solid = paletted(m, w, h, set)
	case *image.YCbCr:
		grey = luma(m, w, h, set)
	case *image.NYCbCrA:
		grey = luma(&m.YCbCr, w, h, set)
		for y := range h {
			for _, a := range m.A[y*m.AStride : y*m.AStride+w] {
				solid = solid && a == 0xff
			}
		}
	case *image.CMYK:
		for y := range h {
			for x := range w {
				p := m.Pix[y*m.Stride+4*x:]
				r, g, b := color.CMYKToRGB(p[0], p[1], p[2], p[3])
				grey = set(y*w+x, uint16(r), uint16(g), uint16(b)) && grey
			}
		}
	default:
		return nil, fmt.Errorf("decodes to %T, which is not supported: convert it to RGB", m)
	}
	switch {
	case !solid:
		return nil, errors.New(
			"has transparent pixels, and nothing says what lies behind them: flatten the image onto the background " +
				"that the model was trained with, such as white: magick FILE -background white -flatten FILE")
	case depth != want.depth:
		return nil, fmt.Errorf("decodes to %d bits, its header says %d", depth, want.depth)
	case !grey:
		return nil, errors.New("decodes to colors, its header says grey")
	}
	return out, nil
}

// interleaved reads 8-bit R, G, B, A.
func interleaved(pix []byte, stride, w, h int, set func(k int, r, g, b uint16) bool) (grey, solid bool) {
	grey, solid = true, true
	for y := range h {
		row := pix[y*stride : y*stride+4*w]
		for x := range w {
			p := row[4*x : 4*x+4]
			grey = set(y*w+x, uint16(p[0]), uint16(p[1]), uint16(p[2])) && grey
			solid = solid && p[3] == 0xff
		}
	}
	return grey, solid
}

// interleaved16 reads 16-bit R, G, B, A, big-endian.
func interleaved16(pix []byte, stride, w, h int, set func(k int, r, g, b uint16) bool) (grey, solid bool) {
	grey, solid = true, true
	for y := range h {
		row := pix[y*stride : y*stride+8*w]
		for x := range w {
			p := row[8*x : 8*x+8]
			grey = set(y*w+x, uint16(p[0])<<8|uint16(p[1]), uint16(p[2])<<8|uint16(p[3]),
				uint16(p[4])<<8|uint16(p[5])) && grey
			solid = solid && p[6] == 0xff && p[7] == 0xff
		}
	}
	return grey, solid
}

// paletted looks colors up; a pixel without a color counts as transparent.
func paletted(m *image.Paletted, w, h int, set func(k int, r, g, b uint16) bool) (grey, solid bool) {
	var table [256][3]uint16
	var see [256]bool // see-through
	for i := range see {
		if i >= len(m.Palette) {
			see[i] = true
			continue
		}
		r, g, b, a := m.Palette[i].RGBA()
		table[i], see[i] = [3]uint16{uint16(r >> 8), uint16(g >> 8), uint16(b >> 8)}, a != 0xffff
	}
	grey, solid = true, true
	for y := range h {
		for x, i := range m.Pix[y*m.Stride : y*m.Stride+w] {
			c := table[i]
			grey = set(y*w+x, c[0], c[1], c[2]) && grey
			solid = solid && !see[i]
		}
	}
	return grey, solid
}

// luma converts Y'CbCr as JFIF says (ITU-R BT.601, full range), chroma taken from the nearest sample.
func luma(m *image.YCbCr, w, h int, set func(k int, r, g, b uint16) bool) (grey bool) {
	grey = true
	for y := range h {
		for x := range w {
			yi, ci := m.YOffset(m.Rect.Min.X+x, m.Rect.Min.Y+y), m.COffset(m.Rect.Min.X+x, m.Rect.Min.Y+y)
			r, g, b := color.YCbCrToRGB(m.Y[yi], m.Cb[ci], m.Cr[ci])
			grey = set(y*w+x, uint16(r), uint16(g), uint16(b)) && grey
		}
	}
	return grey
}
