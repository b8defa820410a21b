package dataset

import (
	"bytes"
	"fmt"

	"nero/data/tensor"
)

// Arrays reads all arrays of an npz file, by name. They have no more than so many bytes together, however much smaller
// the file is that they are packed in.
func Arrays(file string, most int64) (map[string]tensor.Tensor, error) {
	o := newOpener(disk{})
	o.keep, o.max = most, most // in memory, all of them
	return o.all(file, most, func(read func(*archive) error) error { return o.inArchive(file, read) })
}

// ArraysOf is [Arrays] of a file that was read already.
func ArraysOf(file string, b []byte, most int64) (map[string]tensor.Tensor, error) {
	o := newOpener(disk{})
	o.keep, o.max = most, most
	return o.all(file, most, func(read func(*archive) error) error {
		return o.unzip(file, bytes.NewReader(b), int64(len(b)), false, read)
	})
}

// all reads what is in the archive that open hands to its argument.
func (o opener) all(file string, most int64, open func(func(*archive) error) error) (map[string]tensor.Tensor, error) {
	out := map[string]tensor.Tensor{}
	err := open(func(z *archive) error {
		left := uint64(most)
		for _, e := range z.entries { // whose sizes are held against what comes
			if e.UncompressedSize64 > left {
				return fmt.Errorf("%s: its arrays have more than %d bytes together, which are not read", file, most)
			}
			left -= e.UncompressedSize64
		}
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
