package action_test

import (
	"fmt"
	"testing"

	"nero/data/space"
	"nero/symmetry/action"
	"nero/symmetry/group"
	"nero/symmetry/group/catalog"
)

// BenchmarkCut cuts a window from a larger picture: the inner loop of shifts over photos.
func BenchmarkCut(b *testing.B) {
	x := space.NewImage(3, 256, 256)
	copy(x.Pix, noise(1, len(x.Pix)))
	a, err := action.NewImage(catalog.T2(), space.Spec{Kind: space.KindImage, Shape: []int{3, 256, 256}},
		action.Options{Window: []int{128, 128}})
	if err != nil {
		b.Fatal(err)
	}
	for name, g := range map[string]group.Element{"inside": {-64, 37}, "beyond": {90, -90}, "between": {0.5, 0.25}} {
		m, err := a.Prepare(g, x)
		if err != nil {
			b.Fatal(err)
		}
		to := space.NewImage(3, 128, 128)
		b.Run(name+"/move", func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(8 * len(to.Pix)))
			for b.Loop() {
				if err := m.Move(to, x); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+"/prepare", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := a.Prepare(g, x); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkMove(b *testing.B) {
	for _, s := range [][3]int{{1, 28, 28}, {3, 224, 224}} {
		for _, k := range action.Kernels() {
			b.Run(fmt.Sprintf("%dx%dx%d/%s", s[1], s[2], s[0], k), func(b *testing.B) {
				x := space.NewImage(s[0], s[1], s[2])
				copy(x.Pix, noise(1, len(x.Pix)))
				a, err := action.NewImage(plane{}, space.Spec{Kind: space.KindImage, Shape: s[:]},
					action.Options{Kernel: k})
				if err != nil {
					b.Fatal(err)
				}
				m, err := a.Prepare(rot(35), x)
				if err != nil {
					b.Fatal(err)
				}
				to := space.NewImage(s[0], s[1], s[2])
				b.ReportAllocs()
				for b.Loop() {
					if err := m.Move(to, x); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
