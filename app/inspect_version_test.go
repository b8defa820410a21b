package app_test

import (
	"slices"
	"strings"
	"testing"

	"nero/app"
	"nero/internal/outside"
	"nero/model/engine/choose/choosetest"
	"nero/model/onnx/facts"
)

// What takes a model is said of the library that is installed, and not of one that could be.
func TestInspectNamesTheLibraryThatIsThere(t *testing.T) {
	host := choosetest.Host()
	host.Library = outside.Named(t, "NERO_ORT_TELEMETRY") // newer than the preset
	a := &app.App{Host: &host}
	e, err := a.ChooseEngine(t.Context(), app.Engine{})
	if err != nil {
		t.Fatal(err)
	}
	i, err := a.Inspect(t.Context(), "../studies/digits/models/digits-c4.onnx", nil)
	if err != nil {
		t.Fatal(err)
	}
	want := "native (ONNX Runtime " + e.Version + ")"
	if !slices.ContainsFunc(i.Engines, func(e facts.Engine) bool { return e.Name == want && e.Takes }) {
		t.Errorf("%+v, want %q among them", i.Engines, want)
	}
}

// Without a library none is said to take a model as if it were there.
func TestInspectSaysWhatIsNotThere(t *testing.T) {
	host := choosetest.Host()
	host.Library = "none"
	i, err := (&app.App{Host: &host}).Inspect(t.Context(), "../studies/digits/models/digits-c4.onnx", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range i.Engines {
		if absent := strings.Contains(e.Name, "not installed here"); absent != strings.HasPrefix(e.Name, "native") {
			t.Errorf("%+v", e)
		}
	}
}
