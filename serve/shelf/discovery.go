package shelf

import "nero/discover"

// discoveries are what was found of models.
func discoveries() *sheetKind {
	return &sheetKind{
		name: "discovery", file: "discovery.json", marks: []string{discover.MarkOf},
		remedy: "run nero discover again",
		read: func(file string, text []byte) (*read, error) {
			r, err := discover.Read(file, text)
			if err != nil {
				return nil, err
			}
			out := &read{title: "Symmetries that were found", sentence: r.Answer(), files: r.Files(), document: r}
			for _, m := range r.Models {
				out.models = append(out.models, m.Model)
				if m.Digest != "" {
					out.digests = append(out.digests, m.Digest)
				}
			}
			return out, nil
		},
	}
}
