package oracle

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// entry is an operator from one version on.
type entry struct {
	// the first operator set with this meaning
	since int
	// inputs; most is -1 for any number
	least, most int
	// outputs at most, -1 for any number
	outs int
	// the first so many inputs may be left empty even where others follow
	optional int
	build    func(*attrs) kernel
}

// find is the entry that counts in an operator set.
func find(all []entry, opset int) (entry, bool) {
	var best entry
	for _, e := range all {
		if e.since <= opset && e.since >= best.since {
			best = e
		}
	}
	return best, best.build != nil
}

// operators is the table of all operators.
func operators() map[string][]entry {
	all := map[string][]entry{}
	for _, part := range []map[string][]entry{
		unaryOps(), binaryOps(), typeOps(), shapeOps(), indexOps(), reduceOps(), normOps(), linearOps(), poolOps(),
		resizeOps(), recurrentOps(), controlOps(), lossOps(), detectOps(), quantizeOps(),
	} {
		for name, es := range part {
			all[name] = append(all[name], es...)
		}
	}
	return all
}

// Supported lists the standard operators that are known, sorted, each with the operator sets from which on its meanings
// count, as in "Softmax 1, 13".
func Supported() []string {
	all := operators()
	out := make([]string, 0, len(all))
	for _, name := range slices.Sorted(maps.Keys(all)) {
		var since []int
		for _, e := range all[name] {
			since = append(since, e.since)
		}
		slices.Sort(since)
		var text []string
		for _, v := range slices.Compact(since) {
			text = append(text, strconv.Itoa(v))
		}
		out = append(out, name+" "+strings.Join(text, ", "))
	}
	return out
}

// one makes a kernel of a function with one result.
func one(f func(c *call) (*value, error)) kernel {
	return func(c *call) ([]*value, error) {
		v, err := f(c)
		if err != nil {
			return nil, err
		}
		return []*value{v}, nil
	}
}
