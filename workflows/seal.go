package workflows

import (
	"bytes"
	"encoding/json"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"liminal/activities"
	"liminal/internal/fault"
)

// admit refuses an execution that nobody of this installation began, before
// anything is done for it: no row is touched, not even to say that it failed.
// For one of ours it does nothing, with a key or without, so a history replays
// anywhere.
func (f *Flows) admit(ctx workflow.Context, in activities.RunInput, c *Carry) error {
	carried, err := c.written()
	if err != nil {
		return err
	}
	info := workflow.GetInfo(ctx)
	if err := f.seals.Admit(info.WorkflowExecution.ID, info.WorkflowStartTime, in, carried); err != nil {
		workflow.GetLogger(ctx).Warn("a run that was not begun by this installation is refused", "workflow", info.WorkflowExecution.ID)
		return temporal.NewNonRetryableApplicationError(fault.From(err).Message, string(fault.CodeOf(err)), nil)
	}
	return nil
}

// carriedOn is the input of the execution that goes on from c.
func (f *Flows) carriedOn(ctx workflow.Context, in activities.RunInput, c *Carry) (_ activities.RunInput, err error) {
	if f.seals == nil {
		return in, nil
	}
	carried, err := c.written()
	if err == nil {
		in.Seal, err = f.seals.Start(workflow.GetInfo(ctx).WorkflowExecution.ID, in, carried)
	}
	return in, err
}

// sealedChild is the seal of a child's input. What cannot be written as JSON
// cannot be sent either, and fails there.
func (d *drive) sealedChild(ctx workflow.Context, workflowID string, in activities.RunInput) string {
	seal, err := d.flows.seals.Start(workflowID, in, nil)
	if err != nil {
		workflow.GetLogger(ctx).Warn("a child's input is not sealed", "workflow", workflowID, "error", err)
	}
	return seal
}

// sealed is the seal of a call that travels.
func (d *drive) sealed(ctx workflow.Context, in activities.CallInput) string {
	seal, err := d.flows.seals.Call(workflow.GetInfo(ctx).WorkflowExecution.ID, in)
	if err != nil {
		workflow.GetLogger(ctx).Warn("a call is not sealed", "effect", in.Effect, "error", err)
	}
	return seal
}

// UnmarshalJSON keeps what was written beside what it means: the seal is of the
// bytes.
func (c *Carry) UnmarshalJSON(raw []byte) error {
	type plain Carry
	if err := json.Unmarshal(raw, (*plain)(c)); err != nil {
		return err
	}
	c.raw = bytes.Clone(raw)
	return nil
}

func (c *Carry) written() ([]byte, error) {
	switch {
	case c == nil:
		return nil, nil
	case c.raw != nil:
		return c.raw, nil
	}
	return json.Marshal(c)
}
