package service

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// Limits of one request.
const (
	maxLine    = 8 << 10 // a line of the head; also the read buffer
	maxHeaders = 128
	maxBody    = 16 << 20
)

// refusal is a request that is answered with a status without being served.
// The connection is closed afterwards: where the next request begins is unknown.
type refusal struct {
	status int
	why    string
}

func (r *refusal) Error() string { return fmt.Sprintf("%d %s", r.status, r.why) }

var (
	errTooLong     = &refusal{431, "a line of the head is longer than 8 KiB, or there are more than 128 headers"}
	errRequestLine = &refusal{400, "the request line is not METHOD TARGET HTTP/1.x"}
	errHeader      = &refusal{400, "a header is not NAME: VALUE"}
	errLength      = &refusal{400, "the length of the body is not one decimal number"}
	errChunk       = &refusal{400, "a chunk does not begin with its length in hexadecimal"}
	errBody        = &refusal{413, "the body is longer than 16 MiB"}
	errCoding      = &refusal{501, "a transfer coding other than chunked, or any in HTTP/1.0"}
	errVersion     = &refusal{505, "not HTTP/1.0 or HTTP/1.1"}
)

// message is one request, of which only what a bundled service looks at is
// kept. Its slices are valid until the next request is read.
type message struct {
	method  []byte
	path    []byte // with its query
	request uint64 // the user's request, 0 = none
	length  int64  // of the body; -1 = chunked
	close   bool
	expects bool // an interim answer before it sends the body
	hasBody bool // a length or a coding was given
	http10  bool
}

// readHead reads the head of the next request. io.EOF means that the far side
// closed between two requests, a *refusal that the request cannot be served.
func (m *message) readHead(br *bufio.Reader) error {
	line, err := readLine(br)
	for err == nil && len(line) == 0 { // RFC 9112, 2.2: empty lines before a request are skipped
		line, err = readLine(br)
	}
	if err != nil {
		return err
	}
	*m = message{method: m.method[:0], path: m.path[:0]}
	if err := m.parseLine(line); err != nil {
		return err
	}
	for range maxHeaders {
		line, err := readLine(br)
		if err != nil {
			return midway(err)
		}
		if len(line) == 0 {
			return nil
		}
		if err := m.parseHeader(line); err != nil {
			return err
		}
	}
	return errTooLong
}

// readLine reads up to a line feed, and leaves the line's end out.
func readLine(br *bufio.Reader) ([]byte, error) {
	line, err := br.ReadSlice('\n')
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		return nil, errTooLong
	case err != nil && len(line) > 0:
		return nil, midway(err)
	case err != nil:
		return nil, err
	}
	return bytes.TrimSuffix(line[:len(line)-1], []byte{'\r'}), nil
}

// midway is an end that came within a request.
func midway(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

func (m *message) parseLine(line []byte) error {
	method, rest, ok := bytes.Cut(line, []byte{' '})
	target, version, ok2 := bytes.Cut(rest, []byte{' '})
	if !ok || !ok2 || !isToken(method) || len(target) == 0 || bytes.IndexByte(version, ' ') >= 0 {
		return errRequestLine
	}
	for _, b := range target {
		if b <= ' ' || b == 0x7f {
			return errRequestLine
		}
	}
	switch string(version) {
	case "HTTP/1.1":
	case "HTTP/1.0":
		m.close, m.http10 = true, true
	default:
		return errVersion
	}
	if scheme := bytes.Index(target, []byte("://")); scheme > 0 && target[0] != '/' { // absolute form
		authority := target[scheme+3:]
		if slash := bytes.IndexByte(authority, '/'); slash >= 0 {
			target = authority[slash:]
		} else {
			target = []byte{'/'}
		}
	}
	m.method = append(m.method, method...)
	m.path = append(m.path, target...)
	return nil
}

func (m *message) parseHeader(line []byte) error {
	name, value, ok := bytes.Cut(line, []byte{':'})
	if !ok || !isToken(name) {
		return errHeader
	}
	value = bytes.Trim(value, " \t")
	switch {
	case is(name, requestHeader):
		if id, err := strconv.ParseUint(string(value), 10, 64); err == nil {
			m.request = id
		}
	case is(name, "Content-Length"):
		return m.setLength(value)
	case is(name, "Transfer-Encoding"):
		if m.http10 || !is(value, "chunked") {
			return errCoding
		}
		if m.hasBody {
			return errLength // RFC 9112, 6.1: both is how requests are smuggled
		}
		m.hasBody, m.length = true, -1
	case is(name, "Connection"):
		m.close = m.close || is(value, "close")
	case is(name, "Expect"):
		m.expects = is(value, "100-continue")
	}
	return nil
}

func (m *message) setLength(value []byte) error {
	n, err := strconv.ParseUint(string(value), 10, 62)
	if err != nil || m.hasBody && m.length != int64(n) {
		return errLength
	}
	if n > maxBody {
		return errBody
	}
	m.hasBody, m.length = true, int64(n)
	return nil
}

// discardBody reads the body to its end.
func (m *message) discardBody(br *bufio.Reader) error {
	if m.length >= 0 {
		_, err := br.Discard(int(m.length))
		return midway(err)
	}
	for total := int64(0); ; {
		line, err := readLine(br)
		if err != nil {
			return midway(err)
		}
		size, _, _ := bytes.Cut(line, []byte{';'})
		n, err := strconv.ParseUint(string(bytes.Trim(size, " \t")), 16, 62)
		if err != nil {
			return errChunk
		}
		if n == 0 {
			return discardTrailer(br)
		}
		if total += int64(n); total > maxBody {
			return errBody
		}
		if _, err := br.Discard(int(n)); err != nil {
			return midway(err)
		}
		if line, err := readLine(br); err != nil || len(line) > 0 {
			return errors.Join(errChunk, midway(err))
		}
	}
}

func discardTrailer(br *bufio.Reader) error {
	for range maxHeaders {
		line, err := readLine(br)
		if err != nil {
			return midway(err)
		}
		if len(line) == 0 {
			return nil
		}
	}
	return errTooLong
}

// is compares a header's name or value with an ASCII text whatever the case.
func is(b []byte, text string) bool {
	if len(b) != len(text) {
		return false
	}
	for i := range b {
		x, y := b[i], text[i]
		if x != y && (x|0x20 != y|0x20 || x|0x20 < 'a' || x|0x20 > 'z') {
			return false
		}
	}
	return true
}

// isToken says whether b is a token of RFC 9110, 5.6.2.
func isToken(b []byte) bool {
	for _, c := range b {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9':
		case bytes.IndexByte([]byte("!#$%&'*+-.^_`|~"), c) >= 0:
		default:
			return false
		}
	}
	return len(b) > 0
}
