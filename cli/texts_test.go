package cli

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"nero/model/engine/frame"
	"nero/model/engine/remote/remotetest"

	"github.com/rogpeppe/go-internal/testscript"
)

// serveTexts is the command of the scripts about texts:
//
//	texts KIND [PROBABILITY]
//
// It serves a model that reads texts and sets TEXTS to its endpoint. What stands behind the last word of a question is
// its answer. Kinds: steady answers it always, flips another word to what begins with "please" with the probability,
// refuses with the probability, numbers answers as many numbers as the word has letters; letters answers how long that
// word and the first one are, and deaf takes no texts.
func serveTexts(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: texts KIND [PROBABILITY]")
	}
	q := 0.0
	if len(args) > 1 {
		var err error
		q, err = strconv.ParseFloat(args[1], 64)
		ts.Check(err)
	}
	last := func(input string) string {
		words := strings.Fields(input)
		return words[len(words)-1]
	}
	f := &remotetest.Texts{}
	switch args[0] {
	case "steady":
		f.Answer = func(input string, before int, _ map[string]any) (string, int) {
			return strings.Repeat(" ", before) + last(input), 0
		}
	case "flips":
		f.Answer = func(input string, before int, _ map[string]any) (string, int) {
			if strings.HasPrefix(input, "please") && remotetest.Flip(input, before, q) {
				return "who knows", 0
			}
			return last(input), 0
		}
	case "refuses":
		f.Answer = func(input string, before int, _ map[string]any) (string, int) {
			if remotetest.Flip(input, before, q) {
				return "slow down", 429
			}
			return last(input), 0
		}
	case "numbers":
		f.Numbers = true
		f.Answer = func(input string, before int, _ map[string]any) (string, int) {
			return fmt.Sprintf("%d.%d 1", len(last(input)), before), 0
		}
	case "letters":
		f.Numbers = true
		f.Answer = func(input string, _ int, _ map[string]any) (string, int) {
			return fmt.Sprintf("%d %d", len(last(input)), len(strings.Fields(input)[0])), 0
		}
	case "deaf":
		f.Answer = func(string, int, map[string]any) (string, int) { return "numbers alone are read here", 400 }
	default:
		ts.Fatalf("unknown kind %q", args[0])
	}
	s := f.Start()
	ts.Defer(s.Close)
	ts.Setenv("TEXTS", s.URL+"/texts")
}

// speller is a program that is a model, for the scripts: it reads one text at a time and answers how many letters its
// last word and its first one have, or with --words the last word.
func speller() {
	words := slices.Contains(os.Args[1:], "--words")
	out := &frame.Writer{W: os.Stdout}
	for {
		f, err := frame.Read(os.Stdin, frame.Limits{JSON: 1 << 20, Raw: 1 << 30})
		if err != nil {
			return // the end, or nobody who could be told
		}
		var q struct{ Method string }
		if err := json.Unmarshal(f.JSON, &q); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		answer, raw := `{"error":"not known"}`, []byte(nil)
		kind, shape := "FP32", "[1,2]"
		if words {
			kind, shape = "BYTES", "[1]"
		}
		switch q.Method {
		case "hello":
			answer = `{"hello":{"protocol":1,"program":"speller 1"}}`
		case "describe":
			answer = `{"name":"speller","inputs":[{"name":"text","datatype":"BYTES","shape":[1]}],` +
				`"outputs":[{"name":"said","datatype":"` + kind + `","shape":` + shape + `}]}`
		case "infer":
			said := strings.Fields(string(f.Raw[4:]))
			first, last := said[0], said[len(said)-1]
			raw = append(binary.LittleEndian.AppendUint32(nil, uint32(len(last))), last...)
			if !words {
				raw = binary.LittleEndian.AppendUint32(nil, math.Float32bits(float32(len(last))))
				raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(float32(len(first))))
			}
			answer = fmt.Sprintf(`{"outputs":[{"name":"said","datatype":%q,"shape":%s,`+
				`"parameters":{"binary_data_size":%d}}]}`, kind, shape, len(raw))
		}
		if err := out.Write(f.Call, []byte(answer), raw); err != nil {
			return
		}
	}
}

// listViews is the command of the scripts that writes a list of views: views FILE.csv N.
func listViews(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: views FILE.csv N")
	}
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	var b strings.Builder
	b.WriteString("object,view,value,label\n")
	words := []string{"red", "Paris", "seven", "no"}
	for i := range n {
		w := words[i%len(words)]
		fmt.Fprintf(&b, "%d,plain,%d: say %s,%s\n%d,polite,please %d: say %s,%s\n", i, i, w, w, i, i, w, w)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(b.String()), 0o600))
}
