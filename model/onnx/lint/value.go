package lint

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"nero/data/tensor"
)

// Numbers are taken modulo the prime 2^61-1: sums, products and quotients are exact there, so that two expressions in
// them are equal for random inputs only if they are the same expression, up to a chance of about 2^-60 times their
// degree.
const prime = 1<<61 - 1

func fold61(hi, lo uint64) uint64 {
	r := (lo & prime) + (lo>>61 | hi<<3)
	r = (r & prime) + (r >> 61)
	if r >= prime {
		r -= prime
	}
	return r
}

func times(a, b uint64) uint64 { return fold61(bits.Mul64(a, b)) }

func plus(a, b uint64) uint64 {
	r := a + b
	if r >= prime {
		r -= prime
	}
	return r
}

// inverse is 1/a for a != 0, by Fermat's little theorem.
func inverse(a uint64) uint64 {
	r, e := uint64(1), uint64(prime-2)
	for ; e > 0; e >>= 1 {
		if e&1 != 0 {
			r = times(r, a)
		}
		a = times(a, a)
	}
	return r
}

// integer is a whole number.
func integer(n int64) uint64 {
	if n < 0 {
		return (prime - uint64(-n)%prime) % prime
	}
	return uint64(n) % prime
}

// mix stands in for a function that nothing is known of: equal arguments have equal values, and that is all.
func mix(seed, x uint64) uint64 {
	z := seed + 0x9e3779b97f4a7c15 + x*0xd1342543de82ef95
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9
	z ^= x
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb
	return (z ^ (z >> 31)) % prime
}

// seedOf is a number for a text.
func seedOf(text string) uint64 {
	h := uint64(14695981039346656037)
	for _, b := range []byte(text) {
		h = (h ^ uint64(b)) * 1099511628211
	}
	return h
}

// atom is a factor of an axis.
type atom struct {
	// roleY, roleX, roleOther or roleLost
	role byte
	// copy tells several pairs of picture axes of one value apart, such as the two of an attention matrix.
	copy int
	// length
	n int
	// places of the whole picture axis that one step along this factor is worth
	step int
}

const (
	roleOther = iota // channels and the like
	roleY
	roleX
	roleLost // places in an order that is not followed
)

// value is what is known of a tensor: one array of numbers for the picture and one for each of its moved copies. Axes
// along which all numbers are the same are held once.
type value struct {
	shape []int
	// shape, but 1 where all numbers along an axis are the same
	held []int
	// factors of each axis, outermost first
	atoms [][]atom
	// per copy of the picture; a single one if the value does not depend on it
	x [][]uint64
	// opaque is why nothing is known; the rest is then empty.
	opaque string
	// A value that is made of maxima, element i being that of the elements sets[i] of base: a maximum of maxima is one
	// maximum.
	base *value
	sets [][]int32
}

// at is the array of copy k.
func (v *value) at(k int) []uint64 {
	if len(v.x) == 1 {
		return v.x[0]
	}
	return v.x[k]
}

// copies is the number of arrays of values that depend on these.
func copies(vs ...*value) int {
	n := 1
	for _, v := range vs {
		if v != nil {
			n = max(n, len(v.x))
		}
	}
	return n
}

func opaque(format string, a ...any) *value { return &value{opaque: fmt.Sprintf(format, a...)} }

// maxHeld bounds the numbers of one array.
const maxHeld = 1 << 24

// tooMuch is an error for arrays above the bound.
func tooMuch(held []int) error {
	if _, err := tensor.CheckedCount(held, maxHeld); err != nil {
		return fmt.Errorf("too many numbers to follow: %w", err)
	}
	return nil
}

// strides of an array that is held; 0 along axes that are held once.
func (v *value) strides() []int {
	s := make([]int, len(v.held))
	n := 1
	for i := len(s) - 1; i >= 0; i-- {
		if v.held[i] > 1 {
			s[i] = n
		}
		n *= v.held[i]
	}
	return s
}

// plain makes one axis of a length that has no place in the picture.
func plain(n int) []atom { return []atom{{role: roleOther, n: n, step: 1}} }

// spatial tells whether some axis belongs to the picture or to places in an order that is not followed.
func (v *value) spatial() (placed, lost bool) {
	for _, as := range v.atoms {
		for _, a := range as {
			if a.n > 1 {
				placed = placed || a.role == roleY || a.role == roleX
				lost = lost || a.role == roleLost
			}
		}
	}
	return placed, lost
}

// lengths are those of the picture axes of a copy; 0 if it has none.
func (v *value) lengths(cp int) (h, w int) {
	h, w = 0, 0
	for _, as := range v.atoms {
		for _, a := range as {
			switch {
			case a.copy != cp:
			case a.role == roleY:
				h = max(h, 1) * a.n
			case a.role == roleX:
				w = max(w, 1) * a.n
			}
		}
	}
	return h, w
}

// index maps places of an output to places of a value: one list per axis, -1 where nothing is read.
// A nil list leaves the axis alone.
func (v *value) index(lists [][]int) (held []int, from []int32, err error) {
	held = slices.Clone(v.held)
	st := v.strides()
	for i, l := range lists {
		if l == nil {
			continue
		}
		if v.held[i] == 1 && !slices.Contains(l, -1) {
			held[i] = min(1, len(l))
			continue
		}
		held[i] = len(l)
	}
	if err := tooMuch(held); err != nil {
		return nil, nil, err
	}
	from = make([]int32, tensor.Count(held))
	walk(held, func(i int, at []int) {
		p := 0
		for a, j := range at {
			if l := lists[a]; l != nil && (held[a] > 1 || v.held[a] > 1 || slices.Contains(l, -1)) {
				if j = l[j]; j < 0 {
					p = -1
					break
				}
			}
			p += j * st[a]
		}
		from[i] = int32(p)
	})
	return held, from, nil
}

// walk visits the places of an array in order. at must not be kept.
func walk(shape []int, f func(i int, at []int)) {
	n := tensor.Count(shape)
	at := make([]int, len(shape))
	for i := range n {
		f(i, at)
		for a := len(at) - 1; a >= 0; a-- {
			if at[a]++; at[a] < shape[a] {
				break
			}
			at[a] = 0
		}
	}
}

// take makes a value out of elements of another; -1 takes fill.
func (v *value) take(shape, held []int, atoms [][]atom, from []int32, fill uint64) *value {
	out := &value{shape: shape, held: held, atoms: atoms}
	for k := range v.x {
		src, dst := v.x[k], make([]uint64, len(from))
		for i, p := range from {
			if p >= 0 {
				dst[i] = src[p]
			} else {
				dst[i] = fill
			}
		}
		out.x = append(out.x, dst)
	}
	if v.base != nil && !slices.Contains(from, -1) {
		out.base = v.base
		for _, p := range from {
			out.sets = append(out.sets, v.sets[p])
		}
	}
	return out
}

// remap takes places along each axis.
func (v *value) remap(lists [][]int, atoms [][]atom, fill uint64) *value {
	held, from, err := v.index(lists)
	if err != nil {
		return opaque("%s", err)
	}
	shape := slices.Clone(v.shape)
	for i, l := range lists {
		if l != nil {
			shape[i] = len(l)
		}
	}
	return v.take(shape, held, atoms, from, fill)
}

// spread holds every element of the axes named.
func (v *value) spread(axes ...int) *value {
	held := slices.Clone(v.held)
	for _, a := range axes {
		held[a] = v.shape[a]
	}
	if slices.Equal(held, v.held) {
		return v
	}
	if err := tooMuch(held); err != nil {
		return opaque("%s", err)
	}
	from := make([]int32, tensor.Count(held))
	st := v.strides()
	walk(held, func(i int, at []int) {
		p := 0
		for a, j := range at {
			p += j * st[a]
		}
		from[i] = int32(p)
	})
	return v.take(v.shape, held, v.atoms, from, 0)
}

// levels numbers the entries of a stored table by size. Entries that differ by no more than rounding have the same
// number, unless so many values lie so close together that rounding cannot be told from content: then only equal ones
// have.
func levels(x []float64) []uint64 {
	order := make([]int, len(x))
	largest := 0.0
	for i, v := range x {
		order[i] = i
		if a := math.Abs(v); a > largest {
			largest = a
		}
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(x[a], x[b]) })
	out := make([]uint64, len(x))
	number := func(gap, width float64) bool {
		first, last, id := math.NaN(), math.NaN(), uint64(0)
		for _, i := range order {
			if !(x[i]-last <= gap) {
				first, id = x[i], mix(0x7ab1e, math.Float64bits(x[i]+0))
				if x[i] == math.Trunc(x[i]) && math.Abs(x[i]) < 1<<40 {
					id = integer(int64(x[i]))
				}
			}
			if x[i]-first > width {
				return false
			}
			last = x[i]
			out[i] = id
		}
		return true
	}
	if !number(largest*1e-7, largest*1e-6) {
		number(0, math.Inf(1))
	}
	return out
}

// stored is the value of a constant.
func stored(t tensor.Tensor) *value {
	if t.Len() > maxHeld {
		return opaque("a stored table of %d entries", t.Len())
	}
	x, err := t.Float64s(nil)
	if err != nil {
		return opaque("%s", err)
	}
	v := &value{shape: slices.Clone(t.Shape), held: slices.Clone(t.Shape)}
	for _, n := range t.Shape {
		v.atoms = append(v.atoms, plain(n))
	}
	switch t.DType {
	case tensor.Int64, tensor.Int32, tensor.Int16, tensor.Int8, tensor.Uint8, tensor.Uint16, tensor.Uint32,
		tensor.Uint64, tensor.Bool:
		out := make([]uint64, len(x))
		for i, f := range x {
			out[i] = integer(int64(f))
		}
		v.x = [][]uint64{out}
	case tensor.Undefined, tensor.String, tensor.Float32, tensor.Float64, tensor.Float16, tensor.BFloat16:
		v.x = [][]uint64{levels(x)}
	}
	return v.squeeze()
}

// squeeze holds axes along which all numbers are the same once.
func (v *value) squeeze() *value {
	for a := range v.held {
		if v.held[a] <= 1 {
			continue
		}
		st := v.strides()[a]
		same := true
		walk(v.held, func(i int, at []int) {
			if !same || at[a] == 0 {
				return
			}
			for k := range v.x {
				if v.x[k][i] != v.x[k][i-st*at[a]] {
					same = false
					return
				}
			}
		})
		if same {
			lists := make([][]int, len(v.held))
			lists[a] = []int{0}
			w := v.remap(lists, v.atoms, 0)
			w.shape = v.shape
			v = w
		}
	}
	return v
}
