// Package client runs a decision core live: it reads the clock, takes the
// step, records it, and does on sockets what the step decided. It is how
// bundled services call each other, and what the proxy is built on.
//
// Main flow: New(Config) → Driver.RoundTrip: Arrive → the core names host and
// connection → dial or reuse, write, wait → Result → the core finishes the
// request or names the next try. Nothing is sent twice unless the core says so:
// every connection is our own HTTP/1.1 connection, without a transport above it.
//
// To add something the core may decide, carry it out in Driver.step. To add a
// way to check health, write a Check. To add a protocol, write the counterpart
// of wire.go.
package client
