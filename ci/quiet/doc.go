// Package quiet keeps the machine quiet around a test that claims times. One
// lock file serves every process of the machine: whoever measures holds it
// alone; a test that loads the machine without claiming times shares it with
// its like. After taking it, Lock also waits until compilers and other
// neighbours have let go of the processors. It is for tests only and imports
// nothing of the module.
//
// Main flow: Lock(t) → the file lock → a wait for idle processors → the test →
// unlocked at its end. Share(t) for those that only make noise; OnIdle(t, …)
// for figures that only an idle machine can show, with a control beside them.
//
// To add a platform on which busyness can be seen, give it a file with ticks.
package quiet
