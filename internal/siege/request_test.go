//go:build unix

package siege

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// operation is a call of the document.
type operation struct {
	*openapi3.Operation

	method, path string
}

// operations are all calls of a document, in its order.
func operations(doc *openapi3.T) (all []operation) {
	paths := doc.Paths.Map()
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		of := paths[path].Operations()
		for _, method := range slices.Sorted(maps.Keys(of)) {
			all = append(all, operation{of[method], method, path})
		}
	}
	return all
}

// shot is one request as it goes over a connection, and how its client behaves.
type shot struct {
	operation string
	// how it was made
	what string
	// method and address
	method, target string
	head           []string
	body           []byte
	// sound says that every part is one that the document allows.
	sound bool
	// odd says that it may not be one request with one body: net/http may refuse it, or see another behind it.
	odd bool
	// pieces sends the body in pieces, without a length.
	pieces bool
	// cut leaves after so many bytes of the request; -1 never.
	cut int
	// leave leaves after so many bytes of the answer; -1 never.
	leave int
}

// Parts that stand for what is known when a shot goes out.
const (
	lastTask = "task-that-was-told"
	lastTag  = "tag-that-was-told"
)

// known are values of parameters that make sense, by name.
type known map[string][]string

// hostilities are texts for places where others are expected.
var hostilities = []string{
	"", "0", "-1",
	"1e999", "-0", "NaN", "Inf", "99999999999999999999", "2147483648", "1,2", "0x10", "1_000", "..", "../..",
	"%2e%2e", "%2f", "%00", "%ff", "%zz", "%", "%25",
	"+", "A+B", "turns+turns", "turns+half", "turns+pairs", "a b", "ü",
	"１", "null", "true", "{}", "[]", `{"label":0}`, "'", `"`, "<script>", "=1+1", "\\", "*", "a;b", "a&b=1", "#", "?",
	"curves.0.99999", "curves.-1.0", "samples.0", "top.0.0", "aggregate.xlsx", "1e-320", "1e308,1e308",
	",", ",,,", "e", "+-",
}

// word draws a text that a pattern matches.
func word(r *rand.Rand, re *syntax.Regexp) string {
	switch re.Op { //nolint:exhaustive // the others stand for no character
	case syntax.OpLiteral:
		return string(re.Rune)
	case syntax.OpCharClass:
		k := 2 * r.IntN(len(re.Rune)/2)
		return string(re.Rune[k] + rune(r.IntN(int(min(re.Rune[k+1], re.Rune[k]+100)-re.Rune[k])+1)))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return string(rune(' ' + r.IntN(95)))
	case syntax.OpCapture:
		return word(r, re.Sub[0])
	case syntax.OpConcat:
		var all strings.Builder
		for _, sub := range re.Sub {
			all.WriteString(word(r, sub))
		}
		return all.String()
	case syntax.OpAlternate:
		return word(r, re.Sub[r.IntN(len(re.Sub))])
	case syntax.OpStar, syntax.OpPlus, syntax.OpQuest, syntax.OpRepeat:
		lo, hi := map[syntax.Op]int{syntax.OpPlus: 1, syntax.OpRepeat: re.Min}[re.Op], 6
		if re.Op == syntax.OpQuest {
			hi = 1
		} else if re.Op == syntax.OpRepeat && re.Max >= 0 {
			hi = min(re.Max, lo+20)
		}
		var all strings.Builder
		for range lo + r.IntN(max(hi-lo, 0)+1) {
			all.WriteString(word(r, re.Sub[0]))
		}
		return all.String()
	}
	return ""
}

// value draws a text for a parameter of the query, the path or the head: mostly one that is known to make sense, or
// else one that its schema allows; or, where it is to be wrong, one that is nearly so, or anything.
func value(r *rand.Rand, p *openapi3.Parameter, k known, wrong bool) string {
	sound := func() string {
		s := p.Schema.Value
		right := k[p.Name]
		switch {
		case len(right) > 0 && r.IntN(6) > 0:
			return right[r.IntN(len(right))]
		case len(s.Enum) > 0:
			return fmt.Sprint(s.Enum[r.IntN(len(s.Enum))])
		case s.Pattern != "":
			re, err := syntax.Parse(s.Pattern, syntax.Perl)
			if err != nil {
				panic(err) // the document was held against the standard
			}
			return word(r, re.Simplify())
		case s.Type.Is("integer"):
			return strconv.Itoa(r.IntN(1 << r.IntN(20)))
		}
		return hostilities[r.IntN(len(hostilities))]
	}
	text := sound()
	if !wrong {
		return text
	}
	switch r.IntN(6) {
	case 0:
		return text + text
	case 1:
		return text + hostilities[r.IntN(len(hostilities))]
	case 2:
		if text == "" {
			return "\x00"
		}
		b := []byte(text)
		b[r.IntN(len(b))] = byte(r.IntN(256))
		return string(b)
	case 3:
		return strings.Repeat(text+",", 1+r.IntN(1500))
	}
	return hostilities[r.IntN(len(hostilities))]
}

// rules are rules of samples that make sense.
var rules = []string{
	"mean A < 0.4 and label = 1", "not (predicted A = label)", "max A - min A > 0.5 or id ~ \"1\"", "label in (0, 2)",
	"0.2 <= mean \"toy\" < 0.5", "tag in (\"a\")", "predicted B != predicted A", "index < 3 and identity > 0",
}

// document draws a JSON value that a schema allows.
func document(r *rand.Rand, s *openapi3.SchemaRef, k known, depth int) any {
	v := s.Value
	switch {
	case len(v.AllOf) > 0:
		return document(r, v.AllOf[0], k, depth)
	case v.Type.Is("object"):
		o := map[string]any{}
		names := slices.Sorted(maps.Keys(v.Properties))
		if strings.HasSuffix(s.Ref, "/Set") { // exactly one of its properties, or none
			o := map[string]any{}
			name := names[r.IntN(len(names))]
			if nested := name == "and" || name == "or" || name == "not"; r.IntN(8) > 0 && (!nested || depth > 0) {
				o[name] = document(r, v.Properties[name], k, depth-1)
			}
			switch name {
			case "metric":
				delete(o, name)
			case "rule":
				o[name] = rules[r.IntN(len(rules))]
			case "bits":
				o[name] = []string{"AAA=", "/wA=", "EgE="}[r.IntN(3)]
			case "indexes":
				all := r.Perm(16)[:r.IntN(16)]
				slices.Sort(all)
				o[name] = all
			case "slice":
				o[name] = k["slice"][r.IntN(len(k["slice"]))]
			}
			return o
		}
		for _, name := range names {
			if slices.Contains(v.Required, name) || r.IntN(3) == 0 {
				o[name] = document(r, v.Properties[name], k, depth)
			}
		}
		return o
	case v.Type.Is("array"):
		all := make([]any, r.IntN(3))
		for i := range all {
			all[i] = document(r, v.Items, k, depth)
		}
		return all
	case v.Type.Is("integer"):
		return []int{0, 0, 1, 1, 2, -1, 7}[r.IntN(7)]
	case v.Type.Is("boolean"):
		return r.IntN(2) == 0
	case v.Type.Is("number"):
		return r.NormFloat64()
	}
	return []string{"a", "mine", "best of all", ""}[r.IntN(4)]
}

// garbled makes a document of JSON wrong.
func garbled(r *rand.Rand, text string) (string, string) {
	at := r.IntN(len(text) + 1)
	deep := 1 << r.IntN(15)
	switch r.IntN(12) {
	case 0:
		return text[:at], "cut"
	case 1:
		return text + text, "twice"
	case 2:
		return text[:at] + string(rune(r.IntN(256))) + text[at:], "one more character"
	case 3:
		return strings.Repeat(`{"not":`, deep) + "{}" + strings.Repeat("}", deep), fmt.Sprintf("%d deep", deep)
	case 4:
		return `{"set":` + strings.Repeat(`{"or":[`, deep) + "{}" + strings.Repeat("]}", deep) + `,"metric":0}`,
			fmt.Sprintf("a set %d deep", deep)
	case 5:
		return `{"or":[` + strings.Repeat(`{"label":0},`, deep) + "{}]}", fmt.Sprintf("%d sets", deep)
	case 6:
		return `{"rule":"` + strings.Repeat([]string{"(", "not ", "1<", "or ", "mean A < 1 or "}[r.IntN(5)], deep) + `"}`,
			"a long rule"
	case 7:
		return `{"indexes":[` + strings.Repeat("0,", deep) + "1]}", "many indexes"
	case 8:
		return `{"bits":"` + strings.Repeat("A", 4*deep) + `"}`, "many bits"
	case 9:
		return "\xff\xfe" + text + "\x00", "bytes that are no text"
	}
	if found := numerals.FindAllStringIndex(text, -1); len(found) > 0 {
		span := found[r.IntN(len(found))]
		token := tokens[r.IntN(len(tokens))]
		return text[:span[0]] + token + text[span[1]:], fmt.Sprintf("%q for a number", token)
	}
	return strings.ReplaceAll(text, "{", `{"nobody":1,`), "a key that nobody knows"
}

// draw makes a request for an operation. Up to three parts of half of them are wrong.
func draw(r *rand.Rand, op operation, k known) *shot {
	s := &shot{operation: op.OperationID, method: op.method, cut: -1, leave: -1, sound: r.IntN(2) == 0}
	wrong := func(odds int) bool { return !s.sound && r.IntN(odds) == 0 }
	path, query := op.path, url.Values{}
	raw := ""
	for _, ref := range op.Parameters {
		p := ref.Value
		bad := wrong(4)
		if !p.Required && r.IntN(3) > 0 {
			continue
		}
		if p.Required && wrong(30) {
			s.what += p.Name + " is left out; "
			if p.In != "path" {
				continue
			}
		}
		v := value(r, p, k, bad)
		if bad {
			s.what += fmt.Sprintf("%s is %.40q; ", p.Name, v)
		}
		switch p.In {
		case "path":
			name := p.Name
			if strings.HasPrefix(op.path, "/audits/") {
				name = "audit"
			}
			if !bad && len(k[name]) > 0 && name == "audit" {
				v = k[name][r.IntN(len(k[name]))]
			}
			if !bad || r.IntN(2) == 0 {
				v = url.PathEscape(v)
			} else {
				v = plain(v)
			}
			path = strings.Replace(path, "{"+p.Name+"}", v, 1)
		case "query":
			if bad && r.IntN(4) == 0 {
				raw += "&" + p.Name + "=" + plain(v)
			} else {
				query.Add(p.Name, v)
			}
		default:
			s.head = append(s.head, p.Name+": "+plain(v))
		}
	}
	if wrong(20) {
		query.Add([]string{"x", "set", "g", "metric", "token", ""}[r.IntN(6)], hostilities[r.IntN(len(hostilities))])
		s.what += "a key more; "
	}
	s.target = "/api/v1" + path
	if q := query.Encode() + raw; q != "" {
		s.target += "?" + q
	}
	kind := "application/json"
	if op.RequestBody != nil {
		b, err := json.Marshal(document(r, op.RequestBody.Value.Content["application/json"].Schema, k, 3))
		if err != nil {
			panic(err) // maps and numbers
		}
		s.body = b
		if wrong(2) {
			text, how := garbled(r, string(b))
			s.body, s.what = []byte(text), s.what+"body: "+how+"; "
		}
	}
	if wrong(12) {
		kind = []string{
			"", "text/plain", "application/json; charset=utf-16",
			"multipart/form-data; boundary=x", "application/json;;",
			"application/x-www-form-urlencoded", "*/*", "\x01",
		}[r.IntN(8)]
		s.what += fmt.Sprintf("content type %q; ", kind)
	}
	if wrong(10) {
		s.method = []string{
			"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "BREW", "get", "G\x00T",
		}[r.IntN(12)]
		s.odd = s.odd || s.method == "CONNECT" || s.method == "G\x00T"
		s.what += "method " + s.method + "; "
	}
	if wrong(40) {
		s.body = make([]byte, 1<<(10+r.IntN(15)))
		s.what += fmt.Sprintf("a body of %d bytes; ", len(s.body))
	}
	if s.body != nil || wrong(30) {
		s.head = append(s.head, "Content-Type: "+kind)
	}
	if len(s.body) > 0 && wrong(10) {
		s.pieces, s.body = true, fmt.Appendf(nil, "%x\r\n%s\r\n0\r\n\r\n", len(s.body), s.body)
		s.what += "in pieces; "
	}
	heads(r, s, wrong)
	size := len(s.text()) + len(s.body)
	switch {
	case wrong(15):
		s.cut = r.IntN(size + 1)
		s.what += fmt.Sprintf("left after %d bytes of %d; ", s.cut, size)
	case wrong(15):
		s.leave = r.IntN(1 << r.IntN(12))
		s.what += fmt.Sprintf("left after %d bytes of the answer; ", s.leave)
	}
	s.sound = s.what == ""
	if s.operation == "events" {
		s.leave = len("retry: 2000\n\n") // it has no end
	}
	return s
}

// plain keeps a text from ending the line that it stands in.
func plain(text string) string {
	return strings.NewReplacer(" ", "%20", "\r", "", "\n", "", "\x00", "%00", "#", "%23", "?", "%3f").Replace(text)
}

// heads adds lines to the head of a request.
func heads(r *rand.Rand, s *shot, wrong func(int) bool) {
	for _, line := range []string{
		"Accept-Encoding: gzip", "If-None-Match: *", "If-None-Match: " + lastTag, "X-Forwarded-For: 10.0.0.1",
		"Accept: text/html",
	} {
		if r.IntN(8) == 0 {
			s.head = append(s.head, line)
		}
	}
	if !wrong(8) {
		return
	}
	line := []string{
		"Origin: https://elsewhere.example", "Origin: null", "Sec-Fetch-Site: cross-site", "Cookie: nero=x; nero=y",
		"Authorization: Bearer x",
		"Accept-Encoding: gzip;q=nan, ;;,=,gzip;q=-1",
		"If-None-Match: " + strings.Repeat(`"x",`, 9999),
		"Range: bytes=0-1", "Transfer-Encoding: chunked", "Content-Length: 7", "Expect: 100-continue",
		"Expect: the best",
		"Upgrade: websocket", "Connection: upgrade, x", "X: " + strings.Repeat("y", 80_000),
		"X-Forwarded-For: \xff\xfe",
		"no colon", ": no name", "If-Match: *", "If-Match: W/\"x\"", "Host: elsewhere.example", "Trailer: X",
	}[r.IntN(22)]
	s.head = append(s.head, line)
	s.odd = true // a length beside another, a second host: net/http refuses that
	s.what += fmt.Sprintf("head %.40q; ", line)
}

// text is the head of a request as it goes over a connection.
func (s *shot) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: %s\r\n", s.method, s.target, hostOf)
	for _, line := range s.head {
		b.WriteString(line + "\r\n")
	}
	if s.pieces {
		b.WriteString("Transfer-Encoding: chunked\r\n")
	} else if s.body != nil || s.method == http.MethodPost || s.method == http.MethodPut {
		fmt.Fprintf(&b, "Content-Length: %d\r\n", len(s.body))
	}
	b.WriteString("\r\n")
	return b.String()
}

// hostOf stands for the address of the server.
const hostOf = "host-that-is-asked"
