package slice

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Limits of a rule.
const (
	MaxLength = 4096 // characters (Unicode code points)
	MaxDepth  = 100  // parentheses and nots within each other
)

// Code says what kind of mistake is in a rule; docs/SLICES.md lists them. They are the same on the page and in the
// server.
type Code string

// The codes: the first eight are found while a rule is read, the others when it is compared with a run.
const (
	CodeEmpty     Code = "empty"
	CodeLong      Code = "long"
	CodeCharacter Code = "character"
	CodeNumber    Code = "number"
	CodeText      Code = "text"
	CodeSyntax    Code = "syntax"
	CodeField     Code = "field"
	CodeDeep      Code = "deep"
	CodeModel     Code = "model"
	CodeClass     Code = "class"
	CodeMissing   Code = "missing"
	CodeType      Code = "type"
)

// RuleError is what is wrong with a rule, and where.
type RuleError struct {
	Code Code
	// characters (Unicode code points) from the beginning, from 0
	At   int
	Text string
}

// Error names the place, counted from 1 as people do, and the mistake.
func (e *RuleError) Error() string { return fmt.Sprintf("rule: character %d: %s", e.At+1, e.Text) }

func mistake(code Code, at int, format string, a ...any) error {
	return &RuleError{code, at, fmt.Sprintf(format, a...)}
}

// Field is what a rule looks at in a sample.
type Field string

// The fields. Those of statistics, and predicted, are of a model.
const (
	Mean      Field = "mean"     // over the orbit, with the weights of the plan
	Min       Field = "min"      // over the orbit
	Max       Field = "max"      // over the orbit
	Spread    Field = "spread"   // standard deviation over the orbit
	Identity  Field = "identity" // value at the identity
	Predicted Field = "predicted"
	Label     Field = "label"
	Index     Field = "index"
	ID        Field = "id"
	Tag       Field = "tag"
)

var fields = []Field{Mean, Min, Max, Spread, Identity, Predicted, Label, Index, ID, Tag}

func (f Field) ofModel() bool { return slices.Contains(fields[:6], f) }

// token is a symbol of a rule.
type token struct {
	// w word, n number, t text, s symbol, e end
	kind byte
	// the word in small letters, the text without quotes, the symbol
	value  string
	number float64
	at     int
}

func wordy(c rune) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || digit(c) || c == '_'
}
func digit(c rune) bool { return c >= '0' && c <= '9' }

// symbols, the longer ones first, and what they stand for.
var symbols = [][2]string{
	{"<=", "<="},
	{">=", ">="},
	{"==", "="},
	{"!=", "!="},
	{"<", "<"},
	{">", ">"},
	{"=", "="},
	{"~", "~"},
	{"+", "+"},
	{"-", "-"},
	{"−", "-"},
	{"≤", "<="},
	{"≥", ">="},
	{"≠", "!="},
	{"(", "("},
	{")", ")"},
	{",", ","},
}

// tokens cuts a rule into its symbols, before any of them means something: mistakes of writing are found first.
func tokens(text string) ([]token, error) {
	if n := utf8.RuneCountInString(text); n > MaxLength {
		return nil, mistake(CodeLong, MaxLength, "a rule has at most %d characters, and this has %d", MaxLength, n)
	}
	s := []rune(text)
	at := func(i int) rune {
		if i < len(s) {
			return s[i]
		}
		return 0
	}
	var out []token
	for i := 0; i < len(s); {
		c, from := s[i], i
		switch {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			i++
		case digit(c) || c == '.' && digit(at(i+1)):
			i = numberEnd(s, i)
			x, err := strconv.ParseFloat(string(s[from:i]), 64)
			if err != nil && !math.IsInf(x, 0) || wordy(at(i)) || at(i) == '.' || math.IsInf(x, 0) {
				return nil, mistake(CodeNumber, from, "this is no number: write 6, 0.4, .4 or 1e-3")
			}
			out = append(out, token{kind: 'n', value: string(s[from:i]), number: x, at: from})
		case wordy(c):
			for wordy(at(i)) {
				i++
			}
			out = append(out, token{kind: 'w', value: strings.ToLower(string(s[from:i])), at: from})
		case c == '"' || c == '\'':
			var b strings.Builder
			for i++; i < len(s) && s[i] != c; i++ {
				if s[i] == '\\' && i+1 < len(s) {
					i++
				}
				b.WriteRune(s[i])
			}
			if i >= len(s) {
				return nil, mistake(CodeText, from, "the text that begins here has no end: %c is missing", c)
			}
			i++
			out = append(out, token{kind: 't', value: b.String(), at: from})
		default:
			k := slices.IndexFunc(symbols, func(y [2]string) bool {
				return strings.HasPrefix(string(s[i:min(i+2, len(s))]), y[0])
			})
			if k < 0 {
				return nil, mistake(CodeCharacter, from, "%q means nothing in a rule", string(c))
			}
			i += utf8.RuneCountInString(symbols[k][0])
			out = append(out, token{kind: 's', value: symbols[k][1], at: from})
		}
	}
	if len(out) == 0 {
		return nil, mistake(CodeEmpty, 0, "the rule is empty")
	}
	return append(out, token{kind: 'e', at: len(s)}), nil
}

// numberEnd is where the number ends that begins at i.
func numberEnd(s []rune, i int) int {
	digits := func() {
		for i < len(s) && digit(s[i]) {
			i++
		}
	}
	digits()
	if i < len(s) && s[i] == '.' {
		i++
	}
	digits()
	if i < len(s) && (s[i] == 'e' || s[i] == 'E') {
		k := i + 1
		if k < len(s) && (s[k] == '+' || s[k] == '-') {
			k++
		}
		if k < len(s) && digit(s[k]) {
			i = k
			digits()
		}
	}
	return i
}

// Rule is a rule that was read. It says what it means of a run with [Rule.Select].
type Rule struct{ root node }

// node is a condition.
type node struct {
	// and, or, not, compare, in
	op string
	// of and, or, not
	list []node
	// of compare; of in the left side and then the items
	sides []sum
	ops   []comparator
	// of in
	not bool
	// of in
	at int
}

type comparator struct {
	op string
	at int
}

// term is a number, a text or a field, with its sign.
type term struct {
	// n, t, f
	kind   byte
	number float64
	text   string
	field  Field
	// letter or name
	model string
	// l for a letter, n for a name, 0 for none
	named byte
	// of the field
	place int
	minus bool
	at    int
}

type sum []term

// Parse reads a rule, by the grammar of docs/SLICES.md. The error is a [*RuleError].
func Parse(text string) (*Rule, error) {
	list, err := tokens(text)
	if err != nil {
		return nil, err
	}
	p := &parser{list: list}
	root, err := p.or(0)
	if err != nil {
		return nil, err
	}
	if p.peek().kind != 'e' {
		return nil, p.expected("“and”, “or” or the end")
	}
	return &Rule{root}, nil
}

type parser struct {
	list []token
	next int
}

func (p *parser) peek() token { return p.list[p.next] }

func (p *parser) is(kind byte, value string) bool {
	return p.peek().kind == kind && p.peek().value == value
}

func (p *parser) take(kind byte, value string) bool {
	if p.is(kind, value) {
		p.next++
		return true
	}
	return false
}

func (p *parser) expected(what string) error {
	t := p.peek()
	if t.kind == 'e' {
		return mistake(CodeSyntax, t.at, "expected %s where the rule ends", what)
	}
	return mistake(CodeSyntax, t.at, "expected %s where “%s” stands", what, t.value)
}

func (p *parser) or(depth int) (node, error) {
	return p.many("or", func() (node, error) { return p.many("and", func() (node, error) { return p.not(depth) }) })
}

func (p *parser) many(word string, one func() (node, error)) (node, error) {
	first, err := one()
	if err != nil || !p.is('w', word) {
		return first, err
	}
	n := node{op: word, list: []node{first}}
	for p.take('w', word) {
		next, err := one()
		if err != nil {
			return node{}, err
		}
		n.list = append(n.list, next)
	}
	return n, nil
}

func (p *parser) not(depth int) (node, error) {
	not, open := p.is('w', "not"), p.is('s', "(")
	if !not && !open {
		return p.comparison()
	}
	if depth >= MaxDepth {
		return node{}, mistake(CodeDeep, p.peek().at, "more than %d parentheses and nots within each other", MaxDepth)
	}
	p.next++
	if not {
		of, err := p.not(depth + 1)
		return node{op: "not", list: []node{of}}, err
	}
	inner, err := p.or(depth + 1)
	if err == nil && !p.take('s', ")") {
		err = p.expected("“)”")
	}
	return inner, err
}

var comparators = []string{"<", "<=", ">", ">=", "=", "!=", "~"}

func (p *parser) operator() bool {
	return p.peek().kind == 's' && slices.Contains(comparators, p.peek().value)
}

func (p *parser) comparison() (node, error) {
	left, err := p.sum()
	if err != nil {
		return node{}, err
	}
	n := node{op: "compare", sides: []sum{left}, at: p.peek().at}
	n.not = p.take('w', "not")
	if p.take('w', "in") {
		n.op = "in"
		return n, p.items(&n)
	}
	if n.not {
		return node{}, p.expected("“in”")
	}
	if !p.operator() {
		return node{}, p.expected("a comparison such as < 0.4")
	}
	for p.operator() {
		n.ops = append(n.ops, comparator{p.peek().value, p.peek().at})
		p.next++
		side, err := p.sum()
		if err != nil {
			return node{}, err
		}
		n.sides = append(n.sides, side)
	}
	return n, nil
}

func (p *parser) items(n *node) error {
	if !p.take('s', "(") {
		return p.expected("“(” and a list")
	}
	for {
		t, err := p.term(false)
		if err != nil {
			return err
		}
		if t.kind == 'f' {
			return mistake(CodeSyntax, t.at, "expected a number or a text in the list")
		}
		n.sides = append(n.sides, sum{t})
		if !p.take('s', ",") {
			break
		}
	}
	if !p.take('s', ")") {
		return p.expected("“,” or “)”")
	}
	return nil
}

func (p *parser) sum() (sum, error) {
	var all sum
	for minus := false; ; {
		t, err := p.term(minus)
		if err != nil {
			return nil, err
		}
		all = append(all, t)
		switch {
		case p.take('s', "+"):
			minus = false
		case p.take('s', "-"):
			minus = true
		default:
			return all, nil
		}
	}
}

var reserved = []string{"and", "or", "not", "in"}

func (p *parser) term(minus bool) (term, error) {
	o := term{at: p.peek().at, minus: minus}
	if p.take('s', "-") {
		o.minus = !o.minus
	}
	t := p.peek()
	switch {
	case t.kind == 'n':
		o.kind, o.number = 'n', t.number
		p.next++
		return o, nil
	case t.kind == 't':
		o.kind, o.text = 't', t.value
		p.next++
		return o, nil
	case t.kind != 'w' || slices.Contains(reserved, t.value):
		return o, p.expected("a field, a number or a text")
	case !slices.Contains(fields, Field(t.value)):
		return o, mistake(CodeField, t.at, "there is no field “%s”, only %s", t.value,
			strings.Join(words(fields), ", "))
	}
	o.kind, o.field, o.place = 'f', Field(t.value), t.at
	p.next++
	if !o.field.ofModel() {
		return o, nil
	}
	switch m := p.peek(); {
	case m.kind == 't':
		o.model, o.named = m.value, 'n'
		p.next++
	case m.kind == 'w' && len(m.value) == 1 && m.value >= "a" && m.value <= "f":
		o.model, o.named = strings.ToUpper(m.value), 'l'
		p.next++
	}
	return o, nil
}

func words(fs []Field) []string {
	out := make([]string, len(fs))
	for i, f := range fs {
		out[i] = string(f)
	}
	return out
}
