package slice

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"nero/internal/disk"
	"nero/internal/seal"
	"nero/run/store"
)

const (
	// FileName is the file in a run folder that holds the named sets.
	FileName = "slices.json"
	// Format is the number of its form.
	Format = 1
	// MaxSlices is the most sets of one run.
	MaxSlices = 1000
	// MaxName is the longest name of a set, and MaxNote of what is said of it, in characters (Unicode code points).
	MaxName, MaxNote = 200, 2000

	maxFile   = 256 << 20
	lockFile  = ".slices.lock"
	draftFile = ".slices.draft"
	patience  = 10 * time.Second
)

var (
	// ErrChanged marks a change to sets that somebody else has changed since they were read.
	ErrChanged = errors.New("the slices were changed since they were read")
	// ErrReadOnly marks a folder in which nothing can be kept.
	ErrReadOnly = errors.New("slices cannot be kept in this folder")
	// ErrInvalid marks sets that break a rule of the file: too many, names that are empty, too long or given twice.
	ErrInvalid = errors.New("these slices cannot be kept")
	// ErrDamaged marks a file that does not hold what was written. It is left as it is.
	ErrDamaged = errors.New("damaged")
)

// Named is a named set of samples. What the set is, is for others to read.
type Named struct {
	Name string `json:"name"`
	// class, -1 for others
	Label int `json:"label"`
	// samples in it when it was kept
	N   int             `json:"n"`
	Set json.RawMessage `json:"set"`
	// how it was made
	Note string `json:"note,omitempty"`
}

type file struct {
	Format int     `json:"format"`
	Slices []Named `json:"slices"`
}

// Load reads the named sets of a run folder, none if it has no file of them. The tag is that of [Save]. The error names
// the file and wraps [ErrDamaged] if it cannot be understood.
func Load(dir string) (all []Named, tag string, err error) {
	b, err := load(dir)
	if err != nil {
		return nil, "", err
	}
	all, err = decode(b)
	if err != nil {
		return nil, "", err
	}
	return all, tagOf(b), nil
}

// load is the bytes of the file, nil if there is none.
func load(dir string) ([]byte, error) {
	f, err := os.OpenInRoot(dir, FileName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", FileName, bare(err))
	}
	defer func() { _ = f.Close() }() // nothing was written
	b, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", FileName, bare(err))
	}
	if len(b) > maxFile {
		return nil, fmt.Errorf("%s: %w: more than %d bytes; move the file away to begin anew", FileName, ErrDamaged,
			maxFile)
	}
	return append([]byte{}, b...), nil
}

// bare is an error without the path, which the reader of the message need not know.
func bare(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	if e, ok := errors.AsType[*os.LinkError](err); ok {
		return e.Err
	}
	return err
}

func decode(b []byte) ([]Named, error) {
	if b == nil {
		return []Named{}, nil
	}
	refuse := func(err error) error {
		return fmt.Errorf("%s: %w: %w; mend the file, or move it away to begin anew", FileName, ErrDamaged, err)
	}
	b, sealed, err := seal.Open(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %w; take the key sha256 out if you changed it yourself, or move the file away "+
			"to begin anew", FileName, ErrDamaged, err)
	}
	var f file
	if err := json.Unmarshal(b, &f); err != nil {
		return nil, refuse(err)
	}
	if k := seal.Stranger(b, f); k != "" && !sealed {
		return nil, refuse(fmt.Errorf("it has a key %.40q", k))
	}
	if f.Format > Format {
		return nil, fmt.Errorf("%s has format %d, and this program reads up to %d; a newer nero opens it", FileName,
			f.Format, Format)
	}
	if f.Format < 1 {
		return nil, refuse(fmt.Errorf("format is %d, expected %d", f.Format, Format))
	}
	if err := check(f.Slices); err != nil {
		return nil, refuse(err)
	}
	if f.Slices == nil {
		f.Slices = []Named{}
	}
	return f.Slices, nil
}

// check holds named sets against the rules of the file.
func check(all []Named) error {
	if len(all) > MaxSlices {
		return fmt.Errorf("%d slices; a run has at most %d", len(all), MaxSlices)
	}
	seen := make(map[string]bool, len(all))
	for i, s := range all {
		switch {
		case s.Name == "":
			return fmt.Errorf("slice %d has no name", i)
		case !utf8.ValidString(s.Name) || !utf8.ValidString(s.Note):
			return fmt.Errorf("slice %d: its name or note is not UTF-8", i)
		case utf8.RuneCountInString(s.Name) > MaxName:
			return fmt.Errorf("slice %d: a name of %d characters; at most %d are kept", i,
				utf8.RuneCountInString(s.Name), MaxName)
		case utf8.RuneCountInString(s.Note) > MaxNote:
			return fmt.Errorf("slice %.40q: a note of %d characters; at most %d are kept", s.Name,
				utf8.RuneCountInString(s.Note), MaxNote)
		case seen[s.Name]:
			return fmt.Errorf("two slices are named %.40q; give each its own name", s.Name)
		case len(s.Set) == 0 || !json.Valid(s.Set) || s.Set[0] != '{':
			return fmt.Errorf("slice %.40q: its set is no JSON object", s.Name)
		case s.N < 0:
			return fmt.Errorf("slice %.40q: %d samples", s.Name, s.N)
		}
		seen[s.Name] = true
	}
	return nil
}

// tagOf is a strong entity tag of the bytes of a file, with its quotes.
func tagOf(b []byte) string {
	if b == nil {
		return `"none"`
	}
	sum := sha256.Sum256(b)
	return `"` + hex.EncodeToString(sum[:16]) + `"`
}

// matches reports whether a header If-Match admits a tag.
func matches(header, tag string) bool {
	for t := range strings.SplitSeq(header, ",") {
		if t = strings.TrimSpace(t); t == tag || t == "*" {
			return true
		}
	}
	return false
}

// Save writes the named sets of a run folder, if ifMatch (as in the header of HTTP: one or more tags, or *) admits the
// tag of what is there. The file is replaced in one step, under a lock that other processes take as well, so that of
// two changes to the same sets one fails with [ErrChanged]. A file that is damaged stays as it is. Save waits for the
// lock while the context lasts, at most ten seconds; then the error wraps [store.ErrBusy] and that of the context.
func Save(ctx context.Context, dir string, all []Named, ifMatch string) (tag string, err error) {
	if all == nil {
		all = []Named{}
	}
	if err := check(all); err != nil {
		return "", fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	if err := e.Encode(file{Format, all}); err != nil {
		return "", fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	text := seal.Add(b.Bytes(), " ")
	if len(text) > maxFile {
		return "", fmt.Errorf("%w: %d bytes; at most %d are kept", ErrInvalid, len(text), maxFile)
	}
	unlock, err := lock(ctx, dir)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	old, err := load(dir)
	if err != nil {
		return "", err
	}
	if _, err := decode(old); err != nil {
		return "", err
	}
	if !matches(ifMatch, tagOf(old)) {
		return "", ErrChanged
	}
	if err := replace(dir, text); err != nil {
		return "", kept(err)
	}
	return tagOf(text), nil
}

// kept says of an error of the disk what it means.
func kept(err error) error {
	return fmt.Errorf("%w: %s: %w", ErrReadOnly, FileName, bare(err))
}

// replace writes the file under another name, syncs it and renames it. The lock is held.
func replace(dir string, b []byte) error {
	draft := filepath.Join(dir, draftFile)
	if err := os.Remove(draft); err != nil && !errors.Is(err, fs.ErrNotExist) { // of a process that was killed
		return err
	}
	var system disk.OS
	if err := disk.Through(system, draft, filepath.Join(dir, FileName), disk.Bytes(b)); err != nil {
		return err
	}
	return system.SyncDir(dir)
}

// lock takes the lock of the file of a folder.
func lock(ctx context.Context, dir string) (unlock func() error, err error) {
	f, err := os.OpenFile(filepath.Join(dir, lockFile), os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, kept(err)
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	wait := time.NewTicker(5 * time.Millisecond)
	defer wait.Stop()
	for {
		err := disk.TryLock(f, false)
		if err == nil || errors.Is(err, errors.ErrUnsupported) { // without locks, the rename still keeps the file whole
			return f.Close, nil // which gives the lock back
		}
		if !errors.Is(err, disk.ErrLocked) {
			_ = f.Close() // the first error is the one to report
			return nil, kept(err)
		}
		select {
		case <-wait.C:
		case <-ctx.Done():
			_ = f.Close() // nothing was written
			return nil, fmt.Errorf("%s is %w: %w", FileName, store.ErrBusy, ctx.Err())
		}
	}
}
