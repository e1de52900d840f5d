package guard

import (
	"context"
	"fmt"

	"firedrill/faults/fabric"
)

// OpenLink opens a link and returns the address to dial in upstream's place (both host:port).
func (c *Client) OpenLink(ctx context.Context, name, upstream string) (string, error) {
	links := []Link{{Name: name, Upstream: upstream}}
	err := c.OpenLinks(ctx, links)
	return links[0].Addr, err
}

// OpenLinks opens links and fills in where each listens: all of them, or none and an error.
func (c *Client) OpenLinks(ctx context.Context, links []Link) error {
	reply, err := c.request(ctx, message{Op: opOpen, Links: links})
	if err != nil {
		return fmt.Errorf("open links: %w", err)
	}
	if len(reply.Links) != len(links) {
		return fmt.Errorf("open links: the guard opened %d of %d", len(reply.Links), len(links))
	}
	copy(links, reply.Links)
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, l := range reply.Links {
		c.links[l.Name] = &l
	}
	return nil
}

// SetUpstream sends a link's fresh connections elsewhere.
func (c *Client) SetUpstream(ctx context.Context, name, upstream string) error {
	c.mu.Lock()
	local := c.local
	if l, ok := c.links[name]; ok {
		l.Upstream = upstream
	}
	c.mu.Unlock()
	if local != nil {
		return local.SetUpstream(name, upstream)
	}
	_, err := c.request(ctx, message{Op: opUpstream, Links: []Link{{Name: name, Upstream: upstream}}})
	return err
}

// NodeDown makes links stop listening because what is behind them is gone. It is no fault and needs no lift.
func (c *Client) NodeDown(ctx context.Context, links ...string) error {
	return c.listening(ctx, opDown, links)
}

// NodeUp makes them listen again.
func (c *Client) NodeUp(ctx context.Context, links ...string) error {
	return c.listening(ctx, opUp, links)
}

func (c *Client) listening(ctx context.Context, to op, links []string) error {
	c.mu.Lock()
	local := c.local
	for _, name := range links {
		c.down[name] = to == opDown
	}
	c.mu.Unlock()
	switch {
	case local == nil:
		_, err := c.request(ctx, message{Op: to, Names: links})
		return err
	case to == opDown:
		return local.Down(links...)
	}
	return local.Up(links...)
}

// Snapshot has the counters of every link, by name; after a takeover they start anew.
func (c *Client) Snapshot(ctx context.Context) ([]fabric.LinkStats, error) {
	c.mu.Lock()
	local := c.local
	c.mu.Unlock()
	if local != nil {
		return local.Snapshot(), nil
	}
	reply, err := c.request(ctx, message{Op: opSnapshot})
	return reply.Stats, err
}
