package identify

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"nero/internal/spell"

	"github.com/goccy/go-yaml"
)

// Sureness of an answer, and of what follows from it.
const (
	// Sure follows from an answer without doubt.
	Sure = "sure"
	// Likely follows from an answer that ended in a question mark, or from what is usual.
	Likely = "likely"
	// Open has to be tested: nobody knows.
	Open = "open"
)

// Answers are the answers by the questions' ids: the name of a choice, with a question mark behind it for a guess.
type Answers map[string]string

// maxAnswers is how long a file of answers may be, in bytes.
const maxAnswers = 1 << 16

// Parse reads a file of answers: YAML, a line for each question. Questions that it leaves out are unknown, but what a
// sample is has to be said. The name is for messages.
func Parse(name string, text []byte) (Answers, error) {
	if len(text) > maxAnswers {
		return nil, fmt.Errorf("%s: %d bytes, and answers are at most %d: is it a file of answers?", name, len(text),
			maxAnswers)
	}
	read := map[string]any{}
	if err := yaml.Unmarshal(text, &read); err != nil {
		return nil, fmt.Errorf("%s: %s", name, yaml.FormatError(err, false, false))
	}
	a := Answers{}
	keys := make([]string, 0, len(read))
	for k := range read {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		v := read[k]
		switch v := v.(type) {
		case string:
			a[k] = v
		case bool: // YAML's own words for yes and no
			a[k] = map[bool]string{true: "yes", false: "no"}[v]
		case uint64:
			a[k] = strconv.FormatUint(v, 10)
		case float64:
			a[k] = strconv.FormatFloat(v, 'g', -1, 64)
		case nil:
			a[k] = Unknown
		default:
			return nil, fmt.Errorf("%s: %s: want one word", name, k)
		}
	}
	if err := a.check(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return a, nil
}

// check holds answers against the questions.
func (a Answers) check() error {
	ids := make([]string, len(questions()))
	for i, q := range questions() {
		ids[i] = q.ID
	}
	keys := make([]string, 0, len(a))
	for k := range a {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		i := slices.Index(ids, k)
		if i < 0 {
			hint := ""
			if near, ok := spell.Nearest(k, ids); ok {
				hint = fmt.Sprintf("; did you mean %s?", near)
			}
			return fmt.Errorf("%s: no such question%s; they are %s", k, hint, strings.Join(ids, ", "))
		}
		if _, err := questions()[i].Take(a[k]); err != nil {
			return fmt.Errorf("%s: %w", k, err)
		}
	}
	if a["data"] == "" {
		return errors.New("data: not said, and everything else depends on it; " + questions()[0].expected())
	}
	return nil
}

// Take reads what somebody types as the answer to a question: the name of a choice or its first letters, or its place
// in the list counted from 1, with a question mark behind it for a guess; nothing for unknown.
func (q Question) Take(text string) (string, error) {
	text = strings.ToLower(strings.TrimSpace(text))
	word := strings.TrimSpace(strings.TrimRight(text, "? "))
	guess := ""
	if strings.HasSuffix(text, "?") {
		guess = "?"
	}
	if word == "" || word == Unknown {
		if q.ID == "data" && word == "" {
			return "", errors.New(q.expected())
		}
		return Unknown, nil
	}
	if guess != "" && q.Surely {
		return "", fmt.Errorf("%q: this one has to be known; %s", text, q.expected())
	}
	if q.check != nil {
		if err := q.check(word); err != nil {
			return "", err
		}
		return word + guess, nil
	}
	if n, err := strconv.Atoi(word); err == nil && n >= 1 && n <= len(q.Choices) {
		word = q.Choices[n-1].Name
	}
	var begin []string
	for _, c := range q.Choices {
		if c.Name == word {
			begin = []string{word}
			break
		}
		if strings.HasPrefix(c.Name, word) {
			begin = append(begin, c.Name)
		}
	}
	if len(begin) != 1 {
		return "", fmt.Errorf("%q: %s", text, q.expected())
	}
	if begin[0] == Unknown {
		guess = ""
	}
	return begin[0] + guess, nil
}

// expected says what may be answered.
func (q Question) expected() string {
	if q.Form != "" {
		return "want " + q.Form
	}
	names := make([]string, len(q.Choices))
	for i, c := range q.Choices {
		names[i] = c.Name
	}
	return "want one of " + strings.Join(names, ", ")
}

// Arises says whether a question is asked after these answers.
func (q Question) Arises(a Answers) bool { return q.when(a) }

// word is an answer without its question mark, Unknown where there is none or the question does not arise.
func (a Answers) word(id string) string {
	i := slices.IndexFunc(questions(), func(q Question) bool { return q.ID == id })
	v := strings.TrimSuffix(a[id], "?")
	if v == "" || id != "data" && !questions()[i].when(a) {
		return Unknown
	}
	return v
}

// is says whether an answer is one of some.
func (a Answers) is(id string, of ...string) bool { return slices.Contains(of, a.word(id)) }

// sureness is how sure an answer is.
func (a Answers) sureness(ids ...string) string {
	worst := Sure
	for _, id := range ids {
		switch {
		case a.word(id) == Unknown:
			return Open
		case strings.HasSuffix(a[id], "?"):
			worst = Likely
		}
	}
	return worst
}

func (a Answers) kind() kind {
	i := slices.IndexFunc(kinds, func(k kind) bool { return k.name == strings.TrimSuffix(a["data"], "?") })
	if i < 0 {
		return kinds[len(kinds)-1]
	}
	return kinds[i]
}

func (a Answers) reply() reply {
	i := slices.IndexFunc(replies, func(r reply) bool { return r.name == a.word("answer") })
	return replies[i]
}

// Write is the answers as a file, a line for each question that arises: [Parse] reads the same from it.
func (a Answers) Write() []byte {
	var b strings.Builder
	for _, q := range questions() {
		if !q.when(a) {
			continue
		}
		v := a[q.ID]
		if v == "" {
			v = Unknown
		}
		fmt.Fprintf(&b, "# %s\n%s: %q\n", q.Ask, q.ID, v)
	}
	return []byte(b.String())
}

// Blank is a file of answers for somebody to fill in.
func Blank() []byte {
	var b strings.Builder
	b.WriteString("# A question mark behind an answer says that it is a guess. Questions that do not arise are " +
		"ignored.\n")
	for _, q := range questions() {
		fmt.Fprintf(&b, "\n# %s\n", q.Ask)
		for _, c := range q.Choices {
			fmt.Fprintf(&b, "#   %-9s %s\n", c.Name, c.Doc)
		}
		if q.Form != "" {
			fmt.Fprintf(&b, "#   %s\n", q.Form)
		}
		fmt.Fprintf(&b, "%s: %s\n", q.ID, Unknown)
	}
	return []byte(b.String())
}

// degrees reads the largest angle of a range.
func degrees(text string) error {
	if text == "all" {
		return nil
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || !(v > 0 && v <= 180) {
		return fmt.Errorf("%q: want degrees from 0 to 180 to either side, such as 30, or all", text)
	}
	return nil
}

var sizes = regexp.MustCompile(`^[1-9][0-9]{0,4}(x[1-9][0-9]{0,4})?$`)

// size reads the size of a sample.
func size(text string) error {
	if !sizes.MatchString(text) {
		return fmt.Errorf("%q: want HEIGHTxWIDTH or a number of items up to 99999, such as 28x28 or 16, or unknown",
			text)
	}
	return nil
}

// extent is the size of a sample: height and width, or a number of items; nil where it is not known.
func (a Answers) extent() []int {
	v := a.word("size")
	if v == Unknown {
		return nil
	}
	var n []int
	for part := range strings.SplitSeq(v, "x") {
		k, err := strconv.Atoi(part)
		if err != nil {
			return nil
		}
		n = append(n, k)
	}
	return n
}
