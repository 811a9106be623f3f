package bench

import (
	"context"
	"fmt"

	"go.temporal.io/sdk/client"

	"liminal/internal/identity"
)

// growth is what one turn leaves behind, in bytes, early and late in the life
// of a conversation.
type growth struct {
	early, late footprint
	window      int // turns each was averaged over
	turns       int // the last turn of the long conversation
}

// footprint is the bytes of a turn in the store and in the engine's history.
type footprint struct{ store, history float64 }

func (f footprint) sum() float64 { return f.store + f.history }

const (
	earlyFirst = 6  // the early turns, around the tenth, of several conversations
	earlyLast  = 15 //
)

// growthOf takes one conversation to so many turns. The store is measured over
// a window of turns, because a file grows by whole pages: at the end of the
// long conversation, and over as many early turns of other ones.
func (h *house) growthOf(ctx context.Context, turns int) (g growth, err error) {
	g.turns, g.window = turns, turns/5
	c, err := h.client(ctx)
	if err != nil {
		return g, err
	}
	defer c.Close()
	if g.early, err = h.earlyTurns(ctx, c, g.window/(earlyLast-earlyFirst+1)); err != nil {
		return g, err
	}
	conversation, _, err := h.talk(ctx, h.person(0), "", turns-g.window)
	if err != nil {
		return g, err
	}
	g.late, err = h.weigh(ctx, c, g.window, func() (*turn, error) {
		_, last, err := h.talk(ctx, h.person(0), conversation, g.window)
		return last, err
	})
	return g, err
}

// earlyTurns measures turns 6 to 15 of several conversations.
func (h *house) earlyTurns(ctx context.Context, c client.Client, conversations int) (footprint, error) {
	started := make([]string, max(1, conversations))
	for i := range started {
		var err error
		if started[i], _, err = h.talk(ctx, h.person(i+1), "", earlyFirst-1); err != nil {
			return footprint{}, err
		}
	}
	each := earlyLast - earlyFirst + 1
	return h.weigh(ctx, c, each*len(started), func() (last *turn, err error) {
		for i, conversation := range started {
			if _, last, err = h.talk(ctx, h.person(i+1), conversation, each); err != nil {
				return nil, err
			}
		}
		return last, nil
	})
}

// talk takes so many turns of a conversation; an empty one is begun.
func (h *house) talk(ctx context.Context, v identity.Viewer, conversation string, turns int) (string, *turn, error) {
	var last *turn
	for range turns {
		t, err := h.complete(ctx, v, conversation, chatWorkflow)
		if err != nil {
			return "", nil, err
		}
		conversation, last = t.conversation, t
	}
	return conversation, last, nil
}

// weigh tells how much the store grew a turn, and how long the history of the
// last turn is.
func (h *house) weigh(ctx context.Context, c client.Client, turns int, take func() (*turn, error)) (f footprint, err error) {
	before, err := h.storeSize(ctx)
	if err != nil {
		return f, err
	}
	last, err := take()
	if err != nil {
		return f, err
	}
	after, err := h.storeSize(ctx)
	if err != nil {
		return f, err
	}
	described, err := c.DescribeWorkflowExecution(ctx, last.workflow, "")
	if err != nil {
		return f, err
	}
	f.store = float64(after-before) / float64(turns)
	f.history = float64(described.GetWorkflowExecutionInfo().GetHistorySizeBytes())
	return f, nil
}

// storeSize is the bytes of the store's pages that are in use.
func (h *house) storeSize(ctx context.Context) (int64, error) {
	size, err := h.platform.StoreSize(ctx)
	if err == nil && size == 0 {
		err = fmt.Errorf("the store tells no size")
	}
	return size, err
}

// client talks to the platform's engine as the floor's does.
func (h *house) client(ctx context.Context) (client.Client, error) {
	return dial(ctx, h.address, h.namespace)
}
