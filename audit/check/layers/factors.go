package layers

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"nero/audit"
	"nero/symmetry/action"
	"nero/symmetry/group"
)

// mostAlone bounds the numbers of a sample whose factors are moved one by one. More values can be told then, and each
// of them is moved and shaken for every layer that it outlives: of large maps that takes many times as long.
const mostAlone = 1 << 15

// wide tells that the samples are too large for that: the factors of a product then move together.
func (l *look) wide() bool {
	s, err := l.p.Sample(0)
	return err == nil && len(s.Value.Numbers()) > mostAlone
}

// alone are elements of a product of groups in each of which one factor moves and the others rest, the factors taken in
// turn: what each factor keeps, all of them keep together, and where one fails the others say nothing of it. They are
// made of the elements of the plan.
func (l *look) alone(f group.Factored, from []int, most int) []audit.Element {
	parts := f.Factors()
	lists := make([][]audit.Element, len(parts))
	rest := f.Split(f.Identity())
	for _, j := range from {
		for k, part := range f.Split(l.p.Elements[j].G) {
			if !(parts[k].Dist(part, rest[k]) > group.Tolerance) {
				continue
			}
			var g group.Element
			for i, r := range rest {
				if i == k {
					r = part
				}
				g = append(g, r...)
			}
			if slices.ContainsFunc(lists[k],
				func(e audit.Element) bool { return l.group.Dist(e.G, g) <= group.Tolerance }) {
				continue
			}
			lists[k] = append(lists[k], audit.Element{
				G: g, Label: audit.Label(l.group, g), Exact: action.Exact(l.p.Subject.Plan.In, g), Weight: 1,
			})
		}
	}
	quota := make([]int, len(lists))
	for left, more := max(most, len(lists)), true; left > 0 && more; { // what one factor lacks goes to the others
		more = false
		for k, list := range lists {
			if left > 0 && quota[k] < len(list) {
				quota[k]++
				left, more = left-1, true
			}
		}
	}
	var out []audit.Element
	for k, list := range lists {
		lists[k] = l.leading(parts[k], k, list, quota[k])
	}
	for i := range max(0, slices.Max(quota)) {
		for _, list := range lists {
			if i < len(list) {
				out = append(out, list[i])
			}
		}
	}
	return out
}

// mostGenerated bounds the elements among which generators are looked for, and what they make.
const mostGenerated = 64

// leading takes n elements of a factor: those that generate the others, as far as the factor is finite and small, then
// some that are spread over the rest.
func (l *look) leading(part group.Group, k int, list []audit.Element, n int) []audit.Element {
	f, ok := l.group.(group.Factored)
	if _, finite := part.(group.Finite); !ok || !finite || len(list) > mostGenerated {
		return spread(list, n)
	}
	of := func(e audit.Element) group.Element { return f.Split(e.G)[k] }
	order := func(g group.Element) int {
		h, n := g, 1
		for part.Dist(h, part.Identity()) > group.Tolerance && n < mostGenerated {
			h, n = part.Mul(h, g), n+1
		}
		return n
	}
	sorted := slices.Clone(list)
	slices.SortStableFunc(sorted, func(a, b audit.Element) int { return order(of(b)) - order(of(a)) })
	var out, rest []audit.Element
	made := []group.Element{part.Identity()}
	has := func(g group.Element) bool {
		return slices.ContainsFunc(made, func(h group.Element) bool { return part.Dist(g, h) <= group.Tolerance })
	}
	for _, e := range sorted {
		if has(of(e)) || len(out) == n {
			rest = append(rest, e)
			continue
		}
		out = append(out, e)
		for i := 0; i < len(made) && len(made) <= mostGenerated; i++ { // all products of those that were chosen
			for _, c := range out {
				if g := part.Mul(of(c), made[i]); !has(g) {
					made = append(made, g)
				}
			}
		}
	}
	return append(out, spread(rest, n-len(out))...)
}

// spread takes n of a list, evenly.
func spread(list []audit.Element, n int) []audit.Element {
	var out []audit.Element
	for i := range min(n, len(list)) {
		out = append(out, list[(2*i+1)*len(list)/(2*min(n, len(list)))])
	}
	return out
}

// factors are the names of the factors of a product, nil for other groups, and which of them each element moves.
func (l *look) factors() (names []string, of []int) {
	f, ok := l.group.(group.Factored)
	if !ok || l.joint {
		return nil, nil
	}
	parts := f.Factors()
	rest := f.Split(f.Identity())
	for _, p := range parts {
		names = append(names, p.Name())
	}
	for _, e := range l.elements {
		moved := -1
		for k, g := range f.Split(e.G) {
			if parts[k].Dist(g, rest[k]) > group.Tolerance {
				moved = k
			}
		}
		of = append(of, moved)
	}
	return names, of
}

// byFactor are the injected errors of a layer under each factor alone, given those of each element; NaN for a factor
// that no element moves.
func (l *look) byFactor(errs []float64) []float64 {
	names, of := l.factors()
	if names == nil {
		return nil
	}
	sum, n := make([]float64, len(names)), make([]float64, len(names))
	for j, k := range of {
		if k >= 0 {
			sum[k], n[k] = sum[k]+errs[j], n[k]+1
		}
	}
	for k := range sum {
		sum[k] /= n[k]
		if n[k] == 0 {
			sum[k] = math.NaN()
		}
	}
	return sum
}

// fails lists the factors under which a layer breaks.
func (l *look) fails(r *Result, w Row) []string {
	var out []string
	for k, e := range w.Factors {
		if w.Above && e > l.p.Policy.RoundingFactor*w.Floor && e > leastError {
			out = append(out, r.Factors[k])
		}
	}
	return out
}

// soleUnder is a factor under which a layer carries the error alone; "" if there is none.
func (l *look) soleUnder(r *Result, w Row) string {
	_, of := l.factors()
	for _, name := range l.fails(r, w) {
		k := slices.Index(r.Factors, name)
		var elements []int
		for j, f := range of {
			if f == k {
				elements = append(elements, j)
			}
		}
		sole := true
		for i, v := range r.Rows {
			share := math.Abs(l.finite.among(i, elements))
			if v.Index == w.Index {
				sole = sole && share >= singleShare
			} else {
				sole = sole && !(share > otherShare)
			}
		}
		if sole {
			return name
		}
	}
	return ""
}

// under says under which factors of a product a layer breaks; "" for other groups.
func (l *look) under(r *Result, w Row) string {
	names := l.fails(r, w)
	if len(names) == 0 {
		return ""
	}
	return " under " + strings.Join(names, " and ") + " alone"
}

// firsts says which layer breaks first under each factor.
func (l *look) firsts(r *Result) string {
	var out []string
	for k, name := range r.Factors {
		at := slices.IndexFunc(r.Rows, func(w Row) bool { return slices.Contains(l.fails(r, w), name) })
		tested := slices.ContainsFunc(r.Rows, func(w Row) bool {
			return len(w.Factors) > 0 && !math.IsNaN(w.Factors[k])
		})
		switch {
		case !tested:
			out = append(out, "no element moves "+name+" alone without resampling, so that its layers are not tested")
		case at < 0:
			out = append(out, "under "+name+" alone no layer breaks")
		default:
			start := l.entrance(r.Rows, r.Rows[at])
			out = append(out, fmt.Sprintf("under %s alone the symmetry is first lost in %s", name, start.Name))
		}
	}
	return strings.Join(out, "; ")
}
