package api

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"liminal/internal/chat"
	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/run"
)

func (s *server) langgraphStateRoutes() {
	addLanggraph(s, langgraphRoute("GET /threads/{thread_id}/state", "State", "What was said in a thread, and what waits", scopeChat, scopeRead), LangGraphState{}, s.threadState)
	addLanggraph(s, langgraphRoute("GET /threads/{thread_id}/state/{checkpoint_id}", "StateAt", "What had been said up to a message", scopeChat, scopeRead), LangGraphState{}, s.threadStateAt)
	addLanggraph(s, langgraphRoute("POST /threads/{thread_id}/state/checkpoint", "StateAtCheckpoint", "What had been said up to a message", scopeChat, scopeRead), LangGraphState{}, s.threadStateAtCheckpoint)
	addLanggraph(s, langgraphRoute("POST /threads/{thread_id}/state", "WriteState", "Is not done: a state is what was said (501)", scopeChat, scopeWrite), LangGraphState{}, s.writeState)
	addLanggraph(s, langgraphRoute("PATCH /threads/{thread_id}/state", "ChangeState", "Is not done: a state is what was said (501)", scopeChat, scopeWrite), LangGraphState{}, s.writeState)
	addLanggraph(s, langgraphRoute("POST /threads/{thread_id}/history", "History", "What had been said before, after and after each message, latest first", scopeChat, scopeRead), []LangGraphState{}, s.threadHistory)
}

// LangGraphValues is the state of a thread.
type LangGraphValues struct {
	Messages   []LangGraphMessage   `json:"messages"`
	Interrupts []LangGraphInterrupt `json:"__interrupt__,omitempty"`
}

// LangGraphMessage is a message as LangChain has it. In a stream AIMessageChunk is
// a piece of one, and remove takes back what was sent under its id.
type LangGraphMessage struct {
	Type       string               `json:"type" enum:"human,ai,system,tool,remove,AIMessageChunk"`
	ID         string               `json:"id"`
	Content    string               `json:"content"`
	Name       *string              `json:"name,omitempty"`
	Kwargs     map[string]any       `json:"additional_kwargs" doc:"of an answer its citations and chips"`
	Response   map[string]any       `json:"response_metadata"`
	ToolCalls  *[]LangGraphToolCall `json:"tool_calls,omitempty"`
	Usage      *LangGraphUsage      `json:"usage_metadata,omitempty"`
	ToolCallID string               `json:"tool_call_id,omitempty"`
	Status     string               `json:"status,omitempty" enum:"success,error"`
}

// LangGraphToolCall is a call of a tool.
type LangGraphToolCall struct {
	ID   string         `json:"id"`
	Name string         `json:"name"`
	Args map[string]any `json:"args"`
	Type string         `json:"type" enum:"tool_call"`
}

// LangGraphUsage is what a turn used, of all its calls of models.
type LangGraphUsage struct {
	Input  int `json:"input_tokens"`
	Output int `json:"output_tokens"`
	Total  int `json:"total_tokens"`
}

func langgraphUsage(raw json.RawMessage) *LangGraphUsage {
	used := usageOf(raw)
	if used.Total == 0 {
		return nil
	}
	return &LangGraphUsage{Input: used.Prompt, Output: used.Completion, Total: used.Total}
}

func langgraphMessage(kind, messageID, content string) LangGraphMessage {
	m := LangGraphMessage{Type: kind, ID: messageID, Content: content, Kwargs: map[string]any{}, Response: map[string]any{}}
	if kind == "ai" || kind == "AIMessageChunk" {
		m.ToolCalls = &[]LangGraphToolCall{}
	}
	return m
}

// langgraphMessages are the messages of a thread.
func langgraphMessages(said []chat.Message) []LangGraphMessage {
	list := make([]LangGraphMessage, 0, len(said))
	for _, m := range said {
		kind := map[string]string{"user": "human", "assistant": "ai", "system": "system"}[m.Role]
		out := langgraphMessage(kind, m.ID, m.Content)
		if cited := m.Struct.Citations(); len(cited) > 0 {
			out.Kwargs["citations"] = cited
		}
		if kind == "ai" {
			if name, ok := m.Meta["model"].(string); ok && name != "" {
				out.Response["model_name"] = name
			}
			raw, err := json.Marshal(m.Meta["usage"])
			if err == nil {
				out.Usage = langgraphUsage(raw)
			}
		}
		list = append(list, out)
	}
	return list
}

// maxThread is how many messages of a thread are given at once: its latest.
const maxThread = 2000

// threadMessages are the latest messages of a thread, in order, that a person sees
// of it.
func (s *server) threadMessages(ctx context.Context, v identity.Viewer, conversationID string) (said []chat.Message, err error) {
	for r := (chat.MessageRange{Latest: true, Limit: maxPage}); ; {
		page, err := s.Messages.MessagePage(ctx, v, conversationID, r)
		if err != nil {
			return nil, err
		}
		said = slices.Concat(slices.DeleteFunc(page.Messages, func(m chat.Message) bool { return !shownInHistory(m) }), said)
		if page.Earlier == "" || len(said) >= maxThread {
			return said, nil
		}
		r = chat.MessageRange{Before: page.Earlier, Limit: maxPage}
	}
}

// LangGraphCheckpoint is a place in a thread: the id of the message that was said
// last, or the thread's own before the first.
type LangGraphCheckpoint struct {
	ThreadID string          `json:"thread_id" format:"uuid"`
	NS       string          `json:"checkpoint_ns"`
	ID       string          `json:"checkpoint_id" format:"uuid"`
	Map      *map[string]any `json:"checkpoint_map" nullable:"true"`
}

// LangGraphTask is what a thread is at: a run that waits or works.
type LangGraphTask struct {
	ID         string                        `json:"id"`
	Name       string                        `json:"name"`
	Path       []string                      `json:"path"`
	Error      *string                       `json:"error" nullable:"true"`
	Interrupts []LangGraphInterrupt          `json:"interrupts"`
	Checkpoint Nullable[LangGraphCheckpoint] `json:"checkpoint"`
	State      Nullable[LangGraphValues]     `json:"state"`
	Result     *map[string]any               `json:"result" nullable:"true"`
}

// LangGraphState is a thread as it is or was.
type LangGraphState struct {
	Values     LangGraphValues               `json:"values"`
	Next       []string                      `json:"next" doc:"what works or waits; empty: nothing"`
	Checkpoint LangGraphCheckpoint           `json:"checkpoint"`
	Metadata   map[string]any                `json:"metadata"`
	CreatedAt  time.Time                     `json:"created_at"`
	Parent     Nullable[LangGraphCheckpoint] `json:"parent_checkpoint"`
	Tasks      []LangGraphTask               `json:"tasks"`
	Interrupts []LangGraphInterrupt          `json:"interrupts"`
}

// placed is a thread with all its places.
type placed struct {
	of   chat.Conversation
	said []chat.Message
	open []run.Interrupt
	meta map[string]any
}

func (s *server) placed(ctx context.Context, threadID string) (p placed, err error) {
	v := viewerOf(ctx)
	if p.of, err = s.graphThread(ctx, v, threadID); err != nil {
		return p, err
	}
	w, err := s.threadsView(ctx, v, p.of.ID)
	if err != nil {
		return p, err
	}
	p.open, p.meta = w.open[p.of.ID], w.metadata(ctx, p.of)
	p.said, err = s.threadMessages(ctx, v, p.of.ID)
	return p, err
}

func (p placed) checkpoint(n int) LangGraphCheckpoint {
	c := LangGraphCheckpoint{ThreadID: p.of.ID, ID: p.of.ID}
	if n > 0 {
		c.ID = p.said[n-1].ID
	}
	return c
}

// state is the thread after its first n messages.
func (p placed) state(n int) LangGraphState {
	out := LangGraphState{
		Values: LangGraphValues{Messages: langgraphMessages(p.said[:n])}, Next: []string{}, Checkpoint: p.checkpoint(n),
		Metadata: map[string]any{"step": n - 1, "source": "loop", "thread_id": p.of.ID}, CreatedAt: p.of.CreatedAt.UTC(), Tasks: []LangGraphTask{}, Interrupts: []LangGraphInterrupt{},
	}
	if n > 0 {
		before := p.checkpoint(n - 1)
		out.Parent.V, out.CreatedAt = &before, p.said[n-1].CreatedAt.UTC()
		if out.Metadata["run_id"] = p.said[n-1].RunID; p.said[n-1].Role == "user" {
			out.Metadata["source"] = "input"
		}
	}
	for name, value := range p.meta {
		if _, ours := out.Metadata[name]; !ours {
			out.Metadata[name] = value
		}
	}
	if n < len(p.said) {
		return out
	}
	task := LangGraphTask{Name: "agent", Path: []string{}, Interrupts: []LangGraphInterrupt{}}
	for _, q := range p.open {
		task.ID, task.Interrupts = q.RunID, append(task.Interrupts, langgraphInterrupt(q))
	}
	if p.of.ActiveRun != nil {
		task.ID = p.of.ActiveRun.ID
	}
	if task.ID != "" {
		out.Next, out.Tasks, out.Interrupts = []string{task.Name}, []LangGraphTask{task}, task.Interrupts
	}
	return out
}

// at is how many messages had been said at a checkpoint.
func (p placed) at(checkpointID string) (int, error) {
	checkpointID = id.Canonical(checkpointID)
	if checkpointID == p.of.ID {
		return 0, nil
	}
	n := slices.IndexFunc(p.said, func(m chat.Message) bool { return m.ID == checkpointID })
	if n < 0 {
		return 0, fault.New(fault.NotFound, "There is no such checkpoint in this thread.")
	}
	return n + 1, nil
}

func (s *server) threadState(ctx context.Context, in *ThreadByID) (func(http.ResponseWriter, *http.Request), error) {
	p, err := s.placed(ctx, in.ThreadID)
	if err != nil {
		return nil, err
	}
	return unwrapped(p.state(len(p.said))), nil
}

type checkpointInput struct {
	ThreadByID
	CheckpointID string `path:"checkpoint_id" maxLength:"100"`
}

func (s *server) threadStateAt(ctx context.Context, in *checkpointInput) (func(http.ResponseWriter, *http.Request), error) {
	return s.stateAt(ctx, in.ThreadID, in.CheckpointID)
}

func (s *server) stateAt(ctx context.Context, threadID, checkpointID string) (func(http.ResponseWriter, *http.Request), error) {
	p, err := s.placed(ctx, threadID)
	if err != nil {
		return nil, err
	}
	n, err := p.at(checkpointID)
	if err != nil {
		return nil, err
	}
	return unwrapped(p.state(n)), nil
}

// LangGraphPlace names a checkpoint; other members are let be.
type LangGraphPlace struct {
	_  struct{} `additionalProperties:"true"`
	ID string   `json:"checkpoint_id,omitempty" nullable:"true" doc:"missing: the latest"`
}

type atCheckpointInput struct {
	ThreadByID
	Body struct {
		_          struct{}       `additionalProperties:"true"`
		Checkpoint LangGraphPlace `json:"checkpoint"`
	}
}

func (s *server) threadStateAtCheckpoint(ctx context.Context, in *atCheckpointInput) (func(http.ResponseWriter, *http.Request), error) {
	if in.Body.Checkpoint.ID == "" {
		return s.threadState(ctx, &in.ThreadByID)
	}
	return s.stateAt(ctx, in.ThreadID, in.Body.Checkpoint.ID)
}

// errStateWritten is told where somebody writes a state by hand.
func errStateWritten() error {
	return fault.New(fault.Invalid, "A thread's state is what was said in it, and is not written by hand. Say something in a run; to say it otherwise, begin the run at the checkpoint before it.").
		With(map[string]any{"reason": notImplemented})
}

// notImplemented is the reason of what the protocol has and is not done here: 501.
const notImplemented = "not_implemented"

type writeStateInput struct {
	ThreadByID
	Body map[string]any
}

func (s *server) writeState(ctx context.Context, in *writeStateInput) (func(http.ResponseWriter, *http.Request), error) {
	if _, err := s.graphThread(ctx, viewerOf(ctx), in.ThreadID); err != nil {
		return nil, err
	}
	return nil, errStateWritten()
}

// LangGraphHistoryRequest asks for a thread's earlier states; other members are let
// be.
type LangGraphHistoryRequest struct {
	_          struct{}        `additionalProperties:"true"`
	Limit      int             `json:"limit,omitempty" minimum:"1" maximum:"1000" default:"10"`
	Before     json.RawMessage `json:"before,omitempty" doc:"a checkpoint or its id: what was before it"`
	Checkpoint json.RawMessage `json:"checkpoint,omitempty" doc:"a checkpoint: it, and what was before it"`
}

type threadHistoryInput struct {
	ThreadByID
	Body LangGraphHistoryRequest
}

// maxHistory bounds the words of all states of a history together, in bytes.
const maxHistory = 8 << 20

func (s *server) threadHistory(ctx context.Context, in *threadHistoryInput) (func(http.ResponseWriter, *http.Request), error) {
	p, err := s.placed(ctx, in.ThreadID)
	if err != nil {
		return nil, err
	}
	last := len(p.said)
	if at := placeNamed(in.Body.Checkpoint); at != "" {
		if last, err = p.at(at); err != nil {
			return nil, err
		}
	}
	if at := placeNamed(in.Body.Before); at != "" {
		if last, err = p.at(at); err != nil {
			return nil, err
		}
		last--
	}
	list, bytes := []LangGraphState{}, 0
	for n := last; n >= 0 && len(list) < in.Body.Limit && (len(list) == 0 || bytes < maxHistory); n-- {
		for _, m := range p.said[:n] {
			bytes += len(m.Content)
		}
		list = append(list, p.state(n))
	}
	return unwrapped(list), nil
}

// placeNamed is the checkpoint id of a checkpoint, of a config that names one, or of
// itself; empty: none.
func placeNamed(raw json.RawMessage) string {
	var name string
	if json.Unmarshal(raw, &name) == nil {
		return name
	}
	var place struct {
		ID           string `json:"checkpoint_id"`
		Configurable struct {
			ID string `json:"checkpoint_id"`
		}
	}
	_ = json.Unmarshal(raw, &place) // what is none names none
	if place.ID != "" {
		return place.ID
	}
	return place.Configurable.ID
}
