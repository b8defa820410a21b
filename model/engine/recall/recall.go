// Package recall keeps what models answered in files, and gives it again to the same question: the same bytes of the
// model, of the engine and of every input of a micro-batch, on the same kind of processor. So a stored answer is what
// the engine would answer, to the last digit, and nobody who gets one can tell, but by the time it takes.
package recall

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"nero/data/tensor"
	"nero/model/engine"
)

// Files of answers are written by one process each and never changed, so that processes share a folder without a lock.
// One that is full, or whose process has ended, has an index at its end, and nothing else of it is read to open the
// folder. Of one that has none, as a killed process leaves it, the heads of records are read, as far as they are whole.
const (
	ending = ".answers"
	// Records are these bytes, the key, the length of what follows, that, and the SHA-256 of key and that.
	mark       = "nro1"
	headLength = len(mark) + sha256.Size + 4
	// mostRecords bounds the memory that the index takes: some 60 bytes a record.
	mostRecords = 1 << 20
	// Of so many parts of the whole a file has at most one, so that little is lost when the oldest is taken away.
	parts = 16
	// smallest is what a file may have in any case.
	smallest = 1 << 20
	// mostFiles bounds how many files there are, which a process has open all: short runs write small ones.
	mostFiles = 1 << 8
)

// Store is a folder of answers. It is safe for concurrent use.
type Store struct {
	dir  string
	most int64
	now  func() time.Time
	// opens a file to read
	file func(path string) (source, error)

	mu    sync.Mutex
	index map[key]place
	files []*file
	// that this process writes, the last of files; nil before the first answer
	own *file
	use Use
}

// key is the beginning of the SHA-256 of a question: the whole stands in the record.
type key [16]byte

type place struct {
	file   *file
	at     int64
	length int
}

type file struct {
	name    string
	f       source
	size    int64
	touched bool
	// of a file that is written: where to, and the entries of its index so far
	w       io.WriterAt
	entries []byte
}

// source is a file as it is read.
type source interface {
	io.ReaderAt
	io.Closer
	Stat() (os.FileInfo, error)
}

// Open opens a folder of answers, making it if need be, and takes the files away that were used longest ago as long as
// there are more than so many bytes, or too many files. Which were used last is known by the clock; nil for whichever
// were written last.
func Open(dir string, most int64, now func() time.Time) (*Store, error) {
	return openWith(dir, most, now, func(path string) (source, error) { return os.Open(path) })
}

// openWith opens a folder whose files are opened by a function.
func openWith(dir string, most int64, now func() time.Time, file func(string) (source, error)) (*Store, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("answers cannot be kept: %w", err)
	}
	s := &Store{dir: dir, most: most, now: now, file: file, index: map[key]place{}}
	if err := s.evict(); err != nil {
		return nil, err
	}
	names, err := s.list()
	if err != nil {
		return nil, err
	}
	for _, n := range slices.Backward(names) { // the newest first: there may be more than the index holds
		s.read(n.name)
	}
	return s, nil
}

// there is a file of answers in the folder.
type there struct {
	name string
	size int64
	used time.Time
}

// list are the files in the folder, the one that was used longest ago first.
func (s *Store) list() ([]there, error) {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return nil, fmt.Errorf("answers cannot be read: %w", err)
	}
	var out []there
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !strings.HasSuffix(e.Name(), ending) || !info.Mode().IsRegular() {
			continue // gone, or none of ours
		}
		out = append(out, there{e.Name(), info.Size(), info.ModTime()})
	}
	slices.SortFunc(out, func(a, b there) int { return cmp.Or(a.used.Compare(b.used), cmp.Compare(a.name, b.name)) })
	return out, nil
}

// evict takes the files away that were used longest ago, but for the one that this process writes, until the rest has
// its size and number. Another process may read one of them: it does so to its end, or asks its engine.
func (s *Store) evict() error {
	all, err := s.list()
	if err != nil {
		return err
	}
	total := int64(0)
	for _, t := range all {
		total += t.size
	}
	left := len(all)
	for _, t := range all {
		if total <= s.most && left <= mostFiles {
			break
		}
		if s.own != nil && t.name == s.own.name {
			continue
		}
		s.forget(t.name) // first: there are systems that remove nothing that is open
		if err := os.Remove(filepath.Join(s.dir, t.name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			continue // in use by another process, where systems do not let one remove that
		}
		total -= t.size
		left--
	}
	return nil
}

// forget closes a file that is taken away: as long as it is open its bytes stay on the disk.
func (s *Store) forget(name string) {
	s.files = slices.DeleteFunc(s.files, func(f *file) bool {
		if f.name != name {
			return false
		}
		maps.DeleteFunc(s.index, func(_ key, p place) bool { return p.file == f })
		_ = f.f.Close() // nobody reads it any more
		return true
	})
}

// read takes the records of a file into the index.
func (s *Store) read(name string) {
	f, err := s.file(filepath.Join(s.dir, name))
	if err != nil {
		return
	}
	info, err := f.Stat()
	if err != nil {
		_ = f.Close() // it is not read
		return
	}
	o := &file{name: name, f: f, size: info.Size()}
	take := func(k key, at int64, length int) bool {
		s.index[k] = place{o, at, length}
		return len(s.index) < mostRecords
	}
	if len(s.index) < mostRecords && !indexed(f, o.size, take) {
		scan(f, o.size, take)
	}
	s.files = append(s.files, o)
}

// Close ends the use of the folder. What was answered stays.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.finish()
	var errs []error
	for _, f := range s.files {
		errs = append(errs, f.f.Close())
	}
	s.files, s.own, s.index = nil, nil, nil
	return errors.Join(errs...)
}

// Use is what a store was good for.
type Use struct {
	// Asked is how many questions there were, Found how many of them had been answered, and Damaged how many of their
	// answers are not what was written; those were asked again.
	Asked, Found, Damaged int
	// Full is why no more answers are kept, nil if they are.
	Full error
}

// Use says what the store was good for since it was opened.
func (s *Store) Use() Use {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.use
}

// get is the answer to a question.
func (s *Store) get(question [sha256.Size]byte) ([]tensor.Named, bool) {
	s.mu.Lock()
	s.use.Asked++
	p, ok := s.index[key(question[:])]
	s.mu.Unlock()
	if !ok {
		return nil, false
	}
	b := make([]byte, headLength+p.length+sha256.Size)
	_, err := p.file.f.ReadAt(b, p.at)
	var out []tensor.Named
	if err == nil {
		out, err = open(b, question)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		if errors.Is(err, errOther) || errors.Is(err, os.ErrClosed) { // taken away in this moment
			return nil, false
		}
		s.use.Damaged++
		delete(s.index, key(question[:]))
		return nil, false
	}
	s.use.Found++
	if f := p.file; !f.touched && s.now != nil {
		f.touched = true
		now := s.now()
		_ = os.Chtimes(filepath.Join(s.dir, f.name), now, now) // it may be gone; what was read of it is sound
	}
	return out, true
}

// put keeps the answer to a question. Answers are no part of a result: that they cannot be kept is said, and no more.
func (s *Store) put(question [sha256.Size]byte, out []tensor.Named) {
	b := record(question, out)
	s.mu.Lock()
	defer s.mu.Unlock()
	most := max(s.most/parts, smallest)
	if s.use.Full != nil || s.index == nil || int64(len(b)) > min(most, 1<<31) || len(s.index) >= mostRecords {
		return
	}
	if s.own != nil && s.own.size+int64(len(b)) > most {
		s.finish()
	}
	if s.own == nil {
		f, err := os.CreateTemp(s.dir, "*"+ending)
		if err != nil {
			s.use.Full = err
			return
		}
		s.own = &file{name: filepath.Base(f.Name()), f: f, touched: true, w: f}
		s.files = append(s.files, s.own)
		if s.use.Full = s.evict(); s.use.Full != nil {
			return
		}
	}
	if _, err := s.own.w.WriteAt(b, s.own.size); err != nil {
		s.use.Full = err
		return
	}
	length := len(b) - headLength - sha256.Size
	s.index[key(question[:])] = place{s.own, s.own.size, length}
	s.own.entries = entry(s.own.entries, key(question[:]), length)
	s.own.size += int64(len(b))
}

// finish ends the file that this process writes with its index.
func (s *Store) finish() {
	if s.own != nil && len(s.own.entries) > 0 {
		b := index(s.own.entries)
		_, _ = s.own.w.WriteAt(b, s.own.size) // a part of it is none, and heads are read then
		s.own.size += int64(len(b))
		s.own.entries = nil
	}
	s.own = nil
}

// errOther marks the record of another question whose key begins alike.
var errOther = errors.New("the answer to another question")

// record is the answer to a question as it is stored.
func record(question [sha256.Size]byte, out []tensor.Named) []byte {
	b := append([]byte(mark), question[:]...)
	b = append(b, 0, 0, 0, 0)
	b = binary.AppendUvarint(b, uint64(len(out)))
	for _, t := range out {
		b = binary.AppendUvarint(b, uint64(len(t.Name)))
		b = append(b, t.Name...)
		b = binary.AppendUvarint(b, uint64(t.DType))
		b = binary.AppendUvarint(b, uint64(len(t.Shape)))
		for _, d := range t.Shape {
			b = binary.AppendUvarint(b, uint64(d))
		}
		b = binary.AppendUvarint(b, uint64(len(t.Raw)))
		b = append(b, t.Raw...)
	}
	binary.LittleEndian.PutUint32(b[headLength-4:], uint32(len(b)-headLength))
	sum := sha256.Sum256(b[len(mark):])
	return append(b, sum[:]...)
}

// open reads a record.
func open(b []byte, question [sha256.Size]byte) ([]tensor.Named, error) {
	end := len(b) - sha256.Size
	if sum := sha256.Sum256(b[len(mark):end]); !bytes.Equal(sum[:], b[end:]) {
		return nil, errors.New("not what was written")
	}
	if !bytes.Equal(b[len(mark):len(mark)+sha256.Size], question[:]) {
		return nil, errOther
	}
	r := reader{b: b[headLength:end]}
	var out []tensor.Named
	for range r.count() {
		t := tensor.Named{Name: string(r.bytes())}
		t.DType = tensor.DType(r.number())
		for range r.count() {
			t.Shape = append(t.Shape, r.number())
		}
		t.Raw = r.bytes()
		if r.bad || t.Check() != nil {
			return nil, errors.New("no tensors")
		}
		out = append(out, t)
	}
	if r.bad {
		return nil, errors.New("no tensors")
	}
	return out, nil
}

// reader reads the payload of a record, whose bytes are those that were written.
type reader struct {
	b   []byte
	bad bool
}

func (r *reader) number() int {
	v, n := binary.Uvarint(r.b)
	if n <= 0 || v > uint64(1<<40) || r.bad {
		r.bad = true
		return 0
	}
	r.b = r.b[n:]
	return int(v)
}

// count is how many things follow, each of which takes a byte or more: of a number that no payload holds none does.
func (r *reader) count() int {
	n := r.number()
	if n > len(r.b) {
		r.bad = true
		return 0
	}
	return n
}

func (r *reader) bytes() []byte {
	n := r.number()
	if n > len(r.b) {
		r.bad = true
		return nil
	}
	out := r.b[:n:n]
	r.b = r.b[n:]
	return out
}

// Over is an engine that answers out of the store what has been asked before. The identity tells it, and the kind of
// processor that it runs on, from every other that may answer differently in the last digit.
func (s *Store) Over(e engine.Engine, identity string) engine.Engine { return &kept{e, s, identity} }

type kept struct {
	engine.Engine
	s        *Store
	identity string
}

// random are the operators whose answers may be others each time. Dropout draws where it stands in its training form,
// which nothing here tells from the other.
var random = []string{"RandomNormal", "RandomUniform", "Multinomial", "Bernoulli", "Dropout"}

// Open opens a model. One whose answers are drawn is always asked, and so is one on an execution provider: which device
// is behind that, nobody knows here, and a folder may be that of several machines.
func (e *kept) Open(ctx context.Context, model []byte, o engine.Options) (engine.Session, error) {
	s, err := e.Engine.Open(ctx, model, o)
	draws := slices.ContainsFunc(random, func(op string) bool { return bytes.Contains(model, []byte(op)) })
	if err != nil || draws || !o.Providers.Plain() {
		return s, err
	}
	sum := sha256.Sum256(model)
	return &session{s, e.s, fmt.Sprintf("%q %+v %x ", e.identity, o, sum)}, nil
}

// Providers are those of the engine.
func (e *kept) Providers() []string {
	if p, ok := e.Engine.(engine.Provided); ok {
		return p.Providers()
	}
	return nil
}

// Spent is that of the engine.
func (e *kept) Spent(ctx context.Context) (time.Duration, error) { return engine.Spent(ctx, e.Engine) }

type session struct {
	engine.Session
	s     *Store
	model string
}

// Run gives the stored answer, or asks and stores.
func (s *session) Run(ctx context.Context, in []tensor.Named) ([]tensor.Named, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	h := sha256.New()
	_, _ = io.WriteString(h, s.model) // a hash takes everything
	for _, t := range in {
		_, _ = fmt.Fprintf(h, "%q %d %v %d ", t.Name, t.DType, t.Shape, len(t.Raw))
		_, _ = h.Write(t.Raw)
	}
	question := [sha256.Size]byte(h.Sum(nil))
	if out, ok := s.s.get(question); ok {
		return out, nil
	}
	out, err := s.Session.Run(ctx, in)
	if err == nil {
		s.s.put(question, out)
	}
	return out, err
}
