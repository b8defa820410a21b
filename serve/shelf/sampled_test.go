package shelf

import (
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"nero/present/reduce"
	"nero/serve/api"
)

// What is read shard by shard is what is held as a whole, to the last bit: rows, sums, and the map of the samples.
func TestStream(t *testing.T) {
	r := one(t, small())
	values, err := r.Curves(1, 2)
	if err != nil {
		t.Fatal(err)
	}
	want, err := r.Stats(1, 2)
	if err != nil {
		t.Fatal(err)
	}
	if none, err := r.Stream(1, 2); none != nil || err != nil {
		t.Errorf("a small run is not held: %v", err)
	}
	r.shelf.mostHeld = 0
	stream, err := r.Stream(1, 2)
	if err != nil {
		t.Fatal(err)
	}
	row := make([]float64, r.Elements())
	for i := range r.Len() {
		stream.Row(row, i)
		for k, v := range row {
			if w := float64(values[i*r.e+k]); v != w && !(math.IsNaN(v) && math.IsNaN(w)) {
				t.Fatalf("sample %d, element %d: %v, want %v", i, k, v, w)
			}
		}
	}
	got, err := stream.stats(r.metrics[2])
	if err != nil || !sameFloats(got.Mean, want.Mean) || !sameFloats(got.SD, want.SD) ||
		!sameFloats(got.Identity, want.Identity) || !slices.Equal(got.Worst, want.Worst) || got.Lo != want.Lo ||
		got.Hi != want.Hi {
		t.Errorf("sums %v, %v; want %v", got, err, want)
	}
	dense, err := reduce.NewDense(r.n, r.e, values)
	if err != nil {
		t.Fatal(err)
	}
	a, err := reduce.Reduce(t.Context(), reduce.PCA, dense, reduce.Options{})
	b, err2 := reduce.Reduce(t.Context(), reduce.PCA, stream, reduce.Options{})
	if err != nil || err2 != nil || !sameFloats(a.XY, b.XY) || stream.Err() != nil {
		t.Errorf("maps %v and %v: %v, %v, %v", a, b, err, err2, stream.Err())
	}
}

// Law: what is said of a set of samples, of two models on it, and of the classes that it is taken for, is the same bit
// for bit whether the run is held or gone through shard by shard; then neither curves nor classes stay in memory.
func TestStreamedSets(t *testing.T) {
	held, streamed := one(t, small()), one(t, small())
	streamed.shelf.mostHeld = 4 * 57 * 3 // so that sets are looked at a few elements at a time
	ask := func(r *Run, q api.AggregateRequest) string {
		t.Helper()
		a, err := r.Aggregate(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		b, err := json.Marshal(a)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	for _, rule := range []string{
		"label = 3", "mean A < 0.7 and label = 2", "predicted B = 1", "label >= 0", "id = \"none\"",
	} {
		for k := range held.metrics {
			q := api.AggregateRequest{Set: api.Set{Rule: rule}, Metric: k, Pair: []int{0, 1}}
			if a, b := ask(held, q), ask(streamed, q); a != b {
				t.Errorf("%s, metric %d:\n%s\n%s", rule, k, a, b)
			}
		}
	}
	for _, against := range []string{"truth", "self"} {
		q := api.TurnsRequest{Model: 1, Against: against}
		a, err := held.Turns(t.Context(), q)
		b, err2 := streamed.Turns(t.Context(), q)
		if err != nil || err2 != nil || !reflect.DeepEqual(a, b) {
			t.Errorf("against %s: %v, %v\n%+v\n%+v", against, err, err2, a, b)
		}
	}
	for k := range streamed.shelf.cache.entries {
		if k.kind == kindCurves || k.kind == kindTop || k.kind == kindRows && k.model != names {
			t.Errorf("kept in memory: %+v", k)
		}
	}
}

func sameFloats(a, b []float32) bool {
	return slices.EqualFunc(a, b, func(x, y float32) bool { return x == y || x != x && y != y })
}

// A part of the samples is theirs alone, with the curves of the whole run over all and over classes.
func TestSampled(t *testing.T) {
	r := one(t, small())
	if r.Sampled(57) != r {
		t.Error("a run that fits is not itself")
	}
	part := r.Sampled(9)
	if part.Len() != 9 || !strings.Contains(strings.Join(part.Document().Notes, " "), "9 of the 57 samples are here") {
		t.Errorf("%d samples, notes %q", part.Len(), part.Document().Notes)
	}
	all, err := r.Samples()
	if err != nil {
		t.Fatal(err)
	}
	some, err := part.Samples()
	if err != nil || some.Done != 9 {
		t.Fatalf("%d are there, %v", some.Done, err)
	}
	for m := range r.models {
		whole, err := r.Curves(m, 1)
		got, err2 := part.Curves(m, 1)
		top, err3 := r.Top(m)
		gotTop, err4 := part.Top(m)
		if err != nil || err2 != nil || err3 != nil || err4 != nil {
			t.Fatal(err, err2, err3, err4)
		}
		for i := range 9 {
			at := i * 57 / 9
			if some.IDs[i] != all.IDs[at] || some.Labels[i] != all.Labels[at] ||
				!sameFloats(got[i*r.e:(i+1)*r.e], whole[at*r.e:(at+1)*r.e]) ||
				!slices.Equal(gotTop[i*r.e:(i+1)*r.e], top[at*r.e:(at+1)*r.e]) {
				t.Errorf("model %d, sample %d is not sample %d of the run", m, i, at)
			}
		}
	}
	for _, set := range []api.Set{{}, {Label: new(int)}} {
		a, err := r.Aggregate(t.Context(), api.AggregateRequest{Set: set})
		b, err2 := part.Aggregate(t.Context(), api.AggregateRequest{Set: set})
		if err != nil || err2 != nil || a.N != b.N || a.Curves[0].Mean[3] != b.Curves[0].Mean[3] {
			t.Errorf("curves of %v: %v, %v", set, err, err2)
		}
	}
}
