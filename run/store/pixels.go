package store

import (
	"fmt"

	"github.com/parquet-go/parquet-go"

	"nero/run/job"
)

// pixelInts are the columns of counts of pixels, one list per row in all of them: entry i of each is of the same
// element and class. They are there if the job says so.
func pixelInts() []pixelColumn {
	return []pixelColumn{
		{"pixel_class", func(p *job.Pixels) *int32 { return &p.Class }},
		{"pixel_both", func(p *job.Pixels) *int32 { return &p.Both }},
		{"pixel_got", func(p *job.Pixels) *int32 { return &p.Got }},
		{"pixel_want", func(p *job.Pixels) *int32 { return &p.Want }},
	}
}

type pixelColumn struct {
	name string
	of   func(p *job.Pixels) *int32
}

// colPixelElement says of which element a count is.
const colPixelElement = "pixel_element"

// mostClasses is how many classes one answer and its truth may have.
const mostClasses = 1 << 16

// pixelColumns adds the columns to the schema of a job.
func pixelColumns(g parquet.Group, j *job.Job) {
	if !j.Pixels {
		return
	}
	ints := func() parquet.Node { return parquet.List(parquet.Encoded(parquet.Int(32), &parquet.Plain)) }
	g[colPixelElement] = ints()
	for _, c := range pixelInts() {
		g[c.name] = ints()
	}
}

// checkPixels makes sure that the counts of a row are those of the job.
func checkPixels(j *job.Job, r *job.Row) error {
	if !j.Pixels {
		if r.Pixels != nil {
			return fmt.Errorf("model %d, sample %d: counts of pixels, but the job has none", r.Model, r.Index)
		}
		return nil
	}
	if r.Pixels != nil && len(r.Pixels) != len(j.Elements) {
		return fmt.Errorf("model %d, sample %d: pixels of %d elements, expected one set for each of "+
			"%d", r.Model, r.Index,
			len(r.Pixels), len(j.Elements))
	}
	for k, p := range r.Pixels {
		if len(p) > mostClasses {
			return fmt.Errorf("model %d, sample %d, element %d: pixels of %d classes, at most %d are stored", r.Model,
				r.Index, k, len(p), mostClasses)
		}
		for _, c := range p {
			if err := possible(c); err != nil {
				return fmt.Errorf("model %d, sample %d, element %d: %w", r.Model, r.Index, k, err)
			}
		}
	}
	return nil
}

// possible makes sure that a count can be one: no more pixels in both than in either.
func possible(p job.Pixels) error {
	if p.Class < -1 || p.Both < 0 || p.Both > p.Got || p.Both > p.Want {
		return fmt.Errorf("class %d has %d pixels in both, %d in the answer and %d in the truth, which cannot be",
			p.Class, p.Both, p.Got, p.Want)
	}
	return nil
}

// encodePixels writes the columns; one appends a value to the column that is being written.
func encodePixels(j *job.Job, put column, one func(v parquet.Value, rep, def, col int)) error {
	if !j.Pixels {
		return nil
	}
	list := func(name string, of func(element int, p *job.Pixels) int32) error {
		return put(func(r *job.Row, c int) {
			n := 0
			for k := range r.Pixels {
				for i := range r.Pixels[k] {
					one(parquet.Int32Value(of(k, &r.Pixels[k][i])), min(n, 1), 1, c)
					n++
				}
			}
			if n == 0 {
				one(parquet.NullValue(), 0, 0, c)
			}
		}, name, "list", "element")
	}
	if err := list(colPixelElement, func(k int, _ *job.Pixels) int32 { return int32(k) }); err != nil {
		return err
	}
	for _, c := range pixelInts() {
		if err := list(c.name, func(_ int, p *job.Pixels) int32 { return *c.of(p) }); err != nil {
			return err
		}
	}
	return nil
}

// pixels reads the counts of a row group into its rows. Rows that could not be evaluated have none.
func (f *shardFile) pixels(group int, out []job.Row) error {
	if !f.j.Pixels {
		return nil
	}
	k := len(f.j.Elements)
	at := make([][]int32, len(out))
	if err := f.values(group, func(i int, v parquet.Value) error {
		if v.IsNull() {
			return nil
		}
		e := v.Int32()
		if e < 0 || int(e) >= k || len(at[i]) > 0 && e < at[i][len(at[i])-1] {
			return fmt.Errorf("row %d has pixels of element %d, expected elements in order below %d", i, e, k)
		}
		at[i] = append(at[i], e)
		return nil
	}, colPixelElement, "list", "element"); err != nil {
		return err
	}
	sets := make([][]job.Pixels, len(out)) // of all elements, one after the other
	for i := range sets {
		sets[i] = make([]job.Pixels, len(at[i]))
	}
	for _, c := range pixelInts() {
		n := make([]int, len(out))
		if err := f.values(group, func(i int, v parquet.Value) error {
			if v.IsNull() {
				return nil
			}
			if n[i] == len(sets[i]) {
				return fmt.Errorf("row %d has more values of %s than of %s", i, c.name, colPixelElement)
			}
			*c.of(&sets[i][n[i]]) = v.Int32()
			n[i]++
			return nil
		}, c.name, "list", "element"); err != nil {
			return err
		}
		for i := range n {
			if n[i] != len(sets[i]) {
				return fmt.Errorf("column %s: row %d has %d values, expected %d", c.name, i, n[i], len(sets[i]))
			}
		}
	}
	for i, set := range sets {
		for k, p := range set {
			if err := possible(p); err != nil {
				return fmt.Errorf("row %d, element %d: %w", i, at[i][k], err)
			}
		}
	}
	for i := range out {
		if out[i].Err != "" {
			continue
		}
		out[i].Pixels = make([][]job.Pixels, k)
		b := 0
		for e := range k {
			lo := b
			for b < len(at[i]) && int(at[i][b]) == e {
				b++
			}
			out[i].Pixels[e] = sets[i][lo:b:b]
		}
	}
	return nil
}
