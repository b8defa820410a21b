package app_test

import (
	"math"
	"path/filepath"
	"strings"
	"testing"

	"nero/app"
	"nero/internal/outside"
	"nero/run/store"
)

// The built-in studies of digits and of cells answer on OpenVINO what they answer on the processor of the same library,
// up to the rounding floor that an audit measures there, and the curves of runs agree as far.
func TestStudiesOnOpenVINO(t *testing.T) { studiesOn(t, outside.OpenVINO, "openvino") }

func TestStudiesOnCUDA(t *testing.T) { studiesOn(t, outside.CUDA, "cuda") }

func studiesOn(t *testing.T, variable, name string) {
	t.Helper()
	lib := outside.Named(t, variable)
	on := func(place string) app.Engine {
		return app.Engine{Kind: "native", Library: lib, Providers: []string{place}}
	}
	for _, study := range []string{"digits", "cells"} {
		t.Run(study, func(t *testing.T) {
			file := filepath.Join("..", "studies", study, "demo.yaml")
			a := &app.App{}
			s, err := a.OpenStudy(file)
			if err != nil {
				t.Fatal(err)
			}
			s.Data.Limit = 6
			s.Audit.Checks, s.Audit.Samples, s.Audit.Elements = []string{"lattice", "engines"}, 6, 24
			r, err := a.Audit(t.Context(), s, app.AuditOptions{Engine: on(name), Workers: 2})
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range r.Reports {
				on := ""
				for _, fact := range m.About {
					if fact.Name == "provider" {
						on = fact.Value
					}
				}
				if !strings.HasPrefix(on, name) {
					t.Errorf("%s: the audit says that it ran on %q", m.Model, on)
				}
				floor, apart := 0.0, math.NaN()
				for _, set := range m.Sets() {
					floor = max(floor, m.Policy.RoundingFactor*set.Floors.Rounding)
				}
				for _, c := range m.Results {
					for _, x := range c.Measures {
						if strings.HasPrefix(x.Name, "outputs of both engines") {
							apart = x.Value
						}
					}
				}
				if !(apart <= floor) {
					t.Errorf("%s: answers differ by %g of the scale, the rounding floor is %g", m.Model, apart, floor)
				}
				t.Logf("%s: answers differ by %.2g of the scale, the rounding floor is %.2g", m.Model, apart, floor)
			}

			curves := func(place string) [][]float32 {
				s, err := a.OpenStudy(file)
				if err != nil {
					t.Fatal(err)
				}
				s.Data.Limit = 3
				dir := t.TempDir()
				_, err = a.Run(t.Context(), s, app.RunOptions{Engine: on(place), Dir: dir, Workers: 2})
				if err != nil {
					t.Fatal(err)
				}
				run, err := store.Open(dir)
				if err != nil {
					t.Fatal(err)
				}
				defer run.Close() //nolint:errcheck // only read
				var all [][]float32
				for row, err := range run.Rows(store.Filter{}) {
					if err != nil {
						t.Fatal(err)
					}
					all = append(all, row.Curves...)
				}
				return all
			}
			here, there := curves("cpu"), curves(name)
			if len(here) != len(there) || len(here) == 0 {
				t.Fatalf("%d and %d curves", len(here), len(there))
			}
			cells, far := 0, 0
			for i := range here {
				for k := range here[i] {
					cells++
					if d := here[i][k] - there[i][k]; d > 1e-3 || d < -1e-3 {
						far++
					}
				}
			}
			// A score that stands at a limit may fall on its other side.
			if far*200 > cells {
				t.Errorf("%d of %d values of the curves differ by more than 0.001", far, cells)
			}
			t.Logf("%d of %d values of the curves differ by more than 0.001", far, cells)
		})
	}
}
