// Package referencelb is the reference load balancer: one decision core that
// takes time as an argument, and the shells that give it a clock and sockets.
//
// Main flow: balance decides; client runs a core live and is how bundled
// services call each other; proxy is the layer-7 balancer over the same
// driver. Every decision is recorded and can be replayed.
//
// To add a balancing algorithm, write one file in balance and one line in its
// catalogue. To add a protocol, write a shell over client's Driver.
package referencelb
