package audit

import (
	"math"

	"nero/audit/document"
)

// Severity says how much a finding matters. A policy gives it; checks do not.
type Severity = document.Severity

// The severities, the worst first.
const (
	High   = document.High
	Medium = document.Medium
	Low    = document.Low
	Note   = document.Note
)

// Severity weighs a finding. What is wrong whatever the numbers say (outputs that are not finite or change their shape,
// answers that depend on their company, actions that are no representations) is high. A violation has the severity of
// its level: broken is high, approximate medium, anything smaller low, and one step more in the contexts critical and
// safety. What the test itself may have caused is low, and what only limits the audit is a note. A finding without a
// number that can be held against a limit has the severity of its category alone.
func (p *Policy) Severity(f Finding) Severity {
	if c := f.Category.Severity; c != "" {
		return c
	}
	s := Low
	switch size(f) {
	case LevelBroken:
		s = High
	case LevelApproximate:
		s = Medium
	case LevelUndefined, LevelPrecision, LevelExact, LevelExcellent:
	}
	if s != High && (p.Preset == "critical" || p.Preset == "safety") {
		if s == Medium {
			return High
		}
		return Medium
	}
	return s
}

// size is the level of the first relative number of a finding that is held against a limit.
func size(f Finding) Level {
	for _, e := range f.Evidence {
		if e.Unit == "" && !math.IsNaN(e.Limit) {
			return LevelOf(e.Value, float32Roundoff)
		}
	}
	return LevelUndefined
}
