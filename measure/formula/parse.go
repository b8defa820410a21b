package formula

import (
	"fmt"
	"strconv"
	"strings"

	"nero/internal/spell"
)

// Limits on expressions, held before anything is computed.
const (
	maxText = 4096
	maxDeep = 64
)

// Error is what is wrong with an expression, and where.
type Error struct {
	// of the first character that is wrong, from 1
	Column  int
	Message string
}

// Error names the place.
func (e *Error) Error() string { return fmt.Sprintf("character %d: %s", e.Column, e.Message) }

// node is a part of an expression: a number, a name, or a function of others. Operators are functions.
type node struct {
	at     int
	number float64
	name   string
	of     *function
	args   []*node
}

type parser struct {
	text string
	at   int
	deep int
}

func (p *parser) fail(at int, format string, a ...any) error {
	return &Error{Column: at + 1, Message: fmt.Sprintf(format, a...)}
}

// level is a set of operators that bind equally strongly.
type level []string

// levels are the operators, from those that bind least. Longer ones stand before those that they begin with.
func levels() []level {
	return []level{{"||"}, {"&&"}, {"==", "!=", "<=", ">=", "<", ">"}, {"+", "-"}, {"*", "/"}}
}

// parse reads a whole expression.
func parse(text string) (*node, error) {
	p := &parser{text: text}
	if len(text) > maxText {
		return nil, p.fail(maxText, "the expression has %d characters, at most %d are read; take a shorter "+
			"one", len(text),
			maxText)
	}
	n, err := p.binary(0)
	if err != nil {
		return nil, err
	}
	if p.space(); p.at < len(p.text) {
		return nil, p.fail(p.at, "%q is not expected here; an operator such as + or the end is", p.word())
	}
	return n, nil
}

func (p *parser) space() {
	for p.at < len(p.text) && strings.IndexByte(" \t\r\n", p.text[p.at]) >= 0 {
		p.at++
	}
}

// word is what stands at the place, for messages.
func (p *parser) word() string {
	rest := p.text[p.at:]
	for i, r := range rest {
		if i > 0 && !letter(r) {
			return rest[:i]
		}
	}
	return rest
}

func letter(r rune) bool {
	return r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
}

// take takes one of some words.
func (p *parser) take(words ...string) (string, bool) {
	p.space()
	for _, w := range words {
		if strings.HasPrefix(p.text[p.at:], w) {
			p.at += len(w)
			return w, true
		}
	}
	return "", false
}

// within counts how deep parts lie in each other.
func (p *parser) within(of func() (*node, error)) (*node, error) {
	if p.deep++; p.deep > maxDeep {
		return nil, p.fail(p.at, "the expression is nested deeper than %d; take a simpler one", maxDeep)
	}
	n, err := of()
	p.deep--
	return n, err
}

// binary reads operators of a level and those that bind more strongly.
func (p *parser) binary(k int) (*node, error) {
	all := levels()
	if k == len(all) {
		return p.unary()
	}
	left, err := p.binary(k + 1)
	if err != nil {
		return nil, err
	}
	for {
		p.space()
		at := p.at
		op, ok := p.take(all[k]...)
		if !ok {
			return left, nil
		}
		right, err := p.within(func() (*node, error) { return p.binary(k + 1) })
		if err != nil {
			return nil, err
		}
		left = &node{at: at, of: find(op), args: []*node{left, right}}
	}
}

// unary reads signs; a power binds more strongly than the sign before it.
func (p *parser) unary() (*node, error) {
	p.space()
	at := p.at
	if op, ok := p.take("-", "!"); ok {
		n, err := p.within(p.unary)
		if err != nil {
			return nil, err
		}
		if op == "-" {
			op = "negative"
		}
		return &node{at: at, of: find(op), args: []*node{n}}, nil
	}
	left, err := p.atom()
	if err != nil {
		return nil, err
	}
	p.space()
	at = p.at
	if _, ok := p.take("^", "**"); !ok {
		return left, nil
	}
	right, err := p.within(p.unary)
	if err != nil {
		return nil, err
	}
	return &node{at: at, of: find("^"), args: []*node{left, right}}, nil
}

// atom reads a number, a name, a call, an index or brackets.
func (p *parser) atom() (*node, error) {
	p.space()
	at := p.at
	if at == len(p.text) {
		return nil, p.fail(at, "the expression ends where a number, a name or a bracket is expected")
	}
	var n *node
	switch c := p.text[at]; {
	case c == '(':
		p.at++
		inner, err := p.within(func() (*node, error) { return p.binary(0) })
		if err != nil {
			return nil, err
		}
		if _, ok := p.take(")"); !ok {
			return nil, p.fail(p.at, "no ) for the ( at character %d", at+1)
		}
		n = inner
	case c >= '0' && c <= '9' || c == '.':
		x, err := p.number()
		if err != nil {
			return nil, err
		}
		n = x
	case letter(rune(c)):
		x, err := p.named()
		if err != nil {
			return nil, err
		}
		n = x
	default:
		return nil, p.fail(at, "%q is not expected here; a number, a name or a bracket is", p.word())
	}
	for {
		p.space()
		at := p.at
		if _, ok := p.take("["); !ok {
			return n, nil
		}
		i, err := p.within(func() (*node, error) { return p.binary(0) })
		if err != nil {
			return nil, err
		}
		if _, ok := p.take("]"); !ok {
			return nil, p.fail(p.at, "no ] for the [ at character %d", at+1)
		}
		n = &node{at: at, of: find("[]"), args: []*node{n, i}}
	}
}

func (p *parser) number() (*node, error) {
	at := p.at
	for p.at < len(p.text) {
		c := p.text[p.at]
		sign := (c == '+' || c == '-') && p.at > at && (p.text[p.at-1] == 'e' || p.text[p.at-1] == 'E')
		if !sign && c != '.' && !letter(rune(c)) {
			break
		}
		p.at++
	}
	v, err := strconv.ParseFloat(p.text[at:p.at], 64)
	if err != nil || strings.Contains(p.text[at:p.at], "_") {
		return nil, p.fail(at, "%q is not a number", p.text[at:p.at])
	}
	return &node{at: at, number: v}, nil
}

// named reads a name, or a call if a bracket follows.
func (p *parser) named() (*node, error) {
	at := p.at
	name := p.word()
	p.at += len(name)
	if _, call := p.take("("); !call {
		return &node{at: at, name: name}, nil
	}
	f := find(name)
	if f == nil || f.operator {
		return nil, p.fail(at, "there is no function %s%s; there are %s", name, near(name, calls()),
			strings.Join(calls(), ", "))
	}
	n := &node{at: at, of: f}
	for first := true; ; first = false {
		if _, end := p.take(")"); end {
			break
		}
		if !first {
			if _, comma := p.take(","); !comma {
				return nil, p.fail(p.at, "no ) for the ( behind %s at character %d", name, at+1)
			}
		}
		arg, err := p.within(func() (*node, error) { return p.binary(0) })
		if err != nil {
			return nil, err
		}
		n.args = append(n.args, arg)
	}
	if len(n.args) < f.least || len(n.args) > f.most {
		want := strconv.Itoa(f.least)
		if f.most > f.least {
			want += " to " + strconv.Itoa(f.most)
		}
		return nil, p.fail(at, "%s has %d arguments, want %s", name, len(n.args), want)
	}
	return n, nil
}

// near is the word that was probably meant, for a message.
func near(word string, known []string) string {
	if k, ok := spell.Nearest(word, known); ok {
		return fmt.Sprintf(" (did you mean %s?)", k)
	}
	return ""
}
