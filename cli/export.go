package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	present "nero/present/table"
	"nero/run/job"
	"nero/serve/api"
	"nero/serve/server"
	"nero/serve/shelf"

	"github.com/spf13/cobra"
)

// exportFlags say which table of a run is wanted.
type exportFlags struct {
	table, format, metric string
	slice, rule, sample   string
	index                 int
	indexed               bool
	between               []string
	out                   string
}

func (a *App) export() *cobra.Command {
	var f exportFlags
	c := &cobra.Command{
		Use:   "export DIR...",
		Short: "Write a table of a run as CSV, JSON Lines, Markdown or LaTeX",
		Long: `export writes a table of a run, the same bytes that the server of nero serve gives at
runs/{id}/export; the menus of its page keep what they show, as it is shown. It runs no model.

  aggregate  the curves of each model over a set of samples, one row per element, then the mean over the orbit
  samples    every sample's mean, spread, extremes and value at the identity, one row per model
  orbit      one sample at every element: all metrics and the predicted class
  compare    the paired difference of two models, one row per element
  findings   what the audits of these models found

A DIR is the folder of a run or of an audit. Two runs are laid side by side over the samples that both have.`,
		Example: "  nero export nero-run > aggregate.csv\n" +
			"  nero export nero-run --table samples --metric confidence --rule 'min < 0.5' --format jsonl\n" +
			"  nero export run-of-may run-of-june --table compare --format tex -o compare.tex\n" +
			"  nero export nero-run nero-audit --table findings --format md",
		Args: someFolder,
		RunE: func(cmd *cobra.Command, args []string) error {
			f.indexed = cmd.Flags().Changed("index")
			return a.exportTable(cmd.Context(), args, f)
		},
	}
	fl := c.Flags()
	fl.StringVarP(&f.table, "table", "t", "aggregate", strings.Join(server.Tables(), ", "))
	fl.StringVarP(&f.format, "format", "f", "", "csv, jsonl, md or tex; default that of the file's name, else csv")
	fl.StringVarP(&f.metric, "metric", "m", "", "`metric`; default the first of the run")
	fl.StringVar(&f.slice, "slice", "", "`name` of a kept slice or of a class, instead of all samples")
	fl.StringVar(&f.rule, "rule", "",
		"`rule` that chooses samples, such as 'label = 6 and mean < 0.4'; see docs/SLICES.md")
	fl.StringVar(&f.sample, "sample", "", "`name` of the sample of orbit")
	fl.IntVar(&f.index, "index", 0, "position of the sample of orbit in the run, from 0, instead of its name")
	fl.StringSliceVar(&f.between, "between", nil,
		"two `models` of compare, the second less the first; default the first two")
	fl.StringVarP(&f.out, "out", "o", "", "`file` to write; default the terminal")
	c.MarkFlagsMutuallyExclusive("slice", "rule")
	c.MarkFlagsMutuallyExclusive("sample", "index")
	return c
}

// exportTable writes a table.
func (a *App) exportTable(ctx context.Context, paths []string, f exportFlags) error {
	if !slices.Contains(server.Tables(), f.table) {
		return unknownWord("--table", f.table, server.Tables())
	}
	if f.format == "" {
		if f.format = strings.TrimPrefix(filepath.Ext(f.out), "."); f.format == "" {
			f.format = string(present.CSV)
		}
	}
	format, err := present.ParseFormat(f.format)
	if err != nil {
		return fmt.Errorf("--format: %w", err)
	}
	sh, err := shelf.Open(ctx, paths, shelf.Options{Version: a.Version, Now: time.Now})
	if err != nil {
		return oneLine(err)
	}
	defer sh.Close() //nolint:errcheck // nothing was written
	run, err := a.onlyRun(sh)
	if err != nil {
		return err
	}
	q, err := f.request(run)
	if err != nil {
		return err
	}
	t, err := server.Table(ctx, sh, run, q)
	if err != nil {
		return plain(err)
	}
	if f.out == "" {
		return present.Write(a.Out, format, t)
	}
	return writeWhole(f.out, func(w io.Writer) error { return present.Write(w, format, t) })
}

// onlyRun is the run that was named, or the two side by side.
func (a *App) onlyRun(sh *shelf.Shelf) (*shelf.Run, error) {
	all := sh.Runs()
	for _, p := range all.Problems {
		a.say("note: %s is left out: %s", p.Name, sentence(p.Detail, p.Remedy))
	}
	var names []string
	for _, r := range all.Runs {
		names = append(names, r.ID)
	}
	switch len(names) {
	case 0:
		return nil, fmt.Errorf("there is no run, only %s; give the folder of a run, too",
			plural(len(all.Audits), "audit"))
	case 1, 2:
		return sh.Run(strings.Join(names, "+"))
	}
	return nil, fmt.Errorf("there are %d runs (%s); give the folder of one, or of two to lay side by side", len(names),
		strings.Join(names, ", "))
}

// request is the table that the flags mean.
func (f *exportFlags) request(run *shelf.Run) (server.TableRequest, error) {
	q := server.TableRequest{Table: f.table, Set: api.Set{Slice: f.slice, Rule: f.rule}}
	doc := run.Document()
	if f.metric != "" {
		if q.Metric = slices.Index(doc.Metrics, f.metric); q.Metric < 0 {
			return q, unknownWord("--metric", f.metric, doc.Metrics)
		}
	}
	q.Sample = f.index
	if f.sample != "" {
		all, err := run.Samples()
		if err != nil {
			return q, err
		}
		if q.Sample = slices.Index(all.IDs, f.sample); q.Sample < 0 {
			return q, fmt.Errorf("--sample: the run has no sample %q; 'nero export --table samples' lists them",
				f.sample)
		}
	}
	if f.table == "orbit" && f.sample == "" && !f.indexed {
		return q, errors.New("orbit is the table of one sample: say which with --sample or --index")
	}
	models := run.Models()
	q.B = min(1, len(models)-1)
	switch len(f.between) {
	case 0:
	case 2:
		for i, at := range []*int{&q.A, &q.B} {
			if *at = slices.Index(models, f.between[i]); *at < 0 {
				return q, unknownWord("--between", f.between[i], models)
			}
		}
	default:
		return q, fmt.Errorf("--between names %d models, want two: --between A,B", len(f.between))
	}
	return q, nil
}

// unknownWord says what a flag may be, and what was probably meant.
func unknownWord(flag, word string, known []string) error {
	if near, ok := job.Suggest(word, known); ok {
		return fmt.Errorf("%s: %q is not known; did you mean %q?", flag, word, near)
	}
	return fmt.Errorf("%s: %q is not known; expected one of %s", flag, word, strings.Join(known, ", "))
}

// plain is an error of package server in the words of its detail.
func plain(err error) error {
	if p, ok := server.Detail(err); ok {
		return &renamed{p, err}
	}
	return err
}

// writeWhole writes a file, which is complete or not there.
func writeWhole(name string, write func(io.Writer) error) error {
	f, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+"-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) //nolint:errcheck // it is gone if all went well
	if err := write(f); err != nil {
		_ = f.Close() // the first error counts
		return err
	}
	if err := f.Chmod(0o644); err != nil {
		_ = f.Close() // the first error counts
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}
