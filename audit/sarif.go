package audit

import (
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
)

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
	Model    string      `json:"model"`
	Category string      `json:"category"`
	Severity string      `json:"severity"`
	Set      string      `json:"set,omitempty"`
	Evidence []jEvidence `json:"evidence"`
	Worst    *jWhere     `json:"worst,omitempty"`
	Remedies []string    `json:"remedies"`
	Replay   string      `json:"replay,omitempty"`
}

type sarifRunBag struct {
	Verdict string       `json:"verdict"`
	Models  []sarifModel `json:"models"`
}

type sarifModel struct {
	Model     string       `json:"model"`
	Verdict   string       `json:"verdict"`
	Group     string       `json:"group,omitempty"`
	Reasons   []string     `json:"reasons"`
	Diagnoses []jDiagnosis `json:"diagnoses"`
	About     []jAbout     `json:"about"`
}

// SARIF writes reports as a SARIF 2.1.0 log with one run: rules are the checks, results the findings with a level from
// their severity (high is error, medium warning, the others note), the model file as the place and the layer, port or
// element as the logical place. A check that was not tested and an audit that could not run are notifications.
// Fingerprints are made of model, check, category, set and location, so that a finding keeps its identity when its
// numbers change.
func SARIF(w io.Writer, reports ...*Report) error {
	run := sarifRun{
		Tool: sarifTool{sarifDriver{Name: "nero", Rules: []sarifRule{}}}, Automation: sarifAutomation{"nero/audit/"},
		Columns: "unicodeCodePoints",
		Results: []sarifResult{}, Properties: sarifRunBag{Verdict: overall(reports), Models: []sarifModel{}},
	}
	inv := sarifInvocation{Successful: true, ExitCode: ExitCode(reports...), Notifications: []sarifNotification{}}
	if len(reports) == 0 {
		inv.Successful = false
	}
	index := map[string]int{}
	seen := map[string]int{}
	for _, r := range reports {
		m := jModel{}
		whole(&m, r)
		run.Properties.Models = append(run.Properties.Models,
			sarifModel{r.Model, overall([]*Report{r}), r.Group, list(r.Reasons), m.Diagnoses, m.About})
		if inv.CommandLine == "" {
			inv.CommandLine = r.Command
		}
		if r.Error != "" {
			inv.Successful = false
			inv.Notifications = append(inv.Notifications,
				sarifNotification{Level: "error", Message: sarifMessage{r.Model + ": " + r.Error}})
			continue
		}
		run.artifact(r)
		for _, c := range r.Results {
			i, ok := index[c.Check.Name]
			if !ok {
				i = len(run.Tool.Driver.Rules)
				index[c.Check.Name] = i
				run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, ruleOf(c.Check))
			}
			if c.Status == NotTested {
				inv.Notifications = append(inv.Notifications, sarifNotification{
					Level: "warning", Rule: &sarifRuleLink{c.Check.Name, i},
					Message: sarifMessage{fmt.Sprintf("%s: %s: not tested: %s", r.Model, c.Check.Name, c.Reason)},
				})
			}
		}
		for _, f := range r.Graded() {
			run.Results = append(run.Results, resultOf(r, f, index[f.Check], seen))
		}
	}
	run.Invocations = []sarifInvocation{inv}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(sarifLog{sarifSchema, sarifVersion, []sarifRun{run}})
}

func ruleOf(c *Check) sarifRule {
	doc := strings.TrimSpace(c.Doc)
	if doc == "" {
		doc = c.Name
	}
	short := c.Summary()
	if short == "" {
		short = doc
	}
	return sarifRule{c.Name, sarifMessage{short}, sarifMessage{doc}, sarifMessage{doc}, sarifConfig{"warning"}}
}

// levelOf is the level of a severity (3.27.10).
func levelOf(s Severity) string {
	switch s {
	case High:
		return "error"
	case Medium:
		return "warning"
	case Low, Note:
	}
	return "note"
}

// artifact names the file of a model, once.
func (run *sarifRun) artifact(r *Report) {
	file := r.Fact(AboutFile)
	if file == "" {
		return
	}
	a := sarifArtifact{Location: sarifURI{fileURI(file)}, Roles: []string{"analysisTarget"}}
	if digest := r.Fact(AboutDigest); digest != "" {
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

func resultOf(r *Report, f Graded, rule int, seen map[string]int) sarifResult {
	text := f.Message
	if len(f.Evidence) > 0 {
		text += "\n\n" + evidence(f.Evidence[0])
	}
	if len(f.Remedies) > 0 {
		text += "\n\nTry: " + strings.Join(f.Remedies, "; ")
	}
	replay := r.Replay(f.Worst)
	if replay != "" {
		text += "\n\nRepeat the worst case: " + replay
	}
	loc := sarifLocation{Logical: []sarifLogical{}}
	if file := r.Fact(AboutFile); file != "" {
		loc.Physical = &sarifPhysical{sarifURI{fileURI(file)}, sarifRegion{1}}
	}
	logical := func(name, kind string) {
		if name != "" {
			loc.Logical = append(loc.Logical, sarifLogical{name, r.Model + "::" + name, kind})
		}
	}
	logical(f.Location, kindOf(f))
	logical(f.Worst.Label, "element")
	if len(loc.Logical) == 0 {
		logical(r.Model, "model")
	}
	key := strings.Join([]string{r.Model, f.Check, f.Category.Name, f.Set, f.Location}, "\x00")
	n := seen[key]
	seen[key]++
	sum := sha256.Sum256([]byte(key + "\x00" + strconv.Itoa(n)))
	mark := hex.EncodeToString(sum[:16])
	return sarifResult{
		RuleID: f.Check, RuleIndex: rule, Level: levelOf(f.Severity), Message: sarifMessage{text},
		Locations:    []sarifLocation{loc},
		Fingerprints: map[string]string{"neroFinding/v1": mark, "primaryLocationLineHash": mark + ":1"},
		Properties: sarifResultBag{
			r.Model, f.Category.Name, string(f.Severity), f.Set, evidences(f.Evidence), where(f.Worst),
			list(f.Remedies), replay,
		},
	}
}

// kindOf says what a location is: a layer, or a part of the specification such as an action or the output.
func kindOf(f Graded) string {
	if f.Category == Layer || strings.ContainsAny(f.Location, "/:") {
		return "layer"
	}
	return "part"
}
