package targets

import (
	"context"

	"firedrill/experiments/journal"
)

// Fabric opens links. A link is the only way from one node to another.
type Fabric interface {
	// OpenLink makes the link's listener, which forwards to upstream (host:port),
	// and returns the address that the caller dials.
	OpenLink(ctx context.Context, link, upstream string) (addr string, err error)
}

// Target knows how to start a topology.
type Target interface {
	// Up starts every node bottom-up, each link through the fabric, and returns
	// when every node is ready and every link has carried a request.
	Up(ctx context.Context, t Topology, f Fabric, s journal.Sink) (System, error)
}

// System is a running topology.
type System interface {
	// Entry is the address (host:port) that the load dials: the link load->ENTRY.
	Entry() string
	// Close stops every node, callers first, and returns when nothing of it is left.
	Close(ctx context.Context) error
}
