package consensus

import (
	"math"
	"math/rand/v2"
	"testing"

	"nero/data/space"
)

// about is the rotation about the z axis.
func about(deg float64) (q [4]float64, m [9]float64) {
	s, c := math.Sincos(deg * math.Pi / 180)
	hs, hc := math.Sincos(deg * math.Pi / 360)
	return [4]float64{hc, 0, 0, hs}, [9]float64{c, -s, 0, s, c, 0, 0, 0, 1}
}

func collect(t *testing.T, of space.Spec, order []int, values []space.Value) *Accumulator {
	t.Helper()
	a, err := New(of.Kind, len(values), Options{Of: of})
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range order {
		if err := a.Add(Answer{Index: k, Weight: 1, Value: values[k]}); err != nil {
			t.Fatal(err)
		}
	}
	return a
}

func near(t *testing.T, what string, got, want []float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %v, want %v", what, got, want)
	}
	for i := range got {
		if !(math.Abs(got[i]-want[i]) <= 1e-12) {
			t.Fatalf("%s: %v, want %v", what, got, want)
		}
	}
}

// Rotations about one axis have the mean of the sines and cosines of their angles; quaternions have it of their double.
// Two rows of each.
func TestRotationsAboutOneAxis(t *testing.T) {
	degrees := []float64{10, 30, 80, -20}
	for _, typ := range []string{space.TypePoses, space.TypeQuaternions} {
		var values []space.Value
		x, y := 0.0, 0.0
		for k, d := range degrees {
			q, m := about(d)
			row := m[:]
			if typ == space.TypeQuaternions {
				row = q[:]
				if k%2 == 1 { // the same rotation under its other name, and of another length
					row = []float64{-2 * q[0], 0, 0, -2 * q[3]}
				}
			}
			values = append(values, &space.Rows{N: 2, W: len(row), Val: append(append([]float64{}, row...), row...)})
			s, c := math.Sincos(d * math.Pi / 180)
			x, y = x+c, y+s
		}
		of := space.Spec{Kind: space.KindRows, Type: typ}
		mean := math.Atan2(y, x) * 180 / math.Pi
		q, m := about(mean)
		want := m[:]
		if typ == space.TypeQuaternions {
			want = q[:]
		}
		r := collect(t, of, []int{0, 1, 2, 3}, values).Result()
		near(t, typ, r.Value.(*space.Rows).Row(0), want) //nolint:errcheck // the rule for rows
		near(t, typ, r.Value.(*space.Rows).Row(1), want) //nolint:errcheck // the rule for rows
		// The mean of cos² of half the angles from the mean is (1 + R)/2, R the length of the mean of the unit vectors.
		if got, want := r.Spread,
			2*math.Acos(math.Sqrt((1+math.Hypot(x, y)/4)/2))*180/math.Pi; !(math.Abs(got-want) <= 1e-9) {
			t.Errorf("%s: spread %g, want %g", typ, got, want)
		}
		again := collect(t, of, []int{3, 1, 0, 2}, values).Result()
		near(t, "order", again.Value.Numbers(), r.Value.Numbers())
		for i, v := range again.Value.Numbers() {
			if v != r.Value.Numbers()[i] {
				t.Errorf("%s: the order in which answers come changes the consensus", typ)
			}
		}
		rest := collect(t, of, []int{0, 1}, values[:2]).Result()
		three := collect(t, of, []int{0, 1, 2}, values[:3])
		near(t, "without", three.Without(2, values[2]).Value.Numbers(), rest.Value.Numbers())
	}
}

// Opposite rotations have no mean: no value, no support.
func TestRotationsCancel(t *testing.T) {
	var values []space.Value
	for _, row := range [][]float64{{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}} {
		values = append(values, &space.Rows{N: 1, W: 4, Val: row})
	}
	r := collect(t, space.Spec{Kind: space.KindRows, Type: space.TypeQuaternions}, []int{0, 1, 2, 3}, values).Result()
	if r.Value != nil || !r.Weak || r.Share != 0 {
		t.Errorf("%+v", r)
	}
}

func TestRecords(t *testing.T) {
	of := space.Spec{Kind: space.KindRecord, Fields: []space.Spec{
		{Name: "energy", Kind: space.KindRows, Type: space.TypeUnchanged},
		{Name: "pose", Kind: space.KindRows, Type: space.TypeQuaternions},
		{Name: "class", Kind: space.KindScores},
	}}
	var values []space.Value
	for k, d := range []float64{0, 90, 0, 90} {
		q, _ := about(d)
		values = append(values, &space.Record{Names: []string{"energy", "pose", "class"}, Values: []space.Value{
			&space.Rows{N: 1, W: 1, Val: []float64{float64(k)}}, &space.Rows{N: 1, W: 4, Val: q[:]},
			&space.Scores{Val: []float64{0.25, 0.75}, Probabilities: true},
		}})
	}
	r := collect(t, of, []int{1, 0, 3, 2}, values).Result()
	rec, ok := r.Value.(*space.Record)
	if !ok || r.Label != 1 || r.Contributing != 4 {
		t.Fatalf("%+v", r)
	}
	q, _ := about(45)
	near(t, "energy", rec.Field("energy").(*space.Rows).Val, []float64{1.5}) //nolint:errcheck // as it was added
	near(t, "pose", rec.Field("pose").(*space.Rows).Val, q[:])               //nolint:errcheck // as it was added
	// 0, 1, 2, 3 have the variance 5/4; every pose is 45° off.
	near(t, "spread", []float64{r.Fields[0].Spread, r.Fields[1].Spread, r.Fields[2].Spread},
		[]float64{math.Sqrt(1.25), 45, 0})
	a, err := New(of.Kind, 2, Options{Of: of})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Add(Answer{
		Index: 0, Weight: 1,
		Value: &space.Record{
			Names:  []string{"energy"},
			Values: []space.Value{&space.Rows{N: 1, W: 1, Val: []float64{1}}},
		},
	}); err == nil {
		t.Error("a record without its fields is taken")
	}
	bad := &space.Record{
		Names: []string{"energy", "pose", "class"},
		Values: []space.Value{
			&space.Rows{N: 1, W: 1, Val: []float64{math.NaN()}}, &space.Rows{N: 1, W: 4, Val: q[:]},
			&space.Scores{Val: []float64{1, 0}},
		},
	}
	if err := a.Add(Answer{Index: 1, Weight: 1, Value: bad}); err != nil {
		t.Fatal(err)
	}
	if r := a.Result(); r.Bad != 1 || r.Value != nil {
		t.Errorf("%+v", r)
	}
	if _, err := New(space.KindRecord, 2, Options{}); err == nil {
		t.Error("records without a spec have a rule")
	}
	of.Fields = append(of.Fields, space.Spec{Name: "edges", Kind: space.KindLinks})
	if _, err := New(space.KindRecord, 2, Options{Of: of}); err == nil {
		t.Error("edges have a rule")
	}
}

// The mean and the spread of signals and frames are those of their numbers.
func TestSeries(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const elements, n = 7, 6
	data := make([][]float64, elements)
	mean := make([]float64, n)
	for k := range data {
		data[k] = make([]float64, n)
		for i := range data[k] {
			data[k][i] = r.NormFloat64()
			mean[i] += data[k][i] / elements
		}
	}
	square := 0.0
	for k := range data {
		for i := range n {
			square += (data[k][i] - mean[i]) * (data[k][i] - mean[i]) / elements
		}
	}
	for _, make1 := range []func(x []float64) space.Value{
		func(x []float64) space.Value { return &space.Signal{C: 2, T: 3, Rate: 8000, Val: x} },
		func(x []float64) space.Value { return &space.Rows{N: 2, W: 3, Val: x} },
		func(x []float64) space.Value {
			return &space.Frames{Images: []*space.Image{{C: 1, H: 1, W: 3, Pix: x[:3]}, {C: 1, H: 1, W: 3, Pix: x[3:]}}}
		},
	} {
		var values []space.Value
		for _, x := range data {
			values = append(values, make1(x))
		}
		got := collect(t, space.Spec{Kind: values[0].Kind()}, []int{0, 1, 2, 3, 4, 5, 6}, values).Result()
		near(t, string(values[0].Kind()), numbers(got.Value), mean)
		near(t, "spread", []float64{got.Spread}, []float64{math.Sqrt(square)})
		if s, ok := got.Value.(*space.Signal); ok && s.Rate != 8000 {
			t.Error("the rate is lost")
		}
	}
}

// The mean of yaws on either side of ±π is near π, not near 0.
func TestUprightBoxes(t *testing.T) {
	of := space.Spec{Kind: space.KindRows, Type: space.TypeBoxes}
	box := func(x, yaw float64) space.Value {
		return &space.Rows{N: 1, W: 7, Val: []float64{x, 2, 3, 4, 5, 6, yaw}}
	}
	r := collect(t, of, []int{0, 1}, []space.Value{box(0, 3), box(2, -3)}).Result()
	near(t, "box", r.Value.Numbers()[:6], []float64{1, 2, 3, 4, 5, 6})
	if yaw := r.Value.Numbers()[6]; !(math.Abs(math.Abs(yaw)-math.Pi) < 1e-12) {
		t.Errorf("the yaw is %g, want ±π", yaw)
	}
	if r := collect(t, of, []int{0, 1}, []space.Value{box(0, 0), box(2, math.Pi)}).Result(); r.Value != nil || !r.Weak {
		t.Errorf("opposite directions have the mean %v", r.Value)
	}
}

// Boxes in any orientation have the mean of their places, and of their rotations: of two turns by a about one axis to
// either side none, however the rotations are written.
func TestTiltedBoxes(t *testing.T) {
	const a = 0.7
	s, c := math.Sincos(a)
	h, k := math.Sincos(a / 2)
	at := func(x float64, turn ...float64) space.Value {
		return &space.Rows{N: 1, W: 6 + len(turn), Val: append([]float64{x, 2, 3, 4, 5, 6}, turn...)}
	}
	for typ, v := range map[string]struct {
		answers []space.Value
		want    []float64
	}{
		space.TypeBoxesQuaternion: {
			[]space.Value{at(0, k, h, 0, 0), at(2, -k, h, 0, 0)}, []float64{1, 0, 0, 0},
		},
		space.TypeBoxes6D: {
			[]space.Value{at(0, 1, 0, 0, 0, c, s), at(2, 1, 0, 0, 0, c, -s)}, []float64{1, 0, 0, 0, 1, 0},
		},
		space.TypeBoxesMatrix: {
			[]space.Value{at(0, 1, 0, 0, 0, c, -s, 0, s, c), at(2, 1, 0, 0, 0, c, s, 0, -s, c)},
			[]float64{1, 0, 0, 0, 1, 0, 0, 0, 1},
		},
	} {
		r := collect(t, space.Spec{Kind: space.KindRows, Type: typ}, []int{0, 1}, v.answers).Result()
		if r.Value == nil {
			t.Errorf("%s: no consensus", typ)
			continue
		}
		near(t, typ, r.Value.Numbers(), append([]float64{1, 2, 3, 4, 5, 6}, v.want...))
	}
	of := space.Spec{Kind: space.KindRows, Type: space.TypeBoxesQuaternion}
	if r := collect(t, of, []int{0, 1}, []space.Value{at(0, 1, 0, 0, 0), at(2, 0, 1, 0, 0)}).Result(); r.Value != nil {
		t.Errorf("half turns have the mean %v", r.Value)
	}
}
