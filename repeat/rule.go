package repeat

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"nero/internal/quoted"
	"nero/present/words"
)

// Rule is a way to make texts that mean the same equal.
type Rule struct {
	Name string
	// Doc says what becomes of a text.
	Doc string
	// Takes says what stands behind = after the name; empty where nothing does.
	Takes string
	// Number says that what it leaves is one number.
	Number bool
	// ready makes it, of what stands behind =. It returns false for a text that it does not fit.
	ready func(arg string) (func(string) (string, bool), error)
}

// Rules are all rules.
func Rules() []*Rule {
	return []*Rule{
		{
			Name: "trim", Doc: "spaces and line breaks at both ends are left out, several in a row become one space",
			ready: plain(func(s string) (string, bool) { return strings.Join(strings.Fields(s), " "), true }),
		},
		{
			Name: "case", Doc: "capital letters become small ones",
			ready: plain(func(s string) (string, bool) { return strings.ToLower(s), true }),
		},
		{
			Name: "json", Doc: "JSON is written in one way: keys sorted, no spaces, numbers as float64",
			ready: plain(canonical),
		},
		{
			Name: "match", Doc: "the part that a regular expression finds, or its first group: match=answer: (\\w+)",
			Takes: "a regular expression as Go's package regexp reads it", ready: match,
		},
		{
			Name: "number", Doc: "the text is one number; answers are numbers then, and distances are taken",
			Number: true,
			ready:  plain(number),
		},
	}
}

func plain(f func(string) (string, bool)) func(string) (func(string) (string, bool), error) {
	return func(string) (func(string) (string, bool), error) { return f, nil }
}

// canonical is JSON with sorted keys; not ok for what is no JSON, and for halves of surrogate pairs, which no text has.
func canonical(s string) (string, bool) {
	if !quoted.Whole([]byte(s)) {
		return "", false
	}
	d := json.NewDecoder(strings.NewReader(s))
	var v any
	if d.Decode(&v) != nil {
		return "", false
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return "", false
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(v) != nil {
		return "", false
	}
	return strings.TrimSuffix(b.String(), "\n"), true
}

// number is a finite number in its shortest form.
func number(s string) (string, bool) {
	x, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
		return "", false
	}
	return strconv.FormatFloat(x+0, 'g', -1, 64), true // 0 and -0 are one number
}

func match(arg string) (func(string) (string, bool), error) {
	re, err := regexp.Compile(arg)
	if err != nil {
		return nil, errors.New(strings.TrimPrefix(err.Error(), "error parsing regexp: "))
	}
	return func(s string) (string, bool) {
		m := re.FindStringSubmatch(s)
		if m == nil {
			return "", false
		}
		return m[min(1, len(m)-1)], true
	}, nil
}

// Normaliser is rules, one after another.
type Normaliser struct {
	// Texts are the rules as they were written.
	Texts  []string
	steps  []func(string) (string, bool)
	number bool
}

// ParseRules reads rules.
func ParseRules(texts []string) (*Normaliser, error) {
	n := &Normaliser{Texts: texts}
	for i, text := range texts {
		name, arg, given := strings.Cut(text, "=")
		k := slices.IndexFunc(Rules(), func(r *Rule) bool { return r.Name == name })
		if k < 0 {
			var names []string
			for _, r := range Rules() {
				names = append(names, r.Name)
			}
			hint := ""
			if near, ok := words.Suggest(name, names); ok {
				hint = "; did you mean " + near + "?"
			}
			return nil, fmt.Errorf("%q is no rule; want some of %s%s", name, strings.Join(names, ", "), hint)
		}
		r := Rules()[k]
		switch {
		case r.Takes != "" && arg == "":
			return nil, fmt.Errorf("%s: want %s=… with %s", text, r.Name, r.Takes)
		case r.Takes == "" && given:
			return nil, fmt.Errorf("%s: the rule %s takes nothing behind it", text, r.Name)
		case r.Number && i+1 < len(texts):
			return nil, fmt.Errorf("%s: what it leaves is a number, and nothing comes behind it; make it the last rule",
				text)
		}
		step, err := r.ready(arg)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", text, err)
		}
		n.steps, n.number = append(n.steps, step), r.Number
	}
	return n, nil
}

// Numbers tells whether what is left of a text is a number.
func (n *Normaliser) Numbers() bool { return n.number }

// RulesHelp are the rules, a line for each.
func RulesHelp() string {
	var out strings.Builder
	for _, r := range Rules() {
		fmt.Fprintf(&out, "  %-8s %s\n", r.Name, r.Doc)
	}
	return out.String()
}

// Read makes an answer of a text.
func (n *Normaliser) Read(raw string) Answer {
	text := raw
	for i, step := range n.steps {
		var ok bool
		if text, ok = step(text); !ok {
			return Answer{Outcome: Unreadable, Raw: raw, Why: fmt.Sprintf("the rule %s does not fit %s", n.Texts[i],
				strconv.QuoteToGraphic(words.Clip(raw, mostShown)))}
		}
	}
	a := Answer{Outcome: Answered, Text: text, Raw: raw}
	if n.number {
		x, err := strconv.ParseFloat(text, 64)
		if err != nil {
			panic("repeat: the rule number left no number")
		}
		a.Numbers = []float64{x}
	}
	return a
}

// OfNumbers makes an answer of numbers.
func OfNumbers(x []float64) Answer {
	var b []byte
	for i, v := range x {
		if i > 0 {
			b = append(b, ' ')
		}
		b = strconv.AppendFloat(b, v+0, 'g', -1, 64)
	}
	a := Answer{Outcome: Answered, Text: string(b), Numbers: x, Raw: string(b)}
	if slices.ContainsFunc(x, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }) {
		a.Outcome, a.Why = NotFinite, "numbers that are not finite: "+words.Clip(a.Raw, mostShown)
	}
	return a
}

// mostShown is how many characters of an answer a report shows.
const mostShown = 80
