package dataset

import (
	"fmt"

	"nero/data/tensor"
)

// Arrays reads all arrays of an npz file, by name.
func Arrays(file string) (map[string]tensor.Tensor, error) {
	o := newOpener(disk{})
	o.keep = o.max // in memory, whatever their size
	out := map[string]tensor.Tensor{}
	err := o.inArchive(file, func(z *archive) error {
		for key := range z.entries {
			a, err := o.entry(z, key)
			if err != nil {
				return err
			}
			if a.fortran && len(a.shape) > 1 {
				return fmt.Errorf("%s: array %q is in Fortran order; save numpy.ascontiguousarray of it", file,
					clip(key))
			}
			out[key] = tensor.Tensor{DType: a.dtype, Shape: a.shape, Raw: a.data}
		}
		return nil
	})
	return out, err
}
