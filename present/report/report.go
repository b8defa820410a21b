// Package report draws view models as SVG and PNG, and writes a run as a page that explains itself: Markdown, pictures
// and a table of the curves.
//
// The same run gives the same bytes: nothing on the page depends on the clock or on the machine.
package report

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"iter"
	"maps"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"nero/internal/disk"
	"nero/measure/metric"
	"nero/present/view"
	"nero/run/fold"
	"nero/run/job"

	"golang.org/x/sync/errgroup"
	"gonum.org/v1/plot/font"
)

// Input is what a report is made of.
type Input struct {
	Summary *fold.Summary
	Job     *job.Job
	// Rows streams all rows of the run. It is called twice and has to give the same rows both times.
	Rows func() iter.Seq2[job.Row, error]
	// Picture returns the input of the sample at a position of the job, as it is at the identity. It may be nil, and is
	// called for the few samples that are drawn singly.
	Picture func(index int) (image.Image, error)
	// Worst are the worst inputs by the leading metric (see [Lead]), moved, with what every model says; Taken what
	// moved samples are taken for, and Confusion that as a table in CSV. All may be empty.
	Worst     []Case
	Taken     []Taken
	Confusion []byte
	// a finished audit as Markdown, "" if there was none
	Audit string
	// Warnings are sentences that stand before what was found.
	Warnings []string
	// of this program
	Version string
	// Layouts are those to choose from; nil for [view.Layouts].
	Layouts []*view.Layout
	// Forms say how layouts are drawn that are not among [Forms].
	Forms []Form
}

// The most classes that are drawn as small pictures: of polar plots, and of larger ones.
const (
	mostDiscs = 20
	mostPlots = 6
)

// Write writes report.md, curves.csv, files.csv, pictures/*.svg and *.png, and worst.csv and confusion.csv where there
// are worst inputs and classes, below dir, which it makes, and returns
// their names relative to dir, with slashes. Each file is complete or not there; report.md comes last. Files of an
// earlier report with the same names are replaced. The error names the file or the row.
func Write(ctx context.Context, dir string, in Input) ([]string, error) {
	return write(ctx, dir, in, paint)
}

// write is Write with another way to draw.
func write(ctx context.Context, dir string, in Input,
	draw func(*view.Figure, Options, *font.Cache) (*Picture, error),
) ([]string, error) {
	p, err := newPage(in)
	if err != nil {
		return nil, err
	}
	if err := p.survey(ctx); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Join(dir, "pictures"), 0o755); err != nil {
		return nil, err
	}
	put := func(name string, b []byte) error {
		if err := disk.Replace(disk.OS{}, filepath.Join(dir, filepath.FromSlash(name)), disk.Bytes(b)); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		return nil
	}
	settle := func(folder string) error { return disk.OS{}.SyncDir(filepath.Join(dir, folder)) }
	figures, err := p.figures(ctx)
	if err != nil {
		return nil, err
	}
	var files []string
	fonts := fontCache() // reading the fonts takes longer than drawing with them
	tasks, stop := errgroup.WithContext(ctx)
	tasks.SetLimit(runtime.GOMAXPROCS(0))
	for _, f := range figures {
		for _, theme := range []Theme{Light, Dark} {
			svg, png := pictureName(f, theme, "svg"), pictureName(f, theme, "png")
			files = append(files, svg, png)
			tasks.Go(func() error {
				if err := stop.Err(); err != nil {
					return err
				}
				q, err := draw(f, Options{Theme: theme, Forms: in.Forms}, fonts)
				if err != nil {
					return fmt.Errorf("picture %s: %w", f.Name, err)
				}
				return errors.Join(put(svg, q.SVG), put(png, q.PNG))
			})
		}
	}
	if err := tasks.Wait(); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := CSV(&b, in.Summary); err != nil {
		return nil, err
	}
	if err := put("curves.csv", b.Bytes()); err != nil {
		return nil, err
	}
	b.Reset()
	if err := Files(&b, in.Job); err != nil {
		return nil, err
	}
	if err := put("files.csv", b.Bytes()); err != nil {
		return nil, err
	}
	shown, err := p.cases(put)
	if err != nil {
		return nil, err
	}
	files = append(files, shown...)
	tables := map[string][]byte{}
	if len(in.Worst) > 0 {
		if tables["worst.csv"], err = p.worstCSV(); err != nil {
			return nil, err
		}
	}
	if len(in.Confusion) > 0 {
		tables["confusion.csv"] = in.Confusion
	}
	for _, name := range slices.Sorted(maps.Keys(tables)) {
		if err := put(name, tables[name]); err != nil {
			return nil, err
		}
		files = append(files, name)
	}
	// What the page names is durable before the page.
	if err := errors.Join(settle("pictures"), settle(".")); err != nil {
		return nil, err
	}
	if err := errors.Join(put("report.md", []byte(p.markdown(figures))), settle(".")); err != nil {
		return nil, err
	}
	return append(files, "curves.csv", "files.csv", "report.md"), nil
}

func pictureName(f *view.Figure, t Theme, ext string) string {
	return "pictures/" + f.Name + "-" + string(t) + "." + ext
}

// page gathers what the Markdown says.
type page struct {
	in Input
	s  *fold.Summary
	j  *job.Job
	// the metric that comes first and chooses samples
	lead     int
	identity int
	// slices that are classes
	classes []int
	seen    *survey
	caveats []string
}

func newPage(in Input) (*page, error) {
	switch {
	case in.Summary == nil, in.Job == nil, in.Rows == nil:
		return nil, errors.New("report: a summary, its job and its rows are needed")
	case len(in.Summary.Models) == 0 || len(in.Summary.Metrics) == 0:
		return nil, errors.New("report: the summary has no models or no metrics")
	case len(in.Job.Models) != len(in.Summary.Models) || len(in.Job.Metrics) != len(in.Summary.Metrics) ||
		len(in.Job.Elements) != len(in.Summary.Elements):
		return nil, errors.New("report: the summary is of another job: models, metrics or elements differ in number")
	case in.Job.Weights != nil && len(in.Job.Weights) != len(in.Summary.Elements):
		return nil, fmt.Errorf("report: %d weights for %d elements", len(in.Job.Weights), len(in.Summary.Elements))
	}
	p := &page{in: in, s: in.Summary, j: in.Job, identity: in.Summary.Identity(), lead: lead(in.Summary)}
	for i, sl := range p.s.Slices {
		if sl.Label >= 0 {
			p.classes = append(p.classes, i)
		}
	}
	return p, nil
}

// Lead is the index of the metric that comes first on the page and chooses samples.
func Lead(s *fold.Summary) int { return lead(s) }

// lead is the first metric against the target whose values are more than 0 and 1, else the first against the target,
// else the first.
func lead(s *fold.Summary) int {
	target := -1
	for i, m := range s.Metrics {
		if m.Ref != string(metric.Target) {
			continue
		}
		if known, err := s.Known(i); err != nil || !known.Binary {
			return i // what this program does not know by name is not known to be binary either
		}
		if target < 0 {
			target = i
		}
	}
	return max(target, 0)
}

// options are the form of the picture of a metric: errors that differ by orders of magnitude get a logarithmic scale.
func (p *page) options(m int) view.Options {
	o := view.Options{Weights: p.j.Weights, Layouts: p.in.Layouts}
	// no upper bound: JSON keeps it as NaN
	if r := p.s.Metrics[m].Range; !p.target(m) && !(float64(r[1]) < math.MaxFloat64) && view.Wide(p.s, m) {
		o.Log, o.Unroll = true, true
	}
	return o
}

// figures describes all pictures: for each metric all samples, then the classes, then single samples.
func (p *page) figures(ctx context.Context) ([]*view.Figure, error) {
	var out []*view.Figure
	if len(p.s.Slices) == 0 {
		return nil, nil
	}
	for _, m := range p.order() {
		f, err := view.Aggregate(p.s, m, []int{0}, p.options(m))
		if err != nil {
			return nil, err
		}
		out = append(out, f)
		if len(p.classes) < 2 || p.s.Metrics[m].Ref != string(metric.Target) && m != p.lead {
			continue
		}
		o := p.options(m)
		o.Bare = true
		shown := p.shown(m, f.Layout)
		if f, err = view.Aggregate(p.s, m, shown, o); err != nil {
			return nil, err
		}
		if len(shown) < len(p.classes) {
			f.Notes = append(f.Notes,
				fmt.Sprintf("%d of %d classes: those with the worst mean over the orbit under %s. All are in "+
					"curves.csv.",
					len(shown), len(p.classes), p.s.Models[0]))
		}
		out = append(out, f)
	}
	samples, err := p.samples(ctx)
	if err != nil || len(samples) == 0 {
		return out, err
	}
	o := p.options(p.lead)
	o.Log = false
	f, err := view.Individual(p.s, p.lead, samples, o)
	if err != nil {
		return nil, err
	}
	return append(out, f), nil
}

// order is the metrics, the leading one first.
func (p *page) order() []int {
	o := []int{p.lead}
	for i := range p.s.Metrics {
		if i != p.lead {
			o = append(o, i)
		}
	}
	return o
}

// shown are the classes that are drawn: all, or those that the first model does worst on.
func (p *page) shown(m int, l *view.Layout) []int {
	most := mostPlots
	if l.Round {
		most = mostDiscs
	}
	if len(p.classes) <= most {
		return p.classes
	}
	sorted := slices.Clone(p.classes)
	slices.SortStableFunc(sorted, func(a, b int) int {
		x, y := float64(p.s.Curve(0, m, a).Orbit.Mean), float64(p.s.Curve(0, m, b).Orbit.Mean)
		switch {
		case p.worse(m, x, y):
			return -1
		case p.worse(m, y, x):
			return 1
		}
		return 0
	})
	sorted = sorted[:most]
	slices.Sort(sorted)
	return sorted
}

func (p *page) worse(m int, a, b float64) bool {
	if p.s.Metrics[m].Better == string(metric.Higher) {
		return a < b
	}
	return a > b
}
