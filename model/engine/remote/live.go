package remote

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"nero/data/tensor"
	"nero/model/engine/child"
	"nero/model/engine/frame"
)

// Live is the way to the program that started this one, see package parent.
type Live interface {
	// Ask asks one question and waits for its answer, no longer than the context. The tensors of the answer are
	// expected to have so many bytes, as far as that is known. The memory of raws may be used again when it returns.
	Ask(ctx context.Context, head []byte, expected int, raws ...[]byte) (frame.Frame, error)
}

// liveScheme is what endpoints begin with that are functions of the program that started this one.
const liveScheme = "live"

// parseLive reads live://NAME.
func parseLive(text string) (e Endpoint, ok bool, err error) {
	name, ok := strings.CutPrefix(text, liveScheme+"://")
	if !ok {
		return e, false, nil
	}
	if name == "" || strings.ContainsAny(name, "/?#") {
		return e, true, fmt.Errorf("endpoint %s: expected live:// and the name of a function of the Python program "+
			"that starts nero", quote(text))
	}
	return Endpoint{Scheme: liveScheme, Model: name}, true, nil
}

// viaLive asks a function of the program that started this one.
type viaLive struct {
	c    Config
	name string
}

// newLive asks nothing yet.
func newLive(at Endpoint, c Config) (transport, error) {
	if c.Live == nil {
		return nil, failed("it is a function of a Python program, which starts nero and answers while that runs; " +
			"this nero was not started by one: go on from Python, with the same function and folder")
	}
	return &viaLive{c, at.Model}, nil
}

func (v *viaLive) describe(ctx context.Context) (*description, error) {
	head, err := json.Marshal(map[string]string{"method": "describe", "model": v.name})
	if err != nil {
		return nil, err
	}
	f, err := v.c.Live.Ask(ctx, head, 0)
	if err != nil {
		return nil, err
	}
	return introduced(f, nothing)
}

func (v *viaLive) infer(ctx context.Context, in []tensor.Named, outputs []string, with parameters, n need) (*answer,
	error,
) {
	head, raws, err := v.c.request(asking{"infer", v.name}, in, outputs, with, true)
	if err != nil {
		return nil, err
	}
	f, err := v.c.Live.Ask(ctx, head, n.bytes, raws...)
	if err != nil {
		return nil, err
	}
	if err := faulty(f, nothing); err != nil {
		return nil, err
	}
	return v.c.answer(f.JSON, f.Raw, outputs)
}

// close closes nothing: all functions share one channel.
func (v *viaLive) close() error { return nil }

// nothing is what is known besides of an error of a function: its own words say all.
func nothing() string { return "" }

// introduced reads an answer to describe; last is how an error of it ends.
func introduced(f frame.Frame, last func() string) (*description, error) {
	var m struct {
		Name     string        `json:"name"`
		Versions few[string]   `json:"versions"`
		Platform string        `json:"platform"`
		Inputs   few[portMeta] `json:"inputs"`
		Outputs  few[portMeta] `json:"outputs"`
		Error    string        `json:"error"`
	}
	if err := child.Unmarshal(f.JSON, &m); err != nil {
		return nil, err
	}
	if m.Error != "" {
		return nil, failed("it answers describe with an error: %s%s", child.Quote(m.Error), last())
	}
	if len(f.Raw) > 0 {
		return nil, failed("its answer to describe has %d bytes of tensors; expected none", len(f.Raw))
	}
	return &description{Name: m.Name, Versions: m.Versions, Platform: m.Platform, Inputs: m.Inputs, Outputs: m.Outputs},
		nil
}

// faulty is the error that an answer says; last is how it ends.
func faulty(f frame.Frame, last func() string) error {
	var e struct {
		Error string `json:"error"`
	}
	if json.Unmarshal(f.JSON, &e) == nil && e.Error != "" { // what is no JSON is told of elsewhere
		return failed("it answers with an error: %s%s", child.Quote(e.Error), last())
	}
	return nil
}
