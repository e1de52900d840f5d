// Package socket is the face that an embedded node shows at its sockets: a
// port that stays its own for as long as the node exists, and a listener whose
// connections can be frozen, thawed, or broken as by the death of a process.
//
// Main flow: Reserve a port → Port.Listen for each life of the node →
// Listener.Hang and Resume, Listener.Kill, then Port.Listen again → Port.Close.
//
// To add a state that others can tell apart at a socket, give Listener a
// method, and ask for it in Conn.Read and Conn.Write.
package socket
