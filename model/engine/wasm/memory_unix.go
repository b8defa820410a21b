//go:build (linux || darwin || freebsd) && (amd64 || arm64 || riscv64 || loong64 || ppc64le || s390x)

package wasm

import (
	"github.com/tetratelabs/wazero/experimental"
	"golang.org/x/sys/unix"
)

// reservedMemory is a range of addresses of which the first have memory behind them.
type reservedMemory struct{ b []byte }

func reserve(limit uint64) experimental.LinearMemory {
	b, err := unix.Mmap(-1, 0, int(limit), unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return nil // a limit on addresses: see newMemory
	}
	return &reservedMemory{b}
}

// Reallocate puts memory behind the first size bytes; it returns nil when there is none left.
func (m *reservedMemory) Reallocate(size uint64) []byte {
	if size > uint64(len(m.b)) || unix.Mprotect(m.b[:size], unix.PROT_READ|unix.PROT_WRITE) != nil {
		return nil
	}
	return m.b[:size]
}

// Free gives addresses and memory back.
func (m *reservedMemory) Free() {
	if m.b != nil {
		_ = unix.Munmap(m.b) // it was mapped above
		m.b = nil
	}
}
