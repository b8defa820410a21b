package catalog

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"nero/internal/spell"
	"nero/symmetry/group"
)

// The most that a name may hold, so that a hostile study cannot keep the parser busy.
const maxName = 512

// Parse reads the name of a group, such as "SO(2)", "so2", "C4", "D4 x Scale", "T(2,Z)", "Roll(28,28)", "SE(3)", "S(5)
// x E(3)" or "Affine(rotate, scale)"; [List] lists them. Case and spaces do not matter. Factors of a direct product
// are joined by x, × or *. For every group g that Parse returns, Parse(g.Name()) returns the same group.
//
// more are groups beside those of this package, each under its own name, alone or as a factor. They come first.
func Parse(name string, more ...group.Group) (group.Group, error) {
	if len(name) > maxName {
		return nil, fmt.Errorf("the name of a group is %d bytes long: expected at most %d", len(name), maxName)
	}
	if strings.TrimSpace(name) == "" {
		return nil, errors.New("the name of the group is empty; the groups are " + known(more))
	}
	for _, g := range more { // its name may hold an x
		if g.Name() == strings.TrimSpace(name) {
			return g, nil
		}
	}
	pieces, err := factorNames(name, more)
	if err != nil {
		return nil, fmt.Errorf("group %q: %w", name, err)
	}
	var groups []group.Group
	for _, p := range pieces {
		g, err := parseFactor(p, more)
		if err != nil {
			if len(pieces) > 1 {
				return nil, fmt.Errorf("group %q: %w", name, err)
			}
			return nil, err
		}
		groups = append(groups, g)
	}
	return group.Product(groups...)
}

// factorNames cuts at the signs of a product outside parentheses. An x is one if it stands alone or follows a digit or
// a closing parenthesis, or if the words on both sides are names: "hexagonal" is one (wrong) name, "scalexc4" is two.
func factorNames(name string, more []group.Group) ([]string, error) {
	var out []string
	depth, from := 0, 0
	runes := []rune(name)
	word := func(i int) bool {
		return i >= 0 && i < len(runes) && (unicode.IsLetter(runes[i]) || unicode.IsDigit(runes[i]))
	}
	for i, r := range runes {
		switch r {
		case '(':
			depth++
		case ')':
			depth--
			if depth < 0 {
				return nil, errors.New("a closing parenthesis without an opening one")
			}
		}
		sign := r == '×' || r == '*'
		if r == 'x' || r == 'X' {
			after := i > 0 && (unicode.IsDigit(runes[i-1]) || runes[i-1] == ')')
			sign = !word(i-1) && !word(i+1) || after
			const longest = 16 // more than any name that ends in a letter
			if !sign && depth == 0 && i-from <= longest {
				_, err := parseFactor(string(runes[from:i]), more)
				sign = err == nil
			}
		}
		if depth == 0 && sign {
			out = append(out, string(runes[from:i]))
			from = i + 1
		}
	}
	if depth != 0 {
		return nil, errors.New("a parenthesis is not closed")
	}
	out = append(out, string(runes[from:]))
	for _, p := range out {
		if strings.TrimSpace(p) != "" {
			continue
		}
		var rest []string
		for _, q := range out {
			if q = strings.TrimSpace(q); q != "" {
				rest = append(rest, q)
			}
		}
		without := ""
		if len(rest) > 0 {
			without = ", or leave the x out: " + strings.Join(rest, " x ")
		}
		return nil, errors.New("an x stands between two groups, as in C4 x T(2,Z), and on one side of it is none: " +
			"write the other group" + without)
	}
	return out, nil
}

// squash drops case, spaces and the signs that people put between letters and numbers. A minus stays unless it follows
// a letter, so that negative numbers are seen and refused.
func squash(s string) string {
	before := ' '
	return strings.Map(func(r rune) rune {
		last := before
		if !unicode.IsSpace(r) {
			before = r
		}
		if unicode.IsSpace(r) || r == '_' || r == '^' || r == '-' && unicode.IsLetter(last) {
			return -1
		}
		return unicode.ToLower(r)
	}, s)
}

func parseFactor(text string, more []group.Group) (group.Group, error) {
	key := squash(text)
	for _, g := range more {
		if squash(g.Name()) == key {
			return g, nil
		}
	}
	bare := strings.NewReplacer("(", "", ")", "", ",", "").Replace(key)
	for i := range entries {
		if slices.Contains(entries[i].keys, bare) {
			return entries[i].make(), nil
		}
	}
	if key == "pivd4t" { // the name of the study that it was fixed for
		d4, err := Dihedral(4)
		if err != nil {
			return nil, err
		}
		return group.Product(d4, Time())
	}
	head, args := key, ""
	if i := strings.IndexByte(key, '('); i >= 0 {
		if !strings.HasSuffix(key, ")") {
			return nil, unknown(text, more)
		}
		head, args = key[:i], key[i+1:len(key)-1]
	}
	for i := range entries {
		if slices.Contains(entries[i].heads, head) {
			return entries[i].read(text, head, args)
		}
	}
	for i := range entries {
		e := &entries[i]
		rest, ok := strings.CutPrefix(key, e.letter)
		if !ok || e.letter == "" {
			continue
		}
		if head == e.letter && args != "" {
			rest = args
		}
		if digits(rest) {
			n, err := strconv.Atoi(rest)
			if err != nil {
				return nil, fmt.Errorf("%s: the number after the letter is too large", strings.TrimSpace(text))
			}
			return e.count(n)
		}
		if rest == "" || rest == "n" {
			return nil, fmt.Errorf("%q: expected the %s", strings.TrimSpace(text), e.expected)
		}
	}
	return nil, unknown(text, more)
}

func readRoll(text, _, args string) (group.Group, error) {
	n, err := ints(strings.ReplaceAll(args, "x", ","))
	if err == nil && len(n) == 1 {
		return RollTime(n[0])
	}
	if err != nil || len(n) != 2 {
		return nil, fmt.Errorf(
			"%q: expected the height and width of the grid in pixels, such as Roll(28,28), or the samples of a "+
				"signal, such as Roll(16000)",
			strings.TrimSpace(text))
	}
	return Roll(n[0], n[1])
}

// readAbout reads Og(3,...) with mirrors or without; Og3(...) is the same.
func readAbout(mirror bool) func(text, head, args string) (group.Group, error) {
	return func(text, head, args string) (group.Group, error) {
		if strings.HasSuffix(head, "3") {
			if args != "" {
				args = "," + args
			}
			args = "3" + args
		}
		return parseAbout(text, args, mirror)
	}
}

// numbered reads one number between parentheses; expected says what it is.
func numbered(expected string, build func(int) (group.Group, error)) func(_, _, _ string) (group.Group, error) {
	return func(text, _, args string) (group.Group, error) {
		n, err := ints(args)
		if err != nil || len(n) != 1 {
			return nil, fmt.Errorf("%q: expected the %s", strings.TrimSpace(text), expected)
		}
		return build(n[0])
	}
}

// listed reads a list of names between parentheses, from the text as given, for the error messages.
func listed(build func(...string) (group.Group, error)) func(_, _, _ string) (group.Group, error) {
	return func(text, _, args string) (group.Group, error) {
		var names []string
		if args != "" {
			open, end := strings.IndexByte(text, '('), strings.LastIndexByte(text, ')')
			for a := range strings.SplitSeq(text[open+1:end], ",") {
				names = append(names, strings.TrimSpace(a))
			}
		}
		return build(names...)
	}
}

func digits(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool { return r < '0' || r > '9' })
}

func ints(s string) ([]int, error) {
	var out []int
	for f := range strings.SplitSeq(s, ",") {
		if !digits(f) {
			return nil, fmt.Errorf("%q is no number", f)
		}
		n, err := strconv.Atoi(f)
		if err != nil {
			return nil, fmt.Errorf("%q is too large", f)
		}
		out = append(out, n)
	}
	return out, nil
}

func known(more []group.Group) string {
	var s []string
	for _, g := range more {
		s = append(s, g.Name())
	}
	for _, e := range entries {
		s = append(s, e.Name)
	}
	return strings.Join(s, ", ") + ", and products such as C4 x Scale"
}

func unknown(text string, more []group.Group) error {
	text = strings.TrimSpace(text)
	var names []string
	for _, g := range more {
		names = append(names, g.Name())
	}
	for _, e := range entries {
		names = append(names, e.Example)
	}
	msg := fmt.Sprintf("unknown group %q", text)
	if near := nearest(text, names); near != "" {
		msg += "; did you mean " + near
	}
	return errors.New(msg + "; the groups are " + known(more))
}

// nearest is the name that was probably meant by key, "" if none is near. Signs between letters do not count.
func nearest(key string, names []string) string {
	plain := strings.NewReplacer("(", "", ")", "", ",", "")
	var bare []string
	for _, n := range names {
		bare = append(bare, plain.Replace(squash(n)))
	}
	near, ok := spell.Nearest(plain.Replace(squash(key)), bare)
	if !ok {
		return ""
	}
	return names[slices.Index(bare, near)]
}
