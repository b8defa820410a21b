package workload

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"nero/data/dataset"
	"nero/data/space"
	"nero/internal/disk"
	"nero/model/decode"
	"nero/model/onnx"
	"nero/run/job"
	"nero/symmetry/action"
	"nero/symmetry/define"
	"nero/symmetry/group"
)

// chooseFields makes the data set that a study's input.fields describe: samples of which only those fields are kept
// that models are fed, with those that are the same for every sample. Without input.fields it is the data set as it is.
func (w *Workload) chooseFields(natural space.Spec) (*changed, error) {
	s := w.Study
	pick := slices.Clone(s.Input.Fields)
	if len(pick) == 0 {
		for _, x := range natural.Leaves() {
			pick = append(pick, job.Port{Name: x.Name})
		}
	}
	var specs []space.Spec
	w.sets = setsOf(pick)
	for i, p := range pick {
		at := fmt.Sprintf("input.fields[%d]", i)
		x, err := portSpec(natural, p)
		if err != nil {
			return nil, s.Errorf(at, "%v", err)
		}
		if x.Set, x.Of, err = w.setOf(p); err != nil {
			return nil, s.Errorf(at, "%v", err)
		}
		if slices.ContainsFunc(specs, func(o space.Spec) bool { return o.Name == x.Name }) {
			return nil, s.Errorf(at+".name", "%q is there twice", x.Name)
		}
		if x.Type == "" && (x.Kind == space.KindRows || x.Kind == space.KindPairs) {
			return nil, s.Errorf(at+".type",
				"%s has no action: say what its numbers are with type: positions, vectors, pseudovectors, tensors, "+
					"poses or irreps such as 4x0e+2x1o; "+
					"or type: unchanged if they stay as they are", x.Name)
		}
		specs = append(specs, x)
	}
	f := &changed{Dataset: w.Data, info: w.Data.Info()}
	if !natural.IsRecord() && len(pick) == 1 && pick[0].Value == nil { // the value of the only field
		f.info.Space = specs[0]
		f.change = func(*dataset.Sample) error { return nil }
		return f, nil
	}
	f.info.Space = space.Spec{Name: "input", Kind: space.KindRecord, Fields: specs}
	f.change = func(s *dataset.Sample) error { return keep(s, pick) }
	return f, nil
}

// portSpec is the spec of one port of the input.
func portSpec(natural space.Spec, p job.Port) (space.Spec, error) {
	var x space.Spec
	switch {
	case p.Value != nil:
		x = space.Spec{Name: p.Name, Kind: space.KindRows, Shape: []int{1, len(p.Value)}, Per: space.PerSample}
	case !natural.IsRecord():
		x = natural
		x.Name = p.Name
	default:
		k := slices.IndexFunc(natural.Fields, func(o space.Spec) bool { return o.Name == p.Name })
		if k < 0 {
			return x, fmt.Errorf("the data has no field %q; it has %s", p.Name,
				strings.Join(names(natural.Fields), ", "))
		}
		x = natural.Fields[k]
	}
	if p.Kind != "" && p.Kind != string(x.Kind) {
		return x, fmt.Errorf("kind %s, but %s is of kind %s; leave kind out", p.Kind, p.Name, x.Kind)
	}
	if p.Type != "" {
		x.Type = p.Type
	}
	if p.Per != "" {
		x.Per = p.Per
	} else if p.Set != "" && x.Lined() { // of a set of its own, which the data know nothing of
		x.Per = space.PerNode
	}
	if p.Unit != "" {
		x.Unit = p.Unit
	}
	return x, nil
}

func names(specs []space.Spec) []string {
	out := make([]string, len(specs))
	for i, s := range specs {
		out[i] = s.Name
	}
	return out
}

// keep makes a sample the record of the fields that were chosen.
func keep(s *dataset.Sample, pick []job.Port) error {
	r := &space.Record{}
	for _, p := range pick {
		v := s.Value
		if from, ok := v.(*space.Record); ok {
			v = from.Field(p.Name)
		}
		if p.Value != nil {
			v = &space.Rows{N: 1, W: len(p.Value), Val: slices.Clone(p.Value)}
		}
		if v == nil {
			return fmt.Errorf("sample %s has no field %s", s.ID, p.Name)
		}
		r.Names, r.Values = append(r.Names, p.Name), append(r.Values, v)
	}
	s.Value = r
	return nil
}

// rows is the number of nodes of a set in the largest sample, 0 if samples have none.
func (w *Workload) rows(spec space.Spec, set int) int {
	if n, ok := nodes(spec, set); ok && n > 0 {
		return n
	}
	most := 0
	for i := range w.Data.Len() {
		s, err := w.Data.Sample(i)
		if err != nil {
			continue // said where the sample is used
		}
		most = max(most, nodesOf(s.Value, spec, set))
	}
	return most
}

// nodes is the number of nodes of a set that a spec says; it is not known (-1) where sizes differ.
func nodes(spec space.Spec, set int) (int, bool) {
	for _, f := range spec.Leaves() {
		if f.OfNodes() && f.Set == set {
			return f.Shape[0], true
		}
	}
	return 0, false
}

// nodesOf is the number of nodes of a set of a sample.
func nodesOf(v space.Value, spec space.Spec, set int) int {
	fields := spec.Leaves()
	i := 0
	for _, x := range space.Leaves(v) {
		if i == len(fields) {
			break
		}
		n := 0
		if fields[i].Set != set {
			i++
			continue
		}
		if l, ok := x.(*space.Links); ok {
			n = l.Nodes
		} else if c, ok := x.(space.Counted); ok && fields[i].OfNodes() {
			n = c.Count()
		}
		if n > 0 {
			return n
		}
		i++
	}
	return 0
}

// openFields is openInput for samples that are no pictures.
func (w *Workload) openFields(natural space.Spec, o Options) (*input, error) {
	s := w.Study
	if err := w.unscaled(natural); err != nil {
		return nil, err
	}
	f, err := w.chooseFields(natural)
	if err != nil {
		return nil, err
	}
	w.Data, w.Eval.Data = f, f
	spec := f.info.Space
	switch {
	case len(s.Data.Classes) == 0:
	case len(w.Classes) == 0: // arrays of numbers seldom have names
		w.Classes = s.Data.Classes
	case !slices.Equal(w.Classes, s.Data.Classes):
		return nil, s.Errorf("data.classes",
			"the data names its classes itself: %s; leave classes out, or call the folders by number",
			numbered(w.Classes))
	}
	if err := w.parseGroup(spec, o); err != nil {
		return nil, err
	}
	if err := w.enoughPlaces(spec); err != nil && !o.KeepGoing {
		return nil, err
	}
	w.tellSets()
	if s.Group.Mask != "" {
		return nil, s.Errorf("group.mask", "the mask %s is for pictures, and the samples are of space %s; leave it out",
			s.Group.Mask, spec.Kind)
	}
	if err := w.moves(spec); err != nil {
		return nil, err
	}
	if want := string(spec.Kind); s.Input.Space == "" {
		s.Input.Space = want
	} else if s.Input.Space != want && (s.Input.Space != inputBytes || !w.wordy(spec.Kind)) {
		return nil, s.Errorf("input.space", "%s, but the samples are of space %s; leave it out", s.Input.Space, want)
	}
	answer(s)
	if rolls(w.group) && s.Group.Border == "" {
		s.Group.Border = string(action.Circular) // rolls are an action under no other rule
	}
	w.borderGiven = s.Group.Border != ""
	w.Scored = w.scored()
	job.Defaults(s)
	act, err := w.moved(o, spec)
	if err != nil {
		return nil, s.Errorf("group", "%v", err)
	}
	if err := w.agree(act); err != nil && !o.KeepGoing {
		return nil, err
	}
	seen := spec
	if len(s.Group.Window) == 1 && isSignal(seen) {
		seen.Shape = []int{seen.Shape[0], s.Group.Window[0]}
	}
	return &input{seen: seen, act: act}, nil
}

// agree refuses fields that do not fit to each other, such as a mask of another length than what it masks: what the
// action says of the first sample that can be read, before a model is asked.
func (w *Workload) agree(act action.Action) error {
	for i := range w.Data.Len() {
		s, err := w.Data.Sample(i)
		if err != nil {
			continue // said where the sample is used
		}
		if _, err := act.Apply(w.group.Identity(), s.Value); err != nil {
			return w.Study.Errorf("input", "sample %s: %v", s.ID, err)
		}
		return nil
	}
	return nil
}

// unscaled refuses what is said of the pixels of pictures for samples of another kind, whose numbers go to the model as
// they are: a scale that nobody applies would look like one that was. What changes nothing is not refused; the defaults
// that another reading of the study has filled in are that.
func (w *Workload) unscaled(natural space.Spec) error {
	in := w.Study.Input
	if natural.IsRecord() { // which may have pictures among its fields
		return nil
	}
	for _, x := range []struct {
		at    string
		given bool
	}{
		{"input.scale", in.Scale != 0 && in.Scale != 1},
		{"input.mean", slices.ContainsFunc(in.Mean, func(x float64) bool { return x != 0 })},
		{"input.std", slices.ContainsFunc(in.Std, func(x float64) bool { return x != 1 })},
		{"input.channels", in.Channels != ""},
	} {
		if x.given {
			return w.Study.Errorf(x.at,
				"is for pictures, and the samples are of kind %s, whose numbers go to the model as "+
					"they are; leave it out, and scale the data or the first layer of the model", natural.Kind)
		}
	}
	return nil
}

// answer fills in the space of the output where its fields say it.
func answer(s *job.Study) {
	if s.Output.Space != "" || len(s.Output.Fields) == 0 {
		return
	}
	if s.Output.Space = string(space.KindRecord); len(s.Output.Fields) == 1 {
		s.Output.Space = cmp.Or(s.Output.Fields[0].Kind, string(space.KindRows))
	}
}

// rolls reports whether a group moves signals around.
func rolls(g group.Group) bool {
	if p, ok := g.(group.Factored); ok {
		return slices.ContainsFunc(p.Factors(), rolls)
	}
	s, ok := g.(group.Shifting)
	return ok && s.Turn() > 0
}

// brings reports whether a group shifts time without moving it around, so that something enters.
func brings(g group.Group) bool {
	if p, ok := g.(group.Factored); ok {
		return slices.ContainsFunc(p.Factors(), brings)
	}
	s, ok := g.(group.Shifting)
	return ok && s.Turn() == 0
}

// isSignal reports whether values lie in time.
func isSignal(s space.Spec) bool { return s.Kind == space.KindSignal }

// signals reports whether an answer is a signal or has one.
func signals(out space.Spec) bool { return slices.ContainsFunc(out.Leaves(), isSignal) }

// bareS is S without a number, as a name or as a factor of a product in any of its spellings.
var bareS = regexp.MustCompile(`(^|[x×*]\s*)S(\s*[x×*]|\s*$)`)

// numberedS is S with a number as a factor.
var numberedS = regexp.MustCompile(`(^|[x×*]\s*)S\s*\(`)

// maxGroup is the largest file of a group in bytes. The largest table of products takes half of it.
const maxGroup = 16 << 20

// parseGroup finds the group that the study names. "S" alone is that of all permutations of the largest sample.
func (w *Workload) parseGroup(spec space.Spec, o Options) error {
	s := w.Study
	if s.Group.File != "" {
		b, err := disk.Read(s.Group.File, maxGroup)
		if err != nil {
			return s.Errorf("group.file", "%v", err)
		}
		s.Group.Definition = string(b)
	}
	if s.Group.Definition != "" {
		at, dir := "group.definition", "."
		if s.Group.File != "" {
			at, dir = "group.file", filepath.Dir(s.Group.File)
		}
		var start define.Starter
		if o.Start != nil {
			start = o.Start(dir)
		}
		g, err := s.Group.Open(context.Background(), start)
		if err != nil {
			if s.Group.File != "" {
				return s.Errorf(at, "%s: %v", s.Group.File, err)
			}
			return s.Errorf(at, "%v", err)
		}
		text, err := tabled(s.Group.Definition, g)
		if err != nil {
			return s.Errorf(at, "%v", err)
		}
		if text != s.Group.Definition {
			s.Group.Definition, s.Group.File = text, "" // the program has said all that it had to
			if g, err = s.Group.Open(context.Background(), nil); err != nil {
				return s.Errorf(at, "%v", err)
			}
		}
		w.group = g
		s.Group.Name = g.Name()
		return nil
	}
	name := s.Group.Name
	if bareS.MatchString(name) {
		var err error
		if name, err = w.counted(name, spec); err != nil {
			return err
		}
	}
	g, err := job.OpenGroup(context.Background(), name, "", nil, o.Groups...)
	if err != nil {
		return s.Errorf("group.name", "%v", err)
	}
	w.group = g
	s.Group.Name = g.Name()
	return nil
}

// enoughPlaces refuses permutations of fewer rows than the largest sample has, before anything is written.
func (w *Workload) enoughPlaces(spec space.Spec) error {
	factors := []group.Group{w.group}
	if p, ok := w.group.(group.Factored); ok {
		factors = p.Factors()
	}
	set, sets := 0, spec.Sets()
	for _, g := range factors {
		p, ok := g.(group.Permuting)
		if !ok {
			continue
		}
		if set++; set > sets {
			return w.Study.Errorf("group.name",
				"%s has %d factors that permute rows, and the fields of the input are of %s; say set: NAME of the "+
					"fields whose rows another factor permutes, or leave the factor %s out", w.group.Name(),
				permuting(factors), plural(sets, "set"), g.Name())
		}
		if n := w.rows(spec, set-1); n > p.Rows() {
			return w.Study.Errorf("group.name",
				"%s permutes %d rows, and the largest sample has %d; take S alone, which permutes as many as the "+
					"largest sample has, or leave such samples out", g.Name(), p.Rows(), n)
		}
	}
	return nil
}

// tellSets says which sets of rows stay in their order while others are permuted.
func (w *Workload) tellSets() {
	factors := []group.Group{w.group}
	if p, ok := w.group.(group.Factored); ok {
		factors = p.Factors()
	}
	n := permuting(factors)
	if n == 0 || n >= len(w.sets) {
		return
	}
	w.note("%s permutes the rows of the set %s; those of %s stay in their order: write an S for each set, as in "+
		"S x S, to permute them too", w.group.Name(), cmp.Or(w.sets[0], "of the first field"),
		strings.Join(w.sets[n:], ", "))
}

// permuting counts the groups that permute rows.
func permuting(all []group.Group) int {
	n := 0
	for _, g := range all {
		if _, ok := g.(group.Permuting); ok {
			n++
		}
	}
	return n
}

func plural(n int, what string) string {
	if n == 1 {
		return "one " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// setsOf names the sets of rows that the fields of the input speak of, in their order. Fields that name none speak of
// the first, which has no name where the first field names none.
func setsOf(fields []job.Port) []string {
	var sets []string
	for i, p := range fields {
		if i == 0 || p.Set != "" && !slices.Contains(sets, p.Set) {
			sets = append(sets, p.Set)
		}
	}
	return sets
}

// setOf is the number of the set that a field speaks of, and of the other one of an incidence.
func (w *Workload) setOf(p job.Port) (set, of int, err error) {
	find := func(name, key string) (int, error) {
		if k := slices.Index(w.sets, name); k >= 0 {
			return k, nil
		}
		if name == "" && key == "set" {
			return 0, nil
		}
		known := slices.DeleteFunc(slices.Clone(w.sets), func(s string) bool { return s == "" })
		if len(known) == 0 {
			return 0, fmt.Errorf("%s: %q of %s, and no field of the input says set: %s; say it of the fields that "+
				"have a row for each of its members", key, name, p.Name, name)
		}
		return 0, fmt.Errorf("%s: %q of %s is no set of the input; there are %s", key, name, p.Name,
			strings.Join(known, ", "))
	}
	if set, err = find(p.Set, "set"); err != nil {
		return 0, 0, err
	}
	switch {
	case p.Type == space.TypeIncidence && p.Of == "":
		return 0, 0, fmt.Errorf("%s has type incidence, a number for each member of a set: say which with of, as in "+
			"of: nodes", p.Name)
	case p.Type != space.TypeIncidence && p.Of != "":
		return 0, 0, fmt.Errorf("of: %q of %s is for type incidence; leave it out", p.Of, p.Name)
	case p.Of != "":
		if of, err = find(p.Of, "of"); err != nil {
			return 0, 0, err
		}
	}
	return set, of, nil
}

// counted writes how many rows each S alone permutes: as many as its set has in the largest sample.
func (w *Workload) counted(name string, spec space.Spec) (string, error) {
	for {
		at := bareS.FindStringSubmatchIndex(name)
		if at == nil {
			return name, nil
		}
		// a factor with a number before it has the set before its own
		of := len(numberedS.FindAllString(name[:at[1]], -1))
		n := w.rows(spec, of)
		if n == 0 && of > 0 {
			return "", w.Study.Errorf("group.name",
				"the group has an S more than there are sets of rows; say set: NAME of the fields whose rows it "+
					"permutes, or leave it out")
		}
		if n == 0 {
			return "", w.Study.Errorf("group.name", "S permutes the rows of sets and graphs, and the samples have none")
		}
		name = fmt.Sprintf("%sS(%d)%s", name[:at[3]], n, name[at[4]:])
	}
}

// moves refuses a group that leaves every input as it is: its law would hold whatever the models did.
func (w *Workload) moves(spec space.Spec) error {
	of := spec.Leaves()
	for _, f := range of {
		if f.Kind != space.KindLinks && f.Type != space.TypeUnchanged {
			return nil
		}
	}
	factors := []group.Group{w.group}
	if p, ok := w.group.(group.Factored); ok {
		factors = p.Factors()
	}
	for _, g := range factors {
		if _, ok := g.(group.Permuting); ok {
			return nil
		}
		if len(g.Chart()) == 0 {
			return nil // the identity alone is what is asked for
		}
	}
	return w.Study.Errorf("group.name",
		"%s moves none of the inputs %s: edges and fields of type unchanged stay as they are; take a group that "+
			"permutes rows, such as S, or say with type what moves", w.group.Name(), strings.Join(names(of), ", "))
}

// recordSpec is how fields become the inputs of a model and its outputs answers.
func (w *Workload) recordSpec(sig onnx.Signature, in space.Spec, audit bool) (decode.RecordSpec, error) {
	s := w.Study
	spec := decode.RecordSpec{Sample: in, Kinds: w.kinds}
	fed := s.Input.Fields
	if len(fed) == 0 && in.IsRecord() { // those that the model asks for by name
		for _, f := range in.Fields {
			if slices.ContainsFunc(sig.Inputs, func(p onnx.Port) bool { return p.Name == f.Name }) {
				fed = append(fed, job.Port{Name: f.Name})
			}
		}
	}
	for _, p := range fed {
		x := decode.InputField{Field: p.Name, Port: p.Port, Pad: p.Pad}
		if !in.IsRecord() {
			if x.Field = ""; x.Port == "" &&
				slices.ContainsFunc(sig.Inputs, func(o onnx.Port) bool { return o.Name == p.Name }) {
				x.Port = p.Name
			}
		}
		spec.Inputs = append(spec.Inputs, x)
	}
	if isScores(space.Kind(s.Output.Space)) {
		spec.Outputs = []decode.OutputField{{
			Port: s.Output.Name, Kind: space.Kind(s.Output.Space),
			Decode: w.decodeSpec(space.Spec{}, audit).Decode, Words: w.words(),
		}}
		return spec, nil
	}
	for _, p := range s.Output.Fields {
		set, of, err := w.setOf(p)
		if err != nil {
			return spec, s.Errorf("output.fields", "%v", err)
		}
		spec.Outputs = append(spec.Outputs, decode.OutputField{
			Name: p.Name, Port: p.Port, Kind: space.Kind(p.Kind), Type: p.Type,
			Per: p.Per, Unit: p.Unit, Rate: w.rate(in), Set: set, Of: of,
		})
	}
	if len(spec.Outputs) == 0 {
		spec.Outputs = []decode.OutputField{{
			Port: s.Output.Name, Kind: space.Kind(s.Output.Space),
			Type: channels(s.Output.Type),
		}}
	}
	return spec, nil
}

// wordy tells whether values of a kind are texts, or bytes.
func (w *Workload) wordy(k space.Kind) bool {
	i := w.kinds.Info(k)
	return i != nil && i.Words
}

// words are what answers that are texts may be: the names of the classes, else the numbers that the labels are.
func (w *Workload) words() []string {
	if len(w.Classes) > 0 {
		return w.Classes
	}
	const most = 1000
	labels := w.Data.Labels()
	if len(labels) == 0 || slices.Max(labels) < 0 || slices.Max(labels) >= most {
		return nil
	}
	var names []string
	for k := range slices.Max(labels) + 1 {
		names = append(names, strconv.Itoa(k))
	}
	return names
}

// rate is how many numbers a second an output signal has, 0 if that is not known.
func (w *Workload) rate(in space.Spec) float64 {
	if !isSignal(in) {
		return 0
	}
	s, err := w.Eval.First()
	if err != nil {
		return 0
	}
	x, ok := s.Value.(*space.Signal)
	if !ok {
		return 0
	}
	return x.Rate / float64(max(w.Study.Input.Recurrent.Frame, 1))
}

// fieldTarget is the action on targets that are no pictures: those that the models answer, by name, moving as the
// models' answers do. Targets come to be what the answers are: a record, or the value of the only field.
func (w *Workload) fieldTarget() (action.Action, error) {
	natural := w.Data.Info().Target
	out := w.Eval.Models[0].Codec.Out()
	if natural.Kind == "" {
		return nil, nil //nolint:nilnil // no target is no fault
	}
	have, want := natural.Leaves(), out.Leaves()
	var both []space.Spec
	for _, x := range want {
		if k := slices.IndexFunc(have,
			func(o space.Spec) bool { return o.Name == x.Name && o.Kind == x.Kind }); k >= 0 {
			both = append(both, x)
		}
	}
	if len(both) == 0 && len(have) == 1 && len(want) == 1 && have[0].Kind == want[0].Kind { // what else could be meant
		both = want
		w.note("the target %q of the data is what the output %q is compared with", have[0].Name, want[0].Name)
	}
	if len(both) == 0 {
		w.note("the data has targets (%s) and the models return %s: the targets are left alone",
			strings.Join(names(have), ", "), strings.Join(names(want), ", "))
		return nil, nil //nolint:nilnil // as above
	}
	if len(both) < len(want) {
		w.note("the data has targets for %s alone", strings.Join(names(both), ", "))
	}
	bare := !out.IsRecord()
	t := &changed{Dataset: w.Data, info: w.Data.Info()}
	t.info.Target = space.Spec{Name: "target", Kind: space.KindRecord, Fields: both}
	if bare {
		t.info.Target = both[0]
	}
	asIs := bare && !natural.IsRecord() // the value of the only field
	t.change = func(s *dataset.Sample) error {
		if s.Target != nil && !asIs {
			s.Target = aim(s.Target, both, bare)
		}
		return nil
	}
	w.Data, w.Eval.Data = t, t
	if w.Study.Output.Action == "invariant" {
		return action.Trivial{G: w.group}, nil
	}
	a, err := action.NewTarget(w.group, t.info.Target, w.options())
	if err != nil {
		return nil, w.Study.Errorf("group", "the targets of the data: %v", err)
	}
	return a, nil
}

// aim keeps those fields of a target that the models answer; bare makes it the value of the only one. It is nil if the
// sample has not all of them.
func aim(target space.Value, fields []space.Spec, bare bool) space.Value {
	r := &space.Record{}
	for _, f := range fields {
		v := target
		if from, ok := v.(*space.Record); ok {
			v = from.Field(f.Name)
			if v == nil && len(fields) == 1 && len(from.Values) == 1 {
				v = from.Values[0]
			}
		}
		if v == nil {
			return nil
		}
		r.Names, r.Values = append(r.Names, f.Name), append(r.Values, v)
	}
	if bare {
		return r.Values[0]
	}
	return r
}
