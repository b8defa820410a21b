package repair

import (
	"errors"
	"math"
	"slices"
	"strconv"

	"nero/data/space"
	"nero/internal/elementary"
)

// What is near a jump: axes of which two are as long to this share of the longest, and third moments of this share of
// what they could be. On such a place stands what differs by less than float32 shows.
const (
	nearGap  = 0.05
	nearSkew = 0.05
	onPlace  = 1e-6
)

// stance is how a cloud stands: the same that a file computes.
type stance struct {
	mean [3]float64
	// spread along each of the first n axes, the largest first; axes[k] is a unit vector
	n      int
	spread [3]float64
	axes   [3][3]float64
	// third moments along the axes, of points that are scaled to spread 1
	skew [3]float64
}

// stanceOf is the stance of points in rows of three.
func stanceOf(points []float64, c claim) stance {
	s := stance{n: 3, axes: [3][3]float64{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}
	if c.upright {
		s.n, s.axes = 2, basisOf(c.fixed)
	}
	count := float64(len(points) / 3)
	for i, x := range points {
		s.mean[i%3] += x / count
	}
	along := func(i int, a [3]float64) float64 {
		t := 0.0
		for k := range 3 {
			t += float64((points[i+k] - s.mean[k]) * a[k])
		}
		return t
	}
	var m [3][3]float64
	for i := 0; i < len(points); i += 3 {
		for a := range s.n {
			for b := range s.n {
				m[a][b] += float64(along(i, s.axes[a])*along(i, s.axes[b])) / count
			}
		}
	}
	for range 8 { // sweeps of Jacobi's rotations: more than 3 × 3 needs
		for p := range s.n {
			for q := p + 1; q < s.n; q++ {
				if m[p][q] == 0 {
					continue
				}
				d := (m[q][q] - m[p][p]) / (2 * m[p][q])
				t := 1 / (math.Abs(d) + math.Sqrt(float64(d*d)+1))
				if d < 0 {
					t = -t
				}
				cos := 1 / math.Sqrt(float64(t*t)+1)
				sin := float64(t * cos)
				for k := range s.n {
					x, y := m[k][p], m[k][q]
					m[k][p], m[k][q] = float64(cos*x)-float64(sin*y), float64(sin*x)+float64(cos*y)
				}
				for k := range s.n {
					x, y := m[p][k], m[q][k]
					m[p][k], m[q][k] = float64(cos*x)-float64(sin*y), float64(sin*x)+float64(cos*y)
				}
				for k := range 3 {
					x, y := s.axes[p][k], s.axes[q][k]
					s.axes[p][k], s.axes[q][k] = float64(cos*x)-float64(sin*y), float64(sin*x)+float64(cos*y)
				}
			}
		}
	}
	for k := range s.n {
		s.spread[k] = max(m[k][k], 0)
	}
	for range s.n {
		for k := range s.n - 1 {
			if s.spread[k] < s.spread[k+1] {
				s.spread[k], s.spread[k+1] = s.spread[k+1], s.spread[k]
				s.axes[k], s.axes[k+1] = s.axes[k+1], s.axes[k]
			}
		}
	}
	for k := range s.n {
		size := math.Sqrt(s.spread[k])
		for i := 0; i < len(points) && size > 0; i += 3 {
			t := along(i, s.axes[k]) / size
			s.skew[k] += float64(float64(t*t)*t) / count
		}
	}
	return s
}

// gap is by how much of the longest axis two that come one after the other differ in spread, and which these are.
func (s stance) gap() (gap float64, first int) {
	gap = math.Inf(1)
	for k := range s.n - 1 {
		if g := (s.spread[k] - s.spread[k+1]) / s.spread[0]; !(g >= gap) {
			gap, first = g, k
		}
	}
	return gap, first
}

// crossed are the points with the closest two axes made equal, and then stretched by a share along the direction at an
// angle from the first of the two in their plane, which so becomes the longer axis.
func (s stance) crossed(points []float64, share, angle float64) []float64 {
	_, k := s.gap()
	alike := math.Sqrt(s.spread[k] / s.spread[k+1])
	cos, sin := elementary.Cos(angle), elementary.Sin(angle)
	out := slices.Clone(points)
	for i := 0; i < len(points); i += 3 {
		first, second := 0.0, 0.0
		for j := range 3 {
			first += float64((points[i+j] - s.mean[j]) * s.axes[k][j])
			second += float64((points[i+j] - s.mean[j]) * s.axes[k+1][j])
		}
		equal := float64(alike * second)
		more := float64(share * (float64(cos*first) + float64(sin*equal)))
		along, across := float64(more*cos), equal-second+float64(more*sin)
		for j := range 3 {
			out[i+j] += float64(along*s.axes[k][j]) + float64(across*s.axes[k+1][j])
		}
	}
	return out
}

// pointsOf are the points of a sample whose axes are computed, and which of its fields they are.
func pointsOf(s Source) (at int, err error) {
	feeds, err := moving(s)
	if err != nil {
		return 0, err
	}
	names, _, _, err := fields(s.Sample, s.In)
	if err != nil {
		return 0, err
	}
	for _, f := range feeds {
		if f.t.positions && f.per == space.PerNode {
			return max(slices.Index(names, f.field), 0), nil
		}
	}
	return 0, errors.New("samples have no positions of points")
}

// stances are those of samples; nil where a group turns nothing.
func stances(s Source, samples []space.Value) (all []stance, c claim, points [][]float64, at int, err error) {
	if c, err = claimed(s.Group); err != nil || !c.turns {
		return nil, c, nil, 0, err
	}
	if at, err = pointsOf(s); err != nil {
		return nil, c, nil, 0, err
	}
	for _, v := range samples {
		_, values, _, err := fields(v, s.In)
		if err != nil {
			return nil, c, nil, 0, err
		}
		points = append(points, values[at].Numbers())
		all = append(all, stanceOf(points[len(points)-1], c))
	}
	return all, c, points, at, nil
}

// nearCrossing counts samples of which two axes are nearly as long, where they change places.
func nearCrossing(s Source, _ map[string]string, samples []space.Value, _ *Answers) (*Near, error) {
	all, _, _, _, err := stances(s, samples)
	if err != nil || all == nil {
		return nil, err
	}
	out, near := &Near{Rule: "two axes differ by less than 5 % of the longest"}, 0
	for _, x := range all {
		g, _ := x.gap()
		if !(g >= nearGap) { // a point has none
			near++
		}
		if !(g > onPlace) {
			out.Ties++
		}
	}
	out.Share = *proportion(near, len(all))
	return out, nil
}

// nearFlip counts those, and samples of which an axis has no end of its own, so that it turns around.
func nearFlip(s Source, _ map[string]string, samples []space.Value, _ *Answers) (*Near, error) {
	if len(s.Sample.Dims()) == 3 {
		return nil, nil //nolint:nilnil // of pictures nobody counts them
	}
	all, c, _, _, err := stances(s, samples)
	if err != nil || all == nil {
		return nil, err
	}
	out := &Near{Rule: "two axes differ by less than 5 % of the longest, or a third moment is below 0.05"}
	near := 0
	for _, x := range all {
		signs := x.n - 1
		if c.mirrors {
			signs = x.n
		}
		g, _ := x.gap()
		beside, on := !(g >= nearGap), !(g > onPlace)
		for k := range signs {
			beside = beside || !(math.Abs(x.skew[k]) >= nearSkew)
			on = on || !(math.Abs(x.skew[k]) > onPlace)
		}
		if beside {
			near++
		}
		if on {
			out.Ties++
		}
	}
	out.Share = *proportion(near, len(all))
	return out, nil
}

// mostCrossings are made of so many samples.
const mostCrossings = 10

// crossingAxes are pairs of inputs whose closest two axes are made as long as each other, but for one part in 100,000,
// by which another direction of their plane is longer on the one side than on the other. Between the two sides the axes
// turn by a quarter, and by half a step where poses are turned K times by πk/K: a quarter turn is one of those, if K is
// even, and would show no jump.
func crossingAxes(s Source, options map[string]string, samples []space.Value) ([][2]space.Value, error) {
	if len(s.Sample.Dims()) == 3 {
		return nil, nil
	}
	const aside = 1e-5
	turned := math.Pi / 2
	if k, err := strconv.Atoi(options["smooth"]); err == nil {
		turned /= float64(k)
	}
	all, _, points, at, err := stances(s, samples[:min(len(samples), mostCrossings)])
	if err != nil {
		return nil, err
	}
	var out [][2]space.Value
	for i, x := range all {
		if _, k := x.gap(); !(x.spread[k+1] > 0) { // flat: no scale makes it as long
			continue
		}
		_, values, _, err := fields(samples[i], s.In)
		if err != nil {
			return nil, err
		}
		var pair [2]space.Value
		for side, angle := range []float64{0, turned} {
			v, err := values[at].With(x.crossed(points[i], aside, angle))
			if err != nil {
				return nil, err
			}
			pair[side] = space.Replace(samples[i], at, v)
		}
		out = append(out, pair)
	}
	return out, nil
}
