// Package native is the body of ONNX Runtime that is a shared library installed on the machine: four to ten times
// faster than the embedded one. Its C functions are called through purego, without cgo, so that one program runs with
// and without it.
//
// Every release from 1.17 on will do. A library is loaded once a process and never unloaded: its threads and its memory
// outlive any use of it.
package native
