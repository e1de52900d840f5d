package guard

import (
	"context"
	"errors"

	"firedrill/faults"
	"firedrill/faults/fabric"
)

// Client is the harness's end.
type Client struct{}

var errSoon = errors.New("guard: being built")

// Main must come first in main: if this process is the guard it does the
// guard's work and does not return.
func Main() {}

// Start re-executes this program as the guard and waits until it is ready. It
// must come before any port or other process.
func Start(ctx context.Context, o Options) (*Client, error) { return nil, errSoon }

// OpenLink opens a link and returns the address to dial in upstream's place.
func (c *Client) OpenLink(ctx context.Context, name, upstream string) (string, error) {
	return "", errSoon
}

// OpenLinks opens many at once, filling in each Addr.
func (c *Client) OpenLinks(ctx context.Context, links []Link) error { return errSoon }

// SetUpstream sends a link's fresh connections elsewhere.
func (c *Client) SetUpstream(ctx context.Context, name, upstream string) error { return errSoon }

// NodeDown makes links stop listening because what is behind them is gone.
func (c *Client) NodeDown(ctx context.Context, links ...string) error { return errSoon }

// NodeUp makes them listen again.
func (c *Client) NodeUp(ctx context.Context, links ...string) error { return errSoon }

// Embedded registers what carries out acts on a node that lives in this process.
func (c *Client) Embedded(node string, do func(ctx context.Context, op faults.NodeAct) error) {}

// Apply writes the intent to the ledger and does the act. deadline is the
// CLOCK_MONOTONIC instant at which the guard lifts it by itself.
func (c *Client) Apply(ctx context.Context, id string, act Act, undo Undo, deadline int64) (Ack, error) {
	return Ack{}, errSoon
}

// Lift undoes what was applied under id.
func (c *Client) Lift(ctx context.Context, id string) (Ack, error) { return Ack{}, errSoon }

// LiftAll undoes everything, in parallel.
func (c *Client) LiftAll(ctx context.Context, reason string) (Ack, error) { return Ack{}, errSoon }

// Feed renews the lease; the run's own loop calls it every 100 ms.
func (c *Client) Feed() {}

// Aborted tells why the guard lifted something unasked.
func (c *Client) Aborted() <-chan Abort { return nil }

// Done is closed when the guard is gone.
func (c *Client) Done() <-chan struct{} { return nil }

// Snapshot has the counters of every link.
func (c *Client) Snapshot(ctx context.Context) ([]fabric.LinkStats, error) { return nil, errSoon }

// Close lifts all, closes the links and waits for the guard's end.
func (c *Client) Close(ctx context.Context) error { return nil }
