package metric

import "nero/data/space"

// What the metrics compare: each names one of these.
var (
	numeric = space.LinearKinds()
	scores  = of(&space.Scores{})
	masks   = of(&space.Mask{})
	boxes   = of(&space.Boxes{})
	fields  = of(&space.Field{})
	rowed   = of(&space.Rows{}, &space.Pairs{})
	series  = of(&space.Field{}, &space.Rows{}, &space.Pairs{}, &space.Signal{}, &space.Frames{})
)

// of are the kinds of values like these.
func of(like ...space.Value) []space.Kind {
	kinds := make([]space.Kind, len(like))
	for i, v := range like {
		kinds[i] = v.Kind()
	}
	return kinds
}
