package workload

import (
	"context"
	"errors"
	"fmt"
	"os"

	"nero/data/dataset"
	"nero/model/decode"
	"nero/run/job"
)

// usualSize gives a study the resize that networks of photos are usually tested with, where it says nothing of it: the
// models read one size, and the photos of a folder have others. The shorter side gets 256/224 of the model's and the
// middle is kept, which for 224 x 224 is what torchvision, timm and the papers on ImageNet do. It says what it did; ""
// for nothing. What is wrong with data or models is left to those who open them.
func usualSize(ctx context.Context, s *job.Study, o Options) string {
	d := &s.Data
	switch {
	case len(s.Models) == 0, d.Format != "" && d.Format != "folder", len(s.Group.Window) > 0, d.Zoom != 0,
		len(d.Fit) > 0, len(d.Cut.Size) > 0, !zero(d.Resize), d.Targets != "" && d.Targets != none:
		return ""
	}
	if i, err := os.Stat(d.Images); err != nil || !i.IsDir() {
		return ""
	}
	ds, err := OpenData(s, o.Formats)
	var sizes *dataset.SizesError
	var have string
	var h, w int
	switch {
	case errors.As(err, &sizes):
		have = fmt.Sprintf("the %d photos have %d sizes", sizes.Pictures, sizes.Sizes)
	case err != nil:
		return ""
	default:
		frames, _, height, width, pictures := ds.Info().Space.Pictures()
		if !pictures || frames > 0 || ds.Info().Target.Kind != "" {
			return ""
		}
		h, w = height, width
		have = fmt.Sprintf("the photos have %d x %d pixels", w, h)
	}
	f, err := (&Workload{Study: s, opened: map[string]*loaded{}, kinds: o.Kinds}).readFile(ctx, s.Models[0], o)
	if err != nil {
		return ""
	}
	toH, toW, fixed := decode.Picture(f.signature(), s.Input.Layout)
	if !fixed || toH == h && toW == w {
		return ""
	}
	short := decode.Short(toH, toW)
	d.Resize = job.Resize{Short: short, Crop: []int{toH, toW}}
	return fmt.Sprintf("%s and the model reads %d x %d: the shorter side of each is resized to %d and the middle "+
		"%d x %d is kept, as networks of photos are usually tested; say --resize short=%d,crop=%dx%d to confirm it, "+
		"or stretch=%dx%d or letterbox=%dx%d in its place (data.resize in a study; height x width)", have, toW, toH,
		short, toW, toH, short, toH, toW, toH, toW, toH, toW)
}

func zero(r job.Resize) bool {
	return r.Short == 0 && len(r.Crop) == 0 && len(r.Stretch) == 0 && len(r.Letterbox) == 0 && r.Fill == 0 &&
		r.Kernel == "" && !r.Plain
}
