package report

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"iter"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"nero/present/view"
	"nero/present/words"
	"nero/run/fold"
	"nero/run/job"
	"nero/symmetry/group"

	"gonum.org/v1/plot/font"
)

// small is a run whose numbers a reader can check by eye.
func small() fixture {
	return fixture{
		group: "C4", models: []string{"original", "augmented|<i>"},
		metrics: []string{"accuracy", "confidence", "relative"}, n: 6, classes: 2,
		exact: func(e group.Element) bool { return e[0] != 90 },
		curve: func(model, sample int, metric string, e []float64) float64 {
			turn := e[0] / 90 // 0 to 3
			switch metric {
			case "accuracy":
				if model == 0 && turn == 2 {
					return 0
				}
				return 1
			case "confidence":
				if model == 1 {
					return 0.9 + 0.01*float64(sample)
				}
				return 0.95 - 0.2*turn + 0.01*float64(sample)
			}
			return turn * float64(2-model) / 10
		},
	}
}

func (f fixture) input(t *testing.T) Input {
	t.Helper()
	s, j := f.summary(t)
	return Input{Summary: s, Job: j, Rows: func() iter.Seq2[job.Row, error] { return f.rows(j) }, Version: "1.2.3"}
}

// pageText is the page of an input, without drawing its pictures.
func pageText(t *testing.T, in Input) string {
	t.Helper()
	p, err := newPage(in)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.survey(t.Context()); err != nil {
		t.Fatal(err)
	}
	figures, err := p.figures(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return p.markdown(figures)
}

func TestGoldenPage(t *testing.T) {
	in := small().input(t)
	in.Audit = "# Verdict\n\nPASS\n\n```\n# not a heading\n```"
	golden(t, "small.md", []byte(pageText(t, in)))
	var b bytes.Buffer
	if err := CSV(&b, in.Summary); err != nil {
		t.Fatal(err)
	}
	golden(t, "small.csv", b.Bytes())
}

// The findings of the small run, by hand: the first model falls from 0.975 to 0.375 and is right at three of four
// elements; its twin stays level. Their difference is 0.9 - 0.65 for every sample.
func TestFindingsByHand(t *testing.T) {
	page := pageText(t, small().input(t))
	for _, want := range []string{
		"- **Confidence** (against the label; higher is better)",
		"**original**: confidence falls from 0.975",
		"to 0.375", "at 270°",
		"**worse when moved** (change of the orbit mean against the identity −0.300",
		"**augmented\\|&lt;i&gt;**: confidence is 0.925", "at every element; mean over",
		"lowest 0.925 at every element", "lowest 0 at 180°",
		"differs by +0.250 [+0.250, +0.250] (n = 6, paired by sample)",
		// Exact besides the identity: 180 and 270 degrees, (0.4+0.6)/2; resampled: 90 degrees.
		"mean relative equivariance error 0.500 [0.500, 0.500] at the 2 exact elements besides the identity (n = 6), " +
			"0.200 [0.200, 0.200] at the 1 resampled element (n = 6)",
		// Over all four elements: (0+0.2+0.4+0.6)/4. The two means differ by what they count, and say so.
		"; mean over the whole orbit, identity included 0.300 [0.300, 0.300] (n = 6); highest 0.600",
		"| model | at identity | mean over the whole orbit, identity included | lowest mean |",
		"| number | mean, identity left out | worst single value |",
		"inputs that gain and inputs that lose cancel. An audit judges the outputs of each input and is stricter, so " +
			"a model can look round here and still fail an audit.",
		"No audit is attached",
		"| samples | 6 evaluated, 0 failed |",
		"Intervals rest on 6 samples",
		"- name: original\n  onnx: models/original.onnx",
		"nero run study.yaml -o run",
		"SHA-256 `0000000000000000000000000000000000000000000000000000000000000002`",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	if strings.Contains(page, "NaN") || strings.Contains(page, "Inf") || strings.Contains(page, "%!") {
		t.Error("the page has a number that is none, or a verb without one")
	}
}

// vector draws without the PNG, which takes most of the time under the race detector and is looked at by the tests of
// drawing.
func vector(f *view.Figure, o Options, fonts *font.Cache) (*Picture, error) {
	d, err := arrange(f, o, fonts)
	if err != nil {
		return nil, err
	}
	b, err := d.svg()
	return &Picture{SVG: b, PNG: []byte(f.Name + string(o.Theme))}, err
}

func TestWrite(t *testing.T) {
	f := small()
	f.metrics, f.classes = f.metrics[1:2], 0 // pictures take time under the race detector
	in := f.input(t)
	asked := map[int]bool{}
	in.Picture = func(i int) (image.Image, error) {
		asked[i] = true
		if len(asked) == 1 {
			return nil, errors.New("moved away")
		}
		return checker(), nil
	}
	dir := filepath.Join(t.TempDir(), "new", "report")
	files, err := write(t.Context(), dir, in, vector)
	if err != nil {
		t.Fatal(err)
	}
	if files[len(files)-1] != "report.md" || !slices.Contains(files, "curves.csv") ||
		!slices.Contains(files, "files.csv") || !slices.Contains(files, "pictures/confidence-all-dark.svg") ||
		!slices.Contains(files, "pictures/confidence-all-light.png") ||
		!slices.Contains(files, "pictures/confidence-samples-light.svg") {
		t.Errorf("files %v", files)
	}
	page, err := os.ReadFile(filepath.Join(dir, "report.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`(?:src|srcset)="([^"]+)"|\]\(([^)]+)\)`).FindAllStringSubmatch(string(page),
		-1) {
		if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(m[1]+m[2]))); err != nil {
			t.Errorf("a link of the page leads nowhere: %v", err)
		}
	}
	if !strings.Contains(string(page), "could not be shown: moved away") {
		t.Error("a picture is missing and nobody says so")
	}
	if len(asked) < 2 || len(asked) > 3 {
		t.Errorf("pictures of %d samples were asked for", len(asked))
	}
	var names []string
	sums := map[string]string{}
	err = filepath.WalkDir(dir, func(name string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		b, err := os.ReadFile(name)
		rel, err2 := filepath.Rel(dir, name)
		names = append(names, filepath.ToSlash(rel))
		sums[filepath.ToSlash(rel)] = string(b)
		return errors.Join(err, err2)
	})
	if err != nil || len(names) != len(files) {
		t.Errorf("%d files are there, %d named (%v)", len(names), len(files), err)
	}
	// The same run gives the same bytes, over the old files.
	clear(asked)
	if _, err := write(t.Context(), dir, in, vector); err != nil {
		t.Fatal(err)
	}
	for name, old := range sums {
		if b, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(b) != old {
			t.Errorf("%s was written anew with other bytes (%v)", name, err)
		}
	}
}

func TestWriteRefuses(t *testing.T) {
	f := small()
	good := f.input(t)
	failing := errors.New("shard 3 is damaged")
	rows := func(change func(i int, r *job.Row) error) func() iter.Seq2[job.Row, error] {
		return func() iter.Seq2[job.Row, error] {
			return func(yield func(job.Row, error) bool) {
				i := 0
				for r, err := range f.rows(good.Job) {
					err = errors.Join(err, change(i, &r))
					i++
					if !yield(r, err) {
						return
					}
				}
			}
		}
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		name, want string
		in         func(in *Input)
		dir        string
		ctx        context.Context
	}{
		{name: "rows that break off", want: "shard 3 is damaged", in: func(in *Input) {
			in.Rows = rows(func(i int, _ *job.Row) error {
				if i == 5 {
					return failing
				}
				return nil
			})
		}},
		{name: "a model of another run", want: "model 7", in: func(in *Input) {
			in.Rows = rows(func(_ int, r *job.Row) error { r.Model = 7; return nil })
		}},
		{name: "a sample beyond the job", want: "position 6 of a job with 6 samples", in: func(in *Input) {
			in.Rows = rows(func(_ int, r *job.Row) error { r.Index++; return nil })
		}},
		{name: "curves that are cut off", want: "3 values for 4 elements", in: func(in *Input) {
			in.Rows = rows(func(_ int, r *job.Row) error { r.Curves[1] = r.Curves[1][:3]; return nil })
		}},
		{name: "curves that are missing", want: "2 curves for 3 metrics", in: func(in *Input) {
			in.Rows = rows(func(_ int, r *job.Row) error { r.Curves = r.Curves[:2]; return nil })
		}},
		{name: "no rows", want: "rows are needed", in: func(in *Input) { in.Rows = nil }},
		{
			name: "another job", want: "of another job",
			in: func(in *Input) { j := *in.Job; j.Models = j.Models[:1]; in.Job = &j },
		},
		{
			name: "weights of another job", want: "1 weights for 4 elements",
			in: func(in *Input) { j := *in.Job; j.Weights = []float64{1}; in.Job = &j },
		},
		{name: "a file in the place of the folder", want: "file", dir: file},
		{name: "a stop", want: "context canceled", ctx: canceled},
	} {
		t.Run(c.name, func(t *testing.T) {
			in, dir, ctx := good, filepath.Join(t.TempDir(), "x"), t.Context()
			if c.in != nil {
				c.in(&in)
			}
			if c.dir != "" {
				dir = c.dir
			}
			if c.ctx != nil {
				ctx = c.ctx
			}
			if _, err := Write(ctx, dir, in); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one that says %q", err, c.want)
			}
			if _, err := os.Stat(filepath.Join(dir, "report.md")); err == nil {
				t.Error("a page of a report that failed")
			}
		})
	}
}

// The order in which rows come changes nothing, as long as samples come in order: model by model is as good as sample
// by sample.
func TestRowOrderDoesNotMatter(t *testing.T) {
	f := fixture{
		group: "SO(2)", grid: []int{8}, models: []string{"a", "b", "c"},
		metrics: []string{"confidence", "relative", "agreement"}, n: 40, classes: 4,
	}
	in := f.input(t)
	want := pageText(t, in)
	in.Rows = func() iter.Seq2[job.Row, error] {
		return func(yield func(job.Row, error) bool) {
			for m := range f.models {
				for r, err := range f.rows(in.Job) {
					if r.Model == m && !yield(r, err) {
						return
					}
				}
			}
		}
	}
	if got := pageText(t, in); got != want {
		t.Error("rows in another order make another page")
	}
	// Nor does a summary that was stored and read back, whose infinities are null now.
	b, err := json.Marshal(in.Summary)
	if err != nil {
		t.Fatal(err)
	}
	var back fold.Summary
	if err := json.Unmarshal(b, &back); err != nil {
		t.Fatal(err)
	}
	in.Summary = &back
	if got := pageText(t, in); got != want {
		t.Error("a stored summary makes another page")
	}
}

func TestChooseByHand(t *testing.T) {
	// Means over the orbit of six samples under two models.
	means := [][2]float64{{.8, .9}, {.5, .6}, {.7, .1}, {.4, .85}, {.95, .97}, {.2, .3}}
	f := fixture{group: "C2", models: []string{"a", "b"}, metrics: []string{"accuracy", "confidence"}, n: 6}
	f.curve = func(model, sample int, metric string, e []float64) float64 {
		if metric == "accuracy" {
			return 1
		}
		return means[sample][model] + map[float64]float64{0: .02, 180: -.02}[e[0]]
	}
	choices := func(f fixture) []string {
		p, err := newPage(f.input(t))
		if err != nil {
			t.Fatal(err)
		}
		if err := p.survey(t.Context()); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, c := range p.choose() {
			got = append(got, fmt.Sprintf("%d %s", c.index, strings.Join(c.notes, "; ")))
		}
		return got
	}
	// Mean over the models: .85 .55 .4 .625 .96 .25, so the lower median is sample 1. 0.7 and 0.1 differ most, and 0.1
	// is worst.
	want := []string{
		"2 Worst: lowest mean confidence, 0.100 under b; Models differ most: a 0.700, b 0.100",
		"1 Median: mean confidence 0.550 over the models",
	}
	if got := choices(f); !slices.Equal(got, want) {
		t.Errorf("chosen %q, want %q", got, want)
	}
	// Sample 2 fails: what is left is chosen from.
	f.fail = map[int]bool{2: true}
	want = []string{
		"5 Worst: lowest mean confidence, 0.200 under a",
		"3 Median: mean confidence 0.625 over the models; Models differ most: b 0.850, a 0.400",
	}
	if got := choices(f); !slices.Equal(got, want) {
		t.Errorf("without sample 2 chosen %q, want %q", got, want)
	}
	// One model: where it varies most along the orbit.
	f.fail, f.models = nil, []string{"a"}
	f.curve = func(_, sample int, _ string, e []float64) float64 {
		if sample == 4 && e[0] == 180 {
			return 0.35
		}
		return means[sample][0]
	}
	want = []string{
		"5 Worst: lowest mean confidence, 0.200", "1 Median: mean confidence 0.500",
		"4 Varies most: by 0.600 along the orbit",
	}
	if got := choices(f); !slices.Equal(got, want) {
		t.Errorf("one model: chosen %q, want %q", got, want)
	}
	// Nothing is finite.
	f.curve = func(_, _ int, _ string, _ []float64) float64 { return math.NaN() }
	if got := choices(f); got != nil {
		t.Errorf("chosen %q of nothing", got)
	}
}

func TestNothingFinite(t *testing.T) {
	f := small()
	f.curve = func(_, _ int, _ string, _ []float64) float64 { return math.Inf(1) }
	page := pageText(t, f.input(t))
	for _, want := range []string{
		"confidence could not be measured: no finite value",
		"confidence of **original** is not finite 24 of 24 times, first for sample digits/00000 at 0°",
		"no sample has a finite confidence under both",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	f = small()
	f.fail = map[int]bool{0: true, 1: true, 2: true, 3: true, 4: true, 5: true}
	page = pageText(t, f.input(t))
	if !strings.Contains(page, "Nothing was measured") ||
		!strings.Contains(page, "6 of 6 samples could not be evaluated") {
		t.Error("a run without samples does not say so")
	}
	if strings.Contains(page, "NaN") {
		t.Error("NaN on the page")
	}
}

func TestCSV(t *testing.T) {
	f := small()
	f.curve = func(model, _ int, _ string, e []float64) float64 {
		if model == 1 && e[0] == 180 {
			return math.NaN()
		}
		return e[0] / 1000
	}
	s, _ := f.summary(t)
	var b bytes.Buffer
	if err := CSV(&b, s); err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(&b).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"model", "metric", "slice", "angle_deg", "exact", "n", "bad", "mean", "sd", "lo", "hi", "p10",
		"p90", "min", "max",
	}
	// 2 models, 3 metrics, all and 2 classes, 4 elements.
	if !slices.Equal(lines[0], want) || len(lines) != 1+2*3*3*4 {
		t.Fatalf("%d lines, header %v", len(lines), lines[0])
	}
	if got := lines[1+1*4+1][:7]; !slices.Equal(got, []string{"original", "accuracy", "0", "90", "false", "3", "0"}) {
		t.Errorf("line %v", got)
	}
	got := lines[1+3*3*4+2] // the second model at 180 degrees, where there is nothing
	if !slices.Equal(got, []string{
		"augmented|<i>", "accuracy", "all", "180", "true", "0", "6", "", "", "", "", "", "",
		"", "",
	}) {
		t.Errorf("line %v", got)
	}
	s.Curves[0].Slice = 9
	if err := CSV(&b, s); err == nil {
		t.Error("a curve of no slice")
	}
	if err := CSV(broken{}, s); err == nil {
		t.Error("a disk that is full")
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("full") }

// More classes than fit are chosen by what is worst, and the picture says so.
func TestManyClasses(t *testing.T) {
	f := fixture{group: "C2", models: []string{"a"}, metrics: []string{"confidence"}, n: 50, classes: 25}
	f.curve = func(_, sample int, _ string, _ []float64) float64 { return 1 - float64(sample%25)/50 }
	p, err := newPage(f.input(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := p.survey(t.Context()); err != nil {
		t.Fatal(err)
	}
	fs, err := p.figures(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	v := fs[1]
	if len(v.Panels) != mostDiscs || v.Panels[0].Title != "class 5" || v.Panels[19].Title != "class 24" ||
		!strings.Contains(strings.Join(v.Notes, "\n"), "20 of 25 classes") {
		t.Errorf("%d plots, from %s, notes %v", len(v.Panels), v.Panels[0].Title, v.Notes)
	}
}

func TestDemote(t *testing.T) {
	if got := demote("# A\ntext\n```\n# B\n```\n## C"); got != "### A\ntext\n```\n# B\n```\n#### C" {
		t.Errorf("%q", got)
	}
}

// A name from a file cannot leave its place on the page: no line ends, and no character of Markdown or HTML keeps its
// meaning.
func FuzzNames(f *testing.F) {
	for _, s := range []string{"a|b", "x\n# y", "<script>", "[l](u)", "`code`", "\\|", "**", "&amp;", "\x00", "ü 数"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := words.Markdown(s)
		if strings.ContainsAny(got, "\n\r<>\x00") {
			t.Errorf("%q becomes %q", s, got)
		}
		// A number sign before a space without width heads and links nothing.
		rest := strings.NewReplacer("#&#8203;", "", "&#8203;", "", "&#58;", "", "&#46;", "").Replace(got)
		for i, r := range rest {
			if strings.ContainsRune("`*_[]|~#$", r) {
				n := 0
				for n < i && rest[i-1-n] == '\\' {
					n++
				}
				if n%2 == 0 {
					t.Errorf("%q becomes %q, where %q has its meaning", s, got, r)
				}
			}
		}
		if strings.ContainsAny(attribute(s), "\"<>\n") {
			t.Errorf("%q leaves an attribute", s)
		}
	})
}

// Elements that no picture can name are listed from the worst on, in words and with their kind.
func TestWorstElementsInWords(t *testing.T) {
	for name, want := range map[string][]string{
		"S(4)":  {"worst elements by the mean of a", "| kind |", "| transposition |", "| (0 "},
		"O(3)":  {"worst elements by the mean of a", "| improper |", "about ("},
		"SO(2)": nil,
	} {
		f := fixture{group: name, models: []string{"a", "b"}, metrics: []string{"confidence"}, n: 3}
		switch name {
		case "O(3)":
			f.values = spread(t, name, 10)
		case "SO(2)":
			f.grid = []int{12}
		}
		s, j := f.summary(t)
		dir := t.TempDir()
		blank := func(*view.Figure, Options, *font.Cache) (*Picture, error) { return &Picture{}, nil }
		if _, err := write(t.Context(), dir,
			Input{Summary: s, Job: j, Rows: func() iter.Seq2[job.Row, error] { return f.rows(j) }}, blank); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(filepath.Join(dir, "report.md"))
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range want {
			if !strings.Contains(string(b), w) {
				t.Errorf("%s: the page does not say %q", name, w)
			}
		}
		if want == nil && strings.Contains(string(b), "worst elements") {
			t.Errorf("%s: angles on a circle are listed", name)
		}
	}
}
