package handout

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"nero/data/space"
	"nero/measure/metric"
	"nero/present/view"
	"nero/run/fold"
	"nero/run/job"
	"nero/run/probe"
	"nero/symmetry/group"

	"golang.org/x/sync/errgroup"
)

const (
	mostElements = 400  // of whose inputs all are kept
	fewElements  = 256  // of more, so many
	mostShare    = 0.02 // of the budget, for one sample
	mostScores   = 20   // classes whose scores are kept at each element
	keptMark     = "kept"
	inputMark    = "input"
	answerMark   = "answers"
	mapMark      = "maps"
	mostGallery  = 20 // that the page shows of a model
	mostMapped   = 2  // samples with maps of the errors of fields: each asks every model at every element
	mapSide      = 32 // numbers along a side of such a map
)

// candidates are the samples to keep, in the order in which they are: those that an audit names, then by turns those
// with the worst mean over the orbit under each model, and a sample stratified by class and rank. Both are spread
// evenly at every length.
func (b *builder) candidates() ([]int, error) {
	if b.o.Keep <= 0 || b.run.Len() == 0 {
		return nil, nil
	}
	in := func(int) bool { return true }
	if b.chosen != nil {
		set, err := b.run.Select(b.chosen.Set)
		if err != nil {
			return nil, err
		}
		in = set.Has
	}
	better := b.doc.MetricDoc[b.metric].Better
	// From the worst to the best; samples without a value come nowhere.
	ranked := func(m int) ([]int, error) {
		st, err := b.run.Stats(m, b.metric)
		if err != nil {
			return nil, err
		}
		var all []int
		for i, v := range st.Mean {
			if v == v && in(i) {
				all = append(all, i)
			}
		}
		slices.SortStableFunc(all, func(x, y int) int {
			if better == "lower" {
				x, y = y, x
			}
			return cmp.Compare(st.Mean[x], st.Mean[y])
		})
		return all, nil
	}
	var worst [][]int
	for m := range b.doc.ModelList {
		r, err := ranked(m)
		if err != nil {
			return nil, err
		}
		worst = append(worst, r)
	}
	var out []int
	seen := map[int]bool{}
	add := func(i int) {
		if !seen[i] && len(out) < b.o.Keep && i >= 0 && i < b.run.Len() {
			seen[i] = true
			out = append(out, i)
		}
	}
	for _, p := range b.places {
		if len(out) < (b.o.Keep+3)/4 {
			add(p.Index)
		}
	}
	if len(worst) == 0 {
		return out, nil
	}
	// The gallery of the page begins with the worst single values under the first two models: their inputs are there.
	var gallery [][]int
	for m := range worst[:min(len(worst), 2)] {
		st, err := b.run.Stats(m, b.metric)
		if err != nil {
			return nil, err
		}
		extreme := slices.Clone(worst[m])
		slices.SortFunc(extreme, func(x, y int) int {
			by := cmp.Compare(st.Min[x], st.Min[y])
			if better == "lower" {
				by = cmp.Compare(st.Max[y], st.Max[x])
			}
			return cmp.Or(by, cmp.Compare(x, y))
		})
		gallery = append(gallery, extreme[:min(len(extreme), mostGallery)])
	}
	if b.chosen != nil && len(worst[0]) > 0 {
		b.worst = worst[0][0]
	}
	lists := [][]int{turns(worst), turns(gallery), strata(worst[0], b.samples.Labels, b.o.Seed)}
	for at := range lists[0] {
		for _, list := range lists {
			if at < len(list) {
				add(list[at])
			}
		}
	}
	// Samples without a mean come last: those that failed, or have a value that is not finite.
	for i := 0; i < b.run.Len() && len(out) < b.o.Keep; i++ {
		if seen[i] || !in(i) {
			continue
		}
		one, err := b.run.Sample(i)
		if err != nil {
			return nil, err
		}
		if one.Done {
			add(i)
		}
	}
	return out, nil
}

// turns takes from lists by turns, each sample once.
func turns(lists [][]int) []int {
	var out []int
	seen := map[int]bool{}
	for at := 0; ; at++ {
		more := false
		for _, l := range lists {
			if at < len(l) {
				more = true
				if !seen[l[at]] {
					seen[l[at]] = true
					out = append(out, l[at])
				}
			}
		}
		if !more {
			return out
		}
	}
}

// strata orders samples, which come by rank, so that every beginning is spread over the classes, and within each over
// the ranks: by the van der Corput sequence, which a draw shifts for each class (Cranley and Patterson 1976).
func strata(ranked, labels []int, seed uint64) []int {
	classes := map[int][]int{}
	var order []int
	for _, i := range ranked {
		c := -1
		if i < len(labels) {
			c = labels[i]
		}
		if classes[c] == nil {
			order = append(order, c)
		}
		classes[c] = append(classes[c], i)
	}
	slices.Sort(order)
	lists := make([][]int, len(order))
	for at, c := range order {
		of := classes[c]
		shift := rand.New(rand.NewPCG(seed,
			uint64(c)+0x6e65726f)).Float64() //nolint:gosec // a choice that anybody may repeat
		left := make([]bool, len(of))
		for t := range of {
			_, u := math.Modf(corput(t) + shift)
			k := min(int(u*float64(len(of))), len(of)-1)
			for left[k] { // taken: the next one that is not
				k = (k + 1) % len(of)
			}
			left[k] = true
			lists[at] = append(lists[at], of[k])
			if len(lists[at]) >= mostStratum {
				break
			}
		}
	}
	return turns(lists)
}

// mostStratum bounds how many samples of one class are ordered; nobody keeps more.
const mostStratum = 2000

// corput is the van der Corput sequence of base 2: the bits of a number behind the point, in reverse.
func corput(t int) float64 {
	x, f := 0.0, 0.5
	for ; t > 0; t >>= 1 {
		if t&1 == 1 {
			x += f
		}
		f /= 2
	}
	return x
}

// at are the elements at which inputs are kept: all, or of many some, evenly, with the identity.
func (b *builder) at() []int {
	e := b.doc.Elements
	var out []int
	if e <= mostElements {
		for g := range e {
			out = append(out, g)
		}
		return out
	}
	for k := range fewElements {
		out = append(out, k*e/fewElements)
	}
	if id := b.doc.Orbit.Identity; id >= 0 && !slices.Contains(out, id) {
		out = append(out, id)
		slices.Sort(out)
	}
	return out
}

// kept adds samples with all that there is of them, until the budget is used up.
func (b *builder) kept() error {
	list, err := b.candidates()
	if err != nil {
		return err
	}
	if len(list) == 0 {
		return nil
	}
	b.sparse = len(b.at()) < b.doc.Elements
	// How large inputs may be is found on the first sample, so that all of them are shown alike. Maps of errors are
	// small beside them and come after: every model is asked for them at every element.
	most := int64(mostShare * float64(b.o.Budget))
	for {
		k, err := b.sample(b.ctx, list[0])
		if err != nil {
			return err
		}
		n, err := k.size()
		if err != nil {
			return err
		}
		if n <= most || !slices.Contains(k.entry.Notes, inputMark) || b.shrunk >= 32 {
			break
		}
		b.shrunk = max(b.shrunk+1, int(float64(b.shrunk)*math.Sqrt(float64(n)/float64(most))))
	}
	b.mapped = list[:min(len(list), mostMapped)]
	chunk := 4 * b.o.Workers
	var mu sync.Mutex
	done := 0
	b.progress(0.6, "samples")
	for from := 0; from < len(list); from += chunk {
		part := list[from:min(from+chunk, len(list))]
		blocks := make([]*block, len(part))
		g, ctx := errgroup.WithContext(b.ctx)
		g.SetLimit(b.o.Workers)
		for at, i := range part {
			g.Go(func() (err error) {
				blocks[at], err = b.sample(ctx, i)
				mu.Lock()
				defer mu.Unlock()
				done++
				b.progress(0.6+0.3*float64(done)/float64(len(list)), "samples")
				return err
			})
		}
		if err := g.Wait(); err != nil {
			return err
		}
		for _, k := range blocks {
			ok, err := b.fit(0, k)
			if err != nil {
				return err
			}
			if !ok {
				return nil
			}
			b.count(k.entry, 1)
		}
	}
	return nil
}

// count counts a sample, or one that is taken out again.
func (b *builder) count(e entry, by int) {
	b.sum.Kept += by
	if slices.Contains(e.Notes, inputMark) {
		b.sum.Inputs += by
	}
	if slices.Contains(e.Notes, answerMark) {
		b.sum.Answers += by
	}
	if slices.Contains(e.Notes, mapMark) {
		b.sum.Maps += by
	}
}

func (b *builder) forget(e entry) { b.count(e, -1) }

// sample is a block with everything there is of a sample: its orbit, exactly, and as far as they can be had its inputs
// and scores.
func (b *builder) sample(ctx context.Context, i int) (*block, error) {
	one, err := b.run.Sample(i)
	if err != nil {
		return nil, err
	}
	models, metrics, e := len(b.doc.ModelList), len(b.doc.MetricDoc), b.doc.Elements
	meta := map[string]string{"replay": one.Replay, "error": one.Error, "done": strconv.FormatBool(one.Done)}
	words := make([]float32, 0, models*metrics*e)
	for m := range models {
		for k := range metrics {
			for g := range e {
				v := math.NaN()
				if m < len(one.Curves) && k < len(one.Curves[m]) && g < len(one.Curves[m][k]) {
					v = float64(one.Curves[m][k][g])
				}
				words = append(words, float32(v))
			}
		}
	}
	ts := []tensor{bytesOf("curves", planes(bits(words)), 4, models, metrics, e)}
	if len(one.Top) == models && models > 0 {
		var top []int32
		for _, list := range one.Top {
			for _, c := range list {
				top = append(top, int32(c)) //nolint:gosec // a class
			}
		}
		if len(top) == models*e {
			if len(b.doc.Classes) > missing {
				ts = append(ts, intsOf("top", top, models, e))
			} else {
				ts = append(ts, bytesOf("top", classBytes(top), models, e))
			}
		}
	}
	for name, v := range map[string][]fold.Number{"support": one.Support, "agreement": one.Agreement} {
		if v == nil {
			continue
		}
		text, err := json.Marshal(v)
		if err != nil {
			return nil, err
		}
		meta[name] = string(text)
	}
	if b.doc.Boxed {
		all, err := b.run.Detections(i)
		if err != nil {
			return nil, err
		}
		ts = append(ts, found(all, e)...)
	}
	marks := []string{keptMark}
	more, err := b.moved(ctx, i, meta)
	if err != nil {
		return nil, err
	}
	for _, t := range more {
		switch t.name {
		case "input":
			marks = append(marks, inputMark)
		case "scores", "masks":
			marks = append(marks, answerMark)
		case "errors":
			marks = append(marks, mapMark)
		}
	}
	raw, err := container(meta, append(ts, more...))
	if err != nil {
		return nil, err
	}
	return pack(entry{Name: "sample." + strconv.Itoa(i), Form: "container", Notes: marks}, raw)
}

const (
	mostFound  = 3   // boxes that are kept of a prediction, the best ones: as many as are drawn at first
	boxNumbers = 7   // of a box: x1, y1, x2, y2, angle, score, class
	boxShift   = 512 // pixels that are added to coordinates, so that none is below 0
	boxSteps   = 16  // of a pixel
	noRow      = 255 // in place of the number of boxes: nothing is known
)

// found are the best boxes of every model at every element: how many there are, up to mostFound of each as words of 16
// bits. Coordinates are in steps of a sixteenth of a pixel, angles and scores in steps of 1/65535 of a turn and of 1.
func found(all [][][]job.Detection, e int) []tensor {
	counts := make([]byte, len(all)*e)
	words := make([]uint16, len(all)*e*mostFound*boxNumbers)
	step := func(v, unit float64) uint16 {
		// 0 for NaN, which no model that is shown returns
		return uint16(min(max(math.Floor(float64(v*unit)+0.5), 0), math.MaxUint16))
	}
	for m, of := range all {
		for g := range e {
			if of == nil {
				counts[m*e+g] = noRow
				continue
			}
			counts[m*e+g] = byte(min(len(of[g]), noRow-1)) //nolint:gosec // at most 254
			for at, d := range of[g][:min(mostFound, len(of[g]))] {
				w := words[((m*e+g)*mostFound+at)*boxNumbers:]
				for k, v := range []float32{d.X1, d.Y1, d.X2, d.Y2} {
					w[k] = step(float64(v)+boxShift, boxSteps)
				}
				turn := math.Mod(float64(d.Angle), 360)
				if turn < 0 {
					turn += 360
				}
				w[4], w[5], w[6] = step(turn/360, math.MaxUint16), step(float64(d.Score), math.MaxUint16),
					uint16(d.Label) //nolint:gosec // -1 is 65535
			}
		}
	}
	return []tensor{
		bytesOf("counts", counts, len(all), e),
		shortsOf("boxes", words, len(all), e, mostFound, boxNumbers),
	}
}

// moved are the inputs of a sample along the orbit, and the scores of its classes. What cannot be had is left out.
func (b *builder) moved(ctx context.Context, i int, meta map[string]string) ([]tensor, error) {
	if !b.doc.Live.Inputs {
		return nil, nil
	}
	var ask []int
	mapped := b.doc.Output == "field" && b.doc.Elements <= mostElements && slices.Contains(b.mapped, i)
	masked := b.doc.Output == "mask"
	var seen map[int]bool
	if masked {
		seen = b.masked(i)
	}
	if b.doc.Output == "scores" || mapped || masked {
		for m, model := range b.doc.ModelList {
			if model.Live {
				ask = append(ask, m)
			}
		}
	}
	elements := b.doc.Orbit.Elements
	wanted := b.at()
	// Without the models if one of them fails, and without the inputs if the sample cannot be moved either: its orbit
	// stays.
	for {
		var inputs []*probe.Input
		var at []int32
		scores := make([][]*space.Scores, len(b.doc.ModelList))
		masks := &keptMasks{models: len(b.doc.ModelList)}
		wrong, against := make([][]*space.ErrorMap, len(b.doc.ModelList)), metric.Reference("")
		for m := range scores {
			scores[m] = make([]*space.Scores, len(elements))
			wrong[m] = make([]*space.ErrorMap, len(elements))
		}
		var failed error
		for g, h := range elements {
			shown := slices.Contains(wanted, g)
			if !shown && len(ask) == 0 {
				continue
			}
			asked := ask
			if masked && !seen[g] {
				asked = nil
			}
			if !shown && len(asked) == 0 {
				continue
			}
			in, err := b.point(ctx, i, h, asked, func(p *probe.Point, r *probe.Result) {
				masks.take(g, p, r)
				if s, ok := r.Output.(*space.Scores); ok {
					scores[r.Model][g] = s
				}
				if m, of := p.Errors(r, "", mapSide); m != nil && (against == "" || against == of) {
					wrong[r.Model][g], against = m, of
				}
			})
			if err != nil {
				failed = err
				break
			}
			if shown {
				inputs, at = append(inputs, in), append(at, int32(g)) //nolint:gosec // at most the elements of a plan
			}
		}
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case failed != nil && len(ask) > 0:
			ask = nil
			continue
		case failed != nil:
			return nil, nil //nolint:nilerr // as said above
		}
		inputs, at = b.thin(inputs, at)
		ts := b.sprite(inputs, meta)
		if len(ts) > 0 {
			ts = append(ts, intsOf("at", at, len(at)))
			ts = append(ts, targets(inputs)...)
		}
		ts = append(ts, masks.tensors()...)
		return append(append(ts, best(scores)...), errorMaps(wrong, against, meta)...), nil
	}
}

// errorMaps are the maps of all models at every element in steps of 1/254 of the largest error, 255 for none. All are
// of one size and against one reference.
func errorMaps(all [][]*space.ErrorMap, ref metric.Reference, meta map[string]string) []tensor {
	var first *space.ErrorMap
	most := 0.0
	for _, list := range all {
		for _, m := range list {
			if m == nil {
				continue
			}
			if first == nil {
				first = m
			}
			for _, v := range m.Val {
				if v > float32(most) {
					most = float64(v)
				}
			}
		}
	}
	if first == nil {
		return nil
	}
	e, size := len(all[0]), first.H*first.W
	steps := make([]byte, len(all)*e*size)
	means := make([]fold.Number, len(all)*e)
	for at := range steps {
		steps[at] = missing
	}
	for m, list := range all {
		for g, one := range list {
			means[m*e+g] = fold.Number(math.NaN())
			if one == nil || one.H != first.H || one.W != first.W {
				continue
			}
			means[m*e+g] = fold.Number(one.Mean)
			for k, v := range one.Val {
				if f := math.Floor(float64(254*float64(v)/cmp.Or(most, 1)) + 0.5); f >= 0 {
					steps[(m*e+g)*size+k] = byte(min(f, 254))
				}
			}
		}
	}
	text, err := json.Marshal(means)
	if err != nil {
		return nil // no number of a map is one that JSON refuses
	}
	meta["errors.hi"], meta["errors.ref"] = strconv.FormatFloat(most, 'g', -1, 64), string(ref)
	meta["errors.mean"] = string(text)
	return []tensor{bytesOf("errors", steps, len(all), e, first.H, first.W)}
}

// targets are the key boxes of the data beside the inputs: x1, y1, x2, y2, angle, score, class, all NaN where there is
// none.
func targets(inputs []*probe.Input) []tensor {
	words := make([]float32, 0, len(inputs)*boxNumbers)
	there := false
	for _, in := range inputs {
		b, ok := in.Target.(*space.Boxes)
		if !ok || len(b.Items) == 0 {
			for range boxNumbers {
				words = append(words, float32(math.NaN()))
			}
			continue
		}
		x := b.Items[0]
		there = true
		for _, v := range []float64{x.X1, x.Y1, x.X2, x.Y2, x.Angle, x.Score, float64(x.Label)} {
			words = append(words, float32(v))
		}
	}
	if !there {
		return nil
	}
	return []tensor{floatsOf("target", words, len(inputs), boxNumbers)}
}

// busyPause is how long somebody who was told that all models are busy waits.
const busyPause = 20 * time.Millisecond

// point asks for one element, again while others ask for more than is permitted.
func (b *builder) point(ctx context.Context, i int, g group.Element, ask []int,
	answer func(*probe.Point, *probe.Result),
) (*probe.Input, error) {
	for {
		in, err := func() (*probe.Input, error) {
			if len(ask) == 0 {
				return b.run.Input(ctx, i, g)
			}
			p, err := b.run.Probe(ctx, i, g, ask)
			if err != nil {
				return nil, err
			}
			for k := range p.Results {
				answer(p, &p.Results[k])
			}
			return &p.Input, nil
		}()
		if !errors.Is(err, probe.ErrBusy) {
			return in, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(busyPause):
		}
	}
}

// sprite is the inputs of a sample below each other: pictures as bytes, smaller if they are large; other arrays as they
// are.
func (b *builder) sprite(inputs []*probe.Input, meta map[string]string) []tensor {
	if len(inputs) == 0 {
		return nil
	}
	lo, hi := inputs[0].Range[0], inputs[0].Range[1]
	meta["lo"], meta["hi"] = strconv.FormatFloat(lo, 'g', -1, 64), strconv.FormatFloat(hi, 'g', -1, 64)
	first := inputs[0].Value
	if all := space.Views(first); len(all) > 0 {
		return b.pictures(first, all, inputs)
	}
	switch {
	case first.Kind() == space.KindTensor:
		var all []float32
		for _, in := range inputs {
			if in.Value.Kind() != first.Kind() || !slices.Equal(in.Value.Dims(), first.Dims()) {
				return nil
			}
			for _, v := range in.Value.Numbers() {
				all = append(all, float32(v))
			}
		}
		if len(first.Dims()) < 6 && b.shrunk == 1 {
			return []tensor{floatsOf("input", all, append([]int{len(inputs)}, first.Dims()...)...)}
		}
	case stackable(first):
		values := make([]space.Value, len(inputs))
		for k, in := range inputs {
			values[k] = in.Value
		}
		own := map[string]string{}
		ts, ok := stacked("input", values, own)
		if !ok {
			return nil
		}
		maps.Copy(meta, own)
		return ts
	}
	return nil
}

// pictures are pictures as bytes, or sequences of as many; nil if their sizes differ. Pictures alone must be of one
// size, those of sequences may differ by what is lost in making them smaller.
func (b *builder) pictures(first space.Value, list []*space.Image, inputs []*probe.Input) []tensor {
	h, w, c := smaller(list[0].H, b.shrunk), smaller(list[0].W, b.shrunk), list[0].C
	shape := []int{len(inputs), h, w, c}
	_, sequence := first.(space.Sequence)
	if sequence {
		shape = []int{len(inputs), len(list), h, w, c}
	}
	lo, hi := inputs[0].Range[0], inputs[0].Range[1]
	var pixels []byte
	for _, in := range inputs {
		all := space.Views(in.Value)
		if len(all) != len(list) || in.Value.Kind() != first.Kind() ||
			!sequence && in.Value.Form() != first.Form() {
			return nil
		}
		for _, m := range all {
			if m.C != c || smaller(m.H, b.shrunk) != h || smaller(m.W, b.shrunk) != w {
				return nil
			}
			pixels = append(pixels, shrink(m, b.shrunk, lo, hi)...)
		}
	}
	return []tensor{bytesOf("input", pixels, shape...)}
}

// stackable reports whether values of a kind are laid under each other by [stacked].
func stackable(v space.Value) bool {
	_, ragged := v.(space.Ragged)
	_, pictured := v.(space.Pictured)
	return ragged && !pictured && v.Kind() != space.KindPairs
}

// stacked are values of one kind and size under each other, with texts about them as the server sends them: rows,
// edges, signals, and records of these. It is false for others.
func stacked(name string, vs []space.Value, meta map[string]string) ([]tensor, bool) {
	meta[name+".kind"] = string(vs[0].Kind())
	first := vs[0]
	names, _ := space.Fields(first)
	switch {
	case !stackable(first):
		return nil, false
	case names != nil:
		return stackedFields(name, names, vs, meta)
	case slices.ContainsFunc(vs, func(v space.Value) bool {
		return v.Kind() != first.Kind() || !slices.Equal(v.Dims(), first.Dims())
	}):
		return nil, false
	}
	shape := append([]int{len(vs)}, first.Dims()...)
	switch first := first.(type) {
	case *space.Links:
		meta[name+".nodes"] = strconv.Itoa(first.Nodes)
		var ends []int32
		for _, v := range vs {
			for _, x := range v.Numbers() {
				ends = append(ends, int32(x))
			}
		}
		return []tensor{intsOf(name, ends, shape...)}, true
	case *space.Signal:
		meta[name+".rate"] = strconv.FormatFloat(first.Rate, 'g', -1, 64)
	}
	var floats []float32
	for _, v := range vs {
		for _, x := range v.Numbers() {
			floats = append(floats, float32(x))
		}
	}
	return []tensor{floatsOf(name, floats, shape...)}, true
}

// stackedFields are the fields of records, but for those that are not shown.
func stackedFields(name string, names []string, vs []space.Value, meta map[string]string) ([]tensor, bool) {
	var all []tensor
	var shown []string
	for f, field := range names {
		part := make([]space.Value, len(vs))
		for k, v := range vs {
			_, fields := space.Fields(v)
			if f >= len(fields) || fields[f] == nil {
				return nil, false
			}
			part[k] = fields[f]
		}
		own := map[string]string{}
		ts, ok := stacked(name+"/"+field, part, own)
		if !ok {
			continue
		}
		maps.Copy(meta, own)
		all, shown = append(all, ts...), append(shown, field)
	}
	meta[name+".fields"] = strings.Join(shown, "\n")
	return all, len(all) > 0
}

// mostNumbers is how many numbers of a sample that is no picture are kept, over all elements.
const mostNumbers = 100_000

// thin takes inputs that are no pictures at some elements only: under motions of space at the identity alone, from
// which the page moves them by the same maps; else as many as there is room for, evenly, with the identity.
func (b *builder) thin(inputs []*probe.Input, at []int32) ([]*probe.Input, []int32) {
	if len(inputs) == 0 {
		return inputs, at
	}
	n := 0
	if !stackable(inputs[0].Value) {
		return inputs, at
	}
	for _, p := range inputs[0].Value.Parts() {
		n += len(p.Raw) / 4
	}
	room := max(1, mostNumbers/max(1, n))
	if _, ok := view.SpaceAxesOf(b.doc.Orbit.Chart); ok {
		room = 1
	}
	if room >= len(inputs) {
		return inputs, at
	}
	home := slices.Index(at, int32(b.doc.Orbit.Identity)) //nolint:gosec // an element of a plan
	var in []*probe.Input
	var where []int32
	for k := range inputs {
		if k == home || home < 0 && k == 0 || room > 1 && k*room/len(inputs) != (k+1)*room/len(inputs) {
			in, where = append(in, inputs[k]), append(where, at[k])
		}
	}
	return in, where
}

// smaller is a length in blocks of f.
func smaller(n, f int) int { return max(1, n/f) }

// shrink is a picture as bytes, row by row and the channels of a pixel together, each pixel the mean over f × f of
// them.
func shrink(m *space.Image, f int, lo, hi float64) []byte {
	if f <= 1 {
		return probe.Bytes(m, lo, hi)
	}
	h, w := smaller(m.H, f), smaller(m.W, f)
	o := &space.Image{H: h, W: w, C: m.C, Pix: make([]float64, h*w*m.C)}
	for c := range m.C {
		for y := range h {
			for x := range w {
				total, n := 0.0, 0
				for v := y * f; v < min(m.H, (y+1)*f); v++ {
					for u := x * f; u < min(m.W, (x+1)*f); u++ {
						total += m.Pix[(c*m.H+v)*m.W+u]
						n++
					}
				}
				o.Pix[(c*h+y)*w+x] = total / float64(max(n, 1))
			}
		}
	}
	return probe.Bytes(o, lo, hi)
}

// best are the largest scores at every element with their classes: probabilities in steps of 1/65535. Outputs that are
// no probabilities are left out.
func best(scores [][]*space.Scores) []tensor {
	models, e := len(scores), 0
	most := 0
	for _, list := range scores {
		e = len(list)
		for _, s := range list {
			if s == nil {
				continue
			}
			if !s.Probabilities {
				return nil
			}
			most = max(most, len(s.Val))
		}
	}
	k := min(most, mostScores)
	if k == 0 {
		return nil
	}
	classes := make([]int32, models*e*k)
	values := make([]uint16, models*e*k)
	for at := range classes {
		classes[at] = -1
	}
	for m, list := range scores {
		for g, s := range list {
			if s == nil {
				continue
			}
			order := make([]int, len(s.Val))
			for c := range order {
				order[c] = c
			}
			if most > k { // the largest ones, in the order of the classes; all of a few need no sorting
				slices.SortStableFunc(order, func(x, y int) int { return cmp.Compare(s.Val[y], s.Val[x]) })
				order = order[:min(k, len(order))]
				slices.Sort(order)
			}
			for at, c := range order {
				v := s.Val[c]
				if !(v >= 0) {
					continue
				}
				classes[(m*e+g)*k+at] = int32(c) //nolint:gosec // a class
				values[(m*e+g)*k+at] = uint16(math.Floor(float64(min(v, 1)*math.MaxUint16) + 0.5))
			}
		}
	}
	return []tensor{intsOf("classes", classes, models, e, k), shortsOf("scores", values, models, e, k)}
}

// Small pictures.
const (
	thumbSide  = 64 // largest side
	thumbChunk = 64 // pictures in a block
)

// thumbs adds small pictures: of the samples that are kept, then of the others, as many as fit.
func (b *builder) thumbs() error {
	if !b.doc.Live.Inputs || b.o.Keep < 0 {
		return nil
	}
	var list []int
	seen := map[int]bool{}
	for _, k := range b.blocks {
		if i, ok := strings.CutPrefix(k.entry.Name, "sample."); ok {
			n, err := strconv.Atoi(i)
			if err != nil {
				return err
			}
			seen[n] = true
			list = append(list, n)
		}
	}
	for i := range b.run.Len() {
		if !seen[i] {
			list = append(list, i)
		}
	}
	for from := 0; from < len(list); from += thumbChunk {
		b.progress(0.9+0.07*float64(from)/float64(len(list)), "small pictures")
		part := list[from:min(from+thumbChunk, len(list))]
		k, err := b.thumbBlock(part, from/thumbChunk)
		if err != nil {
			return err
		}
		if k == nil {
			continue
		}
		ok, err := b.fit(0, k)
		if err != nil {
			return err
		}
		if !ok {
			return nil
		}
		b.sum.Thumbs += k.entry.Shape[0]
	}
	return nil
}

// thumbBlock is small pictures of the same size with the numbers of their samples; nil if there are none.
func (b *builder) thumbBlock(list []int, number int) (*block, error) {
	pictures := make([]*probe.Input, len(list))
	g, ctx := errgroup.WithContext(b.ctx)
	g.SetLimit(b.o.Workers)
	for at, i := range list {
		g.Go(func() error {
			in, err := b.point(ctx, i, b.run.Identity(), nil, nil)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err == nil {
				pictures[at] = in
			}
			return nil // a sample that cannot be read has no picture
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	var all []byte
	var of []int32
	var h, w, c int
	for at, in := range pictures {
		if in == nil {
			continue
		}
		m, sketched := space.Portrait(in.Value)
		if m == nil || m.H < 1 || m.W < 1 || m.C < 1 {
			continue
		}
		between := in.Range
		if sketched {
			between = [2]float64{0, 1}
		}
		f := (max(m.H, m.W) + thumbSide - 1) / thumbSide
		if len(of) == 0 {
			h, w, c = smaller(m.H, f), smaller(m.W, f), m.C
		}
		if smaller(m.H, f) != h || smaller(m.W, f) != w || m.C != c {
			continue
		}
		all = append(all, shrink(m, f, between[0], between[1])...)
		of = append(of, int32(list[at])) //nolint:gosec // the number of a sample
	}
	if len(of) == 0 {
		return nil, nil //nolint:nilnil // no pictures is no mistake
	}
	raw, err := container(nil, []tensor{intsOf("of", of, len(of)), bytesOf("pictures", all, len(of), h, w, c)})
	if err != nil {
		return nil, err
	}
	return pack(entry{Name: fmt.Sprintf("thumbs.%d", number), Form: "container", Shape: []int{len(of)}}, raw)
}
