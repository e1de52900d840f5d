// Package proxy is the layer-7 reference balancer: an HTTP/1.1 reverse proxy
// whose every decision is a balance.Core's, made through client's Driver, and
// its health checks.
//
// Main flow: Serve(ctx, Config) → for each request Driver.RoundTrip → the
// answer is passed on, or a status that says why there is none, with the cause
// in CauseHeader. Close drains and ends it.
//
// To add what an administrator may see, add it to State. To add a kind of
// check, write a client.Check beside prober.go and choose it in Serve. To add
// a protocol, write its server beside handler.go over the same Driver.
package proxy
