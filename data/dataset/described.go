package dataset

import "nero/data/space"

// Described is implemented by data sets that know what their samples are, without decoding one: clouds, molecules,
// graphs and signals, and every [View]. [SpaceOf] and [TargetSpaceOf] ask any data set.
type Described interface {
	// Space is kind, shape (-1 where samples differ), natural types, and the fields of a record.
	Space() space.Spec
	// TargetSpace says the same of the targets; its kind is "" if there are none.
	TargetSpace() space.Spec
}

// SpaceOf describes the samples of ds: as [Described] says, or else images or frames of the shape that [Shaped] and
// [Sequenced] announce. The kind is "" where nothing is known.
func SpaceOf(ds Dataset) space.Spec {
	if v, ok := ds.(*View); ok {
		return SpaceOf(v.ds)
	}
	if d, ok := ds.(Described); ok {
		return d.Space()
	}
	s, ok := ds.(Shaped)
	if !ok {
		return space.Spec{}
	}
	c, h, w := s.Shape()
	if q, ok := ds.(Sequenced); ok && q.Frames() > 0 {
		return space.Spec{Name: "frames", Kind: space.KindFrames, Shape: []int{q.Frames(), c, h, w}}
	}
	return space.Spec{Name: "image", Kind: space.KindImage, Shape: []int{c, h, w}}
}

// TargetSpaceOf describes the targets of ds: as [Described] says, or else their kind alone, which is "" if there are
// none.
func TargetSpaceOf(ds Dataset) space.Spec {
	if v, ok := ds.(*View); ok {
		return TargetSpaceOf(v.ds)
	}
	if d, ok := ds.(Described); ok {
		return d.TargetSpace()
	}
	if t, ok := ds.(Targeted); ok && t.Targets() != "" {
		return space.Spec{Name: "target", Kind: t.Targets()}
	}
	return space.Spec{}
}

// Space is that of the whole data set.
func (v *View) Space() space.Spec { return SpaceOf(v.ds) }

// TargetSpace is that of the whole data set.
func (v *View) TargetSpace() space.Spec { return TargetSpaceOf(v.ds) }
