package reduce

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// clusters are k groups of size rows each, of deviation 1 in ten dimensions, with centres about 20 apart.
func clusters(k, size int) (rows [][]float64, label []int) {
	r := rand.New(rand.NewPCG(11, 12))
	for g := range k {
		centre := make([]float64, 10)
		for j := range centre {
			centre[j] = 4.5 * r.NormFloat64()
		}
		for range size {
			row := make([]float64, 10)
			for j := range row {
				row[j] = centre[j] + r.NormFloat64()
			}
			rows, label = append(rows, row), append(label, g)
		}
	}
	return rows, label
}

// ranks lists for each row the other rows from the nearest to the farthest.
func ranks(rows [][]float64) [][]int {
	out := make([][]int, len(rows))
	for i := range rows {
		d := make([]float64, len(rows))
		for j := range rows {
			d[j] = distance2(rows[i], rows[j], math.Inf(1))
			if j != i {
				out[i] = append(out[i], j)
			}
		}
		slices.SortFunc(out[i], func(a, b int) int { return cmp.Or(cmp.Compare(d[a], d[b]), cmp.Compare(a, b)) })
	}
	return out
}

func plane(e *Embedding) (rows [][]float64) {
	for i := 0; i < len(e.XY); i += 2 {
		rows = append(rows, []float64{float64(e.XY[i]), float64(e.XY[i+1])})
	}
	return rows
}

// trustworthiness is 1 − 2/(nk(2n−3k−1)) Σᵢ Σⱼ (r(i,j) − k) over the k nearest in the plane that are not among the k
// nearest of the data, r the rank in the data (J. Venna and S. Kaski, ICANN 2001). 1 is best, and 0.5 is what chance
// gives.
func trustworthiness(data, plane [][]int, k int) float64 {
	n := len(data)
	sum := 0
	for i := range data {
		rank := make([]int, n)
		for r, j := range data[i] {
			rank[j] = r + 1
		}
		for _, j := range plane[i][:k] {
			sum += max(0, rank[j]-k)
		}
	}
	return 1 - 2*float64(sum)/float64(n*k*(2*n-3*k-1))
}

func TestClustersStayTogether(t *testing.T) {
	rows, label := clusters(6, 30)
	data := ranks(rows)
	for _, m := range []Method{TSNE, UMAP} {
		t.Run(string(m), func(t *testing.T) {
			for seed := range uint64(2) {
				e := reduce(t, m, dense(t, rows), Options{Seed: seed, Perplexity: 20})
				near := ranks(plane(e))
				same := 0
				for i := range near {
					for _, j := range near[i][:10] {
						if label[i] == label[j] {
							same++
						}
					}
				}
				if share := float64(same) / float64(10*len(rows)); !(share >= 0.99) {
					t.Errorf("seed %d: %v of the ten nearest in the plane are of the same cluster, want 0.99", seed,
						share)
				}
				if tw := trustworthiness(data, near, 10); !(tw >= 0.93) {
					t.Errorf("seed %d: trustworthiness %v, want 0.93", seed, tw)
				}
			}
		})
	}
}

func TestRollIsKeptNear(t *testing.T) {
	rows, _, _ := roll(200, 2)
	data := ranks(rows)
	linear := trustworthiness(data, ranks(plane(reduce(t, PCA, dense(t, rows), Options{}))), 10)
	for _, m := range []Method{TSNE, UMAP} {
		e := reduce(t, m, dense(t, rows), Options{Neighbors: 10})
		if tw := trustworthiness(data, ranks(plane(e)), 10); !(tw >= 0.97) || !(tw > linear) {
			t.Errorf("%s: trustworthiness %v, want 0.97 and more than the %v of PCA", m, tw, linear)
		}
	}
}

// Rows that are not fitted stand in their cluster.
func TestOthersArePlaced(t *testing.T) {
	rows, label := clusters(5, 60)
	for _, m := range []Method{Isomap, TSNE, UMAP} {
		t.Run(string(m), func(t *testing.T) {
			var fit []int
			for i := range rows {
				if i%3 == 0 {
					fit = append(fit, i)
				}
			}
			rows := append(slices.Clone(rows), rows[3], []float64{0, 1, 2, 3, 4, math.NaN(), 6, 7, 8, 9})
			e := reduce(t, m, dense(t, rows), Options{Fit: fit})
			if e.Fitted != 100 || e.Placed != 201 || e.Missing != 1 {
				t.Errorf("fitted %d, placed %d, missing %d", e.Fitted, e.Placed, e.Missing)
			}
			if e.XY[6] != e.XY[600] || e.XY[7] != e.XY[601] {
				t.Errorf("a copy of row 3 stands at %v, the row at %v", e.XY[600:602], e.XY[6:8])
			}
			near := ranks(plane(e)[:300])
			same := 0
			for i := range near {
				if i%3 != 0 {
					for _, j := range near[i][:5] {
						if label[i] == label[j] {
							same++
						}
					}
				}
			}
			if share := float64(same) / 1000; !(share >= 0.98) {
				t.Errorf("%v of the five nearest of placed rows are of their cluster, want 0.98", share)
			}
		})
	}
}

// A sample of more rows than may be fitted is thinned by the seed, and says so.
func TestThinning(t *testing.T) {
	rows, _ := clusters(4, 50)
	rows = append(rows, rows[:30]...)
	for _, m := range []Method{Isomap, TSNE, UMAP} {
		var seen []*Embedding
		for _, seed := range []uint64{1, 1, 2} {
			e, err := reduceWithin(t.Context(), m, dense(t, rows),
				settings{Options: Options{Seed: seed}, most: 120, sources: 120, rounds: 200})
			if err != nil {
				t.Fatal(err)
			}
			if e.Fitted < 120 || e.Fitted > 150 || e.Fitted+e.Placed != 230 {
				t.Errorf("%s: fitted %d and placed %d", m, e.Fitted, e.Placed)
			}
			if notes := strings.Join(e.Notes, " "); !strings.Contains(notes, "Fitted on 120 of 200 distinct rows") ||
				!strings.Contains(notes, "30 of the 230 rows are copies") {
				t.Errorf("%s: notes %q", m, e.Notes)
			}
			for i := range 30 {
				if e.XY[2*i] != e.XY[400+2*i] || e.XY[2*i+1] != e.XY[401+2*i] {
					t.Errorf("%s: row %d and its copy stand at %v and %v", m, i, e.XY[2*i:2*i+2], e.XY[400+2*i:402+2*i])
				}
			}
			seen = append(seen, e)
		}
		if !slices.Equal(seen[0].XY, seen[1].XY) || slices.Equal(seen[0].XY, seen[2].XY) {
			t.Errorf("%s: want one seed to give one picture, and another seed another", m)
		}
	}
}

// Rows are told apart by their numbers, whatever their hashes are.
func TestHashCollisions(t *testing.T) {
	tab, err := readTable(t.Context(), &crew{workers: 1}, dense(t, [][]float64{{1}, {2}, {1}, {3}, {2}, {1}}), nil)
	if err != nil {
		t.Fatal(err)
	}
	set := make([]int32, 6)
	if rows := tab.group(make([]uint64, 6), set); !slices.Equal(rows, []int{0, 1, 3}) ||
		!slices.Equal(set, []int32{0, 1, 0, 2, 1, 0}) {
		t.Errorf("rows %v, sets %v", rows, set)
	}
}

func TestManyColumns(t *testing.T) {
	// 60 columns, neighbors in 50: the distances of points in a plane are kept, so that the layout is that of two
	// columns.
	r := rand.New(rand.NewPCG(13, 14))
	var wide, narrow [][]float64
	for range 60 {
		u, v := r.Float64(), r.Float64()
		row := make([]float64, 60)
		row[7], row[40] = u, v
		narrow, wide = append(narrow, []float64{u, v}), append(wide, row)
	}
	for _, m := range []Method{Isomap, TSNE} {
		a, b := plane(reduce(t, m, dense(t, narrow), Options{})), plane(reduce(t, m, dense(t, wide), Options{}))
		if tw := trustworthiness(ranks(a), ranks(b), 8); !(tw >= 0.99) {
			t.Errorf("%s: columns of zeros change the picture: trustworthiness %v", m, tw)
		}
	}
}

// The rough directions hold what there is when the data have fewer dimensions than are asked for, and nearly the best
// else.
func TestRoughDirections(t *testing.T) {
	const n, k = 300, 5
	values := make([]float64, n)
	for i := range values {
		values[i] = math.Pow(0.7, float64(i))
	}
	got, err := roughEigen(func(dst, src [][]float64) error {
		for v := range src {
			for i := range n {
				dst[v][i] = values[i] * src[v][i]
			}
		}
		return nil
	}, n, k, rand.New(rand.NewPCG(1, 1)))
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range got.values {
		if !(math.Abs(v-values[i]) <= 1e-3*values[i]) {
			t.Errorf("eigenvalue %d is %v, want %v", i, v, values[i])
		}
	}
}

func drawLinks(t *rapid.T, p *points, most int) *links {
	l, err := link(t.Context(), &crew{workers: 1}, newTree(p), min(p.n-1, most))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestPerplexity(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(6, 90).Draw(t, "neighbors")
		perplexity := rapid.Float64Range(2, float64(k)/3).Draw(t, "perplexity")
		unit := rapid.SampledFrom([]float64{1e-20, 1, 1e20}).Draw(t, "unit")
		var near []neighbor
		d := rapid.Float64Range(0, 5).Draw(t, "nearest")
		for i := range k {
			near = append(near, neighbor{unit * d, int32(i)})
			d += rapid.Float64Range(0.01, 1).Draw(t, "step")
		}
		p := make([]float64, k)
		conditional(p, near, perplexity)
		sum, entropy := 0.0, 0.0
		for i, v := range p {
			sum += v
			if v > 0 {
				entropy -= v * math.Log(v)
			}
			if i > 0 && !(v <= p[i-1]) {
				t.Fatalf("probability %d is %v, that of a nearer one %v", i, v, p[i-1])
			}
		}
		if !(math.Abs(sum-1) <= 1e-12) || !(math.Abs(math.Exp(entropy)-perplexity) <= 1e-5*perplexity) {
			t.Fatalf("probabilities sum to %v and have perplexity %v, want 1 and %v", sum, math.Exp(entropy),
				perplexity)
		}
	})
}

func TestAffinities(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPoints(t, 80)
		if p.n < 10 {
			t.Skip("too few")
		}
		l := drawLinks(t, p, 9)
		joint, err := affinities(t.Context(), &crew{workers: 2}, l, 3)
		if err != nil {
			t.Fatal(err)
		}
		graph, err := fuzzy(t.Context(), &crew{workers: 2}, l)
		if err != nil {
			t.Fatal(err)
		}
		sum := 0.0
		for _, v := range joint.val {
			sum += v
		}
		if !(math.Abs(sum-1) <= 1e-9) {
			t.Fatalf("P sums to %v, want 1", sum)
		}
		for name, a := range map[string]*affinity{"P": joint, "the fuzzy graph": graph} {
			full := map[[2]int32]float64{}
			for i := range p.n {
				if row := a.col[a.start[i]:a.start[i+1]]; !slices.IsSorted(row) || slices.Contains(row, int32(i)) ||
					len(slices.Compact(slices.Clone(row))) != len(row) {
					t.Fatalf("row %d of %s has columns %v", i, name, row)
				}
				for s := a.start[i]; s < a.start[i+1]; s++ {
					full[[2]int32{int32(i), a.col[s]}] = a.val[s]
				}
				for _, q := range l.of(i) {
					if _, ok := full[[2]int32{int32(i), q.point}]; !ok {
						t.Fatalf("%s lacks the link from %d to %d", name, i, q.point)
					}
				}
			}
			for ij, v := range full {
				if w := full[[2]int32{ij[1], ij[0]}]; !(v == w && v >= 0 && v <= 1) {
					t.Fatalf("%s has %v at %v and %v at its mirror", name, v, ij, w)
				}
			}
		}
		for i := range p.n {
			if largest := slices.Max(graph.val[graph.start[i]:graph.start[i+1]]); !(largest >= 1-1e-12) {
				t.Fatalf("point %d is linked with %v at most, want 1 with its nearest neighbor", i, largest)
			}
		}
	})
}

// divergence is KL(P‖Q), with e·P for P where it is exaggerated, up to a constant.
func divergence(p *affinity, y []float64, e float64) float64 {
	n := len(y) / 2
	z, sum := 0.0, 0.0
	q := func(i, j int) float64 {
		return 1 / (1 + square(y[2*i]-y[2*j]) + square(y[2*i+1]-y[2*j+1]))
	}
	for i := range n {
		for j := range n {
			if i != j {
				z += q(i, j)
			}
		}
	}
	for i := range n {
		for s := p.start[i]; s < p.start[i+1]; s++ {
			sum -= e * p.val[s] * math.Log(q(i, int(p.col[s])))
		}
	}
	return sum + math.Log(z)
}

func TestGradient(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPoints(t, 40)
		if p.n < 12 {
			t.Skip("too few")
		}
		joint, err := affinities(t.Context(), &crew{workers: 1}, drawLinks(t, p, 11), 3.5)
		if err != nil {
			t.Fatal(err)
		}
		e := rapid.SampledFrom([]float64{1, exaggeration}).Draw(t, "exaggeration")
		size := rapid.SampledFrom([]float64{1e-3, 1, 20}).Draw(t, "size")
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "layout"), 0))
		y := make([]float64, 2*p.n)
		for i := range y {
			y[i] = size * r.NormFloat64()
		}
		y[4], y[5] = y[2], y[3] // two points in one place
		got, repel, zs := make([]float64, len(y)), make([]float64, len(y)), make([]float64, blocks(p.n, forceTask))
		var tree quadtree
		if err := joint.gradient(t.Context(), &crew{workers: 1}, &tree, got, repel, zs, y, e, 0); err != nil {
			t.Fatal(err)
		}
		largest := 0.0
		for _, g := range got {
			largest = max(largest, math.Abs(g))
		}
		h := 1e-5 * max(size, 0.1)
		for i := range y {
			at := y[i]
			y[i] = at + h
			up := divergence(joint, y, e)
			y[i] = at - h
			down := divergence(joint, y, e)
			y[i] = at
			if want := (up - down) / (2 * h); !(math.Abs(got[i]-want) <= 1e-6*(1+largest)) {
				t.Fatalf("entry %d of the gradient is %v, differences say %v", i, got[i], want)
			}
		}
	})
}

func TestBarnesHutIsNear(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 16))
	y := make([]float64, 2*3000)
	for i := range y {
		y[i] = 30 * r.NormFloat64()
	}
	for i := 100; i < 200; i++ {
		y[i] = 1 // fifty points in one place
	}
	var tree quadtree
	tree.build(y)
	order := slices.Sorted(slices.Values(tree.order))
	for i, k := range order {
		if int(k) != i {
			t.Fatalf("point %d is not in the tree once", i)
		}
	}
	worst, sumZ, exactZ := 0.0, 0.0, 0.0
	scale := 0.0
	for i := range int32(3000) {
		ax, ay, az := tree.repulsion(i, openingAngle)
		ex, ey, ez := tree.repulsion(i, 0)
		want := 0.0
		for j := range int32(3000) {
			if i != j {
				want += 1 / (1 + square(y[2*i]-y[2*j]) + square(y[2*i+1]-y[2*j+1]))
			}
		}
		if !(math.Abs(ez-want) <= 1e-9*want) {
			t.Fatalf("point %d: the sum over an opened tree is %v, want %v", i, ez, want)
		}
		worst = max(worst, math.Hypot(ax-ex, ay-ey))
		scale = max(scale, math.Hypot(ex, ey))
		sumZ, exactZ = sumZ+az, exactZ+ez
	}
	if !(worst <= 0.03*scale) || !(math.Abs(sumZ-exactZ) <= 0.01*exactZ) {
		t.Errorf("cells as points move a force by up to %v of %v, and the sum from %v to %v", worst, scale, exactZ,
			sumZ)
	}
}

// The values are from scipy 1.10.1, optimize.curve_fit over linspace(0, 3, 300); those for 0.1 are the ones that
// umap-learn's documentation states for its presets (1.577, 0.895).
func TestCurve(t *testing.T) {
	for _, c := range []struct{ minDist, a, b float64 }{
		{0.001, 1.9290740657, 0.7915042313},
		{0.1, 1.5769436135, 0.8950607194},
		{0.3, 0.9921756240, 1.1122533760},
		{0.99, 0.1193055872, 1.9163887758},
	} {
		if a, b := curve(c.minDist, 1); !(math.Abs(a-c.a) <= 1e-5) || !(math.Abs(b-c.b) <= 1e-5) {
			t.Errorf("minimal distance %v: a = %v and b = %v, want %v and %v", c.minDist, a, b, c.a, c.b)
		}
	}
}

func TestMemberships(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(3, 30).Draw(t, "neighbors")
		unit := rapid.SampledFrom([]float64{1e-8, 1, 1e8}).Draw(t, "unit")
		var near []neighbor
		d := rapid.Float64Range(0.5, 2).Draw(t, "nearest")
		for i := range k {
			near = append(near, neighbor{square(unit * d), int32(i)})
			d += rapid.Float64Range(0.05, 1).Draw(t, "step")
		}
		w := make([]float64, k)
		memberships(w, near, unit)
		sum := 0.0
		for i, v := range w {
			sum += v
			if i > 0 && !(v <= w[i-1]) {
				t.Fatalf("weights %v: want them falling", w)
			}
		}
		if w[0] != 1 || !(math.Abs(sum-math.Log2(float64(k))) <= 1e-5) {
			t.Fatalf("weights %v: the first is to be 1, the sum %v is to be log₂ %d", w, sum, k)
		}
	})
}

// The nearest of all minimal distances draws the tightest groups.
func TestMinDistSpreads(t *testing.T) {
	rows, _ := clusters(3, 60)
	gap := func(minDist float64) float64 {
		p := plane(reduce(t, UMAP, dense(t, rows), Options{MinDist: minDist}))
		var nearest []float64
		for i, near := range ranks(p) {
			nearest = append(nearest, math.Sqrt(distance2(p[i], p[near[0]], math.Inf(1))))
		}
		slices.Sort(nearest)
		return nearest[len(nearest)/2]
	}
	if tight, loose := gap(0.01), gap(0.9); !(tight < 0.7*loose) {
		t.Errorf("the median distance to the nearest dot is %v for a minimal distance of 0.01 and %v for 0.9", tight,
			loose)
	}
}

func TestSigns(t *testing.T) {
	rows, _ := clusters(3, 15)
	for _, m := range []Method{Isomap, TSNE, UMAP} {
		e := reduce(t, m, dense(t, rows), Options{Seed: 4})
		for a := range 2 {
			v := column(e, a)
			if mean, _ := meanDeviation(v); !(math.Abs(mean) <= 1e-4*slices.Max(v)) ||
				!(slices.Max(v) >= -slices.Min(v)*(1-1e-5)) {
				t.Errorf("%s: axis %d has mean %v, goes from %v to %v: want its middle at 0 and the largest "+
					"magnitude positive", m, a, mean, slices.Min(v), slices.Max(v))
			}
		}
	}
}

// What is near stays near wherever the data lie and in whatever unit they are.
func TestMovedData(t *testing.T) {
	rows, _ := clusters(3, 20)
	var moved [][]float64
	for _, r := range rows {
		row := make([]float64, len(r))
		for j := range r {
			row[j] = 1024*r[j] + 4096*float64(j)
		}
		moved = append(moved, row)
	}
	for _, m := range []Method{Isomap, TSNE, UMAP} {
		a, b := plane(reduce(t, m, dense(t, rows), Options{Neighbors: 8})),
			plane(reduce(t, m, dense(t, moved), Options{Neighbors: 8}))
		if tw := trustworthiness(ranks(a), ranks(b), 8); !(tw >= 0.95) {
			t.Errorf("%s: moving and scaling the data changes the picture: trustworthiness %v", m, tw)
		}
	}
}
