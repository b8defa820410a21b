// Package views reads given orbits: objects with several views each, such as phrasings of one question or photos of one
// thing, that somebody has listed. Which views belong together is all that is known: there is no group behind them.
package views

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"nero/internal/quoted"
)

// Input is what is asked of one view: what it says itself, or a file that holds it.
type Input struct {
	// Text is the input, where File is "".
	Text string
	// File is a path, as it stands in the list, with slashes.
	File string
	// Line of the list, from 1.
	Line int
}

// Object is a thing with its views.
type Object struct {
	Name string
	// Label is the right answer, where Labelled is true.
	Label    string
	Labelled bool
	// Environment is where the object is from, such as a hospital or an author; empty where nobody says. Either all
	// objects of a set have one or none has.
	Environment string
	// Views are by name.
	Views map[string]Input
	// of a file that is an object of its own: what the list calls it; empty for others
	called string
}

// call is what a view is called in messages, as the list has it.
func (o *Object) call(view string) string {
	return cmp.Or(o.called, "the view "+strconv.Quote(view)+" of "+strconv.Quote(o.Name))
}

// Set is a list of objects.
type Set struct {
	// Objects are in the order in which they come first.
	Objects []*Object
	// Views are the names of all views, in the order in which they come first.
	Views []string
}

// The most that a list may hold.
const (
	MaxBytes  = 256 << 20
	mostViews = 1000
)

// Form is a way to write a list.
type Form struct {
	Name string
	// Ending of files, with the dot.
	Ending string
	read   func(l *list, b []byte) error
}

// Forms are all ways.
func Forms() []*Form {
	return []*Form{
		{"CSV", ".csv", readCSV},
		{"JSON lines", ".jsonl", readLines},
		{"JSON lines", ".ndjson", readLines},
	}
}

// Read reads a list; its name is that of the file, whose ending says what it is. The error names file and line.
func Read(name string, b []byte) (*Set, error) {
	l := &list{name: name, byName: map[string]*Object{}}
	i := slices.IndexFunc(Forms(), func(f *Form) bool { return f.Ending == strings.ToLower(path.Ext(name)) })
	if i < 0 {
		var endings []string
		for _, f := range Forms() {
			endings = append(endings, f.Ending)
		}
		return nil, fmt.Errorf("%s: a list of views ends in %s; rename it to what it is", name,
			strings.Join(endings, ", "))
	}
	if at := wrongUTF8(b); at > 0 {
		return nil, fmt.Errorf("%s:%d: bytes that are no UTF-8; save the list as UTF-8, and put what is no text into "+
			"files of its own, named in the column file", name, at)
	}
	b = bytes.TrimPrefix(b, []byte("\ufeff")) // some editors mark a file as UTF-8
	if err := Forms()[i].read(l, b); err != nil {
		return nil, err
	}
	if len(l.set.Objects) == 0 {
		return nil, fmt.Errorf("%s: no object; want a line for each view of each object", name)
	}
	return &l.set, nil
}

// wrongUTF8 is the first line that holds what is no UTF-8, 0 for none.
func wrongUTF8(b []byte) int {
	if utf8.Valid(b) {
		return 0
	}
	line := 1
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		if r == utf8.RuneError && n == 1 {
			return line
		}
		if r == '\n' {
			line++
		}
		b = b[n:]
	}
	return line
}

// list is a set that is being read.
type list struct {
	name   string
	set    Set
	byName map[string]*Object
	// where a label stood first
	labelled map[string]int
}

func (l *list) errorf(line int, format string, a ...any) error {
	return fmt.Errorf("%s:%d: %s", l.name, line, fmt.Sprintf(format, a...))
}

// view takes in one view of an object.
func (l *list) view(object, view string, in Input) error {
	switch {
	case strings.TrimSpace(object) == "":
		return l.errorf(in.Line, "an object without a name; give each object one, such as its number")
	case strings.TrimSpace(view) == "":
		return l.errorf(in.Line, "a view of %s without a name; name views alike for all objects, such as original "+
			"and rephrased", strconv.Quote(object))
	}
	o := l.byName[object]
	if o == nil {
		o = &Object{Name: object, Views: map[string]Input{}}
		l.byName[object] = o
		l.set.Objects = append(l.set.Objects, o)
	}
	if before, ok := o.Views[view]; ok {
		return l.errorf(in.Line, "the view %s of %s a second time, the first stands on line %d; how often a view is "+
			"asked is said by repeat.times, not by lines", strconv.Quote(view), strconv.Quote(object), before.Line)
	}
	if !slices.Contains(l.set.Views, view) {
		if len(l.set.Views) == mostViews {
			return l.errorf(in.Line, "more than %d names of views; views have the same names for all objects",
				mostViews)
		}
		l.set.Views = append(l.set.Views, view)
	}
	if in.File != "" && !local(in.File) {
		return l.errorf(in.Line, "the file %s: want a path below the folder of the list, with slashes",
			strconv.Quote(in.File))
	}
	o.Views[view] = in
	return nil
}

// local tells whether a path stays below the folder that it is in: lists come from elsewhere.
func local(p string) bool {
	return p == path.Clean(p) && !path.IsAbs(p) && p != ".." && !strings.HasPrefix(p, "../") &&
		!strings.ContainsAny(p, "\\\x00") && (len(p) < 2 || p[1] != ':')
}

// label takes in the right answer of an object that has a view.
func (l *list) label(object, text string, line int) error {
	o := l.byName[object]
	if o.Labelled && o.Label != text {
		return l.errorf(line, "%s has the label %s here and %s on line %d; an object has one label, whatever its view",
			strconv.Quote(object), strconv.Quote(text), strconv.Quote(o.Label), l.labelled[object])
	}
	if !o.Labelled {
		if l.labelled == nil {
			l.labelled = map[string]int{}
		}
		l.labelled[object] = line
	}
	o.Label, o.Labelled = text, true
	return nil
}

// environment takes in where an object that has a view is from.
func (l *list) environment(object, text string, line int) error {
	switch o := l.byName[object]; {
	case text == "":
		return l.errorf(line, "%s has no environment; give one to every object, or to none", strconv.Quote(object))
	case o.Environment != "" && o.Environment != text:
		return l.errorf(line, "%s is from %s here and from %s above; an object has one environment, whatever its view",
			strconv.Quote(object), strconv.Quote(text), strconv.Quote(o.Environment))
	default:
		o.Environment = text
	}
	return nil
}

// readCSV reads a table with a head: object, view, and value or file, and a label where there is one.
func readCSV(l *list, b []byte) error {
	r := csv.NewReader(bytes.NewReader(b))
	r.FieldsPerRecord = -1
	at := map[string]int{}
	const want = "want the columns object, view and value, or object, view and file; label and environment are optional"
	for first := true; ; first = false {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			if first {
				return l.errorf(1, "an empty file; %s", want)
			}
			return nil
		}
		if err != nil {
			if p, ok := errors.AsType[*csv.ParseError](err); ok {
				return l.errorf(p.Line, "%v; texts with commas, quotes or line breaks stand in quotes, and quotes in "+
					"them are doubled", p.Err)
			}
			return l.errorf(1, "%v", err)
		}
		line, _ := r.FieldPos(0)
		if first {
			for i, name := range row {
				name = strings.ToLower(strings.TrimSpace(name))
				if _, ok := at[name]; ok {
					return l.errorf(line, "the column %s a second time", strconv.Quote(name))
				}
				if !slices.Contains([]string{"object", "view", "value", "file", "label", "environment"}, name) {
					return l.errorf(line, "the column %s; %s", strconv.Quote(name), want)
				}
				at[name] = i
			}
			_, object := at["object"]
			_, view := at["view"]
			_, value := at["value"]
			_, file := at["file"]
			if !object || !view || value == file {
				return l.errorf(line, "the head is %s; %s", strconv.Quote(strings.Join(row, ",")), want)
			}
			continue
		}
		if len(row) != len(at) {
			return l.errorf(line, "%d fields, and the head has %d; texts with commas stand in quotes", len(row),
				len(at))
		}
		in := Input{Line: line}
		if i, ok := at["file"]; ok {
			if in.File = row[i]; in.File == "" {
				return l.errorf(line, "a view without a file; leave the line out if there is none")
			}
		} else {
			in.Text = row[at["value"]]
		}
		object := row[at["object"]]
		if err := l.view(object, row[at["view"]], in); err != nil {
			return err
		}
		if i, ok := at["label"]; ok && row[i] != "" {
			if err := l.label(object, row[i], line); err != nil {
				return err
			}
		}
		if i, ok := at["environment"]; ok {
			if err := l.environment(object, row[i], line); err != nil {
				return err
			}
		}
	}
}

// readLines reads an object on each line: {"object":…, "views":{name: text or {"file": path}, …}, "label":…}.
func readLines(l *list, b []byte) error {
	const want = `want {"object": "name", "views": {"view": "text", …}, "label": "answer"} on every line, in place of a ` +
		`text {"file": "path"}; label and environment are optional`
	for n := 1; len(b) > 0; n++ {
		var line []byte
		line, b, _ = bytes.Cut(b, []byte("\n"))
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		if json.Valid(line) && !quoted.Whole(line) { // what is no JSON is told below
			return l.errorf(n, "an escape such as \\ud800 that is half of a surrogate pair, which stands for no "+
				"letter; "+
				"write both halves, or put what is no text into files of its own")
		}
		var o struct {
			Object json.RawMessage `json:"object"`
			Views  ordered         `json:"views"`
			Label  json.RawMessage `json:"label"`
			From   string          `json:"environment"`
		}
		d := json.NewDecoder(bytes.NewReader(line))
		d.DisallowUnknownFields()
		if err := d.Decode(&o); err != nil {
			if bad, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
				kind, _, _ := strings.Cut(bad.Value, " ") // "number 1e5"
				return l.errorf(n, "%s is a JSON %s; %s", cmp.Or(bad.Field, "the line"), kind, want)
			}
			return l.errorf(n, "%s; %s", strings.TrimPrefix(err.Error(), "json: "), want)
		}
		if _, err := d.Token(); !errors.Is(err, io.EOF) {
			return l.errorf(n, "more behind the object; %s", want)
		}
		name, ok := scalar(o.Object)
		if !ok {
			return l.errorf(n, "no name of the object; %s", want)
		}
		if len(o.Views) == 0 {
			return l.errorf(n, "%s has no views; %s", strconv.Quote(name), want)
		}
		if l.byName[name] != nil {
			return l.errorf(n, "%s a second time; all views of an object stand on one line", strconv.Quote(name))
		}
		for _, v := range o.Views {
			in := Input{Line: n}
			var file struct {
				File *string `json:"file"`
			}
			strict := json.NewDecoder(bytes.NewReader(v.value))
			strict.DisallowUnknownFields()
			switch {
			case json.Unmarshal(v.value, &in.Text) == nil && v.value[0] == '"':
			case strict.Decode(&file) == nil && file.File != nil && *file.File != "":
				in.File = *file.File
			default:
				return l.errorf(n, "the view %s of %s is %s; want a text or {\"file\": \"path\"}",
					strconv.Quote(v.name),
					strconv.Quote(name), clip(v.value))
			}
			if err := l.view(name, v.name, in); err != nil {
				return err
			}
		}
		if first := l.set.Objects[0]; o.From != "" || first.Environment != "" {
			if first.Environment == "" && first.Name != name {
				return l.errorf(n, "%s has an environment and %s has none; give one to every object, or to none",
					strconv.Quote(name), strconv.Quote(first.Name))
			}
			if err := l.environment(name, o.From, n); err != nil {
				return err
			}
		}
		if o.Label == nil || string(o.Label) == "null" {
			continue
		}
		label, ok := scalar(o.Label)
		if !ok {
			return l.errorf(n, "the label of %s is %s; want a text or a number", strconv.Quote(name), clip(o.Label))
		}
		if err := l.label(name, label, n); err != nil {
			return err
		}
	}
	return nil
}

// clip shortens what stands in a file for a message.
func clip(b []byte) string {
	const most = 40
	if len(b) > most {
		return strconv.QuoteToGraphic(string(b[:most])) + "…"
	}
	return strconv.QuoteToGraphic(string(b))
}

// scalar is a text, or a number as it is written.
func scalar(raw json.RawMessage) (string, bool) {
	var s string
	if json.Unmarshal(raw, &s) == nil && string(raw) != "null" {
		return s, true
	}
	var n json.Number
	return string(raw), json.Unmarshal(raw, &n) == nil && n != ""
}

// ordered are the members of an object in their order.
type ordered []member

type member struct {
	name  string
	value json.RawMessage
}

// UnmarshalJSON reads an object; a name that comes twice stays twice.
func (o *ordered) UnmarshalJSON(b []byte) error {
	d := json.NewDecoder(bytes.NewReader(b))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return errors.New("views is no object")
	}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return err
		}
		name, ok := t.(string)
		if !ok {
			return errors.New("views is no object")
		}
		m := member{name: name}
		if err := d.Decode(&m.value); err != nil {
			return err
		}
		*o = append(*o, m)
	}
	return nil
}
