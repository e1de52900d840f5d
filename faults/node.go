package faults

// NodeAct is what a fault does to a node.
type NodeAct string

// The acts, and the undo of both. A killed node closes its listener and its
// connections and loses its state; links to it stop listening until it
// listens again. A hung one keeps them and answers nothing.
const (
	NodeKill    NodeAct = "kill"
	NodeHang    NodeAct = "hang"
	NodeRestore NodeAct = "restore"
)
