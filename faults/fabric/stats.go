package fabric

// LinkStats are a link's counters since it was opened.
type LinkStats struct {
	Name      string `json:"name"`
	Addr      string `json:"addr"`
	Upstream  string `json:"upstream"`
	Listening bool   `json:"listening"`
	Active    int    `json:"active"`   // settings that stand on it
	Accepted  int64  `json:"accepted"` // connections
	Open      int64  `json:"open"`     // now
	Reset     int64  `json:"reset"`    // connections that an RST was sent on
	BytesUp   int64  `json:"bytesUp"`  // delivered to the callee
	BytesDown int64  `json:"bytesDown"`
	// Short counts connections that failed because this machine had no more to
	// give: no fault did that, nor the callee. Want says what it had no more of.
	Short int64  `json:"short,omitempty"`
	Want  string `json:"want,omitempty"`
}
