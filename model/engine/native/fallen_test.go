//go:build (darwin || linux || windows) && (amd64 || arm64) && !nonative

package native

import (
	"errors"
	"testing"

	"nero/model/engine/provider"
)

// That a provider does not take all of a model is found out by opening it with the processor, in whatever words the
// release refuses it.
func TestAFallbackIsFoundByOpening(t *testing.T) {
	refused, broken := errors.New("words of a release to come"), errors.New("the model is broken")
	var cpu provider.Placement
	cpu.Add("CPUExecutionProvider", "Det")
	for text, k := range map[string]struct {
		again error
		want  bool
	}{
		"cuda":     {nil, true},
		"openvino": {broken, false}, // neither way
		"cuda+cpu": {nil, false},    // the processor was allowed already
		"cpu":      {nil, false},
	} {
		l, err := provider.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		asked := false
		got := fallen(l, refused, func() (provider.Placement, error) { asked = true; return cpu, k.again })
		f, is := errors.AsType[*provider.FallbackError](got)
		if is != k.want || is && (f.Placement.Processor().Nodes != 1 || !f.List.Equal(l)) {
			t.Errorf("%s: %v", text, got)
		}
		if !is && !errors.Is(got, refused) {
			t.Errorf("%s: %v, want the first error", text, got)
		}
		if asked && (l.Plain() || l.Fallback) {
			t.Errorf("%s: the processor is allowed, and the model was opened again", text)
		}
	}
}
