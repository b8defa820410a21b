package job

import (
	"fmt"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"nero/internal/process"
	"nero/model/engine/provider"
)

// schemes are those of endpoints.
var schemes = []string{"grpc", "grpcs", "http", "https", live}

// live is the scheme of a function of the program that started this one, which has a name and no host.
const live = "live"

// IsEndpoint reports whether a text that stands for a model is the URL of an endpoint, and not the path of a file.
func IsEndpoint(model string) bool {
	scheme, _, ok := strings.Cut(model, "://")
	return ok && slices.Contains(schemes, strings.ToLower(scheme))
}

// IsFile reports whether a text that stands for a model is the path of a file: no URL, no program, no
// method that is built in.
func IsFile(model string) bool {
	return !IsEndpoint(model) && !strings.HasPrefix(model, exec) && !strings.HasPrefix(model, builtin)
}

// exec is what a text begins with that names a program and its arguments, builtin one that names a method of this
// program.
const (
	exec    = "exec:"
	builtin = "builtin:"
)

// Put makes this the model that a text names: the path of a file, the URL of an endpoint, exec: and a program with
// its arguments, or builtin: and a method.
func (m *Model) Put(text string) error {
	m.ONNX, m.Endpoint, m.Program, m.Builtin = "", "", nil, ""
	if line, ok := strings.CutPrefix(text, exec); ok {
		var err error
		if m.Program, err = process.Split(line); err != nil {
			m.Program = []string{line}
			return fmt.Errorf("%q: %w, such as exec:./model or exec:python3 model.py", clip(text), err)
		}
		return nil
	}
	name, ok := strings.CutPrefix(text, builtin)
	switch {
	case ok:
		m.Builtin = name
	case IsEndpoint(text):
		m.Endpoint = text
	default:
		m.ONNX = text
	}
	return nil
}

// Text is what [Model.Put] reads.
func (m Model) Text() string {
	if len(m.Program) > 0 {
		return exec + process.Line(m.Program)
	}
	if m.Builtin != "" {
		return builtin + m.Builtin
	}
	return m.ONNX + m.Endpoint
}

// IsFile tells whether the model is a file, or nothing yet.
func (m Model) IsFile() bool { return m.Endpoint == "" && len(m.Program) == 0 && m.Builtin == "" }

// place is the key that says where the model is.
func (m Model) place() string {
	switch {
	case len(m.Program) > 0:
		return "program"
	case m.Endpoint != "":
		return "endpoint"
	case m.Builtin != "":
		return "builtin"
	}
	return "onnx"
}

// Where is the field of the i-th model of a list of a study, models or measures, that says where it is.
func (m Model) Where(i int, list string) string { return fmt.Sprintf("%s[%d].%s", list, i, m.place()) }

// NameOf is the name that a model has by default: that of its file, without the extension, the last part of its
// endpoint, or the name of its program; of one that is run by another, such as python3 model.py, its own.
func NameOf(path string) string {
	if name, ok := strings.CutPrefix(path, live+"://"); ok && name != "" {
		return name
	}
	if IsEndpoint(path) {
		if u, err := url.Parse(path); err == nil {
			if name := strings.Trim(u.Path, "/"); name != "" {
				return name[strings.LastIndex(name, "/")+1:]
			}
		}
	}
	if name, ok := strings.CutPrefix(path, builtin); ok {
		name, _, _ = strings.Cut(name, "?")
		return name
	}
	if line, ok := strings.CutPrefix(path, exec); ok {
		words, err := process.Split(line)
		if err != nil {
			return "program"
		}
		path = words[0]
		if len(words) > 1 && !strings.HasPrefix(words[1], "-") && filepath.Ext(words[1]) != "" {
			path = words[1]
		}
	}
	base := filepath.Base(filepath.FromSlash(path))
	if name := strings.TrimSuffix(base, filepath.Ext(base)); name != "" {
		return name
	}
	return base
}

// check reports what is wrong with a model by itself: none or several of file, endpoint and program, a URL that none
// can be, and what is said of an endpoint where there is none.
func (m Model) check(report func(field, message string)) {
	given := 0
	for _, set := range []bool{m.ONNX != "", m.Endpoint != "", len(m.Program) > 0, m.Builtin != ""} {
		if set {
			given++
		}
	}
	switch given {
	case 0:
		report("onnx", "missing; add onnx: FILE.onnx, endpoint: grpc://HOST:PORT/MODEL, or program: "+
			"[PROGRAM, ARGUMENT]")
		return
	case 1:
	default:
		report(m.place(), "a model has a file (onnx), an endpoint, a program or a method (builtin); keep one of "+
			"them")
		return
	}
	const endpoint, program, inFile = "behind an endpoint", "that is a program", "in a file"
	what := map[string]string{
		"onnx": "a file", "endpoint": "behind an endpoint", "program": "a program",
		"builtin": "built in",
	}[m.place()]
	kind := map[string]string{"endpoint": endpoint, "program": program, "onnx": inFile}[m.place()]
	for _, f := range []struct {
		name string
		set  bool
		of   []string
	}{
		{"version", m.Version != "", []string{endpoint}},
		{"witness", m.Witness != "", []string{inFile}},
		{"providers", len(m.Providers) > 0, []string{inFile}},
		{"token_env", m.TokenEnv != "", []string{endpoint}},
		{"headers_env", m.HeadersEnv != "", []string{endpoint}},
		{"ca", m.CA != "", []string{endpoint}},
		{"insecure", m.Insecure, []string{endpoint}},
		{"batch", m.Batch != 0, []string{endpoint, program}},
		{"concurrency", m.Concurrency != 0, []string{endpoint}},
		{"dir", m.Dir != "", []string{program}},
		{"workers", m.Workers != 0, []string{program}},
	} {
		if f.set && !slices.Contains(f.of, kind) {
			report(f.name, fmt.Sprintf("is for a model %s, and this one is %s; leave it out",
				strings.Join(f.of, " or "), what))
		}
	}
	checkProviders(m.Providers, report)
	if m.Endpoint == "" {
		return
	}
	if name, ok := strings.CutPrefix(m.Endpoint, live+"://"); ok {
		for _, f := range []struct {
			name string
			set  bool
		}{
			{"version", m.Version != ""},
			{"token_env", m.TokenEnv != ""},
			{"headers_env", m.HeadersEnv != ""},
			{"ca", m.CA != ""},
			{"insecure", m.Insecure},
		} {
			if f.set {
				report(f.name, "is for a model on a server, and this one is a function of the program that starts "+
					"nero; leave it out")
			}
		}
		if name == "" || strings.ContainsAny(name, "/?#") {
			report("endpoint", fmt.Sprintf("%q is no name of a function; expected live://NAME", clip(m.Endpoint)))
		}
		return
	}
	const want = "expected SCHEME://HOST:PORT/MODEL with scheme grpc, grpcs, http or https, such as " +
		"grpc://127.0.0.1:9000/digits"
	u, err := url.Parse(m.Endpoint)
	switch {
	case err != nil: // its text shows the URL, and somebody may have put a password there
		report("endpoint", "not a URL; "+want)
	case !IsEndpoint(m.Endpoint):
		report("endpoint", fmt.Sprintf("the scheme is %q; %s", clip(u.Scheme), want))
	case u.User != nil:
		report("endpoint", "a study is no place for passwords; put a token into an environment variable and name it "+
			"with token_env")
	case u.Hostname() == "" || strings.Trim(u.Path, "/") == "":
		report("endpoint", fmt.Sprintf("%q names no host or no model; %s", clip(m.Endpoint), want))
	case u.RawQuery != "" || u.Fragment != "":
		report("endpoint", "neither ? nor # belongs there; "+want)
	}
	for _, f := range []struct{ name, value string }{{"token_env", m.TokenEnv}, {"headers_env", m.HeadersEnv}} {
		if f.value != "" && !variable.MatchString(f.value) {
			report(f.name, "not the name of an environment variable: letters, digits and _; the secret itself does "+
				"not belong into a study")
		}
	}
}

// Placed tells whether the study says where models run.
func (s *Study) Placed() bool {
	return len(s.Providers) > 0 || slices.ContainsFunc(s.Models, func(m Model) bool { return len(m.Providers) > 0 })
}

// checkProviders reports what is wrong with where models are to run.
func checkProviders(texts []string, report func(field, message string)) {
	if _, err := provider.Said(texts...); err != nil {
		report("providers", err.Error())
	}
}

// variable is how the name of an environment variable looks.
var variable = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
