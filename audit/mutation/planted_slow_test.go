//go:build slow

package mutation

import (
	"encoding/json"
	"os"
	"regexp"
	"testing"
)

// What the audit has to reach on the third that the gate draws. The numbers may only rise.
const (
	leastFound  = 1.0
	leastRight  = 0.90
	leastSilent = 0.90
)

// thirdSeed draws the third.
const thirdSeed = 1

// A third of the planted breaks, or with -update all of them, on the fastest engine. NERO_MUTATION_ONLY looks at those
// whose half, model and name match a regular expression, and NERO_MUTATION_OUT names a file for a line of JSON each.
func TestPlanted(t *testing.T) {
	all := bodies(t)[:1]
	chosen := Third(Planted(), thirdSeed)
	pattern := os.Getenv("NERO_MUTATION_ONLY")
	if *update || pattern != "" {
		chosen = Planted()
	}
	only := regexp.MustCompile(pattern)
	var lines *json.Encoder
	if path := os.Getenv("NERO_MUTATION_OUT"); path != "" {
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = f.Close() }() // lines for a look
		lines = json.NewEncoder(f)
	}
	var results []Result
	for _, m := range chosen {
		if !only.MatchString(m.Set + " " + m.Base + " " + m.Name) {
			continue
		}
		r := score(t.Context(), t, m, all)
		results = append(results, r)
		if lines != nil {
			_ = lines.Encode(map[string]any{"mutation": m, "score": r.Scores[0]})
		}
	}
	for _, set := range []string{SetHeldOut, SetTuned} {
		some := of(results, func(m Mutation) bool { return m.Set == set })
		rate := Rate(some)
		t.Logf("%s on %s: %s", set, all[0].Name, rate.cells())
		for _, l := range short(some, set) {
			t.Log(l)
		}
		if pattern == "" && (below(rate.Found, rate.Planted, leastFound) ||
			below(rate.Right, rate.Planted, leastRight) ||
			below(rate.Silent, rate.Clean, leastSilent)) {
			t.Errorf("%s: found, right cause, silent: less than %g, %g and %g", set, leastFound, leastRight,
				leastSilent)
		}
	}
	if !*update || pattern != "" {
		return
	}
	old, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	text := PlantedSection().Put(string(old), PlantedTable(results, all[0].Name))
	if err := os.WriteFile(page, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func below(k, n int, least float64) bool { return !(float64(k) >= least*float64(n)) }
