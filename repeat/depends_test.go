package repeat

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"nero/audit/document"
	"nero/measure/aggregate"
)

// noise is a draw of each question for itself.
func noise(q Question) float64 {
	h := fnv.New64a()
	_, _ = fmt.Fprint(h, q)
	return rand.New(rand.NewPCG(h.Sum64(), 5)).NormFloat64()
}

// Answers that are noise alone have one distribution at every view, and are no evidence; such as depend on the object
// are, however noisy.
func TestNoiseAlonePassesNothing(t *testing.T) {
	side := func(x float64) Answer { return said(map[bool]string{false: "left", true: "right"}[x > 0]) }
	for name, c := range map[string]struct {
		of    func(q Question) Answer
		seeds []int
		want  document.Verdict
	}{
		"labels": {func(q Question) Answer { return side(noise(q)) }, nil, document.NeedsAttention},
		"their twin": {
			func(q Question) Answer { return side(noise(q) + float64(q.Object%2)*2 - 1) }, nil,
			document.Passed,
		},
		"numbers": {
			func(q Question) Answer { return OfNumbers([]float64{noise(q)}) }, nil,
			document.NeedsAttention,
		},
		"number twin": {
			func(q Question) Answer { return OfNumbers([]float64{noise(q) + float64(q.Object%5)/2}) }, nil,
			document.Passed,
		},
		"what the seed draws": {
			func(q Question) Answer { return OfNumbers([]float64{float64(q.Repeat)}) },
			[]int{1, 2, 3},
			document.NeedsAttention,
		},
		"seeds and objects": {
			func(q Question) Answer { return OfNumbers([]float64{float64(q.Repeat + q.Object%5)}) },
			[]int{1, 2, 3},
			document.Passed,
		},
	} {
		o := usual(5)
		if o.Threshold = 0.2; c.seeds != nil {
			o.Times, o.Seeds = len(c.seeds), c.seeds
		}
		m := judged(t, subject(120, []string{"A", "B"}, false, c.of), o)
		b, told := find(t, m, "B"), strings.Contains(strings.Join(m.Reasons, " "), "depend on the object is not shown")
		if !(float64(b.Excess.High) < o.Threshold) {
			t.Fatalf("%s: the case is another one: %+v", name, b.Excess)
		}
		state := map[bool]string{false: Same, true: Empty}[told]
		if m.Verdict != c.want || told != (c.want != document.Passed) || b.State != state || m.Depends.Shown == told {
			t.Errorf("%s: %s, the view %s, %+v, %q", name, m.Verdict, b.State, m.Depends, m.Reasons)
		}
	}
}

// A contract about one view needs answers that depend on the object, too; of one answer to each nothing is compared.
func TestContractOfNoise(t *testing.T) {
	at := func(times int, of func(q Question) float64) *Model {
		o := usual(times)
		o.Contract = &aggregate.Contract{Tau: 10, P: 0.05, Confidence: 0.95}
		return judged(t, subject(200, []string{"A"}, false, func(q Question) Answer {
			return OfNumbers([]float64{of(q)})
		}), o)
	}
	told := func(m *Model, text string) bool { return strings.Contains(strings.Join(m.Reasons, " "), text) }
	if m := at(4, noise); m.Contract.Fixed.State != Kept || m.Verdict != document.NeedsAttention ||
		!told(m, "for two about one are 1.") {
		t.Errorf("%s, %q", m.Verdict, m.Reasons)
	}
	object := func(q Question) float64 { return noise(q) + float64(q.Object%5) }
	if m := at(4, object); m.Verdict != document.Passed || len(m.Reasons) > 0 {
		t.Errorf("%s, %q", m.Verdict, m.Reasons)
	}
	// an answer alone has no error
	if m := at(1, object); m.Verdict != document.NeedsAttention || m.Depends != nil || m.Contract.Fixed.N != 0 ||
		m.Contract.LeftOut != 200 || m.Contract.Fixed.State != Open ||
		!told(m, "each object was asked about once, and nothing is compared") {
		t.Errorf("%s, %q", m.Verdict, m.Reasons)
	}
}

// Few objects show nothing, and answers of different lengths have no distances.
func TestDependsOnTooLittle(t *testing.T) {
	o := usual(2)
	o.Contract = &aggregate.Contract{Tau: 0.5, P: 0.9, Confidence: 0.95}
	for n, want := range map[int]bool{1: false, 3: false, 6: true} {
		m := judged(t, subject(n, []string{"A", "B"}, false, func(q Question) Answer { return said(label(q.Object)) }),
			o)
		if m.Depends.Objects != n || m.Depends.Shown != want || (m.Verdict == document.Passed) && !want {
			t.Errorf("%d objects: %+v, %s", n, m.Depends, m.Verdict)
		}
	}
	m := judged(t, subject(80, []string{"A", "B"}, false, func(q Question) Answer {
		return OfNumbers(make([]float64, 1+q.Object%2))
	}), usual(2))
	if m.Depends.Shown || !math.IsNaN(float64(m.Depends.Other)) || !strings.Contains(strings.Join(m.Reasons, " "),
		"whether answers depend on the object is not known") || !strings.Contains(strings.Join(m.Reasons, " "),
		"answers have from 1 to 2 numbers, and between two of different lengths there is no distance") {
		t.Errorf("%+v, %q", m.Depends, m.Reasons)
	}
}

// Long answers and many objects are thinned out, and say the same.
func TestDependsIsBounded(t *testing.T) {
	for _, c := range []struct{ objects, wide, compared int }{{230, 1, 200}, {20, 400_000, 11}} {
		x := make([][]float64, c.objects)
		s := subject(c.objects, []string{"A", "B"}, false, nil)
		var all Times
		for i := range s.Things {
			x[i] = make([]float64, c.wide)
			x[i][0] = float64(i)
			a := Answer{Outcome: Answered, Text: strconv.Itoa(i), Numbers: x[i]}
			all = append(all, [][]Answer{{a}, {a}})
		}
		if d := newBook(s, all, usual(1)).depends(); d.Objects != c.compared || !d.Shown || d.Same != 0 {
			t.Errorf("%+v: %+v", c, d)
		}
	}
}
