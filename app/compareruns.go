package app

import (
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"nero/audit"
	"nero/audit/baseline"
	"nero/measure/aggregate"
	"nero/measure/metric"
	"nero/present/words"
	"nero/run/job"
	"nero/run/store"
)

// isRun says whether a path is the folder of a run.
func isRun(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "job.json"))
	return err == nil
}

// runChange is one metric of one model before and after, each sample with itself.
type runChange struct {
	Metric string `json:"metric"`
	// model
	Before string `json:"before"`
	After  string `json:"after"`
	// "higher" or "lower"
	Better string   `json:"better"`
	N      int      `json:"samples"`
	Was    *float64 `json:"mean_before"`
	Is     *float64 `json:"mean_after"`
	// of the mean change, with the confidence of all rows together
	Low    *float64 `json:"change_low"`
	High   *float64 `json:"change_high"`
	Says   string   `json:"evidence"`
	Beyond bool     `json:"beyond_allowed"`
}

// compareRuns compares the metrics of two runs of one study, in pairs by sample: means over the orbit with the weights
// of the plan.
func compareRuns(dirs [2]string, o CompareOptions, known metric.List) ([]runChange, error) {
	if err := someAllowance(o.Allow); err != nil {
		return nil, err
	}
	var runs [2]*store.Run
	for i, dir := range dirs {
		r, err := store.Open(dir)
		if err != nil {
			return nil, err
		}
		defer r.Close() //nolint:errcheck // it was read only
		if !r.Complete() {
			return nil, fmt.Errorf("%s: the run is not complete; the command that started it resumes it", dir)
		}
		runs[i] = r
	}
	a, b := runs[0].Job(), runs[1].Job()
	if d := differentRuns(a, b); d != nil {
		return nil, fmt.Errorf("%s and %s: %w: %s", dirs[0], dirs[1], baseline.ErrNotComparable, strings.Join(d, "; "))
	}
	models, err := sameModels(a, b, o.Before, o.After)
	if err != nil {
		return nil, fmt.Errorf("%s and %s: %w", dirs[0], dirs[1], err)
	}
	metrics := slices.DeleteFunc(slices.Clone(a.Metrics), func(m string) bool { return !slices.Contains(b.Metrics, m) })
	if len(metrics) == 0 {
		return nil, fmt.Errorf("%s and %s: no metric is in both", dirs[0], dirs[1])
	}
	confidence := 1 - (1-b.Study.Audit.Confidence)/float64(len(models)*len(metrics))
	if known, err = b.Study.KnownMetrics(known); err != nil {
		return nil, err
	}
	var out []runChange
	for _, m := range models {
		for _, name := range metrics {
			kind, err := known.Find(name)
			if err != nil {
				return nil, err
			}
			x, err := runs[0].Curves(m[0], name)
			if err != nil {
				return nil, err
			}
			y, err := runs[1].Curves(m[1], name)
			if err != nil {
				return nil, err
			}
			c := changeOfRuns(x, y, a.Weights, kind.Better == metric.Higher, confidence, o.Allow, b.Seed, name)
			c.Metric, c.Before, c.After = name, a.Models[m[0]].Name, b.Models[m[1]].Name
			out = append(out, c)
		}
	}
	return out, nil
}

// differentRuns says in what two runs differ that must be the same to compare them in pairs.
func differentRuns(a, b *job.Job) []string {
	var d []string
	add := func(name string, x, y any) {
		if s, t := fmt.Sprint(x), fmt.Sprint(y); s != t {
			d = append(d, fmt.Sprintf("%s was %.80s, is %.80s", name, s, t))
		}
	}
	digests := func(j *job.Job) (all []string) {
		for _, f := range j.Files {
			all = append(all, f.SHA256)
		}
		return all
	}
	add("group", a.Study.Group.Name, b.Study.Group.Name)
	if !slices.Equal(digests(a), digests(b)) || a.Names != b.Names {
		d = append(d, "the data are others")
	}
	add("number of samples", a.Count, b.Count)
	if a.Count == b.Count && !slices.Equal(a.Samples, b.Samples) {
		d = append(d, "the choice of samples is another")
	}
	add("elements", a.Measure, b.Measure)
	if a.Measure == b.Measure && fmt.Sprint(a.Elements, a.Weights) != fmt.Sprint(b.Elements, b.Weights) {
		d = append(d, "the elements or their weights are others")
	}
	add("kernel", a.Study.Group.Resample, b.Study.Group.Resample)
	add("border", a.Study.Group.Border, b.Study.Group.Border)
	add("mask", a.Study.Group.Mask, b.Study.Group.Mask)
	add("window", a.Study.Group.Window, b.Study.Group.Window)
	add("output action", a.Study.Output.Action, b.Study.Output.Action)
	return d
}

// sameModels are the models that are compared: those that are named, or all of the same name, or the only ones.
func sameModels(a, b *job.Job, before, after string) ([][2]int, error) {
	names := func(j *job.Job) (all []string) {
		for _, m := range j.Models {
			all = append(all, m.Name)
		}
		return all
	}
	x, y := names(a), names(b)
	if before != "" || after != "" {
		i, k := slices.Index(x, or(before, after)), slices.Index(y, or(after, before))
		if i < 0 {
			return nil, fmt.Errorf("--before: no model is named %q; the first has %s", or(before, after),
				strings.Join(x, ", "))
		}
		if k < 0 {
			return nil, fmt.Errorf("--after: no model is named %q; the second has %s", or(after, before),
				strings.Join(y, ", "))
		}
		return [][2]int{{i, k}}, nil
	}
	var out [][2]int
	for i, n := range x {
		if k := slices.Index(y, n); k >= 0 {
			out = append(out, [2]int{i, k})
		}
	}
	if out == nil && len(x) == 1 && len(y) == 1 {
		return [][2]int{{0, 0}}, nil
	}
	if out == nil {
		return nil, fmt.Errorf("no model is in both: the first has %s, the second %s; name two with --before and "+
			"--after", strings.Join(x, ", "), strings.Join(y, ", "))
	}
	return out, nil
}

// changeOfRuns compares two sets of curves. Where higher is better the two change places, so that improved and worse
// keep their meaning.
func changeOfRuns(x, y *store.Curves, weights []float64, higher bool, confidence, allow float64, seed uint64,
	name string,
) runChange {
	var before, after []float64
	for i, k := range x.Index {
		at, ok := slices.BinarySearch(y.Index, k)
		if !ok {
			continue
		}
		a, b, n := aggregate.PairedMean(x.Curve(i), y.Curve(at), weights)
		if n > 0 {
			before, after = append(before, a), append(after, b)
		}
	}
	h := fnv.New64a()
	h.Write([]byte("compare " + name))
	r := rand.New(rand.NewPCG(seed, h.Sum64()))
	const least = 2000
	draws := int(min(max(least, 50/(1-confidence)), 100*least))
	number := func(v float64) *float64 {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil
		}
		return &v
	}
	if higher {
		c := aggregate.Compare(after, before, draws, confidence, r)
		return runChange{
			Better: "higher", N: len(before), Was: number(c.After), Is: number(c.Before),
			Low: number(-c.Difference.High), High: number(-c.Difference.Low), Says: c.Verdict.String(),
			Beyond: c.Verdict == aggregate.Worse && c.Difference.Low > allow*math.Abs(c.After),
		}
	}
	c := aggregate.Compare(before, after, draws, confidence, r)
	return runChange{
		Better: "lower", N: len(before), Was: number(c.Before), Is: number(c.After), Low: number(c.Difference.Low),
		High: number(c.Difference.High), Says: c.Verdict.String(),
		Beyond: c.Verdict == aggregate.Worse && c.Difference.Low > allow*math.Abs(c.Before),
	}
}

// runsHead names the columns of a comparison of two runs.
func runsHead() []string {
	return []string{"model", "metric", "better", "samples", "before", "now", "change", "evidence"}
}

// cells are a change as a row of a table.
func (c runChange) cells() []string {
	figure := func(x *float64) string {
		if x == nil {
			return "undefined"
		}
		return audit.Figures(*x)
	}
	model := c.After
	if c.Before != c.After {
		model = c.Before + " -> " + c.After
	}
	says := c.Says
	if c.Beyond {
		says += ", REGRESSION"
	}
	return []string{
		model, c.Metric, c.Better, strconv.Itoa(c.N), figure(c.Was), figure(c.Is),
		"[" + figure(c.Low) + ", " + figure(c.High) + "]", says,
	}
}

func runsMarkdown(w io.Writer, cs []runChange) error {
	head, out := runsHead(), &strings.Builder{}
	fmt.Fprintf(out, "| %s |\n|%s\n", strings.Join(head, " | "), strings.Repeat("---|", len(head)))
	for _, c := range cs {
		row := c.cells()
		for i := range row {
			row[i] = words.Markdown(row[i])
		}
		fmt.Fprintf(out, "| %s |\n", strings.Join(row, " | "))
	}
	_, err := io.WriteString(w, out.String())
	return err
}

func runsText(w io.Writer, cs []runChange) error {
	out, rows := &strings.Builder{}, &strings.Builder{}
	fmt.Fprintln(rows, strings.Join(runsHead(), "\t"))
	for _, c := range cs {
		fmt.Fprintln(rows, strings.Join(c.cells(), "\t"))
	}
	columns(out, rows.String())
	_, err := io.WriteString(w, out.String())
	return err
}
