package discover

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"nero/data/dataset"
	"nero/data/space"
	"nero/discover/pencil"
	"nero/present/words"
	"nero/run/job"
	"nero/symmetry/action/phantom"
	"nero/symmetry/group"
)

// generators asks for families of maps that leave the answer as it is, whatever their name.
var generators = Part{
	Name: "generators",
	Doc:  "which one-parameter families of linear or affine maps, known or not, leave the answer as it is",
	Run:  func(ctx context.Context, s *Subject) (Section, error) { return generate(ctx, s, false) },

	Blank: func() Section { return &Generators{} },
}

// joint asks how the answer moves along, too.
var joint = Part{
	Name: "joint",
	Doc:  "the same for answers that move along by a matrix, which is found with the family",
	Run:  func(ctx context.Context, s *Subject) (Section, error) { return generate(ctx, s, true) },

	Blank: func() Section { return &Generators{Joint: true} },
}

// Generators is what a search for one-parameter families found.
type Generators struct {
	Joint bool `json:"joint"`
	// Samples are those to fit that it asked at, and Left those that have another size than most.
	Samples int `json:"samples"`
	Left    int `json:"left,omitempty"`
	// Fields are the inputs that are moved, in the order of the matrices of a motion.
	Fields []string `json:"fields"`
	Asked  []Asked  `json:"asked"`

	s      *Subject
	moving []moving
}

// Asked is one question.
type Asked struct {
	// At says at which inputs: "samples", "phantoms" or "smoothed samples".
	At string `json:"at"`
	// Result is nil where the question is open, for the reason Why.
	Result *pencil.Result `json:"result,omitempty"`
	Why    string         `json:"why,omitempty"`
}

// moving is a field of the input that can be moved by a matrix.
type moving struct {
	field space.Spec
	block pencil.Block
	// axes name the coordinates
	axes []string
}

// How many samples are asked where each costs much.
const (
	fewClouds   = 64
	fewPictures = 32
)

// smallPicture is the side of pictures from which on turns by any angle differ from quarter turns: what does, such as
// xy(x² - y²), has waves of at least √5 periods a side, which is above 0.4 of the Nyquist frequency for fewer than 12
// pixels, and not far enough below it for some more.
const smallPicture = 16

func generate(ctx context.Context, s *Subject, joint bool) (Section, error) {
	plane, picture := planeOf(s.In)
	if picture && min(plane.Height, plane.Width) < smallPicture {
		return nil, fmt.Errorf("%w: pictures of %d x %d pixels, and at least %d x %[4]d are needed: without what is "+
			"finer than the derivatives take, smaller ones cannot tell a quarter turn from a turn by any angle",
			ErrOpen,
			plane.Height, plane.Width, smallPicture)
	}
	samples, left := sized(s.Fit)
	if len(samples) < fewest {
		return nil, fmt.Errorf("%w: %s to fit of one size, and a rank needs %d at least", ErrOpen,
			words.Plural(len(samples), "sample", "samples"), fewest)
	}
	g := &Generators{Joint: joint, Left: left, s: s}
	if !picture {
		g.moving = movings(s.In, samples[0].Value)
		if len(g.moving) == 0 {
			return nil, fmt.Errorf("%w: inputs of kind %s have no field that a matrix moves", ErrOpen, s.In.Kind)
		}
	}
	answers, err := s.Predict(ctx, []space.Value{samples[0].Value})
	if errors.Is(err, ErrBudget) {
		return nil, fmt.Errorf("%w: %w", ErrOpen, err)
	}
	if err != nil {
		return nil, err
	}
	flat := s.Flatten(samples[0].Value, answers[0])
	if flat.In != len(samples[0].Value.Numbers()) || flat.Out == 0 {
		return nil, fmt.Errorf("%w: answers without numbers", ErrOpen)
	}
	if flat.Pull != nil { // the graph may have nodes without a derivative; differences ask the model alone
		if _, err := s.Pull(ctx, []space.Value{samples[0].Value}, answers[:1]); errors.Is(err, ErrOpen) ||
			errors.Is(err, ErrBudget) {
			flat.Pull = nil
		} else if err != nil {
			return nil, err
		}
	}
	f := pencil.Function{In: flat.In, Out: flat.Out, At: flat.At, Pull: flat.Pull, Roundoff: s.Roundoff}
	o := pencil.Options{Joint: joint, Seed: s.Seed}
	if picture {
		return g, g.pictures(ctx, f, samples, plane, o)
	}
	return g, g.blocks(ctx, f, samples, o)
}

// sized are the samples of the size that most have.
func sized(all []dataset.Sample) (same []dataset.Sample, left int) {
	of := map[string][]dataset.Sample{}
	best := ""
	for _, s := range all {
		k := s.Value.Form()
		of[k] = append(of[k], s)
		if len(of[k]) > len(of[best]) {
			best = k
		}
	}
	return of[best], len(all) - len(of[best])
}

// planeOf is the form of pictures, if the input is one.
func planeOf(in space.Spec) (pencil.Plane, bool) {
	t, c, h, w, ok := in.Pictures()
	if !ok || t != 0 || c < 1 || h < 4 || w < 4 {
		return pencil.Plane{}, false
	}
	return pencil.Plane{Channels: c, Height: h, Width: w}, true
}

// channelled is a value of channels that go on in time: channel after channel.
type channelled interface {
	Columns() int
	Length() int
	Column(i int) int
}

// movings are the fields that a matrix can move: lists of numbers, rows of places and directions, channels of signals.
func movings(in space.Spec, like space.Value) []moving {
	var out []moving
	at := 0
	for _, leaf := range in.Leaves() {
		v := like
		if in.IsRecord() {
			v = space.FieldOf(like, leaf.Name)
		}
		n := len(v.Numbers())
		if m, ok := movingOf(in, leaf, at, n, v); ok {
			out = append(out, m)
		}
		at += n
	}
	return out
}

func movingOf(in, leaf space.Spec, at, n int, v space.Value) (moving, bool) {
	m := moving{field: leaf}
	const widest = 16 // coordinates of a point
	if d := vector(in, leaf); d == n && d > 0 {
		m.block = pencil.Points(leaf.Name, at, 1, n)
		for i := range n {
			m.axes = append(m.axes, fmt.Sprintf("x%d", i+1))
		}
		return m, true
	}
	if leaf.Lined() && (leaf.Type == space.TypePositions || leaf.Type == space.TypeVectors) {
		k := leaf.Shape[len(leaf.Shape)-1]
		if k < 1 || k > widest || n == 0 || n%k != 0 {
			return m, false
		}
		m.block = pencil.Points(leaf.Name, at, n/k, k)
		m.block.Vectors = leaf.Type == space.TypeVectors
		m.axes = []string{"x", "y", "z"}[:min(k, 3)]
		for i := 3; i < k; i++ {
			m.axes = append(m.axes, fmt.Sprintf("x%d", i+1))
		}
		return m, true
	}
	if x, ok := v.(channelled); ok && x.Columns() <= widest && x.Columns() > 0 && x.Length() > 0 {
		m.block.Name = leaf.Name
		for t := range x.Length() {
			var p []int
			for c := range x.Columns() {
				p = append(p, at+c*x.Length()+t)
			}
			m.block.Points = append(m.block.Points, p)
		}
		for c := range x.Columns() {
			m.axes = append(m.axes, fmt.Sprintf("channel%d", c+1))
		}
		return m, true
	}
	return m, false
}

// blocks asks at samples, with a matrix for each field.
func (g *Generators) blocks(ctx context.Context, f pencil.Function, samples []dataset.Sample, o pencil.Options) error {
	unknowns, clouds := 0, false
	for _, m := range g.moving {
		g.Fields = append(g.Fields, m.field.Name)
		o.Blocks = append(o.Blocks, m.block)
		k := len(m.block.Points[0])
		unknowns += k * (k + 1)
		clouds = clouds || len(m.block.Points) > 1
	}
	if clouds && len(samples) > fewClouds {
		samples = samples[:fewClouds]
	}
	g.Samples = len(samples)
	var x [][]float64
	for _, s := range samples {
		x = append(x, s.Value.Numbers())
	}
	// Shifts are asked where there are equations for them.
	o.Affine = clouds || 2*unknowns <= len(x)*min(f.Out, 8)
	return g.ask(ctx, "samples", func() (*pencil.Result, error) { return pencil.Find(ctx, f, x, o) })
}

// ask keeps a result, or why there is none.
func (g *Generators) ask(_ context.Context, at string, find func() (*pencil.Result, error)) error {
	r, err := find()
	switch {
	case errors.Is(err, pencil.ErrOpen):
		g.Asked = append(g.Asked, Asked{At: at, Why: reason(err, pencil.ErrOpen)})
	case errors.Is(err, ErrOpen):
		g.Asked = append(g.Asked, Asked{At: at, Why: reason(err, ErrOpen)})
	case errors.Is(err, ErrBudget):
		g.Asked = append(g.Asked, Asked{At: at, Why: err.Error()})
	case err != nil:
		return err
	default:
		g.Asked = append(g.Asked, Asked{At: at, Result: r})
	}
	return nil
}

// pictures asks at drawn pictures, whose derivatives are exact, and at samples without what is fine.
func (g *Generators) pictures(ctx context.Context, f pencil.Function, samples []dataset.Sample, p pencil.Plane,
	o pencil.Options,
) error {
	g.Fields = []string{"pixels"}
	if len(samples) > fewPictures {
		samples = samples[:fewPictures]
	}
	g.Samples = len(samples)
	var mean, square, n float64
	for _, s := range samples {
		for _, v := range s.Value.Numbers() {
			mean += v
			square += float64(v * v)
			n++
		}
	}
	mean /= n
	spread := math.Sqrt(max(square/n-float64(mean*mean), 0))
	if !(spread > 0) {
		return fmt.Errorf("%w: all pictures are blank", ErrOpen)
	}
	var drawn, smooth [][]float64
	// Shares of the Nyquist frequency: of pictures without anything finer, derivatives are right.
	const drawnAt, fine, coarse = 0.5, 0.4, 0.25
	side := min(p.Height, p.Width)
	for i, s := range samples {
		r := rand.New(rand.NewPCG(g.s.Seed, 0x7068616e<<16+uint64(i)))
		var channels []phantom.Phantom
		for range p.Channels {
			channels = append(channels, phantom.Gaussians(r, drawnAt, 12, float64(side)/5))
		}
		x := phantom.Render(p.Height, p.Width, [2][2]float64{{1, 0}, {0, 1}}, [2]float64{}, channels...).Numbers()
		for j, v := range x {
			x[j] = mean + float64(spread*v)
		}
		drawn = append(drawn, p.Prepare(x, fine))
		smooth = append(smooth, p.Prepare(s.Value.Numbers(), coarse))
	}
	for _, at := range []struct {
		name string
		x    [][]float64
	}{{"phantoms", drawn}, {"smoothed samples", smooth}} {
		if err := g.ask(ctx, at.name, func() (*pencil.Result, error) {
			return pencil.FindPictures(ctx, f, at.x, p, o)
		}); err != nil {
			return err
		}
	}
	g.moving = []moving{{axes: []string{"x", "y"}}}
	return nil
}

// said is what the answer to a question is in words.
func (a Asked) said() string {
	r := a.Result
	switch {
	case r == nil:
		return "not asked: " + a.Why
	case r.State == pencil.Undetermined:
		return "cannot tell: " + r.Why
	case r.State == pencil.Between:
		return fmt.Sprintf("between %d and %s: %s", r.Low, words.Plural(r.High, "family", "families"), r.Why)
	case r.Dimension == 0:
		return "no one-parameter family"
	}
	return words.Plural(r.Dimension, "independent family", "independent families") + ": " + r.Algebra.Name
}

// Page is the search for people.
func (g *Generators) Page() Page {
	var p Page
	what := "one-parameter families that leave the answer: "
	if g.Joint {
		what = "one-parameter families with which the answer moves along: "
	}
	var said []string
	for _, a := range g.Asked {
		text := a.said()
		if len(g.Asked) > 1 {
			text += " (" + a.At + ")"
		}
		said = append(said, text)
	}
	p.Answer = what + strings.Join(said, "; ")
	p.Lines = append(p.Lines, fmt.Sprintf("Numbers are of %s to fit.", words.Plural(g.Samples, "sample", "samples")))
	if g.Left > 0 {
		p.Lines = append(p.Lines, words.Plural(g.Left, "sample", "samples")+" of another size are left out.")
	}
	for _, a := range g.Asked {
		if a.Result != nil {
			g.describe(&p, a)
		}
	}
	p.Lines = append(p.Lines, "σ: how much the answer changes along a direction beside what it does along one that "+
		"has "+
		"nothing to do with it: 0 is a symmetry, 1 a direction like any other.")
	return p
}

// describe adds the tables of a result.
func (g *Generators) describe(p *Page, a Asked) {
	r := a.Result
	of := ""
	if len(g.Asked) > 1 {
		of = " at " + a.At
	}
	p.Lines = append(p.Lines, g.stills(r)...)
	for _, q := range r.Quotients {
		p.Lines = append(p.Lines, g.taken(q, r, of))
	}
	if len(r.Constant) > 0 || r.Collinear > 0 {
		p.Lines = append(p.Lines, fmt.Sprintf("Of the answers%s, %d are constant and %d follow from others.", of,
			len(r.Constant), r.Collinear))
	}
	spectrum := Table{Title: "Directions" + of, Head: []string{"", "σ", "says", "what moves"}}
	const beyond = 3
	for i, sigma := range r.Sigma[:min(len(r.Sigma), len(r.Families)+beyond)] {
		row := []string{strconv.Itoa(i + 1), words.Figures(sigma), pencil.None, ""}
		if i < len(r.Families) {
			row[2], row[3] = r.Families[i].State, g.motion(r.Families[i].Moves)
		}
		spectrum.Rows = append(spectrum.Rows, row)
	}
	if r.State == pencil.Undetermined {
		return
	}
	p.Tables = append(p.Tables, spectrum)
	if len(r.Sigma) > 0 {
		p.Lines = append(p.Lines, fmt.Sprintf("%s in %s%s; rounding and noise alone come to σ = %s; %.0f %% of %d "+
			"bootstraps "+
			"agree on the number.", words.Capital(words.Plural(r.Rows, "equation", "equations")),
			words.Plural(r.Unknowns, "unknown", "unknowns"), of, words.Figures(r.Floor), 100*r.Agree, r.Bootstraps))
	}
	if r.Algebra == nil {
		return
	}
	g.algebra(p, r.Algebra, of)
}

// stills say which numbers are the same in every sample, as gravity is in a laboratory.
func (g *Generators) stills(r *pencil.Result) []string {
	var out []string
	for b, m := range g.moving {
		var which, values []string
		for _, s := range r.Still {
			if s.Block == m.block.Name && s.Coordinate < len(m.axes) {
				which = append(which, g.axis(b, s.Coordinate))
				values = append(values, words.Figures(s.Value))
			}
		}
		const why = "A map that changes it, or mixes it into other numbers, cannot be told from one that does " +
			"something else at this one value, as gravity cannot be told from a constant push as long as it never " +
			"points elsewhere. Give samples in which it differs, or leave it out of what moves (NAME:unchanged)."
		switch {
		case len(which) == 0:
		case len(which) == len(m.axes) && len(which) > 1:
			name := m.field.Name
			out = append(out, fmt.Sprintf("%s is (%s) in every sample. %s", words.Capital(name),
				strings.Join(values, ", "), why))
		default:
			for i := range which {
				which[i] += " is " + values[i]
			}
			out = append(out, fmt.Sprintf("In every sample %s. %s", words.List(which), why))
		}
	}
	return out
}

// axis is the name of a coordinate of a field.
func (g *Generators) axis(field, coordinate int) string {
	if len(g.moving) > 1 {
		return g.Fields[field] + "." + g.moving[field].axes[coordinate]
	}
	return g.moving[field].axes[coordinate]
}

// taken says what was taken out, and why that is no symmetry.
func (g *Generators) taken(q pencil.Quotient, r *pencil.Result, of string) string {
	field := slices.IndexFunc(g.moving, func(m moving) bool { return m.block.Name == q.Block })
	var said []string
	still := 0
	for _, raw := range q.Raw {
		if field < 0 {
			break
		}
		axes, prefix := g.moving[field].axes, ""
		if len(g.moving) > 1 {
			prefix = g.Fields[field] + "."
		}
		k := len(axes)
		switch only := lone(raw[:k]); {
		case q.Kind == "unspanned" && only >= 0 && slices.ContainsFunc(r.Still, func(s pencil.Still) bool {
			return s.Block == q.Block && s.Coordinate == only
		}):
			still++ // said above
		case q.Kind == "unspanned":
			said = append(said, fmt.Sprintf("%s is %s in every sample", terms(raw[:k], axes, prefix),
				words.Figures(raw[k])))
		case only >= 0:
			said = append(said, g.axis(field, only))
		default:
			said = append(said, "what changes by ("+figures(raw)+")")
		}
	}
	const longest = 6
	if len(said) > longest {
		said = append(said[:longest], "more of that kind")
	}
	count := fmt.Sprintf("%s of %s", words.Plural(q.Unknowns, "unknown", "unknowns"), q.Block)
	switch {
	case q.Kind == "unspanned" && len(said) > 0:
		return fmt.Sprintf("The data leave room%s: %s. Nobody can tell what the model does to inputs of which that is "+
			"not so, and nothing is said of them: %s are taken out.", of, words.List(said), count)
	case q.Kind == "unspanned" && still > 0:
		return fmt.Sprintf("That takes out %s.", count)
	case q.Kind == "unspanned":
		return fmt.Sprintf("Taken out%s: %s (the data do not span them, so that nobody can tell), %s.", of,
			words.Plural(len(q.Directions), "direction", "directions"), count)
	case len(said) > 0:
		return fmt.Sprintf("The model does not look at %s%s: what moves that alone changes no answer and is no "+
			"symmetry worth the name: %s are taken out.", words.List(said), of, count)
	}
	return fmt.Sprintf("Taken out%s: %s (the model does not look at them), %s.", of,
		words.Plural(len(q.Directions), "direction", "directions"), count)
}

// lone is the only place of a list that is not 0; -1 where there are several.
func lone(v []float64) int {
	at := -1
	for i, x := range v {
		if x != 0 {
			if at >= 0 {
				return -1
			}
			at = i
		}
	}
	return at
}

func (g *Generators) algebra(p *Page, a *pencil.Algebra, of string) {
	t := Table{Title: "Families" + of, Head: []string{"family", "turns at", "grows", "answers turn at"}}
	for i, m := range a.Basis {
		turn := a.Turns[i]
		grows := ""
		if turn.Grows {
			grows = "yes"
		}
		t.Rows = append(t.Rows, []string{g.motion(m), figures(turn.Frequencies), grows, figures(turn.Answers)})
	}
	p.Tables = append(p.Tables, t)
	line := fmt.Sprintf("The families are %s; what commutators of two leave over is %s of them", a.Name,
		words.Figures(a.Defect))
	if s := a.Structure; s != nil {
		line += fmt.Sprintf("; dimension %d, centre %d, derived algebra %d, Killing form (%d, %d) with %d zero",
			s.Dimension,
			s.Centre, s.Derived, s.Killing[0], s.Killing[1], s.Killing[2])
	}
	if a.Form != nil {
		var rows []string
		for _, r := range a.Form {
			rows = append(rows, figures(r))
		}
		line += fmt.Sprintf("; the only form that all keep has the rows (%s)", strings.Join(rows, "), ("))
	}
	if a.Fixed != nil {
		line += fmt.Sprintf("; all leave the point (%s)", figures(a.Fixed))
	}
	if len(a.Spins) > 0 {
		line += "; the answers are of l = " + figures(a.Spins)
	}
	p.Lines = append(p.Lines, line+".")
}

// figures are numbers for people; what is rounding beside the largest is 0.
func figures(v []float64) string {
	var top float64
	for _, x := range v {
		top = max(top, math.Abs(x))
	}
	var out []string
	for _, x := range v {
		if math.Abs(x) < 1e-4*top {
			x = 0
		}
		out = append(out, words.Figures(x))
	}
	return strings.Join(out, ", ")
}

// motion writes what a family does to each coordinate, such as x' = y, y' = -x.
func (g *Generators) motion(m pencil.Motion) string {
	var parts []string
	for b, rows := range m.A {
		axes := g.moving[b].axes
		prefix := ""
		if len(m.A) > 1 {
			prefix = g.Fields[b] + "."
		}
		for r, row := range rows {
			if text := terms(row, axes, prefix); text != "" {
				parts = append(parts, fmt.Sprintf("%s%s' = %s", prefix, axes[r], text))
			}
		}
	}
	const longest = 12
	if len(parts) > longest {
		parts = append(parts[:longest], "…")
	}
	return strings.Join(parts, ", ")
}

// terms writes a row of a matrix, with the shift last if there is one.
func terms(row []float64, axes []string, prefix string) string {
	var b strings.Builder
	for c, v := range row {
		const least = 1e-3 // beside a largest number of 1
		if math.Abs(v) < least {
			continue
		}
		name := "1"
		if c < len(axes) {
			name = prefix + axes[c]
		}
		switch {
		case b.Len() > 0 && v < 0:
			b.WriteString(" - ")
		case b.Len() > 0:
			b.WriteString(" + ")
		case v < 0:
			b.WriteString("-")
		}
		size := words.Figures(math.Abs(v))
		switch {
		case name == "1":
			b.WriteString(size)
		case size == "1":
			b.WriteString(name)
		default:
			b.WriteString(size + "·" + name)
		}
	}
	return b.String()
}

// Hypotheses are the families of the first question that a group of a study can say.
func (g *Generators) Hypotheses() []Hypothesis {
	var out []Hypothesis
	for _, a := range g.Asked {
		r := a.Result
		if r == nil || r.State != pencil.Settled || r.Dimension == 0 || !r.Algebra.Closed {
			continue
		}
		word := Holds
		if slices.ContainsFunc(r.Families[:r.Dimension],
			func(f pencil.Family) bool { return f.State != pencil.Holds }) {
			word = Approximate
		}
		f, ok := g.family(r.Algebra)
		if !ok {
			continue
		}
		moves, action, part := "stays", "invariant", generators.Name
		if g.Joint {
			moves, action, part = "moves along", "same", joint.Name
		}
		h := Hypothesis{
			Claim: fmt.Sprintf("%s: the answer %s", r.Algebra.Name, moves), Word: word, Part: part, family: &f,
			Lay: func(s *job.Study) {
				f.lay(s)
				if s.Output.Fields == nil {
					s.Output.Action = action
				}
			},
		}
		if !slices.ContainsFunc(out, func(o Hypothesis) bool { return o.Claim == h.Claim }) {
			out = append(out, h)
		}
	}
	return out
}

// family is an algebra as a group of a study: one of the catalogue where points of space or pictures move, one that the
// study defines where numbers do.
func (g *Generators) family(a *pencil.Algebra) (family, bool) {
	c := &catalogue{s: g.s}
	_, picture := planeOf(g.s.In)
	k := len(g.moving[0].axes)
	if picture || len(g.moving[0].block.Points) > 1 {
		if !a.Known || strings.Contains(a.Name, " about ") {
			return family{}, false
		}
		name := groupOf(a.Name, k)
		if name == "" || g.Joint && !slices.ContainsFunc(g.s.Out.Leaves(), func(l space.Spec) bool {
			return placed(l,
				k)
		}) {
			return family{}, false
		}
		f, err := c.named(name, a.Name)
		return f, err == nil
	}
	m := a.Matrices()
	if g.Joint || len(g.moving) != 1 || len(m) == 0 {
		return family{}, false
	}
	title := plainName(strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, strings.SplitN(a.Name, ":", 2)[0]))
	var b strings.Builder
	fmt.Fprintf(&b, "name: %s\nlie:\n  generators:\n", title)
	for i, rows := range m {
		fmt.Fprintf(&b, "    - {name: g%d, matrix: %s}\n", i+1, matrixText(rows))
	}
	f, err := c.matrixFamily(title, a.Name, g.moving[0].field.Name, func() (group.Group, string, error) {
		return load(b.String())
	})
	return f, err == nil
}

// groupOf is the group of the catalogue that families of a known name generate in the plane or in space, "" for none.
func groupOf(name string, k int) string {
	kind, _, _ := strings.Cut(name, ":")
	switch kind {
	case "so(2)":
		if k == 2 {
			return "SO(2)"
		}
		for axis, plane := range map[string]string{"x": "2 and 3", "y": "1 and 3", "z": "1 and 2"} {
			if k == 3 && strings.HasSuffix(name, plane) {
				return "SOg(3," + axis + ")"
			}
		}
	case fmt.Sprintf("so(%d)", k):
		return fmt.Sprintf("SO(%d)", k)
	case fmt.Sprintf("R%d", k):
		return fmt.Sprintf("T(%d)", k)
	case fmt.Sprintf("se(%d)", k):
		return fmt.Sprintf("SE(%d)", k)
	case "scaling":
		return map[int]string{2: "Scale", 3: "Scale(3)"}[k]
	}
	return ""
}
