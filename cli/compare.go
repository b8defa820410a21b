package cli

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"nero/audit/baseline"

	"github.com/spf13/cobra"
)

// compareFormats are the writers of the formats of a comparison.
var compareFormats = map[string]func(io.Writer, ...*baseline.Comparison) error{
	"text": baseline.Text, "markdown": baseline.Markdown, "json": baseline.JSON,
}

func (a *App) compare() *cobra.Command {
	var bf baselineFlags
	var format, before, after string
	c := &cobra.Command{
		Use:   "compare BEFORE.json AFTER.json",
		Short: "Compare two audits of one study: did a fix help, is a model worse?",
		Long: `compare holds two audits of the same study against each other: the same elements, inputs, seeds and limits, each input with itself.
It says of each set of elements how large the errors were and are, by what factor they changed, with an interval, which inputs fail now that
did not, and what became of each finding: fixed, improved, unchanged, worse or new. It takes what 'nero audit --format json' wrote, or the
folders that 'nero audit -o' wrote it to.

Two folders of 'nero run' are compared by their metrics: the mean of each sample over the orbit, before and after.

Exit code: 0 not worse; 1 worse by more than is allowed, see --allow-regression; 2 the audits cannot be compared.`,
		Example: "  nero audit study.yaml --format json -o before\n  nero audit study.yaml --model resnet=fixed.onnx " +
			"--format json -o after\n  nero compare before after",
		Args: cobra.ExactArgs(2),
		RunE: func(_ *cobra.Command, args []string) error {
			write, ok := compareFormats[format]
			if !ok {
				return fmt.Errorf("--format %q: want %s", format,
					strings.Join(slices.Sorted(maps.Keys(compareFormats)), ", "))
			}
			if isRun(args[0]) && isRun(args[1]) {
				cs, err := compareRuns([2]string{args[0], args[1]}, before, after, bf.allow)
				if err != nil {
					return err
				}
				if err := a.printRuns(cs, format); err != nil {
					return err
				}
				if slices.ContainsFunc(cs, func(c runChange) bool { return c.Beyond }) {
					return errFindings
				}
				return nil
			}
			x, err := readAudit(args[0])
			if err != nil {
				return err
			}
			y, err := readAudit(args[1])
			if err != nil {
				return err
			}
			pairs, notes, err := pairUp(x, y, before, after)
			if err != nil {
				return err
			}
			for _, n := range notes {
				a.say("note: %s", n)
			}
			var all []*baseline.Comparison
			worse := false
			for _, p := range pairs {
				c, err := baseline.Compare(p[0], p[1], baseline.Options{Allow: bf.allow})
				if err != nil {
					return err
				}
				all = append(all, c)
				worse = worse || c.Regressed()
			}
			if err := write(a.Out, all...); err != nil {
				return err
			}
			if worse {
				return errFindings
			}
			return nil
		},
	}
	c.Flags().StringVarP(&format, "format", "f", "text", "text, markdown, json")
	c.Flags().StringVar(&before, "before", "", "`name` of the model in the first audit")
	c.Flags().StringVar(&after, "after", "", "`name` of the model in the second audit (default: the same)")
	bf.addAllow(c)
	return c
}

// pairUp says which models of two audits are compared: those that are named, or all of the same name.
func pairUp(x, y *baseline.File, before, after string) (pairs [][2]*baseline.Model, notes []string, err error) {
	if before != "" || after != "" {
		a, err := x.Model(or(before, after))
		if err != nil {
			return nil, nil, err
		}
		b, err := y.Model(or(after, before))
		if err != nil {
			return nil, nil, err
		}
		return [][2]*baseline.Model{{a, b}}, nil, nil
	}
	names := func(f *baseline.File) (all []string) {
		for _, m := range f.Models {
			all = append(all, m.Name)
		}
		return all
	}
	for _, m := range x.Models {
		o, err := y.Model(m.Name)
		if err != nil {
			notes = append(notes, fmt.Sprintf("model %s is in %s alone", m.Name, x.Name))
			continue
		}
		pairs = append(pairs, [2]*baseline.Model{m, o})
	}
	for _, n := range names(y) {
		if !slices.Contains(names(x), n) {
			notes = append(notes, fmt.Sprintf("model %s is in %s alone", n, y.Name))
		}
	}
	if len(pairs) == 0 {
		return nil, nil, fmt.Errorf("no model is in both: %s has %s, %s has %s; name two with --before and --after",
			x.Name, strings.Join(names(x), ", "), y.Name, strings.Join(names(y), ", "))
	}
	return pairs, notes, nil
}
