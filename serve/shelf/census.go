package shelf

import "nero/census"

// censuses are reports on data.
func censuses() *sheetKind {
	return &sheetKind{
		name: "data", file: "data.json", marks: []string{census.MarkOf}, remedy: "run nero data again",
		read: func(file string, text []byte) (*read, error) {
			r, err := census.Read(file, text)
			if err != nil {
				return nil, err
			}
			return &read{title: "Data under " + r.Group, sentence: r.Sentence, files: []string{r.Data}, document: r},
				nil
		},
	}
}
