package sqlite

import (
	"context"
	"regexp"
	"strings"
	"sync"
	"testing"

	"liminal/internal/identity"
	"liminal/internal/store"
)

// Unsynced are options of a database that does not survive a power cut.
func Unsynced() Options { return Options{Readers: 2, sync: "off"} }

// small are tables with a handful of rows, scans that stop at once, the word
// index, which is always searched, what is open or belongs to adapters, who is due to be learnt from or shares, and the system's walk over all sources.
var small = regexp.MustCompile(`SCAN (u|app_user|json_each|j|migration|(chunk|message)_words|\(subquery-\d+\)|sqlite_master|CONSTANT ROW|\d+-ROW VALUES CLAUSE|s USING INDEX context_source_path|document USING INDEX document_waiting|run USING (COVERING )?INDEX run_(open|queued|workflow)|i USING INDEX interrupt_pending|training_job|adapter_router_state|model_backend|c USING INDEX model_backend_change_time|l USING INDEX learning_settings_due|learning_settings USING (COVERING )?INDEX learning_settings_shared)\b`)

// narrow are the reads of every turn and every list of conversations.
var narrow = regexp.MustCompile(`FROM run WHERE .*\s+AND status IN \('queued', 'running', 'waiting'\)`)

// checkedPlans holds the statements whose plans have been looked at.
var checkedPlans sync.Map

// CheckPlans fails for statements db has run that read a whole table: each
// statement of the store is looked at by the first suite that runs it.
func CheckPlans(t testing.TB, db *DB) {
	t.Helper()
	var texts []string
	for _, of := range []*lent{db.writer, db.reader} {
		for range len(of.idle) { // the suite has ended
			c := <-of.idle
			for text := range c.statements {
				if _, known := checkedPlans.LoadOrStore(text, true); !known {
					texts = append(texts, text)
				}
			}
			of.put(c)
		}
	}
	for _, text := range texts {
		for _, step := range plan(t, db, text) {
			if strings.Contains(step, "SCAN") && !small.MatchString(step) || strings.Contains(step, "AUTOMATIC") {
				t.Errorf("%s\nin %s", step, text)
			}
			if narrow.MatchString(text) && !strings.Contains(step, "run_open") {
				t.Errorf("%s: the turns of a conversation that have not ended are few, and the index of those is not used\nin %s", step, text)
			}
		}
	}
}

func plan(t testing.TB, db *DB, text string) (steps []string) {
	t.Helper()
	if strings.HasPrefix(text, "BEGIN") || text == "COMMIT" || text == "ROLLBACK" {
		return nil
	}
	_, names := store.Positional(text, '?')
	args := store.Args{}
	for _, n := range names {
		args[n] = nil
	}
	err := db.Read(context.WithoutCancel(t.Context()), identity.System(), func(tx store.Tx) error {
		return tx.Query("EXPLAIN QUERY PLAN "+text, args, func(scan store.Scan) error {
			var a, b, c int
			var step string
			err := scan(&a, &b, &c, &step)
			steps = append(steps, step)
			return err
		})
	})
	if err != nil {
		t.Errorf("%v in %s", err, text)
	}
	return steps
}
