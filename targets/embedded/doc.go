// Package embedded is the target that runs every node of a topology in this
// process, on loopback: bundled services, and the reference balancer.
//
// Main flow: Target.Up checks the topology, starts each node bottom-up after
// opening the links that it calls through (target.go), then proves that every
// link carries a request (ready.go) → System: Entry, Do for the faults on
// nodes, Victim for what they are done to → Close, callers first.
//
// To add a kind of node, write its socket.Begin and a case in system.begin. To
// add a fault on a node, give socket.Node a method and Do a case.
package embedded
