package dataset

import (
	"math/rand/v2"
	"sync"
	"testing"
	"testing/fstest"

	"nero/data/tensor"
)

// Pixels of a compressed file that is trusted are those of one that is read through, in any order and side by side.
func TestTrustedArrays(t *testing.T) {
	pixels := tensor.New(tensor.Uint8, 40, 9, 9)
	for i := range pixels.Raw {
		pixels.Raw[i] = byte(rand.Uint32())
	}
	whole := zipped(t, idxBytes(t, pixels))
	open := func(b []byte, trusted bool) (Dataset, error) {
		return OpenFS(fstest.MapFS{"x.gz": {Data: b}}, Spec{Format: "idx", Images: "x.gz", Trusted: trusted})
	}
	a, err := open(whole, false)
	if err != nil {
		t.Fatal(err)
	}
	b, err := open(whole, true)
	if err != nil {
		t.Fatal(err)
	}
	d, ok := b.(*arrays)
	if !ok || d.images.rest == nil || d.images.rest.have > 0 {
		t.Fatal("a trusted file was unpacked before anybody asked for it")
	}
	var g sync.WaitGroup
	for range 3 {
		g.Go(func() {
			for _, i := range rand.Perm(40) {
				x, err := a.Sample(i)
				y, err2 := b.Sample(i)
				if err != nil || err2 != nil || string(bytesOf(x)) != string(bytesOf(y)) {
					t.Errorf("sample %d differs: %v, %v", i, err, err2)
				}
			}
		})
	}
	g.Wait()
	if d.images.rest.from != nil {
		t.Error("what was unpacked is kept packed as well")
	}
	short := whole[:len(whole)/2]
	if _, err := open(short, false); err == nil {
		t.Error("half of a file was read through")
	}
	if b, err = open(short, true); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Sample(3); err != nil {
		t.Errorf("a sample that is there: %v", err)
	}
	_, err = b.Sample(39)
	wantError(t, err, "cut short", "bytes")
	if _, err := b.Sample(2); err != nil {
		t.Errorf("a sample that is there, after one that is not: %v", err)
	}
}

// bytesOf are the numbers of a sample, which are bytes.
func bytesOf(s Sample) []byte {
	var b []byte
	for _, x := range s.Value.Numbers() {
		b = append(b, byte(x))
	}
	return b
}
