package html

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"html/template"
	"io"
	"strings"

	"nero/audit/document"
	"nero/present/words"
)

//go:embed card.html
var cardSource string

// WriteCard writes the beginning of the page of an audit for a page of others, such as a notebook: the verdict, the
// answers, the curve and the worst case of each model. It is one element, without scripts and without requests. Its
// style holds within it alone, and its names are of this audit, so that several may stand on one page.
func WriteCard(w io.Writer, a *document.Audit) error {
	t, err := template.New("page").Parse(source)
	if err == nil {
		t, err = t.New("card").Parse(cardSource)
	}
	if err != nil {
		return fmt.Errorf("html: %w", err)
	}
	var whole strings.Builder
	if err := document.Write(&whole, a); err != nil {
		return fmt.Errorf("html: %w", err)
	}
	sum := sha256.Sum256([]byte(whole.String()))
	f := &figures{prefix: "nero-" + hex.EncodeToString(sum[:4]) + "-"}
	v := view{Style: template.CSS(within(style))} //nolint:gosec // the style sheet is a part of this package
	for i := range a.Models {
		v.Models = append(v.Models, modelOf(f, &a.Models[i]))
	}
	var b strings.Builder
	if err := t.Execute(&b, v); err != nil {
		return fmt.Errorf("html: %w", err)
	}
	_, err = io.WriteString(w, words.Text(b.String()))
	return err
}

// within is the style sheet of the page for one element of another page: what it says of the page holds for the
// element.
func within(style string) string {
	page := strings.NewReplacer(":root", "&", "html {", "& {", "body {", "& {")
	return ".nero-card {\n" + page.Replace(style) + "& { max-width: 60rem; padding: .5rem 1rem; margin: 0; }\n" +
		// JupyterLab floats terms and what is said of them, and gives code a ground of its own.
		".answers dt, .answers dd { float: none; width: auto; }\n" +
		"&.nero-card code { background: none; color: inherit; }\n}\n"
}
