// Package service is the bundled HTTP/1.1 service: one replica that takes
// requests into a pool of workers, works for a drawn time, calls other
// services, and can be killed, restarted, hung and resumed.
//
// Main flow: Start(Config) → a goroutine per connection reads a request
// (message.go), answers the health path itself, takes a worker (workers.go),
// waits for the work on the precise timer, makes the calls in file order
// (calls.go) with the worker held, answers, and emits a Served event.
//
// To add something that happens between receipt and answer, put it in
// life.handle (handle.go). To add a fault that others see at the socket, give
// socket.Listener a method and Replica one that calls it (replica.go).
package service
