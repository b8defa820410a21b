package remote

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Endpoint is a model on a server.
type Endpoint struct {
	// grpc, grpcs, http or https; or live, for a function of the program that started this one, which has a name only
	Scheme string
	// name or address, without the port
	Host string
	// 1 to 65535
	Port int
	// http and https: what comes before /v2 in every path, escaped; "" or begins with /
	Prefix string
	// its name on the server
	Model string
}

// Parse reads SCHEME://HOST:PORT/MODEL. For http and https the port may be left out, and MODEL may come after a prefix,
// or be written as v2/models/MODEL, as the protocol does.
func Parse(text string) (Endpoint, error) {
	if e, ok, err := parseLive(text); ok {
		return e, err
	}
	const want = "expected SCHEME://HOST:PORT/MODEL with scheme grpc, grpcs, http or https, such as " +
		"grpc://127.0.0.1:9000/digits"
	u, err := url.Parse(text)
	if err != nil { // its text shows the URL, where a password may be
		return Endpoint{}, errors.New("endpoint: not a URL; " + want)
	}
	e := Endpoint{Scheme: strings.ToLower(u.Scheme), Host: u.Hostname()}
	switch {
	case !slices.Contains([]string{"grpc", "grpcs", "http", "https"}, e.Scheme):
		return Endpoint{}, fmt.Errorf("endpoint %s: the scheme is %s; %s", quote(u.Redacted()), quote(e.Scheme), want)
	case u.User != nil:
		return Endpoint{}, fmt.Errorf(
			"endpoint %s: a URL is no place for passwords; put a token into an environment variable and name it with "+
				"token_env", quote(u.Redacted()))
	case u.RawQuery != "" || u.Fragment != "" || u.Opaque != "":
		return Endpoint{}, fmt.Errorf("endpoint %s: neither ? nor # belongs there; %s", quote(text), want)
	case e.Host == "":
		return Endpoint{}, fmt.Errorf("endpoint %s: no host; %s", quote(text), want)
	}
	switch port := u.Port(); {
	case port != "":
		if e.Port, err = strconv.Atoi(port); err != nil || e.Port < 1 || e.Port > 65535 {
			return Endpoint{}, fmt.Errorf("endpoint %s: the port is %s; expected 1 to 65535", quote(text), quote(port))
		}
	case e.Scheme == "http":
		e.Port = 80
	case e.Scheme == "https":
		e.Port = 443
	default:
		return Endpoint{}, fmt.Errorf(
			"endpoint %s: no port; gRPC servers have no usual one (MLServer listens at 8081, Triton at 8001)",
			quote(text))
	}
	path := strings.Trim(u.EscapedPath(), "/")
	if before, after, ok := strings.Cut("/"+path, "/v2/models/"); ok {
		path = strings.Trim(before+"/"+strings.TrimSuffix(after, "/infer"), "/")
	}
	if i := strings.LastIndex(path, "/"); i >= 0 {
		e.Prefix, path = "/"+path[:i], path[i+1:]
	}
	if e.Model, err = url.PathUnescape(path); err != nil {
		return Endpoint{}, fmt.Errorf("endpoint %s: %s is not a name: %w", quote(text), quote(path), err)
	}
	switch {
	case e.Model == "":
		return Endpoint{}, fmt.Errorf("endpoint %s: no model; %s", quote(text), want)
	case e.Prefix != "" && e.isGRPC():
		return Endpoint{}, fmt.Errorf(
			"endpoint %s: the path has more than the name of a model, and gRPC knows no paths; %s", quote(text), want)
	}
	return e, nil
}

// String is the endpoint as a URL that [Parse] reads back.
func (e Endpoint) String() string {
	if e.Scheme == liveScheme {
		return liveScheme + "://" + e.Model
	}
	return e.Scheme + "://" + e.address() + e.Prefix + "/" + url.PathEscape(e.Model)
}

func (e Endpoint) address() string { return net.JoinHostPort(e.Host, strconv.Itoa(e.Port)) }
func (e Endpoint) isGRPC() bool    { return e.Scheme == "grpc" || e.Scheme == "grpcs" }
func (e Endpoint) encrypted() bool { return e.Scheme == "grpcs" || e.Scheme == "https" }

// Local tells whether the server is on this machine, by its name alone.
func (e Endpoint) Local() bool {
	if strings.EqualFold(e.Host, "localhost") {
		return true
	}
	a, err := netip.ParseAddr(e.Host)
	return err == nil && a.IsLoopback()
}

// quote shows a text that somebody else wrote: on one line, and no longer than is good for a message.
func quote(s string) string { return strconv.QuoteToGraphic(clip(s)) }

// clip shortens a text for a message.
func clip(s string) string {
	const most = 120
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
