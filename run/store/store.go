// Package store keeps runs: a folder with the job, one Parquet file of rows and one JSON marker per shard, and a
// manifest that says when the run is complete. docs/FORMAT.md describes every byte.
//
// A file is complete or it is not there: each is written by package disk. A run killed at
// any instant resumes, and ends with the same bytes as one that was left alone.
package store

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
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"nero/internal/disk"
	"nero/internal/seal"
	"nero/measure/aggregate"
	"nero/run/job"
)

var (
	// ErrIncompatible marks a folder that belongs to another job, or whose format is newer than this program's.
	ErrIncompatible = errors.New("incompatible run folder")
	// ErrCorrupt marks a file that does not hold what was written.
	ErrCorrupt = errors.New("corrupt")
	// ErrBusy marks a folder that another process is writing.
	ErrBusy = errors.New("in use by another process")
)

const (
	jobName      = "job.json"
	manifestName = "manifest.json"
	lockName     = ".lock"
	// slicesName and remarksName are what people say of a run, now and later: they may change when the run is complete,
	// so the manifest does not list them.
	slicesName  = "slices.json"
	remarksName = "remarks.json"
	// maxJSON bounds what is read into memory of a JSON file of the store.
	maxJSON = 1 << 30
)

// Options change how a run is written. The zero value is that of a run on one machine.
type Options struct {
	// default disk.OS{}
	FS disk.FS
	// Shared lets several processes write different shards of the same run at once, as the tasks of an array job do.
	// They exclude a writer that is not shared, and leave the remains of dead processes alone.
	Shared bool
	// Verified is a run of the same folder whose checksums are believed; nil for none.
	Verified *Run
}

// Manifest is the last file of a run. It is there exactly when the run is complete.
type Manifest struct {
	Format int `json:"format"`
	// hash
	Job    string         `json:"job"`
	Study  job.Study      `json:"study"`
	Models []job.ModelRef `json:"models"`
	Data   []job.Ref      `json:"data"`
	Engine job.Engine     `json:"engine"`
	// of the programs that took part
	Versions map[string]string `json:"versions"`
	// always true; for readers that look for it
	Complete bool `json:"complete"`
	Shards   int  `json:"shards"`
	Samples  int  `json:"samples"`
	Rows     int  `json:"rows"`
	// rows with an error
	Failed int `json:"failed"`
	// every other file of the run, by path
	Files []FileInfo `json:"files"`
}

// FileInfo is a file of a run.
type FileInfo struct {
	// relative to the run folder, with slashes
	Path string `json:"path"`
	// in bytes
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// Run is a run folder, open for reading or for writing. It is safe for concurrent use.
type Run struct {
	dir    string
	fs     disk.FS
	job    *job.Job
	hash   string
	shards []job.Shard
	// nil when reading
	lock io.Closer
	// of the files, where it has to be written with the job
	table []byte

	// files by path, of a manifest that was read; nil where there was none
	listed map[string]FileInfo
	// by shard, held while its rows get their checksum
	checking []sync.Mutex

	mu sync.Mutex
	// nil while incomplete
	manifest *Manifest
	// shards whose rows had their checksum in this process
	verified map[int]*marker
	// rooms to read files into for their checksums, which nobody uses now
	rooms [][]byte
}

// Create opens the folder of a job for writing, making it if need be. A folder that holds an unfinished or finished run
// of the same job is continued; one that holds anything else is refused and left as it is. Paths in the job do not
// count.
//
// Close the run when done. The error wraps [ErrIncompatible] for the folder of another job, and [ErrBusy] when another
// process is writing.
func Create(dir string, j *job.Job, o Options) (_ *Run, err error) {
	if o.FS == nil {
		o.FS = disk.OS{}
	}
	if err := j.Validate(); err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	hash, err := j.Hash()
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	if n := groups(j); (j.Shard+n-1)/n*len(j.Models) > 1<<15-1 {
		return nil, fmt.Errorf(
			"store: a shard of %d samples, %d models, %d metrics and %d elements is more than a file can hold; make "+
				"it smaller", j.Shard, len(j.Models), len(j.Metrics), len(j.Elements))
	}
	if err := ours(dir); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, writing(dir, err)
	}
	lock, err := lockFolder(dir, o.Shared)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = lock.Close() // the first error is the one to report
		}
	}()
	r := &Run{dir: dir, fs: o.FS, hash: hash, shards: j.Shards(), lock: lock, verified: map[int]*marker{}}
	if r.job, r.table, err = listed(j); err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	if v := o.Verified; v != nil && v.hash == hash && same(v.dir, dir) {
		v.mu.Lock()
		r.verified = maps.Clone(v.verified)
		v.mu.Unlock()
	}
	r.checking = make([]sync.Mutex, len(r.shards))
	unread := r.readManifest()
	if unread != nil && !errors.Is(unread, ErrCorrupt) && !errors.Is(unread, ErrIncompatible) {
		return nil, unread
	}
	if err := r.claim(o.Shared); err != nil {
		return nil, err
	}
	if unread != nil { // the folder is ours: the manifest is made anew, of what it was made of
		if err := r.drop(); err != nil {
			return nil, err
		}
	}
	if err := os.MkdirAll(r.shardDir(), 0o777); err != nil {
		return nil, writing(r.shardDir(), err)
	}
	if err := r.fs.SyncDir(dir); err != nil {
		return nil, writing(dir, err)
	}
	if !o.Shared {
		if err := sweep(dir, r.shardDir()); err != nil {
			return nil, err
		}
	}
	if r.manifest != nil { // whoever completed the run may have died before its plan was gone
		if err := errors.Join(r.dropPlan(), r.dropCoarse()); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// same reports whether two paths are one.
func same(a, b string) bool {
	x, err := filepath.Abs(a)
	y, err2 := filepath.Abs(b)
	return err == nil && err2 == nil && x == y
}

// ours refuses a folder with something in it that is not a run.
func ours(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("cannot use %s as a run folder: %w", dir, err)
	}
	other := ""
	for _, e := range entries {
		switch name := e.Name(); {
		case name == jobName:
			return nil
		case name != lockName && !disk.Leftover(name) && other == "":
			other = name
		}
	}
	if other != "" {
		return fmt.Errorf("%s is not a run folder, and not empty (it holds %s); choose a new or an empty folder", dir,
			other)
	}
	return nil
}

// claim writes the job into a new folder, or makes sure that the folder is that of the same job. The file is written
// anew where it was damaged, and in an unfinished run also where paths in it are others than now: the command that goes
// on with a run knows where its files lie. Of several that share the folder none does that.
func (r *Run) claim(shared bool) error {
	name := filepath.Join(r.dir, jobName)
	mine, err := r.job.Canonical()
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	if text, err := readSmall(name); err == nil && bytes.Equal(text, mine) && r.tabled() {
		return nil // without reading a job of many files again
	}
	old, text, err := readJob(name)
	if errors.Is(err, fs.ErrNotExist) {
		return r.putJob(mine)
	}
	if err != nil && !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrIncompatible) {
		return err
	}
	known, there := r.listed[jobName]
	switch {
	case err == nil && shared && len(old.Diff(r.job)) == 0:
		return nil // tasks on machines with other paths do not take turns in writing theirs
	case err == nil && there && known.SHA256 == digest(text):
		return nil // a complete run stays as it is
	case r.manifest != nil || isFolder(r.shardDir()):
		// What was computed says whose folder it is.
	case err != nil:
		return fmt.Errorf("%w; what was computed here does not belong to this study; choose another folder, or delete "+
			"this one if it is no longer needed", err)
	default:
		if d := old.Diff(r.job); len(d) > 0 {
			more := ""
			if len(d) > 5 {
				d, more = d[:5], fmt.Sprintf("; and %d more differences", len(d)-5)
			}
			return fmt.Errorf("%s is the folder of another run (%s%s); choose another folder, or delete this one if "+
				"it is no longer needed: %w", r.dir, strings.Join(d, "; "), more, ErrIncompatible)
		}
	}
	if err := r.incomplete(); err != nil {
		return err
	}
	return r.putJob(mine)
}

// tabled reports whether the folder has the table of the files that the job says. Of a job that was read with its table
// nothing is asked again.
func (r *Run) tabled() bool {
	if r.table == nil {
		return true
	}
	sum, _, err := checksum(filepath.Join(r.dir, filesName))
	return err == nil && sum == r.job.Table.File
}

// putJob writes the job, the table of its files before it.
func (r *Run) putJob(text []byte) error {
	if r.table != nil {
		if err := replace(r.fs, filepath.Join(r.dir, filesName), r.table); err != nil {
			return err
		}
		r.table = nil
	}
	return replace(r.fs, filepath.Join(r.dir, jobName), text)
}

func isFolder(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// sweep removes what processes that died have left.
func sweep(dirs ...string) error {
	for _, d := range dirs {
		entries, err := os.ReadDir(d)
		if err != nil {
			return fmt.Errorf("store: %w", err)
		}
		for _, e := range entries {
			if disk.Leftover(e.Name()) {
				if err := os.Remove(filepath.Join(d, e.Name())); err != nil {
					return fmt.Errorf("store: cannot remove what a former run left: %w", err)
				}
			}
		}
	}
	return nil
}

// Open opens a run for reading, complete or not. Nothing is written and no lock is taken: a run can be read while it is
// being written. The error wraps [fs.ErrNotExist] if the folder holds no run, [ErrIncompatible] if a newer program
// wrote it and [ErrCorrupt] if it is damaged. Rows are held against their checksums when they are first read;
// [Run.Verify] does it at once.
func Open(dir string) (*Run, error) {
	r, err := open(dir)
	return r, remedied(err)
}

func open(dir string) (*Run, error) {
	name := filepath.Join(dir, jobName)
	j, text, err := readJob(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%s holds no run: %w; a run folder has a file %s", dir, err, jobName)
	case errors.Is(err, ErrIncompatible) && known(dir):
		return nil, fmt.Errorf("%s: %w: its format is not that of the files beside it", name, ErrCorrupt)
	case err != nil:
		return nil, err
	}
	hash, err := j.Hash()
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %w", name, ErrCorrupt, err)
	}
	r := &Run{dir: dir, job: j, hash: hash, shards: j.Shards(), verified: map[int]*marker{}}
	r.checking = make([]sync.Mutex, len(r.shards))
	if others, _ := filepath.Glob(filepath.Join(pattern.Replace(dir), "shards-*")); len(others) > 0 &&
		!slices.Contains(others, r.shardDir()) {
		return nil, damaged(name, fmt.Errorf("it is not the job of %s", filepath.Base(others[0])))
	}
	if err := r.readManifest(); err != nil {
		return nil, err
	}
	if f, ok := r.listed[jobName]; ok && f.SHA256 != digest(text) {
		return nil, damaged(name, fmt.Errorf("its SHA-256 is %.12s, and %s says %.12s", digest(text), manifestName,
			f.SHA256))
	}
	return r, nil
}

// pattern makes a name stand for itself in a pattern of package filepath.
var pattern = strings.NewReplacer(`[`, `\[`, `*`, `\*`, `?`, `\?`)

// known reports whether the manifest of a folder has a format that this program knows.
func known(dir string) bool {
	var f struct {
		Format int `json:"format"`
	}
	b, err := readSmall(filepath.Join(dir, manifestName))
	return err == nil && json.Unmarshal(b, &f) == nil && f.Format > 0 && f.Format <= job.FormatNumber
}

// readJob reads a job and the text of its file.
func readJob(name string) (*job.Job, []byte, error) {
	b, err := readSmall(name)
	if err != nil {
		return nil, nil, err
	}
	j := new(job.Job)
	if err := decodeJSON(b, j); err != nil {
		return nil, nil, damaged(name, err)
	}
	if err := j.Validate(); err != nil {
		return nil, nil, damaged(name, err)
	}
	if err := readFiles(filepath.Dir(name), j); err != nil {
		return nil, nil, err
	}
	return j, b, nil
}

// Remedy ends the message of every error of a reader that wraps [ErrCorrupt].
const Remedy = "run the command that made the run again, which repairs it"

// fault is an error with its remedy.
type fault struct{ error }

// Error says what is wrong, and what helps.
func (f *fault) Error() string { return f.error.Error() + "; " + Remedy }

// Unwrap is the error as it was found.
func (f *fault) Unwrap() error { return f.error }

// remedied says of damage to a run what helps, once.
func remedied(err error) error {
	if _, ok := errors.AsType[*fault](err); ok || !errors.Is(err, ErrCorrupt) {
		return err
	}
	return &fault{err}
}

// damaged says that a file is corrupt, unless it is merely too new.
func damaged(name string, err error) error {
	if errors.Is(err, ErrIncompatible) {
		return fmt.Errorf("%s: %w", name, err)
	}
	return fmt.Errorf("%s: %w: %w", name, ErrCorrupt, err)
}

func readSmall(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // nothing was written
	b, err := io.ReadAll(io.LimitReader(f, maxJSON+1))
	if err == nil && len(b) > maxJSON {
		err = fmt.Errorf("%s: %w: more than %d bytes", name, ErrCorrupt, maxJSON)
	}
	return b, err
}

// readManifest reads the manifest if there is one and holds it against the folder.
func (r *Run) readManifest() error {
	name := filepath.Join(r.dir, manifestName)
	b, err := readSmall(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	m, err := parseManifest(b, r.job, r.hash)
	if err != nil {
		return damaged(name, err)
	}
	if r.lock == nil { // a writer repairs instead
		for _, f := range m.Files {
			at := filepath.Join(r.dir, filepath.FromSlash(f.Path))
			if s, err := os.Stat(at); err != nil || s.Size() != f.Size {
				return damaged(at, errors.Join(fmt.Errorf("%s lists it with %d bytes", manifestName, f.Size), err))
			}
		}
	}
	r.listed = make(map[string]FileInfo, len(m.Files))
	for _, f := range m.Files {
		r.listed[f.Path] = f
	}
	r.manifest = m
	return nil
}

// parseManifest reads a manifest and holds it against the job. Those of former programs have no seal, and what they say
// is compared as far as the job says it too.
func parseManifest(b []byte, j *job.Job, hash string) (*Manifest, error) {
	b, sealed, err := seal.Open(b)
	if err != nil {
		return nil, err
	}
	m := new(Manifest)
	if err := decodeJSON(b, m); err != nil {
		return nil, err
	}
	if m.Job != hash || !m.Complete || m.Shards != len(j.Shards()) || !sealed && !m.of(j) {
		return nil, fmt.Errorf("it does not belong to %s", jobName)
	}
	for _, f := range m.Files {
		if !filepath.IsLocal(filepath.FromSlash(f.Path)) || f.Size < 0 {
			return nil, fmt.Errorf("it lists %q, which is not a file of the folder", f.Path)
		}
	}
	return m, nil
}

// named are the files of the data that job and manifest name themselves: none where there is a table of them.
func named(j *job.Job) []job.Ref {
	if j.Table != nil {
		return []job.Ref{}
	}
	return j.Files
}

// of reports whether a manifest says of a job what the job says of itself.
func (m *Manifest) of(j *job.Job) bool {
	if m.Samples != j.Count || m.Rows != j.Count*len(j.Models) {
		return false
	}
	a, err := encodeJSON([]any{m.Study, m.Models, m.Data, m.Engine}, "")
	b, err2 := encodeJSON([]any{j.Study, j.Models, named(j), j.Engine}, "")
	return err == nil && err2 == nil && bytes.Equal(a, b)
}

// Close ends writing. What was committed stays.
func (r *Run) Close() error {
	if r.lock == nil {
		return nil
	}
	return r.lock.Close()
}

// Dir is the run folder.
func (r *Run) Dir() string { return r.dir }

// Job is the job: as given to [Create], or as the folder has it after [Open]. Callers must not change it.
func (r *Run) Job() *job.Job { return r.job }

// Hash is the job's hash.
func (r *Run) Hash() string { return r.hash }

// Manifest is the manifest, nil while the run is incomplete. Callers must not change it.
func (r *Run) Manifest() *Manifest {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.manifest
}

// Complete reports whether the run has its manifest.
func (r *Run) Complete() bool { return r.Manifest() != nil }

func (r *Run) shardDir() string { return filepath.Join(r.dir, "shards-"+r.hash[:12]) }

// Done reports whether a shard is finished: its marker is there and its rows have the checksum that the marker says.
func (r *Run) Done(shard int) bool {
	_, err := r.verify(shard)
	return err == nil
}

// verify returns the marker of a shard once the rows have had their checksum; readers of a complete run get it without
// moments and failures. Of several callers one does the work while the others wait.
func (r *Run) verify(shard int) (*marker, error) {
	if shard < 0 || shard >= len(r.shards) {
		return nil, fmt.Errorf("store: shard %d of %d: %w", shard, len(r.shards), fs.ErrNotExist)
	}
	r.checking[shard].Lock()
	defer r.checking[shard].Unlock()
	r.mu.Lock()
	m := r.verified[shard]
	r.mu.Unlock()
	if m != nil {
		return m, nil
	}
	m, witness, err := r.expected(shard)
	if err != nil {
		return nil, err
	}
	name := filepath.Join(r.shardDir(), m.File)
	sum, size, err := r.checksum(name)
	if err != nil {
		return nil, err
	}
	if size != m.Size || sum != m.SHA256 {
		return nil, fmt.Errorf(
			"%s: %w: it has %d bytes with SHA-256 %.12s, and %s says %d bytes with %.12s", name, ErrCorrupt, size, sum,
			witness, m.Size, m.SHA256)
	}
	m.Cells = nil // the checksum is what is worth keeping
	r.mu.Lock()
	r.verified[shard] = m
	r.mu.Unlock()
	return m, nil
}

// expected is what the rows of a shard should be, and the file that says so. A manifest says it as well as the marker,
// which then is only held against its own checksum: reading its moments would take longer than everything else. A
// writer reads them, for what it says in the next manifest.
func (r *Run) expected(shard int) (m *marker, witness string, err error) {
	sub := filepath.Base(r.shardDir()) + "/"
	rows, ok := r.listed[sub+rowsName(shard)]
	beside, both := r.listed[sub+markerName(shard)]
	if !ok || !both {
		m, _, err = r.marker(shard)
		return m, markerName(shard), err
	}
	name := filepath.Join(r.shardDir(), markerName(shard))
	sum, _, err := r.checksum(name)
	if err != nil {
		return nil, "", err
	}
	if sum != beside.SHA256 {
		return nil, "", damaged(name, fmt.Errorf("its SHA-256 is %.12s, and %s says %.12s", sum, manifestName,
			beside.SHA256))
	}
	if r.lock != nil {
		if m, _, err = r.marker(shard); err != nil {
			return nil, "", err
		}
		m.fits = m.SHA256 == rows.SHA256
		return m, markerName(shard), nil
	}
	s := r.shards[shard]
	return &marker{
		Format: r.job.Format, Job: r.hash, Shard: s, Rows: (s.Hi - s.Lo) * len(r.job.Models), File: rowsName(shard),
		Size: rows.Size, SHA256: rows.SHA256,
	}, manifestName, nil
}

// marker reads the marker of a shard. The error wraps [fs.ErrNotExist] if the shard is not finished.
func (r *Run) marker(shard int) (*marker, []aggregate.Moments, error) {
	name := filepath.Join(r.shardDir(), markerName(shard))
	b, err := readSmall(name)
	if err != nil {
		return nil, nil, err
	}
	if f, ok := r.listed[filepath.Base(r.shardDir())+"/"+markerName(shard)]; ok && r.lock == nil &&
		f.SHA256 != digest(b) {
		return nil, nil, damaged(name, fmt.Errorf("its SHA-256 is %.12s, and %s says %.12s", digest(b), manifestName,
			f.SHA256))
	}
	m, c, err := parseMarker(r.job, r.hash, r.shards[shard], b)
	if err != nil {
		return nil, nil, damaged(name, err)
	}
	return m, c, nil
}

// renew makes sure that the marker of a shard whose rows are what it says also says of them what they hold. A marker
// that somebody else has left is held against its rows before the manifest makes it official, and written anew of them
// if it is not what they give.
func (r *Run) renew(shard int, m *marker) (_ *marker, err error) {
	if m.fits {
		return m, nil
	}
	s := r.shards[shard]
	fresh := &marker{
		Format: r.job.Format, Job: r.hash, Shard: s, Rows: (s.Hi - s.Lo) * len(r.job.Models), File: m.File,
		Size: m.Size, SHA256: m.SHA256,
	}
	if hasCells(r.job) {
		rows, err := r.all(s)
		if err != nil {
			return nil, err
		}
		fresh.Failed, fresh.Cells = failed(rows), packCells(summarise(r.job, rows))
	} else if fresh.Failed, err = r.failures(s); err != nil {
		return nil, err
	}
	text, err := encodeJSON(fresh, "")
	if err != nil {
		return nil, fmt.Errorf("store: shard %d: %w", shard, err)
	}
	name := filepath.Join(r.shardDir(), markerName(shard))
	sum, _, err := r.checksum(name)
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	if sum != digest(text) {
		if err := errors.Join(r.incomplete(), replace(r.fs, name, text)); err != nil {
			return nil, err
		}
		if err := r.fs.SyncDir(r.shardDir()); err != nil {
			return nil, writing(r.shardDir(), err)
		}
	}
	fresh.Cells, fresh.fits = nil, true
	r.mu.Lock()
	r.verified[shard] = fresh
	r.mu.Unlock()
	return fresh, nil
}

// all reads the rows of a finished shard, with their curves.
func (r *Run) all(s job.Shard) ([]job.Row, error) {
	models, metrics, err := r.filter(Filter{})
	if err != nil {
		return nil, err
	}
	var out []job.Row
	_, err = r.shardRows(s, models, metrics, Filter{NoTop: true}, func(row job.Row, _ error) bool {
		out = append(out, row)
		return true
	})
	return out, err
}

func failed(rows []job.Row) (n int) {
	for i := range rows {
		if rows[i].Err != "" {
			n++
		}
	}
	return n
}

func checksum(name string) (sum string, size int64, err error) {
	return checksumIn(name, make([]byte, roomBytes))
}

// roomBytes is how much of a file is read at once for its checksum.
const roomBytes = 32 << 10

// checksum is that of a file, read into room that is used again: of thousands of files a room each would be most of
// what a merge throws away.
func (r *Run) checksum(name string) (sum string, size int64, err error) {
	r.mu.Lock()
	var room []byte
	if n := len(r.rooms); n > 0 {
		room, r.rooms = r.rooms[n-1], r.rooms[:n-1]
	} else {
		room = make([]byte, roomBytes)
	}
	r.mu.Unlock()
	sum, size, err = checksumIn(name, room)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.rooms = append(r.rooms, room)
	return sum, size, err
}

// checksumIn is the checksum of a file, read piece by piece into room.
func checksumIn(name string, room []byte) (sum string, size int64, err error) {
	f, err := os.Open(name)
	if err != nil {
		return "", 0, err
	}
	defer func() { _ = f.Close() }() // nothing was written
	h := sha256.New()
	size, err = io.CopyBuffer(h, struct{ io.Reader }{f}, room) // a file would copy itself, into room of its own
	return hex.EncodeToString(h.Sum(nil)), size, err
}

// failures is how many rows of a finished shard have an error, without reading their curves.
func (r *Run) failures(s job.Shard) (n int, err error) {
	file, closer, err := r.open(s)
	if err != nil || file == nil {
		return 0, err
	}
	defer func() { _ = closer.Close() }() // nothing was written
	if n, err = file.failed(); err != nil {
		return 0, r.unreadable(s, err)
	}
	return n, nil
}

// looking is how many files of a run are looked at at once: more than there are cores, because on a shared disk most of
// the time goes into waiting.
const looking = 16

// Missing lists the shards that are not finished, verifying those that are.
func (r *Run) Missing() []job.Shard { return r.without(r.Done) }

// Unmarked lists the shards that have no marker. What the others hold is not looked at: whoever completes the run does
// that.
func (r *Run) Unmarked() []job.Shard {
	there := map[string]bool{}
	entries, _ := os.ReadDir(r.shardDir()) // a folder that is not there holds none
	for _, e := range entries {
		there[e.Name()] = true
	}
	return r.without(func(shard int) bool { return there[markerName(shard)] })
}

// Unmark takes the markers of shards away whose rows do not hold, so that whoever looks sees them missing. It reports
// how many there were. A marker that another process writes meanwhile, of the rows that it has made anew, may go as
// well; then the shard is made once more.
func (r *Run) Unmark(shards []job.Shard) (damaged int, err error) {
	if r.lock == nil {
		return 0, errors.New("store: the run is open for reading")
	}
	if len(shards) == 0 {
		return 0, nil
	}
	if err := r.incomplete(); err != nil {
		return 0, err
	}
	for _, s := range shards {
		name := filepath.Join(r.shardDir(), markerName(s.Index))
		switch err := os.Remove(name); {
		case err == nil:
			damaged++
		case !errors.Is(err, fs.ErrNotExist):
			return damaged, writing(name, err)
		}
	}
	return damaged, nil
}

// without lists the shards of which something does not hold.
func (r *Run) without(holds func(shard int) bool) []job.Shard {
	bad := make([]bool, len(r.shards))
	var g errgroup.Group
	g.SetLimit(looking)
	for lo := 0; lo < len(bad); lo += looking {
		g.Go(func() error {
			for i := lo; i < min(lo+looking, len(bad)); i++ {
				bad[i] = !holds(r.shards[i].Index)
			}
			return nil
		})
	}
	_ = g.Wait() // nothing fails
	var out []job.Shard
	for i, s := range r.shards {
		if bad[i] {
			out = append(out, s)
		}
	}
	return out
}

// Indexes writes the indexes of shards the way schedulers of array jobs accept them, such as "0-4,7".
func Indexes(shards []job.Shard) string {
	var b strings.Builder
	for i := 0; i < len(shards); {
		k := i
		for k+1 < len(shards) && shards[k+1].Index == shards[k].Index+1 {
			k++
		}
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(shards[i].Index))
		if k > i {
			b.WriteString("-" + strconv.Itoa(shards[k].Index))
		}
		i = k + 1
	}
	return b.String()
}

// Commit stores a shard: one row for every model and sample of it, in any order, and the moments over its samples of
// every (model m, metric k, element g), at index (m*metrics + k)*elements + g. Nil moments are computed from the rows.
// The shard is finished when Commit returns nil and not before, whatever happens in between. Rows and moments are not
// kept.
//
// Committing a finished shard again is fine if the bytes are the same; if they are not, the error says so, because then
// the engine does not compute the same numbers twice.
func (r *Run) Commit(ctx context.Context, s job.Shard, rows []job.Row, moments []aggregate.Moments) error {
	if r.lock == nil {
		return errors.New("store: the run is open for reading")
	}
	if s.Index < 0 || s.Index >= len(r.shards) || r.shards[s.Index] != s {
		return fmt.Errorf("store: %+v is not a shard of the job", s)
	}
	ordered, err := arrange(r.job, s, rows)
	if err != nil {
		return fmt.Errorf("store: shard %d: %w", s.Index, err)
	}
	var packed *cells
	if hasCells(r.job) {
		if moments == nil {
			moments = summarise(r.job, ordered)
		}
		if want := len(r.job.Models) * len(r.job.Metrics) * len(r.job.Elements); len(moments) != want {
			return fmt.Errorf("store: shard %d: %d moments, expected %d", s.Index, len(moments), want)
		}
		packed = packCells(moments)
	}
	b, err := encode(r.job, r.hash, s, ordered)
	if err != nil {
		return fmt.Errorf("store: shard %d: %w", s.Index, err)
	}
	m := &marker{
		Format: r.job.Format, Job: r.hash, Shard: s, Rows: len(ordered), Failed: failed(ordered),
		File: rowsName(s.Index), Size: int64(len(b)), SHA256: digest(b), Cells: packed, fits: true,
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if old, err := r.verify(s.Index); err == nil {
		if old.SHA256 != m.SHA256 {
			return fmt.Errorf("store: shard %d was computed twice with different results (%.12s and %.12s): the "+
				"engine is not deterministic", s.Index, old.SHA256, m.SHA256)
		}
		return nil
	}
	text, err := encodeJSON(m, "")
	if err != nil {
		return fmt.Errorf("store: shard %d: %w", s.Index, err)
	}
	if err := r.incomplete(); err != nil {
		return err
	}
	if err := replace(r.fs, filepath.Join(r.shardDir(), m.File), b); err != nil {
		return err
	}
	// The order in which the two names become durable does not matter: the marker holds the checksum of the rows.
	if err := replace(r.fs, filepath.Join(r.shardDir(), markerName(s.Index)), text); err != nil {
		return err
	}
	if err := r.fs.SyncDir(r.shardDir()); err != nil {
		return writing(r.shardDir(), err)
	}
	m.Cells = nil
	r.mu.Lock()
	r.verified[s.Index] = m
	r.mu.Unlock()
	return nil
}

// incomplete takes the manifest away before something that it lists changes.
func (r *Run) incomplete() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.manifest == nil {
		return nil
	}
	if err := r.drop(); err != nil {
		return err
	}
	r.manifest = nil
	return nil
}

// drop takes the manifest away.
func (r *Run) drop() error {
	name := filepath.Join(r.dir, manifestName)
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return writing(name, err)
	}
	if err := r.fs.SyncDir(r.dir); err != nil {
		return writing(r.dir, err)
	}
	return nil
}

// Put stores another file of the run, such as summary.json, by rename. A complete run is incomplete until [Run.Finish]
// is called again. The name must be a plain file name that the store does not use itself.
func (r *Run) Put(name string, b []byte) error {
	if r.lock == nil {
		return errors.New("store: the run is open for reading")
	}
	if name != filepath.Base(name) || !filepath.IsLocal(name) || strings.HasPrefix(name, ".") || name == jobName ||
		name == filesName || name == manifestName || name == slicesName || name == remarksName {
		return fmt.Errorf("store: %q cannot be the name of a file in a run folder", name)
	}
	if err := r.incomplete(); err != nil {
		return err
	}
	if err := replace(r.fs, filepath.Join(r.dir, name), b); err != nil {
		return err
	}
	if err := r.fs.SyncDir(r.dir); err != nil {
		return writing(r.dir, err)
	}
	return nil
}

// Finish writes the manifest, which completes the run, and takes its plan away. It refuses while shards are missing and
// lists them. The versions name the programs that took part; they, like everything else in a run, should not depend on
// when it was made.
func (r *Run) Finish(ctx context.Context, versions map[string]string) error {
	if r.lock == nil {
		return errors.New("store: the run is open for reading")
	}
	if missing := r.Missing(); len(missing) > 0 {
		return fmt.Errorf("%s is not complete: %d of %d shards are missing: %s", r.dir, len(missing), len(r.shards),
			Indexes(missing))
	}
	if versions == nil {
		versions = map[string]string{}
	}
	m := &Manifest{
		Format: r.job.Format, Job: r.hash, Study: r.job.Study, Models: r.job.Models, Data: named(r.job),
		Engine:   r.job.Engine,
		Versions: versions, Complete: true, Shards: len(r.shards), Samples: r.job.Count,
	}
	entries, err := os.ReadDir(r.dir)
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	for _, e := range entries {
		name := e.Name()
		if !e.Type().IsRegular() || name == manifestName || name == slicesName || name == remarksName ||
			strings.HasPrefix(name, ".") {
			continue
		}
		f, err := r.info(name)
		if err != nil {
			return err
		}
		m.Files = append(m.Files, f)
	}
	if err := r.listShards(ctx, m); err != nil {
		return err
	}
	slices.SortFunc(m.Files, func(a, b FileInfo) int { return strings.Compare(a.Path, b.Path) })
	b, err := encodeJSON(m, " ")
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	if err := replace(r.fs, filepath.Join(r.dir, manifestName), seal.Add(b, " ")); err != nil {
		return err
	}
	if err := r.fs.SyncDir(r.dir); err != nil {
		return writing(r.dir, err)
	}
	r.mu.Lock()
	r.manifest = m
	r.mu.Unlock()
	// Last: who dies before has a run to finish, and what helps with it.
	return errors.Join(r.dropPlan(), r.dropCoarse())
}

// listShards lists the shards in a manifest, each held against what it says of itself.
func (r *Run) listShards(ctx context.Context, m *Manifest) error {
	sub := filepath.Base(r.shardDir())
	kept, beside := make([]*marker, len(r.shards)), make([]FileInfo, len(r.shards))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(looking)
	for i, s := range r.shards {
		g.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			k, err := r.verify(s.Index)
			if err != nil {
				return err
			}
			if kept[i], err = r.renew(s.Index, k); err != nil {
				return err
			}
			beside[i], err = r.info(sub + "/" + markerName(s.Index))
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	for i, k := range kept {
		m.Rows += k.Rows
		m.Failed += k.Failed
		m.Files = append(m.Files, FileInfo{Path: sub + "/" + k.File, Size: k.Size, SHA256: k.SHA256}, beside[i])
	}
	return nil
}

// info is what a manifest says of a file.
func (r *Run) info(path string) (FileInfo, error) {
	sum, size, err := r.checksum(filepath.Join(r.dir, filepath.FromSlash(path)))
	if err != nil {
		return FileInfo{}, fmt.Errorf("store: %w", err)
	}
	return FileInfo{Path: path, Size: size, SHA256: sum}, nil
}

// Verify holds every file of the run against its checksum: those that the manifest lists, or, while the run is
// incomplete, the rows of the shards that are finished. The error joins one for each file that fails, and wraps
// [ErrCorrupt].
func (r *Run) Verify(ctx context.Context) error {
	var errs []error
	if m := r.Manifest(); m != nil {
		for _, f := range m.Files {
			if err := ctx.Err(); err != nil {
				return err
			}
			name := filepath.Join(r.dir, filepath.FromSlash(f.Path))
			switch sum, size, err := r.checksum(name); {
			case err != nil:
				errs = append(errs, fmt.Errorf("%s: %w: %w", name, ErrCorrupt, err))
			case size != f.Size || sum != f.SHA256:
				errs = append(errs, fmt.Errorf("%s: %w: its SHA-256 is %.12s, and %s says %.12s", name, ErrCorrupt, sum,
					manifestName, f.SHA256))
			}
		}
		return errors.Join(errs...)
	}
	for _, s := range r.shards {
		if err := ctx.Err(); err != nil {
			return err
		}
		if _, err := os.Stat(filepath.Join(r.shardDir(), markerName(s.Index))); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if _, err := r.verify(s.Index); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
