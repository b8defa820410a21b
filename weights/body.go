package weights

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"nero/data/tensor"
	"nero/internal/elementary"
	"nero/model/engine"
	"nero/model/onnx"
	"nero/model/onnx/facts"
)

// Body runs models on the same inputs again and again.
type Body struct {
	// Open opens a model.
	Open func(ctx context.Context, model []byte) (engine.Session, error)
	// Free gives back what was thrown away, where models are so large that it counts; nil where they are not.
	Free func()
	// Probes are the inputs, one call each.
	Probes [][]tensor.Named
}

// leastProbes are needed to say how far answers are apart beside how far they are anyway.
const leastProbes = 4

// most work that all probes of a model may take, in multiply-adds: large models are asked at fewer.
const mostWork = 1 << 33

// PresetProbes is how many probes a model of so many multiply-adds a sample is asked at.
func PresetProbes(macs int64) int {
	const most = 32
	return int(min(max(mostWork/max(macs, 1), leastProbes), most))
}

// Noise draws probes for a model: normal numbers, and whole numbers that tables of the model have rows for. Shapes are
// those of one sample.
func Noise(m *onnx.Model, shapes map[string][]int, n int, seed uint64) [][]tensor.Named {
	out := make([][]tensor.Named, n)
	for i := range out {
		r := rand.New(rand.NewPCG(seed^forProbes, uint64(i)))
		for _, p := range m.Signature().Inputs {
			d := p.DType
			if d == tensor.Undefined {
				d = tensor.Float32
			}
			val := make([]float64, tensor.Count(shapes[p.Name]))
			rows := tableRows(m, p.Name)
			for k := range val {
				if val[k] = elementary.Normal(r); !isFloat(d) {
					val[k] = float64(r.IntN(rows))
				}
			}
			t, err := rounded(d, val, shapes[p.Name])
			if err != nil {
				t = tensor.New(d, shapes[p.Name]...)
			}
			out[i] = append(out[i], tensor.Named{Name: p.Name, Tensor: t})
		}
	}
	return out
}

// tableRows is how many rows the smallest table has that an input chooses from; 2 where it chooses from none.
func tableRows(m *onnx.Model, input string) int {
	rows := 0
	g := m.Proto().GetGraph()
	for _, n := range g.GetNode() {
		if n.GetOpType() != "Gather" || n.GetInput()[1] != input {
			continue
		}
		for _, t := range g.GetInitializer() {
			if t.GetName() == n.GetInput()[0] && len(t.GetDims()) > 0 && t.GetDims()[0] > 0 {
				if k := int(t.GetDims()[0]); rows == 0 || k < rows {
					rows = k
				}
			}
		}
	}
	if rows == 0 {
		return 2
	}
	return rows
}

func isFloat(d tensor.DType) bool {
	return d == tensor.Float32 || d == tensor.Float64 || d == tensor.Float16 || d == tensor.BFloat16
}

// run answers all probes.
func (b *Body) run(ctx context.Context, m *onnx.Model) (out [][]tensor.Named, err error) {
	err = b.each(ctx, m, nil, func(_ int, got []tensor.Named) error {
		out = append(out, got)
		return nil
	})
	return out, err
}

// each hands the answers to every probe on, with inner values after them.
func (b *Body) each(ctx context.Context, m *onnx.Model, inner []string, f func(i int, got []tensor.Named) error,
) (err error) {
	var raw []byte
	if len(inner) == 0 {
		raw, err = m.Bytes()
	} else {
		raw, _, err = m.Expose(inner...)
	}
	if err != nil {
		return err
	}
	s, err := b.Open(ctx, raw)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	for i, p := range b.Probes {
		got, err := s.Run(ctx, p)
		if err != nil {
			return &ProbeError{i, err}
		}
		if err := f(i, got); err != nil {
			return err
		}
	}
	return nil
}

// ProbeError says that a model gives no answer to a probe.
type ProbeError struct {
	Probe int
	Err   error
}

// Error says which, and why.
func (e *ProbeError) Error() string {
	return fmt.Sprintf("the model refuses probe %d: %v", e.Probe, e.Err)
}

// Unwrap is the cause.
func (e *ProbeError) Unwrap() error { return e.Err }

// answers are what a model answers to all probes, with what it takes to compare others with them.
type answers struct {
	of [][]tensor.Named
	// scale of each output: how far answers to different probes are apart
	scale []float64
	// still says which output is the same at all probes
	still []bool
	// bad says where an answer is not finite
	bad string
	// cuts are parts of outputs with scales of their own
	cuts []*cut
}

// answersOf measures answers.
func answersOf(of [][]tensor.Named) (*answers, error) {
	a := &answers{of: of}
	for k := range of[0] {
		rows := make([][]float64, len(of))
		for i := range of {
			x, err := of[i][k].Float64s(nil)
			if err != nil {
				return nil, fmt.Errorf("output %q: %w", of[i][k].Name, err)
			}
			rows[i] = x
			for j, v := range x {
				if (math.IsNaN(v) || math.IsInf(v, 0)) && a.bad == "" {
					a.bad = fmt.Sprintf("the answer is not finite: probe %d, output %q, number %d", i, of[i][k].Name, j)
				}
			}
		}
		s, size, mean := spread(rows)
		a.still = append(a.still, s == 0)
		if s == 0 {
			s = size
		}
		a.scale = append(a.scale, s)
		if mean == nil {
			continue // answers of several lengths have no parts in common
		}
		for _, c := range cutsOf(k, of[0][k].Shape) {
			c.measure(of[0][k].DType, rows, mean)
			a.cuts = append(a.cuts, c)
		}
	}
	return a, nil
}

// spread is the root mean square distance of rows from their mean, and from 0, with that mean. Rows of different
// lengths have none.
func spread(rows [][]float64) (centred, size float64, mean []float64) {
	mean = make([]float64, len(rows[0]))
	alike := true
	for _, r := range rows {
		size += product(r, r)
		if alike = alike && len(r) == len(mean); !alike {
			continue
		}
		for j, v := range r {
			mean[j] += v
		}
	}
	n := float64(len(rows))
	size = math.Sqrt(size / n)
	if !alike {
		return size, size, nil
	}
	for j := range mean {
		mean[j] /= n
	}
	sum := 0.0
	for _, r := range rows {
		for j, v := range r {
			d := v - mean[j]
			sum += float64(d * d)
		}
	}
	return math.Sqrt(sum / n), size, mean
}

// Apart is how far answers are from others.
type Apart struct {
	// Error is the largest ‖difference‖/s over probes and outputs, with s the centred scale of the output; or that of a
	// part of one on its own scale, where rounding alone takes that part less far.
	Error Number `json:"error"`
	// At is the output, or the part of one, that is furthest apart, where there is more than one; a part is written as
	// Python does: "y"[:, 2].
	At string `json:"at,omitempty"`
	// Equal says that they are the same bit for bit.
	Equal bool `json:"equal"`
	// Bad says where an answer is not finite, or has another shape; then there is no number.
	Bad string `json:"bad,omitempty"`
	// beyond says that a part is further off than rounding takes it, and part that the error is that of one
	beyond, part bool
}

// from compares answers to the same probes.
func (a *answers) from(of [][]tensor.Named) Apart {
	out := Apart{Equal: true}
	worst := 0.0
	for i := range of {
		for k := range of[i] {
			x, y := a.of[i][k], of[i][k]
			if !slices.Equal(x.Shape, y.Shape) || x.DType != y.DType {
				return Apart{Error: Number(math.NaN()), Bad: fmt.Sprintf("output %q has the shape %v at probe %d, and "+
					"had %v", y.Name, y.Shape, i, x.Shape)}
			}
			if bytes.Equal(x.Raw, y.Raw) {
				continue
			}
			out.Equal = false
			p, err := x.Float64s(nil)
			if err != nil {
				return Apart{Error: Number(math.NaN()), Bad: err.Error()}
			}
			q, err := y.Float64s(nil)
			if err != nil {
				return Apart{Error: Number(math.NaN()), Bad: err.Error()}
			}
			sum := 0.0
			for j := range p {
				d := q[j] - p[j]
				sum += float64(d * d)
				if math.IsNaN(q[j]) || math.IsInf(q[j], 0) {
					return Apart{Error: Number(math.NaN()), Bad: fmt.Sprintf("the answer is not finite: probe %d, "+
						"output %q, number %d", i, y.Name, j)}
				}
			}
			if sum == 0 { // zeros of another sign are the same number, also of an output that is 0 throughout
				continue
			}
			far := math.Sqrt(sum) / a.scale[k]
			if len(a.scale) > 1 && !(far <= worst) {
				out.At = strconv.Quote(y.Name)
			}
			worst = max(worst, far) // NaN stays
		}
	}
	out.Error = Number(worst)
	return out
}

// Shapes are the shapes of one sample of a model; free axes beside the first are taken from shape, which may be nil.
func Shapes(m *onnx.Model, shape []int) (map[string][]int, error) {
	return facts.SampleShapes(m.Signature(), 1, shape)
}
