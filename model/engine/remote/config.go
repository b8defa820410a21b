package remote

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Config says how to reach a model. Zero values are the defaults.
type Config struct {
	// URL is the endpoint; see [Parse].
	URL string
	// Command, in place of URL, is a program of this machine and its arguments, and Dir the folder that it runs in; see
	// package child. Workers is how many of it run at once; default 1. Of the other fields only Timeout, Concurrency,
	// which is what the workers take at once by default, and MaxMessage are its own.
	Command []string
	Dir     string
	Workers int
	// Live is the way to the program that started this one, for endpoints live://NAME; nil where there is none. Of the
	// other fields only Timeout, which has no default then, Concurrency and MaxMessage are theirs.
	Live Live
	// Version of the model; "" for the one that the server chooses.
	Version string
	// Header goes along with every call: tokens and the like. It is sent unencrypted only to this machine, or if
	// Insecure is set.
	Header http.Header
	// CA are the certificates to trust, PEM; nil for those of the system.
	CA []byte
	// Insecure accepts any certificate, and sends Header unencrypted where the scheme is grpc or http.
	Insecure bool
	// Timeout is the time that one call may take, repetitions not counted; below 0 for any time. Default 60 s, and for
	// functions of the program that started this one any time.
	Timeout time.Duration
	// Retry says how calls are repeated.
	Retry Retry
	// Concurrency is how many calls are under way at once; further ones wait. Default 4.
	Concurrency int
	// MaxMessage is the length of the longest message, in bytes, in either direction. Default 512 MiB. An answer whose
	// length the metadata fixes may have no more than that takes.
	MaxMessage int
	// JSON sends numbers over HTTP as JSON without asking whether the server takes binary tensors. JSON has neither NaN
	// nor infinity: an input that holds one is refused; in an answer null stands for NaN.
	JSON bool
}

// Retry says how often calls are repeated after errors that may heal, and how long to wait in between: Base before the
// second try, then twice as long each time, at most Max; of each wait the second half is multiplied by Jitter. A wait
// that the server asks for (Retry-After) takes its place.
type Retry struct {
	// in all; default 5
	Attempts int
	// defaults 200 ms and 5 s
	Base, Max time.Duration
	// longest wait that a server may ask for; default 60 s
	Patience time.Duration
	// Jitter gives numbers in [0, 1), so that clients that failed together do not come back together; nil for none.
	Jitter func() float64
	// Wait waits, or returns the error of the context that ended meanwhile; nil for a timer.
	Wait func(context.Context, time.Duration) error
}

func (c Config) withDefaults() Config {
	def := func(d *time.Duration, v time.Duration) {
		if *d <= 0 {
			*d = v
		}
	}
	usual := 60 * time.Second
	if strings.HasPrefix(c.URL, liveScheme+"://") {
		usual = -1 // who waits sees it wait, and can interrupt it
	}
	c.Timeout = cmp.Or(c.Timeout, usual)
	def(&c.Retry.Base, 200*time.Millisecond)
	def(&c.Retry.Max, 5*time.Second)
	def(&c.Retry.Patience, 60*time.Second)
	if c.Retry.Attempts <= 0 {
		c.Retry.Attempts = 5
	}
	if c.Retry.Wait == nil {
		c.Retry.Wait = wait
	}
	c.Workers = max(c.Workers, 1)
	if c.Concurrency <= 0 {
		c.Concurrency = 4
		if c.Command != nil {
			c.Concurrency = mostUnderWay // the programs say how many they take
		}
	}
	if c.MaxMessage <= 0 {
		c.MaxMessage = 512 << 20
	}
	c.Header = c.Header.Clone()
	return c
}

// wait sleeps unless the context ends first.
func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// check refuses what cannot work or would give secrets away.
func (c Config) check(at Endpoint) error {
	for name, values := range c.Header {
		for _, v := range values {
			if !isToken(name) || strings.ContainsFunc(v, func(r rune) bool { return r < ' ' && r != '\t' || r > '~' }) {
				return fmt.Errorf("the header %s cannot be sent: its name or its value has characters that no header "+
					"may have", quote(name))
			}
		}
	}
	if len(c.Header) > 0 && !at.encrypted() && !at.Local() && !c.Insecure {
		return fmt.Errorf("a token or header would travel unencrypted; use %ss://, or say insecure: true if the "+
			"network between is safe", at.Scheme)
	}
	return nil
}

// isToken tells whether s can be the name of a header (RFC 9110, section 5.6.2).
func isToken(s string) bool {
	return s != "" && strings.Trim(s,
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!#$%&'*+-.^_`|~") == ""
}

// tls is the configuration of the encrypted schemes.
func (c Config) tls() (*tls.Config, error) {
	t := &tls.Config{
		MinVersion:         tls.VersionTLS12,
		InsecureSkipVerify: c.Insecure,
	} //nolint:gosec // said by the user, and documented
	if c.CA != nil {
		t.RootCAs = x509.NewCertPool()
		if !t.RootCAs.AppendCertsFromPEM(c.CA) {
			return nil, errors.New("the file of ca holds no certificate; expected PEM, -----BEGIN CERTIFICATE-----")
		}
	}
	return t, nil
}

// Headers reads the text of an environment variable with headers, one "Name: value" a line. Errors do not repeat
// values.
func Headers(text string) (http.Header, error) {
	h := http.Header{}
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		name, value, ok := strings.Cut(line, ":")
		if name = strings.TrimSpace(name); !ok || !isToken(name) {
			return nil, fmt.Errorf("line %d: expected Name: value", i+1)
		}
		h.Add(name, strings.TrimSpace(value))
	}
	return h, nil
}

// leastPart is how many characters of a secret, from its beginning, are as secret as the whole.
const leastPart = 8

// hide takes out of a text what was sent as a secret, since servers may repeat it: the whole, and what is left of it
// where a server or a message cut it short, if that is at least leastPart characters.
func (c Config) hide(text string) string {
	type secret struct {
		text string
		// how much of it, from its beginning, is hidden
		least int
	}
	var secrets []secret
	add := func(s string, least int) {
		if s = strings.TrimSpace(s); len(s) < 4 {
			return
		}
		// As it is, and as servers and messages write it inside of JSON, Go strings and URLs.
		q := strconv.QuoteToGraphic(s)
		written := []string{s, q[1 : len(q)-1], url.QueryEscape(s), url.PathEscape(s)}
		if b, err := json.Marshal(s); err == nil {
			written = append(written, string(b[1:len(b)-1]))
		}
		for _, w := range written {
			secrets = append(secrets, secret{w, min(least, len(w))})
		}
	}
	for _, values := range c.Header {
		for _, v := range values {
			v = strings.TrimSpace(v)
			if scheme, token, ok := strings.Cut(v, " "); ok { // "Bearer" is no secret
				add(v, len(scheme)+1+leastPart)
				add(token, leastPart)
			} else {
				add(v, leastPart)
			}
		}
	}
	var out strings.Builder
	for len(text) > 0 {
		n := 0 // of the longest that begins here
		for _, s := range secrets {
			if k := common(text, s.text); k >= s.least {
				n = max(n, k)
			}
		}
		if n > 0 {
			out.WriteString("[hidden]")
		} else {
			n = 1
			out.WriteByte(text[0])
		}
		text = text[n:]
	}
	return out.String()
}

// common is how many bytes two texts begin with alike.
func common(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// clip shortens what a server said for a message. Secrets go first: of one that is cut in two, hide may not know the
// rest.
func (c Config) clip(s string) string {
	return clip(c.hide(s[:min(len(s), mostSaid)]))
}

// line is clip for a text of many lines, which become one.
func (c Config) line(s string) string {
	return clip(strings.Join(strings.Fields(c.hide(s[:min(len(s), mostSaid)])), " "))
}

// mostSaid is how much of an answer is looked through for a message, which shows far less: an answer may have any
// length.
const mostSaid = 64 << 10

// start is as much of an answer as is looked through for a message.
func start(b []byte) string { return string(b[:min(len(b), mostSaid)]) }

// quote shows what a server said, on one line, without secrets, and no longer than is good for a message.
func (c Config) quote(s string) string { return strconv.QuoteToGraphic(c.clip(s)) }

// certificate explains why a server's certificate, or its way of encrypting, is refused. It returns nil for any other
// error.
func certificate(err error, at Endpoint) error {
	var invalid x509.CertificateInvalidError
	var host x509.HostnameError
	var unknown x509.UnknownAuthorityError
	var record tls.RecordHeaderError
	var alert tls.AlertError
	plain := strings.TrimSuffix(at.Scheme, "s") + "://"
	switch {
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired && invalid.Cert != nil:
		return failed("its certificate is valid from %s to %s only; renew it on the server, or set the clock of this "+
			"machine",
			invalid.Cert.NotBefore.UTC().Format("2006-01-02 15:04"),
			invalid.Cert.NotAfter.UTC().Format("2006-01-02 15:04 MST"))
	case errors.As(err, &invalid):
		return failed("its certificate is not valid: %s", clip(invalid.Error()))
	case errors.As(err, &host):
		return failed("its certificate is not for %s: %s; reach the server by a name that its certificate has",
			quote(at.Host), clip(host.Error()))
	case errors.As(err, &unknown):
		return failed("its certificate is signed by nobody whom this machine trusts; name the file of the signer's " +
			"certificate with ca: FILE.pem")
	case errors.As(err, &record):
		return failed("it does not encrypt; if that is meant, use %s", plain)
	case errors.As(err, &alert):
		return failed("it refuses the encrypted connection: %s", clip(alert.Error()))
	default:
		return nil
	}
}
