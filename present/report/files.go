package report

import (
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"nero/present/table"
	"nero/present/words"
	"nero/run/job"
)

// mostFiles is how many data files the page names one by one; more of them would stand before the first result.
const mostFiles = 6

// slashed is a stored path with slashes, also where a run on Windows stored it.
func slashed(name string) string { return strings.ReplaceAll(name, `\`, "/") }

// shortPath is the end of a stored path: the file and its folder. What lies above says where somebody keeps their
// files, which tells a reader nothing and cannot be found elsewhere.
func shortPath(name string) string {
	parts := strings.FieldsFunc(slashed(name), func(r rune) bool { return r == '/' })
	return strings.Join(parts[max(0, len(parts)-2):], "/")
}

// fileNames are the names of files below the folder that they share, so that they do not change with the place of that
// folder.
func fileNames(files []job.Ref) []string {
	names := make([]string, len(files))
	var common []string
	for i, f := range files {
		names[i] = slashed(f.Path)
		dirs := strings.Split(path.Dir(names[i]), "/")
		if i == 0 {
			common = dirs
		}
		n := 0
		for n < min(len(common), len(dirs)) && common[n] == dirs[n] {
			n++
		}
		common = common[:n]
	}
	for i := range names {
		if dir := strings.Join(common, "/"); dir != "" && dir != "." {
			names[i] = strings.TrimPrefix(names[i], dir+"/")
		}
		names[i] = strings.TrimPrefix(names[i], "/")
	}
	return names
}

// digestOfList is the SHA-256 of the sorted lines "<SHA-256>  <name>\n" of files, the form that sha256sum writes.
func digestOfList(files []job.Ref) string {
	lines := make([]string, len(files))
	for i, name := range fileNames(files) {
		lines[i] = files[i].SHA256 + "  " + name + "\n"
	}
	slices.Sort(lines)
	sum := sha256.Sum256([]byte(strings.Join(lines, "")))
	return hex.EncodeToString(sum[:])
}

// Files writes the files that a run read, one line each: what it is to the run (model, data), its name (of a model that
// of the study, of data the path below the folder that all data files share), its path as the run stored it, and its
// SHA-256.
// A name that a spreadsheet would take for a formula gets an apostrophe before it.
func Files(w io.Writer, j *job.Job) error {
	c := csv.NewWriter(w)
	lines := [][]string{{"role", "name", "path", "sha256"}}
	for _, m := range j.Models {
		lines = append(lines, []string{"model", table.Plain(m.Name), table.Plain(m.Path), m.SHA256})
	}
	for i, name := range fileNames(j.Files) {
		f := j.Files[i]
		lines = append(lines, []string{"data", table.Plain(name), table.Plain(f.Path), f.SHA256})
	}
	return c.WriteAll(lines) // flushes
}

// dataLines say which data files a run read: each with its digest, or all with that of their list.
func (p *page) dataLines() []string {
	files := p.j.Files
	if len(files) > mostFiles {
		return []string{fmt.Sprintf(
			"%s files, digest of the list `%s` (SHA-256 of the sorted lines \"digest, two spaces, name\"); each is "+
				"in [files.csv](files.csv)",
			words.Count(len(files)), digestOfList(files))}
	}
	lines := make([]string, len(files))
	for i, f := range files {
		lines[i] = fmt.Sprintf("%s, SHA-256 `%s`", words.Markdown(shortPath(f.Path)), code(f.SHA256))
	}
	return lines
}
