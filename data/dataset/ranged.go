package dataset

import "nero/data/tensor"

// Ranged is implemented by data sets whose values are integers of a known range: every data set that [Open] returns,
// and views of them.
type Ranged interface {
	// Max is the largest value that the files can hold: 255 for 8-bit and 65535 for 16-bit data; 0 where the format
	// sets no bound that means full intensity, as for floating-point and wider integer arrays.
	Max() float64
}

// Max is the range of the array's elements.
func (d *arrays) Max() float64 {
	switch d.images.dtype { //nolint:exhaustive // the other types have no full intensity
	case tensor.Uint8:
		return 255
	case tensor.Uint16:
		return 65535
	}
	return 0
}

// Max is the range of the pictures' samples.
func (d *folder) Max() float64 { return float64(uint64(1)<<d.common.depth - 1) }

// Max is that of the data set below the view.
func (v *View) Max() float64 {
	if r, ok := v.ds.(Ranged); ok {
		return r.Max()
	}
	return 0
}
