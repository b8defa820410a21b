package dataset

import (
	"math"
	"slices"
	"testing"
	"testing/fstest"

	"pgregory.net/rapid"

	"nero/data/tensor"
)

func drawLabels(t *rapid.T) []int {
	return rapid.SliceOfN(rapid.IntRange(-1, 4), 1, 60).Draw(t, "labels")
}

// sizes counts the members of each class.
func sizes(labels, chosen []int) map[int]int {
	n := map[int]int{}
	for _, i := range chosen {
		n[labels[i]]++
	}
	return n
}

func indexes(n int) []int {
	x := make([]int, n)
	for i := range x {
		x[i] = i
	}
	return x
}

func TestSelectUniform(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 50).Draw(t, "n")
		limit := rapid.IntRange(0, 60).Draw(t, "limit")
		seed := rapid.Uint64().Draw(t, "seed")
		got, err := Select(nil, n, limit, false, seed)
		if err != nil {
			t.Fatal(err)
		}
		want := n
		if limit > 0 {
			want = min(n, limit)
		}
		if len(got) != want || !slices.IsSorted(got) || len(slices.Compact(slices.Clone(got))) != want || got[0] < 0 ||
			got[want-1] >= n {
			t.Fatalf("chose %v of %d, limit %d", got, n, limit)
		}
		if limit > 0 && limit < n {
			larger, err := Select(nil, n, limit+1, false, seed)
			if err != nil {
				t.Fatal(err)
			}
			for _, i := range got {
				if !slices.Contains(larger, i) {
					t.Fatalf("%v is not contained in %v", got, larger)
				}
			}
		}
	})
}

// Every sample is chosen about equally often: the count of each is binomial(4000, 3/10), standard deviation 29.
func TestSelectIsUnbiased(t *testing.T) {
	count := make([]int, 10)
	for seed := range uint64(4000) {
		got, err := Select(nil, 10, 3, false, seed)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range got {
			count[i]++
		}
	}
	for i, c := range count {
		if c < 1200-150 || c > 1200+150 {
			t.Errorf("sample %d was chosen %d times of 4000, want about 1200", i, c)
		}
	}
}

func TestSelectBalanced(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		labels := drawLabels(t)
		limit := rapid.IntRange(0, 30).Draw(t, "limit")
		seed := rapid.Uint64().Draw(t, "seed")
		have := sizes(labels, indexes(len(labels)))
		delete(have, -1)
		got, err := Select(labels, len(labels), limit, true, seed)
		if len(have) == 0 {
			wantError(t, err, "balance needs labels")
			return
		}
		smallest := len(labels)
		for _, n := range have {
			smallest = min(smallest, n)
		}
		each := smallest
		if limit > 0 {
			each = limit / len(have)
		}
		if each == 0 {
			wantError(t, err, "less than one sample for each")
			return
		}
		if each > smallest {
			wantError(t, err, "not enough samples", "has")
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != each*len(have) {
			t.Fatalf("%d chosen, want %d", len(got), each*len(have))
		}
		// Any beginning is balanced: counts differ by at most one, and whole rounds not at all.
		for p := range got {
			part := sizes(labels, got[:p+1])
			lo, hi := len(got), 0
			for l := range have {
				lo, hi = min(lo, part[l]), max(hi, part[l])
			}
			if hi-lo > 1 || (p+1)%len(have) == 0 && hi != lo {
				t.Fatalf("the first %d of %v have %v samples of each class", p+1, got, part)
			}
		}
		if part := sizes(labels, got); part[-1] != 0 {
			t.Fatalf("%d samples without a label were chosen", part[-1])
		}
		unique := slices.Clone(got)
		slices.Sort(unique)
		if len(slices.Compact(unique)) != len(got) {
			t.Fatalf("%v has repeats", got)
		}
		again, err := Select(labels, len(labels), limit, true, seed)
		if err != nil || !slices.Equal(got, again) {
			t.Fatalf("%v, then %v, %v", got, again, err)
		}
		if each > 1 {
			fewer, err := Select(labels, len(labels), len(have)*(each-1), true, seed)
			if err != nil || !slices.Equal(fewer, got[:len(fewer)]) {
				t.Fatalf("%v is not the beginning of %v: %v", fewer, got, err)
			}
		}
	})
}

// Whoever asks for a number gets it: as even over the classes as it can be, and more of it only adds samples.
func TestEven(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		labels := drawLabels(t)
		limit := rapid.IntRange(1, 30).Draw(t, "limit")
		seed := rapid.Uint64().Draw(t, "seed")
		have := sizes(labels, indexes(len(labels)))
		delete(have, -1)
		got, err := Even(labels, limit, seed)
		if len(have) == 0 || limit < len(have) {
			wantError(t, err)
			return
		}
		each, rest := limit/len(have), limit%len(have)
		small, more := false, 0
		for _, n := range have {
			small = small || n < each
			if n > each {
				more++
			}
		}
		if small || more < rest {
			wantError(t, err, "not enough samples")
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		part := sizes(labels, got)
		for l := range have {
			if part[l] != each && part[l] != each+1 {
				t.Fatalf("%v of each class, want %d or one more", part, each)
			}
		}
		if len(got) != limit || part[-1] != 0 {
			t.Fatalf("%d chosen, %v of each class, want %d in all", len(got), part, limit)
		}
		unique := slices.Clone(got)
		slices.Sort(unique)
		if len(slices.Compact(unique)) != len(got) {
			t.Fatalf("%v has repeats", got)
		}
		for n := len(have); n < limit; n++ {
			fewer, err := Even(labels, n, seed)
			if err != nil || !slices.Equal(fewer, got[:n]) {
				t.Fatalf("%v, %v, want the beginning of %v", fewer, err, got)
			}
		}
		whole, err := Select(labels, len(labels), each*len(have), true, seed)
		if err != nil || !slices.Equal(whole, got[:len(whole)]) {
			t.Fatalf("%v, %v, want the beginning of %v", whole, err, got)
		}
	})
	_, err := Even([]int{0, 1}, 0, 1)
	wantError(t, err, "want a positive number")
}

// A run's choice must be the same on every machine and with every release: these are kept, not derived.
func TestSelectStaysTheSame(t *testing.T) {
	labels := []int{0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2}
	got, err := Select(labels, 12, 6, true, 7)
	if err != nil || !slices.Equal(got, []int{0, 7, 8, 3, 10, 5}) {
		t.Errorf("balanced choice %v, %v", got, err)
	}
	got, err = Select(nil, 12, 6, false, 7)
	if err != nil || !slices.Equal(got, []int{1, 3, 5, 7, 10, 11}) {
		t.Errorf("choice %v, %v", got, err)
	}
	if other, err := Select(nil, 12, 6, false, 8); err != nil || slices.Equal(got, other) {
		t.Errorf("seeds 7 and 8 both choose %v, %v", other, err)
	}
}

func TestSelectRefuses(t *testing.T) {
	for _, c := range []struct {
		labels   []int
		n, limit int
		balance  bool
		want     string
	}{
		{nil, 0, 0, false, "no samples"},
		{nil, 3, -1, false, "limit is -1"},
		{[]int{1}, 3, 1, false, "1 labels for 3"},
		{nil, 3, 0, true, "needs labels"},
		{[]int{0, 0, 0, 7}, 4, 4, true, "class 7 has 1; lower limit to 2"},
		{[]int{0, 1, 2}, 3, 2, true, "raise it to 3"},
	} {
		_, err := Select(c.labels, c.n, c.limit, c.balance, 1)
		wantError(t, err, c.want)
	}
}

func TestSubset(t *testing.T) {
	fsys := fstest.MapFS{
		"i": {Data: idxBytes(t, bytesTensor(4, 2, 3))},
		"l": {Data: []byte("file,label\n0,cat\n1,dog\n3,cat\n")},
	}
	ds, err := OpenFS(fsys, Spec{Images: "i", Labels: "l"})
	if err != nil {
		t.Fatal(err)
	}
	v, err := Subset(ds, []int{3, 1})
	if err != nil {
		t.Fatal(err)
	}
	if v.Len() != 2 || !slices.Equal(v.IDs(), []string{"3", "1"}) || !slices.Equal(v.Labels(), []int{0, 1}) ||
		!slices.Equal(v.Files(), ds.Files()) || !slices.Equal(v.Info().Classes, []string{"cat", "dog"}) ||
		len(v.Info().Notes) != 1 {
		t.Errorf("view has %v %v %v %v %v", v.IDs(), v.Labels(), v.Files(), v.Info().Classes, v.Info().Notes)
	}
	if c, h, w := shapeOf(t, v); c != 1 || h != 2 || w != 3 {
		t.Errorf("shape %d %d %d", c, h, w)
	}
	s, err := v.Sample(0)
	if err != nil || s.ID != "3" || s.Label != 0 {
		t.Errorf("sample 0 is %+v, %v", s, err)
	}
	if !slices.Equal(imageOf(t, v, 0).Pix, imageOf(t, ds, 3).Pix) {
		t.Error("sample 0 of the view is not sample 3")
	}
	if v, err := Subset(ds, []int{2}); err != nil || v.Labels() != nil {
		t.Errorf("labels of an unlabelled sample: %v, %v", v.Labels(), err)
	}
	for _, bad := range [][]int{{4}, {-1}, {1, 1}} {
		_, err := Subset(ds, bad)
		wantError(t, err, "subset")
	}
	_, err = v.Sample(2)
	wantError(t, err, "does not exist")
}

func TestCheckLabels(t *testing.T) {
	images := idxBytes(t, bytesTensor(3, 2, 2))
	for _, c := range []struct {
		labels []byte
		want   []string
	}{
		{[]byte{0, 9, 3}, nil},
		{nil, []string{"no labels"}},
		{[]byte{0, 10, 12}, []string{`sample "1" has label 10`, "classes 0 to 9", "2 of 3"}},
	} {
		fsys := fstest.MapFS{"i": {Data: images}}
		spec := Spec{Images: "i"}
		if c.labels != nil {
			fsys["l"] = &fstest.MapFile{Data: idxBytes(t, labelTensor(c.labels...))}
			spec.Labels = "l"
		}
		ds, err := OpenFS(fsys, spec)
		if err != nil {
			t.Fatal(err)
		}
		err = CheckLabels(ds, 10)
		if c.want == nil {
			if err != nil {
				t.Error(err)
			}
			continue
		}
		wantError(t, err, c.want...)
	}
	some := tensor.New(tensor.Int8, 3)
	encode(some, 1, -1)
	ds, err := OpenFS(fstest.MapFS{"i": {Data: images}, "l": {Data: idxBytes(t, some)}}, Spec{Images: "i", Labels: "l"})
	if err != nil {
		t.Fatal(err)
	}
	wantError(t, CheckLabels(ds, 10), `sample "1" has no label`)
}

// draws is a source of listed numbers.
type draws []uint64

func (d *draws) Uint64() uint64 {
	v := (*d)[0]
	*d = (*d)[1:]
	return v
}

// 2^64 is 6 modulo 10: the last six numbers are drawn again, or 0 to 5 would come more often.
func TestBelowRepeatsTheLastBlock(t *testing.T) {
	for _, c := range []struct {
		draws draws
		want  uint64
	}{
		{draws{math.MaxUint64, math.MaxUint64 - 5, 27}, 7},
		{draws{math.MaxUint64 - 6, 27}, 9},
	} {
		if got := below(&c.draws, 10); got != c.want {
			t.Errorf("%d, want %d", got, c.want)
		}
	}
	if got := below(&draws{math.MaxUint64}, 16); got != 15 {
		t.Errorf("%d, want 15", got)
	}
}
