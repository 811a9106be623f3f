package chat

import (
	"context"

	"liminal/internal/identity"
)

// Versions are what a person asked in the same place of a conversation: a
// question that was put otherwise, or once more. A conversation is a tree of
// which one path is shown, from its first message to a last one. Saying a
// version sets aside what was shown from there on, and showing another one
// brings back what followed it; nothing is ever deleted. What reads a
// conversation reads the path; a message that was set aside is found by its
// id.
//
// What turns keep in vars (GRAPH-28) is not set back: a graph that remembers
// something of a conversation remembers it on every path.
type Versions interface {
	// ShowVersion shows the version of a question that a message is. It changes
	// nothing when that is shown. A message that begins no turn is Invalid; a
	// Conflict of the reason "active" while a turn of the conversation runs,
	// waits or is queued, and of the reason "aside" when no version of it is on
	// the path.
	ShowVersion(ctx context.Context, v identity.Viewer, conversationID, messageID string) error
	// Branch makes a new conversation of id to, of copies of the path up to the
	// end of the turn that a message of it belongs to. A Conflict of the reason
	// "active" while that turn has not ended, of the reason "aside" when the
	// message is not on the path, and of the reason "size" when that is too much
	// to copy; an id that is taken is one, too.
	Branch(ctx context.Context, v identity.Viewer, conversationID, messageID, to string) (Conversation, error)
}

// Origin is where a conversation that is a copy was taken from. It outlives
// what it names.
type Origin struct {
	ConversationID string
	MessageID      string // the message up to whose turn it is a copy
}

// MessageRange names a part of a conversation's path. At most one of After,
// Before and Latest is set; none: it begins at the start.
type MessageRange struct {
	After  string // Next of a page: what follows it
	Before string // Earlier of a page: what comes right before it
	Latest bool   // what was said last
	Limit  int    // messages; 0: 20, at most 100
}

// MessagePage is what is in a MessageRange, oldest first. It may begin or end
// within a turn.
type MessagePage struct {
	Messages []Message
	Next     string // for After; empty: nothing follows
	Earlier  string // for Before; empty: nothing comes before
}
