package cli

import (
	"fmt"
	"strconv"
	"strings"

	"nero/run/job"
)

// parseContract reads ERROR:RATE or ERROR:RATE:CONFIDENCE.
func parseContract(s string) (job.Contract, error) {
	wrong := func(why string) (job.Contract, error) {
		return job.Contract{},
			fmt.Errorf("--contract %q: %s; want ERROR:RATE or ERROR:RATE:CONFIDENCE, such as 1e-3:0.05:0.95", s, why)
	}
	words := strings.Split(s, ":")
	if len(words) != 2 && len(words) != 3 {
		return wrong(fmt.Sprintf("%d numbers", len(words)))
	}
	x := [3]float64{2: 0.95}
	for i, w := range words {
		v, err := strconv.ParseFloat(strings.TrimSpace(w), 64)
		if err != nil {
			return wrong(strconv.Quote(w) + " is not a number")
		}
		x[i] = v
	}
	switch c := (job.Contract{Error: x[0], Rate: x[1], Confidence: x[2]}); {
	case !(c.Error > 0) || c.Error > 1e300:
		return wrong("the error must be above 0")
	case !(0 < c.Rate && c.Rate < 1):
		return wrong("the rate must be above 0 and below 1")
	case !(0 < c.Confidence && c.Confidence < 1):
		return wrong("the confidence must be above 0 and below 1")
	default:
		return c, nil
	}
}
