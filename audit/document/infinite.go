package document

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
)

var (
	numberType   = reflect.TypeFor[Number]()
	optionalType = reflect.TypeFor[*Number]()
	cellType     = reflect.TypeFor[Cell]()
)

// numbers calls f with every number below v that can be null in JSON, and with the keys that lead there. The number of
// an optional one that is missing is nil.
func numbers(v reflect.Value, at []string, f func(at []string, n reflect.Value)) {
	switch v.Type() {
	case numberType, optionalType:
		f(at, v)
		return
	case cellType:
		if v.FieldByName("Number").Bool() {
			f(at, v.FieldByName("Value"))
		}
		return
	}
	switch v.Kind() { //nolint:exhaustive // the others hold no numbers of this kind
	case reflect.Pointer:
		if !v.IsNil() {
			numbers(v.Elem(), at, f)
		}
	case reflect.Slice:
		if k := v.Type().Elem().Kind(); k == reflect.String || k == reflect.Uint8 {
			return
		}
		for i := range v.Len() {
			numbers(v.Index(i), append(at, strconv.Itoa(i)), f)
		}
	case reflect.Struct:
		for field, x := range v.Fields() {
			if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); name != "" {
				numbers(x, append(at, name), f)
			}
		}
	}
}

// infinities are the places of infinite numbers.
func infinities(a *Audit) []string {
	var out []string
	numbers(reflect.ValueOf(a), nil, func(at []string, n reflect.Value) {
		if n.Kind() == reflect.Pointer {
			if n.IsNil() {
				return
			}
			n = n.Elem()
		}
		switch x := n.Float(); {
		case math.IsInf(x, 1):
			out = append(out, strings.Join(at, "."))
		case math.IsInf(x, -1):
			out = append(out, "-"+strings.Join(at, "."))
		}
	})
	return out
}

// restore puts the infinities back.
func (a *Audit) restore() error {
	if len(a.Infinite) == 0 {
		return nil
	}
	want := make(map[string]float64, len(a.Infinite))
	for _, place := range a.Infinite {
		name, minus := strings.CutPrefix(place, "-")
		want[name] = math.Inf(1)
		if minus {
			want[name] = math.Inf(-1)
		}
	}
	numbers(reflect.ValueOf(a), nil, func(at []string, n reflect.Value) {
		name := strings.Join(at, ".")
		x, ok := want[name]
		if !ok {
			return
		}
		delete(want, name)
		if n.Kind() == reflect.Pointer {
			v := Number(x)
			n.Set(reflect.ValueOf(&v))
			return
		}
		n.SetFloat(x)
	})
	a.Infinite = nil
	for name := range want {
		return fmt.Errorf("infinite: there is no number at %q", name)
	}
	return nil
}
