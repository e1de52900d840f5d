// Command firedrill runs resilience experiments: see README.md.
package main

import (
	"context"
	"os"

	"firedrill/experiments/cli"
	"firedrill/faults/guard"
)

func main() {
	guard.Main() // first: this program may have been started as the guard
	os.Exit(cli.Execute(context.Background(), os.Args[1:], cli.Streams{Out: os.Stdout, Err: os.Stderr, Getenv: os.Getenv}))
}
