package app

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"nero/audit/document"
	"nero/audit/render"
	"nero/present/words"
)

// AuditFormats are the formats of audits, those for people first.
func AuditFormats() []string {
	var names []string
	for _, f := range render.Formats() {
		names = append(names, f.Name)
	}
	return names
}

// AuditFile is the name of the file in which a format is written; empty for a format that there is not.
func AuditFile(format string) string {
	f, _ := render.Find(format) // the zero format has no file
	return f.File
}

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
	known := slices.Sorted(slices.Values(AuditFormats()))
	want := strings.Join(known, ", ")
	for _, f := range formats {
		if _, ok := render.Find(f); !ok {
			if near, ok := words.Suggest(f, known); ok {
				return fmt.Errorf("--format %q: want one or more of %s; did you mean %q?", f, want, near)
			}
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
	if info, err := os.Stat(out); err != nil || !info.IsDir() {
		for _, name := range auditFiles() {
			if ext := filepath.Ext(name); ext != "" && strings.EqualFold(ext, filepath.Ext(out)) {
				return fmt.Errorf("-o %s: reports of an audit are written into a folder, and this looks like a file; "+
					"name a folder, or leave -o away and write one format with > %[1]s", out)
			}
		}
	}
	if err := writable(out); err != nil { // not after minutes of work
		return err
	}
	for _, name := range auditFiles() {
		if info, err := os.Stat(filepath.Join(out, name)); err == nil && info.IsDir() {
			return fmt.Errorf("-o %s: %s is a folder, and a report is to be written there; move it away, or give "+
				"another "+
				"folder", out, filepath.Join(out, name))
		}
	}
	return ownFolder(out, anyOf(auditFiles()...))
}

// Write writes the reports in one format.
func (r *AuditResult) Write(w io.Writer, format string) error {
	return writeAudit(w, r.Document(), format)
}

// WriteScreen writes the text for a terminal of so many columns, 0 for an unknown number.
func (r *AuditResult) WriteScreen(w io.Writer, columns int) error {
	return render.Screen(w, r.Document(), columns)
}

func writeAudit(w io.Writer, d *document.Audit, format string) error {
	f, ok := render.Find(format)
	if !ok {
		return CheckAuditOutput([]string{format}, "")
	}
	return f.Render(w, d)
}

// Save writes the reports into a folder, each format into a file of its own ([AuditFile]).
func (r *AuditResult) Save(out string, formats ...string) error {
	return saveAudit(r.Document(), out, formats)
}

func saveAudit(d *document.Audit, out string, formats []string) error {
	if err := CheckAuditFolder(out); err != nil {
		return err
	}
	return fillFolder(out, anyOf(auditFiles()...), nil, func() error {
		for _, f := range formats {
			var b strings.Builder
			if err := writeAudit(&b, d, f); err != nil {
				return err
			}
			if err := writeFile(filepath.Join(out, AuditFile(f)), []byte(b.String())); err != nil {
				return err
			}
		}
		return nil
	})
}
