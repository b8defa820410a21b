package repair

import (
	"fmt"
	"math"
	"strings"

	"nero/audit/document"
	"nero/measure/aggregate"
	"nero/symmetry/group"
)

// Residual is what the average over n equal turns leaves over: how far it lies from the average over all turns of a
// grid, root mean square over the turns and the samples, in units of how much answers differ between samples. Of the
// answer as a function of the angle it is the part whose frequency is a multiple of n: e_n² = 2 Σ |c_mn|² over m ≥ 1,
// with the Fourier coefficients c of the answers (Parseval). Between two random turns the average differs by √2 as
// much.
type Residual struct {
	N     int             `json:"n"`
	Value document.Number `json:"residual"`
	Low   document.Number `json:"low"`
	High  document.Number `json:"high"`
}

// Circle are n equal turns of a group that is a circle, or all of one that is a part of it; false for other groups.
func Circle(g group.Group, n int) ([]group.Element, bool) {
	chart := g.Chart()
	if len(chart) != 1 || !chart[0].Circle() || chart[0].Kind != group.KindTurn {
		return nil, false
	}
	f, ends := g.(group.Finite)
	if ends {
		n = len(f.Elements())
	}
	if n < 2 {
		return nil, false
	}
	out := []group.Element{g.Identity()}
	for k := 1; k < n; k++ {
		out = append(out, g.Mul(group.Element{float64(k) * 360 / float64(n)}, g.Identity()))
	}
	return out, true
}

// Residuals are those of all n that divide the number of turns, for answers at equal turns, moved back; before are
// answers whose spread is the unit. Nil for several outputs.
func (a *Answers) Residuals(before *Answers) []Residual {
	if a.of != nil || a.Bad != nil {
		return nil
	}
	all, unit := len(a.Back), before.Spread()
	var out []Residual
	for n := 1; n < all; n++ {
		if all%n != 0 {
			continue
		}
		var squares aggregate.Moments
		sum, samples := 0.0, len(a.Back[0])
		for i := range samples {
			at := func(from, step int) []float64 { // the mean over turns
				m := make([]float64, len(a.Back[0][i]))
				for k := from; k < all; k += step {
					for j, x := range a.Back[k][i] {
						m[j] += x / float64(all/step)
					}
				}
				return m
			}
			whole, square := at(0, 1), 0.0
			for from := range all / n {
				square += apart(at(from, all/n), whole) / float64(all/n)
			}
			squares.Add(square, i)
			sum += square / float64(samples)
		}
		iv := aggregate.MeanInterval(squares, confidence)
		in := func(x float64) document.Number { return document.Number(math.Sqrt(max(x, 0)) / unit) }
		out = append(out, Residual{N: n, Value: in(sum), Low: in(iv.Low), High: in(iv.High)})
	}
	return out
}

// residuals says what averages over parts of a circle leave over; "" where nobody knows.
func (m *Of) residuals() string {
	if len(m.Residuals) == 0 {
		return ""
	}
	var parts []string
	for _, r := range m.Residuals {
		parts = append(parts, fmt.Sprintf("%d: %s (%s to %s)", r.N, number(r.Value), number(r.Low), number(r.High)))
	}
	return fmt.Sprintf("what the mean over n equal turns leaves over, beside that over %d, before any file is built "+
		"(resampling is part of it): %s", m.Turns, strings.Join(parts, "; "))
}
