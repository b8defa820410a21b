package app

import (
	"strings"
	"testing"

	"nero/run/job"
)

// What users may write is named in their words: flags on a command line, keywords in Python.
func TestMessagesNameWhatUsersWrite(t *testing.T) {
	open := &job.Study{Models: []job.Model{{Name: "net", ONNX: "net.onnx"}}, Data: job.Data{Images: "photos"}}
	for _, x := range []struct {
		say       Speech
		want, not []string
	}{
		{nil, []string{
			"--invariant", "nero audit net.onnx --group 'SO(2)' --invariant",
		}, []string{"nero.audit", "=False"}},
		{Keywords{}, []string{
			"equivariant=False", `nero.audit(model, data, …, group="SO(2)", equivariant=False)`, `output="image"`,
		}, []string{"--"}},
	} {
		a := &App{Speech: x.say}
		err := a.Claim(open, "nero audit net.onnx")
		if err == nil {
			t.Fatal("a study without a claim is audited")
		}
		for _, w := range x.want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%v\nwant %q in it", err, w)
			}
		}
		for _, n := range x.not {
			if strings.Contains(err.Error(), n) {
				t.Errorf("%v\nwant no %q in it", err, n)
			}
		}
		resize := a.speech().Option(Option{Name: "resize", Value: "short=8,crop=7x7", Literal: `{"short": 8}`})
		if want := map[bool]string{true: `data={…, "resize": {"short": 8}}`, false: "--resize short=8,crop=7x7"}; resize !=
			want[x.say != nil] {
			t.Errorf("%s, want %s", resize, want[x.say != nil])
		}
		if err := a.someWorkers(0); strings.HasPrefix(err.Error(), "--") == (x.say != nil) {
			t.Error(err)
		}
	}
}

// Packages below the program know of flags alone: a program that has keywords is told of those, and commands stay.
func TestSentencesNameKeywords(t *testing.T) {
	for _, x := range []struct{ text, want string }{
		{"use a circular border (--border circular), or a mask", `use a circular border (group={…, "border": "circular"}), or a mask`},
		{"the wasm engine takes it: --engine wasm", `the wasm engine takes it: engine="wasm"`},
		{"photos: --resize short=8,crop=7x7, which is", `photos: data={…, "resize": …}, which is`},
		{"let it through with --fail-on fail", `let it through with fail_on="fail"`},
		{"--threshold is 0, want more", "threshold is 0, want more"},
		{"--audit-samples 30 would do", "samples=30 would do"},
		{"leave --threshold, --preset and theirs away", "leave threshold, preset and theirs away"},
		{"no answer within 3s; raise it with --time-limit or", `no answer within 3s; raise it with models=[{…, "timeout": …}] or`},
		{"see 'nero engine install --help'", "see 'nero engine install --help'"},
		{"run nero audit a.onnx --group C4; or --group D4 here", `run nero audit a.onnx --group C4; or group="D4" here`},
		{"a -- b, x--yes, 2--3", "a -- b, x--yes, 2--3"},
	} {
		if got := (Keywords{}).Sentence(x.text); got != x.want {
			t.Errorf("%q\n got %s\nwant %s", x.text, got, x.want)
		}
		if got := (Flags{}).Sentence(x.text); got != x.text {
			t.Errorf("%q became %q for a command line", x.text, got)
		}
	}
}

// A program that started this one is told which field of a study is to blame, and not at which line of a file that was
// written for this call.
func TestRefusalsNameFields(t *testing.T) {
	_, err := job.ParseStudy("/tmp/x/study.yaml", []byte("models: a.onnx\ndata: photos\ngrop: C4\n"))
	var told []Event
	a := &App{Events: func(e Event) { told = append(told, e) }}
	a.Refuse(err)
	if len(told) != 1 || told[0].Kind != Refused || told[0].Field != "grop" ||
		!strings.HasPrefix(told[0].Text, "grop: unknown key") {
		t.Errorf("%v was told as %+v", err, told)
	}
}
