package formula

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"nero/internal/elementary"
)

// Array is numbers with a shape; a shape of no axes is one number.
type Array struct {
	Shape []int
	Val   []float64
}

// One is a single number.
func One(v float64) Array { return Array{Val: []float64{v}} }

// function is an operator or what is called by name.
type function struct {
	name        string
	least, most int
	// written between or before its arguments
	operator bool
	apply    func(a []Array) (Array, error)
}

// find is the function of a name, nil if there is none.
func find(name string) *function {
	all := functions()
	if i := slices.IndexFunc(all, func(f *function) bool { return f.name == name }); i >= 0 {
		return all[i]
	}
	return nil
}

// calls are the names of the functions that are called.
func calls() []string {
	var names []string
	for _, f := range functions() {
		if !f.operator {
			names = append(names, f.name)
		}
	}
	return names
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// functions are all of them. What has no value is NaN and stays NaN: comparisons of NaN are NaN, not false.
func functions() []*function {
	compare := func(of func(x, y float64) bool) func(x, y float64) float64 {
		return func(x, y float64) float64 {
			if math.IsNaN(x) || math.IsNaN(y) {
				return math.NaN()
			}
			return truth(of(x, y))
		}
	}
	return []*function{
		pointwise("+", func(x, y float64) float64 { return x + y }),
		pointwise("-", func(x, y float64) float64 { return x - y }),
		pointwise("*", func(x, y float64) float64 { return x * y }),
		pointwise("/", divide),
		pointwise("^", power),
		pointwise("==", compare(func(x, y float64) bool { return x == y })),
		pointwise("!=", compare(func(x, y float64) bool { return x != y })),
		pointwise("<", compare(func(x, y float64) bool { return x < y })),
		pointwise("<=", compare(func(x, y float64) bool { return x <= y })),
		pointwise(">", compare(func(x, y float64) bool { return x > y })),
		pointwise(">=", compare(func(x, y float64) bool { return x >= y })),
		pointwise("&&", compare(func(x, y float64) bool { return x != 0 && y != 0 })),
		pointwise("||", compare(func(x, y float64) bool { return x != 0 || y != 0 })),
		each("!", true, func(x float64) float64 { return compare(func(x, _ float64) bool { return x == 0 })(x, 0) }),
		each("negative", true, func(x float64) float64 { return -x }),
		{name: "[]", least: 2, most: 2, operator: true, apply: index},
		each("abs", false, math.Abs), each("sqrt", false, math.Sqrt), each("exp", false, elementary.Exp),
		each("log", false, elementary.Log), each("sin", false, elementary.Sin), each("cos", false, elementary.Cos),
		each("floor", false, math.Floor), each("ceil", false, math.Ceil), each("round", false, math.RoundToEven),
		each("sign", false, func(x float64) float64 {
			if math.IsNaN(x) {
				return x
			}
			return truth(x > 0) - truth(x < 0)
		}),
		extreme("min", math.Min), extreme("max", math.Max),
		{name: "where", least: 3, most: 3, apply: func(a []Array) (Array, error) {
			return together(a, func(v []float64) float64 {
				switch {
				case math.IsNaN(v[0]):
					return v[0]
				case v[0] != 0:
					return v[1]
				}
				return v[2]
			})
		}},
		reduce("sum", sum),
		reduce("mean", func(v []float64) float64 { return sum(v) / float64(len(v)) }),
		reduce("norm", func(v []float64) float64 {
			s := 0.0
			for _, x := range v {
				s += float64(x * x)
			}
			return math.Sqrt(s)
		}),
		reduce("std", func(v []float64) float64 {
			mean, s := sum(v)/float64(len(v)), 0.0
			for _, x := range v {
				s += float64((x - mean) * (x - mean))
			}
			return math.Sqrt(s / float64(len(v)))
		}),
		reduce("median", median),
		reduce("argmax", func(v []float64) float64 { return place(v, func(x, y float64) bool { return x > y }) }),
		reduce("argmin", func(v []float64) float64 { return place(v, func(x, y float64) bool { return x < y }) }),
		reduce("size", func(v []float64) float64 { return float64(len(v)) }),
		{name: "dot", least: 2, most: 2, apply: func(a []Array) (Array, error) {
			p, err := together(a, func(v []float64) float64 { return v[0] * v[1] })
			if err != nil {
				return p, err
			}
			return One(sum(p.Val)), nil
		}},
	}
}

// divide has no value where nothing divides: 0 and infinities would hide that.
func divide(x, y float64) float64 {
	if y == 0 {
		return math.NaN()
	}
	return x / y
}

// power is x to the y; whole exponents by multiplication, others by logarithms, so that every processor agrees.
func power(x, y float64) float64 {
	if n := math.Abs(y); n == math.Trunc(n) && n <= 64 {
		p := 1.0
		for range int(n) {
			p *= x
		}
		if y < 0 {
			return divide(1, p)
		}
		return p
	}
	if y == 0.5 {
		return math.Sqrt(x)
	}
	if x == 0 {
		if y > 0 {
			return 0
		}
		return math.NaN() // as of whole exponents below 0
	}
	if x < 0 && y == math.Trunc(y) {
		p := elementary.Exp(y * elementary.Log(-x))
		if math.Abs(math.Mod(y, 2)) == 1 {
			return -p
		}
		return p
	}
	return elementary.Exp(y * elementary.Log(x))
}

func sum(v []float64) float64 {
	s := 0.0
	for _, x := range v {
		s += x
	}
	return s
}

func median(v []float64) float64 {
	if slices.ContainsFunc(v, math.IsNaN) || len(v) == 0 {
		return math.NaN()
	}
	s := slices.Sorted(slices.Values(v))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}

// place is where the best number is, the first of equal ones.
func place(v []float64, better func(x, y float64) bool) float64 {
	if slices.ContainsFunc(v, math.IsNaN) || len(v) == 0 {
		return math.NaN()
	}
	at := 0
	for i, x := range v {
		if better(x, v[at]) {
			at = i
		}
	}
	return float64(at)
}

func each(name string, operator bool, of func(float64) float64) *function {
	return &function{name: name, least: 1, most: 1, operator: operator, apply: func(a []Array) (Array, error) {
		return together(a, func(v []float64) float64 { return of(v[0]) })
	}}
}

func pointwise(name string, of func(x, y float64) float64) *function {
	return &function{name: name, least: 2, most: 2, operator: true, apply: func(a []Array) (Array, error) {
		return together(a, func(v []float64) float64 { return of(v[0], v[1]) })
	}}
}

// extreme is that of all numbers of one array, or of two arrays number by number.
func extreme(name string, of func(x, y float64) float64) *function {
	return &function{name: name, least: 1, most: 2, apply: func(a []Array) (Array, error) {
		if len(a) == 2 {
			return together(a, func(v []float64) float64 { return of(v[0], v[1]) })
		}
		if len(a[0].Val) == 0 {
			return One(math.NaN()), nil
		}
		at := a[0].Val[0]
		for _, x := range a[0].Val {
			at = of(at, x)
		}
		return One(at), nil
	}}
}

func reduce(name string, of func([]float64) float64) *function {
	return &function{name: name, least: 1, most: 1, apply: func(a []Array) (Array, error) {
		return One(of(a[0].Val)), nil
	}}
}

// together applies a function number by number; single numbers go with any shape.
func together(a []Array, of func(v []float64) float64) (Array, error) {
	to := a[0]
	for _, x := range a[1:] {
		switch {
		case len(x.Shape) == 0, slices.Equal(x.Shape, to.Shape):
		case len(to.Shape) == 0:
			to = x
		default:
			return Array{}, fmt.Errorf("shapes %v and %v do not go together; equal ones do, and single numbers "+
				"with any",
				to.Shape, x.Shape)
		}
	}
	out := Array{Shape: to.Shape, Val: make([]float64, len(to.Val))}
	v := make([]float64, len(a))
	for i := range out.Val {
		for k, x := range a {
			if v[k] = x.Val[0]; len(x.Shape) > 0 {
				v[k] = x.Val[i]
			}
		}
		out.Val[i] = of(v)
	}
	return out, nil
}

// index is part i of the first axis.
func index(a []Array) (Array, error) {
	x, i := a[0], a[1]
	switch {
	case len(i.Shape) > 0:
		return Array{}, errors.New("an index is one number")
	case len(x.Shape) == 0:
		return Array{}, errors.New("a single number has no parts to choose by [ ]")
	case math.IsNaN(i.Val[0]):
		return One(math.NaN()), nil
	case i.Val[0] != math.Trunc(i.Val[0]) || i.Val[0] < 0 || i.Val[0] >= float64(x.Shape[0]):
		return Array{}, fmt.Errorf("the index %g is not one of 0 to %d", i.Val[0], x.Shape[0]-1)
	}
	per := len(x.Val) / x.Shape[0]
	k := int(i.Val[0]) * per
	return Array{Shape: x.Shape[1:], Val: x.Val[k : k+per]}, nil
}
