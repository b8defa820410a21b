package store

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go"

	"nero/run/job"
)

// The columns of predicted boxes, one list per row in all of them: entry i of each belongs to the same box. They are
// there if the output of the study is boxes.
const (
	colBoxElement = "box_element"
	colBoxLabel   = "box_label"
	colBoxMatch   = "box_match"
	colTruths     = "truths"
	colSupport    = "support"
	colAgreement  = "agreement"
)

// boxFloats are the columns with the numbers of a box.
var boxFloats = []struct {
	name string
	of   func(d *job.Detection) *float32
}{
	{"box_score", func(d *job.Detection) *float32 { return &d.Score }},
	{"box_x1", func(d *job.Detection) *float32 { return &d.X1 }},
	{"box_y1", func(d *job.Detection) *float32 { return &d.Y1 }},
	{"box_x2", func(d *job.Detection) *float32 { return &d.X2 }},
	{"box_y2", func(d *job.Detection) *float32 { return &d.Y2 }},
	{"box_angle", func(d *job.Detection) *float32 { return &d.Angle }},
}

// mostBoxes is how many boxes one prediction may have.
const mostBoxes = 1000

// hasBoxes reports whether rows of the job have boxes.
func hasBoxes(j *job.Job) bool { return j.Study.Output.Space == "boxes" }

// hasConsensus reports whether rows of the job say what their consensus rests on.
func hasConsensus(j *job.Job) bool {
	return slices.ContainsFunc(j.Metrics, func(m string) bool { return strings.HasSuffix(m, "@consensus") })
}

// boxColumns adds the columns of boxes and consensus to the schema of a job.
func boxColumns(g parquet.Group, j *job.Job) {
	ints := func() parquet.Node { return parquet.List(parquet.Encoded(parquet.Int(32), &parquet.Plain)) }
	if hasBoxes(j) {
		for _, c := range []string{colBoxElement, colBoxLabel, colBoxMatch, colTruths} {
			g[c] = ints()
		}
		for _, c := range boxFloats {
			g[c.name] = parquet.List(parquet.Encoded(parquet.Leaf(parquet.FloatType), &parquet.Plain))
		}
	}
	if hasConsensus(j) {
		for _, c := range []string{colSupport, colAgreement} {
			g[c] = parquet.Encoded(parquet.Leaf(parquet.FloatType), &parquet.Plain)
		}
	}
}

// checkBoxes makes sure that the boxes of a row are those of the job.
func checkBoxes(j *job.Job, r *job.Row) error {
	if !hasBoxes(j) {
		if r.Boxes != nil || r.Truths != nil {
			return fmt.Errorf("model %d, sample %d: boxes, but the output of the job is %s", r.Model, r.Index,
				j.Study.Output.Space)
		}
		return nil
	}
	if r.Boxes != nil && len(r.Boxes) != len(j.Elements) {
		return fmt.Errorf("model %d, sample %d: boxes of %d elements, expected one set for each of %d", r.Model,
			r.Index, len(r.Boxes), len(j.Elements))
	}
	for k, b := range r.Boxes {
		if len(b) > mostBoxes {
			return fmt.Errorf("model %d, sample %d, element %d: %d boxes, at most %d are stored", r.Model, r.Index, k,
				len(b), mostBoxes)
		}
	}
	if r.Truths != nil && len(r.Truths) != len(j.Elements) {
		return fmt.Errorf("model %d, sample %d: counts of objects for %d elements, expected one for each of %d",
			r.Model, r.Index, len(r.Truths), len(j.Elements))
	}
	for _, t := range r.Truths {
		if len(t) != len(r.Truths[0]) || len(t) == 0 {
			return fmt.Errorf("model %d, sample %d: counts of objects of %d and of %d classes", r.Model, r.Index,
				len(r.Truths[0]), len(t))
		}
	}
	return nil
}

// plain is the number as it is stored: one NaN, whatever its bits were.
func plain(x float32) float32 {
	if x != x {
		return math.Float32frombits(nan)
	}
	return x
}

// column writes the values of one column of some rows.
type column func(values func(r *job.Row, col int), path ...string) error

// encodeBoxes writes the columns of boxes and consensus; one appends a value to the column that is being written.
func encodeBoxes(j *job.Job, put column, one func(v parquet.Value, rep, def, col int)) error {
	list := func(name string, of func(r *job.Row, give func(parquet.Value))) error {
		return put(func(r *job.Row, c int) {
			n := 0
			of(r, func(v parquet.Value) {
				one(v, min(n, 1), 1, c)
				n++
			})
			if n == 0 {
				one(parquet.NullValue(), 0, 0, c)
			}
		}, name, "list", "element")
	}
	boxes := func(name string, of func(element int, d *job.Detection) parquet.Value) error {
		return list(name, func(r *job.Row, give func(parquet.Value)) {
			for k := range r.Boxes {
				for i := range r.Boxes[k] {
					give(of(k, &r.Boxes[k][i]))
				}
			}
		})
	}
	var steps []func() error
	if hasBoxes(j) {
		steps = append(
			steps,
			func() error {
				return boxes(colBoxElement,
					func(k int, _ *job.Detection) parquet.Value { return parquet.Int32Value(int32(k)) })
			},
			func() error {
				return boxes(colBoxLabel,
					func(_ int, d *job.Detection) parquet.Value { return parquet.Int32Value(d.Label) })
			},
			func() error {
				return boxes(colBoxMatch,
					func(_ int, d *job.Detection) parquet.Value { return parquet.Int32Value(int32(d.Match)) })
			},
			func() error {
				return list(colTruths, func(r *job.Row, give func(parquet.Value)) {
					for _, t := range r.Truths {
						for _, n := range t {
							give(parquet.Int32Value(n))
						}
					}
				})
			},
		)
		for _, f := range boxFloats {
			steps = append(steps, func() error {
				return boxes(f.name,
					func(_ int, d *job.Detection) parquet.Value { return parquet.FloatValue(plain(*f.of(d))) })
			})
		}
	}
	if hasConsensus(j) {
		steps = append(
			steps,
			func() error {
				return put(func(r *job.Row, c int) { one(parquet.FloatValue(plain(r.Support)), 0, 0, c) }, colSupport)
			},
			func() error {
				return put(func(r *job.Row, c int) { one(parquet.FloatValue(plain(r.Agreement)), 0, 0, c) },
					colAgreement)
			},
		)
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// boxes reads the boxes of a row group into its rows. Rows that could not be evaluated have none.
func (f *shardFile) boxes(group int, out []job.Row) error {
	if !hasBoxes(f.j) {
		return nil
	}
	k := len(f.j.Elements)
	sets := make([][]job.Detection, len(out)) // of all elements, one after the other
	at := make([][]int32, len(out))
	if err := f.values(group, func(i int, v parquet.Value) error {
		if v.IsNull() {
			return nil
		}
		e := v.Int32()
		if e < 0 || int(e) >= k || len(at[i]) > 0 && e < at[i][len(at[i])-1] {
			return fmt.Errorf("row %d has a box of element %d, expected elements in order below %d", i, e, k)
		}
		if len(at[i]) >= mostBoxes*k {
			return fmt.Errorf("row %d has more than %d boxes for each of %d elements", i, mostBoxes, k)
		}
		at[i] = append(at[i], e)
		return nil
	}, colBoxElement, "list", "element"); err != nil {
		return err
	}
	for i := range sets {
		sets[i] = make([]job.Detection, len(at[i]))
	}
	fill := func(name string, set func(d *job.Detection, v parquet.Value)) error {
		n := make([]int, len(out))
		err := f.values(group, func(i int, v parquet.Value) error {
			if v.IsNull() {
				return nil
			}
			if n[i] == len(sets[i]) {
				return fmt.Errorf("row %d has more values than boxes", i)
			}
			set(&sets[i][n[i]], v)
			n[i]++
			return nil
		}, name, "list", "element")
		for i := range n {
			if err == nil && n[i] != len(sets[i]) {
				err = fmt.Errorf("column %s: row %d has %d values, expected one for each of %d boxes", name, i, n[i],
					len(sets[i]))
			}
		}
		return err
	}
	if err := fill(colBoxLabel, func(d *job.Detection, v parquet.Value) { d.Label = v.Int32() }); err != nil {
		return err
	}
	if err := fill(colBoxMatch, func(d *job.Detection, v parquet.Value) { d.Match = uint16(v.Int32()) }); err != nil {
		return err
	}
	for _, c := range boxFloats {
		if err := fill(c.name, func(d *job.Detection, v parquet.Value) { *c.of(d) = v.Float() }); err != nil {
			return err
		}
	}
	truths := make([][]int32, len(out))
	most := max(1, f.j.Classes) * k
	if err := f.values(group, func(i int, v parquet.Value) error {
		if v.IsNull() {
			return nil
		}
		if len(truths[i]) == most {
			return fmt.Errorf("row %d has more than %d counts of objects", i, most)
		}
		truths[i] = append(truths[i], v.Int32())
		return nil
	}, colTruths, "list", "element"); err != nil {
		return err
	}
	for i := range out {
		if out[i].Err != "" {
			continue
		}
		out[i].Boxes = make([][]job.Detection, k)
		b := 0
		for e := range k {
			lo := b
			for b < len(at[i]) && int(at[i][b]) == e {
				b++
			}
			out[i].Boxes[e] = sets[i][lo:b:b]
		}
		if n := len(truths[i]); n > 0 {
			if n%k != 0 {
				return fmt.Errorf("row %d has %d counts of objects, expected as many for each of %d elements", i, n, k)
			}
			for c := range slices.Chunk(truths[i], n/k) {
				out[i].Truths = append(out[i].Truths, c)
			}
		}
	}
	return nil
}

// consensus reads what the consensus of each row rests on.
func (f *shardFile) consensus(group int, out []job.Row) error {
	if !hasConsensus(f.j) {
		return nil
	}
	err := f.values(group, func(i int, v parquet.Value) error {
		out[i].Support = v.Float()
		return nil
	}, colSupport)
	if err != nil {
		return err
	}
	return f.values(group, func(i int, v parquet.Value) error {
		out[i].Agreement = v.Float()
		return nil
	}, colAgreement)
}
