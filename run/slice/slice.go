// Package slice chooses samples of a run: sets of samples, the rules that people write to describe one, and the file in
// which named sets are kept beside a run. docs/SLICES.md describes rules and file.
package slice
