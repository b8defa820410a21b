//go:build slow

package e2e

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestSpeedTargets takes the times that the interface has targets for and prints the rows of docs/BENCHMARKS.md's
// table, see bench/page. Nothing is compared with the targets: on a machine that does other work the figures say
// nothing.
func TestSpeedTargets(t *testing.T) {
	chromium(t)
	bin, digits := program(t)
	rounds := number(t, "NERO_SPEED_ROUNDS", 5)
	var rows strings.Builder
	row := func(what, target, format string, args ...any) {
		fmt.Fprintf(&rows, "| %s | %s | %s | `bench/page` |\n", what, target, fmt.Sprintf(format, args...))
	}

	// The size is that of a study with eleven metrics.
	made := filepath.Join(t.TempDir(), "made")
	makeRun(t, made, 3000, 3, "confidence", "accuracy", "cross_entropy", "margin", "top2", "absolute", "max_absolute",
		"relative", "kl", "agreement", "flip")
	var first, curve, everything []float64
	for k := range rounds {
		t.Run(fmt.Sprint("open ", k), func(t *testing.T) {
			s := watched(t, bin, "--no-live", made)
			p := fast(t, at(s.address, "/run/made?v=1"))
			paints := eval[map[string]float64](p, `__speed.paints`)
			first, curve = append(first, paints["first-contentful-paint"]), append(curve, paints["aggregate"])
			p.until(`!__nero.state.data.samples.state.value.busy`)
			everything = append(everything, eval[float64](p, `performance.now()`))
		})
	}
	row("3,000 × 72 × 3 × 11, new server: first paint; first curve; everything", "first curve ≤ 1 s",
		"%.0f; %.0f; %.0f ms", median(first), median(curve), median(everything))

	t.Run("drag", func(t *testing.T) {
		s := watched(t, bin, "--no-live", made)
		p := rested(t, at(s.address, "/run/made?v=1"))
		var frames []float64
		for range rounds {
			frames = append(frames, speedDrag(t, p, "3,000 stored").Frames...)
		}
		row("the same: frames while the needle is dragged, by median and 95th percentile of the time between",
			"60 a second", "%.0f and %.0f a second", 1000/median(frames), 1000/high(frames))
	})

	t.Run("digits", func(t *testing.T) {
		s := watched(t, bin, digits)
		p := fast(t, at(s.address, "/run/run?v=1&i=6&g=0"))
		p.until(`__nero.state.place.canProbe.value && __nero.lastAnswer > 0`)
		var live, frames []float64
		for range rounds {
			d := speedDrag(t, p, "digits, live")
			live, frames = append(live, d.Live...), append(frames, d.Frames...)
		}
		row("digits, live: from the pointer to the painted answer, median and 95th percentile; frames a second",
			"≤ 30 ms", "%.0f and %.0f ms; %.0f", median(live), high(live), 1000/median(frames))
	})

	t.Run("cells", func(t *testing.T) {
		dir := t.TempDir()
		file, err := filepath.Abs(filepath.Join("..", "studies", "cells", "demo.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		command(t, dir, "run", "-q", file, "--limit", "1", "-o", "cells")
		s := watched(t, bin, filepath.Join(dir, "cells"))
		look := desktop
		look.script = speedProbe
		p := open(t, at(s.address, "/run/cells?v=1&g=0,0"), look)
		p.until(`document.querySelector('#individual [role=application]') !== null`)
		p.live()
		var live, frames []float64
		for range rounds {
			// The whole way round at two radii, so that most places are between those of the plan.
			var points [][2]float64
			for k := range 121 {
				a := 2 * math.Pi * float64(k) / 120
				r := 0.05 + 0.1*float64(k)/120
				points = append(points, [2]float64{0.5 + r*math.Cos(a), 0.5 + r*math.Sin(a)})
			}
			d := dragAlong(t, p, "cells, live", window+" .stage", points)
			live, frames = append(live, d.Live...), append(frames, d.Frames...)
		}
		row("cells, live: the same while the window is dragged", "≤ 80 ms", "%.0f and %.0f ms; %.0f", median(live),
			high(live), 1000/median(frames))
	})

	fmt.Fprintf(os.Stdout, "\n%d cores, load %s, medians of %d rounds\n\n| what | target | measured | command |\n"+
		"| --- | --- | --- | --- |\n%s", runtime.NumCPU(), load(), rounds, rows.String())
}
