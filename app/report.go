package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/color"
	"io/fs"
	"iter"
	"path/filepath"
	"strings"

	"nero/data/dataset"
	"nero/data/space"
	"nero/internal/disk"
	"nero/present/report"
	"nero/present/words"
	"nero/run/fold"
	"nero/run/job"
	"nero/run/store"
	"nero/run/workload"
)

// maxAuditText bounds the text of an audit that a report includes: the longest have some hundred kilobytes.
const maxAuditText = 8 << 20

// Report writes the report of a run into a folder: a page in Markdown, pictures and tables. It runs no model. The text
// of an audit, in a file, is included where it is not empty. It returns the names of the files.
func (a *App) Report(ctx context.Context, dir, out, audit string) ([]string, error) {
	r, err := store.Open(dir)
	if err != nil {
		return nil, a.noRun(dir, err)
	}
	defer r.Close() //nolint:errcheck // only read from
	if first := a.firstLook(r); first != nil {
		r, dir = first, first.Dir()
	}
	sum, _, err := a.storedSummary(r)
	if err != nil {
		return nil, err
	}
	own := allOf("report.md", "curves.csv") // people have reports of their own
	if err := ownFolder(out, own); err != nil {
		return nil, err
	}
	in := report.Input{
		Summary: sum, Job: r.Job(), Version: a.Version,
		Layouts: a.Parts.Layouts, Forms: a.Parts.Forms,
		Rows: func() iter.Seq2[job.Row, error] { return r.Rows(store.Filter{}) },
	}
	if in.Warnings, err = misordered(r, sum, nil); err != nil {
		return nil, err
	}
	if text := r.Job().Thinned(); text != "" {
		in.Warnings = append(in.Warnings, text)
	}
	if in.Picture, err = pictures(r.Job(), a.Parts.Formats); err != nil {
		a.notef("inputs are not shown: %v", err)
	}
	if err := a.worst(ctx, dir, report.Lead(sum), &in); err != nil {
		return nil, err
	}
	if audit != "" {
		text, err := disk.Bounded(audit, maxAuditText)
		if err != nil {
			return nil, fmt.Errorf("the text of an audit: %w; give the %s that 'nero audit -f text -o FOLDER' writes",
				err, AuditFile("text"))
		}
		in.Audit = "```\n" + strings.TrimSpace(string(text)) + "\n```\n"
	}
	var files []string
	err = fillFolder(out, own, []string{"pictures"}, func() (err error) {
		files, err = report.Write(ctx, out, in)
		return err
	})
	return files, err
}

// firstLook is the coarse level of a run that is not complete, once that is complete itself; nil otherwise.
func (a *App) firstLook(r *store.Run) *store.Run {
	if r.Complete() {
		return nil
	}
	c, err := store.Open(r.CoarseDir())
	if err != nil || !c.Complete() {
		return nil
	}
	j := c.Job()
	a.notef("the run is not finished; this is its coarse level: %s of %s elements, all %s samples. What is worst "+
		"along an orbit is so among these elements, and the others may be worse", words.Count(len(j.Elements)),
		words.Count(len(r.Job().Elements)), words.Count(j.Count))
	return c
}

// storedSummary is the summary that a complete run keeps, and its text.
func (a *App) storedSummary(r *store.Run) (*fold.Summary, []byte, error) {
	b, err := r.ReadFile("summary.json")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, fmt.Errorf("%s has no summary yet: the run is not finished; the command that began it goes on"+
			" where it stopped", r.Dir())
	}
	if err != nil {
		return nil, nil, err
	}
	name, sum := filepath.Join(r.Dir(), "summary.json"), new(fold.Summary)
	if err := json.Unmarshal(b, sum); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", name, err)
	}
	sum.Know(a.Parts.Groups...)
	known, err := r.Job().Study.KnownMetrics(a.Parts.metrics())
	if err != nil {
		return nil, nil, err
	}
	sum.KnowMetrics(known)
	if sum.Format != fold.Format || sum.Job != r.Hash() {
		return nil, nil, fmt.Errorf(
			"%s: format %d of job %.12s, want format %d of job %.12s; run the study again to write it anew", name,
			sum.Format, sum.Job, fold.Format, r.Hash())
	}
	return sum, b, nil
}

// pictures opens the data of a job and returns its samples as pictures.
func pictures(j *job.Job, formats dataset.Formats) (func(int) (image.Image, error), error) {
	d := j.Study.Data
	ds, err := workload.OpenData(&j.Study, formats)
	if err != nil {
		return nil, err
	}
	for _, f := range j.Files {
		if f.Path != d.Source() {
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
		if m := space.View(s.Value); m != nil { // the first frame stands for a sequence
			return picture(m), nil
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
	return shaded(m, lo, hi)
}

// shaded shows an image between two values.
func shaded(m *space.Image, lo, hi float64) image.Image {
	shade := func(c, y, x int) uint8 {
		if !(hi > lo) {
			return 0
		}
		return uint8(255 * min(max((m.Pix[(c*m.H+y)*m.W+x]-lo)/(hi-lo), 0), 1))
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
