package shelf

import "nero/weights"

// weighed are what was found of the weights of a model, or of two.
func weighed() *sheetKind {
	return &sheetKind{
		name: "weights", file: "weights.json", marks: []string{weights.MarkOf}, remedy: "run nero weights again",
		read: func(file string, text []byte) (*read, error) {
			r, err := weights.Read(file, text)
			if err != nil {
				return nil, err
			}
			out := &read{title: "Weights", sentence: r.Sentence, files: r.Files(), document: r}
			for _, m := range r.Models {
				out.models = append(out.models, m.Base())
				out.digests = append(out.digests, m.Digest)
			}
			return out, nil
		},
	}
}
