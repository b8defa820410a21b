package define_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"nero/symmetry/define"
	"nero/symmetry/group"
	"nero/symmetry/group/catalog"
	"nero/symmetry/group/grouptest"
)

const klein = `
name: Klein
table:
  elements: [a, e, b, c]
  products:
    - [e, a, c, b]
    - [a, e, b, c]
    - [c, b, e, a]
    - [b, c, a, e]
  representations:
    plane:
      e: [[1, 0], [0, 1]]
      a: [[-1, 0], [0, 1]]
      b: [[1, 0], [0, -1]]
      c: [[-1, 0], [0, -1]]
  permutations:
    corners: {e: [0, 1, 2, 3], a: [1, 0, 3, 2], b: [2, 3, 0, 1], c: [3, 2, 1, 0]}
space: plane
rows: corners
`

const triangle = `
name: Triangle
rotations:
  - [[-0.5, -0.866025403784439, 0], [0.866025403784439, -0.5, 0], [0, 0, 1]]
  - [[1, 0, 0], [0, -1, 0], [0, 0, -1]]
`

const so3 = `
name: Turns
lie:
  generators:
    - {name: x, unit: rad, matrix: [[0, 0, 0], [0, 0, -1], [0, 1, 0]]}
    - {name: y, unit: rad, matrix: [[0, 0, 1], [0, 0, 0], [-1, 0, 0]]}
    - {name: z, unit: rad, range: [-0.5, 0.5], matrix: [[0, -1, 0], [1, 0, 0], [0, 0, 0]]}
  representations:
    spinor: # iσ/2 of the Pauli matrices, complex numbers as 2×2 blocks, with the signs that keep the commutators
      - [[0, 0, 0, 0.5], [0, 0, -0.5, 0], [0, 0.5, 0, 0], [-0.5, 0, 0, 0]]
      - [[0, 0, -0.5, 0], [0, 0, 0, -0.5], [0.5, 0, 0, 0], [0, 0.5, 0, 0]]
      - [[0, 0.5, 0, 0], [-0.5, 0, 0, 0], [0, 0, 0, -0.5], [0, 0, 0.5, 0]]
`

func load(tb testing.TB, text string) group.Group {
	tb.Helper()
	g, err := define.Load(context.Background(), strings.NewReader(text), nil)
	if err != nil {
		tb.Fatal(err)
	}
	return g
}

func TestLoadedGroupsKeepTheLaws(t *testing.T) {
	for _, c := range []struct {
		text string
		n    int
	}{
		{klein, 4},
		{triangle, 6},
		{so3, 0},
		{"name: One\nmatrices: [[[1]]]\n", 1},
		{"name: Sign\nmatrices: [[[-1]]]\nspace: matrix\n", 2},
	} {
		g := load(t, c.text)
		grouptest.Check(t, g)
		if o, ok := g.(group.Ordered); c.n > 0 && (!ok || o.Order() != c.n) {
			t.Errorf("%s: expected %d elements", g.Name(), c.n)
		}
		if _, ok := g.(group.Represented); !ok {
			t.Errorf("%s brings no matrices", g.Name())
		}
		es, text, err := group.Preset(g, nil)
		if err != nil || text == "" ||
			!slices.ContainsFunc(es, func(e group.Element) bool { return g.Dist(e, g.Identity()) == 0 }) {
			t.Errorf("%s: %d elements, %q, %v", g.Name(), len(es), text, err)
		}
	}
}

func TestLoadedGroupsAct(t *testing.T) {
	g := load(t, klein)
	for i, want := range []string{"e", "a", "b", "c"} { // the identity first, though it was second
		if got := group.Format(g, group.Element{float64(i)}); got != want {
			t.Errorf("element %d is %s, expected %s", i, got, want)
		}
	}
	s, ok := g.(group.Spatial)
	if !ok || s.Dim() != 2 || !slices.Equal(apply(s, group.Element{1}, []float64{1, 2}), []float64{-1, 2}) {
		t.Error("a mirrors left and right")
	}
	p, ok := g.(group.Permuting)
	if !ok || p.Rows() != 4 || !slices.Equal(p.Permutation(group.Element{2}, 4), []int{2, 3, 0, 1}) {
		t.Error("b exchanges the halves")
	}
	turns := load(t, so3)
	so, ok := turns.(group.Spatial)
	if !ok {
		t.Fatal("turns act on space")
	}
	want, _ := spatial(t, "SO(3)").Motion(group.Element{20, -30, 10})
	got, _ := so.Motion(group.Element{20, -30, 10})
	for i := range want {
		if math.Abs(want[i]-got[i]) > 1e-12 {
			t.Fatalf("%v, expected that of SO(3), %v", got, want)
		}
	}
	// The logarithm of a product is that of SO(3).
	a, b := group.Element{20, -30, 10}, group.Element{5, 40, -25}
	x, y := turns.Mul(a, b), catalog.SO3().Mul(a, b)
	for i := range x {
		if math.Abs(x[i]-y[i]) > 1e-9 {
			t.Errorf("%v, expected %v", x, y)
		}
	}
	if _, ok := turns.(group.Lie); !ok || group.Unreached(turns) == "" {
		t.Error("a Lie group that says what exp does not reach")
	}
}

func TestLoadRefusesWhatIsNoGroup(t *testing.T) {
	table := func(elements, products string) string {
		return "name: X\ntable:\n  elements: " + elements + "\n  products: " + products + "\n"
	}
	for _, c := range []struct{ text, want string }{
		{"", "no name for a group"},
		{"name: D4\nmatrices: [[[1]]]", "name of a group that nero has"},
		{"name: X", "0 definitions"},
		{"name: X\nmatrices: [[[1]]]\nlie: {generators: []}", "2 definitions (matrices, lie)"},
		{"name: X\nmatrixes: [[[1]]]", "unknown field"},
		{"name: X\nmatrices: [[[1, 2]]]", "matrix 1: row 1 has 2 numbers, expected 1"},
		{"name: X\nmatrices: [[[0]]]", "determinant 0"},
		{"name: X\nmatrices: [[[.nan]]]", "finite number"},
		{"name: X\nmatrices: [[[2]]]", "closure fails"},
		{"name: X\nmatrices: [[[0.8, -0.6], [0.6, 0.8]]]", "more than 1024 elements"},
		{
			"name: X\nrotations: [[[1, 0], [0, 1]], [[0, -1.1], [1.1, 0]]]",
			"matrix 2 is no rotation: row 1 has the length 1.1",
		},
		{
			"name: X\nrotations: [[[1, 0], [0, 1]], [[1, 0], [0, -1]]]",
			"matrix 2 is no rotation: its determinant is -1, so its rows are left-handed",
		},
		{"name: X\nrotations: [[[1, 0], [0.6, 0.8]]]", "rows 1 and 2 have the product 0.6"},
		{"name: X\nmatrices: [[[1]]]\nspace: plane", `no representation is called "plane"`},
		{"name: X\nmatrices: [[[-1]]]\nrows: matrix", "expected a permutation"},
		{
			table("[e, a]", "[[e, a], [a, b]]"),
			"closure fails: a∘a is no element of the list (products: row 2, column 2)",
		},
		{table("[e, a]", "[[e, a]]"), "1 rows for 2 elements"},
		{table("[e, a]", "[[e, a], [a]]"), "the row of a has 1 entries"},
		{table("[e, e]", "[[e, e], [e, e]]"), `both called "e"`},
		{table("[e, a]", "[[a, e], [a, e]]"), "identity fails"},
		{table("[e, a]", "[[e, a], [e, a]]"), "identity fails: a∘e is e, expected a (products: row 2, column 1)"},
		{table("[e, a]", "[[e, a], [a, a]]"), "inverses fail: no element h has a∘h = e (products: row 2)"},
		// A Latin square with an identity and inverses that is not associative: the smallest loop, of order 5.
		{
			table("[e, a, b, c, d]",
				"[[e, a, b, c, d], [a, e, c, d, b], [b, d, e, a, c], [c, b, d, e, a], [d, c, a, b, e]]"),
			"associativity fails: (a∘a)∘b is b, but a∘(a∘b) is d",
		},
		{
			strings.Replace(klein, "c: [[-1, 0], [0, -1]]", "c: [[1, 0], [0, 1]]", 1),
			"representation plane is no homomorphism: the matrix of",
		},
		{strings.Replace(klein, "      c: [[-1, 0], [0, -1]]\n", "", 1), "element c is missing"},
		{strings.Replace(klein, "c: [3, 2, 1, 0]", "c: [3, 2, 1, 1]", 1), "c is [3 2 1 1], which is no permutation"},
		{strings.Replace(klein, "c: [3, 2, 1, 0]", "c: [0, 1, 2, 3]", 1), "representation corners is no homomorphism"},
		{strings.Replace(klein, "rows: corners", "rows: plane", 1), "expected a permutation"},
		{"name: X\nlie: {generators: [{name: x, matrix: [[0, 0, 0], [0, 0, -1], [0, 1, 0]]}, {name: y, matrix: [[0, " +
			"0, 1], [0, 0, 0], [-1, 0, 0]]}]}", "not closed: the commutator of x and y leaves the span"},
		{"name: X\nlie: {generators: [{name: x, matrix: [[1]]}, {name: y, matrix: [[2]]}]}", "linearly dependent"},
		{"name: X\nlie: {generators: [{name: x, matrix: [[0]]}]}", "generator x is 0"},
		{"name: X\nlie: {generators: [{name: x, range: [1, 2], matrix: [[1]]}]}", "with 0 between"},
		// Wide ranges of sl(2): products such as diag(-2, -1/2) have no logarithm.
		{
			"name: X\nlie: {generators: [{name: r, range: [-3, 3], matrix: [[0, -1], [1, 0]]}, {name: s, range: [-3, " +
				"3], matrix: [[1, 0], [0, -1]]}, {name: h, range: [-3, 3], matrix: [[0, 1], [1, 0]]}]}",
			"associativity fails",
		},
		{
			strings.Replace(so3, "[[0, 0.5, 0, 0], [-0.5", "[[0, -0.5, 0, 0], [-0.5", 1),
			"representation spinor is none: the commutator of",
		},
		{"name: X\nprogram: {command: [x]}", "no programs are run here"},
		{"name: &a X\nmatrices: [[[1]]]", "line 1 of the file of the group: anchors and aliases"},
		{"name: X\nmatrices:\n  - &a [[1]]\n  - *a", "line 3 of the file of the group: anchors and aliases"},
		{"name: X\nmatrices:\n  - !!seq &a [[1]]", "the file of the group"},
		{"? &a name\n: X\nmatrices: [[[1]]]", "lists inside each other"},
		{"name: X\nmatrices: " + strings.Repeat("[", 40), "lists inside each other"},
		{"name: [", "the file of the group"},
	} {
		g, err := define.Load(t.Context(), strings.NewReader(c.text), nil)
		if err == nil {
			t.Errorf("%q is read as %s, expected the error %q", c.text, g.Name(), c.want)
			continue
		}
		if !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, expected %q", c.text, err, c.want)
		}
	}
	if _, err := define.Load(t.Context(), io.LimitReader(zeros{}, 17<<20), nil); err == nil ||
		!strings.Contains(err.Error(), "larger than 16 MiB") {
		t.Errorf("a large file: %v", err)
	}
}

// Signs of anchors in a quoted name or in a comment are none.
func TestQuotedSigns(t *testing.T) {
	g, err := define.Load(t.Context(), strings.NewReader("# turns & mirrors, *all*\nname: X\ntable:\n"+
		"  elements: [e, 'flip & turn']\n  products: [[e, \" *a\"], [\" *a\", e]]\n"), nil)
	if err == nil || strings.Contains(err.Error(), "anchors") {
		t.Errorf("%v, %v, want that %q is no element", g, err, " *a")
	}
	if _, err := define.Load(t.Context(), strings.NewReader("\ufeff# turns & mirrors\nname: X\ntable:\n"+
		"  elements: [e, 'flip & turn']\n  products: [[e, flip & turn], [\"flip & turn\", e]]\n"), nil); err != nil {
		t.Error(err)
	}
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) { clear(b); return len(b), nil }

// serve answers for the group of two elements; fault changes an answer.
func serve(r io.Reader, w io.Writer, fault string) {
	say := func(line string) { _, _ = io.WriteString(w, line+"\n") } // whoever asked may be gone
	scan := bufio.NewScanner(r)
	for scan.Scan() {
		var q struct {
			Op      string `json:"op"`
			Element int    `json:"element"`
		}
		if json.Unmarshal(scan.Bytes(), &q) != nil || q.Op == "bye" {
			return
		}
		switch {
		case fault == q.Op+" hangs":
			for scan.Scan() { // never answers
			}
			return
		case fault == q.Op+" ends":
			return
		case fault == q.Op+" fails":
			say(`{"error": "out of ideas"}`)
		case fault == q.Op+" babbles":
			say("hello!")
		case fault == q.Op+" errs" && q.Element == 1:
			say(`{"products": [1, 1], "matrix": [[2]]}`)
		case q.Op == "hello":
			say(`{"elements": ["e", "a"], "representations": {"sign": 1}}`)
		case q.Op == "products":
			say([]string{`{"products": [0, 1]}`, `{"products": [1, 0]}`}[q.Element])
		case q.Op == "matrix":
			say([]string{`{"matrix": [[1]]}`, `{"matrix": [[-1]]}`}[q.Element])
		}
	}
}

type pipe struct {
	io.Reader
	io.Writer
	end func()
}

func (p pipe) Close() error { p.end(); return nil }

func starter(fault string) define.Starter {
	return func(ctx context.Context, command []string) (io.ReadWriteCloser, error) {
		if command[0] != "ask" {
			return nil, errors.New("unknown program")
		}
		toIt, fromUs := io.Pipe()
		toUs, fromIt := io.Pipe()
		stop := context.AfterFunc(ctx, func() { _ = errors.Join(toUs.Close(), toIt.Close()) })
		go func() {
			serve(toIt, fromIt, fault)
			_ = errors.Join(fromIt.Close(), toIt.Close())
		}()
		return pipe{toUs, fromUs, func() { stop(); _ = errors.Join(fromUs.Close(), toUs.Close()) }}, nil
	}
}

const asked = "name: Asked\nprogram: {command: [ask], timeout: 0.5}\nspace: sign\n"

func TestGroupsFromPrograms(t *testing.T) {
	g, err := define.Load(t.Context(), strings.NewReader(asked), starter(""))
	if err != nil {
		t.Fatal(err)
	}
	grouptest.Check(t, g)
	if s, ok := g.(group.Spatial); !ok || !slices.Equal(apply(s, group.Element{1}, []float64{3}), []float64{-3}) {
		t.Error("a changes the sign")
	}
	for fault, want := range map[string]string{
		"hello hangs":      "were to come within 500ms",
		"products hangs":   "were to come within 500ms",
		"hello ends":       "ended",
		"matrix ends":      "ended",
		"hello fails":      "out of ideas",
		"products fails":   `{"op":"products","element":0}: out of ideas`,
		"matrix babbles":   "no JSON object",
		"products errs":    "inverses fail",
		"matrix errs":      "no homomorphism",
		"products babbles": "no JSON object",
	} {
		if _, err := define.Load(t.Context(), strings.NewReader(asked), starter(fault)); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, expected %q", fault, err, want)
		}
	}
	for text, want := range map[string]string{
		"name: X\nprogram: {command: [other]}":             "unknown program",
		"name: X\nprogram: {command: [ask], timeout: -1}":  "seconds above 0",
		"name: X\nprogram: {command: [ask], timeout: 1e9}": "600 at most",
	} {
		if _, err := define.Load(t.Context(), strings.NewReader(text), starter("")); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, expected %q", text, err, want)
		}
	}
}

// A program may leave another one behind, which holds its output: nobody waits for that longer than the time limit, and
// it is ended too.
func TestCommandEndsWhatAProgramStarts(t *testing.T) {
	t.Parallel()
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no shell on this platform:", err)
	}
	dir := t.TempDir()
	mark, script := filepath.Join(dir, "mark"), filepath.Join(dir, "script")
	lines := "(sleep 2; echo still here > " + mark + ") &\nsleep 1000\n"
	if err := os.WriteFile(script, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf("name: X\nprogram: {command: [%q, %q], timeout: 1}\n", shell, script)
	begin := time.Now()
	if _, err := define.Load(t.Context(), strings.NewReader(text), define.Command("")); err == nil ||
		!strings.Contains(err.Error(), "within 1s") {
		t.Errorf("a program that leaves another one: %v", err)
	}
	if took := time.Since(begin); took > 30*time.Second {
		t.Errorf("%s until the program was given up, want about a second", took)
	}
	if runtime.GOOS == "windows" {
		return // what a program has started is not ended there
	}
	time.Sleep(time.Until(begin.Add(3 * time.Second)))
	if _, err := os.Stat(mark); err == nil {
		t.Error("what the program had started went on")
	}
}

// This test binary is the program: with the variable set it answers questions and nothing else.
func TestCommandRunsPrograms(t *testing.T) {
	const variable = "NERO_TEST_ANSWERS"
	if fault, ok := os.LookupEnv(variable); ok {
		serve(os.Stdin, os.Stdout, fault)
		os.Exit(0)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	text := func(timeout string) string {
		return fmt.Sprintf("name: Asked\nprogram: {command: [%q, -test.run=TestCommandRunsPrograms], timeout: %s}\n",
			self, timeout)
	}
	t.Setenv(variable, "")
	g, err := define.Load(t.Context(), strings.NewReader(text("60")), define.Command(t.TempDir()))
	if err != nil {
		t.Fatal(err)
	}
	if o, ok := g.(group.Ordered); !ok || o.Order() != 2 {
		t.Errorf("%v", g)
	}
	t.Setenv(variable, "products hangs")
	if _, err := define.Load(t.Context(), strings.NewReader(text("1")), define.Command("")); err == nil ||
		!strings.Contains(err.Error(), "within 1s") {
		t.Errorf("a program that hangs: %v", err)
	}
	if _, err := define.Load(t.Context(), strings.NewReader("name: X\nprogram: {command: [/no/such/program]}"),
		define.Command("")); err == nil || !strings.Contains(err.Error(), "does not start") {
		t.Errorf("a program that is not there: %v", err)
	}
	if _, err := define.Load(t.Context(), strings.NewReader("name: X\nprogram: {command: []}"),
		define.Command("")); err == nil || !strings.Contains(err.Error(), "command is empty") {
		t.Errorf("no program: %v", err)
	}
}

func FuzzLoad(f *testing.F) {
	for _, s := range []string{
		klein, triangle, so3, asked, "name: X\nmatrices: [[[0, 1], [1, 0]]]\nrows: matrix", "{",
		"name: X\nlie: {generators: [{name: x, matrix: [[0, 1], [0, 0]]}]}",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) > 1<<12 {
			return
		}
		g, err := define.Load(t.Context(), strings.NewReader(s), nil)
		if err != nil {
			if g != nil || err.Error() == "" {
				t.Fatalf("%q: %v, %v", s, g, err)
			}
			return
		}
		e := g.Identity()
		if d := g.Dist(g.Mul(e, e), e); d != 0 {
			t.Fatalf("%q: the identity squared is %g off", s, d)
		}
	})
}

func spatial(tb testing.TB, name string) group.Spatial {
	tb.Helper()
	g, err := catalog.Parse(name)
	if err != nil {
		tb.Fatal(err)
	}
	s, ok := g.(group.Spatial)
	if !ok {
		tb.Fatalf("%s does not act on space", name)
	}
	return s
}

func apply(s group.Spatial, e group.Element, p []float64) []float64 {
	a, t := s.Motion(e)
	d := s.Dim()
	out := make([]float64, d)
	for i := range out {
		out[i] = t[i]
		for j := range d {
			out[i] += a[i*d+j] * p[j]
		}
	}
	return out
}
