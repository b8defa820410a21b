//go:build (darwin || linux) && (amd64 || arm64) && !nonative

package native

import "github.com/ebitengine/purego"

// symbol loads the library at an absolute path and finds one function in it.
func symbol(path, name string) (fn uintptr, loaded bool, err error) {
	lib, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return 0, false, err
	}
	fn, err = purego.Dlsym(lib, name)
	return fn, true, err
}
