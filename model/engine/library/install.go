package library

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"

	"nero/internal/disk"
)

// Bounds on what is read from archives.
const (
	maxLibrary = 1 << 30 // bytes of one library; builds for CUDA have about 300 MB
	maxArchive = 8 << 30 // bytes unpacked
	maxMembers = 100_000
)

// names are those under which ONNX Runtime's library is published, with or without its version. Others that lie beside
// it, such as libonnxruntime_providers_shared.so, are plug-ins of it.
var names = map[string]*regexp.Regexp{
	"linux":   regexp.MustCompile(`^libonnxruntime\.so(\.[0-9]+)*$`),
	"darwin":  regexp.MustCompile(`^libonnxruntime(\.[0-9]+)*\.dylib$`),
	"windows": regexp.MustCompile(`^(?i:onnxruntime\.dll)$`),
}

// IsName reports whether a file of this name, without its folder, would be ONNX Runtime's library on p.
func IsName(name string, p Platform) bool { return names[p.format().OS].MatchString(name) }

// Name is the name without a version: the one under which [Install] keeps the library for p.
func Name(p Platform) string {
	switch p.format().OS {
	case "windows":
		return "onnxruntime.dll"
	case "darwin":
		return "libonnxruntime.dylib"
	}
	return "libonnxruntime.so"
}

// Install puts ONNX Runtime's library for p into the folder dir, which is made when absent, under [Name], and returns
// its path. The file is the library itself or an archive that holds it: a release archive or npm package (.tgz), a
// Python wheel, a zip file or a NuGet package; which one is seen from its content. Of several libraries the first for p
// that verify accepts is taken; verify gets the path of a copy in dir, and no file is left when it refuses. An earlier
// library in dir is replaced in one step or stays as it was.
func Install(file, dir string, p Platform, verify func(path string) error) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }() // only read
	st, err := f.Stat()
	if err != nil {
		return "", err
	}
	if !st.Mode().IsRegular() {
		return "", fmt.Errorf("%s is a %s; name a library or an archive", file, kind(st.Mode()))
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	i := &installer{archive: file, dir: dir, platform: p, verify: verify}
	var magic [4]byte
	n, err := io.ReadFull(f, magic[:])
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return "", err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return "", err
	}
	switch m := string(magic[:n]); {
	case len(m) >= 2 && m[:2] == "\x1f\x8b":
		err = i.tar(f)
	case m == "PK\x03\x04":
		err = i.zip(f, st.Size())
	default:
		head := make([]byte, headSize)
		n, _ := f.ReadAt(head, 0) // a short file gives a short head
		if err := checkHead(file, head[:n], p); err != nil {
			return "", err
		}
		if err := i.take(f); err != nil {
			return "", fmt.Errorf("%s: %w", file, err)
		}
		return i.to(), nil
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w", file, err)
	}
	if i.installed {
		return i.to(), nil
	}
	return "", i.missing()
}

type installer struct {
	archive   string
	dir       string
	platform  Platform
	verify    func(string) error
	installed bool
	// libraries for other platforms
	others []Platform
	// the first refusal by verify
	refused   error
	refusedAt string
}

func (i *installer) to() string { return filepath.Join(i.dir, Name(i.platform)) }

// missing says what an archive has instead.
func (i *installer) missing() error {
	switch {
	case i.refused != nil:
		return fmt.Errorf("%s: %s: %w", i.archive, i.refusedAt, i.refused)
	case len(i.others) > 0:
		return fmt.Errorf("%s has ONNX Runtime for %s, none for %s", i.archive, join(i.others), i.platform)
	}
	return fmt.Errorf("%s has no ONNX Runtime library in it (looked for %s, also with a version in its name)",
		i.archive, Name(i.platform))
}

// member looks at one file of an archive. Its name is only compared, never used as a path.
func (i *installer) member(name string, open func() (io.ReadCloser, error)) error {
	base := path.Base(name)
	known := false
	for _, re := range names {
		known = known || re.MatchString(base)
	}
	if !known || i.installed {
		return nil
	}
	r, err := open()
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	defer func() { _ = r.Close() }() // only read
	b := bufio.NewReaderSize(r, headSize)
	head, err := b.Peek(headSize)
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("%s: %w", name, err)
	}
	if err := checkHead(name, head, i.platform); err != nil {
		i.others = append(i.others, Identify(head)...)
		return nil // the archive may have another
	}
	var refused refusedError
	if err := i.take(b); errors.As(err, &refused) {
		if i.refused == nil {
			i.refused, i.refusedAt = refused.error, name
		}
		return nil
	} else if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	i.installed = true
	return nil
}

// refusedError is an error of verify, as opposed to one of reading or writing.
type refusedError struct{ error }

func (e refusedError) Unwrap() error { return e.error }

// take copies a library into the folder, verifies the copy and moves it to its place.
func (i *installer) take(r io.Reader) (err error) {
	f, err := os.CreateTemp(i.dir, "install-*"+filepath.Ext(Name(i.platform)))
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = f.Close() // the first error says more; a second Close does nothing
			_ = os.Remove(f.Name())
		}
	}()
	n, err := io.Copy(f, io.LimitReader(r, maxLibrary+1))
	if err != nil {
		return err
	}
	if n > maxLibrary {
		return fmt.Errorf("the library has more than %d bytes", maxLibrary)
	}
	if err := f.Chmod(0o755); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := Check(f.Name(), i.platform); err != nil {
		return refusedError{err}
	}
	if err := i.verify(f.Name()); err != nil {
		return refusedError{err}
	}
	// Not by disk.Write: the copy is opened as a library before it gets its name.
	if err := os.Rename(f.Name(), i.to()); err != nil {
		return err
	}
	return disk.OS{}.SyncDir(i.dir)
}

func (i *installer) tar(r io.Reader) error {
	z, err := gzip.NewReader(bufio.NewReaderSize(r, 1<<16))
	if err != nil {
		return err
	}
	limited := &io.LimitedReader{R: z, N: maxArchive}
	t := tar.NewReader(limited)
	for n := 0; !i.installed; n++ {
		h, err := t.Next()
		switch {
		case limited.N <= 0:
			return fmt.Errorf("more than %d bytes when unpacked", int64(maxArchive))
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("not a .tar.gz archive, or damaged: %w", err)
		case n >= maxMembers:
			return fmt.Errorf("more than %d files", maxMembers)
		}
		if h.Typeflag != tar.TypeReg { // links to the library, folders
			continue
		}
		if err := i.member(h.Name, func() (io.ReadCloser, error) { return io.NopCloser(t), nil }); err != nil {
			return err
		}
	}
	return nil
}

func (i *installer) zip(r io.ReaderAt, size int64) error {
	z, err := zip.NewReader(r, size)
	if err != nil {
		return err
	}
	if len(z.File) > maxMembers {
		return fmt.Errorf("more than %d files", maxMembers)
	}
	for _, f := range z.File {
		if !f.Mode().IsRegular() {
			continue
		}
		if err := i.member(f.Name, f.Open); err != nil {
			return err
		}
	}
	return nil
}
