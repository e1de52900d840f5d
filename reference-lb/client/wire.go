package client

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httputil"
	"strconv"
	"strings"
)

// hopByHop are the fields that belong to one connection (RFC 9110 §7.6.1), and
// those that we write ourselves.
var hopByHop = map[string]bool{
	"Connection": true, "Keep-Alive": true, "Proxy-Connection": true, "Proxy-Authenticate": true,
	"Proxy-Authorization": true, "Te": true, "Trailer": true, "Transfer-Encoding": true, "Upgrade": true,
	"Host": true, "Content-Length": true, RequestHeader: true, TryHeader: true, "Expect": true,
}

// outgoing is a request in the form in which it is sent, once or again.
type outgoing struct {
	req       *http.Request
	head      []byte // up to the try header
	held      []byte // the body, or its first part
	rest      io.Reader
	length    int64 // -1: chunked
	retryable bool
}

// idempotent says whether a request may be sent twice: the methods of RFC 9110
// §9.2.2, and any that carries an Idempotency-Key.
func idempotent(req *http.Request) bool {
	switch req.Method {
	case "", http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace, http.MethodPut, http.MethodDelete:
		return true
	}
	return req.Header.Get("Idempotency-Key") != ""
}

// prepare writes the head and, if there may be a second try, takes up to
// MaxHold bytes of the body. A longer body is sent as it comes and only once.
func prepare(req *http.Request, hold bool, user uint64) (*outgoing, error) {
	o := &outgoing{req: req, length: req.ContentLength, retryable: idempotent(req)}
	if req.Body == nil || req.Body == http.NoBody {
		o.length = 0
	} else {
		if o.length == 0 {
			o.length = -1
		}
		if hold || (o.length >= 0 && o.length <= MaxHold) {
			if err := o.holdBody(req.Body); err != nil {
				return nil, err
			}
		} else {
			o.rest = req.Body
		}
		o.retryable = o.retryable && o.rest == nil
	}
	return o, o.writeHead(user)
}

func (o *outgoing) holdBody(body io.Reader) error {
	held, err := io.ReadAll(io.LimitReader(body, MaxHold+1))
	if err != nil {
		return fmt.Errorf("read the request's body: %w", err)
	}
	o.held = held
	switch {
	case len(held) > MaxHold:
		o.rest = body
	case o.length >= 0 && int64(len(held)) != o.length:
		return fmt.Errorf("the request's body has %d bytes, its length says %d: %w", len(held), o.length, io.ErrUnexpectedEOF)
	default:
		o.length = int64(len(held))
	}
	return nil
}

func (o *outgoing) writeHead(user uint64) error {
	req := o.req
	method, target, host := req.Method, req.URL.RequestURI(), req.Host
	if method == "" {
		method = http.MethodGet
	}
	if host == "" {
		host = req.URL.Host
	}
	for _, part := range []string{method, target, host} {
		if strings.ContainsFunc(part, func(r rune) bool { return r <= ' ' || r == 0x7F }) {
			return fmt.Errorf("%q cannot stand in the head of a request", part)
		}
	}
	var b bytes.Buffer
	b.Grow(512)
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: %s\r\n", method, target, host)
	if err := req.Header.WriteSubset(&b, drop(req.Header)); err != nil {
		return fmt.Errorf("write the request's header: %w", err)
	}
	if user != 0 {
		b.WriteString(RequestHeader + ": " + strconv.FormatUint(user, 10) + "\r\n")
	}
	switch {
	case o.length < 0:
		b.WriteString("Transfer-Encoding: chunked\r\n")
	case o.length > 0 || req.Method == http.MethodPost || req.Method == http.MethodPut || req.Method == http.MethodPatch:
		b.WriteString("Content-Length: " + strconv.FormatInt(o.length, 10) + "\r\n")
	}
	o.head = b.Bytes()
	return nil
}

// drop is hopByHop with the fields that Connection names.
func drop(h http.Header) map[string]bool {
	named := h["Connection"]
	if len(named) == 0 {
		return hopByHop
	}
	all := make(map[string]bool, len(hopByHop)+2)
	for k := range hopByHop {
		all[k] = true
	}
	for _, line := range named {
		for name := range strings.SplitSeq(line, ",") {
			all[http.CanonicalHeaderKey(strings.TrimSpace(name))] = true
		}
	}
	return all
}

// counted is a writer that knows whether anything got through.
type counted struct {
	w io.Writer
	n int64
}

func (c *counted) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += int64(n)
	return n, err
}

// send writes the request as try. unsent says that not one byte left.
func (o *outgoing) send(w io.Writer, try uint16) (unsent bool, err error) {
	c := &counted{w: w}
	first := make([]byte, 0, len(o.head)+32+len(o.held))
	first = append(first, o.head...)
	first = append(first, TryHeader+": "...)
	first = strconv.AppendUint(first, uint64(try), 10)
	first = append(first, "\r\n\r\n"...)
	if o.length >= 0 {
		first = append(first, o.held...)
		if _, err = c.Write(first); err == nil && o.rest != nil {
			err = o.copyRest(c)
		}
		return c.n == 0, err
	}
	if _, err = c.Write(first); err != nil {
		return c.n == 0, err
	}
	chunks := httputil.NewChunkedWriter(c)
	if len(o.held) > 0 {
		if _, err = chunks.Write(o.held); err != nil {
			return false, err
		}
	}
	if o.rest != nil {
		if _, err = io.Copy(chunks, o.rest); err != nil {
			return false, err
		}
	}
	if err = chunks.Close(); err == nil {
		_, err = c.Write([]byte("\r\n"))
	}
	return false, err
}

// copyRest sends what is left of a body of known length, and no more.
func (o *outgoing) copyRest(w io.Writer) error {
	want := o.length - int64(len(o.held))
	n, err := io.Copy(w, io.LimitReader(o.rest, want))
	if err == nil && n < want {
		err = fmt.Errorf("the request's body ended %d bytes early: %w", want-n, io.ErrUnexpectedEOF)
	}
	return err
}
