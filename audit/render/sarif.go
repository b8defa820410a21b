package render

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"

	"nero/audit/document"
)

// SARIF is a SARIF 2.1.0 log with one run: rules are the checks, results the findings with a level from their severity
// (high is error, medium warning, the others note), the model file as the place and the layer, port or element as the
// logical place. A check that was not tested and an audit that could not run are notifications. Fingerprints are made
// of model, check, category, set and location, so that a finding keeps its identity when its numbers change.
var SARIF = Format{Name: "sarif", File: "audit.sarif", Doc: "SARIF 2.1.0 for code scanners", Render: writeSARIF}

// The Static Analysis Results Interchange Format (SARIF) version 2.1.0, OASIS standard with errata 01, 2023: the part
// of it that an audit fills in. The paragraphs named below are those of the standard.
const (
	sarifVersion = "2.1.0"
	sarifSchema  = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)

type sarifLog struct {
	Schema  string     `json:"$schema"`
	Version string     `json:"version"`
	Runs    []sarifRun `json:"runs"`
}

type sarifRun struct {
	Tool        sarifTool         `json:"tool"`
	Automation  sarifAutomation   `json:"automationDetails"`
	Invocations []sarifInvocation `json:"invocations"`
	Artifacts   []sarifArtifact   `json:"artifacts,omitempty"`
	Results     []sarifResult     `json:"results"`
	Columns     string            `json:"columnKind"`
	Properties  sarifRunBag       `json:"properties"`
}

type sarifTool struct {
	Driver sarifDriver `json:"driver"`
}

type sarifDriver struct {
	Name  string      `json:"name"`
	Rules []sarifRule `json:"rules"`
}

type sarifRule struct {
	ID     string       `json:"id"`
	Short  sarifMessage `json:"shortDescription"`
	Full   sarifMessage `json:"fullDescription"`
	Help   sarifMessage `json:"help"`
	Config sarifConfig  `json:"defaultConfiguration"`
}

type sarifConfig struct {
	Level string `json:"level"`
}

type sarifMessage struct {
	Text string `json:"text"`
}

type sarifAutomation struct {
	ID string `json:"id"`
}

type sarifInvocation struct {
	Successful    bool                `json:"executionSuccessful"`
	ExitCode      int                 `json:"exitCode"`
	CommandLine   string              `json:"commandLine,omitempty"`
	Notifications []sarifNotification `json:"toolExecutionNotifications"`
}

type sarifNotification struct {
	Level   string         `json:"level"`
	Message sarifMessage   `json:"message"`
	Rule    *sarifRuleLink `json:"associatedRule,omitempty"`
}

type sarifRuleLink struct {
	ID    string `json:"id"`
	Index int    `json:"index"`
}

type sarifArtifact struct {
	Location sarifURI          `json:"location"`
	Roles    []string          `json:"roles"`
	Hashes   map[string]string `json:"hashes,omitempty"`
}

type sarifURI struct {
	URI string `json:"uri"`
}

type sarifResult struct {
	RuleID       string            `json:"ruleId"`
	RuleIndex    int               `json:"ruleIndex"`
	Level        string            `json:"level"`
	Message      sarifMessage      `json:"message"`
	Locations    []sarifLocation   `json:"locations"`
	Fingerprints map[string]string `json:"partialFingerprints"`
	Properties   sarifResultBag    `json:"properties"`
}

type sarifLocation struct {
	Physical *sarifPhysical `json:"physicalLocation,omitempty"`
	Logical  []sarifLogical `json:"logicalLocations"`
}

type sarifPhysical struct {
	Artifact sarifURI    `json:"artifactLocation"`
	Region   sarifRegion `json:"region"`
}

// sarifRegion is the first line for every file: a model is binary, and readers of the format want a line to hang a
// result on.
type sarifRegion struct {
	StartLine int `json:"startLine"`
}

type sarifLogical struct {
	Name      string `json:"name"`
	Qualified string `json:"fullyQualifiedName"`
	Kind      string `json:"kind"`
}

// sarifResultBag is what has no place in the standard (3.8).
type sarifResultBag struct {
	Model    string              `json:"model"`
	Category string              `json:"category"`
	Severity document.Severity   `json:"severity"`
	Set      string              `json:"set,omitempty"`
	Evidence []document.Evidence `json:"evidence"`
	Worst    *document.Where     `json:"worst,omitempty"`
	Remedies []string            `json:"remedies"`
	Replay   string              `json:"replay,omitempty"`
}

type sarifRunBag struct {
	Verdict document.Verdict `json:"verdict"`
	Models  []sarifModel     `json:"models"`
}

type sarifModel struct {
	Model     string               `json:"model"`
	Verdict   document.Verdict     `json:"verdict"`
	Group     string               `json:"group,omitempty"`
	Reasons   []string             `json:"reasons"`
	Diagnoses []document.Diagnosis `json:"diagnoses"`
	About     []document.Fact      `json:"about"`
	// symmetry type, actions, what was left out, author, anomalies and tests to follow
	Specification []document.Fact `json:"specification,omitempty"`
}

func writeSARIF(w io.Writer, a *document.Audit) error {
	run := sarifRun{
		Tool: sarifTool{sarifDriver{Name: "nero", Rules: []sarifRule{}}}, Automation: sarifAutomation{"nero/audit/"},
		Columns: "unicodeCodePoints", Results: []sarifResult{},
		Properties: sarifRunBag{Verdict: document.Overall(a.Models), Models: []sarifModel{}},
	}
	inv := sarifInvocation{
		Successful: len(a.Models) > 0, ExitCode: a.Exit, Notifications: []sarifNotification{},
	}
	index := map[string]int{}
	seen := map[string]int{}
	for i := range a.Models {
		m := &a.Models[i]
		run.Properties.Models = append(run.Properties.Models, sarifModel{
			m.Model, document.Overall(a.Models[i : i+1]), m.Claim.Group, m.Reasons, m.Diagnoses, m.About,
			m.Specification(),
		})
		if inv.CommandLine == "" {
			inv.CommandLine = m.Command
		}
		if m.Error != "" {
			inv.Successful = false
			inv.Notifications = append(inv.Notifications,
				sarifNotification{Level: "error", Message: sarifMessage{m.Model + ": " + m.Error}})
			continue
		}
		run.artifact(m)
		for k := range m.Checks {
			c := &m.Checks[k]
			rule, ok := index[c.Check]
			if !ok {
				rule = len(run.Tool.Driver.Rules)
				index[c.Check] = rule
				run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, ruleOf(c))
			}
			if c.Status == document.NotTested {
				inv.Notifications = append(inv.Notifications, sarifNotification{
					Level: "warning", Rule: &sarifRuleLink{c.Check, rule},
					Message: sarifMessage{fmt.Sprintf("%s: %s: not tested: %s", m.Model, c.Check, c.Reason)},
				})
			}
		}
		for _, f := range m.Findings() {
			run.Results = append(run.Results, resultOf(m, f, index[f.Check], seen))
		}
	}
	run.Invocations = []sarifInvocation{inv}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(sarifLog{sarifSchema, sarifVersion, []sarifRun{run}})
}

func ruleOf(c *document.Check) sarifRule {
	doc := sarifMessage{cmp.Or(strings.TrimSpace(c.Doc), c.Summary, c.Check)}
	return sarifRule{c.Check, sarifMessage{cmp.Or(c.Summary, doc.Text)}, doc, doc, sarifConfig{"warning"}}
}

// levelOf is the level of a severity (3.27.10).
func levelOf(s document.Severity) string {
	switch s {
	case document.High:
		return "error"
	case document.Medium:
		return "warning"
	case document.Low, document.Note:
	}
	return "note"
}

// artifact names the file of a model, once.
func (run *sarifRun) artifact(m *document.Model) {
	file := m.Fact(document.AboutFile)
	if file == "" {
		return
	}
	a := sarifArtifact{Location: sarifURI{fileURI(file)}, Roles: []string{"analysisTarget"}}
	if digest := m.Fact(document.AboutDigest); digest != "" {
		a.Hashes = map[string]string{"sha-256": digest}
	}
	if !slices.ContainsFunc(run.Artifacts, func(b sarifArtifact) bool { return b.Location == a.Location }) {
		run.Artifacts = append(run.Artifacts, a)
	}
}

// fileURI is a path as a URI reference (3.4.3): relative paths stay relative, with forward slashes and what is not
// allowed in a URI escaped.
func fileURI(file string) string {
	file = strings.ReplaceAll(file, `\`, "/")
	if len(file) > 1 && file[1] == ':' { // C:/models
		file = "/" + file
	}
	u := url.URL{Path: path.Clean(file)}
	if strings.HasPrefix(u.Path, "/") {
		u.Scheme = "file"
		return "file://" + u.EscapedPath()
	}
	return strings.TrimPrefix(u.String(), "./")
}

func resultOf(m *document.Model, f document.Found, rule int, seen map[string]int) sarifResult {
	text := f.Message
	if len(f.Evidence) > 0 {
		text += "\n\n" + f.Evidence[0].Text
	}
	if len(f.Remedies) > 0 {
		text += "\n\nTry: " + strings.Join(f.Remedies, "; ")
	}
	if f.Replay != "" {
		text += "\n\nRepeat the worst case: " + f.Replay
	}
	loc := sarifLocation{Logical: []sarifLogical{}}
	if file := m.Fact(document.AboutFile); file != "" {
		loc.Physical = &sarifPhysical{sarifURI{fileURI(file)}, sarifRegion{1}}
	}
	logical := func(name, kind string) {
		if name != "" {
			loc.Logical = append(loc.Logical, sarifLogical{name, m.Model + "::" + name, kind})
		}
	}
	logical(f.Location, kindOf(f))
	if f.Worst != nil {
		logical(f.Worst.Element, "element")
	}
	if len(loc.Logical) == 0 {
		logical(m.Model, "model")
	}
	key := strings.Join([]string{m.Model, f.Check, f.Category, f.Set, f.Location}, "\x00")
	n := seen[key]
	seen[key]++
	sum := sha256.Sum256([]byte(key + "\x00" + strconv.Itoa(n)))
	mark := hex.EncodeToString(sum[:16])
	return sarifResult{
		RuleID: f.Check, RuleIndex: rule, Level: levelOf(f.Severity), Message: sarifMessage{text},
		Locations:    []sarifLocation{loc},
		Fingerprints: map[string]string{"neroFinding/v1": mark, "primaryLocationLineHash": mark + ":1"},
		Properties: sarifResultBag{
			m.Model, f.Category, f.Severity, f.Set, f.Evidence, f.Worst, f.Remedies, f.Replay,
		},
	}
}

// kindOf says what a location is: a layer, or a part of the specification such as an action or the output.
func kindOf(f document.Found) string {
	if f.Category == "layer" || strings.ContainsAny(f.Location, "/:") {
		return "layer"
	}
	return "part"
}
