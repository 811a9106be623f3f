// Package chat is conversations, messages and turns.
//
// It holds their types, the ports that store them, the shape of a message's
// structured content (CHAT-07, CHAT-08), and what a run's stream says of its
// questions and its end. It may import cache, fault, id, identity, run, stream,
// words and model.
package chat

import (
	"context"
	"maps"
	"time"

	"liminal/internal/identity"
	"liminal/internal/run"
)

// Conversation is a thread of turns; its id is the thread id of every
// endpoint (CHAT-14).
type Conversation struct {
	ID              string
	UserID          string
	Title           string // first message, at most 50 characters, until renamed (CHAT-13)
	Status          string // "open" or "archived"
	ActiveContextID string
	ActiveRun       *run.Run // running or waiting; nil when idle
	CreatedAt       time.Time
	UpdatedAt       time.Time
	Meta            map[string]any // "docs": vars persisted between turns (GRAPH-28); "memory": see Summarised
	Branched        *Origin        // what it is a copy of; nil: of nothing
	Pinned          bool           // it stands before those that are not, wherever they are listed
	Backend         string         // the model backend its person chose; empty: the one that answers where nobody chose
	WorkflowID      string         // the workflow its person chose, an artifact's id or name; empty: chosen by what is bound
}

// Message is one entry of a conversation. Seq is dense and starts at 1 on the
// path that the conversation shows; what was set aside for another version
// keeps the seq it had (see Versions).
type Message struct {
	ID             string
	ConversationID string
	RunID          string
	Sender         string // user, assistant, system, tool
	Role           string
	Content        string // the text, linearised
	Struct         *Content
	Seq            int
	TokensIn       int
	TokensOut      int
	CreatedAt      time.Time
	Meta           map[string]any // suppressed, truncated, summary, type, adapters, trace, …
	// Versions are the ids of what a person asked in this place, oldest first,
	// this one among them; nil where there is one only. Lists for people have
	// them, histories for models do not.
	Versions []string
}

// NewTurn is a turn a person asks for.
type NewTurn struct {
	ConversationID string // empty: a new conversation
	RequestID      string // identifies the turn (GRAPH-17)
	Message        string
	ContextIDs     []string // nil: the conversation's, else all of the viewer's own
	NoContext      bool     // an explicit empty list: use none
	ArtifactIDs    []string
	WorkflowID     string // artifact id or name; empty: the conversation's, else chosen by what is bound
	NoWorkflow     bool   // an explicit empty name: chosen by what is bound, whatever the conversation's
	Multitask      string // reject (default), enqueue, interrupt (C-25)
	Replaces       string // a message of the person's that this one is another version of; empty: it goes on
	Locale         string
	// Backend is the model backend the person chooses for the conversation; nil:
	// they leave it as it is, empty: the one that answers where nobody chose.
	Backend *string
	// Fields are further inputs of the graph, read as ${input.name}; they never
	// replace those every turn has. nil: none.
	Fields map[string]any
	// History is what was said before, of a program that keeps the conversation
	// itself: the turn begins a conversation with it that is listed apart. nil: it brings
	// none; empty: nothing was said yet.
	History []Said
	// Keeps is KeepsNothing for a turn of which nothing is kept (GRND-47): it is a
	// conversation of its own that is in no list, what it leaves is sealed, and
	// half a minute after its end nobody can read it. Empty: what the surface of
	// the workflow it names says.
	Keeps string
	// Surfaces are those whose turns are counted, audited or held to something;
	// the engine fills them in.
	Surfaces []Surfaced
	Visit    Visit
}

// KeepsNothing is NewTurn.Keeps of a turn of which nothing is kept.
const KeepsNothing = "nothing"

// MetaFields is the member of a message's Meta that has NewTurn.Fields of a turn of
// which nothing is kept.
const MetaFields = "fields"

// MetaForgotten is the member of a message's Meta that is true where nothing was
// kept of it: its words cannot be read any more.
const MetaForgotten = "forgotten"

// TurnInput is what Accept stores in the run's Input and Open reads.
type TurnInput struct {
	MessageID   string   `json:"message_id"`
	UptoSeq     int      `json:"upto_seq"` // seq of the user's message
	ContextIDs  []string `json:"context_ids,omitempty"`
	NoContext   bool     `json:"no_context,omitempty"`
	ArtifactIDs []string `json:"artifact_ids,omitempty"`
	WorkflowID  string   `json:"workflow_id,omitempty"`
	Replaces    string   `json:"replaces,omitempty"` // the message this one is another version of
	Locale      string   `json:"locale,omitempty"`
	Backend     *string  `json:"backend,omitempty"` // as in NewTurn; the conversation's when it is not here

	Fields map[string]any `json:"fields,omitempty"`
	// History is the HistoryDigest of the turn.
	History string `json:"history,omitempty"`
	// Surface is what holds for the turn of the surface it is of; nil: of none.
	Surface *TurnSurface `json:"surface,omitempty"`
}

// Accepted says what became of a NewTurn.
type Accepted struct {
	Run            run.Run // Running: start it now; Queued: an earlier turn starts it when it closes
	ConversationID string
	MessageID      string          // the user's message
	Duplicate      bool            // this request was accepted before; nothing was written
	Blocking       *run.Run        // the turn in the way, when Queued
	Open           []run.Interrupt // the blocking turn's pending questions
	Counted        *Counted        // of a surface that counts its turns
}

// Close is everything a turn leaves behind, written in one transaction.
type Close struct {
	RunID   string
	End     run.End
	Message *Message  // the assistant's; nil when there is nothing to keep
	Notices []Message // questions and answers of the turn, in order (INT-29)
	Persist map[string]any
	// Only closes the turn only while it is in this state; in another that is
	// no end it is a Conflict. Empty: whatever its state.
	Only run.Status
	// Audit is what the row of the turn's audit gets, if there is one; nil: that it
	// ended as End says.
	Audit *TurnEnd
}

// Closed says what Close did.
type Closed struct {
	ConversationID string
	MessageID      string
	Seq            int
	Next           *run.Run // the conversation's next queued turn, now Running: start it
}

// Conversations keeps threads.
type Conversations interface {
	// CreateConversation opens an empty one of the viewer's (CHAT-12).
	CreateConversation(ctx context.Context, v identity.Viewer, c Conversation) (Conversation, error)
	Conversation(ctx context.Context, v identity.Viewer, id string) (Conversation, error)
	// ListConversations lists those that are pinned and then the others, each by
	// updated_at, newest first (CHAT-10).
	ListConversations(ctx context.Context, v identity.Viewer, cursor string, limit int) ([]Conversation, string, error)
	// ListProgramConversations lists those that programs have begun which keep the
	// conversation themselves (NewTurn.History), in the same order. Those of which
	// nothing is kept are in no list.
	ListProgramConversations(ctx context.Context, v identity.Viewer, cursor string, limit int) ([]Conversation, string, error)
	UpdateConversation(ctx context.Context, v identity.Viewer, id string, c ConversationChange) (Conversation, error)
	DeleteConversation(ctx context.Context, v identity.Viewer, id string) error
	Versions
}

// ConversationChange names what to change; nil leaves a field as it is.
type ConversationChange struct {
	Title           *string
	Status          *string
	ActiveContextID *string
	Pinned          *bool
	Backend         *string
	WorkflowID      *string
	Noted           map[string]any // is laid over what is noted; nil removes a member
}

// notedMeta is the member of a conversation's Meta that programs note things in.
const notedMeta = "noted"

// Noted is what programs have noted of a conversation, for themselves: nothing here
// reads it. It may be nil.
func (c Conversation) Noted() map[string]any {
	noted, _ := c.Meta[notedMeta].(map[string]any)
	return noted
}

// Note lays what programs note of a conversation over its Meta; nil removes a member.
func Note(meta, noted map[string]any) map[string]any {
	out, all := maps.Clone(meta), map[string]any{}
	before, _ := meta[notedMeta].(map[string]any)
	maps.Copy(all, before)
	for name, value := range noted {
		if all[name] = value; value == nil {
			delete(all, name)
		}
	}
	if out == nil {
		out = map[string]any{}
	}
	if out[notedMeta] = all; len(all) == 0 {
		delete(out, notedMeta)
	}
	return out
}

// Messages reads what was said.
type Messages interface {
	// ListMessages pages through a conversation, oldest first; suppressed
	// messages are left out (INT-10).
	ListMessages(ctx context.Context, v identity.Viewer, conversationID, cursor string, limit int) ([]Message, string, error)
	// MessagePage reads a part of a conversation, from either end. It leaves out
	// what ListMessages does.
	MessagePage(ctx context.Context, v identity.Viewer, conversationID string, r MessageRange) (MessagePage, error)
	// History returns the last limit messages with Seq below upto, oldest first.
	History(ctx context.Context, v identity.Viewer, conversationID string, upto, limit int) ([]Message, error)
	Message(ctx context.Context, v identity.Viewer, id string) (Message, error)
}

// MessageHeads reads the beginnings of messages.
type MessageHeads interface {
	// MessageHeads gives the first characters of messages by their ids, no more
	// than length of each; those that are not the viewer's own are left out.
	MessageHeads(ctx context.Context, v identity.Viewer, ids []string, length int) (map[string]string, error)
}

// Turns writes the two ends of a turn, one transaction each.
type Turns interface {
	// Accept stores the user's message and the turn's run, and creates the
	// conversation if need be. A conversation's turns run one at a time
	// (CHAT-18): while one is active, "reject" is a Conflict, the others queue.
	// The same RequestID of the same viewer again is a Duplicate. One that
	// Replaces another sets that aside with all that follows it (see Versions).
	Accept(ctx context.Context, v identity.Viewer, t NewTurn) (Accepted, error)
	// CloseTurn writes the end of a turn; doing it again returns the same Closed.
	CloseTurn(ctx context.Context, v identity.Viewer, c Close) (Closed, error)
}
