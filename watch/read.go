package watch

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"nero/audit/document"
	"nero/measure/metric"
	"nero/run/store"

	"golang.org/x/sync/errgroup"
)

// file is a file below the folder that may hold releases.
type file struct {
	// below the folder, with slashes; of a run its folder
	name    string
	at      string
	run     bool
	size    int64
	written time.Time
	content string
}

// Reader reads the audits and runs below a folder.
type Reader struct {
	Folder string
	// Workers is how many files are read at once, at least 1. No number depends on it.
	Workers int
	// Metrics are those that runs may have.
	Metrics metric.List
	// Models says that models are listed, too.
	Models bool
	// Began is told how many files there are, and Step that one more was read.
	Began func(int)
	Step  func(int)
	// texts that many releases share
	shared map[string][]string
}

// Found is what a folder holds.
type Found struct {
	Releases     []*Release
	Audits, Runs int
	Skipped      []Skipped
	// State changes whenever a file below the folder does.
	State string
	// Models are the models below the folder, where they are asked for, those that were written first in front.
	Models []Model
}

// Model is the file of a model below the folder.
type Model struct {
	// File is its path below the folder, with slashes.
	File    string
	Size    int64
	Written time.Time
}

// jobFile is what the folder of a run has.
const jobFile = "job.json"

// listing is what lies below the folder.
type listing struct {
	// in the order of their names
	files  []*file
	models []Model
	// what is not looked into
	skipped []Skipped
	// digest of what they look like from outside
	state string
}

// list looks at what lies below the folder. What goes away meanwhile is not there.
func (r *Reader) list() (*listing, error) {
	out := &listing{}
	h := sha256.New()
	own := map[string]bool{} // what was written of the releases is none, and changes with them
	for _, f := range Forms() {
		own[Base+f.Ending] = true
	}
	root := r.Folder + string(filepath.Separator) + "." // a link to a folder is walked into so
	err := filepath.WalkDir(root, func(at string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) && at != root {
			return nil // it was replaced just now
		}
		if err != nil && (at == root || !errors.Is(err, fs.ErrPermission)) {
			return err
		}
		name, bad := filepath.Rel(r.Folder, at)
		if bad != nil {
			return bad
		}
		f := &file{name: filepath.ToSlash(name), at: at}
		if err != nil {
			out.skipped = append(out.skipped, Skipped{f.name, "it cannot be read: permission denied"})
			return nil //nolint:nilerr // it is told among what was left out
		}
		if d.Type()&fs.ModeSymlink != 0 {
			info, err := os.Stat(at)
			if err != nil {
				return nil //nolint:nilerr // it leads nowhere
			}
			if info.IsDir() { // what it leads to may hold the link itself
				out.skipped = append(out.skipped, Skipped{f.name, "a link to a folder, which is not followed: " +
					"watch that folder, or copy it here"})
				return nil
			}
			d = fs.FileInfoToDirEntry(info)
		}
		model := false
		if d.IsDir() {
			if name != "." && strings.HasPrefix(d.Name(), ".") {
				return fs.SkipDir
			}
			info, err := os.Stat(filepath.Join(at, jobFile))
			if err != nil {
				return nil //nolint:nilerr // no run, so a folder to look into
			}
			f.run, f.written, f.size = true, info.ModTime(), info.Size()
			if m, err := os.Stat(filepath.Join(at, "manifest.json")); err == nil {
				f.written, f.size = m.ModTime(), m.Size()
			}
		} else {
			model = r.Models && strings.EqualFold(filepath.Ext(name), ".onnx")
			other := !model && !strings.EqualFold(filepath.Ext(name), ".json")
			if other || !d.Type().IsRegular() || own[path.Base(f.name)] {
				return nil
			}
			info, err := d.Info()
			if errors.Is(err, fs.ErrNotExist) {
				return nil // it was replaced just now
			}
			if err != nil {
				return err
			}
			f.written, f.size = info.ModTime(), info.Size()
		}
		_, _ = fmt.Fprintf(h, "%s\x00%d\x00%d\n", f.name, f.size, f.written.UnixNano())
		if model {
			out.models = append(out.models, Model{f.name, f.size, f.written})
			return nil
		}
		out.files = append(out.files, f)
		if f.run {
			return fs.SkipDir
		}
		return nil
	})
	slices.SortStableFunc(out.models, func(a, b Model) int { return a.Written.Compare(b.Written) })
	out.state = hex.EncodeToString(h.Sum(nil))
	return out, err
}

// State is that of [Found], without reading any file.
func (r *Reader) State() (string, error) {
	s, err := r.list()
	if err != nil {
		return "", err
	}
	return s.state, nil
}

// result is what one file holds.
type result struct {
	releases []*Release
	skipped  []Skipped
	other    bool
}

// Read reads everything below the folder. Files that are no audits are passed over; audits and runs that cannot be read
// are told.
func (r *Reader) Read(ctx context.Context) (*Found, error) {
	found, err := r.list()
	if err != nil {
		return nil, err
	}
	files := found.files
	r.Began(len(files))
	results := make([]result, len(files))
	var next atomic.Int64
	g, ctx := errgroup.WithContext(ctx)
	for range max(1, min(r.Workers, len(files))) {
		g.Go(func() error {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(files) {
					return nil
				}
				results[i] = r.one(files[i])
				r.Step(1)
			}
			return ctx.Err()
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	out := &Found{State: found.state, Models: found.models, Skipped: found.skipped}
	r.shared = map[string][]string{}
	for i, x := range results {
		out.Skipped = append(out.Skipped, x.skipped...)
		if x.other || len(x.releases) == 0 {
			continue
		}
		if files[i].run {
			out.Runs++
		} else {
			out.Audits++
		}
		for _, of := range x.releases {
			r.share(of)
			out.Releases = append(out.Releases, of)
		}
	}
	return out, nil
}

// share lets releases of the same objects have their names once.
func (r *Reader) share(of *Release) {
	for i := range of.Lines {
		l := &of.Lines[i]
		if had := r.shared[l.Inputs]; slices.Equal(had, l.Objects) {
			l.Objects = had
			continue
		}
		r.shared[l.Inputs] = l.Objects
	}
}

// one reads one file.
func (r *Reader) one(f *file) result {
	read := r.audit
	if f.run {
		read = r.run
	}
	got, err := read(f)
	if err != nil {
		why := strings.ReplaceAll(err.Error(), filepath.Clean(r.Folder)+string(filepath.Separator), "")
		got.skipped = append(got.skipped, Skipped{f.name, strings.TrimPrefix(why, f.name+": ")})
	}
	return got
}

func (r *Reader) audit(f *file) (result, error) {
	if f.size > document.MaxSize {
		return result{}, fmt.Errorf("%d bytes, and an audit has at most %d", f.size, document.MaxSize)
	}
	b, err := readFile(f.at)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return result{other: true}, nil // it was replaced just now
	case err != nil:
		return result{}, err
	case !looksLikeAudit(f.name, b):
		return result{other: true}, nil
	}
	sum := sha256.Sum256(b)
	f.content = hex.EncodeToString(sum[:])
	d, err := document.Skim(f.name, b)
	if err != nil {
		return result{}, err
	}
	all, skipped, err := ofAudit(f, d)
	return result{releases: all, skipped: skipped}, err
}

func readFile(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // it was read only
	return io.ReadAll(io.LimitReader(f, document.MaxSize+1))
}

// looksLikeAudit tells an audit, whole or broken, from other JSON: by its name, or by what it begins with.
func looksLikeAudit(name string, b []byte) bool {
	if base := name[strings.LastIndex(name, "/")+1:]; base == "audit.json" {
		return true
	}
	const reach = 400 // the first keys are format, verdict, exit_code and models
	head := b[:min(reach, len(b))]
	return bytes.Contains(head, []byte(`"verdict"`)) && bytes.Contains(head, []byte(`"format"`)) &&
		(bytes.Contains(head, []byte(`"models"`)) || bytes.Contains(head, []byte(`"exit_code"`)))
}

func (r *Reader) run(f *file) (result, error) {
	run, err := store.Open(f.at)
	if err != nil {
		return result{}, err
	}
	defer run.Close() //nolint:errcheck // it was read only
	if !run.Complete() {
		return result{}, errors.New("the run is not complete; the command that started it resumes it")
	}
	f.content = run.Hash()
	all, err := ofRun(f, run, r.Metrics)
	return result{releases: all}, err
}
