package siege

import (
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"nero/app"
	"nero/cli"
)

// TestMain lets campaigns start the program: the test binary is it, too, and the process that an engine has of its own.
func TestMain(m *testing.M) {
	if app.EngineAsked() {
		os.Exit(app.RunEngine())
	}
	testscript.Main(m, map[string]func(){"nero": func() { os.Exit(cli.Main()) }})
}
