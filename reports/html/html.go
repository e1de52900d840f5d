package html

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"

	"firedrill/reports"
)

//go:embed page.tmpl sections.tmpl page.css page.js
var files embed.FS

var templates = template.Must(template.ParseFS(files, "*.tmpl"))

// Write writes the page. It fails only where the writer fails.
func Write(w io.Writer, page reports.Page) error {
	v, err := newView(page)
	if err != nil {
		return err
	}
	if err := templates.ExecuteTemplate(w, "page.tmpl", v); err != nil {
		return fmt.Errorf("write the HTML report: %w", err)
	}
	return nil
}

// assets are the page's own style and script, and the policy that admits these two and nothing else.
type assets struct {
	Style  template.CSS
	Script template.JS
	Policy string
}

func newAssets() (assets, error) {
	style, err := files.ReadFile("page.css")
	if err != nil {
		return assets{}, fmt.Errorf("read the style of the report: %w", err)
	}
	script, err := files.ReadFile("page.js")
	if err != nil {
		return assets{}, fmt.Errorf("read the script of the report: %w", err)
	}
	return assets{
		Style:  template.CSS(style), //nolint:gosec // our own file
		Script: template.JS(script), //nolint:gosec // our own file
		Policy: "default-src 'none'; style-src " + source(style) + "; script-src " + source(script) +
			"; img-src data:; base-uri 'none'; form-action 'none'",
	}, nil
}

// source is the CSP source expression of an inline block.
func source(block []byte) string {
	sum := sha256.Sum256(block)
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
