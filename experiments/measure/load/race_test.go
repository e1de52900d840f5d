//go:build race

package load

// raceDetector says that processor times are the race detector's.
const raceDetector = true
