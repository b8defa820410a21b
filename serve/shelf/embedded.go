package shelf

import "nero/encoder"

// embedded are features that were looked at.
func embedded() *sheetKind {
	return &sheetKind{
		name: "embed", file: "embedding.json", marks: []string{encoder.MarkOf}, remedy: "run nero embed again",
		read: func(file string, text []byte) (*read, error) {
			r, err := encoder.Read(file, text)
			if err != nil {
				return nil, err
			}
			out := &read{title: "Features", sentence: r.Sentence, document: r}
			for _, m := range r.Models {
				out.models = append(out.models, m.Model)
				out.digests = append(out.digests, m.Digest)
				if m.Against != nil {
					out.digests = append(out.digests, m.Against.Digest)
				}
			}
			return out, nil
		},
	}
}
