package dataset

import "fmt"

// openShapes opens a folder of meshes and files of points, or one of them.
func (opener) openShapes(spec Spec) (Dataset, error) {
	return nil, fmt.Errorf("%s: want npz or npy", spec.Images)
}
