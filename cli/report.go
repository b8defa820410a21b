package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"nero/app"

	"github.com/spf13/cobra"
)

// onePage are the flags that only a report in one file has.
var onePage = []string{"metric", "slice", "budget", "keep", "seed", "layout", "no-live", "engine", "ort-lib", "web"}

func (a *App) report() *cobra.Command {
	var o app.PageOptions
	var out, audit, budget string
	var formats []string
	keep := app.PresetKeep
	c := &cobra.Command{
		Use:   "report DIR... | AUDIT.json --format FORMAT",
		Short: "Write a run as one HTML page, or as pictures, a Markdown page and CSV; an audit in any format",
		Long: `report writes a run for people without this program.

With -o FILE.html it writes the interface of nero serve with the run inside: one file that opens from disk, asks the network for nothing and
runs no model. A DIR is the folder of a run or of an audit, or one that holds such folders; two runs are laid side by side. What nero repair,
discover, data, identify, watch, weights, embed and repeat found of the run or beside it (repair.json, discovery.json, data.json,
answers.yaml, watch.json, weights.json, embedding.json, repeat.json) is inside, too. Models and data are asked for the inputs and the scores of the samples that are kept whole, unless --no-live
is given or they are not there any more. What does not fit into the budget is left out, and the page says what. See docs/REPORT.md.

With -o FOLDER it writes report.md, the aggregate and some individual NERO plots as SVG and PNG, and the aggregate curves as CSV. It runs no
model: everything comes from the run folder. The inputs of individual plots are shown if the data is still where it was.

With --format it writes what 'nero audit --format json' wrote, a file or the folder that it is in, in any other format of audits: the same bytes
as the audit itself wrote in that format.`,
		Example: "  nero report nero-run -o report\n  nero report nero-run --audit audit/audit.txt -o report\n" +
			"  nero report nero-demo -o digits.html\n  nero report nero-run nero-audit --metric margin --budget 4MB " +
			"-o digits.html\n" +
			"  nero report audit/audit.json --format markdown\n" +
			"  nero report audit/audit.json --format html,sarif -o again",
		Args: someFolder,
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("format") {
				if !cmd.Flags().Changed("out") {
					out = ""
				}
				for _, name := range append(slices.Clone(onePage), "audit") {
					if cmd.Flags().Changed(name) {
						return fmt.Errorf("--%s is for the report of a run, and --format writes an audit: leave one "+
							"away",
							name)
					}
				}
				return a.reportAudit(args, formats, out)
			}
			if len(args) == 1 && strings.EqualFold(filepath.Ext(args[0]), ".json") {
				return fmt.Errorf("%s is a file; a run is a folder, and an audit needs --format, such as --format "+
					"markdown; what other commands found is shown by nero serve %s, and the command that found it "+
					"writes its page with -f html", args[0], args[0])
			}
			page := strings.EqualFold(filepath.Ext(out), ".html") || strings.EqualFold(filepath.Ext(out), ".htm")
			if page {
				if cmd.Flags().Changed("audit") {
					return errors.New("--audit is for a report in a folder; name the folder of the audit beside that " +
						"of the run")
				}
				if o.Keep = keep; keep <= 0 {
					o.Keep = -1
				}
				var err error
				if o.Budget, err = app.ParseSize(budget); err != nil {
					return fmt.Errorf("--budget: %w", err)
				}
				p, err := a.app.Page(cmd.Context(), args, out, o)
				if err != nil {
					return err
				}
				for _, text := range p.LeftOut {
					a.say("note: %s", text)
				}
				fmt.Fprintf(a.Out, "%s, %s\n", out, p)
				return nil
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
			files, err := a.app.Report(cmd.Context(), args[0], out, audit)
			if err != nil {
				return err
			}
			fmt.Fprintf(a.Out, "%s and %d other files\n", filepath.Join(out, "report.md"), len(files)-1)
			return nil
		},
	}
	o.Workers = workers()
	fl := c.Flags()
	fl.StringSliceVarP(&formats, "format", "f", nil,
		"of an audit: "+strings.Join(app.AuditFormats(), ", ")+"; several with -o")
	fl.StringVarP(&out, "out", "o", "nero-report", "`folder` for the report, or a file that ends with .html")
	fl.StringVar(&audit, "audit", "", "text `file` of an audit to include in a folder")
	fl.StringVarP(&o.Metric, "metric", "m", "",
		"`metric` that the page shows first and keeps before the others; default the first of the run")
	fl.StringVar(&o.Slice, "slice", "",
		"`name` of a kept slice or of a class that the page shows first; samples are kept from it")
	fl.StringVar(&budget, "budget", "10MB", "largest `size` of the file")
	fl.IntVar(&keep, "keep", keep,
		"most samples that are kept with their exact orbit, inputs and scores, 0 for none")
	fl.Uint64Var(&o.Seed, "seed", 0, "decides which samples are kept beside the worst ones")
	fl.StringSliceVar(&o.Layouts, "layout", nil,
		"further layout of the samples: ica, isomap, tsne, umap; repeatable, may take long")
	fl.BoolVar(&o.Stored, "no-live", false, "take what is stored: no inputs and no scores")
	fl.StringVar(&o.Web, "web", "",
		"`folder` with the files of the interface, instead of those that are part of the program")
	_ = fl.MarkHidden("web") // it is there
	addEngine(c, &o.Engine)
	return c
}

// reportAudit writes a stored audit in other formats.
func (a *App) reportAudit(args, formats []string, out string) error {
	if err := app.CheckAuditOutput(formats, out); err != nil {
		return err
	}
	if len(args) != 1 {
		return fmt.Errorf("%d audits are given; with --format give one file, as 'nero audit --format json' wrote it",
			len(args))
	}
	if out != "" {
		if err := app.CheckAuditFolder(out); err != nil {
			return err
		}
	}
	d, err := app.ReadAudit(args[0])
	if err != nil {
		return err
	}
	return a.printAudit(d, formats, out)
}
