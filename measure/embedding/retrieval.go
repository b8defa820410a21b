package embedding

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// Retrieval says how far predictions are nearest to the right one among candidates.
type Retrieval struct {
	// N is how many predictions there are.
	N int
	// MRR is the mean of 1/rank, rank 1 for the nearest. What is tied counts in all orders alike.
	MRR Estimate
	// H1, H5 and H10 are the shares of predictions whose rank is at most 1, 5 and 10; of fewer candidates all are.
	H1, H5, H10 Estimate
	// Candidates is how many there are to choose among, on average.
	Candidates float64
	// Chance is the MRR of a guess: the mean of (1 + 1/2 + ... + 1/n)/n.
	Chance float64
}

// Place is where the right one of several candidates comes. The zero value is that of a distance that is NaN.
type Place struct {
	// Before are nearer, and Tied as near, as far as can be told.
	Before, Tied int
	// Of is how many there are.
	Of int
}

// Rank is the place of candidate truth by its Euclidean distance from the prediction. Candidates are tied whose
// distances are closer than what float32 may make of features of their size. It panics if truth is no candidate.
func Rank(predicted []float64, candidates [][]float64, truth int) Place {
	own := math.Sqrt(apart(candidates[truth], predicted))
	size := math.Sqrt(float64(squares(candidates[truth])))
	p := Place{Of: len(candidates)}
	for i, c := range candidates {
		d := math.Sqrt(apart(c, predicted))
		switch {
		case math.IsNaN(d) || math.IsNaN(own):
			return Place{}
		case i == truth:
		case math.Abs(d-own) <= rounding*size:
			p.Tied++
		case d < own:
			p.Before++
		}
	}
	return p
}

// reciprocal is the mean of 1/rank over all orders of what is tied: features that say nothing are as good as a guess.
func (p Place) reciprocal() float64 {
	s := 0.0
	for j := range p.Tied + 1 {
		s += 1 / float64(p.Before+j+1)
	}
	return s / float64(p.Tied+1)
}

// within is the share of the orders of what is tied in which it is among the first k.
func (p Place) within(k int) float64 {
	return float64(min(max(k-p.Before, 0), p.Tied+1)) / float64(p.Tied+1)
}

// Retrieve summarises places of samples of objects. One that has no value makes all numbers NaN. Without places they
// are NaN too.
func Retrieve(places []Place, object []int, opt Options) Retrieval {
	nan := math.NaN()
	none := Retrieval{
		N: len(places), MRR: opt.undefined(), H1: opt.undefined(), H5: opt.undefined(), H10: opt.undefined(),
		Candidates: nan, Chance: nan,
	}
	if len(places) == 0 {
		return none
	}
	r := Retrieval{N: len(places)}
	groups := objects(object)
	top, bottom := make([]float64, len(groups)), make([]float64, len(groups))
	for g, rows := range groups {
		for _, i := range rows {
			if places[i].Of == 0 {
				return none
			}
			top[g] += places[i].reciprocal()
			bottom[g]++
		}
	}
	n := float64(len(places))
	for _, p := range places {
		r.Candidates += float64(p.Of)
		r.Chance += guess(p.Of)
	}
	r.Candidates, r.Chance = r.Candidates/n, r.Chance/n
	for _, x := range []struct {
		most  int
		share *Estimate
	}{{1, &r.H1}, {5, &r.H5}, {10, &r.H10}} {
		hits := make([]float64, len(groups))
		for g, rows := range groups {
			for _, i := range rows {
				hits[g] += places[i].within(x.most)
			}
		}
		*x.share = opt.share(hits, bottom, streamRetrieval)
	}
	r.MRR = opt.share(top, bottom, streamRetrieval)
	return r
}

// guess is the MRR of a guess among n.
func guess(n int) float64 { return Place{Tied: n - 1}.reciprocal() }

// Views says how far the predictions of maps, one for each element, are nearest to the right view of an object among
// its views at all elements (SIE: Garrido, Najman and LeCun, ICML 2023). The identity is a candidate and no question.
func (o *Orbits) Views(maps []*Map, opt Options) Retrieval {
	var places []Place
	var object []int
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
			places = append(places, Rank(predicted.RawRowView(i), views, k))
			object = append(object, id)
		}
	}
	return Retrieve(places, object, opt)
}

// Pose says how far the element can be read off the features that it moved.
type Pose struct {
	// Coordinates is R² of each coordinate alone; NaN for one that does not vary.
	Coordinates []float64
	// Overall is R² of all of them together.
	Overall Estimate
	// PRE is E sin²(angle/2) between the true rotation and the one that is read, 1 - (q·q̂)² in unit quaternions, so
	// that q and -q are one; Chance is that of a guess among the elements, or of always saying their mean, whichever
	// misses less. Undefined for what is no rotation.
	PRE    Estimate
	Chance float64
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
	p := Pose{Coordinates: x.Components, Overall: x.Overall, PRE: opt.undefined(), Chance: math.NaN()}
	if t.Half == nil {
		return p, nil
	}
	groups := objects(asked.Object)
	missed, of := make([]float64, len(groups)), make([]float64, len(groups))
	for g, rows := range groups {
		for _, i := range rows {
			missed[g] += t.Half(asked.After.RawRowView(i), got.RawRowView(i))
			of[g]++
		}
	}
	p.PRE, p.Chance = opt.quotient(missed, of, streamPose), 0
	p.PRE.within()
	middle := make([]float64, len(t.Coordinates[0]))
	for _, a := range t.Coordinates {
		for j, x := range a {
			middle[j] += x / float64(len(t.Coordinates))
		}
	}
	always := 0.0
	for _, a := range t.Coordinates {
		always += t.Half(a, middle) / float64(len(t.Coordinates))
		for _, b := range t.Coordinates {
			p.Chance += t.Half(a, b) / float64(len(t.Coordinates)*len(t.Coordinates))
		}
	}
	p.Chance = min(p.Chance, always)
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
