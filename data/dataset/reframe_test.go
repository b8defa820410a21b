package dataset

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"testing/fstest"

	"nero/data/space"

	"pgregory.net/rapid"
)

// Values of torch.nn.functional.interpolate of PyTorch 1.13 in float64 with align_corners=False, and antialias=True
// where not plain; nearest is its nearest-exact.
func TestKernelsAreThoseOfPyTorch(t *testing.T) {
	t.Parallel()
	m := &space.Image{C: 1, H: 5, W: 7, Pix: []float64{
		0, 88, 250, 230, 28, 212, 158, 178, 16, 184, 226, 30, 164, 116, 142, 42, 216, 208, 18, 158, 172,
		204, 54, 234, 232, 104, 250, 214, 252, 108, 94, 98, 176, 72, 42,
	}}
	for _, c := range []struct {
		kernel string
		plain  bool
		h, w   int
		want   []float64
	}{
		{
			"bilinear", false, 3, 4, []float64{
				75.006803, 190.640000, 117.211429, 156.748299, 112.592593, 179.333333, 117.493333, 167.407407,
				164.925170, 140.571429, 148.651429, 131.074830,
			},
		},
		{
			"bicubic", false, 3, 4, []float64{
				63.869078, 199.167443, 115.615643, 154.802755, 105.566890, 186.040234, 116.758232, 172.579012,
				166.595064, 137.245287, 152.662888, 130.666083,
			},
		},
		{
			"bicubic", false, 8, 9, []float64{
				-17.825346, 47.572351, 171.384285, 265.235099, 230.287823, 50.042757, 127.276388, 211.357802,
				158.445490, 72.740059, 50.988901, 127.602062, 238.418401, 229.327092, 53.338217, 115.515807,
				187.464159, 136.007305, 189.329390, 56.446603, 73.767409, 205.700702, 225.182617, 55.428013,
				97.453868, 157.168841, 114.682126, 158.951420, 58.402867, 97.021653, 220.340713, 210.993164,
				40.111146, 81.718312, 161.286098, 152.292264, 159.778234, 67.442697, 117.090984, 241.897138,
				217.702148, 59.083980, 113.583982, 200.856062, 193.568411, 207.345842, 86.537633, 121.828250,
				251.861907, 234.762695, 112.202644, 180.620804, 251.394915, 215.659006, 243.219347, 130.649283,
				104.056886, 154.745496, 152.110743, 152.313831, 151.440185, 135.334839, 110.367764, 262.250005,
				160.029652, 89.752636, 81.036349, 88.357934, 173.294661, 118.856974, 40.974302, 28.223935,
			},
		},
		{
			"bilinear", true, 3, 4, []float64{
				61.083333, 228.083333, 53.666667, 163.500000, 104.500000, 215.000000, 41.750000, 166.750000,
				181.250000, 140.916667, 150.833333, 111.333333,
			},
		},
		{
			"nearest", false, 3, 4, []float64{
				0.000000, 250.000000, 28.000000, 158.000000, 142.000000, 216.000000, 18.000000, 172.000000,
				252.000000, 94.000000, 176.000000, 42.000000,
			},
		},
	} {
		r := Resize{Stretch: [2]int{c.h, c.w}, Kernel: c.kernel, Plain: c.plain}
		// with room below 0 and above 255, where bicubic kernels overshoot
		got := r.frame(m.H, m.W).kernel
		out := resample(m, got.stencils(m.H, c.h, 0, c.h, c.plain), got.stencils(m.W, c.w, 0, c.w, c.plain))
		for i, v := range out.Pix {
			if !(math.Abs(v-c.want[i]) <= 1e-5) {
				t.Errorf("%s, plain %v, to %d x %d: number %d is %.6f, want %.6f", c.kernel, c.plain, c.h, c.w, i, v,
					c.want[i])
			}
		}
	}
}

// Every kernel keeps a constant picture and leaves a picture alone that has the size already; what comes out of the
// program stays in the range of the file.
func TestKernels(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		r := Resize{
			Stretch: [2]int{rapid.IntRange(1, 12).Draw(t, "h"), rapid.IntRange(1, 12).Draw(t, "w")},
			Kernel:  rapid.SampledFrom(Kernels()).Draw(t, "kernel"), Plain: rapid.Bool().Draw(t, "plain"),
		}
		m := drawImage(t, 2, 12)
		flat := space.NewImage(1, m.H, m.W)
		for i := range flat.Pix {
			flat.Pix[i] = 77
		}
		for _, v := range r.frame(m.H, m.W).image(flat, 255).Pix {
			if !(math.Abs(v-77) <= 1e-9) {
				t.Fatalf("a constant picture of 77 has %v", v)
			}
		}
		out := r.frame(m.H, m.W).image(m, 255)
		if out.H != r.Stretch[0] || out.W != r.Stretch[1] || out.C != m.C {
			t.Fatalf("%d x %d x %d, want %v", out.C, out.H, out.W, r.Stretch)
		}
		for _, v := range out.Pix {
			if !(v >= 0 && v <= 255) {
				t.Fatalf("value %v", v)
			}
		}
	})
}

// Places are those of torchvision.transforms: Resize(n) cuts the fraction of the longer side off, CenterCrop puts the
// corner at round((n - size) / 2), a half to the even number, and fills what a small photo leaves free.
func TestResizeFrames(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		r                         Resize
		in                        [2]int
		h, w, top, left, toH, toW int
	}{
		{Resize{Short: 256, Crop: [2]int{224, 224}}, [2]int{375, 500}, 256, 341, -16, -58, 224, 224},
		{Resize{Short: 256, Crop: [2]int{224, 224}}, [2]int{500, 375}, 341, 256, -58, -16, 224, 224},
		{Resize{Short: 10, Crop: [2]int{7, 7}}, [2]int{20, 20}, 10, 10, -2, -2, 7, 7},
		{Resize{Crop: [2]int{6, 10}}, [2]int{8, 5}, 8, 5, -1, 2, 6, 10},
		// Of 11 rows and 7 columns to fill, the odd ones come last: padding_ltrb of torchvision's center_crop.
		{Resize{Short: 21, Crop: [2]int{32, 32}}, [2]int{50, 61}, 21, 25, 5, 3, 32, 32},
		{Resize{Short: 4, Crop: [2]int{4, 4}}, [2]int{1, 1000}, 4, 4000, 0, -1998, 4, 4},
		{Resize{Stretch: [2]int{3, 9}}, [2]int{100, 50}, 3, 9, 0, 0, 3, 9},
		{Resize{Letterbox: [2]int{640, 640}}, [2]int{480, 640}, 480, 640, 80, 0, 640, 640},
		{Resize{Letterbox: [2]int{320, 320}}, [2]int{480, 640}, 240, 320, 40, 0, 320, 320},
		// As LetterBox of ultralytics/data/augment.py has them: round(641/2) is 320, and the odd row goes below.
		{Resize{Letterbox: [2]int{640, 640}}, [2]int{641, 1280}, 320, 640, 160, 0, 640, 640},
		{Resize{Letterbox: [2]int{640, 640}}, [2]int{643, 1280}, 322, 640, 159, 0, 640, 640},
		{Resize{Letterbox: [2]int{640, 640}}, [2]int{375, 500}, 480, 640, 80, 0, 640, 640},
		{Resize{Letterbox: [2]int{640, 640}}, [2]int{427, 640}, 427, 640, 106, 0, 640, 640},
	} {
		f := c.r.frame(c.in[0], c.in[1])
		got := [...]int{f.h, f.w, f.top, f.left, f.H, f.W}
		if want := [...]int{c.h, c.w, c.top, c.left, c.toH, c.toW}; got != want {
			t.Errorf("%v of %+v: %v, want %v", c.in, c.r, got, want)
		}
	}
}

// A crop is the part of the photo that its place says, and a frame has its fill around it.
func TestResizePlaces(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := drawImage(t, 2, 9)
		r := Resize{Crop: [2]int{rapid.IntRange(1, 12).Draw(t, "h"), rapid.IntRange(1, 12).Draw(t, "w")}, Fill: 114}
		f := r.frame(m.H, m.W)
		out := f.image(m, 255)
		for k := range out.C {
			for y := range out.H {
				for x := range out.W {
					want, v, u := 114.0, y-f.top, x-f.left
					if v >= 0 && v < m.H && u >= 0 && u < m.W {
						want = m.Plane(k)[v*m.W+u]
					}
					if got := out.Plane(k)[y*out.W+x]; got != want {
						t.Fatalf("pixel %d, %d of channel %d is %v, want %v", y, x, k, got, want)
					}
				}
			}
		}
	})
}

// With a margin the middle of a sample is what it is without, around it stands what the photo has there, and beyond the
// photo the rule goes on.
func TestMargin(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := drawImage(t, 2, 9)
		most := func(n int) int { return min(n+2, 12) } // a crop may be larger than the photo
		r := Resize{
			Crop: [2]int{rapid.IntRange(1, most(m.H)).Draw(t, "h"), rapid.IntRange(1, most(m.W)).Draw(t, "w")},
			Fill: 114, Beyond: rapid.SampledFrom([]string{"", "zero", "edge", "circular", "reflect"}).Draw(t, "rule"),
		}
		plain := r.frame(m.H, m.W).image(m, 255)
		r.Margin = [2]int{rapid.IntRange(0, 5).Draw(t, "rows"), rapid.IntRange(0, 5).Draw(t, "columns")}
		f := r.frame(m.H, m.W)
		out := f.image(m, 255)
		if out.H != plain.H+2*r.Margin[0] || out.W != plain.W+2*r.Margin[1] {
			t.Fatalf("%d x %d", out.H, out.W)
		}
		// What is given, photo and crop together, and where it goes on by the rule.
		lo := [2]int{min(f.top, r.Margin[0]), min(f.left, r.Margin[1])}
		hi := [2]int{max(f.top+f.h, out.H-r.Margin[0]), max(f.left+f.w, out.W-r.Margin[1])}
		for a, n := range [2]int{out.H, out.W} {
			lo[a], hi[a] = max(lo[a], 0), min(hi[a], n)
		}
		from := func(i, lo, hi int) int {
			switch n := hi - lo; {
			case i >= lo && i < hi:
				return i
			case r.Beyond == "edge":
				return max(lo, min(i, hi-1))
			case r.Beyond == "circular":
				return lo + ((i-lo)%n+n)%n
			case r.Beyond == "reflect" && n > 1:
				for i < lo || i >= hi {
					if i < lo {
						i = 2*lo - i
					} else {
						i = 2*(hi-1) - i
					}
				}
				return i
			case r.Beyond == "reflect":
				return lo
			}
			return -1
		}
		for k := range out.C {
			for y := range out.H {
				for x := range out.W {
					want, v, u := 0.0, from(y, lo[0], hi[0]), from(x, lo[1], hi[1])
					if v >= 0 && u >= 0 {
						want = 114
						if py, px := v-f.top, u-f.left; py >= 0 && py < m.H && px >= 0 && px < m.W {
							want = m.Plane(k)[py*m.W+px]
						}
					}
					if got := out.Plane(k)[y*out.W+x]; got != want {
						t.Fatalf("pixel %d, %d is %v, want %v: %+v of %d x %d", y, x, got, want, r, m.H, m.W)
					}
					inY, inX := y-r.Margin[0], x-r.Margin[1]
					if inY >= 0 && inY < plain.H && inX >= 0 && inX < plain.W {
						if got := plain.Plane(k)[inY*plain.W+inX]; got != want {
							t.Fatalf("pixel %d, %d of the crop is %v, with a margin %v", inY, inX, got, want)
						}
					}
				}
			}
		}
	})
}

// Samples have no more margin than some photo has, and it is told how many have less.
func TestMarginOfPhotos(t *testing.T) {
	t.Parallel()
	fsys := fstest.MapFS{
		"p/a.png": &fstest.MapFile{Data: texturePNG(t, 20, 10)},
		"p/b.png": &fstest.MapFile{Data: texturePNG(t, 12, 30)},
		"p/c.png": &fstest.MapFile{Data: texturePNG(t, 8, 8)},
	}
	ds, err := OpenFS(fsys, Spec{Images: "p", Resize: Resize{Short: 8, Crop: [2]int{6, 6}, Margin: [2]int{9, 4}}})
	if err != nil {
		t.Fatal(err)
	}
	i := ds.Info()
	if i.Room != [2]int{5, 7} || i.Roomy != 3 || i.Margin != [2]int{5, 4} || i.Short != 3 {
		t.Errorf("room %v of %d, margin %v, short %d", i.Room, i.Roomy, i.Margin, i.Short)
	}
	if _, h, w := shapeOf(t, ds); h != 16 || w != 14 {
		t.Errorf("%d x %d", h, w)
	}
	if ds, err = OpenFS(fsys, Spec{Images: "p", Resize: Resize{Stretch: [2]int{6, 6}}}); err != nil {
		t.Fatal(err)
	}
	if i := ds.Info(); i.Room != [2]int{} || i.Roomy != 0 {
		t.Errorf("a stretched photo has room %v", i.Room)
	}
}

func TestPhotosOfAnySize(t *testing.T) {
	t.Parallel()
	fsys := fstest.MapFS{
		"p/a.png": &fstest.MapFile{Data: texturePNG(t, 20, 10)},
		"p/b.png": &fstest.MapFile{Data: texturePNG(t, 12, 30)},
		"p/c.png": &fstest.MapFile{Data: texturePNG(t, 20, 10)},
	}
	_, err := OpenFS(fsys, Spec{Images: "p"})
	var sizes *SizesError
	if !errors.As(err, &sizes) || sizes.Pictures != 3 || sizes.Sizes != 2 {
		t.Errorf("%v, want an error of 2 sizes of 3 pictures", err)
	}
	wantError(t, err, `image "b.png"`, "all must agree", "--resize short=256,crop=224")
	for _, r := range []Resize{
		{Short: 8, Crop: [2]int{7, 6}},
		{Stretch: [2]int{7, 6}, Kernel: "bicubic"},
		{Letterbox: [2]int{7, 6}, Fill: 114},
	} {
		ds, err := OpenFS(fsys, Spec{Images: "p", Resize: r})
		if err != nil {
			t.Fatal(err)
		}
		if c, h, w := shapeOf(t, ds); c != 1 || h != 7 || w != 6 || ds.Len() != 3 {
			t.Errorf("%+v: shape %d, %d, %d of %d samples", r, c, h, w, ds.Len())
		}
		for i := range ds.Len() {
			s, err := ds.Sample(i)
			if err != nil {
				t.Fatal(err)
			}
			if m, ok := s.Value.(*space.Image); !ok || m.H != 7 || m.W != 6 {
				t.Errorf("%+v: sample %d is %T", r, i, s.Value)
			}
		}
	}
}

func TestResizeRefuses(t *testing.T) {
	t.Parallel()
	fsys := fstest.MapFS{"p/a.png": &fstest.MapFile{Data: texturePNG(t, 20, 10)}}
	for want, r := range map[string]Resize{
		"one of crop":               {Short: 5},
		"each a height and a width": {Crop: [2]int{5, 5}, Stretch: [2]int{5, 5}},
		"resize.short is the":       {Short: 5, Stretch: [2]int{5, 5}},
		"resize.crop is [0 5]":      {Crop: [2]int{0, 5}},
		"resize.letterbox is":       {Letterbox: [2]int{5, 1 << 17}},
		"resize.fill is -1":         {Crop: [2]int{5, 5}, Fill: -1},
		"resize.fill is NaN":        {Crop: [2]int{5, 5}, Fill: math.NaN()},
		`resize.kernel is "cubic"`:  {Crop: [2]int{5, 5}, Kernel: "cubic"},
		"leave out resize":          {Crop: [2]int{5, 5}, Short: 6},
		"resize.short is -1":        {Crop: [2]int{5, 5}, Short: -1},
		"resize.margin is what":     {Stretch: [2]int{5, 5}, Margin: [2]int{1, 1}},
		"resize.margin is [-1 1]":   {Crop: [2]int{5, 5}, Margin: [2]int{-1, 1}},
		`resize.beyond is "black"`:  {Crop: [2]int{5, 5}, Beyond: "black"},
	} {
		spec := Spec{Images: "p", Resize: r}
		if want == "leave out resize" {
			spec.Zoom = 2
		}
		if _, err := OpenFS(fsys, spec); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", fmt.Sprintf("%+v", r), err, want)
		}
	}
}
