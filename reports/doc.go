// Package reports turns the folder of a run into something to read. Report is
// pure data: the verdict, the experiment file line by line, time series in
// buckets and the sentences of what happened. It knows journal and verdict
// only, so an old run is re-rendered without linking a proxy or a container
// engine.
//
// Main flow: Build (one pass over the journal's events, flat memory) → Report →
// Page (one or several reports) → html, text or json write it; package format
// is the catalogue of those.
//
// To add a format, write a package with Write(w, Page) beside html and add one
// line to the catalogue in format. To add a series, fill it in builder.add,
// fold it in builder.fold and publish it in Series. To add a sentence, add a
// case to narrator.add.
package reports
