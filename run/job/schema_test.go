package job

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/invopop/jsonschema"
	validator "github.com/santhosh-tekuri/jsonschema/v6"
)

var update = flag.Bool("update", false, "rewrite generated files")

const schemaFile = "study.schema.json"

// TestSchemaFile makes the schema from the types and compares it with the file, or with -update writes the file: go
// generate calls it, so that the library that makes it stays out of the program.
func TestSchemaFile(t *testing.T) {
	got := makeSchema(t)
	if *update {
		if err := os.WriteFile(schemaFile, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !bytes.Equal(got, Schema()) {
		t.Errorf("%s is not what the types say; run go generate ./run/job", schemaFile)
	}
	if again := makeSchema(t); !bytes.Equal(got, again) {
		t.Error("the schema is different each time")
	}
}

func makeSchema(t *testing.T) []byte {
	t.Helper()
	r := jsonschema.Reflector{ExpandedStruct: true, Anonymous: true}
	if err := r.AddGoComments("nero/run/job", "./", jsonschema.WithFullComment()); err != nil {
		t.Fatal(err)
	}
	for k, v := range r.CommentMap {
		r.CommentMap[k] = strings.Join(strings.Fields(v), " ") // a description is not wrapped
	}
	s := r.Reflect(&Study{})
	s.ID, s.Title = "", "nero study"
	refine(t, s, reflect.TypeFor[Study]())
	for name, typ := range map[string]reflect.Type{
		"Model": reflect.TypeFor[Model](), "Data": reflect.TypeFor[Data](), "Input": reflect.TypeFor[Input](),
		"Output": reflect.TypeFor[Output](),
		"Group":  reflect.TypeFor[Group](), "Orbit": reflect.TypeFor[Orbit](), "Audit": reflect.TypeFor[Audit](),
		"Contract": reflect.TypeFor[Contract](),
		"Cut":      reflect.TypeFor[Cut](), "Masks": reflect.TypeFor[Masks](),
		"Embedding": reflect.TypeFor[Embedding](), "Sequence": reflect.TypeFor[Sequence](),
		"Formula":   reflect.TypeFor[Formula](),
		"Measure":   reflect.TypeFor[Measure](),
		"Phantoms":  reflect.TypeFor[Phantoms](),
		"Particles": reflect.TypeFor[Particles](),
		"Boxes":     reflect.TypeFor[Boxes](),
		"BoxesPart": reflect.TypeFor[BoxesPart](),
		"Anchors":   reflect.TypeFor[Anchors](), "Field": reflect.TypeFor[Field](),
		"Consensus": reflect.TypeFor[Consensus](), "Split": reflect.TypeFor[Split](),
		"Cloud": reflect.TypeFor[Cloud](), "Sound": reflect.TypeFor[Sound](), "Port": reflect.TypeFor[Port](),
		"Recurrent": reflect.TypeFor[Recurrent](),
		"State":     reflect.TypeFor[State](), "Feeding": reflect.TypeFor[Feeding](),
		"Slices": reflect.TypeFor[Slices](),
		"Type":   reflect.TypeFor[Type](),
		"Refine": reflect.TypeFor[Refine](), "Resize": reflect.TypeFor[Resize](), "Watch": reflect.TypeFor[Watch](),
		"Repeat": reflect.TypeFor[Repeat](),
	} {
		d, ok := s.Definitions[name]
		if !ok {
			t.Fatalf("no definition of %s", name)
		}
		refine(t, d, typ)
	}
	if len(s.Definitions) != 34 {
		t.Fatalf("%d definitions, expected 34: add the new one above", len(s.Definitions))
	}
	orbit := s.Definitions["Orbit"]
	var pairs []*jsonschema.Schema
	for i, a := range exclusive {
		for _, b := range exclusive[:i] {
			pairs = append(pairs, &jsonschema.Schema{Required: []string{b, a}})
		}
	}
	orbit.Not = &jsonschema.Schema{AnyOf: pairs}
	two, one := uint64(2), uint64(1)
	rng, _ := orbit.Properties.Get("range")
	rng.Items.MinItems, rng.Items.MaxItems = &two, &two
	values, _ := orbit.Properties.Get("values")
	values.Items.MinItems = &one
	for name, typ := range map[string]reflect.Type{
		"Model": reflect.TypeFor[Model](), "Data": reflect.TypeFor[Data](),
		"Group": reflect.TypeFor[Group](), "BoxesPart": reflect.TypeFor[BoxesPart](), "Port": reflect.TypeFor[Port](),
		"Type": reflect.TypeFor[Type](),
	} {
		d := s.Definitions[name]
		i := slices.IndexFunc(fieldsOf(typ), func(f field) bool { return f.short })
		if i < 0 {
			t.Fatalf("%s has no short form", name)
		}
		short, _ := d.Properties.Get(fieldsOf(typ)[i].name)
		if name == "Model" {
			d.OneOf = []*jsonschema.Schema{{Required: []string{"onnx"}}, {Required: []string{"endpoint"}}}
		}
		if name == "Data" {
			rendered := jsonschema.NewProperties()
			rendered.Set("format", &jsonschema.Schema{Const: "particles"})
			d.AnyOf = []*jsonschema.Schema{
				{Required: []string{"images"}},
				{Required: []string{"views"}},
				{Required: []string{"format"}, Properties: rendered},
			}
		}
		description := d.Description
		d.Description = ""
		s.Definitions[name] = &jsonschema.Schema{Description: description, AnyOf: []*jsonschema.Schema{short, d}}
	}
	b, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return append(b, '\n')
}

// refine says what the library does not: rules of list items, and single values for lists.
func refine(t *testing.T, s *jsonschema.Schema, typ reflect.Type) {
	t.Helper()
	for _, f := range fieldsOf(typ) {
		p, ok := s.Properties.Get(f.name)
		if !ok {
			t.Fatalf("no property %s of %v", f.name, typ)
		}
		if p.Description == "" && p.Ref == "" {
			t.Errorf("%v.%s has no description", typ, f.name)
		}
		if f.rules.whole {
			p.Pattern, p.MinLength = "^(auto|none|[0-9]{1,5}(x[0-9]{1,5})?)$", nil
			description := p.Description
			p.Description = ""
			number := &jsonschema.Schema{Type: "integer", Minimum: "0", Maximum: "65536"}
			s.Properties.Set(f.name, &jsonschema.Schema{
				Description: description,
				AnyOf:       []*jsonschema.Schema{p, number},
			})
		}
		if p.Type != "array" {
			continue
		}
		item := p.Items
		p.UniqueItems = f.rules.unique
		if item.Type == "number" || item.Type == "integer" {
			item.Minimum, item.Maximum = bound(f.rules.min), bound(f.rules.max)
			item.ExclusiveMinimum = bound(f.rules.above)
			p.Minimum, p.Maximum, p.ExclusiveMinimum = "", "", ""
		}
		if item.Type == "string" && f.rules.minLength > 0 {
			n := uint64(f.rules.minLength)
			item.MinLength, p.MinLength = &n, nil
		}
		if f.rules.single {
			description := p.Description
			p.Description = ""
			s.Properties.Set(f.name, &jsonschema.Schema{Description: description, AnyOf: []*jsonschema.Schema{item, p}})
		}
	}
}

func bound(l limit) json.Number {
	if !l.set {
		return ""
	}
	b, err := json.Marshal(l.at)
	if err != nil {
		panic(err)
	}
	return json.Number(b)
}

func compile(t *testing.T) *validator.Schema {
	t.Helper()
	doc, err := validator.UnmarshalJSON(bytes.NewReader(Schema()))
	if err != nil {
		t.Fatal(err)
	}
	c := validator.NewCompiler()
	if err := c.AddResource(schemaFile, doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// valid asks the schema about a YAML text.
func valid(t *testing.T, s *validator.Schema, text string) error {
	t.Helper()
	b, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		return err
	}
	v, err := validator.UnmarshalJSON(bytes.NewReader(b))
	if err != nil {
		return err
	}
	return s.Validate(v)
}

// TestSchemaAgrees asks the schema and ParseStudy about the same studies, good and bad.
func TestSchemaAgrees(t *testing.T) {
	s := compile(t)
	for _, c := range changes(false) {
		text := c.apply(t)
		err := valid(t, s, text)
		if (err == nil) != (c.want == "") {
			t.Errorf("%s: ParseStudy says %q, the schema %v", c.name, c.want, err)
		}
	}
	for _, text := range []string{good, few} {
		if err := valid(t, s, text); err != nil {
			t.Error(err)
		}
	}
	// What the schema cannot say, it must at least let pass where ParseStudy does.
	for _, c := range changes(true) {
		if c.want == "" {
			if err := valid(t, s, c.apply(t)); err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
		}
	}
}

// TestSchemaRules shows that every enumeration and every limit in a tag has reached the schema.
func TestSchemaRules(t *testing.T) {
	text := string(Schema())
	var look func(typ reflect.Type)
	n := 0
	look = func(typ reflect.Type) {
		for _, f := range fieldsOf(typ) {
			for _, e := range f.rules.enum {
				n++
				if !strings.Contains(text, `"`+e+`"`) && e != "1" {
					t.Errorf("%v.%s: the schema does not know %q", typ, f.name, e)
				}
			}
			ft := typ.Field(f.index).Type
			for ft.Kind() == reflect.Slice {
				ft = ft.Elem()
			}
			if ft.Kind() == reflect.Struct {
				look(ft)
			}
		}
	}
	look(reflect.TypeFor[Study]())
	if n < 40 {
		t.Errorf("only %d permitted values", n)
	}
	if c := strings.Count(text, `"additionalProperties": false`); c != 35 {
		t.Errorf("%d of 35 mappings refuse unknown keys", c)
	}
}
