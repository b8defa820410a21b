package shelf

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"nero/audit/document"
	"nero/internal/seal"
	"nero/serve/api"
	"nero/symmetry/group"
)

// record is an audit.
type record struct {
	id, name string
	file     string
	size     int64
	modified time.Time

	verdict string
	models  []string
	// of the models' files, "" where the document does not say
	digests []string
	// of the data that each model was given
	data []string
	// that each model was moved by
	groups []string
	// by digest
	parameters map[string]int64
	places     []placed
	raw        json.RawMessage
}

// placed is a sample at an element that the document names.
type placed struct {
	sample  string
	element group.Element
	model   int
}

// within opens a file of a folder, but none that a link leads to elsewhere: folders are handed from one to another, and
// what is read is shown. The folder itself may be a link.
func within(dir, name string) (*os.File, error) {
	f, err := os.OpenInRoot(dir, name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf(
			"%s cannot be read, or is a link that leads out of its folder; put the file itself there: %w", name, err)
	}
	return f, err
}

func readAudit(file string) (*record, error) {
	f, err := within(filepath.Dir(file), filepath.Base(file))
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // nothing was written
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > document.MaxSize {
		return nil, fmt.Errorf("%s: %d bytes; expected a file of at most %d, as nero audit --format json writes it",
			filepath.Base(file), info.Size(), document.MaxSize)
	}
	b, err := io.ReadAll(io.LimitReader(f, document.MaxSize))
	if err != nil {
		return nil, err
	}
	d, err := document.Read(filepath.Base(file), b)
	if err != nil {
		return nil, err
	}
	if d.Verdict == "" {
		return nil, fmt.Errorf("%s: it has no verdict; nero audit --format json writes it anew", filepath.Base(file))
	}
	a := &record{
		file: file, size: info.Size(), modified: info.ModTime(), verdict: string(d.Verdict), models: []string{},
		parameters: map[string]int64{},
	}
	for i := range d.Models {
		m := &d.Models[i]
		a.models = append(a.models, m.Model)
		sum, parameters := "", int64(0)
		for _, x := range m.About {
			switch x.Name {
			case "sha256":
				sum = x.Value
			case "parameters":
				parameters, _ = strconv.ParseInt(x.Value, 10, 64) // 0 stands for not known
			}
		}
		a.digests = append(a.digests, sum)
		a.groups = append(a.groups, m.Claim.Group)
		data := ""
		for _, x := range m.Basis {
			if v, ok := strings.CutPrefix(x.Value, "sha256 "); ok && x.Name == "data" {
				data = v
			}
		}
		a.data = append(a.data, data)
		if sum != "" && parameters > 0 {
			a.parameters[sum] = parameters
		}
		for k := range m.Checks {
			c := &m.Checks[k]
			for n := range c.Sets {
				a.place(i, c.Sets[n].At)
				a.place(i, c.Sets[n].NonFiniteAt)
			}
			for n := range c.Findings {
				a.place(i, c.Findings[n].Worst)
			}
		}
		for n := range m.WorstCases {
			a.place(i, &m.WorstCases[n].Where)
		}
		for n := range m.Gallery {
			a.place(i, m.Gallery[n].Where)
		}
	}
	if shown(d) {
		var w bytes.Buffer
		if err := document.Write(&w, d); err != nil {
			return nil, err
		}
		b = w.Bytes()
	}
	if b, _, err = seal.Open(b); err != nil { // what is shown is not the file, and has no seal
		return nil, fmt.Errorf("%s: %w", filepath.Base(file), err)
	}
	if a.raw = withoutFolders(b, d); !json.Valid(a.raw) {
		return nil, errors.New(filepath.Base(file) + ": cannot be shown without the paths in it")
	}
	return a, nil
}

// What the page shows of the worst case of a model: so many pictures, of so many bytes together.
const (
	mostPictures = 4
	mostOfThem   = 256 << 10
)

// shown takes out of an audit what the page does not show and a report in one file has no room for: pictures but those
// of the first case of a model, and the documentation of checks. It reports whether there was any.
func shown(d *document.Audit) bool {
	some := false
	for i := range d.Models {
		m, first := &d.Models[i], i < mostPictures
		for k := range m.Gallery {
			of := m.Gallery[k].Images
			if of == nil {
				continue
			}
			keep, bytes := of[:0:0], 0
			for _, picture := range of {
				if bytes += len(picture.PNG); first && len(keep) < mostPictures && bytes <= mostOfThem {
					keep = append(keep, picture)
				}
			}
			m.Gallery[k].Images, first, some = keep, false, some || len(keep) < len(of)
		}
		for k := range m.Checks {
			some = some || m.Checks[k].Doc != ""
			m.Checks[k].Doc = ""
		}
	}
	return some
}

func (a *record) place(model int, p *document.Where) {
	if p == nil || p.Sample == "" {
		return
	}
	at := placed{sample: p.Sample, element: group.Element{}, model: model}
	for _, c := range p.Coordinates {
		if v := float64(c); math.IsNaN(v) || math.IsInf(v, 0) {
			return
		}
		at.element = append(at.element, float64(c))
	}
	if !slices.ContainsFunc(a.places, func(o placed) bool {
		return o.sample == at.sample && o.model == at.model && slices.Equal(o.element, at.element)
	}) {
		a.places = append(a.places, at)
	}
}

// about finds the model of an audit that is a model of a job's on the same data, -1 if there is none: on other data the
// same names are other samples, and a verdict says nothing.
func (a *record) about(model, data string) int {
	for i, d := range a.digests {
		if d != "" && d == model && a.data[i] == data {
			return i
		}
	}
	return -1
}

// motion is what the coordinates of a group's elements mean. Finite groups of turns and mirrors share those of all
// turns and mirrors; equal numbers in other charts are other motions.
func motion(name string) string {
	switch {
	case finiteTurns.MatchString(name):
		return "SO(2)"
	case finiteMirrors.MatchString(name):
		return "O(2)"
	case name == "T(2,Z)":
		return "T(2)"
	}
	return name
}

var (
	finiteTurns   = regexp.MustCompile(`^C\d+$`)
	finiteMirrors = regexp.MustCompile(`^D\d+$`)
)

// auditsOf are the audits of any model of a run.
func (s *Shelf) auditsOf(r *Run) []*record {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []*record
	for _, a := range s.audits {
		if slices.ContainsFunc(r.models, func(m modelRef) bool {
			p := r.parts[m.part]
			return a.about(p.at.run.Job().Models[m.index].SHA256, p.at.dataDigest()) >= 0
		}) {
			out = append(out, a)
		}
	}
	return out
}

// listed is an audit in a list. The lock is held.
func (s *Shelf) listed(a *record) api.Audit {
	o := api.Audit{ID: a.id, Name: a.name, Verdict: a.verdict, Models: a.models, Runs: []string{}}
	for _, src := range s.sources {
		at := src.now()
		for _, m := range at.run.Job().Models {
			if a.about(m.SHA256, at.dataDigest()) >= 0 {
				o.Runs = append(o.Runs, src.id)
				break
			}
		}
	}
	return o
}

// Findings is an audit with its places in the runs. The error wraps [ErrUnknown] for an id that is not there.
func (s *Shelf) Findings(id string) (*api.Findings, error) {
	s.refresh()
	s.mu.Lock()
	i := slices.IndexFunc(s.audits, func(a *record) bool { return a.id == id })
	if i < 0 {
		s.mu.Unlock()
		return nil, fmt.Errorf("audit %.100q: %w; GET runs lists what there is", id, ErrUnknown)
	}
	a := s.audits[i]
	o := &api.Findings{Audit: s.listed(a), Document: a.raw, Places: []api.Place{}}
	sources := slices.Clone(s.sources)
	s.mu.Unlock()
	for _, src := range sources {
		if !slices.Contains(o.Audit.Runs, src.id) {
			continue
		}
		at := src.now()
		names, err := src.names(at)
		if err != nil {
			s.log().Warn("places of an audit", "audit", a.name, "run", src.name, "error", err)
			continue // the findings are shown all the same
		}
		index := make(map[string]int, len(names.ids))
		for k, id := range slices.Backward(names.ids) { // of equal names the first counts
			if names.present(at, k) {
				index[id] = k
			}
		}
		axes := len(at.group.Chart())
		for _, p := range a.places {
			model := slices.IndexFunc(at.run.Job().Models,
				func(m jobModel) bool { return a.about(m.SHA256, at.dataDigest()) == p.model })
			k, ok := index[p.sample]
			if !ok || model < 0 || motion(a.groups[p.model]) != motion(at.group.Name()) || len(p.element) != axes &&
				len(p.element) != 0 {
				continue
			}
			element := p.element
			if indexed(at.group) {
				to := slices.IndexFunc(at.run.Job().Elements, func(e group.Element) bool {
					return len(p.element) == axes && at.group.Dist(e, p.element) <= group.Tolerance
				})
				if to < 0 {
					continue // the plan of the run does not have it, and nothing else can be shown
				}
				element = group.Element{float64(to)}
			}
			o.Places = append(o.Places, api.Place{
				Sample: p.sample, Element: element, Model: a.models[p.model], ModelIndex: model, Run: src.id, Index: k,
			})
		}
	}
	return o, nil
}
