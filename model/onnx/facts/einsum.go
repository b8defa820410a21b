package facts

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"nero/model/onnx"
)

// einsum infers equations without an ellipsis, such as "bij,bjk->bik", and counts their multiply-adds: the product of
// all index lengths.
func einsum(c *call) error {
	eq := strings.ReplaceAll(onnx.String(c.NodeProto, "equation", ""), " ", "")
	if strings.Contains(eq, ".") {
		return errors.New("an equation with an ellipsis")
	}
	left, right, explicit := strings.Cut(eq, "->")
	terms := strings.Split(left, ",")
	if len(terms) != len(c.in) {
		return fmt.Errorf("%d terms for %d inputs", len(terms), len(c.in))
	}
	size := map[rune]int{}
	count := map[rune]int{}
	for i, term := range terms {
		x, err := c.need(i)
		if err != nil {
			return err
		}
		if len(term) != len(x.shape) {
			return fmt.Errorf("the term %q for a value with %d axes", term, len(x.shape))
		}
		for k, r := range term {
			if have, ok := size[r]; ok && have != x.shape[k] && have != 1 && x.shape[k] != 1 {
				return fmt.Errorf("the index %c has the lengths %d and %d", r, have, x.shape[k])
			}
			size[r] = max(size[r], x.shape[k])
			count[r]++
		}
	}
	if !explicit { // indices that appear once, in alphabetical order
		var once []rune
		for r, n := range count {
			if n == 1 {
				once = append(once, r)
			}
		}
		slices.Sort(once)
		right = string(once)
	}
	s := []int{}
	for _, r := range right {
		n, ok := size[r]
		if !ok {
			return fmt.Errorf("the index %c comes from nowhere", r)
		}
		s = append(s, n)
	}
	c.ret(0, s)
	macs := int64(1)
	for _, n := range size {
		macs = mul(macs, int64(n))
	}
	if len(terms) > 1 {
		c.rec.MACs = macs
	}
	return nil
}
