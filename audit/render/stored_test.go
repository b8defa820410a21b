package render_test

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"

	"nero/audit"
	"nero/audit/audittest"
	"nero/audit/document"
	"nero/audit/render"
)

// An audit that was stored is written with the bytes that it had when it was made, in every form.
func TestStored(t *testing.T) {
	full := audittest.Report()
	for name, reports := range map[string][]*audit.Report{
		"full": {full}, "hostile": {audittest.Hostile()}, "none": nil,
		"several": append(goldenReports(t), full, audit.CouldNotRun("m", full.Policy, errors.New("no"))),
	} {
		stored := must[*document.Audit](t)(document.Read("audit.json", []byte(write(t, render.JSON, reports...))))
		for _, f := range render.Formats() {
			var b bytes.Buffer
			if err := f.Render(&b, stored); err != nil {
				t.Fatal(err)
			}
			if want := write(t, f, reports...); b.String() != want {
				t.Errorf("%s, %s: the stored audit is written in other bytes", name, f.Name)
			}
		}
	}
}

// What an older program stored is written in every form, with what it has.
func TestOldAudit(t *testing.T) {
	const name = "../document/testdata/old.json"
	old := must[*document.Audit](t)(document.Read(name, must[[]byte](t)(os.ReadFile(name))))
	for _, f := range render.Formats() {
		var b bytes.Buffer
		if err := f.Render(&b, old); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"FAIL", "c4"} {
			if f.Name != "badge" && !strings.Contains(b.String(), want) {
				t.Errorf("%s: no %q", f.Name, want)
			}
		}
	}
}
