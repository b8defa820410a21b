package discover

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"nero/audit/document"
)

// FormatNumber is that of the JSON. It grows whenever a field changes its meaning or goes away.
const FormatNumber = 1

// Report is what was found of the models of a study.
type Report struct {
	// Format is that of the JSON, [FormatNumber].
	Format int      `json:"format"`
	Seed   uint64   `json:"seed"`
	Models []*Model `json:"models"`
}

// Model is what was found of one.
type Model struct {
	Model string `json:"model"`
	// Digest is the SHA-256 of its file, "" where it is none.
	Digest string `json:"digest,omitempty"`
	// Fit, Choose and Confirm are how many samples there are on each side.
	Fit     int `json:"fit"`
	Choose  int `json:"choose"`
	Confirm int `json:"confirm"`
	// Predictions are how many were made.
	Predictions int `json:"predictions"`
	// Why says why nothing was asked, "" where something was.
	Why      string        `json:"why,omitempty"`
	Parts    []Found       `json:"parts"`
	Proposed []*Hypothesis `json:"hypotheses"`
}

// Found is what one part found, or why its question is open.
type Found struct {
	Part   string  `json:"part"`
	Answer string  `json:"answer,omitempty"`
	Open   string  `json:"open,omitempty"`
	Result Section `json:"result,omitempty"`
}

// Ask asks the parts about a model. A model that answers nothing which could be compared is a result, and so is a part
// that has nothing to ask.
func Ask(ctx context.Context, s *Subject, parts []Part) (*Model, error) {
	m := &Model{Model: s.Model, Fit: len(s.Fit), Choose: len(s.Choose), Confirm: len(s.Confirm)}
	for _, p := range parts {
		if s.Begin != nil {
			s.Begin(p.Name)
		}
		got, err := p.Run(ctx, s)
		switch {
		case err == nil:
			m.Parts = append(m.Parts, Found{Part: p.Name, Answer: got.Page().Answer, Result: got})
			for _, h := range got.Hypotheses() {
				m.Proposed = append(m.Proposed, &h)
			}
		case errors.Is(err, ErrOpen):
			m.Parts = append(m.Parts, Found{Part: p.Name, Open: reason(err, ErrOpen)})
		case errors.Is(err, ErrAnswer):
			m.Why = reason(err, ErrAnswer)
			m.Predictions = s.Made()
			return m, nil // as it will answer to the other parts
		default:
			return nil, fmt.Errorf("%s: %s: %w", s.Model, p.Name, err)
		}
	}
	m.Proposed = join(m.Proposed, s)
	m.Predictions = s.Made()
	return m, nil
}

// reason is the text of an error without that of its mark.
func reason(err, mark error) string { return strings.TrimPrefix(err.Error(), mark.Error()+": ") }

// Good reports whether every model has a symmetry that holds, and that no audit has refuted.
func (r *Report) Good() bool {
	for _, m := range r.Models {
		if !slices.ContainsFunc(m.Proposed, func(h *Hypothesis) bool {
			return h.Word == Holds && (h.Audit == "" || h.Audit == string(document.Passed))
		}) {
			return false
		}
	}
	return true
}

// headline is the answer about a model in one line.
func (m *Model) headline() string {
	if m.Why != "" {
		return "undefined: " + m.Why
	}
	var all []string
	for _, p := range m.Parts {
		if p.Answer != "" {
			all = append(all, p.Answer)
		}
	}
	if len(all) == 0 {
		return "nothing could be asked"
	}
	return strings.Join(all, "; ")
}
