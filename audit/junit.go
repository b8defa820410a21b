package audit

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
)

type junitSuites struct {
	XMLName  xml.Name     `xml:"testsuites"`
	Name     string       `xml:"name,attr"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Errors   int          `xml:"errors,attr"`
	Suites   []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string `xml:"name,attr"`
	Tests    int    `xml:"tests,attr"`
	Failures int    `xml:"failures,attr"`
	Errors   int    `xml:"errors,attr"`
	Skipped  int    `xml:"skipped,attr"`

	Properties *junitProperties `xml:"properties"`
	Cases      []junitCase      `xml:"testcase"`
}

type junitProperties struct {
	Property []junitProperty `xml:"property"`
}

type junitProperty struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

type junitCase struct {
	Name    string      `xml:"name,attr"`
	Class   string      `xml:"classname,attr"`
	Skipped *junitNote  `xml:"skipped"`
	Error   *junitNote  `xml:"error"`
	Failure *junitNote  `xml:"failure"`
	Out     *junitPlain `xml:"system-out"`
}

type junitPlain struct {
	Text string `xml:",chardata"`
}

type junitNote struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr,omitempty"`
	Text    string `xml:",chardata"`
}

// JUnit writes reports as JUnit XML for build servers: a suite per model, a case per check and one for the verdict. A
// check whose verdict ends the program with an exit code other than 0 is a failure, one that was not tested or does not
// apply is skipped, an audit that could not run is an error. The case of the verdict fails with the whole, so that a
// skipped check cannot make a build green.
func JUnit(w io.Writer, reports ...*Report) error {
	all := junitSuites{Name: "nero audit"}
	for _, r := range reports {
		s := suite(r)
		all.Tests += s.Tests
		all.Failures += s.Failures
		all.Errors += s.Errors
		all.Suites = append(all.Suites, s)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(all); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func suite(r *Report) junitSuite {
	s := junitSuite{Name: r.Model}
	if len(r.About) > 0 {
		s.Properties = &junitProperties{}
		for _, a := range r.About {
			s.Properties.Property = append(s.Properties.Property, junitProperty(a))
		}
	}
	class := "nero.audit." + r.Model
	add := func(c junitCase) {
		c.Class = class
		s.Tests++
		switch {
		case c.Error != nil:
			s.Errors++
		case c.Failure != nil:
			s.Failures++
		case c.Skipped != nil:
			s.Skipped++
		}
		s.Cases = append(s.Cases, c)
	}
	if r.Error != "" {
		add(junitCase{Name: "verdict", Error: &junitNote{Message: r.Error, Type: couldNotRun}})
		return s
	}
	for _, c := range r.Results {
		j := junitCase{Name: c.Check.Name}
		text := body(r, c)
		switch {
		case c.Status != Tested && !r.ends(c.Verdict) || c.Verdict == "":
			j.Skipped = &junitNote{Message: fmt.Sprintf("%s: %s", c.Status, c.Reason)}
		case r.ends(c.Verdict):
			j.Failure = &junitNote{Message: first(c), Type: string(c.Verdict), Text: text}
		case text != "":
			j.Out = &junitPlain{Text: text}
		}
		add(j)
	}
	j := junitCase{Name: "verdict"}
	text := strings.Join(append(sentences(r), r.Reasons...), "\n")
	if r.ends(r.Verdict) {
		j.Failure = &junitNote{Message: string(r.Verdict), Type: string(r.Verdict), Text: text}
	} else {
		j.Out = &junitPlain{Text: string(r.Verdict) + "\n" + text}
	}
	add(j)
	return s
}

// sentences are the three questions with their answers, and the most likely cause.
func sentences(r *Report) []string {
	var out []string
	for _, q := range r.Questions() {
		out = append(out, q.Text)
		for _, a := range q.Answers {
			out = append(out, "  "+a)
		}
	}
	for _, d := range r.Diagnoses {
		out = append(out, "cause: "+cause(d))
	}
	return out
}

// ends reports whether a verdict ends the program with an exit code other than 0.
func (r *Report) ends(v Verdict) bool {
	x := *r
	x.Verdict = v
	return x.exit() != ExitPass
}

// first is the one line that explains the verdict of a check.
func first(c *Result) string {
	for _, s := range c.Sets {
		if s.Verdict == c.Verdict {
			return s.Name + ": " + s.Reason
		}
	}
	for _, f := range c.Findings {
		return f.Message
	}
	return string(c.Verdict)
}

// body is everything that a check has to say.
func body(r *Report, c *Result) string {
	var b strings.Builder
	for _, s := range c.Sets {
		fmt.Fprintf(&b, "%s: %s: %s\n", s.Name, s.Verdict, s.Reason)
	}
	for _, f := range r.Graded() {
		if f.Check != c.Check.Name {
			continue
		}
		fmt.Fprintf(&b, "%s %s: %s\n", f.Severity, f.Category, f.Message)
		for _, e := range f.Evidence {
			fmt.Fprintf(&b, "  %s\n", evidence(e))
		}
		for _, x := range f.Remedies {
			fmt.Fprintf(&b, "  try: %s\n", x)
		}
		if x := r.Replay(f.Worst); x != "" {
			fmt.Fprintf(&b, "  replay: %s\n", x)
		}
	}
	for _, e := range c.Measures {
		fmt.Fprintf(&b, "%s\n", evidence(e))
	}
	return b.String()
}
