package changes

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/rehearsal"
)

// The bounds of rehearsals that somebody waits for. A document may be slow on
// purpose, and each takes every processor and the recordings it plays.
const (
	maxAtOnce = 3
	maxWait   = time.Minute // for a turn, and the rehearsal
	maxLive   = 100         // calls of tools, for one artifact
)

// turns are who rehearses just now.
type turns struct {
	free chan struct{}
	mu   *sync.Mutex
	who  map[string]bool
}

func newTurns() turns {
	return turns{free: make(chan struct{}, maxAtOnce), mu: &sync.Mutex{}, who: map[string]bool{}}
}

func (t turns) begin(userID string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.who[userID] {
		return false
	}
	t.who[userID] = true
	return true
}

func (t turns) end(userID string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.who, userID)
}

// alone makes a rehearsal that a person waits for: one of theirs at a time, a
// few of everybody's, each for a minute at most.
func (d *Desk) alone(ctx context.Context, v identity.Viewer, rehearse func(ctx context.Context) error) error {
	if v.IsSystem() {
		return rehearse(ctx)
	}
	if !d.turns.begin(v.UserID) {
		return fault.New(fault.RateLimited, "Another rehearsal of yours is under way. Wait until it is done.")
	}
	defer d.turns.end(v.UserID)
	within, cancel := context.WithTimeout(ctx, maxWait)
	defer cancel()
	err := d.inTurn(within, rehearse)
	if err != nil && errors.Is(within.Err(), context.DeadlineExceeded) && ctx.Err() == nil { // as in StepRehearse
		return fault.Wrap(fault.RateLimited, err, "The rehearsal was still at work after %d seconds. Take a smaller sample, or try again when others are done.", int(maxWait.Seconds()))
	}
	return err
}

func (d *Desk) inTurn(ctx context.Context, rehearse func(ctx context.Context) error) error {
	select {
	case d.turns.free <- struct{}{}:
		defer func() { <-d.turns.free }()
		return rehearse(ctx)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// live calls tools for the runs of one person alone: who wrote the document. As
// anybody else it would read what is theirs, and could carry it away.
func (d *Desk) live(userID string) rehearsal.Caller {
	if userID == "" || d.o.Live == nil {
		return nil
	}
	var calls atomic.Int64
	return func(ctx context.Context, whose, name string, inputs map[string]any) (map[string]any, error) {
		switch {
		case whose != userID:
			return nil, fault.New(fault.Forbidden, "A rehearsal calls tools for runs of who proposed it alone.")
		case calls.Add(1) > maxLive:
			return nil, fault.New(fault.Forbidden, "A rehearsal calls tools %d times and no more.", maxLive)
		}
		return d.o.Live(ctx, whose, name, inputs)
	}
}
