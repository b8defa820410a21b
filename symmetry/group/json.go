package group

import (
	"encoding/json"
	"math"
)

// axisJSON is an axis as JSON has it: a bound that is not there is null, because JSON has no infinities.
type axisJSON struct {
	Name     string   `json:"name"`
	Unit     string   `json:"unit"`
	Min      *float64 `json:"min"`
	Max      *float64 `json:"max"`
	Periodic bool     `json:"periodic"`
}

// MarshalJSON writes an infinite bound as null.
func (a Axis) MarshalJSON() ([]byte, error) {
	j := axisJSON{Name: a.Name, Unit: a.Unit, Periodic: a.Periodic}
	if !math.IsInf(a.Min, -1) {
		j.Min = &a.Min
	}
	if !math.IsInf(a.Max, 1) {
		j.Max = &a.Max
	}
	return json.Marshal(j)
}

// UnmarshalJSON reads null, or a bound that is not there, as the infinity on that side.
func (a *Axis) UnmarshalJSON(b []byte) error {
	var j axisJSON
	if err := json.Unmarshal(b, &j); err != nil {
		return err
	}
	*a = Axis{Name: j.Name, Unit: j.Unit, Min: math.Inf(-1), Max: math.Inf(1), Periodic: j.Periodic}
	if j.Min != nil {
		a.Min = *j.Min
	}
	if j.Max != nil {
		a.Max = *j.Max
	}
	return nil
}
