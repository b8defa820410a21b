package app

import (
	"bytes"
	"cmp"
	"io"
	"path/filepath"

	"nero/present/sheet"
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
