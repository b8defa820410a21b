package dataset

import (
	"image/color"
	"reflect"
	"testing"
	"testing/fstest"
)

func TestSurvey(t *testing.T) {
	t.Parallel()
	photo := photoOf(t, 2, 1)
	red, black := color.NRGBA{128, 0, 0, 255}, color.NRGBA{0, 0, 0, 255}
	for name, c := range map[string]struct {
		fs   fstest.MapFS
		want *Survey
	}{
		"photos alone": {fstest.MapFS{"d/a.png": file(photo), "d/b.png": file(photo)}, nil},
		"grey": {
			fstest.MapFS{"d/images/a.png": file(photo), "d/masks/a.png": file(greyMask(t, []uint8{7, 255}))},
			&Survey{Photos: 1, Numbers: []int{7, 255}, Looked: 1},
		},
		"palette": {
			fstest.MapFS{
				"d/JPEGImages/a.png":        file(photo),
				"d/SegmentationClass/a.png": file(palettedMask(t, []uint8{0, 15})),
			},
			&Survey{Photos: 1, Numbers: []int{0, 15}, Looked: 1},
		},
		"colors among the photos": {
			fstest.MapFS{"d/a.png": file(photo), "d/a_mask.png": file(coloredMask(t, []color.NRGBA{red, black}))},
			&Survey{Format: "masks", Photos: 1, Colors: [][]int{{0, 0, 0}, {128, 0, 0}}, Looked: 1},
		},
		"half of the photos have a neighbor called so": {
			fstest.MapFS{"d/a.png": file(photo), "d/a_mask.png": file(photo), "d/b.png": file(photo)}, nil,
		},
		"boxes": {
			fstest.MapFS{"d/a.png": file(photo), "d/i.json": file([]byte(`{"images": [{"id": 1, "file_name": "a.png"}],
				"categories": [{"id": 1, "name": "x"}],
				"annotations": [{"image_id": 1, "category_id": 1, "bbox": [0, 0, 1, 1]}]}`))},
			nil,
		},
	} {
		got, err := surveyMasks(c.fs, "d")
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, %v, want %+v", name, got, err, c.want)
		}
	}
}
