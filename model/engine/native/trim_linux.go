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
