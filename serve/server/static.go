package server

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"
)

// kinds are the types of the files of the interface. The system's table is not asked: it differs from machine to
// machine, and a browser runs no script that comes as text.
var kinds = map[string]string{
	".html": typeHTML,
	".js":   "text/javascript; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".txt":  "text/plain; charset=utf-8",
	".svg":  "image/svg+xml",
	".png":  typePNG,
	".ico":  "image/x-icon",
	".json": typeJSON,
	".map":  typeJSON,
}

// page is a file of the interface as it is sent.
type page struct {
	kind, tag string
	plain     []byte
	gz        func() ([]byte, error)
}

// pages serves the files of the interface. What is embedded never changes and is read once; a folder that somebody
// works in is read on every request.
type pages struct {
	files fs.FS
	fixed bool

	mu   sync.Mutex
	kept map[string]*page
}

func (p *pages) open(name string) (*page, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if f := p.kept[name]; f != nil {
		return f, nil
	}
	kind, ok := kinds[path.Ext(name)]
	if !ok || !fs.ValidPath(name) {
		return nil, fs.ErrNotExist
	}
	b, err := fs.ReadFile(p.files, name)
	if err != nil {
		return nil, err
	}
	f := &page{kind: kind, tag: tagOf(b), plain: b, gz: sync.OnceValues(func() ([]byte, error) { return squeeze(b) })}
	if p.fixed {
		if p.kept == nil {
			p.kept = map[string]*page{}
		}
		p.kept[name] = f
	}
	return f, nil
}

// squeeze compresses what is compressed once and sent often.
func squeeze(b []byte) ([]byte, error) {
	var z bytes.Buffer
	w, err := gzip.NewWriterLevel(&z, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(b); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return z.Bytes(), nil
}

// serve answers with a file; index.html for the folder itself. Pages have their addresses behind the hash, so that any
// other path is a mistake.
func (p *pages) serve(w http.ResponseWriter, r *http.Request) error {
	name := strings.TrimPrefix(r.URL.Path, "/")
	if name == "" {
		name = "index.html"
	}
	f, err := p.open(name)
	if err != nil {
		if name == "index.html" {
			return fmt.Errorf("the interface has no page: %w", err)
		}
		return missing("the interface has no file %.100q", name)
	}
	gz := strings.HasPrefix(f.kind, "text/") && compresses(r, len(f.plain))
	b := f.plain
	if gz {
		if b, err = f.gz(); err != nil {
			return err
		}
	}
	if head(w, r, f.kind, f.tag, gz) {
		return nil
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(b)))
	return sent(w, r, b)
}
