package baseline

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"nero/audit"
)

// ErrNotComparable marks two audits that do not ask the same.
var ErrNotComparable = errors.New("not comparable")

// Terms are the conditions of an audit that are known before it runs.
type Terms struct {
	Group                 string
	Seed                  uint64
	Threshold, Confidence float64
	Average               int
	Basis                 []audit.About
}

// Terms are those of a stored audit.
func (m *Model) Terms() Terms {
	return Terms{m.Group, m.Seed, m.Threshold, m.Confidence, m.Average, m.Basis}
}

// Differ says in which terms two audits differ, the first of them the one before; nil if in none.
func Differ(before, after Terms) []string {
	var d []string
	add := func(name string, a, b any) {
		if x, y := fmt.Sprint(a), fmt.Sprint(b); x != y {
			d = append(d, fmt.Sprintf("%s was %s, is %s", name, x, y))
		}
	}
	add("group", before.Group, after.Group)
	for _, a := range before.Basis {
		add(a.Name, short(a.Value), short(fact(after.Basis, a.Name)))
	}
	for _, b := range after.Basis {
		if fact(before.Basis, b.Name) == "" {
			add(b.Name, "not written down", short(b.Value))
		}
	}
	add("seed", before.Seed, after.Seed)
	add("threshold", before.Threshold, after.Threshold)
	add("confidence", before.Confidence, after.Confidence)
	add("repeats averaged", max(before.Average, 1), max(after.Average, 1))
	return d
}

// fact is the value of a fact, "" if it is not there.
func fact(list []audit.About, name string) string {
	for _, a := range list {
		if a.Name == name {
			return a.Value
		}
	}
	return ""
}

// short leaves of a digest as much as tells two apart.
func short(s string) string {
	const digits = 12
	switch d, ok := strings.CutPrefix(s, "sha256 "); {
	case s == "":
		return "not written down"
	case ok && len(d) > digits:
		return "sha256 " + d[:digits]
	}
	return s
}

// agree says why two audits are not comparable, in an error that wraps [ErrNotComparable].
func agree(before, after *Model) error {
	refuse := func(why []string) error {
		return fmt.Errorf("model %s: %w with the audit before: %s", after.Name, ErrNotComparable,
			strings.Join(why, "; "))
	}
	for _, m := range []struct {
		when string
		m    *Model
	}{{"before", before}, {"after", after}} {
		if m.m.Error != "" {
			return refuse([]string{"the audit " + m.when + " could not run: " + m.m.Error})
		}
	}
	d := Differ(before.Terms(), after.Terms())
	if before.Output != after.Output {
		d = append(d, fmt.Sprintf("the output was %s, is %s", before.Output, after.Output))
	}
	if before.Inputs != after.Inputs {
		d = append(d, fmt.Sprintf("inputs were %d, are %d", before.Inputs, after.Inputs))
	}
	common := 0
	for _, a := range before.Sets {
		b := after.Set(a.Name)
		if b == nil {
			continue
		}
		common++
		if a.IDs == nil || b.IDs == nil {
			return refuse([]string{"the " + a.Name +
				" lack the errors of each input: the file was written by an older program, so audit again"})
		}
		if why := sameSet(a, b); why != "" {
			d = append(d, why)
		}
	}
	if len(d) == 0 && common == 0 {
		d = append(d, "no set of elements was judged in both")
	}
	if d != nil {
		return refuse(d)
	}
	return nil
}

// sameSet says how two sets of one name differ; "" if they do not.
func sameSet(a, b *Set) string {
	if len(a.Elements) != len(b.Elements) {
		return fmt.Sprintf("%s were %d, are %d", a.Name, len(a.Elements), len(b.Elements))
	}
	for i := range a.Elements {
		if !slices.EqualFunc(a.Elements[i], b.Elements[i], func(x, y float64) bool { return math.Abs(x-y) <= 1e-9 }) {
			return fmt.Sprintf("number %d of the %s was %v, is %v", i+1, a.Name, a.Elements[i], b.Elements[i])
		}
	}
	if a.Unit != b.Unit {
		return fmt.Sprintf("errors on the %s were %q, are %q", a.Name, a.Unit, b.Unit)
	}
	if len(a.IDs) != len(b.IDs) {
		return fmt.Sprintf("inputs on the %s were %d, are %d", a.Name, len(a.IDs), len(b.IDs))
	}
	for i, id := range a.IDs {
		if b.IDs[i] != id {
			return fmt.Sprintf("input %d was sample %s, is %s", i+1, id, b.IDs[i])
		}
	}
	return ""
}
