//go:build amd64 || arm64

package wasm

import (
	"unsafe"

	"github.com/tetratelabs/wazero/experimental"
	"golang.org/x/sys/windows"
)

// reservedMemory is a range of addresses of which the first have memory behind them.
type reservedMemory struct {
	at   uintptr
	size uint64
}

func reserve(limit uint64) experimental.LinearMemory {
	at, err := windows.VirtualAlloc(0, uintptr(limit), windows.MEM_RESERVE, windows.PAGE_NOACCESS)
	if err != nil {
		return nil // a limit on addresses: see newMemory
	}
	return &reservedMemory{at, limit}
}

// Reallocate puts memory behind the first size bytes; it returns nil when there is none left.
func (m *reservedMemory) Reallocate(size uint64) []byte {
	if size == 0 || size > m.size {
		return nil
	}
	if _, err := windows.VirtualAlloc(m.at, uintptr(size), windows.MEM_COMMIT, windows.PAGE_READWRITE); err != nil {
		return nil
	}
	at := *(*unsafe.Pointer)(unsafe.Pointer(&m.at)) // not memory of Go: it neither moves nor is collected
	return unsafe.Slice((*byte)(at), size)
}

// Free gives addresses and memory back.
func (m *reservedMemory) Free() {
	if m.at != 0 {
		_ = windows.VirtualFree(m.at, 0, windows.MEM_RELEASE) // it was reserved above
		m.at = 0
	}
}
