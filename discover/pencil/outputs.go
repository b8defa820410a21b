package pencil

import (
	"context"
	"math"

	"gonum.org/v1/gonum/mat"
)

// outputs are the directions of the answers that are looked at: y = W(f - mean). Each answer counts in units of its own
// spread, so that no unit decides what a violation is.
type outputs struct {
	mean, spread []float64
	// w has a row for each direction; back leads from directions to answers, where no direction was left out.
	w, back   *mat.Dense
	constant  []int
	collinear int
	// drawn says that there are more directions than these
	drawn bool
	// y are the answers in these directions, one row for each object
	y [][]float64
}

func (o *outputs) size() int {
	if o.w == nil {
		return 0
	}
	q, _ := o.w.Dims()
	return q
}

// project returns W·v for a difference of answers, or for an answer less the mean.
func (o *outputs) project(v []float64) []float64 {
	y := make([]float64, o.size())
	for a := range y {
		y[a] = dot(o.w.RawRowView(a), v)
	}
	return y
}

// most is how many answers may have their covariance diagonalised; of more, directions are drawn at once.
const most = 256

func outputsOf(ctx context.Context, f Function, x [][]float64, o Options) (*outputs, error) {
	answers, err := f.answers(ctx, x)
	if err != nil {
		return nil, err
	}
	n, m := len(x), f.Out
	out := &outputs{mean: make([]float64, m), spread: make([]float64, m)}
	for _, row := range answers {
		for j, v := range row {
			out.mean[j] += v / float64(n)
		}
	}
	var size float64
	width := make([]float64, m)
	for j := range m {
		var square float64
		low, high := math.Inf(1), math.Inf(-1)
		for _, row := range answers {
			low, high = min(low, row[j]), max(high, row[j])
			d := row[j] - out.mean[j]
			square += d * d / float64(n)
		}
		out.spread[j], width[j] = math.Sqrt(square), high-low
		size = max(size, math.Abs(out.mean[j]), out.spread[j])
	}
	// What differs by rounding alone is constant.
	var kept []int
	for j, w := range width {
		if w <= 16*max(f.Roundoff, 0x1p-53)*size {
			out.constant = append(out.constant, j)
		} else {
			kept = append(kept, j)
		}
	}
	if len(kept) == 0 {
		return out, nil
	}
	units := make([][]float64, n)
	for i, row := range answers {
		units[i] = make([]float64, len(kept))
		for c, j := range kept {
			units[i][c] = (row[j] - out.mean[j]) / out.spread[j]
		}
	}
	q := out.directions(units, len(kept), o)
	r, _ := q.Dims()
	out.w, out.back = mat.NewDense(r, m, nil), mat.NewDense(m, r, nil)
	for a := range r {
		for c, j := range kept {
			out.w.Set(a, j, q.At(a, c)/out.spread[j])
			out.back.Set(j, a, q.At(a, c)*out.spread[j])
		}
	}
	for _, row := range answers {
		d := make([]float64, m)
		for j := range d {
			d[j] = row[j] - out.mean[j]
		}
		out.y = append(out.y, out.project(d))
	}
	return out, nil
}

// directions are orthonormal rows that span the answers where these are few, and drawn ones where they are many.
func (o *outputs) directions(units [][]float64, m int, opt Options) *mat.Dense {
	r := random(opt.Seed, ofProbes)
	basis := eye(m)
	if m <= most {
		cov := mat.NewSymDense(m, nil)
		for _, u := range units {
			cov.SymRankOne(cov, 1/float64(len(units)), mat.NewVecDense(m, u))
		}
		values, vectors := symmetric(cov)
		var in []int
		for j, v := range values {
			if v > unspanned*values[m-1] {
				in = append(in, j)
			}
		}
		if len(units) > m { // else inputs are too few for that
			o.collinear = m - len(in)
		}
		basis = mat.NewDense(len(in), m, nil)
		for a, j := range in {
			for c := range m {
				basis.Set(a, c, vectors.At(c, j))
			}
		}
	}
	have, _ := basis.Dims()
	if have <= opt.Probes || opt.Joint && have <= jointMost {
		return basis
	}
	o.drawn = true
	draw := mat.NewDense(have, opt.Probes, nil)
	for i := range have {
		for j := range opt.Probes {
			draw.Set(i, j, r.NormFloat64())
		}
	}
	q := orthonormal(draw)
	var out mat.Dense
	out.Mul(q.T(), basis)
	return &out
}
