package guard

import (
	"net/http"
	"net/netip"
	"net/url"
	"path"
	"strings"
	"testing"
	"unicode/utf8"
)

// What the list lets in is one of its names, or below one, in the eyes of net/url as well.
func FuzzHost(f *testing.F) {
	var list hostList
	if err := list.allow([]string{
		"lab.example:8443", "any.example", "*.team.example", "https://nero.example",
		"192.0.2.1", "[2001:db8::1]:7",
	}, http.NewCrossOriginProtection()); err != nil {
		f.Fatal(err)
	}
	for _, s := range []string{
		"lab.example:8443", "LAB.example.:8443", "any.example", "a.team.example:1", "team.example", "nero.example:443",
		"192.0.2.1", "[2001:db8::1]:7",
		"[2001:db8:0::1%25lo]:7", "lab.example:08443", "lab.example:8443@evil", "a..team.example", "-.team.example",
		"[::ffff:192.0.2.1]", "0xc0000201", "", ".", ":", "[", "[]", "a:b:c",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		h, ok := parseHost(s)
		if !ok {
			return
		}
		again := h.name
		if strings.Contains(again, ":") {
			again = "[" + again + "]"
		}
		if h.port != "" {
			again += ":" + h.port
		}
		if h2, ok := parseHost(again); !ok || h2 != h {
			t.Fatalf("%q reads as %v, which reads as %v %v", s, h, h2, ok)
		}
		u, err := url.Parse("http://" + s + "/")
		if err != nil {
			t.Fatalf("%q is taken for %v, and net/url finds %v", s, h, err)
		}
		name := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
		if a, err := netip.ParseAddr(name); err == nil {
			name = a.Unmap().String()
		}
		if name != h.name || u.Port() != h.port || u.User != nil {
			t.Fatalf("%q reads as %v, and as %q port %q for net/url", s, h, name, u.Port())
		}
		want := name == "lab.example" && h.port == "8443" || name == "any.example" ||
			strings.HasSuffix(name, ".team.example") ||
			name == "nero.example" && (h.port == "" || h.port == "443") || name == "192.0.2.1" ||
			name == "2001:db8::1" && h.port == "7"
		if got := list.has(h); got != want {
			t.Fatalf("%q: allowed %v, want %v", s, got, want)
		}
	})
}

// An entry that is understood allows what it says and no page of somebody else's.
func FuzzAllowedHost(f *testing.F) {
	for _, s := range []string{
		"lab.example", "*.example.org", "https://nero.example/", "http://[::1]:8888", "::1",
		"MÜLLER.example:80", "*", "*.org", "*.localhost", "https://*.a.b", "ftp://a", "a/b", "*.127.0.0.1",
		"https://a\r\nb", " a.b ",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, entry string) {
		var list hostList
		origins := http.NewCrossOriginProtection()
		if err := list.allow([]string{entry}, origins); err != nil {
			if !strings.Contains(err.Error(), "--allowed-host") || len(list.rules)+len(list.origins) > 0 &&
				!strings.Contains(entry, "://") {
				t.Fatalf("%q: %v, %v", entry, err, list)
			}
			return
		}
		for _, evil := range []string{"evil.invalid", "evil.invalid:443", "203.0.113.9", "[2001:db8::bad]:1"} {
			h, ok := parseHost(evil)
			if !ok {
				t.Fatal(evil)
			}
			if list.has(h) && !strings.Contains(strings.ToLower(entry), h.name) {
				if a, err := netip.ParseAddr(strings.Trim(strings.TrimSpace(entry), "[]")); err != nil ||
					a.Unmap().String() != h.name {
					t.Fatalf("%q lets in %s", entry, evil)
				}
			}
		}
		r := list.rules[0]
		h := hostPort{r.name, r.port}
		if r.kind == below {
			h.name = "a." + r.name
		}
		if !list.has(h) {
			t.Fatalf("%q does not let in %v", entry, h)
		}
		for _, origin := range list.origins {
			if strings.ContainsAny(origin, " \r\n;,'\"") || !utf8.ValidString(origin) {
				t.Fatalf("%q: origin %q", entry, origin)
			}
		}
	})
}

// A base path that is understood is plain, stands in an address as it is, and cleaning it again changes nothing.
func FuzzBase(f *testing.F) {
	for _, s := range []string{
		"", "/", "proxy/8888", "/proxy/8888/", "/user/a%40b/nero", "/a/../b", "/a//b",
		"/%2e%2e/", "/a%2fb", "\\", "/a?b", "/a#b", "https://a/b", "/%", "/%00", "/\xff", "/数/", "/a%25b/",
		"//evil.example/",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		base, err := cleanBase(s)
		if err != nil {
			if !strings.Contains(err.Error(), "--base-path") {
				t.Fatal(err)
			}
			return
		}
		if base != "/" && path.Clean(base)+"/" != base || !strings.HasPrefix(base, "/") ||
			!strings.HasSuffix(base, "/") || strings.HasPrefix(base, "//") {
			t.Fatalf("%q gives %q", s, base)
		}
		escaped := (&url.URL{Path: base}).EscapedPath()
		for i := range len(escaped) {
			if c := escaped[i]; c <= ' ' || c >= 0x7f || strings.IndexByte(`"<>;\`, c) >= 0 && c != ';' {
				t.Fatalf("%q is %q in an address", s, escaped)
			}
		}
		if again, err := cleanBase(escaped); err != nil || again != base {
			t.Fatalf("%q gives %q, which gives %q, %v", s, base, again, err)
		}
		if got, err := url.Parse("http://a" + escaped); err != nil || got.Path != base || oddURL(got) != "" {
			t.Fatalf("%q in an address is %v, %v", base, got, err)
		}
	})
}

// A path that is let through cannot leave the folder below which it is looked up, and all readers agree on its parts.
func FuzzPath(f *testing.F) {
	for _, s := range []string{
		"/", "/a/b", "/../a", "/%2e%2e/a", "/..%5ca", "/a%2fb", "/a//b", "/a/./b", "/a/", "//a",
		"/%252e", "/...", "/a%00", "*", "/%E6%95%B0",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		u, err := url.ParseRequestURI(s)
		if err != nil || u.Host != "" || oddURL(u) != "" {
			return
		}
		clean := path.Clean(u.Path)
		if strings.HasSuffix(u.Path, "/") && clean != "/" {
			clean += "/"
		}
		if clean != u.Path || strings.Count(u.EscapedPath(), "/") != strings.Count(u.Path, "/") ||
			strings.ContainsAny(u.Path, "\\\x00\r\n") {
			t.Fatalf("%q passes as %q", s, u.Path)
		}
	})
}

// What is left of a query is what was there, without our parts.
func FuzzQuery(f *testing.F) {
	for _, s := range []string{
		"", "token=a", "a=b&token=c&d", "%74oken=x&once-more=1", "token=%zz", "&&a&",
		"tokens=1&Token=2", "a=token=b;token=c",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		q := queryOf(&url.URL{RawQuery: s})
		again := queryOf(&url.URL{RawQuery: q.rest})
		if again.ours || again.token != "" || again.rest != q.rest {
			t.Fatalf("%q leaves %q, which leaves %+v", s, q.rest, again)
		}
		rest, _ := url.ParseQuery(q.rest)
		if rest.Has(tokenKey) || rest.Has(onceMoreKey) {
			t.Fatalf("%q leaves %q", s, q.rest)
		}
		all, err := url.ParseQuery(s)
		if err != nil {
			return // a part that nobody can read stays as it was
		}
		all.Del(tokenKey)
		all.Del(onceMoreKey)
		if all.Encode() != rest.Encode() {
			t.Fatalf("%q leaves %q", s, q.rest)
		}
	})
}
