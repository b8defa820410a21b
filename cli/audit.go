package cli

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"nero/app"
	"nero/run/job"

	"github.com/spf13/cobra"
)

func (a *App) audit() *cobra.Command {
	var sf studyFlags
	var formats []string
	var af auditFlags
	var out string
	c := &cobra.Command{
		Use:   "audit [STUDY.yaml | MODEL.onnx]",
		Short: "Decide whether a model is equivariant, with evidence",
		Long: `audit measures how far the model's answer at g·x is from where it should be, judges exact elements (quarter turns, mirrors,
whole shifts) before resampled ones, holds every error against what rounding, repeats and resampling alone would do, and checks by
a planted asymmetry how small a violation it would have found. It looks for the layer in which an error enters, tests gradients,
derivatives along the group, unusual inputs and other conventions, says what the graph alone allows, and names the most likely
cause with what speaks for and against it. 'nero checks' lists what is asked.

Exit code: 0 PASS; 1 FAIL, and NEEDS_ATTENTION unless --fail-on lets it through; 2 the audit could not run.`,
		Example: "  nero audit model.onnx --data photos --group C4 --invariant\n" +
			"  nero audit studies/digits/demo.yaml --format text,json,junit -o audit\n" +
			"  nero audit segment.onnx --data photos --group D4 --output image --equivariant\n" +
			"  nero audit model.onnx --data photos --group C4 --skip gradient --set layers.samples=16",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := app.CheckAuditOutput(formats, out); err != nil {
				return err
			}
			s, err := sf.study(args)
			if err != nil {
				return err
			}
			if err := af.overlay(s); err != nil {
				return err
			}
			o := af.options
			o.Command = a.command()
			if cmd.Flags().Changed("replay") {
				return a.replay(cmd.Context(), s, af.replay, o, formats, out)
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
			if err := a.printAudit(r, formats, out); err != nil {
				return err
			}
			switch r.Outcome() {
			case app.Good:
				return nil
			case app.Findings:
				return errFindings
			case app.NotRun:
			}
			return fmt.Errorf("the audit of %s could not run", strings.Join(r.Unaudited(), ", "))
		},
	}
	sf.add(c)
	a.addPrograms(c)
	addEngine(c, &af.options.Engine)
	c.Flags().StringSliceVarP(&formats, "format", "f", []string{"text"},
		"text, markdown, html, json, junit, sarif, badge; several with -o")
	c.Flags().StringVarP(&out, "out", "o", "",
		"`folder` for audit.txt, audit.md, audit.html, audit.json, audit.junit.xml, audit.sarif; text is still printed")
	c.Flags().IntVarP(&af.options.Workers, "workers", "w", workers(), "workers; their number changes no number")
	af.add(c)
	return c
}

// auditFlags choose what an audit asks and how it answers.
type auditFlags struct {
	options                             app.AuditOptions
	checks, skip, require, layers, sets []string
	replay, contract                    string
	earlyStop                           bool
}

func (f *auditFlags) add(c *cobra.Command) {
	s := c.Flags()
	s.StringVar(&f.options.FailOn, "fail-on", "attention",
		"what ends with exit code 1: attention (and FAIL), fail, nothing")
	s.IntVar(&f.options.Average, "average", 0,
		"average this many repeats of every prediction, to audit a stochastic model in its mean")
	s.StringSliceVar(&f.checks, "checks", nil, "run only these `checks`, with what they need (default: all)")
	s.StringSliceVar(&f.skip, "skip", nil, "`checks` to leave out")
	s.StringSliceVar(&f.require, "require", nil, "optional `checks` without which there is no PASS, or all")
	s.StringSliceVar(&f.layers, "layer", nil, "look at these `layers` only, by the name of the node or of its output")
	s.StringArrayVar(&f.sets, "set", nil, "parameter of a check, `CHECK.NAME=NUMBER`; repeat for several")
	b := &f.options.Baseline
	s.StringVar(&b.File, "baseline", "",
		"compare with an earlier audit of the same study, its JSON `file`; a regression is FAIL")
	s.StringVar(&b.Model, "baseline-model", "", "`name` that the model has in the baseline (default: the same)")
	addAllow(c, &b.Allow)
	s.StringVar(&f.options.Calibrate, "calibrate", "",
		"threshold: ten times the error of this reference `model`, known to be good, on the same study")
	s.StringVar(&f.contract, "contract", "",
		"what must hold of inputs like these, `ERROR:RATE[:CONFIDENCE]`: 1e-3:0.05 is P(error > 0.001) at most 5%")
	s.BoolVar(&f.earlyStop, "early-stop", false,
		"stop adding inputs once it is certain, at any time, whether the contract holds (without one: the policy's "+
			"share of inputs)")
	s.StringArrayVar(&f.options.Only, "only", nil, "audit this `model` of the study alone, by its name; repeat for several")
	s.StringVar(&f.replay, "replay", "",
		"measure one sample at one element again, `SAMPLE@COORDINATES`, as reports print it; with -o keep its inputs "+
			"and outputs")
}

// overlay lays the flags over the study.
func (f *auditFlags) overlay(s *job.Study) error {
	if len(f.checks) > 0 {
		s.Audit.Checks = f.checks
	}
	if len(f.skip) > 0 {
		s.Audit.Skip = f.skip
	}
	if len(f.require) > 0 {
		s.Audit.Require = f.require
	}
	if len(f.layers) > 0 {
		s.Audit.Layers = f.layers
	}
	s.Audit.Params = append(slices.Clone(s.Audit.Params), f.sets...)
	s.Audit.EarlyStop = s.Audit.EarlyStop || f.earlyStop
	if f.contract != "" {
		var err error
		if s.Audit.Contract, err = parseContract(f.contract); err != nil {
			return err
		}
	}
	return nil
}

// printAudit prints one format, or writes several into a folder and prints the text.
func (a *App) printAudit(r *app.AuditResult, formats []string, out string) error {
	if out == "" {
		return r.Write(a.Out, formats[0])
	}
	if err := r.Write(a.Out, "text"); err != nil { // first: what cannot be written into files is not lost
		return err
	}
	return r.Save(out, formats...)
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

// parsePlace reads SAMPLE@COORDS. A sample may hold an @ itself; the last one counts.
func parsePlace(s string) (app.Place, error) {
	i := strings.LastIndexByte(s, '@')
	if i <= 0 || i == len(s)-1 {
		return app.Place{}, fmt.Errorf("--replay %q: want SAMPLE@COORDINATES, such as 17@90 or 3/017.png@2,-1", s)
	}
	p := app.Place{Sample: s[:i]}
	for c := range strings.SplitSeq(s[i+1:], ",") {
		x, err := strconv.ParseFloat(strings.TrimSpace(c), 64)
		if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
			return app.Place{}, fmt.Errorf(
				"--replay %q: %q is not a coordinate; want numbers separated by commas after the last @", s, c)
		}
		p.At = append(p.At, x)
	}
	return p, nil
}

// command is the command line that repeats the audit: what was typed, without what only says where results go.
func (a *App) command() string {
	words := []string{"nero"}
	skip := false
	for _, w := range a.args {
		switch name, _, with := strings.Cut(w, "="); {
		case skip:
			skip = false
		case slices.Contains([]string{
			"-o", "--out", "-f", "--format", "--baseline", "--baseline-model",
			"--allow-regression", "--fail-on", "-w", "--workers",
		}, name):
			skip = !with
		case w == "-q" || w == "--quiet":
		default:
			words = append(words, w)
		}
	}
	return app.CommandLine(words)
}
