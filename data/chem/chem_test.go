package chem

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"nero/data/space"
)

func TestElements(t *testing.T) {
	for z, s := range map[int]string{1: "H", 6: "C", 17: "Cl", 26: "Fe", 57: "La", 92: "U", 118: "Og"} {
		if Symbol(z) != s || Number(s) != z || Number(strings.ToUpper(s)) != z {
			t.Errorf("%d is %q, %s is %d", z, Symbol(z), s, Number(s))
		}
	}
	for z := 1; z <= Elements; z++ {
		if Number(Symbol(z)) != z {
			t.Errorf("%d is not found as %s", z, Symbol(z))
		}
	}
	if Symbol(0) != "" || Symbol(119) != "" || Number("") != 0 || Number("Xx") != 0 || Number("D") != 1 {
		t.Error("an element that is none, or no deuterium")
	}
}

// What RDKit wrote is read as RDKit says it is, see testdata/make.py.
func TestSDFOfRDKit(t *testing.T) {
	text, err := os.ReadFile("testdata/ions.sdf")
	if err != nil {
		t.Fatal(err)
	}
	truth, err := os.ReadFile("testdata/ions.json")
	if err != nil {
		t.Fatal(err)
	}
	var want []struct {
		Name               string
		Numbers            []int
		Charges, Positions []float64
		Bonds              [][3]int
	}
	if err := json.Unmarshal(truth, &want); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		string(text), strings.ReplaceAll(string(text), "\n", "\r\n"),
		strings.TrimSuffix(string(text), "$$$$\n"),
	} {
		all, err := ReadSDF(text)
		if err != nil {
			t.Fatal(err)
		}
		if len(all) != len(want) {
			t.Fatalf("%d molecules, want %d", len(all), len(want))
		}
		for i, m := range all {
			w := want[i]
			if m.Name != w.Name || !slices.Equal(m.Numbers, w.Numbers) ||
				!slices.Equal(m.Column("charges").Val, w.Charges) ||
				!slices.Equal(m.Value("energy"), []float64{-1.5 * float64(i+1)}) {
				t.Errorf("molecule %d: %+v, want %+v", i, m, w)
			}
			for k, x := range m.Positions {
				if !(math.Abs(x-w.Positions[k]) <= 5.1e-5) {
					t.Errorf("molecule %d: position %d is %g, want %g", i, k, x, w.Positions[k])
				}
			}
			for k, b := range m.Bonds {
				if w.Bonds[k] != [3]int{b.From, b.To, b.Order} {
					t.Errorf("molecule %d: bond %d is %v, want %v", i, k, b, w.Bonds[k])
				}
			}
			if len(m.Bonds) != len(w.Bonds) ||
				!slices.Contains(m.Words, Word{"smiles", []string{"CC(=O)[O-]", "C[NH3+]", "Clc1ccccc1"}[i]}) {
				t.Errorf("molecule %d: %d bonds, %v", i, len(m.Bonds), m.Words)
			}
		}
	}
}

const water = "w\n\n\n  2  1  0  0  0  0  0  0  0  0999 V2000\n    0.0000    0.0000    0.0000 O   0  5\n    0.9600   " +
	" 0.0000    0.0000 H   0  0\n  1  2  1  0\nM  END\n"

func TestMolfile(t *testing.T) {
	all, err := ReadSDF(water)
	if err != nil {
		t.Fatal(err)
	}
	m := all[0]
	if m.Column("charges").Val[0] != -1 || m.Positions[3] != 0.96 || m.Bonds[0] != (Bond{0, 1, 1}) {
		t.Errorf("%+v", m)
	}
	for _, c := range [][3]string{
		{"V2000", "V3000", "line 4: a molfile of version V3000, want V2000"},
		{"  2  1  0", "  9  1  0", "line 4: 9 atoms and 1 bonds, but the file has only"},
		{"  2  1  0", " -2  1  0", "line 4: "},
		{"  2  1  0", "  x  1  0", "line 4: "},
		{"  2  1  0", "  0  0  0", "no atoms"},
		{"0.9600", "   NaN", "line 6: coordinate x is NaN: not finite"},
		{"0.9600", "  zwei", `line 6: coordinate x is "zwei"`},
		{" H ", " R#", `line 6: "R#" is no element`},
		{"  1  2  1", "  1  3  1", "line 7: a bond of the atoms 1 and 3"},
		{"  1  2  1", "  1  1  1", "line 7: a bond of the atoms 1 and 1"},
		{"  1  2  1", "  1  b  1", "line 7: "},
		{"M  END", "M  CHG  1   3   1\nM  END", `line 8: the atom "3"`},
		{"M  END", "M  CHG  2   1   1\nM  END", "want pairs of an atom and its charge"},
		{"M  END\n", "", "after the bonds there is no line"},
		{"M  END\n", "M  END\nnonsense\n", `line 9: "nonsense", want a property`},
		{"M  END\n", "M  END\n> energy\n1\n", "in angle brackets"},
		{"M  END\n", "$$$$\n", "ends without"},
	} {
		text := strings.Replace(water, c[0], c[1], 1)
		if text == water {
			t.Fatalf("%q is not there", c[0])
		}
		if _, err := ReadSDF(text); err == nil || !strings.Contains(err.Error(), c[2]) {
			t.Errorf("%q: %v, want %q", c[1], err, c[2])
		}
	}
	if _, err := ReadSDF(strings.Replace(water, "0.9600", "   Inf", 1)); !errors.Is(err, space.ErrNotFinite) {
		t.Errorf("an infinity: %v", err)
	}
	for _, text := range []string{"", "\n\n", "a\x00b"} {
		if _, err := ReadSDF(text); err == nil {
			t.Errorf("%q is a molecule", text)
		}
	}
}

const frames = `2
Lattice="4 0 0 0 5 0 1 0 6" Properties=species:S:1:pos:R:3:forces:R:3:fixed:L:1 energy=-3.5 stress="1 2 3 4 5 6 7 8 9" config="a b" pbc="T T T"
H 0 0 0 1 2 3 T
cl 0 0 1.5D0 -1 -2 -3 F

1
Properties=pos:R:3:Z:I:1
1 2 3 26
`

func TestExtendedXYZ(t *testing.T) {
	all, err := ReadXYZ(frames)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != 2 {
		t.Fatalf("%d frames", len(all))
	}
	m := all[0]
	if !slices.Equal(m.Numbers, []int{1, 17}) || !slices.Equal(m.Positions, []float64{0, 0, 0, 0, 0, 1.5}) ||
		!slices.Equal(m.Cell, []float64{4, 0, 0, 0, 5, 0, 1, 0, 6}) ||
		!slices.Equal(m.Column("forces").Val, []float64{1, 2, 3, -1, -2, -3}) || m.Column("forces").Width != 3 ||
		!slices.Equal(m.Column("fixed").Val, []float64{1, 0}) ||
		!slices.Equal(m.Value("energy"), []float64{-3.5}) || len(m.Value("stress")) != 9 ||
		!slices.Equal(m.Words, []Word{{"config", "a b"}, {"pbc", "T T T"}}) {
		t.Errorf("%+v", m)
	}
	if !slices.Equal(all[1].Numbers, []int{26}) || all[1].Line != 6 || all[1].Lines[0] != 8 {
		t.Errorf("%+v", all[1])
	}
	for _, c := range [][3]string{
		{"1\nProp", "3\nProp", "line 6: the frame has 3 atoms, but the file has 1 lines after its comment"},
		{"2\nLatt", "0\nLatt", "line 1: "},
		{"2\nLatt", "two\nLatt", `line 1: "two", want the number of atoms`},
		{"H 0 0 0", "Xx 0 0 0", `line 3: "Xx" is no element`},
		{"H 0 0 0", "H 0 nan 0", "line 3: coordinate y is nan: not finite"},
		{"-2 -3 F", "-2 F", "line 4: atom 2 has 7 columns, want 8: species, pos (3), forces (3), fixed"},
		{"-3 F", "-3 maybe", `line 4: fixed is "maybe", want T or F`},
		{"pos:R:3:forces", "pos:R:2:forces", "line 2: Properties has the column"},
		{"species:S:1:pos", "species:S:pos", "want name:kind:width triples"},
		{"forces:R:3:fixed", "pos:R:3:fixed", "two columns pos"},
		{"4 0 0 0 5", "4 0 0 5", "line 2: Lattice is"},
		{"energy=-3.5", "energy=nan", "line 2: energy is \"nan\": not finite"},
		{`pbc="T T T"`, `pbc="T T T`, "never ends"},
		{`pbc="T T T"`, `pbc=`, "has no value"},
	} {
		text := strings.Replace(frames, c[0], c[1], 1)
		if text == frames {
			t.Fatalf("%q is not there", c[0])
		}
		if _, err := ReadXYZ(text); err == nil || !strings.Contains(err.Error(), c[2]) {
			t.Errorf("%q: %v, want %q", c[1], err, c[2])
		}
	}
}

func TestPlainXYZ(t *testing.T) {
	all, err := ReadXYZ("2\nwater without a hydrogen\r\nO 0 0 0 0.5\n1 0.96 0 0 7 8 9\n\n\n")
	if err != nil {
		t.Fatal(err)
	}
	m := all[0]
	if !slices.Equal(m.Numbers, []int{8, 1}) || m.Positions[3] != 0.96 || len(m.Columns) != 0 ||
		!slices.Equal(m.Words, []Word{{"comment", "water without a hydrogen"}}) {
		t.Errorf("%+v", m)
	}
	for _, text := range []string{"", "\n\n", "2\n\nH 0 0 0\n", "1\n", "1\n\nH 0 0\n", "99999999999\n\nH 0 0 0\n"} {
		if _, err := ReadXYZ(text); err == nil {
			t.Errorf("%q is a molecule", text)
		}
	}
}

func FuzzReadXYZ(f *testing.F) {
	f.Add(frames)
	f.Add("1\n\nH 0 0 0\n")
	f.Add("1\na={b [c] \"d\"} e=[1, 2] f\nH 0 0 0\n")
	f.Fuzz(func(t *testing.T, text string) { whole(t, text, ReadXYZ) })
}

func FuzzReadSDF(f *testing.F) {
	f.Add(water)
	f.Add(water + ">  <energy>\n1 2\n\n$$$$\n" + water)
	f.Fuzz(func(t *testing.T, text string) { whole(t, text, ReadSDF) })
}

// whole holds what was read against what every molecule must be.
func whole(t *testing.T, text string, read func(string) ([]*Molecule, error)) {
	t.Helper()
	all, err := read(text)
	if err != nil {
		return
	}
	for _, m := range all {
		n := len(m.Numbers)
		if n == 0 || len(m.Positions) != 3*n || len(m.Lines) != n || m.Cell != nil && len(m.Cell) != 9 {
			t.Fatalf("%+v", m)
		}
		for _, x := range m.Positions {
			if math.IsNaN(x) || math.IsInf(x, 0) {
				t.Fatal("a position is not finite")
			}
		}
		for _, c := range m.Columns {
			if len(c.Val) != n*c.Width {
				t.Fatalf("%+v", c)
			}
		}
		for _, b := range m.Bonds {
			if b.From < 0 || b.From >= n || b.To < 0 || b.To >= n {
				t.Fatalf("%+v", b)
			}
		}
	}
}
