package journal

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
)

// Version is the number of the format that this package writes and reads.
const Version = 1

// HeadLimit is the longest possible head of a journal in bytes.
const HeadLimit = 32

const headWord = "firedrill-journal "

// Errors of reading a journal.
var (
	ErrNotJournal = errors.New("not a journal")
	ErrVersion    = errors.New("unknown journal format")
	ErrCorrupt    = errors.New("corrupt journal block")
)

// AppendHead appends the line that begins every journal: a word and the
// format's version.
func AppendHead(dst []byte) []byte {
	dst = append(dst, headWord...)
	dst = strconv.AppendInt(dst, Version, 10)
	return append(dst, '\n')
}

// ParseHead returns the length of the head that b begins with. A b that stops
// within the head gives 0 and no error; ErrNotJournal and ErrVersion say that
// this is another file or another version's.
func ParseHead(b []byte) (int, error) {
	n := min(len(b), len(headWord))
	if string(b[:n]) != headWord[:n] {
		return 0, ErrNotJournal
	}
	end := bytes.IndexByte(b[:min(len(b), HeadLimit)], '\n')
	if end < 0 {
		if len(b) >= HeadLimit {
			return 0, ErrNotJournal
		}
		return 0, nil
	}
	version, err := strconv.Atoi(string(b[n:end]))
	if err != nil || version < 1 {
		return 0, ErrNotJournal
	}
	if version != Version {
		return 0, fmt.Errorf("%w: the file has version %d, this firedrill reads version %d; judge it with the firedrill that wrote it", ErrVersion, version, Version)
	}
	return end + 1, nil
}

// A block is a sequence of events that can be read without any other block:
//
//	count of events
//	strings: count, then each its length and bytes
//	shapes:  count, then each its fields
//	columns: each its length and bytes, in the order of the constants below
//
// All numbers are varints, signed ones zigzag. The shape column names for each
// event its shape, that is every field of few values together with the set of
// other columns that hold a value for it; so an ordinary event takes a byte or
// two there, and columns of like numbers compress well.
const (
	columnShape   = iota
	columnAt      // minus the At of the event before
	columnDue     // minus At
	columnSent    // minus Due, or At without it
	columnTook    // nanoseconds
	columnWork    // nanoseconds
	columnWorked  // minus Work
	columnRequest // minus the last one given
	columnSeq     // minus the last one of the same node
	columnClient
	columnText   // number of a string
	columnLength // of Data
	columnData
	columns
)

// shape is what few distinct values of recur throughout a block.
type shape struct {
	kind       Kind
	outcome    Outcome
	cause      Cause
	has        uint16 // bit c: column c holds a value
	fault      uint16
	try        uint16
	code       uint16
	route      uint16
	node, link uint32 // numbers of strings
}

// What an event takes on disk, measured on runs of the shipped files and of
// ten times their load, rounded up.
const (
	bytesPerEvent = 12
	bytesPerRetry = 8   // of one more try, which is much like the one before
	bytesPerFlush = 200 // what a block has beside its events
)

// EstimateBytes is about what a journal takes on disk: of so many events of
// first tries and so many of further ones, in so many seconds.
func EstimateBytes(first, retries int64, seconds float64) int64 {
	return HeadLimit + first*bytesPerEvent + retries*bytesPerRetry + int64(seconds*bytesPerFlush)
}
