package activities

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"go.temporal.io/sdk/temporal"

	"liminal/internal/chat"
	"liminal/internal/fault"
	"liminal/internal/run"
	"liminal/internal/stream"
)

// Ask stores questions, then shows them; when only a person can move the run
// now it says so too (INT-01, INT-03). A question asked again changes nothing.
func (s *Set) Ask(ctx context.Context, in AskInput) error {
	if err := local(ctx); err != nil {
		return err
	}
	if len(in.Pins) > 0 {
		if err := s.Runs.OpenRun(ctx, in.Run.Viewer, in.Run.RunID, in.Pins); err != nil {
			return err
		}
	}
	now := s.now()
	rows := make([]run.Interrupt, len(in.Questions))
	for i, q := range in.Questions {
		rows[i] = q.row(in, now)
	}
	if err := s.Interrupts.Ask(ctx, in.Run.Viewer, in.Waiting, rows...); err != nil {
		return err
	}
	events, err := asked(in, rows)
	if err != nil {
		return err
	}
	return s.tell(ctx, in.Run.RunID, events...)
}

func (q Question) row(in AskInput, now time.Time) run.Interrupt {
	r := run.Interrupt{
		ID: q.ID, RunID: in.Run.RunID, WorkflowID: in.WorkflowID, EffectID: q.Effect,
		UserID: in.Run.Viewer.UserID, ConversationID: in.ConversationID,
		Type: q.Ask.Type, Message: q.Ask.Message, AnswerSchema: q.Ask.AnswerSchema,
		Status: run.Pending, CreatedAt: now, ExpiresAt: q.Ask.Expires,
	}
	for _, o := range q.Ask.Options {
		r.Options = append(r.Options, run.Option{ID: o.ID, Label: o.Label})
	}
	return r
}

// asked are the events of new questions: the node's status comes before its
// question (STREAM-21), and paused comes last.
func asked(in AskInput, rows []run.Interrupt) ([]stream.Event, error) {
	var events []stream.Event
	var errs []error
	add := func(node, key string, data stream.Payload) {
		e, err := stream.New(node, data)
		e.Key = key
		events, errs = append(events, e), append(errs, err)
	}
	for i, q := range in.Questions {
		if !q.Quiet {
			message := q.Description
			if message == "" {
				message = q.Node
			}
			add(q.Node, "asking:"+q.ID, stream.StatusData{Node: q.Node, Message: message, Done: true})
		}
		add(q.Node, "ask:"+q.ID, chat.Asked(rows[i]))
	}
	if in.Waiting {
		ids := slices.Sorted(slices.Values(in.Open))
		add("", "paused:"+strings.Join(ids, ","), stream.PausedData{InterruptIDs: ids})
	}
	return events, errors.Join(errs...)
}

// Deliver records that the workflow has the answers, so that they are not sent
// again, but for those of an update (see DeliverInput), and tells the stream that
// the run goes on. It gives what was answered:
// the claim in the store is the truth, and a signal is anybody's who reaches
// Temporal. A question nobody has answered is an error of TypeUnanswered, and
// stays open.
func (s *Set) Deliver(ctx context.Context, in DeliverInput) (Delivered, error) {
	if err := local(ctx); err != nil {
		return Delivered{}, err
	}
	out := Delivered{Answers: make(map[string]Answer, len(in.IDs))}
	for _, id := range in.IDs {
		a, err := s.claimed(ctx, in.Run, id)
		if err != nil {
			return Delivered{}, err
		}
		out.Answers[id] = a
	}
	return out, s.delivered(ctx, in)
}

// claimed is a question's answer as the store has it.
func (s *Set) claimed(ctx context.Context, in RunInput, id string) (Answer, error) {
	q, err := s.Interrupts.Interrupt(ctx, in.Viewer, id)
	if err != nil {
		return Answer{}, err
	}
	if q.Status == run.Pending || q.RunID != in.RunID {
		return Answer{}, temporal.NewNonRetryableApplicationError("The question has no answer yet.", TypeUnanswered, nil)
	}
	a := Answer{InterruptID: id, Cancelled: q.Status == run.Skipped, Expired: q.Status == run.Expired}
	if q.Status == run.Answered {
		if err := json.Unmarshal(q.Answer, &a.Answer); err != nil {
			return Answer{}, fault.Wrap(fault.Internal, err, "The answer to the question %s cannot be read.", id)
		}
	}
	return a, nil
}

// delivered is the writing part of Deliver.
func (s *Set) delivered(ctx context.Context, in DeliverInput) error {
	if !in.Update {
		if err := s.Interrupts.Deliver(ctx, in.Run.Viewer, in.Run.RunID, in.IDs...); err != nil {
			return err
		}
	}
	var events []stream.Event
	for _, id := range in.IDs {
		e, err := stream.New("", stream.ResumedData{InterruptID: id})
		if err != nil {
			return err
		}
		e.Key = "resumed:" + id
		events = append(events, e)
	}
	return s.tell(ctx, in.Run.RunID, events...)
}

// Settle closes questions nobody answered: the person cancelled the run, or
// their time is up. An answer that came first wins.
func (s *Set) Settle(ctx context.Context, in SettleInput) (Settled, error) {
	if err := local(ctx); err != nil {
		return Settled{}, err
	}
	var out Settled
	var mine []string
	for _, id := range in.IDs {
		_, err := s.Interrupts.Answer(ctx, in.Run.Viewer, id, in.Status, []byte("null"))
		switch {
		case err == nil:
			mine = append(mine, id)
		case errors.Is(err, fault.Conflict):
			row, err := s.Interrupts.Interrupt(ctx, in.Run.Viewer, id)
			if err != nil {
				return out, err
			}
			if row.Status == in.Status { // this activity ran before
				mine = append(mine, id)
				continue
			}
			out.Answered = append(out.Answered, id)
		default:
			return out, err
		}
	}
	if len(mine) == 0 {
		return out, nil
	}
	return out, s.delivered(ctx, DeliverInput{Run: in.Run, IDs: mine})
}
