package chat

import (
	"encoding/json"

	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/run"
)

// How a new turn meets one of its conversation that has not ended (C-25).
const (
	MultitaskReject    = "reject" // it is refused; the default
	MultitaskEnqueue   = "enqueue"
	MultitaskInterrupt = "interrupt"
)

// TurnLimits bound how many turns are under way; negative is no limit.
type TurnLimits struct {
	Running int // chat turns of one person; waiting for a person does not count (ISO-08, C-23)
	Queued  int // turns that wait in one conversation
}

// Validate refuses a turn whose fields no turn can have, as Invalid. What its
// ids name, it does not know.
func (t NewTurn) Validate() error {
	switch t.Multitask {
	case "", MultitaskReject, MultitaskEnqueue, MultitaskInterrupt:
	default:
		return fault.New(fault.Invalid, "multitask is reject, enqueue or interrupt, not %q.", t.Multitask).With(map[string]any{"field": "multitask"})
	}
	if t.ConversationID != "" && !id.Valid(t.ConversationID) {
		return fault.New(fault.Invalid, "conversation_id is not a UUID.").With(map[string]any{"field": "conversation_id"})
	}
	if t.Replaces != "" && (t.ConversationID == "" || !id.Valid(t.Replaces)) {
		return fault.New(fault.Invalid, "replaces is the id of a message of the conversation that conversation_id names.").With(map[string]any{"field": "replaces"})
	}
	if t.Keeps != "" && t.Keeps != KeepsNothing {
		return fault.New(fault.Invalid, "keeps is nothing or is left out, not %q.", t.Keeps).With(map[string]any{"field": "keeps"})
	}
	if t.Keeps == KeepsNothing && t.ConversationID != "" {
		return fault.New(fault.Invalid, "This assistant keeps nothing, so there is no conversation to go on with. Leave conversation_id out, and bring what was said before in history.").
			With(map[string]any{"field": "conversation_id", "reason": "keeps_nothing"})
	}
	return t.checkHistory()
}

// Repeated is what became of a request whose turn is r already.
func Repeated(r run.Run) Accepted {
	var in TurnInput
	_ = json.Unmarshal(r.Input, &in) // a run that is no chat turn has no message
	return Accepted{Run: r, ConversationID: r.ConversationID, MessageID: in.MessageID, Duplicate: true}
}

// Admit decides whether a conversation takes a new turn, given the turns of it
// that have not ended, oldest first: behind is nil when it runs now, and else
// the turn it waits for. A Store calls it inside the transaction that writes
// the turn, behind the locks of the person's turns and of the conversation.
//
// Turns of a conversation run one at a time (CHAT-18). One that waits for a
// person is given up for the new one whatever it says (INT-33), and what is
// under way is never set aside. Running tells how many turns of the person run
// now; it is asked only where that decides. Errors: Conflict of the reason
// "active" or "busy"; what running returns.
func Admit(t NewTurn, ahead []run.Run, running func() (int, error), l TurnLimits) (behind *run.Run, err error) {
	if len(ahead) == 0 {
		return nil, l.mayRun(running)
	}
	active := ahead[0]
	if t.Replaces != "" {
		return nil, StillAnswering(active)
	}
	for _, r := range ahead {
		if r.Status != run.Queued {
			active = r
		}
	}
	if (t.Multitask == "" || t.Multitask == MultitaskReject) && active.Status != run.Waiting {
		return nil, StillAnswering(active)
	}
	if l.Queued >= 0 && len(ahead) > l.Queued {
		return nil, fault.New(fault.Conflict, "busy: %d turns wait in this conversation already.", len(ahead)-1).
			With(map[string]any{"reason": "busy", "run_id": active.ID, "status": active.Status, "limit": l.Queued})
	}
	return &active, nil
}

// mayRun refuses one more running turn to who has as many as they may.
func (l TurnLimits) mayRun(running func() (int, error)) error {
	if l.Running < 0 {
		return nil
	}
	n, err := running()
	if err == nil && n >= l.Running {
		err = fault.New(fault.Conflict, "busy: %d of your turns are running. Wait until one ends, or cancel one.", n).
			With(map[string]any{"reason": "busy", "running": n, "limit": l.Running})
	}
	return err
}

// ErrNothingKept says that what is asked for needs what was said in a conversation
// of which nothing is kept: it cannot be rehearsed, learnt from or branched off.
func ErrNothingKept() error {
	return fault.New(fault.Conflict, "Nothing is kept of this conversation, so there is nothing to rehearse, to learn from or to go on from. That is what its assistant promises.").
		With(map[string]any{"reason": "keeps_nothing"})
}

// StillAnswering is the Conflict of the reason "active": a turn that has not
// ended keeps what is shown of its conversation as it is.
func StillAnswering(active run.Run) error {
	return fault.New(fault.Conflict, "This conversation is still answering. Wait until it has ended, or cancel it.").
		With(map[string]any{"reason": "active", "run_id": active.ID, "status": active.Status})
}
