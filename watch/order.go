package watch

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"nero/present/words"
)

// By is how releases are ordered.
type By struct {
	Name string
	// Doc is a line for the help.
	Doc string
	// place is where a release stands, and what that is called; an error says why it stands nowhere.
	place func(r *Release) (order []int, label string, err error)
}

// epochs is the order of a training.
const epochs = "epoch"

// Orders are the ways to order releases, the preset first.
func Orders() []*By {
	return []*By{
		{"time", "the date of the audit, within a day when the file was written", byTime},
		{"version", "the version in the name of the model's file, the model or the audit: net-v1.2.onnx", byVersion},
		{epochs, "the epoch or step there: epoch-7.onnx, step_1200", byEpoch},
	}
}

// ParseBy finds an order by its name.
func ParseBy(name string) (*By, error) {
	var names []string
	for _, b := range Orders() {
		if b.Name == name {
			return b, nil
		}
		names = append(names, b.Name)
	}
	if near, ok := words.Suggest(name, names); ok {
		return nil, fmt.Errorf("%q is no order: want one of %s; did you mean %s?", name, strings.Join(names, ", "),
			near)
	}
	return nil, fmt.Errorf("%q is no order: want one of %s", name, strings.Join(names, ", "))
}

var day = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}`)

// byTime orders by the date that an audit holds, and by when the file was written. A run holds no date.
func byTime(r *Release) ([]int, string, error) {
	date := r.Date
	if !day.MatchString(date) {
		date = r.Written.UTC().Format("2006-01-02")
	}
	n, err := strconv.Atoi(strings.ReplaceAll(date[:10], "-", ""))
	if err != nil {
		return nil, "", fmt.Errorf("its date is %.40q", r.Date)
	}
	return []int{n}, date[:10], nil
}

// sources are the texts that may hold a version, the surest first.
func (r *Release) sources() []string {
	all := []string{strings.TrimSuffix(r.ModelFile, path.Ext(r.ModelFile)), r.Model}
	parts := strings.Split(strings.TrimSuffix(r.File, path.Ext(r.File)), "/")
	slices.Reverse(parts)
	return append(all, parts...)
}

var (
	version = regexp.MustCompile(`(?i)(?:^|[^a-z])(?:v|version|release|rev)[-_. ]?(\d+(?:\.\d+)*)`)
	epoch   = regexp.MustCompile(`(?i)(?:^|[^a-z])(?:epoch|step|iter|iteration|ckpt|checkpoint)[-_=. ]?(\d+)`)
	number  = regexp.MustCompile(`(?:^|[-_./ ])(\d+(?:\.\d+)*)(?:$|[-_./ ])`)
	// plain is a name that is a number and nothing else.
	plain = regexp.MustCompile(`^\d+(?:\.\d+)*$`)
)

func byVersion(r *Release) ([]int, string, error) {
	return numbered(r, "version", "net-v3.onnx or audits/1.2/audit.json", version, number)
}

func byEpoch(r *Release) ([]int, string, error) {
	return numbered(r, "epoch", "epoch-7.onnx or step_1200/audit.json", epoch, number)
}

// numbered is the number that the first pattern finds anywhere, else the second.
func numbered(r *Release, what, such string, patterns ...*regexp.Regexp) ([]int, string, error) {
	for _, p := range patterns {
		for _, s := range r.sources() {
			at := p.FindStringSubmatch(s)
			if at == nil {
				continue
			}
			var order []int
			r.guessed = ""
			if p == number && !plain.MatchString(s) && !strings.Contains(at[1], ".") {
				r.guessed = s
			}
			for part := range strings.SplitSeq(at[1], ".") {
				n, err := strconv.Atoi(part)
				if err != nil {
					return nil, "", fmt.Errorf("its %s %.40s is too long", what, at[1])
				}
				order = append(order, n)
			}
			return order, at[1], nil
		}
	}
	return nil, "", fmt.Errorf("no %s in the names of the model's file, the model or the file, such as %s", what, such)
}

// notes say what is doubtful about the order of releases that are in order: where files were written at one time nobody
// knows which came first, and where all have one version or epoch it orders nothing.
func (b *By) notes(in []*Release) []string {
	var out []string
	unknown, first, one := 0, "", true
	for i, r := range in[:max(len(in)-1, 0)] {
		next := in[i+1]
		same := slices.Equal(r.order, next.order)
		one = one && same
		if same && r.Written.Equal(next.Written) && r.File != next.File && r.Content != next.Content {
			if unknown++; first == "" {
				first = r.File + " and " + next.File
			}
		}
	}
	if n, such := guessed(in); n > 0 {
		out = append(out, fmt.Sprintf("No name of %s says %s: %s by the number in a name, such as %s in %q.",
			words.Plural(n, "release", "releases"), b.Name, map[bool]string{
				true:  "it stands",
				false: "they stand",
			}[n == 1],
			such.label, such.guessed))
	}
	files := map[string]bool{}
	for _, r := range in {
		files[r.File] = true
	}
	if unknown > 0 {
		out = append(out, fmt.Sprintf("Which came first nobody knows of %s, such as %s: %s is the same, and so is "+
			"when the files were written. What is said of their order says nothing; another order (version, epoch) "+
			"may know it.", words.Plural(unknown, "pair of neighbors", "pairs of neighbors"), first, b.Name))
	}
	if one && len(files) > 1 && b.Name != Orders()[0].Name {
		out = append(out, fmt.Sprintf("All releases have the %s %s, which is no order: they stand as their files were "+
			"written. Give their files or folders names that tell them apart.", b.Name, in[0].label))
	}
	return out
}

// guessed counts the releases whose place is a number in a name that does not say what it is, and returns the first.
func guessed(in []*Release) (n int, first *Release) {
	for _, r := range in {
		if r.guessed == "" {
			continue
		}
		if n++; first == nil {
			first = r
		}
	}
	return n, first
}

// ordered puts releases in order, whatever they are called: places, then when the files were written, then what they
// hold. Copies at the same place are one. Those that stand nowhere are told.
func ordered(all []*Release, by *By) (in []*Release, copies int, skipped []Skipped) {
	for _, r := range all {
		var err error
		if r.order, r.label, err = by.place(r); err != nil {
			skipped = append(skipped, Skipped{r.File, err.Error()})
			continue
		}
		in = append(in, r)
	}
	slices.SortStableFunc(in, func(a, b *Release) int {
		return cmp.Or(slices.Compare(a.order, b.order), a.Written.Compare(b.Written), cmp.Compare(a.Content, b.Content),
			cmp.Compare(a.Model, b.Model), cmp.Compare(a.File, b.File))
	})
	type place struct{ label, content, model string }
	seen := map[place]bool{}
	n := len(in)
	in = slices.DeleteFunc(in, func(r *Release) bool {
		p := place{r.label, r.Content, r.Model}
		was := seen[p]
		seen[p] = true
		return was
	})
	return in, n - len(in), skipped
}
