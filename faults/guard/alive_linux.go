package guard

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// userTicks is how many ticks of /proc/PID/stat make a second, on every Linux.
const userTicks = 100

// alive says whether the process that had this id at an instant of the
// monotonic clock still runs: not one that has ended and was not waited for,
// nor a later one with its id. /proc counts the time that the machine has slept,
// the monotonic clock does not.
func alive(pid int, at int64) bool {
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	// the name in parentheses may hold anything; state is the field after it, start the twentieth
	rest := strings.Fields(string(content[bytes.LastIndexByte(content, ')')+1:]))
	if len(rest) < 20 || rest[0] == "Z" || rest[0] == "X" {
		return false
	}
	started, err := strconv.ParseInt(rest[19], 10, 64)
	var boot, monotonic unix.Timespec
	err = errors.Join(err, unix.ClockGettime(unix.CLOCK_BOOTTIME, &boot), unix.ClockGettime(unix.CLOCK_MONOTONIC, &monotonic))
	asleep := boot.Nano() - monotonic.Nano()
	return err == nil && started*int64(time.Second/userTicks)-asleep <= at+int64(time.Second)
}
