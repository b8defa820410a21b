package dataset

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"io/fs"

	"nero/data/space"
)

// maskReader turns PNG files into masks of classes.
type maskReader struct {
	fsys fs.FS
	spec Masks
	// number of classes, 0 if nobody says
	classes int
	// class or void of a number and of a color
	values map[int]int32
	colors map[[3]uint8]int32
}

// pngHead is how long a PNG file is up to its bit depth, and where that stands.
const (
	pngHead  = 26
	pngDepth = 24
)

// peek reads the header of a mask.
func (m *maskReader) peek(name string) (h, w int, err error) {
	b, err := head(m.fsys, name, 4096)
	if err != nil {
		return 0, 0, err
	}
	return maskSize(b)
}

// maskSize is height and width of the PNG that b begins with. What no mask can be is refused.
func maskSize(b []byte) (h, w int, err error) {
	if len(b) < pngHead || imageFormat(b) != "PNG" {
		return 0, 0, errors.New("is no PNG image: masks are PNG files of grey numbers, palettes or colors")
	}
	cfg, err := png.DecodeConfig(bytes.NewReader(b))
	if err != nil {
		return 0, 0, fmt.Errorf("the PNG header cannot be read: %w", err)
	}
	if b[pngDepth] == 16 {
		return 0, 0, errors.New("has 16 bits per channel: classes have 8. Such files often number objects and not " +
			"classes, as instances do; convert them to the numbers of the classes, 0 to 255")
	}
	if err := checkSize(1, cfg.Height, cfg.Width); err != nil {
		return 0, 0, err
	}
	return cfg.Height, cfg.Width, nil
}

// read decodes the mask of a photo of h x w pixels. grey says that the file holds numbers and neither a palette nor
// colors.
func (m *maskReader) read(name string, h, w int) (mask *space.Mask, grey bool, err error) {
	b, err := readWhole(m.fsys, name)
	if err != nil {
		return nil, false, err
	}
	return m.decode(b, h, w)
}

// decode makes a mask of a PNG.
func (m *maskReader) decode(b []byte, h, w int) (mask *space.Mask, grey bool, err error) {
	fh, fw, err := maskSize(b)
	if err != nil {
		return nil, false, err
	}
	if fh != h || fw != w {
		return nil, false, fmt.Errorf("has %d x %d pixels, its photo %d x %d: make both from one", fw, fh, w, h)
	}
	img, err := png.Decode(bytes.NewReader(b))
	if err != nil {
		return nil, false, fmt.Errorf("the PNG data are damaged: %w; fetch the file again or remove it", err)
	}
	out := &space.Mask{H: h, W: w, Label: make([]int32, h*w)}
	if g, ok := img.(*image.Gray); ok {
		spread := spreadOf(b)
		return out, true, m.numbers(out, func(x, y int) int { return int(g.GrayAt(x, y).Y) / spread })
	}
	p, palette := img.(*image.Paletted)
	if palette && len(m.spec.Colors) == 0 {
		return out, false, m.numbers(out, func(x, y int) int { return int(p.ColorIndexAt(x, y)) })
	}
	return out, false, m.colored(out, img)
}

// spreadOf is by how much the grey levels of the PNG b are larger than its bits, which are the labels: decoders spread
// fewer than 8 bits over 0 to 255.
func spreadOf(b []byte) int { return 255 / (1<<min(b[pngDepth], 8) - 1) }

// numbers fills in a mask of numbers.
func (m *maskReader) numbers(out *space.Mask, at func(x, y int) int) error {
	var table [256]int32
	const unknown = -1
	for v := range table {
		table[v] = unknown
		if k, ok := m.values[v]; ok {
			table[v] = k
		} else if len(m.spec.Values) == 0 && (m.classes == 0 || v < m.classes) {
			table[v] = int32(v)
		} else if m.spec.Rest == "void" {
			table[v] = space.Void
		}
	}
	if len(m.spec.Colors) > 0 {
		return errors.New("holds numbers and no colors, for which data.masks.colors is: leave that out, or name the " +
			"folder of the masks in colors")
	}
	for i := range out.Label {
		v := at(i%out.W, i/out.W)
		if out.Label[i] = table[v&255]; out.Label[i] != unknown {
			continue
		}
		want := fmt.Sprintf("data.classes has %d (0 to %d)", m.classes, m.classes-1)
		if len(m.spec.Values) > 0 {
			want = fmt.Sprintf("data.masks.values has %v", m.spec.Values)
		}
		return fmt.Errorf("the pixel at column %d, row %d has the number %d, which is no class: %s. Name all "+
			"classes, list "+
			"it in data.masks.void, or say data.masks.rest: void if all others count for nothing", i%out.W, i/out.W, v,
			want)
	}
	return nil
}

// colored fills in a mask of colors; without a table of them those that are grey alone are numbers.
func (m *maskReader) colored(out *space.Mask, img image.Image) error {
	r := img.Bounds()
	pixel := func(x, y int) color.NRGBA {
		c, _ := color.NRGBAModel.Convert(img.At(r.Min.X+x, r.Min.Y+y)).(color.NRGBA)
		return c
	}
	where := func(x, y int) string { return fmt.Sprintf("the pixel at column %d, row %d", x, y) }
	for i := range out.Label {
		x, y := i%out.W, i/out.W
		c := pixel(x, y)
		if c.A != 0xff {
			return fmt.Errorf("%s is transparent, and nothing says what that stands for: flatten the mask", where(x, y))
		}
		if len(m.spec.Colors) == 0 {
			if c.R == c.G && c.G == c.B {
				continue
			}
			return fmt.Errorf("%s has the color [%d, %d, %d], and nothing says which class that is: list red, "+
				"green and "+
				"blue of each class in data.masks.colors, in the order of the models' numbers", where(x, y), c.R, c.G,
				c.B)
		}
		k, ok := m.colors[[3]uint8{c.R, c.G, c.B}]
		if !ok {
			if m.spec.Rest != "void" {
				return fmt.Errorf("%s has the color [%d, %d, %d], which is no class: add it to data.masks.colors "+
					"or to "+
					"data.masks.void_colors, or say data.masks.rest: void if all others count for nothing; colors "+
					"between two classes come from smoothing, masks are resized by the nearest neighbor", where(x, y),
					c.R, c.G, c.B)
			}
			k = space.Void
		}
		out.Label[i] = k
	}
	if len(m.spec.Colors) == 0 {
		return m.numbers(out, func(x, y int) int { return int(pixel(x, y).R) })
	}
	return nil
}

// head reads the first bytes of a file.
func head(fsys fs.FS, name string, n int) ([]byte, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read from
	b := make([]byte, n)
	k, err := io.ReadFull(f, b)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, err
	}
	return b[:k], nil
}
