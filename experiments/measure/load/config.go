package load

import (
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"
)

// IdentityHeader carries the decimal id of the user's request down the chain,
// so that tries at each hop can be counted.
const IdentityHeader = "Firedrill-Request"

// Defaults of a Config, as in the experiment file.
const (
	DefaultTimeout     = time.Second
	DefaultMaxInFlight = 5000
)

// Config says where the load goes and how.
type Config struct {
	Entry       string        // address of the entry, host:port
	Link        string        // the entry's link in events, "load->balancer-1"
	Routes      []Route       // by Arrival.Route; none = one GET /
	Timeout     time.Duration // of a request from its due time, retries included; 0 = DefaultTimeout
	Attempts    int           // tries of one request, the next at once after a failure; 0 = 1
	MaxInFlight int           // open requests above which the next fails as Overload; 0 = DefaultMaxInFlight
	PerRequest  bool          // a connection for each try, instead of kept-alive ones
}

// Route is one kind of request.
type Route struct {
	Method  string // empty = GET
	Path    string // with the query; empty = /
	Host    string // empty = Config.Entry
	Headers map[string]string
	Body    string
}

// Arrival is one planned request.
type Arrival struct {
	At     int64  // due, nanoseconds after the start given to Run; not falling
	ID     uint64 // from 1, unique in the run
	Client uint32 // identity; each has its own connections
	Route  uint16 // index in Config.Routes
}

// template is a route as bytes, around the identity.
type template struct {
	before, after []byte
	head          bool // the answer has no body
}

func (t *template) appendTo(b []byte, id uint64) []byte {
	b = append(b, t.before...)
	b = strconv.AppendUint(b, id, 10)
	return append(b, t.after...)
}

// defaults fills in what is absent and reports everything that is wrong.
func (c *Config) defaults() error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf("load: "+format, args...)) }
	if _, _, err := net.SplitHostPort(c.Entry); err != nil {
		bad("entry %q is not host:port: %w", c.Entry, err)
	}
	if c.Timeout == 0 {
		c.Timeout = DefaultTimeout
	}
	if c.Attempts == 0 {
		c.Attempts = 1
	}
	if c.MaxInFlight == 0 {
		c.MaxInFlight = DefaultMaxInFlight
	}
	if len(c.Routes) == 0 {
		c.Routes = []Route{{}}
	}
	if c.Timeout < 0 {
		bad("timeout %s is negative; give a time above 0", c.Timeout)
	}
	if c.Attempts < 0 || c.Attempts > 1000 {
		bad("attempts %d; give 1 to 1000", c.Attempts)
	}
	if c.MaxInFlight < 0 {
		bad("max_in_flight %d is negative; give at least 1", c.MaxInFlight)
	}
	return errors.Join(errs...)
}

// compile turns the routes into bytes, and reports every value that would
// break out of its place in the head of a request.
func (c *Config) compile() ([]template, error) {
	var errs []error
	templates := make([]template, 0, len(c.Routes))
	for i, r := range c.Routes {
		r.Method, r.Path, r.Host = or(r.Method, "GET"), or(r.Path, "/"), or(r.Host, c.Entry)
		bad := func(format string, args ...any) {
			errs = append(errs, fmt.Errorf("load: route %d: "+format, append([]any{i}, args...)...))
		}
		if !isToken(r.Method) || r.Method == "CONNECT" {
			bad("method %q cannot be sent; give one like GET or POST", r.Method)
		}
		if !strings.HasPrefix(r.Path, "/") || !isPrintable(r.Path) || strings.Contains(r.Path, " ") {
			bad("path %q; give one that begins with / and has no blanks (write them as %%20)", r.Path)
		}
		if !isPrintable(r.Host) || strings.Contains(r.Host, " ") {
			bad("host %q holds blanks or control characters", r.Host)
		}
		var b strings.Builder
		fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: %s\r\n", r.Method, r.Path, r.Host)
		for _, name := range slices.Sorted(maps.Keys(r.Headers)) {
			value := r.Headers[name]
			switch {
			case !isToken(name) || !isPrintable(value):
				bad("header %q: %q holds characters that a header cannot", name, value)
			case isReserved(name):
				bad("header %s is set by the generator; leave it out", name)
			}
			fmt.Fprintf(&b, "%s: %s\r\n", name, value)
		}
		if c.PerRequest {
			b.WriteString("Connection: close\r\n")
		}
		if r.Body != "" || r.Method != "GET" && r.Method != "HEAD" {
			fmt.Fprintf(&b, "Content-Length: %d\r\n", len(r.Body))
		}
		b.WriteString(IdentityHeader + ": ")
		templates = append(templates, template{
			before: []byte(b.String()), after: []byte("\r\n\r\n" + r.Body), head: r.Method == "HEAD",
		})
	}
	return templates, errors.Join(errs...)
}

func or(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

func isReserved(name string) bool {
	for _, n := range [...]string{IdentityHeader, "Host", "Connection", "Content-Length", "Transfer-Encoding"} {
		if strings.EqualFold(n, name) {
			return true
		}
	}
	return false
}

// isToken holds for a token of RFC 9110, 5.6.2.
func isToken(s string) bool {
	for _, c := range []byte(s) {
		letter := 'a' <= c|0x20 && c|0x20 <= 'z'
		if !letter && (c < '0' || c > '9') && !strings.ContainsRune("!#$%&'*+-.^_`|~", rune(c)) {
			return false
		}
	}
	return s != ""
}

func isPrintable(s string) bool {
	for _, c := range []byte(s) {
		if c < ' ' || c == 0x7f {
			return false
		}
	}
	return true
}
