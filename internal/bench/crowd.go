package bench

import (
	"context"
	"time"
)

// crowd is what many paused runs cost, and how quickly all of them go on.
type crowd struct {
	mib       float64 // over idle
	paused    float64 // runs per second
	resumed   float64 // runs per second
	completed int
}

// crowdHands is how many pause and resume at once.
const crowdHands = 16

// crowdOf pauses so many runs, weighs them, and resumes every one.
func (h *house) crowdOf(ctx context.Context, count int) (c crowd, err error) {
	idle, err := resident()
	if err != nil {
		return c, err
	}
	type waiting struct {
		turn     *turn
		question string
	}
	waits := make([]waiting, count)
	took, err := all(ctx, crowdHands, count, func(ctx context.Context, n int) error {
		t, question, err := h.pause(ctx, h.person(n))
		waits[n] = waiting{t, question}
		return err
	})
	if err != nil {
		return c, err
	}
	c.paused = perSecond(count, took)
	full, err := resident()
	if err != nil {
		return c, err
	}
	c.mib = full - idle
	took, err = all(ctx, crowdHands, count, func(ctx context.Context, n int) error {
		return waits[n].turn.resume(ctx, waits[n].question)
	})
	c.resumed, c.completed = perSecond(count, took), count
	return c, err
}

func perSecond(count int, took time.Duration) float64 {
	return float64(count) / took.Seconds()
}
