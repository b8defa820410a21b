package job

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"nero/internal/spell"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

const (
	maxErrors = 20 // that one reading reports
	// That one reading visits, aliases counted each time: a small file must not unfold into a large one.
	maxNodes = 500000
	maxDepth = 100  // of nested collections; a study needs six
	maxKeys  = 8000 // in one line: where keys do not belong the parser takes time by the square of their number
)

// reader fills a study from the syntax tree of a YAML file, with the rules in the struct tags, and keeps the positions.
type reader struct {
	src     *source
	anchors map[string]ast.Node
	nodes   int
	found   []located
	words   Words
	more    int
}

type located struct {
	*FieldError
	position
}

// read fills s and reports whether that went well.
func (r *reader) read(b []byte, s *Study) bool {
	if line := tooDeep(b); line > 0 {
		r.add(position{line, 1}, "", fmt.Sprintf("more than %d collections inside each other; is this a study file?",
			maxDepth))
		return false
	}
	file, err := parse(b)
	if err != nil {
		var at interface {
			GetMessage() string
			GetToken() *token.Token
		}
		if errors.As(err, &at) && at.GetToken() != nil && at.GetToken().Position != nil {
			p := at.GetToken().Position
			r.add(position{p.Line, p.Column}, "", "not YAML: "+at.GetMessage()+"; check indentation and quotes")
		} else {
			r.add(position{1, 1}, "", "not YAML: "+err.Error())
		}
		return false
	}
	var body ast.Node
	for _, d := range file.Docs {
		if d.Body == nil || d.Body.Type() == ast.CommentType {
			continue
		}
		if body != nil {
			r.add(place(d.Body), "", "a second document; a study is one document, so remove the --- above")
			return false
		}
		body = d.Body
	}
	if body == nil {
		r.add(position{1, 1}, "", "empty; a study needs at least models and data")
		return false
	}
	r.anchors = map[string]ast.Node{}
	ast.Walk(collect(r.anchors), body)
	if !r.version(body) {
		return false
	}
	r.value(body, reflect.ValueOf(s).Elem(), "", rules{})
	return len(r.found) == 0
}

// parse calls the YAML library, which is trusted with text that it may not expect.
func parse(b []byte) (f *ast.File, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the text cannot be parsed (%v)", p)
		}
	}()
	return parser.ParseBytes(b, 0)
}

// tooDeep returns the line in which collections are nested deeper than maxDepth, 0 if there is none: the parser
// recurses.
func tooDeep(b []byte) int {
	depth := 0
	for i, line := range strings.Split(string(b), "\n") {
		lead := 0
		for _, c := range line {
			switch c {
			case '[', '{':
				depth++
			case ']', '}':
				depth = max(depth-1, 0)
			case '-', ' ', '?', ':', '\t', '&', '!', '*', '|', '>':
				lead++
			}
			if depth > maxDepth {
				return i + 1
			}
		}
		if lead > maxDepth && deepStart(line) {
			return i + 1
		}
	}
	return 0
}

// deepStart reports whether a line opens more than maxDepth block collections ("- - - -", "? ? ?"), has more keys than
// any that a person writes, or is indented beyond any that a study has.
func deepStart(line string) bool {
	n, keys := 0, 0
	for f := range strings.FieldsSeq(line) {
		if strings.ContainsAny(f, "{}[],") {
			n = 0 // what was open beside it is closed; brackets are counted apart
		}
		if f == "-" || f == "?" || f == ":" || strings.HasSuffix(f, ":") {
			n++
			keys++
		}
		if n > maxDepth || keys > maxKeys {
			return true
		}
	}
	indent := len(line) - len(strings.TrimLeft(line, " \t"))
	return indent > 4*maxDepth
}

// version looks at the version first: a file of another version is full of other mistakes that mean nothing.
func (r *reader) version(body ast.Node) bool {
	m, ok := body.(ast.MapNode)
	if !ok {
		return true
	}
	for it := m.MapRange(); it.Next(); {
		if k, _ := text(it.Key()); k != "version" {
			continue
		}
		n := r.resolve(it.Value())
		v, ok := number(n)
		if !ok || v == StudyVersion {
			return true
		}
		remedy := "write version: 1"
		if v > StudyVersion {
			remedy = "a newer nero may read it"
		}
		r.add(place(n), "version", fmt.Sprintf("%v; this program reads version %d: %s", v, StudyVersion, remedy))
		return false
	}
	return true
}

// value fills v from n.
func (r *reader) value(n ast.Node, v reflect.Value, path string, ru rules) {
	if r.nodes++; r.nodes > maxNodes {
		if r.nodes == maxNodes+1 {
			r.add(place(n), path, "too large once its aliases are unfolded; write it out smaller")
		}
		return
	}
	n = r.resolve(n)
	if path != "" && !r.src.has(path) {
		r.src.at[path] = place(n)
	}
	switch v.Kind() { //nolint:exhaustive // a study has no others, and one would panic
	case reflect.Struct:
		r.mapping(n, v, path)
	case reflect.Slice:
		r.list(n, v, path, ru)
	case reflect.String:
		s, ok := text(n)
		if x, isNumber := n.(*ast.IntegerNode); isNumber && ru.whole {
			s, ok = fmt.Sprint(x.Value), true
		}
		if !ok {
			r.mismatch(n, path, "text")
			return
		}
		v.SetString(s)
		r.check(path, ru.text(s, r.words))
	case reflect.Bool:
		b, ok := n.(*ast.BoolNode)
		if !ok {
			r.mismatch(n, path, "true or false")
			return
		}
		v.SetBool(b.Value)
	case reflect.Int:
		r.whole(n, v, path, ru)
	case reflect.Uint64:
		r.seed(n, v, path, ru)
	case reflect.Float64:
		x, ok := number(n)
		if !ok || math.IsNaN(x) || math.IsInf(x, 0) {
			r.mismatch(n, path, "a finite number")
			return
		}
		v.SetFloat(x + 0) // a negative zero becomes a plain one, which JSON leaves out
		r.check(path, ru.number(x, strconv.FormatFloat(x, 'g', -1, 64)))
	default:
		panic("job: a study has a field of a kind that no file can hold: " + v.Type().String())
	}
}

func (r *reader) whole(n ast.Node, v reflect.Value, path string, ru rules) {
	x, ok := number(n)
	if !ok || x != math.Trunc(x) || math.IsInf(x, 0) {
		r.mismatch(n, path, "a whole number")
		return
	}
	if msg := ru.number(x, strconv.FormatFloat(x, 'f', -1, 64)); msg != "" {
		r.report(path, msg)
		return
	}
	v.SetInt(int64(x)) // in range: every int field has limits far below 2^53
}

// seed reads a number of 64 bits, of which a float64 would lose the last.
func (r *reader) seed(n ast.Node, v reflect.Value, path string, ru rules) {
	x, ok := number(n)
	_, exact := n.(*ast.IntegerNode)
	if !ok || x != math.Trunc(x) || !exact && !(x < 1<<64) {
		r.mismatch(n, path, "a whole number from 0 to 18446744073709551615")
		return
	}
	if msg := ru.number(x, strconv.FormatFloat(x, 'f', -1, 64)); msg != "" {
		r.report(path, msg)
		return
	}
	if i, ok := n.(*ast.IntegerNode); ok {
		switch w := i.Value.(type) {
		case int64:
			v.SetUint(uint64(w))
		case uint64:
			v.SetUint(w)
		}
		return
	}
	v.SetUint(uint64(x))
}

// mapping fills a struct.
func (r *reader) mapping(n ast.Node, v reflect.Value, path string) {
	fields := fieldsOf(v.Type())
	var known []string
	for _, f := range fields {
		known = append(known, f.name)
	}
	m, ok := n.(ast.MapNode)
	if !ok {
		want := "a mapping (key: value)"
		if i := slices.IndexFunc(fields, func(f field) bool { return f.short }); i >= 0 {
			if _, plain := text(n); plain {
				r.value(n, v.Field(fields[i].index), join(path, fields[i].name), fields[i].rules)
				return
			}
			want += " or the text of its " + fields[i].name
		}
		if scalar(n) {
			r.add(place(n), path, "expected "+want+", got "+describe(n)+"; known keys are "+strings.Join(known, ", "))
			return
		}
		r.mismatch(n, path, want)
		return
	}
	seen := map[string]bool{}
	for it := m.MapRange(); it.Next(); {
		key, ok := text(it.Key())
		at := place(it.Key())
		if !ok {
			r.add(at, path, "a key that is not a plain word; known keys are "+strings.Join(known, ", "))
			continue
		}
		i := slices.Index(known, key)
		sub := join(path, key)
		if i < 0 {
			r.add(at, sub, "unknown key; "+didYouMean(key, known, "known keys are "))
			continue
		}
		seen[key] = true // the parser refuses keys that are there twice
		if val := r.resolve(it.Value()); !inline(val) {
			r.src.at[sub] = at // a block has its key's place
		}
		r.value(it.Value(), v.Field(fields[i].index), sub, fields[i].rules)
	}
	for _, f := range fields {
		if f.rules.required && !seen[f.name] {
			at := place(n)
			if p, ok := r.src.at[path]; ok {
				at = p
			}
			r.add(at, join(path, f.name), "missing; add "+f.name+":"+example(f.name))
		}
	}
}

// list fills a slice; a field that allows it takes a single value as a list of one.
func (r *reader) list(n ast.Node, v reflect.Value, path string, ru rules) {
	var items []ast.Node
	name := func(i int) string { return fmt.Sprintf("%s[%d]", path, i) }
	if s, ok := n.(*ast.SequenceNode); ok {
		items = s.Values
	} else if _, isMap := n.(ast.MapNode); ru.single && (!isMap || v.Type().Elem().Kind() == reflect.Struct) &&
		n.Type() != ast.NullType {
		items = []ast.Node{n}
		name = func(int) string { return path } // messages should not speak of a list that is not there
		r.src.at[path+"[0]"] = place(n)
	} else {
		r.mismatch(n, path, "a list")
		return
	}
	if msg := ru.length(len(items)); msg != "" {
		r.report(path, msg)
		return
	}
	out := reflect.MakeSlice(v.Type(), len(items), len(items))
	inner := ru
	if v.Type().Elem().Kind() == reflect.Slice {
		inner = rules{} // rows of numbers have none of their own
	}
	before := len(r.found)
	for i, it := range items {
		r.value(it, out.Index(i), name(i), inner)
	}
	v.Set(out)
	if ru.unique && len(r.found) == before {
		seen := map[any]bool{}
		for i := range out.Len() {
			if k := out.Index(i).Interface(); seen[k] {
				r.report(name(i), fmt.Sprintf("%v is there twice; keep one", out.Index(i)))
			} else {
				seen[k] = true
			}
		}
	}
}

func (r *reader) check(path, msg string) {
	if msg != "" {
		r.report(path, msg)
	}
}

func (r *reader) mismatch(n ast.Node, path, want string) {
	msg := "expected " + want + ", got " + describe(n)
	if want == "text" && scalar(n) {
		msg += "; put it in quotes"
	}
	r.add(place(n), path, msg)
}

func (r *reader) report(path, msg string) {
	p := path
	for {
		if at, ok := r.src.at[p]; ok {
			r.add(at, path, msg)
			return
		}
		i := strings.LastIndexAny(p, ".[")
		if i < 0 {
			r.add(position{1, 1}, path, msg)
			return
		}
		p = p[:i]
	}
}

func (r *reader) add(at position, path, msg string) {
	if len(r.found) >= maxErrors {
		r.more++
		return
	}
	where := fmt.Sprintf("%s:%d:%d", r.src.file, at.line, at.column)
	r.found = append(r.found, located{&FieldError{Where: where, Path: excerpt(path), Message: excerpt(msg)}, at})
}

// excerpt is a text as a message shows it: its ends, where it is as long as only a damaged file makes it.
func excerpt(s string) string {
	const most = 1000
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most/2], "") + " … " + strings.ToValidUTF8(s[len(s)-most/2:], "")
}

// resolve follows anchors and aliases to what they stand for.
func (r *reader) resolve(n ast.Node) ast.Node {
	for range maxDepth {
		switch t := n.(type) {
		case *ast.AnchorNode:
			n = t.Value
		case *ast.AliasNode:
			to, ok := r.anchors[label(t.Value)]
			if !ok {
				return n
			}
			n = to
		default:
			return n
		}
		if n == nil {
			return ast.Null(token.New("null", "null", &token.Position{Line: 1, Column: 1}))
		}
	}
	return n
}

// collect is a visitor that finds anchors.
type collect map[string]ast.Node

// Visit notes an anchor.
func (c collect) Visit(n ast.Node) ast.Visitor {
	if a, ok := n.(*ast.AnchorNode); ok && a.Value != nil {
		c[label(a.Name)] = a.Value
	}
	return c
}

func label(n ast.Node) string {
	if n == nil || n.GetToken() == nil {
		return ""
	}
	return n.GetToken().Value
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// place is where a node begins.
func place(n ast.Node) position {
	if m, ok := n.(*ast.MappingNode); ok && !m.IsFlowStyle && len(m.Values) > 0 {
		n = m.Values[0].Key
	}
	if m, ok := n.(*ast.MappingValueNode); ok {
		n = m.Key
	}
	if n != nil {
		if t := n.GetToken(); t != nil && t.Position != nil {
			return position{t.Position.Line, t.Position.Column}
		}
	}
	return position{1, 1}
}

// inline tells scalars and flow collections, which have a place of their own, from blocks.
func inline(n ast.Node) bool {
	switch t := n.(type) {
	case *ast.MappingNode:
		return t.IsFlowStyle
	case *ast.SequenceNode:
		return t.IsFlowStyle
	case *ast.MappingValueNode, *ast.NullNode:
		return false
	default:
		return true
	}
}

func scalar(n ast.Node) bool {
	switch n.(type) {
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return true
	default:
		return false
	}
}

func text(n ast.Node) (string, bool) {
	switch t := n.(type) {
	case *ast.StringNode:
		return t.Value, true
	case *ast.LiteralNode:
		if t.Value != nil {
			return t.Value.Value, true
		}
	}
	return "", false
}

func number(n ast.Node) (float64, bool) {
	switch t := n.(type) {
	case *ast.IntegerNode:
		switch v := t.Value.(type) {
		case int64:
			return float64(v), true
		case uint64:
			return float64(v), true
		}
	case *ast.FloatNode:
		return t.Value, true
	case *ast.InfinityNode:
		return t.Value, true
	case *ast.NanNode:
		return math.NaN(), true
	case *ast.StringNode:
		// YAML 1.2 and JSON read 1e-6 as a number; the parser takes it for text unless there is a point in it. Quoted
		// text stays text.
		if tok := t.GetToken(); tok != nil && tok.Type == token.StringType && exponent.MatchString(t.Value) {
			x, err := strconv.ParseFloat(t.Value, 64)
			return x, err == nil
		}
	}
	return 0, false
}

// exponent is a number with an exponent and without a point.
var exponent = regexp.MustCompile(`^[-+]?[0-9]+[eE][-+]?[0-9]+$`)

func describe(n ast.Node) string {
	switch t := n.(type) {
	case *ast.NullNode:
		return "nothing"
	case *ast.SequenceNode:
		return "a list"
	case *ast.MappingNode, *ast.MappingValueNode:
		return "a mapping"
	case *ast.StringNode:
		return fmt.Sprintf("the text %q", clip(t.Value))
	case *ast.LiteralNode:
		return "a block of text"
	case *ast.AliasNode:
		return fmt.Sprintf("*%s, which stands for nothing", clip(label(t.Value)))
	case *ast.TagNode:
		return "a tag, which a study does not use"
	default:
		if tk := n.GetToken(); tk != nil {
			return clip(tk.Value)
		}
		return "something else"
	}
}

func clip(s string) string {
	if r := []rune(s); len(r) > 40 {
		return string(r[:40]) + "..."
	}
	return s
}

func didYouMean(word string, known []string, otherwise string) string {
	if k, ok := spell.Nearest(word, known); ok {
		return fmt.Sprintf("did you mean %q?", k)
	}
	return otherwise + strings.Join(known, ", ")
}

func example(key string) string {
	switch key {
	case "version":
		return " 1"
	case "models":
		return " FILE.onnx"
	case "data":
		return " FILE or FOLDER"
	case "images":
		return " FILE or FOLDER"
	case "onnx":
		return " FILE.onnx"
	default:
		return " ..."
	}
}
