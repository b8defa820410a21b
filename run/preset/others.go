package preset

import "nero/run/job"

// others are networks with a way of their own. Those of YOLO are what LetterBox does for exported models, of one size
// and with larger photos made of smaller ones, and classify_transforms for those that classify: Ultralytics 8.4.190.
func others() List {
	cm, cs := clip()
	boxed := func(name string, size int) *Preset {
		return &Preset{
			Name: name, Channels: "rgb",
			Resize: job.Resize{Letterbox: []int{size, size}, Fill: 114, Kernel: "bilinear", Plain: true},
			Doc:    "LetterBox of ultralytics/data/augment.py: scaled to fit, grey 114 around, over 255",
		}
	}
	return List{
		boxed("yolo/640", 640), boxed("yolo/320", 320), boxed("yolo/1280", 1280),
		{
			Name: "yolo/cls-224", Channels: "rgb", Resize: cropped(224, 224, "bilinear"),
			Doc: "classify_transforms of ultralytics/data/augment.py: the shorter side and the middle, over 255",
		},
		{
			Name: "clip/224", Channels: "rgb", Resize: cropped(224, 224, "bicubic"), Mean: cm, Std: cs,
			Doc: "openai/CLIP, clip/clip.py: ViT-B/32, ViT-B/16, ViT-L/14, RN50",
		},
		{
			Name: "clip/336", Channels: "rgb", Resize: cropped(336, 336, "bicubic"), Mean: cm, Std: cs,
			Doc: "openai/CLIP, clip/clip.py: ViT-L/14@336px",
		},
	}
}
