package dataset_test

import (
	"bytes"
	"fmt"
	"testing/fstest"

	"nero/data/dataset"
	"nero/data/tensor"
)

// Six pictures of one pixel, of which two of each class are chosen.
func ExampleSelect() {
	var images, labels bytes.Buffer
	for buf, t := range map[*bytes.Buffer]tensor.Tensor{
		&images: {DType: tensor.Uint8, Shape: []int{6, 1, 1}, Raw: []byte{10, 11, 12, 13, 14, 15}},
		&labels: {DType: tensor.Uint8, Shape: []int{6}, Raw: []byte{0, 0, 0, 1, 1, 1}},
	} {
		if err := dataset.WriteIDX(buf, t); err != nil {
			fmt.Println(err)
			return
		}
	}
	fsys := fstest.MapFS{"images": {Data: images.Bytes()}, "labels": {Data: labels.Bytes()}}

	ds, err := dataset.OpenFS(fsys, dataset.Spec{Images: "images", Labels: "labels"})
	if err != nil {
		fmt.Println(err)
		return
	}
	chosen, err := dataset.Select(ds.Labels(), ds.Len(), 4, true, 7)
	if err != nil {
		fmt.Println(err)
		return
	}
	part, err := dataset.Subset(ds, chosen)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(part.Len(), part.Labels())
	// Output: 4 [0 1 0 1]
}
