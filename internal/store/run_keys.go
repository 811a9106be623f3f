package store

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"liminal/artifacts"
	"liminal/internal/chat"
	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/run"
	"liminal/internal/vault"
)

// Of a run of which nothing is kept (id.Unkept) a row holds what was said only
// sealed with the run's key, from the first write on: an old version of a row, a
// page that was freed and the log of a database hold what was once written to
// them. The id of such a run is its conversation's too, so every row names its key.

// sealedWords is the member of a JSON object that stands for words.
const sealedWords = "$sealed"

// forgottenWords is the member that stands where they were once the key is gone.
const forgottenWords = chat.MetaForgotten

// usedByRows is what rows are sealed for, beside histories and events.
const usedByRows = "words in the rows of a run"

// forgottenKeys is how many runs one transaction forgets.
const forgottenKeys = 100

// errKeepsNothing says that a turn names a workflow whose surface keeps nothing.
var errKeepsNothing = errors.New("the workflow of the turn keeps nothing")

// namesKeeps finds the documents that may say that nothing is kept, for the few of
// which it is then read.
const namesKeeps = `CAST(schema AS text) LIKE '%"keeps"%"nothing"%'`

// noDoubt is doubtful of a turn that names no workflow, or keeps nothing anyway.
const noDoubt = "0"

// doubtful counts, within a statement that is run anyway, the workflows a turn
// names that may keep nothing: to ask in a statement of its own would cost every
// turn that names one.
func doubtful(t chat.NewTurn, args Args) string {
	ids := slices.DeleteFunc(slices.Clone(t.ArtifactIDs), func(s string) bool { return !id.Valid(s) })
	switch {
	case t.Keeps != "":
		return noDoubt
	case id.Valid(t.WorkflowID):
		ids = []string{t.WorkflowID}
	case t.WorkflowID != "":
		args["named"] = t.WorkflowID
		return `(SELECT count(*) FROM artifact WHERE type = 'workflow.chat' AND name = @named AND ` + namesKeeps + `)`
	}
	if len(ids) == 0 {
		return noDoubt
	}
	return `(SELECT count(*) FROM artifact WHERE id IN ` + args.in("artifact", ids) + ` AND ` + namesKeeps + `)`
}

// doubtfulChoice adds the workflow that was chosen for the conversation by its
// name, where the turn goes by that.
func doubtfulChoice(t chat.NewTurn) string {
	if t.WorkflowID != "" || t.NoWorkflow {
		return ""
	}
	return ` + (SELECT count(*) FROM artifact WHERE type = 'workflow.chat' AND name = conversation.workflow AND ` + namesKeeps + `)`
}

// keepsNothing is errKeepsNothing when the workflow that a turn is to follow keeps
// nothing. What cannot be followed says so when the run opens.
func keepsNothing(tx Tx, v identity.Viewer, t chat.NewTurn) error {
	args := Args{"user": v.UserID, "type": artifacts.KindWorkflow, "name": t.WorkflowID}
	query := `name = @name AND ` + artifactNamed
	switch {
	case id.Valid(t.WorkflowID):
		query = `id IN ` + args.in("id", []string{t.WorkflowID}) + ` AND ` + artifactVisible
	case t.WorkflowID == "":
		query = `id IN ` + args.in("id", t.ArtifactIDs) + ` AND ` + artifactVisible
	}
	list, err := all(tx, `SELECT `+artifactColumns+` FROM artifact WHERE type = @type AND `+query+nearestFirst, args, scanArtifact)
	if err != nil {
		return err
	}
	for _, a := range list {
		if artifacts.Unkept(a.Schema) {
			return errKeepsNothing // of several by chance too: rather than keep what was not to be
		}
	}
	return nil
}

// runID is the id of a new turn's run: that of its conversation, which has no
// other, where nothing is kept.
func runID(th thread) string {
	if id.Unkept(th.id) {
		return th.id
	}
	return id.New()
}

// makeRunKey makes the key of a run whose row has just been written.
func (s *Store) makeRunKey(tx Tx, r run.Run) error {
	if !id.Unkept(r.ID) {
		return nil
	}
	secret := make([]byte, secretLength)
	if _, err := rand.Read(secret); err != nil {
		return err
	}
	_, err := tx.Exec(`INSERT INTO run_key (id, user_id, secret, created_at) VALUES (@id, @user, @secret, @now)`,
		Args{"id": r.ID, "user": r.UserID, "secret": secret, "now": s.now()})
	return err
}

// RunKey gives the key of a run of which nothing is kept; NotFound once it has
// been forgotten. It is for what seals and opens on behalf of the run, whose
// person is not known there.
func (s *Store) RunKey(ctx context.Context, runID string) (secret []byte, err error) {
	err = s.look(ctx, identity.System(), func(tx Tx) error {
		found, err := first(tx, `SELECT secret FROM run_key WHERE id = @id`, Args{"id": runID}, &secret)
		if err == nil && !found {
			err = missing("key")
		}
		return err
	})
	return secret, err
}

// runVault is what seals the words of a person's run in its rows; nil when its key
// is gone.
func runVault(tx Tx, user, runID string) (*vault.Vault, error) {
	var secret []byte
	found, err := first(tx, `SELECT secret FROM run_key WHERE id = @id AND user_id = @user`, Args{"id": runID, "user": user}, &secret)
	if err != nil || !found {
		return nil, err
	}
	return vault.New(secret, usedByRows)
}

// sealed is a value as a JSON object that only the run's key opens, for one row.
// Without a key the value is lost, as it is wherever else it was.
func sealed(w *vault.Vault, row string, value any) (map[string]any, error) {
	if w == nil {
		return map[string]any{forgottenWords: true}, nil
	}
	raw, err := json.Marshal(value)
	if err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "A value cannot be stored as JSON.")
	}
	return map[string]any{sealedWords: base64.StdEncoding.EncodeToString(w.Seal(row, string(raw)))}, nil
}

// unsealed reads into value what sealed made for a row; false: it cannot be read
// any more.
func unsealed(w *vault.Vault, row string, object map[string]any, value any) bool {
	text, _ := object[sealedWords].(string)
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil || w == nil {
		return false
	}
	opened, err := w.Open(row, raw)
	return err == nil && json.Unmarshal([]byte(opened), value) == nil
}

// messageWords is what of a message is words.
type messageWords struct {
	Content string         `json:"content"`
	Struct  *chat.Content  `json:"struct,omitempty"`
	Meta    map[string]any `json:"meta,omitempty"`
}

// sealMessage is a message as its row holds it.
func sealMessage(tx Tx, user string, m chat.Message) (chat.Message, error) {
	if !id.Unkept(m.ConversationID) {
		return m, nil
	}
	w, err := runVault(tx, user, m.ConversationID)
	if err != nil {
		return m, err
	}
	meta, err := sealed(w, m.ID, messageWords{m.Content, m.Struct, m.Meta})
	if suppressed, is := m.Meta["suppressed"].(bool); is {
		meta["suppressed"] = suppressed // lists leave it out by its row
	}
	m.Content, m.Struct, m.Meta = "", nil, meta
	return m, err
}

// openMessages puts the words back into messages that were read.
func openMessages(tx Tx, user string, list []chat.Message) error {
	keys := map[string]*vault.Vault{}
	for i := range list {
		m := &list[i]
		if !id.Unkept(m.ConversationID) {
			continue
		}
		w, known := keys[m.ConversationID]
		if !known {
			var err error
			if w, err = runVault(tx, user, m.ConversationID); err != nil {
				return err
			}
			keys[m.ConversationID] = w
		}
		var said messageWords
		if unsealed(w, m.ID, m.Meta, &said) {
			m.Content, m.Struct, m.Meta = said.Content, said.Struct, said.Meta
			continue
		}
		m.Meta = map[string]any{forgottenWords: true}
	}
	return nil
}

// opened puts the words back into messages that were read without a transaction
// of their own; err is of that reading.
func (s *Store) opened(ctx context.Context, v identity.Viewer, list []chat.Message, err error) error {
	if err != nil || !slices.ContainsFunc(list, func(m chat.Message) bool { return id.Unkept(m.ConversationID) }) {
		return err
	}
	return s.read(ctx, v, func(tx Tx) error { return openMessages(tx, v.UserID, list) })
}

// questionWords is what of a question is words.
type questionWords struct {
	Message string          `json:"message"`
	Options []run.Option    `json:"options,omitempty"`
	Schema  json.RawMessage `json:"schema,omitempty"`
}

// sealQuestion is a question as its row holds it: the schema of the answer stands
// for all that is words.
func sealQuestion(tx Tx, user string, q run.Interrupt) (run.Interrupt, error) {
	if !id.Unkept(q.RunID) {
		return q, nil
	}
	w, err := runVault(tx, user, q.RunID)
	if err != nil {
		return q, err
	}
	object, err := sealed(w, q.ID, questionWords{q.Message, q.Options, q.AnswerSchema})
	if err != nil {
		return q, err
	}
	q.Message, q.Options = "", nil
	q.AnswerSchema, err = json.Marshal(object)
	return q, err
}

// sealAnswer is the answer to a question as its row holds it.
func sealAnswer(tx Tx, q run.Interrupt) (json.RawMessage, error) {
	if !id.Unkept(q.RunID) {
		return q.Answer, nil
	}
	w, err := runVault(tx, q.UserID, q.RunID)
	if err != nil {
		return nil, err
	}
	object, err := sealed(w, q.ID+" answer", q.Answer)
	if err != nil {
		return nil, err
	}
	return json.Marshal(object)
}

// openQuestion puts the words back into a question that was read. One that cannot
// be read any more is of a run that has ended, and asks nothing.
func openQuestion(tx Tx, q *run.Interrupt) error {
	if !id.Unkept(q.RunID) {
		return nil
	}
	w, err := runVault(tx, q.UserID, q.RunID)
	if err != nil {
		return err
	}
	var asked questionWords
	var object map[string]any
	_ = json.Unmarshal(q.AnswerSchema, &object) // what is no object is not sealed
	q.AnswerSchema = nil
	if unsealed(w, q.ID, object, &asked) {
		q.Message, q.Options, q.AnswerSchema = asked.Message, asked.Options, asked.Schema
	}
	var answer map[string]any
	if json.Unmarshal(q.Answer, &answer) != nil || answer[sealedWords] == nil {
		return nil // there is none, or nobody gave it: null
	}
	q.Answer = nil
	var said json.RawMessage
	if unsealed(w, q.ID+" answer", answer, &said) {
		q.Answer = said
	}
	return nil
}

// questions reads interrupts by a query of interruptColumns.
func questions(tx Tx, query string, args Args) ([]run.Interrupt, error) {
	list, err := all(tx, query, args, scanInterrupt)
	for i := range list {
		if err == nil {
			err = openQuestion(tx, &list[i])
		}
	}
	return list, err
}

// withoutWords is the end of a run as its row holds it: of a run of which nothing
// is kept, how it went and not what was said.
func withoutWords(r run.Run, e run.End) run.End {
	if !id.Unkept(r.ID) {
		return e
	}
	e.Recording = nil
	e.Error, e.Trace = withoutMessage(e.Error), hashed(e.Trace)
	return e
}

// dueKey says when the key of a run that has just ended is forgotten.
func dueKey(tx Tx, r run.Run, now time.Time) error {
	if !id.Unkept(r.ID) {
		return nil
	}
	_, err := tx.Exec(`UPDATE run_key SET forget_at = @at WHERE id = @id AND user_id = @user`,
		Args{"id": r.ID, "user": r.UserID, "at": now.Add(run.UnkeptFor)})
	return err
}

// ForgetRuns deletes the keys of runs whose time is over, and with them all that
// was sealed, and tells how many; at most a hundred in one call. Doing it again, or
// in several processes at once, does no harm.
func (s *Store) ForgetRuns(ctx context.Context, v identity.Viewer) (n int, err error) {
	if !v.IsSystem() {
		return 0, fault.New(fault.Forbidden, "Only the system forgets runs.")
	}
	type due struct{ id, user string }
	var list []due
	err = s.read(ctx, v, func(tx Tx) error {
		list, err = all(tx, `SELECT id, user_id FROM run_key WHERE forget_at <= @now ORDER BY forget_at LIMIT @most`,
			Args{"now": s.now(), "most": forgottenKeys}, func(scan Scan) (d due, err error) {
				err = scan(&d.id, &d.user)
				return d, err
			})
		return err
	})
	if err != nil || len(list) == 0 {
		return 0, err
	}
	err = s.write(ctx, v, func(tx Tx) error {
		for _, d := range list {
			if err := forgetRun(tx, d.user, d.id); err != nil {
				return err
			}
		}
		return nil
	})
	return len(list), err
}

// forgetRun deletes a run's key and what it had sealed. The key is written over
// first: a file may keep the bytes of a row that was deleted.
func forgetRun(tx Tx, user, runID string) error {
	args := Args{"run": runID, "user": user, "forgotten": `{"` + forgottenWords + `":true}`, "none": make([]byte, secretLength)}
	for _, statement := range []string{
		`UPDATE run_key SET secret = @none WHERE id = @run AND user_id = @user`,
		`DELETE FROM run_key WHERE id = @run AND user_id = @user`,
		`UPDATE message SET meta = @forgotten WHERE conversation_id = @run AND user_id = @user`,
		`UPDATE interrupt SET answer_schema = NULL, answer = NULL WHERE run_id = @run AND user_id = @user`,
		`DELETE FROM blob WHERE run_id = @run AND user_id = @user`,
	} {
		if _, err := tx.Exec(statement, args); err != nil {
			return err
		}
	}
	return nil
}
