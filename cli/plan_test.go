package cli

import "testing"

// The command that a planned audit names is that of the audit, whatever folders are called.
func TestAudited(t *testing.T) {
	a := &App{args: []string{"-q", "plan", "--audit", "study.yaml", "--data", "plan", "--json=true", "-o", "plan"}}
	if got, want := a.audited(), "nero audit study.yaml --data plan"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
