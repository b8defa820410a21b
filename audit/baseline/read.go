// Package baseline compares two audits of the same study, one before and one after a change: each input with itself,
// each finding with its former self. It reads the JSON that package audit writes.
//
// Two audits are comparable if they visited the same elements with the same inputs, moved and fed in the same way,
// under the same limits. Whatever differs is named; nothing is compared that merely looks alike.
package baseline

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"nero/audit"
	"nero/audit/document"
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

// Read reads what [document.Write] wrote. The name is for messages.
func Read(name string, b []byte) (*File, error) {
	d, err := document.Read(name, b)
	if err != nil {
		return nil, err
	}
	return Stored(name, d)
}

// Of is reports as they would be read from a file.
func Of(name string, reports ...*audit.Report) (*File, error) {
	return Stored(name, audit.Document(reports...))
}

// Stored is an audit that was read from the named file.
func Stored(name string, d *document.Audit) (*File, error) {
	if len(d.Models) == 0 {
		return nil, fmt.Errorf("%s: no model; want a file that 'nero audit --format json' wrote", name)
	}
	f := &File{Name: name}
	for i := range d.Models {
		m := &d.Models[i]
		if slices.ContainsFunc(f.Models, func(o *Model) bool { return o.Name == m.Model }) {
			return nil, fmt.Errorf("%s: two models are named %q; want a file that 'nero audit --format json' wrote",
				name, m.Model)
		}
		one := &Model{
			Name: m.Model, Verdict: m.Verdict, Error: m.Error, Group: m.Claim.Group, Planned: m.Claim.Elements,
			Inputs: m.Claim.Inputs, Output: m.Claim.Output, Seed: m.Claim.Seed, Threshold: known(m.Policy.Threshold),
			Confidence: known(m.Policy.Confidence), Average: m.Policy.Average, About: m.About, Basis: m.Basis,
			Tested: map[string]bool{},
		}
		f.Models = append(f.Models, one)
		for k := range m.Checks {
			one.add(&m.Checks[k])
		}
	}
	return f, nil
}

func (m *Model) add(c *document.Check) {
	family := cmp.Or(c.Family, c.Check)
	m.Tested[family] = m.Tested[family] || c.Status == document.Tested
	m.Measures = append(m.Measures, evidence(c.Measures)...)
	for i := range c.Sets {
		s := &c.Sets[i]
		set := &Set{
			Check: c.Check, Name: s.Name, Unit: s.Unit, Cause: s.Cause, Verdict: s.Verdict, Rounding: known(s.Rounding),
			Max: known(s.Relative.Max), NonFinite: s.NonFinite,
		}
		for _, p := range s.Profile {
			set.Elements = append(set.Elements, values(p.Coordinates))
		}
		if k := s.PerInput; k != nil {
			set.IDs, set.Means, set.Largest = k.Samples, values(k.Mean), values(k.Largest)
		}
		m.Sets = append(m.Sets, set)
	}
	for _, x := range c.Findings {
		m.Findings = append(m.Findings, Finding{
			Check: c.Check, Family: c.Family, ID: x.ID, Severity: x.Severity,
			Finding: audit.Finding{
				Category: audit.CategoryNamed(x.Category), Set: x.Set, Message: x.Message, Location: x.Location,
				Worst: audit.Nowhere, Evidence: evidence(x.Evidence),
			},
		})
	}
}

func evidence(es []document.Evidence) []audit.Evidence {
	opt := func(n *document.Number) float64 {
		if n == nil {
			return math.NaN()
		}
		return known(*n)
	}
	var out []audit.Evidence
	for _, e := range es {
		out = append(out, audit.Evidence{
			Name: e.Name, Value: known(e.Value), Lo: opt(e.Lo), Hi: opt(e.Hi), Limit: opt(e.Limit), Unit: e.Unit,
		})
	}
	return out
}

// known is a number, NaN where it is not finite: nothing is compared with infinity.
func known(n document.Number) float64 {
	if x := float64(n); !math.IsInf(x, 0) {
		return x
	}
	return math.NaN()
}

func values(ns []document.Number) []float64 {
	x := make([]float64, len(ns))
	for i, n := range ns {
		x[i] = known(n)
	}
	return x
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
