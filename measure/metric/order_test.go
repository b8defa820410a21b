package metric_test

import (
	"math"
	"strings"
	"testing"

	"nero/measure/metric"
)

// Answers that are right as often as by guessing are told, better ones, few and those of one label are not.
func TestGuessed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name           string
		n, classes, of int // the first of every so many is right, the others are spread over the classes
		guessed        bool
	}{
		{"37 inputs of four classes, twelve right", 37, 4, 3, true},
		{"the same share of many", 370, 4, 3, false},
		{"all right", 12, 2, 1, false},
		{"all right, too few to say", 8, 8, 1, false},
		{"few", 11, 4, 4, false},
		{"one label", 40, 1, 1, false},
	} {
		var labels, answers []int
		for i := range c.n {
			l := i % c.classes
			labels, answers = append(labels, l), append(answers, l)
			if i%c.of != 0 {
				answers[i] = (l + 1 + i/c.classes%max(1, c.classes-1)) % c.classes
			}
		}
		if o, told := metric.Misordered(labels, answers); o.Guessed() != c.guessed || told && c.guessed {
			t.Errorf("%s: %+v, guessed %v, another order %v", c.name, o, o.Guessed(), told)
		}
	}
	o, _ := metric.Misordered(make([]int, 40), make([]int, 40))
	if o.Guessed() {
		t.Error("a single label was called guessed")
	}
	labels, answers := make([]int, 40), make([]int, 40)
	for i := range labels {
		labels[i] = i % 2
	}
	o, _ = metric.Misordered(labels, answers)
	if !o.Guessed() || !strings.Contains(o.GuessedText(), "20 of 40 inputs as they are, where guessing gives 50.0%") {
		t.Errorf("a constant answer: %+v: %s", o, o.GuessedText())
	}
}

// Labels that are numbered in another order are told with the order that fits; the right order, honest models that are
// bad, constant answers and too few inputs are not.
// Of many samples some from all over are asked: files may lie in the order of their classes.
func TestOrderBlocks(t *testing.T) {
	for _, n := range []int{0, 1, 99, 5000, 5001, 5099, 1_000_000} {
		at, asked := 0, 0
		blocks := metric.OrderBlocks(n)
		for _, b := range blocks {
			if b[0] < at || b[1] < b[0] {
				t.Fatalf("%d samples: %v", n, blocks)
			}
			at = b[1]
			asked += b[1] - b[0]
		}
		if at != n || asked != min(n, 5000) {
			t.Errorf("%d of %d samples are asked, up to %d", asked, n, at)
		}
	}
}

func TestMisordered(t *testing.T) {
	t.Parallel()
	const n = 120
	answer := func(of func(i, label int) int, classes int) (labels, answers []int) {
		for i := range n {
			labels = append(labels, i%classes)
			answers = append(answers, of(i, i%classes))
		}
		return labels, answers
	}
	mixed := func(i, k int) int { return (i*7919 + i*i*104729) % k } // answers that know nothing of labels
	for _, c := range []struct {
		name    string
		classes int
		of      func(i, label int) int
		told    bool
		pairs   int
		text    string
	}{
		{"right", 5, func(_, l int) int { return l }, false, 5, ""},
		{"exchanged", 2, func(_, l int) int { return 1 - l }, true, 2, "label 0 (a) as class 1, label 1 (b) as class"},
		{"turned", 5, func(_, l int) int { return (l + 1) % 5 }, true, 5, "label 4 (e) as class 0"},
		{"two exchanged of five", 5, func(_, l int) int { return []int{1, 0, 2, 3, 4}[l] }, false, 5, ""},
		{"other numbers", 4, func(_, l int) int { return 200 + 3*l }, true, 4, "label 3 (d) as class 209"},
		{"turned and noisy", 5, func(i, l int) int {
			if i%5 == i/5%5 {
				return mixed(i, 5)
			}
			return (l + 2) % 5
		}, true, 5, "label 0 (a) as class 2"},
		{"without an order", 5, func(i, l int) int { return (l + 1 + i/5%4) % 5 }, true, 0, "chance alone"},
		{"slightly above chance", 4, func(i, l int) int {
			if i/4%3 == 0 {
				return l
			}
			return (l + 1 + i/4%3) % 4
		}, false, 0, ""},
		{"knows nothing", 6, func(i, _ int) int { return mixed(i/6, 6) }, false, 0, ""},
		{"always one", 5, func(_, _ int) int { return 3 }, false, 0, ""},
		{"always one that is none", 5, func(_, _ int) int { return 9 }, false, 0, ""},
		{"not known", 5, func(_, _ int) int { return -1 }, false, 0, ""},
	} {
		o, told := metric.Misordered(answer(c.of, c.classes))
		if told != c.told || told && len(o.Pairs) != c.pairs {
			t.Errorf("%s: told %v, %+v", c.name, told, o)
		}
		if text := o.Text([]string{"a", "b", "c", "d", "e"}); told && !strings.Contains(text, c.text) {
			t.Errorf("%s: %s, want %s", c.name, text, c.text)
		}
	}
	if o, told := metric.Misordered([]int{0, 1, 0, 1}, []int{1, 0, 1, 0}); told {
		t.Errorf("four inputs are told: %+v", o)
	}
	// P(X <= 2), X binomial of 10 and 1/2, is 56/1024.
	o, _ := metric.Misordered([]int{0, 0, 0, 0, 0, 1, 1, 1, 1, 1}, []int{0, 1, 1, 1, 1, 1, 0, 0, 0, 0})
	if !(math.Abs(o.P-56.0/1024) < 1e-12) || o.Right != 2 || o.Chance != 0.5 {
		t.Errorf("%+v, want P %v", o, 56.0/1024)
	}
}

// A text that goes on with … has left something out.
func TestOrderText(t *testing.T) {
	o := metric.Order{N: 60, Pairs: [][2]int{{0, 1}, {1, 0}, {2, 2}, {3, 3}, {4, 4}, {5, 5}}}
	if text := o.Text(nil); !strings.Contains(text, "label 0 as class 1, label 1 as class 0. Number") {
		t.Error(text)
	}
	o.Pairs = [][2]int{{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 0}}
	if text := o.Text(nil); !strings.Contains(text, "label 4 as class 5, …. Number") {
		t.Error(text)
	}
}
