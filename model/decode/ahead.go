package decode

import (
	"errors"
	"fmt"
	"slices"

	"nero/data/space"
	"nero/data/tensor"
)

// Scaler is the part of a codec that maps each pixel by itself: scale, mean and deviation of its channel, rounded as
// the model gets it.
type Scaler struct{ norm []norm }

// Ahead takes the scaling of pixels out of a codec, so that a picture can be scaled once and then cut many times: for
// windows, quarter turns and whatever else only moves pixels, rest encodes cuts of a scaled value to the bytes that c
// makes of the cuts themselves. It is not ok for codecs that mix channels, that feed other numbers than float32, or
// that scale frames differently.
func Ahead(c Codec) (s *Scaler, rest Codec, ok bool) {
	k, ok := c.(*codec)
	if !ok || len(k.e) == 0 {
		return nil, nil, false
	}
	bare := *k
	bare.e = nil
	for _, e := range k.e {
		per := max(1, e.c)
		if e.dtype != tensor.Float32 || e.order != "" || !slices.Equal(e.norm, k.e[0].norm) || len(e.norm) > 1 &&
			(e.spec.Frames > 0 || len(e.norm) != per) {
			return nil, nil, false
		}
		d := e.as(tensor.Float32)
		d.norm = []norm{newNorm(1, 0, 1)}
		bare.e = append(bare.e, d)
	}
	return &Scaler{norm: k.e[0].norm}, &bare, true
}

// Same reports whether two codecs scale alike.
func (s *Scaler) Same(o *Scaler) bool { return slices.Equal(s.norm, o.norm) }

// Scale is a scaled copy of an image or of frames.
func (s *Scaler) Scale(v space.Value) (space.Value, error) {
	switch v := v.(type) {
	case *space.Image:
		return s.image(v)
	case *space.Frames:
		f := &space.Frames{}
		for _, m := range v.Images {
			x, err := s.image(m)
			if err != nil {
				return nil, err
			}
			f.Images = append(f.Images, x)
		}
		return f, nil
	}
	return nil, fmt.Errorf("a value %s, want an image or frames", kindOf(v))
}

func (s *Scaler) image(m *space.Image) (*space.Image, error) {
	if m == nil || m.C <= 0 || m.H < 0 || m.W < 0 || len(m.Pix) != m.C*m.H*m.W {
		return nil, errors.New("an image whose numbers do not fit its size")
	}
	if len(s.norm) > 1 && len(s.norm) != m.C {
		return nil, fmt.Errorf("input.mean and input.std have %d values, an image has %s", len(s.norm),
			countChannels(m.C))
	}
	out := space.NewImage(m.C, m.H, m.W)
	line := make([]float32, m.W)
	for k := range m.C {
		n, from, to := &s.norm[k%len(s.norm)], m.Plane(k), out.Plane(k)
		for at := 0; at < len(from); at += m.W {
			n.float32s(line, 1, from[at:at+m.W])
			for i, x := range line {
				to[at+i] = float64(x)
			}
		}
	}
	return out, nil
}
