package repair

import (
	"encoding/json"
	"fmt"
	"strings"
)

// MarkOf tells a repair.json from other JSON by its first keys.
const MarkOf = `"allow_accuracy":`

// Read reads a repair.json. The name is for messages.
func Read(name string, text []byte) (*Report, error) {
	var r Report
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, fmt.Errorf("%s: %w: want what nero repair -o FOLDER writes", name, err)
	}
	if r.Format != FormatNumber {
		return nil, fmt.Errorf("%s: it has format %d, and this program reads %d: run nero repair again", name,
			r.Format, FormatNumber)
	}
	if len(r.Models) == 0 {
		return nil, fmt.Errorf("%s: it is of no model: run nero repair again", name)
	}
	return &r, nil
}

// Bills are the bills of a model, that of the model as it was first.
func (m *Of) Bills() []*Bill {
	all := []*Bill{&m.Before}
	for i := range m.Tried {
		all = append(all, &m.Tried[i])
	}
	return all
}

// Files are the files that the report names.
func (r *Report) Files() []string {
	var out []string
	for i := range r.Models {
		out = append(out, r.Models[i].File)
		for _, b := range r.Models[i].Bills() {
			out = append(out, b.File)
		}
	}
	return out
}

// Answer is what to do with each model, in one line.
func (r *Report) Answer() string {
	var out []string
	for i := range r.Models {
		out = append(out, r.Models[i].Brief())
	}
	return strings.Join(out, " ")
}
