package document_test

import (
	"bytes"
	"errors"
	"math"
	"os"
	"reflect"
	"strings"
	"testing"

	"nero/audit/document"
	"nero/internal/seal"
)

// old is an audit that the program wrote before there was this package: one model that passes in part and one that
// fails, under rotations.
const old = "testdata/old.json"

func read(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// What an older program wrote is read, and written again with the same bytes, now under a seal.
func TestOld(t *testing.T) {
	b := read(t, old)
	a, err := document.Read(old, b)
	if err != nil {
		t.Fatal(err)
	}
	if len(a.Models) != 2 || a.Verdict != document.Failed || len(a.Models[0].Sets()) == 0 {
		t.Errorf("%d models, verdict %s", len(a.Models), a.Verdict)
	}
	var again bytes.Buffer
	if err := document.Write(&again, a); err != nil {
		t.Fatal(err)
	}
	if plain, sealed, err := seal.Open(again.Bytes()); err != nil || !sealed || !bytes.Equal(b, plain) {
		t.Error("it is written in other bytes")
	}
	for _, s := range a.Models[1].Sets() {
		if math.IsNaN(float64(s.Expected())) {
			t.Errorf("%s: the floor is not known", s.Name)
		}
	}
}

// Numbers that are not finite come back as what they were.
func TestInfinite(t *testing.T) {
	inf, nan := document.Number(math.Inf(1)), document.Number(math.NaN())
	minus := -inf
	a := &document.Audit{
		Format: document.Format, Verdict: document.Failed,
		Models: []document.Model{{
			Model: "m", Verdict: document.Failed,
			Checks: []document.Check{{
				Check: "c", Measures: []document.Evidence{{Name: "x", Value: nan, Lo: &minus, Limit: &inf}},
				Sets: []document.Set{{Name: "s", Detectable: inf}},
				Exhibits: []document.Exhibit{
					{
						Name: "t", Table: &document.Table{
							Columns: []document.Column{{Name: "a"}, {Name: "b"}},
							Rows:    [][]document.Cell{{{Text: "w"}, {Number: true, Value: math.Inf(-1)}}},
						},
					},
					{Name: "m", Map: &document.Map{Height: 1, Width: 2, Values: []document.Number{inf, 1}}},
				},
			}},
		}},
	}
	var b bytes.Buffer
	if err := document.Write(&b, a); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"models.0.checks.0.sets.0.detectable"`, `"-models.0.checks.0.measures.0.lo"`,
		`"-models.0.checks.0.exhibits.0.table.rows.0.1"`, `"models.0.checks.0.exhibits.1.map.values.0"`,
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %s in\n%s", want, b.String())
		}
	}
	got, err := document.Read("f", b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	c := &got.Models[0].Checks[0]
	if !math.IsNaN(float64(c.Measures[0].Value)) {
		t.Error("NaN has become a number")
	}
	c.Measures[0].Value, a.Models[0].Checks[0].Measures[0].Value = 0, 0
	if !reflect.DeepEqual(got.Models[0].Checks[0].Measures, a.Models[0].Checks[0].Measures) ||
		c.Sets[0].Detectable != inf || c.Exhibits[0].Table.Rows[0][1].Value != math.Inf(-1) ||
		c.Exhibits[1].Map.Values[0] != inf {
		t.Errorf("%+v", c)
	}
	plain, _, err := seal.Open(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	wrong := strings.Replace(string(plain), "sets.0.detectable", "sets.7.detectable", 1)
	if _, err := document.Read("f", []byte(wrong)); err == nil ||
		!strings.Contains(err.Error(), "there is no number at") {
		t.Errorf("an infinity that is nowhere: %v", err)
	}
}

// A changed audit is refused: one digit, and also where the change is in the key of the seal itself.
func TestSeal(t *testing.T) {
	a, err := document.Read(old, read(t, old))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := document.Write(&b, a); err != nil {
		t.Fatal(err)
	}
	if _, err := document.Read("f", b.Bytes()); err != nil {
		t.Fatal(err)
	}
	for _, c := range [][2]string{
		{`"sha256": "`, `"sha257": "`}, {`"verdict"`, `"Verdict"`}, {`"format": 1`, `"format": 2`}, {"0.9", "0.8"},
	} {
		at := strings.LastIndex(b.String(), c[0])
		wrong := b.String()[:at] + c[1] + b.String()[at+len(c[0]):]
		if _, err := document.Read("f", []byte(wrong)); err == nil || !strings.HasPrefix(err.Error(), "f: ") {
			t.Errorf("%s: %v", c[1], err)
		}
	}
}

// What is no audit is refused with the name of the file, the place and what was wanted.
func TestRead(t *testing.T) {
	whole := string(read(t, old))
	exhibit := func(s string) string {
		return `{"format":1,"verdict":"PASS","models":[{"model":"m","verdict":"PASS","checks":[{"check":"c","exhibits":[` + s + `]}]}]}`
	}
	for in, want := range map[string]string{
		"":                         "the file is empty",
		" \n":                      "the file is empty",
		"[]":                       "not the JSON of an audit",
		"{}":                       "neither a format nor models",
		`{"models":[]}`:            "no format",
		`{"format":0,"models":[]}`: "the first was 1",
		whole[:len(whole)/2]:       "it is cut off at line ",
		"{\n \"format\": x}":       "line 2, byte ",
		`{"format":1,"verdict":"MAYBE","models":[]}`:                                           `verdict "MAYBE" is none`,
		exhibit(`{"name":"e","map":{"height":2,"width":3,"values":[1]}}`):                      "a map of 2 x 3 has 1 numbers",
		exhibit(`{"name":"e","map":{"height":-1,"width":-1,"values":[1]}}`):                    "a map of -1 x -1",
		exhibit(`{"name":"e","table":{"columns":[{"name":"a"}],"rows":[[1,2]]}}`):              "row 1 has 2 cells for 1 columns",
		exhibit(`{"name":"e","curve":{"x":{},"y":{},"series":[{"name":"s","x":[1],"y":[]}]}}`): `series "s" has 1 places and 0 numbers`,
	} {
		_, err := document.Read("f.json", []byte(in))
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "f.json: ") ||
			!strings.Contains(err.Error(), "nero audit --format json") {
			t.Errorf("%.60q: %v, want %q in it", in, err, want)
		}
	}
	if _, err := document.Read("f.json", []byte(`{"format":2,"models":3}`)); !errors.Is(err, document.ErrNewer) ||
		!strings.Contains(err.Error(), "f.json: its format is 2, and this program reads up to 1") {
		t.Errorf("a newer form: %v", err)
	}
}

// Whatever is read can be written, and is then read as the same.
func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"format":1,"verdict":"PASS","models":[{"model":"m","verdict":"PASS","checks":[{"check":"c","sets":[{"name":"s"}]}]}]}`))
	f.Add([]byte(`{"format":1,"models":[{"model":"m","error":"x"}],"infinite":["models.0.claim.scale"]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		a, err := document.Read("f", b)
		if err != nil {
			return
		}
		var one, two bytes.Buffer
		if err := document.Write(&one, a); err != nil {
			t.Fatal(err)
		}
		again, err := document.Read("f", one.Bytes())
		if err != nil {
			t.Fatalf("%v\n%s", err, one.Bytes())
		}
		if err := document.Write(&two, again); err != nil || !bytes.Equal(one.Bytes(), two.Bytes()) {
			t.Fatalf("%v\n%s\n%s", err, one.Bytes(), two.Bytes())
		}
	})
}
