package dataset

import "fmt"

// openSignals opens recordings: arrays, a folder of WAV files, or one such file.
func (o opener) openSignals(spec Spec) (Dataset, error) {
	array, err := o.isArray(spec.Images)
	if err != nil {
		return nil, err
	}
	if !array {
		return nil, fmt.Errorf("%s: want npz or npy", spec.Images)
	}
	d, _, err := o.openTable(spec, "signals")
	if err != nil {
		return nil, err
	}
	return d, d.label(o, spec)
}
