package shelf

import (
	"encoding/json"
	"path"
	"regexp"
	"strings"

	"nero/audit/document"
)

// commands finds the commands in an audit: a key, and the text of a JSON string.
var commands = regexp.MustCompile(`("(?:command|replay)":\s*")((?:[^"\\]|\\.)*)`)

// withoutFolders is an audit without the folders of its files: those that its circumstances name go everywhere, and in
// commands every absolute path becomes the name of its file. Everything else stays, for the names of layers look like
// paths.
func withoutFolders(raw []byte, d *document.Audit) json.RawMessage {
	text := string(raw)
	for i := range d.Models {
		for _, a := range d.Models[i].About {
			v := strings.ReplaceAll(a.Value, `\`, "/")
			if drive := len(v) > 2 && v[1:3] == ":/"; !drive && !strings.HasPrefix(v, "/") {
				continue
			}
			dir := a.Value[:len(path.Dir(v))]
			if len(dir) < 2 {
				continue
			}
			quoted, err := json.Marshal(dir)
			if err != nil {
				continue // no text is like that
			}
			in := string(quoted[1 : len(quoted)-1])
			for _, sep := range []string{"/", `\\`} {
				text = strings.ReplaceAll(text, in+sep, "")
			}
		}
	}
	return json.RawMessage(commands.ReplaceAllStringFunc(text, func(s string) string {
		m := commands.FindStringSubmatch(s)
		words := strings.Split(m[2], " ")
		for i, w := range words {
			if i > 0 && words[i-1] == "--layer" || strings.HasPrefix(w, "--layer=") {
				continue
			}
			words[i] = scrub(w)
		}
		return m[1] + strings.Join(words, " ")
	}))
}
