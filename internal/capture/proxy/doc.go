// Package proxy passes what agents ask an Anthropic-compatible backend on to it,
// and what it answers back, byte for byte, and tells a capture.Recorder of both.
//
// Nothing here holds back, cuts or changes a stream: no body is parsed, nothing is
// retried, no time limit is ours, and where the recorder fails the stream goes on
// without it. It listens on a loopback address, and answers nobody who has no
// token: other people of the machine reach that address as well.
//
// Programs of the same person speak to a running proxy over a socket in its folder,
// which the system opens to that person only. Package proxy may import
// internal/capture, internal/filelock, internal/id and the standard library.
package proxy
