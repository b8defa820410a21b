package dataset

import "fmt"

// openGraphs opens sets and graphs: arrays, or a file of JSON lines.
func (o opener) openGraphs(spec Spec) (Dataset, error) {
	array, err := o.isArray(spec.Images)
	if err != nil {
		return nil, err
	}
	if !array {
		return nil, fmt.Errorf("%s: want npz or npy", spec.Images)
	}
	d, _, err := o.openTable(spec, "graphs")
	if err != nil {
		return nil, err
	}
	return d, d.label(o, spec)
}
