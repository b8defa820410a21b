// Package render writes audits in the forms that people, build servers and scanners read. Each form is a constant value
// and reads the document of an audit alone: what was audited yesterday, or elsewhere, is written like what was audited
// now.
package render

import (
	"io"

	"nero/audit/document"
	"nero/audit/render/html"
	"nero/present/words"
)

// Format is a form in which an audit is written.
type Format struct {
	// as people ask for it, such as "markdown"
	Name string
	// the name of the file among the results of an audit, such as "audit.md"
	File string
	// what it is for, in a few words
	Doc string
	// Render writes an audit. Equal audits give equal bytes.
	Render func(w io.Writer, a *document.Audit) error
}

// JSON is the document itself, for programs; the other forms can be made of it.
var JSON = Format{Name: "json", File: "audit.json", Doc: "everything, for programs", Render: document.Write}

// HTML is one page that opens from disk and asks nothing of anybody.
var HTML = Format{Name: "html", File: "audit.html", Doc: "one page with plots, for a browser", Render: html.Write}

// Formats are all forms, in the order in which they are listed.
func Formats() []Format { return []Format{Text, Markdown, HTML, JSON, JUnit, SARIF, Badge, Card} }

// Find is the form of a name.
func Find(name string) (Format, bool) {
	for _, f := range Formats() {
		if f.Name == name {
			return f, true
		}
	}
	return Format{}, false
}

// titled is a check with its name, by which it is chosen.
func titled(c *document.Check) string {
	if c.Title == "" {
		return c.Check
	}
	return c.Title + " (" + c.Check + ")"
}

func count(n int, one, many string) string { return words.Plural(n, one, many) }

func percent(n document.Number) string { return words.Percent(float64(n)) }
