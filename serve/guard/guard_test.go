package guard

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

const secret = "0123456789abcdefghijklmnopqrstuv" // a token that a test has chosen

// answer is a response with its body read.
type answer struct {
	*http.Response
	body string
}

// raw sends bytes and reads the answer to a request of that method.
func raw(t *testing.T, s *Server, method, bytes string) (answer, error) {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(s.Port())))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if err := conn.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, bytes); err != nil {
		return answer{}, err
	}
	return readAnswer(conn, method)
}

func readAnswer(conn io.Reader, method string) (answer, error) {
	res, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: method})
	if err != nil {
		return answer{}, err
	}
	b, err := io.ReadAll(res.Body)
	return answer{res, string(b)}, errors.Join(err, res.Body.Close())
}

// ask sends one request. $PORT stands for the port of the server; headers are lines.
func ask(t *testing.T, s *Server, method, target, host string, headers ...string) answer {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n", method, target, host)
	for _, h := range headers {
		b.WriteString(h + "\r\n")
	}
	b.WriteString("\r\n")
	a, err := raw(t, s, method, strings.ReplaceAll(b.String(), "$PORT", strconv.Itoa(s.Port())))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// echo tells what came through the guard.
func echo(w http.ResponseWriter, r *http.Request) {
	b, err := io.ReadAll(r.Body)
	if err != nil {
		Fail(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "text/plain")
	_, _ = fmt.Fprintf(w, "%s %s?%s %d", r.Method, r.URL.Path, r.URL.RawQuery, len(b))
}

// cookies of the servers of the table; the name has the port in it, which is known when the server runs.
const rightCookie, wrongCookie = "Cookie: nero-$PORT=" + secret, "Cookie: nero-$PORT=0123456789abcdefghijklmnopqrstuV"

const (
	page = "Accept: text/html,application/xhtml+xml,*/*;q=0.8"
	auth = "Authorization: Bearer " + secret
	here = "127.0.0.1:$PORT"
)

// Every row is one request that a browser, a program or an attacker sends, and what it has to get. A row with want 200
// also fixes what the handler sees.
var rows = []struct {
	name string
	// of TestTable
	server string
	method string
	target string
	host   string
	// lines, with | between them
	header string
	want   int
	// of the problem; with 200, what the handler sees; with 303, where to go
	code string
}{
	// Host: DNS rebinding and names of our own.
	{"address", "plain", "GET", "/api/v1/runs", here, "", 200, "GET /api/v1/runs? 0"},
	{"localhost", "plain", "GET", "/api/v1/runs", "localhost:$PORT", "", 200, "GET /api/v1/runs? 0"},
	{"localhost in capitals with a dot", "plain", "GET", "/", "LocalHost.:$PORT", "", 200, "GET /? 0"},
	{"IPv6", "plain", "GET", "/", "[::1]:$PORT", "", 200, "GET /? 0"},
	{"IPv6 written out", "plain", "GET", "/", "[0:0:0:0:0:0:0:1]:$PORT", "", 200, "GET /? 0"},
	{"rebinding", "plain", "GET", "/api/v1/runs", "evil.example:$PORT", "", 421, "host"},
	{"rebinding of the page", "plain", "GET", "/", "evil.example:$PORT", "", 421, "host"},
	{"rebinding with our name before", "plain", "GET", "/", "localhost.evil.example:$PORT", "", 421, "host"},
	{"rebinding with our name behind", "plain", "GET", "/", "evil-localhost:$PORT", "", 421, "host"},
	{"rebinding with our address before", "plain", "GET", "/", "127.0.0.1.evil.example:$PORT", "", 421, "host"},
	{"rebinding in an absolute target", "plain", "GET", "http://evil.example/", here, "", 421, "host"},
	{
		"rebinding with forwarded name", "plain", "GET", "/", "evil.example:$PORT", "X-Forwarded-Host: localhost:$PORT",
		421, "host",
	},
	{"forwarded name of another", "plain", "GET", "/", here, "X-Forwarded-Host: evil.example", 200, "GET /? 0"},
	{
		"rebinding with standard forwarding", "plain", "GET", "/", "evil.example:$PORT",
		"Forwarded: host=localhost:$PORT",
		421, "host",
	},
	{"other port", "plain", "GET", "/", "127.0.0.1:1", "", 421, "host"},
	{"no port", "plain", "GET", "/", "127.0.0.1", "", 421, "host"},
	{"no host", "plain", "GET", "/", "", "", 421, "host"},
	{"every address of the machine", "plain", "GET", "/", "0.0.0.0:$PORT", "", 421, "host"},
	{"address in one number", "plain", "GET", "/", "2130706433:$PORT", "", 421, "host"},
	{"subdomain of localhost", "plain", "GET", "/", "evil.localhost:$PORT", "", 421, "host"},
	{"allowed with its port", "proxy", "GET", "/", "lab.example:8443", "", 200, "GET /? 0"},
	{"allowed on another port", "proxy", "GET", "/", "lab.example:8444", "", 421, "host"},
	{"allowed on any port", "proxy", "GET", "/", "any.example:17", "", 200, "GET /? 0"},
	{"allowed in another script", "proxy", "GET", "/", "xn--mller-kva.example", "", 200, "GET /? 0"},
	{"allowed below", "proxy", "GET", "/", "a.b.team.example:1", "", 200, "GET /? 0"},
	{"allowed below and not itself", "proxy", "GET", "/", "team.example:1", "", 421, "host"},
	{"allowed below and not beside", "proxy", "GET", "/", "evilteam.example:1", "", 421, "host"},
	{"allowed origin", "proxy", "GET", "/", "nero.example", "", 200, "GET /? 0"},
	{"allowed origin on another port", "proxy", "GET", "/", "nero.example:444", "", 421, "host"},
	{"wildcard bind takes numbers", "everywhere", "GET", "/", "192.0.2.7:$PORT", auth, 200, "GET /? 0"},
	{"wildcard bind takes no foreign name", "everywhere", "GET", "/", "evil.example:$PORT", auth, 421, "host"},
	{"wildcard bind takes no other port", "everywhere", "GET", "/", "192.0.2.7:1", auth, 421, "host"},

	// Token.
	{"no token", "token", "GET", "/api/v1/runs", here, "", 401, "token"},
	{"no token for the page", "token", "GET", "/", here, page, 401, "token"},
	{"no token off loopback", "everywhere", "GET", "/", here, "", 401, "token"},
	{"no token for a file", "token", "GET", "/app.js", here, "Sec-Fetch-Site: same-origin", 401, "token"},
	{"right header", "token", "GET", "/api/v1/runs", here, auth, 200, "GET /api/v1/runs? 0"},
	{
		"right header in small letters", "token", "GET", "/api/v1/runs", here, "authorization: bearer " + secret, 200,
		"GET /api/v1/runs? 0",
	},
	{
		"wrong header", "token", "GET", "/api/v1/runs", here, "Authorization: Bearer 0123456789abcdefghijklmnopqrstuV",
		401, "token",
	},
	{"half a header", "token", "GET", "/api/v1/runs", here, "Authorization: Bearer " + secret[:31], 401, "token"},
	{"header with more", "token", "GET", "/api/v1/runs", here, auth + "0", 401, "token"},
	{"empty header", "token", "GET", "/api/v1/runs", here, "Authorization: Bearer ", 401, "token"},
	{"header of another scheme", "token", "GET", "/api/v1/runs", here, "Authorization: Basic " + secret, 401, "token"},
	{"two headers", "token", "GET", "/api/v1/runs", here, auth + "|" + auth, 401, "token"},
	{
		"wrong header with right cookie", "token", "GET", "/api/v1/runs", here,
		"Authorization: Bearer x|" + rightCookie,
		401, "token",
	},
	{"right cookie", "token", "GET", "/api/v1/runs", here, rightCookie, 200, "GET /api/v1/runs? 0"},
	{"wrong cookie", "token", "GET", "/api/v1/runs", here, wrongCookie, 401, "token"},
	{"empty cookie", "token", "GET", "/api/v1/runs", here, "Cookie: nero-$PORT=", 401, "token"},
	{"cookie of another server", "token", "GET", "/api/v1/runs", here, "Cookie: nero-1=" + secret, 401, "token"},
	{
		"wrong and right cookie", "token", "GET", "/api/v1/runs", here, wrongCookie + "; nero-$PORT=" + secret, 200,
		"GET /api/v1/runs? 0",
	},
	{"right address", "token", "GET", "/?token=" + secret, here, "", 303, "./"},
	{"right address and more", "token", "GET", "/a/b?x=1&token=" + secret + "&y=%20", here, "", 303, "./b?x=1&y=%20"},
	{"right address by HEAD", "token", "HEAD", "/?token=" + secret, here, "", 303, "./"},
	{"right address typed", "token", "GET", "/?token=" + secret, here, page + "|Sec-Fetch-Site: none", 303, "./"},
	{"wrong address", "token", "GET", "/?token=" + secret[1:], here, "", 401, "token"},
	{"empty address", "token", "GET", "/?token=", here, "", 401, "token"},
	{"right address by POST", "token", "POST", "/?token=" + secret, here, "", 401, "token"},
	{"right address of the API", "token", "GET", "/api/v1/runs?token=" + secret, here, "", 401, "token"},
	{"old address with right cookie", "token", "GET", "/?token=old&x=1", here, rightCookie, 303, "./?x=1"},
	{"token where none is needed", "plain", "GET", "/?token=x", here, "", 200, "GET /?token=x 0"},

	// Other sites.
	{
		"own page changes", "plain", "POST", "/api/v1/runs", here, "Sec-Fetch-Site: same-origin|Origin: http://" + here,
		200, "POST /api/v1/runs? 0",
	},
	{"program changes", "plain", "DELETE", "/api/v1/runs/1/job", here, "", 200, "DELETE /api/v1/runs/1/job? 0"},
	{
		"other site changes", "plain", "POST", "/api/v1/runs", here,
		"Sec-Fetch-Site: cross-site|Origin: https://evil.example", 403, "cross-origin",
	},
	{
		"other site changes outside the API", "plain", "PUT", "/x", here, "Sec-Fetch-Site: cross-site", 403,
		"cross-origin",
	},
	{
		"other port changes", "plain", "POST", "/api/v1/runs", here,
		"Sec-Fetch-Site: same-site|Origin: http://127.0.0.1:1", 403, "cross-origin",
	},
	{
		"old browser on another site changes", "plain", "POST", "/x", here, "Origin: https://evil.example", 403,
		"cross-origin",
	},
	{"sandboxed page changes", "plain", "POST", "/x", here, "Origin: null", 403, "cross-origin"},
	{"old browser on own page changes", "plain", "POST", "/x", here, "Origin: http://" + here, 200, "POST /x? 0"},
	{"other site asks", "plain", "GET", "/api/v1/probe", here, "Sec-Fetch-Site: cross-site", 403, "cross-origin"},
	{
		"other site asks escaped", "plain", "GET", "/%61pi/v1/probe", here, "Sec-Fetch-Site: cross-site", 403,
		"cross-origin",
	},
	{"other site asks for the heads", "plain", "HEAD", "/api/v1/probe", here, "Sec-Fetch-Site: cross-site", 403, ""},
	{"other port asks", "plain", "GET", "/api/v1/probe", here, "Sec-Fetch-Site: same-site", 403, "cross-origin"},
	{
		"old browser on another site asks", "plain", "GET", "/api/v1/probe", here, "Origin: https://evil.example", 403,
		"cross-origin",
	},
	{
		"own page asks", "plain", "GET", "/api/v1/probe", here, "Sec-Fetch-Site: same-origin", 200,
		"GET /api/v1/probe? 0",
	},
	{"person asks", "plain", "GET", "/api/v1/probe", here, "Sec-Fetch-Site: none", 200, "GET /api/v1/probe? 0"},
	{
		"link from another site", "plain", "GET", "/", here, "Sec-Fetch-Site: cross-site|Sec-Fetch-Mode: navigate", 200,
		"GET /? 0",
	},
	{
		"own origin behind a proxy", "proxy", "POST", "/api/v1/runs", here, "Origin: https://nero.example", 200,
		"POST /api/v1/runs? 0",
	},
	{"host is no origin", "proxy", "POST", "/api/v1/runs", here, "Origin: https://any.example", 403, "cross-origin"},

	// Paths.
	{"two dots", "plain", "GET", "/../go.mod", here, "", 400, "path"},
	{"two dots inside", "plain", "GET", "/a/../../go.mod", here, "", 400, "path"},
	{"two dots escaped", "plain", "GET", "/%2e%2e/go.mod", here, "", 400, "path"},
	{"two dots half escaped", "plain", "GET", "/.%2E/go.mod", here, "", 400, "path"},
	{"two dots escaped twice", "plain", "GET", "/%252e%252e/go.mod", here, "", 200, "GET /%2e%2e/go.mod? 0"},
	{"two dots at the end", "plain", "GET", "/a/..", here, "", 400, "path"},
	{"one dot", "plain", "GET", "/./a", here, "", 400, "path"},
	{"backslash", "plain", "GET", "/..\\go.mod", here, "", 400, "path"},
	{"backslash escaped", "plain", "GET", "/..%5cgo.mod", here, "", 400, "path"},
	{"slash escaped", "plain", "GET", "/..%2fgo.mod", here, "", 400, "path"},
	{"slash escaped in an id", "plain", "GET", "/api/v1/runs/a%2Fb", here, "", 400, "path"},
	{"two slashes", "plain", "GET", "//evil.example/", here, "", 400, "path"},
	{"two slashes inside", "plain", "GET", "/a//b", here, "", 400, "path"},
	{"zero byte", "plain", "GET", "/a%00b", here, "", 400, "path"},
	{"line feed", "plain", "GET", "/a%0ab", here, "", 400, "path"},
	{"not UTF-8", "plain", "GET", "/a%ff", here, "", 400, "path"},
	{"three dots", "plain", "GET", "/...", here, "", 200, "GET /...? 0"},
	{"any script", "plain", "GET", "/%E6%95%B0%20%3F", here, "", 200, "GET /数 ?? 0"},
	{"query is left alone", "plain", "GET", "/a?../%2f\\", here, "", 200, "GET /a?../%2f\\ 0"},

	// Methods.
	{"TRACE", "plain", "TRACE", "/", here, "", 405, "method"},
	{
		"OPTIONS", "plain", "OPTIONS", "/api/v1/runs", here,
		"Origin: https://evil.example|Access-Control-Request-Method: GET", 405, "method",
	},
	{"OPTIONS of all", "plain", "OPTIONS", "*", here, "", 405, "method"},
	{"CONNECT", "plain", "CONNECT", here, here, "", 405, "method"},
	{"a word of somebody's own", "plain", "BREW", "/", here, "", 405, "method"},
	{"small letters", "plain", "get", "/", here, "", 405, "method"},
	{"PATCH", "plain", "PATCH", "/x", here, "", 200, "PATCH /x? 0"},

	// Base path.
	{"base path kept", "base", "GET", "/proxy/8888/api/v1/runs?a=b", here, "", 200, "GET /api/v1/runs?a=b 0"},
	{"base path taken off", "base", "GET", "/api/v1/runs", here, "", 200, "GET /api/v1/runs? 0"},
	{"base path itself", "base", "GET", "/proxy/8888/", here, "", 200, "GET /? 0"},
	{"base path without its slash", "base", "GET", "/proxy/8888?a=b", here, "", 303, "/proxy/8888/?a=b"},
	{"base path of another", "base", "GET", "/proxy/88889/", here, "", 200, "GET /proxy/88889/? 0"},
	{"base path and two dots", "base", "GET", "/proxy/8888/../7777/", here, "", 400, "path"},
	{"base path and two slashes", "base", "GET", "/proxy/8888//evil.example", here, "", 400, "path"},
	{
		"base path and other site", "base", "GET", "/proxy/8888/api/v1/probe", here, "Sec-Fetch-Site: cross-site", 403,
		"cross-origin",
	},
	{
		"base path taken off and other site", "base", "GET", "/api/v1/probe", here, "Sec-Fetch-Site: cross-site", 403,
		"cross-origin",
	},
	{
		"base path and token", "base and token", "GET", "/user/a%40b/nero/x?token=" + secret, here, "", 303,
		"/user/a@b/nero/x",
	},
	{
		"base path taken off and token", "base and token", "GET", "/?token=" + secret + "&y=1", here, "", 303,
		"/user/a@b/nero/?y=1",
	},

	// Size.
	{"body in bounds", "plain", "POST", "/x", here, "Content-Length: 0", 200, "POST /x? 0"},
	{"body too long", "plain", "POST", "/x", here, "Content-Length: 1025", 413, "body-too-long"},
	{"body in the bounds of its route", "plain", "POST", "/long", here, "Content-Length: 1025", 400, "body-incomplete"},
	{
		"body out of the bounds of its route", "plain", "POST", "/long", here, "Content-Length: 4097", 413,
		"body-too-long",
	},
	{
		"body of 10^18 bytes", "plain", "POST", "/long", here, "Content-Length: 1000000000000000000", 413,
		"body-too-long",
	},
	{"header too long", "plain", "GET", "/", here, "X: " + strings.Repeat("x", 9000), 431, ""},
	{"address too long", "plain", "GET", "/" + strings.Repeat("x", 9000), here, "", 431, ""},
}

// tableServers are the servers of the rows.
func tableServers(t *testing.T) map[string]*Server {
	t.Helper()
	small := Limits{BodyBytes: 1024, HeaderBytes: 4096, Body: 2 * time.Second, Header: 2 * time.Second}
	long := func(r *http.Request) int64 {
		if r.URL.Path == "/long" {
			return 4096
		}
		return 0
	}
	servers := map[string]*Server{
		"plain": listen(t, Options{Limits: small, BodyBytes: long}),
		"token": listen(t, Options{Limits: small, Token: secret}),
		"proxy": listen(t,
			Options{Limits: small, AllowedHosts: []string{
				"Lab.Example:8443", "any.example", "MÜLLER.example",
				"*.team.example", "https://nero.example/",
			}}),
		"everywhere":     listen(t, Options{Limits: small, Host: "0.0.0.0", Token: secret}),
		"base":           listen(t, Options{Limits: small, BasePath: "proxy/8888"}),
		"base and token": listen(t, Options{Limits: small, BasePath: "/user/a%40b/nero/", Token: secret}),
	}
	for _, s := range servers {
		serve(t, s, http.HandlerFunc(echo))
	}
	return servers
}

// Below the path of the API everything is refused in its form, also what is refused before it is looked at, and
// whatever the client shows to a person.
func TestRefusedAsAPI(t *testing.T) {
	for base, s := range map[string]*Server{
		"": listen(t, Options{}), "/p": listen(t, Options{BasePath: "/p/"}),
	} {
		serve(t, s, http.HandlerFunc(echo))
		for target, want := range map[string]string{
			"/api/v1/a%2Fb": "application/problem+json", "/api/v1/a/../b": "application/problem+json",
			"/a%2Fb": "text/html",
		} {
			got, err := raw(t, s, "GET", head(s, "GET "+base+target, page, "Connection: close"))
			if err != nil {
				t.Fatal(err)
			}
			kind := got.Header.Get("Content-Type")
			if got.StatusCode != http.StatusBadRequest || !strings.HasPrefix(kind, want) {
				t.Errorf("%s%s: %d, %s", base, target, got.StatusCode, kind)
			}
		}
	}
}

func TestTable(t *testing.T) {
	servers := tableServers(t)
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			s := servers[row.server]
			var headers []string
			if row.header != "" {
				headers = strings.Split(row.header, "|")
			}
			request := fmt.Sprintf("%s %s HTTP/1.1\r\nHost: %s\r\n%s\r\n", row.method, row.target, row.host,
				strings.Join(append(headers, "Connection: close", ""), "\r\n"))
			conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp",
				net.JoinHostPort("127.0.0.1", strconv.Itoa(s.Port())))
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = conn.Close() }()
			if _, err := io.WriteString(conn,
				strings.ReplaceAll(request, "$PORT", strconv.Itoa(s.Port()))); err != nil {
				t.Fatal(err)
			}
			if c, ok := conn.(*net.TCPConn); ok && row.method == http.MethodPost {
				_ = c.CloseWrite() // what was announced does not come
			}
			got, err := readAnswer(conn, row.method)
			if err != nil {
				t.Fatal(err)
			}
			if got.StatusCode != row.want {
				t.Fatalf("%d, want %d: %s", got.StatusCode, row.want, got.body)
			}
			switch {
			case row.want == http.StatusOK:
				if row.method != http.MethodHead && got.body != row.code {
					t.Errorf("the handler saw %q, want %q", got.body, row.code)
				}
			case row.want == http.StatusSeeOther:
				if to := got.Header.Get("Location"); to != row.code {
					t.Errorf("goes on to %q, want %q", to, row.code)
				}
				if strings.Contains(got.body, secret) || got.Header.Get("Cache-Control") != "no-store" {
					t.Errorf("a redirect that may be kept: %v %s", got.Header, got.body)
				}
			case row.code != "" && strings.Contains(row.header, page):
				if !strings.HasPrefix(got.Header.Get("Content-Type"), "text/html") ||
					!strings.Contains(got.body, row.code) {
					t.Errorf("a person gets %s: %s", got.Header.Get("Content-Type"), got.body)
				}
			case row.code != "":
				var p Problem
				if err := json.Unmarshal([]byte(got.body), &p); err != nil || p.Code != row.code ||
					p.Status != row.want || p.Title == "" {
					t.Errorf("%v: %s, want code %s", err, got.body, row.code)
				}
				if ct := got.Header.Get("Content-Type"); ct != "application/problem+json" {
					t.Errorf("Content-Type %s", ct)
				}
			}
			if row.want == http.StatusRequestHeaderFieldsTooLarge { // answered by net/http before us
				return
			}
			checkHeaders(t, s, got)
			if strings.Contains(got.body, secret) && row.server != "plain" {
				t.Errorf("the body shows the token: %s", got.body)
			}
		})
	}
}

// checkHeaders is what every answer has to say and not to say.
func checkHeaders(t *testing.T, s *Server, got answer) {
	t.Helper()
	for name, want := range map[string]string{
		"X-Content-Type-Options":       "nosniff",
		"Cross-Origin-Resource-Policy": "same-origin",
		"Referrer-Policy":              "no-referrer",
	} {
		if have := got.Header.Get(name); have != want {
			t.Errorf("%s: %q, want %q", name, have, want)
		}
	}
	for _, name := range []string{"Permissions-Policy", "Cache-Control", "Content-Security-Policy"} {
		if got.Header.Get(name) == "" {
			t.Errorf("no %s", name)
		}
	}
	if p := got.Header.Get("Content-Security-Policy"); p != s.policy && !strings.Contains(p, "script-src 'sha256-") {
		t.Errorf("content policy %q", p)
	}
	for name := range got.Header {
		if strings.HasPrefix(name, "Access-Control-") {
			t.Errorf("%s lets other origins read", name)
		}
	}
	if got.StatusCode == http.StatusUnauthorized && got.Header.Get("Www-Authenticate") == "" {
		t.Error("401 does not say how")
	}
	if got.StatusCode == http.StatusMethodNotAllowed && got.Header.Get("Allow") == "" {
		t.Error("405 does not say what")
	}
}

func TestPolicy(t *testing.T) {
	const rest = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src " +
		"'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
	for _, c := range []struct {
		frames []string
		// behind rest; "!" is an error
		want string
	}{
		{nil, ""},
		{[]string{"*"}, " *"},
		{
			[]string{"https://Hub.Example.org/", "http://localhost:8888"},
			" https://hub.example.org http://localhost:8888",
		},
		{[]string{"http://localhost:*", "https://*.example.org"}, " http://localhost:* https://*.example.org"},
		{[]string{"vscode-webview:"}, " vscode-webview:"},
		{[]string{"https://müller.example"}, " https://xn--mller-kva.example"},
		{[]string{"https://a.example; script-src *"}, "!"},
		{[]string{"https://a.example\r\nX: y"}, "!"},
		{[]string{"'none'"}, "!"},
		{[]string{"hub.example.org"}, "!"},
		{[]string{"https://hub.example.org/path"}, "!"},
		{[]string{"javascript://x"}, "!"},
		{[]string{"https://[::1]:80"}, "!"},
		{[]string{"https://*"}, "!"},
		{[]string{""}, "!"},
	} {
		got, err := contentPolicy(c.frames)
		switch {
		case c.want == "!":
			if err == nil || !strings.Contains(err.Error(), "--allow-frame") {
				t.Errorf("%q: %q, %v: want an error", c.frames, got, err)
			}
		case err != nil || got != rest+c.want:
			t.Errorf("%q: %q, %v", c.frames, got, err)
		}
	}
}

// COOP is a complaint of the browser's where it does not hold, and our tests of the interface fail on complaints.
func TestOpenerPolicy(t *testing.T) {
	s := listen(t, Options{
		Token: secret, Host: "0.0.0.0",
		AllowedHosts: []string{"https://nero.example", "plain.example"},
	})
	serve(t, s, http.HandlerFunc(echo))
	for host, want := range map[string]string{
		"localhost:$PORT": "same-origin", "nero.example": "same-origin",
		"plain.example": "", "192.0.2.1:$PORT": "",
	} {
		if got := ask(t, s, "GET", "/", host, auth).Header.Get("Cross-Origin-Opener-Policy"); got != want {
			t.Errorf("%s: %q, want %q", host, got, want)
		}
	}
}

func TestCookie(t *testing.T) {
	plain := listen(t, Options{Token: secret})
	base := listen(t, Options{Token: secret, BasePath: "/user/a%20b/"})
	proxy := listen(t, Options{
		Token: secret, AllowedHosts: []string{"https://nero.example", "plain.example"},
		AllowFrame: []string{"https://hub.example"},
	})
	for _, s := range []*Server{plain, base, proxy} {
		serve(t, s, http.HandlerFunc(echo))
	}
	port := strconv.Itoa(proxy.Port())
	frame := []string{page, "Sec-Fetch-Site: cross-site", "Sec-Fetch-Dest: iframe"}
	for _, c := range []struct {
		name    string
		s       *Server
		host    string
		headers []string
		want    string
	}{
		{"plain", plain, here, nil, "nero-" + strconv.Itoa(plain.Port()) + "=" + secret +
			"; Path=/; HttpOnly; SameSite=Strict"},
		{
			"base path", base, here, nil,
			base.gate.cookie + "=" + secret + "; Path=/user/a%20b/; HttpOnly; SameSite=Strict",
		},
		{"TLS of the proxy", proxy, "nero.example", nil, "__Host-nero-" + port + "=" + secret +
			"; Path=/; HttpOnly; Secure; SameSite=Strict"},
		{"no TLS", proxy, "plain.example", nil, "nero-" + port + "=" + secret + "; Path=/; HttpOnly; SameSite=Strict"},
		{"frame of another site", proxy, "nero.example", frame, "__Host-nero-" + port + "=" + secret +
			"; Path=/; HttpOnly; Secure; SameSite=None; Partitioned"},
		{
			"frame of the same site", proxy, "nero.example",
			[]string{"Sec-Fetch-Site: same-site", "Sec-Fetch-Dest: iframe"},
			"__Host-nero-" + port + "=" + secret +
				"; Path=/; HttpOnly; Secure; SameSite=Strict",
		},
		{
			"frame without TLS", proxy, "plain.example", frame,
			"nero-" + port + "=" + secret + "; Path=/; HttpOnly; SameSite=Strict",
		},
		{"frame that is not allowed", plain, here, frame, "nero-" + strconv.Itoa(plain.Port()) + "=" + secret +
			"; Path=/; HttpOnly; SameSite=Strict"},
	} {
		got := ask(t, c.s, "GET", "/?token="+secret, c.host, c.headers...)
		if have := got.Header.Get("Set-Cookie"); have != c.want {
			t.Errorf("%s: %s\nwant %s", c.name, have, c.want)
		}
		pair, _, _ := strings.Cut(got.Header.Get("Set-Cookie"), ";")
		if again := ask(t, c.s, "GET", "/api/x", c.host, "Cookie: "+pair); again.StatusCode != http.StatusOK {
			t.Errorf("%s: the cookie does not open: %d", c.name, again.StatusCode)
		}
	}
	if !strings.HasPrefix(base.gate.cookie, "nero-"+strconv.Itoa(base.Port())+"-") {
		t.Errorf("cookie %s of a server with a base path: expected another name than without", base.gate.cookie)
	}
}

// A browser that follows a link from another site does not send its cookie along, nor with what it is redirected to.
// The page then goes on by itself, once.
func TestLinkFromElsewhere(t *testing.T) {
	s := listen(t, Options{Token: secret})
	serve(t, s, http.HandlerFunc(echo))
	link := func(target string, headers ...string) answer {
		return ask(t, s, "GET", target, here, append(headers, page)...)
	}
	const script = "<script>"
	from := "Sec-Fetch-Site: cross-site"

	first := link("/run?a=%3C%22&token="+secret, from)
	if first.StatusCode != http.StatusOK || first.Header.Get("Set-Cookie") == "" ||
		!strings.Contains(first.body, `href="./run?a=%3C%22"`) || !strings.Contains(first.body, script) {
		t.Errorf("first visit: %d %v\n%s", first.StatusCode, first.Header, first.body)
	}
	// The digest of goOn, by: printf '%s' "$SCRIPT" | openssl dgst -sha256 -binary | base64
	if p := first.Header.Get("Content-Security-Policy"); !strings.Contains(p, "script-src 'sha256-"+goOnDigest+"';") ||
		strings.Contains(p, "script-src 'self'") {
		t.Errorf("policy of the page that goes on: %s", p)
	}
	// plain http to another machine
	if unknown := link("/run?token=" + secret); !strings.Contains(unknown.body, script) {
		t.Errorf("a browser that does not say where it comes from: %s", unknown.body)
	}

	later := link("/run?a=1", from)
	if later.StatusCode != http.StatusUnauthorized ||
		!strings.Contains(later.body, `href="./run?a=1&amp;once-more=1"`) || !strings.Contains(later.body, script) {
		t.Errorf("later visit: %d\n%s", later.StatusCode, later.body)
	}
	if again := link("/run?a=1&once-more=1",
		"Sec-Fetch-Site: same-origin"); again.StatusCode != http.StatusUnauthorized ||
		strings.Contains(again.body, script) {
		t.Errorf("second attempt: %d\n%s", again.StatusCode, again.body)
	}
	if again := link("/run?a=1&once-more=1", from); again.StatusCode != http.StatusUnauthorized ||
		strings.Contains(again.body, script) {
		t.Errorf("second attempt of a browser that does not say: %d\n%s", again.StatusCode, again.body)
	}
	if known := link("/run?a=1&once-more=1", "Sec-Fetch-Site: same-origin",
		rightCookie); known.StatusCode != http.StatusSeeOther || known.Header.Get("Location") != "./run?a=1" {
		t.Errorf("second attempt with the cookie: %d %v", known.StatusCode, known.Header)
	}
	if wrong := link("/?token=wrong", from); wrong.StatusCode != http.StatusUnauthorized ||
		strings.Contains(wrong.body, script) {
		t.Errorf("wrong token: %d\n%s", wrong.StatusCode, wrong.body)
	}
	if api := link("/api/v1/runs"); api.StatusCode != http.StatusUnauthorized || strings.Contains(api.body, "<") {
		t.Errorf("the API: %d\n%s", api.StatusCode, api.body)
	}
}

const goOnDigest = "OwDKhR5OvQNG4XH61MGamQjFaDJF5w2NMqJv1N0+UMM="

func TestRedirects(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /runs/{$}", echo)
	mux.HandleFunc("GET /relative", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", "other")
		w.WriteHeader(http.StatusSeeOther)
	})
	mux.HandleFunc("GET /away", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "https://paper.example/", http.StatusSeeOther)
	})
	mux.HandleFunc("GET /network", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", "//paper.example/")
		w.WriteHeader(http.StatusSeeOther)
	})
	for base, want := range map[string]string{"": "", "/proxy/8888/": "/proxy/8888", "/a b/": "/a%20b"} {
		s := listen(t, Options{BasePath: base})
		serve(t, s, mux)
		for _, prefix := range []string{"", strings.TrimSuffix(want, "/")} {
			if got := ask(t, s, "GET", prefix+"/runs", here).Header.Get("Location"); got != want+"/runs/" {
				t.Errorf("base path %q, %s/runs: goes to %q", base, prefix, got)
			}
			if got := ask(t, s, "GET", prefix+"/relative", here).Header.Get("Location"); got != "other" {
				t.Errorf("base path %q: relative goes to %q", base, got)
			}
			if got := ask(t, s, "GET", prefix+"/away", here).Header.Get("Location"); got != "https://paper.example/" {
				t.Errorf("base path %q: away goes to %q", base, got)
			}
			if got := ask(t, s, "GET", prefix+"/network", here).Header.Get("Location"); got != "//paper.example/" {
				t.Errorf("base path %q: network goes to %q", base, got)
			}
		}
	}
}

// journal collects log lines.
type journal struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.b.Write(p)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.b.String()
}

func (j *journal) logger(level slog.Level) *slog.Logger {
	return slog.New(slog.NewTextHandler(j, &slog.HandlerOptions{Level: level}))
}

func TestPanic(t *testing.T) {
	var log journal
	s := listen(t, Options{Token: secret, Log: log.logger(slog.LevelInfo)})
	serve(t, s, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/half":
			w.Header().Set("Content-Length", "1000")
			_, _ = io.WriteString(w, "half")
			_ = http.NewResponseController(w).Flush()
		case "/piece":
			_, _ = io.WriteString(w, "half")
			_ = http.NewResponseController(w).Flush()
		case "/abort":
			panic(http.ErrAbortHandler)
		}
		w.Header().Set("Content-Type", "application/x-safetensors")
		w.Header().Set("ETag", `"1"`)
		panic(fmt.Sprint("broken by ", r.Header))
	}))
	got := ask(t, s, "GET", "/whole?q=1", here, auth)
	if got.StatusCode != http.StatusInternalServerError || !strings.Contains(got.body, `"code":"internal"`) ||
		strings.Contains(got.body, "broken by") || got.Header.Get("Etag") != "" {
		t.Errorf("%d %v %s", got.StatusCode, got.Header, got.body)
	}
	if text := log.String(); !strings.Contains(text, "broken by") || !strings.Contains(text, "path=/whole") ||
		!strings.Contains(text, "guard_test.go") || strings.Contains(text, secret) ||
		!strings.Contains(text, "[token]") {
		t.Errorf("log: %s", text)
	}
	for _, path := range []string{"/half", "/piece", "/abort"} {
		if a, err := raw(t, s, "GET", "GET "+path+" HTTP/1.1\r\nHost: localhost:"+strconv.Itoa(s.Port())+"\r\n"+auth+
			"\r\n\r\n"); err == nil {
			t.Errorf("%s: %d %q looks whole", path, a.StatusCode, a.body)
		}
	}
	if n := strings.Count(log.String(), "level=ERROR"); n != 3 {
		t.Errorf("%d errors in the log, want 3: %s", n, log.String())
	}
}

func TestAccessLog(t *testing.T) {
	var log, quiet journal
	for j, level := range map[*journal]slog.Level{&log: slog.LevelDebug, &quiet: slog.LevelInfo} {
		s := listen(t, Options{Token: secret, Log: j.logger(level)})
		serve(t, s, http.HandlerFunc(echo))
		ask(t, s, "GET", "/a?token="+secret, here)
		ask(t, s, "GET", "/api/runs?x=private", here, auth)
	}
	text := log.String()
	for _, want := range []string{
		"method=GET path=/a status=303",
		"method=GET path=/api/runs status=200 bytes=25 took=",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, secret) || strings.Contains(text, "private") || quiet.String() != "" {
		t.Errorf("too much in the log:\n%s%s", text, quiet.String())
	}
}

// What the guard costs a request that passes with a token in a cookie.
func BenchmarkHandler(b *testing.B) {
	s, err := Listen(b.Context(), Options{Now: time.Now, PortSet: true, Token: secret})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	h := s.Handler(http.HandlerFunc(func(w http.ResponseWriter,
		_ *http.Request,
	) {
		w.WriteHeader(http.StatusNoContent)
	}))
	r := httptest.NewRequestWithContext(b.Context(), http.MethodGet, "/api/v1/runs", nil)
	r.Host = "127.0.0.1:" + strconv.Itoa(s.Port())
	r.Header.Set("Cookie", s.gate.cookie+"="+secret)
	b.ReportAllocs()
	for b.Loop() {
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, r); w.Code != http.StatusNoContent {
			b.Fatal(w.Code)
		}
	}
}
