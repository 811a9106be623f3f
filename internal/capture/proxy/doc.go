// Package proxy passes what agents ask an Anthropic-compatible backend on to it,
// and what it answers back, byte for byte, and tells a capture.Recorder of both.
//
// Nothing here holds back, cuts or changes a stream, no time limit is ours, and where
// the recorder fails the stream goes on without it. No body is parsed, and none is
// changed, but where a plan says so that a person's policy let a platform write: then
// contents of results are set aside in what is sent, and a request that the backend
// refuses for that is sent once more as it was. It listens on a loopback address, and answers nobody who has no
// token: other people of the machine reach that address as well.
//
// Programs of the same person speak to a running proxy over a socket in its folder,
// which the system opens to that person only. Package proxy may import
// internal/capture and internal/capture/recall, internal/filelock, internal/id,
// internal/view, gjson and the standard library.
package proxy
