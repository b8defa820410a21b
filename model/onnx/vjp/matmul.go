package vjp

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"nero/model/onnx"
)

func matMul(c *call) error {
	a, b := c.in[0], c.in[1]
	sa, sb, so, d := c.si, c.shapes[b], slices.Clone(c.so), c.d
	if len(sa) == 0 || len(sb) == 0 {
		return errors.New("it multiplies scalars")
	}
	want := max(len(sa), len(sb), 2)
	if len(sa) == 1 || len(sb) == 1 {
		want = len(sa) + len(sb) - 2
		if len(sa) > 1 || len(sb) > 1 {
			want = max(len(sa), len(sb)) - 1
		}
	}
	if len(so) != want {
		return fmt.Errorf("shapes %v, %v and %v do not fit each other", sa, sb, so)
	}
	// a vector on the left is a row, on the right a column
	if len(sb) == 1 {
		b, sb, so = c.reshape(b, c.list(-1, 1)), []int{sb[0], 1}, append(so, 1)
		d = c.unsqueeze(d, len(so)-1)
	}
	if len(sa) == 1 {
		a, sa, so = c.reshape(a, c.list(1, -1)), []int{1, sa[0]}, slices.Insert(so, len(so)-1, 1)
		d = c.unsqueeze(d, len(so)-2)
	}
	batch := so[:len(so)-2]
	if c.wants(0) {
		c.give(0, c.toRanked(c.op("MatMul", d, c.swap(b, len(sb))),
			append(slices.Clone(batch), sa[len(sa)-2], sa[len(sa)-1]), sa, c.in[0]))
	}
	if !c.wants(1) {
		return nil
	}
	if len(sb) == 2 && len(sa) > 2 { // one product of tall matrices
		rows, cols := c.reshape(a, c.list(-1, sa[len(sa)-1])), c.reshape(d, c.list(-1, so[len(so)-1]))
		c.give(1, c.toRanked(c.op("MatMul", c.swap(rows, 2), cols), sb, sb, c.in[1]))
		return nil
	}
	c.give(1, c.toRanked(c.op("MatMul", c.swap(a, len(sa)), d),
		append(slices.Clone(batch), sb[len(sb)-2], sb[len(sb)-1]), sb, c.in[1]))
	return nil
}

// toRanked is [call.to] for an operand v that was given further axes, so that it has the shape t.
func (c *call) toRanked(d string, sh, t []int, v string) string {
	k := len(sh) - len(t)
	var ax []int
	for i := range sh {
		if i < k || t[i-k] == 1 && sh[i] != 1 {
			ax = append(ax, i)
		}
	}
	if len(ax) > 0 {
		d = c.sum(d, true, ax...)
	}
	if len(sh) != len(c.shapes[v]) {
		d = c.like(d, v)
	}
	return d
}

// gemm: α·A'·B' + β·C.
func gemm(c *call) error {
	tA, tB := onnx.Int(c.n, "transA", 0), onnx.Int(c.n, "transB", 0)
	alpha := onnx.AttrFloat("alpha", onnx.Float(c.n, "alpha", 1))
	product := func(a string, ta int64, b string, tb int64) string {
		return c.with("Gemm", []string{a, b}, alpha, onnx.AttrInt("transA", ta), onnx.AttrInt("transB", tb))
	}
	a, b := c.in[0], c.in[1]
	switch {
	case !c.wants(0):
	case tA == 0:
		c.give(0, product(c.d, 0, b, 1-tB))
	default:
		c.give(0, product(b, tB, c.d, 1))
	}
	switch {
	case !c.wants(1):
	case tB == 0:
		c.give(1, product(a, 1-tA, c.d, 0))
	default:
		c.give(1, product(c.d, 1, a, tA))
	}
	c.giveTo(2, func() string {
		if beta := onnx.Float(c.n, "beta", 1); beta != 1 {
			return c.scale(c.d, float64(beta))
		}
		return c.d
	})
	return nil
}

// einsum: the adjoint of an operand is the product of the adjoint with all other operands, under that operand's
// letters.
func einsum(c *call) error {
	eq := strings.ReplaceAll(onnx.String(c.n, "equation", ""), " ", "")
	left, right, explicit := strings.Cut(eq, "->")
	terms := strings.Split(left, ",")
	if strings.Contains(eq, ".") {
		return fmt.Errorf("its rule does not know the ellipsis in %q", eq)
	}
	if len(terms) != len(c.in) {
		return fmt.Errorf("the equation %q has %d operands, the node %d", eq, len(terms), len(c.in))
	}
	length, count := map[rune]int{}, map[rune]int{}
	for i, t := range terms {
		sh := c.shapes[c.in[i]]
		if len(sh) != len(t) {
			return fmt.Errorf("the equation %q does not fit an operand of shape %v", eq, sh)
		}
		for k, l := range t {
			if strings.Count(t, string(l)) > 1 {
				return fmt.Errorf("its rule does not know the repeated letter in %q", t)
			}
			if old, ok := length[l]; ok && old != sh[k] {
				return fmt.Errorf("its rule does not know that %q broadcasts", l)
			}
			length[l], count[l] = sh[k], count[l]+1
		}
	}
	if !explicit { // letters that occur once, in alphabetical order
		var once []rune
		for l, n := range count {
			if n == 1 {
				once = append(once, l)
			}
		}
		slices.Sort(once)
		right = string(once)
	}
	for i, t := range terms {
		if !c.wants(i) {
			continue
		}
		in, from := []string{c.d}, []string{right}
		for j, o := range terms {
			if j != i {
				in, from = append(in, c.in[j]), append(from, o)
			}
		}
		// letters that only this operand has were summed away alone: the adjoint repeats along them
		var kept []rune
		var missing []int
		for k, l := range t {
			if strings.ContainsRune(strings.Join(from, ""), l) {
				kept = append(kept, l)
			} else {
				missing = append(missing, k)
			}
		}
		g := c.with("Einsum", in, onnx.AttrString("equation", strings.Join(from, ",")+"->"+string(kept)))
		if len(missing) > 0 {
			g = c.op("Expand", c.unsqueeze(g, missing...), c.shapeOf(c.in[i]))
		}
		c.give(i, g)
	}
	return nil
}
