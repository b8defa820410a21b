package census

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"nero/present/words"
)

// What is said of the data, of all elements together.
const (
	Symmetric   = "symmetric"
	Approximate = "approximate" // they look nearly the same
	Posed       = "posed"       // they look otherwise when they are moved
)

// What is said of labels, of all elements together.
const (
	Stable  = "stable"
	Unknown = "unknown"
)

// Advice is what to do, by a rule.
type Advice struct {
	// Rule is the name of the rule.
	Rule string `json:"rule"`
	Text string `json:"text"`
	// Because is what was measured.
	Because string `json:"because"`
}

// Good reports whether data have the symmetry and labels survive it, as far as there are any.
func (r *Report) Good() bool {
	return r.State == Symmetric && (r.Survive == Stable || r.Survive == Unknown)
}

// rules are what is advised, in the order in which it is read; the first that holds is what to do.
func rules() []rule {
	return []rule{
		{"constant", func(r *Report) (string, string) {
			if r.State != Constant {
				return "", ""
			}
			return "Look at the data: no symmetry can be seen in them.",
				"nothing that was read of the samples varies, neither among them nor when they are moved"
		}},
		{"rename", renaming},
		{"narrow", func(r *Report) (string, string) {
			if r.Survive != Unsafe {
				return "", ""
			}
			return "Do not train with samples moved by all of " + r.Group + ": " + safely(r) + ".", unsafely(r)
		}},
		{"build-in", func(r *Report) (string, string) {
			if r.State != Symmetric || r.Survive != Stable {
				return "", ""
			}
			return "Build the symmetry in, or average over it (nero repair --method average).",
				"moved samples look like the others and keep their labels"
		}},
		{"augment", func(r *Report) (string, string) {
			if r.State != Posed || r.Survive != Stable {
				return "", ""
			}
			return "Train with moved samples if a model is to know other poses, or let it look from several and take " +
					"the pose it knows (nero repair --method select).",
				"samples have a pose, and keep their labels when they lose it"
		}},
		{"regularise", func(r *Report) (string, string) {
			if r.State != Approximate || r.Survive == Unsafe {
				return "", ""
			}
			return "Ask a model for the symmetry softly, by a penalty, and not by its architecture.",
				fmt.Sprintf("the data differ from the moved ones (p = %s), though a classifier sees little of it (AUC "+
					"at most %.2f)", pvalue(float64(r.Exact.P)), r.largest())
		}},
		{"unclear", func(r *Report) (string, string) {
			if r.Survive != Unclear {
				return "", ""
			}
			return "Before you train with moved samples, look at some: " + safely(r) + ".", unclearly(r)
		}},
		{"labels", func(r *Report) (string, string) {
			if r.Survive != Unknown {
				return "", ""
			}
			if r.blind {
				return "Ask people, or a model that saw no moved samples, whether labels survive: looks do not tell.",
					r.NoLabels
			}
			return "Give labels of several classes, or numbers, to learn whether they survive.", r.NoLabels
		}},
		{"hidden", func(r *Report) (string, string) {
			if r.State != Undecided {
				return "", ""
			}
			for _, e := range r.Elements {
				if e.hidden && e.State == Undecided {
					return "Choose elements that keep pixels whole, or another border: moving itself can be seen, " +
							"and hides the rest.",
						fmt.Sprintf("at %s samples that were moved there and back are told from the others, too (AUC "+
							"%.2f)",
							e.Name, float64(e.Twin.Value))
				}
			}
			return "", ""
		}},
		{"more", func(r *Report) (string, string) {
			if r.State != Undecided || !slices.ContainsFunc(r.Elements, func(e Element) bool {
				return e.State == Undecided && !e.hidden
			}) {
				return "", ""
			}
			return "Use more samples: these do not decide whether the data have the symmetry.",
				fmt.Sprintf("intervals of %s hold the limit %.2g", words.Plural(r.Samples, "sample", "samples"),
					MostAUC)
		}},
	}
}

// rule gives advice and its reason, or nothing.
type rule struct {
	name string
	says func(r *Report) (text, because string)
}

// judge says what all of it comes to.
func (r *Report) judge() {
	r.State, r.Survive = r.state(), r.survive()
	for _, x := range rules() {
		if text, because := x.says(r); text != "" {
			r.Advice = append(r.Advice, Advice{x.name, text, because})
		}
	}
	if len(r.Advice) > 0 {
		r.Do = r.Advice[0].Text
	}
	r.Sentence = r.sentence()
}

// state is what is said of the data.
func (r *Report) state() string {
	count := map[string]int{}
	for _, e := range r.Elements {
		count[e.State]++
	}
	p := float64(r.Exact.P)
	switch {
	case count[Constant] == len(r.Elements):
		return Constant
	case count[Different] > 0:
		return Posed
	case count[Undecided] > 0 || count[Constant] > 0:
		return Undecided
	case r.Exact.Reason == "" && p <= level:
		return Approximate
	case r.Exact.Reason == "" && math.IsNaN(p):
		return Undecided
	}
	return Symmetric
}

func (r *Report) survive() string {
	if r.Labels == nil {
		return Unknown
	}
	out := Stable
	for _, f := range r.Labels.Elements {
		switch f.State {
		case Unsafe:
			return Unsafe
		case Unclear:
			out = Unclear
		}
	}
	return out
}

// largest is the largest AUC; NaN where there is none.
func (r *Report) largest() float64 {
	out := math.NaN()
	for _, e := range r.Elements {
		if v := float64(e.AUC.Value); math.IsNaN(out) || v > out {
			out = v
		}
	}
	return out
}

// sentence is the answer.
func (r *Report) sentence() string {
	var b strings.Builder
	var worst *Element
	for i := range r.Elements {
		if e := &r.Elements[i]; worst == nil || e.AUC.Value > worst.AUC.Value {
			worst = e
		}
	}
	switch r.State {
	case Constant:
		b.WriteString("Nothing can be told: the samples do not vary")
	case Posed:
		fmt.Fprintf(&b, "Your data do not have the symmetry %s: moved samples can be told from others (AUC %.2f at %s)",
			r.Group, float64(worst.AUC.Value), worst.Name)
	case Approximate:
		fmt.Fprintf(&b, "Your data nearly have the symmetry %s: a classifier tells moved samples hardly from others "+
			"(AUC at most %.2f), but they differ (p = %s)", r.Group, r.largest(), pvalue(float64(r.Exact.P)))
	case Undecided:
		fmt.Fprintf(&b, "Whether your data have the symmetry %s is not decided", r.Group)
	default:
		fmt.Fprintf(&b, "Your data have the symmetry %s as far as can be seen: moved samples look like the others "+
			"(AUC at most %.2f)", r.Group, r.largest())
	}
	switch r.Survive {
	case Stable:
		b.WriteString(", and labels survive it.")
	case Unsafe:
		b.WriteString(", and labels do not survive it: " + unsafely(r) + ".")
	case Unclear:
		b.WriteString("; whether labels survive it is not clear.")
	default:
		b.WriteString("; whether labels survive it nobody can say.")
	}
	return b.String()
}

// unsafely names the labels that change, the worst first.
func unsafely(r *Report) string {
	var worst *ClassFate
	var at string
	for i := range r.Labels.Elements {
		f := &r.Labels.Elements[i]
		if f.Error != nil && f.State == Unsafe {
			return fmt.Sprintf("at %s the number that is to be predicted is off by %s more deviations than at rest",
				f.Name, words.Figures(float64(f.Error.Growth.Value)))
		}
		for j := range f.Classes {
			if c := &f.Classes[j]; c.State == Unsafe && (worst == nil ||
				c.Count*worst.N > worst.Count*c.N) {
				worst, at = c, f.Name
			}
		}
	}
	if worst == nil {
		return ""
	}
	return "at " + at + " " + worst.text()
}

// unclearly says why nobody knows.
func unclearly(r *Report) string {
	for _, f := range r.Labels.Elements {
		if f.State != Unclear {
			continue
		}
		if f.Error != nil {
			return fmt.Sprintf("at %s the interval of how much the error grows, %s to %s deviations, holds the limit "+
				"%g",
				f.Name, words.Figures(float64(f.Error.Growth.Low)), words.Figures(float64(f.Error.Growth.High)),
				Allowed)
		}
		for _, c := range f.Classes {
			if c.State == Unclear {
				return fmt.Sprintf("at %s of %s %d of %d have neighbors of their class, and no one other class has "+
					"most of the rest or there are too few to tell", f.Name, c.Class, c.Kept, c.N)
			}
		}
	}
	return ""
}

// safely says at which elements labels are safe.
func safely(r *Report) string {
	v := r.Labels.Valid
	switch {
	case len(v.Names) == 0:
		return "labels are safe at no element next to the identity"
	case v.Axis != "":
		return fmt.Sprintf("labels are safe from %s to %s", at(float64(v.Low), v.Unit), at(float64(v.High), v.Unit))
	}
	return "labels are safe at " + words.List(some(v.Names))
}

// some are the first names of many.
func some(names []string) []string {
	const most = 8
	if len(names) <= most {
		return names
	}
	return append(append([]string{}, names[:most]...), words.Plural(len(names)-most, "other", "others"))
}

// at is a coordinate for people.
func at(x float64, unit string) string {
	text := words.Tick(x, 4)
	switch unit {
	case "deg":
		return text + "°"
	case "", "factor":
		return text
	}
	return text + " " + words.Unit(unit)
}

// renaming finds two classes that change into each other.
func renaming(r *Report) (text, because string) {
	if r.Labels == nil {
		return "", ""
	}
	for _, f := range r.Labels.Elements {
		for i := range f.Classes {
			a := &f.Classes[i]
			for j := i + 1; j < len(f.Classes) && a.State == Unsafe; j++ {
				b := &f.Classes[j]
				if b.State == Unsafe && a.into == b.class && b.into == a.class && 2*a.Count > a.N && 2*b.Count > b.N {
					return fmt.Sprintf("If %s and %s are meant to change places under %s, declare a permutation of "+
							"the output; else keep to a smaller range: %s.", a.Class, b.Class, f.Name, safely(r)),
						fmt.Sprintf("at %s %s and %s", f.Name, a.text(), b.text())
				}
			}
		}
	}
	return "", ""
}

// pvalue is a p-value for people.
func pvalue(p float64) string {
	if math.IsNaN(p) {
		return "undefined"
	}
	return words.Tick(p, 3)
}
