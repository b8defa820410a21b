package app

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"slices"

	"nero/internal/disk"
	"nero/present/words"
	"nero/run/store"
	"nero/serve/handout"
	"nero/serve/shelf"
	"nero/serve/web"
)

// PresetKeep is how many samples a page usually keeps whole.
const PresetKeep = handout.PresetKeep

// PageOptions say what a page holds.
type PageOptions struct {
	Engine Engine
	// Metric is shown first and kept before the others; empty for the first of the run.
	Metric string
	// Slice is the name of a kept slice or of a class that is shown first; samples are kept from it. Empty for all.
	Slice string
	// Budget is the most bytes of the file; 0 for ten million.
	Budget int64
	// Keep is the most samples that are kept with their exact orbit, inputs and scores; 0 for [PresetKeep], negative
	// for none.
	Keep int
	// Seed decides which samples are kept beside the worst ones.
	Seed uint64
	// Layouts are further layouts of the samples, of ica, isomap, tsne and umap; they may take long.
	Layouts []string
	// Stored takes what is stored: no inputs and no scores, for which data and models are asked.
	Stored bool
	// Workers is how many goroutines work, at least 1. No byte depends on it.
	Workers int
	// Web is a folder with the files of the interface, instead of those that are part of the program.
	Web string
}

// Page is a page that was written.
type Page struct {
	// Bytes is the size of the file; Kept of Samples are whole.
	Bytes         int64
	Kept, Samples int
	// LeftOut says in sentences what did not fit.
	LeftOut []string
}

// String says how large the page is.
func (p *Page) String() string {
	return fmt.Sprintf("%.2f MB, %s of %s whole", float64(p.Bytes)/1e6, words.Plural(p.Kept, "sample", "samples"),
		words.Count(p.Samples))
}

// Page writes the interface of [App.Serve] with one run, or with two side by side, as one HTML file that needs no
// server. The paths are folders of runs and audits, or folders that hold such.
func (a *App) Page(ctx context.Context, paths []string, out string, o PageOptions) (*Page, error) {
	files, err := interfaceFiles(o.Web)
	if err != nil {
		return nil, err
	}
	so := shelf.Options{Version: a.Version, Now: a.Now, Metrics: a.Parts.metrics(), Groups: a.Parts.Groups}
	if !o.Stored {
		so.Probe = (&models{a: a, engine: o.Engine, workers: o.Workers}).probe
	}
	paths = slices.Clone(paths)
	for i, p := range paths {
		if r, err := store.Open(p); err == nil {
			if first := a.firstLook(r); first != nil {
				paths[i] = first.Dir()
			}
		}
	}
	sh, err := shelf.Open(ctx, paths, so)
	if err != nil {
		return nil, oneLine(err)
	}
	defer sh.Close() //nolint:errcheck // nothing was written
	run, err := a.onlyRun(sh)
	if err != nil {
		return nil, err
	}
	found := sh.SheetsWith(run)
	run = handout.Fitting(run)
	a.note(run.Document().Notes...)
	p := a.begin(TaskReport, "%")
	ho := handout.Options{
		Metric: o.Metric, Slice: o.Slice, Budget: o.Budget, Keep: o.Keep, Seed: o.Seed, Methods: o.Layouts,
		Stored: o.Stored, Version: a.Version, Workers: o.Workers, Progress: percent(p),
	}
	var sum handout.Summary
	p.size(100)
	err = disk.Write(disk.OS{}, out, func(w io.Writer) (err error) {
		sum, err = handout.Write(ctx, w, handout.Source{
			Run: run, Findings: sh.Findings, Sheets: found, Files: files,
		}, ho)
		return err
	})
	p.end()
	if err != nil {
		return nil, err
	}
	return &Page{Bytes: sum.Bytes, Kept: sum.Kept, Samples: sum.Samples, LeftOut: sum.LeftOut}, nil
}

// percent tells how far a page is.
func percent(p *work) func(float64, string) {
	done := 0
	return func(fraction float64, what string) {
		p.stage(what)
		if now := int(100 * fraction); now > done {
			p.step(now - done)
			done = now
		}
	}
}

// serverPage writes runs that a server shows as one HTML file. One goroutine asks the models, so that those who drag
// meanwhile are answered.
func (a *App) serverPage(sh *shelf.Shelf, files fs.FS, live bool) func(context.Context, io.Writer, *shelf.Run,
	url.Values) error {
	return func(ctx context.Context, w io.Writer, run *shelf.Run, query url.Values) error {
		o, err := handout.FromQuery(query, run)
		if err != nil {
			return err
		}
		o.Stored, o.Version, o.Workers = !live, a.Version, 1
		_, err = handout.Write(ctx, w, handout.Source{
			Run: handout.Fitting(run), Findings: sh.Findings, Sheets: sh.SheetsWith(run), Files: files,
		}, o)
		return handout.Refused(err)
	}
}

// ParseSize reads a size: a number of bytes, kB, MB or GB.
func ParseSize(text string) (int64, error) { return handout.ParseSize(text) }

// interfaceFiles are the files of the interface: those of the program, or those of a folder.
func interfaceFiles(dir string) (fs.FS, error) {
	if dir == "" {
		return web.Files(), nil
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("--web: %w", err)
	}
	files := root.FS() // it stays open as long as the process
	if _, err := fs.Stat(files, "index.html"); err != nil {
		return nil, fmt.Errorf("--web %s: it has no index.html; expected what the bundle tool of serve/web writes", dir)
	}
	return files, nil
}
