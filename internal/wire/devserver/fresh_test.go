package devserver

import (
	"bytes"
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"go.temporal.io/server/common/log"
	"go.temporal.io/server/common/metrics"
	persistence "go.temporal.io/server/common/persistence/sql"
	"go.temporal.io/server/common/persistence/sql/sqlplugin"
	"go.temporal.io/server/common/primitives"
	"go.temporal.io/server/common/resolver"
)

// engineDB is the server's own way to a new file of runs, and the connection it
// uses.
func engineDB(t *testing.T) (db sqlplugin.DB, inside func(func(*keepingConn)), path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "runs.db")
	if err := makeFile(t.Context(), path, runSchema); err != nil {
		t.Fatal(err)
	}
	c := sqlConfig(path)
	if kept, err := keepStatements(sqlplugin.DbKindMain, c); err != nil || !kept {
		t.Fatalf("kept %v, %v", kept, err)
	}
	generic, err := persistence.NewSQLDB(sqlplugin.DbKindMain, c, resolver.NewNoopResolver(), log.NewNoopLogger(), metrics.NoopMetricsHandler)
	if err != nil {
		t.Fatal(err)
	}
	pool := poolOf(generic)
	return generic.(sqlplugin.DB), func(f func(*keepingConn)) {
		t.Helper()
		one, err := pool.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = one.Close() }()
		_ = one.Raw(func(c any) error { f(c.(*keepingConn)); return nil })
	}, path
}

func runID(n byte) primitives.UUID { return primitives.UUID(bytes.Repeat([]byte{n}, 16)) }

// insertRun inserts a run as the server does.
func insertRun(t *testing.T, db sqlplugin.HistoryExecution, id primitives.UUID) error {
	t.Helper()
	_, err := db.InsertIntoExecutions(t.Context(), &sqlplugin.ExecutionsRow{
		ShardID: 1, NamespaceID: runID(9), WorkflowID: "w", RunID: id, Data: []byte("d"), DataEncoding: "x", State: []byte("s"), StateEncoding: "x",
	})
	return err
}

func makeRun(t *testing.T, db sqlplugin.HistoryExecution, id primitives.UUID) {
	t.Helper()
	if err := insertRun(t, db, id); err != nil {
		t.Fatal(err)
	}
}

// partsOf reads all parts of a run's state and returns how many rows there are
// in each table.
func partsOf(t *testing.T, db sqlplugin.TableCRUD, id primitives.UUID) []int {
	t.Helper()
	ctx, ns := t.Context(), runID(9)
	counts := make([]int, 0, len(partTables))
	add := func(n int, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		counts = append(counts, n)
	}
	activities, err := db.SelectAllFromActivityInfoMaps(ctx, sqlplugin.ActivityInfoMapsAllFilter{ShardID: 1, NamespaceID: ns, WorkflowID: "w", RunID: id})
	add(len(activities), err)
	timers, err := db.SelectAllFromTimerInfoMaps(ctx, sqlplugin.TimerInfoMapsAllFilter{ShardID: 1, NamespaceID: ns, WorkflowID: "w", RunID: id})
	add(len(timers), err)
	children, err := db.SelectAllFromChildExecutionInfoMaps(ctx, sqlplugin.ChildExecutionInfoMapsAllFilter{ShardID: 1, NamespaceID: ns, WorkflowID: "w", RunID: id})
	add(len(children), err)
	cancels, err := db.SelectAllFromRequestCancelInfoMaps(ctx, sqlplugin.RequestCancelInfoMapsAllFilter{ShardID: 1, NamespaceID: ns, WorkflowID: "w", RunID: id})
	add(len(cancels), err)
	signals, err := db.SelectAllFromSignalInfoMaps(ctx, sqlplugin.SignalInfoMapsAllFilter{ShardID: 1, NamespaceID: ns, WorkflowID: "w", RunID: id})
	add(len(signals), err)
	requested, err := db.SelectAllFromSignalsRequestedSets(ctx, sqlplugin.SignalsRequestedSetsAllFilter{ShardID: 1, NamespaceID: ns, WorkflowID: "w", RunID: id})
	add(len(requested), err)
	buffered, err := db.SelectFromBufferedEvents(ctx, sqlplugin.BufferedEventsFilter{ShardID: 1, NamespaceID: ns, WorkflowID: "w", RunID: id})
	add(len(buffered), err)
	nodes, err := db.SelectAllFromChasmNodeMaps(ctx, sqlplugin.ChasmNodeMapsAllFilter{ShardID: 1, NamespaceID: ns, WorkflowID: "w", RunID: id})
	add(len(nodes), err)
	return counts
}

// putParts puts a row in every table of parts, as the server does.
func putParts(t *testing.T, db sqlplugin.TableCRUD, id primitives.UUID) {
	t.Helper()
	ctx, ns, data := t.Context(), runID(9), []byte("d")
	for _, put := range []func() (sql.Result, error){
		func() (sql.Result, error) {
			return db.ReplaceIntoActivityInfoMaps(ctx, []sqlplugin.ActivityInfoMapsRow{{ShardID: 1, NamespaceID: ns, WorkflowID: "w", RunID: id, ScheduleID: 7, Data: data}})
		},
		func() (sql.Result, error) {
			return db.ReplaceIntoTimerInfoMaps(ctx, []sqlplugin.TimerInfoMapsRow{{ShardID: 1, NamespaceID: ns, WorkflowID: "w", RunID: id, TimerID: "t", Data: data}})
		},
		func() (sql.Result, error) {
			return db.ReplaceIntoChildExecutionInfoMaps(ctx, []sqlplugin.ChildExecutionInfoMapsRow{{ShardID: 1, NamespaceID: ns, WorkflowID: "w", RunID: id, InitiatedID: 7, Data: data}})
		},
		func() (sql.Result, error) {
			return db.ReplaceIntoRequestCancelInfoMaps(ctx, []sqlplugin.RequestCancelInfoMapsRow{{ShardID: 1, NamespaceID: ns, WorkflowID: "w", RunID: id, InitiatedID: 7, Data: data}})
		},
		func() (sql.Result, error) {
			return db.ReplaceIntoSignalInfoMaps(ctx, []sqlplugin.SignalInfoMapsRow{{ShardID: 1, NamespaceID: ns, WorkflowID: "w", RunID: id, InitiatedID: 7, Data: data}})
		},
		func() (sql.Result, error) {
			return db.ReplaceIntoSignalsRequestedSets(ctx, []sqlplugin.SignalsRequestedSetsRow{{ShardID: 1, NamespaceID: ns, WorkflowID: "w", RunID: id, SignalID: "s"}})
		},
		func() (sql.Result, error) {
			return db.InsertIntoBufferedEvents(ctx, []sqlplugin.BufferedEventsRow{{ShardID: 1, NamespaceID: ns, WorkflowID: "w", RunID: id, Data: data}})
		},
		func() (sql.Result, error) {
			return db.ReplaceIntoChasmNodeMaps(ctx, []sqlplugin.ChasmNodeMapsRow{{ShardID: 1, NamespaceID: ns, WorkflowID: "w", RunID: id, ChasmPath: "p", Metadata: data, Data: data}})
		},
	} {
		if _, err := put(); err != nil {
			t.Fatal(err)
		}
	}
}

// When this fails after an upgrade of the server, its reading of a run's state
// has changed: see doesOf.
func TestThePartsOfANewRunAreReadOnlyWhereThereAreSome(t *testing.T) {
	t.Parallel()
	db, inside, path := engineDB(t)
	makeRun(t, db, runID(1))
	none, one, two := fmt.Sprint([]int{0, 0, 0, 0, 0, 0, 0, 0}), fmt.Sprint([]int{1, 1, 1, 1, 1, 1, 1, 1}), fmt.Sprint([]int{2, 2, 2, 2, 2, 2, 2, 2})
	if got := fmt.Sprint(partsOf(t, db, runID(1))); got != none {
		t.Fatalf("a new run has the parts %s", got)
	}
	inside(func(c *keepingConn) {
		reads := 0
		for text, s := range c.kept {
			if s.does.reads > 0 {
				reads++
			} else if strings.Contains(text, "_maps") {
				t.Errorf("nothing is known of %s", text)
			}
		}
		if reads != len(partTables) {
			t.Errorf("%d tables of parts are known of %d", reads, len(partTables))
		}
	})

	// That they were not looked for is seen by rows that another connection puts.
	other, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Close() }()
	for table, columns := range map[string]string{
		"activity_info_maps": "schedule_id", "timer_info_maps": "timer_id", "child_execution_info_maps": "initiated_id",
		"request_cancel_info_maps": "initiated_id", "signal_info_maps": "initiated_id", "signals_requested_sets": "signal_id",
	} {
		data, value := ", data, data_encoding", ", x'00', ''"
		if table == "signals_requested_sets" {
			data, value = "", ""
		}
		if _, err := other.ExecContext(t.Context(), "INSERT INTO "+table+" (shard_id, namespace_id, workflow_id, run_id, "+columns+data+") VALUES (1, ?, 'w', ?, '3'"+value+")",
			[]byte(runID(9)), []byte(runID(1))); err != nil {
			t.Fatal(err)
		}
	}
	for _, insert := range []string{
		"INSERT INTO buffered_events (shard_id, namespace_id, workflow_id, run_id, data, data_encoding) VALUES (1, ?, 'w', ?, x'00', '')",
		"INSERT INTO chasm_node_maps (shard_id, namespace_id, workflow_id, run_id, chasm_path, metadata, metadata_encoding, data, data_encoding) VALUES (1, ?, 'w', ?, '3', x'00', '', x'00', '')",
	} {
		if _, err := other.ExecContext(t.Context(), insert, []byte(runID(9)), []byte(runID(1))); err != nil {
			t.Fatal(err)
		}
	}
	if got := fmt.Sprint(partsOf(t, db, runID(1))); got != none {
		t.Errorf("the parts of a new run were read: %s", got)
	}
	putParts(t, db, runID(1))
	if got := fmt.Sprint(partsOf(t, db, runID(1))); got != two {
		t.Errorf("once it has put some there are %s", got)
	}
	if err := insertRun(t, db, runID(1)); err == nil {
		t.Error("a run was made twice")
	}
	if got := fmt.Sprint(partsOf(t, db, runID(1))); got != two {
		t.Errorf("after it was to be made once more there are %s", got)
	}

	// A run that this connection has not made is always read.
	putParts(t, db, runID(2))
	if got := fmt.Sprint(partsOf(t, db, runID(2))); got != one {
		t.Errorf("of a run it does not know it reads %s", got)
	}
}

func TestTheRunsThatAreRememberedAreBounded(t *testing.T) {
	t.Parallel()
	db, inside, _ := engineDB(t)
	tx, err := db.BeginTx(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for n := range maxFresh + 10 {
		makeRun(t, tx, primitives.UUID(fmt.Appendf(nil, "%016d", n)))
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	inside(func(c *keepingConn) {
		if len(c.fresh.parts) > maxFresh {
			t.Errorf("%d runs are remembered", len(c.fresh.parts))
		}
		// A statement whose arguments are not seen: nothing is known from then on.
		s, err := c.PrepareContext(t.Context(), "UPDATE timer_info_maps SET data = ?")
		if err != nil {
			t.Fatal(err)
		}
		if _ = s.Close(); !c.fresh.blind || len(c.fresh.parts) > 0 {
			t.Error("it goes on as if it saw everything")
		}
	})
	makeRun(t, db, runID(3))
	inside(func(c *keepingConn) {
		if len(c.fresh.parts) > 0 {
			t.Error("it remembers a run though it does not see everything")
		}
	})
}
