package cli

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"nero/audit"
	"nero/run/job"
	"nero/run/workload"
)

// basis is what two audits must share so that their errors can be compared in pairs: the data, how inputs are fed and moved, and what the
// output should do. Where files lie is no part of it, and neither are models and engines, which are what people compare.
func basis(w *workload.Workload) []audit.About {
	s := w.Study
	h := sha256.New()
	for _, f := range w.Job.Files {
		fmt.Fprintln(h, f.SHA256)
	}
	fmt.Fprintln(h, w.Job.Names)
	words := func(x ...any) string { return strings.TrimSpace(fmt.Sprintln(x...)) }
	window := "none"
	if len(s.Group.Window) > 0 {
		window = words(s.Group.Window)
	}
	return []audit.About{
		{Name: "data", Value: "sha256 " + hex.EncodeToString(h.Sum(nil))},
		{Name: "input", Value: words("scale", s.Input.Scale, "mean", s.Input.Mean, "std", s.Input.Std, "channels", or(s.Input.Channels, "as in the file"))},
		{Name: "output", Value: words(s.Output.Space, s.Output.Decode, "type", or(s.Output.Type, "trivial"))},
		{Name: "output action", Value: s.Output.Action},
		{Name: "kernel", Value: s.Group.Resample + ", of the output " + s.Output.Kernel},
		{Name: "border", Value: s.Group.Border},
		{Name: "window", Value: window},
		{Name: "numbers", Value: fmt.Sprint(job.FormatNumber, ".", workload.Numbers)},
	}
}

// or is a word, or another where there is none.
func or(word, otherwise string) string {
	if word == "" {
		return otherwise
	}
	return word
}
