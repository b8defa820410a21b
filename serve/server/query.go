package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"nero/serve/api"
	"nero/serve/guard"
)

// Bounds of what a request may say.
const (
	maxAxes  = 64   // coordinates of an element
	maxList  = 1024 // entries of a list in an address
	maxDepth = 32   // sets within sets
	maxSets  = 1024 // sets in a body, all together
	maxRule  = 4096 // bytes of a rule
	maxName  = 200  // bytes of the name of a slice
)

// BodyBytes is how long the body of a request may be, in bytes: sets of millions of samples fit into those that hold
// some.
func BodyBytes(r *http.Request) int64 {
	switch {
	case r.Method == http.MethodPut && (strings.HasSuffix(r.URL.Path, "/slices") ||
		strings.HasSuffix(r.URL.Path, "/remarks")):
		return 32 << 20
	case r.Method == http.MethodPost &&
		slices.ContainsFunc([]string{"aggregate", "select", "turns", "models", "search"},
			func(call string) bool { return strings.HasSuffix(r.URL.Path, "/"+call) }):
		return 16 << 20
	}
	return 64 << 10
}

// bad is the problem of a request that says something that cannot be understood.
func bad(what, format string, args ...any) *guard.Problem {
	return &guard.Problem{
		Status: http.StatusBadRequest, Code: "bad-request", Title: "The request cannot be understood",
		Detail: what + ": " + fmt.Sprintf(format, args...),
		Remedy: "docs/API.md and openapi.json say what may stand there.",
	}
}

// missing is the problem of something that is not there.
func missing(format string, args ...any) *guard.Problem {
	return &guard.Problem{
		Status: http.StatusNotFound, Code: "not-found", Title: "There is no such thing",
		Detail: fmt.Sprintf(format, args...), Remedy: "GET api/v1/runs lists what this server shows.",
	}
}

// query is what stands behind the question mark of an address. Every key has to be known and may stand there once.
type query map[string]string

// parseQuery reads a query and refuses what is not among the keys.
func parseQuery(raw string, keys []string) (query, error) {
	vs, err := url.ParseQuery(raw)
	if err != nil {
		return nil, bad("the query", "%v", err)
	}
	q := make(query, len(vs))
	for k, v := range vs {
		switch {
		case !slices.Contains(keys, k):
			want := "this call takes none"
			if len(keys) > 0 {
				want = "this call knows " + strings.Join(keys, ", ")
			}
			return nil, bad("the query", "%.80q: %s", k, want)
		case len(v) != 1:
			return nil, bad(k, "it stands there %d times, want it once", len(v))
		case !utf8.ValidString(v[0]):
			return nil, bad(k, "its value is not UTF-8")
		}
		q[k] = v[0]
	}
	return q, nil
}

// has tells whether a key is there.
func (q query) has(key string) bool {
	_, ok := q[key]
	return ok
}

// count parses a number without a sign, as strictly as an index of a list needs: one way to write each number.
func count(s string) (int, bool) {
	if len(s) == 0 || len(s) > 9 || len(s) > 1 && s[0] == '0' {
		return 0, false
	}
	n := 0
	for _, c := range []byte(s) {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = 10*n + int(c-'0')
	}
	return n, true
}

// index is a number below n, def if it is not there.
func (q query) index(key string, n, def int) (int, error) {
	s, ok := q[key]
	if !ok {
		return def, nil
	}
	return indexOf(key, s, n)
}

func indexOf(key, s string, n int) (int, error) {
	i, ok := count(s)
	if !ok {
		return 0, bad(key, "%.40q, want a number from 0 on", s)
	}
	if i >= n {
		return 0, bad(key, "%d, want a number from 0 to %d", i, n-1)
	}
	return i, nil
}

// models is a list of different numbers below n under the key models, nil if it is not there.
func (q query) models(n int) ([]int, error) {
	const key = "models"
	s, ok := q[key]
	if !ok {
		return nil, nil
	}
	var all []int
	for p := range strings.SplitSeq(s, ",") {
		i, err := indexOf(key, p, n)
		switch {
		case err != nil:
			return nil, err
		case slices.Contains(all, i):
			return nil, bad(key, "%d stands there twice", i)
		case len(all) == maxList:
			return nil, bad(key, "more than %d numbers", maxList)
		}
		all = append(all, i)
	}
	return all, nil
}

// choice is one of some words, the first one if it is not there.
func (q query) choice(key string, words ...string) (string, error) {
	s, ok := q[key]
	switch {
	case !ok:
		return words[0], nil
	case !slices.Contains(words, s):
		return "", bad(key, "%.40q, want %s", s, strings.Join(words, " or "))
	}
	return s, nil
}

// element is the element under the key g, a list of finite numbers: one coordinate each.
func (q query) element() ([]float64, error) {
	const key = "g"
	s, ok := q[key]
	if !ok {
		return nil, bad(key, "it is missing; want the coordinates of an element, separated by commas")
	}
	if s == "" { // the trivial group has no coordinates
		return []float64{}, nil
	}
	var g []float64
	for p := range strings.SplitSeq(s, ",") {
		if len(g) == maxAxes {
			return nil, bad(key, "more than %d coordinates", maxAxes)
		}
		v, err := number(p)
		if err != nil {
			return nil, bad(key, "coordinate %d: %v", len(g)+1, err)
		}
		g = append(g, v)
	}
	return g, nil
}

// number reads a finite decimal number. The words and the hexadecimal numbers that Go also reads are refused.
func number(s string) (float64, error) {
	for _, c := range []byte(s) {
		if (c < '0' || c > '9') && !strings.ContainsRune("+-.eE", rune(c)) {
			return 0, fmt.Errorf("%.40q, want a finite number such as 12.5", s)
		}
	}
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return 0, fmt.Errorf("%.40q, want a finite number such as 12.5", s)
	}
	return v, nil
}

// rows is the half-open range lo-hi within n under the key rows, all of it if it is not there.
func (q query) rows(n int) (lo, hi int, err error) {
	const key = "rows"
	s, ok := q[key]
	if !ok {
		return 0, n, nil
	}
	a, b, ok := strings.Cut(s, "-")
	lo, okLo := count(a)
	hi, okHi := count(b)
	switch {
	case !ok || !okLo || !okHi:
		return 0, 0, bad(key, "%.40q, want lo-hi, such as 0-100 for the first hundred rows", s)
	case lo > hi || hi > n:
		return 0, 0, bad(key, "%d-%d, want 0 <= lo <= hi <= %d", lo, hi, n)
	}
	return lo, hi, nil
}

// set is the samples that the keys slice and set choose, at most one of which may stand there: slice is a name of a
// slice or of a class, set a Set as JSON.
func (q query) set() (api.Set, error) {
	name, named := q["slice"]
	text, given := q["set"]
	switch {
	case named && given:
		return api.Set{}, bad("set", "slice is there too; want one of them")
	case named:
		if name == "" || len(name) > maxName {
			return api.Set{}, bad("slice", "want a name of 1 to %d bytes", maxName)
		}
		return api.Set{Slice: name}, nil
	case given:
		var s api.Set
		if err := decode("set", []byte(text), &s); err != nil {
			return api.Set{}, err
		}
		return s, checkSet("set", &s)
	}
	return api.Set{}, nil
}

// body reads a JSON document from the body of a request.
func body(r *http.Request, into any) error {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != typeJSON {
		return &guard.Problem{
			Status: http.StatusUnsupportedMediaType, Code: "content-type",
			Title:  "The body has another type than this call takes",
			Detail: fmt.Sprintf("Content-Type: %.80q, want %s.", r.Header.Get("Content-Type"), typeJSON),
			Remedy: "Send JSON and say so.",
		}
	}
	b, err := io.ReadAll(r.Body) // the guard has bounded it
	if err != nil {
		return guard.BodyProblem(err)
	}
	return decode("the body", b, into)
}

// decode reads exactly one JSON document without unknown keys.
func decode(what string, b []byte, into any) error {
	if !utf8.Valid(b) {
		return bad(what, "it is not UTF-8")
	}
	d := json.NewDecoder(strings.NewReader(string(b)))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		if errors.Is(err, io.EOF) {
			return bad(what, "it is empty; want a JSON document")
		}
		return bad(what, "%v", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return bad(what, "something stands behind the document, at byte %d", d.InputOffset())
	}
	if key, at := repeated(b); key != "" {
		return bad(what, "the key %.80q stands there twice, at byte %d", key, at)
	}
	return nil
}

// repeated is the first key that stands twice in one object of a JSON document, and behind which byte. Letters of
// either case are the same here, as they are for encoding/json.
func repeated(b []byte) (key string, at int64) {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	type level struct {
		keys  map[string]bool // nil in a list
		value bool            // what comes next belongs to a key
	}
	var open []*level
	for {
		t, err := d.Token()
		if err != nil {
			return "", 0
		}
		if t == json.Delim('}') || t == json.Delim(']') {
			open = open[:len(open)-1]
			continue
		}
		if len(open) > 0 && open[len(open)-1].keys != nil {
			in := open[len(open)-1]
			if name, ok := t.(string); ok && !in.value {
				if in.keys[strings.ToLower(name)] {
					return name, d.InputOffset()
				}
				in.keys[strings.ToLower(name)], in.value = true, true
				continue
			}
			in.value = false
		}
		if t == json.Delim('{') {
			open = append(open, &level{keys: map[string]bool{}})
		} else if t == json.Delim('[') {
			open = append(open, &level{})
		}
	}
}

// checkSet holds a set against the bounds that do not depend on a run, so that nothing later has to fear it.
func checkSet(what string, s *api.Set) error {
	n := 0
	return walkSet(what, s, 0, &n)
}

func walkSet(what string, s *api.Set, depth int, n *int) error {
	if *n++; *n > maxSets {
		return bad(what, "more than %d sets within each other", maxSets)
	}
	if depth > maxDepth {
		return bad(what, "sets %d deep within each other, want at most %d", depth, maxDepth)
	}
	if len(s.Rule) > maxRule {
		return bad(what, "a rule of %d bytes, want at most %d", len(s.Rule), maxRule)
	}
	fields := 0
	for _, there := range []bool{
		s.Label != nil, s.Rule != "", s.Indexes != nil, s.Bits != "", s.Slice != "",
		s.And != nil, s.Or != nil, s.Not != nil,
	} {
		if there {
			fields++
		}
	}
	if fields > 1 {
		return bad(what, "a set says %d things; want one of label, rule, indexes, bits, slice, and, or, not, or none "+
			"of them for all samples", fields)
	}
	for i, v := range s.Indexes {
		if v < 0 || i > 0 && v <= s.Indexes[i-1] {
			return bad(what, "indexes[%d] is %d, want numbers from 0 on, ascending", i, v)
		}
	}
	for _, list := range [][]api.Set{s.And, s.Or} {
		for i := range list {
			if err := walkSet(what, &list[i], depth+1, n); err != nil {
				return err
			}
		}
	}
	if s.Not != nil {
		return walkSet(what, s.Not, depth+1, n)
	}
	return nil
}
