package audit

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"nero/audit/document"
	"nero/data/space"
	"nero/model/onnx/rewrite"
	"nero/symmetry/action"
	"nero/symmetry/group"
)

// Port is an input or an output of a model with its action in words.
type Port = document.Port

// Architecture is what a model is made of.
type Architecture = document.Architecture

// ports are what goes into the model and comes out of it, and how the claim moves it.
func (s *Subject) ports() []Port {
	var out []Port
	for _, side := range []struct {
		spec   space.Spec
		act    action.Action
		output bool
	}{{s.InSpec, s.Plan.In, false}, {s.OutSpec, s.Plan.Out, true}} {
		if side.spec.Kind == "" {
			continue
		}
		_, stays := side.act.(action.Trivial)
		for _, f := range side.spec.Leaves() {
			p := Port{Name: f.Name, Output: side.output, Holds: holds(f)}
			p.Invariant = stays || f.Type == space.TypeUnchanged
			p.Action = "stays as it is"
			if !p.Invariant && group.IsLawless(s.Plan.Group) {
				p.Action = "another view of the same object takes its place, as listed"
			} else if !p.Invariant {
				p.Action = cmp.Or(s.Table().Doc(f.Kind), "moves by an action that does not describe itself")
			}
			out = append(out, p)
		}
	}
	return out
}

// holds says what a value of a spec is: its kind with shape and type.
func holds(f space.Spec) string {
	t := string(f.Kind)
	if f.Features {
		t = "embedding"
	}
	var sizes []string
	for _, d := range f.Shape {
		size := "any"
		if d >= 0 {
			size = strconv.Itoa(d)
		}
		sizes = append(sizes, size)
	}
	if len(sizes) > 0 {
		t += " " + strings.Join(sizes, "x")
	}
	if f.Type != "" {
		t += " of type " + f.Type
	}
	if f.Per != "" {
		t += " per " + f.Per
	}
	if f.Unit != "" {
		t += " in " + f.Unit
	}
	return t
}

// symmetryOf is the type of the symmetry that is claimed: what the outputs do.
func symmetryOf(ports []Port) string {
	stay, move := false, false
	for _, p := range ports {
		stay = stay || p.Output && p.Invariant
		move = move || p.Output && !p.Invariant
	}
	switch {
	case stay && move:
		return "invariant and equivariant"
	case stay:
		return "invariant"
	case move:
		return "equivariant"
	}
	return ""
}

// mostKinds is how many kinds of operators a report names.
const mostKinds = 8

// architecture is what the model is made of; nil if there is no graph.
func (s *Subject) architecture() *Architecture {
	if s.Interior == nil {
		return nil
	}
	count := map[string]int{}
	a := &Architecture{Parameters: s.Parameters}
	wrapper := rewrite.Wrapped(s.Interior.ONNX())
	if wrapper != nil { // one, whatever it is made of
		count[wrapper.Name]++
		a.Operators++
	}
	for _, n := range s.Interior.ONNX().Proto().GetGraph().GetNode() {
		if !wrapper.Has(n.GetName()) {
			count[n.GetOpType()]++
			a.Operators++
		}
	}
	var kinds []string
	for k := range count {
		kinds = append(kinds, k)
	}
	slices.SortFunc(kinds, func(x, y string) int {
		return cmp.Or(cmp.Compare(count[y], count[x]), cmp.Compare(x, y))
	})
	for _, k := range kinds[:min(len(kinds), mostKinds)] {
		a.Kinds = append(a.Kinds, fmt.Sprintf("%s %d", k, count[k]))
	}
	if n := len(kinds) - mostKinds; n > 0 {
		a.Kinds = append(a.Kinds, fmt.Sprintf("%d more kinds", n))
	}
	return a
}

// unusual are the clues that say that something about the data, the outputs or the errors is out of the ordinary.
var unusual = []ClueName{
	ClueInputScale, ClueUnmoved, ClueConstant, ClueCollapsed, ClueOffset, ClueBatchFinite, ClueCut, ClueHeavyTail,
	ClueOneElement,
	ClueNarrowPeak,
	ClueClasses, ClueSampleEffect, ClueExtreme,
}

// Anomalies say what was unusual, whether or not it changes the verdict: copies among the inputs, few inputs, elements
// or classes with nearly all of the error, outputs that do not vary or lie far from zero.
func (r *Report) Anomalies() []string {
	if r.Error != "" {
		return nil
	}
	var out []string
	if t := r.copies(); t != "" {
		out = append(out, t)
	}
	for _, c := range r.Clues() {
		if c.Holds && slices.Contains(unusual, c.Name) && !slices.Contains(out, c.Text) {
			out = append(out, c.Text)
		}
	}
	return out
}

// FollowUps are the tests that would decide what is open, or show that a fix helped: for each diagnosis, each set that
// too few inputs leave undecided, each required check that did not run, and each output that was not looked at.
func (r *Report) FollowUps() []string {
	if r.Error != "" {
		return nil
	}
	var out []string
	add := func(t string) {
		if t != "" && !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	for _, d := range r.Diagnoses {
		if d.Verify != "" {
			add(fmt.Sprintf("%s: %s", d.Cause, d.Verify))
		}
	}
	for _, s := range r.Sets() {
		if more, ok := r.Policy.Undecided(s); ok && more > 0 {
			add(s.Name + ": " + s.Supply.Audit(s.Inputs+more))
		}
	}
	names, _ := r.Policy.unanswered(r.Results)
	for _, n := range names {
		add("make " + n + " run: it is required")
	}
	for _, n := range r.Unaudited {
		add(fmt.Sprintf("audit the output %s: --output-name %s with its own claim", n, ShellQuote(n)))
	}
	return out
}
