package slice

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"strings"
	"testing"
)

type rawColumns struct {
	N         int                    `json:"n"`
	Models    []string               `json:"models"`
	Classes   []string               `json:"classes"`
	Label     []*int32               `json:"label"`
	ID        []string               `json:"id"`
	Tags      [][]string             `json:"tags"`
	Predicted [][]*int32             `json:"predicted"`
	Stats     map[Field][][]*float64 `json:"stats"`
}

func ints(in []*int32) []int32 {
	if in == nil {
		return nil
	}
	out := make([]int32, len(in))
	for i, v := range in {
		if out[i] = -1; v != nil {
			out[i] = *v
		}
	}
	return out
}

// columns of the file: null is what is missing, statistics are float32.
func (r *rawColumns) columns() *Columns {
	return &Columns{
		N: r.N, Models: r.Models, Classes: r.Classes, Label: ints(r.Label), ID: r.ID, Tags: r.Tags,
		Predicted: func(m int) ([]int32, error) {
			if m >= len(r.Predicted) {
				return nil, nil
			}
			return ints(r.Predicted[m]), nil
		},
		Stats: func(f Field, m int) ([]float32, error) {
			if m >= len(r.Stats[f]) {
				return nil, nil
			}
			out := make([]float32, 0, r.N)
			for _, v := range r.Stats[f][m] {
				if v == nil {
					out = append(out, float32(math.NaN()))
				} else {
					out = append(out, float32(*v))
				}
			}
			return out, nil
		},
	}
}

type ruleCases struct {
	Columns map[string]*rawColumns `json:"columns"`
	Cases   []struct {
		Rule    string `json:"rule"`
		Columns string `json:"columns"`
		Mask    string `json:"mask"`
		Error   *struct {
			Code Code `json:"code"`
			At   int  `json:"at"`
		} `json:"error"`
	} `json:"cases"`
}

func readCases(tb testing.TB) *ruleCases {
	tb.Helper()
	b, err := os.ReadFile("../../serve/web/testdata/rules.json")
	if err != nil {
		tb.Fatal(err)
	}
	d := json.NewDecoder(strings.NewReader(string(b)))
	d.DisallowUnknownFields()
	var all ruleCases
	if err := d.Decode(&all); err != nil {
		tb.Fatal(err)
	}
	return &all
}

func mask(b Bits) string {
	var s strings.Builder
	for i := range b.Len() {
		if b.Has(i) {
			s.WriteByte('1')
		} else {
			s.WriteByte('0')
		}
	}
	return s.String()
}

// The cases that the page is held to as well.
func TestSharedCases(t *testing.T) {
	all := readCases(t)
	masks, mistakes := 0, 0
	for _, c := range all.Cases {
		name := c.Columns
		if name == "" {
			name = "two"
		}
		got, err := choose(c.Rule, all.Columns[name].columns())
		if c.Error == nil {
			masks++
			if err != nil || mask(got) != c.Mask {
				t.Errorf("%q: %s, %v; want %s", c.Rule, mask(got), err, c.Mask)
			}
			continue
		}
		mistakes++
		var e *RuleError
		if !errors.As(err, &e) || e.Code != c.Error.Code || e.At != c.Error.At || len(e.Text) < 10 {
			t.Errorf("%q: %+v, %v; want %s at %d", c.Rule, e, err, c.Error.Code, c.Error.At)
		}
	}
	if masks < 60 || mistakes < 50 {
		t.Errorf("only %d masks and %d mistakes", masks, mistakes)
	}
}

func choose(rule string, c *Columns) (Bits, error) {
	r, err := Parse(rule)
	if err != nil {
		return Bits{}, err
	}
	return r.Select(c)
}

func TestLimits(t *testing.T) {
	two := readCases(t).Columns["two"].columns()
	for _, c := range []struct {
		name, rule string
		code       Code
		at         int
	}{
		{"nots", strings.Repeat("not ", MaxDepth) + "label = 0", "", 0},
		{"a not too many", strings.Repeat("not ", MaxDepth+1) + "label = 0", CodeDeep, 4 * MaxDepth},
		{"parentheses", strings.Repeat("(", MaxDepth) + "label = 0" + strings.Repeat(")", MaxDepth), "", 0},
		{
			"a parenthesis too many", strings.Repeat("(", MaxDepth+1) + "label = 0" + strings.Repeat(")", MaxDepth+1),
			CodeDeep, MaxDepth,
		},
		{"characters", "id ~ \"" + strings.Repeat("é", MaxLength-7) + "\"", "", 0},
		{"a character too many", "id ~ \"" + strings.Repeat("é", MaxLength-6) + "\"", CodeLong, MaxLength},
		{"a long chain is not deep", strings.TrimSuffix(strings.Repeat("label = 0 or ", 200), " or "), "", 0},
	} {
		_, err := choose(c.rule, two)
		var e *RuleError
		switch {
		case c.code == "" && err != nil:
			t.Errorf("%s: %v", c.name, err)
		case c.code != "" && (!errors.As(err, &e) || e.Code != c.code || e.At != c.at):
			t.Errorf("%s: %v, want %s at %d", c.name, err, c.code, c.at)
		}
	}
}

// Whatever is read has a place within the rule when it is refused, and the rule and its negation divide the samples
// otherwise.
func FuzzRule(f *testing.F) {
	all := readCases(f)
	for _, c := range all.Cases {
		f.Add(c.Rule)
	}
	two := all.Columns["two"].columns()
	f.Fuzz(func(t *testing.T, text string) {
		a, err := choose(text, two)
		var e *RuleError
		if err != nil {
			if !errors.As(err, &e) || e.At < 0 || e.At > min(len([]rune(text)), MaxLength) {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		b, err := choose("not ("+text+")", two)
		if errors.As(err, &e) && (e.Code == CodeDeep || e.Code == CodeLong) {
			return
		}
		if err != nil || mask(a) != mask(b.Not()) {
			t.Fatalf("%q chooses %s, and not of it %s: %v", text, mask(a), mask(b), err)
		}
	})
}
