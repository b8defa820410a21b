package audit

import (
	"encoding/json"
	"io"
	"math"
	"strconv"

	"github.com/invopop/jsonschema"
)

// Format is the number of the JSON form. It grows whenever a field changes its meaning or goes away; new fields leave it alone.
const Format = 1

// number is a float that JSON can hold: null where it is not finite. The text beside it says which of NaN and the infinities it was.
type number float64

// MarshalJSON writes the shortest number that reads back the same.
func (n number) MarshalJSON() ([]byte, error) {
	x := float64(n)
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return []byte("null"), nil
	}
	return strconv.AppendFloat(nil, x, 'g', -1, 64), nil
}

// JSONSchema admits null beside numbers.
func (number) JSONSchema() *jsonschema.Schema {
	return &jsonschema.Schema{OneOf: []*jsonschema.Schema{{Type: "number"}, {Type: "null"}}}
}

type document struct {
	Format  int      `json:"format" jsonschema:"enum=1"`
	Verdict string   `json:"verdict" jsonschema:"enum=PASS,enum=FAIL,enum=NEEDS_ATTENTION,enum=COULD_NOT_RUN"`
	Exit    int      `json:"exit_code" jsonschema:"minimum=0,maximum=2"`
	Models  []jModel `json:"models"`
}

type jModel struct {
	Model   string   `json:"model"`
	Verdict string   `json:"verdict" jsonschema:"enum=PASS,enum=FAIL,enum=NEEDS_ATTENTION,enum=COULD_NOT_RUN"`
	Error   string   `json:"error,omitempty"`
	Reasons []string `json:"reasons"`
	Answers []string `json:"answers"`
	Claim   jClaim   `json:"claim"`
	Policy  jPolicy  `json:"policy"`
	Checks  []jCheck `json:"checks"`
	Outside []string `json:"not_part_of_this_audit"`
}

type jClaim struct {
	Group    string `json:"group"`
	Elements int    `json:"elements"`
	Added    int    `json:"added_exact_elements"`
	Measure  string `json:"measure"`
	Inputs   int    `json:"inputs"`
	Output   string `json:"output"`
	Scale    number `json:"scale"`
	Seed     uint64 `json:"seed"`
}

type jPolicy struct {
	Preset      string `json:"preset"`
	Threshold   number `json:"threshold"`
	Origin      string `json:"origin"`
	Confidence  number `json:"confidence"`
	FailureRate number `json:"failure_rate"`
	FailOn      string `json:"fail_on"`
	Average     int    `json:"average"`
}

type jCheck struct {
	Check    string      `json:"check"`
	Summary  string      `json:"summary"`
	Status   string      `json:"status" jsonschema:"enum=tested,enum=not tested,enum=not applicable"`
	Reason   string      `json:"reason,omitempty"`
	Verdict  string      `json:"verdict,omitempty" jsonschema:"enum=PASS,enum=FAIL,enum=NEEDS_ATTENTION"`
	Measures []jEvidence `json:"measures"`
	Sets     []jSet      `json:"sets"`
	Findings []jFinding  `json:"findings"`
}

type jEvidence struct {
	Name  string  `json:"name"`
	Value number  `json:"value"`
	Text  string  `json:"text"` // the value with interval and limit in words; tells NaN from infinity
	Lo    *number `json:"lo,omitempty"`
	Hi    *number `json:"hi,omitempty"`
	Limit *number `json:"limit,omitempty"`
	Unit  string  `json:"unit,omitempty"`
}

type jWhere struct {
	Sample      string   `json:"sample"`
	Index       int      `json:"index"`
	Element     string   `json:"element"`
	Coordinates []number `json:"coordinates,omitempty"`
}

type jFinding struct {
	Category string      `json:"category"`
	Set      string      `json:"set,omitempty"`
	Message  string      `json:"message"`
	Location string      `json:"location"`
	Evidence []jEvidence `json:"evidence"`
	Worst    *jWhere     `json:"worst,omitempty"`
	Remedies []string    `json:"remedies"`
}

type jStats struct {
	N    int    `json:"n"`
	Mean number `json:"mean"`
	Std  number `json:"std"`
	P50  number `json:"p50"`
	P95  number `json:"p95"`
	P99  number `json:"p99"`
	Max  number `json:"max"`
}

type jInterval struct {
	Value number `json:"value"`
	Lo    number `json:"lo"`
	Hi    number `json:"hi"`
	N     int    `json:"n"`
}

type jSet struct {
	Name        string    `json:"name"`
	Exact       bool      `json:"exact"`
	Verdict     string    `json:"verdict" jsonschema:"enum=PASS,enum=FAIL,enum=NEEDS_ATTENTION"`
	Reason      string    `json:"reason"`
	Level       string    `json:"level"`
	Cause       string    `json:"cause"`
	Statement   string    `json:"statement"`
	Inputs      int       `json:"inputs"`
	Pairs       int       `json:"pairs"`
	NonFinite   int       `json:"non_finite"`
	NonFiniteAt *jWhere   `json:"non_finite_at,omitempty"`
	Scale       number    `json:"scale"`
	Unit        string    `json:"unit,omitempty" jsonschema:"enum=share of pixels"`
	Relative    jStats    `json:"relative"`
	Absolute    jStats    `json:"absolute"`
	Component   number    `json:"largest_component"`
	Mean        jInterval `json:"mean_per_input"`
	Worst       jInterval `json:"largest_per_input"`
	Exceed      jInterval `json:"share_above_threshold"`
	Exceeding   int       `json:"inputs_above_threshold"`
	At          *jWhere   `json:"worst,omitempty"`
	Rounding    number    `json:"rounding_floor"`
	Repeat      number    `json:"repeat_floor"`
	Batch       number    `json:"batch_floor"`
	Resampling  jStats    `json:"resampling_floor"`
	Ratio       jInterval `json:"error_over_resampling"`
	Detectable  number    `json:"detectable"`
	Detected    string    `json:"detectable_text"`
	Steps       []jStep   `json:"elimination"`
	Profile     []jPoint  `json:"profile"`
}

type jStep struct {
	Name     string      `json:"name"`
	Text     string      `json:"text"`
	Named    bool        `json:"is_the_cause"`
	Evidence []jEvidence `json:"evidence"`
}

type jPoint struct {
	Element     string   `json:"element"`
	Coordinates []number `json:"coordinates"`
	Exact       bool     `json:"exact"`
	Added       bool     `json:"added"`
	N           int      `json:"n"`
	NonFinite   int      `json:"non_finite"`
	Mean        number   `json:"mean"`
	P95         number   `json:"p95"`
	Max         number   `json:"max"`
	Resampling  number   `json:"resampling_floor"`
	State       string   `json:"state"`
}

// couldNotRun stands where a verdict would.
const couldNotRun = "COULD_NOT_RUN"

// JSON writes reports for machines, indented by two spaces, in the form that [JSONSchema] describes. Equal reports give equal bytes.
// Numbers that are not finite are null.
func JSON(w io.Writer, reports ...*Report) error {
	d := document{Format: Format, Exit: ExitCode(reports...), Models: []jModel{}}
	overall := Passed
	for _, r := range reports {
		d.Models = append(d.Models, model(r))
		if r.Error != "" {
			d.Verdict = couldNotRun
			continue
		}
		overall = worse(overall, r.Verdict)
	}
	if len(reports) == 0 {
		d.Verdict = couldNotRun
	}
	if d.Verdict == "" {
		d.Verdict = string(overall)
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(d)
}

// JSONSchema is the schema of what [JSON] writes (draft 2020-12).
func JSONSchema() ([]byte, error) {
	r := jsonschema.Reflector{DoNotReference: true, Anonymous: true}
	s := r.Reflect(&document{})
	s.Title = "nero audit, format " + strconv.Itoa(Format)
	b, err := json.MarshalIndent(s, "", "  ")
	return append(b, '\n'), err
}

func model(r *Report) jModel {
	m := jModel{
		Model: r.Model, Verdict: string(r.Verdict), Error: r.Error, Reasons: list(r.Reasons), Answers: list(r.Answers()), Outside: list(r.Outside),
		Claim: jClaim{r.Group, r.Planned, r.Added, r.Measure, r.Inputs, r.Output, number(r.Scale), r.Seed},
		Policy: jPolicy{
			r.Policy.Preset, number(r.Policy.Threshold), r.Policy.Origin, number(r.Policy.Confidence),
			number(r.Policy.FailureRate), string(r.Policy.FailOn), r.Policy.Average,
		},
		Checks: []jCheck{},
	}
	if r.Error != "" {
		m.Verdict = couldNotRun
	}
	for _, c := range r.Results {
		j := jCheck{
			Check: c.Check.Name, Summary: c.Check.Summary(), Status: string(c.Status), Reason: c.Reason, Verdict: string(c.Verdict),
			Measures: evidences(c.Measures), Sets: []jSet{}, Findings: []jFinding{},
		}
		for _, s := range c.Sets {
			j.Sets = append(j.Sets, setOf(r, s))
		}
		for _, f := range c.Findings {
			j.Findings = append(j.Findings, jFinding{
				string(f.Category), f.Set, f.Message, f.Location, evidences(f.Evidence), where(f.Worst), list(f.Remedies),
			})
		}
		m.Checks = append(m.Checks, j)
	}
	return m
}

// list is never null in JSON.
func list(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}

func evidences(es []Evidence) []jEvidence {
	out := []jEvidence{}
	opt := func(x float64) *number {
		if math.IsNaN(x) {
			return nil
		}
		n := number(x)
		return &n
	}
	for _, e := range es {
		out = append(out, jEvidence{e.Name, number(e.Value), evidence(e), opt(e.Lo), opt(e.Hi), opt(e.Limit), e.Unit})
	}
	return out
}

func where(w Where) *jWhere {
	if w.Index < 0 && w.Label == "" {
		return nil
	}
	return &jWhere{w.Sample, w.Index, w.Label, numbers(w.Element)}
}

func numbers(x []float64) []number {
	var out []number
	for _, v := range x {
		out = append(out, number(v))
	}
	return out
}

func stats(s Stats) jStats {
	return jStats{s.N, number(s.Mean), number(s.Std), number(s.P50), number(s.P95), number(s.P99), number(s.Max)}
}

func interval(i Interval) jInterval {
	return jInterval{number(i.Value), number(i.Lo), number(i.Hi), i.N}
}

func setOf(r *Report, s *Set) jSet {
	j := jSet{
		Name: s.Name, Exact: s.Exact, Verdict: string(s.Verdict), Reason: s.Reason, Level: string(s.Level), Cause: string(s.Cause), Statement: r.Statement(s),
		Inputs: s.Inputs, Pairs: s.Pairs, NonFinite: s.NonFinite, NonFiniteAt: where(s.NonFiniteAt), Scale: number(s.Scale), Unit: s.Unit,
		Relative: stats(s.Rel), Absolute: stats(s.Abs), Component: number(s.Component),
		Mean: interval(s.Mean), Worst: interval(s.Worst), Exceed: interval(s.Exceed), Exceeding: s.Exceeding, At: where(s.At),
		Rounding: number(s.Floors.Rounding), Repeat: number(s.Floors.Repeat), Batch: number(s.Floors.Batch),
		Resampling: stats(s.Resampling), Ratio: interval(s.Ratio), Detectable: number(s.Detectable), Detected: detectable(&r.Policy, s),
		Steps: []jStep{}, Profile: []jPoint{},
	}
	for _, x := range s.Steps {
		j.Steps = append(j.Steps, jStep{x.Name, x.Text, x.Named, evidences(x.Evidence)})
	}
	for _, p := range s.Profile {
		j.Profile = append(j.Profile, jPoint{
			p.Label, append([]number{}, numbers(p.Element)...), p.Exact, p.Added, p.N, p.NonFinite,
			number(p.Mean), number(p.P95), number(p.Max), number(p.Resampling), r.Policy.State(s, p),
		})
	}
	return j
}
