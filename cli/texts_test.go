package cli

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"nero/model/engine/remote/remotetest"

	"github.com/rogpeppe/go-internal/testscript"
)

// serveTexts is the command of the scripts about texts:
//
//	texts KIND [PROBABILITY]
//
// It serves a model that reads texts and sets TEXTS to its endpoint. What stands behind the last word of a question is
// its answer. Kinds: steady answers it always, flips another word to what begins with "please" with the probability,
// refuses with the probability, numbers answers as many numbers as the word has letters.
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
	default:
		ts.Fatalf("unknown kind %q", args[0])
	}
	s := f.Start()
	ts.Defer(s.Close)
	ts.Setenv("TEXTS", s.URL+"/texts")
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
