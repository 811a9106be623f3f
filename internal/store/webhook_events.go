package store

import (
	"time"

	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/run"
	"liminal/internal/webhook"
)

// told stands in the statement that reads a run for a question or its end: whether
// somebody is to hear of it. So whoever is told of nothing pays for no statement.
const told = `, EXISTS (SELECT 1 FROM webhook_subscriber e WHERE e.user_id = run.user_id OR e.user_id = @everybody)`

// lockedRun is a run behind its lock.
type lockedRun struct {
	run.Run
	told bool // what happens to it is an event
}

// toldRun is visible for what may become an event.
func toldRun(tx Tx, v identity.Viewer, runID string) (r lockedRun, err error) {
	list, err := all(tx, `SELECT `+runColumns+told+` FROM run WHERE id = @id AND (user_id = @user OR @system)`,
		Args{"id": runID, "user": v.UserID, "system": v.IsSystem(), "everybody": identity.SystemAccount}, func(scan Scan) (r lockedRun, err error) {
			r.Run, err = scanRun(func(dest ...any) error { return scan(append(dest, &r.told)...) })
			return r, err
		})
	return only(list, err, "run")
}

// happened writes an event down, in the transaction that makes it so. Runs that the
// house does for itself are nobody's to be told of.
func (s *Store) happened(tx Tx, r lockedRun, kind webhook.Kind, interruptID string, pins []run.Pin, at time.Time) error {
	if !r.told || r.Kind != run.KindChat && r.Kind != run.KindTool && r.Kind != run.KindGraph {
		return nil
	}
	if r.Pins != nil {
		pins = r.Pins
	}
	var assistant run.Pin
	if len(pins) > 0 && r.Kind != run.KindTool {
		assistant = pins[0] // the graph, see pinnedFirst
	}
	_, err := tx.Exec(`INSERT INTO webhook_event (id, user_id, kind, run_id, interrupt_id, conversation_id, assistant_id, assistant, happened_at)
		VALUES (@id, @user, @kind, @run, @interrupt, @conversation, @assistant, @name, @at) ON CONFLICT (id) DO NOTHING`,
		Args{
			"id": id.Derive("event", string(kind), r.ID, interruptID), "user": r.UserID, "kind": string(kind), "run": r.ID, "interrupt": optional(interruptID),
			"conversation": optional(r.ConversationID), "assistant": optional(assistant.ArtifactID), "name": assistant.Name, "at": at,
		})
	return err
}

// ended is happened for the end of a run. Who cancels one knows.
func (s *Store) ended(tx Tx, r lockedRun, e run.End, at time.Time) error {
	switch e.Status {
	case run.Done:
		return s.happened(tx, r, webhook.RunDone, "", e.Pins, at)
	case run.Failed:
		return s.happened(tx, r, webhook.RunFailed, "", e.Pins, at)
	}
	return nil
}
