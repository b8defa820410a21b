package server

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"nero/run/fold"
	"nero/serve/guard"
	"nero/serve/tables"
	"nero/symmetry/group"
)

var update = flag.Bool("update", false, "rewrite generated files")

// comments are the doc comments of types, and of fields as "Type.Field".
type comments map[string]string

func readComments(t *testing.T, patterns ...string) comments {
	t.Helper()
	all := comments{}
	for _, p := range patterns {
		names, err := filepath.Glob(p)
		if err != nil || len(names) == 0 {
			t.Fatalf("%s: %v", p, err)
		}
		for _, name := range names {
			file, err := parser.ParseFile(token.NewFileSet(), name, nil,
				parser.ParseComments|parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range file.Decls {
				g, ok := d.(*ast.GenDecl)
				if !ok || g.Tok != token.TYPE {
					continue
				}
				for _, s := range g.Specs {
					all.add(file.Name.Name, g, s.(*ast.TypeSpec)) //nolint:errcheck // what a type declaration holds
				}
			}
		}
	}
	return all
}

func (c comments) add(pkg string, g *ast.GenDecl, s *ast.TypeSpec) {
	name := pkg + "." + s.Name.Name
	c[name] = words(g.Doc.Text())
	st, ok := s.Type.(*ast.StructType)
	if !ok {
		return
	}
	for _, f := range st.Fields.List {
		text := f.Doc.Text()
		if text == "" {
			text = f.Comment.Text()
		}
		for _, n := range f.Names {
			c[name+"."+n.Name] = words(text)
		}
	}
}

// words is a comment on one line.
func words(s string) string { return strings.Join(strings.Fields(s), " ") }

// apiDocument builds what openapi.json says from the table of routes and the Go types that it names.
type apiDocument struct {
	comments comments
	schemas  map[string]any
	// types that are read: what they do not have is refused
	requests map[string]bool
}

var (
	numberType  = reflect.TypeFor[fold.Number]()
	axisType    = reflect.TypeFor[group.Axis]()
	elementType = reflect.TypeFor[group.Element]()
	rawType     = reflect.TypeFor[json.RawMessage]()
)

func typeName(t reflect.Type) string { return filepath.Base(t.PkgPath()) + "." + t.Name() }

func ref(name string) map[string]any { return map[string]any{"$ref": "#/components/schemas/" + name} }

func (d *apiDocument) schema(t reflect.Type) map[string]any {
	switch t {
	case numberType:
		return map[string]any{"type": "number", "nullable": true}
	case elementType:
		return map[string]any{"type": "array", "items": map[string]any{"type": "number"}}
	case rawType:
		return map[string]any{"type": "object"}
	}
	switch t.Kind() { //nolint:exhaustive // the others have no form in JSON, or are not used
	case reflect.Pointer:
		return d.schema(t.Elem())
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	case reflect.Int, reflect.Int64:
		return map[string]any{"type": "integer"}
	case reflect.Uint64:
		return map[string]any{"type": "integer", "minimum": 0}
	case reflect.Float64:
		return map[string]any{"type": "number"}
	case reflect.String:
		return map[string]any{"type": "string"}
	case reflect.Slice:
		return map[string]any{"type": "array", "items": d.schema(t.Elem())}
	case reflect.Array:
		return map[string]any{"type": "array", "items": d.schema(t.Elem()), "minItems": t.Len(), "maxItems": t.Len()}
	case reflect.Map:
		if t.Elem().Kind() == reflect.Interface {
			return map[string]any{"type": "object"}
		}
		return map[string]any{"type": "object", "additionalProperties": d.schema(t.Elem())}
	case reflect.Struct:
		name := t.Name()
		if path.Base(t.PkgPath()) == "identify" { // some have the names of others of package api
			name = "Identify" + name
		}
		if _, there := d.schemas[name]; !there {
			s := map[string]any{"type": "object"}
			d.schemas[name] = s // before its fields: a set holds sets
			props, required := map[string]any{}, []string{}
			d.fields(t, props, &required)
			s["properties"], s["required"] = props, required
			if len(required) == 0 {
				delete(s, "required")
			}
			if text := d.comments[typeName(t)]; text != "" {
				s["description"] = text
			}
			if d.requests[name] {
				s["additionalProperties"] = false
			}
		}
		return ref(name)
	}
	panic("no schema for " + t.String())
}

func (d *apiDocument) fields(t reflect.Type, props map[string]any, required *[]string) {
	for f := range t.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-", !f.IsExported() && !f.Anonymous: // not sent
			continue
		case f.Anonymous && name == "":
			d.fields(f.Type, props, required)
			continue
		case name == "":
			panic(t.String() + "." + f.Name + " has no name in JSON")
		}
		s := d.schema(f.Type)
		if t == axisType && f.Type.Kind() == reflect.Float64 {
			s["nullable"] = true // an infinite bound
		}
		if text := d.comments[typeName(t)+"."+f.Name]; text != "" {
			if _, is := s["$ref"]; is {
				s = map[string]any{"allOf": []any{s}}
			}
			s["description"] = text
		}
		props[name] = s
		if !strings.Contains(options, "omitempty") {
			*required = append(*required, name)
		}
	}
}

// pathParams are what stands in braces in a path.
var pathParams = map[string]map[string]any{
	"id": {
		"description": "A run, or two as A+B; of audits, an audit.",
		"schema":      map[string]any{"type": "string", "maxLength": 401, "pattern": `^[A-Za-z0-9_.+-]+$`},
	},
	"i": {
		"description": "The position of a sample in the run.",
		"schema":      map[string]any{"type": "integer", "minimum": 0},
	},
	"name": {
		"description": "An array of Run.arrays.",
		"schema": map[string]any{
			"type":    "string",
			"pattern": `^(curves\.[0-9]+\.[0-9]+|top\.[0-9]+|samples\.[0-9]+\.[0-9]+)$`,
		},
	},
	"task": {"description": "A task.", "schema": map[string]any{"type": "string", "pattern": taskID().String()}},
	"file": {
		"description": "A table and a format.",
		"schema": map[string]any{"type": "string", "pattern": `^(` + strings.Join(tables.Names(), "|") +
			`)\.(csv|jsonl|md|tex)$`},
	},
}

var braces = regexp.MustCompile(`\{([a-z]+)\}`)

func build(t *testing.T) []byte {
	t.Helper()
	d := &apiDocument{
		comments: readComments(t, "../api/*.go", "../../run/fold/*.go", "../guard/problem.go", "../../identify/*.go",
			"../../symmetry/group/*.go"),
		schemas: map[string]any{}, requests: map[string]bool{
			"Set": true, "AggregateRequest": true, "Slices": true,
			"Slice": true, "Remarks": true, "Remark": true, "TurnsRequest": true, "ModelsRequest": true,
			"SearchRequest": true, "IdentifyRequest": true,
		},
	}
	paths := map[string]map[string]any{}
	for _, rt := range routesTable() {
		op := map[string]any{"operationId": rt.name, "summary": rt.doc}
		var params []any
		for _, m := range braces.FindAllStringSubmatch(rt.path, -1) {
			p := maps.Clone(pathParams[m[1]])
			p["name"], p["in"], p["required"] = m[1], "path", true
			params = append(params, p)
		}
		for _, q := range rt.query {
			p := map[string]any{"name": q.name, "in": "query", "description": q.doc, "schema": q.schema}
			if q.required {
				p["required"] = true
			}
			params = append(params, p)
		}
		if rt.method == http.MethodPut {
			params = append(params, map[string]any{
				"name": "If-Match", "in": "header", "required": true,
				"description": "The ETag of what is replaced.", "schema": map[string]any{"type": "string"},
			})
		}
		if params != nil {
			op["parameters"] = params
		}
		if rt.body != nil {
			op["requestBody"] = map[string]any{
				"required": true,
				"content":  map[string]any{typeJSON: map[string]any{"schema": d.schema(reflect.TypeOf(rt.body))}},
			}
		}
		answers := map[string]any{"default": map[string]any{
			"description": "A problem.",
			"content": map[string]any{
				"application/problem+json": map[string]any{"schema": d.schema(reflect.TypeFor[guard.Problem]())},
			},
		}}
		for _, a := range rt.answers {
			key := strconv.Itoa(a.status)
			one, there := answers[key].(map[string]any)
			if !there {
				one = map[string]any{"description": a.doc, "content": map[string]any{}}
				answers[key] = one
			}
			schema := map[string]any{"type": "string", "format": "binary"}
			if a.body != nil {
				schema = d.schema(reflect.TypeOf(a.body))
			} else if strings.HasPrefix(a.kind, "text/") {
				schema = map[string]any{"type": "string"}
			}
			content := one["content"].(map[string]any) //nolint:errcheck // made above
			content[a.kind] = map[string]any{"schema": schema}
		}
		op["responses"] = answers
		at := "/" + rt.path
		if paths[at] == nil {
			paths[at] = map[string]any{}
		}
		paths[at][strings.ToLower(rt.method)] = op
	}
	b, err := json.MarshalIndent(map[string]any{
		"openapi": "3.0.3",
		"info": map[string]any{
			"title": "nero serve", "version": "1",
			"description": "What the interface of nero asks its server. See docs/API.md.",
		},
		"servers": []any{map[string]any{"url": ".", "description": "Relative to where this document lies."}},
		"security": []any{
			map[string]any{},
			map[string]any{"token": []any{}},
		},
		"paths": paths,
		"components": map[string]any{
			"schemas": d.schemas,
			"securitySchemes": map[string]any{"token": map[string]any{
				"type": "http", "scheme": "bearer",
				"description": "Only where the server asks for a token; a browser has it in a cookie.",
			}},
		},
	}, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return append(b, '\n')
}

// TestOpenAPIFile wants the committed document to be what the table and the types say.
func TestOpenAPIFile(t *testing.T) {
	b := build(t)
	if *update {
		if err := os.WriteFile("openapi.json", b, 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !bytes.Equal(b, openAPI) {
		t.Error("openapi.json does not follow from the routes and the types; go generate ./serve/server writes it")
	}
}

// TestOpenAPIValid holds the document against the specification, with a library that has nothing to do with how it was
// made.
func TestOpenAPIValid(t *testing.T) {
	doc := loadDocument(t)
	n := 0
	for _, path := range doc.Paths.Map() {
		n += len(path.Operations())
	}
	if n != len(routesTable()) {
		t.Errorf("%d operations for %d routes", n, len(routesTable()))
	}
	var ids []string
	for _, rt := range routesTable() {
		if slices.Contains(ids, rt.name) {
			t.Errorf("operation %s is there twice", rt.name)
		}
		ids = append(ids, rt.name)
		if !strings.HasSuffix(rt.doc, ".") {
			t.Errorf("%s: its summary is no sentence", rt.name)
		}
	}
	for name, s := range doc.Components.Schemas {
		if s.Value.Description == "" {
			t.Errorf("type %s has no description", name)
		}
	}
}

func loadDocument(tb testing.TB) *openapi3.T {
	tb.Helper()
	doc, err := openapi3.NewLoader().LoadFromData(openAPI)
	if err != nil {
		tb.Fatal(err)
	}
	if err := doc.Validate(tb.Context()); err != nil {
		tb.Fatal(fmt.Errorf("openapi.json: %w", err))
	}
	return doc
}
