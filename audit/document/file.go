package document

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"nero/internal/seal"

	"github.com/invopop/jsonschema"
)

// MaxSize bounds the file of an audit, in bytes.
const MaxSize = 256 << 20

// ErrNewer marks an audit of a form that this program does not know.
var ErrNewer = errors.New("written by a newer program")

// Write writes an audit as JSON, indented by two spaces, in the form that [Schema] describes, with a seal at its end.
// Equal audits give equal bytes.
func Write(w io.Writer, a *Audit) error {
	out := *a
	out.Infinite = infinities(&out)
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(out); err != nil {
		return err
	}
	_, err := w.Write(seal.Add(b.Bytes(), "  "))
	return err
}

// Schema is the schema of what [Write] writes (draft 2020-12).
func Schema() ([]byte, error) {
	r := jsonschema.Reflector{DoNotReference: true, Anonymous: true}
	s := r.Reflect(&Audit{})
	s.Title = "nero audit, format " + strconv.Itoa(Format)
	s.Properties.Set("sha256", &jsonschema.Schema{
		Type: "string", Pattern: "^[0-9a-f]{64}$",
		Description: "the seal, the last key: SHA-256 of the text of this file without this key and the comma before " +
			"it; absent in files that were written before there were seals, or that another program wrote",
	})
	b, err := json.MarshalIndent(s, "", "  ")
	return append(b, '\n'), err
}

// Read reads what [Write] wrote, of this form or an older one. The name of the file is for messages. A newer form is
// refused with [ErrNewer], and a file that is not what its seal says with [seal.ErrBroken].
func Read(name string, b []byte) (*Audit, error) {
	plain, sealed, err := opened(name, b)
	if err != nil {
		return nil, err
	}
	return parse(name, plain, sealed, nil)
}

// opened takes the seal off the text of a file.
func opened(name string, b []byte) (plain []byte, sealed bool, err error) {
	if len(b) > MaxSize {
		return nil, false, refused(name, fmt.Errorf("%d bytes, and an audit has at most %d", len(b), MaxSize))
	}
	if len(bytes.TrimSpace(b)) == 0 {
		return nil, false, refused(name, errors.New("the file is empty"))
	}
	if plain, sealed, err = seal.Open(b); err != nil {
		return nil, false, fmt.Errorf("%s: %w; audit again, or take the key sha256 out if you changed it yourself",
			name, err)
	}
	return plain, sealed, nil
}

// refused says of a file that it is no audit.
func refused(name string, err error) error {
	return fmt.Errorf("%s: %w; want a file that 'nero audit --format json' wrote", name, err)
}

// parse reads the text of an audit, of which the values of some keys were left out.
func parse(name string, b []byte, sealed bool, without map[string]bool) (*Audit, error) {
	fail := func(format string, args ...any) error { return refused(name, fmt.Errorf(format, args...)) }
	a := new(Audit)
	err := json.Unmarshal(b, a)
	if err != nil || a.Format < 1 || a.Format > Format {
		// What else a file of a newer form holds is not known, so that its form is what is wrong with it.
		if err := form(name, b); err != nil {
			return nil, err
		}
	}
	if !sealed {
		if k := seal.Stranger(b, Audit{}); k != "" {
			return nil, fail("no audit has a key %.40q", k)
		}
	}
	if err != nil {
		return nil, fail("not the JSON of an audit: %w", place(b, err))
	}
	a.Infinite = slices.DeleteFunc(a.Infinite, func(place string) bool {
		return len(without) > 0 && slices.ContainsFunc(strings.Split(strings.TrimPrefix(place, "-"), "."),
			func(key string) bool { return without[key] })
	})
	if err := a.restore(); err != nil {
		return nil, fail("%w", err)
	}
	if err := a.check(); err != nil {
		return nil, fail("%w", err)
	}
	return a, nil
}

// form says why a text has not a form that this program reads.
func form(name string, b []byte) error {
	var head struct {
		Format *int            `json:"format"`
		Models json.RawMessage `json:"models"`
	}
	err := json.Unmarshal(b, &head)
	switch {
	case err != nil:
		return refused(name, fmt.Errorf("not the JSON of an audit: %w", place(b, err)))
	case head.Format == nil && head.Models == nil:
		return refused(name, errors.New("neither a format nor models"))
	case head.Format == nil:
		return refused(name, errors.New("no format"))
	case *head.Format > Format:
		return fmt.Errorf("%s: its format is %d, and this program reads up to %d: %w; read it with that, or "+
			"audit again with this one", name, *head.Format, Format, ErrNewer)
	case *head.Format < 1:
		return refused(name, fmt.Errorf("its format is %d, and the first was 1", *head.Format))
	}
	return nil
}

// place says where in a file an error of encoding/json is.
func place(b []byte, err error) error {
	at := func(offset int64) string {
		before := b[:min(max(offset, 0), int64(len(b)))]
		line := bytes.Count(before, []byte{'\n'})
		return fmt.Sprintf("line %d, byte %d", line+1, len(before)-bytes.LastIndexByte(before, '\n')-1)
	}
	if s, ok := errors.AsType[*json.SyntaxError](err); ok {
		if s.Offset >= int64(len(b)) {
			return fmt.Errorf("it is cut off at %s", at(int64(len(b))))
		}
		return fmt.Errorf("%s: %w", at(s.Offset), err)
	}
	if u, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		where := u.Field
		if where == "" {
			where = "the whole file"
		}
		return fmt.Errorf("%s: %s is of another kind than expected: %s", at(u.Offset), where, u.Value)
	}
	return err
}

// check says what cannot be: lists that belong together and differ in length, places that are none, errors below 0.
func (a *Audit) check() error {
	switch worst := Overall(a.Models); {
	case a.Verdict != "" && !known(a.Verdict):
		return fmt.Errorf("verdict %q is none", a.Verdict)
	case len(a.Models) == 0 && a.Verdict != CouldNotRun:
		return errors.New("it holds no model")
	case a.Exit < 0 || a.Exit > 2:
		return fmt.Errorf("exit_code is %d, and an audit ends with 0, 1 or 2", a.Exit)
	case slices.ContainsFunc(a.Models, func(m Model) bool { return m.Error == "" && !known(m.Verdict) }):
		i := slices.IndexFunc(a.Models, func(m Model) bool { return m.Error == "" && !known(m.Verdict) })
		return fmt.Errorf("models[%d]: verdict %q is none", i, a.Models[i].Verdict)
	case a.Verdict != "" && a.Verdict != worst:
		return fmt.Errorf("its verdict is %s, and that of its models together %s", a.Verdict, worst)
	}
	for i := range a.Models {
		m := &a.Models[i]
		for k := range m.Checks {
			if err := m.Checks[k].check(); err != nil {
				return fmt.Errorf("model %s, check %s: %w", m.Model, m.Checks[k].Check, err)
			}
		}
	}
	return nil
}

func known(v Verdict) bool {
	return slices.Contains([]Verdict{Passed, NeedsAttention, Failed, CouldNotRun}, v)
}

func (c *Check) check() error {
	for i := range c.Sets {
		s := &c.Sets[i]
		if p := s.PerInput; p != nil {
			if len(p.Mean) != len(p.Samples) || len(p.Largest) != len(p.Samples) {
				return fmt.Errorf("%s: %d samples with %d mean and %d largest errors", s.Name, len(p.Samples),
					len(p.Mean), len(p.Largest))
			}
			if slices.ContainsFunc(slices.Concat(p.Mean, p.Largest), func(x Number) bool { return x < 0 }) {
				return fmt.Errorf("%s: an error below 0", s.Name)
			}
		}
		for _, p := range s.Profile {
			if slices.ContainsFunc(p.Coordinates, func(x Number) bool { return !finite(x) }) {
				return fmt.Errorf("%s, element %s: a coordinate that is not finite", s.Name, p.Element)
			}
		}
	}
	for _, e := range c.Exhibits {
		if err := e.check(); err != nil {
			return fmt.Errorf("exhibit %s: %w", e.Name, err)
		}
	}
	return nil
}

func (e *Exhibit) check() error {
	if t := e.Table; t != nil {
		for i, r := range t.Rows {
			if len(r) != len(t.Columns) {
				return fmt.Errorf("row %d has %d cells for %d columns", i+1, len(r), len(t.Columns))
			}
		}
	}
	if c := e.Curve; c != nil {
		for _, s := range c.Series {
			for _, n := range []int{
				len(s.Y), or(len(s.Lo), len(s.X)), or(len(s.Hi), len(s.X)),
				or(len(s.Labels), len(s.X)),
			} {
				if n != len(s.X) {
					return fmt.Errorf("series %q has %d places and %d numbers", s.Name, len(s.X), n)
				}
			}
		}
	}
	if m := e.Map; m != nil {
		if m.Height < 0 || m.Width < 0 || m.Height > 0 && m.Width > len(m.Values)/m.Height ||
			m.Height*m.Width != len(m.Values) {
			return fmt.Errorf("a map of %d x %d has %d numbers", m.Height, m.Width, len(m.Values))
		}
	}
	return nil
}

// or is a length, or another where there is nothing.
func or(n, otherwise int) int {
	if n == 0 {
		return otherwise
	}
	return n
}

func finite(n Number) bool { return !math.IsNaN(float64(n)) && !math.IsInf(float64(n), 0) }
