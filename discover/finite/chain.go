package finite

import (
	"cmp"
	"context"
	"math"
	"slices"
)

// baseline is numbers that partial images are tried with: a value for each item, and one that items have which nobody
// has
// placed yet. As all of those are equal, it makes no difference where they go, and a partial image of a symmetry has to
// keep the answer.
type baseline struct {
	values [][]float64
	rest   []float64
	row    []float64
	// answers[l] is that with the first l+1 items of the order placed
	answers [][]float64
}

// baselines is how many of them there are.
const baselines = 3

// chain finds one symmetry for each coset of the stabilisers of the first items of the order, from the last to the
// first.
func (s *search) chain(ctx context.Context) error {
	s.arrange()
	if err := s.begin(ctx); err != nil {
		return err
	}
	for k, b := range slices.Backward(s.order) {
		reached, failed := s.orbit(b+1, k), map[int]bool{}
		for _, j := range s.order[k:] {
			for _, image := range []int{j + 1, -(j + 1)} {
				if image < 0 && !s.o.Signs || reached[image] || failed[image] || !s.single[b].same(s.single[j]) {
					continue
				}
				e, err := s.coset(ctx, k, image)
				if err != nil {
					return err
				}
				if e != nil {
					s.found = append(s.found, *e)
					reached = s.orbit(b+1, k)
					continue
				}
				for p := range s.orbit(image, k) {
					failed[p] = true
				}
			}
		}
	}
	return nil
}

// arrange orders the items: first those whose statistics the fewest others share, and classes together.
func (s *search) arrange() {
	shared := make([]int, len(s.items))
	for i := range s.items {
		if s.ignored[i] {
			continue
		}
		s.order = append(s.order, i)
		for j := range s.items {
			if !s.ignored[j] && s.single[i].same(s.single[j]) {
				shared[s.class[i]]++
			}
		}
	}
	slices.SortFunc(s.order, func(i, j int) int {
		return cmp.Or(cmp.Compare(shared[s.class[i]], shared[s.class[j]]), cmp.Compare(s.class[i], s.class[j]),
			cmp.Compare(i, j))
	})
}

// begin draws baselines and asks them.
func (s *search) begin(ctx context.Context) error {
	for range baselines {
		b := baseline{row: slices.Clone(s.x[0]), rest: s.item(), values: make([][]float64, len(s.items))}
		if s.o.Signs {
			b.rest = make([]float64, len(b.rest)) // nothing else is its own negative
		}
		for i := range s.items {
			b.values[i] = s.item()
			s.put(b.row, i, b.rest)
		}
		var batch [][]float64
		row := slices.Clone(b.row)
		for _, i := range s.order {
			s.put(row, i, b.values[i])
			batch = append(batch, slices.Clone(row))
		}
		var err error
		if b.answers, err = s.ask(ctx, batch); err != nil {
			return err
		}
		if s.o.Outputs {
			for _, y := range b.answers {
				slices.Sort(y)
			}
		}
		s.baseline = append(s.baseline, b)
	}
	return nil
}

// orbit is where known symmetries that leave the first k items of the order take an item with a sign.
func (s *search) orbit(from, k int) map[int]bool {
	reached := map[int]bool{from: true}
	queue := []int{from}
	for len(queue) > 0 {
		p := queue[0]
		queue = queue[1:]
		for _, e := range s.found {
			if slices.ContainsFunc(s.order[:k], func(i int) bool { return e.Images[i] != i+1 }) {
				continue
			}
			q := e.Images[max(p, -p)-1]
			if p < 0 {
				q = -q
			}
			if !reached[q] {
				reached[q] = true
				queue = append(queue, q)
			}
		}
	}
	return reached
}

// coset is a symmetry that leaves the first k items of the order and takes the next one to a place; nil if there is
// none.
func (s *search) coset(ctx context.Context, k, image int) (*Element, error) {
	images, used := make([]int, len(s.items)), make([]bool, len(s.items))
	for i, gone := range s.ignored {
		if gone {
			images[i], used[i] = i+1, true
		}
	}
	for _, i := range s.order[:k] {
		images[i], used[i] = i+1, true
	}
	return s.place(ctx, images, used, k, []int{image})
}

// place tries images for the item at a depth of the order, and goes on with the next one.
func (s *search) place(ctx context.Context, images []int, used []bool, depth int, candidates []int) (*Element, error) {
	i := s.order[depth]
	candidates = slices.DeleteFunc(candidates, func(image int) bool {
		j := max(image, -image) - 1
		return !s.single[i].same(s.single[j]) || s.pairs != nil &&
			slices.ContainsFunc(s.order[:depth], func(p int) bool {
				q := max(images[p], -images[p]) - 1
				return !s.pairs[i][p].same(s.pairs[j][q])
			})
	})
	keep, err := s.partial(ctx, images, depth, candidates)
	if err != nil {
		return nil, err
	}
	for c, image := range candidates {
		if !keep[c] {
			continue
		}
		j := max(image, -image) - 1
		images[i], used[j] = image, true
		var e *Element
		if depth+1 == len(s.order) {
			got, err := s.test(ctx, [][]int{slices.Clone(images)})
			if err != nil {
				return nil, err
			}
			e = got[0]
		} else if e, err = s.place(ctx, images, used, depth+1, s.free(used)); err != nil {
			return nil, err
		}
		if e != nil {
			return e, nil
		}
		images[i], used[j] = 0, false
	}
	return nil, nil //nolint:nilnil // there is none, and nothing went wrong
}

// free are the places that nobody took, one of each class: the others of it would do as well or as badly.
func (s *search) free(used []bool) []int {
	var out []int
	seen := map[int]bool{}
	for _, j := range s.order {
		if used[j] || seen[s.class[j]] {
			continue
		}
		seen[s.class[j]] = true
		out = append(out, j+1)
		if s.o.Signs && !s.flips[j] {
			out = append(out, -(j + 1))
		}
	}
	return out
}

// partial tells which images of the item at a depth keep the answers to the baselines.
func (s *search) partial(ctx context.Context, images []int, depth int, candidates []int) ([]bool, error) {
	keep := make([]bool, len(candidates))
	if len(candidates) == 0 {
		return keep, nil
	}
	var batch [][]float64
	for b := range s.baseline {
		base := &s.baseline[b]
		row := slices.Clone(base.row)
		for _, p := range s.order[:depth] {
			s.signed(row, base.values[p], images[p])
		}
		for _, image := range candidates {
			x := slices.Clone(row)
			s.signed(x, base.values[s.order[depth]], image)
			batch = append(batch, x)
		}
	}
	y, err := s.ask(ctx, batch)
	if err != nil {
		return nil, err
	}
	for c := range candidates {
		keep[c] = true
		for b := range s.baseline {
			want, got := s.baseline[b].answers[depth], y[b*len(candidates)+c]
			if !finite(want) {
				continue // says nothing
			}
			if s.o.Outputs {
				slices.Sort(got)
			}
			var apart, size float64
			for j, v := range want {
				apart += float64((got[j] - v) * (got[j] - v))
				size += float64(v * v)
			}
			if !(math.Sqrt(apart) <= s.o.Limit*(s.scale+math.Sqrt(size))) {
				keep[c] = false
				break
			}
		}
	}
	return keep, nil
}

// signed puts the value of an item where an image says.
func (s *search) signed(row, v []float64, image int) {
	if image < 0 {
		v = slices.Clone(v)
		for c := range v {
			v[c] = -v[c]
		}
	}
	s.put(row, max(image, -image)-1, v)
}
