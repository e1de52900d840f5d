package measure

import (
	"context"
	"fmt"
	"maps"
	"sync"

	"firedrill/targets"
)

// board notes the address of every link that the target opens, for the
// controls and proofs that dial them.
type board struct {
	fabric targets.Fabric
	mu     sync.Mutex
	addrs  map[string]string
	behind map[string]string // upstream by link
	order  []string
}

func newBoard(f targets.Fabric) *board {
	return &board{fabric: f, addrs: map[string]string{}, behind: map[string]string{}}
}

// OpenLink implements targets.Fabric.
func (b *board) OpenLink(ctx context.Context, link, upstream string) (string, error) {
	addr, err := b.fabric.OpenLink(ctx, link, upstream)
	if err != nil {
		return "", err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.addrs[link], b.behind[link] = addr, upstream
	b.order = append(b.order, link)
	return addr, nil
}

// addr is where a link listens.
func (b *board) addr(link string) (string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	a, ok := b.addrs[link]
	if !ok {
		return "", fmt.Errorf("link %s was never opened", link)
	}
	return a, nil
}

// all is every link in the order of opening.
func (b *board) all() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]string(nil), b.order...)
}

// upstreams is every node address that a link was opened to.
func (b *board) upstreams() map[string]string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return maps.Clone(b.behind)
}
