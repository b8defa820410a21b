package weights

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
)

// MarkOf tells a weights.json from other JSON by its first keys.
const MarkOf = `"probes":`

// fromStudy is what stands before the name of a study whose samples were the probes.
const fromStudy = "samples of "

// OfStudy says that probes are samples of a study.
func OfStudy(file string) string { return fromStudy + file }

// Read reads what the form json wrote. The name is for messages.
func Read(name string, text []byte) (*Report, error) {
	r := new(Report)
	if err := json.Unmarshal(text, r); err != nil {
		return nil, fmt.Errorf("%s: %w: want what nero weights -o FILE.json writes", name, err)
	}
	if r.Format != FormatNumber {
		return nil, fmt.Errorf("%s: it has format %d, and this program reads %d: run nero weights again", name,
			r.Format, FormatNumber)
	}
	if n := len(r.Models); r.Sentence == "" || n < 1 || n > 2 || (n == 2) != (r.Aligned != nil) ||
		slices.Contains(r.Symmetries, nil) {
		return nil, fmt.Errorf("%s: it has no answer: run nero weights again", name)
	}
	return r, nil
}

// Files are those that the report names.
func (r *Report) Files() []string {
	var out []string
	for _, m := range r.Models {
		out = append(out, m.Name)
	}
	if r.Canonical != nil && r.Canonical.File != "" {
		out = append(out, r.Canonical.File)
	}
	if study, ok := strings.CutPrefix(r.From, fromStudy); ok {
		out = append(out, study)
	}
	return out
}

// Base is the name of the file without its folders.
func (f File) Base() string { return path.Base(strings.ReplaceAll(f.Name, `\`, "/")) }
