package sweep

import (
	"fmt"
	"math"
	"slices"

	"nero/audit"
)

// Limits of what is called even: mean errors of at most half the spread of the outputs, so that a moved answer still
// says seven eighths of what the unmoved one does, and none above three times the median over the elements.
const (
	evenMost   = 0.5
	evenSpread = 3
)

// even asks whether the errors are small beside the spread of the outputs and much the same at all elements, as those
// of a model are that was trained on moved inputs. One that was not is lost at some elements, and its errors there are
// as large as the spread itself.
func (r *Result) even(p *audit.Pass, s *audit.Set) {
	if r.Unit() != "" || len(s.Profile) < 3 {
		return
	}
	var means []float64
	for _, pt := range s.Profile {
		means = append(means, pt.Mean)
	}
	slices.Sort(means)
	most, median := means[len(means)-1], means[len(means)/2]
	c := audit.Clue{
		Name: audit.ClueEven, Set: s.Name, Strength: 0.9,
		Text: fmt.Sprintf("mean error up to %.2g of the spread of the outputs at one element, %.2g at half of them",
			most,
			median),
		Evidence: []audit.Evidence{
			audit.Number("largest mean error at an element", most, s.Unit).Against(evenMost),
			audit.Number("that over the median of the elements", most/median, "").Against(evenSpread),
		},
	}
	c.Holds = most <= evenMost && most <= evenSpread*median
	p.Clue(c)
}

// Limits of answers that name the pose: the share of the inputs whose class changes, and in the same way, the mean
// error over the spread of the outputs, and the inputs that this takes.
const (
	posesShare  = 0.95
	posesError  = 0.5
	posesInputs = 8
)

// poses asks whether the class changes with the element alone: nearly every input changes its class, those of one class
// all to the same other one, those of different classes to different ones, and the scores by as much as those of
// different inputs differ. A model that is lost at an element answers in many ways there, or in the same way to all;
// one that names the pose answers to each pose what it was taught.
func (r *Result) poses(p *audit.Pass, s *audit.Set) {
	c := r.Classes
	if c == nil || s.Unit != "" {
		return
	}
	m := len(r.elements)
	clue := audit.Clue{
		Name: audit.CluePoses, Set: s.Name, Strength: 0.9,
		Text: "no element changes the classes of all inputs in one way",
	}
	for j, e := range r.elements {
		if e.Exact != s.Exact {
			continue
		}
		to, n, changed := map[int]map[int]int{}, 0, 0
		for i, from := range c.Base {
			k := int(c.At[i*m+j])
			if from < 0 || k < 0 {
				continue
			}
			n++
			if k != from {
				changed++
			}
			if to[from] == nil {
				to[from] = map[int]int{}
			}
			to[from][k]++
		}
		if n < posesInputs || float64(changed) < posesShare*float64(n) {
			continue
		}
		agree, taken, apart := 0, map[int]bool{}, true
		first, then := -1, -1
		for from, list := range to {
			best := -1
			for k, v := range list {
				if best < 0 || v > list[best] || v == list[best] && k < best {
					best = k
				}
			}
			agree += list[best]
			apart, taken[best] = apart && !taken[best], true
			if first < 0 || from < first {
				first, then = from, best
			}
		}
		size := r.point(j, func(e float64) float64 { return e / r.Scale }).Mean
		share := float64(agree) / float64(n)
		if !apart || share < posesShare || !(size >= posesError) || math.IsInf(size, 0) {
			continue
		}
		clue.Holds, clue.Strength, clue.Location = true, min(1, share), e.Label
		clue.Text = fmt.Sprintf("at %s %d of %d inputs change their class, those of one class all to one other: class "+
			"%d becomes %d", e.Label, changed, n, first, then)
		clue.Evidence = []audit.Evidence{
			audit.Number("share of inputs whose class changes in one way", share, "").Against(posesShare),
			audit.Number("mean error there", size, s.Unit).Against(posesError),
		}
		break
	}
	p.Clue(clue)
}
