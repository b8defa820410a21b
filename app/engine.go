package app

import (
	"context"
	"fmt"
	"io"
	"strings"

	"nero/model/engine"
	"nero/model/engine/choose"
	"nero/model/engine/provider"
	"nero/model/onnx"
	"nero/run/workload"
)

// EngineReport is an engine that was chosen and passed its test.
type EngineReport struct {
	engine.Info
	// Limits are the operator sets and file formats that it takes.
	Limits onnx.Limits `json:"limits"`
	// Has are the execution providers that the library was built with, the processor last; each may need more than the
	// library. Empty for the embedded engine.
	Has []string `json:"providers,omitempty"`
	// Notes are sentences on how it was chosen.
	Notes []string `json:"notes,omitempty"`
	// Hint says how to get a faster one; empty if there is none.
	Hint string `json:"-"`
}

// ChooseEngine chooses the engine as every other method does, tests it, and says which one it is.
func (a *App) ChooseEngine(ctx context.Context, e Engine) (*EngineReport, error) {
	on, err := provider.Parse(e.Providers...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", a.option("provider"), err)
	}
	r := a.request(e)
	r.Providers = []provider.List{on}
	c, err := choose.Open(ctx, r, a.host())
	if err != nil {
		return nil, a.lacking(err)
	}
	limits, err := workload.Limits(c)
	if err != nil {
		return nil, err
	}
	report := &EngineReport{Info: engine.On(c.Engine, on).Info(), Limits: limits, Notes: c.Notes, Hint: c.Hint()}
	if p, ok := c.Engine.(engine.Provided); ok {
		report.Has = provider.Short(p.Providers())
	}
	return report, nil
}

// WriteText writes it for people.
func (r *EngineReport) WriteText(to io.Writer) error {
	out := &strings.Builder{}
	fmt.Fprintf(out, "engine:  %s, ONNX Runtime %s\n", r.Name, r.Version)
	if r.Path != "" {
		fmt.Fprintf(out, "library: %s\n", r.Path)
	}
	if len(r.Has) > 0 {
		fmt.Fprintf(out, "has:     %s\n", strings.Join(r.Has, ", "))
	}
	if r.Provider != "" {
		fmt.Fprintf(out, "on:      %s\n", r.Provider)
	}
	fmt.Fprintf(out, "reason:  %s\ntakes:   operator sets %d to %d, file formats up to IR %d\nself-test: passed\n",
		r.Reason, r.Limits.MinOpset, r.Limits.MaxOpset, r.Limits.MaxIR)
	for _, n := range r.Notes {
		fmt.Fprintf(out, "note:    %s\n", n)
	}
	if r.Hint != "" {
		fmt.Fprintf(out, "hint:    %s\n", r.Hint)
	}
	_, err := io.WriteString(to, out.String())
	return err
}

// InstallEngine takes ONNX Runtime's library for this machine out of a file, tests it, and copies it into the user's
// cache folder, where it is found from then on. It returns the path of the copy.
func (a *App) InstallEngine(ctx context.Context, file string) (string, error) {
	return choose.Install(ctx, file, a.host())
}
