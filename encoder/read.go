package encoder

import (
	"encoding/json"
	"fmt"
	"slices"
)

// MarkOf tells an embedding.json from other JSON by its first keys.
const MarkOf = `"objects_confirm":`

// Read reads what the form json wrote. The name is for messages.
func Read(name string, text []byte) (*Report, error) {
	r := new(Report)
	if err := json.Unmarshal(text, r); err != nil {
		return nil, fmt.Errorf("%s: %w: want what nero embed -o FILE.json writes", name, err)
	}
	if r.Format != FormatNumber {
		return nil, fmt.Errorf("%s: it has format %d, and this program reads %d: run nero embed again", name, r.Format,
			FormatNumber)
	}
	if r.Sentence == "" || len(r.Models) == 0 || slices.Contains(r.Models, nil) {
		return nil, fmt.Errorf("%s: it has no answer: run nero embed again", name)
	}
	for _, m := range r.Models {
		g := m.Generators
		if g == nil {
			continue
		}
		for _, p := range g.Planes {
			for _, s := range p.Samples {
				if len(s.X) != len(g.T) || len(s.Y) != len(g.T) {
					return nil, fmt.Errorf("%s: %s: sample %s lies at %d and %d places of %d: run nero embed again",
						name, m.Model, s.Sample, len(s.X), len(s.Y), len(g.T))
				}
			}
		}
	}
	return r, nil
}
