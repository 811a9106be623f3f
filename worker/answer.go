package worker

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/run"
	"liminal/schemas"
)

// maxAnswer bounds an answer, in bytes of JSON. No tool takes a longer text.
const maxAnswer = 200_000

// The types of answers that are no question's own.
const (
	TypeCancel = "cancel" // skips any question (INT-09)
	TypeForm   = "form"   // a value for the answer_schema, whatever type the question is of
)

// Answer gives a person's answer to a question: checks it, claims the question
// (one answer wins; later ones are a Conflict, INT-31), and sends it to the
// run. An answer that is refused leaves the run paused (INT-32). What is
// claimed reaches the run even if this process dies right after.
func (e *Engine) Answer(ctx context.Context, v identity.Viewer, interruptID string, a run.Answer) (run.Interrupt, error) {
	q, err := e.o.Interrupts.Interrupt(ctx, v, interruptID)
	if err != nil {
		return q, err
	}
	if err := e.mayAnswer(ctx, v, q); err != nil {
		return q, err
	}
	if q.Status != run.Pending {
		return q, fault.New(fault.Conflict, "This question has been answered already.")
	}
	if a.Cancel || a.Type == TypeCancel {
		return e.settle(ctx, v, q, run.Skipped, nil)
	}
	if err := Check(ctx, q, a); err != nil {
		return q, err
	}
	return e.settle(ctx, v, q, run.Answered, a.Value)
}

// mayAnswer refuses the questions of a patch's run: what a person decides of a
// patch changes the patch too, in one step (CFG-04). It refuses an access key
// those of runs that were begun otherwise, unless it is for tools.
func (e *Engine) mayAnswer(ctx context.Context, v identity.Viewer, q run.Interrupt) error {
	if q.UserID != identity.SystemAccount && v.Grant == nil {
		return nil
	}
	r, err := e.o.Runs.Run(ctx, v, q.RunID)
	if err != nil {
		return err
	}
	if v.Grant != nil && !v.Grant.Same(r.KeyID) && (!v.Grant.Has(identity.ScopeTools) || len(v.Grant.Tools) > 0) {
		// An answer may be the yes to what the key itself may not do.
		return fault.New(fault.Forbidden, "This access key answers the questions of runs that were begun with it; for those of others it needs the scope tools.").
			With(map[string]any{"reason": "key_scope", "scopes": []string{identity.ScopeTools}})
	}
	return notPatch(r)
}

// notPatch refuses to steer a patch's run past the patch.
func notPatch(r run.Run) error {
	if r.Kind != run.KindPatch {
		return nil
	}
	patch := patchOf(r)
	return fault.New(fault.Conflict, "This is a proposed change: decide it at /v1/config/patches/%d.", patch).With(map[string]any{"patch_id": patch})
}

// patchOf is the id of the patch that a run is the way of.
func patchOf(r run.Run) int64 {
	var in struct {
		PatchID int64 `json:"patch_id"`
	}
	_ = json.Unmarshal(r.Input, &in) // not ours: 0, which no patch has
	return in.PatchID
}

// settle claims a question and sends the answer to the run that asked.
func (e *Engine) settle(ctx context.Context, v identity.Viewer, q run.Interrupt, s run.InterruptStatus, value any) (run.Interrupt, error) {
	raw, err := json.Marshal(value)
	if err != nil {
		return q, fault.Wrap(fault.Invalid, err, "The answer is not JSON.")
	}
	q, err = e.o.Interrupts.Answer(ctx, v, q.ID, s, raw)
	if err != nil {
		return q, err
	}
	e.Send(ctx, q)
	return q, nil
}

// Check says whether an answer fits a question (INT-07, INT-32): its type is
// the question's, or form where that has an answer_schema, a choice is one that
// was offered, and the value fits the answer's schema if there is one. An answer
// without a type is not checked for it. What does not fit a schema has
// schemas.Faults as its details: each field that is wrong, by its JSON pointer
// into the value.
func Check(ctx context.Context, q run.Interrupt, a run.Answer) error {
	form := a.Type == TypeForm && len(q.AnswerSchema) > 0 && len(q.Options) == 0
	if a.Type != "" && a.Type != q.Type && !form {
		return fault.New(fault.Invalid, "The run waits for an answer of type %s, not %s; cancel skips any question.", q.Type, a.Type)
	}
	raw, err := json.Marshal(a.Value)
	if err != nil {
		return fault.Wrap(fault.Invalid, err, "The answer is not JSON.")
	}
	if len(raw) > maxAnswer {
		return fault.New(fault.Invalid, "The answer has %d bytes; the limit is %d.", len(raw), maxAnswer)
	}
	if len(q.Options) > 0 {
		return offered(q, a.Value)
	}
	if len(q.AnswerSchema) > 0 {
		return fits(ctx, q.AnswerSchema, raw)
	}
	if text, ok := a.Value.(string); !ok || strings.TrimSpace(text) == "" {
		return fault.New(fault.Invalid, "An answer of type %s is a text that is not empty; cancel skips the question.", q.Type)
	}
	return nil
}

func offered(q run.Interrupt, value any) error {
	chosen, ok := value.(string)
	if ok && slices.ContainsFunc(q.Options, func(o run.Option) bool { return o.ID == chosen }) {
		return nil
	}
	ids := make([]string, len(q.Options))
	for i, o := range q.Options {
		ids[i] = o.ID
	}
	return fault.New(fault.Invalid, "The answer is not one of the options offered: %s.", strings.Join(ids, ", ")).
		With(map[string]any{"options": ids})
}

// fits checks an answer against the schema its question declared: data of
// whoever wrote the graph or the tool, and perhaps stored before schemas had
// bounds. A person whom a schema keeps from answering can still cancel.
func fits(ctx context.Context, schema, raw json.RawMessage) error {
	compiled, err := schemas.Compile(schema)
	if err != nil {
		return fault.Wrap(fault.Invalid, err, "The question's answer_schema cannot be used (%s); cancel skips the question.", schemas.Reason(err))
	}
	var value any
	if err := json.Unmarshal(raw, &value); err != nil {
		return fault.Wrap(fault.Invalid, err, "The answer is not JSON.")
	}
	first, wrong, err := compiled.Fields(ctx, value)
	if _, dear := errors.AsType[schemas.Faults](err); dear {
		return fault.Wrap(fault.Invalid, err, "The answer cannot be checked: %s.", schemas.Reason(err))
	}
	if err != nil {
		return err
	}
	if len(wrong) > 0 {
		return fault.New(fault.Invalid, "The answer does not fit what was asked: %s.", first).With(wrong)
	}
	return nil
}
