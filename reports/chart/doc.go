// Package chart draws curves over the time of a run as SVG inside HTML, without
// a drawing library and without a style attribute, so that a page with a strict
// content security policy can carry it. It knows nothing of reports: a Figure is
// numbers and texts.
//
// Main flow: Figure (series, windows, limits) → Figure.HTML, or Strip → Strip.HTML;
// the page's own script moves the cursor and the zoom by setting each
// plot's viewBox, whose unit is the millisecond of the run.
//
// To add a kind of chart, add a field to Figure that says how its series are laid
// out and a case to Figure.paths. To add a colour, add a class to Style and to the
// page's style sheet.
package chart
