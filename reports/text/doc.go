// Package text draws reports on a terminal: Summary when a run has ended, Progress
// while it runs. Colour only repeats what a symbol or a word says; names of unknown
// origin are shown with their control characters escaped.
//
// Main flow: Detect (colour, width, whether a line may be redrawn) → Progress
// (Phase, Update, Event, End) during the run → Summary.
//
// To add a block to the summary, write a method of printer and call it from Summary.
package text
