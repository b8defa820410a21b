package check_test

import (
	"testing"

	"nero/audit"
	"nero/audit/audittest"
	"nero/audit/check"
	"nero/data/space"
	"nero/symmetry/action"
	"nero/symmetry/group/catalog"
)

// BenchmarkAudit audits 28×28 pictures at 72 angles with a model that costs nothing: what is left is the audit's own
// work. One operation is one input with its whole orbit and its resampling floor, 143 predictions.
func BenchmarkAudit(b *testing.B) {
	g := catalog.SO2()
	a, err := action.NewImage(g, space.Spec{Kind: space.KindImage, Shape: []int{1, 28, 28}}, action.Options{})
	if err != nil {
		b.Fatal(err)
	}
	free := audittest.Pointwise(func(v space.Value) space.Value {
		m := v.(*space.Image) //nolint:errcheck // pictures only
		return &space.Scores{Val: append([]float64{}, m.Pix[400:410]...)}
	})
	s := &audit.Subject{
		Name: "free", Predictor: free, Plan: audittest.Plan(b, a, action.Trivial{G: g}, audittest.Angles(72)...),
		N: b.N, Sample: audittest.Pictures(b.N, 28, 28, 1),
	}
	b.ReportAllocs()
	audittest.Audit(b, audittest.Fixture{Subject: s}, check.All()...)
}
