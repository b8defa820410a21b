package phantom

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"slices"
	"strings"

	"nero/data/dataset"
	"nero/data/space"
)

// Format is pictures that are drawn from formulas, by the settings of a study, and so need no file.
var Format = &dataset.Format{
	Name: "phantoms", Doc: "Smooth pictures drawn from formulas, which move without resampling.",
	Rendered: true,
	Open:     func(_ fs.FS, s dataset.Spec) (dataset.Dataset, error) { return open(s.Phantoms) },
}

// most is the most numbers of a picture.
const most = 1 << 27

// parts is how many waves, spots or ellipses make a phantom.
const parts = 12

// kind is one sort of formula.
type kind struct {
	name string
	// draw makes one of values between -1 and 1, for pictures whose shorter side has so many pixels.
	draw func(r *rand.Rand, band float64, side int) Phantom
}

func kinds() []kind {
	return []kind{
		{"waves", func(r *rand.Rand, band float64, _ int) Phantom {
			p := Waves(r, band, parts)
			return scaled(p, 1/3.5) // the root of parts is the bound of its values
		}},
		{"gaussians", func(r *rand.Rand, band float64, side int) Phantom {
			return bounded(Gaussians(r, band, parts, float64(side)/2))
		}},
		{"ellipses", func(r *rand.Rand, band float64, side int) Phantom {
			var all []Phantom
			var heights []float64
			for range 4 {
				at := func() float64 { return (r.Float64() - 0.5) * float64(side) * 0.6 }
				axis := func() float64 { return float64(side) * (0.1 + float64(0.2*r.Float64())) }
				all = append(all, Ellipse(band, at(), at(), axis(), axis(), 360*r.Float64()))
				heights = append(heights, 2*r.Float64()-1)
			}
			return Phantom{Name: "ellipses", At: func(x, y float64) float64 {
				var v float64
				for i, p := range all {
					v += float64(heights[i] * p.At(x, y))
				}
				return v / 4
			}}
		}},
	}
}

func scaled(p Phantom, by float64) Phantom {
	at := p.At
	p.At = func(x, y float64) float64 { return by * at(x, y) }
	return p
}

// bounded divides a sum of as many parts, each at most 1, so that it stays in reach; spots hardly ever meet all.
func bounded(p Phantom) Phantom { return scaled(p, 1./3) }

// Set is pictures drawn from formulas, a [dataset.Dataset]. Sample i is a function of the settings and i alone.
type Set struct {
	spec  dataset.Phantoms
	kinds []kind
}

// open takes what is asked for, the rest as its doc says.
func open(p dataset.Phantoms) (*Set, error) {
	p.Count, p.Channels, p.Band = cmp.Or(p.Count, 64), cmp.Or(p.Channels, 1), cmp.Or(p.Band, 0.5)
	if p.Size == [2]int{} {
		p.Size = [2]int{32, 32}
	}
	switch {
	case p.Count < 1:
		return nil, fmt.Errorf("phantoms: %d pictures: expected 1 or more", p.Count)
	case p.Size[0] < 1 || p.Size[1] < 1 || p.Channels < 1:
		return nil, fmt.Errorf("phantoms: %d channels of %d x %d pixels: expected 1 or more of each", p.Channels,
			p.Size[0], p.Size[1])
	case p.Channels > most/p.Size[0]/p.Size[1]:
		return nil, fmt.Errorf("phantoms: %d channels of %d x %d pixels are more than %d numbers", p.Channels,
			p.Size[0], p.Size[1], most)
	case !(p.Band > 0 && p.Band <= 1):
		return nil, fmt.Errorf("phantoms: a band of %g: expected a share of the Nyquist frequency above 0 and up to 1",
			p.Band)
	}
	s := &Set{spec: p}
	all := kinds()
	if len(p.Kinds) == 0 {
		s.kinds = all
	}
	for _, name := range p.Kinds {
		i := slices.IndexFunc(all, func(k kind) bool { return k.name == name })
		if i < 0 {
			var names []string
			for _, k := range all {
				names = append(names, k.name)
			}
			return nil, fmt.Errorf("phantoms: no kind %q: expected %s", name, strings.Join(names, ", "))
		}
		s.kinds = append(s.kinds, all[i])
	}
	return s, nil
}

// Len is the number of pictures.
func (s *Set) Len() int { return s.spec.Count }

// Labels are none: a formula is of no class.
func (*Set) Labels() []int { return nil }

// IDs are kind and number of each picture, such as waves-000003.
func (s *Set) IDs() []string {
	out := make([]string, s.Len())
	for i := range out {
		out[i] = s.id(i)
	}
	return out
}

func (s *Set) kind(i int) kind { return s.kinds[i%len(s.kinds)] }

func (s *Set) id(i int) string { return fmt.Sprintf("%s-%06d", s.kind(i).name, i) }

// Files are none: the pictures come from the seed.
func (*Set) Files() []string { return nil }

// Info says the size; intensities lie about 127.5, mostly within 0 to 255, and are not rounded.
func (s *Set) Info() dataset.Info {
	h, w := s.spec.Size[0], s.spec.Size[1]
	return dataset.Info{
		Space: space.Spec{Name: "image", Kind: space.KindImage, Shape: []int{s.spec.Channels, h, w}}, Max: 255,
		Notes: []string{fmt.Sprintf(
			"phantoms of %d x %d pixels drawn with seed %d: elements draw them anew where they move them, so that "+
				"nothing is resampled", h, w, s.spec.Seed)},
	}
}

// Sample draws picture i. Its formula goes with it.
func (s *Set) Sample(i int) (dataset.Sample, error) {
	if i < 0 || i >= s.Len() {
		return dataset.Sample{}, fmt.Errorf("phantoms: no picture %d: there are %d, counted from 0", i, s.Len())
	}
	h, w := s.spec.Size[0], s.spec.Size[1]
	r := rand.New(rand.NewPCG(s.spec.Seed, uint64(i)))
	var planes []Phantom
	for range s.spec.Channels {
		planes = append(planes, s.kind(i).draw(r, s.spec.Band, min(h, w)))
	}
	f := &space.Formula{
		At: func(k int, x, y float64) float64 { return 127.5 * (1 + planes[k].At(x, y)) },
		X:  [3]float64{-float64(w-1) / 2, 1, 0}, Y: [3]float64{-float64(h-1) / 2, 0, 1},
	}
	m := space.NewImage(s.spec.Channels, h, w)
	f.Draw(m)
	if !space.Finite(m) {
		return dataset.Sample{}, errors.New("phantoms: a picture is not finite")
	}
	return dataset.Sample{ID: s.id(i), Label: -1, Tags: []string{s.kind(i).name}, Value: m}, nil
}
