package embedding

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// released are the features of n objects by an old release, and by a new one that a matrix makes of them.
func released(n int, m *mat.Dense, seed uint64) Release {
	d, _ := m.Dims()
	x := normal(n, d, source(seed))
	y := &mat.Dense{}
	y.Mul(x, m.T())
	return Release{Old: x, New: y, AsIs: y, Object: upTo(n)}
}

func TestReleases(t *testing.T) {
	const d = 12
	q := orthogonal(d, source(4))
	stretch := mat.NewDense(d, d, nil)
	factor, squared := 0.0, 0.0
	for j := range d {
		s := 0.2 * math.Pow(15, float64(j)/(d-1)) // 0.2 to 3
		stretch.Set(j, j, 1/s)                    // the old features are s times the new ones
		factor, squared = factor+(s-1)*(s-1)/d, squared+s*s/d
	}
	third := mat.NewDense(d, d, nil)
	third.Scale(1.0/3, q)
	stretched := &mat.Dense{}
	stretched.Mul(stretch, q)
	for _, c := range []struct {
		name                         string
		m                            *mat.Dense
		isometry, similarity, affine float64
		spread                       float64
		reading                      Reading
	}{
		{"as it is", one(d), 1, 1, 1, 0, Unmoved},
		{"rotation", q, 1, 1, 1, 0, SameSpace},
		// old = 3 new: ‖3x - x‖²/‖3x‖² = 4/9
		{"three times", third, 5.0 / 9, 1, 1, 0, Scaled},
		{"stretch", stretched, math.NaN(), math.NaN(), 1, math.Log(15), Adapter},
	} {
		got, err := Compare(released(400, c.m, 1), released(200, c.m, 2), released(200, c.m, 3), 0, Options{Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range []struct {
			what      string
			got, want float64
		}{
			{"isometry", got.Isometry.Value, c.isometry},
			{"similarity", got.Similarity.Value, c.similarity},
			{"affine", got.Affine.Value, c.affine},
			{"back", got.Back.Value, 1},
			{"spread", got.Spread, c.spread},
		} {
			if !math.IsNaN(x.want) && !isNear(x.got, x.want, 1e-2) {
				t.Errorf("%s: %s is %g, want %g", c.name, x.what, x.got, x.want)
			}
		}
		if got.Reading != c.reading {
			t.Errorf("%s: %s, want %s", c.name, got.Reading, c.reading)
		}
		if r := got.Relative; c.name != "stretch" && (!(r.Cosine.Value > 1-1e-9) || r.MRR.MRR.Value != 1 ||
			!(r.Jaccard.Value > 1-1e-9) || r.Anchors != 300) {
			t.Errorf("%s: relative %+v", c.name, r)
		}
		if c.name == "stretch" {
			if !(got.Isometry.Value < 0.8) || !(got.Relative.Cosine.Value < 0.9) {
				t.Errorf("a stretch passes for a turn: %+v", got)
			}
			first, last := got.Curve[0], got.Curve[len(got.Curve)-1]
			if !(first.Departure < 0.05) || !(last.Departure > 1) || !(last.R2.Value > first.R2.Value+0.1) ||
				!(last.R2.Value > 0.95) || !(first.R2.Interval.Low < first.R2.Value) ||
				!(first.R2.Value < first.R2.Interval.High) {
				t.Errorf("held near a turn: %+v", got.Curve)
			}
		}
	}
}

func TestIndependentReleases(t *testing.T) {
	of := func(seed uint64) Release {
		return Release{Old: normal(120, 12, source(seed)), New: normal(120, 12, source(seed+50)), Object: upTo(120)}
	}
	got, err := Compare(of(1), of(2), of(3), 0, Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if !(got.Isometry.Value < 0.02) || !(got.Affine.Value < 0.02) || got.Reading != Reembed {
		t.Errorf("independent features: %+v", got)
	}
	if i := got.CKA.Interval; !(i.Low < 0 && 0 < i.High) || !isNear(got.CKA.Value, 0, 0.06) {
		t.Errorf("CKA of independent features is %+v", got.CKA)
	}
	if r := got.Relative; !(r.MRR.MRR.Value < 3*r.MRR.Chance) {
		t.Errorf("samples are found: %+v", r.MRR)
	}
}

// Of 50 samples of 500 unrelated numbers the usual estimate of CKA is about 0.91: it mistakes width for likeness.
func TestCKAIsDebiased(t *testing.T) {
	r := Release{Old: normal(50, 500, source(1)), New: normal(50, 500, source(2)), Object: upTo(50)}
	got := CKA(r, Options{})
	if !isNear(got.Value, 0, 0.2) {
		t.Errorf("debiased CKA is %g", got.Value)
	}
	x, y := kernel(r.New), kernel(r.Old)
	biased := dot(dense(x), dense(y)) / math.Sqrt(dot(dense(x), dense(x))*dot(dense(y), dense(y)))
	if !(biased > 0.85) {
		t.Errorf("the biased one is %g: this test shows nothing", biased)
	}
	r.New = r.Old
	if got = CKA(r, Options{}); !isNear(got.Value, 1, 1e-12) {
		t.Errorf("features are %g like themselves", got.Value)
	}
	if got = CKA(Release{Old: normal(3, 2, source(1)), New: normal(3, 2, source(2)), Object: upTo(3)},
		Options{}); !math.IsNaN(got.Value) {
		t.Errorf("three samples: %+v", got)
	}
}

func dense(m *mat.SymDense) []float64 { return mat.DenseCopyOf(m).RawMatrix().Data }

// A release of another width has a turn, too, where one embeds the other.
func TestAnotherWidth(t *testing.T) {
	wide := orthogonal(12, source(4)).Slice(0, 12, 0, 5) // 12 x 5 with columns at right angles
	of := func(n int, seed uint64) Release {
		x := normal(n, 5, source(seed))
		y := &mat.Dense{}
		y.Mul(x, wide.T())
		return Release{Old: x, New: y, Object: upTo(n)}
	}
	got, err := Compare(of(100, 1), of(60, 2), of(60, 3), 20, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !isNear(got.Isometry.Value, 1, 1e-9) || got.WidthOld != 5 || got.WidthNew != 12 || got.Relative.Anchors != 20 {
		t.Errorf("%+v", got)
	}
}

// Queries of a release that turned all features find nothing in the old index, and everything through the turn back.
func TestRecall(t *testing.T) {
	const n, d = 90, 10
	r := source(6)
	centres := normal(9, d, r)
	points := func() *mat.Dense {
		x := normal(n, d, r)
		for i := range n {
			for j := range d {
				x.Set(i, j, 0.2*x.At(i, j)+3*centres.At(i%9, j))
			}
		}
		return x
	}
	old := points()
	q := orthogonal(d, r)
	turned := &mat.Dense{}
	turned.Mul(old, q.T())
	back := &mat.Dense{}
	back.Mul(turned, q)
	labels := make([]int, n)
	for i := range labels {
		labels[i] = i % 9
	}
	ask := func(queries *mat.Dense) Recall {
		got, err := Recalled{
			Gallery: old, Key: labels, Old: old, New: queries, Asked: labels, Self: upTo(n), Object: upTo(n),
		}.Recall("none", 1, Options{})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	if got := ask(turned); got.State != Worse || got.Old.Value != 1 || !(got.New.Value < 0.5) ||
		!(got.Difference.Value < -0.5) {
		t.Errorf("turned features pass: %+v", got)
	}
	if got := ask(back); got.State != Compatible || got.New.Value != 1 || got.Difference.Value != 0 ||
		got.Candidates != n {
		t.Errorf("features that were turned back do not: %+v", got)
	}
	// 9 others of 89 have the label: a guess finds one with 9/89.
	if got := ask(back); !isNear(got.Chance, 9.0/89, 1e-12) {
		t.Errorf("chance is %g, want %g", got.Chance, 9.0/89)
	}
	// What finds nothing loses nothing, and that says nothing.
	noise := normal(n, d, r)
	got, err := Recalled{
		Gallery: noise, Key: labels, Old: noise, New: noise, Asked: labels, Self: upTo(n), Object: upTo(n),
	}.Recall("none", 1, Options{})
	if err != nil || got.State != Undecided {
		t.Errorf("features without classes: %+v, %v", got, err)
	}
	few, err := Recalled{
		Gallery: old, Key: labels, Old: choose(old, upTo(6)), New: choose(back, upTo(6)), Asked: labels[:6],
		Self: upTo(6), Object: upTo(6),
	}.Recall("none", 1, Options{})
	if err != nil || few.State != Undecided {
		t.Errorf("six objects decide: %+v, %v", few, err)
	}
	twins, err := Recalled{
		Gallery: old, Key: labels, Old: choose(old, upTo(6)), New: choose(old, upTo(6)), Asked: labels[:6],
		Self: upTo(6), Object: upTo(6),
	}.Recall("none", 1, Options{})
	if err != nil || twins.State != Compatible {
		t.Errorf("the same queries: %+v, %v", twins, err)
	}
	if _, err := (Recalled{Gallery: old, New: normal(n, 3, r)}).Recall("none", 1, Options{}); err == nil {
		t.Error("features of another width ask the old index")
	}
}
