package table_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"flag"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"nero/present/table"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func example() *table.Table {
	rows := [][]any{
		{"plain", 0.5, float32(0.1), 3, true, nil},
		{"=SUM(A1)", -0.25, float32(1e-7), -4, false, "a|b"},
		{
			"π \"quoted\", 50 % & more_less $x$ ^ ~ {} # \\ [1] *", math.NaN(), float32(math.Inf(1)), 123456789, true,
			"line\nbreak\ttab",
		},
		{"-1", 123456.7, float32(12345.6), 0, false, "<b>&amp;</b> `code` https://example.org"},
	}
	return &table.Table{
		Title: "Confidence of a & b: 90 % of *all*",
		Columns: []table.Column{
			{Name: "name", Text: true},
			{Name: "mean"},
			{Name: "x_deg"},
			{Name: "n"},
			{Name: "exact", Text: true},
			{Name: "@note", Text: true},
		},
		Rows: slices.Values(rows),
	}
}

func write(t rapid.TB, f table.Format, tab *table.Table) string {
	t.Helper()
	var b bytes.Buffer
	if err := table.Write(&b, f, tab); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestGolden(t *testing.T) {
	for _, f := range table.Formats() {
		name := filepath.Join("testdata", "example."+string(f))
		got := write(t, f, example())
		if *update {
			if err := os.WriteFile(name, []byte(got), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(string(want), got); d != "" {
			t.Errorf("%s (-want +got), -update rewrites it:\n%s", name, d)
		}
	}
}

// anyTable draws tables with any text and any number.
func anyTable(t *rapid.T) ([][]any, *table.Table) {
	text := rapid.OneOf(rapid.String(), rapid.StringOf(rapid.RuneFrom([]rune("=+-@\t\r\n'\"|&\\{}[]*,;<> aé＝"))))
	cell := rapid.OneOf(
		rapid.Map(text, func(s string) any { return s }),
		rapid.Map(rapid.Float64(), func(v float64) any { return v }),
		rapid.Map(rapid.Float32(), func(v float32) any { return v }),
		rapid.Map(rapid.Int(), func(v int) any { return v }),
		rapid.Map(rapid.Bool(), func(v bool) any { return v }),
		rapid.Just[any](nil),
	)
	names := rapid.SliceOfNDistinct(text, 1, 4, rapid.ID[string]).Draw(t, "names")
	rows := rapid.SliceOfN(rapid.SliceOfN(cell, len(names), len(names)), 0, 5).Draw(t, "rows")
	tab := &table.Table{Title: text.Draw(t, "title"), Rows: slices.Values(rows)}
	for _, n := range names {
		tab.Columns = append(tab.Columns, table.Column{Name: n, Text: rapid.Bool().Draw(t, "text")})
	}
	return rows, tab
}

// want is a cell as its shortest exact text.
func want(c any) string {
	switch v := c.(type) {
	case string:
		return v
	case bool:
		return strconv.FormatBool(v)
	case int:
		return strconv.Itoa(v)
	case float32:
		if f := float64(v); !math.IsNaN(f) && !math.IsInf(f, 0) {
			return strconv.FormatFloat(f, 'g', -1, 32)
		}
	case float64:
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			return strconv.FormatFloat(v, 'g', -1, 64)
		}
	}
	return ""
}

// TestCSV reads what was written with the standard library's reader. No cell of text begins as a formula, numbers are
// numbers, and what was a text is the same but for the apostrophe. The reader makes one line feed of a carriage return
// before one.
func TestCSV(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows, tab := anyTable(t)
		r := csv.NewReader(strings.NewReader(write(t, table.CSV, tab)))
		r.FieldsPerRecord = len(tab.Columns)
		got, err := r.ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != len(rows)+1 {
			t.Fatalf("%d lines for %d rows", len(got), len(rows))
		}
		head := make([]any, len(tab.Columns))
		for i, c := range tab.Columns {
			head[i] = c.Name
		}
		for i, row := range append([][]any{head}, rows...) {
			for k, c := range row {
				s, text := c.(string)
				w := want(c)
				if first, _ := utf8.DecodeRuneInString(s); text && s != "" &&
					strings.ContainsRune("=+-@\t\r\n＝＋－＠", first) {
					w = "'" + w
				}
				if g := got[i][k]; g != strings.ReplaceAll(w, "\r\n", "\n") {
					t.Fatalf("row %d, cell %d: %q, want %q", i, k, g, w)
				}
			}
		}
	})
}

// TestJSONL reads every line as an object whose keys are the columns in their order.
func TestJSONL(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows, tab := anyTable(t)
		lines := strings.SplitAfter(write(t, table.JSONL, tab), "\n")
		if lines = lines[:len(lines)-1]; len(lines) != len(rows) {
			t.Fatalf("%d lines for %d rows", len(lines), len(rows))
		}
		for i, line := range lines {
			d := json.NewDecoder(strings.NewReader(line))
			d.UseNumber()
			if tok, err := d.Token(); err != nil || tok != json.Delim('{') {
				t.Fatalf("line %d: %v %v", i, tok, err)
			}
			for k, c := range tab.Columns {
				name, err := d.Token()
				if err != nil || name != strings.ToValidUTF8(c.Name, "\uFFFD") {
					t.Fatalf("line %d, key %d: %q, want %q (%v)", i, k, name, c.Name, err)
				}
				v, err := d.Token()
				if err != nil {
					t.Fatal(err)
				}
				switch cell := rows[i][k].(type) {
				case string:
					if v != strings.ToValidUTF8(cell, "\uFFFD") {
						t.Fatalf("%q, want %q", v, cell)
					}
				case bool:
					if v != cell {
						t.Fatalf("%v, want %v", v, cell)
					}
				default:
					if w := want(cell); w == "" && v != nil || w != "" && v != json.Number(w) {
						t.Fatalf("%v, want %q", v, w)
					}
				}
			}
		}
	})
}

// bare removes what is escaped, so that what is left is the structure.
func bare(line string) string {
	var o strings.Builder
	for i := 0; i < len(line); i++ {
		if line[i] == '\\' && i+1 < len(line) && strings.IndexByte("&%$#_{}|~^@!:<>[]`*\\", line[i+1]) >= 0 {
			i++
			continue
		}
		o.WriteByte(line[i])
	}
	return o.String()
}

// TestMarkdown wants one line per row with exactly the cells of the table, and no HTML.
func TestMarkdown(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows, tab := anyTable(t)
		tab.Title = ""
		out := write(t, table.Markdown, tab)
		lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
		if len(lines) != len(rows)+2 {
			t.Fatalf("%d lines for %d rows:\n%s", len(lines), len(rows), out)
		}
		for _, line := range lines {
			if n := strings.Count(bare(line), "|"); n != len(tab.Columns)+1 {
				t.Fatalf("%d bars for %d cells: %s", n, len(tab.Columns), line)
			}
			if strings.ContainsAny(bare(line), "<`*") || !utf8.ValidString(line) {
				t.Fatalf("Markdown or HTML is left: %s", line)
			}
		}
	})
}

// TestLaTeX wants one line per row with exactly the cells of the table, and nothing that ends a line, a group or begins
// a comment.
func TestLaTeX(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows, tab := anyTable(t)
		out := write(t, table.LaTeX, tab)
		_, out, ok := strings.Cut(out, "\\begin{tabular}{")
		if !ok {
			t.Fatal("no tabular")
		}
		lines := strings.Split(out, "\n")
		if len(lines) != len(rows)+7 || lines[len(rows)+5] != `\end{tabular}` {
			t.Fatalf("%d lines for %d rows:\n%s", len(lines), len(rows), out)
		}
		for _, line := range lines[2 : len(rows)+4] {
			if line == `\hline` {
				continue
			}
			line, ok := strings.CutSuffix(line, ` \\`)
			if !ok {
				t.Fatalf("the row does not end: %s", line)
			}
			plain := bare(line)
			if n := strings.Count(plain, "&"); n != len(tab.Columns)-1 {
				t.Fatalf("%d marks between %d cells: %s", n, len(tab.Columns), line)
			}
			if strings.ContainsAny(plain, "%#_~") || strings.Count(plain, "{") != strings.Count(plain, "}") ||
				strings.Contains(plain, `\\`) || strings.Count(plain, "$")%2 != 0 {
				t.Fatalf("something is left that LaTeX reads: %s", line)
			}
			if strings.HasPrefix(plain, "[") || strings.HasPrefix(plain, "*") {
				t.Fatalf("the row begins with an argument of the end of the one before: %s", line)
			}
		}
	})
}

func TestRounded(t *testing.T) {
	for v, w := range map[float64]string{
		0: "0", 0.123456: "0.1235", -2: "-2", 12345.6: "12346", 1e-5: "1e-05",
		2.5e9: "2.5e+09",
	} {
		out := write(t, table.Markdown,
			&table.Table{Columns: []table.Column{{Name: "v"}}, Rows: slices.Values([][]any{{v}})})
		if !strings.HasSuffix(out, "| "+w+" |\n") {
			t.Errorf("%g: %s", v, out)
		}
	}
}

func TestErrors(t *testing.T) {
	var b bytes.Buffer
	for name, tab := range map[string]*table.Table{
		"cells":  {Columns: []table.Column{{Name: "a"}, {Name: "b"}}, Rows: slices.Values([][]any{{1}})},
		"type":   {Columns: []table.Column{{Name: "a"}}, Rows: slices.Values([][]any{{[]int{1}}})},
		"twice":  {Columns: []table.Column{{Name: "a"}, {Name: "a"}}, Rows: slices.Values([][]any{})},
		"format": nil,
	} {
		f := table.CSV
		if tab == nil {
			tab, f = example(), "xlsx"
		}
		if err := table.Write(&b, f, tab); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	for _, f := range table.Formats() {
		if err := table.Write(failing{}, f, example()); !errors.Is(err, errFull) {
			t.Errorf("%s: %v, want the error of the writer", f, err)
		}
		if _, err := table.ParseFormat(string(f)); err != nil || f.Type() == "" {
			t.Errorf("%s: %v", f, err)
		}
	}
	if _, err := table.ParseFormat("CSV"); err == nil {
		t.Error("a format that is not there was read")
	}
}

var errFull = errors.New("full")

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errFull }
