package tape_test

import (
	"bytes"
	"errors"
	"testing"

	"nero/data/tensor"
	"nero/run/tape"
)

func example() *tape.Tape {
	t := tape.New(tape.Head{Plan: "abc", Shard: 3, Model: "m"})
	for _, p := range []tape.Place{{1, 0, 0}, {0, 1, 0}, {0, 0, 0}, {0, 0, 1}} {
		t.Keep(p, []tensor.Named{
			{Name: "y", Tensor: tensor.FromFloat32([]float32{float32(p.Call), float32(p.Block)}, 1, 2)},
			{Name: "n", Tensor: tensor.FromInt64([]int64{int64(p.Part)})},
		})
	}
	return t
}

func TestTape(t *testing.T) {
	b, err := example().Encode()
	if err != nil {
		t.Fatal(err)
	}
	got, err := tape.Decode(b)
	if err != nil {
		t.Fatal(err)
	}
	if got.Head != example().Head || got.Len() != 4 {
		t.Errorf("%+v of %d batches", got.Head, got.Len())
	}
	out, err := got.Find(tape.Place{Call: 0, Block: 1})
	if err != nil || len(out) != 2 || out[0].Name != "y" || !bytes.Equal(out[0].Raw,
		tensor.FromFloat32([]float32{0, 1}, 1, 2).Raw) {
		t.Errorf("%v, %v", out, err)
	}
	if _, err := got.Find(tape.Place{Call: 7}); err == nil {
		t.Error("an answer that was never kept")
	}
	again, err := got.Encode()
	if err != nil || !bytes.Equal(again, b) {
		t.Errorf("other bytes, %v", err)
	}
}

// Law: no change of a bit and no cut goes unnoticed.
func TestDamaged(t *testing.T) {
	b, err := example().Encode()
	if err != nil {
		t.Fatal(err)
	}
	for i := range b {
		bad := bytes.Clone(b)
		bad[i] ^= 1
		if _, err := tape.Decode(bad); !errors.Is(err, tape.ErrDamaged) {
			t.Fatalf("byte %d: %v", i, err)
		}
		if _, err := tape.Decode(b[:i]); !errors.Is(err, tape.ErrDamaged) {
			t.Fatalf("cut at %d: %v", i, err)
		}
	}
}

// Whatever is decoded is what its bytes say, and is encoded again to them.
func FuzzDecode(f *testing.F) {
	b, err := example().Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b[:len(b)-32])
	f.Add([]byte("nero tape 1\n\x02\x00\x00\x00\x00\x00\x00\x00{}\xff\xff\xff\xff\xff\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, b []byte) {
		b = tape.Sealed(b) // else no change would come past the digest
		x, err := tape.Decode(b)
		if err != nil {
			if !errors.Is(err, tape.ErrDamaged) {
				t.Error(err)
			}
			return
		}
		again, err := x.Encode()
		if err != nil {
			t.Fatal(err)
		}
		y, err := tape.Decode(again)
		if err != nil || y.Len() != x.Len() || y.Head != x.Head {
			t.Errorf("another tape, %v", err)
		}
	})
}
