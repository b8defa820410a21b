package mesh

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"nero/data/space"
)

func TestOFF(t *testing.T) {
	want := Mesh{Points: []float64{0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0.5}, Faces: [][3]int32{{0, 1, 2}, {0, 2, 3}}}
	body := "0 0 0\n1 0 0\n1 1 0\n0 1 5e-1\n4 0 1 2 3\n"
	for _, text := range []string{
		"OFF\n4 1 0\n" + body,
		"OFF4 1 0\n" + body, // as in ModelNet
		"OFF 4 1 0\n" + body,
		"OFF\r\n# a remark\r\n\r\n4 1\r\n" + strings.ReplaceAll(body, "\n", " # and so on\r\n"),
		"COFF\n4 1 0\n" + strings.ReplaceAll(body, "0\n", "0 255 0 0 255\n"),
	} {
		m, err := ReadOFF(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if !slices.Equal(m.Points, want.Points) || !slices.Equal(m.Faces, want.Faces) || m.Normals != nil {
			t.Errorf("%q: %+v", text, m)
		}
	}
	m, err := ReadOFF("NOFF\n1 0 0\n1 2 3 0 0 1\n")
	if err != nil || !slices.Equal(m.Normals, []float64{0, 0, 1}) {
		t.Errorf("%+v, %v", m, err)
	}
	for text, want := range map[string]string{
		"":                                    "is empty",
		"solid\n":                             `line 1: "solid", want the word OFF`,
		"4OFF\n1 0 0\n0 0 0 0\n":              "4OFF is not read",
		"OFF BINARY\n":                        "a binary OFF file",
		"OFF\n":                               "cut short",
		"OFF\n4\n" + body:                     `line 2: "4", want the numbers`,
		"OFF\n4 -1 0\n" + body:                "want the numbers",
		"OFF\n4000000 1 0\n" + body:           "4000000 points and 1 faces, but only",
		"OFF\n4 1 0\n0 0 0\n1 0 0\n1 1 0\n":   "cut short",
		"OFF\n1 1 0\n0 0 0\n3 0 0 1\n":        `line 4: a face has the corner "1", want a point from 0 to 0`,
		"OFF\n1 1 0\n0 0 0\n3 0 0\n":          "line 4: face 0 is",
		"OFF\n1 0 0\n0 0\n\n\n":               "line 3: point 0 has 2 numbers",
		"OFF\n1 0 0\n0 NaN 0\n":               "line 3: coordinate y is \"NaN\": not finite",
		"OFF\n1 0 0\n0 x 0\n":                 `line 3: coordinate y is "x", want a number`,
		"OFF\n2 0 0\n0 0 0\n# no other\n   ":  "the file ends after 1 of 2 points",
		"OFF\n1 1 0\n0 0 0\n# no face\n     ": "the file ends after 0 of 1 faces",
		"OFF\x00":                             "this is no text",
	} {
		if _, err := ReadOFF(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	if _, err := ReadOFF("OFF\n1 0 0\n0 Inf 0\n"); !errors.Is(err, space.ErrNotFinite) {
		t.Errorf("an infinity: %v", err)
	}
}

func TestOBJ(t *testing.T) {
	m, err := ReadOBJ("# a square and a triangle\nmtllib a.mtl\nv 0 0 0\nv 1 0 0 1.0\nv 1 1 0\nvt 0 0\nvn 0 0 1\nf " +
		"1/1/1 2/1/1 \\\n3//1\nv 0 1 0\nf -4 -3 -2 -1\n")
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(m.Points, []float64{0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0}) ||
		!slices.Equal(m.Faces, [][3]int32{{0, 1, 2}, {0, 1, 2}, {0, 2, 3}}) || m.Normals != nil {
		t.Errorf("%+v", m)
	}
	m, err = ReadOBJ("v 1 2 3\nvn 0 0 1\nv 4 5 6\nvn 0 1 0\n")
	if err != nil || !slices.Equal(m.Normals, []float64{0, 0, 1, 0, 1, 0}) {
		t.Errorf("%+v, %v", m, err)
	}
	for text, want := range map[string]string{
		"hello\n":                       "no line begins with v or f",
		"v 1 2\n":                       "line 1: ",
		"v 1 2 nan\n":                   "line 1: coordinate z is \"nan\": not finite",
		"v 0 0 0\nf 1 1\n":              "line 2: ",
		"v 0 0 0\nf 1 1 2\n":            `line 2: a face has the corner "2", want a point from 1 to 1`,
		"v 0 0 0\nf 0 1 1\n":            `line 2: a face has the corner "0"`,
		"v 0 0 0\nf -2 1 1\n":           `line 2: a face has the corner "-2", and there are 1 points`,
		"v 0 0 0\nf -x 1 1\n":           "line 2: ",
		"v 0 0 0\nf 1 1 99999999999999": "line 2: ",
	} {
		if _, err := ReadOBJ(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// The files are written by Python's struct module, see testdata/make.py.
func TestPLY(t *testing.T) {
	for _, name := range []string{"ascii", "little", "big"} {
		b, err := os.ReadFile("testdata/" + name + ".ply")
		if err != nil {
			t.Fatal(err)
		}
		m, err := ReadPLY(b)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !slices.Equal(m.Points, []float64{0, 0, 0, 1, 0, 0, 1, 2, 0, 0, 2, 0, 0, 0, 3}) ||
			!slices.Equal(m.Faces, [][3]int32{{0, 1, 2}, {0, 2, 3}, {0, 1, 4}}) ||
			!slices.Equal(m.Normals, []float64{0, 0, 1, 0, 1, 0, 1, 0, 0, 0, 0, -1, 0, -1, 0}) {
			t.Errorf("%s: %+v", name, m)
		}
		for cut := range b {
			if _, err := ReadPLY(b[:cut]); err == nil && cut < len(b)-1 { // the last line break may be missing
				t.Errorf("%s: the first %d of %d bytes are taken for a whole file", name, cut, len(b))
			}
		}
	}
	head := "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\nproperty float z\nelement " +
		"face 1\nproperty list uchar int vertex_index\nend_header\n"
	body := "1 2 3\n3 0 0 0\n"
	for _, c := range [][3]string{
		{"ply", "plo", `line 1: "plo", want the word ply`},
		{"ascii", "morse", `line 2: the format "morse" is not known`},
		{"format ascii 1.0\n", "", "line 8: the head names no format"},
		{"end_header\n", "", "no_end"},
		{"vertex 1", "vertex 1000000", "1000000 elements \"vertex\", but only"},
		{"vertex 1", "vertex -1", "line 3: "},
		{"element vertex 1", "element point 1", "the corner 0, want a point"},
		{"float x", "float q", "no properties x, y and z"},
		{"float x", "half x", "line 4: "},
		{"list uchar", "list float", "line 8: "},
		{"1 2 3", "1 2", "line 10: the line has too few numbers"},
		{"1 2 3", "1 2 drei", `line 10: "drei", want a number`},
		{"1 2 3", "1 inf 3", "line 10: vertex 0: coordinate y is +Inf: not finite"},
		{"3 0 0 0", "3 0 0 1", "line 11: face 0: the corner 1, want a point from 0 to 0"},
		{"3 0 0 0", "9 0 0 0", "line 11: "},
		{"3 0 0 0", "-3 0 0 0", "line 11: "},
	} {
		text := strings.Replace(head+body, c[0], c[1], 1)
		if c[2] == "no_end" {
			c[2] = "does not belong into the head"
		}
		if _, err := ReadPLY([]byte(text)); err == nil || !strings.Contains(err.Error(), c[2]) {
			t.Errorf("%q: %v, want %q", c[1], err, c[2])
		}
	}
	b, err := os.ReadFile("testdata/little.ply")
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.Index(b, []byte("end_header\n")) + len("end_header\n")
	copy(b[at+8:], []byte{0, 0, 0, 0, 0, 0, 0xf8, 0x7f})
	if _, err := ReadPLY(b); !errors.Is(err, space.ErrNotFinite) ||
		!strings.Contains(err.Error(), "vertex 0: coordinate y is NaN") {
		t.Errorf("a NaN: %v", err)
	}
}

func TestTable(t *testing.T) {
	for _, text := range []string{
		"1,2,3\n4,5,6\n", "1 2 3\n\n4\t5 6", "2\n1;2;3\r\n4; 5; 6\r\n",
		"# points\nX, \"y\" ,z\n1, 2, 3\n// half\n4, 5, 6",
	} {
		m, err := ReadTable(text)
		if err != nil || m.Width != 3 || !slices.Equal(m.Val, []float64{1, 2, 3, 4, 5, 6}) {
			t.Errorf("%q: %+v, %v", text, m, err)
			continue
		}
		if strings.Contains(text, "X") != slices.Equal(m.Names, []string{"x", "y", "z"}) {
			t.Errorf("%q: names %q", text, m.Names)
		}
	}
	for text, want := range map[string]string{
		"":                "no points",
		"x y z\n":         "no points",
		"1 2 3\n4 5\n":    "line 2: 2 numbers, the lines before it have 3",
		"x,y\n1 2 3\n":    "line 2: 3 numbers",
		"1 2 drei\n":      `line 1: column 3 is "drei"`,
		"1 2 nan\n":       "line 1: column 3 is \"nan\": not finite",
		"5\n1 2 3\n":      "says that it has 5 points, and there are 1",
		"1 2 3\n\x00\n":   "this is no text",
		",,,\n":           "want numbers",
		"1 2 3\n4 5 6 x ": "line 2: 4 numbers",
	} {
		if _, err := ReadTable(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// Points of a square of two triangles of areas 1 and 3 and an empty one fall on them as their areas are, and evenly
// within: means and variances of a uniform distribution.
func TestSample(t *testing.T) {
	m := &Mesh{
		Points: []float64{0, 0, 5, 2, 0, 5, 0, 1, 5, 10, 0, 7, 10, 3, 7, 10, 0, 9},
		Faces:  [][3]int32{{0, 0, 1}, {0, 1, 2}, {3, 3, 3}, {3, 4, 5}, {4, 4, 4}},
	}
	const n = 20000
	p, q, err := m.Sample(n, rand.New(rand.NewPCG(1, 2)))
	if err != nil {
		t.Fatal(err)
	}
	first := 0
	var mean [3]float64
	for i := range n {
		x, y, z := p[3*i], p[3*i+1], p[3*i+2]
		if z == 5 {
			first++
			if x < 0 || y < 0 || x/2+y > 1+1e-12 || !slices.Equal(q[3*i:3*i+3], []float64{0, 0, 1}) {
				t.Fatalf("point %g %g %g, normal %v", x, y, z, q[3*i:3*i+3])
			}
			continue
		}
		if x != 10 || y/3+(z-7)/2 > 1+1e-12 || !slices.Equal(q[3*i:3*i+3], []float64{1, 0, 0}) {
			t.Fatalf("point %g %g %g, normal %v", x, y, z, q[3*i:3*i+3])
		}
		mean[1] += y
		mean[2] += z - 7
	}
	// Binomial with 1/4: five standard deviations. The mean of a triangle is its middle; the deviation of a coordinate
	// is a side over √18.
	if got, dev := float64(first)/n, math.Sqrt(0.25*0.75/n); math.Abs(got-0.25) > 5*dev {
		t.Errorf("a share of %g of the points is on a quarter of the area", got)
	}
	rest := float64(n - first)
	if d := mean[1]/rest - 1; math.Abs(d) > 5*3/math.Sqrt(18*rest) {
		t.Errorf("the mean is off by %g", d)
	}
	if d := mean[2]/rest - 2./3; math.Abs(d) > 5*2/math.Sqrt(18*rest) {
		t.Errorf("the mean is off by %g", d)
	}
	again, _, err := m.Sample(n, rand.New(rand.NewPCG(1, 2)))
	if err != nil || !slices.Equal(again, p) {
		t.Error("the same seed gives other points")
	}
	for _, m := range []*Mesh{
		{},
		{Points: []float64{0, 0, 0}},
		{Points: []float64{0, 0, 0}, Faces: [][3]int32{{0, 0, 0}}},
	} {
		if _, _, err := m.Sample(1, rand.New(rand.NewPCG(1, 2))); err == nil {
			t.Errorf("points of %+v", m)
		}
	}
}

// Turning a mesh turns the points that are drawn from it: the draw depends on areas alone, which a rotation by a
// quarter turn keeps to the last bit.
func TestSampleTurns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(3, 8).Draw(t, "points")
		m, turned := &Mesh{}, &Mesh{}
		for range n {
			x, y, z := rapid.Float64Range(-1, 1).Draw(t, "x"), rapid.Float64Range(-1, 1).Draw(t, "y"),
				rapid.Float64Range(-1, 1).Draw(t, "z")
			m.Points, turned.Points = append(m.Points, x, y, z), append(turned.Points, -y, x, z)
		}
		for range rapid.IntRange(1, 6).Draw(t, "faces") {
			var f [3]int32
			for k := range f {
				f[k] = rapid.Int32Range(0, int32(n-1)).Draw(t, "corner")
			}
			m.Faces = append(m.Faces, f)
		}
		turned.Faces = m.Faces
		p, q, err := m.Sample(10, rand.New(rand.NewPCG(3, 4)))
		p2, q2, err2 := turned.Sample(10, rand.New(rand.NewPCG(3, 4)))
		if (err == nil) != (err2 == nil) {
			t.Fatalf("%v, %v", err, err2)
		}
		for i := 0; i < len(p); i += 3 {
			for _, c := range [][2]float64{
				{p2[i], -p[i+1]},
				{p2[i+1], p[i]},
				{p2[i+2], p[i+2]},
				{q2[i], -q[i+1]},
				{q2[i+1], q[i]},
				{q2[i+2], q[i+2]},
			} {
				if !(math.Abs(c[0]-c[1]) <= 1e-12) {
					t.Fatalf("%g, want %g", c[0], c[1])
				}
			}
		}
	})
}

// sound holds a mesh against what every mesh must be.
func sound(t *testing.T, m *Mesh) {
	t.Helper()
	n := len(m.Points) / 3
	if len(m.Points)%3 != 0 || m.Normals != nil && len(m.Normals) != len(m.Points) {
		t.Fatalf("%d numbers of points, %d of normals", len(m.Points), len(m.Normals))
	}
	for _, x := range slices.Concat(m.Points, m.Normals) {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			t.Fatal("a number is not finite")
		}
	}
	for _, f := range m.Faces {
		for _, c := range f {
			if c < 0 || int(c) >= n {
				t.Fatalf("the corner %d of %d points", c, n)
			}
		}
	}
}

func FuzzReadOFF(f *testing.F) {
	f.Add("OFF490 518 0\n")
	f.Add("OFF\n1 1 0\n0 0 0\n3 0 0 0\n")
	f.Add("NOFF 1 0\n1 2 3 4 5 6\n")
	f.Fuzz(func(t *testing.T, text string) {
		if m, err := ReadOFF(text); err == nil {
			sound(t, m)
		}
	})
}

func FuzzReadOBJ(f *testing.F) {
	f.Add("v 1 2 3\nvn 0 0 1\nf 1//1 -1 1/1 \\\n 1\n")
	f.Fuzz(func(t *testing.T, text string) {
		if m, err := ReadOBJ(text); err == nil {
			sound(t, m)
		}
	})
}

func FuzzReadPLY(f *testing.F) {
	for _, name := range []string{"ascii", "little", "big"} {
		b, err := os.ReadFile("testdata/" + name + ".ply")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if m, err := ReadPLY(b); err == nil {
			sound(t, m)
		}
	})
}

func FuzzReadTable(f *testing.F) {
	f.Add("x,y,z\n1,2,3\n")
	f.Add("2\n1 2 3\n4 5 6\n")
	f.Fuzz(func(t *testing.T, text string) {
		m, err := ReadTable(text)
		if err != nil {
			return
		}
		if m.Width < 1 || len(m.Val) == 0 || len(m.Val)%m.Width != 0 {
			t.Fatalf("%d numbers in rows of %d", len(m.Val), m.Width)
		}
	})
}
