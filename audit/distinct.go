package audit

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"nero/data/dataset"
	"nero/data/space"
)

// Distinct leaves a subject with inputs that differ and returns which of them stay, by their index until now: the first
// of each that are equal number by number, whatever their names and labels. What an audit says of other inputs rests on
// how many independent ones it has seen, and a copy says nothing that the first did not. A sample that cannot be read
// stays, so that the error is reported where it is used. Given is how many there were.
//
// An audit does this by itself; who needs the same inputs elsewhere does it before.
func (s *Subject) Distinct() []int {
	if s.Given > 0 {
		kept := make([]int, s.N)
		for i := range kept {
			kept[i] = i
		}
		return kept
	}
	seen := map[[sha256.Size]byte]bool{}
	var kept []int
	for i := range s.N {
		x, err := s.Sample(i)
		if err == nil {
			h := contentHash(x.Value)
			if seen[h] {
				continue
			}
			seen[h] = true
		}
		kept = append(kept, i)
	}
	s.Given = s.N
	if len(kept) < s.N {
		read := s.Sample
		s.N = len(kept)
		s.Sample = func(i int) (dataset.Sample, error) {
			if i < 0 || i >= len(kept) {
				return dataset.Sample{}, fmt.Errorf("sample %d of %d", i, len(kept))
			}
			return read(kept[i])
		}
	}
	return kept
}

// contentHash is that of the numbers of a value with their types and shapes.
func contentHash(v space.Value) (sum [sha256.Size]byte) {
	h := sha256.New()
	word := func(n int) {
		var b [8]byte
		binary.LittleEndian.PutUint64(b[:], uint64(n))
		h.Write(b[:])
	}
	text := func(s string) { word(len(s)); h.Write([]byte(s)) }
	text(string(v.Kind()))
	for _, p := range v.Parts() {
		text(p.Name)
		word(int(p.DType))
		word(len(p.Shape))
		for _, d := range p.Shape {
			word(d)
		}
		word(len(p.Raw))
		h.Write(p.Raw)
	}
	h.Sum(sum[:0])
	return sum
}

// copies says how many of the inputs that were given are copies of others; "" for none.
func (r *Report) copies() string {
	if r.Given <= r.Distinct || r.Distinct == 0 {
		return ""
	}
	return fmt.Sprintf("%d inputs are %d different ones: copies count once", r.Given, r.Distinct)
}
