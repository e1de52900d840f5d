// Package html writes a Page as one self-contained HTML file: no request to any
// network, a content security policy that admits its own style and script by their
// hashes only, light, dark and print styles, everything escaped.
//
// Main flow: Write → newView (texts and figures, every string made visible) →
// page.tmpl → the writer.
//
// To add a section, fill its part of experimentView, write a template for it in
// sections.tmpl and call it from page.tmpl. To add a chart, add a function that
// returns a chart.Figure to figures.
package html
