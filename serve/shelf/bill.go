package shelf

import "nero/repair"

// bills are those of repairs.
func bills() *sheetKind {
	return &sheetKind{
		name: "repair", file: "repair.json", marks: []string{repair.MarkOf}, below: "audits",
		remedy: "run nero repair again",
		read: func(file string, text []byte) (*read, error) {
			r, err := repair.Read(file, text)
			if err != nil {
				return nil, err
			}
			out := &read{
				title: "Repairs under " + r.Group, sentence: r.Answer(), files: r.Files(), document: r,
			}
			for i := range r.Models {
				out.models = append(out.models, r.Models[i].Model)
				for _, b := range r.Models[i].Bills() {
					if b.Digest != "" {
						out.digests = append(out.digests, b.Digest)
					}
					if b.Audit != "" {
						out.audits = append(out.audits, b.Audit)
					}
				}
			}
			return out, nil
		},
	}
}
