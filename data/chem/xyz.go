package chem

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"nero/data/space"
)

// ReadXYZ reads every frame of an XYZ file, plain or extended (the format of ASE, libAtoms and QUIP: key=value pairs in
// the comment line, of which Properties names the columns and Lattice has the cell, its three vectors one after
// another).
//
// Of plain files the columns are a symbol and x, y, z; further columns are left out. Columns of an extended file are
// called as the file has them, but for species and pos. Pairs whose value is all numbers become [Molecule.Values], the
// others [Molecule.Words]; the whole comment of a plain file is the word "comment".
func ReadXYZ(text string) ([]*Molecule, error) {
	if err := check(text); err != nil {
		return nil, err
	}
	l := &lines{rest: text}
	var all []*Molecule
	for {
		line, ok := l.next()
		if !ok {
			break
		}
		if strings.TrimSpace(line) == "" {
			if strings.TrimSpace(l.rest) == "" {
				break
			}
			if len(all) > 0 {
				continue
			}
		}
		m, err := readFrame(l, line)
		if err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	if len(all) == 0 {
		return nil, errors.New(
			"no molecule: the file is empty, want XYZ: the number of atoms, a comment, then a line for each atom")
	}
	return all, nil
}

// readFrame reads one frame; head is its first line.
func readFrame(l *lines, head string) (*Molecule, error) {
	m := &Molecule{Line: l.n}
	n, err := strconv.Atoi(strings.TrimSpace(head))
	if err != nil || n < 1 {
		return nil, bad(l.n, "%s, want the number of atoms of a frame, 1 or more", quote(head))
	}
	comment, ok := l.next()
	if n > maxAtoms || !ok || n > l.left() {
		return nil, bad(m.Line,
			"the frame has %d atoms, but the file has %d lines after its comment: the file is cut short or the "+
				"number is wrong", n, max(l.left()-1, 0))
	}
	at := l.n
	layout := []column{{"species", 'S', 1}, {"pos", 'R', 3}}
	plain := true
	if strings.Contains(comment, "=") {
		pairs, err := parseComment(comment, at)
		if err != nil {
			return nil, err
		}
		for _, p := range pairs {
			switch strings.ToLower(p.Name) {
			case "properties":
				if layout, err = parseProperties(p.Text, at); err != nil {
					return nil, err
				}
				plain = false
			case "lattice":
				if m.Cell, err = parseCell(p.Text, at); err != nil {
					return nil, err
				}
			case "name":
				m.Name = p.Text
			default:
				v, ok := numbers(p.Text)
				switch {
				case ok:
					m.Values = append(m.Values, Value{p.Name, v})
				case measured(p.Name):
					return nil, bad(at, "%s is %s: %w; want finite numbers: repair or leave out this frame", p.Name,
						quote(p.Text), space.ErrNotFinite)
				default:
					m.Words = append(m.Words, p)
				}
			}
		}
	} else if c := strings.TrimSpace(comment); c != "" {
		m.Words = append(m.Words, Word{"comment", c})
	}
	return m, m.readAtoms(l, n, layout, plain)
}

// measured tells keys whose values are numbers, whatever stands there.
func measured(key string) bool {
	return slices.Contains([]string{"energy", "free_energy", "stress", "virial", "dipole"}, strings.ToLower(key))
}

// column is an entry of Properties.
type column struct {
	name string
	// S, R, I or L
	kind  byte
	width int
}

// readAtoms reads n lines.
func (m *Molecule) readAtoms(l *lines, n int, layout []column, plain bool) error {
	want := 0
	for _, c := range layout {
		want += c.width
		if c.kind != 'S' && c.name != "pos" && c.name != "Z" {
			m.Columns = append(m.Columns, Column{Name: c.name, Width: c.width})
		}
	}
	for k := range n {
		line, ok := l.next()
		if !ok {
			return bad(l.n, "the file ends after %d of the %d atoms of the frame that begins in line %d: it is cut "+
				"short", k, n, m.Line)
		}
		words := strings.Fields(line)
		if len(words) < want || len(words) > want && !plain {
			return bad(l.n, "atom %d has %d columns, want %d: %s", k+1, len(words), want, describe(layout))
		}
		z, col, other := 0, 0, 0
		for _, c := range layout {
			cell := words[col : col+c.width]
			col += c.width
			var err error
			switch {
			case c.name == "species":
				if z, err = element(cell[0], l.n); err != nil {
					return err
				}
			case c.name == "Z":
				var y int
				if y, err = element(cell[0], l.n); err != nil {
					return err
				}
				if z == 0 {
					z = y
				}
			case c.name == "pos":
				for a, w := range cell {
					v, err := number(w, l.n, "coordinate "+"xyz"[a:a+1])
					if err != nil {
						return err
					}
					m.Positions = append(m.Positions, v)
				}
			case c.kind == 'S':
			default:
				to := &m.Columns[other]
				other++
				for _, w := range cell {
					v, err := truth(w, c, l.n)
					if err != nil {
						return err
					}
					to.Val = append(to.Val, v)
				}
			}
		}
		m.Numbers, m.Lines = append(m.Numbers, z), append(m.Lines, l.n)
	}
	return nil
}

// truth is a number of a column, 0 or 1 for logical ones.
func truth(w string, c column, line int) (float64, error) {
	if c.kind == 'L' {
		switch strings.ToLower(w) {
		case "t", "true", "1":
			return 1, nil
		case "f", "false", "0":
			return 0, nil
		}
		return 0, bad(line, "%s is %s, want T or F", c.name, quote(w))
	}
	return number(w, line, c.name)
}

// describe lists columns for a message.
func describe(layout []column) string {
	var s []string
	for _, c := range layout {
		word := c.name
		if c.width > 1 {
			word += " (" + strconv.Itoa(c.width) + ")"
		}
		s = append(s, word)
	}
	return strings.Join(s, ", ")
}

// parseComment splits key=value pairs. Values with spaces stand in quotes, braces or brackets; a key without value is
// true.
func parseComment(s string, line int) ([]Word, error) {
	var all []Word
	for {
		if s = strings.TrimLeft(s, " \t"); s == "" {
			return all, nil
		}
		end := strings.IndexAny(s, "= \t")
		if end < 0 {
			end = len(s)
		}
		key := strings.Trim(s[:end], `"'`)
		if s = strings.TrimLeft(s[end:], " \t"); !strings.HasPrefix(s, "=") {
			all = append(all, Word{key, "T"})
			continue
		}
		s = strings.TrimLeft(s[1:], " \t")
		if s == "" {
			return nil, bad(line, "%s has no value after the equals sign", quote(key))
		}
		if closing, ok := map[byte]string{'"': `"`, '\'': "'", '{': "}", '[': "]"}[s[0]]; ok {
			open := s[:1]
			depth, to := 0, -1
			for i := 0; i < len(s) && to < 0; i++ {
				switch {
				case i == 0:
					depth = 1
				case s[i] == '\\' && i+1 < len(s) && closing == open:
					i++
				case s[i:i+1] == closing:
					if depth--; depth == 0 {
						to = i
					}
				case s[i:i+1] == open:
					depth++
				}
			}
			if to < 0 {
				return nil, bad(line, "the value of %s begins with %s and never ends", quote(key), open)
			}
			all = append(all, Word{key, s[1:to]})
			s = s[to+1:]
			continue
		}
		if end = strings.IndexAny(s, " \t"); end < 0 {
			end = len(s)
		}
		all = append(all, Word{key, s[:end]})
		s = s[end:]
	}
}

// parseProperties reads name:kind:width triples.
func parseProperties(s string, line int) ([]column, error) {
	words := strings.Split(s, ":")
	if len(words)%3 != 0 {
		return nil, bad(line, "Properties is %s, want name:kind:width triples such as species:S:1:pos:R:3", quote(s))
	}
	var all []column
	seen := map[string]bool{}
	for i := 0; i < len(words); i += 3 {
		c := column{name: words[i]}
		width, err := strconv.Atoi(words[i+2])
		if err != nil || width < 1 || width > 1<<16 || len(words[i+1]) != 1 || !strings.Contains("SRIL", words[i+1]) {
			return nil, bad(line, "Properties has the column %s, want a kind S, R, I or L and a width",
				quote(strings.Join(words[i:i+3], ":")))
		}
		c.kind, c.width = words[i+1][0], width
		switch strings.ToLower(c.name) {
		case "species", "element", "elements", "symbols":
			c.name = "species"
		case "pos", "positions", "coordinates":
			c.name = "pos"
		case "z", "atomic_number", "atomic_numbers", "numbers":
			c.name = "Z"
		case "force":
			c.name = "forces"
		}
		if seen[c.name] {
			return nil, bad(line, "Properties has two columns %s", c.name)
		}
		seen[c.name] = true
		if (c.name == "species" || c.name == "Z") && width != 1 || c.name == "pos" && (width != 3 || c.kind != 'R') {
			return nil, bad(line, "Properties has the column %s, want species:S:1 and pos:R:3",
				quote(strings.Join(words[i:i+3], ":")))
		}
		all = append(all, c)
	}
	if !seen["pos"] || !seen["species"] && !seen["Z"] {
		return nil, bad(line, "Properties is %s: want at least species:S:1 and pos:R:3", quote(s))
	}
	return all, nil
}

// parseCell reads the nine numbers of a lattice, or three of a box with right angles.
func parseCell(s string, line int) ([]float64, error) {
	v, ok := numbers(s)
	switch {
	case ok && len(v) == 3:
		return []float64{v[0], 0, 0, 0, v[1], 0, 0, 0, v[2]}, nil
	case ok && len(v) == 9:
		return v, nil
	}
	return nil, bad(line, "Lattice is %s, want nine finite numbers, three vectors one after another", quote(s))
}

// numbers reads a text that is all finite numbers, with spaces or commas between them, also in brackets.
func numbers(s string) ([]float64, bool) {
	words := strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune(" \t,[]{}", r) })
	if len(words) == 0 {
		return nil, false
	}
	v := make([]float64, len(words))
	for i, w := range words {
		x, err := number(w, 0, "")
		if err != nil {
			return nil, false
		}
		v[i] = x
	}
	return v, true
}
