package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"strconv"

	"nero/present/table"
	"nero/run/fold"
)

// CSV writes the aggregate curves of a run, one line per model, metric, slice and element: the names, the coordinates
// of the element in the columns of the chart (named with their unit, such as angle_deg), exact (true, false), n (finite
// values), bad (values that are NaN or infinite, in no mean), mean, sd, lo and hi (interval of the mean), p10, p90,
// min, max. A field without a value is empty, and a name that a spreadsheet would take for a formula gets an
// apostrophe before it.
func CSV(w io.Writer, s *fold.Summary) error {
	c := csv.NewWriter(w)
	head := []string{"model", "metric", "slice"}
	for _, a := range s.Chart {
		name := a.Name
		if unit := a.Suffix(); unit != "" {
			name += "_" + unit
		}
		head = append(head, table.Plain(name))
	}
	head = append(head, "exact", "n", "bad", "mean", "sd", "lo", "hi", "p10", "p90", "min", "max")
	if err := c.Write(head); err != nil {
		return err
	}
	for i := range s.Curves {
		q := &s.Curves[i]
		if q.Model >= len(s.Models) || q.Metric >= len(s.Metrics) || q.Slice >= len(s.Slices) {
			return fmt.Errorf("curve %d belongs to no model, metric or slice of the summary", i)
		}
		for k, e := range s.Elements {
			line := []string{
				table.Plain(s.Models[q.Model]), table.Plain(s.Metrics[q.Metric].Name),
				table.Plain(s.Slices[q.Slice].Name),
			}
			for _, x := range e {
				line = append(line, strconv.FormatFloat(x+0, 'g', -1, 64))
			}
			line = append(line, strconv.FormatBool(s.Exact[k]), strconv.Itoa(q.N[k]), strconv.Itoa(q.Bad[k]))
			for _, n := range [][]fold.Number{q.Mean, q.SD, q.Lo, q.Hi, q.P10, q.P90, q.Min, q.Max} {
				field := ""
				if v := float64(n[k]); !math.IsNaN(v) && !math.IsInf(v, 0) {
					field = strconv.FormatFloat(v, 'g', -1, 64)
				}
				line = append(line, field)
			}
			if err := c.Write(line); err != nil {
				return err
			}
		}
	}
	c.Flush()
	return c.Error()
}
