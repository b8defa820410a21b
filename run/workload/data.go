package workload

import (
	"os"
	"runtime"
	"slices"

	"nero/data/dataset"
	"nero/data/particle"
	"nero/data/space"
	"nero/data/views"
	"nero/run/job"
	"nero/symmetry/action"
	"nero/symmetry/action/phantom"

	"golang.org/x/sync/errgroup"
)

// Formats are the formats of data that a study may name or leave to be guessed.
func Formats() dataset.Formats {
	return append(dataset.Builtin(), particle.Format, phantom.Format)
}

// OpenData opens the data of a study: its samples as they are before anything moves, with pieces, zoom and rendering.
// The formats are nil for [Formats].
func OpenData(s *job.Study, formats dataset.Formats) (dataset.Dataset, error) {
	known, spec := known(s, Options{Formats: formats})
	return known.Open(spec)
}

// known are the formats of a study's data, and the data as they want it.
func known(s *job.Study, o Options) (dataset.Formats, dataset.Spec) {
	formats := o.formats()
	spec := dataSpec(s)
	if s.Data.Views != "" {
		formats = append(slices.Clip(formats), views.Format(views.Options{
			Bytes: s.Input.Space == inputBytes, First: inOrder(s), Apart: o.Apart,
		}))
	}
	if f := formats.Find(spec.Format); f != nil && f.Numbered {
		spec.Classes = nil // names for numbers: the workload gives them
	}
	return formats, spec
}

// reading opens the data of a study. What the heads of photos say is kept for the job.
func (w *Workload) reading(o Options) (dataset.Dataset, error) {
	fsys := new(dataset.Held)
	formats, spec := known(w.Study, o)
	ds, err := formats.OpenFS(fsys, spec)
	if err == nil {
		w.heads = fsys.Heads
	}
	return ds, err
}

// trusting opens the data of a study whose job is known. Its files are held against the digests of the job when they
// are read, and the heads of photos are believed until then; files that opening has read are left to
// [Workload.digests].
func (w *Workload) trusting(o Options) (dataset.Dataset, error) {
	fsys, j := new(dataset.Held), o.Job
	if len(j.Heads) == len(j.Files) && j.Heads != nil {
		names, heads := make([]string, len(j.Files)), make([]dataset.Head, len(j.Files))
		for i, f := range j.Files {
			names[i], heads[i] = f.Path, dataset.Head(j.Heads[i])
		}
		fsys.Know(names, heads)
	}
	formats, spec := known(w.Study, o)
	spec.Trusted = true // or the job would not be there
	ds, err := formats.OpenFS(fsys, spec)
	if err != nil {
		return nil, err
	}
	names := ds.Files()
	if info, err := os.Stat(spec.Images); err != nil || !info.IsDir() || len(names) != len(j.Files) {
		return ds, nil //nolint:nilerr // one file, or others than those of the job: all get their digests
	}
	digests := make([]string, len(names))
	for i, f := range j.Files {
		digests[i] = f.SHA256
	}
	w.held = fsys.Hold(names, digests)
	return ds, nil
}

// digests are the files of the data with what they hold: as the job says it where they are held against that. Somebody
// may be told how many there are and how many are done.
func (w *Workload) digests(o Options) ([]job.Ref, error) {
	names, j := w.Data.Files(), o.Job
	out := make([]job.Ref, len(names))
	todo := len(names)
	if len(w.held) == len(names) {
		for _, held := range w.held {
			if held {
				todo--
			}
		}
	}
	tell := func(int) {}
	if o.Hashing != nil && todo >= manyFiles {
		var ended func()
		tell, ended = o.Hashing(todo)
		defer ended()
	}
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	const batch = 64
	for lo := 0; lo < len(names); lo += batch {
		g.Go(func() error {
			hi, done := min(lo+batch, len(names)), 0
			for i := lo; i < hi; i++ {
				if len(w.held) == len(names) && w.held[i] {
					if out[i] = j.Files[i]; out[i].Path != names[i] {
						out[i].Path = absolute(names[i])
					}
					continue
				}
				out[i].Path = absolute(names[i])
				var err error
				if out[i].SHA256, err = dataset.Digest(out[i].Path); err != nil {
					return err
				}
				done++
			}
			if done > 0 {
				tell(done)
			}
			return nil
		})
	}
	return out, g.Wait()
}

// manyFiles is how many files take so long that somebody is told how far it is.
const manyFiles = 5000

// headed gives the job what the heads of photos say.
func (w *Workload) headed(o Options) {
	switch {
	case o.Job != nil:
		w.Job.Heads = o.Job.Heads
	case w.heads != nil:
		found := w.heads(w.Data.Files())
		if found == nil {
			return
		}
		w.Job.Heads = make([]job.Head, len(found))
		for i, h := range found {
			w.Job.Heads[i] = job.Head(h)
		}
	}
}

// dataSpec is the data of a study as the readers want it.
func dataSpec(s *job.Study) dataset.Spec {
	d := s.Data
	spec := dataset.Spec{
		Format: d.Format, Images: d.Images, Labels: d.Labels, Pattern: d.Pattern, Key: d.Key, LabelKey: d.LabelKey,
		Layout:  d.Layout,
		Targets: d.Targets, Split: d.Split, Classes: d.Classes, TargetKey: d.TargetKey, Upward: d.Upward, Zoom: d.Zoom,
		Orientation: d.Orientation,
		Cut:         dataset.Cut{Classes: d.Cut.Classes, Outside: d.Cut.Outside, PerPhoto: d.Cut.PerPhoto},
	}
	if d.Views != "" {
		spec.Format, spec.Images = views.FormatName, d.Views
	}
	out := space.Kind(s.OutputSpace()).Info()
	spec.Masks, spec.Pixels = dataset.Masks(d.Masks), out != nil && out.Labelled
	spec.Cloud = dataset.Cloud{
		Points: d.Cloud.Points, Center: d.Cloud.Center, Scale: d.Cloud.Scale, Short: d.Cloud.Short,
		Normals: d.Cloud.Normals, Up: d.Cloud.Up,
		Columns: d.Cloud.Columns, Seed: d.Cloud.Seed,
	}
	spec.Sound = dataset.Sound{Rate: d.Sound.Rate, Length: d.Sound.Length, Start: d.Sound.Start, Mono: d.Sound.Mono}
	p := d.Particles
	spec.Particles = dataset.Particles{
		Count: p.Count, Flows: p.Flows, Density: p.Density, Diameter: p.Diameter, Noise: p.Noise, Loss: p.Loss,
		Shift: p.Shift, Mean: p.Mean, Heading: p.Heading, Turn: p.Turn, Seed: p.Seed,
	}
	pair(&spec.Particles.Size, p.Size)
	f := d.Phantoms
	spec.Phantoms = dataset.Phantoms{Count: f.Count, Kinds: f.Kinds, Channels: f.Channels, Band: f.Band, Seed: f.Seed}
	pair(&spec.Phantoms.Size, f.Size)
	spec.Elements = d.Elements
	for _, p := range s.Input.Fields {
		if p.Value == nil {
			spec.Fields = append(spec.Fields, p.Name)
			if p.Set != "" {
				spec.Own = append(spec.Own, p.Name)
			}
			if p.Of != "" {
				spec.Wide = append(spec.Wide, p.Name)
			}
		}
	}
	if spec.Labels == job.Nothing {
		spec.Labels = ""
	}
	pair(&spec.Fit, d.Fit)
	r := d.Resize
	spec.Resize = dataset.Resize{Short: r.Short, Fill: r.Fill, Kernel: r.Kernel, Plain: r.Plain}
	pair(&spec.Resize.Crop, r.Crop)
	if margin, ok := d.Around(); ok && margin != [2]int{} {
		spec.Resize.Margin, spec.Resize.Beyond = margin, s.Group.Border
	}
	pair(&spec.Resize.Stretch, r.Stretch)
	pair(&spec.Resize.Letterbox, r.Letterbox)
	pair(&spec.Cut.Size, d.Cut.Size)
	if len(d.Cut.Size) == 2 {
		pair(&spec.Cut.Window, s.Group.Window)
	}
	if len(d.Cut.Area) == 2 {
		spec.Cut.Area = [2]float64(d.Cut.Area)
	}
	return spec
}

// drawn is what helps where phantoms do not fit a model, behind the reason; "" for other data.
func (w *Workload) drawn() string {
	if w.Study.Data.Format != phantom.Format.Name {
		return ""
	}
	return "; phantoms are drawn in any size: set data.phantoms.size to [height, width] and data.phantoms.channels " +
		"to " +
		"what the model reads. A model that reads no grid of pixels has no use for them: give it data of its own, " +
		"such " +
		"as clouds, graphs or signals"
}

func pair(to *[2]int, from []int) {
	if len(from) == 2 {
		*to = [2]int(from)
	}
}

// changed is a data set whose samples are shown otherwise: without labels or targets, with other fields.
type changed struct {
	dataset.Dataset
	info dataset.Info
	// the labels are hidden
	bare bool
	// change makes a sample of the data set one of this.
	change func(*dataset.Sample) error
}

// Info is what is known of the changed samples.
func (c *changed) Info() dataset.Info { return c.info }

// Labels are those of the data set, unless they are hidden.
func (c *changed) Labels() []int {
	if c.bare {
		return nil
	}
	return c.Dataset.Labels()
}

// Sample is sample i, changed.
func (c *changed) Sample(i int) (dataset.Sample, error) {
	s, err := c.Dataset.Sample(i)
	if err == nil {
		err = c.change(&s)
	}
	return s, err
}

// unlabeled hides the labels of a data set.
func unlabeled(d dataset.Dataset) dataset.Dataset {
	c := &changed{Dataset: d, info: d.Info(), bare: true}
	c.info.Classes = nil
	c.change = func(s *dataset.Sample) error {
		s.Label = -1
		return nil
	}
	return c
}

// within is a data set of which only a region of the pictures counts, and of targets that lie on pixels.
func within(d dataset.Dataset, r action.Region) dataset.Dataset {
	c := &changed{Dataset: d, info: d.Info()}
	c.change = func(s *dataset.Sample) error {
		if s.Value = r.Within(s.Value); s.Target != nil {
			s.Target = r.Within(s.Target)
		}
		return nil
	}
	return c
}

// untargeted hides the targets of a data set.
func untargeted(d dataset.Dataset) dataset.Dataset {
	c := &changed{Dataset: d, info: d.Info()}
	c.info.Target = space.Spec{}
	c.change = func(s *dataset.Sample) error {
		s.Target = nil
		return nil
	}
	return c
}
