package dataset

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
)

// Select chooses samples by index: at most limit of n, all of them if limit is 0. labels are their classes, -1 for
// none, and may be nil unless balance is set.
//
// Without balance the choice is uniform and comes in ascending order. With balance every class that occurs gives the
// same number of samples, limit divided by the number of classes and rounded down, or as many as the smallest class has
// if limit is 0; the classes alternate in ascending order (0, 1, …, 9, 0, 1, …), so that the first samples are balanced
// too. Samples without a label are then never chosen.
//
// The choice depends on the arguments alone. One made with a smaller limit is contained in one made with a larger limit
// and the same seed; with balance it is its beginning.
func Select(labels []int, n, limit int, balance bool, seed uint64) ([]int, error) {
	switch {
	case n <= 0:
		return nil, errors.New("no samples to choose from")
	case limit < 0:
		return nil, fmt.Errorf("limit is %d, want 0 for all samples or a positive number", limit)
	case labels != nil && len(labels) != n:
		return nil, fmt.Errorf("%d labels for %d samples", len(labels), n)
	}
	if balance {
		return selectBalanced(labels, limit, false, seed)
	}
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	if limit == 0 || limit >= n {
		return all, nil
	}
	shuffle(all, seed, unlabelled)
	chosen := slices.Clone(all[:limit])
	slices.Sort(chosen)
	return chosen, nil
}

// Even chooses exactly limit samples of the classes that occur: as many of each as Select takes with balance, and of
// the first classes one more where limit is no multiple of their number. It begins with what Select takes, and a choice
// with a smaller limit is its beginning.
func Even(labels []int, limit int, seed uint64) ([]int, error) {
	if limit <= 0 {
		return nil, fmt.Errorf("limit is %d, want a positive number", limit)
	}
	return selectBalanced(labels, limit, true, seed)
}

// unlabelled is the stream of random numbers of a choice without classes; class k has stream k.
const unlabelled = 1 << 63

// selectBalanced chooses the same number of each class; with whole, what limit leaves over comes from the first classes
// that have one more.
func selectBalanced(labels []int, limit int, whole bool, seed uint64) ([]int, error) {
	members := map[int][]int{}
	for i, l := range labels {
		if l >= 0 {
			members[l] = append(members[l], i)
		}
	}
	if len(members) == 0 {
		return nil, errors.New("balance needs labels, but no sample has one: give labels or leave out balance")
	}
	classes := make([]int, 0, len(members))
	smallest := len(labels)
	for l, m := range members {
		classes = append(classes, l)
		smallest = min(smallest, len(m))
	}
	slices.Sort(classes)
	each, rest := smallest, 0
	if limit > 0 {
		each = limit / len(classes)
		if whole {
			rest = limit % len(classes)
		}
		if each == 0 {
			return nil, fmt.Errorf(
				"limit %d is less than one sample for each of the %d classes: raise it to %d or more, or leave out "+
					"balance", limit, len(classes), len(classes))
		}
		if each > smallest {
			return nil, tooFew(classes, members, each, smallest)
		}
	}
	for _, l := range classes {
		shuffle(members[l], seed, uint64(l))
	}
	chosen := make([]int, 0, each*len(classes))
	for k := range each {
		for _, l := range classes {
			chosen = append(chosen, members[l][k])
		}
	}
	for _, l := range classes {
		if rest > 0 && len(members[l]) > each {
			chosen = append(chosen, members[l][each])
			rest--
		}
	}
	if rest > 0 {
		return nil, tooFew(classes, members, each+1, smallest)
	}
	return chosen, nil
}

// tooFew names the classes that have not enough samples, at most five of them.
func tooFew(classes []int, members map[int][]int, each, smallest int) error {
	list, more := "", 0
	for _, l := range classes {
		if len(members[l]) >= each {
			continue
		}
		if more++; more <= 5 {
			if list != "" {
				list += ", "
			}
			list += fmt.Sprintf("class %d has %d", l, len(members[l]))
		}
	}
	if more > 5 {
		list += ", and " + strconv.Itoa(more-5) + " more classes"
	}
	return fmt.Errorf("not enough samples for %d of each class: %s; lower limit to %d or leave out balance", each, list,
		smallest*len(classes))
}

// shuffle permutes x by Fisher and Yates' method (Knuth, The Art of Computer Programming 2, algorithm P) from one
// stream of a PCG generator. It is written out so that a choice survives changes of the library's own shuffle.
func shuffle(x []int, seed, stream uint64) {
	pcg := rand.NewPCG(seed, stream)
	for i := len(x) - 1; i > 0; i-- {
		j := below(pcg, uint64(i)+1)
		x[i], x[j] = x[j], x[i]
	}
}

// below is uniform on 0..n-1: draws from the incomplete last block of 2^64 are repeated.
func below(src rand.Source, n uint64) uint64 {
	for {
		v := src.Uint64()
		if r := v % n; v-r <= -n {
			return r
		}
	}
}

// View is a part of a data set, in an order of its own. See [Subset].
type View struct {
	ds     Dataset
	index  []int
	labels []int
}

// Subset is the data set of the samples indexes of ds, in that order. IDs, labels and values stay as they are. Every
// index may appear once.
func Subset(ds Dataset, indexes []int) (*View, error) {
	n := ds.Len()
	seen := make([]bool, n)
	for k, i := range indexes {
		if i < 0 || i >= n {
			return nil, fmt.Errorf("index %d of the subset is %d, want 0 to %d", k, i, n-1)
		}
		if seen[i] {
			return nil, fmt.Errorf("index %d of the subset is %d for the second time", k, i)
		}
		seen[i] = true
	}
	v := &View{ds: ds, index: slices.Clone(indexes)}
	if all := ds.Labels(); all != nil {
		some := false
		labels := make([]int, len(indexes))
		for k, i := range indexes {
			labels[k] = all[i]
			some = some || all[i] >= 0
		}
		if some {
			v.labels = labels
		}
	}
	return v, nil
}

// Len is the number of chosen samples.
func (v *View) Len() int { return len(v.index) }

// Labels are the classes of the chosen samples; shared, not to be changed.
func (v *View) Labels() []int { return v.labels }

// IDs are the names of the chosen samples.
func (v *View) IDs() []string {
	all := v.ds.IDs()
	ids := make([]string, len(v.index))
	for k, i := range v.index {
		ids[k] = all[i]
	}
	return ids
}

// Sample is sample i of the choice.
func (v *View) Sample(i int) (Sample, error) {
	if i < 0 || i >= len(v.index) {
		return Sample{}, fmt.Errorf("sample %d of a subset of %d does not exist", i, len(v.index))
	}
	return v.ds.Sample(v.index[i])
}

// Files are those of the whole data set.
func (v *View) Files() []string { return v.ds.Files() }

// Info is that of the whole data set.
func (v *View) Info() Info { return v.ds.Info() }
