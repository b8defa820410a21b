package app

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"nero/audit/baseline"
)

// CompareOptions say what of two audits or runs is compared.
type CompareOptions struct {
	// Before and After name a model in the first and in the second; one that is empty is the other. Without names all
	// models that are in both are compared, or the only two.
	Before, After string
	// Allow is the relative increase of an error that is no regression yet, at least 0; [PresetAllow] is usual.
	Allow float64
}

// Comparison is what became of models between two audits, or between two runs.
type Comparison struct {
	audits []*baseline.Comparison
	// of two runs, else nil
	runs []runChange
}

// Compare holds two audits of one study against each other: the files or folders that [AuditResult.Save] wrote with
// the format json. Two folders of runs are compared by their metrics. The error wraps [baseline.ErrNotComparable] where
// the two are of different studies.
func (a *App) Compare(before, after string, o CompareOptions) (*Comparison, error) {
	if isRun(before) && isRun(after) {
		runs, err := compareRuns([2]string{before, after}, o, a.Parts.metrics())
		if err != nil {
			return nil, err
		}
		return &Comparison{runs: runs}, nil
	}
	x, err := readAudit(before)
	if err != nil {
		return nil, err
	}
	y, err := readAudit(after)
	if err != nil {
		return nil, err
	}
	pairs, notes, err := pairUp(x, y, o)
	if err != nil {
		return nil, err
	}
	a.note(notes...)
	all := &Comparison{}
	for _, p := range pairs {
		c, err := baseline.Compare(p[0], p[1], baseline.Options{Allow: o.Allow})
		if err != nil {
			return nil, err
		}
		all.audits = append(all.audits, c)
	}
	return all, nil
}

// Worse reports whether a model is worse by more than is allowed.
func (c *Comparison) Worse() bool {
	return slices.ContainsFunc(c.audits, (*baseline.Comparison).Regressed) ||
		slices.ContainsFunc(c.runs, func(r runChange) bool { return r.Beyond })
}

// comparisonFormats are the writers of comparisons.
var comparisonFormats = map[string]struct {
	audits func(io.Writer, ...*baseline.Comparison) error
	runs   func(io.Writer, []runChange) error
}{
	"text":     {baseline.Text, runsText},
	"markdown": {baseline.Markdown, runsMarkdown},
	"json":     {baseline.JSON, func(w io.Writer, cs []runChange) error { return WriteJSON(w, cs) }},
}

// CheckComparisonFormat says whether there is such a format of comparisons.
func CheckComparisonFormat(format string) error {
	if _, ok := comparisonFormats[format]; !ok {
		return fmt.Errorf("--format %q: want %s", format,
			strings.Join(slices.Sorted(maps.Keys(comparisonFormats)), ", "))
	}
	return nil
}

// Write writes the comparison as text, markdown or json.
func (c *Comparison) Write(w io.Writer, format string) error {
	if err := CheckComparisonFormat(format); err != nil {
		return err
	}
	f := comparisonFormats[format]
	if c.runs != nil {
		return f.runs(w, c.runs)
	}
	return f.audits(w, c.audits...)
}

// pairUp says which models of two audits are compared: those that are named, or all of the same name, or the only ones.
func pairUp(x, y *baseline.File, o CompareOptions) (pairs [][2]*baseline.Model, notes []string, err error) {
	if o.Before != "" || o.After != "" {
		a, err := x.Model(or(o.Before, o.After))
		if err != nil {
			return nil, nil, err
		}
		b, err := y.Model(or(o.After, o.Before))
		if err != nil {
			return nil, nil, err
		}
		return [][2]*baseline.Model{{a, b}}, nil, nil
	}
	names := func(f *baseline.File) (all []string) {
		for _, m := range f.Models {
			all = append(all, m.Name)
		}
		return all
	}
	for _, m := range x.Models {
		other, err := y.Model(m.Name)
		if err != nil {
			notes = append(notes, fmt.Sprintf("model %s is in %s alone", m.Name, x.Name))
			continue
		}
		pairs = append(pairs, [2]*baseline.Model{m, other})
	}
	for _, n := range names(y) {
		if !slices.Contains(names(x), n) {
			notes = append(notes, fmt.Sprintf("model %s is in %s alone", n, y.Name))
		}
	}
	if len(pairs) == 0 && len(x.Models) == 1 && len(y.Models) == 1 { // a fix often has another name
		return [][2]*baseline.Model{{x.Models[0], y.Models[0]}}, nil, nil
	}
	if len(pairs) == 0 {
		return nil, nil, fmt.Errorf("no model is in both: %s has %s, %s has %s; name two with --before and --after",
			x.Name, strings.Join(names(x), ", "), y.Name, strings.Join(names(y), ", "))
	}
	return pairs, notes, nil
}
