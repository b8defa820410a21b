package decode

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"nero/data/space"
	"nero/data/tensor"
	"nero/model/onnx"
)

const (
	// maxCandidates bounds the boxes that take part in a suppression, whose time grows with their number times Most.
	maxCandidates = 10000
	// maxAnchors bounds the memory of anchors, whose number grows with the square of the window.
	maxAnchors = 1 << 20
	// padding is the confidence with which detectors of a fixed number of boxes fill it up.
	padding = -1
)

// boxes reads the outputs of a detector.
type boxes struct {
	// with defaults filled in
	BoxesSpec
	// columns as the study gives them, nil for none
	given []string
	// height and width, -1 if not known
	win     [2]int
	anchors []anchor
	ports   map[string]onnx.Port
	// largest batch, 0 for any
	max int
	// that boxes may have, 0 if the file does not say
	classes int
	notes   []string
	// of *workspace
	pool *sync.Pool
}

// anchor is where raw offsets are measured from: a centre and a size in pixels.
type anchor struct{ x, y, w, h float64 }

// boxesKind is labelled boxes with scores.
var boxesKind = kind{of: space.KindBoxes, found: readBoxes}

// readBoxes finds the outputs of a detector and checks the specification against them.
func readBoxes(sig onnx.Signature, out OutputSpec, p port, win [2]int) (outputs, error) {
	b := &boxes{
		BoxesSpec: out.Boxes, given: out.Boxes.Columns, win: win, ports: map[string]onnx.Port{},
		pool: &sync.Pool{New: func() any { return new(workspace) }},
	}
	if d := strings.ToLower(out.Decode); d != "" && d != raw {
		return nil, fmt.Errorf("output.decode: %q does not make boxes; leave it out and set output.boxes", out.Decode)
	}
	if err := b.check(); err != nil {
		return nil, err
	}
	if len(b.Parts) == 0 {
		if out.Name != "" {
			if _, ok := sig.Output(out.Name); !ok {
				return nil, fmt.Errorf("output.name: the model has no output %q; there are %s", out.Name,
					strings.Join(onnx.Names(sig.Outputs), ", "))
			}
			b.Parts = []BoxesPart{{Boxes: out.Name}}
		} else if err := b.find(sig); err != nil {
			return nil, err
		}
	}
	for i, part := range b.Parts {
		if part.Boxes == "" {
			return nil, fmt.Errorf("output.boxes.parts[%d].boxes: missing; name the output that holds coordinates", i)
		}
		if part.Labels != "" && part.Scores == "" || part.Object != "" && part.Scores == "" {
			return nil, fmt.Errorf(
				"output.boxes.parts[%d].scores: missing beside labels or object; name the output that holds scores", i)
		}
		for _, o := range [][2]string{
			{"boxes", part.Boxes},
			{"scores", part.Scores},
			{"object", part.Object},
			{"labels", part.Labels},
		} {
			if o[1] == "" {
				continue
			}
			x, ok := sig.Output(o[1])
			if !ok {
				return nil, fmt.Errorf("output.boxes.parts[%d].%s: the model has no output %q; there are %s", i, o[0],
					o[1], strings.Join(onnx.Names(sig.Outputs), ", "))
			}
			if err := numbers(x); err != nil {
				return nil, err
			}
			b.ports[o[1]] = x
		}
	}
	if err := b.makeAnchors(); err != nil {
		return nil, err
	}
	switch form := out.Boxes.Form; {
	case b.anchors != nil && form == "":
		b.notes = append(b.notes, fmt.Sprintf("offsets from anchors are read as %s; set output.boxes.form to change it",
			b.Form))
	case b.anchors == nil && (form == "" || out.Boxes.Unit == ""):
		unit := "pixels of the window"
		if b.Unit == "unit" {
			unit = "shares of the window"
		}
		b.notes = append(b.notes,
			fmt.Sprintf("coordinates are read as %s in %s; set output.boxes.form and output.boxes.unit to change it",
				b.Form, unit))
	}
	total := 0
	for i := range b.Parts {
		a, err := b.arrange(&b.Parts[i], b.declared)
		if err != nil {
			return nil, err
		}
		if !a.known {
			continue
		}
		if a.samples == alone && p.batch > 1 {
			return nil, fmt.Errorf(
				"output %s has no axis that counts samples, the input is fixed to %d; want [N, boxes, numbers]",
				b.ports[b.Parts[i].Boxes], p.batch)
		}
		if a.samples == alone {
			b.max = 1
		}
		if a.note != "" {
			b.notes = append(b.notes, a.note)
		}
		switch {
		case a.labels < 0 && b.Parts[i].Labels == "":
			n := a.classes
			if b.Background != "" {
				n--
			}
			b.classes = max(b.classes, n)
		case b.Classes > 0:
			b.classes = b.Classes
		}
		if b.Suppress == "" && a.labels >= 0 {
			b.notes = append(b.notes,
				fmt.Sprintf("output %q gives class numbers and is taken for what is left after the model's own "+
					"suppression; set output.boxes.suppress to suppress again",
					b.Parts[i].Boxes))
		}
		if total >= 0 && a.n >= 0 {
			total += a.n
		} else {
			total = -1
		}
	}
	if total > 0 && b.anchors != nil && total != len(b.anchors) {
		return nil, b.miscount(total)
	}
	return b, nil
}

// check refuses what no model could mend and fills in the defaults that do not depend on it.
func (b *boxes) check() error {
	word := func(name string, v *string, words ...string) error {
		if *v = strings.ToLower(*v); *v != "" && !slices.Contains(words, *v) {
			return fmt.Errorf("output.boxes.%s: %q is not known; say %s", name, *v, strings.Join(words, ", "))
		}
		return nil
	}
	for _, w := range []struct {
		name  string
		v     *string
		words []string
	}{
		{"form", &b.Form, []string{"xyxy", "cxcywh", "xywh"}},
		{"unit", &b.Unit, []string{"pixel", "unit"}},
		{"activation", &b.Activation, []string{"none", "sigmoid", softmax}},
		{"background", &b.Background, []string{"first", "last"}},
		{"suppress", &b.Suppress, []string{"hard", "soft", "weighted", "none"}},
	} {
		if err := word(w.name, w.v, w.words...); err != nil {
			return err
		}
	}
	for _, n := range []struct {
		name    string
		v       *float64
		lo, hi  float64
		without float64
	}{
		{"scale", &b.Scale, math.SmallestNonzeroFloat64, math.MaxFloat64, 1},
		{"size_scale", &b.SizeScale, math.SmallestNonzeroFloat64, math.MaxFloat64, 0},
		{"clamp", &b.Clamp, math.SmallestNonzeroFloat64, math.MaxFloat64, math.Inf(1)},
		{"limit", &b.Limit, 0, 1, 0.05},
		{"overlap", &b.Overlap, math.SmallestNonzeroFloat64, 1, 0.5},
		{"sigma", &b.Sigma, math.SmallestNonzeroFloat64, math.MaxFloat64, 0.5},
	} {
		if *n.v != 0 && !(*n.v >= n.lo && *n.v <= n.hi) {
			return fmt.Errorf("output.boxes.%s: %g; want a number above 0%s", n.name, *n.v,
				map[bool]string{true: " and up to 1"}[n.hi == 1])
		}
		if len(b.Anchors) == 0 && *n.v != 0 && *n.v != 1 && (n.name == "scale" || n.name == "size_scale") {
			return fmt.Errorf("output.boxes.%s divides offsets from anchors; set output.boxes.anchors, or leave it out",
				n.name)
		}
		if *n.v == 0 {
			*n.v = n.without
		}
	}
	if b.SizeScale == 0 {
		b.SizeScale = b.Scale
	}
	if b.Most < 0 || b.Classes < 0 {
		return fmt.Errorf("output.boxes: most %d and classes %d; want no number below 0", b.Most, b.Classes)
	}
	if b.Most == 0 {
		b.Most = 100
	}
	switch {
	case len(b.Anchors) == 0 && b.Log:
		return errors.New("output.boxes.log is for sizes relative to an anchor's; set output.boxes.anchors, or leave " +
			"it out")
	case len(b.Anchors) > 0 && b.Unit == "unit":
		return errors.New("output.boxes.unit is for coordinates without anchors; leave it out (scale says what raw " +
			"offsets are divided by)")
	case b.Log && b.Form == "xyxy":
		return errors.New("output.boxes.log is for sizes, the form xyxy has none; set output.boxes.form: cxcywh")
	}
	if b.Form == "" {
		if b.Form = "xyxy"; len(b.Anchors) > 0 {
			b.Form = "cxcywh"
		}
	}
	if _, err := rowOf(b.given); err != nil {
		return err
	}
	known := b.win[0] > 0 && b.win[1] > 0
	for _, need := range []struct {
		name string
		set  bool
	}{{"anchors", len(b.Anchors) > 0}, {"unit: unit", b.Unit == "unit"}, {"clip", b.Clip}} {
		if need.set && !known {
			return fmt.Errorf("output.boxes.%s: the size of what the model sees is not known; give data of one size, "+
				"a group.window, or a model with a fixed input", need.name)
		}
	}
	return nil
}

// makeAnchors lays the grids out.
func (b *boxes) makeAnchors() error {
	for i, a := range b.Anchors {
		per := len(a.Sizes)
		switch {
		case a.Stride < 1:
			return fmt.Errorf("output.boxes.anchors[%d].stride: %d; want at least 1 pixel", i, a.Stride)
		case a.PerCell < 0 || a.PerCell > maxAnchors:
			return fmt.Errorf("output.boxes.anchors[%d].per_cell: %d; want at least 1", i, a.PerCell)
		case per > 0 && a.PerCell > 0 && a.PerCell != per:
			return fmt.Errorf("output.boxes.anchors[%d]: per_cell is %d and sizes lists %d; leave one of them out", i,
				a.PerCell, per)
		case per == 0:
			per = max(a.PerCell, 1)
		}
		for _, s := range a.Sizes {
			if !(s[0] > 0 && s[1] > 0 && s[0] <= math.MaxFloat64 && s[1] <= math.MaxFloat64) {
				return fmt.Errorf("output.boxes.anchors[%d].sizes: %v; want a width and a height above 0", i, s)
			}
		}
		rows, cols := (b.win[0]-1)/a.Stride+1, (b.win[1]-1)/a.Stride+1
		if room := maxAnchors - len(b.anchors); rows > room || cols > room || rows*cols > room/per {
			return fmt.Errorf("output.boxes.anchors[%d]: %d x %d places with %d anchors each, and %d before them; "+
				"more than %d are refused: set a larger stride",
				i, rows, cols, per, len(b.anchors), maxAnchors)
		}
		half := float64(a.Stride) / 2
		if a.Corner {
			half = 0
		}
		for r := range rows {
			for c := range cols {
				for k := range per {
					p := anchor{
						x: float64(c*a.Stride) + half, y: float64(r*a.Stride) + half, w: float64(b.win[1]),
						h: float64(b.win[0]),
					}
					if len(a.Sizes) > 0 {
						p.w, p.h = a.Sizes[k][0], a.Sizes[k][1]
					}
					b.anchors = append(b.anchors, p)
				}
			}
		}
	}
	return nil
}

// miscount says that there are not as many anchors as boxes.
func (b *boxes) miscount(boxes int) error {
	var each []string
	for _, a := range b.Anchors {
		per := max(len(a.Sizes), a.PerCell, 1)
		each = append(each, strconv.Itoa(((b.win[0]-1)/a.Stride+1)*((b.win[1]-1)/a.Stride+1)*per))
	}
	return fmt.Errorf("output.boxes.anchors: %d anchors (%s) on a window of %d x %d for %d boxes of the model; check "+
		"stride and per_cell, or sizes",
		len(b.anchors), strings.Join(each, " + "), b.win[0], b.win[1], boxes)
}

func (b *boxes) declared(name string) ([]int, bool) {
	x := b.ports[name]
	return x.Sizes(), x.Ranked
}

func (b *boxes) spec() space.Spec {
	return space.Spec{Name: b.Parts[0].Boxes, Kind: space.KindBoxes, Shape: []int{-1}, Unit: "px"}
}

// reads are the outputs that hold the boxes, in the order of their names.
func (b *boxes) reads() []string { return slices.Sorted(maps.Keys(b.ports)) }

func (b *boxes) plain() outputs { return b }

func (b *boxes) raw([]space.Value) (tensor.Named, error) {
	return tensor.Named{}, fmt.Errorf("output %q is decoded to boxes: %w", b.Parts[0].Boxes, ErrNotLinear)
}

func (b *boxes) limits() (int, []string) { return b.max, b.notes }

// Irregular counts the boxes of a set that are turned inside out (a right edge left of the left one, or a lower edge
// above the upper one), those that are not but have no area, and those with a number that is not finite, which are in
// neither of the other counts.
func Irregular(b *space.Boxes) (inverted, empty, notFinite int) {
	for i := range b.Items {
		switch x := &b.Items[i]; {
		case !finite(x):
			notFinite++
		case x.X2 < x.X1 || x.Y2 < x.Y1:
			inverted++
		case x.X2 == x.X1 || x.Y2 == x.Y1:
			empty++
		}
	}
	return inverted, empty, notFinite
}

// finite tells whether every number of a box is, its area included.
func finite(b *space.Box) bool {
	const inf = math.MaxFloat64
	return math.Abs(b.X1) <= inf && math.Abs(b.Y1) <= inf && math.Abs(b.X2) <= inf && math.Abs(b.Y2) <= inf &&
		math.Abs(b.Score) <= inf && math.Abs(b.Angle) <= inf && b.Area() <= inf
}
