package document

import "strings"

// wordy are the keys whose values are words, pictures and tables for people: most of a file.
func wordy() map[string]bool {
	out := map[string]bool{}
	for _, key := range []string{
		"answers", "anomalies", "caveats", "certificate", "clues", "diagnoses", "doc", "elimination", "exhibits",
		"follow_up_tests", "gallery", "gist", "not_part_of_this_audit", "questions", "recommendations", "worst_cases",
	} {
		out[key] = true
	}
	return out
}

// Skim reads an audit as [Read] does, without what is there for people alone: exhibits, clues, diagnoses, pictures,
// advice. Findings stay: they say whether an error means anything. It takes about a quarter of the time. A file with a
// seal is held against it; one without is read as a whole.
func Skim(name string, b []byte) (*Audit, error) {
	plain, sealed, err := opened(name, b)
	if err != nil {
		return nil, err
	}
	if !sealed { // what is skipped may be damaged
		return parse(name, plain, false, nil)
	}
	keys := wordy()
	return parse(name, leaveOut(plain, keys), true, keys)
}

// leaveOut puts null in place of the values of some keys of a JSON text, at any depth.
func leaveOut(text []byte, keys map[string]bool) []byte {
	out, done := make([]byte, 0, len(text)/2), 0
	for i := 0; i < len(text); {
		if text[i] != '"' {
			i++
			continue
		}
		end := afterString(text, i)
		colon := afterSpace(text, end)
		if colon >= len(text) || text[colon] != ':' || !keys[string(text[i+1:max(end-1, i+1)])] {
			i = end
			continue
		}
		from := afterSpace(text, colon+1)
		out = append(append(out, text[done:from]...), "null"...)
		i = afterValue(text, from)
		done = i
	}
	return append(out, text[done:]...)
}

// afterString is where a string that begins at i ends.
func afterString(text []byte, i int) int {
	for i++; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(text)
}

func afterSpace(text []byte, i int) int {
	for i < len(text) && strings.IndexByte(" \n\t\r", text[i]) >= 0 {
		i++
	}
	return i
}

// afterValue is where a value that begins at i ends.
func afterValue(text []byte, i int) int {
	for depth := 0; i < len(text); {
		switch text[i] {
		case '"':
			if i = afterString(text, i); depth == 0 {
				return i
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth <= 0 {
				return i + max(0, depth+1)
			}
		case ',':
			if depth == 0 {
				return i
			}
		}
		i++
	}
	return i
}
