package cli

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

// A bar says no rate before there is one: of the first steps alone it would be millions a second.
func TestBarSettles(t *testing.T) {
	var out bytes.Buffer
	now := time.Unix(0, 0)
	p := &progress{out: &out, task: "nero run", label: "nero run", unit: "evaluations", tty: true, every: time.Hour}
	p.now = func() time.Time { return now }
	p.size(1000)
	now = now.Add(settling / 2)
	p.step(400, false)
	if out.Len() > 0 {
		t.Errorf("drawn after half of the time: %q", out.String())
	}
	now = now.Add(settling / 2)
	p.step(100, false)
	if !strings.Contains(out.String(), "500/1000") {
		t.Errorf("drawn when it settled: %q, want 500/1000", out.String())
	}
	p.finish()
	if !strings.Contains(out.String(), "500 evaluations in 1s (500/s)") {
		t.Errorf("at the end: %q", out.String())
	}
}

// Work of which nobody said how much there is counts all the same, and lasts from its first steps on.
func TestProgressWithoutASize(t *testing.T) {
	var out bytes.Buffer
	now := time.Unix(1e9, 0)
	p := &progress{out: &out, task: "nero discover", label: "nero discover", unit: "predictions", every: time.Second}
	p.now = func() time.Time { return now }
	p.step(100, false)
	now = now.Add(2 * time.Second)
	p.step(100, false)
	if !strings.Contains(out.String(), "200 predictions so far, 100/s") {
		t.Errorf("on the way: %q", out.String())
	}
	p.finish()
	if !strings.Contains(out.String(), "200 predictions in 2s (100/s)") {
		t.Errorf("at the end: %q", out.String())
	}
}
