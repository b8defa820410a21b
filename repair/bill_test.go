package repair

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"nero/audit/document"
	"nero/data/space"
)

// A model that always answers the same has no unit to measure in, and one sample no interval: both are said as null,
// and the rest of the bill stands.
func TestBillWithoutUnit(t *testing.T) {
	same := &Answers{
		Back: [][][]float64{{{1, 2}}, {{1, 2}}}, Class: [][]int{{1}, {1}},
	}
	b := same.Bill(same, []int{1})
	text, err := json.Marshal(b)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"error":null`, `"apart":null`, `"right":{"value":1,`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%s, want %s in it", text, want)
		}
	}
}

// Which classes lose, what they are taken for, and how many samples changed: six answers of two kinds.
func TestBillOfClasses(t *testing.T) {
	answers := func(classes ...int) *Answers {
		a := &Answers{Class: [][]int{classes}, Back: [][][]float64{nil}}
		for _, c := range classes {
			a.Back[0] = append(a.Back[0], []float64{float64(c)})
		}
		return a
	}
	labels := []int{6, 6, 6, 9, 9, 1}
	before, after := answers(6, 6, 6, 9, 9, 2), answers(9, 9, 6, 6, 9, 1)
	b := after.Bill(before, labels)
	if d := cmp.Diff([]Loser{{6, 3, 3, 1}, {9, 2, 2, 1}}, b.Losers); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]Mixed{{6, 9, 0, 2}, {9, 6, 0, 1}}, b.Mixed); d != "" {
		t.Error(d)
	}
	if b.Pairs.Lost != 3 || b.Pairs.Won != 1 || math.Abs(float64(b.Pairs.P)-0.625) > 1e-12 {
		t.Errorf("pairs: %+v, want 3 lost, 1 won, p = 5/8", b.Pairs)
	}
	if got := float64(b.Lost.Value); math.Abs(got-2.0/6) > 1e-12 || !(b.Lost.Low < b.Lost.Value &&
		b.Lost.Value < b.Lost.High) {
		t.Errorf("lost: %+v", b.Lost)
	}
	if got := float64(b.Agree.Value); math.Abs(got-2.0/6) > 1e-12 {
		t.Errorf("a share of %g gets the class that it had, want 1/3", got)
	}
	if b := before.Bill(before, labels); b.Losers != nil || b.Mixed != nil || b.Lost.Value != 0 || b.Pairs.P != 1 {
		t.Errorf("nothing changed: %+v", b)
	}
}

// No bill is marked that another beats in all, and each that is not beaten is.
func TestPareto(t *testing.T) {
	of := func(name string, cost, worst, lost float64) Bill {
		return Bill{
			Method: name, Cost: Cost{Measured: document.Number(cost)}, Worst: document.Number(worst),
			Lost: &Share{Value: document.Number(lost)},
		}
	}
	m := Of{Before: of("", 1, 1.3, 0), Tried: []Bill{
		of("exact", 4, 0, 0.03), of("rounded", 4, 1e-6, 0.03), of("dear", 8, 0, 0.03), of("wrong", 4, 0, 0.3),
		of("half", 2, 0.5, 0.01), of("nan", math.NaN(), 0, 0),
		{Method: "no", Refused: "no"},
	}}
	m.Recommend(0.01)
	var got []string
	for _, b := range append([]Bill{m.Before}, m.Tried...) {
		if b.Pareto {
			got = append(got, b.Method)
		}
	}
	if d := cmp.Diff([]string{"", "exact", "rounded", "half"}, got); d != "" {
		t.Error(d)
	}
}

// Two poses that a model is as sure of are a tie; a sample whose poses are nearly so is near one.
func TestTied(t *testing.T) {
	a := &Answers{}
	for _, k := range []float64{0, 1} {
		var rows [][]float64
		for i := range 99 {
			rows = append(rows, []float64{k * float64(i+3), 0, 0})
		}
		rows[7] = []float64{3, 0, 0}
		rows[8] = []float64{3 + 1e-3*k, 0, 0}
		a.Back = append(a.Back, rows)
	}
	for _, score := range []string{"margin", "energy"} {
		n, err := tied(Source{}, map[string]string{"score": score}, nil, a)
		if err != nil {
			t.Fatal(err)
		}
		if n.Ties != 1 || math.Abs(float64(n.Share.Value)-2.0/99) > 1e-12 {
			t.Errorf("%s: %d ties, a share of %g near; want 1 and 2/99", score, n.Ties, n.Share.Value)
		}
	}
}

// What a program reads back is what was written, and all forms say the sentence.
func TestForms(t *testing.T) {
	r := &Report{Format: FormatNumber, Group: "C4", Samples: 5, Models: []Of{{
		Model: "a|b<c", Sentence: "Take it.", Before: Bill{State: AsItIs, Verdict: "FAIL", Error: 1},
		Tried: []Bill{
			{State: Refused, Method: "average", Refused: "boxes"},
			{
				State: Written, Method: "select", Verdict: "PASS", NotFinite: "sample 3, element 90",
				Compared: "improved\n",
			},
		},
	}}}
	for _, f := range Forms() {
		var b bytes.Buffer
		if err := f.Write(r, &b); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"Take it.", "boxes", "improved", "sample 3, element 90"} {
			if !strings.Contains(b.String(), want) {
				t.Errorf("%s: no %q in %s", f.Name, want, b.String())
			}
		}
		if f.Name == "html" && strings.Contains(b.String(), "b<c") {
			t.Error("html: a name stands there as markup")
		}
		if f.Name == "json" {
			var again Report
			if err := json.Unmarshal(b.Bytes(), &again); err != nil {
				t.Fatal(err)
			}
			if again.Models[0].Tried[1].Method != "select" || again.Models[0].Before.Error != 1 {
				t.Errorf("read back: %+v", again)
			}
		}
	}
	if _, err := ParseForm("pdf"); err == nil || !strings.Contains(err.Error(), "want text, json, markdown, html") {
		t.Errorf("pdf: %v", err)
	}
	if good := r.Good(); !good {
		t.Error("a model with a repair that passes is not good")
	}
	r.Models[0].Tried[1].Single = "FAIL"
	if r.Good() {
		t.Error("a repair that fails at batch 1 is good")
	}
}

// Samples of two and of one point answer two rows and one, which lie around the mean row: 3² + 0² + 3² over two
// samples.
func TestSpreadOfDifferentNumbersOfRows(t *testing.T) {
	rows := [][]float64{{3, 1, 6, 1}, {9, 1}}
	if got := spread(rows, 2); math.Abs(got-3) > 1e-12 {
		t.Errorf("spread %g, want 3", got)
	}
	if got := spread(rows, 0); !math.IsNaN(got) {
		t.Errorf("spread %g of answers that are no rows, want NaN", got)
	}
}

// Of several outputs each has its own errors in its own unit, and the whole those of the worst: two samples of two
// outputs at two elements, with one and with a hundred times the numbers.
func TestBillOfSeveralOutputs(t *testing.T) {
	record := func(a, b float64) space.Value {
		one, other := space.NewRows(1, 1), space.NewRows(1, 1)
		one.Val[0], other.Val[0] = a, b
		return &space.Record{Names: []string{"energy", "forces"}, Values: []space.Value{one, other}}
	}
	answers := func(moved ...space.Value) *Answers {
		a := &Answers{}
		for _, all := range [][]space.Value{{record(1, 100), record(3, 500)}, moved} {
			if err := a.Add(all); err != nil {
				t.Fatal(err)
			}
		}
		return a
	}
	before := answers(record(2, 100), record(3, 500)) // the spreads are 1 and 200
	after := answers(record(1, 100), record(3, 540))
	b := after.Bill(before, nil)
	rounded := &Answers{}
	if err := rounded.Add([]space.Value{record(1.5, 100), record(3, 500)}); err != nil {
		t.Fatal(err)
	}
	b.Floors(after, rounded, before, map[string]string{"energy": "eV"})
	root := math.Sqrt(0.5)
	want := []OfOutput{
		{Name: "energy", Spread: 1, Unit: "eV", Floor: document.Number(0.5 * root)},
		{Name: "forces", Spread: 200, Error: document.Number(0.2 * root), Worst: 0.2},
	}
	near := cmp.Comparer(func(x, y document.Number) bool { return math.Abs(float64(x-y)) <= 1e-12 })
	if d := cmp.Diff(want, b.Outputs, near); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(want[1].Worst, b.Worst, near); d != "" {
		t.Error(d)
	}
	if j := Jump(after, rounded, before); math.Abs(j-0.5) > 1e-12 {
		t.Errorf("a jump of %g, want that of the energy, 0.5", j)
	}
	if b := before.Bill(before, nil); math.Abs(float64(b.Error)-root) > 1e-12 || b.Outputs[1].Error != 0 {
		t.Errorf("before: %+v", b)
	}
}

// What cannot be subtracted is told apart from several outputs: the remedy of one is none of the other.
func TestUndiffered(t *testing.T) {
	err := (&Answers{}).Add([]space.Value{&space.Mask{H: 1, W: 2, Label: []int32{0, 1}}})
	if err == nil || !strings.Contains(err.Error(), "say output: {space: tensor}") {
		t.Errorf("a mask: %v", err)
	}
}
