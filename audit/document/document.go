// Package document is what an audit leaves behind: plain data with the numbers, the words and the verdicts of every
// model that was audited, and nothing that has to be computed again. Every report that people read is made of it, and
// the file audit.json is its text.
//
// The form has a number, [Format]. A file of a newer form is refused with [ErrNewer]; fields that are added leave the
// number alone, and a file that lacks them is read as it is. Numbers that are not finite are null.
package document

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/invopop/jsonschema"
)

// Format is the number of the form. It grows whenever a field changes its meaning or goes away; new fields leave it
// alone.
const Format = 1

// Verdict is the answer of an audit.
type Verdict string

// The verdicts, best first. The last stands where a verdict would be if the audit had run.
const (
	// Passed: every required check ran, the upper bounds are below the limits, and the controls behaved.
	Passed Verdict = "PASS"
	// NeedsAttention: anything that is neither of its neighbors.
	NeedsAttention Verdict = "NEEDS_ATTENTION"
	// Failed: a lower bound is above its limit and the error is not that of the test, or a finite input gave a
	// non-finite output.
	Failed      Verdict = "FAIL"
	CouldNotRun Verdict = "COULD_NOT_RUN"
)

// Worse is the worse of two verdicts. An unknown one is no verdict, which is better than none of them.
func Worse(a, b Verdict) Verdict {
	rank := func(v Verdict) int {
		return slices.Index([]Verdict{Passed, NeedsAttention, Failed, CouldNotRun}, v)
	}
	if rank(b) > rank(a) {
		return b
	}
	return a
}

// Overall is the verdict over models: the worst, and [CouldNotRun] where one of them could not be audited or where
// there is none.
func Overall(models []Model) Verdict {
	if len(models) == 0 {
		return CouldNotRun
	}
	v := Passed
	for i := range models {
		if models[i].Error != "" {
			return CouldNotRun
		}
		v = Worse(v, models[i].Verdict)
	}
	return v
}

// FailOn says which verdicts end a program with exit code 1.
type FailOn string

// What ends with exit code 1.
const (
	FailOnAttention FailOn = "attention" // FAIL and NEEDS_ATTENTION; the default
	FailOnFail      FailOn = "fail"      // FAIL only
	FailOnNothing   FailOn = "nothing"   // no verdict; an audit that could not run still ends with 2
)

// Ends reports whether a verdict ends a program with an exit code other than 0.
func (f FailOn) Ends(v Verdict) bool {
	return v != Passed && f != FailOnNothing && (f != FailOnFail || v != NeedsAttention)
}

// Status says whether a check answered its question.
type Status string

// The statuses.
const (
	Tested        Status = "tested"
	NotTested     Status = "not tested"     // the question stands, the reason is given
	NotApplicable Status = "not applicable" // the question does not arise, the reason is given
)

// Severity says how much a finding matters.
type Severity string

// The severities, the worst first.
const (
	High   Severity = "high"
	Medium Severity = "medium"
	Low    Severity = "low"
	Note   Severity = "note" // explains or limits the audit; asks nobody to change the model
)

// Units of errors that are shares: they are not divided by a scale.
const (
	// PixelShare is that of masks: the share of pixels whose labels differ.
	PixelShare = "share of pixels"
	// BoxShare is that of sets of boxes: the share, by score, of the boxes that are not matched or do not overlap.
	BoxShare = "share of boxes"
)

// Names of facts in [Model.About] that reports use beyond showing them; each may be missing.
const (
	AboutFile   = "file"   // of the model
	AboutDigest = "sha256" // of that file, in hexadecimal digits
	AboutEngine = "engine"
	AboutData   = "data"
	AboutDate   = "date"
)

// Number is a float64 that JSON can hold: null where it is not finite, and NaN where it was null.
type Number float64

// MarshalJSON writes the shortest number that reads back the same.
func (n Number) MarshalJSON() ([]byte, error) {
	x := float64(n)
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return []byte("null"), nil
	}
	return strconv.AppendFloat(nil, x, 'g', -1, 64), nil
}

// UnmarshalJSON reads null as NaN.
func (n *Number) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*n = Number(math.NaN())
		return nil
	}
	// Of many numbers each would be looked through twice: whatever JSON has here that can be parsed is a number.
	if x, err := strconv.ParseFloat(string(b), 64); err == nil {
		*n = Number(x)
		return nil
	}
	return json.Unmarshal(b, (*float64)(n))
}

// JSONSchema admits null beside numbers.
func (Number) JSONSchema() *jsonschema.Schema {
	return &jsonschema.Schema{OneOf: []*jsonschema.Schema{{Type: "number"}, {Type: "null"}}}
}

// Or is a number that may be missing, NaN if it is.
func Or(n *Number) float64 {
	if n == nil {
		return math.NaN()
	}
	return float64(*n)
}

// Optional is a number that is left out if it is NaN.
func Optional(x float64) *Number {
	if math.IsNaN(x) {
		return nil
	}
	n := Number(x)
	return &n
}

// Audit is the audit of one or more models.
type Audit struct {
	Format  int     `json:"format" jsonschema:"enum=1"`
	Verdict Verdict `json:"verdict" jsonschema:"enum=PASS,enum=FAIL,enum=NEEDS_ATTENTION,enum=COULD_NOT_RUN"`
	// of the program that audited: 0, 1 or 2
	Exit   int     `json:"exit_code" jsonschema:"minimum=0,maximum=2"`
	Models []Model `json:"models"`
	// the forms of one model side by side; left out where none were compared
	Forms *Forms `json:"forms,omitempty"`
	// Infinite has the places of numbers that are null because they are infinite, such as
	// "models.0.checks.2.sets.0.scale", led by a minus for -Inf. [Write] fills it in and [Read] puts the infinities
	// back.
	Infinite []string `json:"infinite,omitempty"`
}

// Model is the audit of one model.
type Model struct {
	Model   string  `json:"model"`
	Verdict Verdict `json:"verdict" jsonschema:"enum=PASS,enum=FAIL,enum=NEEDS_ATTENTION,enum=COULD_NOT_RUN"`
	Error   string  `json:"error,omitempty"`
	// Gist is what was found, in a few plain sentences
	Gist    []string `json:"gist,omitempty"`
	Reasons []string `json:"reasons"`
	Answers []string `json:"answers"`
	Claim   Claim    `json:"claim"`
	Policy  Policy   `json:"policy"`
	Checks  []Check  `json:"checks"`
	Outside []string `json:"not_part_of_this_audit"`

	About     []Fact     `json:"about"`
	Questions []Question `json:"questions"`
	// the most likely first
	Diagnoses   []Diagnosis `json:"diagnoses"`
	Advice      []Advice    `json:"recommendations"`
	WorstCases  []Worst     `json:"worst_cases"`
	Certificate []string    `json:"certificate"`
	Caveats     []string    `json:"caveats"`
	Gallery     []Case      `json:"gallery"`
	Command     string      `json:"command,omitempty"`
	// what two audits must share to be compared
	Basis []Fact `json:"basis,omitempty"`
	Score Score  `json:"self_score"`

	// that holds, whatever was claimed
	Largest string `json:"largest_symmetry,omitempty"`
	// what stands above it and fails
	Beyond []string `json:"fails_beyond,omitempty"`

	// who is responsible for the audit; "" if nobody said
	Author string `json:"author,omitempty"`
	// nil where there is no graph to look at
	Architecture *Architecture `json:"architecture,omitempty"`
	// what was unusual, whether or not it changes the verdict
	Anomalies []string `json:"anomalies,omitempty"`
	// tests that would decide what is open, or show that a fix helped
	FollowUps []string `json:"follow_up_tests,omitempty"`
}

// Specification is what was claimed and looked at, as every report prints it: symmetry type, group, the action of every
// input and output, what was left out, what the model is made of, who answers for the audit, what was unusual and what
// to test next. Documents that do not hold a field leave it out.
func (m *Model) Specification() []Fact {
	var out []Fact
	add := func(name, value string) {
		if value != "" {
			out = append(out, Fact{name, value})
		}
	}
	c := &m.Claim
	if c.Symmetry != "" {
		add("symmetry type", c.Symmetry)
		add("symmetry", c.Group)
	}
	for _, p := range c.Ports {
		side := "input"
		if p.Output {
			side = "output"
		}
		if p.Name != "" {
			side += " " + p.Name
		}
		add(side, p.Holds+"; "+p.Action)
	}
	add("outputs not audited", strings.Join(c.Unaudited, ", "))
	if c.Given > c.Inputs {
		add("inputs given", strconv.Itoa(c.Given)+", copies among them; each content counts once")
	}
	if a := m.Architecture; a != nil {
		made := strconv.Itoa(a.Operators) + " operators (" + strings.Join(a.Kinds, ", ") + ")"
		if a.Parameters > 0 {
			made += ", " + strconv.FormatInt(a.Parameters, 10) + " parameters"
		}
		add("architecture", made)
	}
	add("author", m.Author)
	if c.Symmetry != "" && len(m.Anomalies) == 0 {
		add("anomalies", "none seen")
	}
	for _, x := range m.Anomalies {
		add("anomaly", x)
	}
	for _, x := range m.FollowUps {
		add("follow-up test", x)
	}
	return out
}

// Score says how good the audit itself is, from 1 to 5; 3 and more is good. It judges the audit and not the model.
type Score struct {
	Total         Number `json:"total"`
	Thoroughness  Number `json:"thoroughness"`
	ErrorAnalysis Number `json:"error_analysis"`
	Diagnosis     Number `json:"diagnosis"`
	Advice        Number `json:"advice"`
	Documentation Number `json:"documentation"`
}

// Fact is one circumstance of an audit.
type Fact struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Question is one of the three that people ask of an audit first.
type Question struct {
	Question string `json:"question"`
	// sentences, at least one
	Answers []string `json:"answers"`
}

// Diagnosis is one explanation of what was seen, with what speaks for and against it.
type Diagnosis struct {
	ID         string `json:"id"`
	Cause      string `json:"cause"`
	Confidence Number `json:"confidence"`
	Location   string `json:"location,omitempty"`
	For        []Clue `json:"for"`
	Against    []Clue `json:"against"`
	// Missing are clues by name that nobody looked for, Settle how to look for those that some check can: "whether the
	// error lies at the border of the map (nero audit --checks border)". Audits of older programs have the names alone.
	Missing []string `json:"would_decide"`
	Settle  []string `json:"would_settle,omitempty"`
	Fix     string   `json:"fix"`
	Verify  string   `json:"verify"`
}

// Clue is a fact that speaks for or against a cause.
type Clue struct {
	Name     string     `json:"name"`
	Holds    bool       `json:"holds"`
	Strength Number     `json:"strength"`
	Text     string     `json:"text"`
	Check    string     `json:"check"`
	Location string     `json:"location,omitempty"`
	Set      string     `json:"set,omitempty"`
	Evidence []Evidence `json:"evidence"`
}

// Advice is something to do next.
type Advice struct {
	Do string `json:"do"`
	// what it answers
	Why string `json:"why"`
	// how to see that it helped
	Verify string `json:"verify,omitempty"`
}

// Worst is a worst case with its size; null if it has no number.
type Worst struct {
	What   string `json:"what"`
	Where  Where  `json:"where"`
	Value  Number `json:"value"`
	Replay string `json:"replay,omitempty"`
}

// Case is something worth seeing, such as the worst input with its transformed twin.
type Case struct {
	Title string `json:"title"`
	Where *Where `json:"where,omitempty"`
	Note  string `json:"note,omitempty"`
	// captions
	Pictures []string `json:"pictures"`
	Replay   string   `json:"replay,omitempty"`
	// the pictures themselves, in the order of their captions
	Images []Image `json:"images,omitempty"`
}

// Image is a picture.
type Image struct {
	Caption string `json:"caption"`
	// in pixels
	Width  int `json:"width"`
	Height int `json:"height"`
	// the file; base64 in JSON
	PNG []byte `json:"png,omitempty"`
	// why it is not shown
	Refused string `json:"refused,omitempty"`
}

// Exhibit is something to look at that belongs to a check: exactly one of table, curve and map.
type Exhibit struct {
	Name  string `json:"name"`
	Title string `json:"title"`
	Note  string `json:"note,omitempty"`
	Table *Table `json:"table,omitempty"`
	Curve *Curve `json:"curve,omitempty"`
	Map   *Map   `json:"map,omitempty"`
}

// Table has one kind of content per column; every row is as long as the columns.
type Table struct {
	Columns []Column `json:"columns"`
	Rows    [][]Cell `json:"rows"`
}

// Column heads a column of a table.
type Column struct {
	// short
	Name string `json:"name"`
	// "" for pure numbers and for words
	Unit string `json:"unit,omitempty"`
	// what it says
	Doc string `json:"doc,omitempty"`
}

// Cell is a word or a number.
type Cell struct {
	// the word; "" for a number
	Text string
	// the number where Number is set; it may be NaN
	Value  float64
	Number bool
}

// MarshalJSON writes the word or the number.
func (c Cell) MarshalJSON() ([]byte, error) {
	if c.Number {
		return Number(c.Value).MarshalJSON()
	}
	return json.Marshal(c.Text)
}

// UnmarshalJSON reads a word, or a number.
func (c *Cell) UnmarshalJSON(b []byte) error {
	*c = Cell{}
	if len(b) > 0 && b[0] == '"' {
		return json.Unmarshal(b, &c.Text)
	}
	c.Number = true
	return (*Number)(&c.Value).UnmarshalJSON(b)
}

// JSONSchema admits words, numbers and null.
func (Cell) JSONSchema() *jsonschema.Schema {
	return &jsonschema.Schema{OneOf: []*jsonschema.Schema{{Type: "string"}, {Type: "number"}, {Type: "null"}}}
}

// Scale is an axis of a curve.
type Scale struct {
	Name string `json:"name"`
	Unit string `json:"unit,omitempty"`
	Log  bool   `json:"log,omitempty"`
}

// Curve is one or more series over one axis, and perhaps a line across at a limit.
type Curve struct {
	X      Scale    `json:"x"`
	Y      Scale    `json:"y"`
	Limit  *Number  `json:"limit,omitempty"`
	Series []Series `json:"series"`
}

// Series is one line of a curve, or its marks. X and Y are equally long; Lo, Hi and Labels are too, or empty.
type Series struct {
	Name   string   `json:"name"`
	Marks  bool     `json:"marks,omitempty"`
	X      []Number `json:"x"`
	Y      []Number `json:"y"`
	Lo     []Number `json:"lo,omitempty"`
	Hi     []Number `json:"hi,omitempty"`
	Labels []string `json:"labels,omitempty"`
}

// Map is a picture of numbers; null where nothing is known.
type Map struct {
	Height    int    `json:"height"`
	Width     int    `json:"width"`
	Unit      string `json:"unit,omitempty"`
	Diverging bool   `json:"diverging,omitempty"`
	// row by row
	Values []Number `json:"values"`
}

// Axis is a coordinate of the elements.
type Axis struct {
	Name string `json:"name"`
	Unit string `json:"unit,omitempty"`
	// it is an angle, in degrees
	Angle bool `json:"angle,omitempty"`
}

// Claim is what was audited: the group with the elements that were visited, the inputs and the output.
type Claim struct {
	Group    string `json:"group"`
	Elements int    `json:"elements"`
	Added    int    `json:"added_exact_elements"`
	Measure  string `json:"measure"`
	Inputs   int    `json:"inputs"`
	Output   string `json:"output"`
	Scale    Number `json:"scale"`
	Seed     uint64 `json:"seed"`
	// of the elements, for plots; left out where there are more than two
	Axes []Axis `json:"axes,omitempty"`
	// inputs that were chosen, where some of them are copies of others; each content counts once
	Given int `json:"inputs_given,omitempty"`
	// how the outputs should move: "invariant", "equivariant", or "invariant and equivariant" where some stay
	Symmetry string `json:"symmetry,omitempty" jsonschema:"enum=,enum=invariant,enum=equivariant,enum=invariant and equivariant"`
	// what goes into the model and comes out of it, and how the group moves it
	Ports []Port `json:"ports,omitempty"`
	// outputs of the model that this audit does not look at
	Unaudited []string `json:"outputs_not_audited,omitempty"`
}

// Port is an input or an output of a model, or a field of one, with its action.
type Port struct {
	Name   string `json:"name,omitempty"`
	Output bool   `json:"output"`
	// what it holds: a kind of value with its type
	Holds string `json:"holds"`
	// how an element moves it, in words
	Action string `json:"action"`
	// it stays as it is
	Invariant bool `json:"invariant"`
}

// Architecture is what a model is made of.
type Architecture struct {
	// nodes of the graph
	Operators int `json:"operators"`
	// the most frequent kinds of them with their numbers, such as "Conv 12"
	Kinds []string `json:"kinds"`
	// numbers that training set; 0 if that is not known
	Parameters int64 `json:"parameters,omitempty"`
}

// Policy holds the limits, and where they come from.
type Policy struct {
	Preset      string `json:"preset"`
	Threshold   Number `json:"threshold"`
	Origin      string `json:"origin"`
	Confidence  Number `json:"confidence"`
	FailureRate Number `json:"failure_rate"`
	FailOn      FailOn `json:"fail_on"`
	Average     int    `json:"average"`
}

// Check is what one check has to say.
type Check struct {
	Check string `json:"check"`
	// in a few words, for people; "" where that is its name
	Title string `json:"title,omitempty"`
	// under which several checks are chosen together
	Family  string `json:"family,omitempty"`
	Summary string `json:"summary"`
	// what it asks and how it judges, as the check documents itself
	Doc    string `json:"doc,omitempty"`
	Status Status `json:"status" jsonschema:"enum=tested,enum=not tested,enum=not applicable"`
	Reason string `json:"reason,omitempty"`
	// there is no PASS without it
	Required bool       `json:"required"`
	Verdict  Verdict    `json:"verdict,omitempty" jsonschema:"enum=PASS,enum=FAIL,enum=NEEDS_ATTENTION"`
	Measures []Evidence `json:"measures"`
	Sets     []Set      `json:"sets"`
	Findings []Finding  `json:"findings"`
	Exhibits []Exhibit  `json:"exhibits"`
	Clues    []Clue     `json:"clues"`
	// id of the finding that the check reported first, where it is not the first here
	First string `json:"first_finding,omitempty"`
}

// Evidence is one number behind a finding, with its interval and what it is held against.
type Evidence struct {
	Name  string `json:"name"`
	Value Number `json:"value"`
	// the value with interval and limit in words; tells NaN from infinity
	Text  string  `json:"text"`
	Lo    *Number `json:"lo,omitempty"`
	Hi    *Number `json:"hi,omitempty"`
	Limit *Number `json:"limit,omitempty"`
	Unit  string  `json:"unit,omitempty"`
}

// Where is a place in the measurement: one sample at one element.
type Where struct {
	Sample      string   `json:"sample"`
	Index       int      `json:"index"`
	Element     string   `json:"element"`
	Coordinates []Number `json:"coordinates,omitempty"`
}

// Finding is something that a check saw and that somebody should know.
type Finding struct {
	Category string `json:"category"`
	// of the category, what reports print; "" where that is its name
	Title    string     `json:"title,omitempty"`
	Set      string     `json:"set,omitempty"`
	Message  string     `json:"message"`
	Location string     `json:"location"`
	Evidence []Evidence `json:"evidence"`
	Worst    *Where     `json:"worst,omitempty"`
	Remedies []string   `json:"remedies"`
	ID       string     `json:"id"`
	Severity Severity   `json:"severity" jsonschema:"enum=high,enum=medium,enum=low,enum=note"`
	Replay   string     `json:"replay,omitempty"`
}

// Heading is what people call the check.
func (c *Check) Heading() string { return cmp.Or(c.Title, c.Check) }

// Judges says whether a verdict of the check is one: it holds sets of elements against the limits, or it has found
// something. What was only measured passes nothing.
func (c *Check) Judges() bool { return len(c.Sets) > 0 || c.Verdict != "" && c.Verdict != Passed }

// Kind is the title of the category.
func (f *Finding) Kind() string { return cmp.Or(f.Title, f.Category) }

// Stats describes a list of values. All numbers are null when the list is empty.
type Stats struct {
	N    int    `json:"n"`
	Mean Number `json:"mean"`
	Std  Number `json:"std"`
	P50  Number `json:"p50"`
	P95  Number `json:"p95"`
	P99  Number `json:"p99"`
	Max  Number `json:"max"`
}

// Interval is an estimate over n inputs with its confidence limits, null where the data allow none.
type Interval struct {
	Value Number `json:"value"`
	Lo    Number `json:"lo"`
	Hi    Number `json:"hi"`
	N     int    `json:"n"`
}

// Set is a set of elements that is judged on its own, and what was measured on it over all inputs. Errors are relative
// to the scale of the output, or shares where a unit is given.
type Set struct {
	Name        string  `json:"name"`
	Exact       bool    `json:"exact"`
	Verdict     Verdict `json:"verdict" jsonschema:"enum=PASS,enum=FAIL,enum=NEEDS_ATTENTION"`
	Reason      string  `json:"reason"`
	Level       string  `json:"level"`
	Cause       string  `json:"cause"`
	Statement   string  `json:"statement"`
	Inputs      int     `json:"inputs"`
	Pairs       int     `json:"pairs"`
	NonFinite   int     `json:"non_finite"`
	NonFiniteAt *Where  `json:"non_finite_at,omitempty"`
	Scale       Number  `json:"scale"`
	Unit        string  `json:"unit,omitempty" jsonschema:"enum=share of pixels"`
	Relative    Stats   `json:"relative"`
	// relative times scale; with several parts of the output the unit is none of theirs, see Fields
	Absolute  Stats    `json:"absolute"`
	Component Number   `json:"largest_component"`
	Mean      Interval `json:"mean_per_input"`
	Worst     Interval `json:"largest_per_input"`
	Exceed    Interval `json:"share_above_threshold"`
	Exceeding int      `json:"inputs_above_threshold"`
	At        *Where   `json:"worst,omitempty"`
	Rounding  Number   `json:"rounding_floor"`
	Repeat    Number   `json:"repeat_floor"`
	Batch     Number   `json:"batch_floor"`
	// what would be there without any violation: resampling where elements resample, rounding elsewhere
	Floor      *Number  `json:"floor,omitempty"`
	Resampling Stats    `json:"resampling_floor"`
	Ratio      Interval `json:"error_over_resampling"`
	Detectable Number   `json:"detectable"`
	Detected   string   `json:"detectable_text"`
	Steps      []Step   `json:"elimination"`
	Profile    []Point  `json:"profile"`
	// of outputs that are records
	Fields   []Field   `json:"fields,omitempty"`
	Slope    *Slope    `json:"precision_slope,omitempty"`
	PerInput *PerInput `json:"per_input,omitempty"`
}

// Field is the error of one field of an output that is a record, relative to its own scale.
type Field struct {
	Name  string   `json:"name"`
	Scale Number   `json:"scale"`
	Mean  Interval `json:"mean_per_input"`
	Worst Interval `json:"largest_per_input"`
	Max   Number   `json:"largest"`
	At    *Where   `json:"worst,omitempty"`
}

// PerInput has a number per input in each list: what a comparison in pairs needs.
type PerInput struct {
	Samples []string `json:"samples"`
	// over the set, with the weights of the plan
	Mean []Number `json:"mean"`
	// over the set; null where no error is finite
	Largest []Number `json:"largest"`
}

// Slope compares the error with that in float64.
type Slope struct {
	Text   string   `json:"text"`
	Single Interval `json:"model"`
	Double Interval `json:"float64"`
	Apart  Number   `json:"outputs_apart"`
	// null if float64 takes the error away or there is none
	Factor   Number `json:"shrinks_by"`
	Inputs   int    `json:"inputs"`
	Elements int    `json:"elements"`
}

// Step is one step of the elimination that leads to a cause.
type Step struct {
	Name     string     `json:"name"`
	Text     string     `json:"text"`
	Named    bool       `json:"is_the_cause"`
	Evidence []Evidence `json:"evidence"`
}

// Point is one element of the orbit profile; the errors are relative.
type Point struct {
	Element     string   `json:"element"`
	Coordinates []Number `json:"coordinates"`
	Exact       bool     `json:"exact"`
	Added       bool     `json:"added"`
	N           int      `json:"n"`
	NonFinite   int      `json:"non_finite"`
	Mean        Number   `json:"mean"`
	P95         Number   `json:"p95"`
	Max         Number   `json:"max"`
	Resampling  Number   `json:"resampling_floor"`
	State       string   `json:"state"`
}
