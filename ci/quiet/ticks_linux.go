package quiet

import (
	"os"
	"strconv"
	"strings"
)

// ticks reads the first line of /proc/stat (proc(5)): user nice system idle
// iowait irq softirq steal, then guest times that are contained in user.
func ticks() (reading, bool) {
	b, err := os.ReadFile("/proc/stat")
	if err != nil {
		return reading{}, false
	}
	line, _, _ := strings.Cut(string(b), "\n")
	fields := strings.Fields(line)
	if len(fields) < 9 || fields[0] != "cpu" {
		return reading{}, false
	}
	var r reading
	for i, f := range fields[1:9] {
		n, err := strconv.ParseUint(f, 10, 64)
		if err != nil {
			return reading{}, false
		}
		r.total += n
		if i == 3 || i == 4 { // waiting for a disk leaves the processor free
			r.idle += n
		}
	}
	return r, true
}
