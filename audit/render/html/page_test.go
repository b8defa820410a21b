package html_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"image/png"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"nero/audit"
	"nero/audit/audittest"
	"nero/audit/render/html"
	"nero/symmetry/group"
	"nero/symmetry/group/catalog"
)

var (
	update = flag.Bool("update", false, "write the golden files")
	keep   = flag.String("keep", "", "write the pages of the tests into this `folder`, to look at them")
)

func write(t *testing.T, name string, reports ...*audit.Report) string {
	t.Helper()
	var b bytes.Buffer
	if err := html.Write(&b, audit.Document(reports...)); err != nil {
		t.Fatal(err)
	}
	if *keep != "" {
		if err := os.WriteFile(filepath.Join(*keep, name+".html"), b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

func couldNotRun() *audit.Report {
	return audit.CouldNotRun("missing", audittest.Report().Policy,
		errors.New("open missing.onnx: no such file; check the path in models"))
}

// pages are the kinds of pages that the tests below look at.
func pages(t *testing.T) map[string]string {
	t.Helper()
	bad := audittest.Hostile()
	return map[string]string{
		"full":     write(t, "full", audittest.Report()),
		"several":  write(t, "several", audittest.Report(), couldNotRun(), shaped(t, "D4")),
		"hostile":  write(t, "hostile", bad, audit.CouldNotRun(bad.Model, audit.Policy{}, errors.New(bad.Model))),
		"none":     write(t, "none"),
		"quarters": write(t, "quarters", shaped(t, "D4")),
		"shifts":   write(t, "shifts", shaped(t, "T(2,Z)")),
		"many":     write(t, "many", shaped(t, "SE(2)")),
		"empty":    write(t, "empty", &audit.Report{Model: "empty"}),
		"odd":      write(t, "odd", odd()),
	}
}

// shaped is a report over elements of a group whose profile is drawn in another way.
func shaped(t *testing.T, name string) *audit.Report {
	t.Helper()
	g, err := catalog.Parse(name)
	if err != nil {
		t.Fatal(err)
	}
	r := audittest.Report()
	r.Model, r.Group = name, g.Name()
	s := r.Results[1].Sets[1]
	s.Profile = nil
	add := func(e group.Element) {
		k := float64(len(s.Profile)%7 + 1)
		s.Profile = append(s.Profile, audit.Point{
			Element: e, Label: group.Format(g, e), N: 10, Mean: 1e-6 * k,
			P95: 2e-6 * k, Max: 1e-4 * k, Resampling: 1e-5,
		})
	}
	switch f, ok := g.(group.Finite); {
	case ok:
		for _, e := range f.Elements() {
			add(e)
		}
	case len(g.Chart()) == 2:
		for dx := -4.0; dx <= 4; dx++ {
			for dy := -3.0; dy <= 3; dy++ {
				if dx != 0 || dy != 0 {
					add(group.Element{dx, dy})
				}
			}
		}
	default:
		for i := range 60 {
			e := slices.Clone(g.Identity())
			e[0] = float64(i)
			add(e)
		}
	}
	r.Results[1].Sets = []*audit.Set{s}
	r.Results[1].Sets[0].At = audit.Where{
		Sample: "a", Index: 0, Element: s.Profile[0].Element,
		Label: s.Profile[0].Label,
	}
	return r
}

// odd is a report with exhibits of every size, numbers that are none among them.
func odd() *audit.Report {
	nan, inf := math.NaN(), math.Inf(1)
	r := audittest.Report()
	r.Model = "odd"
	big := make([]float64, 200*150)
	for i := range big {
		big[i] = math.Sin(float64(i) / 400)
	}
	deep := &audit.Table{Columns: []audit.Column{
		{Name: "layer"},
		{Name: "error"},
		{Name: "share", Unit: "share"},
		{Name: "time", Unit: "ms"},
	}}
	for i := range 70 {
		deep.Rows = append(deep.Rows, []audit.Cell{
			audit.Word(fmt.Sprintf("/stage%d/block%d/conv_with_a_long_name/Conv", i/10, i)),
			audit.Num(math.Pow(10, -float64(i%9))),
			audit.Num(math.Cos(float64(i)) / 10), audit.Num(float64(i)),
		})
	}
	log := &audit.Curve{
		Y: audit.Scale{Name: "error", Log: true}, X: audit.Scale{Name: "shift", Unit: "px"}, Limit: 1e-4,
		Series: []audit.Series{
			{Name: "s", X: []float64{0, 1, 2, 3, 4}, Y: []float64{0, 0.1, 0, 0.1, 0}},
			{Name: "longer", X: []float64{0, 1, 2}, Y: []float64{1e-9, 1e-3}},
		},
	}
	r.Results = append(r.Results, &audit.Result{
		Check: &audit.Check{Name: "odd", Doc: "Odd asks about odd exhibits."}, Status: audit.Tested,
		Verdict: audit.NeedsAttention,
		Exhibits: []audit.Exhibit{
			{Name: "a", Title: "empty table", Table: &audit.Table{Columns: []audit.Column{{Name: "a"}}}},
			{Name: "b", Title: "no columns", Table: &audit.Table{}},
			{Name: "c", Title: "seventy layers", Table: deep},
			{Name: "d", Title: "empty curve", Curve: &audit.Curve{Limit: nan}},
			{
				Name: "e", Title: "nothing finite",
				Curve: &audit.Curve{
					Limit:  inf,
					Series: []audit.Series{{Name: "s", X: []float64{nan, 1}, Y: []float64{inf, nan}}},
				},
			},
			{
				Name: "f", Title: "one point",
				Curve: &audit.Curve{Limit: nan, Series: []audit.Series{{Name: "s", X: []float64{3}, Y: []float64{0}}}},
			},
			{Name: "g", Title: "zero on a logarithmic axis", Curve: log},
			{Name: "h", Title: "unknown map", Map: &audit.Map{H: 1, W: 2, Val: []float64{nan, nan}}},
			{Name: "i", Title: "equal map", Map: &audit.Map{H: 1, W: 3, Val: []float64{2, 2, 2}}},
			{Name: "j", Title: "infinite map", Map: &audit.Map{H: 2, W: 1, Val: []float64{inf, -1}, Diverging: true}},
			{Name: "k", Title: "large map", Map: &audit.Map{H: 150, W: 200, Val: big, Diverging: true, Unit: "logits"}},
			{Name: "l", Title: "map that is too short", Map: &audit.Map{H: 3, W: 3, Val: []float64{1}}},
			{Name: "m", Title: "tall map", Map: &audit.Map{H: 60, W: 2, Val: big[:120]}},
			{Name: "n", Title: "nothing"},
		},
	})
	r.Gallery = append(r.Gallery,
		audit.Case{
			Title: "broken picture", Where: audit.Nowhere,
			Pictures: []audit.Picture{{Caption: "cut off", W: 9, H: 9, Pix: []byte{1}}},
		})
	return r
}

// element is what a page is made of.
type element struct {
	xml.StartElement
	parents []string
	text    *strings.Builder
}

func (e element) attr(name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// parse reads a page strictly: every element closed in its place, every attribute quoted.
func parse(name, s string) ([]element, error) {
	d := xml.NewDecoder(strings.NewReader(s))
	var all []element
	var open []int
	for {
		tok, err := d.Token()
		if errors.Is(err, io.EOF) {
			if len(open) > 0 {
				return nil, fmt.Errorf("%s: %d elements are left open", name, len(open))
			}
			return all, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s is not well-formed: %w", name, err)
		}
		switch x := tok.(type) {
		case xml.StartElement:
			var parents []string
			for _, i := range open {
				parents = append(parents, all[i].Name.Local)
			}
			open = append(open, len(all))
			all = append(all, element{x.Copy(), parents, &strings.Builder{}})
		case xml.EndElement:
			open = open[:len(open)-1]
		case xml.CharData:
			for _, i := range open {
				all[i].text.Write(x)
			}
		}
	}
}

func elements(t *testing.T, name, s string) []element {
	t.Helper()
	all, err := parse(name, s)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

var (
	allowed = strings.Fields(
		`html head meta title style body a header h1 h2 h3 h4 span nav ul ol li main section div dl dt dd p strong figure figcaption details summary
		table caption thead tbody tr th td pre code meter img svg desc g path line rect circle text image br`)
	fetches = regexp.MustCompile(`(?i)url\(|@import|expression\(|javascript:`)
	data    = regexp.MustCompile(`^data:image/png;base64,[A-Za-z0-9+/]+=*$`)
)

// A page from disk asks nothing of anybody: no element that loads, runs or sends, no address but pictures inside the
// page and places in it, and a policy that forbids the rest and names the one style sheet.
func TestNoRequests(t *testing.T) {
	for name, s := range pages(t) {
		style, policy := "", ""
		for _, e := range elements(t, name, s) {
			if !slices.Contains(allowed, e.Name.Local) {
				t.Errorf("%s: element %s", name, e.Name.Local)
			}
			for _, a := range e.Attr {
				key := strings.ToLower(a.Name.Local)
				switch {
				case strings.HasPrefix(key, "on") ||
					slices.Contains([]string{"style", "srcset", "action", "ping", "background", "poster", "data"}, key):
					t.Errorf("%s: attribute %s of %s", name, key, e.Name.Local)
				case key == "href" && e.Name.Local == "a":
					if !strings.HasPrefix(a.Value, "#") {
						t.Errorf("%s: a link to %s", name, a.Value)
					}
				case key == "src" || key == "href":
					if !data.MatchString(a.Value) {
						t.Errorf("%s: %s=%.60s", name, key, a.Value)
						continue
					}
					raw, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(a.Value, "data:image/png;base64,"))
					if err != nil {
						t.Errorf("%s: %v", name, err)
					} else if _, err := png.Decode(bytes.NewReader(raw)); err != nil {
						t.Errorf("%s: %v", name, err)
					}
				}
			}
			switch {
			case e.Name.Local == "style":
				style += e.text.String()
			case e.attr("http-equiv") == "Content-Security-Policy":
				policy = e.attr("content")
			case e.attr("http-equiv") != "":
				t.Errorf("%s: http-equiv %s", name, e.attr("http-equiv"))
			}
		}
		if m := fetches.FindString(style); m != "" {
			t.Errorf("%s: the style sheet holds %s", name, m)
		}
		sum := sha256.Sum256([]byte(style))
		want := "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
			"'; img-src data:; base-uri 'none'; form-action 'none'"
		if policy != want {
			t.Errorf("%s: policy %s\nwant %s", name, policy, want)
		}
	}
}

// Identifiers are unique, what points to one finds it, and whoever does not see a plot is told of it.
func TestAccessible(t *testing.T) {
	for name, s := range pages(t) {
		ids := map[string]bool{}
		var refs []string
		all := elements(t, name, s)
		level := 0
		for i, e := range all {
			if id := e.attr("id"); id != "" {
				if ids[id] {
					t.Errorf("%s: two elements are called %s", name, id)
				}
				ids[id] = true
			}
			refs = append(refs, strings.Fields(e.attr("aria-labelledby"))...)
			switch tag := e.Name.Local; tag {
			case "a":
				refs = append(refs, strings.TrimPrefix(e.attr("href"), "#"))
			case "svg":
				if e.attr("role") != "img" || e.attr("aria-labelledby") == "" {
					t.Errorf("%s: a drawing without a role or a name", name)
				}
				if all[i+1].Name.Local != "title" || all[i+2].Name.Local != "desc" ||
					strings.TrimSpace(all[i+1].text.String()) == "" || strings.TrimSpace(all[i+2].text.String()) == "" {
					t.Errorf("%s: a drawing without title and description", name)
				}
			case "img":
				if e.attr("alt") == "" || e.attr("width") == "" || e.attr("height") == "" {
					t.Errorf("%s: a picture without words or size", name)
				}
			case "table":
				if all[i+1].Name.Local != "caption" || strings.TrimSpace(all[i+1].text.String()) == "" {
					t.Errorf("%s: a table without a caption", name)
				}
			case "th":
				if e.attr("scope") == "" {
					t.Errorf("%s: a heading of a table without a scope", name)
				}
			case "html":
				if e.attr("lang") != "en" {
					t.Errorf("%s: language %q", name, e.attr("lang"))
				}
			case "h1", "h2", "h3", "h4":
				now := int(tag[1] - '0')
				if now > level+1 {
					t.Errorf("%s: h%d follows h%d", name, now, level)
				}
				level = now
			}
			if strings.Contains(e.attr("class"), "scroll") &&
				(e.attr("tabindex") != "0" || e.attr("aria-label") == "") {
				t.Errorf("%s: a part that scrolls cannot be reached by keys", name)
			}
		}
		for _, r := range refs {
			if !ids[r] {
				t.Errorf("%s: nothing is called %q", name, r)
			}
		}
	}
}

// Every plot has a table of its numbers below it, with a row for each.
func TestPlotsHaveTheirNumbers(t *testing.T) {
	r := audittest.Report()
	s := write(t, "full", r)
	all := elements(t, "full", s)
	rows := map[string]int{} // of the tables by the plot that they belong to
	plot := ""
	var order []string
	for _, e := range all {
		switch {
		case e.Name.Local == "figure" && e.attr("id") != "":
			plot = strings.TrimSpace(strings.SplitN(strings.TrimSpace(e.text.String()), "\n", 2)[0])
			order = append(order, plot)
		case e.Name.Local == "tr" && slices.Contains(e.parents, "tbody") && slices.Contains(e.parents, "figure"):
			rows[plot]++
		}
	}
	var got []int
	for _, p := range order {
		got = append(got, rows[p])
	}
	// 23 elements; 11 points and the limit; 4 layers; 12 rows of each map.
	if want := []int{23, 12, 4, 12, 12}; !slices.Equal(got, want) {
		t.Errorf("the plots %q have %d rows of numbers, want %d", order, got, want)
	}
	for _, want := range []string{
		`<td class="r">0.317</td>`, `<td class="r">0.015</td>`, ">−2.0%<",
		"untestable (no action)",
	} {
		if !strings.Contains(s, want) {
			t.Errorf("no %s", want)
		}
	}
}

// What a reader looks for is there in words.
func TestSaysWhatTheOthersSay(t *testing.T) {
	body := ""
	for _, e := range elements(t, "full", write(t, "full", audittest.Report())) {
		if e.Name.Local == "body" {
			body = strings.Join(strings.Fields(e.text.String()), " ")
		}
	}
	for _, want := range []string{
		"zero padding at the border at /conv1/Conv, 72% sure", "Else: striding or pooling, 15%",
		"What to do: pad circularly", "0.0001 (preset production)",
		"nero audit studies/digits/demo.yaml --only digits-original --replay d-0017@45",
		"gradient: not tested: operator Mod of node /mod has no derivative",
		"P(relative error > 0.0001 at one or more of 3 elements) ≤ 3.6% with confidence 95.0%", "wasm 1.18.0, float32",
		"sha256 0123456789abcdef", "score of this audit",
		"24 elements (uniform grid of 24 angles), 1 exact added by the audit", "in double precision the error falls",
		"A test that would settle it: whether the graph pads with zeros",
		"high continuous elements: the model changes", "not part of this audit: conservative forces",
	} {
		if !strings.Contains(body, want) {
			t.Errorf("no %q", want)
		}
	}
}

// Names and messages from outside stay text: the page has as many drawings as with harmless ones, and nothing that
// runs.
func TestHostileText(t *testing.T) {
	count := func(s string) map[string]int {
		n := map[string]int{}
		for _, e := range elements(t, "hostile", s) {
			n[e.Name.Local]++
		}
		return n
	}
	s := write(t, "hostile", audittest.Hostile())
	for i, c := range s {
		if c != '\n' && c != '\t' && unicode.IsControl(c) || c == '\u202e' {
			t.Errorf("character %q at byte %d", c, i)
			break
		}
	}
	bad, good := count(s), count(write(t, "full", audittest.Report()))
	for _, tag := range []string{"svg", "img", "style", "section", "table", "figure"} {
		if bad[tag] != good[tag] {
			t.Errorf("%d elements %s, %d with harmless names", bad[tag], tag, good[tag])
		}
	}
	if bad["script"] > 0 {
		t.Error("a name became a script")
	}
}

func TestGolden(t *testing.T) {
	for name, reports := range map[string][]*audit.Report{"full": {audittest.Report(), couldNotRun()}, "none": nil} {
		got := write(t, "golden", reports...)
		if again := write(t, "golden", reports...); again != got {
			t.Error("equal reports give different bytes")
		}
		path := filepath.Join("testdata", name+".html")
		if *update {
			if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(string(want), got); d != "" {
			t.Errorf("%s differs (-want +got); run with -update if that is meant:\n%.4000s", path, d)
		}
	}
}

// Whatever the numbers, a drawing holds finite coordinates near its frame.
func TestDrawingsAreFinite(t *testing.T) {
	number := rapid.OneOf(rapid.Float64(),
		rapid.SampledFrom([]float64{
			0, 1, -1, math.NaN(), math.Inf(1), math.Inf(-1), 1e-320, math.MaxFloat64,
			-math.MaxFloat64,
		}))
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(0, 6).Draw(rt, "n")
		some := func(label string) []float64 { return rapid.SliceOfN(number, n, n).Draw(rt, label) }
		c := &audit.Curve{
			X: audit.Scale{
				Name: "x", Unit: rapid.SampledFrom([]string{"", "deg"}).Draw(rt, "unit"),
				Log: rapid.Bool().Draw(rt, "logx"),
			},
			Y: audit.Scale{Name: "y", Log: rapid.Bool().Draw(rt, "logy")}, Limit: number.Draw(rt, "limit"),
			Series: []audit.Series{
				{Name: "a", X: some("x"), Y: some("y"), Lo: some("lo"), Hi: some("hi")},
				{Name: "b", X: some("x2"), Y: some("y2"), Marks: true},
			},
		}
		m := &audit.Map{H: 1, W: n, Val: some("map"), Diverging: rapid.Bool().Draw(rt, "diverging")}
		b := &audit.Table{Columns: []audit.Column{
			{Name: "a"},
			{Name: "b", Unit: rapid.SampledFrom([]string{"", "share"}).Draw(rt, "unit of bars")},
		}}
		for i, v := range some("bars") {
			b.Rows = append(b.Rows, []audit.Cell{audit.Word(strconv.Itoa(i)), audit.Num(v)})
		}
		s := &audit.Set{Name: "s"}
		for i, v := range some("profile") {
			s.Profile = append(s.Profile, audit.Point{
				Element: group.Element{float64(i)}, Label: "e", Mean: v, Max: v,
				Resampling: v, Exact: i%2 == 0,
			})
		}
		r := &audit.Report{
			Model: "m", Group: rapid.SampledFrom([]string{"C4", "D4", "SO(2)", "none"}).Draw(rt, "group"),
			Policy: audit.Policy{Threshold: number.Draw(rt, "threshold")},
			Results: []*audit.Result{{
				Check: &audit.Check{Name: "c", Doc: "D."}, Status: audit.Tested, Sets: []*audit.Set{s},
				Exhibits: []audit.Exhibit{{Title: "c", Curve: c}, {Title: "m", Map: m}, {Title: "t", Table: b}},
			}},
		}
		var out bytes.Buffer
		if err := html.Write(&out, audit.Document(r)); err != nil {
			rt.Fatal(err)
		}
		all, err := parse("random", out.String())
		if err != nil {
			rt.Fatal(err)
		}
		for _, e := range all {
			if !slices.Contains(e.parents, "svg") {
				continue
			}
			for _, a := range e.Attr {
				switch a.Name.Local {
				case "x", "y", "x1", "x2", "y1", "y2", "cx", "cy", "width", "height":
					if v, err := strconv.ParseFloat(a.Value, 64); err != nil || !(v >= -20 && v <= 480) {
						rt.Fatalf("%s %s=%q", e.Name.Local, a.Name.Local, a.Value)
					}
				case "d":
					if strings.ContainsAny(a.Value, "NIne+") {
						rt.Fatalf("path %q", a.Value)
					}
				}
			}
		}
	})
}

// An audit of the size of that of the digits, with more layers than they have, stays small.
func TestSize(t *testing.T) {
	r := odd()
	pix := make([]byte, 28*28)
	for i := range pix {
		pix[i] = byte(i * 7919 >> 3) // hard to compress
	}
	for i := range 12 {
		c := audit.Case{Title: fmt.Sprintf("case %d", i), Where: audit.Nowhere}
		for j := range 4 {
			c.Pictures = append(c.Pictures, audit.Picture{
				Caption: fmt.Sprintf("picture %d", j), W: 28, H: 28,
				Pix: pix,
			})
		}
		r.Gallery = append(r.Gallery, c)
	}
	for i := range 4 {
		e := audit.Exhibit{
			Name: "map", Title: fmt.Sprintf("map %d", i),
			Map: &audit.Map{H: 28, W: 28, Val: make([]float64, 28*28)},
		}
		for k := range e.Map.Val {
			e.Map.Val[k] = math.Sqrt(float64(k))
		}
		r.Results[0].Exhibits = append(r.Results[0].Exhibits, e)
	}
	n := len(write(t, "size", r, r, r, r))
	t.Logf("%d bytes", n)
	if n > 2<<20 {
		t.Errorf("four models make %d bytes, want at most 2 MiB", n)
	}
}

func BenchmarkHTML(b *testing.B) {
	r := odd()
	for b.Loop() {
		if err := html.Write(io.Discard, audit.Document(r)); err != nil {
			b.Fatal(err)
		}
	}
}

// A card says what the page begins with, asks for nothing, and shares no name and no style with the page around it.
func TestCard(t *testing.T) {
	card := func(reports ...*audit.Report) string {
		var b bytes.Buffer
		if err := html.WriteCard(&b, audit.Document(reports...)); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	r := audittest.Report()
	got := card(r)
	page := write(t, "page", r)
	for _, line := range r.Gist() {
		if !strings.Contains(page, line) || !strings.Contains(got, line) {
			t.Errorf("the card does not say %q", line)
		}
	}
	if n := strings.Count(got, "<svg"); n == 0 || n >= strings.Count(page, "<svg") {
		t.Errorf("%d plots, want those along the orbit", n)
	}
	for _, bad := range []string{"<script", "<html", "<body", "<link", "http:", "https:", ":root", "url("} {
		if strings.Contains(got, bad) {
			t.Errorf("the card holds %q", bad)
		}
	}
	style := got[strings.Index(got, "<style>")+len("<style>") : strings.Index(got, "</style>")]
	elements(t, "card", strings.Replace(got, style, "", 1)) // it is well formed
	if !strings.HasPrefix(style, ".nero-card {") || strings.Count(style, "{") != strings.Count(style, "}") {
		t.Error("the style is not one block for the card")
	}
	names := regexp.MustCompile(` id="([^"]*)"`)
	seen := map[string]bool{}
	other := card(couldNotRun(), r)
	for _, m := range slices.Concat(names.FindAllStringSubmatch(got, -1), names.FindAllStringSubmatch(other, -1)) {
		if seen[m[1]] {
			t.Errorf("the name %s occurs twice", m[1])
		}
		seen[m[1]] = true
	}
	if !strings.Contains(other, "open missing.onnx: no such file") {
		t.Error("a card of an audit that could not run does not say why")
	}
	if strings.Contains(card(audittest.Hostile()), "<script") {
		t.Error("a name became a script")
	}
}
