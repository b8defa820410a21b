package guard

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

const (
	tokenBytes = 24 // 192 bits
	tokenChars = 32 // that many in base64
	// tokenKey is the part of an address that holds the token.
	tokenKey = "token"
	// onceMoreKey is the part of an address that says that the page has sent itself here; see onceMore.
	onceMoreKey = "once-more"
)

// gate knows the token. Its zero value lets everybody in.
type gate struct {
	token string
	sum   [sha256.Size]byte
	// its name, without prefix
	cookie string
	// of the cookie: the base path, escaped
	path string
}

func newGate(o Options, port int, path string) (gate, error) {
	g := gate{token: o.Token, path: path}
	if g.token == "" {
		random := o.Rand
		if random == nil {
			random = rand.Reader
		}
		b := make([]byte, tokenBytes)
		if _, err := io.ReadFull(random, b); err != nil {
			return gate{}, fmt.Errorf("guard: making a token: %w", err)
		}
		g.token = base64.RawURLEncoding.EncodeToString(b)
	}
	g.sum = sha256.Sum256([]byte(g.token))
	// Cookies know no ports, so two servers on one host need two names, also behind one proxy.
	g.cookie = "nero-" + strconv.Itoa(port)
	if path != "/" {
		sum := sha256.Sum256([]byte(path))
		g.cookie += "-" + hex.EncodeToString(sum[:4])
	}
	return g, nil
}

func checkToken(token string) error {
	if len(token) < tokenChars {
		return fmt.Errorf("guard: the token has %d characters: expected at least %d, which nobody can guess; leave "+
			"it out to have one made", len(token), tokenChars)
	}
	for i := range len(token) {
		c := token[i]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-' && c != '_' {
			return errors.New("guard: the token has a character other than A-Z a-z 0-9 - _")
		}
	}
	return nil
}

// is compares in a time that depends on neither text: digests of one length are compared, all of them to the end.
func (g *gate) is(token string) bool {
	sum := sha256.Sum256([]byte(token))
	return subtle.ConstantTimeCompare(sum[:], g.sum[:]) == 1
}

// redact takes the token out of a text for the log.
func (g *gate) redact(text string) string {
	if g.token == "" {
		return text
	}
	return strings.ReplaceAll(text, g.token, "[token]")
}

// cookieName is the name under which the cookie is kept. The prefixes have the browser refuse one that another host or
// an unencrypted page has set.
func (g *gate) cookieName(secure bool) string {
	switch {
	case secure && g.path == "/":
		return "__Host-" + g.cookie
	case secure:
		return "__Secure-" + g.cookie
	}
	return g.cookie
}

// hasCookie says whether the request shows the token in a cookie.
func (g *gate) hasCookie(r *http.Request) bool {
	ok := false
	for _, secure := range []bool{false, true} {
		for _, c := range r.CookiesNamed(g.cookieName(secure)) {
			ok = g.is(c.Value) || ok
		}
	}
	return ok
}

// bearer is the token of the Authorization header; shown says that there is such a header.
func bearer(r *http.Request) (token string, shown bool) {
	values := r.Header.Values("Authorization")
	if len(values) == 0 {
		return "", false
	}
	scheme, token, _ := strings.Cut(values[0], " ")
	if len(values) > 1 || !strings.EqualFold(scheme, "Bearer") {
		return "", true
	}
	return strings.TrimLeft(token, " "), true
}

// query is the query of an address, with our own parts taken out.
type query struct {
	token string
	// there was a token, or a mark of onceMore
	ours     bool
	onceMore bool
	// the other parts, as they were
	rest string
}

func queryOf(u *url.URL) query {
	var q query
	var rest []string
	for part := range strings.SplitSeq(u.RawQuery, "&") {
		key, value, _ := strings.Cut(part, "=")
		if k, err := url.QueryUnescape(key); err == nil {
			key = k
		}
		switch {
		case key == tokenKey:
			if v, err := url.QueryUnescape(value); err == nil {
				q.token = v
			}
			q.ours = true
		case key == onceMoreKey:
			q.ours, q.onceMore = true, true
		case part != "":
			rest = append(rest, part)
		}
	}
	q.rest = strings.Join(rest, "&")
	return q
}

// enter lets the request in (nil) or says what answers it instead.
func (s *Server) enter(r *http.Request, h hostPort, api bool) http.Handler {
	g := &s.gate
	if g.token == "" {
		return nil
	}
	if token, shown := bearer(r); shown {
		if g.is(token) {
			return nil
		}
		return s.stranger("The token in the Authorization header is not the one of this server.", true)
	}
	visit := !api && (r.Method == http.MethodGet || r.Method == http.MethodHead)
	query := queryOf(r.URL)
	if visit && g.is(query.token) {
		return s.welcome(r, h, query)
	}
	if g.hasCookie(r) {
		if visit && query.ours { // an old address in a browser that is known here
			return redirect(s.here(r, query.rest))
		}
		return nil
	}
	why := "This server asks for a token."
	switch {
	case query.token != "" && api:
		why = "The API does not take the token from the address, where it would end up in logs."
	case query.token != "":
		why = "The token in the address is not the one of this server: without a chosen one, each start makes a new " +
			"one."
	}
	return s.stranger(why, api)
}

// stranger is the answer to who shows no token, or a wrong one.
func (s *Server) stranger(why string, api bool) http.Handler {
	p := &Problem{
		Status: http.StatusUnauthorized, Code: "token", Title: "A token is needed", Detail: why,
		Remedy: "Open the address that nero printed when it started; it ends in ?" + tokenKey +
			"= and the token. A program sends the header Authorization: Bearer and the token.",
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("WWW-Authenticate", `Bearer realm="nero"`)
		if api || !wantsPage(r) {
			p.ServeHTTP(w, r)
			return
		}
		if s.framed {
			p.Remedy += " In a frame of another site a browser keeps the token only if nero is served over https."
		}
		// Who follows a link from another site is asked for a token although the browser has one: it does not send a
		// Strict cookie along. It does when the page itself goes to the address, so the page does, once.
		query := queryOf(r.URL)
		if query.ours || staysHome(r) {
			p.page(w, r, "")
			return
		}
		rest := onceMoreKey + "=1"
		if query.rest != "" {
			rest = query.rest + "&" + rest
		}
		s.pageThatGoes(w, r, p, "Try again", s.here(r, rest))
	})
}

// welcome is the first visit with the token: it leaves a cookie and goes on to the address without the token.
func (s *Server) welcome(r *http.Request, h hostPort, q query) http.Handler {
	secure := s.tls != nil || s.hosts.isSecure(h)
	c := &http.Cookie{
		Name: s.gate.cookieName(secure), Value: s.gate.token, Path: s.gate.path,
		HttpOnly: true, Secure: secure, SameSite: http.SameSiteStrictMode,
	}
	if s.framed && secure && r.Header.Get("Sec-Fetch-Site") == "cross-site" &&
		r.Header.Get("Sec-Fetch-Dest") == "iframe" {
		// In a frame of another site no Strict cookie is kept. This one is kept for frames on that site alone.
		c.SameSite, c.Partitioned = http.SameSiteNoneMode, true
	}
	to := s.here(r, q.rest)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.SetCookie(w, c)
		if staysHome(r) || !wantsPage(r) {
			redirect(to).ServeHTTP(w, r)
			return
		}
		// A redirect still counts as coming from the other site, and would not carry the cookie that was just left.
		s.pageThatGoes(w, r, &Problem{Status: http.StatusOK, Code: "welcome", Title: "Welcome"}, "Continue", to)
	})
}

// staysHome says whether the browser sends a Strict cookie with what follows from this request. Over plain http to
// another machine it does not say where the request came from.
func staysHome(r *http.Request) bool {
	switch r.Header.Get("Sec-Fetch-Site") {
	case "none", "same-origin", "same-site":
		return true
	}
	return false
}

// goOn is the script of the pages that go on to another address. It keeps the part after #, which holds the state of
// the interface and never reaches the server.
const goOn = `location.replace(document.getElementById("on").href+location.hash)`

// pageThatGoes shows a problem with a link to an address, and follows the link by itself.
func (s *Server) pageThatGoes(w http.ResponseWriter, r *http.Request, p *Problem, text, to string) {
	sum := sha256.Sum256([]byte(goOn))
	w.Header().Set("Content-Security-Policy", strings.Replace(s.policy, "script-src 'self'",
		"script-src 'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'", 1))
	p.page(w, r, fmt.Sprintf("<p><a id=\"on\" href=\"%s\">%s</a></p>\n<script>%s</script>\n", html.EscapeString(to),
		text, goOn))
}

// here is the address of the request with another query, as the browser has to be told. Without a base path it is
// relative, so that it is right behind a proxy too that nobody told us of.
func (s *Server) here(r *http.Request, query string) string {
	to := url.URL{Path: r.URL.Path, RawQuery: query}
	if s.base != "/" {
		to.Path = s.base + r.URL.Path[1:]
		return to.String()
	}
	last := to.Path[strings.LastIndexByte(to.Path, '/')+1:]
	to.Path = ""
	return "./" + url.PathEscape(last) + to.String()
}

// redirect goes to an address without letting anybody keep that answer.
func redirect(to string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", to)
		w.Header().Set("Cache-Control", "no-store")
		w.WriteHeader(http.StatusSeeOther)
	})
}
