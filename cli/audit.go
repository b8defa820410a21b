package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"nero/app"
	"nero/run/job"

	"github.com/spf13/cobra"
)

// outcome is how an audit ends the program.
func outcome(r *app.AuditResult) error {
	switch r.Outcome() {
	case app.Good:
		return nil
	case app.Findings:
		return errFindings
	case app.NotRun:
	}
	return fmt.Errorf("the audit of %s could not run", strings.Join(r.Unaudited(), ", "))
}

func (a *App) audit() *cobra.Command {
	var sf studyFlags
	var formats []string
	var kf keyFlags
	var o app.AuditOptions
	var replay string
	var out string
	var full bool
	c := &cobra.Command{
		Use:   "audit [STUDY.yaml | MODEL.onnx]",
		Short: "Decide whether a model is equivariant, with evidence",
		Long: `audit measures how far the model's answer at g·x is from where it should be, judges exact elements (quarter turns, mirrors,
whole shifts) before resampled ones, holds every error against what rounding, repeats and resampling alone would do, and checks by
a planted asymmetry how small a violation it would have found. It looks for the layer in which an error enters, tests gradients,
derivatives along the group, unusual inputs and other conventions, says what the graph alone allows, and names the most likely
cause with what speaks for and against it. 'nero checks' lists what is asked.

--form audits other exported forms of the same model, such as float16 and int8, with the same inputs, elements and seeds, and lays
verdicts, errors, answers and sizes side by side. --before audits the model as it was, such as before training, and says in pairs of
inputs what improved, what did not change and what became worse.

Exit code: 0 PASS; 1 FAIL, and NEEDS_ATTENTION unless --fail-on lets it through; 2 the audit could not run.`,
		Example: "  nero audit model.onnx --data photos --group C4 --invariant\n" +
			"  nero audit studies/digits/demo.yaml --format text,json,junit -o audit\n" +
			"  nero audit segment.onnx --data photos --group D4 --output image --equivariant\n" +
			"  nero audit model.onnx --data photos --group C4 --invariant --skip gradient --set layers.samples=16\n" +
			"  nero audit study.yaml --form model-f16.onnx --form model-int8.onnx\n" +
			"  nero audit study.yaml --before model-epoch1.onnx",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := app.CheckAuditOutput(formats, out); err != nil {
				return err
			}
			o.Command = a.command()
			sf.claim = func(s *job.Study) error { return a.app.Claim(s, o.Command) }
			s, err := sf.study(&a.app, args)
			if err != nil {
				return err
			}
			if err := kf.lay(s); err != nil {
				return err
			}
			if cmd.Flags().Changed("replay") {
				return a.replay(cmd.Context(), s, replay, o, formats, out)
			}
			if out != "" {
				if err := app.CheckAuditFolder(out); err != nil {
					return err
				}
			}
			r, err := a.app.Audit(cmd.Context(), s, o)
			if err != nil {
				return err
			}
			if full || out == "" && cmd.Flags().Changed("format") {
				err = a.printAudit(r, formats, out)
			} else {
				err = a.briefAudit(r, formats, out)
			}
			if err != nil {
				return err
			}
			return outcome(r)
		},
	}
	sf.add(c)
	a.addPrograms(c)
	addEngine(c, &o.Engine)
	addLimits(c, &o.Engine, false, "60s for endpoints and any for files")
	c.Flags().StringSliceVarP(&formats, "format", "f", []string{"text"},
		strings.Join(app.AuditFormats(), ", ")+"; several with -o")
	c.Flags().StringVarP(&out, "out", "o", "",
		"`folder` for audit.txt, audit.md, audit.html, audit.json, audit.junit.xml, audit.sarif")
	c.Flags().BoolVar(&full, "full", false, "print the whole report instead of one screen of it")
	c.Flags().IntVarP(&o.Workers, "workers", "w", workers(), "workers; their number changes no number")
	kf.add(c, auditKeys())
	addAudit(c, &o)
	c.Flags().StringVar(&replay, "replay", "",
		"measure one sample at one element again, `SAMPLE@COORDINATES`, as reports print it; with -o keep its inputs "+
			"and outputs")
	ofAudit.holds(c.Flags(), "replay")
	ofResult.holds(c.Flags(), "format", "out", "full")
	ofEngine.holds(c.Flags(), "workers")
	inParts(c)
	return c
}

// addAudit adds the flags that say how an audit is made and how it answers.
func addAudit(c *cobra.Command, o *app.AuditOptions) {
	s := c.Flags()
	s.IntVar(&o.Average, "average", 0,
		"average this many repeats of every prediction, to audit a stochastic model in its mean")
	s.StringVar(&o.Calibrate, "calibrate", "",
		"threshold: ten times the error of this reference `model`, known to be good, on the same study, or ten "+
			"times its rounding floor where that is larger")
	s.StringArrayVar(&o.Only, "only", nil, "audit this `model` of the study alone, by its name; repeat for several")
	s.StringVar(&o.Baseline.File, "baseline", "",
		"compare with an earlier audit of the same study, its JSON `file`; a regression is FAIL")
	s.StringVar(&o.Baseline.Model, "baseline-model", "",
		"`name` that the model has in the baseline (default: the same)")
	s.StringVar(&o.Before, "before", "",
		"audit this `model` too, the one that there was before, and compare in pairs; a regression is FAIL")
	s.StringArrayVar(&o.Forms, "form", nil,
		"audit this `file` too, another exported form of the model, and compare their answers; repeat for several")
	addAllow(c, &o.Baseline.Allow)
	ofAudit.holds(s, "average", "calibrate", "only", "form", "before", "baseline", "baseline-model",
		"allow-regression")
	s.StringVar(&o.FailOn, "fail-on", "attention",
		"what ends with exit code 1: attention (and FAIL), fail, nothing")
	ofResult.holds(s, "fail-on")
}

// auditWriter is an audit that can be written: one that was made now, or one from a file.
type auditWriter interface {
	Write(w io.Writer, format string) error
	WriteScreen(w io.Writer, columns int) error
	Save(out string, formats ...string) error
}

// printAudit prints one format, or writes several into a folder and prints the text.
func (a *App) printAudit(r auditWriter, formats []string, out string) error {
	if out == "" && formats[0] == "text" {
		return a.inColor(func() error { return r.WriteScreen(a.Out, columnsOf(a.Out)) })
	}
	if out == "" {
		return r.Write(a.Out, formats[0])
	}
	// First: what cannot be written into files is not lost.
	if err := a.inColor(func() error { return r.WriteScreen(a.Out, columnsOf(a.Out)) }); err != nil {
		return err
	}
	return r.Save(out, formats...)
}

// briefAudit prints one screen of an audit, and says where all of it is.
func (a *App) briefAudit(r *app.AuditResult, formats []string, out string) error {
	// First: what cannot be written into files is not lost.
	if err := a.inColor(func() error { return r.WriteBrief(a.Out) }); err != nil {
		return err
	}
	if out == "" {
		fmt.Fprint(a.Out, "This is one screen of it; --full prints the whole report, -f html -o FOLDER\n"+
			"makes a page.\n")
		return nil
	}
	if err := r.Save(out, formats...); err != nil {
		return err
	}
	fmt.Fprintln(a.Out, "The whole report:")
	for _, f := range formats {
		fmt.Fprintln(a.Out, "  "+filepath.Join(out, app.AuditFile(f)))
	}
	return nil
}

// replay measures one sample at one element again.
func (a *App) replay(ctx context.Context, s *job.Study, text string, o app.AuditOptions, formats []string,
	out string,
) error {
	at, err := parsePlace(text)
	if err != nil {
		return err
	}
	if len(formats) != 1 || formats[0] != "text" && formats[0] != "json" {
		return fmt.Errorf("--format %s: a replay is printed as text or as json; -o keeps the inputs and outputs",
			strings.Join(formats, ","))
	}
	if out != "" {
		if err := app.CheckReplayFolder(out); err != nil {
			return err
		}
	}
	r, err := a.app.Replay(ctx, s, at, o)
	if wrong, ok := errors.AsType[*app.PlaceError](err); ok {
		return fmt.Errorf("--replay %q: %w", text, wrong)
	}
	if err != nil {
		return err
	}
	if out != "" {
		if err := r.Save(out); err != nil {
			return err
		}
	}
	if formats[0] == "json" {
		return r.WriteJSON(a.Out)
	}
	return r.WriteText(a.Out)
}

// command is the command line that repeats the audit: what was typed, without what only says where results go.
func (a *App) command() string { return commandOf(a.args) }

// commandOf is that of other words.
func commandOf(args []string) string {
	words := []string{"nero"}
	skip := false
	for _, w := range args {
		switch name, _, with := strings.Cut(w, "="); {
		case skip:
			skip = false
		case slices.Contains([]string{
			"-o", "--out", "-f", "--format", "--baseline", "--baseline-model",
			"--before", "--allow-regression", "--fail-on", "-w", "--workers",
		}, name):
			skip = !with
		case w == "-q" || w == "--quiet" || w == "--full":
		default:
			words = append(words, w)
		}
	}
	return app.CommandLine(words)
}
