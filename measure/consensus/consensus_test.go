package consensus

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"nero/data/space"
	"nero/measure/metric"
)

func box(x1, y1, x2, y2, score float64, label int) space.Box {
	return space.Box{X1: x1, Y1: y1, X2: x2, Y2: y2, Score: score, Label: label}
}

func set(items ...space.Box) *space.Boxes { return &space.Boxes{H: 128, W: 128, Items: items} }

// gather adds one answer for each value, of equal weight.
func gather(tb testing.TB, kind space.Kind, o Options, values ...space.Value) *Accumulator {
	tb.Helper()
	a, err := New(kind, len(values), o)
	if err != nil {
		tb.Fatal(err)
	}
	for i, v := range values {
		if err := a.Add(Answer{Index: i, Weight: 1, Value: v}); err != nil {
			tb.Fatal(err)
		}
	}
	return a
}

// as is a value of a type that it must have.
func as[V space.Value](v space.Value) V {
	x, ok := v.(V)
	if !ok {
		panic(fmt.Sprintf("a %T", v))
	}
	return x
}

func TestBoxesByHand(t *testing.T) {
	cut := box(15, 10, 35, 30, 0.9, 2)
	cut.Cut = true
	a := gather(
		t, space.KindBoxes, Options{},
		set(box(10, 10, 30, 30, 0.9, 1)),
		set(box(11, 10, 30, 31, 0.8, 1), box(80, 80, 100, 100, 0.99, 3)), // the second is seen once and no object
		set(box(12, 10, 34, 30, 0.7, 2)),
		set(), // a miss
		// three quarters of what is seen lie in the object: cut, neither a member nor a miss
		set(cut),
		set(box(60, 10, 80, 30, 0.6, 2)), // elsewhere: a miss of this object
	)
	r := a.Result()
	got, ok := r.Value.(*space.Boxes)
	if !ok || len(got.Items) != 1 || got.H != 128 {
		t.Fatalf("%+v", r)
	}
	b := got.Items[0]
	// Medians of 10 11 12, 10 10 10, 30 30 34, 30 31 30; class 1 twice, class 2 once; the score is the mean.
	if b.X1 != 11 || b.Y1 != 10 || b.X2 != 30 || b.Y2 != 30 || b.Label != 1 || !(math.Abs(b.Score-0.8) < 1e-12) ||
		b.Cut {
		t.Errorf("box %+v", b)
	}
	if r.Contributing != 3 || r.Of != 6 || r.Misses != 2 || r.Cut != 1 || r.Label != 1 ||
		!(math.Abs(r.Share-0.6) < 1e-12) || r.Weak {
		t.Errorf("%+v", r)
	}
	// IoU with the median box (19 x 20): 380/400, 380/399, 360/(380+440-360).
	if o := r.Objects[0]; !(math.Abs(o.Votes-2.0/3) < 1e-12) ||
		!(math.Abs(o.IoU-(380.0/400+380.0/399+360.0/460)/3) < 1e-12) {
		t.Errorf("%+v", o)
	}
	r = gather(t, space.KindBoxes, Options{Center: Mean}, set(box(10, 10, 30, 30, 1, 0)),
		set(box(13, 11, 30, 32, 0.5, 0))).Result()
	if b := as[*space.Boxes](r.Value).Items[0]; b != box(11.5, 10.5, 30, 31, 0.75, 0) {
		t.Errorf("mean %+v", b)
	}
}

func TestLabelTies(t *testing.T) {
	at := func(score float64, label int) *space.Boxes { return set(box(10, 10, 30, 30, score, label)) }
	for _, c := range []struct {
		name  string
		sets  []space.Value
		label int
	}{
		{"mode, not mean", []space.Value{at(0.9, 0), at(0.9, 0), at(0.9, 7)}, 0},
		{"mode against confidence", []space.Value{at(0.2, 3), at(0.2, 3), at(1, 1)}, 3},
		{"tie by summed confidence", []space.Value{at(0.5, 1), at(0.6, 2), at(0.5, 1), at(0.5, 2)}, 2},
		{"tie of both: the lower", []space.Value{at(0.5, 4), at(0.5, 2)}, 2},
	} {
		if r := gather(t, space.KindBoxes, Options{}, c.sets...).Result(); r.Label != c.label {
			t.Errorf("%s: %d, want %d", c.name, r.Label, c.label)
		}
	}
}

func TestWeak(t *testing.T) {
	one := set(box(10, 10, 30, 30, 1, 0))
	for _, c := range []struct {
		found, of int
		weak      float64
		want      bool
	}{
		{1, 2, 0, false},
		{1, 3, 0, true},
		{2, 4, 0, false},
		{2, 5, 0, true},
		{1, 4, 0.25, false},
		{1, 5, 0.25, true},
		{0, 3, 0.1, true},
	} {
		values := make([]space.Value, c.of)
		for i := range values {
			if values[i] = set(); i < c.found {
				values[i] = one
			}
		}
		r := gather(t, space.KindBoxes, Options{Weak: c.weak}, values...).Result()
		if r.Weak != c.want || r.Contributing != c.found || r.Misses != c.of-c.found {
			t.Errorf("%+v: %+v", c, r)
		}
	}
	// Answers that are missing or not finite make a mean weak as well.
	p := &space.Scores{Val: []float64{0.25, 0.75}, Probabilities: true}
	bad := &space.Scores{Val: []float64{math.NaN(), 1}, Probabilities: true}
	r := gather(t, space.KindScores, Options{}, p, bad, nil).Result()
	if !r.Weak || r.Contributing != 1 || r.Bad != 1 || r.Misses != 1 || r.Label != 1 {
		t.Errorf("%+v", r)
	}
	// The window of a crop: an object that one element cannot have seen whole is not missed there.
	a, err := New(space.KindBoxes, 4, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 4 {
		x := Answer{Index: i, Weight: 1, Value: set(), Window: &space.Box{X1: 20, Y1: 0, X2: 148, Y2: 128}}
		if i == 0 {
			x.Value, x.Window = one, &space.Box{X2: 128, Y2: 128}
		}
		if err := a.Add(x); err != nil {
			t.Fatal(err)
		}
	}
	if r := a.Result(); r.Weak || r.Cut != 3 || r.Misses != 0 || r.Share != 1 {
		t.Errorf("outside the window: %+v", r)
	}
}

func TestSeveralObjects(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	jitter := func(b space.Box) space.Box {
		b.X1, b.Y1, b.X2, b.Y2 = b.X1+r.Float64()*2-1, b.Y1+r.Float64()*2-1, b.X2+r.Float64()*2-1, b.Y2+r.Float64()*2-1
		b.Score = 0.5 + r.Float64()/2
		return b
	}
	objects := []space.Box{box(10, 10, 40, 40, 1, 0), box(30, 30, 62, 61, 1, 1), box(80, 70, 110, 90, 1, 0)}
	values := make([]space.Value, 40)
	for i := range values {
		s := set()
		for k, o := range objects {
			if i%4 >= k { // found by all, by three quarters, by half
				s.Items = append(s.Items, jitter(o))
			}
		}
		r.Shuffle(len(s.Items), func(i, j int) { s.Items[i], s.Items[j] = s.Items[j], s.Items[i] })
		values[i] = s
	}
	res := gather(t, space.KindBoxes, Options{}, values...).Result()
	items := as[*space.Boxes](res.Value).Items
	if len(items) != 2 || !(metric.IoU(items[0], objects[0]) > 0.95) || !(metric.IoU(items[1], objects[1]) > 0.95) ||
		items[1].Label != 1 {
		t.Fatalf("objects %+v", items)
	}
	if res.Contributing != 40 || res.Objects[1].Contributing != 30 || res.Objects[1].Misses != 10 {
		t.Errorf("%+v", res)
	}
	// The object of interest comes first, and is kept although no more than half have it.
	res = gather(t, space.KindBoxes, Options{Key: &objects[2]}, values...).Result()
	items = as[*space.Boxes](res.Value).Items
	if len(items) != 3 || !(metric.IoU(items[0], objects[2]) > 0.95) || res.Contributing != 20 {
		t.Errorf("key %+v", res)
	}
	// Nothing where the object of interest is: a reference that is none, so that no other object is taken for it.
	key := box(5, 90, 25, 120, 1, 0)
	res = gather(t, space.KindBoxes, Options{Key: &key}, values...).Result()
	items = as[*space.Boxes](res.Value).Items
	if len(items) != 3 || items[0].Area() != 0 || res.Contributing != 0 || !res.Weak || res.Label != -1 ||
		res.Misses != 40 {
		t.Errorf("no key %+v", res)
	}
}

// A confident outlier must not split an object: boxes that are near to what is gathered, and far from the outlier,
// belong to it.
func TestOutlier(t *testing.T) {
	// an IoU of half with most of the others, below it with the largest
	values := []space.Value{set(box(0, 0, 40, 21, 1, 0))}
	for i := range 10 {
		x := float64(i % 5)
		values = append(values, set(box(0, 0, 40, 40+x, 0.5, 0)))
	}
	r := gather(t, space.KindBoxes, Options{}, values...).Result()
	if items := as[*space.Boxes](r.Value).Items; len(items) != 1 || r.Contributing != 11 || items[0].Y2 != 42 {
		t.Errorf("%+v: %+v", items, r)
	}
}

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		x, w []float64
		want float64
	}{
		{[]float64{5}, []float64{2}, 5},
		{[]float64{1, 4}, []float64{1, 1}, 2.5},
		{[]float64{4, 1, 9}, []float64{1, 1, 1}, 4},
		{[]float64{4, 1, 9, 6}, []float64{1, 1, 1, 1}, 5},
		{[]float64{4, 1, 9}, []float64{1, 3, 1}, 1},
		{[]float64{4, 1, 9}, []float64{1, 2, 1}, 2.5},
		{[]float64{4, 1, 9, 5}, []float64{1, 2, 1, 0}, 2.5}, // what weighs nothing is not there
		{[]float64{7, 7, 1, 7}, []float64{0.1, 0.2, 0.3, 0.4}, 7},
	} {
		if got := median(c.x, c.w); got != c.want {
			t.Errorf("%v, %v: %g, want %g", c.x, c.w, got, c.want)
		}
	}
}

func TestMeans(t *testing.T) {
	a, err := New(space.KindScores, 3, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range [][]float64{{0.7, 0.3}, {0.1, 0.9}, {0.6, 0.4}} {
		if err := a.Add(Answer{
			Index: i, Weight: float64(i + 1),
			Value: &space.Scores{Val: p, Raw: []float64{1, 2}, Probabilities: true},
		}); err != nil {
			t.Fatal(err)
		}
	}
	r := a.Result()
	s, ok := r.Value.(*space.Scores)
	// (.7 + 2·.1 + 3·.6)/6 = .45: two of three elements say class 0, the mean says class 1.
	if !ok || !s.Probabilities || s.Raw != nil || !(math.Abs(s.Val[0]-0.45) < 1e-12) ||
		!(math.Abs(s.Val[1]-0.55) < 1e-12) || r.Label != 1 || r.Share != 1 {
		t.Errorf("%+v %+v", r, s)
	}
	f := func(x ...float64) *space.Field { return &space.Field{H: 1, W: 2, Val: x} }
	got := gather(t, space.KindField, Options{}, f(1, 2, 3, 4), f(3, 2, 1, 0)).Result().Value
	if want := f(2, 2, 2, 2); !reflect.DeepEqual(got, want) {
		t.Errorf("field %+v, want %+v", got, want)
	}
	image := gather(t, space.KindImage, Options{}, &space.Image{C: 1, H: 1, W: 1, Pix: []float64{3}},
		&space.Image{C: 1, H: 1, W: 1, Pix: []float64{5}}).Result().Value
	if want := (&space.Image{C: 1, H: 1, W: 1, Pix: []float64{4}}); !reflect.DeepEqual(image, want) {
		t.Errorf("image %+v", image)
	}
	tensor := gather(t, space.KindTensor, Options{}, &space.Tensor{Shape: []int{1, 2}, Val: []float64{0, 1}},
		&space.Tensor{Shape: []int{1, 2}, Val: []float64{1, 1}}).Result().Value
	if want := (&space.Tensor{Shape: []int{1, 2}, Val: []float64{0.5, 1}}); !reflect.DeepEqual(tensor, want) {
		t.Errorf("tensor %+v", tensor)
	}
	if r := gather(t, space.KindField, Options{}, nil, nil).Result(); r.Value != nil || !r.Weak || r.Share != 0 {
		t.Errorf("no answer: %+v", r)
	}
}

// The vector median of three points with an angle of 120 degrees or more is the middle one; of a square its centre; and
// outliers below half do not move it far.
func TestVectorMedian(t *testing.T) {
	for _, c := range []struct {
		x, y, w []float64
		u, v    float64
	}{
		{[]float64{0, 10, 5}, []float64{0, 0, 1}, []float64{1, 1, 1}, 5, 1},
		{[]float64{0, 2, 0, 2}, []float64{0, 0, 2, 2}, []float64{1, 1, 1, 1}, 1, 1},
		// Fermat point of an equilateral triangle
		{[]float64{0, 1, 0.5}, []float64{0, 0, math.Sqrt(3) / 2}, []float64{1, 1, 1}, 0.5, math.Sqrt(3) / 6},
		{[]float64{1, 1, 1, 1e6}, []float64{2, 2, 2, -1e6}, []float64{1, 1, 1, 1}, 1, 2},
		{[]float64{0, 4}, []float64{0, 0}, []float64{3, 1}, 0, 0},
		{[]float64{7, 7}, []float64{1, 1}, []float64{1, 1}, 7, 1},
	} {
		if u, v := middle(c.x, c.y, c.w); !(math.Hypot(u-c.u, v-c.v) < 1e-6) {
			t.Errorf("%v %v: (%g, %g), want (%g, %g)", c.x, c.y, u, v, c.u, c.v)
		}
	}
	f := func(x ...float64) *space.Field { return &space.Field{H: 1, W: 1, Val: x} }
	a := gather(t, space.KindField, Options{Center: Median}, f(0, 0), f(10, 0), f(5, 1), nil)
	if r := a.Result(); !reflect.DeepEqual(r.Value, f(5, 1)) || r.Contributing != 3 || r.Of != 4 {
		t.Errorf("%+v", r)
	}
	if r := a.Without(1,
		nil); !(math.Hypot(as[*space.Field](r.Value).Val[0]-2.5, as[*space.Field](r.Value).Val[1]-0.5) < 1e-6) {
		t.Errorf("without: %+v", r.Value)
	}
}

// scatter draws objects far from each other and what a model says of them.
func scatter(t *rapid.T, cuts bool) (values []space.Value, weights []float64) {
	n := rapid.IntRange(2, 9).Draw(t, "elements")
	k := rapid.IntRange(1, 4).Draw(t, "objects")
	coordinate := rapid.Float64Range(-2, 2)
	for i := range n {
		s := set()
		for j := range k {
			if rapid.IntRange(0, 4).Draw(t, "found") > 0 {
				x, y := float64(j%2)*60, float64(j/2)*60
				b := box(x+10+coordinate.Draw(t, "x1"), y+10+coordinate.Draw(t, "y1"), x+40+coordinate.Draw(t, "x2"),
					y+40+coordinate.Draw(t, "y2"),
					rapid.Float64Range(0.05, 1).Draw(t, "score"), rapid.IntRange(0, 2).Draw(t, "label"))
				b.Cut = cuts && rapid.IntRange(0, 3).Draw(t, "cut") == 0
				s.Items = append(s.Items, b)
			}
		}
		values, weights = append(values, s),
			append(weights, float64(rapid.IntRange(1, 3).Draw(t, fmt.Sprint("weight", i))))
	}
	return values, weights
}

func TestOrderDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values, weights := scatter(t, true)
		kind, o := space.KindBoxes, Options{}
		if rapid.Bool().Draw(t, "scores") {
			kind = space.KindScores
			for i := range values {
				values[i] = &space.Scores{
					Val:           rapid.SliceOfN(rapid.Float64Range(0, 1), 3, 3).Draw(t, "p"),
					Probabilities: true,
				}
			}
		}
		order := rapid.Permutation(index(len(values))).Draw(t, "order")
		var got [2]Result
		for k, order := range [][]int{index(len(values)), order} {
			a, err := New(kind, len(values), o)
			if err != nil {
				t.Fatal(err)
			}
			for _, i := range order {
				if err := a.Add(Answer{Index: i, Weight: weights[i], Value: values[i]}); err != nil {
					t.Fatal(err)
				}
				if rapid.Bool().Draw(t, "look") {
					a.Result() // looking changes nothing
				}
			}
			got[k] = a.Result()
		}
		if !reflect.DeepEqual(got[0], got[1]) {
			t.Fatalf("in order %+v\n%v %+v", got[0], order, got[1])
		}
	})
}

func index(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// The consensus of a model that is equivariant is its answer, to the last bit.
func TestEquivariant(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values, weights := scatter(t, false)
		answer := as[*space.Boxes](values[0])
		for _, v := range []space.Value{
			answer,
			&space.Scores{Val: rapid.SliceOfN(rapid.Float64Range(0, 1), 3, 3).Draw(t, "p")},
			&space.Field{H: 2, W: 1, Val: rapid.SliceOfN(rapid.Float64(), 4, 4).Draw(t, "uv")},
		} {
			for _, center := range []string{"", Mean, Median} {
				a, err := New(v.Kind(), len(weights), Options{Center: center})
				if err != nil {
					continue // scores have no median
				}
				for i, w := range weights {
					if err := a.Add(Answer{Index: i, Weight: w, Value: v}); err != nil {
						t.Fatal(err)
					}
				}
				for k, r := range []Result{a.Result(), a.Without(0, v)} {
					got, want := parts(r.Value), parts(v)
					if !slices.Equal(got, want) || r.Weak && (v != answer || len(answer.Items) > 0) || r.Share != 1 &&
						len(answer.Items) > 0 {
						t.Fatalf("%T %q, without %v: %+v of %v, want %v", v, center, k == 1, r, got, want)
					}
				}
			}
		}
	})
}

// parts are the numbers of a value; boxes in an order of their own.
func parts(v space.Value) []float64 {
	b, ok := v.(*space.Boxes)
	if !ok {
		return numbers(v)
	}
	items := slices.SortedFunc(slices.Values(b.Items), func(x, y space.Box) int {
		if x.Y1 != y.Y1 {
			return int(math.Copysign(1, x.Y1-y.Y1))
		}
		return int(math.Copysign(1, x.X1-y.X1))
	})
	var out []float64
	for _, x := range items {
		out = append(out, x.X1, x.Y1, x.X2, x.Y2, x.Angle, x.Score, float64(x.Label))
	}
	return out
}

// Leaving one out of n is the consensus of the other n-1.
func TestWithout(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values, weights := scatter(t, true)
		if rapid.Bool().Draw(t, "field") {
			for i := range values {
				values[i] = &space.Field{H: 1, W: 2, Val: rapid.SliceOfN(rapid.Float64Range(-9, 9), 4, 4).Draw(t, "uv")}
			}
		}
		k := rapid.IntRange(0, len(values)-1).Draw(t, "k")
		kind := values[0].Kind()
		key := box(10, 10, 40, 40, 1, 0)
		o := Options{}
		if kind == space.KindBoxes {
			o.Key = &key
		}
		a, err := New(kind, len(values), o)
		if err != nil {
			t.Fatal(err)
		}
		b, err := New(kind, len(values)-1, o)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range values {
			if err := a.Add(Answer{Index: i, Weight: weights[i], Value: v}); err != nil {
				t.Fatal(err)
			}
			if i != k {
				if err := b.Add(Answer{Index: i - btoi(i > k), Weight: weights[i], Value: v}); err != nil {
					t.Fatal(err)
				}
			}
		}
		got, want := a.Without(k, values[k]), b.Result()
		if got.Of != want.Of || got.Contributing != want.Contributing || got.Misses != want.Misses ||
			got.Cut != want.Cut || !(math.Abs(got.Share-want.Share) < 1e-12) || got.Weak != want.Weak {
			t.Fatalf("without %d %+v\nof the others %+v", k, got, want)
		}
		x, y := got.Value, want.Value
		if kind == space.KindBoxes {
			// Which of the others are kept may differ at the limit of one half; the object of interest may not.
			x, y = set(as[*space.Boxes](x).Items[0]), set(as[*space.Boxes](y).Items[0])
			if got.Contributing == 0 {
				return
			}
		}
		for i, n := range parts(x) {
			if !(math.Abs(n-parts(y)[i]) < 1e-9) {
				t.Fatalf("without %d %v\nof the others %v", k, parts(x), parts(y))
			}
		}
	})
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

func TestTurnedBoxes(t *testing.T) {
	// One rectangle of 40 x 20 at 10 degrees, under all its names and nearly so.
	a := space.Box{X1: 20, Y1: 30, X2: 60, Y2: 50, Angle: 10, Score: 1}
	quarter := space.Box{X1: 30, Y1: 20, X2: 50, Y2: 60, Angle: 100, Score: 1}
	half := a
	half.Angle = 190
	other := a
	other.Angle = 14
	r := gather(t, space.KindBoxes, Options{Center: Mean}, set(a), set(quarter), set(half), set(other)).Result()
	b := as[*space.Boxes](r.Value).Items[0]
	if !(math.Abs(b.Angle-11) < 1e-9) || !(math.Abs(b.X1-20) < 1e-9) || !(math.Abs(b.Y2-50) < 1e-9) ||
		r.Contributing != 4 {
		t.Errorf("%+v of %+v", b, r)
	}
}

func TestRefused(t *testing.T) {
	for _, c := range []struct {
		kind space.Kind
		n    int
		o    Options
		want string
	}{
		{space.KindMask, 3, Options{}, "no rule for answers of space mask"},
		{space.KindScores, 0, Options{}, "want at least 1"},
		{space.KindScores, 3, Options{Center: Median}, "scores have a mean only"},
		{space.KindField, 3, Options{Center: "mode"}, "want mean or median"},
		{space.KindField, 3, Options{Weak: math.NaN()}, "want a share from 0 to 1"},
		{space.KindField, 3, Options{Key: &space.Box{}}, "a key object is for boxes"},
	} {
		if _, err := New(c.kind, c.n, c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	a, err := New(space.KindScores, 3, Options{})
	if err != nil {
		t.Fatal(err)
	}
	p := &space.Scores{Val: []float64{0.5, 0.5}, Probabilities: true}
	if err := a.Add(Answer{Index: 1, Weight: 1, Value: p}); err != nil {
		t.Fatal(err)
	}
	for want, x := range map[string]Answer{
		"element 1 comes twice":           {Index: 1, Weight: 1, Value: p},
		"element 3 is not in a plan of 3": {Index: 3, Weight: 1, Value: p},
		"has the weight NaN":              {Index: 0, Weight: math.NaN(), Value: p},
		"an answer of space boxes":        {Index: 0, Weight: 1, Value: set()},
		"of shape [3] among those of shape [2]": {
			Index: 0, Weight: 1,
			Value: &space.Scores{Val: []float64{1, 0, 0}, Probabilities: true},
		},
		"probabilities among scores that are none": {Index: 0, Weight: 1, Value: &space.Scores{Val: []float64{1, 0}}},
	} {
		if err := a.Add(x); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	if r := a.Result(); r.Contributing != 1 {
		t.Errorf("what was refused has counted: %+v", r)
	}
}

// crowd is what a model says of fifteen objects, of which it finds four fifths.
func crowd(r *rand.Rand) *space.Boxes {
	s := set()
	for k := range 15 {
		if r.Float64() < 0.8 {
			x, y := float64(k%4)*30+r.NormFloat64(), float64(k/4)*30+r.NormFloat64()
			s.Items = append(s.Items, box(x, y, x+35+r.NormFloat64(), y+35+r.NormFloat64(), r.Float64(), k%2))
		}
	}
	return s
}

// BenchmarkBoxes is a photo of fifteen objects at 1,024 elements.
func BenchmarkBoxes(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	values := make([]space.Value, 1024)
	for i := range values {
		values[i] = crowd(r)
	}
	for b.Loop() {
		a := gather(b, space.KindBoxes, Options{}, values...)
		a.Result()
	}
}

// BenchmarkWithout is all of the leave-one-out consensus of such a photo.
func BenchmarkWithout(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	values := make([]space.Value, 1024)
	for i := range values {
		values[i] = crowd(r)
	}
	for b.Loop() {
		a := gather(b, space.KindBoxes, Options{}, values...)
		for k := range values {
			a.Without(k, nil)
		}
	}
}

// What is told quickly of two boxes loses no pair that is near enough, also at the very limit, where sides are whole
// parts of each other.
func TestReaches(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) space.Box {
			at := func(axis string) float64 {
				if rapid.Bool().Draw(t, name+axis+" on the grid") {
					return float64(rapid.IntRange(0, 12).Draw(t, name+axis)) / 3
				}
				return rapid.Float64Range(0, 4).Draw(t, name+axis)
			}
			return box(at("x1"), at("y1"), at("x2"), at("y2"), 1, 0)
		}
		a := draw("a")
		b := draw("b")
		if rapid.Bool().Draw(t, "near") { // half of a, or nearly
			b = a
			b.X2 = a.X1 + float64((a.X2-a.X1)*rapid.SampledFrom([]float64{0.5, 0.5000001, 0.75, 2}).Draw(t, "part"))
		}
		if rapid.Bool().Draw(t, "turned") {
			a.Angle = rapid.Float64Range(-45, 45).Draw(t, "angle")
		}
		if metric.IoU(a, b) >= same && !reaches(&a, &b) {
			t.Fatalf("IoU %v, and yet %+v does not reach %+v", metric.IoU(a, b), a, b)
		}
	})
	for _, x := range []struct {
		b    space.Box
		want bool
	}{
		{box(0, 0, 10, 5, 1, 0), true},
		{box(5, 0, 15, 10, 1, 0), true},
		{box(5.1, 0, 15.1, 10, 1, 0), false},
		{box(0, 0, 10, 4.9, 1, 0), false},
		{box(20, 0, 30, 10, 1, 0), false},
	} {
		a := box(0, 0, 10, 10, 1, 0)
		if reaches(&a, &x.b) != x.want || reaches(&x.b, &a) != x.want {
			t.Errorf("%+v and %+v: want %v", a, x.b, x.want)
		}
	}
}

// A mean keeps an answer until those before it have come, and a median keeps all.
func TestKeeps(t *testing.T) {
	field := func(x float64) *space.Field { return &space.Field{H: 1, W: 1, Val: []float64{x, x}} }
	for center, want := range map[string][3]bool{Mean: {false, false, false}, Median: {true, true, true}} {
		a, err := New(space.KindField, 3, Options{Center: center})
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range []int{1, 0, 2} {
			if err := a.Add(Answer{Index: k, Weight: 1, Value: field(float64(k))}); err != nil {
				t.Fatal(err)
			}
			if k == 1 && !a.Keeps(1) {
				t.Errorf("%s: an answer that came out of turn is let go", center)
			}
		}
		for k, keeps := range want {
			if got := a.Keeps(k); got != keeps {
				t.Errorf("%s: keeps the answer at element %d: %v", center, k, got)
			}
		}
	}
	if (*Accumulator)(nil).Keeps(0) {
		t.Error("no consensus keeps an answer")
	}
}
