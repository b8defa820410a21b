//go:build (amd64 || arm64) && !nonative

package native

import (
	"runtime"
	"syscall"
	"unsafe"
)

// handlers is where signals of a thread are handled: stack_t of C.
type handlers struct {
	at    uintptr
	flags int32
	_     int32
	size  uintptr
}

// guarded calls f, which calls C, and gives the thread back the stack on which Go handles its signals. OpenVINO puts
// one of its own there when it is loaded, and frees it on whatever thread it is unloaded: the next signal, which Go
// sends itself to share the processor, would end the program.
func guarded(f func()) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var old handlers
	if _, _, failed := syscall.RawSyscall(syscall.SYS_SIGALTSTACK, 0, uintptr(unsafe.Pointer(&old)), 0); failed == 0 {
		defer func() {
			_, _, _ = syscall.RawSyscall(syscall.SYS_SIGALTSTACK, uintptr(unsafe.Pointer(&old)), 0, 0) // it was there
		}()
	}
	f()
}
