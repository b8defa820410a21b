package remote

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"nero/data/tensor"
	"nero/model/engine/remote/oippb"
)

// beside is how many bytes of an answer may be something else than the numbers that were asked for: the words of the
// protocol, and outputs that no metadata names. Metadata itself, of which all is words, may have as many.
const beside = 16 << 20

// How many bytes the number of an element takes at most where it is not sent as it lies in memory: a float64 in JSON
// with all its digits, on a line of its own that is set in; an integer of gRPC's typed contents with its tag.
const (
	mostInJSON  = 64
	mostInTyped = 12
)

// need is what the numbers of an answer can take.
type need struct {
	// together; bytes as they lie in memory
	elements, bytes int
	// the metadata leaves open how long an axis is, or promises outputs that hold no numbers
	open bool
}

// need is what an answer to a request can take by the metadata. limit is where nobody counts any more.
func (m *Model) need(in []tensor.Named, limit int) need {
	var all need
	samples := m.batch(in)
	all.open = len(m.meta.Outputs) > len(m.sig.Outputs)
	for _, p := range m.sig.Outputs {
		all.open = all.open || p.DType == tensor.String // nobody knows how long a text is
		shape := make([]int, len(p.Shape))
		for i, d := range p.Shape {
			shape[i] = d.Size
			if d.Free() {
				shape[i] = samples
				all.open = all.open || i > 0 || samples < 0
			}
		}
		if all.open {
			return all
		}
		n, err := tensor.CheckedCount(shape, limit)
		if err != nil { // more than may be sent at all
			return need{open: true}
		}
		all.elements += n
		all.bytes += n * p.DType.Size()
		if all.bytes > limit {
			return need{open: true}
		}
	}
	return all
}

// longest is how many bytes an answer may have where an element takes at most so many; limit bounds it.
func (n need) longest(element, limit int) int {
	if n.open {
		return limit
	}
	return min(limit, beside+max(n.bytes, element*n.elements))
}

// tooLong refuses an answer for its length: most is how long it may be, limit how long any message may be.
func (n need) tooLong(most, limit int) error {
	if most >= limit {
		return failed("an answer is longer than the %d bytes that are allowed; lower batch", limit)
	}
	return failed("an answer is longer than the %d bytes that it can need by the metadata; is this a server of the "+
		"Open Inference Protocol v2, and does its metadata name all outputs?", most)
}

// readAll reads what has no more than most bytes; it is not whole if there are more. length is how many were announced,
// -1 if that is not known. It reads piece by piece, since a buffer that grows by copying takes three times what is in
// it.
func readAll(r io.Reader, length int64, most int) (b []byte, whole bool, err error) {
	const least, atOnce = 64 << 10, 64 << 20
	r = io.LimitReader(r, int64(most)+1)
	size := int64(least)
	if length >= 0 {
		size = min(length, int64(most), atOnce) + 1 // for its end
	}
	var pieces [][]byte
	piece, total := make([]byte, 0, size), 0
	for {
		n, err := r.Read(piece[len(piece):cap(piece)])
		piece = piece[:len(piece)+n]
		if total += n; total > most {
			return nil, false, nil
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, false, err
		}
		if len(piece) == cap(piece) {
			pieces = append(pieces, piece)
			piece = make([]byte, 0, min(max(least, total/2), atOnce, most+1-total+1))
		}
	}
	if len(pieces) == 0 {
		return piece, true, nil
	}
	return slices.Concat(append(pieces, piece)...), true, nil
}

// few is a list in JSON with no more entries than there can be outputs of a model: an entry of two bytes can take a
// hundred in memory.
type few[T any] []T

// UnmarshalJSON reads the list.
func (f *few[T]) UnmarshalJSON(b []byte) error {
	if n := commas(b) + 1; n > mostPorts {
		return fmt.Errorf("a list of %d entries; at most %d make sense", n, mostPorts)
	}
	return json.Unmarshal(b, (*[]T)(f))
}

// commas counts those between the entries of a list that is valid JSON.
func commas(b []byte) int {
	n, depth := 0, 0
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			for i++; b[i] != '"'; i++ {
				if b[i] == '\\' {
					i++
				}
			}
		case '[', '{':
			depth++
		case ']', '}':
			depth--
		case ',':
			if depth == 1 {
				n++
			}
		}
	}
	return n
}

// codec reads messages as gRPC's own does, with two differences: how many parts a message has is looked at first, since
// a part of two bytes can take a hundred in memory; and the raw contents of an answer are not copied.
type codec struct{ encoding.CodecV2 }

// mostParts is how many fields a message may have, and mostOfOutput how many the description of an output.
const (
	mostParts    = 4 * mostPorts
	mostOfOutput = 1024
)

// Unmarshal reads a message.
func (c codec) Unmarshal(data mem.BufferSlice, v any) error {
	answer, ok := v.(*oippb.ModelInferResponse)
	if !ok {
		if _, _, err := parts(data.Materialize(), 0, 0); err != nil {
			return err
		}
		return c.CodecV2.Unmarshal(data, v)
	}
	rest, raws, err := parts(data.Materialize(), 5, 6) // as the protocol numbers outputs and raw_output_contents
	if err != nil {
		return err
	}
	if err := proto.Unmarshal(rest, answer); err != nil {
		return err
	}
	answer.RawOutputContents = raws
	return nil
}

// parts looks through the fields of a message: it takes out those that are numbered raw, and refuses what has more
// fields than make sense, or more than make sense within a field that is numbered nested.
func parts(b []byte, nested, raw protowire.Number) (rest []byte, raws [][]byte, err error) {
	rest = b
	taken := false
	for n := 0; len(b) > 0; n++ {
		if n == mostParts {
			return nil, nil, fmt.Errorf("a message of more than %d parts; fewer make sense", mostParts)
		}
		number, kind, head := protowire.ConsumeTag(b)
		if head < 0 {
			return nil, nil, protowire.ParseError(head)
		}
		size := protowire.ConsumeFieldValue(number, kind, b[head:])
		if size < 0 {
			return nil, nil, protowire.ParseError(size)
		}
		field := b[:head+size]
		b = b[head+size:]
		value := []byte(nil)
		if kind == protowire.BytesType {
			value, _ = protowire.ConsumeBytes(field[head:]) // it was just looked at
		}
		switch {
		case number == raw && kind == protowire.BytesType:
			if !taken { // from here on the rest is put together anew
				taken, rest = true, slices.Clone(rest[:len(rest)-len(b)-len(field)])
			}
			raws = append(raws, value)
			continue
		case number == nested && kind == protowire.BytesType:
			if err := described(value); err != nil {
				return nil, nil, err
			}
		}
		if taken {
			rest = append(rest, field...)
		}
	}
	return rest, raws, nil
}

// described refuses the description of an output that has more fields, or more axes, than make sense.
func described(b []byte) error {
	const shape = 3
	for n := 0; len(b) > 0; n++ {
		number, kind, head := protowire.ConsumeTag(b)
		if head < 0 {
			return protowire.ParseError(head)
		}
		size := protowire.ConsumeFieldValue(number, kind, b[head:])
		if size < 0 {
			return protowire.ParseError(size)
		}
		if n == mostOfOutput || number == shape && size > mostOfOutput {
			return fmt.Errorf("an output of more than %d fields or axes; fewer make sense", mostOfOutput)
		}
		b = b[head+size:]
	}
	return nil
}
