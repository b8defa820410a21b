// Package irreps names the irreducible representations of the rotations and reflections of space, O(3), as e3nn writes
// them, and computes their real matrices (Wigner D) and the real spherical harmonics that they move. It is pure
// arithmetic: package action turns it into actions.
//
// An irrep is a degree l = 0, 1, 2, ... and a parity: "e" (even) stays as it is under the inversion p -> -p, "o" (odd)
// changes its sign. So 0e are scalars, 0o pseudoscalars, 1o vectors, 1e pseudovectors, and the symmetric traceless
// tensors of rank 2 are 2e. Degree l has 2l+1 components, m = -l, ..., l.
//
// Two bases are in use, see [Basis]. They differ in the axis that is singled out, and so in the order of the components
// of a vector: (x, y, z) in that of e3nn, (y, z, x) in that of most textbooks. The matrices do not depend on how the
// harmonics are normalised.
package irreps

import (
	"fmt"
	"strconv"
	"strings"
)

// MaxL is the highest degree.
const MaxL = 12

// MaxDim bounds the numbers of a row that [Parse] accepts.
const MaxDim = 1 << 24

// Term is Mul copies of one irrep.
type Term struct {
	// 1 or more
	Mul int
	// degree, 0 to [MaxL]
	L   int
	Odd bool
}

// Dim is the numbers of the term, Mul·(2L+1).
func (t Term) Dim() int { return t.Mul * (2*t.L + 1) }

// String is the term as e3nn prints it, such as "2x1o".
func (t Term) String() string {
	p := "e"
	if t.Odd {
		p = "o"
	}
	return strconv.Itoa(t.Mul) + "x" + strconv.Itoa(t.L) + p
}

// Irreps is a direct sum: a row holds the numbers of its terms one after another, and each term its copies one after
// another, every copy with the components m = -l, ..., l.
type Irreps []Term

// Dim is the numbers of a row.
func (ir Irreps) Dim() int {
	n := 0
	for _, t := range ir {
		n += t.Dim()
	}
	return n
}

// Top is the highest degree, 0 if there are no terms.
func (ir Irreps) Top() int {
	l := 0
	for _, t := range ir {
		l = max(l, t.L)
	}
	return l
}

// String is what [Parse] reads, as e3nn prints it: "4x0e+2x1o".
func (ir Irreps) String() string {
	s := make([]string, len(ir))
	for i, t := range ir {
		s[i] = t.String()
	}
	return strings.Join(s, "+")
}

// Looks reports whether a name of a type is meant to be irreps, well written or not: it begins with a digit.
func Looks(s string) bool {
	s = strings.TrimSpace(s)
	return s != "" && s[0] >= '0' && s[0] <= '9'
}

// Parse reads irreps as e3nn writes them: terms such as "2x1o", or "1o" for one copy, joined by +, with spaces wherever
// they help. The parity is e or o, or y for that of the spherical harmonics, (-1)^l. Terms are neither sorted nor
// merged. The error names the place.
func Parse(s string) (Irreps, error) {
	p := parser{text: s}
	var ir Irreps
	for {
		t, err := p.term()
		if err != nil {
			return nil, err
		}
		if ir = append(ir, t); ir.Dim() > MaxDim {
			return nil, p.fail("more than %d numbers in a row", MaxDim)
		}
		p.spaces()
		if p.at == len(s) {
			return ir, nil
		}
		if s[p.at] != '+' {
			return nil, p.fail("want + between two irreps, got %s", p.next())
		}
		p.at++
	}
}

type parser struct {
	text string
	// bytes read
	at int
}

func (p *parser) fail(format string, args ...any) error {
	shown := p.text
	if len(shown) > 60 {
		shown = shown[:60] + "…"
	}
	return fmt.Errorf("irreps %q, character %d: %s; write them as in 4x0e+2x1o: copies, x, degree, e for even or o "+
		"for odd", shown, p.at+1, fmt.Sprintf(format, args...))
}

// next describes what is read next.
func (p *parser) next() string {
	if p.at >= len(p.text) {
		return "the end"
	}
	for _, r := range p.text[p.at:] {
		return strconv.QuoteRune(r)
	}
	return ""
}

func (p *parser) spaces() {
	for p.at < len(p.text) && (p.text[p.at] == ' ' || p.text[p.at] == '\t') {
		p.at++
	}
}

// number reads digits. Numbers beyond limit are refused where they begin.
func (p *parser) number(what string, limit int) (int, error) {
	from, n := p.at, 0
	for ; p.at < len(p.text) && p.text[p.at] >= '0' && p.text[p.at] <= '9'; p.at++ {
		if n = 10*n + int(p.text[p.at]-'0'); n > limit {
			p.at = from
			return 0, p.fail("%s above %d", what, limit)
		}
	}
	if p.at == from {
		return 0, p.fail("want %s, got %s", what, p.next())
	}
	return n, nil
}

func (p *parser) term() (Term, error) {
	t := Term{Mul: 1}
	p.spaces()
	from := p.at
	n, err := p.number("a number of copies or a degree", MaxDim)
	if err != nil {
		return t, err
	}
	p.spaces()
	if p.at < len(p.text) && p.text[p.at] == 'x' {
		if t.Mul = n; n < 1 {
			p.at = from
			return t, p.fail("want 1 or more copies")
		}
		p.at++
		p.spaces()
		from = p.at
		if n, err = p.number("a degree", MaxDim); err != nil {
			return t, err
		}
		p.spaces()
	}
	if t.L = n; n > MaxL {
		p.at = from
		return t, p.fail("degree %d, the highest is %d", n, MaxL)
	}
	if p.at >= len(p.text) {
		return t, p.fail("want the parity e or o, got the end")
	}
	switch p.text[p.at] {
	case 'e':
	case 'o':
		t.Odd = true
	case 'y':
		t.Odd = t.L%2 == 1
	default:
		return t, p.fail("want the parity e or o, got %s", p.next())
	}
	p.at++
	return t, nil
}
