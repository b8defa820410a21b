package workload

import (
	"context"
	"errors"
	"fmt"
	"os"

	"nero/data/dataset"
	"nero/model/decode"
	"nero/model/onnx"
	"nero/run/job"
	"nero/run/preset"
)

// feed fills in what a study takes from a preset, and says what that is; "" if it names none.
func feed(s *job.Study, o Options) (string, error) {
	if s.Data.Preset == "" {
		return "", nil
	}
	known := o.Presets
	if known == nil {
		known = preset.Builtin()
	}
	p, err := known.Find(s.Data.Preset)
	if err != nil {
		return "", s.Errorf("data.preset", "%v", err)
	}
	i, err := os.Stat(s.Data.Images)
	photos := err == nil && i.IsDir() || dataset.IsImage(s.Data.Images) || s.Data.Views != ""
	if f := o.formats().Find(s.Data.Format); s.Data.Format != "" {
		photos = photos && f != nil && f.Takes(dataset.WithOrient) // which is for photos alone
	}
	return p.Lay(s, photos), nil
}

// formats are those that data may have.
func (o Options) formats() dataset.Formats {
	if o.Formats == nil {
		return Formats()
	}
	return o.Formats
}

// usualSize gives a study the resize that networks of photos are usually tested with, where it says nothing of it: the
// models read one size, and the photos of a folder have others. The shorter side gets 256/224 of the model's and the
// middle is kept, which for 224 x 224 is what torchvision, timm and the papers on ImageNet do. It says what it did; ""
// for nothing. What is wrong with data or models is left to those who open them.
// Where the first model is no file, it returns that, opened, or why it could not be: it is not asked for a second time.
func usualSize(ctx context.Context, s *job.Study, o Options) (note string, first elsewhere, wrong error) {
	d := &s.Data
	f := o.formats().Find(d.Format)
	masked := f != nil && f.Takes(dataset.WithMasks) || d.Format == "" && dataSpec(s).Pixels
	plain := d.Format == "" || d.Format == "folder"
	switch {
	case len(s.Models) == 0, !plain && !masked, len(s.Group.Window) > 0, d.Zoom != 0,
		len(d.Fit) > 0, len(d.Cut.Size) > 0, !zero(d.Resize), d.Targets != "" && d.Targets != job.Nothing && !masked:
		return "", nil, nil
	}
	if i, err := os.Stat(d.Images); d.Views == "" && (err != nil || !i.IsDir()) {
		return "", nil, nil //nolint:nilerr // said where the data are opened
	}
	ds, err := OpenData(s, o.Formats)
	var sizes *dataset.SizesError
	var have string
	var h, w int
	switch {
	case errors.As(err, &sizes):
		have = fmt.Sprintf("the %d photos have %d sizes", sizes.Pictures, sizes.Sizes)
	case err != nil:
		return "", nil, nil //nolint:nilerr // said where the data are opened
	default:
		frames, _, height, width, pictures := ds.Info().Space.Pictures()
		t := ds.Info().Target.Kind
		if k := t.Info(); !pictures || frames > 0 || t != "" && (k == nil || !k.Labelled) {
			return "", nil, nil
		}
		h, w = height, width
		have = fmt.Sprintf("the photos have %d x %d pixels", w, h)
	}
	model, err := (&Workload{Study: s, opened: map[string]*loaded{}, kinds: o.Kinds}).readFile(ctx, s.Models[0], o)
	if err != nil {
		if s.Models[0].IsFile() {
			err = nil // it is read again
		}
		return "", nil, err
	}
	first = model.away
	toH, toW, fixed := decode.Picture(model.signature(), s.Input.Layout)
	// Where a model asks for pictures that nobody has, what refuses it names the model.
	if !fixed || toH == h && toW == w || max(toH, toW) > mostSide {
		return "", first, nil
	}
	short := decode.Short(toH, toW)
	d.Resize = job.Resize{Short: short, Crop: []int{toH, toW}}
	resize := func(value, literal string) string { return o.say("resize", value, literal) }
	flags := resize(fmt.Sprintf("short=%d,crop=%dx%d", short, toH, toW),
		fmt.Sprintf(`{"short": %d, "crop": [%d, %d]}`, short, toH, toW))
	if d.Margin == "" && !masked && d.Views == "" { // masks read job.Nothing
		d.Margin = job.MarginAuto
		flags += " " + o.say("margin", "auto", `"auto"`)
	}
	letterbox := fmt.Sprintf("letterbox=%dx%d", toH, toW)
	if o.Say != nil { // the flag is named once
		letterbox = resize(letterbox, fmt.Sprintf(`{"letterbox": [%d, %d]}`, toH, toW))
	}
	return fmt.Sprintf("%s and the model reads %d x %d: the shorter side of each is resized to %d and the middle "+
		"%d x %d is kept, as networks of photos are usually tested; say %s to confirm it, "+
		"or %s or %s in its place (data.resize in a study; height x width)", have, toW, toH, short, toW, toH, flags,
		resize(fmt.Sprintf("stretch=%dx%d", toH, toW), fmt.Sprintf(`{"stretch": [%d, %d]}`, toH, toW)),
		letterbox), first, nil
}

// say is an option as users write it.
func (o Options) say(name, value, literal string) string {
	switch {
	case o.Say != nil:
		return o.Say(name, value, literal)
	case value == "":
		return "--" + name
	}
	return "--" + name + " " + value
}

// Propose fills in what a study leaves open of the size of its photos, as [Open] does, and says what they are and what
// was chosen; "" where the data needs nothing, or is for whoever runs the study to refuse for other reasons.
func Propose(ctx context.Context, s *job.Study, o Options) (string, error) {
	if _, err := feed(s, o); err != nil {
		return "", err
	}
	note, first, _ := usualSize(ctx, s, o) // models are for whoever runs the study to refuse
	if first != nil {
		_ = first.Close() // nothing was asked of it
	}
	if note != "" {
		return note, nil
	}
	if _, err := OpenData(s, o.Formats); err != nil {
		return "", s.Errorf("data", "%v", err)
	}
	return "", nil
}

// fitting says of photos of different sizes which size the first model asks for, where its file says.
func (w *Workload) fitting(err error) error {
	var sizes *dataset.SizesError
	if s := w.Study; errors.As(err, &sizes) && len(s.Models) > 0 && s.Models[0].IsFile() {
		if m, bad := onnx.Read(s.Models[0].ONNX); bad == nil {
			if h, wd, fixed := decode.Picture(m.Signature(), s.Input.Layout); fixed && max(h, wd) <= mostSide {
				return sizes.For(h, wd, decode.Short(h, wd))
			}
		}
	}
	return err
}

// mostSide is the longest side that photos are brought to.
const mostSide = 1 << 16

func zero(r job.Resize) bool {
	return r.Short == 0 && len(r.Crop) == 0 && len(r.Stretch) == 0 && len(r.Letterbox) == 0 && r.Fill == 0 &&
		r.Kernel == "" && !r.Plain
}
