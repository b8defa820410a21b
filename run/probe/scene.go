package probe

import (
	"context"
	"math"

	"nero/data/dataset"
	"nero/data/space"
)

// Scene is a sample before it is moved: what a crop window moves over, or what the whole of is moved.
type Scene struct {
	// position in the samples of the run
	Index int
	// id
	Sample string
	// class, -1 if there is none
	Label int
	Value space.Value
	// Range is what the numbers of Value are shown between, the same as that of [Input].
	Range [2]float64
	// Window is the place of the crop window at the identity, in pixels of Value: left, top, width and height. A shift
	// by t moves what is seen by t, so the window by -t. Nil if the whole sample is moved.
	Window []int
}

// Scene is sample number index of the run as it was read; callers must not change its value. Errors are those of
// [Service.Input].
func (s *Service) Scene(ctx context.Context, index int) (*Scene, error) {
	end, err := s.begin(index)
	if err != nil {
		return nil, err
	}
	defer end()
	release, err := s.inputs.take(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	smp, err := s.sample(ctx, index)
	if err != nil {
		return nil, err
	}
	return &Scene{
		Index: index, Sample: smp.ID, Label: smp.Label, Value: smp.Value, Range: smp.shown,
		Window: place(s.window, smp.Value),
	}, nil
}

// place is where a window of a height and width lies over a picture at the identity: in its middle, rounded up and left
// as [nero/symmetry/action.NewImage] does it. It is nil if there is none, or the value is no picture.
func place(window []int, v space.Value) []int {
	h, w := 0, 0
	if m := space.Picture(v); m != nil {
		h, w = m.H, m.W
	}
	if len(window) != 2 || window[0] > h || window[1] > w {
		return nil
	}
	return []int{(w - window[1]) / 2, (h - window[0]) / 2, window[1], window[0]}
}

// rangeOf is what the numbers of samples of a data set are shown between: the range of the files where their format has
// one, else that of the sample.
func rangeOf(d dataset.Dataset, v space.Value) [2]float64 {
	if most := d.Info().Max; most > 0 {
		return [2]float64{0, most}
	}
	images := space.Views(v)
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, m := range images {
		for _, x := range m.Pix {
			lo, hi = min(lo, x), max(hi, x)
		}
	}
	if !(lo <= hi) {
		return [2]float64{}
	}
	return [2]float64{lo, hi}
}
