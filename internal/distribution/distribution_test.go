package distribution

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"golang.org/x/sys/cpu"
	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat/distuv"
)

// results are the functions of this package, and those of Gonum, of drawn arguments.
func results(n int, use func(name string, own, gonum float64)) {
	r := rand.New(rand.NewPCG(3, 5))
	for range n {
		p := r.Float64()
		if r.IntN(3) == 0 {
			p = math.Ldexp(p, -r.IntN(60))
		}
		a, b := 0.5+float64(r.IntN(400))/2, 0.5+float64(r.IntN(400))/2
		nu, x := 1+float64(r.IntN(200)), 10*(r.Float64()-0.5)
		student := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: nu}
		use("RegIncBeta", RegIncBeta(a, b, p), mathext.RegIncBeta(a, b, p))
		use("InvRegIncBeta", InvRegIncBeta(a, b, p), distuv.Beta{Alpha: a, Beta: b}.Quantile(p))
		use("Lbeta", Lbeta(a, b), mathext.Lbeta(a, b))
		use("NormalCDF", NormalCDF(x), distuv.UnitNormal.CDF(x))
		use("NormalQuantile", NormalQuantile(p), distuv.UnitNormal.Quantile(p))
		use("StudentQuantile", StudentQuantile(nu, p), student.Quantile(p))
		use("StudentSurvival", StudentSurvival(nu, x), student.Survival(x))
	}
}

func TestDistributionIsGonumOfAMD64(t *testing.T) {
	if runtime.GOARCH != "amd64" || !cpu.X86.HasFMA || !cpu.X86.HasAVX {
		t.Skip("Gonum has other bits here")
	}
	results(3000, func(name string, own, gonum float64) {
		if math.Float64bits(own) != math.Float64bits(gonum) {
			t.Errorf("%s: %v, Gonum has %v", name, own, gonum)
		}
	})
}

// On every processor the bits are these.
func TestDistributionIsTheSameEverywhere(t *testing.T) {
	sum := sha256.New()
	results(1000, func(_ string, own, _ float64) {
		var b [8]byte
		binary.LittleEndian.PutUint64(b[:], math.Float64bits(own))
		sum.Write(b[:])
	})
	const want = "c123bb8706755879"
	if got := hex.EncodeToString(sum.Sum(nil)[:8]); got != want {
		t.Errorf("the digest of the results is %s on %s, expected %s", got, runtime.GOARCH, want)
	}
}
