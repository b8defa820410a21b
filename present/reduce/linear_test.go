package reduce

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func dense(tb testing.TB, rows [][]float64) Matrix {
	tb.Helper()
	d := 0
	if len(rows) > 0 {
		d = len(rows[0])
	}
	m, err := NewDense(len(rows), d, slices.Concat(rows...))
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

func reduce(tb testing.TB, m Method, x Matrix, o Options) *Embedding {
	tb.Helper()
	e, err := Reduce(tb.Context(), m, x, o)
	if err != nil {
		tb.Fatal(err)
	}
	return e
}

// waves are the rows of a closed form that numpy computed too, see TestPCAReference.
func waves(n, d int) [][]float64 {
	rows := make([][]float64, n)
	for i := range rows {
		rows[i] = make([]float64, d)
		for j := range rows[i] {
			rows[i][j] = math.Sin(1+3*float64(i)+0.7*float64(j*j)) + 0.1*float64(i*j)
			if j == 2 {
				rows[i][j] += 0.5 * float64(i)
			}
		}
	}
	return rows
}

func transpose(rows [][]float64) [][]float64 {
	out := make([][]float64, len(rows[0]))
	for j := range out {
		for _, r := range rows {
			out[j] = append(out[j], r[j])
		}
	}
	return out
}

// The values are from numpy 1.24.2: U, S, Vt = linalg.svd(X - X.mean(0)); scores (X - mean) @ Vt[:2].T with the largest
// entry of each row of Vt made positive; shares S²/ΣS².
func TestPCAReference(t *testing.T) {
	for _, c := range []struct {
		name   string
		rows   [][]float64
		want   []float64
		shares []float64
	}{
		{"more rows than columns", waves(12, 5), []float64{
			-5.0741247422, 0.9538512074, -3.5406065462, -1.6602916121, -3.3297834542, 1.1283201595, -1.8418020082,
			-1.5468050471,
			-1.559879833, 1.1934323788, -0.1671367547, -1.3249299622, 0.2322568761, 1.153293688, 1.4876466029,
			-1.0030481747,
			2.0415263529, 1.020394137, 3.1283892335, -0.5975079786, 3.8614634906, 0.8146130525, 4.7620507824,
			-0.1313218485,
		}, []float64{0.828050898902, 0.113363504762}},
		{"fewer rows than columns", transpose(waves(12, 5)), []float64{
			-6.7115158205, -0.4559150587, -4.8252912905, 1.5923775031, 8.8895543541, 1.3921337756, -0.1401404086,
			0.2402885771,
			2.7873931654, -2.7688847971,
		}, []float64{0.919188188334, 0.073503784564}},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := reduce(t, PCA, dense(t, c.rows), Options{})
			for i, w := range c.want {
				if d := math.Abs(float64(e.XY[i]) - w); !(d <= 1e-6*(1+math.Abs(w))) {
					t.Errorf("coordinate %d is %v, numpy has %v", i, e.XY[i], w)
				}
			}
			for i, w := range c.shares {
				if !(math.Abs(e.Explained[i]-w) <= 1e-10) {
					t.Errorf("share %d is %v, numpy has %v", i, e.Explained[i], w)
				}
			}
			if e.Fitted != len(c.rows) || e.Placed != 0 || e.Missing != 0 || len(e.Notes) != 0 {
				t.Errorf("fitted %d, placed %d, missing %d, notes %q", e.Fitted, e.Placed, e.Missing, e.Notes)
			}
		})
	}
}

func TestAxes(t *testing.T) {
	e := reduce(t, PCA, dense(t, waves(12, 5)), Options{})
	if want := [2]string{
		"first principal component (83 % of the variance)",
		"second principal component (11 % of the variance)",
	}; e.Axes != want {
		t.Errorf("axes are %q", e.Axes)
	}
	for share, want := range map[float64]string{
		0: "below 0.1 %", 0.0123: "1.2 %", 0.5: "50 %", 0.9998: "99.9 %",
		1: "100 %",
	} {
		if got := percent(share); got != want {
			t.Errorf("percent(%v) is %q, want %q", share, got, want)
		}
	}
}

// All three routes to the components, covariance, Gram matrix and iteration on the rows, have to agree.
func TestRoutesAgree(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, size := range [][2]int{{60, 40}, {40, 60}, {30, 30}, {700, 33}} {
		rows := make([][]float64, size[0])
		for i := range rows {
			a, b, s := r.NormFloat64(), r.NormFloat64(), r.NormFloat64()
			for j := range size[1] {
				u := float64(j) / float64(size[1])
				rows[i] = append(rows[i], 3+3*a*math.Cos(2*math.Pi*u)+2*b*math.Sin(2*math.Pi*u)+s*math.Cos(4*math.Pi*u)+
					0.1*r.NormFloat64())
			}
		}
		x := dense(t, rows)
		all := make([]int, len(rows))
		for i := range all {
			all[i] = i
		}
		c := &crew{workers: 2}
		mean, variances, err := moments(t.Context(), c, x, all)
		if err != nil {
			t.Fatal(err)
		}
		if len(variances) != size[1] {
			t.Fatal("one variance per column expected")
		}
		routes := map[string]func(context.Context, *crew, Matrix, []int, []float64, int) (eigenpairs, error){
			"covariance": covarianceEigen, "Gram": gramEigen, "rows": rowsEigen,
		}
		want, err := covarianceEigen(t.Context(), c, x, all, mean, 3)
		if err != nil {
			t.Fatal(err)
		}
		for name, f := range routes {
			got, err := f(t.Context(), c, x, all, mean, 3)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			for i := range want.values {
				if !(math.Abs(got.values[i]-want.values[i]) <= 1e-9*want.values[0]) {
					t.Errorf("%v: %s: eigenvalue %d is %v, the covariance has %v", size, name, i, got.values[i],
						want.values[i])
				}
				if c := math.Abs(dot(got.vectors[i], want.vectors[i])); !(c >= 1-1e-9) {
					t.Errorf("%v: %s: direction %d has cosine %v with that of the covariance", size, name, i, c)
				}
			}
		}
	}
}

// Whatever the number of vectors, the iteration multiplies by what the covariance is.
func TestRowsOperator(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := cloud(t, 40)
		n, d := len(rows), len(rows[0])
		x, err := NewDense(n, d, slices.Concat(rows...))
		if err != nil {
			t.Fatal(err)
		}
		all := make([]int, n)
		for i := range all {
			all[i] = i
		}
		c := &crew{workers: 2}
		mean, _, err := moments(t.Context(), c, x, all)
		if err != nil {
			t.Fatal(err)
		}
		m := rapid.IntRange(1, 6).Draw(t, "vectors")
		src, got := randomBlock(d, m, rand.New(rand.NewPCG(2, 3))), zeros(m, d)
		if err := rowsOperator(t.Context(), c, x, all, mean, 6)(got, src); err != nil {
			t.Fatal(err)
		}
		cov, err := covariance(t.Context(), c, x, all, mean)
		if err != nil {
			t.Fatal(err)
		}
		want := zeros(m, d)
		if err := matrixOperator(t.Context(), c, cov, d)(want, src); err != nil {
			t.Fatal(err)
		}
		for i := range want {
			for j := range want[i] {
				naive := 0.0
				for _, r := range rows {
					inner := 0.0
					for k, v := range r {
						inner += (v - mean[k]) * src[i][k]
					}
					naive += inner * (r[j] - mean[j])
				}
				if !(math.Abs(got[i][j]-naive) <= 1e-9*(1+math.Abs(naive))) ||
					!(math.Abs(want[i][j]-naive) <= 1e-9*(1+math.Abs(naive))) {
					t.Fatalf("entry %d of image %d is %v by rows and %v by the covariance, want %v", j, i, got[i][j],
						want[i][j], naive)
				}
			}
		}
	})
}

// One round of FastICA is its formula, and what is found has nearly the most negentropy of all turns.
func TestICAStep(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		const n = 400
		turn := rotation(rapid.Float64Range(0, 7).Draw(t, "angle"))
		flat := rapid.Bool().Draw(t, "flat")
		var data []float64
		for range n {
			a, b := r.ExpFloat64()-1, r.ExpFloat64()*math.Copysign(1, r.Float64()-0.5)
			if flat {
				b = r.Float64() * 3
			}
			data = append(data, turn[0][0]*a+turn[0][1]*b, turn[1][0]*a+turn[1][1]*b)
		}
		x, err := NewDense(n, 2, data)
		if err != nil {
			t.Fatal(err)
		}
		all := make([]int, n)
		for i := range all {
			all[i] = i
		}
		c := &crew{workers: 2}
		u, err := fitUnmixing(t.Context(), c, x, all)
		if err != nil {
			t.Fatal(err)
		}
		z, err := u.base.scores(t.Context(), c, x, all)
		if err != nil {
			t.Fatal(err)
		}
		for i := range z {
			z[i] /= math.Sqrt(u.base.values[i%2])
		}
		negentropy := func(w [2][2]float64) (sum float64) {
			for _, row := range w {
				mean := 0.0
				for i := 0; i < len(z); i += 2 {
					mean += math.Log(math.Cosh(row[0]*z[i]+row[1]*z[i+1])) / n
				}
				sum += square(mean - 0.3745672)
			}
			return sum
		}
		best := 0.0
		for angle := 0.0; angle < math.Pi/2; angle += math.Pi / 60 {
			best = max(best, negentropy(rotation(angle)))
		}
		if got := negentropy(u.turn); !(got >= 0.8*best) {
			t.Fatalf("the sources have negentropy %v, some turn has %v", got, best)
		}
		w := rotation(1)
		next, gain, err := icaStep(t.Context(), c, z, w)
		if err != nil {
			t.Fatal(err)
		}
		if want := negentropy(w); !(math.Abs(gain-want) <= 1e-7) {
			t.Fatalf("negentropy %v, want %v", gain, want)
		}
		var raw [2][2]float64
		for s, row := range w {
			slope := 0.0
			for i := 0; i < len(z); i += 2 {
				g := math.Tanh(row[0]*z[i] + row[1]*z[i+1])
				raw[s][0] += g * z[i] / n
				raw[s][1] += g * z[i+1] / n
				slope += (1 - g*g) / n
			}
			raw[s][0] -= slope * row[0]
			raw[s][1] -= slope * row[1]
		}
		for s, row := range nearestOrthogonal(raw, w) {
			for k, want := range row {
				if !(math.Abs(next[s][k]-want) <= 1e-9) {
					t.Fatalf("a round gives %v, the formula %v", next, nearestOrthogonal(raw, w))
				}
			}
		}
	})
}

// A circle has two equal eigenvalues; both have to be found, whatever the route.
func TestTwinEigenvalues(t *testing.T) {
	const n = 400
	values := make([]float64, n)
	for i := range values {
		values[i] = 1 / float64(1+i)
	}
	values[17], values[300] = 5, 5
	got, err := topEigen(t.Context(), func(dst, src [][]float64) error {
		for k := range src {
			for i := range n {
				dst[k][i] = values[i] * src[k][i]
			}
		}
		return nil
	}, n, 3, rand.New(rand.NewPCG(3, 4)))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []float64{5, 5, 1} {
		if !(math.Abs(got.values[i]-want) <= 1e-8) {
			t.Errorf("eigenvalue %d is %v, want %v", i, got.values[i], want)
		}
	}
	if s := square(got.vectors[0][17]) + square(got.vectors[1][17]); !(math.Abs(s-1) <= 1e-8) {
		t.Errorf("the first two vectors hold %v of the first twin, want 1", s)
	}
}

// Two independent signals, a sawtooth and a square wave, mixed into six columns, have to come back up to order and
// sign.
func TestICAUnmixes(t *testing.T) {
	const n = 3000
	mix := [6][2]float64{{1, 0.4}, {0.3, 1}, {-0.5, 0.2}, {0.7, -0.9}, {0.1, 0.1}, {-1.2, 0.8}}
	var rows [][]float64
	var s [2][]float64
	for i := range n {
		saw := 2*math.Mod(float64(i)*0.0377, 1) - 1
		sq := math.Copysign(1, math.Sin(float64(i)*0.7137))
		s[0], s[1] = append(s[0], saw), append(s[1], sq)
		row := make([]float64, 6)
		for j, m := range mix {
			row[j] = 10 + m[0]*saw + m[1]*sq
		}
		rows = append(rows, row)
	}
	e := reduce(t, ICA, dense(t, rows), Options{})
	var got [2][]float64
	for i := range n {
		got[0], got[1] = append(got[0], float64(e.XY[2*i])), append(got[1], float64(e.XY[2*i+1]))
	}
	for k := range 2 {
		if m, sd := meanDeviation(got[k]); !(math.Abs(m) <= 1e-5) || !(math.Abs(sd-1) <= 1e-5) {
			t.Errorf("source %d has mean %v and deviation %v, want 0 and 1", k, m, sd)
		}
	}
	straight := math.Min(math.Abs(correlation(got[0], s[0])), math.Abs(correlation(got[1], s[1])))
	crossed := math.Min(math.Abs(correlation(got[0], s[1])), math.Abs(correlation(got[1], s[0])))
	if !(max(straight, crossed) >= 0.999) {
		t.Errorf("sources correlate with the signals by %v in order and %v crossed, want 0.999", straight, crossed)
	}
	if p := reduce(t, PCA, dense(t, rows), Options{}); math.Abs(correlation(s[0], column(p, 0))) > 0.99 ||
		math.Abs(correlation(s[1], column(p, 0))) > 0.99 {
		t.Error("the principal components unmix these signals already: the test shows nothing")
	}
	if sum := e.Explained[0] + e.Explained[1]; !(math.Abs(sum-1) <= 1e-9) || !(e.Explained[0] >= e.Explained[1]) {
		t.Errorf("shares %v: want falling and of sum 1, as two signals make all of the data", e.Explained)
	}
}

func column(e *Embedding, k int) []float64 {
	var out []float64
	for i := k; i < len(e.XY); i += 2 {
		out = append(out, float64(e.XY[i]))
	}
	return out
}

func meanDeviation(v []float64) (m, sd float64) {
	for _, a := range v {
		m += a / float64(len(v))
	}
	for _, a := range v {
		sd += square(a-m) / float64(len(v))
	}
	return m, math.Sqrt(sd)
}

func correlation(a, b []float64) float64 {
	ma, sa := meanDeviation(a)
	mb, sb := meanDeviation(b)
	s := 0.0
	for i := range a {
		s += (a[i] - ma) * (b[i] - mb)
	}
	return s / float64(len(a)) / sa / sb
}

func TestNearestOrthogonal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := rapid.Float64Range(-3, 3)
		a := [2][2]float64{{g.Draw(t, "a"), g.Draw(t, "b")}, {g.Draw(t, "c"), g.Draw(t, "d")}}
		if math.Abs(a[0][0]*a[1][1]-a[0][1]*a[1][0]) < 1e-6 {
			t.Skip("singular")
		}
		q := nearestOrthogonal(a, rotation(0))
		// q is the factor of a = p·q with p symmetric and positive.
		var p [2][2]float64
		for i := range 2 {
			for j := range 2 {
				if dij := q[i][0]*q[j][0] + q[i][1]*q[j][1]; !(math.Abs(dij-float64(1-(i^j))) <= 1e-12) {
					t.Fatalf("%v is not orthogonal", q)
				}
				p[i][j] = a[i][0]*q[j][0] + a[i][1]*q[j][1]
			}
		}
		if !(math.Abs(p[0][1]-p[1][0]) <= 1e-9) || !(p[0][0] > -1e-9) || !(p[0][0]*p[1][1]-p[0][1]*p[1][0] > 0) {
			t.Fatalf("a·qᵀ is %v, want it symmetric and positive", p)
		}
	})
}

// cloud draws rows with a few strong directions.
func cloud(t *rapid.T, maxRows int) [][]float64 {
	n, d := rapid.IntRange(4, maxRows).Draw(t, "rows"), rapid.IntRange(2, 9).Draw(t, "columns")
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
	rows := make([][]float64, n)
	for i := range rows {
		rows[i] = make([]float64, d)
		for j := range rows[i] {
			rows[i][j] = r.NormFloat64() * math.Pow(0.4, float64(j))
		}
	}
	return rows
}

func near(t *rapid.T, got, want []float32, tol float64) {
	t.Helper()
	for i := range got {
		if !(math.Abs(float64(got[i]-want[i])) <= tol) {
			t.Fatalf("coordinate %d is %v, want %v", i, got[i], want[i])
		}
	}
}

func TestPCALaws(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		rows := cloud(rt, 40)
		e := reduce(t, PCA, dense(t, rows), Options{})
		if gap := e.Explained[0] - e.Explained[1]; gap < 1e-3 || e.Explained[1] < 1e-3 {
			rt.Skip("directions that nearly tie")
		}
		order := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "order"), 0)).Perm(len(rows))
		shift := rapid.Float64Range(-50, 50).Draw(rt, "shift")
		var moved, shuffled [][]float64
		var want []float32
		for _, i := range order {
			shuffled = append(shuffled, rows[i])
			want = append(want, e.XY[2*i], e.XY[2*i+1])
		}
		for _, r := range rows {
			row := slices.Clone(r)
			for j := range row {
				row[j] += shift * float64(j+1)
			}
			moved = append(moved, row)
		}
		near(rt, reduce(t, PCA, dense(t, shuffled), Options{}).XY, want, 1e-5)
		near(rt, reduce(t, PCA, dense(t, moved), Options{}).XY, e.XY, 1e-5)
		// Distances in the plane are never longer than in the data.
		for i := range rows {
			for j := range i {
				plane := math.Hypot(float64(e.XY[2*i]-e.XY[2*j]), float64(e.XY[2*i+1]-e.XY[2*j+1]))
				diff := slices.Clone(rows[i])
				axpy(diff, -1, rows[j])
				if !(plane <= norm(diff)+1e-5) {
					rt.Fatalf("rows %d and %d are %v apart in the plane and %v in the data", i, j, plane, norm(diff))
				}
			}
		}
	})
}

// A subset that is fitted gives its rows the coordinates that it would have alone.
func TestFitOnSubset(t *testing.T) {
	for _, m := range []Method{PCA, ICA} {
		t.Run(string(m), func(t *testing.T) {
			rows := waves(60, 5)
			fit := []int{40, 3, 4, 8, 21, 11, 12, 50, 59, 0, 33, 34}
			e := reduce(t, m, dense(t, rows), Options{Fit: fit})
			slices.Sort(fit)
			var part [][]float64
			for _, i := range fit {
				part = append(part, rows[i])
			}
			alone := reduce(t, m, dense(t, part), Options{})
			for k, i := range fit {
				for a := range 2 {
					if e.XY[2*i+a] != alone.XY[2*k+a] {
						t.Fatalf("row %d is at %v, alone with the fitted rows it is at %v", i, e.XY[2*i:2*i+2],
							alone.XY[2*k:2*k+2])
					}
				}
			}
			if e.Fitted != len(fit) || e.Placed != len(rows)-len(fit) {
				t.Errorf("fitted %d and placed %d", e.Fitted, e.Placed)
			}
			if slices.ContainsFunc(e.XY, func(v float32) bool { return v != v }) {
				t.Error("a row without NaN has no place")
			}
		})
	}
}

// A fit that has no row without NaN places nothing, and says so.
func TestNothingToFitOn(t *testing.T) {
	rows := waves(10, 4)
	rows[2][1], rows[5][0] = math.NaN(), math.Inf(-1)
	for _, m := range methods() {
		e := reduce(t, m, dense(t, rows), Options{Fit: []int{2, 5}})
		if e.Fitted != 0 || e.Placed != 0 || e.Missing != 2 || !strings.Contains(strings.Join(e.Notes, " "),
			"no row without NaN to fit on") {
			t.Errorf("%s: fitted %d, placed %d, missing %d, notes %q", m, e.Fitted, e.Placed, e.Missing, e.Notes)
		}
		if slices.ContainsFunc(e.XY, func(v float32) bool { return v == v }) {
			t.Errorf("%s: a row has a place", m)
		}
	}
}

func TestJoinAndFloat32(t *testing.T) {
	rows := waves(20, 7)
	var left, right []float64
	single := make([]float32, 0, 140)
	for _, r := range rows {
		left, right = append(left, r[:3]...), append(right, r[3:]...)
		for _, v := range r {
			single = append(single, float32(v))
		}
	}
	a, err := NewDense(20, 3, left)
	if err != nil {
		t.Fatal(err)
	}
	b, err := NewDense(20, 4, right)
	if err != nil {
		t.Fatal(err)
	}
	ab, err := Join(a, b)
	if err != nil {
		t.Fatal(err)
	}
	whole := reduce(t, PCA, dense(t, rows), Options{})
	if got := reduce(t, PCA, ab, Options{}); !slices.Equal(got.XY, whole.XY) {
		t.Error("columns that are joined reduce to something else than columns in one array")
	}
	f, err := NewDense(20, 7, single)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range reduce(t, PCA, f, Options{}).XY {
		if !(math.Abs(float64(v-whole.XY[i])) <= 1e-5) {
			t.Fatalf("coordinate %d is %v in float32 and %v in float64", i, v, whole.XY[i])
		}
	}
	if _, err := Join(a, dense(t, rows[:3])); err == nil || !strings.Contains(err.Error(), "matrix 2 has 3 rows") {
		t.Errorf("joining different samples: %v", err)
	}
	if _, err := Join(); err == nil {
		t.Error("nothing was joined")
	}
	if _, err := NewDense(3, 4, left); err == nil {
		t.Error("an array of the wrong length was taken")
	}
	if _, err := NewDense(math.MaxInt, math.MaxInt, left); err == nil {
		t.Error("a size that overflows was taken")
	}
}

// methods are all methods, by name.
func methods() []Method {
	var out []Method
	for _, in := range Methods() {
		out = append(out, in.Method)
	}
	return out
}

func TestMethods(t *testing.T) {
	for _, in := range Methods() {
		if in.Title == "" || !strings.HasSuffix(in.Doc, ".") {
			t.Errorf("%s: title %q, doc %q: want both, the doc a sentence", in.Method, in.Title, in.Doc)
		}
		for _, p := range in.Params {
			if !(p.Min <= p.Preset && p.Preset <= p.Max) || !strings.HasSuffix(p.Doc, ".") {
				t.Errorf("%s: parameter %+v", in.Method, p)
			}
		}
	}
}

func TestDegenerate(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	r := rand.New(rand.NewPCG(5, 6))
	random := func(n, d int) [][]float64 {
		rows := make([][]float64, n)
		for i := range rows {
			for range d {
				rows[i] = append(rows[i], r.NormFloat64())
			}
		}
		return rows
	}
	repeat := func(n int, row ...float64) (rows [][]float64) {
		for range n {
			rows = append(rows, row)
		}
		return rows
	}
	constant := random(40, 6)
	for _, row := range constant {
		row[0], row[3] = 0.1, -7e9
	}
	holes := random(50, 4)
	holes[3][1], holes[49][0], holes[20][3] = nan, nan, -inf
	for name, rows := range map[string][][]float64{
		"no rows": nil, "1 row": random(1, 5), "2 rows": random(2, 5), "3 rows": random(3, 5), "4 rows": random(4, 5),
		"5 rows":     random(5, 5),
		"1 row of 1": random(1, 1), "2 rows of 1": random(2, 1), "30 rows of 1": random(30, 1),
		"equal":               repeat(30, 0.1, 0.2, 0.3),
		"equal and one other": append(repeat(30, 0.1, 0.2, 0.3), []float64{1, 2, 3}),
		"zeros":               repeat(9, 0, 0), "tiny": {{1e-200, 0}, {0, 1e-200}, {0, 0}},
		"big":              {{1e30, 0}, {-1e30, 0}, {0, 1e30}, {0, 1}, {1, 1}},
		"constant columns": constant, "holes": holes, "only holes": repeat(12, nan, 1),
		"one left": append(repeat(12, nan, 1), []float64{2, 3}),
		"copies": slices.Concat(random(3, 4), repeat(70, 1, 2, 3, 4), repeat(70, 4, 3, 2, 1),
			repeat(5, 0, 0, 0, 0)),
		"whole grid": {{0, 0}, {0, 1}, {1, 0}, {1, 1}, {2, 0}, {2, 1}, {0, 2}, {1, 2}, {2, 2}},
		"zero signs": {{0, math.Copysign(0, -1)}, {math.Copysign(0, -1), 0}, {0, 0}, {0, 0}, {1, 0}},
	} {
		for _, m := range methods() {
			t.Run(string(m)+"/"+name, func(t *testing.T) {
				e := reduce(t, m, dense(t, rows), Options{Seed: 1})
				if len(e.XY) != 2*len(rows) || e.Fitted+e.Placed+e.Missing != len(rows) {
					t.Fatalf("%d rows: %d coordinates, fitted %d, placed %d, missing %d", len(rows), len(e.XY),
						e.Fitted, e.Placed, e.Missing)
				}
				missing := 0
				for i, row := range rows {
					hole := slices.ContainsFunc(row, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) })
					if hole {
						missing++
					}
					for _, v := range e.XY[2*i : 2*i+2] {
						if v64 := float64(v); math.IsNaN(v64) != hole || math.IsInf(v64, 0) {
							t.Fatalf("row %v is at %v", row, e.XY[2*i:2*i+2])
						}
					}
					for j, other := range rows[:i] {
						if !hole && slices.Equal(other, row) && (e.XY[2*i] != e.XY[2*j] || e.XY[2*i+1] != e.XY[2*j+1]) {
							t.Fatalf("rows %d and %d are equal and stand at %v and %v", j, i, e.XY[2*j:2*j+2],
								e.XY[2*i:2*i+2])
						}
					}
				}
				if e.Missing != missing {
					t.Errorf("missing %d rows, want %d", e.Missing, missing)
				}
				for _, n := range append(e.Notes, e.Axes[:]...) {
					if n == "" || strings.Contains(n, "NaN %") || strings.Contains(n, "%!") {
						t.Errorf("text %q", n)
					}
				}
				for _, s := range e.Explained {
					if !(s >= 0 && s <= 1) {
						t.Errorf("shares %v", e.Explained)
					}
				}
				if len(rows) < 2 && len(e.Notes) == 0 {
					t.Error("nothing says that there is nothing to see")
				}
			})
		}
	}
}

func TestRefusals(t *testing.T) {
	x := dense(t, waves(10, 3))
	for name, c := range map[string]struct {
		m    Method
		x    Matrix
		o    Options
		want string
	}{
		"method":       {"mds", x, Options{}, `no method "mds": expected one of pca, ica, isomap, tsne, umap`},
		"workers":      {PCA, x, Options{Workers: -1}, "-1 workers"},
		"nothing fits": {PCA, x, Options{Fit: []int{}}, "is empty"},
		"row 10":       {PCA, x, Options{Fit: []int{3, 10}}, "rows 0 to 9"},
		"row -1":       {PCA, x, Options{Fit: []int{3, -1}}, "rows 0 to 9"},
		"row twice":    {PCA, x, Options{Fit: []int{3, 4, 3}}, "twice"},
		"no columns":   {PCA, dense(t, make([][]float64, 4)), Options{}, "4 rows of 0 columns"},
		"neighbors":    {Isomap, x, Options{Neighbors: 1}, "Isomap: Neighbors is 1: expected 2 to 100, or 0 for 5"},
		"perplexity":   {TSNE, x, Options{Perplexity: math.NaN()}, "Perplexity is NaN: expected 2 to 100, or 0 for 30"},
		"distance":     {UMAP, x, Options{MinDist: 1}, "MinDist is 1: expected 0.001 to 0.99, or 0 for 0.3"},
		"too large":    {PCA, dense(t, [][]float64{{0, 1}, {2, -1e31}}), Options{}, "row 1, column 1 is -1e+31"},
	} {
		t.Run(name, func(t *testing.T) {
			if e, err := Reduce(t.Context(), c.m, c.x, c.o); e != nil || err == nil ||
				!strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want an error with %q", err, c.want)
			}
		})
	}
}

// The routes of many columns are as deterministic as the others.
func TestDeterminismOfRoutes(t *testing.T) {
	r := rand.New(rand.NewPCG(17, 18))
	const n, d = 700, 90
	data := make([]float64, n*d)
	for i := range data {
		data[i] = r.NormFloat64() * (1 + 10/float64(1+i%d))
	}
	x, err := NewDense(n, d, data)
	if err != nil {
		t.Fatal(err)
	}
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	mean := make([]float64, d)
	var first [][]float64
	for _, workers := range []int{1, 2, 8} {
		c := &crew{workers: workers}
		cov, err := covariance(t.Context(), c, x, all, mean)
		if err != nil {
			t.Fatal(err)
		}
		byRows, err := rowsEigen(t.Context(), c, x, all, mean, 2)
		if err != nil {
			t.Fatal(err)
		}
		byMatrix, err := roughEigen(matrixOperator(t.Context(), c, cov, d), d, 4, rand.New(rand.NewPCG(1, 2)))
		if err != nil {
			t.Fatal(err)
		}
		got := slices.Concat([][]float64{cov, byRows.values, byMatrix.values}, byRows.vectors, byMatrix.vectors)
		if first == nil {
			first = got
		}
		for i := range got {
			if !slices.Equal(got[i], first[i]) {
				t.Errorf("%d workers: array %d is not that of one worker", workers, i)
			}
		}
	}
}

func TestDeterminism(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	rows := make([][]float64, 280) // more than two tasks of every kind
	for i := range rows {
		a, b := r.NormFloat64(), r.ExpFloat64()
		for j := range 70 {
			rows[i] = append(rows[i], a*math.Sin(float64(j)/11)+b*math.Cos(float64(j)/7)+0.3*r.NormFloat64())
		}
	}
	rows[13][4] = math.NaN()
	for _, m := range methods() {
		t.Run(string(m), func(t *testing.T) {
			var first *Embedding
			for _, workers := range []int{1, 2, 8} {
				e, err := reduceWithin(t.Context(), m, dense(t, rows),
					settings{Options: Options{Seed: 3, Workers: workers}, most: 250, sources: 100, rounds: 60})
				if err != nil {
					t.Fatal(err)
				}
				if first == nil {
					first = e
				}
				for i := range e.XY {
					if math.Float32bits(e.XY[i]) != math.Float32bits(first.XY[i]) {
						t.Fatalf("coordinate %d is %v with %d workers and %v with one", i, e.XY[i], workers,
							first.XY[i])
					}
				}
				if !slices.Equal(e.Explained, first.Explained) || !slices.Equal(e.Notes, first.Notes) ||
					e.Axes != first.Axes {
					t.Errorf("%d workers: %+v, one: %+v", workers, e, first)
				}
			}
		})
	}
}

func TestProgressAndCancel(t *testing.T) {
	for _, m := range methods() {
		t.Run(string(m), func(t *testing.T) {
			x := dense(t, waves(120, 12))
			var seen []float64
			reduce(t, m, x, Options{Progress: func(f float64) { seen = append(seen, f) }})
			if len(seen) == 0 || seen[0] < 0 || seen[len(seen)-1] != 1 || !slices.IsSorted(seen) ||
				len(slices.Compact(slices.Clone(seen))) != len(seen) {
				t.Errorf("progress %v: want rising up to 1", seen)
			}
			for at := range 4 {
				ctx, cancel := context.WithCancel(t.Context())
				calls := 0
				e, err := Reduce(ctx, m, x, Options{Progress: func(f float64) {
					if calls++; f < 1 && calls > at*len(seen)/5 {
						cancel()
					}
				}})
				cancel()
				if !errors.Is(err, context.Canceled) || e != nil {
					t.Errorf("canceled after %d reports: %v", at, err)
				}
			}
		})
	}
}

func BenchmarkPCA(b *testing.B) {
	for _, size := range [][2]int{{10_000, 72}, {10_000, 144}, {100_000, 72}, {100_000, 360}, {100_000, 1080}} {
		benchmark(b, PCA, size[0], size[1])
	}
}

func BenchmarkICA(b *testing.B) {
	for _, size := range [][2]int{{10_000, 144}, {100_000, 72}} {
		benchmark(b, ICA, size[0], size[1])
	}
}

// benchmark reduces curves like those of a metric over a rotation: a level, a few harmonics and noise.
func benchmark(b *testing.B, m Method, n, d int) {
	b.Helper()
	b.Run(fmt.Sprintf("%dx%d", n, d), func(b *testing.B) {
		x := curves(b, n, d)
		b.ReportAllocs()
		for b.Loop() {
			reduce(b, m, x, Options{Seed: 1})
		}
	})
}

func curves(tb testing.TB, n, d int) Matrix {
	tb.Helper()
	r := rand.New(rand.NewPCG(9, 10))
	data := make([]float32, 0, n*d)
	for range n {
		level, a, b, c := r.Float64(), r.NormFloat64(), r.NormFloat64(), r.NormFloat64()
		for j := range d {
			u := 2 * math.Pi * float64(j) / float64(d)
			logit := 4*level - 1 + a*math.Cos(u) + b*math.Sin(u) + 0.7*c*math.Cos(2*u) + 0.2*r.NormFloat64()
			data = append(data, float32(1/(1+math.Exp(-2*logit))))
		}
	}
	x, err := NewDense(n, d, data)
	if err != nil {
		tb.Fatal(err)
	}
	return x
}

func BenchmarkIsomap(b *testing.B) {
	for _, size := range [][2]int{{1_000, 72}, {10_000, 144}} {
		benchmark(b, Isomap, size[0], size[1])
	}
}

func BenchmarkTSNE(b *testing.B) {
	for _, size := range [][2]int{{1_000, 72}, {10_000, 144}} {
		benchmark(b, TSNE, size[0], size[1])
	}
}

func BenchmarkUMAP(b *testing.B) {
	for _, size := range [][2]int{{1_000, 72}, {10_000, 144}} {
		benchmark(b, UMAP, size[0], size[1])
	}
}
