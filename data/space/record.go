package space

import (
	"fmt"
	"slices"
	"strings"

	"nero/data/tensor"
)

// KindRecord is the name of this kind.
const KindRecord Kind = "record"

var recordKind = Info{
	Kind: KindRecord, Doc: "several of the above that move together",
}

// Record is several values that belong to one sample or one answer and move together: positions, charges, edges and
// gravity; energy and forces. Names are distinct, and Values[i] is called Names[i]. Records share their names, which
// nobody changes.
type Record struct {
	Names  []string
	Values []Value
}

// Kind is [KindRecord].
func (*Record) Kind() Kind { return KindRecord }

// Parts are the parts of the fields; part P of field F is called "F/P".
func (r *Record) Parts() []tensor.Named {
	var all []tensor.Named
	for i, v := range r.Values {
		for _, p := range v.Parts() {
			p.Name = r.Names[i] + "/" + p.Name
			all = append(all, p)
		}
	}
	return all
}

// Field is the value called name, nil if there is none.
func (r *Record) Field(name string) Value {
	for i, n := range r.Names {
		if n == name {
			return r.Values[i]
		}
	}
	return nil
}

// Dims are the dims of the fields one after another, each behind the number of its axes, so that records of different
// shapes differ.
func (r *Record) Dims() []int {
	var all []int
	for _, f := range r.Values {
		d := f.Dims()
		all = append(append(all, len(d)), d...)
	}
	return all
}

// Form lists the forms of the fields: "record {positions: rows 21x3, charge: rows 1x1}".
func (r *Record) Form() string { return r.words(Value.Form) }

func (r *Record) alike(v Value) bool {
	o, ok := v.(*Record)
	if !ok || !slices.Equal(r.Names, o.Names) || len(r.Values) != len(o.Values) {
		return false
	}
	for i, f := range r.Values {
		if !Alike(f, o.Values[i]) {
			return false
		}
	}
	return true
}

// Style lists the styles of the fields.
func (r *Record) Style() string { return r.words(Style) }

func (r *Record) words(of func(Value) string) string {
	words := make([]string, len(r.Values))
	for i, f := range r.Values {
		words[i] = r.Names[i] + ": " + of(f)
	}
	return "record {" + strings.Join(words, ", ") + "}"
}

// each is the record with every value changed by f.
func (r *Record) each(f func(Value) Value) *Record {
	c := &Record{Names: r.Names, Values: make([]Value, len(r.Values))}
	for i, v := range r.Values {
		c.Values[i] = f(v)
	}
	return c
}

// Clone is a copy.
func (r *Record) Clone() Value { return r.each(Value.Clone) }

// Like has fields like those of r.
func (r *Record) Like() Value { return r.each(Value.Like) }

// Numbers are those of the fields one after another.
func (r *Record) Numbers() []float64 {
	var all []float64
	for _, f := range r.Values {
		all = append(all, f.Numbers()...)
	}
	return all
}

// With gives the fields other numbers. It is refused if one of them refuses.
func (r *Record) With(x []float64) (Value, error) {
	if err := fits(r, len(r.Numbers()), x); err != nil {
		return nil, err
	}
	c := &Record{Names: r.Names, Values: make([]Value, len(r.Values))}
	for i, f := range r.Values {
		var err error
		n := len(f.Numbers())
		if c.Values[i], err = f.With(x[:n:n]); err != nil {
			return nil, fmt.Errorf("field %s: %w", r.Names[i], err)
		}
		x = x[n:]
	}
	return c, nil
}

// Bytes is the sum over the fields.
func (r *Record) Bytes() int {
	n := 0
	for _, f := range r.Values {
		n += f.Bytes()
	}
	return n
}

// common brings every field to what can be compared.
func (r *Record) common(v Value) (Value, Value) {
	o, ok := v.(*Record)
	if !ok || r == nil || o == nil || len(r.Values) != len(o.Values) {
		return r, v
	}
	p, q := r, o
	for i := range r.Values {
		a, b := Common(r.Values[i], o.Values[i])
		if a == r.Values[i] && b == o.Values[i] {
			continue
		}
		if p == r {
			p = &Record{Names: r.Names, Values: slices.Clone(r.Values)}
			q = &Record{Names: o.Names, Values: slices.Clone(o.Values)}
		}
		p.Values[i], q.Values[i] = a, b
	}
	return p, q
}

// Replace is a value with another in the place of its field i; of a value that is no record, the other itself.
func Replace(v Value, i int, field Value) Value {
	r, ok := v.(*Record)
	if !ok {
		return field
	}
	all := slices.Clone(r.Values)
	all[i] = field
	return &Record{Names: r.Names, Values: all}
}
