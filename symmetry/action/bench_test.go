package action_test

import (
	"fmt"
	"testing"

	"nero/data/space"
	"nero/symmetry/action"
)

func BenchmarkMove(b *testing.B) {
	for _, s := range [][3]int{{1, 28, 28}, {3, 224, 224}} {
		for _, k := range action.Kernels() {
			b.Run(fmt.Sprintf("%dx%dx%d/%s", s[1], s[2], s[0], k), func(b *testing.B) {
				x := space.NewImage(s[0], s[1], s[2])
				copy(x.Pix, noise(1, len(x.Pix)))
				a, err := action.NewImage(plane{}, space.Spec{Kind: space.KindImage, Shape: s[:]}, action.Options{Kernel: k})
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
