package guard

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Problem is an error as a client gets it: application/problem+json of RFC 9457, with a code for programs and a remedy
// for people. It is an error, and a handler that answers with itself.
type Problem struct { //nolint:errname // it is an answer more than an error
	// Status is the HTTP status, 400 to 599.
	Status int `json:"status"`
	// Code says which problem this is, in lower case with hyphens. It does not change from one release to the next.
	Code string `json:"code"`
	// Title is the problem in a few words, the same whenever Code is.
	Title string `json:"title"`
	// Detail says what was wrong this time.
	Detail string `json:"detail,omitempty"`
	// Remedy says what to do about it.
	Remedy string `json:"remedy,omitempty"`
	// RetryAfter is when to try again; 0 says nothing about it. It travels in the header, rounded up to seconds.
	RetryAfter time.Duration `json:"-"`
}

// Error is the title, the detail and the remedy.
func (p *Problem) Error() string {
	return strings.Join(slices.DeleteFunc([]string{p.Title, p.Detail, p.Remedy},
		func(s string) bool { return s == "" }), ": ")
}

// ServeHTTP answers with the problem. A person who opened an address that is not of the API gets a page, everybody else
// JSON.
func (p *Problem) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if c := callOf(r.Context()); (c == nil || !c.api) && wantsPage(r) {
		p.page(w, r, "")
		return
	}
	body, err := json.Marshal(p)
	if err != nil { // strings and a number
		panic(err)
	}
	h := p.header(w)
	h.Set("Content-Type", "application/problem+json")
	p.write(w, r, append(body, '\n'))
}

// header sets what every form of the problem says. Headers that described the answer which is not given are taken away.
func (p *Problem) header(w http.ResponseWriter) http.Header {
	h := w.Header()
	for _, name := range []string{
		"Content-Encoding", "Content-Disposition", "Content-Range", "Etag", "Last-Modified",
		"Location",
	} {
		h.Del(name)
	}
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	if p.RetryAfter > 0 {
		h.Set("Retry-After", strconv.FormatInt(int64((p.RetryAfter+time.Second-1)/time.Second), 10))
	}
	return h
}

func (p *Problem) write(w http.ResponseWriter, r *http.Request, body []byte) {
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(p.Status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) // the client is gone, and nobody else is there to be told
	}
}

// page answers with plain HTML, which needs no style and no script. script is one of our own constants, or empty.
func (p *Problem) page(w http.ResponseWriter, r *http.Request, script string) {
	var b strings.Builder
	fmt.Fprintf(&b, pageHead, html.EscapeString(p.Title))
	fmt.Fprintf(&b, "<h1>%s</h1>\n", html.EscapeString(p.Title))
	for _, text := range []string{p.Detail, p.Remedy} {
		if text != "" {
			fmt.Fprintf(&b, "<p>%s</p>\n", html.EscapeString(text))
		}
	}
	fmt.Fprintf(&b, "<p><small>%d %s</small></p>\n", p.Status, html.EscapeString(p.Code))
	b.WriteString(script)
	p.header(w).Set("Content-Type", "text/html; charset=utf-8")
	p.write(w, r, []byte(b.String()))
}

const pageHead = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>%s</title>
`

// wantsPage says whether a person is looking at the answer.
func wantsPage(r *http.Request) bool {
	return (r.Method == http.MethodGet || r.Method == http.MethodHead) &&
		strings.Contains(r.Header.Get("Accept"), "text/html")
}

// Fail answers with an error: as itself if there is a [Problem] in its chain, as what [BodyProblem] makes of it if it
// came from reading the body, with 503 if the server is ending, else with 500 and without its text, which may speak of
// things that are no visitor's business. The return value says whether the text was kept back, and so belongs in a log.
func Fail(w http.ResponseWriter, r *http.Request, err error) (hidden bool) {
	var p *Problem
	switch {
	case errors.As(err, &p):
	case isBodyError(err):
		p = BodyProblem(err)
	case errors.Is(err, context.Canceled):
		p = &Problem{
			Status: http.StatusServiceUnavailable, Code: "ending", Title: "The request was given up",
			Detail: "The server is ending, or the client has gone away.", RetryAfter: time.Second,
		}
	default:
		p, hidden = internal(), true
	}
	p.ServeHTTP(w, r)
	return hidden
}

func internal() *Problem {
	return &Problem{
		Status: http.StatusInternalServerError, Code: "internal", Title: "The server made a mistake",
		Detail: "The request could not be answered. The reason is in the server's log.",
		Remedy: "Try again; if it happens again, report what the log says.",
	}
}

func isBodyError(err error) bool {
	var long *http.MaxBytesError
	return errors.As(err, &long) || errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, io.ErrUnexpectedEOF)
}

// BodyProblem is the problem for an error from reading the body of a request: 413 if it is longer than allowed, 408 if
// it took too long to come, else 400 with the text of the error.
func BodyProblem(err error) *Problem {
	var long *http.MaxBytesError
	switch {
	case errors.As(err, &long):
		return tooLong(long.Limit)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return &Problem{
			Status: http.StatusRequestTimeout, Code: "body-too-slow", Title: "The body of the request took too long",
			Detail: "It did not arrive in the time that a request has.",
			Remedy: "Try again on a faster connection, or send less.",
		}
	case errors.Is(err, io.ErrUnexpectedEOF):
		return &Problem{
			Status: http.StatusBadRequest, Code: "body-incomplete", Title: "The body of the request is incomplete",
			Detail: "It ended before it should.", Remedy: "Send it again.",
		}
	}
	return &Problem{
		Status: http.StatusBadRequest, Code: "body", Title: "The body of the request cannot be read",
		Detail: err.Error(),
	}
}

func tooLong(limit int64) *Problem {
	return &Problem{
		Status: http.StatusRequestEntityTooLarge, Code: "body-too-long", Title: "The body of the request is too long",
		Detail: fmt.Sprintf("At most %d bytes are read here.", limit), Remedy: "Send less at once.",
	}
}
