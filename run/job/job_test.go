package job

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"nero/symmetry/group"
)

// anyJob draws a valid job with every field set to something.
func anyJob(t *rapid.T) *Job {
	text := rapid.StringN(1, 8, 20)
	number := rapid.Float64Range(-1e9, 1e9)
	numbers := rapid.SliceOfN(number, 1, 3)
	whole := rapid.IntRange(1, 1000)
	digest := rapid.StringMatching(`[0-9a-f]{64}`)
	elements := rapid.IntRange(1, 6).Draw(t, "elements")
	models := rapid.IntRange(1, 3).Draw(t, "models")
	count := rapid.IntRange(1, 50).Draw(t, "count")
	str := func(n string) string { return text.Draw(t, n) }
	j := &Job{
		Format: FormatSmall, Numbers: whole.Draw(t, "numbers"), Count: count, Classes: whole.Draw(t, "classes"),
		Names:   digest.Draw(t, "names"),
		Measure: str("measure"), Metrics: rapid.SliceOfNDistinct(text, 1, 4, rapid.ID).Draw(t, "metrics"),
		Engine: Engine{str("engine"), str("version"), str("provider")}, Shard: whole.Draw(t, "shard"),
		Seed: rapid.Uint64().Draw(t, "seed"),
		Study: Study{
			Version: 1, Task: str("task"), Models: []Model{{
				str("name"), str("onnx"), str("witness"), str("endpoint"),
				[]string{str("program")},
				str("dir"),
				whole.Draw(t, "workers"), str("builtin"),
				[]string{str("mp")},
				str("version"), str("token"), str("headers"),
				rapid.Float64Range(1, 100).Draw(t, "timeout"), str("ca"), true,
				whole.Draw(t, "batch"), whole.Draw(t, "concurrency"),
			}},
			Providers: []string{str("pr")},
			Data: Data{
				Format: str("f"), Images: str("i"), Labels: str("l"), Pattern: str("p"), Key: str("k"),
				LabelKey: str("lk"), Layout: str("la"),
				Limit: whole.Draw(t, "limit"), Balance: str("b"), Seed: rapid.Uint64().Draw(t, "dseed"),
				Targets: str("ta"), Split: str("sp"), Classes: []string{str("cl")}, Zoom: 0.5,
				Fit: []int{9, 10}, TargetKey: str("tk"), Upward: str("up"),
				Resize: Resize{
					Short: 8, Crop: []int{7, 6}, Stretch: []int{5, 4}, Letterbox: []int{3, 2}, Fill: 114,
					Kernel: str("ke"), Plain: true,
				},
				Cut: Cut{
					Size: []int{5, 6}, Classes: []string{str("kc")}, Area: []float64{0.1, 0.5}, Outside: str("ou"),
					PerPhoto: whole.Draw(t, "per"),
				},
				Particles: Particles{
					Count: whole.Draw(t, "pairs"), Flows: []string{str("fl")}, Size: []int{7, 8}, Density: 0.1,
					Diameter: 2, Noise: 3, Loss: 0.2, Shift: 4, Heading: 5, Turn: 6, Mean: 0.7,
					Seed: rapid.Uint64().Draw(t, "pseed"),
				},
			},
			Input: Input{
				Space: str("s"), Layout: str("l"), Channels: str("c"),
				Scale: rapid.Float64Range(1e-9, 1e9).Draw(t, "scale"), Ports: []string{str("po")},
				Mean: numbers.Draw(t, "mean"), Std: numbers.Draw(t, "std"),
			},
			Output: Output{
				Space: str("s"), Name: str("n"), Decode: str("d"), Action: str("a"),
				Type: Type{str("t"), str("tm"), str("ts")}, Kernel: str("k"),
				Boxes: Boxes{
					Parts: []BoxesPart{{str("pb"), str("ps"), str("po"), str("pl")}}, Form: str("f"), Swap: true,
					Unit: str("u"),
					Anchors: []Anchors{{
						Stride: whole.Draw(t, "stride"), Corner: true, PerCell: whole.Draw(t, "cell"),
						Sizes: [][]float64{{1, 2}},
					}},
					Columns: []string{str("bc")}, Classes: whole.Draw(t, "bclasses"), SizeScale: 3,
					Scale: 2, Log: true, Activation: str("ac"), Clamp: 3, Background: str("bg"), Limit: 0.5,
					Suppress: str("su"), Overlap: 0.25, Sigma: 0.75,
					Most: whole.Draw(t, "most"), Clip: true,
				},
				Field: Field{Order: str("o"), Scale: 5, Up: true, Layout: str("fl"), AtFirst: true},
			},
			Consensus: Consensus{Center: str("c"), Weak: 0.25, LeaveOut: true},
			Group: Group{
				Name: str("g"), Resample: str("r"), Border: str("b"), Window: []int{3, 4}, Oriented: true,
				Orbit: Orbit{
					Grid: []int{whole.Draw(t, "grid")}, All: true, Haar: whole.Draw(t, "haar"),
					LowDiscrepancy: whole.Draw(t, "ld"),
					Lattice:        true, Values: [][]float64{numbers.Draw(t, "values")}, Range: [][]float64{{0, 1}},
				},
			},
			Metrics: []string{str("m")},
			Audit: Audit{
				str("p"), rapid.Float64Range(1e-9, 1e9).Draw(t, "threshold"),
				rapid.Float64Range(0.1, 0.9).Draw(t, "confidence"), whole.Draw(t, "n"), whole.Draw(t, "e"),
				[]string{str("check")},
				[]string{str("skip")},
				[]string{str("require")},
				[]string{str("layer")},
				[]string{str("param")},
				Contract{0.1, 0.2, 0.3},
				true, str("author"),
			},
			Seed: rapid.Uint64().Draw(t, "sseed"),
		},
	}
	for i := range elements {
		j.Elements = append(j.Elements, group.Element{number.Draw(t, "x"), number.Draw(t, "y")})
		j.Exact = append(j.Exact, rapid.Bool().Draw(t, "exact"))
		j.Weights = append(j.Weights, float64(i)/7)
	}
	for i := range models {
		j.Models = append(j.Models, ModelRef{
			fmt.Sprint(i, str("m")),
			Ref{str("p"), digest.Draw(t, "d")},
			whole.Draw(t, "batch"), str("mp"),
		})
	}
	for range count {
		j.Samples = append(j.Samples, whole.Draw(t, "sample"))
	}
	j.Files = []Ref{{str("p"), digest.Draw(t, "d")}}
	return j
}

func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		j := anyJob(t)
		if err := j.Validate(); err != nil {
			t.Fatal(err)
		}
		b, err := j.Canonical()
		if err != nil {
			t.Fatal(err)
		}
		back, err := ParseJob("job.json", b)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(j, back) {
			t.Fatalf("got %+v\nwant %+v", back, j)
		}
		again, err := back.Canonical()
		if err != nil || string(again) != string(b) {
			t.Fatalf("other bytes after a round trip: %v", err)
		}
		if h, h2 := mustHash(t, j), mustHash(t, back); h != h2 || !isDigest(h) {
			t.Fatalf("hashes %s and %s", h, h2)
		}
		if d := j.Diff(back); len(d) > 0 {
			t.Fatalf("differs from itself: %v", d)
		}
	})
}

func TestExactNumbers(t *testing.T) {
	j := minimal()
	j.Elements, j.Exact = nil, nil
	for _, x := range []float64{
		0, math.Copysign(0, -1), 0.1, 1.0 / 3, math.Pi, 5e-324, math.MaxFloat64, -1e21, 1e-7,
		123456789012345680,
	} {
		j.Elements, j.Exact = append(j.Elements, group.Element{x}), append(j.Exact, false)
	}
	j.Seed = math.MaxUint64
	b, err := j.Canonical()
	if err != nil {
		t.Fatal(err)
	}
	back, err := ParseJob("j", b)
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range j.Elements {
		if math.Float64bits(e[0]) != math.Float64bits(back.Elements[i][0]) {
			t.Errorf("%v came back as %v", e[0], back.Elements[i][0])
		}
	}
	if back.Seed != math.MaxUint64 {
		t.Errorf("seed %d", back.Seed)
	}
	j.Elements[0][0] = math.NaN()
	if _, err := j.Hash(); err == nil {
		t.Error("a job with NaN has a hash")
	}
	j = minimal()
	j.Models[0].Name = "\xff"
	if _, err := j.Canonical(); err == nil || !strings.Contains(err.Error(), "models[0].name is not valid UTF-8") ||
		!strings.Contains(err.Error(), `\xff`) {
		t.Errorf("a name that JSON would change: %v", err)
	}
}

func mustHash(t interface{ Fatal(...any) }, j *Job) string {
	h, err := j.Hash()
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func minimal() *Job {
	return &Job{
		Format: FormatSmall, Models: []ModelRef{{"m", Ref{"m.onnx", strings.Repeat("a", 64)}, 1, ""}}, Count: 10,
		Shard:    3,
		Elements: []group.Element{{0}, {90}}, Exact: []bool{true, true}, Metrics: []string{"accuracy"},
	}
}

// TestHashEveryField changes each field of a job in turn, found by reflection so that a new field cannot be forgotten.
func TestHashEveryField(t *testing.T) {
	for seed := range 4 {
		j := rapid.Custom(anyJob).Example(seed)
		before := mustHash(t, j)
		seen := map[string]bool{}
		each(reflect.ValueOf(j).Elem(), "", func(path string, change func() (undo func())) {
			undo := change()
			defer undo()
			after := mustHash(t, j)
			isPath := strings.HasPrefix(path, "study.models[0].") && path != "study.models[0].name" ||
				path == "study.name" || path == "study.about" || path == "study.hypothesis" ||
				path == "study.data.images" || path == "study.data.labels" || path == "study.data.targets" ||
				path == "study.data.views" || strings.HasPrefix(path, "study.repeat.") ||
				path == "files[0].path" ||
				strings.HasPrefix(path, "study.providers") || strings.HasPrefix(path, "study.watch.") ||
				strings.HasPrefix(path, "study.embedding.") ||
				path == "study.output.type.matrices" ||
				strings.HasPrefix(path, "models[") && strings.HasSuffix(path, ".path")
			if (before == after) != isPath {
				t.Fatalf("changing %s: hash changed: %v", path, before != after)
			}
			if !isPath && seen[after] {
				t.Fatalf("changing %s gives a hash that another change gave", path)
			}
			seen[after] = true
		})
		if mustHash(t, j) != before {
			t.Fatal("the test did not undo its changes")
		}
		if len(seen) < 60 {
			t.Fatalf("only %d fields were changed", len(seen))
		}
	}
}

// each calls do with every leaf and every list below v.
func each(v reflect.Value, path string, do func(path string, change func() func())) {
	set := func(to reflect.Value) func() func() {
		return func() func() {
			old := reflect.New(v.Type()).Elem()
			old.Set(v)
			v.Set(to)
			return func() { v.Set(old) }
		}
	}
	switch v.Kind() { //nolint:exhaustive // a job has no others, and one would panic
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			switch {
			case f.Tag.Get("json") == "-": // it follows from what the files hold
			case f.Anonymous:
				each(v.Field(i), path, do)
			case f.IsExported():
				each(v.Field(i), join(path, keyOf(f)), do)
			}
		}
	case reflect.Slice:
		longer := reflect.MakeSlice(v.Type(), v.Len()+1, v.Len()+1)
		reflect.Copy(longer, v)
		do(path+"+", set(longer))
		for i := range v.Len() {
			each(v.Index(i), fmt.Sprintf("%s[%d]", path, i), do)
		}
	case reflect.Pointer: // the table of a large job: TestSettle
	case reflect.String:
		do(path, set(reflect.ValueOf(v.String()+"x")))
	case reflect.Bool:
		do(path, set(reflect.ValueOf(!v.Bool())))
	case reflect.Int:
		do(path, set(reflect.ValueOf(int(v.Int())+1)))
	case reflect.Uint64:
		do(path, set(reflect.ValueOf(v.Uint()+1)))
	case reflect.Float64:
		do(path, set(reflect.ValueOf(math.Nextafter(v.Float(), math.Inf(1)))))
	default:
		panic("a job holds a " + v.Kind().String())
	}
}

func TestDiff(t *testing.T) {
	for seed := range 4 {
		j := rapid.Custom(anyJob).Example(seed)
		each(reflect.ValueOf(j).Elem(), "", func(path string, change func() func()) {
			b, err := json.Marshal(j)
			if err != nil {
				t.Fatal(err)
			}
			old := new(Job)
			if err := json.Unmarshal(b, old); err != nil {
				t.Fatal(err)
			}
			same := mustHash(t, old)
			undo := change()
			defer undo()
			d := old.Diff(j)
			if (len(d) == 0) != (same == mustHash(t, j)) {
				t.Fatalf("changing %s: differences %v", path, d)
			}
			if len(d) > 1 {
				t.Fatalf("changing %s alone: differences %v", path, d)
			}
		})
	}
	a, b := minimal(), minimal()
	a.Engine, b.Engine = Engine{"native", "1.27.0", "cuda:use_tf32=0"}, Engine{"wasm", "1.18.0", ""}
	b.Elements, b.Exact = b.Elements[:1], b.Exact[:1]
	b.Models[0].SHA256 = strings.Repeat("b", 64)
	b.Study.Task, b.Models[0].Path = "tensor", "elsewhere"
	want := []string{
		"study.task: nothing, not tensor", "models[0].sha256: aaaaaaaaaaaa, not bbbbbbbbbbbb", "elements: 2, not 1",
		"exact: 2, not 1",
		"engine: native 1.27.0 on cuda:use_tf32=0, not wasm 1.18.0",
	}
	if d := a.Diff(b); !slices.Equal(d, want) {
		t.Errorf("got %q\nwant %q", d, want)
	}
}

func TestValidate(t *testing.T) {
	if err := minimal().Validate(); err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(*Job){
		"format is 3, expected 1 to 2": func(j *Job) { j.Format = 3 },
		"format is 0, expected 1 to 2": func(j *Job) { j.Format = 0 },
		"which format 1 does not have": func(j *Job) { j.Table = &Table{Count: 1, SHA256: j.Models[0].SHA256} },
		"table.count is 2 with 1 files": func(j *Job) {
			j.Format, j.Files, j.Table = 2, []Ref{j.Models[0].Ref}, &Table{Count: 2}
		},
		"the digests of table are not":        func(j *Job) { j.Format, j.Table = 2, &Table{Count: 1, SHA256: "x"} },
		"count is -1":                         func(j *Job) { j.Count = -1 },
		"count is 9000000000000000000":        func(j *Job) { j.Count = 9000000000000000000 },
		"shard is 0":                          func(j *Job) { j.Shard = 0 },
		"shard is 1 for 100000000 samples":    func(j *Job) { j.Shard, j.Count = 1, 100000000 },
		"samples lists 2 indexes":             func(j *Job) { j.Samples = []int{1, 2} },
		"samples[0] is -1":                    func(j *Job) { j.Samples, j.Count = []int{-1}, 1 },
		"classes is -1":                       func(j *Job) { j.Classes = -1 },
		"models is empty":                     func(j *Job) { j.Models = nil },
		"models[1].name is \"m\"":             func(j *Job) { j.Models = append(j.Models, j.Models[0]) },
		"models[0].batch is 0":                func(j *Job) { j.Models[0].Batch = 0 },
		"models[0].sha256 is":                 func(j *Job) { j.Models[0].SHA256 = strings.Repeat("A", 64) },
		"files[0].sha256 is":                  func(j *Job) { j.Files = []Ref{{"x", "y"}} },
		"elements is empty":                   func(j *Job) { j.Elements = nil },
		"exact has 1 entries":                 func(j *Job) { j.Exact = j.Exact[:1] },
		"weights has 1 entries":               func(j *Job) { j.Weights = []float64{1} },
		"weights[1] is NaN":                   func(j *Job) { j.Weights = []float64{1, math.NaN()} },
		"elements[1] has 2 coordinates":       func(j *Job) { j.Elements[1] = group.Element{1, 2} },
		"elements[1] is [+Inf]":               func(j *Job) { j.Elements[1] = group.Element{math.Inf(1)} },
		"metrics is empty":                    func(j *Job) { j.Metrics = nil },
		"metrics[1] is \"accuracy\"":          func(j *Job) { j.Metrics = append(j.Metrics, "accuracy") },
		"unsupported value: NaN":              func(j *Job) { j.Study.Input.Mean = []float64{math.NaN()} },
		"study.group.name is not valid UTF-8": func(j *Job) { j.Study.Group.Name = "\xff" },
		"metrics[0] is not valid UTF-8":       func(j *Job) { j.Metrics[0] = "\xff" },
		"models[0].path is not valid UTF-8":   func(j *Job) { j.Models[0].Path = "\xff" },
	} {
		j := minimal()
		change(j)
		err := j.Validate()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	j := minimal()
	j.Elements, j.Exact = many(1000)
	for i := range 300 {
		m := j.Models[0]
		m.Name = strconv.Itoa(i)
		j.Models = append(j.Models, m)
	}
	for i := range 1000 {
		j.Metrics = append(j.Metrics, strconv.Itoa(i))
	}
	if err := j.Validate(); err == nil || !strings.Contains(err.Error(), "cells") {
		t.Errorf("300 million cells: %v", err)
	}
}

func many(n int) ([]group.Element, []bool) {
	e := make([]group.Element, n)
	for i := range e {
		e[i] = group.Element{float64(i)}
	}
	return e, make([]bool, n)
}

func TestParseJobRefuses(t *testing.T) {
	b, err := minimal().Canonical()
	if err != nil {
		t.Fatal(err)
	}
	for want, text := range map[string]string{
		"job.json: not a job: EOF":                     "",
		"unknown field \"colour\"":                     strings.Replace(string(b), `"seed"`, `"colour":1,"seed"`, 1),
		"job.json: something follows the job":          string(b) + "{}",
		"job.json: format is 7, expected 1":            strings.Replace(string(b), `"format":1`, `"format":7`, 1),
		"cannot unmarshal string into Go struct field": strings.Replace(string(b), `"count":10`, `"count":"10"`, 1),
	} {
		if _, err := ParseJob("job.json", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

func TestShards(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		j := &Job{Count: rapid.IntRange(0, 5000).Draw(t, "count"), Shard: rapid.IntRange(1, 6000).Draw(t, "shard")}
		at := 0
		s := j.Shards()
		for i, x := range s {
			if x.Index != i || x.Lo != at || x.Hi <= x.Lo || x.Hi-x.Lo > j.Shard || x.Hi-x.Lo < j.Shard &&
				i != len(s)-1 {
				t.Fatalf("shard %d of %+v is %+v, expected it to start at %d", i, j, x, at)
			}
			at = x.Hi
		}
		if at != j.Count {
			t.Fatalf("the shards end at %d of %d", at, j.Count)
		}
	})
	if s := (&Job{Count: 3, Shard: math.MaxInt}).Shards(); len(s) != 1 || s[0].Hi != 3 {
		t.Errorf("one huge shard: %v", s)
	}
	defer func() {
		if recover() == nil {
			t.Error("a shard size of 0 does not panic")
		}
	}()
	(&Job{Count: 3}).Shards()
}

func TestShardSize(t *testing.T) {
	for _, c := range []struct{ count, elements, models, want int }{
		{10_000, 72, 3, 156}, // the digits study
		{1000, 72, 2, 15},
		{0, 1, 1, 1},
		{1, 1, 1, 1},
		{40, 72, 1, 1},
		{1_000_000, 72, 1, 256},
		{1_000_000, 1024, 1, 64},
		{10_000, 1024, 4, 16},
		{10_000, 1_000_000, 1, 1},
		{100_000_000, 1_000_000, 1, 1000},
		{10, 0, 0, 1},
	} {
		if got := ShardSize(c.count, c.elements, c.models); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		count, k, m := rapid.IntRange(0, 1<<30).Draw(t, "count"), rapid.IntRange(0, 1<<20).Draw(t, "elements"),
			rapid.IntRange(0, 100).Draw(t, "models")
		size := ShardSize(count, k, m)
		n := (count + size - 1) / size
		if size < 1 || n > 100_000 || count >= 40 && n < 40 {
			t.Fatalf("%d samples per shard, %d shards", size, n)
		}
		if n < 100_000-1 && size > 1 && n*size*k*m/max(n, 1) > 1<<16 && size > (count+99_999)/100_000 {
			t.Fatalf("%d evaluations in a shard", size*k*m)
		}
	})
}

func TestNamesDigest(t *testing.T) {
	a := NamesDigest([]string{"cat/1.png", "dog/2.png"}, []int{0, 1})
	for _, b := range []string{
		NamesDigest([]string{"dog/1.png", "dog/2.png"}, []int{0, 1}),
		NamesDigest([]string{"cat/1.png", "dog/2.png"}, []int{1, 1}),
		NamesDigest([]string{"cat/1.png", "dog/2.png"}, nil),
		NamesDigest([]string{"cat/1.png\" 1\ndog/2.png"}, []int{0}),
		NamesDigest([]string{"dog/2.png", "cat/1.png"}, []int{1, 0}),
	} {
		if a == b {
			t.Error("different names have one digest")
		}
	}
	if NamesDigest([]string{"a"}, nil) != NamesDigest([]string{"a"}, []int{-1}) {
		t.Error("no labels and a missing label differ")
	}
}

func FuzzParseJob(f *testing.F) {
	b, err := minimal().Canonical()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add([]byte(`{"format":1,"count":1,"shard":1e3}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		j, err := ParseJob("f", b)
		if err != nil {
			return
		}
		if _, err := j.Hash(); err != nil {
			t.Errorf("accepted a job without a hash: %v", err)
		}
		if n := len(j.Shards()); n > maxShards {
			t.Errorf("%d shards", n)
		}
	})
}

// A large job has its files in a table: what they hold counts, and neither where they lie nor the table's own digest.
func TestSettle(t *testing.T) {
	j := minimal()
	if j.Settle(); j.Format != FormatSmall || j.Table != nil {
		t.Errorf("a small job has format %d and table %v", j.Format, j.Table)
	}
	if j.Count = 10_000; true {
		j.Settle()
	}
	if j.Format != FormatLarge || j.Table != nil {
		t.Errorf("a job of %d shards has format %d and table %v", len(j.Shards()), j.Format, j.Table)
	}
	for i := range 1001 {
		j.Files = append(j.Files, Ref{strconv.Itoa(i), strings.Repeat("a", 64)})
	}
	if j.Settle(); j.Table == nil || j.Table.Count != 1001 || j.Validate() != nil {
		t.Fatalf("table %+v", j.Table)
	}
	text, err := j.Canonical()
	if err != nil || len(text) > 4096 || !strings.Contains(string(text), `"files":[],`) {
		t.Errorf("%d bytes, %v", len(text), err)
	}
	hash := mustHash(t, j)
	j.Files[7].Path, j.Table.File = "elsewhere", strings.Repeat("b", 64)
	if mustHash(t, j) != hash {
		t.Error("a path decides the hash")
	}
	other := minimal()
	other.Count, other.Files = j.Count, slices.Clone(j.Files)
	other.Files[7].SHA256 = strings.Repeat("c", 64)
	if other.Settle(); mustHash(t, other) == hash {
		t.Error("what a file holds does not decide the hash")
	}
	if d := j.Diff(other); len(d) != 1 || !strings.HasPrefix(d[0], "table.sha256: ") {
		t.Errorf("differences %q", d)
	}
	if j.DataDigest() == other.DataDigest() {
		t.Error("other data with the same digest")
	}
	small := *j
	if small.SettleAs(FormatSmall); small.DataDigest() != j.DataDigest() || mustHash(t, &small) == hash {
		t.Error("the data are told apart by the format, or the jobs are not")
	}
}
