package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"liminal/internal/chat"
	"liminal/internal/cputime"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/run"
	"liminal/internal/stream"
)

// turn is a turn under way.
type turn struct {
	house        *house
	viewer       identity.Viewer
	run          string
	workflow     string // its id in Temporal
	conversation string
	seq          int64
}

// begin asks the platform for a turn of a workflow.
func (h *house) begin(ctx context.Context, v identity.Viewer, conversation, workflow, message string) (*turn, error) {
	accepted, err := h.engine.Chat(ctx, v, chat.NewTurn{
		ConversationID: conversation, RequestID: id.New(), Message: message, WorkflowID: workflow, NoContext: true,
	})
	if err != nil {
		return nil, err
	}
	return &turn{house: h, viewer: v, run: accepted.Run.ID, workflow: accepted.Run.WorkflowID, conversation: accepted.ConversationID}, nil
}

// patience is how long one step of a turn may take: a run that is stuck must
// end the benchmark and not its reader's day.
const patience = 2 * time.Minute

// until reads the turn's events up to the first one that ends its stream, and
// hands each to see.
func (t *turn) until(ctx context.Context, want stream.Kind, see func(stream.Event)) (stream.Event, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for e, err := range t.house.log.Follow(ctx, t.run, t.seq) {
		if err != nil {
			return e, err
		}
		t.seq = e.Seq
		see(e)
		if !e.Kind.Ends() {
			continue
		}
		if e.Kind != want {
			return e, fmt.Errorf("the turn ended with %s instead of %s: %s", e.Kind, want, e.Data)
		}
		return e, nil
	}
	if ctx.Err() != nil {
		return stream.Event{}, fmt.Errorf("run %s did not come to %s within %s: %w", t.run, want, patience, ctx.Err())
	}
	return stream.Event{}, fmt.Errorf("the events of run %s ended without %s", t.run, want)
}

func ignore(stream.Event) {}

// complete takes a turn from its request to its answer.
func (h *house) complete(ctx context.Context, v identity.Viewer, conversation, workflow string) (*turn, error) {
	t, err := h.begin(ctx, v, conversation, workflow, "hello")
	if err != nil {
		return nil, err
	}
	_, err = t.until(ctx, stream.MessageDone, ignore)
	return t, err
}

// turnOf is the job of taking one turn of a workflow in a new conversation.
func (h *house) turnOf(workflow string) job {
	return func(ctx context.Context, n int) error {
		_, err := h.complete(ctx, h.person(n), "", workflow)
		return err
	}
}

// pause takes a turn to its question and returns the question's id.
func (h *house) pause(ctx context.Context, v identity.Viewer) (*turn, string, error) {
	t, err := h.begin(ctx, v, "", asksWorkflow, "hello")
	if err != nil {
		return nil, "", err
	}
	var question struct {
		ID string `json:"interrupt_id"`
	}
	_, err = t.until(ctx, stream.Paused, func(e stream.Event) {
		if e.Kind == stream.Interrupt {
			_ = json.Unmarshal(e.Data, &question) // an empty id fails below
		}
	})
	if err == nil && question.ID == "" {
		err = fmt.Errorf("the turn paused without a question")
	}
	return t, question.ID, err
}

// resume answers a turn's question and takes it to its end.
func (t *turn) resume(ctx context.Context, question string) error {
	_, err := t.house.engine.Answer(ctx, t.viewer, question, run.Answer{Type: "text_input", Value: "on"})
	if err != nil {
		return err
	}
	_, err = t.until(ctx, stream.MessageDone, ignore)
	return err
}

// resumes measures from an answer to the end of the turn it sets free, and the
// processor time of one.
func (h *house) resumes(ctx context.Context, count int) (took spread, cpu time.Duration, err error) {
	each := make([]time.Duration, 0, count)
	for n := range count {
		t, question, err := h.pause(ctx, h.person(n))
		if err != nil {
			return spread{}, 0, err
		}
		began, used := time.Now(), cputime.Process()
		if err := t.resume(ctx, question); err != nil {
			return spread{}, 0, err
		}
		each = append(each, time.Since(began))
		cpu += cputime.Process() - used
	}
	return distribution(each), cpu / time.Duration(max(count, 1)), nil
}
