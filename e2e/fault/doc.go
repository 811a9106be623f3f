// Command fault loads the real program the way people do, breaks it at random,
// and then holds what it stored against what it had told its clients.
//
//	go run ./e2e/fault --lane embedded --for 60s --seed 7 --report report.json
//
// It starts and kills every process itself and knows of Liminal what its API
// says: HTTP, event streams, and the formats of scripts and graphs. The same
// seed gives the same load and the same faults in the same order; only the
// moments differ, because machines do. It ends with 1 when a bar is broken
// (something lost, doubled or reordered, or five seconds of silence after a
// worker's death), with 2 when it could not measure, and keeps its folder
// then: the logs of every process and what every client was told.
//
// A silence counts up to the next fault, which is held to its own bar for the
// rest. Where the machine's disk stood still for most of one, and nothing else
// speaks against the program, the storm is repeated, at most twice; the report
// says so.
//
// It imports the standard library and what tells of the disk.
package main
