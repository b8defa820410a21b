package metric

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"nero/internal/distribution"
)

// Order is what answers say of how labels are numbered: whether by the order of classes that the model has.
type Order struct {
	// inputs with a label and an answer, and those of them where both are equal
	N, Right int
	// Labels is how many labels there are among them.
	Labels int
	// Chance is the share that would be right if answers knew nothing of labels: the sum over the classes of the share
	// of the labels times the share of the answers. P is how probable so few right ones are then, P(X ≤ Right) of a
	// binomial X.
	Chance, P float64
	// Pairs are labels with the answers that they are given most, each answer for one label: the assignment under which
	// Explained inputs are right. None if it does not explain most of them.
	Pairs     [][2]int
	Explained int
}

// Limits on what counts as another order of the classes.
const (
	rare        = 0.001 // of P
	explaining  = 0.6   // share that an assignment has to explain
	perLabel    = 5     // inputs of a label, in the mean, below which an assignment explains chance
	mostOrdered = 1000  // labels up to which an assignment is looked for
)

// Misordered tells whether labels are numbered in another order than the model's classes: fewer are right than chance
// alone would have it, or hardly any while one renaming of the classes makes most of them right. Labels and answers
// below 0 are not known.
func Misordered(labels, answers []int) (Order, bool) {
	var o Order
	of, said := map[int]int{}, map[int]int{}
	count := map[[2]int]int{}
	for i, l := range labels {
		if l < 0 || answers[i] < 0 {
			continue
		}
		o.N++
		if l == answers[i] {
			o.Right++
		}
		of[l]++
		said[answers[i]]++
		count[[2]int{l, answers[i]}]++
	}
	if o.N == 0 {
		return o, false
	}
	rows := sorted(of)
	o.Labels = len(rows)
	for _, l := range rows {
		o.Chance += float64((float64(of[l]) / float64(o.N)) * (float64(said[l]) / float64(o.N)))
	}
	o.P = 1
	if o.Right < o.N && o.Chance > 0 { // P(X ≤ k) = I_{1-p}(n-k, k+1)
		o.P = distribution.RegIncBeta(float64(o.N-o.Right), float64(o.Right+1), 1-o.Chance)
	}
	below := o.P < rare && float64(o.Right) < o.Chance*float64(o.N)
	if len(rows) > mostOrdered || o.N < perLabel*len(rows) || len(rows) < 2 {
		return o, below
	}
	columns := sorted(said)
	gain := make([][]float64, len(rows))
	for i, l := range rows {
		gain[i] = make([]float64, len(columns))
		for j, a := range columns {
			gain[i][j] = float64(count[[2]int{l, a}]) / float64(o.N)
		}
	}
	for i, j := range assign(gain) {
		if j >= 0 {
			o.Explained += count[[2]int{rows[i], columns[j]}]
			o.Pairs = append(o.Pairs, [2]int{rows[i], columns[j]})
		}
	}
	if float64(o.Explained) < explaining*float64(o.N) {
		o.Pairs, o.Explained = nil, 0
		return o, below
	}
	return o, below || 10*o.Right <= o.Explained
}

func sorted(m map[int]int) []int {
	var keys []int
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// Guessed tells whether so many right answers are no sign that the model knows the labels at all: answers that know
// nothing of them would be right as often in more than one of twenty draws. Of few inputs, or of one label, nothing is
// said.
func (o Order) Guessed() bool {
	const few, often = 12, 0.05
	if o.N < few || o.Labels < 2 || o.Chance == 0 || float64(o.Right) < o.Chance*float64(o.N) && o.P < often {
		return false
	}
	// P(X ≥ k) = I_p(k, n-k+1)
	return o.Right == 0 || distribution.RegIncBeta(float64(o.Right), float64(o.N-o.Right+1), o.Chance) > often
}

// OrderBlocks are the samples of n that are asked how labels are numbered, as half-open ranges: all, or many short
// ranges spread over a folder, whose files may be in the order of their classes.
func OrderBlocks(n int) [][2]int {
	const blocks, long = 50, 100
	if n <= blocks*long {
		return [][2]int{{0, n}}
	}
	out := make([][2]int, blocks)
	for b := range out {
		lo := int(int64(b) * int64(n-long) / (blocks - 1))
		out[b] = [2]int{lo, lo + long}
	}
	return out
}

// OrderWarning says that labels are numbered in another order than the classes, or that a model is right no more often
// than by guessing; "" if neither is seen. Classes are the names of the labels, nil for none.
func OrderWarning(labels, answers []int, classes []string) string {
	o, told := Misordered(labels, answers)
	switch {
	case told:
		return o.Text(classes)
	case o.Guessed():
		return o.GuessedText()
	}
	return ""
}

// GuessedText says that in words, and what is the usual reason.
func (o Order) GuessedText() string {
	return fmt.Sprintf("Right on %d of %d inputs as they are, where guessing gives %.1f%%: it is not seen to know the "+
		"labels. Often the pixels are not those that it was trained on: give the mean and the deviation that were "+
		"taken out, as input.mean and input.std or a data.preset.", o.Right, o.N, 100*o.Chance)
}

// Text says it in words; classes are the names of the labels, nil for none, and a number is no name.
func (o Order) Text(classes []string) string {
	out := &strings.Builder{}
	fmt.Fprintf(out, "Right on %d of %d inputs as they are, where chance alone gives %.1f%%: the labels are probably "+
		"not numbered as the model numbers its classes.", o.Right, o.N, 100*o.Chance)
	if len(o.Pairs) > 0 {
		const shown = 5
		var pairs []string
		more := ""
		for _, p := range o.Pairs {
			if p[0] == p[1] {
				continue
			}
			if len(pairs) == shown {
				more = ", …"
				break
			}
			name := ""
			if p[0] < len(classes) && classes[p[0]] != strconv.Itoa(p[0]) {
				name = fmt.Sprintf(" (%.30s)", classes[p[0]])
			}
			pairs = append(pairs, fmt.Sprintf("label %d%s as class %d", p[0], name, p[1]))
		}
		fmt.Fprintf(out, " Read in another order, %d of %d are right: %s%s.", o.Explained, o.N,
			strings.Join(pairs, ", "), more)
	}
	out.WriteString(" Number them as the model does: name folders by the numbers of its classes, or give --labels " +
		"FILE.csv with file,label.")
	return out.String()
}
