package app

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"nero/audit"
)

// Option is something that a user may say beside a model.
type Option struct {
	// Name is that of its flag, Value what follows, "" for none.
	Name, Value string
	// Literal is the value as it stands in a study, where the two differ.
	Literal string
	// Own says that the option is one of its command alone, and is called so everywhere.
	Own bool
}

// Speech is how users write options where they started the program from, so that messages name what they can write.
type Speech interface {
	// Option is one option, as it stands in a sentence: --group C4, or group="C4".
	Option(o Option) string
	// Command is a command with further options. It is empty where nobody said what was typed so far.
	Command(command string, more []Option) string
	// Sentence is a sentence of a package that knows of flags alone.
	Sentence(text string) string
}

// option is one option in the words of whoever started the program.
func (a *App) option(name string) string {
	return a.speech().Option(Option{Name: name})
}

// ownOption is one that means something else in other commands.
func (a *App) ownOption(name string) string { return a.speech().Option(Option{Name: name, Own: true}) }

func (a *App) speech() Speech {
	if a.Speech == nil {
		return Flags{}
	}
	return a.Speech
}

// Flags is the speech of a command line.
type Flags struct{}

// Option is a flag with its value.
func (Flags) Option(o Option) string {
	if o.Value == "" {
		return "--" + o.Name
	}
	return "--" + o.Name + " " + audit.ShellQuote(o.Value)
}

// Command adds flags to a command line.
func (f Flags) Command(command string, more []Option) string {
	if command == "" {
		command = "nero audit STUDY.yaml"
	}
	words := []string{command}
	for _, o := range more {
		words = append(words, f.Option(o))
	}
	return strings.Join(words, " ")
}

// Sentence is the sentence as it is.
func (Flags) Sentence(text string) string { return text }

// Keywords is the speech of the Python package: keywords of nero.audit and nero.run.
type Keywords struct{}

// called are options whose keyword has another name or form.
func called() map[string]string {
	return map[string]string{
		"invariant": "equivariant=False", "equivariant": "equivariant=True", "allow-program": "allow_program=True",
		"audit-samples": "samples", "audit-elements": `audit={"elements": …}`,
		"resize": `data={…, "resize": …}`, "limit": `data={…, "limit": …}`, "margin": `data={…, "margin": …}`,
		"scale": `input={"scale": …}`, "mean": `input={"mean": …}`, "std": `input={"std": …}`,
		"orientation": `data={…, "orientation": …}`, "border": `group={…, "border": …}`,
		"output-name": `output={"name": …}`, "model": "model", "data": "data", "out": "out",
		"before": "model_before", "after": "model_after",
		"average": `audit={…, "average": …}`, "checks": `audit={…, "checks": …}`, "skip": `audit={…, "skip": …}`,
		"require": `audit={…, "require": …}`, "confidence": `audit={…, "confidence": …}`,
		"layout": `input={"layout": …}`, "channels": `input={"channels": …}`, "decode": `output={"decode": …}`,
		"mask": `group={…, "mask": …}`, "window": `group={…, "window": …}`, "data-format": `data={…, "format": …}`,
		"resample": `group={…, "resample": …}`, "time-limit": `models=[{…, "timeout": …}]`,
	}
}

// Option is a keyword with its value: group="C4".
func (Keywords) Option(o Option) string {
	w, ok := called()[o.Name]
	ok = ok && !o.Own
	if ok && o.Literal != "" && strings.HasSuffix(w, "…}") {
		return strings.TrimSuffix(w, "…}") + o.Literal + "}"
	}
	if ok {
		if o.Value == "" || strings.ContainsAny(w, "=") {
			return w
		}
		return w + "=" + literal(o.Value)
	}
	name := strings.ReplaceAll(o.Name, "-", "_")
	if o.Value == "" {
		return name
	}
	return name + "=" + literal(o.Value)
}

// Command is a call of nero.audit.
func (k Keywords) Command(_ string, more []Option) string {
	words := []string{"model", "data", "…"}
	for _, o := range more {
		words = append(words, k.Option(o))
	}
	return fmt.Sprintf("nero.audit(%s)", strings.Join(words, ", "))
}

// flagged finds what a sentence says of command lines: a whole command, which stays as it is, for it works in a
// terminal, or a flag, and what follows it if that can be nothing but its value.
var flagged = regexp.MustCompile(`\bnero [a-z]+[^;'"\n)]*|\B--([a-z][a-z-]+)` +
	`(?: ("[^"]*"|[\w.,:=/%-]*[=\d][\w.,:=/%-]*\b|(?:circular|lattice|wasm|native|fail|attention|auto|none)\b))?`)

// Sentence names the keywords of flags.
func (k Keywords) Sentence(text string) string {
	return flagged.ReplaceAllStringFunc(text, func(found string) string {
		m := flagged.FindStringSubmatch(found)
		if m[1] == "" {
			return found
		}
		value := strings.Trim(m[2], `"`)
		if o := (Option{Name: m[1], Value: value}); value == "" || strings.ContainsAny(value, "=") {
			return k.Option(o)
		}
		return k.Option(Option{Name: m[1], Value: value, Literal: literal(value)})
	})
}

// literal is a value as Python takes it: a number, or text in quotes.
func literal(value string) string {
	if _, err := strconv.ParseFloat(value, 64); err == nil {
		return value
	}
	return strconv.Quote(value)
}
