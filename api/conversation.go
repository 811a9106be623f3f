package api

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"liminal/internal/chat"
	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/quota"
	"liminal/internal/run"
)

func (s *server) conversationRoutes() {
	add(s, route("POST /v1/conversations", "createConversation", "An empty conversation; saying something makes one by itself", scopeChat, scopeWrite), s.createConversation)
	add(s, route("GET /v1/conversations", "listConversations", "My conversations: those I pinned, then the others, each latest first", scopeRead), s.listConversations)
	add(s, route("GET /v1/conversations/{id}", "conversation", "One conversation", scopeRead), s.conversation)
	add(s, route("PATCH /v1/conversations/{id}", "changeConversation", "Rename, archive or pin", scopeWrite), s.changeConversation)
	add(s, route("DELETE /v1/conversations/{id}", "deleteConversation", "Delete with all its messages", scopeWrite), s.deleteConversation)
	add(s, route("GET /v1/conversations/{id}/messages", "listMessages", "What was said, what waits and what runs", scopeRead), s.listMessages)
	s.versionRoutes()
	s.searchRoutes()
	s.exportRoutes()
}

// Paged is the query of every list.
type Paged struct {
	Cursor string `query:"cursor" doc:"next_cursor of the page before"`
	Limit  int    `query:"limit" minimum:"1" maximum:"100" default:"20"`
}

// ByID is the path of everything that has an id.
type ByID struct {
	ID string `path:"id" format:"uuid"`
}

// Resolve implements huma.Resolver: an id may be spelt in capitals, too.
func (b *ByID) Resolve(huma.Context) []error {
	b.ID = id.Canonical(b.ID)
	return nil
}

// Conversation is a thread of turns.
type Conversation struct {
	ID              string              `json:"id" format:"uuid"`
	Title           string              `json:"title"`
	Status          string              `json:"status" enum:"open,archived"`
	ActiveContextID *string             `json:"active_context_id" nullable:"true"`
	MemoryID        *string             `json:"memory_artifact_id" nullable:"true" format:"uuid" doc:"the artifact that says what is remembered of its older messages, which later turns are told; none while all of them are shown"`
	CreatedAt       time.Time           `json:"created_at"`
	UpdatedAt       time.Time           `json:"updated_at"`
	Pending         bool                `json:"pending" doc:"a question of it waits for me"`
	ActiveRun       Nullable[ActiveRun] `json:"active_run"`
	BranchedFrom    Nullable[Branched]  `json:"branched_from" doc:"what it is a copy of"`
	Pinned          bool                `json:"pinned" doc:"it is listed before those that are not"`
	Backend         string              `json:"backend" doc:"the model backend I chose for it; empty: the one that answers where nobody chose"`
	WorkflowID      string              `json:"workflow_id" doc:"the workflow I chose for it, by id or name; empty: chosen by what is bound"`
}

// ActiveRun is the turn of a conversation that runs or waits.
type ActiveRun struct {
	ID        string `json:"id" format:"uuid"`
	Status    string `json:"status" enum:"queued,running,waiting"`
	RequestID string `json:"request_id"`
	LastSeq   int64  `json:"last_seq" doc:"of its latest event; 0 when not known"`
}

func (s *server) activeRun(ctx context.Context, r *run.Run) Nullable[ActiveRun] {
	if r == nil {
		return Nullable[ActiveRun]{}
	}
	return Nullable[ActiveRun]{&ActiveRun{ID: r.ID, Status: string(r.Status), RequestID: r.RequestID, LastSeq: s.lastSeq(ctx, r.ID)}}
}

// lastSeq is the Seq of a run's latest event; 0 when the log cannot tell.
func (s *server) lastSeq(ctx context.Context, runID string) int64 {
	if log, ok := s.Log.(latest); ok {
		return log.Last(ctx, runID)
	}
	return 0
}

// latest is what a log offers that knows a run's latest Seq without following.
type latest interface {
	Last(ctx context.Context, run string) int64
}

func (s *server) conversationView(ctx context.Context, c chat.Conversation, pending bool) Conversation {
	return s.listedConversation(ctx, c, pending, func(workflow string) bool { return s.mayRun(ctx, viewerOf(ctx), workflow) == nil })
}

// listedConversation is a conversation's view; mayRun tells whether the viewer
// may run the workflow that was chosen for it.
func (s *server) listedConversation(ctx context.Context, c chat.Conversation, pending bool, mayRun func(workflow string) bool) Conversation {
	out := Conversation{
		ID: c.ID, Title: c.Title, Status: c.Status, CreatedAt: c.CreatedAt.UTC(), UpdatedAt: c.UpdatedAt.UTC(),
		Pinned: c.Pinned, Backend: c.Backend, Pending: pending, ActiveRun: s.activeRun(ctx, c.ActiveRun),
	}
	if c.ActiveContextID != "" {
		out.ActiveContextID = &c.ActiveContextID
	}
	if c.WorkflowID != "" && mayRun(c.WorkflowID) {
		out.WorkflowID = c.WorkflowID
	}
	if c.Branched != nil {
		out.BranchedFrom.V = &Branched{c.Branched.ConversationID, c.Branched.MessageID}
	}
	if c.Summarised() > 0 {
		memory := chat.MemoryID(c.ID)
		out.MemoryID = &memory
	}
	return out
}

type listConversationsInput struct {
	Paged
	From string `query:"from" enum:"me,programs" default:"me" doc:"programs: those that clients of other protocols began, which keep the conversation themselves; they are not among the others"`
}

func (s *server) listConversations(ctx context.Context, in *listConversationsInput) (Page[Conversation], error) {
	v := viewerOf(ctx)
	read := s.Conversations.ListConversations
	if in.From == "programs" {
		read = s.Conversations.ListProgramConversations
	}
	list, next, err := read(ctx, v, in.Cursor, in.Limit)
	if err != nil {
		return Page[Conversation]{}, err
	}
	open, err := s.Interrupts.PendingInterrupts(ctx, v, "")
	asks := map[string]bool{}
	for _, q := range open {
		asks[q.ConversationID] = asks[q.ConversationID] || waitsFor(q) == forPerson
	}
	allowed := map[string]bool{} // by workflow: conversations share few, and each look is a read of the store
	mayRun := func(workflow string) bool {
		may, known := allowed[workflow]
		if !known {
			may = s.mayRun(ctx, v, workflow) == nil
			allowed[workflow] = may
		}
		return may
	}
	return page(list, next, func(c chat.Conversation) Conversation { return s.listedConversation(ctx, c, asks[c.ID], mayRun) }), err
}

// OneConversation is the data of a single conversation.
type OneConversation struct {
	Conversation Conversation `json:"conversation"`
	Usage        Use          `json:"usage"`
}

func (s *server) one(ctx context.Context, c chat.Conversation) (OneConversation, error) {
	open, err := s.Interrupts.PendingInterrupts(ctx, viewerOf(ctx), c.ID)
	if err != nil {
		return OneConversation{}, err
	}
	used, err := s.conversationUse(ctx, c.ID)
	asks := slices.ContainsFunc(open, func(q run.Interrupt) bool { return waitsFor(q) == forPerson })
	return OneConversation{s.conversationView(ctx, c, asks), used}, err
}

type createConversationInput struct {
	Key  string `header:"Idempotency-Key"`
	Body struct {
		Title           string `json:"title,omitempty" maxLength:"200" doc:"missing: the first message"`
		ActiveContextID string `json:"active_context_id,omitempty"`
	}
}

func (s *server) createConversation(ctx context.Context, in *createConversationInput) (OneConversation, error) {
	v, b := viewerOf(ctx), in.Body
	made, _, err := once(ctx, s, quota.Key{Route: "POST /v1/conversations", Key: in.Key}, b, func(ctx context.Context) (OneConversation, error) {
		if err := s.Limits.Spend(ctx, s.Plans.Of(v).Chat, v.UserID); err != nil {
			return OneConversation{}, err
		}
		if err := s.mayUse(ctx, v, b.ActiveContextID); err != nil {
			return OneConversation{}, err
		}
		c, err := s.Conversations.CreateConversation(ctx, v, chat.Conversation{Title: strings.TrimSpace(b.Title), ActiveContextID: b.ActiveContextID})
		return OneConversation{Conversation: s.conversationView(ctx, c, false)}, err
	})
	return made, err
}

// mayUse reports NotFound for a context that is not the viewer's to see.
func (s *server) mayUse(ctx context.Context, v identity.Viewer, contextID string) error {
	if contextID == "" {
		return nil
	}
	if !id.Valid(contextID) {
		return errNoContext()
	}
	_, err := s.Contexts.Context(ctx, v, contextID)
	return err
}

func (s *server) conversation(ctx context.Context, in *ByID) (OneConversation, error) {
	c, err := s.Conversations.Conversation(ctx, viewerOf(ctx), in.ID)
	if err != nil {
		return OneConversation{}, err
	}
	return s.one(ctx, c)
}

type changeConversationInput struct {
	ByID
	Body struct {
		Title           *string `json:"title,omitempty" minLength:"1" maxLength:"200"`
		Status          *string `json:"status,omitempty" enum:"open,archived"`
		ActiveContextID *string `json:"active_context_id,omitempty" nullable:"true" doc:"empty: none"`
		Pinned          *bool   `json:"pinned,omitempty" doc:"true: list it before those that are not"`
		Backend         *string `json:"backend,omitempty" maxLength:"40" doc:"the model backend from here on, by name; empty: the one that answers where nobody chose"`
		WorkflowID      *string `json:"workflow_id,omitempty" maxLength:"200" doc:"the workflow from here on, by id or name; empty: chosen by what is bound"`
	}
}

func (s *server) changeConversation(ctx context.Context, in *changeConversationInput) (OneConversation, error) {
	v, b := viewerOf(ctx), in.Body
	if b.Title != nil && !utf8.ValidString(*b.Title) {
		return OneConversation{}, fault.New(fault.Invalid, "The title is not text.")
	}
	if err := s.mayUse(ctx, v, value(b.ActiveContextID)); err != nil {
		return OneConversation{}, err
	}
	if err := s.mayChoose(ctx, b.Backend); err != nil {
		return OneConversation{}, err
	}
	if err := s.mayRun(ctx, v, value(b.WorkflowID)); err != nil {
		return OneConversation{}, err
	}
	if b.WorkflowID != nil {
		*b.WorkflowID = id.Canonical(strings.TrimSpace(*b.WorkflowID))
	}
	c, err := s.Conversations.UpdateConversation(ctx, v, in.ID,
		chat.ConversationChange{Title: b.Title, Status: b.Status, ActiveContextID: b.ActiveContextID, Pinned: b.Pinned, Backend: b.Backend, WorkflowID: b.WorkflowID})
	if err != nil {
		return OneConversation{}, err
	}
	return s.one(ctx, c)
}

func (s *server) deleteConversation(ctx context.Context, in *ByID) (Nothing, error) {
	return Nothing{}, s.Conversations.DeleteConversation(ctx, viewerOf(ctx), in.ID)
}

// Message is one entry of a conversation.
type Message struct {
	ID            string                 `json:"id" format:"uuid"`
	Role          string                 `json:"role" enum:"user,assistant,system,tool"`
	Sender        string                 `json:"sender" enum:"user,assistant,system,tool"`
	Content       string                 `json:"content"`
	ContentStruct Nullable[chat.Content] `json:"content_struct"`
	Seq           int                    `json:"seq" doc:"its place on the path that is shown, dense from 1; what was set aside for another version keeps the place it had"`
	CreatedAt     time.Time              `json:"created_at"`
	RunID         *string                `json:"run_id" nullable:"true"`
	TokensIn      int                    `json:"token_count_in"`
	TokensOut     int                    `json:"token_count_out"`
	Meta          map[string]any         `json:"meta"`
	Versions      Nullable[Versions]     `json:"versions" doc:"of a question of mine: what else I asked in its place; null: nothing"`
	Feedback      Nullable[Feedback]     `json:"feedback" doc:"what I think of this answer; null: nothing said, or no answer"`
	Followed      []Followed             `json:"followed,omitempty" doc:"the adapters this answer was made with; missing: none, or none that is still there"`
}

func messageView(m chat.Message) Message {
	out := Message{
		ID: m.ID, Role: m.Role, Sender: m.Sender, Content: m.Content, ContentStruct: Nullable[chat.Content]{m.Struct}, Seq: m.Seq,
		CreatedAt: m.CreatedAt.UTC(), TokensIn: m.TokensIn, TokensOut: m.TokensOut, Meta: m.Meta,
	}
	if m.RunID != "" {
		out.RunID = &m.RunID
	}
	out.Versions = versionsView(m)
	if out.Meta == nil {
		out.Meta = map[string]any{}
	}
	return out
}

// Thread is a page of messages with what a client needs to restore the
// conversation after a refresh (INT-15).
type Thread struct {
	Page[Message]
	Earlier    *string             `json:"earlier_cursor" doc:"opaque, for before: what lies right before this page; null: nothing does"`
	ThreadID   string              `json:"thread_id" format:"uuid"`
	Pending    Nullable[Interrupt] `json:"pending_interrupt"`
	AllPending []Interrupt         `json:"pending_interrupts"`
	ActiveRun  Nullable[ActiveRun] `json:"active_run"`
}

type listMessagesInput struct {
	ByID
	Paged
	Before string `query:"before" doc:"earlier_cursor of a page: what lies right before it"`
	Latest bool   `query:"latest" doc:"what was said last; at most one of latest, before and cursor"`
}

func (s *server) listMessages(ctx context.Context, in *listMessagesInput) (Thread, error) {
	return s.thread(ctx, in.ID, chat.MessageRange{After: in.Cursor, Before: in.Before, Latest: in.Latest, Limit: in.Limit})
}

// thread is a part of a conversation as a client restores it.
func (s *server) thread(ctx context.Context, conversationID string, r chat.MessageRange) (Thread, error) {
	v := viewerOf(ctx)
	c, err := s.Conversations.Conversation(ctx, v, conversationID)
	if err != nil {
		return Thread{}, err
	}
	seen, err := s.Messages.MessagePage(ctx, v, conversationID, r)
	if err != nil {
		return Thread{}, err
	}
	open, err := s.Interrupts.PendingInterrupts(ctx, v, conversationID)
	if err != nil {
		return Thread{}, err
	}
	t := Thread{Page: page(seen.Messages, seen.Next, messageView), ThreadID: c.ID, AllPending: page(open, "", interruptView).Data, ActiveRun: s.activeRun(ctx, c.ActiveRun)}
	if len(open) > 0 {
		t.Pending.V = &t.AllPending[0]
	}
	if seen.Earlier != "" {
		t.Earlier = &seen.Earlier
	}
	return t, errors.Join(s.rated(ctx, t.Data), s.followed(ctx, t.Data))
}
