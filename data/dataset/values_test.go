package dataset

import (
	"slices"
	"testing"

	"nero/data/space"
)

// These files belong to the studies of this repository and are opened as a study opens them.
func TestStudyValues(t *testing.T) {
	rows := func(name string, n, w int, typ, per string) space.Spec {
		return space.Spec{Name: name, Kind: space.KindRows, Shape: []int{n, w}, Type: typ, Per: per}
	}
	for _, c := range []struct {
		spec  Spec
		len   int
		value space.Spec
	}{
		{
			Spec{Format: "clouds", Images: "../../studies/clouds/data/test.npz"},
			112,
			rows("points", 1024, 3, "positions", "node"),
		},
		{
			Spec{
				Format: "clouds", Images: "../../studies/planted/data/clouds.npz",
				Fields: []string{"points", "gravity"},
			},
			48,
			space.Spec{Name: "record", Kind: space.KindRecord, Fields: []space.Spec{
				rows("points", 64, 3, "positions", "node"), rows("gravity", 1, 3, "vectors", "sample"),
			}},
		},
		{
			Spec{Format: "graphs", Images: "../../studies/planted/data/matrices.npz"},
			24,
			space.Spec{Name: "matrix", Kind: space.KindPairs, Shape: []int{12, 12, 1}},
		},
		{
			Spec{Format: "signals", Images: "../../studies/planted/data/signals.npz"},
			32,
			space.Spec{Name: "signal", Kind: space.KindSignal, Shape: []int{1, 128}},
		},
		{
			Spec{Format: "pairs", Images: "../../studies/planted/data/frames.npz"},
			24,
			space.Spec{Name: "frames", Kind: space.KindFrames, Shape: []int{8, 1, 16, 16}},
		},
	} {
		ds, err := Open(c.spec)
		if err != nil {
			t.Error(err)
			continue
		}
		if ds.Len() != c.len {
			t.Errorf("%s: %d samples, want %d", c.spec.Images, ds.Len(), c.len)
		}
		got := ds.Info().Space
		if !sameSpec(got, c.value) {
			t.Errorf("%s: %+v, want %+v", c.spec.Images, got, c.value)
		}
		s, err := ds.Sample(3)
		if err != nil {
			t.Error(err)
			continue
		}
		if s.Value.Kind() != c.value.Kind {
			t.Errorf("%s: sample 3 is %s", c.spec.Images, s.Value.Kind())
		}
	}
}

func sameSpec(a, b space.Spec) bool {
	return a.Name == b.Name && a.Kind == b.Kind && a.Type == b.Type && a.Per == b.Per &&
		slices.Equal(a.Shape, b.Shape) && slices.EqualFunc(a.Fields, b.Fields, sameSpec)
}

func TestStudyMolecules(t *testing.T) {
	ds, err := Open(Spec{Format: "molecules", Images: "../../studies/molecules/data/test.xyz"})
	if err != nil {
		t.Fatal(err)
	}
	s, err := ds.Sample(0)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(ds.Len(), ds.IDs()[:5], ds.Info().Space, ds.Info().Target, s.Tags)
	rec, ok := s.Target.(*space.Record)
	if !ok || !slices.Equal(rec.Names, []string{"energy", "forces"}) {
		t.Fatalf("target %+v", s.Target)
	}
}

// Every sample of the studies can be read and is as it was announced.
func TestStudySamples(t *testing.T) {
	for _, spec := range []Spec{
		{Format: "clouds", Images: "../../studies/clouds/data/test.npz", Cloud: Cloud{Points: 512}},
		{
			Format: "molecules", Images: "../../studies/molecules/data/test.xyz",
			Elements: []string{"H", "C", "N", "O", "F", "S"},
		},
		{Format: "graphs", Images: "../../studies/graphs/data/test.npz"},
		{Format: "graphs", Images: "../../studies/graphs/data/sets.npz"},
	} {
		ds, err := Open(spec)
		if err != nil {
			t.Error(err)
			continue
		}
		for i := range ds.Len() {
			s, err := ds.Sample(i)
			if err != nil {
				t.Fatal(err)
			}
			fits(t, s.Value, ds.Info().Space)
			if target := ds.Info().Target; target.Kind != "" {
				fits(t, s.Target, target)
			}
		}
		t.Log(spec.Images, ds.Len(), ds.Info().Space, ds.Info().Target, notesOf(t, ds))
	}
}
