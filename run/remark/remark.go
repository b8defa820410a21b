// Package remark keeps what people say of a run beside it: its name, and notes and tags of its samples.
package remark

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"nero/internal/seal"
	"nero/run/beside"
)

const (
	// FileName is the file in a run folder that holds them.
	FileName = "remarks.json"
	// Format is the number of its form.
	Format = 1
	// MaxSamples is the most samples of a run of which something is said.
	MaxSamples = 100_000
	// MaxName is the longest name of a run, MaxNote the longest note and MaxTag the longest tag, in characters (Unicode
	// code points); MaxTags is the most tags of a sample.
	MaxName, MaxNote, MaxTag, MaxTags = 200, 2000, 100, 20

	maxFile = 256 << 20
)

// Remarks is what people say of a run.
type Remarks struct {
	// of the run; empty for that of its study or its folder
	Name string `json:"name,omitempty"`
	// in any order, each once
	Samples []Sample `json:"samples"`
}

// Sample is what people say of a sample.
type Sample struct {
	// its name in the run
	ID   string   `json:"id"`
	Note string   `json:"note,omitempty"`
	Tags []string `json:"tags,omitempty"`
}

type file struct {
	Format int `json:"format"`
	Remarks
}

func kept() beside.File { return beside.File{Name: FileName, What: "remarks", Limit: maxFile} }

// Load reads the remarks of a run folder, empty ones if it has no file of them. The tag is that of [Save]. The error
// names the file and wraps [beside.ErrDamaged] if it cannot be understood.
func Load(dir string) (r Remarks, tag string, err error) {
	b, err := kept().Load(dir)
	if err != nil {
		return r, "", err
	}
	if r, err = decode(b); err != nil {
		return r, "", err
	}
	return r, beside.Tag(b), nil
}

func decode(b []byte) (Remarks, error) {
	none := Remarks{Samples: []Sample{}}
	if b == nil {
		return none, nil
	}
	refuse := func(err error) (Remarks, error) {
		return none, fmt.Errorf("%s: %w: %w; mend the file, or move it away to begin anew", FileName,
			beside.ErrDamaged, err)
	}
	b, sealed, err := seal.Open(b)
	if err != nil {
		return none, fmt.Errorf("%s: %w: %w; take the key sha256 out if you changed it yourself, or move the file "+
			"away to begin anew", FileName, beside.ErrDamaged, err)
	}
	var f file
	if err := json.Unmarshal(b, &f); err != nil {
		return refuse(err)
	}
	if k := seal.Stranger(b, f); k != "" && !sealed {
		return refuse(fmt.Errorf("it has a key %.40q", k))
	}
	if f.Format > Format {
		return none, fmt.Errorf("%s has format %d, and this program reads up to %d; a newer nero opens it", FileName,
			f.Format, Format)
	}
	if f.Format < 1 {
		return refuse(fmt.Errorf("format is %d, expected %d", f.Format, Format))
	}
	if err := f.check(); err != nil {
		return refuse(err)
	}
	if f.Samples == nil {
		f.Samples = []Sample{}
	}
	return f.Remarks, nil
}

// text holds a text of people against the rules of the file.
func text(what, s string, most int) error {
	if !utf8.ValidString(s) {
		return fmt.Errorf("%s is not UTF-8", what)
	}
	if n := utf8.RuneCountInString(s); n > most {
		return fmt.Errorf("%s has %d characters; at most %d are kept", what, n, most)
	}
	return nil
}

func (r *Remarks) check() error {
	if err := text("the name of the run", r.Name, MaxName); err != nil {
		return err
	}
	if len(r.Samples) > MaxSamples {
		return fmt.Errorf("remarks on %d samples; at most %d are kept", len(r.Samples), MaxSamples)
	}
	seen := make(map[string]bool, len(r.Samples))
	for i, s := range r.Samples {
		what := fmt.Sprintf("the note of sample %.40q", s.ID)
		switch {
		case s.ID == "":
			return fmt.Errorf("remark %d names no sample", i)
		case seen[s.ID]:
			return fmt.Errorf("two remarks on sample %.40q; put them into one", s.ID)
		case len(s.Tags) > MaxTags:
			return fmt.Errorf("sample %.40q has %d tags; at most %d are kept", s.ID, len(s.Tags), MaxTags)
		}
		seen[s.ID] = true
		if err := text(what, s.Note, MaxNote); err != nil {
			return err
		}
		for k, t := range s.Tags {
			if strings.TrimSpace(t) == "" || slices.Contains(s.Tags[:k], t) {
				return fmt.Errorf("tag %d of sample %.40q is empty, or there twice", k, s.ID)
			}
			if err := text(fmt.Sprintf("tag %d of sample %.40q", k, s.ID), t, MaxTag); err != nil {
				return err
			}
		}
	}
	return nil
}

// Save writes the remarks of a run folder, if ifMatch (as in the header of HTTP) admits the tag of what is there. See
// [beside.File.Save].
func Save(ctx context.Context, dir string, r Remarks, ifMatch string) (tag string, err error) {
	r.Samples = slices.DeleteFunc(slices.Clone(r.Samples),
		func(s Sample) bool { return s.Note == "" && len(s.Tags) == 0 })
	if r.Samples == nil {
		r.Samples = []Sample{}
	}
	if err := r.check(); err != nil {
		return "", fmt.Errorf("these remarks %w: %w", beside.ErrInvalid, err)
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	if err := e.Encode(file{Format, r}); err != nil {
		return "", fmt.Errorf("these remarks %w: %w", beside.ErrInvalid, err)
	}
	return kept().Save(ctx, dir, seal.Add(b.Bytes(), " "), ifMatch, func(old []byte) error {
		_, err := decode(old)
		return err
	})
}
