// Package cells carries the study of detectors under shifts: six small detectors of blood cells that differ in how far
// their training windows were shifted about the key object, and the photos that they are measured on. How the models
// came about and how good they are is in MODEL_CARDS.md beside it; where the photos come from, and their licence (MIT),
// in data/README.md.
package cells

import "embed"

// Files holds demo.yaml, exact.yaml and full.yaml, the models and the photos with their annotations that they name, and
// the texts that have to travel with them, under the paths that they use. Copied to a folder, they are studies to run
// and to change.
//
//go:embed demo.yaml exact.yaml full.yaml MODEL_CARDS.md models/*.onnx
//go:embed data/README.md data/LICENSE data/ImageSets data/JPEGImages data/Annotations
var Files embed.FS
