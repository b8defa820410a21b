package facts

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"nero/model/onnx"
)

// Report is what can be said of a model without running it.
type Report struct {
	// file
	Model     string         `json:"model"`
	FileBytes int64          `json:"file_bytes"`
	Signature onnx.Signature `json:"signature"`
	// Engines are the bodies and whether they take the file.
	Engines []Engine `json:"engines"`
	Nodes   int      `json:"nodes"`
	// most multiply-adds first, then most frequent
	Operators []Operator `json:"operators"`

	// floating-point numbers stored in the file
	Parameters int64 `json:"parameters"`
	// of all stored tensors
	ParameterBytes int64 `json:"parameter_bytes"`
	// Inputs are the shapes that the rest is for; nil, with the reason in WithoutShapes, if they are not known.
	Inputs        map[string][]int `json:"inputs,omitempty"`
	WithoutShapes string           `json:"without_shapes,omitempty"`
	// MACs are multiply-adds per sample, BytesPerSample is the memory of all values that depend on the input. Both are
	// lower bounds if there are gaps.
	MACs           int64     `json:"macs"`
	BytesPerSample int64     `json:"bytes_per_sample"`
	Gaps           []Gap     `json:"gaps,omitempty"`
	Symmetry       *Symmetry `json:"symmetry,omitempty"`
	Remarks        []string  `json:"remarks,omitempty"`
}

// Engine is whether a body takes the model.
type Engine struct {
	Name  string `json:"name"`
	Takes bool   `json:"takes"`
	// why not, and what to do
	Why string `json:"why,omitempty"`
}

// Operator is how often an operator occurs and what it costs.
type Operator struct {
	Op    string `json:"op"`
	Count int    `json:"count"`
	// per sample
	MACs int64 `json:"macs"`
}

// Options of [Inspect].
type Options struct {
	// Shape is the shape of the first input, with or without the batch axis; needed if axes other than the batch are
	// free.
	Shape []int
	// Layout of pictures, NCHW or NHWC; "" guesses from the shape.
	Layout string
	// Measured are shapes found by [Measure]; nil for none. They must be for one sample.
	Measured map[string][]int
	// Limits are the bodies to compare with; nil for the embedded one and the newest native one that is known here.
	Limits []onnx.Limits
	// Absent says that no native body is installed: that which is known here is told as one that could be.
	Absent bool
}

// Inspect gathers all static facts. What needs shapes is left out if they cannot be known; an error says that o.Shape
// does not fit.
func Inspect(m *onnx.Model, o Options) (*Report, error) {
	r := &Report{
		Model: m.Name(), FileBytes: int64(m.Size()), Signature: m.Signature(),
		Nodes: len(m.Proto().GetGraph().GetNode()),
	}
	if o.Limits == nil {
		newest, err := onnx.Native("1.27.0")
		if err != nil {
			return nil, err
		}
		if o.Absent {
			newest.Name += ", which is not installed here"
		}
		o.Limits = []onnx.Limits{onnx.Wasm(), newest}
	}
	for _, l := range o.Limits {
		e := Engine{Name: l.Name, Takes: true}
		if err := m.Check(l); err != nil {
			e.Takes, e.Why = false, err.Error()
			if x, ok := errors.AsType[*onnx.LimitError](err); ok {
				e.Why = x.Reason + "; " + x.Remedy
			}
		}
		r.Engines = append(r.Engines, e)
	}
	bare := &Facts{graph: m.Proto().GetGraph(), values: map[string]*val{}}
	bare.stored()
	r.Parameters, r.ParameterBytes = bare.Parameters, bare.ParameterBytes
	ops := map[string]*Operator{}
	count := func(op string, macs int64) {
		if ops[op] == nil {
			ops[op] = &Operator{Op: op}
		}
		ops[op].Count++
		ops[op].MACs = add(ops[op].MACs, macs)
	}
	in, err := SampleShapes(m.Signature(), 1, o.Shape)
	switch {
	case err != nil && o.Shape != nil:
		return nil, fmt.Errorf("%s: %w; a shape that fits is %s", m.Name(), err, exampleFlag(m.Signature()))
	case err != nil:
		r.WithoutShapes = err.Error() + ", such as " + exampleFlag(m.Signature())
		for _, n := range bare.graph.GetNode() {
			count(onnx.OpLabel(n), 0)
		}
	default:
		f, err := Infer(m, in, o.Measured)
		if err != nil {
			return nil, err
		}
		n := int64(max(f.Samples, 1))
		r.Inputs, r.MACs, r.BytesPerSample, r.Gaps = in, f.MACs/n, f.BytesPerSample(), f.Gaps
		for _, x := range f.Nodes {
			count(x.Op, x.MACs/n)
		}
		r.Symmetry = f.Symmetry(o.Layout)
	}
	for _, x := range ops {
		r.Operators = append(r.Operators, *x)
	}
	slices.SortFunc(r.Operators, func(a, b Operator) int {
		return cmp.Or(cmp.Compare(b.MACs, a.MACs), cmp.Compare(b.Count, a.Count), strings.Compare(a.Op, b.Op))
	})
	r.remark(ops)
	return r, nil
}

// remark adds what users of exported models should know.
func (r *Report) remark(ops map[string]*Operator) {
	if strings.EqualFold(r.Signature.Producer, "pytorch") && ops["Conv"] != nil && ops["Conv"].Count >= 3 &&
		ops["BatchNormalization"] == nil {
		r.Remarks = append(r.Remarks,
			"no BatchNormalization layer: where the network has one, PyTorch's exporter has folded it into the "+
				"convolution before it; training=TrainingMode.PRESERVE and do_constant_folding=False keep it")
	}
	if b := r.Signature.Batch(); b > 0 && len(r.Signature.Inputs) > 0 {
		r.Remarks = append(r.Remarks,
			fmt.Sprintf("the batch axis is fixed at %d: samples run in batches of %d, which is slower; export with a "+
				"free batch axis (dynamic_axes)", b, b))
	}
}

// WriteText writes the report for people.
func (r *Report) WriteText(w io.Writer) error {
	var b strings.Builder
	p := func(format string, a ...any) { fmt.Fprintf(&b, format, a...) }
	s := r.Signature
	p("%s: %s", r.Model, bytesText(r.FileBytes))
	if s.Producer != "" {
		p(", made by %s", strings.TrimSpace(s.Producer+" "+s.ProducerVersion))
	}
	var sets []string
	for _, o := range s.Opsets {
		sets = append(sets, strings.TrimSpace(o.Domain+" "+strconv.Itoa(o.Version)))
	}
	p("\n  file format IR %d, operator set %s\n", s.IR, strings.Join(sets, ", "))
	for _, x := range s.Inputs {
		p("  input   %s\n", x)
	}
	for _, x := range s.Outputs {
		p("  output  %s\n", x)
	}
	for _, e := range r.Engines {
		if e.Takes {
			p("  taken by %s\n", e.Name)
		} else {
			p("  not taken by %s: %s\n", e.Name, e.Why)
		}
	}
	p("\ncost per sample\n")
	p("  parameters        %s (%s)\n", number(r.Parameters), bytesText(r.ParameterBytes))
	if r.Inputs == nil {
		p("  unknown: %s\n", r.WithoutShapes)
	} else {
		least := ""
		if len(r.Gaps) > 0 {
			least = "at least "
		}
		p("  multiply-adds     %s%s\n", least, number(r.MACs))
		p("  memory of values  %s%s\n", least, bytesText(r.BytesPerSample))
		for _, x := range s.Inputs {
			p("  for the input     %s %v\n", x.Name, r.Inputs[x.Name])
		}
	}
	for _, g := range r.Gaps {
		p("  unknown after %s (%s): %s\n", g.Node, g.Op, g.Why)
	}
	p("\noperators (%d nodes)\n", r.Nodes)
	for _, o := range r.Operators {
		p("  %-24s %5d", o.Op, o.Count)
		if o.MACs > 0 {
			p("  %s multiply-adds", number(o.MACs))
		}
		p("\n")
	}
	switch {
	case r.Symmetry != nil:
		r.Symmetry.write(&b)
	case r.WithoutShapes != "":
		p("%s  not analyzed, because it needs the size of the picture: %s\n", symmetryTitle, r.WithoutShapes)
	}
	for i, x := range r.Remarks {
		if i == 0 {
			p("\nremarks\n")
		}
		p("  %s\n", x)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// groupWords explains the groups.
var groupWords = map[string]string{
	"D4": "all quarter turns and mirrors", "C4": "quarter turns", "D2": "both mirrors and the half turn",
	"D2 diagonal": "the diagonal mirrors and the half turn", "C2": "the half turn", "mirror-x": "left to right only",
	"mirror-y": "top to bottom only", "transpose": "the mirror along the main diagonal only",
	"antitranspose": "the mirror along the other diagonal only",
}

const symmetryTitle = "\nsymmetry of the pixel grid, by structure\n"

// exampleFlag is a shape of the first input in the words of the command line: the axes that the file gives, and for the
// free ones one sample, three channels and pictures of 224 pixels.
func exampleFlag(s onnx.Signature) string {
	axes := []int{1, 3, 224, 224}
	if len(s.Inputs) > 0 && s.Inputs[0].Ranked {
		known := s.Inputs[0].Sizes()
		free := make([]int, len(known))
		for i := range free {
			free[i] = 16
		}
		if len(known) == 4 {
			copy(free, axes)
			if c := known[3]; c == 1 || c == 3 || c == 4 {
				free = []int{1, 224, 224, 3} // channels last
			}
		} else if len(free) > 0 {
			free[0] = 1
		}
		for i, n := range known {
			if n >= 0 {
				free[i] = n
			}
		}
		axes = free
	}
	words := make([]string, len(axes))
	for i, n := range axes {
		words[i] = strconv.Itoa(n)
	}
	return "--shape " + strings.Join(words, ",")
}

// write is the part on symmetry.
func (s *Symmetry) write(b *strings.Builder) {
	p := func(format string, a ...any) { fmt.Fprintf(b, format, a...) }
	b.WriteString(symmetryTitle)
	if !s.Analyzed {
		p("  not analyzed: %s\n", s.Why)
		return
	}
	switch s.Group {
	case "":
		p("  turns, mirrors    not known: %s\n", s.Unknown)
	case "C1":
		p("  turns, mirrors    none can be exact\n")
	default:
		p("  turns, mirrors    structure permits %s: %s (the weights decide whether they hold)\n", s.Group,
			groupWords[s.Group])
	}
	followed := ""
	if len(s.Unfollowed) > 0 {
		followed = ", as far as the structure was followed"
	}
	switch {
	case s.Shift == [2]int{}:
		p("  shifts            none is exact%s\n", followed)
	case s.Roll:
		p("  shifts            by multiples of %d down, %d across, cyclic ones included%s\n", s.Shift[0], s.Shift[1],
			followed)
	default:
		p("  shifts            by multiples of %d down, %d across, away from the border; cyclic ones are not exact%s\n",
			s.Shift[0], s.Shift[1], followed)
	}
	for _, g := range s.Unfollowed {
		p("  not followed after %s (%s): %s\n", g.Node, g.Op, g.Why)
	}
	for _, n := range s.Notes {
		p("  - %s %s\n", n.Op, nodesText(n.Nodes))
		p("      breaks %s: %s\n", strings.Join(n.Breaks, ", "), n.Why)
		if n.Remedy != "" {
			p("      remedy: %s\n", n.Remedy)
		}
	}
}

// nodesText names a few nodes.
func nodesText(names []string) string {
	const most = 3
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

// bytesText is a size for people, in powers of 1000.
func bytesText(n int64) string {
	if n < 1000 {
		return fmt.Sprintf("%d B", n)
	}
	return scaled(n) + "B"
}

// number is a count for people.
func number(n int64) string {
	if n < 10_000 {
		return strconv.FormatInt(n, 10)
	}
	return strings.TrimSpace(scaled(n))
}

// scaled writes three digits and a prefix.
func scaled(n int64) string {
	x, unit := float64(n), " "
	for _, u := range []string{" k", " M", " G", " T", " P", " E"} {
		if x < 1000 {
			break
		}
		x, unit = x/1000, u
	}
	switch {
	case x < 10:
		return fmt.Sprintf("%.2f%s", x, unit)
	case x < 100:
		return fmt.Sprintf("%.1f%s", x, unit)
	}
	return fmt.Sprintf("%.0f%s", x, unit)
}
