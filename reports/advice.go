package reports

import "strings"

// advices are what to do about failures of the environment, by the words in
// which the system tells them: by then they have gone through journals and
// other processes as text.
var advices = []struct{ words, advice string }{
	{"no space left on device", "free space where runs are kept, or keep them elsewhere with --state-dir"},
	{"disk quota exceeded", "free space where runs are kept, or keep them elsewhere with --state-dir"},
	{"read-only file system", "keep runs elsewhere with --state-dir"},
	{"too many open files", "raise the limit, with `ulimit -n 65536` in the shell that starts the run, or lower load.rate or load.max_in_flight"},
	{"address already in use", "no local port was free: lower load.rate, use `connections: keep_alive`, or wait a minute until the system has released the ports of earlier connections"},
	{"assign requested address", "no local port was free: lower load.rate, use `connections: keep_alive`, or wait a minute until the system has released the ports of earlier connections"},
	{"cannot allocate memory", "free memory, or lower load.rate"},
	{"resource temporarily unavailable", "the system allows no more processes or threads: see `ulimit -u`"},
}

// Advice is what to do about a failure that a sentence tells of; empty if it
// knows nothing better than the sentence.
func Advice(sentence string) string {
	for _, a := range advices {
		if strings.Contains(sentence, a.words) {
			return a.advice
		}
	}
	return ""
}
