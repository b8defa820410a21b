package digits

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"nero/run/job"
	"nero/studies/studytest"
)

// maxModel bounds a committed model, in bytes.
const maxModel = 500_000

// readIDX reads a packed IDX file of uint8 with a reader of its own: the files must hold for anybody's.
func readIDX(t *testing.T, name string) (dims []int, data []byte) {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(studytest.Read(t, name)))
	if err != nil {
		t.Fatal(name, err)
	}
	b, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(name, err)
	}
	if len(b) < 4 || b[0] != 0 || b[1] != 0 || b[2] != 8 || len(b) < 4+4*int(b[3]) {
		t.Fatalf("%s: not an IDX file of uint8", name)
	}
	n := 1
	for i := range int(b[3]) {
		d := int(binary.BigEndian.Uint32(b[4+4*i:]))
		dims, n = append(dims, d), n*d
	}
	data = b[4+4*len(dims):]
	if len(data) != n {
		t.Fatalf("%s: %d bytes of data, want %d for %v", name, len(data), n, dims)
	}
	return dims, data
}

// evaluation is what evaluate.py wrote.
type evaluation struct {
	Digits  int   `json:"digits"`
	Degrees []int `json:"degrees"`
	Models  map[string]struct {
		File     string             `json:"file"`
		SHA256   string             `json:"sha256"`
		Bytes    int                `json:"bytes"`
		Work     int                `json:"multiply_adds"`
		Accuracy map[string]float64 `json:"accuracy"`
		Orbit    map[string]float64 `json:"orbit"`
		Self     map[string]float64 `json:"self_error_quarter_turns"`
		ByClass  [][]float64        `json:"confidence_by_class"`
	} `json:"models"`
}

func measured(t *testing.T) evaluation {
	t.Helper()
	var e evaluation
	d := json.NewDecoder(bytes.NewReader(studytest.Read(t, "evaluation.json")))
	d.DisallowUnknownFields()
	if err := d.Decode(&e); err != nil {
		t.Fatal(err)
	}
	if e.Digits != 10000 || len(e.Degrees) != 72 || len(e.Models) != 3 {
		t.Fatalf("evaluation.json: %d digits, %d angles, %d models; want 10000, 72, 3", e.Digits, len(e.Degrees),
			len(e.Models))
	}
	return e
}

// TestModelsAreThoseOfTheCards keeps models, measurements and cards together: a new model needs a new evaluation and
// card.
func TestModelsAreThoseOfTheCards(t *testing.T) {
	studytest.Cards(t, 3, maxModel)
	cards := string(studytest.Read(t, "MODEL_CARDS.md"))
	for name, m := range measured(t).Models {
		b := studytest.Read(t, "models/"+m.File)
		if got := studytest.Digest(b); got != m.SHA256 {
			t.Errorf("%s: SHA-256 %s, but evaluation.json measured %s", m.File, got, m.SHA256)
		}
		if len(b) != m.Bytes {
			t.Errorf("%s: %d bytes, but evaluation.json measured %d", m.File, len(b), m.Bytes)
		}
		cells := []string{"| " + name}
		for _, a := range []string{"0", "15", "30", "45", "60", "90", "180"} {
			cells = append(cells, fmt.Sprintf("%.2f", 100*m.Accuracy[a]))
		}
		if row := strings.Join(cells, " | ") + " |"; !strings.Contains(cards, row) {
			t.Errorf("MODEL_CARDS.md: no row %q", row)
		}
	}
}

// TestModelsServeTheirPurpose holds the measurements to what the studies need them for.
func TestModelsServeTheirPurpose(t *testing.T) {
	e := measured(t)
	for name, least := range map[string]float64{"original": 0.985, "augmented": 0.95, "c4": 0.975} {
		if got := e.Models[name].Accuracy["0"]; !(got >= least) {
			t.Errorf("%s: accuracy %v upright, want at least %v", name, got, least)
		}
	}
	if got := e.Models["c4"].Self["max"]; !(got <= 1e-5) {
		t.Errorf("c4: self error %v at quarter turns, want at most 1e-5", got)
	}
	if got := e.Models["original"].Self["mean"]; !(got >= 0.1) {
		t.Errorf("original: self error %v at quarter turns, want at least 0.1: it is the model that must be caught",
			got)
	}
	// Figure 4 of the NERO paper: 0 nearly flat, 1 with two lobes, every class best upright; the augmented model round.
	for class, c := range e.Models["original"].ByClass {
		at := slices.Index(c, slices.Max(c))
		if at > 1 && at < len(c)-1 {
			t.Errorf("original: class %d is best at %d degrees, want upright", class, e.Degrees[at])
		}
		spread := slices.Max(c) - slices.Min(c)
		if flat := spread < 0.3; flat != (class == 0) {
			t.Errorf("original: class %d spreads over %.2f of confidence; want 0, and only 0, nearly flat", class,
				spread)
		}
	}
	if one := e.Models["original"].ByClass[1]; !(one[0] > 0.9 && one[36] > 0.9 && one[18] < 0.3 && one[54] < 0.3) {
		t.Errorf("original: class 1 at 0, 90, 180, 270 degrees: %v %v %v %v; want lobes at 0 and 180", one[0], one[18],
			one[36], one[54])
	}
	for class, c := range e.Models["augmented"].ByClass {
		if spread := slices.Max(c) - slices.Min(c); !(spread < 0.1) {
			t.Errorf("augmented: class %d spreads over %.2f of confidence, want nearly round", class, spread)
		}
	}
}

func TestDataAreThoseOfTheReadme(t *testing.T) {
	rows := regexp.MustCompile("(?m)^\\| `([^`]+)` \\|.*\\| `([0-9a-f]{64})` \\|$").FindAllStringSubmatch(
		string(studytest.Read(t, "data/README.md")), -1)
	if len(rows) != 5 {
		t.Fatalf("data/README.md: %d rows with a digest, want 5", len(rows))
	}
	for _, r := range rows {
		if got := studytest.Digest(studytest.Read(t, "data/"+r[1])); got != r[2] {
			t.Errorf("data/%s: SHA-256 %s, want %s", r[1], got, r[2])
		}
	}
}

func TestSubsetIsPartOfTheTestSet(t *testing.T) {
	const n, size = 1000, 28 * 28
	fullDims, full := readIDX(t, "data/t10k-images-idx3-ubyte.gz")
	_, fullLabels := readIDX(t, "data/t10k-labels-idx1-ubyte.gz")
	dims, images := readIDX(t, "data/digits1000-images-idx3-ubyte.gz")
	labelDims, labels := readIDX(t, "data/digits1000-labels-idx1-ubyte.gz")
	if !slices.Equal(fullDims, []int{10000, 28, 28}) || !slices.Equal(dims, []int{n, 28, 28}) ||
		!slices.Equal(labelDims, []int{n}) {
		t.Fatalf("shapes %v, %v, %v; want [10000 28 28], [1000 28 28], [1000]", fullDims, dims, labelDims)
	}
	lines := strings.Split(strings.TrimSpace(string(studytest.Read(t, "data/digits1000-index.csv"))), "\n")
	if lines[0] != "t10k" || len(lines) != n+1 {
		t.Fatalf("digits1000-index.csv: header %q and %d lines, want \"t10k\" and %d", lines[0], len(lines), n+1)
	}
	seen := map[int]bool{}
	for i, l := range lines[1:] {
		at, err := strconv.Atoi(l)
		if err != nil || at < 0 || at >= len(fullLabels) || seen[at] {
			t.Fatalf("digits1000-index.csv: line %d: %q is not a new position in the test set", i+2, l)
		}
		seen[at] = true
		if want := byte(i % 10); labels[i] != want || fullLabels[at] != want {
			t.Errorf("digit %d: label %d, in the test set %d, want %d", i, labels[i], fullLabels[at], want)
		}
		if !bytes.Equal(images[i*size:(i+1)*size], full[at*size:(at+1)*size]) {
			t.Errorf("digit %d is not number %d of the test set", i, at)
		}
	}
}

func TestStudiesNameFilesThatAreThere(t *testing.T) {
	for name, fsys := range map[string]fs.FS{"demo.yaml": Files, "full.yaml": os.DirFS(".")} {
		b, err := fs.ReadFile(fsys, name)
		if err != nil {
			t.Fatal(err)
		}
		s, err := job.ParseStudy(name, b)
		if err != nil {
			t.Fatal(err)
		}
		files := []string{s.Data.Images, s.Data.Labels}
		for _, m := range s.Models {
			files = append(files, m.ONNX)
			if want := "models/digits-" + m.Name + ".onnx"; m.ONNX != want {
				t.Errorf("%s: model %s is %s, want %s", name, m.Name, m.ONNX, want)
			}
		}
		for _, f := range files {
			if _, err := fs.Stat(fsys, path.Clean(f)); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		// The networks were trained on numbers scaled this way; anything else makes every measurement above
		// meaningless.
		if s.Input.Scale != 255 || !slices.Equal(s.Input.Mean, []float64{0.1307}) ||
			!slices.Equal(s.Input.Std, []float64{0.3081}) {
			t.Errorf("%s: input scaled by %v, %v, %v; want 255, 0.1307, 0.3081", name, s.Input.Scale, s.Input.Mean,
				s.Input.Std)
		}
		if !slices.Equal(s.Group.Orbit.Grid, []int{72}) || s.Group.Name != "SO(2)" {
			t.Errorf("%s: group %s on %v, want SO(2) on 72 angles", name, s.Group.Name, s.Group.Orbit.Grid)
		}
	}
}

// TestCurvesAreMeansOfClasses ties the curves to the totals: weighted by class size they give the mean confidence.
func TestCurvesAreMeansOfClasses(t *testing.T) {
	_, labels := readIDX(t, "data/t10k-labels-idx1-ubyte.gz")
	var n [10]int
	for _, c := range labels {
		n[c]++
	}
	for name, m := range measured(t).Models {
		var sum float64
		for class, c := range m.ByClass {
			for _, v := range c {
				sum += v * float64(n[class]) / float64(len(labels)*len(c))
			}
		}
		if want := m.Orbit["confidence_mean"]; !(math.Abs(sum-want) <= 1e-4) {
			t.Errorf("%s: classes give a mean confidence of %v, evaluation.json says %v", name, sum, want)
		}
	}
}
