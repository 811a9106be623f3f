package learning

import (
	"context"

	"liminal/internal/id"
	"liminal/internal/identity"
)

// Comparison is one question that is answered twice, with an adapter and
// without it, so that a person says which answer is better before they know
// which is which. It is a conversation of theirs, and both answers are versions
// of its one turn: what they say of them is feedback like any.
type Comparison struct {
	RunID     string // that answers it, and its name
	AdapterID string
	Question  string
}

// Answers of a comparison, in the order a person is shown them.
const (
	First  = "first"
	Second = "second"
)

// With says which of the answers is made with the adapter.
func (c Comparison) With() string {
	if id.Derive(c.RunID, "order")[0] < '8' {
		return First
	}
	return Second
}

// ConversationID is where the answers are.
func (c Comparison) ConversationID() string { return id.Derive(c.RunID, "comparison") }

// QuestionID is the id of the version of the question that an answer is to.
func (c Comparison) QuestionID(which string) string { return id.Derive(c.RunID, "asked", which) }

// AnswerID is the id of the message of an answer.
func (c Comparison) AnswerID(which string) string { return id.Derive(c.RunID, "answered", which) }

// Other is the answer beside one.
func Other(which string) string {
	if which == First {
		return Second
	}
	return First
}

// Compared is one answer of a comparison.
type Compared struct {
	Which   string // First is kept before Second
	Text    string
	Model   string
	Lessons []string // that its model was told, by id; of the one with the adapter
	Read    int      // tokens
	Written int
}

// Comparisons keeps them.
type Comparisons interface {
	// PutCompared keeps an answer of a comparison of the viewer's, with its
	// conversation and its version of the question. Again it changes nothing.
	PutCompared(ctx context.Context, v identity.Viewer, c Comparison, a Compared) error
}
