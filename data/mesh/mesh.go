// Package mesh reads shapes in space, OFF, Wavefront OBJ, Stanford PLY and tables of points, and draws points from
// their surfaces.
//
// Every error names the line or byte, what was expected there and what to do; what a file claims to hold is compared
// with its size before memory is taken. Numbers that are not finite are refused: the error wraps [space.ErrNotFinite].
package mesh

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"nero/data/space"
	"nero/internal/elementary"
)

// maxPoints bounds the points of one file, so that their numbers fit into an int32.
const maxPoints = math.MaxInt32

// Mesh is points in space and the triangles between them.
type Mesh struct {
	// x, y, z of each
	Points []float64
	// of each point; nil if the file has none
	Normals []float64
	// triangles of points; polygons are fans of them from their first corner
	Faces [][3]int32
}

// Sample draws n points evenly by area from the faces, with the normals of the faces: (b-a) x (c-a), of length 1. Of
// one mesh and one state of r they are always the same. The error says that there are no faces, or that they have no
// area.
func (m *Mesh) Sample(n int, r *rand.Rand) (points, normals []float64, err error) {
	if len(m.Faces) == 0 {
		return nil, nil, errors.New("no faces to draw points from")
	}
	edges := make([]float64, len(m.Faces))
	sum := 0.0
	for i, f := range m.Faces {
		x := m.cross(f)
		sum += elementary.Hypot(elementary.Hypot(x[0], x[1]), x[2])
		edges[i] = sum
	}
	if !(sum > 0) || math.IsInf(sum, 1) {
		return nil, nil, fmt.Errorf(
			"all %d faces together have the area %g, so that no points can be drawn from them: repair the mesh, or "+
				"scale it", len(m.Faces), sum/2)
	}
	points, normals = make([]float64, 0, 3*n), make([]float64, 0, 3*n)
	for range n {
		at := min(r.Float64()*sum, math.Nextafter(sum, 0))
		i, _ := slices.BinarySearch(edges, at)
		// A face without area has the edge of the one before it: the search finds the first of equals, and at == edge
		// belongs to the next.
		for i < len(edges)-1 && edges[i] <= at {
			i++
		}
		u, v := r.Float64(), r.Float64()
		if u+v > 1 {
			u, v = 1-u, 1-v
		}
		f := m.Faces[i]
		a, b, c := m.point(f[0]), m.point(f[1]), m.point(f[2])
		for k := range 3 {
			points = append(points, a[k]+float64(u*(b[k]-a[k]))+float64(v*(c[k]-a[k])))
		}
		x := m.cross(f)
		length := elementary.Hypot(elementary.Hypot(x[0], x[1]), x[2])
		normals = append(normals, x[0]/length, x[1]/length, x[2]/length)
	}
	return points, normals, nil
}

func (m *Mesh) point(i int32) []float64 { return m.Points[3*i : 3*i+3] }

// cross is (b-a) x (c-a) of a face.
func (m *Mesh) cross(f [3]int32) [3]float64 {
	a, b, c := m.point(f[0]), m.point(f[1]), m.point(f[2])
	var u, v [3]float64
	for k := range 3 {
		u[k], v[k] = b[k]-a[k], c[k]-a[k]
	}
	return [3]float64{
		float64(u[1]*v[2]) - float64(u[2]*v[1]),
		float64(u[2]*v[0]) - float64(u[0]*v[2]),
		float64(u[0]*v[1]) - float64(u[1]*v[0]),
	}
}

// polygon adds the fan of a face; corners are checked by whoever calls.
func (m *Mesh) polygon(corners []int32) {
	for k := 1; k+1 < len(corners); k++ {
		m.Faces = append(m.Faces, [3]int32{corners[0], corners[k], corners[k+1]})
	}
}

// lines goes through a text line by line.
type lines struct {
	rest string
	// number of the line that next returned last
	n int
}

// next is the next line without its end; ok is false at the end of the text.
func (l *lines) next() (line string, ok bool) {
	if l.rest == "" {
		return "", false
	}
	l.n++
	line, l.rest, _ = strings.Cut(l.rest, "\n")
	return strings.TrimSuffix(line, "\r"), true
}

// full is the next line that says something: without a comment after #, and not empty.
func (l *lines) full() (line string, ok bool) {
	for {
		line, ok = l.next()
		if !ok {
			return "", false
		}
		line, _, _ = strings.Cut(line, "#")
		if line = strings.TrimSpace(line); line != "" {
			return line, true
		}
	}
}

func bad(line int, format string, args ...any) error {
	return fmt.Errorf("line %d: %w", line, fmt.Errorf(format, args...))
}

// number reads a finite number.
func number(word string, line int, what string) (float64, error) {
	v, err := strconv.ParseFloat(word, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return 0, bad(line, "%s is %s, want a number", what, quote(word))
	}
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, bad(line, "%s is %s: %w; repair or leave out this shape", what, quote(word), space.ErrNotFinite)
	}
	return v, nil
}

// quote shows at most 60 bytes of a text.
func quote(s string) string {
	if len(s) > 60 {
		return strconv.Quote(s[:60]) + "…"
	}
	return strconv.Quote(s)
}

func axis(k int) string { return "coordinate " + "xyz"[k:k+1] }

// isText refuses texts that are none.
func isText(text, want string) error {
	if k := strings.IndexByte(text, 0); k >= 0 {
		return fmt.Errorf("byte %d is 0: this is no text, want %s", k, want)
	}
	return nil
}

// ReadOFF reads a mesh in the text form of Geomview's OFF. The head "OFF490 518 0", in which the line break was lost,
// as in ModelNet, is read too; NOFF has normals, colors are left out.
func ReadOFF(text string) (*Mesh, error) {
	if err := isText(text, "OFF"); err != nil {
		return nil, err
	}
	l := &lines{rest: text}
	line, ok := l.full()
	if !ok {
		return nil, errors.New("is empty, want OFF")
	}
	at := strings.Index(line, "OFF")
	if at < 0 || at > 4 {
		return nil, bad(l.n, "%s, want the word OFF", quote(line))
	}
	kind, rest := line[:at], strings.TrimSpace(line[at+3:])
	if strings.ContainsAny(kind, "4n") || strings.Trim(kind, "STCN") != "" {
		return nil, bad(l.n, "%sOFF is not read, want OFF with three coordinates: convert it", kind)
	}
	if strings.HasPrefix(strings.ToUpper(rest), "BINARY") {
		return nil, bad(l.n, "a binary OFF file, want text: convert it")
	}
	if rest == "" {
		if rest, ok = l.full(); !ok {
			return nil, bad(l.n, "the file ends after its head: it is cut short")
		}
	}
	words := strings.Fields(rest)
	var count [2]int
	for k := range count {
		err := errors.New("missing")
		if k < len(words) {
			count[k], err = strconv.Atoi(words[k])
		}
		// No line of a point is shorter than "0 0 0", none of a face than "1 0".
		if err != nil || count[k] < 0 || count[k] > maxPoints {
			return nil, bad(l.n, "%s, want the numbers of points, faces and edges, such as %q", quote(rest),
				"490 518 0")
		}
	}
	if 5*count[0]+3*count[1] > len(l.rest) {
		return nil, bad(l.n,
			"%d points and %d faces, but only %d bytes follow: the file is cut short or the numbers are wrong",
			count[0], count[1], len(l.rest))
	}
	m := &Mesh{}
	normals := strings.Contains(kind, "N")
	for k := range count[0] {
		line, ok := l.full()
		if !ok {
			return nil, bad(l.n, "the file ends after %d of %d points: it is cut short", k, count[0])
		}
		words := strings.Fields(line)
		if len(words) < 3 || normals && len(words) < 6 {
			return nil, bad(l.n, "point %d has %d numbers, want x, y, z%s", k, len(words),
				map[bool]string{true: " and the normal"}[normals])
		}
		for a := range 3 {
			v, err := number(words[a], l.n, axis(a))
			if err != nil {
				return nil, err
			}
			m.Points = append(m.Points, v)
		}
		for a := 3; normals && a < 6; a++ {
			v, err := number(words[a], l.n, "the normal")
			if err != nil {
				return nil, err
			}
			m.Normals = append(m.Normals, v)
		}
	}
	for k := range count[1] {
		line, ok := l.full()
		if !ok {
			return nil, bad(l.n, "the file ends after %d of %d faces: it is cut short", k, count[1])
		}
		words := strings.Fields(line)
		n, err := strconv.Atoi(words[0])
		if err != nil || n < 1 || n >= len(words) {
			return nil, bad(l.n, "face %d is %s, want the number of its corners, then the corners", k, quote(line))
		}
		corners := make([]int32, n)
		for c := range corners {
			if corners[c], err = corner(words[1+c], 0, count[0], l.n); err != nil {
				return nil, err
			}
		}
		m.polygon(corners)
	}
	return m, nil
}

// corner reads the number of a point, counted from base.
func corner(word string, base, points, line int) (int32, error) {
	v, err := strconv.Atoi(word)
	if err != nil || v < base || v >= points+base {
		return 0, bad(line, "a face has the corner %s, want a point from %d to %d", quote(word), base, points+base-1)
	}
	return int32(v - base), nil
}

// ReadOBJ reads points and faces of a Wavefront OBJ file. Normals are those of the file if it has one for each point
// and no faces, as clouds have them; all else is left out.
func ReadOBJ(text string) (*Mesh, error) {
	if err := isText(text, "OBJ"); err != nil {
		return nil, err
	}
	l := &lines{rest: text}
	m := &Mesh{}
	var normals []float64
	type face struct {
		corners []int32
		line    int
	}
	known := false
	for {
		line, ok := l.full()
		if !ok {
			break
		}
		for strings.HasSuffix(line, `\`) {
			more, ok := l.next()
			if !ok {
				break
			}
			line = line[:len(line)-1] + " " + more
		}
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		switch words[0] {
		case "v", "vn":
			known = true
			if len(words) < 4 {
				return nil, bad(l.n, "%s, want three numbers after %s", quote(line), words[0])
			}
			for a := range 3 {
				v, err := number(words[1+a], l.n, axis(a))
				if err != nil {
					return nil, err
				}
				if words[0] == "v" {
					m.Points = append(m.Points, v)
				} else {
					normals = append(normals, v)
				}
			}
			if len(m.Points)/3 > maxPoints {
				return nil, bad(l.n, "more than %d points", maxPoints)
			}
		case "f":
			known = true
			if len(words) < 4 {
				return nil, bad(l.n, "%s, want a face of three corners or more", quote(line))
			}
			f := face{line: l.n}
			for _, w := range words[1:] {
				w, _, _ = strings.Cut(w, "/")
				n := len(m.Points) / 3
				if strings.HasPrefix(w, "-") {
					back, err := strconv.Atoi(w)
					if err != nil || back < -n {
						return nil, bad(l.n, "a face has the corner %s, and there are %d points before it", quote(w), n)
					}
					w = strconv.Itoa(n + back + 1)
				}
				c, err := corner(w, 1, n, l.n)
				if err != nil {
					return nil, err
				}
				f.corners = append(f.corners, c)
			}
			m.polygon(f.corners)
		case "vt", "vp", "g", "o", "s", "l", "p", "usemtl", "mtllib", "usemap", "mg":
			known = true
		}
	}
	if !known {
		return nil, errors.New("no line begins with v or f: this is no OBJ file")
	}
	if len(normals) == len(m.Points) && len(m.Faces) == 0 && len(normals) > 0 {
		m.Normals = normals
	}
	return m, nil
}
