// Command hostile lets one person run the worst graphs anybody could write,
// and measures what twenty others notice of it.
//
//	go run ./e2e/attack/hostile --program bin/liminald
//	go run ./e2e/attack/hostile --program bin/liminald --only bomb,doubling
//	scripts/lane.sh run --program go run ./e2e/attack/hostile --program bin/liminald --lane production
//
// Each file of graphs/ is one graph, or several that call each other, with how
// it is started and what should come of it: refused when it is written, ended
// by a bound, or simply done. For each the twenty chat in peace first, then
// while the graph runs, and once more after it was cancelled. The bars: their
// p95 is at most three times that of their peace, the program's memory at most
// 1 GiB, nothing of the graph is left two seconds after its cancel, and what
// came of it is what its file says. It ends with 1 when a bar is broken, and
// with 2 when it could not measure.
//
// What other programs of the machine take is measured as well: a row that says
// "noisy" was taken while they took a good part of a core. A row that says
// "AGAIN" counts for nothing: bars of time were broken while the machine's disk
// stood still for most of the time, and the graph is taken again, at most twice.
//
// It knows of Liminal what its API says, and of Temporal how runs are counted.
// It imports the standard library, what tells of the disk, and the client side
// of Temporal's API.
package main
