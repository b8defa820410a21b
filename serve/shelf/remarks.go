package shelf

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"nero/run/beside"
	"nero/run/remark"
	"nero/run/store"
	"nero/serve/api"
)

// remarked is what people say of a run, as it was when its folder was looked at.
type remarked struct {
	file    os.FileInfo
	remarks remark.Remarks
	// by sample
	tags map[string][]string
}

// listen reads what people say of the run, if it has changed, and reports whether it has. Remarks that cannot be read
// are none: whoever asks for them is told why.
func (s *source) listen() bool {
	info, err := os.Stat(filepath.Join(s.dir, remark.FileName))
	if err != nil {
		info = nil
	}
	s.mu.Lock()
	same := sameFile(info, s.said.file)
	s.mu.Unlock()
	if same {
		return false
	}
	next := remarked{file: info, tags: map[string][]string{}}
	if next.remarks, _, err = remark.Load(s.dir); err == nil {
		for _, r := range next.remarks.Samples {
			if len(r.Tags) > 0 {
				next.tags[r.ID] = r.Tags
			}
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.said = next
	return true
}

// heard is what people say of the run.
func (s *source) heard() remarked {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.said
}

// title is what the run is called.
func (s *source) title() string {
	for _, name := range []string{s.heard().remarks.Name, s.now().run.Job().Study.Name} {
		if strings.TrimSpace(name) == "" {
			continue
		}
		if filepath.Base(s.dir) == store.Coarse {
			name += coarseLevel
		}
		return name
	}
	return s.name
}

// since is when a run was begun and last had more rows, in milliseconds since 1970.
func (s *source) since() (begun, changed int64) {
	at := s.now()
	ms := func(info os.FileInfo) int64 {
		if info == nil {
			return 0
		}
		return info.ModTime().UnixMilli()
	}
	begun, changed = ms(at.files[0]), ms(at.files[1])
	if changed == 0 {
		if info, err := os.Stat(filepath.Join(s.dir, "shards-"+at.run.Hash()[:12])); err == nil {
			changed = info.ModTime().UnixMilli()
		}
	}
	return min(begun, max(changed, begun)), max(begun, changed)
}

// placeOf is where a folder lies from the folder around the one that the shelf was given.
func placeOf(root, dir string) string {
	rel, err := filepath.Rel(filepath.Dir(root), dir)
	if err != nil || !filepath.IsLocal(rel) {
		return filepath.Base(dir)
	}
	return filepath.ToSlash(rel)
}

// anew forgets the documents of a run that say what people say of it.
func (s *Shelf) anew(src *source) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.shown, src.id)
	for id := range s.joined {
		if slices.Contains(strings.Split(id, "+"), src.id) {
			delete(s.joined, id)
		}
	}
}

// Remarks are what people say of the run, and their entity tag. With two runs side by side they are those of the first.
func (r *Run) Remarks() (*api.Remarks, string, error) {
	p := r.parts[0]
	all, tag, err := remark.Load(p.dir)
	if err != nil {
		return nil, "", p.clean(err)
	}
	out := &api.Remarks{Format: remark.Format, Name: all.Name, Samples: make([]api.Remark, 0, len(all.Samples))}
	for _, s := range all.Samples {
		out.Samples = append(out.Samples, api.Remark(s))
	}
	return out, tag, nil
}

// PutRemarks keeps what people say of the run if nobody has changed it since it had the tag in ifMatch (as the header
// If-Match has it). The error wraps [ErrChanged], [ErrReadOnly] or [ErrBad].
func (r *Run) PutRemarks(all api.Remarks, ifMatch string) (*api.Remarks, string, error) {
	if len(r.parts) > 1 {
		return nil, "", mark(ErrReadOnly, "of two runs side by side nothing is kept; open the run that it is said of")
	}
	if all.Format != remark.Format {
		return nil, "", mark(ErrBad, "remarks: format %d; expected %d", all.Format, remark.Format)
	}
	info, err := r.info()
	if err != nil {
		return nil, "", err
	}
	known := make(map[string]bool, r.n)
	for _, id := range info.IDs {
		known[id] = true
	}
	kept := remark.Remarks{Name: all.Name}
	for _, s := range all.Samples {
		if !known[s.ID] && r.complete() {
			return nil, "", mark(ErrBad, "remarks: the run has no sample %.40q", s.ID)
		}
		kept.Samples = append(kept.Samples, remark.Sample(s))
	}
	src := r.parts[0].source
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.shelf.ctx), time.Minute)
	defer cancel()
	tag, err := remark.Save(ctx, src.dir, kept, ifMatch)
	if errors.Is(err, beside.ErrInvalid) {
		return nil, "", mark(ErrBad, "%v", err)
	}
	if err != nil {
		return nil, "", src.clean(err)
	}
	if src.listen() {
		r.shelf.toldRemarks(src)
	}
	now, _, err := r.Remarks()
	if err != nil {
		return nil, "", fmt.Errorf("what was kept cannot be read: %w", err)
	}
	return now, tag, nil
}

// toldRemarks tells everybody who watches that somebody said something else of a run.
func (s *Shelf) toldRemarks(src *source) {
	s.anew(src)
	s.tell(src)
	s.send(api.Event{Remarks: src.id})
}
