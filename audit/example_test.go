package audit_test

import (
	"context"
	"fmt"

	"nero/audit"
	"nero/data/space"
)

// A check is a value: what it asks, what it needs, and a function that looks. Its findings say what is wrong and how
// wrong; how bad that is, the policy says.
func ExampleCheck() {
	bright := &audit.Check{
		Name: "bright", Doc: "Bright asks whether the first number of every answer is at most 1.",
		Run: func(ctx context.Context, p *audit.Pass) (any, error) {
			most := 0.0
			for i := range p.Subject.N {
				s, err := p.Sample(i)
				if err != nil {
					return nil, err
				}
				y, err := p.Subject.Predictor.Predict(ctx, []space.Value{s.Value})
				if err != nil {
					return nil, err
				}
				most = max(most, y[0].Numbers()[0])
			}
			p.Measure(audit.Number("largest first number", most, "").Against(1))
			return most, nil
		},
	}
	fmt.Println(audit.Validate([]*audit.Check{bright}))
	fmt.Println(bright.Summary())
	// Output:
	// <nil>
	// Bright asks whether the first number of every answer is at most 1.
}

// A policy is what a verdict goes by: the largest error, how sure the audit must be, and the share of inputs that may
// be worse.
func ExampleNewPolicy() {
	for _, preset := range []string{"research", "critical"} {
		p, err := audit.NewPolicy(preset, 0, 0)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(p.Preset, p.Threshold, p.Confidence, p.FailureRate)
	}
	// Output:
	// research 0.001 0.95 0.05
	// critical 1e-05 0.95 0.05
}
