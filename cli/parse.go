package cli

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"nero/app"
	"nero/run/job"
)

// parsePort reads NAME, NAME:TYPE, NAME=PORT:TYPE or NAME=PORT:TYPE:PER.
func parsePort(s string) (job.Port, error) {
	parts := strings.Split(s, ":")
	name, port, _ := strings.Cut(parts[0], "=")
	if name == "" || len(parts) > 3 {
		return job.Port{}, errors.New(
			"want NAME:TYPE or NAME=PORT:TYPE:PER, such as positions:positions or forces=F:vectors:node")
	}
	p := job.Port{Name: name, Port: port}
	if len(parts) > 1 {
		p.Type = parts[1]
	}
	if len(parts) > 2 {
		p.Per = parts[2]
	}
	return p, nil
}

// parseSlices reads AXISxANGLE, the degrees between axes and between angles; "" for the usual ones.
func parseSlices(s string) (job.Slices, error) {
	usual := job.UsualSlices()
	o := job.Slices{Axis: usual.Axis, Angle: usual.Angle}
	if s == "" {
		return o, nil
	}
	axis, angle, ok := strings.Cut(s, "x")
	a, err := strconv.ParseFloat(axis, 64)
	b, err2 := strconv.ParseFloat(angle, 64)
	if !ok || err != nil || err2 != nil || !(a > 0) || !(b > 0) {
		return o, errors.New("want degrees between axes and between angles, such as slices:5x15")
	}
	o.Axis, o.Angle = a, b
	return o, nil
}

// parseOrbit reads the short form of an orbit: 72, 9x9, all, lattice, haar:N, even:N, slices, slices:AxB, or values
// "0;90" or "1,0;0,1".
func parseOrbit(s string) (job.Orbit, error) {
	var o job.Orbit
	word, arg, _ := strings.Cut(s, ":")
	count := func() (int, error) {
		n, err := strconv.Atoi(arg)
		if err != nil || n < 1 {
			return 0, fmt.Errorf("want a number of elements, such as %s:100", word)
		}
		return n, nil
	}
	var err error
	switch {
	case s == "all":
		o.All = true
	case s == "lattice":
		o.Lattice = true
	case word == "haar":
		o.Haar, err = count()
	case word == "even":
		o.LowDiscrepancy, err = count()
	case word == "slices":
		o.Slices, err = parseSlices(arg)
	case strings.ContainsAny(s, ";,."):
		for e := range strings.SplitSeq(s, ";") {
			var g []float64
			for c := range strings.SplitSeq(e, ",") {
				v, err := strconv.ParseFloat(strings.TrimSpace(c), 64)
				if err != nil {
					return o, fmt.Errorf("%q is not a coordinate", c)
				}
				g = append(g, v)
			}
			o.Values = append(o.Values, g)
		}
	default:
		for c := range strings.SplitSeq(s, "x") {
			n, err := strconv.Atoi(c)
			if err != nil || n < 1 {
				return o, errors.New(
					"want a number such as 72, a grid such as 9x9, all, lattice, haar:N, even:N, slices, or " +
						"coordinates such as '0;90;180'")
			}
			o.Grid = append(o.Grid, n)
		}
	}
	return o, err
}

// parseRange reads "min:max" per axis, separated by commas.
func parseRange(s string) ([][]float64, error) {
	var r [][]float64
	for axis := range strings.SplitSeq(s, ",") {
		lo, hi, ok := strings.Cut(axis, ":")
		a, err := strconv.ParseFloat(lo, 64)
		b, err2 := strconv.ParseFloat(hi, 64)
		if !ok || err != nil || err2 != nil || !(a < b) {
			return nil, fmt.Errorf("%q: want min:max with min below max", axis)
		}
		r = append(r, []float64{a, b})
	}
	return r, nil
}

// parseEvery reads a number of elements of which one is kept.
func parseEvery(s string) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 {
		return 0, errors.New("want a whole number from 1 on, such as 8 for one element in eight")
	}
	return n, nil
}

// parseContract reads ERROR:RATE or ERROR:RATE:CONFIDENCE; a confidence that is not given is 0, for the default.
func parseContract(s string) (job.Contract, error) {
	wrong := func(why string) (job.Contract, error) {
		return job.Contract{},
			fmt.Errorf("--contract %q: %s; want ERROR:RATE or ERROR:RATE:CONFIDENCE, such as 1e-3:0.05:0.95", s, why)
	}
	words := strings.Split(s, ":")
	if len(words) != 2 && len(words) != 3 {
		return wrong(fmt.Sprintf("%d numbers", len(words)))
	}
	var x [3]float64
	for i, w := range words {
		v, err := strconv.ParseFloat(strings.TrimSpace(w), 64)
		if err != nil {
			return wrong(strconv.Quote(w) + " is not a number")
		}
		x[i] = v
	}
	switch c := (job.Contract{Error: x[0], Rate: x[1], Confidence: x[2]}); {
	case !(c.Error > 0) || c.Error > 1e300:
		return wrong("the error must be above 0")
	case !(0 < c.Rate && c.Rate < 1):
		return wrong("the rate must be above 0 and below 1")
	case len(words) == 3 && !(0 < c.Confidence && c.Confidence < 1):
		return wrong("the confidence must be above 0 and below 1")
	default:
		return c, nil
	}
}

// parsePlace reads SAMPLE@COORDS. A sample may hold an @ itself; the last one counts.
func parsePlace(s string) (app.Place, error) {
	i := strings.LastIndexByte(s, '@')
	if i <= 0 || i == len(s)-1 {
		return app.Place{}, fmt.Errorf("--replay %q: want SAMPLE@COORDINATES, such as 17@90 or 3/017.png@2,-1", s)
	}
	p := app.Place{Sample: s[:i]}
	for c := range strings.SplitSeq(s[i+1:], ",") {
		x, err := strconv.ParseFloat(strings.TrimSpace(c), 64)
		if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
			return app.Place{}, fmt.Errorf(
				"--replay %q: %q is not a coordinate; want numbers separated by commas after the last @", s, c)
		}
		p.At = append(p.At, x)
	}
	return p, nil
}
