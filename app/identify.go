package app

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"nero/identify"
	"nero/internal/disk"
)

// IdentifyOptions say for what the studies are written, and where.
type IdentifyOptions struct {
	// Model and Data stand in the studies; empty for names to fill in.
	Model, Data string
	// Seed stands in the studies, and draws the elements by which groups are told to commute.
	Seed uint64
	// Out is the folder for the studies, the answers and the report; empty writes none.
	Out string
	// Formats are how the report is written into the folder; see [IdentifyFormats].
	Formats []string
}

// identifyForms are the forms of a report on answers, by the name and the file of each.
var identifyForms = []struct {
	name, file string
	write      func(*identify.Result, io.Writer) error
}{
	{"text", "symmetry.txt", (*identify.Result).WriteText},
	{"json", "symmetry.json", func(r *identify.Result, to io.Writer) error { return WriteJSON(to, r) }},
	{"markdown", "symmetry.md", (*identify.Result).WriteMarkdown},
	{"html", "symmetry.html", (*identify.Result).WriteHTML},
}

// IdentifyFormats are the forms of the report on answers.
func IdentifyFormats() (names []string) {
	for _, f := range identifyForms {
		names = append(names, f.name)
	}
	return names
}

// WriteIdentified writes what answers say in one of [IdentifyFormats].
func WriteIdentified(to io.Writer, r *identify.Result, format string) error {
	for _, f := range identifyForms {
		if f.name == format {
			return f.write(r, to)
		}
	}
	return fmt.Errorf("format %q: want one of %s", format, strings.Join(IdentifyFormats(), ", "))
}

// Questions are what somebody is asked who wants to know which symmetries a problem has.
func Questions() []identify.Question { return identify.Questions() }

// BlankAnswers is a file of answers to fill in.
func BlankAnswers() []byte { return identify.Blank() }

// maxAnswersFile is the most that is read of a file of answers, in bytes.
const maxAnswersFile = 1 << 16

// ReadAnswers reads a file of answers.
func ReadAnswers(file string) (identify.Answers, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // it was read
	text, err := io.ReadAll(io.LimitReader(f, maxAnswersFile+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return identify.Parse(file, text)
}

// seen is a file as a study in the folder names it.
func (o *IdentifyOptions) seen(file string) string {
	if file == "" || o.Out == "" || filepath.IsAbs(file) || strings.Contains(file, ":") {
		return file
	}
	rel, err := filepath.Rel(o.Out, file)
	if err != nil {
		return file
	}
	return filepath.ToSlash(rel)
}

// Identify says which symmetries follow from answers to plain questions, and writes studies that claim and test them.
// Nothing is measured: what it says is a hypothesis.
func (a *App) Identify(answers identify.Answers, o IdentifyOptions) (*identify.Result, error) {
	for _, f := range []struct{ option, file string }{{"model", o.Model}, {"data", o.Data}} {
		if f.file == "" || strings.Contains(f.file, ":") { // a model behind an address is not looked for
			continue
		}
		if _, err := os.Stat(f.file); err != nil {
			return nil, fmt.Errorf("%s: %w: name what is there, or leave it out and put it into the studies",
				a.option(f.option), err)
		}
	}
	r, err := identify.Conclude(answers, identify.Options{
		Model: o.seen(o.Model), Data: o.seen(o.Data), Seed: o.Seed,
	})
	if err != nil || o.Out == "" {
		return r, err
	}
	files := []identify.Study{{File: "answers.yaml", Text: string(r.Answers.Write())}}
	files = append(files, r.Studies...)
	for _, f := range identifyForms {
		if !slices.Contains(o.Formats, f.name) {
			continue
		}
		var b bytes.Buffer
		if err := f.write(r, &b); err != nil {
			return nil, err
		}
		files = append(files, identify.Study{File: f.file, Text: b.String()})
	}
	if err := noFile(o.Out); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(o.Out, 0o777); err != nil {
		return nil, fmt.Errorf("%s: %w", a.option("out"), err)
	}
	for _, f := range files { // what somebody has written there is not written over
		path := filepath.Join(o.Out, f.File)
		old, err := os.ReadFile(path)
		switch {
		case errors.Is(err, os.ErrNotExist):
		case err != nil:
			return nil, err
		case string(old) != f.Text:
			return nil, fmt.Errorf("%s is there already and says something else: name a new folder with %s, or remove "+
				"it",
				path, a.option("out"))
		}
	}
	for _, f := range files {
		if err := disk.Replace(disk.OS{}, filepath.Join(o.Out, f.File), disk.Bytes([]byte(f.Text))); err != nil {
			return nil, err
		}
	}
	return r, nil
}
