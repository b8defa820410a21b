package shelf

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"nero/run/job"
)

// folderClasses are the names of the classes of data that lie in a folder per class, by label, as the run's job lists
// its files: also of classes that no sample of the run has, and of a run whose summary is not there yet. They are nil
// where the labels come from elsewhere, where folders are numbers, which are the labels themselves, and where the files
// do not lie below the data folder.
func folderClasses(j *job.Job) []string {
	d := &j.Study.Data
	if d.Labels != "" || d.Views != "" || d.Pattern != "" || d.Format != "" && d.Format != "folder" {
		return nil
	}
	root := path.Clean(filepath.ToSlash(d.Images)) + "/"
	known := map[string]bool{}
	var names []string
	for _, f := range j.Files {
		below, ok := strings.CutPrefix(path.Clean(filepath.ToSlash(f.Path)), root)
		if !ok {
			return nil
		}
		if top, _, ok := strings.Cut(below, "/"); ok && !known[top] {
			known[top] = true
			names = append(names, top)
		}
	}
	// As the data set reads them: "3" and "3.0" are numbers.
	word := func(w string) bool {
		whole, frac, dot := strings.Cut(w, ".")
		return whole == "" || strings.Trim(whole, "0123456789") != "" || strings.Trim(frac, "0") != "" || dot &&
			frac == ""
	}
	if len(names) < 2 || !slices.ContainsFunc(names, word) {
		return nil
	}
	slices.Sort(names)
	return names
}
