package server

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
)

// Content types of the answers.
const (
	typeJSON   = "application/json"
	typeArrays = "application/vnd.safetensors"
	typePNG    = "image/png"
	typeEvents = "text/event-stream"
	typeHTML   = "text/html; charset=utf-8"
)

// bare is a media type without its parameters.
func bare(kind string) string {
	kind, _, _ = strings.Cut(kind, ";")
	return kind
}

// worthwhile is the size in bytes from which an answer is compressed: below, the headers and the round trip count for
// more.
const worthwhile = 8 << 10

// tagOf is a strong entity tag of bytes.
func tagOf(b []byte) string {
	sum := sha256.Sum256(b)
	return `"` + hex.EncodeToString(sum[:12]) + `"`
}

// zipped is the tag of the same thing compressed: a strong tag stands for the bytes as sent.
func zipped(tag string) string { return strings.TrimSuffix(tag, `"`) + `-gz"` }

// holds tells whether a list of entity tags, as in If-None-Match, has the tag, compressed or not. Tags that a proxy has
// made weak count, since only what is read is asked for with them.
func holds(list, tag string) bool {
	for t := range strings.SplitSeq(list, ",") {
		t = strings.TrimPrefix(strings.TrimSpace(t), "W/")
		if t == "*" || t == tag || t == zipped(tag) {
			return true
		}
	}
	return false
}

// local tells whether the client is on this machine, as far as one can see: bytes cost nothing on the way to it, and
// compressing them would only take time. A proxy on this machine passes on requests of others and says so.
func local(r *http.Request) bool {
	for _, h := range []string{"X-Forwarded-For", "Forwarded", "X-Real-Ip", "Via"} {
		if r.Header.Get(h) != "" {
			return false
		}
	}
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return false
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// asksGzip tells whether the client takes gzip.
func asksGzip(r *http.Request) bool {
	for part := range strings.SplitSeq(r.Header.Get("Accept-Encoding"), ",") {
		name, params, _ := strings.Cut(part, ";")
		if !strings.EqualFold(strings.TrimSpace(name), "gzip") {
			continue
		}
		q, ok := strings.CutPrefix(strings.TrimSpace(params), "q=")
		if !ok {
			return true
		}
		weight, err := strconv.ParseFloat(q, 64)
		return err == nil && weight > 0
	}
	return false
}

// compresses tells whether an answer of n bytes is compressed.
func compresses(r *http.Request, n int) bool { return n >= worthwhile && asksGzip(r) && !local(r) }

// head writes the headers that all answers with a tag share and tells whether the client has the answer already, which
// is then written. With gz the body is compressed.
func head(w http.ResponseWriter, r *http.Request, kind, tag string, gz bool) (done bool) {
	h := w.Header()
	if h.Get("Cache-Control") != "no-store" {
		h.Set("Cache-Control", "private, no-cache")
	}
	h.Add("Vary", "Accept-Encoding")
	if tag != "" {
		sent := tag
		if gz {
			sent = zipped(tag)
		}
		h.Set("ETag", sent)
		if r.Method == http.MethodGet || r.Method == http.MethodHead {
			if list := r.Header.Get("If-None-Match"); list != "" && holds(list, tag) {
				w.WriteHeader(http.StatusNotModified)
				return true
			}
		}
	}
	h.Set("Content-Type", kind)
	if gz {
		h.Set("Content-Encoding", "gzip")
	}
	return false
}

// send answers with bytes that are there. Without a tag they get one of their own.
func send(w http.ResponseWriter, r *http.Request, status int, kind, tag string, b []byte) error {
	if tag == "" && status == http.StatusOK {
		tag = tagOf(b)
	}
	gz := compresses(r, len(b))
	if head(w, r, kind, tag, gz) {
		return nil
	}
	if gz {
		var z bytes.Buffer
		c, err := gzip.NewWriterLevel(&z, gzip.BestSpeed)
		if err != nil {
			return err
		}
		if _, err := c.Write(b); err != nil {
			return err
		}
		if err := c.Close(); err != nil {
			return err
		}
		b = z.Bytes()
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(b)))
	w.WriteHeader(status)
	return sent(w, r, b)
}

// sent writes the body, unless only the head is asked for. That the client is gone is nobody's error.
func sent(w http.ResponseWriter, r *http.Request, b []byte) error {
	if r.Method != http.MethodHead {
		_, _ = w.Write(b) // the client has gone
	}
	return nil
}

// sendJSON answers with a document.
func sendJSON(w http.ResponseWriter, r *http.Request, status int, tag string, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return send(w, r, status, typeJSON, tag, append(b, '\n'))
}

// sendArrays answers with a container, which is written as it is computed.
func sendArrays(w http.ResponseWriter, r *http.Request, tag string, c *container) error {
	c = c.sorted() // a result that is kept is sent by several requests at once
	header, total, err := c.prepare()
	if err != nil {
		return err
	}
	gz := compresses(r, total) && c.shrinks()
	if head(w, r, typeArrays, tag, gz) {
		return nil
	}
	var out io.Writer = w
	if gz {
		z, err := gzip.NewWriterLevel(w, gzip.BestSpeed)
		if err != nil {
			return err
		}
		defer z.Close() //nolint:errcheck // the client has gone
		out = z
	} else {
		w.Header().Set("Content-Length", strconv.Itoa(total))
	}
	if r.Method == http.MethodHead {
		return nil
	}
	if _, err := out.Write(header); err != nil {
		return nil // the client has gone
	}
	_ = c.writeData(out) // the client has gone
	return nil
}
