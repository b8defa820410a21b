package web_test

import (
	"compress/gzip"
	"io"
	"io/fs"
	"regexp"
	"strings"
	"testing"

	"nero/serve/web"
)

func read(t *testing.T, name string) string {
	t.Helper()
	b, err := fs.ReadFile(web.Files(), name)
	if err != nil {
		t.Fatalf("%v: run 'go generate ./serve/web'", err)
	}
	return string(b)
}

func TestFiles(t *testing.T) {
	for _, name := range []string{
		"index.html", "app.js", "base.js", "more.js", "viewer3d.js", "report.js", "app.css",
		"LICENSES.txt",
	} {
		if read(t, name) == "" {
			t.Errorf("%s is empty", name)
		}
	}
}

// The page works below any path, opens nothing elsewhere and has no script or style in it, which the content policy
// refuses.
func TestPage(t *testing.T) {
	page := read(t, "index.html")
	links := regexp.MustCompile(`(?:src|href)="([^"]*)"`).FindAllStringSubmatch(page, -1)
	if len(links) == 0 {
		t.Fatal("the page loads nothing")
	}
	for _, l := range links {
		if l[1] == "data:," {
			continue
		}
		name, ok := strings.CutPrefix(l[1], "./")
		if !ok {
			t.Errorf("%q is not relative to the page", l[1])
			continue
		}
		read(t, name)
	}
	if regexp.MustCompile(`<script[^>]*>[^<]|<style|\son\w+=|\sstyle=`).MatchString(page) {
		t.Error("a script or a style stands in the page")
	}
}

// Script and style together have to stay small; the bundler refuses the same.
func TestBudget(t *testing.T) {
	for _, names := range [][]string{{"app.js", "base.js", "app.css"}, {"more.js"}, {"viewer3d.js"}} {
		total := 0
		for _, name := range names {
			b, err := fs.ReadFile(web.Files(), name)
			if err != nil {
				continue // TestFiles says which have to be there
			}
			n := counter(0)
			z, err := gzip.NewWriterLevel(&n, gzip.BestCompression)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := z.Write(b); err != nil {
				t.Fatal(err)
			}
			if err := z.Close(); err != nil {
				t.Fatal(err)
			}
			total += int(n)
		}
		if total > 150_000 {
			t.Errorf("%v are %d bytes gzipped, more than 150,000", names, total)
		}
	}
}

type counter int

var _ io.Writer = (*counter)(nil)

func (c *counter) Write(b []byte) (int, error) {
	*c += counter(len(b))
	return len(b), nil
}
