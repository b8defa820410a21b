package job

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	maxShards = 1_000_000     // of a job
	maxCells  = 1 << 28       // models × metrics × elements of a job
	maxCount  = 1_000_000_000 // samples of a job

	// What is larger is a large job.
	smallFiles  = 1000
	smallShards = 1000
)

// Settle gives a job the format that its size asks for: the first, which every version of the program reads, up to a
// thousand files and a thousand shards, else the second.
func (j *Job) Settle() {
	format := FormatSmall
	if len(j.Files) > smallFiles || j.Shard > 0 && j.Count/j.Shard > smallShards {
		format = FormatLarge
	}
	j.SettleAs(format)
}

// SettleAs gives a job a format, as one who goes on with a run that has it.
func (j *Job) SettleAs(format int) {
	j.Format, j.Table = format, nil
	if format >= FormatLarge && len(j.Files) > smallFiles {
		j.Table = &Table{Count: len(j.Files), SHA256: FilesDigest(j.Files)}
	}
}

// FilesDigest is the SHA-256, in lower-case hexadecimal, of the digests of files in their order, a line for each.
func FilesDigest(files []Ref) string {
	h := sha256.New()
	for _, f := range files {
		_, _ = io.WriteString(h, f.SHA256) // a hash takes everything
		_, _ = h.Write([]byte{'\n'})
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Canonical is the job as JSON, always the same bytes for the same job: keys in the order of the fields, no spaces, the
// shortest digits that give a number back, one line feed at the end. [ParseJob] reads it back exactly. A job with a
// number that is not finite, or a text that is not UTF-8, has no canonical form.
func (j *Job) Canonical() ([]byte, error) { return canonical(j) }

func canonical(j *Job) ([]byte, error) {
	if j.Table != nil {
		c := *j
		c.Files, c.Heads = []Ref{}, nil
		j = &c
	}
	if p, text := notText(reflect.ValueOf(j).Elem(), ""); p != "" {
		return nil, fmt.Errorf("job: %s is not valid UTF-8, which every name has to be: rename %+q", p, text)
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(j); err != nil {
		return nil, fmt.Errorf("job: %w", err)
	}
	return b.Bytes(), nil
}

// notText returns the path of a string that JSON cannot hold unchanged, and the string, "" if there is none.
func notText(v reflect.Value, path string) (at, text string) {
	switch v.Kind() { //nolint:exhaustive // the others hold no text or need no care
	case reflect.String:
		if !utf8.ValidString(v.String()) {
			return path, v.String()
		}
	case reflect.Struct:
		for i := range v.NumField() {
			f, below := v.Type().Field(i), path
			if !f.IsExported() || f.Tag.Get("json") == "-" {
				continue
			}
			if !f.Anonymous {
				below = join(path, keyOf(f))
			}
			if p, s := notText(v.Field(i), below); p != "" {
				return p, s
			}
		}
	case reflect.Slice:
		if !holdsText(v.Type()) {
			return "", "" // elements and samples are many
		}
		for i := range v.Len() {
			if p, s := notText(v.Index(i), fmt.Sprintf("%s[%d]", path, i)); p != "" {
				return p, s
			}
		}
	default:
	}
	return "", ""
}

func holdsText(t reflect.Type) bool {
	for t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	return t.Kind() == reflect.String || t.Kind() == reflect.Struct
}

func keyOf(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	if name == "" {
		return strings.ToLower(f.Name)
	}
	return name
}

// Hash is the SHA-256 of the job in lower-case hexadecimal: the name of everything that the job makes. Every field
// decides it but what the run is called and says of itself, the paths of files and the ways to endpoints, whose digests
// count instead: moving models or data does not orphan a run, nor does a better sentence.
func (j *Job) Hash() (string, error) {
	b, err := canonical(j.withoutPaths())
	if err != nil {
		return "", err
	}
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:]), nil
}

// withoutPaths is a copy that names no place on a disk, and has no name itself.
func (j *Job) withoutPaths() *Job {
	c := *j
	// Appending to something that is not nil makes nil and empty lists the same, so that the hash does not tell them
	// apart.
	c.Models = append([]ModelRef{}, j.Models...)
	for i := range c.Models {
		c.Models[i].Path = ""
	}
	c.Files, c.Heads = []Ref{}, nil
	if j.Table != nil {
		c.Table = &Table{Count: j.Table.Count, SHA256: j.Table.SHA256}
	} else {
		for _, f := range j.Files {
			c.Files = append(c.Files, Ref{SHA256: f.SHA256})
		}
	}
	c.Study.Models = append([]Model{}, j.Study.Models...)
	for i := range c.Study.Models {
		// where it is and how it is reached; what it is says its digest
		c.Study.Models[i] = Model{Name: c.Study.Models[i].Name}
	}
	if len(j.Asked) > 0 {
		c.Asked, c.Study.Measures = slices.Clone(j.Asked), slices.Clone(j.Study.Measures)
		for i := range c.Asked {
			c.Asked[i].Path = ""
		}
		for i := range c.Study.Measures {
			m := &c.Study.Measures[i]
			m.Program, m.Endpoint, m.Dir, m.Workers, m.TokenEnv, m.Timeout = nil, "", "", 0, "", 0
		}
	}
	c.Study.Name, c.Study.About, c.Study.Hypothesis = "", "", false
	c.Study.Watch = Watch{}             // judges what is there
	c.Study.Repeat = Repeat{}           // asks for itself
	c.Study.Embedding = Embedding{}     // looks at models, not at runs
	c.Study.Providers = nil             // as they were understood they stand beside the engine and the models
	c.Study.Data.Labels = ""            // those of the samples count, wherever they are from
	for _, p := range c.Study.Paths() { // what they hold counts by its digest
		*p = ""
	}
	return &c
}

// NamesDigest is the SHA-256, in lower-case hexadecimal, of sample names and labels in order. Labels may be nil.
func NamesDigest(ids []string, labels []int) string {
	h := sha256.New()
	var line []byte
	for i, id := range ids {
		l := -1
		if labels != nil {
			l = labels[i]
		}
		line = strconv.AppendInt(line[:0], int64(l), 10)
		line = strconv.AppendQuote(append(line, ' '), id) // quotes keep names apart whatever is in them
		h.Write(append(line, '\n'))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// DataDigest is the SHA-256, in lower-case hexadecimal, of what the samples come from: the digests of the files and the
// samples' names and labels. Jobs over other choices of the same data have the same one. Where the files lie is no part
// of it.
func (j *Job) DataDigest() string {
	h := sha256.New()
	for _, f := range j.Files {
		h.Write([]byte(f.SHA256 + "\n"))
	}
	h.Write([]byte(j.Names + "\n"))
	return hex.EncodeToString(h.Sum(nil))
}

// ParseJob reads a job from JSON and validates it. The name is that of the file, for messages. Unknown keys are
// refused: they would not be part of the hash.
func ParseJob(name string, b []byte) (*Job, error) {
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	j := new(Job)
	if err := d.Decode(j); err != nil {
		return nil, fmt.Errorf("%s: not a job: %w", name, err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: something follows the job", name)
	}
	if err := j.Validate(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return j, nil
}

// Validate reports the first thing that makes the job impossible: sizes out of range, lists that do not match, names
// that are missing or there twice, numbers that are not finite.
func (j *Job) Validate() error {
	if j.Format < FormatSmall || j.Format > FormatNumber {
		return fmt.Errorf("format is %d, expected %d to %d", j.Format, FormatSmall, FormatNumber)
	}
	if j.Count < 0 || j.Count > maxCount {
		return fmt.Errorf("count is %d, expected 0 to %d", j.Count, maxCount)
	}
	if j.Shard < 1 || j.Shard > maxCount || j.Count/j.Shard >= maxShards {
		return fmt.Errorf("shard is %d for %d samples, expected a size that gives at most %d shards", j.Shard, j.Count,
			maxShards)
	}
	if j.Samples != nil && len(j.Samples) != j.Count {
		return fmt.Errorf("samples lists %d indexes, but count is %d", len(j.Samples), j.Count)
	}
	for i, s := range j.Samples {
		if s < 0 {
			return fmt.Errorf("samples[%d] is %d, expected 0 or more", i, s)
		}
	}
	if j.Classes < 0 || j.Classes > math.MaxInt32 {
		return fmt.Errorf("classes is %d, expected 0 to %d", j.Classes, math.MaxInt32)
	}
	if err := j.validateModels(); err != nil {
		return err
	}
	if err := j.validateElements(); err != nil {
		return err
	}
	if len(j.Metrics) == 0 {
		return errors.New("metrics is empty, expected at least one name")
	}
	for i, m := range j.Metrics {
		if m == "" || slices.Contains(j.Metrics[:i], m) {
			return fmt.Errorf("metrics[%d] is %q, expected a name that is not there yet", i, m)
		}
	}
	if float64(len(j.Models))*float64(len(j.Metrics))*float64(len(j.Elements)) > maxCells {
		return fmt.Errorf("%d models × %d metrics × %d elements, expected at most %d cells", len(j.Models),
			len(j.Metrics), len(j.Elements), maxCells)
	}
	_, err := canonical(j)
	return err
}

func (j *Job) validateModels() error {
	if len(j.Models) == 0 {
		return errors.New("models is empty, expected at least one")
	}
	for i, m := range j.Models {
		if m.Name == "" || slices.ContainsFunc(j.Models[:i], func(o ModelRef) bool { return o.Name == m.Name }) {
			return fmt.Errorf("models[%d].name is %q, expected a name that is not there yet", i, m.Name)
		}
		if m.Batch < 1 {
			return fmt.Errorf("models[%d].batch is %d, expected at least 1", i, m.Batch)
		}
		if !isDigest(m.SHA256) {
			return fmt.Errorf("models[%d].sha256 is %q, expected 64 hexadecimal digits", i, clip(m.SHA256))
		}
	}
	if len(j.Asked) != len(j.Study.Measures) {
		return fmt.Errorf("asked has %d entries for %d measures of the study, expected one for each", len(j.Asked),
			len(j.Study.Measures))
	}
	for i, f := range j.Asked {
		if !isDigest(f.SHA256) {
			return fmt.Errorf("asked[%d].sha256 is %q, expected 64 hexadecimal digits", i, clip(f.SHA256))
		}
	}
	if err := j.validateTable(); err != nil || j.Table != nil {
		return err
	}
	for i, f := range j.Files {
		if !isDigest(f.SHA256) {
			return fmt.Errorf("files[%d].sha256 is %q, expected 64 hexadecimal digits", i, clip(f.SHA256))
		}
	}
	return nil
}

// validateTable looks at what stands for the files; what the table says is for those who read it.
func (j *Job) validateTable() error {
	t := j.Table
	switch {
	case t == nil:
		return nil
	case j.Format < FormatLarge:
		return fmt.Errorf("there is a table of files, which format %d does not have", j.Format)
	case t.Count < 1 || t.Count > maxCount || len(j.Files) != 0 && len(j.Files) != t.Count:
		return fmt.Errorf("table.count is %d with %d files", t.Count, len(j.Files))
	case !isDigest(t.SHA256) || t.File != "" && !isDigest(t.File):
		return errors.New("the digests of table are not 64 hexadecimal digits each")
	}
	return nil
}

func (j *Job) validateElements() error {
	n := len(j.Elements)
	if n == 0 {
		return errors.New("elements is empty, expected at least one")
	}
	if len(j.Exact) != n {
		return fmt.Errorf("exact has %d entries, expected one for each of %d elements", len(j.Exact), n)
	}
	if j.Weights != nil && len(j.Weights) != n {
		return fmt.Errorf("weights has %d entries, expected one for each of %d elements", len(j.Weights), n)
	}
	for i, w := range j.Weights {
		if !(w >= 0) || math.IsInf(w, 0) {
			return fmt.Errorf("weights[%d] is %v, expected a finite number, 0 or more", i, w)
		}
	}
	for i, e := range j.Elements {
		if len(e) != len(j.Elements[0]) {
			return fmt.Errorf("elements[%d] has %d coordinates, the first has %d", i, len(e), len(j.Elements[0]))
		}
		for _, x := range e {
			if math.IsNaN(x) || math.IsInf(x, 0) {
				return fmt.Errorf("elements[%d] is %v, expected finite coordinates", i, e)
			}
		}
	}
	return nil
}

func isDigest(s string) bool {
	if len(s) != 2*sha256.Size {
		return false
	}
	for _, c := range []byte(s) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// ShardSize is the number of samples per shard for a job of count samples, elements and models, from these numbers
// alone.
//
// It aims at 64 shards, so that progress shows and a few workers end together, but no shard has more than 256 samples
// or (beyond its first sample) more than 65,536 evaluations, and no job has more than 100,000 shards. It is at least 1.
func ShardSize(count, elements, models int) int {
	const (
		shards      = 64
		samples     = 256
		evaluations = 1 << 16
		most        = 100_000
	)
	size := min(count/shards, samples, evaluations/max(1, elements)/max(1, models))
	return max(size, (count+most-1)/most, 1)
}

// Diff lists what distinguishes two jobs, field by field, such as "engine.name: native, not wasm": what j has first,
// then what o has. Paths are left out, as in [Job.Hash]. It is empty exactly when the hashes are equal.
func (j *Job) Diff(o *Job) []string {
	var d []string
	differ(reflect.ValueOf(*j.withoutPaths()), reflect.ValueOf(*o.withoutPaths()), "", &d)
	return d
}

func differ(a, b reflect.Value, path string, d *[]string) {
	switch a.Kind() { //nolint:exhaustive // the others are compared as they are
	case reflect.Struct:
		if _, ok := reflect.TypeAssert[Engine](a); ok {
			if a.Interface() != b.Interface() {
				*d = append(*d, fmt.Sprintf("%s: %v, not %v", path, a, b))
			}
			return
		}
		for i := range a.NumField() {
			f := a.Type().Field(i)
			switch {
			case f.Anonymous:
				differ(a.Field(i), b.Field(i), path, d)
			case f.IsExported():
				differ(a.Field(i), b.Field(i), join(path, keyOf(f)), d)
			}
		}
	case reflect.Pointer:
		if a.IsNil() || b.IsNil() {
			if a.IsNil() != b.IsNil() {
				*d = append(*d, path+": there in one alone")
			}
			return
		}
		differ(a.Elem(), b.Elem(), path, d)
	case reflect.Slice:
		if a.Len() != b.Len() {
			*d = append(*d, fmt.Sprintf("%s: %s, not %s", path, brief(a), brief(b)))
			return
		}
		for i := range a.Len() {
			before := len(*d)
			differ(a.Index(i), b.Index(i), fmt.Sprintf("%s[%d]", path, i), d)
			if len(*d) > before {
				return // one is enough to see
			}
		}
	case reflect.Float64:
		if math.Float64bits(a.Float()) != math.Float64bits(b.Float()) {
			*d = append(*d, fmt.Sprintf("%s: %v, not %v", path, a, b))
		}
	default:
		if a.Interface() != b.Interface() {
			*d = append(*d, fmt.Sprintf("%s: %s, not %s", path, brief(a), brief(b)))
		}
	}
}

// brief shows a value in a few words.
func brief(v reflect.Value) string {
	switch v.Kind() { //nolint:exhaustive // the others hold no text or need no care
	case reflect.Slice:
		if v.Len() == 0 {
			return "none"
		}
		if k := v.Type().Elem().Kind(); v.Len() <= 6 &&
			(k == reflect.String || k == reflect.Int || k == reflect.Float64) {
			return fmt.Sprint(v.Interface())
		}
		return strconv.Itoa(v.Len())
	case reflect.String:
		s := v.String()
		switch {
		case s == "":
			return "nothing"
		case isDigest(s):
			return s[:12]
		default:
			return clip(s)
		}
	default:
		return fmt.Sprint(v.Interface())
	}
}
