package cli

import (
	"context"

	"firedrill/experiments/drill"
	"firedrill/experiments/library"
)

// demonstration is what `run` does without a file, in this order.
var demonstration = []string{
	"health-check/hung-backend-leaves-rotation.yaml",
	"retry/dead-database-multiplies.yaml",
	"retry/reset-masked-by-one-retry.yaml",
	"retry/reset-not-masked.yaml",
}

const (
	demonstrationTitle = "Demonstration game day"
	demonstrationIntro = "Three experiments and a twin. A backend hangs and leaves rotation within the worst case that its health check " +
		"allows. A dead database behind three callers with three attempts each is tried 27 times for every user: that one fails on purpose, " +
		"because nothing limits the retries. A reset link is masked by one retry, and its twin without the retry shows what users " +
		"would have seen."
)

// demonstrate runs the shipped demonstration.
func (s *session) demonstrate(ctx context.Context, choices drill.Choices) error {
	var drills []*drill.Drill
	for _, name := range demonstration {
		d, err := drill.LoadFS(library.FS(), name, choices)
		if err != nil {
			return refuse(name, err)
		}
		drills = append(drills, d)
	}
	return s.run(ctx, drills, demonstrationTitle, demonstrationIntro)
}
