package audit

import (
	"fmt"
	"image"
	"image/color"
)

// Case is something worth seeing, such as the worst input with its transformed twin and what differs between the two.
type Case struct {
	Title string
	Where Where
	// a sentence on how to read the pictures; may be empty
	Note     string
	Pictures []Picture
}

// Picture is a raster of bytes.
type Picture struct {
	Caption string
	// in pixels, at least 1
	W, H int
	// row by row from the top left: W·H grey values, or W·H triples of red, green and blue in sRGB
	Pix []byte
}

// mostPixels bounds one picture, so that a page stays one that opens.
const mostPixels = 1 << 22

// Image is the picture in the form of the standard library. The error names what does not fit.
func (p Picture) Image() (image.Image, error) {
	switch {
	case p.W < 1 || p.H < 1 || p.W > mostPixels || p.H > mostPixels/p.W:
		return nil, fmt.Errorf("picture %q has %d x %d pixels; want at least 1 x 1 and at most %d in all", p.Caption,
			p.W, p.H, mostPixels)
	case len(p.Pix) == p.W*p.H:
		return &image.Gray{Pix: p.Pix, Stride: p.W, Rect: image.Rect(0, 0, p.W, p.H)}, nil
	case len(p.Pix) == 3*p.W*p.H:
		m := image.NewNRGBA(image.Rect(0, 0, p.W, p.H))
		for i := range p.W * p.H {
			m.SetNRGBA(i%p.W, i/p.W, color.NRGBA{R: p.Pix[3*i], G: p.Pix[3*i+1], B: p.Pix[3*i+2], A: 255})
		}
		return m, nil
	}
	return nil, fmt.Errorf(
		"picture %q has %d bytes for %d x %d pixels; want %d grey values or %d of red, green and blue",
		p.Caption, len(p.Pix), p.W, p.H, p.W*p.H, 3*p.W*p.H)
}
