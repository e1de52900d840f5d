//go:build !linux

package clock

import "time"

// runtimeAlarm rings by a timer of the runtime: late by about a millisecond.
type runtimeAlarm struct {
	timer *time.Timer
}

func newAlarm() (alarm, error) {
	timer := time.NewTimer(time.Hour)
	timer.Stop()
	return runtimeAlarm{timer}, nil
}

func (a runtimeAlarm) set(at int64) error {
	a.timer.Reset(time.Duration(at - Now()))
	return nil
}

func (a runtimeAlarm) wait() error {
	<-a.timer.C
	return nil
}

func (a runtimeAlarm) close() { a.timer.Stop() }

// SleepUntil blocks until the instant at, as exactly as the runtime can.
func SleepUntil(at int64) { time.Sleep(time.Duration(at - Now())) }

// HoldUntil is SleepUntil on this platform.
func HoldUntil(at int64) { SleepUntil(at) }

// Sharpen has nothing to set on this platform.
func Sharpen() error { return nil }
