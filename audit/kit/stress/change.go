package stress

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"nero/data/space"
)

// Change makes a list of numbers into a strange one. It must not Change its argument.
type Change func(x []float64) []float64

// Times multiplies every number.
func Times(c float64) Change {
	return func(x []float64) []float64 {
		y := make([]float64, len(x))
		for i, v := range x {
			y[i] = c * v
		}
		return y
	}
}

// Constant puts the mean of the numbers everywhere.
func Constant(x []float64) []float64 {
	var sum float64
	for _, v := range x {
		sum += v
	}
	return slices.Repeat([]float64{sum / float64(max(len(x), 1))}, len(x))
}

// Changed is v with its numbers changed, field by field of a record. The fields named as whole stay: half an atom is no
// strange input but none, and the model does not read it. The error wraps errors.ErrUnsupported for values without
// numbers, such as masks, and for records of nothing else than whole numbers.
func Changed(v space.Value, f Change, whole ...string) (space.Value, error) {
	if names, fields := space.Fields(v); names != nil {
		o := &space.Record{Names: names, Values: slices.Clone(fields)}
		some := false
		for i, x := range fields {
			if slices.Contains(whole, names[i]) {
				continue
			}
			y, err := Changed(x, f)
			if errors.Is(err, errors.ErrUnsupported) {
				continue
			} else if err != nil {
				return nil, fmt.Errorf("field %s: %w", names[i], err)
			}
			o.Values[i], some = y, true
		}
		if !some {
			return nil, fmt.Errorf("no field of %s has numbers to change: %w", strings.Join(names, ", "),
				errors.ErrUnsupported)
		}
		return o, nil
	}
	if _, ok := v.(space.Linear); !ok {
		return nil, fmt.Errorf("values of kind %s have no numbers to change: %w", v.Kind(), errors.ErrUnsupported)
	}
	if slices.Contains(whole, "") {
		return nil, fmt.Errorf("the model reads whole numbers: %w", errors.ErrUnsupported)
	}
	x := v.Numbers()
	return v.With(f(x))
}
