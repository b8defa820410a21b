package guard

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

// preset opens servers as a person does who gives no port.
func preset(t *testing.T) *Server {
	t.Helper()
	s, err := Listen(t.Context(), Options{Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func TestPresetPort(t *testing.T) {
	a, b := preset(t), preset(t)
	if a.Port() == b.Port() {
		t.Fatalf("two servers on port %d", a.Port())
	}
	// Another program of this machine may have the preset port, so the first one is not asked to.
	for _, s := range []*Server{a, b} {
		if s.Port() < PresetPort || s.Port() >= PresetPort+presetTries {
			t.Errorf("port %d: expected one of the %d from %d on", s.Port(), presetTries, PresetPort)
		}
	}
	held := map[int]net.Listener{}
	for port := PresetPort; port < PresetPort+presetTries; port++ {
		if l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:"+strconv.Itoa(port)); err == nil {
			held[port] = l
		}
	}
	if s := preset(t); held[s.Port()] != nil || s.Port() == a.Port() || s.Port() == b.Port() {
		t.Errorf("port %d, which is in use", s.Port())
	}
	for _, l := range held {
		_ = l.Close()
	}
}

func TestPortInUse(t *testing.T) {
	a := listen(t, Options{})
	_, err := Listen(t.Context(), Options{Now: time.Now, Port: a.Port(), PortSet: true})
	if err == nil {
		t.Fatal("two servers on one port")
	}
	for _, want := range []string{"port " + strconv.Itoa(a.Port()) + " of 127.0.0.1", "in use", "--port"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not say %q", err, want)
		}
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := Listen(t.Context(), Options{Now: time.Now, Port: a.Port(), PortSet: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(b.Close(), b.Close()); err != nil {
		t.Error(err)
	}
}

func TestListenErrors(t *testing.T) {
	dir := t.TempDir()
	cert, key := certFiles(t, dir)
	_, otherKey := certFiles(t, t.TempDir())
	text := filepath.Join(dir, "text.pem")
	if err := os.WriteFile(text, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		o    Options
		want []string
	}{
		"port below": {Options{Port: -1, PortSet: true}, []string{"--port -1", "0 (any free port) to 65535"}},
		"port above": {Options{Port: 65536, PortSet: true}, []string{"--port 65536"}},
		"no address": {
			Options{Host: "192.0.2.1", PortSet: true},
			[]string{"--host 192.0.2.1", "no such address", "0.0.0.0"},
		},
		"no name":      {Options{Host: "nowhere.invalid", PortSet: true}, []string{"nowhere.invalid"}},
		"key only":     {Options{Key: key}, []string{"--cert", "--key"}},
		"cert only":    {Options{Cert: cert}, []string{"--cert", "--key"}},
		"no cert":      {Options{Cert: text + "x", Key: key}, []string{"text.pemx"}},
		"no PEM":       {Options{Cert: text, Key: key}, []string{"text.pem", "PEM"}},
		"foreign key":  {Options{Cert: cert, Key: otherKey}, []string{"belong together"}},
		"short token":  {Options{Token: "0123456789012345678901234567890"}, []string{"31 characters", "32"}},
		"odd token":    {Options{Token: secret + ";"}, []string{"A-Z"}},
		"base path":    {Options{BasePath: "/a/../b"}, []string{"--base-path", "/a/../b", "/proxy/8888/"}},
		"allowed host": {Options{AllowedHosts: []string{"*"}}, []string{"--allowed-host", `"*"`}},
		"frame":        {Options{AllowFrame: []string{"x"}}, []string{"--allow-frame"}},
		"no randomness": {
			Options{NeedToken: true, PortSet: true, Rand: iotest.ErrReader(io.ErrClosedPipe)},
			[]string{"token", io.ErrClosedPipe.Error()},
		},
		"end of entropy": {
			Options{NeedToken: true, PortSet: true, Rand: strings.NewReader("23 bytes are not enough")},
			[]string{"token", "unexpected EOF"},
		},
	} {
		c.o.Now = time.Now
		s, err := Listen(t.Context(), c.o)
		if err == nil {
			_ = s.Close()
			t.Errorf("%s: no error", name)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %q does not say %q", name, err, want)
			}
		}
		if strings.Contains(err.Error(), secret) {
			t.Errorf("%s: %q shows the token", name, err)
		}
	}
	if _, err := Listen(t.Context(), Options{}); err == nil || !strings.Contains(err.Error(), "Now") {
		t.Errorf("without a clock: %v", err)
	}
	if err := bindError("127.0.0.1", 80, fs.ErrPermission); !strings.Contains(err.Error(), "1024") {
		t.Error(err)
	}
}

func TestToken(t *testing.T) {
	bytes24 := bytes.Repeat([]byte{0xff, 0, 0x10}, 8)
	want := base64.RawURLEncoding.EncodeToString(bytes24) // RFC 4648 section 5
	if s := listen(t, Options{NeedToken: true, Rand: bytes.NewReader(bytes24)}); s.URL() != "http://127.0.0.1:"+
		strconv.Itoa(s.Port())+"/?token="+want || !s.NeedsToken() {
		t.Errorf("%s, want token %s", s.URL(), want)
	}
	if s := listen(t, Options{Rand: iotest.ErrReader(io.ErrClosedPipe)}); s.NeedsToken() ||
		strings.Contains(s.URL(), "?") {
		t.Errorf("a token on the loopback address: %s", s.URL())
	}
	seen := map[string]bool{}
	for range 20 {
		s := listen(t, Options{NeedToken: true})
		_, token, _ := strings.Cut(s.URL(), "token=")
		if b, err := base64.RawURLEncoding.DecodeString(token); err != nil || len(b) != 24 || seen[token] {
			t.Errorf("token %s: %d bytes, %v", token, len(b), err)
		}
		seen[token] = true
	}
}

func TestAddresses(t *testing.T) {
	all := listen(t, Options{
		Host: "0.0.0.0", BasePath: "/p/", Token: secret,
		AllowedHosts: []string{"https://nero.example", "lab.example"},
	})
	port := strconv.Itoa(all.Port())
	urls := all.URLs()
	if all.URL() != "http://127.0.0.1:"+port+"/p/?token="+secret || urls[0] != all.URL() ||
		!slices.Contains(urls, "https://nero.example/p/?token="+secret) {
		t.Errorf("%q", urls)
	}
	for _, u := range urls {
		if strings.Contains(u, "0.0.0.0") || !strings.HasSuffix(u, "/p/?token="+secret) {
			t.Errorf("%s leads nowhere", u)
		}
	}
	if !listen(t, Options{Host: "0.0.0.0"}).NeedsToken() {
		t.Error("no token on every address of the machine")
	}
	if s := listen(t, Options{Host: "localhost"}); s.NeedsToken() || !strings.HasPrefix(s.URL(), "http://localhost:") {
		t.Errorf("localhost: %s", s.URL())
	}
	for _, host := range []string{"::1", "[::1]"} {
		six, err := Listen(t.Context(), Options{Now: time.Now, Host: host, PortSet: true})
		if err != nil {
			t.Logf("no IPv6 here: %v", err)
			break
		}
		serve(t, six, http.HandlerFunc(echo))
		if six.NeedsToken() || six.URL() != "http://[::1]:"+strconv.Itoa(six.Port())+"/" {
			t.Errorf("%s: %s", host, six.URL())
		}
		res, err := http.Get(six.URL())
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if res.StatusCode != http.StatusOK {
			t.Errorf("%s: %s", host, res.Status)
		}
	}
}

// certFiles writes a certificate for localhost and its key.
func certFiles(t *testing.T, dir string) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "localhost"}, DNSNames: []string{"localhost"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for name, block := range map[string]*pem.Block{
		cert: {Type: "CERTIFICATE", Bytes: der},
		key:  {Type: "PRIVATE KEY", Bytes: keyDER},
	} {
		if err := os.WriteFile(name, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return cert, key
}

func TestTLS(t *testing.T) {
	cert, key := certFiles(t, t.TempDir())
	var log journal
	s := listen(t, Options{
		Cert: cert, Key: key, Token: secret, Log: log.logger(slog.LevelInfo),
		Limits: Limits{Write: 100 * time.Millisecond},
	})
	serve(t, s, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, r.Proto)
		if r.URL.Path == "/slow" { // thinking is free, also where a stream has a clock of its own
			_ = http.NewResponseController(w).Flush()
			time.Sleep(300 * time.Millisecond)
			_, _ = io.WriteString(w, " later")
		}
	}))
	if !strings.HasPrefix(s.URL(), "https://127.0.0.1:") {
		t.Error(s.URL())
	}
	text, err := os.ReadFile(cert)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(text)
	for _, two := range []bool{true, false} {
		tr := &http.Transport{
			TLSClientConfig:   &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12},
			ForceAttemptHTTP2: two,
		}
		client := &http.Client{
			Transport:     tr,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}
		res, err := client.Get(s.URL())
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		cookie := res.Header.Get("Set-Cookie")
		if res.StatusCode != http.StatusSeeOther || !strings.HasPrefix(cookie, "__Host-nero-") ||
			!strings.Contains(cookie, "; Secure") {
			t.Errorf("%s %s", res.Status, cookie)
		}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet,
			strings.Replace(s.bare(), "127.0.0.1", "localhost", 1)+"slow", nil)
		if err != nil {
			t.Fatal(err)
		}
		pair, _, _ := strings.Cut(cookie, ";")
		req.Header.Set("Cookie", pair)
		if res, err = client.Do(req); err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		want := "HTTP/1.1 later"
		if two {
			want = "HTTP/2.0 later"
		}
		if err != nil || string(b) != want {
			t.Errorf("%q %v, want %q", b, err, want)
		}
		tr.CloseIdleConnections()
	}
	if _, err := tls.Dial("tcp", s.Addr().String(),
		&tls.Config{
			RootCAs: pool, ServerName: "localhost", MinVersion: tls.VersionTLS10,
			MaxVersion: tls.VersionTLS11,
		}); err == nil {
		t.Error("an old protocol is spoken")
	}
	for start := time.Now(); !strings.Contains(log.String(), "TLS handshake error"); time.Sleep(5 * time.Millisecond) {
		if time.Since(start) > 5*time.Second {
			t.Fatalf("a failed handshake is not in the log: %s", log.String())
		}
	}
}

// A context that has ended by the time of Serve ends it at once, and gives the port back.
func TestServeEnded(t *testing.T) {
	s := listen(t, Options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Serve(ctx, http.HandlerFunc(echo)); err != nil {
		t.Error(err)
	}
	again, err := Listen(t.Context(), Options{Now: time.Now, Port: s.Port(), PortSet: true})
	if err != nil {
		t.Fatal(err)
	}
	_ = again.Close()
	if err := s.Serve(t.Context(), http.HandlerFunc(echo)); err == nil {
		t.Error("served twice")
	}
}
