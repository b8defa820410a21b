package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nero/internal/slow"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestFiveMinutes types what README says for five minutes with a model of one's own, word for word: on thirty-seven
// photos of different sizes and a network that reads 224 x 224 pixels. Run, audit and page come of it.
func TestFiveMinutes(t *testing.T) {
	slow.Test(t) // 2,700 pictures of 224 x 224 pixels are turned, and audited
	b, err := os.ReadFile(filepath.Join("..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, page, ok := strings.Cut(string(b), "\n## Five minutes with your own model\n")
	if !ok {
		t.Fatal("README has no five minutes")
	}
	var script strings.Builder
	script.WriteString("onnx model.onnx kind=mean c=3 h=224 w=224\n" +
		"pictures photos n=37 h=230 w=250 c=3 sizes=9 scene=1 classes=0\n")
	seen := map[string]int{}
	typed := strings.ReplaceAll(blocks(t, page, "sh")[0], "\\\n", " ")
	for line := range strings.Lines(typed) {
		line = strings.TrimSpace(line)
		words := strings.Fields(line)
		if len(words) < 2 || words[0] == "#" || words[0] == "go" {
			continue
		}
		if words[0] != "./nero" {
			t.Errorf("README has the command %q, which this test cannot type", line)
			continue
		}
		command, args := words[1], strings.TrimPrefix(line, "./nero ")
		seen[command]++
		switch command {
		case "serve": // until it is told to stop
			fmt.Fprintf(&script, "[!windows] serve page %s\n", strings.TrimPrefix(args, "serve "))
			script.WriteString("[!windows] http 200 GET $page/ page.html\n[!windows] grep '<script' page.html\n" +
				"[!windows] http 200 GET $page/api/v1/runs runs.json\n" +
				"[!windows] json runs.json runs.0.samples=37 runs.0.elements=72 runs.0.state.complete=true\n")
		case "audit": // 37 inputs leave open whether 5 % of all err
			fmt.Fprintf(&script, "exit 1 nero %s\nstdout 'NEEDS_ATTENTION'\n! stdout 'FAIL'\n", args)
			script.WriteString("stdout 'rounding'\nstderr 'preset torchvision/resnet50'\n")
		case "run":
			fmt.Fprintf(&script, "exec nero %s\nstdout '37 samples x 72 elements'\n", args)
			script.WriteString("stderr 'the models see the middle 224 x 224'\njson run/job.json study.data.margin\n")
		default:
			fmt.Fprintf(&script, "exec nero %s\nstdout .\n", args)
		}
	}
	for _, command := range []string{"inspect", "audit", "run", "serve", "report"} {
		if seen[command] == 0 {
			t.Errorf("README's five minutes have no nero %s", command)
		}
	}
	script.WriteString("grep '<html' report.html\nexists run/summary.json\n")
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "minutes.txtar"), []byte(script.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, scripts(t, dir))
}
