package render

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"nero/audit/document"
	"nero/present/words"
)

// narrow is the width that [Brief] keeps to: that of the narrowest terminal in common use.
const narrow = 80

// mostReasons is how many reasons beyond the gist [Brief] gives; the reports have all of them.
const mostReasons = 3

// Brief writes what fits on one screen: of each model the verdict, the gist, what is in doubt, where the symmetry is
// lost, the most likely cause with what to do, and how to look at the worst case. No line is longer than 80 columns,
// but for commands, which are there to be copied.
func Brief(w io.Writer, a *document.Audit) error {
	t := &text{narrow: narrow}
	for i := range a.Models {
		t.brief(&a.Models[i])
	}
	t.forms(a.Forms)
	_, err := io.WriteString(w, words.Text(t.b.String()))
	return err
}

func (t *text) brief(m *document.Model) {
	if m.Error != "" {
		t.head(m)
		return
	}
	t.line(0, fmt.Sprintf("%s: %s", m.Model, m.Verdict)+holds(m))
	for _, g := range m.Gist {
		t.line(2, g)
	}
	more := beyond(m)
	for i, why := range more {
		if i == mostReasons {
			t.line(2, "and "+count(len(more)-i, "reason more", "reasons more"))
			break
		}
		t.line(2, why)
	}
	for i, q := range m.Questions {
		if i == 0 || i > 1 && m.Verdict == document.Passed {
			continue // the gist says it
		}
		for _, answer := range q.Answers {
			if i == 1 && strings.HasPrefix(answer, "yes") || strings.HasPrefix(answer, "none that matters") {
				break // no news
			}
			t.line(2, words.Capital(answer))
		}
	}
	if len(m.Diagnoses) > 0 {
		d := m.Diagnoses[0]
		t.line(2, "Most likely: "+d.String())
		if d.Fix != "" {
			t.line(2, "What to do: "+d.Fix)
		}
	} else if m.Verdict == document.NeedsAttention && len(m.Advice) > 0 {
		t.line(2, "What to do: "+m.Advice[0].Do)
	}
	if i := worstOf(m); i >= 0 && m.Verdict != document.Passed {
		t.line(2, "Worst case, "+worst(m.WorstCases[i]))
		t.b.WriteString("    " + m.WorstCases[i].Replay + "\n")
	}
	t.b.WriteString("\n")
}

// worstOf is the first of the worst cases that can be measured again, -1 if there is none: where there is one, of a set
// that has the verdict of the model, else of one that did not pass. What passes is no case against a model, and what is
// undecided for want of inputs is none where another set fails.
func worstOf(m *document.Model) int {
	for _, milder := range [][]document.Verdict{
		{document.Passed, document.NeedsAttention}, {document.Passed}, nil,
	} {
		if slices.Contains(milder, m.Verdict) {
			continue
		}
		of := func(w document.Worst) bool {
			return slices.ContainsFunc(m.Sets(), func(s *document.Set) bool {
				return slices.Contains(milder, s.Verdict) && strings.HasPrefix(w.What, s.Name)
			})
		}
		i := slices.IndexFunc(m.WorstCases, func(w document.Worst) bool { return w.Replay != "" && !of(w) })
		if i >= 0 {
			return i
		}
	}
	return -1
}

// beyond are the reasons of the verdict itself that the gist does not give: those that are no set's, and those of sets
// that are left undecided, of which the gist says only how small the error is.
func beyond(m *document.Model) []string {
	if m.Verdict == document.Passed && len(m.Gist) > 0 {
		return nil
	}
	var out []string
	for _, why := range m.Reasons {
		if strings.HasPrefix(why, string(m.Verdict)) && !slices.ContainsFunc(m.Sets(), func(s *document.Set) bool {
			return len(m.Gist) > 0 && s.Verdict != document.NeedsAttention && strings.Contains(why, s.Name+": ")
		}) {
			out = append(out, why)
		}
	}
	return out
}
