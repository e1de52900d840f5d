//go:build !race

package quiet

const raceDetector = false
