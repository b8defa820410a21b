package audit

import (
	"slices"
)

// look is how a clue is looked for: by which checks, and what they ask, as a clause that begins with "whether". People
// read it where a diagnosis lacks the clue.
type look struct {
	clue   ClueName
	asks   string
	checks []string
}

// looks are those of the clues that can settle a diagnosis.
func looks() []look {
	return []look{
		{ClueActionLaw, "whether the actions obey the laws of the group", []string{"preflight"}},
		{ClueBatchCompany, "whether an answer depends on the others of its batch", []string{"company", "controls"}},
		{ClueBatchFinite, "whether outputs are finite in batches of every size", []string{"preflight"}},
		{ClueBatchPosition, "whether an answer depends on its place in the batch", []string{"controls"}},
		{ClueBatchScale, "whether a quantisation takes its scale from the whole batch", []string{"precision"}},
		{ClueBatchSize, "whether an answer depends on the size of its batch", []string{"controls"}},
		{ClueCentering, "whether shifts in space are what fails", []string{"subgroup"}},
		{ClueCentre, "whether turns about another centre pass", []string{"convention"}},
		{ClueChannel, "whether few channels of the output carry the error", []string{"sweep"}},
		{ClueClasses, "whether only some classes are affected", []string{"sweep"}},
		{ClueCleanComb, "whether exact elements hold and those between do not", []string{"endtoend"}},
		{ClueConstant, "whether the outputs vary at all", []string{"controls"}},
		{ClueCollapsed, "whether an embedding holds more than one direction", []string{"features"}},
		{ClueConvention, "whether another convention of the motion passes", []string{"convention", "ports"}},
		{ClueCoupling, "whether the layer that breaks couples a product of irreps", []string{"layers"}},
		{ClueCrop, "whether a crop or a pad treats the sides of a map alike", []string{"lint"}},
		{ClueCut, "whether what leaves the frame explains the error", []string{"lattice"}},
		{ClueDirection, "whether rotations about one direction hold", []string{"subgroup"}},
		{ClueEdgeBand, "whether the error lies at the border of the map", []string{"border"}},
		{ClueEngines, "whether two engines agree", []string{"engines"}},
		{ClueFades, "whether boxes are found less surely the farther they are moved", []string{"sweep"}},
		{ClueForceFactor, "whether the forces are the gradient but for a factor", []string{"forces"}},
		{ClueForwardHolds, "whether the outputs hold where gradients do not", []string{"gradient", "sweep"}},
		{ClueGradient, "whether gradients break the symmetry", []string{"gradient", "lie"}},
		{ClueHandedness, "whether turns hold and mirrors do not", []string{"lattice", "subgroup"}},
		{ClueHeavyTail, "whether a few errors are far above all others", []string{"sweep"}},
		{ClueIdentityError, "whether moving by nothing changes anything", []string{"controls"}},
		{ClueInputScale, "whether the inputs are in the range that the model was made for", []string{"controls"}},
		{ClueIrreps, "whether another type of the output passes", []string{"irreps"}},
		{ClueMovesAlong, "whether shifts move what is declared to stay", []string{"subgroup"}},
		{ClueMoving, "whether static shifts hold and moving ones do not", []string{"moving"}},
		{ClueNarrowPeak, "whether larger errors lie between the elements", []string{"search"}},
		{ClueNeighbors, "whether the answer jumps where a distance crosses a cut-off", []string{"neighbors"}},
		{ClueNonFinite, "whether all outputs are finite", []string{"preflight", "sweep"}},
		{ClueNonlinearity, "whether a nonlinearity on directional features breaks it", []string{"layers", "mend"}},
		{ClueNotConservative, "whether the forces are the gradient of the energy", []string{"forces", "gradient"}},
		{ClueOddLayer, "whether the claim holds without one layer", []string{"mend"}},
		{ClueOneElement, "whether one or a few elements carry the error", []string{"sweep"}},
		{ClueOrder, "whether exchanging two rows changes the answer", []string{"order", "subgroup"}},
		{ClueOutlier, "whether a few inputs make nearly all of the scale", []string{"controls"}},
		{ClueOutputLayer, "whether all layers hold and only the output does not", []string{"layers", "mend"}},
		{ClueParities, "whether one layer breaks under mirrors alone", []string{"layers"}},
		{CluePaddingLayer, "whether the graph pads with zeros", []string{"lint"}},
		{CluePoses, "whether the answers name the pose of the input", []string{"sweep"}},
		{CluePositions, "whether a table or a dense layer knows positions", []string{"lint", "layers", "mend"}},
		{ClueRandomNode, "whether the graph draws random numbers", []string{"lint"}},
		{ClueReducedPrecision, "whether the model computes in a coarser type", []string{"precision", "mend"}},
		{ClueRepeats, "whether the same input gives the same answer again", []string{"controls"}},
		{ClueResampling, "whether interpolation explains the error", []string{"endtoend", "lie"}},
		{ClueSlopeRounding, "whether double precision takes the error away", []string{"precision"}},
		{ClueSphere, "whether a product on the sphere is read off wrongly", []string{"layers"}},
		{ClueStays, "whether boxes keep their place in a moving window", []string{"shifts"}},
		{ClueStrideParity, "whether the grid of a strided layer is mapped to itself", []string{"lint"}},
		{ClueStridePattern, "whether the error over shifts has a period", []string{"shifts", "subgroup"}},
		{ClueTrainingNorm, "whether the graph normalises over the batch", []string{"lint"}},
		{ClueUnmoved, "whether the group changes the inputs", []string{"sweep"}},
		{ClueWarmup, "whether the first frames after a start differ from later ones", []string{"warmup"}},
	}
}

// Settles says how to look for what a diagnosis lacks: what is asked, by which check, and how that is run. Clues whose
// checks all ran are left out: they had nothing to say of this model.
func (r *Report) Settles(d *Diagnosis) []string {
	tested := map[string]bool{}
	for _, x := range r.Results {
		if x.Status == Tested {
			tested[x.Check.Name] = true
		}
	}
	var out []string
	for _, l := range looks() {
		if !slices.Contains(d.Missing, l.clue) {
			continue
		}
		k := slices.IndexFunc(l.checks, func(c string) bool { return !tested[c] })
		if k >= 0 {
			out = append(out, l.asks+" (nero audit --checks "+l.checks[k]+")")
		}
	}
	return out
}
