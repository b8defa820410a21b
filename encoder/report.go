// Package encoder says how the features of a model move when its input does: how far they stay, which directions of
// them hold the object and which its pose, which map or generator moves them, whether the right view of an object can
// be found by them, and whether another release can read the index of this one. Its arithmetic is that of package
// embedding; this package knows sides of samples, elements of groups and words.
package encoder

import (
	"nero/audit/document"
	"nero/measure/embedding"
)

// FormatNumber is that of the JSON. It grows whenever a field changes its meaning or goes away.
const FormatNumber = 2

// Number is a number that may be NaN or infinite, which JSON has as null.
type Number = document.Number

// Estimate is a number with its interval over objects; ends are null where nothing bounds it.
type Estimate struct {
	Value Number `json:"value"`
	Low   Number `json:"low"`
	High  Number `json:"high"`
}

func estimate(e embedding.Estimate) Estimate {
	return Estimate{Number(e.Value), Number(e.Interval.Low), Number(e.Interval.High)}
}

// Report is what was found of the features of models.
type Report struct {
	// Format is that of the JSON, [FormatNumber].
	Format int    `json:"format" jsonschema:"enum=2"`
	Seed   uint64 `json:"seed"`
	// Confidence is that of all intervals, over objects.
	Confidence Number `json:"confidence"`
	// Sentence is the answer.
	Sentence string `json:"sentence"`
	// Samples is how many there are on each side. Numbers are of those to confirm.
	Samples Samples `json:"samples"`
	Group   string  `json:"group"`
	// Measure says which elements were asked, Elements are their names.
	Measure  string   `json:"measure"`
	Elements []string `json:"elements"`
	Models   []*Model `json:"features"`
}

// Samples is how many samples lie on each side.
type Samples struct {
	Fit     int `json:"fit"`
	Choose  int `json:"choose"`
	Confirm int `json:"confirm"`
	// Objects is how many objects the samples to confirm show.
	Objects int `json:"objects_confirm"`
}

// State is what is said of the features of a model.
type State string

// The states.
const (
	// Stay says that on average no element takes features further than a twentieth of the way to another object, and
	// that what it moved was seen to be nearer than two objects in more than 95 of 100 comparisons.
	Stay State = "stay"
	// Move says that some element does, less far than to another object or to where a linear map says.
	Move State = "move"
	// Lost says that some element takes them as far as another object, and no linear map explains half of where.
	Lost State = "lost"
	// Undecided says that the intervals are too wide to tell.
	Undecided State = "undecided"
	// Collapsed says that the features hold so little that how far they go says nothing.
	Collapsed State = "collapsed"
	// NotFinite says that some feature is not a finite number.
	NotFinite State = "not finite"
)

// Model is what was found of the features of one model.
type Model struct {
	Model  string `json:"model"`
	Digest string `json:"sha256"`
	// Engine is what computed the features, whose last bits are its own: native 1.27.0, or wasm 1.18.0. Endpoints and
	// programs have none.
	Engine string `json:"engine,omitempty"`
	// Value is the value of the graph that was read, Width how many numbers it has for a sample.
	Value string `json:"value"`
	Width int    `json:"width"`
	// State and Sentence are the answer; Why says where features are not finite, or why nothing can be told of them.
	State    State  `json:"state" jsonschema:"enum=stay,enum=move,enum=lost,enum=undecided,enum=collapsed,enum=not finite"`
	Sentence string `json:"sentence"`
	Why      string `json:"why,omitempty"`
	// Rank is the effective rank of the features at the identity, between 1 and their width.
	Rank *Estimate `json:"effective_rank,omitempty"`
	// Dead is how many units never change.
	Dead int `json:"constant_units"`
	// Apart is the mean distance of two objects, in the unit of the features, over so many pairs of samples.
	Apart *Number `json:"apart,omitempty"`
	Pairs int     `json:"pairs,omitempty"`
	// Again is how far answers to the same input are apart, asked twice, over Apart; missing where they are the same.
	Again *Number `json:"asked_again,omitempty"`
	// Axes is how many directions maps, parts and retrieval look at, found on the side fit, and Held the share of the
	// variance that they hold there.
	Axes int     `json:"axes,omitempty"`
	Held *Number `json:"held_fit,omitempty"`
	// Transformations are what each element does, the identity left out.
	Transformations []Transformation `json:"transformations,omitempty"`
	// Maps says how well a linear map for each element explains what features become.
	Maps *Maps `json:"maps,omitempty"`
	// Retrieval says how far the map of an element finds the view that it leads to among all views of the object.
	Retrieval *Retrieval `json:"retrieval,omitempty"`
	// Pose says how far the element can be read off the features.
	Pose *Pose `json:"pose,omitempty"`
	// Split says along which directions object and pose lie apart.
	Split *Split `json:"split,omitempty"`
	// Generators is one matrix that moves features along the whole group, of groups with one parameter.
	Generators *Generators `json:"generators,omitempty"`
	// Algebra is a matrix for each generator, of groups with several parameters.
	Algebra *Algebra `json:"algebra,omitempty"`
	// Extrapolation says whether what reads the parameter off features on part of the window does so beyond, of groups
	// with one parameter that never come back.
	Extrapolation *Extrapolation `json:"extrapolation,omitempty"`
	// Given says how far views that somebody has listed are apart; nil where a group moved the samples.
	Given *Given `json:"given,omitempty"`
	// Sequences says what the order and the route of views do to the vector that stands for them; nil for models that
	// read one input.
	Sequences *Sequences `json:"sequences,omitempty"`
	// Against compares another release; nil where none was named.
	Against *Against `json:"against,omitempty"`
	// Notes say what was not asked, and why.
	Notes []string `json:"notes,omitempty"`
	// what asks more samples, "" for what always does
	more string
}

// Transformation is what one element does to features.
type Transformation struct {
	Element string `json:"element"`
	// Resampled says that moving makes up values between those that there are.
	Resampled bool `json:"resampled"`
	// Ratio is how far features go, in distances between two objects: 0 they stay, 1 nothing is left of the object.
	Ratio Estimate `json:"ratio"`
	// AUC is the probability that a sample is nearer to itself moved than two objects are to each other; missing in
	// what
	// was written before it was asked.
	AUC *Estimate `json:"auc,omitempty"`
	// Floor is the same of samples that were moved there and back: what resampling alone does. Nil where nothing is
	// resampled.
	Floor *Estimate `json:"floor,omitempty"`
	// Worst is the sample whose features go furthest, and how far.
	Worst      string `json:"worst"`
	WorstRatio Number `json:"worst_ratio"`
	// Cosine is the mean cosine of features before and after, less the mean of all; Undefined samples have none.
	Cosine    Estimate `json:"cosine"`
	Undefined int      `json:"undefined,omitempty"`
	// Diagonal is the mean correlation of units with themselves, OffDiagonal the mean square of that between units,
	// less what chance makes of it.
	Diagonal    Estimate `json:"diagonal"`
	OffDiagonal Estimate `json:"off_diagonal"`
	// the element leaves the samples where they are
	idle bool
	// where the interval of the AUC begins, of what was seen
	seen float64
}

// Maps says how well linear maps, one for each element, explain features along the axes.
type Maps struct {
	By []MapOf `json:"by"`
	// Homomorphism is the largest ‖M_gh - M_g M_h‖/‖M_gh‖ over Products products of elements that are elements, too.
	Homomorphism *Number `json:"homomorphism,omitempty"`
	Products     int     `json:"products"`
}

// MapOf is the map of one element.
type MapOf struct {
	Element string `json:"element"`
	// R2 is the share of the variance of features after the element that the map explains; its penalty was chosen on
	// the side choose.
	R2      Estimate `json:"r2"`
	Penalty Number   `json:"penalty_choose"`
}

// Retrieval says how far something right is found among candidates.
type Retrieval struct {
	N          int      `json:"n"`
	MRR        Estimate `json:"mrr"`
	H1         Estimate `json:"hit_1"`
	H5         Estimate `json:"hit_5"`
	H10        Estimate `json:"hit_10"`
	Candidates Number   `json:"candidates"`
	// Chance is the MRR of a guess.
	Chance Number `json:"chance"`
}

func retrieval(r embedding.Retrieval) Retrieval {
	return Retrieval{
		r.N, estimate(r.MRR), estimate(r.H1), estimate(r.H5), estimate(r.H10), Number(r.Candidates), Number(r.Chance),
	}
}

// Pose says how far the element can be read off features by a linear map.
type Pose struct {
	// Of says what is read.
	Of string `json:"of"`
	// R2 is of all coordinates together, Coordinates of each alone.
	R2          Estimate `json:"r2"`
	Coordinates []Number `json:"coordinates"`
	// PRE is the mean of sin²(angle/2) between the true rotation and that which is read, Chance that of a guess among
	// the elements; null for what is no rotation.
	PRE    Estimate `json:"pre"`
	Chance Number   `json:"chance"`
}

func pose(of string, p embedding.Pose) Pose {
	out := Pose{Of: of, R2: estimate(p.Overall), PRE: estimate(p.PRE), Chance: Number(p.Chance)}
	for _, x := range p.Coordinates {
		out.Coordinates = append(out.Coordinates, Number(x))
	}
	return out
}

// Split says along which directions object and pose lie apart.
type Split struct {
	// Mu is the share of the variance along each direction that lies within orbits, Nu the share that is the same for
	// every object.
	Mu []Number `json:"mu"`
	Nu []Number `json:"nu"`
	// Invariant is how many directions have μ < 0.05, Moving how many μ > 0.95, Pose how many ν > 0.95.
	Invariant Estimate `json:"invariant"`
	Moving    Estimate `json:"moving"`
	Pose      Estimate `json:"pose"`
	// Leakage is what is known of object and element from parts of the features.
	Leakage []Leakage `json:"leakage"`
}

// Leakage is what is known of object and element from a part of the features.
type Leakage struct {
	Part       string `json:"part"`
	Directions int    `json:"directions"`
	// Identity is the share of the nearest other views that show the same object, Chance that of a guess.
	Identity Estimate `json:"identity"`
	Chance   Number   `json:"chance"`
	Element  Pose     `json:"element"`
}

// Generators is one matrix A with φ(exp(tX)x) ≈ exp(tA) φ(x).
type Generators struct {
	// Of is the generator of the group, Unit that of t.
	Of   string `json:"of"`
	Unit string `json:"unit"`
	// Axes is how many directions of the features it moves, Held the share of the variance that they hold.
	Axes int    `json:"axes"`
	Held Number `json:"held_fit"`
	// Frequencies are how many times faster than the input planes of the features turn, in 1/Unit times rad; they are
	// fitted, and so of the side fit.
	Frequencies []Estimate `json:"frequencies_fit"`
	// Most is the frequency from which on planes look slower than they are: half a turn at the smallest step asked.
	Most   Number   `json:"most_frequency"`
	Start  []Number `json:"start_fit"`
	Growth Number   `json:"growth_fit"`
	// R2Unseen is of elements that were not fitted, R2Seen of the others, R2Ridge of a map for each element.
	R2Unseen Estimate `json:"r2_unseen"`
	R2Seen   Estimate `json:"r2_seen"`
	R2Ridge  Estimate `json:"r2_ridge"`
	Fitted   int      `json:"elements_fitted"`
	Unseen   int      `json:"elements_unseen"`
	// Period is ‖exp(PA) - 1‖/√d for the period P of the group; nil without one.
	Period *Number `json:"period,omitempty"`
	// T are the parameters of the elements, in Unit.
	T []Number `json:"t"`
	// Planes are those that turn, the fastest first.
	Planes []Plane `json:"planes"`
}

// Plane is a plane of features that turns: the generator says that a sample moves in it by the factor
// exp(t (Growth + i Frequency)).
type Plane struct {
	Frequency Number `json:"frequency_fit"`
	Growth    Number `json:"growth_fit"`
	// Spread is the root of the mean square of the distance from the origin, in the unit of the features. Samples are
	// divided by it.
	Spread Number `json:"spread"`
	// Samples are the first ones to confirm, of different objects.
	Samples []InPlane `json:"samples"`
}

// InPlane is where a sample lies in a plane at each element.
type InPlane struct {
	Sample string   `json:"sample"`
	X      []Number `json:"x"`
	Y      []Number `json:"y"`
}

// Algebra is a matrix A_i for each generator X_i with φ(exp(Σ t_i X_i)x) ≈ exp(Σ t_i A_i) φ(x).
type Algebra struct {
	// Axes is how many directions of the features they move, Held the share of the variance that these hold.
	Axes int    `json:"axes"`
	Held Number `json:"held_fit"`
	// Generators are those of the group; frequencies and growth are fitted, and so of the side fit.
	Generators []Turning `json:"generators"`
	// Brackets say for each two how far [A_i, A_j] is from what [X_i, X_j] is made of; none where the features stay.
	Brackets []Bracket `json:"brackets_fit"`
	// R2Unseen is of elements that were not fitted, R2Seen of the others, R2Ridge of a map for each element.
	R2Unseen Estimate `json:"r2_unseen"`
	R2Seen   Estimate `json:"r2_seen"`
	R2Ridge  Estimate `json:"r2_ridge"`
	Fitted   int      `json:"elements_fitted"`
	Unseen   int      `json:"elements_unseen"`
	// LeftOut is how many elements are no exponential that is known.
	LeftOut int `json:"elements_left_out,omitempty"`
}

// Turning is how features move along one generator.
type Turning struct {
	Of   string `json:"of"`
	Unit string `json:"unit"`
	// Frequencies are how many times faster than the input planes of the features turn.
	Frequencies []Estimate `json:"frequencies_fit"`
	Growth      Number     `json:"growth_fit"`
}

// Bracket is how far the bracket of two matrices is off, over the product of their sizes.
type Bracket struct {
	First  string `json:"first"`
	Second string `json:"second"`
	Defect Number `json:"defect"`
}

// Extrapolation says whether what reads a parameter off features on the inner half of the window does so beyond.
type Extrapolation struct {
	// Half is the end of the inner half, in Unit.
	Half      Number   `json:"half"`
	Unit      string   `json:"unit"`
	R2Inside  Estimate `json:"r2_inside"`
	R2Outside Estimate `json:"r2_outside"`
	Fitted    int      `json:"elements_inside"`
	Beyond    int      `json:"elements_outside"`
}

// Given says how far views of one thing are apart, of which somebody has listed that they show one thing.
type Given struct {
	// Inputs is how many different inputs there are, Things how many things they show.
	Inputs int `json:"inputs"`
	Things int `json:"things"`
	// Same is how many pairs of views are left out because they are one input.
	Same int `json:"same_input"`
	// Others is over how many pairs of inputs of two things the distance apart is a mean.
	Others int `json:"others"`
	// Steps are pairs by how many given pairs lie between them: 1 for those that were listed, more for those that
	// follow.
	Steps []Near `json:"steps"`
	// Views are the listed pairs by the names of their views, where there are at most 12 of these.
	Views []Near `json:"views,omitempty"`
	// what helps where there are too few things
	remedy string
}

// Near says how far pairs of inputs that show one thing are apart.
type Near struct {
	// Steps is over how many given pairs they show the same; Views are their names, for one step.
	Steps int      `json:"steps"`
	Views []string `json:"views,omitempty"`
	// Pairs is how many there are, Things of how many things.
	Pairs  int `json:"pairs"`
	Things int `json:"things"`
	// Ratio is how far a pair is apart, in distances between two things.
	Ratio Estimate `json:"ratio"`
	// AUC is the probability that a pair is nearer than two inputs of two things.
	AUC Estimate `json:"auc"`
	// Worst are the two inputs that are furthest apart.
	Worst      []string `json:"worst"`
	WorstRatio Number   `json:"worst_ratio"`
	// where the interval of the AUC begins, of what was seen
	seen float64
}

// Sequences says what the order and the route of views do to the vector that stands for them.
type Sequences struct {
	// Views and Actions are the inputs of the model.
	Views   string `json:"views"`
	Actions string `json:"actions"`
	// Next are the actions by which views are predicted; none where elements do not lead to each other.
	Next []string `json:"next,omitempty"`
	// Lengths are what is found of so many views, the fewest first.
	Lengths []Length `json:"lengths"`
	// what helps where there are too few samples
	remedy string
}

// Length is what is found of sequences of so many views. Ratios are in distances between two samples, of as many views.
type Length struct {
	Views int `json:"views"`
	// Rank is the effective rank of the vectors, Apart the mean distance of two samples, in the unit of the vectors.
	Rank  Estimate `json:"effective_rank"`
	Apart Number   `json:"apart"`
	// Order is what shuffling the views does, Route another way between the same first and the same last view, Longest
	// so many views before these; nil where there is none.
	Order   *Step `json:"order,omitempty"`
	Route   *Step `json:"route,omitempty"`
	Longest *Step `json:"longest,omitempty"`
	// Retrieval says how far a linear map for each next action finds the next view, alone, among all views of the
	// sample.
	Retrieval *Retrieval `json:"retrieval,omitempty"`
}

// Step is how far the vectors go.
type Step struct {
	Ratio Estimate `json:"ratio"`
	// AUC is the probability that the vector is nearer to where it was than those of two samples are to each other.
	AUC Estimate `json:"auc"`
	// Worst is the sample whose vector goes furthest, and how far.
	Worst      string `json:"worst"`
	WorstRatio Number `json:"worst_ratio"`
	// where the interval of the AUC begins, of what was seen
	seen float64
}

// Against compares another release, the new one, with the model, the old one.
type Against struct {
	Model  string `json:"model"`
	Digest string `json:"sha256"`
	Value  string `json:"value"`
	Width  int    `json:"width"`
	// Sentence says both of the following in words.
	Sentence string `json:"sentence"`
	// Reading is what the releases are to each other, Index what that means for an index of old features.
	Reading string `json:"reading"`
	Index   string `json:"index" jsonschema:"enum=compatible,enum=worse,enum=undecided"`
	// Why says why the other release has no features to compare, missing where it has; then there are no numbers.
	Why string `json:"why,omitempty"`
	// R2Plain is how much of the old features the new ones explain as they are; missing where they have other widths,
	// or where one unit does not hold both.
	R2Plain *Estimate `json:"r2_as_it_is,omitempty"`
	// R2Isometry, R2Similarity and R2Affine are how much of the old features maps of the new ones explain, R2Back the
	// affine map from old to new.
	R2Isometry   Estimate `json:"r2_isometry"`
	R2Similarity Estimate `json:"r2_similarity"`
	R2Affine     Estimate `json:"r2_affine"`
	R2Back       Estimate `json:"r2_back"`
	Factor       Number   `json:"factor_fit"`
	// Spread is the logarithm of the ratio of the extreme singular values of the affine map.
	Spread Number `json:"spread_fit"`
	// Orthogonality are maps that are held near a turn by a penalty.
	Orthogonality []Held `json:"orthogonality"`
	// CKA is the debiased linear one, of N samples and features of both widths.
	CKA      Estimate  `json:"cka"`
	N        int       `json:"n"`
	Relative Relative  `json:"relative"`
	Backward []Recalls `json:"backward"`
	// what asks more samples, "" for what always does
	more string
}

// Held is a map that is held near a turn.
type Held struct {
	Penalty Number   `json:"penalty"`
	R2      Estimate `json:"r2"`
	// Departure is ‖WᵀW - 1‖/√d of the map W, which is fitted.
	Departure Number `json:"departure_fit"`
}

// Relative compares the cosines of samples to anchors.
type Relative struct {
	Anchors int       `json:"anchors"`
	Cosine  Estimate  `json:"cosine"`
	Jaccard Estimate  `json:"jaccard"`
	MRR     Retrieval `json:"retrieval"`
}

// Recalls says whether new queries find in the old index what old ones find.
type Recalls struct {
	// Adapter is what new features go through: none, isometry, similarity, affine.
	Adapter string `json:"adapter"`
	// Right says what counts as right.
	Right      string   `json:"right"`
	K          int      `json:"k"`
	New        Estimate `json:"new"`
	Old        Estimate `json:"old"`
	Difference Estimate `json:"difference"`
	Candidates int      `json:"candidates"`
	// Chance is the share of queries that a guess answers.
	Chance Number `json:"chance"`
	State  string `json:"state" jsonschema:"enum=compatible,enum=worse,enum=undecided"`
}

// Good reports whether the features of every model are known to stay, or to move and hold their object, and, where
// another release was named, whether it can read the index.
func (r *Report) Good() bool {
	for _, m := range r.Models {
		switch {
		case m.State != Stay && m.State != Move,
			m.Against != nil && m.Against.Index != embedding.Compatible:
			return false
		}
	}
	return true
}
