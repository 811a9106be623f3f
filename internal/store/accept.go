package store

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"time"

	"liminal/internal/chat"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/run"
)

var _ chat.Turns = (*Store)(nil)

// thread is what Accept needs of a conversation.
type thread struct {
	id, title string
	lastSeq   int
	workflow  string // the one its person chose; empty: none
	fresh     bool   // nobody had this id: it is created
	doubt     bool   // what the turn names may be a workflow that keeps nothing

	surface *chat.Surfaced // of the workflow the turn is for; nil: it has none
}

// Accept implements chat.Turns. A message whose turn is queued stands behind
// everything said before that turn runs: its seq grows while it waits, and
// never after its turn has begun. A turn that replaces another is never queued:
// it takes the seq of the question it replaces, which is set aside with all
// that followed it.
func (s *Store) Accept(ctx context.Context, v identity.Viewer, t chat.NewTurn) (a chat.Accepted, err error) {
	if err := t.Validate(); err != nil {
		return a, err
	}
	if t.RequestID == "" {
		t.RequestID = id.New()
	}
	err = s.write(ctx, v, func(tx Tx) error {
		a, err = s.accept(tx, v, t)
		return err
	})
	if errors.Is(err, errKeepsNothing) { // no word was written yet
		t.Keeps = chat.KeepsNothing
		return s.Accept(ctx, v, t)
	}
	if err != nil {
		err = s.auditRefused(ctx, v, t, err)
	}
	return a, err
}

func (s *Store) accept(tx Tx, v identity.Viewer, t chat.NewTurn) (chat.Accepted, error) {
	if err := tx.Lock("turns:" + v.UserID); err != nil {
		return chat.Accepted{}, err
	}
	if before, found, err := byRequest(tx, v, t.RequestID); err != nil || found {
		return chat.Repeated(before), err
	}
	th, err := s.thread(tx, v, t)
	if err != nil {
		return chat.Accepted{}, err
	}
	if t.WorkflowID == "" && !t.NoWorkflow {
		var doubt bool
		if t.WorkflowID, doubt, err = presentWorkflow(tx, th.workflow); err != nil {
			return chat.Accepted{}, err
		}
		th.doubt = th.doubt || doubt
	}
	if th.doubt {
		if err := keepsNothing(tx, v, t); err != nil {
			return chat.Accepted{}, err
		}
	}
	of, err := replaced(tx, v, t, th)
	if err != nil {
		return chat.Accepted{}, err
	}
	a, err := s.admit(tx, v, t, th)
	if err == nil {
		th.surface, a.Counted, err = s.countTurn(tx, v, t)
	}
	if err != nil {
		return chat.Accepted{}, err
	}
	if of.id == "" {
		return a, s.writeTurn(tx, v, t, th, &a)
	}
	if named, err := namedAfter(tx, v, of, th.title); err != nil {
		return a, err
	} else if named {
		th.title = "" // it is made anew of what replaces the message
	}
	if err := setAside(tx, v, th.id, of.seq); err != nil {
		return a, err
	}
	th.lastSeq = of.seq - 1
	if err := s.writeTurn(tx, v, t, th, &a); err != nil {
		return a, err
	}
	return a, another(tx, v, of, a.MessageID)
}

// thread finds the viewer's conversation or creates it. An id that is another
// person's does not exist for this one (G-07, ISO-01).
func (s *Store) thread(tx Tx, v identity.Viewer, t chat.NewTurn) (thread, error) {
	th := thread{id: t.ConversationID}
	switch {
	case t.Keeps == chat.KeepsNothing:
		th.id = id.NewUnkept()
	case th.id == "":
		th.id = id.New()
	}
	args := Args{"id": th.id, "user": v.UserID}
	if err := tx.Lock("conversation:" + th.id); err != nil {
		return th, err
	}
	doubts := 0
	if t.ConversationID != "" {
		found, err := first(tx, `SELECT title, last_seq, workflow, `+doubtful(t, args)+doubtfulChoice(t)+` FROM conversation WHERE id = @id AND user_id = @user`,
			args, &th.title, &th.lastSeq, text{&th.workflow}, &doubts)
		if th.doubt = doubts > 0; err != nil || found {
			return th, err
		}
	}
	th.fresh = true
	args["now"], args["unlisted"] = s.now(), t.History != nil || t.Keeps == chat.KeepsNothing
	const insert = `INSERT INTO conversation (id, user_id, created_at, updated_at, unlisted) VALUES (@id, @user, @now, @now, @unlisted) ON CONFLICT (id) DO NOTHING`
	var n int64
	var err error
	if doubt := doubtful(t, args); doubt == noDoubt { // most turns: nothing is read back
		n, err = tx.Exec(insert, args)
	} else {
		err = tx.Query(insert+` RETURNING `+doubt, args, func(scan Scan) error {
			n++
			return scan(&doubts)
		})
	}
	if err == nil && n == 0 {
		err = missing("conversation")
	}
	th.doubt = doubts > 0
	return th, err
}

// presentWorkflow is the workflow a person chose for a conversation; empty when
// it was chosen by its id and has gone with the account it was of: the
// conversation goes on as one for which nobody chose.
func presentWorkflow(tx Tx, chosen string) (workflow string, doubt bool, err error) {
	if !id.Valid(chosen) {
		return chosen, false, nil
	}
	var n, doubts int
	_, err = first(tx, `SELECT count(*), coalesce(sum(CASE WHEN `+namesKeeps+` THEN 1 ELSE 0 END), 0) FROM artifact WHERE id = @id`,
		Args{"id": chosen}, &n, &doubts)
	if n == 0 {
		return "", false, err
	}
	return chosen, doubts > 0, err
}

// admit finds what chat.Admit decides on, and the questions of the turn in the
// way.
func (s *Store) admit(tx Tx, v identity.Viewer, t chat.NewTurn, th thread) (chat.Accepted, error) {
	a := chat.Accepted{ConversationID: th.id, Run: run.Run{Status: run.Running}}
	var ahead []run.Run
	var err error
	if !th.fresh {
		if ahead, err = unended(tx, v, th.id); err != nil {
			return a, err
		}
	}
	behind, err := chat.Admit(t, ahead, func() (n int, err error) {
		_, err = first(tx, `SELECT count(*) FROM run WHERE user_id = @user AND kind = 'chat' AND status = 'running'`,
			Args{"user": v.UserID}, &n)
		return n, err
	}, s.turns)
	if err != nil || behind == nil {
		return a, err
	}
	open, err := openQuestions(tx, *behind)
	a.Run.Status, a.Blocking, a.Open = run.Queued, behind, open
	return a, err
}

// writeTurn stores the message, the run and the conversation's new end.
func (s *Store) writeTurn(tx Tx, v identity.Viewer, t chat.NewTurn, th thread, a *chat.Accepted) error {
	now, seq := s.now(), th.lastSeq+len(t.History)+1
	r := run.Run{
		ID: runID(th), Kind: run.KindChat, UserID: v.UserID, KeyID: v.KeyID(), ConversationID: th.id, RequestID: t.RequestID,
		WorkflowID: "chat:" + th.id + ":" + t.RequestID, Status: a.Run.Status, CreatedAt: now, StartedAt: startOf(a.Run.Status, now),
	}
	a.MessageID = chat.AskedID(r.ID)
	meta := mentions(t)
	if id.Unkept(r.ID) && len(t.Fields) > 0 { // they are words, which are sealed with the message
		meta, t.Fields = map[string]any{chat.MetaFields: t.Fields}, nil
	}
	input, err := json.Marshal(chat.TurnInput{
		MessageID: a.MessageID, UptoSeq: seq, ContextIDs: t.ContextIDs,
		NoContext: t.NoContext, ArtifactIDs: t.ArtifactIDs, WorkflowID: t.WorkflowID, Replaces: t.Replaces, Locale: t.Locale, Backend: t.Backend, Fields: t.Fields, History: t.HistoryDigest(),
		Surface: th.surface.Kept(),
	})
	if err != nil {
		return err
	}
	r.Input = input
	a.Run = r
	if err := insertRun(tx, r); err != nil {
		return err
	}
	if err := s.makeRunKey(tx, r); err != nil {
		return err
	}
	if err := s.openAudit(tx, v, t, th.surface, a); err != nil {
		return err
	}
	for i, m := range t.History {
		if err := insertMessage(tx, v.UserID, chat.Message{
			ID: id.Derive(r.ID, "said", strconv.Itoa(i)), ConversationID: th.id,
			Sender: m.Role, Role: m.Role, Content: m.Content, Seq: th.lastSeq + i + 1, CreatedAt: now,
		}); err != nil {
			return err
		}
	}
	if err := insertMessage(tx, v.UserID, chat.Message{
		ID: a.MessageID, ConversationID: th.id, RunID: r.ID,
		Sender: "user", Role: "user", Content: t.Message, Seq: seq, CreatedAt: now, Meta: meta,
	}); err != nil {
		return err
	}
	if th.title == "" && !id.Unkept(th.id) {
		th.title = chat.TitleOf(t.Message)
	}
	if _, err = tx.Exec(`UPDATE conversation SET title = @title, last_seq = @seq, updated_at = @now WHERE id = @id AND user_id = @user`,
		Args{"id": th.id, "user": v.UserID, "title": th.title, "seq": seq, "now": now}); err != nil || t.Backend == nil {
		return err
	}
	_, err = tx.Exec(`UPDATE conversation SET backend = @backend WHERE id = @id AND user_id = @user`,
		Args{"id": th.id, "user": v.UserID, "backend": optional(*t.Backend)})
	return err
}

// mentions is what a message keeps of its editor, so that what it mentions can
// be shown as that wherever it is read (UI-32); nil when there is nothing.
func mentions(t chat.NewTurn) map[string]any {
	doc, _ := t.Fields["tiptap_json"].(map[string]any)
	if len(doc) == 0 {
		return nil
	}
	return map[string]any{"tiptap_json": doc}
}

func startOf(s run.Status, now time.Time) time.Time {
	if s == run.Running {
		return now
	}
	return time.Time{}
}
