package sheet

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"nero/present/words"

	"github.com/invopop/jsonschema"
)

// Form is a way to write reports of type R.
type Form[R any] struct {
	Name string
	// Ending is that of files in this form.
	Ending string
	// Write writes one.
	Write func(w io.Writer, report R) error
}

// Forms are those of a report that is read as a sheet, the first that of a terminal, and the JSON of the report itself.
func Forms[R any](sheet func(R) *Sheet) []*Form[R] {
	return []*Form[R]{
		{"text", ".txt", func(w io.Writer, r R) error { return sheet(r).WriteText(w) }},
		{"json", ".json", func(w io.Writer, r R) error { return JSON(w, r) }},
		{"markdown", ".md", func(w io.Writer, r R) error { return sheet(r).WriteMarkdown(w) }},
		{"html", ".html", func(w io.Writer, r R) error { return sheet(r).WriteHTML(w) }},
	}
}

// Names are the names of forms, in their order.
func Names[R any](forms []*Form[R]) []string {
	names := make([]string, len(forms))
	for i, f := range forms {
		names[i] = f.Name
	}
	return names
}

// Find finds a form by its name.
func Find[R any](forms []*Form[R], name string) (*Form[R], error) {
	names := Names(forms)
	if i := slices.Index(names, name); i >= 0 {
		return forms[i], nil
	}
	near := ""
	if s, ok := words.Suggest(name, names); ok {
		near = "; did you mean " + s + "?"
	}
	return nil, fmt.Errorf("%q is no form of the report; want one of %s%s", name, strings.Join(names, ", "), near)
}

// Of finds a form by the ending of a file's name, in small letters or large ones.
func Of[R any](forms []*Form[R], file string) (*Form[R], error) {
	var endings []string
	for _, f := range forms {
		if strings.HasSuffix(strings.ToLower(file), f.Ending) {
			return f, nil
		}
		endings = append(endings, f.Ending)
	}
	return nil, fmt.Errorf("%s: the ending says the form: want one of %s", file, strings.Join(endings, ", "))
}

// JSON writes a report as JSON, with one space for each level and texts as they are.
func JSON(w io.Writer, report any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	e.SetEscapeHTML(false)
	return e.Encode(report)
}

// Schema is the schema of what a report is in JSON (draft 2020-12), of a command and the number of its format.
func Schema(command string, format int, report any) ([]byte, error) {
	r := jsonschema.Reflector{DoNotReference: true, Anonymous: true}
	s := r.Reflect(report)
	s.Title = fmt.Sprintf("nero %s, format %d", command, format)
	b, err := json.MarshalIndent(s, "", "  ")
	return append(b, '\n'), err
}
