// Package pencil looks for one-parameter families of linear or affine maps under which a function stays what it is, or
// moves along: matrices A, and B for the answers, with J(x)(Ax + a) = B f(x) + b at every x.
//
// Each derivative gives one row of a linear system in the unknowns. Two quadratic forms say what a direction of
// unknowns
// does: M is the mean square of its rows, N what a direction of that size would do if it had nothing to do with the
// function. The generalised eigenvalues σ² of (M, N) are free of units: σ = 1 is a direction like any other, σ = 0 a
// symmetry, and between them σ is the relative violation. What the data do not span and what the function does not look
// at is taken out and told apart before any rank is counted.
//
// The package knows nothing of models: it is handed a function, and a derivative where there is one. Random choices
// follow from the seed. Counts, names and states are the same on every machine unless a number falls right onto a
// threshold; the numbers themselves come from gonum, whose loops differ between processors, and agree to about nine
// digits where they are well away from rounding. Values of σ at the floor are rounding and agree in nothing but that.
package pencil

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
)

// Function is what is asked.
type Function struct {
	// In and Out are how many numbers go in and come out.
	In, Out int
	// At answers each input.
	At func(ctx context.Context, x [][]float64) ([][]float64, error)
	// Pull is Jᵀ·c for each input and its cotangent; nil where there is no derivative, which then is differences.
	Pull func(ctx context.Context, x, c [][]float64) ([][]float64, error)
	// Roundoff is the unit roundoff of inputs and answers, such as 2⁻²⁴; 0 for that of float64.
	Roundoff float64
}

// Block is numbers of the input that one unknown matrix moves: a vector, or points that it moves alike.
type Block struct {
	// Name is said of it where there are several.
	Name string
	// Vectors are moved without shifts, whatever is asked of others.
	Vectors bool
	// Points lists for each point the places of its coordinates in the input. All have the same number.
	Points [][]int
}

// Vector is the block of all d numbers of an input.
func Vector(d int) Block {
	p := make([]int, d)
	for i := range p {
		p[i] = i
	}
	return Block{Points: [][]int{p}}
}

// Points is the block of n points of k coordinates each, one after the other, from a place of the input on.
func Points(name string, from, n, k int) Block {
	b := Block{Name: name, Points: make([][]int, n)}
	for p := range b.Points {
		for c := range k {
			b.Points[p] = append(b.Points[p], from+p*k+c)
		}
	}
	return b
}

// Options say how a function is asked. The zero of each number is its preset.
type Options struct {
	// Blocks are moved by a matrix each; what is in none rests. None at all is one block of all numbers.
	Blocks []Block
	// Affine maps shift, too.
	Affine bool
	// Joint asks how the answers move along, else they stay.
	Joint bool
	// Probes is how many directions of the answers are looked at, 8 by preset.
	Probes int
	// Bootstraps is how many times objects are drawn anew, 200 by preset.
	Bootstraps int
	// Soft is the largest σ of a candidate, 0.1 by preset.
	Soft float64
	// Noise is the relative size of what differs between two answers to one input.
	Noise float64
	// Memory is how many bytes matrices may take, 1 GiB by preset.
	Memory int
	// Seed decides every random choice.
	Seed uint64
}

// Presets.
const (
	probes     = 8
	bootstraps = 200
	soft       = 0.1
	// ratio of the first σ that is out to the last that is in, which makes a rank.
	ratioLeast = 10
	// share of the bootstraps that have to agree.
	agreement = 0.9
	// at floor·slack a direction is no worse than rounding.
	slack = 10
	// eigenvalues of N and of E[JᵀJ] that are zero, relative to the largest.
	unspanned = 1e-10
	// unknowns up to which all equations are kept, and all directions looked at where these are few.
	dense = 1100
	// bytes that matrices may take.
	memory = 1 << 30
	// directions of the answers that a joint question may have.
	jointMost = 16
	// objects below which nothing is said.
	objectsLeast = 4
)

// ErrOpen marks questions that the function or the data cannot answer, with the reason.
var ErrOpen = errors.New("not asked")

func (o Options) filled(d int) Options {
	if len(o.Blocks) == 0 {
		o.Blocks = []Block{Vector(d)}
	}
	if o.Probes == 0 {
		o.Probes = probes
	}
	if o.Bootstraps == 0 {
		o.Bootstraps = bootstraps
	}
	if o.Memory == 0 {
		o.Memory = memory
	}
	if o.Soft == 0 {
		o.Soft = soft
	}
	return o
}

// random is the source of one purpose.
func random(seed uint64, purpose uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, purpose)) }

// Purposes of random numbers.
const (
	ofProbes = iota + 1
	ofDraws
	ofDirections
	ofStart
)

// Find asks a function at inputs, one for each object.
func Find(ctx context.Context, f Function, x [][]float64, o Options) (*Result, error) {
	o = o.filled(f.In)
	if err := check(f, x, o); err != nil {
		return nil, err
	}
	out, err := outputsOf(ctx, f, x, o)
	if err != nil {
		return nil, err
	}
	var parts []*part
	for _, b := range o.Blocks {
		parts = append(parts, newLinear(b, x, o.Affine && !b.Vectors))
	}
	return find(ctx, f, x, out, parts, o)
}

// find asks about parts of the input, and about the answers in a joint question.
func find(ctx context.Context, f Function, x [][]float64, out *outputs, parts []*part, o Options) (*Result, error) {
	r := &Result{
		Objects: len(x), Constant: out.constant, Collinear: out.collinear, Joint: o.Joint, Affine: o.Affine,
		State: Undetermined, Quotients: []Quotient{}, Sigma: []float64{}, Families: []Family{},
	}
	q := out.size()
	if q == 0 {
		r.Why = "the answers are the same at every input, which every map leaves as they are"
		return r, nil
	}
	s := &system{objects: len(x), y: out.y, parts: parts}
	if o.Joint {
		if out.drawn {
			r.Why = fmt.Sprintf("answers of more than %d independent numbers have too many maps", jointMost)
			return r, nil
		}
		s.parts = append(s.parts, newAnswers(out))
	}
	d, err := differentiate(ctx, f, x, out, s, o)
	if err != nil {
		return nil, err
	}
	return s.solve(d, r, o), nil
}

func check(f Function, x [][]float64, o Options) error {
	if len(x) < objectsLeast {
		return fmt.Errorf("%w: %d inputs, and a rank needs at least %d", ErrOpen, len(x), objectsLeast)
	}
	for i, row := range x {
		if len(row) != f.In {
			return fmt.Errorf("%w: input %d has %d numbers, the function takes %d", ErrOpen, i, len(row), f.In)
		}
		if err := finite(row, "input", i); err != nil {
			return err
		}
	}
	for _, b := range o.Blocks {
		if len(b.Points) == 0 || len(b.Points[0]) == 0 {
			return fmt.Errorf("%w: the block %q has no coordinates", ErrOpen, b.Name)
		}
		for _, p := range b.Points {
			if len(p) != len(b.Points[0]) {
				return fmt.Errorf("%w: points of the block %q have %d and %d coordinates", ErrOpen, b.Name,
					len(b.Points[0]), len(p))
			}
			for _, c := range p {
				if c < 0 || c >= f.In {
					return fmt.Errorf("%w: the block %q names number %d of %d", ErrOpen, b.Name, c, f.In)
				}
			}
		}
	}
	return nil
}

// finite refuses what is no number: it is a finding of its own, and no small error.
func finite(row []float64, what string, i int) error {
	for j, v := range row {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("%w: number %d of %s %d is %v", ErrOpen, j, what, i, v)
		}
	}
	return nil
}

// answers asks in batches that fit into memory, and sees to it that all numbers are some.
func (f *Function) answers(ctx context.Context, x [][]float64) ([][]float64, error) {
	y, err := f.At(ctx, x)
	if err != nil {
		return nil, err
	}
	if len(y) != len(x) {
		return nil, fmt.Errorf("%d answers to %d inputs", len(y), len(x))
	}
	for i, row := range y {
		if len(row) != f.Out {
			return nil, fmt.Errorf("%w: %d numbers in an answer beside %d", ErrOpen, len(row), f.Out)
		}
		if err := finite(row, "the answer to input", i); err != nil {
			return nil, err
		}
	}
	return y, nil
}
