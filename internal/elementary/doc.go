// Package elementary computes the elementary functions to the same bits on every processor.
//
// Those of Go's package math differ in their last bits: some are written in assembler for one processor and in Go for
// others, exponentials ask the processor at hand what it can do, and where there is an instruction that multiplies and
// adds in one step, the compiler uses it and leaves out a rounding. A run that stores such a number would be another
// run on another machine. Here every product is rounded where the source says so, and what needs one rounding asks for
// it with [math.FMA], which is exact everywhere. The results are, bit for bit, those of package math on amd64
// processors of the last ten years.
//
// Functions that are exact by definition stay where they are: square roots, absolute values, floors, remainders,
// scaling by powers of two.
//
// The files but this one are those of Go 1.26.8 (src/math, and src/math/rand/v2/normal.go), changed as said above;
// their licence is in LICENSE.
package elementary
