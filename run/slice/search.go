package slice

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"nero/internal/elementary"
	"nero/measure/aggregate"
)

// Condition is something that can be said of samples, such as a label.
type Condition struct {
	// for people
	Text string
	// Rule says it as a rule, "" where none can.
	Rule string
	// Of is what it is said of: two conditions of the same thing are not put together.
	Of string
	// the samples of which it holds
	In Bits
}

// SearchOptions say how slices are searched for.
type SearchOptions struct {
	// HigherWorse says that samples with larger values are the worse ones.
	HigherWorse bool
	// Least is how many samples a slice has at least, and how many are left outside.
	Least int
	// Most is how many slices are reported at most.
	Most int
	// Resamples is how often values are dealt out to the samples anew, to see how far slices differ by chance: once at
	// least.
	Resamples  int
	Confidence float64
	Rand       *rand.Rand
}

// Found is a slice that is worse than the rest.
type Found struct {
	// one or two, indexes of the conditions
	Conditions []int
	In         Bits
	// samples with a value in it
	N int
	// Mean of its samples, and Rest of all others
	Mean, Rest float64
	// Gap is by how much it is worse than the rest, Lo and Hi its interval, which holds for all slices that were tried
	// at once.
	Gap, Lo, Hi float64
	// P is the probability that some slice of those that were tried is as far apart by chance alone.
	P float64
}

// tried is a slice with what resampling needs of it.
type tried struct {
	conditions []int
	in         Bits
	rows       []int32
	gap, z     float64
	mean, rest float64
	// of Welch
	se float64
}

// Search finds slices of one or two conditions whose samples have worse values than all others, the clearest first,
// and says how many it tried. A value that is not finite does not count. The statistic is the difference of the means
// over its standard error if there were no difference; how large the largest of all gets by chance is found by dealing
// the values out anew (Westfall and Young's maxT), which knows how many slices were tried and how much they overlap.
// Slices of two conditions are left out where one of the two alone says nearly as much, and slices that are nearly
// those of a clearer one.
func Search(values []float64, conditions []Condition, o SearchOptions) (found []Found, n int) {
	var rows []int32
	for i, v := range values {
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			rows = append(rows, int32(i))
		}
	}
	sign := -1.0
	if o.HigherWorse {
		sign = 1
	}
	y := make([]float64, len(rows))
	at := make([]int32, len(values)) // position in y
	total, squares := 0.0, 0.0
	for k, i := range rows {
		y[k] = sign * values[i]
		at[i] = int32(k)
		total += y[k]
	}
	mean := total / float64(max(len(y), 1))
	for _, v := range y {
		squares += float64((v - mean) * (v - mean))
	}
	has := NewBits(len(values))
	for _, i := range rows {
		has.Add(int(i))
	}
	all := candidates(conditions, has, len(rows), o.Least)
	if len(all) == 0 || !(squares > 0) {
		return nil, len(all)
	}
	for _, t := range all {
		for i := range t.in.All() {
			t.rows = append(t.rows, at[i])
		}
		t.measure(y, total, squares)
	}
	o.Resamples = max(o.Resamples, 1)
	largest, width := make([]float64, o.Resamples), make([]float64, o.Resamples)
	deal := slices.Clone(y)
	for b := range o.Resamples {
		o.Rand.Shuffle(len(deal), func(i, j int) { deal[i], deal[j] = deal[j], deal[i] })
		for _, t := range all {
			_, _, z := t.apart(deal, total, squares)
			largest[b], width[b] = max(largest[b], z), max(width[b], math.Abs(z))
		}
	}
	slices.Sort(width)
	c := width[min(len(width)-1, int(math.Ceil(o.Confidence*float64(len(width)))))]
	slices.SortStableFunc(all, func(a, b *tried) int {
		return cmp.Or(cmp.Compare(b.z, a.z), cmp.Compare(len(a.conditions), len(b.conditions)))
	})
	single := map[int]*tried{}
	for _, t := range all {
		if len(t.conditions) == 1 {
			single[t.conditions[0]] = t
		}
	}
	var kept []*tried
	for _, t := range all {
		if len(kept) == o.Most || !(t.gap > 0) {
			break
		}
		if t.told(single, kept) {
			continue
		}
		kept = append(kept, t)
		above := 0
		for _, z := range largest {
			if z >= t.z {
				above++
			}
		}
		found = append(found, Found{
			Conditions: t.conditions, In: t.in, N: len(t.rows), Mean: sign * t.mean, Rest: sign * t.rest, Gap: t.gap,
			Lo: t.gap - float64(c*t.se), Hi: t.gap + float64(c*t.se),
			P: float64(above+1) / float64(o.Resamples+1),
		})
	}
	return found, len(all)
}

// candidates are the slices that are tried: each once, by the fewest conditions.
func candidates(conditions []Condition, has Bits, n, least int) []*tried {
	var all []*tried
	known := map[string]bool{}
	add := func(in Bits, of ...int) bool {
		in = in.And(has)
		k := in.Count()
		if k < least || n-k < least {
			return k >= least // what holds of nearly all can still be put together with others
		}
		key := in.String()
		if !known[key] {
			known[key] = true
			all = append(all, &tried{conditions: of, in: in})
		}
		return true
	}
	var wide []int
	for i := range conditions {
		if add(conditions[i].In, i) {
			wide = append(wide, i)
		}
	}
	for x, i := range wide {
		for _, j := range wide[x+1:] {
			if conditions[i].Of != conditions[j].Of {
				add(conditions[i].In.And(conditions[j].In), i, j)
			}
		}
	}
	return all
}

// apart is the mean in the slice and outside of it, and the difference over its standard error if there were none.
func (t *tried) apart(y []float64, total, squares float64) (in, out, z float64) {
	sum := 0.0
	for _, k := range t.rows {
		sum += y[k]
	}
	a, n := float64(len(t.rows)), float64(len(y))
	in, out = sum/a, (total-sum)/(n-a)
	se := math.Sqrt(squares / (n - 1) * (1/a + 1/(n-a)))
	return in, out, (in - out) / se
}

// measure measures a slice with the values as they are.
func (t *tried) measure(y []float64, total, squares float64) {
	t.mean, t.rest, t.z = t.apart(y, total, squares)
	t.gap = t.mean - t.rest
	member := make([]bool, len(y))
	for _, k := range t.rows {
		member[k] = true
	}
	var in, out aggregate.Moments
	for k, v := range y {
		if member[k] {
			in.Add(v, k)
		} else {
			out.Add(v, k)
		}
	}
	t.se = elementary.Hypot(in.StdErr(), out.StdErr())
}

// gain is how much farther apart a slice of two conditions has to be than each of the two, and alike how much of two
// slices has to be common for them to be called the same.
const (
	gain  = 1.15
	alike = 0.8
)

// told reports whether others say of a slice what there is to say.
func (t *tried) told(single map[int]*tried, kept []*tried) bool {
	if len(t.conditions) == 2 {
		for _, c := range t.conditions {
			if s := single[c]; s != nil && s.z > 0 && t.gap < float64(gain*s.gap) {
				return true
			}
		}
	}
	return slices.ContainsFunc(kept, func(k *tried) bool {
		return float64(k.in.And(t.in).Count()) >= float64(alike*float64(k.in.Or(t.in).Count()))
	})
}
