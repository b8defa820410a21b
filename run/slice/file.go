package slice

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"nero/internal/seal"
	"nero/run/beside"
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

	maxFile = 256 << 20
)

// These are the errors of sets that are kept with a run.
var (
	// ErrChanged marks a change to sets that somebody else has changed since they were read.
	ErrChanged = beside.ErrChanged
	// ErrReadOnly marks a folder in which nothing can be kept.
	ErrReadOnly = beside.ErrReadOnly
	// ErrInvalid marks sets that break a rule of the file: too many, names that are empty, too long or given twice.
	ErrInvalid = beside.ErrInvalid
	// ErrDamaged marks a file that does not hold what was written. It is left as it is.
	ErrDamaged = beside.ErrDamaged
)

// kept is the file beside a run.
func kept() beside.File { return beside.File{Name: FileName, What: "slices", Limit: maxFile} }

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
	b, err := kept().Load(dir)
	if err != nil {
		return nil, "", err
	}
	all, err = decode(b)
	if err != nil {
		return nil, "", err
	}
	return all, beside.Tag(b), nil
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

// Save writes the named sets of a run folder, if ifMatch (as in the header of HTTP: one or more tags, or *) admits the
// tag of what is there. The file is replaced in one step, under a lock that other processes take as well, so that of
// two changes to the same sets one fails with [ErrChanged]. A file that is damaged stays as it is. Save waits for the
// lock while the context lasts, at most ten seconds; then the error wraps [store.ErrBusy] and that of the context.
func Save(ctx context.Context, dir string, all []Named, ifMatch string) (tag string, err error) {
	if all == nil {
		all = []Named{}
	}
	if err := check(all); err != nil {
		return "", fmt.Errorf("these slices %w: %w", ErrInvalid, err)
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	if err := e.Encode(file{Format, all}); err != nil {
		return "", fmt.Errorf("these slices %w: %w", ErrInvalid, err)
	}
	return kept().Save(ctx, dir, seal.Add(b.Bytes(), " "), ifMatch, func(old []byte) error {
		_, err := decode(old)
		return err
	})
}
