package identify

import (
	"fmt"
	"strings"
)

// Factor is a symmetry that the problem has, or may have.
type Factor struct {
	// Group as studies name it.
	Group string `json:"group"`
	// Sureness is sure, likely or open.
	Sureness string `json:"sureness"`
	// Rule is the id of the rule that says so, and Why its reason.
	Rule string `json:"rule"`
	Why  string `json:"why"`
}

// Not is something that looks like a symmetry and is none: a model that is invariant under it has lost something.
type Not struct {
	What string `json:"what"`
	Rule string `json:"rule"`
	Why  string `json:"why"`
}

// Warning is a trap on the way.
type Warning struct {
	Rule string `json:"rule"`
	Text string `json:"text"`
}

// rule reads the answers and adds what follows from them.
type rule struct {
	id string
	// apply adds to the result; its factors, refusals and warnings carry the id.
	apply func(a Answers, add *adder)
}

// adder hands in what one rule says.
type adder struct {
	id string
	r  *Result
}

func (d *adder) factor(group, sureness, why string, args ...any) {
	d.r.Factors = append(d.r.Factors, Factor{group, sureness, d.id, fmt.Sprintf(why, args...)})
}

func (d *adder) not(what, why string) { d.r.Not = append(d.r.Not, Not{what, d.id, why}) }

func (d *adder) warn(text string, args ...any) {
	d.r.Warnings = append(d.r.Warnings, Warning{d.id, fmt.Sprintf(text, args...)})
}

var rules = []rule{
	{"space", space},
	{"space-open", spaceOpen},
	{"space-not", spaceNot},
	{"scale", func(a Answers, add *adder) {
		group := "Scale"
		if a.kind().dim == 3 {
			group = "Scale(3)"
		}
		switch {
		case a.is("scale", "yes"):
			add.factor(group, a.sureness("scale"), "larger and smaller samples are as good")
		case a.is("scale", "no"):
			add.not("another size", "you said that size matters")
		case a.kind().dim > 0:
			add.factor(group, Open, "nobody knows whether size matters")
		}
	}},
	{"order", func(a Answers, add *adder) {
		switch {
		case a.is("order", "no"):
			add.factor(AnyOrder, a.sureness("order"), "the order in which items are listed means nothing")
		case a.is("order", "yes"):
			add.not("another order of the items", "you said that their order means something")
		case a.kind().rows:
			add.factor(AnyOrder, Open, "nobody knows whether the order of the items means something")
		}
	}},
	{"time", moments},
	{"light", func(a Answers, add *adder) {
		if !a.kind().colored {
			return
		}
		sure := a.sureness("light")
		switch {
		case a.is("light", "light"):
			add.factor("Brightness", sure, "brighter and darker samples are as good")
			add.factor("Contrast", sure, "paler samples are as good")
			add.not("other colors", "you said that colors matter")
		case a.is("light", "colors"):
			add.factor("Brightness", sure, "brighter and darker samples are as good")
			add.factor("Contrast", sure, "paler samples are as good")
			add.factor("Hue", sure, "samples in other colors are as good; this is for three channels")
		case a.is("light", "no"):
			add.not("another light", "you said that the values are measurements")
		default:
			add.factor("Brightness", Open, "nobody knows whether light matters")
		}
	}},
	{"conserved", func(a Answers, add *adder) {
		if !a.is("conserved", "momentum", "angular", "both") || a.kind().dim == 3 { // there, rule space says it
			return
		}
		sure := a.sureness("conserved")
		if a.is("conserved", "momentum", "both") {
			add.factor("T(3)", sure, "where momentum is conserved no place is special (Noether)")
		}
		if a.is("conserved", "angular", "both") {
			add.factor("SO(3)", sure, "where angular momentum is conserved no direction is special (Noether)")
		}
		add.warn("rows of numbers do not say which of them are coordinates: declare them as a field of type vectors " +
			"or " +
			"positions in input.fields")
	}},
	{"interval", func(a Answers, add *adder) {
		switch {
		case a.is("conserved", "interval") && a.kind().dim == 3:
			add.warn("what keeps the interval of relativity are events (t, x, y, z), not places: say that a sample " +
				"is numbers")
		case a.is("conserved", "interval"):
			add.factor("Lorentz", a.sureness("conserved"), "every observer finds the same interval")
			add.warn("the Lorentz group has no end of boosts: a verdict is for the window that it names")
		}
	}},
	{"hand", func(a Answers, add *adder) {
		if a.is("exceptions", "mirrored", "both") && a.is("mirror", "yes") {
			add.warn("you said that mirror images are as good, and that some samples become something else when they " +
				"are " +
				"mirrored: taken as no symmetry; where only some classes have a hand, claim it for the others")
		}
	}},
	{"upside-down", func(a Answers, add *adder) {
		if !a.is("exceptions", "turned", "both") {
			return
		}
		add.not("half a turn of all samples", "you know samples that become something else, as 6 becomes 9")
		if a.is("turn", "any") && !ranged(a) {
			add.warn("turns are open until their range is known: nero data finds how far labels survive, and says " +
				"which classes become which")
		}
		if a.is("moves", "renamed") {
			add.warn("where each class becomes another by a fixed rule (6 and 9), declare how scores move instead of " +
				"calling them invariant: output type with a file of matrices")
		}
	}},
	{"grid", func(a Answers, add *adder) {
		if a.kind().dim != 2 || !a.is("turn", "any", "quarter") {
			return
		}
		if n := a.extent(); len(n) == 2 && n[0] != n[1] {
			add.warn("pictures of %dx%d are not square: a quarter turn does not fit, so that its error holds "+
				"resampling "+
				"and border; only half turns are exact", n[0], n[1])
		}
	}},
	{"writing", func(a Answers, add *adder) {
		if a.is("data", "picture", "video") && a.is("answer", "class") && a.is("mirror", "yes", Unknown) &&
			!a.is("exceptions", "mirrored", "both", "none") {
			add.warn("pictures with writing, and objects with a hand, are not symmetric under mirrors")
		}
	}},
	{"still", func(a Answers, add *adder) {
		if a.is("moves", "stays") && a.reply().moved && a.kind().dim > 0 {
			add.warn("an answer that lies in the sample (%s) and stays where it is while the sample moves is unusual; "+
				"the study takes it to move along", a.reply().doc)
		}
		if a.is("moves", "along") && a.is("answer", "features") {
			add.warn("features that move along need their type: say by which representation in output.type, or learn " +
				"it from data")
		}
		if a.is("moves", "along") && a.is("answer", "class", "number") {
			add.warn("a class or a number without direction cannot move along; the study takes it to stay")
		}
	}},
	{"nothing", func(a Answers, add *adder) {
		if !a.kind().moves() {
			add.warn("no symmetry of this kind of data has a name here; nero discover looks for those that a model has")
		}
	}},
}

// ranged says whether turns are known to be good within a range that leaves the half turn out.
func ranged(a Answers) bool { return !a.is("range", "all", Unknown) }

// rests are the answers about space as far as they are claimed: what contradicts them is taken out.
type rests struct{ turn, mirror, shift string }

func claimed(a Answers) rests {
	s := rests{a.word("turn"), a.word("mirror"), a.word("shift")}
	if a.is("exceptions", "mirrored", "both") {
		s.mirror = "no"
	}
	if a.is("exceptions", "turned", "both") {
		switch {
		case s.turn == "any" && !ranged(a):
			s.turn = Unknown
		case s.turn == "half", s.turn == "quarter":
			s.turn = "no"
		}
	}
	if a.kind().dim == 2 && s.turn == "axis" { // a picture is turned about one point only
		s.turn = Unknown
	}
	if a.kind().dim == 3 { // Noether
		if a.is("conserved", "momentum", "both") && s.shift == Unknown {
			s.shift = "any"
		}
		if a.is("conserved", "angular", "both") && s.turn == Unknown {
			s.turn = "any"
		}
	}
	return s
}

// names are the groups of the motions of a space, by what turns, whether with mirrors, and what shifts. Joint motions
// have names of their own where turns and shifts do not commute; where there is none, both stand alone.
func names(dim int, s rests, extent []int) []string {
	mirror := s.mirror == "yes"
	pick := func(without, with string) string {
		if mirror {
			return with
		}
		return without
	}
	var turn, shift, joint string
	if dim == 2 {
		turn = map[string]string{
			"any": pick("SO(2)", "O(2)"), "quarter": pick("C4", "D4"), "half": pick("C2", "D2"),
		}[s.turn]
		if turn == "" && mirror {
			turn = "D1"
		}
		shift = map[string]string{"any": "T(2)", "whole": "T(2,Z)"}[s.shift]
		if s.shift == "cyclic" {
			shift = "T(2,Z)"
			if len(extent) == 2 {
				shift = fmt.Sprintf("Roll(%d,%d)", extent[0], extent[1])
			}
		}
		joint = map[string]string{
			"any any": pick("SE(2)", "E(2)"), "quarter whole": pick("p4", "p4m"),
		}[s.turn+" "+s.shift]
	} else {
		turn = map[string]string{
			"any": pick("SO(3)", "O(3)"), "quarter": pick("Octa", "Oh"), "axis": pick("SOg(3)", "Og(3)"),
		}[s.turn]
		shift = map[string]string{"any": "T(3)", "whole": "T(3,Z)", "cyclic": "T(3)"}[s.shift]
		joint = map[string]string{
			"any any": pick("SE(3)", "E(3)"), "any cyclic": pick("SE(3)", "E(3)"), "axis any": pick("SEg(3)", "Eg(3)"),
		}[s.turn+" "+s.shift]
	}
	switch {
	case joint != "":
		return []string{joint}
	case turn == "":
		return list(shift)
	default:
		return append([]string{turn}, list(shift)...)
	}
}

func list(name string) []string {
	if name == "" {
		return nil
	}
	return []string{name}
}

// turned and moved are what the answers mean for a sample.
var (
	turned = map[string]string{
		"any": "turned by any angle", "quarter": "turned by quarter turns", "half": "turned upside down",
		"axis": "turned about one direction",
	}
	moved = map[string]string{
		"any": "moved to any place", "whole": "moved by whole pixels", "cyclic": "moved around",
	}
)

// space claims the motions that the answers allow.
func space(a Answers, add *adder) {
	k := a.kind()
	if k.dim == 0 {
		return
	}
	s := claimed(a)
	var of, turns, why []string
	for _, x := range []struct{ id, now, text string }{
		{"turn", s.turn, turned[s.turn]}, {"mirror", s.mirror, "mirrored"}, {"shift", s.shift, moved[s.shift]},
	} {
		if x.now != "no" && x.now != Unknown {
			why = append(why, x.text)
			if x.id != "shift" {
				turns = append(turns, x.text)
			}
			if a.word(x.id) == x.now {
				of = append(of, x.id)
			} else {
				of = append(of, "conserved")
			}
		}
	}
	all := names(k.dim, s, a.extent())
	if len(all) == 2 { // turns, and shifts by themselves
		add.factor(all[0], a.sureness(of[:len(turns)]...), "samples that are %s are as good", strings.Join(turns,
			" or "))
		of, why = of[len(turns):], why[len(turns):]
		all = all[1:]
	}
	for _, g := range all {
		add.factor(g, a.sureness(of...), "samples that are %s are as good", strings.Join(why, " or "))
	}
	if k.dim == 2 && a.is("turn", "axis") {
		add.warn("turns about one direction are of space; how far a picture may be turned is taken as not known")
	}
	if k.dim == 3 && s.turn == "half" {
		add.warn("half turns of space alone have no name here: they are tested as part of Octa, the 24 turns of a cube")
	}
	if k.dim == 3 && s.mirror == "yes" && (s.turn == "no" || s.turn == Unknown || s.turn == "half") {
		add.warn("a single mirror of space has no name here: it is tested as part of Oh, the 48 symmetries of a cube")
	}
	if s.shift == "cyclic" && k.dim == 2 && len(a.extent()) != 2 {
		add.warn("cyclic shifts need the size of the pictures: Roll(HEIGHT,WIDTH); until then they are plain shifts, " +
			"and " +
			"what enters at the border counts as an error")
	}
	if s.shift == "cyclic" && k.dim == 3 {
		add.warn("a periodic box is part of the sample: the model has to be given its cell, and positions wrap in it")
	}
	if s.shift == "cyclic" && s.turn == "any" && k.dim == 3 {
		add.warn("a periodic box allows only the turns that its cell allows; the others turn the cell, too")
	}
}

// spaceOpen makes hypotheses of what nobody knows.
func spaceOpen(a Answers, add *adder) {
	k := a.kind()
	if k.dim == 0 {
		return
	}
	s := claimed(a)
	usual := "quarter" // on grids, whose quarter turns are exact
	if !k.grid {
		usual = "any"
	}
	if s.turn == Unknown {
		word := usual
		if a.is("turn", "any", "quarter") {
			word = a.word("turn")
		}
		if g := names(k.dim, rests{word, s.mirror, s.shift}, a.extent()); len(g) > 0 {
			add.factor(g[0], Open, "nobody knows yet how far samples may be turned")
		}
	}
	if s.mirror == Unknown {
		t := s.turn
		if t == Unknown || k.dim == 3 && (t == "no" || t == "half") {
			t = usual
		}
		if g := names(k.dim, rests{t, "yes", s.shift}, a.extent()); len(g) > 0 {
			add.factor(g[0], Open, "nobody knows whether mirror images are as good")
		}
	}
	if s.shift == Unknown {
		word := "any"
		if k.grid {
			word = "whole"
		}
		for _, g := range names(k.dim, rests{shift: word}, nil) {
			add.factor(g, Open, "nobody knows whether the place matters")
		}
	}
}

// spaceNot says what is known to be no symmetry.
func spaceNot(a Answers, add *adder) {
	if a.kind().dim == 0 {
		return
	}
	s := claimed(a)
	if s.turn == "no" && a.is("turn", "no") {
		add.not("turns", "you said that a direction matters")
	}
	if s.turn == "axis" {
		add.not("turns that tip the sample over", "you said that one direction is special")
	}
	if s.mirror == "no" {
		why := "you said that mirror images are something else"
		if !a.is("mirror", "no") {
			why = "you know samples with a hand"
		}
		add.not("mirror images", why)
	}
	if s.shift == "no" {
		add.not("other places", "you said that the place matters")
	}
}

// moments claims the motions of time.
func moments(a Answers, add *adder) {
	k := a.kind()
	reversed := a.is("backwards", "yes")
	switch k.time {
	case timeless:
		return
	case paired:
		switch {
		case reversed:
			add.factor("Time", a.sureness("backwards"), "the two pictures may be exchanged: the motion runs backwards")
		case a.is("backwards", "no"):
			add.not("time backwards", "you said that it is something else")
		default:
			add.factor("Time", Open, "nobody knows whether the motion may run backwards")
		}
		return
	}
	n := a.extent()
	switch {
	case a.is("start", "any") && reversed:
		add.factor("E(1,Z)", a.sureness("start", "backwards"), "it may begin at any moment and run backwards")
	case a.is("start", "any"):
		add.factor("T(1,Z)", a.sureness("start"), "it may begin at any moment")
	case a.is("start", "cyclic") && len(n) == 1:
		add.factor(fmt.Sprintf("Roll(%d)", n[0]), a.sureness("start"), "it repeats, and may begin at any moment")
	case a.is("start", "cyclic"):
		add.factor("T(1,Z)", a.sureness("start"), "it may begin at any moment")
		add.warn("cyclic shifts need the number of samples: Roll(N); until then they are plain shifts, and what " +
			"enters " +
			"counts as an error")
	case a.is("start", "no"):
		add.not("another beginning", "you said that it matters when it begins")
	default:
		add.factor("T(1,Z)", Open, "nobody knows whether the beginning matters")
	}
	switch {
	case reversed && !a.is("start", "any"):
		add.factor("Time", a.sureness("backwards"), "it may run backwards")
	case a.is("backwards", "no"):
		add.not("time backwards", "you said that it is something else")
	case !reversed:
		add.factor("Time", Open, "nobody knows whether it may run backwards")
	}
}
