// Package reduce lays the orbits of samples out in the plane: one row of numbers per sample (a metric along the orbit)
// becomes one dot of a scatter plot. It knows five methods, see [Methods].
//
// All of them are reproducible: the same rows, options and seed give the same bytes, whatever the number of workers (on
// machines of one architecture). Axes have no sign of their own, so it is fixed: the largest loading (PCA, ICA) or the
// coordinate of largest magnitude (the others) is positive.
//
// A row that holds a NaN or an infinity gets NaN for coordinates and takes no part in the fit.
//
// Isomap, t-SNE and UMAP work on neighbors. They fit rows that are equal once and draw them in one place; fit at most
// [MaxFitted] distinct rows, chosen by the seed, and place the others among their nearest fitted neighbors; and look
// for neighbors, which are exact with ties going to the lower row, in at most 50 dimensions, beyond which rows count as
// their first principal components. The notes of the [Embedding] say what of this happened.
//
// Memory, beside the matrix and the result: for d columns at most 24·d² + 16384·d bytes up to 320 columns and about
// 1500·d beyond; or 60 MB where variances of up to 1200 columns nearly tie. ICA needs 16 bytes per row more. The others
// need 12 bytes per row, up to 25 MB for the fitted rows, 8·d² + 16384·d bytes for up to 1200 columns and 10000·d for
// more, and at the bounds, for their own work: Isomap 150 MB, t-SNE 200 MB with the preset perplexity and in proportion
// to it, UMAP 10 MB with the preset number of neighbors and in proportion to it.
package reduce

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"

	"nero/present/words"
)

// Method is a way to reduce rows to two coordinates. Its text is the word that people use on the command line and in
// links.
type Method string

// Methods.
const (
	PCA    Method = "pca"    // principal component analysis
	ICA    Method = "ica"    // independent component analysis
	Isomap Method = "isomap" // distances along the graph of nearest neighbors
	TSNE   Method = "tsne"   // t-distributed stochastic neighbor embedding
	UMAP   Method = "umap"   // uniform manifold approximation and projection
)

// Param describes one parameter of a method, as a field of [Options].
type Param struct {
	// of the field of Options, such as "Neighbors"
	Name string
	// one sentence
	Doc     string
	Preset  float64
	Min     float64
	Max     float64
	Integer bool
}

// Info describes a method to people.
type Info struct {
	Method Method
	// such as "Principal components (PCA)"
	Title string
	// one sentence: what the picture shows and what it does not
	Doc    string
	Params []Param
}

// Methods lists the methods, in the order in which they are offered.
func Methods() []Info {
	neighbors := Param{
		Name: "Neighbors", Doc: "Nearest other rows that each row is linked with.", Preset: 5, Min: 2,
		Max: 100, Integer: true,
	}
	return []Info{
		{
			Method: PCA, Title: "Principal components (PCA)",
			Doc: "The two directions along which the rows vary most; distances in the plane are true distances, seen " +
				"from the side.",
		},
		{
			Method: ICA, Title: "Independent components (ICA)",
			Doc: "The plane of PCA turned and scaled so that its two axes are as independent of each other as they " +
				"can be; each axis has deviation 1.",
		},
		{
			Method: Isomap, Title: "Isomap",
			Doc:    "Distances along the graph of nearest neighbors, flattened: a bent sheet of rows is rolled out.",
			Params: []Param{neighbors},
		},
		{
			Method: TSNE, Title: "t-SNE",
			Doc: "Rows that are near each other stay near; distances between groups, and their sizes, mean little.",
			Params: []Param{{
				Name: "Perplexity",
				Doc:  "About how many rows count as near; at most a third of the other rows.", Preset: 30, Min: 2,
				Max: 100,
			}},
		},
		{
			Method: UMAP, Title: "UMAP",
			Doc: "Rows that are near each other stay near, groups are drawn apart; distances between groups mean " +
				"little.",
			Params: []Param{
				neighbors,
				{Name: "MinDist", Doc: "How close the dots of a group are drawn: small for tight groups, in units of " +
					"the plane.", Preset: 0.3, Min: 0.001, Max: 0.99},
			},
		},
	}
}

// Options say how to reduce. The zero value means the presets.
type Options struct {
	// Seed decides every random choice: the subset that is fitted, Isomap's landmarks and the steps of UMAP.
	Seed uint64
	// Neighbors of each row for Isomap and UMAP, 2 to 100, itself not counted; 0 means 5. With fewer other rows, all of
	// them.
	Neighbors int
	// Perplexity of t-SNE, 2 to 100; 0 means 30. It is lowered to a third of the other rows, which a note says.
	Perplexity float64
	// MinDist of UMAP, 0.001 to 0.99; 0 means 0.3.
	MinDist float64
	// Fit lists the rows that the fit may see, in any order; the other rows are placed with the fit that they had no
	// part in. Nil means all rows; an empty list is refused.
	Fit []int
	// Workers is the number of goroutines; 0 means GOMAXPROCS. It changes no byte of the result.
	Workers int
	// Progress, if set, is told the share of the work that is done, from 0 to 1, rising, from one goroutine at a time.
	// The last report of a reduction that succeeds is 1.
	Progress func(fraction float64)
}

// Embedding is where the rows are in the plane.
type Embedding struct {
	// XY are the coordinates, two per row in the order of the rows; both NaN where the row has a NaN or an infinity. A
	// method's unit: that of the data for PCA and Isomap, the deviation of each axis for ICA, and none for the others.
	XY []float32
	// Axes name the two axes for people, such as "first principal component (61 % of the variance)".
	Axes [2]string
	// Explained is the share of the variance along each axis, 0 to 1; nil for methods whose axes have none.
	Explained []float64
	// Fitted is the number of rows that shaped the fit, Placed of those that were placed with it, and Missing of those
	// that hold a NaN or an infinity. They sum to the number of rows, unless there was no row to fit on, which a note
	// says: then all coordinates are NaN.
	Fitted, Placed, Missing int
	// Components is the number of connected parts of the graph of neighbors (Isomap, UMAP); 0 where there is no such
	// graph.
	Components int
	// Notes are sentences that belong beside the picture.
	Notes []string
}

// maxColumns bounds the columns, so that what is held per column stays below a few hundred megabytes.
const maxColumns = 1 << 14

// Reduce lays the rows of x out in the plane. It refuses an unknown method, parameters out of their range (see
// [Methods]), a matrix without columns or with more than 16384, rows of Fit that are not there, and numbers above 1e30
// in magnitude, whose squares would overflow. It ends early with the error of ctx.
func Reduce(ctx context.Context, m Method, x Matrix, o Options) (*Embedding, error) {
	return reduceWithin(ctx, m, x, settings{Options: o, most: MaxFitted, sources: allSources, rounds: tsneRounds})
}

func reduceWithin(ctx context.Context, m Method, x Matrix, o settings) (*Embedding, error) {
	rows, d := x.Dims()
	if rows < 0 || rows > 0 && d < 1 || d > maxColumns {
		return nil, fmt.Errorf("reduce: %d rows of %d columns: expected 1 to %d columns", rows, d, maxColumns)
	}
	if o.Workers < 0 {
		return nil, fmt.Errorf("reduce: %d workers: expected 1 or more, or 0 for as many as there are processors",
			o.Workers)
	}
	if o.Workers == 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	var run func(context.Context, *crew, *table, *settings) (*Embedding, error)
	switch m {
	case PCA:
		run = reducePCA
	case ICA:
		run = reduceICA
	case Isomap:
		run = reduceIsomap
	case TSNE:
		run = reduceTSNE
	case UMAP:
		run = reduceUMAP
	default:
		return nil, fmt.Errorf("reduce: there is no method %q: expected one of %s", m, names())
	}
	if err := o.fill(m); err != nil {
		return nil, err
	}
	c := &crew{workers: o.Workers, report: o.Progress}
	c.stage(0, 0.05)
	t, err := readTable(ctx, c, x, o.Fit)
	if err != nil {
		return nil, err
	}
	if len(t.fit) == 0 {
		run = reducePCA // there is nothing to do, and it says so
	}
	e, err := run(ctx, c, t, &o)
	if err != nil {
		return nil, err
	}
	if e.Missing = rows - len(t.whole); e.Missing > 0 {
		e.note("%s with a NaN or an infinity %s no place.", words.Plural(e.Missing, "row", "rows"), have(e.Missing))
	}
	if len(t.fit) == 0 {
		e.note("There is no row without NaN to fit on.")
	}
	c.stage(1, 1)
	return e, nil
}

// fill puts the presets of the method where nothing is given, and refuses what is out of range.
func (o *settings) fill(m Method) error {
	for _, in := range Methods() {
		if in.Method != m {
			continue
		}
		for _, p := range in.Params {
			var v float64
			switch p.Name {
			case "Neighbors":
				v = float64(o.Neighbors)
			case "Perplexity":
				v = o.Perplexity
			case "MinDist":
				v = o.MinDist
			}
			if v == 0 {
				v = p.Preset
			}
			if !(v >= p.Min && v <= p.Max) {
				return fmt.Errorf("reduce: %s: %s is %g: expected %g to %g, or 0 for %g", in.Title, p.Name, v, p.Min,
					p.Max, p.Preset)
			}
			switch p.Name {
			case "Neighbors":
				o.Neighbors = int(v)
			case "Perplexity":
				o.Perplexity = v
			case "MinDist":
				o.MinDist = v
			}
		}
	}
	return nil
}

func names() string {
	var s []string
	for _, in := range Methods() {
		s = append(s, string(in.Method))
	}
	return strings.Join(s, ", ")
}

func (e *Embedding) note(format string, args ...any) {
	e.Notes = append(e.Notes, fmt.Sprintf(format, args...))
}

func have(n int) string {
	if n == 1 {
		return "has"
	}
	return "have"
}

// table is the matrix with what is known of its rows.
type table struct {
	x          Matrix
	rows, cols int
	// rows without NaN or infinity, rising
	whole []int
	// those among them that the fit may see, rising
	fit []int
}

// readTable looks at every number once.
func readTable(ctx context.Context, c *crew, x Matrix, fit []int) (*table, error) {
	t := &table{x: x}
	t.rows, t.cols = x.Dims()
	if fit != nil {
		fit = slices.Sorted(slices.Values(fit))
		switch {
		case len(fit) == 0:
			return nil, errors.New(
				"reduce: the list of rows to fit on is empty: expected at least one row, or no list for all of them")
		case fit[0] < 0 || fit[len(fit)-1] >= t.rows:
			return nil, fmt.Errorf("reduce: rows to fit on go from %d to %d, there are rows 0 to %d", fit[0],
				fit[len(fit)-1], t.rows-1)
		case len(slices.Compact(slices.Clone(fit))) != len(fit):
			return nil, errors.New("reduce: the list of rows to fit on names a row twice: expected each row once")
		}
	}
	whole := make([]bool, t.rows)
	type flaw struct {
		row, col int
		value    float64
	}
	tasks := blocks(t.rows, rowTask)
	flaws := make([]*flaw, tasks)
	scratch := zeros(c.workers, t.cols)
	if err := c.each(ctx, tasks, func(w, b int) {
		row := scratch[w]
		lo, hi := span(b, t.rows, rowTask)
		for i := lo; i < hi; i++ {
			x.Row(row, i)
			largest := 0.0
			for _, v := range row {
				if !(math.Abs(v) <= largest) { // NaN too
					largest = math.Abs(v)
					if largest != largest {
						break
					}
				}
			}
			whole[i] = largest <= math.MaxFloat64
			if whole[i] && largest > bigValue && flaws[b] == nil {
				j := slices.IndexFunc(row, func(v float64) bool { return math.Abs(v) > bigValue })
				flaws[b] = &flaw{i, j, row[j]}
			}
		}
	}); err != nil {
		return nil, err
	}
	for _, f := range flaws {
		if f != nil {
			return nil, fmt.Errorf("reduce: row %d, column %d is %g: expected at most %g in magnitude; scale the data",
				f.row, f.col, f.value, bigValue)
		}
	}
	for i, ok := range whole {
		if ok {
			t.whole = append(t.whole, i)
		}
	}
	t.fit = t.whole
	if fit != nil {
		t.fit = slices.DeleteFunc(fit, func(i int) bool { return !whole[i] })
	}
	return t, nil
}

// blank is an embedding whose rows all have NaN for coordinates, with the numbers of rows that go with the table.
func (t *table) blank() *Embedding {
	e := &Embedding{XY: make([]float32, 2*t.rows), Fitted: len(t.fit), Placed: len(t.whole) - len(t.fit)}
	for i := range e.XY {
		e.XY[i] = float32(math.NaN())
	}
	if len(t.fit) == 0 {
		e.Placed = 0
	}
	return e
}

func reducePCA(ctx context.Context, c *crew, t *table, _ *settings) (*Embedding, error) {
	c.stage(0.05, 0.9)
	p, err := fitPrincipal(ctx, c, t.x, t.fit, 2)
	if err != nil {
		return nil, err
	}
	e := t.blank()
	e.Explained = shares(p.values, p.total)
	c.stage(0.9, 1)
	err = t.placeLinear(ctx, c, e, p, func(s []float64) (xy [2]float64) {
		copy(xy[:], s)
		return xy
	})
	e.Axes = t.linearAxes("principal component", len(p.vectors), e.Explained)
	t.noteFlat(e, p)
	return e, err
}

func reduceICA(ctx context.Context, c *crew, t *table, _ *settings) (*Embedding, error) {
	c.stage(0.05, 0.9)
	u, err := fitUnmixing(ctx, c, t.x, t.fit)
	if err != nil {
		return nil, err
	}
	e := t.blank()
	e.Explained = shares(u.values, u.base.total)
	c.stage(0.9, 1)
	err = t.placeLinear(ctx, c, e, u.base, u.place)
	e.Axes = t.linearAxes("independent component", len(u.base.vectors), e.Explained)
	t.noteFlat(e, u.base)
	if !u.settled {
		e.note("The independent components did not settle within %d rounds: the rows may be spread evenly in all "+
			"directions, where any turn is as good as another.", icaRounds)
	}
	return e, err
}

// placeLinear writes the coordinates of all rows, fitted or not, that have no NaN.
func (t *table) placeLinear(ctx context.Context, c *crew, e *Embedding, p *principal,
	place func(scores []float64) [2]float64,
) error {
	if len(t.fit) == 0 {
		return nil
	}
	scratch := zeros(c.workers, t.cols+2)
	return c.each(ctx, blocks(len(t.whole), rowTask), func(w, b int) {
		row, s := scratch[w][:t.cols], scratch[w][t.cols:]
		lo, hi := span(b, len(t.whole), rowTask)
		for _, i := range t.whole[lo:hi] {
			t.x.Row(row, i)
			p.project(s, row)
			xy := place(s)
			e.XY[2*i], e.XY[2*i+1] = float32(xy[0]), float32(xy[1])
		}
	})
}

func shares(values []float64, total float64) []float64 {
	out := make([]float64, 2)
	for i := range values {
		out[i] = min(1, values[i]/total)
	}
	return out
}

var ordinals = [2]string{"first", "second"}

func (t *table) linearAxes(what string, have int, shares []float64) (axes [2]string) {
	for i := range axes {
		if i < have {
			axes[i] = fmt.Sprintf("%s %s (%s of the variance)", ordinals[i], what, percent(shares[i]))
		} else {
			axes[i] = fmt.Sprintf("no %s %s", ordinals[i], what)
		}
	}
	return axes
}

// percent is a share for people, with no more digits than they need.
func percent(share float64) string {
	switch p := 100 * share; {
	case p < 0.1:
		return "below 0.1 %"
	case p < 9.95:
		return fmt.Sprintf("%.1f %%", p)
	case p > 99.5 && share < 1-1e-9:
		return fmt.Sprintf("%.1f %%", math.Floor(10*p)/10) // not 100 where something is left
	default:
		return fmt.Sprintf("%.0f %%", p)
	}
}

func (t *table) noteFlat(e *Embedding, p *principal) {
	switch {
	case len(t.fit) == 0:
	case len(t.fit) == 1:
		e.note("One row alone has no shape: it is drawn at the origin.")
	case len(p.vectors) == 0:
		e.note("All fitted rows are equal: they are drawn at one point.")
	case len(p.vectors) == 1:
		e.note("The fitted rows lie on one line: there is no second direction to draw.")
	}
}
