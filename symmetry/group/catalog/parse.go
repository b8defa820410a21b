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
func Parse(name string) (group.Group, error) {
	if len(name) > maxName {
		return nil, fmt.Errorf("the name of a group is %d bytes long: expected at most %d", len(name), maxName)
	}
	if strings.TrimSpace(name) == "" {
		return nil, errors.New("the name of the group is empty; the groups are " + known())
	}
	pieces, err := factorNames(name)
	if err != nil {
		return nil, fmt.Errorf("group %q: %w", name, err)
	}
	var groups []group.Group
	for _, p := range pieces {
		g, err := parseFactor(p)
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
func factorNames(name string) ([]string, error) {
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
				_, err := parseFactor(string(runes[from:i]))
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
		if strings.TrimSpace(p) == "" {
			return nil, errors.New("a factor of the product is missing")
		}
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

// named are the groups without parameters, by squashed names without parentheses and commas.
func named(key string) func() group.Group {
	switch key {
	case "trivial", "identity", "none", "1":
		return group.Trivial
	case "so2", "rotation", "rotations", "rotate":
		return SO2
	case "o2":
		return O2
	case "t2", "r2", "shift", "shifts", "translation", "translations":
		return T2
	case "t2z", "z2":
		return T2Z
	case "scale", "scaling", "r+":
		return Scale
	case "se2":
		return SE2
	case "e2":
		return E2
	case "p4":
		return P4
	case "p4m":
		return P4M
	case "time", "reversal", "timereversal":
		return Time
	}
	return namedInSpace(key)
}

// namedInSpace are those that act on space.
func namedInSpace(key string) func() group.Group {
	switch key {
	case "t1":
		return T1
	case "t1z":
		return T1Z
	case "e1z":
		return E1Z
	case "lorentz", "so+13", "so13":
		return Lorentz
	case "affine3":
		return Affine3
	case "su2":
		return SU2
	case "hue":
		return Hue
	case "brightness":
		return Brightness
	case "contrast":
		return Contrast
	case "gamma":
		return Gamma
	case "so3":
		return SO3
	case "o3":
		return O3
	case "t3", "r3":
		return T3
	case "se3":
		return SE3
	case "e3":
		return E3
	case "scale3":
		return Scale3
	case "tetra", "tetrahedral":
		return Tetra
	case "octa", "octahedral":
		return Octa
	case "icosa", "icosahedral":
		return Icosa
	case "th":
		return Th
	case "td":
		return Td
	case "oh":
		return Oh
	case "ih":
		return Ih
	}
	return nil
}

func parseFactor(text string) (group.Group, error) {
	key := squash(text)
	if f := named(strings.NewReplacer("(", "", ")", "", ",", "").Replace(key)); f != nil {
		return f(), nil
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
			return nil, unknown(text)
		}
		head, args = key[:i], key[i+1:len(key)-1]
	}
	switch head {
	case "roll", "rolls", "torus":
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
	case "gl+", "sl", "sp":
		n, err := ints(args)
		if err != nil || len(n) != 1 {
			return nil, fmt.Errorf("%q: expected the dimension, such as %s(2)", strings.TrimSpace(text),
				map[string]string{"gl+": "GL+", "sl": "SL", "sp": "Sp"}[head])
		}
		return map[string]func(int) (group.Group, error){"gl+": GLPlus, "sl": SL, "sp": Symplectic}[head](n[0])
	case "og", "sog":
		return parseAbout(text, args, head == "og")
	case "og3", "sog3":
		if args == "" {
			return parseAbout(text, "3", head == "og3")
		}
		return parseAbout(text, "3,"+args, head == "og3")
	case "channels":
		n, err := ints(args)
		if err != nil || len(n) != 1 {
			return nil, fmt.Errorf("%q: expected the number of channels, such as Channels(3)", strings.TrimSpace(text))
		}
		return Channels(n[0])
	case "affine", "flow":
		var names []string
		if args != "" {
			// From the text as given, for the error messages.
			open, end := strings.IndexByte(text, '('), strings.LastIndexByte(text, ')')
			for a := range strings.SplitSeq(text[open+1:end], ",") {
				names = append(names, strings.TrimSpace(a))
			}
		}
		if head == "flow" {
			return Flow(names...)
		}
		return ByGenerators(names...)
	}
	for letter, build := range map[string]func(int) (group.Group, error){"c": Cyclic, "d": Dihedral, "s": Symmetric} {
		rest, ok := strings.CutPrefix(key, letter)
		if !ok {
			continue
		}
		if head == letter && args != "" {
			rest = args
		}
		if digits(rest) {
			n, err := strconv.Atoi(rest)
			if err != nil {
				return nil, fmt.Errorf("%s: the number after the letter is too large", strings.TrimSpace(text))
			}
			return build(n)
		}
		if letter == "s" && (rest == "" || rest == "n") {
			return nil, fmt.Errorf("%q: expected the number of rows, such as S(5)", strings.TrimSpace(text))
		}
		if rest == "" || rest == "n" {
			return nil, fmt.Errorf("%q: expected the number of rotations, such as %s4", strings.TrimSpace(text),
				strings.ToUpper(letter))
		}
	}
	return nil, unknown(text)
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

func known() string {
	var s []string
	for _, e := range entries() {
		s = append(s, e.Name)
	}
	return strings.Join(s, ", ") + ", and products such as C4 x Scale"
}

func unknown(text string) error {
	text = strings.TrimSpace(text)
	var names []string
	for _, e := range entries() {
		names = append(names, e.Example)
	}
	msg := fmt.Sprintf("unknown group %q", text)
	if near := nearest(text, names); near != "" {
		msg += "; did you mean " + near
	}
	return errors.New(msg + "; the groups are " + known())
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
