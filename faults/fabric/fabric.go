package fabric

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"

	"firedrill/experiments/journal/clock"
	"firedrill/faults"
)

// Fabric is a set of links by name. All methods may be called at once.
type Fabric struct {
	timer *clock.Timer // wakes every byte that is held
	mu    sync.Mutex
	links map[string]*link
}

// New is a fabric without links. Close ends it.
func New() *Fabric { return &Fabric{timer: clock.NewTimer(), links: map[string]*link{}} }

// AnyPort is the listen address that takes any free loopback port.
const AnyPort = "127.0.0.1:0"

// downID is the id under which a link whose callee is gone stops listening.
const downID = "node down"

// Open opens a link that listens on listen (AnyPort, or an address that must
// be free) and leads to upstream (host:port). It returns the address it listens on.
func (f *Fabric) Open(name, listen, upstream string) (string, error) {
	if err := checkUpstream(name, upstream); err != nil {
		return "", err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, ok := f.links[name]; ok {
		return "", fmt.Errorf("open link %s: there is one of that name", name)
	}
	l, err := openLink(f.timer, name, listen, upstream)
	if err != nil {
		return "", err
	}
	f.links[name] = l
	return l.addr, nil
}

func checkUpstream(name, upstream string) error {
	if host, port, err := net.SplitHostPort(upstream); err != nil || host == "" || port == "" {
		return fmt.Errorf("link %s: upstream %q: write host:port, without a scheme", name, upstream)
	}
	return nil
}

// SetUpstream sends the link's fresh connections to another callee.
func (f *Fabric) SetUpstream(name, upstream string) error {
	l, err := f.link(name)
	if err != nil {
		return err
	}
	if err := checkUpstream(name, upstream); err != nil {
		return err
	}
	l.upstream.Store(&upstream)
	return nil
}

// Apply puts a setting on links under an id. Either all get it or none.
func (f *Fabric) Apply(id string, names []string, setting faults.LinkSetting) error {
	links, err := f.pick(names)
	if err != nil {
		return fmt.Errorf("apply %s: %w", id, err)
	}
	for i, l := range links {
		if err := l.apply(&standing{id: id, setting: setting}); err != nil {
			_, undo := f.Lift(id, names[:i])
			return errors.Join(fmt.Errorf("apply %s: %w", id, err), undo)
		}
	}
	return nil
}

// Touch counts the connections of a lifted setting's links.
type Touch struct {
	Touched   int64 // it acted on them
	Untouched int64 // they were open meanwhile, and nothing passed that it could act on
}

// Lift takes the setting of that id off the links. Whoever it held goes on at
// once, in order. Lifting what does not stand does nothing.
func (f *Fabric) Lift(id string, names []string) (Touch, error) {
	links, err := f.pick(names)
	errs := []error{err}
	var sum Touch
	for _, l := range links {
		one, err := l.lift(id)
		errs = append(errs, err)
		if one == nil {
			continue
		}
		touched := one.touched.Load()
		sum.Touched += touched
		sum.Untouched += max(0, one.open+l.accepted.Load()-one.accepted-touched)
	}
	return sum, errors.Join(errs...)
}

// Down makes links stop listening because their callee is gone; established
// connections are left to the callee's own end. Again is no error.
func (f *Fabric) Down(names ...string) error {
	links, err := f.pick(names)
	errs := []error{err}
	for _, l := range links {
		if l.state.Load().find(downID) != nil {
			continue
		}
		errs = append(errs, l.apply(&standing{id: downID, node: true, setting: faults.LinkSetting{Listen: faults.ListenClosed}}))
	}
	return errors.Join(errs...)
}

// Up undoes Down.
func (f *Fabric) Up(names ...string) error {
	_, err := f.Lift(downID, names)
	return err
}

// Clean is true if no fault stands on the link and it listens, or its callee is known to be gone.
func (f *Fabric) Clean(name string) bool {
	l, err := f.link(name)
	if err != nil {
		return false
	}
	s := l.stats()
	return s.Active == 0 && (s.Listening || l.state.Load().find(downID) != nil)
}

// Sever resets every connection of the links.
func (f *Fabric) Sever(names ...string) error {
	links, err := f.pick(names)
	for _, l := range links {
		l.sever()
	}
	return err
}

// Replace ends a link and opens a clean one at the same address.
func (f *Fabric) Replace(name string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	l, ok := f.links[name]
	if !ok {
		return fmt.Errorf("replace link %s: there is none", name)
	}
	delete(f.links, name)
	err := l.close()
	next, opened := openLink(f.timer, name, l.addr, *l.upstream.Load())
	if opened == nil {
		f.links[name] = next
	}
	return errors.Join(err, opened)
}

// Remove ends a link.
func (f *Fabric) Remove(name string) error {
	f.mu.Lock()
	l, ok := f.links[name]
	delete(f.links, name)
	f.mu.Unlock()
	if !ok {
		return fmt.Errorf("remove link %s: there is none", name)
	}
	return l.close()
}

// Names are the links' names in alphabetical order.
func (f *Fabric) Names() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	names := make([]string, 0, len(f.links))
	for name := range f.links {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Snapshot has the counters of every link, by name.
func (f *Fabric) Snapshot() []LinkStats {
	links, _ := f.pick(f.Names()) // a link closed meanwhile is left out
	stats := make([]LinkStats, 0, len(links))
	for _, l := range links {
		stats = append(stats, l.stats())
	}
	return stats
}

// Close ends all links and waits for their goroutines. Nothing can be opened after it.
func (f *Fabric) Close() error {
	f.mu.Lock()
	links := f.links
	f.links = map[string]*link{}
	f.mu.Unlock()
	errs := make(chan error, len(links))
	for _, l := range links {
		go func() { errs <- l.close() }()
	}
	var all []error
	for range links {
		all = append(all, <-errs)
	}
	f.timer.Close()
	return errors.Join(all...)
}

func (f *Fabric) link(name string) (*link, error) {
	links, err := f.pick([]string{name})
	if err != nil {
		return nil, err
	}
	return links[0], nil
}

// pick finds links by name; the error names all that are missing.
func (f *Fabric) pick(names []string) ([]*link, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var links []*link
	var missing []string
	for _, name := range names {
		if l, ok := f.links[name]; ok {
			links = append(links, l)
		} else {
			missing = append(missing, name)
		}
	}
	if missing != nil {
		return links, fmt.Errorf("no link named %s", strings.Join(missing, ", "))
	}
	return links, nil
}
