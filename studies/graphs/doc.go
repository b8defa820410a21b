// Package graphs holds the study of sets and graphs: networks of molecules that cannot see in which order atoms are
// numbered, and a twin of each that can. How they came about, how good they are and how far renumbering moves them is
// in MODEL_CARDS.md beside it, where the numbers come from in data.
package graphs
