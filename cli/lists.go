package cli

import (
	"fmt"
	"math"
	"text/tabwriter"

	"nero/measure/metric"
	"nero/run/job"
	"nero/symmetry/group"

	"github.com/spf13/cobra"
)

func (a *App) groups() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "groups", Short: "List the groups, with charts, units and exact elements", Args: cobra.NoArgs,
		Example: "  nero groups",
		RunE: func(*cobra.Command, []string) error {
			if asJSON {
				return writeJSON(a.Out, group.Catalog())
			}
			for _, e := range group.Catalog() {
				fmt.Fprintf(a.Out, "%s (such as %s)\n  %s\n  chart: %s\n  exact: %s\n  default orbit: %s\n", e.Name,
					e.Example, e.Doc, e.Axes, e.Exact, e.Orbit)
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
				type entry struct {
					Name   string `json:"name"`
					Ref    string `json:"ref"`
					Unit   string `json:"unit,omitempty"`
					Better string `json:"better"`
					Doc    string `json:"doc"`
				}
				var all []entry
				for _, m := range metric.Builtin() {
					all = append(all, entry{m.Name, string(m.Ref), m.Unit, string(m.Better), m.Doc})
				}
				return writeJSON(a.Out, all)
			}
			w := tabwriter.NewWriter(a.Out, 0, 0, 2, ' ', 0)
			fmt.Fprintln(w, "name\tagainst\tbetter\trange\tunit\twhat it is")
			for _, m := range metric.Builtin() {
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

func interval(r [2]float64) string {
	if math.IsInf(r[1], 1) {
		return fmt.Sprintf("from %g", r[0])
	}
	return fmt.Sprintf("%g to %g", r[0], r[1])
}

func (a *App) schema() *cobra.Command {
	return &cobra.Command{
		Use: "schema", Short: "Print the JSON Schema of study files", Args: cobra.NoArgs,
		Example: "  nero schema > study.schema.json",
		RunE: func(*cobra.Command, []string) error {
			_, err := a.Out.Write(job.Schema())
			return err
		},
	}
}
