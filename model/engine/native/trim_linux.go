//go:build linux && (amd64 || arm64) && !nonative

package native

import "github.com/ebitengine/purego"

// trim gives memory that C has freed back to the system. The allocator of glibc keeps what lies below something that is
// in use, a session of 100 MB and more of it; others give it back by themselves, and lack the function.
func trim() {
	if f, err := purego.Dlsym(purego.RTLD_DEFAULT, "malloc_trim"); err == nil {
		purego.SyscallN(f, 0)
	}
}

// apart lets C take blocks of a megabyte and more from the system one by one, so that each goes back when it is freed.
// Left alone, glibc takes them from what it keeps as soon as such a block was freed once, and of a model of 47 MB more
// than 100 MB stand below what is still in use. It holds for the process; a session that is not lean keeps what it
// takes in an arena of its own and asks seldom.
func apart() {
	const megabyte = 1 << 20
	mmapThreshold := -3 // M_MMAP_THRESHOLD
	if f, err := purego.Dlsym(purego.RTLD_DEFAULT, "mallopt"); err == nil {
		purego.SyscallN(f, uintptr(mmapThreshold), megabyte)
	}
}
