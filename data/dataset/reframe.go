package dataset

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"nero/internal/elementary"
)

// Resize brings photos of any size to one, as networks of photos are usually fed: one of Crop, Stretch and Letterbox
// says how. The zero value leaves them as they are.
type Resize struct {
	// Short is the length in pixels that the shorter side gets before Crop, the other one in proportion, its fraction
	// cut off; 0 for as it is.
	Short int
	// Crop is height and width of the piece about the middle that is kept; what it has and the photo has not is Fill.
	Crop [2]int
	// Stretch is height and width that the photo is brought to, each axis by itself.
	Stretch [2]int
	// Letterbox is height and width of a frame that the photo is scaled to fit into, in the middle, with Fill around.
	Letterbox [2]int
	// Fill is in the units of the file, such as 114 of 255.
	Fill float64
	// Kernel is one of [Kernels]; "" for bilinear.
	Kernel string
	// Margin is how many rows and columns of the photo around Crop are kept on every side, for what reads beyond the
	// piece that a model sees; no more than some photo has.
	Margin [2]int
	// Beyond is how a photo goes on in the margin where it has no more pixels: zero ("" as well), edge, circular or
	// reflect, which is the true reflection c b | a b c | b a.
	Beyond string
	// Plain leaves a kernel as narrow as it is where the photo shrinks, so that pixels between are passed over, as
	// OpenCV and Keras do. Pillow and torchvision widen it.
	Plain bool
}

// SizesError says that pictures of a folder have different sizes and nothing says what size they are to have.
type SizesError struct {
	// of how many pictures, and in how many sizes
	Pictures, Sizes int
	message         error
	// remedy is the message with other advice.
	remedy func(advice string) error
}

// For is the error for a model that reads pictures of h x w pixels, whose photos have the shorter side brought to short
// before the middle is kept.
func (e *SizesError) For(h, w, short int) error {
	return e.remedy(fmt.Sprintf("the model reads %d x %d: resize all as they are read with data.resize (--resize "+
		"short=%d,crop=%dx%d, or letterbox=%dx%d to keep all of each), or remove or crop it", w, h, short, h, w, h, w))
}

// Error names the first picture whose size is not that of most, and what to do.
func (e *SizesError) Error() string { return e.message.Error() }

// kernel is a function by whose values at the distances of the old pixels' centres a new pixel weighs them.
type kernel struct {
	name string
	// where it ends
	reach float64
	at    func(x float64) float64
}

// kernels are those of Pillow: https://github.com/python-pillow/Pillow, Resample.c.
func kernels() []kernel {
	return []kernel{
		{"bilinear", 1, func(x float64) float64 { return 1 - math.Abs(x) }},
		{"bicubic", 2, cubic},
		{"lanczos", 3, func(x float64) float64 { return sinc(x) * sinc(x/3) }},
		{"area", 0.5, func(x float64) float64 {
			if x > -0.5 && x <= 0.5 {
				return 1
			}
			return 0
		}},
		{"nearest", 0, nil},
	}
}

// Kernels are the names that [Resize] knows.
func Kernels() []string {
	var out []string
	for _, k := range kernels() {
		out = append(out, k.name)
	}
	return out
}

// cubic is that of Keys with a = -1/2, which photos are resized with.
func cubic(x float64) float64 {
	x = math.Abs(x)
	if x < 1 {
		return float64(float64((float64(1.5*x)-2.5)*x)*x) + 1
	}
	return float64((float64((float64(-0.5*x)+2.5)*x)-4)*x) + 2
}

func sinc(x float64) float64 {
	if x == 0 {
		return 1
	}
	return elementary.Sin(math.Pi*x) / (math.Pi * x)
}

// stencils are those of the new pixels lo to hi of m of an axis that had n: the centre of new pixel i lies at (i + 1/2)
// n/m of the old axis, and the kernel is as wide as a new pixel where those are the larger ones, unless plain.
func (k kernel) stencils(n, m, lo, hi int, plain bool) []stencil {
	out := make([]stencil, hi-lo)
	step := float64(n) / float64(m)
	wide := 1.0
	if !plain {
		wide = math.Max(step, 1)
	}
	for i := range out {
		at := float64((float64(lo+i) + 0.5) * step)
		if k.at == nil {
			out[i] = stencil{first: min(int(at), n-1), weights: []float64{1}}
			continue
		}
		first := max(int(math.Floor(at-float64(k.reach*wide)+0.5)), 0)
		last := min(int(math.Floor(at+float64(k.reach*wide)+0.5)), n)
		s := stencil{first: min(first, n-1)}
		sum := 0.0
		for p := s.first; p < max(last, s.first+1); p++ {
			x := (float64(p) + 0.5 - at) / wide
			v := 0.0
			if math.Abs(x) <= k.reach {
				v = k.at(x)
			}
			s.weights = append(s.weights, v)
			sum += v
		}
		if sum == 0 {
			s.weights, sum = []float64{1}, 1
			s.first = min(int(at), n-1)
		}
		for j := range s.weights {
			s.weights[j] /= sum
		}
		out[i] = s
	}
	return out
}

// check refuses what is no way to bring photos to one size.
func (r Resize) check() error {
	if r == (Resize{}) {
		return nil
	}
	ways := 0
	for _, v := range []struct {
		name string
		size [2]int
	}{{"crop", r.Crop}, {"stretch", r.Stretch}, {"letterbox", r.Letterbox}} {
		if v.size == [2]int{} {
			continue
		}
		ways++
		if min(v.size[0], v.size[1]) < 1 || max(v.size[0], v.size[1]) > 1<<16 {
			return fmt.Errorf("resize.%s is %v, want height and width from 1 to 65536 px", v.name, v.size)
		}
	}
	switch {
	case ways != 1:
		return errors.New("resize wants one of crop (the middle, after short), stretch and letterbox, each a height " +
			"and a width, such as short: 256 with crop: [224, 224]")
	case r.Short != 0 && r.Crop == [2]int{}:
		return errors.New("resize.short is the shorter side before a crop: give crop too, or leave short out")
	case r.Short < 0 || r.Short > 1<<16:
		return fmt.Errorf("resize.short is %d, want 1 to 65536 px", r.Short)
	case r.Margin != [2]int{} && r.Crop == [2]int{}:
		return errors.New("resize.margin is what a photo has around its crop, and stretch and letterbox show all of " +
			"it: give crop, or leave the margin out")
	case min(r.Margin[0], r.Margin[1]) < 0 || max(r.Margin[0], r.Margin[1]) > 1<<16:
		return fmt.Errorf("resize.margin is %v, want rows and columns from 0 to 65536 px", r.Margin)
	case !slices.Contains([]string{"", "zero", "edge", "circular", "reflect"}, r.Beyond):
		return fmt.Errorf("resize.beyond is %q, want zero, edge, circular or reflect", r.Beyond)
	case !(r.Fill >= 0 && r.Fill <= math.MaxUint16):
		return fmt.Errorf("resize.fill is %v, want a value of a pixel from 0 to 65535", r.Fill)
	case r.Kernel != "" && !slices.Contains(Kernels(), r.Kernel):
		return fmt.Errorf("resize.kernel is %q, want one of %s", r.Kernel, strings.Join(Kernels(), ", "))
	}
	return nil
}

// size is height and width of what comes out.
func (r Resize) size() [2]int {
	for _, v := range [][2]int{r.Crop, r.Stretch} {
		if v != [2]int{} {
			return v
		}
	}
	return r.Letterbox
}

// frame is the framing of a photo of h x w pixels.
func (r Resize) frame(h, w int) framing {
	var f framing
	switch {
	case r.Stretch != [2]int{}:
		f = framing{h: r.Stretch[0], w: r.Stretch[1]}
	case r.Letterbox != [2]int{}:
		f = boxed(h, w, r.Letterbox, true)
	default:
		f = framing{h: h, w: w}
		if n := r.Short; n > 0 && h <= w {
			f.h, f.w = n, max(int(int64(n)*int64(w)/int64(h)), 1)
		} else if n > 0 {
			f.h, f.w = max(int(int64(n)*int64(h)/int64(w)), 1), n
		}
		f.top, f.left = -middle(f.h-r.Crop[0]), -middle(f.w-r.Crop[1])
	}
	size := r.size()
	f.H, f.W, f.fill, f.plain = size[0]+2*r.Margin[0], size[1]+2*r.Margin[1], r.Fill, r.Plain
	f.top, f.left, f.margin, f.beyond = f.top+r.Margin[0], f.left+r.Margin[1], r.Margin, r.Beyond
	for _, k := range kernels() {
		if k.name == r.Kernel || k.name == "bilinear" && r.Kernel == "" {
			f.kernel = &k
		}
	}
	return f
}

// room is how many rows and columns of a photo of h x w pixels there are beyond the crop, on the side where that is
// more; zeros where the whole photo is shown.
func (r Resize) room(h, w int) [2]int {
	if r.Crop == [2]int{} {
		return [2]int{}
	}
	r.Margin = [2]int{}
	f := r.frame(h, w)
	return [2]int{max(-f.top, f.top+f.h-f.H, 0), max(-f.left, f.left+f.w-f.W, 0)}
}

// middle is where a crop begins that is n pixels shorter than what it is cut from: half of n, a half rounded to the
// even number, as torchvision puts its crops. Below zero there is more to fill than to cut, and of that the odd pixel
// comes last, as in torchvision and timm.
func middle(n int) int {
	if n < 0 {
		return n / 2
	}
	return int(math.RoundToEven(float64(n) / 2))
}
