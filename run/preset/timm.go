package preset

// timm are the data configurations of its networks, in timm/models/*.py of
// https://github.com/huggingface/pytorch-image-models (version 1.0.31): the shorter side gets floor(size/crop_pct)
// (timm/data/transforms_factory.py). Where a network has another size for tests than for training, it is that, as
// timm.data.resolve_model_data_config(model, use_test_size=True) has it; with the size of training it is called /train.
func timm() List {
	mean, std := imagenet()
	cm, cs := clip()
	const bi, cubic = "bilinear", "bicubic"
	of := func(name string, crop, short int, kernel string, mean, std []float64) *Preset {
		return &Preset{
			Name: "timm/" + name, Channels: "rgb", Resize: cropped(short, crop, kernel), Mean: mean, Std: std,
			Doc: "timm's default_cfg",
		}
	}
	return List{
		of("resnet18.a1_in1k", 288, 288, cubic, mean, std),
		of("resnet18.a1_in1k/train", 224, 235, cubic, mean, std), // 224 / 0.95
		of("resnet50.a1_in1k", 288, 288, cubic, mean, std),
		of("resnet50.a1_in1k/train", 224, 235, cubic, mean, std),
		of("resnet50.tv_in1k", 224, 256, bi, mean, std),  // 224 / 0.875
		of("resnet50.tv2_in1k", 224, 232, bi, mean, std), // 224 / 0.965
		of("regnety_032.ra_in1k", 288, 288, cubic, mean, std),
		of("convnext_tiny.fb_in1k", 288, 288, cubic, mean, std),
		of("convnext_tiny.fb_in1k/train", 224, 256, cubic, mean, std),
		of("convnext_base.fb_in22k_ft_in1k", 288, 288, cubic, mean, std),
		of("efficientnet_b0.ra_in1k", 224, 256, cubic, mean, std),
		of("tf_efficientnet_b0.ns_jft_in1k", 224, 256, cubic, mean, std),
		of("tf_efficientnetv2_s.in21k_ft_in1k", 384, 384, cubic, half(), half()),
		of("mobilenetv3_large_100.ra_in1k", 224, 256, cubic, mean, std),
		of("mobilenetv4_conv_small.e2400_r224_in1k", 256, 269, cubic, mean, std), // 256 / 0.95
		of("inception_v3.tv_in1k", 299, 341, cubic, half(), half()),              // 299 / 0.875
		of("swin_tiny_patch4_window7_224.ms_in1k", 224, 248, cubic, mean, std),   // 224 / 0.9
		of("deit_base_patch16_224.fb_in1k", 224, 248, cubic, mean, std),
		of("beit_base_patch16_224.in22k_ft_in22k_in1k", 224, 248, cubic, half(), half()),
		of("vit_tiny_patch16_224.augreg_in21k_ft_in1k", 224, 248, cubic, half(), half()),
		of("vit_small_patch16_224.augreg_in21k_ft_in1k", 224, 248, cubic, half(), half()),
		of("vit_base_patch16_224.augreg_in21k_ft_in1k", 224, 248, cubic, half(), half()),
		of("vit_base_patch16_384.augreg_in21k_ft_in1k", 384, 384, cubic, half(), half()),
		of("vit_base_patch16_clip_224.openai", 224, 248, cubic, cm, cs),
	}
}
