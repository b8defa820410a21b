package audit

import "testing"

// A number of samples that is named as a remedy is one that works: drawn with as many copies as before it gives enough
// inputs, and a study that balances its classes can take it.
func TestSupply(t *testing.T) {
	for _, c := range []struct {
		name          string
		supply        Supply
		given, copies int
		n             int
		want          string
	}{
		{"nobody counted", Supply{}, 60, 0, 72, "audit 72 inputs (--audit-samples 72), which would decide"},
		{
			"enough",
			Supply{Study: 300, Data: 300},
			60, 0, 72,
			"audit 72 inputs (--audit-samples 72), which would decide",
		},
		{
			"limited",
			Supply{Study: 60, Data: 300},
			60, 0, 72,
			"audit 72 inputs (--limit 72 --audit-samples 72), which would decide",
		},
		{
			"limited and balanced",
			Supply{Study: 60, Data: 300, Classes: 10},
			60, 0, 72,
			"audit 72 inputs (--limit 80 --audit-samples 72), which would decide",
		},
		{
			"copies",
			Supply{Study: 300, Data: 300},
			60, 10, 72,
			"audit 72 inputs (--audit-samples 87, for 10 in 60 were copies), which would decide",
		},
		{
			"copies in a limited study",
			Supply{Study: 80, Data: 300, Classes: 5},
			60, 10, 72,
			"audit 72 inputs (--limit 90 --audit-samples 87, for 10 in 60 were copies), which would decide",
		},
		{
			"all of the data, copies among them",
			Supply{Study: 80, Data: 80},
			60, 8, 72,
			"audit 72 inputs (--audit-samples 80, for 8 in 60 were copies), which would decide",
		},
		{
			"none are left",
			Supply{Study: 80, Data: 80},
			80, 9, 72,
			"add data, for about 72 inputs would decide and there are 71",
		},
	} {
		if got := c.supply.without(c.given, c.copies).Audit(c.n); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
