package dataset

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"nero/data/space"
	"nero/data/tensor"
)

// table is arrays that belong together: those of an npz archive, or a single one. Every array has the samples on its
// first axis or, where node_count (edge_count) says how many nodes (edges) each sample has, those of all samples one
// after another. Where the main array has a first axis of samples and there is a node_count too, the rows beyond it
// fill the array up and are left out.
type table struct {
	// for messages
	name   string
	format tableFormat
	// by the name that the data set gives them
	arrays map[string]*array
	// what the archive calls them
	keys map[string]string
	n    int
	// where the nodes of each sample begin, and where the last ones end; nil if all samples have as many
	nodes []int
	// the same of edges
	edges []int
	main  string
	// nodes of each sample where nodes is nil; -1 if no array says so
	each int
	// filled says that the samples have rows of their own, filled up to equally many, of which the first node_count are
	// nodes.
	filled bool
}

// role is how the numbers of an array belong to samples.
type role struct {
	holding
	typ string
	per string
	// of each sample; -1 for those of nodes or edges
	rows int
	// numbers of a row
	w int
	// edges lie on the second axis: (2, E)
	turn bool
	// dense edges (n, 2, E) lie so too
	wide bool
	// signals: numbers of a channel
	t int
}

// holding is what the kinds of values that tables hold differ in.
type holding struct {
	kind space.Kind
	// shape of a value, where the samples are filled up and where not
	shape func(r role, filled bool) []int
	// read reads the value of sample i.
	read func(t *table, a *array, r role, i int) (space.Value, error)
}

var (
	holdsRows = holding{space.KindRows, func(r role, filled bool) []int {
		if filled && r.per == space.PerNode {
			return []int{-1, r.w}
		}
		return []int{r.rows, r.w}
	}, (*table).rowsOf}
	holdsSignal = holding{space.KindSignal, func(r role, _ bool) []int { return []int{r.w, r.t} }, (*table).signalOf}
	holdsLinks  = holding{space.KindLinks, func(r role, _ bool) []int { return []int{2, r.rows} }, (*table).linksOf}
	holdsPairs  = holding{space.KindPairs, func(r role, filled bool) []int {
		if filled {
			return []int{-1, -1, r.w}
		}
		return []int{r.rows, r.rows, r.w}
	}, (*table).pairsOf}
)

// tableFormat is what the arrays of a format are, as far as their names say so.
type tableFormat struct {
	name string
	// main are the names of the main array that are tried. The first is how the data set calls it.
	main []string
	// named says that no other array is taken for the main one, even if it is the only one.
	named bool
	// called says how the data set calls another array; nil for as the archive does.
	called func(key string) string
	// wants are the arrays that become fields where there are such and the study names no fields; nil for the main one.
	wants func(Spec) []string
	// all says that every array becomes a field then.
	all bool
	// record says that targets are a record even if there is one.
	record bool
	// timed says that the main array is signals, which have no nodes.
	timed bool
	// units are those that the format fixes for a field.
	units map[string]string
}

func targetNames() []string {
	return []string{"energy", "forces", "y", "q", "target", "targets", "stress", "virial", "dipole"}
}

func otherNames() []string {
	return []string{
		"labels", "label", "names", "name", "ids", "class_names", "classes", "node_count", "edge_count",
		"rate",
	}
}

// naturalType is what an array of this name holds, as far as the name says so.
func naturalType(name string) string {
	switch name {
	case "points", "positions":
		return space.TypePositions
	case "normals", "velocities", "forces", "vectors", "gravity", "dipole", "cell", "momenta":
		return space.TypeVectors
	case "stress", "virial":
		return space.TypeTensors
	case "species", "charges", "energy", "labels", "mask":
		return space.TypeUnchanged
	}
	return ""
}

// perNodeNames are arrays of one number for each node.
func perNode(name string) bool {
	return slices.Contains([]string{"species", "charges", "mask", "masses"}, name) || strings.HasPrefix(name, "node_")
}

// isPairs are arrays with a number for every pair of nodes.
func isPairs(name string) bool {
	return slices.Contains([]string{"matrix", "adjacency", "pairs", "distances"}, name)
}

func isLinks(name string) bool {
	return name == "edges" || name == "edge_index" || name == "links"
}

// openTable opens clouds, molecules, graphs or signals that lie in arrays.
func (o opener) openTable(spec Spec, format tableFormat) (*values, *table, error) {
	kind, err := labelFormat(o.fsys, spec.Images)
	if err != nil {
		return nil, nil, err
	}
	t := &table{name: spec.Images, format: format, arrays: map[string]*array{}, keys: map[string]string{}, each: -1}
	d := &values{root: spec.Images, noun: strings.TrimSuffix(format.name, "s"), files: []string{spec.Images}}
	if kind != "npz" {
		if spec.Key != "" {
			return nil, nil, fmt.Errorf("%s: key is for npz archives, this is none", spec.Images)
		}
		a, err := o.open(spec.Images)
		if err != nil {
			return nil, nil, err
		}
		t.main = format.main[0]
		t.arrays[t.main] = a
		for _, f := range spec.Fields {
			if f != t.main {
				return nil, nil, fmt.Errorf("%s: holds one array, which is read as %q, and a field %q is asked for: "+
					"pack all arrays into an npz archive (numpy.savez)", spec.Images, t.main, f)
			}
		}
		return d, t, t.open(d, spec)
	}
	err = o.inArchive(spec.Images, func(z *archive) error {
		if err := t.choose(z, spec); err != nil {
			return err
		}
		if err := t.load(o, z, d, spec); err != nil {
			return err
		}
		return t.open(d, spec)
	})
	return d, t, err
}

// choose names the arrays of an archive: the main one is called by the format, the others as they are.
func (t *table) choose(z *archive, spec Spec) error {
	main := spec.Key
	if main != "" {
		if _, err := z.has(main, "key"); err != nil {
			return err
		}
	}
	for _, k := range t.format.main {
		if main == "" && z.entries[k] != nil {
			main = k
		}
	}
	if main == "" && !t.format.named {
		var rest []string
		for k := range z.entries {
			if !slices.Contains(otherNames(), k) && !slices.Contains(targetNames(), k) && k != spec.TargetKey &&
				k != spec.LabelKey {
				rest = append(rest, k)
			}
		}
		if len(rest) == 1 {
			main = rest[0]
		}
	}
	if main == "" {
		return fmt.Errorf("%s: which array holds the %s? It has %s: call one %s, or set key", z.name, t.format.name,
			z.keys(), t.format.main[0])
	}
	t.main = t.format.main[0]
	if isPairs(main) {
		t.main = main
	}
	for k := range z.entries {
		name := k
		switch {
		case k == main:
			name = t.main
		case k == t.main:
			continue // another array was named in its place
		case t.format.called != nil:
			name = t.format.called(k)
		}
		if have, ok := t.keys[name]; ok {
			return fmt.Errorf("%s: the arrays %s and %s both may be the %s: remove one", z.name, have, k, name)
		}
		t.keys[name] = k
	}
	return nil
}

// load reads the arrays that samples, targets and labels need, and the names.
func (t *table) load(o opener, z *archive, d *values, spec Spec) error {
	need, left, err := t.needed(z, spec)
	if err != nil {
		return err
	}
	for _, name := range need {
		if t.arrays[name], err = o.entry(z, t.keys[name]); err != nil {
			return err
		}
	}
	if len(left) > 0 {
		d.notes = append(d.notes,
			fmt.Sprintf("%s: left out the arrays %s; they become fields of the samples where a study names them as "+
				"fields of the input", z.name, strings.Join(left, ", ")))
	}
	for _, k := range []string{"names", "name", "ids"} {
		if z.entries[k] == nil || d.ids != nil || slices.Contains(need, k) {
			continue
		}
		ids, err := o.texts(z, k)
		if err != nil {
			return err
		}
		d.ids = ids
	}
	for _, k := range []string{"class_names", "classes"} {
		if z.entries[k] != nil && d.names == nil && !slices.Contains(need, k) {
			if d.names, err = o.texts(z, k); err != nil {
				return err
			}
		}
	}
	return nil
}

// needed are the arrays to read, and those that nobody asks for.
func (t *table) needed(z *archive, spec Spec) (need, left []string, err error) {
	has := func(name string) bool { _, ok := t.keys[name]; return ok }
	for _, f := range spec.Fields {
		if !has(f) {
			return nil, nil, fmt.Errorf("%s: the samples need a field %q, and there is no such array; it has %s",
				z.name, f, z.keys())
		}
	}
	if spec.TargetKey != "" && !has(spec.TargetKey) {
		return nil, nil, fmt.Errorf("%s: no array is called %q; it has %s: correct target_key", z.name, spec.TargetKey,
			z.keys())
	}
	if spec.LabelKey != "" && !has(spec.LabelKey) && spec.Labels == "" {
		return nil, nil, fmt.Errorf("%s: no array is called %q; it has %s: correct label_key", z.name, spec.LabelKey,
			z.keys())
	}
	wanted := []string{t.main, "node_count", "edge_count", "rate"}
	if t.format.wants != nil {
		wanted = append(wanted, t.format.wants(spec)...)
	}
	if len(spec.Fields) > 0 {
		wanted = slices.Concat([]string{"node_count", "edge_count", "rate"}, spec.Fields, []string{t.main})
	}
	wanted = append(wanted, "labels", "label", spec.LabelKey)
	if spec.TargetKey != "" {
		wanted = append(wanted, spec.TargetKey)
	} else if spec.Targets == "" {
		wanted = append(wanted, targetNames()...)
	}
	if spec.Labels == "" {
		wanted = append(wanted, "y")
	}
	names := make([]string, 0, len(t.keys))
	for name := range t.keys {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		switch {
		case slices.Contains(wanted, name), t.format.all && len(spec.Fields) == 0 &&
			!slices.Contains(otherNames(), name) && !slices.Contains(targetNames(), name):
			need = append(need, name)
		case !slices.Contains(otherNames(), name) && !slices.Contains(targetNames(), name):
			left = append(left, name)
		}
	}
	return need, left, nil
}

// open finds what each array holds and describes samples and targets.
func (t *table) open(d *values, spec Spec) error {
	if err := t.count(); err != nil {
		return inFile(t.name, err)
	}
	if t.n > maxSamples {
		return inFile(t.name, fmt.Errorf("%d samples, want at most %d: split the file", t.n, maxSamples))
	}
	if err := t.labels(d, spec); err != nil {
		return err
	}
	if d.ids == nil {
		d.ids = make([]string, t.n)
		for i := range d.ids {
			d.ids[i] = strconv.Itoa(i)
		}
	}
	if len(d.ids) != t.n {
		return inFile(t.name, fmt.Errorf("%d names for %d samples: they do not belong together", len(d.ids), t.n))
	}
	d.ids = distinct(d.ids)

	values, targets := t.divide(spec)
	roles := map[string]role{}
	var err error
	if d.space, err = t.describe(values, roles, false); err != nil {
		return err
	}
	if d.target, err = t.describe(targets, roles, t.format.record); err != nil {
		return err
	}
	d.load = func(i int) (v, target space.Value, tags []string, err error) {
		if v, err = t.record(values, roles, i, d.ids[i], false); err != nil {
			return nil, nil, nil, err
		}
		if len(targets) > 0 {
			target, err = t.record(targets, roles, i, d.ids[i], t.format.record)
		}
		return v, target, nil, err
	}
	return nil
}

// distinct appends #2, #3, … to names that come again.
func distinct(ids []string) []string {
	count, used := map[string]int{}, map[string]bool{}
	for _, id := range ids {
		count[id]++
	}
	if len(count) == len(ids) {
		return ids
	}
	for id := range count {
		used[id] = true
	}
	out, seen := make([]string, len(ids)), map[string]int{}
	for i, id := range ids {
		if out[i] = id; count[id] == 1 {
			continue
		}
		for {
			seen[id]++
			if out[i] = id + "#" + strconv.Itoa(seen[id]); !used[out[i]] {
				used[out[i]] = true
				break
			}
		}
	}
	return out
}

// divide says which arrays are fields of the sample and which are targets, in their order.
func (t *table) divide(spec Spec) (values, targets []string) {
	isTarget := func(name string) bool {
		if spec.TargetKey != "" {
			return name == spec.TargetKey
		}
		return slices.Contains(targetNames(), name) && spec.Targets == "" && !slices.Contains(spec.Fields, name)
	}
	if values = slices.Clone(spec.Fields); len(values) == 0 {
		for name := range t.arrays {
			if !slices.Contains(otherNames(), name) && !slices.Contains(targetNames(), name) && name != spec.LabelKey &&
				!isTarget(name) {
				values = append(values, name)
			}
		}
		slices.SortFunc(values, func(a, b string) int {
			if x, y := t.place(a), t.place(b); x != y {
				return x - y
			}
			return strings.Compare(a, b)
		})
	}
	for name := range t.arrays {
		if isTarget(name) {
			targets = append(targets, name)
		}
	}
	slices.SortFunc(targets, func(a, b string) int {
		if x, y := slices.Index(targetNames(), a), slices.Index(targetNames(), b); x != y {
			return x - y
		}
		return strings.Compare(a, b)
	})
	return values, targets
}

// place is where a field comes among the others.
func (t *table) place(name string) int {
	if name == t.main {
		return 0
	}
	if k := slices.Index([]string{"normals", "species", "charges", "cell", "edges", "edge_index"}, name); k >= 0 {
		return k + 1
	}
	return 100
}

// count finds the number of samples and where their nodes and edges are.
func (t *table) count() error {
	var err error
	a := t.arrays[t.main]
	if t.nodes, err = t.starts("node_count"); err != nil {
		return err
	}
	if t.edges, err = t.starts("edge_count"); err != nil {
		return err
	}
	for name, x := range t.arrays {
		if x.fortran && len(x.shape) > 1 {
			return fmt.Errorf("array %q is in Fortran order: store it in C order (numpy.ascontiguousarray)", name)
		}
		if len(x.shape) == 0 && name != "rate" {
			return fmt.Errorf("array %q is a single number, want one for each sample", name)
		}
		if len(x.shape) > 0 && x.shape[0] == 0 && name == t.main {
			return fmt.Errorf("array %q is empty: no samples", name)
		}
	}
	switch {
	case t.nodes != nil:
		t.n = len(t.nodes) - 1
	case t.edges != nil:
		t.n = len(t.edges) - 1
	default:
		t.n = a.shape[0]
	}
	if t.n == 0 {
		return errors.New("no samples")
	}
	if t.nodes != nil && t.edges != nil && len(t.nodes) != len(t.edges) {
		return fmt.Errorf("node_count has %d numbers and edge_count %d: want one of each for every sample", t.n,
			len(t.edges)-1)
	}
	if t.nodes != nil && len(a.shape) == 3 && a.shape[0] == t.n && !t.format.timed {
		t.filled, t.each = true, a.shape[1]
		for i := range t.n {
			if k := t.nodes[i+1] - t.nodes[i]; k > t.each {
				return fmt.Errorf("sample %d has %d nodes by node_count, but array %q has room for %d", i, k, t.main,
					t.each)
			}
		}
		return nil
	}
	if t.nodes != nil && a.shape[0] != t.nodes[t.n] {
		return fmt.Errorf("array %q has %d rows, but node_count adds up to %d: they do not belong together", t.main,
			a.shape[0], t.nodes[t.n])
	}
	if t.nodes == nil && !t.format.timed && len(a.shape) >= 2 {
		t.each = a.shape[1]
	}
	return nil
}

// starts turns counts into where each sample begins.
func (t *table) starts(key string) ([]int, error) {
	a := t.arrays[key]
	if a == nil {
		return nil, nil
	}
	if len(a.shape) != 1 || isFloat(a.dtype) {
		return nil, fmt.Errorf("array %q is %s%v, want one whole number for each sample", key, a.dtype, a.shape)
	}
	v, err := numbersOf(a, 0, a.count)
	if err != nil {
		return nil, err
	}
	at := make([]int, len(v)+1)
	for i, x := range v {
		if !(x >= 0 && x <= maxValues) {
			return nil, fmt.Errorf("array %q: sample %d has %g, want 0 to %d", key, i, x, maxValues)
		}
		if at[i+1] = at[i] + int(x); at[i+1] < at[i] || at[i+1] > math.MaxInt32*64 {
			return nil, fmt.Errorf("array %q adds up to more than any array holds", key)
		}
	}
	return at, nil
}

// labels takes classes from an array of them.
func (t *table) labels(d *values, spec Spec) error {
	if spec.Labels != "" {
		return nil
	}
	key := spec.LabelKey
	for _, k := range []string{"labels", "label"} {
		if key == "" && t.arrays[k] != nil && !slices.Contains(spec.Fields, k) {
			key = k
		}
	}
	if y := t.arrays["y"]; key == "" && y != nil && !isFloat(y.dtype) && len(y.shape) == 1 && y.shape[0] == t.n &&
		spec.TargetKey == "" && !slices.Contains(spec.Fields, "y") {
		key = "y"
		d.notes = append(d.notes,
			t.name+": the whole numbers y are taken for classes; set target_key: y if they are numbers to predict")
	}
	if key == "" {
		delete(t.arrays, "label")
		return nil
	}
	var err error
	if d.labels, err = intLabels(t.arrays[key], t.n); err != nil {
		return err
	}
	delete(t.arrays, key)
	for i, l := range d.labels {
		if d.names != nil && l >= len(d.names) {
			return inFile(t.name, fmt.Errorf("sample %d has class %d, but class_names has %d names", i, l,
				len(d.names)))
		}
	}
	return nil
}

// role finds out what an array holds, from its name and shape.
func (t *table) role(name string) (role, error) {
	a := t.arrays[name]
	s := a.shape
	r := role{holding: holdsRows, typ: naturalType(name), per: space.PerNode, rows: -1, w: 1}
	want := ""
	switch {
	case t.format.timed && (name == t.main || len(s) == 3):
		r = role{holding: holdsSignal}
		switch len(s) {
		case 2:
			r.w, r.t = 1, s[1]
			return r, nil
		case 3:
			r.w, r.t = s[1], s[2]
			return r, nil
		}
		want = "(N, numbers) or (N, channels, numbers)"
	case isLinks(name):
		return t.links(name)
	case t.nodes != nil && !t.filled && len(s) <= 2 && s[0] == t.nodes[t.n] && (name == t.main || s[0] != t.n) &&
		(t.edges == nil || s[0] != t.edges[t.n] || !ofEdges(name)):
		if len(s) == 2 {
			r.w = s[1]
		}
		return r, nil
	case t.edges != nil && len(s) <= 2 && s[0] == t.edges[t.n] && s[0] != t.n:
		if r.per = space.PerEdge; len(s) == 2 {
			r.w = s[1]
		}
		return r, nil
	case s[0] != t.n:
		want = fmt.Sprintf("%d samples on its first axis", t.n)
		if t.nodes != nil {
			want += fmt.Sprintf(", or %d nodes", t.nodes[t.n])
		}
		if t.edges != nil {
			want += fmt.Sprintf(", or %d edges", t.edges[t.n])
		}
	case isPairs(name) && (len(s) == 3 || len(s) == 4) && s[1] == s[2]:
		r.holding, r.per = holdsPairs, ""
		if r.rows = s[1]; len(s) == 4 {
			r.w = s[3]
		}
		return r, nil
	case len(s) == 1:
		r.per, r.rows = space.PerSample, 1
		return r, nil
	case len(s) == 2 && name == t.main:
		want = "(N, nodes, numbers), or all nodes one after another and an array node_count"
	case len(s) == 2 && perNode(name) && s[1] == t.each:
		r.rows = s[1]
		return r, nil
	case len(s) == 2:
		r.per, r.rows, r.w = space.PerSample, 1, s[1]
		return r, nil
	case len(s) == 3:
		r.rows, r.w = s[1], s[2]
		if name == "cell" || s[1] != t.each {
			r.per = space.PerSample
		}
		if ofEdges(name) && s[1] == t.denseEdges() {
			r.per = space.PerEdge
		}
		return r, nil
	default:
		want = "one to three axes; numbers of pairs of nodes are called matrix or pairs and have shape (N, nodes, " +
			"nodes) or (N, nodes, nodes, numbers)"
	}
	return r, inFile(t.name, fmt.Errorf("array %q has shape %v, want %s", name, s, want))
}

func ofEdges(name string) bool {
	return strings.HasPrefix(name, "edge") || strings.HasPrefix(name, "bond")
}

// denseEdges is how many edges each sample has; -1 if that differs.
func (t *table) denseEdges() int {
	if a := t.arrays["edges"]; a != nil && len(a.shape) == 3 {
		return a.shape[1]
	}
	return -1
}

// links finds out how an array of edges lies.
func (t *table) links(name string) (role, error) {
	a, s := t.arrays[name], t.arrays[name].shape
	r := role{holding: holdsLinks, rows: -1, w: 2}
	if isFloat(a.dtype) {
		return r, inFile(t.name,
			fmt.Errorf("array %q holds %s, want whole numbers: the nodes at which edges begin and end", name, a.dtype))
	}
	if t.nodes == nil && t.each < 0 {
		return r, inFile(t.name,
			fmt.Errorf("array %q: nobody says how many nodes the samples have: add nodes or node_count", name))
	}
	switch {
	case t.edges != nil && len(s) == 2 && s[1] == 2 && s[0] == t.edges[t.n] && (name != "edge_index" || s[0] != 2):
		return r, nil
	case t.edges != nil && len(s) == 2 && s[0] == 2 && s[1] == t.edges[t.n]:
		r.turn = true
		return r, nil
	case t.edges == nil && len(s) == 3 && s[0] == t.n && s[2] == 2 && (name != "edge_index" || s[1] != 2):
		r.rows = s[1]
		return r, nil
	case t.edges == nil && len(s) == 3 && s[0] == t.n && s[1] == 2:
		r.rows, r.wide = s[2], true
		return r, nil
	}
	if t.edges == nil {
		return r, inFile(t.name,
			fmt.Errorf("array %q has shape %v, want (N, edges, 2) for the same number of edges in every sample, or "+
				"(all edges, 2) and an array edge_count", name, s))
	}
	return r, inFile(t.name, fmt.Errorf("array %q has shape %v, want (%d, 2) or (2, %d), as edge_count says", name, s,
		t.edges[t.n], t.edges[t.n]))
}

// describe is the spec of some arrays together, and fills in their roles.
func (t *table) describe(names []string, roles map[string]role, record bool) (space.Spec, error) {
	var fields []space.Spec
	for _, name := range names {
		r, err := t.role(name)
		if err != nil {
			return space.Spec{}, err
		}
		if r.w < 1 || r.kind == holdsSignal.kind && r.t < 1 {
			return space.Spec{},
				inFile(t.name, fmt.Errorf("array %q has shape %v: no numbers", name, t.arrays[name].shape))
		}
		roles[name] = r
		f := space.Spec{
			Name: name, Kind: r.kind, Type: r.typ, Per: r.per, Unit: t.format.units[name],
			Shape: r.shape(r, t.filled),
		}
		fields = append(fields, f)
	}
	return together(fields, record), nil
}

// together is the spec of a record of fields; of the only field itself unless a record is wanted.
func together(fields []space.Spec, record bool) space.Spec {
	switch {
	case len(fields) == 0:
		return space.Spec{}
	case len(fields) == 1 && !record:
		return fields[0]
	}
	return space.Spec{Name: "record", Kind: space.KindRecord, Fields: fields}
}

// record reads the fields of sample i.
func (t *table) record(names []string, roles map[string]role, i int, id string, record bool) (space.Value, error) {
	out := &space.Record{}
	for _, name := range names {
		v, err := t.value(name, roles[name], i)
		if err != nil {
			return nil, fmt.Errorf("%s: array %q: sample %q: %w", t.name, name, id, err)
		}
		out.Names, out.Values = append(out.Names, name), append(out.Values, v)
	}
	if len(names) == 1 && !record {
		return out.Values[0], nil
	}
	return out, nil
}

// value reads what an array holds of sample i.
func (t *table) value(name string, r role, i int) (space.Value, error) {
	return r.read(t, t.arrays[name], r, i)
}

func (t *table) signalOf(a *array, r role, i int) (space.Value, error) {
	v, err := finiteNumbers(a, i*r.w*r.t, r.w*r.t, r.t, "channel")
	if err != nil {
		return nil, err
	}
	return &space.Signal{C: r.w, T: r.t, Rate: t.rate(), Val: v}, nil
}

func (t *table) pairsOf(a *array, r role, i int) (space.Value, error) {
	v, err := finiteNumbers(a, i*r.rows*r.rows*r.w, r.rows*r.rows*r.w, r.rows*r.w, "row")
	if err != nil {
		return nil, err
	}
	if n := t.nodes; t.filled {
		return corner(v, r.rows, n[i+1]-n[i], r.w), nil
	}
	return &space.Pairs{N: r.rows, W: r.w, Val: v}, nil
}

func (t *table) rowsOf(a *array, r role, i int) (space.Value, error) {
	lo, n := i*r.rows, r.rows
	if t.filled && r.per == space.PerNode {
		n = t.nodes[i+1] - t.nodes[i]
	} else if r.rows < 0 {
		at := t.nodes
		if r.per == space.PerEdge {
			at = t.edges
		}
		lo, n = at[i], at[i+1]-at[i]
	}
	v, err := finiteNumbers(a, lo*r.w, n*r.w, r.w, "row")
	if err != nil {
		return nil, err
	}
	return &space.Rows{N: n, W: r.w, Val: v}, nil
}

// corner is the pairs of the first n of so many nodes.
func corner(v []float64, nodes, n, w int) *space.Pairs {
	out := space.NewPairs(n, w)
	for i := range n {
		copy(out.Val[i*n*w:(i+1)*n*w], v[i*nodes*w:])
	}
	return out
}

// rate is the sample rate that the archive states, 0 for none.
func (t *table) rate() float64 {
	a := t.arrays["rate"]
	if a == nil || a.count != 1 {
		return 0
	}
	v, err := numbersOf(a, 0, 1)
	if err != nil || !(v[0] > 0) || math.IsInf(v[0], 1) {
		return 0
	}
	return v[0]
}

// linksOf reads the edges of sample i and holds them against its nodes.
func (t *table) linksOf(a *array, r role, i int) (space.Value, error) {
	nodes := t.each
	if t.nodes != nil {
		nodes = t.nodes[i+1] - t.nodes[i]
	}
	var from, to []float64
	lo, n := i*r.rows, r.rows
	if r.rows < 0 {
		lo, n = t.edges[i], t.edges[i+1]-t.edges[i]
	}
	var err error
	switch {
	case r.turn:
		if from, err = numbersOf(a, lo, n); err == nil {
			to, err = numbersOf(a, a.shape[1]+lo, n)
		}
	case r.wide:
		if from, err = numbersOf(a, 2*i*n, n); err == nil {
			to, err = numbersOf(a, (2*i+1)*n, n)
		}
	default:
		var both []float64
		if both, err = numbersOf(a, 2*lo, 2*n); err == nil {
			from, to = make([]float64, n), make([]float64, n)
			for k := range n {
				from[k], to[k] = both[2*k], both[2*k+1]
			}
		}
	}
	if err != nil {
		return nil, err
	}
	return newLinks(nodes, from, to)
}

// newLinks makes edges of numbers of nodes.
func newLinks(nodes int, from, to []float64) (*space.Links, error) {
	l := &space.Links{Nodes: nodes, From: make([]int32, len(from)), To: make([]int32, len(to))}
	for k := range from {
		for _, x := range [2]float64{from[k], to[k]} {
			if x != math.Trunc(x) || !(x >= 0 && x < float64(nodes)) {
				return nil, fmt.Errorf(
					"edge %d goes from %g to %g, but the sample has the nodes 0 to %d: number the nodes of each "+
						"sample from 0", k, from[k], to[k], nodes-1)
			}
		}
		l.From[k], l.To[k] = int32(from[k]), int32(to[k])
	}
	return l, nil
}

// numbersOf converts n elements from lo on.
func numbersOf(a *array, lo, n int) ([]float64, error) {
	if _, err := tensor.CheckedCount([]int{n}, maxValues); err != nil {
		return nil, fmt.Errorf("%d numbers are more than the %d that one sample may have", n, maxValues)
	}
	b, err := a.piece(lo, n)
	if err != nil {
		return nil, err
	}
	v := make([]float64, n)
	widen(v, b, 1, a.dtype)
	return v, nil
}

// finiteNumbers is numbersOf without NaN and infinities; w is the length of a row, for messages.
func finiteNumbers(a *array, lo, n, w int, row string) ([]float64, error) {
	v, err := numbersOf(a, lo, n)
	if err != nil || !isFloat(a.dtype) {
		return v, err
	}
	for k, x := range v {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return nil, fmt.Errorf("%s %d, number %d is %v: %w; repair or leave out this sample", row, k/w, k%w, x,
				ErrNotFinite)
		}
	}
	return v, nil
}
