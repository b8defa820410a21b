package twosample

import (
	"math"
	"math/rand/v2"
	"slices"

	"nero/measure/aggregate"
)

// Within are answers to one object as it is and moved, several of each: whoever asks whether they come from one
// distribution compares them within the object, for differences between objects hide everything else.
type Within struct {
	still, moved int
	// distances, row by row, the answers as it is first
	apart []float64
	// the answers themselves, nil where they are no numbers
	rows [][]float64
	// of rounds that share a seed: the answers of each seed, see Paired; nil where each answer is drawn for itself
	seeds [][]int
	// the place of the seed of each round in seeds
	of []int
}

// NewWithin measures the distances between answers, of which the first are those to the object as it is. There have to
// be two of each at least; a distance that is NaN makes all of it NaN.
func NewWithin(still, moved int, distance func(i, j int) float64) *Within {
	if still < 2 || moved < 2 {
		panic("twosample: fewer than two answers")
	}
	n := still + moved
	w := &Within{still: still, moved: moved, apart: make([]float64, n*n)}
	for i := range n {
		for j := range i {
			d := distance(i, j)
			w.apart[i*n+j], w.apart[j*n+i] = d, d
		}
	}
	return w
}

// Numbers says what the answers are, where they are numbers: those to the object as it is first.
func (w *Within) Numbers(rows [][]float64) *Within {
	w.rows = rows
	return w
}

// Paired says that the k-th answer as it is and the k-th one moved come from one round with one seed: what chance did
// to
// one it did to the other. Seeds has that of each round. Only answers of different seeds are independent, so that only
// those are compared, and what chance could have made otherwise is which answers of a seed are those moved, all of them
// at once where several rounds have it. There have to be as many answers as it is as moved, and two different seeds.
func (w *Within) Paired(seeds []int) *Within {
	if w.still != w.moved || len(seeds) != w.still {
		panic("twosample: answers without a partner")
	}
	at := map[int]int{}
	for k, seed := range seeds {
		i, ok := at[seed]
		if !ok {
			i = len(w.seeds)
			at[seed] = i
			w.seeds = append(w.seeds, nil)
		}
		w.seeds[i] = append(w.seeds[i], k)
		w.of = append(w.of, i)
	}
	if len(w.seeds) < 2 {
		panic("twosample: one seed")
	}
	return w
}

// draw is an order that chance could have made as well, if moving changes nothing.
func (w *Within) draw(r *rand.Rand) []int {
	if w.seeds == nil {
		return r.Perm(w.still + w.moved)
	}
	order := w.asIs()
	for _, rounds := range w.seeds {
		if r.IntN(2) == 0 {
			continue
		}
		for _, k := range rounds {
			order[k], order[w.still+k] = order[w.still+k], order[k]
		}
	}
	return order
}

// asIs is the order in which the answers came.
func (w *Within) asIs() []int {
	order := make([]int, w.still+w.moved)
	for i := range order {
		order[i] = i
	}
	return order
}

// together tells whether answers come from rounds with one seed, which says nothing of chance.
func (w *Within) together(i, j int) bool {
	return w.seeds != nil && w.of[i%w.still] == w.of[j%w.still]
}

// pairs are how many pairs of an answer to one and an answer to the other are compared, and of two answers to the same,
// each as it is and moved.
func (w *Within) pairs() (cross, still, moved float64) {
	r, s := w.still, w.moved
	if w.seeds == nil {
		return float64(r * s), float64(r * (r - 1) / 2), float64(s * (s - 1) / 2)
	}
	n := r * r
	for _, rounds := range w.seeds {
		n -= len(rounds) * len(rounds)
	}
	return float64(n), float64(n / 2), float64(n / 2)
}

// spread is by how much answers to the object moved lie further out among all answers to it than those as it is.
func (w *Within) spread(order []int) float64 {
	n := w.still + w.moved
	return w.between(order, func(i int) float64 {
		sum := 0.0
		for _, d := range w.apart[i*n : (i+1)*n] {
			sum += d
		}
		return sum / float64(n-1)
	})
}

// between is the mean of a number of the answers to the object moved less that of those as it is.
func (w *Within) between(order []int, of func(i int) float64) float64 {
	var still, moved float64
	for a, i := range order {
		if a < w.still {
			still += of(i)
		} else {
			moved += of(i)
		}
	}
	return moved/float64(w.moved) - still/float64(w.still)
}

// Excess is by how much answers to the object moved and as it is are further apart than two answers to the same:
//
//	mean |X-Y| - (mean |X-X'| + mean |Y-Y'|)/2
//
// over pairs of different answers: half the energy distance, without bias (Székely and Rizzo 2013, Energy statistics).
// Its expectation is 0 if both have one distribution and positive if not. With the distance 0 of equal and 1 of other
// answers it is Σ (p-q)²/2 of their probabilities. Of answers that are [Within.Paired] all three means are over pairs
// of
// different seeds: the expectation over seeds is the same, and answers that moving never changes have the excess 0 with
// any seeds.
func (w *Within) Excess() float64 { return w.excess(w.asIs()) }

// excess is that of the answers in another order.
func (w *Within) excess(order []int) float64 {
	cross, still, moved := w.means(order)
	return cross - still/2 - moved/2
}

// Apart is the mean distance of an answer to the object as it is and one to the object moved, over the pairs that
// [Within.Excess] compares.
func (w *Within) Apart() float64 {
	cross, _, _ := w.means(w.asIs())
	return cross
}

// means are the mean distances of answers in some order: of one as it is and one moved, and of two of the same.
func (w *Within) means(order []int) (cross, still, moved float64) {
	n := w.still + w.moved
	for a, i := range order {
		row := w.apart[i*n : (i+1)*n]
		for b, j := range order[:a] {
			switch {
			case w.together(i, j):
			case a < w.still:
				still += row[j]
			case b >= w.still:
				moved += row[j]
			default:
				cross += row[j]
			}
		}
	}
	c, x, y := w.pairs()
	return cross / c, still / x, moved / y
}

// Shift is what objects say together of being moved.
type Shift struct {
	// Excess is the mean of [Within.Excess] over objects, in the unit of the distances, with an interval over objects.
	Excess, Low, High float64
	// P is the p-value of the hypothesis that no object is answered otherwise when it is moved, from permutations of
	// the answers within objects, of paired ones within seeds: of the most unusual of three statistics, the excess,
	// which sees each object change in
	// a way of its own, and what all objects have in common, answers that lie further out and, of numbers, that moved
	// one way. That it is large shows nothing.
	P float64
	// Objects is how many there were.
	Objects int
}

// LeastObjects is the fewest objects that say something about others.
const LeastObjects = 6

// Moved compares the answers to objects as they are and moved. The p-value is exact for any number of objects and
// answers: if moving changes nothing, the answers to one object are in an order that chance has made. Of paired answers
// everything is said of the seeds that were asked with, which objects share. The interval is
// that of [aggregate.StudentBootstrap] over objects, and reaches at least as far to both sides as the share of other
// objects that none among so many leaves possible: where hardly any object differs, as of answers in words, the spread
// of
// those that were asked says little of those that were not, of which each may differ by 1. The generator alone decides
// the draws.
//
// No distance is above most; +Inf where nobody knows. Below a bound there is an upper end also where so few objects
// differ
// that most resamples have none of them, and the bootstrap says nothing: that of the share that what is above 0 makes
// of
// the bound, see [aggregate.ShareInterval].
func Moved(objects []*Within, most float64, resamples int, confidence float64, r *rand.Rand) Shift {
	s := Shift{Objects: len(objects), Excess: math.NaN(), P: math.NaN(), Low: math.Inf(-1), High: math.Inf(1)}
	if len(objects) == 0 {
		return s
	}
	values := make([]float64, len(objects))
	for i, o := range objects {
		values[i] = o.Excess()
	}
	s.Excess = mean(values)
	if math.IsNaN(s.Excess) {
		return s
	}
	told := statistics(objects)
	seen := make([][]float64, len(told)) // of the answers as they are, then of each draw
	orders := make([][]int, len(objects))
	for i, o := range objects {
		orders[i] = o.asIs()
	}
	for b := range Draws + 1 {
		for i, o := range objects {
			if b > 0 {
				orders[i] = o.draw(r)
			}
		}
		for k, of := range told {
			seen[k] = append(seen[k], round(of(orders)))
		}
	}
	s.P = joint(seen)
	if len(objects) < LeastObjects {
		return s
	}
	iv := aggregate.StudentBootstrap(values, resamples, confidence, r)
	var all, above aggregate.Moments
	for i, v := range values {
		all.Add(v, i)
		above.Add(max(v, 0)/most, i)
	}
	if iv.High > most {
		iv.High = most * aggregate.ShareInterval(above, confidence).High
	}
	if iv.Low < -most {
		iv.Low = aggregate.MeanInterval(all, confidence).Low
	}
	unseen := aggregate.ClopperPearson(0, len(objects), confidence).High
	s.Low, s.High = max(min(iv.Low, s.Excess-unseen), -most), min(max(iv.High, s.Excess+unseen), most)
	return s
}

// statistics are what answers in some orders are judged by.
func statistics(objects []*Within) []func(orders [][]int) float64 {
	over := func(of func(w *Within, order []int) float64) func(orders [][]int) float64 {
		return func(orders [][]int) float64 {
			sum := 0.0
			for i, o := range objects {
				sum += of(o, orders[i])
			}
			return sum / float64(len(objects))
		}
	}
	spread := over((*Within).spread)
	all := []func([][]int) float64{
		over((*Within).excess), func(orders [][]int) float64 { return math.Abs(spread(orders)) },
	}
	const mostWide = 64 // distances of more numbers tell enough
	wide := 0
	for i, o := range objects {
		if len(o.rows) != o.still+o.moved {
			return all
		}
		for _, row := range o.rows {
			if i == 0 && wide == 0 {
				wide = len(row)
			}
			if len(row) != wide || wide > mostWide {
				return all // or no number of one is that of another
			}
		}
	}
	return append(all, func(orders [][]int) float64 {
		sum := 0.0
		for d := range wide {
			x := over(func(w *Within, order []int) float64 {
				return w.between(order, func(i int) float64 { return w.rows[i][d] })
			})(orders)
			sum += float64(x * x)
		}
		return math.Sqrt(sum)
	})
}

// joint is the p-value of several statistics together, each given as that of the data and those of the draws: how often
// the most unusual one of a draw is as unusual as that of the data. Where the hypothesis holds, data and draws are
// alike, and it is at most α with probability at most α.
func joint(seen [][]float64) float64 {
	least := slices.Repeat([]float64{1}, len(seen[0]))
	for _, t := range seen {
		for b, x := range t {
			if math.IsNaN(x) { // of what is infinitely far; nothing is as unusual
				t[b] = math.Inf(1)
			}
		}
		sorted := slices.Sorted(slices.Values(t))
		for b, x := range t {
			below, _ := slices.BinarySearch(sorted, x)
			least[b] = min(least[b], float64(len(t)-below)/float64(len(t)))
		}
	}
	count := 0
	for _, p := range least {
		if p <= least[0] {
			count++
		}
	}
	return float64(count) / float64(len(least))
}

// mean is the arithmetic mean.
func mean(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}

// round leaves of a statistic what is not the rounding of its sum: permutations that say the same give the same number.
func round(x float64) float64 { return math.Round(x*(1<<40)) / (1 << 40) }
