package shelf

import "nero/repeat"

// repeated are answers of models that were asked the same again.
func repeated() *sheetKind {
	return &sheetKind{
		name: "repeat", file: "repeat.json", marks: []string{repeat.MarkOf}, remedy: "run nero repeat again",
		read: func(file string, text []byte) (*read, error) {
			r, err := repeat.ReadReport(file, text)
			if err != nil {
				return nil, err
			}
			out := &read{title: "Asked again", sentence: r.Sentence, document: r}
			for _, m := range r.Models {
				out.models = append(out.models, m.Name)
				if m.Digest != "" {
					out.digests = append(out.digests, m.Digest)
				}
			}
			return out, nil
		},
	}
}
