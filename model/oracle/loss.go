package oracle

import (
	"fmt"
	"math"
	"slices"

	"nero/model/onnx/onnxpb"
)

// lossOps are the losses of classification.
func lossOps() map[string][]entry {
	return map[string][]entry{
		"NegativeLogLikelihoodLoss": {{since: 12, least: 2, most: 3, outs: 1, build: func(a *attrs) kernel {
			l := readLoss(a)
			return one(func(c *call) (*value, error) {
				x, err := c.floats(0)
				if err != nil {
					return nil, err
				}
				return c.loss(l, x)
			})
		}}},
		"SoftmaxCrossEntropyLoss": {{since: 12, least: 2, most: 3, outs: 2, build: func(a *attrs) kernel {
			l := readLoss(a)
			return func(c *call) ([]*value, error) {
				x, err := c.floats(0)
				if err != nil {
					return nil, err
				}
				if x.rank() < 2 {
					return nil, fmt.Errorf("input 0 is %s, want batch and classes", x)
				}
				outer, n, inner := around(x.shape, 1)
				logs, err := c.lines(x, outer, n, inner, logSoftmax)
				if err != nil {
					return nil, err
				}
				y, err := c.loss(l, logs)
				return []*value{y, logs}, err
			}
		}}},
	}
}

type loss struct {
	reduction string
	ignore    int64
	ignores   bool
}

func readLoss(a *attrs) loss {
	l := loss{reduction: a.choice("reduction", "mean", "sum", "none"), ignores: a.has("ignore_index")}
	l.ignore = a.get("ignore_index", onnxpb.AttributeProto_INT).GetI()
	return l
}

// loss is minus the logarithms of the right classes, weighted.
func (c *call) loss(l loss, x *value) (*value, error) {
	target, err := c.indices()
	if err != nil {
		return nil, err
	}
	if x.rank() < 2 || !slices.Equal(target.shape, slices.Concat(x.shape[:1], x.shape[2:])) {
		return nil, fmt.Errorf("scores %s with the classes %s", x, target)
	}
	outer, n, inner := around(x.shape, 1)
	weight := slices.Repeat([]float64{1}, n)
	if c.at(2) != nil {
		if weight, err = c.vectorOf(2, n); err != nil {
			return nil, err
		}
	}
	y, err := c.make(x.typ, target.shape)
	if err != nil {
		return nil, err
	}
	var sum, total float64
	for k, t := range target.i {
		if l.ignores && t == l.ignore {
			continue
		}
		if t < 0 || t >= int64(n) {
			return nil, fmt.Errorf("class %d of %d", t, n)
		}
		y.f[k] = -x.f[(k/inner*n+int(t))*inner+k%inner] * weight[t]
		sum += y.f[k]
		total += weight[t]
	}
	if l.reduction == "none" {
		return y, nil
	}
	if l.reduction == "mean" {
		sum /= total
	}
	if outer == 0 && l.reduction == "mean" {
		sum = math.NaN()
	}
	return &value{typ: x.typ, shape: []int{}, f: []float64{sum}}, nil
}
