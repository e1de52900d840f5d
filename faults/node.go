package faults

// NodeAct is what is done to a node.
type NodeAct string

// The acts, and the undo of each. A killed node closes its listener and its
// connections and loses its state; links to it stop listening until it
// listens again. A hung one keeps them and answers nothing. The two stand
// beside each other: one that is started again under a hang hangs.
const (
	NodeKill   NodeAct = "kill"
	NodeStart  NodeAct = "start" // undoes kill
	NodeHang   NodeAct = "hang"
	NodeResume NodeAct = "resume" // undoes hang
)

// Undo is the act that takes off what this one did, and nothing else.
func (a NodeAct) Undo() NodeAct {
	if a == NodeKill {
		return NodeStart
	}
	return NodeResume
}
