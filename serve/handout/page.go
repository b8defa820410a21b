package handout

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"strings"

	"nero/run/fold"

	_ "embed" // the style of what stands around the interface

	"nero/present/view"
	"nero/present/words"
)

// style is of the parts of the page that are there without its script, and of paper.
//
//go:embed report.css
var style string

// page is what stands around the data.
type page struct {
	// as they stand in the page
	code, style string
	licenses    string
}

// frame reads the interface.
func (b *builder) frame() (*page, error) {
	read := func(name string) (string, error) {
		t, err := fs.ReadFile(b.src.Files, name)
		if err != nil {
			return "", fmt.Errorf(
				"the files of the interface: %w; expected those that the bundle tool of serve/web writes", err)
		}
		return string(t), nil
	}
	var p page
	var err error
	// A page from disk imports nothing: the interface in one script, where it comes in several.
	if p.code, err = read("report.js"); errors.Is(err, fs.ErrNotExist) {
		p.code, err = read("app.js")
	}
	if err != nil {
		return nil, err
	}
	if p.style, err = read("app.css"); err != nil {
		return nil, err
	}
	p.licenses, err = read("LICENSES.txt")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	p.code = inlineCode(p.code)
	p.style = inlineStyle(p.style + "\n" + style)
	return &p, nil
}

// inlineCode is a script that ends where it ends: </script, <script and <!-- mean something to the parser of the page.
// In the code they stand in texts and patterns only, where \x3C is the same character.
func inlineCode(code string) string {
	return insensitive(code, []string{"</script", "<script", "<!--"}, `\x3C`)
}

// inlineStyle is a style sheet that ends where it ends.
func inlineStyle(css string) string { return insensitive(css, []string{"</style", "<!--"}, `\3C `) }

// insensitive replaces the first character of the given texts, whichever case they are in.
func insensitive(s string, all []string, by string) string {
	// Byte by byte, for the texts are ASCII and places must not move, whatever other characters or broken ones become.
	low := []byte(s)
	for i, c := range low {
		if 'A' <= c && c <= 'Z' {
			low[i] = c + 'a' - 'A'
		}
	}
	lower := string(low)
	var out strings.Builder
	for i := range len(s) {
		hit := false
		if s[i] == '<' {
			for _, t := range all {
				hit = hit || strings.HasPrefix(lower[i:], t)
			}
		}
		if hit {
			out.WriteString(by)
		} else {
			out.WriteByte(s[i])
		}
	}
	return out.String()
}

// source is the hash of a text for a content policy.
func source(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// directory is the first thing that the page reads.
type directory struct {
	Format  int    `json:"format"`
	Version string `json:"version"`
	Run     string `json:"run"`
	Home    string `json:"home"`
	Metric  int    `json:"metric"`
	// what is missing, in a sentence
	Brief  string   `json:"brief"`
	Notes  []string `json:"notes"`
	Blocks []entry  `json:"blocks"`
}

// provenance is where the numbers come from.
type provenance struct {
	Generator string   `json:"generator"`
	Run       string   `json:"run"`
	Job       string   `json:"job"`
	Command   string   `json:"command"`
	Engine    string   `json:"engine"`
	Group     string   `json:"group"`
	Measure   string   `json:"measure"`
	Resampler string   `json:"resampler"`
	Samples   int      `json:"samples"`
	Done      int      `json:"done"`
	Elements  int      `json:"elements"`
	Metrics   []string `json:"metrics"`
	// SHA-256 by name
	Models  map[string]string `json:"models"`
	Details [][2]string       `json:"details"`
	Audits  []string          `json:"audits"`
	Report  reportOptions     `json:"report"`
}

type reportOptions struct {
	Metric  string   `json:"metric"`
	Slice   string   `json:"slice"`
	Budget  int64    `json:"budget"`
	Keep    int      `json:"keep"`
	Seed    uint64   `json:"seed"`
	LeftOut []string `json:"left_out"`
}

// render writes the page.
func (b *builder) render(blocks []*block, notes []string) ([]byte, error) {
	d := &b.doc
	var out bytes.Buffer
	title := words.HTML(d.Name) + " · NERO report"
	fmt.Fprintf(&out, `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src %s; style-src %s; img-src data: blob:; base-uri 'none'; form-action 'none'">
<meta name="referrer" content="no-referrer">
<meta name="generator" content="nero %s">
<meta name="description" content="%s">
<title>%s</title>
<link rel="icon" href="data:,">
<style>%s</style>
</head>
<body>
<div id="app"></div>
`, source(b.base.code), source(b.base.style), words.HTML(b.o.Version), words.HTML(b.description()), title, b.base.style)
	fmt.Fprintf(&out, "<noscript>\n<h1>%s</h1>\n<p>%s</p>\n%s</noscript>\n", title, words.HTML(b.description()),
		b.table())
	if err := b.about(&out, notes); err != nil {
		return nil, err
	}
	dir := directory{
		Format: Format, Version: b.o.Version, Run: d.ID, Home: b.home(), Metric: b.metric,
		Brief: b.brief(), Notes: append([]string{}, notes...), Blocks: []entry{},
	}
	for _, k := range blocks {
		dir.Blocks = append(dir.Blocks, k.entry)
	}
	head, err := json.Marshal(dir) // <, > and & are escaped in it, and the line separators
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(&out, "<script type=\"application/x-nero\" id=\"nero-directory\">%s</script>\n", head)
	for i, k := range blocks {
		fmt.Fprintf(&out, tagOpen, i)
		out.Write(k.text)
		out.WriteString(tagClose)
	}
	fmt.Fprintf(&out, "<script type=\"module\">%s</script>\n</body>\n</html>\n", b.base.code)
	return out.Bytes(), nil
}

// description is the run in a sentence.
func (b *builder) description() string {
	d := &b.doc
	s := fmt.Sprintf("How %s of %s changes over %s: %s, %s.", d.MetricDoc[b.metric].Title, strings.Join(d.Models, ", "),
		d.Orbit.Title, words.Plural(d.Samples, "sample", "samples"), words.Plural(d.Elements, "element", "elements"))
	if !d.State.Complete {
		s += fmt.Sprintf(" The run was not finished: %s of %s samples were there.", words.Count(d.State.Done),
			words.Count(d.State.Total))
	}
	return s
}

// table sums up the run for those who run no script.
func (b *builder) table() string {
	d := &b.doc
	var o strings.Builder
	o.WriteString("<table>\n<caption>All " +
		"samples</caption>\n<thead><tr><th>metric</th><th>model</th><th>samples</th><th>mean over the " +
		"orbit</th><th>interval</th><th>worst element</th><th>mean there</th><th>worst of orbit, " +
		"mean</th></tr></thead>\n<tbody>\n")
	for k, s := range b.overall {
		for _, c := range s.Curves {
			worst, there := "–", fold.Number(math.NaN())
			if w := c.WorstElement; w >= 0 && w < len(c.Mean) && w < len(d.Orbit.Labels) {
				p := c.Place(d.MetricDoc[k].Metric)
				worst, there = view.Where(p, func(i int) string { return d.Orbit.Labels[i] }), c.Mean[w]
			}
			fmt.Fprintf(&o, "<tr><th>%s</th><td>%s</td><td>%d</td><td>%s</td><td>%s to "+
				"%s</td><td>%s</td><td>%s</td><td>%s</td></tr>\n",
				words.HTML(d.MetricDoc[k].Title), words.HTML(d.ModelList[c.Model].Name), c.Orbit.N,
				words.Cell(c.Orbit.Mean),
				words.Cell(c.Orbit.Lo), words.Cell(c.Orbit.Hi), words.HTML(worst), words.Cell(there),
				words.Cell(c.Worst.Mean))
		}
	}
	o.WriteString("</tbody>\n</table>\n")
	return o.String()
}

// about says where the numbers come from, in a visible place and for programs.
func (b *builder) about(out *bytes.Buffer, notes []string) error {
	d := &b.doc
	p := provenance{
		Generator: "nero " + b.o.Version, Run: d.Name, Job: d.Digest, Command: d.Command, Engine: d.Engine,
		Group: d.Orbit.Title, Measure: d.Orbit.Measure,
		Resampler: d.Kernel, Samples: d.Samples, Done: d.State.Done, Elements: d.Elements, Metrics: d.Metrics,
		Models: map[string]string{}, Details: [][2]string{}, Audits: []string{},
		Report: reportOptions{
			Metric: d.Metrics[b.metric], Slice: b.o.Slice, Budget: b.o.Budget, Keep: b.o.Keep,
			Seed: b.o.Seed, LeftOut: append([]string{}, notes...),
		},
	}
	for _, m := range d.ModelList {
		p.Models[m.Name] = m.SHA256
	}
	for _, c := range d.Details {
		p.Details = append(p.Details, [2]string{c.Name, c.Value})
	}
	for _, a := range b.audits {
		p.Audits = append(p.Audits, a.Name+": "+a.Verdict)
	}
	doc, err := json.Marshal(p)
	if err != nil {
		return err
	}
	state := ""
	if !d.State.Complete {
		state = fmt.Sprintf(" · <strong>not finished: %s of %s samples</strong>", words.Count(d.State.Done),
			words.Count(d.State.Total))
	}
	fmt.Fprintf(out, "<footer id=\"about\">\n<p>Report of the run <bdi>%s</bdi> · job %.12s · %s · nero "+
		"%s%s</p>\n<details>\n<summary>About this report</summary>\n", words.HTML(d.Name), words.HTML(d.Digest),
		words.HTML(d.Engine),
		words.HTML(b.o.Version), state)
	if len(notes) > 0 {
		out.WriteString("<ul>\n")
		for _, n := range notes {
			fmt.Fprintf(out, "<li>%s</li>\n", words.HTML(n))
		}
		out.WriteString("</ul>\n")
	}
	out.WriteString("<dl>\n")
	row := func(name, value string) {
		if value != "" {
			fmt.Fprintf(out, "<dt>%s</dt><dd><bdi>%s</bdi></dd>\n", words.HTML(name), words.HTML(value))
		}
	}
	row("command", d.Command)
	row("group", d.Orbit.Title)
	row("resampling", d.Kernel)
	for _, m := range d.ModelList {
		row("model "+m.Name, "SHA-256 "+m.SHA256)
	}
	for _, c := range d.Details {
		row(c.Name, c.Value)
	}
	for _, a := range b.audits {
		row("audit "+a.Name, a.Verdict)
	}
	for _, n := range d.Notes {
		row("note", n)
	}
	out.WriteString("</dl>\n")
	if b.base.licenses != "" {
		fmt.Fprintf(out, "<details><summary>Licenses of what the page is made of</summary><pre>%s</pre></details>\n",
			words.HTML(b.base.licenses))
	}
	fmt.Fprintf(out, "</details>\n</footer>\n<script type=\"application/json\" id=\"nero-provenance\">%s</script>\n",
		doc)
	return nil
}
