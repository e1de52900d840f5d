package load

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// readAll feeds pieces as they would arrive, then the end of the connection.
func readAll(head bool, pieces ...string) (a answer, rest string, err error) {
	a.reset(head)
	for i, p := range pieces {
		left, err := a.feed([]byte(p))
		if err != nil {
			return a, "", err
		}
		if a.stage == complete {
			return a, string(left) + strings.Join(pieces[i+1:], ""), nil
		}
	}
	return a, "", nil
}

var answers = map[string]struct {
	text  string
	head  bool
	code  int
	close bool
	rest  string
	end   bool // ended by the connection's close
	bad   bool
	open  bool // not whole
}{
	"length":             {text: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", code: 200},
	"nothing":            {text: "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", code: 200},
	"no reason":          {text: "HTTP/1.1 503\r\ncontent-length:0\r\n\r\n", code: 503},
	"bare line feeds":    {text: "HTTP/1.1 200 OK\nContent-Length: 1\n\nx", code: 200},
	"chunked":            {text: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;a=b\r\nhello\r\nA\r\n0123456789\r\n0\r\nTrailer: x\r\n\r\n", code: 200},
	"close":              {text: "HTTP/1.1 200 OK\r\nConnection: x, Close\r\nContent-Length: 0\r\n\r\n", code: 200, close: true},
	"old version":        {text: "HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n", code: 200, close: true},
	"to the end":         {text: "HTTP/1.1 200 OK\r\n\r\nwhatever comes", code: 200, close: true, end: true},
	"interim":            {text: "HTTP/1.1 103 Early\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", code: 200},
	"no content":         {text: "HTTP/1.1 204 No\r\n\r\n", code: 204},
	"not modified":       {text: "HTTP/1.1 304 No\r\nContent-Length: 9\r\n\r\n", code: 304},
	"head":               {text: "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", head: true, code: 200},
	"rest":               {text: "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nxHTTP", code: 200, rest: "HTTP"},
	"half a head":        {text: "HTTP/1.1 200 OK\r\nContent-", code: 200, open: true},
	"half a body":        {text: "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello", code: 200, open: true},
	"no http":            {text: "SSH-2.0-OpenSSH_9\r\n", bad: true},
	"version 2":          {text: "HTTP/2.0 200 OK\r\n\r\n", bad: true},
	"no code":            {text: "HTTP/1.1 abc OK\r\n\r\n", bad: true},
	"code 99":            {text: "HTTP/1.1 099 OK\r\n\r\n", bad: true},
	"four digits":        {text: "HTTP/1.1 2000 OK\r\n\r\n", bad: true},
	"switching":          {text: "HTTP/1.1 101 Switching\r\n\r\n", bad: true},
	"two lengths":        {text: "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", bad: true},
	"length and chunked": {text: "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", bad: true},
	"negative length":    {text: "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", bad: true},
	"huge length":        {text: "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n", bad: true},
	"gzip coding":        {text: "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n", bad: true},
	"bad chunk":          {text: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", bad: true},
	"long chunk":         {text: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n", bad: true},
	"no colon":           {text: "HTTP/1.1 200 OK\r\nnonsense\r\n\r\n", bad: true},
	"endless line":       {text: "HTTP/1.1 200 " + strings.Repeat("x", headLimit), bad: true},
	"endless head":       {text: "HTTP/1.1 200 OK\r\n" + strings.Repeat("a: b\r\n", headLimit/6+1), bad: true},
	"endless interim":    {text: strings.Repeat("HTTP/1.1 100 Go\r\n\r\n", interimLimit+1), bad: true},
}

func TestAnswersAreReadByTheRules(t *testing.T) {
	for name, c := range answers {
		t.Run(name, func(t *testing.T) {
			a, rest, err := readAll(c.head, c.text)
			if c.bad {
				if !errors.Is(err, errMalformed) {
					t.Fatalf("read as %d: %v", a.code, err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			whole := a.stage == complete || c.end && a.ended()
			if whole == c.open || a.code != c.code || a.close != c.close || rest != c.rest {
				t.Fatalf("whole %v, code %d, close %v, rest %q", whole, a.code, a.close, rest)
			}
		})
	}
}

// How the bytes are cut into pieces on the way changes nothing.
func TestPiecesDoNotMatter(t *testing.T) {
	for name, c := range answers {
		rapid.Check(t, func(t *rapid.T) {
			var pieces []string
			for left := c.text; left != ""; {
				n := rapid.IntRange(1, len(left)).Draw(t, "piece")
				pieces, left = append(pieces, left[:n]), left[n:]
			}
			a, rest, err := readAll(c.head, pieces...)
			b, whole, otherErr := readAll(c.head, c.text)
			if errors.Is(err, errMalformed) != errors.Is(otherErr, errMalformed) {
				t.Fatalf("%s: %v in pieces, %v in one", name, err, otherErr)
			}
			if err == nil && (a.code != b.code || a.close != b.close || a.stage != b.stage || rest != whole) {
				t.Fatalf("%s: %+v %q in pieces, %+v %q in one", name, a, rest, b, whole)
			}
		})
	}
}

func FuzzAnswer(f *testing.F) {
	for _, c := range answers {
		f.Add([]byte(c.text), c.head, 7)
	}
	f.Fuzz(func(t *testing.T, text []byte, head bool, piece int) {
		var a answer
		a.reset(head)
		for b := text; len(b) > 0 && a.stage != complete; {
			n := min(max(piece&31, 1), len(b))
			rest, err := a.feed(b[:n])
			if err != nil {
				return
			}
			if len(a.line) > headLimit {
				t.Fatalf("a line of %d bytes is kept", len(a.line))
			}
			if a.stage == complete && len(rest) >= n {
				t.Fatal("complete without having read anything")
			}
			b = b[n:]
		}
		if a.stage == complete && (a.code < 200 || a.code > 999) {
			t.Fatalf("code %d", a.code)
		}
	})
}

func BenchmarkAnswer(b *testing.B) {
	text := []byte("HTTP/1.1 200 OK\r\nDate: Mon, 01 Jan 2024 00:00:00 GMT\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello")
	var a answer
	b.ReportAllocs()
	for b.Loop() {
		a.reset(false)
		if _, err := a.feed(text); err != nil || a.stage != complete {
			b.Fatal(err)
		}
	}
}
