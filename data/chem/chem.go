// Package chem reads molecules and crystals from text: plain and extended XYZ, and MDL's molfiles and SD files of
// version V2000.
//
// Lengths are in ångströms, as all these formats have them; energies and forces are in the unit of whoever wrote the
// file. Every error names the line, what was expected there and what to do.
package chem

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"nero/data/space"
)

// Limits on what a file may hold.
const (
	maxAtoms = 1 << 22
	maxLine  = 1 << 20 // bytes of one line
)

// Molecule is atoms in space and what a file says of them.
type Molecule struct {
	// "" if the file has none
	Name string
	// of the file, from 1, where the molecule begins
	Line int
	// atomic numbers
	Numbers []int
	// of the file, from 1, where the atoms stand
	Lines []int
	// x, y, z of each atom, Å
	Positions []float64
	// three lattice vectors in rows, 9 numbers, Å; nil if there is none
	Cell []float64
	// of molfiles, in the order of the file
	Bonds []Bond
	// other numbers of each atom, such as forces
	Columns []Column
	// numbers of the whole molecule, such as energy
	Values []Value
	// everything else that the file says, as text
	Words []Word
}

// Bond joins two atoms, counted from 0.
type Bond struct {
	From, To int
	// 1 to 3, 4 aromatic; other numbers are queries
	Order int
}

// Column is Width numbers for each atom.
type Column struct {
	Name  string
	Width int
	Val   []float64
}

// Value is one or more numbers of a molecule.
type Value struct {
	Name string
	Val  []float64
}

// Word is a property of a molecule as text.
type Word struct{ Name, Text string }

// Column is the column called name, nil if there is none.
func (m *Molecule) Column(name string) *Column {
	for i := range m.Columns {
		if m.Columns[i].Name == name {
			return &m.Columns[i]
		}
	}
	return nil
}

// Value is the numbers called name, nil if there are none.
func (m *Molecule) Value(name string) []float64 {
	for i := range m.Values {
		if m.Values[i].Name == name {
			return m.Values[i].Val
		}
	}
	return nil
}

// lines goes through a text line by line.
type lines struct {
	rest string
	// number of the line that next returned last
	n int
}

// next is the next line without its end; ok is false at the end of the text.
func (l *lines) next() (line string, ok bool) {
	if l.rest == "" {
		return "", false
	}
	l.n++
	line, l.rest, _ = strings.Cut(l.rest, "\n")
	return strings.TrimSuffix(line, "\r"), true
}

// left is at most how many lines there still are.
func (l *lines) left() int { return strings.Count(l.rest, "\n") + 1 }

// bad is an error in a line.
func bad(line int, format string, args ...any) error {
	return fmt.Errorf("line %d: %w", line, fmt.Errorf(format, args...))
}

// number reads a finite number; Fortran's exponent D is one.
func number(word string, line int, what string) (float64, error) {
	v, err := strconv.ParseFloat(word, 64)
	if err != nil && strings.ContainsAny(word, "dD") {
		v, err = strconv.ParseFloat(strings.NewReplacer("d", "e", "D", "e").Replace(word), 64)
	}
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return 0, bad(line, "%s is %s, want a number", what, quote(word))
	}
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, bad(line, "%s is %s: %w; repair or leave out this molecule", what, word, space.ErrNotFinite)
	}
	return v, nil
}

// quote shows at most 60 bytes of a text.
func quote(s string) string {
	if len(s) > 60 {
		return strconv.Quote(s[:60]) + "…"
	}
	return strconv.Quote(s)
}

// check refuses texts that are none.
func check(text string) error {
	if strings.IndexByte(text, 0) >= 0 {
		return fmt.Errorf("byte %d is 0: this is no text; want XYZ or a molfile", strings.IndexByte(text, 0))
	}
	return nil
}

// element is the atomic number of a symbol or number.
func element(word string, line int) (int, error) {
	if z := Number(word); z > 0 {
		return z, nil
	}
	if z, err := strconv.Atoi(word); err == nil && Symbol(z) != "" {
		return z, nil
	}
	return 0, bad(line, "%s is no element, want a symbol such as C or Cl", quote(word))
}
