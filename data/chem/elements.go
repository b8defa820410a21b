package chem

import "strings"

// symbols are those of the elements 1 to 118 (IUPAC, 2021).
const symbols = "H He Li Be B C N O F Ne Na Mg Al Si P S Cl Ar K Ca Sc Ti V Cr Mn Fe Co Ni Cu Zn Ga Ge As Se Br Kr " +
	"Rb Sr Y Zr Nb Mo Tc Ru Rh Pd Ag Cd In Sn Sb Te I Xe " +
	"Cs Ba La Ce Pr Nd Pm Sm Eu Gd Tb Dy Ho Er Tm Yb Lu Hf Ta W Re Os Ir Pt Au Hg Tl Pb Bi Po At Rn Fr Ra Ac Th Pa U " +
	"Np Pu Am Cm Bk Cf Es Fm Md No Lr Rf Db Sg Bh Hs Mt Ds Rg Cn Nh Fl Mc Lv Ts Og"

// Elements is how many elements there are.
const Elements = 118

// Symbol is the symbol of the element with atomic number z, "" if there is none.
func Symbol(z int) string {
	if z < 1 || z > Elements {
		return ""
	}
	return strings.Fields(symbols)[z-1]
}

// Number is the atomic number of a symbol, 0 if there is no such element. Capitals do not matter, for some programs
// write CL or cl; D and T are hydrogen.
func Number(symbol string) int {
	s := strings.ToLower(symbol)
	if s == "d" || s == "t" {
		return 1
	}
	rest := symbols
	for z := 1; rest != ""; z++ {
		var word string
		word, rest, _ = strings.Cut(rest, " ")
		if strings.EqualFold(word, s) {
			return z
		}
	}
	return 0
}
