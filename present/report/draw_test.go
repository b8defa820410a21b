package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"html"
	"image"
	"image/color"
	"image/png"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/plot/font"

	"nero/present/palette"
	"nero/present/view"
	"nero/run/fold"
	"nero/run/job"
	"nero/symmetry/group"
	"nero/symmetry/group/catalog"
)

var update = flag.Bool("update", false, "write the golden files anew")

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	name = filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		at := 0
		for at < len(got) && at < len(want) && got[at] == want[at] {
			at++
		}
		t.Errorf("%s differs at byte %d: got %q, want %q; look at it, then run with -update", name, at, cut(got, at),
			cut(want, at))
	}
}

func cut(b []byte, at int) string { return string(b[max(0, at-40):min(len(b), at+40)]) }

// label is a text of a picture with the box that it covers.
type label struct {
	text           string
	x0, y0, x1, y1 float64
}

var textElement = regexp.MustCompile(
	`<text x="([^"]*)" y="([^"]*)" transform="scale\(1, -1\)"\s+style="[^"]*font-weight:(\w+);font-size:([0-9.]+)px[^"]*">([^<]*)</text>`)

// labels are the horizontal texts of an SVG; those that read upward are drawn at the origin of their own group.
func labels(t *testing.T, svg []byte, d *drawing) []label {
	t.Helper()
	ruler, height := d.ruler, d.h
	var out []label
	found := textElement.FindAllStringSubmatch(string(svg), -1)
	if n := bytes.Count(svg, []byte("<text")); n != len(found) {
		t.Fatalf("%d texts of which %d could be read", n, len(found))
	}
	for _, m := range found {
		var n [3]float64
		for i, k := range []int{1, 2, 4} {
			v, err := strconv.ParseFloat(m[k], 64)
			if err != nil {
				t.Fatal(err)
			}
			n[i] = v
		}
		if n[0] == 0 && n[1] == 0 {
			continue
		}
		s := html.UnescapeString(m[5])
		w := ruler.width(s, style{size: n[2], bold: m[3] == "bold"})
		base := height + n[1]
		out = append(out, label{s, n[0], base - 0.72*n[2], n[0] + w, base})
	}
	return out
}

// readable checks that a picture is an XML document without undefined numbers, and that no text leaves it or covers
// another.
func readable(t *testing.T, name string, f *view.Figure, o Options, fonts *font.Cache) {
	t.Helper()
	d, err := arrange(f, o, fonts)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	b, err := d.svg()
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if bytes.Contains(b, []byte("NaN")) || bytes.Contains(b, []byte("Inf")) {
		t.Errorf("%s: a number of the drawing is not finite", name)
	}
	dec := xml.NewDecoder(bytes.NewReader(b))
	for {
		if _, err := dec.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	ls := labels(t, b, d)
	if len(ls) < 5 {
		t.Errorf("%s: only %d texts", name, len(ls))
	}
	for i, l := range ls {
		const slack = 0.5
		if l.x0 < -slack || l.x1 > d.w+slack || l.y0 < -slack || l.y1 > d.h+slack {
			t.Errorf("%s: %q leaves the picture of %g x %g: %+v", name, l.text, d.w, d.h, l)
		}
		for _, k := range ls[:i] {
			if l.x0 < k.x1-slack && k.x0 < l.x1-slack && l.y0 < k.y1-slack && k.y0 < l.y1-slack {
				t.Errorf("%s: %q covers %q", name, l.text, k.text)
			}
		}
	}
}

// Every layout, with one model and with many, long names, gaps and tiny plans, in all sizes and both themes.
func TestEveryPictureIsReadable(t *testing.T) {
	long := []string{
		"original", "augmented",
		"a-model-with-a-name-that-is-far-too-long-for-any-legend-or-table-of-this-world", "<b>&\"", "five", "six",
		"seven", "eight",
	}
	fonts := fontCache()
	for i, c := range []struct {
		group string
		grid  []int
		es    []group.Element
	}{
		{group: "SO(2)", grid: []int{72}},
		{group: "SO(2)", es: []group.Element{{0}}},
		{group: "SO(2)", es: []group.Element{{10}, {20}, {200}}},
		{group: "O(2)", grid: []int{12, 2}},
		{group: "C4"},
		{group: "D3"},
		{group: "Scale", grid: []int{13}},
		{group: "Scale", es: []group.Element{{1}}},
		{group: "T(2)", grid: []int{9, 7}},
		{group: "T(2,Z)", es: []group.Element{{0, 0}}},
		{group: "T(2,Z)", grid: []int{9, 1}},
		{group: "T(2,Z)", es: sparse()},
		{group: "Roll(5,7)"},
		{group: "SE(2)", grid: []int{4, 3, 3}},
		{group: "Affine(rotate,scale)", grid: []int{4, 4}},
		{group: "SO(3)", es: slicesOf(t, "SO(3)")},
		{group: "O(3)", es: slicesOf(t, "O(3)")},
		{group: "O(3)", es: spread(t, "O(3)", 14)},
		{group: "Affine(rotate,scale)", es: []group.Element{{0, 1}, {10, 1}, {20, 1}, {-10, 1}, {0, 0.5}, {0, 2}}},
		{group: "Trivial"},
		{group: "SE(2)", grid: []int{7, 5, 5}},
		{group: "Affine(rotate,scale)", grid: []int{16, 20}},
	} {
		for _, models := range []int{1, 3, 8} {
			// All widths, themes and numbers of models meet, but not all with every group: pictures take time.
			o := Options{}
			if models == 3 {
				o = Options{Theme: Dark, Width: 340}
			} else if models == 8 && i%8 != 0 || models == 1 && i%4 != 0 && i < 14 {
				continue
			}
			if models > 1 && i >= 20 {
				continue // folding large plans takes longer than drawing them
			}
			f := fixture{
				group: c.group, grid: c.grid, values: c.es, models: long[:models],
				metrics: []string{"confidence", "relative"}, n: 6, classes: 3,
			}
			f.curve = func(model, sample int, metric string, e []float64) float64 {
				if v := bumps(model, sample, metric, e); sample%5 > 0 || len(e) == 0 || e[0] < 120 {
					return v
				}
				return math.NaN()
			}
			s, j := f.summary(t)
			name := fmt.Sprintf("%s, %d elements, %d models", c.group, len(s.Elements), models)
			for m, vo := range []view.Options{{}, {Log: true, Unroll: true}} {
				all, err := view.Aggregate(s, m, []int{0}, vo)
				if err != nil {
					t.Fatal(err)
				}
				readable(t, name, all, o, fonts)
			}
			classes, err := view.Aggregate(s, i%2, []int{1, 2, 3}, view.Options{Bare: true})
			if err != nil {
				t.Fatal(err)
			}
			readable(t, name+", classes", classes, o, fonts)
			single, err := view.Individual(s, 0, f.sample(j, 2), view.Options{})
			if err != nil {
				t.Fatal(err)
			}
			readable(t, name+", sample", single, o, fonts)
		}
	}
}

// slicesOf are rotations about axes in the planes of coordinates.
func slicesOf(t *testing.T, name string) []group.Element {
	t.Helper()
	g, err := catalog.Parse(name)
	if err != nil {
		t.Fatal(err)
	}
	es, err := group.Discs(g, nil, 60, 90)
	if err != nil {
		t.Fatal(err)
	}
	return es
}

// spread is the identity and elements that cover a group evenly.
func spread(t *testing.T, name string, n int) []group.Element {
	t.Helper()
	g, err := catalog.Parse(name)
	if err != nil {
		t.Fatal(err)
	}
	es, err := group.LowDiscrepancy(g, n, nil)
	if err != nil {
		t.Fatal(err)
	}
	return append([]group.Element{g.Identity()}, es...)
}

// sparse is a map with uneven cells.
func sparse() []group.Element {
	var es []group.Element
	steps := []float64{-63, -29, -13, -6, -1, 0, 1, 3, 6}
	for _, y := range steps {
		for _, x := range steps {
			es = append(es, group.Element{x, y})
		}
	}
	return es
}

// sample is the rows of one sample with a picture.
func (f fixture) sample(j *job.Job, index int) []view.Sample {
	x := view.Sample{
		Title: "Sample 2, class 2",
		Note:  "Worst: a reason of some length that has to be broken into lines", Picture: checker(),
	}
	for r, err := range f.rows(j) {
		if err == nil && r.Index == index {
			x.Rows = append(x.Rows, r)
		}
	}
	return []view.Sample{x, {Title: "the same without a picture", Rows: x.Rows}}
}

// checker is asymmetric: wider than high, its first pixel white.
func checker() image.Image {
	img := image.NewGray(image.Rect(3, 5, 9, 9))
	img.Set(3, 5, color.Gray{Y: 255})
	return img
}

func TestGoldenSVG(t *testing.T) {
	f := fixture{group: "C4", models: []string{"original", "augmented"}, metrics: []string{"confidence"}, n: 8}
	s, _ := f.summary(t)
	v, err := view.Aggregate(s, 0, []int{0}, view.Options{})
	if err != nil {
		t.Fatal(err)
	}
	d, err := arrange(v, Options{}, fontCache())
	if err != nil {
		t.Fatal(err)
	}
	b, err := d.svg()
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "c4.svg", b)
	p, err := Draw(v, Options{Width: 320})
	if err != nil {
		t.Fatal(err)
	}
	again, err := arrange(v, Options{Width: 320}, fontCache())
	if err != nil {
		t.Fatal(err)
	}
	if b, err = again.svg(); err != nil || !bytes.Equal(b, p.SVG) {
		t.Errorf("the same figure gave other bytes (%v)", err)
	}
	if bytes.Contains(p.SVG, []byte("<!--")) || !bytes.Contains(p.SVG, []byte(`role="img"`)) ||
		!bytes.Contains(p.SVG, []byte("lowest")) {
		t.Error("the SVG does not say what it shows, or speaks of its maker")
	}
}

// The pixel of a drawing at a place in units.
func probe(t *testing.T, f *view.Figure, o Options) (at func(x, y float64) color.NRGBA, d *drawing) {
	t.Helper()
	p, err := Draw(f, o)
	if err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(bytes.NewReader(p.PNG))
	if err != nil {
		t.Fatal(err)
	}
	if d, err = arrange(f, o, fontCache()); err != nil {
		t.Fatal(err)
	}
	if b := img.Bounds(); b.Dx() != int(2*d.w) || b.Dy() != int(2*d.h) {
		t.Fatalf("%v pixels for %g x %g units", b, d.w, d.h)
	}
	return func(x, y float64) color.NRGBA {
		c, ok := color.NRGBAModel.Convert(img.At(int(2*x), int(2*y))).(color.NRGBA)
		if !ok {
			t.Fatal("not a color")
		}
		return c
	}, d
}

func near(a, b color.NRGBA) bool {
	d := func(x, y uint8) int { return int(math.Abs(float64(x) - float64(y))) }
	return d(a.R, b.R)+d(a.G, b.G)+d(a.B, b.B) < 24
}

// A turn by 90 degrees is up, and a larger value further out: the mark of the one element that has a value is looked
// for in the pixels, at the place that the words of the page promise.
func TestPolarGoesCounterClockwise(t *testing.T) {
	f := fixture{
		group: "SO(2)", values: []group.Element{{0}, {90}, {180}, {270}}, models: []string{"a"},
		metrics: []string{"confidence"}, n: 3,
	}
	f.exact = func(e group.Element) bool { return e[0] == 90 }
	f.curve = func(_, _ int, _ string, e []float64) float64 {
		if e[0] == 90 {
			return 0.8
		}
		return 0
	}
	s, _ := f.summary(t)
	v, err := view.Aggregate(s, 0, []int{0}, view.Options{})
	if err != nil {
		t.Fatal(err)
	}
	at, d := probe(t, v, Options{Width: 640})
	// The disc of a single plot is 400 wide, 26 of it for labels; the title and two rows of legend stand above.
	top := margin + 20 + 1 + 16 + 8 + 19 + 17 + 8
	c := disc{pt{margin + 200, top + 22 + 174}, 174}
	blue := d.pal.model(0)
	if got := at(c.center.x, c.center.y-0.8*c.r); !near(got, blue) {
		t.Errorf("the value at 90 degrees is not above the center: %v there, want %v", got, blue)
	}
	for _, wrong := range []pt{
		{c.center.x + 0.8*c.r, c.center.y},
		{c.center.x, c.center.y + 0.8*c.r},
		{c.center.x - 0.8*c.r, c.center.y},
	} {
		if near(at(wrong.x, wrong.y), blue) {
			t.Errorf("the value at 90 degrees is at %v", wrong)
		}
	}
	if q := c.at(0, 1); q.x != c.center.x+c.r || q.y != c.center.y {
		t.Errorf("0 degrees is at %v", q)
	}
	if q := c.at(45, 1); !(q.x > c.center.x) || !(q.y < c.center.y) {
		t.Errorf("45 degrees is at %v", q)
	}
}

// The cell of dx = 2, dy = 0 is to the right and above that of dx = 0, dy = 1.
func TestMapGoesRightAndDown(t *testing.T) {
	es := []group.Element{{0, 0}, {1, 0}, {2, 0}, {0, 1}, {1, 1}, {2, 1}}
	f := fixture{group: "T(2,Z)", values: es, models: []string{"a"}, metrics: []string{"confidence"}, n: 3}
	f.curve = func(_, _ int, _ string, e []float64) float64 {
		switch {
		case e[0] == 2 && e[1] == 0:
			return 1
		case e[0] == 1 && e[1] == 1:
			return math.NaN()
		}
		return 0.5
	}
	s, _ := f.summary(t)
	v, err := view.Aggregate(s, 0, []int{0}, view.Options{})
	if err != nil {
		t.Fatal(err)
	}
	at, d := probe(t, v, Options{Width: 480})
	ruler := d.ruler.width("0", style{size: smallSize - 0.5})
	top := margin + 20 + 1 + 16 + 8 + 17 + 8 + 6
	b := box{x: margin + ruler + 22, y: top, w: 400 - ruler - 22 - 6}
	b.h = 0.5 * b.w
	// Away from the middle of the cells, where marks stand.
	cell := func(i, j float64) color.NRGBA { return at(b.x+b.w*(i+0.2)/3, b.y+b.h*(j+0.2)/2) }
	for _, c := range []struct {
		i, j float64
		want color.NRGBA
	}{{2, 0, heat(1)}, {0, 0, heat(0.5)}, {0, 1, heat(0.5)}, {2, 1, heat(0.5)}, {1, 1, d.pal.missing}} {
		if got := cell(c.i, c.j); !near(got, c.want) {
			t.Errorf("column %g, row %g is %v, want %v", c.i, c.j, got, c.want)
		}
	}
	// Where low is good, low is bright.
	if v.Better = "lower"; !near(heatOf(v, 0), heat(1)) || !near(heatOf(v, 1), heat(0)) {
		t.Error("an error that is small is not bright")
	}
}

func TestRuns(t *testing.T) {
	series := func(closed bool, values ...float64) view.Series {
		s := view.Series{Closed: closed}
		for i, v := range values {
			s.Points = append(s.Points, view.Point{Element: i, X: float64(i), Value: fold.Number(v), Exact: v < 0})
		}
		return s
	}
	n := math.NaN()
	for _, c := range []struct {
		s      view.Series
		want   string
		closed bool
	}{
		{series(true, 1, 2, 3), "[0 1 2]", true},
		{series(false, 1, 2, 3), "[0 1 2]", false},
		{series(true, 1, 2, n, 4, 5), "[3 4 0 1]", false}, // the turn begins in the middle of a stretch
		{series(false, 1, 2, n, 4, 5), "[0 1] [3 4]", false},
		{series(true, n, 2, n, 4, n), "[1] [3]", false},
		{series(true, n, n), "", false},
		{series(true, -1, 2, 3, -4, 5), "[1 2 4]", true}, // exact elements stand apart and are no gap
		{series(true, 1), "[0]", false},
		{series(true), "", false},
		{series(true, -1, 2, n, 4), "[3 1]", false},
	} {
		stretches, closed := runs(c.s, func(q view.Point) bool { return q.Exact })
		var got []string
		for _, pts := range stretches {
			var ids []int
			for _, q := range pts {
				ids = append(ids, q.Element)
			}
			got = append(got, fmt.Sprint(ids))
		}
		if strings.Join(got, " ") != c.want || closed != c.closed {
			t.Errorf("%v: %v closed %v, want %s closed %v", c.s.Points, got, closed, c.want, c.closed)
		}
	}
}

func TestDrawRefuses(t *testing.T) {
	f := &view.Figure{Title: "x"}
	for _, o := range []Options{{Theme: "sepia"}, {Width: 10}, {Width: 1e9}, {Width: math.NaN()}} {
		if _, err := Draw(f, o); err == nil {
			t.Errorf("%+v is drawn", o)
		}
	}
	if p, err := Draw(f, Options{}); err != nil || len(p.PNG) == 0 {
		t.Errorf("a figure without plots: %v", err)
	}
}

// The picture keeps its shape and its pixels apart, whatever its bounds begin with.
func TestPictureIsNotStretched(t *testing.T) {
	f := fixture{group: "C2", models: []string{"a"}, metrics: []string{"confidence"}, n: 3}
	s, j := f.summary(t)
	v, err := view.Individual(s, 0, f.sample(j, 2)[:1], view.Options{})
	if err != nil {
		t.Fatal(err)
	}
	at, d := probe(t, v, Options{})
	// 6 x 4 pixels in a square of 60: 40 high, 10 below the upper edge. The first pixel alone is white.
	x, y := d.w-margin-(d.w-2*margin-400-24), -1.0
	for yy := margin; yy < d.h-pictureSize; yy++ {
		if at(x+5, yy) == palette.RGB(0xffffff) && at(x+15, yy) == (color.NRGBA{A: 255}) {
			y = yy
			break
		}
	}
	if y < 0 {
		t.Fatal("no white pixel beside a black one")
	}
	if c := at(x+5, y+8); c != palette.RGB(0xffffff) {
		t.Errorf("the first pixel is not 10 units high: %v", c)
	}
	if c := at(x+5, y+12); c != (color.NRGBA{A: 255}) {
		t.Errorf("the second row is not black: %v", c)
	}
}
