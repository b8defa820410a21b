package remote

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"unicode/utf8"

	"nero/data/tensor"
)

// asking says what is asked, and of which model, where that is not in the address.
type asking struct {
	Method string `json:"method,omitempty"`
	Model  string `json:"model,omitempty"`
}

// parameters go along with a request by name: texts, whole numbers, true and false.
type parameters map[string]any

// request is the JSON of a request with its parameters, and the binary tensors behind it: all of them, or those alone
// that JSON cannot hold. What is asked comes first.
func (c Config) request(what asking, in []tensor.Named, outputs []string, with parameters, binary bool) (head []byte,
	raws [][]byte, err error,
) {
	type object map[string]any
	type request struct {
		asking

		Inputs     []object `json:"inputs"`
		Outputs    []object `json:"outputs"`
		Parameters object   `json:"parameters,omitempty"`
	}
	r := request{asking: what}
	for _, t := range in {
		shape := t.Shape
		if shape == nil {
			shape = []int{}
		}
		x := object{"name": t.Name, "datatype": Datatype(t.DType), "shape": shape}
		if binary || t.DType == tensor.String && !written(t.Tensor) {
			x["parameters"] = object{"binary_data_size": len(t.Raw)}
			raws = append(raws, t.Raw)
		} else {
			data, err := writeJSON(t.Tensor)
			if err != nil {
				return nil, nil, failed("the input %s: %v", c.quote(t.Name), err)
			}
			x["data"] = data
		}
		r.Inputs = append(r.Inputs, x)
	}
	for _, name := range outputs {
		x := object{"name": name}
		if binary {
			x["parameters"] = object{"binary_data": true}
		}
		r.Outputs = append(r.Outputs, x)
	}
	if len(with) > 0 {
		r.Parameters = object(maps.Clone(with))
	}
	if binary {
		if r.Parameters == nil {
			r.Parameters = object{}
		}
		r.Parameters["binary_data_output"] = true
	}
	head, err = json.Marshal(r)
	if err != nil {
		return nil, nil, failed("%s", c.clip(err.Error()))
	}
	return head, raws, nil
}

// written tells whether all strings are texts in UTF-8; others are bytes, which JSON does not hold.
func written(t tensor.Tensor) bool {
	words, err := t.Strings()
	return err == nil && !slices.ContainsFunc(words, func(s string) bool { return !utf8.ValidString(s) })
}

// answer takes an answer apart: JSON, then the binary tensors in the order of the outputs that have one.
func (c Config) answer(body, rest []byte, outputs []string) (*answer, error) {
	var r struct {
		ModelVersion string              `json:"model_version"`
		Outputs      few[answeredInJSON] `json:"outputs"`
	}
	if err := json.Unmarshal(strictJSON(body), &r); err != nil {
		return nil, failed("the answer is not what the protocol says (%s): %s", c.clip(err.Error()),
			c.quote(start(body)))
	}
	a := &answer{version: r.ModelVersion}
	for _, o := range r.Outputs {
		var b []byte
		if size := o.Parameters.BinaryDataSize; size != nil {
			if *size < 0 || *size > int64(len(rest)) {
				return nil, failed("the output %s should have %d bytes, and %d are left: half an answer",
					c.quote(o.Name), *size, len(rest))
			}
			b, rest = rest[:*size], rest[*size:]
		}
		if wordless(o.Datatype) && !asked(outputs, o.Name) {
			continue
		}
		d, shape, n, err := shaped(o.Name, o.Datatype, o.Shape, c.MaxMessage)
		if err != nil {
			return nil, err
		}
		var t tensor.Tensor
		if o.Parameters.BinaryDataSize != nil {
			t, err = raw(d, shape, n, b)
		} else {
			t, err = readJSON(d, shape, n, o.Data)
		}
		if bad, ok := errors.AsType[*noTextError](err); ok {
			return nil, failed("the output %s is no text in UTF-8: %s; want texts in UTF-8, without halves of "+
				"surrogate pairs", c.quote(o.Name), c.quote(bad.raw))
		}
		if err != nil {
			return nil, failed("the output %s: %v", c.quote(o.Name), err)
		}
		a.out = append(a.out, tensor.Named{Name: o.Name, Tensor: t})
	}
	if len(rest) > 0 {
		return nil, failed("%d bytes follow the last output; expected none", len(rest))
	}
	return a, nil
}
