// Package scenes holds networks of scenes and of sets within sets, in which several sets of rows are numbered
// independently: boxes beside points, flow between two clouds, subsets, bags of subgraphs. Their symmetries were built
// in, and each has twins that lack one. MODEL_CARDS.md beside it says which they are; laws.json holds how far each law
// is broken, measured before the export.
package scenes
