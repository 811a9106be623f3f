package devserver

import (
	"database/sql/driver"
	"io"
	"regexp"
	"slices"
	"strings"
)

// partTables are where the server keeps the parts of a run's state, each in
// rows of their own: what waits, what is under way.
var partTables = []string{
	"activity_info_maps", "timer_info_maps", "child_execution_info_maps", "request_cancel_info_maps",
	"signal_info_maps", "signals_requested_sets", "buffered_events", "chasm_node_maps",
}

// maxFresh bounds the runs that are remembered. The server reads a run's state
// within milliseconds of its start, and keeps it then.
const maxFresh = 1024

// freshRuns are the runs that this connection has made, with the tables that hold
// parts of them as far as it has put any there. A start leaves the server's own
// cache empty, so the first thing a worker says of a run has the server read nine
// tables, of which eight have nothing: a twentieth of a run's processor time.
//
// It is the only connection that writes (see keepStatements), so what it has not
// put there is not there. Where a transaction is rolled back it remembers a run
// that is none, which has no parts either; of a run it does not know it says
// nothing.
type freshRuns struct {
	parts map[string]int // by run id: bits of partTables
	blind bool           // a statement went by that cannot be watched
}

// does is what a statement does, as far as freshRuns asks.
type does struct {
	reads int  // the part table whose rows of one run it reads, from 1; 0: another
	touch int  // bits of the part tables it names otherwise
	makes int  // the argument, from 1, with the id of the run it makes; 0: it makes none
	lists bool // it is about the UI's lists
}

var (
	readsParts = regexp.MustCompile(`(?is)^\s*SELECT [\w\s,]+ FROM (\w+)\s+WHERE\s+shard_id\s*=\s*\?\s+AND\s+namespace_id\s*=\s*\?\s+AND\s+workflow_id\s*=\s*\?\s+AND\s+run_id\s*=\s*\?(?:\s+ORDER BY id)?\s*;?\s*$`)
	makesRun   = regexp.MustCompile(`(?is)^\s*INSERT INTO executions\s*\(([\w\s,]+)\)\s*VALUES\s*\([\s?,]+\)\s*;?\s*$`)
)

// runArgument is where readsParts has the run's id.
const runArgument = 3

func doesOf(text string) (d does) {
	d.lists = strings.Contains(text, "executions_visibility")
	if m := readsParts.FindStringSubmatch(text); m != nil {
		d.reads = slices.Index(partTables, m[1]) + 1
		return d
	}
	for i, table := range partTables {
		if strings.Contains(text, table) {
			d.touch |= 1 << i
		}
	}
	if m := makesRun.FindStringSubmatch(text); m != nil {
		for i, column := range strings.Split(m[1], ",") {
			if strings.TrimSpace(column) == "run_id" {
				d.makes = i + 1
			}
		}
	}
	return d
}

// prepared notes a statement whose arguments pass this connection by.
func (f *freshRuns) prepared(text string) {
	if d := doesOf(text); d.touch != 0 {
		f.blind, f.parts = true, nil
	}
}

// executes notes the part tables that a statement is about to touch.
func (f *freshRuns) executes(d does, args []driver.NamedValue) {
	if d.touch == 0 {
		return
	}
	for _, a := range args {
		id := bytesOf(a.Value)
		if parts, known := f.parts[id]; known {
			f.parts[id] = parts | d.touch
		}
	}
}

// made notes the run that a statement has made. One that failed has made none:
// the run may be there already, with all its parts.
func (f *freshRuns) made(d does, args []driver.NamedValue) {
	if f.blind || d.makes == 0 || d.makes > len(args) {
		return
	}
	if id := bytesOf(args[d.makes-1].Value); id != "" {
		if f.parts == nil || len(f.parts) >= maxFresh {
			f.parts = make(map[string]int, maxFresh)
		}
		f.parts[id] = 0
	}
}

// knowsNone reports whether what a statement reads is known to be nothing.
func (f *freshRuns) knowsNone(d does, args []driver.NamedValue) bool {
	if d.reads == 0 || len(args) != runArgument+1 {
		return false
	}
	parts, known := f.parts[bytesOf(args[runArgument].Value)]
	return known && parts&(1<<(d.reads-1)) == 0
}

// bytesOf is an id as the server writes it; empty for what is none.
func bytesOf(v driver.Value) string {
	b, ok := v.([]byte)
	if !ok || len(b) != 16 {
		return ""
	}
	return string(b)
}

// noRows are the rows of a statement that finds nothing.
type noRows struct{}

// Columns implements driver.Rows.
func (noRows) Columns() []string { return nil }

// Close implements driver.Rows.
func (noRows) Close() error { return nil }

// Next implements driver.Rows.
func (noRows) Next([]driver.Value) error { return io.EOF }
