package pencil

import (
	"context"
	"fmt"
	"math"
)

// derivatives are the equations, in two halves that rounding and the step make differ.
type derivatives struct {
	probes int
	name   string
	step   float64
	// floor is what rounding makes of σ where the halves do not tell.
	floor float64
	x     [][]float64
	// gradients[half][object][probe] by the numbers of the input, or rows[half][object][part] with a row of unknowns
	// for
	// each probe.
	gradients [2][][][]float64
	rows      [2][][][][]float64
}

// row is the equation of an object and a probe in the unknowns of a part of the input.
func (d *derivatives) row(half, i, part, probe int, m moved, out []float64) {
	if d.rows[half] != nil {
		copy(out, d.rows[half][i][part][probe])
		return
	}
	m.row(d.x[i], d.gradients[half][i][probe], out, half)
}

func differentiate(ctx context.Context, f Function, x [][]float64, out *outputs, s *system, o Options) (*derivatives,
	error,
) {
	d := &derivatives{probes: out.size(), x: x, floor: max(o.Noise, 20*max(f.Roundoff, 0x1p-53))}
	a := asker{f: f, out: out, x: x}
	var err error
	if f.Pull != nil {
		err = d.pull(ctx, &a)
	} else {
		err = d.differences(ctx, &a, s, o)
	}
	if err != nil {
		return nil, err
	}
	if d.rows[0] != nil {
		return d, nil
	}
	for _, p := range s.parts {
		if p.moved == nil {
			continue
		}
		for i := range x {
			p.object()
			p.moved.measure(p, x[i], [2][][]float64{d.gradients[0][i], d.gradients[1][i]})
		}
		p.mean()
	}
	return d, nil
}

// asker asks a function for slopes along directions.
type asker struct {
	f   Function
	out *outputs
	x   [][]float64
}

// atOnce is how many numbers of inputs are held at once.
const atOnce = 1 << 22

// slopes are the differences [y(x + t·v) - y(x - t·v)]/2t for the directions of each of some objects, for every t:
// [t][object][direction][probe].
func (a *asker) slopes(ctx context.Context, objects []int, along [][]direction, ts []float64) ([][][][]float64, error) {
	out := make([][][][]float64, len(ts))
	for k := range out {
		out[k] = make([][][]float64, len(objects))
		for i := range objects {
			out[k][i] = make([][]float64, len(along[i]))
		}
	}
	type asked struct{ t, object, direction int }
	var batch [][]float64
	var places []asked
	flush := func() error {
		y, err := a.f.answers(ctx, batch)
		if err != nil {
			return err
		}
		for j, p := range places {
			diff := make([]float64, a.f.Out)
			for c := range diff {
				diff[c] = (y[2*j][c] - y[2*j+1][c]) / (2 * ts[p.t])
			}
			out[p.t][p.object][p.direction] = a.out.project(diff)
		}
		batch, places = batch[:0], places[:0]
		return nil
	}
	for i, o := range objects {
		for j, v := range along[i] {
			for k, t := range ts {
				for _, sign := range []float64{t, -t} {
					x := append([]float64(nil), a.x[o]...)
					for c, at := range v.at {
						x[at] += float64(sign * v.by[c])
					}
					batch = append(batch, x)
				}
				places = append(places, asked{k, i, j})
				if len(batch)*a.f.In >= atOnce {
					if err := flush(); err != nil {
						return nil, err
					}
				}
			}
		}
	}
	if len(batch) > 0 {
		if err := flush(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Steps of differences, relative to the size of what is changed.
const (
	widest  = 0.1
	decades = 7
	// objects and directions at which they are tried.
	triedObjects    = 6
	triedDirections = 16
)

// step is the relative step at which the differences of a step and of its half agree best: it lies on the plateau
// between the curvature of the function, which grows with the step, and rounding, which grows as it falls.
func (a *asker) step(ctx context.Context, along func(i int) []direction) (float64, error) {
	var objects []int
	var tried [][]direction
	for k := range min(triedObjects, len(a.x)) {
		i := k * len(a.x) / min(triedObjects, len(a.x))
		all := along(i)
		var some []direction
		for j := range min(triedDirections, len(all)) {
			some = append(some, all[j*len(all)/min(triedDirections, len(all))])
		}
		objects, tried = append(objects, i), append(tried, some)
	}
	var ts []float64
	for k, t := 0, widest; k < decades; k, t = k+1, t/10 {
		ts = append(ts, t, t/2)
	}
	y, err := a.slopes(ctx, objects, tried, ts)
	if err != nil {
		return 0, err
	}
	best, least := 0.0, math.Inf(1)
	for k := range decades {
		var apart, size float64
		for i := range objects {
			for j := range tried[i] {
				for w, v := range y[2*k][i][j] {
					u := y[2*k+1][i][j][w]
					apart += float64((v - u) * (v - u))
					size += float64((v + u) * (v + u) / 4)
				}
			}
		}
		if size > 0 && apart/size < least {
			best, least = ts[2*k], apart/size
		}
	}
	if best == 0 {
		return 0, fmt.Errorf("%w: no answer changes with its input, from steps of %g down to %g of its size", ErrOpen,
			widest, ts[len(ts)-2])
	}
	return best, nil
}

// differences asks along each number of the input, or, where those are many, along the fields of the unknowns.
func (d *derivatives) differences(ctx context.Context, a *asker, s *system, o Options) error {
	d.name = "central differences"
	sizes := s.sizes(a.f.In)
	places, fields := 0, 0
	for _, size := range sizes {
		if size > 0 {
			places++
		}
	}
	for _, p := range s.parts {
		if p.moved != nil {
			fields += len(p.moved.fields(a.x[0], 0)) + len(p.moved.drawn(a.x[0], random(o.Seed, ofDirections)))
		}
	}
	if fields < places {
		return d.alongFields(ctx, a, s, o)
	}
	var axes []direction
	for j, size := range sizes {
		if size > 0 {
			axes = append(axes, direction{at: []int{j}, by: []float64{size}})
		}
	}
	var err error
	if d.step, err = a.step(ctx, func(int) []direction { return axes }); err != nil {
		return err
	}
	ts := []float64{d.step, d.step / 2}
	for i := range a.x {
		y, err := a.slopes(ctx, []int{i}, [][]direction{axes}, ts)
		if err != nil {
			return err
		}
		for half := range ts {
			g := make([][]float64, d.probes)
			for w := range g {
				g[w] = make([]float64, a.f.In)
				for j, v := range axes {
					g[w][v.at[0]] = y[half][0][j][w] / v.by[0]
				}
			}
			d.gradients[half] = append(d.gradients[half], g)
		}
	}
	return nil
}

func (d *derivatives) alongFields(ctx context.Context, a *asker, s *system, o Options) error {
	// all[half][object] are the fields of each part, and what is drawn for it
	var all [2][][]direction
	own, more := make([]int, len(s.parts)), make([]int, len(s.parts))
	r := random(o.Seed, ofDirections)
	for _, x := range a.x {
		var asked [2][]direction
		for k, p := range s.parts {
			if p.moved == nil {
				continue
			}
			drawn := p.moved.drawn(x, r)
			for half := range asked {
				f := p.moved.fields(x, half)
				own[k], more[k] = len(f), len(drawn)
				asked[half] = append(append(asked[half], f...), drawn...)
			}
		}
		for half := range all {
			all[half] = append(all[half], asked[half])
		}
	}
	var err error
	if d.step, err = a.step(ctx, func(i int) []direction { return all[0][i] }); err != nil {
		return err
	}
	for i := range a.x {
		var y [2][][]float64
		for half, t := range []float64{d.step, d.step / 2} {
			got, err := a.slopes(ctx, []int{i}, all[half][i:i+1], []float64{t})
			if err != nil {
				return err
			}
			y[half] = got[0][0]
		}
		from := 0
		rows := [2][][][]float64{}
		for k, p := range s.parts {
			at := from + own[k]
			end := at + more[k]
			for half := range rows {
				rows[half] = append(rows[half], transposed(y[half][from:at], d.probes))
			}
			if p.moved != nil {
				p.object()
				p.moved.judge(p, [2][][]float64{y[0][at:end], y[1][at:end]})
			}
			from = end
		}
		for half := range rows {
			d.rows[half] = append(d.rows[half], rows[half])
		}
	}
	for _, p := range s.parts {
		if p.moved != nil {
			p.mean()
		}
	}
	return nil
}

func transposed(y [][]float64, probes int) [][]float64 {
	out := make([][]float64, probes)
	for w := range out {
		out[w] = make([]float64, len(y))
		for j := range y {
			out[w][j] = y[j][w]
		}
	}
	return out
}

// pull asks for derivatives, and holds some of them against differences: a derivative that is another function's would
// give symmetries that nobody has.
func (d *derivatives) pull(ctx context.Context, a *asker) error {
	d.name = "gradients"
	var x, c [][]float64
	flush := func() error {
		g, err := a.f.Pull(ctx, x, c)
		if err != nil {
			return err
		}
		for j, row := range g {
			if err := finite(row, "the gradient at input", j); err != nil {
				return err
			}
		}
		for i := 0; i < len(g); i += d.probes {
			for half := range d.gradients {
				d.gradients[half] = append(d.gradients[half], g[i:i+d.probes])
			}
		}
		x, c = x[:0], c[:0]
		return nil
	}
	for i := range a.x {
		for w := range d.probes {
			x, c = append(x, a.x[i]), append(c, a.out.w.RawRowView(w))
		}
		if len(x)*(a.f.In+a.f.Out) >= atOnce || i == len(a.x)-1 {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return d.compare(ctx, a)
}

// compare holds derivatives against differences along random directions.
func (d *derivatives) compare(ctx context.Context, a *asker) error {
	const far = 0.1
	r := random(0, ofDirections)
	along := make([][]direction, len(a.x))
	for i, x := range a.x {
		v := direction{}
		for j := range x {
			v.at, v.by = append(v.at, j), append(v.by, r.NormFloat64()*max(norm(x)/math.Sqrt(float64(len(x))), 1e-6))
		}
		along[i] = []direction{v}
	}
	step, err := a.step(ctx, func(i int) []direction { return along[i] })
	if err != nil {
		return err
	}
	some := min(16, len(a.x))
	objects := make([]int, some)
	for i := range objects {
		objects[i] = i * len(a.x) / some
		along[i] = along[objects[i]]
	}
	y, err := a.slopes(ctx, objects, along[:some], []float64{step})
	if err != nil {
		return err
	}
	var apart, size float64
	for i, object := range objects {
		for w, slope := range y[0][i][0] {
			g := dot(d.gradients[0][object][w], along[i][0].by)
			apart += float64((g - slope) * (g - slope))
			size += float64(slope*slope) + float64(g*g)
		}
	}
	if !(apart <= far*far*size) {
		return fmt.Errorf("%w: the derivative of the model and its differences are %.2g apart", ErrOpen,
			math.Sqrt(apart/size))
	}
	return nil
}
