package guard

import (
	"fmt"
	"net/url"
	"strings"
	"unicode/utf8"
)

// cleanBase brings a base path into the form "/" or "/a/b/", not escaped.
func cleanBase(s string) (string, error) {
	fail := func(why string) (string, error) {
		return "", fmt.Errorf("guard: --base-path %q: %s: expected a path such as /proxy/8888/", s, why)
	}
	if strings.Contains(s, "://") {
		return fail("that is a whole address")
	}
	if strings.ContainsAny(s, "?#") {
		return fail("a path has no ? and no #")
	}
	p, err := url.PathUnescape(s)
	if err != nil {
		return fail("% is not followed by two hexadecimal digits")
	}
	if strings.Count(p, "/") != strings.Count(s, "/") {
		return fail("it has an escaped slash")
	}
	if !strings.HasPrefix(p, "/") {
		p = "/" + p
	}
	if !strings.HasSuffix(p, "/") {
		p += "/"
	}
	if why := oddPath(p); why != "" {
		return fail(why)
	}
	return p, nil
}

// oddPath says what is wrong with a path, or nothing. A path that passes means the same to everybody who reads it: it
// begins with a slash and has no part that is empty (but the last), "." or "..", no backslash and no control character.
func oddPath(p string) string {
	if !strings.HasPrefix(p, "/") {
		return "it does not begin with a slash"
	}
	if !utf8.ValidString(p) {
		return "it is not UTF-8"
	}
	for _, r := range p {
		if r == '\\' || r < ' ' || r == 0x7f {
			return "it has a backslash or a control character"
		}
	}
	parts := strings.Split(p[1:], "/")
	for i, part := range parts {
		switch part {
		case "":
			if i < len(parts)-1 {
				return "it has two slashes in a row"
			}
		case ".", "..":
			return "it has a part . or .."
		}
	}
	return ""
}

// oddURL says what is wrong with the path of a request, or nothing. Besides [oddPath] it refuses an escaped slash,
// which some proxies unescape and others do not.
func oddURL(u *url.URL) string {
	if u.RawPath != "" && strings.Contains(strings.ToLower(u.RawPath), "%2f") {
		return "it has an escaped slash"
	}
	return oddPath(u.Path)
}
