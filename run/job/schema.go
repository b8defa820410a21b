package job

import (
	_ "embed" // for the schema
	"encoding/json"
	"reflect"
	"slices"
)

//go:generate go test -run ^TestSchemaFile$ . -update

//go:embed study.schema.json
var schemaText string

// Schema is the JSON Schema (draft 2020-12) of a study file, for editors and other programs. It says everything that
// holds for a field by itself; [ParseStudy] also refuses fields that do not go together.
//
// more are words that a program adds; the keys of the schema are sorted then.
func Schema(more ...Words) []byte {
	w := allWords(more)
	if len(w.Formats)+len(w.Kinds) == 0 {
		return []byte(schemaText)
	}
	var s map[string]any
	if err := json.Unmarshal([]byte(schemaText), &s); err != nil {
		panic("job: the schema is no JSON: " + err.Error()) // a test reads it
	}
	defs, _ := s["$defs"].(map[string]any)
	widen(s, reflect.TypeFor[Study](), defs, w)
	b, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		panic("job: the schema cannot be written: " + err.Error())
	}
	return append(b, '\n')
}

// widen adds words to the schema of a struct and to those of the structs in it, which are definitions by name.
func widen(at any, t reflect.Type, defs map[string]any, w Words) {
	for _, f := range fieldsOf(t) {
		if f.rules.more != "" {
			allow(at, f.name, w.with(f.rules))
		}
		ft := t.Field(f.index).Type
		for ft.Kind() == reflect.Slice {
			ft = ft.Elem()
		}
		if ft.Kind() == reflect.Struct {
			widen(defs[ft.Name()], ft, defs, w)
		}
	}
}

// allow sets the words of a property of a schema, which may be one of several alternatives.
func allow(at any, name string, words []string) {
	s, _ := at.(map[string]any)
	properties, _ := s["properties"].(map[string]any)
	if p, ok := properties[name].(map[string]any); ok && p["enum"] != nil {
		p["enum"] = words
	}
	alternatives, _ := s["anyOf"].([]any)
	for _, a := range alternatives {
		allow(a, name, words)
	}
}

// Words are what a program lets a study say beyond what its schema lists.
type Words struct {
	// Formats of data, for data.format.
	Formats []string
	// Kinds of values, for the spaces and kinds of inputs and outputs.
	Kinds []string
}

// with are the words that a field takes.
func (w Words) with(ru rules) []string {
	more := map[string][]string{"format": w.Formats, "kind": w.Kinds}[ru.more]
	all := slices.Clone(ru.enum)
	for _, x := range more {
		if !slices.Contains(all, x) {
			all = append(all, x)
		}
	}
	return all
}

// allWords is several lists of words as one.
func allWords(all []Words) Words {
	var w Words
	for _, x := range all {
		w.Formats, w.Kinds = append(w.Formats, x.Formats...), append(w.Kinds, x.Kinds...)
	}
	return w
}
