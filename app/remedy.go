package app

import (
	"fmt"
	"slices"
	"strings"

	"nero/audit"
	"nero/data/space"
	"nero/repair"
	"nero/run/eval"
	"nero/run/workload"
	"nero/symmetry/group"
)

// remedy is the repair that fits what an audit found, with the command to type: where the model itself breaks a finite
// symmetry, and a method suits what it answers.
func (a *App) remedy(w *workload.Workload, m *eval.Model, r *audit.Report) []audit.Advice {
	file := w.File(m.Name)
	finite, ok := w.Group().(group.Finite)
	if r.Verdict != audit.Failed || !ok || file == nil || repair.Done(file) != "" || !violated(r) {
		return nil
	}
	if n := len(finite.Elements()); n < 2 || n > presetElements {
		return nil
	}
	like := sampleOf(m.Codec.Out())
	if like == nil {
		return nil
	}
	method, ok := repair.Suggest(like)
	if !ok {
		return nil
	}
	do := fmt.Sprintf("have it repaired: a file by the method %s answers alike at all elements of %s, at about %d "+
		"times "+
		"the cost", method, finite.Name(), len(finite.Elements()))
	if c := repairCommand(r.Command, m.Name, method, len(w.Eval.Models) > 1); c != "" {
		do += ": " + c
	}
	return []audit.Advice{{
		Do: do, Why: "the model itself breaks the symmetry, and the group has an end of elements",
		Verify: "the bill that comes with the file has its own audit, and says what it costs in accuracy",
	}}
}

// sampleOf is a small value of the kind that a model answers, nil where the kind has none: axes may be free, and what
// suits an answer depends on what it can do and not on how large it is.
func sampleOf(s space.Spec) space.Value {
	zero := s.Kind.Info().Zero
	if zero == nil {
		return nil
	}
	shape := slices.Clone(s.Shape)
	for i, n := range shape {
		if n < 1 || n > 2 {
			shape[i] = 2
		}
	}
	return zero(shape)
}

// violated tells whether the error of a set is left to the model itself.
func violated(r *audit.Report) bool {
	return slices.ContainsFunc(r.Results, func(c *audit.Result) bool {
		return slices.ContainsFunc(c.Sets, func(s *audit.Set) bool { return s.Cause == audit.CauseViolation })
	})
}

// repairCommand is the command line of an audit as that of a repair; "" where it says what a repair does not know.
func repairCommand(command, model, method string, several bool) string {
	rest, ok := strings.CutPrefix(command, "nero audit ")
	if !ok {
		return ""
	}
	for _, flag := range []string{"--average", "--calibrate", "--form", "--replay", "--side"} {
		if strings.Contains(rest, flag) {
			return ""
		}
	}
	words := []string{"nero repair", rest}
	if several && !strings.Contains(rest, "--only") {
		words = append(words, "--only", audit.ShellQuote(model))
	}
	return strings.Join(append(words, "--method", method, "-o", audit.ShellQuote(plainName(model+"-"+method)+".onnx")),
		" ")
}
