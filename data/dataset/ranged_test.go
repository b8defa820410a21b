package dataset

import "testing"

func TestMax(t *testing.T) {
	for file, want := range map[string]float64{
		"nhw-b-u1.npy": 255, "nhw-le-u2.npy": 65535, "nhw-be-u2.npy": 65535, "nhw-le-f4.npy": 0, "nhw-le-i2.npy": 0,
		"stored.npz": 255, "grey.png": 255, "grey16.png": 65535, "palette.png": 255,
	} {
		ds, err := Open(Spec{Images: "testdata/" + file})
		if err != nil {
			t.Fatal(err)
		}
		view, err := Subset(ds, []int{0})
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range []Dataset{ds, view} {
			if d.Info().Max != want {
				t.Errorf("%s as %T: want the largest value %v", file, d, want)
			}
		}
	}
}
