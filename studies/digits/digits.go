// Package digits carries the study that the demo runs: trained digit classifiers, 1,000 real digits of MNIST's test
// set, and the study file. How the models came about and how good they are is in MODEL_CARDS.md beside it; where the
// digits come from, and their licence (Creative Commons Attribution-Share Alike 3.0, unlike the code's), in
// data/README.md.
package digits

import "embed"

// Files holds demo.yaml and two studies beside it, the models and data that they name, under the paths that they use,
// and the texts that have to travel with them. Copied to a folder, it is a study to run and to change.
//
//go:embed demo.yaml exact.yaml features.yaml MODEL_CARDS.md
//go:embed models/digits-original.onnx models/digits-augmented.onnx models/digits-c4.onnx
//go:embed data/README.md data/digits1000-images-idx3-ubyte.gz data/digits1000-labels-idx1-ubyte.gz
var Files embed.FS
