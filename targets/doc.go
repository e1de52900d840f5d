// Package targets says what a system under test is made of (Topology, Node,
// Link) and what starts one (Target, System). It is pure data and contracts;
// embedded runs every node in this process on loopback, service is the bundled
// service that it runs.
//
// Main flow: a plan's Topology → Target.Up, which starts the nodes bottom-up
// and opens every link through a Fabric → System → Close, callers first.
//
// To add a target, write a folder that implements Target, and a line in the
// catalogue of experiments/cli; say in capability.go what it can do.
package targets
