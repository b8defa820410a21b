package layers

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"nero/audit"
	"nero/measure/aggregate"
	"nero/model/interior"
	"nero/model/onnx"
	"nero/model/onnx/onnxpb"
	"nero/symmetry/feature"
	"nero/symmetry/group"
)

// Shares that tell a single layer from an error that grows.
const (
	singleShare = 0.8 // of the layer
	otherShare  = 0.2 // of every other one
)

// hold leaves an error of a layer that resamples above its floor only where it is larger than resampling would give.
// The question is asked of every such layer, so that their p-values are adjusted together (docs/METRICS.md S7).
func (l *look) hold() {
	var asked []int
	var chances []float64
	for i, w := range l.rows {
		if w.resamples {
			asked, chances = append(asked, i), append(chances, w.chance)
		}
	}
	for k, chance := range aggregate.Holm(chances) {
		w := &l.rows[asked[k]]
		w.Above = w.Above && chance < (1-l.p.Policy.Confidence)/2
	}
}

// result puts together what was measured.
func (l *look) result() *Result {
	l.hold()
	r := &Result{Body: l.m.Body(), Rows: l.rows, First: -1, NoFlows: l.noFlows, Exact: l.exact, Field: l.field}
	r.Factors, _ = l.factors()
	if l.points != nil {
		r.Typed, _ = l.points.named(l.elements)
	}
	r.End, r.Limit = l.end.node, l.end.limit
	if l.finite != nil {
		d := l.finite.decomposition(l.scale)
		r.Elements = &d
	}
	for _, s := range l.along {
		r.Flows = append(r.Flows, s.decomposition(l.scale))
	}
	conf := l.p.Policy.Confidence
	broken := l.broken(r)
	if l.posed != nil {
		r.Rows = append(slices.Clone(r.Rows), l.posed.rows...)
	}
	for i := range r.Rows {
		w := &r.Rows[i]
		if l.finite != nil && broken {
			w.Share = l.finite.share(i, conf)
		}
		for _, s := range l.along {
			w.Flows = append(w.Flows, s.share(i, conf).Value)
		}
	}
	if broken {
		r.First = first(r.Rows, l.p.Param("share"))
	}
	return r
}

// off tells that the output has an error above the limit, before any layer was looked at.
func (l *look) off() bool {
	if l.finite == nil {
		return false
	}
	return l.finite.decomposition(l.scale).Error > l.p.Policy.Threshold
}

// broken tells that there is an error at the output that is not rounding.
func (l *look) broken(r *Result) bool {
	if l.end.value != "" && holds(l.p) || l.otherwise(r) {
		return false
	}
	return r.Elements != nil && r.Elements.Error > l.p.Policy.RoundingFactor*l.outFloor && r.Elements.Error > leastError
}

// otherwise tells that the numbers at the output differ, and the answers do not: they are compared as their type says,
// headings that are a full turn apart as one, and quaternions of either sign.
func (l *look) otherwise(r *Result) bool {
	return l.end.value == "" && r.Elements != nil && r.Elements.Error > l.p.Policy.Threshold && holds(l.p)
}

// first is the first layer that injects an error and carries a share of the output's, else the one with the largest
// share; -1 if no layer injects any.
func first(rows []Row, least float64) int {
	best := -1
	for i, w := range rows {
		s := math.Abs(w.Share.Value)
		if !w.Above || math.IsNaN(s) {
			continue
		}
		if s >= least {
			return i
		}
		if best < 0 || s > math.Abs(rows[best].Share.Value) {
			best = i
		}
	}
	return best
}

// report hands in measures, exhibits, clues and a finding.
func (l *look) report(r *Result) {
	p := l.p
	p.Measure(audit.Number("layers", float64(len(r.Rows)), "layers"),
		audit.Number("layers that inject an error", float64(count(r.Rows, func(w Row) bool { return w.Above })),
			"layers"),
		audit.Number("layers that could not be tested",
			float64(count(r.Rows, func(w Row) bool { return strings.HasPrefix(w.Status, untestable) })), "layers"))
	if r.Elements != nil {
		p.Measure(audit.Number("error at "+l.what()+", root mean square", r.Elements.Error, ""),
			audit.Number("rounding at the output", l.outFloor, ""))
		if l.broken(r) {
			p.Measure(audit.Number("sum of the shares", r.Elements.Sum, ""),
				audit.Number("cancellation index", r.Elements.Cancellation, ""))
		}
	}
	for _, d := range r.Flows {
		p.Measure(audit.Number("derivative along "+d.Name, d.Error, per(d.Unit)),
			audit.Number("sum of the shares along "+d.Name, d.Sum, ""),
			audit.Number("cancellation index along "+d.Name, d.Cancellation, ""))
	}
	l.table(r)
	l.curves(r)
	l.clues(r)
	l.finding(r)
}

func per(unit string) string {
	if unit == "" {
		return ""
	}
	return "1/" + unit
}

func count(rows []Row, is func(Row) bool) int {
	n := 0
	for _, w := range rows {
		if is(w) {
			n++
		}
	}
	return n
}

func (l *look) table(r *Result) {
	t := &audit.Table{Columns: []audit.Column{
		{Name: "layer"},
		{Name: "operator"},
		{Name: "representation", Doc: "how the group moves what the layer makes"},
	}}
	if r.Typed {
		t.Columns = append(t.Columns, audit.Column{
			Name: "type", Doc: "irreps of one row, as e3nn writes them: copies, degree, e for even and o for odd " +
				"under the inversion, or no letter where no element mirrors",
		})
	}
	t.Columns = append(t.Columns, []audit.Column{
		{Name: "origin", Doc: "declared, structural (follows from the graph), inferred (found in the values), assumed"},
		{Name: "prefix", Doc: "error that has accumulated, over the scale of the layer"},
		{Name: "injected", Doc: "error that this layer makes of an exactly moved input"},
		{Name: "floor", Doc: "what rounding, or resampling, makes of it"},
		{Name: "share", Doc: "signed share of the error at the output"},
	}...)
	for _, d := range r.Flows {
		t.Columns = append(t.Columns,
			audit.Column{Name: "share, " + d.Name, Doc: "signed share of the derivative along the group"})
	}
	for _, name := range r.Factors {
		t.Columns = append(t.Columns,
			audit.Column{Name: "injected, " + name, Doc: "error that this layer makes where this factor moves alone"})
	}
	t.Columns = append(t.Columns, audit.Column{Name: "status"})
	for _, w := range r.Rows {
		rep := w.Rep
		if rep == "" {
			rep = "unknown"
		}
		cells := []audit.Cell{audit.Word(w.Name), audit.Word(w.Op), audit.Word(rep)}
		if r.Typed {
			cells = append(cells, audit.Word(cmp.Or(w.Type, "unknown")))
		}
		cells = append(cells, audit.Word(string(w.Origin)), audit.Num(w.Prefix), audit.Num(w.Injected),
			audit.Num(w.Floor), audit.Num(w.Share.Value))
		for f := range r.Flows {
			x := math.NaN()
			if f < len(w.Flows) {
				x = w.Flows[f]
			}
			cells = append(cells, audit.Num(x))
		}
		for k := range r.Factors {
			x := math.NaN()
			if k < len(w.Factors) {
				x = w.Factors[k]
			}
			cells = append(cells, audit.Num(x))
		}
		status := w.Status
		if w.Above && strings.HasPrefix(status, "tested") {
			status = "breaks" + l.mirrored(w) + strings.TrimPrefix(status, "tested")
		}
		t.Rows = append(t.Rows, append(cells, audit.Word(status)))
	}
	note := "Errors are over the spread of each layer's values; shares add to one, and are negative where a layer " +
		"undoes what others did."
	if !r.Exact {
		note += " The elements resample the input."
	}
	if l.posed != nil {
		note += " What was put around the model is one layer; those of the model follow, as they are in the poses " +
			"that " +
			"it is asked in."
	}
	if len(r.Factors) > 0 {
		note += " By factors: " + l.firsts(r) + "."
	}
	if _, ok := l.group.(group.Factored); ok && len(r.Factors) == 0 {
		note += fmt.Sprintf(" The factors of %s move together, since the samples have more than %d numbers.",
			l.group.Name(), mostAlone)
	}
	if t := l.end.reaches(); t != "" {
		note += " " + t
	}
	if t := untold(r.Rows); t != "" {
		note += " What is known ends where a layer cannot be told: " + t + "."
	}
	if r.NoFlows != "" {
		note += " No derivatives: " + r.NoFlows + "."
	}
	l.p.Show(audit.Exhibit{Name: "layers", Title: "Layers, on " + r.Body, Note: note, Table: t})
}

func (l *look) curves(r *Result) {
	names := []string{"prefix", "injected", "floor"}
	series := make([]audit.Series, len(names))
	for k, name := range names {
		s := audit.Series{Name: name}
		for _, w := range r.Rows {
			y := []float64{w.Prefix, w.Injected, w.Floor}[k]
			if math.IsNaN(y) {
				continue
			}
			s.X, s.Y, s.Labels = append(s.X, float64(w.Index)), append(s.Y, y), append(s.Labels, w.Name)
		}
		series[k] = s
	}
	if len(series[0].X) > 0 {
		l.p.Show(audit.Exhibit{
			Name: "layer-profile", Title: "Error by layer",
			Note: "The prefix error has accumulated; the injected one is made by the layer alone.",
			Curve: &audit.Curve{
				X: audit.Scale{Name: "layer"}, Y: audit.Scale{Name: "relative error", Log: true},
				Limit: math.NaN(), Series: series,
			},
		})
	}
	var shares []audit.Series
	add := func(name string, of func(w Row) float64) {
		s := audit.Series{Name: name, Marks: true}
		for _, w := range r.Rows {
			if y := of(w); !math.IsNaN(y) {
				s.X, s.Y, s.Labels = append(s.X, float64(w.Index)), append(s.Y, y), append(s.Labels, w.Name)
			}
		}
		if len(s.X) > 0 {
			shares = append(shares, s)
		}
	}
	add("elements", func(w Row) float64 { return w.Share.Value })
	for f, d := range r.Flows {
		add("along "+d.Name, func(w Row) float64 { return w.Flows[f] })
	}
	if len(shares) > 0 {
		l.p.Show(audit.Exhibit{
			Name: "layer-shares", Title: "Signed shares of the error at the output", Note: "Each series adds to one.",
			Curve: &audit.Curve{
				X: audit.Scale{Name: "layer"}, Y: audit.Scale{Name: "share"}, Limit: math.NaN(),
				Series: shares,
			},
		})
	}
}

// what is followed.
func (l *look) what() string {
	switch {
	case l.end.node != "":
		return l.end.node
	case l.field != "":
		return l.field
	}
	return "the output"
}

// untold names the first layer that could not be tested, and why: what is known ends there. It is "" if there is none.
func untold(rows []Row) string {
	for _, w := range rows {
		if why, ok := strings.CutPrefix(w.Status, untestable); ok {
			return fmt.Sprintf("%s (%s) is the first layer that could not be tested: %s", w.Name, w.Op, why)
		}
	}
	return ""
}

// class is what kind of operator a layer is: the clue that names it, in words, and what to do.
func (l *look) class(w Row) (clue audit.ClueName, what string, remedies []string) {
	if w.Op == interior.WrapperOp {
		what, remedies = l.around()
		return "", what, remedies
	}
	n := l.node(w)
	shifts := slices.ContainsFunc(feature.Flows(l.group), func(f feature.Flow) bool { return f.B != [2]float64{} })
	turns := slices.ContainsFunc(feature.Flows(l.group), func(f feature.Flow) bool { return f.L != [2][2]float64{} })
	strided := false
	if n != nil {
		strided = slices.ContainsFunc(onnx.Ints(n, "strides", nil), func(s int64) bool { return s > 1 })
	}
	switch {
	case w.Op == "Pad":
		return "", "a padding", []string{"pad by the same number of places on opposite sides, or around"}
	case pools[w.Op] || globals[w.Op] || strided && shifts || n != nil && l.subsamples(n) != nil:
		return audit.CluePooling, "pooling or striding", []string{
			"choose sizes, strides and padding so that the grid of the layer maps to itself under the group, or pool " +
				"with a low-pass filter before the stride",
			"look at the aggregation: a mean or a maximum over whole orbits keeps the symmetry, a window that lies " +
				"off the centre does not",
		}
	case convolutions[w.Op]:
		r := []string{"constrain the kernels: for " + l.group.Name() +
			" a filter and its moved copies must be the same weights"}
		if shifts && !turns {
			r = []string{"look at the border: zero padding is no symmetry of shifts; use circular or valid padding"}
		}
		return audit.ClueConvolution, "a convolution",
			append(r, "check the padding: it must be the same on opposite sides")
	case normalisations[w.Op]:
		return audit.ClueNormalisation, "a normalisation",
			[]string{"share scale, offset and statistics among all channels and places that the group exchanges"}
	case products[w.Op] && l.couples(n) != "":
		return audit.ClueCoupling, "the coupling of a product of irreps, " + l.couples(n), []string{
			"hold its stored numbers against the Clebsch-Gordan coefficients of these irreps, in the order of " +
				"components that the other layers have: a sign, an order or a path is wrong",
		}
	case products[w.Op] && l.leavesSphere(n):
		return audit.ClueSphere, "the way back from a product on the sphere", []string{
			"take more directions, or other weights: a product of degrees a and b has degree a+b, and the harmonics " +
				"that are read off must be told apart from all of that",
		}
	case products[w.Op]:
		return audit.ClueDense, "a dense layer", []string{
			"replace the dense layer on places by a pooling over all of them, or by a convolution",
			"if it stands on channels that the group exchanges, share its weights among them",
		}
	case pointwise[w.Op] && n != nil && l.constants(n):
		if l.placed(n) {
			return audit.CluePositions, "an operation with stored numbers, such as positions", []string{
				"drop the table of positions, or use relative positions, or make it symmetric under " + l.group.Name(),
			}
		}
		return "", "an operation with stored numbers", []string{
			"drop these numbers, or make them symmetric under " + l.group.Name(),
		}
	case linear[w.Op]:
		return "", "the operator " + w.Op,
			[]string{"compare what it brings together: values that move in different ways, or an output that is " +
				"declared in another representation"}
	case pointwise[w.Op]:
		return audit.ClueNonlinearity, "a pointwise nonlinearity",
			[]string{"apply it to norms or to channels that the group permutes without signs, or gate with such " +
				"channels"}
	}
	return "", "the operator " + w.Op,
		[]string{"compare the layer alone with its input moved and unmoved, as the table does"}
}

// entrance is where an error that shows at w may have come in: the first of the layers that cannot be told apart from
// it and do more than hand values to other places, or take products that are summed up later; where none does, or w
// acts on each place alone, the first that may cut places off; where w merely hands on what the output is, the last
// layer before it that breaks as well, or what it reads; else w itself.
func (l *look) entrance(rows []Row, w Row) Row {
	rest := 0
	for _, v := range rows {
		if !slices.Contains(w.Together, v.Name) {
			continue
		}
		if !movements[v.Op] && v.Op != "Pad" && v.Op != "Identity" && !v.bridge {
			return v
		}
		if v.bridge {
			rest++
		}
	}
	if pointwise[w.Op] || l.points != nil && len(w.Together) > 0 && rest == 0 {
		for _, v := range rows {
			if slices.Contains(w.Together, v.Name) && slices.Contains(cutters, v.Op) {
				return v
			}
		}
	}
	n := l.node(w)
	if n == nil || len(w.Together) > 0 || !l.passes(n) {
		return w
	}
	at := slices.IndexFunc(rows, func(v Row) bool { return v.Index == w.Index })
	if i := lost(rows[:max(at, 0)], w); i >= 0 {
		return l.entrance(rows[:i+1], rows[i])
	}
	if n.GetOpType() == "Identity" {
		for i, row := range slices.Backward(rows) {
			if v := l.node(row); v != nil && slices.Contains(v.GetOutput(), n.GetInput()[0]) {
				return l.entrance(rows[:i+1], row)
			}
		}
	}
	return w
}

// lost is the last of the layers before w that breaks, if what has gone wrong by then is a good part of what shows at
// w: how values that no longer move as assumed would have to move says nothing of w. -1 if there is none.
func lost(before []Row, w Row) int {
	const much = 0.1
	last := -1
	wrong := false
	for i, v := range before {
		if v.Above {
			last = i
		}
		wrong = wrong || v.Above && v.Prefix >= much*w.Injected
	}
	if !wrong {
		return -1
	}
	return last
}

// passes tells that a node hands its values on as they are, or times one number: no group can tell the two apart, so
// an error that shows there is that of a layer before, whose values were taken to move in another way than declared.
func (l *look) passes(n *onnxpb.NodeProto) bool {
	switch n.GetOpType() {
	case "Identity", "Neg":
		return true
	case "Mul", "Div":
		return l.constants(n) && !slices.ContainsFunc(n.GetInput(), func(v string) bool {
			s, known := l.shape(v)
			return l.constant(v) && (!known || slices.ContainsFunc(s, func(d int) bool { return d > 1 }))
		})
	}
	return false
}

// cutters may leave places out or move them.
var cutters = []string{"Slice", "Pad", "Gather", "Split", "Transpose"}

// constants tells whether a node with two or more inputs reads stored numbers.
func (l *look) constants(n *onnxpb.NodeProto) bool {
	return len(n.GetInput()) > 1 && slices.ContainsFunc(n.GetInput(), l.constant)
}

// constant tells that a value is the same for all inputs, and none of them.
func (l *look) constant(v string) bool {
	return v != "" && !l.varies[v] && !slices.Contains(l.m.Inputs(), v)
}

// placed tells whether stored numbers that a node reads may be those of places: of a picture, or of moments where the
// group shifts time. One number for each channel, where channels come before places, is none of a place, and a single
// number is none of anything.
func (l *look) placed(n *onnxpb.NodeProto) bool {
	many := func(d int) bool { return d > 1 }
	if !slices.ContainsFunc(n.GetInput(), func(v string) bool {
		s, known := l.shape(v)
		return l.constant(v) && (!known || slices.ContainsFunc(s, many))
	}) {
		return false
	}
	axes := 0 // of places, the last ones of a map
	_, moments := l.group.(group.Shifting)
	in := l.shapes[l.m.Inputs()[0]]
	switch k := len(in); {
	case l.h > 0 && k == 4 && in[2] == l.h && in[3] == l.w:
		axes = 2
	case l.h == 0 && moments && k == 3 && in[2] > 1:
		axes = 1
	default:
		return l.h > 0
	}
	if len(n.GetOutput()) == 0 || len(l.shapes[n.GetOutput()[0]]) != axes+2 {
		return l.h > 0
	}
	return slices.ContainsFunc(n.GetInput(), func(v string) bool {
		s, known := l.shape(v)
		return l.constant(v) && (!known || slices.ContainsFunc(s[max(len(s)-axes, 0):], many))
	})
}

// shape is that of a value for one sample, or that of a stored tensor, where either is known.
func (l *look) shape(v string) (s []int, known bool) {
	if s, known = l.shapes[v]; known {
		return s, true
	}
	for _, t := range l.m.ONNX().Proto().GetGraph().GetInitializer() {
		if t.GetName() == v {
			s, err := onnx.StoredShape(t)
			return s, err == nil
		}
	}
	return nil, false
}

// node is that of a layer; nil for the input, and for what was put around a model.
func (l *look) node(w Row) *onnxpb.NodeProto {
	for _, y := range l.layers {
		if y.Index == w.Index && y.Name == w.Name && !y.Input && !y.Wrapper {
			return l.maker(y.Produced[0])
		}
	}
	return nil
}

// clues hands in what was seen and what was looked for in vain.
func (l *look) clues(r *Result) {
	if r.Elements == nil {
		return
	}
	set := "exact"
	if !r.Exact {
		set = "resampled"
	}
	give := func(name audit.ClueName, holds bool, strength float64, location, text string, ev ...audit.Evidence) {
		l.p.Clue(audit.Clue{
			Name: name, Holds: holds, Strength: strength, Text: text, Location: location, Set: set,
			Evidence: ev,
		})
	}
	if !l.broken(r) {
		text := fmt.Sprintf("the error at %s, %.2g, is rounding; %d layers inject one", l.what(), r.Elements.Error,
			count(r.Rows, func(w Row) bool { return w.Above }))
		strength := 0.9
		if l.end.value != "" { // nothing is known of what comes after
			strength = 0.5
			if holds(l.p) {
				text = "the boxes hold, whatever the maps inside do"
			}
			text += ". " + l.end.reaches()
		}
		if l.otherwise(r) {
			text = "the answers hold; that numbers of them differ, such as headings by a full turn, is no error"
		}
		give(audit.ClueFirstLayer, false, strength, "", text)
		return
	}
	if r.First < 0 {
		text := "no layer that could be tested injects an error"
		if t := untold(r.Rows); t != "" {
			text += "; " + t
		}
		give(audit.ClueFirstLayer, false, 0.5, "", text)
		return
	}
	w := r.Rows[r.First]
	start := l.entrance(r.Rows, w)
	name, what, _ := l.class(start)
	strength := 0.9
	if w.Origin == feature.ByDefault || !r.Exact {
		strength = 0.6
	}
	ev := []audit.Evidence{
		audit.Number("injected error", w.Injected, "").Against(w.Floor * l.p.Policy.RoundingFactor),
		audit.Measured("share of the error at the output", w.Share, ""),
	}
	before := unshared(r.Rows[:r.First])
	text := fmt.Sprintf("%s %s (%s), %s%s; %s", among(before), start.Name, start.Op, what,
		l.under(r, w)+l.mirrored(w), l.causes(w.Share.Value))
	if start.Index != w.Index {
		text += fmt.Sprintf(", with those up to %s, which cannot be told apart", w.Name)
	}
	text += before
	give(audit.ClueFirstLayer, true, strength, start.Name, text, ev...)
	most, others := r.First, 0.0
	for i, v := range r.Rows {
		if s := math.Abs(v.Share.Value); s > math.Abs(r.Rows[most].Share.Value) {
			most = i
		}
	}
	for i, v := range r.Rows {
		if s := math.Abs(v.Share.Value); i != most && s > others {
			others = s
		}
	}
	big := r.Rows[most]
	single := math.Abs(big.Share.Value) >= singleShare && others <= otherShare
	carries := fmt.Sprintf("%s causes %s of the error, every other layer at most %s", big.Name,
		audit.Percent(big.Share.Value), audit.Percent(others))
	if name := l.soleUnder(r, w); !single && name != "" { // layers may break one factor each
		single, big = true, w
		carries = fmt.Sprintf("under %s alone %s carries all of the error", name, w.Name)
	}
	give(audit.ClueSingleLayer, single, strength, l.entrance(r.Rows, big).Name, carries)
	if start := l.entrance(r.Rows, big); single && slices.Contains(cutters, start.Op) {
		give(audit.ClueKernelAsymmetry, false, strength, start.Name,
			fmt.Sprintf("%s (%s), which carries the error, has no weights", start.Name, start.Op))
	}
	grows, rho := grows(r.Rows)
	if !math.IsNaN(rho) {
		give(audit.ClueGrows, grows && !single, 0.8, "",
			fmt.Sprintf("over %d layers the error and the depth have the rank correlation %.2g", len(r.Rows), rho))
	}
	if most == r.First || single {
		w, start = big, l.entrance(r.Rows, big)
		name, what, _ = l.class(start)
	}
	if broken, n := l.weighted(r.Rows); n >= leastWeighted {
		give(audit.ClueGeneric, float64(broken) >= mostlyBroken*float64(n), strength, "",
			fmt.Sprintf("%d of %d layers with weights that could be tested break the symmetry by themselves", broken,
				n))
	}
	if name != "" {
		give(name, true, strength*math.Min(1, math.Max(0.2, math.Abs(w.Share.Value))), start.Name,
			fmt.Sprintf("%s, which breaks, is %s", start.Name, what), ev...)
	}
	if w := r.Rows[r.First]; r.Typed && single && most == r.First && l.mirrored(w) != "" {
		give(audit.ClueParities, true, strength, start.Name, fmt.Sprintf("%s breaks under mirrors and holds under "+
			"rotations: what is even under the inversion and what is odd came together", start.Name), ev...)
	}
	if r.First == len(r.Rows)-1 && r.Rows[r.First].Index == l.layers[len(l.layers)-1].Index &&
		lost(r.Rows[:r.First], w) < 0 {
		// A layer that only hands values on can break nothing but what is declared of it.
		other := l.other != nil || len(w.Together) == 0 && (movements[w.Op] || w.Op == "Identity")
		text = "every layer before the output holds"
		if l.other != nil {
			text += fmt.Sprintf("; the values of the output are explained by %q, the declaration is %q",
				l.other.String(), l.out.String())
		}
		give(audit.ClueOutputLayer, other, 0.9, l.entrance(r.Rows, w).Name, text)
	}
}

// Of this many layers with weights a share of them is one, and from this share on they are nearly all.
const (
	leastWeighted = 3
	mostlyBroken  = 0.75
)

// weighted counts the layers with weights of which the injected error is known, and those of them where it is beyond
// its floor.
func (l *look) weighted(rows []Row) (broken, n int) {
	for _, w := range rows {
		if !convolutions[w.Op] && !products[w.Op] || math.IsNaN(w.Injected) {
			continue
		}
		if node := l.node(w); node == nil || !l.constants(node) {
			continue
		}
		n++
		if w.Above {
			broken++
		}
	}
	return broken, n
}

// grows tells whether the prefix error rises with depth: Spearman's rank correlation over the layers where it is above
// rounding.
func grows(rows []Row) (ok bool, rho float64) {
	var y []float64
	above := 0
	for _, w := range rows {
		if !math.IsNaN(w.Prefix) && w.Prefix > w.Floor {
			y = append(y, w.Prefix)
		}
		if w.Above {
			above++
		}
	}
	if len(y) < 4 || above < 3 {
		return false, math.NaN()
	}
	order := make([]int, len(y))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case y[a] < y[b]:
			return -1
		case y[a] > y[b]:
			return 1
		}
		return 0
	})
	var d float64
	for rank, i := range order {
		d += float64((rank - i) * (rank - i))
	}
	n := float64(len(y))
	rho = 1 - 6*d/(n*(float64(n*n)-1))
	return rho >= 0.7, rho
}

// finding names the first layer that breaks, or the first of those that cannot be followed.
func (l *look) finding(r *Result) {
	if r.First < 0 || !(r.Elements.Error > l.p.Policy.Threshold) || l.otherwise(r) {
		return
	}
	w := r.Rows[r.First]
	start := l.entrance(r.Rows, w)
	_, what, remedies := l.class(start)
	if l.mirrored(w) != "" {
		remedies = append([]string{"keep parities apart: rotations hold here, so that what is even under the " +
			"inversion and what is odd came together; the product of two odd ones is even"}, remedies...)
	}
	before := unshared(r.Rows[:r.First])
	if l.other != nil && r.First == len(r.Rows)-1 && lost(r.Rows[:r.First], w) < 0 {
		remedies = append([]string{fmt.Sprintf("declare the output as it moves: its values are explained by %q",
			l.other.String())}, remedies...)
	}
	if math.Abs(w.Share.Value) < singleShare {
		if most := l.largest(r); most != r.First {
			remedies = append(remedies, fmt.Sprintf("treat the largest share first: that of %s is %s",
				r.Rows[most].Name, audit.Percent(r.Rows[most].Share.Value)))
		}
	}
	set := "exact"
	if !r.Exact {
		set = "resampled"
	}
	l.p.Report(audit.Finding{
		Category: audit.Layer, Set: set, Location: start.Name, Remedies: remedies, Worst: l.worst(),
		Message: fmt.Sprintf("%s %s (%s), %s%s%s: it turns an input that moved exactly into one that is off by %.2g, "+
			"and %s%s", among(before), start.Name, start.Op, what, l.under(r, w)+l.mirrored(w),
			limit(start, w), w.Injected, l.causes(w.Share.Value), before),
		Evidence: []audit.Evidence{
			audit.Number("injected error", w.Injected, "").Against(w.Floor * l.p.Policy.RoundingFactor),
			audit.Measured("share of the error at the output", w.Share, ""),
			audit.Number("error at the output, root mean square", r.Elements.Error, ""),
		},
	})
}

// unshared names the first of the rows before that breaks as well: nobody could measure how much of its error arrives,
// or hardly any does.
func unshared(before []Row) string {
	for _, w := range before {
		switch {
		case w.Above && math.IsNaN(w.Share.Value):
			return fmt.Sprintf("; %s before it breaks as well, and its share could not be measured", w.Name)
		case w.Above:
			return fmt.Sprintf("; %s before it breaks as well, and hardly any of that arrives: its share is %.2g",
				w.Name, w.Share.Value)
		}
	}
	return ""
}

// among begins the sentence on the first layer that breaks, and limits it where layers before it break with shares that
// nobody knows.
func among(before string) string {
	if before == "" {
		return "the symmetry is first lost in"
	}
	return "of the layers whose share is known, the symmetry is first lost in"
}

// causes says how much of the error a layer is the cause of. Shares are signed and sum to one, so that one above 1 is
// of an error that later layers undo in part.
func (l *look) causes(share float64) string {
	switch {
	case math.IsNaN(share):
		return "how much of the error at " + l.what() + " it causes is not known"
	case share > 1.005:
		return fmt.Sprintf("it alone would cause %s of the error at %s, and later layers undo part of that",
			audit.Percent(share), l.what())
	case share < 0:
		return fmt.Sprintf("it takes %s of the error at %s away", audit.Percent(-share), l.what())
	}
	return fmt.Sprintf("it causes %s of the error at %s", audit.Percent(share), l.what())
}

// limit says where what is known ends, if an error came in at start and shows only at w.
func limit(start, w Row) string {
	if len(w.Together) == 0 {
		return ""
	}
	if start.Index == w.Index {
		return ", taken together with " + strings.Join(w.Together, ", ") + ", which could not be told apart"
	}
	return fmt.Sprintf(", or one of those after it up to %s, which cannot be told apart: of what lies between nobody "+
		"knows how it moves", w.Name)
}

// largest is the row with the largest share.
func (l *look) largest(r *Result) int {
	most := r.First
	for i, v := range r.Rows {
		if math.Abs(v.Share.Value) > math.Abs(r.Rows[most].Share.Value) {
			most = i
		}
	}
	return most
}

// worst is the sample and element with the largest error at the output.
func (l *look) worst() audit.Where {
	top, at := -1.0, 0
	for i, d := range l.finite.total {
		if v := dot(d, d); v > top {
			top, at = v, i
		}
	}
	e := l.elements[at%len(l.elements)]
	i := at / len(l.elements)
	return audit.Where{Sample: l.ids[i], Index: l.indexes[i], Element: e.G, Label: e.Label}
}
