package app

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"nero/run/job"
)

// Claim refuses to audit a study that leaves open under which group, or how, the outputs should move: an audit holds a
// model against what somebody states, and a guess would make a verdict about another claim. The message shows commands
// that state it; command is what was typed so far. It also refuses a claim about an output that the study does not
// read.
func (a *App) Claim(s *job.Study, command string) error {
	if err := claimed(s); err != nil {
		return err
	}
	kind, moves := a.unstated(s)
	group := s.Group.Name == "" && s.Data.Views == ""
	if !group && kind == "" {
		return nil
	}
	var lines []string
	add := func(why string, more ...Option) {
		lines = append(lines, "  "+a.speech().Command(command, more)+"   # "+why)
	}
	stays, goes := Option{Name: "invariant"}, a.option("equivariant")
	what := fmt.Sprintf("no claim to audit: say under which group the model should be symmetric, and whether its "+
		"answer stays (%s) or moves with the input (%s)", a.speech().Option(stays), goes)
	switch groups := meant(s); {
	case group && kind == "":
		what = "no group to audit against: say under which one the model should be symmetric; all are listed by: " +
			"nero " +
			"groups"
		for _, g := range groups {
			add(g.why, Option{Name: "group", Value: g.name})
		}
	case group:
		for _, g := range groups {
			add(g.why+"; the answer stays", Option{Name: "group", Value: g.name}, stays)
		}
		first := Option{Name: "group", Value: groups[0].name}
		add(groups[0].why+"; the answer moves as the input does", append([]Option{first}, moves...)...)
	default:
		what = fmt.Sprintf("what should %s do along the orbit? Say %s (stay as it is) or %s (move "+
			"as the input does), or set output.action", kind, a.speech().Option(stays), goes)
		add("it stays as it is", stays)
		add("it moves as the input does", moves...)
	}
	return errors.New(what + ":\n" + strings.Join(lines, "\n"))
}

// named is a group and what it is.
type named struct{ name, why string }

// meant are the groups that are most often meant for inputs like those of a study.
func meant(s *job.Study) []named {
	switch {
	case slices.ContainsFunc(s.Input.Fields, func(p job.Port) bool { return p.Type != "" && p.Type != "unchanged" }),
		s.Data.Cloud.Points > 0:
		return []named{{"SO(3)", "rotations"}, {"E(3)", "rotations, mirrors and shifts"}}
	case len(s.Input.Fields) > 0, s.Input.Space == "signal":
		return []named{{"T(1,Z)", "shifts in time"}, {"Time", "reversal of time"}}
	}
	return []named{{"C4", "quarter turns"}, {"SO(2)", "all rotations"}}
}

// unstated names the output whose action the study leaves open, "" if there is none, and the options that make it move.
func (a *App) unstated(s *job.Study) (output string, moves []Option) {
	moves = []Option{{Name: "equivariant"}}
	if s.Output.Action != "" || s.Data.Views != "" { // of views that are listed only invariance can be claimed
		return "", moves
	}
	for _, f := range s.Output.Fields { // what rows do is said by their type
		if f.Kind == "signal" || f.Kind == "frames" || f.Kind == "image" {
			return "the output " + f.Name, moves
		}
	}
	switch {
	case len(s.Output.Fields) > 0:
		return "", moves
	case s.Task == "segmentation":
		return "", moves // a class for every pixel goes where its pixel goes
	case s.OutputSpace() == "scores":
		return "the scores", []Option{{Name: "output", Value: "image"}, moves[0]}
	}
	return "the " + s.OutputSpace(), moves
}

// claimed refuses a study whose claim names an output that it does not read.
func claimed(s *job.Study) error {
	name := s.Output.Name
	if name == "" {
		return nil
	}
	if n := len(s.Output.Fields); n > 0 && !slices.ContainsFunc(s.Output.Fields, func(f job.Port) bool {
		return f.Port == name || f.Name == name || n == 1 && f.Port == ""
	}) {
		var read []string
		for _, f := range s.Output.Fields {
			read = append(read, f.Name)
		}
		return s.Errorf("output.name", "the claim names the output %s, and output.fields read %s alone: add it to the "+
			"fields with its type, or leave the name away", name, strings.Join(read, ", "))
	}
	parts := s.Output.Boxes.Parts
	if len(parts) > 0 && !slices.ContainsFunc(parts, func(p job.BoxesPart) bool { return p.Boxes == name }) {
		return s.Errorf("output.name", "the claim names the output %s, and output.boxes.parts do not read it: add it "+
			"to a part, or leave the name away", name)
	}
	return nil
}
