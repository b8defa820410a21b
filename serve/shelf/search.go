package shelf

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"nero/data/space"
	"nero/measure/metric"
	"nero/run/fold"
	"nero/run/probe"
	"nero/run/slice"
	"nero/serve/api"
)

// Bounds of a search for slices.
const (
	mostFoundSlices = 20
	resamples       = 400
	// leastSlice is the fewest samples of a slice, and leastPart of all samples if that is more.
	leastSlice = 8
	leastPart  = 0.02
	// mostConditions bounds the conditions of one kind, such as classes and tags: the largest count.
	mostConditions = 40
	// mostLooked is how many samples are looked at for what pictures show.
	mostLooked = 4000
)

// Search finds slices of the samples of a set on which a model is worse than on the others, by simple rules.
func (r *Run) Search(ctx context.Context, q api.SearchRequest) (*api.Search, error) {
	if err := r.check(q.Model, q.Metric); err != nil {
		return nil, mark(ErrBad, "%v", err)
	}
	if q.Of != "" && q.Of != "mean" && q.Of != "change" {
		return nil, mark(ErrBad, "of: %.40q; expected mean or change", q.Of)
	}
	if q.Of == "change" && r.identity < 0 {
		return nil, mark(ErrBad, "of: the plan of the run does not visit the identity, so no change is known")
	}
	set, err := r.selected(q.Set, q.Metric)
	if err != nil {
		return nil, err
	}
	rows, samples, err := r.members(set)
	if err != nil {
		return nil, err
	}
	values := make([]float64, r.n)
	for i := range values {
		values[i] = math.NaN()
	}
	stats, err := r.Stats(q.Model, q.Metric)
	if err != nil {
		return nil, err
	}
	for _, i := range rows {
		values[i] = stats.orbit[i]
		if q.Of == "change" {
			values[i] -= float64(stats.Identity[i])
		}
	}
	o := &api.Search{Model: q.Model, Metric: q.Metric, Of: cmp.Or(q.Of, "mean"), Slices: []api.FoundSlice{}}
	conditions, err := r.conditions(q.Model, rows, samples)
	if err != nil {
		return nil, err
	}
	shown, note, err := r.looks(ctx, rows)
	if err != nil {
		return nil, err
	}
	conditions = append(conditions, shown...)
	if note != "" {
		o.Notes = append(o.Notes, note)
	}
	least := max(leastSlice, int(math.Ceil(leastPart*float64(len(rows)))))
	o.Confidence, o.Least = r.confidence(), least
	found, tried := slice.Search(values, conditions, slice.SearchOptions{
		HigherWorse: r.metrics[q.Metric].Better == metric.Lower, Least: least, Most: mostFoundSlices,
		Resamples: resamples, Confidence: o.Confidence, Rand: rand.New(rand.NewPCG(r.job.Seed, 0x5e4c)),
	})
	o.Tried, o.N = tried, len(rows)
	for _, f := range found {
		s := api.FoundSlice{
			N: f.N, Mean: fold.Number(f.Mean), Rest: fold.Number(f.Rest), Gap: fold.Number(f.Gap),
			Lo: fold.Number(f.Lo), Hi: fold.Number(f.Hi), P: fold.Number(f.P),
		}
		rule := ""
		for k, c := range f.Conditions {
			s.Conditions = append(s.Conditions, conditions[c].Text)
			switch {
			case conditions[c].Rule == "":
				rule = "-"
			case k == 0:
				rule = conditions[c].Rule
			case rule != "-":
				rule += " and " + conditions[c].Rule
			}
		}
		if s.Set = (api.Set{Rule: rule}); rule == "-" {
			s.Set = api.Set{Bits: f.In.String()}
		}
		o.Slices = append(o.Slices, s)
	}
	return o, nil
}

// conditions are what the rows of the run say of samples: labels, tags, and what the model answers at the identity.
func (r *Run) conditions(model int, rows []int32, samples *table) ([]slice.Condition, error) {
	classes := r.Document().Classes
	called := func(c int32) string {
		if int(c) < len(classes) && classes[c] != "" {
			return classes[c]
		}
		return strconv.Itoa(int(c))
	}
	var all []slice.Condition
	kinds := func(of string, class func(i int32) int32, rule func(c int32) string) {
		sets := map[int32]slice.Bits{}
		for _, i := range rows {
			c := class(i)
			if c < 0 {
				continue
			}
			if _, ok := sets[c]; !ok {
				sets[c] = slice.NewBits(r.n)
			}
			sets[c].Add(int(i))
		}
		for _, c := range largest(sets) {
			all = append(all, slice.Condition{Text: of + " " + called(c), Rule: rule(c), Of: of, In: sets[c]})
		}
	}
	kinds("label", func(i int32) int32 { return samples.labels[i] },
		func(c int32) string { return fmt.Sprintf("label = %d", c) })
	still, err := r.atRest(model)
	if err != nil {
		return nil, err
	}
	if still != nil {
		rest := func(i int32) int32 { return still[i] }
		of := "predicted " + strconv.Quote(r.models[model].name)
		kinds("answer at rest", rest, func(c int32) string { return fmt.Sprintf("%s = %d", of, c) })
		wrong := bitsOf(r.n, func(int) bool { return false })
		for _, i := range rows {
			if samples.labels[i] >= 0 && rest(i) >= 0 && rest(i) != samples.labels[i] {
				wrong.Add(int(i))
			}
		}
		all = append(all, slice.Condition{
			Text: "wrong at rest", Rule: of + " != label", Of: "right at rest", In: wrong,
		})
	}
	tags := map[string]slice.Bits{}
	for _, i := range rows {
		for _, t := range samples.tags[int(i)] {
			if _, ok := tags[t]; !ok {
				tags[t] = slice.NewBits(r.n)
			}
			tags[t].Add(int(i))
		}
	}
	for _, t := range largest(tags) {
		all = append(all, slice.Condition{
			Text: "tag " + t, Rule: "tag = " + strconv.QuoteToGraphic(t), Of: "tag " + t, In: tags[t],
		})
	}
	return all, nil
}

// largest are the keys of the largest sets, in their own order.
func largest[K cmp.Ordered](sets map[K]slice.Bits) []K {
	keys := make([]K, 0, len(sets))
	for k := range sets {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b K) int {
		return cmp.Or(cmp.Compare(sets[b].Count(), sets[a].Count()), cmp.Compare(a, b))
	})
	keys = keys[:min(len(keys), mostConditions)]
	slices.Sort(keys)
	return keys
}

// look is what an input shows without any model; NaN where it has none of it.
type look struct {
	name string
	of   func(in *probe.Input) float64
}

// lookList is what is measured of inputs: how bright pictures are, how much they vary, how large and where the key
// object is, by the box that the data give it and else by what stands out from the border; and of sets, how many
// members they have.
func lookList() []look {
	return []look{
		{"brightness", pictured(func(m *space.Image, _ [2]float64) float64 { return meanOf(m.Pix) })},
		{"contrast", pictured(func(m *space.Image, _ [2]float64) float64 {
			mean, sum := meanOf(m.Pix), 0.0
			for _, v := range m.Pix {
				sum += float64((v - mean) * (v - mean))
			}
			return math.Sqrt(sum / float64(max(len(m.Pix), 1)))
		})},
		{"size", func(in *probe.Input) float64 { size, _, _ := object(in); return size }},
		{"place from the left", func(in *probe.Input) float64 { _, x, _ := object(in); return x }},
		{"place from the top", func(in *probe.Input) float64 { _, _, y := object(in); return y }},
		{"members", func(in *probe.Input) float64 {
			_, fields := space.Fields(in.Value)
			most := space.Members(in.Value)
			for _, f := range fields {
				most = max(most, space.Members(f))
			}
			if most == 0 {
				return math.NaN()
			}
			return float64(most)
		}},
	}
}

// pictured measures inputs that are pictures.
func pictured(of func(m *space.Image, shown [2]float64) float64) func(in *probe.Input) float64 {
	return func(in *probe.Input) float64 {
		if m := space.View(in.Value); m != nil {
			return of(m, in.Range)
		}
		return math.NaN()
	}
}

// object is the share of a picture that its key object takes, and the middle of it, from 0 to 1 from the left and the
// top: of the box that the data give it first, else of what stands out from the border.
func object(in *probe.Input) (size, x, y float64) {
	m := space.View(in.Value)
	if m == nil {
		return math.NaN(), math.NaN(), math.NaN()
	}
	if b, ok := in.Target.(interface{ Key() (size, x, y float64) }); ok {
		if size, x, y = b.Key(); !math.IsNaN(size) {
			return size, x, y
		}
	}
	return foreground(m, in.Range)
}

func meanOf(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(max(len(v), 1))
}

// foreground is the share of pixels that differ from the mean of the border by more than a fifth of what is shown, and
// the mean of their places, from 0 to 1. There is no place where nothing stands out.
func foreground(m *space.Image, shown [2]float64) (size, x, y float64) {
	border, n := 0.0, 0
	grey := func(v, u int) float64 {
		sum := 0.0
		for c := range m.C {
			sum += m.Pix[(c*m.H+v)*m.W+u]
		}
		return sum / float64(m.C)
	}
	for v := range m.H {
		for u := range m.W {
			if v == 0 || u == 0 || v == m.H-1 || u == m.W-1 {
				border += grey(v, u)
				n++
			}
		}
	}
	border /= float64(max(n, 1))
	count, left, top := 0, 0.0, 0.0
	for v := range m.H {
		for u := range m.W {
			if math.Abs(grey(v, u)-border) > 0.2*(shown[1]-shown[0]) {
				count++
				left += float64(u) + 0.5
				top += float64(v) + 0.5
			}
		}
	}
	if count == 0 {
		return 0, math.NaN(), math.NaN()
	}
	all := float64(count)
	return all / float64(m.H*m.W), left / all / float64(m.W), top / all / float64(m.H)
}

// looks are conditions on what inputs show: the lowest and the highest quarter of each. There are none where inputs
// cannot be asked; note says so.
func (r *Run) looks(ctx context.Context, rows []int32) (all []slice.Condition, note string, err error) {
	if len(rows) == 0 {
		return nil, "", nil
	}
	if len(rows) > mostLooked {
		return nil, fmt.Sprintf("Brightness, contrast, size and place were not looked at: %d samples are more than %d.",
			len(rows), mostLooked), nil
	}
	list := lookList()
	values := make([][]float64, len(list))
	for k := range values {
		values[k] = make([]float64, r.n)
		for i := range values[k] {
			values[k][i] = math.NaN()
		}
	}
	for _, i := range rows {
		in, err := r.Input(ctx, int(i), r.Identity())
		if ctx.Err() != nil {
			return nil, "", ctx.Err()
		}
		if err != nil { // the search goes on without
			const note = "Brightness, contrast, size and place were not looked at: the inputs cannot be asked."
			return nil, note, nil //nolint:nilerr // the note says so
		}
		for k, l := range list {
			values[k][i] = l.of(in)
		}
	}
	for k, l := range list {
		var known []float64
		for _, v := range values[k] {
			if !math.IsNaN(v) {
				known = append(known, v)
			}
		}
		if len(known) < 4*leastSlice {
			continue
		}
		slices.Sort(known)
		lo, hi := known[len(known)/4], known[len(known)*3/4]
		if !(lo < hi) {
			continue
		}
		v := values[k]
		all = append(all,
			slice.Condition{
				Text: fmt.Sprintf("%s below %.3g (lowest quarter)", l.name, lo), Of: l.name,
				In: bitsOf(r.n, func(i int) bool { return v[i] < lo }),
			},
			slice.Condition{
				Text: fmt.Sprintf("%s above %.3g (highest quarter)", l.name, hi), Of: l.name,
				In: bitsOf(r.n, func(i int) bool { return v[i] > hi }),
			})
	}
	return all, "", nil
}
