// Package clouds carries the clouds study: points sampled from 3-D models of furniture, and small networks that name
// the kind of furniture, trained on upright shapes and on shapes turned at random, beside one that is invariant by
// construction. How they came about and how good they are is in MODEL_CARDS.md beside it, whose the shapes are in data.
package clouds

import "embed"

// Files holds demo.yaml and exact.yaml, the models and the data that they name, under the paths that they use, and the
// texts that have to travel with them. Copied to a folder, they are studies to run and to change. Models read `points`,
// float32 (batch, 1024, 3), and return `logits`, float32 (batch, 10).
//
//go:embed demo.yaml exact.yaml MODEL_CARDS.md data/test.npz data/LICENSE data/ATTRIBUTION.csv data/README.md
//go:embed models/pointnet_plain.onnx models/pointnet_aug.onnx models/invariant.onnx
var Files embed.FS
