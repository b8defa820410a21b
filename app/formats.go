package app

import (
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"nero/audit"
	"nero/audit/page"
)

// writers of the formats of an audit.
var auditFormats = map[string]struct {
	file  string
	write func(io.Writer, ...*audit.Report) error
}{
	"text":     {"audit.txt", audit.Text},
	"json":     {"audit.json", audit.JSON},
	"junit":    {"audit.junit.xml", audit.JUnit},
	"markdown": {"audit.md", audit.Markdown},
	"html":     {"audit.html", page.HTML},
	"sarif":    {"audit.sarif", audit.SARIF},
	"badge":    {"audit.badge.json", audit.Badge},
}

// AuditFormats are the formats of audits, sorted.
func AuditFormats() []string { return slices.Sorted(maps.Keys(auditFormats)) }

// AuditFile is the name of the file in which a format is written; empty for a format that there is not.
func AuditFile(format string) string { return auditFormats[format].file }

// auditFiles are the names of the files that an audit writes.
func auditFiles() []string {
	var names []string
	for _, f := range AuditFormats() {
		names = append(names, AuditFile(f))
	}
	return names
}

// CheckAuditOutput says before an audit runs whether its reports can be written in these formats, and into the folder
// out where one is named: several formats need one.
func CheckAuditOutput(formats []string, out string) error {
	want := strings.Join(AuditFormats(), ", ")
	for _, f := range formats {
		if _, ok := auditFormats[f]; !ok {
			return fmt.Errorf("--format %q: want one or more of %s", f, want)
		}
	}
	switch {
	case len(formats) == 0:
		return fmt.Errorf("--format: want one or more of %s", want)
	case out == "" && len(formats) > 1:
		return fmt.Errorf("--format %s: several formats need a folder, -o DIR", strings.Join(formats, ","))
	}
	return nil
}

// CheckAuditFolder says before an audit runs whether its reports can be written into a folder.
func CheckAuditFolder(out string) error {
	if err := ownFolder(out, auditFiles()...); err != nil {
		return err
	}
	return writable(out) // not after minutes of work
}

// Write writes the reports in one format.
func (r *AuditResult) Write(w io.Writer, format string) error {
	f, ok := auditFormats[format]
	if !ok {
		return CheckAuditOutput([]string{format}, "")
	}
	return f.write(w, r.Reports...)
}

// Save writes the reports into a folder, each format into a file of its own ([AuditFile]).
func (r *AuditResult) Save(out string, formats ...string) error {
	if err := ownFolder(out, auditFiles()...); err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	for _, f := range formats {
		var b strings.Builder
		if err := r.Write(&b, f); err != nil {
			return err
		}
		if err := writeFile(filepath.Join(out, AuditFile(f)), []byte(b.String())); err != nil {
			return err
		}
	}
	return nil
}
