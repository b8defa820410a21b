package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"nero/measure/aggregate"
	"nero/run/job"
)

// marker is the JSON file beside a shard's rows. Its presence says that the shard is finished; the checksum in it says
// which bytes are meant.
type marker struct {
	Format int       `json:"format"`
	Job    string    `json:"job"`
	Shard  job.Shard `json:"shard"`
	Rows   int       `json:"rows"`
	// rows with an error
	Failed int    `json:"failed"`
	File   string `json:"file"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
	// Cells are in the markers of small jobs alone: of large ones they would be up to half of what is kept, and nobody
	// who sums up looks at them.
	Cells *cells `json:"cells,omitempty"`

	// the cells are known to be those of the rows
	fits bool
}

// cells are moments by column, because a column of numbers is a third of the size of as many objects. Cell (model m,
// metric k, element g) stands at (m*metrics + k)*elements + g.
type cells struct {
	N      []int   `json:"n"`
	NaN    []int   `json:"nan"`
	Mean   numbers `json:"mean"`
	M2     numbers `json:"m2"`
	Min    numbers `json:"min"`
	Max    numbers `json:"max"`
	ArgMin []int   `json:"argmin"`
	ArgMax []int   `json:"argmax"`
}

// numbers are float64s in JSON, where one that is not finite is a string. They are written and read in one go, because
// these lists are most of a marker.
type numbers []float64

// MarshalJSON writes a list of numbers and of "NaN", "+Inf", "-Inf".
func (n numbers) MarshalJSON() ([]byte, error) {
	b := append(make([]byte, 0, 2+20*len(n)), '[')
	for i, x := range n {
		if i > 0 {
			b = append(b, ',')
		}
		if math.IsNaN(x) || math.IsInf(x, 0) {
			b = strconv.AppendQuote(b, strconv.FormatFloat(x, 'g', -1, 64))
		} else {
			b = strconv.AppendFloat(b, x, 'g', -1, 64)
		}
	}
	return append(b, ']'), nil
}

// UnmarshalJSON reads what MarshalJSON writes. It gets valid JSON, so that splitting at commas can only go wrong in
// ways that leave something that is not a number.
func (n *numbers) UnmarshalJSON(b []byte) error {
	b = bytes.TrimSpace(b)
	if len(b) < 2 || b[0] != '[' {
		return errors.New("not a list of numbers")
	}
	*n = nil
	if b = bytes.TrimSpace(b[1 : len(b)-1]); len(b) == 0 {
		return nil
	}
	*n = make(numbers, 0, bytes.Count(b, []byte{','})+1)
	for part := range bytes.SplitSeq(b, []byte{','}) {
		switch s := string(bytes.TrimSpace(part)); s {
		case `"NaN"`:
			*n = append(*n, math.NaN())
		case `"+Inf"`:
			*n = append(*n, math.Inf(1))
		case `"-Inf"`:
			*n = append(*n, math.Inf(-1))
		default:
			x, err := strconv.ParseFloat(s, 64)
			if err != nil {
				return err
			}
			*n = append(*n, x)
		}
	}
	return nil
}

// hasCells reports whether markers of a job hold moments.
func hasCells(j *job.Job) bool { return j.Format < job.FormatLarge }

func packCells(ms []aggregate.Moments) *cells {
	c := &cells{N: []int{}, NaN: []int{}, ArgMin: []int{}, ArgMax: []int{}}
	for _, m := range ms {
		c.N, c.NaN = append(c.N, m.N), append(c.NaN, m.NaN)
		c.Mean, c.M2 = append(c.Mean, m.Mean), append(c.M2, m.M2)
		c.Min, c.Max = append(c.Min, m.Min), append(c.Max, m.Max)
		c.ArgMin, c.ArgMax = append(c.ArgMin, m.ArgMin), append(c.ArgMax, m.ArgMax)
	}
	return c
}

// unpack returns the n cells; samples outside [0, samples) are refused, so that nothing indexes out of range later.
func (c cells) unpack(n, samples int) ([]aggregate.Moments, error) {
	for _, l := range []int{
		len(c.N), len(c.NaN), len(c.Mean), len(c.M2), len(c.Min), len(c.Max), len(c.ArgMin),
		len(c.ArgMax),
	} {
		if l != n {
			return nil, fmt.Errorf("cells has a column of %d entries, expected %d", l, n)
		}
	}
	out := make([]aggregate.Moments, n)
	for i := range out {
		m := aggregate.Moments{
			N: c.N[i], NaN: c.NaN[i], Mean: c.Mean[i], M2: c.M2[i],
			Min: c.Min[i], Max: c.Max[i], ArgMin: c.ArgMin[i], ArgMax: c.ArgMax[i],
		}
		if m.N < 0 || m.NaN < 0 || m.N > samples || m.NaN > samples || m.ArgMin < 0 || m.ArgMax < 0 ||
			max(m.ArgMin, m.ArgMax) >= max(1, samples) {
			return nil, fmt.Errorf("cell %d is impossible: %+v", i, m)
		}
		out[i] = m
	}
	return out, nil
}

// summarise computes the cells of arranged rows: the moments over samples of every (model, metric, element).
func summarise(j *job.Job, rows []job.Row) []aggregate.Moments {
	k := len(j.Elements)
	out := make([]aggregate.Moments, len(j.Models)*len(j.Metrics)*k)
	for i := range rows {
		r := &rows[i]
		for m, c := range r.Curves {
			cell := out[(r.Model*len(j.Metrics)+m)*k:]
			for g, x := range c {
				cell[g].Add(float64(x), r.Index)
			}
		}
	}
	return out
}

// parseMarker reads a marker and holds it against the job.
func parseMarker(j *job.Job, hash string, s job.Shard, b []byte) (*marker, []aggregate.Moments, error) {
	m := new(marker)
	if err := decodeJSON(b, m); err != nil {
		return nil, nil, err
	}
	n := s.Hi - s.Lo
	switch {
	case m.Job != hash:
		return nil, nil, fmt.Errorf("it belongs to job %.12s, not %.12s", m.Job, hash)
	case m.Shard != s:
		return nil, nil, fmt.Errorf("it is for shard %+v, expected %+v", m.Shard, s)
	case m.Rows != n*len(j.Models) || m.Failed < 0 || m.Failed > m.Rows:
		return nil, nil, fmt.Errorf("%d rows (%d failed), expected %d", m.Rows, m.Failed, n*len(j.Models))
	case m.File != rowsName(s.Index):
		return nil, nil, fmt.Errorf("it is for file %q, expected %q", m.File, rowsName(s.Index))
	}
	if !hasCells(j) {
		if m.Cells != nil {
			return nil, nil, fmt.Errorf("it has cells, which markers of format %d have not", j.Format)
		}
		return m, nil, nil
	}
	if m.Cells == nil {
		return nil, nil, errors.New("it has no cells")
	}
	c, err := m.Cells.unpack(len(j.Models)*len(j.Metrics)*len(j.Elements), j.Count)
	return m, c, err
}

// decodeJSON is strict: one value, no unknown keys. A format newer than this program's has its own error.
func decodeJSON(b []byte, v any) error {
	var f struct {
		Format int `json:"format"`
	}
	if err := json.Unmarshal(b, &f); err != nil {
		return err
	}
	if f.Format > job.FormatNumber {
		return fmt.Errorf("%w: it has format %d, and this program reads up to %d; a newer nero opens it",
			ErrIncompatible, f.Format, job.FormatNumber)
	}
	if f.Format < 1 {
		return fmt.Errorf("format is %d, expected %d", f.Format, job.FormatNumber)
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows the JSON value")
	}
	return nil
}

// encodeJSON is the text of a JSON file of the store.
func encodeJSON(v any, indent string) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", indent)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return slices.Clip(b.Bytes()), nil
}

func rowsName(shard int) string   { return fmt.Sprintf("%05d.parquet", shard) }
func markerName(shard int) string { return fmt.Sprintf("%05d.json", shard) }
