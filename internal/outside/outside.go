// Package outside hands tests what the tree does not hold: programs, models and data that somebody has to fetch. Each
// is named by a variable of the environment and is never looked for, so that the result of go test ./... does not
// depend on what happens to be installed. A test whose variable is not set is skipped and says so; one whose variable
// is set fails where the thing is missing. .ci/run sets all of them; CONTRIBUTING.md lists them.
package outside

import (
	"os"
	"path/filepath"
	"testing"
)

// The variables, and what each names.
const (
	// Browser is a Chromium: its path, or its name in PATH.
	Browser = "NERO_BROWSER"
	// Python is a list of Python interpreters, separated as PATH is: one with numpy, one with grpcio.
	Python = "NERO_PYTHON"
	// MLServer is the virtual environment that .ci/mlserver makes.
	MLServer = "NERO_MLSERVER"
	// Pycocotools is a Python interpreter that has pycocotools, as .ci/pycocotools makes.
	Pycocotools = "NERO_PYCOCOTOOLS"
	// BlazeFace is the folder that examples/blazeface/fetch fills.
	BlazeFace = "NERO_BLAZEFACE"
	// Silero is the folder that examples/silero/fetch fills.
	Silero = "NERO_SILERO"
	// Gallery is the folder of executed notebooks that .ci/gallery writes.
	Gallery = "NERO_GALLERY"
	// ONNXData is the folder of ONNX's own test data for backends, with node, simple and others below it.
	ONNXData = "NERO_ONNX_TESTDATA"
	// Strace is the program that traces system calls: its path, or its name in PATH.
	Strace = "NERO_STRACE"
	// Telemetry is a library of ONNX Runtime that sends telemetry unless it is told not to, as .ci/telemetry fetches.
	Telemetry = "NERO_ORT_TELEMETRY"
	// OpenVINO is a library of ONNX Runtime that has the provider OpenVINO, as .ci/openvino fetches, and CUDA one that
	// has CUDA, on a machine with a graphics processor of NVIDIA.
	OpenVINO = "NERO_ORT_OPENVINO"
	CUDA     = "NERO_ORT_CUDA"
	// WebModules says, when set to 1, that npm ci was run in serve/web.
	WebModules = "NERO_WEB_MODULES"
)

// Named is the value of a variable; the test is skipped where it is not set.
func Named(tb testing.TB, variable string) string {
	tb.Helper()
	v := os.Getenv(variable)
	if v == "" {
		tb.Skipf("%s is not set: not tested", variable)
	}
	return v
}

// Folder is the folder that a variable names. The test is skipped where the variable is not set, and fails where the
// folder does not hold the file.
func Folder(tb testing.TB, variable, file string) string {
	tb.Helper()
	dir := Named(tb, variable)
	if _, err := os.Stat(filepath.Join(dir, file)); err != nil {
		tb.Fatalf("%s names %s, which does not hold %s: %v", variable, dir, file, err)
	}
	return dir
}
