package group

import (
	"encoding/json"
	"math"
)

// axisJSON is an axis as JSON has it: a bound that is not there is null, because JSON has no infinities.
type axisJSON struct {
	Name     string   `json:"name"`
	Unit     string   `json:"unit"`
	Kind     *Kind    `json:"kind,omitempty"`
	Min      *float64 `json:"min"`
	Max      *float64 `json:"max"`
	Periodic bool     `json:"periodic"`
}

// MarshalJSON writes an infinite bound as null and leaves out a kind that is not there.
func (a Axis) MarshalJSON() ([]byte, error) {
	j := axisJSON{Name: a.Name, Unit: a.Unit, Kind: a.Kind, Periodic: a.Periodic}
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
	*a = Axis{Name: j.Name, Unit: j.Unit, Kind: j.Kind, Min: math.Inf(-1), Max: math.Inf(1), Periodic: j.Periodic}
	// The kinds of this package are told apart by where they are.
	for _, k := range Kinds() {
		if j.Kind != nil && k.Name == j.Kind.Name {
			a.Kind = k
		}
	}
	if j.Min != nil {
		a.Min = *j.Min
	}
	if j.Max != nil {
		a.Max = *j.Max
	}
	return nil
}
