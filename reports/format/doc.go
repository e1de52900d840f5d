// Package format is the catalogue of the formats a report is written in.
//
// Main flow: Catalog[name].Write(w, page).
//
// To add a format, write a package with a function Write(io.Writer, reports.Page)
// error and add one line to Catalog.
package format
