package app

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"

	"nero/present/words"
	"nero/run/job"
	"nero/watch"
)

// WatchOptions say how audits and runs of several releases are judged. What a study says under the key watch takes the
// place of what is left out.
type WatchOptions struct {
	// Workers is how many files are read at once, at least 1. No number depends on it.
	Workers int
	// Study is a study file whose key watch is read; empty for none.
	Study string
	// By is how releases are ordered: time, version or epoch; empty for time.
	By string
	// Metrics are those that are watched: largest and mean of audits, those of runs; empty for all.
	Metrics []string
	// Reference is what releases are compared with: first, best, or a release by its label, model or file; empty for
	// first.
	Reference string
	// Alarm is the probability of any false alarm; 0 for 0.05.
	Alarm float64
	// Allow is the relative change for the worse that is none yet, at least 0; [PresetAllow] is usual.
	Allow float64
	// Rate is the share of new inputs that may fail; 0 for 0.05. Limit is what an input may have and not fail; 0 for
	// the
	// threshold of each audit.
	Rate, Limit float64
	// Fresh says that inputs of other data are new, even if they have the names of earlier ones.
	Fresh bool
	// After is a watch.json that new inputs go on from, without the files that it was made of; empty for none.
	After string
	// Out is a folder for the report in every form; empty for none.
	Out string
}

// WatchResult is what was found of releases.
type WatchResult struct {
	Report *watch.Report
	// State of the folder; it is another one whenever a file below it changes.
	State string
}

// WatchFormats are the forms of the report, the preset first.
func WatchFormats() []string {
	var names []string
	for _, f := range watch.Forms() {
		names = append(names, f.Name)
	}
	return names
}

// watchFiles are what the forms are called in a folder.
func watchFiles() []string {
	var names []string
	for _, f := range watch.Forms() {
		names = append(names, f.File)
	}
	return names
}

// WatchHelp are the orders of releases, a line for each.
func WatchHelp() string {
	var out strings.Builder
	for _, b := range watch.Orders() {
		fmt.Fprintf(&out, "  %-8s %s\n", b.Name, b.Doc)
	}
	return out.String()
}

// WatchSchema is the schema of watch.json.
func (a *App) WatchSchema() ([]byte, error) { return watch.Schema() }

// Write writes the report in one form.
func (r *WatchResult) Write(w io.Writer, format string) error {
	f, err := watch.FindForm(cmp.Or(format, watch.Forms()[0].Name))
	if err != nil {
		return err
	}
	return f.Write(w, r.Report)
}

// Good reports whether no series is in alarm.
func (r *WatchResult) Good() bool { return r.Report.Good() }

// CheckWatchFormat says whether there is such a form of the report.
func (a *App) CheckWatchFormat(format string) error {
	if _, err := watch.FindForm(format); err != nil {
		return fmt.Errorf("%s: %w", a.option("format"), err)
	}
	return nil
}

// check holds options against what there is, before anything is read.
func (o *WatchOptions) check(a *App, folder string) (*watch.Options, error) {
	if err := a.someWorkers(o.Workers); err != nil {
		return nil, err
	}
	said := job.Watch{}
	if o.Study != "" {
		s, err := a.OpenStudy(o.Study)
		if err != nil {
			return nil, err
		}
		said = s.Watch
	}
	by, err := watch.ParseBy(cmp.Or(o.By, said.By, watch.Orders()[0].Name))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", a.option("by"), err)
	}
	const usual = 0.05
	w := &watch.Options{
		Folder: filepath.ToSlash(filepath.Clean(folder)), By: by, Workers: o.Workers, Metrics: o.Metrics,
		Reference: cmp.Or(o.Reference, "first"), Allow: o.Allow, Fresh: o.Fresh,
		Alarm: cmp.Or(o.Alarm, said.Alarm, usual), Rate: cmp.Or(o.Rate, said.Rate, usual),
		Limit: cmp.Or(o.Limit, said.Limit),
	}
	for _, x := range []struct {
		name  string
		value float64
	}{{"alarm", w.Alarm}, {"rate", w.Rate}} {
		if !(x.value > 0 && x.value < 1) {
			return nil, fmt.Errorf("%s is %g, want a probability above 0 and below 1, such as %g", a.option(x.name),
				x.value, usual)
		}
	}
	if err := someAllowance(o.Allow); err != nil {
		return nil, err
	}
	switch {
	case w.Limit == 0:
		w.Limit = math.NaN()
	case !(w.Limit > 0) || math.IsInf(w.Limit, 1):
		return nil, fmt.Errorf("%s is %g, want an error above 0, such as 0.001", a.option("limit"), w.Limit)
	}
	if o.After != "" {
		b, err := os.ReadFile(o.After)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", a.option("after"), err)
		}
		if w.Before, err = watch.ReadReport(o.After, b); err != nil {
			return nil, fmt.Errorf("%s: %w", a.option("after"), err)
		}
	}
	if o.Out != "" {
		if err := writable(o.Out); err != nil {
			return nil, err
		}
		if err := ownFolder(o.Out, anyOf(watchFiles()...)); err != nil {
			return nil, err
		}
	}
	switch info, err := os.Stat(folder); {
	case err != nil:
		return nil, err
	case !info.IsDir():
		return nil, fmt.Errorf("%s is a file, want the folder that the audits or runs of all releases are in", folder)
	}
	return w, nil
}

// reader reads a folder.
func (a *App) reader(folder string, workers int) *watch.Reader {
	return &watch.Reader{Folder: folder, Workers: workers, Metrics: a.Parts.metrics()}
}

// ErrNoReleases marks a folder without an audit or run that can be read.
var ErrNoReleases = errors.New("no audit and no run")

// WatchReleases reads the audits and runs below a folder and judges whether they become worse. What cannot be read is
// in
// the report; the error is for what ends all of it.
func (a *App) WatchReleases(ctx context.Context, folder string, o WatchOptions) (*WatchResult, error) {
	w, err := o.check(a, folder)
	if err != nil {
		return nil, err
	}
	step := a.begin(TaskWatch, "files")
	defer step.end()
	reader := a.reader(folder, o.Workers)
	reader.Began, reader.Step = step.size, step.step
	found, err := reader.Read(ctx)
	if err != nil {
		return nil, err
	}
	r, err := watch.Judge(found.Releases, *w)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", folder, err)
	}
	r.Audits, r.Runs = found.Audits, found.Runs
	r.Skipped = append(r.Skipped, found.Skipped...)
	if len(r.Series) == 0 {
		why := ""
		if n := len(r.Skipped); n > 0 {
			why = fmt.Sprintf("; %s left out, first %s: %s", words.Plural(n, "file was", "files were"),
				r.Skipped[0].File,
				r.Skipped[0].Why)
		}
		return nil, fmt.Errorf("%s: %w that could be watched%s; write audits into folders below it with nero audit "+
			"--format json -o %s", folder, ErrNoReleases, why, filepath.Join(folder, "NAME"))
	}
	out := &WatchResult{Report: r, State: found.State}
	if o.Out == "" {
		return out, nil
	}
	return out, out.save(o.Out)
}

func (r *WatchResult) save(dir string) error {
	return fillFolder(dir, anyOf(watchFiles()...), nil, func() error {
		for _, f := range watch.Forms() {
			var b bytes.Buffer
			if err := f.Write(&b, r.Report); err != nil {
				return err
			}
			if err := writeFile(filepath.Join(dir, f.File), b.Bytes()); err != nil {
				return err
			}
		}
		return nil
	})
}

// FolderState is the [WatchResult.State] of a folder, without reading the files.
func (a *App) FolderState(folder string) (string, error) { return a.reader(folder, 1).State() }
