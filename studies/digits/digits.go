// Package digits carries the study that the demo runs: two trained digit classifiers, 1,000 real digits, and the study file.
package digits

import "embed"

// Files holds demo.yaml and the models and data that it names, under the paths that it uses.
//
//go:embed demo.yaml models/digits-original.onnx models/digits-augmented.onnx
//go:embed data/digits1000-images-idx3-ubyte.gz data/digits1000-labels-idx1-ubyte.gz
var Files embed.FS
