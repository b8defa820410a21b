package twosample

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"strings"
)

// Folds is how many parts the objects are dealt into: the classifier that scores a part has learned from the others.
const Folds = 5

// Least is the fewest objects that a classifier is trained on.
const Least = 20

// Deal says in which of [Folds] parts each object is, by a hash of the seed and its name, never by its place: all parts
// are of one size, but for one object, and both rows of an object are in one part.
func Deal(seed uint64, names []string) []int {
	order := Shuffle(seed, names)
	fold := make([]int, len(names))
	for k, i := range order {
		fold[i] = k % Folds
	}
	return fold
}

// Shuffle is an order of objects that their names and the seed decide.
func Shuffle(seed uint64, names []string) []int {
	type key struct {
		hash uint64
		i    int
	}
	keys := make([]key, len(names))
	for i, name := range names {
		keys[i] = key{Hash(seed, name), i}
	}
	slices.SortFunc(keys, func(a, b key) int {
		switch {
		case a.hash < b.hash:
			return -1
		case a.hash > b.hash:
			return 1
		}
		return strings.Compare(names[a.i], names[b.i])
	})
	order := make([]int, len(names))
	for k, x := range keys {
		order[k] = x.i
	}
	return order
}

// Hash is a number that a seed and the name of an object decide.
func Hash(seed uint64, name string) uint64 {
	h := fnv.New64a()
	var b [8]byte
	for i := range b {
		b[i] = byte(seed >> (8 * i))
	}
	_, _ = h.Write(b[:]) // a hash takes everything
	_, _ = h.Write([]byte(name))
	x := h.Sum64()
	x ^= x >> 31 // names that differ in their last letters are far apart in the order, too
	x *= 0x9e3779b97f4a7c15
	return x ^ x>>29
}

// ErrFew says that there are too few objects to train on.
var ErrFew = errors.New("too few objects")

// Classify trains ridge-logistic classifiers to tell the moved rows from the others and says how well they do on
// objects
// that they have not seen. fold is the part of each object, see [Deal]. Numbers are brought to one size first; those
// that
// do not vary are left out, and where none varies the AUC is undefined: nothing could be told apart, whatever moved.
func Classify(ctx context.Context, still, moved *Table, fold []int) (AUC, error) {
	if still.N != moved.N || still.D != moved.D || len(fold) != still.N {
		panic("twosample: tables of different shapes")
	}
	if still.N < Least {
		return AUC{}, fmt.Errorf("%w: %d, want at least %d", ErrFew, still.N, Least)
	}
	x := standard(still, moved)
	if x.p == 1 {
		return undefined(still.N), nil
	}
	var folds []scored
	beta := make([]float64, x.p)
	for k := range Folds {
		if err := ctx.Err(); err != nil {
			return AUC{}, err
		}
		beta = x.fit(fold, k, beta)
		var s scored
		for i, f := range fold {
			if f == k {
				s.still = append(s.still, x.score(i, beta))
				s.moved = append(s.moved, x.score(x.n+i, beta))
			}
		}
		folds = append(folds, s)
	}
	return pool(folds), nil
}

// Confirm is [Classify] with one classifier, which learns from some objects and is asked about others.
func Confirm(ctx context.Context, still, moved *Table, learn, ask []bool) (AUC, error) {
	if still.N != moved.N || still.D != moved.D || len(learn) != still.N || len(ask) != still.N {
		panic("twosample: tables of different shapes")
	}
	fold, learned, asked := make([]int, still.N), 0, 0
	for i := range fold {
		switch {
		case learn[i] && ask[i]:
			panic("twosample: an object to learn from is asked about")
		case learn[i]:
			learned++
		default:
			fold[i] = 1
		}
		if ask[i] {
			asked++
		}
	}
	if few := min(learned, asked); few < Least {
		return AUC{}, fmt.Errorf("%w: %d to learn from and %d to be asked about, want at least %d of each", ErrFew,
			learned, asked, Least)
	}
	x := standard(still, moved)
	if x.p == 1 {
		return undefined(asked), nil
	}
	if err := ctx.Err(); err != nil {
		return AUC{}, err
	}
	beta := x.fit(fold, 1, make([]float64, x.p))
	var s scored
	for i, of := range ask {
		if of {
			s.still = append(s.still, x.score(i, beta))
			s.moved = append(s.moved, x.score(x.n+i, beta))
		}
	}
	return pooled([]scored{s}, 1), nil
}

// design is what a classifier reads: 2n rows of p numbers, the last of which is 1.
type design struct {
	n, p int
	v    []float64
}

// standard brings all numbers that vary to mean 0 and deviation 1 over both tables.
func standard(still, moved *Table) *design {
	n, d := still.N, still.D
	mean, square := make([]float64, d), make([]float64, d)
	both := []*Table{still, moved}
	for _, t := range both {
		for i := range n {
			for j, v := range t.Row(i) {
				mean[j] += float64(v)
			}
		}
	}
	for j := range mean {
		mean[j] /= float64(2 * n)
	}
	for _, t := range both {
		for i := range n {
			for j, v := range t.Row(i) {
				e := float64(v) - mean[j]
				square[j] += float64(e * e)
			}
		}
	}
	var keep []int
	scale := make([]float64, d)
	for j := range square {
		deviation := math.Sqrt(square[j] / float64(2*n))
		if deviation > 1e-6*math.Abs(mean[j]) && deviation > 0 { // else it is the rounding of float32
			keep, scale[j] = append(keep, j), 1/deviation
		}
	}
	x := &design{n: n, p: len(keep) + 1}
	x.v = make([]float64, 0, 2*n*x.p)
	for _, t := range both {
		for i := range n {
			row := t.Row(i)
			for _, j := range keep {
				x.v = append(x.v, (float64(row[j])-mean[j])*scale[j])
			}
			x.v = append(x.v, 1)
		}
	}
	return x
}

func (x *design) row(i int) []float64 { return x.v[i*x.p : (i+1)*x.p] }

// score is the log-odds that a row was moved.
func (x *design) score(i int, beta []float64) float64 { return dot(x.row(i), beta) }

// dot is the sum of products. Four sums go on side by side, which the processor can do at once.
func dot(a, b []float64) float64 {
	b = b[:len(a)]
	var s0, s1, s2, s3 float64
	i := 0
	for ; i+4 <= len(a); i += 4 {
		s0 += float64(a[i] * b[i])
		s1 += float64(a[i+1] * b[i+1])
		s2 += float64(a[i+2] * b[i+2])
		s3 += float64(a[i+3] * b[i+3])
	}
	for ; i < len(a); i++ {
		s0 += float64(a[i] * b[i])
	}
	return (s0 + s1) + (s2 + s3)
}
