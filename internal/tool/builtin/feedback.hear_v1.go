package builtin

import (
	"context"

	"liminal/internal/chat"
	"liminal/internal/identity"
	"liminal/internal/learning"
	"liminal/internal/model"
	"liminal/internal/safety"
	"liminal/internal/tool"
)

// Feedback keeps what people say of answers; *learning.Recorder is one.
type Feedback interface {
	// Record is a Conflict for what a message says that is noted already.
	Record(ctx context.Context, v identity.Viewer, f learning.Feedback) (learning.Event, error)
}

// nearHeard is how many messages are looked at for the answer that a message
// is about: between the two stand only notices of the answer's own turn.
const nearHeard = 24

// overheard is feedback that was found in a message.
type overheard struct {
	learning.Heard
	answerID string
}

// overhear finds what a message of the person's says of the answer right before
// it, and false where it says nothing, where no answer stands there, and where
// the turn of that answer was not safe (PREF-03). An answer that was withheld
// is in no history, so nothing stands there either.
func overhear(ctx context.Context, h History, c *tool.Call) (overheard, bool, error) {
	id, messageID, upto := words(c, "conversation_id"), words(c, "message_id"), number(c, "upto_seq", 0)
	messages, err := h.History(ctx, c.Viewer, id, upto+1, nearHeard)
	if err != nil {
		return overheard{}, false, err
	}
	at := len(messages) - 1
	for at >= 0 && messages[at].ID != messageID {
		at--
	}
	if at < 0 || !asks(messages[at]) {
		return overheard{}, false, nil
	}
	heard, ok := learning.Hear(messages[at].Content)
	for at--; ok && at >= 0; at-- {
		switch m := messages[at]; {
		case asks(m):
			return overheard{}, false, nil
		case m.Role == string(model.Assistant):
			return overheard{heard, m.ID}, safely(m), nil
		}
	}
	return overheard{}, false, nil
}

// asks reports whether a message begins a turn; an answer to a question of the
// assistant's does not.
func asks(m chat.Message) bool {
	return m.Role == string(model.User) && m.Meta["interrupt_id"] == nil
}

// safely reports whether nobody worried about the turn of an answer.
func safely(m chat.Message) bool {
	return !m.Withheld() && (m.Risk() == "" || m.Risk() == string(safety.Low))
}

// hearFeedback listens to a message. It returns nothing of what was said: the
// trace of its run is kept elsewhere than the conversation, and would outlive
// it.
type hearFeedback struct{ history History }

func (hearFeedback) Name() string { return "feedback.hear_v1" }

func (t hearFeedback) Run(ctx context.Context, c *tool.Call) (map[string]any, error) {
	o, ok, err := overhear(ctx, t.history, c)
	if err != nil || !ok {
		return map[string]any{"heard": false}, err
	}
	return map[string]any{"heard": true, "signal": o.Signal, "answer_id": o.answerID}, nil
}
