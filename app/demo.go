package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"nero/audit"
	"nero/model/engine/choose"
	"nero/run/job"
	"nero/run/store"
	"nero/run/workload"
	"nero/studies/cells"
	"nero/studies/clouds"
	"nero/studies/digits"
	"nero/studies/flow"
	"nero/studies/molecules"
)

// demonstration is a study that the program carries.
type demonstration struct {
	name  string
	files fs.FS
	// what its run is called
	title string
	// its samples, for people
	of string
	// samples that a first table needs; 0 for none
	early int
	// balance says that fewer samples are taken evenly from the classes.
	balance bool
	// exact is the file of a study of a model that keeps the symmetry by construction, on as many samples as a PASS
	// needs; "" where the study that is shown has such a model
	exact string
	// what is repaired at its end, where a file of one of its models can be
	mended mended
	// what it shows, in half a sentence, and the seconds that it takes on two processors with the native engine
	shows   string
	seconds int
	// what to keep in mind when reading table and audit, in a sentence
	moral string
	// what else can be asked of the same models
	more []question
}

// question is something else that the program can be asked. Words of the command that end like a file are files of the
// study.
type question struct{ command, asks string }

// mended is the repair that ends a demo: a model by a method under a group; the zero value is none.
type mended struct{ model, group, method string }

// exactStudy is the name of the second study of a demo.
const exactStudy = "exact.yaml"

// demonstrations are the studies that the program carries, the usual one first.
func demonstrations() []demonstration {
	return []demonstration{
		{
			name: "digits", files: digits.Files,
			title: "Digits, turned",
			of:    "digits", early: 100, balance: true, // ten of each digit
			exact:  exactStudy,
			mended: mended{model: "original", group: "C4", method: "select"},
			shows: "handwritten digits, turned: a classifier trained on upright digits, " +
				"its twin on turned ones",
			seconds: 25,
			moral: "A mean curve that is nearly a circle can fail: the audit judges the answer to every single " +
				"input, not the mean.",
			more: []question{
				{
					"embed features.yaml",
					"how far features go when a digit turns, and can the twin read an index of them",
				},
				{
					"weights models/digits-original.onnx models/digits-augmented.onnx --study demo.yaml",
					"are the two one network, but for the order and scale of its units",
				},
			},
		},
		{
			name: "cells", files: cells.Files,
			title: "Blood cells, shifted",
			of:    "key objects", early: 6, exact: exactStudy,
			shows: "photos of blood cells in a window that is shifted: a detector trained " +
				"on cells in its middle, its twin on cells anywhere",
			seconds: 40,
			moral: "The target of a window is its key object, and other cells come into sight as it moves: what was " +
				"answered instead is in the views.",
		},
		{
			name: "flow", files: flow.Files,
			title: "Particle flow, turned and mirrored",
			of:    "pairs", exact: exactStudy,
			shows: "pairs of particle images, mirrored, turned and reversed in time: an " +
				"estimator of flow, its twin trained on moved pairs, and cross-correlation",
			seconds: 60,
			moral: "A small mean error along the orbit is no symmetry yet: @self and the audit compare each answer " +
				"with the moved answer to the pair as it was.",
		},
		{
			name: "clouds", files: clouds.Files,
			title: "Furniture, turned in space",
			of:    "clouds", early: 6, balance: true, exact: exactStudy,
			shows: "points of furniture, turned about axes of three planes: a PointNet, " +
				"its twin trained on turned shapes, an invariant network",
			seconds: 45,
			moral: "A network that was shown turned shapes is right more often when they are turned; only the one " +
				"that is invariant by construction answers the same.",
		},
		{
			name: "molecules", files: molecules.Files,
			title: "Molecules, moved and renumbered",
			of:    "molecules", early: 8,
			shows: "energies and forces under motions of space and permutations of atoms: " +
				"conservative, direct and dense networks",
			seconds: 55,
			moral: "Forces can turn with the molecule to the last digit and still be the gradient of no energy: " +
				"energies drift where such forces drive a simulation.",
		},
	}
}

// DemoNames are the names of the studies that the program carries, the usual one first.
func DemoNames() []string {
	var names []string
	for _, d := range demonstrations() {
		names = append(names, d.name)
	}
	return names
}

// Demo is a study that the program carries, for a list of them.
type Demo struct {
	Name string
	// Shows is what it is about, in half a sentence.
	Shows string
	// Seconds is about how long run and audits take on two processors with the native engine.
	Seconds int
}

// Demos are the studies that the program carries, the usual one first.
func Demos() []Demo {
	var out []Demo
	for _, d := range demonstrations() {
		out = append(out, Demo{d.name, d.shows, d.seconds})
	}
	return out
}

// demonstrationOf finds a study by its name; empty means the usual one.
func demonstrationOf(name string) (demonstration, error) {
	all := demonstrations()
	if name == "" {
		return all[0], nil
	}
	i := slices.IndexFunc(all, func(d demonstration) bool { return d.name == name })
	if i < 0 {
		return demonstration{}, fmt.Errorf("no demo %q: there are %s", name, strings.Join(DemoNames(), ", "))
	}
	return all[i], nil
}

// DemoOptions say which built-in study is shown, and how.
type DemoOptions struct {
	// Name is one of [DemoNames]; empty for the first.
	Name string
	// Dir is the folder into which study, run, audit and report are written.
	Dir     string
	Engine  Engine
	Workers int
	// KeepGoing is that of [RunOptions].
	KeepGoing bool
	// Limit is the number of samples; 0 for as many as the study says.
	Limit int
	// CPU is the processor time of this process; nil where the cost of a repair is only predicted.
	CPU func() time.Duration

	// Kept is called when rows are stored, from several goroutines at once; nil for nobody.
	Kept func()
	// First is called once with the table of the first samples, of so many that are called so, where a study has an
	// early table; nil for nobody.
	First func(r *RunResult, of int, samples string)
	// Ran is called when the run is complete, Audited after the audit; nil for nobody.
	Ran     func(*RunResult)
	Audited func(*AuditResult)
}

// DemoResult says where everything lies.
type DemoResult struct {
	// Study, Report and Audit are files, Run is a folder.
	Study, Run, Audit, Report string
	// Exact is the audit of a model that keeps the symmetry by construction, where the study has none; "" where it has,
	// and where samples were limited, since a PASS needs more than a few.
	Exact string
	// Repaired is the file of a model that was repaired, and Bill what that costs, in a sentence; "" where nothing was.
	Repaired, Bill string
	// Files is the number of files of the report.
	Files int
	// Moral is what to keep in mind when reading table and audit, in a sentence.
	Moral string
	// More is what else can be asked of the same models.
	More []Question
}

// Question is something else to ask: Args are the words after the program's name, Asks is the question.
type Question struct {
	Args []string
	Asks string
}

// Demo runs, audits and reports a study that the program carries.
func (a *App) Demo(ctx context.Context, o DemoOptions) (*DemoResult, error) {
	of, err := demonstrationOf(o.Name)
	if err != nil {
		return nil, err
	}
	d := &DemoResult{
		Run: filepath.Join(o.Dir, "run"), Audit: filepath.Join(o.Dir, "audit", "audit.html"),
		Report: filepath.Join(o.Dir, "report", "report.md"), Moral: of.moral,
	}
	if d.Study, err = of.write(filepath.Join(o.Dir, "study")); err != nil {
		return nil, err
	}
	s, err := a.OpenStudy(d.Study)
	if err != nil {
		return nil, err
	}
	for _, q := range of.more {
		d.More = append(d.More, q.in(filepath.Dir(d.Study)))
	}
	s.Name = cmp.Or(s.Name, of.title)
	if o.Limit > 0 {
		s.Data.Limit = o.Limit
		if of.balance {
			s.Data.Balance = "label"
		}
	}
	ran, err := a.run(ctx, s, RunOptions{
		Engine: o.Engine, Dir: d.Run, Workers: o.Workers, KeepGoing: o.KeepGoing, by: "nero demo",
	}, of.watch(a, o))
	if err != nil {
		return nil, err
	}
	call(o.Kept)
	if o.Ran != nil {
		o.Ran(ran)
	}
	only, err := a.demoModels(of, s, o)
	if err != nil {
		return nil, err
	}
	audited, err := a.Audit(ctx, s, AuditOptions{
		Engine: o.Engine, Workers: o.Workers, FailOn: string(audit.FailOnNothing), Only: only,
		Command: demoAudit(d.Study, o.Limit, of.balance, only, o.Engine),
	})
	if err != nil {
		return nil, err
	}
	if o.Audited != nil {
		o.Audited(audited)
	}
	if err := audited.Save(filepath.Dir(d.Audit), "text", "html", "json", "junit"); err != nil {
		return nil, err
	}
	files, err := a.Report(ctx, d.Run, filepath.Dir(d.Report), filepath.Join(filepath.Dir(d.Audit), AuditFile("text")))
	if err != nil {
		return nil, err
	}
	d.Files = len(files)
	if of.exact != "" && o.Limit == 0 {
		if d.Exact, err = a.demoExact(ctx, filepath.Join(filepath.Dir(d.Study), of.exact), o); err != nil {
			return nil, err
		}
	}
	if of.mended.model != "" && o.Limit == 0 {
		if err := a.demoRepair(ctx, of.mended, d, o); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// in is the question with the files of a study in a folder.
func (q question) in(dir string) Question {
	out := Question{Asks: q.asks}
	for w := range strings.FieldsSeq(q.command) {
		if filepath.Ext(w) != "" {
			w = filepath.Join(dir, filepath.FromSlash(w))
		}
		out.Args = append(out.Args, w)
	}
	return out
}

// demoRepair repairs a model. Its audits are of what judges alone, so that a demo ends soon.
func (a *App) demoRepair(ctx context.Context, m mended, d *DemoResult, o DemoOptions) error {
	s, err := a.OpenStudy(d.Study)
	if err != nil {
		return err
	}
	s.Group.Name, s.Group.Orbit = m.group, job.Orbit{}
	s.Audit.Checks = singleChecks()
	d.Repaired = filepath.Join(o.Dir, plainName(m.model+"-"+m.method)+".onnx")
	r, err := a.Repair(ctx, s, RepairOptions{
		Engine: o.Engine, Workers: o.Workers, Only: []string{m.model}, Methods: []string{m.method}, Loss: 1,
		Out: d.Repaired, CPU: o.CPU,
	})
	if err != nil {
		return err
	}
	d.Bill = r.Models[0].Brief()
	return nil
}

// demoModels are the models that the first audit is about: those that the second one has no more to say of. Nil is all.
func (a *App) demoModels(of demonstration, s *job.Study, o DemoOptions) ([]string, error) {
	if of.exact == "" || o.Limit > 0 {
		return nil, nil
	}
	e, err := a.OpenStudy(filepath.Join(o.Dir, "study", of.exact))
	if err != nil {
		return nil, err
	}
	var only []string
	for _, m := range s.Models {
		if !slices.ContainsFunc(e.Models, func(x job.Model) bool { return x.Name == m.Name }) {
			only = append(only, m.Name)
		}
	}
	if len(only) == len(s.Models) {
		return nil, nil
	}
	return only, nil
}

// demoExact audits a model that passes, and returns the page.
func (a *App) demoExact(ctx context.Context, study string, o DemoOptions) (string, error) {
	s, err := a.OpenStudy(study)
	if err != nil {
		return "", err
	}
	audited, err := a.Audit(ctx, s, AuditOptions{
		Engine: o.Engine, Workers: o.Workers, FailOn: string(audit.FailOnNothing),
		Command: demoAudit(study, 0, false, nil, o.Engine),
	})
	if err != nil {
		return "", err
	}
	if o.Audited != nil {
		o.Audited(audited)
	}
	dir := filepath.Join(o.Dir, "audit-exact")
	return filepath.Join(dir, AuditFile("html")), audited.Save(dir, "text", "html", "json", "junit")
}

func call(f func()) {
	if f != nil {
		f()
	}
}

// watch tells of rows that are kept, and once of the first table.
func (d demonstration) watch(a *App, o DemoOptions) func(*store.Run, *workload.Workload, int) {
	var once sync.Once
	return func(r *store.Run, w *workload.Workload, kept int) {
		call(o.Kept)
		if d.early == 0 || kept < d.early || kept >= w.Job.Count || o.First == nil {
			return
		}
		once.Do(func() {
			sum, err := a.summarize(r, closingOf(w))
			if err != nil || len(sum.Slices) == 0 {
				return // the final table will say what is wrong
			}
			sum.Samples = sum.Slices[0].N
			o.First(&RunResult{Summary: sum, Limit: limitOf(w.Study), About: w.Study.About}, w.Job.Count, d.of)
		})
	}
}

// demoAudit is the command line that repeats the demo's audit, for reports: demo itself replays nothing.
func demoAudit(study string, limit int, balance bool, only []string, engine Engine) string {
	words := []string{"nero", "audit", audit.ShellQuote(study)}
	for _, name := range only {
		words = append(words, "--only", name)
	}
	if limit > 0 {
		words = append(words, "--limit", strconv.Itoa(limit))
		if balance {
			words = append(words, "--balance")
		}
	}
	if engine.Kind != "" && engine.Kind != choose.Auto {
		words = append(words, "--engine", engine.Kind)
	}
	if engine.Library != "" {
		words = append(words, "--ort-lib", audit.ShellQuote(engine.Library))
	}
	return strings.Join(words, " ")
}

// write writes the study into a folder, unless it is there, and returns the path of its study file.
func (d demonstration) write(dir string) (string, error) {
	err := fs.WalkDir(d.files, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		b, err := fs.ReadFile(d.files, name)
		if err != nil {
			return err
		}
		to := filepath.Join(dir, filepath.FromSlash(name))
		if old, err := os.ReadFile(to); err == nil {
			if string(old) == string(b) {
				return nil
			}
			return fmt.Errorf("%s is there and is not the file of the demo: move it away, or choose another folder "+
				"with -o", to)
		} else if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		return writeFile(to, b)
	})
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "demo.yaml"), nil
}
