package audittest_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"nero/audit"
	"nero/audit/audittest"
	"nero/symmetry/action"
	"nero/symmetry/group/catalog"
)

// recorder is a TB that keeps what it is told.
type recorder struct{ said []string }

func (*recorder) Helper() {}

func (r *recorder) Errorf(format string, args ...any) {
	r.said = append(r.said, fmt.Sprintf(format, args...))
}

func (r *recorder) Fatalf(format string, args ...any) {
	r.said = append(r.said, fmt.Sprintf(format, args...))
	panic(r)
}

// kinds are what loud finds.
var kinds = map[string]*audit.Category{"a": {Name: "a"}, "b": {Name: "b"}, "empty": {Name: "empty"}}

// loud finds something whenever the model is named so.
var loud = &audit.Check{
	Name: "loud", Doc: "Loud repeats the name of the model.",
	Run: func(_ context.Context, p *audit.Pass) (any, error) {
		if p.Subject.Name == "silent" {
			return nil, fmt.Errorf("%w: told to be silent", audit.ErrUntested)
		}
		for name := range strings.FieldsSeq(p.Subject.Name) {
			f := audit.Finding{Category: kinds[name], Message: "this is " + name, Worst: audit.Nowhere}
			if name != "empty" {
				f.Evidence = []audit.Evidence{audit.Number("n", 1, "")}
			}
			p.Report(f)
		}
		return nil, nil //nolint:nilnil // a check without result
	},
}

// The kit fails in each of the ways in which a check can be wrong, and in no other.
func TestTheTester(t *testing.T) {
	c4, err := catalog.Cyclic(4)
	if err != nil {
		t.Fatal(err)
	}
	plan := audittest.Plan(t, audittest.Plane(t, c4), action.Trivial{G: c4})
	fixture := func(name string, want ...audittest.Want) audittest.Fixture {
		return audittest.Fixture{
			Subject: &audit.Subject{
				Name: name, Predictor: audittest.Radius(0), Plan: plan, N: 4,
				Sample: audittest.Vectors(4, 1),
			},
			Want: want,
		}
	}
	a, b := audittest.Want{Category: kinds["a"]}, audittest.Want{Category: kinds["b"]}
	for _, c := range []struct {
		name          string
		faulty, clean audittest.Fixture
		// of what the kit says; "" for nothing
		want string
	}{
		{"all well", fixture("a", a), fixture(""), ""},
		{"two of them, in any order", fixture("a b", b, a), fixture(""), ""},
		{"missing", fixture("", a), fixture(""), "missing finding: a"},
		{"unexpected", fixture("a b", a), fixture(""), "unexpected finding: b"},
		{"twice", fixture("a a", a), fixture(""), "unexpected finding: a"},
		{
			"other message", fixture("a", audittest.Want{Category: kinds["a"], Message: "^that"}), fixture(""),
			"missing finding: a",
		},
		{"clean one is not", fixture("a", a), fixture("a"), "unexpected finding: a"},
		{"faulty one expects nothing", fixture(""), fixture(""), "expects no finding"},
		{"clean one expects something", fixture("a", a), fixture("a", a), "clean fixture expects"},
		{
			"without a number", fixture("empty", audittest.Want{Category: kinds["empty"]}), fixture(""),
			"without a number",
		},
		{"not tested", fixture("silent", a), fixture(""), "loud is not tested: told to be silent"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var r recorder
			func() {
				defer func() {
					if x := recover(); x != nil && x != any(&r) {
						panic(x)
					}
				}()
				audittest.Run(&r, loud, c.faulty, c.clean)
			}()
			said := strings.Join(r.said, "\n")
			if c.want == "" && said != "" || !strings.Contains(said, c.want) {
				t.Errorf("the kit says %q, want %q", said, c.want)
			}
		})
	}
}
