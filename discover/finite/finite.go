// Package finite looks for the permutations and sign flips of its inputs under which a function stays what it is, or
// has
// its answers permuted.
//
// Exchanges of two items and flips of one are tried first. Of the rest, statistics of the function that a symmetry has
// to keep say which item may go where; a search over partial images, in the order of the rarest statistics, finds one
// symmetry for each coset of a chain of stabilisers; and each that is found was held against 64 inputs. The group that
// they generate is measured by the algorithm of Schreier and Sims.
//
// The package knows nothing of models. Random choices follow from the seed; what is found is a function of the answers
// alone, and these decide by comparison with a limit, so that it is the same on every machine unless an error falls
// right onto that limit.
package finite

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// Function is what is asked.
type Function struct {
	// In and Out are how many numbers go in and come out.
	In, Out int
	// At answers each input.
	At func(ctx context.Context, x [][]float64) ([][]float64, error)
}

// Options say how. The zero of each number is its preset.
type Options struct {
	// Items are the places of the numbers of each thing that is permuted, all of as many; none at all means each
	// number.
	// What is in none stays where it is.
	Items [][]int
	// Signs flips signs of items, too.
	Signs bool
	// Outputs lets answers change places.
	Outputs bool
	// Limit is the largest error of a symmetry at any input, relative to the spread of the answers; 1e-4 by preset.
	Limit float64
	// Evaluations is how many answers may be asked for, 200,000 by preset.
	Evaluations int
	// Seed decides every random choice.
	Seed uint64
}

// ErrOpen marks questions that the function or the data cannot answer, with the reason.
var ErrOpen = errors.New("not asked")

// Presets and limits.
const (
	limit       = 1e-4
	evaluations = 200_000
	// inputs at which a symmetry is tested, and those that are asked first.
	probes = 64
	first  = 4
	// items up to which more is looked for than exchanges and flips, and answers that may change places.
	searched  = 64
	permuting = 64
	// items that may be exchanged one by one, and those that all may be exchanged.
	flipped   = 512
	exchanged = 1 << 16
	// draws of a statistic, and how many standard errors apart two may be that are the same. A wrong rejection loses a
	// symmetry and a wrong acceptance costs some questions; squares of differences have long tails.
	sampled = 64
	errors6 = 6
)

// Result is the group that was found.
type Result struct {
	// Items is how many things could change places, Signs and Outputs repeat what was asked.
	Items   int  `json:"items"`
	Signs   bool `json:"signs"`
	Outputs bool `json:"outputs"`
	// Order of the group, in digits, or such as 1024! for one that would have very many; it is a lower bound if
	// AtLeast, for
	// the reason Why.
	Order   string `json:"order"`
	AtLeast bool   `json:"at_least"`
	Why     string `json:"why,omitempty"`
	Name    string `json:"name"`
	// Generators generate it; Orbits are the items, from 1, that change places with each other.
	Generators []Element `json:"generators"`
	Orbits     [][]int   `json:"orbits"`
	// Ignored are the items that the function does not look at; they are in no element.
	Ignored []int `json:"ignored"`
	// Evaluations is how many answers it took, Tested how many maps of all items were held against inputs.
	Evaluations int `json:"evaluations"`
	Tested      int `json:"tested"`
	// Limit is the largest error that was let pass.
	Limit float64 `json:"limit"`
}

// Element is a symmetry.
type Element struct {
	// Images says for each item, from 1, where it goes; negative with its sign flipped.
	Images []int `json:"images"`
	// Answers says the same for the answers, where they may change places.
	Answers []int `json:"answers,omitempty"`
	// Cycles is the same for people, such as (1 2 -3).
	Cycles string `json:"cycles"`
	// Error is its largest at any probe, relative to the spread of the answers.
	Error float64 `json:"error"`
}

// errBudget ends a search that may ask no more.
var errBudget = errors.New("the evaluations are spent")

// search is what is known so far.
type search struct {
	f     Function
	o     Options
	items [][]int
	// x are the probes, y what they are answered, scale the spread of that
	x, y  [][]float64
	scale float64
	// pool are items as they are in the data, to draw from
	pool [][]float64
	rand *rand.Rand

	evaluations, tested int
	ignored             []bool
	// class[i] is the first item that i may be exchanged with, itself if there is none; flips[i] tells that its sign
	// counts
	// for nothing
	class []int
	flips []bool
	// whole says that all items may change places in every way
	whole bool
	// mean and slack of the statistics of an item and of a pair; pairs is nil where they would cost too much
	single []statistic
	pairs  [][]statistic
	// order of the items in the search, and the symmetries that are known
	order    []int
	found    []Element
	baseline []baseline
}

// statistic is a mean with its standard error.
type statistic struct{ mean, err float64 }

func (s statistic) same(t statistic) bool {
	return math.Abs(s.mean-t.mean) <= float64(errors6*math.Hypot(s.err, t.err))+float64(1e-9*(s.mean+t.mean))
}

// Find looks for the group of a function, at inputs as they are in the data.
func Find(ctx context.Context, f Function, x [][]float64, o Options) (*Result, error) {
	if o.Limit == 0 {
		o.Limit = limit
	}
	if o.Evaluations == 0 {
		o.Evaluations = evaluations
	}
	s := &search{f: f, o: o, items: o.Items, rand: rand.New(rand.NewPCG(o.Seed, 1))}
	if len(s.items) == 0 {
		for i := range f.In {
			s.items = append(s.items, []int{i})
		}
	}
	if err := s.check(x); err != nil {
		return nil, err
	}
	s.class, s.flips, s.ignored = make([]int, len(s.items)), make([]bool, len(s.items)), make([]bool, len(s.items))
	for i := range s.class {
		s.class[i] = i
	}
	why := ""
	err := s.run(ctx, x)
	switch {
	case errors.Is(err, errBudget):
		why = fmt.Sprintf("the budget of %d evaluations was spent before the search ended", o.Evaluations)
	case err != nil:
		return nil, err
	case len(s.items) > searched && !s.whole:
		why = fmt.Sprintf("of more than %d items, exchanges and flips alone are tried", searched)
	}
	return s.result(why), nil
}

func (s *search) check(x [][]float64) error {
	if len(x) == 0 {
		return fmt.Errorf("%w: no inputs", ErrOpen)
	}
	if len(s.items) < 2 && !s.o.Signs {
		return fmt.Errorf("%w: one item has no place to go to", ErrOpen)
	}
	if len(s.items) > exchanged {
		return fmt.Errorf("%w: %d items are more than %d", ErrOpen, len(s.items), exchanged)
	}
	if s.o.Outputs && s.f.Out > permuting {
		return fmt.Errorf("%w: %d answers are more than the %d that may change places", ErrOpen, s.f.Out, permuting)
	}
	for i, p := range s.items {
		if len(p) == 0 || len(p) != len(s.items[0]) {
			return fmt.Errorf("%w: item %d has %d numbers, the first %d", ErrOpen, i+1, len(p), len(s.items[0]))
		}
		for _, j := range p {
			if j < 0 || j >= s.f.In {
				return fmt.Errorf("%w: item %d names number %d of %d", ErrOpen, i+1, j, s.f.In)
			}
		}
	}
	for i, row := range x {
		if len(row) != s.f.In {
			return fmt.Errorf("%w: input %d has %d numbers, the function takes %d", ErrOpen, i, len(row), s.f.In)
		}
		for j, v := range row {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("%w: number %d of input %d is %v", ErrOpen, j, i, v)
			}
		}
	}
	return nil
}

// ask answers inputs and counts them.
func (s *search) ask(ctx context.Context, x [][]float64) ([][]float64, error) {
	if s.evaluations+len(x) > s.o.Evaluations {
		return nil, errBudget
	}
	s.evaluations += len(x)
	y, err := s.f.At(ctx, x)
	if err != nil {
		return nil, err
	}
	if len(y) != len(x) {
		return nil, fmt.Errorf("%d answers to %d inputs", len(y), len(x))
	}
	for _, row := range y {
		if len(row) != s.f.Out {
			return nil, fmt.Errorf("%w: %d numbers in an answer beside %d", ErrOpen, len(row), s.f.Out)
		}
	}
	return y, nil
}

func finite(y []float64) bool {
	return !slices.ContainsFunc(y, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) })
}

// run looks, and leaves behind what it has found when it may ask no more.
func (s *search) run(ctx context.Context, x [][]float64) error {
	for _, row := range x {
		for _, item := range s.items {
			v := make([]float64, len(item))
			for c, j := range item {
				v[c] = row[j]
			}
			s.pool = append(s.pool, v)
		}
	}
	for i := range probes {
		if i < len(x) {
			s.x = append(s.x, x[i*len(x)/min(probes, len(x))])
		} else {
			s.x = append(s.x, s.draw(x))
		}
	}
	var err error
	if s.y, err = s.ask(ctx, s.x); err != nil {
		return err
	}
	mean := make([]float64, s.f.Out)
	for i, row := range s.y {
		if !finite(row) {
			return fmt.Errorf("%w: the answer to input %d is not finite", ErrOpen, i)
		}
		for j, v := range row {
			mean[j] += float64(v / probes)
		}
	}
	for _, row := range s.y {
		for j, v := range row {
			s.scale += float64((v - mean[j]) * (v - mean[j]) / probes)
		}
	}
	s.scale = math.Sqrt(s.scale)
	var size float64
	for _, v := range mean {
		size = max(size, math.Abs(v))
	}
	if !(s.scale > 1e-9*size) {
		return fmt.Errorf("%w: the answers are the same at every input, which every permutation leaves as they are",
			ErrOpen)
	}
	if len(s.items) > searched {
		if err := s.all(ctx); err != nil || s.whole {
			return err
		}
		if len(s.items) > flipped {
			return fmt.Errorf("%w: of %d items not all may be exchanged, and more than %d are not tried one by one",
				ErrOpen, len(s.items), flipped)
		}
	}
	if err := s.statistics(ctx, x); err != nil {
		return err
	}
	if err := s.exchanges(ctx); err != nil {
		return err
	}
	if len(s.items) > searched {
		return nil
	}
	return s.chain(ctx)
}

// all asks whether every permutation is a symmetry: it is if the exchange of the first two items and the round of all
// are,
// which generate the rest. A flip of the first is then one of any.
func (s *search) all(ctx context.Context) error {
	swap, round, flip := s.identity(), s.identity(), s.identity()
	swap[0], swap[1], flip[0] = 2, 1, -1
	for i := range round {
		round[i] = (i+1)%len(round) + 1
	}
	maps := [][]int{swap, round}
	if s.o.Signs {
		maps = append(maps, flip)
	}
	got, err := s.test(ctx, maps)
	if err != nil || got[0] == nil || got[1] == nil {
		return err
	}
	s.whole = true
	for i := range s.class {
		s.class[i] = 0
		s.flips[i] = s.o.Signs && got[2] != nil
	}
	for _, e := range got {
		if e != nil {
			s.found = append(s.found, *e)
		}
	}
	return nil
}

// draw is an input whose items come from anywhere in the data, so that each is as likely in every place.
func (s *search) draw(x [][]float64) []float64 {
	row := slices.Clone(x[s.rand.IntN(len(x))])
	for i := range s.items {
		s.put(row, i, s.item())
	}
	return row
}

// item is one of the pool, with any sign if signs are asked.
func (s *search) item() []float64 {
	v := slices.Clone(s.pool[s.rand.IntN(len(s.pool))])
	if s.o.Signs && s.rand.IntN(2) == 0 {
		for c := range v {
			v[c] = -v[c]
		}
	}
	return v
}

func (s *search) put(row []float64, i int, v []float64) {
	for c, j := range s.items[i] {
		row[j] = v[c]
	}
}

// statistics are, for inputs whose items are exchangeable, how much the answer changes on average when one item is
// replaced, and how much of the change by two is not the sum of those by each. Symmetries keep both.
func (s *search) statistics(ctx context.Context, x [][]float64) error {
	d := len(s.items)
	pairs := d*(d-1)/2*sampled <= s.o.Evaluations/4
	singles, doubles := make([][]float64, d), map[[2]int][]float64{}
	for range sampled {
		base := s.draw(x)
		batch := [][]float64{base}
		with := make([][]float64, d)
		for i := range d {
			with[i] = s.item()
			row := slices.Clone(base)
			s.put(row, i, with[i])
			batch = append(batch, row)
		}
		if pairs {
			for i := range d {
				for j := range i {
					row := slices.Clone(base)
					s.put(row, i, with[i])
					s.put(row, j, with[j])
					batch = append(batch, row)
				}
			}
		}
		y, err := s.ask(ctx, batch)
		if err != nil {
			return err
		}
		at := 1 + d
		for i := range d {
			singles[i] = append(singles[i], s.square(y[1+i], y[0], nil, nil))
			if pairs {
				for j := range i {
					k := [2]int{i, j}
					doubles[k] = append(doubles[k], s.square(y[at], y[1+i], y[1+j], y[0]))
					at++
				}
			}
		}
	}
	s.single = make([]statistic, d)
	for i, v := range singles {
		s.single[i] = summed(v)
		s.ignored[i] = slices.Max(v) <= s.o.Limit*s.o.Limit
	}
	if !pairs {
		return nil
	}
	s.pairs = make([][]statistic, d)
	for i := range s.pairs {
		s.pairs[i] = make([]statistic, d)
	}
	for k, v := range doubles {
		s.pairs[k[0]][k[1]] = summed(v)
		s.pairs[k[1]][k[0]] = s.pairs[k[0]][k[1]]
	}
	return nil
}

// square is |a - b - c + d|² in units of the spread. With answers that change places it is the same, for all of them
// do.
func (s *search) square(a, b, c, d []float64) float64 {
	var sum float64
	for j := range a {
		v := a[j] - b[j]
		if c != nil {
			v -= c[j] - d[j]
		}
		sum += float64(v * v)
	}
	if v := sum / (s.scale * s.scale); !math.IsNaN(v) {
		return v
	}
	return math.Inf(1)
}

func summed(v []float64) statistic {
	var mean, square float64
	n := float64(len(v))
	for _, x := range v {
		mean += x / n
	}
	for _, x := range v {
		square += float64((x - mean) * (x - mean))
	}
	if math.IsInf(mean, 0) || math.IsNaN(square) {
		return statistic{0, math.Inf(1)} // says nothing
	}
	return statistic{mean, math.Sqrt(square / (n * (n - 1)))}
}

// identity leaves all items where they are.
func (s *search) identity() []int {
	e := make([]int, len(s.items))
	for i := range e {
		e[i] = i + 1
	}
	return e
}

// moved is an input whose items are where a map takes them.
func (s *search) moved(x []float64, images []int) []float64 {
	row := slices.Clone(x)
	for i, to := range images {
		at := max(to, -to) - 1
		for c, j := range s.items[i] {
			v := x[j]
			if to < 0 {
				v = -v
			}
			row[s.items[at][c]] = v
		}
	}
	return row
}

// test holds maps against the probes: those that pass all are symmetries.
func (s *search) test(ctx context.Context, maps [][]int) ([]*Element, error) {
	out := make([]*Element, len(maps))
	s.tested += len(maps)
	alive := make([]int, len(maps))
	for k := range alive {
		alive[k] = k
	}
	answers := make([][][]float64, len(maps))
	for _, to := range []int{first, probes} {
		var batch [][]float64
		for _, k := range alive {
			for i := len(answers[k]); i < to; i++ {
				batch = append(batch, s.moved(s.x[i], maps[k]))
			}
		}
		if len(batch) == 0 {
			break
		}
		y, err := s.ask(ctx, batch)
		if err != nil {
			return nil, err
		}
		var still []int
		for _, k := range alive {
			n := to - len(answers[k])
			answers[k], y = append(answers[k], y[:n]...), y[n:]
			e := &Element{Images: maps[k], Cycles: cycles(maps[k])}
			if s.judge(e, answers[k]) {
				still = append(still, k)
				if to == probes {
					out[k] = e
				}
			}
		}
		alive = still
	}
	return out, nil
}

// judge fills in where the answers go, and the error; it tells whether that is small.
func (s *search) judge(e *Element, y [][]float64) bool {
	m := s.f.Out
	to := make([]int, m)
	if !s.o.Outputs {
		for a := range to {
			to[a] = a
		}
	} else {
		// Which answer is where: of those that say the same, the first that is free.
		taken := make([]bool, m)
		for a := range m {
			to[a] = -1
			for b := range m {
				if taken[b] {
					continue
				}
				same := true
				for i, row := range y {
					if !(math.Abs(row[b]-s.y[i][a]) <= s.o.Limit*s.scale) {
						same = false
						break
					}
				}
				if same {
					to[a], taken[b] = b, true
					break
				}
			}
			if to[a] < 0 {
				return false
			}
		}
		for _, b := range to {
			e.Answers = append(e.Answers, b+1)
		}
	}
	for i, row := range y {
		var sum float64
		for a, b := range to {
			d := row[b] - s.y[i][a]
			sum += float64(d * d)
		}
		err := math.Sqrt(sum) / s.scale
		if !(err <= s.o.Limit) {
			return false
		}
		e.Error = max(e.Error, err)
	}
	return true
}

// exchanges tries flips of one item and exchanges of two. What may be exchanged with one of a class may be exchanged
// with
// all of it.
func (s *search) exchanges(ctx context.Context) error {
	d := len(s.items)
	if s.o.Signs {
		var maps [][]int
		var of []int
		for i := range d {
			if !s.ignored[i] {
				e := s.identity()
				e[i] = -e[i]
				maps, of = append(maps, e), append(of, i)
			}
		}
		got, err := s.test(ctx, maps)
		if err != nil {
			return err
		}
		for k, e := range got {
			if e != nil {
				s.flips[of[k]] = true
				s.found = append(s.found, *e)
			}
		}
	}
	for i := range d {
		if s.ignored[i] {
			continue
		}
		var maps [][]int
		var with []int
		last := map[int]int{}
		for j := range i {
			if !s.ignored[j] {
				last[s.class[j]] = j
			}
		}
		for j := range i {
			if s.class[j] == j && !s.ignored[j] && s.flips[i] == s.flips[j] && s.single[i].same(s.single[j]) {
				e := s.identity()
				k := last[j] // neighbours in the class
				e[i], e[k] = e[k], e[i]
				maps, with = append(maps, e), append(with, j)
			}
		}
		got, err := s.test(ctx, maps)
		if err != nil {
			return err
		}
		for k, e := range got {
			if e != nil {
				s.class[i] = with[k]
				s.found = append(s.found, *e)
				break
			}
		}
	}
	return nil
}

// cycles writes a map as its cycles, such as (1 2)(3 -4).
func cycles(images []int) string {
	var b strings.Builder
	seen := map[int]bool{}
	for i := range images {
		at := i + 1
		if seen[at] || images[i] == at {
			continue
		}
		var cycle []string
		for !seen[at] {
			// A cycle through an item and its negative is written once.
			seen[at] = true
			cycle = append(cycle, strconv.Itoa(at))
			next := images[max(at, -at)-1]
			if at < 0 {
				next = -next
			}
			at = next
		}
		for k := range seen {
			seen[-k] = true
		}
		b.WriteString("(" + strings.Join(cycle, " ") + ")")
	}
	if b.Len() == 0 {
		return "()"
	}
	return b.String()
}
