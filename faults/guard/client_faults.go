package guard

import (
	"context"
	"errors"
	"fmt"
	"time"

	"firedrill/experiments/journal/clock"
)

// Apply writes the intent to the ledger, then does the act. deadline is the
// CLOCK_MONOTONIC instant (ns) at which the guard lifts it by itself; that
// makes the run an error. If ctx ends early, what was applied is lifted.
func (c *Client) Apply(ctx context.Context, id string, act Act, undo Undo, deadline int64) (Ack, error) {
	c.mu.Lock()
	c.standing[id] = undo
	c.mu.Unlock()
	reply, err := c.request(ctx, message{Op: opApply, Fault: id, Act: &act, Undo: &undo, Deadline: deadline})
	if err == nil && reply.Ack != nil {
		return *reply.Ack, nil
	}
	if ctx.Err() != nil { // it may be applied yet
		late, cancel := context.WithTimeout(context.WithoutCancel(ctx), callLimit)
		defer cancel()
		_, _ = c.request(late, message{Op: opLift, Fault: id}) // the deadline stands behind it
	}
	c.mu.Lock()
	delete(c.standing, id)
	c.mu.Unlock()
	return Ack{}, fmt.Errorf("apply fault %s: %w", id, err)
}

// Lift undoes what was applied under id. Again is no error and gives the same
// acknowledgement. If the guard is gone, so is the fault: the acknowledgement is void.
func (c *Client) Lift(ctx context.Context, id string) (Ack, error) {
	reply, err := c.request(ctx, message{Op: opLift, Fault: id})
	return c.lifted(reply, err, id)
}

// LiftAll undoes everything in parallel. A guard that does not answer within
// 250 ms is ended, and its links are reopened clean by this process.
func (c *Client) LiftAll(ctx context.Context, reason string) (Ack, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, liftAllAnswer, errors.New("no answer within "+liftAllAnswer.String()))
	defer cancel()
	reply, err := c.request(ctx, message{Op: opLiftAll, Reason: reason})
	if err != nil && reply.Op == "" && !errors.Is(err, ErrGone) {
		c.giveUp()
		err = ErrGone
	}
	return c.lifted(reply, err, "")
}

// liftAllAnswer is how long everything may take to be lifted.
const liftAllAnswer = 250 * time.Millisecond

func (c *Client) lifted(reply message, err error, id string) (Ack, error) {
	if errors.Is(err, ErrGone) {
		<-c.done // the links are clean by then
		return Ack{Applied: clock.Now(), Void: true}, nil
	}
	if err != nil {
		return Ack{}, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if id == "" {
		clear(c.standing)
	}
	delete(c.standing, id)
	if reply.Ack == nil {
		return Ack{}, errors.New("the guard did not acknowledge the lift")
	}
	return *reply.Ack, nil
}
