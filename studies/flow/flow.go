// Package flow carries the models of the flow study: two small estimators of the displacement between two particle
// pictures, trained without and with augmentation by the symmetries of the square and of time. How they came about and
// how good they are is in MODEL_CARDS.md beside it. The pairs that they are tried on are rendered from a seed (package
// nero/data/particle) and not carried.
package flow

import "embed"

// Files holds demo.yaml and exact.yaml, the models that they name, under the paths that it uses, and the text that has
// to travel with them. Copied to a folder, they are studies to run and to change. All models read `pair`, float32
// (batch, 2, 256, 256), the grey levels 0 to 255 of the two frames, and return `flow`, float32 (batch, 2, 256, 256),
// displacements in px at mid-time: u along columns, then v along rows, downwards.
//
//go:embed demo.yaml exact.yaml MODEL_CARDS.md
//go:embed models/flow-plain.onnx models/flow-augmented.onnx
var Files embed.FS
