package app_test

import (
	"slices"
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
