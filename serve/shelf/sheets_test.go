package shelf

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"nero/census"
	"nero/encoder"
	written "nero/present/sheet"
	"nero/repair"
	"nero/repeat"
	"nero/watch"
	"nero/weights"
)

// billOf is a repair.json of a model, in which files have folders that nobody has to know.
func billOf(t *testing.T, model string) string {
	t.Helper()
	r := &repair.Report{
		Format: repair.FormatNumber, Group: "C4", Elements: 4, Fit: 20, Choose: 10, Samples: 11, Allow: 0.01,
		Models: []repair.Of{{
			Model: model, File: "/secret place/of models/model.onnx",
			Before: repair.Bill{State: repair.AsItIs, Digest: digest(model), Verdict: "FAIL", Audit: "audits/before"},
			Tried: []repair.Bill{
				{
					State: repair.Written, Method: "average", File: "/secret place/of repairs/a.onnx", Verdict: "PASS",
					Digest: digest("repaired"), Audit: "audits/average", Done: "average over /conv1/Conv",
				},
				{State: repair.Refused, Method: "frame", Refused: "no points"},
			},
			Sentence: "Take /secret place/of repairs/a.onnx: it passes.", Recommended: "average",
		}},
	}
	form, err := repair.ParseForm("json")
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := form.Write(r, &b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// dataOf is a report on data.
func dataOf(t *testing.T, group string) string {
	t.Helper()
	form, err := written.Find(census.Forms(), "json")
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := form.Write(&b, &census.Report{
		Format: census.FormatNumber, Data: "/secret place/digits.gz", Group: group, Reading: "pixels",
		Sentence: "The samples of digits.gz are posed.", State: "posed",
	}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// watchedOf is what was found of releases of a model.
func watchedOf(t *testing.T, model string) string {
	t.Helper()
	form, err := written.Find(watch.Forms(), "json")
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := form.Write(&b, &watch.Report{
		Format: watch.FormatNumber, Sentence: "ALARM in 1 of 1 line.", State: "alarm", By: "version",
		Skipped: []watch.Skipped{}, Series: []*watch.Series{{
			Key: "k", Evidence: watch.SameInputs, Metric: "largest", Set: "exact elements", State: "alarm",
			Alarms: []string{"2"}, Points: []watch.Point{
				{Release: "1", File: "v1/audit.json", State: "open"},
				{Release: "2", File: "v2/it's.json", State: "alarm", Digest: digest(model)},
			},
			FirstAlarm: &watch.First{
				Release: "2", Place: 2, Of: 2, Message: "worse",
				Command: "nero compare '/secret place/v1/audit.json' '/secret place/v2/it'",
			},
		}},
	}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// weighedOf is what was found of the weights of a model.
func weighedOf(t *testing.T, model string) string {
	t.Helper()
	form, err := written.Find(weights.Forms(), "json")
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := form.Write(&b, &weights.Report{
		Format: weights.FormatNumber, Sentence: "7 units may change places.", Probes: 32,
		From:   weights.OfStudy("/secret place/study.yaml"),
		Models: []weights.File{{Name: "/secret place/of weights/" + model + ".onnx", Digest: digest(model)}},
		Axes:   []weights.Axis{{Name: "/conv1/Conv", Units: 7, Blocks: 1, Stored: []string{"w"}}},
	}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// embeddedOf is what was found of features of a model.
func embeddedOf(t *testing.T, model string) string {
	t.Helper()
	form, err := written.Find(encoder.Forms(), "json")
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := form.Write(&b, &encoder.Report{
		Format: encoder.FormatNumber, Sentence: model + ": the features stay.", Group: "C4", Measure: "all elements",
		Elements: []string{"0°", "90°"}, Models: []*encoder.Model{{
			Model: model, Digest: digest(model), Value: "scores", State: encoder.Stay, Sentence: "The features stay.",
			Generators: &encoder.Generators{T: []encoder.Number{0, 1}, Planes: []encoder.Plane{{
				Frequency: 1, Samples: []encoder.InPlane{{
					Sample: "a", X: []encoder.Number{1, 0}, Y: []encoder.Number{0, 1},
				}},
			}}},
		}},
	}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// repeatedOf is what a model was asked again.
func repeatedOf(t *testing.T, model string) string {
	t.Helper()
	form, err := written.Find(repeat.Forms(), "json")
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := form.Write(&b, &repeat.Report{
		Format: repeat.FormatNumber, Sentence: "PASS: two answers to the same are equal.", Verdict: "PASS", Times: 2,
		Views: []string{"left", "right"}, Reference: "left", Models: []*repeat.Model{{
			Name: model, Digest: digest(model), Verdict: "PASS", Questions: 4, Answers: "labels",
			Outcomes: []repeat.Count{{Name: "answered", N: 4, Share: 1}},
			Objects:  []*repeat.Object{{Name: "one", Agreement: 1, OverViews: 1, Mode: "red"}},
		}},
	}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

const discovered = `{"format":1,"seed":7,"models":[{"model":"plain","digest":"%s","fit":20,"choose":10,"confirm":11,"predictions":50,
"parts":[{"part":"scan","answer":"holds: C4","result":{"samples":30,"each":2,"made":50,"scales":[1.5],"alpha":0.05,"families":[
{"family":"C4","doc":"quarter turns","action":"stays","exact":true,"elements":3,"objects":30,"degree":{"value":1,"low":1,"high":1},
"relative":{"value":null,"low":null,"high":null},"floor":1e-7,"word":"holds"}]}},
{"part":"generators","answer":"1 family","result":{"joint":false,"samples":20,"fields":["x"],"asked":[{"at":"samples","why":"few"}]}},
{"part":"finite","open":"no numbers"}],
"hypotheses":[{"claim":"C4 stays","says":"holds","part":"scan","study":"/secret place/hypothesis-1.yaml","audit":"PASS"}]}]}`

// What the other commands wrote is found beside runs, with the audits of a repair however deep they lie, and leads to
// the runs and audits of the same model.
func TestSheets(t *testing.T) {
	top := t.TempDir()
	m := small()
	m.write(t, filepath.Join(top, "all", "run"))
	other := small()
	other.models = []string{"else"}
	other.write(t, filepath.Join(top, "all", "another"))
	writeFile(t, filepath.Join(top, "all", "fixed", "repair.json"), billOf(t, m.models[0]))
	for _, name := range []string{"before", "average"} {
		writeFile(t, filepath.Join(top, "all", "fixed", "audits", name, "audit.json"),
			auditOf(m.models[:1], "s2", "[30]", m.job(t).DataDigest(), "SO(2)"))
	}
	writeFile(t, filepath.Join(top, "all", "data.json"), dataOf(t, "C4"))
	writeFile(t, filepath.Join(top, "all", "found", "discovery.json"),
		strings.ReplaceAll(discovered, "%s", digest(m.models[0])))
	writeFile(t, filepath.Join(top, "all", "asked", "answers.yaml"), "data: \"picture\"\n")
	writeFile(t, filepath.Join(top, "all", "judged", "watch.json"), watchedOf(t, m.models[0]))
	writeFile(t, filepath.Join(top, "all", "weights.json"), weighedOf(t, m.models[0]))
	writeFile(t, filepath.Join(top, "all", "again", "repeat.json"), repeatedOf(t, m.models[0]))
	writeFile(t, filepath.Join(top, "all", "other", "repeat.json"), `{"wait": 3}`) // somebody else's
	writeFile(t, filepath.Join(top, "all", "embedding.json"), embeddedOf(t, m.models[0]))
	writeFile(t, filepath.Join(top, "all", "other", "data.json"), `{"samples": [1, 2]}`) // somebody else's
	writeFile(t, filepath.Join(top, "all", "other", "answers.yaml"), "a: 1\n")
	s := opened(t, Options{}, top)
	all := s.Runs()
	var kinds []string
	ofModels := []string{"repair", "discovery", "watch", "weights", "embed", "repeat"}
	for _, a := range all.Sheets {
		kinds = append(kinds, a.Kind)
		if a.Sentence == "" || a.Title == "" || a.ID == "" || strings.Contains(a.Sentence, "secret") {
			t.Errorf("%+v", a)
		}
		runs, audits := []string{}, 0
		if slices.Contains(ofModels, a.Kind) {
			runs, audits = []string{"run"}, 2
		}
		if !slices.Equal(a.Runs, runs) || len(a.Audits) != audits {
			t.Errorf("%s: runs %q, audits %q; want %q and %d", a.Kind, a.Runs, a.Audits, runs, audits)
		}
		open, err := s.Sheet(a.ID)
		if err != nil || !json.Valid(open.Document) || bytes.Contains(open.Document, []byte("secret")) {
			t.Errorf("%s: %v, %s", a.Kind, err, open.Document)
		}
		if a.Kind == "repair" && (open.Audits["audits/before"] == "" || open.Audits["audits/average"] == "" ||
			!bytes.Contains(open.Document, []byte("/conv1/Conv"))) {
			t.Errorf("audits %v of %s", open.Audits, open.Document)
		}
		if a.Kind == "watch" && !bytes.Contains(open.Document, []byte(`nero compare v1/audit.json 'v2/it'\\''s.json'`)) {
			t.Errorf("the command names %s", open.Document)
		}
	}
	slices.Sort(kinds)
	if want := []string{
		"data", "discovery", "embed", "identify", "repair", "repeat", "watch", "weights",
	}; !slices.Equal(kinds, want) {
		t.Errorf("sheets %q, want %q", kinds, want)
	}
	if len(all.Problems) != 0 || len(all.Audits) != 2 {
		t.Errorf("problems %+v, audits %+v", all.Problems, all.Audits)
	}
	if _, err := s.Sheet("nobody"); !errors.Is(err, ErrUnknown) {
		t.Errorf("an unknown sheet: %v", err)
	}
	// With a run go those of its models and those of no run.
	for id, want := range map[string][]string{
		"run":     {"data", "discovery", "embed", "identify", "repair", "repeat", "watch", "weights"},
		"another": {"data", "identify"},
	} {
		var with []string
		for _, o := range s.SheetsWith(run(t, s, id)) {
			with = append(with, o.Sheet.Kind)
			of := slices.Contains(ofModels, o.Sheet.Kind)
			if of != slices.Equal(o.Sheet.Runs, []string{id}) {
				t.Errorf("%s is of %q", o.Sheet.Kind, o.Sheet.Runs)
			}
		}
		slices.Sort(with)
		if !slices.Equal(with, want) {
			t.Errorf("with %s go %q, want %q", id, with, want)
		}
	}
	// Beside a run that is given alone, and by its own name, whatever that is.
	if got := opened(t, Options{}, filepath.Join(top, "all", "run")).Runs(); len(got.Sheets) != 3 ||
		got.Sheets[0].Kind != "data" || got.Sheets[1].Kind != "weights" || got.Sheets[2].Kind != "embed" {
		t.Errorf("beside a run: %+v", got.Sheets)
	}
	writeFile(t, filepath.Join(top, "mine.json"), dataOf(t, "C4"))
	if got := opened(t, Options{}, filepath.Join(top, "mine.json")).Runs(); len(got.Sheets) != 1 ||
		len(got.Runs) != 0 {
		t.Errorf("by its own name: %+v", got)
	}
	if got := opened(t, Options{}, filepath.Join(top, "all", "fixed", "repair.json")).Runs(); len(got.Sheets) != 1 ||
		len(got.Audits) != 2 {
		t.Errorf("a bill: %+v", got)
	}
}

// A sheet that is replaced, damaged or removed is shown as it is then.
func TestSheetsChange(t *testing.T) {
	top := t.TempDir()
	file := filepath.Join(top, "data.json")
	writeFile(t, file, dataOf(t, "C4"))
	s := opened(t, Options{}, top)
	s.pace = 0
	look := func() {
		s.mu.Lock()
		s.looked, s.took = time.Time{}, 0
		s.mu.Unlock()
	}
	id := s.Runs().Sheets[0].ID
	writeFile(t, file, dataOf(t, "SO(2)")+" ")
	look()
	if got := s.Runs().Sheets; len(got) != 1 || got[0].ID != id || got[0].Title != "Data under SO(2)" {
		t.Errorf("after a change: %+v", got)
	}
	writeFile(t, file, dataOf(t, "SO(2)")[:300])
	look()
	if got := s.Runs().Problems; len(got) != 1 || !strings.HasSuffix(got[0].Name, "/data.json") ||
		!strings.Contains(got[0].Remedy, "nero data") {
		t.Errorf("a file that is cut off: %+v", got)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	look()
	if got := s.Runs().Sheets; len(got) != 0 {
		t.Errorf("after it was removed: %+v", got)
	}
}

// What is no sheet, or of another version, is refused in words that help.
func TestSheetsRefused(t *testing.T) {
	for name, c := range map[string]struct{ file, text, want string }{
		"newer":      {"repair.json", `{"format": 99, "allow_accuracy": 0, "models": []}`, "format 99"},
		"of nothing": {"repair.json", `{"format": 2, "allow_accuracy": 0, "models": []}`, "of no model"},
		"no part": {
			"discovery.json", `{"format":1,"models":[{"predictions":1,"parts":[{"part":"x","result":{}}]}]}`,
			"no part of a search",
		},
		"no model":  {"discovery.json", `{"format":1,"models":[null],"predictions":1}`, "of no model"},
		"no answer": {"data.json", `{"format":1,"reading":"x"}`, "no answer"},
		"a word":    {"answers.yaml", "\ndata: cow\n", "cow"},
		"a stream": {
			"watch.json", `{"format":1,"sentence":"x","by":"time","copies":0,"series":[{"evidence":"new inputs"}]}`,
			"cannot be gone on",
		},
		"half answered": {
			"repeat.json", `{"format":1,"sentence":"x","times":2,"models":[{"outcomes":[{"n":1}],"objects":[null]}]}`,
			"not whole",
		},
		"newer answers": {"repeat.json", `{"format":9,"sentence":"x","times":2,"models":[{}]}`, "format is 9"},
		"no weights":    {"weights.json", `{"format":1,"sentence":"x","probes":4,"models":[]}`, "no answer"},
		"newer features": {
			"embedding.json", `{"format":9,"sentence":"x","samples":{"objects_confirm":1}}`, "format 9",
		},
		"no features": {
			"embedding.json", `{"format":2,"sentence":"x","samples":{"objects_confirm":1},"features":[null]}`, "no answer",
		},
		"half an orbit": {
			"embedding.json", `{"format":2,"sentence":"x","samples":{"objects_confirm":1},"features":[{"model":"m",` +
				`"generators":{"t":[0,1],"planes":[{"samples":[{"sample":"a","x":[0,1],"y":[0]}]}]}}]}`,
			"2 and 1 places of 2",
		},
		"newer weights": {"weights.json", `{"format":9,"sentence":"x","probes":4,"models":[{}]}`, "format 9"},
	} {
		t.Run(name, func(t *testing.T) {
			top := t.TempDir()
			writeFile(t, filepath.Join(top, c.file), c.text)
			_, err := Open(t.Context(), []string{top}, Options{})
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), c.file) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}
