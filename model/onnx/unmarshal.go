package onnx

import (
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"nero/model/onnx/onnxpb"
)

// Numbers of fields of the file format.
const (
	fieldGraph       = 7 // of a model
	fieldInitializer = 5 // of a graph
	fieldRaw         = 9 // of a tensor
)

// leastShared is how many bytes of numbers are worth sharing.
const leastShared = 4 << 10

// unmarshal decodes b. The numbers of stored tensors stay in it: to copy them as well would hold a large model in
// memory twice.
func unmarshal(b []byte, p *onnxpb.ModelProto) error {
	if c := (cutter{}); c.model(b) && len(c.raw) > 0 {
		if err := proto.Unmarshal(c.rest, p); err != nil {
			return err
		}
		if list := p.GetGraph().GetInitializer(); len(list) == c.tensors {
			for i, raw := range c.raw {
				list[i].RawData = raw
			}
			return nil
		}
	}
	proto.Reset(p)
	return proto.Unmarshal(b, p)
}

// cutter takes the numbers of stored tensors out of a message. What is not laid out as encoders do, or is no message at
// all, it leaves to the decoder.
type cutter struct {
	// the message without them
	rest []byte
	// by stored tensor
	raw     map[int][]byte
	tensors int
}

func (c *cutter) model(b []byte) bool {
	graphs := 0
	return c.each(b, func(field protowire.Number, whole, part []byte) bool {
		if field != fieldGraph || part == nil {
			c.rest = append(c.rest, whole...)
			return true
		}
		graphs++ // the decoder would make one of several
		outer := c.rest
		c.rest = nil
		ok := graphs == 1 && c.graph(part)
		inner := c.rest
		c.rest = protowire.AppendBytes(protowire.AppendTag(outer, field, protowire.BytesType), inner)
		return ok
	})
}

func (c *cutter) graph(b []byte) bool {
	return c.each(b, func(field protowire.Number, whole, part []byte) bool {
		if field != fieldInitializer || part == nil {
			c.rest = append(c.rest, whole...)
			return true
		}
		var small []byte
		times := 0
		ok := c.each(part, func(field protowire.Number, whole, part []byte) bool {
			if field != fieldRaw || part == nil {
				small = append(small, whole...)
				return true
			}
			times++ // the decoder would take the last
			if len(part) < leastShared {
				small = append(small, whole...)
				return times == 1
			}
			if c.raw == nil {
				c.raw = map[int][]byte{}
			}
			c.raw[c.tensors] = slices.Clip(part)
			return times == 1
		})
		c.tensors++
		c.rest = protowire.AppendBytes(protowire.AppendTag(c.rest, field, protowire.BytesType), small)
		return ok
	})
}

// each calls f with each field of a message, whole and its bytes alone, nil where it is of another form, until f says
// that it is enough. It reports whether all of the message was seen.
func (*cutter) each(b []byte, f func(field protowire.Number, whole, part []byte) bool) bool {
	for len(b) > 0 {
		field, form, n := protowire.ConsumeTag(b)
		if n < 0 {
			return false
		}
		k := protowire.ConsumeFieldValue(field, form, b[n:])
		if k < 0 {
			return false
		}
		var part []byte
		if form == protowire.BytesType {
			part, _ = protowire.ConsumeBytes(b[n:])
		}
		if !f(field, b[:n+k], part) {
			return false
		}
		b = b[n+k:]
	}
	return true
}
