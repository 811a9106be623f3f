// Package record runs every named workflow on a real Temporal server, proves
// what only a server and the real store can show, and freezes their histories
// for TestReplay in workflows.
//
// It is apart from workflows' own tests because it compiles the server. Record
// anew with: go test ./workflows/internal/record -update
package record
