package mutation

import (
	"fmt"
	"testing"

	"nero/audit"
	"nero/data/space"
	"nero/model/oracle"
)

// The bases are what they claim to be, before anything is planted: no element of their group changes an answer by more
// than rounding, in float64.
func TestBasesAreExact(t *testing.T) {
	for _, m := range All() {
		if !m.Clean() || m.plant.offset != 0 {
			continue
		}
		for _, b := range Bases() {
			if b.Name != m.Base {
				continue
			}
			o, err := open(b, m.plant, m.claim, double(b), nil)
			if err != nil {
				t.Fatalf("%s: %v", m.Base, err)
			}
			worst := defect(t, o.subject)
			limit := 1e-12
			switch b.Name {
			case "shape":
				limit = 1e-7 // its constants are roots of 3, 5 and 15 in float32
			case "steps":
				limit = 1e-5 // it runs in float32
			}
			if !(worst < limit) {
				t.Errorf("%s under %s: relative error %g in float64", m.Base, m.Group, worst)
			}
			o.close()
		}
	}
}

// Every plant breaks what it is planted in, in float64, unless it is about the arithmetic, the batch, chance, jumps or
// what the forces are the gradient of.
func TestPlantsBreak(t *testing.T) {
	for _, m := range All() {
		p := m.plant
		if m.Clean() || p.half || p.training || p.dropout || p.dead || p.leak || p.nan || p.ripple || p.cutoff > 0 ||
			p.head > 0 {
			continue
		}
		for _, b := range Bases() {
			if b.Name != m.Base {
				continue
			}
			o, err := open(b, p, m.claim, double(b), nil)
			if err != nil {
				t.Fatalf("%s, %s: %v", m.Name, m.Base, err)
			}
			if worst := defect(t, o.subject); !(worst > 2e-4) {
				t.Errorf("%s in %s under %s: relative error only %g", m.Name, m.Base, m.Group, worst)
			}
			o.close()
		}
	}
}

// The root is negative at a few elements of some inputs and at the identity of hardly any.
func TestRoots(t *testing.T) {
	for _, m := range All() {
		if !m.plant.nan {
			continue
		}
		for _, b := range Bases() {
			if b.Name != m.Base {
				continue
			}
			o, err := open(b, m.plant, m.claim, double(b), nil)
			if err != nil {
				t.Fatal(err)
			}
			pairs, bad := 0, 0
			for i := range inputs {
				x, err := o.subject.Sample(i)
				if err != nil {
					t.Fatal(err)
				}
				for _, e := range o.subject.Plan.Elements {
					gx, err := o.subject.Plan.In.Apply(e, x.Value)
					if err != nil {
						t.Fatal(err)
					}
					y, err := o.subject.Reference.Predict(t.Context(), []space.Value{gx})
					if err != nil {
						t.Fatal(err)
					}
					ok := space.Finite(y[0])
					if pairs++; !ok {
						bad++
					}
				}
			}
			if bad == 0 || bad > pairs/5 {
				t.Errorf("%s: %d of %d answers are not finite", m.Base, bad, pairs)
			}
			o.close()
		}
	}
}

// double is where a base computes in float64, inside of it. A recurrent one has no inside and runs on an engine, in
// float32.
func double(b Base) Body {
	if b.world != nil && b.world.steps != nil {
		return Body{Name: "float32", Engine: single{oracle.Engine(oracle.Options{Round: oracle.Float32})}}
	}
	return Body{Name: "none", Engine: none{}}
}

func TestJudge(t *testing.T) {
	m := Mutation{Causes: []string{"kernel"}, At: []string{"conv2"}}
	r := &audit.Report{
		Verdict:   audit.Failed,
		Diagnoses: []audit.Diagnosis{{ID: "kernel", Location: "conv2", Confidence: 0.9}, {ID: "grows"}},
	}
	if s := m.Judge(r); !s.Found || !s.Right || !s.Place || len(s.Rest) != 1 {
		t.Errorf("%+v", s)
	}
	r.Diagnoses[0].Location = "conv1"
	if s := m.Judge(r); !s.Right || s.Place {
		t.Errorf("another place: %+v", s)
	}
	r.Diagnoses[0].ID = "rounding"
	if s := m.Judge(r); s.Right || s.Place {
		t.Errorf("another cause: %+v", s)
	}
	clean := Mutation{}
	if s := clean.Judge(r); s.Right {
		t.Errorf("a false alarm is right: %+v", s)
	}
	if s := clean.Judge(&audit.Report{Verdict: audit.Passed}); !s.Right || s.Found {
		t.Errorf("silence is wrong: %+v", s)
	}
	if s := m.Judge(&audit.Report{Verdict: audit.Passed}); s.Found || s.Right {
		t.Errorf("a miss is right: %+v", s)
	}
}

// A few breaks of points in space, sets and signals are found and named, and clean models leave the audit silent,
// without any engine. The rest is behind the tag slow.
func TestSomeAudits(t *testing.T) {
	body := Body{Name: "float32", Engine: single{oracle.Engine(oracle.Options{Round: oracle.Float32})}}
	seen := map[string]bool{}
	for _, m := range All() {
		p := m.plant
		if p.height == 0.3 && m.Group == "SO(3)" || p.head == 0.05 || p.keep == 0.33 || p.running || m.Clean() &&
			(m.Base == "bag" || m.Base == "steps") {
			seen[m.Base+" "+m.Name] = true
			r, err := m.Audit(t.Context(), body, nil)
			if err != nil {
				t.Fatalf("%s, %s: %v", m.Name, m.Base, err)
			}
			if s := m.Judge(r); !s.Right || s.Found == m.Clean() {
				t.Errorf("%s, %s under %s: %s, %s at %s", m.Name, m.Base, m.Group, s.Verdict, named(s), s.Location)
			}
		}
	}
	if len(seen) != 6 {
		t.Errorf("audited %v, want 6", seen)
	}
}

// Every section of the page can be written without the others, and the page without its sections is what [Table] made.
func TestSections(t *testing.T) {
	const table, old = "# Page\n\nrows\n", "# Old\n"
	if got := Rest(Renew(table, old)); got != table {
		t.Errorf("%q became %q", table, got)
	}
	page := old
	for i, s := range Sections() {
		page = s.Put(page, fmt.Sprintf("first %d\n", i))
		page = s.Put(page, fmt.Sprintf("text %d\n", i))
	}
	page = Renew(table, page)
	if got := Rest(page); got != table {
		t.Errorf("without its sections the page is %q, want %q", got, table)
	}
	for i, s := range Sections() {
		if _, got := s.Take(page); got != fmt.Sprintf("text %d\n", i) {
			t.Errorf("section %d is %q", i, got)
		}
	}
}
