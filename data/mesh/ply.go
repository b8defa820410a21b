package mesh

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"nero/data/space"
)

// property is one entry of an element of a PLY file.
type property struct {
	name string
	// int8, uint8, …, float64
	typ string
	// type of the length of a list; "" for a single number
	count string
}

// element is a list of records of a PLY file.
type element struct {
	name  string
	n     int
	props []property
}

// plyTypes are the names of types, of both generations of the format.
func plyType(word string) string {
	switch word {
	case "char", "int8":
		return "int8"
	case "uchar", "uint8":
		return "uint8"
	case "short", "int16":
		return "int16"
	case "ushort", "uint16":
		return "uint16"
	case "int", "int32":
		return "int32"
	case "uint", "uint32":
		return "uint32"
	case "float", "float32":
		return "float32"
	case "double", "float64":
		return "float64"
	}
	return ""
}

func plySize(typ string) int {
	switch typ {
	case "int8", "uint8":
		return 1
	case "int16", "uint16":
		return 2
	case "float64":
		return 8
	}
	return 4
}

// ReadPLY reads points, normals (nx, ny, nz) and faces (vertex_indices or vertex_index) of a Stanford PLY file: text,
// or binary of either byte order. Other elements and properties are left out.
func ReadPLY(data []byte) (*Mesh, error) {
	format, elements, body, line, err := plyHead(data)
	if err != nil {
		return nil, err
	}
	r := &plyReader{all: data, rest: body, text: format == "ascii", lines: lines{n: line}}
	if format == "binary_big_endian" {
		r.order = binary.BigEndian
	} else {
		r.order = binary.LittleEndian
	}
	if r.text {
		r.lines.rest = string(body)
	}
	m := &Mesh{}
	for _, e := range elements {
		if err := r.element(m, e); err != nil {
			return nil, err
		}
	}
	if !slices.ContainsFunc(elements, func(e element) bool { return e.name == "vertex" }) {
		return nil, errors.New("the head has no element vertex, want points")
	}
	return m, nil
}

// plyHead reads up to end_header.
func plyHead(data []byte) (format string, elements []element, body []byte, line int, err error) {
	rest := data
	for {
		end := bytes.IndexByte(rest, '\n')
		if end < 0 || line > 10000 {
			if line == 0 && !bytes.HasPrefix(data, []byte("ply")) {
				return "", nil, nil, 0,
					fmt.Errorf("starts with %s, want the word ply", quote(string(data[:min(len(data), 8)])))
			}
			return "", nil, nil, 0, fmt.Errorf("line %d: the head has no end_header: the file is cut short", line)
		}
		line++
		text := strings.TrimRight(string(rest[:end]), "\r ")
		rest = rest[end+1:]
		words := strings.Fields(text)
		switch {
		case line == 1:
			if text != "ply" {
				return "", nil, nil, 0, bad(1, "%s, want the word ply", quote(text))
			}
		case len(words) == 0, words[0] == "comment", words[0] == "obj_info":
		case words[0] == "end_header":
			if format == "" {
				return "", nil, nil, 0, bad(line, "the head names no format, want such as %q", "format ascii 1.0")
			}
			return format, elements, rest, line, nil
		case words[0] == "format" && len(words) >= 2:
			format = words[1]
			if format != "ascii" && format != "binary_little_endian" && format != "binary_big_endian" {
				return "", nil, nil, 0,
					bad(line, "the format %s is not known, want ascii, binary_little_endian or binary_big_endian",
						quote(format))
			}
		case words[0] == "element" && len(words) == 3:
			n, err := strconv.Atoi(words[2])
			if err != nil || n < 0 || n > maxPoints {
				return "", nil, nil, 0, bad(line, "%s, want a number from 0 to %d", quote(text), maxPoints)
			}
			elements = append(elements, element{name: words[1], n: n})
		case words[0] == "property" && len(elements) > 0:
			p := property{name: words[len(words)-1]}
			switch {
			case len(words) == 5 && words[1] == "list":
				p.count, p.typ = plyType(words[2]), plyType(words[3])
				if p.count == "" || strings.HasPrefix(p.count, "float") {
					p.typ = ""
				}
			case len(words) == 3:
				p.typ = plyType(words[1])
			}
			if p.typ == "" {
				return "", nil, nil, 0, bad(line, "%s, want such as %q or %q", quote(text), "property float x",
					"property list uchar int vertex_indices")
			}
			e := &elements[len(elements)-1]
			e.props = append(e.props, p)
		default:
			return "", nil, nil, 0, bad(line, "%s does not belong into the head of a PLY file", quote(text))
		}
	}
}

// plyReader goes through the body.
type plyReader struct {
	all, rest []byte
	order     binary.ByteOrder
	text      bool
	lines     lines
	words     []string
}

// element reads all records of an element, and keeps what a mesh needs.
func (r *plyReader) element(m *Mesh, e element) error {
	least := 0 // bytes of a record
	var at, normal [3]int
	for k := range 3 {
		at[k] = slices.IndexFunc(e.props, func(p property) bool { return p.name == "xyz"[k:k+1] && p.count == "" })
		normal[k] = slices.IndexFunc(e.props,
			func(p property) bool { return p.name == "n"+"xyz"[k:k+1] && p.count == "" })
	}
	for _, p := range e.props {
		switch {
		case r.text:
			least += 2
		case p.count != "":
			least += plySize(p.count)
		default:
			least += plySize(p.typ)
		}
	}
	have := len(r.rest)
	if r.text {
		have = len(r.lines.rest) + 1
	}
	if e.n > 0 && len(e.props) == 0 {
		return fmt.Errorf("the head has the element %s without properties", quote(e.name))
	}
	if e.n > have/max(least, 1) {
		return fmt.Errorf("%s: the head claims %d elements %s, but only %d bytes are left: the file is cut short or "+
			"its head is wrong", r.where(), e.n, quote(e.name), have)
	}
	vertex, face := e.name == "vertex", e.name == "face"
	if vertex && slices.Contains(at[:], -1) {
		return errors.New("the head has no properties x, y and z of vertex, want points")
	}
	normals := vertex && !slices.Contains(normal[:], -1)
	corners := slices.IndexFunc(e.props, func(p property) bool {
		return p.count != "" && (p.name == "vertex_indices" || p.name == "vertex_index")
	})
	points := len(m.Points) / 3
	values, list := make([]float64, len(e.props)), []float64(nil)
	for i := range e.n {
		if err := r.record(); err != nil {
			return fmt.Errorf("%w: %s %d of %d", err, e.name, i, e.n)
		}
		for k, p := range e.props {
			var err error
			if p.count == "" {
				if values[k], err = r.number(p.typ); err != nil {
					return fmt.Errorf("%s %d, %s: %w", e.name, i, p.name, err)
				}
				continue
			}
			n, err := r.number(p.count)
			if err != nil {
				return fmt.Errorf("%s %d, length of %s: %w", e.name, i, p.name, err)
			}
			if !(n >= 0 && n <= float64(len(r.rest)+len(r.words))) || n != math.Trunc(n) {
				return fmt.Errorf("%s: %s %d: the list %s has %g numbers, which the file does not hold: it is damaged",
					r.where(), e.name, i, p.name, n)
			}
			list = list[:0]
			for range int(n) {
				v, err := r.number(p.typ)
				if err != nil {
					return fmt.Errorf("%s %d, %s: %w", e.name, i, p.name, err)
				}
				if face && k == corners {
					list = append(list, v)
				}
			}
			if face && k == corners {
				face, err := plyFace(list, points)
				if err != nil {
					return fmt.Errorf("%s: face %d: %w", r.where(), i, err)
				}
				m.polygon(face)
			}
		}
		if !vertex {
			continue
		}
		for k, c := range at {
			if v := values[c]; math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("%s: vertex %d: %s is %v: %w; repair or leave out this shape", r.where(), i, axis(k),
					v, space.ErrNotFinite)
			}
			m.Points = append(m.Points, values[c])
		}
		for _, c := range normal {
			if !normals {
				break
			}
			if v := values[c]; math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("%s: vertex %d: the normal is %v: %w; repair or leave out this shape", r.where(), i,
					v, space.ErrNotFinite)
			}
			m.Normals = append(m.Normals, values[c])
		}
	}
	return nil
}

// plyFace checks the corners of a face.
func plyFace(list []float64, points int) ([]int32, error) {
	out := make([]int32, len(list))
	for k, v := range list {
		if v != math.Trunc(v) || !(v >= 0 && v < float64(points)) {
			return nil, fmt.Errorf("the corner %g, want a point from 0 to %d; points come before faces", v, points-1)
		}
		out[k] = int32(v)
	}
	return out, nil
}

// where is the place in the file, for messages.
func (r *plyReader) where() string {
	if r.text {
		return "line " + strconv.Itoa(r.lines.n)
	}
	return "byte " + strconv.Itoa(len(r.all)-len(r.rest))
}

// record begins a record: of a text a line.
func (r *plyReader) record() error {
	if !r.text {
		return nil
	}
	for {
		line, ok := r.lines.next()
		if !ok {
			return fmt.Errorf("line %d: the file is cut short", r.lines.n)
		}
		if r.words = strings.Fields(line); len(r.words) > 0 {
			return nil
		}
	}
}

// number is the next number of a record.
func (r *plyReader) number(typ string) (float64, error) {
	if r.text {
		if len(r.words) == 0 {
			return 0, bad(r.lines.n, "the line has too few numbers")
		}
		v, err := strconv.ParseFloat(r.words[0], 64)
		if err != nil && !errors.Is(err, strconv.ErrRange) {
			return 0, bad(r.lines.n, "%s, want a number", quote(r.words[0]))
		}
		r.words = r.words[1:]
		return v, nil
	}
	n := plySize(typ)
	if len(r.rest) < n {
		return 0, fmt.Errorf("byte %d: the file is cut short", len(r.all)-len(r.rest))
	}
	b := r.rest[:n]
	r.rest = r.rest[n:]
	switch typ {
	case "int8":
		return float64(int8(b[0])), nil
	case "uint8":
		return float64(b[0]), nil
	case "int16":
		return float64(int16(r.order.Uint16(b))), nil
	case "uint16":
		return float64(r.order.Uint16(b)), nil
	case "int32":
		return float64(int32(r.order.Uint32(b))), nil
	case "uint32":
		return float64(r.order.Uint32(b)), nil
	case "float32":
		return float64(math.Float32frombits(r.order.Uint32(b))), nil
	}
	return math.Float64frombits(r.order.Uint64(b)), nil
}
