// Package provider says where the native engine computes: execution providers of ONNX Runtime, such as CUDA or
// OpenVINO, by name and options. Each knows its options, which of them keep numbers in float32, and where a library
// with it comes from.
//
// A text names one with its options, and others behind it that take what it cannot: openvino,
// openvino:device_type=GPU, tensorrt+cuda, cuda+cpu. The processor, cpu, takes parts of a model only where it is named.
package provider

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"nero/internal/spell"
)

// CPU is the name of the processor, on which models run where nothing else is said.
const CPU = "cpu"

// suffix is what the names of all providers end in where libraries list them.
const suffix = "ExecutionProvider"

// Provider is a place at which ONNX Runtime computes beside the processor.
type Provider struct {
	// Name is how users write it, Full how libraries list it, and Word how the call that takes any provider knows it.
	Name, Full, Word string
	// Options are all that may be said. What nobody knows could lower the precision, so it is refused.
	Options []Option
	// Serial says that one opened model answers one question at a time, so that every worker opens its own.
	Serial bool
	// Variable is set to 0 in the environment before the library is loaded, since no option says the same; "" for none.
	Variable string
	// Choosers are variables of the environment that say which devices there are, and in which order.
	Choosers []string
	// Source says where a library with it comes from.
	Source string
	// Varies says why two openings of one model may differ in the last digits; "" where they do not.
	Varies string
}

// Option is one option of a provider.
type Option struct {
	Name string
	// Preset is its value where nobody says another; "" for that of the library.
	Preset string
	// Only are the values that keep answers in float32 and the same in each run; nil for any. Why says what others do.
	Only []string
	Why  string
	// Not are what values must not begin with, for the same reasons.
	Not []string
	// Place says that it changes no number but where and with how much memory: it is no part of what a run is.
	Place bool
	// Path says that it names a file or a folder of this machine, which may be loaded or written: a study, which
	// somebody else may have written, must not.
	Path bool
}

// allows says why a value is refused.
func (o Option) allows(value string) error {
	if o.Only != nil && !slices.Contains(o.Only, value) {
		return fmt.Errorf("%s=%s is refused: %s; expected %s", o.Name, clip(value), o.Why,
			strings.Join(o.Only, " or "))
	}
	for _, n := range o.Not {
		if strings.HasPrefix(strings.ToUpper(value), n) {
			return fmt.Errorf("%s=%s is refused: %s", o.Name, clip(value), o.Why)
		}
	}
	return nil
}

// Setting is an option with its value.
type Setting struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	// Place says that it is no part of what a run is.
	Place bool `json:"place,omitempty"`
}

// Choice is a provider with all options that it is given, sorted by name.
type Choice struct {
	Name     string    `json:"name"`
	Settings []Setting `json:"settings,omitempty"`
}

// List is where a model computes: the first takes what it can, the next what is left.
type List struct {
	Choices []Choice `json:"choices,omitempty"`
	// Fallback says that the processor takes what is left then. Without it that is an error.
	Fallback bool `json:"fallback,omitempty"`
}

// Plain says that models run on the processor, as they do where nobody says anything.
func (l List) Plain() bool { return len(l.Choices) == 0 }

// String is the list as it is kept with a run, with every option that decides numbers and none that does not. [Parse]
// reads it. That of the processor alone is empty.
func (l List) String() string { return l.text(false) }

// Whole is the list with every option, also of those that say where and with how much memory. That of the processor
// alone is empty.
func (l List) Whole() string { return l.text(true) }

// text is the list, with the options that change no number or without them.
func (l List) text(places bool) string {
	var parts []string
	for _, c := range l.Choices {
		var set []string
		for _, s := range c.Settings {
			if places || !s.Place {
				set = append(set, s.Name+"="+s.Value)
			}
		}
		part := c.Name
		if len(set) > 0 {
			part += ":" + strings.Join(set, ",")
		}
		parts = append(parts, part)
	}
	if l.Fallback && len(parts) > 0 {
		parts = append(parts, CPU)
	}
	return strings.Join(parts, "+")
}

// Names are the names of the list, without options: tensorrt+cuda.
func (l List) Names() string {
	var names []string
	for _, c := range l.Choices {
		names = append(names, c.Name)
	}
	if l.Fallback || len(names) == 0 {
		names = append(names, CPU)
	}
	return strings.Join(names, "+")
}

// Serial says that a model opened there answers one question at a time.
func (l List) Serial() bool {
	return slices.ContainsFunc(l.Choices, func(c Choice) bool {
		p, _ := find(c.Name)
		return p.Serial
	})
}

// Varies says why two openings of one model there may differ in the last digits; "" where they do not.
func (l List) Varies() string {
	for _, c := range l.Choices {
		if p, _ := find(c.Name); p.Varies != "" {
			return c.Name + ": " + p.Varies
		}
	}
	return ""
}

// Parts are words in the names of the files that the providers of the list bring beside a library.
func (l List) Parts() []string {
	var words []string
	for _, c := range l.Choices {
		words = append(words, c.Name)
	}
	if len(words) > 0 {
		words = append(words, "providers_shared")
	}
	return words
}

// Equal says that two lists compute the same numbers.
func (l List) Equal(o List) bool { return l.String() == o.String() }

// Lacks is the first provider of the list that a library does not have, by the names that it lists.
func (l List) Lacks(has []string) (Provider, bool) {
	for _, c := range l.Choices {
		if p, ok := find(c.Name); ok && !slices.Contains(has, p.Full) {
			return p, true
		}
	}
	return Provider{}, false
}

// LackError says that a library does not have a provider.
type LackError struct {
	// Library is its path, Version its release.
	Library, Version string
	Provider         Provider
	// Has are those that it has, as it lists them.
	Has []string
}

// Error names the library, what it has, and where one comes from that has the provider.
func (e *LackError) Error() string {
	return fmt.Sprintf("%s is ONNX Runtime %s, which has no provider %s; it has %s. A library with it comes with: %s",
		e.Library, e.Version, e.Provider.Name, strings.Join(Short(e.Has), ", "), e.Provider.Source)
}

// Short are the names of providers as users write them, for those that libraries list.
func Short(full []string) []string {
	var out []string
	for _, f := range full {
		i := slices.IndexFunc(all(), func(p Provider) bool { return p.Full == f })
		switch {
		case i >= 0:
			out = append(out, all()[i].Name)
		case f == "CPU"+suffix:
			out = append(out, CPU)
		default:
			out = append(out, strings.ToLower(strings.TrimSuffix(f, suffix)))
		}
	}
	return out
}

// Names are the names that may be written, that of the processor last.
func Names() []string {
	var names []string
	for _, p := range all() {
		names = append(names, p.Name)
	}
	return append(names, CPU)
}

// Choosers are the variables of the environment that choose among the devices of any provider.
func Choosers() []string {
	var out []string
	for _, p := range all() {
		for _, v := range p.Choosers {
			if !slices.Contains(out, v) {
				out = append(out, v)
			}
		}
	}
	return out
}

// Of is the provider of a choice.
func Of(c Choice) Provider {
	p, _ := find(c.Name)
	return p
}

// find is the provider of a name, in either of its spellings and any case.
func find(name string) (Provider, bool) {
	for _, p := range all() {
		if strings.EqualFold(name, p.Name) || strings.EqualFold(name, p.Full) {
			return p, true
		}
	}
	return Provider{}, false
}

// mostText bounds a text, and what ONNX Runtime takes of a value.
const mostText = 1024

// Parse reads texts, each of which names one provider or several joined by +. None, and cpu alone, are the processor.
func Parse(texts ...string) (List, error) {
	var l List
	for _, text := range texts {
		if len(text) > mostText {
			return List{}, fmt.Errorf("a provider of %d bytes; at most %d are taken", len(text), mostText)
		}
		for part := range strings.SplitSeq(text, "+") {
			if err := l.add(part); err != nil {
				return List{}, err
			}
		}
	}
	if l.Plain() {
		l.Fallback = false
	}
	return l, nil
}

// Said reads texts of a study. Its options name no files or folders.
func Said(texts ...string) (List, error) {
	l, err := Parse(texts...)
	if err != nil {
		return List{}, err
	}
	for _, c := range l.Choices {
		for _, s := range c.Settings {
			if o, err := Of(c).option(s.Name); err == nil && o.Path {
				return List{}, fmt.Errorf("%s: %s names a place on one machine, which a study must not: give it with "+
					"the provider that is named when the study is run", c.Name, s.Name)
			}
		}
	}
	return l, nil
}

// add puts one provider behind the others.
func (l *List) add(text string) error {
	name, options, said := strings.Cut(strings.TrimSpace(text), ":")
	name = strings.TrimSpace(name)
	if l.Fallback {
		return fmt.Errorf("%s stands behind cpu, which takes all that is left: put cpu last", clip(name))
	}
	if strings.EqualFold(name, CPU) || strings.EqualFold(name, "CPU"+suffix) {
		if said {
			return fmt.Errorf("cpu:%s: the processor has no options", clip(options))
		}
		l.Fallback = true
		return nil
	}
	p, ok := find(name)
	if !ok {
		return fmt.Errorf("there is no execution provider %q; expected one of %s", clip(name), // gpu is near cpu
			strings.Join(Names(), ", "))
	}
	for _, c := range l.Choices {
		if c.Name == p.Name {
			return fmt.Errorf("%s is there twice", p.Name)
		}
	}
	c, err := p.choose(options, said)
	if err != nil {
		return fmt.Errorf("%s: %w", p.Name, err)
	}
	l.Choices = append(l.Choices, c)
	return nil
}

// choose reads options: NAME=VALUE, joined by commas. What has no = goes on with the value before it, such as
// device_type=HETERO:GPU,CPU.
func (p Provider) choose(text string, said bool) (Choice, error) {
	given := map[string]string{}
	last := ""
	for piece := range strings.SplitSeq(text, ",") {
		key, value, pair := strings.Cut(piece, "=")
		key = strings.TrimSpace(key)
		switch {
		case !said:
			continue
		case !pair && last != "" && strings.TrimSpace(piece) != "":
			given[last] += "," + strings.TrimSpace(piece)
			continue
		case !pair || key == "" || strings.TrimSpace(value) == "":
			return Choice{}, fmt.Errorf("%q is no option; expected NAME=VALUE, several joined by commas", clip(piece))
		}
		o, err := p.option(key)
		if err != nil {
			return Choice{}, err
		}
		if _, twice := given[o.Name]; twice {
			return Choice{}, fmt.Errorf("%s is there twice", o.Name)
		}
		last = o.Name
		given[last] = strings.TrimSpace(value)
	}
	c := Choice{Name: p.Name}
	for _, o := range p.Options {
		value := cmp.Or(given[o.Name], o.Preset)
		if value == "" {
			continue
		}
		if err := printable(value); err != nil {
			return Choice{}, fmt.Errorf("%s: %w", o.Name, err)
		}
		if err := o.allows(value); err != nil {
			return Choice{}, err
		}
		c.Settings = append(c.Settings, Setting{Name: o.Name, Value: value, Place: o.Place})
	}
	slices.SortFunc(c.Settings, func(a, b Setting) int { return strings.Compare(a.Name, b.Name) })
	return c, nil
}

// option is the one of a name.
func (p Provider) option(name string) (Option, error) {
	var names []string
	for _, o := range p.Options {
		if o.Name == name {
			return o, nil
		}
		names = append(names, o.Name)
	}
	if near, ok := spell.Nearest(name, names); ok {
		return Option{}, fmt.Errorf("there is no option %q; did you mean %q?", clip(name), near)
	}
	return Option{}, fmt.Errorf("there is no option %q; expected one of %s", clip(name), strings.Join(names, ", "))
}

// printable refuses what no option has, and what would not come back from a file.
func printable(value string) error {
	for _, r := range value {
		if r < ' ' || r == 0x7f || r == 0xfffd {
			return fmt.Errorf("%q is no text on one line", clip(value))
		}
	}
	return nil
}

// clip keeps messages short.
func clip(s string) string {
	const most = 60
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "..."
	}
	return s
}

// Placement says how many nodes of a model run where, as it was opened.
type Placement struct {
	// Shares are those of the places, the one with most nodes first; empty where the release does not say.
	Shares []Share `json:"shares,omitempty"`
}

// Share are the nodes of a model that run at one place.
type Share struct {
	// Provider is its name as users write it.
	Provider string `json:"provider"`
	Nodes    int    `json:"nodes"`
	// Ops are the operators of these nodes, in order of the alphabet.
	Ops []string `json:"ops"`
}

// Add counts a node at a place, which libraries list as full.
func (p *Placement) Add(full, op string) {
	name := Short([]string{full})[0]
	i := slices.IndexFunc(p.Shares, func(s Share) bool { return s.Provider == name })
	if i < 0 {
		i = len(p.Shares)
		p.Shares = append(p.Shares, Share{Provider: name})
	}
	s := &p.Shares[i]
	s.Nodes++
	if at, there := slices.BinarySearch(s.Ops, op); !there {
		s.Ops = slices.Insert(s.Ops, at, op)
	}
}

// Processor is the share of the processor.
func (p Placement) Processor() Share {
	for _, s := range p.Shares {
		if s.Provider == CPU {
			return s
		}
	}
	return Share{Provider: CPU}
}

// mostOps is how many operators a sentence names.
const mostOps = 6

// String says in words where how many nodes run.
func (p Placement) String() string {
	if len(p.Shares) == 0 {
		return "this release of ONNX Runtime does not say which nodes run where; 1.24 does"
	}
	shares := slices.Clone(p.Shares)
	slices.SortStableFunc(shares, func(a, b Share) int { return cmp.Compare(b.Nodes, a.Nodes) })
	if len(shares) == 1 {
		return fmt.Sprintf("all %d nodes on %s", shares[0].Nodes, shares[0].Provider)
	}
	var parts []string
	for _, s := range shares {
		part := fmt.Sprintf("%d on %s", s.Nodes, s.Provider)
		if s.Provider == CPU {
			part += " (" + s.Named() + ")"
		}
		parts = append(parts, part)
	}
	return "nodes: " + strings.Join(parts, ", ")
}

// Named are the operators of a share for a sentence.
func (s Share) Named() string {
	if len(s.Ops) > mostOps {
		return strings.Join(s.Ops[:mostOps], ", ") + " and others"
	}
	return strings.Join(s.Ops, ", ")
}

// FallbackError says that a provider does not take all of a model, and nobody asked for the processor to take the rest.
type FallbackError struct {
	List List `json:"list"`
	// Placement is where nodes would run; empty where the release does not say.
	Placement Placement `json:"placement,omitzero"`
}

// Error says what would run on the processor, and how to ask for that.
func (e *FallbackError) Error() string {
	left := "some nodes"
	if s := e.Placement.Processor(); s.Nodes > 0 {
		left = fmt.Sprintf("%d nodes (%s)", s.Nodes, s.Named())
	}
	names := e.List.Names()
	return names + " does not take all of the model: " + left + " would run on the processor; name that too to ask " +
		"for it: " + names + "+cpu"
}

// IsFallback says that an error is a [FallbackError], or wraps one.
func IsFallback(err error) bool {
	_, is := errors.AsType[*FallbackError](err)
	return is
}
