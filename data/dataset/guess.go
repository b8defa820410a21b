package dataset

import (
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// plainFormat guesses the format of a file that is no picture by its ending; of .xyz, which points and molecules share,
// by its first two lines. It is "" where the ending leaves it open, as .txt and .csv do.
func plainFormat(fsys fs.FS, name string) string {
	switch strings.ToLower(path.Ext(filepath.ToSlash(name))) {
	case ".off", ".obj", ".ply":
		return "clouds"
	case ".sdf", ".sd", ".mol", ".extxyz":
		return "molecules"
	case ".wav", ".wave":
		return "signals"
	case ".jsonl", ".ndjson":
		return "graphs"
	case ".xyz":
		return xyzFormat(fsys, name)
	}
	return ""
}

// xyzFormat tells molecules, a number of atoms and a remark, from lines of coordinates.
func xyzFormat(fsys fs.FS, name string) string {
	f, err := fsys.Open(name)
	if err != nil {
		return ""
	}
	defer f.Close() //nolint:errcheck // only read from
	b, err := io.ReadAll(io.LimitReader(f, 4096))
	if err != nil {
		return ""
	}
	lines := strings.SplitN(string(b), "\n", 3)
	if _, err := strconv.Atoi(strings.TrimSpace(lines[0])); err != nil || len(lines) < 2 {
		return "clouds"
	}
	numbers := strings.Fields(lines[1])
	if len(numbers) < 3 ||
		slices.ContainsFunc(numbers, func(w string) bool { _, err := strconv.ParseFloat(w, 64); return err != nil }) {
		return "molecules"
	}
	return "clouds"
}

// folderFormat guesses what a folder holds: pictures, if there is one, or else the one kind of other data that its
// files are.
func folderFormat(fsys fs.FS, root string) string {
	const pictures = "folder"
	format := ""
	err := fs.WalkDir(fsys, root, func(name string, d fs.DirEntry, err error) error {
		base := path.Base(filepath.ToSlash(name))
		switch {
		case err != nil:
			return err
		case name != root && (strings.HasPrefix(base, ".") || base == "__MACOSX"):
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case d.IsDir():
			return nil
		}
		found := plainFormat(fsys, name)
		if slices.Contains(imageEndings(), strings.ToLower(path.Ext(base))) || found != "" && format != "" &&
			found != format {
			format = pictures
			return fs.SkipAll
		}
		if found != "" {
			format = found
		}
		return nil
	})
	if err != nil || format == "" {
		return pictures // what is wrong is said where the folder is read
	}
	return format
}
