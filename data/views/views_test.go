package views

import (
	"reflect"
	"strings"
	"testing"
)

const table = `object,view,value,label
1,plain,"What is the capital of France?",Paris
1,polite,"Please, what is the capital
of France?",Paris
2,plain,"Say ""yes""",
`

const lines = `{"object": 1, "views": {"plain": "What is the capital of France?", "polite": "Please, what is the capital\nof France?"}, "label": "Paris"}

{"object": "2", "views": {"plain": "Say \"yes\""}, "label": null}
`

func TestBothFormsSayTheSame(t *testing.T) {
	a, err := Read("views.csv", []byte("\ufeff"+table))
	if err != nil {
		t.Fatal(err)
	}
	b, err := Read("VIEWS.JSONL", []byte(lines))
	if err != nil {
		t.Fatal(err)
	}
	if a.Objects[0].Views["polite"].Line != 3 || b.Objects[1].Views["plain"].Line != 3 {
		t.Errorf("lines %d and %d, want 3", a.Objects[0].Views["polite"].Line, b.Objects[1].Views["plain"].Line)
	}
	for _, s := range []*Set{a, b} {
		for _, o := range s.Objects {
			for name, in := range o.Views {
				in.Line = 0
				o.Views[name] = in
			}
		}
	}
	want := &Set{Views: []string{"plain", "polite"}, Objects: []*Object{
		{Name: "1", Label: "Paris", Labelled: true, Views: map[string]Input{
			"plain":  {Text: "What is the capital of France?"},
			"polite": {Text: "Please, what is the capital\nof France?"},
		}},
		{Name: "2", Views: map[string]Input{"plain": {Text: `Say "yes"`}}},
	}}
	if !reflect.DeepEqual(a, want) || !reflect.DeepEqual(b, want) {
		t.Errorf("%+v\n%+v", a, b)
	}
	f, err := Read("v.csv", []byte("file,object,view\na/b.png,x,left\na/c.png,x,right\n"))
	if err != nil || f.Objects[0].Views["right"].File != "a/c.png" {
		t.Errorf("%+v, %v", f, err)
	}
	g, err := Read("v.ndjson", []byte(`{"object": "x", "views": {"left": {"file": "a/b.png"}}, "environment": "e"}`))
	if err != nil || g.Objects[0].Environment != "e" || g.Objects[0].Views["left"].File != "a/b.png" {
		t.Errorf("%+v, %v", g, err)
	}
}

func TestRefusals(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"v.txt", "", "v.txt: a list of views ends in .csv, .jsonl, .ndjson"},
		{"v.csv", "", "v.csv:1: an empty file"},
		{"v.csv", "object,view,value\n", "v.csv: no object"},
		{"v.csv", "object,view\n1,a\n", `v.csv:1: the head is "object,view"; want the columns`},
		{"v.csv", "object,view,value,file\n", "v.csv:1: the head is"},
		{"v.csv", "object,view,value,view\n", `v.csv:1: the column "view" a second time`},
		{"v.csv", "object,view,text\n", `v.csv:1: the column "text"; want the columns`},
		{"v.csv", "object,view,value\n1,a,b,c\n", "v.csv:2: 4 fields, and the head has 3"},
		{"v.csv", "object,view,value\n1,a,b \"c\"\n", "v.csv:2: bare \" in non-quoted"},
		{"v.csv", "object,view,value\n,a,b\n", "v.csv:2: an object without a name"},
		{"v.csv", "object,view,value\n1,,b\n", `v.csv:2: a view of "1" without a name`},
		{"v.csv", "object,view,value\n1, ,b\n", `v.csv:2: a view of "1" without a name`},
		{"v.csv", "object,view,value\n \t,a,b\n", "v.csv:2: an object without a name"},
		{"v.csv", "object,view,value\n1,a,b\n2,a,c\n1,a,d\n", `v.csv:4: the view "a" of "1" a second time, the first ` +
			"stands on line 2"},
		{"v.csv", "object,view,value,label\n1,a,b,x\n1,b,c,y\n", `v.csv:3: "1" has the label "y" here and "x" on line 2`},
		{"v.csv", "object,view,value,environment\n1,a,b,\n", `v.csv:2: "1" has no environment; give one to every object`},
		{"v.csv", "object,view,value,environment\n1,a,b,x\n1,b,b,y\n", `v.csv:3: "1" is from "y" here and from "x" above`},
		{
			"v.jsonl", `{"object": 1, "views": {"a": "b"}}` + "\n" + `{"object": 2, "views": {"a": "b"}, "environment": "x"}`,
			`v.jsonl:2: "2" has an environment and "1" has none`,
		},
		{
			"v.jsonl", `{"object": 1, "views": {"a": "b"}, "environment": "x"}` + "\n" + `{"object": 2, "views": {"a": "b"}}`,
			`v.jsonl:2: "2" has no environment`,
		},
		{"v.csv", "object,view,file\n1,a,\n", "v.csv:2: a view without a file"},
		{"v.csv", "object,view,file\n1,a,../b\n", `v.csv:2: the file "../b": want a path below`},
		{"v.csv", "object,view,file\n1,a,/b\n", `the file "/b"`},
		{"v.csv", "object,view,file\n1,a,c:/b\n", `the file "c:/b"`},
		{"v.csv", "object,view,value\n1,a,\xff\n", "v.csv:2: bytes that are no UTF-8"},
		{"v.jsonl", "\n[]\n", `v.jsonl:2: the line is a JSON array; want {"object": "name"`},
		{"v.jsonl", `"x"`, `v.jsonl:1: the line is a JSON string; want {"object": "name"`},
		{"v.jsonl", `{"object": 1, "environment": 3}`, `v.jsonl:1: environment is a JSON number; want {"object"`},
		{"v.jsonl", `{"object": 1, "views": 3}`, "v.jsonl:1: views is no object; want"},
		{"v.jsonl", `{"object": 1`, "v.jsonl:1: unexpected EOF; want"},
		{"v.jsonl", `{"object": "1", "views": {"a": "\ud800", "b": "\udc01"}}`, `v.jsonl:1: an escape such as \ud800`},
		{"v.jsonl", `{"views": {"a": "b"}}`, "v.jsonl:1: no name of the object"},
		{"v.jsonl", `{"object": "1", "views": {}}`, `v.jsonl:1: "1" has no views`},
		{"v.jsonl", `{"object": "1", "views": ["a"]}`, "v.jsonl:1: views is no object"},
		{"v.jsonl", `{"object": "1", "views": {"a": 2}}`, `v.jsonl:1: the view "a" of "1" is "2"; want a text`},
		{"v.jsonl", `{"object": "1", "views": {"a": "x", "a": "y"}}`, `the view "a" of "1" a second time`},
		{"v.jsonl", `{"object": "1", "views": {"a": "x"}, "lable": "y"}`, `unknown field "lable"`},
		{"v.jsonl", `{"object": "1", "views": {"a": "x"}, "label": [1]}`, `the label of "1" is "[1]"`},
		{"v.jsonl", `{"object": "1", "views": {"a": "x"}} {}`, "v.jsonl:1: more behind the object"},
		{
			"v.jsonl", `{"object": "1", "views": {"a": "x"}}` + "\n" + `{"object": "1", "views": {"b": "x"}}`,
			`v.jsonl:2: "1" a second time`,
		},
	} {
		if s, err := Read(c.name, []byte(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q gives %+v, %v; want %q", c.text, s, err, c.want)
		}
	}
}

// Whatever is read has a name and a view for every object, and every view is among those of the set.
func FuzzRead(f *testing.F) {
	f.Add(true, []byte(table))
	f.Add(false, []byte(lines))
	f.Fuzz(func(t *testing.T, comma bool, b []byte) {
		name := "v.jsonl"
		if comma {
			name = "v.csv"
		}
		s, err := Read(name, b)
		if err != nil {
			if !strings.HasPrefix(err.Error(), name+":") {
				t.Fatalf("%v names no file", err)
			}
			return
		}
		seen := map[string]bool{}
		for _, o := range s.Objects {
			if o.Name == "" || len(o.Views) == 0 {
				t.Fatalf("%+v", o)
			}
			for v, in := range o.Views {
				seen[v] = true
				if in.Line < 1 || in.File != "" && in.Text != "" {
					t.Fatalf("%+v", in)
				}
			}
		}
		if len(seen) != len(s.Views) {
			t.Fatalf("%v and %v", seen, s.Views)
		}
	})
}
