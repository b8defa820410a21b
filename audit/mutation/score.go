package mutation

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
)

// Section is a part of the page that one test writes and the others leave as it is.
type Section struct{ begin, end string }

// Sections are those of the page beside [Table], in their order.
func Sections() []Section { return []Section{PlantedSection(), CoverageSection()} }

// PlantedSection holds what [PlantedTable] writes.
func PlantedSection() Section {
	return Section{
		"<!-- planted: made by go test -tags slow ./audit/mutation -run TestPlanted -update -->\n",
		"<!-- end of planted -->\n",
	}
}

// CoverageSection holds how often intervals and verdicts of whole audits are right.
func CoverageSection() Section {
	return Section{
		"<!-- coverage: made by go test -tags slow ./app -run TestCoverageOfWholeAudits -timeout 3h -update -->\n",
		"<!-- end of coverage -->\n",
	}
}

// Put puts a text into a page, in the place of the one that is there, or at its end.
func (s Section) Put(page, text string) string {
	before, rest, ok := strings.Cut(page, s.begin)
	_, after, closed := strings.Cut(rest, s.end)
	if !ok || !closed {
		return page + "\n" + s.begin + text + s.end
	}
	return before + s.begin + text + s.end + after
}

// Take takes the section out of a page; its text is "" where there is none.
func (s Section) Take(page string) (rest, text string) {
	before, more, ok := strings.Cut(page, s.begin)
	text, after, closed := strings.Cut(more, s.end)
	if !ok || !closed {
		return page, ""
	}
	return strings.TrimSuffix(before, "\n") + after, text
}

// Rest is a page without its sections.
func Rest(page string) string {
	for _, s := range Sections() {
		page, _ = s.Take(page)
	}
	return page
}

// Renew puts the sections of an old page into a new one.
func Renew(page, old string) string {
	for _, s := range Sections() {
		if _, text := s.Take(old); text != "" {
			page = s.Put(page, text)
		}
	}
	return page
}

// Third is a third of the mutations, drawn with a seed, in their order.
func Third(all []Mutation, seed uint64) []Mutation {
	order := rand.New(rand.NewPCG(seed, 3)).Perm(len(all))[:(len(all)+2)/3]
	slices.Sort(order)
	out := make([]Mutation, len(order))
	for i, k := range order {
		out[i] = all[k]
	}
	return out
}

// of are the results of one kind.
func of(results []Result, is func(m Mutation) bool) []Result {
	return slices.DeleteFunc(slices.Clone(results), func(r Result) bool { return !is(r.Mutation) })
}

// share writes k of n.
func share(k, n int) string {
	if n == 0 {
		return "-"
	}
	return fmt.Sprintf("%d of %d (%.0f %%)", k, n, math.Floor(100*float64(k)/float64(n)))
}

func (t Rates) cells() string {
	return fmt.Sprintf("%s | %s | %s | %s", share(t.Found, t.Planted), share(t.Right, t.Planted),
		share(t.Place, t.Planted), share(t.Silent, t.Clean))
}

// PlantedTable is the section on the breaks of [Planted], in Markdown: rates of both halves apart, by task and by
// group, every break, and what falls short.
func PlantedTable(results []Result, body string) string {
	var b strings.Builder
	sets := []string{SetHeldOut, SetTuned}
	in := func(set string) func(Mutation) bool { return func(m Mutation) bool { return m.Set == set } }
	n := map[string]bool{}
	for _, r := range results {
		n[r.Mutation.Base] = true
	}
	t := Rate(results)
	fmt.Fprintf(&b, `## More models: a half that nothing was tuned on

%d breaks in %d kinds of models, and %d clean members or changes without harm, in two halves. One half, *held out*, was written before any rule was looked at and stands in
`+"`audit/mutation/heldout.go`"+` and, of volumes, `+"`heldout_volumes.go`"+` beside it; rules and weights must not be tuned on it, and what an audit says of it is what to expect of models that nobody prepared. The other half may be used to
tune. Six rows of the first half about float16 were changed before any of it was audited: what they rounded does not move under the group, so nothing was broken; inputs of shade
and denominators of zoom and ratio were mended then, too. Audits of the other half led to one change, to what counts as a number of a place, before the first half was audited once.
The places that count as right are the nodes that were planted or changed, and where a break has no node any place counts. Engine: %s. Made by `+"`go test -tags slow ./audit/mutation -run "+
		"TestPlanted -update`"+`; .ci/slow --long audits a third of it, drawn with a fixed seed.

| half | found | right cause first | right place too | silent on clean models |
| --- | --- | --- | --- | --- |
`, t.Planted, len(n), t.Clean, body)
	for _, set := range sets {
		fmt.Fprintf(&b, "| %s | %s |\n", set, Rate(of(results, in(set))).cells())
	}
	for _, by := range []struct {
		name string
		key  func(Mutation) string
	}{{"task", func(m Mutation) string { return m.Task }}, {"group", func(m Mutation) string { return m.label }}} {
		fmt.Fprintf(&b, "\n| half | %s | found | right cause first | right place too | silent on clean models |\n"+
			"| --- | --- | --- | --- | --- | --- |\n", by.name)
		var keys []string
		for _, r := range results {
			if k := by.key(r.Mutation); !slices.Contains(keys, k) {
				keys = append(keys, k)
			}
		}
		for _, set := range sets {
			for _, k := range keys {
				some := of(results, func(m Mutation) bool { return m.Set == set && by.key(m) == k })
				if len(some) > 0 {
					fmt.Fprintf(&b, "| %s | %s | %s |\n", set, k, Rate(some).cells())
				}
			}
		}
	}
	b.WriteString("\n| model | task | |\n| --- | --- | --- |\n")
	for _, f := range families() {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", f.name, f.task, f.doc)
	}
	for _, set := range sets {
		fmt.Fprintf(&b, "\n### Breaks, %s\n\n| model | break | how | right causes | verdict | first cause "+
			"(confidence) | "+
			"place | right |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n", set)
		for _, r := range of(results, func(m Mutation) bool { return m.Set == set && !m.Clean() }) {
			m := r.Mutation
			for _, s := range r.Scores {
				fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %s | %s |\n", m.Base, m.Name, m.Doc,
					strings.Join(m.Causes, ", "), s.Verdict, named(s), cmp.Or(s.Location, "-"), verdictOf(m, s))
			}
		}
	}
	b.WriteString("\n### What falls short\n\n")
	for _, set := range sets {
		for _, l := range short(of(results, in(set)), set) {
			b.WriteString(l + "\n")
		}
	}
	return b.String()
}

// short lists what was missed, alarms first, then by the cause that should have been named.
func short(results []Result, set string) []string {
	var lines []string
	for _, r := range results {
		m := r.Mutation
		for _, s := range r.Scores {
			about := fmt.Sprintf("%s: %s (%s)", m.Base, m.Name, m.Doc)
			switch {
			case m.Clean() && !s.Right:
				lines = append(lines, fmt.Sprintf("- %s, a false alarm, %s: %s, %s", set, about, s.Verdict, named(s)))
			case m.Clean():
			case !s.Found:
				lines = append(lines, fmt.Sprintf("- %s, not found, %s, %s", set, m.Causes[0], about))
			case !s.Right:
				lines = append(lines, fmt.Sprintf("- %s, another cause, %s, %s: %s at %s; then %s", set, m.Causes[0],
					about,
					named(s), cmp.Or(s.Location, "-"), cmp.Or(strings.Join(s.Rest, ", "), "none")))
			case !s.Place:
				lines = append(lines, fmt.Sprintf("- %s, another place, %s, %s: %s in place of %s", set, m.Causes[0],
					about,
					cmp.Or(s.Location, "-"), strings.Join(m.At, " or ")))
			}
		}
	}
	slices.Sort(lines)
	return lines
}
