package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/color"
	"io"
	"io/fs"
	"iter"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"nero/data/dataset"
	"nero/data/space"
	"nero/present/report"
	"nero/present/view"
	"nero/run/fold"
	"nero/run/job"
	"nero/run/store"
	"nero/run/workload"
	"nero/serve/guard"
	"nero/serve/handout"
	"nero/serve/shelf"

	"github.com/spf13/cobra"
)

// reportFlags say what a report holds.
type reportFlags struct {
	out, audit    string
	engine        engineFlags
	metric, slice string
	budget        string
	keep          int
	seed          uint64
	layouts       []string
	noLive        bool
	web           string
}

// onePage are the flags that only a report in one file has.
var onePage = []string{"metric", "slice", "budget", "keep", "seed", "layout", "no-live", "engine", "ort-lib", "web"}

func (a *App) report() *cobra.Command {
	var f reportFlags
	c := &cobra.Command{
		Use:   "report DIR...",
		Short: "Write a run as one HTML page, or as pictures, a Markdown page and CSV",
		Long: `report writes a run for people without this program.

With -o FILE.html it writes the interface of nero serve with the run inside: one file that opens from disk, asks the network for nothing and
runs no model. A DIR is the folder of a run or of an audit, or one that holds such folders; two runs are laid side by side. Models and
data are asked for the inputs and the scores of the samples that are kept whole, unless --no-live is given or they are not there any more. What
does not fit into the budget is left out, and the page says what. See docs/REPORT.md.

With -o FOLDER it writes report.md, the aggregate and some individual NERO plots as SVG and PNG, and the aggregate curves as CSV. It runs no
model: everything comes from the run folder. The inputs of individual plots are shown if the data is still where it was.`,
		Example: "  nero report nero-run -o report\n  nero report nero-run --audit audit/audit.txt -o report\n" +
			"  nero report nero-demo -o digits.html\n  nero report nero-run nero-audit --metric margin --budget 4MB " +
			"-o digits.html",
		Args: someFolder,
		RunE: func(cmd *cobra.Command, args []string) error {
			page := strings.EqualFold(filepath.Ext(f.out), ".html") || strings.EqualFold(filepath.Ext(f.out), ".htm")
			if page {
				if cmd.Flags().Changed("audit") {
					return errors.New("--audit is for a report in a folder; name the folder of the audit beside that " +
						"of the run")
				}
				return a.writePage(cmd.Context(), args, f)
			}
			for _, name := range onePage {
				if cmd.Flags().Changed(name) {
					return fmt.Errorf("--%s is for a report in one file: give -o FILE.html", name)
				}
			}
			if len(args) != 1 {
				return fmt.Errorf("%d folders are given, and a report in a folder is of one run: give one, or -o "+
					"FILE.html", len(args))
			}
			files, err := a.writeReport(cmd.Context(), args[0], f.out, f.audit)
			if err != nil {
				return err
			}
			fmt.Fprintf(a.Out, "%s and %d other files\n", filepath.Join(f.out, "report.md"), len(files)-1)
			return nil
		},
	}
	fl := c.Flags()
	fl.StringVarP(&f.out, "out", "o", "nero-report", "`folder` for the report, or a file that ends with .html")
	fl.StringVar(&f.audit, "audit", "", "text `file` of an audit to include in a folder")
	fl.StringVarP(&f.metric, "metric", "m", "",
		"`metric` that the page shows first and keeps before the others; default the first of the run")
	fl.StringVar(&f.slice, "slice", "",
		"`name` of a kept slice or of a class that the page shows first; samples are kept from it")
	fl.StringVar(&f.budget, "budget", "10MB", "largest `size` of the file")
	fl.IntVar(&f.keep, "keep", handout.PresetKeep,
		"most samples that are kept with their exact orbit, inputs and scores, 0 for none")
	fl.Uint64Var(&f.seed, "seed", 0, "decides which samples are kept beside the worst ones")
	fl.StringSliceVar(&f.layouts, "layout", nil,
		"further layout of the samples: ica, isomap, tsne, umap; repeatable, may take long")
	fl.BoolVar(&f.noLive, "no-live", false, "take what is stored: no inputs and no scores")
	fl.StringVar(&f.web, "web", "",
		"`folder` with the files of the interface, instead of those that are part of the program")
	_ = fl.MarkHidden("web") // it is there
	f.engine.add(c)
	return c
}

// writePage writes runs as one HTML file.
func (a *App) writePage(ctx context.Context, paths []string, f reportFlags) error {
	budget, err := bytesOf(f.budget)
	if err != nil {
		return fmt.Errorf("--budget: %w", err)
	}
	files, err := interfaceFiles(f.web)
	if err != nil {
		return err
	}
	so := shelf.Options{Version: a.Version, Now: time.Now}
	if !f.noLive {
		so.Probe = (&models{a: a, flags: f.engine}).probe
	}
	sh, err := shelf.Open(ctx, paths, so)
	if err != nil {
		return oneLine(err)
	}
	defer sh.Close() //nolint:errcheck // nothing was written
	run, err := a.onlyRun(sh)
	if err != nil {
		return err
	}
	p := newProgress(a.Err, "nero report", "%", a.quiet)
	o := handout.Options{
		Metric: f.metric, Slice: f.slice, Budget: budget, Keep: f.keep, Seed: f.seed, Methods: f.layouts,
		Stored: f.noLive, Version: a.Version, Workers: workers(),
		Progress: percent(p),
	}
	if f.keep <= 0 {
		o.Keep = -1
	}
	var sum handout.Summary
	p.begin0(100)
	err = writeWhole(f.out, func(w io.Writer) (err error) {
		sum, err = handout.Write(ctx, w, handout.Source{Run: run, Findings: sh.Findings, Files: files}, o)
		return err
	})
	p.finish()
	if err != nil {
		return err
	}
	for _, text := range sum.LeftOut {
		a.say("note: %s", text)
	}
	fmt.Fprintf(a.Out, "%s, %.2f MB, %s of %s whole\n", f.out, float64(sum.Bytes)/1e6, plural(sum.Kept, "sample"),
		view.Count(sum.Samples))
	return nil
}

// percent tells a display how far a report is.
func percent(p *progress) func(float64, string) {
	done := 0
	return func(fraction float64, what string) {
		p.stage("nero report: " + what)
		if now := int(100 * fraction); now > done {
			p.Evaluated(now - done)
			done = now
		}
	}
}

// page writes runs that a server shows as one HTML file. The query may say metric, slice, budget and seed. One
// goroutine asks the models, so that those who drag meanwhile are answered.
func (a *App) page(sh *shelf.Shelf, files fs.FS, live bool) func(context.Context, io.Writer, *shelf.Run,
	url.Values) error {
	return func(ctx context.Context, w io.Writer, run *shelf.Run, query url.Values) error {
		bad := func(err error) error {
			return &guard.Problem{
				Status: http.StatusBadRequest, Code: "query",
				Title: "The report cannot be written like this", Detail: err.Error(),
				Remedy: "metric and slice are names of the run; budget is a size such as 10MB.",
			}
		}
		o := handout.Options{
			Metric: query.Get("metric"), Slice: query.Get("slice"), Stored: !live, Version: a.Version,
			Workers: 1,
		}
		if k, err := strconv.Atoi(o.Metric); err == nil && k >= 0 && k < len(run.Metrics()) {
			o.Metric = run.Metrics()[k].Name
		}
		var err error
		if text := query.Get("budget"); text != "" {
			if o.Budget, err = bytesOf(text); err != nil {
				return bad(err)
			}
			if o.Budget > mostBudget {
				return bad(fmt.Errorf("a budget of %s; a server writes reports of at most %d MB", text,
					mostBudget/1_000_000))
			}
		}
		if text := query.Get("seed"); text != "" {
			if o.Seed, err = strconv.ParseUint(text, 10, 64); err != nil {
				return bad(err)
			}
		}
		_, err = handout.Write(ctx, w, handout.Source{Run: run, Findings: sh.Findings, Files: files}, o)
		var small *handout.SmallBudgetError
		if errors.Is(err, handout.ErrUnknown) || errors.As(err, &small) {
			return bad(err)
		}
		return err
	}
}

// mostBudget is the largest report that a server writes, which is held in memory.
const mostBudget = 100_000_000

// bytesOf reads a size: a number of bytes, kB, MB or GB.
func bytesOf(text string) (int64, error) {
	number, unit := strings.TrimSpace(text), 1.0
	for suffix, factor := range map[string]float64{"kb": 1e3, "mb": 1e6, "gb": 1e9} {
		if at := len(number) - len(suffix); at > 0 && strings.EqualFold(number[at:], suffix) {
			number, unit = strings.TrimSpace(number[:at]), factor
			break
		}
	}
	v, err := strconv.ParseFloat(number, 64)
	if v *= unit; err != nil || !(v >= 1 && v <= 1e12) {
		return 0, fmt.Errorf("%q, want a size such as 10MB, 500kB or a number of bytes", text)
	}
	return int64(v), nil
}

// writeReport writes the report of the run in dir and returns the names of its files.
func (a *App) writeReport(ctx context.Context, dir, out, audit string) ([]string, error) {
	r, err := store.Open(dir)
	if err != nil {
		return nil, err
	}
	defer r.Close() //nolint:errcheck // only read from
	name := filepath.Join(dir, "summary.json")
	b, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf(
			"%s has no summary yet: the run is not finished; the command that began it goes on where it stopped", dir)
	}
	if err != nil {
		return nil, err
	}
	var sum fold.Summary
	if err := json.Unmarshal(b, &sum); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if sum.Format != fold.Format || sum.Job != r.Hash() {
		return nil, fmt.Errorf(
			"%s: format %d of job %.12s, want format %d of job %.12s; run the study again to write it anew", name,
			sum.Format, sum.Job, fold.Format, r.Hash())
	}
	if err := ownFolder(out, "report.md"); err != nil {
		return nil, err
	}
	in := report.Input{
		Summary: &sum, Job: r.Job(), Version: a.Version,
		Rows: func() iter.Seq2[job.Row, error] { return r.Rows(store.Filter{}) },
	}
	if in.Picture, err = pictures(r.Job()); err != nil {
		a.say("note: inputs are not shown: %v", err)
	}
	if audit != "" {
		text, err := os.ReadFile(audit)
		if err != nil {
			return nil, err
		}
		in.Audit = "```\n" + strings.TrimSpace(string(text)) + "\n```\n"
	}
	return report.Write(ctx, out, in)
}

// pictures opens the data of a job and returns its samples as pictures.
func pictures(j *job.Job) (func(int) (image.Image, error), error) {
	d := j.Study.Data
	ds, err := workload.OpenData(&j.Study)
	if err != nil {
		return nil, err
	}
	for _, f := range j.Files {
		if f.Path != d.Images {
			continue
		}
		if sum, err := dataset.Digest(f.Path); err != nil || sum != f.SHA256 {
			return nil, fmt.Errorf("%s is not the file that was evaluated any more", f.Path)
		}
	}
	return func(i int) (image.Image, error) {
		if j.Samples != nil {
			i = j.Samples[i]
		}
		s, err := ds.Sample(i)
		if err != nil {
			return nil, err
		}
		switch m := s.Value.(type) {
		case *space.Image:
			return picture(m), nil
		case *space.Frames:
			if len(m.Images) > 0 {
				return picture(m.Images[0]), nil // the first frame stands for them
			}
		}
		return nil, fmt.Errorf("sample %s is no picture", s.ID)
	}, nil
}

// picture shows an image between its smallest and largest value; the first and third of three channels are red and
// blue.
func picture(m *space.Image) image.Image {
	lo, hi := m.Pix[0], m.Pix[0]
	for _, v := range m.Pix {
		lo, hi = min(lo, v), max(hi, v)
	}
	shade := func(c, y, x int) uint8 {
		if !(hi > lo) {
			return 0
		}
		return uint8(255 * (m.Pix[(c*m.H+y)*m.W+x] - lo) / (hi - lo))
	}
	o := image.NewRGBA(image.Rect(0, 0, m.W, m.H))
	for y := range m.H {
		for x := range m.W {
			p := color.RGBA{A: 255, R: shade(0, y, x)}
			p.G, p.B = p.R, p.R
			if m.C >= 3 {
				p.G, p.B = shade(1, y, x), shade(2, y, x)
			}
			o.SetRGBA(x, y, p)
		}
	}
	return o
}

// ownFolder refuses a folder that holds things other than an earlier result, which one of the marks is a sign of:
// results in a folder of pictures would be taken for data the next time.
func ownFolder(dir string, marks ...string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		if slices.Contains(marks, e.Name()) {
			return nil
		}
	}
	if len(entries) > 0 {
		return fmt.Errorf("%s: the folder holds other things (%s); give an empty or a new one with -o", dir,
			entries[0].Name())
	}
	return nil
}
