package embedding

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// Extrapolation says whether what reads a parameter off features on part of its range does so beyond (Saengkyongam et
// al., Identifying representations for intervention extrapolation, ICLR 2024): features that are affine in it allow
// that.
type Extrapolation struct {
	// Inside and Outside are R² of the parameter on the inner half of the range and on the outer half, of objects to
	// confirm, by a map that was fitted to the inner half.
	Inside, Outside Estimate
	// Half is the largest parameter of the inner half, Fitted and Beyond how many elements lie in each.
	Half           float64
	Fitted, Beyond int
}

// Extrapolate reads the parameter of a one-parameter group off features.
func Extrapolate(fit, choose, confirm *Path, opt Options) (*Extrapolation, error) {
	out := &Extrapolation{}
	for _, t := range fit.T {
		out.Half = max(out.Half, math.Abs(t)/2)
	}
	var inner, outer []int
	for k, t := range fit.T {
		if math.Abs(t) <= out.Half*(1+1e-9) {
			inner = append(inner, k)
		} else {
			outer = append(outer, k)
		}
	}
	out.Fitted, out.Beyond = len(inner), len(outer)
	if len(inner) < 3 || len(outer) < 2 {
		return nil, fmt.Errorf("%w: %d elements on the inner half of the range and %d beyond, want at least 3 and 2",
			ErrGenerator, len(inner), len(outer))
	}
	m, err := Learn(fit.timed(inner), choose.timed(inner), true, nil)
	if err != nil {
		return nil, err
	}
	for _, x := range []struct {
		at []int
		to *Estimate
	}{{inner, &out.Inside}, {outer, &out.Outside}} {
		p := confirm.timed(x.at)
		*x.to = Explain(m.Of(p.Before), p.After, p.Object, opt).Overall
	}
	return out, nil
}

// timed are the features at some elements, each with its parameter.
func (p *Path) timed(elements []int) Pairs {
	var all []*mat.Dense
	var t []float64
	var object []int
	n, _ := p.Still().Dims()
	for _, k := range elements {
		all = append(all, p.At[k])
		object = append(object, p.Object...)
		for range n {
			t = append(t, p.T[k])
		}
	}
	return Pairs{Stack(all...), mat.NewDense(len(t), 1, t), object}
}
