package repeat

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"nero/audit/document"
	"nero/measure/aggregate"
	"nero/model/engine/remote/remotetest"
	"nero/present/sheet"
)

var update = flag.Bool("update", false, "rewrite golden files")

// usual are the options of the tests.
func usual(times int) Options {
	return Options{Times: times, Seed: 1, Confidence: 0.95, Threshold: 0.05}
}

// seeded are the options of rounds with seeds.
func seeded(seeds []int) Options {
	o := usual(len(seeds))
	o.Seeds = seeds
	return o
}

// subject asks a function about objects, all views of each. The function is told how often it was asked that before.
func subject(objects int, views []string, labelled bool, answer func(q Question) Answer) *Subject {
	s := &Subject{Model: "fake", Views: views, Drawing: true}
	for i := range objects {
		t := &Thing{Name: fmt.Sprintf("object %d", i), Labelled: labelled}
		if labelled {
			t.Label = label(i)
		}
		for range views {
			t.Has = append(t.Has, true)
		}
		s.Things = append(s.Things, t)
	}
	s.Ask = func(_ context.Context, q Question) (Answer, error) { return answer(q), nil }
	return s
}

func label(i int) string { return "label " + strconv.Itoa(i%7) }

// said is an answer in words.
func said(text string) Answer { return Answer{Outcome: Answered, Text: text, Raw: text} }

// flipped answers the label of an object, and on one view another one with probability q.
func flipped(view int, q float64) func(Question) Answer {
	return func(x Question) Answer {
		if x.View == view && remotetest.Flip(strconv.Itoa(x.Object), x.Repeat, q) {
			return said("flipped")
		}
		return said(label(x.Object))
	}
}

func judged(t *testing.T, s *Subject, o Options) *Model {
	t.Helper()
	all, err := s.Collect(t.Context(), o.Times, 3, o.Seed)
	if err != nil {
		t.Fatal(err)
	}
	return Judge(s, all, o)
}

func find(t *testing.T, m *Model, view string) *View {
	t.Helper()
	for _, v := range m.Given {
		if v.Name == view {
			return v
		}
	}
	t.Fatalf("no view %s", view)
	return nil
}

func TestScheduleAsksEachOnceARound(t *testing.T) {
	s := subject(20, []string{"A", "B"}, false, nil)
	s.Things[3].Has[1] = false
	asked := s.schedule(3, 9)
	if len(asked) != 3*39 {
		t.Fatalf("%d questions", len(asked))
	}
	seen := map[Question]int{}
	for k, q := range asked {
		if q.Repeat != k/39 {
			t.Fatalf("question %d is of round %d", k, q.Repeat)
		}
		seen[q]++
	}
	if len(seen) != 3*39 || seen[Question{3, 1, 0}] != 0 {
		t.Errorf("%d different questions", len(seen))
	}
	if !reflect.DeepEqual(asked, s.schedule(3, 9)) || reflect.DeepEqual(asked, s.schedule(3, 10)) {
		t.Error("the order is not that of the seed")
	}
	if reflect.DeepEqual(asked[0].Object, asked[39].Object) && reflect.DeepEqual(asked[1].Object, asked[40].Object) &&
		reflect.DeepEqual(asked[2].Object, asked[41].Object) {
		t.Error("two rounds in one order")
	}
}

// One answer to everything is no evidence, however many objects have it; with two answers it is.
func TestOneAnswerToAll(t *testing.T) {
	for _, c := range []struct {
		of   func(q Question) Answer
		want document.Verdict
	}{
		{func(Question) Answer { return said("yes") }, document.NeedsAttention},
		{func(q Question) Answer { return said(label(q.Object % 2)) }, document.Passed},
		{func(Question) Answer { // a number that does not depend on what is asked
			return Answer{Outcome: Answered, Text: "3", Raw: "3", Numbers: []float64{3}}
		}, document.NeedsAttention},
	} {
		m := judged(t, subject(120, []string{"A", "B"}, false, c.of), usual(2))
		told := strings.Contains(strings.Join(m.Reasons, " "), "one and the same answer")
		if m.Verdict != c.want || told != (c.want == document.NeedsAttention) {
			t.Errorf("%s, %q, want %s", m.Verdict, m.Reasons, c.want)
		}
	}
	alone := subject(120, []string{"A"}, false, func(Question) Answer { return said("yes") })
	if m := judged(t, alone, usual(2)); m.Verdict != Described {
		t.Errorf("nothing is claimed: %s", m.Verdict)
	}
}

// A view that asks the same as the reference of every object passes nothing, whatever is answered; one that does so of
// some objects is judged.
func TestViewsThatAskTheSame(t *testing.T) {
	for _, c := range []struct {
		other string
		want  document.Verdict
		state string
	}{{"text", document.NeedsAttention, Open}, {"another text", document.Passed, Same}} {
		s := subject(120, []string{"A", "B"}, false, func(q Question) Answer { return said(label(q.Object)) })
		for i, x := range s.Things {
			if x.Inputs = []string{"text", "text"}; i == 7 {
				x.Inputs[1] = c.other
			}
		}
		m := judged(t, s, usual(2))
		if v := find(t, m, "B"); m.Verdict != c.want || v.State != c.state {
			t.Errorf("%s: %s, the view %s, %q", c.other, m.Verdict, v.State, m.Reasons)
		}
	}
}

// The sentence says of the contract what the verdict does: 70 objects without an error keep a rate of 0.05 where their
// number was fixed, and a stream of them is not decided yet.
func TestSentenceOfTheContract(t *testing.T) {
	o := usual(2)
	o.Contract, o.Threshold = &aggregate.Contract{Tau: 0.5, P: 0.05, Confidence: 0.95}, 0.2
	m := judged(t, subject(70, []string{"A", "B"}, false, func(q Question) Answer { return said(label(q.Object)) }), o)
	if m.Contract.Fixed.State != Kept || m.Contract.Stream.State != Open {
		t.Fatalf("the case is another one: %+v, %+v", m.Contract.Fixed, m.Contract.Stream)
	}
	if m.Verdict != document.Passed || !strings.Contains(m.Sentence, "the contract is kept") {
		t.Error(m.Sentence)
	}
}

// A label that flips with probability q on view B: q lies in the interval, and a view without flips is the same.
func TestFlipsAreRecovered(t *testing.T) {
	for _, q := range []float64{0.1, 0.4} {
		s := subject(150, []string{"A", "B", "C"}, true, flipped(1, q))
		m := judged(t, s, usual(5))
		b, c := find(t, m, "B"), find(t, m, "C")
		if !(float64(b.Difference.Low) <= q && q <= float64(b.Difference.High)) ||
			float64(b.Difference.High-b.Difference.Low) > 0.2 {
			t.Errorf("q = %g: difference %+v", q, b.Difference)
		}
		// the excess is q², for the reference always answers the same
		if !(float64(b.Excess.Low) <= q*q && q*q <= float64(b.Excess.High)) {
			t.Errorf("q = %g: excess %+v", q, b.Excess)
		}
		if c.State != Same || float64(c.Difference.Value) != 0 || float64(*c.PHolm) != 1 {
			t.Errorf("q = %g: the twin %+v", q, c)
		}
		want := map[float64]string{0.1: Same, 0.4: Differs}[q]
		if b.State != want || !(float64(*b.PHolm) <= 0.01) {
			t.Errorf("q = %g: %s, p %v, %+v", q, b.State, *b.PHolm, b.Excess)
		}
		if m.Given[0] != b || !(float64(b.Accuracy.Low) <= 1-q && 1-q <= float64(b.Accuracy.High)) {
			t.Errorf("q = %g: ranked %s first, accuracy %+v", q, m.Given[0].Name, b.Accuracy)
		}
		if want := map[string]document.Verdict{
			Same:    document.Passed,
			Differs: document.Failed,
		}[want]; m.Verdict != want {
			t.Errorf("q = %g: %s, want %s", q, m.Verdict, want)
		}
	}
}

// Rounds with a seed ask all views with it. The answer is the seed's draw, one of two; on view B 40 of 100 objects have
// another answer whatever the seed, an excess of 0.4·¾ = 0.3 over seeds, and of one odd and one even seed 0.4·½. View C
// has all that the reference has, so that its answers differ only where seeds do.
func TestSeedsAreNoTwoDraws(t *testing.T) {
	for _, c := range []struct {
		seeds []int
		want  float64 // 0.4·(1 - half the share of pairs of seeds of which one is odd and one even)
		holds bool
		// of two answers with different seeds; of the twin the share of pairs of which one is odd and one even
		differ map[bool]float64
	}{
		{[]int{1, 2}, 0.2, false, map[bool]float64{false: 1, true: 1}},
		{[]int{1, 2, 3, 4, 5, 6}, 0.4 * (1 - 0.3), true, map[bool]float64{false: 0.4 + 0.6*0.6, true: 0.6}},
		{[]int{1, 1, 2}, 0.2, false, map[bool]float64{false: 1, true: 1}},
	} {
		s := subject(100, []string{"A", "B", "C"}, false, func(q Question) Answer {
			if q.View == 1 && q.Object%10 < 4 {
				return said("B")
			}
			return said(fmt.Sprint(label(q.Object), c.seeds[q.Repeat]%2))
		})
		m := judged(t, s, seeded(c.seeds))
		b, twin := find(t, m, "B"), find(t, m, "C")
		if b.State != Differs || m.Verdict != document.Failed || !(math.Abs(float64(b.Excess.Value)-c.want) < 1e-9) ||
			b.Excess.N != 100 || !(float64(*b.P) <= 0.01) ||
			c.holds && !(float64(b.Excess.Low) <= 0.3 && 0.3 <= float64(b.Excess.High)) {
			t.Errorf("%v: %s, %+v, p %v", c.seeds, b.State, b.Excess, *b.P)
		}
		if twin.State != Same || twin.Excess.Value != 0 || *twin.P != 1 {
			t.Errorf("%v: the twin %s, %+v, p %v", c.seeds, twin.State, twin.Excess, *twin.P)
		}
		// What differs is of the pairs that the excess compares: two answers to different views are as far apart as the
		// seeds are, and where nothing moves no further than two answers to one.
		for _, v := range []*View{b, twin} {
			apart := c.differ[v == twin]
			if !(math.Abs(float64(v.Difference.Value)-apart) < 1e-9) || v.Difference.N != 100 {
				t.Errorf("%v: %s differs by %+v, want %g", c.seeds, v.Name, v.Difference, apart)
			}
		}
		// pairs of views weigh alike; B and C are as A and B
		over := 1 - (2*c.differ[false]+c.differ[true])/3
		if !(math.Abs(float64(m.OverViews.Value)-over) < 1e-9) {
			t.Errorf("%v: over views %+v, want %g", c.seeds, m.OverViews, over)
		}
	}
	// What was not answered takes its round away from that object, and those with one seed left say nothing.
	seeds := []int{1, 2, 4}
	s := subject(100, []string{"A", "B"}, false, func(q Question) Answer {
		if q.View == 1 && (q.Repeat == 0 && q.Object == 5 || q.Repeat > 0 && q.Object == 6) {
			return Answer{Outcome: Refused, Why: "no"}
		}
		return said(fmt.Sprint(label(q.Object), seeds[q.Repeat]%2))
	})
	if b := find(t, judged(t, s, seeded(seeds)), "B"); b.State != Same || b.Excess.Value != 0 || b.Excess.N != 99 {
		t.Errorf("%s, %+v", b.State, b.Excess)
	}
	// One seed says nothing of chance: its rounds are as any other.
	if b := find(t, judged(t, s, seeded([]int{3, 3, 3})), "B"); b.Excess.N != 99 || float64(b.Excess.Value) == 0 {
		t.Errorf("%+v", b.Excess)
	}
}

// Labels are equal or not: an excess that none is above passes nothing. Numbers may lie further apart.
func TestThresholdsOfLabels(t *testing.T) {
	for threshold, want := range map[float64]document.Verdict{1: document.NeedsAttention, 0.99: document.Passed} {
		o := usual(2)
		o.Threshold = threshold
		m := judged(t, subject(120, []string{"A", "B"}, false, flipped(1, 0)), o)
		told := strings.Contains(strings.Join(m.Reasons, " "), "an excess of 1 shows nothing of the view B")
		if m.Verdict != want || told != (threshold == 1) {
			t.Errorf("%g: %s, %q", threshold, m.Verdict, m.Reasons)
		}
	}
	o := usual(2)
	o.Threshold = 1
	if m := judged(t, subject(120, []string{"A", "B"}, false, func(q Question) Answer {
		return OfNumbers([]float64{float64(q.Object)})
	}), o); m.Verdict != document.Passed {
		t.Errorf("numbers: %s, %q", m.Verdict, m.Reasons)
	}
}

// Without evidence a view does not pass, however large p is.
func TestFewObjectsAreOpen(t *testing.T) {
	m := judged(t, subject(20, []string{"A", "B"}, false, flipped(1, 0)), usual(5))
	if b := find(t, m, "B"); b.State != Open || float64(*b.P) != 1 || m.Verdict != document.NeedsAttention {
		t.Errorf("%+v, %s", b, m.Verdict)
	}
	if m = judged(t, subject(200, []string{"A", "B"}, false, flipped(1, 0)), usual(1)); find(t, m, "B").State != Same {
		t.Errorf("asked once: %+v", find(t, m, "B"))
	}
	if m = judged(t, subject(200, []string{"A", "B"}, false, flipped(1, 0.3)), usual(1)); find(t, m,
		"B").State != Differs || find(t, m, "B").Excess != nil || m.Repeats != nil {
		t.Errorf("asked once: %+v", find(t, m, "B"))
	}
}

func TestCachedIsFlagged(t *testing.T) {
	first := judged(t, subject(30, []string{"A"}, false, func(q Question) Answer { return said(label(q.Object)) }),
		usual(4))
	if !strings.HasPrefix(first.Cached, "repeats look cached: all answers to each of 30 questions are the same") ||
		first.Verdict != Described {
		t.Errorf("%q, %s", first.Cached, first.Verdict)
	}
	// one answer that is another one, in its spaces alone
	twin := judged(t, subject(30, []string{"A"}, false, func(q Question) Answer {
		a := said(label(q.Object))
		if q == (Question{17, 0, 2}) {
			a.Raw += " "
		}
		return a
	}), usual(4))
	if twin.Cached != "" || float64(twin.Repeats.Full.Value) != 1 {
		t.Errorf("the twin: %q, %+v", twin.Cached, twin.Repeats.Full)
	}
	s := subject(30, []string{"A"}, false, func(q Question) Answer { return said(label(q.Object)) })
	busted := usual(4)
	busted.Bust = "nonce"
	if m := judged(t, s, busted); !strings.Contains(m.Cached, "although the parameter nonce was another one") {
		t.Errorf("%q", m.Cached)
	}
	s.Drawing = false // a file that does not draw answers so
	if m := judged(t, s, busted); m.Cached != "" {
		t.Errorf("%q", m.Cached)
	}
}

func TestFailuresAreCountedAndInNoMean(t *testing.T) {
	answer := flipped(1, 0)
	failing := func(every int) func(Question) Answer {
		return func(q Question) Answer {
			if (q.Object+q.Repeat)%every == 0 {
				return Answer{Outcome: Outcomes()[1+q.Object%3], Why: "for a reason"}
			}
			return answer(q)
		}
	}
	m := judged(t, subject(120, []string{"A", "B"}, true, failing(10)), usual(5))
	if m.Verdict != document.NeedsAttention || m.Questions != 1200 || len(m.Outcomes) != 4 ||
		m.Outcomes[0].N != 1080 || m.Outcomes[1].N+m.Outcomes[2].N+m.Outcomes[3].N != 120 ||
		m.Outcomes[1].Why != "for a reason" {
		t.Errorf("%s: %+v", m.Verdict, m.Outcomes)
	}
	if float64(m.Repeats.Agreement.Value) != 1 || float64(find(t, m, "B").Accuracy.Value) != 1 {
		t.Errorf("%+v %+v", m.Repeats.Agreement, find(t, m, "B").Accuracy)
	}
	if m = judged(t, subject(120, []string{"A", "B"}, true, failing(25)), usual(5)); m.Verdict != document.Passed {
		t.Errorf("4 %%: %s, %v", m.Verdict, m.Reasons)
	}
	// One view that is silent about too many is told by its name, where all questions together have few without.
	for n, want := range map[int]document.Verdict{10: document.NeedsAttention, 5: document.Passed} {
		m = judged(t, subject(100, []string{"A", "B"}, true, func(q Question) Answer {
			if q.View == 1 && q.Object < n {
				return Answer{Outcome: Late, Why: "nothing came"}
			}
			return answer(q)
		}), usual(2))
		told := strings.Contains(strings.Join(m.Reasons, " "),
			"10.0% of the questions about the view B have no answer, more than 5.0%")
		if m.Verdict != want || told != (n == 10) || len(m.Reasons) > 1 {
			t.Errorf("%d of 100 at one view: %s, %q", n, m.Verdict, m.Reasons)
		}
	}
	s := subject(20, []string{"A"}, false, func(Question) Answer {
		return Answer{
			Outcome: Unreachable,
			Why:     "nobody there",
		}
	})
	if _, err := s.Collect(t.Context(), 2, 1, 1); !errors.Is(err, ErrGone) || !strings.Contains(err.Error(),
		"nobody there") {
		t.Errorf("%v", err)
	}
}

// Errors that are always the same are told from those that vary.
func TestConsistentErrors(t *testing.T) {
	m := judged(t, subject(100, []string{"A"}, true, func(q Question) Answer {
		switch {
		case q.Object < 30: // always wrong
			return said("wrong")
		case q.Object < 40 && q.Repeat != 1: // mostly wrong, never the same
			return said("wrong " + strconv.Itoa(q.Repeat/2))
		}
		return said(label(q.Object))
	}), usual(5))
	c := m.Repeats.Correct
	if c.ConsistentWrong != 30 || c.VaryingWrong != 10 || c.ConsistentRight != 60 || c.VaryingRight != 0 {
		t.Errorf("%+v", c)
	}
	if !strings.Contains(m.Sentence, "75.0% of errors are consistent errors") {
		t.Error(m.Sentence)
	}
	if math.Abs(float64(c.One.Value)-0.62) > 1e-12 || c.Mode.Value != 0.6 || c.Best.Value != 0.7 {
		t.Errorf("%v %v %v", c.One.Value, c.Mode.Value, c.Best.Value)
	}
}

func TestNumbersHaveDistances(t *testing.T) {
	// deviation 0.1 of answers whose scale is about 5.7 (0 to 19 spread evenly)
	number := func(offset float64) func(Question) Answer {
		return func(q Question) Answer {
			x := float64(q.Object%20) + 0.1*map[int]float64{0: -1, 1: 0, 2: 1}[q.Repeat%3]
			if q.View == 1 {
				x += offset
			}
			return OfNumbers([]float64{x})
		}
	}
	m := judged(t, subject(80, []string{"A", "B"}, false, number(0)), usual(3))
	if m.Answers != "numbers" || math.Abs(float64(m.Repeats.Spread.Value)*float64(*m.Scale)-0.1) > 1e-9 ||
		find(t, m, "B").State != Same || len(m.Repeats.Digits) != 15 {
		t.Errorf("%+v %+v", m.Repeats, find(t, m, "B"))
	}
	// of numbers the spread comes first, in their unit: nothing is said of how often they are equal
	for _, want := range []string{
		"answers to the same deviate by 0.1 (0.1 to 0.1) in its unit, 1.7% of the centred scale 5.7",
		"two answers to different views of one object are 0.0889 (0.0889 to 0.0889) in its unit",
	} {
		if !strings.Contains(m.Sentence, want) || strings.Contains(m.Sentence, "equal") {
			t.Errorf("%q lacks %q", m.Sentence, want)
		}
	}
	if m = judged(t, subject(80, []string{"A", "B"}, false, number(1)), usual(3)); find(t, m, "B").State != Differs {
		t.Errorf("%+v", find(t, m, "B"))
	}
	m = judged(t, subject(80, []string{"A", "B"}, false, func(q Question) Answer {
		if q == (Question{5, 1, 1}) {
			return OfNumbers([]float64{math.NaN()})
		}
		return number(0)(q)
	}), usual(3))
	if m.Verdict == document.Passed || m.Outcomes[len(m.Outcomes)-1].Name != NotFinite.Name {
		t.Errorf("%s: %+v", m.Verdict, m.Outcomes)
	}
	// what has no common length has no distance, and is not the same
	m = judged(t, subject(80, []string{"A", "B"}, false, func(q Question) Answer {
		return OfNumbers(make([]float64, 1+q.View))
	}), usual(2))
	if m.Verdict == document.Passed {
		t.Errorf("%s: %+v", m.Verdict, find(t, m, "B"))
	}
}

func TestContract(t *testing.T) {
	o := usual(3)
	o.Contract = &aggregate.Contract{Tau: 0.5, P: 0.05, Confidence: 0.95}
	m := judged(t, subject(200, []string{"A", "B"}, false, flipped(1, 0)), o)
	if c := m.Contract; c.Fixed.State != Kept || c.Stream.State != Kept || c.Fixed.N != 200 || c.Stream.Over != 0 ||
		c.Stream.DecidedAt < 59 || c.Stream.DecidedAt > 150 {
		t.Errorf("kept: %+v", c)
	}
	m = judged(t, subject(200, []string{"A", "B"}, false, flipped(1, 0.2)), o)
	if c := m.Contract; c.Fixed.State != Broken || c.Stream.State != Broken || m.Verdict != document.Failed {
		t.Errorf("broken: %+v", c)
	}
	m = judged(t, subject(30, []string{"A", "B"}, false, flipped(1, 0)), o)
	if c := m.Contract; c.Fixed.State != Open || c.Fixed.Need != 59 || c.Stream.State != Open {
		t.Errorf("open: %+v", c)
	}
}

// Where environments are named they are what is counted, each by the mean error of its objects: many objects of few
// environments are little evidence.
func TestContractOfEnvironments(t *testing.T) {
	o := usual(2)
	o.Contract = &aggregate.Contract{Tau: 0.5, P: 0.05, Confidence: 0.95}
	from := func(each int, wrong func(object int) bool) *Contract {
		s := subject(240, []string{"A", "B"}, false, func(q Question) Answer {
			if q.View == 1 && wrong(q.Object) {
				return said("wrong")
			}
			return said(label(q.Object))
		})
		for i, x := range s.Things {
			x.Environment = "clinic " + strconv.Itoa(i/each)
		}
		return judged(t, s, o).Contract
	}
	none := func(int) bool { return false }
	if c := from(4, none); c.Unit != "environment" || c.Fixed.State != Kept || c.Fixed.N != 60 || len(c.Seen) != 60 {
		t.Errorf("60 clean environments: %+v", c)
	}
	if c := from(24, none); c.Fixed.State != Open || c.Fixed.N != 10 || c.Fixed.Need != 59 {
		t.Errorf("10 clean environments: %+v", c)
	}
	// two of four objects are half, which is no more than 0.5; three are more
	if c := from(4, func(i int) bool { return i%4 < 2 }); c.Fixed.Over != 0 {
		t.Errorf("half: %+v", c)
	}
	if c := from(4, func(i int) bool { return i%4 < 3 }); c.Fixed.Over != 60 || c.Fixed.State != Broken {
		t.Errorf("most: %+v", c)
	}
	s := subject(3, []string{"A"}, false, nil)
	s.Things[0].Environment = "clinic"
	r := &Report{Times: 2, Views: []string{"A"}, Reference: "A", Seeds: []int{}, Models: []*Model{{
		Name: "fake",
		Contract: from(4,
			none),
	}}}
	if err := r.Follows(o, []*Subject{subject(3, []string{"A"}, false, nil)}); !errors.Is(err, ErrOther) ||
		!strings.Contains(err.Error(), "it counts environments, and this one objects") {
		t.Errorf("%v", err)
	}
	if err := r.Follows(o, []*Subject{s}); err != nil {
		t.Errorf("%v", err)
	}
}

// A stream that goes on from a report says what it says of all objects at once; those that were known are no evidence.
func TestStreamGoesOn(t *testing.T) {
	o := usual(2)
	o.Contract = &aggregate.Contract{Tau: 0.5, P: 0.05, Confidence: 0.95}
	part := func(from, to int) *Subject {
		s := subject(to, []string{"A", "B"}, false, func(q Question) Answer {
			q.Object += from
			return flipped(1, 0.01)(q)
		})
		s.Things = s.Things[from:]
		return s
	}
	report := func(m *Model, o Options) *Report {
		t.Helper()
		var b bytes.Buffer
		if err := sheet.JSON(&b, NewReport([]*Model{m}, []string{"A", "B"}, o)); err != nil {
			t.Fatal(err)
		}
		r, err := ReadReport("repeat.json", b.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	whole := judged(t, part(0, 120), o).Contract
	o.Before = report(judged(t, part(0, 50), o), o)
	if err := o.Before.Follows(o, []*Subject{part(0, 1)}); err != nil {
		t.Fatal(err)
	}
	then := judged(t, part(50, 120), o).Contract
	if !reflect.DeepEqual(whole.Stream, then.Stream) || !reflect.DeepEqual(whole.Seen, then.Seen) ||
		!reflect.DeepEqual(whole.Course, then.Course) {
		t.Errorf("%+v\n%+v", whole, then)
	}
	if last := whole.Course[119]; last.N != 120 || last.Over != whole.Stream.Over ||
		last.LogKept != *whole.Stream.LogKept || last.LogBroken != *whole.Stream.LogBroken {
		t.Errorf("the course ends with %+v", last)
	}
	again := judged(t, part(0, 50), o).Contract
	if again.Stream.N != 50 || again.Stream.Known != 50 || again.Fixed.N != 50 {
		t.Errorf("the same again: %+v", again.Stream)
	}
}

// What decides outcomes is the same in a report that a stream goes on from: the contract, what is made of texts, how
// often and about which views was asked, and of which model.
func TestStreamsOfOtherQuestions(t *testing.T) {
	for _, c := range []struct {
		change func(o *Options, s *Subject)
		want   string // empty where it goes on
	}{
		{func(*Options, *Subject) {}, ""},
		{func(_ *Options, s *Subject) { s.Views = []string{"B", "A"} }, ""}, // their order says nothing
		{func(o *Options, _ *Subject) { o.Seed, o.Threshold = 7, 0.2 }, ""}, // nor do they say what an outcome is
		{
			func(o *Options, _ *Subject) { o.Contract.P = 0.1 },
			"an error of 0.5 in 0.05 with confidence 0.95, and this one",
		},
		{func(o *Options, _ *Subject) { o.Contract = nil }, "a contract is needed there and here"},
		{
			func(o *Options, _ *Subject) { o.Rules = nil },
			"answers after trim, case, and this one answers as they are: say the same",
		},
		{func(o *Options, _ *Subject) { o.Rules = []string{"case", "trim"} }, "and this one answers after case, trim"},
		{func(o *Options, _ *Subject) { o.Seeds = []int{9, 4} }, ""}, // nor does the order of seeds
		{
			func(o *Options, _ *Subject) { o.Seeds = nil },
			"with the seeds 4, 9, and this one without seeds: say the same",
		},
		{func(o *Options, _ *Subject) { o.Seeds = []int{4, 8} }, "and this one with the seeds 4, 8"},
		{
			func(o *Options, _ *Subject) { o.Bust = "" },
			"with another value of nonce in every request, and this one with no parameter against caches: say the same",
		},
		{func(o *Options, _ *Subject) { o.Bust = "user" }, "and this one with another value of user in every request"},
		{func(o *Options, _ *Subject) { o.Times = 3 }, "each input 2 times, and this one 3 times: say the same"},
		{
			func(o *Options, _ *Subject) { o.Reference = 1 - o.Reference },
			"with the reference A, and this one with B: say the same",
		},
		{
			func(_ *Options, s *Subject) { s.Views = []string{"A", "C"} },
			"about the views A, B, and this one about A, C: say the same",
		},
		{func(_ *Options, s *Subject) { s.Views = []string{"A", "B", "C"} }, "and this one about A, B, C"},
		{
			func(_ *Options, s *Subject) { s.Model = "real" },
			"it is of fake, and this one of real: name the model as it was",
		},
		{
			func(_ *Options, s *Subject) { s.Digest = "0123456789abcdef" },
			"its model fake is no file, and that of this one a file with SHA-256 0123456789ab: ask the same model",
		},
	} {
		o := usual(2)
		o.Contract = &aggregate.Contract{Tau: 0.5, P: 0.05, Confidence: 0.95}
		o.Rules, o.Seeds, o.Bust = []string{"trim", "case"}, []int{4, 9}, "nonce"
		s := subject(30, []string{"A", "B"}, false, flipped(1, 0))
		before := NewReport([]*Model{judged(t, s, o)}, s.Views, o)
		c.change(&o, s)
		if s.Views[0] == "B" {
			o.Reference = 1
		}
		err := before.Follows(o, []*Subject{s})
		if c.want == "" && err != nil || c.want != "" && (!errors.Is(err, ErrOther) ||
			!strings.Contains(err.Error(), c.want)) {
			t.Errorf("%v; want %q", err, c.want)
		}
	}
}

// What an older program wrote does not say how it was asked: nothing goes on from it, unless somebody says it.
func TestStreamsOfOlderReports(t *testing.T) {
	o := usual(2)
	o.Contract = &aggregate.Contract{Tau: 0.5, P: 0.05, Confidence: 0.95}
	s := subject(30, []string{"A", "B"}, false, flipped(1, 0))
	var b bytes.Buffer
	if err := sheet.JSON(&b, NewReport([]*Model{judged(t, s, o)}, s.Views, o)); err != nil {
		t.Fatal(err)
	}
	said := regexp.MustCompile(`(?s)"seeds": \[\s*\],\s*"bust": "",`)
	if !said.Match(b.Bytes()) {
		t.Fatalf("seeds and bust are not written:\n%.600s", b.String())
	}
	for old, want := range map[bool]string{
		true:  `an older program wrote it, which did not say with which seeds and bust; begin anew without it, or,`,
		false: "",
	} {
		text := b.Bytes()
		if old {
			text = said.ReplaceAll(text, nil)
		}
		r, err := ReadReport("repeat.json", text)
		if err != nil {
			t.Fatal(err)
		}
		err = r.Follows(o, []*Subject{s})
		if (err != nil) != old || old && !strings.Contains(err.Error(), want) {
			t.Errorf("older %v: %v", old, err)
		}
	}
}

// A long stream has few stages, and the same ones wherever it was interrupted.
func TestCourseIsShort(t *testing.T) {
	n := 0
	for i := 1; i <= 1_000_000; i++ {
		if told(i) {
			n++
		} else if i < 512 {
			t.Fatalf("%d is left out", i)
		}
	}
	if n > 4000 || n < 2000 {
		t.Errorf("%d stages of a million objects", n)
	}
	backwards := &Contract{
		Unit: objects, Stream: Judged{N: 2}, Seen: []string{"a", "b"}, Course: []Stage{{N: 2}, {N: 1}},
	}
	if err := backwards.whole(); err == nil || !strings.Contains(err.Error(), "goes from 0 failed of 2 to 0 of 1") {
		t.Errorf("%v", err)
	}
}

func TestRules(t *testing.T) {
	for _, c := range []struct {
		rules    []string
		raw      string
		want     string
		readable bool
	}{
		{nil, " Yes\n", " Yes\n", true},
		{[]string{"trim", "case"}, "  Yes,\n OF course ", "yes, of course", true},
		{[]string{"json"}, ` {"b": 1.0, "a": [1e2, "x<y"]} `, `{"a":[100,"x<y"],"b":1}`, true},
		{[]string{"json"}, "yes", "", false},
		{[]string{"json"}, "{} {}", "", false},
		{[]string{"json"}, `["\ud83d\ude00"]`, `["😀"]`, true},
		{[]string{"json"}, `["\ud800"]`, "", false}, // a decoder makes it and the next one equal
		{[]string{"json"}, `["\udc01"]`, "", false},
		{[]string{`match=answer: (\w+)`, "case"}, "The answer: Paris.", "paris", true},
		{[]string{"match=[0-9]+", "number"}, "about 007", "7", true},
		{[]string{"match=x"}, "abc", "", false},
		{[]string{"number"}, " -0.0 ", "0", true},
		{[]string{"number"}, "1e3", "1000", true},
		{[]string{"number"}, "NaN", "", false},
		{[]string{"number"}, "seven", "", false},
	} {
		n, err := ParseRules(c.rules)
		if err != nil {
			t.Fatal(err)
		}
		a := n.Read(c.raw)
		if a.Text != c.want || (a.Outcome == Answered) != c.readable || a.Outcome != Answered && a.Why == "" {
			t.Errorf("%v of %q: %+v", c.rules, c.raw, a)
		}
		if numbers := len(c.rules) > 0 && c.rules[len(c.rules)-1] == "number" &&
			c.readable; (a.Numbers != nil) != numbers {
			t.Errorf("%v of %q: numbers %v", c.rules, c.raw, a.Numbers)
		}
	}
	for _, c := range []struct{ rule, want string }{
		{"trin", `"trin" is no rule; want some of trim, case, json, match, number; did you mean trim?`},
		{"match", "match: want match=… with a regular expression"},
		{"match=(", "match=(: missing closing ): `(`"},
		{"case=x", "case=x: the rule case takes nothing"},
	} {
		if _, err := ParseRules([]string{c.rule}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.rule, err)
		}
	}
	if _, err := ParseRules([]string{"number", "trim"}); err == nil || !strings.Contains(err.Error(),
		"make it the last rule") {
		t.Errorf("%v", err)
	}
}

// What is written is that of the answers alone: no number of workers changes a byte.
func TestForms(t *testing.T) {
	answer := func(q Question) Answer {
		switch {
		case q.Object == 3 && q.View == 2:
			return Answer{Outcome: RateLimited, Why: "it answers 429: slow down"}
		case q.View == 1 && remotetest.Flip(strconv.Itoa(q.Object), q.Repeat, 0.4):
			return said("<b>Lyon|</b>")
		case q.Object == 5 && q.Repeat == 1:
			return said("Paris, mostly")
		}
		return said(label(q.Object))
	}
	o := usual(4)
	o.Contract = &aggregate.Contract{Tau: 0.5, P: 0.1, Confidence: 0.95}
	o.Rules = []string{"trim"}
	made := func(workers int) *Report {
		s := subject(24, []string{"plain", "polite", "terse"}, true, answer)
		s.Place = "http://127.0.0.1:1/fake"
		s.Things[7].Has[2] = false
		s.Things[8].Labelled, s.Things[8].Label = false, ""
		all, err := s.Collect(t.Context(), o.Times, workers, o.Seed)
		if err != nil {
			t.Fatal(err)
		}
		return NewReport([]*Model{Judge(s, all, o)}, s.Views, o)
	}
	for _, f := range Forms() {
		var one, four bytes.Buffer
		if err := errors.Join(f.Write(&one, made(1)), f.Write(&four, made(4))); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(one.Bytes(), four.Bytes()) {
			t.Errorf("%s: another number of workers, other bytes", f.Name)
		}
		at := filepath.Join("testdata", Base+f.Ending)
		if *update {
			if err := errors.Join(os.MkdirAll("testdata", 0o755), os.WriteFile(at, one.Bytes(), 0o644)); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(at)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(one.Bytes(), want) {
			t.Errorf("%s is not what %s holds; -update writes it", f.Name, at)
		}
	}
}

func FuzzReadReport(f *testing.F) {
	b, err := os.ReadFile(filepath.Join("testdata", "repeat.json"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := ReadReport("r.json", b)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "r.json: ") {
				t.Fatalf("%v names no file", err)
			}
			return
		}
		o := usual(4)
		o.Contract = &aggregate.Contract{Tau: 0.5, P: 0.1, Confidence: 0.95}
		o.Rules = []string{"trim"}
		s := subject(3, []string{"plain", "polite", "terse"}, false, flipped(0, 0))
		if r.Follows(o, []*Subject{s}) != nil {
			return
		}
		o.Before = r
		judged(t, s, o)
	})
}

// Spaces at the ends of an answer are seen, and what to do about them is said; answers without any stand as they are.
func TestSpacesAreSeen(t *testing.T) {
	for end, want := range map[string]bool{" ": true, "!": false} {
		s := subject(12, []string{"plain", "polite"}, true, func(q Question) Answer {
			if q.Repeat%2 == 1 {
				return said(label(q.Object) + end)
			}
			return said(label(q.Object))
		})
		part := judged(t, s, usual(4)).worst()
		text := fmt.Sprint(part.Table, part.Notes)
		if strings.Contains(text, "--normalise trim") != want || strings.Contains(text, `"`) != want {
			t.Errorf("answers that end in %q: %s", end, text)
		}
	}
}
