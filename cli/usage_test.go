package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// TestHelpInParts wants every flag of the commands that take a study in a part of their help, and parts in their order.
func TestHelpInParts(t *testing.T) {
	for _, name := range []string{"run", "audit", "bench"} {
		var out bytes.Buffer
		a := &App{Out: &out, Err: &out}
		if code := a.Run(t.Context(), []string{name, "--help"}); code != exitOK {
			t.Fatalf("%s: exit code %d", name, code)
		}
		rest := out.String()
		for _, p := range allParts() {
			_, after, ok := strings.Cut(rest, "\n"+string(p)+":\n")
			if !ok {
				t.Errorf("%s: no part %s, or not in its order", name, p)
				continue
			}
			rest = after
		}
		flagsOf(t, a, name).VisitAll(func(f *pflag.Flag) {
			if len(f.Annotations[partKey]) != 1 && f.Name != "help" {
				t.Errorf("%s: --%s is in no part", name, f.Name)
			}
		})
	}
}

func flagsOf(t *testing.T, a *App, name string) *pflag.FlagSet {
	t.Helper()
	c, _, err := a.root().Find([]string{name})
	if err != nil {
		t.Fatal(err)
	}
	return c.LocalFlags()
}

// TestKeysOnce wants each flag of a study to be told once, with what it is for.
func TestKeysOnce(t *testing.T) {
	for _, keys := range [][]studyKey{append(studyKeys(), auditKeys()...), append(studyKeys(), repeatKeys()...)} {
		seen := map[string]bool{}
		for _, k := range keys {
			if seen[k.name] || k.help == "" || k.in == "" || k.lay == nil {
				t.Errorf("%+v: told twice, or not told whole", k)
			}
			seen[k.name] = true
		}
	}
}
