package guard

// self is this very program, also when its file was replaced or removed.
func self(string) (string, error) { return "/proc/self/exe", nil }
