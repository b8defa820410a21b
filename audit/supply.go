package audit

import "fmt"

// Supply is how many inputs there are to audit, so that nobody is told to use more of them than there are. The zero
// Supply says that nobody counted.
type Supply struct {
	// Study counts those that the study takes, Data those that the data holds for it, which is no less.
	Study, Data int
	// Classes is of how many classes the study takes the same number, so that it takes multiples of it; 0 for one that
	// does not balance them.
	Classes int
	// given is how many were drawn, copies among them; each content counts once
	given, copies int
}

// without is the supply of an audit that drew so many samples, copies among them.
func (s Supply) without(given, copies int) Supply {
	s.given, s.copies = given, copies
	return s
}

// study and data are how many inputs there are without the copies that were seen.
func (s Supply) study() int { return max(0, s.Study-s.copies) }
func (s Supply) data() int  { return max(0, s.Data-s.copies) }

// has reports whether there are n inputs.
func (s Supply) has(n int) bool { return s.Data == 0 || n <= s.data() }

// asked is how many samples are to be drawn for n inputs that differ: more, where some of those drawn were copies.
func (s Supply) asked(n int) int {
	if s.copies <= 0 || s.given <= s.copies {
		return n
	}
	differ := s.given - s.copies
	k := (n*s.given + differ - 1) / differ
	if s.Data > 0 {
		k = min(k, s.Data)
	}
	return max(n, k)
}

// limit is the limit of a study that takes n samples.
func (s Supply) limit(n int) int {
	if s.Classes > 1 {
		n += (s.Classes - n%s.Classes) % s.Classes
	}
	return n
}

// Would says that about n inputs would decide something, and what is in the way of taking so many.
func (s Supply) Would(n int) string {
	t := fmt.Sprintf("about %d inputs would decide", n)
	switch {
	case !s.has(n):
		return fmt.Sprintf("%s, and the data has %d: it takes more data", t, s.data())
	case s.study() > 0 && n > s.study():
		return fmt.Sprintf("%s; the study takes %d of the %d that the data has", t, s.study(), s.data())
	}
	return t
}

// Audit says how to audit n inputs, with the flags that do it, or that there are not so many.
func (s Supply) Audit(n int) string {
	if !s.has(n) {
		return fmt.Sprintf("add data, for about %d inputs would decide and there are %d", n, s.data())
	}
	k := s.asked(n)
	flags := fmt.Sprintf("--audit-samples %d", k)
	if s.Study > 0 && k > s.Study {
		flags = fmt.Sprintf("--limit %d %s", s.limit(k), flags)
	}
	if k > n {
		return fmt.Sprintf("audit %d inputs (%s, for %d in %d were copies), which would decide", n, flags, s.copies,
			s.given)
	}
	return fmt.Sprintf("audit %d inputs (%s), which would decide", n, flags)
}

// More says what helps where more inputs would decide, n in all: to take them, or to get them.
func (s Supply) More(n, more int) string {
	if s.has(n) {
		return fmt.Sprintf("%d more inputs would decide", more)
	}
	return fmt.Sprintf("%d more inputs would decide, and the data has %d in all: add some", more, s.data())
}
