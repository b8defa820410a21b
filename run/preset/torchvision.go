package preset

import "slices"

// The weights' names of torchvision.
const (
	v1 = "IMAGENET1K_V1"
	v2 = "IMAGENET1K_V2"
	// trained on other photos first, all of it afterwards or its last layer alone.
	whole = "IMAGENET1K_SWAG_E2E_V1"
	last  = "IMAGENET1K_SWAG_LINEAR_V1"
	// of vgg16 up to its last layer, from Caffe.
	features = "IMAGENET1K_FEATURES"
)

// torchvision are the inference transforms of its weights for classification, as each weight's page of
// https://docs.pytorch.org/vision/stable/models.html has them (ImageClassification in
// torchvision/transforms/_presets.py): the shorter side is resized, with antialiasing, the middle cropped, and the
// statistics of ImageNet taken out. The name without weights is torchvision's DEFAULT. All 115 were read
// from torchvision/models/*.py of version 0.29.2.
func torchvision() List {
	type weights struct {
		name        string
		short, crop int
		kernel      string
	}
	const bi, cubic = "bilinear", "bicubic"
	usual := []weights{{v1, 256, 224, bi}}
	both := []weights{{v1, 256, 224, bi}, {v2, 232, 224, bi}} // the last is the default
	swag := func(size int) []weights { return []weights{{last, 224, 224, cubic}, {whole, size, size, cubic}} }
	newer := []weights{{v1, 232, 224, bi}}
	of := func(short, crop int, kernel string) []weights { return []weights{{v1, short, crop, kernel}} }
	mean, std := imagenet()
	var out List
	for _, m := range []struct {
		names []string
		of    []weights
	}{
		{[]string{"alexnet", "googlenet", "squeezenet1_0", "squeezenet1_1"}, usual},
		{[]string{"vgg16"}, []weights{{features, 256, 224, bi}, {v1, 256, 224, bi}}},
		{[]string{
			"vgg11", "vgg11_bn", "vgg13", "vgg13_bn", "vgg16_bn", "vgg19", "vgg19_bn", "densenet121",
			"densenet161", "densenet169", "densenet201", "resnet18", "resnet34", "mobilenet_v3_small", "mnasnet0_5",
			"mnasnet1_0", "shufflenet_v2_x0_5", "shufflenet_v2_x1_0", "vit_b_32", "vit_l_32",
		}, usual},
		{[]string{
			"resnet50", "resnet101", "resnet152", "resnext50_32x4d", "resnext101_32x8d", "wide_resnet50_2",
			"wide_resnet101_2", "mobilenet_v2", "mobilenet_v3_large", "regnet_y_400mf", "regnet_y_800mf",
			"regnet_y_1_6gf", "regnet_y_3_2gf", "regnet_y_8gf", "regnet_x_400mf",
			"regnet_x_800mf", "regnet_x_1_6gf", "regnet_x_3_2gf", "regnet_x_8gf", "regnet_x_16gf", "regnet_x_32gf",
		}, both},
		{[]string{
			"resnext101_64x4d", "mnasnet0_75", "mnasnet1_3", "shufflenet_v2_x1_5", "shufflenet_v2_x2_0",
			"convnext_base", "convnext_large",
		}, newer},
		{[]string{"regnet_y_16gf", "regnet_y_32gf"}, slices.Concat(swag(384), both)},
		{[]string{"regnet_y_128gf"}, swag(384)},
		{[]string{"vit_b_16"}, slices.Concat(swag(384), usual)},
		{[]string{"vit_l_16"}, slices.Concat(swag(512), of(242, 224, bi))},
		{[]string{"vit_h_14"}, swag(518)},
		{[]string{"inception_v3"}, of(342, 299, bi)},
		{[]string{"convnext_tiny"}, of(236, 224, bi)},
		{[]string{"convnext_small"}, of(230, 224, bi)},
		{[]string{"swin_t"}, of(232, 224, cubic)},
		{[]string{"swin_s"}, of(246, 224, cubic)},
		{[]string{"swin_b"}, of(238, 224, cubic)},
		{[]string{"swin_v2_t", "swin_v2_s"}, of(260, 256, cubic)},
		{[]string{"swin_v2_b"}, of(272, 256, cubic)},
		{[]string{"maxvit_t"}, of(224, 224, cubic)},
		{[]string{"efficientnet_b0"}, of(256, 224, cubic)},
		{[]string{"efficientnet_b1"}, []weights{{v1, 256, 240, cubic}, {v2, 255, 240, bi}}},
		{[]string{"efficientnet_b2"}, of(288, 288, cubic)},
		{[]string{"efficientnet_b3"}, of(320, 300, cubic)},
		{[]string{"efficientnet_b4"}, of(384, 380, cubic)},
		{[]string{"efficientnet_b5"}, of(456, 456, cubic)},
		{[]string{"efficientnet_b6"}, of(528, 528, cubic)},
		{[]string{"efficientnet_b7"}, of(600, 600, cubic)},
		{[]string{"efficientnet_v2_s"}, of(384, 384, bi)},
		{[]string{"efficientnet_v2_m"}, of(480, 480, bi)},
		{[]string{"efficientnet_v2_l"}, of(480, 480, cubic)},
	} {
		for _, name := range m.names {
			add := func(called string, w weights) {
				p := &Preset{
					Name: "torchvision/" + called, Channels: "rgb", Resize: cropped(w.short, w.crop, w.kernel),
					Mean: mean, Std: std,
					Doc: "torchvision's " + name + ", weights " + w.name,
				}
				switch {
				case name == "efficientnet_v2_l":
					p.Mean, p.Std = half(), half()
				case w.name == features: // values over 255 less the means of Caffe, times 255
					p.Mean, p.Std = []float64{0.48235, 0.45882, 0.40784}, []float64{1. / 255, 1. / 255, 1. / 255}
				}
				if len(m.of) == 1 {
					p.Also = []string{p.Name + "/" + w.name}
				}
				out = append(out, p)
			}
			add(name, m.of[len(m.of)-1])
			for _, w := range m.of {
				if len(m.of) > 1 {
					add(name+"/"+w.name, w)
				}
			}
		}
	}
	return out
}
