package check

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"nero/audit"
	"nero/internal/spell"
)

// List is checks that a program knows, in the order in which they are read.
type List []*audit.Check

// Select is [List.Select] of [All].
func Select(only, skip []string) (chosen []*audit.Check, left []string, err error) {
	return List(All()).Select(only, skip)
}

// Select chooses checks by name: those in only, or all if it is empty, without those in skip. The name of a family
// stands for its members. What a chosen check requires is run whether or not it was chosen. left are the names of the
// checks that will not run, that of a family where none of it will. The error names a check that does not exist, with
// the nearest one that does, or a skipped one that a chosen one requires.
func (all List) Select(only, skip []string) (chosen []*audit.Check, left []string, err error) {
	var names []string
	for _, c := range all {
		if c.Family != "" && !slices.Contains(names, c.Family) {
			names = append(names, c.Family)
		}
		names = append(names, c.Name)
	}
	for _, n := range slices.Concat(only, skip) {
		if slices.Contains(names, n) {
			continue
		}
		if near, ok := spell.Nearest(n, names); ok {
			return nil, nil, fmt.Errorf("there is no check %q; did you mean %q? All are listed by: nero checks", n,
				near)
		}
		return nil, nil, fmt.Errorf("there is no check %q; want one of %s", n, strings.Join(names, ", "))
	}
	for _, c := range all {
		if (len(only) == 0 || named(only, c)) && !named(skip, c) {
			chosen = append(chosen, c)
		}
	}
	run := map[*audit.Check]bool{}
	var need func(c, by *audit.Check) error
	need = func(c, by *audit.Check) error {
		if named(skip, c) {
			return fmt.Errorf("check %s cannot be left out: %s needs it; leave %s out too, or keep both", c.Name,
				by.Name, by.Name)
		}
		run[c] = true
		for _, r := range c.Requires {
			if err := need(r, c); err != nil {
				return err
			}
		}
		return nil
	}
	for _, c := range chosen {
		if err := need(c, c); err != nil {
			return nil, nil, err
		}
	}
	if len(chosen) == 0 {
		return nil, nil, fmt.Errorf("no check is left; want one or more of %s", strings.Join(names, ", "))
	}
	return chosen, missing(all, run), nil
}

// named reports whether a check or its family is in a list.
func named(list []string, c *audit.Check) bool {
	return slices.Contains(list, c.Name) || c.Family != "" && slices.Contains(list, c.Family)
}

// missing are the names of the checks that do not run.
func missing(all []*audit.Check, run map[*audit.Check]bool) []string {
	some := map[string]bool{"": true}
	for c := range run {
		some[c.Family] = true
	}
	var out []string
	for _, c := range all {
		name := c.Name
		if !some[c.Family] {
			name = c.Family
		}
		if !run[c] && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// Params reads settings such as "layers.samples=16" into the form that [audit.Options] takes. Whether such a parameter
// exists is seen when the audit starts.
func Params(settings []string) (map[string]float64, error) {
	p := map[string]float64{}
	for _, s := range settings {
		name, value, ok := strings.Cut(s, "=")
		x, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
		if !ok || err != nil {
			return nil, fmt.Errorf(
				"parameter %q: want CHECK.NAME=NUMBER, such as lattice.samples=16; all are listed by: nero checks", s)
		}
		p[strings.TrimSpace(name)] = x
	}
	return p, nil
}
