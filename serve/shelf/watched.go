package shelf

import (
	"slices"

	"nero/watch"
)

// watched are releases that were judged together.
func watched() *sheetKind {
	return &sheetKind{
		name: "watch", file: "watch.json", marks: []string{watch.MarkOf}, remedy: "run nero watch again",
		read: func(file string, text []byte) (*read, error) {
			r, err := watch.ReadReport(file, text)
			if err != nil {
				return nil, err
			}
			r.Bare()
			out := &read{title: "Releases", sentence: r.Sentence, document: r}
			for _, s := range r.Series {
				if s.Model != "" && !slices.Contains(out.models, s.Model) {
					out.models = append(out.models, s.Model)
				}
				for i := range s.Points {
					if d := s.Points[i].Digest; d != "" && !slices.Contains(out.digests, d) {
						out.digests = append(out.digests, d)
					}
				}
			}
			return out, nil
		},
	}
}
