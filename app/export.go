package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"nero/internal/disk"
	present "nero/present/table"
	"nero/present/words"
	"nero/run/probe"
	"nero/run/store"
	"nero/serve/api"
	"nero/serve/shelf"
	"nero/serve/tables"
)

// ExportOptions say which table of a run is wanted.
type ExportOptions struct {
	// Table is one of [Tables]; empty for aggregate.
	Table string
	// Format is csv, jsonl, md or tex; empty for that of the name of the file, else csv.
	Format string
	// Metric is the name of one of the run's; empty for the first.
	Metric string
	// Slice is the name of a kept slice or of a class, Rule chooses samples, see docs/SLICES.md; without either all
	// samples are taken.
	Slice, Rule string
	// Sample is the name of the sample of the table orbit, Index its position in the run where that is empty; nil for
	// none.
	Sample string
	Index  *int
	// Between are the two models of the table compare, the second less the first; empty for the first two.
	Between []string
	// Against is what the table confusion sorts samples by: truth, which is the default, or self, the model's own
	// answer at rest. Base is the model that the table models compares with; empty for the first.
	Against, Base string
	// Worse is what the table search looks at: mean, the mean over the orbit, which is the default, or change, what
	// moving changes.
	Worse string
	// Out is the file to write; empty for To.
	Out string
	To  io.Writer
}

// Tables are the tables of a run, and its curves.
func Tables() []string { return append(tables.Names(), curvesTable) }

// Export writes a table of a run, the same bytes that a server gives. The paths are folders of runs and audits, or
// folders that hold such; two runs are laid side by side over the samples that both have.
func (a *App) Export(ctx context.Context, paths []string, o ExportOptions) error {
	if o.Table == "" {
		o.Table = "aggregate"
	}
	if !slices.Contains(Tables(), o.Table) {
		return unknownWord(a.option("table"), o.Table, Tables())
	}
	var format present.Format
	if o.Table != curvesTable {
		var err error
		if format, err = o.format(); err != nil {
			return err
		}
	}
	so := shelf.Options{Version: a.Version, Now: a.Now, Metrics: a.Parts.metrics(), Groups: a.Parts.Groups}
	if o.Table == "search" { // what pictures show is read from the data, as on the page
		so.Probe = func(ctx context.Context, r *store.Run) (shelf.Prober, error) {
			return probe.OpenInputs(ctx, r, a.options(Engine{}), probe.Options{})
		}
	}
	sh, err := shelf.Open(ctx, paths, so)
	if err != nil {
		return a.noRun(paths[0], oneLine(err))
	}
	defer sh.Close() //nolint:errcheck // nothing was written
	run, err := a.onlyRun(sh)
	if err != nil {
		return err
	}
	a.note(run.Document().Notes...)
	q, err := o.request(run, a.speech())
	if err != nil {
		return err
	}
	if o.Table == curvesTable {
		return o.exportCurves(run, q)
	}
	t, err := tables.Of(ctx, sh, run, q)
	if err != nil {
		return err
	}
	if o.Out == "" {
		return present.Write(o.To, format, t)
	}
	return disk.Write(disk.OS{}, o.Out, func(w io.Writer) error { return present.Write(w, format, t) })
}

// format is that which is asked for, or that of the name of the file.
func (o *ExportOptions) format() (present.Format, error) {
	if o.Format == "" {
		o.Format = or(strings.TrimPrefix(filepath.Ext(o.Out), "."), string(present.CSV))
	}
	format, err := present.ParseFormat(o.Format)
	if err != nil {
		return format, fmt.Errorf("--format: %w", err)
	}
	return format, nil
}

// onlyRun is the run that was named, or the two side by side.
func (a *App) onlyRun(sh *shelf.Shelf) (*shelf.Run, error) {
	all := sh.Runs()
	for _, p := range all.Problems {
		a.notef("%s is left out: %s", p.Name, sentence(p.Detail, p.Remedy))
	}
	var names []string
	for _, r := range all.Runs {
		names = append(names, r.ID)
	}
	switch len(names) {
	case 0:
		if kinds := foundBy(all.Sheets); len(all.Audits) == 0 && len(kinds) > 0 {
			return nil, fmt.Errorf("there is no run, only what another command found (%s); give the folder of a run, "+
				"too. nero serve FOLDER shows it, and the command that found it writes its page with %s",
				strings.Join(kinds, ", "), a.speech().Option(Option{Name: "format", Value: "html"}))
		}
		return nil, fmt.Errorf("there is no run, only %s; give the folder of a run, too. An audit has no such tables: "+
			"nero report FOLDER/%s %s writes its report, nero serve FOLDER shows it",
			words.Plural(len(all.Audits), "audit", "audits"), AuditFile("json"),
			a.speech().Option(Option{Name: "format", Value: "html"}))
	case 1, 2:
		return sh.Run(strings.Join(names, "+"))
	}
	return nil, fmt.Errorf("there are %d runs (%s); give the folder of one, or of two to lay side by side", len(names),
		strings.Join(names, ", "))
}

// foundBy are the kinds of sheets, each once, in their order.
func foundBy(sheets []api.Sheet) []string {
	var kinds []string
	for _, s := range sheets {
		if !slices.Contains(kinds, s.Kind) {
			kinds = append(kinds, s.Kind)
		}
	}
	return kinds
}

// request is the table that the options mean.
func (o *ExportOptions) request(run *shelf.Run, say Speech) (tables.Request, error) {
	q := tables.Request{Table: o.Table, Set: api.Set{Slice: o.Slice, Rule: o.Rule}, Against: o.Against, Of: o.Worse}
	if known := []string{"", "truth", "self"}; !slices.Contains(known, o.Against) {
		return q, unknownWord(say.Option(Option{Name: "against"}), o.Against, known[1:])
	}
	if known := []string{"", "mean", "change"}; !slices.Contains(known, o.Worse) {
		return q, unknownWord(say.Option(Option{Name: "worse"}), o.Worse, known[1:])
	}
	doc := run.Document()
	if o.Metric != "" {
		if q.Metric = slices.Index(doc.Metrics, o.Metric); q.Metric < 0 {
			return q, unknownWord(say.Option(Option{Name: "metric"}), o.Metric, doc.Metrics)
		}
	}
	if o.Index != nil {
		q.Sample = *o.Index
	}
	if o.Sample != "" {
		all, err := run.Samples()
		if err != nil {
			return q, err
		}
		if q.Sample = slices.Index(all.IDs, o.Sample); q.Sample < 0 {
			return q, fmt.Errorf("--sample: the run has no sample %q; 'nero export --table samples' lists them",
				o.Sample)
		}
	}
	if o.Table == "orbit" && o.Sample == "" && o.Index == nil {
		return q, errors.New("orbit is the table of one sample: say which with --sample or --index")
	}
	models := run.Models()
	q.B = min(1, len(models)-1)
	switch len(o.Between) {
	case 0:
	case 2:
		for i, at := range []*int{&q.A, &q.B} {
			if *at = slices.Index(models, o.Between[i]); *at < 0 {
				return q, unknownWord(say.Option(Option{Name: "between"}), o.Between[i], models)
			}
		}
	default:
		return q, fmt.Errorf("--between names %d models, want two: --between A,B", len(o.Between))
	}
	if o.Base != "" {
		if q.A = slices.Index(models, o.Base); q.A < 0 {
			return q, unknownWord(say.Option(Option{Name: "base"}), o.Base, models)
		}
	}
	return q, nil
}
