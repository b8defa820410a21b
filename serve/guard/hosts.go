package guard

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"strconv"
	"strings"
)

// hostPort is what a Host header says. name is in lower case and without the dot of the root, or the canonical text of
// an address; port is empty if it was left out.
type hostPort struct{ name, port string }

// parseHost reads a Host header. It is strict: what a browser would not send is not understood, and so not allowed.
func parseHost(s string) (hostPort, bool) {
	if rest, ok := strings.CutPrefix(s, "["); ok {
		text, port, ok := strings.Cut(rest, "]")
		if !ok || port != "" && port[0] != ':' {
			return hostPort{}, false
		}
		addr, err := netip.ParseAddr(text)
		if err != nil || !addr.Is6() || addr.Zone() != "" {
			return hostPort{}, false
		}
		port, ok = parsePort(port)
		return hostPort{addr.Unmap().String(), port}, ok
	}
	name, port := s, ""
	if i := strings.IndexByte(s, ':'); i >= 0 {
		name, port = s[:i], s[i:]
	}
	port, ok := parsePort(port)
	name, named := parseName(name)
	return hostPort{name, port}, ok && named
}

// parsePort reads "" or ":1" to ":65535".
func parsePort(s string) (string, bool) {
	if s == "" {
		return "", true
	}
	n, err := strconv.ParseUint(s[1:], 10, 16)
	return s[1:], err == nil && n > 0 && s[1] != '0'
}

// parseName reads a host name or an address of four numbers.
func parseName(s string) (string, bool) {
	if len(s) > 1 {
		s = strings.TrimSuffix(s, ".")
	}
	if len(s) == 0 || len(s) > 253 {
		return "", false
	}
	if addr, err := netip.ParseAddr(s); err == nil {
		return addr.String(), addr.Is4()
	}
	s = strings.ToLower(s)
	last := ""
	for label := range strings.SplitSeq(s, ".") {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
			return "", false
		}
		for i := range len(label) {
			if c := label[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && c != '_' {
				return "", false
			}
		}
		last = label
	}
	// A name that ends in a number is another way to write an address, which browsers rewrite before they send it.
	if _, err := strconv.ParseUint(last, 0, 64); err == nil || strings.Trim(last, "0123456789") == "" {
		return "", false
	}
	return s, true
}

// hostRule is one entry of the list.
type hostRule struct {
	// of hostPort; with below, every name that ends in a dot and this
	name string
	// "" is any
	port string
	kind hostKind
}

type hostKind int

const (
	exactly hostKind = iota
	below
	anyAddress // every address in numbers: no name has to be trusted to find it
)

// hostList is which hosts requests may be addressed to.
type hostList struct {
	rules []hostRule
	// hosts that a proxy serves over TLS
	secure map[hostPort]bool
	// of the entries that are origins, as they were given
	origins []string
	// further addresses of this machine, for people
	others []string
}

// has says whether a Host header names this server.
func (l *hostList) has(h hostPort) bool {
	for _, r := range l.rules {
		// Without a port it is that of the scheme, which only the browser and the proxy know.
		if r.port != "" && r.port != h.port && (h.port != "" || r.port != "80" && r.port != "443") {
			continue
		}
		switch r.kind {
		case exactly:
			if h.name == r.name {
				return true
			}
		case below:
			if strings.HasSuffix(h.name, "."+r.name) {
				return true
			}
		case anyAddress:
			if _, err := netip.ParseAddr(h.name); err == nil {
				return true
			}
		}
	}
	return false
}

// allow adds the entries of --allowed-host. Those that are origins are trusted as such.
func (l *hostList) allow(entries []string, origins *http.CrossOriginProtection) error {
	for _, entry := range entries {
		r, scheme, err := parseAllowed(entry)
		if err != nil {
			return err
		}
		l.rules = append(l.rules, r)
		if scheme == "" {
			continue
		}
		host := r.name
		if strings.Contains(host, ":") {
			host = "[" + host + "]"
		}
		origin := scheme + "://" + host
		if r.port != schemePort(scheme) {
			origin += ":" + r.port
		}
		if err := origins.AddTrustedOrigin(origin); err != nil {
			return fmt.Errorf("guard: --allowed-host %q: %w", entry, err)
		}
		l.origins = append(l.origins, origin)
		if scheme == "https" {
			if l.secure == nil {
				l.secure = map[hostPort]bool{}
			}
			l.secure[hostPort{r.name, r.port}] = true
		}
	}
	return nil
}

// isSecure says whether a proxy serves the host over TLS.
func (l *hostList) isSecure(h hostPort) bool {
	if h.port == "" {
		h.port = "443"
	}
	return l.secure[h]
}

// own adds the names that the server goes by and returns the one to print. wanted is the host that was asked for.
func (l *hostList) own(wanted string, addr *net.TCPAddr) string {
	port := strconv.Itoa(addr.Port)
	add := func(name string) {
		if name, ok := canonical(name); ok {
			l.rules = append(l.rules, hostRule{name: name, port: port})
		}
	}
	add("localhost")
	add(loopback)
	add(loopback6)
	ip, _ := netip.AddrFromSlice(addr.IP)
	ip = ip.Unmap()
	if !ip.IsUnspecified() {
		add(ip.String())
		add(wanted)
		if wanted = bareHost(wanted); wanted != "" && addr.Zone == "" {
			return wanted
		}
		return ip.String()
	}
	l.rules = append(l.rules, hostRule{kind: anyAddress, port: port})
	if name, err := os.Hostname(); err == nil && name != "" {
		add(name)
		if _, ok := canonical(name); ok && !strings.EqualFold(name, "localhost") {
			l.others = append(l.others, name)
		}
	}
	if addrs, err := net.InterfaceAddrs(); err == nil {
		for _, a := range addrs {
			if n, ok := a.(*net.IPNet); ok && n.IP.IsGlobalUnicast() && (ip.Is6() || n.IP.To4() != nil) {
				l.others = append(l.others, n.IP.String())
			}
		}
	}
	return loopback
}

// canonical is a host name or an address as [parseHost] gives it.
func canonical(name string) (string, bool) {
	name = bareHost(name)
	if addr, err := netip.ParseAddr(name); err == nil {
		return addr.WithZone("").Unmap().String(), true
	}
	ascii, err := toASCII(name)
	if err != nil {
		return "", false
	}
	return parseName(ascii)
}

// parseAllowed reads an entry of --allowed-host. scheme is that of an origin, or empty.
func parseAllowed(entry string) (r hostRule, scheme string, err error) {
	fail := func(why string) (hostRule, string, error) {
		return hostRule{}, "",
			fmt.Errorf("guard: --allowed-host %q: %s: expected name, name:port, *.example.org, or an origin such as "+
				"https://name", entry, why)
	}
	rest := strings.TrimSpace(entry)
	if before, after, ok := strings.Cut(rest, "://"); ok {
		scheme, rest = strings.ToLower(before), strings.TrimSuffix(after, "/")
		if scheme != "http" && scheme != "https" {
			return fail("the scheme of an origin is http or https")
		}
	}
	if after, ok := strings.CutPrefix(rest, "*."); ok {
		r.kind, rest = below, after
		if scheme != "" {
			return fail("an origin is one name")
		}
	} else if rest == "*" {
		return fail("every name would let in every page on the web")
	}
	if addr, err := netip.ParseAddr(rest); err == nil && addr.Is6() {
		rest = "[" + rest + "]"
	}
	ascii, err := toASCII(rest)
	if err != nil {
		return fail("that is no host name")
	}
	h, ok := parseHost(ascii)
	if !ok {
		return fail("that is no host name")
	}
	r.name, r.port = h.name, h.port
	if r.kind == below {
		if _, err := netip.ParseAddr(r.name); err == nil {
			return fail("there are no names below an address")
		}
		if !strings.Contains(r.name, ".") && r.name != "localhost" {
			return fail("anybody could have a name below it")
		}
	}
	if r.port == "" && scheme != "" {
		r.port = schemePort(scheme)
	}
	return r, scheme, nil
}

func schemePort(scheme string) string {
	if scheme == "https" {
		return "443"
	}
	return "80"
}

// toASCII writes a host name in any script, with or without a port, as it travels in a Host header (IDNA). net/http
// knows how and shows it only in what it writes.
func toASCII(host string) (string, error) {
	host = strings.ToLower(host)
	plain := true
	for i := range len(host) {
		if host[i] <= ' ' || host[i] == 0x7f {
			return "", fmt.Errorf("guard: %q is no host name", host)
		}
		plain = plain && host[i] < 0x80
	}
	if plain {
		return host, nil
	}
	r := &http.Request{Method: http.MethodGet, URL: &url.URL{Path: "/"}, Host: host}
	var b bytes.Buffer
	if err := r.Write(&b); err != nil {
		return "", fmt.Errorf("guard: host name %q: %w", host, err)
	}
	back, err := http.ReadRequest(bufio.NewReader(&b))
	if err != nil {
		return "", fmt.Errorf("guard: host name %q: %w", host, err)
	}
	return back.Host, nil
}
