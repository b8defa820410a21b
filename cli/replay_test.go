package cli

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"nero/symmetry/group"

	"github.com/rogpeppe/go-internal/testscript"
)

// replays FILE N [FLAG...] wants at least N worst cases of judged sets in an audit's JSON, runs the command that
// repeats each, with the flags, and wants the error that the audit stored, to the last digit.
func replays(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: replays FILE N [FLAG...]")
	}
	var doc struct {
		Models []struct {
			Worst []struct {
				What, Replay string
				Value        float64
			} `json:"worst_cases"`
		}
	}
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[0])), &doc))
	n := 0
	for _, m := range doc.Models {
		for _, w := range m.Worst {
			if !slices.Contains([]string{"exact elements", "continuous elements"}, w.What) {
				continue
			}
			n++
			words := shellWords(ts, w.Replay)
			ts.Logf("%s", w.Replay)
			ts.Check(ts.Exec(words[0], append(append(words[1:], "-q", "--format", "json"), args[2:]...)...))
			var got struct {
				Relative float64 `json:"relative_error"`
				Visited  bool    `json:"visited_by_the_audit"`
			}
			ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &got))
			if got.Relative != w.Value || !got.Visited {
				ts.Fatalf("%s: error %v, visited %v; the audit stored %v", w.Replay, got.Relative, got.Visited, w.Value)
			}
		}
	}
	if want := args[1]; strings.Compare(want, "0") <= 0 || n < int(want[0]-'0') {
		ts.Fatalf("%d worst cases of sets, want at least %s", n, want)
	}
}

// shellWords splits a command as a POSIX shell does, as far as audit.ShellQuote writes it.
func shellWords(ts *testscript.TestScript, s string) []string {
	var words []string
	word, quoted, some := "", false, false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\'':
			quoted, some = !quoted, true
		case !quoted && c == '\\' && i+1 < len(s):
			i++
			word, some = word+s[i:i+1], true
		case !quoted && c == ' ':
			if some {
				words = append(words, word)
			}
			word, some = "", false
		default:
			word, some = word+string(c), true
		}
	}
	if quoted {
		ts.Fatalf("open quote in %s", s)
	}
	if some {
		words = append(words, word)
	}
	return words
}

func TestParsePlace(t *testing.T) {
	for _, c := range []struct {
		in     string
		sample string
		at     group.Element
	}{
		{"17@90", "17", group.Element{90}},
		{"a/b.png@2,-1", "a/b.png", group.Element{2, -1}},
		{"me@home@0.1, 3e-5", "me@home", group.Element{0.1, 3e-5}},
	} {
		p, err := parsePlace(c.in)
		if err != nil || p.Sample != c.sample || !slices.Equal(p.At, c.at) {
			t.Errorf("%q: %+v, %v", c.in, p, err)
		}
	}
	for _, in := range []string{"", "17", "@90", "17@", "17@x", "17@1,,2", "17@NaN", "17@Inf", "17@1;2"} {
		if p, err := parsePlace(in); err == nil {
			t.Errorf("%q: %+v", in, p)
		} else if !strings.HasPrefix(err.Error(), "--replay ") {
			t.Errorf("%q: %v", in, err)
		}
	}
}

// FuzzParsePlace wants that what is accepted has a sample and finite coordinates, and that nothing panics.
func FuzzParsePlace(f *testing.F) {
	for _, s := range []string{"17@90", "a@b@1,2", "@", "1@NaN", "x@1e999"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p, err := parsePlace(s)
		if err != nil {
			return
		}
		if p.Sample == "" || len(p.At) == 0 || !strings.HasPrefix(s, p.Sample+"@") {
			t.Fatalf("%q: %+v", s, p)
		}
		for _, x := range p.At {
			if math.IsNaN(x) || math.IsInf(x, 0) {
				t.Fatalf("%q: %v", s, x)
			}
		}
	})
}
