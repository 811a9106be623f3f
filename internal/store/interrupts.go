package store

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"liminal/internal/fault"
	"liminal/internal/graph"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/run"
	"liminal/internal/webhook"
)

var _ run.Interrupts = (*Store)(nil)

const interruptColumns = `id, run_id, workflow_id, effect_id, user_id, conversation_id, type, message,
	options, answer_schema, status, answer, delivered, created_at, answered_at, expires_at`

func scanInterrupt(scan Scan) (q run.Interrupt, err error) {
	err = scan(&q.ID, &q.RunID, &q.WorkflowID, &q.EffectID, &q.UserID, text{&q.ConversationID}, &q.Type, &q.Message,
		decode{&q.Options}, decode{&q.AnswerSchema}, &q.Status, decode{&q.Answer}, &q.Delivered,
		when{&q.CreatedAt}, when{&q.AnsweredAt}, when{&q.ExpiresAt})
	return q, err
}

// Ask implements run.Interrupts.
func (s *Store) Ask(ctx context.Context, v identity.Viewer, waiting bool, asked ...run.Interrupt) error {
	if len(asked) == 0 {
		return nil
	}
	return s.write(ctx, v, func(tx Tx) error {
		r, err := lockRun(tx, v, asked[0].RunID)
		if err != nil {
			return err
		}
		if r.Status.Ended() {
			return fault.New(fault.Conflict, "Run %s has ended and can ask no more.", r.ID).
				With(map[string]any{"run_id": r.ID, "status": r.Status})
		}
		for _, q := range asked {
			if err := s.insertInterrupt(tx, r, q); err != nil {
				return err
			}
		}
		if !waiting {
			return nil
		}
		return rest(tx, r.Run)
	})
}

// rest marks a run as waiting while it has an open question: an Ask that is
// repeated after its answer must not put the run to sleep again.
func rest(tx Tx, r run.Run) error {
	_, err := tx.Exec(`UPDATE run SET status = 'waiting' WHERE id = @id AND user_id = @user AND status = 'running'
		AND EXISTS (SELECT 1 FROM interrupt WHERE run_id = @id AND status = 'pending')`,
		Args{"id": r.ID, "user": r.UserID})
	return err
}

func (s *Store) insertInterrupt(tx Tx, of lockedRun, q run.Interrupt) error {
	r := of.Run
	if q.RunID != r.ID {
		return fault.New(fault.Invalid, "The questions of one call belong to one run.")
	}
	if q.WorkflowID == "" {
		q.WorkflowID = r.WorkflowID
	}
	q, err := sealQuestion(tx, r.UserID, q)
	if err != nil {
		return err
	}
	options, err := encoded(q.Options, q.Options == nil)
	if err != nil {
		return err
	}
	q.CreatedAt = s.orNow(q.CreatedAt)
	n, err := tx.Exec(`INSERT INTO interrupt (`+interruptColumns+`) VALUES (@id, @run, @workflow, @effect, @user, @conversation,
		@type, @message, @options, @schema, 'pending', NULL, @delivered, @created, NULL, @expires) ON CONFLICT (id) DO NOTHING`,
		Args{
			"id": q.ID, "run": r.ID, "workflow": q.WorkflowID, "effect": q.EffectID, "user": r.UserID,
			"conversation": optional(r.ConversationID), "type": q.Type, "message": writable(q.Message), "options": options,
			"schema": rawJSON(q.AnswerSchema), "delivered": false, "created": q.CreatedAt, "expires": moment(q.ExpiresAt),
		})
	if err != nil || n == 0 || q.Type == graph.AskClientCall { // the program that is asked knows it, and nobody else can answer
		return err
	}
	return s.happened(tx, of, webhook.QuestionWaiting, q.ID, nil, q.CreatedAt)
}

// Answer implements run.Interrupts: the update itself decides who wins, and a
// second transaction finds the question settled (INT-31). What a proposal asks
// is decided with it, never here (CFG-06).
func (s *Store) Answer(ctx context.Context, v identity.Viewer, id string, status run.InterruptStatus, answer json.RawMessage) (q run.Interrupt, err error) {
	if status != run.Answered && status != run.Skipped && status != run.Expired {
		return q, fault.New(fault.Invalid, "A question cannot become %q by an answer.", status)
	}
	if v, err = s.answerer(ctx, v, id); err != nil {
		return q, err
	}
	err = s.write(ctx, v, func(tx Tx) error {
		q, err = s.answer(tx, v, id, status, answer)
		return err
	})
	return q, err
}

// answerer is who writes the answer of v: the system, when an administrator
// answers what one of its own runs asks.
func (s *Store) answerer(ctx context.Context, v identity.Viewer, id string) (identity.Viewer, error) {
	if !v.IsAdmin() || v.IsSystem() {
		return v, nil
	}
	as := v
	err := s.read(ctx, v, func(tx Tx) error {
		q, err := question(tx, v, id)
		if err != nil || q.UserID != identity.SystemAccount {
			return err
		}
		as = identity.Steward()
		r, err := runFor(tx, v, q.RunID)
		if err == nil && r.Kind == run.KindPatch {
			err = errDecideThere(q, r)
		}
		return err
	})
	return as, err
}

func errDecideThere(q run.Interrupt, r run.Run) error {
	patch := strings.TrimPrefix(r.WorkflowID, patchWorkflow)
	return fault.New(fault.Conflict, "This is what a proposal asks. Decide it at /v1/config/patches/%s.", patch).
		With(map[string]any{"interrupt_id": q.ID, "run_id": r.ID, "patch_id": patch})
}

// answer settles one pending question, for whoever may.
func (s *Store) answer(tx Tx, v identity.Viewer, id string, status run.InterruptStatus, answer json.RawMessage) (run.Interrupt, error) {
	if err := tx.Lock("interrupt:" + id); err != nil {
		return run.Interrupt{}, err
	}
	q, err := question(tx, v, id)
	if err != nil {
		return q, err
	}
	if q.Status != run.Pending {
		return q, settled(q)
	}
	if err := openQuestion(tx, &q); err != nil {
		return q, err
	}
	q.Status, q.Answer, q.AnsweredAt = status, orNull(answer), s.now()
	kept, err := sealAnswer(tx, q)
	if err != nil {
		return q, err
	}
	n, err := tx.Exec(`UPDATE interrupt SET status = @status, answer = @answer, answered_at = @now
		WHERE id = @id AND user_id = @user AND status = 'pending'`,
		Args{"id": id, "user": q.UserID, "status": string(q.Status), "answer": rawJSON(kept), "now": q.AnsweredAt})
	if err != nil || n == 1 {
		return q, err
	}
	// The end of its run settled it since it was read.
	if q, err = question(tx, v, id); err == nil {
		err = settled(q)
	}
	return q, err
}

func settled(q run.Interrupt) error {
	return fault.New(fault.Conflict, "This question has been settled already; nothing was changed.").
		With(map[string]any{"interrupt_id": q.ID, "run_id": q.RunID, "status": q.Status})
}

func orNull(doc json.RawMessage) json.RawMessage {
	if doc == nil {
		return json.RawMessage("null")
	}
	return doc
}

// question finds, as its row holds it, what the viewer may read: their own, and, for an
// administrator, what the system's own runs ask. The system sees all.
func question(tx Tx, v identity.Viewer, id string) (run.Interrupt, error) {
	list, err := all(tx, `SELECT `+interruptColumns+` FROM interrupt WHERE id = @id AND (user_id = @user OR user_id = @steward OR @system)`,
		Args{"id": id, "user": v.UserID, "steward": stewardOf(v), "system": v.IsSystem()}, scanInterrupt)
	return only(list, err, "question")
}

// stewardOf is the account whose questions are put to the viewer beside their
// own; for most people there is none.
func stewardOf(v identity.Viewer) string {
	if v.Grant != nil { // what the house asks is decided in a session
		return nobody
	}
	if v.IsAdmin() {
		return identity.SystemAccount
	}
	return nobody
}

// Interrupt implements run.Interrupts.
func (s *Store) Interrupt(ctx context.Context, v identity.Viewer, interruptID string) (q run.Interrupt, err error) {
	err = s.look(ctx, v, func(tx Tx) error {
		q, err = question(tx, v, interruptID)
		return err
	})
	if err == nil && id.Unkept(q.RunID) {
		err = s.read(ctx, v, func(tx Tx) error { return openQuestion(tx, &q) })
	}
	return q, err
}

// PendingInterrupts implements run.Interrupts. What the system's own runs ask
// is on every administrator's list (CFG-03).
func (s *Store) PendingInterrupts(ctx context.Context, v identity.Viewer, conversationID string) (list []run.Interrupt, err error) {
	query := `SELECT ` + interruptColumns + ` FROM interrupt WHERE user_id = @user AND status = 'pending'`
	if v.IsAdmin() {
		query = `SELECT ` + interruptColumns + ` FROM interrupt WHERE (user_id = @user OR user_id = @steward) AND status = 'pending'`
	}
	args := Args{"user": v.UserID, "steward": stewardOf(v)}
	if conversationID != "" {
		query += ` AND conversation_id = @conversation`
		args["conversation"] = conversationID
	}
	err = s.read(ctx, v, func(tx Tx) error {
		list, err = questions(tx, query+` ORDER BY created_at, id`, args)
		return err
	})
	return list, err
}

// RunInterrupts returns what a run of the viewer's asked, oldest first.
func (s *Store) RunInterrupts(ctx context.Context, v identity.Viewer, runID string) (list []run.Interrupt, err error) {
	err = s.read(ctx, v, func(tx Tx) error {
		list, err = questions(tx, `SELECT `+interruptColumns+` FROM interrupt WHERE run_id = @run AND user_id = @user ORDER BY created_at, id`,
			Args{"run": runID, "user": v.UserID})
		return err
	})
	return list, err
}

func openQuestions(tx Tx, r run.Run) ([]run.Interrupt, error) {
	return questions(tx, `SELECT `+interruptColumns+` FROM interrupt WHERE run_id = @run AND user_id = @user AND status = 'pending' ORDER BY created_at, id`,
		Args{"run": r.ID, "user": r.UserID})
}

// Deliver implements run.Interrupts.
func (s *Store) Deliver(ctx context.Context, v identity.Viewer, runID string, ids ...string) error {
	return s.write(ctx, v, func(tx Tx) error {
		r, err := visible(tx, v, runID)
		if err != nil {
			return err
		}
		args := Args{"run": runID, "user": r.UserID, "yes": true}
		if len(ids) > 0 {
			if _, err := tx.Exec(`UPDATE interrupt SET delivered = @yes WHERE run_id = @run AND user_id = @user
				AND status <> 'pending' AND id IN `+args.in("id", ids), args); err != nil {
				return err
			}
		}
		_, err = tx.Exec(`UPDATE run SET status = 'running' WHERE id = @run AND user_id = @user AND status = 'waiting'`,
			Args{"run": runID, "user": r.UserID})
		return err
	})
}

// Delivered implements run.Interrupts.
func (s *Store) Delivered(ctx context.Context, v identity.Viewer, ids ...string) error {
	if !v.IsSystem() {
		return fault.New(fault.Forbidden, "Only the system may say that answers were delivered.")
	}
	if len(ids) == 0 {
		return nil
	}
	return s.write(ctx, v, func(tx Tx) error {
		args := Args{"yes": true}
		_, err := tx.Exec(`UPDATE interrupt SET delivered = @yes WHERE NOT delivered AND status <> 'pending' AND id IN `+args.in("id", ids), args)
		return err
	})
}

// Undelivered implements run.Interrupts. A question that was given up for a
// newer message (INT-33) is among them also when the process died between that
// message and the skip: it is skipped here.
func (s *Store) Undelivered(ctx context.Context, v identity.Viewer, age time.Duration) (list []run.Interrupt, err error) {
	if !v.IsSystem() {
		return nil, fault.New(fault.Forbidden, "Only the system may list the answers of everybody.")
	}
	before := s.now().Add(-age)
	var forsaken []run.Interrupt
	err = s.read(ctx, v, func(tx Tx) error {
		list, err = questions(tx, `SELECT `+interruptColumns+` FROM interrupt
			WHERE NOT delivered AND status <> 'pending' AND answered_at <= @before ORDER BY answered_at, id`,
			Args{"before": before})
		if err != nil {
			return err
		}
		forsaken, err = questions(tx, `SELECT `+interruptColumns+` FROM interrupt WHERE status = 'pending' AND run_id IN (
			SELECT w.id FROM run q JOIN run w ON w.conversation_id = q.conversation_id AND w.user_id = q.user_id
			WHERE q.status = 'queued' AND q.created_at <= @before AND w.status = 'waiting')`,
			Args{"before": before})
		return err
	})
	for _, q := range forsaken {
		skipped, err := s.Answer(ctx, v, q.ID, run.Skipped, nil)
		if err != nil && !errors.Is(err, fault.Conflict) { // a Conflict: its person was quicker
			return list, err
		}
		if err == nil {
			list = append(list, skipped)
		}
	}
	return list, err
}

// settle closes the questions of a run that has ended: nobody will hear an
// answer, so they are delivered as well. Those that were answered are not: the
// workflow may not have kept yet what it made of the answer, and must be sent it
// again if it comes to die.
func settle(tx Tx, r run.Run, now time.Time) error {
	_, err := tx.Exec(`UPDATE interrupt SET answered_at = @now, delivered = @yes, answer = 'null',
		status = CASE WHEN expires_at IS NOT NULL AND expires_at <= @now THEN 'expired' ELSE 'cancelled' END
		WHERE run_id = @run AND user_id = @user AND status = 'pending'`,
		Args{"run": r.ID, "user": r.UserID, "now": now, "yes": true})
	return err
}
