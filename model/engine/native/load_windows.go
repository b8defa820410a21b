//go:build (amd64 || arm64) && !nonative

package native

import "golang.org/x/sys/windows"

// symbol loads the library at an absolute path and finds one function in it. The libraries it needs in turn are looked
// for beside it first: Windows keeps an old onnxruntime.dll of its own in its system folder.
func symbol(path, name string) (fn uintptr, loaded bool, err error) {
	lib, err := windows.LoadLibraryEx(path, 0, windows.LOAD_WITH_ALTERED_SEARCH_PATH)
	if err != nil {
		return 0, false, err
	}
	fn, err = windows.GetProcAddress(lib, name)
	return fn, true, err
}
