package client

import (
	"context"
	"net/http"
	"strconv"
)

// Headers that carry a request's identity down the chain.
const (
	// RequestHeader is the user's request, in decimal, the same at every hop.
	RequestHeader = "Firedrill-Request"
	// TryHeader is the number of this try at this hop, from 1.
	TryHeader = "Firedrill-Try"
)

type requestKey struct{}

// WithRequest returns a context whose calls belong to the user's request id.
func WithRequest(ctx context.Context, id uint64) context.Context {
	return context.WithValue(ctx, requestKey{}, id)
}

// RequestFrom is the user's request that ctx belongs to, 0 if to none.
func RequestFrom(ctx context.Context) uint64 {
	id, _ := ctx.Value(requestKey{}).(uint64)
	return id
}

// Request is the identity that an incoming request carries, 0 if none or not a number.
func Request(r *http.Request) uint64 {
	id, err := strconv.ParseUint(r.Header.Get(RequestHeader), 10, 64)
	if err != nil {
		return 0
	}
	return id
}
