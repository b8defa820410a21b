package store

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/parquet-go/parquet-go"

	"nero/run/job"
)

// filesName is the table of the files of a large job. FORMAT.md describes it.
const filesName = "files.parquet"

// The columns of the table.
const (
	colPath   = "path"
	colSHA256 = "sha256"
)

const (
	filesGroup = 1 << 16 // rows of a row group
	// mostRoot bounds the folder that all paths share: it is read once and stands before each.
	mostRoot = 1 << 12
	keyRoot  = "nero.root"
)

// headColumns are those of the heads of pictures, each with the number that it holds.
func headColumns() []headColumn {
	return []headColumn{
		{"channels", func(h *job.Head) *int32 { return &h.Channels }},
		{"height", func(h *job.Head) *int32 { return &h.Height }},
		{"width", func(h *job.Head) *int32 { return &h.Width }},
		{"depth", func(h *job.Head) *int32 { return &h.Depth }},
		{"turn", func(h *job.Head) *int32 { return &h.Turn }},
	}
}

type headColumn struct {
	name string
	of   func(*job.Head) *int32
}

// colEither is 1 of a palette of greys.
const colEither = "either"

func filesSchema() *parquet.Schema {
	number := func() parquet.Node { return parquet.Encoded(parquet.Int(32), &parquet.DeltaBinaryPacked) }
	g := parquet.Group{
		colPath:   parquet.Encoded(parquet.String(), &parquet.Plain),
		colSHA256: parquet.Encoded(parquet.Leaf(parquet.FixedLenByteArrayType(digestSize)), &parquet.Plain),
		colEither: number(),
	}
	for _, c := range headColumns() {
		g[c.name] = number()
	}
	return parquet.NewSchema("nero", g)
}

// digestSize is how many bytes a SHA-256 has.
const digestSize = 32

// rootOf is the beginning that all paths share, up to a separator.
func rootOf(files []job.Ref) string {
	root := files[0].Path
	for _, f := range files {
		for !strings.HasPrefix(f.Path, root) {
			root = root[:max(0, strings.LastIndexAny(strings.TrimRight(root, `/\`), `/\`)+1)]
		}
	}
	root = root[:strings.LastIndexAny(root, `/\`)+1]
	if len(root) > mostRoot {
		return ""
	}
	return root
}

// encodeFiles writes the table of a job's files. The bytes depend on the job alone.
func encodeFiles(j *job.Job) ([]byte, error) {
	root, schema := rootOf(j.Files), filesSchema()
	var b bytes.Buffer
	w := parquet.NewGenericWriter[any](&b, schema, parquet.CreatedBy("nero", "1", "format-2"),
		parquet.DataPageVersion(2), parquet.DataPageStatistics(false), parquet.PageBufferSize(2*groupBytes),
		parquet.SkipPageBounds(colSHA256), parquet.SkipPageBounds(colPath),
		parquet.KeyValueMetadata("nero.format", strconv.Itoa(job.FormatLarge)),
		parquet.KeyValueMetadata(keyRoot, root))
	columns := w.ColumnWriters()
	heads := j.Heads
	if len(heads) != len(j.Files) {
		heads = make([]job.Head, len(j.Files))
	}
	values := make([]parquet.Value, 0, filesGroup)
	for lo := 0; lo < len(j.Files); lo += filesGroup {
		hi := min(lo+filesGroup, len(j.Files))
		put := func(name string, value func(i int) parquet.Value) error {
			leaf, ok := schema.Lookup(name)
			if !ok {
				return fmt.Errorf("no column %s", name)
			}
			values = values[:0]
			for i := lo; i < hi; i++ {
				values = append(values, value(i).Level(0, 0, leaf.ColumnIndex))
			}
			_, err := columns[leaf.ColumnIndex].WriteRowValues(values)
			return err
		}
		var wrong error
		errs := []error{
			put(colPath, func(i int) parquet.Value {
				return parquet.ByteArrayValue([]byte(j.Files[i].Path[len(root):]))
			}),
			put(colSHA256, func(i int) parquet.Value {
				sum, err := hex.DecodeString(j.Files[i].SHA256)
				if err != nil || len(sum) != digestSize {
					wrong = fmt.Errorf("files[%d].sha256 is %q, expected 64 hexadecimal digits", i, j.Files[i].SHA256)
					sum = make([]byte, digestSize)
				}
				return parquet.FixedLenByteArrayValue(sum)
			}),
			put(colEither, func(i int) parquet.Value {
				if heads[i].Either {
					return parquet.Int32Value(1)
				}
				return parquet.Int32Value(0)
			}),
		}
		for _, c := range headColumns() {
			errs = append(errs, put(c.name, func(i int) parquet.Value { return parquet.Int32Value(*c.of(&heads[i])) }))
		}
		if err := errors.Join(append(errs, wrong)...); err != nil {
			return nil, err
		}
		if err := w.Flush(); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// decodeFiles reads a table of so many files. What it says about itself is held against that and against its own size
// before anything is allocated by it.
func decodeFiles(count int, b []byte) (files []job.Ref, heads []job.Head, err error) {
	defer caught(&err)
	r := bytes.NewReader(b)
	if count < 1 || int64(count) > int64(len(b))/digestSize {
		return nil, nil, fmt.Errorf("%d bytes are too few for %d files", len(b), count)
	}
	if err := footer(r, int64(len(b))); err != nil {
		return nil, nil, err
	}
	file, err := parquet.OpenFile(r, int64(len(b)), parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return nil, nil, err
	}
	for i, g := range file.RowGroups() {
		if want := min(filesGroup, count-i*filesGroup); g.NumRows() != int64(want) {
			return nil, nil, fmt.Errorf("row group %d has %d rows, expected %d", i, g.NumRows(), max(0, want))
		}
	}
	if want := (count + filesGroup - 1) / filesGroup; len(file.RowGroups()) != want {
		return nil, nil, fmt.Errorf("%d row groups, expected %d", len(file.RowGroups()), want)
	}
	root, _ := file.Lookup(keyRoot)
	if len(root) > mostRoot {
		return nil, nil, fmt.Errorf("paths that begin with %d bytes alike, expected at most %d", len(root), mostRoot)
	}
	t := &shardFile{j: new(job.Job), schema: file.Schema(), file: file, r: r}
	files, heads = make([]job.Ref, count), make([]job.Head, count)
	for g := range file.RowGroups() {
		lo, hi := g*filesGroup, min((g+1)*filesGroup, count)
		if err := t.fileGroup(g, root, files[lo:hi], heads[lo:hi]); err != nil {
			return nil, nil, err
		}
	}
	return files, heads, nil
}

// fileGroup reads a row group of a table of files.
func (f *shardFile) fileGroup(group int, root string, files []job.Ref, heads []job.Head) error {
	row := 0
	// each reads a column, page by page, and makes sure that every row is there once
	each := func(name string, page func(p parquet.Page, n int) error) error {
		row = 0
		err := f.pages(group, func(p parquet.Page) error {
			n := int(p.NumRows())
			if n > len(files)-row {
				return fmt.Errorf("more than %d rows", len(files))
			}
			err := page(p, n)
			row += n
			return err
		}, name)
		if err == nil && row != len(files) {
			err = fmt.Errorf("column %s: %d rows, expected %d", name, row, len(files))
		}
		return err
	}
	numbers := func(name string, set func(i int, v int32)) error {
		return each(name, func(p parquet.Page, n int) error {
			data := p.Data()
			v := data.Int32()
			if len(v) != n {
				return errors.New("rows without a number")
			}
			for i, x := range v {
				set(row+i, x)
			}
			return nil
		})
	}
	errs := []error{
		each(colPath, func(p parquet.Page, n int) error {
			data := p.Data()
			text, ends := data.ByteArray()
			if len(ends) != n+1 && n > 0 {
				return errors.New("rows without a path")
			}
			// one text for all: a million of them are no million pieces of memory
			all := make([]byte, 0, len(text)+n*len(root))
			at := make([]int, 0, n+1)
			for i := range n {
				at = append(at, len(all))
				all = append(append(all, root...), text[ends[i]:ends[i+1]]...)
			}
			whole := string(all)
			at = append(at, len(whole))
			for i := range n {
				files[row+i].Path = whole[at[i]:at[i+1]]
			}
			return nil
		}),
		each(colSHA256, func(p parquet.Page, n int) error {
			data := p.Data()
			sums, size := data.FixedLenByteArray()
			if size != digestSize || len(sums) != n*digestSize {
				return errors.New("digests of another size")
			}
			whole := hex.EncodeToString(sums)
			for i := range n {
				files[row+i].SHA256 = whole[2*digestSize*i : 2*digestSize*(i+1)]
			}
			return nil
		}),
		numbers(colEither, func(i int, v int32) { heads[i].Either = v == 1 }),
	}
	for _, c := range headColumns() {
		errs = append(errs, numbers(c.name, func(i int, v int32) { *c.of(&heads[i]) = v }))
	}
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	if i := slices.IndexFunc(heads, impossible); i >= 0 {
		return fmt.Errorf("the head of %s is impossible: %+v", files[i].Path, heads[i])
	}
	return nil
}

// impossible says of a head that no picture has it.
func impossible(h job.Head) bool {
	return h != (job.Head{}) && (h.Channels != 1 && h.Channels != 3 || h.Height < 1 || h.Width < 1 ||
		h.Depth != 8 && h.Depth != 16 || h.Turn < 0 || h.Turn > 8)
}

// readFiles gives a job that was read the files of its table, which lies beside it.
func readFiles(dir string, j *job.Job) error {
	if j.Table == nil {
		return nil
	}
	name := filepath.Join(dir, filesName)
	b, err := readSmall(name)
	switch {
	case errors.Is(err, fs.ErrNotExist): // the error of a folder without a job is another
		return damaged(name, fmt.Errorf("it is not there, and %s has its files in it", jobName))
	case err != nil:
		return err
	}
	if got := digest(b); got != j.Table.File {
		return damaged(name, fmt.Errorf("its SHA-256 is %.12s, and %s says %.12s", got, jobName, j.Table.File))
	}
	files, heads, err := decodeFiles(j.Table.Count, b)
	if err != nil {
		return damaged(name, err)
	}
	if got := job.FilesDigest(files); got != j.Table.SHA256 {
		return damaged(name, fmt.Errorf("the files in it have the digest %.12s, and %s says %.12s", got, jobName,
			j.Table.SHA256))
	}
	j.Files, j.Heads = files, heads
	return nil
}

// listed is the job with the digest of the table of its files, and the table, nil where it has none or is that of a
// folder.
func listed(j *job.Job) (*job.Job, []byte, error) {
	if j.Table == nil || j.Table.File != "" {
		return j, nil, nil
	}
	b, err := encodeFiles(j)
	if err != nil {
		return nil, nil, err
	}
	c, t := *j, *j.Table
	t.File = digest(b)
	c.Table = &t
	return &c, b, nil
}
