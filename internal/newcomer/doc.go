// Package newcomer adds to the program from outside what its lists hold: a group with a kind of axis, a metric, a
// check, a layout, a format of data, a kind of value. Each is one test file, handed in through [app.Parts] and used by
// the functions that the program uses; CONTRIBUTING.md names them as examples. None could pass if a core package had to
// know of it.
package newcomer
