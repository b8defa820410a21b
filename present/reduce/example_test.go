package reduce_test

import (
	"context"
	"fmt"
	"math"

	"nero/present/reduce"
)

// Curves that differ in their level and in how they respond to a turn need two axes.
func ExampleReduce() {
	const samples, angles = 40, 72
	curves := make([]float32, 0, samples*angles)
	for i := range samples {
		level, swing := float64(i%8)/10, float64(i/8)/20
		for j := range angles {
			curves = append(curves, float32(level+swing*math.Cos(2*math.Pi*float64(j)/angles)))
		}
	}
	x, err := reduce.NewDense(samples, angles, curves)
	if err != nil {
		fmt.Println(err)
		return
	}
	e, err := reduce.Reduce(context.Background(), reduce.PCA, x, reduce.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(e.Axes[0])
	fmt.Println(e.Axes[1])
	fmt.Printf("sample 39 is at (%.2f, %.2f)\n", e.XY[78], e.XY[79])
	// Output:
	// first principal component (95 % of the variance)
	// second principal component (4.5 % of the variance)
	// sample 39 is at (2.97, 0.60)
}

func ExampleMethods() {
	for _, m := range reduce.Methods() {
		fmt.Println(m.Method, "-", m.Title)
		for _, p := range m.Params {
			fmt.Printf("  %s %g (%g to %g): %s\n", p.Name, p.Preset, p.Min, p.Max, p.Doc)
		}
	}
	// Output:
	// pca - Principal components (PCA)
	// ica - Independent components (ICA)
	// isomap - Isomap
	//   Neighbors 5 (2 to 100): Nearest other rows that each row is linked with.
	// tsne - t-SNE
	//   Perplexity 30 (2 to 100): About how many rows count as near; at most a third of the other rows.
	// umap - UMAP
	//   Neighbors 5 (2 to 100): Nearest other rows that each row is linked with.
	//   MinDist 0.3 (0.001 to 0.99): How close the dots of a group are drawn: small for tight groups, in units of the plane.
}
