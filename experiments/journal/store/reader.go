package store

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"iter"
	"os"

	"github.com/klauspost/compress/zstd"

	"firedrill/experiments/journal"
)

// ErrTorn says that a journal ends before its end mark: its writer died, or
// is still writing. What came before is whole.
var ErrTorn = errors.New("torn journal")

// TornError tells where a journal is torn; errors.Is(err, ErrTorn) holds.
type TornError struct {
	Offset int64  // of the first byte after the last whole frame
	Events uint64 // that could be read before it
	Cause  error  // what was found there
}

func (e *TornError) Error() string {
	return fmt.Sprintf("torn journal: whole up to byte %d (%d events): %v", e.Offset, e.Events, e.Cause)
}

// Unwrap gives ErrTorn and the cause.
func (e *TornError) Unwrap() []error { return []error{ErrTorn, e.Cause} }

// Reader reads a journal from its file, a frame at a time.
type Reader struct {
	file *os.File
	in   *bufio.Reader
	zstd *zstd.Decoder
	body []byte
	at   int64
	n    uint64
}

// Open opens a journal. It fails with journal.ErrNotJournal or
// journal.ErrVersion on a file it cannot read, with a TornError on one that
// ends within its head.
func Open(path string) (*Reader, error) {
	f, err := OpenRegular(path)
	if err != nil {
		return nil, err // it says what was opened
	}
	r, err := newReader(f)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open journal %s: %w", path, err), f.Close())
	}
	return r, nil
}

func newReader(f *os.File) (*Reader, error) {
	r := &Reader{file: f, in: bufio.NewReaderSize(f, 64<<10)}
	head, err := r.in.Peek(journal.HeadLimit)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	n, err := journal.ParseHead(head)
	if err != nil {
		return nil, err
	}
	if n == 0 {
		return nil, &TornError{Cause: io.ErrUnexpectedEOF}
	}
	if _, err = r.in.Discard(n); err != nil {
		return nil, err
	}
	r.at = int64(n)
	r.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxMemory(blockMost))
	return r, err
}

// Events gives the events in the order they were written, once. The last pair
// holds a TornError if the journal has no end mark, or another error of
// reading. An event's Data shares memory with its neighbours'.
func (r *Reader) Events() iter.Seq2[journal.Event, error] {
	return func(yield func(journal.Event, error) bool) {
		for {
			block, size, err := r.frame()
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				yield(journal.Event{}, err)
				return
			}
			for e, err := range journal.Events(block) {
				if err != nil {
					yield(e, r.torn(err))
					return
				}
				r.n++
				if !yield(e, nil) {
					return
				}
			}
			r.at += size
		}
	}
}

// Close closes the file.
func (r *Reader) Close() error {
	r.zstd.Close()
	if err := r.file.Close(); err != nil {
		return fmt.Errorf("close journal: %w", err)
	}
	return nil
}

func (r *Reader) torn(cause error) error {
	return &TornError{Offset: r.at, Events: r.n, Cause: cause}
}

// frame reads the next block, decompressed, and the size of its frame; io.EOF
// after the end mark.
func (r *Reader) frame() ([]byte, int64, error) {
	var head [frameHead]byte
	if _, err := io.ReadFull(r.in, head[:]); err != nil {
		return nil, 0, r.broken(err)
	}
	length, check := binary.LittleEndian.Uint32(head[:]), binary.LittleEndian.Uint32(head[4:])
	switch {
	case length == 0:
		return nil, 0, r.end(check)
	case length > blockMost:
		return nil, 0, r.torn(fmt.Errorf("%w: a frame of %d bytes", journal.ErrCorrupt, length))
	}
	if cap(r.body) < int(length) {
		r.body = make([]byte, length)
	}
	body := r.body[:length]
	if _, err := io.ReadFull(r.in, body); err != nil {
		return nil, 0, r.broken(err)
	}
	if crc32.Checksum(body, castagnoli) != check {
		return nil, 0, r.torn(fmt.Errorf("%w: wrong check sum", journal.ErrCorrupt))
	}
	block, err := r.zstd.DecodeAll(body, nil)
	if err != nil {
		return nil, 0, r.torn(fmt.Errorf("%w: %w", journal.ErrCorrupt, err))
	}
	return block, frameHead + int64(length), nil
}

// end checks the end mark and that nothing follows.
func (r *Reader) end(check uint32) error {
	var rest [8]byte
	if _, err := io.ReadFull(r.in, rest[:]); err != nil {
		return r.broken(err)
	}
	events := binary.LittleEndian.Uint64(rest[:])
	switch {
	case crc32.Checksum(rest[:], castagnoli) != check:
		return r.torn(fmt.Errorf("%w: wrong check sum of the end mark", journal.ErrCorrupt))
	case events != r.n:
		return r.torn(fmt.Errorf("%w: %d events were written, %d are here", journal.ErrCorrupt, events, r.n))
	}
	if _, err := r.in.ReadByte(); err == nil {
		return r.torn(fmt.Errorf("%w: bytes after the end mark", journal.ErrCorrupt))
	} else if !errors.Is(err, io.EOF) {
		return fmt.Errorf("read journal: %w", err)
	}
	return io.EOF
}

// broken tells a file that ends too early from one that cannot be read.
func (r *Reader) broken(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return r.torn(io.ErrUnexpectedEOF)
	}
	return fmt.Errorf("read journal: %w", err)
}
