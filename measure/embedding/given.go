package embedding

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"nero/measure/aggregate"

	"gonum.org/v1/gonum/mat"
)

// Limits of [Chain].
const (
	// MostSteps is how long chains of given pairs are.
	MostSteps = 4
	// mostOfThing is how many pairs of one thing and so many steps are looked at; of more, a seeded choice.
	mostOfThing = 200
	// mostStarts is how many inputs of one thing chains begin at.
	mostStarts = 64
)

// Pair is two inputs that show one thing.
type Pair struct {
	// A and B are the places of the inputs, A < B.
	A, B int
	// Steps is over how many given pairs the shortest way between them goes: 1 for a given pair.
	Steps int
}

// Things says which thing each of n inputs shows, where sets of them are given to show one thing each: sets that share
// an input show the same. Things are numbered in the order of their first inputs.
func Things(n int, sets [][]int) []int {
	w := newWalk(n, sets)
	thing := slices.Repeat([]int{-1}, n)
	things := 0
	for i := range n {
		if thing[i] >= 0 {
			continue
		}
		for _, j := range w.from(i, n) {
			thing[j] = things
		}
		things++
	}
	return thing
}

// Chain finds the pairs of inputs that show one thing. Each two inputs of a set are a given pair, and others follow
// from these over sets that share an input (Wang, He and Gupta, Transitive invariance, ICCV 2017). It says which thing
// each input shows, as [Things] does, and all pairs up to [MostSteps] steps, those of things with very many drawn at
// random.
func Chain(n int, sets [][]int, seed uint64) (thing []int, pairs []Pair) {
	thing = Things(n, sets)
	of := make([][]int, distinct(thing))
	for i, t := range thing {
		of[t] = append(of[t], i)
	}
	w := newWalk(n, sets)
	for t, inputs := range of {
		pairs = append(pairs, w.pairs(inputs, rand.New(rand.NewPCG(seed, streamStart(t))))...)
	}
	return thing, pairs
}

// streamStart is the stream of what is drawn of a thing.
func streamStart(thing int) uint64 { return streamChain + uint64(thing)<<32 }

// walk goes from input to input over the sets that they share.
type walk struct {
	of, sets [][]int
	// of the walk that is under way: how many steps an input is away, counted from 1, and whether a set was taken
	steps, done []int
	round       int
	reached     []int
}

func newWalk(n int, sets [][]int) *walk {
	w := &walk{of: make([][]int, n), sets: sets, steps: make([]int, n), done: make([]int, len(sets))}
	for k, set := range sets {
		for _, i := range set {
			w.of[i] = append(w.of[i], k)
		}
	}
	return w
}

// from are the inputs that are at most so many steps away, the nearest first, itself among them.
func (w *walk) from(start, most int) []int {
	for _, i := range w.reached {
		w.steps[i] = 0
	}
	w.round++
	w.reached = append(w.reached[:0], start)
	w.steps[start] = 1
	for at := 0; at < len(w.reached); at++ {
		i := w.reached[at]
		if w.steps[i] > most {
			break
		}
		for _, k := range w.of[i] {
			if w.done[k] == w.round {
				continue
			}
			w.done[k] = w.round
			for _, j := range w.sets[k] {
				if w.steps[j] == 0 {
					w.steps[j] = w.steps[i] + 1
					w.reached = append(w.reached, j)
				}
			}
		}
	}
	return slices.Clone(w.reached)
}

// pairs are those of one thing, by their steps and then by their inputs.
func (w *walk) pairs(inputs []int, r *rand.Rand) []Pair {
	by := make([][]Pair, MostSteps+1)
	begin := map[int]bool{}
	for _, k := range drawn(len(inputs), mostStarts, r) {
		begin[inputs[k]] = true
	}
	for _, a := range inputs {
		if !begin[a] {
			continue
		}
		for _, b := range w.from(a, MostSteps) {
			if s := w.steps[b] - 1; a != b && (a < b || !begin[b]) {
				by[s] = append(by[s], Pair{min(a, b), max(a, b), s})
			}
		}
	}
	var out []Pair
	for _, all := range by {
		slices.SortFunc(all, func(p, q Pair) int {
			if p.A != q.A {
				return p.A - q.A
			}
			return p.B - q.B
		})
		for _, k := range drawn(len(all), mostOfThing, r) {
			out = append(out, all[k])
		}
	}
	return out
}

// Given are the features of inputs some of which show one thing, as somebody has listed: there is no group.
type Given struct {
	at    *mat.Dense
	thing []int
	n     int // things
	opt   Options
	// distances of two things, ascending; each with its things
	others []other
	// Apart is their mean, Others how many there are: all pairs of inputs of two things, or a seeded choice.
	Apart  float64
	Others int
	// of each thing: sum and number of the distances that it is in
	sum, in []float64
}

type other struct {
	far  float64
	i, j int
}

// NewGiven takes features, a row for each input, and the thing that each of them shows. Features that are not finite,
// and fewer things than [LeastObjects], are an error as of [Orbits.Check]; such as never vary an [ErrConstant].
func NewGiven(at *mat.Dense, thing []int, opt Options) (*Given, error) {
	o := &Orbits{Object: thing, At: []*mat.Dense{at}}
	if err := o.Check(); err != nil {
		return nil, err
	}
	if len(o.dead()) == o.Width() {
		return nil, ErrConstant
	}
	g := &Given{at: at, thing: thing, opt: opt, n: distinct(thing)}
	g.sum, g.in = make([]float64, g.n), make([]float64, g.n)
	g.pairUp()
	for _, x := range g.others {
		g.Apart += x.far
		for _, k := range []int{x.i, x.j} {
			g.sum[k] += x.far
			g.in[k]++
		}
	}
	g.Others = len(g.others)
	g.Apart /= float64(g.Others)
	return g, nil
}

// far is how far two inputs are apart.
func (g *Given) far(i, j int) float64 { return far(g.at.RawRowView(i), g.at.RawRowView(j)) }

// pairUp finds how far inputs of two things are apart.
func (g *Given) pairUp() {
	ofTwo(g.thing, g.opt.Seed, func(i, j int) {
		g.others = append(g.others, other{g.far(i, j), g.thing[i], g.thing[j]})
	})
	slices.SortStableFunc(g.others, func(a, b other) int { return cmp.Compare(a.far, b.far) })
}

// Nearness says how far pairs of inputs that show one thing are apart, beside inputs of two things.
type Nearness struct {
	// Pairs is how many there are, Things of how many things.
	Pairs, Things int
	// Ratio is the mean distance of a pair over that of inputs of two things: 0 where views of a thing are one, about 1
	// where nothing is left of it. Each thing weighs the same. It has no unit.
	Ratio Estimate
	// AUC is the probability that a pair is nearer than two inputs of two things, of ties half: 1 always, 1/2 as often
	// as not. Its interval lies between 0 and 1.
	AUC Estimate
	// Seen is the interval of the AUC of things such as were seen, before it is widened by what never was.
	Seen aggregate.Interval
	// Worst is the pair that is furthest apart, WorstRatio how far.
	Worst      Pair
	WorstRatio float64
}

// Compare compares pairs with inputs of two things. Of no pairs nothing is defined.
func (g *Given) Compare(pairs []Pair) Nearness {
	out := Nearness{
		Pairs: len(pairs), Ratio: g.opt.undefined(), AUC: g.opt.undefined(), WorstRatio: math.NaN(),
	}
	out.Seen = out.AUC.Interval
	if len(pairs) == 0 {
		return out
	}
	far, weight := make([]float64, len(pairs)), make([]float64, g.n)
	for k, p := range pairs {
		far[k] = g.far(p.A, p.B)
		weight[g.thing[p.A]]++
		if x := far[k] / g.Apart; !(x <= out.WorstRatio) {
			out.Worst, out.WorstRatio = p, x
		}
	}
	own, nearer, all := make([]float64, g.n), make([]float64, g.n), true
	for k, p := range pairs {
		t := g.thing[p.A]
		own[t] += far[k] / weight[t]
		beyond := g.beyond(far[k])
		nearer[t] += beyond / weight[t]
		all = all && beyond == 1
	}
	has := make([]float64, g.n)
	for t, w := range weight {
		if w > 0 {
			has[t] = 1
			out.Things++
		}
	}
	// What a draw of things makes of the distances of two things, by its linear part in each (Hoeffding 1948).
	far2 := g.linear(g.sum, g.Apart)
	near2 := make([]float64, g.n)
	if all { // a share of 1, which sums of parts miss in their last bits
		copy(nearer, has)
	} else {
		near2 = g.linear(g.placed(pairs, far, weight, float64(out.Things)), ratio(nearer, has, nil))
	}
	out.Ratio = g.opt.estimate(g.n, streamRatio, func(count []int) float64 {
		b := g.Apart + drawnMean(far2, count)
		if !(b > 0) {
			return math.NaN()
		}
		return ratio(own, has, count) / b
	})
	out.AUC = g.opt.estimate(g.n, streamAUC, func(count []int) float64 {
		return min(max(ratio(nearer, has, count)+drawnMean(near2, count), 0), 1)
	})
	out.AUC.within()
	out.Seen = out.AUC.Interval
	var shares []float64
	for t, x := range nearer {
		if has[t] > 0 {
			shares = append(shares, x)
		}
	}
	g.opt.unseen(&out.AUC, shares, 0.5, 0.5)
	return out
}

// beyond is the share of inputs of two things that are further apart, of ties half.
func (g *Given) beyond(far float64) float64 {
	low, _ := slices.BinarySearchFunc(g.others, far, func(x other, t float64) int {
		if x.far < t {
			return -1
		}
		return 1
	})
	high, _ := slices.BinarySearchFunc(g.others, far, func(x other, t float64) int {
		if x.far <= t {
			return -1
		}
		return 1
	})
	return (float64(g.Others-high) + float64(high-low)/2) / float64(g.Others)
}

// placed is, for each thing, the sum over the distances that it is in of the share of pairs that are nearer.
func (g *Given) placed(pairs []Pair, far, weight []float64, things float64) []float64 {
	order := make([]int, len(pairs))
	for k := range order {
		order[k] = k
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(far[a], far[b]) })
	of := func(k int) float64 { return 1 / (weight[g.thing[pairs[k].A]] * things) }
	out := make([]float64, g.n)
	below, equal, at, tie := 0.0, 0.0, 0, 0
	for _, x := range g.others {
		for ; at < len(order) && far[order[at]] < x.far; at++ {
			below += of(order[at])
		}
		if tie <= at {
			tie, equal = at, 0
		}
		for ; tie < len(order) && far[order[tie]] == x.far; tie++ {
			equal += of(order[tie])
		}
		for _, t := range []int{x.i, x.j} {
			out[t] += below + equal/2
		}
	}
	return out
}

// linear is what each thing adds to a mean over distances of two things, less that mean.
func (g *Given) linear(sum []float64, mean float64) []float64 {
	out := make([]float64, g.n)
	for t := range out {
		out[t] = (sum[t] - float64(mean*g.in[t])) / float64(g.Others) * float64(g.n)
	}
	return out
}

// drawnMean is the mean of what things add that were drawn so often.
func drawnMean(by []float64, count []int) float64 {
	s, w := 0.0, 0.0
	for t, c := range count {
		s += float64(float64(c) * by[t])
		w += float64(c)
	}
	return s / w
}
