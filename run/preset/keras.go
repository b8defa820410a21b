package preset

import "nero/run/job"

// keras are the modes of preprocess_input in keras/src/applications/imagenet_utils.py, and the networks beside that
// file with the mode that they use and the size of their default input, read in version 3.15.1. Photos are brought
// there as keras.utils.load_img(target_size=...) does by default: each axis by itself, to the nearest pixel.
func keras() List {
	mean, std := imagenet()
	caffe := Preset{
		Channels: "bgr", Scale: 1, Mean: []float64{103.939, 116.779, 123.68},
		Doc: "preprocess_input, mode caffe: BGR less the means of ImageNet, not scaled",
	}
	tf := Preset{
		Channels: "rgb", Scale: 127.5, Mean: []float64{1, 1, 1}, Doc: "preprocess_input, mode tf: x/127.5 - 1",
	}
	torch := Preset{
		Channels: "rgb", Mean: mean, Std: std,
		Doc: "preprocess_input, mode torch: over 255, then the statistics of ImageNet",
	}
	own := Preset{Channels: "rgb", Scale: 1, Doc: "values from 0 to 255: the network scales them itself"}
	var out List
	add := func(name string, p Preset, size int) {
		p.Name = "keras/" + name
		if size > 0 {
			p.Resize = job.Resize{Stretch: []int{size, size}, Kernel: "nearest", Plain: true}
		}
		out = append(out, &p)
	}
	add("caffe", caffe, 0)
	add("tf", tf, 0)
	add("torch", torch, 0)
	for _, m := range []struct {
		mode  Preset
		size  int
		names []string
	}{
		{caffe, 224, []string{"vgg16", "vgg19", "resnet50", "resnet101", "resnet152"}},
		{tf, 224, []string{"resnet50v2", "resnet101v2", "resnet152v2", "mobilenet", "mobilenet_v2", "nasnetmobile"}},
		{tf, 299, []string{"inception_v3", "inception_resnet_v2", "xception"}},
		{tf, 331, []string{"nasnetlarge"}},
		{torch, 224, []string{"densenet121", "densenet169", "densenet201"}},
		{own, 224, []string{
			"efficientnetb0", "efficientnetv2b0", "mobilenet_v3_small", "mobilenet_v3_large", "convnext_tiny",
			"convnext_small", "convnext_base", "convnext_large", "convnext_xlarge",
		}},
		{own, 240, []string{"efficientnetb1", "efficientnetv2b1"}},
		{own, 260, []string{"efficientnetb2", "efficientnetv2b2"}},
		{own, 300, []string{"efficientnetb3", "efficientnetv2b3"}},
		{own, 380, []string{"efficientnetb4"}},
		{own, 384, []string{"efficientnetv2s"}},
		{own, 456, []string{"efficientnetb5"}},
		{own, 480, []string{"efficientnetv2m", "efficientnetv2l"}},
		{own, 528, []string{"efficientnetb6"}},
		{own, 600, []string{"efficientnetb7"}},
	} {
		for _, name := range m.names {
			add(name, m.mode, m.size)
		}
	}
	return out
}
