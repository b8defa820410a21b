package app

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"

	"nero/audit"
	"nero/audit/baseline"
	"nero/audit/document"
	"nero/audit/render"
	"nero/run/job"
	"nero/run/workload"
)

// basis is what two audits must share so that their errors can be compared in pairs: the data, how inputs are fed and
// moved, and what the output should do. Where files lie is no part of it, and neither are models and engines, which are
// what people compare.
func basis(w *workload.Workload) []audit.About {
	s := w.Study
	words := func(x ...any) string { return strings.TrimSpace(fmt.Sprintln(x...)) }
	window := "none"
	if len(s.Group.Window) > 0 {
		window = words(s.Group.Window)
	}
	all := []audit.About{
		{Name: "data", Value: "sha256 " + w.Job.DataDigest()},
		{Name: "input", Value: words("scale", s.Input.Scale, "mean", s.Input.Mean, "std", s.Input.Std, "channels",
			or(s.Input.Channels, "as in the file"))},
		{Name: "output", Value: words(s.Output.Space, s.Output.Decode, "type", or(s.Output.Type.String(), "trivial"))},
		{Name: "output action", Value: s.Output.Action},
		{Name: "kernel", Value: s.Group.Resample + ", of the output " + s.Output.Kernel},
		{Name: "border", Value: s.Group.Border},
		{Name: "window", Value: window},
		{Name: "numbers", Value: fmt.Sprint(job.FormatSmall, ".", workload.Numbers)},
	}
	if s.Group.Mask != "" { // audits of whole pictures are those that were made before there were masks
		all = append(all, audit.About{Name: "mask", Value: s.Group.Mask})
	}
	return all
}

// or is a word, or another where there is none.
func or(word, otherwise string) string {
	if word == "" {
		return otherwise
	}
	return word
}

// PresetAllow is the relative increase of an error that is usually no regression yet.
const PresetAllow = baseline.DefaultAllow

// Baseline compares an audit with an earlier one; the zero Baseline compares with none.
type Baseline struct {
	// File is the JSON of the earlier audit, or the folder that it was written into.
	File string
	// Model is the name that the model has there; empty for the same.
	Model string
	// Allow is the relative increase of an error that is no regression yet, at least 0; [PresetAllow] is usual.
	Allow float64
}

// readAudit reads the JSON of an audit, from a file or from the folder that an audit wrote, to be compared.
func readAudit(name string) (*baseline.File, error) {
	d, err := ReadAudit(name)
	if err != nil {
		return nil, err
	}
	return baseline.Stored(d.Name, d.Document)
}

// Stored is an audit that was written into a file.
type Stored struct {
	// Name is that of the file.
	Name     string
	Document *document.Audit
}

// ReadAudit reads the JSON of an audit, from a file or from the folder that an audit wrote.
func ReadAudit(name string) (*Stored, error) {
	if Models(name) {
		return nil, fmt.Errorf("%s is a model, and an audit is wanted: write one with 'nero audit %s --format json -o "+
			"FOLDER'; two models are compared by their weights", name, name)
	}
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		name = filepath.Join(name, AuditFile("json"))
		if info, err = os.Stat(name); err != nil {
			return nil, fmt.Errorf("%w: the folder holds no JSON of an audit; write it with --format json", err)
		}
	}
	if !info.Mode().IsRegular() { // a pipe or a device may never end
		return nil, fmt.Errorf("%s is no file; want the JSON of an audit, as 'nero audit --format json' writes it",
			name)
	}
	if info.Size() > document.MaxSize {
		return nil, fmt.Errorf("%s: %d bytes; the JSON of an audit has at most %d", name, info.Size(), document.MaxSize)
	}
	b, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	d, err := document.Read(name, b)
	if err != nil {
		return nil, err
	}
	return &Stored{name, d}, nil
}

// Write writes the audit in one format.
func (s *Stored) Write(w io.Writer, format string) error { return writeAudit(w, s.Document, format) }

// WriteScreen writes the text for a terminal of so many columns, 0 for an unknown number.
func (s *Stored) WriteScreen(w io.Writer, columns int) error {
	return render.Screen(w, s.Document, columns)
}

// Save writes the audit into a folder, each format into a file of its own ([AuditFile]).
func (s *Stored) Save(out string, formats ...string) error {
	return saveAudit(s.Document, out, formats)
}

// someAllowance refuses an increase that cannot be allowed.
func someAllowance(allow float64) error {
	if !(allow >= 0) || math.IsInf(allow, 1) {
		return fmt.Errorf("--allow-regression is %g, want a relative increase of at least 0, such as 0.1", allow)
	}
	return nil
}

// former are the earlier audits of the models of a study; the zero former says that none were asked for.
type former struct {
	// the flag that asked for them
	flag string
	// by the names that they have now
	models map[string]*baseline.Model
}

// former reads the baseline and finds the models of the study in it. say writes an option as users do.
func (f Baseline) former(s *job.Study, say Speech) (former, error) {
	flag := say.Option(Option{Name: "baseline"})
	if f.File == "" {
		if f.Model != "" {
			return former{}, errors.New("--baseline-model: want --baseline FILE with it")
		}
		return former{}, nil
	}
	if err := someAllowance(f.Allow); err != nil {
		return former{}, err
	}
	b, err := readAudit(f.File)
	if err != nil {
		return former{}, fmt.Errorf("%s: %w", flag, err)
	}
	if f.Model != "" && len(s.Models) != 1 {
		return former{}, fmt.Errorf("--baseline-model is for one model, and %d are audited: choose one with --only",
			len(s.Models))
	}
	all := former{flag, map[string]*baseline.Model{}}
	for _, m := range s.Models {
		name := or(f.Model, m.Name)
		old, err := b.Model(name)
		if err != nil {
			return former{}, fmt.Errorf("%s: %w; name it with %s", flag, err,
				say.Option(Option{Name: "baseline-model"}))
		}
		if old.Error != "" {
			return former{}, fmt.Errorf("%s: %s: the audit of %s could not run: %s", flag, f.File, name, old.Error)
		}
		all.models[m.Name] = old
	}
	return all, nil
}

// differ says before an audit runs that its baseline is of another study.
func (f former) differ(s *audit.Subject, p audit.Policy) error {
	old, ok := f.models[s.Name]
	if !ok {
		return nil
	}
	d := baseline.Differ(old.Terms(), baseline.Terms{
		Group: s.Plan.Group.Name(), Seed: s.Seed, Threshold: p.Threshold, Confidence: p.Confidence, Average: p.Average,
		Basis: s.Basis,
	})
	if d == nil {
		return nil
	}
	return fmt.Errorf("%s: model %s: %w with the audit before: %s", f.flag, s.Name, baseline.ErrNotComparable,
		strings.Join(d, "; "))
}

// compare adds to a report what became of the model since the baseline.
func (f former) compare(r *audit.Report, allow float64) error {
	old, ok := f.models[r.Model]
	if !ok || r.Error != "" {
		return nil
	}
	now, err := baseline.Of("this audit", r)
	if err != nil {
		return err
	}
	c, err := baseline.Compare(old, now.Models[0], baseline.Options{Allow: allow})
	if err != nil {
		return fmt.Errorf("%s: %w", f.flag, err)
	}
	r.Append(c.Result())
	return nil
}
