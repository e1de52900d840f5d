package embedded

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"

	"firedrill/experiments/journal/clock"
	"firedrill/targets"
	"firedrill/targets/service"
)

// again is how long a link that carried nothing, or a balancer with a host out
// of rotation, is left alone before it is asked again.
const again = 2 * time.Millisecond

// ready returns when every link has carried a request to a node that answered
// it well, and every balancer has all its hosts in rotation.
func (s *System) ready(ctx context.Context, limit time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var waits errgroup.Group
	waits.SetLimit(8)
	for _, l := range s.topology.Links {
		waits.Go(func() error {
			if err := s.retry(ctx, func() error { return ask(ctx, s.links[l.Name()]) }); err != nil {
				return fmt.Errorf("link %s carries no request: %w", l.Name(), err)
			}
			return nil
		})
	}
	for _, n := range s.topology.Nodes {
		if b := s.nodes[n.Name].balancer; b != nil {
			waits.Go(func() error { return s.retry(ctx, b.eligible) })
		}
	}
	err := waits.Wait()
	for _, n := range s.nodes {
		if short := n.Short(); err != nil && short != nil {
			return fmt.Errorf("%w; %s could not accept it: %w", err, n.Name(), short)
		}
	}
	return err
}

// retry does it until it works or ctx ends, and then says why it did not.
func (s *System) retry(ctx context.Context, do func() error) error {
	for {
		err := do()
		if err == nil {
			return nil
		}
		if s.timer.Wait(ctx, clock.Now()+int64(again)) != nil {
			return fmt.Errorf("%w; given up: %w", err, ctx.Err())
		}
	}
}

// eligible says which hosts are out of rotation.
func (b *balancer) eligible() error {
	state, ok := b.state()
	if !ok {
		return fmt.Errorf("%s is gone", b.node.Name)
	}
	var errs []error
	for _, h := range state.Hosts {
		if !h.Eligible {
			errs = append(errs, fmt.Errorf("%s has %s out of rotation", b.node.Name, h.Name))
		}
	}
	return errors.Join(errs...)
}

// ask makes one exchange on the health path through a link.
func ask(ctx context.Context, addr string) error {
	c, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	defer context.AfterFunc(ctx, func() { _ = c.Close() })()
	if _, err = io.WriteString(c, "GET "+service.HealthPath+" HTTP/1.1\r\nHost: "+targets.Load+"\r\nConnection: close\r\n\r\n"); err != nil {
		return err
	}
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("answered %s", resp.Status)
	}
	_, err = io.Copy(io.Discard, resp.Body)
	return errors.Join(err, resp.Body.Close())
}
