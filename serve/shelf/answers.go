package shelf

import "nero/identify"

// questionnaires are answers to the questions of nero identify.
func questionnaires() *sheetKind {
	return &sheetKind{
		name: "identify", file: "answers.yaml", marks: []string{"\ndata: "}, remedy: "run nero identify again",
		read: func(file string, text []byte) (*read, error) {
			a, err := identify.Parse(file, text)
			if err != nil {
				return nil, err
			}
			r, err := identify.Conclude(a, identify.Options{})
			if err != nil {
				return nil, err
			}
			return &read{title: "Symmetries by what is known", sentence: r.Sentence, document: r}, nil
		},
	}
}
