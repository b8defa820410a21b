package rewrite

import (
	"regexp"
	"strings"

	"nero/model/onnx"
)

// MetadataKey is where a file that was made of another says what was done to it.
const MetadataKey = "nero.repair"

// Wrapper is what stands around a model in a file that was made of it: nodes that nobody trained.
type Wrapper struct {
	// Name is one for all of it, such as "repair: frame of SO(3)".
	Name string
	// Own are the nodes, in order.
	Own []int
	// Bodies are the nodes of each copy of the model between them, in the model's own order; none where the nodes of
	// the model stayed where they were.
	Bodies [][]int
	own    map[string]bool
}

var (
	ownNode  = regexp.MustCompile(`^[a-z]+/nero_node_\d+$`)
	bodyNode = regexp.MustCompile(`^o(\d+)/`)
)

// Wrapped finds what stands around a model; nil for a file that does not say that something was done to it, or in
// which nothing is left to be seen of that.
func Wrapped(m *onnx.Model) *Wrapper {
	did := m.Signature().Metadata[MetadataKey]
	if did == "" {
		return nil
	}
	over, _, _ := strings.Cut(did, ", ")
	w := &Wrapper{Name: "repair: " + strings.Replace(over, " over ", " of ", 1), own: map[string]bool{}}
	at := map[string]int{}
	strange := false
	for i, n := range m.Proto().GetGraph().GetNode() {
		name := n.GetName()
		if ownNode.MatchString(name) {
			w.Own, w.own[name] = append(w.Own, i), true
			continue
		}
		k := bodyNode.FindString(name)
		if k == "" {
			strange = true
			continue
		}
		j, known := at[k]
		if !known {
			j = len(w.Bodies)
			at[k], w.Bodies = j, append(w.Bodies, nil)
		}
		w.Bodies[j] = append(w.Bodies[j], i)
	}
	if len(w.Own) == 0 {
		return nil
	}
	for _, b := range w.Bodies {
		strange = strange || len(b) != len(w.Bodies[0])
	}
	if strange {
		w.Bodies = nil
	}
	return w
}

// Has tells whether a node of that name belongs to the wrapper.
func (w *Wrapper) Has(node string) bool { return w != nil && w.own[node] }

// Inner is the name that a node of a copy has in the model.
func Inner(node string) string { return node[len(bodyNode.FindString(node)):] }
