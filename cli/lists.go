package cli

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"text/tabwriter"

	"nero/app"

	"github.com/spf13/cobra"
)

func (a *App) groups() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "groups [NAME...]", Short: "List the groups, with charts, units and exact elements",
		Args: cobra.ArbitraryArgs,
		Long: "groups lists the groups that a study may name; with names, such as C4 or 'D4 x T(2,Z)', what there is " +
			"to know of those.",
		Example: "  nero groups\n  nero groups C4 'SO(2)'",
		RunE: func(_ *cobra.Command, names []string) error {
			all := a.app.Groups()
			if len(names) > 0 {
				all = nil
			}
			for _, n := range names {
				e, err := a.app.Group(n)
				if err != nil {
					return err
				}
				all = append(all, e)
			}
			if asJSON {
				return app.WriteJSON(a.Out, all)
			}
			for _, e := range all {
				if e.Example != e.Name {
					e.Name += " (such as " + e.Example + ")"
				}
				fmt.Fprintf(a.Out, "%s\n  %s\n  chart: %s\n  exact: %s\n  default orbit: %s\n", e.Name, e.Doc, e.Axes,
					e.Exact, e.Orbit)
			}
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func (a *App) metrics() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "metrics", Short: "List the metrics, with unit, direction and formula", Args: cobra.NoArgs,
		Example: "  nero metrics",
		RunE: func(*cobra.Command, []string) error {
			if asJSON {
				return app.WriteJSON(a.Out, a.app.Metrics())
			}
			w := tabwriter.NewWriter(a.Out, 0, 0, 2, ' ', 0)
			fmt.Fprintln(w, "name\tagainst\tbetter\trange\tunit\twhat it is")
			for _, m := range a.app.Metrics() {
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", m.Name, m.Ref, m.Better, interval(m.Range), m.Unit, m.Doc)
			}
			fmt.Fprintln(w, "topK\ttarget\thigher\t0 to 1\t\tany K from 1 to 1000")
			if err := w.Flush(); err != nil {
				return err
			}
			fmt.Fprintln(a.Out, `
Metrics against a target need labels, boxes or fields in the data. With another reference in the name they need none:
  iou@self       against the model's own answer at the identity, moved along
  iou@consensus  against the mean of the model's answers over the orbit, each moved back`)
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func (a *App) presets() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "presets [WORD...]", Short: "List the presets: how photos are fed to known networks",
		Args: cobra.ArbitraryArgs,
		Long: `presets lists how known networks of photos are fed: to which size photos are brought, the order of the channels, what values are
divided by, and mean and deviation. A study takes one by data.preset, a run or an audit by --data-preset; whatever the study or
another flag says itself goes before it. With words, only those presets whose name has one of them.`,
		Example: "  nero presets\n  nero presets resnet50 vit\n" +
			"  nero audit resnet50.onnx --data photos --data-preset torchvision/resnet50 --group C4 --invariant",
		RunE: func(_ *cobra.Command, args []string) error {
			all := a.app.Presets()
			chosen := all[:0:0]
			for _, p := range all {
				if len(args) == 0 || slices.ContainsFunc(args, func(w string) bool {
					return strings.Contains(strings.ToLower(p.Name), strings.ToLower(w))
				}) {
					chosen = append(chosen, p)
				}
			}
			if len(chosen) == 0 {
				_, err := all.Find(args[0])
				return err
			}
			if asJSON {
				return app.WriteJSON(a.Out, chosen)
			}
			for _, p := range chosen {
				fmt.Fprintf(a.Out, "%s\n  %s\n  %s\n", p.Name, p.Text(), p.Doc)
			}
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func interval(r [2]float64) string {
	if math.IsInf(r[1], 1) {
		return fmt.Sprintf("from %g", r[0])
	}
	return fmt.Sprintf("%g to %g", r[0], r[1])
}

func (a *App) schema() *cobra.Command {
	return &cobra.Command{
		Use: "schema [embed | repair | repeat | watch | weights]", Short: "Print the JSON Schema of study files, of " +
			"bills of repairs, of embedding.json, repeat.json, watch.json or weights.json",
		Args: cobra.MaximumNArgs(1), ValidArgs: []string{"embed", "repair", "repeat", "watch", "weights"},
		Example: "  nero schema > study.schema.json\n  nero schema repair > repair.schema.json",
		RunE: func(_ *cobra.Command, args []string) error {
			b := a.app.StudySchema()
			if len(args) > 0 {
				schema, ok := map[string]func() ([]byte, error){
					"embed": a.app.EmbedSchema, "repair": a.app.RepairSchema, "repeat": a.app.RepeatSchema,
					"watch": a.app.WatchSchema, "weights": a.app.WeightsSchema,
				}[args[0]]
				if !ok {
					return fmt.Errorf("no schema %q: want embed, repair, repeat, watch or weights, or nothing for "+
						"that of studies", args[0])
				}
				var err error
				if b, err = schema(); err != nil {
					return err
				}
			}
			_, err := a.Out.Write(b)
			return err
		},
	}
}

func (a *App) checks() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "checks [NAME...]", Short: "List the checks of an audit, with what they ask and need",
		Args: cobra.ArbitraryArgs,
		Long: `checks lists what an audit asks, in the order in which it is asked, with one line each; with names, all that there is to know of those.

A check that judges decides about PASS. One that explains says where, why or how else: that it could not run is said in the report and does
not stand in the way of PASS, unless --require names it.`,
		Example: "  nero checks\n  nero checks layers gradient\n  nero checks --json",
		RunE: func(_ *cobra.Command, args []string) error {
			all, err := a.app.Checks(args...)
			if err != nil {
				return err
			}
			if asJSON {
				return app.WriteJSON(a.Out, all)
			}
			if len(args) == 0 {
				for _, c := range all {
					fmt.Fprintf(a.Out, "%-11s %-8s  %s\n", c.Name, c.Role, c.Summary)
				}
				fmt.Fprint(a.Out, "\nMore on one: nero checks NAME.")
				if left := app.Unasked(); len(left) > 0 {
					fmt.Fprintf(a.Out, " Not asked by any: %s.", strings.Join(left, "; "))
				}
				fmt.Fprintln(a.Out)
				return nil
			}
			for i, c := range all {
				if i > 0 {
					fmt.Fprintln(a.Out)
				}
				fmt.Fprintf(a.Out, "%s (%s)\n", c.Name, c.Role)
				for line := range strings.SplitSeq(strings.TrimSpace(c.Doc), "\n") {
					fmt.Fprintf(a.Out, "  %s\n", line)
				}
				if c.Family != "" {
					fmt.Fprintf(a.Out, "  family: %s, which names all of its checks together\n", c.Family)
				}
				if len(c.Requires) > 0 {
					fmt.Fprintf(a.Out, "  needs: %s\n", strings.Join(c.Requires, ", "))
				}
				if len(c.Uses) > 0 {
					fmt.Fprintf(a.Out, "  uses, if they run: %s\n", strings.Join(c.Uses, ", "))
				}
				for _, p := range c.Params {
					fmt.Fprintf(a.Out, "  --set %s.%s=%g: %s\n", c.Name, p.Name, p.Default, p.Doc)
				}
			}
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}
