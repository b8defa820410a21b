package variance_test

import (
	"context"

	"nero/audit"
	"nero/audit/check/variance"
)

// keep is a Run that stores the result of the check.
func keep(into **variance.Result) func(context.Context, *audit.Pass) (any, error) {
	return func(_ context.Context, p *audit.Pass) (any, error) {
		*into = audit.ResultOf[*variance.Result](p, variance.Check)
		return *into, nil
	}
}
