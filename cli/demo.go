package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"nero/audit"
	"nero/model/engine/choose"
	"nero/run/store"
	"nero/run/workload"
	"nero/serve/guard"
	"nero/studies/cells"
	"nero/studies/clouds"
	"nero/studies/digits"
	"nero/studies/flow"
	"nero/studies/molecules"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// demonstration is a study that the program carries.
type demonstration struct {
	name  string
	files fs.FS
	// its samples, for people
	of string
	// samples that a first table needs; 0 for none
	early int
	// balance says that fewer samples are taken evenly from the classes.
	balance bool
	// what to keep in mind when reading table and audit, in a sentence
	moral string
}

// demonstrations are the studies that the program carries, the usual one first.
func demonstrations() []demonstration {
	return []demonstration{
		{
			name: "digits", files: digits.Files, of: "digits", early: 100, balance: true, // ten of each digit
			moral: "A mean curve that is nearly a circle can fail: the audit judges the answer to every single " +
				"input, not the mean.",
		},
		{
			name: "cells", files: cells.Files, of: "key objects",
			moral: "The target of a window is its key object, and other cells come into sight as it moves: what was " +
				"answered instead is in the views.",
		},
		{
			name: "flow", files: flow.Files, of: "pairs",
			moral: "A small mean error along the orbit is no symmetry yet: @self and the audit compare each answer " +
				"with the moved answer to the pair as it was.",
		},
		{
			name: "clouds", files: clouds.Files, of: "clouds", balance: true,
			moral: "A network that was shown turned shapes is right more often when they are turned; only the one " +
				"that is invariant by construction answers the same.",
		},
		{
			name: "molecules", files: molecules.Files, of: "molecules",
			moral: "Forces can turn with the molecule to the last digit and still be the gradient of no energy: " +
				"energies drift where such forces drive a simulation.",
		},
	}
}

func (a *App) demo() *cobra.Command {
	var rf runFlags
	var sv serveFlags
	limit, once := 0, false
	c := &cobra.Command{
		Use:   "demo [digits | cells | flow | clouds | molecules]",
		Short: "Built-in studies: turned digits, shifted blood cells, mirrored flows, furniture and molecules in space",
		Long: `demo evaluates two small networks, built into the program, along an orbit of real or rendered data:

  digits  real handwritten digits, turned: a classifier trained on upright digits, its twin on turned ones (without a word, this one)
  cells   photos of blood cells in a window that is shifted: a detector trained on cells in its middle, its twin on cells anywhere
  flow    pairs of particle images, mirrored, turned and reversed in time: an estimator of flow, its twin trained on moved pairs
  clouds  points of furniture, turned about axes of three planes: a PointNet, its twin trained on turned shapes, an invariant network
  molecules  energies and forces under motions of space and permutations of atoms: conservative, direct and dense networks

It writes the study, the run, an audit and a report into a folder, and shows them in a browser from the first samples on, until
Ctrl-C. Everything that it does can be done with one's own model by 'nero run', 'nero audit', 'nero report' and 'nero serve'.

With --once, or where nobody sits at a terminal, it ends when everything is written.`,
		Example: "  nero demo\n  nero demo cells -o my-cells\n  nero demo flow --once\n  nero demo -o my-demo " +
			"--limit 200",
		Args:      cobra.MaximumNArgs(1),
		ValidArgs: []string{"digits", "cells", "flow", "clouds", "molecules"},
		RunE: func(cmd *cobra.Command, words []string) error {
			of := demonstrations()[0]
			if len(words) > 0 {
				at := slices.IndexFunc(demonstrations(), func(d demonstration) bool { return d.name == words[0] })
				if at < 0 {
					return fmt.Errorf("no demo %q: there are %s", words[0], strings.Join(cmd.ValidArgs, ", "))
				}
				of = demonstrations()[at]
			}
			if of.name != "digits" && !cmd.Flags().Changed("out") {
				rf.out = "nero-" + of.name
			}
			dir := rf.out
			a.said = new(sync.Map) // run and audit read the same study
			sv.engine, sv.guard.PortSet = rf.engine, cmd.Flags().Changed("port")
			var page *demoPage
			if !once && (sv.open || terminal(a.Out)) {
				page = a.demoPage(cmd.Context(), dir, sv)
				defer page.stop()
			}
			args, err := demoStudy(of, filepath.Join(dir, "study"))
			if err != nil {
				return err
			}
			var sf studyFlags
			sf.add(&cobra.Command{})
			s, err := sf.study(args)
			if err != nil {
				return err
			}
			if limit > 0 {
				s.Data.Limit = limit
				if of.balance {
					s.Data.Balance = "label"
				}
			}
			rf.out = filepath.Join(dir, "run")
			var once sync.Once
			early := func(r *store.Run, w *workload.Workload, kept int) {
				page.show()
				if of.early == 0 || kept < of.early || kept >= w.Job.Count {
					return
				}
				once.Do(func() {
					sum, err := summarize(r, w)
					if err != nil || len(sum.Slices) == 0 {
						return // the final table will say what is wrong
					}
					sum.Samples = sum.Slices[0].N
					fmt.Fprintf(a.Out, "\nFirst look, %d of %d %s:\n", sum.Samples, w.Job.Count, of.of)
					printSummary(a.Out, sum, limitOf(w.Study), "")
					fmt.Fprintln(a.Out)
				})
			}
			done, err := a.evaluate(cmd.Context(), s, rf, early)
			if err != nil {
				return err
			}
			page.show()
			printSummary(a.Out, done.summary, done.limit, "")
			fmt.Fprintln(a.Out)
			reports, err := a.auditStudy(cmd.Context(), s, rf.engine, auditFlags{failOn: string(audit.FailOnNothing)},
				rf.workers)
			if err != nil {
				return err
			}
			again := demoAudit(args[0], limit, of.balance, rf.engine)
			for _, r := range reports {
				r.Command = again
				fmt.Fprintf(a.Out, "audit of %s: %s\n", r.Model, r.Verdict)
				for _, line := range r.Answers() {
					fmt.Fprintf(a.Out, "  %s\n", line)
				}
				questions := r.Questions()
				if len(r.Sets()) == 0 { // why there is no answer
					fmt.Fprintf(a.Out, "  %s\n  %s\n", questions[0].Answers[0], questions[1].Answers[0])
				}
				for _, line := range questions[len(questions)-1].Answers {
					fmt.Fprintf(a.Out, "  %s\n", line)
				}
				if len(r.Diagnoses) > 0 {
					d := r.Diagnoses[0]
					fmt.Fprintf(a.Out, "  most likely: %s (%s sure); %s\n", d.Cause, audit.Percent(d.Confidence), d.Fix)
				}
			}
			fmt.Fprintln(a.Out, of.moral)
			if err := a.writeAudit(io.Discard, reports, []string{"text", "html", "json", "junit"},
				filepath.Join(dir, "audit")); err != nil {
				return err
			}
			files, err := a.writeReport(cmd.Context(), rf.out, filepath.Join(dir, "report"),
				filepath.Join(dir, "audit", "audit.txt"))
			if err != nil {
				return err
			}
			fmt.Fprintf(a.Out, "\nreport: %s (%d files)\naudit:  %s\nrun:    %s\nstudy:  %s, to change and run with: "+
				"nero run %s -o %s\n", filepath.Join(dir, "report", "report.md"), len(files),
				filepath.Join(dir, "audit", "audit.html"), rf.out,
				args[0], args[0], filepath.Join(dir, "mine"))
			if page == nil {
				fmt.Fprintf(a.Out, "look:   nero serve %s\n", dir)
				return nil
			}
			return page.wait()
		},
	}
	rf.add(c, "nero-demo")
	c.Flags().BoolVar(&once, "once", false, "end when everything is written, without showing it")
	c.Flags().BoolVar(&sv.open, "open", false, "show it in a browser even if nobody sits at a terminal")
	c.Flags().BoolVar(&sv.noOpen, "no-open", false, "print the address and open no browser")
	c.Flags().IntVar(&sv.guard.Port, "port", guard.PresetPort,
		"port of the page, 0 for any; without it the next free one is taken if this is in use")
	c.MarkFlagsMutuallyExclusive("once", "open")
	c.Flags().IntVar(&limit, "limit", 0,
		"fewer samples, of digits the same number of each class (0: as many as the study says)")
	return c
}

// demoAudit is the command line that repeats the demo's audit, for reports: demo itself replays nothing.
func demoAudit(study string, limit int, balance bool, engine engineFlags) string {
	words := []string{"nero", "audit", audit.ShellQuote(study)}
	if limit > 0 {
		words = append(words, "--limit", strconv.Itoa(limit))
		if balance {
			words = append(words, "--balance")
		}
	}
	if engine.kind != choose.Auto {
		words = append(words, "--engine", engine.kind)
	}
	if engine.library != "" {
		words = append(words, "--ort-lib", audit.ShellQuote(engine.library))
	}
	return strings.Join(words, " ")
}

// demoPage is the interface over what the demo writes while it writes it.
type demoPage struct {
	serve func() error
	end   context.CancelFunc
	once  sync.Once
	done  chan error
}

// demoPage gets the interface over a folder ready.
func (a *App) demoPage(ctx context.Context, dir string, f serveFlags) *demoPage {
	ctx, end := context.WithCancel(ctx)
	serve := func() error {
		err := a.serveRuns(ctx, []string{dir}, f)
		if err != nil && ctx.Err() == nil {
			a.say("note: the page cannot be shown: %v", err) // at once; what is computed goes on
		}
		return err
	}
	return &demoPage{serve: serve, end: end, done: make(chan error, 1)}
}

// show starts it when there is something to see, which is when the first rows are stored. A nil page shows nothing.
func (p *demoPage) show() {
	if p != nil {
		p.once.Do(func() { go func() { p.done <- p.serve() }() })
	}
}

// wait shows it until the user ends the program.
func (p *demoPage) wait() error { return <-p.done }

// stop ends it.
func (p *demoPage) stop() { p.end() }

// terminal tells whether somebody sits at the other end of the output.
func terminal(out any) bool {
	if s, ok := out.(*sink); ok {
		out = s.w
	}
	file, ok := out.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// demoStudy writes a built-in study below dir, unless it is there, and returns the path of its study file.
func demoStudy(of demonstration, dir string) ([]string, error) {
	err := fs.WalkDir(of.files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := fs.ReadFile(of.files, name)
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
		return nil, err
	}
	return []string{filepath.Join(dir, "demo.yaml")}, nil
}

// writeFile writes a file by rename, so that it is complete or not there.
func writeFile(name string, b []byte) error {
	f, err := os.CreateTemp(filepath.Dir(name), ".nero-*")
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	err = errors.Join(err, f.Chmod(0o644), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}
