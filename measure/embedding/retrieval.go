package embedding

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// Retrieval says how far predictions are nearest to the right one among candidates.
type Retrieval struct {
	// N is how many predictions there are.
	N int
	// MRR is the mean of 1/rank, rank 1 for the nearest.
	MRR Estimate
	// H1, H5 and H10 are the shares of predictions whose rank is at most 1, 5 and 10.
	H1, H5, H10 float64
	// Candidates is how many there are to choose among, on average.
	Candidates float64
	// Chance is the MRR of a guess: the mean of (1 + 1/2 + ... + 1/n)/n.
	Chance float64
}

// Rank is the place of candidate truth by its Euclidean distance from the prediction, 1 for the nearest. Candidates as
// far as it come before it, so that features that say nothing do not rank first. It is 0 if a distance is NaN, and
// panics if truth is no candidate.
func Rank(predicted []float64, candidates [][]float64, truth int) int {
	own, rank := apart(candidates[truth], predicted), 1
	for i, c := range candidates {
		d := apart(c, predicted)
		if math.IsNaN(d) || math.IsNaN(own) {
			return 0
		}
		if i != truth && d <= own {
			rank++
		}
	}
	return rank
}

// Retrieve summarises ranks, each among so many candidates, of samples of objects. Ranks of 0 have no value and make
// all numbers NaN. Without ranks they are NaN too.
func Retrieve(ranks, candidates, object []int, opt Options) Retrieval {
	nan := math.NaN()
	none := Retrieval{
		N: len(ranks), MRR: opt.undefined(), H1: nan, H5: nan, H10: nan, Candidates: nan, Chance: nan,
	}
	if len(ranks) == 0 {
		return none
	}
	r := Retrieval{N: len(ranks)}
	groups := objects(object)
	top, bottom := make([]float64, len(groups)), make([]float64, len(groups))
	for g, rows := range groups {
		for _, i := range rows {
			if ranks[i] < 1 {
				return none
			}
			top[g] += 1 / float64(ranks[i])
			bottom[g]++
		}
	}
	n := float64(len(ranks))
	for i, k := range ranks {
		for _, x := range []struct {
			most  int
			share *float64
		}{{1, &r.H1}, {5, &r.H5}, {10, &r.H10}} {
			if k <= x.most {
				*x.share++
			}
		}
		r.Candidates += float64(candidates[i])
		r.Chance += guess(candidates[i])
	}
	for _, x := range []*float64{&r.H1, &r.H5, &r.H10, &r.Candidates, &r.Chance} {
		*x /= n
	}
	r.MRR = opt.quotient(top, bottom, streamRetrieval)
	return r
}

// guess is the MRR of a guess among n.
func guess(n int) float64 {
	h := 0.0
	for j := 1; j <= n; j++ {
		h += 1 / float64(j)
	}
	return h / float64(n)
}

// Views says how far the predictions of maps, one for each element, are nearest to the right view of an object among
// its views at all elements (SIE: Garrido, Najman and LeCun, ICML 2023). The identity is a candidate and no question.
func (o *Orbits) Views(maps []*Map, opt Options) Retrieval {
	var ranks, candidates, object []int
	for k, m := range maps {
		if k == o.Identity || m == nil {
			continue
		}
		predicted := m.Of(o.Still())
		for i, id := range o.Object {
			var views [][]float64
			for _, at := range o.At {
				views = append(views, at.RawRowView(i))
			}
			ranks, candidates = append(ranks, Rank(predicted.RawRowView(i), views, k)), append(candidates, len(views))
			object = append(object, id)
		}
	}
	return Retrieve(ranks, candidates, object, opt)
}

// Pose says how far the element can be read off the features that it moved.
type Pose struct {
	// Coordinates is R² of each coordinate alone; NaN for one that does not vary.
	Coordinates []float64
	// Overall is R² of all of them together.
	Overall Estimate
	// PRE is E sin²(angle/2) between the true rotation and the one that is read, 1 - (q·q̂)² in unit quaternions, so
	// that q and -q are one; Chance is that of a guess among the elements. NaN for what is no rotation.
	PRE, Chance float64
}

// Target is what is read off features: the coordinates of each element, and, of rotations, how to compare two of them.
type Target struct {
	Coordinates [][]float64
	// Half is sin²(angle/2) between the rotations of which a and b are the coordinates, b perhaps none; nil for
	// elements that are no rotations.
	Half func(a, b []float64) float64
}

// ReadPose learns to read the element off features, on some orbits, by ridge regression with the penalty that is best
// on others, and says how well it does on a third set.
func ReadPose(fit, choose, confirm *Orbits, t Target, opt Options) (Pose, error) {
	m, err := Learn(fit.posed(t), choose.posed(t), true, nil)
	if err != nil {
		return Pose{}, err
	}
	asked := confirm.posed(t)
	got := m.Of(asked.Before)
	x := Explain(got, asked.After, asked.Object, opt)
	p := Pose{Coordinates: x.Components, Overall: x.Overall, PRE: math.NaN(), Chance: math.NaN()}
	if t.Half == nil {
		return p, nil
	}
	p.PRE, p.Chance = 0, 0
	n, _ := got.Dims()
	for i := range n {
		p.PRE += t.Half(asked.After.RawRowView(i), got.RawRowView(i)) / float64(n)
	}
	for _, a := range t.Coordinates {
		for _, b := range t.Coordinates {
			p.Chance += t.Half(a, b) / float64(len(t.Coordinates)*len(t.Coordinates))
		}
	}
	return p, nil
}

// posed are the features at all elements, each with the coordinates of its element.
func (o *Orbits) posed(t Target) Pairs {
	var object []int
	n, d := o.Still().Dims()
	after := mat.NewDense(n*len(o.At), len(t.Coordinates[0]), nil)
	before := mat.NewDense(n*len(o.At), d, nil)
	for k, at := range o.At {
		for i := range n {
			before.SetRow(k*n+i, at.RawRowView(i))
			after.SetRow(k*n+i, t.Coordinates[k])
		}
		object = append(object, o.Object...)
	}
	return Pairs{before, after, object}
}

// HalfPlane is sin²(angle/2) between two directions of the plane: a rotation of the plane by (cos, sin) is one. Half of
// all where the second is none.
func HalfPlane(a, b []float64) float64 {
	n := math.Sqrt(float64(squares(a) * squares(b)))
	if !(n > 0) {
		return 0.5
	}
	return min(max((1-dot(a, b)/n)/2, 0), 1)
}

// HalfSpace is sin²(angle/2) between two rotations of space, each nine numbers in rows; the second is brought to the
// nearest rotation first, and counts as a guess, 3/4, where there is none.
func HalfSpace(a, b []float64) float64 {
	r, ok := nearestRotation(b)
	if !ok {
		return 0.75
	}
	return min(max((3-dot(a, r))/4, 0), 1)
}

// nearestRotation is the rotation that is nearest to a matrix of 3x3.
func nearestRotation(m []float64) ([]float64, bool) {
	var f mat.SVD
	a := mat.NewDense(3, 3, append([]float64(nil), m...))
	if !f.Factorize(a, mat.SVDFull) || !(f.Values(nil)[1] > 0) {
		return nil, false
	}
	var u, v, r mat.Dense
	f.UTo(&u)
	f.VTo(&v)
	r.Mul(&u, v.T())
	if mat.Det(&r) < 0 {
		for i := range 3 {
			u.Set(i, 2, -u.At(i, 2))
		}
		r.Mul(&u, v.T())
	}
	return r.RawMatrix().Data, true
}
