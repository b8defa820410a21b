package slice

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"
)

// searched are samples of ten labels and a tag, and nothing else that matters.
func searched(r *rand.Rand, n int, value func(label int, dark bool) float64) ([]float64, []Condition) {
	values := make([]float64, n)
	var all []Condition
	for l := range 10 {
		all = append(all, Condition{Text: "label " + strconv.Itoa(l), Of: "label", In: NewBits(n)})
	}
	dark := Condition{Text: "dark", Of: "tag", In: NewBits(n)}
	for k := range 6 {
		noise := Condition{Text: "noise " + strconv.Itoa(k), Of: "noise " + strconv.Itoa(k), In: NewBits(n)}
		for i := range n {
			if r.IntN(3) == 0 {
				noise.In.Add(i)
			}
		}
		all = append(all, noise)
	}
	for i := range n {
		l, d := i%10, r.IntN(4) == 0
		all[l].In.Add(i)
		if d {
			dark.In.Add(i)
		}
		values[i] = value(l, d) + 0.1*r.NormFloat64()
	}
	return values, append(all, dark)
}

func options(seed uint64) SearchOptions {
	return SearchOptions{Least: 10, Most: 5, Resamples: 199, Confidence: 0.95, Rand: rand.New(rand.NewPCG(seed, 1))}
}

// What was planted is found first, by the conditions that make it, with an interval that holds the truth.
func TestSearchFinds(t *testing.T) {
	values, conditions := searched(rand.New(rand.NewPCG(1, 1)), 1000, func(l int, dark bool) float64 {
		if l == 6 && dark {
			return 0.3
		}
		return 0.8
	})
	values[0] = math.NaN()
	found, tried := Search(values, conditions, options(2))
	if len(found) == 0 || tried < 17 {
		t.Fatalf("%d found of %d", len(found), tried)
	}
	f := found[0]
	if len(f.Conditions) != 2 || conditions[f.Conditions[0]].Text != "label 6" ||
		conditions[f.Conditions[1]].Text != "dark" || f.P > 0.01 || !(f.Lo < 0.5 && 0.5 < f.Hi) ||
		math.Abs(f.Mean-0.3) > 0.1 || math.Abs(f.Rest-0.8) > 0.02 || f.N != f.In.Count() {
		t.Errorf("%+v", f)
	}
	for _, f := range found[1:] {
		if f.P < 0.05 && len(f.Conditions) == 2 && conditions[f.Conditions[0]].Of != "label" {
			t.Errorf("it also found %v, p %g", f.Conditions, f.P)
		}
	}
	// The other way round it is the best slice, and others are worse.
	o := options(2)
	o.HigherWorse = true
	if found, _ := Search(values, conditions, o); len(found) > 0 && found[0].In.And(f.In).Count() == f.N {
		t.Errorf("the best slice is called the worst: %+v", found[0])
	}
	// One condition is enough where the other says nothing.
	values, conditions = searched(rand.New(rand.NewPCG(4, 1)), 1000, func(l int, _ bool) float64 {
		return map[bool]float64{true: 0.3, false: 0.8}[l == 6]
	})
	if found, _ := Search(values, conditions, options(2)); len(found) == 0 || len(found[0].Conditions) != 1 ||
		conditions[found[0].Conditions[0]].Text != "label 6" {
		t.Errorf("%+v", found)
	}
}

// Where nothing is to be found, something is said to be found about as often as the level admits, however many slices
// are tried.
func TestSearchKeepsItsLevel(t *testing.T) {
	wrong, outside := 0, 0
	const runs = 60
	for k := range uint64(runs) {
		values, conditions := searched(rand.New(rand.NewPCG(k, 7)), 200, func(int, bool) float64 { return 0.5 })
		found, _ := Search(values, conditions, options(k))
		if len(found) > 0 && found[0].P <= 0.05 {
			wrong++
		}
		for _, f := range found {
			if !(f.Lo <= 0 && 0 <= f.Hi) {
				outside++
				break
			}
		}
	}
	if wrong > 9 || outside > 9 { // of 60 at 0.05: more than 9 has a probability of 0.0002, and the draws are fixed
		t.Errorf("%d of %d searches found something, %d intervals leave out that nothing is there", wrong, runs,
			outside)
	}
}

// Whoever asks for no draws gets one: there is no interval without any.
func TestSearchDrawsOnce(t *testing.T) {
	values := make([]float64, 40)
	in := NewBits(len(values))
	for i := range 20 {
		values[i] = 1 + float64(i%3)
		in.Add(i)
	}
	found, _ := Search(values, []Condition{{In: in}}, SearchOptions{
		HigherWorse: true, Least: 5, Most: 3, Confidence: 0.95, Rand: rand.New(rand.NewPCG(1, 2)),
	})
	if len(found) != 1 || found[0].P > 1 || found[0].P < 0.5 {
		t.Errorf("%+v", found)
	}
}

func TestSearchOfNothing(t *testing.T) {
	_, conditions := searched(rand.New(rand.NewPCG(1, 7)), 100, func(int, bool) float64 { return 0 })
	same := make([]float64, 100)
	if found, _ := Search(same, conditions, options(1)); len(found) != 0 {
		t.Errorf("%+v", found)
	}
	if found, n := Search(nil, nil, options(1)); len(found) != 0 || n != 0 {
		t.Errorf("%+v of %d", found, n)
	}
}
