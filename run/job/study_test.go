package job

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

const good = `# the digits
version: 1
task: classification
models:
  - {name: original, onnx: models/digits-original.onnx}
  - name: augmented
    onnx: models/digits-augmented.onnx
data: {format: idx, images: t10k-images.gz, labels: t10k-labels.gz, limit: 1000, balance: label, seed: 7}
input: {space: image, scale: 255, mean: [0.1307], std: 0.3081}
output: {space: scores, decode: softmax}
group:
  name: SO(2)
  orbit: {grid: 72}
  resample: bicubic
metrics: [confidence, accuracy]
audit: {preset: production, confidence: 0.95}
`

// few is the smallest study, for cases that add to it.
const few = "version: 1\nmodels: [{name: a, onnx: a.onnx}]\ndata: {images: x}\ngroup: {name: C4}\n"

// What a study says of features must be about something that it has, before anything is opened.
func TestEmbeddingOfNothing(t *testing.T) {
	for text, want := range map[string]string{
		"{chain: true}": "study.yaml:5:20: embedding.chain: says which of given views belong together; add data: " +
			"{views: FILE.csv}, or leave it out",
		"{against_value: pool}": "study.yaml:5:28: embedding.against_value: is a value of another release; add " +
			"against: FILE.onnx, or leave it out",
		"{against_value: pool, against: b.onnx}": "",
	} {
		_, err := ParseStudy("study.yaml", []byte(few+"embedding: "+text+"\n"))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	views := "version: 1\nmodels: [{name: a, onnx: a.onnx}]\ndata: {views: v.csv}\nembedding: {chain: true}\n"
	if _, err := ParseStudy("study.yaml", []byte(views)); err != nil {
		t.Errorf("neighbors of given views: %v", err)
	}
}

func TestParseStudy(t *testing.T) {
	s, err := ParseStudy("study.yaml", []byte(good))
	if err != nil {
		t.Fatal(err)
	}
	s.src = nil
	want := &Study{
		Version: 1, Task: "classification",
		Models: []Model{
			{Name: "original", ONNX: "models/digits-original.onnx"},
			{Name: "augmented", ONNX: "models/digits-augmented.onnx"},
		},
		Data: Data{
			Format: "idx", Images: "t10k-images.gz", Labels: "t10k-labels.gz", Limit: 1000, Balance: "label",
			Seed: 7,
		},
		Input:   Input{Space: "image", Scale: 255, Mean: []float64{0.1307}, Std: []float64{0.3081}},
		Output:  Output{Space: "scores", Decode: "softmax"},
		Group:   Group{Name: "SO(2)", Orbit: Orbit{Grid: []int{72}}, Resample: "bicubic"},
		Metrics: []string{"confidence", "accuracy"},
		Audit:   Audit{Preset: "production", Confidence: 0.95},
	}
	if !reflect.DeepEqual(s, want) {
		t.Errorf("got %+v\nwant %+v", s, want)
	}
}

// change is a study with one thing changed and what ParseStudy says about it; "" means that the study is fine.
type change struct{ name, old, new, want string }

// changes holds both what the schema can say too and, with beyond, what it cannot.
func changes(beyond bool) []change {
	if beyond {
		return []change{
			{
				"same name", "name: augmented", "name: original",
				`study.yaml:6:11: models[1].name: "original" is already the name of models[0]; give each model its own`,
			},
			{
				"bad pattern", "format: idx", "pattern: '('",
				"study.yaml:8:17: data.pattern: missing closing ): `(`; expected a regular expression as Go's " +
					"package regexp reads it",
			},
			{
				"no label", "format: idx", "pattern: 'a'",
				"study.yaml:8:17: data.pattern: no group named label; write the part that holds the label as " +
					"(?P<label>...)",
			},
			{
				"window of one", "  resample: bicubic", "  window: [24]",
				"study.yaml:14:11: group.window: one length, which is for signals; expected [HEIGHT, WIDTH]",
			},
			{"uneven", "std: 0.3081", "std: [1, 2, 3]", ""},
			{
				"uneven twice", "mean: [0.1307], std: 0.3081", "mean: [1, 2], std: [1, 2, 3]",
				"study.yaml:9:54: input.std: 3 numbers, but input.mean has 2; give one number, or one per channel, " +
					"to each",
			},
			{
				"task", "task: classification", "task: segmentation",
				`study.yaml:10:17: output.space: "scores" does not go with task "segmentation", whose output is "mask"; change one of them or leave the task out`,
			},
			{
				"decode", "{space: scores, decode", "{space: tensor, decode",
				"output.decode: \"softmax\" is for output space scores, but the space is tensor; use raw or leave it " +
					"out",
			},
			{
				"type", "{space: scores,", "{type: regular,",
				"study.yaml:10:16: output.type: only an output of space tensor or embedding has one, but the space " +
					"is scores; leave it out",
			},
			{
				"huge grid", "grid: 72", "grid: [100000, 100000]",
				"study.yaml:13:17: group.orbit.grid: 1e+10 elements; at most 10000000 are possible",
			},
			{
				"ragged", "grid: 72", "values: [[1], [1, 2]]",
				"study.yaml:13:25: group.orbit.values[1]: 2 numbers; every element needs the same number, one per " +
					"axis of the group's chart",
			},
			{
				"backward", "grid: 72", "range: [[1, 0]]",
				"study.yaml:13:19: group.orbit.range[0]: [1 0]; expected [min, max] with min below max",
			},
			{
				"twice", "seed: 7", "seed: 7, seed: 8",
				`study.yaml:8:107: not YAML: mapping key "seed" already defined at [8:98]; check indentation and quotes`,
			},
			{
				"indent", "  - name: augm", " - name: augm",
				"study.yaml:6:2: not YAML: value is not allowed in this context; check indentation and quotes",
			},
			{
				"alias", "onnx: models/digits-augmented.onnx", "onnx: *nothing",
				`study.yaml:7:11: models[1].onnx: expected text, got *nothing, which stands for nothing`,
			},
			{
				"second", "audit:", "---\naudit:",
				"study.yaml:17:1: a second document; a study is one document, so remove the --- above",
			},
			{
				"big seed", "seed: 7", "seed: 18446744073709551616",
				`study.yaml:8:104: data.seed: expected a whole number from 0 to 18446744073709551615, got the text "18446744073709551616"`,
			},
		}
	}
	return []change{
		{"as it is", "", "", ""},
		{"list", "grid: 72", "grid: [72]", ""},
		{"whole as float", "grid: 72", "grid: 72.0", ""},
		{"two axes", "grid: 72", "grid: [32, 32]", ""},
		{"one metric", "[confidence, accuracy]", "confidence", ""},
		{"block metrics", "[confidence, accuracy]", "\n  - confidence\n  - accuracy", ""},
		{"negative zero", "confidence: 0.95", "threshold: -0.0", ""},
		{"largest seed", "seed: 7", "seed: 18446744073709551615", ""},
		{
			"anchors",
			"onnx: models/digits-original.onnx}\n  - name: augmented\n    onnx: models/digits-augmented.onnx",
			"onnx: &o m.onnx}\n  - name: augmented\n    onnx: *o", "",
		},
		{"values", "grid: 72", "values: [[0], [12.5], [90]]", ""},
		{"range", "grid: 72", "grid: 3, range: [[-1, 1]]", ""},
		{"window", "  resample: bicubic", "  window: [24, 32]", ""},
		{
			"kernel", "bicubic", "bicubik",
			`study.yaml:14:13: group.resample: "bicubik" is not one of nearest, bilinear, bicubic, lanczos, spline, quintic, area, fourier, up3-bilinear; did you mean "bicubic"?`,
		},
		{
			"format", "format: idx", "format: parquet",
			`study.yaml:8:16: data.format: "parquet" is not one of idx, folder, npy, npz, voc, coco, coco_masks, masks, pairs, particles, phantoms, clouds, molecules, graphs, signals, volumes; choose one of them`,
		},
		{
			"layout", "format: idx", "layout: HWN",
			`study.yaml:8:16: data.layout: "HWN" is not one of NHW, NCHW, NHWC, NDHW, NCDHW, NDHWC, NWHD; did you mean`,
		},
		{
			"space", "{space: image,", "{space: cloud,",
			`study.yaml:9:16: input.space: "cloud" is not one of image, frames, rows, signal, volume, tensor, text, record, bytes; choose one of them`,
		},
		{
			"channels", "{space: image,", "{channels: gray,",
			`study.yaml:9:19: input.channels: "gray" is not one of rgb, bgr, grey; did you mean "grey"?`,
		},
		{
			"action", "decode: softmax", "action: covariant",
			`study.yaml:10:33: output.action: "covariant" is not one of invariant, same; did you mean "invariant"?`,
		},
		{
			"decoder", "decode: softmax", "decode: sigmoid",
			`study.yaml:10:33: output.decode: "sigmoid" is not one of softmax, probabilities, argmax, threshold, raw; choose one of them`,
		},
		{
			"border", "resample: bicubic", "border: mirror",
			`study.yaml:14:11: group.border: "mirror" is not one of zero, edge, reflect, circular; choose one of them`,
		},
		{
			"balance", "balance: label", "balance: labels",
			`study.yaml:8:91: data.balance: "labels" is not one of label; did you mean "label"?`,
		},
		{
			"preset", "preset: production", "preset: strict",
			`study.yaml:16:17: audit.preset: "strict" is not one of research, production, critical, safety; choose one of them`,
		},
		{"unknown", "audit:", "adit:", `study.yaml:16:1: adit: unknown key; did you mean "audit"?`},
		{"unknown deep", "limit:", "limits:", `study.yaml:8:69: data.limits: unknown key; did you mean "limit"?`},
		{
			"unknown far", "audit:", "colour:",
			"study.yaml:16:1: colour: unknown key; known keys are version, name, about, hypothesis, task, models, " +
				"providers, data, input, output, group, metrics, formulas, measures, consensus, audit, split, watch, " +
				"repeat, embedding, " +
				"seed",
		},
		{"no group name", "  name: SO(2)\n", "", "study.yaml:11:1: group.name: missing; add name: ..."},
		{"no models", "models:\n  - {name: original, onnx: models/digits-original.onnx}\n  - name: augmented\n    " +
			"onnx: models/digits-augmented.onnx\n", "", "study.yaml:2:1: models: missing; add models: FILE.onnx"},
		{
			"empty models",
			"models:\n  - {name: original, onnx: models/digits-original.onnx}\n  - name: augmented\n    " +
				"onnx: models/digits-augmented.onnx\n", "models: []\n",
			"study.yaml:4:9: models: an empty list; give it an item or leave the key out",
		},
		{"no images", "images: t10k-images.gz, ", "", "data.images: missing; add images: FILE or FOLDER"},
		{
			"empty name", "name: SO(2)", `name: ""`,
			"study.yaml:12:9: group.name: empty; give it a value or leave the key out",
		},
		{
			"number for text", "name: original", "name: 5",
			"study.yaml:5:12: models[0].name: expected text, got 5; put it in quotes",
		},
		{
			"text for number", "limit: 1000", `limit: "1000"`,
			`study.yaml:8:76: data.limit: expected a whole number, got the text "1000"`,
		},
		{"fraction", "limit: 1000", "limit: 0.5", "study.yaml:8:76: data.limit: expected a whole number, got 0.5"},
		{
			"huge", "limit: 1000", "limit: 1000000000000000",
			"study.yaml:8:76: data.limit: 1000000000000000 is out of range; expected a number at least 0 and at most " +
				"1000000000",
		},
		{
			"negative limit", "limit: 1000", "limit: -3",
			"data.limit: -3 is out of range; expected a number at least 0 and at most 1000000000",
		},
		{"negative seed", "seed: 7", "seed: -1", "data.seed: -1 is out of range; expected a number at least 0"},
		{
			"confidence", "confidence: 0.95", "confidence: 1",
			"study.yaml:16:41: audit.confidence: 1 is out of range; expected a number above 0 and below 1",
		},
		{
			"confidence in percent", "confidence: 0.95", "confidence: 95",
			"study.yaml:16:41: audit.confidence: 95 is out of range; expected a number above 0 and below 1",
		},
		{"std", "std: 0.3081", "std: 0", "study.yaml:9:56: input.std: 0 is out of range; expected a number above 0"},
		{
			"one std", "std: 0.3081", "std: [1, 0]",
			"study.yaml:9:60: input.std[1]: 0 is out of range; expected a number above 0",
		},
		{
			"scale", "scale: 255", "scale: 0",
			"study.yaml:9:30: input.scale: 0 is out of range; expected a number above 0",
		},
		{"no element", "grid: 72", "grid: 0", "study.yaml:13:17: group.orbit.grid: 0 is out of range"},
		{
			"empty grid", "grid: 72", "grid: []",
			"study.yaml:13:17: group.orbit.grid: an empty list; give it an item or leave the key out",
		},
		{
			"both", "{grid: 72}", "{grid: 72, haar: 5}",
			"study.yaml:13:27: group.orbit.haar: grid and haar cannot be combined; keep one of grid, all, haar, " +
				"low_discrepancy, lattice, values",
		},
		{
			"both, one false", "{grid: 72}", "{grid: 72, all: false}",
			"study.yaml:13:26: group.orbit.all: grid and all cannot be combined; keep one of grid, all, haar, " +
				"low_discrepancy, lattice, values",
		},
		{
			"range of three", "grid: 72", "range: [[1, 2, 3]]",
			"study.yaml:13:19: group.orbit.range[0]: [1 2 3]; expected [min, max] with min below max",
		},
		{
			"empty element", "grid: 72", "values: [[]]",
			"study.yaml:13:20: group.orbit.values[0]: 0 numbers; every element needs",
		},
		{
			"text for bool", "grid: 72", "all: yes",
			`study.yaml:13:16: group.orbit.all: expected true or false, got the text "yes"`,
		},
		{
			"mapping for list", "[confidence, accuracy]", "{a: 1}",
			"study.yaml:15:10: metrics: expected a list, got a mapping",
		},
		{
			"list for mapping", "{preset: production, confidence: 0.95}", "[a]",
			"study.yaml:16:8: audit: expected a mapping (key: value), got a list",
		},
		{
			"metric twice", "[confidence, accuracy]", "[accuracy, accuracy]",
			"study.yaml:15:21: metrics[1]: accuracy is there twice; keep one",
		},
		{
			"nothing", "audit: {preset: production, confidence: 0.95}", "audit:",
			"study.yaml:16:8: audit: expected a mapping (key: value), got nothing",
		},
		{
			"newer", "version: 1", "version: 2",
			"study.yaml:2:10: version: 2; this program reads version 1: a newer nero may read it",
		},
		{"no version", "version: 1\n", "", ""},
		{
			"version as text", "version: 1", "version: '1'",
			`study.yaml:2:10: version: expected a whole number, got the text "1"`,
		},
		{
			"task", "task: classification", "task: classifcation",
			`study.yaml:3:7: task: "classifcation" is not one of classification, segmentation, detection, flow, image, tensor, regression, molecules, sequence; did you mean "classification"?`,
		},
	}
}

func (c change) apply(t *testing.T) string {
	t.Helper()
	if !strings.Contains(good, c.old) {
		t.Fatalf("the study has no %q", c.old)
	}
	return strings.Replace(good, c.old, c.new, 1)
}

func TestParseStudyChanged(t *testing.T) {
	for _, c := range append(changes(false), changes(true)...) {
		t.Run(c.name, func(t *testing.T) {
			s, err := ParseStudy("study.yaml", []byte(c.apply(t)))
			switch {
			case c.want == "" && err != nil:
				t.Errorf("refused: %v", err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
			if err == nil && math.Signbit(s.Audit.Threshold) {
				t.Error("a negative zero stays, which JSON would lose")
			}
			if err != nil {
				if _, ok := errors.AsType[*FieldError](err); !ok {
					t.Errorf("%T is not a FieldError", err)
				}
			}
		})
	}
}

// Where leaving a number out means a default, 0 does not mean it too: who writes it wants none at all, and is told that
// there is no such choice.
func TestParseStudyZeroIsNoDefault(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"data: {format: particles, particles: {shift: 0}}", "data.particles.shift: 0 is out of range"},
		{"data: {format: particles, particles: {density: 0}}", "data.particles.density: 0 is out of range"},
		{"data: {format: particles, particles: {diameter: 0}}", "data.particles.diameter: 0 is out of range"},
		{"data: {format: particles, particles: {count: 0}}", "data.particles.count: 0 is out of range"},
		{"data: photos\noutput: {space: boxes, boxes: {limit: 0}}", "output.boxes.limit: 0 is out of range"},
		{"data: photos\nconsensus: {weak: 0}", "consensus.weak: 0 is out of range"},
		{"data: {format: particles, particles: {shift: 0.5, density: 0.01, diameter: 2, count: 1, noise: 0, loss: 0, " +
			"heading: 0}}", ""},
	} {
		_, err := ParseStudy("s.yaml", []byte("version: 1\nmodels: m.onnx\ngroup: {name: C4}\n"+c.text+"\n"))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: got %v, want %q", c.text, err, c.want)
		}
	}
}

func TestParseStudyReportsAll(t *testing.T) {
	_, err := ParseStudy("s.yaml",
		[]byte("version: 1\ngroup: {name: C4, resample: cubic}\nmodels: [{name: a, onnx: a.onnx, batch: 0}]\nwhat: "+
			"1\ndata: {limit: -1}\n"))
	want := `s.yaml:2:29: group.resample: "cubic" is not one of nearest, bilinear, bicubic, lanczos, spline, quintic, area, fourier, up3-bilinear; did you mean "bicubic"?
s.yaml:3:41: models[0].batch: 0 is out of range; expected a number at least 1 and at most 1024
s.yaml:4:1: what: unknown key; known keys are version, name, about, hypothesis, task, models, providers, data, input, output, group, metrics, formulas, measures, consensus, audit, split, watch, repeat, embedding, seed
s.yaml:5:15: data.limit: -1 is out of range; expected a number at least 0 and at most 1000000000`
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
	var many strings.Builder
	many.WriteString(few)
	for i := range 50 {
		fmt.Fprintf(&many, "unknown%d: 1\n", i)
	}
	_, err = ParseStudy("s.yaml", []byte(many.String()))
	if err == nil || strings.Count(err.Error(), "\n") != maxErrors ||
		!strings.HasSuffix(err.Error(), "s.yaml: 30 more errors") {
		t.Errorf("50 errors are reported as %v", err)
	}
}

// Editors of Windows mark a file as UTF-8 and end lines in two characters.
func TestParseStudyMarked(t *testing.T) {
	text := "# a study\r\nmodels: m.onnx\r\ndata: d\r\n"
	s, err := ParseStudy("s.yaml", []byte("\ufeff"+text))
	if err != nil || s.Models[0].ONNX != "m.onnx" || s.Data.Images != "d" {
		t.Errorf("%+v, %v", s, err)
	}
	if _, err := ParseStudy("s.yaml", []byte("\ufeff\ufeff"+text)); err == nil {
		t.Error("two marks are taken")
	}
}

func TestParseStudyHostile(t *testing.T) {
	var bomb strings.Builder
	bomb.WriteString(few)
	row := strings.TrimSuffix(strings.Repeat("1,", 3000), ",")
	fmt.Fprintf(&bomb, "input: {mean: &a [%s]}\naudit: {threshold: 1}\n", row)
	bomb.WriteString("output: {}\n")
	for name, c := range map[string]struct{ text, want string }{
		"empty":     {"", "empty; a study needs"},
		"comment":   {"# nothing\n", "empty; a study needs"},
		"scalar":    {"hello", "expected a mapping"},
		"large":     {strings.Repeat("#", MaxStudy+1), "is this a study file?"},
		"deep":      {strings.Repeat("[", MaxStudy), "collections inside each other"},
		"deep dash": {strings.Repeat("- ", MaxStudy/2), "collections inside each other"},
		"deep keys": {strings.Repeat("a: ", MaxStudy/3), "s.yaml:1:"},
		"long key":  {strings.Replace(few, "data:", strings.Repeat("k", MaxStudy-100)+": 1\ndata:", 1), "unknown key"},
		"keys":      {strings.Repeat("a: b, ", MaxStudy/6), "s.yaml:1:"},
		"quoted":    {"\"{\": " + strings.Repeat("a: ", MaxStudy/6), "collections inside each other"},
		"twice": {strings.Replace(few, "data: {images: x", "data: {images: x, classes: ["+
			strings.Repeat("a, ", 40_000)+"a]", 1), "a is there twice; keep one"},
		"indented": {deepKeys(2000), "collections inside each other"},
		"binary":   {"\x00\x01\x02\xff", "s.yaml:1:"},
		"loop": {
			"version: 1\nmodels: &m [*m]\ndata: {images: x}\ngroup: {name: C4}\n",
			"models[0]: expected a mapping (key: value) or the text of its onnx, got a list",
		},
		"bomb": {strings.Replace(few, "group: {name: C4}", "group: {name: C4, orbit: {values: [&r ["+row+"]"+
			strings.Repeat(", *r", 3000)+"]}}", 1), "too large once its aliases are unfolded"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ParseStudy("s.yaml", []byte(c.text))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %.300v, want %q", err, c.want)
			}
			for line := range strings.Lines(err.Error()) {
				if len(line) > 2500 {
					t.Errorf("a message of %d bytes, want one that a person reads", len(line))
				}
			}
		})
	}
}

// What a person may write in one line, or a program in a list, is read, and in time that grows with its length alone.
func TestLongLinesAndLists(t *testing.T) {
	var models, classes strings.Builder
	for i := range 400 {
		fmt.Fprintf(&models, "{name: m%d, onnx: m%d.onnx}, ", i, i)
	}
	for i := range 80_000 {
		fmt.Fprintf(&classes, "c%d, ", i)
	}
	text := "version: 1\nmodels: [" + models.String() + "]\ndata: {images: x, classes: [" + classes.String() +
		"]}\ngroup: {name: C4}\n"
	s, err := ParseStudy("s.yaml", []byte(text))
	if err != nil {
		t.Fatalf("%.300v", err)
	}
	if len(s.Models) != 400 || len(s.Data.Classes) != 80_000 {
		t.Errorf("%d models and %d classes, want 400 and 80000", len(s.Models), len(s.Data.Classes))
	}
}

func deepKeys(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%s- \n", strings.Repeat(" ", i))
	}
	return b.String()[:min(b.Len(), MaxStudy)]
}

func TestWhere(t *testing.T) {
	s, err := ParseStudy("dir/study.yaml", []byte(good))
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"group":               "dir/study.yaml:11:1",
		"group.name":          "dir/study.yaml:12:9",
		"group.border":        "dir/study.yaml:11:1",
		"group.orbit.grid[0]": "dir/study.yaml:13:17",
		"metrics[1]":          "dir/study.yaml:15:23",
		"models[0]":           "dir/study.yaml:5:5",
		"models[1].onnx":      "dir/study.yaml:7:11",
		"input.std":           "dir/study.yaml:9:56",
		"seed":                "dir/study.yaml",
		"":                    "dir/study.yaml",
	} {
		if got := s.Where(path); got != want {
			t.Errorf("Where(%q) = %s, want %s", path, got, want)
		}
	}
	if got := new(Study).Where("group.name"); got != "study" {
		t.Errorf("without a file: %q", got)
	}
	if got := s.Errorf("group.name", "unknown group %q",
		"X").Error(); got != `dir/study.yaml:12:9: group.name: unknown group "X"` {
		t.Errorf("Errorf: %s", got)
	}
}

func TestResolve(t *testing.T) {
	s, err := ParseStudy("s.yaml", []byte(few))
	if err != nil {
		t.Fatal(err)
	}
	abs := filepath.Join(t.TempDir(), "labels.csv")
	s.Data.Labels = abs
	models := s.Models
	s.Resolve(filepath.FromSlash("some/dir"))
	if got, want := s.Models[0].ONNX, filepath.FromSlash("some/dir/a.onnx"); got != want {
		t.Errorf("model %q, want %q", got, want)
	}
	if got, want := s.Data.Images, filepath.FromSlash("some/dir/x"); got != want {
		t.Errorf("images %q, want %q", got, want)
	}
	if s.Data.Labels != abs {
		t.Errorf("an absolute path became %q", s.Data.Labels)
	}
	s.Data.Labels, s.Data.Targets = Nothing, Nothing
	if s.Resolve("elsewhere"); s.Data.Labels != Nothing || s.Data.Targets != Nothing {
		t.Errorf("labels and targets that are not wanted became %q and %q", s.Data.Labels, s.Data.Targets)
	}
	if models[0].ONNX != "a.onnx" {
		t.Error("Resolve changed a list that the caller may share")
	}
}

func TestDefaults(t *testing.T) {
	s := Study{Group: Group{Resample: "spline"}}
	Defaults(&s)
	want := Study{
		Version: 1,
		Input:   Input{Space: "image", Scale: 1, Mean: []float64{0}, Std: []float64{1}},
		Output:  Output{Space: "scores", Decode: "softmax", Action: "invariant", Kernel: "spline"},
		Group:   Group{Resample: "spline", Border: "zero"},
		Audit:   Audit{Preset: "production", Confidence: 0.95},
	}
	if !reflect.DeepEqual(s, want) {
		t.Errorf("got %+v\nwant %+v", s, want)
	}
	again := s
	Defaults(&again)
	if !reflect.DeepEqual(s, again) {
		t.Errorf("defaults of defaults: %+v", again)
	}
	for task, want := range map[string]Output{
		"classification": {Space: "scores", Decode: "softmax", Action: "invariant", Kernel: "bilinear"},
		"segmentation":   {Space: "mask", Action: "same", Kernel: "bilinear"},
		"image":          {Space: "image", Decode: "raw", Action: "same", Kernel: "bilinear"},
		"tensor": {
			Space: "tensor", Decode: "raw", Action: "same", Type: Type{Name: "trivial"},
			Kernel: "bilinear",
		},
	} {
		s := Study{Task: task}
		Defaults(&s)
		if !reflect.DeepEqual(s.Output, want) {
			t.Errorf("%s: %+v, want %+v", task, s.Output, want)
		}
	}
}

func FuzzParseStudy(f *testing.F) {
	f.Add([]byte(good))
	f.Add([]byte(few))
	f.Add([]byte("{version: 1, models: [{name: a, onnx: b}], data: {images: &x c}, group: {name: *x}}"))
	f.Add([]byte("a: &a [*a]\n? b\n: |\n  text\n<<: *a\n!!str c: .inf\n"))
	for _, c := range changes(true) {
		f.Add([]byte(strings.Replace(good, c.old, c.new, 1)))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := ParseStudy("f", b)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "f:") {
				t.Errorf("an error without a place: %v", err)
			}
			return
		}
		if len(s.Models) == 0 || s.Group.Name == "" || s.Data.Images == "" || s.Version != 1 {
			t.Errorf("accepted %+v", s)
		}
		Defaults(s)
		j := Job{Study: *s, Elements: nil}
		if p, _ := notText(reflect.ValueOf(j), ""); p == "" {
			if _, err := j.Hash(); err != nil {
				t.Errorf("accepted a study without a hash: %v", err)
			}
		}
	})
}

// TestParseStudyShort reads the short forms as what they stand for.
func TestParseStudyShort(t *testing.T) {
	two := []Model{{Name: "a", ONNX: "dir/a.onnx"}, {Name: "other", ONNX: "b.onnx"}}
	for text, want := range map[string]Study{
		"models: dir/a.onnx\ndata: photos": {
			Version: 1, Models: two[:1],
			Data: Data{Images: "photos"},
		},
		"models: {onnx: dir/a.onnx}\ndata: {images: photos}": {
			Version: 1, Models: two[:1],
			Data: Data{Images: "photos"},
		},
		"models: {onnx: dir/a.onnx, name: other}\ndata: x": {
			Version: 1,
			Models:  []Model{{Name: "other", ONNX: "dir/a.onnx"}}, Data: Data{Images: "x"},
		},
		"models: [dir/a.onnx, {name: other, onnx: b.onnx}]\ndata: x": {
			Version: 1, Models: two,
			Data: Data{Images: "x"},
		},
		"models:\n  - dir/a.onnx\n  - name: other\n    onnx: b.onnx\ndata: x\n": {
			Version: 1, Models: two,
			Data: Data{Images: "x"},
		},
		"models: .onnx\ndata: x\ngroup: C4": {
			Version: 1,
			Models:  []Model{{Name: ".onnx", ONNX: ".onnx"}}, Data: Data{Images: "x"}, Group: Group{Name: "C4"},
		},
		`{"version": 1, "models": "dir/a.onnx", "data": "x", "group": "SO(2)"}`: {
			Version: 1, Models: two[:1],
			Data: Data{Images: "x"}, Group: Group{Name: "SO(2)"},
		},
	} {
		got, err := ParseStudy("s.yaml", []byte(text))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		got.src = nil
		if !reflect.DeepEqual(&want, got) {
			t.Errorf("%s:\ngot  %+v\nwant %+v", text, got, &want)
		}
		if err := valid(t, compile(t), text); err != nil {
			t.Errorf("%s: the schema: %v", text, err)
		}
	}
	for text, want := range map[string]string{
		"models: a.onnx\ndata: 5": "s.yaml:2:7: data: expected a mapping (key: value) or the " +
			"text of its images, got 5",
		"models: ''\ndata: x": "s.yaml:1:9: models.onnx: empty; give it a value or leave " +
			"the key out",
		"models:\ndata: x": "s.yaml:1:8: models: expected a list, got nothing",
		"models: [a.onnx, b/a.onnx]\ndata: " +
			"x": `s.yaml:1:18: models[1].name: "a" is already the name of models[0]; give each model its own`,
		"models: [a.onnx, 7]\ndata: x": "s.yaml:1:18: models[1]: expected a mapping (key: value) or " +
			"the text of its onnx, got 7",
		"models: a.onnx\ndata: x\ngroup: {name: SO(2), orbit: 72}": "s.yaml:3:29: group.orbit: expected a mapping " +
			"(key: value), got 72; known keys are grid",
		"models: a.onnx\ndata: x\ngroup: [C4]": "s.yaml:3:8: group: expected a mapping (key: value) or the " +
			"text of its name, got a list",
		"models: a.onnx\ndata: x\noutput: scores": "s.yaml:3:9: output: expected a mapping (key: value), got " +
			"the text \"scores\"",
		"models: {onx: a.onnx}\ndata: x":               "s.yaml:1:10: models.onx: unknown key; did you mean \"onnx\"?",
		"models: a.onnx\ndata: x\ngroup: {orbit: all}": "group.name: missing",
		"version: 2\nmodels: a.onnx\ndata: x":          "s.yaml:1:10: version: 2; this program reads version 1",
		"models: [&m a.onnx, *m]\ndata: x":             `"a" is already the name of models[0]`,
		"models: {onnx: {onnx: a.onnx}}\ndata: x":      "models.onnx: expected text, got a mapping",
		"models: [[a.onnx]]\ndata: x":                  "got a list",
		"models: a.onnx\ndata: x\nmodels: b.onnx":      "models",
		"models: a.onnx\ndata: {images: {images: x}}":  "data.images: expected text, got a mapping",
		"models: a.onnx\ndata: x\ngroup: ''": "s.yaml:3:8: group.name: empty; give it a value or leave the " +
			"key out",
	} {
		if _, err := ParseStudy("s.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s:\ngot  %v\nwant %s", text, err, want)
		}
	}
	s, err := ParseStudy("s.yaml", []byte("models: [a.onnx, b.onnx]\ndata: x\ngroup: C4"))
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"models[1].onnx": "s.yaml:1:18", "models[1].name": "s.yaml:1:18",
		"data.images": "s.yaml:2:7", "group.name": "s.yaml:3:8",
	} {
		if got := s.Where(path); got != want {
			t.Errorf("%s is at %s, want %s", path, got, want)
		}
	}
}

// TestStudyValidate holds studies that no file was read for against the rules of files.
func TestStudyValidate(t *testing.T) {
	s := func(change func(*Study)) *Study {
		s := &Study{Version: 1, Models: []Model{{Name: "a", ONNX: "a.onnx"}}, Data: Data{Images: "x"}}
		change(s)
		return s
	}
	for want, study := range map[string]*Study{
		"": s(func(*Study) {}),
		"study: data.limit: -3 is out of range; expected a number at least 0 and at most 1000000000": s(
			func(s *Study) { s.Data.Limit = -3 }),
		"study: group.resample: \"bicubik\" is not one of nearest, bilinear, bicubic, lanczos, spline, quintic, " +
			"area, fourier, up3-bilinear; " +
			"did you mean \"bicubic\"?": s(func(s *Study) {
			s.Group = Group{Name: "C4", Resample: "bicubik"}
		}),
		"study: audit.confidence: 95 is out of range; expected a number above 0 and below 1": s(
			func(s *Study) { s.Audit.Confidence = 95 }),
		"study: models[1].name: \"a\" is already the name of models[0]; give each model its own": s(
			func(s *Study) { s.Models = append(s.Models, s.Models[0]) }),
		"study: input.mean[0]: expected a finite number": s(
			func(s *Study) { s.Input.Mean = []float64{math.NaN()} }),
		"study: group.orbit.values[1][0]: expected a finite number": s(
			func(s *Study) { s.Group.Orbit.Values = [][]float64{{0}, {math.Inf(1)}} }),
		"study: data.limit: -1 is out of range; expected a number at least 0 and at most 1000000000\nstudy: " +
			"input.scale: -1 is out of range; expected a number above 0": s(func(s *Study) {
			s.Data.Limit, s.Input.Scale = -1, -1
		}),
	} {
		got := ""
		if err := study.Validate(); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

// Exponents without a point are numbers, as in JSON; quoted ones are text.
func TestExponents(t *testing.T) {
	for text, want := range map[string]float64{"1e-6": 1e-6, "2E-3": 2e-3, "1.5e-4": 1.5e-4, "1e+0": 1} {
		s, err := ParseStudy("s.yaml", []byte("models: m.onnx\ndata: d\naudit: {threshold: "+text+"}\n"))
		if err != nil || s.Audit.Threshold != want {
			t.Errorf("%s: %v, %v", text, s, err)
		}
		s.Audit.Threshold = want
		if err := s.Validate(); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	if _, err := ParseStudy("s.yaml", []byte("models: m.onnx\ndata: d\naudit: {threshold: \"1e-6\"}\n")); err == nil {
		t.Error("quoted text is taken for a number")
	}
}
