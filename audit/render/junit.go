package render

import (
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strings"

	"nero/audit/document"
)

// JUnit is XML for build servers: a suite per model, a case per check and one for the verdict. A check whose verdict
// ends the program with an exit code other than 0 is a failure, one that was not tested or does not apply is skipped,
// an audit that could not run is an error. The case of the verdict fails with the whole, so that a skipped check
// cannot make a build green.
var JUnit = Format{Name: "junit", File: "audit.junit.xml", Doc: "JUnit XML for build servers", Render: writeJUnit}

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

func writeJUnit(w io.Writer, a *document.Audit) error {
	all := junitSuites{Name: "nero audit"}
	for i := range a.Models {
		s := suite(&a.Models[i])
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

func suite(m *document.Model) junitSuite {
	s := junitSuite{Name: m.Model}
	if facts := slices.Concat(m.Specification(), m.About); len(facts) > 0 {
		s.Properties = &junitProperties{}
		for _, a := range facts {
			s.Properties.Property = append(s.Properties.Property, junitProperty{Name: a.Name, Value: a.Value})
		}
	}
	class := "nero.audit." + m.Model
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
	if m.Error != "" {
		add(junitCase{Name: "verdict", Error: &junitNote{Message: m.Error, Type: string(document.CouldNotRun)}})
		return s
	}
	ends := m.Policy.FailOn.Ends
	for i := range m.Checks {
		c := &m.Checks[i]
		j := junitCase{Name: c.Check}
		text := body(c)
		switch {
		case c.Status != document.Tested && !ends(c.Verdict) || c.Verdict == "":
			j.Skipped = &junitNote{Message: fmt.Sprintf("%s: %s", c.Status, c.Reason)}
		case ends(c.Verdict):
			j.Failure = &junitNote{Message: c.Headline(), Type: string(c.Verdict), Text: text}
		case text != "":
			j.Out = &junitPlain{Text: text}
		}
		add(j)
	}
	j := junitCase{Name: "verdict"}
	text := strings.Join(append(sentences(m), m.Reasons...), "\n")
	if ends(m.Verdict) {
		j.Failure = &junitNote{Message: string(m.Verdict), Type: string(m.Verdict), Text: text}
	} else {
		j.Out = &junitPlain{Text: string(m.Verdict) + "\n" + text}
	}
	add(j)
	return s
}

// sentences are the gist, the three questions with their answers, and the most likely cause.
func sentences(m *document.Model) []string {
	out := slices.Clone(m.Gist)
	for _, q := range m.Questions {
		out = append(out, q.Question)
		for _, a := range q.Answers {
			out = append(out, "  "+a)
		}
	}
	for _, d := range m.Diagnoses {
		out = append(out, "cause: "+d.String())
	}
	return out
}

// body is everything that a check has to say.
func body(c *document.Check) string {
	var b strings.Builder
	for i := range c.Sets {
		s := &c.Sets[i]
		fmt.Fprintf(&b, "%s: %s: %s\n", s.Name, s.Verdict, s.Reason)
	}
	for i := range c.Findings {
		f := &c.Findings[i]
		fmt.Fprintf(&b, "%s %s: %s\n", f.Severity, f.Kind(), f.Message)
		for _, e := range f.Evidence {
			fmt.Fprintf(&b, "  %s\n", e.Text)
		}
		for _, x := range f.Remedies {
			fmt.Fprintf(&b, "  try: %s\n", x)
		}
		if f.Replay != "" {
			fmt.Fprintf(&b, "  replay: %s\n", f.Replay)
		}
	}
	for _, e := range c.Measures {
		fmt.Fprintf(&b, "%s\n", e.Text)
	}
	return b.String()
}
