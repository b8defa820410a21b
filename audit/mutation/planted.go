package mutation

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// The lists of planted breaks, as the report names them.
const (
	// SetHeldOut was written before any rule was looked at and tunes nothing.
	SetHeldOut = "held out"
	// SetTuned may be used to tune rules and weights.
	SetTuned = "tuned"
)

// Planted are the breaks of both halves and the clean members of all families, each as a mutation: the breaks of a
// family in the order of their list, then its clean members.
func Planted() []Mutation {
	var out []Mutation
	for _, set := range []struct {
		name string
		list map[string][]broken
		in   func(f family) variant
		// clean members that belong to this half
		clean func(f family) []variant
	}{
		{
			SetHeldOut, joined(heldOut(), heldOutVolumes()), func(f family) variant { return f.heldOut },
			func(f family) []variant { return []variant{f.heldOut, f.twins[0]} },
		},
		{
			SetTuned, joined(tuned(), tunedVolumes()), func(f family) variant { return f.tuned },
			func(f family) []variant { return []variant{f.tuned, f.twins[1]} },
		},
	} {
		for _, f := range families() {
			for _, b := range set.list[f.name] {
				v := set.in(f)
				v.size = cmp.Or(b.size, v.size)
				out = append(out, f.mutation(set.name, v, b))
			}
			for _, v := range set.clean(f) {
				out = append(out, f.mutation(set.name, v, broken{doc: fmt.Sprintf("size %d, seed %d", v.size, v.seed)}))
			}
		}
		for _, name := range slices.Sorted(maps.Keys(set.list)) {
			if !slices.ContainsFunc(families(), func(f family) bool { return f.name == name }) {
				panic("mutation: no family is called " + name)
			}
		}
	}
	return out
}

// joined are the breaks of several lists, which have no family in common.
func joined(lists ...map[string][]broken) map[string][]broken {
	all := map[string][]broken{}
	for _, l := range lists {
		maps.Copy(all, l)
	}
	return all
}

// mutation is a break in a member of a family, or none.
func (f family) mutation(set string, v variant, b broken) Mutation {
	group := f.group(v.size)
	label := strings.ReplaceAll(f.group(0), "0", "n")
	if strings.Contains(group, "\n") {
		group, _, _ = strings.Cut(strings.TrimPrefix(group, "name: "), "\n")
		label = group
	}
	return Mutation{
		Name: cmp.Or(b.name, "none"), Doc: b.doc, Base: f.name, Group: group, Causes: words(b.causes, " "),
		Because: b.because, At: words(b.at, " | "), Quiet: b.quiet, Set: set, Task: f.task, label: label,
		least:   b.least,
		slack:   f.slack,
		prepare: func() (ready, error) { return f.ready(v, b.edits) },
	}
}
