package service

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
)

func read(text string) (m message, rest string, err error) {
	br := bufio.NewReaderSize(strings.NewReader(text), maxLine)
	if err = m.readHead(br); err == nil && m.hasBody {
		err = m.discardBody(br)
	}
	left, _ := io.ReadAll(br)
	return m, string(left), err
}

func TestMessagesThatAreServed(t *testing.T) {
	for _, c := range []struct {
		text, method, path string
		request            uint64
		close              bool
	}{
		{"GET / HTTP/1.1\r\n\r\n", "GET", "/", 0, false},
		{"\r\n\nGET /a?b HTTP/1.1\nFIREDRILL-request: 17 \n\n", "GET", "/a?b", 17, false},
		{"GET / HTTP/1.1\r\nFiredrill-Request: -1\r\n\r\n", "GET", "/", 0, false},
		{"GET http://cart/a HTTP/1.1\r\nConnection: Close\r\n\r\n", "GET", "/a", 0, true},
		{"GET http://cart HTTP/1.1\r\n\r\n", "GET", "/", 0, false},
		{"GET /http://x HTTP/1.1\r\n\r\n", "GET", "/http://x", 0, false},
		{"POST / HTTP/1.0\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\nabc", "POST", "/", 0, true},
		{"PUT / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n0\r\nT: v\r\n\r\n", "PUT", "/", 0, false},
	} {
		m, rest, err := read(c.text + "next")
		if err != nil || rest != "next" || string(m.method) != c.method || string(m.path) != c.path || m.request != c.request || m.close != c.close {
			t.Errorf("%q: %s %s %d close=%v rest=%q %v", c.text, m.method, m.path, m.request, m.close, rest, err)
		}
	}
}

func TestMessagesThatAreRefused(t *testing.T) {
	for text, want := range map[string]error{
		"GET /\r\n\r\n":                                                                               errRequestLine,
		"GET  HTTP/1.1\r\n\r\n":                                                                       errRequestLine,
		"GET / x HTTP/1.1\r\n\r\n":                                                                    errRequestLine,
		"G\x00T / HTTP/1.1\r\n\r\n":                                                                   errRequestLine,
		"GET /\x01 HTTP/1.1\r\n":                                                                      errRequestLine,
		"GET / HTTP/2.0\r\n\r\n":                                                                      errVersion,
		"GET / HTTP/1.1\r\nbad header: x\r\n\r\n":                                                     errHeader,
		"GET / HTTP/1.1\r\n folded\r\n\r\n":                                                           errHeader,
		"GET / HTTP/1.1\r\nContent-Length: +3\r\n\r\n":                                                errLength,
		"GET / HTTP/1.1\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\n":                            errLength,
		"GET / HTTP/1.1\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n":                   errLength,
		"GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n":                   errLength,
		"GET / HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n":                                           errCoding,
		"GET / HTTP/1.1\r\nContent-Length: 99999999\r\n\r\n":                                          errBody,
		"GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n":                                  errChunk,
		"GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n":                            errChunk,
		"GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nffffff\r\n":                              io.ErrUnexpectedEOF,
		"GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nfffffff\r\n":                             errBody,
		"GET /" + strings.Repeat("a", maxLine) + " HTTP/1.1\r\n\r\n":                                  errTooLong,
		"GET / HTTP/1.1\r\n" + strings.Repeat("A: b\r\n", maxHeaders+1) + "\r\n":                      errTooLong,
		"GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n" + strings.Repeat("A: b\r\n", 999): errTooLong,
		"":                         io.EOF,
		"GET / HT":                 io.ErrUnexpectedEOF,
		"GET / HTTP/1.1\r\nHost: ": io.ErrUnexpectedEOF,
		"GET / HTTP/1.1\r\n":       io.ErrUnexpectedEOF,
		"GET / HTTP/1.1\r\nContent-Length: 3\r\n\r\nab": io.ErrUnexpectedEOF,
	} {
		if _, _, err := read(text); !errors.Is(err, want) {
			t.Errorf("%.60q: %v, want %v", text, err, want)
		}
	}
}

// FuzzMessage holds the reader against the standard library's: whatever both
// accept they understand alike, bodies included.
func FuzzMessage(f *testing.F) {
	f.Add([]byte("GET /a HTTP/1.1\r\nFiredrill-Request: 3\r\nHost: x\r\n\r\n"))
	f.Add([]byte("POST / HTTP/1.0\r\nContent-Length: 3\r\n\r\nabcGET / HTTP/1.1\r\n\r\n"))
	f.Add([]byte("PUT http://a/b HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n\r\n2\r\nab\r\n0\r\n\r\n"))
	f.Add([]byte("GET / HTTP/1.1\r\nHost: \r\nConnection: close\r\nExpect: 100-Continue\r\nContent-Length: 0\r\n\r\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, rest, err := read(string(b))
		if err != nil {
			return
		}
		if len(m.path) == 0 || len(m.method) == 0 || m.length < -1 || m.length > maxBody {
			t.Fatalf("%+v", m)
		}
		br := bufio.NewReaderSize(bytes.NewReader(b), maxLine)
		r, err := http.ReadRequest(br)
		if err != nil {
			return
		}
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			return
		}
		theirs, _ := io.ReadAll(br)
		if r.Method != string(m.method) {
			t.Errorf("method %q, they %q", m.method, r.Method)
		}
		if rest != string(theirs) {
			t.Errorf("the next request begins %q, they say %q", rest, theirs)
		}
	})
}
