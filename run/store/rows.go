package store

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"nero/run/job"
)

// The columns of a shard. FORMAT.md describes them.
const (
	colModel  = "model"
	colIndex  = "index"
	colSample = "sample"
	colLabel  = "label"
	colTags   = "tags"
	colTop    = "top"
	colError  = "error"
	colCurve  = "curve_" // and the metric's name
)

// groupBytes is about how many bytes of curves a row group has at most: what a reader holds at once.
const groupBytes = 1 << 20

// schemaOf is the Parquet schema of a job's shards. Each encoding has one result on every processor: that of places in
// a dictionary has not, it is cut otherwise with AVX2 than without, unless all places are equal, as those of models are
// within a row group.
func schemaOf(j *job.Job) *parquet.Schema {
	g := parquet.Group{
		colModel:  parquet.Encoded(parquet.String(), &parquet.RLEDictionary),
		colIndex:  parquet.Encoded(parquet.Int(64), &parquet.Plain),
		colSample: parquet.Encoded(parquet.String(), &parquet.Plain),
		colLabel:  parquet.Encoded(parquet.Int(32), &parquet.Plain),
		colTags:   parquet.List(parquet.Encoded(parquet.String(), &parquet.Plain)),
		colTop:    parquet.Optional(parquet.List(parquet.Encoded(parquet.Int(32), &parquet.DeltaBinaryPacked))),
		colError:  parquet.Optional(parquet.Encoded(parquet.String(), &parquet.Plain)),
	}
	for _, m := range j.Metrics {
		g[colCurve+m] = parquet.List(parquet.Encoded(parquet.Leaf(parquet.FloatType), &parquet.Plain))
	}
	boxColumns(g, j)
	pixelColumns(g, j)
	return parquet.NewSchema("nero", g)
}

// groups cuts the rows of one model in a shard into row groups: how many rows each has at most. It depends on the job
// alone, so that the bytes do.
func groups(j *job.Job) int {
	bytes := 4 * len(j.Elements) * len(j.Metrics)
	if hasBoxes(j) {
		bytes += 4 * 36 * len(j.Elements) // some boxes of 36 bytes for each
	}
	if j.Pixels {
		bytes += 20 * 4 * len(j.Elements) // some classes of 20 bytes for each
	}
	return max(1, groupBytes/bytes)
}

// arrange puts the rows of a shard in the order of the file, by model and then by sample, and makes sure that each is
// there once and has the right shape. Rows that could not be evaluated get curves of NaN.
func arrange(j *job.Job, s job.Shard, rows []job.Row) ([]job.Row, error) {
	n := s.Hi - s.Lo
	out := make([]job.Row, n*len(j.Models))
	seen := make([]bool, len(out))
	for _, r := range rows {
		if r.Model < 0 || r.Model >= len(j.Models) || r.Index < s.Lo || r.Index >= s.Hi {
			return nil, fmt.Errorf(
				"a row of model %d, sample %d is not of this shard, which has samples %d to %d of %d models", r.Model,
				r.Index, s.Lo, s.Hi-1, len(j.Models))
		}
		i := r.Model*n + r.Index - s.Lo
		if seen[i] {
			return nil, fmt.Errorf("two rows of model %d, sample %d", r.Model, r.Index)
		}
		seen[i] = true
		if r.Label < -1 || r.Label > math.MaxInt32 {
			return nil, fmt.Errorf("model %d, sample %d: label %d is out of range", r.Model, r.Index, r.Label)
		}
		if r.Err != "" && r.Curves == nil {
			r.Curves = nothing(j)
		}
		if len(r.Curves) != len(j.Metrics) {
			return nil, fmt.Errorf("model %d, sample %d: %d curves, expected one for each of %d metrics", r.Model,
				r.Index, len(r.Curves), len(j.Metrics))
		}
		for k, c := range r.Curves {
			if len(c) != len(j.Elements) {
				return nil, fmt.Errorf(
					"model %d, sample %d, metric %s: %d values, expected one for each of %d elements", r.Model, r.Index,
					j.Metrics[k], len(c), len(j.Elements))
			}
		}
		if r.Top != nil && len(r.Top) != len(j.Elements) {
			return nil, fmt.Errorf("model %d, sample %d: %d top classes, expected one for each of %d elements", r.Model,
				r.Index, len(r.Top), len(j.Elements))
		}
		if err := checkBoxes(j, &r); err != nil {
			return nil, err
		}
		if err := checkPixels(j, &r); err != nil {
			return nil, err
		}
		out[i] = r
	}
	if i := slices.Index(seen, false); i >= 0 {
		return nil, fmt.Errorf("the row of model %d, sample %d is missing", i/n, s.Lo+i%n)
	}
	return out, nil
}

// nothing is the curves of a sample that could not be evaluated.
func nothing(j *job.Job) [][]float32 {
	row := make([]float32, len(j.Elements))
	for i := range row {
		row[i] = float32(math.NaN())
	}
	c := make([][]float32, len(j.Metrics))
	for i := range c {
		c[i] = row
	}
	return c
}

// encode writes arranged rows as a Parquet file. The bytes depend on the arguments alone.
func encode(j *job.Job, hash string, s job.Shard, rows []job.Row) ([]byte, error) {
	schema := schemaOf(j)
	var b bytes.Buffer
	options := []parquet.WriterOption{
		schema,
		parquet.CreatedBy("nero", "1", "format-1"), // not the version of the program: it would change the bytes
		parquet.DataPageVersion(2),
		parquet.DataPageStatistics(false),
		parquet.PageBufferSize(2 * groupBytes), // one page per column and row group
		parquet.KeyValueMetadata("nero.format", strconv.Itoa(j.Format)),
		parquet.KeyValueMetadata("nero.job", hash),
		parquet.KeyValueMetadata("nero.shard", strconv.Itoa(s.Index)),
	}
	for _, m := range j.Metrics {
		// Bounds of columns with NaN mislead readers that skip pages by them.
		options = append(options, parquet.SkipPageBounds(colCurve+m, "list", "element"))
	}
	if hasBoxes(j) {
		for _, c := range boxFloats {
			options = append(options, parquet.SkipPageBounds(c.name, "list", "element"))
		}
	}
	if hasConsensus(j) {
		options = append(options, parquet.SkipPageBounds(colSupport), parquet.SkipPageBounds(colAgreement))
	}
	w := parquet.NewGenericWriter[any](&b, options...)
	n, size := s.Hi-s.Lo, groups(j)
	for m := range j.Models {
		for part := range slices.Chunk(rows[m*n:(m+1)*n], size) {
			if err := encodeGroup(w, schema, j, part); err != nil {
				return nil, err
			}
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// nan is the one NaN that is stored: the bits of others depend on how they came about.
const nan = 0x7fc00000

func encodeGroup(w *parquet.GenericWriter[any], schema *parquet.Schema, j *job.Job, rows []job.Row) error {
	columns := w.ColumnWriters()
	var buf []parquet.Value
	put := func(values func(r *job.Row, col int), path ...string) error {
		leaf, ok := schema.Lookup(path...)
		if !ok {
			return fmt.Errorf("no column %v", path)
		}
		buf = buf[:0]
		for i := range rows {
			values(&rows[i], leaf.ColumnIndex)
		}
		_, err := columns[leaf.ColumnIndex].WriteRowValues(buf)
		return err
	}
	one := func(v parquet.Value, rep, def, col int) { buf = append(buf, v.Level(rep, def, col)) }
	text := func(s string) parquet.Value { return parquet.ByteArrayValue([]byte(s)) }
	steps := []func() error{
		func() error {
			return put(func(r *job.Row, c int) { one(text(j.Models[r.Model].Name), 0, 0, c) }, colModel)
		},
		func() error {
			return put(func(r *job.Row, c int) { one(parquet.Int64Value(int64(r.Index)), 0, 0, c) }, colIndex)
		},
		func() error { return put(func(r *job.Row, c int) { one(text(r.Sample), 0, 0, c) }, colSample) },
		func() error {
			return put(func(r *job.Row, c int) { one(parquet.Int32Value(int32(r.Label)), 0, 0, c) }, colLabel)
		},
		func() error {
			return put(func(r *job.Row, c int) {
				if len(r.Tags) == 0 {
					one(parquet.NullValue(), 0, 0, c)
				}
				for i, t := range r.Tags {
					one(text(t), min(i, 1), 1, c)
				}
			}, colTags, "list", "element")
		},
		func() error {
			return put(func(r *job.Row, c int) {
				if r.Top == nil {
					one(parquet.NullValue(), 0, 0, c)
				}
				for i, t := range r.Top {
					one(parquet.Int32Value(t), min(i, 1), 2, c)
				}
			}, colTop, "list", "element")
		},
		func() error {
			return put(func(r *job.Row, c int) {
				if r.Err == "" {
					one(parquet.NullValue(), 0, 0, c)
				} else {
					one(text(r.Err), 0, 1, c)
				}
			}, colError)
		},
	}
	for k, m := range j.Metrics {
		steps = append(steps, func() error {
			return put(func(r *job.Row, c int) {
				for i, x := range r.Curves[k] {
					if x != x {
						x = math.Float32frombits(nan)
					}
					one(parquet.FloatValue(x), min(i, 1), 1, c)
				}
			}, colCurve+m, "list", "element")
		})
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	if err := encodeBoxes(j, put, one); err != nil {
		return err
	}
	if err := encodePixels(j, put, one); err != nil {
		return err
	}
	return w.Flush()
}

// shardFile is an open shard.
type shardFile struct {
	j      *job.Job
	s      job.Shard
	schema *parquet.Schema
	file   *parquet.File
	r      io.ReaderAt
}

// decode opens the Parquet file of a shard. What it says about itself is compared with the job before anything is
// allocated by it.
func decode(j *job.Job, s job.Shard, r io.ReaderAt, size int64) (f *shardFile, err error) {
	defer caught(&err)
	if err := footer(r, size); err != nil {
		return nil, err
	}
	file, err := parquet.OpenFile(r, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true),
		parquet.ReadBufferSize(64<<10))
	if err != nil {
		return nil, err
	}
	f = &shardFile{j: j, s: s, schema: file.Schema(), file: file, r: r}
	n, size1 := s.Hi-s.Lo, groups(j)
	per := (n + size1 - 1) / size1
	if got := len(file.RowGroups()); got != per*len(j.Models) {
		return nil, fmt.Errorf("%d row groups, expected %d", got, per*len(j.Models))
	}
	for i, g := range file.RowGroups() {
		if want := min(size1, n-i%per*size1); g.NumRows() != int64(want) {
			return nil, fmt.Errorf("row group %d has %d rows, expected %d", i, g.NumRows(), want)
		}
	}
	return f, nil
}

// footer makes sure that the footer has the size that it says, and what is in it too, because the library allocates by
// these sizes.
func footer(r io.ReaderAt, size int64) error {
	var end [8]byte
	most := size - int64(len(end)+4)
	if most < 0 {
		return fmt.Errorf("%d bytes are too few for a Parquet file", size)
	}
	if _, err := r.ReadAt(end[:], size-int64(len(end))); err != nil {
		return err
	}
	n := int64(binary.LittleEndian.Uint32(end[:]))
	if string(end[4:]) != "PAR1" || n > most {
		return fmt.Errorf("not a Parquet file: its footer of %d bytes is not there", n)
	}
	b := make([]byte, n)
	if _, err := r.ReadAt(b, size-int64(len(end))-n); err != nil {
		return err
	}
	if _, err := thriftLen(b); err != nil {
		return fmt.Errorf("not a Parquet file: its footer is %w", err)
	}
	return nil
}

// caught turns a panic of the Parquet library over bytes that it does not expect into an error.
func caught(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("not a Parquet file that can be read: %v", p)
	}
}

// parts are the row groups of one model: index and first sample.
func (f *shardFile) parts(model int) (first, count, rows int) {
	n, size := f.s.Hi-f.s.Lo, groups(f.j)
	per := (n + size - 1) / size
	return model * per, per, size
}

// pages calls do with each page of a column of a row group.
func (f *shardFile) pages(group int, do func(p parquet.Page) error, path ...string) error {
	leaf, ok := f.schema.Lookup(path...)
	if !ok {
		return fmt.Errorf("no column %s", path[0])
	}
	if err := f.headers(group, leaf.ColumnIndex); err != nil {
		return fmt.Errorf("column %s: %w", path[0], err)
	}
	pages := f.file.RowGroups()[group].ColumnChunks()[leaf.ColumnIndex].Pages()
	defer func() { _ = pages.Close() }() // nothing was written
	for {
		p, err := pages.ReadPage()
		if err == io.EOF { //nolint:errorlint // the reader's contract is the value itself
			return nil
		}
		if err != nil {
			return fmt.Errorf("column %s: %w", path[0], err)
		}
		err = do(p)
		parquet.Release(p)
		if err != nil {
			return fmt.Errorf("column %s: %w", path[0], err)
		}
	}
}

// headers reads the page headers of a column of a row group and makes sure that the sizes in them are possible, because
// the library allocates by them.
func (f *shardFile) headers(group, column int) error {
	meta := f.file.Metadata().RowGroups[group].Columns[column].MetaData
	at := meta.DataPageOffset
	if d := meta.DictionaryPageOffset; d > 0 {
		at = min(at, d)
	}
	end := at + meta.TotalCompressedSize
	if at < 0 || end < at || end > f.file.Size() {
		return fmt.Errorf("pages at bytes %d to %d of %d", at, end, f.file.Size())
	}
	values := f.file.RowGroups()[group].NumRows()*int64(len(f.j.Elements)+1) + end - at
	window := make([]byte, 1024)
	for at < end {
		b := window[:min(int64(len(window)), end-at)]
		if _, err := f.r.ReadAt(b, at); err != nil {
			return err
		}
		n, err := thriftLen(b)
		if err != nil {
			return fmt.Errorf("a page header at byte %d is %w", at, err)
		}
		var h format.PageHeader
		if err := thrift.Unmarshal(new(thrift.CompactProtocol), b[:n], &h); err != nil {
			return err
		}
		at += int64(n)
		size := int64(h.CompressedPageSize)
		if size < 0 || size > end-at || int64(h.UncompressedPageSize) != size {
			return fmt.Errorf("a page of %d bytes (%d before compression) at byte %d of %d", size,
				h.UncompressedPageSize, at, end)
		}
		for _, n := range []int32{
			h.DataPageHeader.V.NumValues, h.DataPageHeaderV2.V.NumValues,
			h.DictionaryPageHeader.V.NumValues,
		} {
			if n < 0 || int64(n) > values {
				return fmt.Errorf("a page of %d values, expected at most %d", n, values)
			}
		}
		at += size
	}
	return nil
}

// curve appends the curves of one metric in a row group to dst.
func (f *shardFile) curve(group int, metric string, dst []float32) (_ []float32, err error) {
	defer caught(&err)
	k := len(f.j.Elements)
	want := len(dst) + int(f.file.RowGroups()[group].NumRows())*k
	err = f.pages(group, func(p parquet.Page) error {
		data := p.Data()
		v := data.Float()
		if len(v) != int(p.NumRows())*k || !rectangular(p.RepetitionLevels(), k) || len(dst)+len(v) > want {
			return fmt.Errorf("curves that do not have %d values each", k)
		}
		dst = append(dst, v...)
		return nil
	}, colCurve+metric, "list", "element")
	if err == nil && len(dst) != want {
		err = fmt.Errorf("column %s%s: %d values are missing", colCurve, metric, want-len(dst))
	}
	return dst, err
}

// rectangular reports whether repetition levels say that every list has k entries.
func rectangular(levels []byte, k int) bool {
	if len(levels)%k != 0 {
		return false
	}
	for i := 0; i < len(levels); i += k {
		if levels[i] != 0 || bytes.IndexByte(levels[i+1:i+k], 0) >= 0 {
			return false
		}
	}
	return true
}

// values reads a column of a row group value by value: do gets the row and the value.
func (f *shardFile) values(group int, do func(row int, v parquet.Value) error, path ...string) error {
	rows := int(f.file.RowGroups()[group].NumRows())
	row := -1
	buf := make([]parquet.Value, 256)
	err := f.pages(group, func(p parquet.Page) error {
		vs := p.Values()
		for {
			n, err := vs.ReadValues(buf)
			for _, v := range buf[:n] {
				if v.RepetitionLevel() == 0 {
					row++
				}
				if row < 0 || row >= rows {
					return fmt.Errorf("more than %d rows", rows)
				}
				if err := do(row, v); err != nil {
					return err
				}
			}
			if err == io.EOF { //nolint:errorlint // the reader's contract is the value itself
				return nil
			}
			if err != nil {
				return err
			}
		}
	}, path...)
	if err == nil && row != rows-1 {
		err = fmt.Errorf("column %s: %d rows, expected %d", path[0], row+1, rows)
	}
	return err
}

// failed is how many rows have an error.
func (f *shardFile) failed() (n int, err error) {
	defer caught(&err)
	for group := range f.file.RowGroups() {
		if err := f.values(group, func(_ int, v parquet.Value) error {
			if !v.IsNull() {
				n++
			}
			return nil
		}, colError); err != nil {
			return 0, err
		}
	}
	return n, nil
}

// rows reads a row group of a model, with the curves of the named metrics and what else the filter asks for.
func (f *shardFile) rows(group, model, lo int, metrics []string, with Filter) (out []job.Row, err error) {
	defer caught(&err)
	k := len(f.j.Elements)
	out = make([]job.Row, f.file.RowGroups()[group].NumRows())
	for i := range out {
		out[i] = job.Row{Model: model, Index: lo + i, Curves: make([][]float32, len(metrics))}
	}
	for m, name := range metrics {
		c, err := f.curve(group, name, make([]float32, 0, len(out)*k))
		if err != nil {
			return nil, err
		}
		for i := range out {
			out[i].Curves[m] = c[i*k : (i+1)*k : (i+1)*k]
		}
	}
	read := []error{
		f.values(group, func(i int, v parquet.Value) error {
			if got := string(v.ByteArray()); got != f.j.Models[model].Name {
				return fmt.Errorf("row %d is of model %q, expected %q", i, got, f.j.Models[model].Name)
			}
			return nil
		}, colModel),
		f.values(group, func(i int, v parquet.Value) error {
			if got := v.Int64(); got != int64(lo+i) {
				return fmt.Errorf("row %d is sample %d, expected %d", i, got, lo+i)
			}
			return nil
		}, colIndex),
		f.values(group, func(i int, v parquet.Value) error {
			out[i].Sample = string(v.ByteArray())
			return nil
		}, colSample),
		f.values(group, func(i int, v parquet.Value) error {
			out[i].Label = int(v.Int32())
			return nil
		}, colLabel),
		f.values(group, func(i int, v parquet.Value) error {
			if !v.IsNull() {
				out[i].Tags = append(out[i].Tags, string(v.ByteArray()))
			}
			return nil
		}, colTags, "list", "element"),
		f.values(group, func(i int, v parquet.Value) error {
			if !v.IsNull() {
				out[i].Err = string(v.ByteArray())
			}
			return nil
		}, colError),
	}
	if !with.NoTop {
		read = append(read, f.values(group, func(i int, v parquet.Value) error {
			if v.IsNull() {
				return nil
			}
			if out[i].Top == nil {
				out[i].Top = make([]int32, 0, k)
			}
			if len(out[i].Top) == k {
				return fmt.Errorf("row %d has more than %d top classes", i, k)
			}
			out[i].Top = append(out[i].Top, v.Int32())
			return nil
		}, colTop, "list", "element"))
	}
	if with.Boxes {
		read = append(read, f.boxes(group, out))
	}
	if with.Pixels {
		read = append(read, f.pixels(group, out))
	}
	read = append(read, f.consensus(group, out))
	for _, err := range read {
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}
