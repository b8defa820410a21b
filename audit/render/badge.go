package render

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"nero/audit/document"
	"nero/present/words"
)

// Badge is the verdict for a badge on a page: label, message, colour, as badge services read them from an endpoint
// (schema version 1). One model is shown with its group, several as counts, the worst first.
var Badge = Format{Name: "badge", File: "audit.badge.json", Doc: "the verdict for a badge service", Render: writeBadge}

// badge is the form that shields.io and its like read from an endpoint, schema version 1.
type badge struct {
	Version int    `json:"schemaVersion"`
	Label   string `json:"label"`
	Message string `json:"message"`
	Color   string `json:"color"`
	IsError bool   `json:"isError,omitempty"`
}

func writeBadge(w io.Writer, a *document.Audit) error {
	b := badge{Version: 1, Label: "equivariance", Message: string(document.Overall(a.Models))}
	switch document.Overall(a.Models) {
	case document.Passed:
		b.Color = "brightgreen"
	case document.Failed:
		b.Color = "red"
	case document.NeedsAttention:
		b.Color = "yellow"
	case document.CouldNotRun:
		b.Color, b.IsError = "lightgrey", true
	}
	if len(a.Models) == 1 && a.Models[0].Error == "" {
		b.Message = words.Line(a.Models[0].Claim.Group) + ": " + b.Message
	}
	if len(a.Models) > 1 {
		count := map[document.Verdict]int{}
		for i := range a.Models {
			count[document.Overall(a.Models[i:i+1])]++
		}
		var parts []string
		for _, v := range []document.Verdict{
			document.CouldNotRun, document.Failed, document.NeedsAttention, document.Passed,
		} {
			if count[v] > 0 {
				parts = append(parts, fmt.Sprintf("%d %s", count[v], v))
			}
		}
		b.Message = strings.Join(parts, ", ")
	}
	b.Message = strings.ReplaceAll(b.Message, "_", " ")
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(b)
}
