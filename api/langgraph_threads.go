package api

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"

	"liminal/internal/chat"
	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/run"
)

func (s *server) langgraphThreadRoutes() {
	addLanggraph(s, langgraphRoute("POST /threads", "CreateThread", "An empty thread", scopeChat, scopeWrite), LangGraphThread{}, s.createThread)
	addLanggraph(s, langgraphRoute("POST /threads/search", "SearchThreads", "My threads", scopeRead), []LangGraphThread{}, s.searchThreads)
	addLanggraph(s, langgraphRoute("POST /threads/count", "CountThreads", "How many threads I have", scopeRead), 0, s.countThreads)
	addLanggraph(s, langgraphRoute("GET /threads/{thread_id}", "Thread", "One thread with what was said", scopeChat, scopeRead), LangGraphThread{}, s.oneThread)
	addLanggraph(s, langgraphRoute("PATCH /threads/{thread_id}", "ChangeThread", "Note something about a thread", scopeChat, scopeWrite), LangGraphThread{}, s.changeThread)
	addLanggraph(s, langgraphRoute("DELETE /threads/{thread_id}", "DeleteThread", "Delete a thread with all that was said", scopeWrite), nil, s.deleteThread)
	addLanggraph(s, langgraphRoute("POST /threads/{thread_id}/copy", "CopyThread", "A new thread with copies of what was said", scopeChat, scopeWrite), LangGraphThread{}, s.copyThread)
}

// The states of a thread. That its last run failed is told of the run.
const (
	threadIdle        = "idle"
	threadBusy        = "busy"
	threadInterrupted = "interrupted"
)

// LangGraphThread is a conversation as the protocol has it.
type LangGraphThread struct {
	ID         string                          `json:"thread_id" format:"uuid"`
	CreatedAt  time.Time                       `json:"created_at"`
	UpdatedAt  time.Time                       `json:"updated_at"`
	StateAt    time.Time                       `json:"state_updated_at"`
	Metadata   map[string]any                  `json:"metadata" doc:"what its programs note, and of its assistant graph_id and assistant_id"`
	Status     string                          `json:"status" enum:"idle,busy,interrupted,error"`
	Config     map[string]any                  `json:"config"`
	Values     Nullable[LangGraphValues]       `json:"values" doc:"null: nothing was said yet"`
	Interrupts map[string][]LangGraphInterrupt `json:"interrupts" doc:"what waits, by the task it is of"`
}

// maxMetadata bounds what programs note about a thread, in bytes of JSON.
const maxMetadata = 16 << 10

// errNoThread is told of threads that are another person's, too.
func errNoThread() error { return fault.New(fault.NotFound, "There is no such thread.") }

// graphThread finds a thread of the viewer's.
func (s *server) graphThread(ctx context.Context, v identity.Viewer, threadID string) (chat.Conversation, error) {
	if !id.Valid(threadID) {
		return chat.Conversation{}, errNoThread()
	}
	c, err := s.Conversations.Conversation(ctx, v, id.Canonical(threadID))
	if errors.Is(err, fault.NotFound) {
		err = errNoThread()
	}
	return c, err
}

// threadsView makes threads of conversations: their questions and their assistants
// are read once for all of them.
type threadsView struct {
	s          *server
	viewer     identity.Viewer
	open       map[string][]run.Interrupt // by conversation
	assistants map[string]LangGraphAssistant
}

func (s *server) threadsView(ctx context.Context, v identity.Viewer, conversationID string) (*threadsView, error) {
	open, err := s.Interrupts.PendingInterrupts(ctx, v, conversationID)
	w := &threadsView{s: s, viewer: v, open: map[string][]run.Interrupt{}, assistants: map[string]LangGraphAssistant{}}
	for _, q := range open {
		w.open[q.ConversationID] = append(w.open[q.ConversationID], q)
	}
	return w, err
}

func (w *threadsView) status(c chat.Conversation) string {
	switch {
	case len(w.open[c.ID]) > 0:
		return threadInterrupted
	case c.ActiveRun != nil:
		return threadBusy
	}
	return threadIdle
}

// metadata is what programs noted of a thread, and whose it is.
func (w *threadsView) metadata(ctx context.Context, c chat.Conversation) map[string]any {
	out := map[string]any{}
	for name, value := range c.Noted() {
		out[name] = value
	}
	if c.Title != "" {
		out["title"] = c.Title
	}
	if c.WorkflowID == "" {
		return out
	}
	of, known := w.assistants[c.WorkflowID]
	if !known {
		if a, err := w.s.assistantNamed(ctx, c.WorkflowID); err == nil {
			of, _ = assistantView(a, w.viewer.Locale)
		}
		w.assistants[c.WorkflowID] = of
	}
	if of.ID != "" {
		out["assistant_id"], out["graph_id"] = of.ID, of.GraphID
	}
	return out
}

// view is a thread; values says whether with what was said in it.
func (w *threadsView) view(ctx context.Context, c chat.Conversation, values bool) (LangGraphThread, error) {
	out := LangGraphThread{
		ID: c.ID, CreatedAt: c.CreatedAt.UTC(), UpdatedAt: c.UpdatedAt.UTC(), StateAt: c.UpdatedAt.UTC(), Metadata: w.metadata(ctx, c),
		Status: w.status(c), Config: map[string]any{}, Interrupts: map[string][]LangGraphInterrupt{},
	}
	for _, q := range w.open[c.ID] {
		out.Interrupts[q.RunID] = append(out.Interrupts[q.RunID], langgraphInterrupt(q))
	}
	if !values {
		return out, nil
	}
	said, err := w.s.threadMessages(ctx, w.viewer, c.ID)
	if len(said) > 0 {
		out.Values.V = &LangGraphValues{Messages: langgraphMessages(said)}
	}
	return out, err
}

// threadView is one thread as it is answered.
func (s *server) threadView(ctx context.Context, v identity.Viewer, c chat.Conversation) (func(http.ResponseWriter, *http.Request), error) {
	w, err := s.threadsView(ctx, v, c.ID)
	if err != nil {
		return nil, err
	}
	out, err := w.view(ctx, c, true)
	return unwrapped(out), err
}

// LangGraphNewThread is a thread as it is asked for; other members are let be.
type LangGraphNewThread struct {
	_          struct{}        `additionalProperties:"true"`
	ThreadID   *string         `json:"thread_id,omitempty" nullable:"true" format:"uuid" doc:"missing: one is made"`
	Metadata   *map[string]any `json:"metadata,omitempty" nullable:"true" doc:"graph_id or assistant_id chooses the assistant"`
	IfExists   *string         `json:"if_exists,omitempty" nullable:"true" enum:"raise,do_nothing" doc:"a thread of that id; missing: raise"`
	Supersteps json.RawMessage `json:"supersteps,omitempty" doc:"a state cannot be written"`
}

type createThreadInput struct{ Body LangGraphNewThread }

func (s *server) createThread(ctx context.Context, in *createThreadInput) (func(http.ResponseWriter, *http.Request), error) {
	v := viewerOf(ctx)
	b := in.Body
	if len(b.Supersteps) > 0 && string(b.Supersteps) != "null" && string(b.Supersteps) != "[]" {
		return nil, errStateWritten()
	}
	c := chat.Conversation{ID: id.Canonical(value(b.ThreadID))}
	noted := value(b.Metadata)
	if err := boundedMetadata(noted); err != nil {
		return nil, err
	}
	if c.ID != "" {
		before, err := s.graphThread(ctx, v, c.ID)
		if err == nil && value(b.IfExists) == "do_nothing" {
			return s.threadView(ctx, v, before)
		}
		if err == nil {
			return nil, fault.New(fault.Conflict, "There is a thread of this id already.")
		}
		if !errors.Is(err, fault.NotFound) {
			return nil, err
		}
	}
	if err := s.Limits.Spend(ctx, s.Plans.Of(v).Chat, v.UserID); err != nil {
		return nil, err
	}
	for _, name := range []string{"assistant_id", "graph_id"} {
		if of, ok := noted[name].(string); ok && c.WorkflowID == "" {
			a, err := s.assistantNamed(ctx, of)
			if err != nil && !errors.Is(err, fault.NotFound) {
				return nil, err
			}
			c.WorkflowID = a.ID
		}
	}
	c.Meta = chat.Note(nil, noted)
	made, err := s.Conversations.CreateConversation(ctx, v, c)
	if err != nil {
		return nil, err
	}
	return s.threadView(ctx, v, made)
}

func boundedMetadata(noted map[string]any) error {
	raw, err := json.Marshal(noted)
	if err == nil && len(raw) > maxMetadata {
		err = fault.New(fault.Invalid, "metadata is larger than %d KiB.", maxMetadata>>10).With([]Problem{{"metadata", "is too large"}})
	}
	return err
}

// ThreadByID is the path of everything in a thread.
type ThreadByID struct {
	ThreadID string `path:"thread_id" maxLength:"100"`
}

func (s *server) oneThread(ctx context.Context, in *ThreadByID) (func(http.ResponseWriter, *http.Request), error) {
	v := viewerOf(ctx)
	c, err := s.graphThread(ctx, v, in.ThreadID)
	if err != nil {
		return nil, err
	}
	return s.threadView(ctx, v, c)
}

type changeThreadInput struct {
	ThreadByID
	Prefer string `header:"Prefer" doc:"return=minimal: nothing is answered"`
	Body   struct {
		_        struct{}        `additionalProperties:"true"`
		Metadata *map[string]any `json:"metadata,omitempty" nullable:"true" doc:"is laid over what is noted; null removes a member, and title is the thread's own"`
	}
}

func (s *server) changeThread(ctx context.Context, in *changeThreadInput) (func(http.ResponseWriter, *http.Request), error) {
	v := viewerOf(ctx)
	c, err := s.graphThread(ctx, v, in.ThreadID)
	if err != nil {
		return nil, err
	}
	noted := value(in.Body.Metadata)
	if err := boundedMetadata(noted); err != nil {
		return nil, err
	}
	change := chat.ConversationChange{Noted: noted}
	if title, ok := noted["title"].(string); ok && strings.TrimSpace(title) != "" && len(title) <= 200 {
		change.Title = &title
	}
	if c, err = s.Conversations.UpdateConversation(ctx, v, c.ID, change); err != nil {
		return nil, err
	}
	if in.Prefer == "return=minimal" {
		return noContent, nil
	}
	return s.threadView(ctx, v, c)
}

// noContent answers that it is done.
func noContent(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }

func (s *server) deleteThread(ctx context.Context, in *ThreadByID) (func(http.ResponseWriter, *http.Request), error) {
	v := viewerOf(ctx)
	c, err := s.graphThread(ctx, v, in.ThreadID)
	if err != nil {
		return nil, err
	}
	return noContent, s.Conversations.DeleteConversation(ctx, v, c.ID)
}

func (s *server) copyThread(ctx context.Context, in *ThreadByID) (func(http.ResponseWriter, *http.Request), error) {
	v := viewerOf(ctx)
	c, err := s.graphThread(ctx, v, in.ThreadID)
	if err != nil {
		return nil, err
	}
	if err := s.Limits.Spend(ctx, s.Plans.Of(v).Chat, v.UserID); err != nil {
		return nil, err
	}
	said, err := s.threadMessages(ctx, v, c.ID)
	if err != nil {
		return nil, err
	}
	var made chat.Conversation
	if len(said) == 0 {
		made, err = s.Conversations.CreateConversation(ctx, v, chat.Conversation{WorkflowID: c.WorkflowID, Meta: chat.Note(nil, c.Noted())})
	} else if made, err = s.Conversations.Branch(ctx, v, c.ID, said[len(said)-1].ID, id.New()); err == nil {
		made, err = s.Conversations.UpdateConversation(ctx, v, made.ID, chat.ConversationChange{Noted: c.Noted()})
	}
	if err != nil {
		return nil, err
	}
	return s.threadView(ctx, v, made)
}

// LangGraphThreadSearch narrows threads; other members are let be.
type LangGraphThreadSearch struct {
	_         struct{}        `additionalProperties:"true"`
	IDs       *[]string       `json:"ids,omitempty" nullable:"true" maxItems:"1000"`
	Metadata  *map[string]any `json:"metadata,omitempty" nullable:"true" doc:"members that a thread's has, too"`
	Values    *map[string]any `json:"values,omitempty" nullable:"true" doc:"members of its values; none but messages is kept"`
	Status    *string         `json:"status,omitempty" nullable:"true" enum:"idle,busy,interrupted,error"`
	Limit     int             `json:"limit,omitempty" minimum:"1" maximum:"1000" default:"10"`
	Offset    int             `json:"offset,omitempty" minimum:"0"`
	SortBy    *string         `json:"sort_by,omitempty" nullable:"true" enum:"thread_id,status,created_at,updated_at,state_updated_at"`
	SortOrder *string         `json:"sort_order,omitempty" nullable:"true" enum:"asc,desc"`
	Select    *[]string       `json:"select,omitempty" nullable:"true" doc:"values are read only where they are asked for; missing: they are"`
}

type searchThreadsInput struct{ Body LangGraphThreadSearch }

// maxSearched is how many of a person's threads are looked through, and given with
// their values at once.
const (
	maxSearched = 5000
	maxValues   = 100
)

// threadsFound are the threads that a search finds, latest first, in the order it
// asks for, without their values.
func (s *server) threadsFound(ctx context.Context, w *threadsView, q LangGraphThreadSearch) (found []LangGraphThread, err error) {
	ids := value(q.IDs)
	for i := range ids {
		ids[i] = id.Canonical(ids[i])
	}
	looked := 0
	for cursor, more := "", true; more && looked < maxSearched; more = cursor != "" {
		list, next, err := s.Conversations.ListConversations(ctx, w.viewer, cursor, maxPage)
		if err != nil {
			return nil, err
		}
		for _, c := range list {
			if looked++; len(ids) > 0 && !slices.Contains(ids, c.ID) || value(q.Status) != "" && value(q.Status) != w.status(c) {
				continue
			}
			t, err := w.view(ctx, c, false)
			if err != nil {
				return nil, err
			}
			if holds(t.Metadata, value(q.Metadata)) && len(value(q.Values)) == 0 {
				found = append(found, t)
			}
		}
		cursor = next
	}
	slices.SortStableFunc(found, q.compare)
	return found, nil
}

// compare is the order of two threads: latest first, unless asked otherwise.
func (q LangGraphThreadSearch) compare(a, b LangGraphThread) (order int) {
	switch value(q.SortBy) {
	case "thread_id":
		order = strings.Compare(a.ID, b.ID)
	case "status":
		order = strings.Compare(a.Status, b.Status)
	case "created_at":
		order = a.CreatedAt.Compare(b.CreatedAt)
	default:
		order = a.UpdatedAt.Compare(b.UpdatedAt)
	}
	if value(q.SortOrder) != "asc" {
		return -order
	}
	return order
}

// holds reports whether a document has all members of another with their values.
func holds(doc, members map[string]any) bool {
	for name, want := range members {
		if got, there := doc[name]; !there || !reflect.DeepEqual(got, want) {
			return false
		}
	}
	return true
}

func (s *server) searchThreads(ctx context.Context, in *searchThreadsInput) (func(http.ResponseWriter, *http.Request), error) {
	v, q := viewerOf(ctx), in.Body
	w, err := s.threadsView(ctx, v, "")
	if err != nil {
		return nil, err
	}
	found, err := s.threadsFound(ctx, w, q)
	if err != nil {
		return nil, err
	}
	found = append([]LangGraphThread{}, windowed(ctx, found, q.Offset, q.Limit)...)
	if q.Select != nil && !slices.Contains(*q.Select, "values") {
		return unwrapped(found), nil
	}
	for i := range found[:min(len(found), maxValues)] {
		said, err := s.threadMessages(ctx, v, found[i].ID)
		if err != nil {
			return nil, err
		}
		if len(said) > 0 {
			found[i].Values.V = &LangGraphValues{Messages: langgraphMessages(said)}
		}
	}
	return unwrapped(found), nil
}

func (s *server) countThreads(ctx context.Context, in *searchThreadsInput) (func(http.ResponseWriter, *http.Request), error) {
	w, err := s.threadsView(ctx, viewerOf(ctx), "")
	if err != nil {
		return nil, err
	}
	found, err := s.threadsFound(ctx, w, in.Body)
	return unwrapped(len(found)), err
}
