package census

import (
	"encoding/json"
	"fmt"
)

// FormatNumber is that of the JSON. It grows whenever a field changes its meaning or goes away.
const FormatNumber = 1

// MarkOf tells a report on data from other JSON by its first keys.
const MarkOf = `"reading":`

// Read reads a report on data. The name is for messages.
func Read(name string, text []byte) (*Report, error) {
	var r Report
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, fmt.Errorf("%s: %w: want what nero data -o FILE.json writes", name, err)
	}
	if r.Format != FormatNumber {
		return nil, fmt.Errorf("%s: it has format %d, and this program reads %d: run nero data again", name, r.Format,
			FormatNumber)
	}
	if r.Sentence == "" || r.Group == "" {
		return nil, fmt.Errorf("%s: it has no answer: run nero data again", name)
	}
	return &r, nil
}
