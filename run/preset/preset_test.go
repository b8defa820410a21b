package preset_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"nero/run/job"
	"nero/run/preset"

	"github.com/google/go-cmp/cmp"
)

// Each name stands for one preset, which the study's own rules accept with nothing else said.
func TestEveryPresetIsAStudy(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, p := range preset.Builtin() {
		if low := strings.ToLower(p.Name); seen[low] {
			t.Errorf("%s twice", p.Name)
		} else {
			seen[low] = true
		}
		s := &job.Study{
			Version: 1, Models: []job.Model{{Name: "m", ONNX: "m.onnx"}},
			Data: job.Data{Images: "photos", Preset: p.Name},
		}
		if note := p.Lay(s, true); !strings.Contains(note, p.Name) || !strings.Contains(note, p.Text()) {
			t.Errorf("%s says %s", p.Name, note)
		}
		if err := s.Validate(); err != nil {
			t.Errorf("%s: %v", p.Name, err)
		}
		for _, v := range [][]float64{p.Mean, p.Std} {
			if len(v) > 1 && len(v) != 3 {
				t.Errorf("%s has %d numbers for three channels", p.Name, len(v))
			}
		}
		if p.Doc == "" || len(p.Mean) > 1 && p.Channels == "" {
			t.Errorf("%s does not say where it is from, or which channel its means are of", p.Name)
		}
	}
}

// Values of the pages of torchvision's weights, of timm's default_cfg, of Keras's imagenet_utils and of Ultralytics.
func TestValues(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"torchvision/resnet50": "shorter side to 232, middle 224 x 224 (bilinear), RGB, over the range of the files, " +
			"mean 0.485 0.456 0.406, std 0.229 0.224 0.225",
		"torchvision/resnet50/IMAGENET1K_V1": "shorter side to 256, middle 224 x 224 (bilinear), RGB, over the " +
			"range of the files, mean 0.485 0.456 0.406, std 0.229 0.224 0.225",
		"torchvision/efficientnet_v2_l": "shorter side to 480, middle 480 x 480 (bicubic), RGB, over the range of " +
			"the files, mean 0.5 0.5 0.5, std 0.5 0.5 0.5",
		"TIMM/vit_base_patch16_224.augreg_in21k_ft_in1k": "shorter side to 248, middle 224 x 224 (bicubic), RGB, " +
			"over the range of the files, mean 0.5 0.5 0.5, std 0.5 0.5 0.5",
		"keras/vgg16": "stretched to 224 x 224 (nearest, not widened), BGR, mean 103.939 116.779 123.68",
		"keras/tf":    "RGB, over 127.5, mean 1 1 1",
		"keras/efficientnetb0": "stretched to 224 x 224 (nearest, not widened), RGB, " +
			"values as they are",
		"yolo/640": "letterbox of 640 x 640, 114 around (bilinear, not widened), RGB, over the range of the files",
		"clip/224": "shorter side to 224, middle 224 x 224 (bicubic), RGB, over the range of the files, mean " +
			"0.481455 0.457827 0.408211, std 0.26863 0.261303 0.275777",
	} {
		p, err := preset.Builtin().Find(name)
		if err != nil {
			t.Error(err)
		} else if p.Text() != want {
			t.Errorf("%s: %s, want %s", name, p.Text(), want)
		}
	}
}

// CLIP's are written out in clip/clip.py, _transform: Resize(n, BICUBIC), CenterCrop(n), ToTensor, Normalize. The text
// of a preset rounds them; the study gets them to the last digit.
func TestCLIP(t *testing.T) {
	t.Parallel()
	for name, n := range map[string]int{"clip/224": 224, "clip/336": 336} {
		s := &job.Study{
			Version: 1, Models: []job.Model{{Name: "m", ONNX: "m.onnx"}},
			Data: job.Data{Images: "photos", Preset: name},
		}
		p, err := preset.Builtin().Find(name)
		if err != nil {
			t.Fatal(err)
		}
		p.Lay(s, true)
		want := job.Resize{Short: n, Crop: []int{n, n}, Kernel: "bicubic"}
		if diff := cmp.Diff(want, s.Data.Resize); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if s.Input.Channels != "rgb" ||
			!slices.Equal(s.Input.Mean, []float64{0.48145466, 0.4578275, 0.40821073}) ||
			!slices.Equal(s.Input.Std, []float64{0.26862954, 0.26130258, 0.27577711}) {
			t.Errorf("%s: %+v", name, s.Input)
		}
	}
}

// What a study says itself stays; data that are no photos are not resized.
func TestLay(t *testing.T) {
	t.Parallel()
	p, err := preset.Builtin().Find("torchvision/swin_t")
	if err != nil {
		t.Fatal(err)
	}
	s := &job.Study{
		Data:  job.Data{Resize: job.Resize{Stretch: []int{32, 32}}},
		Input: job.Input{Channels: "bgr", Scale: 2, Std: []float64{1}},
	}
	p.Lay(s, true)
	want := &job.Study{
		Data:  job.Data{Resize: job.Resize{Stretch: []int{32, 32}, Kernel: "bicubic"}},
		Input: job.Input{Channels: "bgr", Scale: 2, Mean: []float64{0.485, 0.456, 0.406}, Std: []float64{1}},
	}
	if d := cmp.Diff(want.Data, s.Data) + cmp.Diff(want.Input, s.Input); d != "" {
		t.Error(d)
	}
	for _, s := range []*job.Study{
		{Data: job.Data{Fit: []int{8, 8}}},
		{Data: job.Data{Zoom: 2}},
		{Data: job.Data{Cut: job.Cut{Size: []int{8, 8}}}},
	} {
		if p.Lay(s, true); len(s.Data.Resize.Crop) > 0 {
			t.Errorf("%+v", s.Data)
		}
	}
	s = &job.Study{}
	if p.Lay(s, false); len(s.Data.Resize.Crop) > 0 || len(s.Input.Mean) != 3 {
		t.Errorf("%+v, %+v", s.Data.Resize, s.Input)
	}
	s.Input.Mean[0] = 9
	if q, err := preset.Builtin().Find("torchvision/swin_t"); err != nil || q.Mean[0] == 9 || p.Mean[0] == 9 {
		t.Error("a study shares numbers with the preset")
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"resnet50":             "torchvision/resnet50, torchvision/resnet50/IMAGENET1K_V1",
		"torchvison/resnet50":  "torchvision/resnet50",
		"resnet51":             "torchvision/resnet50",
		"imagenet":             "statistics/imagenet",
		"something of my own":  "'nero presets'",
		"keras/mobilenet_v2_x": "keras/mobilenet_v2",
	} {
		if _, err := preset.Builtin().Find(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
}

// The sizes were read out of the files of torchvision 0.29.2 by a program (crop_size, resize_size and interpolation of
// each weight), out of the default_cfgs of timm 1.0.31 (floor of size over crop_pct) and by hand out of
// keras/src/applications of Keras 3.15.1; they were not copied from the table that they are held against.
func TestSizesAreThoseOfTheSources(t *testing.T) {
	t.Parallel()
	type size struct {
		short, crop int
		kernel      string
	}
	for name, want := range map[string]size{
		"torchvision/alexnet/IMAGENET1K_V1":                    {256, 224, "bilinear"},
		"torchvision/convnext_tiny/IMAGENET1K_V1":              {236, 224, "bilinear"},
		"torchvision/convnext_small/IMAGENET1K_V1":             {230, 224, "bilinear"},
		"torchvision/densenet161/IMAGENET1K_V1":                {256, 224, "bilinear"},
		"torchvision/efficientnet_b0/IMAGENET1K_V1":            {256, 224, "bicubic"},
		"torchvision/efficientnet_b1/IMAGENET1K_V1":            {256, 240, "bicubic"},
		"torchvision/efficientnet_b1/IMAGENET1K_V2":            {255, 240, "bilinear"},
		"torchvision/efficientnet_b3/IMAGENET1K_V1":            {320, 300, "bicubic"},
		"torchvision/efficientnet_b7/IMAGENET1K_V1":            {600, 600, "bicubic"},
		"torchvision/efficientnet_v2_s/IMAGENET1K_V1":          {384, 384, "bilinear"},
		"torchvision/googlenet/IMAGENET1K_V1":                  {256, 224, "bilinear"},
		"torchvision/inception_v3/IMAGENET1K_V1":               {342, 299, "bilinear"},
		"torchvision/maxvit_t/IMAGENET1K_V1":                   {224, 224, "bicubic"},
		"torchvision/mnasnet0_75/IMAGENET1K_V1":                {232, 224, "bilinear"},
		"torchvision/mobilenet_v2/IMAGENET1K_V1":               {256, 224, "bilinear"},
		"torchvision/mobilenet_v2/IMAGENET1K_V2":               {232, 224, "bilinear"},
		"torchvision/mobilenet_v3_small/IMAGENET1K_V1":         {256, 224, "bilinear"},
		"torchvision/regnet_y_16gf/IMAGENET1K_V1":              {256, 224, "bilinear"},
		"torchvision/regnet_y_16gf/IMAGENET1K_V2":              {232, 224, "bilinear"},
		"torchvision/regnet_y_16gf/IMAGENET1K_SWAG_E2E_V1":     {384, 384, "bicubic"},
		"torchvision/regnet_y_16gf/IMAGENET1K_SWAG_LINEAR_V1":  {224, 224, "bicubic"},
		"torchvision/regnet_y_128gf/IMAGENET1K_SWAG_E2E_V1":    {384, 384, "bicubic"},
		"torchvision/regnet_y_128gf/IMAGENET1K_SWAG_LINEAR_V1": {224, 224, "bicubic"},
		"torchvision/regnet_x_400mf/IMAGENET1K_V1":             {256, 224, "bilinear"},
		"torchvision/regnet_x_400mf/IMAGENET1K_V2":             {232, 224, "bilinear"},
		"torchvision/resnet18/IMAGENET1K_V1":                   {256, 224, "bilinear"},
		"torchvision/resnet50/IMAGENET1K_V1":                   {256, 224, "bilinear"},
		"torchvision/resnet50/IMAGENET1K_V2":                   {232, 224, "bilinear"},
		"torchvision/resnet152/IMAGENET1K_V1":                  {256, 224, "bilinear"},
		"torchvision/resnet152/IMAGENET1K_V2":                  {232, 224, "bilinear"},
		"torchvision/resnext101_64x4d/IMAGENET1K_V1":           {232, 224, "bilinear"},
		"torchvision/wide_resnet50_2/IMAGENET1K_V1":            {256, 224, "bilinear"},
		"torchvision/wide_resnet50_2/IMAGENET1K_V2":            {232, 224, "bilinear"},
		"torchvision/shufflenet_v2_x1_5/IMAGENET1K_V1":         {232, 224, "bilinear"},
		"torchvision/squeezenet1_1/IMAGENET1K_V1":              {256, 224, "bilinear"},
		"torchvision/swin_t/IMAGENET1K_V1":                     {232, 224, "bicubic"},
		"torchvision/swin_s/IMAGENET1K_V1":                     {246, 224, "bicubic"},
		"torchvision/swin_b/IMAGENET1K_V1":                     {238, 224, "bicubic"},
		"torchvision/swin_v2_b/IMAGENET1K_V1":                  {272, 256, "bicubic"},
		"torchvision/vgg16/IMAGENET1K_V1":                      {256, 224, "bilinear"},
		"torchvision/vgg16/IMAGENET1K_FEATURES":                {256, 224, "bilinear"},
		"torchvision/vit_b_16/IMAGENET1K_V1":                   {256, 224, "bilinear"},
		"torchvision/vit_b_16/IMAGENET1K_SWAG_E2E_V1":          {384, 384, "bicubic"},
		"torchvision/vit_b_16/IMAGENET1K_SWAG_LINEAR_V1":       {224, 224, "bicubic"},
		"torchvision/vit_l_16/IMAGENET1K_V1":                   {242, 224, "bilinear"},
		"torchvision/vit_l_16/IMAGENET1K_SWAG_E2E_V1":          {512, 512, "bicubic"},
		"torchvision/vit_l_16/IMAGENET1K_SWAG_LINEAR_V1":       {224, 224, "bicubic"},
		"torchvision/vit_h_14/IMAGENET1K_SWAG_E2E_V1":          {518, 518, "bicubic"},
		"torchvision/vit_h_14/IMAGENET1K_SWAG_LINEAR_V1":       {224, 224, "bicubic"},
		"timm/resnet18.a1_in1k":                                {288, 288, "bicubic"},
		"timm/resnet50.tv2_in1k":                               {232, 224, "bilinear"},
		"timm/convnext_tiny.fb_in1k/train":                     {256, 224, "bicubic"},
		"timm/inception_v3.tv_in1k":                            {341, 299, "bicubic"},
		"timm/mobilenetv4_conv_small.e2400_r224_in1k":          {269, 256, "bicubic"},
		"timm/swin_tiny_patch4_window7_224.ms_in1k":            {248, 224, "bicubic"},
		"timm/vit_base_patch16_384.augreg_in21k_ft_in1k":       {384, 384, "bicubic"},
		"keras/resnet152v2":                                    {0, 224, "nearest"},
		"keras/xception":                                       {0, 299, "nearest"},
		"keras/nasnetlarge":                                    {0, 331, "nearest"},
		"keras/efficientnetb4":                                 {0, 380, "nearest"},
		"keras/efficientnetv2l":                                {0, 480, "nearest"},
		"keras/convnext_xlarge":                                {0, 224, "nearest"},
		"yolo/1280":                                            {0, 1280, "bilinear"},
		"clip/336":                                             {336, 336, "bicubic"},
	} {
		p, err := preset.Builtin().Find(name)
		if err != nil {
			t.Error(err)
			continue
		}
		r := p.Resize
		got := size{r.Short, 0, r.Kernel}
		for _, s := range [][]int{r.Crop, r.Stretch, r.Letterbox} {
			if len(s) == 2 && s[0] == s[1] {
				got.crop += s[0]
			}
		}
		if got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	// A network without its weights is fed as those that its library takes by default.
	for name, weights := range map[string]string{
		"torchvision/resnet50": "IMAGENET1K_V2", "torchvision/vit_b_16": "IMAGENET1K_V1",
		"torchvision/vit_h_14": "IMAGENET1K_SWAG_E2E_V1", "torchvision/regnet_y_32gf": "IMAGENET1K_V2",
		"torchvision/vgg16": "IMAGENET1K_V1", "torchvision/alexnet": "IMAGENET1K_V1",
	} {
		p, err := preset.Builtin().Find(name)
		if err != nil {
			t.Fatal(err)
		}
		q, err := preset.Builtin().Find(name + "/" + weights)
		if err != nil {
			t.Fatal(err)
		}
		if p.Text() != q.Text() || p.Doc != q.Doc {
			t.Errorf("%s is %s, and %s is %s", name, p.Text(), weights, q.Text())
		}
	}
}

// The shape of the table: what resizes has one way, and a kernel that stands in it; photos of one network are of one
// size; every library says which of its versions was read.
func TestShapeOfTheTable(t *testing.T) {
	t.Parallel()
	families := map[string]int{}
	for _, p := range preset.Builtin() {
		family, _, _ := strings.Cut(p.Name, "/")
		families[family]++
		r := p.Resize
		ways := 0
		for _, s := range [][]int{r.Crop, r.Stretch, r.Letterbox} {
			if len(s) == 0 {
				continue
			}
			ways++
			if len(s) != 2 || s[0] < 32 || s[0] != s[1] || s[0] > 2048 {
				t.Errorf("%s has the size %v", p.Name, s)
			}
		}
		if ways > 1 || (ways == 1) != slices.Contains([]string{"bilinear", "bicubic", "nearest"}, r.Kernel) {
			t.Errorf("%s: %+v", p.Name, r)
		}
		if len(r.Crop) == 2 && (r.Short < r.Crop[0] || r.Short > 2*r.Crop[0]) {
			t.Errorf("%s takes the middle %v of a shorter side of %d", p.Name, r.Crop, r.Short)
		}
		for i, s := range p.Std {
			if !(s > 0 && s <= 1) || len(p.Mean) <= i {
				t.Errorf("%s: std %v, mean %v", p.Name, p.Std, p.Mean)
			}
		}
		for _, m := range p.Mean {
			if !(m > 0) || p.Scale != 1 && m > 1 {
				t.Errorf("%s: mean %v of values over %g", p.Name, p.Mean, p.Scale)
			}
		}
	}
	for family, least := range map[string]int{
		"statistics": 3, "torchvision": 110, "timm": 24, "keras": 40, "yolo": 4, "clip": 2,
	} {
		if families[family] < least {
			t.Errorf("%d presets of %s, want %d", families[family], family, least)
		}
	}
}

func Example() {
	p, err := preset.Builtin().Find("torchvision/vgg16")
	if err != nil {
		fmt.Println(err)
		return
	}
	s := &job.Study{Data: job.Data{Images: "photos"}}
	p.Lay(s, true)
	fmt.Println(s.Data.Resize.Short, s.Data.Resize.Crop, slices.Max(s.Input.Std))
	// Output: 256 [224 224] 0.229
}
