package elementary

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"golang.org/x/sys/cpu"
)

// a function of this package beside that of package math, and the powers of two between which it is tried.
type function struct {
	name     string
	own, std func(float64) float64
	from, to int
}

func functions() []function {
	pick := func(f func(float64) (float64, float64), second bool) func(float64) float64 {
		return func(x float64) float64 {
			a, b := f(x)
			if second {
				return b
			}
			return a
		}
	}
	gamma := func(f func(float64) (float64, int)) func(float64) float64 {
		return func(x float64) float64 {
			l, sign := f(x)
			return l + float64(sign)
		}
	}
	return []function{
		{"Acos", Acos, math.Acos, -30, 1},
		{"Acosh", Acosh, math.Acosh, -3, 40},
		{"Asin", Asin, math.Asin, -30, 1},
		{"Asinh", Asinh, math.Asinh, -40, 40},
		{"Atan", Atan, math.Atan, -40, 60},
		{"Atanh", Atanh, math.Atanh, -30, 1},
		{"Cos", Cos, math.Cos, -30, 70},
		{"Cosh", Cosh, math.Cosh, -30, 10},
		{"Erf", Erf, math.Erf, -60, 5},
		{"Erfc", Erfc, math.Erfc, -60, 6},
		{"Exp", Exp, math.Exp, -60, 11},
		{"Exp2", Exp2, math.Exp2, -60, 11},
		{"Expm1", Expm1, math.Expm1, -60, 11},
		{"Lgamma", gamma(Lgamma), gamma(math.Lgamma), -40, 60},
		{"Log", Log, math.Log, -1000, 1000},
		{"Log10", Log10, math.Log10, -1000, 1000},
		{"Log1p", Log1p, math.Log1p, -60, 60},
		{"Log2", Log2, math.Log2, -1000, 1000},
		{"Sin", Sin, math.Sin, -30, 70},
		{"first of Sincos", pick(Sincos, false), pick(math.Sincos, false), -30, 70},
		{"second of Sincos", pick(Sincos, true), pick(math.Sincos, true), -30, 70},
		{"Sinh", Sinh, math.Sinh, -30, 10},
		{"Tan", Tan, math.Tan, -30, 70},
		{"Tanh", Tanh, math.Tanh, -30, 7},
	}
}

// pairs are the functions of two numbers.
func pairs() map[string][2]func(x, y float64) float64 {
	return map[string][2]func(x, y float64) float64{
		"Atan2": {Atan2, math.Atan2}, "Hypot": {Hypot, math.Hypot}, "Pow": {Pow, math.Pow},
	}
}

// arguments are special numbers, and draws between two powers of two of either sign.
func arguments(from, to, n int) []float64 {
	x := []float64{
		0, math.Copysign(0, -1), 1, -1, 0.5, -0.5, 2, math.Sqrt2 / 2, math.Pi, math.Inf(1), math.Inf(-1),
		math.NaN(), math.MaxFloat64, -math.MaxFloat64, 709.782712893384, 709.7827128933841, -708.5, -745.1, -745.2,
		-746,
	}
	r := rand.New(rand.NewPCG(17, uint64(n)))
	for range n {
		v := math.Ldexp(1+r.Float64(), from+r.IntN(to-from))
		if r.IntN(2) == 0 {
			v = -v
		}
		x = append(x, v)
	}
	return x
}

func same(a, b float64) bool {
	return math.Float64bits(a) == math.Float64bits(b) || math.IsNaN(a) && math.IsNaN(b)
}

// The processor at hand computes package math as the numbers in stored runs were computed, so the two must agree in
// every bit.
func TestElementaryIsPackageMathOfAMD64(t *testing.T) {
	if runtime.GOARCH != "amd64" || !cpu.X86.HasFMA || !cpu.X86.HasAVX {
		t.Skip("package math has other bits here")
	}
	for _, f := range functions() {
		for _, x := range arguments(f.from, f.to, 20_000) {
			if a, b := f.own(x), f.std(x); !same(a, b) {
				t.Errorf("%s(%v): %v (%#x), package math has %v (%#x)", f.name, x, a, math.Float64bits(a), b,
					math.Float64bits(b))
				break
			}
		}
	}
	for name, f := range pairs() {
		xs, ys := arguments(-20, 20, 20_000), arguments(-10, 10, 19_997)
		for i, x := range xs {
			y := ys[(i*31)%len(ys)]
			if name == "Pow" && i%2 == 0 {
				x = math.Abs(x)
			}
			if a, b := f[0](x, y), f[1](x, y); !same(a, b) {
				t.Errorf("%s(%v, %v): %v, package math has %v", name, x, y, a, b)
				break
			}
		}
	}
	a, b := rand.New(rand.NewPCG(1, 2)), rand.New(rand.NewPCG(1, 2))
	for i := range 200_000 {
		if x, y := Normal(a), b.NormFloat64(); x != y {
			t.Fatalf("draw %d: %v, package rand has %v", i, x, y)
		}
	}
}

// On every processor the bits are these.
func TestElementaryIsTheSameEverywhere(t *testing.T) {
	sum := sha256.New()
	add := func(v float64) {
		if math.IsNaN(v) {
			v = math.NaN() // its sign is the processor's
		}
		var b [8]byte
		binary.LittleEndian.PutUint64(b[:], math.Float64bits(v))
		sum.Write(b[:])
	}
	for _, f := range functions() {
		for _, x := range arguments(f.from, f.to, 2000) {
			add(f.own(x))
		}
	}
	for _, name := range []string{"Atan2", "Hypot", "Pow"} {
		xs, ys := arguments(-20, 20, 2000), arguments(-10, 10, 1999)
		for i, x := range xs {
			add(pairs()[name][0](x, ys[(i*31)%len(ys)]))
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		add(Normal(r))
	}
	const want = "fe2230815e8c29a3"
	if got := hex.EncodeToString(sum.Sum(nil)[:8]); got != want {
		t.Errorf("the digest of the results is %s on %s, expected %s", got, runtime.GOARCH, want)
	}
}

func BenchmarkExp(b *testing.B) {
	for name, f := range map[string]func(float64) float64{"own": Exp, "std": math.Exp} {
		b.Run(name, func(b *testing.B) {
			s := 0.0
			for i := range b.N {
				s += f(float64(i%100) * 0.1)
			}
			_ = s
		})
	}
}

func BenchmarkSincos(b *testing.B) {
	for name, f := range map[string]func(float64) (float64, float64){"own": Sincos, "std": math.Sincos} {
		b.Run(name, func(b *testing.B) {
			s := 0.0
			for i := range b.N {
				v, w := f(float64(i%100) * 0.1)
				s += v + w
			}
			_ = s
		})
	}
}
