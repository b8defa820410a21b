package lint

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// String is the prediction in one line: "structure permits D4, weights keep C4; shifts by multiples of 4 away from the
// border".
func (p *Prediction) String() string {
	if !p.Analyzed {
		return "not analyzed: " + p.Why
	}
	if !p.StructureKnown {
		return "structure not known; " + p.Shifts.String()
	}
	kind := "invariant"
	if p.Map {
		kind = "map"
	}
	s := fmt.Sprintf("%s %s: structure permits %s, weights keep %s", kind, p.Output, p.Structure, p.Weights)
	if !p.WeightsKnown {
		s += " and perhaps " + strings.Join(names(p.Undecided), ", ")
	}
	return s + "; " + p.Shifts.String()
}

func names(es []Element) []string {
	out := make([]string, len(es))
	for i, e := range es {
		out[i] = e.String()
	}
	return out
}

// String says which shifts are exact.
func (s Shifts) String() string {
	text := func(k [2]int) string {
		one := func(n int) string {
			switch n {
			case 0:
				return "none"
			case 1:
				return "all"
			}
			return fmt.Sprintf("multiples of %d", n)
		}
		if k[0] == k[1] {
			return one(k[0])
		}
		return one(k[0]) + " down, " + one(k[1]) + " across"
	}
	cyclic, free := "not known", "not known"
	if s.CyclicKnown {
		cyclic = text(s.Cyclic)
	}
	if s.FreeKnown {
		free = text(s.Free)
	}
	return fmt.Sprintf("cyclic shifts: %s; shifts away from the border: %s", cyclic, free)
}

// String is the loss in one line.
func (l Loss) String() string {
	s := fmt.Sprintf("%s %s loses %s (%s): %s", l.Op, l.Node, strings.Join(l.Elements, ", "), l.Level, l.Reason)
	if l.Remedy != "" {
		s += "; remedy: " + l.Remedy
	}
	return s
}

// String is the node and why it was not followed.
func (u Unknown) String() string {
	return fmt.Sprintf("%s %s was not followed (%s): %s", u.Op, u.Node, u.Level, u.Reason)
}

// String is the risk in one line.
func (r Risk) String() string {
	s := fmt.Sprintf("%s %s (%s): %s", r.Op, r.Node, r.Kind, r.Reason)
	if r.Remedy != "" {
		s += "; remedy: " + r.Remedy
	}
	return s
}

// WriteText writes the prediction for people. Losses of several nodes for the same reason are told once.
func (p *Prediction) WriteText(w io.Writer) error {
	var b strings.Builder
	line := func(format string, a ...any) { fmt.Fprintf(&b, format+"\n", a...) }
	if !p.Analyzed {
		line("not analyzed: %s", p.Why)
		_, err := io.WriteString(w, b.String())
		return err
	}
	kind := "an invariant"
	if p.Map {
		kind = "a map that moves with the picture"
	}
	line("input %s, %s, %d x %d; output %s, %s", p.Input, p.Layout, p.Size[0], p.Size[1], p.Output, kind)
	if p.StructureKnown {
		line("  structure permits  %s", p.Structure)
		line("  weights keep       %s", p.Weights)
		if p.Construction != Trivial {
			line("  of that, whatever the weights are: %s", p.Construction)
		}
		if !p.WeightsKnown {
			line("  not decided        %s", strings.Join(names(p.Undecided), ", "))
		}
		for _, x := range p.Permuted {
			line("  %s permutes the output's channels: %v", x.Element, x.To)
		}
	} else {
		line("  structure          not known")
	}
	line("  %s", p.Shifts)
	type entry struct {
		nodes []string
		loss  Loss
	}
	var entries []*entry
	for _, l := range p.Losses {
		i := slices.IndexFunc(entries, func(e *entry) bool {
			return e.loss.Op == l.Op && e.loss.Level == l.Level && e.loss.Reason == l.Reason &&
				slices.Equal(e.loss.Elements, l.Elements)
		})
		if i >= 0 {
			entries[i].nodes = append(entries[i].nodes, l.Node)
			continue
		}
		entries = append(entries, &entry{[]string{l.Node}, l})
	}
	for _, e := range entries {
		nodes := strings.Join(e.nodes[:min(3, len(e.nodes))], ", ")
		if n := len(e.nodes) - 3; n > 0 {
			nodes += fmt.Sprintf(" and %d more", n)
		}
		line("  - %s %s loses %s (%s)", e.loss.Op, nodes, strings.Join(e.loss.Elements, ", "), e.loss.Level)
		line("      %s", e.loss.Reason)
		if e.loss.Remedy != "" {
			line("      remedy: %s", e.loss.Remedy)
		}
	}
	for _, u := range p.Unknown {
		line("  - %s", u)
	}
	for _, r := range p.Risks {
		line("  - risk %s", r)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
