package repeat

import (
	"nero/audit/document"
	"nero/measure/agreement"
)

// FormatNumber is that of [Report] in JSON. It grows whenever a field changes its meaning.
const FormatNumber = 1

// Number is a number that may be undefined, null in JSON.
type Number = document.Number

// Estimate is a number with its interval over objects.
type Estimate struct {
	Value Number `json:"value"`
	Low   Number `json:"low"`
	High  Number `json:"high"`
	// objects
	N int `json:"n"`
}

// of is a share as an estimate.
func of(s agreement.Share) Estimate {
	return Estimate{Number(s.Value), Number(s.Low), Number(s.High), s.N}
}

// times is an estimate in another unit.
func (e Estimate) times(unit float64) Estimate {
	by := func(x Number) Number { return Number(float64(x) * unit) }
	return Estimate{by(e.Value), by(e.Low), by(e.High), e.N}
}

// Report is what was found, repeat.json.
type Report struct {
	Format int `json:"format" jsonschema:"enum=1"`
	// the answer, in a sentence
	Sentence string `json:"sentence"`
	// of all models: FAIL if one fails, then NEEDS_ATTENTION, then PASS; DESCRIBED where nothing is claimed
	Verdict document.Verdict `json:"verdict" jsonschema:"enum=PASS,enum=FAIL,enum=NEEDS_ATTENTION,enum=DESCRIBED"`
	Times   int              `json:"times"`
	Seed    uint64           `json:"seed"`
	// of each interval and of the contract; views share it
	Confidence Number `json:"confidence"`
	// largest effect of a view that is none
	Threshold Number   `json:"threshold"`
	Views     []string `json:"views"`
	// view that the others are compared with
	Reference string   `json:"reference"`
	Normalise []string `json:"normalise,omitempty"`
	// parameters seed of the rounds, empty without any; null in what an older program wrote, which did not say
	Seeds []int `json:"seeds"`
	// parameter that was another one in every request; empty for none
	Bust   string   `json:"bust"`
	Models []*Model `json:"models"`
}

// Described is the verdict where nothing is claimed: one view, and no contract.
const Described document.Verdict = "DESCRIBED"

// Model is what was found of one model.
type Model struct {
	Name  string `json:"name"`
	Place string `json:"place,omitempty"`
	// SHA-256 of its file
	Digest string `json:"sha256,omitempty"`
	// what computed its answers, whose last bits are its own: native 1.27.0, or wasm 1.18.0
	Engine string `json:"engine,omitempty"`
	// the answer, in a sentence
	Sentence string           `json:"sentence"`
	Verdict  document.Verdict `json:"verdict" jsonschema:"enum=PASS,enum=FAIL,enum=NEEDS_ATTENTION,enum=DESCRIBED"`
	// why it is no PASS
	Reasons []string `json:"reasons,omitempty"`
	// how many questions came to what
	Questions int     `json:"questions"`
	Outcomes  []Count `json:"outcomes"`
	// what answers are: numbers have distances, labels are equal or not
	Answers string `json:"answers" jsonschema:"enum=labels,enum=numbers"`
	// centred scale of answers that are numbers, over all objects and views
	Scale   *Number  `json:"scale,omitempty"`
	Repeats *Repeats `json:"repeats,omitempty"`
	// share of pairs of answers to different views of one object that are equal
	OverViews *Estimate `json:"over_views,omitempty"`
	// of numbers: mean distance of two answers to different views of one object, over the centred scale
	Apart *Estimate `json:"apart,omitempty"`
	// ranked by how much they differ from the reference, most first
	Given    []*View   `json:"views,omitempty"`
	Contract *Contract `json:"contract,omitempty"`
	Cached   string    `json:"cached,omitempty"`
	// whether answers depend on the object; absent where each was asked about once
	Depends *Depends  `json:"depends,omitempty"`
	Objects []*Object `json:"objects"`
}

// Count is how many questions came to one outcome.
type Count struct {
	Name  string `json:"name"`
	N     int    `json:"n"`
	Share Number `json:"share"`
	// the first of them, and what was said
	Object string `json:"object,omitempty"`
	View   string `json:"view,omitempty"`
	Why    string `json:"why,omitempty"`
}

// Repeats is what answers to the same view, the reference, have in common.
type Repeats struct {
	Objects int `json:"objects"`
	// objects with fewer than two answers
	Few       int      `json:"few,omitempty"`
	Agreement Estimate `json:"agreement"`
	// in bits
	Entropy Estimate `json:"entropy"`
	// share of objects all of whose answers are equal
	Full Estimate `json:"full"`
	// objects without a single mode; the mode that was answered first is taken
	Tied int `json:"tied,omitempty"`
	// of numbers: standard deviation of the answers over the centred scale
	Spread *Estimate `json:"spread,omitempty"`
	// of numbers: share that has at least 1, 2, … 15 significant digits in common
	Digits []Number `json:"digits,omitempty"`
	// where right answers are known
	Correct *Correct `json:"correct,omitempty"`
}

// Correct lays consistency beside being right. Consistent is an agreement of at least 0.8.
type Correct struct {
	ConsistentRight int `json:"consistent_right"`
	ConsistentWrong int `json:"consistent_wrong"`
	VaryingRight    int `json:"varying_right"`
	VaryingWrong    int `json:"varying_wrong"`
	// of the objects with a label, those of the four counts
	Shares []Estimate `json:"shares,omitempty"`
	// share of the objects with a wrong mode that are answered consistently
	Errors Estimate `json:"consistent_errors"`
	One    Estimate `json:"accuracy_of_one"`
	Mode   Estimate `json:"accuracy_of_mode"`
	Best   Estimate `json:"accuracy_of_best"`
}

// View is what is asked about one view, beside the reference.
type View struct {
	Name string `json:"name"`
	// that the others are compared with
	Reference bool `json:"reference,omitempty"`
	// objects with an answer
	Objects   int       `json:"objects"`
	Agreement *Estimate `json:"agreement,omitempty"`
	// how often an answer differs from one to the reference; of numbers how far, over the centred scale
	Difference *Estimate `json:"difference,omitempty"`
	// by how much more than two answers to the same view differ: half the energy distance within objects
	Excess *Estimate `json:"excess,omitempty"`
	// of the hypothesis that the view changes no distribution, and adjusted for the number of views (Holm)
	P     *Number `json:"p,omitempty"`
	PHolm *Number `json:"p_holm,omitempty"`
	// share of right answers
	Accuracy *Estimate `json:"accuracy,omitempty"`
	// the effect against the threshold: same, differs or open; empty where it is the same, and answers are not shown to
	// depend on the object, so that this is no evidence
	State string `json:"state,omitempty" jsonschema:"enum=same,enum=differs,enum=open,enum=empty"`
	// the view is asked with the very inputs of the reference
	vacuous bool
	// nothing is above the threshold
	blunt bool
}

// The states of a view.
const (
	Same    = "same"
	Differs = "differs"
	Open    = "open"
	Empty   = "empty"
)

// The states of a contract.
const (
	Kept   = "kept"
	Broken = "broken"
)

// Contract is P(error > Error) <= Rate: the error of an object is its largest over views and repeats, from the mode of
// the answers to the reference, for numbers from their mean over the centred scale; that of an environment is the mean
// error of its objects.
type Contract struct {
	// what is counted
	Unit       string `json:"unit" jsonschema:"enum=object,enum=environment"`
	Error      Number `json:"error"`
	Rate       Number `json:"rate"`
	Confidence Number `json:"confidence"`
	// of the objects of this file alone, whose number was fixed before
	Fixed Judged `json:"fixed"`
	// of all objects so far, in the order in which they came; it may be looked at at any time
	Stream Judged `json:"stream"`
	// objects, or environments, without an answer to the reference or without another one, which are in neither
	LeftOut int `json:"left_out,omitempty"`
	// digests of the names of what the stream has counted: asked once more they are no new evidence
	Seen []string `json:"seen"`
	// how the stream came to where it is: after each object, of many after every second, fourth …
	Course []Stage `json:"course,omitempty"`
}

// Stage is what a stream knew after so many objects.
type Stage struct {
	N    int `json:"n"`
	Over int `json:"over"`
	// as in [Judged]
	LogKept   Number `json:"log_e_kept"`
	LogBroken Number `json:"log_e_broken"`
}

// Judged is the state of a contract.
type Judged struct {
	State string `json:"state" jsonschema:"enum=kept,enum=broken,enum=open"`
	N     int    `json:"n"`
	Over  int    `json:"over"`
	// one-sided limits of the probability, of a fixed number of objects
	Low  *Number `json:"low,omitempty"`
	High *Number `json:"high,omitempty"`
	// natural logarithms of the evidence against "more than Rate" and "at most Rate", of a stream
	LogKept   *Number `json:"log_e_kept,omitempty"`
	LogBroken *Number `json:"log_e_broken,omitempty"`
	// after how many objects it was decided, 0 if it is open
	DecidedAt int `json:"decided_at,omitempty"`
	// objects that were known before
	Known int `json:"known,omitempty"`
	// about how many objects decide at the present rate; 0 where it is decided or would take a billion
	Need int `json:"need,omitempty"`
}

// Object is what was answered about one object, those first that agree least.
type Object struct {
	Name string `json:"name"`
	// of the reference, and over views; null where there are too few answers
	Agreement Number `json:"agreement"`
	OverViews Number `json:"over_views"`
	// most frequent answer to the reference, shortened
	Mode  string `json:"mode"`
	Label string `json:"label,omitempty"`
	Right *bool  `json:"right,omitempty"`
	// largest error over views and repeats
	Error Number `json:"error"`
	// how often each view had another answer than the mode, or none
	Views []Other `json:"views,omitempty"`
}

// Other is what one view of an object was answered that is not the mode of the reference.
type Other struct {
	View    string `json:"view"`
	Asked   int    `json:"asked"`
	Differ  int    `json:"differ"`
	Without int    `json:"without,omitempty"`
	// the most frequent of those that differ, shortened
	Answer string `json:"answer,omitempty"`
}
