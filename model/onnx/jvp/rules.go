package jvp

import "maps"

// rule is what is known of an operator.
type rule struct {
	// names of the attributes that the rule takes into account, separated by spaces
	attrs string
	// so many leading inputs may carry tangents; -1 for all
	inputs int
	// so many inputs are there in a sound file
	least int
	// push returns the tangents of the outputs; "" for those that it does not know.
	push func(c *call) ([]string, error)
}

// flat are operators whose derivative is zero wherever it exists, or whose outputs are no numbers of a floating-point
// type.
var flat = map[string]bool{
	"Shape": true, "Size": true, "NonZero": true, "ArgMax": true, "ArgMin": true, "NonMaxSuppression": true,
	"Hardmax": true,
	"Equal":   true, "Greater": true, "GreaterOrEqual": true, "Less": true, "LessOrEqual": true, "Not": true,
	"And": true,
	"Or":  true,
	"Xor": true, "IsNaN": true, "IsInf": true, "Sign": true, "Floor": true, "Ceil": true, "Round": true,
	"RandomNormalLike": true, "RandomUniformLike": true, "EyeLike": true,
}

// rules are all operators that tangents pass.
func rules() map[string]rule {
	all := map[string]rule{}
	for _, group := range []map[string]rule{
		unaryRules(), arithmeticRules(), moveRules(), reduceRules(), normRules(),
		productRules(), poolRules(), recurrentRules(),
	} {
		maps.Copy(all, group)
	}
	return all
}

// one wraps the tangent of an only output.
func one(t string) ([]string, error) { return []string{t}, nil }
