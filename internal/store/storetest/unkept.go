package storetest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"liminal/artifacts"
	"liminal/internal/chat"
	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/run"
	"liminal/internal/store"
)

// Unkept proves what the store does with turns of which nothing is kept.
func Unkept(t *testing.T, open Open) {
	t.Run("what was said reads as it was until half a minute after its end", func(t *testing.T) { unkeptTurn(t, open) })
	t.Run("a turn keeps nothing by what it names", func(t *testing.T) { unkeptByName(t, open) })
	t.Run("its key goes with its person", func(t *testing.T) { unkeptPerson(t, open) })
}

// unkeptGraph is a workflow whose surface says what is kept.
func unkeptGraph(name, keeps string) artifacts.Artifact {
	return artifacts.Artifact{Type: artifacts.KindWorkflow, Name: name, CreatedBy: "user",
		Schema: json.RawMessage(`{"kind":"workflow.chat","surface":{"title":{"en":"T"},"keeps":"` + keeps + `"},"entrypoint":"a","nodes":[]}`)}
}

func unkeptTurn(t *testing.T, open Open) {
	now := time.Date(2026, 11, 27, 10, 0, 0, 0, time.UTC)
	s, ctx := open(t, store.Options{Now: func() time.Time { return now }}).Store, t.Context()
	v, other := person(t, s), person(t, s)
	a := accept(t, s, v, chat.NewTurn{
		Message: "the question", Keeps: chat.KeepsNothing, Fields: map[string]any{"action": "find"}, History: []chat.Said{{Role: "user", Content: "before"}},
	})
	want(t, "its id tells", id.Unkept(a.Run.ID), true)
	want(t, "the conversation's id", a.ConversationID, a.Run.ID)
	if strings.Contains(string(a.Run.Input), "find") {
		t.Errorf("the run's row holds %s", a.Run.Input)
	}
	key := got(s.RunKey(ctx, a.Run.ID))(t)
	want(t, "bytes of the key", len(key), 32)

	asked := got(s.Message(ctx, v, a.MessageID))(t)
	want(t, "question", asked.Content, "the question")
	want(t, "fields", fmt.Sprint(asked.Meta), "map[fields:map[action:find]]")
	want(t, "before", got(s.History(ctx, v, a.ConversationID, 2, 9))(t)[0].Content, "before")
	_, err := s.Message(ctx, other, a.MessageID)
	wantFault(t, err, fault.NotFound)

	need(t, s.Ask(ctx, v, true, run.Interrupt{
		ID: id.New(), RunID: a.Run.ID, EffectID: "e", Type: "doc_choice", Message: "which", Options: []run.Option{{ID: "x", Label: "this"}}, AnswerSchema: json.RawMessage(`{"type":"string"}`),
	}))
	ref := got(s.PutBlob(ctx, v, a.Run.ID, "large", []byte(`"large"`)))(t)
	act := run.Act{RunID: a.Run.ID, EffectID: "e", Attempt: 1, Tool: "post"}
	_, err = s.BeginAct(ctx, v, act)
	need(t, err)
	act.Outcome = json.RawMessage(`{"output":{"text":"what was posted"}}`)
	need(t, s.EndAct(ctx, v, act))
	want(t, "what came of an act", string(got(s.Act(ctx, v, act))(t).Outcome), string(act.Outcome))
	// Days later it still waits: a key has no age.
	now = now.Add(72 * time.Hour)
	want(t, "forgotten while it waits", got(s.ForgetRuns(ctx, identity.System()))(t), 0)
	q := got(s.PendingInterrupts(ctx, v, a.ConversationID))(t)[0]
	want(t, "asked", fmt.Sprint(q.Message, q.Options, string(q.AnswerSchema)), `which[{x this}]{"type":"string"}`)
	q = got(s.Answer(ctx, v, q.ID, run.Answered, json.RawMessage(`"x"`)))(t)
	want(t, "answered", string(q.Answer), `"x"`)
	want(t, "answer as it is delivered", string(got(s.Interrupt(ctx, v, q.ID))(t).Answer), `"x"`)
	want(t, "blob", string(got(s.Blob(ctx, v, ref))(t)), `"large"`)

	end := answer(a.Run.ID, "the answer")
	end.Persist = map[string]any{"docs": "kept"}
	end.End.Recording = &run.Recording{RunID: a.Run.ID, Body: []byte("body")}
	end.End.Error = json.RawMessage(`{"code":"internal_error","message":"it quotes","node":"n"}`)
	end.End.Trace = json.RawMessage(`{"steps":[{"node":"n","type":"end","visit":1,"started":"2026-11-27T10:00:00Z","detail":"it quotes"}],"calls":[{"attempt":1,"node":"n","tool":"t","arguments":{"q":"it quotes"},"result":"it quotes","status":"ok","ms":3}]}`)
	closed := closeTurn(t, s, v, end)
	row := got(s.Run(ctx, v, a.Run.ID))(t)
	for what, doc := range map[string]json.RawMessage{"trace": row.Trace, "error": row.Error} {
		if strings.Contains(string(doc), "quotes") || len(doc) == 0 {
			t.Errorf("the %s is %s", what, doc)
		}
	}
	if !strings.Contains(string(row.Trace), `sha256`) {
		t.Errorf("the trace has no hashes: %s", row.Trace)
	}
	_, err = s.Recording(ctx, v, a.Run.ID)
	wantFault(t, err, fault.NotFound)
	c := got(s.Conversation(ctx, v, a.ConversationID))(t)
	want(t, "title and what persists", fmt.Sprint(c.Title, c.Meta), "map[]")
	_, err = s.Branch(ctx, v, a.ConversationID, closed.MessageID, id.New())
	wantReason(t, "a branch", err, "keeps_nothing")
	_, err = s.Target(ctx, v, a.ConversationID, closed.MessageID)
	wantReason(t, "feedback", err, "keeps_nothing")

	now = now.Add(run.UnkeptFor - time.Second)
	want(t, "forgotten within half a minute", got(s.ForgetRuns(ctx, identity.System()))(t), 0)
	want(t, "answer within half a minute", got(s.Message(ctx, v, closed.MessageID))(t).Content, "the answer")
	now = now.Add(time.Second)
	_, err = s.ForgetRuns(ctx, v)
	wantFault(t, err, fault.Forbidden)
	want(t, "forgotten", got(s.ForgetRuns(ctx, identity.System()))(t), 1)
	want(t, "forgotten again", got(s.ForgetRuns(ctx, identity.System()))(t), 0)
	_, err = s.RunKey(ctx, a.Run.ID)
	wantFault(t, err, fault.NotFound)
	for _, m := range got(s.MessagePage(ctx, v, a.ConversationID, chat.MessageRange{}))(t).Messages {
		want(t, "a message", fmt.Sprint(m.Content, m.Struct, m.Meta), "<nil> map[forgotten:true]")
	}
	_, err = s.Blob(ctx, v, ref)
	wantFault(t, err, fault.NotFound)
	want(t, "what came of an act, forgotten", string(got(s.Act(ctx, v, act))(t).Outcome), "")
	q = got(s.Interrupt(ctx, v, q.ID))(t)
	want(t, "the question", fmt.Sprint(q.Message, q.Options, q.Answer, q.AnswerSchema), "[] [] []")
}

func unkeptByName(t *testing.T, open Open) {
	s := open(t, unlimited).Store
	v, other := person(t, s), person(t, s)
	quiet := got(s.CreateArtifact(t.Context(), v, unkeptGraph("quiet", "nothing"), ""))(t)
	loud := got(s.CreateArtifact(t.Context(), v, unkeptGraph("loud", "conversations"), ""))(t)
	kept := accept(t, s, v, chat.NewTurn{Message: "m"})
	for name, c := range map[string]struct {
		turn   chat.NewTurn
		v      identity.Viewer
		unkept bool
	}{
		"by its name":                      {chat.NewTurn{WorkflowID: "quiet"}, v, true},
		"by its id":                        {chat.NewTurn{WorkflowID: quiet.ID}, v, true},
		"among artifacts":                  {chat.NewTurn{ArtifactIDs: []string{loud.ID, quiet.ID}}, v, true},
		"another":                          {chat.NewTurn{WorkflowID: "loud"}, v, false},
		"another by its id":                {chat.NewTurn{WorkflowID: loud.ID}, v, false},
		"none":                             {chat.NewTurn{}, v, false},
		"one that is not there":            {chat.NewTurn{WorkflowID: "nobody's"}, v, false},
		"another person's of the name":     {chat.NewTurn{WorkflowID: "quiet"}, other, false},
		"in a conversation nobody has yet": {chat.NewTurn{WorkflowID: "loud", ConversationID: id.New()}, v, false},
	} {
		c.turn.Message = "m"
		a := accept(t, s, c.v, c.turn)
		want(t, name, id.Unkept(a.Run.ID), c.unkept)
	}
	closeTurn(t, s, v, answer(kept.Run.ID, "a"))
	_, err := s.Accept(t.Context(), v, chat.NewTurn{Message: "m", WorkflowID: "quiet", ConversationID: kept.ConversationID})
	want(t, "in a conversation that is kept", fault.Reason(err), "keeps_nothing")
	for _, chosen := range []string{"quiet", quiet.ID} {
		got(s.UpdateConversation(t.Context(), v, kept.ConversationID, chat.ConversationChange{WorkflowID: &chosen}))(t)
		_, err = s.Accept(t.Context(), v, chat.NewTurn{Message: "m", ConversationID: kept.ConversationID})
		want(t, "in one for which "+chosen+" was chosen", fault.Reason(err), "keeps_nothing")
	}
	want(t, "messages", len(got(s.History(t.Context(), v, kept.ConversationID, 99, 99))(t)), 2)
}

func unkeptPerson(t *testing.T, open Open) {
	s := open(t, store.Options{}).Store
	v := person(t, s)
	a := accept(t, s, v, chat.NewTurn{Message: "m", Keeps: chat.KeepsNothing})
	got(s.RunKey(t.Context(), a.Run.ID))(t)
	got(s.DeleteUser(t.Context(), v.UserID))(t)
	_, err := s.RunKey(t.Context(), a.Run.ID)
	wantFault(t, err, fault.NotFound)
}
