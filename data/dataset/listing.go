package dataset

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// listing is the files of a folder that become samples, or one file, with their labels. An ID is the path below the
// folder, with slashes; the tags are the folders on it.
type listing struct {
	fsys fs.FS
	// as the user wrote it, for messages and Files
	root  string
	paths []string
	// of the files to take
	endings []string
	// what these files are called
	noun string
	// endings of files that something else reads
	skip   []string
	labels []int
	names  []string
	notes  []string
	// other files read: the table of labels
	extra []string
}

// find lists the files, sorted by the bytes of their path.
func (l *listing) find() error {
	st, err := fs.Stat(l.fsys, l.root)
	if err != nil {
		return err
	}
	if !st.IsDir() {
		l.paths = []string{""}
		return nil
	}
	others := map[string]int{}
	if err := l.walk("", []fs.FileInfo{st}, others); err != nil {
		return err
	}
	left := leftOut(others)
	if len(l.paths) == 0 {
		if left != "" {
			left = "; it has " + left
		}
		return fmt.Errorf("no %s: no file in the folder or below ends in %s%s", l.noun,
			strings.Join(l.endings, ", "), left)
	}
	if left != "" {
		l.notes = append(l.notes, l.root+": left out "+left)
	}
	if len(l.paths) > maxSamples {
		return fmt.Errorf("%d %s, want at most %d", len(l.paths), l.noun, maxSamples)
	}
	slices.Sort(l.paths)
	return nil
}

// leftOut lists what was left out.
func leftOut(n map[string]int) string {
	var list []string
	for e, k := range n {
		switch e {
		case "":
			e = "files without ending"
		case danglingLinks:
		default:
			e = "files " + e
		}
		list = append(list, fmt.Sprintf("%d %s", k, e))
	}
	slices.Sort(list)
	if len(list) > 5 {
		list = append(list[:5], "and more")
	}
	return strings.Join(list, ", ")
}

// danglingLinks is what links to nowhere are counted under, which no ending of a file can be.
const danglingLinks = "links to nowhere"

// walk visits the folder dir below the root. Hidden entries are left out, links are followed; above holds the folders
// that lead here, so that a link upwards ends.
func (l *listing) walk(dir string, above []fs.FileInfo, others map[string]int) error {
	entries, err := fs.ReadDir(l.fsys, l.name(dir))
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := e.Name()
		if strings.HasPrefix(name, ".") || slices.Contains(leavings(), name) {
			continue
		}
		p := path.Join(dir, name)
		kind := e.Type()
		var st fs.FileInfo
		if kind&fs.ModeSymlink != 0 || e.IsDir() {
			st, err = fs.Stat(l.fsys, l.name(p))
			switch {
			case err == nil:
			case kind&fs.ModeSymlink == 0 || !errors.Is(err, fs.ErrNotExist):
				return err
			case endsIn(name, l.endings):
				return fmt.Errorf("%s is a link that leads nowhere: remove it, or bring back the file", l.name(p))
			default:
				others[danglingLinks]++
				continue
			}
			if kind&fs.ModeSymlink != 0 && st.IsDir() {
				l.leads(p)
			}
			kind = st.Mode().Type()
		}
		switch {
		case kind.IsDir():
			if slices.ContainsFunc(above, func(a fs.FileInfo) bool { return os.SameFile(a, st) }) {
				continue
			}
			if err := l.walk(p, append(slices.Clip(above), st), others); err != nil {
				return err
			}
		case !kind.IsRegular():
		case endsIn(name, l.endings):
			l.paths = append(l.paths, p)
		case endsIn(name, l.skip):
		default:
			others[strings.ToLower(path.Ext(name))]++
		}
	}
	return nil
}

// leavings are what systems leave in folders beside hidden files, which nobody wants to read of.
func leavings() []string { return []string{"__MACOSX", "Thumbs.db", "ehthumbs.db", "desktop.ini"} }

// leads notes where a linked folder leads if that is outside of the root: what is read there is not what was named.
func (l *listing) leads(p string) {
	if !local(l.fsys) {
		return
	}
	root, err := filepath.EvalSymlinks(l.root)
	if err != nil {
		return
	}
	to, err := filepath.EvalSymlinks(l.name(p))
	if err != nil {
		return
	}
	if in, err := filepath.Rel(root, to); err != nil || !filepath.IsLocal(in) {
		if absolute, err := filepath.Abs(to); err == nil {
			to = absolute
		}
		l.notes = append(l.notes, fmt.Sprintf(
			"%s: the linked folder %s leads out of it, to %s; what lies there is read", l.root, p, to))
	}
}

// endsIn tells whether a file's name has one of some endings in small letters, such as .png or .nii.gz.
func endsIn(name string, endings []string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc(endings, func(e string) bool { return strings.HasSuffix(name, e) })
}

// name is a path in the file system.
func (l *listing) name(p string) string {
	if p == "" {
		return l.root
	}
	if local(l.fsys) {
		return filepath.Join(l.root, filepath.FromSlash(p))
	}
	return path.Join(l.root, p)
}

// id is the name of a sample.
func (l *listing) id(p string) string {
	if p == "" {
		return path.Base(filepath.ToSlash(l.root))
	}
	return p
}

// label takes the labels from the table, the pattern or the folders.
func (l *listing) label(o opener, spec Spec) error {
	if spec.Labels != "" {
		if spec.Pattern != "" {
			return fmt.Errorf("%s: labels come from %s or from the pattern, not from both: give one", spec.Images,
				spec.Labels)
		}
		labels, names, notes, err := o.labels(spec, l.IDs())
		if err != nil {
			return err
		}
		l.labels, l.names, l.notes, l.extra = labels, names, append(l.notes, notes...), []string{spec.Labels}
		return nil
	}
	words := make([]string, len(l.paths))
	if spec.Pattern != "" {
		if err := l.match(spec.Pattern, words); err != nil {
			return inFile(spec.Images, err)
		}
	} else if !l.folderWords(words) {
		return nil
	}
	var err error
	if l.labels, l.names, err = classes(words); err != nil {
		return inFile(spec.Images, err)
	}
	return nil
}

// match reads words from the group label of a pattern.
func (l *listing) match(pattern string, words []string) error {
	re, err := regexp.Compile(pattern)
	if err != nil {
		return fmt.Errorf("pattern: %w", err)
	}
	group := re.SubexpIndex("label")
	if group < 0 {
		return fmt.Errorf("pattern %q has no group named label: write (?P<label>...) around the part that is the class",
			pattern)
	}
	missed, first := 0, ""
	for i, id := range l.IDs() {
		if m := re.FindStringSubmatch(id); m != nil && m[group] != "" {
			words[i] = m[group]
			continue
		}
		if missed == 0 {
			first = id
		}
		missed++
	}
	if missed == len(words) {
		return fmt.Errorf("pattern %q matches none of the %d %s, which are named like %q", pattern, len(words),
			l.noun, first)
	}
	if missed > 0 {
		l.notes = append(l.notes, fmt.Sprintf("%s: the pattern does not match %d %s, which have no label, first %q",
			l.root, missed, l.noun, first))
	}
	return nil
}

// folderWords takes the first folder on the way to each image as its label. It tells whether these folders are classes:
// one folder that is not a number is not.
func (l *listing) folderWords(words []string) bool {
	all := map[string]bool{}
	bare := 0
	for i, p := range l.paths {
		if top, _, ok := strings.Cut(p, "/"); ok {
			words[i] = top
			all[top] = true
		} else {
			bare++
		}
	}
	if len(all) == 0 {
		return false
	}
	if len(all) == 1 {
		for w := range all {
			if _, ok := classNumber(w); !ok {
				l.notes = append(l.notes, fmt.Sprintf("%s: all %s lie in the folder %q, which is not taken for a class",
					l.root, l.noun, w))
				return false
			}
		}
	}
	if bare > 0 {
		l.notes = append(l.notes, fmt.Sprintf("%s: %d %s lie in no folder and have no label", l.root, bare, l.noun))
	}
	return true
}

// IDs are the names of the samples.
func (l *listing) IDs() []string {
	ids := make([]string, len(l.paths))
	for i, p := range l.paths {
		ids[i] = l.id(p)
	}
	return ids
}

// Files are the images and the table of labels.
func (l *listing) Files() []string {
	files := make([]string, 0, len(l.paths)+len(l.extra))
	for _, p := range l.paths {
		files = append(files, l.name(p))
	}
	return append(files, l.extra...)
}

// tags are the folders on the way to an image.
func (*listing) tags(p string) []string {
	if dir := path.Dir(p); dir != "." && p != "" {
		return strings.Split(dir, "/")
	}
	return nil
}
