// Package drill is firedrill from Go: load an experiment file, run it, read
// the verdict. The command line and the suite are built on it.
//
// Main flow: Main first in TestMain → Load (decode, validate, compile) →
// Drill.Run (guard, measurement, verdict) → Render (the report from the run's
// folder alone).
//
// To add a target, add a line to Targets; to add a place that experiments come
// from, open it as an fs.FS and use LoadFS.
package drill
