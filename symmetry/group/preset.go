package group

import (
	"fmt"
	"math"
	"strings"
)

// The sizes of the preset plans.
const (
	MaxPreset    = 1000 // finite groups up to here are listed whole
	presetAngles = 72   // every 5 degrees
)

// Preset is the plan for a group when nobody chooses one, within a window (nil for the default), and what it is in
// words: every element of a finite group of at most 1000; else a grid of 72 angles, both mirrors, shifts 1 px apart, 13
// factors and 9 values of other numbers; with 24 angles, 7 factors and 5 values if that would be more than 1000
// elements; else as many of low discrepancy. Shifts are never spaced wider, because a model whose strides divide the
// spacing would look invariant.
func Preset(g Group, window [][2]float64) ([]Element, string, error) {
	if n := order(g); n > 0 && n <= MaxPreset && window == nil {
		es, err := Enumerate(g)
		if n == 1 {
			return es, "the identity alone", err
		}
		return es, fmt.Sprintf("all %d elements of %s", n, g.Name()), err
	}
	if p, ok := g.(Presetter); ok {
		return p.Preset(window)
	}
	return BoxPreset(g, window)
}

// BoxPreset is [Preset] for a group whose coordinates are independent.
func BoxPreset(g Group, window [][2]float64) ([]Element, string, error) {
	s, err := Spans(g, window)
	if err != nil {
		return nil, "", err
	}
	for _, fine := range []bool{true, false} {
		counts, total := make([]int, len(s)), 1
		for i, x := range s {
			counts[i] = x.preset(fine)
			total = min(total*counts[i], MaxElements+1) // no overflow: both are small
		}
		if total <= MaxPreset {
			es, err := Grid(g, counts, window)
			return es, GridText(g, counts, window), err
		}
	}
	n := int(min(MaxPreset, Capacity(s)))
	es, err := LowDiscrepancy(g, n, window)
	return es, fmt.Sprintf("low-discrepancy sample of %d elements: %s", n, WindowText(g, window)), err
}

// preset is the number of values on an axis.
func (s Span) preset(fine bool) int {
	most := 5
	switch {
	case s.Lo == s.Hi:
		return 1
	case s.Switch():
		return 2
	case (s.Form() == FormPixels || s.Form() == FormSamples) && s.Step > 0:
		_, n := s.Ticks()
		return int(min(n, MaxElements))
	case s.Form() == FormPixels:
		return int(min(math.Ceil(s.Hi-s.Lo), MaxElements)) + 1
	case s.Form() == FormAngle && s.Full() && fine:
		most = presetAngles
	case s.Form() == FormAngle && s.Full():
		most = 24
	case s.Form() == FormAngle && fine:
		most = 37
	case s.Form() == FormAngle:
		most = 13
	case s.log() && fine:
		most = 13
	case s.log():
		most = 7
	case fine:
		most = 9
	}
	if s.Step <= 0 {
		return most
	}
	_, all := s.Ticks()
	m := int(all)
	for n := min(most, m); n > 1; n-- {
		if s.Full() && m%n == 0 || !s.Full() && (m-1)%(n-1) == 0 {
			return n
		}
	}
	return 1
}

// GridText describes a [Grid] in words: "uniform grid of 72 angles", or with the window of what is not a full circle.
func GridText(g Group, counts []int, window [][2]float64) string {
	s, err := Spans(g, window)
	if err != nil || len(counts) != len(s) {
		return "grid"
	}
	if len(s) == 1 && s[0].Full() && s[0].Kind == KindTurn {
		return fmt.Sprintf("uniform grid of %d angles", counts[0])
	}
	var parts []string
	for i, x := range s {
		p := x.Text()
		if !x.Switch() {
			p += fmt.Sprintf(" (%d)", counts[i])
		}
		parts = append(parts, p)
	}
	return "uniform grid: " + strings.Join(parts, ", ")
}

// WindowText describes the window in words, such as "dx -4..4 px, dy -4..4 px".
func WindowText(g Group, window [][2]float64) string {
	if d, ok := g.(Described); ok {
		return d.Within(window)
	}
	return BoxText(g, window)
}

// BoxText is [WindowText] for a group whose coordinates are independent.
func BoxText(g Group, window [][2]float64) string {
	s, err := Spans(g, window)
	if err != nil {
		return "window unknown"
	}
	var parts []string
	for _, x := range s {
		parts = append(parts, x.Text())
	}
	return strings.Join(parts, ", ")
}

// Text is the axis and its window in words.
func (s Span) Text() string {
	switch {
	case s.Full() && s.Form() == FormAngle:
		return s.Name + " over the full turn"
	case s.Full():
		return fmt.Sprintf("%s over the period %g %s", s.Name, s.Max-s.Min, s.Unit)
	case s.Switch() && s.Lo == 0 && s.Hi == 1:
		return s.Name + " 0 and 1"
	case s.log():
		return fmt.Sprintf("%s %g..%g, log-spaced", s.Name, s.Lo, s.Hi)
	}
	return strings.TrimSpace(fmt.Sprintf("%s %g..%g %s", s.Name, s.Lo, s.Hi, s.Unit))
}
