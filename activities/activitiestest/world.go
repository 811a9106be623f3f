// Package activitiestest is a world for workflows to run in: the ports of
// activities over plain maps, tools made of functions, and a stream that
// remembers. Tests and the recorder of frozen histories use it; the real
// stores have a conformance suite of their own.
package activitiestest

import (
	"context"
	"encoding/json"
	"iter"
	"slices"
	"strconv"
	"sync"
	"time"

	"liminal/activities"
	"liminal/artifacts"
	"liminal/internal/chat"
	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/knowledge"
	"liminal/internal/run"
	"liminal/internal/stream"
	"liminal/internal/tool"
)

// Viewer is the person of every world.
var Viewer = identity.Viewer{UserID: "00000000-0000-7000-8000-00000000000a", Role: identity.RoleUser, Plan: "free", Locale: "en"}

// Func is a tool's implementation.
type Func func(ctx context.Context, c *tool.Call) (map[string]any, error)

// World is every port of activities.Set. Its fields may be read once a run has
// ended; while one runs, use the methods.
type World struct {
	mu         sync.Mutex
	Runs       map[string]*run.Run
	Questions  map[string]*run.Interrupt
	Order      []string // ids of Questions, as they were asked
	Blobs      map[string][]byte
	Messages   map[string]chat.Message
	Thread     chat.Conversation
	Contexts   []knowledge.Context
	Closed     []chat.Close
	Ended      map[string]run.End
	Events     []stream.Event
	Finished   bool
	Kept       time.Duration     // how long its stream stays readable after that
	Started    []run.Run         // by StartNext
	Next       *run.Run          // what CloseTurn says comes next
	Calls      []tool.Call       // every call of a tool
	Workflows  map[string]string // document by name
	Hidden     map[string]bool   // workflows the viewer may not see
	Own        bool              // the workflows are the viewer's, not everybody's
	Tools      map[string]tool.Spec
	Funcs      map[string]Func
	Version    int                  // of every artifact above
	Others     []artifacts.Artifact // of other kinds, every version; the last of an id is the current one
	Rollout    *artifacts.Rollout   // of every workflow: Old is its version From
	Old        map[string]string    // document by name
	Log        []string             // names of the ports' writes, in order
	FailAsk    error
	FailClose  []error // of the first calls of CloseTurn
	FailRunRow error
	salt       string
}

// New is a world with the given workflow as "default" and no tools.
func New(workflow string) *World {
	return &World{
		Runs: map[string]*run.Run{}, Questions: map[string]*run.Interrupt{}, Blobs: map[string][]byte{},
		Messages: map[string]chat.Message{}, Ended: map[string]run.End{}, Hidden: map[string]bool{},
		Thread:    chat.Conversation{ID: id.Derive("conversation"), UserID: Viewer.UserID, Title: "A thread"},
		Workflows: map[string]string{"default": workflow}, Tools: map[string]tool.Spec{}, Funcs: map[string]Func{}, Version: 1,
	}
}

// Tool adds a tool. spec may say where it runs; its name is set here.
func (w *World) Tool(name string, spec tool.Spec, f Func) *World {
	spec.Kind, spec.Name = "tool.spec", name
	w.Tools[name], w.Funcs[name] = spec, f
	return w
}

// Chat makes the rows of a turn, and its input.
func (w *World) Chat(message string, turn chat.TurnInput) activities.RunInput {
	request := id.Derive("request", w.salt, strconv.Itoa(len(w.Runs)))
	turn.MessageID, turn.UptoSeq = id.Derive(request, "message"), max(turn.UptoSeq, 1)
	w.Messages[turn.MessageID] = chat.Message{ID: turn.MessageID, ConversationID: w.Thread.ID, Content: message, Seq: 1, Role: "user", Sender: "user"}
	r := w.row(run.KindChat, turn)
	r.ConversationID, r.RequestID = w.Thread.ID, request
	r.WorkflowID = "chat:" + w.Thread.ID + ":" + request
	return activities.RunInput{RunID: r.ID, Viewer: Viewer, Kind: run.KindChat, Direct: true}
}

// Run makes the row of a run that is not a turn, and its input.
func (w *World) Run(kind run.Kind, input any) activities.RunInput {
	r := w.row(kind, input)
	r.WorkflowID = string(kind) + ":" + r.ID
	return activities.RunInput{RunID: r.ID, Viewer: Viewer, Kind: kind, Direct: true}
}

// House makes the row of a run of the system's own, and its input. A patch's
// input names it: {"patch_id": 42}.
func (w *World) House(kind run.Kind, input map[string]any) activities.RunInput {
	r := w.row(kind, input)
	r.UserID, r.WorkflowID = identity.SystemAccount, string(kind)+":"+r.ID
	return activities.RunInput{RunID: r.ID, Viewer: identity.Steward(), Kind: kind, Direct: true}
}

func (w *World) row(kind run.Kind, input any) *run.Run {
	raw, err := json.Marshal(input)
	if err != nil {
		raw = nil
	}
	r := &run.Run{ID: id.Derive("run", w.salt, strconv.Itoa(len(w.Runs))), Kind: kind, UserID: Viewer.UserID, Status: run.Running, Input: raw}
	w.Runs[r.ID] = r
	return r
}

// Salt makes the ids of runs made from now on this world's own, where several
// worlds share a server.
func (w *World) Salt(s string) { w.salt = s }

// Set is the activities over this world.
func (w *World) Set() *activities.Set {
	return &activities.Set{
		Turns: turns{w}, Messages: messages{w}, Conversations: conversations{w}, Runs: runs{w}, Interrupts: interrupts{w},
		Blobs: blobs{w}, Contexts: contexts{w}, Artifacts: library{w}, Box: box{w}, Log: log{w}, Starter: starter{w},
	}
}

// Count is how often a tool was called.
func (w *World) Count(name string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := 0
	for _, c := range w.Calls {
		if c.Node == name {
			n++
		}
	}
	return n
}

// Question is the i-th question that was asked, if there is one yet.
func (w *World) Question(i int) (run.Interrupt, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if i >= len(w.Order) {
		return run.Interrupt{}, false
	}
	return *w.Questions[w.Order[i]], true
}

// Kinds are the kinds of the stream's events, in order.
func (w *World) Kinds() []stream.Kind {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []stream.Kind
	for _, e := range w.Events {
		out = append(out, e.Kind)
	}
	return out
}

// Event decodes the last event of a kind.
func (w *World) Event(kind stream.Kind) map[string]any {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out map[string]any
	for _, e := range w.Events {
		if e.Kind == kind {
			out = nil
			if json.Unmarshal(e.Data, &out) != nil {
				return nil
			}
		}
	}
	return out
}

// Claim answers a question's row as the engine does, and gives the signal.
func (w *World) Claim(i int, answer any, cancelled bool) activities.Answer {
	q, _ := w.Question(i)
	status := run.Answered
	if cancelled {
		status, answer = run.Skipped, nil
	}
	raw, err := json.Marshal(answer)
	if err == nil {
		_, err = interrupts{w}.Answer(context.Background(), identity.Viewer{UserID: q.UserID}, q.ID, status, raw)
	}
	if err != nil {
		return activities.Answer{}
	}
	return activities.Answer{InterruptID: q.ID, Answer: answer, Cancelled: cancelled}
}

// Early is the answer to a question that was stored and answered before the run
// knows that it has asked: its worker died between the two. It gives the signal.
func (w *World) Early(runID, effect string, answer any) activities.Answer {
	w.mu.Lock()
	defer w.mu.Unlock()
	raw, err := json.Marshal(answer)
	if err != nil {
		return activities.Answer{}
	}
	q := &run.Interrupt{ID: id.Derive(runID, effect), RunID: runID, EffectID: effect, UserID: w.Runs[runID].UserID, Status: run.Answered, Answer: raw}
	w.Questions[q.ID], w.Order = q, append(w.Order, q.ID)
	return activities.Answer{InterruptID: q.ID, Answer: answer}
}

func (w *World) wrote(what string) { w.Log = append(w.Log, what) }

type turns struct{ w *World }

func (t turns) Accept(context.Context, identity.Viewer, chat.NewTurn) (chat.Accepted, error) {
	return chat.Accepted{}, fault.New(fault.Internal, "turns are made by World.Chat")
}

func (t turns) CloseTurn(_ context.Context, _ identity.Viewer, c chat.Close) (chat.Closed, error) {
	t.w.mu.Lock()
	defer t.w.mu.Unlock()
	if len(t.w.FailClose) > 0 {
		err := t.w.FailClose[0]
		t.w.FailClose = t.w.FailClose[1:]
		if err != nil {
			return chat.Closed{}, err
		}
	}
	if row := t.w.Runs[c.RunID]; row != nil && c.Only != "" && row.Status != c.Only {
		return chat.Closed{}, fault.New(fault.Conflict, "The turn is %s.", row.Status)
	}
	t.w.wrote("close")
	t.w.Closed = append(t.w.Closed, c)
	t.w.end(c.RunID, c.End)
	closed := chat.Closed{Next: t.w.Next}
	if c.Message != nil {
		closed.MessageID, closed.Seq = c.Message.ID, 2
		t.w.Messages[c.Message.ID] = *c.Message
	}
	return closed, nil
}

type messages struct{ w *World }

func (m messages) ListMessages(context.Context, identity.Viewer, string, string, int) ([]chat.Message, string, error) {
	return nil, "", nil
}

func (m messages) MessagePage(context.Context, identity.Viewer, string, chat.MessageRange) (chat.MessagePage, error) {
	return chat.MessagePage{}, nil
}

func (m messages) History(context.Context, identity.Viewer, string, int, int) ([]chat.Message, error) {
	return []chat.Message{{Content: "what was said before"}}, nil
}

func (m messages) Message(_ context.Context, _ identity.Viewer, id string) (chat.Message, error) {
	m.w.mu.Lock()
	defer m.w.mu.Unlock()
	msg, ok := m.w.Messages[id]
	if !ok {
		return msg, fault.New(fault.NotFound, "There is no such message.")
	}
	return msg, nil
}

type conversations struct{ w *World }

func (c conversations) CreateConversation(context.Context, identity.Viewer, chat.Conversation) (chat.Conversation, error) {
	return c.w.Thread, nil
}

func (c conversations) Conversation(context.Context, identity.Viewer, string) (chat.Conversation, error) {
	return c.w.Thread, nil
}

func (c conversations) ListConversations(context.Context, identity.Viewer, string, int) ([]chat.Conversation, string, error) {
	return nil, "", nil
}

func (c conversations) ListProgramConversations(context.Context, identity.Viewer, string, int) ([]chat.Conversation, string, error) {
	return nil, "", nil
}

func (c conversations) UpdateConversation(context.Context, identity.Viewer, string, chat.ConversationChange) (chat.Conversation, error) {
	return c.w.Thread, nil
}

func (c conversations) DeleteConversation(context.Context, identity.Viewer, string) error { return nil }

func (c conversations) ShowVersion(context.Context, identity.Viewer, string, string) error {
	return nil
}

func (c conversations) Branch(context.Context, identity.Viewer, string, string, string) (chat.Conversation, error) {
	return c.w.Thread, nil
}

type contexts struct{ w *World }

func (c contexts) CreateContext(_ context.Context, _ identity.Viewer, k knowledge.Context) (knowledge.Context, error) {
	return k, nil
}

func (c contexts) Context(_ context.Context, _ identity.Viewer, id string) (knowledge.Context, error) {
	for _, k := range c.w.Contexts {
		if k.ID == id {
			return k, nil
		}
	}
	return knowledge.Context{}, fault.New(fault.NotFound, "There is no such context.")
}

func (c contexts) ListContexts(_ context.Context, _ identity.Viewer, owner, _ string, _ int) ([]knowledge.Context, string, error) {
	var out []knowledge.Context
	for _, k := range c.w.Contexts {
		if owner != "me" || k.UserID == Viewer.UserID {
			out = append(out, k)
		}
	}
	return out, "", nil
}

func (c contexts) UpdateContext(context.Context, identity.Viewer, string, knowledge.ContextChange) (knowledge.Context, error) {
	return knowledge.Context{}, nil
}

func (c contexts) DeleteContext(context.Context, identity.Viewer, string) error { return nil }

type starter struct{ w *World }

func (s starter) StartNext(_ context.Context, _ identity.Viewer, r run.Run) error {
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	s.w.wrote("next")
	s.w.Started = append(s.w.Started, r)
	return nil
}

type box struct{ w *World }

func (b box) Call(ctx context.Context, spec tool.Spec, c *tool.Call) (map[string]any, error) {
	b.w.mu.Lock()
	b.w.Calls = append(b.w.Calls, *c)
	f := b.w.Funcs[spec.Name]
	b.w.mu.Unlock()
	return f(ctx, c)
}

func (b box) Has(name string) bool {
	b.w.mu.Lock()
	defer b.w.mu.Unlock()
	return b.w.Funcs[name] != nil
}

type log struct{ w *World }

func (l log) Append(_ context.Context, _ string, events ...stream.Event) (int64, error) {
	l.w.mu.Lock()
	defer l.w.mu.Unlock()
	for _, e := range events {
		if e.Key != "" && l.holds(e.Key) || e.Again && !l.spoke(e.Call, e.Attempt) {
			continue
		}
		e.Seq, e.Time = int64(len(l.w.Events)+1), time.Time{}
		l.w.Events = append(l.w.Events, e)
		l.w.wrote("event:" + string(e.Kind))
	}
	return int64(len(l.w.Events)), nil
}

func (l log) spoke(call string, attempt int) bool {
	return slices.ContainsFunc(l.w.Events, func(e stream.Event) bool { return e.Call == call && e.Attempt == attempt })
}

func (l log) holds(key string) bool {
	for _, e := range l.w.Events {
		if e.Key == key {
			return true
		}
	}
	return false
}

func (l log) Follow(context.Context, string, int64) iter.Seq2[stream.Event, error] {
	return func(func(stream.Event, error) bool) {}
}

func (l log) Finish(_ context.Context, _ string, keep time.Duration) error {
	l.w.mu.Lock()
	defer l.w.mu.Unlock()
	l.w.Finished, l.w.Kept = true, keep
	return nil
}

var (
	_ activities.Library  = library{}
	_ activities.Policies = library{}
)
