// Package census asks data, without any model, whether they look the same after a group has moved them, how they are
// posed where they do not, and whether labels survive it: whether a symmetry may be built in, whether moved samples may
// be trained with, and how far they may be moved.
package census

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"nero/audit/document"
	"nero/data/dataset"
	"nero/data/space"
	"nero/data/split"
	"nero/measure/twosample"
	"nero/symmetry/action"
	"nero/symmetry/group"
)

// Presets.
const (
	// MostAUC is the AUC up to which data count as looking the same.
	MostAUC = 0.6
	// MostTwin is the AUC of samples moved there and back above which nothing is called alike for that alone: what
	// resampling shows leaves too little room above it. It is the largest at which at most one in twenty data sets that
	// differ is called alike, see TestLimitOfThereAndBack.
	MostTwin = 0.75
	// Allowed is how much larger the share of labels that change may be than it is at rest.
	Allowed = 0.1
	// Neighbors is by how many neighbors a label is found.
	Neighbors = 5
	// mostAsked is how many samples are moved and asked for their neighbors.
	mostAsked = 1500
	// mostPooled and mostCopies bound the randomisation.
	mostPooled, mostCopies = 200, 12
	// level is that of the p-values.
	level = 0.05
)

// Subject is what is asked.
type Subject struct {
	// Name says which data these are.
	Name  string
	Group group.Group
	// Elements are those that are tested; the identity is left out.
	Elements []group.Element
	// Measure says which elements these are.
	Measure string
	Action  action.Action
	// IDs are the names of the samples.
	IDs []string
	// Sample reads one of them.
	Sample func(i int) (dataset.Sample, error)
	// Labels are the classes, -1 for none; nil where there are none.
	Labels []int
	// Sides say which samples the classifier learns from and which are reported on; nil for parts that change places,
	// each asked of a classifier that learned from the others.
	Sides []split.Side
	// Value is the field that is looked at of samples that have several; empty for all.
	Value string
	// Classes are the words for them; nil for numbers.
	Classes []string
	Kinds   space.List
	Seed    uint64
	Workers int
	// Began and Step are told how much there is to do and what was done; nil for nobody. Step is told by several
	// goroutines at once.
	Began func(total int)
	Step  func(n int)
}

// Report is what was found.
type Report struct {
	Format int    `json:"format"`
	Data   string `json:"data"`
	Group  string `json:"group"`
	// Measure says which elements were tested.
	Measure string `json:"measure"`
	Seed    uint64 `json:"seed"`
	Samples int    `json:"samples"`
	// Learned is how many others the classifier learned from; 0 where samples were dealt into parts that change places.
	Learned int `json:"learned_fit,omitempty"`
	// Value is the field that was looked at alone; empty for all.
	Value string `json:"value,omitempty"`
	// Reading says what the classifier sees of a sample.
	Reading string `json:"reading"`
	// Sentence is the answer, and Do what to do.
	Sentence string `json:"sentence"`
	Do       string `json:"do"`
	// State is symmetric, approximate, posed, undecided or constant.
	State string `json:"state"`
	// Survive is stable, unsafe, unclear or unknown: what becomes of labels.
	Survive string `json:"survive"`
	// Control is the AUC of samples that two random elements moved, which is 0.5 whatever the data.
	Control  *Area     `json:"control,omitempty"`
	Elements []Element `json:"elements"`
	// Valid is how far around the identity the data look the same.
	Valid Range `json:"valid_range"`
	// Exact is the test by randomisation; its reason is set where there is none.
	Exact Exact `json:"exact"`
	Pose  *Pose `json:"pose,omitempty"`
	// Labels is nil without labels.
	Labels *Labels `json:"labels,omitempty"`
	// NoLabels says why there is nothing about labels.
	NoLabels string   `json:"no_labels,omitempty"`
	Advice   []Advice `json:"advice"`
	Notes    []string `json:"notes,omitempty"`

	// neighbors do not know the labels of samples as they are
	blind bool
}

// Area is an AUC with its interval of 95 % over objects.
type Area struct {
	Value document.Number `json:"value"`
	Low   document.Number `json:"low"`
	High  document.Number `json:"high"`
}

func area(a twosample.AUC) *Area {
	return &Area{document.Number(a.Value), document.Number(a.Low), document.Number(a.High)}
}

// What is said of an element.
const (
	Alike     = "alike"     // nothing that counts tells moved samples from others
	Different = "different" // something does
	Undecided = "undecided"
	Constant  = "constant" // nothing varies, so nothing can be told
)

// Element is what one element does to the data.
type Element struct {
	Name   string    `json:"name"`
	Coords []float64 `json:"coords"`
	// Resampled says that moving makes up values between those that there are.
	Resampled bool  `json:"resampled"`
	AUC       *Area `json:"auc"`
	// Twin is the AUC of samples that were moved there and back: what resampling alone shows. It is nil for elements
	// that resample nothing, where it is a half.
	Twin  *Area  `json:"twin,omitempty"`
	State string `json:"state"`

	// resampling alone shows so much that the rest is hidden by it
	hidden bool
}

// Range is the elements around the identity of which something holds.
type Range struct {
	// All says that it holds of all that were tested.
	All bool `json:"all"`
	// Axis, Low and High are the window on the one axis that the group has; Axis is empty for other groups.
	Axis string          `json:"axis,omitempty"`
	Low  document.Number `json:"low"`
	High document.Number `json:"high"`
	Unit string          `json:"unit,omitempty"`
	// Period is after how much of the axis everything is back; 0 where that is never.
	Period document.Number `json:"period,omitempty"`
	// Names are the elements.
	Names []string `json:"elements"`
}

// Exact is the test by randomisation of the whole group.
type Exact struct {
	// Reason is why there is none; nothing else is set then.
	Reason string `json:"reason,omitempty"`
	// Objects were given Copies copies each.
	Objects int `json:"objects,omitempty"`
	Copies  int `json:"copies,omitempty"`
	// Resampled says that all copies, also that of the object as it is, were resampled twice.
	Resampled bool   `json:"resampled,omitempty"`
	Tests     []Test `json:"tests,omitempty"`
	// P is the smallest p-value after Holm's correction.
	P document.Number `json:"p_value"`
}

// Test is one statistic.
type Test struct {
	Name string          `json:"name"`
	P    document.Number `json:"p_value"`
	// Holm is the p-value after correction for there being several statistics.
	Holm document.Number `json:"holm"`
}

// ErrFew says that there are too few samples.
var ErrFew = errors.New("too few samples")

// Take asks the data.
func Take(ctx context.Context, s *Subject) (*Report, error) {
	if n := len(s.IDs); n < twosample.Least {
		return nil, fmt.Errorf("%w: %d, want at least %d: of fewer a classifier learns nothing", ErrFew, n,
			twosample.Least)
	}
	if err := s.sided(); err != nil {
		return nil, err
	}
	t, err := newTaker(ctx, s)
	if err != nil {
		return nil, err
	}
	r := &Report{
		Format: FormatNumber, Data: s.Name, Group: s.Group.Name(), Measure: s.Measure, Seed: s.Seed,
		Samples: len(s.IDs), Reading: t.read.Doc, Notes: t.notes(), Value: s.Value,
	}
	if s.Sides != nil {
		r.Samples, r.Learned = len(t.reported), count(t.learn)
	}
	if err := t.classify(ctx, r); err != nil {
		return nil, err
	}
	t.exact(r)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	r.Pose = t.pose()
	if note := t.framed(r.Pose); note != "" {
		r.Notes = append(r.Notes, note)
	}
	if err := t.labels(ctx, r); err != nil {
		return nil, err
	}
	r.judge()
	return r, nil
}

// said is what is said of an element by the AUC of moved samples and that of samples moved there and back, 0 where
// nothing is resampled: what that alone shows is no difference up to the limit most, above which it hides too much.
func said(moved, twin twosample.AUC, most float64) string {
	limit := max(MostAUC, twin.High)
	switch {
	case moved.Undefined():
		return Constant
	case moved.High <= MostAUC:
		return Alike
	case moved.Low > limit:
		return Different
	case moved.High <= limit && twin.High <= most:
		return Alike
	}
	return Undecided
}

// sided reports whether both sides have enough samples.
func (s *Subject) sided() error {
	if s.Sides == nil {
		return nil
	}
	has := map[split.Side]int{}
	for _, x := range s.Sides {
		has[x]++
	}
	if fit, confirm := has[split.Fit], has[split.Confirm]; min(fit, confirm) < twosample.Least {
		return fmt.Errorf("%w: %d on the side fit and %d on the side confirm, want at least %d on each, or no split",
			ErrFew, fit, confirm, twosample.Least)
	}
	return nil
}

// count is how many are true.
func count(all []bool) int {
	n := 0
	for _, x := range all {
		if x {
			n++
		}
	}
	return n
}

// classify asks of each element whether moved samples can be told from others.
func (t *taker) classify(ctx context.Context, r *Report) error {
	fold := twosample.Deal(t.s.Seed, t.s.IDs)
	tell := func(a, b *twosample.Table) (twosample.AUC, error) {
		if t.s.Sides != nil {
			return twosample.Confirm(ctx, a, b, t.learn, t.ask)
		}
		return twosample.Classify(ctx, a, b, fold)
	}
	areas := make([]twosample.AUC, 2*len(t.elements)+1)
	err := parallel(ctx, t.s.Workers, len(areas), func(i int) (err error) {
		switch k := i / 2; {
		case i == len(areas)-1:
			areas[i], err = tell(t.control[0], t.control[1])
		case i%2 == 0:
			areas[i], err = tell(t.still, t.moved[k])
		case t.back[k] != nil:
			areas[i], err = tell(t.still, t.back[k])
		}
		t.step(len(t.s.IDs))
		return err
	})
	if err != nil {
		return err
	}
	r.Control = area(areas[len(areas)-1])
	for k, g := range t.elements {
		e := Element{
			Name: group.Title(t.s.Group, g), Coords: slices.Clone(g), Resampled: t.back[k] != nil,
			AUC: area(areas[2*k]),
		}
		twin := twosample.AUC{}
		if e.Resampled {
			twin = areas[2*k+1]
			e.Twin, e.hidden = area(twin), twin.High > MostTwin
		}
		e.State = said(areas[2*k], twin, MostTwin)
		r.Elements = append(r.Elements, e)
	}
	r.Valid = t.within(func(k int) bool { return r.Elements[k].State == Alike })
	return nil
}
