package record

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"liminal/activities"
	"liminal/artifacts"
	"liminal/internal/chat"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/inproc"
	"liminal/internal/run"
	"liminal/internal/store"
	"liminal/internal/store/sqlite"
	"liminal/internal/stream"
	"liminal/internal/tool"
	"liminal/internal/wire/devserver"
	"liminal/worker"
)

// house is the engine over the real store, log, library and box: what the
// fakes of the other tests could be wrong about.
type house struct {
	*testing.T
	store  *store.Store
	memory *inproc.Memory
	engine *worker.Engine
	viewer identity.Viewer
}

// acting is a tool made of a function.
type acting struct {
	name string
	run  func(ctx context.Context, c *tool.Call) (map[string]any, error)
}

func (a acting) Name() string { return a.name }
func (a acting) Run(ctx context.Context, c *tool.Call) (map[string]any, error) {
	return a.run(ctx, c)
}

// openHouse starts one with the given workflow as the viewer's own.
func openHouse(t *testing.T, workflow string, tools ...acting) *house {
	t.Helper()
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "store.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() }) // the folder goes with it
	h := &house{T: t, store: store.New(db, store.Options{}), memory: inproc.New(inproc.Options{Base: inproc.Stride})}
	t.Cleanup(h.memory.Close)
	h.viewer = h.person()
	var specs []tool.Spec
	var all []tool.Tool
	for _, a := range tools {
		specs = append(specs, tool.Spec{
			Kind: "tool.spec", Name: a.name, Description: "For a test.", Runs: tool.Activity, Queue: tool.QueueModels,
			InputSchema: json.RawMessage(`{"type":"object"}`), OutputSchema: json.RawMessage(`{"type":"object"}`),
		})
		all = append(all, a)
	}
	library := artifacts.NewLibrary(h.store, specs)
	box, err := tool.NewBox(all, tool.Options{})
	if err != nil {
		t.Fatal(err)
	}
	h.shelve(library, specs, workflow)
	h.work(&activities.Set{
		Turns: h.store, Messages: h.store, Conversations: h.store, Runs: h.store, Interrupts: h.store, Blobs: h.store,
		Contexts: h.store, Artifacts: library, Box: box, Log: h.memory,
	})
	return h
}

func (h *house) person() identity.Viewer { return h.account("a").Viewer("") }

// account is a new account of a name; the first of a store is an administrator's.
func (h *house) account(name string) identity.User {
	h.Helper()
	u, err := h.store.CreateUser(h.Context(), identity.User{
		ID: id.New(), Email: name + "@example.org", Handle: name, Role: identity.RoleUser, Plan: "free", Active: true, Locale: "en",
	}, identity.Credential{Hash: "none", Algorithm: "none"})
	if err != nil {
		h.Fatal(err)
	}
	return u
}

func (h *house) shelve(library *artifacts.Library, specs []tool.Spec, workflow string) {
	h.Helper()
	for _, s := range specs {
		doc, err := json.Marshal(s)
		if err != nil {
			h.Fatal(err)
		}
		if _, err := library.Create(h.Context(), identity.System(), artifacts.Draft{Type: artifacts.KindTool, Name: s.Name, Visibility: artifacts.Global, Schema: doc}); err != nil {
			h.Fatal(err)
		}
	}
	if _, err := library.Create(h.Context(), h.viewer, artifacts.Draft{Type: artifacts.KindWorkflow, Name: "default", Schema: json.RawMessage(workflow)}); err != nil {
		h.Fatal(err)
	}
}

func (h *house) work(set *activities.Set) {
	h.Helper()
	c, err := worker.Dial(h.Context(), worker.ClientOptions{Address: server.Address(), Namespace: devserver.Namespace})
	if err != nil {
		h.Fatal(err)
	}
	h.Cleanup(c.Close)
	w, err := worker.New(worker.Options{Client: c, Activities: set, Queue: id.New()})
	if err != nil {
		h.Fatal(err)
	}
	if err := w.Start(); err != nil {
		h.Fatal(err)
	}
	h.Cleanup(w.Stop)
	h.engine = w.Engine()
}

// chat asks for a turn.
func (h *house) chat(conversation, message, multitask string) chat.Accepted {
	h.Helper()
	a, err := h.engine.Chat(h.Context(), h.viewer, chat.NewTurn{ConversationID: conversation, RequestID: id.New(), Message: message, Multitask: multitask, NoContext: true})
	if err != nil {
		h.Fatal(err)
	}
	return a
}

// end reads a run's stream to the event that ends the run, past its pauses.
func (h *house) end(runID string) stream.Event {
	h.Helper()
	ctx, cancel := context.WithTimeout(h.Context(), deadline)
	defer cancel()
	for e, err := range h.memory.Follow(ctx, runID, 0) {
		if err != nil {
			h.Fatal(err)
		}
		if e.Kind.Ends() && e.Kind != stream.Paused {
			return e
		}
	}
	h.Fatalf("the run %s has no end", runID)
	return stream.Event{}
}

// paused waits until only a person can move a run, and gives its question.
func (h *house) paused(runID string) run.Interrupt {
	h.Helper()
	ctx, cancel := context.WithTimeout(h.Context(), deadline)
	defer cancel()
	for e, err := range h.memory.Follow(ctx, runID, 0) {
		if err != nil {
			h.Fatal(err)
		}
		if e.Kind != stream.Paused {
			continue
		}
		open, err := h.store.PendingInterrupts(h.Context(), h.viewer, "")
		if err != nil || len(open) == 0 {
			h.Fatalf("the run is paused with %v, %v", open, err)
		}
		return open[len(open)-1]
	}
	h.Fatalf("the run %s does not pause", runID)
	return run.Interrupt{}
}

// thread is the conversation as its reader sees it, one word a message.
func (h *house) thread(conversation string) []string {
	h.Helper()
	list, _, err := h.store.ListMessages(h.Context(), h.viewer, conversation, "", 50)
	if err != nil {
		h.Fatal(err)
	}
	var out []string
	for _, m := range list {
		out = append(out, m.Role+": "+m.Content)
	}
	return out
}

func (h *house) says(conversation string, want ...string) {
	h.Helper()
	if got := h.thread(conversation); !slices.Equal(got, want) {
		h.Errorf("the conversation reads\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

const houseAsks = `{"kind":"workflow.chat","entrypoint":"ask","nodes":[
	{"id":"ask","type":"interrupt","interrupt_type":"text_input","message":"Which one?","when":"input.message == 'ask'","next":"end"},
	{"id":"end","type":"end","response":"said ${input.message} ${vars.ask?}"}]}`

// Requirements: INT-33, INT-10, INT-12, INT-29, CHAT-18
func TestANewMessageGivesUpAPausedTurnAndThenRuns(t *testing.T) {
	t.Parallel()
	h := openHouse(t, houseAsks)
	first := h.chat("", "ask", "reject")
	h.paused(first.Run.ID)
	second := h.chat(first.ConversationID, "hello", "reject")
	var done struct{ Suppressed bool }
	if e := h.end(first.Run.ID); e.Kind != stream.MessageDone || json.Unmarshal(e.Data, &done) != nil || !done.Suppressed {
		t.Errorf("the first turn ended with %s %s, want a suppressed answer", e.Kind, e.Data)
	}
	if e := h.end(second.Run.ID); e.Kind != stream.MessageDone {
		t.Errorf("the second turn ended with %s %s", e.Kind, e.Data)
	}
	h.says(first.ConversationID, "user: ask", "system: Which one?", "user: hello", "assistant: said hello ")
}

// Requirements: INT-05, INT-13, INT-29
func TestAnAnsweredTurnLeavesItsQuestionAndAnswerInTheThread(t *testing.T) {
	t.Parallel()
	h := openHouse(t, houseAsks)
	a := h.chat("", "ask", "reject")
	q := h.paused(a.Run.ID)
	if _, err := h.engine.Answer(t.Context(), h.viewer, q.ID, run.Answer{Type: "text_input", Value: "that one"}); err != nil {
		t.Fatal(err)
	}
	h.end(a.Run.ID)
	h.says(a.ConversationID, "user: ask", "system: Which one?", "user: that one", "assistant: said ask that one")
}

const houseTalks = `{"kind":"workflow.chat","entrypoint":"talk","nodes":[
	{"id":"talk","type":"tool_call","tool":"test.talk_v1","inputs":{"message":"${input.message}"}}]}`

// talk says what it was told; "wait" makes it wait to be stopped.
func talk(began chan<- struct{}) acting {
	return acting{"test.talk_v1", func(ctx context.Context, c *tool.Call) (map[string]any, error) {
		text := fmt.Sprint("heard ", c.Inputs["message"])
		c.Emit(stream.TokenData(text))
		if c.Inputs["message"] == "wait" {
			began <- struct{}{}
			<-ctx.Done()
			return nil, ctx.Err()
		}
		return map[string]any{"answer": text}, nil
	}}
}

// Requirements: CHAT-18
func TestQueuedTurnsRunInTheirOrder(t *testing.T) {
	t.Parallel()
	began := make(chan struct{}, 9)
	h := openHouse(t, houseTalks, talk(began))
	first := h.chat("", "wait", "reject")
	<-began
	second := h.chat(first.ConversationID, "two", "enqueue")
	third := h.chat(first.ConversationID, "three", "enqueue")
	if second.Run.Status != run.Queued || third.Run.Status != run.Queued {
		t.Fatalf("the turns are %s and %s", second.Run.Status, third.Run.Status)
	}
	if _, err := h.engine.Cancel(t.Context(), h.viewer, first.Run.RequestID); err != nil {
		t.Fatal(err)
	}
	for _, a := range []chat.Accepted{first, second, third} {
		h.end(a.Run.ID)
	}
	h.says(first.ConversationID,
		"user: wait", "assistant: heard wait", "user: two", "assistant: heard two", "user: three", "assistant: heard three")
}

// Requirements: CHAT-18, STREAM-32
func TestANewTurnMayInterruptTheRunningOne(t *testing.T) {
	t.Parallel()
	began := make(chan struct{}, 9)
	h := openHouse(t, houseTalks, talk(began))
	first := h.chat("", "wait", "reject")
	<-began
	at := time.Now()
	second := h.chat(first.ConversationID, "now", "interrupt")
	h.end(second.Run.ID)
	if e := h.end(first.Run.ID); e.Kind != stream.CancelAck || !strings.Contains(string(e.Data), "heard wait") {
		t.Errorf("the first turn ended with %s %s", e.Kind, e.Data)
	}
	h.says(first.ConversationID, "user: wait", "assistant: heard wait", "user: now", "assistant: heard now")
	t.Logf("both turns took %s", time.Since(at))
}

// Requirements: INT-03
func TestAQuestionBesideWorkPausesTheRowWhenTheWorkIsDone(t *testing.T) {
	t.Parallel()
	began := make(chan struct{}, 9)
	h := openHouse(t, `{"kind":"workflow.chat","entrypoint":"both","nodes":[
		{"id":"both","type":"parallel","branches":[{"next":"ask"},{"next":"talk"}],"next":"end"},
		{"id":"ask","type":"interrupt","interrupt_type":"text_input","message":"Well?","next":"end"},
		{"id":"talk","type":"tool_call","tool":"test.talk_v1","inputs":{"message":"x"},"next":"end"},
		{"id":"end","type":"end","response":"${vars.ask}"}]}`, talk(began))
	a := h.chat("", "hello", "reject")
	q := h.paused(a.Run.ID)
	if r, err := h.store.Run(t.Context(), h.viewer, a.Run.ID); err != nil || r.Status != run.Waiting {
		t.Errorf("the row is %s (%v), want waiting", r.Status, err)
	}
	if _, err := h.engine.Answer(t.Context(), h.viewer, q.ID, run.Answer{Value: "fine"}); err != nil {
		t.Fatal(err)
	}
	h.end(a.Run.ID)
	h.says(a.ConversationID, "user: hello", "system: Well?", "user: fine", "assistant: fine")
}
