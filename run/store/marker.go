package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

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
	Failed int       `json:"failed"` // rows with an error
	File   string    `json:"file"`
	Size   int64     `json:"size"`
	SHA256 string    `json:"sha256"`
	Cells  cells     `json:"cells"`
}

// cells are moments by column, because a column of numbers is a third of the size of as many objects. Cell (model m,
// metric k, element g) stands at (m*metrics + k)*elements + g.
type cells struct {
	N      []int    `json:"n"`
	NaN    []int    `json:"nan"`
	Mean   []number `json:"mean"`
	M2     []number `json:"m2"`
	Min    []number `json:"min"`
	Max    []number `json:"max"`
	ArgMin []int    `json:"argmin"`
	ArgMax []int    `json:"argmax"`
}

// number is a float64 that JSON can hold: one that is not finite is a string.
type number float64

// MarshalJSON writes a number, or "NaN", "+Inf", "-Inf".
func (n number) MarshalJSON() ([]byte, error) {
	switch x := float64(n); {
	case math.IsNaN(x):
		return []byte(`"NaN"`), nil
	case math.IsInf(x, 1):
		return []byte(`"+Inf"`), nil
	case math.IsInf(x, -1):
		return []byte(`"-Inf"`), nil
	default:
		return json.Marshal(x)
	}
}

// UnmarshalJSON reads what MarshalJSON writes.
func (n *number) UnmarshalJSON(b []byte) error {
	switch string(b) {
	case `"NaN"`:
		*n = number(math.NaN())
	case `"+Inf"`:
		*n = number(math.Inf(1))
	case `"-Inf"`:
		*n = number(math.Inf(-1))
	default:
		var x *float64
		if err := json.Unmarshal(b, &x); err != nil {
			return err
		}
		if x == nil {
			return errors.New("null is not a number")
		}
		*n = number(*x)
	}
	return nil
}

func packCells(ms []aggregate.Moments) cells {
	c := cells{N: []int{}, NaN: []int{}, Mean: []number{}, M2: []number{}, Min: []number{}, Max: []number{}, ArgMin: []int{}, ArgMax: []int{}}
	for _, m := range ms {
		c.N, c.NaN = append(c.N, m.N), append(c.NaN, m.NaN)
		c.Mean, c.M2 = append(c.Mean, number(m.Mean)), append(c.M2, number(m.M2))
		c.Min, c.Max = append(c.Min, number(m.Min)), append(c.Max, number(m.Max))
		c.ArgMin, c.ArgMax = append(c.ArgMin, m.ArgMin), append(c.ArgMax, m.ArgMax)
	}
	return c
}

// unpack returns the n cells; samples outside [0, samples) are refused, so that nothing indexes out of range later.
func (c cells) unpack(n, samples int) ([]aggregate.Moments, error) {
	for _, l := range []int{len(c.N), len(c.NaN), len(c.Mean), len(c.M2), len(c.Min), len(c.Max), len(c.ArgMin), len(c.ArgMax)} {
		if l != n {
			return nil, fmt.Errorf("cells has a column of %d entries, expected %d", l, n)
		}
	}
	out := make([]aggregate.Moments, n)
	for i := range out {
		m := aggregate.Moments{
			N: c.N[i], NaN: c.NaN[i], Mean: float64(c.Mean[i]), M2: float64(c.M2[i]),
			Min: float64(c.Min[i]), Max: float64(c.Max[i]), ArgMin: c.ArgMin[i], ArgMax: c.ArgMax[i],
		}
		if m.N < 0 || m.NaN < 0 || m.N > samples || m.NaN > samples || m.ArgMin < 0 || m.ArgMax < 0 || max(m.ArgMin, m.ArgMax) >= max(1, samples) {
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
		return fmt.Errorf("%w: it has format %d, and this program reads up to %d; a newer nero opens it", ErrIncompatible, f.Format, job.FormatNumber)
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
