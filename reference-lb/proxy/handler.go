package proxy

import (
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"

	"firedrill/experiments/journal"
	"firedrill/reference-lb/client"
)

// CauseHeader of an answer that the balancer made itself says why: refused,
// reset, closed, timeout, no host and so on, as the journal prints causes.
const CauseHeader = "Firedrill-Cause"

// hopByHop are the fields of an answer that belong to the connection behind
// (RFC 9110 §7.6.1).
var hopByHop = [...]string{"Connection", "Keep-Alive", "Proxy-Connection", "Proxy-Authenticate", "Te", "Trailer", "Transfer-Encoding", "Upgrade"}

// serve passes one request on and its answer back.
func (b *Balancer) serve(w http.ResponseWriter, r *http.Request) {
	resp, err := b.driver.RoundTrip(r)
	if err != nil {
		refuse(w, err)
		return
	}
	defer func() { _ = resp.Body.Close() }()
	pass(w.Header(), resp.Header)
	if resp.ContentLength >= 0 && r.Method != http.MethodHead && resp.Body != http.NoBody {
		w.Header()["Content-Length"] = []string{strconv.FormatInt(resp.ContentLength, 10)}
	}
	w.WriteHeader(resp.StatusCode)
	if err := transfer(w, resp); err != nil {
		// The head is out: cutting the connection is the only honest end.
		panic(http.ErrAbortHandler)
	}
	for name, values := range resp.Trailer {
		w.Header()[http.TrailerPrefix+name] = values
	}
}

// pass copies an answer's header without what belongs to the connection behind.
func pass(to, from http.Header) {
	for name, values := range from {
		to[name] = values
	}
	for _, line := range from["Connection"] {
		for name := range strings.SplitSeq(line, ",") {
			to.Del(strings.TrimSpace(name))
		}
	}
	for _, name := range hopByHop {
		delete(to, name)
	}
}

// transfer copies the body; one without a length is passed on piece by piece.
func transfer(w http.ResponseWriter, resp *http.Response) error {
	if resp.ContentLength >= 0 {
		_, err := io.Copy(w, resp.Body)
		return err
	}
	flush := http.NewResponseController(w)
	buf := make([]byte, 16<<10)
	for {
		n, err := resp.Body.Read(buf)
		if n > 0 {
			if _, werr := w.Write(buf[:n]); werr != nil {
				return werr
			}
			if ferr := flush.Flush(); ferr != nil {
				return ferr
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// refuse answers a request for which there is no answer: 503 when no host
// could be asked, 504 when none answered in time, else 502; 400 for a request
// that cannot be passed on.
func refuse(w http.ResponseWriter, err error) {
	status, cause := http.StatusBadRequest, "bad request"
	var e *client.Error
	switch {
	case errors.As(err, &e):
		status, cause = statusOf(e.Cause), e.Cause.String()
	case errors.Is(err, client.ErrClosed):
		status, cause = http.StatusServiceUnavailable, "closing"
	}
	w.Header().Set(CauseHeader, cause)
	http.Error(w, err.Error(), status)
}

// statusOf is the status for a cause.
func statusOf(c journal.Cause) int {
	switch c {
	case journal.NoHost, journal.Overload:
		return http.StatusServiceUnavailable
	case journal.Timeout:
		return http.StatusGatewayTimeout
	}
	return http.StatusBadGateway
}
