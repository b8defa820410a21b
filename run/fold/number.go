package fold

import (
	"encoding/json"
	"math"
)

// Number is a float64 that JSON can carry: NaN and infinities are written as null and read back as NaN.
type Number float64

// MarshalJSON writes a finite number as such and anything else as null.
func (n Number) MarshalJSON() ([]byte, error) {
	if f := float64(n); math.IsNaN(f) || math.IsInf(f, 0) {
		return []byte("null"), nil
	}
	return json.Marshal(float64(n))
}

// UnmarshalJSON reads null as NaN.
func (n *Number) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*n = Number(math.NaN())
		return nil
	}
	return json.Unmarshal(b, (*float64)(n))
}
