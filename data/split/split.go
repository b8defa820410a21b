// Package split divides samples into three disjoint sets, so that what is learned, what is chosen and what is reported
// come from different ones.
package split

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
)

// Side is the set that a sample belongs to.
type Side string

// The sides. A number from another side than Confirm is never shown without the word.
const (
	// Fit is what maps, ranks and poses are learned from.
	Fit Side = "fit"
	// Choose is what methods, penalties and thresholds are chosen on.
	Choose Side = "choose"
	// Confirm is what every number that is reported comes from.
	Confirm Side = "confirm"
)

// Sides are all of them, in the order of their use.
func Sides() []Side { return []Side{Fit, Choose, Confirm} }

// Parse reads the name of a side.
func Parse(text string) (Side, error) {
	if s := Side(text); slices.Contains(Sides(), s) {
		return s, nil
	}
	return "", fmt.Errorf("%q is no side of the samples; want fit, choose or confirm", text)
}

// Shares are the parts of the objects that learn and choose; what is left confirms. They are in [0,1], and so is their
// sum.
type Shares struct {
	Fit    float64 `json:"fit"`
	Choose float64 `json:"choose"`
}

// Preset is half of the objects to learn from, and a quarter each to choose and to confirm.
func Preset() Shares { return Shares{Fit: 0.5, Choose: 0.25} }

// Of is the side of an object. It is a function of the seed and the object's name, and of nothing else: neither its
// place among others nor their number moves it, so that a sample which was learned from in one study confirms nothing
// in
// a longer one.
func (s Shares) Of(seed uint64, object string) Side {
	h := sha256.New()
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], seed)
	h.Write(b[:])
	h.Write([]byte(object))
	const bits = 53
	u := float64(binary.LittleEndian.Uint64(h.Sum(nil))>>(64-bits)) / (1 << bits)
	switch {
	case u < s.Fit:
		return Fit
	case u < s.Fit+s.Choose:
		return Choose
	}
	return Confirm
}

// Sets are the indexes of objects by side, each in ascending order.
type Sets map[Side][]int

// Divide puts objects, by their names, on their sides.
func (s Shares) Divide(seed uint64, objects []string) Sets {
	out := Sets{}
	for i, o := range objects {
		side := s.Of(seed, o)
		out[side] = append(out[side], i)
	}
	return out
}

// Need is an error unless each of the sides has a sample at least.
func (s Sets) Need(sides ...Side) error {
	n := 0
	for _, all := range s {
		n += len(all)
	}
	for _, side := range sides {
		if len(s[side]) == 0 {
			return fmt.Errorf("of the samples, %d in all, none is on the side %q: they are divided by their names, "+
				"%s, and few of them may leave a side empty; give more samples, or another seed", n, side, s)
		}
	}
	return nil
}

// String is how many there are of each, as in "fit 40, choose 22, confirm 18".
func (s Sets) String() string {
	var parts []string
	for _, side := range Sides() {
		parts = append(parts, fmt.Sprintf("%s %d", side, len(s[side])))
	}
	return strings.Join(parts, ", ")
}
