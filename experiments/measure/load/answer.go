package load

import (
	"bytes"
	"errors"
	"strings"
)

// Limits of an answer's head. The body is counted and thrown away, so that
// only the request's time-out bounds it.
const (
	headLimit    = 64 << 10 // bytes in all lines of heads and trailers
	interimLimit = 16       // answers 1xx before the real one
)

var errMalformed = errors.New("not an HTTP/1.1 answer")

// stage of an answer that is being read.
type stage uint8

const (
	statusLine stage = iota
	headerLine
	bodyCounted // left bytes
	bodyToEnd   // until the connection closes
	chunkSize
	chunkBody // left bytes
	chunkEnd  // the line end after a chunk
	trailerLine
	complete
)

// answer reads one HTTP/1.1 response (RFC 9112) as its bytes arrive and keeps
// nothing but what the generator needs. reset makes it ready for the next.
type answer struct {
	code  int
	close bool // the connection cannot be used again
	began bool // a byte has arrived

	head    bool // it answers a HEAD
	stage   stage
	line    []byte // the begun line
	size    int    // bytes of lines so far
	interim int
	left    uint64
	length  bool // a Content-Length was given
	chunked bool
}

func (a *answer) reset(head bool) { *a = answer{head: head, line: a.line[:0]} }

// feed takes what arrived and returns what lies after the answer's end. It
// fails with errMalformed; after that or after its end it is not fed again.
func (a *answer) feed(b []byte) ([]byte, error) {
	for len(b) > 0 && a.stage != complete {
		a.began = true
		switch a.stage {
		case bodyToEnd:
			return nil, nil
		case bodyCounted, chunkBody:
			n := min(uint64(len(b)), a.left)
			b, a.left = b[n:], a.left-n
			if a.left == 0 {
				if a.stage == chunkBody {
					a.stage = chunkEnd
				} else {
					a.stage = complete
				}
			}
		default:
			line, rest, err := a.cut(b)
			if err != nil {
				return nil, err
			}
			b = rest
			if line == nil {
				continue
			}
			if err := a.take(line); err != nil {
				return nil, err
			}
			a.line = a.line[:0]
		}
	}
	return b, nil
}

// cut takes a line off b, without its end; nil if it is not yet whole.
func (a *answer) cut(b []byte) (line, rest []byte, err error) {
	end := bytes.IndexByte(b, '\n')
	n := end + 1
	if end < 0 {
		n = len(b)
	}
	if a.size += n; a.size > headLimit {
		return nil, nil, errMalformed
	}
	if end < 0 {
		a.line = append(a.line, b...)
		return nil, nil, nil
	}
	line, rest = b[:end], b[n:]
	if len(a.line) > 0 {
		a.line = append(a.line, line...)
		line = a.line
	}
	if l := len(line); l > 0 && line[l-1] == '\r' {
		line = line[:l-1]
	}
	if line == nil {
		line = []byte{}
	}
	return line, rest, nil
}

// take reads one whole line of the present stage.
func (a *answer) take(line []byte) error {
	switch a.stage {
	case statusLine:
		return a.status(line)
	case headerLine:
		if len(line) == 0 {
			return a.headEnd()
		}
		return a.header(line)
	case chunkSize:
		return a.chunk(line)
	case chunkEnd:
		if len(line) != 0 {
			return errMalformed
		}
		a.stage = chunkSize
		a.size = 0
	case trailerLine:
		if len(line) == 0 {
			a.stage = complete
		}
	}
	return nil
}

// status reads "HTTP/1.1 200 OK"; the reason may be missing.
func (a *answer) status(line []byte) error {
	if len(line) < 12 || string(line[:7]) != "HTTP/1." || line[8] != ' ' || len(line) > 12 && line[12] != ' ' {
		return errMalformed
	}
	switch line[7] {
	case '1':
	case '0':
		a.close = true
	default:
		return errMalformed
	}
	a.code = 0
	for _, c := range line[9:12] {
		if c < '0' || c > '9' {
			return errMalformed
		}
		a.code = a.code*10 + int(c-'0')
	}
	if a.code < 100 || a.code == 101 { // we never ask to switch
		return errMalformed
	}
	a.stage = headerLine
	return nil
}

func (a *answer) header(line []byte) error {
	name, value, ok := bytes.Cut(line, []byte{':'})
	if !ok || len(name) == 0 {
		return errMalformed
	}
	value = bytes.TrimSpace(value)
	switch {
	case is(name, "Content-Length"):
		n, ok := number(value, 10)
		if !ok || a.length && n != a.left {
			return errMalformed
		}
		a.length, a.left = true, n
	case is(name, "Transfer-Encoding"):
		if !is(value, "chunked") {
			return errMalformed
		}
		a.chunked = true
	case is(name, "Connection"):
		for option := range strings.SplitSeq(string(value), ",") {
			if strings.EqualFold(strings.TrimSpace(option), "close") {
				a.close = true
			}
		}
	}
	return nil
}

// headEnd chooses how the body is delimited (RFC 9112, 6.3).
func (a *answer) headEnd() error {
	switch {
	case a.code < 200:
		if a.interim++; a.interim > interimLimit {
			return errMalformed
		}
		a.stage, a.length, a.chunked, a.left = statusLine, false, false, 0
	case a.head || a.code == 204 || a.code == 304:
		a.stage = complete
	case a.chunked && a.length: // somebody is being deceived about the end
		return errMalformed
	case a.chunked:
		a.stage = chunkSize
		a.size = 0
	case a.length && a.left == 0:
		a.stage = complete
	case a.length:
		a.stage = bodyCounted
	default:
		a.stage, a.close = bodyToEnd, true
	}
	return nil
}

func (a *answer) chunk(line []byte) error {
	size, _, _ := bytes.Cut(line, []byte{';'})
	n, ok := number(bytes.TrimSpace(size), 16)
	if !ok {
		return errMalformed
	}
	a.left = n
	if n == 0 {
		a.stage = trailerLine
	} else {
		a.stage = chunkBody
	}
	return nil
}

// ended says whether the close of the connection ends the answer properly.
func (a *answer) ended() bool { return a.stage == bodyToEnd }

// is compares without regard to case and without allocation.
func is(b []byte, name string) bool {
	if len(b) != len(name) {
		return false
	}
	for i, c := range b {
		d := name[i]
		if c != d && (c|0x20 != d|0x20 || c|0x20 < 'a' || c|0x20 > 'z') {
			return false
		}
	}
	return true
}

// number reads digits only, below 2^60.
func number(b []byte, base uint64) (n uint64, ok bool) {
	for _, c := range b {
		var digit uint64
		switch {
		case '0' <= c && c <= '9':
			digit = uint64(c - '0')
		case base == 16 && 'a' <= c|0x20 && c|0x20 <= 'f':
			digit = uint64(c|0x20-'a') + 10
		default:
			return 0, false
		}
		if n >= 1<<60/base {
			return 0, false
		}
		n = n*base + digit
	}
	return n, len(b) > 0
}
