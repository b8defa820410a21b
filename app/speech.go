package app

import (
	"fmt"
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
}

// Speech is how users write options where they started the program from, so that messages name what they can write.
type Speech interface {
	// Option is one option, as it stands in a sentence: --group C4, or group="C4".
	Option(o Option) string
	// Command is a command with further options. It is empty where nobody said what was typed so far.
	Command(command string, more []Option) string
}

// option is one option in the words of whoever started the program.
func (a *App) option(name string) string {
	return a.speech().Option(Option{Name: name})
}

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
		"output-name": `output={"name": …}`, "model": "model", "data": "data",
	}
}

// Option is a keyword with its value: group="C4".
func (Keywords) Option(o Option) string {
	if w, ok := called()[o.Name]; ok && o.Literal != "" {
		return strings.TrimSuffix(strings.TrimSuffix(w, "}"), "…") + o.Literal + "}"
	}
	if w, ok := called()[o.Name]; ok {
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

// literal is a value as Python takes it: a number, or text in quotes.
func literal(value string) string {
	if _, err := strconv.ParseFloat(value, 64); err == nil {
		return value
	}
	return strconv.Quote(value)
}
