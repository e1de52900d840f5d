package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"sync"
	"time"

	"github.com/klauspost/compress/zstd"

	"firedrill/experiments/journal"
)

const (
	// Flush is the longest time an event stays in memory only, while the disk
	// keeps up: what a crash loses.
	Flush = time.Second

	gathered   = 8192    // events the recorder holds before it blocks
	dataLimit  = 4 << 20 // bytes of Data it holds before it blocks
	blockLimit = 256 << 10
)

// ErrClosed is kept by a Writer that was given an event after Close.
var ErrClosed = errors.New("journal: event after the journal was closed")

// file is what a Writer writes to.
type file interface {
	Write(b []byte) (int, error)
	Sync() error
	Close() error
}

// Writer is a journal.Sink that appends to a file. Emit costs a copy under a
// lock; one goroutine encodes and writes. It never drops: when the goroutine
// is behind by a whole buffer, Emit blocks, and Wait tells for how long.
// After a failure to write nothing more can be kept; Failed is closed at once.
type Writer struct {
	mu      sync.Mutex
	room    sync.Cond
	filling batch
	waited  time.Duration
	closed  bool
	err     error
	failed  chan struct{}

	kick    chan struct{}      // the filling batch is half full
	flush   chan chan struct{} // who waits for all to be written
	stop    chan struct{}
	done    chan struct{}
	stopped sync.Once

	// the goroutine's own
	file     file
	encoder  *journal.Encoder
	zstd     *zstd.Encoder
	block    []byte
	frame    []byte
	events   uint64
	written  int64
	draining batch
}

// batch is a number of events and the copies of their Data.
type batch struct {
	events []journal.Event
	data   []byte
}

// Create makes a new journal at path, which must not exist: evidence is never
// overwritten.
func Create(path string) (*Writer, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return nil, fmt.Errorf("create journal: %w", err)
	}
	w, err := start(f, Flush)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("create journal %s: %w", path, err), f.Close())
	}
	return w, nil
}

func start(f file, flush time.Duration) (*Writer, error) {
	z, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true),
		zstd.WithWindowSize(blockLimit), zstd.WithEncoderLevel(zstd.SpeedBetterCompression), zstd.WithEncoderCRC(false))
	if err != nil {
		return nil, err
	}
	if _, err := f.Write(journal.AppendHead(nil)); err != nil {
		return nil, err
	}
	w := &Writer{
		file: f, encoder: journal.NewEncoder(), zstd: z,
		failed: make(chan struct{}), kick: make(chan struct{}, 1),
		flush: make(chan chan struct{}), stop: make(chan struct{}), done: make(chan struct{}),
	}
	w.room.L = &w.mu
	w.filling.events = make([]journal.Event, 0, gathered)
	w.draining.events = make([]journal.Event, 0, gathered)
	go w.run(flush)
	return w, nil
}

// Emit takes an event; see journal.Sink. After Close it is an error, kept for
// Err; after a failure the event is lost, and the run is to be aborted.
func (w *Writer) Emit(e journal.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.filling.full() && w.err == nil && !w.closed {
		began := time.Now()
		for w.filling.full() && w.err == nil && !w.closed {
			w.room.Wait()
		}
		w.waited += time.Since(began)
	}
	if w.closed {
		w.fail(ErrClosed)
	}
	if w.err != nil {
		return
	}
	w.filling.add(e)
	if w.filling.half() {
		select {
		case w.kick <- struct{}{}:
		default:
		}
	}
}

// Wait is how long emitters were blocked by a full buffer, in all.
func (w *Writer) Wait() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.waited
}

// Failed is closed when the journal can no longer be written (a full disk,
// for one): Err says why.
func (w *Writer) Failed() <-chan struct{} { return w.failed }

// Err is the first failure, nil while all is well.
func (w *Writer) Err() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

// Flush returns when what was emitted before is in the file, so that it
// outlives this process, or when nothing more can be written: see Err.
func (w *Writer) Flush() {
	written := make(chan struct{})
	select {
	case w.flush <- written:
		<-written
	case <-w.done:
	}
}

// Close writes what is left and the end mark, and closes the file. It returns
// the first failure since Create. Closing twice is harmless.
func (w *Writer) Close() error {
	w.mu.Lock()
	w.closed = true
	w.room.Broadcast()
	w.mu.Unlock()
	w.stopped.Do(func() { close(w.stop) })
	<-w.done
	return w.Err()
}

func (w *Writer) run(flush time.Duration) {
	defer close(w.done)
	tick := time.NewTicker(flush)
	defer tick.Stop()
	for {
		select {
		case <-w.kick:
			w.drain(false)
		case <-tick.C:
			w.drain(true)
		case written := <-w.flush:
			w.drain(true)
			close(written)
		case <-w.stop:
			w.finish()
			return
		}
	}
}

// drain takes what was gathered and encodes it; whole blocks are written, a
// part of one if flush says so.
func (w *Writer) drain(flush bool) {
	w.mu.Lock()
	w.filling, w.draining = w.draining, w.filling
	broken := w.err != nil
	w.room.Broadcast()
	w.mu.Unlock()
	for i := range w.draining.events {
		if broken {
			break
		}
		w.encoder.Append(&w.draining.events[i])
		if w.encoder.Size() >= blockLimit {
			broken = !w.write()
		}
	}
	w.draining.reset()
	if flush && !broken && w.encoder.Count() > 0 {
		w.write()
	}
}

// write appends the encoder's block as a frame.
func (w *Writer) write() bool {
	w.events += uint64(w.encoder.Count())
	w.block = w.encoder.AppendBlock(w.block[:0])
	w.frame = append(w.frame[:0], make([]byte, frameHead)...)
	w.frame = w.zstd.EncodeAll(w.block, w.frame)
	body := w.frame[frameHead:]
	if len(w.block) > blockMost || len(body) > blockMost {
		return w.keep(fmt.Errorf("journal: a block of %d bytes, at most %d can be read back", len(w.block), blockMost))
	}
	putHead(w.frame, uint32(len(body)), crc32.Checksum(body, castagnoli))
	return w.append(w.frame)
}

func (w *Writer) append(b []byte) bool {
	n, err := w.file.Write(b)
	w.written += int64(n)
	if err != nil {
		return w.keep(err) // it names the file
	}
	return true
}

func (w *Writer) finish() {
	w.drain(true)
	if w.Err() == nil {
		w.append(endMark(w.events))
	}
	if err := w.file.Sync(); err != nil {
		w.keep(err)
	}
	if err := w.file.Close(); err != nil {
		w.keep(fmt.Errorf("close journal: %w", err))
	}
	_ = w.zstd.Close() // holds no data: every frame was made whole
}

// keep remembers the first failure, wakes who waits, and is false.
func (w *Writer) keep(err error) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fail(err)
	return false
}

func (w *Writer) fail(err error) {
	if w.err == nil {
		w.err = err
		close(w.failed)
		w.room.Broadcast()
	}
}

func (b *batch) full() bool { return len(b.events) == cap(b.events) || len(b.data) >= dataLimit }

func (b *batch) half() bool { return len(b.events) >= cap(b.events)/2 || len(b.data) >= dataLimit/2 }

func (b *batch) add(e journal.Event) {
	if len(e.Data) > 0 {
		from := len(b.data)
		b.data = append(b.data, e.Data...)
		e.Data = b.data[from:len(b.data):len(b.data)]
	}
	b.events = append(b.events, e)
}

func (b *batch) reset() {
	clear(b.events) // lets go of the strings
	b.events, b.data = b.events[:0], b.data[:0]
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// A frame is the length of its body, the body's CRC-32C, and the body: a block
// compressed by zstd. The end mark is a length of 0, the check, and the number
// of events in the whole file.
const (
	frameHead = 8
	blockMost = 16 << 20
)

func putHead(b []byte, length, check uint32) {
	binary.LittleEndian.PutUint32(b, length)
	binary.LittleEndian.PutUint32(b[4:], check)
}

func endMark(events uint64) []byte {
	b := make([]byte, frameHead+8)
	binary.LittleEndian.PutUint64(b[frameHead:], events)
	putHead(b, 0, crc32.Checksum(b[frameHead:], castagnoli))
	return b
}
