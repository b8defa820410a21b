// Package baseline compares two audits of the same study, one before and one after a change: each input with itself,
// each finding with its former self. It reads the JSON that package audit writes.
//
// Two audits are comparable if they visited the same elements with the same inputs, moved and fed in the same way,
// under the same limits. Whatever differs is named; nothing is compared that merely looks alike.
package baseline

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"nero/audit"
)

// File is a stored audit.
type File struct {
	// for messages
	Name   string
	Models []*Model
}

// Model is the audit of one model, as far as it is needed to compare it with another.
type Model struct {
	Name    string
	Verdict audit.Verdict
	// why the audit could not run; nothing else is set then
	Error   string
	Group   string
	Planned int
	Inputs  int
	// form of the output
	Output string
	Seed   uint64
	// Threshold, Confidence and Average are those of the policy.
	Threshold, Confidence float64
	Average               int
	About, Basis          []audit.About
	Sets                  []*Set
	Findings              []Finding
	// checks by name, those of a family by its name, and whether one was tested
	Tested   map[string]bool
	Measures []audit.Evidence
}

// Set is a judged set of elements.
type Set struct {
	Check, Name, Unit, Cause string
	Verdict                  audit.Verdict
	// rounding floor and largest error, relative
	Rounding, Max float64
	NonFinite     int
	Elements      [][]float64
	IDs           []string
	// per input; NaN where no error is finite
	Means, Largest []float64
}

// Finding is one finding with its severity.
type Finding struct {
	Check, ID string
	// of the check; "" where it stands alone
	Family   string
	Severity audit.Severity
	audit.Finding
}

// question is what findings are matched by: the family of the check, or its name. What is a family now was one check in
// older audits.
func (f Finding) question() string { return cmp.Or(f.Family, f.Check) }

type value struct{ x float64 }

// UnmarshalJSON reads a number, or NaN for null.
func (v *value) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		v.x = math.NaN()
		return nil
	}
	return json.Unmarshal(b, &v.x)
}

func values(vs []value) []float64 {
	x := make([]float64, len(vs))
	for i, v := range vs {
		x[i] = v.x
	}
	return x
}

type evidence struct {
	Name  string `json:"name"`
	Value value  `json:"value"`
	Lo    *value `json:"lo"`
	Hi    *value `json:"hi"`
	Limit *value `json:"limit"`
	Unit  string `json:"unit"`
}

func (e evidence) of() audit.Evidence {
	opt := func(v *value) float64 {
		if v == nil {
			return math.NaN()
		}
		return v.x
	}
	return audit.Evidence{
		Name: e.Name, Value: e.Value.x, Lo: opt(e.Lo), Hi: opt(e.Hi), Limit: opt(e.Limit),
		Unit: e.Unit,
	}
}

type document struct {
	Format int `json:"format"`
	Models []struct {
		Model   string `json:"model"`
		Verdict string `json:"verdict"`
		Error   string `json:"error"`
		Claim   struct {
			Group    string `json:"group"`
			Elements int    `json:"elements"`
			Inputs   int    `json:"inputs"`
			Output   string `json:"output"`
			Seed     uint64 `json:"seed"`
		} `json:"claim"`
		Policy struct {
			Threshold  value `json:"threshold"`
			Confidence value `json:"confidence"`
			Average    int   `json:"average"`
		} `json:"policy"`
		Checks []struct {
			Check    string     `json:"check"`
			Family   string     `json:"family"`
			Status   string     `json:"status"`
			Measures []evidence `json:"measures"`
			Sets     []struct {
				Name      string `json:"name"`
				Verdict   string `json:"verdict"`
				Cause     string `json:"cause"`
				Unit      string `json:"unit"`
				NonFinite int    `json:"non_finite"`
				Rounding  value  `json:"rounding_floor"`
				Relative  struct {
					Max value `json:"max"`
				} `json:"relative"`
				Profile []struct {
					Coordinates []value `json:"coordinates"`
				} `json:"profile"`
				PerInput *struct {
					Samples []string `json:"samples"`
					Mean    []value  `json:"mean"`
					Largest []value  `json:"largest"`
				} `json:"per_input"`
			} `json:"sets"`
			Findings []struct {
				Category string     `json:"category"`
				Set      string     `json:"set"`
				Message  string     `json:"message"`
				Location string     `json:"location"`
				Evidence []evidence `json:"evidence"`
				ID       string     `json:"id"`
				Severity string     `json:"severity"`
			} `json:"findings"`
		} `json:"checks"`
		About []audit.About `json:"about"`
		Basis []audit.About `json:"basis"`
	} `json:"models"`
}

// Read reads what [audit.JSON] wrote. The name is for messages.
func Read(name string, b []byte) (*File, error) {
	fail := func(format string, args ...any) error {
		return fmt.Errorf("%s: %s; want a file that 'nero audit --format json' wrote", name,
			fmt.Sprintf(format, args...))
	}
	if len(bytes.TrimSpace(b)) == 0 {
		return nil, fail("the file is empty")
	}
	var d document
	if err := json.Unmarshal(b, &d); err != nil {
		return nil, fail("not the JSON of an audit: %v", err)
	}
	switch {
	case d.Format == 0 && d.Models == nil:
		return nil, fail("neither a format nor models")
	case d.Format != audit.Format:
		return nil, fmt.Errorf("%s: its format is %d, and this program reads %d: write it again with this program",
			name, d.Format, audit.Format)
	case len(d.Models) == 0:
		return nil, fail("no model")
	}
	f := &File{Name: name}
	for _, m := range d.Models {
		if slices.ContainsFunc(f.Models, func(o *Model) bool { return o.Name == m.Model }) {
			return nil, fail("two models are named %q", m.Model)
		}
		one := &Model{
			Name: m.Model, Verdict: audit.Verdict(m.Verdict), Error: m.Error, Group: m.Claim.Group,
			Planned: m.Claim.Elements, Inputs: m.Claim.Inputs,
			Output: m.Claim.Output, Seed: m.Claim.Seed, Threshold: m.Policy.Threshold.x,
			Confidence: m.Policy.Confidence.x, Average: m.Policy.Average,
			About: m.About, Basis: m.Basis, Tested: map[string]bool{},
		}
		f.Models = append(f.Models, one)
		for _, c := range m.Checks {
			family := cmp.Or(c.Family, c.Check)
			one.Tested[family] = one.Tested[family] || c.Status == string(audit.Tested)
			for _, e := range c.Measures {
				one.Measures = append(one.Measures, e.of())
			}
			for _, s := range c.Sets {
				set := &Set{
					Check: c.Check, Name: s.Name, Unit: s.Unit, Cause: s.Cause, Verdict: audit.Verdict(s.Verdict),
					Rounding: s.Rounding.x, Max: s.Relative.Max.x,
					NonFinite: s.NonFinite,
				}
				for _, p := range s.Profile {
					set.Elements = append(set.Elements, values(p.Coordinates))
				}
				if k := s.PerInput; k != nil {
					if len(k.Mean) != len(k.Samples) || len(k.Largest) != len(k.Samples) {
						return nil, fail("model %s, %s: %d samples with %d mean and %d largest errors", m.Model, s.Name,
							len(k.Samples), len(k.Mean), len(k.Largest))
					}
					set.IDs, set.Means, set.Largest = k.Samples, values(k.Mean), values(k.Largest)
				}
				if slices.ContainsFunc(slices.Concat(set.Means, set.Largest), func(x float64) bool { return x < 0 }) {
					return nil, fail("model %s, %s: an error below 0", m.Model, s.Name)
				}
				one.Sets = append(one.Sets, set)
			}
			for _, x := range c.Findings {
				fi := Finding{Check: c.Check, Family: c.Family, ID: x.ID, Severity: audit.Severity(x.Severity)}
				fi.Category, fi.Set, fi.Message, fi.Location, fi.Worst = audit.CategoryNamed(x.Category), x.Set,
					x.Message,
					x.Location, audit.Nowhere
				for _, e := range x.Evidence {
					fi.Evidence = append(fi.Evidence, e.of())
				}
				one.Findings = append(one.Findings, fi)
			}
		}
	}
	return f, nil
}

// Of is reports as they would be read from a file.
func Of(name string, reports ...*audit.Report) (*File, error) {
	var b bytes.Buffer
	if err := audit.JSON(&b, reports...); err != nil {
		return nil, err
	}
	return Read(name, b.Bytes())
}

// Model finds a model by its name. The error names those that there are.
func (f *File) Model(name string) (*Model, error) {
	var names []string
	for _, m := range f.Models {
		if m.Name == name {
			return m, nil
		}
		names = append(names, m.Name)
	}
	return nil, fmt.Errorf("%s: no model is named %q; it has %s", f.Name, name, strings.Join(names, ", "))
}

// Set finds a set by its name; nil if it was not judged.
func (m *Model) Set(name string) *Set {
	for _, s := range m.Sets {
		if s.Name == name {
			return s
		}
	}
	return nil
}
