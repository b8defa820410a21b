package identify_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"nero/identify"
	"nero/run/job"
	"nero/symmetry/group/catalog"

	"pgregory.net/rapid"
)

// problems are described by those who know them, with the groups that the literature gives each.
var problems = []struct {
	name       string
	answers    identify.Answers
	claims     []string
	hypotheses []string
	not        []string // parts of what is known to be no symmetry
	warn       string
}{
	{
		name: "photos, nothing known but mirrors",
		answers: identify.Answers{
			"data": "picture", "answer": "class", "turn": "unknown", "mirror": "yes?", "shift": "no", "scale": "no",
			"light": "no", "moves": "stays", "exceptions": "unknown",
		},
		claims: []string{"D1"}, hypotheses: []string{"D4"}, not: []string{"other places"}, warn: "writing",
	},
	{
		name: "photos from above",
		answers: identify.Answers{
			"data": "picture", "answer": "class", "turn": "quarter", "mirror": "yes", "shift": "no", "scale": "no",
			"light": "no", "moves": "stays", "exceptions": "none",
		},
		claims: []string{"D4"},
	},
	{
		name: "digits",
		answers: identify.Answers{
			"data": "picture", "answer": "class", "turn": "any", "range": "all", "mirror": "no", "shift": "no",
			"scale": "no", "light": "no", "moves": "stays", "exceptions": "turned", "size": "28x28",
		},
		claims: []string{}, hypotheses: []string{"SO(2)"}, not: []string{"half a turn", "mirror"},
		warn: "labels survive",
	},
	{
		name: "digits, a little",
		answers: identify.Answers{
			"data": "picture", "answer": "class", "turn": "any", "range": "25", "mirror": "no", "shift": "no",
			"scale": "no", "light": "no", "exceptions": "turned",
		},
		claims: []string{"SO(2)"}, not: []string{"half a turn"},
	},
	{
		name: "cells under a microscope",
		answers: identify.Answers{
			"data": "picture", "answer": "mask", "turn": "any", "range": "all", "mirror": "yes", "shift": "any",
			"scale": "no", "light": "light", "exceptions": "none",
		},
		claims: []string{"E(2)", "Brightness", "Contrast"}, not: []string{"another size", "colors"},
	},
	{
		name: "tissue on a grid",
		answers: identify.Answers{
			"data": "picture", "answer": "mask", "turn": "quarter", "mirror": "yes", "shift": "whole", "scale": "no",
			"light": "colors", "exceptions": "none", "size": "64x64",
		},
		claims: []string{"p4m", "Brightness", "Contrast", "Hue"},
	},
	{
		name: "detection in street scenes",
		answers: identify.Answers{
			"data": "picture", "answer": "boxes", "turn": "no", "mirror": "yes", "shift": "whole", "scale": "yes",
			"light": "no", "exceptions": "none",
		},
		claims: []string{"D1 x Scale", "T(2,Z)"}, not: []string{"turns"},
	},
	{
		name: "periodic texture",
		answers: identify.Answers{
			"data": "picture", "answer": "number", "turn": "no", "mirror": "no", "shift": "cyclic", "scale": "no",
			"light": "no", "exceptions": "none", "size": "32x48",
		},
		claims: []string{"Roll(32,48)"},
	},
	{
		name: "particle image velocimetry",
		answers: identify.Answers{
			"data": "flow", "answer": "vectors", "turn": "quarter", "mirror": "yes", "shift": "no", "scale": "no",
			"backwards": "yes", "moves": "along", "exceptions": "none",
		},
		claims: []string{"D4 x Time"},
	},
	{
		name: "video of traffic",
		answers: identify.Answers{
			"data": "video", "answer": "class", "turn": "no", "mirror": "yes", "shift": "no", "scale": "no",
			"start": "any", "backwards": "no", "light": "no", "moves": "stays", "exceptions": "none",
		},
		claims: []string{"D1 x T(1,Z)"}, not: []string{"backwards"},
	},
	{
		name: "energy of molecules",
		answers: identify.Answers{
			"data": "molecule", "answer": "number", "turn": "any", "mirror": "yes", "shift": "any", "scale": "no",
			"order": "no", "conserved": "both", "moves": "stays", "exceptions": "none",
		},
		claims: []string{"E(3) x S"},
	},
	{
		name: "a property of the hand of a molecule",
		answers: identify.Answers{
			"data": "molecule", "answer": "number", "turn": "any", "mirror": "no", "shift": "any", "scale": "no",
			"order": "no", "moves": "stays", "exceptions": "mirrored",
		},
		claims: []string{"SE(3) x S"}, not: []string{"mirror images"},
	},
	{
		name: "a molecule, told by its conservation laws alone",
		answers: identify.Answers{
			"data": "molecule", "answer": "vectors", "turn": "unknown", "mirror": "unknown", "shift": "unknown",
			"scale": "no", "order": "no", "conserved": "both", "moves": "along", "exceptions": "none",
		},
		claims: []string{"SE(3) x S"}, hypotheses: []string{"E(3)"},
	},
	{
		name: "forces under gravity",
		answers: identify.Answers{
			"data": "points", "answer": "vectors", "turn": "axis", "mirror": "no", "shift": "any", "scale": "no",
			"order": "no", "moves": "along", "exceptions": "none",
		},
		claims: []string{"SEg(3) x S"}, not: []string{"tip the sample over"},
	},
	{
		name: "furniture",
		answers: identify.Answers{
			"data": "points", "answer": "class", "turn": "axis", "mirror": "yes", "shift": "no", "scale": "yes",
			"order": "no", "moves": "stays", "exceptions": "none",
		},
		claims: []string{"Og(3) x Scale(3) x S"},
	},
	{
		name: "a crystal on its lattice",
		answers: identify.Answers{
			"data": "molecule", "answer": "number", "turn": "quarter", "mirror": "yes", "shift": "cyclic",
			"scale": "no",
			"order": "no", "moves": "stays", "exceptions": "none",
		},
		claims: []string{"Oh x S", "T(3)"}, warn: "cell",
	},
	{
		name: "a scan of the head",
		answers: identify.Answers{
			"data": "volume", "answer": "mask", "turn": "no", "mirror": "no", "shift": "whole", "scale": "no",
			"moves": "along", "exceptions": "mirrored",
		},
		claims: []string{"T(3,Z)"}, not: []string{"mirror images"},
	},
	{
		name: "a scan of a material",
		answers: identify.Answers{
			"data": "volume", "answer": "class", "turn": "quarter", "mirror": "yes", "shift": "no", "scale": "no",
			"moves": "stays", "exceptions": "none",
		},
		claims: []string{"Oh"},
	},
	{
		name: "audio tagging",
		answers: identify.Answers{
			"data": "signal", "answer": "class", "start": "any", "backwards": "no",
			"moves": "stays",
		},
		claims: []string{"T(1,Z)"}, not: []string{"backwards"},
	},
	{
		name: "vibration of a machine",
		answers: identify.Answers{
			"data": "signal", "answer": "number", "start": "any", "backwards": "yes",
			"moves": "stays",
		},
		claims: []string{"E(1,Z)"},
	},
	{
		name: "one turn of a shaft",
		answers: identify.Answers{
			"data": "signal", "answer": "class", "start": "cyclic", "backwards": "no", "moves": "stays", "size": "360",
		},
		claims: []string{"Roll(360)"},
	},
	{
		name:    "a graph",
		answers: identify.Answers{"data": "graph", "answer": "items", "order": "no", "moves": "along"},
		claims:  []string{"S"},
	},
	{
		name:    "a set",
		answers: identify.Answers{"data": "set", "answer": "class", "order": "no?", "moves": "stays"},
		claims:  []string{"S"},
	},
	{
		name:    "a list whose order may matter",
		answers: identify.Answers{"data": "set", "answer": "class", "moves": "stays"},
		claims:  []string{}, hypotheses: []string{"S"},
	},
	{
		name:    "a collision of particles",
		answers: identify.Answers{"data": "numbers", "answer": "number", "conserved": "interval", "moves": "stays"},
		claims:  []string{"Lorentz"}, warn: "window",
	},
	{
		name:    "a table",
		answers: identify.Answers{"data": "numbers", "answer": "class", "conserved": "nothing"},
		claims:  []string{},
	},
	{
		name:    "text",
		answers: identify.Answers{"data": "text", "answer": "class"},
		claims:  []string{}, warn: "nero discover",
	},
	{
		name:    "nothing known of a picture",
		answers: identify.Answers{"data": "picture"},
		claims:  []string{}, hypotheses: []string{"C4", "D4", "T(2,Z)", "Scale", "Brightness"},
	},
}

func TestProblems(t *testing.T) {
	for _, p := range problems {
		t.Run(p.name, func(t *testing.T) {
			r, err := identify.Conclude(p.answers, identify.Options{Seed: 7})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(r.Claims, p.claims) {
				t.Errorf("claims %q, want %q", r.Claims, p.claims)
			}
			if !slices.Equal(r.Hypotheses, p.hypotheses) {
				t.Errorf("hypotheses %q, want %q", r.Hypotheses, p.hypotheses)
			}
			for _, n := range p.not {
				if !slices.ContainsFunc(r.Not, func(x identify.Not) bool { return strings.Contains(x.What, n) }) {
					t.Errorf("nothing says that %q is no symmetry: %v", n, r.Not)
				}
			}
			if !slices.ContainsFunc(r.Warnings, func(w identify.Warning) bool {
				return strings.Contains(w.Text,
					p.warn)
			}) &&
				p.warn != "" {
				t.Errorf("no warning of %q: %v", p.warn, r.Warnings)
			}
			wantGood(t, r)
		})
	}
}

// wantGood holds a result to what is true of all: groups that the program knows, studies that it reads, and the same
// bytes from the answers that it writes.
func wantGood(t interface {
	Helper()
	Errorf(string, ...any)
	Fatalf(string, ...any)
}, r *identify.Result,
) {
	t.Helper()
	for _, s := range r.Studies {
		study, err := job.ParseStudy(s.File, []byte(s.Text))
		if err != nil {
			t.Errorf("%s:\n%s\n%v", s.File, s.Text, err)
			continue
		}
		name := study.Group.Name
		if strings.HasSuffix(name, identify.AnyOrder) { // of as many rows as a sample has, which a run counts
			name += "(4)"
		}
		if g, err := catalog.Parse(name); err != nil || g.Name() != name {
			t.Errorf("%s: group %q: %v", s.File, study.Group.Name, err)
		}
	}
	if len(r.Studies) != len(r.Claims)+len(r.Hypotheses) {
		t.Errorf("%d studies of %d claims and %d hypotheses", len(r.Studies), len(r.Claims), len(r.Hypotheses))
	}
	again, err := identify.Parse("answers.yaml", r.Answers.Write())
	if err != nil {
		t.Fatalf("the answers that were written: %v", err)
	}
	second, err := identify.Conclude(again, identify.Options{Seed: 7})
	if err != nil {
		t.Fatalf("%v", err)
	}
	a, _ := json.Marshal(r)
	b, _ := json.Marshal(second)
	if !bytes.Equal(a, b) {
		t.Errorf("the answers say something else when they are read again:\n%s\n%s", a, b)
	}
}

// TestAnyAnswers: whatever is answered, the studies can be read, and nobody is asked more than fourteen questions.
func TestAnyAnswers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := identify.Answers{}
		asked := 0
		for _, q := range identify.Questions() {
			if !q.Arises(a) {
				continue
			}
			asked++
			words := []string{"45", "all", "28x28", "16"}
			if q.Form == "" {
				words = nil
				for _, c := range q.Choices {
					words = append(words, c.Name)
				}
			}
			text := rapid.SampledFrom(words).Draw(t, q.ID)
			if rapid.Bool().Draw(t, "guess") && !q.Surely {
				text += "?"
			}
			v, err := q.Take(text)
			if err != nil {
				if q.Form == "" {
					t.Fatalf("%s does not take its own choice %q: %v", q.ID, text, err)
				}
				continue
			}
			a[q.ID] = v
		}
		if asked > identify.MaxAsked {
			t.Fatalf("%d questions: %v", asked, a)
		}
		r, err := identify.Conclude(a, identify.Options{Seed: 7})
		if err != nil {
			t.Fatal(err)
		}
		wantGood(t, r)
	})
}

// TestCommutators: quarter turns commute with magnifications and not with shifts or mirrors, by their maps.
func TestCommutators(t *testing.T) {
	r, err := identify.Conclude(identify.Answers{
		"data": "picture", "answer": "boxes", "turn": "half", "mirror": "no", "shift": "whole", "scale": "yes",
	}, identify.Options{Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]bool{"C2 T(2,Z)": false, "C2 Scale": true, "T(2,Z) Scale": false}
	got := map[string]bool{}
	for _, p := range r.Pairs {
		got[p.A+" "+p.B] = p.Commute
		if p.Commute == (p.Apart > 1e-9) {
			t.Errorf("%v", p)
		}
	}
	if !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if want := []string{"C2 x Scale", "T(2,Z)"}; !slices.Equal(r.Claims, want) {
		t.Errorf("%q, want %q", r.Claims, want)
	}
}

// TestProperties holds what is said of groups to what is known of them.
func TestProperties(t *testing.T) {
	for _, x := range []struct {
		answers identify.Answers
		want    identify.Properties
	}{
		{
			identify.Answers{"data": "picture", "turn": "quarter", "mirror": "yes"},
			identify.Properties{Group: "D4", Order: 8, Compact: true},
		},
		{
			identify.Answers{"data": "picture", "turn": "any", "mirror": "no"},
			identify.Properties{Group: "SO(2)", Dimension: 1, Compact: true, Abelian: true, Connected: true},
		},
		{
			identify.Answers{"data": "picture", "turn": "any", "mirror": "yes"},
			identify.Properties{Group: "O(2)", Dimension: 1, Compact: true},
		},
		{
			identify.Answers{"data": "volume", "turn": "any", "mirror": "no"},
			identify.Properties{Group: "SO(3)", Dimension: 3, Compact: true, Connected: true},
		},
		{
			identify.Answers{"data": "points", "turn": "any", "mirror": "no", "shift": "any", "order": "yes"},
			identify.Properties{Group: "SE(3)", Dimension: 6, Connected: true},
		},
		{
			identify.Answers{"data": "picture", "turn": "no", "mirror": "no", "shift": "any"},
			identify.Properties{Group: "T(2)", Dimension: 2, Abelian: true, Connected: true},
		},
		{
			identify.Answers{"data": "numbers", "conserved": "interval"},
			identify.Properties{Group: "Lorentz", Dimension: 6, Connected: true},
		},
	} {
		r, err := identify.Conclude(x.answers, identify.Options{Seed: 7})
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Claims) == 0 || r.Properties[0] != x.want {
			t.Errorf("%+v, want %+v", r.Properties, x.want)
		}
	}
}

func TestBadAnswers(t *testing.T) {
	for _, x := range []struct{ text, want string }{
		{"turn: any\n", "data: not said, and everything else depends on it; want one of picture, video,"},
		{"data: picture\nturns: any\n", "turns: no such question; did you mean turn?"},
		{"data: picture\nturn: sideways\n", `turn: "sideways": want one of any, quarter,`},
		{"data: picture?\n", "this one has to be known"},
		{"data: picture\nrange: 270\n", "want degrees from 0 to 180"},
		{"data: picture\nrange: nan\n", "want degrees from 0 to 180"},
		{"data: picture\nsize: 28 by 28\n", "want HEIGHTxWIDTH"},
		{"data: picture\nsize: [28, 28]\n", "size: want one word"},
		{"- data\n", "a.yaml: "},
		{strings.Repeat("#", 1<<17), "is it a file of answers?"},
	} {
		_, err := identify.Parse("a.yaml", []byte(x.text))
		if err == nil || !strings.Contains(err.Error(), x.want) || !strings.HasPrefix(err.Error(), "a.yaml: ") {
			t.Errorf("%.40q: %v, want %q", x.text, err, x.want)
		}
	}
}

// TestBlank: what is printed to be filled in can be read once it says what a sample is.
func TestBlank(t *testing.T) {
	text := strings.Replace(string(identify.Blank()), "\ndata: unknown", "\ndata: picture", 1)
	if _, err := identify.Parse("blank.yaml", []byte(text)); err != nil {
		t.Fatal(err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(identify.Blank())
	f.Add([]byte("data: picture\nturn: any?\nmirror: yes\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		a, err := identify.Parse("f", text)
		if err != nil {
			return
		}
		r, err := identify.Conclude(a, identify.Options{})
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		var out bytes.Buffer
		if err := r.WriteText(&out); err != nil {
			t.Fatal(err)
		}
	})
}
