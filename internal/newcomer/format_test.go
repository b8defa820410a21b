package newcomer

import (
	"bufio"
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"nero/app"
	"nero/data/dataset"
	"nero/data/space"
	"nero/run/workload"
)

// lines is a format of data: the word LINES, then a sample on each line, numbers with blanks between. Its samples are
// what of makes of the numbers.
func lines(spec space.Spec, highest float64, of func(x []float64) space.Value) *dataset.Format {
	return &dataset.Format{
		Name: "lines", Doc: "A text file with a sample on each line.",
		Sniff: dataset.Sniff{Head: func(head []byte) bool { return bytes.HasPrefix(head, []byte("LINES\n")) }},
		Open: func(fsys fs.FS, s dataset.Spec) (dataset.Dataset, error) {
			f, err := fsys.Open(s.Images)
			if err != nil {
				return nil, err
			}
			defer f.Close() //nolint:errcheck // only read from
			l := &listed{file: s.Images, info: dataset.Info{Space: spec, Max: highest}}
			for in := bufio.NewScanner(f); in.Scan(); {
				if in.Text() == "LINES" {
					continue
				}
				var x []float64
				for word := range strings.FieldsSeq(in.Text()) {
					v, err := strconv.ParseFloat(word, 64)
					if err != nil {
						return nil, fmt.Errorf("%s: %q is no number", s.Images, word)
					}
					x = append(x, v)
				}
				l.values = append(l.values, of(x))
			}
			return l, nil
		},
	}
}

// listed is a data set in memory.
type listed struct {
	file   string
	info   dataset.Info
	values []space.Value
}

func (l *listed) Len() int           { return len(l.values) }
func (l *listed) Labels() []int      { return nil }
func (l *listed) Files() []string    { return []string{l.file} }
func (l *listed) Info() dataset.Info { return l.info }
func (l *listed) IDs() []string {
	var ids []string
	for i := range l.values {
		ids = append(ids, strconv.Itoa(i))
	}
	return ids
}

func (l *listed) Sample(i int) (dataset.Sample, error) {
	return dataset.Sample{ID: strconv.Itoa(i), Label: -1, Value: l.values[i].Clone()}, nil
}

// written is a file of lines.
func written(t *testing.T, samples ...string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "samples.lines")
	if err := os.WriteFile(name, []byte("LINES\n"+strings.Join(samples, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestFormat(t *testing.T) {
	spec := space.Spec{Name: "image", Kind: space.KindImage, Shape: []int{1, side, side}}
	pictures := lines(spec, 255, func(x []float64) space.Value {
		m := space.NewImage(1, side, side)
		copy(m.Pix, x)
		return m
	})
	a := &app.App{Parts: app.Parts{Formats: append(workload.Formats(), pictures)}}
	s := study(t, firstTwo(), "C2")
	s.Data.Images = written(t, "0 0 0 0 0 0 0 0 0 0 0 0 0 0 153 204", "51 0 0 0 0 0 0 0 0 0 0 0 0 0 0 51")
	got := run(t, a, s).Summary
	if mean := got.Curves[0].Mean; got.Samples != 2 || len(mean) != 2 || !near(float64(mean[1]), 0.5) {
		t.Errorf("%d samples, the curve is %v, want 0 and (1 + 0) / 2", got.Samples, mean)
	}
	if _, err := new(app.App).Run(t.Context(), s, app.RunOptions{Dir: t.TempDir(), Workers: 1}); err == nil {
		t.Error("a program without the format knows it")
	}
}
