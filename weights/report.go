// Package weights asks which stored numbers of a model may be moved without a change of what it computes: scaled before
// normalisers, put into another order, scaled from one layer to the next. It brings a model into a form in which such
// choices are made once, and tells two checkpoints that are the same up to them from two that are different models.
//
// What may be moved follows from the graph (package units). Nothing is believed: every symmetry is applied with a
// random element, and the answers of the model to the same probes are compared.
package weights

import (
	"fmt"
	"slices"
	"strings"

	"nero/audit/document"
	"nero/model/onnx/units"
	"nero/present/words"
)

// FormatNumber is that of the JSON. It grows whenever a field changes its meaning or goes away.
const FormatNumber = 1

// Number is a number that may be NaN, which JSON has as null.
type Number = document.Number

// Report is what was found of the weights of a model, or of two.
type Report struct {
	// Format is that of the JSON, [FormatNumber].
	Format int    `json:"format"`
	Seed   uint64 `json:"seed"`
	// Sentence is the answer.
	Sentence string `json:"sentence"`
	// Models are the files.
	Models []File `json:"models"`
	// Probes is how many inputs answers are compared at, and From where they come from.
	Probes int    `json:"probes"`
	From   string `json:"from"`
	// Engine is what computed the answers, whose last bits are its own: native 1.27.0, or wasm 1.18.0.
	Engine string `json:"engine,omitempty"`
	// Axes are the classes of units.
	Axes []Axis `json:"axes"`
	// Symmetries are those that the graph promises, and what came of asking.
	Symmetries []*Symmetry `json:"symmetries,omitempty"`
	// Gaps are nodes that nobody looked into: what they read and make is taken to stay.
	Gaps []units.Gap `json:"gaps,omitempty"`
	// Bad says that the model's own answers are not finite; nothing is compared then.
	Bad string `json:"bad,omitempty"`
	// Canonical is what was done to the weights that were written; nil where none were.
	Canonical *Canonical `json:"canonical,omitempty"`
	// Aligned is the comparison of two; nil for one.
	Aligned *Aligned `json:"aligned,omitempty"`
	// Verdict is that of two, "" for one.
	Verdict Verdict `json:"verdict,omitempty"`
}

// File is a model.
type File struct {
	Name string `json:"name"`
	// Digest is the SHA-256 of the file.
	Digest string `json:"digest"`
	// Numbers is how many floating-point numbers are stored in tensors that were looked at.
	Numbers int `json:"numbers"`
}

// Axis is a class of units.
type Axis struct {
	Index int `json:"index"`
	// Name is the first value that has it.
	Name string `json:"name"`
	// Units is how many there are in each of so many blocks.
	Units  int `json:"units"`
	Blocks int `json:"blocks"`
	// Within are the axes whose units are the blocks.
	Within []int `json:"within,omitempty"`
	// Fixed says why they stay, "" where they may change places.
	Fixed string `json:"fixed,omitempty"`
	// Stored are the tensors that have it.
	Stored []string `json:"stored"`
}

// State is what came of a question.
type State string

// States.
const (
	Holds    State = "holds"
	Refuted  State = "refuted"
	Untested State = "untested"
)

// The kinds of symmetries that are no [units.Kind].
const (
	permutation     = "permutation"
	scaleInvariance = "scale invariance"
	jointScale      = "joint scale"
)

// How exactly a symmetry holds: to rounding, or to what a normaliser adds to a variance.
const (
	upToRounding = "rounding"
	upToEpsilon  = "epsilon"
)

// Symmetry is one that the graph promises.
type Symmetry struct {
	// Kind is permutation, rescaling, signs, rotation, matrix, scale invariance, or joint scale.
	Kind string `json:"kind"`
	// Where is the value whose units are moved, or the layer of weights; Before the normaliser that follows it, and Op
	// what that is.
	Where  string `json:"where"`
	Before string `json:"before,omitempty"`
	Op     string `json:"op,omitempty"`
	// Axis is the index of the axis, -1 for none.
	Axis   int `json:"axis"`
	Units  int `json:"units"`
	Blocks int `json:"blocks"`
	// Tensors are the stored ones that go along.
	Tensors []string `json:"tensors"`
	// Element is what was drawn.
	Element string `json:"element"`
	Apart
	State State `json:"state"`
	// UpTo is rounding, or epsilon where what is added to a variance leaves an error.
	UpTo string `json:"exact_up_to,omitempty"`
	// Epsilon is what is added.
	Epsilon Number `json:"epsilon,omitempty"`
	// Why says why it is refuted or untested.
	Why string `json:"why,omitempty"`
	// Steps are the scales that were asked.
	Steps []Step `json:"steps,omitempty"`
	// Alone is what a scale by 4 does without the stored statistics.
	Alone *Apart `json:"alone,omitempty"`
	// Radial is the cosine between weights and gradient, 0 where their size does not matter; NoRadial why there is
	// none.
	Radial   *Number `json:"radial,omitempty"`
	NoRadial string  `json:"no_radial,omitempty"`
}

// Step is a scale and what it does to the answers.
type Step struct {
	Scale float64 `json:"scale"`
	Apart
}

// axesOf are the classes of a network.
func axesOf(n *Network) []Axis {
	out := []Axis{}
	for _, c := range n.Units.Classes {
		a := Axis{
			Index: c.Index, Name: c.Label(), Units: c.Units, Blocks: c.Blocks, Fixed: c.Fixed, Stored: []string{},
		}
		for _, w := range c.Within {
			a.Within = append(a.Within, w.Index)
		}
		for _, p := range c.Stored {
			if !slices.Contains(a.Stored, p.Value) {
				a.Stored = append(a.Stored, p.Value)
			}
		}
		out = append(out, a)
	}
	return out
}

// File describes the model, with the digest of its file.
func (n *Network) File(digest string) File {
	f := File{Name: n.Name, Digest: digest}
	for _, t := range n.numbers {
		f.Numbers += t.Len()
	}
	return f
}

// Good reports whether something holds, and nothing that was asked does not; of two models, that they compute the same.
func (r *Report) Good() bool {
	if r.Bad != "" || r.Canonical != nil && !r.Canonical.Good() {
		return false
	}
	if r.Aligned != nil {
		return r.Verdict != Different && r.Verdict != NotTold
	}
	some := false
	for _, s := range r.Symmetries {
		some = some || s.State == Holds
		if s.State != Holds {
			return false
		}
	}
	return some
}

// Conclude says in one sentence what was found.
func (r *Report) Conclude() {
	switch {
	case r.Bad != "":
		r.Sentence = "Undefined: " + r.Bad + "."
	case r.Aligned != nil:
		r.Sentence = r.Aligned.sentence(r.Verdict)
	default:
		r.Sentence = r.sentence()
	}
	if r.Canonical != nil && !r.Canonical.Good() {
		r.Sentence += " Nothing was written: " + r.Canonical.unwritten() + "."
	}
}

// unmoved says of a file in which nothing may be moved why that is.
func (r *Report) unmoved() string {
	var ops []string
	for _, g := range r.Gaps {
		if !slices.Contains(ops, g.Op) {
			ops = append(ops, g.Op)
		}
	}
	if len(ops) > 0 {
		const most = 5
		if len(ops) > most {
			ops = append(ops[:most], "…")
		}
		return fmt.Sprintf("Nothing was found that may be moved: %s not looked into (%s), and what such nodes read "+
			"and make is taken to stay; units that may change places may be hidden there.",
			words.Plural(len(r.Gaps), "node is", "nodes are"), strings.Join(ops, ", "))
	}
	for _, a := range r.Axes {
		if a.Fixed != units.OfInput && a.Fixed != units.OfOutput {
			return "Nothing was found that may be moved: beside inputs and answers the axes of the stored tensors " +
				"are " + a.Fixed + ", and no weights stand before a normaliser."
		}
	}
	return "Nothing may be moved: the file has no units that are neither inputs nor answers, and no weights before a " +
		"normaliser."
}

func (r *Report) sentence() string {
	if len(r.Symmetries) == 0 {
		return r.unmoved()
	}
	count := map[string]int{}
	var order []string
	hidden, worst := 0, 0.0
	var bad []string
	for _, s := range r.Symmetries {
		if s.State != Holds {
			bad = append(bad, fmt.Sprintf("%s at %s is %s", s.Kind, s.Where, s.State))
			continue
		}
		if count[s.Kind] == 0 {
			order = append(order, s.Kind)
		}
		count[s.Kind]++
		if s.UpTo != upToEpsilon && float64(s.Error) > worst {
			worst = float64(s.Error)
		}
		if s.Kind == permutation {
			hidden += s.Units * s.Blocks
		}
	}
	var parts []string
	for _, k := range order {
		n := count[k]
		switch k {
		case permutation:
			parts = append(parts, fmt.Sprintf("%s on %s may change places", words.Plural(hidden, "unit", "units"),
				words.Plural(n, "axis", "axes")))
		case scaleInvariance:
			parts = append(parts, fmt.Sprintf("the size of the weights of %s does not matter",
				words.Plural(n, "layer", "layers")))
		case jointScale:
			parts = append(parts, fmt.Sprintf("weights and stored statistics of %s scale together",
				words.Plural(n, "layer", "layers")))
		default:
			parts = append(parts, fmt.Sprintf("%s at %s", k, words.Plural(n, "place", "places")))
		}
	}
	text := "Nothing holds"
	if len(parts) > 0 {
		text = words.Capital(strings.Join(parts, ", ")) + fmt.Sprintf("; the answers stay within %s of their scale",
			words.Figures(worst))
	}
	if len(bad) > 0 {
		text += ". Not shown: " + strings.Join(bad, "; ")
	}
	return text + "."
}
