package shelf

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"nero/serve/api"
)

// Sheets are what the commands left behind that make neither runs nor audits: the bill of a repair, a discovery, a
// report on data, answers to the questionnaire, releases that are watched, what may be done to weights, how
// features move, answers to the same asked again. Each kind is a value, and what stands in its file is known to the
// package that writes it.

// sheetKind is a kind of sheet.
type sheetKind struct {
	// name is that of its page.
	name string
	// file is the name by which it is found in folders, marks what stands in its first bytes: a file of that name
	// without them is somebody else's.
	file  string
	marks []string
	// below is the folder beside the file that holds audits of it, "" for none.
	below string
	// remedy is how to get one that can be read.
	remedy string
	read   func(file string, text []byte) (*read, error)
}

// sheetKinds are all kinds of sheets, in the order of their pages.
func sheetKinds() []*sheetKind {
	return []*sheetKind{
		bills(), discoveries(), censuses(), questionnaires(), watched(), weighed(), embedded(), repeated(),
	}
}

// read is what a sheet says.
type read struct {
	// title is what it is of, sentence its answer.
	title, sentence string
	// models are their names, digests those of their files.
	models, digests []string
	// files are those that it names, whose folders nobody has to know; audits are the folders of audits that it names,
	// from the folder that it lies in.
	files, audits []string
	document      any
}

// sheet is one of them.
type sheet struct {
	id, name string
	kind     *sheetKind
	file     string
	size     int64
	modified time.Time
	read
	raw json.RawMessage
}

// Bounds of a sheet: how much is read of it, and within how many bytes its marks stand.
const (
	maxSheet = 64 << 20
	markedIn = 4 << 10
)

// holds tells whether a text begins like a sheet of the kind.
func (k *sheetKind) holds(head []byte) bool {
	return !slices.ContainsFunc(k.marks, func(m string) bool { return !bytes.Contains(head, []byte(m)) })
}

// is tells whether a file begins like a sheet of the kind.
func (k *sheetKind) is(file string) bool {
	f, err := within(filepath.Dir(file), filepath.Base(file))
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }() // nothing was written
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return false
	}
	head := make([]byte, markedIn)
	head[0] = '\n'                   // so that the first line begins like the others
	n, _ := io.ReadFull(f, head[1:]) // a short file is one too
	return k.holds(head[:n+1])
}

// kindOf is the kind of a file that somebody named, nil for none.
func kindOf(file string) *sheetKind {
	for _, k := range sheetKinds() {
		if (filepath.Ext(file) == filepath.Ext(k.file)) && k.is(file) {
			return k
		}
	}
	return nil
}

// sheetsIn lists the sheets that lie in a folder, with the audits beside each.
func (s *seeker) sheetsIn(dir, under string, depth int) {
	for _, k := range sheetKinds() {
		file := filepath.Join(dir, k.file)
		if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() || !k.is(file) {
			continue
		}
		s.out = append(s.out, found{path: file, kind: k, under: under})
		s.besides(k, dir, depth)
	}
}

// besides lists the audits that lie beside a sheet, however deep that lies.
func (s *seeker) besides(k *sheetKind, dir string, depth int) {
	if k.below == "" || depth < mostDeep-1 { // else they are found on the way
		return
	}
	if info, err := os.Stat(filepath.Join(dir, k.below)); err == nil && info.IsDir() {
		_ = s.into(filepath.Join(dir, k.below), filepath.Base(dir), mostDeep-1) // what is not there is not shown
	}
}

// readSheet reads a file.
func readSheet(k *sheetKind, file string) (*sheet, error) {
	f, err := within(filepath.Dir(file), filepath.Base(file))
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // nothing was written
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxSheet {
		return nil, fmt.Errorf("%s: %d bytes; expected a file of at most %d", filepath.Base(file), info.Size(),
			maxSheet)
	}
	text, err := io.ReadAll(io.LimitReader(f, maxSheet))
	if err != nil {
		return nil, err
	}
	got, err := k.read(filepath.Base(file), text)
	if err != nil {
		return nil, err
	}
	raw, err := json.Marshal(got.document)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Base(file), err)
	}
	out := &sheet{kind: k, file: file, size: info.Size(), modified: info.ModTime(), read: *got}
	if out.raw = bare(raw, got.files); !json.Valid(out.raw) {
		return nil, fmt.Errorf("%s: cannot be shown without the paths in it", filepath.Base(file))
	}
	for _, to := range []*string{&out.title, &out.sentence} {
		*to = string(bare([]byte(*to), got.files))
	}
	return out, nil
}

// bare is a text without the folders of files.
func bare(text []byte, files []string) []byte {
	for _, file := range files {
		dir := path.Dir(strings.ReplaceAll(file, `\`, "/"))
		if len(dir) < 2 {
			continue // here, or the root
		}
		quoted, err := json.Marshal(file[:len(dir)])
		if err != nil {
			continue // no text is like that
		}
		for _, sep := range []string{"/", `\\`} {
			text = bytes.ReplaceAll(text, append(quoted[1:len(quoted)-1:len(quoted)-1], sep...), nil)
		}
	}
	return text
}

// lookSheet reads a sheet that is new or has changed.
func (s *Shelf) lookSheet(f found, key string, fail func(string, string, error, string)) {
	info, err := os.Stat(key)
	s.mu.Lock()
	i := slices.IndexFunc(s.sheets, func(a *sheet) bool { return a.file == key })
	s.mu.Unlock()
	if err == nil && i >= 0 && s.sheets[i].size == info.Size() && s.sheets[i].modified.Equal(info.ModTime()) {
		return
	}
	a, err := readSheet(f.kind, key)
	if err != nil {
		fail(key, filepath.Base(filepath.Dir(f.path))+"/"+filepath.Base(f.path), err, f.kind.remedy)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version++
	if i >= 0 {
		a.id, a.name = s.sheets[i].id, s.sheets[i].name
		s.sheets[i] = a
		return
	}
	a.name = s.nameOf(filepath.Dir(f.path), f.under, func(name string) bool {
		return slices.ContainsFunc(s.sheets, func(o *sheet) bool {
			return o.name == name &&
				o.kind.name == a.kind.name
		})
	})
	a.id = s.identify(a.name + "-" + f.kind.name)
	s.sheets = append(s.sheets, a)
}

// dropSheets takes sheets whose file is not there any more off the shelf.
func (s *Shelf) dropSheets() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sheets = slices.DeleteFunc(slices.Clone(s.sheets), func(a *sheet) bool {
		_, err := os.Stat(a.file)
		gone := errors.Is(err, fs.ErrNotExist)
		if gone {
			delete(s.ids, a.id)
			s.version++
		}
		return gone
	})
}

// listedSheet is a sheet in a list. The lock is held.
func (s *Shelf) listedSheet(a *sheet) api.Sheet {
	o := api.Sheet{
		ID: a.id, Kind: a.kind.name, Name: a.name, Title: a.title, Sentence: a.sentence, Models: a.models,
		Runs: []string{}, Audits: []string{},
	}
	if o.Models == nil {
		o.Models = []string{}
	}
	for _, src := range s.sources {
		for _, m := range src.now().run.Job().Models {
			if m.SHA256 != "" && slices.Contains(a.digests, m.SHA256) {
				o.Runs = append(o.Runs, src.id)
				break
			}
		}
	}
	for _, audit := range s.audits {
		if slices.ContainsFunc(a.digests, func(d string) bool { return slices.Contains(audit.digests, d) }) {
			o.Audits = append(o.Audits, audit.id)
		}
	}
	return o
}

// Sheet is a sheet by its id. The error wraps [ErrUnknown] for one that is not there.
func (s *Shelf) Sheet(id string) (*api.OpenSheet, error) {
	s.refresh()
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.sheets, func(a *sheet) bool { return a.id == id })
	if i < 0 {
		return nil, fmt.Errorf("sheet %.100q: %w; GET runs lists what there is", id, ErrUnknown)
	}
	return s.openedSheet(s.sheets[i]), nil
}

// SheetsWith are the sheets that belong with a run: those of its models, and those that are of no run at all. They are
// of this run alone.
func (s *Shelf) SheetsWith(r *Run) []*api.OpenSheet {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []*api.OpenSheet
	for _, a := range s.sheets {
		o := s.openedSheet(a)
		of := slices.ContainsFunc(r.parts, func(p part) bool { return slices.Contains(o.Sheet.Runs, p.id) })
		if !of && len(o.Sheet.Runs) > 0 {
			continue
		}
		if o.Sheet.Runs = []string{}; of {
			o.Sheet.Runs = append(o.Sheet.Runs, r.id)
		}
		out = append(out, o)
	}
	return out
}

// openedSheet is a sheet with its document. The lock is held.
func (s *Shelf) openedSheet(a *sheet) *api.OpenSheet {
	o := &api.OpenSheet{Sheet: s.listedSheet(a), Document: a.raw, Audits: map[string]string{}}
	for _, folder := range a.audits {
		file := filepath.Join(filepath.Dir(a.file), filepath.FromSlash(folder), "audit.json")
		if k := slices.IndexFunc(s.audits, func(r *record) bool { return r.file == file }); k >= 0 {
			o.Audits[folder] = s.audits[k].id
		}
	}
	return o
}
