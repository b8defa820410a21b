package watch

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"nero/audit"
	"nero/audit/baseline"
	"nero/audit/document"
	"nero/measure/aggregate"
	"nero/measure/metric"
	"nero/run/job"
	"nero/run/store"
)

// Release is what one file says of one model.
type Release struct {
	// File is its path below the folder, with slashes.
	File  string
	Model string
	// Content is the digest of the file: two releases of the same content are one.
	Content string
	// Written is when the file was written; it decides between releases of one day alone.
	Written time.Time
	// ModelFile is the name of the model's file, without folders.
	ModelFile, Digest, Engine, Data, Program, Date string
	Verdict                                        string
	// Unknown says that nothing tells whether the outputs vary, which is so of some runs.
	Unknown bool
	// Empty is what its audit says of it, or its run, as in "its outputs do not vary", where no error of it means
	// anything; else
	// empty.
	Empty string
	// Terms are what two releases must share to ask the same.
	Terms []Fact
	// DataDigest and Inputs say which objects were asked.
	DataDigest string
	Lines      []Line
	// where it stands in the order, and what that is called
	order []int
	label string
	// guessed is the name that the label is a number of which nothing says what it is; "" otherwise
	guessed string
	// place among all releases, from 1
	place int
}

// Fact is a name and its value.
type Fact struct{ Name, Value string }

// Line is one number for each object.
type Line struct {
	// Metric is how an object's values became one: largest, mean, or the metric of a run. Set is what it was taken
	// over.
	Metric, Set, Unit string
	// Elements is a digest of what was taken over.
	Elements string
	Higher   bool
	// Limit is what an object may have at most and not fail; NaN for none.
	Limit float64
	// Objects are their names, and a digest of these.
	Objects []string
	Inputs  string
	// Values are NaN where an object has none.
	Values []float64
	// Rounding says that no value is more than rounding.
	Rounding bool
	// Most is the largest error, and Floor what rounding does.
	Most, Floor float64
}

// excused reports whether rounding explains the errors, so that they are no change for the worse: those of a point that
// are not shown to be above the limit, or that are no more than what rounding did to the release that it is compared
// with. A scale that has nearly collapsed makes anything rounding, also what is half as large as the answers.
func (l *Line) excused(p *Point, with *Line) bool {
	return l.Rounding && (!l.above(p) || (&baseline.Set{Max: l.Most, Rounding: with.Floor}).Rounded())
}

// above reports whether an error is shown to be above the limit.
func (l *Line) above(p *Point) bool { return float64(p.Low) > l.Limit }

// digestOf is the first digits of the SHA-256 of texts.
func digestOf(texts ...string) string {
	h := sha256.New()
	for _, t := range texts {
		var n [8]byte
		binary.LittleEndian.PutUint64(n[:], uint64(len(t)))
		h.Write(n[:])
		_, _ = io.WriteString(h, t)
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// The ways in which the errors of an object over a set of elements become one number.
const (
	largest = "largest"
	average = "mean"
)

// ofAudit are the releases that an audit holds. Models that could not be audited are left out, and told.
func ofAudit(f *file, d *document.Audit) (all []*Release, skipped []Skipped, err error) {
	stored, err := baseline.Stored(f.name, d)
	if err != nil {
		return nil, nil, err
	}
	for i, m := range stored.Models {
		if m.Error != "" {
			skipped = append(skipped, Skipped{f.name, fmt.Sprintf("model %s could not be audited: %s", m.Name,
				m.Error)})
			continue
		}
		r := &Release{
			File: f.name, Model: m.Name, Content: f.content, Written: f.written, Verdict: string(m.Verdict),
			ModelFile: path.Base(strings.ReplaceAll(d.Models[i].Fact(document.AboutFile), "\\", "/")),
			Digest:    d.Models[i].Fact(document.AboutDigest), Engine: d.Models[i].Fact(document.AboutEngine),
			Data: path.Base(strings.ReplaceAll(d.Models[i].Fact(document.AboutData), "\\", "/")),
			Date: d.Models[i].Fact(document.AboutDate), Program: d.Models[i].Fact("program"), Empty: empty(m),
		}
		r.Terms = []Fact{{"group", m.Group}, {"output form", m.Output}}
		for _, b := range m.Basis {
			if b.Name == "data" {
				r.DataDigest = strings.TrimPrefix(b.Value, "sha256 ")
				continue
			}
			r.Terms = append(r.Terms, Fact{b.Name, b.Value})
		}
		number := func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
		r.Terms = append(r.Terms, Fact{"threshold", number(m.Threshold)}, Fact{"confidence", number(m.Confidence)},
			Fact{"repeats averaged", strconv.Itoa(max(m.Average, 1))}, Fact{"seed", strconv.FormatUint(m.Seed, 10)})
		for _, s := range m.Sets {
			if s.IDs != nil {
				r.Lines = append(r.Lines, ofSet(s, m.Threshold)...)
			}
		}
		if len(r.Lines) == 0 {
			skipped = append(skipped, Skipped{f.name, fmt.Sprintf("model %s has no errors of each input: it judged no "+
				"set of elements, or was written by an older program", m.Name)})
			continue
		}
		all = append(all, r)
	}
	return all, skipped, nil
}

// unvarying is said of a model whose answer is always the same.
const unvarying = "outputs do not vary"

// empty is what an audit says of a model of which no error means anything; empty where it says nothing of the kind.
// That an answer stays is no news where no input changes it.
func empty(m *baseline.Model) string {
	what := ""
	if slices.ContainsFunc(m.Sets, func(s *baseline.Set) bool { return s.Cause == string(audit.CauseVacuous) }) {
		what = unvarying
	}
	for _, f := range m.Findings {
		switch {
		case f.Category == nil || f.Category.Name != audit.Vacuous.Name || f.Location != "output":
			// of a field alone: the others may show an error
		case f.Check != "features":
			what = unvarying
		case what == "":
			what = "features have collapsed"
		}
	}
	if what == unvarying && m.Inputs == 1 {
		return "only input has no spread to measure errors against"
	}
	return what
}

func ofSet(s *baseline.Set, threshold float64) []Line {
	var places []string
	for _, e := range s.Elements {
		places = append(places, fmt.Sprintf("%.9g", e))
	}
	one := Line{
		Set: s.Name, Unit: s.Unit, Elements: fmt.Sprintf("%d, %s", len(s.Elements), digestOf(places...)),
		Limit:   threshold,
		Objects: s.IDs, Inputs: digestOf(s.IDs...), Rounding: s.Rounded(), Most: s.Max, Floor: s.Rounding,
	}
	big, mean := one, one
	big.Metric, big.Values = largest, s.Largest
	mean.Metric, mean.Values = average, s.Means
	return []Line{big, mean}
}

// ofRun are the releases that a run holds.
func ofRun(f *file, r *store.Run, known metric.List) ([]*Release, error) {
	j := r.Job()
	known, err := j.Study.KnownMetrics(known)
	if err != nil {
		return nil, err
	}
	sum, err := summaryOf(r)
	if err != nil {
		return nil, err
	}
	var all []*Release
	for i, m := range j.Models {
		one := &Release{
			File: f.name, Model: m.Name, Content: f.content, Written: f.written, Digest: m.SHA256,
			ModelFile: path.Base(strings.ReplaceAll(m.Path, "\\", "/")), Engine: strings.TrimSpace(j.Engine.Name + " " +
				j.Engine.Version), Data: path.Base(strings.ReplaceAll(j.Study.Data.Images, "\\", "/")),
			DataDigest: j.DataDigest(),
		}
		g := j.Study.Group
		one.Terms = []Fact{
			{"group", g.Name},
			{"kernel", g.Resample},
			{"border", g.Border},
			{"mask", g.Mask},
			{"window", fmt.Sprint(g.Window)},
			{"output action", j.Study.Output.Action},
			{"numbers", fmt.Sprint(j.Format, ".", j.Numbers)},
			{"seed", strconv.FormatUint(j.Seed, 10)},
		}
		elements := fmt.Sprintf("%d, %s", len(j.Elements), digestOf(fmt.Sprint(j.Elements), fmt.Sprint(j.Weights)))
		classesAlone := true
		for _, name := range j.Metrics {
			of, err := known.Find(name)
			if err != nil {
				return nil, err
			}
			l, err := ofCurves(r, j, i, of, elements)
			if err != nil {
				return nil, err
			}
			one.Lines = append(one.Lines, l)
			classesAlone = classesAlone && of.Binary
		}
		varies, known, err := outputs(r, sum, i, classesAlone)
		if err != nil {
			return nil, err
		}
		if one.Unknown = !known; known && !varies {
			one.Empty = unvarying
		}
		all = append(all, one)
	}
	return all, nil
}

// ofCurves is the mean of a metric over the orbit of each sample.
func ofCurves(r *store.Run, j *job.Job, model int, of *metric.Metric, elements string) (Line, error) {
	l := Line{
		Metric: of.Name, Set: "orbit", Unit: of.Unit, Elements: elements, Higher: of.Better == metric.Higher,
		Limit: math.NaN(),
	}
	c, err := r.Curves(model, of.Name)
	if err != nil {
		return l, err
	}
	mean := aggregate.CurveMean(j.Weights)
	for i, k := range c.Index {
		l.Values = append(l.Values, mean(c.Curve(i)))
		if j.Samples != nil {
			k = j.Samples[k]
		}
		l.Objects = append(l.Objects, strconv.Itoa(k))
	}
	l.Inputs = digestOf(l.Objects...)
	return l, nil
}

// question is all that must be the same for two lines to be of one series, whatever the objects.
func (r *Release) question(l *Line, named bool) []Fact {
	all := slices.Clone(r.Terms)
	if named {
		all = append(all, Fact{"model", r.Model})
	}
	return append(all, Fact{"elements", l.Elements}, Fact{"unit", l.Unit}, Fact{"set", l.Set}, Fact{"metric", l.Metric})
}

// keyOf is a digest of facts, without some.
func keyOf(facts []Fact, without ...string) string {
	var texts []string
	for _, f := range facts {
		if !slices.Contains(without, f.Name) {
			texts = append(texts, f.Name, f.Value)
		}
	}
	return digestOf(texts...)
}

// differ says in which facts two lists differ.
func differ(a, b []Fact) []string {
	var out []string
	value := func(list []Fact, name string) string {
		i := slices.IndexFunc(list, func(f Fact) bool { return f.Name == name })
		if i < 0 {
			return ""
		}
		return list[i].Value
	}
	say := func(name, x, y string) {
		if x != y {
			out = append(out, fmt.Sprintf("%s is %s and not %s", name, clip(cmp.Or(y, "not written down")),
				clip(cmp.Or(x, "not written down"))))
		}
	}
	for _, f := range a {
		say(f.Name, f.Value, value(b, f.Name))
	}
	for _, f := range b {
		if value(a, f.Name) == "" {
			say(f.Name, "", f.Value)
		}
	}
	return out
}

// clip leaves of a digest as much as tells two apart.
func clip(s string) string {
	const digits = 12
	if len(s) == 64 && strings.Trim(s, "0123456789abcdef") == "" {
		return s[:digits]
	}
	return s
}
