package discover

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// MarkOf tells a discovery.json from other JSON by its first keys.
const MarkOf = `"predictions":`

// Read reads a discovery.json. Whatever a part found is read as that part writes it, but without what only whoever
// looked can tell people of it: it has no page. The name is for messages.
func Read(name string, text []byte) (*Report, error) {
	var r Report
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, fmt.Errorf("%s: %w: want what nero discover -o FOLDER writes", name, err)
	}
	if r.Format != FormatNumber {
		return nil, fmt.Errorf("%s: it has format %d, and this program reads %d: run nero discover again", name,
			r.Format, FormatNumber)
	}
	if len(r.Models) == 0 || slices.Contains(r.Models, nil) {
		return nil, fmt.Errorf("%s: it is of no model: run nero discover again", name)
	}
	return &r, nil
}

// UnmarshalJSON reads what a part found into what that part writes.
func (f *Found) UnmarshalJSON(text []byte) error {
	type plain Found // without this method
	in := struct {
		*plain
		Result json.RawMessage `json:"result"`
	}{plain: (*plain)(f)}
	if err := json.Unmarshal(text, &in); err != nil {
		return err
	}
	f.Result = nil
	if len(in.Result) == 0 || string(in.Result) == "null" {
		return nil
	}
	all := Parts()
	i := slices.IndexFunc(all, func(p Part) bool { return p.Name == f.Part })
	if i < 0 {
		return fmt.Errorf("%q is no part of a search", f.Part)
	}
	to := all[i].Blank()
	if err := json.Unmarshal(in.Result, to); err != nil {
		return fmt.Errorf("%s: %w", f.Part, err)
	}
	f.Result = to
	return nil
}

// Files are the files that the report names.
func (r *Report) Files() []string {
	var out []string
	for _, m := range r.Models {
		for _, h := range m.Proposed {
			out = append(out, h.Study)
		}
	}
	return out
}

// Answer is what was found of each model, in one line.
func (r *Report) Answer() string {
	var out []string
	for _, m := range r.Models {
		out = append(out, m.Model+": "+m.headline())
	}
	return strings.Join(out, ". ")
}
