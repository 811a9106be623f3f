package workflows

import (
	"go.temporal.io/sdk/workflow"

	"liminal/activities"
)

// ChatTurn is one turn of a conversation, id chat:{conversation}:{request}.
// c is nil but after a continue-as-new.
//
// Requirements: PLAT-02, PLAT-03.
func (f *Flows) ChatTurn(ctx workflow.Context, in activities.RunInput, c *Carry) (activities.Result, error) {
	return f.execute(ctx, in, c)
}
