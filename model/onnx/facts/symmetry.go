package facts

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"nero/data/tensor"
	"nero/model/onnx"
	"nero/model/onnx/onnxpb"
)

// What a note can say that a node breaks.
const (
	BreaksRoll        = "roll"          // cyclic shifts of the whole picture
	BreaksShift       = "shift"         // shifts of what is in the picture, away from its border
	BreaksMirrorX     = "mirror-x"      // left to right
	BreaksMirrorY     = "mirror-y"      // top to bottom
	BreaksHalfTurn    = "half-turn"     // by 180 degrees
	BreaksQuarterTurn = "quarter-turn"  // by 90 and 270 degrees
	BreaksTranspose   = "transpose"     // the mirror along the main diagonal
	BreaksAnti        = "antitranspose" // the mirror along the other diagonal
	BreaksBatch       = "batch"         // independence of the other samples of the batch
	BreaksRepeat      = "repeat"        // the same numbers when run again
	BreaksPrecision   = "precision"     // what is exact on paper holds only up to more than the rounding of float32
)

// Note is a place in the structure where a symmetry ends.
type Note struct {
	// names; several if the same holds for all of them
	Nodes  []string `json:"nodes"`
	Op     string   `json:"op"`
	Breaks []string `json:"breaks"`
	Why    string   `json:"why"`
	Remedy string   `json:"remedy,omitempty"`
}

// Symmetry is what the structure of a model leaves possible for pictures on a pixel grid. It says what cannot be exact;
// of turns and mirrors it cannot say that they are, because the weights have to agree as well. Shifts follow from the
// structure alone.
type Symmetry struct {
	// Analyzed is false if the input is no picture; Why then says so and the rest is empty.
	Analyzed bool   `json:"analyzed"`
	Why      string `json:"why,omitempty"`
	// NCHW or NHWC
	Layout string `json:"layout,omitempty"`
	// Group is the largest group of quarter turns and mirrors that the structure permits: "D4", "C4", "D2", "D2
	// diagonal", "C2", "mirror-x", "mirror-y", "transpose", "antitranspose" or "C1" (none); Elements are its elements.
	// Both are empty if Unknown says why no such group is known.
	Group    string   `json:"group"`
	Elements []string `json:"elements"`
	// Unknown is why nothing can be said of turns and mirrors: the structure was not followed to the end, or branches
	// come together that break them in different ways, such as turned copies, whose sum can have what each of them
	// lacks. "" if Group is known.
	Unknown string `json:"unknown,omitempty"`
	// Shift is the least shift in pixels, down and across, whose multiples keep every sampling grid: [1 1] for any
	// whole pixel, [0 0] for none. It holds away from the border.
	Shift [2]int `json:"shift"`
	// Roll tells whether cyclic shifts by multiples of Shift stay exact up to the border.
	Roll  bool   `json:"roll"`
	Notes []Note `json:"notes"`
	// Unfollowed are the nodes where the analysis lost track of positions, first ones only. What comes after them is
	// not judged.
	Unfollowed []Gap `json:"unfollowed,omitempty"`
}

// The elements of D4, by bit: how they move the pixel (y, x) of a square of side n, with m = n-1.
const (
	dE    = 1 << iota // (y, x)
	dR1               // (x, m-y): a quarter turn
	dR2               // (m-y, m-x)
	dR3               // (m-x, y)
	dMX               // (y, m-x): left to right
	dMY               // (m-y, x): top to bottom
	dT                // (x, y): along the main diagonal
	dA                // (m-x, m-y): along the other one
	dAll  = 1<<iota - 1
	dRect = dE | dR2 | dMX | dMY // those that exist on a picture that is not square
)

var d4Names = []string{
	"identity", "turn 90", "turn 180", "turn 270", "mirror-x", "mirror-y", "transpose",
	"antitranspose",
}

// groupName names a subgroup of D4.
func groupName(mask int) string {
	switch mask {
	case dAll:
		return "D4"
	case dE | dR1 | dR2 | dR3:
		return "C4"
	case dRect:
		return "D2"
	case dE | dR2 | dT | dA:
		return "D2 diagonal"
	case dE | dR2:
		return "C2"
	case dE | dMX:
		return "mirror-x"
	case dE | dMY:
		return "mirror-y"
	case dE | dT:
		return "transpose"
	case dE | dA:
		return "antitranspose"
	}
	return "C1"
}

// broken lists what a mask lacks, in the words of notes.
func broken(mask int) []string {
	var out []string
	for _, x := range []struct {
		bits int
		name string
	}{
		{dMX, BreaksMirrorX},
		{dMY, BreaksMirrorY},
		{dR2, BreaksHalfTurn},
		{dR1 | dR3, BreaksQuarterTurn},
		{dT, BreaksTranspose},
		{dA, BreaksAnti},
	} {
		if mask&x.bits != x.bits {
			out = append(out, x.name)
		}
	}
	return out
}

// state says how a value keeps the pixels' places.
type state int

const (
	fixed  state = iota // does not depend on the picture
	grid                // a map whose axes run along y and x
	tokens              // a map whose two axes are folded into one
	pooled              // no places left: a vector
	mixed               // places gone into a dense layer, on purpose or not; already noted
	opaque              // not followed
)

// line is the sampling of one axis of a map: sample j sits at pixel start + step*j.
type line struct {
	start, step rat
	n           int
	// pend is by how much the sampling went off centre since the last note, in pixels: explicit pads and cuts that the
	// next window may make up for.
	pend rat
	// padding that continues the map cyclically, both sides together
	wrap int
}

// off is twice the distance of the line's centre from that of another.
func (l line) off(m line) rat {
	last := func(l line) rat { return l.start.add(l.start).add(l.step.mul(whole(l.n - 1))) }
	return last(l).sub(last(m))
}

// field is a value with its places.
type field struct {
	state state
	// axes of y and x; of tokens, the one axis in both
	at [2]int
	// along y and x
	line [2]line
}

// fits tells whether all positions are in range.
func (f field) fits() bool {
	for _, l := range f.line {
		if !l.start.ok() || !l.step.ok() || !l.pend.ok() || !l.off(l).ok() {
			return false
		}
	}
	return true
}

// surveyor walks the graph and collects notes.
type surveyor struct {
	f    *Facts
	s    *Symmetry
	mask int
	// least common multiple of the steps; 0 for none
	shift  [2]int64
	fields map[string]field
	// the picture
	square bool
	node   *onnxpb.NodeProto
	rec    *Node
	// notes that hold for several nodes
	byKey map[string]int
	// lacks tells for every value how turns and mirrors were broken on the way to it, in the coordinates of the
	// picture; here is what the node at hand breaks, kept to tell branches that break the same from those that can make
	// up for each other.
	lacks map[string]map[string]bool
	here  []string
	// varied are the notes of several nodes whose reasons differ in numbers, with these reasons.
	varied map[int][]string
	// tall and wide are the first windows that are longer along one axis: a pair of them, such as 1x7 and 7x1, one
	// after the other or side by side, can treat both alike again.
	tall, wide string
}

// Symmetry predicts which lattice symmetries the structure leaves. layout is NCHW or NHWC, or "" to guess from the
// number of channels.
func (f *Facts) Symmetry(layout string) *Symmetry {
	s := &Symmetry{Notes: []Note{}, Elements: []string{}}
	ins := f.model.Signature().Inputs
	if len(ins) != 1 {
		s.Why = fmt.Sprintf("the model has %d inputs; one picture is followed", len(ins))
		return s
	}
	shape := f.Shapes[ins[0].Name]
	if len(shape) != 4 {
		s.Why = fmt.Sprintf("the input %s has no two pixel axes", ins[0])
		return s
	}
	if layout == "" {
		layout = "NCHW"
		if c := shape[3]; (c == 1 || c == 3 || c == 4) && shape[1] != 1 && shape[1] != 3 && shape[1] != 4 {
			layout = "NHWC"
		}
	}
	at := [2]int{2, 3}
	if layout == "NHWC" {
		at = [2]int{1, 2}
	}
	s.Analyzed, s.Layout = true, layout
	v := &surveyor{
		f: f, s: s, mask: dAll, shift: [2]int64{1, 1}, fields: map[string]field{}, byKey: map[string]int{},
		lacks: map[string]map[string]bool{}, varied: map[int][]string{},
	}
	in := field{state: grid, at: at}
	for i := range 2 {
		in.line[i] = line{start: whole(0), step: whole(1), n: shape[at[i]], pend: whole(0)}
	}
	s.Roll = true
	v.square = shape[at[0]] == shape[at[1]]
	if !v.square {
		v.mask = dRect
		v.add(Note{
			Nodes: []string{ins[0].Name}, Op: "input", Breaks: broken(dRect),
			Why: fmt.Sprintf("pictures of %d x %d are not square: quarter turns change their size", shape[at[0]],
				shape[at[1]]),
		}, "")
	}
	v.fields[ins[0].Name] = in
	for i, n := range f.graph.GetNode() {
		v.node, v.rec = n, &f.Nodes[i]
		v.here = nil
		v.visit()
		v.inherit()
	}
	if v.tall != "" && v.wide != "" {
		v.unknown(fmt.Sprintf(
			"windows that are longer down the picture (%s) and across it (%s) can make up for each other", v.tall,
			v.wide))
	}
	v.tellVaried()
	s.Group = groupName(v.mask)
	if s.Unknown == "" && len(s.Unfollowed) > 0 {
		s.Unknown = "the structure was not followed to the end"
		if s.Group == "C1" {
			s.Unknown += "; what comes after can restore what is broken before"
		} else {
			s.Unknown += "; the part that was followed permits " + s.Group
		}
	}
	if s.Unknown != "" {
		v.mask, s.Group = 0, ""
	}
	for i, name := range d4Names {
		if v.mask&(1<<i) != 0 {
			s.Elements = append(s.Elements, name)
		}
	}
	for i := range 2 {
		s.Shift[i] = int(v.shift[i])
	}
	if v.shift[0] == 0 || v.shift[1] == 0 {
		s.Shift, s.Roll = [2]int{}, false
	}
	return s
}

// add takes a note; notes of the same key are gathered into one.
func (v *surveyor) add(n Note, key string) {
	if key != "" {
		if i, ok := v.byKey[key]; ok {
			if have := v.s.Notes[i].Nodes; !slices.Contains(have, n.Nodes[0]) {
				v.s.Notes[i].Nodes = append(have, n.Nodes...)
			}
			if n.Why != v.s.Notes[i].Why && !slices.Contains(v.varied[i], n.Why) {
				v.varied[i] = append(v.varied[i], n.Why)
			}
			return
		}
		v.byKey[key] = len(v.s.Notes)
	}
	v.s.Notes = append(v.s.Notes, n)
}

// note adds one for the node at hand.
func (v *surveyor) note(key string, breaks []string, why, remedy string) {
	if key != "" {
		key += " " + v.rec.Op
	}
	v.add(Note{Nodes: []string{v.rec.Name}, Op: v.rec.Op, Breaks: breaks, Why: why, Remedy: remedy}, key)
}

// narrow takes elements of D4 away and says why.
func (v *surveyor) narrow(mask int, why, remedy string) {
	v.mask &= mask
	v.here = append(v.here, v.rec.Name)
	v.note(fmt.Sprint("narrow ", mask, remedy), broken(mask), why, remedy)
}

// unknown says that nothing more can be said of turns and mirrors; the first reason is kept.
func (v *surveyor) unknown(why string) {
	if v.s.Unknown == "" {
		v.s.Unknown = why
	}
}

// inherit gathers for the outputs of the node what its inputs lack and what it breaks itself. Inputs each of which
// lacks something that the other has are branches of different symmetry.
func (v *surveyor) inherit() {
	all := map[string]bool{}
	for _, name := range v.node.GetInput() {
		lacks := v.lacks[name]
		if beyond(lacks, all) && beyond(all, lacks) {
			v.unknown(fmt.Sprintf(
				"branches that break turns and mirrors in different ways come together at %s (%s); where they are "+
					"turned copies, together they can have what each of them lacks",
				v.rec.Name, v.rec.Op))
		}
		maps.Copy(all, lacks)
	}
	for _, x := range v.here {
		all[x] = true
	}
	if len(all) == 0 {
		return
	}
	for _, o := range v.node.GetOutput() {
		v.lacks[o] = all
	}
}

// beyond tells whether a has what b has not.
func beyond(a, b map[string]bool) bool {
	for x := range a {
		if !b[x] {
			return true
		}
	}
	return false
}

// tellVaried completes the notes of several nodes with different numbers.
func (v *surveyor) tellVaried() {
	for i, more := range v.varied {
		n := &v.s.Notes[i]
		if steps, ok := strings.CutSuffix(n.Why, stepWhy); ok {
			parts := []string{strings.TrimPrefix(steps, stepOf)}
			for _, w := range more {
				parts = append(parts, strings.TrimPrefix(strings.TrimSuffix(w, stepWhy), stepOf))
			}
			n.Why = stepOf + strings.Join(parts, ", ") + stepWhy
			continue
		}
		n.Why += fmt.Sprintf("; the others alike, with other numbers (%d more)", len(more))
	}
}

// noShift says that shifts end here.
func (v *surveyor) noShift(why, remedy string) {
	v.shift = [2]int64{}
	v.note("shift "+why, []string{BreaksShift, BreaksRoll}, why, remedy)
}

// period widens the shift that keeps a step on the pixel grid: t is kept if t/step is a whole number.
func (v *surveyor) period(axis int, step rat) {
	if v.shift[axis] == 0 {
		return
	}
	n := max(step.n, -step.n)
	if n == 0 {
		return
	}
	// The least common multiple; one that does not fit is longer than any picture.
	v.shift[axis], _ = times(v.shift[axis]/gcd(v.shift[axis], n), n)
}

// lose stops following the node's outputs.
func (v *surveyor) lose(why string) field {
	v.s.Unfollowed = append(v.s.Unfollowed, Gap{v.rec.Name, v.rec.Op, why})
	return field{state: opaque}
}

// shape of a value; nil if it is not known.
func (v *surveyor) shape(name string) []int { return v.f.Shapes[name] }

// in is the field of input i.
func (v *surveyor) in(i int) field {
	if i < len(v.node.GetInput()) {
		return v.fields[v.node.GetInput()[i]]
	}
	return field{}
}

// visit follows one node.
func (v *surveyor) visit() {
	n := v.node
	top := fixed
	for i := range n.GetInput() {
		top = max(top, v.in(i).state)
	}
	v.anywhere(top != fixed)
	if top == fixed {
		return
	}
	var out field
	switch x := v.in(0); {
	case n.GetOpType() == "Shape" || n.GetOpType() == "Size":
		return // a number that does not depend on what the picture shows
	case v.rec.Out == nil || v.rec.Out[0] == nil || (x.state != fixed && v.shape(n.GetInput()[0]) == nil):
		if out = (field{state: opaque}); top != opaque {
			out = v.lose("its shape is not known")
		}
	case top == opaque:
		out = field{state: opaque}
	default:
		if out = v.follow(top); out.state == grid && !out.fits() {
			out = v.lose("positions that are out of range")
		}
	}
	for _, o := range n.GetOutput() {
		if o != "" {
			v.fields[o] = out
		}
	}
}

// anywhere notes what does not depend on places.
func (v *surveyor) anywhere(data bool) {
	n := v.node
	switch n.GetOpType() {
	case "BatchNormalization":
		training := onnx.Int(n, "training_mode", 0) != 0 || v.f.model.Opset() < 14 && len(n.GetOutput()) > 1 &&
			n.GetOutput()[1] != ""
		if training {
			v.note("batchnorm", []string{BreaksBatch},
				"normalizes by the statistics of the batch at hand (training form): a sample's result depends on its "+
					"neighbors",
				"export the model in evaluation mode: model.eval() before torch.onnx.export")
		}
	case "Dropout":
		if len(n.GetInput()) > 2 && n.GetInput()[2] != "" {
			if t := v.f.values[n.GetInput()[2]]; t == nil || len(t.ints) != 1 || t.ints[0] != 0 {
				v.note("dropout", []string{BreaksRepeat}, "drops values at random (training form)",
					"export the model in evaluation mode: model.eval() before torch.onnx.export")
			}
		}
	case "RandomNormal", "RandomUniform", "RandomNormalLike", "RandomUniformLike", "Multinomial", "Bernoulli":
		v.note("random", []string{BreaksRepeat}, "draws random numbers: two runs differ", "take the noise as an input")
	case "Cast":
		if d := tensor.DType(onnx.Int(n, "to", 0)); data && (d == tensor.Float16 || d == tensor.BFloat16) {
			v.note("cast", []string{BreaksPrecision},
				fmt.Sprintf("computes on in %s: what is exact on paper differs by its rounding", d),
				"export in float32 to tell rounding from structure")
		}
	case "QuantizeLinear", "DynamicQuantizeLinear":
		if data {
			v.note("quantize", []string{BreaksPrecision},
				"rounds to 8 bits: what is exact on paper differs by the rounding",
				"audit the model before quantization")
		}
	case "ArgMax", "ArgMin", "TopK", "Hardmax":
		if data {
			v.note("ties", []string{BreaksPrecision},
				"decides between values: where two tie, or nearly do, rounding decides",
				"compare the scores before this node")
		}
	}
}
