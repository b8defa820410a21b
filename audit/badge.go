package audit

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// badge is the form that shields.io and its like read from an endpoint, schema version 1.
type badge struct {
	Version int    `json:"schemaVersion"`
	Label   string `json:"label"`
	Message string `json:"message"`
	Color   string `json:"color"`
	IsError bool   `json:"isError,omitempty"`
}

// Badge writes the verdict as JSON for a badge service that reads an endpoint (schema version 1): label, message,
// colour. One report is shown with its group, several as counts, the worst first.
func Badge(w io.Writer, reports ...*Report) error {
	b := badge{Version: 1, Label: "equivariance", Message: overall(reports)}
	switch b.Message {
	case string(Passed):
		b.Color = "brightgreen"
	case string(Failed):
		b.Color = "red"
	case string(NeedsAttention):
		b.Color = "yellow"
	default:
		b.Color, b.IsError = "lightgrey", true
	}
	if len(reports) == 1 && reports[0].Error == "" {
		b.Message = oneLine(reports[0].Group) + ": " + b.Message
	}
	if len(reports) > 1 {
		count := map[string]int{}
		for _, r := range reports {
			count[overall([]*Report{r})]++
		}
		var parts []string
		for _, v := range []string{couldNotRun, string(Failed), string(NeedsAttention), string(Passed)} {
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
