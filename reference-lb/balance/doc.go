// Package balance is the pure decision core of the load balancer: which host
// gets a request, on which connection, when a try is given up, whether there
// is another one and after what wait, and which hosts are in rotation.
//
// Main flow: New(cfg, hosts, seed) → Core.Step(now, input, &output) for each
// thing that happens → the caller does what the output says. There is no
// clock, no I/O, no goroutine and, in steady state, no allocation: the live
// balancer, the services' callers, the simulator and Replay drive the same
// code.
//
// To add an algorithm, write one file with a type that implements Algorithm
// and one line in Algorithms. To add a setting, add a field to Config or
// Policy, its check in validate.go and a script in testdata. To add an input,
// append its kind, its case in Step and its line in codec.go.
package balance
