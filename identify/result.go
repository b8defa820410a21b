package identify

import (
	"fmt"
	"slices"
	"strings"
)

// Result is what the answers say.
type Result struct {
	// Format is the version of this document.
	Format int `json:"format"`
	// Hypothesis is always true: nothing here was measured.
	Hypothesis bool    `json:"hypothesis"`
	Sentence   string  `json:"sentence"`
	Answers    Answers `json:"answers"`
	// Claims are the groups to claim, the one that holds most first; each is a study.
	Claims []string `json:"claims"`
	// Hypotheses are the groups that nobody is sure of; each is a study of its own.
	Hypotheses []string     `json:"hypotheses"`
	Factors    []Factor     `json:"factors"`
	Not        []Not        `json:"not"`
	Pairs      []Pair       `json:"pairs"`
	Properties []Properties `json:"properties"`
	Warnings   []Warning    `json:"warnings"`
	// Studies are the files to write, and Commands what to type then.
	Studies  []Study  `json:"studies"`
	Commands []string `json:"commands"`
}

// Study is a file that claims one group.
type Study struct {
	File string `json:"file"`
	Text string `json:"text"`
}

// Options say of what the studies are.
type Options struct {
	// Model and Data are files for the studies; empty for names to fill in.
	Model, Data string
	// Seed draws the elements that are multiplied to see what commutes; the studies have it, too.
	Seed uint64
}

// Conclude applies the rules to the answers.
func Conclude(a Answers, o Options) (*Result, error) {
	if err := a.check(); err != nil {
		return nil, err
	}
	r := &Result{
		Format: 1, Hypothesis: true, Answers: Answers{}, Claims: []string{}, Hypotheses: []string{},
		Factors: []Factor{},
		Not:     []Not{}, Pairs: []Pair{}, Properties: []Properties{}, Warnings: []Warning{}, Studies: []Study{},
		Commands: []string{},
	}
	for _, q := range questions() {
		if q.when(a) {
			v := a[q.ID]
			if v == "" {
				v = Unknown
			}
			r.Answers[q.ID] = v
		}
	}
	for _, rule := range rules {
		rule.apply(a, &adder{rule.id, r})
	}
	var known []string
	for _, f := range r.Factors {
		if f.Sureness == Open {
			if !slices.Contains(r.Hypotheses, f.Group) {
				r.Hypotheses = append(r.Hypotheses, f.Group)
			}
		} else {
			known = append(known, f.Group)
		}
	}
	var err error
	if r.Claims, r.Pairs, err = together(known, o.Seed); err != nil {
		return nil, fmt.Errorf("identify: %w", err)
	}
	if r.Claims == nil {
		r.Claims = []string{}
	}
	if r.Pairs == nil {
		r.Pairs = []Pair{}
	}
	r.Hypotheses = slices.DeleteFunc(r.Hypotheses, func(g string) bool { return slices.Contains(r.Claims, g) })
	for _, g := range slices.Concat(r.Claims, r.Hypotheses) {
		p, err := properties(g, o.Seed)
		if err != nil {
			return nil, fmt.Errorf("identify: %w", err)
		}
		r.Properties = append(r.Properties, p)
	}
	r.studies(a, o)
	r.Sentence = r.say(a)
	return r, nil
}

// say is the answer in one sentence.
func (r *Result) say(Answers) string {
	var s strings.Builder
	switch len(r.Claims) {
	case 0:
		s.WriteString("No symmetry follows from what is known")
	case 1:
		s.WriteString("By what is known, the problem has the symmetry " + r.Claims[0])
	default:
		s.WriteString("By what is known, the problem has the symmetries " + strings.Join(r.Claims, ", "))
	}
	likely := slices.ContainsFunc(r.Factors, func(f Factor) bool { return f.Sureness == Likely })
	if likely {
		s.WriteString(", a guess in part")
	}
	if n := len(r.Hypotheses); n > 0 {
		fmt.Fprintf(&s, "; to be tested, because nobody knows: %s", strings.Join(r.Hypotheses, ", "))
	}
	s.WriteString(".")
	if len(r.Claims)+len(r.Hypotheses) == 0 {
		s.WriteString(" There is nothing to audit.")
	}
	return s.String()
}

// studies writes one study for every claim and hypothesis, and the commands that test them.
func (r *Result) studies(a Answers, o Options) {
	model, data := o.Model, o.Data
	if model == "" {
		model = "model.onnx"
	}
	if data == "" {
		data = "data"
	}
	k := a.kind()
	one := func(file, group, why string, claimed bool) {
		var b strings.Builder
		state := "claimed by"
		if !claimed {
			state = "to be tested, by"
		}
		fmt.Fprintf(&b, "# Hypothesis, %s nero identify: %s.\n", state, why)
		if o.Model == "" || o.Data == "" {
			b.WriteString("# Put the model and the data in place of the names below.\n")
		}
		fmt.Fprintf(&b, "version: 1\nmodels: [%q]\n", model)
		if k.format != "" {
			fmt.Fprintf(&b, "data: {format: %s, images: %q}\n", k.format, data)
		} else {
			fmt.Fprintf(&b, "data: {images: %q}\n", data)
		}
		b.WriteString(k.input)
		b.WriteString(a.reply().output(k))
		if w := a.word("range"); w != Unknown && w != "all" && (group == "SO(2)" || group == "O(2)") && a.is("turn",
			"any") {
			fmt.Fprintf(&b, "group:\n  name: %q\n  orbit: {range: [[-%s, %s]%s]}\n", group, w, w,
				map[bool]string{true: ", [0, 1]"}[group == "O(2)"])
		} else {
			fmt.Fprintf(&b, "group: %q\n", group)
		}
		fmt.Fprintf(&b, "seed: %d\nhypothesis: true\n", o.Seed)
		r.Studies = append(r.Studies, Study{file, b.String()})
		r.Commands = append(r.Commands, "nero data "+file, "nero audit "+file)
	}
	for i, g := range r.Claims {
		file := "study.yaml"
		if i > 0 {
			file = fmt.Sprintf("study-%d.yaml", i+1)
		}
		one(file, g, r.reason(g), true)
	}
	for i, g := range r.Hypotheses {
		one(fmt.Sprintf("hypothesis-%d.yaml", i+1), g, r.reason(g), false)
	}
}

// reason is why a group is claimed: the reasons of its factors.
func (r *Result) reason(group string) string {
	var why []string
	for _, f := range r.Factors {
		if f.Group == group {
			return f.Why
		}
	}
	parts := strings.Split(group, " x ")
	for _, f := range r.Factors {
		if slices.Contains(parts, f.Group) {
			why = append(why, f.Why)
		}
	}
	return strings.Join(why, "; ")
}
