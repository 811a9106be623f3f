// Command attack does to the real program what a stranger or an account of its
// own would do to take the house, and says of every attack whether it held.
//
//	go run ./e2e/attack --program bin/liminald --lane embedded --short
//	scripts/lane.sh run go run ./e2e/attack --program bin/liminald --lane both --only tree
//
// The attacks that succeeded once stand first, under the number that
// shared/spec/findings.md gives them; then those that held, so that they go on
// doing so. Each is bounded in time and in number, goes to servers of its own
// on loopback, and a server that grows beyond 2 GiB is killed. What a person
// beside an attack waits too long for is measured again, at most twice, where
// the machine's own disk stood still for most of that time, and the row says
// so. It ends with 1 when something gave way, with 2 when it could not attack.
//
// It knows of Liminal what its API says, and of Temporal what its gRPC says,
// and imports of the house what makes the test stack and what tells of the disk.
package main
