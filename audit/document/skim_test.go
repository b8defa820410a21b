package document_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"os"
	"strings"
	"testing"

	"nero/audit/document"
	"nero/internal/seal"
)

// people are what [document.Skim] leaves out, taken out of an audit by hand.
func people(a *document.Audit) {
	for i := range a.Models {
		m := &a.Models[i]
		m.Gist, m.Answers, m.Outside, m.Questions, m.Diagnoses, m.Advice = nil, nil, nil, nil, nil, nil
		m.WorstCases, m.Certificate, m.Caveats, m.Gallery, m.Anomalies, m.FollowUps = nil, nil, nil, nil, nil, nil
		for k := range m.Checks {
			c := &m.Checks[k]
			c.Doc, c.Exhibits, c.Clues = "", nil, nil
			for j := range c.Sets {
				c.Sets[j].Steps = nil
			}
		}
	}
}

// What is skimmed is what is read, without what is there for people.
func TestSkim(t *testing.T) {
	for _, name := range []string{old} {
		a, err := document.Read(name, read(t, name))
		if err != nil {
			t.Fatal(err)
		}
		// Infinities in both parts, and texts that look like the form of the file.
		set := a.Models[0].Sets()[0]
		set.Rounding = document.Number(math.Inf(1))
		a.Models[0].Checks[0].Exhibits = append(a.Models[0].Checks[0].Exhibits, document.Exhibit{
			Name: `"exhibits": [{"`, Title: `\"}]}`, Table: &document.Table{
				Columns: []document.Column{{Name: "clues"}}, Rows: [][]document.Cell{{{Number: true, Value: -1}}},
			},
		})
		a.Models[0].Model = `m", "gallery": [`
		var b bytes.Buffer
		if err := document.Write(&b, a); err != nil {
			t.Fatal(err)
		}
		want, err := document.Read(name, b.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		people(want)
		got, err := document.Skim(name, b.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		x, y := marshal(t, got), marshal(t, want)
		if !bytes.Equal(x, y) {
			t.Errorf("%s: %d bytes, want %d", name, len(x), len(y))
		}
		if !math.IsInf(float64(got.Models[0].Sets()[0].Rounding), 1) {
			t.Errorf("%s: an infinity is lost", name)
		}
		// Damage anywhere is seen, also in what is not looked at.
		damaged := bytes.Replace(b.Bytes(), []byte("clues"), []byte("clueS"), 1)
		if _, err := document.Skim(name, damaged); !errors.Is(err, seal.ErrBroken) {
			t.Errorf("%s: damaged: %v", name, err)
		}
		plain, _, err := seal.Open(b.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := document.Skim(name, bytes.Replace(plain, []byte(`"exhibits": [`), []byte(`"exhibits": 7, "x": [`),
			1)); err == nil || !strings.Contains(err.Error(), "of another kind than expected") {
			t.Errorf("%s: without a seal and damaged: %v", name, err)
		}
	}
}

func marshal(t *testing.T, a *document.Audit) []byte {
	t.Helper()
	b, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func BenchmarkSkim(b *testing.B) {
	raw, err := os.ReadFile(old)
	if err != nil {
		b.Fatal(err)
	}
	a, err := document.Read(old, raw)
	if err != nil {
		b.Fatal(err)
	}
	var text bytes.Buffer
	if err := document.Write(&text, a); err != nil {
		b.Fatal(err)
	}
	for name, read := range map[string]func(string, []byte) (*document.Audit, error){
		"whole": document.Read, "skim": document.Skim,
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(text.Len()))
			for b.Loop() {
				if _, err := read(old, text.Bytes()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
