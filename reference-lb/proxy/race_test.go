//go:build race

package proxy

// racing is set when the race detector makes everything ten times slower.
const racing = true
