package preset

// imagenet are mean and deviation of the channels of ImageNet's training photos, over 255, as torchvision and timm have
// them: https://docs.pytorch.org/vision/stable/models.html and timm/data/constants.py.
func imagenet() (mean, std []float64) {
	return []float64{0.485, 0.456, 0.406}, []float64{0.229, 0.224, 0.225}
}

// half takes 0 to 1 to -1 to 1: timm's IMAGENET_INCEPTION_MEAN and STD.
func half() []float64 { return []float64{0.5, 0.5, 0.5} }

// clip are those of OpenAI's CLIP: https://github.com/openai/CLIP, clip/clip.py.
func clip() (mean, std []float64) {
	return []float64{0.48145466, 0.4578275, 0.40821073}, []float64{0.26862954, 0.26130258, 0.27577711}
}

// statistics are what becomes of the values alone, for data of any format and models of any size.
func statistics() List {
	mean, std := imagenet()
	cm, cs := clip()
	return List{
		{
			Name: "statistics/imagenet", Channels: "rgb", Mean: mean, Std: std,
			Doc: "mean and deviation of ImageNet: torchvision, timm's IMAGENET_DEFAULT_MEAN",
		},
		{
			Name: "statistics/inception", Mean: []float64{0.5}, Std: []float64{0.5},
			Doc: "-1 to 1, whatever the channels: timm's IMAGENET_INCEPTION_MEAN, TensorFlow's Inception",
		},
		{Name: "statistics/clip", Channels: "rgb", Mean: cm, Std: cs, Doc: "OpenAI's CLIP: openai/CLIP, clip/clip.py"},
	}
}
