//go:build (darwin || linux) && (amd64 || arm64) && !nonative

package native

import (
	"errors"

	"github.com/ebitengine/purego"
)

// setenv sets a variable in the environment that C sees. Go's own is another: os.Setenv reaches C only through cgo.
func setenv(name, value string) error {
	get, err := purego.Dlsym(purego.RTLD_DEFAULT, "getenv")
	if err != nil {
		return err
	}
	set, err := purego.Dlsym(purego.RTLD_DEFAULT, "setenv")
	if err != nil {
		return err
	}
	var f frame
	defer f.done()
	// A second library finds it set: what threads of the first one read is not written again.
	if now, _, _ := purego.SyscallN(get, f.str(name)); cString(now) == value {
		return nil
	}
	const overwrite = 1
	if status, _, _ := purego.SyscallN(set, f.str(name), f.str(value), overwrite); int32(status) != 0 {
		return errors.New("setenv failed")
	}
	return nil
}
