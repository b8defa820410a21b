package cli

import "runtime/debug"

// release is the version of a build for others to use: the linker writes it.
var release string //nolint:gochecknoglobals // the linker writes into nothing else

// version is that of the release, of the module, or of the commit that it was built from.
func version() string {
	if release != "" {
		return release
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	v, rev, dirty := info.Main.Version, "", ""
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			rev = s.Value[:min(12, len(s.Value))]
		case "vcs.modified":
			if s.Value == "true" {
				dirty = " (modified)"
			}
		}
	}
	switch {
	case v != "" && v != "(devel)":
		return v
	case rev != "":
		return "devel " + rev + dirty
	}
	return "devel"
}
