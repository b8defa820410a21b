package chem

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// ReadSDF reads the molecules of an SD file, or of a molfile, of version V2000 (MDL's CTfile formats). Formal charges
// become the column "charges"; properties that are numbers become [Molecule.Values], others [Molecule.Words].
// Coordinates are taken as they are: a drawing is flat.
func ReadSDF(text string) ([]*Molecule, error) {
	if err := check(text); err != nil {
		return nil, err
	}
	l := &lines{rest: text}
	var all []*Molecule
	for strings.TrimSpace(l.rest) != "" {
		m, err := readMol(l)
		if err != nil {
			return nil, err
		}
		all = append(all, m)
		if err := m.properties(l); err != nil {
			return nil, err
		}
	}
	if len(all) == 0 {
		return nil, errors.New("no molecule: the file is empty, want a molfile or an SD file, V2000")
	}
	return all, nil
}

// readMol reads one molfile, up to M  END.
func readMol(l *lines) (*Molecule, error) {
	m := &Molecule{Line: l.n + 1}
	var head [4]string
	for k := range head {
		line, ok := l.next()
		if !ok {
			return nil, bad(l.n,
				"the file ends in the head of the molecule that begins in line %d: want three lines and the counts, "+
					"such as %q", m.Line, "  3  2  0  0  0  0  0  0  0  0999 V2000")
		}
		head[k] = line
	}
	m.Name = strings.TrimSpace(head[0])
	if strings.Contains(head[3], "V3000") {
		return nil, bad(l.n,
			"a molfile of version V3000, want V2000: convert it, such as by obabel or RDKit's MolToMolBlock")
	}
	atoms, bonds, err := counts(head[3], l.n)
	if err != nil {
		return nil, err
	}
	if have := l.left(); atoms+bonds > have {
		return nil, bad(l.n,
			"%d atoms and %d bonds, but the file has only %d lines after this one: it is cut short or the counts are "+
				"wrong", atoms, bonds, have)
	}
	if atoms == 0 {
		return nil, bad(l.n, "the molecule has no atoms: leave it out")
	}
	charges := Column{Name: "charges", Width: 1, Val: make([]float64, atoms)}
	for k := range atoms {
		line, ok := l.next()
		if !ok {
			return nil, bad(l.n, "the file ends after %d of %d atoms: it is cut short", k, atoms)
		}
		if charges.Val[k], err = m.atom(line, l.n); err != nil {
			return nil, err
		}
	}
	m.Bonds = make([]Bond, 0, bonds)
	for k := range bonds {
		line, ok := l.next()
		if !ok {
			return nil, bad(l.n, "the file ends after %d of %d bonds: it is cut short", k, bonds)
		}
		b, err := bond(line, l.n, atoms)
		if err != nil {
			return nil, err
		}
		m.Bonds = append(m.Bonds, b)
	}
	m.Columns = []Column{charges}
	return m, m.tail(l)
}

// fixed is the columns lo to hi of a line, without spaces; "" beyond its end.
func fixed(line string, lo, hi int) string {
	if lo >= len(line) {
		return ""
	}
	return strings.TrimSpace(line[lo:min(hi, len(line))])
}

// counts reads how many atoms and bonds there are.
func counts(line string, n int) (atoms, bonds int, err error) {
	atoms, err = strconv.Atoi(fixed(line, 0, 3))
	if err == nil {
		bonds, err = strconv.Atoi(fixed(line, 3, 6))
	}
	if err != nil || atoms < 0 || bonds < 0 {
		return 0, 0, bad(n, "%s, want the numbers of atoms and bonds in three columns each, such as %q", quote(line),
			"  3  2  0  0  0  0  0  0  0  0999 V2000")
	}
	return atoms, bonds, nil
}

// atom reads a line of the atom block, and returns the charge.
func (m *Molecule) atom(line string, n int) (float64, error) {
	words := []string{
		fixed(line, 0, 10), fixed(line, 10, 20), fixed(line, 20, 30), fixed(line, 31, 34),
		fixed(line, 36, 39),
	}
	if free := strings.Fields(line); len(free) >= 4 &&
		(len(line) < 32 || Number(words[3]) == 0 || strings.ContainsAny(words[0]+words[1]+words[2], " \t")) {
		words = []string{free[0], free[1], free[2], free[3], ""} // some programs do not keep to the columns
		if len(free) > 5 {
			words[4] = free[5]
		}
	}
	for k, w := range words[:3] {
		v, err := number(w, n, "coordinate "+"xyz"[k:k+1])
		if err != nil {
			return 0, err
		}
		m.Positions = append(m.Positions, v)
	}
	z := Number(words[3])
	if z == 0 {
		return 0, bad(n, "%s is no element: atoms of queries, R groups and lone pairs have no place in space; leave "+
			"the molecule out", quote(words[3]))
	}
	m.Numbers, m.Lines = append(m.Numbers, z), append(m.Lines, n)
	code := 0
	if words[4] != "" {
		var err error
		if code, err = strconv.Atoi(words[4]); err != nil || code < 0 || code > 7 {
			return 0, bad(n, "the charge of the atom is %s, want 0 to 7 in columns 37 to 39", quote(words[4]))
		}
	}
	return [8]float64{0, 3, 2, 1, 0, -1, -2, -3}[code], nil
}

// bond reads a line of the bond block.
func bond(line string, n, atoms int) (Bond, error) {
	var v [3]int
	for k := range v {
		var err error
		if v[k], err = strconv.Atoi(fixed(line, 3*k, 3*k+3)); err != nil {
			return Bond{}, bad(n, "%s, want two atoms and the order of their bond in three columns each, such as %q",
				quote(line), "  1  2  1  0")
		}
	}
	if v[0] < 1 || v[0] > atoms || v[1] < 1 || v[1] > atoms || v[0] == v[1] {
		return Bond{}, bad(n, "a bond of the atoms %d and %d, want two different ones from 1 to %d", v[0], v[1], atoms)
	}
	return Bond{From: v[0] - 1, To: v[1] - 1, Order: v[2]}, nil
}

// tail reads the lines up to M  END: charges there replace those of the atom block.
func (m *Molecule) tail(l *lines) error {
	charges, first := m.Columns[0].Val, true
	begin := l.n
	for {
		line, ok := l.next()
		if !ok {
			return bad(begin, "after the bonds there is no line %q: the file is cut short", "M  END")
		}
		if strings.HasPrefix(line, "M  END") {
			return nil
		}
		if strings.HasPrefix(line, "$$$$") {
			return bad(l.n, "the molecule ends without %q: the file is damaged, or the counts of atoms and bonds are "+
				"wrong", "M  END")
		}
		if strings.HasPrefix(line, "M  CHG") || strings.HasPrefix(line, "M  RAD") {
			if first {
				clear(charges)
				first = false
			}
		}
		if !strings.HasPrefix(line, "M  CHG") {
			continue
		}
		words := strings.Fields(line[6:])
		n := 0
		if len(words) > 0 {
			n, _ = strconv.Atoi(words[0]) // a number that is none fails in the next line
		}
		if n < 1 || len(words) != 1+2*n {
			return bad(l.n, "%s, want pairs of an atom and its charge, such as %q", quote(line), "M  CHG  1   4   1")
		}
		for k := range n {
			at, err := strconv.Atoi(words[1+2*k])
			q, err2 := strconv.Atoi(words[2+2*k])
			if err := errors.Join(err, err2); err != nil || at < 1 || at > len(charges) || q < -15 || q > 15 {
				return bad(l.n, "the atom %s has the charge %s, want an atom from 1 to %d and a charge from -15 to 15",
					quote(words[1+2*k]), quote(words[2+2*k]), len(charges))
			}
			charges[at-1] = float64(q)
		}
	}
}

// properties reads what stands between a molfile and the next one.
func (m *Molecule) properties(l *lines) error {
	for {
		line, ok := l.next()
		if !ok || strings.HasPrefix(line, "$$$$") {
			return nil
		}
		if !strings.HasPrefix(line, ">") {
			if strings.TrimSpace(line) == "" {
				continue
			}
			return bad(l.n, "%s, want a property such as %q, or $$$$ and the next molecule", quote(line), ">  <energy>")
		}
		from, to := strings.Index(line, "<"), strings.LastIndex(line, ">")
		if from < 0 || to <= from {
			return bad(l.n, "%s, want the name of a property in angle brackets, such as %q", quote(line), ">  <energy>")
		}
		name := line[from+1 : to]
		var text []string
		for {
			line, ok := l.next()
			if !ok || strings.TrimSpace(line) == "" {
				break
			}
			if strings.HasPrefix(line, "$$$$") {
				return m.property(name, text)
			}
			text = append(text, line)
		}
		if err := m.property(name, text); err != nil {
			return err
		}
	}
}

// property keeps one property.
func (m *Molecule) property(name string, text []string) error {
	all := strings.Join(text, "\n")
	if v, ok := numbers(all); ok && !strings.ContainsAny(all, "\n") {
		if m.Value(name) != nil {
			return fmt.Errorf("line %d: the molecule that begins here has the property %s twice", m.Line, quote(name))
		}
		m.Values = append(m.Values, Value{name, v})
		return nil
	}
	m.Words = append(m.Words, Word{name, strings.TrimSpace(all)})
	return nil
}
