package app

import (
	"math"
	"slices"
	"strings"
	"testing"

	"nero/audit/baseline"
	"nero/run/job"
	"nero/run/store"
)

// table is one metric of n samples at two elements.
func table(n int, f func(i, e int) float64) *store.Curves {
	c := &store.Curves{Elements: 2}
	for i := range n {
		c.Index = append(c.Index, i)
		for e := range 2 {
			c.Values = append(c.Values, float32(f(i, e)))
		}
	}
	return c
}

func TestChangeOfRuns(t *testing.T) {
	good := table(40, func(i, e int) float64 { return 0.8 + 0.01*math.Sin(float64(7*i+e)) })
	bad := table(40, func(i, e int) float64 { return 0.4 + 0.01*math.Cos(float64(5*i+e)) })
	for _, c := range []struct {
		x, y   *store.Curves
		higher bool
		says   string
		beyond bool
		change float64
	}{
		{good, bad, true, "worse", true, -0.4},
		{bad, good, true, "improved", false, 0.4},
		{good, bad, false, "improved", false, -0.4},
		{bad, good, false, "worse", true, 0.4},
		{good, good, true, "no clear difference", false, 0},
	} {
		r := changeOfRuns(c.x, c.y, nil, c.higher, 0.95, 0.1, 1, "m")
		if r.Says != c.says || r.Beyond != c.beyond || r.N != 40 || math.Abs(*r.Is-*r.Was-c.change) > 0.01 ||
			*r.Low > *r.Is-*r.Was+1e-9 || *r.High < *r.Is-*r.Was-1e-9 {
			t.Errorf("higher %v: %+v, was %v, is %v in [%v, %v]", c.higher, r, *r.Was, *r.Is, *r.Low, *r.High)
		}
		if r := changeOfRuns(c.x, c.y, nil, c.higher, 0.95, 2, 1, "m"); r.Beyond {
			t.Errorf("higher %v: a change by half is beyond twice", c.higher)
		}
	}
	// Samples that one of the runs lacks, or that have no number, are left out; an element without a number leaves its
	// pair out alone.
	few := &store.Curves{
		Elements: 2, Index: []int{1, 3, 5},
		Values: []float32{1, 1, float32(math.NaN()), float32(math.NaN()), 2, float32(math.NaN())},
	}
	if r := changeOfRuns(few, table(6, func(_, e int) float64 { return 1 + float64(e) }), nil, false, 0.95, 0.1, 1,
		"m"); r.N != 2 || *r.Was != 1.5 || *r.Is != 1.25 {
		t.Errorf("%+v: was %v, is %v", r, *r.Was, *r.Is)
	}
}

// A fix often has another name: the only models of two audits or runs are held against each other. Where there are
// several, two have to be named.
func TestTheOnlyModelsAreCompared(t *testing.T) {
	audits := func(names ...string) *baseline.File {
		f := &baseline.File{Name: strings.Join(names, "+")}
		for _, n := range names {
			f.Models = append(f.Models, &baseline.Model{Name: n})
		}
		return f
	}
	runs := func(names ...string) *job.Job {
		j := &job.Job{}
		for _, n := range names {
			j.Models = append(j.Models, job.ModelRef{Name: n})
		}
		return j
	}
	for _, c := range []struct {
		x, y    []string
		i, k    int
		refused bool
	}{
		{[]string{"plain"}, []string{"averaged"}, 0, 0, false},
		{[]string{"plain"}, []string{"averaged", "plain"}, 0, 1, false},
		{[]string{"plain"}, []string{"averaged", "turned"}, 0, 0, true},
		{[]string{"plain", "other"}, []string{"averaged"}, 0, 0, true},
	} {
		pairs, _, err := pairUp(audits(c.x...), audits(c.y...), CompareOptions{})
		models, errRuns := sameModels(runs(c.x...), runs(c.y...), "", "")
		if c.refused {
			for _, e := range []error{err, errRuns} {
				if e == nil || !strings.Contains(e.Error(), strings.Join(c.y, ", ")) {
					t.Errorf("%v and %v: %v, want that names what there is", c.x, c.y, e)
					continue
				}
				said := (Keywords{}).Sentence(e.Error())
				if !strings.HasSuffix(said, "model_before and model_after") {
					t.Errorf("to Python: %s", said)
				}
			}
			continue
		}
		if err != nil || len(pairs) != 1 || pairs[0][0].Name != c.x[c.i] || pairs[0][1].Name != c.y[c.k] {
			t.Errorf("%v and %v: %v, %v", c.x, c.y, pairs, err)
		}
		if want := [][2]int{{c.i, c.k}}; errRuns != nil || !slices.Equal(models, want) {
			t.Errorf("%v and %v: %v, %v, want %v", c.x, c.y, models, errRuns, want)
		}
	}
}
