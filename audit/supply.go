package audit

import "fmt"

// Supply is how many inputs there are to audit, so that nobody is told to use more of them than there are. The zero
// Supply says that nobody counted.
type Supply struct {
	// Study counts those that the study takes, Data those that the data holds, which is no less.
	Study, Data int
}

// without is the supply without so many copies of other inputs.
func (s Supply) without(copies int) Supply {
	return Supply{max(0, s.Study-copies), max(0, s.Data-copies)}
}

// has reports whether there are n inputs.
func (s Supply) has(n int) bool { return s.Data == 0 || n <= s.Data }

// Would says that about n inputs would decide something, and what is in the way of taking so many.
func (s Supply) Would(n int) string {
	t := fmt.Sprintf("about %d inputs would decide", n)
	switch {
	case !s.has(n):
		return fmt.Sprintf("%s, and the data has %d: it takes more data", t, s.Data)
	case s.Study > 0 && n > s.Study:
		return fmt.Sprintf("%s; the study takes %d of the %d that the data has", t, s.Study, s.Data)
	}
	return t
}

// Audit says how to audit n inputs, with the flags that do it, or that there are not so many.
func (s Supply) Audit(n int) string {
	switch {
	case !s.has(n):
		return fmt.Sprintf("add data, for about %d inputs would decide and there are %d", n, s.Data)
	case s.Study > 0 && n > s.Study:
		return fmt.Sprintf("audit %d inputs (--limit %d --audit-samples %d), which would decide", n, n, n)
	}
	return fmt.Sprintf("audit %d inputs (--audit-samples %d), which would decide", n, n)
}

// More says what helps where more inputs would decide, n in all: to take them, or to get them.
func (s Supply) More(n, more int) string {
	if s.has(n) {
		return fmt.Sprintf("%d more inputs would decide", more)
	}
	return fmt.Sprintf("%d more inputs would decide, and the data has %d in all: add some", more, s.Data)
}
