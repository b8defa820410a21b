package watch

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"nero/measure/aggregate"
	"nero/run/trend"
)

// Memory is what is needed to go on with new inputs without the files of the releases so far.
type Memory struct {
	// digests of the files, and of the names of their objects
	Releases []string `json:"releases"`
	Seen     []string `json:"seen"`
	// evidence and share so far
	Stream   *trend.Stream           `json:"stream"`
	Interval *aggregate.MeanSequence `json:"interval"`
}

// MarkOf tells a watch.json from other JSON by its first keys.
const MarkOf = `"copies":`

// Bare takes out what is for this program alone, and the folder that was watched: commands name files from there.
func (r *Report) Bare() {
	for _, s := range r.Series {
		s.Memory = nil
		if f := s.FirstAlarm; f != nil && f.Command != "" {
			f.Command = ""
			if k := f.Place - 1; k > 0 && k < len(s.Points) {
				f.Command = compares(s.Points[k-1].File, s.Points[k].File)
			}
		}
	}
}

// ReadReport reads what the form json wrote. The name is for messages.
func ReadReport(name string, b []byte) (*Report, error) {
	r := new(Report)
	d := json.NewDecoder(bytes.NewReader(b))
	if err := d.Decode(r); err != nil {
		return nil, fmt.Errorf("%s: %w; want a watch.json that nero watch wrote", name, err)
	}
	var old struct { // which called logarithms e_values
		Series []*struct {
			LogE []Number `json:"e_values"`
		} `json:"series"`
	}
	if json.Unmarshal(b, &old) == nil {
		for i, s := range r.Series {
			if was := old.Series[i]; s != nil && was != nil && s.LogE == nil {
				s.LogE = was.LogE
			}
		}
	}
	if r.Format < 1 || r.Format > FormatNumber {
		return nil, fmt.Errorf("%s: its format is %d, and this program reads %d; want a watch.json that nero watch "+
			"wrote", name, r.Format, FormatNumber)
	}
	if _, err := ParseBy(r.By); err != nil { // an audit has a format, too
		return nil, fmt.Errorf("%s: no watch.json: its key by is %.40q; want one that nero watch wrote", name, r.By)
	}
	for _, s := range r.Series {
		m := (*Memory)(nil)
		if s != nil {
			m = s.Memory
		}
		if s == nil || s.Evidence == NewInputs && (m == nil || m.Stream == nil || m.Interval == nil ||
			len(m.Releases) != len(s.Points) || len(m.Stream.Evidence()) != s.told() ||
			len(s.LogE) != len(s.Points) || len(s.Points) == 0) {
			return nil, fmt.Errorf("%s: a series that cannot be gone on with; want a watch.json that nero watch wrote",
				name)
		}
	}
	return r, nil
}

// told is how many releases are evidence.
func (s *Series) told() int {
	n := 0
	for _, p := range s.Points {
		if p.State != Empty {
			n++
		}
	}
	return n
}

// goesOn refuses an earlier report that asked something else.
func (o *Options) goesOn() error {
	b := o.Before
	if b == nil {
		return nil
	}
	if was, is := float64(b.Rate), o.Rate; was != is {
		return fmt.Errorf("the earlier report was judged with a rate of %g, and this one with %g: say the same", was,
			is)
	}
	if was, is := fmt.Sprint(float64(b.Limit)), fmt.Sprint(o.Limit); was != is {
		return fmt.Errorf("the earlier report was judged with a limit of %s, and this one with %s: say the same", was,
			is)
	}
	return nil
}

// former is the series of new inputs in the earlier report; nil for none.
func (o *Options) former(key string) *Series {
	if o.Before == nil {
		return nil
	}
	for _, s := range o.Before.Series {
		if s.Key == key && s.Evidence == NewInputs {
			return s
		}
	}
	return nil
}

// goOn takes over what was found before, and leaves the releases that are new.
func (c *chain) goOn(s *Series, times map[string]int) {
	f := c.former
	m := *f.Memory
	m.Releases, m.Seen = slices.Clone(m.Releases), slices.Clone(m.Seen)
	m.Stream, m.Interval = m.Stream.Clone(), m.Interval.Clone() // the earlier report may be gone on from once more
	s.Memory, s.Points, s.LogE = &m, slices.Clone(f.Points), slices.Clone(f.LogE)
	s.FirstAlarm, s.Changed = f.FirstAlarm, f.Changed
	for _, p := range f.Points {
		label, _, _ := strings.Cut(p.Release, " #")
		times[label]++
	}
	c.rows = slices.DeleteFunc(slices.Clone(c.rows), func(x row) bool {
		return slices.Contains(f.Memory.Releases, x.of.Content)
	})
}
