package wasm

import "github.com/tetratelabs/wazero/experimental"

// newMemory gives an instance its memory. Where the system lets a program reserve addresses without taking memory, the
// whole range of the instance is reserved at once: growing then copies nothing, Close gives everything back at once,
// and the garbage collector, which paces itself by the size of the heap, does not see hundreds of megabytes that are
// not its own. Elsewhere the memory is a slice that is copied when it grows.
var newMemory = experimental.MemoryAllocatorFunc(func(_, limit uint64) experimental.LinearMemory {
	if m := reserve(limit); m != nil {
		return m
	}
	return &sliceMemory{}
})

// sliceMemory is ordinary memory of Go.
type sliceMemory struct{ b []byte }

// Reallocate returns size bytes that start with the present ones.
func (m *sliceMemory) Reallocate(size uint64) []byte {
	if size > uint64(cap(m.b)) {
		b := make([]byte, size)
		copy(b, m.b)
		m.b = b
	}
	m.b = m.b[:size]
	return m.b
}

// Free leaves the memory to the garbage collector.
func (m *sliceMemory) Free() { m.b = nil }
