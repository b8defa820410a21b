package probe

import (
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"nero/data/space"
	"nero/run/job"
	"nero/run/workload"
	"nero/symmetry/action"
)

// taskStudy is one of the studies that come with the program, cut down.
func taskStudy(t *testing.T, name string) *job.Study {
	t.Helper()
	dir := filepath.Join("..", "..", "studies", name)
	b, err := os.ReadFile(filepath.Join(dir, "demo.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := job.ParseStudy("demo.yaml", b)
	if err != nil {
		t.Fatal(err)
	}
	s.Resolve(dir)
	return s
}

// Detectors and flows answer at stored elements what their rows say, against the data, themselves and their consensus;
// and what boxes and fields are compared with lies in the frame of the element.
func TestStoredTasks(t *testing.T) {
	if testing.Short() || raceEnabled {
		t.Skip("runs real models")
	}
	e := ortEngine(t, "native")
	for name, cut := range map[string]func(*job.Study){
		"cells": func(s *job.Study) {
			s.Data.Limit, s.Group.Orbit = 2, job.Orbit{Values: [][]float64{{0, 0}, {-8, 16}, {24, -4}, {3, 5}}}
		},
		"flow": func(s *job.Study) {
			s.Data.Particles.Count, s.Data.Limit = 1, 1
			s.Group.Orbit = job.Orbit{Values: [][]float64{{0, 0, 0}, {90, 1, 1}, {180, 0, 0}}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			st := taskStudy(t, name)
			cut(st)
			w := open(t, st, e)
			r := stored(t, w)
			s, err := OpenRun(t.Context(), r, workload.Options{Engine: e, Rules: action.Rules()}, Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close() //nolint:errcheck // nothing is written
			if st := s.Status(); !st.Inputs.On || !st.Live() {
				t.Fatalf("status %+v", st)
			}
			one := w.Group().Identity()
			for i := range r.Job().Count {
				for m := range r.Job().Models {
					// The consensus is found in the background.
					for end := time.Now().Add(time.Minute); ; {
						p, err := s.At(t.Context(), i, one, []int{m})
						if err != nil {
							t.Fatal(err)
						}
						if !math.IsNaN(p.Results[0].Support) {
							break
						}
						if time.Now().After(end) {
							t.Fatal("no consensus came")
						}
					}
				}
			}
			largest, differ, all := against(t, r, s, 1e-4)
			t.Logf("%d of %d values differ from their rows, by at most %.2g", differ, all, largest)
			g := r.Job().Elements[1]
			p, err := s.At(t.Context(), 0, g, nil)
			if err != nil {
				t.Fatal(err)
			}
			sc, err := s.Scene(t.Context(), 0)
			if err != nil {
				t.Fatal(err)
			}
			switch name {
			case "cells":
				at, err := s.At(t.Context(), 0, one, []int{0})
				if err != nil {
					t.Fatal(err)
				}
				a := at.Target.(*space.Boxes).Items[0] //nolint:errcheck // the data are boxes
				b := p.Target.(*space.Boxes).Items[0]  //nolint:errcheck // the data are boxes
				x, y := a.Center()
				if u, v := b.Center(); !b.Cut && !a.Cut && (math.Abs(u-x-g[0]) > 1e-9 || math.Abs(v-y-g[1]) > 1e-9) {
					t.Errorf("the key object went from %v, %v to %v, %v under %v", x, y, u, v, g)
				}
				// What the window shows is that part of the picture.
				m := p.Value.(*space.Image)    //nolint:errcheck // the data are pictures
				all := sc.Value.(*space.Image) //nolint:errcheck // the data are pictures
				if len(sc.Window) != 4 || sc.Window[2] != m.W || sc.Window[3] != m.H {
					t.Fatalf("window %v over %d x %d", sc.Window, all.W, all.H)
				}
				left, top := sc.Window[0]-int(g[0]), sc.Window[1]-int(g[1])
				for k, v := range m.Plane(1) {
					if want := all.Plane(1)[(top+k/m.W)*all.W+left+k%m.W]; v != want {
						t.Fatalf("pixel %d of the window is %v, the picture has %v there", k, v, want)
					}
				}
			case "flow":
				if _, ok := p.Value.(*space.Frames); !ok || sc.Window != nil {
					t.Errorf("the input is %T, window %v", p.Value, sc.Window)
				}
				for _, r := range p.Results {
					for what, v := range map[string]space.Value{
						"answer": r.Output, "own answer": r.Moved,
						"consensus": r.Consensus, "target": p.Target,
					} {
						if f, ok := v.(*space.Field); !ok || f.H != 256 || f.W != 256 {
							t.Errorf("%s of model %d: %T", what, r.Model, v)
						}
					}
				}
			}
		})
	}
}
