package metric

import (
	"context"
	"strings"

	"nero/data/space"
)

// dot divides the name of a field from that of the metric that looks at it.
const dot = "."

// OfField is the metric m of one field of predictions that are records, under the name "field.metric": it sees that
// field of every value of a [Case], and its scale of c.Scales. A field that is not there has no value.
func OfField(field string, m *Metric) *Metric {
	n := *m
	n.Port, n.Name, n.inner = field, field+dot+m.Name, m
	n.Title = field + ": " + m.Heading()
	n.Doc = "of " + field + ": " + m.Doc
	if m.Says != "" {
		n.Says = m.Says + " in " + strings.ReplaceAll(field, "%", "%%")
	}
	if n.Unit == "px" || n.Unit == "px²" {
		n.Unit = map[string]string{"px": "output", "px²": "output²"}[n.Unit]
	}
	within := func(c Case) Case {
		if m.OfNodes && c.Nodes == 0 {
			c.Nodes = nodes(c)
		}
		c.Scale, c.Centre = scaleIn(c.Scales, field), c.Centres[field]
		c.Got, c.Want, c.Prev = space.FieldOf(c.Got, field), space.FieldOf(c.Want, field), space.FieldOf(c.Prev, field)
		c.At, c.Truth = space.FieldOf(c.At, field), space.FieldOf(c.Truth, field)
		return c
	}
	inner, ask := m.Measure, m.Ask
	n.Measure = func(c Case) float64 { return inner(within(c)) }
	if ask != nil {
		n.Ask = func(ctx context.Context, c Case) (float64, error) { return ask(ctx, within(c)) }
	}
	return &n
}

// scaleIn is the scale of a field, NaN if it is not known.
func scaleIn(scales map[string]float64, field string) float64 {
	if s, ok := scales[field]; ok {
		return s
	}
	return nan()
}

// nodes is how many nodes a case is about, as far as its forces or positions say; 0 if they do not.
func nodes(c Case) int {
	for _, v := range []space.Value{c.At, c.Got, c.Want, c.Truth} {
		for _, field := range []string{"forces", "positions"} {
			if r, ok := space.FieldOf(v, field).(space.Counted); ok {
				return r.Count()
			}
		}
	}
	return 0
}

// Of is the metric for predictions of one space: with the unit of its numbers where the metric has theirs, and of the
// field that [Metric.Port] names if the predictions are records. Displacements of fields are in pixels whatever the
// spec says.
func (m *Metric) Of(out space.Spec) *Metric {
	if m.Port != "" {
		for _, f := range out.Fields {
			if f.Name == m.Port {
				out = f
				break
			}
		}
	}
	if m.OfOutput == "" || out.Kind == space.KindField || out.Kind == space.KindRecord {
		return m
	}
	unit := out.Unit
	if unit == "" {
		unit = "output"
	}
	n := *m
	n.Unit = strings.ReplaceAll(m.OfOutput, "%", unit)
	return &n
}
