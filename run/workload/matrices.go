package workload

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"nero/data/dataset"
	"nero/data/tensor"
	"nero/internal/disk"
	"nero/run/job"
	"nero/symmetry/action"
	"nero/symmetry/group"
)

// maxMatrices is the largest file of matrices in bytes, and the most that they take unpacked, in the file's type and as
// float64.
const maxMatrices = 64 << 20

// typeMatrices is the type of channels that move by matrices of the user's.
const typeMatrices = "matrices"

// channels is the type of a tensor as codecs and rules call it.
func channels(t job.Type) string {
	if t.Matrices != "" {
		return typeMatrices
	}
	return t.Name
}

// matrices reads those by which the channels of the output move, and fixes which file that was.
func (w *Workload) matrices() (action.Representation, error) {
	of := &w.Study.Output.Type
	b, err := disk.Read(of.Matrices, maxMatrices)
	if err != nil {
		return action.Representation{}, err
	}
	digest := sha256.Sum256(b)
	sum := hex.EncodeToString(digest[:])
	if of.SHA256 != "" && of.SHA256 != sum {
		return action.Representation{}, fmt.Errorf("%s: its SHA-256 is %s, and %s is said: it is another "+
			"file than it was", of.Matrices, sum, of.SHA256)
	}
	of.SHA256 = sum
	all, err := dataset.ArraysOf(of.Matrices, b, maxMatrices)
	if err != nil {
		return action.Representation{}, err
	}
	rep, err := listed(w.group, all)
	if err != nil {
		return action.Representation{}, fmt.Errorf("%s: %w", of.Matrices, err)
	}
	if apart := rep.Stretch(); apart > action.Alike {
		w.note("the matrices of %s are not orthogonal: ρᵀρ is off from the unit matrix by up to %.2g, so they "+
			"stretch some numbers more than others, and errors are measured after they were moved "+
			"back", of.Matrices, apart)
	}
	return rep.Representation, nil
}

// listed makes a representation of the arrays of a file.
func listed(g group.Group, all map[string]tensor.Tensor) (action.Listed, error) {
	var zero action.Listed
	for _, name := range []string{"elements", "matrices"} {
		if _, ok := all[name]; !ok {
			return zero, fmt.Errorf("it has no array %q; it holds elements, one row of coordinates for each element "+
				"of %s, and matrices, one for each", name, g.Name())
		}
	}
	e, m := all["elements"], all["matrices"]
	axes := len(g.Chart())
	if len(e.Shape) != 2 || e.Shape[1] != axes {
		return zero, fmt.Errorf("elements have the shape %v; want one row of %d coordinates for each element of "+
			"%s", e.Shape, axes, g.Name())
	}
	n := e.Shape[0]
	if len(m.Shape) != 3 || m.Shape[0] != n || m.Shape[1] != m.Shape[2] || n < 1 || m.Shape[1] < 1 {
		return zero, fmt.Errorf("matrices have the shape %v; want %d square matrices, one for each element", m.Shape, n)
	}
	d := m.Shape[1]
	if d > maxMatrices/8/d/n { // before anything of that size is made
		return zero, fmt.Errorf("%d matrices of %d x %d numbers; they may take %d MB together", n, d, d,
			maxMatrices>>20)
	}
	coordinates, err := e.Float64s(nil)
	if err != nil {
		return zero, fmt.Errorf("elements: %w", err)
	}
	numbers, err := m.Float64s(nil)
	if err != nil {
		return zero, fmt.Errorf("matrices: %w", err)
	}
	var elements []group.Element
	for c := range slices.Chunk(coordinates, max(axes, 1)) {
		elements = append(elements, group.Element(c))
	}
	return action.NewListed(g, typeMatrices, d, elements, numbers)
}
