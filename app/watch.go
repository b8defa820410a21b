package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"

	"nero/present/sheet"
	"nero/present/words"
	"nero/run/job"
	"nero/watch"
)

// WatchOptions say how audits and runs of several releases are judged. What a study says under the key watch takes the
// place of what is left out.
type WatchOptions struct {
	// Engine runs models that are audited.
	Engine Engine
	// Workers is how many files are read at once, at least 1. No number depends on it.
	Workers int
	// Study is a study file whose key watch is read; empty for none. Where the folder holds models and no audits of
	// others, the models are audited by it.
	Study string
	// By is how releases are ordered: time, version or epoch; empty for time, and for epoch where models are audited
	// whose names have one.
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
	// the threshold of each audit.
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
	// State of the folder when it was read; it is another one whenever a file below it changes.
	State string
	// Waiting is how many models were left for the next look, since they may be written just now.
	Waiting int
}

// WatchFormats are the forms of the report, the preset first.
func WatchFormats() []string { return sheet.Names(watch.Forms()) }

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
	return writeForm(w, watch.Forms(), format, r.Report)
}

// Alarmed reports whether a series is in alarm.
func (r *WatchResult) Alarmed() bool { return r.Report.Alarmed() }

// Good reports whether no series is in alarm, and none ends with a release whose error says nothing or is not finite.
func (r *WatchResult) Good() bool { return r.Report.Good() }

// CheckWatchFormat says whether there is such a form of the report.
func (a *App) CheckWatchFormat(format string) error {
	if _, err := sheet.Find(watch.Forms(), format); err != nil {
		return fmt.Errorf("%s: %w", a.option("format"), err)
	}
	return nil
}

// watching is a folder that is looked at, once or again and again.
type watching struct {
	app    *App
	folder string
	o      WatchOptions
	judge  watch.Options
	// nobody said how releases are ordered
	anyOrder bool
	// models that are audited; nil without a study
	models *checkpoints
	// follows says that it is looked at again
	follows bool
}

// usualWatch is how likely a false alarm is, and the share of new inputs that may fail, where nobody says.
const usualWatch = 0.05

// watching holds options against what there is, before anything is read.
func (a *App) watching(folder string, o WatchOptions) (*watching, error) {
	if err := a.someWorkers(o.Workers); err != nil {
		return nil, err
	}
	out := &watching{app: a, folder: folder, o: o}
	said := job.Watch{}
	if o.Study != "" {
		s, err := a.OpenStudy(o.Study)
		if err != nil {
			return nil, err
		}
		said = s.Watch
		if out.models, err = a.lighten(s, folder, o); err != nil {
			return nil, err
		}
	}
	out.anyOrder = o.By == "" && said.By == ""
	by, err := watch.ParseBy(cmp.Or(o.By, said.By, watch.Orders()[0].Name))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", a.option("by"), err)
	}
	w := &out.judge
	*w = watch.Options{
		Folder: filepath.ToSlash(filepath.Clean(folder)), By: by, Workers: o.Workers, Metrics: o.Metrics,
		Reference: cmp.Or(o.Reference, "first"), Allow: o.Allow, Fresh: o.Fresh,
		Alarm: cmp.Or(o.Alarm, said.Alarm, usualWatch), Rate: cmp.Or(o.Rate, said.Rate, usualWatch),
		Limit: cmp.Or(o.Limit, said.Limit),
	}
	if !(w.Alarm >= job.LeastAlarm && w.Alarm < 1) {
		return nil, fmt.Errorf("%s is %g, want a probability of at least %g and below 1, such as %g",
			a.option("alarm"), w.Alarm, job.LeastAlarm, usualWatch)
	}
	if !(w.Rate > 0 && w.Rate < 1) {
		return nil, fmt.Errorf("%s is %g, want a probability above 0 and below 1, such as %g", a.option("rate"),
			w.Rate, usualWatch)
	}
	if err := someAllowance(o.Allow); err != nil {
		return nil, err
	}
	switch {
	case w.Limit == 0:
		w.Limit = math.NaN()
	case !(w.Limit > 0) || math.IsInf(w.Limit, 1):
		return nil, fmt.Errorf("%s is %g, want an error above 0, such as 0.001", a.ownOption("limit"), w.Limit)
	}
	if o.After != "" {
		b, err := os.ReadFile(o.After)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", a.ownOption("after"), err)
		}
		if w.Before, err = watch.ReadReport(o.After, b); err != nil {
			return nil, fmt.Errorf("%s: %w", a.ownOption("after"), err)
		}
	}
	if o.Out != "" {
		if err := writable(o.Out); err != nil {
			return nil, err
		}
		if err := ownFolder(o.Out, anyOf(filesOf(watch.Base, watch.Forms())...)); err != nil {
			return nil, err
		}
	}
	switch info, err := os.Stat(folder); {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%s: there is no such folder, want the one that the audits or runs of all releases "+
			"are in", folder)
	case err != nil:
		return nil, err
	case !info.IsDir():
		return nil, fmt.Errorf("%s is a file, want the folder that the audits or runs of all releases are in", folder)
	}
	return out, nil
}

// ErrNoReleases marks a folder without an audit or run that can be read.
var ErrNoReleases = errors.New("no audit and no run")

// WatchReleases reads the audits and runs below a folder and judges whether they become worse. Where there are models
// and a study, and no audits of others, it audits those that were not yet. What cannot be read is in the report; the
// error is for what ends all of it.
func (a *App) WatchReleases(ctx context.Context, folder string, o WatchOptions) (*WatchResult, error) {
	w, err := a.watching(folder, o)
	if err != nil {
		return nil, err
	}
	return w.look(ctx)
}

// FollowReleases judges a folder again whenever a file below it changes. Each result is shown; between two looks it
// waits. It ends without an error once ctx does, and with the error of show or wait. Nothing is remembered from look to
// look that decides a number: whoever stops and begins again is told the same.
func (a *App) FollowReleases(ctx context.Context, folder string, o WatchOptions, wait func(context.Context) error,
	show func(*WatchResult) error,
) error {
	w, err := a.watching(folder, o)
	if err != nil {
		return err
	}
	w.follows = true
	state, waiting := "", false
	for {
		now, err := w.reader().State()
		if err != nil {
			return err
		}
		if now != state || waiting {
			r, err := w.look(ctx)
			switch none, ok := errors.AsType[*noReleasesError](err); {
			case ctx.Err() != nil:
				return nil //nolint:nilerr // whoever stopped it has read what there was
			case ok: // none yet
				state, waiting = none.state, none.waiting > 0
				if !waiting {
					a.note(err.Error())
				}
			case err != nil:
				return err
			default:
				// What changed since the files were listed is another state, and is looked at next.
				state, waiting = r.State, r.Waiting > 0
				if err := show(r); err != nil {
					return err
				}
			}
		}
		if err := wait(ctx); ctx.Err() != nil {
			return nil //nolint:nilerr // that is how following ends
		} else if err != nil {
			return err
		}
	}
}

// reader reads the folder.
func (w *watching) reader() *watch.Reader {
	return &watch.Reader{
		Folder: w.folder, Workers: w.o.Workers, Metrics: w.app.Parts.metrics(), Models: w.models != nil,
		Began: func(int) {}, Step: func(int) {},
	}
}

// read reads the folder and tells how far it is.
func (w *watching) read(ctx context.Context) (*watch.Found, error) {
	step := w.app.begin(TaskWatch, "files")
	defer step.end()
	r := w.reader()
	r.Began, r.Step = step.size, step.step
	return r.Read(ctx)
}

// noReleasesError says that there is nothing to judge.
type noReleasesError struct {
	text string
	// of the folder, and models that are still being written
	state   string
	waiting int
}

// Error says why.
func (e *noReleasesError) Error() string { return e.text }

// Unwrap is the mark.
func (e *noReleasesError) Unwrap() error { return ErrNoReleases }

// look reads and judges the folder.
func (w *watching) look(ctx context.Context) (*WatchResult, error) {
	found, err := w.read(ctx)
	if err != nil {
		return nil, err
	}
	out := &WatchResult{}
	judge := w.judge
	var failed []watch.Skipped
	if w.models != nil && training(found) {
		judge.Training = true
		made := 0
		if made, out.Waiting, failed, err = w.models.audit(ctx, found.Models, w.follows); err != nil {
			return nil, err
		}
		if made > 0 {
			if found, err = w.read(ctx); err != nil {
				return nil, err
			}
		}
	}
	r, err := w.judged(found, judge)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", w.folder, err)
	}
	r.Audits, r.Runs = found.Audits, found.Runs
	r.Skipped = append(append(r.Skipped, found.Skipped...), failed...)
	out.Report, out.State = r, found.State
	if len(r.Series) == 0 {
		return nil, &noReleasesError{w.none(r), out.State, out.Waiting}
	}
	if w.o.Out == "" {
		return out, nil
	}
	return out, out.save(w.o.Out)
}

// judged judges what was found. Of a training of which nobody says the order the epochs are one where there are some.
func (w *watching) judged(found *watch.Found, o watch.Options) (*watch.Report, error) {
	if o.Training && w.anyOrder {
		epochs := o
		var err error
		if epochs.By, err = watch.ParseBy("epoch"); err != nil {
			return nil, err
		}
		if r, err := watch.Judge(found.Releases, epochs); err != nil || len(r.Series) > 0 {
			return r, err
		}
	}
	return watch.Judge(found.Releases, o)
}

// none says that there is nothing to judge, and what to do.
func (w *watching) none(r *watch.Report) string {
	why := ""
	if n := len(r.Skipped); n > 0 {
		why = fmt.Sprintf("; %s left out, first %s: %s", words.Plural(n, "file was", "files were"), r.Skipped[0].File,
			r.Skipped[0].Why)
	}
	do := "write audits into folders below it with nero audit --format json -o " + filepath.Join(w.folder, "NAME")
	if w.models == nil {
		do += ", or say by which study the models in it are audited, with " + w.app.option("study")
	}
	return fmt.Sprintf("%s: %v that could be watched%s; %s", w.folder, ErrNoReleases, why, do)
}

func (r *WatchResult) save(dir string) error {
	return fillFolder(dir, anyOf(filesOf(watch.Base, watch.Forms())...), nil, func() error {
		return writeForms(dir, watch.Base, watch.Forms(), r.Report)
	})
}
