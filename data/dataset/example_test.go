package dataset_test

import (
	"bytes"
	"fmt"
	"testing/fstest"

	"nero/data/dataset"
	"nero/data/space"
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

// Two photos of blood cells: a piece around every cell that has its surroundings in the photo.
func ExampleOpen_cut() {
	ds, err := dataset.Open(dataset.Spec{
		Images:  "testdata/bccd",
		Classes: []string{"RBC", "WBC", "Platelets"},
		Zoom:    0.7,
		Cut:     dataset.Cut{Size: [2]int{256, 256}, Window: [2]int{128, 128}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	s, err := ds.Sample(0)
	if err != nil {
		fmt.Println(err)
		return
	}
	boxes, ok := s.Target.(*space.Boxes)
	if !ok {
		return
	}
	x, y := boxes.Items[0].Center()
	fmt.Printf("%d cells\n%s %v: %d boxes, the key object's centre is (%.1f, %.1f)\n", ds.Len(), s.ID, s.Tags,
		len(boxes.Items), x, y)
	// Output:
	// 4 cells
	// BloodImage_00001#11 [RBC]: 16 boxes, the key object's centre is (127.6, 128.1)
}
