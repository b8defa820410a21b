package audit

import (
	"encoding/json"
	"io"
	"math"
	"strconv"

	"github.com/invopop/jsonschema"
)

// Format is the number of the JSON form. It grows whenever a field changes its meaning or goes away; new fields leave
// it alone.
const Format = 1

// number is a float that JSON can hold: null where it is not finite. The text beside it says which of NaN and the
// infinities it was.
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

	About     []jAbout    `json:"about"`
	Questions []jQuestion `json:"questions"`
	// the most likely first
	Diagnoses   []jDiagnosis `json:"diagnoses"`
	Advice      []jAdvice    `json:"recommendations"`
	WorstCases  []jWorst     `json:"worst_cases"`
	Certificate []string     `json:"certificate"`
	Caveats     []string     `json:"caveats"`
	// without pixels, which the page holds
	Gallery []jCase `json:"gallery"`
	Command string  `json:"command,omitempty"`
	// what two audits must share to be compared
	Basis []jAbout `json:"basis,omitempty"`
	Score jScore   `json:"self_score"`

	// that holds, whatever was claimed
	Largest string `json:"largest_symmetry,omitempty"`
	// what stands above it and fails
	Beyond []string `json:"fails_beyond,omitempty"`
}

type jScore struct {
	Total         number `json:"total"`
	Thoroughness  number `json:"thoroughness"`
	ErrorAnalysis number `json:"error_analysis"`
	Diagnosis     number `json:"diagnosis"`
	Advice        number `json:"advice"`
	Documentation number `json:"documentation"`
}

type jAbout struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type jQuestion struct {
	Question string   `json:"question"`
	Answers  []string `json:"answers"`
}

type jDiagnosis struct {
	ID         string   `json:"id"`
	Cause      string   `json:"cause"`
	Confidence number   `json:"confidence"`
	Location   string   `json:"location,omitempty"`
	For        []jClue  `json:"for"`
	Against    []jClue  `json:"against"`
	Missing    []string `json:"would_decide"`
	Fix        string   `json:"fix"`
	Verify     string   `json:"verify"`
}

type jClue struct {
	Name     string      `json:"name"`
	Holds    bool        `json:"holds"`
	Strength number      `json:"strength"`
	Text     string      `json:"text"`
	Check    string      `json:"check"`
	Location string      `json:"location,omitempty"`
	Set      string      `json:"set,omitempty"`
	Evidence []jEvidence `json:"evidence"`
}

type jAdvice struct {
	Do     string `json:"do"`
	Why    string `json:"why"`
	Verify string `json:"verify,omitempty"`
}

type jWorst struct {
	What   string `json:"what"`
	Where  jWhere `json:"where"`
	Value  number `json:"value"`
	Replay string `json:"replay,omitempty"`
}

type jCase struct {
	Title string  `json:"title"`
	Where *jWhere `json:"where,omitempty"`
	Note  string  `json:"note,omitempty"`
	// captions
	Pictures []string `json:"pictures"`
	Replay   string   `json:"replay,omitempty"`
}

type jExhibit struct {
	Name  string  `json:"name"`
	Title string  `json:"title"`
	Note  string  `json:"note,omitempty"`
	Table *jTable `json:"table,omitempty"`
	Curve *jCurve `json:"curve,omitempty"`
	Map   *jMap   `json:"map,omitempty"`
}

type jTable struct {
	Columns []jColumn `json:"columns"`
	Rows    [][]jCell `json:"rows"`
}

type jColumn struct {
	Name string `json:"name"`
	Unit string `json:"unit,omitempty"`
	Doc  string `json:"doc,omitempty"`
}

// jCell is a word, a number, or null for a number that is not finite.
type jCell Cell

// MarshalJSON writes the word or the number.
func (c jCell) MarshalJSON() ([]byte, error) {
	if c.Number {
		return number(c.Value).MarshalJSON()
	}
	return json.Marshal(c.Text)
}

// JSONSchema admits words, numbers and null.
func (jCell) JSONSchema() *jsonschema.Schema {
	return &jsonschema.Schema{OneOf: []*jsonschema.Schema{{Type: "string"}, {Type: "number"}, {Type: "null"}}}
}

type jScale struct {
	Name string `json:"name"`
	Unit string `json:"unit,omitempty"`
	Log  bool   `json:"log,omitempty"`
}

type jCurve struct {
	X      jScale    `json:"x"`
	Y      jScale    `json:"y"`
	Limit  *number   `json:"limit,omitempty"`
	Series []jSeries `json:"series"`
}

type jSeries struct {
	Name   string   `json:"name"`
	Marks  bool     `json:"marks,omitempty"`
	X      []number `json:"x"`
	Y      []number `json:"y"`
	Lo     []number `json:"lo,omitempty"`
	Hi     []number `json:"hi,omitempty"`
	Labels []string `json:"labels,omitempty"`
}

type jMap struct {
	Height    int    `json:"height"`
	Width     int    `json:"width"`
	Unit      string `json:"unit,omitempty"`
	Diverging bool   `json:"diverging,omitempty"`
	// row by row
	Values []number `json:"values"`
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
	Check string `json:"check"`
	// under which several checks are chosen together
	Family  string `json:"family,omitempty"`
	Summary string `json:"summary"`
	Status  string `json:"status" jsonschema:"enum=tested,enum=not tested,enum=not applicable"`
	Reason  string `json:"reason,omitempty"`
	// there is no PASS without it
	Required bool        `json:"required"`
	Verdict  string      `json:"verdict,omitempty" jsonschema:"enum=PASS,enum=FAIL,enum=NEEDS_ATTENTION"`
	Measures []jEvidence `json:"measures"`
	Sets     []jSet      `json:"sets"`
	Findings []jFinding  `json:"findings"`
	Exhibits []jExhibit  `json:"exhibits"`
	Clues    []jClue     `json:"clues"`
}

type jEvidence struct {
	Name  string `json:"name"`
	Value number `json:"value"`
	// the value with interval and limit in words; tells NaN from infinity
	Text  string  `json:"text"`
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
	ID       string      `json:"id"`
	Severity string      `json:"severity" jsonschema:"enum=high,enum=medium,enum=low,enum=note"`
	Replay   string      `json:"replay,omitempty"`
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
	// of outputs that are records
	Fields   []jField `json:"fields,omitempty"`
	Slope    *jSlope  `json:"precision_slope,omitempty"`
	PerInput *jInputs `json:"per_input,omitempty"`
}

// jField is the error of one field of an output that is a record, relative to its own scale.
type jField struct {
	Name  string    `json:"name"`
	Scale number    `json:"scale"`
	Mean  jInterval `json:"mean_per_input"`
	Worst jInterval `json:"largest_per_input"`
	Max   number    `json:"largest"`
	At    *jWhere   `json:"worst,omitempty"`
}

// jInputs has a number per input in each list: what a comparison in pairs needs.
type jInputs struct {
	Samples []string `json:"samples"`
	// over the set, with the weights of the plan
	Mean []number `json:"mean"`
	// over the set; null where no error is finite
	Largest []number `json:"largest"`
}

// jSlope compares the error with that in float64.
type jSlope struct {
	Text   string    `json:"text"`
	Single jInterval `json:"model"`
	Double jInterval `json:"float64"`
	Apart  number    `json:"outputs_apart"`
	// null if float64 takes the error away or there is none
	Factor   number `json:"shrinks_by"`
	Inputs   int    `json:"inputs"`
	Elements int    `json:"elements"`
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

// JSON writes reports for machines, indented by two spaces, in the form that [JSONSchema] describes. Equal reports give
// equal bytes. Numbers that are not finite are null.
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
		Largest: r.Largest, Beyond: r.Beyond,
		Model: r.Model, Verdict: string(r.Verdict), Error: r.Error, Reasons: list(r.Reasons),
		Answers: list(r.Answers()), Outside: list(r.Outside),
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
	whole(&m, r)
	graded := map[string][]Graded{}
	for _, f := range r.Graded() {
		graded[f.Check] = append(graded[f.Check], f)
	}
	for _, c := range r.Results {
		j := jCheck{
			Check: c.Check.Name, Family: c.Check.Family, Summary: c.Check.Summary(), Status: string(c.Status),
			Reason:   c.Reason,
			Required: r.Policy.requires(c.Check, r.Results), Verdict: string(c.Verdict),
			Measures: evidences(c.Measures), Sets: []jSet{}, Findings: []jFinding{}, Exhibits: []jExhibit{},
			Clues: clues(c.Clues),
		}
		for _, s := range c.Sets {
			j.Sets = append(j.Sets, setOf(r, s))
		}
		for _, f := range graded[c.Check.Name] {
			j.Findings = append(j.Findings, jFinding{
				f.Category.Name, f.Set, f.Message, f.Location, evidences(f.Evidence), where(f.Worst),
				list(f.Remedies),
				f.ID, string(f.Severity), r.Replay(f.Worst),
			})
		}
		for _, e := range c.Exhibits {
			j.Exhibits = append(j.Exhibits, exhibitOf(e))
		}
		m.Checks = append(m.Checks, j)
	}
	return m
}

// whole fills in what belongs to no single check.
func whole(m *jModel, r *Report) {
	m.About, m.Questions, m.Diagnoses, m.Advice, m.WorstCases, m.Gallery = []jAbout{}, []jQuestion{}, []jDiagnosis{},
		[]jAdvice{}, []jWorst{}, []jCase{}
	m.Certificate, m.Caveats, m.Command = list(r.Certificate()), list(r.Caveats()), r.Command
	x := r.Score()
	m.Score = jScore{
		number(x.Total), number(x.Thoroughness), number(x.ErrorAnalysis), number(x.Diagnosis),
		number(x.Advice), number(x.Documentation),
	}
	for _, b := range r.Basis {
		m.Basis = append(m.Basis, jAbout(b))
	}
	for _, a := range r.About {
		m.About = append(m.About, jAbout(a))
	}
	if r.Error == "" {
		for _, q := range r.Questions() {
			m.Questions = append(m.Questions, jQuestion{q.Text, q.Answers})
		}
	}
	for _, d := range r.Diagnoses {
		j := jDiagnosis{
			ID: d.ID, Cause: d.Cause, Confidence: number(d.Confidence), Location: d.Location, For: clues(d.For),
			Against: clues(d.Against),
			Missing: []string{}, Fix: d.Fix, Verify: d.Verify,
		}
		for _, n := range d.Missing {
			j.Missing = append(j.Missing, string(n))
		}
		m.Diagnoses = append(m.Diagnoses, j)
	}
	for _, a := range r.Recommendations() {
		m.Advice = append(m.Advice, jAdvice(a))
	}
	for _, w := range r.WorstCases() {
		m.WorstCases = append(m.WorstCases, jWorst{w.What, *where(w.Where), number(w.Value), r.Replay(w.Where)})
	}
	for _, g := range r.Gallery {
		j := jCase{Title: g.Title, Where: where(g.Where), Note: g.Note, Pictures: []string{}, Replay: r.Replay(g.Where)}
		for _, p := range g.Pictures {
			j.Pictures = append(j.Pictures, p.Caption)
		}
		m.Gallery = append(m.Gallery, j)
	}
}

func clues(cs []Clue) []jClue {
	out := []jClue{}
	for _, c := range cs {
		out = append(out, jClue{
			string(c.Name), c.Holds, number(c.Strength), c.Text, c.Check, c.Location, c.Set,
			evidences(c.Evidence),
		})
	}
	return out
}

func exhibitOf(e Exhibit) jExhibit {
	j := jExhibit{Name: e.Name, Title: e.Title, Note: e.Note}
	if t := e.Table; t != nil {
		j.Table = &jTable{Columns: []jColumn{}, Rows: [][]jCell{}}
		for _, c := range t.Columns {
			j.Table.Columns = append(j.Table.Columns, jColumn(c))
		}
		for _, r := range t.Rows {
			row := []jCell{}
			for _, c := range r {
				row = append(row, jCell(c))
			}
			j.Table.Rows = append(j.Table.Rows, row)
		}
	}
	if c := e.Curve; c != nil {
		j.Curve = &jCurve{X: jScale(c.X), Y: jScale(c.Y), Series: []jSeries{}}
		if !math.IsNaN(c.Limit) {
			n := number(c.Limit)
			j.Curve.Limit = &n
		}
		for _, s := range c.Series {
			j.Curve.Series = append(j.Curve.Series, jSeries{
				s.Name, s.Marks, append([]number{}, numbers(s.X)...), append([]number{}, numbers(s.Y)...),
				numbers(s.Lo), numbers(s.Hi), s.Labels,
			})
		}
	}
	if m := e.Map; m != nil {
		j.Map = &jMap{m.H, m.W, m.Unit, m.Diverging, append([]number{}, numbers(m.Val)...)}
	}
	return j
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
		Name: s.Name, Exact: s.Exact, Verdict: string(s.Verdict), Reason: s.Reason, Level: string(s.Level),
		Cause: string(s.Cause), Statement: r.Statement(s),
		Inputs: s.Inputs, Pairs: s.Pairs, NonFinite: s.NonFinite, NonFiniteAt: where(s.NonFiniteAt),
		Scale: number(s.Scale), Unit: s.Unit,
		Relative: stats(s.Rel), Absolute: stats(s.Abs), Component: number(s.Component),
		Mean: interval(s.Mean), Worst: interval(s.Worst), Exceed: interval(s.Exceed), Exceeding: s.Exceeding,
		At:       where(s.At),
		Rounding: number(s.Floors.Rounding), Repeat: number(s.Floors.Repeat), Batch: number(s.Floors.Batch),
		Resampling: stats(s.Resampling), Ratio: interval(s.Ratio), Detectable: number(s.Detectable),
		Detected: detectable(&r.Policy, s),
		Steps:    []jStep{}, Profile: []jPoint{},
	}
	for _, f := range s.Fields {
		j.Fields = append(j.Fields, jField{
			f.Name, number(f.Scale), interval(f.Mean), interval(f.Worst), number(f.Max),
			where(f.At),
		})
	}
	if sl := s.Slope; sl != nil {
		j.Slope = &jSlope{
			sl.String(), interval(sl.Single), interval(sl.Double), number(sl.Apart), number(sl.Factor()),
			sl.Inputs, sl.Elements,
		}
	}
	if s.IDs != nil {
		j.PerInput = &jInputs{s.IDs, numbers(s.Means), numbers(s.Largest)}
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
