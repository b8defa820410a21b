// Package molecules carries the molecules study: conformations of small molecules with energies and forces, and small
// networks that answer both. How they came about, how good they are and which laws they obey is in MODEL_CARDS.md
// beside it, where the numbers come from in data.
package molecules

import "embed"

// Files holds demo.yaml, the models and the data that it names, under the paths that it uses, and the texts that have
// to travel with them. Copied to a folder, it is a study to run and to change. Models read `positions`, float32 (batch,
// atoms, 3), in Å, and `species`, int64 (batch, atoms), and return `energy`, float32 (batch, 1), in eV, and `forces`,
// float32 (batch, atoms, 3), in eV/Å.
//
//go:embed demo.yaml MODEL_CARDS.md data/test.xyz data/LICENSE data/README.md
//go:embed models/molecules-conservative.onnx models/molecules-direct.onnx models/molecules-mlp.onnx
var Files embed.FS
