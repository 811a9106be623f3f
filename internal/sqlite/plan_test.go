package sqlite

import (
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"liminal/internal/identity"
	"liminal/internal/store"
	"liminal/internal/storetest"
)

// texts collects every statement the suites run.
type texts struct {
	mu  sync.Mutex
	all map[string]bool
}

func (x *texts) open(t testing.TB, o store.Options) storetest.Backend {
	t.Helper()
	db, err := Open(t.Context(), filepath.Join(t.TempDir(), "db"), Options{Readers: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		w, r := <-db.writer, <-db.reader
		x.mu.Lock()
		defer x.mu.Unlock()
		maps.Copy(x.all, asSet(w))
		maps.Copy(x.all, asSet(r))
		db.writer <- w
		db.reader <- r
		_ = db.Close()
	})
	return storetest.Backend{Store: store.New(db, o), Index: NewIndex(db, IndexOptions{})}
}

func asSet(c *conn) map[string]bool {
	set := map[string]bool{}
	for text := range c.statements {
		set[text] = true
	}
	return set
}

// small are tables with a handful of rows, or a scan that stops at once.
var small = regexp.MustCompile(`SCAN (u|app_user|json_each|j|migration|chunk_words|\(subquery-\d+\)|sqlite_master|CONSTANT ROW)\b`)

// narrow are the reads of every turn and every list of conversations.
var narrow = regexp.MustCompile(`FROM run WHERE .*\s+AND status IN \('queued', 'running', 'waiting'\)`)

func TestNoStatementReadsAWholeTable(t *testing.T) { //nolint:tparallel // what follows needs all that the subtest collects
	t.Parallel()
	x := &texts{all: map[string]bool{}}
	t.Run("collect", func(t *testing.T) {
		for _, suite := range []func(*testing.T, storetest.Open){
			storetest.Accounts, storetest.Runs, storetest.Interrupts, storetest.Turns, storetest.Conversations,
			storetest.Artifacts, storetest.Files, storetest.Keys, storetest.Knowledge, storetest.Index,
		} {
			suite(t, x.open)
		}
	})
	db, err := Open(t.Context(), filepath.Join(t.TempDir(), "db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, text := range slices.Sorted(maps.Keys(x.all)) {
		for _, step := range plan(t, db, text) {
			if narrow.MatchString(text) && !strings.Contains(step, "run_open") {
				t.Errorf("%s: the turns of a conversation that have not ended are few, and the index of those is not used\nin %s", step, text)
			}
			if strings.Contains(step, "SCAN") && !small.MatchString(step) || strings.Contains(step, "AUTOMATIC") {
				t.Errorf("%s\nin %s", step, text)
			}
		}
	}
	t.Logf("%d statements", len(x.all))
}

func plan(t *testing.T, db *DB, text string) (steps []string) {
	t.Helper()
	_, names := positions(text)
	args := store.Args{}
	for _, n := range names {
		args[n] = nil
	}
	if strings.HasPrefix(text, "BEGIN") || text == "COMMIT" || text == "ROLLBACK" {
		return nil
	}
	err := db.Read(t.Context(), identity.System(), func(tx store.Tx) error {
		return tx.Query("EXPLAIN QUERY PLAN "+text, args, func(scan store.Scan) error {
			var a, b, c int
			var step string
			err := scan(&a, &b, &c, &step)
			steps = append(steps, step)
			return err
		})
	})
	if err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return steps
}
