// Package store keeps journals in files: the recorder that takes events off
// the hot path, compresses them and appends them, and the reader that gives
// them back in order, up to a tear if the writer died.
//
// Main flow: Create → Writer.Emit (a copy into memory) → its goroutine encodes,
// compresses and appends a frame, at the latest after Flush → Writer.Close adds
// the end mark; Open → Reader.Events.
//
// OpenRegular opens every file of a run's folder, journal or not, that is read
// later: what is no regular file is refused, and never waited for.
//
// To add a file format, raise journal.Version, and choose by the head here.
package store
