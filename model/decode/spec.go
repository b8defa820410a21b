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

// InputSpec says how an image becomes the array that a model reads. Pixel v of the model's channel c becomes
//
//	(v/Scale - Mean[c]) / Std[c]
//
// computed in float64 and rounded once to the model's element type.
type InputSpec struct {
	// Sample is the shape C, H, W of the data's images; a length <= 0, or no shape at all, admits any.
	Sample []int
	// Layout is the order of the model's axes, NCHW or NHWC; "" follows the model's shape and leaves a note.
	Layout string
	// Channels are those that the model wants: "rgb", "bgr" or "grey"; "" takes the data's as they are. It is what turns
	// grey data into three equal channels, and colour data into one: 0.299 R + 0.587 G + 0.114 B (ITU-R BT.601).
	Channels string
	Scale    float64   // default 1
	Mean     []float64 // one for all channels, or one per channel of the model, in the model's order; default 0
	Std      []float64 // likewise, never 0; default 1
	// Frames is the number of pictures in a sample, 0 for a single picture. Frames are fed to one input with T·C channels, one frame
	// after the other, or to one input per frame in the order of Ports.
	Frames int
	Ports  []string // names of the inputs, one per frame; nil for one input, or the model's order if it has as many inputs as frames
}

// OutputSpec says what a model returns.
type OutputSpec struct {
	Name  string     // which output; "" for the first
	Space space.Kind // scores, image, mask or tensor; "" for scores
	// Decode turns the array into the value. For scores: "softmax" (default), "probabilities" (checked), "logits" or "raw".
	// For masks: "argmax" over the channels, "raw" for labels as they are; the default is argmax if there are channels.
	// For images and tensors: "raw".
	Decode string
	Type   string    // of the space, for tensors: the representation of the channels
	Boxes  BoxesSpec // for boxes
	Field  FieldSpec // for fields
	// Window is the height and width of what the model sees, in pixels: the frame of its boxes. {0, 0} if it is not known before a run.
	Window [2]int
}

// BoxesSpec says how the numbers of a detector become boxes. The zero value reads one output of shape [N, n, 6] with x1, y1, x2, y2,
// score and class in pixels, or two outputs of shapes [N, n, 4] and [N, n, classes], found by their shapes.
type BoxesSpec struct {
	// Parts are the outputs that hold boxes; those of several parts are joined, as of a detector with two strides.
	Parts []BoxesPart
	// Form is "xyxy" (two corners, the default), "cxcywh" (centre and size) or "xywh" (top-left corner and size).
	Form string
	// Swap says that y comes before x.
	Swap bool
	// Unit is "pixel" (of the window, the default) or "unit" (0 to 1 across the window).
	Unit string
	// Anchors are where raw offsets are measured from; nil for absolute coordinates. See [Anchors].
	Anchors []Anchors
	// Scale divides raw offsets when there are anchors; default 1. A value of 128 says that offsets are in 1/128 of the window.
	Scale float64
	// Log says that raw sizes are logarithms of the size relative to the anchor's.
	Log bool
	// Activation turns raw scores into confidence: "none" (the default), "sigmoid" or "softmax".
	Activation string
	// Clamp bounds raw scores to ±Clamp before the activation; 0 for none.
	Clamp float64
	// Background is "first" or "last" for the class that means "no object", "" if there is none. It takes part in the softmax and is left out then:
	// class k of a box counts the others.
	Background string
	// Classes is the number of classes; 0 follows the outputs.
	Classes int
	// Limit is the smallest confidence of a box; default 0.05.
	Limit float64
	// Suppress removes boxes of one class that overlap a better one: "hard" (default), "soft" (Gaussian soft-NMS, Bodla et al. 2017),
	// "weighted" (boxes are averaged with their scores as weights, as BlazeFace does) or "none".
	Suppress string
	Overlap  float64 // IoU above which boxes are suppressed; default 0.5
	Sigma    float64 // of soft-NMS; default 0.5
	Most     int     // boxes kept at most; default 100
	Clip     bool    // cut boxes to the window
}

// BoxesPart names the outputs of one set of boxes, "" for none.
type BoxesPart struct {
	Boxes  string // [N, n, >=4] coordinates, or [N, n, 4+classes], [N, n, 5+classes], [N, n, 6] where Scores is ""
	Scores string // [N, n, classes] or [N, n]
	Object string // [N, n] or [N, n, 1]: confidence that there is an object, multiplied with the class scores
	Labels string // [N, n] class numbers, where Scores holds one score per box
}

// Anchors is a grid of places: one every Stride pixels of the window, the first half a stride from the edge, each with as many
// anchors as Sizes lists or, if it is empty, PerCell of size 1 in the unit of the window. They vary fastest within a place, then along x, then along y.
type Anchors struct {
	Stride  int
	Corner  bool         // the first place lies at the edge, not half a stride from it
	PerCell int          // default 1
	Sizes   [][2]float64 // width and height in pixels
}

// FieldSpec says how the numbers of a model become a field. The zero value reads [N, 2, H, W] with u, then v, in pixels.
type FieldSpec struct {
	Layout string  // NCHW (default) or NHWC
	Order  string  // "uv" (default) or "vu"
	Scale  float64 // multiplies the numbers; default 1
	FlipV  bool    // the model's v points up
}

// Decoding kinds.
const (
	softmax       = "softmax"
	probabilities = "probabilities"
	logits        = "logits"
	raw           = "raw"
	argmax        = "argmax"
)

// axes says where an array keeps the parts of an image; -1 for an axis that it has not.
type axes struct {
	name       string
	n, c, h, w int
	flat       bool // all of one sample on axis 1
}

var layouts = []axes{ // the order is that of preference
	{"NCHW", 0, 1, 2, 3, false},
	{"NHWC", 0, 3, 1, 2, false},
	{"NHW", 0, -1, 1, 2, false},
	{"CHW", -1, 0, 1, 2, false},
	{"HWC", -1, 2, 0, 1, false},
	{"NF", 0, -1, -1, -1, true},
	{"HW", -1, -1, 0, 1, false},
}

func (a axes) rank() int {
	if a.flat {
		return 2
	}
	return len(a.name)
}

// last tells whether the channels vary fastest.
func (a axes) last() bool { return a.name == "NHWC" || a.name == "HWC" }

// likely is 1 if the channel axis has the length of one, else 0.
func (a axes) likely(size []int) int {
	if a.c >= 0 && (size[a.c] == 1 || size[a.c] == 3 || size[a.c] == 4) {
		return 1
	}
	return 0
}

// port is what New learns about the input.
type port struct {
	name    string
	dtype   tensor.DType
	axes    axes
	nhwc    bool // channels vary fastest
	batch   int  // 0 free, else fixed; 1 without a batch axis
	c, h, w int  // of the model, -1 for any
	notes   []string
}

// readInput fits the data to the model's input.
func readInput(sig onnx.Signature, in InputSpec) (port, error) {
	switch len(sig.Inputs) {
	case 1:
	case 0:
		return port{}, errors.New("the model has no input; it returns the same whatever the data")
	default:
		return port{}, fmt.Errorf("the model has %d inputs (%s); one is fed with images, so the others need values in the file (initializers)",
			len(sig.Inputs), strings.Join(onnx.Names(sig.Inputs), ", "))
	}
	x := sig.Inputs[0]
	p := port{name: x.Name, dtype: x.DType, c: -1, h: -1, w: -1}
	if x.Kind != "tensor" && x.Kind != "" {
		return port{}, fmt.Errorf("input %q is a %s, want a tensor", x.Name, x.Kind)
	}
	switch x.DType {
	case tensor.Float32, tensor.Float64, tensor.Float16, tensor.BFloat16, tensor.Uint8:
	case tensor.Undefined:
		p.dtype = tensor.Float32
		p.notes = append(p.notes, fmt.Sprintf("input %q: the file does not say its element type; float32 is fed", x.Name))
	case tensor.Int8, tensor.Uint16, tensor.Int16, tensor.Int32, tensor.Int64, tensor.Bool, tensor.Uint32, tensor.Uint64:
		return port{}, fmt.Errorf("input %s: images are fed as floating-point numbers or uint8, not %s", x, x.DType)
	default:
		return port{}, fmt.Errorf("input %s: images are fed as floating-point numbers or uint8", x)
	}
	want := channels(in)
	c, h, w := sample(in)
	if c > 0 && want > 0 && c != want && c != 1 && c != 3 {
		return port{}, fmt.Errorf("input.channels: %s from data with %d channels; it can be made of 1 or 3", in.Channels, c)
	}
	if want <= 0 {
		want = c
	}
	if !x.Ranked {
		p.axes = layouts[0]
		if strings.EqualFold(in.Layout, "NHWC") {
			p.axes = layouts[1]
		}
		p.nhwc = p.axes.last()
		p.notes = append(p.notes, fmt.Sprintf("input %q: the file does not say its shape; %s is fed", x.Name, p.axes.name))
		return p, nil
	}
	size := x.Sizes()
	fits, sameRank, err := candidates(x, in.Layout, size, want, h, w)
	if err != nil {
		return port{}, err
	}
	if len(fits) == 0 {
		return port{}, misfit(x, in, best(sameRank, size), size, want, h, w)
	}
	p.axes = fits[0]
	p.nhwc = p.axes.last() || strings.EqualFold(in.Layout, "NHWC")
	switch {
	case in.Layout != "":
	case len(fits) > 1:
		p.notes = append(p.notes, fmt.Sprintf("input %s: %s and %s both fit the data; %s is taken, set input.layout to change it",
			x, fits[0].name, fits[1].name, fits[0].name))
	case p.axes.name != "NCHW": // the usual one, where no other fits, needs no word
		p.notes = append(p.notes, fmt.Sprintf("input %s: the layout is %s by its shape", x, p.axes.name))
	}
	at := func(axis int) int {
		if axis < 0 {
			return -1
		}
		return size[axis]
	}
	p.c, p.h, p.w = at(p.axes.c), at(p.axes.h), at(p.axes.w)
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

// candidates are the layouts that fit the model's shape and the data, and all that have the right rank.
func candidates(x onnx.Port, layout string, size []int, c, h, w int) (fits, sameRank []axes, err error) {
	fit := func(axis, want int) bool { return want <= 0 || size[axis] <= 0 || size[axis] == want }
	for _, a := range layouts {
		if a.rank() != len(size) || !allowed(layout, a) {
			continue
		}
		sameRank = append(sameRank, a)
		switch {
		case a.flat:
			if c <= 0 || h <= 0 || w <= 0 || !fit(1, c*h*w) {
				continue
			}
		case !fit(a.h, h) || !fit(a.w, w):
			continue
		case a.c < 0 && c > 1 || a.c >= 0 && !fit(a.c, c):
			continue
		case a.n < 0 && size[0] < 0 && !strings.EqualFold(layout, a.name): // a free first axis counts samples
			continue
		}
		fits = append(fits, a)
	}
	// Where the data does not decide, an axis as long as images have channels does.
	slices.SortStableFunc(fits, func(a, b axes) int { return cmp.Compare(b.likely(size), a.likely(size)) })
	if len(sameRank) == 0 {
		if layout != "" {
			return nil, nil, fmt.Errorf("input %s has %d axes, which input.layout: %s does not describe", x, len(size), layout)
		}
		return nil, nil, fmt.Errorf("input %s has %d axes; images are fed as [batch, channels, height, width] or fewer", x, len(size))
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
		return a.name != "NCHW" && a.name != "CHW"
	}
	return strings.EqualFold(layout, a.name)
}

// best is the layout that the model's author most likely meant, for messages.
func best(as []axes, size []int) axes {
	for _, a := range as {
		if a.c >= 0 && size[a.c] > 0 && size[a.c] <= 4 {
			return a
		}
	}
	return as[0]
}

// misfit explains why the data does not fit.
func misfit(x onnx.Port, in InputSpec, a axes, size []int, c, h, w int) error {
	have := "data of shape " + sizes(in.Sample)
	if a.flat {
		if c <= 0 || h <= 0 || w <= 0 {
			return fmt.Errorf("input %s reads an image as one row of numbers: the data's images must be of one known size", x)
		}
		return fmt.Errorf("input %s reads %d numbers a sample, %s has %d", x, size[1], have, c*h*w)
	}
	wantC := 1
	if a.c >= 0 {
		wantC = size[a.c]
	}
	if wantC > 0 && c > 0 && wantC != c {
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
	return fmt.Errorf("input %s (%s) wants images of %d x %d (height x width), the data has %d x %d; resize the data, or export the model with free axes",
		x, a.name, size[a.h], size[a.w], h, w)
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
