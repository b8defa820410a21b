package guard

import (
	"fmt"
	"net/http"
	"net/netip"
	"regexp"
	"strings"
)

// contentPolicy is the Content-Security-Policy of every page: scripts and styles are our own files, nothing is fetched
// from elsewhere, and only we and the given origins show the page in a frame.
func contentPolicy(frames []string) (string, error) {
	ancestors := []string{"'self'"}
	for _, entry := range frames {
		source, err := frameSource(entry)
		if err != nil {
			return "", err
		}
		ancestors = append(ancestors, source)
	}
	return "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; " +
		"base-uri 'none'; form-action 'none'; frame-ancestors " + strings.Join(ancestors, " "), nil
}

var schemeSource = regexp.MustCompile(`^[a-z][a-z0-9+.-]*:$`)

// frameSource reads an entry of --allow-frame and writes it for the content policy. Nothing else may get into that
// header.
func frameSource(entry string) (string, error) {
	fail := func(why string) (string, error) {
		return "", fmt.Errorf(
			"guard: --allow-frame %q: %s: expected an origin such as https://name or http://localhost:8888, a scheme "+
				"such as vscode-webview:, or * for all", entry, why)
	}
	s := strings.TrimSpace(entry)
	if s == "*" || schemeSource.MatchString(s) {
		return s, nil
	}
	scheme, host, ok := strings.Cut(s, "://")
	if !ok {
		return fail("it has no scheme")
	}
	scheme, host = strings.ToLower(scheme), strings.TrimSuffix(host, "/")
	if scheme != "http" && scheme != "https" {
		return fail("the scheme of an origin is http or https")
	}
	host, under := strings.CutPrefix(host, "*.")
	host, anyPort := strings.CutSuffix(host, ":*")
	ascii, err := toASCII(host)
	if err != nil {
		return fail("that is no host name")
	}
	h, ok := parseHost(ascii)
	if !ok || anyPort && h.port != "" {
		return fail("that is no host name")
	}
	if a, err := netip.ParseAddr(h.name); err == nil && (a.Is6() || under) {
		return fail("browsers understand no address with colons here: use its name")
	}
	source := scheme + "://"
	if under {
		source += "*."
	}
	source += h.name
	switch {
	case anyPort:
		source += ":*"
	case h.port != "":
		source += ":" + h.port
	}
	return source, nil
}

// setHeaders sets what every answer says. Handlers may replace what they know better, such as Cache-Control.
func (s *Server) setHeaders(h http.Header, host hostPort) {
	h.Set("Content-Security-Policy", s.policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Permissions-Policy",
		"camera=(), display-capture=(), geolocation=(), microphone=(), midi=(), payment=(), usb=()")
	h.Set("Cache-Control", "no-cache")
	// Over plain http to another machine browsers ignore the next one, and complain.
	if s.tls != nil || s.hosts.isSecure(host) || isLoopback(host.name) {
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
	}
}

func isLoopback(name string) bool {
	addr, err := netip.ParseAddr(name)
	return name == "localhost" || err == nil && addr.IsLoopback()
}
