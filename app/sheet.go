package app

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"nero/internal/disk"
	"nero/present/sheet"
	"nero/run/job"
)

// writeForm writes a report in one form, the first where none is named.
func writeForm[R any](w io.Writer, forms []*sheet.Form[R], name string, report R) error {
	f, err := sheet.Find(forms, cmp.Or(name, forms[0].Name))
	if err != nil {
		return err
	}
	return f.Write(w, report)
}

// writeForms writes a report into a folder in every form, under one name with the endings of the forms.
func writeForms[R any](dir, name string, forms []*sheet.Form[R], report R) error {
	for _, f := range forms {
		var b bytes.Buffer
		if err := f.Write(&b, report); err != nil {
			return err
		}
		if err := writeFile(filepath.Join(dir, name+f.Ending), b.Bytes()); err != nil {
			return err
		}
	}
	return nil
}

// filesOf are the names of what [writeForms] writes.
func filesOf[R any](name string, forms []*sheet.Form[R]) []string {
	names := make([]string, len(forms))
	for i, f := range forms {
		names[i] = name + f.Ending
	}
	return names
}

// reportFile sees to it before anything is worked on that a report can be written into a file, and that it is none of
// what the study reads.
func (a *App) reportFile(s *job.Study, file string) error {
	out := a.option("out")
	if i, err := os.Stat(file); err == nil && i.IsDir() {
		return fmt.Errorf("%s: %s is a folder, want a file", out, file)
	}
	for _, read := range []string{s.Data.Images, s.Data.Labels, s.Data.Targets, s.Data.Views} {
		if read != "" && same(file, read) {
			return fmt.Errorf("%s: %s is the data itself, which would be lost: name another file", out, file)
		}
	}
	dir := filepath.Dir(file)
	if i, err := os.Stat(dir); err != nil || !i.IsDir() {
		return fmt.Errorf("%s %s: there is no folder %s: make it first", out, file, dir)
	}
	if err := disk.Writable(dir); err != nil {
		return fmt.Errorf("%s %s: files cannot be written there: %w", out, file, err)
	}
	return nil
}
