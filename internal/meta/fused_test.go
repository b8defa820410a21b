package meta

import (
	"bufio"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"nero/internal/slow"
)

// TestProductsAreRounded holds what the compiler makes of this module for arm64 to the rule float64(x*y) + z: nothing
// in it multiplies and adds in one step, which would leave a rounding out that amd64 has, and store other bits there.
// Products by a power of two are left out, for they are exact; so is math.FMA, which says the same everywhere.
func TestProductsAreRounded(t *testing.T) {
	slow.Test(t)
	program := filepath.Join(t.TempDir(), "nero")
	build := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-o", program, "nero/cmd/nero")
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH=arm64")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	dump := exec.CommandContext(t.Context(), "go", "tool", "objdump", "-s", `^nero/`, program)
	out, err := dump.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := dump.Start(); err != nil {
		t.Fatal(err)
	}
	lines := 0
	var f fused
	for s := bufio.NewScanner(out); s.Scan(); lines++ {
		if place := f.next(s.Text()); place != "" {
			t.Errorf("%s: a product is added up before it is rounded, on arm64: write float64(x*y) + z", place)
		}
	}
	if err := dump.Wait(); err != nil {
		t.Fatal(err)
	}
	if lines < 100_000 {
		t.Errorf("%d lines of machine code, expected those of the whole program", lines)
	}
}

// The search finds what it looks for, and lets pass what is exact or asked for.
func TestFusedIsFound(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want string
	}{
		"a product": {"TEXT nero/a.F(SB) nero/a/a.go\n" +
			"  a.go:7\t0x1\t1f420c83\tFMADDD F2, F3, F4, F3\n", "nero/a/a.go:7"},
		"in float32, subtracted": {"TEXT nero/a.F(SB) nero/a/a.go\n" +
			"  b.go:8\t0x1\t1f420c83\tFNMSUBS F2, F3, F4, F3\n", "nero/a/b.go:8"},
		"by one half": {"TEXT nero/a.F(SB) nero/a/a.go\n" +
			"  a.go:7\t0x1\t1e6c1002\tFMOVD $0.5, F2\n  a.go:7\t0x1\t1f420c83\tFMADDD F2, F3, F4, F3\n", ""},
		"by three halves": {"TEXT nero/a.F(SB) nero/a/a.go\n" +
			"  a.go:7\t0x1\t1e6c1002\tFMOVD $1.5, F2\n" +
			"  a.go:7\t0x1\t1f420c83\tFMADDD F2, F3, F4, F3\n", "nero/a/a.go:7"},
		"by a half that was overwritten": {"TEXT nero/a.F(SB) nero/a/a.go\n" +
			"  a.go:7\t0x1\t1e6c1002\tFMOVD $0.5, F2\n  a.go:7\t0x1\t1e6c1002\tFADDD F1, F3, F2\n" +
			"  a.go:7\t0x1\t1f420c83\tFMADDD F2, F3, F4, F3\n", "nero/a/a.go:7"},
		"asked for": {"TEXT nero/internal/elementary.Exp(SB) nero/internal/elementary/exp.go\n" +
			"  exp.go:40\t0x1\t1f420c83\tFMADDD F2, F3, F4, F3\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			var f fused
			var got []string
			for line := range strings.Lines(c.text) {
				if place := f.next(line); place != "" {
					got = append(got, place)
				}
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("%q, expected %q", got, c.want)
			}
		})
	}
}

// fused looks for instructions that multiply and add.
type fused struct {
	// function and folder that the lines belong to
	function, folder string
	// registers that hold a power of two
	exact map[string]bool
}

// asked are functions that call math.FMA, whose result is the same everywhere, and functions that add to a draw between
// 0 and 1: that is a whole number times 2^-53, which is exact.
var asked = map[string]bool{
	"nero/internal/elementary.Exp(SB)": true, "nero/data/tensor.Half(SB)": true,
	"nero/data/mesh.(*Mesh).Sample(SB)": true, "nero/data/particle.Scatter.func1(SB)": true,
	"nero/data/particle.waves(SB)": true, "nero/model/onnx/lint.(*rows).match(SB)": true,
	"nero/serve/handout.strata(SB)": true, "nero/symmetry/group/catalog.space3.Sample(SB)": true,
	"nero/symmetry/action/phantom.Gaussians(SB)": true, "nero/audit/check/controls.projection(SB)": true,
	"nero/audit/check/controls.projection.func1(SB)": true,
}

var (
	instruction = regexp.MustCompile(`^\s+(\S+)\s+0x[0-9a-f]+\s+[0-9a-f]+\s+(\S+)\s*(.*?)\s*$`)
	multiplied  = regexp.MustCompile(`^FN?M(ADD|SUB)[SD]$`)
	constant    = regexp.MustCompile(`^\$(-?[0-9.eE+-]+), (F\d+)$`)
)

// next reads a line and says the place of the instruction in it if that is one.
func (f *fused) next(line string) string {
	if rest, ok := strings.CutPrefix(line, "TEXT "); ok {
		name, file, _ := strings.Cut(strings.TrimSpace(rest), " ")
		*f = fused{name, filepath.ToSlash(filepath.Dir(file)), map[string]bool{}}
		return ""
	}
	m := instruction.FindStringSubmatch(line)
	if m == nil {
		return ""
	}
	op, operands := m[2], strings.Split(m[3], ", ")
	if multiplied.MatchString(op) && len(operands) == 4 {
		// a*b + c into d is written a, c, b, d
		if f.exact[operands[0]] || f.exact[operands[2]] || asked[f.function] {
			delete(f.exact, operands[3])
			return ""
		}
		delete(f.exact, operands[3])
		return fmt.Sprintf("%s/%s", f.folder, m[1])
	}
	if c := constant.FindStringSubmatch(m[3]); c != nil && strings.HasPrefix(op, "FMOV") {
		x, err := strconv.ParseFloat(c[1], 64)
		part, _ := math.Frexp(math.Abs(x))
		f.exact[c[2]] = err == nil && part == 0.5
		return ""
	}
	for _, to := range operands[max(len(operands)-2, 0):] { // two where a pair is loaded
		if strings.HasPrefix(op, "FLDP") || to == operands[len(operands)-1] {
			delete(f.exact, strings.Trim(to, "()"))
		}
	}
	return ""
}
