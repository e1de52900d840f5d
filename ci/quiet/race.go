//go:build race

package quiet

// raceDetector says that processor times are the race detector's.
const raceDetector = true
