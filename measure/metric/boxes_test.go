package metric

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"nero/data/space"
)

func box(x1, y1, x2, y2, score float64, label int) space.Box {
	return space.Box{X1: x1, Y1: y1, X2: x2, Y2: y2, Score: score, Label: label}
}

func set(items ...space.Box) *space.Boxes { return &space.Boxes{H: 128, W: 128, Items: items} }

func TestIoUByHand(t *testing.T) {
	unit := box(0, 0, 1, 1, 1, 0)
	turned := func(b space.Box, degrees float64) space.Box { b.Angle = degrees; return b }
	for name, c := range map[string]struct {
		a, b space.Box
		want float64
	}{
		"the same":               {unit, unit, 1},
		"half":                   {unit, box(0.5, 0, 1.5, 1, 1, 0), 1.0 / 3},
		"a quarter":              {box(0, 0, 2, 2, 1, 0), box(1, 1, 3, 3, 1, 0), 1.0 / 7},
		"inside":                 {box(0, 0, 4, 4, 1, 0), box(1, 1, 3, 2, 1, 0), 2.0 / 16},
		"an edge in common":      {unit, box(1, 0, 2, 1, 1, 0), 0},
		"apart":                  {unit, box(5, 5, 6, 6, 1, 0), 0},
		"no +1":                  {box(0, 0, 10, 10, 1, 0), box(0, 0, 9, 10, 1, 0), 0.9},
		"one without area":       {unit, box(0.5, 0.5, 0.5, 0.5, 1, 0), 0},
		"one inside out":         {unit, box(1, 1, 0, 0, 1, 0), 0},
		"inside out on one axis": {box(0, 0, 2, 2, 1, 0), box(2, 0, 0, 2, 1, 0), 0},
		"both without area":      {box(1, 1, 1, 3, 1, 0), box(1, 1, 1, 3, 1, 0), math.NaN()},
		"NaN":                    {unit, box(math.NaN(), 0, 1, 1, 1, 0), math.NaN()},
		"NaN angle":              {unit, turned(unit, math.NaN()), math.NaN()},
		"NaN, turned":            {turned(unit, 30), turned(box(0, 0, 1, math.NaN(), 1, 0), 45), math.NaN()},
		// A square and the same turned by 45 degrees about its centre meet in a regular octagon of area 2(√2-1): the
		// IoU is 1/√2.
		"octagon":      {unit, turned(unit, 45), math.Sqrt2 / 2},
		"quarter turn": {box(0, 0, 4, 2, 1, 0), turned(box(1, -1, 3, 3, 1, 0), 90), 1},
		"half turn":    {box(0, 0, 4, 2, 1, 0), turned(box(0, 0, 4, 2, 1, 0), 180), 1},
		// A diamond of half diagonal 1 around the corner of a large square: a quarter of it is inside, 0.5 of 100 + 2 -
		// 0.5.
		"diamond at a corner": {
			box(0, 0, 10, 10, 1, 0),
			turned(box(-math.Sqrt2/2, -math.Sqrt2/2, math.Sqrt2/2, math.Sqrt2/2, 1, 0), 45), 0.5 / 101.5,
		},
		"circles that do not meet": {turned(unit, 30), turned(box(3, 3, 4, 4, 1, 0), 60), 0},
		// A strip of 8 x 2 across another at a right angle: 4 of 16 + 16 - 4; both turned by 30 degrees.
		"a cross": {turned(box(-4, -1, 4, 1, 1, 0), 30), turned(box(-4, -1, 4, 1, 1, 0), 120), 4.0 / 28},
		// A strip of width 2 across one of the same width at 30 degrees: a rhombus of 4/sin 30 = 8.
		"a rhombus": {box(-20, -1, 20, 1, 1, 0), turned(box(-20, -1, 20, 1, 1, 0), 30), 8.0 / (160 - 8)},
	} {
		for k, got := range []float64{IoU(c.a, c.b), IoU(c.b, c.a)} {
			if !(math.Abs(got-c.want) < 1e-12) && !(math.IsNaN(got) && math.IsNaN(c.want)) {
				t.Errorf("%s (%d): %.15g, want %.15g", name, k, got, c.want)
			}
		}
	}
	// Counter-clockwise as displayed, with y down: the right end of a level strip goes up.
	strip := turned(box(-10, -0.5, 10, 0.5, 1, 0), 30)
	up := box(6, -6, 9, -3, 1, 0)
	down := box(6, 3, 9, 6, 1, 0)
	if !(IoU(strip, up) > 0.1) || IoU(strip, down) != 0 {
		t.Errorf("a strip turned by 30 degrees has an IoU of %g with what is up right and of %g with what is down "+
			"right", IoU(strip, up), IoU(strip, down))
	}
}

func drawBox(t *rapid.T, angle bool) space.Box {
	c, s := rapid.Float64Range(-20, 20), rapid.Float64Range(0.5, 20)
	x, y := c.Draw(t, "x"), c.Draw(t, "y")
	b := box(x, y, x+s.Draw(t, "w"), y+s.Draw(t, "h"), rapid.Float64Range(0, 1).Draw(t, "score"),
		rapid.IntRange(0, 2).Draw(t, "label"))
	if angle {
		b.Angle = rapid.Float64Range(-180, 180).Draw(t, "angle")
	}
	return b
}

func TestIoULaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		angle := rapid.Bool().Draw(t, "turned")
		a, b := drawBox(t, angle), drawBox(t, angle)
		v := IoU(a, b)
		near := func(x float64) bool { return math.Abs(v-x) < 1e-9 }
		if !(v >= 0 && v <= 1) || !near(IoU(b, a)) || !(math.Abs(IoU(a, a)-1) < 1e-12) {
			t.Fatalf("%v, the other way %v, itself %v", v, IoU(b, a), IoU(a, a))
		}
		dx, dy := rapid.Float64Range(-100, 100).Draw(t, "dx"), rapid.Float64Range(-100, 100).Draw(t, "dy")
		move := func(b space.Box) space.Box { b.X1, b.X2, b.Y1, b.Y2 = b.X1+dx, b.X2+dx, b.Y1+dy, b.Y2+dy; return b }
		scale := func(b space.Box) space.Box { b.X1, b.X2, b.Y1, b.Y2 = 3*b.X1, 3*b.X2, 3*b.Y1, 3*b.Y2; return b }
		mirror := func(b space.Box) space.Box { b.X1, b.X2, b.Angle = -b.X2, -b.X1, -b.Angle; return b }
		by := rapid.Float64Range(-360, 360).Draw(t, "by")
		turn := func(b space.Box) space.Box { // counter-clockwise as displayed, about the origin
			s, c := math.Sincos(by * math.Pi / 180)
			x, y := b.Center()
			u, w := c*x+s*y, -s*x+c*y
			b.X1, b.X2, b.Y1, b.Y2 = b.X1+u-x, b.X2+u-x, b.Y1+w-y, b.Y2+w-y
			b.Angle += by
			return b
		}
		for name, f := range map[string]func(space.Box) space.Box{
			"shift": move, "scale": scale, "mirror": mirror,
			"turn": turn,
		} {
			if !near(IoU(f(a), f(b))) {
				t.Fatalf("%v and %v: %v, after a common %s %v", a, b, v, name, IoU(f(a), f(b)))
			}
		}
	})
}

// The area that turned boxes share is that which counting points finds.
func TestIoUByCounting(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	inside := func(b space.Box, x, y float64) bool {
		s, c := math.Sincos(b.Angle * math.Pi / 180)
		cx, cy := b.Center()
		u, v := c*(x-cx)-s*(y-cy), s*(x-cx)+c*(y-cy)
		return math.Abs(u) <= (b.X2-b.X1)/2 && math.Abs(v) <= (b.Y2-b.Y1)/2
	}
	for range 10 {
		a := space.Box{X2: 2 + 4*r.Float64(), Y2: 2 + 4*r.Float64(), Angle: 360 * r.Float64()}
		b := space.Box{X1: 2 * r.Float64(), Y1: 2 * r.Float64(), Angle: 360 * r.Float64()}
		b.X2, b.Y2 = b.X1+1+4*r.Float64(), b.Y1+1+4*r.Float64()
		both, either := 0, 0
		const n = 200
		for i := range n * n {
			x, y := -6+18*(float64(i%n)+0.5)/n, -6+18*(float64(i/n)+0.5)/n
			p, q := inside(a, x, y), inside(b, x, y)
			if p && q {
				both++
			}
			if p || q {
				either++
			}
		}
		if got, want := IoU(a, b), float64(both)/float64(either); !(math.Abs(got-want) < 0.02) {
			t.Errorf("%+v %+v: %g, counted %g", a, b, got, want)
		}
	}
}

func find(t *testing.T, name string) *Metric {
	t.Helper()
	m, err := Find(name)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Every number below is worked out by hand from the boxes beside it.
func TestDetectionByHand(t *testing.T) {
	key := box(20, 20, 40, 40, 1, 1) // 400
	other := box(60, 60, 80, 80, 1, 2)
	right := box(20, 20, 40, 30, 0.8, 1)  // IoU with key 200/400 = 0.5
	wrong := box(20, 20, 40, 40, 0.9, 2)  // where the key is, of another class
	second := box(60, 60, 80, 75, 0.6, 2) // IoU with other 300/400 = 0.75
	apart := box(100, 100, 120, 120, 0.95, 1)
	nan := math.NaN()
	for name, c := range map[string]struct {
		pred, truth *space.Boxes
		want        map[string]float64
	}{
		"right": {set(right, second), set(key, other), map[string]float64{
			"iou": 0.5, "box_confidence": 0.8, "conf_iou": 0.4, "conf_iou_precision": 0.4, "iou_any": 0.5,
			"key_iou": 0.5, "key_conf_iou": 0.4, "key_confidence": 0.8, "miss": 0, "wrong_label": 0,
			"precision": 1, "recall": 1, "f1": 1, "ap50": 1, "coco_ap50": 1, "ap75": 0.5, "count_error": 0,
			"center_error": 5, "size_error": math.Ln2 / 2,
			// Of class 1 one threshold of ten is met, of class 2 six (0.50 to 0.75).
			"ap": 0.35, "coco_ap": 0.35, "coco_ar100": 0.35, "set_iou@target": 0.625, "extra@target": 0,
			"missed@target": 0,
		}},
		"wrong label": {set(right, wrong), set(key), map[string]float64{
			"iou": 0, "box_confidence": 0, "conf_iou": 0, "conf_iou_precision": 0, "iou_any": 1,
			"box_confidence_any": 0.9, "conf_iou_any": 0.9, "conf_iou_precision_any": 0.45, "wrong_label": 1,
			"key_iou": 0.5, "precision": 0.5, "recall": 1, "f1": 2.0 / 3, "ap50": 1, "count_error": 1,
			"center_error": 0, "size_error": 0, "set_iou@target": 0.25,
		}},
		"elsewhere first": {set(right, apart), set(key), map[string]float64{
			"iou": 0, "box_confidence": 0.95, "conf_iou": 0, "conf_iou_any": 0, "key_iou": 0.5, "key_confidence": 0.8,
			"precision": 0.5, "recall": 1, "ap50": 0.5, "center_error": 80 * math.Sqrt2, "extra@target": 1,
		}},
		"miss": {set(), set(key, other), map[string]float64{
			"iou": 0, "conf_iou": 0, "conf_iou_any": 0, "box_confidence": 0, "conf_iou_precision": 0, "key_iou": 0,
			"miss": 1, "wrong_label": 0, "precision": 0, "recall": 0, "f1": 0, "ap50": 0, "coco_ap": 0,
			"count_error": 2, "center_error": nan, "size_error": nan, "set_iou@target": 0, "missed@target": 2,
			"extra@target": 0,
		}},
		"nothing there, nothing found": {set(), set(), map[string]float64{
			"iou": nan, "conf_iou": nan, "miss": nan, "wrong_label": nan, "precision": nan, "recall": nan, "f1": nan,
			"ap50": nan, "count_error": 0, "set_iou@target": nan, "missed@target": 0,
		}},
		"nothing there": {set(right), set(), map[string]float64{
			"iou": nan, "box_confidence": nan, "miss": 0, "precision": 0, "recall": nan, "f1": 0, "ap50": nan,
			"count_error": 1, "set_iou@target": 0, "extra@target": 1,
		}},
		"the key has left the window": {set(second), set(box(128, 20, 128, 40, 1, 1), other), map[string]float64{
			"iou": nan, "conf_iou": nan, "key_iou": nan, "miss": 0, "precision": 1, "recall": 1, "f1": 1, "ap50": 1,
			"count_error": 0, "set_iou@target": 0.75,
		}},
		"each object once": {
			set(box(20, 20, 40, 40, 0.5, 1), box(20, 20, 40, 38, 0.7, 1)), set(key),
			map[string]float64{
				"precision": 0.5, "recall": 1, "f1": 2.0 / 3, "iou": 0.9, "ap50": 1, "key_iou": 1,
				"set_iou@target": 0.5,
			},
		},
		"just below": {
			set(box(20, 20, 40, 29.99, 0.5, 1)), set(key),
			map[string]float64{"precision": 0, "recall": 0, "f1": 0, "ap50": 0, "missed@target": 1, "extra@target": 1},
		},
		"an object without class": {
			set(wrong), set(box(20, 20, 40, 40, 1, -1)),
			map[string]float64{"iou": 1, "wrong_label": 0},
		},
		"NaN": {set(box(nan, 20, 40, 40, 1, 1)), set(key), map[string]float64{
			"iou": nan, "conf_iou": nan, "miss": nan, "precision": nan, "recall": nan, "f1": nan, "ap50": nan,
			"count_error": nan, "set_iou@target": nan, "extra@target": nan,
		}},
		"an infinite score": {
			set(box(20, 20, 40, 40, math.Inf(1), 1)), set(key),
			map[string]float64{"box_confidence": nan, "ap": nan},
		},
		"inside out": {
			set(box(40, 40, 20, 20, 0.9, 1)), set(key),
			map[string]float64{"iou": 0, "box_confidence": 0.9, "conf_iou": 0, "precision": 0, "ap50": 0, "miss": 0},
		},
	} {
		for m, want := range c.want {
			got := find(t, m).Measure(Case{At: c.pred, Truth: c.truth, Label: -1})
			if !(math.Abs(got-want) < 1e-12) && !(math.IsNaN(got) && math.IsNaN(want)) {
				t.Errorf("%s: %s = %.12g, want %.12g", name, m, got, want)
			}
		}
	}
	for _, m := range detection() {
		for _, c := range []Case{
			{},
			{At: set(), Truth: &space.Scores{}},
			{At: &space.Scores{}, Truth: set(key)},
			{At: (*space.Boxes)(nil), Truth: set(key)},
		} {
			if got := m.Measure(c); !math.IsNaN(got) {
				t.Errorf("%s without boxes = %g", m.Name, got)
			}
		}
	}
}

// Recall levels and the envelope, by hand: of four objects the boxes, by falling score, are right, wrong, right, wrong,
// right.
func TestAveragePrecisionByHand(t *testing.T) {
	var truth, pred []space.Box
	for i := range 4 {
		truth = append(truth, box(float64(30*i), 0, float64(30*i+20), 20, 1, 0))
	}
	for i, k := range []int{0, -1, 1, -1, 2} {
		b := box(0, 100, 20, 120, 0.9-0.1*float64(i), 0)
		if k >= 0 {
			b.X1, b.X2, b.Y1, b.Y2 = truth[k].X1, truth[k].X2, 0, 20
		}
		pred = append(pred, b)
	}
	c := Case{At: set(pred...), Truth: set(truth...)}
	// Precision 1 up to recall 1/4, 2/3 up to 1/2, 3/5 up to 3/4, nothing after.
	if got, want := AveragePrecision50.Measure(c), (1+2.0/3+3.0/5)/4; !(math.Abs(got-want) < 1e-12) {
		t.Errorf("ap50 = %g, want %g", got, want)
	}
	// The 101 recalls: 26 up to 0.25, 25 up to 0.50, 25 up to 0.75.
	if got, want := CocoAP50.Measure(c), (26+25*2.0/3+25*3.0/5)/101; !(math.Abs(got-want) < 1e-12) {
		t.Errorf("coco_ap50 = %g, want %g", got, want)
	}
	// Over two samples it is no mean: a second one with a wrong box above all others.
	e := []Evidence{EvidenceOf(c, 1), EvidenceOf(Case{At: set(box(0, 0, 9, 9, 1, 0)), Truth: set()}, 1)}
	if got, want := AveragePrecision50.Pooled(e), (3.0/6+3.0/6+3.0/6)/4; !(math.Abs(got-want) < 1e-12) {
		t.Errorf("pooled ap50 = %g, want %g", got, want)
	}
}

func TestEvidence(t *testing.T) {
	a, b := box(0, 0, 20, 20, 1, 0), box(30, 0, 50, 20, 1, 2)
	e := EvidenceOf(Case{
		At: set(box(0, 0, 20, 14, 0.25, 0), box(0, 0, 20, 18, 0.75, 0), box(30, 0, 50, 20, 0.5, 2),
			box(0, 0, 20, 20, 0.5, 1)),
		Truth: set(a, b, box(90, 90, 90, 99, 1, 3)),
	}, 2)
	// IoU 0.9 and 0.7 with one object: the better score has it up to 0.90, the other above that has no chance.
	want := []Hit{{0.25, 0, 0}, {0.75, 0, 0x1ff}, {0.5, 2, 0x3ff}, {0.5, 1, 0}}
	if !slices.Equal(e.Hits, want) || !slices.Equal(e.Truths, []int32{1, 0, 1}) {
		t.Errorf("%+v", e)
	}
	e = EvidenceOf(Case{At: set(a)}, 2)
	if e.Truths != nil || len(e.Hits) != 1 || e.Hits[0].Match != 0 {
		t.Errorf("without a reference %+v", e)
	}
	if e := EvidenceOf(Case{At: set(box(math.NaN(), 0, 1, 1, 1, 0)), Truth: set(a)}, 2); e.Hits != nil ||
		e.Truths != nil {
		t.Errorf("a box that is not finite %+v", e)
	}
	if e := EvidenceOf(Case{At: set(), Truth: set()}, 3); !slices.Equal(e.Truths, []int32{0, 0, 0}) || e.Hits == nil {
		t.Errorf("an empty picture %+v", e)
	}
}

// The reference of the model's own answers comes clipped, and what an edge cuts is nobody's fault.
func TestOwnReference(t *testing.T) {
	cut := box(0, 50, 10, 70, 0.9, 0)
	cut.Cut = true
	whole := box(40, 40, 60, 60, 0.8, 0)
	// A box that reaches beyond the frame agrees with its own clipped self, at the identity.
	over := box(-2, 40, 20, 60, 0.9, 0)
	self := set(over)
	for _, name := range []string{"iou@self", "set_iou", "set_iou@consensus"} {
		clipped := set(box(0, 40, 20, 60, 0.9, 0))
		if got := find(t, name).Measure(Case{Got: self, At: self, Want: self, Truth: clipped}); got != 1 {
			t.Errorf("%s with itself = %g", name, got)
		}
	}
	for name, c := range map[string]struct {
		at, got, truth *space.Boxes
		want           map[string]float64
	}{
		"cut and not found": {
			set(whole), set(whole), set(whole, cut),
			map[string]float64{"set_iou": 1, "missed": 0, "extra": 0, "recall@self": 1, "count_error@self": 0},
		},
		"cut and found": {
			set(whole, cut), set(whole, cut), set(whole, cut),
			map[string]float64{"set_iou": 1, "missed": 0, "extra": 0},
		},
		"new at the edge": {
			set(whole, box(0, 50, 10, 70, 0.9, 0)), set(whole, cut), set(whole),
			map[string]float64{"set_iou": 1, "extra": 0, "precision@self": 1},
		},
		"marked at the edge": {
			set(whole, cut), set(whole, box(10, 50, 20, 70, 0.9, 0)), set(whole),
			map[string]float64{"set_iou": 1, "extra": 0},
		},
		"new from outside": {
			set(whole, box(90, 50, 99, 70, 0.9, 0)), set(whole, box(125, 50, 134, 70, 0.9, 0)),
			set(whole),
			map[string]float64{"set_iou": 1, "extra": 0},
		},
		"new inside": {
			set(whole, box(90, 50, 99, 70, 0.9, 0)), set(whole, box(80, 50, 89, 70, 0.9, 0)),
			set(whole),
			map[string]float64{"set_iou": 0.5, "extra": 1, "precision@consensus": 0.5},
		},
		"missed":               {set(), set(), set(whole), map[string]float64{"set_iou": 0, "missed": 1, "extra": 0}},
		"only one that is cut": {set(), set(), set(cut), map[string]float64{"set_iou": math.NaN(), "missed": 0}},
		"against the target it counts": {set(whole), set(whole), set(whole, cut), map[string]float64{
			"recall": 0.5, "missed@target": 1, "set_iou@target": 0.5,
		}},
	} {
		for m, want := range c.want {
			got := find(t, m).Measure(Case{At: c.at, Got: c.got, Truth: c.truth})
			if !(math.Abs(got-want) < 1e-12) && !(math.IsNaN(got) && math.IsNaN(want)) {
				t.Errorf("%s: %s = %g, want %g", name, m, got, want)
			}
		}
	}
}

// Where a window moved, objects count that both windows saw whole, with two pixels to spare.
func TestOwnReferenceInWindows(t *testing.T) {
	whole, left, right := box(40, 40, 60, 60, 0.8, 0), box(1.5, 80, 20, 99, 0.7, 0), box(90, 80, 110, 99, 0.6, 0)
	at := set(whole, left, right)
	for name, c := range map[string]struct {
		at, truth *space.Boxes
		saw       space.Box
		want      map[string]float64
	}{
		// The window of the identity saw the columns up to 100 of this one; the box at the left ends 1.5 px from the
		// edge.
		"too many": {
			at, set(whole),
			space.Box{X1: -28, X2: 100, Y2: 128},
			map[string]float64{"extra": 0, "set_iou": 1},
		},
		"missed": {
			set(whole), set(whole, left, right),
			space.Box{X1: -28, X2: 100, Y2: 128},
			map[string]float64{"missed": 0, "set_iou": 1},
		},
		"a pixel": {at, set(whole), space.Box{X1: -10, Y1: -10, X2: 111, Y2: 138}, map[string]float64{"extra": 0}},
		"inside": {
			at, set(whole),
			space.Box{X1: -10, Y1: -10, X2: 112, Y2: 138},
			map[string]float64{"extra": 1, "set_iou": 0.5},
		},
		"not found": {
			set(whole), at,
			space.Box{X1: -10, Y1: -10, X2: 112, Y2: 138},
			map[string]float64{"missed": 1, "set_iou": 0.5},
		},
	} {
		c.truth.Seen = &c.saw
		for m, want := range c.want {
			if got := find(t, m).Measure(Case{At: c.at, Got: c.at, Truth: c.truth}); !(math.Abs(got-want) < 1e-12) {
				t.Errorf("%s: %s = %g, want %g", name, m, got, want)
			}
		}
	}
}

// brute is the largest sum of gains over all ways of matching.
func brute(gain [][]float64, used []bool) float64 {
	if len(gain) == 0 {
		return 0
	}
	best := brute(gain[1:], used)
	for j, g := range gain[0] {
		if !used[j] && g > 0 {
			used[j] = true
			best = max(best, g+brute(gain[1:], used))
			used[j] = false
		}
	}
	return best
}

func TestAssign(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, k := rapid.IntRange(0, 5).Draw(t, "rows"), rapid.IntRange(0, 5).Draw(t, "columns")
		gain := make([][]float64, n)
		for i := range gain {
			for range k {
				gain[i] = append(gain[i], float64(rapid.IntRange(-3, 10).Draw(t, "gain"))/10)
			}
		}
		got, sum := assign(gain), 0.0
		used := make([]bool, k)
		for i, j := range got {
			if j < 0 {
				continue
			}
			if used[j] || gain[i][j] <= 0 {
				t.Fatalf("%v of %v", got, gain)
			}
			used[j] = true
			sum += gain[i][j]
		}
		if want := brute(gain, make([]bool, k)); !(math.Abs(sum-want) < 1e-9) {
			t.Fatalf("%v of %v: %g, want %g", got, gain, sum, want)
		}
	})
}

// Sets of boxes compare alike both ways, whatever order they are in and wherever they are, and perfectly with
// themselves.
func TestSetIoULaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) *space.Boxes {
			s := &space.Boxes{H: 300, W: 300}
			for range rapid.IntRange(1, 5).Draw(t, name) {
				b := drawBox(t, false)
				b.X1, b.X2, b.Y1, b.Y2 = b.X1+100, b.X2+100, b.Y1+100, b.Y2+100
				s.Items = append(s.Items, b)
			}
			slices.SortStableFunc(s.Items, func(a, b space.Box) int { return cmp.Compare(b.Score, a.Score) })
			return s
		}
		a, b := draw("a"), draw("b")
		measure := func(a, b *space.Boxes) float64 { return SetIoU.Measure(Case{Got: a, At: a, Truth: b}) }
		v := measure(a, b)
		if !(v >= 0 && v <= 1) || !(math.Abs(v-measure(b, a)) < 1e-12) || !(math.Abs(measure(a, a)-1) < 1e-12) {
			t.Fatalf("%g, the other way %g, itself %g", v, measure(b, a), measure(a, a))
		}
		shuffled := &space.Boxes{H: 300, W: 300}
		for _, k := range rapid.Permutation(indexes(len(a.Items))).Draw(t, "order") {
			x := a.Items[k]
			shuffled.Items = append(shuffled.Items, x)
		}
		if w := measure(shuffled, b); !(math.Abs(v-w) < 1e-12) {
			t.Fatalf("%g, in another order %g", v, w)
		}
		for _, m := range detection() {
			for _, ref := range []Reference{Target, Self, Consensus} {
				n := m
				if m.Ref != ref {
					var err error
					if n, err = Against(m, ref); err != nil {
						continue
					}
				}
				if x := n.Measure(Case{Got: a, At: a, Want: b, Truth: b}); !math.IsNaN(x) &&
					(x < m.Range[0] || x > m.Range[1] || m.Binary && x != 0 && x != 1) {
					t.Fatalf("%s = %g is outside %v", n.Name, x, m.Range)
				}
				if x := n.Measure(Case{Got: a, At: a, Want: a, Truth: a}); m.Better == Lower && m != WrongLabel &&
					x > 1e-12 {
					t.Fatalf("%s of the same boxes = %g", n.Name, x)
				}
			}
		}
	})
}

func indexes(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

func TestAgainst(t *testing.T) {
	for _, m := range Builtin() {
		for _, ref := range []Reference{Target, Self, Consensus} {
			name := m.Name + "@" + string(ref)
			got, err := Find(name)
			if ok := m.Movable && ref != m.Ref; ok != (err == nil) {
				t.Errorf("%s: movable %v: %v", name, m.Movable, err)
				continue
			}
			if err != nil {
				if !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "take ") &&
					!strings.Contains(err.Error(), "write ") && !m.Understands(space.KindMask) {
					t.Errorf("%s: %v says no remedy", name, err)
				}
				continue
			}
			if got.Name != name || got.Ref != ref || !strings.HasPrefix(got.Doc, m.Doc) || got.Doc == m.Doc ||
				m.Name == name || (got.Pooled == nil) != (m.Pooled == nil) {
				t.Errorf("%s: %+v", name, got)
			}
		}
	}
	for name, want := range map[string]string{
		"relative@consensus": "defined by the model's own answer",
		"iou@target":         "write iou",
		"iou@mean":           "want target, self or consensus",
		"iou@":               "want target, self or consensus",
		"iou@self@self":      "want target, self or consensus",
		"ap50@consensus":     "take f1@consensus",
		"@self":              "unknown metric \"\"",
		"iuo@self":           "unknown metric \"iuo\"",
	} {
		if _, err := Find(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if m := find(t, "top7@consensus"); m.Measure(Case{Got: &space.Scores{Val: []float64{0.1, 0.9}}, Label: 1}) != 1 {
		t.Error("top7@consensus")
	}
}

// The class of a reference that is scores is the most probable one.
func TestClassOfReference(t *testing.T) {
	p := func(x ...float64) *space.Scores { return &space.Scores{Val: x, Probabilities: true} }
	at := p(0.2, 0.3, 0.5)
	for name, c := range map[string]struct {
		c    Case
		want float64
	}{
		"confidence@self":      {Case{Got: at, Want: p(0.1, 0.8, 0.1), Truth: p(0, 0, 1), Label: 0}, 0.3},
		"accuracy@consensus":   {Case{Got: at, Truth: p(0.1, 0.1, 0.8), Label: 0}, 1},
		"confidence@consensus": {Case{Got: at, Label: 1}, 0.3},
		"margin@consensus":     {Case{Got: at, Label: -1}, math.NaN()},
		"accuracy@self":        {Case{Got: at, Label: 2}, math.NaN()},
	} {
		if got := find(t, name).Measure(c.c); !(math.Abs(got-c.want) < 1e-12) &&
			!(math.IsNaN(got) && math.IsNaN(c.want)) {
			t.Errorf("%s = %g, want %g", name, got, c.want)
		}
	}
}
