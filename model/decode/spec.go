package decode

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"nero/data/space"
	"nero/data/tensor"
	"nero/model/onnx"
)

// InputSpec says how an image, or a sequence of images, becomes the arrays that a model reads. Pixel v of the model's
// channel c becomes
//
//	(v/Scale - Mean[c]) / Std[c]
//
// computed in float64 and rounded once to the model's element type.
type InputSpec struct {
	// Sample is the shape C, H, W of the data's images, of one frame where a sample has several; a length <= 0, or no
	// shape at all, admits any.
	Sample []int
	// Layout is the order of the model's axes, NCHW or NHWC, where T frames of C channels are T·C channels or an axis
	// of their own before the axes of an image; "" follows the model's shape and leaves a note. NTCHW, NTHWC and NCTHW
	// name five axes exactly.
	Layout string
	// Channels are those that the model wants of an image or frame: "rgb", "bgr" or "grey"; "" takes the data's as they
	// are. It is what turns grey data into three equal channels, and colour data into one: 0.299 R + 0.587 G + 0.114 B
	// (ITU-R BT.601).
	Channels string
	// default 1
	Scale float64
	// Mean is one number for all channels, or one per channel of a frame, or one per channel of the model, in the
	// model's order; default 0.
	Mean []float64
	// likewise, never 0; default 1
	Std []float64
	// Frames is the number T of pictures in a sample, 0 for a single picture, whose value is then an image and no
	// sequence. Frames are fed to one input, one after the other in the order of time, or to one input per frame in the
	// order of Ports.
	Frames int
	// Ports are the names of the inputs, one per frame; nil for the model's only input, or for the model's order if it
	// has as many inputs as there are frames, which leaves a note.
	Ports []string
}

// OutputSpec says what a model returns.
type OutputSpec struct {
	// which output; "" for the first, and for boxes those that are found by their shapes
	Name string
	// scores, image, mask, tensor, embedding, boxes, field, frames, rows (of the sample), pairs or signal; "" for
	// scores
	Space space.Kind
	// Decode turns the array into the value. For scores: "softmax" (default), "probabilities" (checked), "logits" or
	// "raw". For masks: "argmax" over the channels, "threshold" for class 1 where the only channel is above Threshold
	// and class 0 elsewhere, "raw" for labels as they are; the default is argmax if there are channels. For all others:
	// "raw".
	Decode string
	// of decode threshold
	Threshold float64
	// of the space, for tensors: the representation of the channels
	Type string
	// for boxes
	Boxes BoxesSpec
	// for fields
	Field FieldSpec
	// Window is the height and width of what the model sees, in pixels: the frame of its boxes and the size of its
	// field. {0, 0} follows InputSpec.Sample, then the model's input; boxes in units of the window, anchors and
	// clipping need one of them.
	Window [2]int
	// Kinds are those of values beside [space.Kinds], whose numbers are answered as they lie.
	Kinds space.List
	// Within is what counts of an answer, such as its inscribed disc; nil for all of it.
	Within func(space.Value) space.Value
}

// BoxesSpec says how the numbers of a detector become boxes: they are read, measured in pixels of the window, scored,
// held against Limit, sorted by falling score (equal ones in the order of the outputs), suppressed, cut down to Most
// and clipped.
//
// The zero value reads one output of shape [N, n, 6] with x1, y1, x2, y2, score and class in pixels, or two outputs of
// shapes [N, n, 4] and [N, n, classes], or three of boxes, scores and labels, found by their shapes. An empty set is a
// result like any other, and so is a box that is turned inside out or has no area, see [Irregular].
//
// A number that is not finite never disappears: a box whose score is NaN passes the limit, +infinity before an
// activation is a score of NaN (-infinity rules a class out), and a box with any number that is not finite is neither
// suppressed nor suppresses and stands before all others, in the order of the outputs, so that no bound on their number
// removes it while a finite one stays.
type BoxesSpec struct {
	// Parts are the outputs that hold boxes; those of several parts are joined, as of a detector with two strides. nil
	// finds them by their shapes and leaves a note.
	Parts []BoxesPart
	// Columns are the numbers of one box where a part has no output of scores, in their order: "box" (four
	// coordinates), "score" and "label" (class number), "object" (confidence that there is an object, multiplied with
	// the scores), "scores" (one per class), "image" (the number of the sample in its batch, where the boxes of all
	// stand in one list; below 0 for none) and "skip"; what follows is ignored. nil goes by Classes and the number of
	// columns: box score label (6), box scores (4 + classes) or box object scores (5 + classes), and refuses what more
	// than one of them fits.
	Columns []string
	// Form is "xyxy" (two corners, the default), "cxcywh" (centre and size, the default with anchors) or "xywh"
	// (top-left corner and size).
	Form string
	// Swap says that y comes before x.
	Swap bool
	// Unit is "pixel" (of the window, the default) or "unit" (0 to 1 across the window). Boxes from anchors are in
	// pixels.
	Unit string
	// Anchors are where raw offsets are measured from, through all parts in their order; nil for absolute coordinates.
	// See [Anchors].
	Anchors []Anchors
	// Scale divides raw offsets when there are anchors; default 1. A value of 128 says that offsets are in 1/128 of the
	// anchor's size. With a raw x, y, w, h and an anchor of size (aw, ah) about (ax, ay) a box has
	//
	//	centre x = x/Scale·aw + ax,  width = w/SizeScale·aw, or exp(w/SizeScale)·aw with Log
	//
	// and likewise along y, as in TensorFlow's and MediaPipe's box coders.
	Scale float64
	// SizeScale divides raw sizes; default Scale. An SSD with variances 0.1 and 0.2 has Scale 10, SizeScale 5 and Log.
	SizeScale float64
	// Log says that raw sizes are logarithms of the size relative to the anchor's.
	Log bool
	// Activation turns raw scores into confidence: "none" (the default; scores outside 0 to 1 are refused), "sigmoid"
	// or "softmax". The confidence of an object is taken through the sigmoid with either. A box has the class of its
	// best score, the lowest if several tie.
	Activation string
	// Clamp bounds raw scores to ±Clamp before the activation; 0 for none.
	Clamp float64
	// Background is "first" or "last" for the class that means "no object", "" if there is none. It takes part in the
	// softmax and is left out then: class k of a box counts the others. Where the model gives class numbers, boxes of
	// that class are left out likewise.
	Background string
	// Classes is the number of classes without the background; 0 follows the outputs.
	Classes int
	// Limit is the smallest confidence of a box, 0 to 1; 0 for the default 0.05.
	Limit float64
	// Suppress removes boxes of one class that overlap a better one: "hard", "soft" (Gaussian soft-NMS, Bodla et al.
	// 2017: scores are multiplied with exp(-IoU²/Sigma), boxes that fall below Limit are removed), "weighted" (boxes
	// that overlap the best are averaged with their scores as weights, as BlazeFace does) or "none". The default is
	// hard, but none where the model gives class numbers, which it does after a suppression of its own. At most the
	// best 10000 boxes take part; the rest is left out.
	Suppress string
	// IoU above which boxes are suppressed, 0 to 1; default 0.5
	Overlap float64
	// of soft-NMS; default 0.5
	Sigma float64
	// boxes kept at most; default 100
	Most int
	// cut boxes to the window; one that is not finite stays as it is
	Clip bool
}

// BoxesPart names the outputs of one set of boxes, "" for none. The axis of the samples may be missing where the model
// reads one sample at a time, an axis of length 1 beside that of the boxes is ignored, and boxes may stand along the
// last axis in place of the one before.
type BoxesPart struct {
	// [N, n, >=4] coordinates, whose further columns are ignored, or rows of Columns where Scores is ""
	Boxes string
	// [N, n, classes] or [N, n]
	Scores string
	// [N, n] or [N, n, 1]: confidence that there is an object, multiplied with the class scores
	Object string
	// [N, n] class numbers, where Scores holds one score per box; below 0 for no box
	Labels string
}

// Anchors is a grid of places: one every Stride pixels of the window, the first half a stride from the edge, each with
// as many anchors as Sizes lists or, if it is empty, PerCell of the size of the window. They vary fastest within a
// place, then along x, then along y. A window that is no multiple of Stride has one more place along that axis.
type Anchors struct {
	Stride int
	// the first place lies at the edge, not half a stride from it
	Corner bool
	// default 1, or as many as Sizes
	PerCell int
	// width and height in pixels
	Sizes [][2]float64
}

// FieldSpec says how the numbers of a model become a field of the window's size. The zero value reads [N, 2, H, W] or
// [N, H, W, 2] with u, then v, in pixels. Numbers that are not finite are passed on.
type FieldSpec struct {
	// NCHW or NHWC; "" follows the model's shape, NCHW where both fit
	Layout string
	// "uv" (default) or "vu"
	Order string
	// multiplies the numbers; default 1
	Scale float64
	// the model's v points up
	Up bool
}

// Decoding kinds.
const (
	softmax       = "softmax"
	probabilities = "probabilities"
	logits        = "logits"
	raw           = "raw"
	argmax        = "argmax"
	threshold     = "threshold"
)

// axes says where an array keeps the parts of an image or of a sequence of images; -1 for an axis that it has not.
type axes struct {
	name          string
	n, t, c, h, w int
	// all of one sample on axis 1
	flat bool
}

var layouts = []axes{ // the order is that of preference
	{"NCHW", 0, -1, 1, 2, 3, false},
	{"NHWC", 0, -1, 3, 1, 2, false},
	{"NHW", 0, -1, -1, 1, 2, false},
	{"CHW", -1, -1, 0, 1, 2, false},
	{"HWC", -1, -1, 2, 0, 1, false},
	{"NF", 0, -1, -1, -1, -1, true},
	{"HW", -1, -1, -1, 0, 1, false},
	{"NTCHW", 0, 1, 2, 3, 4, false},
	{"NTHWC", 0, 1, 4, 2, 3, false},
	{"NCTHW", 0, 2, 1, 3, 4, false},
	{"TCHW", -1, 0, 1, 2, 3, false},
	{"THWC", -1, 0, 3, 1, 2, false},
}

func (a axes) rank() int {
	if a.flat {
		return 2
	}
	return len(a.name)
}

// last tells whether the channels vary fastest.
func (a axes) last() bool { return strings.HasSuffix(a.name, "HWC") }

// likely is 1 if the channel axis has the length of one, of frames without an axis of their own in their number, else
// 0.
func (a axes) likely(size []int, frames int) int {
	if a.c < 0 {
		return 0
	}
	k := size[a.c]
	if a.t < 0 {
		if k%frames != 0 {
			return 0
		}
		k /= frames
	}
	if k == 1 || k == 3 || k == 4 {
		return 1
	}
	return 0
}

// apart is the number of channels on the channel axis for frames of c channels each.
func (a axes) apart(frames, c int) int {
	if a.t >= 0 || c <= 0 {
		return c
	}
	return frames * c
}

// port is what New learns about one input.
type port struct {
	name  string
	dtype tensor.DType
	axes  axes
	// channels vary fastest
	nhwc bool
	// 0 free, else fixed; 1 without a batch axis
	batch int
	// of one frame, -1 for any
	c, h, w int
	// number of pictures side by side in this input; 1 for an image
	frames int
	notes  []string
}

// readInputs finds the inputs that images or frames are fed to, in the order in which the model lists them where it has
// one per frame.
func readInputs(sig onnx.Signature, in InputSpec) ([]port, error) {
	names := strings.Join(onnx.Names(sig.Inputs), ", ")
	switch {
	case len(sig.Inputs) == 0:
		return nil, errors.New("the model has no input; it returns the same whatever the data")
	case in.Frames == 0 && len(in.Ports) > 0:
		return nil, errors.New("input.ports names an input per frame, but the samples are single images; leave it out")
	case in.Frames == 0 && len(sig.Inputs) > 1:
		return nil, fmt.Errorf(
			"the model has %d inputs (%s); one is fed with images, so the others need values in the file "+
				"(initializers)",
			len(sig.Inputs), names)
	case len(in.Ports) == 0 && len(sig.Inputs) == 1:
		p, err := readInput(sig.Inputs[0], in, max(in.Frames, 1))
		return []port{p}, err
	case len(in.Ports) == 0 && len(sig.Inputs) != in.Frames:
		return nil, fmt.Errorf(
			"the model has %d inputs (%s) for samples of %d frames; one is fed with all of them, or each with one: "+
				"others need values in the file (initializers)", len(sig.Inputs), names, in.Frames)
	}
	order := in.Ports
	if len(order) == 0 {
		order = onnx.Names(sig.Inputs)
	}
	if len(order) != len(sig.Inputs) {
		return nil, fmt.Errorf("input.ports: %d names for a model of %d inputs (%s); name each once", len(order),
			len(sig.Inputs), names)
	}
	if len(order) != 1 && len(order) != in.Frames {
		return nil, fmt.Errorf(
			"input.ports: %d names for samples of %d frames; name one input per frame, or one for all", len(order),
			in.Frames)
	}
	each := 1
	if len(order) == 1 {
		each = in.Frames
	}
	ports := make([]port, len(order))
	for i, name := range order {
		x, ok := sig.Input(name)
		if !ok {
			return nil, fmt.Errorf("input.ports: the model has no input %q; there are %s", name, names)
		}
		if slices.Contains(order[:i], name) {
			return nil, fmt.Errorf("input.ports: %q stands there twice; name one input per frame", name)
		}
		var err error
		if ports[i], err = readInput(x, in, each); err != nil {
			return nil, err
		}
		if a, b := ports[0], ports[i]; a.batch != b.batch || (a.axes.n < 0) != (b.axes.n < 0) {
			return nil, fmt.Errorf(
				"inputs %s and %s count their samples differently; frames are fed in batches of one length",
				sig.Inputs[0], x)
		}
	}
	if len(in.Ports) == 0 && len(order) > 1 {
		ports[0].notes = append(ports[0].notes,
			fmt.Sprintf("the frames are fed to %s in the order of time; set input.ports to change it",
				strings.Join(order, ", ")))
	}
	return ports, nil
}

// readInput fits the data to one of the model's inputs, which takes the given number of frames.
func readInput(x onnx.Port, in InputSpec, frames int) (port, error) {
	p := port{name: x.Name, dtype: x.DType, c: -1, h: -1, w: -1, frames: frames}
	if x.Kind != "tensor" && x.Kind != "" {
		return port{}, fmt.Errorf("input %q is a %s, want a tensor", x.Name, x.Kind)
	}
	switch x.DType {
	case tensor.Float32, tensor.Float64, tensor.Float16, tensor.BFloat16, tensor.Uint8:
	case tensor.String:
		return port{}, wordy(x, &imageKind, true)
	case tensor.Undefined:
		p.dtype = tensor.Float32
		p.notes = append(p.notes, fmt.Sprintf("input %q: the file does not say its element type; float32 is fed",
			x.Name))
	case tensor.Int8, tensor.Uint16, tensor.Int16, tensor.Int32, tensor.Int64, tensor.Bool, tensor.Uint32,
		tensor.Uint64:
		return port{}, fmt.Errorf("input %s: images are fed as floating-point numbers or uint8, not %s", x, x.DType)
	default:
		return port{}, fmt.Errorf("input %s: images are fed as floating-point numbers or uint8", x)
	}
	want := channels(in)
	c, h, w := sample(in)
	if c > 0 && want > 0 && c != want && c != 1 && c != 3 {
		return port{}, fmt.Errorf("input.channels: %s from data with %d channels; it can be made of 1 or 3",
			in.Channels, c)
	}
	if want <= 0 {
		want = c
	}
	if !x.Ranked {
		p.axes = layouts[0]
		for _, a := range layouts {
			if strings.EqualFold(in.Layout, a.name) && a.n >= 0 && (a.t < 0 || in.Frames > 0) {
				p.axes = a
			}
		}
		p.nhwc = p.axes.last()
		p.notes = append(p.notes, fmt.Sprintf("input %q: the file does not say its shape; %s is fed", x.Name,
			p.axes.name))
		return p, nil
	}
	size := x.Sizes()
	fits, sameRank, err := candidates(x, in, frames, size, want, h, w)
	if err != nil {
		return port{}, err
	}
	if len(fits) == 0 {
		return port{}, misfit(x, in, best(sameRank, size, frames), size, frames, want, h, w)
	}
	p.axes = fits[0]
	p.nhwc = p.axes.last() || strings.EqualFold(in.Layout, "NHWC")
	switch {
	case in.Layout != "" && len(fits) == 1:
	case len(fits) > 1 && (in.Layout == "" || p.axes.t >= 0):
		p.notes = append(p.notes,
			fmt.Sprintf("input %s: %s and %s both fit the data; %s is taken, set input.layout to change it",
				x, fits[0].name, fits[1].name, fits[0].name))
	case in.Layout == "" && p.axes.name != "NCHW": // the usual one, where no other fits, needs no word
		p.notes = append(p.notes, fmt.Sprintf("input %s: the layout is %s by its shape", x, p.axes.name))
	}
	at := func(axis int) int {
		if axis < 0 {
			return -1
		}
		return size[axis]
	}
	p.c, p.h, p.w = at(p.axes.c), at(p.axes.h), at(p.axes.w)
	if p.axes.t < 0 && p.c > 0 {
		p.c /= frames
	}
	if p.axes.c < 0 && !p.axes.flat {
		p.c = 1
	}
	p.batch = 1
	if p.axes.n >= 0 {
		p.batch = max(size[p.axes.n], 0)
	}
	if p.axes.flat {
		p.c, p.h, p.w = want, h, w
	}
	return p, nil
}

// channels is the number that in.Channels asks for; 0 if it asks for none.
func channels(in InputSpec) int {
	switch strings.ToLower(in.Channels) {
	case "rgb", "bgr":
		return 3
	case "grey", "gray":
		return 1
	}
	return 0
}

// sample is the data's shape, -1 for any length.
func sample(in InputSpec) (c, h, w int) {
	s := []int{-1, -1, -1}
	for i := range min(len(in.Sample), 3) {
		if in.Sample[i] > 0 {
			s[i] = in.Sample[i]
		}
	}
	return s[0], s[1], s[2]
}

// candidates are the layouts that fit the model's shape and the data, and all that have the right rank. c, h and w are
// those of a frame as it is fed.
func candidates(x onnx.Port, in InputSpec, frames int, size []int, c, h, w int) (fits, sameRank []axes, err error) {
	fit := func(axis, want int) bool { return want <= 0 || size[axis] <= 0 || size[axis] == want }
	for _, a := range layouts {
		if a.rank() != len(size) || !allowed(in.Layout, a) || a.t >= 0 && in.Frames == 0 {
			continue
		}
		// of 4 axes, the first is taken for that of the samples in messages
		if a.t < 0 || a.n >= 0 || strings.EqualFold(in.Layout, a.name) {
			sameRank = append(sameRank, a)
		}
		switch {
		case a.flat:
			if c <= 0 || h <= 0 || w <= 0 || !fit(1, frames*c*h*w) {
				continue
			}
		case !fit(a.h, h) || !fit(a.w, w):
			continue
		case a.t >= 0 && !fit(a.t, frames):
			continue
		case a.c < 0 && frames*c > 1 || a.c >= 0 && !fit(a.c, a.apart(frames, c)):
			continue
		case a.c >= 0 && a.t < 0 && size[a.c] > 0 && size[a.c]%frames != 0:
			continue
		case a.n < 0 && size[0] < 0 && !strings.EqualFold(in.Layout, a.name): // a free first axis counts samples
			continue
		}
		fits = append(fits, a)
	}
	// Where the data does not decide, an axis as long as images have channels does.
	slices.SortStableFunc(fits,
		func(a, b axes) int { return cmp.Compare(b.likely(size, frames), a.likely(size, frames)) })
	if len(sameRank) == 0 {
		if in.Layout != "" {
			return nil, nil, fmt.Errorf("input %s has %d axes, which input.layout: %s does not describe", x, len(size),
				in.Layout)
		}
		if in.Frames > 0 {
			return nil, nil, fmt.Errorf(
				"input %s has %d axes; frames are fed as [batch, frames·channels, height, width], "+
					"[batch, frames, channels, height, width] or fewer", x, len(size))
		}
		return nil, nil, fmt.Errorf("input %s has %d axes; images are fed as [batch, channels, height, width] or fewer",
			x, len(size))
	}
	return fits, sameRank, nil
}

// allowed tells whether a layout keeps the order of axes that the user gave.
func allowed(layout string, a axes) bool {
	switch strings.ToUpper(layout) {
	case "":
		return true
	case "NCHW":
		return !a.last()
	case "NHWC":
		return a.c < 0 || a.last()
	}
	return strings.EqualFold(layout, a.name)
}

// best is the layout that the model's author most likely meant, for messages.
func best(as []axes, size []int, frames int) axes {
	for _, a := range as {
		if a.c >= 0 && size[a.c] > 0 && size[a.c] <= a.apart(frames, 4) {
			return a
		}
	}
	return as[0]
}

// misfit explains why the data does not fit; c, h and w are those of a frame as it is fed.
func misfit(x onnx.Port, in InputSpec, a axes, size []int, frames, c, h, w int) error {
	have := "data of shape " + sizes(in.Sample)
	if a.flat {
		if c <= 0 || h <= 0 || w <= 0 {
			return fmt.Errorf("input %s reads an image as one row of numbers: the data's images must be of one known "+
				"size", x)
		}
		return fmt.Errorf("input %s reads %d numbers a sample, %s has %d", x, size[1], have, frames*c*h*w)
	}
	if a.t >= 0 && size[a.t] > 0 && size[a.t] != frames {
		return fmt.Errorf("input %s (%s) wants %d frames, a sample has %d", x, a.name, size[a.t], frames)
	}
	wantC := 1
	if a.c >= 0 {
		wantC = size[a.c]
	}
	if wantC > 0 && a.t < 0 && frames > 1 && wantC != frames*c && (c > 0 || wantC%frames != 0) {
		remedy := "its layout or its data do not fit"
		switch {
		case wantC == 3*frames && c == 1 && in.Channels == "":
			remedy = "set input.channels: rgb to repeat the one of each frame"
		case wantC == frames && c == 3 && in.Channels == "":
			remedy = "set input.channels: grey to average those of each frame"
		}
		each := "any number"
		if c > 0 {
			each = countChannels(c)
		}
		return fmt.Errorf("input %s (%s) wants %s, a sample has %d frames with %s each; %s", x, a.name,
			countChannels(wantC), frames, each, remedy)
	}
	if (a.t >= 0 || frames == 1) && wantC > 0 && c > 0 && wantC != c {
		if in.Channels != "" {
			return fmt.Errorf("input %s wants %s, input.channels: %s gives %d", x, countChannels(wantC), in.Channels, c)
		}
		remedy := "its layout or its data do not fit"
		switch {
		case wantC == 3 && c == 1:
			remedy = "set input.channels: rgb to repeat it"
		case wantC == 1 && c == 3:
			remedy = "set input.channels: grey to average them"
		case slices.Contains(size, c) && len(size) == 4 && in.Layout != "":
			remedy = "check input.layout"
		}
		return fmt.Errorf("input %s (%s) wants %s, the data has %d; %s", x, a.name, countChannels(wantC), c, remedy)
	}
	toH, toW := size[a.h], size[a.w]
	return fmt.Errorf("input %s (%s) wants images of %d x %d (height x width), the data has %d x %d; resize the "+
		"data (photos: --resize short=%d,crop=%dx%d, which is data.resize in a study), or export the model with free "+
		"axes",
		x, a.name, toH, toW, h, w, Short(toH, toW), toH, toW)
}

func countChannels(n int) string {
	if n == 1 {
		return "1 channel"
	}
	return fmt.Sprintf("%d channels", n)
}

func sizes(s []int) string {
	out := make([]string, len(s))
	for i, n := range s {
		if out[i] = "?"; n > 0 {
			out[i] = strconv.Itoa(n)
		}
	}
	return "[" + strings.Join(out, " ") + "]"
}

// checkInputSpec refuses what no data could mend.
func checkInputSpec(in InputSpec) error {
	switch strings.ToUpper(in.Layout) {
	case "", "NCHW", "NHWC", "CHW", "HWC", "NHW", "HW", "NF":
	case "NTCHW", "NTHWC", "NCTHW", "TCHW", "THWC":
		if in.Frames == 0 {
			return fmt.Errorf("input.layout: %s has an axis of frames, but the samples are single images", in.Layout)
		}
	default:
		return fmt.Errorf("input.layout: %q is not known; say NCHW or NHWC", in.Layout)
	}
	switch strings.ToLower(in.Channels) {
	case "", "rgb", "bgr", "grey", "gray":
	default:
		return fmt.Errorf("input.channels: %q is not known; say rgb, bgr or grey", in.Channels)
	}
	if len(in.Sample) != 0 && len(in.Sample) != 3 {
		return fmt.Errorf("a sample of shape %v is no image: want channels, height, width", in.Sample)
	}
	if in.Frames < 0 {
		return fmt.Errorf("samples of %d frames; want at least 1, or 0 for single images", in.Frames)
	}
	if math.IsNaN(in.Scale) || math.IsInf(in.Scale, 0) {
		return fmt.Errorf("input.scale: %g; want a finite number", in.Scale)
	}
	for _, m := range in.Mean {
		if math.IsNaN(m) || math.IsInf(m, 0) {
			return fmt.Errorf("input.mean: %v; want finite numbers", in.Mean)
		}
	}
	for _, s := range in.Std {
		if math.IsNaN(s) || math.IsInf(s, 0) || s == 0 {
			return fmt.Errorf("input.std: %v; want finite numbers other than 0", in.Std)
		}
	}
	return nil
}
